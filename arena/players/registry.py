"""The registry of player protocols. Each protocol has a module with a ``PROTOCOL``, and an entry in ``_MODULES``."""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elolab.engine.errors import UserError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.schema import Schema, declare

if TYPE_CHECKING:
    from elolab.arena.players.player import Player
    from elolab.arena.records import PlayerSpec
    from elolab.engine.search_statistics import SearchStatisticsSettings
    from elolab.engine.settings.schema import Table

_MODULES = {
    "builtin": "elolab.arena.players.builtin",
    "uci": "elolab.arena.protocols.uci",
    "ucci": "elolab.arena.protocols.ucci",
    "ucicyclone": "elolab.arena.protocols.ucicyclone",
    "xboard": "elolab.arena.protocols.xboard",
    "gtp": "elolab.arena.protocols.gtp",
    "nboard": "elolab.arena.protocols.nboard",
}

PROTOCOLS = tuple(_MODULES)
"""Valid values of ``PlayerSpec.protocol``."""
EXPECTED_PROTOCOLS = f"{', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}"
"""English list of the protocols' names, for messages."""
DEFAULT_PROTOCOL = PROTOCOLS[0]
"""Protocol of a player whose table does not specify one."""


NO_KEYS = declare("elolab.arena.keys", "player", "no keys")


class PlayerError(UserError):
    """Raised for an invalid specification of a player; the message names the player, the key and the remedy."""


def _no_mistake(spec: PlayerSpec) -> PlayerError | None:
    return None


def _nothing_of_its_own(table: Table) -> dict[str, Any]:
    return {}


Converse = Callable[[Sequence[str], Callable[[str], bool]], Sequence[str]]
"""Function that sends lines to a program and returns its output.

The output ends with the first line that the second argument accepts, or after a short wait.
"""


@dataclass(frozen=True)
class Greeting:
    """Lines to send to a program whose protocol is unknown, and tests of its answer."""

    lines: tuple[str, ...]
    """Lines to send; they must be harmless to programs that use other protocols."""
    is_answer: Callable[[str], bool]
    """Function that returns whether a line of output, other than an echo, proves that this protocol is used."""
    is_refusal: Callable[[str], bool] = lambda line: False
    """Function that returns whether a line shows that the program uses another protocol.

    Only needed if programs with another protocol could later send a line that ``is_answer`` accepts.
    """


@dataclass(frozen=True)
class Protocol:
    """A protocol of players: its name, its features, and the functions that elolab calls."""

    name: str
    """The value of ``protocol`` under ``[[players]]``."""
    title: str
    """Name of the protocol in texts for users."""
    player: Callable[[PlayerSpec, str, SearchStatisticsSettings | None], Player]
    """Function that creates a player without starting it.

    Its arguments are the specification, the name of the game, and the settings for counting search events, or ``None``.
    """
    games: tuple[str, ...] | None = None
    """Names of the games that the protocol supports; ``None`` for all."""
    is_external: bool = True
    """Whether players are external programs.

    Only external players have a command, a process and a deadline for each move; their clocks are always wall clocks.
    """
    keys: Schema = NO_KEYS
    """Keys of ``[[players]]`` that are specific to this protocol."""
    read: Callable[[Table], Mapping[str, Any]] = _nothing_of_its_own
    """Function that reads ``keys`` as fields of ``PlayerSpec``; raises ``ConfigurationError`` for a wrong value."""
    check: Callable[[PlayerSpec], PlayerError | None] = _no_mistake
    """Function that returns the error for a player specification that is not supported, otherwise ``None``."""
    remedy: str = ""
    """Advice in error messages for a key that the protocol does not have: the setting to use instead."""
    can_ponder: bool = False
    """Whether players can ponder."""
    has_own_level: bool = False
    """Whether players may play without a limit: the program then chooses its own time for each move."""
    default_limit: str = "nodes=1000"
    """Search limit of players that specify none; every engine with this protocol supports it."""
    unreachable: Callable[[str], str] | None = None
    """Function that returns an error message for an opening (a FEN) that cannot be reached by moves.

    ``None`` if the protocol can send positions.
    """
    find_games: Callable[[Converse], tuple[str, ...]] | None = None
    """Function that finds out which games a program plays; ``None`` if each plays all games of the protocol."""
    greeting: Greeting | None = None
    """Greeting that detects programs with this protocol; ``None`` if the protocol cannot be detected."""

    @property
    def has_options(self) -> bool:
        """Whether players of this protocol have options (``PlayerSpec.options``)."""
        return "options" in self.keys


@functools.cache
def protocol_named(name: str) -> Protocol:
    """The protocol with this name, one of ``PROTOCOLS``."""
    protocol: Protocol = importlib.import_module(_MODULES[name]).PROTOCOL
    return protocol


def protocols() -> list[Protocol]:
    """All protocols; the built-in engine's protocol is the first."""
    return [protocol_named(name) for name in PROTOCOLS]


def check_player(spec: PlayerSpec, game: str, where: str = "") -> None:
    """Raise ``PlayerError`` if a specification is invalid; does not look for the program or start it.

    ``where`` names the file in error messages.
    """
    place = f"{where}: player {spec.name!r}" if where else f"player {spec.name!r}"
    if spec.protocol not in PROTOCOLS:
        near = difflib.get_close_matches(spec.protocol, PROTOCOLS, 1, 0.4)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise PlayerError(f"{place}: protocol = {spec.protocol!r}, expected {EXPECTED_PROTOCOLS}{hint}")
    protocol = protocol_named(spec.protocol)
    if spec.limits == Limits() and not protocol.has_own_level:
        raise PlayerError(f"{place}: no limit", "give a depth, nodes, a move_time or a clock")
    if protocol.games is not None and game not in protocol.games:
        others = [other.name for other in protocols() if other.games is not None and game in other.games]
        raise PlayerError(
            f"{place}: {game} cannot be played over {protocol.name}, only {', '.join(protocol.games)} can",
            f"for {game} use {' or '.join(others) or DEFAULT_PROTOCOL}",
        )
    if protocol.is_external:
        _check_external(spec, place)
    if spec.ponder and not protocol.can_ponder:
        raise PlayerError(f"{place}: ponder = true, but {protocol.name} has no pondering", "set ponder = false there")
    if mistake := protocol.check(spec):
        raise PlayerError.at(place, mistake)


def _check_external(spec: PlayerSpec, place: str) -> None:
    if not spec.command or not spec.command[0]:
        raise PlayerError(f"{place}: command is missing", "give the program and its arguments")
    if spec.limits.clock_kind != "wall":
        raise PlayerError(
            f"{place}: an external engine cannot play on the {spec.limits.clock_kind} clock, which only the built-in "
            f"engine can measure",
            "use a wall clock, nodes or a depth",
        )
    if spec.restart not in ("on_fault", "always"):
        raise PlayerError(f"{place}: restart = {spec.restart!r}, expected on_fault or always")
    for key, value, least in (
        ("start_timeout_ms", spec.start_timeout_ms, 1),
        ("margin_ms", spec.margin_ms, 0),
        ("watchdog_ms", spec.watchdog_ms, 1),
    ):
        if value < least:
            raise PlayerError(f"{place}: {key} = {value}, expected at least {least}")


def make_player(spec: PlayerSpec, game: str, search_statistics: SearchStatisticsSettings | None = None) -> Player:
    """Create a player, for use by one thread, without starting it; raises ``PlayerError`` as ``check_player`` does.

    ``search_statistics`` selects the events that a built-in player counts; other players ignore it.
    """
    check_player(spec, game)
    return protocol_named(spec.protocol).player(spec, game, search_statistics)
