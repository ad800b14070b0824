"""Players over GTP 2, the Go Text Protocol (Farnebäck, 2002), for Othello.

GTP can neither set up a position nor limit depth or nodes. An opening is therefore sent as moves from the start of the
game. An engine's level is set on its command line or by its private commands (key ``commands``). Times are whole
seconds. GTP has no increments: the time left, sent before each move, includes them.

Engines differ on passes. Most engines are sent every pass (``play b pass``) and are asked for their own. Others pass by
themselves and reject the command (key ``gtp_passes``).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elolab.arena.players.external import PASS, QUOTED, ExternalPlayer, ProtocolClient
from elolab.arena.players.player import Fault, NoMove, PlayerClock, PlayerFault, PlayerResigned, Reply
from elolab.arena.players.registry import Greeting, PlayerError, Protocol
from elolab.engine.games import games_over
from elolab.engine.settings import schema
from elolab.engine.settings.limits import OWN_LEVEL, Limits

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.settings.schema import Table

PASS_WORDS = frozenset({PASS, "pa", "ps", "--", "@@"})
"""Words that Othello programs write for a pass, in lower case."""
PASSES = ("send", "omit")
"""Values of the key ``gtp_passes``.

With ``send``, elolab sends every pass and asks the engine for its own. With ``omit``, the engine passes by itself.
"""
NEW_GAME = ("boardsize 8", "clear_board")
MAX_ANSWER = 1000
"""Maximum number of lines that are kept of one answer."""


def commands_of(spec: PlayerSpec) -> tuple[str, ...]:
    """The engine's private commands in a player specification, in the order in which they follow the handshake."""
    commands: tuple[str, ...] = spec.protocol_key("commands", ())
    return commands


def passes_of(spec: PlayerSpec) -> str:
    """How an engine handles passes: one of ``PASSES``."""
    return str(spec.protocol_key("gtp_passes", PASSES[0]))


KEYS = schema.declare(
    "elolab.arena.keys", "player", "gtp",
    commands=schema.key(schema.TEXTS, default=(), example=["level 3"], expected='a list of texts such as ["level 3"]'),
    gtp_passes=schema.choice(PASSES, default=PASSES[0], example=PASSES[1]),
)  # fmt: skip


def read_keys(table: Table) -> dict[str, Any]:
    """Read the keys that only GTP players have; returns fields of ``PlayerSpec``."""
    return {"protocol_keys": (("commands", tuple(table["commands"])), ("gtp_passes", table["gtp_passes"]))}


def mistake_in(spec: PlayerSpec) -> PlayerError | None:
    """The error for a player specification that GTP does not support; otherwise ``None``."""
    limits = spec.limits
    if limits.depth is not None or limits.nodes is not None:
        return PlayerError(
            f"limit = {str(limits)!r}, but GTP has no limit by depth or nodes",
            f'set its level in command or commands, and give limit = "{OWN_LEVEL}", a clock or a move_time',
        )
    if limits.clock_ms is not None and limits.move_time_ms is not None:
        return PlayerError(
            f"limit = {str(limits)!r}, but GTP has a clock or a time a move, not both", "give one of them"
        )
    if (limits.clock_ms or 0) % 1000 or (limits.move_time_ms or 0) % 1000:
        return PlayerError(
            f"limit = {str(limits)!r}, but GTP counts whole seconds", "give a clock or move_time in whole seconds"
        )
    if spec.options:
        return PlayerError("options are UCI's, and GTP has none", "give commands, a list of the engine's own commands")
    if passes_of(spec) not in PASSES:
        return PlayerError(f"gtp_passes = {passes_of(spec)!r}, expected {' or '.join(PASSES)}")
    for command in commands_of(spec):
        if not command.strip() or not command.isprintable() or "#" in command:
            return PlayerError(
                f"commands: {command!r} is no GTP command", "expected a line of printable characters without #"
            )
    return None


# --- The conversation -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GtpAnswer:
    """The engine's answer to one command."""

    command: str
    is_success: bool
    text: str

    @property
    def said(self) -> str:
        """The answer as the engine wrote it, without the number: ``=`` (success) or ``?`` (failure), then the text."""
        return f"{'=' if self.is_success else '?'} {self.text}"


_ANSWER = re.compile(r"([=?])(\d*)\s*(.*)")
_NUMBERED = re.compile(r"(\d+)(?:\s+(.*))?")
"""Matches the text after an answer's sign and blank, if it begins with the number of a command."""


class GtpClient(ProtocolClient):
    """Numbers the commands and assigns each answer to its command. Does no input or output itself.

    By GTP 2 an answer repeats the command's number directly after its sign, as in ``=17 c3``. Some engines leave the
    number out, and Edax writes a blank before it (``= 17 c3``). The client recognises such a blank in the first answer:
    its text begins with the command's number. An answer without a number belongs to the oldest unanswered command. An
    answer with another number is ignored.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[GtpAnswer] = []
        """Answers to the last commands sent, in order."""
        self._number = 0
        self._unanswered: deque[tuple[str, str]] = deque()
        """Commands without an answer so far, oldest first, as pairs of number and command."""
        self._lines: list[str] | None = None
        self._is_success = False
        self._numbers_after_blank: bool | None = None
        """Whether the engine writes a blank between an answer's sign and number; ``None`` before the first answer."""

    @property
    def is_idle(self) -> bool:
        return not self._unanswered

    def synchronise(self, *before: str) -> list[str]:
        """Number the commands ``before`` and a harmless last command; returns the lines to send.

        The answer to the last command shows that the engine has processed all commands.
        """
        return self.ask(*before, "protocol_version")

    def ask(self, *commands: str) -> list[str]:
        """Number the commands and register them as unanswered; returns the lines to send."""
        self.answers = []
        lines = []
        for command in commands:
            self._number += 1
            self._unanswered.append((str(self._number), command))
            lines.append(f"{self._number} {command}")
        return lines

    def receive(self, line: str) -> str:
        """Process one line from the engine; returns the command that is now answered, or an empty text."""
        if self._lines is not None:
            if line.strip():
                if len(self._lines) < MAX_ANSWER:
                    self._lines.append(line)
                return ""
            text, self._lines = "\n".join(self._lines).strip(), None
            _, command = self._unanswered.popleft()
            self.answers.append(GtpAnswer(command, self._is_success, text))
            return command
        begun = _ANSWER.match(line.lstrip())
        if begun is None:
            return ""
        sign, number, text = begun.groups()
        if not number:
            number, text = self._number_after_blank(text)
        if not self._unanswered or number not in ("", self._unanswered[0][0]):
            self.unexpected += 1
            return ""
        self._is_success, self._lines = sign == "=", [text]
        return ""

    def _number_after_blank(self, text: str) -> tuple[str, str]:
        """Split the text of an answer into the command's number and the rest.

        The number is empty if the engine does not write numbers after a blank.
        """
        found = _NUMBERED.fullmatch(text)
        if self._numbers_after_blank is None and self._unanswered:
            self._numbers_after_blank = (
                found is not None and found[1] == self._unanswered[0][0] and found[2] is not None
            )
        if found is None or not self._numbers_after_blank:
            return "", text
        return found[1], found[2] or ""


def is_version(text: str) -> bool:
    """Whether a text is a valid answer to ``protocol_version``: a number such as ``2`` or ``2.0``."""
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


def read_move(text: str) -> str | None:
    """Read the answer to ``genmove``: a square such as ``d3``, ``pass`` or ``resign``; ``None`` for any other text."""
    word = text.strip().lower()
    if word in PASS_WORDS:
        return PASS
    return word if word == "resign" or re.fullmatch(r"[a-h][1-8]", word) else None


def play_command(move: str, side: int) -> str:
    """The command that sends a move; ``side`` is 0 for Black and 1 for White."""
    return f"play {'bw'[side]} {move if move == PASS else move.upper()}"


def play_commands(moves: Sequence[str], *, sends_passes: bool, first: int = 0) -> list[str]:
    """The commands that send a game's ``moves`` from index ``first`` on; passes only if ``sends_passes``."""
    return [
        play_command(move, ply % 2) for ply, move in enumerate(moves) if ply >= first and (move != PASS or sends_passes)
    ]


def time_settings_command(limits: Limits) -> str | None:
    """The command that sends the time control; ``None`` if the limits have no time.

    A fixed time per move is sent as byo-yomi.
    """
    if limits.move_time_ms is not None:
        return f"time_settings 0 {limits.move_time_ms // 1000} 1"
    if limits.clock_ms is None:
        return None
    seconds = limits.clock_ms // 1000
    if limits.moves_per_control:
        return f"time_settings 0 {seconds} {limits.moves_per_control}"
    return f"time_settings {seconds} 0 0"


def time_left_command(limits: Limits, clock: PlayerClock | None, side: int) -> str | None:
    """The command that sends the time left to ``side``, rounded down to whole seconds.

    ``side`` is 0 for Black and 1 for White. Returns ``None`` if the player has neither a clock nor a time per move.
    """
    if limits.move_time_ms is not None:
        return f"time_left {'bw'[side]} {limits.move_time_ms // 1000} 1"
    if clock is None:
        return None
    return f"time_left {'bw'[side]} {clock.remaining_ms // 1000} {clock.moves_to_go}"


# --- The player -------------------------------------------------------------------------------------------------------


class GtpPlayer(ExternalPlayer[GtpClient]):
    """An external Othello engine over GTP; see ``arena.players.player.Player``."""

    protocol_name = "GTP"

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game, GtpClient)
        self._path: tuple[str, ...] = ()
        """Moves from the start of the game to the opening's position."""
        self._known: list[str] = []
        """Moves from the start of the game that the engine has received."""
        self._clears_board = False
        """Whether the next request for a move must clear the board and send all moves of the game."""
        self._refuses_time_left = False
        self._commands: frozenset[str] = frozenset()
        """Names of the commands that the engine supports; empty if the engine sent no list."""

    def _handshake(self, deadline_ns: int) -> None:
        """Ask for the engine's name and its list of commands, then send the player's private commands.

        Raises ``PlayerFault`` (``startup_failure``) if the engine rejects a private command, or lacks ``time_settings``
        under a time limit.
        """
        self._converse(self._client.ask("protocol_version", "name", "version", "list_commands"), deadline_ns)
        listed = self._client.answers[-1]
        self._commands = frozenset(listed.text.split()) if listed.is_success else frozenset()
        for command in commands_of(self.spec):
            self._converse(self._client.ask(command), deadline_ns)
            if refusal := self._refusal():
                raise PlayerFault("startup_failure", refusal)
        if self.spec.limits.is_timed and not self._knows("time_settings"):
            raise PlayerFault(
                "startup_failure",
                f"does not know time_settings, so it cannot receive limit = {str(self.spec.limits)!r}; set its "
                f'level in command or commands, and give limit = "{OWN_LEVEL}"',
            )

    def _knows(self, command: str) -> bool:
        return not self._commands or command in self._commands

    def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        """Clear the board, send the time control, and send the moves of the opening.

        Raises ``PlayerFault`` (``startup_failure``) if no moves lead to the opening, or if the engine rejects a
        command.
        """
        from elolab.engine.games.proof_game import proof_game

        path = proof_game(self._game, opening.position)
        if path is None:
            raise PlayerFault("startup_failure", f"{self.name}: {unreachable(opening.position)}")
        self._path = path
        self._known = [*path, *opening.moves]
        self._clears_board = False
        settings = time_settings_command(self.spec.limits)
        commands = [*NEW_GAME, *([] if settings is None else [settings]), *self._moves_from(0)]
        self._converse(self._client.ask(*commands), deadline_ns, stop)
        if refusal := self._refusal():
            raise self._failed("startup_failure", refusal)

    def _moves_from(self, first: int) -> list[str]:
        return play_commands(self._known, sends_passes=not self._passes_by_itself, first=first)

    @property
    def _passes_by_itself(self) -> bool:
        return passes_of(self.spec) == "omit"

    def _question(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag
    ) -> list[str]:
        """The lines that request a move: the moves since the last request, the time left and ``genmove``.

        After a restart, all moves of the game are sent.
        """
        self._drain_unsolicited_lines()
        first, self._known = len(self._known), [*self._path, *moves]
        side = position.side_to_move
        genmove = f"genmove {'bw'[side]}"
        if self._clears_board:
            self._clears_board = False
            return self._client.ask("clear_board", *self._moves_from(0), genmove)
        commands = self._moves_from(first)
        time_left = time_left_command(self.spec.limits, clock, side)
        if time_left is not None and self._knows("time_left") and not self._refuses_time_left:
            commands.append(time_left)
        return self._client.ask(*commands, genmove)

    def _restart(self, position: Position, moves: Sequence[str]) -> None:
        """Make the next request for a move send the whole game again, because GTP cannot set up a position."""
        self._clears_board = True

    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        answer = self._client.answers[-1]
        answered = Fault("answered", said=answer.said[:QUOTED])
        if (refusal := self._refusal()) or not answer.text:
            raise NoMove(refusal or answered, elapsed_ns)
        move = read_move(answer.text)
        if move is None:
            raise self._failed("illegal_move", Fault("not_a_move", said=answer.said[:QUOTED]))
        if move == "resign":
            raise PlayerResigned
        if move == PASS and position.legal_moves() != [PASS]:
            raise NoMove(answered, elapsed_ns)
        self._known.append(move)
        return Reply(move, None, None, None, elapsed_ns, said=answer.said)

    def _refusal(self) -> Fault | None:
        """The fault for the first command of the last request that the engine rejected; ``None`` if it rejected none.

        A rejected ``time_left`` is no fault, because this command only informs the engine.
        """
        for answer in self._client.answers:
            if not answer.is_success and answer.command.startswith("time_left"):
                self._refuses_time_left = True  # it only informs the engine
            elif not answer.is_success:
                is_pass = answer.command.startswith("play") and answer.command.endswith(PASS)
                kind = "refused_pass" if is_pass else "refused"
                return Fault(kind, said=answer.said[:QUOTED], command=answer.command)
        return None

    def _halt(self) -> bool:
        """End the engine, because GTP cannot stop a search. Returns false: no answer was received."""
        self._running().end()
        return False

    def _overdue(self, clock: PlayerClock | None, began_ns: int) -> Exception:
        if not self.spec.limits.is_timed:
            return super()._overdue(clock, began_ns)
        return self._failed("time_forfeit", self._no_move_in_time(clock))


def unreachable(position: str) -> str:
    """Error message for an opening given as a position (FEN) to which no sequence of moves from the start was found."""
    return (
        f"the opening {position!r} was not reached by moves from the start of the game, and GTP can be told moves "
        "only; use openings of fewer discs, games in PGN from the start on, or another protocol"
    )


PROTOCOL = Protocol(
    name="gtp",
    title="GTP",
    player=lambda spec, game, _: GtpPlayer(spec, game),
    games=games_over("gtp"),
    keys=KEYS,
    read=read_keys,
    check=mistake_in,
    remedy="commands = [...]",
    has_own_level=True,
    default_limit="move_time=1",
    unreachable=unreachable,
    greeting=Greeting(("protocol_version",), lambda line: line.startswith("=") and is_version(line[1:].strip())),
)
