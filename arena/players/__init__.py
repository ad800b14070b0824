"""Players of every kind behind one interface, and the one place that knows which kinds there are."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.settings.limits import Limits

if TYPE_CHECKING:
    from arena.players.contract import Player
    from arena.records import PlayerSpec
    from engine.search_statistics import SearchStatisticsSettings

PROTOCOLS = ("builtin", "uci", "gtp", "nboard")
"""What ``PlayerSpec.protocol`` may be."""
EXPECTED_PROTOCOLS = f"{', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}"
"""The same in words."""

PROTOCOL_GAMES = {"uci": ("xiangqi",), "gtp": ("othello",), "nboard": ("othello",)}
"""The games that external engines can play over each protocol."""


class PlayerError(UserError):
    """A player that no harness could run as specified; the message names the player, the key and the remedy."""


def check_player(spec: PlayerSpec, game: str, where: str = "") -> None:
    """Raise ``PlayerError`` if the specification itself is at fault; starts nothing and looks for no program.

    ``where`` names the file in errors.
    """
    place = f"{where}: player {spec.name!r}" if where else f"player {spec.name!r}"
    if spec.protocol not in PROTOCOLS:
        near = difflib.get_close_matches(spec.protocol, PROTOCOLS, 1, 0.4)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise PlayerError(f"{place}: protocol = {spec.protocol!r}, expected {EXPECTED_PROTOCOLS}{hint}")
    if spec.limits == Limits() and spec.protocol != "gtp":
        raise PlayerError(f"{place}: no limit; give a depth, nodes, a move_time or a clock")
    if spec.protocol != "builtin":
        _check_external(spec, game, place)


def _check_external(spec: PlayerSpec, game: str, place: str) -> None:
    games = PROTOCOL_GAMES[spec.protocol]
    if game not in games:
        others = [protocol for protocol in PROTOCOL_GAMES if game in PROTOCOL_GAMES[protocol]]
        raise PlayerError(
            f"{place}: {game} cannot be played over {spec.protocol}, only {', '.join(games)} can; for {game} use "
            f"{' or '.join(others)}"
        )
    if not spec.command or not spec.command[0]:
        raise PlayerError(f"{place}: command is missing; give the program and its arguments")
    if spec.limits.clock_kind != "wall":
        raise PlayerError(
            f"{place}: an external engine cannot play on the {spec.limits.clock_kind} clock, which only the built-in "
            f"engine can measure; use a wall clock, nodes or a depth"
        )
    if spec.restart not in ("on_fault", "always"):
        raise PlayerError(f"{place}: restart = {spec.restart!r}, expected on_fault or always")
    if spec.ponder and spec.protocol != "uci":
        raise PlayerError(f"{place}: ponder = true, but {spec.protocol} has no pondering; set ponder = false there")
    for key, value, least in (
        ("start_timeout_ms", spec.start_timeout_ms, 1),
        ("margin_ms", spec.margin_ms, 0),
        ("watchdog_ms", spec.watchdog_ms, 1),
    ):
        if value < least:
            raise PlayerError(f"{place}: {key} = {value}, expected at least {least}")
    mistake = _mistake_in_the_protocol(spec)
    if mistake:
        raise PlayerError(f"{place}: {mistake}")


def _mistake_in_the_protocol(spec: PlayerSpec) -> str:
    """What the player's protocol cannot express; empty if nothing."""
    if spec.protocol == "uci":
        from arena.players.contract import PlayerFault
        from arena.players.uci import forced_first_rank

        try:
            forced_first_rank(spec.options)
        except PlayerFault as fault:
            return fault.text
    elif spec.protocol == "gtp":
        from arena.players.gtp import mistake_in

        return mistake_in(spec)
    elif spec.protocol == "nboard":
        from arena.players.nboard import mistake_in

        return mistake_in(spec)
    return ""


def make_player(spec: PlayerSpec, game: str, search_statistics: SearchStatisticsSettings | None = None) -> Player:
    """A player for one thread, not yet started. Raises ``PlayerError`` as ``check_player`` does.

    ``instruments`` is what a built-in player counts beside playing; others count nothing.
    """
    check_player(spec, game)
    if spec.protocol == "builtin":
        from arena.players.builtin import BuiltinPlayer

        return BuiltinPlayer(spec, game, search_statistics)
    if spec.protocol == "gtp":
        from arena.players.gtp import GtpPlayer

        return GtpPlayer(spec, game)
    if spec.protocol == "nboard":
        from arena.players.nboard import NBoardPlayer

        return NBoardPlayer(spec, game)
    from arena.players.uci import UciPlayer

    return UciPlayer(spec, game)
