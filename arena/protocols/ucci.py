"""Players over UCCI 3.0, the protocol of most Xiangqi programs (www.xqbase.com, November 2007).

The specification leaves these decisions to the driver of an engine:

- **Time** is in milliseconds if the engine announces ``usemillisec``, which is then set, and in whole seconds
  otherwise. Fairy-Stockfish before version 14.1 counts milliseconds without announcing it. For other such engines, set
  ``time_unit``.
- **A fixed time per move** is sent as a clock with one move to go. A search has one limit: a depth, nodes or a time.
- **Positions** are sent as specified: the position after the last capture, with the moves since. An engine's moves
  may depend on how the position was reached; ``moves_since = "opening"`` sends all moves since the opening.
- **Moves that lose by the repetition rules** are forbidden by ``banmoves`` before each search, unless all moves lose.
- **Draws**: an engine's offer is sent to its opponent (``go draw``), see ``arena.play.game``.
- **Resignations**: ``resign`` ends the game only if the engine's score is losing too. Otherwise it counts as an answer
  without a move, like ``nobestmove`` in a position with legal moves. The position is then sent again, without the moves
  that led to it.
- **Stray answers**: an idle engine answers ``stop`` with ``nobestmove``. ``isready`` separates one search from the
  next. The handshake recognises older engines without that command, and one stray ``nobestmove`` is then ignored.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elolab.arena.players.announced_options import AnnouncedOption, unknown_option
from elolab.arena.players.external import QUOTED
from elolab.arena.players.player import Fault, NoMove, PlayerClock, PlayerFault, Reply, first_word, number_of
from elolab.arena.players.process import DeadlinePassed
from elolab.arena.players.registry import Greeting, PlayerError, Protocol
from elolab.arena.protocols import uci, uci_family
from elolab.arena.protocols.move_texts import RankedMoves
from elolab.arena.protocols.uci_family import GameLine, Information, UciFamilyClient, UciFamilyPlayer
from elolab.engine.games import games_over
from elolab.engine.settings import schema
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MATE

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.settings.schema import Table

TIME_UNITS = ("auto", "milliseconds", "seconds")
"""Values of the key ``time_unit``; ``auto`` chooses the unit from the engine's options and name."""
STARTS = ("capture", "opening")
"""Values of the key ``moves_since``: the engine receives the moves since the last capture, or since the opening."""
MILLISECONDS = "usemillisec"
"""The option with which an engine announces that it can count milliseconds."""
COUNT_MILLISECONDS = ("fairy-stockfish",)
"""Prefixes, in lower case, of the names of engines that count milliseconds without announcing it."""
NEW_GAME_BUTTONS = ("newgame", "clear_hash")
"""Options of type ``button`` that make an engine forget the last game; the first one that the engine has is used."""
READY_MS = 1_000
"""Milliseconds to wait for the first ``readyok``; an engine that sends none is assumed to lack ``isready``."""


def time_unit_of(spec: PlayerSpec) -> str:
    """The time unit that a player specification asks for: one of ``TIME_UNITS``."""
    return str(spec.protocol_key("time_unit", TIME_UNITS[0]))


def start_of_moves(spec: PlayerSpec) -> str:
    """The point from which an engine receives the moves of a game: one of ``STARTS``."""
    return str(spec.protocol_key("moves_since", STARTS[0]))


KEYS = schema.declare(
    "elolab.arena.keys", "player", "ucci", uci.KEYS,
    moves_since=schema.choice(STARTS, default=STARTS[0], example=STARTS[1]),
    time_unit=schema.choice(TIME_UNITS, default=TIME_UNITS[0], example=TIME_UNITS[1]),
)  # fmt: skip


def read_keys(table: Table) -> dict[str, Any]:
    """Read the keys that only UCCI players have; returns fields of ``PlayerSpec``."""
    own = tuple((key, table[key]) for key in ("moves_since", "time_unit"))
    return {**uci.read_keys(table), "protocol_keys": own}


def mistake_in(spec: PlayerSpec) -> PlayerError | None:
    """The error for a player specification that UCCI does not support; otherwise ``None``."""
    limits = spec.limits
    given = (limits.depth, limits.nodes, limits.move_time_ms, limits.clock_ms)
    if sum(limit is not None for limit in given) > 1:
        return PlayerError(
            f"limit = {str(limits)!r}, but UCCI has a depth, nodes, a time a move or a clock", "give one of them"
        )
    if spec.ponder and not limits.is_timed:
        return PlayerError(
            f"ponder = true with limit = {str(limits)!r}, but UCCI ponders on time alone", "give a clock"
        )
    if time_unit_of(spec) not in TIME_UNITS:
        return PlayerError(
            f"time_unit = {time_unit_of(spec)!r}, expected {', '.join(TIME_UNITS[:-1])} or {TIME_UNITS[-1]}"
        )
    if start_of_moves(spec) not in STARTS:
        return PlayerError(f"moves_since = {start_of_moves(spec)!r}, expected {' or '.join(STARTS)}")
    if any(name.lower() == MILLISECONDS for name, _ in spec.options):
        return PlayerError(
            f"option {MILLISECONDS} is set by itself", 'give time_unit = "seconds" if the engine shall not have it'
        )
    return None


# --- Lines ------------------------------------------------------------------------------------------------------------

_OPTION = re.compile(r"option\s+(?:name\s+)?(\S+)\s+(type\s+\w+)(.*)")
_PLAIN_SCORE = re.compile(r"\bscore\s+([+-]?\d+)")


def parse_option(line: str) -> AnnouncedOption | None:
    """Read an ``option NAME type ...`` line, in which the default comes last; ``None`` for any other line."""
    found = _OPTION.match(line)
    if found is None:
        return None
    name, kind, rest = found.groups()
    return uci_family.parse_option(f"option name {name} {kind}{rest}")


def parse_information(line: str) -> Information:
    """Read an ``info`` line; missing parts are ``None``. The score is a plain number or, as in UCI, has a unit."""
    information = uci_family.parse_information(line)
    if information.score is None:
        plain = _PLAIN_SCORE.search(re.split(r"\b(?:pv|message)\b", line, maxsplit=1)[0])
        if plain is not None:
            return information._replace(score=number_of(plain.group(1), MATE))
    return information


def option_command(option: AnnouncedOption, value: str) -> str:
    """The command that sets an option. Raises ``PlayerFault`` (``startup_failure``) for an invalid value."""
    return f"setoption {option.name}" if option.kind == "button" else f"setoption {option.name} {option.check(value)}"


def option_commands(options: Sequence[tuple[str, str]], announced: Mapping[str, AnnouncedOption]) -> list[str]:
    """The commands that set a player's options. The keys of ``announced`` are the names of the engine's options in
    lower case.

    Raises ``PlayerFault`` (``startup_failure``) for an option that the engine would reject. If the engine announces no
    options, all are sent, because some engines accept options without announcing any.
    """
    commands = []
    for name, value in options:
        option = announced.get(name.lower(), None if announced else AnnouncedOption(name, "string"))
        if option is None:
            raise unknown_option(name, announced)
        if option.must_be_sent(value):
            commands.append(option_command(option, value))
    return commands


def go_command(limits: Limits, clock: PlayerClock | None, unit_ms: int, mode: str = "") -> str:
    """The ``go`` command for a player's limits and clock, with times in units of ``unit_ms`` milliseconds.

    ``mode`` is ``ponder``, ``draw`` if the opponent offers a draw, or empty.
    """
    words = ["go", *([mode] if mode else [])]
    if limits.depth is not None:
        words.append(f"depth {limits.depth}")
    elif limits.nodes is not None:
        words.append(f"nodes {limits.nodes}")
    elif limits.move_time_ms is not None:
        words.append(f"time {limits.move_time_ms // unit_ms} movestogo 1")
    elif clock is not None:
        # Never send a time of 0: engines take it for no limit, or divide by it.
        words.append(f"time {max(1, clock.remaining_ms // unit_ms)}")
        if clock.moves_to_go:
            words.append(f"movestogo {clock.moves_to_go}")
        else:
            words.append(f"increment {clock.increment_ms // unit_ms}")
        if clock.opponent_remaining_ms is not None:
            words.append(f"opptime {max(1, clock.opponent_remaining_ms // unit_ms)}")
            if clock.opponent_moves_to_go:
                words.append(f"oppmovestogo {clock.opponent_moves_to_go}")
            else:
                words.append(f"oppincrement {clock.opponent_increment_ms // unit_ms}")
    return " ".join(words)


class UcciGameLine(GameLine):
    """Writes the ``position`` commands of one game: the position after the last capture, and the moves since."""

    def __init__(self, position: str) -> None:
        super().__init__(position, RankedMoves(0))

    def restart(self, position: str, moves: int) -> None:
        board, self._side, *rest = position.split()
        self._move_number = int(rest[-1])
        self._board = [letter for row in board.split("/") for letter in _expand(row)]
        super().restart(position, moves)

    def command(self, moves: Sequence[str]) -> str:
        for move in moves[self._moves :]:
            origin, end = _square(move[:2]), _square(move[2:])
            is_capture = self._board[end] != "."
            self._board[end], self._board[origin] = self._board[origin], "."
            self._move_number += self._side == "b"
            self._side = "wb"[self._side == "w"]
            if is_capture:
                self.begin(f"fen {self._text()}")
            else:
                self._written += f"{'' if ' moves ' in self._written else ' moves'} {move}"
        self._moves = len(moves)
        return self._written

    def command_after(self, moves: Sequence[str], expected: str) -> str:
        line = self.command(moves)
        return f"{line}{'' if ' moves ' in line else ' moves'} {expected}"

    def _text(self) -> str:
        """The current position as a FEN with a quiet-move counter of 0, so the last move must have been a capture."""
        rows = ("".join(self._board[first : first + 9]) for first in range(0, 90, 9))
        board = "/".join(re.sub(r"\.+", lambda empty: str(len(empty.group())), row) for row in rows)
        return f"{board} {self._side} - - 0 {self._move_number}"


def _expand(row: str) -> str:
    return re.sub(r"\d", lambda digit: "." * int(digit.group()), row)


def _square(name: str) -> int:
    return 9 * (9 - int(name[1])) + "abcdefghi".index(name[0])


def moves_that_lose(position: Position) -> list[str]:
    """The legal moves that lose the game at once by the rules, for example by perpetual check.

    Empty if all legal moves lose, because one of them must be played.
    """
    from elolab.engine.games.contract import decode_verdict

    kernels = position.game.kernels
    if not kernels.repetition_key(position.state):
        return []
    lost = ("0-1", "1-0")[position.side_to_move]
    codes, losing = position.move_codes(), []
    after = position.copy()
    for code in codes:
        kernels.make(after.state, code)
        kernels.in_check(after.state)  # the verdict uses its result
        if decode_verdict(int(kernels.judge(after.state, after.lists))).result == lost:
            losing.append(position.game.format_move(code))
        kernels.unmake(after.state)
    return losing if len(losing) < len(codes) else []


# --- The conversation -------------------------------------------------------------------------------------------------


class UcciClient(UciFamilyClient):
    """The client side of UCCI: writes commands and reads answers. Does no input or output itself."""

    opening = ("ucci", "ucciok")
    answers = ("bestmove", "nobestmove")
    remarks = " message "
    read_option = staticmethod(parse_option)
    read_information = staticmethod(parse_information)

    def __init__(self) -> None:
        super().__init__()
        self.knows_isready = True
        self._is_stopping = self._may_stray = False

    def do_without_isready(self) -> None:
        """Send no more ``isready``, because the engine does not answer it."""
        self.knows_isready = False
        self._due.discard("readyok")

    def synchronise(self, *before: str) -> list[str]:
        return super().synchronise(*before) if self.knows_isready else [*before]

    def stop(self) -> list[str]:
        """The commands that end a search: ``stop`` and, if the engine knows it, ``isready``.

        The client then expects the search's answer and ``readyok``, after which no late answer can follow.
        """
        self._is_stopping = not self.knows_isready
        return super().stop()

    def receive(self, line: str) -> str:
        """Process a line of the engine; returns its first word if the line was expected, else an empty text.

        Ignores the stray ``nobestmove`` that some engines send after a late ``stop``.
        """
        if self._may_stray and first_word(line) == "nobestmove":
            self._may_stray = False
            self.unexpected += 1
            return ""
        event = super().receive(line)
        if event in self.answers:
            self._may_stray, self._is_stopping = self._is_stopping, False
        return event


def new_game_button(options: Mapping[str, AnnouncedOption]) -> str:
    """Name of the button that announces a new game: the first of ``NEW_GAME_BUTTONS`` that the engine has.

    Returns ``NEW_GAME_BUTTONS[0]`` if the engine has no such button. The keys of ``options`` are the names of the
    engine's options in lower case.
    """
    name = next((name for name in NEW_GAME_BUTTONS if name in options), None)
    return NEW_GAME_BUTTONS[0] if name is None else options[name].name


# --- The player -------------------------------------------------------------------------------------------------------


class UcciPlayer(UciFamilyPlayer[UcciClient]):
    """An external engine over UCCI; see ``arena.players.player.Player``."""

    protocol_name = "UCCI"

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game, UcciClient)
        self._unit_ms = 1
        self._draw_is_offered = False

    @property
    def announced_options(self) -> Mapping[str, AnnouncedOption] | None:
        """The engine's options by lower-case name; ``None`` if it announced none, because it may still accept some."""
        return self._client.options or None

    def _handshake(self, deadline_ns: int) -> None:
        """Greet the engine, determine its time unit, and set its options."""
        self._converse(self._client.hello(), deadline_ns)
        announced = self._client.options
        options = list(self.spec.options)
        counts_milliseconds = MILLISECONDS in announced and time_unit_of(self.spec) != "seconds"
        if counts_milliseconds:
            options.insert(0, (MILLISECONDS, "true"))
        if self.spec.ponder and "ponder" in announced:
            options = [*((name, value) for name, value in options if name.lower() != "ponder"), ("ponder", "true")]
        self._unit_ms = self._settle_unit(counts_milliseconds)
        # Old engines do not answer isready; it is then not sent again.
        ready_ns = min(deadline_ns, time.monotonic_ns() + READY_MS * 1_000_000)
        try:
            self._converse(self._client.synchronise(*option_commands(options, announced)), ready_ns)
        except DeadlinePassed:
            self._client.do_without_isready()

    def _settle_unit(self, counts_milliseconds: bool) -> int:
        """Determine the engine's time unit; returns its length in milliseconds (1 or 1000).

        ``counts_milliseconds`` is true if the option ``usemillisec`` is switched on. Raises ``PlayerFault`` if a time
        of the player's limits is not a whole number of units.
        """
        unit, limits = time_unit_of(self.spec), self.spec.limits
        if unit == "auto":
            counts_milliseconds |= self._client.engine_name.lower().startswith(COUNT_MILLISECONDS)
            unit = "milliseconds" if counts_milliseconds else "seconds"
        if unit == "milliseconds":
            return 1
        if (limits.move_time_ms or 0) % 1000 or (limits.clock_ms or 0) % 1000:
            raise PlayerFault(
                "startup_failure",
                f"counts whole seconds (it has no option {MILLISECONDS}), so it cannot receive limit = "
                f'{str(limits)!r}; give whole seconds, or time_unit = "milliseconds" if it counts these all the same',
            )
        return 1000

    def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        self._draw_is_offered = False
        super()._begin_game(opening, deadline_ns, stop)

    def _new_game_lines(self, opening: Opening) -> list[str]:
        return [f"setoption {new_game_button(self._client.options)}"]

    def _option_line(self, option: AnnouncedOption, value: str) -> str:
        return option_command(option, value)

    def _game_line(self, position: str) -> GameLine:
        return UcciGameLine(position) if start_of_moves(self.spec) == "capture" else GameLine(position, RankedMoves(0))

    def hear_draw_offer(self) -> None:
        """Record a draw offer of the opponent; the next ``go`` command passes it on as ``draw``."""
        self._draw_is_offered = True

    def _go(self, position: Position, clock: PlayerClock | None, *, ponder: bool) -> list[str]:
        """The commands that forbid losing moves (``moves_that_lose``) and start a search.

        With ``ponder``, the search is a ponder search.
        """
        banned = self._banned(position)
        go = go_command(self.spec.limits, clock, self._unit_ms, "ponder" if ponder else self._offer())
        return [f"banmoves {' '.join(banned)}", go] if banned else [go]

    def _banned(self, position: Position) -> list[str]:
        return moves_that_lose(position)

    def _ponder_hit(self) -> str:
        return f"ponderhit {self._offer()}".rstrip()

    def _offer(self) -> str:
        """The word ``draw`` if a draw offer of the opponent is yet to be sent, else an empty text. Clears the offer."""
        offer, self._draw_is_offered = "draw" if self._draw_is_offered else "", False
        return offer

    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        line, score = self._client.answer, self._client.information().score
        words = line.split()
        if words[0] == "nobestmove":
            raise NoMove(Fault("answered", said=line[:QUOTED]), elapsed_ns, score)
        if words[-1] == "resign":
            raise self._resignation(line, elapsed_ns, score)
        return self._made_move(elapsed_ns, position)

    def _made_move(self, elapsed_ns: int, position: Position) -> Reply:
        reply = super()._made_move(elapsed_ns, position)
        return reply._replace(offers_draw=self._client.answer.split()[-1] == "draw")


PROTOCOL = Protocol(
    name="ucci",
    title="UCCI",
    player=lambda spec, game, _: UcciPlayer(spec, game),
    games=games_over("ucci"),
    keys=KEYS,
    read=read_keys,
    check=mistake_in,
    remedy="options = {...}",
    can_ponder=True,
    greeting=Greeting(("ucci",), lambda line: line == "ucciok"),
)
