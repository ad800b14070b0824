"""A few against the rest: the gauntlet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from arena.formats.round_robin import RoundRobin
from arena.tournament_spec import TournamentSpec


class Gauntlet(RoundRobin):
    """The first ``gauntlet_players`` players against each of the others, as in a round robin.

    Neither do those meet each other, nor the others.
    """

    keys = ("gauntlet_players",)

    def encounters(self, spec: TournamentSpec) -> list[tuple[int, int]]:
        """Who meets whom in a round."""
        challengers = spec.gauntlet_players
        return list(product(range(challengers), range(challengers, len(spec.players))))

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """Who plays against the others stays the same."""
        yield from super().changes(old, new)
        before, now = ({player.name for player in spec.players[: spec.gauntlet_players]} for spec in (old, new))
        if before != now:
            yield "the first players", ", ".join(map(repr, sorted(before))), ", ".join(map(repr, sorted(now)))
