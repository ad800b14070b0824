"""Formats in which all encounters are known from the start: round robin, gauntlet, match and sequential test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

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
        """All games, as a single batch."""
        if results:
            return
        encounters, pairs = self.encounters(spec), spec.pairs_of_encounter
        for round in range(spec.rounds):
            of_round = range(round * pairs, (round + 1) * pairs)
            number = 2 * len(encounters) * of_round.start
            yield from paired_games(spec, encounters, of_round, order, number=number, round=round)

    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        return 2 * len(self.encounters(spec)) * spec.pairs


class Gauntlet(RoundRobin):
    """The first ``gauntlet_players`` players are challengers: each meets every other player, but no other challenger.

    The other players do not meet each other. Games are scheduled as in a round robin.
    """

    keys = ("gauntlet_players",)

    def encounters(self, spec: TournamentSpec) -> list[tuple[int, int]]:
        challengers = spec.gauntlet_players
        return list(product(range(challengers), range(challengers, len(spec.players))))

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """Yield the differences that prevent ``new`` from extending ``old``: the key, the old and the new value.

        The first ``gauntlet_players`` players must be the same in both.
        """
        yield from super().changes(old, new)
        before, now = ({player.name for player in spec.players[: spec.gauntlet_players]} for spec in (old, new))
        if before != now:
            yield "the first players", ", ".join(map(repr, sorted(before))), ", ".join(map(repr, sorted(now)))


class MatchFormat(RoundRobin):
    """A match of two players with a fixed number of game pairs."""

    players = 2
    has_rounds = False


class SequentialMatch(MatchFormat):
    """A match of two players that ends when a sequential test accepts a hypothesis.

    The schedule holds the maximum number of pairs; ``arena.schedule.games_that_count`` finds the game at which the test
    ends.
    """

    is_sequential = True
    may_take_all_openings = True
    has_fixed_length = False
