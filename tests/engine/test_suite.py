"""Suites of positions with known best moves: reading them, what counts as solved, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elolab import command_line
from elolab.engine.engine import Engine
from elolab.engine.language import columns_of, with_minus
from elolab.engine.settings.configuration import ConfigurationError, find_config
from elolab.engine.settings.limits import Limits
from elolab.engine.suite import SuitePosition, attempt, load_positions, mean_nodes_to_depth
from elolab.engine.values import format_score

SHIPPED = find_config("suites", "xiangqi-tactics")
MATE_IN_ONE = "4k4/R8/9/9/9/9/9/9/9/1R3K3 w - - 0 1"


def test_the_shipped_suite_is_legal_and_distinct() -> None:
    entries = load_positions(SHIPPED, "xiangqi")
    assert len(entries) == 40
    assert len({entry.position for entry in entries}) == len({entry.name for entry in entries}) == 40
    assert all(len(entry.best_moves) == 1 for entry in entries)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no positions in it"),
        (f"# nothing\n{MATE_IN_ONE};\n", 'line 2: no best move; expected FEN; bm MOVE; id "name";'),
        (f"{MATE_IN_ONE}; bm b0b9 a0a1;\n", "line 1: illegal move 'a0a1'"),
        ("4k4/9/9 w; bm a0a1", "line 1: .*4k4/9/9"),
        ("bm a0a1;", "line 1: "),
        (f"{MATE_IN_ONE} moves b0b9; bm a0a1;", "line 1: a line has no moves"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.epd").write_text(text)
    with pytest.raises(ConfigurationError, match=words):
        load_positions(tmp_path / "x.epd", "xiangqi")


def test_several_best_moves_and_names(tmp_path: Path) -> None:
    (tmp_path / "x.epd").write_text(f'{MATE_IN_ONE}; bm b0b9 b0b1; id "two; no, one"\n{MATE_IN_ONE}; bm b0b9\n')
    first, second = load_positions(tmp_path / "x.epd", "xiangqi")
    assert (first.best_moves, second.best_moves) == (("b0b9", "b0b1"), ("b0b9",))
    assert (first.name, second.name) == ("two; no, one", "line 2")


@pytest.mark.parametrize("fen", [MATE_IN_ONE, MATE_IN_ONE.removesuffix(" 0 1"), MATE_IN_ONE.removesuffix(" - - 0 1")])
@pytest.mark.parametrize("sign", ["", ";"])
def test_operations_may_follow_the_position_at_once(fen: str, sign: str, tmp_path: Path) -> None:
    (tmp_path / "x.epd").write_text(f'{fen}{sign} bm b0b9 b0b1; id "std";\n')
    assert load_positions(tmp_path / "x.epd", "xiangqi") == (SuitePosition("std", MATE_IN_ONE, ("b0b9", "b0b1")),)


def test_a_name_may_have_what_begins_a_comment(tmp_path: Path) -> None:
    named, bare = f'{MATE_IN_ONE}; bm b0b9; id "mate #3"; # it\'s "mate" #3', f'{MATE_IN_ONE}; bm b0b9 # "'
    (tmp_path / "x.epd").write_text(f"{named}\n# nothing\n{bare}\n")
    assert [one.name for one in load_positions(tmp_path / "x.epd", "xiangqi")] == ["mate #3", "line 3"]


def test_a_mate_is_solved_and_another_move_missed() -> None:
    engine = Engine("xiangqi")
    solved = attempt(engine, SuitePosition("mate", MATE_IN_ONE, ("b0b9",)), Limits(depth=5))
    assert solved.solved
    assert solved.solution == solved.iterations[0]
    assert solved.score == 29_999
    missed = attempt(engine, SuitePosition("not", MATE_IN_ONE, ("b0b1",)), Limits(depth=5))
    assert (missed.solved, missed.solution, missed.move) == (False, None, "b0b9")


def test_the_solution_is_where_fixed_depths_begin_to_agree() -> None:
    """Iterations of one search against searches of their own to each depth, as far as they are the same."""
    entries = load_positions(SHIPPED, "xiangqi")[:8]
    engine = Engine("xiangqi")
    late = 0
    for entry in entries:
        found = attempt(engine, entry, Limits(depth=6))
        moves = []
        for depth in range(1, found.depth + 1):
            fresh = Engine("xiangqi").search(engine.game.position(entry.position), Limits(depth=depth))
            moves.append(fresh.move)
            assert fresh.nodes == found.iterations[depth - 1].nodes
        assert [iteration.move for iteration in found.iterations] == moves
        right = [move in entry.best_moves for move in moves]
        expected = next((d for d in range(1, len(right) + 1) if all(right[d - 1 :])), None)
        assert (found.solution.depth if found.solution else None) == expected
        assert found.solved == right[-1]
        late += bool(expected and expected > 1)
    assert late > 0
    depths = mean_nodes_to_depth([attempt(engine, entry, Limits(depth=2)) for entry in entries])
    assert [count for count, _ in depths.values()] == [8, 8]


def test_a_search_counts_once_for_a_depth_that_it_reached_and_then_solved() -> None:
    board = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X"
    engine = Engine("othello", {"endgame_empties": 4})
    found = attempt(engine, SuitePosition("14 empty squares", board, ("a2",)), Limits(nodes=3_000_000))
    last, again = found.iterations[-2:]
    assert last.depth == again.depth == 14
    assert mean_nodes_to_depth([found])[14] == (1, last.nodes)


def test_best_moves_are_read_in_any_spelling(tmp_path: Path) -> None:
    (tmp_path / "x.epd").write_text(f"{MATE_IN_ONE}; bm B0-B9 b0b1\n")
    assert load_positions(tmp_path / "x.epd", "xiangqi")[0].best_moves == ("b0b9", "b0b1")
    start = "---------------------------OX------XO--------------------------- X"
    (tmp_path / "o.epd").write_text(f"{start}; bm D3 c4\n")
    assert load_positions(tmp_path / "o.epd", "othello")[0].best_moves == ("d3", "c4")


def test_the_command_prints_what_belongs_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f'{MATE_IN_ONE}; bm b0b1; id "other";', *SHIPPED.read_text("utf-8").splitlines()[3:9]]
    (tmp_path / "x.epd").write_text("\n".join(lines))
    words = ["suite", str(tmp_path / "x.epd"), "--nodes", "3000"]
    assert command_line.main([*words, "--json"]) == 0
    attempts = json.loads(capsys.readouterr().out)["attempts"]
    assert command_line.main(words) == 0
    unit, _, _, *lines = capsys.readouterr().out.splitlines()
    assert unit == "scores are those of the side to move, in pawns (M: mate in moves, R: decided by repetition)"
    shown = [entry["solution"] or entry for entry in attempts]
    assert any(entry["solution"] and entry["solution"]["score"] != entry["score"] for entry in attempts)
    assert [line.split()[-6:] for line in lines[: len(shown)]] == [
        [one["move"], with_minus(format_score(one["score"])), "depth", str(one["depth"]), str(one["nodes"]), "nodes"]
        for one in shown
    ]


def test_columns_line_up_after_names_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("双车", "中炮对屏风马，十六回合", "two 双车双车双车双车", "plain")
    (tmp_path / "x.epd").write_text("".join(f'{MATE_IN_ONE}; bm b0b9; id "{name}";\n' for name in names), "utf-8")
    assert command_line.main(["suite", str(tmp_path / "x.epd"), "--depth", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()[3 : 3 + len(names)]
    assert [columns_of(line.partition(" b0b9 ")[0]) for line in lines] == [len("solved ") + 16] * len(names)


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_position(tmp_path: Path) -> None:
    path = tmp_path / "x.epd"
    path.write_text(f'{MATE_IN_ONE}; bm b0b9; id "双车";', encoding="utf-8-sig")
    (position,) = load_positions(path, "xiangqi")
    assert (position.name, position.best_moves) == ("双车", ("b0b9",))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command_line.main(["suite", "xiangqi-tactics", "--limit", "nodes=3000", "--set", "null_move=off", "--json"])
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert data["preset"] is None
    assert data["solved"] + data["missed"] == data["positions"] == len(data["attempts"]) == 40
    assert data["solved"] == sum(entry["solved"] for entry in data["attempts"]) > 0
    assert all(entry["nodes"] <= 3000 for entry in data["attempts"])
    assert data["nodes_to_depth"][0]["searches"] == 40
    assert command_line.main(["suite", str(SHIPPED), "--preset", "no-null-move", "--nodes", "3000"]) == 0
    text = capsys.readouterr().out
    assert f"{data['solved']} of 40 solved at nodes=3000, {data['missed']} missed" in text
    assert command_line.main(["suite", "xiangqi-tactic", "--nodes", "10"]) == 2
    assert "did you mean 'xiangqi-tactics'" in capsys.readouterr().err


def test_suites_of_chess_name_moves_in_san_and_moves_to_avoid(tmp_path: Path) -> None:
    lines = [
        '2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id "WAC.001"; acd 6;',
        '8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; ce 120; c0 "a; comment"; id "WAC.002";',
        "4k3/8/8/8/8/8/8/4K2R w K - am Kf1 O-O; hmvc 4; fmvn 30;",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2; bm g1f3;",
    ]
    (tmp_path / "x.epd").write_text("\n".join(lines))
    first, second, third, fourth = load_positions(tmp_path / "x.epd", "chess")
    assert (first.name, first.best_moves) == ("WAC.001", ("g3g6",))
    assert (second.name, second.best_moves) == ("WAC.002", ("b3b2",))
    assert third.position == "4k3/8/8/8/8/8/8/4K2R w K - 4 30"
    assert "e1e2" in third.best_moves
    assert {"e1f1", "e1g1"}.isdisjoint(third.best_moves)
    assert fourth.best_moves == ("g1f3",)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("w - - bm Nf3;", "line 1: no legal move is 'Nf3'"),
        ("w - - bm Rd1;", "line 1: move 'Rd1' may be Rad1 or Rhd1 after 0 moves"),
        ('w - - id "x";', "line 1: no best move; expected FEN; bm MOVE"),
    ],
)
def test_mistakes_in_suites_of_chess_are_one_line(words: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.epd").write_text(f"4k3/8/8/8/8/8/4K3/R6R {words}")
    with pytest.raises(ConfigurationError) as caught:
        load_positions(tmp_path / "x.epd", "chess")
    assert message in str(caught.value)
