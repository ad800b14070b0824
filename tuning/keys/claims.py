"""The keys of a table of claims."""

from __future__ import annotations

from elolab.arena.keys.tournament import ADJUDICATION, MAX_PAIRS
from elolab.engine.games import GAMES
from elolab.engine.language import LANGUAGES
from elolab.engine.settings.keys import TABLE, TEXT, TEXTS, Default, Topic
from elolab.engine.settings.presets import DEFAULT_PRESET
from elolab.tuning.claims.measures import CONDITIONS, SHARE_NAMES
from elolab.tuning.keys.ablation import FACTORS
from elolab.tuning.keys.conditions import SETTINGS

BUDGETS = ("quick", "full")
BASES = {"c": "claimed", "i": "implied", "o": "own"}
"""The source states it, its design implies it, or the question is our own."""
THEN, NOW = "then", "now"
ENGINES = (THEN, NOW)
"""The engine of the text that makes the claim, and this program's own at its best."""
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
"""Expectations that each kind of measure allows; without ``expect`` a part is only shown."""
MARGINS = {"elo": 5.0, "interaction": 5.0, "nodes": 5.0, "nodes_interaction": 5.0, "share": 0.0,
           "share_difference": 1.0, "differing": 0.0, "occurs": 0.0, "mates": 1.0, "exact": 1.0}  # fmt: skip
"""Default margins by kind of measure: Elo for games, percent for nodes, points for shares, else percent."""
LIMITS = {"elo": ("play", "long"), "interaction": ("play", "long"), "exact": ("depth=10",)}
"""Default limits by kind of measure; ``SEARCH_LIMITS`` for all others."""
SEARCH_LIMITS = ("shallow", "deep")
TIME_LIMIT = "time"
"""The name of the budget's limit for equal processor time."""
REFUTED_BY = ("margin", "opposite", "negligible")
SUITES = ("games", "last", "passes")
"""Sources of positions from self-play: whole games, their last plies, or last plies followed by a pass."""
GAMES_WITH_PASSES = ("othello",)

_claims = Topic("elolab.tuning.keys", "claims")
_budget = Topic("elolab.tuning.keys", "claims_budget")
_claim = Topic("elolab.tuning.keys", "claim")
_part = Topic("elolab.tuning.keys", "part")

LIMIT_BY_ENGINE = _budget.section("limit-by-engine", *(_budget.text(engine, "depth=4") for engine in ENGINES))
_LIMITS = _budget.section(
    "limits",
    others=_budget("limit", TEXT, TABLE, section=LIMIT_BY_ENGINE, default=Default.COMPUTED, example='"nodes=2000"'),
)
_WEIGHTS = _budget.section("weights", others=_budget.number("limit-weight", 0.01, 100, 0.5, Default.COMPUTED))
BUDGET = _budget.section(
    "budget",
    _budget.whole("pairs", 4, MAX_PAIRS, 100, unit="pairs"),
    _budget.whole("rounds", 1, 100, 20, 10),
    _budget.whole("positions", 2, 100_000, 1000),
    _budget.whole("positions_per_game", 1, 50, 2, 1),
    _budget.table(_LIMITS, default=Default.REQUIRED, example='{ play = "nodes=2000", long = "nodes=20000" }'),
    _budget.table(_WEIGHTS, example="{ long = 0.5 }"),
)
_BUDGETS = _claims.section("budgets", *(_budget.table(BUDGET, name) for name in BUDGETS))


def _translated(topic: Topic, name: str, example: str, default: Default = Default.REQUIRED) -> list:
    """A text in English under a key, and in another language under ``<key>_zh``."""
    return [
        topic.text(name if language == LANGUAGES[0] else f"{name}_{language}", example, default)
        for language in LANGUAGES
    ]


PART = _part.section(
    "parts",
    _part.text("id", "C9a"),
    *_translated(_part, "claim", "..."),
    _part.choice("kind", tuple(EXPECTED), "nodes", "elo"),
    _part.choice("expect", tuple(dict.fromkeys(word for words in EXPECTED.values() for word in words)), "less",
                 Default.COMPUTED),
    _part.number("margin", 0, 1000, 10, Default.COMPUTED),
    _part.choice("refuted_by", REFUTED_BY, "negligible", REFUTED_BY[0]),
    _part.number("threshold", 0, 1000, 50, 0.0),
    _part.table(SETTINGS, "set", example='{ algorithm = "pvs" }'),
    *(_part.table(SETTINGS, f"set_{engine}", example="{ killers = 0 }") for engine in ENGINES),
    _part.table(SETTINGS, "variant", example='{ aspiration = "full" }'),
    *(_part.table(SETTINGS, f"variant_{engine}", example="{ killers = 0 }") for engine in ENGINES),
    _part.table(SETTINGS, "reference", example='{ aspiration = "off" }'),
    *(_part.table(SETTINGS, f"reference_{engine}", example="{ killers = 0 }") for engine in ENGINES),
    _part.table(FACTORS, example='{ aspiration = ["off", "full"], algorithm = ["alphabeta", "pvs"] }'),
    _part("limits", TEXTS, default=Default.COMPUTED, example='["play", "nodes=20000"]'),
    _part("reference_limits", TEXTS, default=Default.COMPUTED, example='["nodes=1000", "nodes=10000"]'),
    _part.switch("costs_time"),
    _part.switch("ponder"),
    _part.number("weight", 0.01, 100, 6, 1.0),
    _part.whole("looks", 1, 100, 1, Default.COMPUTED),
    _part.choice("only", BUDGETS, "full", Default.COMPUTED),
    _part.choice("of", SHARE_NAMES, "first_move_cutoffs", Default.COMPUTED),
    _part.whole("bound", 0, 100_000, 400, 0),
    _part.whole("further_plies", 1, 20, 4, Default.COMPUTED, unit="plies"),
    _part.choice("suite", SUITES, SUITES[1], SUITES[0]),
    _part.choice("where", tuple(CONDITIONS), "windows_missed", Default.COMPUTED),
    _part.text("then", "moreland", Default.COMPUTED),
    *(key for engine in ENGINES for key in _translated(_part, f"not_{engine}", "...", Default.COMPUTED)),
)  # fmt: skip

CLAIM = _claim.section(
    "claims",
    _claim.text("id", "C9"),
    *_translated(_claim, "claim", "..."),
    _claim.text("source", "XQ"),
    _claim.choice("basis", tuple(BASES), "c"),
    _claim.text("then", "xqwlight-0.3", Default.COMPUTED),
    _claim.tables(PART, default=Default.REQUIRED),
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
