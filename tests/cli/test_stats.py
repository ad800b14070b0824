"""``elolab stats``: golden figures from counts, and games of PGN files told apart into pairs and single games."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from elolab import command_line
from elolab.arena.notation.pgn import GameWriter
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.match_statistics import figure_lines, figures_of

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
OTHELLO = "-" * 27 + "OX------XO" + "-" * 27 + " X"
GOLDEN = ["--pentanomial", "365", "16618", "36229", "16974", "390"]


def figures(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert command_line.main(["stats", *map(str, words), "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_golden_pentanomial(capsys: pytest.CaptureFixture[str]) -> None:
    data = figures(capsys, *GOLDEN, "--elo0", 0, "--elo1", 2, "--model", "normalized")
    assert data["llr"] == pytest.approx(2.250368, abs=5e-7)
    assert data["elo"] == pytest.approx(0.99934, abs=5e-6)
    assert data["elo_error"] == pytest.approx(0.92308, abs=5e-6)
    assert data["los"] == pytest.approx(0.983078, abs=5e-7)
    assert data["pairs_ratio"] == pytest.approx(17364 / 16983)
    deviation = math.sqrt(sum(n * (i / 4 - data["score"]) ** 2 for i, n in enumerate(data["pentanomial"])) / 70576)
    assert data["normalized_elo"] == pytest.approx(
        (data["score"] - 0.5) / (math.sqrt(2) * deviation) * 800 / math.log(10)
    )
    assert [data[f"unbiased_elo{end}"] for end in ("", "_low", "_high")] == pytest.approx(
        [0.932149, -0.051444, 1.878152], abs=5e-7
    )
    assert (data["verdict"], data["pairs"], data["games"]) == ("undecided", 70576, 141152)
    assert figures(capsys, *GOLDEN, "--elo0=0", "--elo1=2", "--model", "logistic")["llr"] == pytest.approx(
        -0.005920, abs=5e-7
    )


def test_without_hypotheses_there_is_no_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    data = figures(capsys, *GOLDEN)
    assert data["llr"] is None
    assert "verdict" not in data


def test_wins_draws_losses_in_this_order(capsys: pytest.CaptureFixture[str]) -> None:
    data = figures(capsys, "--wdl", 136, 111, 96)
    assert (data["elo"], data["elo_error"]) == pytest.approx((40.70, 30.43), abs=0.005)
    assert (data["wdl"], data["pairs_ratio"], data["pentanomial"]) == ([136, 111, 96], None, None)


def test_the_interval_of_pairs_all_won_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    """By scipy, as Clopper and Pearson; with a draw among them the lower bound is lower."""
    data = figures(capsys, "--pentanomial", 0, 0, 0, 0, 20)
    low = stats.binomtest(20, 20).proportion_ci(0.95, "exact").low
    assert data["elo_low"] == pytest.approx(-400 * math.log10(1 / low - 1))
    assert figures(capsys, "--pentanomial", 0, 0, 0, 1, 19)["elo_low"] < data["elo_low"]


@pytest.mark.parametrize("words", [["--wdl", "0", "0", "3"], ["--pentanomial", *"10000"], ["--pentanomial", *"00003"]])
def test_infinite_figures_are_null_and_a_sign_in_words(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    data = figures(capsys, *words, "--elo0", 0, "--elo1", 5)
    assert data["elo_error"] is None
    assert math.isfinite(data["llr"])
    assert 0 <= data["los"] <= 1
    assert command_line.main(["stats", *words, "--elo0", "0", "--elo1", "5"]) == 0
    text = capsys.readouterr().out
    assert "∞" in text
    assert "nan" not in text
    assert max(map(len, text.splitlines())) <= 80


def record(number: int, first: str, second: str, pair: int, result: str, position: str = START) -> GameRecord:
    swapped = int(first > second)
    return GameRecord(
        f"{number:032x}", Pairing(number, pair, swapped, 1 - swapped, pair), first, second,
        Opening(position, (), f"opening {pair}"), (MoveRecord("h2e2" if position == START else "d3", 10, 4, 100, 2.0),),
        result, "checkmate", "0123456789ab",
    )  # fmt: skip


def written(path: Path, records: list[GameRecord], game: str = "xiangqi") -> Path:
    with path.open("w", encoding="utf-8") as stream:
        writer = GameWriter(stream, "test", game)
        for record in records:
            writer.write(record)
    return path


def test_pairs_are_found_in_our_own_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scores of ann: 1 + 1, 1/2 + 0, then one game without its partner and one without a result."""
    records = [
        record(0, "ann", "bob", 0, "1-0"), record(1, "bob", "ann", 0, "0-1"),
        record(2, "ann", "bob", 1, "1/2-1/2"), record(3, "bob", "ann", 1, "1-0"),
        record(4, "ann", "bob", 2, "1-0"), record(5, "bob", "ann", 3, "*"),
    ]  # fmt: skip
    path = written(tmp_path / "games.pgn", records)
    data = figures(capsys, "--pgn", path)
    assert data["pentanomial"] == [0, 1, 0, 0, 1]
    counts = ("paired_games", "single_games", "unfinished_games")
    assert (data["player"], data["opponent"], *(data[name] for name in counts)) == ("ann", "bob", 4, 1, 1)
    assert figures(capsys, "--pgn", path, "--player", "bob")["pentanomial"] == [1, 0, 0, 1, 0]
    assert command_line.main(["stats", "--pgn", str(path)]) == 0
    assert "4 in 2 complete pairs, 1 outside complete pairs" in capsys.readouterr().out


def test_black_moves_first_in_othello(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "games.pgn", [record(0, "ann", "bob", 0, "1-0", OTHELLO)], "othello")
    assert figures(capsys, "--pgn", path, "--player", "ann")["wdl"] == [1, 0, 0]


FOREIGN = '[White "{white}"]\n[Black "{black}"]\n[Round "{round}"]\n[Result "{result}"]\n{more}\n1. e4 e5 {result}\n\n'


@pytest.mark.parametrize(
    ("rounds", "more", "paired"),
    [
        (("1", "1", "2", "2"), ("", "", "", ""), 4),
        (("1.1", "1.2", "2.1", "2.2"), ("", "", "", ""), 0),
        (("?", "?", "?", "?"), ("", "", "", ""), 0),
        (("1", "1", "1", "1"), ("", "", "", ""), 0),
        (("1", "1", "2", "2"), ("", '[FEN "elsewhere"]\n', "", ""), 2),
    ],
)
def test_foreign_games_are_pairs_only_if_their_rounds_say_so(
    rounds: tuple[str, ...], more: tuple[str, ...], paired: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "foreign.pgn"
    results = ("1-0", "1/2-1/2", "1-0", "0-1")
    path.write_text(
        "".join(
            FOREIGN.format(white="ab"[game % 2], black="ba"[game % 2], round=rounds[game], result=result, more=tags)
            for game, (result, tags) in enumerate(zip(results, more, strict=True))
        )
    )
    data = figures(capsys, "--pgn", path)
    assert data["paired_games"] == paired
    if paired == 4:
        assert data["pentanomial"] == [0, 0, 0, 1, 1]
    elif paired == 2:  # half of the games are enough
        assert data["pentanomial"] == [0, 0, 0, 0, 1]
    else:
        assert data["wdl"] == [3, 1, 0]


def test_two_games_of_a_round_with_the_same_colours_are_no_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "foreign.pgn"
    path.write_text(FOREIGN.format(white="a", black="b", round="1", result="1-0", more="") * 2)
    data = figures(capsys, "--pgn", path)
    assert (data["paired_games"], data["single_games"], data["wdl"]) == (0, 2, [2, 0, 0])


def test_a_compressed_file_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As ``--pgnout games.pgn.gz`` writes it."""
    path = written(tmp_path / "games.pgn", [record(0, "ann", "bob", 0, "1-0"), record(1, "bob", "ann", 0, "0-1")])
    packed = tmp_path / "games.pgn.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert figures(capsys, "--pgn", packed) == figures(capsys, "--pgn", path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "stats: no results; give one of --pentanomial, --wdl and --pgn"),
        (["--wdl", "1", "2", "3", "--pgn", "x"], "stats: --wdl and --pgn; give one of"),
        (["--wdl", "1", "2", "-3"], "'-3' is not a whole number"),
        (["--wdl", "1", "2", "3", "--elo0", "5", "--elo1", "5"], "must be above"),
        (["--wdl", "1", "2", "3", "--elo0", "5"], "--elo1 is missing"),
        (["--wdl", "1", "2", "3", "--elo0", "0", "--elo1", "nan"], "'nan' is not a number from -200 to 200"),
        (["--wdl", "1", "2", "3", "--alpha", "0.5"], "'0.5' is not a number between 0 and 0.5"),
        (["--wdl", "1", "2", "3", "--player", "x"], "leave them out"),
        (["--pgn", "no-such.pgn"], "no-such.pgn: cannot be read"),
        (["--wdl", "0", "0", "0"], "stats: --wdl 0 0 0: no game; expected at least one"),
        (["--pentanomial", *"00000", "--json"], "stats: --pentanomial 0 0 0 0 0: no pair; expected at least one"),
    ],
)
def test_wrong_input_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["stats", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_three_players_need_a_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [record(0, "ann", "bob", 0, "1-0"), record(1, "ann", "cat", 0, "0-1"), record(2, "cat", "bob", 0, "1-0")]
    path = written(tmp_path / "games.pgn", records)
    assert command_line.main(["stats", "--pgn", str(path), "--player", "ann"]) == 2
    assert "3 players ('ann', 'bob', 'cat'); choose two with --player and --opponent" in capsys.readouterr().err
    assert figures(capsys, "--pgn", path, "--player", "cat", "--opponent", "bob")["wdl"] == [1, 0, 0]
    assert command_line.main(["stats", "--pgn", str(path), "--player", "dan"]) == 2
    assert "--player 'dan' plays no game in it; expected one of 'ann', 'bob', 'cat'" in capsys.readouterr().err


def test_of_games_without_a_result_there_are_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "games.pgn", [record(0, "ann", "bob", 0, "*")])
    assert command_line.main(["stats", "--pgn", str(path)]) == 2
    assert capsys.readouterr().err == f"elolab: {path}: no game of 'ann' and 'bob' that counts has a result\n"


def test_a_sequential_test_before_its_first_pair_tells_its_hypotheses_alone() -> None:
    """And no score of 50 %, which none of its games has shown."""
    lines = figure_lines(figures_of(Pentanomial((0, 0, 0, 0, 0)), SequentialSettings(elo0=0, elo1=5)))
    assert [line.split()[0] for line in lines] == ["pairs", "LLR", "H0:"]
    assert "LLR             0.000, bounds" in lines[1]


def test_null_tells_an_infinite_figure_from_one_that_is_not_there_as_the_guide_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, is_below, pairs in (("--pentanomial 0 0 0 0 3", False, 3), ("--pentanomial 3 0 0 0 0", True, 3),
                                   ("--wdl 3 0 0", False, 0), ("--wdl 0 0 3", True, 0)):  # fmt: skip
        data = figures(capsys, *words.split())
        assert (data["elo"], data["elo_error"]) == (None, None)
        assert (data["los"] < 0.5, data["pairs"]) == (is_below, pairs)
        assert (data["pairs_ratio"] is None) == (pairs == 0 or not is_below)
        assert (data["elo_low" if is_below else "elo_high"]) is None
