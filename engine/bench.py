"""The benchmark: fixed searches whose total number of nodes is the engine's signature.

A change that should not change play leaves the number as it is; a change to search or evaluation shows. The positions
are searched with the default parameters, for the speed, and again less deeply under variants that between them
exercise every technique the default leaves out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.engine import Engine
from engine.games import GAMES, game_named
from engine.limits import Limits
from engine.parameters import Value

VARIANTS: dict[str, Mapping[str, Value]] = {
    "default": {},
    "plain": {
        "algorithm": "alphabeta", "fail_soft": False, "aspiration": "off", "null_move": False, "quiescence": False,
        "late_move_reductions": False, "hash_mb": 0, "killers": 0, "capture_order": "none", "history_captures": True,
        "history_index": "from_to_shared", "history_record": "cutoff_and_pv", "evaluation": "material_chess",
        "check_extension": False,
    },
    "moreland": {"algorithm": "alphabeta", "aspiration": "full", "aspiration_window": 10, "history_index": "piece_to"},
    "gradual": {"aspiration": "gradual", "aspiration_window": 5, "history_weight": 1, "capture_order": "mvv_lva"},
    "verified": {
        "null_depth": 4, "null_verify": "always", "null_in_pv": True, "null_eval_gate": False, "killers": 1,
        "evaluation": "material", "quiescence_see": False,
    },
    "bold": {
        "quiescence_check_plies": 2,
        "null_not_twice": False, "null_need_attackers": False, "null_verify": "unless_safe", "null_min_depth": 1,
        "depth_step": 2, "min_depth": 2,
    },
    "exact": {
        "hash_exact_depth_only": True, "rules_in_search": False, "hash_move": False, "lmr_base": 0, "lmr_divisor": 150,
        "lmr_min_depth": 2, "lmr_min_moves": 6, "tempo": 0,
    },
    "mtdf": {
        "algorithm": "mtdf", "internal_iterative_deepening": True, "hash_mate_any_depth": True,
        "unique_move_check": True, "null_return": "beta", "delta_margin": 300,
    },
    "guarded": {
        "mtdf_guess": "zero", "aspiration": "naive", "aspiration_window": 8, "null_mate_guard": True,
        "null_hash_guard": "bound", "null_store": "all", "mate_threat_extension": True, "null_min_material": 900,
        "null_not_in_check": False, "futility_depth": 3, "late_move_pruning_depth": 3,
    },
    "elephant": {
        "aspiration": "naive_half", "aspiration_window": 8, "null_verify": "unless_safe", "null_not_in_verify": "root",
        "null_verify_min_depth": 2, "null_store": "verified", "null_hash_guard": "any_entry", "razoring_depth": 2,
        "single_reply_extension": True, "reverse_futility_depth": 4, "internal_iterative_reduction": 3,
    },
    "straight": {"iterative_deepening": False, "history": False, "fail_soft": False},
}  # fmt: skip
"""Overrides by name. The first is the default, searched to the positions' own depth; the others two plies less."""

SHALLOWER = 3
"""Plies by which the variants are searched less deeply."""


@dataclass(frozen=True)
class BenchSearch:
    """One search of the benchmark."""

    game: str
    variant: str
    position: str
    depth: int
    nodes: int
    score: int
    """Centipawns, the view of the side to move."""
    cpu_seconds: float


def searches(games: tuple[str, ...] = GAMES) -> Iterator[BenchSearch]:
    """Run the benchmark, one search at a time, each from empty tables."""
    for name in games:
        game = game_named(name)
        _warm_up(name)
        for variant, overrides in VARIANTS.items():
            engine = Engine(name, overrides)
            for bench in game.bench_positions:
                depth = bench.depth if not overrides else bench.depth - SHALLOWER
                position = game.position(bench.text)
                engine.new_game()
                start = time.thread_time()
                result = engine.search(position, Limits(depth=depth))
                seconds = time.thread_time() - start
                yield BenchSearch(name, variant, bench.text, depth, result.nodes, result.score, seconds)


def _warm_up(game: str) -> None:
    """Load or compile everything, so that the first search is timed like the others."""
    Engine(game).search(game_named(game).position(), Limits(depth=1))


def signature(results: list[BenchSearch]) -> int:
    """The benchmark's number: all nodes of all searches."""
    return sum(result.nodes for result in results)


def speed(results: list[BenchSearch]) -> float:
    """Nodes per CPU second of the default variant."""
    timed = [result for result in results if not VARIANTS[result.variant]]
    return sum(result.nodes for result in timed) / max(sum(result.cpu_seconds for result in timed), 1e-9)
