"""Matches between two sets of parameters: the games of a run, and the counts of their outcomes.

Studies, ablations, claims and fits play everything through this module. Stored games are never played again; all counts
come from the store of games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any

from elolab.arena.notation.openings import Suite, suite_of_file
from elolab.arena.play.scores import MatchScores
from elolab.arena.records import GameConditions, GameJob, Outcome, Pairing, PlayerSpec
from elolab.arena.run import Run, RunError
from elolab.arena.statistics.elo import Pentanomial
from elolab.tuning.conditions import Conditions

REFERENCE, VARIANT = 0, 1
"""Indices of reference and variant in the ``Pairing`` of each stored game of a match."""


@dataclass(frozen=True)
class Match:
    """Game pairs between a variant and a reference. A pair is two games from one opening, with colours swapped."""

    variant: PlayerSpec
    reference: PlayerSpec
    openings: tuple[int, ...]
    """Index of each pair's opening in the opening suite."""
    numbers: tuple[int, ...]
    """Number of each pair's first game in the series; the pair's second game has the next number."""
    pair_numbers: tuple[int, ...]
    """Number of each pair. It is part of a game's key in the store, so that matches with equal pairs share games."""
    series: str = ""
    round: int = 0
    """The round of the tuning study that the match belongs to; 0 outside rounds."""
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Plain data to store with each game, by name."""

    @property
    def pairs(self) -> int:
        """Number of game pairs."""
        return len(self.openings)

    @property
    def places(self) -> list[tuple[str, int]]:
        """Series and number of every game of the match."""
        return [(self.series, number + turn) for number in self.numbers for turn in (0, 1)]

    def part(self, start: int, end: int) -> Match:
        """A match of the pairs from index ``start`` to ``end - 1``."""
        return replace(
            self,
            openings=self.openings[start:end],
            numbers=self.numbers[start:end],
            pair_numbers=self.pair_numbers[start:end],
        )


class MatchTable:
    """The matches of a run: plays the games that the store lacks, and counts the outcomes of stored games."""

    def __init__(self, conditions: GameConditions, suite: Suite, run: Run) -> None:
        self._conditions, self._suite, self._run = conditions, suite, run
        self._jobs: dict[Match, tuple[tuple[GameJob, GameJob], ...]] = {}

    def play(
        self,
        matches: Sequence[Match],
        finished: Callable[[Outcome], None] = lambda outcome: None,
        scores: MatchScores | None = None,
    ) -> bool:
        """Play the games that the store lacks, pair by pair, alternating between matches.

        Returns False if the run stopped before all games were played. ``finished`` is called with each game's outcome.
        The matches are added to ``scores``, which the progress display shows.
        """
        return self.play_parts([matches], finished, scores)

    def play_parts(
        self,
        parts: Iterable[Sequence[Match] | None],
        finished: Callable[[Outcome], None] = lambda outcome: None,
        scores: MatchScores | None = None,
    ) -> bool:
        """Play several lists of matches in order; games of the next list may start before the previous list has ended.

        Returns False if the run stopped before all games were played.

        ``parts`` yields ``None`` while the next list depends on games in progress. ``finished`` is called with each
        game's outcome. The matches are added to ``scores``, which the progress display shows.
        """

        def games() -> Iterator[Iterable[GameJob | None]]:
            for part in parts:
                if part is not None and scores is not None:
                    self._show(part, scores)
                yield (None,) if part is None else self.in_turn(part)

        return self._run.play(chain.from_iterable(games()), finished)

    def _show(self, matches: Sequence[Match], scores: MatchScores) -> None:
        """Add the matches, and the results of their stored games, to ``scores``, which the progress display shows."""
        for match in matches:
            score = scores.of((match.variant, match.reference, match.series), match.variant.name, VARIANT)
            for job in chain.from_iterable(self.jobs(match)):
                if job.key in self._run.scores:
                    score.add(Outcome(job.key, job.pairing, self._run.scores[job.key]))
                else:
                    scores.expect(job.key, score)

    def in_turn(self, matches: Sequence[Match]) -> Iterator[GameJob]:
        """The jobs of all games of the matches, pair by pair, alternating between matches."""
        for pairs in zip_longest(*map(self.jobs, matches), fillvalue=()):
            for pair in pairs:
                yield from pair

    def missing_games(self, matches: Sequence[Match]) -> int:
        """Number of distinct games of the matches that the store lacks."""
        return self._run.missing_games(self.in_turn(matches))

    def counted_games(self, matches: Sequence[Match]) -> int:
        """Number of distinct stored games in the complete pairs of the matches."""
        pairs = (pair for match in matches for pair in self.jobs(match))
        keys = ({job.key for job in pair} for pair in pairs)
        return len(set().union(*(pair for pair in keys if pair <= self._run.scores.keys())))

    def counts(self, match: Match) -> Pentanomial:
        """Outcomes of the match's complete pairs from the variant's point of view."""
        return Pentanomial.from_pairs(pair for pair in self.results(match) if pair is not None)

    def results(self, match: Match) -> list[tuple[float, float] | None]:
        """The variant's scores in both games of each pair, 0 to 1; ``None`` for an incomplete pair.

        In the first game of a pair the variant moves first.
        """
        scores = self._run.scores
        pairs: list[tuple[float, float] | None] = []
        for as_first, as_second in self.jobs(match):
            one, other = scores.get(as_first.key), scores.get(as_second.key)
            pairs.append(None if one is None or other is None else (one, 1 - other))
        return pairs

    def jobs(self, match: Match) -> tuple[tuple[GameJob, GameJob], ...]:
        """The jobs of both games of every pair; the variant moves first in the first game."""
        if match not in self._jobs:
            self._jobs[match] = tuple(self._pair(match, pair) for pair in range(match.pairs))
        return self._jobs[match]

    def forget(self, match: Match) -> None:
        """Delete the cached jobs of a match that is no longer needed, to save memory."""
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
    """Read the opening suite and choose a distinct opening for each of ``pairs`` pairs; ``None`` chooses all openings.

    Returns the suite and the indices of the chosen openings, in the order of play.

    ``part`` is the part of the suite to choose from. If the part has too few openings, raises ``RunError`` with a
    message that names ``key``.
    """
    suite = suite_of_file(conditions.openings, conditions.game, conditions.source)
    half = suite.part(part)
    if (pairs is not None and pairs > len(half)) or not len(half):
        name = "" if part == "all" else f"{part} half of the "
        raise RunError(
            f"{conditions.source}: {key} = {pairs} needs as many different openings, but the {name}suite "
            f"{conditions.openings!r} has {len(half)}",
            "play fewer pairs or give a larger suite (elolab openings generate)",
        )
    order = half.order(conditions.seed)[:pairs]
    suite.check(order)
    return suite, order
