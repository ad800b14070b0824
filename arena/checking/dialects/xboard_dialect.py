"""Communication with a checked program in the xboard protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from elolab.arena.checking.dialects.dialect import Dialect
from elolab.arena.checking.findings import Failed, LimitRemains, SearchAnswer, SearchLine, Skipped
from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.player import PlayerClock, first_word
from elolab.arena.protocols import uci, xboard
from elolab.arena.protocols.move_texts import RANKED
from elolab.arena.protocols.uci_family import Information
from elolab.engine.games import REGISTERED, game_named
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits


class XboardDialect(Dialect[xboard.XboardClient]):
    """The Chess Engine Communication Protocol, version 2 (Mann and Muller, 2009)."""

    title: ClassVar[str] = "xboard"
    client_class = xboard.XboardClient
    limits = frozenset({"depth", "move_time", "clock", "moves_to_go"})
    time_unit_ms = 1000
    synchronisation: ClassVar[str] = "ping"
    ready: ClassVar[str] = "pong"
    awaited: ClassVar[str] = "move"
    interruption: ClassVar[tuple[str, ...] | None] = ("?",)
    endless: ClassVar[Limits | None] = Limits(move_time_ms=600_000)
    unknown_option: ClassVar[str] = "option Elolab No Such Option=1"
    recommendations: ClassVar[frozenset[str]] = frozenset(
        {"stop", "stop_at_once", "quit_while_thinking", "unknown_option", "garbage", *Dialect.recommendations}
    )
    """Names of checks whose failure is only reported as advice in this protocol.

    The protocol permits a program to ignore ``?``, and all other input during a search. After meaningless input it
    requires an error line, but some engines (HoiXiangqi) exit.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._depth_was_sent = False
        self._side = 0
        """The side for which the program was last asked to move: 0 for the first mover, 1 for the other."""
        self._game: tuple[str, Limits] | None = None
        """Start position and limits of the program's current game; ``None`` if the next search must send them again."""
        self._known: list[str] = []
        """Moves of the current game that were sent to the program or made by it."""

    def greet(self) -> None:
        """Perform the handshake: read the features and options that the program announces.

        As in games, the program has ``start_ms`` until its first feature. If it then sends ``done=0``, it has
        ``start_ms`` again until ``done=1``.
        """
        client = self.client

        def is_introduced(line: str) -> bool:
            return client.receive(line) == "done"

        def has_begun(line: str) -> bool:
            return is_introduced(line) or client.needs_time or bool(client.features)

        self.send(*client.hello())
        lines = self.read_until(has_begun, self.settings.start_ms, "feature")
        if not client.is_idle and not client.needs_time:
            lines += self.read_for(xboard.FEATURES_MS, is_introduced)
        if not client.is_idle and client.needs_time:
            lines += self.read_until(is_introduced, self.settings.start_ms, "feature done=1")
        client.give_up_features()
        self.name = client.engine_name
        self.announced = [
            (value, xboard.parse_option(value))
            for line in lines if line.startswith("feature")
            for feature, value in xboard.parse_features(line) if feature == "option"
        ]  # fmt: skip
        if client.has("nps"):
            self.limits |= {"nodes"}

    def configure(self) -> None:
        """Accept the announced features and set the options; raises ``PlayerFault`` if the game is not supported."""
        self.client.check_variant(REGISTERED[self.settings.game].xboard_variants[0])
        self.send(*self.client.acknowledgements(), *self.option_lines(self.settings.options))
        forced = uci.forced_first_rank(self.settings.options)
        if forced is not None:
            self.knowledge.first_rank = forced
        self._learn_depth()

    @property
    def can_synchronise(self) -> bool:
        """Whether the program supports ``ping``."""
        return self.client.has("ping")

    def _new_game(self, mode: str = "easy") -> list[str]:
        return self.client.new_game_lines(REGISTERED[self.settings.game].xboard_variants[0], mode)

    def begin_game(self) -> None:
        """Begin a new game with ``new`` and ``force``, so that the program records moves without playing."""
        self._game = None
        self.send(*self._new_game())
        self.settled()

    def _learn_depth(self) -> None:
        """Find out whether the program supports ``sd``; if it does not, its searches are limited by time instead."""
        if self.knowledge.knows_depth is None:
            self.send(f"sd {self.settings.depth}")
            self.knowledge.knows_depth = not any(line.startswith(xboard.REFUSALS) for line in self.settled())
            self._depth_was_sent = self.knowledge.knows_depth
        if self.knowledge.knows_depth is False:
            self.limits -= {"depth"}

    @property
    def ordinary(self) -> Limits:
        """Limits of a short search: a depth limit, or one second if the program is known not to support it."""
        return Limits(move_time_ms=1000) if self.knowledge.knows_depth is False else super().ordinary

    def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Send the moves that the program does not know yet, then ``go``; sends all moves if another game has begun."""
        self._set_up(position, limits)
        self._go(position, clock)

    def _go(self, position: Position, clock: PlayerClock | None) -> None:
        self._side = position.side_to_move
        self.ask_for_search(*self.client.clock_lines(clock), "go")

    def _set_up(self, position: Position, limits: Limits, mode: str = "easy") -> None:
        """Send the game up to ``position``, without asking for a move; raises ``Failed`` if the program refuses it.

        ``mode`` is ``hard`` to let the program ponder, else ``easy``. Raises ``LimitRemains`` if ``limits`` has no
        depth but this process has received a depth limit. The command ``new`` should cancel that limit, but many
        engines keep it, and some then ignore the clock.
        """
        if self._depth_was_sent and limits.depth is None:
            raise LimitRemains
        self._depth_was_sent |= limits.depth is not None
        if self._game == (position.start, limits) and position.moves[: len(self._known)] == self._known:
            lines = ["force", *self._moves(position.moves[len(self._known) :])]
        else:
            limit_lines = xboard.limit_commands(limits, self.settings.timeout_ms)
            start = [] if position.start == position.game.start else [self._set_board(position.start)]
            lines = [*self._new_game(mode), *limit_lines, *start, *self._moves(position.moves)]
        self._game, self._known = (position.start, limits), list(position.moves)
        self.send(*lines)
        for line in self.settled():
            if xboard.is_refusal(line):
                raise Failed("failure.refused", command=lines[-1], said=line)

    def _set_board(self, position: str) -> str:
        if not self.client.has("setboard"):
            raise Skipped("skip.feature", name="setboard")
        return xboard.setboard_command(position, self.name)

    def _moves(self, moves: Sequence[str]) -> list[str]:
        return self.client.move_lines(map(self.write_move, moves))

    def is_answer(self, line: str) -> bool:
        return xboard.is_answer(line)

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> SearchAnswer:
        """Read the answer: a move, which the program has also played on its own board, or a resignation."""
        *before, line = lines
        said = xboard.parse_move(line)
        move = None if said is None else self._read_in_game(xboard.bare_move(said))
        if move is not None:
            self._known.append(move)
        else:
            self._game = None
        has_resigned = first_word(line) in ("resign", xboard.LOSSES[self._side])
        return SearchAnswer(line, said, move, elapsed_ms, tuple(before), has_resigned=has_resigned)

    def _read_in_game(self, said: str) -> str | None:
        """Convert a move of the program; like the arena, accepts notations that depend on the position, as ``O-O``."""
        if self._game is None or self.settings.game in RANKED:
            return self.read_move(said)
        return self.texts.read(said, game_named(self.settings.game).position(self._game[0], self._known))

    @property
    def declared_first_rank(self) -> int | None:
        """Number of the lowest rank in Xiangqi: 0, as on all boards with ten ranks."""
        return 0 if self.settings.game in RANKED else super().declared_first_rank

    def send_illegal_position(self) -> None:
        """Send a ``setboard`` with an invalid board and side to move."""
        line = self._set_board("9/9/x/44 z - - 0 1")
        self._game = None
        self.send(*self._new_game(), line)

    def send_illegal_move(self, position: Position, move: str) -> None:
        """Set up the position, then send the illegal move as the opponent's."""
        self._set_up(position, self.ordinary)
        self._game = None
        self.send(*self._moves([move]))

    def ask_in_finished_game(self, position: Position) -> None:
        """Ask for a move after the end of the game; the program may claim a result or stay silent, but not move."""
        self._set_up(position, self.ordinary)
        self._game = None
        self._go(position, None)
        for line in [*self.read_for(self.settings.quiet_ms), *self.settled()]:
            if xboard.parse_move(line) is not None:
                raise Failed("failure.moved_after_end", said=line)

    def interrupt_nothing(self) -> None:
        """Send ``?`` while the program only follows a game; raises ``Failed`` if it answers with a move."""
        self._set_up(game_named(self.settings.game).position(), self.ordinary)
        super().interrupt_nothing()

    def search_to_ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> SearchAnswer:
        """Switch on pondering with ``hard``, then search; afterwards the program ponders on a reply of its choice."""
        self._game = None
        self._set_up(position, limits, "hard")
        self._go(position, clock)
        return self.answer(clock.remaining_ms)

    def ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        """Do nothing: an xboard engine ponders without a command."""

    def hit(self, position: Position, clock: PlayerClock) -> SearchAnswer:
        """Send the clock and the opponent's move, and wait for the answer."""
        self._side, self._known = position.side_to_move, list(position.moves)
        self.ask_for_search(*self.client.clock_lines(clock), *self._moves(position.moves[-1:]))
        answer = self.answer(clock.remaining_ms)
        self._game = None
        return answer

    def miss(self, position: Position, limits: Limits, clock: PlayerClock) -> SearchAnswer:
        """Send the opponent's move as ``hit`` does: only the program knows which reply it expected."""
        return self.hit(position, clock)

    @property
    def options(self) -> Mapping[str, AnnouncedOption]:
        """The announced options, with ``memory`` and ``cores`` added if the program announces these features."""
        return self.client.all_options

    def option_lines(self, options: Sequence[tuple[str, str]]) -> list[str]:
        """The lines that set options: ``option NAME=VALUE``, or the commands ``memory`` and ``cores``."""
        return xboard.option_commands(options, self.client.options, self.client.features)

    def read_information(self, line: str) -> SearchLine | None:
        """Parse a line of thinking output, except the variation, whose notation is free; ``None`` for other lines."""
        found = xboard.parse_thinking(line)
        if found == Information():
            return None
        return SearchLine(found.depth, found.nodes, found.score is not None)
