"""Othello: rules against another implementation, counts, exact endgames, the evaluation's symmetry, sound drivers."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest

from elolab import command_line
from elolab.arena.notation.openings import placement_of
from elolab.engine.compiled.kernel import new_record
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position, PositionError
from elolab.engine.games.othello.boards import (
    edge_stable_discs,
    flips,
    legal_squares,
    neighbours,
    stable_discs,
)
from elolab.engine.rules import Rules
from elolab.engine.search.clock import CLOCK_CODES, allocate_iteration_time, allocate_time, spend_nodes
from elolab.engine.search.records import NO_LIMIT, SEARCH_DTYPE
from elolab.engine.settings import weights
from elolab.engine.settings.features import OTHELLO
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Parameter, parameters_of, resolve, to_record
from elolab.engine.settings.weights import find_weights, weights_address
from elolab.engine.solving import Solver

GAME = game_named("othello")
DATA = Path(__file__).parents[2] / "data"
SHARED = json.loads((DATA / "othello_endgames.json").read_text("utf-8"))
ENDGAMES, PASSES, FINISHED = SHARED["cases"], SHARED["pass_cases"], SHARED["game_over_cases"]
FFO = json.loads((DATA / "othello_ffo.json").read_text("utf-8"))["positions"]
PASS_ACTION = 64

SOUND = {
    "late_move_reductions": False, "null_move": False, "hash_exact_depth_only": True, "hash_mb": 1,
    "endgame_empties": 0, "history": False, "killers": 0, "probcut_depth": 0,
}  # fmt: skip


def text_of(case: dict[str, Any]) -> str:
    return f"{case['board']} {case['side']}"


def random_games(count: int, seed: int = 7) -> Iterator[Position]:
    """Every position of some random games, the finished ones included."""
    generator = random.Random(seed)
    for _ in range(count):
        position = GAME.position()
        yield position
        while moves := position.legal_moves():
            position.push(generator.choice(moves))
            yield position


# Rules


@pytest.mark.parametrize(
    ("passes", "counts"),
    [
        ("ply", [4, 12, 56, 244, 1396, 8200, 55_092, 390_216, 3_005_288, 24_571_284]),
        ("free", [4, 12, 56, 244, 1396, 8200, 55_092, 390_216, 3_005_320, 24_571_420]),
    ],
)
def test_perft_in_both_conventions(passes: str, counts: list[int]) -> None:
    position = GAME.position()
    assert [GAME.perft(position, depth, passes) for depth in range(1, len(counts) + 1)] == counts


def test_a_finished_game_is_one_leaf_and_a_pass_is_counted_as_asked() -> None:
    over = GAME.position("X" * 63 + "- X")
    assert over.legal_moves() == []
    assert [GAME.perft(over, depth) for depth in (0, 1, 5)] == [1, 1, 1]
    # White has to pass, then Black takes b1's neighbours and the game ends.
    passing = GAME.position("-OX" + "X" * 61 + " O")
    assert passing.legal_moves() == ["pass"]
    assert GAME.perft(passing, 1) == GAME.perft(passing, 2) == 1
    assert GAME.perft(passing, 1, "free") == 1


def test_random_games_are_those_of_another_implementation() -> None:
    """Legal moves, boards, passes and results over 100 games against OpenSpiel."""
    oracle_game = pyspiel.load_game("othello")
    generator = random.Random(11)
    passes = 0
    for _ in range(100):
        position, oracle = GAME.position(), oracle_game.new_initial_state()
        while True:
            moves = position.legal_moves()
            assert (not moves) == oracle.is_terminal()
            if not moves:
                break
            assert oracle.current_player() == position.side_to_move
            actions = {"pass" if action == PASS_ACTION else oracle.action_to_string(action): action
                       for action in oracle.legal_actions()}  # fmt: skip
            assert sorted(actions) == sorted(moves)
            board = "".join(line[2:17:2] for line in str(oracle).splitlines()[2:10])
            assert position.text.split()[0] == board.replace("x", "X").replace("o", "O")
            move = generator.choice(moves)
            passes += move == "pass"
            position.push(move)
            oracle.apply_action(actions[move])
        ending = position.judge(Rules())
        assert ending is not None
        assert ending.reason == "final_score"
        assert ending.result == {1: "1-0", -1: "0-1", 0: "1/2-1/2"}[int(oracle.returns()[0])]
    assert passes > 50, "too few passes to have tested them"


def test_empty_squares_go_to_the_winner() -> None:
    wiped_out = GAME.position("-" * 24 + "---XX---" + "---XX---" + "-" * 24 + " O")
    assert wiped_out.legal_moves() == []
    assert int(GAME.kernels.final_score(wiped_out.state)) == -6400
    even = GAME.position("X" * 24 + "O" * 8 + "X" * 8 + "O" * 24 + " X")
    assert int(GAME.kernels.final_score(even.state)) == 0
    assert even.judge(Rules()).result == "1/2-1/2"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-" * 63 + " X", "63 squares, expected 64"),
        ("-" * 64 + " X", "d4 is empty"),
        (GAME.start.replace("OX", "OZ"), "'Z' on e4"),
        (GAME.start[:-1] + "B", "side to move is 'B', expected X"),
        (GAME.start[:-2], "expected 64 characters"),
        ("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1", "looks like a FEN"),
    ],
)
def test_a_wrong_board_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(PositionError, match=said):
        GAME.position(text)


def test_moves_are_read_in_the_usual_spellings() -> None:
    assert GAME.position(moves=["D3", "c5"]).moves == ["d3", "c5"]
    assert GAME.position("-OX" + "X" * 61 + " O", ["PA"]).moves == ["pass"]
    with pytest.raises(MoveError, match="cannot read the move 'z9'"):
        GAME.position(moves=["z9"])
    with pytest.raises(MoveError, match="illegal move 'pass'"):
        GAME.position(moves=["pass"])
    lower = GAME.position(GAME.start.lower().replace("-", "."))
    assert lower.text == GAME.start


def images(board: str) -> list[str]:
    """The eight turns and reflections of a board, as indices say them."""
    places = [
        lambda f, r: (f, r), lambda f, r: (7 - f, r), lambda f, r: (f, 7 - r), lambda f, r: (7 - f, 7 - r),
        lambda f, r: (r, f), lambda f, r: (7 - r, f), lambda f, r: (r, 7 - f), lambda f, r: (7 - r, 7 - f),
    ]  # fmt: skip
    found = []
    for place in places:
        squares = [""] * 64
        for index, letter in enumerate(board):
            file, rank = place(index % 8, index // 8)
            squares[8 * rank + file] = letter
        found.append("".join(squares))
    return found


def test_images_of_a_position_are_one_opening() -> None:
    for position in random_games(1):
        board, side = position.text.split()
        assert len({placement_of(f"{image} {side}") for image in images(board)}) == 1
    assert placement_of(GAME.start) != placement_of(GAME.position(moves=["d3"]).text)


# Boards


def slow_flips(own: set[int], other: set[int], square: int) -> set[int]:
    """Discs a move turns, walked square by square."""
    turned: set[int] = set()
    for across in (-1, 0, 1):
        for down in (-1, 0, 1):
            line, file, rank = [], square % 8 + across, square // 8 + down
            while (across or down) and 0 <= file < 8 and 0 <= rank < 8:
                if 8 * rank + file in own:
                    turned |= set(line)
                    break
                if 8 * rank + file not in other:
                    break
                line.append(8 * rank + file)
                file, rank = file + across, rank + down
    return turned


def bits(squares: set[int]) -> np.uint64:
    return np.uint64(sum(1 << square for square in squares))


def test_flips_and_moves_on_any_board_whatever() -> None:
    """Boards that no game reaches too: every function compiled, uncompiled, and against a walk over squares."""
    generator = random.Random(3)
    for _ in range(150):
        density = generator.random()
        squares = [square for square in range(64) if generator.random() < density]
        own = {square for square in squares if generator.random() < 0.5}
        other = set(squares) - own
        legal = {square for square in set(range(64)) - set(squares) if slow_flips(own, other, square)}
        assert int(legal_squares(bits(own), bits(other))) == int(bits(legal))
        assert int(legal_squares.py_func(bits(own), bits(other))) == int(bits(legal))
        for square in set(range(64)) - set(squares):
            turned = int(bits(slow_flips(own, other, square)))
            assert int(flips(bits(own), bits(other), square)) == turned
        beside = {
            8 * rank + file
            for square in own
            for file in range(square % 8 - 1, square % 8 + 2)
            for rank in range(square // 8 - 1, square // 8 + 2)
            if 0 <= file < 8 and 0 <= rank < 8
        }
        assert int(neighbours(bits(own))) == int(bits(beside))


def slow_count(own: set[int], other: set[int], depth: int, pass_plies: int) -> int:
    """Leaves of the tree of legal moves; a pass costs ``pass_plies`` of its ``depth`` plies."""
    if depth == 0:
        return 1
    empty = set(range(64)) - own - other
    plays = [(square, turned) for square in empty if (turned := slow_flips(own, other, square))]
    if not plays:
        if not any(slow_flips(other, own, square) for square in empty):
            return 1
        return slow_count(other, own, depth - pass_plies, pass_plies)
    return sum(slow_count(other - turned, own | turned | {square}, depth - 1, pass_plies) for square, turned in plays)


def test_perft_where_there_are_passes_and_finished_games() -> None:
    """Late positions, in both conventions, against counts that walk square by square."""
    compared = differing = 0
    for position in random_games(12, 23):
        own, other = (
            {square for square in range(64) if int(position.state.discs[side]) >> square & 1}
            for side in (position.side_to_move, 1 - position.side_to_move)
        )
        if not 4 <= 64 - len(own | other) <= 7:
            continue
        for depth in (1, 2, 3, 4):
            counts = [slow_count(own, other, depth, pass_plies) for pass_plies in (1, 0)]
            assert [GAME.perft(position, depth, passes) for passes in ("ply", "free")] == counts, position.text
            differing += counts[0] != counts[1]
            compared += 1
    assert compared > 100
    assert differing > 10


def test_stable_discs_never_turn() -> None:
    generator = random.Random(5)
    seen = 0
    for position in list(random_games(12, 19)):
        sides = [int(position.state.discs[side]) for side in (0, 1)]
        stable = [int(stable_discs(np.uint64(sides[side]), np.uint64(sides[1 - side]))) for side in (0, 1)]
        edges = [int(edge_stable_discs(np.uint64(sides[side]), np.uint64(sides[1 - side]))) for side in (0, 1)]
        seen += sum(bits.bit_count() for bits in stable)
        later = position.copy()
        while moves := later.legal_moves():
            later.push(generator.choice(moves))
            for side in (0, 1):
                assert stable[side] & ~int(later.state.discs[side]) == 0
                assert edges[side] & ~int(later.state.discs[side]) == 0
        for side in (0, 1):
            assert edges[side] & ~stable[side] == 0
    assert seen > 500
    full = (1 << 64) - 1
    assert int(stable_discs(np.uint64(full), np.uint64(0))) == full


# Evaluation


def test_the_evaluation_is_the_same_for_all_images_and_for_colours_exchanged() -> None:
    engine = Engine("othello")
    exchanged = str.maketrans("XO", "OX")
    for number, position in enumerate(random_games(3, 23)):
        if number % 3:
            continue
        board, side = position.text.split()
        values = {engine.static_score(GAME.position(f"{image} {side}")) for image in images(board)}
        values.add(engine.static_score(GAME.position(f"{board} {side}".translate(exchanged))))
        assert len(values) == 1
        assert abs(values.pop()) <= 6400


def test_a_finished_game_is_worth_its_score_even_as_an_estimate() -> None:
    finished = [position.copy() for position in random_games(20, 29) if not position.legal_moves()]
    assert len(finished) == 20
    for position in finished:
        GAME.kernels.prepare(position.state, to_record(resolve({}, game="othello")))
        assert GAME.kernels.evaluate(position.state, 0, -1, 1) == GAME.kernels.final_score(position.state)


def weights_text(phases: list[list[int]], features: tuple[str, ...] = OTHELLO) -> str:
    return f'game = "othello"\nprovenance = "a test"\nfeatures = {json.dumps(features)}\nphases = {phases}\n'


def test_weights_come_from_a_file_and_its_digest_is_part_of_the_setting(tmp_path: Path) -> None:
    path = tmp_path / "discs.toml"
    only_discs = [[100 if name == "discs" else 0 for name in OTHELLO]] * 6
    path.write_text(weights_text(only_discs))
    values = resolve({"evaluation_weights": str(path)}, game="othello")
    name, _, digest = str(values["evaluation_weights"]).partition("#")
    assert name == str(path)
    assert len(digest) == 12
    assert resolve(values, game="othello") == values
    engine = Engine("othello", values)
    position = GAME.position(moves=["d3"])
    assert engine.static_score(position) == 100 * (1 - 4)
    # The columns may stand in any order, and what has none weighs nothing: the evaluation is the same.
    reversed_path = tmp_path / "reversed.toml"
    reversed_path.write_text(weights_text([row[::-1] for row in only_discs], OTHELLO[::-1]))
    assert Engine("othello", {"evaluation_weights": str(reversed_path)}).static_score(position) == -300
    short_path = tmp_path / "short.toml"
    short_path.write_text(weights_text([[100]] * 3, ("discs",)))
    assert Engine("othello", {"evaluation_weights": str(short_path)}).static_score(position) == -300
    # A name may have what marks a digest.
    (tmp_path / "f#1").mkdir()
    marked = tmp_path / "f#1" / "discs.toml"
    marked.write_bytes(path.read_bytes())
    pinned = resolve({"evaluation_weights": str(marked)}, game="othello")
    assert pinned["evaluation_weights"] == f"{marked}#{digest}"
    assert resolve(pinned, game="othello") == pinned
    # A changed file is another setting.
    path.write_text(weights_text([[2 * weight for weight in row] for row in only_discs]))
    with pytest.raises(UserError, match="its weights have the digest"):
        resolve(values, game="othello")
    assert Engine("othello", {"evaluation_weights": str(path)}).static_score(position) == -600


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (weights_text([[0] * len(OTHELLO)] * 7), "phases has 7 rows, expected a number that divides 60"),
        (weights_text([[0] * 11] * 6), f"expected {len(OTHELLO)} weights in each row"),
        (weights_text([[99_999] * len(OTHELLO)] * 6), "99999, expected a whole number from -10000 to 10000"),
        (weights_text([[0] * 2] * 6, ("mobility", "luck")), "the evaluation of othello has no 'luck'"),
        (weights_text([[0] * 2] * 6, ("discs", "discs")), "each once"),
        ("phases = 3", "features is missing"),
    ],
)
def test_a_wrong_file_of_weights_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        resolve({"evaluation_weights": str(path)}, "preset.toml", game="othello")


def test_the_shipped_weights_name_where_they_come_from() -> None:
    weights = find_weights("othello")
    assert weights.game == "othello"
    assert weights.provenance
    assert weights_address("othello") == weights_address(f"othello#{weights.digest}")


# Search


SAME_VALUE = [
    {"algorithm": "alphabeta"}, {"algorithm": "alphabeta", "fail_soft": False}, {"algorithm": "pvs"},
    {"algorithm": "mtdf"}, {"algorithm": "mtdf", "mtdf_guess": "zero"}, {"algorithm": "mtdf", "mtdf_guess": "two_back"},
    {"hash_mb": 0}, {"hash_move": False}, {"iterative_deepening": False}, {"min_depth": 4}, {"depth_step": 2},
    {"history": True, "killers": 2}, {"enhanced_cutoff_depth": 1},
    *({"aspiration": name, "aspiration_window": 20}
      for name in ("off", "full", "one_sided", "gradual", "naive_half", "naive")),
]  # fmt: skip


def test_every_sound_driver_finds_the_same_value() -> None:
    cases = [(bench.text, 6) for bench in GAME.bench_positions]
    cases += [(text_of(case), case["empties"]) for case in ENDGAMES[:3]]
    engines = [Engine("othello", {**SOUND, **settings}) for settings in SAME_VALUE]
    solver = Engine("othello", {**SOUND, "endgame_empties": 20})
    for text, depth in cases:
        values = set()
        # To the end of the game it is solved, too.
        for engine in engines if depth == 6 else [*engines, solver]:
            engine.new_game()
            position = GAME.position(text)
            values.add(engine.search(position, Limits(depth=depth)).score)
            assert position.text == text
        assert len(values) == 1, text


@pytest.mark.parametrize("cost", [False, True])
def test_a_pass_costs_depth_only_if_asked(cost: bool) -> None:
    """White passes, Black fills a1, and the game is over: one ply of depth is enough unless the pass costs it."""
    engine = Engine("othello", {**SOUND, "pass_costs_depth": cost})
    position = GAME.position("-OX" + "X" * 61 + " O")
    result = engine.search(position, Limits(depth=1))
    assert result.depth == 1
    assert (result.score == -6400) != cost


@pytest.mark.parametrize("case", [case for case in ENDGAMES if case["empties"] <= 10], ids=lambda case: str(case["id"]))
def test_a_search_as_deep_as_the_empty_squares_is_exact_without_the_solver(case: dict[str, Any]) -> None:
    engine = Engine("othello", {**SOUND, "history": True, "killers": 2, "hash_mb": 16})
    result = engine.search(GAME.position(text_of(case)), Limits(depth=64))
    assert result.depth == case["empties"], "never deeper than the empty squares"
    assert result.score == 100 * case["score"]


def test_the_first_iteration_is_no_deeper_than_the_empty_squares() -> None:
    position = GAME.position("-OX" + "X" * 61 + " O")
    result = Engine("othello", {"min_depth": 4}).search(position, Limits(nodes=1000))
    assert (result.depth, result.score, result.move) == (1, -6400, "pass")


@pytest.mark.integration
@pytest.mark.parametrize("row", parameters_of("othello"), ids=lambda row: row.name)
def test_every_legal_value_can_be_searched_with(row: Parameter) -> None:
    """The ends of every range and every choice: a legal move comes out, within the limit."""
    values = {"hash_mb": (0, 64), "evaluation_weights": (row.default,)}.get(row.name, row.legal)
    for value in values:
        engine = Engine("othello", {row.name: value})
        for text in (GAME.start, GAME.bench_positions[3].text, text_of(ENDGAMES[-1])):
            position = GAME.position(text)
            found = engine.search(position, Limits(nodes=600))
            assert found.move in position.legal_moves(), (row.name, value)
            assert found.nodes <= 600


def test_the_rows_called_sound_are_those_tried() -> None:
    tried = {name for way in (*SAME_VALUE, *PLAINER) for name in way} | set(SOUND)
    # Others order moves or set the pace of the iterations, as the tests of the other game show.
    shared = {row.name for row in parameters_of("xiangqi")}
    assert {row.name for row in parameters_of("othello") if row.sound} - tried <= shared


def test_techniques_of_the_search_that_are_not_sound_do_something() -> None:
    def nodes(**overrides: Any) -> tuple[int, dict[str, int]]:
        plain = {"late_move_reductions": False, "endgame_empties": 0, "probcut_depth": 0}
        engine = Engine("othello", {**plain, **overrides})
        result = engine.search(GAME.position(GAME.bench_positions[2].text), Limits(depth=9))
        return result.nodes, result.counters

    plain_nodes, _ = nodes()
    pruned, counters = nodes(probcut_depth=4, probcut_margin=300)
    assert counters["probcuts"] > 0
    assert pruned < plain_nodes
    looked_up, counters = nodes(enhanced_cutoff_depth=2)
    assert counters["enhanced_cutoffs"] > 0
    assert looked_up < plain_nodes


def test_threads_that_ask_for_weights_at_once_get_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two arrays the first would be freed while a search reads it."""
    monkeypatch.setattr(weights, "_ARRAYS", {})
    barrier = threading.Barrier(4)

    def ask(_: int) -> int:
        barrier.wait()
        return weights_address("othello")

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1


def test_weights_that_are_read_again_leave_those_in_use_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    before = int(weights.kernel_words(find_weights("othello"), "")[1])
    monkeypatch.setattr(weights, "_ARRAYS", {})
    assert int(weights.kernel_words(find_weights("othello"), "")[1]) == before


# Endgames


SOLVED = [case for case in [*ENDGAMES, *PASSES, *FINISHED, *FFO] if case["empties"] <= 16]


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver("othello", {"hash_mb": 16}, StopFlag())


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: f"{case['empties']}-{case.get('id', '')}")
def test_endgames_are_solved_with_every_moves_score(case: dict[str, Any], solver: Solver) -> None:
    position = GAME.position(text_of(case))
    solution = solver.solve(position, every_move=True)
    assert solution.score == case["score"]
    assert position.text == text_of(case)
    assert solution.moves is not None
    expected = case.get("moves", {})
    assert expected or case["game_over"]
    assert {move: solution.moves[move] for move in expected} == expected
    if case.get("moves_complete", True):
        assert len(solution.moves) == len(expected)
    # The line is played out, and keeps the score.
    line = GAME.position(text_of(case), solution.line)
    assert line.legal_moves() == []
    sign = 1 if line.side_to_move == position.side_to_move else -1
    assert sign * int(GAME.kernels.final_score(line.state)) == 100 * case["score"]
    assert solution.best_move == (solution.line[0] if solution.line else None)
    assert solution.best_move is None or solution.moves[solution.best_move] == case["score"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [case for case in [*ENDGAMES, *FFO] if case["empties"] > 16], ids=lambda case: str(case["id"])
)
def test_larger_endgames_are_solved(case: dict[str, Any]) -> None:
    solution = Solver("othello", {}, StopFlag()).solve(GAME.position(text_of(case)))
    assert solution.score == case["score"]
    assert not case["best_moves"] or solution.best_move in case["best_moves"]


PLAINER = [
    {"endgame_sort_empties": 5}, {"endgame_sort_empties": 60}, {"endgame_parity": False},
    {"endgame_fastest_first": False}, {"endgame_stability": False}, {"enhanced_cutoff_depth": 5}, {"hash_mb": 0},
    {"algorithm": "mtdf"}, {"algorithm": "alphabeta", "fail_soft": False},
]  # fmt: skip


@pytest.mark.parametrize("settings", PLAINER, ids=lambda settings: " ".join(settings))
def test_the_solvers_settings_change_its_work_but_not_its_results(settings: dict[str, Any]) -> None:
    plain, changed = (Solver("othello", {"hash_mb": 16, **own}, StopFlag()) for own in ({}, settings))
    nodes = [0, 0]
    for case in ENDGAMES:
        if case["empties"] > 12:
            continue
        for number, solver in enumerate((plain, changed)):
            solution = solver.solve(GAME.position(text_of(case)))
            assert solution.score == case["score"]
            nodes[number] += solution.nodes
    assert nodes[0] != nodes[1]


@pytest.mark.parametrize("settings", [{"endgame_empties": 0}, {"endgame_empties": 0, "iterative_deepening": False}])
def test_no_setting_leaves_a_position_to_the_search_that_is_not_exact(settings: dict[str, Any]) -> None:
    solver = Solver("othello", {"hash_mb": 16, **settings}, StopFlag())
    cases = [case for case in ENDGAMES if case["empties"] <= 12]
    assert [solver.solve(GAME.position(text_of(case))).score for case in cases] == [case["score"] for case in cases]


@pytest.mark.parametrize(
    ("setting", "board"),
    [
        ("pass_costs_depth", "-O-OOOOO-OOOOOOO-OXOXOXOOOOXOOOOOOXOXOOOOOXOXOOOOOOOXXOOOOOOOOOO X"),
        ("lmr_root", "X--XXXXOOXOXOOOO--OXXOOO-OOXOOOOXOOXXXO-XXXXOOXOXXXXOOOO---O-XOO X"),
    ],
)
def test_every_move_is_solved_whatever_the_settings_do_to_depths(setting: str, board: str) -> None:
    plain, changed = (
        Solver("othello", {"hash_mb": 1, **own}, StopFlag()).solve(GAME.position(board), every_move=True)
        for own in ({}, {setting: True})
    )
    assert changed.moves == plain.moves
    assert changed.score == plain.score


def test_near_the_end_the_root_is_solved_whatever_the_depth_limit() -> None:
    cases = [case for case in ENDGAMES if case["empties"] in (10, 12)]
    assert len(cases) >= 2
    for case in cases:
        position = GAME.position(text_of(case))
        solved = Engine("othello", {"endgame_empties": case["empties"]}).search(position, Limits(depth=2))
        assert (solved.score, solved.depth) == (100 * case["score"], case["empties"])
        # One more empty square than the setting allows, or a limit in nodes: as deep as was asked for.
        unsolved = Engine("othello", {"endgame_empties": case["empties"] - 1}).search(position, Limits(depth=2))
        assert unsolved.depth == 2
        assert Engine("othello").search(position, Limits(depth=2, nodes=50)).nodes <= 50


def test_the_root_is_solved_exactly_with_reductions_of_late_moves_there_too() -> None:
    position = GAME.position("XXX-OXXXXXXOOOOOXOOXOXOOXOOXXXOXXOOXOXOXXOOOOOOXXO--OOOXXO----O- X")
    found = Engine("othello", {"hash_mb": 1, "lmr_root": True}).search(position, Limits(nodes=10_000_000))
    assert found.score == 100 * Solver("othello", {"hash_mb": 1}, StopFlag()).score(position)


def test_limits_hold_however_much_the_solver_leaves_unsorted() -> None:
    """Without a look at them within, an unsorted subtree of so many empty squares would take longer than a life."""
    position = GAME.position("--X-OX----OOXX---OOXO-X-O-XOOXX--XOOOXX--OOOOXX--XX-XO---------- X")
    settings = {"hash_mb": 1, "endgame_empties": 31, "endgame_presearch": 2, "endgame_sort_empties": 60}
    assert Engine("othello", settings).search(position, Limits(nodes=50_000)).nodes == 50_000


def test_an_end_that_was_reached_selectively_is_solved_while_the_limits_allow() -> None:
    cases = [case for case in ENDGAMES if 10 <= case["empties"] <= 14]
    selective = {"endgame_empties": 4, "probcut_margin": 50, "endgame_exact_iteration": False}
    engines = [Engine("othello", {**selective, "endgame_exact_iteration": exact}) for exact in (False, True)]
    wrong = 0
    for case in cases:
        position = GAME.position(text_of(case))
        for engine in engines:
            engine.new_game()
        before, solved = (engine.search(position, Limits(nodes=10_000_000)) for engine in engines)
        assert solved.score == 100 * case["score"]
        assert (before.depth, solved.depth) == (case["empties"], case["empties"])
        wrong += before.score != 100 * case["score"]
        # Where depth alone is limited nothing would bound the solver.
        for limits in (
            Limits(depth=case["empties"]),
            Limits(depth=case["empties"] + 1),
            Limits(depth=case["empties"], nodes=10_000_000),
            Limits(nodes=before.nodes + 1),
        ):
            engines[1].new_game()
            cut = engines[1].search(position, limits)
            assert (cut.move, cut.score, cut.depth) == (before.move, before.score, before.depth)
        assert engines[1].search(position, Limits(depth=2)).depth == 2
    assert wrong > 0


def test_the_line_of_a_solved_position_goes_on_as_far_as_the_table_knows() -> None:
    """By moves that keep the score, and without a trace in what the engine searches later."""
    engine, plain = Engine("othello", {"hash_mb": 16}), Engine("othello", {"hash_mb": 16})
    judge = Solver("othello", {"hash_mb": 16}, StopFlag())
    positions = [
        position.copy() for position in random_games(6)
        if position.text.count("-") in (12, 13, 16) and len(position.legal_moves()) > 1
    ]  # fmt: skip
    for position in positions:
        found, expected = (one.search(position, Limits(depth=20)) for one in (engine, plain))
        assert (found.move, found.score, found.nodes) == (expected.move, expected.score, expected.nodes)
        (line,) = found.lines
        moves = engine.known_line(position, line)
        assert moves[: len(line.principal_variation)] == line.principal_variation
        assert len(moves) > max(3, len(line.principal_variation))
        end, sign = position.copy(), 1
        for move in moves:
            assert sign * judge.score(end) * GAME.score_unit == line.score
            end.push(move)
            sign = -sign
        assert sign * judge.score(end) * GAME.score_unit == line.score


def test_a_line_that_is_an_estimate_ends_where_the_search_did() -> None:
    engine = Engine("othello", {"hash_mb": 16})
    for bench in GAME.bench_positions:
        position = GAME.position(bench.text)
        for line in engine.search(position, Limits(depth=4), lines=3).lines:
            if line.score % GAME.score_unit:
                assert engine.known_line(position, line) == line.principal_variation


@pytest.mark.integration
def test_windows_of_the_solver_are_bounds() -> None:
    """Any window whatever: within it the value, beyond it a bound on the right side of it."""
    engine = Engine("othello", {"endgame_empties": 60, "hash_mb": 0})
    engine.search(GAME.position(text_of(ENDGAMES[0])), Limits(depth=1))
    memory = engine.memory
    assert memory is not None
    memory.search.node_limit = NO_LIMIT
    for case in ENDGAMES[:6]:
        position, exact = GAME.position(text_of(case)), 100 * case["score"]
        for alpha, beta in ((-32_000, 32_000), (exact - 1, exact + 1), (exact, exact + 50), (exact - 50, exact),
                            (exact - 300, exact - 250), (exact + 130, exact + 140)):  # fmt: skip
            value = int(
                GAME.kernels.solve(position.state, memory.search, position.lists, memory.parameters, alpha, beta, 0)
            )
            if value <= alpha:
                assert exact <= value
            elif value >= beta:
                assert exact >= value
            else:
                assert value == exact


def test_a_node_limit_is_exact_inside_the_solver() -> None:
    case = next(case for case in FFO if case["empties"] == 14)
    engine = Engine("othello", {"endgame_empties": 14, "endgame_presearch": 4})
    full = engine.search(GAME.position(text_of(case)), Limits(depth=64))
    assert full.depth == 14
    for nodes in (full.nodes - 1, full.nodes // 2 + 1, 5000):
        engine.new_game()
        cut = engine.search(GAME.position(text_of(case)), Limits(nodes=nodes))
        assert cut.nodes == nodes
        assert cut.depth < 14
        assert cut.move in GAME.position(text_of(case)).legal_moves()
    again = Engine("othello", {"endgame_empties": 14, "endgame_presearch": 4, "poll_interval_nodes": 7})
    assert again.search(GAME.position(text_of(case)), Limits(depth=64)).nodes == full.nodes


def test_a_stop_ends_the_solver() -> None:
    case = next(case for case in FFO if case["empties"] >= 24)
    stop = StopFlag()
    stop.set()
    engine = Engine("othello", {"endgame_empties": 60})
    result = engine.search(GAME.position(text_of(case)), Limits(depth=64), stop=stop)
    assert result.nodes <= 1024


def test_a_game_without_a_solver_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="xiangqi cannot be played out to the end; solve is for othello and chess"):
        Solver("xiangqi", {}, StopFlag())
    assert command_line.main(["solve", "--game", "xiangqi", "--board", "X"]) == 2
    message = "elolab: xiangqi cannot be played out to the end; solve is for othello and chess\n"
    assert capsys.readouterr().err == message


# Time


@pytest.mark.parametrize(
    ("depth", "elapsed_ms", "stop_ms"), [(5, 0, 7500), (12, 3000, 11_400), (19, 0, 60_000), (20, 0, 60_000)]
)
def test_the_othello_time_allocation_is_that_of_the_text(depth: int, elapsed_ms: int, stop_ms: int) -> None:
    """60 seconds and 20 empty squares."""
    settings = {"time_strategy": "othello", "time_move_cap": 1000, "clock_reserve_ms": 0}
    parameters, search = to_record(resolve(settings, game="othello")), new_record(SEARCH_DTYPE)
    search.clock = CLOCK_CODES["node"]
    search.nanoseconds_per_node = 1_000_000
    allocate_time(search, parameters, 0, 60_000_000_000, 0, 0)
    search.nodes = elapsed_ms
    allocate_iteration_time(search, parameters, depth, 20)
    assert int(search.hard_ns) == stop_ms * 1_000_000
    # The reserve and the cap hold whatever the text says.
    parameters.clock_reserve_ms = 70
    parameters.time_move_cap = 100
    allocate_time(search, parameters, 0, 60_000_000_000, 0, 0)
    allocate_iteration_time(search, parameters, depth, 20)
    assert int(search.hard_ns) == min(stop_ms, 6000) * 1_000_000
    parameters.time_move_cap = 1000
    allocate_time(search, parameters, 0, 60_000_000_000, 0, 0)
    allocate_iteration_time(search, parameters, depth, 20)
    assert int(search.hard_ns) == min(stop_ms, 59_930) * 1_000_000


@pytest.mark.integration
def test_many_nodes_are_accounted_for_as_single_ones() -> None:
    parameters, search = to_record(resolve({"poll_interval_nodes": 10}, game="othello")), new_record(SEARCH_DTYPE)
    search.node_limit = 25
    assert spend_nodes(search, parameters, 17)
    assert (int(search.nodes), int(search.stopped)) == (17, 0)
    assert not spend_nodes(search, parameters, 9)
    assert int(search.nodes) == 25
    assert int(search.stopped) != 0
