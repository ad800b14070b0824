"""The benchmark: fixed searches whose total number of nodes is the engine's signature.

The number stays the same unless a change affects search or evaluation. The benchmark first searches its positions with
the default parameters, which measures speed. It then searches them again, less deeply, under variants of the parameters
that together exercise every technique that is off by default. Other variants play a few moves on the node clock: they
cover time management, and the state that one search leaves for the next. A parameter that no variant exercises gets
variants derived from its row in ``PARAMETERS``. ``benchmarks/signature_mutations.py`` tests that every parameter
affects the number.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from elolab.engine.engine import Clock, Engine, PonderGrant, SearchResult
from elolab.engine.games import GAMES, REGISTERED, game_named
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import (
    BY_NAME,
    PARAMETERS,
    Parameter,
    Value,
    format_value,
    is_active,
    needed_for,
    parameters_of,
    resolve,
)

UNPRUNED: Mapping[str, Value] = {
    "reverse_futility_depth": 0, "futility_depth": 0, "razoring_depth": 0, "late_move_pruning_depth": 0,
    "delta_margin": 0, "null_evaluation_divisor": 0, "internal_iterative_reduction": 0, "exchange_pruning_depth": 0,
    "quiescence_moves": 0,
}  # fmt: skip

DEFAULT = "default"
"""Name of the variant with default parameters, whose speed is reported."""
GIVEN = "given"
"""Name under which searches with the caller's own settings are reported, in place of a variant's name."""

VARIANTS: dict[str, Mapping[str, Value]] = {
    DEFAULT: {},
    "plain": {
        "algorithm": "alphabeta", "fail_soft": False, "aspiration": "off", "null_move": False, "quiescence": False,
        "late_move_reductions": False, "hash_mb": 0, "killers": 0, "capture_order": "none", "history_captures": True,
        "history_index": "from_to_shared", "history_record": "cutoff_and_pv", "evaluation": "material_chess",
        "check_extension": False, "stop_on_mate": False, "root_order": "as_nodes", **UNPRUNED,
    },
    "moreland": {
        "algorithm": "alphabeta", "aspiration": "full", "aspiration_window": 10, "history_index": "piece_to",
        "check_extension": False, "internal_iterative_deepening": True, "evaluation": "piece_square",
        "null_mate_guard": True, **UNPRUNED,
    },
    "gradual": {
        "aspiration": "gradual", "aspiration_window": 5, "history_weight": 1, "capture_order": "mvv_lva",
        "reverse_futility_depth": 3, "reverse_futility_margin": 40, "hash_mate_any_depth": True,
        "internal_iterative_deepening": True, "singular_depth": 4, "singular_margin": 10, "evaluation": "piece_square",
    },
    "verified": {
        "null_depth": 4, "null_verify": "always", "null_in_pv": True, "null_eval_gate": False, "killers": 1,
        "evaluation": "material", "quiescence_see": False, "null_store": "verified", "null_mate_guard": True,
        "mate_threat_offset": "null_depth", "mate_threat_extension": True, "spare_open_windows": False, **UNPRUNED,
    },
    "bold": {
        "quiescence_check_plies": 2, "check_extension": False, "null_eval_gate": False, "null_not_in_verify": "off",
        "null_not_twice": False, "null_need_attackers": False, "null_verify": "unless_safe", "null_min_depth": 1,
        "depth_step": 2, "min_depth": 2, "null_in_pv": True,
    },
    "rooted": {
        "null_depth": 3, "null_verify": "always", "null_not_in_verify": "root", "null_verify_min_depth": 2,
        "null_store": "all", "null_mate_guard": True, "mate_threat_offset": "null_depth",
        "mate_threat_extension": True, "null_eval_gate": False, "null_need_attackers": False, "singular_depth": 3,
        "correction_history": 100,
        **UNPRUNED,
    },
    "exact": {
        "hash_exact_depth_only": True, "rules_in_search": False, "hash_move": False, "lmr_base": 0, "lmr_divisor": 150,
        "lmr_min_depth": 2, "lmr_min_moves": 6, "lmr_checks": False, "tempo": 0,
    },
    "mtdf": {
        "algorithm": "mtdf", "hash_mate_any_depth": True, "unique_move_check": True, "null_return": "beta",
        "delta_margin": 300,
    },
    "from zero": {"algorithm": "mtdf", "mtdf_guess": "zero", "null_hash_guard": "bound", "null_min_material": 4000},
    "two back": {
        "algorithm": "mtdf", "mtdf_guess": "two_back", "null_in_pv": True, "null_eval_gate": False,
        "pruning_spares_checks": False,
    },
    "guarded": {
        "aspiration": "naive", "aspiration_window": 8, "null_mate_guard": True, "null_hash_guard": "bound",
        "null_store": "all", "null_store_depth": "node", "mate_threat_extension": True, "null_not_in_check": False,
        "null_in_pv": True, **UNPRUNED,
    },
    "elephant": {
        "aspiration": "naive_half", "aspiration_window": 8, "null_verify": "unless_safe", "null_verify_min_depth": 2,
        "null_store": "verified", "null_hash_guard": "any_entry", "razoring_depth": 2, "single_reply_extension": True,
        "reverse_futility_depth": 4, "reverse_futility_improving": 40, "internal_iterative_reduction": 3,
        "correction_history": 50, "exchange_pruning_depth": 2, "lmr_checks": True,
        "correction_pieces": 40, "correction_moves": 60, "capture_history": 800, "quiescence_moves": 4,
    },
    "foretold": {
        "probcut_depth": 4, "pass_costs_depth": True,
        "endgame_fastest_first": False, "endgame_parity": False, "endgame_empties": 12,
    },
    "looked up": {
        "enhanced_cutoff_depth": 2, "endgame_sort_empties": 6, "endgame_empties": 8, "null_move": True,
    },
    "straight": {"iterative_deepening": False, "history": False, "fail_soft": False, "endgame_stability": False},
}  # fmt: skip
"""Parameter values that differ from the defaults, by name of the variant.

The first variant is the default, searched to each position's full depth; the others are searched less deeply."""

CLOCKED: dict[str, tuple[str, bool, Mapping[str, Value]]] = {
    "clock": ("clock=0.5+0.01,node_clock=500000", False, {"history_decay": "keep"}),
    "iteration": ("clock=6/0.1+0.01,node_clock=500000", True, {
        "time_soft_check": "iteration", "hash_mb": 1, "replacement": "always",
    }),
    "released": ("clock=0.5+0.01,node_clock=500000", True, {
        "time_strategy": "elephanteye-3.31", "history_decay": "clear", "null_move": False,
        "ponder_elapsed": "from_start", "replacement": "deeper", "hash_mb": 1,
    }),
    "fixed": ("clock=0.3,node_clock=500000", False, {
        "time_strategy": "fixed", "time_fixed_ms": 40, "time_predict": "last_ratio", "keep_partial_iteration": False,
        "endgame_empties": 8,
    }),
    "at least": ("clock=3,node_clock=500000", False, {"time_strategy": "min_time", "time_fixed_ms": 10}),
    "share": ("clock=0.5,node_clock=500000", False, {
        "time_strategy": "share", "time_share": 100, "time_predict": "constant_ratio",
        "endgame_empties": 8, "endgame_exact_iteration": False,
    }),
    "allotted": ("clock=0.1,node_clock=500000", False, {"time_strategy": "othello"}),
    "slow": ("clock=5,node_clock=10000", False, {"time_strategy": "fixed", "unique_move_check": True}),
    "part": ("clock=1,node_clock=200000", False, {"time_strategy": "share"}),
    "line": ("move_time=0.02,node_clock=500000", False, {"time_predict": "least_squares", "min_depth": 3}),
    "short": ("clock=0.03+0.01,node_clock=500000", False, {"time_soft_factor": 3000, "time_hard_factor": 4000}),
    "discarded": ("move_time=0.02,node_clock=500000", False, {
        "time_predict": "least_squares", "min_depth": 3, "keep_partial_iteration": False,
    }),
}  # fmt: skip
"""Variants played on the node clock (a time control counted in nodes), by name.

Each value has the search limit, whether the player ponders, and the parameters that differ from the defaults.
"""

DERIVED_LIMITS = next(iter(CLOCKED.values()))[0]
"""Search limit on the node clock (time counted in nodes) for derived variants of parameters of time management."""

NOT_IN_THE_SIGNATURE = {
    "evaluation_weights": "another file is another evaluation, as tests/engine/games/test_othello.py shows",
    "poll_interval_nodes": "limits in nodes and the node clock are exact however often they are polled",
}
"""Reasons why some parameters cannot change the signature, by parameter name."""


def overrides_of(variant: str) -> Mapping[str, Value]:
    """Parameter values of a variant that differ from the defaults."""
    return CLOCKED[variant][2] if variant in CLOCKED else VARIANTS[variant]


def derived_variants(rows: Iterable[Parameter] = PARAMETERS) -> dict[str, dict[str, Value]]:
    """Additional variants for parameter values that no other variant exercises. Returns the changed parameters, by
    variant name.

    A variant's name is ``PARAMETER=VALUE``. Every value of a switch or choice needs a variant. A numeric parameter
    needs one variant in which it has an effect and is not switched off. A parameter without such a variant gets two
    variants, with the values of ``_trial_values``.
    """
    variants = [resolve(overrides_of(name)) for name in (*VARIANTS, *CLOCKED)]
    derived: dict[str, dict[str, Value]] = {}
    for row in rows:
        if row.name in NOT_IN_THE_SIGNATURE:
            continue
        held = {values[row.name] for values in variants if is_active(row.name, values)}
        if row.kind == "integer":
            missing = [] if held - {row.off} else _trial_values(row)
        else:
            missing = [value for value in row.legal if value not in held]
        for value in missing:
            derived[f"{row.name}={format_value(value)}"] = {**needed_for(row.name), row.name: value}
    return derived


def _trial_values(row: Parameter) -> list[Value]:
    """Two values to try for a numeric parameter: at one quarter and at three quarters of its range.

    The range is the tuning range, or the legal range if the parameter is not tuned. A value that switches the parameter
    off is left out.
    """
    low, high = row.tuning or row.legal
    return sorted({low + (high - low) * quarters // 4 for quarters in (1, 3)} - {row.off})


def add_derived_variants() -> None:
    for name, overrides in derived_variants().items():
        if BY_NAME[name.partition("=")[0]].acts_on_clock_only:
            CLOCKED[name] = (DERIVED_LIMITS, False, overrides)
        else:
            VARIANTS[name] = overrides


add_derived_variants()

SHALLOWER = 3
"""Number of plies by which each variant except the default is searched less deeply than the default variant."""

CLOCKED_PLIES = 4
"""Number of moves, all by one searcher, played from each position on the node clock (time counted in nodes)."""

PONDERED_NS = 8_000_000
"""Pondering time before each move, in nanoseconds."""

CLOCKED_POSITIONS = 3
"""Number of benchmark positions per game from which moves are played on the node clock (time counted in nodes)."""


@dataclass(frozen=True)
class BenchSearch:
    """The result of one search of the benchmark."""

    game: str
    variant: str
    position: str
    depth: int
    """Depth of the search in plies: the depth requested, or on a clock the depth reached."""
    nodes: int
    score: int
    """Score in centipawns, from the point of view of the side to move."""
    cpu_seconds: float
    solves: bool
    """Whether the endgame solver could search every line to the end of the game.

    Such a search visits mostly the solver's nodes, which take less time than others.
    """


def searches(games: tuple[str, ...] = GAMES) -> Iterator[BenchSearch]:
    """Run the benchmark. Yields the result of each search when it is done."""
    for name in games:
        _warm_up(name)
        for variant in (*VARIANTS, *CLOCKED):
            yield from searches_of(name, variant)


def searches_of(name: str, variant: str, changes: Mapping[str, Value] | None = None) -> Iterator[BenchSearch]:
    """Run the searches of one variant for the game ``name``; ``changes`` replace or extend the variant's parameters.

    Parameters that do not apply to the game are ignored.
    """
    limits, ponders, overrides = CLOCKED.get(variant) or ("", False, VARIANTS[variant])
    applicable = {row.name for row in parameters_of(name)}
    settings = {key: value for key, value in {**overrides, **(changes or {})}.items() if key in applicable}
    engine = Engine(name, settings)
    if variant in CLOCKED:
        for bench in engine.game.bench_positions[:CLOCKED_POSITIONS]:
            yield from _play_on(engine, variant, bench.text, Limits.parse(limits), ponders)
        return
    yield from _search_positions(engine, variant, _plies_less(overrides) if overrides else 0)


def searches_under(name: str, settings: Mapping[str, Value]) -> Iterator[BenchSearch]:
    """Search the positions of a game under the given settings, to the same depths as the non-default variants."""
    _warm_up(name)
    yield from _search_positions(Engine(name, settings), GIVEN, _plies_less(settings))


def _plies_less(settings: Mapping[str, Value]) -> int:
    """Number of plies by which searches with non-default settings are less deep than searches with the default
    settings.

    The number is ``SHALLOWER``, plus one without a transposition table, because such a search is slower.
    """
    return SHALLOWER + (1 if settings.get("hash_mb") == 0 else 0)


def _search_positions(engine: Engine, variant: str, plies_less: int) -> Iterator[BenchSearch]:
    """Search each benchmark position of the engine's game to the position's depth minus ``plies_less``.

    ``engine`` has the settings of the variant; ``variant`` is its name, for the results.
    """
    game = engine.game
    for bench in game.bench_positions:
        depth = bench.depth - plies_less
        engine.new_game()
        position = game.position(bench.text)
        result, seconds = _timed(engine, position, Limits(depth=depth))
        solves = depth >= int(game.kernels.plies_left(position.state))
        yield BenchSearch(game.name, variant, bench.text, depth, result.nodes, result.score, seconds, solves)


def _play_on(engine: Engine, variant: str, text: str, limits: Limits, ponders: bool) -> Iterator[BenchSearch]:
    """Play a few moves from the position ``text`` on the node clock (time counted in nodes), and yield each move's
    search.

    One searcher and one clock serve both sides. With ``ponders``, the engine ponders before each move.
    """
    position = engine.game.position(text)
    remaining_ns = (limits.clock_ms or 0) * 1_000_000
    moves_to_go = limits.moves_per_control
    grant = PonderGrant(PONDERED_NS, is_hit=True) if ponders else None
    engine.new_game()
    for _ in range(CLOCKED_PLIES):
        clock = Clock(remaining_ns // 1_000_000, None, moves_to_go, remaining_ns, ponders)
        before = position.text
        left = int(engine.game.kernels.plies_left(position.state))
        result, seconds = _timed(engine, position, limits, clock if limits.clock_ms else None, grant)
        yield BenchSearch(
            engine.game.name, variant, before, result.depth, result.nodes, result.score, seconds, result.depth >= left
        )
        if result.move is None:
            return
        position.push(result.move)
        spent_ns = max(result.nodes * limits.nanoseconds_per_node - (PONDERED_NS if ponders else 0), 0)
        remaining_ns = max(remaining_ns - spent_ns, 0) + limits.increment_ms * 1_000_000
        moves_to_go = max(moves_to_go - 1, 0)


def _timed(
    engine: Engine, position: Position, limits: Limits, clock: Clock | None = None, ponder: PonderGrant | None = None
) -> tuple[SearchResult, float]:
    """Search a position, optionally on a clock and with pondering. Returns the result and the CPU time in seconds."""
    start = time.thread_time()
    result = engine.search(position, limits, clock, ponder=ponder)
    return result, time.thread_time() - start


def _warm_up(game: str) -> None:
    """Load or compile the code of a game, so that compilation does not distort the time of the first search."""
    Engine(game).search(game_named(game).position(), Limits(depth=1))


def signatures(results: Iterable[BenchSearch]) -> dict[str, int]:
    """Total number of nodes, by the signature's name: ``Bench NAME`` for a game with a signature of its own, and
    ``Bench`` for all other games together.
    """
    found: dict[str, int] = {}
    for result in results:
        name = f"Bench {result.game}" if REGISTERED[result.game].has_own_signature else "Bench"
        found[name] = found.get(name, 0) + result.nodes
    return found


def speed(results: list[BenchSearch], solves: bool = False, variant: str = DEFAULT) -> float | None:
    """Nodes per CPU second of a variant's searches; ``None`` if there are none to measure.

    ``solves`` measures only the searches that the endgame solver completes (``BenchSearch.solves``). Otherwise these
    searches are left out, because the solver's nodes take less time.
    """
    timed = [result for result in results if result.variant == variant and result.solves == solves]
    if not timed:
        return None
    return sum(result.nodes for result in timed) / max(sum(result.cpu_seconds for result in timed), 1e-9)
