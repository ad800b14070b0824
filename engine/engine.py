"""The class ``Engine``: searches positions of one game under one set of parameters."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import array_of, jit, new_record
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import MOVE_LISTS_DTYPE, Game, Position
from elolab.engine.games.evaluation_cache import WORDS
from elolab.engine.search.clock import CLOCK_CODES, allocate_time, start_clock
from elolab.engine.search.driver import new_game, think
from elolab.engine.search.node import enter_address, prepare_reductions
from elolab.engine.search.null_samples import check_null_samples
from elolab.engine.search.quiescence import static_value, terminal_value
from elolab.engine.search.records import COUNTERS, END_REASONS, MAX_LINES, NO_LIMIT, SEARCH_DTYPE
from elolab.engine.search.reports import ReportBoard
from elolab.engine.search.statistics import SEARCH_STATISTICS_DTYPE, clear_search_statistics, search_statistics_data
from elolab.engine.search.table import (
    EXACT,
    GAME_NUMBERS,
    LOWER_BOUND,
    UPPER_BOUND,
    WORDS_PER_BUCKET,
    allocate,
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    permille_in_use,
    probe,
)
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, resolve, to_record
from elolab.engine.values import INFINITY


class StopFlag:
    """A flag that one thread sets to stop searches in other threads. Searches poll it; waiting threads are woken."""

    def __init__(self) -> None:
        self._words = np.zeros(2, np.int64)
        self._flag = self._words.view(np.uint8)[:1]
        self._pipe: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def __del__(self) -> None:
        for descriptor in self._pipe:
            os.close(descriptor)

    @property
    def address(self) -> int:
        """Address of the flag (int64) for compiled code, valid as long as this object exists.

        The next int64 is the file descriptor that ``watch`` opened, plus 1; it is 0 if no descriptor is open.
        """
        return int(self._words.ctypes.data)

    def watch(self) -> None:
        """Open a file descriptor that is readable while the flag is set. Does nothing if no descriptor is available."""
        with self._lock:
            if self._pipe:
                return
            with contextlib.suppress(OSError):
                self._pipe = os.pipe()
                self._words[1] = self._pipe[0] + 1
                os.set_blocking(self._pipe[0], False)
                if self._flag[0]:
                    os.write(self._pipe[1], b"\0")

    def set(self) -> None:
        """Request a stop: every search that uses this flag ends soon."""
        was_set = self._flag[0]
        self._flag[0] = 1
        if self._pipe and not was_set:
            os.write(self._pipe[1], b"\0")

    def clear(self) -> None:
        """Reset the flag, so that new searches can run."""
        self._flag[0] = 0
        if self._pipe:
            with contextlib.suppress(BlockingIOError):
                os.read(self._pipe[0], 64)

    def is_set(self) -> bool:
        """Whether the flag is set, that is, whether a stop was requested."""
        return bool(self._flag[0])


@dataclass(frozen=True)
class Clock:
    """State of both players' clocks at the start of a move."""

    remaining_ms: int
    opponent_remaining_ms: int | None = None
    moves_to_go: int = 0
    """Number of moves until the next time control; 0 for sudden death."""
    remaining_ns: int | None = None
    """Remaining time in nanoseconds, for the node clock (time counted in nodes); ``None`` to use ``remaining_ms``."""
    ponders: bool = False
    """Whether the player also ponders on the opponent's time; the player may then spend more of its own time."""


@dataclass(frozen=True)
class PonderGrant:
    """Pondering whose duration and outcome are known in advance.

    The search ponders for ``granted_ns`` on its own clock. After a ponder hit the same search goes on to find the move;
    after a ponder miss the search ends. No second thread is needed. If time is counted in nodes, the search is
    reproducible.
    """

    granted_ns: int
    """Time that the opponent takes for its move, and for which the search ponders, in nanoseconds."""
    is_hit: bool


@dataclass(frozen=True)
class Line:
    """One principal variation of a search, with its score and depth."""

    move: str
    score: int
    """Score in centipawns, from the point of view of the side to move at the root."""
    depth: int
    """Depth in plies of the last iteration completed for this line. If the search ended within an iteration, lines
    already completed in it have one ply more than ``SearchResult.depth``."""
    principal_variation: tuple[str, ...]
    iteration: int
    """Depth in plies of the iteration that found the line; greater than ``depth`` if the search ended within it."""


@dataclass(frozen=True)
class TableEntry:
    """A position's entry in the transposition table."""

    move: str | None
    score: int
    """Score in centipawns, from the point of view of the side to move; exact if it is a lower and an upper bound."""
    depth: int
    is_lower_bound: bool
    is_upper_bound: bool


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    move: str | None
    """The move to play; ``None`` if there is no legal move."""
    score: int
    """Score in centipawns, from the point of view of the side to move; mates are coded as in ``engine.values``."""
    depth: int
    """Depth in plies of the last iteration completed for all lines; 0 if none was completed."""
    nodes: int
    """Number of moves made in the main search and the quiescence search."""
    time_ms: float
    """Duration of the search in milliseconds, on its own clock, pondering included."""
    principal_variation: tuple[str, ...]
    deepest_ply: int = 0
    lines: tuple[Line, ...] = ()
    start_ns: int = 0
    """Start of the search in nanoseconds, on the CPU clock if the limit uses it, otherwise on ``time.monotonic_ns``."""
    counters: dict[str, int] = field(default_factory=dict)
    """The search's event counters, by the names in ``engine.search.records.COUNTERS``."""
    ended_by: str = ""
    """Reason why the search ended, one of ``engine.search.records.END_REASONS``."""
    search_statistics: dict[str, Any] | None = None
    """Search statistics as described in ``engine.search_statistics``; ``None`` if they are switched off."""


@jit
def _new_game(searches: Any, game_number: int) -> None:
    """Call the compiled ``new_game`` for a search record; ``searches`` is an array of one element, the record."""
    new_game(searches[0], game_number)


PAGE_BYTES = 4096
"""Smallest size of a memory page on common systems, in bytes."""
CHECKER_MEGABYTES = 1
"""Maximum size in MiB of the checker's transposition table.

The checker is a second searcher, without null moves, that verifies cutoffs of null moves."""


class SearchMemory:
    """The memory of one searcher: its records and its transposition table, reused for any number of games."""

    def __init__(
        self,
        parameters: Mapping[str, Value],
        node_limit: int | None,
        search_statistics: SearchStatisticsSettings | None = None,
    ) -> None:
        self.search = new_record(SEARCH_DTYPE)
        self.parameters = to_record(parameters)
        self.search.lines = 1
        self.search.replacement = self.parameters.replacement
        prepare_reductions(self.search, self.parameters)
        self.search.depth_limit = NO_LIMIT
        self.search.node_limit = NO_LIMIT
        self.search.soft_ns = self.search.hard_ns = NO_LIMIT
        megabytes = int(parameters["hash_mb"])
        self.arrays = (array_of(self.search), array_of(self.parameters))
        """The search and parameter records, each as an array of one element that shares the record's memory.

        numba passes arrays to compiled functions many times faster than records.
        """
        self.table = allocate(megabytes, node_limit) if megabytes else np.zeros(0, np.uint64)
        self.search.table_address = self.table.ctypes.data
        self.search.table_mask = len(self.table) // WORDS_PER_BUCKET - 1
        self.evaluation_cache = np.zeros(WORDS, np.uint64)
        self.search.evaluation_cache = self.evaluation_cache.ctypes.data
        self._is_touched = False
        self.game_number = 0
        self._checker: SearchMemory | None = None
        self._counters_before = dict.fromkeys(COUNTERS, 0)
        self.statistics_record: Any = None
        if search_statistics is not None:
            memory = np.zeros(1, SEARCH_STATISTICS_DTYPE)
            self.search.search_statistics_address = memory.ctypes.data
            self.statistics_record = memory.view(np.recarray)[0]  # a view, which keeps the memory alive
            self.statistics_record.sample_interval = search_statistics.null_cutoff_interval
            self.statistics_record.sample_nodes = search_statistics.null_cutoff_nodes
            table = {"hash_mb": min(megabytes, CHECKER_MEGABYTES)}
            self._checker = SearchMemory({**parameters, "null_move": False, **table}, None)

    @property
    def checker(self) -> SearchMemory:
        """Memory of the second searcher, which verifies null-move cutoffs when search statistics are collected.

        Without search statistics there is no second searcher, and the property is this object itself.
        """
        return self._checker or self

    def begin_counting(self) -> None:
        """Clear the search statistics, and note the counters' current values, so that only later events count."""
        self._counters_before = {name: int(self.search[name]) for name in COUNTERS}
        if self.statistics_record is not None:
            clear_search_statistics(self.statistics_record)

    def counters(self) -> dict[str, int]:
        """Counts of events since ``begin_counting``, by the names in ``engine.search.records.COUNTERS``."""
        return {name: int(self.search[name]) - before for name, before in self._counters_before.items()}

    def search_statistics(self) -> dict[str, Any] | None:
        """Search statistics since ``begin_counting``; ``None`` if they are switched off."""
        if self.statistics_record is None:
            return None
        return {**search_statistics_data(self.statistics_record), "counters": self.counters()}

    def new_game(self) -> None:
        """Reset the memory, so that the new game does not depend on earlier ones."""
        if self.statistics_record is not None:
            self.statistics_record.sample_wait = 0
        self.game_number += 1
        if self.game_number == GAME_NUMBERS:
            self.table[:] = 0
            self.game_number = 1
        _new_game(self.arrays[0], self.game_number)

    def touch_table(self) -> None:
        """Write to every memory page of the table, so that the operating system allocates the pages now and not during
        a search.

        Allocation during a search could take longer than the interval between checks of the clock.
        """
        if not self._is_touched:
            self.table[:: PAGE_BYTES // self.table.itemsize] |= 0
            self._is_touched = True

    def set_limits(self, limits: Limits, stop: StopFlag | None) -> None:
        """Set the depth limit, node limit, kind of clock and stop flag for all later searches."""
        search = self.search
        if limits.is_timed and limits.clock_kind != "node":
            self.touch_table()
        search.depth_limit = limits.depth if limits.depth is not None else NO_LIMIT
        search.node_limit = limits.nodes if limits.nodes is not None else NO_LIMIT
        search.clock = CLOCK_CODES[limits.clock_kind] if limits.is_timed else 0
        search.nanoseconds_per_node = limits.nanoseconds_per_node
        search.stop_address = stop.address if stop is not None else 0

    def compile_search(self, state: Any, lists: Any) -> None:
        """Load or compile the search for the state's game. Call this before the first search."""
        if not self.search.node_address:
            self.search.node_address = enter_address(state, self.search, lists, self.parameters)
            if self._checker is not None:
                self._checker.search.node_address = self.search.node_address

    def connect(self, ponder: StopFlag | PonderGrant | None, board: ReportBoard | None) -> None:
        """Set the ponder flag or grant, and the report board, for the next search."""
        search = self.search
        search.ponder_address = ponder.address if isinstance(ponder, StopFlag) else 0
        search.ponder_grant_ns = ponder.granted_ns if isinstance(ponder, PonderGrant) else 0
        search.ponder_misses = int(isinstance(ponder, PonderGrant) and not ponder.is_hit)
        self.search.report_address = board.address if board is not None else 0


class Engine:
    """Searches positions of one game, such as Xiangqi, under one set of parameters.

    ``parameters`` override the defaults; raises ``ParameterError`` for an illegal one. With ``search_statistics``, each
    result includes statistics of the search, which do not change the engine's moves.
    """

    def __init__(
        self,
        game: str,
        parameters: Mapping[str, Any] | None = None,
        search_statistics: SearchStatisticsSettings | None = None,
    ) -> None:
        self.game: Game = game_named(game)
        self.parameters = resolve(parameters or {}, game=game)
        self._lists = new_record(MOVE_LISTS_DTYPE)
        self.memory: SearchMemory | None = None
        """The searcher's memory; ``None`` before the first search."""
        self._node_limit: int | None = None
        self._search_statistics = search_statistics

    def new_game(self) -> None:
        """Clear everything that the engine remembers from earlier searches."""
        if self.memory is not None:
            self.memory.new_game()

    def prepare(self) -> None:
        """Allocate the transposition table now and not during the next search.

        Before the first search, the table gets the size for searches without a node limit.
        """
        memory = self.memory or self._memory_for(Limits())
        memory.touch_table()

    @property
    def table_permille(self) -> int:
        """Estimated share of the transposition table, in thousandths, that holds entries of the last search."""
        if self.memory is None or not len(self.memory.table):
            return 0
        search = self.memory.search
        return permille_in_use(self.memory.table, int(search.game_number), int(search.search_number))

    def _memory_for(self, limits: Limits) -> SearchMemory:
        """The searcher's memory; allocated again if the node limit, which bounds the table's size, has changed."""
        if self.memory is None or self._node_limit != limits.nodes:
            self.memory = SearchMemory(self.parameters, limits.nodes, self._search_statistics)
            self._node_limit = limits.nodes
            self.memory.new_game()
        return self.memory

    def search(
        self,
        position: Position,
        limits: Limits,
        clock: Clock | None = None,
        stop: StopFlag | None = None,
        *,
        search_moves: Sequence[str] = (),
        lines: int = 1,
        ponder: StopFlag | PonderGrant | None = None,
        board: ReportBoard | None = None,
    ) -> SearchResult:
        """Search a position; does not change it.

        - ``clock``: state of the clocks, if ``limits`` has a clock; by default a full clock.
        - ``stop``: flag that ends the search early.
        - ``search_moves``: the only moves to consider at the root; empty for all.
        - ``lines``: number of best moves to find.
        - ``ponder``: while this flag is set, no clock ends the search; clear it when the opponent makes the expected
          move. A ``PonderGrant`` fixes the pondering time in advance instead.
        - ``board``: receives a report of each iteration.

        Raises ``MoveError`` for an illegal move in ``search_moves``.
        """
        memory = self._memory_for(limits)
        search, parameters = memory.search, memory.parameters
        memory.set_limits(limits, stop)
        memory.connect(ponder, board)
        if not 1 <= lines <= MAX_LINES:
            raise UserError(f"{lines} lines, expected 1 to {MAX_LINES}")
        search.lines = lines
        codes = list(dict.fromkeys(position.code_of(move) for move in search_moves))
        search.filter_count = len(codes)
        search.filter_moves[: len(codes)] = codes
        remaining_ns = -1
        moves_to_go = limits.moves_per_control
        if limits.clock_ms is not None:
            clock = clock or Clock(limits.clock_ms, moves_to_go=moves_to_go)
            remaining_ns = clock.remaining_ns if clock.remaining_ns is not None else clock.remaining_ms * 1_000_000
            remaining_ns, moves_to_go = max(remaining_ns, 0), clock.moves_to_go
        search.ponders = int(clock is not None and clock.ponders)
        allocate_time(
            search, parameters, limits.move_time_ms or 0, remaining_ns, limits.increment_ms * 1_000_000,
            moves_to_go,
        )  # fmt: skip
        state = position.state
        memory.compile_search(state, self._lists)
        self.game.kernels.prepare(state, parameters)
        memory.begin_counting()
        think(state, search, self._lists, parameters)
        check_null_samples(state, search, memory.checker.search, self._lists, memory.checker.parameters)
        found = [self._line(search, line) for line in range(lines) if int(search.line_move[line])]
        # A search that prunes may find a later line better after all; lines of the last iteration come first.
        found.sort(key=lambda line: (-line.iteration, -line.score))
        return SearchResult(
            move=found[0].move if found else None,
            score=found[0].score if found else int(search.line_score[0]),
            depth=int(search.depth),
            nodes=int(search.nodes),
            time_ms=int(search.elapsed_ns) / 1e6,
            principal_variation=found[0].principal_variation if found else (),
            deepest_ply=int(search.deepest_ply),
            lines=tuple(found),
            start_ns=int(search.start_ns),
            counters=memory.counters(),
            ended_by=END_REASONS[int(search.end_reason)],
            search_statistics=memory.search_statistics(),
        )

    def best_line(self, position: Position, score: int) -> tuple[tuple[str, ...], int]:
        """Find a best line from a solved position to the end of the game.

        ``score`` is the position's exact score in the unit of ``SearchResult.score``, from the point of view of the
        side to move. Returns the moves of the line, and the number of nodes searched to find it.
        """
        memory = self._memory_for(Limits(depth=1))
        search = memory.search
        self.game.kernels.prepare(position.state, memory.parameters)
        start_clock(search)
        self.game.kernels.best_line(position.state, search, self._lists, memory.parameters, score)
        return self._variation(search, 0), int(search.nodes)

    def known_line(self, position: Position, line: Line) -> tuple[str, ...]:
        """The moves of a line that was just found. If the line's score is exact, moves from the transposition table are
        appended.

        Does not affect later searches.
        """
        unit, moves = self.game.score_unit, line.principal_variation
        if not unit or line.score % unit or self.memory is None:
            return moves
        end = position.copy()
        for move in moves:
            end.push(move)
        parameters = self.memory.parameters
        # Without nodes to spend, the solver knows only what it finds in the table, and stores nothing there.
        reader = self._reader("table_address", "table_mask", "game_number")
        score = line.score if len(moves) % 2 == 0 else -line.score
        self.game.kernels.prepare(end.state, parameters)
        self.game.kernels.best_line(end.state, reader, self._lists, parameters, score)
        return (*moves, *self._variation(reader, 0))

    def _reader(self, *names: str) -> Any:
        """A new search record that reads the transposition table; its fields ``names`` are the searcher's."""
        assert self.memory is not None
        reader = new_record(SEARCH_DTYPE)
        for name in names:
            reader[name] = self.memory.search[name]
        return reader

    def static_score(self, position: Position) -> int:
        """Static evaluation without any search, in centipawns, from the point of view of the side to move."""
        parameters = to_record(self.parameters)
        self.game.kernels.prepare(position.state, parameters)
        if not position.move_codes():
            return int(terminal_value(position.state, 0))
        no_cache = 0
        return int(static_value(position.state, no_cache, parameters, -INFINITY, INFINITY))

    def table_entry(self, position: Position) -> TableEntry | None:
        """A position's entry in the transposition table; ``None`` if there is none. May be called during a search."""
        if self.memory is None:
            return None
        # A record of its own, so that the running search's counters stay its own.
        reader = self._reader("table_address", "table_mask", "game_number", "history_key")
        entry = int(probe(reader, position.state.key))
        if entry == 0:
            return None
        move = int(entry_move(entry))
        return TableEntry(
            move=self.game.format_move(move) if move else None,
            score=int(entry_score(entry, 0)),
            depth=int(entry_depth(entry)),
            is_lower_bound=int(entry_bound(entry)) in (LOWER_BOUND, EXACT),
            is_upper_bound=int(entry_bound(entry)) in (UPPER_BOUND, EXACT),
        )

    def _variation(self, search: Any, line: int) -> tuple[str, ...]:
        codes = search.line_variation[line, : int(search.line_length[line])]
        return tuple(self.game.format_move(int(code)) for code in codes)

    def _line(self, search: Any, line: int) -> Line:
        iteration, completed = int(search.line_depth[line]), int(search.depth)
        was_cut_off = iteration > completed and line >= int(search.current_line)
        return Line(
            move=self.game.format_move(int(search.line_move[line])),
            score=int(search.line_score[line]),
            depth=completed if was_cut_off else iteration,
            principal_variation=self._variation(search, line),
            iteration=iteration,
        )
