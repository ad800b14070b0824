"""The keys of a table of claims."""

from __future__ import annotations

from arena.keys.tournament import ADJUDICATION, MAX_PAIRS
from engine.games import GAMES
from engine.language import LANGUAGES
from engine.settings.keys import TEXT, Default, Topic
from engine.settings.presets import DEFAULT_PRESET
from tuning.claims.measures import SHARES
from tuning.keys.ablation import FACTORS
from tuning.keys.conditions import SETTINGS

BUDGETS = ("quick", "full")
BASES = {"c": "claimed", "i": "implied", "o": "own"}
"""The text claims it, its design implies it, or no text says so and the question is our own."""
EXPECTED = {
    "elo": ("better", "worse", "equivalent", "not_worse"),
    "interaction": ("equivalent",),
    "nodes": ("less", "more", "equal"),
    "share": ("below", "above"),
    "share_difference": ("less", "more"),
    "occurs": ("occurs",),
    "mates": ("same",),
    "exact": ("same",),
}
"""By kind of measure what a claim may expect; without ``expect`` a measure is only shown."""
SUITES = ("games", "last")
"""Positions from self-play: of whole games, or of their last plies."""
TRANSLATED_KEYS = ("claim", "rule")
"""Keys whose texts are in English; those in another language follow under ``claim_zh`` and so on."""

_claims = Topic("tuning.keys", "claims")
_budget = Topic("tuning.keys", "claims_budget")
_claim = Topic("tuning.keys", "claim")
_measure = Topic("tuning.keys", "measure")

_LIMITS = _budget.section("limits", others=_budget("limit", TEXT, default=Default.COMPUTED, example='"nodes=1000"'))
BUDGET = _budget.section(
    "budget",
    _budget.whole("pairs", 4, MAX_PAIRS, 100, unit="pairs"),
    _budget.whole("rounds", 1, 100, 20, 10),
    _budget.whole("depth", 2, 30, 6, unit="plies"),
    _budget.whole("positions", 2, 10_000, 30),
    _budget.table(_LIMITS, default=Default.REQUIRED, example='{ play = "nodes=1000" }'),
)
_BUDGETS = _claims.section("budgets", *(_budget.table(BUDGET, name) for name in BUDGETS))

MEASURE = _measure.section(
    "measures",
    _measure.choice("kind", tuple(EXPECTED), "elo"),
    _measure.choice("expect", tuple(dict.fromkeys(word for words in EXPECTED.values() for word in words)), "better",
                    Default.COMPUTED),
    _measure.text("label", "window against none", Default.COMPUTED),
    _measure.table(SETTINGS, "set", example='{ algorithm = "pvs" }'),
    _measure.table(SETTINGS, "variant", example='{ aspiration = "full" }'),
    _measure.table(SETTINGS, "reference", example='{ aspiration = "off" }'),
    _measure.table(FACTORS, example='{ aspiration = ["off", "full"], algorithm = ["alphabeta", "pvs"] }'),
    _measure.text("limit", "play", Default.COMPUTED),
    _measure.text("reference_limit", "double", Default.COMPUTED),
    _measure.switch("ponder"),
    _measure.number("weight", 0.01, 100, 6, 1.0),
    _measure.number("margin", 0, 100, 15, 5.0, "Elo"),
    _measure.choice("only", BUDGETS, "full", Default.COMPUTED),
    _measure.choice("of", tuple(SHARES), "first_move_cutoffs", Default.COMPUTED),
    _measure.whole("bound", 0, 100_000, 400, 0),
    _measure.number("threshold", 0, 1000, 50, 0.0),
    _measure.whole("depth", -20, 60, 5, 0, "plies"),
    _measure.choice("suite", SUITES, SUITES[1], SUITES[0]),
)  # fmt: skip

CLAIM = _claim.section(
    "claims",
    _claim.text("id", "C1"),
    *(
        _claim.text(key if language == LANGUAGES[0] else f"{key}_{language}", "...")
        for key in TRANSLATED_KEYS
        for language in LANGUAGES
    ),
    _claim.text("source", "AW"),
    _claim.choice("basis", tuple(BASES), "c"),
    _claim.text("base", "fenon", DEFAULT_PRESET),
    _claim.tables(MEASURE, default=Default.REQUIRED),
)

CLAIMS = _claims.section(
    "claims-file",
    _claims.text("name", "my-claims", Default.COMPUTED),
    _claims.choice("game", GAMES, "othello"),
    _claims.whole("seed", 0, 2**31, 9, 1),
    _claims.text("openings", "openings.epd", Default.COMPUTED),
    _claims.table(ADJUDICATION),
    _claims.table(_BUDGETS, default=Default.REQUIRED),
    _claims.tables(CLAIM, default=Default.REQUIRED),
)
