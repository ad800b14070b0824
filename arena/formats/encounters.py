"""Results of encounters of two players, for formats whose next round depends on them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from elolab.arena.records import Outcome
from elolab.arena.tournament_spec import TournamentSpec


@dataclass(frozen=True)
class Encounter:
    """The result of two players' games in one round."""

    round: int
    """Index of the round, from 0."""
    players: tuple[int, int]
    points: tuple[float, float]
    """Points of each player from all games, in the order of ``players``: 1 for a win, 1/2 for a draw."""
    games: int
    """Number of scheduled games."""
    played: int
    """Number of games played."""
    absent: frozenset[int]
    """Indices of players that could not be started, so that their games were not played."""

    @property
    def winner(self) -> int | None:
        """Index of the player with more points or an absent opponent; ``None`` for a tie or if both are absent."""
        one, other = self.players
        if self.absent:
            return None if len(self.absent) == 2 else other if one in self.absent else one
        return None if self.points[0] == self.points[1] else one if self.points[0] > self.points[1] else other

    def points_of(self, player: int) -> float:
        """Points of ``player``, who must be one of the two."""
        return self.points[self.players.index(player)]


def encounters_of(results: Sequence[Outcome]) -> list[Encounter]:
    """Combine the outcomes of games into encounters, in the order of their first games."""
    games: dict[tuple[int, frozenset[int]], list[Outcome]] = {}
    for outcome in results:
        pairing = outcome.pairing
        games.setdefault((pairing.round, frozenset((pairing.first, pairing.second))), []).append(outcome)
    return [_encounter(outcomes) for outcomes in games.values()]


def _encounter(outcomes: Sequence[Outcome]) -> Encounter:
    pairing = outcomes[0].pairing
    points = {pairing.first: 0.0, pairing.second: 0.0}
    for outcome in outcomes:
        if outcome.score is not None:
            points[outcome.pairing.first] += outcome.score
            points[outcome.pairing.second] += 1 - outcome.score
    absent = frozenset(player for outcome in outcomes for player in outcome.absent)
    one, other = pairing.first, pairing.second
    played = sum(not outcome.absent for outcome in outcomes)
    return Encounter(pairing.round, (one, other), (points[one], points[other]), len(outcomes), played, absent)


def seeds_of(spec: TournamentSpec) -> tuple[int, ...]:
    """Indices of the players, the best seed first."""
    players = range(len(spec.players))
    if spec.seeding == "order":
        return tuple(players)
    return tuple(sorted(players, key=lambda player: _lot(spec.seed, spec.players[player].name)))


def _lot(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()
