"""The keys of an ablation's TOML file."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from elolab.arena.sequential import MAX_PAIRS
from elolab.arena.tournament_spec import OPENING_PARTS
from elolab.engine.settings import schema
from elolab.engine.settings.limits import GRAMMAR
from elolab.engine.settings.schema import COMPUTED, REQUIRED, Schema
from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE, MARGIN_ELO, VerdictRule
from elolab.tuning.conditions import CONDITIONS, SETTINGS
from elolab.tuning.external_engine import CATALOGUE
from elolab.tuning.study.space import SCALES

MAX_ROUNDS = 100
MAX_MARGIN = 100
BARE = "plain-alpha-beta"
"""Default of the key ``bare``: the preset to which ``add_one_in`` adds features."""

_question = functools.partial(schema.declare, CATALOGUE, "question")

_LABEL = schema.text(default=COMPUTED, example="in the endgame")
_LIMIT = schema.text(default=COMPUTED, example="nodes=2000", expected=GRAMMAR)
_PAIRS = schema.whole(1, MAX_PAIRS, default=COMPUTED, example=200, unit="pairs")
_features = functools.partial(schema.key, schema.TEXTS, schema.TABLE, schema=SETTINGS, example=["null_move", "killers"])
_FEATURES = _features(least=1, expected="a list of features")
_COMMON: dict[str, Any] = {"set": CONDITIONS["set"], "limit": _LIMIT, "pairs": _PAIRS}

LEAVE_ONE_OUT = _question("leave_one_out", features=_FEATURES, **_COMMON)
ADD_ONE_IN = _question(
    "add_one_in",
    features=_FEATURES,
    bare=schema.key(schema.TEXT, schema.TABLE, default=BARE, schema=SETTINGS, example="xqwlight-0.3"),
    **_COMMON,
)
_NAMES = _question("names", others=schema.text(default=COMPUTED, example="none", message="value"))
_OF_BOTH = _question(
    "values",
    values=schema.key(schema.VALUES, example=["off", 2, 3], least=1, expected="a list of values"),
    reference=schema.key(schema.VALUE, default=COMPUTED, example=2),
    names=schema.table(_NAMES, example={"off": "none"}),
    label=_LABEL,
    **_COMMON,
)
_OF_PARAMETER = _question(
    "parameter", parameter=schema.text(default=COMPUTED, example="null_depth", expected="a parameter's name")
)
_OF_OPTION = _question(
    "option",
    option=schema.text(default=COMPUTED, example="Hash", expected="an option's name"),
    scale=schema.choice(SCALES, default=SCALES[0], example=SCALES[1]),
)
VALUES_OF_PARAMETER = _question("values", _OF_PARAMETER, _OF_BOTH)
VALUES_OF_OPTION = _question("values", _OF_OPTION, _OF_BOTH)
VALUES_OF_ANY = _question("values", _OF_PARAMETER, _OF_BOTH, _OF_OPTION)
COMPARISON = _question(
    "comparisons",
    variant=schema.table(SETTINGS, example={"null_depth": 3}),
    reference=schema.table(SETTINGS, example={"null_depth": 2}),
    label=_LABEL,
    limit=_LIMIT,
    reference_limit=schema.text(default=COMPUTED, example="nodes=4000", expected=GRAMMAR),
    ponder=schema.switch(),
    pairs=_PAIRS,
)
FACTORS = _question("factors", others=schema.key(schema.VALUES, example=[1, 2], least=2, message="factor"))
FACTORIAL = _question(
    "factorial",
    factors=schema.table(FACTORS, default=REQUIRED, example={"null_move": [False, True], "killers": [0, 2]}),
    fraction=schema.choice((1, 2, 4), default=1, example=2),
    label=_LABEL,
    **_COMMON,
)
INTERACTIONS = _question(
    "interactions", features=_features(least=2, expected="a list of at least 2 features"), **_COMMON
)


@dataclass(frozen=True)
class NodesToDepth:
    """Settings for measuring the number of nodes that searches need to reach a fixed depth."""

    depth: int = schema.whole(0, 64, default=6, example=8, unit="plies")
    """Depth of the searches in plies; 0 disables the measurement."""
    positions: int = schema.whole(1, 10_000, default=40, example=100)


NODES_TO_DEPTH = schema.declare(CATALOGUE, "nodes_to_depth", "nodes_to_depth", NodesToDepth)

QUESTIONS: dict[str, Schema] = {
    "leave_one_out": LEAVE_ONE_OUT,
    "add_one_in": ADD_ONE_IN,
    "values": VALUES_OF_ANY,
    "comparisons": COMPARISON,
    "factorial": FACTORIAL,
    "interactions": INTERACTIONS,
}
"""Declared keys of the tables that declare an ablation's comparisons and factorials, by the table's name.

``tuning.ablation.settings`` checks which keys of ``[[values]]`` apply to the engine.
"""
ABLATION = schema.declare(
    CATALOGUE,
    "ablation",
    "ablation",
    CONDITIONS,
    pairs=schema.whole(1, MAX_PAIRS, example=200, unit="pairs"),
    games=schema.whole(2, 2 * MAX_PAIRS, default=COMPUTED, example=4000, unit="games"),
    rounds=schema.whole(1, MAX_ROUNDS, default=VerdictRule.rounds, example=5),
    margin=schema.number(0, MAX_MARGIN, default=MARGIN_ELO, example=20, unit="Elo"),
    error_rate=schema.number(0.0001, 0.5, default=ERROR_RATE, example=0.01),
    opening_part=schema.choice(OPENING_PARTS, default=COMPUTED, example="all"),
    **{name: schema.tables(one) for name, one in QUESTIONS.items()},
    nodes_to_depth=schema.table(NODES_TO_DEPTH),
)

BUILD_COMPARISON = _question("builds", limit=_LIMIT, pairs=_PAIRS)
"""Declared keys of a comparison between builds. No file can contain these keys, so the defaults apply."""
