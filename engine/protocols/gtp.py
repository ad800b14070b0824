"""GTP 2, the Go Text Protocol (Farnebäck, 2002), for Othello.

The engine answers commands in order: ``=`` for success or ``?`` for an error, the command's number if it has one, the
text, and an empty line. The engine keeps the position, which ``play`` and ``genmove`` change. Squares have their usual
Othello names, with row 1 at the top.

A side without a legal move passes if the other side has one: ``genmove`` then answers ``pass``, and ``play b pass``
reports the pass. Engines differ here, so the other program may also omit a forced pass and send the next move of the
other side. In a finished game ``pass`` is the only answer, and changes nothing.

Two commands extend the protocol. ``elolab-limit`` limits each move by depth, nodes or time, which GTP cannot express.
``elolab-set`` changes a setting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elolab.engine.engine import Clock, SearchResult
from elolab.engine.errors import UserError
from elolab.engine.games.contract import MoveError
from elolab.engine.protocols.engine_server import CommandError, EngineServer, SearchTask, one_line
from elolab.engine.protocols.options import nearest_option
from elolab.engine.protocols.turns import PASS, must_pass, play_in_turn
from elolab.engine.settings.limits import Limits

BOARD_SIZE = 8
DEFAULT_LIMITS = Limits(move_time_ms=1000)
"""Limits of a move if there is neither a clock nor an ``elolab-limit``."""
MAX_TIME_S = 10**6
MAX_NUMBER = 18
"""Maximum number of digits in the number before a command; a longer one is read as an unknown command."""

Action = Callable[[Sequence[str]], str | None]
"""Function that executes a command: takes the arguments; returns the answer, or ``None`` if the answer comes later."""


class GtpServer(EngineServer):
    """Server for one session in GTP."""

    def open(self) -> None:
        """Compile everything before the first command is read; writes nothing."""
        self.defers_input = True
        self._number = ""
        self._limits = Limits()
        self.timers = (Timer(), Timer())
        self._mover = 0
        """Side, 0 or 1, for which the running search is looking for a move."""
        self._is_generating = False
        self._trouble = ""
        """Error message of the running search; empty if there is none."""
        self._steps: list[int] = []
        """Number of moves in the game before each ``play`` or ``genmove`` that can be undone."""
        self._actions: dict[str, Action] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: self.title.split()[0],
            "version": lambda words: " ".join(self.title.split()[1:]),
            "known_command": lambda words: "true" if words and words[0] in self._actions else "false",
            "list_commands": lambda words: "\n".join(self._actions),
            "quit": self._quit,
            "boardsize": self._set_size,
            "clear_board": self._clear,
            "komi": self._take_komi,
            "play": self._play,
            "genmove": self._generate,
            "undo": self._undo,
            "showboard": self._show_board,
            "time_settings": self._set_time,
            "time_left": self._tell_time,
            "final_score": self._score,
            "elolab-limit": self._set_limit,
            "elolab-set": self._set,
        }
        self._clear(())
        self.warm_up()

    def handle(self, line: str) -> None:
        """Execute one command, with an optional number before it and an optional comment after it."""
        text = "".join(letter if letter.isprintable() else " " for letter in line.partition("#")[0])
        words = text.split()
        if not words:
            return
        self._number = ""
        if words[0].isascii() and words[0].isdigit() and len(words[0]) <= MAX_NUMBER:
            self._number = words.pop(0)
        action = self._actions.get(words[0]) if words else None
        if action is None:
            self._fail("unknown command")
            return
        try:
            answer = action(words[1:])
        except MoveError:
            self._fail("illegal move")
        except UserError as error:
            self._fail(str(error))
        else:
            if answer is not None:
                self._succeed(answer)

    def warn(self, message: str) -> None:
        """Save an error of a running search for the answer to ``genmove``; send any other error at once."""
        if self._is_generating:
            self._trouble = message
        else:
            self._number = ""
            self._fail(message)

    def answer(self, result: SearchResult) -> None:
        """Play the move found, and answer ``genmove`` with it."""
        move = str(result.move)
        self.timers[self._mover].spend(round(result.time_ms))
        self._is_generating = False
        self.board.push(move)
        self._succeed(move.upper())

    def answer_nothing(self) -> None:
        """Answer ``genmove`` with an error, because the search failed. The game does not change."""
        self._is_generating = False
        self._take_back()
        self._fail(self._trouble or "no move was found")

    def _succeed(self, answer: str) -> None:
        space = " " if answer and not answer.startswith("\n") else ""
        self.say(f"={self._number}{space}{answer}\n")

    def _fail(self, message: str) -> None:
        self.say(f"?{self._number} {one_line(message)}\n")

    # The game.

    def _set_size(self, words: Sequence[str]) -> str:
        if list(words[:1]) != [str(BOARD_SIZE)]:
            raise CommandError("unacceptable size")
        return self._clear(())

    def _clear(self, words: Sequence[str]) -> str:
        self.new_game()
        self.prepare_memory()
        self.position = self.game.position()
        self._steps = []
        for timer in self.timers:
            timer.reset()
        return ""

    def _take_komi(self, words: Sequence[str]) -> str:
        if not words or not re.fullmatch(r"[+-]?[0-9]{1,9}(\.[0-9]{0,9})?", words[0]):
            raise CommandError("syntax error: expected komi NUMBER")
        return ""

    def _play(self, words: Sequence[str]) -> str:
        if len(words) < 2:
            raise CommandError("syntax error: expected play COLOR SQUARE")
        side = _read_side(words[0])
        before = self.board.ply
        play_in_turn(self.board, side, self.game.read_moves(self.board, words[1:2], "0")[0])
        self._steps.append(before)
        return ""

    def _generate(self, words: Sequence[str]) -> str | None:
        if not words:
            raise CommandError("syntax error: expected genmove COLOR")
        side, position = _read_side(words[0]), self.board
        out_of_turn = side != position.side_to_move
        moves = position.legal_moves()
        if moves and out_of_turn and not must_pass(position):
            raise CommandError(f"it is not {self.game.side_names[side]}'s turn")
        self._steps.append(position.ply)
        if not moves:
            return PASS
        if out_of_turn:
            position.push(PASS)
        elif moves == [PASS]:
            position.push(PASS)
            return PASS
        self._mover, self._is_generating, self._trouble = side, True, ""
        limits, clock = self.timers[side].bound(self._limits)
        self.start(SearchTask(position, limits if _is_bounded(limits) else DEFAULT_LIMITS, clock))
        return None

    def _undo(self, words: Sequence[str]) -> str:
        if not self._steps:
            raise CommandError("cannot undo")
        self._take_back()
        return ""

    def _take_back(self) -> None:
        self.position = self.game.position(None, self.board.moves[: self._steps.pop()])

    def _show_board(self, words: Sequence[str]) -> str:
        position = self.board
        over = not position.legal_moves()
        state = "the game is over" if over else f"{self.game.side_names[position.side_to_move]} to move"
        return f"\n{self.game.describe(position)}\n{state}"

    def _score(self, words: Sequence[str]) -> str:
        position = self.board
        if position.legal_moves():
            raise CommandError("cannot score: the game goes on")
        lead = int(self.game.kernels.final_score(position.state)) // self.game.score_unit
        if lead == 0:
            return "0"
        winner = position.side_to_move if lead > 0 else 1 - position.side_to_move
        return f"{'BW'[winner]}+{abs(lead)}"

    # Limits and settings.

    def _set_time(self, words: Sequence[str]) -> str:
        if len(words) < 3:
            raise CommandError("syntax error: expected time_settings MAIN_TIME PERIOD STONES")
        main_ms, period_ms = _read_seconds(words[0]), _read_seconds(words[1])
        stones = _read_stones(words[2])
        self.timers = (Timer(main_ms, period_ms, stones), Timer(main_ms, period_ms, stones))
        return ""

    def _tell_time(self, words: Sequence[str]) -> str:
        if len(words) < 3:
            raise CommandError("syntax error: expected time_left COLOR TIME STONES")
        self.timers[_read_side(words[0])].set(_read_seconds(words[1]), _read_stones(words[2]))
        return ""

    def _set_limit(self, words: Sequence[str]) -> str:
        limits = Limits.parse("".join(words))
        if limits.clock_ms is not None or limits.clock_kind != "wall":
            raise CommandError("elolab-limit takes depth, nodes or move_time; time_settings sets a clock")
        self._limits = limits
        return ""

    def _set(self, words: Sequence[str]) -> str:
        if not words:
            raise CommandError("syntax error: expected elolab-set NAME VALUE")
        if not self.set_parameter(words[0], " ".join(words[1:])):
            raise CommandError(f"there is no setting {words[0]!r}{nearest_option(words[0], self.game.name)}")
        return ""

    def _quit(self, words: Sequence[str]) -> str:
        self.end()
        return ""


@dataclass
class Timer:
    """One side's clock in Canadian byo-yomi: main time, then periods with ``stones`` moves each."""

    main_ms: int = 0
    period_ms: int = 0
    stones: int = 0
    """Number of moves per period. There is no time limit if both times are 0, or if a period has time but no moves."""

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Set the clock to its state at the start of a game."""
        self.remaining_ms = self.main_ms or self.period_ms
        self.moves_to_go = 0 if self.main_ms else self.stones
        """Moves still to be made in the current period; 0 during main time."""
        self.runs = self.stones > 0 if self.period_ms else self.main_ms > 0

    def set(self, time_ms: int, moves: int) -> None:
        """Set the clock to the values in the command ``time_left``.

        If ``moves`` is 0, ``time_ms`` is main time; otherwise it is the rest of a period with ``moves`` moves to go.
        """
        self.remaining_ms, self.moves_to_go, self.runs = time_ms, moves, True

    def spend(self, time_ms: int) -> None:
        """Subtract the time of a move from the clock; a later ``time_left`` corrects the result."""
        if not self.runs:
            return
        self.remaining_ms -= time_ms
        if self.moves_to_go:
            self.moves_to_go -= 1
        elif self.remaining_ms <= 0 and self.stones:
            self.remaining_ms += self.period_ms
            self.moves_to_go = self.stones - 1
        else:
            self.remaining_ms = max(0, self.remaining_ms)
            return
        if self.moves_to_go == 0:
            self.remaining_ms, self.moves_to_go = self.period_ms, self.stones
        self.remaining_ms = max(0, self.remaining_ms)

    def bound(self, limits: Limits) -> tuple[Limits, Clock | None]:
        """Add the clock to the limits of the next move; returns the limits and the clock's state.

        Without a time limit, the limits are unchanged and the clock's state is ``None``. Main time followed by periods
        is treated as a clock with an increment: a move's share of a period.
        """
        if not self.runs:
            return limits, None
        share_ms = 0
        if self.moves_to_go == 0 and self.stones:
            share_ms = self.period_ms // self.stones
        remaining_ms = self.remaining_ms + share_ms
        bounded = Limits(limits.depth, limits.nodes, limits.move_time_ms, remaining_ms, share_ms)
        return bounded, Clock(remaining_ms, moves_to_go=self.moves_to_go)


def _is_bounded(limits: Limits) -> bool:
    return limits.is_timed or limits.depth is not None or limits.nodes is not None


def _read_side(word: str) -> int:
    """Parse a side: 0 for Black, 1 for White. Raises ``CommandError`` for any other word."""
    sides = {"b": 0, "black": 0, "w": 1, "white": 1}
    if word.lower() not in sides:
        raise CommandError(f"syntax error: {word!r} is no colour, expected b or w")
    return sides[word.lower()]


def _read_seconds(word: str) -> int:
    """Convert seconds to milliseconds; accepts fractions, unlike the protocol. Raises ``CommandError``."""
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,9})?", word, re.ASCII):
        raise CommandError(f"syntax error: {word!r} is no time in seconds")
    return round(1000 * min(float(word), MAX_TIME_S))


def _read_stones(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", word, re.ASCII):
        raise CommandError(f"syntax error: {word!r} is no number of moves")
    return int(word)
