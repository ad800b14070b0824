"""UCCI 3.0, the protocol of Chinese Xiangqi programs (www.xqbase.com/protocol/cchess_ucci.htm, November 2007).

The engine is in one of four states: *boot* until ``ucci``; *idle*; *thinking* after ``go`` until ``bestmove`` or
``nobestmove``; and *pondering*, which is thinking without a clock. A thinking engine reads only ``isready``, ``stop``,
``ponderhit``, ``probe`` and ``quit``. In batch mode it reads nothing, so that a file of commands is executed one by
one.

Where the specification leaves a choice:

- The engine accepts an offered draw (``go draw``, ``ponderhit draw``) if the search's score is at most 0. It offers no
  draws itself.
- It resigns if the search has proven a mate against it within ``RESIGN_PLIES`` plies.
- ``banmoves`` and ``position`` clear earlier bans.
- An illegal ``position`` clears the position, and ``go`` then answers ``nobestmove``.
- ``go movetime K`` is K milliseconds for the move, as in UCI; other unknown words after ``go`` are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from elolab.engine.engine import Clock, SearchResult
from elolab.engine.errors import UserError
from elolab.engine.games.contract import MoveError
from elolab.engine.protocols.engine_server import (
    MAX_TIME_MS,
    CommandError,
    EngineServer,
    SearchProgress,
    SearchTask,
    counters_text,
    one_line,
    read_count,
    split_position,
)
from elolab.engine.protocols.options import (
    REPETITION_OPTIONS,
    EngineOption,
    nearest_option,
    read_repetition,
    repetition_option,
)
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME
from elolab.engine.values import mate_distance

RESIGN_PLIES = 10

SWITCHES = (
    EngineOption("usemillisec", "check", "false"),
    EngineOption("batch", "check", "false"),
    EngineOption("debug", "check", "false"),
    EngineOption("ponder", "check", "false"),
)
THREADS = EngineOption("threads", "spin", "1", 1, 1)
NEW_GAME = EngineOption("newgame", "button")
REPETITION = REPETITION_OPTIONS[1]

STANDARD_OPTIONS = {
    "usebook", "useegtb", "bookfiles", "egtbpaths", "evalapi", "idle", "promotion", "pruning", "knowledge",
    "randomness", "style", "usehash", "selectivity", "drawmoves", "alwayscheck",
}  # fmt: skip
"""Options of the specification that graphical interfaces set even if the engine does not announce them. The engine
ignores them silently.
"""

_NUMBERS = ("depth", "nodes", "movestogo", "oppmovestogo")
_TIMES = ("time", "increment", "opptime", "oppincrement")
_MODES = ("ponder", "draw", "infinite")
MOVE_TIME = "movetime"
"""Argument of UCI's ``go`` that many graphical interfaces also send in UCCI. Its value is always in milliseconds."""


class UcciServer(EngineServer):
    """Server for one session in UCCI."""

    other_names: ClassVar = {"hash_mb": "hashsize"}

    def open(self) -> None:
        """Set up the session; sends nothing, because UCCI allows no output before the command ``ucci``."""
        self._booted = False
        self._banned: set[str] = set()
        self._switches = {option.name: False for option in SWITCHES}
        self._draw_offered = False
        self.set_position(None, ())

    def handle(self, line: str) -> None:
        command, *words = line.split()
        if command == "quit":
            self.finish()
            self.say("bye")
            self.end()
        elif command == "ucci":
            if not self.is_searching:
                self._introduce()
        elif not self._booted:
            return
        elif command == "isready":
            self.prepare_memory()
            self.say("readyok")
        elif command == "probe":
            self._attempt(self._probe, words)
        elif command == "stop":
            if self.is_searching:
                self.stop()
            else:
                self.say("nobestmove")
        elif command == "ponderhit":
            if self.is_pondering:
                self._draw_offered = "draw" in words
                self.ponder_hit()
        elif command in ("setoption", "position", "banmoves", "go"):
            if self.is_searching:
                self._remark(f"{command} is ignored while the engine thinks")
                return
            actions = {"setoption": self._set_option, "position": self._set_position, "banmoves": self._ban}
            if command == "go":
                self._go(words)
            else:
                self._attempt(actions[command], words)
        else:
            self._remark(f"unknown command {command!r}")

    def warn(self, message: str) -> None:
        """Send a message for the user, as ``info message``; before the command ``ucci``, send nothing."""
        if self._booted:
            self.say(f"info message {one_line(message)}")

    def show(self, progress: SearchProgress) -> None:
        """Send time and nodes, then depth, score and variation."""
        self._show_effort(progress)
        self._show_line(progress)

    def show_final(self, progress: SearchProgress, *, is_new: bool) -> None:
        """Send the total number of nodes and, if ``is_new``, the variation."""
        self._show_effort(progress)
        if is_new:
            self._show_line(progress)

    def answer(self, result: SearchResult) -> None:
        """Send ``bestmove`` with the reply to ponder on, followed by ``draw`` or ``resign`` if they apply."""
        if self._switches["debug"]:
            self.say(f"info message {counters_text(result)}")
        words = ["bestmove", str(result.move)]
        if len(result.principal_variation) > 1:
            words += ["ponder", result.principal_variation[1]]
        plies = mate_distance(result.score)
        # An aborted iteration may have searched only one losing move.
        of_all_moves = all(line.iteration <= result.depth for line in result.lines)
        if self._draw_offered and result.score <= 0:
            words.append("draw")
        elif of_all_moves and plies is not None and -RESIGN_PLIES <= plies <= 0:
            words.append("resign")
        self.say(" ".join(words))

    def answer_nothing(self) -> None:
        """Send ``nobestmove``."""
        self.say("nobestmove")

    def _attempt(self, action: object, words: Sequence[str]) -> None:
        try:
            action(words)  # type: ignore[operator]
        except UserError as error:
            self.warn(str(error))

    def _remark(self, message: str) -> None:
        """Send a message that helps to find errors in the other program."""
        if self._switches["debug"]:
            self.warn(message)

    def _show_effort(self, progress: SearchProgress) -> None:
        self.say(f"info time {round(progress.time_ms)} nodes {progress.nodes}")

    def _show_line(self, progress: SearchProgress) -> None:
        self.say(f"info depth {progress.depth} score {progress.score} pv {' '.join(progress.moves)}")

    def _introduce(self) -> None:
        """Send the engine's name and options, and ``ucciok`` once everything is compiled."""
        name, _, rest = self.title.partition(" ")
        self.say(f"id name {name}{' ' if rest else ''}{rest}")
        self.say("id copyright elolab contributors, MIT licence")
        self.say("id author elolab contributors")
        rule = repetition_option(REPETITION, self.rules.repetition)
        for option in (*SWITCHES, THREADS, NEW_GAME, rule, *self.parameter_options()):
            self.say(option.announcement(keyword=False))
        if not self._booted:
            self.warm_up()
        self._booted = True
        self.say("ucciok")

    def _set_option(self, words: Sequence[str]) -> None:
        if not words:
            raise CommandError("setoption: which option?")
        name, value = words[0].lower(), " ".join(words[1:])
        switch = next((option for option in SWITCHES if option.name == name), None)
        if switch is not None:
            self._switches[name] = switch.read_switch(value)
            self.defers_input = self._switches["batch"]
        elif name == NEW_GAME.name:
            self.new_game()
        elif name == REPETITION:
            self.set_repetition(read_repetition(REPETITION, value))
        elif name == THREADS.name:
            if value != "0":  # 0 leaves the number to the engine
                THREADS.read_number(value)
        elif name == "hashsize" and value == "0":  # 0 leaves the size to the engine
            self.set_parameter(name, str(BY_NAME["hash_mb"].default))
        elif not self.set_parameter(words[0], value) and name not in STANDARD_OPTIONS:
            raise CommandError(f"there is no option {words[0]!r}{nearest_option(name, self.game.name)}")

    def _set_position(self, words: Sequence[str]) -> None:
        self._banned = set()
        self.set_position_of(words)

    def _ban(self, words: Sequence[str]) -> None:
        if self.position is None:
            return
        self._banned = set()
        moves = self.game.read_moves(self.position, words, "0")
        self._banned = set(moves) & set(self.position.legal_moves())
        if illegal := [move for move in moves if move not in self._banned]:
            raise MoveError(f"banmoves: not legal here: {' '.join(illegal)}")

    def _probe(self, words: Sequence[str]) -> None:
        """Send the transposition table entry of a position. Allowed during a search."""
        text, moves = split_position(words)
        entry = self.engine.table_entry(self.game.position(text, moves))
        answer = ["pophash"]
        if entry is not None:
            if entry.move is not None:
                answer += ["bestmove", entry.move]
            if entry.is_lower_bound:
                answer += ["lowerbound", str(entry.score), "depth", str(entry.depth)]
            if entry.is_upper_bound:
                answer += ["upperbound", str(entry.score), "depth", str(entry.depth)]
        self.say(" ".join(answer))

    def _go(self, words: Sequence[str]) -> None:
        self._draw_offered = "draw" in words
        try:
            found = self._read_go(words)
        except CommandError as error:
            self.warn(str(error))
            self.answer_nothing()
            return
        position = self.position
        if position is None:
            self.answer_nothing()
            return
        if found.get("depth") == 0:
            self.say(f"info depth 0 score {self.engine.static_score(position)}")
            self.answer_nothing()
            return
        allowed = [move for move in position.legal_moves() if move not in self._banned] if self._banned else []
        if self._banned and not allowed:
            self.answer_nothing()
            return
        limits, clock = self._limits(found)
        self.start(SearchTask(position, limits, clock, tuple(allowed), ponders="ponder" in words))

    def _read_go(self, words: Sequence[str]) -> dict[str, int]:
        """Parse the arguments of ``go``: numbers by keyword, times in milliseconds. Raises ``CommandError``."""
        found: dict[str, int] = {}
        unknown: list[str] = []
        rest = iter(words)
        for name in rest:
            if name in _TIMES:
                found[name] = self._read_time(name, next(rest, ""))
            elif name in (*_NUMBERS, MOVE_TIME):
                word = next(rest, "")
                if name == "depth" and word == "infinite":
                    continue  # no limit, as if nothing were said
                found[name] = read_count(name, word, high=MAX_TIME_MS if name == MOVE_TIME else 10**15)
            elif name not in _MODES:
                unknown.append(name)
        if unknown:
            self.warn(f"go: cannot read {' '.join(unknown)!r}")
        return found

    def _read_time(self, name: str, word: str) -> int:
        """Convert the time ``word`` to milliseconds; a negative time becomes 0.

        ``word`` is in seconds unless the option ``usemillisec`` is set. Raises ``CommandError``, with ``name`` in its
        message.
        """
        if self._switches["usemillisec"]:
            return read_count(name, word, high=MAX_TIME_MS)
        if not re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{0,9})?", word, re.ASCII):
            raise CommandError(f"{name} is {word!r}, expected seconds")
        return max(0, min(round(float(word) * 1000), MAX_TIME_MS))

    def _limits(self, found: dict[str, int]) -> tuple[Limits, Clock | None]:
        depth = found.get("depth")
        nodes = max(1, found["nodes"]) if "nodes" in found else None
        move_time_ms = max(1, found[MOVE_TIME]) if MOVE_TIME in found else None
        if "time" not in found:
            return Limits(depth, nodes, move_time_ms), None
        time_ms, moves_to_go = found["time"], found.get("movestogo", 0)
        clock = Clock(time_ms, found.get("opptime"), moves_to_go, ponders=self._switches["ponder"])
        return Limits(depth, nodes, move_time_ms, time_ms, found.get("increment", 0)), clock
