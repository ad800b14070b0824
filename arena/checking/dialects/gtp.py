"""GTP, as an examination speaks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from elolab.arena.checking.contract import Answer, CheckSettings, Failed, Skipped
from elolab.arena.checking.dialects.dialect import Dialect, Knowledge
from elolab.arena.checking.wire import Wire
from elolab.arena.players.contract import PlayerClock, PlayerFault
from elolab.arena.protocols import gtp
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits

PASSES_OPTION = "gtp_passes"
"""The only option: whether passes are sent to the program; see ``arena.protocols.gtp.PASSES``."""


class GtpDialect(Dialect):
    """GTP 2 (Farnebäck, 2002)."""

    title: ClassVar[str] = "GTP"
    limits = frozenset({"move_time", "clock"})
    time_unit_ms = 1000
    synchronisation: ClassVar[str] = "protocol_version"
    awaited: ClassVar[str] = "= MOVE"
    recommendations: ClassVar[frozenset[str]] = frozenset()
    """None: what is not legal has to be refused, and by which words."""

    def __init__(self, wire: Wire, settings: CheckSettings, knowledge: Knowledge) -> None:
        super().__init__(wire, settings, knowledge)
        self._session = gtp.GtpSession()
        self._commands: frozenset[str] = frozenset()

    async def _tell(self, *commands: str, ms: int | None = None) -> list[gtp.Answer]:
        """The answers to some commands."""
        await self.wire.say(*self._session.ask(*commands))
        ms = self.settings.timeout_ms if ms is None else ms
        await self.wire.hear_until(self._hears_all, ms, f"= ({commands[-1]})")
        return self._session.answers

    def _hears_all(self, line: str) -> bool:
        self._session.receive(line)
        return self._session.is_idle

    async def _demand(self, *commands: str) -> None:
        """Raises ``Failed`` if a command is refused."""
        for answer in await self._tell(*commands):
            if not answer.is_success:
                raise Failed("failure.refused", command=answer.command, said=answer.said)

    async def greet(self) -> None:
        """Ask for its name and its commands."""
        version, name, listed = await self._tell("protocol_version", "name", "list_commands", ms=self.settings.start_ms)
        if not version.is_success or not version.text.isdigit():
            raise Failed("failure.refused", command=version.command, said=version.said)
        self.name = name.text if name.is_success else ""
        self._commands = frozenset(listed.text.split()) if listed.is_success else frozenset()

    async def configure(self) -> None:
        """Whether it passes by itself; there are no other options."""
        for name, value in self.settings.options:
            if name != PASSES_OPTION or value not in gtp.PASSES:
                raise PlayerFault(
                    "startup_failure", f"option {name} = {value!r}: over GTP there is only {PASSES_OPTION}, "
                    f"{' or '.join(gtp.PASSES)}",
                )  # fmt: skip

    async def wait_ready(self, ms: int) -> list[str]:
        """Send any command: every command is answered."""
        await self._demand("protocol_version")
        return []

    async def begin_game(self) -> None:
        """``clear_board``."""
        await self._demand(f"boardsize {gtp.BOARD_SIZE}", "clear_board")

    async def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Replay the game from its start, then ``genmove``."""
        side = position.side_to_move
        commands = self._set_up(position)
        for line in (gtp.time_settings_command(limits), gtp.time_left_command(limits, clock, side)):
            if line is not None and self._knows(line.split()[0]):
                commands.append(line)
        await self._demand(*commands)
        await self.ask_for_search(*self._session.ask(f"genmove {'bw'[side]}"))

    def _knows(self, command: str) -> bool:
        if self._commands and command not in self._commands:
            raise Skipped("skip.unknown_command", command=command)
        return True

    @property
    def is_asked_to_pass(self) -> bool:
        """Unless it passes by itself."""
        return (PASSES_OPTION, gtp.PASSES[1]) not in self.settings.options

    def _set_up(self, position: Position) -> list[str]:
        if position.start != game_named(self.settings.game).start:
            raise self.lacking()
        told = [
            gtp.play_command(move, ply % 2)
            for ply, move in enumerate(position.moves)
            if move != gtp.PASS or self.is_asked_to_pass
        ]
        return [f"boardsize {gtp.BOARD_SIZE}", "clear_board", *told]

    def is_answer(self, line: str) -> bool:
        """The end of the answer to ``genmove``."""
        return self._hears_all(line)

    def looks_like_answer(self, line: str) -> bool:
        """An answer to whatever it may be."""
        return line.startswith(("=", "?"))

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """The move; ``resign`` is one."""
        answer = self._session.answers[-1]
        move = gtp.read_move(answer.text) if answer.is_success else None
        is_resignation = move == "resign"
        return Answer(
            answer.said,
            answer.text,
            None if is_resignation else move,
            elapsed_ms,
            tuple(lines),
            has_resigned=is_resignation,
        )

    @property
    def ordinary(self) -> Limits:
        """None: the program's own level."""
        return Limits()

    async def tell_illegal_position(self) -> None:
        """There are none but the start, whose board may have another size."""
        for answer in await self._tell("boardsize 1000"):
            if answer.is_success:
                raise Failed("failure.accepted", command=answer.command, said=answer.said)

    async def tell_illegal_move(self, position: Position, move: str) -> None:
        """It has to be refused."""
        *_, illegal = await self._tell(*self._set_up(position), gtp.play_command(move, position.side_to_move))
        if illegal.is_success:
            raise Failed("failure.accepted", command=illegal.command, said=illegal.said)

    async def say_garbage(self, lines: Sequence[str]) -> None:
        """Every command is answered, and these refused; lines of blanks are none."""
        for answer in await self._tell(*(line for line in lines if line.strip())):
            if answer.is_success:
                raise Failed("failure.accepted", command=answer.command, said=answer.said)

    async def ask_in_finished_game(self, position: Position) -> None:
        """It passes, or refuses."""
        await self.begin(position, self.ordinary)
        answer = await self.answer()
        if answer.move not in (None, gtp.PASS):
            raise Failed("failure.moved_after_end", said=answer.line)
