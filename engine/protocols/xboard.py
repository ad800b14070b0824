"""The xboard protocol, version 2 (Chess Engine Communication Protocol by Mann and Muller, 2009).

The engine keeps the game: it receives the opponent's moves and answers with its own. After ``hard`` it ponders. After
``analyze`` it searches each position until it receives the next one. In Xiangqi, whose board has ten ranks, ranks are
numbered from 0. In chess, castling is ``e1g1``, or ``O-O`` in the variant fischerandom.

``nps`` selects another clock. With ``nps 1000``, time is counted in nodes: ``st 1`` is then a search of a thousand
nodes. With ``nps 0``, processor time counts. In both cases thinking output shows processor time. ``new`` and ``nps -1``
restore wall-clock time.

Where the specification leaves a choice: the engine accepts a draw if the search's score is at most 0, offers none
itself, and never resigns. It claims the result of a game that is over by its rules.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from elolab.engine.engine import Clock, SearchResult
from elolab.engine.errors import UserError
from elolab.engine.games import REGISTERED
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.protocols.engine_server import (
    MAX_TIME_MS,
    CommandError,
    EngineServer,
    SearchProgress,
    SearchTask,
    one_line,
    read_count,
)
from elolab.engine.protocols.options import EngineOption, OptionError, find_parameter, nearest_option
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME
from elolab.engine.values import mate_distance

FEATURES = (
    "ping=1", "setboard=1", "playother=1", "usermove=1", "time=1", "draw=1", "sigint=0", "sigterm=0", "reuse=1",
    "analyze=1", "san=0", "colors=0", "name=0", "nps=1", "memory=1", "smp=0", "debug=1",
)  # fmt: skip
MATE_SCORE = 100_000
"""Base of mate scores: a mate in n moves has the score ``MATE_SCORE`` + n."""
FIRST_CONTROL = (40, 5 * 60_000, 0)
"""Default time control: number of moves, time for these moves in milliseconds, increment per move in milliseconds."""
MAX_NODES_PER_SECOND = 10**9

_IGNORED = {
    "xboard", "accepted", "rejected", "computer", "name", "rating", "random", "ics", "cores", "white", "black", "bk",
}  # fmt: skip
"""xboard commands that need no action; the engine ignores them."""
_BARE_MOVE = re.compile(r"[a-i][0-9]-?[a-i][0-9][qrbn]?|[O0]-[O0](-[O0])?")
"""Matches a command that consists of a move only, without the word ``usermove``."""
_STYLES = {"normal": "standard", "fischerandom": "castling"}
"""Style of moves, by variant; see ``Game.write_moves``."""
# Purposes of the running search.
_NOTHING, _ANSWER, _PONDER, _ANALYSE = "nothing", "answer", "ponder", "analyse"


class XboardServer(EngineServer):
    """Server for one session in the xboard protocol."""

    other_names: ClassVar = {"hash_mb": "memory"}

    def open(self) -> None:
        """Set up the session; sends nothing, because the engine is silent until the command ``protover``."""
        self._purpose = _NOTHING
        self._plays: int | None = None
        """The side that the engine plays, 0 or 1; ``None`` in force mode and analysis, when it plays neither."""
        self._analyses = False
        """Whether the engine analyses each position, between ``analyze`` and ``exit``."""
        self._variants = REGISTERED[self.game.name].xboard_variants
        self._variant = self._variants[0]
        self._shows = self._ponders = self._draw_offered = False
        self.expected = ""
        """The opponent's move that the engine expects and ponders on."""
        self._depth: int | None = None
        self._control: tuple[int, int, int] | None = None
        """Time control, in the form of ``FIRST_CONTROL``; with 0 moves, the time is for the whole game.

        ``None`` until the other program sets a time control; until then ``FIRST_CONTROL`` applies.
        """
        self._move_time_ms: int | None = None
        self._nodes_per_second: int | None = None
        """Argument of the last ``nps``: nodes per second, or 0 for processor time; ``None`` for wall-clock time."""
        self._began_ns = 0
        """Processor time of the process at the start of the last search, in nanoseconds."""
        self._clocks_ms: list[int | None] = [None, None]
        """The engine's and the opponent's remaining times last received, in milliseconds; ``None`` before that."""
        self._searched_under: tuple[Limits, Clock | None] = (Limits(), None)
        """Limits and clock of the last search, as they were at its start."""
        self._pings: list[str] = []
        """Arguments of the ``ping`` commands that are to be answered after the search."""
        self._begin_game()

    def handle(self, line: str) -> None:
        """Execute one command. A line with a move alone plays the move."""
        command, *words = line.split()
        actions: dict[str, Callable[[Sequence[str]], None]] = {
            "protover": self._introduce, "new": self._new, "variant": self._set_variant, "quit": self._quit,
            "force": self._force, "go": self._go, "playother": self._play_other, "usermove": self._take_move,
            "?": self._move_now, "ping": self._ping, "draw": self._note_draw_offer, "result": self._end_game,
            "setboard": self._set_board, "undo": self._undo, "remove": self._remove, "hint": self._hint,
            "level": self._set_level, "st": self._set_move_time, "sd": self._set_depth, "nps": self._set_speed,
            "time": self._set_own_time, "otim": self._set_other_time, "hard": self._set_pondering,
            "easy": self._unset_pondering, "post": self._show_thinking, "nopost": self._hide_thinking,
            "memory": self._set_memory, "option": self._set_option, "analyze": self._analyse,
            "exit": self._end_analysis, ".": self._report_progress,
        }  # fmt: skip
        action = actions.get(command)
        if action is None and _BARE_MOVE.fullmatch(command):
            action, words = self._take_move, [command]
        try:
            if action is not None:
                action(words)
            elif command not in _IGNORED:
                self.say(f"Error (unknown command): {one_line(line)}")
        except MoveError as error:
            self.say(one_line(f"Illegal move ({error}): {' '.join(words)}"))
        except UserError as error:
            self.say(one_line(f"Error ({error}): {command}"))

    def warn(self, message: str) -> None:
        """Send a message for the user, as ``telluser``."""
        self.say(f"telluser {one_line(message)}")

    def show(self, progress: SearchProgress) -> None:
        """Send depth, score, time in centiseconds, nodes and variation, if the other program has switched thinking
        output on or the engine is analysing.
        """
        if self._shows or self._analyses:
            time_ms = progress.time_ms
            if self._nodes_per_second is not None:
                time_ms = (time.process_time_ns() - self._began_ns) / 1e6
            score, centiseconds = format_score(progress.score), round(time_ms / 10)
            moves = self.game.write_moves(self._searched, progress.moves, self._style)
            self.say(f"{progress.depth} {score} {centiseconds} {progress.nodes} {' '.join(moves)}")

    def _searched(self) -> Position:
        """A copy of the position being searched: the current one, after the expected move if the engine ponders."""
        position = self.board.copy()
        if self._purpose == _PONDER:
            position.push(self.expected)
        return position

    @property
    def _style(self) -> str:
        return _STYLES.get(self._variant, "")

    def answer(self, result: SearchResult) -> None:
        """Send ``move`` and play the move. First accept an offered draw, if the score is at most 0."""
        purpose, self._purpose = self._purpose, _NOTHING
        if purpose != _ANSWER:
            return
        if self._draw_offered and result.score <= 0:
            self.say("offer draw")
        self._draw_offered = False
        position = self.board
        (move,) = self.game.write_moves(position.copy, [str(result.move)], self._style)
        self.say(f"move {move}")
        position.push(str(result.move))
        self._answer_pings()
        if not self._claim() and self._ponders and not self.is_ending and len(result.principal_variation) > 1:
            self._ponder_on(result.principal_variation[1])

    def answer_nothing(self) -> None:
        """Return to the idle state after a failed search, and answer pending pings."""
        self._purpose = _NOTHING
        self._answer_pings()

    # The game.

    def _introduce(self, words: Sequence[str]) -> None:
        """Send the engine's features. The first line asks the other program to wait until everything is compiled."""
        self.say("feature done=0")
        self.warm_up()
        self.say(f'feature myname="{self.title}" variants="{",".join(self._variants)}" {" ".join(FEATURES)}')
        for option in self.parameter_options():
            if option.name != self.other_names["hash_mb"]:
                self.say(f'feature option="{format_option(option)}"')
        self.say("feature done=1")

    def _begin_game(self) -> None:
        self._drop()
        self._plays = None
        self.keep_position(self.game.position())
        self.game.apply_rules(self.board.state, self.rules)

    def _new(self, words: Sequence[str]) -> None:
        """Start a new game, in which the engine plays the side that moves second."""
        self.new_game()
        self._begin_game()
        self._depth = None
        self._nodes_per_second = None
        self._draw_offered = False
        self._clocks_ms = [None, None]
        self._variant = self._variants[0]
        self._plays = 1
        self._resume_analysis()

    def _set_variant(self, words: Sequence[str]) -> None:
        if len(words) != 1 or words[0] not in self._variants:
            raise CommandError(f"variant {' '.join(words)!r}, expected {' or '.join(self._variants)}")
        self._variant = words[0]

    def _set_board(self, words: Sequence[str]) -> None:
        self._drop()
        try:
            position = self.game.position(" ".join(words))
        except UserError as error:
            self.say(one_line(f"tellusererror Illegal position: {error}"))
            return
        self.game.apply_rules(position.state, self.rules)
        self.keep_position(position)
        self._resume_analysis()

    def _analyse(self, words: Sequence[str]) -> None:
        """Analyse this position and every later one, until ``exit``."""
        self._force(words)
        self._analyses = True
        self._resume_analysis()

    def _end_analysis(self, words: Sequence[str]) -> None:
        self._analyses = False
        self._force(words)

    def _report_progress(self, words: Sequence[str]) -> None:
        """Report on the analysis: time in centiseconds, nodes, depth, and 0 as the number of moves left to search."""
        progress = self.shown_best
        if self._purpose == _ANALYSE and progress is not None:
            self.say(f"stat01: {round(progress.time_ms / 10)} {progress.nodes} {progress.depth} 0 0")

    def _quit(self, words: Sequence[str]) -> None:
        self._drop()
        self.end()

    def _force(self, words: Sequence[str]) -> None:
        self._drop()
        self._plays = None

    def _go(self, words: Sequence[str]) -> None:
        if self._purpose == _ANSWER:
            raise CommandError("the engine thinks already")
        self._drop()
        self._plays = self.board.side_to_move
        self._think_if_due()

    def _play_other(self, words: Sequence[str]) -> None:
        self._drop()
        self._plays = 1 - self.board.side_to_move

    def _take_move(self, words: Sequence[str]) -> None:
        """Play a move received from the other program: the opponent's move or, in force mode, a move of either side."""
        if self._purpose == _ANSWER:
            raise MoveError("it is the engine's turn")
        position = self.board
        (move,) = self.game.read_moves(position, [" ".join(words)], "0")
        position.code_of(move)  # an illegal move must not end the search
        is_hit = self._purpose == _PONDER and move == self.expected
        if not is_hit:
            self._drop()
        position.push(move)
        if is_hit:
            self._answer_hit(position)
        else:
            self._think_if_due()

    def _undo(self, words: Sequence[str]) -> None:
        self._take_back(1)

    def _remove(self, words: Sequence[str]) -> None:
        """Take back one move of each side."""
        self._take_back(2)

    def _take_back(self, count: int) -> None:
        self.take_back(count)  # if there are too few moves, this must not end the search
        self._drop()
        self._resume_analysis()

    def _end_game(self, words: Sequence[str]) -> None:
        """Stop playing, because the other program has sent the result of the game."""
        self._force(words)

    def _note_draw_offer(self, words: Sequence[str]) -> None:
        self._draw_offered = True

    def _hint(self, words: Sequence[str]) -> None:
        if self._purpose == _PONDER:
            self.say(f"Hint: {self.expected}")

    def _move_now(self, words: Sequence[str]) -> None:
        if self._purpose == _ANSWER:
            self.stop()

    def _ping(self, words: Sequence[str]) -> None:
        self.prepare_memory()
        self._pings.append(" ".join(words))
        if self._purpose != _ANSWER:
            self._answer_pings()

    def _answer_pings(self) -> None:
        for number in self._pings:
            self.say(f"pong {number}".rstrip())
        self._pings = []

    # Settings.

    def _set_level(self, words: Sequence[str]) -> None:
        """Set the time control: number of moves, time in minutes or as minutes:seconds, increment in seconds."""
        found = re.fullmatch(r"(\d{1,4}) (\d{1,6})(?::(\d{1,2}))? (\d{1,6}(?:\.\d{0,6})?)", " ".join(words), re.ASCII)
        if found is None:
            raise CommandError(f"level {' '.join(words)!r}: expected MOVES MINUTES[:SECONDS] INCREMENT")
        moves, minutes, seconds, increment = found.groups()
        base_ms = (60 * int(minutes) + int(seconds or 0)) * 1000
        self._control = (int(moves), min(base_ms, MAX_TIME_MS), min(round(float(increment) * 1000), MAX_TIME_MS))
        self._move_time_ms = None
        self._clocks_ms = [None, None]

    def _set_move_time(self, words: Sequence[str]) -> None:
        if not re.fullmatch(r"\d{1,7}(\.\d{0,6})?", " ".join(words), re.ASCII):
            raise CommandError(f"st {' '.join(words)!r}: expected seconds")
        self._move_time_ms = max(1, min(round(float(words[0]) * 1000), MAX_TIME_MS))

    def _set_depth(self, words: Sequence[str]) -> None:
        self._depth = read_count("sd", " ".join(words), low=1, high=10**6)

    def _set_speed(self, words: Sequence[str]) -> None:
        """Execute ``nps``: a number above 0 selects the node clock, 0 processor time, a negative number real time."""
        number = read_count("nps", " ".join(words), low=-1, high=MAX_NODES_PER_SECOND)
        self._nodes_per_second = number if number >= 0 else None

    def _set_own_time(self, words: Sequence[str]) -> None:
        self._clocks_ms[0] = 10 * read_count("time", " ".join(words), high=MAX_TIME_MS // 10)

    def _set_other_time(self, words: Sequence[str]) -> None:
        self._clocks_ms[1] = 10 * read_count("otim", " ".join(words), high=MAX_TIME_MS // 10)

    def _set_pondering(self, words: Sequence[str]) -> None:
        self._ponders = True

    def _unset_pondering(self, words: Sequence[str]) -> None:
        self._ponders = False
        if self._purpose == _PONDER:
            self._drop()

    def _show_thinking(self, words: Sequence[str]) -> None:
        self._shows = True

    def _hide_thinking(self, words: Sequence[str]) -> None:
        self._shows = False

    def _set_memory(self, words: Sequence[str]) -> None:
        low, high = BY_NAME["hash_mb"].legal
        self._refuse_while_thinking()
        self.set_parameter("hash_mb", str(read_count("memory", " ".join(words), low=int(low), high=int(high))))

    def _set_option(self, words: Sequence[str]) -> None:
        """Set an option given as ``NAME=VALUE``. The value of a switch is 1 or 0."""
        self._refuse_while_thinking()
        name, _, value = " ".join(words).partition("=")
        row = find_parameter(name, self.game.name)
        if row is not None and row.kind == "switch":
            value = {"1": "true", "0": "false"}.get(value, value)
        if not self.set_parameter(name, value):
            raise OptionError(f"there is no option {name!r}{nearest_option(name, self.game.name)}")

    def _refuse_while_thinking(self) -> None:
        if self._purpose == _ANSWER:
            raise CommandError("the engine thinks")
        self._drop()

    # Searches.

    def _drop(self) -> None:
        """Abandon any search, without an answer, and answer pending pings."""
        self.abandon()
        self._purpose = _NOTHING
        self._answer_pings()

    def _claim(self) -> bool:
        """Send the game's result if the game is over. Returns whether the game is over."""
        ending = self.board.judge(self.rules)
        if ending is not None:
            self.say(f"{ending.result} {{{ending.reason.replace('_', ' ')}}}")
        return ending is not None

    def _think_if_due(self) -> None:
        """Search for a move if it is the engine's turn; if the game is over, claim the result instead.

        While the engine analyses, resume the analysis.
        """
        position = self.board
        if self._analyses:
            self._resume_analysis()
        elif self._plays is not None and not self._claim() and self._plays == position.side_to_move:
            self._purpose = _ANSWER
            self._search_for(position, ponders=False)

    def _resume_analysis(self) -> None:
        """Start to search the current position without limits, if the engine is analysing."""
        if self._analyses and self.board.legal_moves():
            self._purpose = _ANALYSE
            self._began_ns = time.process_time_ns()
            self.start(SearchTask(self.board, Limits(), until_stopped=True))

    def _ponder_on(self, expected: str) -> None:
        position = self.board.copy()
        position.push(expected)
        if position.judge(self.rules) is None:
            self.expected, self._purpose = expected, _PONDER
            self._search_for(position, ponders=True)

    def _answer_hit(self, position: Position) -> None:
        """Turn pondering into a normal search after a ponder hit.

        If clocks or limits have changed meanwhile, starts a new search, which profits from the transposition table.
        """
        self._purpose = _ANSWER
        if self._limits() == self._searched_under:
            self.ponder_hit()
        else:
            self.abandon()
            self._search_for(position, ponders=False)

    def _search_for(self, position: Position, *, ponders: bool) -> None:
        self._searched_under = limits, clock = self._limits()
        self._began_ns = time.process_time_ns()
        self.start(SearchTask(position, limits, clock, ponders=ponders))

    def _limits(self) -> tuple[Limits, Clock | None]:
        """Limits and clock of the next search. If a depth but no time was set, the depth is the only limit."""
        nodes_per_second = self._nodes_per_second
        kind = "wall" if nodes_per_second is None else "node" if nodes_per_second else "cpu"
        if self._move_time_ms is not None:
            if nodes_per_second:
                return Limits(self._depth, max(1, self._move_time_ms * nodes_per_second // 1000)), None
            return Limits(self._depth, move_time_ms=self._move_time_ms, clock_kind=kind), None
        if self._control is None and self._depth is not None and self._clocks_ms[0] is None:
            return Limits(self._depth), None
        moves, base_ms, increment_ms = self._control or FIRST_CONTROL
        own_ms, other_ms = self._clocks_ms
        remaining_ms = base_ms if own_ms is None else own_ms
        position = self.board
        began = (position.side_to_move + position.ply) % 2 == self._plays
        made = (position.ply + began) // 2
        limits = Limits(
            self._depth, clock_ms=remaining_ms, increment_ms=increment_ms,
            clock_kind=kind, nodes_per_second=nodes_per_second or None,
        )  # fmt: skip
        to_go = moves - made % moves if moves else 0
        return limits, Clock(remaining_ms, other_ms, to_go, ponders=self._ponders)


def format_score(score: int) -> int:
    """Convert a score: centipawns, or ``MATE_SCORE`` + n for a mate in n moves; negative if the engine is losing."""
    plies = mate_distance(score)
    if plies is None:
        return score
    return MATE_SCORE + (plies + 1) // 2 if plies > 0 else -MATE_SCORE - (-plies // 2)


def format_option(option: EngineOption) -> str:
    """Value of the feature ``option`` that announces an engine option, such as ``NAME -spin 1 0 9``."""
    if option.kind == "check":
        return f"{option.name} -check {int(option.default == 'true')}"
    if option.kind == "spin":
        return f"{option.name} -spin {option.default} {option.low} {option.high}"
    if option.kind == "combo":
        choices = " /// ".join(("*" if choice == option.default else "") + choice for choice in option.choices)
        return f"{option.name} -combo {choices}"
    return f"{option.name} -{option.kind} {option.default}".rstrip()
