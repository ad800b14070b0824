"""The round robin: every player meets every other player."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from elolab.arena.formats.tournament_format import Format, paired_games
from elolab.arena.records import Outcome, Pairing
from elolab.arena.tournament_spec import TournamentSpec


class RoundRobin(Format):
    """A round robin of any number of players, repeated ``rounds`` times.

    In each round, any two players meet in ``pairs`` game pairs with colours swapped. All encounters of a round use the
    same openings; each round has its own.
    """

    def encounters(self, spec: TournamentSpec) -> list[tuple[int, int]]:
        """The encounters of a round, each as the indices of its two players."""
        return list(combinations(range(len(spec.players)), 2))

    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """All games at once, because the schedule does not depend on results."""
        if results:
            return
        encounters, pairs = self.encounters(spec), spec.pairs_of_encounter
        for round in range(spec.rounds):
            of_round = range(round * pairs, (round + 1) * pairs)
            number = 2 * len(encounters) * of_round.start
            yield from paired_games(spec, encounters, of_round, order, number=number, round=round)

    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        return 2 * len(self.encounters(spec)) * spec.pairs
