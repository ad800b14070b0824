"""Checks of what players report with their moves: principal variations, mates, scores and depths.

The findings are counted for reports. They do not affect results, because a program may play well and report badly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from elolab.arena.players.player import LEVEL_SCORE, MAX_VARIATION
from elolab.arena.records import GameRecord
from elolab.engine.games import game_named
from elolab.engine.values import MATE, MAX_GAME_PLIES, mate_distance

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position

KINDS = ("illegal", "other_move", "mate_open", "mate_cut", "mate_recedes", "wrong_side", "no_depth")
"""Kinds of findings.

- ``illegal``: a move of the variation is not legal.
- ``other_move``: the variation does not begin with the move played.
- ``mate_open``: a mate is announced, but its variation does not end in mate at that ply.
- ``mate_cut``: the variation is shorter than the announced mate.
- ``mate_recedes``: after announcing a mate, the player's next score is worse than that mate.
- ``wrong_side``: the last move decided the game, but the mover's score favours the loser.
- ``no_depth``: a score was reported with depth 0.
"""
LINES_READ = 5_000
"""Maximum number of variations checked for each player; one takes about 0.2 ms."""
LAST_PLY = MAX_GAME_PLIES - 2 * MAX_VARIATION - 2
"""Last ply of a game at which variations are checked; later, the position's history has no room for more moves."""
DECISIVE = ("checkmate", "stalemate", "final_score")
"""Reasons for the end of games that were decided by the rules with the last move."""


@dataclass
class VariationCount:
    """Counts of what one player reported with its moves, and of the faults in it."""

    player: str
    moves: int = 0
    """Number of moves with a score or a variation."""
    lines: int = 0
    """Number of variations that were checked, at most ``LINES_READ``."""
    counts: Counter[str] = field(default_factory=Counter)
    """Number of moves by kind of finding, one of ``KINDS``."""
    first: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Game number and ply of the first finding, by kind; plies count from 1 after the opening."""

    @property
    def data(self) -> dict[str, Any]:
        """The counts as data for JSON."""
        return asdict(self) | {"counts": {kind: self.counts[kind] for kind in KINDS}}


class LineReader:
    """Checks whether the moves of variations are legal, in positions of one game such as Xiangqi."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._codes: dict[str, int] = {}
        """Integer codes by move; a move has one code in every position."""

    def read(self, position: Position, line: Sequence[str]) -> tuple[int, bool]:
        """Check a line of moves from a position.

        Returns the number of legal moves at the beginning of ``line``, and whether no legal move is left after the
        whole line. The line may omit forced passes. Restores ``position``, whose history needs room for twice as many
        moves as the line has.
        """
        kernels, state, lists = self._game.kernels, position.state, position.lists
        made = read = 0
        try:
            for move in line:
                code = self._code(position, move)
                if code is None and (passed := self._forced_pass(position)) is not None:
                    kernels.make(state, passed)
                    made += 1
                    code = self._code(position, move)
                if code is None:
                    return read, False
                kernels.make(state, code)
                made += 1
                read += 1
            return read, not kernels.generate(state, lists, 0)
        finally:
            for _ in range(made):
                kernels.unmake(state)

    def _code(self, position: Position, move: str) -> int | None:
        """The integer code of a move; ``None`` if it is not legal."""
        codes = position.move_codes()
        if move not in self._codes:
            self._codes.update((self._game.format_move(code), code) for code in codes)
        code = self._codes.get(move)
        return code if code in codes else None

    def _forced_pass(self, position: Position) -> int | None:
        codes = position.move_codes()
        return codes[0] if len(codes) == 1 and self._game.format_move(codes[0]) == "pass" else None


class VariationCounter:
    """Counts the findings in what players report with their moves; games are added in schedule order."""

    def __init__(self, game: str) -> None:
        """``game`` is the name of the game."""
        self._game = game_named(game)
        self._reader = LineReader(self._game)
        self._found: dict[str, VariationCount] = {}

    def add(self, record: GameRecord) -> None:
        """Check what both players of a game reported."""
        opening = record.opening
        start = (self._game.side_to_move(opening.position) + len(opening.moves)) % 2
        counts = [self._found.setdefault(name, VariationCount(name)) for name in (record.first, record.second)]
        points = (record.score, None if record.score is None else 1 - record.score)
        position = None
        for ply, move in enumerate(record.moves):
            side = (start + ply) % 2
            count = counts[side]
            count.moves += move.score is not None or bool(move.principal_variation)
            findings = _findings(record, ply, points[side])
            line = move.principal_variation.split()
            if line and count.lines < LINES_READ and len(opening.moves) + ply <= LAST_PLY:
                count.lines += 1
                if position is None:
                    position = self._game.position(opening.position, opening.moves)
                for before in record.moves[position.ply - len(opening.moves) : ply]:
                    position.push(before.move)
                findings |= self._faults_of_line(position, line, move.score)
            for kind in findings:
                count.counts[kind] += 1
                count.first.setdefault(kind, (record.pairing.number, ply + 1))

    def _faults_of_line(self, position: Position, line: Sequence[str], score: int | None) -> set[str]:
        plies = None if score is None else mate_distance(score)
        wanted = line if plies is None else line[: abs(plies)]
        legal, is_over = self._reader.read(position, wanted)
        if legal < len(wanted):
            return {"illegal"}
        if not plies or abs(plies) > MAX_VARIATION:
            return set()
        if len(line) < abs(plies):
            return {"mate_cut"}
        return set() if is_over else {"mate_open"}

    def counts(self) -> tuple[VariationCount, ...]:
        """The counts of each player that reported anything, in the order of the players' first games."""
        return tuple(count for count in self._found.values() if count.moves)


def _findings(record: GameRecord, ply: int, mover_points: float | None) -> set[str]:
    """The kinds of findings that can be detected without a position, for the move at index ``ply``.

    ``mover_points`` is the result for the player who made the move: 1, 1/2 or 0; ``None`` if unknown.
    """
    move, found = record.moves[ply], set()
    if move.principal_variation and move.principal_variation.split(maxsplit=1)[0] != move.move:
        found.add("other_move")
    if move.score is None:
        return found
    if move.depth == 0:
        found.add("no_depth")
    if ply >= 2 and (before := record.moves[ply - 2].score) is not None:
        plies = mate_distance(before)
        # After the mover's own move and the reply, two plies fewer are left.
        if plies is not None and plies > 2 and move.score < MATE - (plies - 2):
            found.add("mate_recedes")
    is_last = ply == len(record.moves) - 1 and record.reason in DECISIVE
    if is_last and mover_points in (0, 1) and (2 * mover_points - 1) * move.score <= -LEVEL_SCORE:
        found.add("wrong_side")
    return found
