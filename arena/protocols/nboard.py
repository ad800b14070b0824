"""Players over the NBoard protocol, version 2 (Welty), for Othello.

Before each move the engine receives the whole game with its start position. The only search limit is a depth. The
engine answers with a move but does not play it on its own board. A side that can only pass is not asked for a move.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elolab.arena.players.external import (
    PASS,
    QUOTED,
    ExternalPlayer,
    ProtocolClient,
    canonical_position,
    without_history,
)
from elolab.arena.players.player import (
    MAX_DEPTH,
    MAX_VARIATION,
    Fault,
    NoMove,
    PlayerClock,
    Reply,
    first_word,
    number_of,
    variation_of,
)
from elolab.arena.players.registry import Greeting, PlayerError, Protocol
from elolab.arena.protocols.gtp import PASS_WORDS
from elolab.engine.games import games_over
from elolab.engine.settings.limits import Limits

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position

VERSION = 2
MAX_DISCS = 64


def mistake_in(spec: PlayerSpec) -> PlayerError | None:
    """The error for a player specification that the NBoard protocol does not support; otherwise ``None``."""
    if spec.limits != Limits(depth=spec.limits.depth) or spec.limits.depth is None:
        return PlayerError(
            f"limit = {str(spec.limits)!r}, but NBoard limits a search by depth only", 'give limit = "depth=N"'
        )
    if spec.options:
        return PlayerError("options are UCI's, and NBoard has none", "set the engine up in command")
    return None


# --- The conversation -------------------------------------------------------------------------------------------------

_MOVE = re.compile(r"===\s*([A-Za-z]+[1-8]?)(?:(?:\s+|/)(-?\d+(?:\.\d+)?))?")
_SEARCH = re.compile(r"search\s+(\S+)\s+\S+\s+\S+\s+(\d+)")
_VARIATION_MOVE = re.compile(r"[A-Za-z][1-8]|(?i:pa)|--|.")
_NODES = re.compile(r"nodestats\s+(\d+)")


class NBoardClient(ProtocolClient):
    """Tracks the expected replies and the output of the last search. Does no input or output itself."""

    def __init__(self) -> None:
        super().__init__()
        self._pings = 0
        self._asks_for_move = False
        """Whether a move was requested that has not arrived yet.

        While ``pong`` is expected too, output still belongs to an earlier search.
        """
        self._depth: int | None = None
        self._nodes: int | None = None
        self._searched = ""
        """The last reported principal variation as the engine wrote it: moves without blanks between them."""

    def synchronise(self, *before: str) -> list[str]:
        """The lines to send: ``before``, then ``ping``. The client then expects ``pong``.

        In NBoard, ``ping`` also ends a running search, without a move.
        """
        self._asks_for_move = False
        self._pings += 1
        self._due = {f"pong {self._pings}"}
        return [*before, f"ping {self._pings}"]

    def stop(self) -> list[str]:
        """The line that ends a search (``ping``). The client then expects ``pong``."""
        return self.synchronise()

    def think(self, *before: str) -> list[str]:
        """Return ``before``, ``ping`` and ``go``; the client then expects ``pong``, and ``===`` with the move."""
        self.answer, self._depth, self._nodes, self._searched = "", None, None, ""
        lines = [*self.synchronise(*before), "go"]
        self._asks_for_move = True
        return lines

    def receive(self, line: str) -> str:
        line = line.strip()
        word = first_word(line)
        if word == "pong":
            if not self._take(" ".join(line.split())):
                return ""
            if self._asks_for_move:
                self._due = {"==="}
            return word
        if self._asks_for_move and self._due != {"==="}:
            return ""
        if line.startswith("==="):
            if not self._take("==="):
                return ""
            self.answer, self._asks_for_move = line, False
            return "==="
        if line.startswith("set myname "):
            self.engine_name = line.removeprefix("set myname ")
        depth, nodes = _SEARCH.match(line), _NODES.match(line)
        if depth is not None:
            self._searched, self._depth = depth.group(1), number_of(depth.group(2), MAX_DEPTH)
        elif nodes is not None:
            self._nodes = number_of(nodes.group(1))
        return ""

    def reply(self, elapsed_ns: int) -> Reply | None:
        """The engine's move, with the last reported score, depth and nodes; ``None`` if the engine's answer is no move.

        ``elapsed_ns`` is the time of the search in nanoseconds.
        """
        found = _MOVE.match(self.answer)
        move = None if found is None else read_move(found.group(1))
        if found is None or move is None:
            return None
        discs = found.group(2)
        score = None if discs is None else round(100 * max(-MAX_DISCS, min(MAX_DISCS, float(discs))))
        variation = variation_of(map(read_move, _VARIATION_MOVE.findall(self._searched[: 2 * MAX_VARIATION])))
        return Reply(move, score, self._depth, self._nodes, elapsed_ns, said=self.answer, principal_variation=variation)


def read_move(text: str) -> str | None:
    """Read a move: a square such as ``d3`` or a pass; ``None`` for any other text."""
    word = text.lower()
    if word in PASS_WORDS:
        return PASS
    return word if re.fullmatch(r"[a-h][1-8]", word) else None


def _game_line(position: str, moves: Sequence[str]) -> str:
    from elolab.engine.protocols.game_format import write_game

    return f"set game {write_game(position, moves)}"


# --- The player -------------------------------------------------------------------------------------------------------


class NBoardPlayer(ExternalPlayer[NBoardClient]):
    """An external engine over the NBoard protocol; see ``arena.players.player.Player``."""

    protocol_name = "NBoard"

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game, NBoardClient)
        self._start, self._first = "", 0
        """Start position of the game that is sent, and number of the game's moves before that position."""

    def _handshake(self, deadline_ns: int) -> None:
        depth = f"set depth {self.spec.limits.depth}"
        self._converse(self._client.synchronise(f"nboard {VERSION}", depth), deadline_ns)

    def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        self._start, self._first = canonical_position(self._game, opening.position), 0
        self._converse(self._client.synchronise(_game_line(self._start, opening.moves)), deadline_ns, stop)

    @property
    def _passes_by_itself(self) -> bool:
        return True

    def _question(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag
    ) -> list[str]:
        """The lines that request a move: ``set game`` with the whole game, and ``go``."""
        self._drain_unsolicited_lines()
        return self._client.think(_game_line(self._start, moves[self._first :]))

    def _restart(self, position: Position, moves: Sequence[str]) -> None:
        self._start, self._first = without_history(position), len(moves)

    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        reply = self._client.reply(elapsed_ns)
        said = self._client.answer[:QUOTED]
        is_pass = reply is not None and reply.move == PASS and position.legal_moves() != [PASS]
        if is_pass or said == "===":
            raise NoMove(Fault("answered", said=said), elapsed_ns, None if reply is None else reply.score)
        if reply is None:
            raise self._failed("illegal_move", Fault("not_a_move", said=said))
        return reply


PROTOCOL = Protocol(
    name="nboard",
    title="NBoard",
    player=lambda spec, game, _: NBoardPlayer(spec, game),
    games=games_over("nboard"),
    check=mistake_in,
    remedy="arguments in command",
    default_limit="depth=6",
    greeting=Greeting(
        (f"nboard {VERSION}", "ping 1"),
        lambda line: line.split() == ["pong", "1"],
        lambda line: line.startswith("Error"),  # an xboard engine answers "ping" too, but not "nboard"
    ),
)
