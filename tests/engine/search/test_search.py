"""The search: equal values by every sound way of searching, mates, limits to the node, several lines, clocks.

The oracle is a plain minimax over the same moves, written here without windows, tables or ordering.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from elolab.engine.engine import Clock, Engine, SearchResult, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.games.packed_values import at_start
from elolab.engine.games.xiangqi import evaluation
from elolab.engine.rules import Rules
from elolab.engine.search.records import COUNTERS
from elolab.engine.search.reports import ReportBoard
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, needed_for, parameters_of, resolve, to_record
from elolab.engine.values import INFINITY, MATE, MATE_BOUND, mate_distance
from tests.engine.games.test_xiangqi_moves import random_ending, random_game
from tests.support.effort import EFFORT

GAME = game_named("xiangqi")

SOUND = {
    "hash_exact_depth_only": True, "rules_in_search": False, "late_move_reductions": False, "null_move": False,
    "reverse_futility_depth": 0, "futility_depth": 0, "razoring_depth": 0, "late_move_pruning_depth": 0,
    "internal_iterative_reduction": 0, "delta_margin": 0, "hash_mb": 4,
}  # fmt: skip
"""Everything that could make a value depend on anything but position and depth is off."""


def sample(count: int, seed: int = 0, plies: tuple[int, int] = (8, 90)) -> list[str]:
    """Positions of random games and random endings, by turns, none of them over."""
    generator = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        if len(found) % 2:
            position = random_ending(generator)
        else:
            taste = generator.choice(("any", "captures", "checks"))
            position = random_game(generator.randrange(10**6), generator.randint(*plies), taste)
        if len(position.legal_moves()) > 1:
            found.append(position.text)
    return found


def search(fen: str, limits: str = "depth=4", **overrides: Any) -> SearchResult:
    """One search by a new engine."""
    return Engine("xiangqi", overrides).search(GAME.position(fen), Limits.parse(limits))


# --- Every sound way gives the same value ---------------------------------------------------------------------------

SOUND_WAYS: dict[str, dict[str, Any]] = {
    "alpha-beta": {"algorithm": "alphabeta"},
    "alpha-beta, fail-hard": {"algorithm": "alphabeta", "fail_soft": False},
    "fail-hard": {"fail_soft": False},
    "without iterations": {"iterative_deepening": False},
    "no aspiration": {"aspiration": "off"},
    "aspiration full": {"aspiration": "full", "aspiration_window": 1},
    "aspiration one-sided": {"aspiration": "one_sided", "aspiration_window": 3},
    "aspiration gradual": {"aspiration": "gradual", "aspiration_window": 1, "aspiration_growth": 1100},
    "aspiration, alpha-beta, fail-hard": {"algorithm": "alphabeta", "aspiration_window": 2, "fail_soft": False},
    "aspiration gradual, fail-hard": {"aspiration": "gradual", "aspiration_window": 2, "fail_soft": False},
    "root sorted as other nodes": {"root_order": "as_nodes"},
    "root sorted as other nodes, MTD(f)": {"root_order": "as_nodes", "algorithm": "mtdf"},
    "no table": {"hash_mb": 0},
    "no table, alpha-beta": {"hash_mb": 0, "algorithm": "alphabeta"},
    "large table": {"hash_mb": 64},
    "steps of two": {"depth_step": 2},
    "starting at 3": {"min_depth": 3},
    "no ordering": {
        "hash_move": False, "killers": 0, "capture_order": "none", "history": False,
    },
    "captures by value": {"capture_order": "mvv_lva", "killers": 1},
    "history of everything": {
        "history_captures": True, "history_weight": 3, "history_record": "cutoff_and_pv", "history_index": "piece_to",
    },
    "history shared": {"history_index": "from_to_shared", "history_weight": 0, "history_decay": "clear"},
    "no stop on mate": {"stop_on_mate": False},
    "mtdf": {"algorithm": "mtdf"},
    "mtdf from zero": {"algorithm": "mtdf", "mtdf_guess": "zero", "fail_soft": False},
    "internal deepening": {"internal_iterative_deepening": True, "hash_mb": 4},
}  # fmt: skip
TRIED = {name for way in SOUND_WAYS.values() for name in way} | set(SOUND)
SOUND_WAYS |= {
    f"{row.name} = {value}": {**needed_for(row.name), row.name: value}
    for row in parameters_of("xiangqi")
    if row.sound and row.name not in TRIED
    for value in (row.tuning or row.legal)
    if value != row.default
}


@pytest.mark.integration
@EFFORT
@pytest.mark.parametrize(
    "base",
    [
        pytest.param({}, id="ordinary"),
        pytest.param({"check_extension": False}, id="no check extension", marks=pytest.mark.integration),
        pytest.param({"quiescence": False}, id="no quiescence", marks=pytest.mark.integration),
        pytest.param(
            {"quiescence_see": False, "quiescence_check_plies": 1},
            id="other quiescence",
            marks=pytest.mark.integration,
        ),
    ],
)
def test_every_sound_way_gives_the_same_value(base: dict[str, Any], effort: int) -> None:
    """Depths 1 to 4 in every way on several positions, by one engine a way, so that tables carry over."""
    engines = {name: Engine("xiangqi", {**SOUND, **base, **way}) for name, way in SOUND_WAYS.items()}
    reference = Engine("xiangqi", {**SOUND, **base, "aspiration": "off"})
    for fen in sample(2 * effort, 5):
        for depth in range(1, 5):
            expected = reference.search(GAME.position(fen), Limits(depth=depth))
            for name, engine in engines.items():
                found = engine.search(GAME.position(fen), Limits(depth=depth))
                assert found.score == expected.score, (name, fen, depth)
                if abs(found.score) < MATE_BOUND:
                    assert found.depth == depth, (name, fen)


@pytest.mark.slow
def test_every_sound_way_gives_the_same_value_at_depth_5() -> None:
    for fen in sample(4, 2):
        scores = {name: search(fen, "depth=5", **{**SOUND, **way}).score for name, way in SOUND_WAYS.items()}
        assert len(set(scores.values())) == 1, (fen, scores)


def test_every_row_called_sound_is_tried() -> None:
    """Rows that no way above names are tried with every other choice, or the ends of their range."""
    tried = {name for way in SOUND_WAYS.values() for name in way} | set(SOUND)
    assert {row.name for row in parameters_of("xiangqi") if row.sound} <= tried


def minimax(position: Position, depth: int, ply: int, overrides: dict[str, Any]) -> int:
    """The value of a position without any cleverness."""
    state, kernels = position.state, GAME.kernels
    if kernels.in_check(state) and overrides.get("check_extension", True):
        depth += 1
    if depth <= 0:
        if overrides.get("evaluation", "full") == "full":
            score = int(kernels.evaluate(state, 0, -INFINITY, INFINITY))
        else:
            score = int(at_start(evaluation.full_score(state))) * (1 - 2 * int(state.side))
        return score + overrides.get("tempo", 10)
    best = None
    for code in position.move_codes():
        kernels.make(state, code)
        value = -minimax(position, depth - 1, ply + 1, overrides)
        kernels.unmake(state)
        best = value if best is None else max(best, value)
    return ply - MATE if best is None else best


@EFFORT
@pytest.mark.parametrize("overrides", [{}, {"check_extension": False, "evaluation": "material", "tempo": 0}])
def test_values_equal_plain_minimax(overrides: dict[str, Any], effort: int) -> None:
    settings = {**SOUND, **overrides, "quiescence": False}
    for number, fen in enumerate(sample(min(2 * effort, 20), 3)):
        position = GAME.position(fen)
        GAME.kernels.prepare(position.state, to_record(resolve(settings)))
        for depth in range(1, 4 if number % 2 else 3):
            expected = minimax(position, depth, 0, overrides)
            for algorithm in ("alphabeta", "pvs"):
                assert search(fen, f"depth={depth}", **settings, algorithm=algorithm).score == expected, (fen, depth)


def test_the_principal_variation_leads_to_the_value() -> None:
    """Played out, it is legal, and without quiescence and extensions the evaluation at its end is the score."""
    for fen in sample(10, 4):
        settings = {**SOUND, "quiescence": False, "check_extension": False, "hash_mb": 0}
        found = search(fen, "depth=4", **settings)
        position = GAME.position(fen, found.principal_variation)
        assert found.principal_variation[0] == found.move
        sign = -1 if len(found.principal_variation) % 2 else 1
        if abs(found.score) >= MATE_BOUND:
            assert not position.legal_moves()
            assert mate_distance(found.score) in (len(found.principal_variation), -len(found.principal_variation))
            continue
        assert len(found.principal_variation) == 4
        GAME.kernels.prepare(position.state, to_record(resolve(settings)))
        assert sign * (GAME.kernels.evaluate(position.state, 0, -INFINITY, INFINITY) + 10) == found.score


# --- Mates ----------------------------------------------------------------------------------------------------------


def shortest_mate(position: Position, plies: int) -> int | None:
    """Plies to the mate (or stalemate) that the side to move can force within ``plies``, by trying everything."""
    for limit in range(1, plies + 1, 2):
        if forces(position, limit):
            return limit
    return None


def forces(position: Position, plies: int) -> bool:
    """Whether the side to move can leave the other without a move within ``plies`` (odd)."""
    state, kernels = position.state, GAME.kernels
    for code in position.move_codes():
        kernels.make(state, code)
        replies = position.move_codes()
        won = not replies
        if replies and plies > 1:
            won = True
            for reply in replies:
                kernels.make(state, reply)
                won = forces(position, plies - 2)
                kernels.unmake(state)
                if not won:
                    break
        kernels.unmake(state)
        if won:
            return True
    return False


@cache
def mating_positions(count: int, plies: int) -> tuple[tuple[str, int], ...]:
    """Random endings with a forced mate within ``plies``, found by trying everything."""
    generator = random.Random(plies)
    found: list[tuple[str, int]] = []
    while len(found) < count:
        position = random_ending(generator, generator.choice(("KRRk", "KRNkab", "KRCPk", "KRRkaab", "KRPPka")))
        if position.side_to_move == 0 and (distance := shortest_mate(position, plies)):
            found.append((position.text, distance))
    return tuple(found)


@pytest.mark.parametrize(
    "overrides", [SOUND, {**SOUND, "algorithm": "alphabeta", "fail_soft": False}, {"hash_mb": 0, "lmr_root": False}]
)
def test_mates_are_found_at_their_distance(overrides: dict[str, Any]) -> None:
    distances = set()
    for fen, plies in mating_positions(6, 3):
        distances.add(plies)
        found = search(fen, f"depth={plies + 4}", **overrides)
        assert found.score == MATE - plies, fen
        position = GAME.position(fen)
        for number in range(plies):
            # Each side's best move keeps the distance.
            now = search(position.text, "depth=8", **overrides)
            assert mate_distance(now.score) == (plies - number if number % 2 == 0 else number - plies), fen
            position.push(str(now.move))
        assert position.judge(Rules(repetition="draw")) is not None
        assert not position.legal_moves()
    assert distances == {1, 3}


@pytest.mark.parametrize("overrides", [{"lmr_root": False}, {"lmr_root": False, "hash_mb": 0}])
def test_with_pruning_mates_are_found_and_carried_out(overrides: dict[str, Any]) -> None:
    """Pruning may skip a quiet move that mates sooner: the mate found may be a longer one, but it is one.

    Late moves reduced at the root need a greater depth for it.
    """
    for fen, plies in mating_positions(6, 3):
        longest = plies + 4
        found = search(fen, f"depth={longest}", **overrides)
        assert 0 < mate_distance(found.score) <= longest, fen
        position = GAME.position(fen)
        for _ in range(longest):
            position.push(str(search(position.text, "depth=8", **overrides).move))
            if not position.legal_moves():
                break
        assert (position.side_to_move, position.legal_moves()) == (1, []), fen


def test_mate_scores_stay_right_from_the_table() -> None:
    """One engine through a won ending: entries made at other plies are adjusted to the node."""
    for fen, plies in mating_positions(6, 3):
        engine = Engine("xiangqi", {"hash_mb": 1, "stop_on_mate": False})
        position = GAME.position(fen)
        for number in range(plies):
            found = engine.search(position, Limits(depth=9))
            assert mate_distance(found.score) == (plies - number if number % 2 == 0 else number - plies), fen
            position.push(str(found.move))
        assert not position.legal_moves()


def test_a_mate_found_stays_at_every_deeper_depth() -> None:
    for fen, plies in mating_positions(6, 3):
        engine = Engine("xiangqi", {**SOUND, "stop_on_mate": False})
        for depth in range(plies, plies + 4):
            found = engine.search(GAME.position(fen), Limits(depth=depth))
            assert (found.score, found.depth) == (MATE - plies, depth)


def test_stop_on_mate_ends_the_iterations() -> None:
    fen, plies = mating_positions(6, 3)[-1]
    stopped = search(fen, "depth=12")
    assert stopped.score == MATE - plies
    assert stopped.depth < 12
    assert search(fen, "depth=8", stop_on_mate=False).depth == 8


def test_a_position_without_moves_has_no_move_and_its_score() -> None:
    for fen in ("1R1k5/R8/9/9/9/9/9/9/9/4K4 b", "3k5/R8/9/9/9/9/9/9/9/4K4 b"):
        found = search(fen, "depth=5")
        assert (found.move, found.score, found.nodes, found.principal_variation) == (None, -MATE, 0, ())
        assert found.lines == ()


# --- Limits ---------------------------------------------------------------------------------------------------------


def test_node_limits_are_spent_exactly() -> None:
    """Unless there is a mate or a single move."""
    for number, fen in enumerate(sample(6, 5)):
        for limit in (1, 2, 7, 50, 333, 1023, 1024, 1025, 4096, 5000):
            for poll in (1, 100, 1024):
                found = search(fen, f"nodes={limit}", poll_interval_nodes=poll)
                if abs(found.score) < MATE_BOUND:
                    assert found.nodes == limit, (fen, limit, poll)
                else:
                    assert found.nodes <= limit
                assert found.move in GAME.position(fen).legal_moves()
                if number:
                    break


def test_the_poll_interval_changes_nothing() -> None:
    for fen in sample(5, 6):
        results = {
            (found.move, found.score, found.depth, found.principal_variation)
            for found in (search(fen, "nodes=3000", poll_interval_nodes=poll) for poll in (1, 7, 1024, 1_000_000))
        }
        assert len(results) == 1


def test_more_nodes_extend_the_same_search() -> None:
    """A search under a smaller limit is a prefix of one under a larger: the depths completed never shrink."""
    for fen in sample(4, 7):
        depths = [search(fen, f"nodes={limit}").depth for limit in (100, 1000, 10_000, 50_000)]
        assert depths == sorted(depths)


def test_a_single_legal_move_is_played_at_once() -> None:
    fen = next(
        position.text
        for position in (random_game(seed, 60, "checks") for seed in range(500))
        if len(position.legal_moves()) == 1
    )
    only = GAME.position(fen).legal_moves()[0]
    found = search(fen, "nodes=100000")
    assert (found.move, found.depth) == (only, 1)
    assert found.nodes < 1000
    # Asked for a depth, it searches: an analysis wants the score.
    assert search(fen, "depth=4").depth == 4 or abs(search(fen, "depth=4").score) >= MATE_BOUND


def test_a_move_restricted_to_is_no_single_legal_move() -> None:
    """An analysis of one move among many spends the nodes it was given."""
    position = GAME.position()
    found = Engine("xiangqi").search(position, Limits(nodes=20_000), search_moves=["a0a1"])
    assert found.move == "a0a1"
    assert found.nodes == 20_000
    assert found.depth > 1


def test_a_flag_set_beforehand_leaves_a_legal_move() -> None:
    flag = StopFlag()
    flag.set()
    position = GAME.position()
    found = Engine("xiangqi").search(position, Limits(depth=60), stop=flag)
    assert found.nodes == 0
    assert found.depth == 0
    assert found.move in position.legal_moves()
    flag.clear()
    assert not flag.is_set()
    assert Engine("xiangqi").search(position, Limits(depth=2), stop=flag).depth == 2


def test_a_flag_set_from_another_thread_ends_the_search() -> None:
    """The search runs without the interpreter lock, or this thread could not even set the flag."""
    flag = StopFlag()
    results: list[SearchResult] = []
    position = GAME.position()
    engine = Engine("xiangqi")
    thread = threading.Thread(target=lambda: results.append(engine.search(position, Limits(depth=100), stop=flag)))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive(), "depth 100 cannot be done"
    flag.set()
    thread.join(20)
    assert not thread.is_alive()
    assert results[0].move in position.legal_moves()
    assert results[0].depth >= 1
    # The engine is whole afterwards.
    flag.clear()
    assert engine.search(position, Limits(depth=3)).depth == 3


def test_the_position_is_left_as_it_was() -> None:
    for fen in sample(4, 8):
        position = GAME.position(fen)
        moves, key, ply = position.legal_moves(), int(position.state.key), int(position.state.ply)
        for limits in ("nodes=777", "depth=4"):
            Engine("xiangqi").search(position, Limits.parse(limits))
            assert position.text == fen
            assert (position.legal_moves(), int(position.state.key), int(position.state.ply)) == (moves, key, ply)


def test_rule_9_a_new_game_starts_from_nothing() -> None:
    """Whatever was searched before, and in whatever order."""
    fens = sample(4, 9)
    expected = {fen: search(fen, "nodes=4000") for fen in fens}
    engine = Engine("xiangqi")
    for order in (fens, fens[::-1], sorted(fens)):
        for fen in order:
            engine.new_game()
            found = engine.search(GAME.position(fen), Limits(nodes=4000))
            assert (found.move, found.score, found.nodes, found.principal_variation, found.counters) == (
                expected[fen].move, expected[fen].score, expected[fen].nodes, expected[fen].principal_variation,
                expected[fen].counters,
            )  # fmt: skip
    # Without it the table helps the second search of a position.
    engine.new_game()
    first = engine.search(GAME.position(fens[0]), Limits(depth=6))
    again = engine.search(GAME.position(fens[0]), Limits(depth=6))
    assert again.nodes < first.nodes


def test_rule_9_game_numbers_can_run_out() -> None:
    """The tag of 16 bits wraps, and the table is then cleared for real."""
    from elolab.engine.search.table import GAME_NUMBERS

    fen = sample(1, 10)[0]
    engine = Engine("xiangqi", {"hash_mb": 1})
    expected = engine.search(GAME.position(fen), Limits(nodes=2000))
    memory = engine.memory
    assert memory is not None
    memory.game_number = GAME_NUMBERS - 1
    engine.new_game()
    assert 1 <= int(memory.search.game_number) < GAME_NUMBERS
    found = engine.search(GAME.position(fen), Limits(nodes=2000))
    assert (found.move, found.score, found.counters) == (expected.move, expected.score, expected.counters)


# --- Several lines and restricted moves -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["best_first", "as_nodes"])
def test_lines_are_those_of_searches_restricted_to_each_move(order: str) -> None:
    for fen in sample(3, 11):
        position = GAME.position(fen)
        moves = position.legal_moves()
        settings = {**SOUND, "stop_on_mate": False, "root_order": order}
        alone = {
            move: Engine("xiangqi", settings).search(position, Limits(depth=3), search_moves=[move]).score
            for move in moves
        }
        lines = Engine("xiangqi", settings).search(position, Limits(depth=3), lines=6).lines
        assert len(lines) == min(6, len(moves))
        scores = [line.score for line in lines]
        assert scores == sorted(alone.values(), reverse=True)[: len(lines)]
        assert len({line.move for line in lines}) == len(lines)
        for line in lines:
            assert alone[line.move] == line.score
            assert line.principal_variation[0] == line.move
            assert line.depth == 3


def test_search_moves_restrict_the_root() -> None:
    position = GAME.position()
    for wanted in (["a0a1"], ["h2e2", "b2e2"], ["a3a4", "i3i4", "g3g4"]):
        found = Engine("xiangqi").search(position, Limits(depth=4), search_moves=wanted)
        assert found.move in wanted
        assert all(line.move in wanted for line in found.lines)
    with pytest.raises(MoveError, match="a0a9"):
        Engine("xiangqi").search(position, Limits(depth=2), search_moves=["a0a9"])
    often = Engine("xiangqi").search(position, Limits(depth=2), search_moves=["a0a1", "h2e2"] * 100)
    assert often.nodes == Engine("xiangqi").search(position, Limits(depth=2), search_moves=["a0a1", "h2e2"]).nodes


def test_more_lines_than_moves_and_too_many_lines() -> None:
    position = GAME.position("3k5/9/9/9/9/9/9/9/9/R4K3 w")
    found = Engine("xiangqi").search(position, Limits(depth=2), lines=32)
    assert len(found.lines) == len(position.legal_moves())
    for wrong in (0, -1, 33):
        with pytest.raises(UserError, match=f"{wrong} lines"):
            Engine("xiangqi").search(position, Limits(depth=2), lines=wrong)


@pytest.mark.parametrize("limit", [500, 3000, 9999, 40_000])
def test_lines_stay_distinct_and_sorted_however_the_search_ends(limit: int) -> None:
    for fen in sample(4, 12):
        position = GAME.position(fen)
        found = Engine("xiangqi").search(position, Limits(nodes=limit), lines=4)
        moves = [line.move for line in found.lines]
        assert len(set(moves)) == len(moves), (fen, moves)
        assert set(moves) <= set(position.legal_moves())
        # Those of the iteration that was cut short are deeper, and come first.
        ranks = [(-line.iteration, -line.score) for line in found.lines]
        assert ranks == sorted(ranks), (fen, ranks)
        assert (found.move, found.score) == (found.lines[0].move, found.lines[0].score)
        for line in found.lines:
            assert line.depth <= line.iteration <= found.depth + 1
            assert not line.iteration or line.principal_variation[0] == line.move


def test_a_line_has_the_depth_of_its_iteration_even_in_check() -> None:
    """The extension of the root is none of the iteration's depth."""
    games = (random_game(seed, 60, "checks") for seed in range(500))
    position = next(game for game in games if game.in_check and len(game.legal_moves()) > 1)
    found = Engine("xiangqi", {"stop_on_mate": False}).search(position, Limits(depth=3), lines=2)
    assert {(line.depth, line.iteration) for line in found.lines} == {(3, 3)}


@pytest.mark.integration
def test_depth_counts_completed_iterations_in_results_and_in_lines() -> None:
    """The board's reports, one for each line of an iteration once it is completed, are what was completed."""
    cut_off = between_lines = 0
    for lines, nodes in itertools.product((1, 3), range(50, 4000, 270)):
        for fen in sample(2, 9):
            position, board = GAME.position(fen), ReportBoard()
            found = Engine("xiangqi").search(position, Limits(nodes=nodes), lines=lines, board=board)
            completed = {(report.line, report.depth) for report in board.unread()}
            last = min(lines, len(position.legal_moves())) - 1
            assert found.depth == max((depth for line, depth in completed if line == last), default=0)
            counts = [line.depth for line in found.lines]
            assert max(counts) == max((depth for _, depth in completed), default=0)
            assert lines > 1 or counts == [found.depth]
            cut_off += any(line.iteration > line.depth for line in found.lines)
            between_lines += found.depth not in counts[:1]
    assert cut_off > 5
    assert between_lines > 5


# --- Features -------------------------------------------------------------------------------------------------------


def counters(fen: str, limits: str = "depth=6", **overrides: Any) -> dict[str, int]:
    """The counters of one search."""
    return search(fen, limits, **overrides).counters


MIDDLEGAME = "r1bakab1r/9/1cn2cn2/p1p1p1p1p/9/2P6/P3P1P1P/1C2C1N2/9/RNBAKABR1 w - - 0 5"


def test_switches_switch_what_they_say() -> None:
    ordinary = counters(MIDDLEGAME)
    assert set(ordinary) == set(COUNTERS)
    assert min(ordinary["null_tries"], ordinary["null_cutoffs"], ordinary["table_hits"], ordinary["cutoffs"]) > 0
    assert ordinary["null_cutoffs"] <= ordinary["null_tries"]
    assert ordinary["first_move_cutoffs"] <= ordinary["cutoffs"]
    assert counters(MIDDLEGAME, null_move=False)["null_tries"] == 0
    assert counters(MIDDLEGAME, hash_mb=0)["table_probes"] == 0
    assert counters(MIDDLEGAME, algorithm="alphabeta")["researches"] == 0
    narrow = counters(MIDDLEGAME, aspiration_window=1)
    assert narrow["fails_low"] + narrow["fails_high"] > 0
    off = counters(MIDDLEGAME, aspiration="off")
    assert off["fails_low"] + off["fails_high"] == 0
    assert counters(MIDDLEGAME, null_verify="always", null_depth=2)["null_refuted"] >= 0


def test_null_moves_only_out_of_check_and_with_attackers() -> None:
    """In check nothing may be skipped; bare generals and pawns at home have nothing to prove by skipping."""
    pawns = "3k5/9/9/p3p4/9/9/4P3P/9/9/5K3 w"
    assert counters(pawns, "depth=4")["null_tries"] == 0
    assert counters(pawns, "depth=4", null_need_attackers=False, null_eval_gate=False)["null_tries"] > 0
    # Every position of this line is a check or an answer to one: two rooks drive the general.
    position = GAME.position("4k4/R8/9/9/9/9/9/9/9/1R3K3 w", ["b0b9"])
    assert position.in_check
    assert counters(position.text, "depth=1", null_min_depth=1, null_in_pv=True)["null_tries"] == 0


def played_positions(count: int) -> list[str]:
    """Positions of the engine's own games after a few random moves: quieter than random play."""
    generator = random.Random(1)
    found: list[str] = []
    engine = Engine("xiangqi")
    while len(found) < count:
        position = GAME.position()
        for _ in range(4):
            position.push(generator.choice(position.legal_moves()))
        for _ in range(generator.randrange(6, 40)):
            move = engine.search(position, Limits(nodes=1000)).move
            if move is None or position.judge(Rules()):
                break
            position.push(move)
        if position.legal_moves() and position.judge(Rules()) is None:
            found.append(position.text)
    return found


@pytest.mark.integration
def test_features_save_nodes_to_a_depth() -> None:
    """Each of them, taken away, costs nodes over a set of positions; or it is not doing its work.

    Without pruning, which takes over some of the work of what is taken away, and at other costs.
    """
    fens = played_positions(6)
    unpruned = {
        "reverse_futility_depth": 0, "futility_depth": 0, "razoring_depth": 0, "late_move_pruning_depth": 0,
        "internal_iterative_reduction": 0,
    }  # fmt: skip

    def nodes(**overrides: Any) -> int:
        return sum(search(fen, "depth=6", **unpruned, **overrides).nodes for fen in fens)

    ordinary = nodes()
    for taken in (
        {"null_move": False}, {"late_move_reductions": False}, {"hash_mb": 0}, {"hash_move": False},
        {"capture_order": "none"}, {"history": False, "killers": 0}, {"algorithm": "alphabeta"},
    ):  # fmt: skip
        assert nodes(**taken) > ordinary, taken


@pytest.mark.integration
@pytest.mark.parametrize("row", parameters_of("xiangqi"), ids=lambda row: row.name)
def test_every_legal_value_can_be_searched_with(row: Any) -> None:
    """The ends of every range and every choice: a legal move comes out, within the limit."""
    values = row.legal
    if row.name == "hash_mb":
        values = (0, 64)
    for value in values:
        engine = Engine("xiangqi", {row.name: value})
        for fen in (GAME.start, MIDDLEGAME):
            position = GAME.position(fen)
            found = engine.search(position, Limits(nodes=600))
            assert found.move in position.legal_moves(), (row.name, value)
            assert found.nodes <= 600


def test_repetition_is_seen_in_the_tree() -> None:
    """A rook ahead, but able only to give perpetual check or to repeat: with the rules on neither is the value."""
    fen = "1nR6/3k5/9/9/9/9/9/4K4/9/9 w"
    moves = ["c9c8", "d8d9", "c8c9", "d9d8"] * 2
    position = GAME.position(fen, moves[:7])
    # Black to move may complete the third occurrence, which Red, who checked all along, loses.
    found = Engine("xiangqi").search(position, Limits(depth=4))
    assert found.move == "d9d8"
    assert 28_000 < found.score < MATE_BOUND
    blind = Engine("xiangqi", {"rules_in_search": False}).search(position, Limits(depth=4))
    assert blind.score < 0


def test_a_mate_with_the_last_ply_of_the_move_limit_is_a_mate() -> None:
    """As it is to the arbiter; so the search must neither miss it nor walk into it."""
    fen = "4k4/R8/9/9/9/9/9/9/1R7/3K5 w - - {} 60"
    for depth in (1, 4):
        found = Engine("xiangqi").search(GAME.position(fen.format(119)), Limits(depth=depth))
        assert found.score == MATE - 1
        ending = GAME.position(fen.format(119), [str(found.move)]).judge(Rules())
        assert ending is not None
        assert ending.result == "1-0"
    # Where no mate comes in time it is a draw: two plies before the end the mate in three comes one too late.
    late = Engine("xiangqi").search(GAME.position("3k5/9/9/R8/9/9/9/9/1R7/5K3 w - - 118 60"), Limits(depth=6))
    assert late.score == 0


def test_rules_in_force_reach_the_search() -> None:
    position = GAME.position("1nR6/3k5/9/9/9/9/9/4K4/9/9 w", ["c9c8", "d8d9", "c8c9", "d9d8", "c9c8", "d8d9", "c8c9"])
    GAME.apply_rules(position.state, Rules(repetition="draw"))
    assert Engine("xiangqi").search(position, Limits(depth=4)).score == 0


# --- Clocks ---------------------------------------------------------------------------------------------------------

NODE_CLOCK = {"clock_kind": "node", "nodes_per_second": 1_000_000}
"""A node costs a microsecond."""


def timed(limits: Limits, clock: Clock | None = None, fen: str = MIDDLEGAME, **overrides: Any) -> SearchResult:
    """One search on the node clock."""
    return Engine("xiangqi", overrides).search(GAME.position(fen), limits, clock)


def nodes_after_each_iteration(fen: str, deepest: int, **overrides: Any) -> list[int]:
    """Nodes a search has spent when it has completed depth 1, 2, ..."""
    return [search(fen, f"depth={depth}", **overrides).nodes for depth in range(1, deepest + 1)]


def test_a_time_a_move_is_kept_to_the_node() -> None:
    for milliseconds in (5, 30, 77):
        found = timed(Limits(move_time_ms=milliseconds, **NODE_CLOCK))
        assert found.nodes == milliseconds * 1000
        assert found.time_ms == milliseconds


def test_fixed_and_share_abort_to_the_node() -> None:
    limits = Limits(clock_ms=1000, **NODE_CLOCK)
    assert timed(limits, time_strategy="fixed", time_fixed_ms=30).nodes == 30_000
    assert timed(limits, time_strategy="share", time_share=40).nodes == 40_000
    assert timed(limits, Clock(500), time_strategy="share", time_share=40).nodes == 20_000
    # What is kept in reserve is never used.
    assert timed(limits, Clock(50), time_strategy="fixed", clock_reserve_ms=20).nodes == 30_000
    assert timed(limits, Clock(50), time_strategy="fixed", clock_reserve_ms=0).nodes == 50_000


def test_the_hard_limit_is_twice_the_proper_time() -> None:
    """With the soft limit out of the way: remaining / divisor, plus the increment; or remaining / moves to go."""
    no_soft = {"time_soft_factor": 5000, "time_hard_factor": 2000}
    proper = Limits(clock_ms=1000, **NODE_CLOCK)
    assert timed(proper, **no_soft).nodes == 100_000
    assert timed(proper, time_divisor=40, **no_soft).nodes == 50_000
    assert timed(proper, **{**no_soft, "time_hard_factor": 1500}).nodes == 75_000
    increment = Limits(clock_ms=1000, increment_ms=10, **NODE_CLOCK)
    assert timed(increment, **no_soft).nodes == 120_000
    control = Limits(clock_ms=1000, moves_per_control=40, **NODE_CLOCK)
    assert timed(control, **no_soft).nodes == 50_000
    assert timed(control, Clock(1000, moves_to_go=10), **no_soft).nodes == 200_000
    # One move to go: twice the proper time would be more than there is.
    assert timed(control, Clock(100, moves_to_go=1), clock_reserve_ms=20, **no_soft).nodes == 80_000


def test_the_soft_limit_after_an_iteration_is_exact() -> None:
    """The first iteration that ends after half of the proper time is the last."""
    settings = {"time_soft_check": "iteration", "time_soft_factor": 500, "time_hard_factor": 20_000}
    nodes = nodes_after_each_iteration(MIDDLEGAME, 11)
    assert nodes == sorted(nodes)
    for clock_ms in (40, 100, 300, 1000, 2000):
        soft = clock_ms * 1000 // 20 // 2
        found = timed(Limits(clock_ms=clock_ms, **NODE_CLOCK), clock_reserve_ms=0, **settings)
        expected = next(spent for spent in nodes if spent > soft)
        if expected > 20 * clock_ms * 1000 // 20:
            continue
        assert found.nodes == expected, clock_ms
        assert found.depth == nodes.index(expected) + 1


@pytest.mark.parametrize("algorithm", ["pvs", "mtdf"])
def test_the_soft_limit_at_a_root_result_comes_no_later(algorithm: str) -> None:
    """A new best move at the root after the soft limit ends the search within the iteration."""
    earlier = 0
    for fen in sample(8, 13, (10, 30)):
        limits = Limits(clock_ms=400, **NODE_CLOCK)
        settings = {"time_hard_factor": 20_000, "clock_reserve_ms": 0, "algorithm": algorithm}
        at_root = timed(limits, fen=fen, **settings)
        after = timed(limits, fen=fen, time_soft_check="iteration", **settings)
        if abs(after.score) >= MATE_BOUND:
            continue
        # At the latest the iteration that the other way does not begin has a new result, which may be its last node.
        assert 10_000 < at_root.nodes <= search(fen, f"depth={after.depth + 1}", algorithm=algorithm).nodes
        earlier += at_root.nodes < after.nodes
    assert earlier > 0


def test_no_clock_ends_the_first_iteration_but_other_limits_do() -> None:
    limits = Limits(clock_ms=1, **NODE_CLOCK)
    found = timed(limits, min_depth=4)
    assert found.depth == 4
    assert found.time_ms > 1
    assert found.nodes == search(MIDDLEGAME, "depth=4", min_depth=4).nodes
    limited = timed(Limits(clock_ms=1, nodes=50, **NODE_CLOCK), min_depth=4)
    assert (limited.nodes, limited.depth) == (50, 0)
    assert limited.move in GAME.position(MIDDLEGAME).legal_moves()


@pytest.mark.parametrize("kind", ["wall", "cpu"])
def test_real_clocks_end_a_search(kind: str) -> None:
    """Only that they do, in the end: no figure is asserted that a busy machine could break."""
    found = Engine("xiangqi").search(GAME.position(), Limits(move_time_ms=60, clock_kind=kind))
    assert found.depth >= 1
    assert found.time_ms >= 60
    assert found.depth < 100


def test_what_an_abort_proves_is_kept() -> None:
    """Whatever the node at which it stops: the move is that of the last iteration or one proven better since."""
    kept = proven = 0
    for fen in [MIDDLEGAME, GAME.start, *sample(3, 14, (10, 20))]:
        full = [search(fen, f"depth={depth}", aspiration="off") for depth in range(1, 6)]
        for limit in itertools.chain(range(20, 400, 31), range(400, 4000, 577)):
            found = search(fen, f"nodes={limit}", aspiration="off")
            if not 0 < found.depth <= len(full) or abs(found.score) >= MATE_BOUND:
                continue
            if found.lines[0].iteration == found.depth:
                assert (found.move, found.score) == (full[found.depth - 1].move, full[found.depth - 1].score)
                kept += 1
            elif found.depth < len(full):
                # Best so far of the next iteration: exact, and no better than the best of all.
                assert (found.lines[0].depth, found.lines[0].iteration) == (found.depth, found.depth + 1)
                assert found.score <= full[found.depth].score
                proven += 1
    assert kept > 5
    assert proven > 5


def test_names_used_here_exist() -> None:
    """A misspelt override would be an error, but a test over a removed row would silently test nothing."""
    names: Sequence[str] = [name for way in SOUND_WAYS.values() for name in way]
    assert set(names) <= set(BY_NAME)
