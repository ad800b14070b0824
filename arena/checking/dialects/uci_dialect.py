"""Communication with a checked program in UCI, its variant ``ucicyclone``, and UCCI."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from elolab.arena.checking.dialects.dialect import Dialect
from elolab.arena.checking.findings import Failed, SearchAnswer, SearchLine, Skipped
from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.player import PlayerClock, first_word
from elolab.arena.protocols import ucci, uci, uci_family
from elolab.arena.protocols.move_texts import RANKED
from elolab.arena.protocols.uci_family import UciFamilyClient
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits

_COUNT = re.compile(
    r"\s(?:depth|seldepth|time|nodes|multipv|currmovenumber|hashfull|nps|tbhits|sbhits|cpuload)\s+"
    r"(?![+-]?\d+\s)\S*"
)
"""Matches a keyword of an ``info`` line, such as ``depth``, that lacks the whole number required after it."""
_FREE_TEXT = re.compile(r"\s(pv|string|message|refutation|currline)\s")
"""Matches the keyword after which the rest of an ``info`` line is moves or free text."""


class UciDialect(Dialect[UciFamilyClient]):
    """The Universal Chess Interface (Meyer-Kahlen and Huber, 2006)."""

    title: ClassVar[str] = "UCI"
    client_class: type[UciFamilyClient] = uci.UciClient
    limits = frozenset({"depth", "nodes", "move_time", "clock", "moves_to_go"})
    synchronisation: ClassVar[str] = "isready"
    ready: ClassVar[str] = "readyok"
    awaited: ClassVar[str] = "bestmove"
    interruption: ClassVar[tuple[str, ...] | None] = ("stop",)
    endless: ClassVar[Limits | None] = Limits()
    start_lines: ClassVar[tuple[str, ...]] = ("position startpos",)
    illegal_position: ClassVar[tuple[str, ...]] = ("position fen 9/9/x/44 z - - 0 1",)
    unknown_option: ClassVar[str] = "setoption name Elolab No Such Option value 1"
    listens_while_thinking: ClassVar[bool] = True
    score: ClassVar[re.Pattern[str]] = re.compile(r"\s(?:cp|mate)\s+[+-]?\d+\s")
    """Matches the unit and number that follow the keyword ``score``."""

    def greet(self) -> None:
        """Send ``uci`` or ``ucci`` and read the name and the options, up to ``uciok`` or ``ucciok``."""
        self.send(*self.client.hello())
        end = self.client.opening[1]
        for line in self.read_until(lambda line: self.client.receive(line) == end, self.settings.start_ms, end):
            if line.startswith("option"):
                self.announced.append((line, self.client.read_option(line)))
        self.name = self.client.engine_name

    def configure(self) -> None:
        """Set the options from the settings, and choose the game if the program plays several."""
        self.send(*uci.option_commands(self.settings.options, self.options, self.settings.game))
        forced = uci.forced_first_rank(self.settings.options)
        if forced is not None:
            self.knowledge.first_rank = forced

    def begin_game(self) -> None:
        self.send("ucinewgame")
        self.settled()

    def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        self.ask_for_search(self._position(position), self._go(position, limits, clock))

    def _position(self, position: Position) -> str:
        return uci_family.GameLine(position.start, self.texts).command(position.moves)

    def _go(self, position: Position, limits: Limits, clock: PlayerClock | None, *, ponder: bool = False) -> str:
        if limits == self.endless:
            return "go infinite"
        return uci.go_command(limits, clock, position.side_to_move, ponder=ponder)

    def is_answer(self, line: str) -> bool:
        return first_word(line) in self.client.answers

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> SearchAnswer:
        *before, line = lines
        said, expected = uci_family.parse_best_move(line), uci_family.parse_ponder_move(line)
        move, reply = (None if word is None else self.read_move(word) for word in (said, expected))
        return SearchAnswer(line, said, move, elapsed_ms, tuple(before), reply)

    @property
    def declared_first_rank(self) -> int | None:
        """Number of the lowest rank in Xiangqi: 1 with the option ``UCI_Variant``, otherwise ``None`` (unknown)."""
        if self.settings.game not in RANKED:
            return super().declared_first_rank
        return 1 if "uci_variant" in self.options else None

    def send_illegal_move(self, position: Position, move: str) -> None:
        """Send the position with ``move`` appended to its moves."""
        line = self._position(position)
        self.send(f"{line} {'' if ' moves ' in line else 'moves '}{self.write_move(move)}")

    def ask_in_finished_game(self, position: Position) -> None:
        """Ask for a move after the end of the game; the answer must not contain a move."""
        self.begin(position, self.ordinary)
        answer = self.answer()
        if answer.move is not None:
            raise Failed("failure.moved_after_end", said=answer.line)

    def search_to_ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> SearchAnswer:
        """Switch on the option ``Ponder``, then search as usual."""
        option = self.options.get(uci.PONDER_OPTION.lower())
        if option is None:
            raise Skipped("skip.no_option", name=uci.PONDER_OPTION)
        self.send(*self.option_lines([(option.name, "true")]))
        self.settled()
        return self.search(position, limits, clock)

    def ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        self.ask_for_search(self._position(position), self._go(position, limits, clock, ponder=True))

    def hit(self, position: Position, clock: PlayerClock) -> SearchAnswer:
        self.ask_for_search("ponderhit")
        return self.answer(clock.remaining_ms)

    def miss(self, position: Position, limits: Limits, clock: PlayerClock) -> SearchAnswer:
        """End pondering with ``stop`` and ignore the move that it yields; then search ``position`` as usual."""
        self.interrupt()
        return self.search(position, limits, clock)

    @property
    def options(self) -> Mapping[str, AnnouncedOption]:
        return self.client.options

    def option_lines(self, options: Sequence[tuple[str, str]]) -> list[str]:
        return uci.option_commands(options, self.options)

    def read_information(self, line: str) -> SearchLine | None:
        """Parse an ``info`` line; ``None`` for other lines.

        Raises ``Failed`` for an invalid count or a score without unit.
        """
        figures, word, rest = [*_FREE_TEXT.split(f"{line} ", 1), "", ""][:3]
        if first_word(figures) != "info" or (word in ("string", "message") and figures.strip() == "info"):
            return None
        figures += " "
        _, score, said = figures.partition(" score ")
        bad = _COUNT.search(figures)
        if bad is not None or (score and self.score.match(f" {said}") is None):
            words = bad.group() if bad is not None else " ".join(["score", *said.split()[:2]])
            raise Failed("failure.information", line=line, word=" ".join(words.split()))
        found = self.client.read_information(figures)
        return SearchLine(found.depth, found.nodes, bool(score), tuple(rest.split()) if word == "pv" else ())


class UciCycloneDialect(UciDialect):
    """The variant of UCI for Xiangqi that Cyclone and Pikafish use; ranks count from 0."""

    title: ClassVar[str] = "UCI-Cyclone"

    @property
    def declared_first_rank(self) -> int | None:
        """Number of the lowest rank: always 0."""
        return 0

    def _position(self, position: Position) -> str:
        line = uci_family.GameLine(position.start, self.texts)
        if position.start == position.game.start:
            line.begin("startpos")
        return line.command(position.moves)


class UcciDialect(UciDialect):
    """The Universal Chinese Chess Protocol, version 3.0 (www.xqbase.com, November 2007)."""

    title: ClassVar[str] = "UCCI"
    client_class = ucci.UcciClient
    unknown_option: ClassVar[str] = "setoption elolabnosuchoption 1"
    score: ClassVar[re.Pattern[str]] = re.compile(r"\s(?:(?:cp|mate)\s+)?[+-]?\d+\s")

    def greet(self) -> None:
        """Perform the handshake, and infer the program's unit of time from its options and name."""
        super().greet()
        counts_milliseconds = ucci.MILLISECONDS in self.options or self.name.lower().startswith(ucci.COUNT_MILLISECONDS)
        self.time_unit_ms = 1 if counts_milliseconds else 1000

    def configure(self) -> None:
        """Set the options from the settings, and milliseconds as the unit of time if the program supports them."""
        options = list(self.settings.options)
        if ucci.MILLISECONDS in self.options:
            options.insert(0, (ucci.MILLISECONDS, "true"))
        self.send(*self.option_lines(options))

    def begin_game(self) -> None:
        """Begin a new game: press the button option that ``arena.protocols.ucci.new_game_button`` names."""
        self.send(f"setoption {ucci.new_game_button(self.options)}")
        self.settled()

    def _position(self, position: Position) -> str:
        return ucci.UcciGameLine(position.start).command(position.moves)

    def _go(self, position: Position, limits: Limits, clock: PlayerClock | None, *, ponder: bool = False) -> str:
        if limits == self.endless:
            return "go infinite"
        return ucci.go_command(limits, clock, self.time_unit_ms, "ponder" if ponder else "")

    def is_unasked(self, line: str) -> bool:
        """Whether a line is an answer other than ``nobestmove``, the only one that an idle program may give."""
        return self.is_answer(line) and self.read_answer([line], 0).move is not None

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> SearchAnswer:
        """Read the move from the answer, which may also be a resignation."""
        answer = super().read_answer(lines, elapsed_ms)
        return answer._replace(has_resigned=answer.line.split()[-1] == "resign")

    @property
    def declared_first_rank(self) -> int | None:
        """Number of the lowest rank: always 0."""
        return 0

    def search_without(self, position: Position, banned: Collection[str]) -> SearchAnswer:
        forbidden = [f"banmoves {' '.join(banned)}"] if banned else []
        self.ask_for_search(self._position(position), *forbidden, self._go(position, self.ordinary, None))
        return self.answer()

    def option_lines(self, options: Sequence[tuple[str, str]]) -> list[str]:
        """The ``setoption`` lines, which in UCCI do not contain the words ``name`` and ``value``."""
        return ucci.option_commands(options, self.options)
