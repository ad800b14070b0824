"""A study's knowledge: the results of its rounds, and the model fitted to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from elolab.arena.statistics.elo import Pentanomial
from elolab.tuning.study.model.maxima import combinations, expected_remaining_gain, maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.result import RoundResult
from elolab.tuning.study.rounds.limits import LimitShares
from elolab.tuning.study.rounds.pairs_of_settings import RoundDesign, SettingsPair, design_of, first_design
from elolab.tuning.study.rounds.schedule import Round
from elolab.tuning.study.space import Values

REFIT_GROWTH = 1.05
"""Growth of the number of results after which the model is fitted again."""
MAX_COMBINATIONS = 16


@dataclass
class StudyState:
    """The results of the rounds so far, and the model fitted to them."""

    observations: Observations
    openings: int
    """Number of openings in the suite, after which they repeat."""
    results: dict[int, RoundResult] = field(default_factory=dict)
    """Results by the round's number."""
    model: ResponseModel | None = None
    best: Values | None = None
    """The model's maximum inside the sampled region, at the last fit."""
    fitted_results: int = 0
    """Number of results in the last fit."""
    limit_shares: LimitShares | None = None
    """Limits of the settings pairs, if there are several."""
    _seen: set[tuple[frozenset[Values], int, float]] = field(default_factory=set)
    """Settings pairs, first opening and limit of known games: a repetition would be the same games."""

    def add(self, result: RoundResult, one: Round | None) -> None:
        """Add a finished round; ``one`` is its place in the schedule, or ``None``."""
        self.results[result.number] = result
        if one is None:
            return
        for place, (settings, counts) in enumerate(result.results):
            self.observe(settings, one.first_pair + place * one.game_pairs, counts)

    def observe(self, settings: SettingsPair, first_pair: int, counts: Pentanomial) -> None:
        """Add a settings pair's result, unless the same games are known; ``first_pair`` is its first game pair."""
        # Games are the same either way round.
        log_limit = self.log_limit(settings)
        meeting = (frozenset((settings.first, settings.second)), first_pair % self.openings, log_limit)
        if meeting not in self._seen:
            self._seen.add(meeting)
            self.observations.add(settings.first, settings.second, counts, log_limit)

    def log_limit(self, settings: SettingsPair) -> float:
        """Logarithm of a settings pair's limit relative to the target."""
        shares = self.limit_shares
        return 0.0 if shares is None else shares.log_limit(shares.of_settings_pair(settings.number))

    def without_results(self) -> StudyState:
        """A copy with the model but no results."""
        return StudyState(
            Observations(self.observations.space), self.openings, {}, self.model, self.best, self.fitted_results,
            self.limit_shares,
        )  # fmt: skip

    def refit(self, *, is_last: bool) -> None:
        """Refit the model if enough results are new; the moment depends only on their number."""
        if not len(self.observations):
            return
        if is_last or len(self.observations) >= REFIT_GROWTH * self.fitted_results:
            self.fitted_results = len(self.observations)
            self.model = fit(self.observations, is_last=is_last)
            space = self.observations.space
            starts = [self.best or space.default_values, *combinations(space, MAX_COMBINATIONS)]
            self.best = maximum(self.model, self.observations.trust_region(), starts)

    def design(self) -> RoundDesign:
        """The design of the next round's settings pairs."""
        if self.model is None or self.best is None:
            return first_design(self.observations.space)
        return design_of(self.model, self.best)

    def is_left_to_gain(self, elo: float) -> bool:
        """Whether at least ``elo`` is expected to remain to be gained, or too little is known."""
        if self.model is None or self.best is None or len(self.results) <= 1:
            return True
        return expected_remaining_gain(self.model, self.observations.trust_region(), self.best) >= elo
