"""What a study knows: the results of its rounds, and the model fitted to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from elolab.arena.figures.statistics import Pentanomial
from elolab.tuning.study.model.fitting import fit
from elolab.tuning.study.model.maxima import combinations, expected_remaining_gain, maximum, sampled_starts
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.result import RoundResult
from elolab.tuning.study.rounds.limits import LimitShares
from elolab.tuning.study.rounds.pairs_of_settings import RoundDesign, SettingsPair, design_of, first_design
from elolab.tuning.study.rounds.schedule import Round
from elolab.tuning.study.space import Values

REFIT_GROWTH = 1.05
"""The model is fitted again when there are so many times the results of the last fit."""
MAX_COMBINATIONS = 16


@dataclass
class StudyState:
    """The results of the rounds so far, and the model fitted to them."""

    observations: Observations
    openings: int
    """How many the suite has, after which they come again."""
    results: dict[int, RoundResult] = field(default_factory=dict)
    """By number."""
    model: ResponseModel | None = None
    best: Values | None = None
    """The maximum of the model inside what was sampled when it was fitted."""
    fitted_results: int = 0
    """Results that the last fit was made of."""
    limit_shares: LimitShares | None = None
    """At which limit each settings pair played, where there are several."""
    _seen: set[tuple[frozenset[Values], int, float]] = field(default_factory=set)
    """Settings pairs, the opening they began with and their limit: a repeated one is the same games again."""

    def add(self, result: RoundResult, one: Round | None) -> None:
        """Take up a finished round; ``one`` is its place in the schedule, ``None`` if it has none any more."""
        self.results[result.number] = result
        if one is None:
            return
        for place, (settings, counts) in enumerate(result.results):
            self.observe(settings, one.first_pair + place * one.game_pairs, counts)

    def observe(self, settings: SettingsPair, first_pair: int, counts: Pentanomial) -> None:
        """Take up what a settings pair played from so many game pairs on, unless the same games are known already."""
        # Either way round the games are the same.
        log_limit = self.log_limit(settings)
        meeting = (frozenset((settings.first, settings.second)), first_pair % self.openings, log_limit)
        if meeting not in self._seen:
            self._seen.add(meeting)
            self.observations.add(settings.first, settings.second, counts, log_limit)

    def log_limit(self, settings: SettingsPair) -> float:
        """The logarithm of a settings pair's limit over the target."""
        shares = self.limit_shares
        return 0.0 if shares is None else shares.log_limit(shares.of_settings_pair(settings.number))

    def without_results(self) -> StudyState:
        """The same model, but no results."""
        return StudyState(
            Observations(self.observations.space), self.openings, {}, self.model, self.best, self.fitted_results,
            self.limit_shares,
        )  # fmt: skip

    def refit(self, *, is_last: bool) -> None:
        """Fit the model again if there is enough that is new; when depends on the number of results alone."""
        if not len(self.observations):
            return
        if is_last or len(self.observations) >= REFIT_GROWTH * self.fitted_results:
            self.fitted_results = len(self.observations)
            self.model = fit(self.observations, is_last=is_last)
            space = self.observations.space
            starts = [self.best or space.default_values, *combinations(space, MAX_COMBINATIONS)]
            starts += sampled_starts(self.model, self.observations)
            self.best = maximum(self.model, self.observations.trust_region(), starts)

    def design(self) -> RoundDesign:
        """The design of the settings pairs of a round that is laid out from what is known."""
        if self.model is None or self.best is None:
            return first_design(self.observations.space)
        return design_of(self.model, self.best)

    def is_left_to_gain(self, elo: float) -> bool:
        """Whether so much is expected to remain to be gained, or too little is known to say."""
        if self.model is None or self.best is None or len(self.results) <= 1:
            return True
        return expected_remaining_gain(self.model, self.observations.trust_region(), self.best) >= elo
