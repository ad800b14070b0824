"""Players of every kind behind one interface, and the one place that knows which kinds there are."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from engine.errors import UserError

if TYPE_CHECKING:
    from arena.players.contract import Player
    from arena.records import PlayerSpec
    from engine.instruments import InstrumentSettings

PROTOCOLS = ("builtin", "uci")
"""What ``PlayerSpec.protocol`` may be."""


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
        raise PlayerError(f"{place}: protocol = {spec.protocol!r}, expected {' or '.join(PROTOCOLS)}{hint}")
    if not spec.limits.is_timed and spec.limits.depth is None and spec.limits.nodes is None:
        raise PlayerError(f"{place}: no limit; give a depth, nodes, a move_time or a clock")
    if spec.protocol != "builtin":
        _check_external(spec, game, place)


def _check_external(spec: PlayerSpec, game: str, place: str) -> None:
    from arena.players.contract import PlayerFault
    from arena.players.uci import VARIANTS, forced_first_rank

    if game not in VARIANTS:
        raise PlayerError(f"{place}: {game} cannot be played over {spec.protocol}, only {', '.join(VARIANTS)} can")
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
    try:
        forced_first_rank(spec.options)
    except PlayerFault as fault:
        raise PlayerError(f"{place}: {fault.text}") from None


def make_player(spec: PlayerSpec, game: str, instruments: InstrumentSettings | None = None) -> Player:
    """A player for one thread, not yet started. Raises ``PlayerError`` as ``check_player`` does.

    ``instruments`` is what a built-in player counts beside playing; others count nothing.
    """
    check_player(spec, game)
    if spec.protocol == "builtin":
        from arena.players.builtin import BuiltinPlayer

        return BuiltinPlayer(spec, game, instruments)
    from arena.players.uci import UciPlayer

    return UciPlayer(spec, game)
