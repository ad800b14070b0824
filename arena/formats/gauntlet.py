"""The gauntlet: a few players against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from elolab.arena.formats.round_robin import RoundRobin
from elolab.arena.tournament_spec import TournamentSpec


class Gauntlet(RoundRobin):
    """The first ``gauntlet_players`` players are challengers: each meets every other player, but no other challenger.

    The other players do not meet each other. Games are scheduled as in a round robin.
    """

    keys = ("gauntlet_players",)

    def encounters(self, spec: TournamentSpec) -> list[tuple[int, int]]:
        challengers = spec.gauntlet_players
        return list(product(range(challengers), range(challengers, len(spec.players))))

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """Yield the differences that prevent ``new`` from extending ``old``, each as key, old value and new value.

        The challengers, the first ``gauntlet_players`` players, must be the same in both.
        """
        yield from super().changes(old, new)
        before, now = ({player.name for player in spec.players[: spec.gauntlet_players]} for spec in (old, new))
        if before != now:
            yield "the first players", ", ".join(map(repr, sorted(before))), ", ".join(map(repr, sorted(now)))
