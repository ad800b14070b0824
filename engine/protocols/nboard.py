"""The NBoard protocol, version 2 (Welty), for Othello.

The other program, a graphical interface, sends the current game (``set game``, ``move``) and the search depth (``set
depth``). ``go`` requests a move: the engine sends it (``=== D3/1.50/0.2``: move, score in discs, seconds) but does not
play it. ``hint`` requests the best moves with their evaluations. Any further command ends the search; the search's
answer comes before the command's output. So output after ``pong`` belongs to the position after ``ping``. Only ``ping``
and ``learn`` require an answer. Unknown commands are ignored; errors appear in the status line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elolab.engine.engine import SearchResult
from elolab.engine.errors import UserError
from elolab.engine.games.contract import Position
from elolab.engine.protocols.engine_server import (
    CommandError,
    EngineServer,
    SearchProgress,
    SearchTask,
    one_line,
    read_count,
)
from elolab.engine.protocols.game_format import read_game, read_move, write_move
from elolab.engine.protocols.turns import PASS, must_pass, play_in_turn
from elolab.engine.search.records import MAX_LINES
from elolab.engine.settings.limits import Limits

DEFAULT_DEPTH = 8
"""Search depth in plies before the first ``set depth``, a command that the protocol requires."""
MAX_DEPTH = 120
PASS_ANSWER = "=== PA"


class NBoardServer(EngineServer):
    """Server for one session in the NBoard protocol."""

    def open(self) -> None:
        """Compile everything before the first command is read; writes nothing."""
        self._depth = DEFAULT_DEPTH
        self._is_hint = False
        self.set_position(None, ())
        self.warm_up()

    def handle(self, line: str) -> None:
        """Execute one command. A square alone is a move, as in version 1 of the protocol."""
        command, *words = line.split()
        actions: dict[str, Callable[[Sequence[str]], None]] = {
            "nboard": self._introduce, "set": self._set, "move": self._move, "hint": self._hint, "go": self._go,
            "ping": self._ping, "learn": self._learn, "quit": self._quit,
        }  # fmt: skip
        action = actions.get(command)
        if action is None and len(command) == 2:
            action, words = self._move, [command]
        if action is None:
            return
        self.settle()
        try:
            action(words)
        except UserError as error:
            self.warn(str(error))

    def warn(self, message: str) -> None:
        self.say(f"status {one_line(message)}")

    def show(self, progress: SearchProgress) -> None:
        """Send one variation: its moves without spaces, score in discs, number of book games (always 0), depth."""
        if progress.moves:
            moves = "".join(write_move(move) for move in progress.moves)
            self.say(f"search {moves} {self._discs(progress.score)} 0 {progress.depth}")

    def show_final(self, progress: SearchProgress, *, is_new: bool) -> None:
        """Send a variation of the final result, but only if ``is_new``: if it has changed since it was last sent."""
        if is_new:
            self.show(progress)

    def answer(self, result: SearchResult) -> None:
        """Send the search's statistics, and the move if ``go`` requested one; clear the status line."""
        seconds = result.time_ms / 1000
        self.say(f"nodestats {result.nodes} {seconds:.3f}")
        if not self._is_hint:
            self.say(f"=== {write_move(str(result.move))}/{self._discs(result.score)}/{seconds:.3f}")
        self.say("status")

    def _discs(self, score: int) -> str:
        return f"{score / self.game.score_unit:.2f}"

    def _introduce(self, words: Sequence[str]) -> None:
        read_count("nboard", words[0] if words else "")
        self.say(f"set myname {self.title}")

    def _set(self, words: Sequence[str]) -> None:
        name, value = (words[0] if words else ""), " ".join(words[1:])
        if name == "depth":
            self._depth = read_count("set depth", value, low=1, high=MAX_DEPTH)
        elif name == "game":
            self._set_game(value)
        elif name == "contempt":
            read_count("set contempt", value.partition(".")[0], low=-(10**6))  # checked, but without effect

    def _set_game(self, text: str) -> None:
        before, self.position = self.position, None
        position = read_game(text)
        goes_on = before is not None and before.start == position.start
        if not goes_on or position.moves[: len(before.moves)] != before.moves:  # type: ignore[union-attr]
            self.new_game()
        self.position = position

    def _move(self, words: Sequence[str]) -> None:
        position, move = self._board(), read_move(words[0] if words else "")
        side = position.side_to_move
        if move != PASS and must_pass(position):
            side = 1 - side  # the pass was left out
        play_in_turn(position, side, move)

    def _hint(self, words: Sequence[str]) -> None:
        wanted = read_count("hint", words[0] if words else "1", low=1, high=MAX_LINES)
        self._think(is_hint=True, lines=wanted)

    def _go(self, words: Sequence[str]) -> None:
        self._think(is_hint=False, lines=1)

    def _think(self, *, is_hint: bool, lines: int) -> None:
        position = self._board()
        moves = position.legal_moves()
        if moves in ([], [PASS]):
            if is_hint:
                raise CommandError("no move is possible here, only a pass")
            self.say(PASS_ANSWER)
            return
        self._is_hint = is_hint
        self.say("status analysing" if is_hint else "status thinking")
        self.start(SearchTask(position, Limits(depth=self._depth), lines=min(lines, len(moves))))

    def answer_nothing(self) -> None:
        """Send nothing for a failed search; the status line already shows the reason."""

    def _ping(self, words: Sequence[str]) -> None:
        self.say(f"pong {one_line(' '.join(words))}".rstrip())

    def _learn(self, words: Sequence[str]) -> None:
        self.say("learned")

    def _quit(self, words: Sequence[str]) -> None:
        self.end()

    def _board(self) -> Position:
        if self.position is None:
            raise CommandError("there is no game", "set game comes first")
        return self.position
