"""Plays whole games in compiled code, with rules, clocks and adjudication.

The compiled loop does not depend on schedules, suites or stores. ``Arbiter`` applies the same rules and adjudication to
one move at a time, for the arena's loop in Python.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import array_of, jit, new_record, publish_word, read_flag, thread_cpu_ns
from elolab.engine.engine import SearchMemory, StopFlag
from elolab.engine.games import game_named
from elolab.engine.games.contract import (
    MOVE_LISTS_DTYPE,
    Position,
    decode_verdict,
    encode_verdict,
    generate,
    in_check,
    judge,
    make,
    piece_count,
    plies_left,
    prepare,
    restarts_draw_count,
)
from elolab.engine.games.tablebases import open_tablebases
from elolab.engine.rules import ADJUDICATION_DTYPE, Adjudication, Ending, Rules
from elolab.engine.search.clock import allocate_time
from elolab.engine.search.driver import think
from elolab.engine.search.null_samples import check_null_samples
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.limits import MARGIN_MS, Limits
from elolab.engine.settings.parameters import Value
from elolab.engine.solving import Solver
from elolab.engine.values import MAX_GAME_PLIES

OPEN = encode_verdict("*", "unfinished")
"""Verdict code of a game that is not over."""
_STOPPED = encode_verdict("*", "stopped")
_DRAW = encode_verdict("1/2-1/2", "draw_adjudication")
_MAX_LENGTH = encode_verdict("1/2-1/2", "maximum_length")
_RESIGN = (encode_verdict("0-1", "resign_adjudication"), encode_verdict("1-0", "resign_adjudication"))
_FORFEIT = (encode_verdict("0-1", "time_forfeit"), encode_verdict("1-0", "time_forfeit"))
# The pairs above are indexed by the side that loses.

TRACKER_DTYPE = np.dtype(
    [
        ("adjudication_tracker", np.int64),
        ("losing", np.int64, (2,)),  # consecutive moves of a side with a score at or below minus the resign score
        ("winning", np.int64, (2,)),
        ("level", np.int64, (2,)),  # consecutive moves with a score near zero
        ("unsolved_ply", np.int64),  # the ply whose position took too many nodes to solve
    ]
)

CLOCKS_DTYPE = np.dtype(
    [
        ("clocks", np.int64),
        ("clock_ns", np.int64, (2,)),  # base time of each side, -1 for none
        ("increment_ns", np.int64, (2,)),
        ("moves_per_control", np.int64, (2,)),
        ("move_time_ms", np.int64, (2,)),
        ("move_limit_ns", np.int64, (2,)),  # time limit of each move, whatever the clock has; -1 for none
        ("margin_ns", np.int64, (2,)),  # time by which a move may be late
        ("remaining_ns", np.int64, (2,)),
        ("moves_made", np.int64, (2,)),
        ("overruns", np.int64, (2,)),  # moves that came late, but within the margin
        ("worst_overrun_ns", np.int64, (2,)),
        ("late_ns", np.int64),  # time by which the move that lost the game was late
    ]
)

GAME_DTYPE = np.dtype(
    [
        ("game_record", np.int64),
        ("plies", np.int64),
        ("moves", np.int32, (MAX_GAME_PLIES,)),
        ("scores", np.int32, (MAX_GAME_PLIES,)),
        ("depths", np.int32, (MAX_GAME_PLIES,)),
        ("nodes", np.int64, (MAX_GAME_PLIES,)),
        ("times_ns", np.int64, (MAX_GAME_PLIES,)),
        ("running_ns", np.int64),  # processor time that the last move on a clock, or within a time, took
    ]
)

_PLIES = GAME_DTYPE.fields["plies"][1] // 8  # type: ignore[index]
"""Index of ``plies`` among the int64 fields of a game's record."""

NO_SCORE = 1 << 30
"""Value stored as a move's score if the player reported none."""

SOLVING_NODES = 30_000_000
"""Node limit for solving a position at the end of a game. A search reaches the limit after one or two seconds. The
limit is the same on every machine.

A position that reaches the limit counts as unsolved, and the game continues.
"""
SOLVING_SETTINGS = {"hash_mb": 16}


@jit
def adjudicate(adjudication, tracker, mover, score, ply, restarts):
    """Update the counts in ``tracker`` after a move of side ``mover``, and return the verdict code by ``adjudication``.

    ``score`` is in centipawns, from the mover's point of view; ``ply`` is the number of moves since the opening. A move
    with ``restarts``, such as a capture, restarts the move count of draw adjudication.
    """
    if restarts:
        tracker.level[0] = tracker.level[1] = 0
    known = score < NO_SCORE
    losing = known and score <= -adjudication.resign_score
    winning = known and score >= adjudication.resign_score
    level = known and abs(score) <= adjudication.draw_score and ply > adjudication.draw_after_ply
    tracker.losing[mover] = tracker.losing[mover] + 1 if losing else 0
    tracker.winning[mover] = tracker.winning[mover] + 1 if winning else 0
    tracker.level[mover] = tracker.level[mover] + 1 if level else 0
    needed = adjudication.resign_moves
    if needed > 0:
        for side in range(2):
            agreed = adjudication.resign_twosided == 0 or tracker.winning[1 - side] >= needed
            if tracker.losing[side] >= needed and agreed:
                return _RESIGN[side]
    needed = adjudication.draw_moves
    if needed > 0 and tracker.level[0] >= needed and tracker.level[1] >= needed:
        return _DRAW
    if adjudication.maximum_plies > 0 and ply >= adjudication.maximum_plies:
        return _MAX_LENGTH
    return OPEN


@jit
def is_to_be_solved(adjudication, tracker, state, ply):
    """Whether to compute the exact result of the position after ``ply`` moves: if ``adjudication`` allows it, and few
    squares are empty or a tablebase may have the position.

    False if ``tracker`` shows that an attempt at this position has failed.
    """
    if tracker.unsolved_ply == ply:
        return False
    if adjudication.tablebase_pieces > 0 and piece_count(state) <= adjudication.tablebase_pieces:
        return True
    if adjudication.solved_empties == 0:
        return False
    return plies_left(state) <= adjudication.solved_empties


@jit
def _moves_to_go(clocks, side):
    """Number of moves left in a side's current time control; 0 if the time is for the whole game."""
    if clocks.moves_per_control[side] == 0:
        return np.int64(0)
    return clocks.moves_per_control[side] - clocks.moves_made[side] % clocks.moves_per_control[side]


@jit
def is_timed(clocks, side):
    """Whether a side has a clock or a time limit per move."""
    return clocks.clock_ns[side] >= 0 or clocks.move_limit_ns[side] >= 0


@jit
def spend_clock(clocks, side, elapsed):
    """Subtract a move's time, ``elapsed`` nanoseconds, from a side's clock and add the increment.

    At the end of a time control, adds the time of the next one. Returns false if the side exceeded its time by more
    than the margin and so lost on time.
    """
    clocks.moves_made[side] += 1
    late = np.int64(0)
    if clocks.move_limit_ns[side] >= 0:
        late = max(late, elapsed - clocks.move_limit_ns[side])
    if clocks.clock_ns[side] >= 0:
        late = max(late, elapsed - clocks.remaining_ns[side])
    if late > clocks.margin_ns[side]:
        clocks.late_ns = late
        return False
    if late > 0:
        clocks.overruns[side] += 1
        clocks.worst_overrun_ns[side] = max(clocks.worst_overrun_ns[side], late)
    if clocks.clock_ns[side] < 0:
        return True
    clocks.remaining_ns[side] = max(np.int64(0), clocks.remaining_ns[side] - elapsed) + clocks.increment_ns[side]
    control = clocks.moves_per_control[side]
    if control > 0 and clocks.moves_made[side] % control == 0:
        clocks.remaining_ns[side] += clocks.clock_ns[side]
    return True


@jit
def _think(state, search, lists, parameters, clocks, side):
    """Search for a side's move under the side's limits and clock; returns the move."""
    prepare(state, parameters)
    allocate_time(
        search,
        parameters,
        clocks.move_time_ms[side],
        clocks.remaining_ns[side] if clocks.clock_ns[side] >= 0 else np.int64(-1),
        clocks.increment_ns[side],
        _moves_to_go(clocks, side),
    )
    return think(state, search, lists, parameters)


@jit
def play_compiled(
    states, lists_of_moves, first_searches, first_parameter_sets, second_searches, second_parameter_sets,
    first_checkers, first_check_sets, second_checkers, second_check_sets, all_clocks, adjudications, trackers, records,
    longest
):  # fmt: skip
    """Play a game from its state to the end; fill the game's record and return the verdict code.

    Arguments ``first_...`` belong to the side that moves first in the game, ``second_...`` to the other. Every record
    is passed as an array of one element, because numba unpacks a record with many fields far more slowly. Each side's
    checker, a search record with parameters, is used only if that side's search statistics are on. A game whose
    ``state.ply`` reaches ``longest`` is a draw.

    If the verdict code is ``OPEN``, the caller must solve the position. If it cannot be solved, the caller sets
    ``tracker.unsolved_ply`` to ``record.plies`` and calls again with the same records.
    """
    state, lists, clocks = states[0], lists_of_moves[0], all_clocks[0]
    adjudication, tracker, record = adjudications[0], trackers[0], records[0]
    first_search, first_parameters = first_searches[0], first_parameter_sets[0]
    second_search, second_parameters = second_searches[0], second_parameter_sets[0]
    first_checker, first_checks = first_checkers[0], first_check_sets[0]
    second_checker, second_checks = second_checkers[0], second_check_sets[0]
    while True:
        verdict = judge(state, lists)
        if verdict != OPEN:
            return verdict
        if record.plies > 0:
            if is_to_be_solved(adjudication, tracker, state, record.plies):
                return OPEN
            ply = record.plies - 1
            mover = 1 - np.int64(state.side)
            score = np.int64(record.scores[ply])
            verdict = adjudicate(adjudication, tracker, mover, score, record.plies, restarts_draw_count(state))
            if verdict != OPEN:
                return verdict
        if state.ply >= longest:
            return _MAX_LENGTH
        side = np.int64(state.side)
        # Only late moves need this time; untimed games save the system call, which takes a microsecond.
        running_since = thread_cpu_ns() if is_timed(clocks, side) else np.int64(0)
        if side == 0:
            search = first_search
            move = _think(state, search, lists, first_parameters, clocks, side)
        else:
            search = second_search
            move = _think(state, search, lists, second_parameters, clocks, side)
        if is_timed(clocks, side):
            record.running_ns = thread_cpu_ns() - running_since
        if side == 0:
            check_null_samples(state, search, first_checker, lists, first_checks)
        else:
            check_null_samples(state, search, second_checker, lists, second_checks)
        if read_flag(search.stop_address) != 0:
            return _STOPPED
        ply = record.plies
        record.moves[ply] = move
        record.scores[ply] = search.line_score[0]
        record.depths[ply] = search.depth
        record.nodes[ply] = search.nodes
        record.times_ns[ply] = search.elapsed_ns
        publish_word(records.ctypes.data, _PLIES, np.uint64(ply + 1))  # who reads it also reads the move
        in_check(state)
        make(state, move)
        in_check(state)
        if not spend_clock(clocks, side, search.elapsed_ns):
            return _FORFEIT[side]


@dataclass(frozen=True)
class PlayerSettings:
    """Settings of one side in a compiled game: engine parameters, limits and time margin."""

    parameters: Mapping[str, Value]
    """The values of all engine parameters, defaults included."""
    limits: Limits
    margin_ms: int = MARGIN_MS
    """Milliseconds by which a move may exceed its time before the game is lost on time."""


@dataclass(frozen=True)
class LateMove:
    """The move that lost a game on time."""

    elapsed_ms: float
    """Time that the move took on the player's clock, in milliseconds."""
    allowed_ms: float
    """Time that was left on the clock, or the time limit per move, in milliseconds."""
    running_ms: float
    """Processor time of the move in milliseconds. If it is within the limit, the move was late because the process had
    to wait for a processor.
    """
    margin_ms: float
    """Margin allowed beyond ``allowed_ms``, in milliseconds."""


@dataclass(frozen=True)
class Overruns:
    """Moves of one side that exceeded their time, but stayed within the margin."""

    moves: int
    worst_ms: float
    """Largest overrun, in milliseconds."""


@dataclass(frozen=True)
class PlayedGame:
    """A finished game. Each list has one entry per move; scores are in centipawns, from the mover's point of view."""

    moves: list[str]
    scores: list[int]
    depths: list[int]
    nodes: list[int]
    times_ms: list[float]
    result: str
    reason: str
    final_position: str
    late: LateMove | None = None
    """The move that lost the game on time, if the loser had a wall-clock limit; otherwise ``None``."""
    overruns: tuple[Overruns, Overruns] | None = None
    """Moves that exceeded their time within the margin, of the first and the second side; ``None`` without any."""
    exact_score: int | None = None
    """Final score of a solved game in discs, for the side that moved first; otherwise ``None``."""
    search_statistics: tuple[dict[str, Any], dict[str, Any]] | None = None
    """Search statistics of the first and the second side (``engine.search_statistics``); ``None`` if switched off."""


class PlayedMoves:
    """The moves of a game that is being played in compiled code. Another thread may read them during the game.

    Compiled code increments ``plies`` only after the move is written completely.
    """

    def __init__(self, game: str) -> None:
        self._format_move = game_named(game).format_move
        self.record = new_record(GAME_DTYPE)

    def read(self) -> tuple[list[str], list[int | None]]:
        """The moves so far in protocol notation, and their scores in centipawns, from the mover's point of view."""
        record = self.record
        count = int(record.plies)
        return list(map(self._format_move, record.moves[:count].tolist())), record.scores[:count].tolist()


class CompiledGames:
    """Plays games one after another in compiled code, without the interpreter lock. Use one object per thread.

    Reuses records and tables for games with equal parameters and limits. No game depends on earlier games.
    """

    def __init__(self, game: str) -> None:
        self.game = game_named(game)
        self._state, self._lists = new_record(self.game.state_dtype), new_record(MOVE_LISTS_DTYPE)
        self._clocks, self._tracker = new_record(CLOCKS_DTYPE), new_record(TRACKER_DTYPE)
        self._adjudication = new_record(ADJUDICATION_DTYPE)
        records = (self._state, self._lists, self._clocks, self._adjudication, self._tracker)
        self._arrays = tuple(map(array_of, records))
        """The game's records as arrays of one element. Assignment to the element overwrites the record."""
        self._memories: dict[tuple[Any, ...], tuple[SearchMemory, StopFlag]] = {}
        self._endgames: EndgameSolver | None = None

    def _memory(
        self,
        settings: PlayerSettings,
        side: int,
        search_statistics: SearchStatisticsSettings | None,
        stop: StopFlag,
    ) -> SearchMemory:
        """The search memory of one side, reset for a new game; an earlier game's memory if it fits the settings."""
        key = (tuple(settings.parameters.items()), settings.limits, side, search_statistics)
        memory, watched = self._memories.get(key, (None, None))
        if memory is None:
            # A tuner meets a new pair of sets in nearly every match: keep only a few tables.
            while len(self._memories) >= 16:
                del self._memories[next(iter(self._memories))]
            memory = SearchMemory(settings.parameters, settings.limits.nodes, search_statistics)
            memory.compile_search(self._state, self._lists)
        if watched is not stop:
            memory.set_limits(settings.limits, stop)
            self._memories[key] = memory, stop
        memory.new_game()
        if search_statistics is not None:
            memory.begin_counting()
        return memory

    def _endgame_solver(self, stop: StopFlag, adjudication: Adjudication) -> EndgameSolver:
        kept = self._endgames
        if kept is None or kept.stop is not stop or kept.adjudication != adjudication:
            self._endgames = kept = EndgameSolver(stop, adjudication)
        return kept

    def play(
        self,
        position: str,
        moves: Sequence[str],
        first: PlayerSettings,
        second: PlayerSettings,
        rules: Rules,
        adjudication: Adjudication,
        stop: StopFlag,
        search_statistics: SearchStatisticsSettings | None = None,
        played: PlayedMoves | None = None,
    ) -> PlayedGame:
        """Play one game that starts with the opening ``moves`` from ``position``; ``first`` and ``second`` are the
        players.

        If ``stop`` is set, the game ends with the reason ``stopped``. ``search_statistics`` switches on the collection
        of search statistics, which does not change the game. ``played`` lets another thread follow the moves; it must
        be a new object.
        """
        states, lists, clocks, adjudications, trackers = self._arrays
        states[0] = _start_state(self.game.name, position, tuple(moves), rules)
        clocks[0] = start_clocks(first.limits, first.margin_ms, second.limits, second.margin_ms)
        adjudications[0] = _adjudication_record(adjudication, self.game.draw_after_ply(adjudication, states[0]))
        trackers[0] = _NOTHING_TRACKED
        memories = [
            self._memory(settings, side, search_statistics, stop) for side, settings in enumerate((first, second))
        ]
        sides = (*memories[0].arrays, *memories[1].arrays, *memories[0].checker.arrays, *memories[1].checker.arrays)
        record = (played or PlayedMoves(self.game.name)).record
        while True:
            verdict = int(play_compiled(
                states, lists, *sides, clocks, adjudications, trackers, array_of(record), self.game.max_game_plies
            ))  # fmt: skip
            ending = decode_verdict(verdict)
            if verdict != OPEN:
                break
            solved = self._endgame_solver(stop, adjudication).ending(Position(self.game, self._state, position))
            if solved is not None:
                ending = solved
                break
            self._tracker.unsolved_ply = record.plies
        plies = int(record.plies)
        counted = [found for memory in memories if (found := memory.search_statistics()) is not None]
        return PlayedGame(
            moves=list(map(self.game.format_move, record.moves[:plies].tolist())),
            scores=record.scores[:plies].tolist(),
            depths=record.depths[:plies].tolist(),
            nodes=record.nodes[:plies].tolist(),
            times_ms=(record.times_ns[:plies] / 1e6).tolist(),
            result=ending.result,
            reason=ending.reason,
            final_position=self.game.format_state(self._state),
            late=_late_move(record, self._clocks, ending, (first, second)),
            overruns=_overruns(self._clocks),
            exact_score=ending.exact_score,
            search_statistics=(counted[0], counted[1]) if counted else None,
        )


_NOTHING_TRACKED = new_record(TRACKER_DTYPE)


@functools.lru_cache(maxsize=64)
def _start_state(game: str, position: str, moves: tuple[str, ...], rules: Rules) -> Any:
    """State after the opening. It is cached, because both games of a pair start from it; callers must copy it."""
    start = game_named(game).position(position, moves)
    start.game.apply_rules(start.state, rules)
    return start.state


@functools.lru_cache(maxsize=64)
def start_clocks(first: Limits, first_margin_ms: int, second: Limits, second_margin_ms: int) -> Any:
    """Both sides' clocks before the first move, as a cached record that callers must copy.

    Each side has its limits and its time margin in milliseconds.
    """
    clocks = new_record(CLOCKS_DTYPE)
    set_clock(clocks, 0, first, first_margin_ms)
    set_clock(clocks, 1, second, second_margin_ms)
    return clocks


@functools.lru_cache(maxsize=64)
def _adjudication_record(adjudication: Adjudication, draw_after_ply: int) -> Any:
    """Record of the adjudication rules for a game. It is cached; callers must copy it.

    ``draw_after_ply`` counts plies from the start of play.
    """
    return replace(adjudication, draw_after_ply=draw_after_ply).to_record()


def _late_move(record: Any, clocks: Any, ending: Ending, settings: Sequence[PlayerSettings]) -> LateMove | None:
    """The move that lost a game on time, if the loser had a wall-clock limit; otherwise ``None``."""
    loser = 0 if ending.result == "0-1" else 1
    if ending.reason != "time_forfeit" or settings[loser].limits.clock_kind != "wall":
        return None
    elapsed_ns = int(record.times_ns[record.plies - 1])
    allowed_ms, running_ms = (elapsed_ns - int(clocks.late_ns)) / 1e6, int(record.running_ns) / 1e6
    return LateMove(elapsed_ns / 1e6, allowed_ms, running_ms, settings[loser].margin_ms)


def _overruns(clocks: Any) -> tuple[Overruns, Overruns] | None:
    if not clocks.overruns.any():
        return None
    first, second = (
        Overruns(int(clocks.overruns[side]), round(int(clocks.worst_overrun_ns[side]) / 1e6, 3)) for side in (0, 1)
    )
    return first, second


def margin_ns_of(limits: Limits, margin_ms: int) -> int:
    """Time in nanoseconds by which a move may be late; always 0 on the node clock, which is exact."""
    return 0 if limits.clock_kind == "node" else margin_ms * 1_000_000


def move_limit_ns_of(limits: Limits) -> int:
    """Time limit per move in nanoseconds; -1 if there is none, and on the node clock."""
    return -1 if limits.move_time_ms is None or limits.clock_kind == "node" else limits.move_time_ms * 1_000_000


def set_clock(clocks: Any, side: int, limits: Limits, margin_ms: int = MARGIN_MS) -> None:
    """Write one side's limits and time margin into a clock record of ``CLOCKS_DTYPE``."""
    clocks.move_limit_ns[side] = move_limit_ns_of(limits)
    clocks.margin_ns[side] = margin_ns_of(limits, margin_ms)
    clocks.clock_ns[side] = -1 if limits.clock_ms is None else limits.clock_ms * 1_000_000
    clocks.remaining_ns[side] = clocks.clock_ns[side]
    clocks.increment_ns[side] = limits.increment_ms * 1_000_000
    clocks.moves_per_control[side] = limits.moves_per_control
    clocks.move_time_ms[side] = limits.move_time_ms or 0


class EndgameSolver:
    """Solves endgame positions by search or tablebase, so that a game ends with its exact result.

    Its engine settings do not depend on the players, so that the compiled loop and the Python loop find the same
    results.
    """

    def __init__(self, stop: StopFlag, adjudication: Adjudication) -> None:
        self.stop = stop
        self.adjudication = adjudication
        self._solver: Solver | None = None

    def ending(self, position: Position) -> Ending | None:
        """The game's ending with best play, or ``None`` if it could not be determined.

        The ending is unknown if the search takes too many nodes, if no tablebase has the position, if
        ``tablebase_results`` excludes the tablebase's result, or if the stop flag is set.
        """
        if self.adjudication.tablebases:
            return self._ending_by_table(position)
        if self._solver is None:
            self._solver = Solver(position.game.name, SOLVING_SETTINGS, self.stop)
        score = self._solver.score_within(position, SOLVING_NODES)
        if score is None:
            return None
        score = -score if position.side_to_move else score
        return Ending(_result_of(score), "solved", score)

    def _ending_by_table(self, position: Position) -> Ending | None:
        tables = open_tablebases(self.adjudication.tablebases)
        result = tables.result(position.text, self.adjudication.tablebase_ignore_50)
        if result is None or self.adjudication.tablebase_results == ("draw" if result else "win_loss"):
            return None
        return Ending(_result_of(-result if position.side_to_move else result), "tablebase")


def _result_of(score: int) -> str:
    """Result text such as ``1-0`` for an exact score, from the point of view of the side that moved first."""
    return "1/2-1/2" if score == 0 else "1-0" if score > 0 else "0-1"


class Arbiter:
    """Applies the compiled loop's rules and adjudication to one move at a time, for loops in Python.

    One call into compiled code checks that a move is legal, makes it, and applies rules and adjudication.
    """

    def __init__(
        self, position: Position, rules: Rules, adjudication: Adjudication, stop: StopFlag | None = None
    ) -> None:
        """``position`` is the start of play. The arbiter stores ``rules`` in this object and makes all moves on it."""
        self._position = position
        self._moves = 0
        settings = _adjudication_record(adjudication, position.game.draw_after_ply(adjudication, position.state))
        self._records = (position.state, settings, new_record(TRACKER_DTYPE))
        self._state, self._settings, self._tracker = map(array_of, self._records)
        self._codes = _CODES.setdefault(position.game.name, {})
        self._endgames = EndgameSolver(stop or StopFlag(), adjudication)
        self._unsolved: tuple[int, int] | None = None
        """Side and score of the last move if the position after it must still be solved; otherwise ``None``."""
        position.game.apply_rules(position.state, rules)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        """The arguments ``states`` to ``trackers`` of ``play_move``, with the move lists of the calling thread."""
        return self._state, self._position.list_array, self._settings, self._tracker

    def play(self, move: str, score: int | None) -> Ending | None:
        """Make a move and return the game's ending; ``None`` if the game is not over or ``has_to_solve`` is true.

        ``move`` is in the game's protocol notation. ``score`` is in centipawns, from the mover's point of view, or
        ``None`` if unknown. If the move is illegal or the game is too long, raises ``MoveError`` without changing
        anything.
        """
        position = self._position
        position.check_room()
        said = NO_SCORE if score is None else score
        verdict = play_move(*self._arrays, self._codes.get(move, _NO_MOVE), said, self._moves + 1)
        if verdict == ILLEGAL:
            code = self._codes[move] = position.code_of(move)
            verdict = play_move(*self._arrays, code, said, self._moves + 1)
        self._moves += 1
        position.moves.append(move)
        if verdict == OPEN:
            return None
        if verdict == TO_BE_SOLVED:
            self._unsolved = (1 - position.side_to_move, said)
            return None
        return decode_verdict(verdict)

    @property
    def has_to_solve(self) -> bool:
        """Whether ``solve`` must solve the position after the last move, which may take a second or two."""
        return self._unsolved is not None

    def solve(self) -> Ending | None:
        """Solve the position after the last move and return the exact ending.

        If solving takes too many nodes, returns the ending by adjudication, or ``None`` if the game continues.
        """
        assert self._unsolved is not None
        mover, score = self._unsolved
        self._unsolved = None
        ending = self._endgames.ending(self._position)
        if ending is not None:
            return ending
        state, adjudication, tracker = self._records
        verdict = adjudicate(adjudication, tracker, mover, score, self._moves, restarts_draw_count(state))
        return None if int(verdict) == OPEN else decode_verdict(int(verdict))


_CODES: dict[str, dict[str, int]] = {}
"""Cache of move codes, by game and move text. A cached code that is illegal in a position is looked up again."""
ILLEGAL, TO_BE_SOLVED = -1, -2
"""Codes that ``play_move`` returns besides verdicts: the move is illegal, or the position after it must be solved."""
_NO_MOVE = -1


@jit
def play_move(states, lists, adjudications, trackers, code, score, ply):
    """Make the move ``code`` if it is legal. Returns the verdict code after it, ``ILLEGAL`` or ``TO_BE_SOLVED``.

    ``score`` is in centipawns for the mover, or ``NO_SCORE``; ``ply`` is the number of moves since the opening, this
    one included. Every record is passed as an array of one element, because numba unpacks a record with many fields far
    more slowly.
    """
    state = states[0]
    row = lists[0]
    count = generate(state, row, 0)
    place = 0
    while place < count and row.moves[0, place] != code:
        place += 1
    if place == count:
        return np.int64(ILLEGAL)
    mover = np.int64(state.side)
    # The move limit needs to know of every check on the way.
    in_check(state)
    make(state, code)
    in_check(state)
    verdict = np.int64(judge(state, row))
    if verdict != OPEN:
        return verdict
    if is_to_be_solved(adjudications[0], trackers[0], state, ply):
        return np.int64(TO_BE_SOLVED)
    return np.int64(adjudicate(adjudications[0], trackers[0], mover, score, ply, restarts_draw_count(state)))
