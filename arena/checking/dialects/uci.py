"""UCI and its cyclone dialect, as an examination speaks them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from elolab.arena.checking.contract import Answer, Failed, Information, Skipped
from elolab.arena.checking.dialects.dialect import Dialect
from elolab.arena.players.contract import PlayerClock, number_of
from elolab.arena.players.options import Option
from elolab.arena.protocols import uci
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits

RESOURCES = {"memory": ("hash", "hashsize"), "threads": ("threads", "numthreads", "cores")}
"""The options' names among engines, in lower case."""

_COUNTS = frozenset({
    "depth", "seldepth", "time", "nodes", "multipv", "currmovenumber", "hashfull", "nps", "tbhits", "sbhits", "cpuload",
})  # fmt: skip
"""Words of an ``info`` line after which there is a whole number."""


class UciDialect(Dialect):
    """UCI (Meyer-Kahlen and Huber, 2006)."""

    title: ClassVar[str] = "UCI"
    limits = frozenset({"depth", "nodes", "move_time", "clock", "moves_to_go"})
    synchronisation: ClassVar[str] = "isready"
    awaited: ClassVar[str] = "bestmove"
    listens_while_thinking: ClassVar[bool] = True
    opening: ClassVar[tuple[str, str]] = ("uci", "uciok")
    remark_word: ClassVar[str] = "string"
    """The word after which an ``info`` line is free text."""

    async def greet(self) -> None:
        """``uci``, and what comes before ``uciok``."""
        question, end = self.opening
        await self.wire.say(question)
        for line in await self.wire.hear_until(lambda line: line.strip() == end, self.settings.start_ms, end):
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ").strip()
            elif line.startswith("option"):
                self.announced.append((line, self._read_option(line)))

    def _read_option(self, line: str) -> Option | None:
        return uci.parse_option(line)

    @property
    def _options(self) -> dict[str, Option]:
        return {option.name.lower(): option for _, option in self.announced if option is not None}

    async def configure(self) -> None:
        """The options, with the game's name where the program plays several."""
        commands = uci.option_commands(self.settings.options, self._options, self.settings.game)
        if commands:
            await self.wire.say(*commands)
        forced = uci.forced_first_rank(self.settings.options)
        if forced is not None:
            self.knowledge.first_rank = forced

    async def wait_ready(self, ms: int) -> list[str]:
        """``isready``."""
        await self.wire.say("isready")
        return await self.wire.hear_until(lambda line: line.strip() == "readyok", ms, "readyok")

    async def begin_game(self) -> None:
        """``ucinewgame``."""
        await self.wire.say("ucinewgame")
        await self.settle()

    async def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """``position`` and ``go``."""
        await self.ask_for_search(self._position(position), self._go(position, limits, clock))

    def _position(self, position: Position) -> str:
        return uci.position_command(position.start, position.moves, self.knowledge.first_rank or 0)

    def _go(self, position: Position, limits: Limits, clock: PlayerClock | None, *, ponder: bool = False) -> str:
        return uci.go_command(limits, clock, position.side_to_move, ponder=ponder)

    def is_answer(self, line: str) -> bool:
        """``bestmove``."""
        return line.split()[:1] == ["bestmove"]

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """The move, and the one it expects."""
        said, expected = uci.parse_best_move(lines[-1]), uci.parse_ponder_move(lines[-1])
        return Answer(
            lines[-1],
            said,
            None if said is None else self.read_move(said),
            elapsed_ms,
            tuple(lines[:-1]),
            None if expected is None else self.read_move(expected),
        )

    def read_move(self, said: str) -> str | None:
        """In the program's ranks."""
        return self.read_with_ranks(said)

    @property
    def ordinary(self) -> Limits:
        """A depth."""
        return Limits(depth=self.settings.depth)

    @property
    def declared_first_rank(self) -> int | None:
        """Programs of several games count from 1, as Fairy-Stockfish does; of the others some do."""
        return 1 if "uci_variant" in self._options else None

    async def tell_illegal_position(self) -> None:
        """Board and side are none."""
        await self.wire.say("position fen 9/9/x/44 z - - 0 1")

    async def tell_illegal_move(self, position: Position, move: str) -> None:
        """After the legal ones."""
        line = self._position(position)
        written = uci.write_move(move, self.knowledge.first_rank or 0)
        await self.wire.say(f"{line} {'' if ' moves ' in line else 'moves '}{written}")

    async def ask_in_finished_game(self, position: Position) -> None:
        """It has to answer, but no move."""
        await self.ask_for_search(self._position(position), self._go(position, self.ordinary, None))
        answer = await self.answer()
        if self._names_move(answer.line):
            raise Failed("failure.moved_after_end", said=answer.line)

    def _names_move(self, line: str) -> bool:
        said = uci.parse_best_move(line)
        return said is not None and self.read_move(said) is not None

    async def begin_at_start_word(self) -> None:
        """``position startpos``."""
        await self.ask_for_search("position startpos", f"go depth {self.settings.depth}")

    async def begin_endless(self, position: Position) -> None:
        """``go infinite``."""
        await self.ask_for_search(self._position(position), "go infinite")

    async def interrupt(self) -> Answer | None:
        """``stop``; a move has to come."""
        self._began_ns = time.monotonic_ns()
        await self.wire.say("stop")
        lines = await self.wire.hear_until(self.is_answer, self.settings.stop_ms, self.awaited)
        return self.read_answer(lines, (self.wire.arrived_ns - self._began_ns) / 1e6)

    async def ask_ready_while_thinking(self) -> float:
        """``isready``."""
        began_ns = time.monotonic_ns()
        await self.wire.say("isready")
        lines = await self.wire.hear_until(
            lambda line: line.strip() == "readyok" or self.is_answer(line), self.settings.timeout_ms, "readyok"
        )
        if self.is_answer(lines[-1]):
            raise Failed("failure.early", said=lines[-1])
        return (self.wire.arrived_ns - began_ns) / 1e6

    async def interrupt_nothing(self) -> None:
        """``stop`` without a search is passed over."""
        await self.wire.say("stop")
        for line in await self._overhear_settling():
            if self._is_unasked(line):
                raise Failed("failure.unasked", said=line)

    def _is_unasked(self, line: str) -> bool:
        """Whether a line must not answer a stop without a search."""
        return self.is_answer(line)

    async def _overhear_settling(self) -> list[str]:
        """The output until earlier input has been processed, and for a while after that."""
        lines = await self.ask_ready() if self.knowledge.answers_ready else []
        return [*lines, *await self.wire.overhear(self.settings.quiet_ms)]

    async def search_to_ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> Answer:
        """With the option set, without which a program does not ponder."""
        option = self._options.get(uci.PONDER_OPTION.lower())
        if option is None:
            raise Skipped("skip.no_option", name=uci.PONDER_OPTION)
        await self.wire.say(self.option_line(option, "true"))
        await self.settle()
        return await self.search(position, limits, clock)

    async def ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        """``go ponder``."""
        await self.ask_for_search(self._position(position), self._go(position, limits, clock, ponder=True))

    async def hit(self, position: Position, clock: PlayerClock) -> Answer:
        """``ponderhit``."""
        await self.ask_for_search("ponderhit")
        return await self.answer(clock.remaining_ms)

    async def miss(self, position: Position, limits: Limits, clock: PlayerClock) -> Answer:
        """``stop``, whose answer is of no interest, and a new search."""
        await self.interrupt()
        return await self.search(position, limits, clock)

    def option_line(self, option: Option, value: str) -> str:
        """``setoption``."""
        return option.command(value)

    def unknown_option_line(self) -> str:
        """An option no program has."""
        return "setoption name Elolab No Such Option value 1"

    def resource(self, name: str) -> Option | None:
        """By the names that are in use."""
        return next((self._options[word] for word in RESOURCES[name] if word in self._options), None)

    def read_information(self, line: str) -> Information | None:
        """An ``info`` line, word by word."""
        words = line.split()
        if words[:1] != ["info"] or self.remark_word in words[:2]:
            return None
        numbers: dict[str, int] = {}
        has_score, at = False, 1
        while at < len(words):
            word = words[at]
            if word in ("pv", self.remark_word, "refutation", "currline"):
                break
            if word in _COUNTS:
                numbers[word] = self._count(line, words, at + 1)
                at += 1
            elif word == "score":
                at += self._score_words(line, words, at + 1)
                has_score = True
            at += 1
        variation = tuple(words[at + 1 :]) if words[at : at + 1] == ["pv"] else ()
        return Information(numbers.get("depth"), numbers.get("nodes"), has_score, variation)

    def _score_words(self, line: str, words: Sequence[str], at: int) -> int:
        """How many words say what the score is."""
        if words[at : at + 1] not in (["cp"], ["mate"]):
            raise Failed("failure.information", line=line, word=" ".join(words[at - 1 : at + 1]))
        self._count(line, words, at + 1)
        return 2

    def _count(self, line: str, words: Sequence[str], at: int) -> int:
        if at < len(words) and words[at].removeprefix("-").removeprefix("+").isdigit():
            return number_of(words[at])
        raise Failed("failure.information", line=line, word=" ".join(words[at - 1 : at + 1]))


class UciCycloneDialect(UciDialect):
    """UCI as Cyclone and Pikafish have it: Xiangqi alone, with ranks from 0."""

    title: ClassVar[str] = "UCI-Cyclone"

    @property
    def declared_first_rank(self) -> int | None:
        """The dialect's."""
        return 0

    def _position(self, position: Position) -> str:
        line = uci.GameLine(position.start, self.knowledge.first_rank or 0)
        if position.start == position.game.start:
            line.begin("startpos")
        return line.command(position.moves)
