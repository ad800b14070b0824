"""The keys of an ablation's file."""

from __future__ import annotations

from dataclasses import replace

from elolab.arena.keys.tournament import MAX_PAIRS, OPENING_PARTS
from elolab.engine.settings.keys import TABLE, TEXT, TEXTS, VALUE, VALUES, Default, Key, Section, Topic
from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE, MARGIN_ELO, VerdictRule
from elolab.tuning.keys.conditions import CONDITION_KEYS, SET, SETTINGS
from elolab.tuning.keys.study import SCALES

MAX_ROUNDS = 100
MAX_MARGIN = 100
BARE = "plain-alpha-beta"
"""The preset to which features are added one at a time, unless another is named."""

_ablation = Topic("elolab.tuning.keys", "ablation")
_question = Topic("elolab.tuning.keys", "question")
_depth = Topic("elolab.tuning.keys", "nodes_to_depth")

_LABEL = _question.text("label", "in the endgame", Default.COMPUTED)
_LIMIT = _question.text("limit", "nodes=2000", Default.COMPUTED)
_PAIRS = _question.whole("pairs", 1, MAX_PAIRS, 200, Default.COMPUTED, "pairs")
_FEATURES = _question("features", TEXTS, TABLE, example='["null_move", "killers"]', section=SETTINGS)
_COMMON = (SET, _LIMIT, _PAIRS)


def _names(name: str, *, example: str) -> Key:
    others = _question("value", TEXT, default=Default.COMPUTED, example='"none"')
    return _question.table(_question.section(name, others=others), example=example)


LEAVE_ONE_OUT = _question.section("leave_one_out", _FEATURES, *_COMMON)
ADD_ONE_IN = _question.section(
    "add_one_in",
    _FEATURES,
    _question("bare", TEXT, TABLE, default=BARE, section=SETTINGS, example='"xqwlight-0.3"'),
    *_COMMON,
)
VALUES_OF_PARAMETER = _question.section(
    "values",
    _question.text("parameter", "null_depth", Default.COMPUTED),
    _question("values", VALUES, example='["off", 2, 3]'),
    _question("reference", VALUE, default=Default.COMPUTED, example="2"),
    _names("names", example='{ off = "none" }'),
    _LABEL,
    *_COMMON,
)
_OPTION_KEYS = (
    _question.text("option", "Hash", Default.COMPUTED),
    _question.choice("scale", SCALES, SCALES[1], SCALES[0]),
)
_OF_BOTH = tuple(key for key in VALUES_OF_PARAMETER.keys if key.name != "parameter")
VALUES_OF_OPTION = replace(VALUES_OF_PARAMETER, keys=(*_OPTION_KEYS, *_OF_BOTH))
VALUES_OF_ANY = VALUES_OF_PARAMETER.with_keys(*_OPTION_KEYS)
COMPARISON = _question.section(
    "comparisons",
    _question.table(SETTINGS, "variant", example="{ null_depth = 3 }"),
    _question.table(SETTINGS, "reference", example="{ null_depth = 2 }"),
    _LABEL,
    _LIMIT,
    _question.text("reference_limit", "nodes=4000", Default.COMPUTED),
    _question.switch("ponder"),
    _PAIRS,
)
FACTORS = _question.section("factors", others=_question("factor", VALUES, example="[1, 2]"))
FACTORIAL = _question.section(
    "factorial",
    _question.table(FACTORS, default=Default.REQUIRED, example="{ null_move = [false, true], killers = [0, 2] }"),
    _question.choice("fraction", (1, 2, 4), 2, 1),
    _LABEL,
    *_COMMON,
)
INTERACTIONS = _question.section("interactions", _FEATURES, *_COMMON)

NODES_TO_DEPTH = _depth.section(
    "nodes_to_depth",
    _depth.whole("depth", 0, 64, 8, 6, "plies"),
    _depth.whole("positions", 1, 10_000, 100, 40),
)

ABLATION = _ablation.section(
    "ablation",
    *CONDITION_KEYS,
    _ablation.whole("pairs", 1, MAX_PAIRS, 200, unit="pairs"),
    _ablation.whole("games", 2, 2 * MAX_PAIRS, 4000, Default.COMPUTED, "games"),
    _ablation.whole("rounds", 1, MAX_ROUNDS, 5, VerdictRule.rounds),
    _ablation.number("margin", 0, MAX_MARGIN, 20, MARGIN_ELO, "Elo"),
    _ablation.number("error_rate", 0.0001, 0.5, 0.01, ERROR_RATE),
    _ablation.choice("opening_part", OPENING_PARTS, "all", Default.COMPUTED),
    _ablation.tables(LEAVE_ONE_OUT),
    _ablation.tables(ADD_ONE_IN),
    _ablation.tables(VALUES_OF_ANY),
    _ablation.tables(COMPARISON),
    _ablation.tables(FACTORIAL),
    _ablation.tables(INTERACTIONS),
    _ablation.table(NODES_TO_DEPTH),
)
"""``tuning.ablation.settings`` knows which of the keys of [[values]] are of which engine."""

BUILD_COMPARISON = Section("builds", (_LIMIT, _PAIRS))
"""What may be said of the comparison of a build: nothing, so that all is as for the others."""
