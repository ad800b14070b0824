"""The plug-in protocol of the Xiangqi program Qianhong (QHPLUGIN 1.3), after ElephantEye's adapter UCCI2QH 2.0 (2007).

The engine keeps the position, which ``PLAY`` and its own answers to ``AI`` change. The protocol has no clocks, only
levels; the engine treats a level as a clock for the next moves. Moves are written ``H2-E2``. With ``BGTHINK ON`` the
engine ponders on the expected reply after each of its moves; a ``PLAY`` of that reply is the ponder hit.

Answers are ``OK``, ``ERROR`` (the command failed, or came at a wrong time), ``ABORTED``, a move, a move and
``ENDHINTS`` for hints, and ``BYE``. Unknown commands get no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elolab.engine.engine import Clock, SearchResult
from elolab.engine.errors import UserError
from elolab.engine.games.contract import Position
from elolab.engine.protocols.engine_server import CommandError, EngineServer, SearchTask, read_count
from elolab.engine.settings.limits import Limits

LEVEL_SECONDS = (0.1, 0.3, 1, 2, 5, 10, 20, 30, 60, 120)
"""Approximate thinking time per move in seconds, by level from 0."""
LEVEL_MOVES = 10
"""Number of moves for which the time on a level's clock must last; that time is this number times the seconds."""
FIRST_LEVEL = 2
MAX_LOADED = 1998
"""Maximum number of moves in one ``LOAD`` list: a game with 999 moves of each side."""
MAX_BANNED = 128

# Purposes of the running search.
_NOTHING, _ANSWER, _HINT, _PONDER, _PONDER_HIT = "nothing", "answer", "hint", "ponder", "ponder hit"


class QianhongServer(EngineServer):
    """Server for one session in Qianhong's protocol."""

    def open(self) -> None:
        """Compile everything before the first command is read; writes nothing."""
        self._purpose = _NOTHING
        self._level = FIRST_LEVEL
        self._ponders = False
        self._expected = ""
        """The opponent's move that the engine expects and ponders on."""
        self._ready: SearchResult | None = None
        """Result of a search that ended after a ponder hit, until Qianhong requests the move; otherwise ``None``."""
        self._banned: list[str] = []
        self._collected: list[str] = []
        """Lines received so far for a ``LOAD`` or ``BAN`` list."""
        self._missing = 0
        self._collecting: Callable[[], None] | None = None
        self.set_position(None, ())
        self.warm_up()

    def handle(self, line: str) -> None:
        """Execute one command, or add one move to an unfinished ``LOAD`` or ``BAN`` list."""
        if self._collecting is not None:
            self._collect(line)
            return
        command, *words = line.split()
        actions: dict[str, Callable[[Sequence[str]], None]] = {
            "SCR": self._draw, "LEVEL": self._set_level, "FEN": self._set_board, "PLAY": self._play, "LOAD": self._load,
            "AI": self._think, "ABORT": self._abort, "TIMEOUT": self._move_now, "UNDO": self._undo,
            "HINTS": self._hint, "BAN": self._ban, "BGTHINK": self._set_pondering, "QUIT": self._quit,
        }  # fmt: skip
        action = actions.get(command.upper())
        if action is None:
            return
        try:
            action(words)
        except UserError:
            self.say("ERROR")

    def answer(self, result: SearchResult) -> None:
        """Send the move or hint that was found; after a ponder hit, keep the move until Qianhong requests it."""
        purpose, self._purpose = self._purpose, _NOTHING
        if purpose == _PONDER_HIT:
            self._ready = result
        elif purpose == _HINT:
            self.say(write_move(str(result.move)))
            self.say("ENDHINTS")
        elif purpose == _ANSWER:
            self._move(result)

    def answer_nothing(self) -> None:
        """Answer ``ERROR`` to a request for a move or hints, because the search found no move."""
        purpose, self._purpose = self._purpose, _NOTHING
        if purpose in (_ANSWER, _HINT):
            self.say("ERROR")

    # Commands.

    def _draw(self, words: Sequence[str]) -> None:
        for row in self.board.text.split()[0].split("/"):
            self.say("".join("." * int(letter) if letter.isdigit() else letter for letter in row))

    def _set_level(self, words: Sequence[str]) -> None:
        if not words:
            self.say(str(len(LEVEL_SECONDS)))
            return
        self._level = read_number("LEVEL", words, len(LEVEL_SECONDS) - 1)
        self.say("OK")

    def _set_board(self, words: Sequence[str]) -> None:
        self._begin_change()
        self.new_game()
        before = self.board
        try:
            self.set_position(" ".join(words), ())
        except UserError:
            self.keep_position(before)
            raise
        self.say("OK")

    def _play(self, words: Sequence[str]) -> None:
        self._refuse_while_thinking()
        move = self._read_move(" ".join(words))
        position = self.board
        is_hit = self._purpose == _PONDER and move == self._expected and not self._banned
        if not is_hit:
            position.code_of(move)  # an illegal move must not end the pondering
            self._begin_change()
        position.push(move)
        self._banned = []
        self.say("OK")
        if is_hit:
            self._purpose = _PONDER_HIT
            self.ponder_hit()

    def _load(self, words: Sequence[str]) -> None:
        self._begin_collecting(words, "LOAD", MAX_LOADED, self._take_loaded)

    def _take_loaded(self) -> None:
        self._begin_change()
        trial = self.board.copy()
        for move in self._collected:
            trial.push(self._read_move(move))
        self.keep_position(trial)
        self.say("OK")

    def _ban(self, words: Sequence[str]) -> None:
        self._begin_collecting(words, "BAN", MAX_BANNED, self._take_banned)

    def _take_banned(self) -> None:
        self._begin_change()
        self._banned = [self._read_move(move) for move in self._collected]
        self.say("OK")

    def _think(self, words: Sequence[str]) -> None:
        self._refuse_while_thinking()
        ready, self._ready = self._ready, None
        if ready is not None:
            self._move(ready)
        elif self._purpose == _PONDER_HIT:
            self._purpose = _ANSWER
        else:
            self._drop_pondering()
            self._start(_ANSWER, self.board)

    def _hint(self, words: Sequence[str]) -> None:
        self._refuse_while_thinking()
        if self._purpose == _PONDER:
            self.say(write_move(self._expected))
            self.say("ENDHINTS")
            return
        self._drop_pondering()
        self._start(_HINT, self.board)

    def _undo(self, words: Sequence[str]) -> None:
        self._begin_change()
        self.take_back()
        self.say("OK")

    def _set_pondering(self, words: Sequence[str]) -> None:
        switch = " ".join(words).upper()
        if switch not in ("ON", "OFF"):
            raise CommandError("BGTHINK: expected ON or OFF")
        self._ponders = switch == "ON"
        if not self._ponders and self._purpose == _PONDER:
            self._drop_pondering()
        self.say("OK")

    def _abort(self, words: Sequence[str]) -> None:
        self._drop()
        self.say("ABORTED")

    def _move_now(self, words: Sequence[str]) -> None:
        if self._purpose in (_ANSWER, _HINT, _PONDER_HIT):
            self.stop()

    def _quit(self, words: Sequence[str]) -> None:
        self._drop()
        self.say("BYE")
        self.end()

    # Positions and searches.

    def _read_move(self, text: str) -> str:
        """Convert a move such as ``H2-E2`` to the engine's notation; raises ``MoveError``."""
        return self.game.read_moves(self.board, [text], "0")[0]

    def _refuse_while_thinking(self) -> None:
        if self._purpose in (_ANSWER, _HINT):
            raise CommandError("the engine thinks")

    def _begin_change(self) -> None:
        """Stop pondering and clear banned moves. Raises ``CommandError`` during a search for a move or hint."""
        self._refuse_while_thinking()
        self._drop()
        self._banned = []

    def _drop_pondering(self) -> None:
        if self._purpose in (_PONDER, _PONDER_HIT):
            self._drop()

    def _drop(self) -> None:
        """Abandon any search, and discard a result that was kept after a ponder hit."""
        self.abandon()
        self._purpose = _NOTHING
        self._ready = None

    def _start(self, purpose: str, position: Position) -> None:
        allowed: tuple[str, ...] = ()
        if self._banned and purpose != _PONDER:
            allowed = tuple(move for move in position.legal_moves() if move not in self._banned)
            if not allowed:
                raise CommandError("every move is banned")
        total_ms = round(LEVEL_SECONDS[self._level] * 1000 * LEVEL_MOVES)
        limits = Limits(clock_ms=total_ms, moves_per_control=LEVEL_MOVES)
        clock = Clock(total_ms, moves_to_go=LEVEL_MOVES, ponders=self._ponders)
        self._purpose = purpose
        self.start(SearchTask(position, limits, clock, allowed, ponders=purpose == _PONDER))

    def _move(self, result: SearchResult) -> None:
        """Send the engine's move and play it. If pondering is on, ponder on the expected reply."""
        move = str(result.move)
        self.say(write_move(move))
        position = self.board
        position.push(move)
        self._banned = []
        if not self._ponders or self.is_ending or len(result.principal_variation) < 2:
            return
        self._expected = result.principal_variation[1]
        after = position.copy()
        after.push(self._expected)
        self._start(_PONDER, after)

    # Lists of moves, one a line.

    def _begin_collecting(self, words: Sequence[str], name: str, most: int, action: Callable[[], None]) -> None:
        self._collected = []
        self._missing = read_number(name, words, most)
        self._collecting = action
        if self._missing == 0:
            self._take_collected()

    def _collect(self, line: str) -> None:
        self._collected.append(line)
        self._missing -= 1
        if self._missing == 0:
            self._take_collected()

    def _take_collected(self) -> None:
        action, self._collecting = self._collecting, None
        assert action is not None
        try:
            action()
        except UserError:
            self.say("ERROR")


def read_number(name: str, words: Sequence[str], high: int) -> int:
    """Parse the number after the command ``name``. Raises ``CommandError`` unless it lies between 0 and ``high``."""
    number = read_count(name, words[0] if words else "", low=-1, high=high + 1)
    if not 0 <= number <= high:
        raise CommandError(f"{name} is {words[0]}, expected a whole number from 0 to {high}")
    return number


def write_move(move: str) -> str:
    """Convert a move to the protocol's notation, such as ``H2-E2`` for ``h2e2``."""
    return f"{move[:2]}-{move[2:]}".upper()


def description(title: str) -> list[str]:
    """Lines that describe the engine, printed for the command-line option ``-info``; the first is ``QHPLUGIN V1.3``."""
    levels = [f"{level} - about {seconds:g} s a move" for level, seconds in enumerate(LEVEL_SECONDS)]
    abilities = [f"{name} 1" for name in ("UNDO", "HINTS", "RULES", "BGTHINK", "TIMEOUT")]
    return ["QHPLUGIN V1.3", title, f"LEVELS {len(levels)}", *levels, *abilities, "ENDINFO"]
