"""The knockout: the loser of an encounter is eliminated, and the last remaining player wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from elolab.arena.formats.encounters import Encounter, encounters_of, seeds_of
from elolab.arena.formats.tournament_format import Format, paired_games
from elolab.arena.records import Outcome, Pairing, digest_of
from elolab.arena.tournament_spec import TournamentSpec

UNKNOWN = -1
"""Index that stands for a player who is not yet known."""

POINTS, SUDDEN_DEATH, SEED, COIN, WALKOVER, BYE = "points", "sudden_death", "seed", "coin", "walkover", "bye"
"""Reasons why a player advances.

In order: more points in the planned pairs; more points in sudden death; the better seed after a tie; a coin toss after
a tie; an absent opponent; no opponent.
"""


class Knockout(Format):
    """A seeded bracket; an encounter has ``pairs`` game pairs, in which the second game has the colours swapped.

    A tied encounter continues with single sudden-death pairs, at most ``tiebreak_pairs``; then ``tiebreak`` decides. If
    the number of players is not a power of two, the best seeds have byes in the first round. The losers of the
    semi-finals may play for third place.
    """

    has_rounds = False
    keys = ("seeding", "tiebreak", "tiebreak_pairs", "third_place")
    decides_on_the_way = True
    has_fixed_length = False

    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The next games: those of a round, or a sudden-death pair per tied encounter; none after the final."""
        bracket = bracket_of(spec, results)
        waiting = [tie for tie in bracket.ties if tie.is_waiting]
        if not waiting:
            return
        round = waiting[0].round
        encounters = [tie.opponents for tie in waiting if tie.round == round]
        played = waiting[0].games // 2
        start = round * _pairs_of_round(spec) + played
        pairs = range(start, start + (1 if played else spec.pairs))
        yield from paired_games(spec, encounters, pairs, order, number=len(results), round=round)

    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        """The number of games so far, plus the maximum number that undecided encounters can still need."""
        undecided = [tie for tie in bracket_of(spec, results).ties if tie.reason is None]
        return len(results) + sum(2 * _pairs_of_round(spec) - tie.games for tie in undecided)

    def opened_pairs(self, spec: TournamentSpec) -> int:
        """Maximum number of game pairs of one player, sudden death included; each round has its own openings."""
        return rounds_of(spec) * _pairs_of_round(spec)

    def pairs_text(self, spec: TournamentSpec) -> str:
        keys = f"pairs = {spec.pairs} with tiebreak_pairs = {spec.tiebreak_pairs}"
        rounds = rounds_of(spec)
        return keys if rounds == 1 else f"{keys} in each of {rounds} rounds of {len(spec.players)} players"


def rounds_of(spec: TournamentSpec) -> int:
    """Number of rounds of the bracket."""
    return (len(spec.players) - 1).bit_length()


def _pairs_of_round(spec: TournamentSpec) -> int:
    return spec.pairs + spec.tiebreak_pairs


@dataclass(frozen=True)
class Tie:
    """An encounter in the bracket: two players meet, or one advances without an opponent."""

    round: int
    """Index of the round, from 0."""
    players: tuple[int | None, int | None]
    """Indices of the upper and the lower player; ``None`` for no player, ``UNKNOWN`` for one not yet known."""
    for_third_place: bool = False
    games: int = 0
    """Number of scheduled games."""
    played: int = 0
    """Number of games played."""
    points: tuple[float, float] = (0, 0)
    """Points of each player in the games played, in the order of ``players``."""
    winner: int | None = None
    reason: str | None = None
    """Why the winner advances: a constant such as ``POINTS``; ``None`` while undecided."""

    @property
    def is_waiting(self) -> bool:
        """Whether both players are known and the encounter is undecided."""
        return self.reason is None and UNKNOWN not in self.players

    @property
    def opponents(self) -> tuple[int, int]:
        """Indices of the two players; only for an encounter whose two players exist and are known."""
        one, other = self.players
        assert one is not None
        assert other is not None
        return one, other

    @property
    def loser(self) -> int | None:
        """Index of the losing player; ``UNKNOWN`` while undecided, ``None`` if nobody lost, as with a bye."""
        if self.reason is None:
            return UNKNOWN
        if self.winner is None:
            return None
        return next((player for player in self.players if player != self.winner), None)


@dataclass(frozen=True)
class Bracket:
    """The current state of a knockout."""

    seeds: tuple[int, ...]
    """Indices of the players, the best seed first."""
    rounds: tuple[tuple[Tie, ...], ...]
    """The encounters of each round from top to bottom, byes included; the last round is the final."""
    third_place: Tie | None
    """The encounter for third place; ``None`` if it is not played."""

    @property
    def ties(self) -> list[Tie]:
        """All encounters, round by round; the encounter for third place comes before the final."""
        ordered = [tie for round in self.rounds for tie in round]
        return ordered if self.third_place is None else [*ordered[:-1], self.third_place, ordered[-1]]

    @property
    def final(self) -> Tie:
        return self.rounds[-1][0]


def bracket_of(spec: TournamentSpec, results: Sequence[Outcome]) -> Bracket:
    """The state of the bracket; ``results`` has the outcomes of all games scheduled so far, which must be complete."""
    seeds = seeds_of(spec)
    played = {(one.round, frozenset(one.players)): one for one in encounters_of(results)}
    absent = frozenset(player for encounter in played.values() for player in encounter.absent)

    def decided(tie: Tie) -> Tie:
        encounter = played.get((tie.round, frozenset(tie.players)))  # type: ignore[arg-type]
        return _decided(spec, seeds, tie, encounter, absent)

    entrants: list[int | None] = [seeds[place] if place < len(seeds) else None for place in _slots(rounds_of(spec))]
    rounds = []
    for round in range(rounds_of(spec)):
        ties = tuple(decided(Tie(round, (one, other))) for one, other in zip(*[iter(entrants)] * 2, strict=True))
        rounds.append(ties)
        entrants = [UNKNOWN if tie.reason is None else tie.winner for tie in ties]
    third_place = None
    if spec.third_place:
        one, other = (tie.loser for tie in rounds[-2])
        third_place = decided(Tie(len(rounds) - 1, (one, other), for_third_place=True))
    return Bracket(seeds, tuple(rounds), third_place)


def _slots(rounds: int) -> list[int]:
    """Seeds (from 0) in the order of their places in a bracket of ``rounds`` rounds, from top to bottom.

    The two best seeds can only meet in the final, the four best not before the semi-finals, and so on.
    """
    slots = [0]
    for round in range(rounds):
        slots = [seed for slot in slots for seed in (slot, 2 ** (round + 1) - 1 - slot)]
    return slots


def _decided(
    spec: TournamentSpec, seeds: Sequence[int], tie: Tie, encounter: Encounter | None, absent: frozenset[int]
) -> Tie:
    """Return ``tie`` with its points and, if it is decided, with its winner and the reason.

    ``encounter`` holds the results of the tie's games; ``None`` before the first game. ``seeds`` has the players, the
    best seed first. ``absent`` are the players that could not be started.
    """
    one, other = tie.players
    if UNKNOWN in tie.players:
        return tie
    if one is None or other is None:
        return replace(tie, winner=other if one is None else one, reason=BYE)
    if encounter is None:
        if not absent & {one, other}:
            return tie
        encounter = Encounter(tie.round, (one, other), (0, 0), 0, 0, absent & {one, other})
    points = (encounter.points_of(one), encounter.points_of(other))
    tie = replace(tie, games=encounter.games, played=encounter.played, points=points)
    extra = encounter.games // 2 - spec.pairs
    if encounter.absent:
        return replace(tie, winner=encounter.winner, reason=WALKOVER)
    if encounter.winner is not None:
        return replace(tie, winner=encounter.winner, reason=SUDDEN_DEATH if extra else POINTS)
    if extra < spec.tiebreak_pairs:
        return tie
    better = min(one, other, key=seeds.index)
    if spec.tiebreak == "seed":
        return replace(tie, winner=better, reason=SEED)
    names = sorted(spec.players[player].name for player in (one, other))
    heads = int(digest_of([spec.seed, tie.round, *names]), 16) % 2 == 0
    winner = next(player for player in (one, other) if (spec.players[player].name == names[0]) == heads)
    return replace(tie, winner=winner, reason=COIN)
