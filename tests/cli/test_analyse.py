"""``elolab analyse``, ``judge`` and ``solve``: positions, moves to search, and finished games."""

from __future__ import annotations

import json

import pytest

from elolab import command_line
from elolab.engine.games import game_named

CHECKED_FOR_EVER = "--fen 3k5/9/9/9/9/9/9/9/9/R3K4_w --moves a0a9 d9d8 a9a8 d8d9 a8a9 d9d8 a9a8 d8d9 a8a9"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("asian", "perpetual_check: one side gave check on every move of a repetition and loses"),
        ("draw", "repetition: a position was repeated, which is always a draw under these rules"),
    ],
)
def test_the_reason_of_a_repetition_fits_the_rule(rule: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word.replace("_", " ") for word in CHECKED_FOR_EVER.split()]
    assert command_line.main(["judge", *words, "--repetition", rule]) == 0
    assert f"reason {reason}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "ending", "move"),
    [
        ("--fen 3k5/9/9/9/9/9/9/9/1r7/r3K4_w", "result 0-1 (Black wins)\nreason checkmate: ", "(none)"),
        (f"--game othello --board {'X' * 64}_X", "result 1-0 (Black wins)\nreason final_score: ", "(none)"),
        (f"{CHECKED_FOR_EVER} --repetition draw", "result 1/2-1/2 (draw)\nreason repetition: ", "d9d8"),
        ("--fen 3k5/9/9/9/9/9/9/9/9/R3K4_w", "", "a0d0"),
    ],
)
def test_the_analysis_of_a_finished_game_says_so(
    words: str, ending: str, move: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["analyse", "--depth", "3", *(word.replace("_", " ") for word in words.split())]) == 0
    text = capsys.readouterr().out
    assert ending in text
    assert ("reason " in text) == bool(ending)
    assert ("scores are" in text) == (move != "(none)")
    assert text.endswith(f"bestmove {move}\n")


TWO_ROOKS = "--fen 3k5/9/9/9/9/9/9/R8/R8/5K3_w"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--moves h2e9", None),
        ("--moves h2e2 --ranks 1", "h1e1"),
        ("--moves h3e3 H3E3 --ranks 1", "h2e2"),
        ("--moves h2e9 --ranks auto", "h1e8"),
        ("--moves h0g2 --ranks 1", None),  # it is off the board, which is told in the ranks given
        ("--game othello --moves D3 D3 --ranks 1", None),
    ],
)
def test_an_illegal_move_in_other_ranks_says_how_it_was_read(
    words: str, said: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["judge", *words.split()]) == 2
    told = capsys.readouterr().err
    ranks = words.rpartition(" ")[2]
    assert (f"read with --ranks {ranks}, shown in ranks 0-9\n" in told) == (said is not None)
    assert said is None or f"illegal move '{said}' after" in told


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        ("--search-moves h2e2 b2e2", {"h2e2", "b2e2"}),
        ("--search-moves h2e2_b2e2 a0a1", {"h2e2", "b2e2", "a0a1"}),
        ("--search-moves h3e3 b3e3 --ranks 1", {"h2e2", "b2e2"}),
        ("--search-moves h2e2 b2e2 --ranks auto", {"h2e2", "b2e2"}),
        ("--search-moves h3e3 b3e3 --ranks auto", {"h2e2", "b2e2"}),
        # a2b2 is legal in either ranks; what was played, or another of the moves, tells which are meant.
        (f"{TWO_ROOKS} --moves f0e0 d9d8 --search-moves a2b2 --ranks auto", {"a2b2"}),
        (f"{TWO_ROOKS} --search-moves a2b2 f0e0 --ranks auto", {"a2b2", "f0e0"}),
        (f"{TWO_ROOKS} --search-moves a2b2 f1e1 --ranks auto", {"a1b1", "f0e0"}),
        ("--game othello --search-moves D3 c4 --ranks auto", {"d3", "c4"}),
    ],
)
def test_the_moves_to_search_are_alternatives(words: str, moves: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    given = [word.replace("_", " ") for word in words.split()]
    assert command_line.main(["analyse", "--depth", "1", "--multipv", "32", "--json", *given]) == 0
    assert {line["move"] for line in json.loads(capsys.readouterr().out)["lines"]} == moves


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--search-moves h2e3", "illegal move 'h1e2' after 0 moves"),
        ("--moves h3e3 h10g8 --search-moves a10a9", "illegal move 'a9a8' after 2 moves"),
        (f"{TWO_ROOKS} --search-moves a2b2", "legal as a2b2 and as a1b1 (in ranks 0-9); give "),
    ],
)
def test_moves_to_search_in_no_ranks_or_in_both_are_told(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.replace("_", " ") for word in words.split()]
    assert command_line.main(["analyse", "--depth", "1", "--ranks", "auto", *given]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "squares"),
    [
        (
            "--game chess --moves e4 e5 Nf3 --search-moves Nc6",
            "--game chess --moves e2e4 e7e5 g1f3 --search-moves b8c6",
        ),
        (
            "--game chess --moves d2d4 Nf6 c2-c4 --search-moves e7e6",
            "--game chess --moves d2d4 g8f6 c2c4 --search-moves e7e6",
        ),
        ("--moves 炮二平五 H8+7 --search-moves 马二进三", "--moves h2e2 h9g7 --search-moves h0g2"),
        ("--moves C2=5 --ranks auto --search-moves h9g7", "--moves h2e2 --search-moves h9g7"),
    ],
)
def test_moves_may_be_in_any_notation(words: str, squares: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for given in (words, squares):
        assert command_line.main(["analyse", "--depth", "1", "--json", *given.split()]) == 0
        found = json.loads(capsys.readouterr().out)
        texts.append([found[key] for key in ("move", "score", "nodes", "principal_variation")])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--game chess --moves e4 e9", "Black's move 1: cannot read move 'e9': expected SAN such as Nf3"),
        ("--game chess --moves e2e4 Ke6", "Black's move 1: no legal move is 'Ke6' after 1 move in position"),
        ("--game chess --moves e2e4 e7e9", "cannot read the move 'e7e9', expected squares such as e2e4"),
        ("--game chess --moves e4 --search-moves Nc7", "no legal move is 'Nc7' after 1 move in position"),
        ("--moves 炮二平二", "Red's move 1"),
    ],
)
def test_a_wrong_move_in_any_notation_is_named(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["analyse", "--depth", "1", *words.split()]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_columns_of_ten_lines_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["analyse", "--depth", "2", "--multipv", "10"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "  depth 2 " in line]
    assert [line.partition(".")[0] for line in lines] == [f"{number:>2}" for number in range(1, 11)]
    assert len({line.index("  depth 2 ") for line in lines}) == 1


def test_a_preset_decides_what_is_analysed(capsys: pytest.CaptureFixture[str]) -> None:
    def nodes(*words: str) -> int:
        assert command_line.main(["analyse", "--depth", "4", "--json", *words]) == 0
        return int(json.loads(capsys.readouterr().out)["nodes"])

    assert nodes("--preset", "no-null-move") == nodes("--set", "NullMove=off") != nodes()
    assert nodes("--preset", "no-null-move", "--set", "null-move=on") == nodes()


def test_a_preset_is_solved_with(capsys: pytest.CaptureFixture[str]) -> None:
    position = game_named("othello").position()
    while position.text.count("-") > 8:
        position.push(position.legal_moves()[0])
    board = position.text
    found = []
    for words in ([], ["--preset", "othello-ids", "--set", "hash=1"]):
        assert command_line.main(["solve", "--board", board, "--json", *words]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["score"] == found[1]["score"]
    assert command_line.main(["solve", "--board", board, "--preset", "fenon"]) == 2
    assert "no section [othello]" in capsys.readouterr().err
