"""Communication with a checked program in GTP and in the NBoard protocol."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from elolab.arena.checking.dialects.dialect import Dialect
from elolab.arena.checking.findings import Failed, SearchAnswer, SearchLine, Skipped
from elolab.arena.players.external import PASS
from elolab.arena.players.player import PlayerClock, PlayerFault, first_word, number_of
from elolab.arena.protocols import gtp, nboard
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.protocols.game_format import write_game
from elolab.engine.settings.limits import Limits

PASSES_OPTION = "gtp_passes"
"""The only option over GTP: whether passes are sent to the program; see ``arena.protocols.gtp.PASSES``."""
_SEARCH = re.compile(r"search\s+(\S+)\s+[+-]?\d+(?:\.\d+)?\s+\S+\s+(\S+)")
_MOVES = re.compile(r"[A-Ha-h][1-8]|[Pp][Aa]")


class GtpDialect(Dialect[gtp.GtpClient]):
    """The Go Text Protocol (GTP), version 2 (Farnebäck, 2002), as Othello programs use it."""

    title: ClassVar[str] = "GTP"
    client_class = gtp.GtpClient
    own_keys = frozenset({PASSES_OPTION})
    limits = frozenset({"move_time", "clock"})
    time_unit_ms = 1000
    synchronisation: ClassVar[str] = "protocol_version"
    awaited: ClassVar[str] = "= MOVE"
    recommendations: ClassVar[frozenset[str]] = frozenset()
    """Empty: GTP requires a program to refuse illegal input with an error answer."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._commands: frozenset[str] = frozenset()

    def _ask(self, *commands: str, ms: int | None = None) -> list[gtp.GtpAnswer]:
        """Send commands; returns their answers in order. The time limit is ``ms``, or ``timeout_ms`` by default."""
        self.send(*self.client.ask(*commands))
        self.read_until(self.ends_search, ms or self.settings.timeout_ms, f"= ({commands[-1]})")
        return self.client.answers

    def _demand(self, *commands: str) -> None:
        """Send commands; raises ``Failed`` if the program refuses one."""
        for answer in self._ask(*commands):
            if not answer.is_success:
                raise Failed("failure.refused", command=answer.command, said=answer.said)

    def _demand_refusal(self, *commands: str) -> None:
        """Send commands; raises ``Failed`` unless the program refuses the last one."""
        answer = self._ask(*commands)[-1]
        if answer.is_success:
            raise Failed("failure.accepted", command=answer.command, said=answer.said)

    def greet(self) -> None:
        """Ask for the program's protocol version, name and list of commands."""
        version, name, listed = self._ask("protocol_version", "name", "list_commands", ms=self.settings.start_ms)
        if not version.is_success or not gtp.is_version(version.text):
            raise Failed("failure.refused", command=version.command, said=version.said)
        self.name = name.text if name.is_success else ""
        self._commands = frozenset(listed.text.split()) if listed.is_success else frozenset()

    def configure(self) -> None:
        """Check the options; raises ``PlayerFault`` for an invalid value or a name other than ``gtp_passes``."""
        for name, value in self.settings.options:
            if name != PASSES_OPTION or value not in gtp.PASSES:
                choices = " or ".join(gtp.PASSES)
                raise PlayerFault(
                    "startup_failure", f"option {name} = {value!r}: over GTP there is only {PASSES_OPTION}, {choices}"
                )

    def ask_ready(self, max_ms: int | None = None) -> list[str]:
        """Send a harmless command and wait for its answer, which confirms readiness."""
        self._demand(self.synchronisation)
        return []

    def begin_game(self) -> None:
        self._demand(*gtp.NEW_GAME)

    def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Replay the game from its start, then ask for a move with ``genmove``."""
        side = position.side_to_move
        commands = self._set_up(position)
        for line in (gtp.time_settings_command(limits), gtp.time_left_command(limits, clock, side)):
            if line is not None:
                command = first_word(line)
                if self._commands and command not in self._commands:
                    raise Skipped("skip.unknown_command", command=command)
                commands.append(line)
        self._demand(*commands)
        self.ask_for_search(*self.client.ask(f"genmove {'bw'[side]}"))

    @property
    def is_asked_to_pass(self) -> bool:
        return (PASSES_OPTION, gtp.PASSES[1]) not in self.settings.options

    def _set_up(self, position: Position) -> list[str]:
        if position.start != game_named(self.settings.game).start:
            raise self.lacking()
        return [*gtp.NEW_GAME, *gtp.play_commands(position.moves, sends_passes=self.is_asked_to_pass)]

    def is_answer(self, line: str) -> bool:
        return line.startswith(("=", "?"))

    def ends_search(self, line: str) -> bool:
        self.client.receive(line)
        return self.client.is_idle

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> SearchAnswer:
        answer = self.client.answers[-1]
        move = gtp.read_move(answer.text) if answer.is_success else None
        resigns = move == "resign"
        return SearchAnswer(
            answer.said, answer.text, None if resigns else move, elapsed_ms, tuple(lines), has_resigned=resigns
        )

    @property
    def ordinary(self) -> Limits:
        """No limits: the program plays at its own level."""
        return Limits()

    def send_illegal_position(self) -> None:
        """Set an unsupported board size, because GTP has no command for a whole position."""
        self._demand_refusal("boardsize 1000")

    def send_illegal_move(self, position: Position, move: str) -> None:
        """Send an illegal move; raises ``Failed`` unless the program refuses it."""
        self._demand_refusal(*self._set_up(position), gtp.play_command(move, position.side_to_move))

    def send_garbage(self, lines: Sequence[str]) -> None:
        """Send meaningless lines; raises ``Failed`` unless the program refuses each one that is not blank."""
        for line in lines:
            if line.strip():
                self._demand_refusal(line)

    def ask_in_finished_game(self, position: Position) -> None:
        """Ask for a move after the end of the game; only a pass or a refusal is correct."""
        self.begin(position, self.ordinary)
        answer = self.answer()
        if answer.move not in (None, PASS):
            raise Failed("failure.moved_after_end", said=answer.line)


class NBoardDialect(Dialect[nboard.NBoardClient]):
    """The NBoard protocol, version 2 (Welty)."""

    title: ClassVar[str] = "NBoard"
    client_class = nboard.NBoardClient
    limits = frozenset({"depth"})
    synchronisation: ClassVar[str] = "ping"
    ready: ClassVar[str] = "pong"
    awaited: ClassVar[str] = "==="
    interruption: ClassVar[tuple[str, ...] | None] = ()
    endless: ClassVar[Limits | None] = Limits(depth=60)
    illegal_position: ClassVar[tuple[str, ...]] = ("set game (;GM[Othello]TY[8]BO[8 --*O-- *];)",)

    def greet(self) -> None:
        """Send the protocol version and ``ping``, and wait for ``pong``, the only reply in the handshake."""
        self.send(f"nboard {nboard.VERSION}", f"set depth {self.settings.depth}")
        self.ask_ready(self.settings.start_ms)
        self.name = self.client.engine_name

    def begin_game(self) -> None:
        """Wait until the program is ready; no command is needed, because every search sends the whole game."""
        self.ask_ready()

    def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Ask for a move: send the depth limit, the game and ``go``."""
        self.send(f"set depth {limits.depth}", f"set game {write_game(position.start, position.moves)}")
        self.ask_ready()
        self.ask_for_search("go")

    def is_answer(self, line: str) -> bool:
        return line.startswith("===")

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> SearchAnswer:
        """Read the move from the answer; the evaluation after the move is ignored."""
        *before, line = lines
        word = re.split(r"[\s/]+", line.removeprefix("===").strip())[0]
        return SearchAnswer(line, word, self.read_move(word), elapsed_ms, tuple(before))

    def read_move(self, said: str) -> str | None:
        return nboard.read_move(said)

    def send_illegal_move(self, position: Position, move: str) -> None:
        """Send the game, then the illegal move with the command ``move``."""
        self.send(f"set game {write_game(position.start, position.moves)}", f"move {move.upper()}")

    def ask_in_finished_game(self, position: Position) -> None:
        """Raise ``Skipped``: the NBoard protocol does not allow asking for a move in a finished game."""
        raise self.lacking()

    @property
    def is_asked_to_pass(self) -> bool:
        """False: in the NBoard protocol the program is not asked for a move when it can only pass."""
        return False

    def interrupt(self) -> SearchAnswer | None:
        """Interrupt the search with ``ping``; returns the program's move, or ``None`` if the program sends none."""
        self._began_ns = time.monotonic_ns()
        answers = [line for line in self.ask_ready(self.settings.stop_ms) if self.is_answer(line)]
        return self.read_answer(answers[:1], (self.process.arrived_ns - self._began_ns) / 1e6) if answers else None

    def read_information(self, line: str) -> SearchLine | None:
        """Parse a line that begins with ``search`` or ``nodestats``; ``None`` for other lines."""
        word, *words = line.split() or [""]
        if word == "nodestats" and words:
            if not words[0].isdigit():
                raise Failed("failure.information", line=line, word=words[0])
            return SearchLine(nodes=number_of(words[0]))
        if not line.startswith("search"):
            return None
        found = _SEARCH.match(line)
        if found is None:
            raise Failed("failure.information", line=line, word="search")
        variation, depth = found.groups()
        digits = re.match(r"\d+", depth)  # "100%" and "73%" are selective or exact searches
        moves = tuple(_MOVES.findall(variation))
        return SearchLine(number_of(digits.group()) if digits and "%" not in depth else None, None, True, moves)
