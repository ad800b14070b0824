"""Clocks: exact to the node on the node clock under every time strategy, to one poll interval on the others.

Nothing here waits or measures. Where real time would be needed, the poll runs as Python with a clock that counts nodes.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from elolab.arena.play.executor import GameRunner
from elolab.arena.records import GameJob, Opening, Pairing, PlayerSpec
from elolab.engine.engine import Clock, Engine, SearchMemory, SearchResult, StopFlag
from elolab.engine.games import game_named
from elolab.engine.play import CompiledGames, Overruns, PlayedGame, PlayerSettings
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.search import clock as clock_module
from elolab.engine.search.records import CLOCK_CPU, CLOCK_WALL, STOPPED_BY_HARD_LIMIT
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from tests.support.residence import give_back, resident_share

GAME = game_named("xiangqi")
POSITIONS = (
    (),
    ("h2e2", "h9g7", "h0g2", "i9h9", "b0c2", "c6c5"),
    ("b0c2", "c6c5", "h2h6", "b9c7"),
)
STRATEGIES: dict[str, dict[str, Any]] = {
    "elephanteye": {},
    "elephanteye, soft after iterations": {"time_soft_check": "iteration"},
    "elephanteye, hard limit alone": {"time_soft_factor": 5000},
    "elephanteye-3.31": {"time_strategy": "elephanteye-3.31"},
    "fixed": {"time_strategy": "fixed", "time_fixed_ms": 7},
    "share": {"time_strategy": "share", "time_share": 55},
    "last ratio": {"time_predict": "last_ratio", "time_strategy": "share"},
    "constant ratio": {"time_predict": "constant_ratio", "time_strategy": "share"},
    "least squares": {"time_predict": "least_squares"},
}
"""Every way of spending a clock that ends a search inside an iteration."""
HALF_AND_TWICE = {"time_divisor": 20, "time_soft_factor": 500, "time_hard_factor": 2000}
RESERVE_MS = 20
NODE = "node_clock=1000000"
"""One microsecond a node, so that milliseconds are thousands of nodes."""


def hard_limit_ms(strategy: str, remaining_ms: int, increment_ms: int, moves_to_go: int) -> float:
    """What a search may take at most, written down from the definitions of the strategies."""
    usable = max(0, remaining_ms - RESERVE_MS)
    proper = remaining_ms / moves_to_go if moves_to_go else increment_ms + remaining_ms / 20
    rule = STRATEGIES[strategy].get("time_strategy", "elephanteye")
    if rule == "fixed":
        return min(7, usable)
    if rule == "share":
        return min(remaining_ms * STRATEGIES[strategy].get("time_share", 40) / 1000, usable)
    if rule == "elephanteye-3.31":
        tenths = max(5, 11 - moves_to_go) if moves_to_go else 5
        return min(remaining_ms * tenths / 10, 10 * proper, usable)
    return min(2 * proper, usable)


ROUNDING = 1e-6
"""Nodes by which a limit computed here in floating point may come out too small."""


def searched(parameters: dict[str, Any], limits: Limits, clock: Clock | None = None, line: int = 1) -> SearchResult:
    settings = {"hash_mb": 1, "clock_reserve_ms": RESERVE_MS, **HALF_AND_TWICE, **parameters}
    return Engine("xiangqi", settings).search(GAME.position(None, POSITIONS[line]), limits, clock)


def test_a_clock_that_has_run_out_is_none_that_is_missing() -> None:
    """Below zero it once was: such a search went on until it was stopped."""
    limits = Limits.parse("clock=1,node_clock=10000,nodes=50000")
    spent = [searched({}, limits, Clock(remaining)).nodes for remaining in (-5, 0)]
    assert spent[0] == spent[1] < 1000


# --- The node clock ---------------------------------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize(
    "strategy",
    [pytest.param(one, marks=[pytest.mark.integration] if "," in one or "ratio" in one else []) for one in STRATEGIES],
)
def test_no_strategy_takes_a_node_more_than_its_hard_limit(strategy: str) -> None:
    chance = random.Random(strategy)
    first_iterations = [searched(STRATEGIES[strategy], Limits(depth=1), line=line).nodes for line in range(3)]
    to_the_node = 0
    for number in range(40):
        remaining, increment = chance.randint(1, 150), chance.choice((0, 0, 3, 10))
        moves_to_go = chance.choice((0, 0, 1, 5, 30))
        limits = Limits(clock_ms=remaining, increment_ms=increment, clock_kind="node", nodes_per_second=1_000_000)
        found = searched(STRATEGIES[strategy], limits, Clock(remaining, moves_to_go=moves_to_go), number % 3)
        allowed = 1000 * hard_limit_ms(strategy, remaining, increment, moves_to_go)
        assert found.nodes <= max(first_iterations[number % 3], allowed + ROUNDING)
        assert found.time_ms * 1000 == pytest.approx(found.nodes)
        to_the_node += abs(found.nodes - allowed) <= 1  # the kernel divides whole nanoseconds
    if strategy in ("elephanteye, hard limit alone", "fixed", "share"):
        assert to_the_node > 25, "a rule without soft limit uses all that it may"


@pytest.mark.parametrize("remaining", [40, 100, 230])
def test_what_ends_after_an_iteration_ends_just_there(remaining: int) -> None:
    """The oracle is the search to that depth and no further."""
    limits = Limits(clock_ms=remaining, clock_kind="node", nodes_per_second=1_000_000)
    for strategy, least in (("elephanteye-3.31", 0.0), ("elephanteye, soft after iterations", remaining / 40)):
        parameters = STRATEGIES[strategy]
        found = searched(parameters, limits, Clock(remaining))
        assert found.time_ms > least
        if found.nodes < 1000 * hard_limit_ms(strategy, remaining, 0, 0):
            assert found.nodes == searched(parameters, Limits(depth=found.depth)).nodes


@pytest.mark.parametrize("milliseconds", [1, 5, 30])
def test_a_least_time_ends_with_the_iteration_in_which_it_passes(milliseconds: int) -> None:
    parameters = {"time_strategy": "min_time"}
    limits = Limits(move_time_ms=milliseconds, clock_kind="node", nodes_per_second=1_000_000)
    found = searched(parameters, limits)
    assert found.nodes == searched(parameters, Limits(depth=found.depth)).nodes
    assert found.nodes > 1000 * milliseconds >= searched(parameters, Limits(depth=found.depth - 1)).nodes


@pytest.mark.integration
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_overdraws_its_clock_in_a_game(strategy: str) -> None:
    side = PlayerSettings(resolve({"hash_mb": 1, **STRATEGIES[strategy]}), Limits.parse(f"clock=0.15+0.002,{NODE}"))
    game = CompiledGames("xiangqi").play(
        GAME.start, POSITIONS[1], side, side, Rules(), Adjudication(resign_moves=0, maximum_plies=50), StopFlag()
    )
    assert game.reason != "time_forfeit"
    left_ms = [150.0, 150.0]
    for ply, milliseconds in enumerate(game.times_ms):
        assert milliseconds == game.nodes[ply] / 1000
        left_ms[ply % 2] -= milliseconds
        assert left_ms[ply % 2] >= 0
        left_ms[ply % 2] += 2


# --- The wall and the CPU clock ---------------------------------------------------------------------------------------


@pytest.fixture
def node_counting_clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The clock's functions as plain Python, and real time replaced by 700 ns for each node of ``search``."""
    memory = SearchMemory(resolve({"hash_mb": 0}), None)
    for name in ("poll", "is_pondering", "awaits_ponder_hit", "counted_ns", "elapsed_ns", "stop_if_soft_limit_passed"):
        function = getattr(clock_module, name)
        monkeypatch.setattr(clock_module, name, getattr(function, "py_func", function))
    for name in ("monotonic_ns", "thread_cpu_ns"):
        monkeypatch.setattr(clock_module, name, lambda name=name: clocks[name]())
    clocks = {
        "monotonic_ns": lambda: 10**15 + 700 * int(memory.search.nodes),
        "thread_cpu_ns": lambda: 5 + 700 * int(memory.search.nodes),
    }
    return {"memory": memory, "clocks": clocks}


def spend(memory: SearchMemory, most: int = 10**6) -> int:
    """Spend nodes until a limit ends it; how many."""
    spend_node = clock_module.spend_node
    spend_node = getattr(spend_node, "py_func", spend_node)
    while spend_node(memory.search, memory.parameters):
        assert memory.search.nodes < most
    return int(memory.search.nodes)


@pytest.mark.integration
@pytest.mark.parametrize("interval", [1, 64, 1000])
@pytest.mark.parametrize("kind", ["wall", "cpu"])
@pytest.mark.parametrize("hard_ns", [0, 1, 699, 700, 701, 896_000, 1_000_000])
def test_a_clock_is_kept_to_one_poll_interval(
    node_counting_clock: dict[str, Any], kind: str, interval: int, hard_ns: int
) -> None:
    memory = node_counting_clock["memory"]
    search = memory.search
    search.clock = {"wall": CLOCK_WALL, "cpu": CLOCK_CPU}[kind]
    memory.parameters.poll_interval_nodes = interval
    start = clock_module.start_clock
    getattr(start, "py_func", start)(search)
    search.clock_armed, search.hard_ns = 1, hard_ns
    # The first poll at or after the limit ends the search; polls are so many nodes apart, the first before any node.
    polls = -(-hard_ns // (700 * interval))
    assert spend(memory) == polls * interval
    assert search.stopped == STOPPED_BY_HARD_LIMIT
    assert hard_ns <= 700 * search.nodes < hard_ns + 700 * interval


@pytest.mark.parametrize("kind", ["wall", "cpu"])
def test_each_clock_reads_its_own_time(node_counting_clock: dict[str, Any], kind: str) -> None:
    """Time of the other kind, which jumps far ahead here, ends nothing."""
    memory, clocks = node_counting_clock["memory"], node_counting_clock["clocks"]
    clocks["thread_cpu_ns" if kind == "wall" else "monotonic_ns"] = lambda: 10**18
    memory.search.clock = {"wall": CLOCK_WALL, "cpu": CLOCK_CPU}[kind]
    memory.parameters.poll_interval_nodes = 10
    start = clock_module.start_clock
    getattr(start, "py_func", start)(memory.search)
    memory.search.clock_armed, memory.search.hard_ns = 1, 700_000
    assert spend(memory) == 1000


@pytest.mark.parametrize("limit", ["clock=0.02", "clock=0.02,cpu", f"clock=0.02,{NODE}"])
def test_without_time_to_spare_one_iteration_is_played(limit: str) -> None:
    """All the time is in reserve: the first poll after the first iteration ends the search, before another node."""
    first = searched({}, Limits(depth=1))
    found = searched({}, Limits.parse(limit))
    assert (found.nodes, found.move, found.depth) == (first.nodes, first.move, 1)


@pytest.mark.parametrize("limit", ["move_time=0.02", "move_time=0.02,cpu"])
def test_a_compiled_search_ends_at_a_poll(limit: str) -> None:
    """Polls come every 1000 nodes after the first iteration, and none before the limit ends the search."""
    first = searched({}, Limits(depth=1)).nodes
    found = searched({"poll_interval_nodes": 1000}, Limits.parse(limit))
    assert (found.nodes - first) % 1000 == 0
    assert found.time_ms >= 20


# --- Games lost on time -----------------------------------------------------------------------------------------------


def late_game(limit: str) -> PlayedGame:
    """A game whose first side has a first iteration too deep for a millisecond."""
    slow = PlayerSettings(resolve({"min_depth": 8, "hash_mb": 1}), Limits.parse(limit), margin_ms=0)
    quick = PlayerSettings(resolve({"hash_mb": 1}), Limits(nodes=10))
    return CompiledGames("xiangqi").play(GAME.start, (), slow, quick, Rules(), Adjudication(), StopFlag())


def test_a_loss_on_the_wall_clock_tells_what_the_process_had() -> None:
    game = late_game("clock=0.001")
    assert (game.result, game.reason) == ("0-1", "time_forfeit")
    assert game.late is not None
    assert game.late.allowed_ms == pytest.approx(1.0)
    assert game.late.elapsed_ms == game.times_ms[-1] > 1.0
    assert game.late.running_ms > 1.0, "it was late by its own doing"


def test_a_time_a_move_can_be_overstepped_too_and_the_margin_forgives() -> None:
    game = late_game("move_time=0.001")
    assert game.reason == "time_forfeit"
    assert game.late is not None
    assert (game.late.allowed_ms, game.late.margin_ms) == (pytest.approx(1.0), 0)
    slow = PlayerSettings(resolve({"min_depth": 3, "hash_mb": 1}), Limits.parse("move_time=0.001"), margin_ms=60_000)
    quick = PlayerSettings(resolve({"hash_mb": 1}), Limits(nodes=10))
    adjudication = Adjudication(maximum_plies=4)
    game = CompiledGames("xiangqi").play(GAME.start, (), slow, quick, Rules(), adjudication, StopFlag())
    assert game.reason == "maximum_length"
    assert game.overruns is not None
    assert game.overruns[0].moves > 0 < game.overruns[0].worst_ms
    assert game.overruns[1] == Overruns(0, 0.0)


def test_a_loss_on_a_clock_that_counts_work_needs_no_explanation() -> None:
    for limit in (f"clock=0.001,{NODE}", "clock=0.001,cpu"):
        game = late_game(limit)
        assert (game.reason, game.late) == ("time_forfeit", None)


def test_the_record_of_a_game_lost_on_time_says_so() -> None:
    parameters = tuple(resolve({"min_depth": 8, "hash_mb": 1}, game="xiangqi").items())
    slow = PlayerSpec("slow", "builtin", Limits.parse("clock=0.001"), parameters=parameters, margin_ms=0)
    quick = replace(slow, name="quick", limits=Limits(depth=8))
    pairing = Pairing(number=0, pair=0, first=0, second=1, opening=0)
    job = GameJob("xiangqi", Rules(), Adjudication(), pairing, slow, quick, Opening(GAME.start), seed=1)
    with GameRunner(1, StopFlag()) as runner:
        (record,) = runner.run([job])
    assert record.reason == "time_forfeit"
    assert set(record.detail["late_move"]) == {"elapsed_ms", "allowed_ms", "running_ms", "margin_ms"}


@pytest.mark.parametrize("limit", ["move_time=0.001", "clock=0.1", "clock=0.1,cpu"])
def test_no_time_is_spent_on_memory_that_the_system_has_only_promised(limit: str) -> None:
    memory = SearchMemory(resolve({"hash_mb": 64}), None)
    give_back(memory.table)
    assert resident_share(memory.table) < 0.1
    memory.set_limits(Limits.parse(limit), None)
    assert resident_share(memory.table) == 1


@pytest.mark.parametrize("limit", ["depth=3", "nodes=10000000", f"clock=0.1,{NODE}"])
def test_where_no_time_is_limited_a_table_is_not_waited_for(limit: str) -> None:
    memory = SearchMemory(resolve({"hash_mb": 64}), None)
    give_back(memory.table)
    memory.set_limits(Limits.parse(limit), None)
    assert resident_share(memory.table) < 0.1


def test_memory_that_is_prepared_is_that_of_the_next_search_and_keeps_what_it_has() -> None:
    engine = Engine("xiangqi", {"hash_mb": 64})
    position = GAME.position()
    engine.search(position, Limits(depth=3))
    table = engine.memory.table  # type: ignore[union-attr]
    known = table.copy()
    engine.prepare()
    assert engine.memory.table is table  # type: ignore[union-attr]
    assert resident_share(table) == 1
    assert known.any()
    assert (table == known).all()
    engine.search(position, Limits(move_time_ms=1))
    assert engine.memory.table is table  # type: ignore[union-attr]
