"""The samplers of a study by name: elolab's own, and Optuna's, made reproducible after interruptions.

A settings pair is two sets of values that play each other.

``DuelSampler`` and ``SpsaSampler`` suggest the centre of a round's settings pairs. Suggestions of other samplers depend
only on the seed, the trial's number and the earlier trials. Each trial creates its sampler with a seed derived from the
study's seed and the trial's number, so that no state is lost if the process ends.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, CmaEsSampler, GPSampler, QMCSampler, RandomSampler, TPESampler
from optuna.trial import TrialState

from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.rounds.spsa import Spsa, Theta
from elolab.tuning.study.space import Dimension, Space, Values
from elolab.tuning.study.state import StudyState

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from elolab.tuning.study.study_spec import TuningSpec

DESIGN_ATTRIBUTE = "elolab:design"
"""Name of the trial attribute that holds the design of its round (``RoundDesign.plain``)."""
RESULTS_ATTRIBUTE = "duels"
"""Name of the trial attribute with the results of its settings pairs.

Each result has the number of the first game pair, the first and the second set of values, and the counts of outcomes.
"""
PACKAGES = {"cmaes": ("cmaes",), "qmc": ("scipy",), "gp": ("torch", "scipy")}
"""Additional Python packages that a sampler needs, by the sampler's name."""


class SamplerError(UserError):
    """Raised if a sampler is unavailable on this machine; the message says how to install it."""


def check_sampler(name: str, where: str, other: str = "duel") -> None:
    """Raise ``SamplerError`` if a Python package that the sampler needs is missing.

    The message suggests the sampler ``other``, which needs no further package. ``where`` begins the message.
    """
    for package in PACKAGES.get(name, ()):
        if find_spec(package) is None:
            raise SamplerError(
                f"{where}: sampler = {name!r} needs the Python package {package!r}, which is not installed",
                f"pip install {package}, or use sampler = {other!r}",
            )


def distribution_of(dimension: Dimension) -> BaseDistribution:
    """Convert a dimension to an Optuna distribution."""
    if dimension.choices:
        return CategoricalDistribution(dimension.choices)
    log, low, high = dimension.scale == "log", dimension.low, dimension.high
    if dimension.is_whole:
        return IntDistribution(int(low), int(high), log=log, step=1 if log else int(dimension.step))
    return FloatDistribution(low, high, log=log, step=None if log else dimension.step or None)


def dimension_of(name: str, distribution: BaseDistribution) -> Dimension:
    """Convert an Optuna distribution to the dimension ``name``."""
    if isinstance(distribution, CategoricalDistribution):
        return Dimension(name, choices=tuple(distribution.choices))  # type: ignore[arg-type]
    if not isinstance(distribution, IntDistribution | FloatDistribution):
        raise ValueError(f"{name}: {distribution!r} is no distribution of numbers or choices")
    step = 0.0 if isinstance(distribution, FloatDistribution) and distribution.step is None else distribution.step
    scale = "log" if distribution.log else "linear"
    return Dimension(name, distribution.low, distribution.high, step or 0, scale)


def suggest(trial: optuna.Trial, dimension: Dimension) -> Value:
    """The trial's value of a dimension: the recorded value, or a new suggestion of the sampler."""
    if dimension.choices:
        choice = trial.suggest_categorical(dimension.name, dimension.choices)
        return dimension.choices[dimension.choices.index(choice)]
    distribution = distribution_of(dimension)
    if isinstance(distribution, IntDistribution):
        step = distribution.step
        return trial.suggest_int(dimension.name, distribution.low, distribution.high, log=distribution.log, step=step)
    assert isinstance(distribution, FloatDistribution)
    low, high = distribution.low, distribution.high
    return trial.suggest_float(dimension.name, low, high, log=distribution.log, step=distribution.step)


def trial_seed(seed: int, number: int) -> int:
    """The random seed of one trial, 32 bits: the first bytes of the SHA-256 of ``"<seed>:<number>"``."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:4], "big")


def sampler_of(spec: TuningSpec, pairs: int) -> BaseSampler:
    """The sampler of a study; ``pairs`` is the number of game pairs of all its rounds."""
    if spec.sampler == "duel":
        return DuelSampler(spec.space)
    if spec.sampler == "spsa":
        return SpsaSampler(spec.space, pairs, spec.conditions.seed)
    distributions = {dimension.name: distribution_of(dimension) for dimension in spec.space.dimensions}
    return ReproducibleSampler(spec.sampler, spec.conditions.seed, distributions, spec.startup_trials)


class WholeSetSampler(BaseSampler):
    """Base class of samplers that suggest the values of all dimensions of a trial together."""

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self._distributions = dict(distributions)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The dimensions that have more than one value, by name. Optuna calls this method."""
        return {name: one for name, one in self._distributions.items() if not one.single()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Suggest a value of one dimension. Optuna's interface requires this method.

        Optuna calls the method only for dimensions that ``sample_relative`` leaves out: with this class, for none.
        """
        return self.sample_relative(study, trial, {param_name: param_distribution})[param_name]


class PairedSampler(WholeSetSampler):
    """Base class of samplers whose trials play settings pairs around the trial's values.

    A trial attribute holds the data from which ``rounds.pairs_of_settings.round_pairs`` computes the settings pairs.
    """

    def __init__(self, space: Space) -> None:
        super().__init__({dimension.name: distribution_of(dimension) for dimension in space.dimensions})

    @abstractmethod
    def _centre(self, study: Study, trial: FrozenTrial) -> tuple[Values, object]:
        """The trial's values, and the plain data that determine which sets around them play.

        Without these data, the values play against the base.
        """

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The values of the trial, by dimension.

        Also record the data that determine which sets of values play, unless an earlier process has recorded them.
        """
        centre, design = self._centre(study, trial)
        if design is not None and DESIGN_ATTRIBUTE not in trial.user_attrs:
            study._storage.set_trial_user_attr(trial._trial_id, DESIGN_ATTRIBUTE, design)
            trial.user_attrs[DESIGN_ATTRIBUTE] = design
        return dict(zip(self._distributions, centre, strict=True))


class DuelSampler(PairedSampler):
    """The sampler ``duel``: every trial is the centre of a round, and lies at the maximum of a model of all games."""

    def __init__(
        self, space: Space, state: StudyState | None = None, learn: Callable[[Study], None] = lambda study: None
    ) -> None:
        """``state`` holds the results and the model; ``learn`` adds the results of the study's trials to ``state``."""
        super().__init__(space)
        self.state = state or StudyState(Observations(space), openings=1)
        self._learn = learn

    def _centre(self, study: Study, trial: FrozenTrial) -> tuple[Values, object]:
        self._learn(study)
        design = self.state.design()
        return design.centre, design.plain()


class SpsaSampler(PairedSampler):
    """The sampler ``spsa``: a trial is one iteration of SPSA, in which two sets of values around the trial's values
    play.

    The trial's values are theta, the current values of SPSA. They follow from the finished trials alone, so that an
    interruption changes nothing.
    """

    def __init__(self, space: Space, pairs: int, seed: int = 1) -> None:
        """``pairs`` is the number of game pairs of the whole search, which determines the schedules."""
        super().__init__(space)
        self.space, self.pairs, self.seed = space, pairs, seed

    def last_iterate(self, study: Study) -> dict[str, Value]:
        """The values that SPSA recommends, by name: the current values after all finished trials."""
        return dict(zip(self.space.names, self._spsa.values(self._walk(study)[0]), strict=True))

    @property
    def _spsa(self) -> Spsa:
        return Spsa(self.space, self.pairs, self.seed)

    def _walk(self, study: Study) -> tuple[Theta, int]:
        """The state of SPSA (theta) after the finished trials, and the number of game pairs of these trials."""
        spsa = self._spsa
        theta, played = spsa.start(), 0
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            design = trial.user_attrs.get(DESIGN_ATTRIBUTE)
            for _, first, second, counts in trial.user_attrs.get(RESULTS_ATTRIBUTE, []):
                if design and [first, second] == design["sets"]:
                    found = Pentanomial(tuple(counts))
                    theta, played = spsa.after(theta, design["step"], found), played + found.pairs
        return theta, played

    def _centre(self, study: Study, trial: FrozenTrial) -> tuple[Values, object]:
        spsa, (theta, played) = self._spsa, self._walk(study)
        is_users = "fixed_params" in trial.system_attrs  # a trial that the user has queued plays the base
        return spsa.values(theta), None if is_users else spsa.iteration(theta, trial.number, played).plain()


class ReproducibleSampler(WholeSetSampler):
    """Suggests all dimensions with an Optuna sampler (the inner sampler), with a seed that depends on the trial's
    number.

    So a trial that was only partly recorded when the process died gets its original values.
    """

    def __init__(
        self, name: str, seed: int, distributions: Mapping[str, BaseDistribution], startup_trials: int
    ) -> None:
        super().__init__(distributions)
        self._name, self._seed, self._startup_trials = name, seed, startup_trials

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The suggested values, by dimension.

        Dimensions that the inner sampler leaves out are drawn one by one in a fixed order.
        """
        inner = self._sampler_for(trial.number)
        space = {name: one for name, one in search_space.items() if self._can_suggest(one)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of drawing categorical dimensions one by one
            found = _recorded_suggestion(trial, self._name)
            if not found and space:
                found = inner.sample_relative(study, trial, space)
            for name, distribution in search_space.items():
                if name not in found:
                    found[name] = inner.sample_independent(study, trial, name, distribution)
        return {name: found[name] for name in search_space}

    def _can_suggest(self, distribution: BaseDistribution) -> bool:
        """Whether the inner sampler can suggest a dimension with this distribution together with others."""
        return self._name in ("tpe", "gp") or not isinstance(distribution, CategoricalDistribution)

    def _sampler_for(self, number: int) -> BaseSampler:
        seed = trial_seed(self._seed, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            if self._name == "tpe":
                return TPESampler(seed=seed, n_startup_trials=self._startup_trials, multivariate=True)
            if self._name == "cmaes":
                return CmaEsSampler(seed=seed, warn_independent_sampling=False)
            if self._name == "gp":
                return GPSampler(seed=seed, n_startup_trials=self._startup_trials, deterministic_objective=False)
            if self._name == "qmc":
                return _NumberedQuasiMonteCarlo(number, trial_seed(self._seed, 0), seed)
            if self._name == "random":
                return RandomSampler(seed=seed)
        raise ValueError(f"no sampler {self._name!r}")


def _recorded_suggestion(trial: FrozenTrial, name: str) -> dict[str, Any]:
    """The suggestion that Optuna's TPE or GP has recorded for the trial; empty if it is missing or incomplete.

    TPE and GP record a suggestion before the trial's parameters, so that other workers see it. After an interruption GP
    would regard the trial as running, and avoid its own suggestion.
    """
    parts: list[str] = []
    while part := trial.system_attrs.get(f"{name}:relative_params:{len(parts)}"):
        parts.append(part)
    try:
        recorded: dict[str, Any] = json.loads("".join(parts))
    except json.JSONDecodeError:  # empty, or the process died between two parts
        return {}
    return recorded


class _NumberedQuasiMonteCarlo(QMCSampler):
    """Sampler that follows a scrambled low-discrepancy sequence. The trial with number n gets point n.

    Optuna's own counter would skip a point if the process dies before the trial is recorded.
    """

    def __init__(self, number: int, scramble_seed: int, independent_seed: int) -> None:
        super().__init__(
            scramble=True,
            seed=scramble_seed,
            independent_sampler=RandomSampler(seed=independent_seed),
            warn_asynchronous_seeding=False,
            warn_independent_sampling=False,
        )
        self._number = number

    def _find_sample_id(self, study: Study, search_space: dict[str, BaseDistribution]) -> int:
        return self._number
