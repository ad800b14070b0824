"""The specification of a tuning study: an immutable value, read from TOML with strict checks.

A settings pair is two sets of values that play each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, ClassVar

from elolab.arena.player_spec import read_limits
from elolab.arena.records import PlayerSpec
from elolab.arena.sequential import MAX_HYPOTHESIS, MIN_GAP, SequentialSettings, pairs_to_accept, target_of
from elolab.arena.statistics.elo import SPRT_MODELS
from elolab.arena.tournament_reader import folder_name
from elolab.engine.errors import UserError
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError, read_toml
from elolab.engine.settings.limits import GRAMMAR, OWN_LEVEL, Limits
from elolab.engine.settings.parameters import Value
from elolab.engine.settings.schema import COMPUTED, REQUIRED, Table
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.conditions import CONDITIONS, Conditions, read_conditions
from elolab.tuning.external_engine import BUILD, CATALOGUE, ExternalEngine
from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.rounds.limit_shares import LimitShares, equal_cost, normalised, target_alone
from elolab.tuning.study.space import DIMENSIONS, SPSA_KEYS, Space, read_options, read_space
from elolab.tuning.study.validation.gain_test import GainTest
from elolab.tuning.study.validation.slower_limits import SLOW_FACTOR, on_processor_clock, slower

PAIRED_SAMPLERS = ("duel", "spsa")
"""Samplers that play two sets of values against each other; all other samplers play each trial against the base."""
SAMPLERS = (*PAIRED_SAMPLERS, "tpe", "cmaes", "gp", "qmc", "random")
MODELLING_SAMPLERS = ("tpe", "gp")
"""Samplers that start with ``startup_trials`` random trials before they use a model."""
GAIN, SPRT, NON_REGRESSION = "gain", "sprt", "non_regression"
FIRST_KINDS = (GAIN, SPRT)
SLOW_KINDS = (NON_REGRESSION, "fixed", "sprt", "off")

MAX_GAMES = 100_000_000
MAX_ROUND_PAIRS = 100_000
MAX_OVERLAP = 64
MAX_VALIDATION_PAIRS = 1_000_000
MAX_ELO = 400
SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600}
MAX_SECONDS = 365 * 24 * 3600
DEFAULT_TRIALS = 80
MIN_TRIALS, MAX_TRIALS = 2, 10_000
STARTUP_TRIALS = 10
ERROR_PROBABILITIES = (0.0001, 0.49)
"""Smallest and largest allowed error probability of the validation's sequential test."""
MOST_PAIRS = 10_000
MOST_SLOW_PAIRS = 500
"""Maximum number of game pairs of the second validation if it has a fixed length that is derived from the budget."""
INTERIM_PAIRS = 25
"""Number of game pairs between two interim analyses of a validation's sequential test, at any concurrency."""
DEFAULT_ROUND_PAIRS = 200
"""Default number of game pairs per round.

At a thousand nodes per move, such a round takes a few seconds to play and tens of milliseconds to store.
"""
COMMAND_PAIRS = 8
"""Default number of game pairs in a match that a command plays, except with the sampler ``duel``."""
SPSA_PAIRS = 8
"""Default number of game pairs per iteration of the sampler ``spsa``, as in OpenBench; short searches have fewer."""
MIN_ITERATIONS = 100
"""Minimum number of iterations of the sampler ``spsa``, unless the study's file sets their length."""
MIN_ROUNDS = 20
"""Minimum number of rounds, unless the study's file sets their length. Under small budgets rounds are shorter than
usual.
"""
BASE = "base"
"""Name of the base in tables and sentences, if a command or a function plays the matches of the study."""
MIN_SEARCH, MAX_SEARCH = 0.4, 0.85
"""Smallest and largest share of rounds and playoff in a budget that also covers the validation."""
TRIALS_SEARCH = 0.6
"""Share of rounds and playoff in a budget that also covers the validation, for samplers other than ``duel``."""
MIN_PAIRS = 20
"""Minimum number of game pairs of a budget. With fewer pairs the result would be mostly chance."""


@dataclass(frozen=True)
class Budget:
    """The budget of a study, in games or in seconds; the unused field is ``None``.

    With a validation of the kind ``gain``, the budget covers rounds, playoff and validation. Otherwise it covers only
    rounds and playoff, and determines the length of the validation (``Validation.pairs``).
    """

    games: int | None
    seconds: float | None

    def content(self) -> dict[str, Any]:
        """The budget as plain data."""
        return {"games": self.games} if self.games is not None else {"seconds": self.seconds}


@dataclass(frozen=True, kw_only=True)
class Validation:
    """The settings of a study's validations: matches on reserved openings that confirm or reject a gain."""

    kind: str = schema.choice(FIRST_KINDS, default=COMPUTED, example=SPRT)
    """Kind of the first validation match. The budget covers a match ``gain``; a match ``sprt`` needs further games."""
    limit: ClassVar[str] = schema.text(default=COMPUTED, example="nodes=2000", expected=GRAMMAR)
    limits: Limits
    """Search limits of the first match, a sequential test."""
    elo_lower: float = schema.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS, default=0.0, example=1, unit="Elo")
    elo_upper: float = schema.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS, default=5.0, example=10, unit="Elo")
    """Upper hypothesis of the first match, in Elo; accepting it confirms the gain."""
    model: str = schema.choice(SPRT_MODELS, default=SPRT_MODELS[0], example=SPRT_MODELS[1])
    """The Elo scale of the hypotheses, one of ``SPRT_MODELS``."""
    alpha: float = schema.number(*ERROR_PROBABILITIES, default=0.05, example=0.01)
    beta: float = schema.number(*ERROR_PROBABILITIES, default=0.05, example=0.01)
    maximum_pairs: int | None = schema.whole(1, MAX_VALIDATION_PAIRS, default=COMPUTED, example=4000, unit="pairs")
    """Maximum number of game pairs of a sequential test; ``None`` means the default of the method ``pairs``."""
    slow: str = schema.choice(SLOW_KINDS, default=COMPUTED, example="sprt")
    """Kind of the second match, at a larger search limit: ``non_regression``, ``sprt``, ``fixed`` or ``off``.

    A ``fixed`` match has a fixed length; ``off`` means that there is no second match.
    """
    slow_limit: ClassVar[str] = schema.text(default=COMPUTED, example="move_time=0.02,cpu", expected=GRAMMAR)
    slow_limits: Limits
    slow_elo_lower: float = schema.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS, default=-5.0, example=-10, unit="Elo")
    slow_elo_upper: float = schema.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS, default=0.0, example=1, unit="Elo")
    """Upper hypothesis of the non-regression test, in Elo. The test passes when it accepts this hypothesis."""
    slow_maximum_pairs: int | None = schema.whole(1, MAX_VALIDATION_PAIRS, default=COMPUTED, example=2000, unit="pairs")
    """Maximum number of game pairs of the non-regression test; ``None`` means the maximum of the first match."""
    slow_pairs: int | None = schema.whole(1, MAX_VALIDATION_PAIRS, default=COMPUTED, example=200, unit="pairs")
    """Game pairs of a second match of fixed length; ``None`` means a number computed from the number of games of the
    tuning.
    """
    preset: str = schema.text(
        default=COMPUTED, example="tuned", expected="a name for the preset, without folder or suffix"
    )
    """Name of the preset file that is written for a validated recommendation."""

    def pairs(self, games: int) -> int:
        """Maximum number of game pairs in the sequential test after a tuning of ``games`` games.

        By default the test may play as many games as the tuning. Such a match measures the gain about as precisely as
        the tuning's model. With fewer games a real gain would often stay undecided; more games would cost more than the
        tuning itself. After a short tuning the default is higher, so that a large gain is probably confirmed.
        """
        return self.maximum_pairs or min(MOST_PAIRS, max(self._enough_pairs("sprt"), games // 2))

    def _enough_pairs(self, kind: str) -> int:
        test = self.test(kind)
        return pairs_to_accept(test, target_of(test))

    def pairs_of_slow_match(self, games: int) -> int:
        """Maximum number of game pairs of the second match after a tuning of ``games`` games.

        Each of its games takes ``SLOW_FACTOR`` times as long as a game of the first match. By default a non-regression
        test has as many pairs as the first match, because a small difference needs as many games at a slow limit as at
        a fast one.
        """
        if self.slow == NON_REGRESSION:
            return self.slow_maximum_pairs or max(self.pairs(games), self._enough_pairs(NON_REGRESSION))
        if self.slow == "fixed":
            return self.slow_pairs or min(MOST_SLOW_PAIRS, max(1, games // 2 // SLOW_FACTOR))
        return self.maximum_pairs or max(self._enough_pairs("sprt"), self.pairs(games) // SLOW_FACTOR)

    def hypotheses(self, kind: str) -> tuple[float, float]:
        """Lower and upper hypothesis of one kind of sequential test, in Elo on the scale ``model``."""
        if kind == NON_REGRESSION:
            return self.slow_elo_lower, self.slow_elo_upper
        return self.elo_lower, self.elo_upper

    @property
    def is_in_budget(self) -> bool:
        """Whether the budget covers the first validation match."""
        return self.kind == GAIN

    def gain_test(self, pairs: int) -> GainTest:
        """The test of the kind ``gain`` that is planned for ``pairs`` game pairs."""
        return GainTest(pairs, self.alpha)

    def test(self, kind: str) -> SequentialSettings:
        """Settings of the sequential test ``kind``: hypotheses, error probabilities, scale and interim analyses."""
        return SequentialSettings(*self.hypotheses(kind), self.alpha, self.beta, self.model, INTERIM_PAIRS)

    def content(self) -> dict[str, Any]:
        """Everything that determines the games and verdicts of the validations, as plain data."""
        data = {"limit": str(self.limits), "slow_limit": str(self.slow_limits)}
        names = ["elo_lower", "elo_upper", "model", "alpha", "beta", "maximum_pairs", "slow", "slow_pairs"]
        if self.slow == NON_REGRESSION:  # data from before this test existed lack these
            names += ["slow_elo_lower", "slow_elo_upper", "slow_maximum_pairs"]
        if self.is_in_budget:  # data from before this kind existed lack it
            names.append("kind")
        return data | {name: getattr(self, name) for name in names}


BUDGET = schema.declare(
    CATALOGUE, "budget", "budget", has_one_key=True,
    games=schema.whole(1, MAX_GAMES, default=COMPUTED, example=2000, unit="games"),
    **{
        unit: schema.number(1 / seconds, MAX_SECONDS / seconds, default=COMPUTED, example=30, unit=unit)
        for unit, seconds in SECONDS.items()
    },
)  # fmt: skip
VALIDATION = schema.declare(CATALOGUE, "validation", "validation", Validation)


@dataclass(frozen=True, kw_only=True)
class TuningSpec:
    """Specification of a tuning study."""

    conditions: Conditions
    space: Space
    budget: Budget = schema.table(
        BUDGET, default=REQUIRED, example={"games": 2000},
        expected="one of { games = N }, { seconds = S }, { minutes = M }, { hours = H }",
    )  # fmt: skip
    parameters: ClassVar[Any] = schema.key(
        schema.TEXTS, default=(), example=["null_depth", "lmr_base"], expected="a list of parameter names"
    )
    constraints: ClassVar[Any] = schema.key(
        schema.TEXTS, default=(), example=["low < high"], expected="a list of comparisons"
    )
    command: str | None = schema.text(default=None, example="./mymatch {a} {b} {pairs} {seed}")
    """The command that plays the matches; empty if a function plays them, ``None`` if elolab plays the games."""
    match_pairs: int | None = schema.whole(1, MAX_ROUND_PAIRS, default=COMPUTED, value=None, example=50, unit="pairs")
    """Maximum number of game pairs in a match of ``command``; ``None`` means a default that depends on the sampler."""
    dimensions: ClassVar[Any] = schema.table(DIMENSIONS, example={"null_depth": {"low": 2, "high": 4}})
    limits: ClassVar[Any] = schema.key(
        schema.TEXTS, default=(), example=["nodes=1250", "nodes=5000", "nodes=20000"],
        expected='a list of different limits, such as ["nodes=1250", "nodes=5000"]',
    )  # fmt: skip
    limit_shares: LimitShares = schema.key(schema.VALUES, default=COMPUTED, example=[16, 4, 1], least=1)
    """Search limits of the rounds' games with their shares; the playoff is played at the target limit."""
    sampler: str = schema.choice(SAMPLERS, default=SAMPLERS[0], example="tpe")
    round_pairs: int | None = schema.whole(1, MAX_ROUND_PAIRS, default=COMPUTED, example=100, unit="pairs")
    """Number of game pairs per round, or per iteration of ``spsa``; with a budget in time, per trial of other samplers.

    ``None`` means a default that depends on the budget.
    """
    overlap: int = schema.whole(0, MAX_OVERLAP, default=0, example=2, unit="rounds")
    """Maximum number of rounds or trials that are still in progress when the next one is designed."""
    trials: int = schema.whole(MIN_TRIALS, MAX_TRIALS, default=DEFAULT_TRIALS, example=40)
    """Number of trials for samplers other than ``duel``; each trial is a match against the base."""
    startup_trials: int = schema.whole(1, MAX_TRIALS, default=STARTUP_TRIALS, example=20)
    """Number of random trials before the samplers TPE and GP use their model."""
    stop_below: float = schema.number(0, MAX_ELO, default=0.0, example=2, unit="Elo")
    """The study ends early if the expected remaining gain is smaller than this, in Elo; with 0 it never ends early."""
    storage: str | None = schema.text(
        default=COMPUTED, example="postgresql+psycopg://user@server/database", expected="the URL of an Optuna storage"
    )
    """URL of Optuna's storage; ``None`` means a file in the run's folder."""
    validation: Validation = schema.table(VALIDATION)
    text: str = field(default="", compare=False, repr=False)
    """The specification as JSON text, in the form that ``tuning_from_text`` reads."""

    @property
    def name(self) -> str:
        """Name of the study, which is also the name of its default folder."""
        return self.conditions.name

    @property
    def engine(self) -> ExternalEngine | None:
        """The external engine to tune; ``None`` for the built-in one."""
        return self.conditions.external

    @property
    def is_paired(self) -> bool:
        """Whether the sampler plays settings pairs; otherwise it plays trials against the base."""
        return self.sampler in PAIRED_SAMPLERS

    @property
    def is_by_matches(self) -> bool:
        """Whether a command or a function plays the matches; otherwise elolab plays the games itself."""
        return self.command is not None

    @property
    def search_share(self) -> float:
        """Largest share of the budget for rounds and playoff; 1 if the budget does not cover the validation."""
        if not self.validation.is_in_budget:
            return 1.0
        return MAX_SEARCH if self.sampler == "duel" else TRIALS_SEARCH

    @property
    def base_name(self) -> str:
        """Name of the base, against which trials and recommendations play."""
        return self.conditions.base_name

    @property
    def keys_without_effect(self) -> tuple[str, ...]:
        """Keys that have no effect with this sampler and this kind of budget."""
        idle = [] if self.sampler in MODELLING_SAMPLERS else ["startup_trials"]
        if self.is_paired:
            idle.append("trials")
        elif self.budget.games is not None and not self.is_by_matches:
            idle.append("round_pairs")
        return tuple(idle)

    def unknown_speed(self, limits: Iterable[Limits]) -> tuple[str, ...]:
        """The study's name if a command or function plays the matches; otherwise as ``Conditions.unknown_speed``."""
        return (self.name,) if self.is_by_matches else self.conditions.unknown_speed(limits)

    def player(self, values: Mapping[str, Value], limits: Limits | None = None) -> PlayerSpec:
        """The player with these values of the dimensions; all other settings have the base's values.

        The player's name lists the differences from the base. ``limits`` replaces the limits of the specification.
        """
        return self.conditions.player(values, limits)

    def content(self) -> dict[str, Any]:
        """Everything that determines the study's games, as plain data."""
        later = {"overlap": self.overlap} if self.overlap else {}  # data from before overlap existed lack it
        if self.is_by_matches:
            return {
                "command": self.command,
                "budget": self.budget.content(),
                "sampler": self.sampler,
                "match_pairs": self.match_pairs,
                "round_pairs": self.round_pairs,
                "seed": self.conditions.seed,
                "base": dict(self.space.base),
                "constraints": list(self.space.constraints),
                "dimensions": {dimension.name: dimension.content() for dimension in self.space.dimensions},
                **({"stop_below": self.stop_below} if self.stop_below else {}),
                **later,
            }
        return {
            "engine": None,
            **self.conditions.content(),
            "sampler": self.sampler,
            "budget": self.budget.content(),
            "round_pairs": self.round_pairs,
            "trials": self.trials,
            "startup_trials": self.startup_trials,
            "stop_below": self.stop_below,
            "dimensions": {
                dimension.name: {**dimension.content(), "default": self.space.default[dimension.name]}
                for dimension in self.space.dimensions
            },
            "validation": self.validation.content(),
            **later,
            **({"constraints": list(self.space.constraints)} if self.space.constraints else {}),
            **self.limit_shares.content(),
        }


STUDY = schema.declare(CATALOGUE, "study", "tuning", CONDITIONS, TuningSpec)
"""The keys of a study's file, which ``elolab tune`` reads."""
OBJECTIVE = STUDY.only(("base", "set", "parameters", "dimensions", "constraints", "sampler", "startup_trials", "seed"))
"""The keys of ``STUDY`` that also apply to the maximisation of a function without games."""

MATCHES = STUDY.only((
    "name", "description", "command", "match_pairs", "dimensions", "constraints", "budget", "sampler", "round_pairs",
    "overlap", "stop_below", "seed",
))  # fmt: skip
"""The keys of ``STUDY`` that apply if a command or a function plays the matches."""

LENGTHS = ("budget", "validation.maximum_pairs", "validation.slow_maximum_pairs", "validation.slow_pairs")
"""Paths of keys in ``TuningSpec.content`` that only limit the length of the study. A resumed study may change them."""


def matches_from_mapping(data: Mapping[str, Any], where: str) -> TuningSpec:
    """Check plain data, and make the specification of a study whose matches a command or a function plays.

    Without a ``command``, a function plays the matches. Raises ``UserError`` with one line for the first mistake.
    """
    foreign = next((key for key in data if key in STUDY and key not in MATCHES), None)
    if foreign is not None:
        raise ConfigurationError(
            f"{where}: {foreign} applies to games that elolab plays, but a command plays the matches of this study",
            "leave it out",
        )
    table = Table(data, where, MATCHES, kind="tuning")
    space, validation = read_options(table), Table({}, where, VALIDATION)
    name, limits = folder_name(table, PurePath(where).stem), Limits()
    spec = table.read(
        TuningSpec,
        command=table.get("command", ""),
        conditions=Conditions(
            name=name, game="", seed=table["seed"], openings="", rules=Rules(), adjudication=Adjudication(),
            source=where, base_name=BASE, base=space.base, limits=limits,
        ),
        space=space,
        budget=_budget(table),
        limit_shares=target_alone(limits),
        storage=None,
        validation=validation.read(
            Validation, kind=GAIN, limits=limits, slow="off", slow_limits=limits, maximum_pairs=None, preset=name
        ),
        text=json.dumps(dict(data), default=str),
    )  # fmt: skip
    refuse_spsa_keys(space, spec.sampler, where)
    _check_budget(spec)
    if spec.budget.games is not None:
        most = round(spec.budget.games / 2 * spec.search_share * (1 - SHARE))
        table.get("round_pairs", high=most)
    return spec


def load_tuning(path: Path) -> TuningSpec:
    """Read a study's TOML file. Raises ``UserError`` with one line for the first mistake."""
    return tuning_from_mapping(read_toml(path), str(path))


def tuning_from_text(text: str, where: str) -> TuningSpec:
    """Read a specification from JSON text (``TuningSpec.text``); ``where`` is the path of the study's file.

    Older versions of elolab recorded no kind of match. In their data the first match is a sequential probability ratio
    test. In still older data, without ``slow``, the second match has a fixed length.
    """
    data = json.loads(text)
    validation = data.setdefault("validation", {})
    validation.setdefault("kind", SPRT)
    if validation.get("limit", data.get("limit")) != OWN_LEVEL:
        validation.setdefault("slow", "fixed")
    return _tuning_from(data, where)


def tuning_from_mapping(data: Mapping[str, Any], where: str) -> TuningSpec:
    """Check plain data, and make the specification of a study.

    ``where`` is the path of the study's file; its stem is the default name.

    Raises ``UserError`` with one line for the first mistake.
    """
    if "command" in data:
        return matches_from_mapping(data, where)
    spec = _tuning_from(data, where)
    idle = next((key for key in spec.keys_without_effect if key in data), None)
    refuse_spsa_keys(spec.space, spec.sampler, where)
    spec.space.refuse_base_outside(where)
    if idle is not None:
        budget = " and a budget in games" if idle == "round_pairs" else ""
        raise ConfigurationError(
            f"{where}: {idle} = {format_toml(data[idle])} has no effect with sampler = {spec.sampler!r}{budget}",
            "leave it out",
        )
    return spec


def refuse_spsa_keys(space: Space, sampler: str, where: str) -> None:
    """Raise ``ConfigurationError`` if a dimension has a key for the sampler ``spsa`` and the study uses another
    sampler.
    """
    for dimension in space.dimensions if sampler != "spsa" else ():
        given = next((key for key in SPSA_KEYS if getattr(dimension, key) is not None), None)
        if given is not None:
            raise ConfigurationError(
                f"{where}: [dimensions.{dimension.name}]: {given} has no effect with sampler = {sampler!r}; it belongs "
                "to 'spsa'"
            )


def _tuning_from(data: Mapping[str, Any], where: str) -> TuningSpec:
    """Make a specification from plain data, including keys without effect, which ``tuning_from_mapping`` refuses."""
    table = Table(data, where, STUDY, kind="tuning")
    if "match_pairs" in table:
        raise table.error("match_pairs", "none without command, which plays these pairs")
    conditions = read_conditions(table, PurePath(where).stem)
    if conditions.external is None:
        space = read_space(table, conditions.base_values, conditions.game, conditions.limits)
    else:
        space = read_options(table)
        conditions = _with_dimensions(conditions, space, table)
    spec = table.read(
        TuningSpec,
        conditions=conditions,
        space=space,
        budget=_budget(table),
        validation=_validation(table, conditions),
        limit_shares=_limit_shares(table, conditions),
    )
    _check_budget(spec)
    kinds = {"kind": spec.validation.kind, "slow": spec.validation.slow}
    recorded = {**data, "validation": {**data.get("validation", {}), **kinds}}
    return replace(spec, text=json.dumps(recorded, default=str))


def _with_dimensions(conditions: Conditions, space: Space, table: Table) -> Conditions:
    """The conditions of an external engine; the defaults of the dimensions are added to its base settings."""
    engine = conditions.external
    assert engine is not None
    where = f"{table.where}: [dimensions]"
    defaults = engine.read(space.default, where)
    given = {name.lower() for name in conditions.base_values if name != BUILD}
    repeated = next((name for name in defaults if name.lower() in given), None)
    if repeated is not None:
        raise ConfigurationError(
            f"{table.where}: [engine] or [set]: {repeated} is searched too ([dimensions.{repeated}])", "remove one"
        )
    base = conditions.base_values | defaults
    engine.refuse_unfilled(base, table.where, "[dimensions] or [set]")
    if BUILD in defaults and engine.has_builds:
        for choice in next(one for one in space.dimensions if one.name == BUILD).choices:
            engine.check(BUILD, choice, f"{where}: build")
    return replace(conditions, base=tuple(base.items()))


def _limit_shares(table: Table, conditions: Conditions) -> LimitShares:
    """The search limits and shares that a study's file gives; the key ``limit`` gives the target limit."""
    texts = table["limits"]
    if not texts:
        if "limit_shares" in table:
            raise table.error("limit_shares", "none without limits, a list to which the shares belong")
        return target_alone(conditions.limits)
    if table["sampler"] != SAMPLERS[0]:
        raise table.error("limits", f"sampler = {SAMPLERS[0]!r} with it, because only its model covers several limits")
    if conditions.limits == Limits():
        raise table.error("limits", f"another limit than {OWN_LEVEL!r}, which cannot be compared with others")
    try:
        limits = tuple(Limits.parse(text) for text in texts)
    except UserError as error:
        raise ConfigurationError.at(f"{table.where}: limits", error) from None
    if len(set(limits)) < len(limits):
        raise table.error("limits", table.schema["limits"].right_value)
    for one in limits:
        conditions.check_limits(one, table.where)
    if "limit_shares" not in table:
        return LimitShares(conditions.limits, limits, equal_cost(limits))
    shares = table["limit_shares"]
    wanted = f"a list of {len(limits)} numbers above 0, one for each of limits"
    if not isinstance(shares, list) or len(shares) != len(limits):
        raise table.error("limit_shares", wanted)
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 < one < math.inf for one in shares):
        raise table.error("limit_shares", wanted)
    return LimitShares(conditions.limits, limits, normalised(shares))


def _budget(table: Table) -> Budget:
    own = table.table("budget")
    (unit,) = own.data
    return Budget(own["games"], None) if unit == "games" else Budget(None, own[unit] * SECONDS[unit])


def min_games(spec: TuningSpec) -> int:
    """Smallest budget in games that the study's sampler accepts."""
    if spec.is_by_matches:
        return 2 * MIN_PAIRS
    if spec.is_paired:
        pairs = max(MIN_PAIRS, 4 * len(spec.space.dimensions))
    else:
        pairs = max(MIN_PAIRS, spec.trials)
    return math.ceil(2 * (int(pairs / (1 - SHARE)) + 1) / spec.search_share)


def _check_budget(spec: TuningSpec) -> None:
    needed = min_games(spec)
    if spec.is_by_matches and spec.budget.games is not None and spec.budget.games < needed:
        raise ConfigurationError(
            f"{spec.conditions.source}: budget: games = {spec.budget.games}, expected at least {needed}"
        )
    if spec.budget.games is not None and spec.budget.games < needed:
        whose = (
            f"{len(spec.space.dimensions)} dimensions of the sampler {spec.sampler!r}"
            if spec.is_paired
            else f"{spec.trials} trials of the sampler {spec.sampler!r}"
        )
        raise ConfigurationError(
            f"{spec.conditions.source}: budget: games = {spec.budget.games}, but {whose} need at least {needed}"
        )


SPRT_KEYS = ("elo_lower", "elo_upper", "model", "beta", "maximum_pairs", "slow_maximum_pairs", "slow_pairs")
"""Keys of ``[validation]`` that make the first match a sequential probability ratio test by default."""
OWNERS = {
    "slow_elo_lower": NON_REGRESSION, "slow_elo_upper": NON_REGRESSION, "slow_maximum_pairs": NON_REGRESSION,
    "slow_pairs": "fixed",
}  # fmt: skip
"""For each key of ``[validation]`` that only one kind of second match allows: this kind."""


def _validation(table: Table, conditions: Conditions) -> Validation:
    own = table.table("validation")
    limits = read_limits(own, conditions.limits, own_level=conditions.own_level)
    sprt_key = next((key for key in SPRT_KEYS if key in own), None)
    kind = own.get("kind", GAIN if sprt_key is None else SPRT)
    if kind == GAIN and sprt_key is not None and not sprt_key.startswith("slow"):
        raise own.error(sprt_key, f"none with kind = {GAIN!r}", f"the key belongs to kind = {SPRT!r}")
    slow = own.get("slow", _kind_of_slow_match(own, limits, kind))
    if slow != "off" and limits == Limits() and "slow_limit" not in own:
        raise own.error("slow", f"'off' or a slow_limit, because no limit is slower than limit = {OWN_LEVEL!r}")
    on_processor = slow == NON_REGRESSION and conditions.external is None
    slow_limits = read_limits(own, (on_processor_clock if on_processor else slower)(limits), "slow_limit")
    for one in (limits, slow_limits):
        conditions.check_limits(one, own.where)
    found = own.read(
        Validation, kind=kind, limits=limits, slow=slow, slow_limits=slow_limits,
        preset=_preset_name(own, conditions.name),
    )  # fmt: skip
    if found.elo_upper - found.elo_lower < MIN_GAP:
        raise own.error("elo_upper", f"a number above elo_lower = {found.elo_lower:g}, by {MIN_GAP:g} or more")
    if found.slow_elo_upper - found.slow_elo_lower < MIN_GAP:
        key = "slow_elo_upper" if "slow_elo_upper" in own else "slow_elo_lower"
        raise own.error(key, f"slow_elo_lower ({found.slow_elo_lower:g}) below slow_elo_upper "
                             f"({found.slow_elo_upper:g}), by {MIN_GAP:g} or more")  # fmt: skip
    for key, owner in OWNERS.items():
        if key in own and slow != owner:
            raise own.error(key, f"none with slow = {slow!r}", f"the key belongs to slow = {owner!r}")
    if "slow_limit" in own and slow == "off":
        raise own.error("slow_limit", "none with slow = 'off'")
    return found


def _kind_of_slow_match(table: Table, limits: Limits, kind: str) -> str:
    """Default kind of the second validation match, if the first one has the kind ``kind``.

    The kind is ``off`` without a search limit, and ``fixed`` if the file has ``slow_pairs``. It is also ``off`` if the
    budget covers the first match, because a second match would cost several times as much. Otherwise it is
    ``non_regression``.
    """
    if limits == Limits():
        return "off"
    if "slow_pairs" in table:
        return "fixed"
    return "off" if kind == GAIN and not any(key in table for key in OWNERS) else NON_REGRESSION


def _preset_name(table: Table, default: str) -> str:
    name: str = table.get("preset", default)
    if PurePath(name).name != name or name.startswith("."):
        raise table.error("preset", "a name without folder or suffix")
    return name.removesuffix(".toml")
