"""Players over UCI.

In Xiangqi, engines with ``UCI_Variant``, like Fairy-Stockfish, give the first rank the number 1; others, like Cyclone,
give it 0. In chess, ``UCI_Chess960`` is set for a game from a position with castling rights that standard chess does
not have; castling is then written as the king's move to its own rook. Both ways of writing castling are read.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elolab.arena.players.announced_options import AnnouncedOption, unknown_option
from elolab.arena.players.external import canonical_position, move_style
from elolab.arena.players.player import Fault, PlayerClock, PlayerFault, Reply, first_word
from elolab.arena.players.registry import Converse, Greeting, PlayerError, Protocol
from elolab.arena.protocols.move_texts import RANKED, GameMoves, MoveTexts, RankedMoves, detect_first_rank
from elolab.arena.protocols.uci_family import (
    GameLine,
    UciFamilyClient,
    UciFamilyPlayer,
    parse_best_move,
    parse_information,
    parse_option,
)
from elolab.engine.games import game_named, games_over
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.toml_values import format_toml

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.compiled.program_games import ProgramSide
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.settings.schema import Table

RANKS_OPTION = "ranks"
"""Option for the number of the first rank: 0, 1 or ``auto`` (default); elolab reads it and does not send it."""

OFF_WHERE_ABSENT = ("use nnue",)
"""Names of options, in lower case, that a player may set to false even if the engine lacks them.

An engine without the option lacks the feature too, so false changes nothing.
"""

CHESS960_OPTION = "UCI_Chess960"
"""Option of engines that play Chess960. If it is true, castling is written as the king's move to its own rook."""
CHESS960_STYLE = "chess960"
"""The notation (``Game.move_style``) of moves while ``UCI_Chess960`` is true."""
PONDER_OPTION = "Ponder"
"""Option of engines that can ponder; elolab sets it to true if the player ponders."""

_NEW_GAME = "ucinewgame"
_ANNOUNCEMENT = f"{_NEW_GAME}\nisready"
"""The lines that announce a game in which moves have the same notation as in the previous game."""

# --- Writing lines ----------------------------------------------------------------------------------------------------


def option_commands(
    options: Sequence[tuple[str, str]], announced: Mapping[str, AnnouncedOption], variant: str = ""
) -> list[str]:
    """The commands that set a player's options. The keys of ``announced`` are the names of the engine's options in
    lower case.

    If the engine has ``UCI_Variant`` and the player does not set it, the first command sets it to ``variant``, unless
    ``variant`` is empty. Raises ``PlayerFault`` (``startup_failure``) for an invalid value or an option that the engine
    did not announce; the message suggests the most similar option.
    """
    wanted = [(name, value) for name, value in options if name.lower() != RANKS_OPTION]
    if variant and "uci_variant" in announced and all(name.lower() != "uci_variant" for name, _ in wanted):
        wanted.insert(0, ("UCI_Variant", variant))
    commands = []
    for name, value in wanted:
        option = announced.get(name.lower())
        if option is not None:
            if option.must_be_sent(str(value)):
                commands.append(option.command(str(value)))
        elif name.lower() not in OFF_WHERE_ABSENT or str(value).lower() not in ("false", "off", "0"):
            raise unknown_option(name, announced)
    return commands


def ponder_options(
    options: Sequence[tuple[str, str]], announced: Mapping[str, AnnouncedOption]
) -> list[tuple[str, str]]:
    """A player's options with ``Ponder`` set to true.

    The keys of ``announced`` are the names of the engine's options in lower case. Raises ``PlayerFault``
    (``startup_failure``) if the engine cannot ponder.
    """
    if PONDER_OPTION.lower() not in announced:
        raise PlayerFault(
            "startup_failure", f"ponder = true, but the engine has no option {PONDER_OPTION}; leave ponder out"
        )
    others = [(name, value) for name, value in options if name.lower() != PONDER_OPTION.lower()]
    return [*others, (PONDER_OPTION, "true")]


def _ponders_by_default(announced: Mapping[str, AnnouncedOption]) -> bool:
    option = announced.get(PONDER_OPTION.lower())
    return option is not None and option.kind == "check" and option.default == "true"


def forced_first_rank(options: Sequence[tuple[str, str]]) -> int | None:
    """The number of the first rank, 0 or 1, that the player's option ``ranks`` sets; ``None`` for ``auto``.

    Raises ``PlayerFault`` for other values.
    """
    for name, value in options:
        if name.lower() == RANKS_OPTION and str(value).lower() != "auto":
            if str(value) not in ("0", "1"):
                raise PlayerFault("startup_failure", f"option {RANKS_OPTION} = {value!r}: expected 0, 1 or auto")
            return int(value)
    return None


def mistake_in(spec: PlayerSpec) -> PlayerError | None:
    """The error for an invalid option ``ranks``, which elolab reads itself; ``None`` if it is valid."""
    try:
        forced_first_rank(spec.options)
    except PlayerFault as fault:
        return PlayerError(fault.text)
    return None


_OPTIONS = schema.declare(
    "elolab.arena.keys", "player", "options",
    others=schema.key(schema.VALUE, default=schema.COMPUTED, example=16, message="option"),
)  # fmt: skip
KEYS = schema.declare("elolab.arena.keys", "player", "uci", options=schema.table(_OPTIONS, example={"Hash": 16}))
"""Schema of the key ``options``, for all protocols that have options."""


def read_keys(table: Table) -> dict[str, Any]:
    """Read the keys of UCI players as fields of ``PlayerSpec``; raises ``ConfigurationError`` for bad options."""
    options = table["options"]
    seen: dict[str, str] = {}
    for name in options:
        twin = seen.setdefault(name.lower(), name)
        if twin != name:
            raise ConfigurationError(f"{table.where}: options: {twin} and {name} are the same option", "give one")
    return {"options": tuple((name, _written(table, name, value)) for name, value in options.items())}


def _written(table: Table, name: str, value: object) -> str:
    """Convert the value of the option ``name`` to text; raises ``ConfigurationError`` for a list or a table."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float) or "\n" in f"{name}{value}":
        raise ConfigurationError(
            f"{table.where}: options: {name} = {format_toml(value)}, expected a text, number, true or false"
        )
    return str(value)


def go_command(limits: Limits, clock: PlayerClock | None, side_to_move: int, *, ponder: bool = False) -> str:
    """The ``go`` command for a player's limits and clock, or ``go ponder``.

    ``side_to_move`` is 0 for the side that moves first in the game, which UCI calls white.
    """
    words = ["go ponder" if ponder else "go"]
    if clock is not None:
        own = (max(1, clock.remaining_ms), clock.increment_ms)
        # If the opponent has no clock, send the player's own time: some engines divide by it.
        other = own
        if clock.opponent_remaining_ms is not None:
            other = (max(1, clock.opponent_remaining_ms), clock.opponent_increment_ms)
        white, black = (own, other) if side_to_move == 0 else (other, own)
        words.append(f" wtime {white[0]} btime {black[0]} winc {white[1]} binc {black[1]}")
        if clock.moves_to_go:
            words.append(f" movestogo {clock.moves_to_go}")
    return "".join([*words, _limit_words(limits)])


def _limit_words(limits: Limits) -> str:
    """The part of a ``go`` command after the clocks: time per move, nodes and depth."""
    words = (("movetime", limits.move_time_ms), ("nodes", limits.nodes), ("depth", limits.depth))
    return "".join(f" {word} {number}" for word, number in words if number is not None)


def go_parts(limits: Limits, opponent: Limits, side_to_move: int) -> tuple[str, str, str]:
    """The constant parts of a game's ``go`` commands: before the two clock times, after them, and after ``movestogo``.

    ``limits`` has the player's limits, ``opponent`` the opponent's limits. ``side_to_move`` is as for ``go_command``.
    Without a clock, the first part is the whole command.
    """
    if limits.clock_ms is None:
        return go_command(limits, None, side_to_move), "", ""
    own = limits.increment_ms
    other = own if opponent.clock_ms is None else opponent.increment_ms
    white, black = (own, other) if side_to_move == 0 else (other, own)
    return "go wtime ", f" winc {white} binc {black}", _limit_words(limits)


def position_command(position: str, moves: Sequence[str], first_rank: int) -> str:
    """The ``position`` command for a FEN and the ICCS moves played from it.

    ``first_rank`` is 0 or 1, the number that the engine gives to the first rank.
    """
    return GameLine(position, RankedMoves(first_rank)).command(moves)


class UciClient(UciFamilyClient):
    """The client side of UCI: writes commands and reads answers. Does no input or output itself."""

    opening = ("uci", "uciok")
    answers = ("bestmove",)
    remarks = " string "

    read_option = staticmethod(parse_option)
    read_information = staticmethod(parse_information)


class UciPlayer(UciFamilyPlayer[UciClient]):
    """An external engine over UCI; see ``arena.players.player.Player``."""

    protocol_name = "UCI"

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game, UciClient)
        self._game_texts: GameMoves | None = None
        """Converts moves of the current game; ``None`` in the games of ``RANKED``."""
        self._is_chess960 = ""
        """Value of the engine's option ``UCI_Chess960``, ``true`` or ``false``; empty if it has no such option."""
        self._usual_go = go_command(spec.limits, None, 0)
        """The ``go`` command of a search without clock and pondering."""
        self._style = ""
        """The notation of moves in the current game (``Game.move_style``)."""
        self._unused_sides: list[ProgramSide] = []
        """Data with which compiled code has played ended games for this engine."""

    def _handshake(self, deadline_ns: int) -> None:
        """Greet the engine, set its options, and detect whether it numbers ranks from 0 or from 1."""
        self._converse(self._client.hello(), deadline_ns)
        options: Sequence[tuple[str, str]] = self.spec.options
        if self.spec.ponder:
            options = ponder_options(options, self._client.options)
        elif _ponders_by_default(self._client.options) and all(name.lower() != "ponder" for name, _ in options):
            options = [*options, (PONDER_OPTION, "false")]
        commands = option_commands(options, self._client.options, self._game)
        self._converse(self._client.synchronise(*commands), deadline_ns)
        if self._game in RANKED:
            self._learn_first_rank(deadline_ns)
        chess960 = self._client.options.get(CHESS960_OPTION.lower())
        given = {name.lower(): value for name, value in self.spec.options}
        self._is_chess960 = (
            "" if chess960 is None else chess960.check(given.get(chess960.name.lower(), chess960.default))
        )

    def _announcement(self, opening: Opening) -> list[str]:
        self._reading = Fault("ranks_from", rank=self._first_rank or 0) if self._game in RANKED else None
        return super()._announcement(opening)

    def _new_game_lines(self, opening: Opening) -> list[str]:
        return [*self._style_lines(opening), _NEW_GAME]

    def _style_lines(self, opening: Opening) -> list[str]:
        """Choose the notation of moves for a game; returns the command that switches ``UCI_Chess960``, if that is
        needed.

        Raises ``PlayerFault`` if the engine cannot play from the opening.
        """
        if self._game in RANKED:
            return []
        style = move_style(self._game, opening.position)
        self._style = style
        wanted = "true" if style == CHESS960_STYLE else "false"
        known = self._is_chess960
        if wanted == "true" and not known:
            raise self._failed("startup_failure", Fault("no_chess960", option=CHESS960_OPTION))
        if wanted == "false" and any(name.lower() == CHESS960_OPTION.lower() for name, _ in self.spec.options):
            wanted = known  # the user sets it for every game
        self._is_chess960 = wanted if known else ""
        self._game_texts = GameMoves(game_named(self._game), CHESS960_STYLE if wanted == "true" else style)
        return [self._client.options[CHESS960_OPTION.lower()].command(wanted)] if wanted != known and known else []

    @property
    def _texts(self) -> MoveTexts:
        return self._game_texts or super()._texts

    def _option_line(self, option: AnnouncedOption, value: str) -> str:
        return option.command(value)

    def _game_line(self, position: str) -> GameLine:
        return GameLine(position, self._texts)

    def announce_game(self, opening: Opening, stop: StopFlag) -> None:
        """Start the engine if necessary, and prepare the commands with which compiled code announces the game.

        If compiled code cannot play for this engine, this method calls ``new_game`` instead.
        """
        self._start_for_game(stop)
        process = self._running()
        self._is_announced = self._is_for_compiled_code and process.is_quiet
        if self._is_announced:
            process.ask(self._announcement(opening), self.spec.start_timeout_ms * 1_000_000)

    def note_ready(self) -> None:
        self._client.take_ready()
        self._is_announced = False
        self._games += 1

    @property
    def _is_for_compiled_code(self) -> bool:
        """Whether compiled code, which supports neither pondering nor stored dialogues, may play for this engine."""
        return not self.spec.ponder and self._running().dialogue.sink is None

    def program_side(self, side: int, opponent: Limits, noticed_ns: int) -> ProgramSide | None:
        """The data with which compiled code plays ``side`` for this engine.

        ``opponent`` has the opponent's limits. A move that the arena reads more than ``noticed_ns`` nanoseconds late
        counts as disturbed by other load on the machine. Returns ``None`` if the engine ponders or if its dialogue is
        stored; compiled code supports neither.
        """
        process, spec = self._running(), self.spec
        if not self._is_for_compiled_code:
            return None
        from elolab.engine.compiled.program_games import ProgramSide, move_words

        made_for = (side, process.talk, opponent, noticed_ns)
        with contextlib.suppress(IndexError):
            while (unused := self._unused_sides.pop()).made_for != made_for:
                pass
            unused.clear()
            return unused
        self._words = move_words((self._game, self._first_rank))
        return ProgramSide(
            process.talk, self._words, go_parts(spec.limits, opponent, side), spec.limits,
            margin_ms=spec.margin_ms, watchdog_ms=spec.watchdog_ms, noticed_ns=noticed_ns, made_for=made_for,
        )  # fmt: skip

    def release_side(self, side: ProgramSide) -> None:
        self._unused_sides.append(side)

    def prepare_game(self, opening: Opening, moves: Sequence[str], side: ProgramSide) -> GameLine | None:
        """Prepare a game for compiled code; see ``ExternalPlayer.prepare_game``.

        Returns the writer of the game's ``position`` commands; ``None`` if Python must start that game.
        """
        is_new_style = self._game not in RANKED and move_style(self._game, opening.position) != self._style
        if is_new_style or self.spec.restart == "always" or self._running().talk is not side.talk:
            return None
        line = self._game_line(canonical_position(self._game, opening.position))
        if not side.set_line(line.command(moves), line.has_moves):
            return None
        side.announce(_ANNOUNCEMENT, self.spec.start_timeout_ms * 1_000_000)
        return line

    def adopt_game(self, prepared: GameLine, moves: Sequence[str], side: ProgramSide, began_ns: int) -> None:
        self._line, self._learnt = prepared, (prepared, prepared.command(moves))
        self._client.synchronise()
        self._is_announced = True
        self._running().dialogue.sent(side.announcement, began_ns)

    def finish_move(self, position: Position, clock: PlayerClock | None, stop: StopFlag) -> Reply:
        self._client.think()  # sends nothing; the client then expects the answer
        return super().finish_move(position, clock, stop)

    def variation_reader(self) -> Callable[[str], str]:
        return functools.partial(self._texts.read_line, position=None)

    def _go(self, position: Position, clock: PlayerClock | None, *, ponder: bool) -> list[str]:
        if clock is None and not ponder:
            return [self._usual_go]
        return [go_command(self.spec.limits, clock, position.side_to_move, ponder=ponder)]

    def _learn_first_rank(self, deadline_ns: int) -> None:
        """Find out whether the engine numbers ranks from 0 or from 1.

        The option ``ranks`` decides, if set. Engines with ``UCI_Variant`` start at 1. Otherwise a search of the start
        position decides: every legal first move becomes illegal with the wrong number. Raises ``PlayerFault``
        (``startup_failure``) if that search gives no legal move, and for an engine of chess, which would crash in it.
        """
        forced = forced_first_rank(self.spec.options)
        if forced is not None:
            self._first_rank = forced
        elif "uci_variant" in self._client.options:
            self._first_rank = 1
        elif CHESS960_OPTION.lower() in self._client.options:
            raise self._failed("startup_failure", Fault("only_chess", option=CHESS960_OPTION))
        if self._first_rank is not None:
            return
        start = game_named(self._game).position()
        self._converse(self._client.think(position_command(start.text, (), 0), "go depth 1"), deadline_ns)
        said = parse_best_move(self._client.answer)
        self._first_rank = detect_first_rank(said or "", start.legal_moves())
        if self._first_rank is None:
            raise PlayerFault(
                "startup_failure",
                f"answered {self._client.answer!r} to the start position, which is not a legal move, whether ranks are "
                f"counted from 0 or from 1; does it play {self._game}?",
            )


def find_games(converse: Converse) -> tuple[str, ...]:
    """Find out which games a program plays; ``converse`` sends lines to the program and returns its answers.

    These are the games in the program's option ``UCI_Variant`` or, if only the option ``UCI_Chess960`` exists, chess.
    Without these options, the program's first move after ``position startpos`` shows the game.
    """
    options = {
        option.name.lower(): option
        for line in converse(("uci",), lambda line: line.strip() == "uciok")
        if (option := parse_option(line)) is not None
    }
    if "uci_variant" in options:
        # The option uses the same names of games as elolab.
        return tuple(game for game in games_over("uci") if game in options["uci_variant"].choices)
    if CHESS960_OPTION.lower() in options:
        return tuple(game for game in games_over("uci") if game not in RANKED)

    def asked(position: str) -> str | None:
        answer = converse(
            ("isready", f"position {position}", "go depth 1"), lambda line: first_word(line) == "bestmove"
        )
        return parse_best_move(answer[-1]) if answer else None

    said = asked("startpos")
    first_moves = {game: game_named(game).position().legal_moves() for game in games_over("uci")}
    found = tuple(
        game for game, legal in first_moves.items()
        if said is not None and (detect_first_rank(said, legal) is not None if game in RANKED else said in legal)
    )  # fmt: skip
    ranked, others = (tuple(game for game in found if (game in RANKED) == is_ranked) for is_ranked in (True, False))
    if not ranked or not others:
        return found
    # Moves such as b1c3 begin games of both kinds. A program of the other kind does not read this position, in which
    # the other side is to move, and cannot find a legal move in it.
    position = game_named(others[0]).position()
    position.push(position.legal_moves()[0])
    return others if asked(f"fen {position.text}") in position.legal_moves() else ranked


PROTOCOL = Protocol(
    name="uci",
    title="UCI",
    player=lambda spec, game, _: UciPlayer(spec, game),
    games=games_over("uci"),
    keys=KEYS,
    read=read_keys,
    check=mistake_in,
    remedy="options = {...}",
    can_ponder=True,
    find_games=find_games,
    greeting=Greeting(("uci",), lambda line: line == "uciok"),
)
