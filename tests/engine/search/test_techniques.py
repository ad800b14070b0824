"""Each technique acts as its row of the parameter table says."""

from __future__ import annotations

import math
import random
from functools import cache

import numpy as np
import pytest

from elolab.engine.engine import Clock, Engine, PonderGrant, SearchMemory, SearchResult
from elolab.engine.games import game_named
from elolab.engine.games.contract import ENDLESS, MoveError
from elolab.engine.rules import Rules
from elolab.engine.search import clock, node, table
from elolab.engine.search.null_move import NORMAL, null_evaluation_reduction, null_reduction
from elolab.engine.search.records import CLOCK_NODE, NO_LIMIT
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, is_active, resolve
from elolab.engine.values import MATE, MATE_BOUND
from tests.engine.games.test_xiangqi_moves import random_ending
from tests.support.effort import EFFORT

SOUND = {
    "hash_exact_depth_only": True,
    "rules_in_search": False,
    "late_move_reductions": False,
    "null_move": False,
    "reverse_futility_depth": 0,
    "futility_depth": 0,
    "razoring_depth": 0,
    "late_move_pruning_depth": 0,
    "internal_iterative_reduction": 0,
    "delta_margin": 0,
}

UNPRUNED: dict[str, object] = {
    "reverse_futility_depth": 0, "futility_depth": 0, "razoring_depth": 0, "late_move_pruning_depth": 0,
    "internal_iterative_reduction": 0, "delta_margin": 0, "null_min_depth": 2,
}  # fmt: skip


MATE_THREATS = (
    "3a5/3k5/3a1r3/c8/R5b1P/8C/N8/4pA3/3K5/4nA3 w - - 0 1",
    "4ka1r1/3C1P3/c2a5/6n2/6b2/2B6/9/p4K3/9/3A1AB2 w - - 0 1",
    "1c2k1b2/1N2a2P1/3a5/2n6/6b2/2B6/7p1/1r3A3/C4R3/4K1B2 b - - 0 1",
    "3kr4/4a4/b1ca5/3R5/6n2/2B5C/2P2N3/B4A3/4K4/3A2p2 w - - 0 1",
)


@cache
def positions(count: int, seed: int) -> tuple[str, ...]:
    """Positions after 4 to 60 random plies."""
    game = game_named("xiangqi")
    choice = random.Random(seed)
    texts = []
    while len(texts) < count:
        position = game.position()
        for _ in range(choice.randrange(4, 60)):
            moves = position.legal_moves()
            if not moves:
                break
            position.push(choice.choice(moves))
        if position.legal_moves():
            texts.append(position.text)
    return tuple(texts)


def search(overrides: dict[str, object], text: str, limits: Limits, **rest: object) -> SearchResult:
    """One search from empty tables; of the same one, which many comparisons begin with, what it found before."""
    if rest:
        return _search_anew(overrides, text, limits, **rest)
    settings = tuple(sorted(resolve(overrides, game="xiangqi").items()))
    return _search_kept(settings, text, limits)


@cache
def _search_kept(settings: tuple[tuple[str, object], ...], text: str, limits: Limits) -> SearchResult:
    return _search_anew(dict(settings), text, limits)


def _search_anew(overrides: dict[str, object], text: str, limits: Limits, **rest: object) -> SearchResult:
    return Engine("xiangqi", overrides).search(game_named("xiangqi").position(text), limits, **rest)  # type: ignore[arg-type]


def total(overrides: dict[str, object], counter: str, depth: int = 6) -> int:
    """A counter summed over a few positions."""
    engine = Engine("xiangqi", overrides)
    counted = 0
    for text in positions(12, 1):
        engine.new_game()
        counted += engine.search(game_named("xiangqi").position(text), Limits(depth=depth)).counters[counter]
    return counted


DRIVERS: tuple[dict[str, object], ...] = (
    {"algorithm": "alphabeta", "aspiration": "off"},
    {"algorithm": "mtdf"},
    {"algorithm": "mtdf", "mtdf_guess": "zero", "fail_soft": False},
    {"algorithm": "mtdf", "mtdf_guess": "two_back", "hash_mb": 0},
    {"algorithm": "pvs", "aspiration": "naive", "aspiration_window": 4},
    {"algorithm": "alphabeta", "aspiration": "naive_half", "aspiration_window": 4},
    {"algorithm": "pvs", "aspiration": "gradual", "aspiration_window": 2, "internal_iterative_deepening": True},
)


@pytest.mark.integration
@EFFORT
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: "-".join(str(value) for value in driver.values()))
def test_every_driver_finds_the_same_value(driver: dict[str, object], effort: int) -> None:
    reference = Engine("xiangqi", {**SOUND, "algorithm": "pvs", "aspiration": "off"})
    engine = Engine("xiangqi", {**SOUND, **driver})
    game = game_named("xiangqi")
    for text in positions(3 * effort, 10):
        for depth in (1, 2, 3, 4):
            reference.new_game()
            engine.new_game()
            expected = reference.search(game.position(text), Limits(depth=depth)).score
            assert engine.search(game.position(text), Limits(depth=depth)).score == expected, (text, depth)


@pytest.mark.parametrize("naive", ["naive", "naive_half"])
def test_the_naive_window_never_exceeds_its_limit(naive: str) -> None:
    engine = Engine("xiangqi", {"aspiration": naive, "aspiration_window": 1, "null_in_pv": True})
    game = game_named("xiangqi")
    for text in positions(10, 3):
        engine.new_game()
        result = engine.search(game.position(text), Limits(nodes=20_000))
        assert result.nodes <= 20_000


def test_mtdf_counts_its_passes_and_a_good_guess_saves_some() -> None:
    assert total({"algorithm": "pvs"}, "mtdf_passes") == 0
    # Static evaluations taken from the table depend on the windows of the passes before.
    settings: dict[str, object] = {"algorithm": "mtdf", "hash_static": False}
    from_last = total({**settings, "mtdf_guess": "last"}, "mtdf_passes")
    from_zero = total({**settings, "mtdf_guess": "zero"}, "mtdf_passes")
    assert 0 < from_last < from_zero


@pytest.mark.integration
@pytest.mark.parametrize(
    ("condition", "loose", "strict"),
    [
        ("null_not_in_check", False, True),
        ("null_need_attackers", False, True),
        ("null_min_depth", 1, 3),
        ("null_not_twice", False, True),
        ("null_eval_gate", False, True),
        ("null_in_pv", True, False),
        ("null_min_material", 0, 4000),
        ("null_hash_guard", "off", "any_entry"),
        ("null_hash_guard", "bound", "any_entry"),
        ("null_mate_guard", False, True),
    ],
)
def test_each_null_move_condition_makes_fewer_tries(condition: str, loose: object, strict: object) -> None:
    # Threats of mate are frequent only where generals stand bare.
    texts, depth = (MATE_THREATS, 7) if condition == "null_mate_guard" else (positions(12, 1), 6)

    def rate(value: object) -> float:
        """Tries a node: a condition also changes the size of the tree."""
        found = [search({**UNPRUNED, condition: value}, text, Limits(depth=depth)) for text in texts]
        return sum(one.counters["null_tries"] for one in found) / sum(one.nodes for one in found)

    if condition == "null_need_attackers":
        bare = "3ak4/9/9/9/9/9/4P4/9/4A4/3K1A3 w - - 0 1"
        assert (
            search({condition: strict}, bare, Limits(depth=6)).counters["null_tries"]
            < (search({condition: loose}, bare, Limits(depth=6)).counters["null_tries"])
        )
        return
    assert rate(strict) < rate(loose)


def test_verification_happens_only_from_its_least_depth_on() -> None:
    always = {"null_verify": "always", "null_min_depth": 2, "null_depth": 3}
    assert total({**always, "null_verify_min_depth": 20}, "null_verified") == 0
    shallow = total({**always, "null_verify_min_depth": 2}, "null_verified")
    standard = total(always, "null_verified")
    assert 0 < standard < shallow
    assert total({"null_verify": "off"}, "null_verified") == 0


def test_probcut_hands_mtdf_a_value_and_not_the_bound_it_searched_with() -> None:
    """From the bound itself MTD(f) steps on by a centipawn a pass: a hundred passes an iteration and more."""
    engine = Engine("othello", {"algorithm": "mtdf", "probcut_depth": 2, "endgame_empties": 0})
    for bench in engine.game.bench_positions[:2]:
        engine.new_game()
        result = engine.search(engine.game.position(bench.text), Limits(depth=8))
        assert result.counters["probcuts"] > 0
        assert 8 <= result.counters["mtdf_passes"] < 8 * 20


def test_barring_null_moves_in_the_whole_verification_makes_fewer_of_them() -> None:
    always = {"null_verify": "always", "null_depth": 2}
    subtree = total({**always, "null_not_in_verify": "subtree"}, "null_tries", 7)
    assert subtree < total({**always, "null_not_in_verify": "root"}, "null_tries", 7)


def test_fenons_offset_is_unreachable_at_null_depth_three() -> None:
    settings: dict[str, object] = {
        "internal_iterative_reduction": 0, "lmr_root": False, "null_evaluation_divisor": 0, "null_depth": 3,
    }  # fmt: skip
    assert total({**settings, "mate_threat_offset": "two"}, "mate_threats", 8) > 0
    assert total({**settings, "mate_threat_offset": "null_depth"}, "mate_threats", 8) == 0


def _memory(overrides: dict[str, object] | None = None) -> SearchMemory:
    memory = SearchMemory(resolve({"hash_mb": 1, **(overrides or {})}, game="xiangqi"), None)
    memory.new_game()
    return memory


@pytest.mark.parametrize(
    ("overrides", "alpha", "beta", "score", "bound", "cuts"),
    [
        # Every window is open, as in the main line of principal variation search; the entry is of depth 1.
        ({"hash_mate_any_depth": True}, -100, 100, MATE - 3, table.LOWER_BOUND, True),
        ({"hash_mate_any_depth": True}, -100, 100, MATE - 3, table.EXACT, True),
        ({"hash_mate_any_depth": True}, -100, 100, 4 - MATE, table.UPPER_BOUND, True),
        ({"hash_mate_any_depth": True, "algorithm": "alphabeta"}, -100, 100, MATE - 3, table.LOWER_BOUND, True),
        # A bound that does not help, a value that is no mate, a loss by repetition, the switch.
        ({"hash_mate_any_depth": True}, -100, 100, MATE - 3, table.UPPER_BOUND, False),
        ({"hash_mate_any_depth": True}, -100, 100, 4 - MATE, table.LOWER_BOUND, False),
        ({"hash_mate_any_depth": True}, -100, 100, MATE_BOUND - 1, table.LOWER_BOUND, False),
        ({"hash_mate_any_depth": True}, -100, MATE, MATE - 3, table.LOWER_BOUND, False),
        ({"hash_mate_any_depth": False}, -100, 100, MATE - 3, table.LOWER_BOUND, False),
    ],
)
def test_a_proven_mate_cuts_at_any_depth_in_open_windows_too(
    overrides: dict[str, object], alpha: int, beta: int, score: int, bound: int, cuts: bool
) -> None:
    memory = _memory(overrides)
    position = game_named("xiangqi").position()
    memory.compile_search(position.state, position.lists)
    game_named("xiangqi").kernels.prepare(position.state, memory.parameters)
    ply = 1
    stored = score - ply if score > 0 else score + ply
    table.store(memory.search, position.state.key, 0, stored if abs(score) >= MATE_BOUND else score, 1, bound, ply, 0)
    value = node.search_node(
        position.state, memory.search, position.lists, memory.parameters, alpha, beta, 4, ply, NORMAL
    )
    assert (memory.search.nodes == 0) == cuts
    if cuts:
        assert value == stored


@pytest.mark.parametrize("fail_soft", [True, False])
def test_mate_threats_are_seen_whatever_a_node_returns(fail_soft: bool) -> None:
    settings = {"fail_soft": fail_soft, "null_eval_gate": False, "internal_iterative_reduction": 0}
    results = [search(settings, text, Limits(depth=7)) for text in MATE_THREATS]
    assert sum(result.counters["mate_threats"] for result in results) > 0


def test_a_null_cutoff_never_replaces_a_bound_that_has_a_move() -> None:
    import numpy as np

    memory, key = _memory(), np.uint64(12345)  # the memory owns the table that the record points to
    record = memory.search
    other = key ^ np.uint64(1 << 62)  # in the same bucket
    for with_other in (False, True):
        if with_other:
            table.store(record, other, 33, 0, 20, table.EXACT, 0, 0)
        table.store(record, key, 77, 50, 3, table.LOWER_BOUND, 0, 0)
        table.store(record, key, 0, 90, 9, table.LOWER_BOUND, 0, 0)
        entry = table.probe(record, key)
        assert (table.entry_move(entry), table.entry_score(entry, 0), table.entry_depth(entry)) == (77, 50, 3)
        assert not table.is_null_cutoff(entry)
    assert table.entry_move(table.probe(record, other)) == 33


def test_a_null_cutoff_is_told_from_other_bounds_and_a_threat_stays_with_the_position() -> None:
    import numpy as np

    memory, key = _memory(), np.uint64(999)  # the memory owns the table that the record points to
    record = memory.search
    table.store(record, key, 0, 90, 2, table.LOWER_BOUND, 0, 1)
    assert table.is_null_cutoff(table.probe(record, key))
    table.store(record, key, 5, 40, 3, table.EXACT, 0, 0)
    entry = table.probe(record, key)
    assert not table.is_null_cutoff(entry)
    assert table.entry_threat(entry) == 1


def test_stored_null_cutoffs_change_the_tree() -> None:
    nodes = {
        store: sum(
            search({"null_store": store, "null_min_depth": 2}, text, Limits(depth=7)).nodes for text in positions(12, 1)
        )
        for store in ("off", "all")
    }
    assert nodes["off"] != nodes["all"]


def test_a_null_cutoff_stored_for_its_node_cuts_when_the_position_comes_up_again() -> None:
    """Stored with the null search's depth it is too shallow for that, so that null moves are tried again."""
    way = {"null_store": "all", "null_min_depth": 2, **SOUND, "null_move": True}
    tries = {depth: total({**way, "null_store_depth": depth}, "null_tries") for depth in ("null_search", "node")}
    assert tries["node"] < 0.99 * tries["null_search"]


def test_a_verified_null_cutoff_finds_the_verification_in_the_table() -> None:
    """It leaves a lower bound with a move, which no null cutoff replaces: to store verified ones changes nothing.

    So it is where every verification of a node is as deep as the next: whatever the static evaluation.
    """
    way = {"null_verify": "always", "null_min_depth": 3, **SOUND, "null_move": True, "null_evaluation_divisor": 0}
    for text in positions(6, 1):
        stored, other = (
            search({**way, "null_store": store, "null_store_depth": "node"}, text, Limits(depth=5)).nodes
            for store in ("verified", "off")
        )
        assert stored == other


def test_the_null_search_is_shallower_with_depth() -> None:
    def reductions(overrides: dict[str, object]) -> list[int]:
        parameters = _memory(overrides).parameters
        return [int(null_reduction(parameters, depth)) for depth in (2, 3, 4, 7, 8, 30)]

    assert reductions({"null_depth_divisor": 4}) == [3, 3, 4, 4, 5, 10]
    assert reductions({}) == [3] * 6
    assert total({"null_depth_divisor": 2}, "null_tries", 8) != total({}, "null_tries", 8)


ONE_SAVING_MOVE = {
    "4k4/9/9/8r/r7n/8N/9/9/9/R4K3 w - - 0 1": "a0e0",
    "5k2n/9/R8/4r4/9/1r3N3/9/9/9/4K4 w - - 0 1": "f4e6",
    "4k4/3R5/8n/9/9/9/9/9/7r1/1r2NK3 w - - 0 1": "d8d0",
    "1r3k3/9/2N6/9/2r6/9/9/2n5R/9/3K5 w - - 0 1": "i2c2",
}
"""Positions in which every move but one is mated."""


@pytest.mark.parametrize("order", ["best_first", "as_nodes"])
@pytest.mark.parametrize(("text", "move"), ONE_SAVING_MOVE.items())
def test_unique_move_check_ends_the_search_where_every_other_move_loses(text: str, move: str, order: str) -> None:
    settings: dict[str, object] = {"unique_move_check": True, "evaluation": "piece_square", "root_order": order}
    result = search(settings, text, Limits(nodes=100_000))
    assert (result.move, result.counters["unique_moves"]) == (move, 1)
    assert result.nodes < 100_000
    others = [other for other in game_named("xiangqi").position(text).legal_moves() if other != move]
    assert search({}, text, Limits(depth=8), search_moves=others).score <= -MATE_BOUND


def test_unique_move_check_finds_nothing_where_there_is_a_choice() -> None:
    start = game_named("xiangqi").start
    plain = search({}, start, Limits(depth=5))
    checked = search({"unique_move_check": True}, start, Limits(depth=5))
    assert checked.counters["unique_moves"] == 0
    assert (checked.move, checked.score) == (plain.move, plain.score)


@pytest.mark.parametrize("overrides", [{}, {"algorithm": "mtdf"}, {"algorithm": "alphabeta", "fail_soft": False}])
def test_mates_are_found_at_the_right_distance(overrides: dict[str, object]) -> None:
    text = "4k4/9/9/9/9/9/9/R8/1R7/3K5 w - - 0 1"
    plain = search({**SOUND, "hash_mb": 0, "algorithm": "alphabeta", "aspiration": "off"}, text, Limits(depth=5)).score
    assert plain > MATE_BOUND
    assert search(overrides, text, Limits(depth=9)).score == plain
    assert (MATE - plain) % 2 == 1


def node_clock(strategy: dict[str, object], remaining_ms: int, moves_to_go: int = 0) -> SearchResult:
    """A search on the node clock at a million nodes a second."""
    limits = Limits(clock_ms=remaining_ms, clock_kind="node", nodes_per_second=1_000_000)
    position = game_named("xiangqi").position()
    return Engine("xiangqi", strategy).search(position, limits, Clock(remaining_ms, moves_to_go=moves_to_go))


def test_min_time_stops_only_after_an_iteration() -> None:
    limits = Limits(move_time_ms=50, clock_kind="node", nodes_per_second=1_000_000)
    result = search({"time_strategy": "min_time"}, game_named("xiangqi").start, limits)
    assert result.nodes > 50_000
    completed = search({}, game_named("xiangqi").start, Limits(depth=result.depth))
    assert result.nodes == completed.nodes


def test_the_released_elephanteyes_hard_limit() -> None:
    # 2 s, sudden death: half of it at the most, and 10 times the proper time of 100 ms.
    result = node_clock({"time_strategy": "elephanteye-3.31"}, 2000)
    assert 0 < result.nodes <= 1_000_000
    # Four moves to go: 11 - 4 = 7 tenths.
    assert node_clock({"time_strategy": "elephanteye-3.31"}, 2000, moves_to_go=4).nodes <= 1_400_000


@pytest.mark.parametrize("predict", ["last_ratio", "constant_ratio", "least_squares"])
def test_prediction_does_not_begin_what_cannot_end(predict: str) -> None:
    strategy = {"time_strategy": "share", "time_share": 100}
    plain = node_clock(strategy, 500)
    predicted = node_clock({**strategy, "time_predict": predict}, 500)
    # A forecast may be too hopeful; where it is not, the search ends with an iteration and nothing is thrown away.
    if predicted.counters["predicted_stops"]:
        assert predicted.nodes < plain.nodes
        assert predicted.nodes == search({}, game_named("xiangqi").start, Limits(depth=predicted.depth)).nodes
    stops = [
        node_clock({**strategy, "time_predict": predict}, remaining).counters["predicted_stops"]
        for remaining in (125, 250, 375, 625, 1000)
    ]
    assert sum(stops) >= 2


def test_forecasts_follow_the_formulas() -> None:
    memory = _memory()
    durations = (1_000_000, 3_000_000, 7_000_000)
    for index, duration in enumerate(reversed(durations)):
        memory.search.iteration_ns[index] = duration
    one, two, three = (math.log2(duration) for duration in durations)
    expected = {
        "last_ratio": 2 ** (2 * three - two),
        "constant_ratio": 7_000_000 * 3,
        "least_squares": 2 ** ((one + two + three) / 3 + three - one),
    }
    for name, value in expected.items():
        parameters = SearchMemory(resolve({"time_predict": name, "hash_mb": 0}), None).parameters
        assert clock.forecast_ns(memory.search, parameters) == pytest.approx(value, rel=0.02)


def test_no_clock_no_forecast() -> None:
    memory = SearchMemory(resolve({"time_predict": "constant_ratio", "hash_mb": 0}), None)
    assert memory.search.hard_ns == NO_LIMIT
    assert clock.next_iteration_fits(memory.search, memory.parameters)


@pytest.mark.parametrize(
    "pruning",
    [
        {"reverse_futility_depth": 5},
        {"futility_depth": 4},
        {"razoring_depth": 3},
        {"late_move_pruning_depth": 4},
        {"delta_margin": 200},
        {"internal_iterative_reduction": 4},
    ],
    ids=lambda pruning: next(iter(pruning)),
)
def test_pruning_saves_nodes(pruning: dict[str, object]) -> None:
    def nodes(overrides: dict[str, object]) -> int:
        return sum(search({**UNPRUNED, **overrides}, text, Limits(depth=5)).nodes for text in positions(12, 1))

    assert nodes(pruning) < nodes({})


def test_a_move_that_stands_alone_is_extended_the_more_often_the_less_it_must_be_ahead() -> None:
    def extended(margin: int) -> int:
        return total({"singular_depth": 4, "singular_margin": margin}, "singular_moves", 7)

    assert 0 < extended(30) < extended(4) <= total({"singular_depth": 4, "singular_margin": 4}, "singular_tries", 7)
    assert total({"singular_depth": 0}, "singular_tries", 7) == 0


def _filled(replacement: str) -> set[tuple[int, int]]:
    """What a bucket keeps of four entries of depths 9, 2, 5, 3 stored in this order, as (key, depth)."""
    memory = SearchMemory(resolve({"hash_mb": 1, "replacement": replacement}), None)
    memory.new_game()
    search = memory.search
    buckets = int(search.table_mask) + 1
    keys = {1 + number * buckets: depth for number, depth in enumerate((9, 2, 5, 3))}
    for key, depth in keys.items():
        table.store(search, np.uint64(key), 5, 10, depth, table.EXACT, 0, 0)
    kept = {key: int(table.probe(search, np.uint64(key))) for key in keys}
    return {(key // buckets, int(table.entry_depth(entry))) for key, entry in kept.items() if entry}


@pytest.mark.parametrize(
    ("replacement", "kept"),
    [("two_tier", {(0, 9), (3, 3)}), ("always", {(2, 5), (3, 3)}), ("deeper", {(0, 9), (2, 5)})],
)
def test_replacement_decides_what_a_full_bucket_keeps(replacement: str, kept: set[tuple[int, int]]) -> None:
    assert _filled(replacement) == kept


@pytest.mark.parametrize(("extension", "depth"), [("single_reply_extension", 6), ("mate_threat_extension", 7)])
def test_extensions_change_the_tree(extension: str, depth: int) -> None:
    texts = MATE_THREATS if extension == "mate_threat_extension" else positions(12, 1)
    base: dict[str, object] = {"internal_iterative_reduction": 0}
    nodes = [
        [search({**base, extension: value}, text, Limits(depth=depth)).nodes for text in texts]
        for value in (False, True)
    ]
    assert nodes[0] != nodes[1]


@pytest.mark.parametrize(("record", "recorded"), [("cutoff", 0), ("cutoff_and_pv", 1)])
def test_the_root_records_its_best_move_too(record: str, recorded: int) -> None:
    """At depth 1 without quiescence only the root has a loop of moves."""
    plain = {"algorithm": "alphabeta", "aspiration": "off", "quiescence": False, "hash_mb": 0}
    engine = Engine("xiangqi", {**plain, "history_captures": True, "history_record": record})
    engine.search(game_named("xiangqi").position(), Limits(depth=1))
    assert engine.memory is not None
    assert np.count_nonzero(engine.memory.search.history) == recorded


@pytest.mark.parametrize("name", ["time_divisor", "ponder_time_factor"])
@pytest.mark.parametrize("strategy", BY_NAME["time_strategy"].legal)
def test_tuning_may_vary_what_a_strategy_reads(strategy: str, name: str) -> None:
    """Where the limits of a pondering player's search change with it, the parameter has to count as one with effect."""
    found = set()
    for value in BY_NAME[name].tuning:
        memory = SearchMemory(resolve({"hash_mb": 0, "time_strategy": strategy, name: value}), None)
        memory.search.clock, memory.search.ponders = CLOCK_NODE, 1
        clock.start_clock(memory.search)
        clock.allocate_time(memory.search, memory.parameters, 0, 60_000_000_000, 0, 0)
        clock.allocate_iteration_time(memory.search, memory.parameters, 1, ENDLESS)
        found.add((int(memory.search.soft_ns), int(memory.search.hard_ns)))
    assert is_active(name, resolve({"time_strategy": strategy})) == (len(found) > 1)


def _shuffles(count: int) -> list[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Positions in which both sides can move a piece to and fro for ever: text, the mover's two moves, the other's."""
    game = game_named("xiangqi")
    choice = random.Random(8)
    found = []
    for text in positions(120, 8):
        position = game.position(text)
        moves = []
        for _ in range(2):
            legal = position.legal_moves()
            quiet = [move for move in legal if game.kernels.is_quiet(position.state, position.code_of(move))]
            moves.append(choice.choice(quiet or legal))
            position.push(moves[-1])
        try:
            for move in moves:
                position.push(move[2:] + move[:2])
        except MoveError:
            continue
        if position.text.split()[:2] == text.split()[:2]:
            one, other = moves
            found.append((text, (one, one[2:] + one[:2]), (other, other[2:] + other[:2])))
        if len(found) == count:
            break
    return found


def test_the_game_so_far_is_part_of_the_tables_keys_once_a_repetition_would_be_judged() -> None:
    game = game_named("xiangqi")
    for text, (one, back), (other, home) in _shuffles(6):
        cycle = [one, other, back, home]
        keys = []
        for length in range(9):
            state = game.position(text, (cycle * 2)[:length]).state
            keys.append(int(game.kernels.repetition_key(state)))
        # From the second occurrence of a position on its third is judged; then of one more with each ply.
        assert keys[:4] == [0, 0, 0, 0]
        assert len({0, *keys[4:]}) == 5
        assert keys[7] == keys[8]
        position = game.position(text, cycle)
        game.apply_rules(position.state, Rules(fold=4))
        assert game.kernels.repetition_key(position.state) == 0


@pytest.mark.parametrize(
    "driver", ["pvs", *(pytest.param(driver, marks=pytest.mark.integration) for driver in ("alphabeta", "mtdf"))]
)
def test_entries_of_a_first_visit_do_not_hide_that_the_next_repetition_is_judged(driver: str) -> None:
    settings = {**SOUND, "rules_in_search": True, "algorithm": driver, "aspiration": "off", "history_decay": "clear"}
    warm, fresh = Engine("xiangqi", settings), Engine("xiangqi", settings)
    repeated = changed = 0
    generator = random.Random(4)
    for _ in range(20):
        warm.new_game()
        position = random_ending(generator)
        found: dict[str, SearchResult] = {}
        for _ in range(24):
            if position.judge(Rules()) is not None or not position.legal_moves():
                break
            result = warm.search(position, Limits(depth=3))
            placing = " ".join(position.text.split()[:2])
            if placing in found:
                fresh.new_game()
                expected = fresh.search(position, Limits(depth=3))
                assert (result.score, result.move) == (expected.score, expected.move)
                repeated += 1
                changed += result.score != found[placing].score
            found.setdefault(placing, result)
            assert result.move is not None
            position.push(result.move)
    # Some values are others once a repetition would be judged.
    assert repeated > 20
    assert changed > 0


def test_without_sparing_principal_variation_search_prunes_its_main_line_too() -> None:
    alike: dict[str, object] = {"spare_open_windows": False}
    assert total(alike, "null_tries") > total({}, "null_tries")
    for algorithm in ("alphabeta", "mtdf"):
        settings = {"algorithm": algorithm, "aspiration": "off"}
        assert total(settings, "cutoffs") == total({**settings, **alike}, "cutoffs")


@pytest.mark.parametrize(
    ("algorithm", "spares", "cuts"), [("pvs", True, False), ("pvs", False, True), ("alphabeta", True, True)]
)
def test_an_entry_decides_nodes_with_open_windows_only_where_they_are_not_spared(
    algorithm: str, spares: bool, cuts: bool
) -> None:
    memory = _memory({"algorithm": algorithm, "spare_open_windows": spares})
    position = game_named("xiangqi").position()
    memory.compile_search(position.state, position.lists)
    game_named("xiangqi").kernels.prepare(position.state, memory.parameters)
    table.store(memory.search, position.state.key, 0, 30, 9, table.EXACT, 1, 0)
    value = node.search_node(position.state, memory.search, position.lists, memory.parameters, -100, 100, 4, 1, NORMAL)
    assert (memory.search.nodes == 0) == cuts
    assert not cuts or value == 30


def test_an_iteration_that_was_cut_off_changes_nothing_where_it_is_thrown_away() -> None:
    rules: dict[str, object] = {"aspiration": "off"}
    differences = 0
    for text in positions(8, 6):
        for nodes in (700, 1500, 4000, 9000):
            thrown = search({**rules, "keep_partial_iteration": False}, text, Limits(nodes=nodes))
            kept = search(rules, text, Limits(nodes=nodes))
            assert thrown.depth == kept.depth
            completed = search(rules, text, Limits(depth=thrown.depth))
            assert (thrown.move, thrown.score) == (completed.move, completed.score)
            assert thrown.principal_variation == completed.principal_variation
            differences += thrown.move != kept.move
    assert differences > 0


def test_lines_of_an_iteration_that_was_cut_off_are_thrown_away_together() -> None:
    thrown: dict[str, object] = {"aspiration": "off", "keep_partial_iteration": False}
    differences = 0
    for text in positions(4, 9):
        for nodes in (3000, 8000, 20_000):
            found = search(thrown, text, Limits(nodes=nodes), lines=3)
            completed = search(thrown, text, Limits(depth=found.depth), lines=3)
            assert found.lines == completed.lines
            differences += search({"aspiration": "off"}, text, Limits(nodes=nodes), lines=3).lines != found.lines
    assert differences > 0


def test_a_late_ponder_hit_cuts_an_iteration_off() -> None:
    # The soft limit is long past at the hit, in the middle of an iteration, where nothing new was found.
    settings: dict[str, object] = {"ponder_elapsed": "from_start", "keep_partial_iteration": False, "aspiration": "off"}
    limits = Limits(clock_ms=1000, clock_kind="node", nodes_per_second=100_000)
    for text in positions(3, 10):
        clock_of_move = Clock(1000, ponders=True)
        grant = PonderGrant(300_000_000, is_hit=True)
        found = search(settings, text, limits, clock=clock_of_move, ponder=grant)
        assert found.nodes == 30_000
        completed = search(settings, text, Limits(depth=found.depth))
        assert (found.move, found.score) == (completed.move, completed.score)


def test_what_the_opponent_thought_is_not_taken_off_the_coming_deadline() -> None:
    # A ponder hit after more time than is left on the own clock: the move still gets its share of all of it.
    settings: dict[str, object] = {"time_strategy": "othello", "ponder_elapsed": "from_hit"}
    limits = Limits(clock_ms=500, clock_kind="node", nodes_per_second=100_000)
    text = game_named("xiangqi").start
    found = search(settings, text, limits, clock=Clock(500, ponders=True), ponder=PonderGrant(10**9, is_hit=True))
    # 500 ms by time_divisor 20 are 25 ms, 2500 nodes, after the 100 000 of the opponent's time; a little less if an
    # iteration ends on the way.
    assert 102_300 < found.nodes <= 102_500


GRAVITY: dict[str, object] = {"history_gravity": True}
MALUS: dict[str, object] = {**GRAVITY, "history_malus": True}


def _searched(overrides: dict[str, object], depth: int = 7) -> SearchMemory:
    """The memory of a search of the start position."""
    engine = Engine("xiangqi", overrides)
    engine.search(game_named("xiangqi").position(), Limits(depth=depth))
    assert engine.memory is not None
    return engine.memory


@pytest.mark.parametrize(
    ("order", "plies"), [(0, 5), (1 << 14, 3), (1 << 27, 3), (1 << 13, 4), (1 << 11, 5), (-(1 << 13), 6)]
)
def test_a_good_history_reduces_a_move_less_and_a_bad_one_more(order: int, plies: int) -> None:
    base = {"lmr_base": 0, "lmr_divisor": 100}
    assert int(100 * math.log(8) * math.log(12)) == 516
    plain = _memory(base)
    assert int(node.reduction(plain.search, plain.parameters, 8, 12, order)) == 5
    memory = _memory({**base, **MALUS, "lmr_history": 160})
    assert int(node.reduction(memory.search, memory.parameters, 8, 12, order)) == plies


def test_a_reduction_is_never_negative_and_leaves_two_plies() -> None:
    memory = _memory({"lmr_base": 0, "lmr_divisor": 100, **MALUS, "lmr_history": 1000})
    for order, plies in ((1 << 14, 0), (-(1 << 14), 6)):
        assert int(node.reduction(memory.search, memory.parameters, 8, 12, order)) == plies


def test_a_node_improves_on_the_one_two_plies_before_also_across_a_check() -> None:
    search = _searched({}, 1).search
    path = [(50, False), (-20, False), (60, False), (-20, False), (0, True), (0, False), (61, False)]
    improving = []
    for ply, (static, checked) in enumerate(path):
        node.note_static_value(search, ply, static, checked)
        improving.append(bool(node.is_improving(search, ply)))
    assert improving == [True, True, True, False, False, True, True]


def test_the_root_reduces_late_moves_too() -> None:
    assert total({"lmr_root": True}, "cutoffs", 7) < total({"lmr_root": False}, "cutoffs", 7)
    never: dict[str, object] = {"lmr_min_moves": 40, "lmr_min_depth": 20}
    assert total({**never, "lmr_root": True}, "cutoffs") == total({**never, "lmr_root": False}, "cutoffs")


def test_the_null_search_is_shallower_the_better_the_static_evaluation() -> None:
    parameters = _memory({"null_evaluation_divisor": 100}).parameters
    found = [int(null_evaluation_reduction(parameters, static, 50)) for static in (0, 149, 150, 349, 350, 5000)]
    assert found == [0, 0, 1, 2, 3, 3]
    assert int(null_evaluation_reduction(_memory({"null_evaluation_divisor": 0}).parameters, 5000, 0)) == 0


@pytest.mark.parametrize(
    ("score", "bound", "expected"),
    [
        (80, table.LOWER_BOUND, 80), (20, table.LOWER_BOUND, 50), (20, table.UPPER_BOUND, 20),
        (80, table.UPPER_BOUND, 50), (-7, table.EXACT, -7), (MATE - 5, table.EXACT, 50),
    ],
)  # fmt: skip
def test_the_tables_entry_stands_for_the_static_evaluation_where_it_says_more(
    score: int, bound: int, expected: int
) -> None:
    for switch in (True, False):
        memory = _memory({"hash_static": switch})
        table.store(memory.search, np.uint64(7), 0 if bound == table.UPPER_BOUND else 5, score, 1, bound, 0, 0)
        entry = int(table.probe(memory.search, np.uint64(7)))
        assert int(node.table_static(memory.parameters, entry, 50, 0)) == (expected if switch else 50)


@pytest.mark.parametrize(
    ("alpha", "bound"), [(-2000, table.EXACT), (1999, table.UPPER_BOUND), (-2001, table.LOWER_BOUND)]
)
def test_the_horizon_leaves_entries_and_believes_them(alpha: int, bound: int) -> None:
    game = game_named("xiangqi")
    position = game.position("3ak4/1n7/4b4/p8/9/9/9/R4C3/4A4/4K4 w - - 0 1")
    lower, upper = np.int64(alpha), np.int64(2000 if bound == table.EXACT else alpha + 1)

    def value_by(memory: SearchMemory) -> int:
        memory.search.node_limit = memory.search.countdown = NO_LIMIT
        game.kernels.prepare(position.state, memory.parameters)
        records = position.state, memory.search, position.lists, memory.parameters
        return int(node.search_node(*records, lower, upper, np.int64(0), np.int64(0), np.int64(NORMAL)))

    memory = _memory({"quiescence_table": True, "fail_soft": True})
    value = value_by(memory)
    assert value == value_by(_memory({"quiescence_table": False, "fail_soft": True}))
    entry = int(table.probe(memory.search, position.state.key))
    assert (int(table.entry_score(entry, 0)), int(table.entry_depth(entry))) == (value, 0)
    assert int(table.entry_bound(entry)) == bound
    # A deeper entry decides if its bound helps, and stays if it does not.
    for score, kept in ((alpha + 300, table.LOWER_BOUND), (alpha - 300, table.UPPER_BOUND)):
        table.store(memory.search, position.state.key, 5, score, 4, kept, 0, 0)
        assert value_by(memory) == (score if upper - lower == 1 else value)
        assert int(table.entry_depth(int(table.probe(memory.search, position.state.key)))) == 4


def test_only_with_its_switch_the_horizon_uses_the_table() -> None:
    depth_one: dict[str, object] = {"aspiration": "off"}
    with_table, without = (
        total({**depth_one, "quiescence_table": switch}, "table_probes", 1) for switch in (True, False)
    )
    assert with_table > without
