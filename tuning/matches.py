"""Matches between two sets of parameters: the games that a run plays, and their counts.

Studies, ablations, claims and fits play everything through this module. Stored games are never played again; all
numbers are counted from the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any

from elolab.arena.notation.openings import Suite, load_suite
from elolab.arena.records import GameConditions, GameJob, Outcome, Pairing, PlayerSpec
from elolab.arena.run import Run, RunError
from elolab.arena.statistics.elo import Pentanomial
from elolab.tuning.conditions import Conditions

REFERENCE, VARIANT = 0, 1
"""Indices of the two players of every match in the store."""


@dataclass(frozen=True)
class Match:
    """Pairs of games between a variant and its reference; each pair has one opening, with colours swapped."""

    variant: PlayerSpec
    reference: PlayerSpec
    openings: tuple[int, ...]
    """Places in the suite, one per pair."""
    numbers: tuple[int, ...]
    """Place in the series of each pair's first game; the second game follows it."""
    pair_numbers: tuple[int, ...]
    """Number of each pair; part of a game's key, so that matches with common openings share games."""
    series: str = ""
    round: int = 0
    """The study's round that the match belongs to, or 0."""
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Data to store with each game."""

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.openings)

    @property
    def places(self) -> list[tuple[str, int]]:
        """Series and number of every game."""
        return [(self.series, number + turn) for number in self.numbers for turn in (0, 1)]

    def part(self, start: int, end: int) -> Match:
        """The pairs from ``start`` up to ``end`` as a match of their own."""
        return replace(
            self,
            openings=self.openings[start:end],
            numbers=self.numbers[start:end],
            pair_numbers=self.pair_numbers[start:end],
        )


class MatchTable:
    """The matches of a run and its store: plays missing games, counts stored ones."""

    def __init__(self, conditions: GameConditions, suite: Suite, run: Run) -> None:
        self._conditions, self._suite, self._run = conditions, suite, run
        self._jobs: dict[Match, tuple[tuple[GameJob, GameJob], ...]] = {}

    def play(self, matches: Sequence[Match], finished: Callable[[Outcome], None] = lambda outcome: None) -> bool:
        """Play the games that the store lacks, pair by pair, alternating between matches; False if some remain
        unplayed.

        ``finished`` is called with each game's outcome.
        """
        return self.play_parts([matches], finished)

    def play_parts(
        self,
        parts: Iterable[Sequence[Match] | None],
        finished: Callable[[Outcome], None] = lambda outcome: None,
    ) -> bool:
        """Play several lists of matches one after another, without waiting for one to end before the next.

        ``parts`` gives ``None`` while the next list depends on games in progress.
        """
        games = (self.in_turn(part) if part is not None else (None,) for part in parts)
        return self._run.play(chain.from_iterable(games), finished)

    def in_turn(self, matches: Sequence[Match]) -> Iterator[GameJob]:
        """The games of matches, pair by pair, alternating between matches."""
        for pairs in zip_longest(*map(self.jobs, matches), fillvalue=()):
            for pair in pairs:
                yield from pair

    def missing_games(self, matches: Sequence[Match]) -> int:
        """Number of distinct games still to be played."""
        return self._run.missing_games(self.in_turn(matches))

    def counted_games(self, matches: Sequence[Match]) -> int:
        """Number of distinct games in complete pairs."""
        pairs = (pair for match in matches for pair in self.jobs(match))
        keys = ({job.key for job in pair} for pair in pairs)
        return len(set().union(*(pair for pair in keys if pair <= self._run.scores.keys())))

    def counts(self, match: Match) -> Pentanomial:
        """The outcomes of the match's complete pairs from the variant's view."""
        return Pentanomial.from_pairs(pair for pair in self.results(match) if pair is not None)

    def results(self, match: Match) -> list[tuple[float, float] | None]:
        """The variant's score in both games of each pair; ``None`` for an incomplete pair."""
        scores = self._run.scores
        pairs: list[tuple[float, float] | None] = []
        for as_first, as_second in self.jobs(match):
            one, other = scores.get(as_first.key), scores.get(as_second.key)
            pairs.append(None if one is None or other is None else (one, 1 - other))
        return pairs

    def jobs(self, match: Match) -> tuple[tuple[GameJob, GameJob], ...]:
        """Both games of every pair; the variant moves first in the first one."""
        if match not in self._jobs:
            self._jobs[match] = tuple(self._pair(match, pair) for pair in range(match.pairs))
        return self._jobs[match]

    def forget(self, match: Match) -> None:
        """Release the memory of a match that is no longer needed."""
        self._jobs.pop(match, None)

    def _pair(self, match: Match, pair: int) -> tuple[GameJob, GameJob]:
        number, opening = match.numbers[pair], match.openings[pair]
        players = (match.reference, match.variant)
        one, other = (
            replace(
                self._conditions.job(
                    Pairing(number + turn, match.pair_numbers[pair], first, second, opening, match.round, match.series),
                    players[first],
                    players[second],
                    self._suite.openings[opening],
                ),
                detail=match.detail,
            )
            for turn, (first, second) in enumerate(((VARIANT, REFERENCE), (REFERENCE, VARIANT)))
        )
        return one, other


def read_openings(
    conditions: Conditions, part: str, pairs: int | None, key: str = "pairs"
) -> tuple[Suite, tuple[int, ...]]:
    """The suite, and places of distinct openings for ``pairs`` pairs; ``None`` for all openings.

    ``part`` is the part of the suite to use. If it has too few openings, the error names ``key``.
    """
    suite = load_suite(conditions.openings, conditions.game)
    half = suite.part(part)
    if (pairs is not None and pairs > len(half)) or not len(half):
        name = "" if part == "all" else f"{part} half of the "
        raise RunError(
            f"{conditions.source}: {key} = {pairs} needs as many different openings, but the {name}suite "
            f"{conditions.openings!r} has {len(half)}; play fewer pairs or give a larger suite "
            "(elolab openings generate)"
        )
    return suite, half.order(conditions.seed)[:pairs]
