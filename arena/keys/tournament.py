"""The keys of a tournament's file."""

from __future__ import annotations

from elolab.arena.formats.encounters import SEEDINGS
from elolab.arena.formats.knockout import TIEBREAKS
from elolab.arena.keys.player import ANY_PLAYER
from elolab.arena.schedule import DEFAULT_FORMAT, FORMATS
from elolab.arena.sequential import MAX_HYPOTHESIS, SequentialSettings
from elolab.arena.statistics.elo import SPRT_MODELS
from elolab.engine.games import GAMES
from elolab.engine.rules import MAX_PLIES, REPETITION_RULES, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.keys import SWITCH, TABLE, Default, Topic
from elolab.engine.settings.whole_numbers import MAX_SEED

OPENING_PARTS = ("tournament", "validation", "all")
OPENING_ORDERS = ("random", "sequential")

MAX_PAIRS = 1_000_000
MAX_SCORE = 30_000
MAX_SOLVED_EMPTIES = 24
"""Beyond, hardly any position is solved within ``engine.play.SOLVING_NODES``."""
MAX_INTERVAL = 10**9
MAX_RATING = 10_000
"""Elo of an anchor, either way."""
ERROR_PROBABILITIES = (0.000001, 0.499999)
"""Least and greatest probability of an error of a sequential test."""
DEFAULT_TIEBREAK_PAIRS = 3
FOLDS = (3, 4)

CATALOGUE = "elolab.arena.keys"

# What all runs have in common

_run = Topic(CATALOGUE, "run")
_rules = Topic(CATALOGUE, "rules")
_adjudication = Topic(CATALOGUE, "adjudication")

RULES = _rules.section(
    "rules",
    _rules.choice("repetition", REPETITION_RULES, "draw", Rules.repetition),
    _rules.choice("fold", FOLDS, 4, Rules.fold),
    _rules.whole("move_limit", 0, MAX_PLIES, 100, Rules.move_limit, "plies"),
    _rules.switch("insufficient", Rules.insufficient),
)

ADJUDICATION = _adjudication.section(
    "adjudication",
    _adjudication.whole("resign_score", 1, MAX_SCORE, 800, Default.COMPUTED, "centipawns"),
    _adjudication.whole("resign_moves", 0, MAX_PLIES, 3, Default.COMPUTED, "moves"),
    _adjudication.whole("draw_score", 0, MAX_SCORE, 8, Default.COMPUTED, "centipawns"),
    _adjudication.whole("draw_moves", 0, MAX_PLIES, 6, Default.COMPUTED, "moves"),
    _adjudication.whole("draw_after_ply", 0, MAX_PLIES, 60, Default.COMPUTED, "plies"),
    _adjudication.whole("maximum_plies", 0, MAX_PLIES, 300, Default.COMPUTED, "plies"),
    _adjudication.whole("solved_empties", 0, MAX_SOLVED_EMPTIES, 16, Default.COMPUTED, "squares"),
)

RUN_KEYS = (
    _run.text("name", "my-run", Default.COMPUTED),
    _run.text("description", "What the games are to show.", None),
    _run.choice("game", GAMES, "othello", "xiangqi"),
    _run.whole("seed", 0, MAX_SEED, 2, 1),
    _run.text("openings", "openings.epd", Default.COMPUTED),
    _run.table(RULES),
    _run.table(ADJUDICATION),
)

# A tournament's own

_tournament = Topic(CATALOGUE, "tournament")
_sprt = Topic(CATALOGUE, "sprt")
_counting = Topic(CATALOGUE, "search_statistics")

SPRT = _sprt.section(
    "sprt",
    _sprt.number("elo0", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, -3, SequentialSettings.elo0, "Elo"),
    _sprt.number("elo1", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, 10, SequentialSettings.elo1, "Elo"),
    _sprt.number("alpha", *ERROR_PROBABILITIES, 0.01, SequentialSettings.alpha),
    _sprt.number("beta", *ERROR_PROBABILITIES, 0.01, SequentialSettings.beta),
    _sprt.choice("model", SPRT_MODELS, "logistic", SequentialSettings.model),
    _sprt.whole("batch_pairs", 1, MAX_PAIRS, 20, SequentialSettings.batch_pairs, "pairs"),
)

SEARCH_STATISTICS = _counting.section(
    "search_statistics",
    _counting.whole("null_cutoff_interval", 0, MAX_INTERVAL, 100, SearchStatisticsSettings.null_cutoff_interval),
    _counting.whole("null_cutoff_nodes", 1, MAX_INTERVAL, 20_000, SearchStatisticsSettings.null_cutoff_nodes, "nodes"),
)

ANCHORS = _tournament.section(
    "anchors", others=_tournament.number("anchor", -MAX_RATING, MAX_RATING, 2500, Default.COMPUTED, "Elo")
)

TOURNAMENT = _tournament.section(
    "tournament",
    *RUN_KEYS,
    _tournament.choice("format", tuple(FORMATS), "swiss", DEFAULT_FORMAT),
    _tournament.whole("pairs", 1, MAX_PAIRS, 50, Default.COMPUTED, "pairs"),
    _tournament.whole("rounds", 1, MAX_PAIRS, 5, Default.COMPUTED),
    _tournament.text("limit", "clock=10+0.1", Default.COMPUTED),
    _tournament.switch("ponder"),
    _tournament.text("engines", "engines.toml", Default.COMPUTED),
    _tournament.whole("opening_start", 0, MAX_PAIRS, 100, 0),
    _tournament.choice("opening_part", OPENING_PARTS, "all", Default.COMPUTED),
    _tournament.choice("opening_order", OPENING_ORDERS, "sequential", OPENING_ORDERS[0]),
    _tournament.whole("opening_plies", 0, MAX_PLIES, 8, 0, "plies"),
    _tournament.whole("gauntlet_players", 1, MAX_PAIRS, 2, 1),
    _tournament.choice("seeding", SEEDINGS, "random", SEEDINGS[0]),
    _tournament.switch("repeats"),
    _tournament.whole("tiebreak_pairs", 0, MAX_PAIRS, 5, DEFAULT_TIEBREAK_PAIRS, "pairs"),
    _tournament.choice("tiebreak", TIEBREAKS, "coin", TIEBREAKS[0]),
    _tournament.switch("third_place"),
    *(
        _tournament(name, TABLE, SWITCH, default=Default.COMPUTED, section=SEARCH_STATISTICS, example="true")
        for name in ("search_statistics", "instruments")
    ),
    _tournament.table(SPRT),
    _tournament.table(ANCHORS, example="{ default = 2500 }"),
    _tournament.tables(ANY_PLAYER, "players", Default.REQUIRED),
)
