"""Matches between two sets of parameters: lists of games that go through the arena's executor into the run's store.

Studies and ablations play everything through this. What is stored is never played again; every figure is counted from
the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from arena.openings import Suite
from arena.records import GameJob, GameRecord, Pairing, PlayerSpec
from arena.statistics import Pentanomial
from arena.tournament import is_reproducible
from tuning.conditions import Conditions

if TYPE_CHECKING:
    from arena.store import Store

REFERENCE, VARIANT = 0, 1
"""Indices of the two players of every match in the store."""


@dataclass(frozen=True)
class Match:
    """Pairs of games between a variant and its reference; each pair has one opening, with colours swapped."""

    variant: PlayerSpec
    reference: PlayerSpec
    openings: tuple[int, ...]
    """Places in the suite, one a pair."""
    numbers: tuple[int, ...]
    """Place in the run's schedule of each pair's first game; the second one follows it."""
    round: int = 0
    """What the match belongs to: the trial's number, or 0."""
    first_pair: int = 0
    """Number of its first pair; matches that share openings share these numbers."""

    @property
    def pairs(self) -> int:
        """How many pairs are to be played."""
        return len(self.openings)

    def part(self, start: int, end: int) -> Match:
        """The pairs from ``start`` up to ``end`` as a match of their own."""
        return replace(
            self,
            openings=self.openings[start:end],
            numbers=self.numbers[start:end],
            first_pair=self.first_pair + start,
        )


class Runner(Protocol):
    """What plays games: ``arena.executor.GameRunner``."""

    def run(self, jobs: Iterable[GameJob | None]) -> Iterator[GameRecord]:
        """Play the jobs and yield the records as the games end."""


class MatchTable:
    """The matches of a run at its store: plays what is missing, counts what is there."""

    def __init__(self, conditions: Conditions, suite: Suite, store: Store) -> None:
        self._conditions = conditions
        self._suite = suite
        self._store = store
        self._scores = {outcome.key: outcome.score for outcome in store.outcomes()}
        self._reproducible: dict[str, bool] = {}
        """Of the games handed out: whether they come out the same every time."""
        self._jobs: dict[Match, tuple[tuple[GameJob, GameJob], ...]] = {}
        self._keys: dict[Match, tuple[tuple[str, str], ...]] = {}

    def play(self, matches: Sequence[Match], runner: Runner, finished: Callable[[], None] = lambda: None) -> bool:
        """Play the games that the store lacks, pair by pair of all matches in turn; False if some are left unplayed.

        ``finished`` is called after each stored game.
        """
        for record in runner.run(self._missing(matches)):
            self._store.add(record, reproducible=self._reproducible[record.key])
            self._scores[record.key] = record.score
            finished()
        return next(self._missing(matches), None) is None

    def _missing(self, matches: Sequence[Match]) -> Iterator[GameJob]:
        asked: set[str] = set()
        for pair in range(max((match.pairs for match in matches), default=0)):
            for match in matches:
                if pair >= match.pairs:
                    continue
                for job, key in zip(self.jobs(match)[pair], self.keys(match)[pair], strict=True):
                    if key not in self._scores and key not in asked:
                        asked.add(key)
                        self._reproducible[key] = is_reproducible(match.variant, match.reference)
                        yield job

    def missing_games(self, matches: Sequence[Match]) -> int:
        """How many different games are still to be played."""
        keys = {key for match in matches for pair in self.keys(match) for key in pair}
        return len(keys - self._scores.keys())

    def counts(self, match: Match) -> Pentanomial:
        """The outcomes of the match's complete pairs from the variant's view."""
        return Pentanomial.from_pairs(pair for pair in self.results(match) if pair is not None)

    def results(self, match: Match) -> list[tuple[float, float] | None]:
        """The variant's score in both games of each pair; ``None`` where the pair is not complete."""
        pairs: list[tuple[float, float] | None] = []
        for as_first, as_second in self.keys(match):
            one, other = self._scores.get(as_first), self._scores.get(as_second)
            pairs.append(None if one is None or other is None else (one, 1 - other))
        return pairs

    def keys(self, match: Match) -> tuple[tuple[str, str], ...]:
        """The keys of every pair's two games; the variant has the first move's colour in the first of them."""
        if match not in self._keys:
            self._keys[match] = tuple((one.key, other.key) for one, other in self.jobs(match))
        return self._keys[match]

    def jobs(self, match: Match) -> tuple[tuple[GameJob, GameJob], ...]:
        """Every pair's two games."""
        if match not in self._jobs:
            self._jobs[match] = tuple(self._pair(match, pair) for pair in range(match.pairs))
        return self._jobs[match]

    def _pair(self, match: Match, pair: int) -> tuple[GameJob, GameJob]:
        number, opening = match.numbers[pair], match.openings[pair]
        seats = ((VARIANT, REFERENCE), (REFERENCE, VARIANT))
        players = (match.reference, match.variant)
        one, other = (
            GameJob(
                game=self._conditions.game,
                rules=self._conditions.rules,
                adjudication=self._conditions.adjudication,
                pairing=Pairing(number + turn, match.first_pair + pair, first, second, opening, match.round),
                first=players[first],
                second=players[second],
                opening=self._suite.openings[opening],
                seed=self._conditions.seed,
            )
            for turn, (first, second) in enumerate(seats)
        )
        return one, other
