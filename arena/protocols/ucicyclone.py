"""Players over UCI-Cyclone, a dialect of UCI for Xiangqi alone, with ranks from 0 to 9.

Cyclone introduced the dialect; Pikafish and many others use it. The dialect has no ``UCI_Variant``, and the start of
the game is ``position startpos``. The protocol ``uci`` also works with these engines, but it needs a search during the
handshake to detect the ranks. Both protocols have the same greeting, so elolab cannot detect this one: set it as
``protocol``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elolab.arena.players.player import PlayerFault
from elolab.arena.players.registry import PlayerError
from elolab.arena.protocols import uci
from elolab.arena.protocols.uci import RANKS_OPTION, UciPlayer
from elolab.arena.protocols.uci_family import GameLine
from elolab.engine.games import game_named, games_over

if TYPE_CHECKING:
    from elolab.arena.records import PlayerSpec


def mistake_in(spec: PlayerSpec) -> PlayerError | None:
    """The error for a player specification that UCI-Cyclone does not support; otherwise ``None``."""
    if any(name.lower() == RANKS_OPTION for name, _ in spec.options):
        return PlayerError(
            f"option {RANKS_OPTION}: over ucicyclone ranks always count from 0", 'give protocol = "uci" for others'
        )
    return None


class UciCyclonePlayer(UciPlayer):
    """An external engine over UCI-Cyclone; see ``arena.players.player.Player``."""

    protocol_name = "UCI-Cyclone"

    def _game_line(self, position: str) -> GameLine:
        line = super()._game_line(position)
        if position == game_named(self._game).start:
            line.begin("startpos")
        return line

    def _learn_first_rank(self, deadline_ns: int) -> None:
        """Set ranks to count from 0; raises ``PlayerFault`` if the engine does not speak the dialect."""
        if "uci_variant" in self._client.options:
            raise PlayerFault(
                "startup_failure", 'has an option UCI_Variant, so it does not speak UCI-Cyclone; give protocol = "uci"'
            )
        self._first_rank = 0


PROTOCOL = replace(
    uci.PROTOCOL,
    name="ucicyclone",
    title="UCI-Cyclone",
    player=lambda spec, game, _: UciCyclonePlayer(spec, game),
    games=games_over("ucicyclone"),
    check=mistake_in,
    find_games=None,
    greeting=None,
)
