"""The keys of the TOML file of a table of claims."""

from __future__ import annotations

import functools
from typing import Any

from elolab.arena.sequential import MAX_PAIRS
from elolab.arena.tournament_spec import ADJUDICATION
from elolab.engine.games import GAMES
from elolab.engine.language import LANGUAGES
from elolab.engine.settings import schema
from elolab.engine.settings.presets import DEFAULT_PRESET
from elolab.engine.settings.schema import COMPUTED, REQUIRED, Default
from elolab.tuning.claims.measures import CONDITIONS, SHARE_NAMES
from elolab.tuning.conditions import SETTINGS
from elolab.tuning.external_engine import CATALOGUE
from elolab.tuning.keys.ablation import FACTORS

BUDGETS = ("quick", "full")
BASES = {"c": "claimed", "i": "implied", "o": "own"}
"""Origin of a claim by its letter in the file.

The source states the claim (``c``), its design implies the claim (``i``), or the question is our own (``o``).
"""
THEN, NOW = "then", "now"
ENGINES = (THEN, NOW)
"""Names of the two engines in which every part is measured.

``then`` is the engine that the claim's source describes, ``now`` elolab's best preset.
"""
NOW_PRESET = DEFAULT_PRESET
EXPECTED = {
    "elo": ("better", "worse", "equivalent", "not_worse"),
    "interaction": ("better", "worse", "equivalent"),
    "nodes": ("less", "more", "equal", "not_more"),
    "nodes_interaction": ("less", "more", "equal"),
    "share": ("below", "above"),
    "share_difference": ("less", "more", "equal", "not_more"),
    "differing": ("below", "above"),
    "occurs": ("occurs",),
    "mates": ("same",),
    "exact": ("same",),
}
"""Results that a part of a claim may expect, by kind of measure. A part without ``expect`` shows its value without a
verdict."""
MARGINS = {"elo": 5.0, "interaction": 5.0, "nodes": 5.0, "nodes_interaction": 5.0, "share": 0.0,
           "share_difference": 1.0, "differing": 0.0, "occurs": 0.0, "mates": 1.0, "exact": 1.0}  # fmt: skip
"""Default margins by kind of measure: Elo for games, percentage points for shares, otherwise percent."""
LIMITS = {"elo": ("play", "long"), "interaction": ("play", "long"), "exact": ("depth=10",)}
"""Default search limits of a part by kind of measure; ``SEARCH_LIMITS`` for all other kinds.

Each is the name of a limit in the budget, or the text of a limit.
"""
SEARCH_LIMITS = ("shallow", "deep")
TIME_LIMIT = "time"
"""Name of the budget's limit that gives both sides equal processor time."""
REFUTED_BY = ("margin", "opposite", "negligible")
SUITES = ("games", "last", "passes")
"""Kinds of test positions from self-play: from whole games, from the end of games, or before a pass at the end of
games.
"""

_claims, _budget, _claim, _part = (
    functools.partial(schema.declare, CATALOGUE, topic) for topic in ("claims", "claims_budget", "claim", "part")
)

LIMIT_BY_ENGINE = _budget(
    "limit-by-engine", **{one: schema.text(example="depth=4", expected="a limit such as depth=4") for one in ENGINES}
)
_LIMITS = _budget(
    "limits",
    others=schema.key(
        schema.TEXT, schema.TABLE, schema=LIMIT_BY_ENGINE, default=COMPUTED, example="nodes=2000", message="limit"
    ),
)
_WEIGHTS = _budget("weights", others=schema.number(0.01, 100, default=COMPUTED, example=0.5, message="limit-weight"))
BUDGET = _budget(
    "budget",
    pairs=schema.whole(4, MAX_PAIRS, example=100, unit="pairs"),
    rounds=schema.whole(1, 100, default=10, example=20),
    positions=schema.whole(2, 100_000, example=1000),
    positions_per_game=schema.whole(1, 50, default=1, example=2),
    limits=schema.table(_LIMITS, default=REQUIRED, example={"play": "nodes=2000", "long": "nodes=20000"}),
    weights=schema.table(_WEIGHTS, example={"long": 0.5}),
)
_BUDGETS = _claims("budgets", _budget("budgets", **{name: schema.table(BUDGET) for name in BUDGETS}))


def _translated(name: str, example: str, default: Default = REQUIRED) -> dict[str, Any]:
    """Declarations of a text in every language: the key ``name`` for English, ``<name>_zh`` for Chinese."""
    keys = [name if language == LANGUAGES[0] else f"{name}_{language}" for language in LANGUAGES]
    return {key: schema.text(default=default, example=example) for key in keys}


def _settings(name: str, example: dict[str, Any]) -> dict[str, Any]:
    """Declarations of three tables of settings: ``name`` for both engines, ``<name>_<engine>`` for one engine."""
    own = {f"{name}_{engine}": schema.table(SETTINGS, example={"killers": 0}) for engine in ENGINES}
    return {name: schema.table(SETTINGS, example=example), **own}


_TEXT_LIST = 'a list of limits, by their names or as texts: ["play", "nodes=20000"]'
PART = _part(
    "parts",
    id=schema.text(example="C9a", expected="an id such as C9a"),
    **_translated("claim", "..."),
    kind=schema.choice(tuple(EXPECTED), default="elo", example="nodes"),
    expect=schema.choice(
        tuple(dict.fromkeys(word for words in EXPECTED.values() for word in words)), default=COMPUTED, example="less"
    ),
    margin=schema.number(0, 1000, default=COMPUTED, example=10),
    refuted_by=schema.choice(REFUTED_BY, default=REFUTED_BY[0], example="negligible"),
    threshold=schema.number(0, 1000, default=0.0, example=50),
    **_settings("set", {"algorithm": "pvs"}),
    **_settings("variant", {"aspiration": "full"}),
    **_settings("reference", {"aspiration": "off"}),
    factors=schema.table(FACTORS, example={"aspiration": ["off", "full"], "algorithm": ["alphabeta", "pvs"]}),
    limits=schema.key(schema.TEXTS, default=COMPUTED, example=["play", "nodes=20000"], least=1, expected=_TEXT_LIST),
    reference_limits=schema.key(
        schema.TEXTS, default=COMPUTED, example=["nodes=1000", "nodes=10000"], least=1, expected=_TEXT_LIST
    ),
    costs_time=schema.switch(),
    ponder=schema.switch(),
    weight=schema.number(0.01, 100, default=1.0, example=6),
    looks=schema.whole(1, 100, default=COMPUTED, example=1),
    only=schema.choice(BUDGETS, default=COMPUTED, example="full"),
    of=schema.choice(SHARE_NAMES, default=COMPUTED, example="first_move_cutoffs"),
    bound=schema.whole(0, 100_000, default=0, example=400),
    further_plies=schema.whole(1, 20, default=3, example=4, unit="plies"),
    suite=schema.choice(SUITES, default=SUITES[0], example=SUITES[1]),
    where=schema.choice(tuple(CONDITIONS), default=COMPUTED, example="windows_missed"),
    then=schema.text(default=COMPUTED, example="moreland"),
    **_translated("not_then", "...", COMPUTED),
    **_translated("not_now", "...", COMPUTED),
)
CLAIM = _claim(
    "claims",
    id=schema.text(example="C9", expected="an id such as C1"),
    **_translated("claim", "..."),
    source=schema.text(example="XQ"),
    basis=schema.choice(tuple(BASES), example="c"),
    then=schema.text(default=COMPUTED, example="xqwlight-0.3"),
    parts=schema.tables(PART, default=REQUIRED, expected="tables [[claims.parts]]"),
)
CLAIMS = _claims(
    "claims-file",
    name=schema.text(default=COMPUTED, example="my-claims"),
    game=schema.choice(GAMES, example="othello"),
    seed=schema.whole(0, 2**31, default=1, example=9),
    openings=schema.text(default=COMPUTED, example="openings.epd"),
    adjudication=schema.table(ADJUDICATION),
    budgets=schema.table(_BUDGETS, default=REQUIRED),
    claims=schema.tables(CLAIM, default=REQUIRED, expected="tables [[claims]]"),
)
