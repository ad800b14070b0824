"""The gauntlet: a few players against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from elolab.arena.formats.round_robin import RoundRobin
from elolab.arena.tournament_spec import TournamentSpec


class Gauntlet(RoundRobin):
    """The first ``gauntlet_players`` players play each of the others, as in a round robin.

    Neither these players nor the others meet each other.
    """

    keys = ("gauntlet_players",)

    def encounters(self, spec: TournamentSpec) -> list[tuple[int, int]]:
        """The pairs of players that meet in each round."""
        challengers = spec.gauntlet_players
        return list(product(range(challengers), range(challengers, len(spec.players))))

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """Yield a difference if other players than before would meet all the rest."""
        yield from super().changes(old, new)
        before, now = ({player.name for player in spec.players[: spec.gauntlet_players]} for spec in (old, new))
        if before != now:
            yield "the first players", ", ".join(map(repr, sorted(before))), ", ".join(map(repr, sorted(now)))
