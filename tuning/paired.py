"""The tuning method for any Optuna study: an objective that compares two sets of values, and a sampler for it.

The objective is an ordinary function of a trial. With ``DuelSampler`` or ``SpsaSampler`` the objective plays pairs of
sets that the sampler draws around the trial's values. With any other sampler it plays the trial's values against the
base. Trial attributes hold the results, so every Optuna storage keeps them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution
from optuna.trial import TrialState

from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.engine.errors import UserError
from elolab.engine.settings.parameters import Value
from elolab.tuning.match_command import Match, counts_of
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.playoff import Decision, decide
from elolab.tuning.study.result import DEVIATION_ATTRIBUTE
from elolab.tuning.study.rounds.pairs_of_settings import Round, SettingsPair, round_pairs
from elolab.tuning.study.sampler import (
    DESIGN_ATTRIBUTE,
    RESULTS_ATTRIBUTE,
    DuelSampler,
    SpsaSampler,
    dimension_of,
    suggest,
)
from elolab.tuning.study.space import R_END, Space, Values
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.validation.gain_test import GainTest

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

MAX_VALUE = 1000.0
"""Largest absolute Elo that a trial returns to Optuna."""
SEED_STEP, PLAYOFF_STEP = 1_000_000_000, 500_000_000
"""Offsets added to the seed: for the matches of a confirmation, and for the matches of a playoff."""


@dataclass(frozen=True)
class Recommended:
    """The set of values that follows from all games of a study."""

    values: dict[str, Value]
    """The recommended values; the base's values if no better set is expected."""
    is_base: bool
    elo: float
    """Expected Elo over the base; ``low`` to ``high`` is its 90 % interval."""
    low: float
    high: float


@dataclass(frozen=True)
class Confirmation:
    """The result of a test of a set of values against the base."""

    is_confirmed: bool
    counts: tuple[int, ...]
    """Numbers of pairs by outcome, from two losses of the set to two wins."""
    elo: float
    """Observed Elo over the base. ``elo_low`` to ``elo_high`` is its interval, corrected for early stopping."""
    elo_low: float
    elo_high: float
    pairs_needed: int | None
    """Total number of pairs that would probably confirm the observed gain; ``None`` if no gain was observed."""


class PairedObjective:
    """An objective for Optuna's ``study.optimize`` that compares sets of values by noisy matches."""

    def __init__(
        self,
        match: Match,
        distributions: Mapping[str, BaseDistribution],
        base: Mapping[str, Value],
        *,
        pairs_per_trial: int = 10,
        pairs_per_match: int = 1,
        seed: int = 1,
        map_matches: Callable[..., Iterable[Any]] = map,
    ) -> None:
        """``base`` has the values to improve, by name; ``distributions`` has the range or the choices of each value.

        A trial plays ``pairs_per_trial`` game pairs, in matches of ``pairs_per_match`` pairs. ``map_matches`` is a
        function such as ``map`` that calls ``match`` several times; ``ThreadPoolExecutor(8).map`` plays eight matches
        at a time.
        """
        dimensions = tuple(dimension_of(name, one) for name, one in distributions.items())
        for one in dimensions:
            if one.name not in base:
                raise UserError(f"base: {one.name} is missing, expected a value for each of the distributions")
        if not 1 <= pairs_per_match <= pairs_per_trial:
            raise UserError(
                f"pairs_per_trial = {pairs_per_trial} and pairs_per_match = {pairs_per_match}, expected numbers from 1 "
                "on, the first one at least as large"
            )
        self.space = Space(dimensions, tuple((one.name, base[one.name]) for one in dimensions), external=True)
        self.space.refuse_base_outside("base")
        self._match, self._seed, self._map = match, seed, map_matches
        self._matches, self._pairs_per_match = pairs_per_trial // pairs_per_match, pairs_per_match
        self._pairs = self._matches * pairs_per_match
        self._state = StudyState(Observations(self.space), openings=1 << 62)
        self._lock = threading.RLock()

    def sampler(self) -> DuelSampler:
        """The sampler ``duel`` for this objective: it samples around the maximum of a model of all games."""
        return DuelSampler(self.space, self._state, self._learn)

    def spsa_sampler(
        self, trials: int, c_end: Mapping[str, float] = MappingProxyType({}), r_end: float = R_END
    ) -> SpsaSampler:
        """The sampler SPSA for a study of ``trials`` trials, with the schedules of fishtest and OpenBench.

        ``c_end`` is the final perturbation of each value, by name: half the distance between the two sets that play.
        Its unit is the unit of the value or, with ``log``, of the value's natural logarithm. The default is a twentieth
        of the range. ``r_end`` is the final step: each game won moves the centre by ``r_end`` times ``c_end``.
        """
        unknown = next((name for name in c_end if name not in self.space.names), None)
        if unknown is not None:
            raise UserError(f"c_end: {unknown} is none of the distributions")
        dimensions = tuple(replace(one, c_end=c_end.get(one.name), r_end=r_end) for one in self.space.dimensions)
        return SpsaSampler(replace(self.space, dimensions=dimensions), trials * self._pairs, self._seed)

    def __call__(self, trial: Trial) -> float:
        """Play a trial's matches; return the Elo of the trial's values over the base."""
        values = tuple(suggest(trial, dimension) for dimension in self.space.dimensions)
        recorded, base, number = trial.user_attrs.get(DESIGN_ATTRIBUTE), self.space.default_values, trial.number
        one = Round(number, number * self._matches, self._matches, self._pairs_per_match, number * self._pairs)
        scheduled = [
            pair for pair in round_pairs(self.space, self._seed, values, recorded, one)
            if pair.settings.first != pair.settings.second
        ]  # fmt: skip
        played = self._play_all([
            (pair.settings.first, pair.settings.second, pair.pairs, self._seed + pair.first_pair) for pair in scheduled
        ])  # fmt: skip
        results = [
            [pair.first_pair, list(pair.settings.first), list(pair.settings.second), list(counts.counts)]
            for pair, counts in zip(scheduled, played, strict=True)
        ]
        total = sum(played, Pentanomial((0, 0, 0, 0, 0)))
        trial.set_user_attr(RESULTS_ATTRIBUTE, results)
        with self._lock:
            self._observe(trial.number, results)
            model = self._state.model
            if recorded is not None and model is not None:
                elo, deviation = model.difference(values, base)
                trial.set_user_attr(DEVIATION_ATTRIBUTE, deviation)
            else:
                elo = elo_of_score(total.score) if total.pairs else 0.0
        return min(max(elo, -MAX_VALUE), MAX_VALUE)

    def recommendation(self, study: Study, playoff_pairs: int = 0) -> Recommended:
        """The recommendation from all games of the study's finished trials.

        It is the maximum of the model or, with SPSA, the last iterate. If its expected gain rounds to 0.0 Elo, the base
        is recommended. The best trial is not recommended, because the best of many noisy trials is
        mostly the luckiest one. With ``playoff_pairs`` the candidate first plays this number of pairs against the base,
        which corrects the model's expectation. Raises ``UserError`` if there are no games.
        """
        found = self._decision(study, playoff_pairs)
        low, high = found.interval()
        return Recommended(self._named(found.values), found.is_base, found.gain, low, high)

    def _decision(self, study: Study, playoff_pairs: int) -> Decision:
        with self._lock:
            self._learn(study)
            self._state.refit(is_last=True)
            model, best = self._state.model, self._state.best
            self._state.fitted_results = 0  # the next trial's model does without the last one's wider draws
            if model is None or best is None:
                raise UserError("the study has no finished trial with a result yet")
            if isinstance(study.sampler, SpsaSampler):
                best = tuple(study.sampler.last_iterate(study).values())
            is_base, seed = best == self.space.default_values, self._seed + PLAYOFF_STEP
            counts = self._play_base(best, 0 if is_base else playoff_pairs, seed)
            return decide(model, best, counts.pairs, counts.score, self._state.observations.trust_region())

    def confirm(self, values: Mapping[str, Value], pairs: int) -> Confirmation:
        """Test whether ``values`` are better than the base, with at most ``pairs`` new game pairs.

        If the values are not better, the test confirms a gain with at most 5 % probability. The matches use other seeds
        than the matches of the study.
        """
        test, counts = GainTest(pairs), Pentanomial((0, 0, 0, 0, 0))
        one = tuple(values[name] for name in self.space.names)
        state = test.test(counts)
        for look in test.analyses(pairs):
            counts += self._play_base(one, look - counts.pairs, self._seed + SEED_STEP + counts.pairs)
            state = test.test(counts)
            if state.verdict != "undecided":
                break
        found = test.estimate(counts)
        return Confirmation(
            state.verdict != "undecided", counts.counts, found.elo, found.elo_low, found.elo_high, state.pairs_needed
        )

    def _play_all(self, matches: Sequence[tuple[Values, Values, int, int]]) -> list[Pentanomial]:
        """The outcomes of several matches; each match is two sets of values, a number of pairs and a seed."""

        def play(match: tuple[Values, Values, int, int]) -> Pentanomial:
            first, second, pairs, seed = match
            return counts_of(self._match(self._named(first), self._named(second), pairs, seed), pairs, seed)

        return list(self._map(play, matches))

    def _play_base(self, values: Values, pairs: int, seed: int) -> Pentanomial:
        """The outcomes of ``pairs`` game pairs of a set against the base, from the set's point of view."""
        base, each = self.space.default_values, self._pairs_per_match
        starts = range(0, pairs, each)
        matches = [(values, base, min(each, pairs - start), seed + start) for start in starts]
        return sum(self._play_all(matches), Pentanomial((0, 0, 0, 0, 0)))

    def _named(self, values: Values) -> dict[str, Value]:
        return dict(zip(self.space.names, values, strict=True))

    def _learn(self, study: Study) -> None:
        """Read the results of finished trials, including trials of other processes and earlier runs."""
        with self._lock:
            for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
                self._read(trial)

    def _read(self, trial: FrozenTrial) -> None:
        self._observe(trial.number, trial.user_attrs.get(RESULTS_ATTRIBUTE, []))

    def _observe(self, number: int, results: Sequence[Any]) -> None:
        if number in self._state.observed_trials:
            return
        self._state.observed_trials.add(number)
        for place, first, second, counts in results:
            settings = SettingsPair(place, tuple(first), tuple(second))
            self._state.observe(settings, place, Pentanomial(tuple(counts)))
        self._state.refit(is_last=False)
