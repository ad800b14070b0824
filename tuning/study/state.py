"""The state of a study: the results of its rounds, and the model fitted to them.

A settings pair is two sets of values that play each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from elolab.arena.statistics.elo import Pentanomial
from elolab.tuning.study.model.maxima import combinations, expected_remaining_gain, maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.result import RoundEnd, RoundResult
from elolab.tuning.study.rounds.limit_shares import LimitShares
from elolab.tuning.study.rounds.pairs_of_settings import Round, RoundDesign, SettingsPair, design_of, first_design
from elolab.tuning.study.space import Values

REFIT_GROWTH = 1.05
"""Factor by which the number of results must grow before the model is fitted again."""
MAX_COMBINATIONS = 16


@dataclass
class StudyState:
    """The results of a study's rounds so far, and the model fitted to them."""

    observations: Observations
    openings: int
    """Number of openings for the tuning. Successive game pairs use the openings in order and begin again after the last
    one.
    """
    limit_shares: LimitShares | None = None
    """Search limits of the settings pairs; ``None`` if all are played at the target limit."""
    is_paired: bool = True
    """Whether rounds play settings pairs; otherwise a round is a trial whose values play against the base."""
    results: dict[int, RoundResult] = field(default_factory=dict)
    """Results of the finished rounds, by the round's number."""
    ends: dict[int, RoundEnd] = field(default_factory=dict)
    model: ResponseModel | None = None
    best: Values | None = None
    """The maximum of the last fitted model, inside the region of values that have been played; ``None`` without a
    model.
    """
    fitted_results: int = 0
    """Number of results to which the model was last fitted."""
    observed_trials: set[int] = field(default_factory=set)
    """Numbers of the trials whose results have been added to the observations.

    Only studies that the user runs with Optuna (``tuning.paired``) fill this set.
    """
    _seen: set[tuple[frozenset[Values], int, float]] = field(default_factory=set)
    """Both sets of values, index of the first opening, and logarithm of the search limit, for each observed settings
    pair.

    A settings pair with an equal entry has played the same games, so it is not observed again.
    """

    def add(self, result: RoundResult, rounds: Sequence[Round]) -> None:
        """Add the result of a finished round; ``rounds`` is the schedule.

        A round beyond the schedule adds no observations to the model.
        """
        self.results[result.number] = result
        for one in rounds[result.number : result.number + 1]:
            for place, (settings, counts) in enumerate(result.results):
                self.observe(settings, one.first_pair + place * one.game_pairs, counts)

    def observe(self, settings: SettingsPair, first_pair: int, counts: Pentanomial) -> None:
        """Add a settings pair's result to the observations, unless an earlier settings pair has added the same games.

        ``first_pair`` is the number of the settings pair's first game pair, which determines the openings.
        """
        # Games are the same either way round.
        shares = self.limit_shares
        log_limit = 0.0 if shares is None else shares.log_limit(shares.of_settings_pair(settings.number))
        meeting = (frozenset((settings.first, settings.second)), first_pair % self.openings, log_limit)
        if meeting not in self._seen:
            self._seen.add(meeting)
            self.observations.add(settings.first, settings.second, counts, log_limit)

    def without_results(self) -> StudyState:
        """A copy that has the model, but no results."""
        return StudyState(
            Observations(self.observations.space), self.openings, self.limit_shares, self.is_paired, model=self.model,
            best=self.best, fitted_results=self.fitted_results,
        )  # fmt: skip

    def note_end(self, result: RoundResult) -> RoundEnd:
        """Record the study's state at the end of a round in ``ends``, and return it."""
        expected, deviation = result.expected, result.deviation
        if result.elo is None and self.model is not None:
            expected, deviation = self.model.difference(result.values, self.observations.space.default_values)
        elo = result.elo if expected is None else expected
        if not self.is_paired:
            elo = result.counts.estimate().elo if result.counts.pairs else 0.0
        pairs = sum(one.counts.pairs for one in self.results.values())
        end = RoundEnd(result.number, result.values, result.counts, elo or 0.0, pairs, deviation, expected)
        self.ends[result.number] = end
        return end

    def refit(self, *, is_last: bool) -> None:
        """Fit the model again if the number of results has grown by the factor ``REFIT_GROWTH``, or if ``is_last``.

        Nothing happens without results.
        """
        if not len(self.observations):
            return
        if is_last or len(self.observations) >= REFIT_GROWTH * self.fitted_results:
            self.fitted_results = len(self.observations)
            self.model = fit(self.observations, is_last=is_last)
            space = self.observations.space
            starts = [self.best or space.default_values, *combinations(space, MAX_COMBINATIONS)]
            self.best = maximum(self.model, self.observations.trust_region(), starts)

    def design(self) -> RoundDesign:
        """The design (centre and spread) from which the settings pairs of the next round are drawn."""
        if self.model is None or self.best is None:
            return first_design(self.observations.space)
        return design_of(self.model, self.best)

    def is_left_to_gain(self, elo: float) -> bool:
        """Whether the expected remaining gain is at least ``elo``; also true without a model."""
        if self.model is None or self.best is None or len(self.results) <= 1:
            return True
        return expected_remaining_gain(self.model, self.observations.trust_region(), self.best) >= elo
