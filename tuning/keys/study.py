"""The keys of a study's file, which ``elolab tune`` reads."""

from __future__ import annotations

from elolab.arena.sequential import MAX_HYPOTHESIS
from elolab.arena.statistics.elo import SPRT_MODELS
from elolab.engine.settings.keys import TEXTS, VALUE, VALUES, Default, Topic
from elolab.tuning.keys.conditions import CONDITION_KEYS

SAMPLERS = ("duel", "tpe", "cmaes", "gp", "qmc", "random")
MODELLING_SAMPLERS = ("tpe", "gp")
"""Samplers that begin with ``startup_trials`` random trials."""
NON_REGRESSION = "non_regression"
SLOW_KINDS = (NON_REGRESSION, "fixed", "sprt", "off")
SCALES = ("linear", "log")

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
MAX_OPTION = 10**9
ERROR_PROBABILITIES = (0.0001, 0.49)
"""Minimum and maximum error probability of the validation's test."""

_study = Topic("elolab.tuning.keys", "study")
_budget = Topic("elolab.tuning.keys", "budget")
_dimension = Topic("elolab.tuning.keys", "dimension")
_validation = Topic("elolab.tuning.keys", "validation")

BUDGET = _budget.section(
    "budget",
    _budget.whole("games", 1, MAX_GAMES, 2000, Default.COMPUTED, "games"),
    *(
        _budget.number(unit, 1 / seconds, MAX_SECONDS / seconds, 30, Default.COMPUTED, unit)
        for unit, seconds in SECONDS.items()
    ),
)

RANGE_KEYS = (
    _dimension.whole("low", -MAX_OPTION, MAX_OPTION, 1, Default.COMPUTED),
    _dimension.whole("high", -MAX_OPTION, MAX_OPTION, 8, Default.COMPUTED),
    _dimension.whole("step", 1, 2 * MAX_OPTION, 2, 1),
    _dimension.choice("scale", SCALES, "log", Default.COMPUTED),
)
DIMENSION = _dimension.section(
    "dimension",
    *RANGE_KEYS,
    _dimension("choices", VALUES, default=Default.COMPUTED, example='["off", "full"]'),
    _dimension("default", VALUE, default=Default.COMPUTED, example="2"),
)
PARAMETER_DIMENSION = DIMENSION.only([name for name in DIMENSION if name != "default"])
"""The keys of a built-in parameter's dimension, whose default comes from the base."""
DIMENSIONS = _dimension.section("dimensions", others=_dimension.table(DIMENSION, "dimension"))

VALIDATION = _validation.section(
    "validation",
    _validation.text("limit", "nodes=2000", Default.COMPUTED),
    _validation.number("elo_lower", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, 1, 0.0, "Elo"),
    _validation.number("elo_upper", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, 10, 5.0, "Elo"),
    _validation.choice("model", SPRT_MODELS, SPRT_MODELS[1], SPRT_MODELS[0]),
    _validation.number("alpha", *ERROR_PROBABILITIES, 0.01, 0.05),
    _validation.number("beta", *ERROR_PROBABILITIES, 0.01, 0.05),
    _validation.whole("maximum_pairs", 1, MAX_VALIDATION_PAIRS, 4000, Default.COMPUTED, "pairs"),
    _validation.choice("slow", SLOW_KINDS, "sprt", Default.COMPUTED),
    _validation.text("slow_limit", "move_time=0.02,cpu", Default.COMPUTED),
    _validation.number("slow_elo_lower", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, -10, -5.0, "Elo"),
    _validation.number("slow_elo_upper", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, 1, 0.0, "Elo"),
    _validation.whole("slow_maximum_pairs", 1, MAX_VALIDATION_PAIRS, 2000, Default.COMPUTED, "pairs"),
    _validation.whole("slow_pairs", 1, MAX_VALIDATION_PAIRS, 200, Default.COMPUTED, "pairs"),
    _validation.text("preset", "tuned", Default.COMPUTED),
)

STUDY = _study.section(
    "tuning",
    *CONDITION_KEYS,
    _study.table(BUDGET, default=Default.REQUIRED, example="{ games = 2000 }"),
    _study("parameters", TEXTS, default=(), example='["null_depth", "lmr_base"]'),
    _study.table(DIMENSIONS, example="{ null_depth = { low = 2, high = 4 } }"),
    _study("limits", TEXTS, default=(), example='["nodes=1250", "nodes=5000", "nodes=20000"]'),
    _study("limit_shares", VALUES, default=Default.COMPUTED, example="[16, 4, 1]"),
    _study.choice("sampler", SAMPLERS, "tpe", SAMPLERS[0]),
    _study.whole("round_pairs", 1, MAX_ROUND_PAIRS, 100, Default.COMPUTED, "pairs"),
    _study.whole("overlap", 0, MAX_OVERLAP, 2, 0, "rounds"),
    _study.whole("trials", MIN_TRIALS, MAX_TRIALS, 40, DEFAULT_TRIALS),
    _study.whole("startup_trials", 1, MAX_TRIALS, 20, STARTUP_TRIALS),
    _study.number("stop_below", 0, MAX_ELO, 2, 0.0, "Elo"),
    _study.text("storage", "postgresql+psycopg://user@server/database", Default.COMPUTED),
    _study.table(VALIDATION),
)

OBJECTIVE = STUDY.only(("base", "set", "parameters", "dimensions", "sampler", "startup_trials", "seed"))
"""The keys that also apply to maximising a function."""
