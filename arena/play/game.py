"""Plays one game between any two players in Python: clocks, arbiter, adjudication, faults.

The compiled loop of ``engine.play`` plays games between built-in players without overhead per move. This loop plays all
other games; for built-in players it gives the same moves and scores. Only here can a player resign, give no move, or
agree to a draw.

After each move of a player that ponders, the loop lets the player ponder on the reply that it expects. On a wall clock
the ponder search runs in a thread or process during the opponent's move; on a clock that counts work, after that move.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from elolab.arena.players.player import (
    LEVEL_SCORE,
    Fault,
    GameStopped,
    NoMove,
    Player,
    PlayerClock,
    PlayerFault,
    PlayerResigned,
    Pondered,
    Reply,
    late_move_fault,
)
from elolab.arena.protocols.compiled_moves import CompiledMoves
from elolab.arena.records import (
    DialogueSoFar,
    FinishedGame,
    GameJob,
    GameRecord,
    GameSoFar,
    MoveRecord,
    Opening,
    PlayerSpec,
    exact_score_detail,
)
from elolab.engine.compiled.identity import engine_identity
from elolab.engine.compiled.program_games import ClockState, ProgramArbiter
from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.play import margin_ns_of, move_limit_ns_of
from elolab.engine.rules import Ending, Rules

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

QUOTED = 80
"""Maximum number of characters of a player's output quoted in messages."""
DISTURBED_SHARE = 0.1
"""A move counts as disturbed if elolab reads it late by more than this share of the player's margin."""
WINS = ("1-0", "0-1")
"""Result of a won game by the winner's side: 0 is the game's first mover."""


@dataclass
class GameClock:
    """One player's clock during a game."""

    spec: PlayerSpec
    remaining_ns: int = field(init=False)
    moves_to_go: int = field(init=False)
    """Number of moves to the next time control; 0 for sudden death."""
    overruns: int = 0
    """Number of moves that exceeded the time by less than the margin."""
    worst_overrun_ns: int = 0
    disturbed: int = 0
    """Number of moves that elolab read late by more than ``DISTURBED_SHARE`` of the margin."""
    worst_late_ns: int = 0
    """Maximum lateness of elolab in reading a move, in nanoseconds."""
    elapsed_ns: int = 0
    """Nanoseconds that the last move took."""

    runs: bool = field(init=False)
    """Whether the player plays on a clock; false for limits such as nodes or depth."""
    margin_ns: int = field(init=False)
    """Nanoseconds by which a move may exceed the time."""
    noticed_ns: int = field(init=False)
    """Nanoseconds by which elolab may read a move late; a move that is read even later counts as disturbed.

    Negative if the clock is not a wall clock: no move then counts as disturbed.
    """

    def __post_init__(self) -> None:
        limits = self.spec.limits
        self.runs = limits.clock_ms is not None
        self.remaining_ns = (limits.clock_ms or 0) * 1_000_000
        self.moves_to_go = limits.moves_per_control
        self.margin_ns = margin_ns_of(limits, self.spec.margin_ms)
        self.noticed_ns = int(DISTURBED_SHARE * self.margin_ns) if limits.is_on_wall_clock else -1
        self._move_limit_ns = move_limit_ns_of(limits)

    @property
    def remaining_ms(self) -> int:
        """Remaining time in whole milliseconds."""
        return self.remaining_ns // 1_000_000

    def before_move(self, opponent: GameClock) -> PlayerClock | None:
        """Both clocks as sent to this player before its move; ``None`` if the player has no clock."""
        if not self.runs:
            return None
        return PlayerClock(
            remaining_ns=self.remaining_ns,
            increment_ms=self.spec.limits.increment_ms,
            opponent_remaining_ms=opponent.remaining_ms if opponent.runs else None,
            opponent_increment_ms=opponent.spec.limits.increment_ms if opponent.runs else 0,
            moves_to_go=self.moves_to_go,
            opponent_moves_to_go=opponent.moves_to_go,
        )

    def note_lateness(self, late_ns: int) -> None:
        """Count a move on the wall clock as disturbed if elolab read it more than ``noticed_ns`` late.

        ``late_ns`` is the lateness in nanoseconds.
        """
        if 0 <= self.noticed_ns < late_ns:
            self.note_disturbed(1, late_ns)

    def note_disturbed(self, moves: int, worst_late_ns: int) -> None:
        """Add disturbed moves to the count; ``worst_late_ns`` is their largest lateness."""
        self.disturbed += moves
        self.worst_late_ns = max(self.worst_late_ns, worst_late_ns)

    @property
    def state(self) -> ClockState:
        """The clock between two moves, in the form that compiled code uses."""
        made = self.spec.limits.moves_per_control - self.moves_to_go
        return ClockState(self.remaining_ns, made, self.overruns, self.worst_overrun_ns)

    @state.setter
    def state(self, state: ClockState) -> None:
        self.remaining_ns, made, self.overruns, self.worst_overrun_ns = state
        control = self.spec.limits.moves_per_control
        self.moves_to_go = control - made % control if control else 0

    def after_move(self, elapsed_ns: int) -> None:
        """Charge the time of a move to the clock, and add the increment.

        Raises ``PlayerFault`` (``time_forfeit``) if the move exceeded the time by more than the margin.
        """
        self.elapsed_ns = elapsed_ns
        allowed_ns = [self._move_limit_ns] if self._move_limit_ns >= 0 else []
        if self.runs:
            allowed_ns.append(self.remaining_ns)
        if allowed_ns:
            self._allow(elapsed_ns, min(allowed_ns))
        if not self.runs:
            return
        self.remaining_ns = max(0, self.remaining_ns - elapsed_ns) + self.spec.limits.increment_ms * 1_000_000
        if self.moves_to_go > 0:
            self.moves_to_go -= 1
            if self.moves_to_go == 0:
                self.moves_to_go = self.spec.limits.moves_per_control
                self.remaining_ns += (self.spec.limits.clock_ms or 0) * 1_000_000

    def _allow(self, elapsed_ns: int, allowed_ns: int) -> None:
        overrun_ns = elapsed_ns - allowed_ns
        if overrun_ns > self.margin_ns:
            late = late_move_fault(elapsed_ns / 1e6, allowed_ns / 1e6, self.margin_ns / 1e6)
            raise PlayerFault("time_forfeit", late, self.spec.name)
        if overrun_ns > 0:
            self.overruns += 1
            self.worst_overrun_ns = max(self.worst_overrun_ns, overrun_ns)


@dataclass
class Pondering:
    """One player's pondering during a game."""

    expected: str | None = None
    """The opponent's move that the player expects while it ponders; ``None`` if it does not ponder."""
    tries: int = 0
    hits: list[int] = field(default_factory=list)
    """Indices in the game, from 0, of this player's moves after a ponder hit."""


def play_game(
    job: GameJob,
    players: tuple[Player, Player],
    stop: StopFlag,
    follow: Callable[[Callable[[], GameSoFar], Callable[[], DialogueSoFar]], None] | None = None,
) -> GameRecord:
    """Play one game; ``players[0]`` is the game's first mover.

    Before the first move, ``follow`` is called with two functions, which any thread may call: the first returns the
    moves so far, the second the last lines of both dialogues.

    Players start if they are not running, and stay alive afterwards. A player that failed, but not by a late move, is
    closed and restarted in its next game. A fault loses the game; the record's ``detail`` has the fault and the end of
    the dialogue.

    Two kinds of records have the result ``*`` and must not be stored. The reason ``startup_failure`` means that a
    player could not be started; ``detail["fault"]`` has ``player`` and ``text``. The reason ``stopped`` means that the
    flag was set. Raises ``engine.errors.UserError`` if the opening is not legal.
    """
    return finish_game(GameInProgress(job, stop, players), follow).record()


def finish_game(
    game: GameInProgress,
    follow: Callable[[Callable[[], GameSoFar], Callable[[], DialogueSoFar]], None] | None = None,
) -> FinishedGame:
    """Play one game as ``play_game`` does, but do not create the record yet; the caller may do so on another thread.

    Creating the records of several games one after another on one thread is faster, because the code and data for it
    then stay in the processor's cache.
    """
    if follow is not None:
        follow(game.read_moves, game.read_dialogue)
    return game.finish()


@functools.lru_cache(maxsize=64)  # both games of a pair, and other pairings, share openings
def _start_after(game: str, opening: Opening, rules: Rules) -> tuple[Position, Ending | None]:
    """The position after the opening, not to be modified, and the ending if the opening ends the game, or ``None``."""
    position = game_named(game).position(opening.position, opening.moves)
    return position, position.judge(rules)


class GameInProgress:
    """The state of one game: position, clocks, and the moves played."""

    def __init__(
        self, job: GameJob, stop: StopFlag, players: tuple[Player, Player], before: GameInProgress | None = None
    ) -> None:
        """Prepare the game, on any thread; raises ``engine.errors.UserError`` if the opening is not legal.

        ``before`` is an ended game of the same players, sides, rules and adjudication. The new game takes over the
        memory of ``before``, because allocation takes longer than a game.
        """
        self.job, self.stop, self.players = job, stop, players
        self.started_at, self.began_ns, self.ended_ns = 0.0, 0, 0
        """Start as seconds since 1970, then start and end on the clock ``time.monotonic_ns``."""
        self.max_game_plies = game_named(job.game).max_game_plies
        start, self.verdict = _start_after(job.game, job.opening, job.rules)
        if before is None:
            self.position = start.copy()
            self.arbiter = ProgramArbiter(self.position, job.rules, job.adjudication, stop)
        else:
            self.position, self.arbiter = before.position, before.arbiter
            self.arbiter.restart(start)
        self.side = self.position.side_to_move
        self.draw_after_ply = self.position.game.draw_after_ply(job.adjudication, self.position.state)
        """Number of plies, from the first move played, during which draw offers are ignored."""
        self.line = list(job.opening.moves)
        self.moves: list[MoveRecord] = []
        self.clocks = (GameClock(job.first), GameClock(job.second))
        self.ponderings = (Pondering(), Pondering())
        self.draw_offers = [False, False]
        """Whether each side offered a draw with its last move; indexed by side."""
        self.fault: dict[str, Any] = {}
        self.ending: Ending | None = None
        """How the game ended; ``None`` before its end."""
        self.asked_ns: int | None = None
        """Time (``time.monotonic_ns``) at which the side to move was asked for its move; ``None`` before the first."""
        self.compiled: CompiledMoves | None = None if before is None else before.compiled
        """Object that plays moves in compiled code; ``None`` if only Python can play this game."""
        if before is not None and self.compiled is not None:
            self.compiled.restart(self.line, self.moves)
        self.predecessors: list[GameInProgress] = [] if before is None else before.predecessors
        """Ended games on the same thread whose memory can be used again."""
        self.is_reusable: bool = False
        """Whether this game's memory can be used again once its record has been created."""

    def successor(self, job: GameJob) -> GameInProgress | None:
        """Prepare ``job`` as the next game on this game's thread, ready for ``start``; any thread may call this.

        Returns ``None`` if ``job`` has other players or rules, or if compiled code cannot begin the game.
        """
        compiled, players = self.compiled, self.players
        if compiled is None or (job.game, job.rules) != (self.job.game, self.job.rules):
            return None
        if (job.first, job.second) != (self.job.first, self.job.second):
            if (job.second, job.first) != (self.job.first, self.job.second):
                return None
            players = players[1], players[0]
        before = next((game for game in self.predecessors if game.is_like(job, players)), None)
        if before is not None:
            self.predecessors.remove(before)
        game = GameInProgress(job, self.stop, players, before)
        game.predecessors = self.predecessors
        if game.verdict is not None or (prepared := game._begin_compiled()) is None:
            return None
        return game if prepared.prepare(job.opening, compiled) else None

    def is_like(self, job: GameJob, players: tuple[Player, Player]) -> bool:
        """Whether a game has this game's rules and adjudication, and the same players on the same sides."""
        mine = self.job
        same = (mine.game, mine.rules, mine.adjudication) == (job.game, job.rules, job.adjudication)
        return same and all(one is other for one, other in zip(self.players, players, strict=True))

    @property
    def can_start(self) -> bool:
        """Whether ``start`` can still play the game, although its thread has played in Python since the preparation."""
        return self.compiled is not None and self.compiled.can_start

    def start(self) -> bool:
        """Play a game made by ``successor`` on its thread, in compiled code; returns whether the game has ended.

        If it has, call ``take`` and ``completed`` on any thread, otherwise ``finish`` on this one.
        """
        assert self.compiled is not None
        self.started_at, self.began_ns = time.time(), time.monotonic_ns()
        has_ended = self.compiled.start()
        self.ended_ns = time.monotonic_ns()
        return has_ended

    def finish(self) -> FinishedGame:
        """Play the game to its end, whether or not it has been started."""
        self.ending = self.play()
        self.ended_ns = time.monotonic_ns()
        return self.completed()

    def take(self) -> None:
        """Read the result of a game that ``start`` has played to its end.

        Call this before the players play in Python again.
        """
        assert self.compiled is not None
        self.ending = self.compiled.fetch_ending(self.began_ns)
        self._note_clocks(self.compiled)
        self.is_reusable = True

    def completed(self) -> FinishedGame:
        """The game after its end. Any thread may call this."""
        assert self.ending is not None
        statistics = self.job.search_statistics and tuple(player.search_statistics() for player in self.players)
        return FinishedGame(self.ending.reason, self._duration_ms, lambda: self._record(statistics or None))

    @property
    def _duration_ms(self) -> float:
        return (self.ended_ns - self.began_ns) / 1e6

    def _record(self, statistics: Any) -> GameRecord:
        job, ending = self.job, self.ending
        assert ending is not None
        record = GameRecord(
            key=job.key,
            pairing=job.pairing,
            first=job.first.name,
            second=job.second.name,
            opening=job.opening,
            moves=self.all_moves(),
            result=ending.result,
            reason=ending.reason,
            engine_identity=engine_identity(),
            started_at=datetime.fromtimestamp(self.started_at, UTC).isoformat(timespec="milliseconds"),
            duration_ms=self._duration_ms,
            final_position=self.position.text,
            detail=self.detail() | exact_score_detail(ending.exact_score),
            search_statistics=statistics,
        )
        if self.is_reusable:
            self.is_reusable = False
            self.predecessors.append(self)
        return record

    def play(self) -> Ending:
        """Play to the end; returns how the game ended.

        Before each move, the arbiter's rules are applied, then adjudication.
        """
        try:
            if self.began_ns:
                assert self.compiled is not None
                self.compiled.adopt(self.began_ns)
                return self._play_moves()
            self.started_at, self.began_ns = time.time(), time.monotonic_ns()
            return self._failure_of(self._announce) or self._play_moves()
        except GameStopped:
            return Ending("*", "stopped")
        finally:
            if self.compiled is not None:
                self.compiled.end()
            for side in (0, 1):
                self._abandon_pondering(side)

    def all_moves(self) -> tuple[MoveRecord, ...]:
        """The moves of the game; call it only after the end."""
        if self.compiled is not None:
            self.compiled.append_fetched()
        return tuple(self.moves)

    def read_moves(self) -> GameSoFar:
        """The moves so far with their scores, depths, times and nodes; may be called on any thread."""
        moves, asked_ns, compiled = self.moves[:], self.asked_ns, self.compiled
        if compiled is not None:
            moves, asked_ns = compiled.read_moves(), max(asked_ns or 0, compiled.asked_ns) or None
        return GameSoFar(
            [move.move for move in moves],
            [move.score for move in moves],
            [move.depth for move in moves],
            [move.nodes for move in moves],
            [move.time_ms for move in moves],
            None if asked_ns is None else (time.monotonic_ns() - asked_ns) / 1e6,
        )

    def read_dialogue(self) -> DialogueSoFar:
        """The last lines exchanged with both players; may be called on any thread."""
        return self.players[0].dialogue(), self.players[1].dialogue()

    def _announce(self, player: Player) -> None:
        player.announce_game(self.job.opening, self.stop)

    def _wait_for(self, player: Player) -> None:
        player.new_game(self.job.opening, self.stop)

    def _failure_of(self, start: Callable[[Player], None]) -> Ending | None:
        """Call ``start`` to prepare each player for the game; returns the ending if a player fails, else ``None``."""
        for side, player in enumerate(self.players):
            try:
                start(player)
            except PlayerFault as fault:
                self._record_fault(side, fault)
                return Ending("*", fault.reason)
        return None

    def _play_moves(self) -> Ending:
        ending = self.verdict
        if self._begin_compiled() is None or ending is not None:
            ending = self._failure_of(self._wait_for) or ending
        while ending is None:
            if len(self.line) >= self.max_game_plies:
                return Ending("1/2-1/2", "maximum_length")  # the position's history is full
            if self.compiled is not None and (ending := self._play_compiled(self.compiled)) is not None:
                break
            ending = self._play_move()
        if self.compiled is not None:
            self.compiled.learn()
        return ending

    def _begin_compiled(self) -> CompiledMoves | None:
        """Return ``compiled``, created on first use; ``None`` if only Python can play the game."""
        if self.compiled is None:
            noticed_ns = [clock.noticed_ns for clock in self.clocks]
            self.compiled = CompiledMoves.of(self.players, noticed_ns, self.arbiter, self.line, self.moves)
        return self.compiled

    def _note_clocks(self, compiled: CompiledMoves) -> None:
        for clock, (state, disturbed) in zip(self.clocks, compiled.clocks(), strict=True):
            clock.state = state
            clock.note_disturbed(*disturbed)

    def _play_compiled(self, compiled: CompiledMoves) -> Ending | None:
        """Play as many moves as possible in compiled code.

        Returns how the game ended; ``None`` if it continues in Python.
        """
        ending = compiled.play([clock.state for clock in self.clocks], self.stop)
        self._note_clocks(compiled)
        if compiled.is_unready:
            compiled.is_unready = False
            return self._failure_of(self._wait_for)
        self.side = self.position.side_to_move
        return self.arbiter.solve() if self.arbiter.has_to_solve else ending

    def _play_move(self) -> Ending | None:
        """Play one move; returns how the game ended, or ``None`` if it continues."""
        side = self.side
        try:
            expected, ending = self._ask(side)
        except PlayerResigned:
            return Ending(WINS[1 - side], "resignation")
        except NoMove as again:
            return self._end_without_move(side, again)
        except PlayerFault as fault:
            self._record_fault(side, fault)
            return Ending(WINS[1 - side], fault.reason)
        self.side = 1 - side
        if self.arbiter.has_to_solve:
            ending = self.arbiter.solve()
        if ending is None and self._draw_is_agreed(side):
            ending = Ending("1/2-1/2", "draw_agreement")
        if ending is None and expected is not None and self.players[side].spec.ponder:
            self._begin_pondering(side, expected)
        return ending

    def _draw_is_agreed(self, side: int) -> bool:
        """Whether the side that has just moved accepts the draw that its opponent offered with the previous move.

        Most protocols have no command for accepting. A side therefore accepts with an offer of its own, or with a score
        of at most the margin of draw adjudication, from its own point of view. Offers before the first move of draw
        adjudication are ignored.
        """
        if not self.draw_offers[1 - side] or len(self.moves) <= self.draw_after_ply:
            return False
        score = self.moves[-1].score
        return self.draw_offers[side] or (score is not None and score <= self.job.adjudication.draw_score)

    def _begin_pondering(self, side: int, expected: str) -> None:
        """Let a player ponder on the reply that it expects, if that reply is legal and does not end the game."""
        position = self.position.copy()
        try:
            position.push(expected)
        except MoveError:
            return
        if len(self.line) + 1 >= self.max_game_plies or position.judge(self.job.rules) is not None:
            return
        clock = self.clocks[side].before_move(self.clocks[1 - side])
        self.ponderings[side].expected = expected
        self.ponderings[side].tries += 1
        self.players[side].ponder(position, [*self.line, expected], clock)

    def _abandon_pondering(self, side: int) -> None:
        if self.ponderings[side].expected is not None:
            self.ponderings[side].expected = None
            self.players[side].stop_pondering()

    def _answer_after_pondering(self, side: int) -> Reply:
        """Get the answer of a player that was pondering, after a ponder hit or a miss."""
        player, clock, opponent = self.players[side], self.clocks[side], self.clocks[1 - side]
        expected = self.ponderings[side].expected
        assert expected is not None
        player_clock = clock.before_move(opponent)
        self.ponderings[side].expected = None
        is_hit = self.line[-1] == expected
        if is_hit:
            self.ponderings[side].hits.append(len(self.moves))
        pondered = Pondered(is_hit, opponent.elapsed_ns)
        return player.move_after_pondering(self.position, self.line, player_clock, self.stop, pondered)

    def _answer(self, side: int) -> Reply:
        """Ask a player for its move in the current position."""
        player = self.players[side]
        if self.compiled is not None and self.compiled.has_asked:
            player_clock = self.clocks[side].before_move(self.clocks[1 - side])
            return self.compiled.finish_move(side, player_clock, self.stop)
        if self.draw_offers[1 - side] and len(self.moves) >= self.draw_after_ply:
            player.hear_draw_offer()
        if self.ponderings[side].expected is not None:
            return self._answer_after_pondering(side)
        player_clock = self.clocks[side].before_move(self.clocks[1 - side])
        return player.move(self.position, self.line, player_clock, self.stop)

    def _answer_afresh(self, side: int, first: NoMove) -> Reply:
        """Ask a player that gave no move once more, as in a new game; returns its answer.

        ``first`` is the first failure. Raises ``NoMove`` if the player fails again.
        """
        if self.stop.is_set():
            raise GameStopped
        player_clock = self.clocks[side].before_move(self.clocks[1 - side])
        try:
            return self.players[side].move_afresh(self.position, self.line, player_clock, self.stop, first.elapsed_ns)
        except NoMove as again:
            score = first.score if again.score is None else again.score
            what = Fault("no_move_lost", first=first.what, again=again.what)
            raise NoMove(what, again.elapsed_ns, score, is_resignation=first.is_resignation) from None

    def _end_without_move(self, side: int, declined: NoMove) -> Ending:
        """The ending of a game in which the player of ``side`` twice gave no move; ``declined`` is the second failure.

        The game is a draw if a common variant of the rules allows a claim (``Game.supports_draw_claim``), and the last
        known scores of both players are within ``LEVEL_SCORE`` of zero. Otherwise the player loses, by resignation if
        it resigned.
        """
        scores = [None, None, *(move.score for move in self.moves)][-2:]  # the player's own, then the opponent's
        if declined.score is not None:
            scores[0] = declined.score
        is_claimable = self.position.game.supports_draw_claim(self.position, self.job.rules)
        is_drawn = is_claimable and all(score is None or abs(score) <= LEVEL_SCORE for score in scores)
        if declined.is_resignation and not is_drawn:
            return Ending(WINS[1 - side], "resignation")
        kind = "no_move_drawn" if is_drawn else "no_move_not_level" if is_claimable else "no_move_lost"
        what = Fault(kind, **declined.what.values)
        self._record_fault(side, PlayerFault("no_move", what, self.players[side].name))
        return Ending("1/2-1/2" if is_drawn else WINS[1 - side], "no_move")

    def _ask(self, side: int) -> tuple[str | None, Ending | None]:
        """Ask a player for its move, make the move on the board and charge its time.

        Returns the reply that the player expects and how the game ended; each is ``None`` if there is none. Raises
        ``PlayerFault``, ``PlayerResigned``, ``GameStopped``, or ``NoMove`` if the player fails twice to give a move.
        """
        player = self.players[side]
        self.asked_ns = time.monotonic_ns()
        try:
            reply = self._answer(side)
        except NoMove as first:
            reply = self._answer_afresh(side, first)
        if self.stop.is_set():
            raise GameStopped  # the move may come from an interrupted search
        try:
            ending = self.arbiter.play(reply.move, reply.score)
        except MoveError:
            said = Fault("answered", said=reply.said[:QUOTED]) if reply.said else Fault("played", move=reply.move)
            if reply.reading:
                said = Fault("read_as", said=said, reading=reply.reading)
            is_again = len(self.moves) > 1 and reply.move == self.moves[-2].move
            kind = "move_again" if is_again else "illegal_move"
            what = Fault(kind, said=said, move=reply.move, moves=len(self.line), position=self.position.text)
            raise PlayerFault("illegal_move", what, player.name) from None
        self.line.append(reply.move)
        self.draw_offers[side] = reply.offers_draw
        # Keep a move that is too late, so that the record shows its time.
        time_ms, variation, own_ms = reply.elapsed_ns / 1e6, reply.principal_variation, reply.reported_ms
        self.moves.append(MoveRecord(reply.move, reply.score, reply.depth, reply.nodes, time_ms, variation, own_ms))
        if reply.late_ns:
            self.clocks[side].note_lateness(reply.late_ns)
        self.clocks[side].after_move(reply.elapsed_ns)
        return reply.expected, ending

    def _record_fault(self, side: int, fault: PlayerFault) -> None:
        """Record a fault with the dialogue before it, and end the player's process, which restarts later.

        After a late move the process is kept, unless it ignored the order to stop and has already been ended.
        """
        player = self.players[side]
        if fault.reason != "time_forfeit":
            player.close()
        self.fault = {
            "fault": {
                "player": player.name,
                "side": side,
                "reason": fault.reason,
                "text": fault.text,
                "did": fault.fault.data,
                "moves": len(self.moves),
            }
        }
        dialogue = player.dialogue()
        if dialogue:
            self.fault["dialogue"] = dialogue

    def detail(self) -> dict[str, Any]:
        """The ``detail`` of the game's record: for both sides a fault, late and disturbed moves, and ponder hits, if
        any.

        A late move exceeded its time by less than the margin. A disturbed move was read late by elolab.
        """
        detail = dict(self.fault)
        if any(clock.overruns for clock in self.clocks):
            detail["overruns"] = [
                {"moves": clock.overruns, "worst_ms": round(clock.worst_overrun_ns / 1e6, 3)} for clock in self.clocks
            ]
        if any(clock.disturbed for clock in self.clocks):
            worst_ns = max(clock.worst_late_ns for clock in self.clocks)
            moves = sum(clock.disturbed for clock in self.clocks)
            detail["disturbed"] = {"moves": moves, "worst_ms": round(worst_ns / 1e6, 3)}
        if any(pondering.tries for pondering in self.ponderings):
            detail["pondering"] = [{"tries": pondering.tries, "hits": pondering.hits} for pondering in self.ponderings]
        return detail
