"""The Swiss system: each round pairs players with scores as equal as possible, and no two players meet twice.

It follows the FIDE Dutch System (FIDE Handbook C.04.3). Players are ranked by score, then by seed. Within a group of
equal score the upper half meets the lower half, and a leftover player floats down to the next group. The FIDE rules try
transpositions and exchanges in a fixed order. Here a round is the cheapest of all legal pairings, compared in this
order:

1. the fewest repeated encounters and byes (an absent opponent counts as a bye); without ``repeats``, nobody meets an
   opponent or has a bye twice;
2. the bye as far down the ranking as possible;
3. the least sum of squared differences of score;
4. the fewest encounters within one half of a group;
5. the least sum of squared distances from the ideal pairing: upper half against lower half in the same order, and for
   floaters the last of a group against the first of the next;
6. among equal sums, the pairing whose distances are further down the ranking.

A legal pairing is found whenever one exists. With up to ``LOOKAHEAD_PLAYERS`` players, the pairing of a round also
keeps as many further rounds possible as it can. If the cheapest pairing would prevent a further round, a search finds
a complete schedule, and the cheapest round of that schedule is played instead. The planned number of rounds has no
influence, so a tournament can be extended.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from elolab.arena.formats.encounters import Encounter, encounters_of, seeds_of
from elolab.arena.formats.matching import cheapest_pairing
from elolab.arena.formats.tournament_format import Format, paired_games
from elolab.arena.records import Outcome, Pairing
from elolab.arena.tournament_spec import TournamentSpec

WIN, TIE, LOSS = 1.0, 0.5, 0.0
"""Points for an encounter; a bye or an absent opponent counts as a win."""
NEXT_LEVEL = 10**12
"""Factor between levels of comparison; larger than any sum of costs within one level."""
LOOKAHEAD_PLAYERS = 20
"""Maximum number of players for which a pairing takes all further rounds into account.

With more players, there are at most half as many rounds as players.
"""
SEARCH_STEPS = 20_000
"""Maximum number of steps in the search for all further rounds; always enough for ``LOOKAHEAD_PLAYERS`` players."""


class Swiss(Format):
    """A Swiss tournament of ``rounds`` rounds; each encounter has ``pairs`` game pairs with colours swapped."""

    keys = ("seeding", "repeats")
    decides_on_the_way = True

    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The games of the next round; none after the last round, or if no legal pairing is left."""
        table = swiss_table(spec, results)
        if table.rounds == spec.rounds:
            return
        paired = paired_round(table.state(spec))
        if paired is None:
            return
        pairs = spec.pairs_of_encounter
        of_round = range(table.rounds * pairs, (table.rounds + 1) * pairs)
        yield from paired_games(spec, paired.encounters, of_round, order, number=len(results), round=table.rounds)

    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        """The number of games in the rounds so far, plus the games of all further rounds if nobody else drops out."""
        table = swiss_table(spec, results)
        encounters = (len(spec.players) - len(table.out)) // 2
        return len(results) + 2 * spec.pairs_of_encounter * encounters * (spec.rounds - table.rounds)

    def default_rounds(self, players: int) -> int:
        """The number of rounds after which at most one player can have won every encounter."""
        return max(1, math.ceil(math.log2(players)))

    def most_rounds(self, players: int) -> int:
        """The number of rounds in which every player can meet every other, plus one for byes if ``players`` is odd.

        With more than ``LOOKAHEAD_PLAYERS`` players, half the number of players, rounded up: a legal pairing exists as
        long as each player has at least half of the others left to meet (G. A. Dirac, "Some theorems on abstract
        graphs", 1952).
        """
        return players - 1 + players % 2 if players <= LOOKAHEAD_PLAYERS else (players + 1) // 2


@dataclass(frozen=True)
class SwissTable:
    """The table of a Swiss tournament after complete rounds."""

    rounds: int
    """Number of rounds played."""
    points: tuple[float, ...]
    """Points of each player, by index: 1 for a won encounter, a bye or an absent opponent; 1/2 for a tied encounter."""
    encounters: tuple[Encounter, ...]
    byes: tuple[int | None, ...]
    """Index of the player with the bye in each round; ``None`` for a round without a bye."""
    out: frozenset[int]
    """Indices of the players that dropped out because they could not be started."""

    def state(self, spec: TournamentSpec) -> PairingState:
        """The input of ``paired_round`` for the next round."""
        seeds = seeds_of(spec)
        left = [player for player in seeds if player not in self.out]
        ranking = sorted(left, key=lambda player: -self.points[player])
        met = Counter(frozenset(encounter.players) for encounter in self.encounters)
        byes = Counter(player for player in self.byes if player is not None)
        walkovers = Counter(encounter.winner for encounter in self.encounters if encounter.absent)
        return PairingState(
            tuple(ranking),
            tuple(self.points[player] for player in ranking),
            tuple(tuple(met[frozenset((one, other))] for other in ranking) for one in ranking),
            tuple(byes[player] for player in ranking),
            tuple(walkovers[player] for player in ranking),
            spec.repeats,
        )


def swiss_table(spec: TournamentSpec, results: Sequence[Outcome]) -> SwissTable:
    """The table of a Swiss tournament; ``results`` has all games of the rounds so far, which must be complete."""
    encounters = encounters_of(results)
    rounds = 1 + max((encounter.round for encounter in encounters), default=-1)
    points = [0.0] * len(spec.players)
    byes: list[int | None] = []
    out: frozenset[int] = frozenset()
    for round in range(rounds):
        played = [encounter for encounter in encounters if encounter.round == round]
        idle = set(range(len(spec.players))) - out - {player for one in played for player in one.players}
        byes.append(min(idle, default=None))
        for player in idle:
            points[player] += WIN
        for encounter in played:
            for player in encounter.players:
                points[player] += points_for(encounter, player)
            out |= encounter.absent
    return SwissTable(rounds, tuple(points), tuple(encounters), tuple(byes), out)


def points_for(encounter: Encounter, player: int) -> float:
    """Points that ``player`` gets for its ``encounter``; 0 if the player was absent."""
    if encounter.winner is None:
        return LOSS if encounter.absent else TIE
    return WIN if encounter.winner == player else LOSS


class PairingState(NamedTuple):
    """The input for pairing a round; all fields but ``repeats`` are in the order of ``ranking``."""

    ranking: tuple[int, ...]
    """Indices of the players to be paired, sorted by points and then by seed."""
    points: tuple[float, ...]
    meetings: tuple[tuple[int, ...], ...]
    """Symmetric matrix of the number of encounters so far; rows and columns are in the order of ``ranking``."""
    byes: tuple[int, ...]
    """Number of byes of each player, in the order of ``ranking``."""
    walkovers: tuple[int, ...]
    """Number of encounters that each player, in the order of ``ranking``, won because its opponent was absent."""
    repeats: bool
    """Whether players may meet again or have a second bye."""


class PairedRound(NamedTuple):
    """The pairs of a round and the player with the bye, as indices; the higher ranked player is first in each pair."""

    encounters: list[tuple[int, int]]
    bye: int | None


@functools.lru_cache(maxsize=1000)
def paired_round(state: PairingState) -> PairedRound | None:
    """Pair the next round by the Swiss system; ``None`` if there are no players or no legal pairing."""
    costs = pairing_costs(state)
    partners = cheapest_pairing(costs) if len(state.ranking) > 1 else None
    if partners is None:
        return None
    if not state.repeats:
        partners = _with_lookahead(costs, partners)
    couples = [(place, partner) for place, partner in enumerate(partners) if place < partner]
    players = len(state.ranking)
    return PairedRound(
        [(state.ranking[one], state.ranking[other]) for one, other in couples if other < players],
        next((state.ranking[one] for one, other in couples if other == players), None),
    )


def pairing_costs(state: PairingState) -> list[list[int | None]]:
    """Symmetric matrix: the cost of pairing the players at places i and j of the ranking; ``None`` forbids the pair.

    With an odd number of players, the last row and column stand for the bye.
    """
    players = len(state.ranking)
    costs: list[list[int | None]] = [[None] * (players + players % 2) for _ in range(players + players % 2)]
    group = [state.points.index(points) for points in state.points]
    sizes = Counter(state.points)
    for one in range(players):
        for other in range(one + 1, players):
            if state.repeats or not state.meetings[one][other]:
                difference = round(2 * (state.points[one] - state.points[other])) ** 2
                places = (one - group[one], other - group[other])
                joined = group[one] % 2 if difference == 0 else None
                is_in_half, distance = _distance_from_fold(places, sizes[state.points[one]], joined)
                below = players - 1 - one
                cost = _ranked(state.meetings[one][other], 0, difference, is_in_half, distance, distance * below)
                costs[one][other] = costs[other][one] = cost
        if players % 2 and (state.repeats or not state.byes[one]):
            cost = _ranked(state.byes[one] + state.walkovers[one], players - 1 - one, 0, 0, 0, 0)
            costs[one][players] = costs[players][one] = cost
    return costs


def _distance_from_fold(places: tuple[int, int], size: int, joined: int | None) -> tuple[bool, int]:
    """Compare the pairing of two players with the ideal one: upper half of the group against lower half, in order.

    Returns whether they are in the same half of a group, and the square of their distance from the ideal pairing.
    ``places`` are the players' places in their groups, from 0; ``size`` is the size of the first player's group.
    ``joined`` is ``None`` for players of different groups: ideally the last player of the upper group meets the first
    of the lower. Otherwise ``joined`` is the number of players, 0 or 1, who have floated down to the group; a floater
    ideally meets the first player of the group.
    """
    one, other = places
    if joined is None:
        return False, (size - 1 - one) ** 2 + other**2
    half = (size - joined) // 2
    middle = joined + half
    return (one < middle) == (other < middle), (other - one - half) ** 2


def _ranked(*levels: int) -> int:
    """Combine costs of several levels into one number; the first level is the most significant."""
    total = 0
    for level in levels:
        total = total * NEXT_LEVEL + level
    return total


# The rounds after this one


def _with_lookahead(costs: list[list[int | None]], partners: list[int]) -> list[int]:
    """Return ``partners``, the cheapest pairing, or another pairing if that leaves more further rounds possible.

    The other pairing is the cheapest round of a complete schedule found by search. A pairing is a list: the partner of
    the player at each place of the ranking.
    """
    places = range(len(costs))
    if len(costs) > LOOKAHEAD_PLAYERS:
        return partners
    legal = [{other for other in places if costs[place][other] is not None} for place in places]
    left = [legal[place] - {partners[place]} for place in places]
    for rounds in range(min(map(len, legal)), 1, -1):
        if _disjoint_pairings(left, rounds - 1) is not None:
            return partners
        if ways := _disjoint_pairings(legal, rounds):
            return min(ways, key=lambda way: sum(costs[place][partner] or 0 for place, partner in enumerate(way)))
    return partners


class _OutOfSteps(Exception):
    """Raised when the search for pairings of further rounds exceeds ``SEARCH_STEPS`` steps."""


def _disjoint_pairings(legal: Sequence[set[int]], rounds: int) -> list[list[int]] | None:
    """Find ``rounds`` pairings of all players in which no two players meet twice; ``None`` if there are none.

    A pairing is a list with the partner of each player. ``legal`` holds the possible partners of each player. Returns
    an empty list if the search takes too long.
    """
    steps = SEARCH_STEPS

    def pairings(left: frozenset[int], legal: Sequence[set[int]]) -> Iterator[list[tuple[int, int]]]:
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise _OutOfSteps
        if not left:
            yield []
            return
        place = min(left, key=lambda place: (len(legal[place] & left), place))
        for partner in sorted(legal[place] & left):
            for rest in pairings(left - {place, partner}, legal):
                yield [(place, partner), *rest]

    def search(legal: Sequence[set[int]], rounds: int) -> list[list[int]] | None:
        if rounds == 0:
            return []
        if min(map(len, legal)) < rounds:
            return None
        for couples in pairings(frozenset(range(len(legal))), legal):
            partners = [0] * len(legal)
            for one, other in couples:
                partners[one], partners[other] = other, one
            rest = search([others - {partners[place]} for place, others in enumerate(legal)], rounds - 1)
            if rest is not None:
                return [partners, *rest]
        return None

    try:
        return search(legal, rounds)
    except _OutOfSteps:
        return []
