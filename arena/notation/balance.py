"""Selection of balanced openings, from random play or from an existing suite.

A judge scores a position for the side to move, in points of the search score (centipawns, or hundredths of a disc). The
*win probability* of the game's first mover (Red, Black in Othello, White in chess) counts a draw as half a win. Its
value is ``1 / (1 + exp(-score / odds_scale))``; the scale of each game (``Game.odds_scale``) was fitted to games.

Positions count as one opening if they differ only by a symmetry of the board or by the order of moves. Boards of
Xiangqi and chess have a mirror image, boards of Othello eight rotations and reflections. The selection does not depend
on the number of threads or their speed.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from elolab.arena.notation.openings import OpeningError, identity_of
from elolab.arena.players.player import GameStopped, PlayerFault, PlayerResigned
from elolab.arena.players.registry import make_player
from elolab.arena.records import Opening
from elolab.engine.errors import UserError, argument
from elolab.engine.games import game_named

if TYPE_CHECKING:
    from elolab.arena.records import PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.settings.limits import Limits

CANDIDATES_PER_BATCH = 8
CANDIDATES_PER_OPENING = 400
"""Maximum number of candidates per requested opening; after that, ``generate`` gives up."""

OVER, ILLEGAL, DUPLICATE, MIRRORED, OUTSIDE = "over", "illegal", "duplicate", "mirrored", "outside"
"""Reasons for dropping a candidate.

In order: the game is over; the entry in the suite is illegal or a finished game; the candidate equals an earlier
opening; it mirrors an earlier opening; its score is outside the wanted range.
"""


class Judge(Protocol):
    """Scores positions; each judge is used by one thread only."""

    def score(self, position: Position) -> int:
        """Score from the point of view of the side to move, in centipawns or hundredths of a disc.

        The score depends only on the position.
        """

    def close(self) -> None:
        """Release the judge's resources."""


class EngineJudge:
    """Scores positions by a search of the built-in engine."""

    def __init__(self, game: str, limits: Limits, stop: StopFlag | None = None) -> None:
        from elolab.engine.engine import Engine  # this import loads the compiler

        # Without a transposition table: clearing one would take longer than the search.
        self._engine = Engine(game, {"hash_mb": 0})
        self._limits = limits
        self._stop = stop

    def score(self, position: Position) -> int:
        """Score that a search finds for the side to move, in centipawns or hundredths of a disc.

        Once the stop flag is set, the value is meaningless.
        """
        self._engine.new_game()
        return self._engine.search(position, self._limits, stop=self._stop).score

    def close(self) -> None:
        pass


class PlayerJudge:
    """Scores a position by letting a player, such as another program, move; takes the score that the player reports."""

    def __init__(self, spec: PlayerSpec, game: str, stop: StopFlag) -> None:
        self._player = make_player(spec, game)
        self._stop = stop

    def score(self, position: Position) -> int:
        """Score that the player reports for the side to move, in centipawns or hundredths of a disc.

        Meaningless once the stop flag is set. Raises ``OpeningError`` if the player fails twice or reports no score.
        """
        try:
            score = self._ask(position)
        except GameStopped:
            return 0
        except PlayerFault as fault:
            raise OpeningError(f"the judge failed at {position.text!r}: {fault.text}") from None
        except PlayerResigned:
            score = None
        if score is None:
            raise OpeningError(
                f"the judge {self._player.name!r} reports no score for {position.text!r}", "give a player that does"
            )
        return score

    def _ask(self, position: Position, may_fail: bool = True) -> int | None:
        opening = Opening(position.start, tuple(position.moves))
        try:
            self._player.new_game(opening, self._stop)
            return self._player.move(position, opening.moves, None, self._stop).score
        except PlayerFault as fault:
            if not may_fail or fault.reason == "startup_failure":
                raise
            return self._ask(position, may_fail=False)  # in a new process: one crash must not end hours of judging

    def close(self) -> None:
        self._player.close()


class JudgesByThread:
    """A judge for several threads: calls ``make`` to create a judge for each thread that scores a position.

    ``close`` closes all of these judges.
    """

    def __init__(self, make: Callable[[], Judge]) -> None:
        self._make = make
        self._local = threading.local()
        self._lock = threading.Lock()
        self._judges: list[Judge] = []

    def score(self, position: Position) -> int:
        if not hasattr(self._local, "judge"):
            self._local.judge = self._make()
            with self._lock:
                self._judges.append(self._local.judge)
        judge: Judge = self._local.judge
        return judge.score(position)

    def close(self) -> None:
        for judge in self._judges:
            judge.close()


def win_probability(score: int, odds_scale: float) -> float:
    """Win probability of the side with ``score``, in centipawns or hundredths of a disc; a draw is half a win.

    ``odds_scale`` is the scale of the game (``Game.odds_scale``).
    """
    return (1 + math.tanh(score / odds_scale / 2)) / 2  # equal to the documented formula, without overflow


@dataclass(frozen=True)
class Candidate:
    """An opening that may be selected, with its score."""

    opening: Opening
    reached: str
    """Text of the position reached by the opening's moves."""
    score: int
    """Score from the point of view of the side to move, in centipawns or hundredths of a disc."""
    side_to_move: int
    """Side to move: 0 for the game's first mover, 1 for the other side."""

    @property
    def first_score(self) -> int:
        """Score from the point of view of the game's first mover, in centipawns or hundredths of a disc."""
        return -self.score if self.side_to_move else self.score


Accepts = Callable[[Candidate], bool]
"""Function that returns whether a candidate's score is within the wanted range."""


def within_score(max_score: int) -> Accepts:
    """Make a function that accepts candidates with an absolute score of at most ``max_score``.

    Scores are in centipawns or hundredths of a disc.
    """
    return lambda candidate: abs(candidate.score) <= max_score


def within_probability(low: float, high: float, odds_scale: float) -> Accepts:
    """Make a function that accepts candidates with a win probability of the first mover from ``low`` to ``high``.

    ``odds_scale`` is the scale of the game (``Game.odds_scale``).
    """
    return lambda candidate: low <= win_probability(candidate.first_score, odds_scale) <= high


@dataclass
class Selection:
    """The selected openings (``kept``), in order, and the numbers of dropped candidates."""

    kept: list[Candidate] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    """Number of dropped candidates by reason."""
    interrupted: bool = False
    """Whether the stop flag ended the selection early; ``kept`` is then a prefix of the full selection."""

    @property
    def seen(self) -> int:
        """Number of candidates examined."""
        return len(self.kept) + self.dropped.total()


Proposer = Callable[[int, int], Sequence[Candidate | None]]
"""Function ``propose(first, count)``: returns the candidates ``first`` to ``first + count - 1``.

``None`` stands for a candidate whose game is over. Several threads call the function, so a candidate must depend only
on its number.
"""
OnSelection = Callable[[Selection], None]


class RandomPlay:
    """Proposes positions that random legal moves reach from the start position.

    Each random number depends only on the seed, the candidate and the ply: it is the SHA-256 of
    ``"<seed>:<number>:<ply>"``, read as a big-endian number. The number modulo the number of legal moves is the index
    of the move.
    """

    def __init__(self, game: str, seed: int, plies: int) -> None:
        self._game = game_named(game)
        self._seed = seed
        self._plies = plies

    def position(self, number: int) -> Position | None:
        """Candidate ``number``: a position without history, with its counters reset; ``None`` if its game is over."""
        position = self._game.position()
        for ply in range(self._plies):
            moves = position.legal_moves()
            if not moves:
                return None
            place = int.from_bytes(hashlib.sha256(f"{self._seed}:{number}:{ply}".encode()).digest(), "big")
            position.push(moves[place % len(moves)])
        if position.judge(position.game.standard_rules) is not None:
            return None
        fields = position.text.split()
        if len(fields) == 6:  # the last two fields of a FEN are counters
            fields[4:] = ["0", "1"]
        return self._game.position(" ".join(fields))

    def proposer(self, judge: Judge) -> Proposer:
        """Make a function that proposes these random positions, scored by ``judge``."""

        def candidate(number: int) -> Candidate | None:
            position = self.position(number)
            if position is None:
                return None
            text = position.text
            return Candidate(Opening(text), text, judge.score(position), position.side_to_move)

        return lambda first, count: [candidate(number) for number in range(first, first + count)]


def generate(
    propose: Proposer,
    count: int,
    accepts: Accepts,
    *,
    concurrency: int = 1,
    progress: OnSelection | None = None,
    stop: StopFlag | None = None,
) -> Selection:
    """Select the first ``count`` distinct candidates for which ``accepts`` is true, in the order of their numbers.

    ``propose`` makes the candidates, in at most ``concurrency`` threads. ``progress`` is called with the selection so
    far after each candidate. Raises ``OpeningError`` if too few candidates are accepted.
    """
    limit = CANDIDATES_PER_OPENING * count + CANDIDATES_PER_BATCH
    selection = _chosen(propose, limit, accepts, count, concurrency, progress, stop)
    if len(selection.kept) == count or selection.interrupted:
        return selection
    over = selection.dropped[OVER]
    plies = "fewer" if 2 * over > selection.seen else "more"
    raise OpeningError(
        f"only {len(selection.kept)} of {count} openings found among {selection.seen} candidates, {over} of which were "
        f"over",
        f"use a wider band ({argument('max_score')}, {argument('win_probability')}), or {plies} {argument('plies')}",
    )


def balance(
    entries: Sequence[Opening | UserError],
    game: str,
    judge: Judge | None,
    accepts: Accepts,
    *,
    skip_illegal: bool = False,
    concurrency: int = 1,
    progress: OnSelection | None = None,
    stop: StopFlag | None = None,
) -> Selection:
    """Select the distinct openings of a suite for which ``accepts`` is true, in the suite's order.

    ``entries`` come from ``arena.notation.openings.entries_of``. Without a ``judge``, all scores are 0. The first
    entry that is an error is raised; with ``skip_illegal``, such entries are counted as dropped instead. The other
    parameters are as for ``generate``.
    """
    contract = game_named(game)
    dropped: Counter[str] = Counter()
    seen: dict[str, str] = {}
    distinct: list[tuple[Opening, str]] = []
    for entry in entries:
        if isinstance(entry, UserError):
            if not skip_illegal:
                raise entry
            dropped[ILLEGAL] += 1
            continue
        text = contract.position(entry.position, entry.moves).text if entry.moves else entry.position
        if repeated := _repetition(text, seen):
            dropped[repeated] += 1
        else:
            distinct.append((entry, text))

    def candidate(opening: Opening, text: str) -> Candidate:
        position = contract.position(opening.position, opening.moves)
        score = 0 if judge is None else judge.score(position)
        return Candidate(opening, text, score, position.side_to_move)

    selection = _chosen(
        lambda first, count: [candidate(*entry) for entry in distinct[first : first + count]],
        len(distinct), accepts, None, concurrency, progress, stop,
    )  # fmt: skip
    selection.dropped += dropped
    return selection


def _chosen(
    propose: Proposer, limit: int, accepts: Accepts, count: int | None, concurrency: int, progress: OnSelection | None,
    stop: StopFlag | None,
) -> Selection:  # fmt: skip
    selection = Selection()
    seen: dict[str, str] = {}
    with _in_order(propose, limit, concurrency) as candidates:
        for candidate in candidates:
            if stop is not None and stop.is_set():
                selection.interrupted = True  # the candidate's search may have been cut short
                break
            if candidate is None:
                reason = OVER
            else:
                reason = _repetition(candidate.reached, seen) if accepts(candidate) else OUTSIDE
            if candidate is None or reason:
                selection.dropped[reason] += 1
            else:
                selection.kept.append(candidate)
            if progress is not None:
                progress(selection)
            if len(selection.kept) == count:
                break
    return selection


def _repetition(position: str, seen: dict[str, str]) -> str:
    """``DUPLICATE`` or ``MIRRORED`` for a position in ``seen``; empty for a new position, which is added there."""
    board = " ".join(position.split()[:4])
    identity = identity_of(position)
    if identity in seen:
        return DUPLICATE if seen[identity] == board else MIRRORED
    seen[identity] = board
    return ""


@contextmanager
def _in_order(propose: Proposer, limit: int, concurrency: int) -> Iterator[Iterator[Candidate | None]]:
    """Context manager that gives an iterator over candidates 0, 1, ... below ``limit``, in order.

    At most ``concurrency`` threads compute candidates in advance, a limited number at a time.
    """
    starts = iter(range(0, limit, CANDIDATES_PER_BATCH))

    def batch(start: int) -> Any:
        return pool.submit(propose, start, min(CANDIDATES_PER_BATCH, limit - start))

    def results() -> Iterator[Candidate | None]:
        while ahead:
            yield from ahead.pop(0).result()
            ahead.extend(batch(start) for start in islice(starts, 1))

    with ThreadPoolExecutor(concurrency, "openings") as pool:
        ahead = [batch(start) for start in islice(starts, 2 * concurrency)]
        try:
            yield results()
        finally:
            for future in ahead:
                future.cancel()
