"""UCCI, as an examination speaks it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from elolab.arena.checking.contract import Answer
from elolab.arena.checking.dialects.uci import UciDialect
from elolab.arena.players.contract import PlayerClock
from elolab.arena.players.options import Option
from elolab.arena.protocols import ucci
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits


class UcciDialect(UciDialect):
    """UCCI 3.0 (www.xqbase.com, November 2007)."""

    title: ClassVar[str] = "UCCI"
    opening: ClassVar[tuple[str, str]] = ("ucci", "ucciok")
    remark_word: ClassVar[str] = "message"

    async def greet(self) -> None:
        """``ucci``, and from the options the unit of time."""
        await super().greet()
        counts_milliseconds = ucci.MILLISECONDS in self._options or self.name.lower().startswith(
            ucci.COUNT_MILLISECONDS
        )
        self.time_unit_ms = 1 if counts_milliseconds else 1000

    def _read_option(self, line: str) -> Option | None:
        return ucci.parse_option(line)

    async def configure(self) -> None:
        """The options, with milliseconds where they can be had."""
        options = list(self.settings.options)
        if ucci.MILLISECONDS in self._options:
            options.insert(0, (ucci.MILLISECONDS, "true"))
        commands = ucci.option_commands(options, self._options)
        if commands:
            await self.wire.say(*commands)

    async def begin_game(self) -> None:
        """A button of the program, of whatever name."""
        button = next((name for name in ucci.NEW_GAME_BUTTONS if name in self._options), None)
        name = ucci.NEW_GAME_BUTTONS[0] if button is None else self._options[button].name
        await self.wire.say(f"setoption {name}")
        await self.settle()

    def _position(self, position: Position) -> str:
        return ucci.UcciGameLine(position.start).command(position.moves)

    def _go(self, position: Position, limits: Limits, clock: PlayerClock | None, *, ponder: bool = False) -> str:
        return ucci.go_command(limits, clock, self.time_unit_ms, "ponder" if ponder else "")

    def is_answer(self, line: str) -> bool:
        """``bestmove`` or ``nobestmove``."""
        return line.split()[:1] in (["bestmove"], ["nobestmove"])

    def _is_unasked(self, line: str) -> bool:
        """An idle program may say ``nobestmove``."""
        return self.is_answer(line) and self._names_move(line)

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """The move, with which it may resign."""
        answer = super().read_answer(lines, elapsed_ms)
        return answer._replace(has_resigned=answer.line.split()[-1] == "resign")

    @property
    def declared_first_rank(self) -> int | None:
        """The protocol's."""
        return 0

    async def search_without(self, position: Position, banned: Collection[str]) -> Answer:
        """``banmoves``."""
        forbidden = [f"banmoves {' '.join(banned)}"] if banned else []
        await self.ask_for_search(self._position(position), *forbidden, self._go(position, self.ordinary, None))
        return await self.answer()

    def option_line(self, option: Option, value: str) -> str:
        """``setoption``, without words between."""
        return ucci.option_command(option, value)

    def unknown_option_line(self) -> str:
        """An option no program has."""
        return "setoption elolabnosuchoption 1"

    def _score_words(self, line: str, words: Sequence[str], at: int) -> int:
        """A plain number, or one with a unit as in UCI."""
        if words[at : at + 1] in (["cp"], ["mate"]):
            return super()._score_words(line, words, at)
        self._count(line, words, at)
        return 1
