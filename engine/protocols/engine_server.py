"""Base of all protocols: a server runs one search at a time, in a separate thread.

The server's own thread handles one event after another: lines of input, results of searches, and reports of the running
search. Only this thread writes output, so a search's iterations always come before its answer. A protocol is a subclass
that reads lines and writes answers.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import ClassVar, TextIO

from elolab.engine.engine import Clock, Engine, SearchResult, StopFlag
from elolab.engine.engine import Line as SearchLine
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.protocols.inbox import EndOfInput, Inbox, InboxEvent, InputLine, LineTooLong, SearchEnded
from elolab.engine.protocols.options import EngineOption, OptionError, find_parameter, parameter_option
from elolab.engine.rules import Rules
from elolab.engine.search.reports import Report, ReportBoard
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, parameters_of, resolve
from elolab.engine.settings.whole_numbers import natural_number

REPORT_INTERVAL_S = 0.01
"""Seconds between polls of a running search for new iterations."""
MAX_TIME_MS = 10**9
"""Maximum time of a clock or a move, in milliseconds. A longer time in a command is reduced to this value."""
MAX_MESSAGE = 300
"""Maximum length, in characters, of a message that quotes input from the other program."""


class CommandError(UserError):
    """An unreadable command; the message states the expected form."""


@dataclass(frozen=True)
class SearchTask:
    """A search that a command has requested, with its limits."""

    position: Position
    limits: Limits
    clock: Clock | None = None
    search_moves: tuple[str, ...] = ()
    lines: int = 1
    """Number of variations to report (multi-PV), at most the number of moves to search."""
    ponders: bool = False
    """Whether the search ponders: until the ponder hit, no clock runs and no answer is sent."""
    until_stopped: bool = False
    """Whether the answer must wait for a stop command, even if the search is over."""

    @property
    def ends_by_itself(self) -> bool:
        """Whether the search ends and is answered without a further command."""
        limits = self.limits
        is_limited = limits.is_timed or limits.depth is not None or limits.nodes is not None
        return is_limited and not self.ponders and not self.until_stopped


@dataclass(frozen=True)
class SearchProgress:
    """Intermediate or final result of a search for one variation."""

    line: int
    """Number of the variation in multi-PV; 1 is the best."""
    depth: int
    """Depth, in plies, of the iteration that found the variation, even if that iteration was aborted."""
    score: int
    """Score in centipawns from the point of view of the side to move; mate scores are as in ``engine.values``."""
    nodes: int
    """Number of nodes from the start of the search to the end of the iteration.

    ``time_ms`` and ``deepest_ply`` refer to the same period.
    """
    time_ms: float
    deepest_ply: int
    moves: tuple[str, ...]
    """The moves of the principal variation."""


Search = Callable[[SearchTask, StopFlag, StopFlag | None, ReportBoard], SearchResult]
"""A function that runs a search, given its task, the stop flag, the ponder flag and the board for reports.

The ponder flag is ``None`` if the search does not ponder."""


class EngineServer(ABC):
    """One session with another program, such as a graphical interface. ``run`` reads its commands and answers them."""

    other_names: ClassVar[Mapping[str, str]] = {}
    """Option names that the protocol prescribes, by parameter name. Each name must be an alias of the parameter."""

    def __init__(
        self,
        game: str,
        overrides: Mapping[str, Value],
        output: TextIO,
        *,
        rules: Rules | None = None,
        title: str = "",
    ) -> None:
        self.game = game_named(game)
        self.title = " ".join(word for word in ("elolab", package_version(), title) if word)
        """The program's name, version and preset."""
        self.parameters = resolve(overrides, game=game)
        self.position: Position | None = None
        self.defers_input = False
        """Whether input stays unread during a search that will end without a further command."""
        self.rules = rules or self.game.standard_rules
        """Rules that apply to the searches, and to results that the engine claims."""
        self.output = output
        self._inbox = Inbox()
        self._engine: Engine | None = None
        self._given: tuple[str | None, str, list[str]] = (None, "", [])
        self._task: SearchTask | None = None
        self._thread: threading.Thread | None = None
        self._searches = 0
        self._stop = StopFlag()
        self._ponder = StopFlag()
        self._reports = ReportBoard()
        self._iteration: list[Report] = []
        """Reports of the newest iteration so far. It is complete when there is a report for each variation."""
        self._shown: dict[int, SearchProgress] = {}
        self._held: SearchResult | UserError | None = None
        self.is_ending = False
        """True once the session is ending: the server reads no further commands."""
        self._ended = False

    # What a protocol says and understands.

    def open(self) -> None:  # noqa: B027 - a protocol may have nothing to say
        """Prepare the session. ``run`` calls this once, before the first line of input."""

    @abstractmethod
    def handle(self, line: str) -> None:
        """Execute one line of input."""

    def warn(self, message: str) -> None:  # noqa: B027 - a protocol may have nothing to say
        """Send an error message to the other program."""

    def show(self, progress: SearchProgress) -> None:  # noqa: B027 - a protocol may have nothing to say
        """Send one variation of a complete iteration to the other program."""

    def show_final(self, progress: SearchProgress, *, is_new: bool) -> None:
        """Send one variation of the final result. ``is_new`` is true if it has changed since it was last sent."""
        self.show(progress)

    @abstractmethod
    def answer(self, result: SearchResult) -> None:
        """Send the answer with the result of a finished search."""

    def answer_nothing(self) -> None:  # noqa: B027 - a protocol may have nothing to say
        """Send the answer that the protocol has for a search that failed or found no move."""

    # The conversation.

    def run(self, descriptor: int | None) -> None:
        """Read commands from a file descriptor and answer them, until ``end`` is called or the input ends.

        Raises ``OSError`` if the other program has closed the engine's output.
        """
        self._inbox.listen(descriptor)
        try:
            self.open()
            while not self._ended:
                self._step()
        finally:
            self._inbox.close()
            self.abandon()

    def _step(self) -> None:
        """Handle one event, or poll the running search for reports."""
        waits = self._task is not None and self._held is None
        deferred = self.defers_input and self._task is not None and self._task.ends_by_itself
        event = self._inbox.take(REPORT_INTERVAL_S if waits else None, lines=not deferred)
        self._deal_with(event)

    def _deal_with(self, event: InboxEvent | None) -> None:
        if event is None:
            self._show_reports()
        elif isinstance(event, InputLine):
            if event.text:
                self.handle(event.text)
        elif isinstance(event, SearchEnded):
            self._search_ended(event)
        elif isinstance(event, LineTooLong):
            self.warn("a line was too long and is ignored")
        elif isinstance(event, EndOfInput):
            self.finish()
            self.end()

    def say(self, line: str) -> None:
        """Write one line to the output and flush it."""
        self.output.write(line + "\n")
        self.output.flush()

    def end(self) -> None:
        """Make ``run`` return after the current event."""
        self._ended = True

    # Searches.

    @property
    def is_searching(self) -> bool:
        """Whether a search is running, or has ended and its answer has not been sent yet."""
        return self._task is not None

    @property
    def is_stopping(self) -> bool:
        """Whether the running search has been requested to stop, and the search's answer has not been sent yet."""
        return self._task is not None and self._stop.is_set()

    @property
    def is_pondering(self) -> bool:
        """Whether the running search is pondering, and no ponder hit has come yet."""
        return self._task is not None and self._ponder.is_set()

    @property
    def shown_best(self) -> SearchProgress | None:
        """The best variation (number 1), as sent last for the running search; ``None`` if none has been sent yet."""
        return self._shown.get(1)

    @property
    def engine(self) -> Engine:
        """The engine with the current parameters."""
        if self._engine is None:
            self._engine = Engine(self.game.name, self.parameters)
        return self._engine

    @property
    def searcher(self) -> Search:
        """The function that runs searches; by default, the engine's own search."""
        engine = self.engine
        return lambda task, stop, ponder, board: engine.search(
            task.position, task.limits, task.clock, stop,
            search_moves=task.search_moves, lines=task.lines, ponder=ponder, board=board,
        )  # fmt: skip

    def warm_up(self) -> None:
        """Compile or load everything that a search needs, so that the first move loses no time to compilation."""
        engine, start = Engine(self.game.name, {"hash_mb": 0}), self.game.position()
        engine.search(start, Limits(depth=1), board=ReportBoard())
        engine.known_line(start, SearchLine("", 0, 0, (), 0))
        self.prepare_memory()

    def prepare_memory(self) -> None:
        """Allocate the memory of the next search under the current settings, unless a search is running."""
        if not self.is_searching:
            with contextlib.suppress(MemoryError):  # the next search reports it
                self.engine.prepare()

    def start(self, task: SearchTask) -> None:
        """Start a search in another thread. When the search is over, ``answer`` or ``answer_nothing`` is called."""
        assert self._task is None, "one search at a time"
        # The search moves on a copy, because this thread may need the position meanwhile.
        task = replace(task, position=task.position.copy())
        self._task = task
        self._held = None
        self._searches += 1
        self._stop.clear()
        self._reports.clear()
        self._iteration = []
        self._shown = {}
        self._ponder.clear()
        if task.ponders:
            self._ponder.set()
        self._thread = threading.Thread(target=self._search, args=(self.searcher, task, self._searches), name="search")
        self._thread.start()

    def _search(self, search: Search, task: SearchTask, number: int) -> None:
        """Run a search in its own thread, and queue its result or exception under the search's ``number``."""
        outcome: SearchResult | BaseException
        try:
            outcome = search(task, self._stop, self._ponder if task.ponders else None, self._reports)
        except BaseException as error:
            outcome = error
        self._inbox.put_result(SearchEnded(number, outcome))

    def stop(self) -> None:
        """Request the running search to stop, even if it is pondering, and return at once. The answer follows soon."""
        self._stop.set()
        self._ponder.clear()
        self._answer_if_due()

    def ponder_hit(self) -> None:
        """Start the clocks of a pondering search, because the opponent has made the expected move."""
        self._ponder.clear()
        self._answer_if_due()

    def finish(self) -> None:
        """Mark the session as ending, stop any search, and wait until the search's answer is sent."""
        self.is_ending = True
        self.settle()

    def settle(self) -> None:
        """Stop any search, and wait until the search's answer is sent."""
        if self._task is not None:
            self.stop()
        while self._task is not None:
            self._deal_with(self._inbox.take(None, lines=False))

    def abandon(self) -> None:
        """End any search without an answer."""
        self._stop.set()
        self._ponder.clear()
        if self._thread is not None:
            self._thread.join()
        self._task = self._thread = self._held = None

    def _search_ended(self, event: SearchEnded) -> None:
        if self._task is None or event.number != self._searches:
            return  # it was abandoned
        if isinstance(event.outcome, MemoryError):
            self._held = CommandError("not enough memory", "choose a smaller hash table")
        elif isinstance(event.outcome, SearchResult | UserError):
            self._held = event.outcome
        else:
            raise event.outcome
        self._show_reports()
        self._answer_if_due()

    def _answer_if_due(self) -> None:
        """Send the answer of the finished search, unless the answer must wait for a stop command or the ponder hit."""
        task, outcome = self._task, self._held
        if task is None or outcome is None:
            return
        if self._ponder.is_set() or (task.until_stopped and not self._stop.is_set()):
            return
        if self._thread is not None:
            self._thread.join()
        self._task = self._thread = self._held = None
        if isinstance(outcome, UserError):
            self.warn(str(outcome))
            self.answer_nothing()
            return
        self._show_final(outcome, task.position)
        if outcome.move is None:
            self.answer_nothing()
        else:
            self.answer(outcome)

    def _show_reports(self) -> None:
        """Send each iteration that has a report for every variation. ``_show_final`` sends an aborted iteration."""
        assert self._task is not None, "a search reports"
        for report in self._reports.unread():
            self._iteration.append(report)
            if len(self._iteration) == self._task.lines:
                self._show_iteration(self._iteration)
                self._iteration = []

    def _show_iteration(self, reports: Sequence[Report]) -> None:
        """Send the variations of an iteration in descending order of score. Because of pruning, the first variation
        found need not have the highest score.
        """
        last = reports[-1]
        for number, report in enumerate(sorted(reports, key=lambda report: -report.score), 1):
            moves = tuple(self.game.format_move(code) for code in report.variation)
            progress = SearchProgress(
                number, report.depth, report.score, last.nodes, last.time_ns / 1e6, last.deepest_ply, moves
            )
            self._shown[number] = progress
            self.show(progress)

    def _show_final(self, result: SearchResult, position: Position) -> None:
        """Send the final variations, which an aborted iteration may have changed since they were last sent.

        If a variation ends in a solved position, moves from the transposition table follow.
        """
        for number, line in enumerate(result.lines, 1):
            moves = line.principal_variation
            if self._engine is not None:
                moves = self._engine.known_line(position, line)
            if not moves:
                continue
            shown = self._shown.get(number)
            # By convention the depth of the iteration, even of an aborted one.
            progress = SearchProgress(
                number, line.iteration, line.score, result.nodes, result.time_ms, result.deepest_ply, moves
            )
            is_new = shown is None or (shown.depth, shown.score, shown.moves) != (line.iteration, line.score, moves)
            self.show_final(progress, is_new=is_new)

    # Positions and options.

    @property
    def board(self) -> Position:
        """The current position; raises ``CommandError`` if none is set."""
        if self.position is None:
            raise CommandError("there is no position to search")
        return self.position

    def set_position(self, text: str | None, moves: Sequence[str], ranks: str = "0") -> None:
        """Set a position (``None``: the start of the game) and play moves from it.

        If the text is the same as in the previous call, and the moves continue that call's moves, only the additional
        moves are played. ``ranks`` is the number of the first rank in the moves. After a ``UserError`` the server has
        no position.
        """
        previous, self.position = self.position, None
        known_text, known_ranks, known_moves = self._given
        known = len(known_moves)
        if previous is None or (known_text, known_ranks) != (text, ranks) or list(moves[:known]) != known_moves:
            previous, known = self.game.position(text), 0
            self.game.apply_rules(previous.state, self.rules)
        for move, said in zip(self.game.read_moves(previous, moves[known:], ranks), moves[known:], strict=True):
            try:
                previous.push(move)
            except MoveError as error:  # name the move as the program has written it
                raise MoveError(error.args[0].replace(repr(move), repr(said), 1), error.args[1]) from None
        self.position = previous
        self._given = (text, ranks, list(moves))

    def set_position_of(self, words: Sequence[str], ranks: str = "0") -> None:
        """Execute the command ``position`` of UCI and UCCI, given its arguments; see ``set_position``."""
        previous, self.position = self.position, None
        text, moves = split_position(words)
        self.position = previous
        self.set_position(text, moves, ranks)

    def set_repetition(self, rule: str) -> None:
        """Change the repetition rule, and clear what the engine remembers from earlier searches."""
        self.rules = replace(self.rules, repetition=rule)
        if self.position is not None:
            self.game.apply_rules(self.position.state, self.rules)
        self.new_game()

    def keep_position(self, position: Position) -> None:
        """Make ``position`` the current one, without a copy; later moves are made on it, for instance by ``push``."""
        self.position = position
        self._given = (None, "none", [])

    def take_back(self, count: int = 1) -> None:
        """Take back the last ``count`` moves of the position; raises ``CommandError`` if it has fewer."""
        position = self.position
        if position is None or len(position.moves) < count:
            missing = "is no move" if count == 1 else f"are no {count} moves"
            raise CommandError(f"there {missing} to take back")
        before = self.game.position(position.start, position.moves[:-count])
        self.game.apply_rules(before.state, self.rules)
        self.keep_position(before)

    def new_game(self) -> None:
        """Clear what the engine remembers from earlier searches."""
        if self._engine is not None:
            self._engine.new_game()

    def parameter_options(self) -> list[EngineOption]:
        """One engine option per parameter, with the parameter's current value as default."""
        rows = parameters_of(self.game.name)
        return [parameter_option(row, self.parameters[row.name], self.other_names.get(row.name, "")) for row in rows]

    def set_parameter(self, name: str, value: str) -> bool:
        """Set the parameter whose option is ``name``; returns false if there is no such parameter.

        Raises ``UserError`` for a wrong value. The message uses the option's name as the other program wrote it.
        """
        row = find_parameter(name, self.game.name)
        if row is None:
            return False
        if value == "":
            raise OptionError(f"option {name} needs a value")
        checked = row.check(value, name=name)
        if self.parameters[row.name] != checked:
            self.parameters[row.name] = checked
            self._engine = None
        return True


def package_version() -> str:
    """Version of the installed package; an empty string if it is not installed."""
    try:
        return metadata.version("elolab")
    except metadata.PackageNotFoundError:
        return ""


def counters_text(result: SearchResult) -> str:
    """A search's event counters as text: the name and the count of each, separated by spaces. The text may be longer
    than ``MAX_MESSAGE``.
    """
    return " ".join(f"{name} {count}" for name, count in result.counters.items())


def one_line(message: str) -> str:
    """Convert a message to a single line of at most ``MAX_MESSAGE`` characters."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in message)
    return printable if len(printable) <= MAX_MESSAGE else printable[: MAX_MESSAGE - 3] + "..."


def split_position(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split the arguments of the command ``position`` into the position's text and the moves.

    The text is ``None`` for ``startpos``. Raises ``CommandError``.
    """
    head, moves = list(words), []
    if "moves" in head:
        at = head.index("moves")
        head, moves = head[:at], head[at + 1 :]
    if head == ["startpos"]:
        return None, moves
    if len(head) > 1 and head[0] == "fen":
        return " ".join(head[1:]), moves
    raise CommandError(f"position {' '.join(words)!r}: expected startpos or fen FEN, then perhaps moves")


def read_count(name: str, word: str, *, low: int = 0, high: int = 10**15) -> int:
    """Parse ``word`` as a whole number and clamp it to the range from ``low`` to ``high``.

    Raises ``CommandError``, which names the argument as ``name``, if ``word`` is not a whole number.
    """
    number = natural_number(word.removeprefix("-"))
    if number is None:
        raise CommandError(f"{name} is {word!r}, expected a whole number")
    return max(low, min(high, -number if word.startswith("-") else number))
