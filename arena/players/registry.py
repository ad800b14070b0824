"""The protocols that players speak, and the one place that knows which there are.

Adding a protocol is a module that exports its one ``PROTOCOL``, and a line in ``_MODULES``.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elolab.engine.errors import UserError
from elolab.engine.settings.keys import Section
from elolab.engine.settings.limits import Limits

if TYPE_CHECKING:
    from elolab.arena.players.contract import Player
    from elolab.arena.records import PlayerSpec
    from elolab.engine.search_statistics import SearchStatisticsSettings
    from elolab.engine.settings.configuration import Table

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
"""What ``PlayerSpec.protocol`` may be."""
EXPECTED_PROTOCOLS = f"{', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}"
"""The same in words."""
DEFAULT_PROTOCOL = PROTOCOLS[0]
"""That of a player that names none."""


NO_KEYS = Section("no keys")


class PlayerError(UserError):
    """A player that no harness could run as specified; the message names the player, the key and the remedy."""


def _no_mistake(spec: PlayerSpec) -> str:
    return ""


def _nothing_of_its_own(table: Table) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Greeting:
    """How a program that speaks a protocol is recognised: what it is told first, and what it then says."""

    lines: tuple[str, ...]
    """They must harm no program that speaks another protocol."""
    is_answer: Callable[[str], bool]
    """Whether a line is what only programs that speak the protocol say, and none that repeats what it is told."""
    is_refusal: Callable[[str], bool] = lambda line: False
    """Whether a line says that the program knows another protocol, even if its answer would be the same."""


@dataclass(frozen=True)
class Protocol:
    """One way to talk to players; all that the arena has to know of it."""

    name: str
    """The value of ``protocol`` under ``[[players]]``."""
    title: str
    """How people write it."""
    player: Callable[[PlayerSpec, str, SearchStatisticsSettings | None], Player]
    """A player of a game, not yet started; the settings are for players that can count what they do."""
    games: tuple[str, ...] | None = None
    """The games that can be played over it; ``None`` is all of them."""
    is_external: bool = True
    """Whether its players are programs: with a command, a process, a deadline for moves, and wall clocks only."""
    keys: Section = NO_KEYS
    """Keys under ``[[players]]`` beside those that all external engines have."""
    read: Callable[[Table], Mapping[str, Any]] = _nothing_of_its_own
    """Reads ``keys`` into fields of ``PlayerSpec``, checked; raises ``ConfigurationError``."""
    check: Callable[[PlayerSpec], str] = _no_mistake
    """What the protocol cannot express in a player's specification, and what would be right; empty if nothing."""
    remedy: str = ""
    """How an engine is set up over it, in the words of the file: after "take", instead of a key that it lacks."""
    can_ponder: bool = False
    """Whether its players can think on the opponent's time."""
    has_own_level: bool = False
    """Whether its players may play without a limit, at a level of their own."""
    knows_nodes: bool = True
    """Whether all its engines can be told of nodes: otherwise a limit that nobody asked for has none."""
    unreachable: Callable[[str], str] | None = None
    """Of a protocol that tells openings as moves from the start: what is wrong with one that no moves lead to."""
    greeting: Greeting | None = None
    """How programs that speak it are recognised; ``None`` where the protocol always has to be named."""

    @property
    def has_options(self) -> bool:
        """Whether its players have options (``PlayerSpec.options``)."""
        return "options" in self.keys


@functools.cache
def protocol_named(name: str) -> Protocol:
    """The protocol of that name, one of ``PROTOCOLS``."""
    protocol: Protocol = importlib.import_module(_MODULES[name]).PROTOCOL
    return protocol


def protocols() -> list[Protocol]:
    """All protocols, the built-in engine's first."""
    return [protocol_named(name) for name in PROTOCOLS]


def check_player(spec: PlayerSpec, game: str, where: str = "") -> None:
    """Raise ``PlayerError`` if the specification itself is at fault; starts nothing and looks for no program.

    ``where`` names the file in errors.
    """
    place = f"{where}: player {spec.name!r}" if where else f"player {spec.name!r}"
    if spec.protocol not in PROTOCOLS:
        near = difflib.get_close_matches(spec.protocol, PROTOCOLS, 1, 0.4)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise PlayerError(f"{place}: protocol = {spec.protocol!r}, expected {EXPECTED_PROTOCOLS}{hint}")
    protocol = protocol_named(spec.protocol)
    if spec.limits == Limits() and not protocol.has_own_level:
        raise PlayerError(f"{place}: no limit; give a depth, nodes, a move_time or a clock")
    if protocol.games is not None and game not in protocol.games:
        others = [other.name for other in protocols() if other.games is not None and game in other.games]
        raise PlayerError(
            f"{place}: {game} cannot be played over {protocol.name}, only {', '.join(protocol.games)} can; for {game} "
            f"use {' or '.join(others) or DEFAULT_PROTOCOL}"
        )
    if protocol.is_external:
        _check_external(spec, place)
    if spec.ponder and not protocol.can_ponder:
        raise PlayerError(f"{place}: ponder = true, but {protocol.name} has no pondering; set ponder = false there")
    mistake = protocol.check(spec)
    if mistake:
        raise PlayerError(f"{place}: {mistake}")


def _check_external(spec: PlayerSpec, place: str) -> None:
    if not spec.command or not spec.command[0]:
        raise PlayerError(f"{place}: command is missing; give the program and its arguments")
    if spec.limits.clock_kind != "wall":
        raise PlayerError(
            f"{place}: an external engine cannot play on the {spec.limits.clock_kind} clock, which only the built-in "
            f"engine can measure; use a wall clock, nodes or a depth"
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
    """A player for one thread, not yet started. Raises ``PlayerError`` as ``check_player`` does.

    ``search_statistics`` is what a built-in player counts beside playing; others count nothing.
    """
    check_player(spec, game)
    return protocol_named(spec.protocol).player(spec, game, search_statistics)
