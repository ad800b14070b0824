"""Training data: every ply of games with position, score, move and result, against pyffish and a reader of its own."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.notation.openings import split_line
from elolab.arena.notation.pgn import PortableGame, PortableMove, game_text
from elolab.arena.notation.training import TrainingFilter, training_data
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from tests.support.small_tournaments import play, records_in, write_spec

XIANGQI, OTHELLO = game_named("xiangqi"), game_named("othello")
START = "3k5/9/9/9/9/9/9/9/4R4/5K3 w - - 0 1"
LINE = ("e1e2", "d9d8", "e2d2", "d8e8", "d2d3")


def portable(result: str = "1-0", reason: str = "checkmate", moves: tuple[str, ...] = LINE) -> PortableGame:
    """Red's scores are 10, 12, ..., Black's -11, -13, ...; the first move is of an opening."""
    entries = [PortableMove(moves[0])]
    for number, move in enumerate(moves[1:], 11):
        entries.append(PortableMove(move, f"{'-' if number % 2 else '+'}0.{number}/{number} 0.1s {number}n"))
    return PortableGame((("Reason", reason),), START, tuple(entries), result)


def data(*games: PortableGame, skip: str = "", game: str = "xiangqi") -> list[dict]:
    found = training_data(games, game_named(game), "jsonl", TrainingFilter.parse(skip))
    return [json.loads(line) for line in found]


def test_a_ply_has_score_and_result_from_the_movers_view() -> None:
    first, second, third, *_ = data(portable())
    assert first == {
        "game": 0, "ply": 0, "position": START, "side": 0, "move": "e1e2", "score": None, "depth": None,
        "nodes": None, "result": 1,
    }  # fmt: skip
    assert (second["side"], second["score"], second["result"], second["depth"], second["nodes"]) == (1, -11, -1, 11, 11)
    assert (third["side"], third["score"], third["result"], third["ply"]) == (0, 12, 1, 2)
    assert {line["result"] for line in data(portable("1/2-1/2"))} == {0}
    assert [line["result"] for line in data(portable("0-1"))] == [-1, 1, -1, 1, -1]


def test_plain_is_what_the_tools_of_stockfish_write_and_pyffish_plays() -> None:
    pyffish = pytest.importorskip("pyffish")
    text = "".join(training_data([portable(), portable("0-1")], XIANGQI, "plain"))
    blocks = [dict(line.split(" ", 1) for line in block.splitlines()) for block in text.split("e\n")[:-1]]
    assert len(blocks) == 2 * (len(LINE) - 1)  # the opening's move has no score
    assert all([*block] == ["fen", "move", "score", "ply", "result"] for block in blocks)
    assert [block["result"] for block in blocks] == ["-1", "1", "-1", "1", "1", "-1", "1", "-1"]
    assert [block["score"] for block in blocks[:4]] == ["-11", "12", "-13", "14"]
    for before, after in itertools.pairwise(blocks[:4]):
        assert int(after["ply"]) == int(before["ply"]) + 1
        assert before["move"] in pyffish.legal_moves("xiangqi", before["fen"], [])
        assert pyffish.get_fen("xiangqi", before["fen"], [before["move"]]).split()[:2] == after["fen"].split()[:2]
    assert blocks[0]["move"] == "d10d9"


def test_epd_has_operations_and_is_read_again() -> None:
    lines = [*training_data([portable()], XIANGQI, "epd")]
    assert lines[0] == f'{" ".join(START.split()[:4])} sm e1e2; c9 "1-0";\n'
    assert lines[1].endswith(' b - - sm d9d8; ce -11; acd 11; acn 11; c9 "1-0";\n')
    for number, line in enumerate(lines):
        position, _ = split_line(line)
        assert XIANGQI.position(position).text.split()[:2] == XIANGQI.position(START, LINE[:number]).text.split()[:2]


def test_othello_has_boards_and_passes() -> None:
    moves = ("d3", "c5", "d6", "e3")
    game = PortableGame((), OTHELLO.start, tuple(PortableMove(move, "+1.50/4 0.1s") for move in moves), "0-1")
    lines = data(game, game="othello")
    assert [line["move"] for line in lines] == list(moves)
    assert [line["result"] for line in lines] == [-1, 1, -1, 1]
    assert lines[0]["position"] == OTHELLO.start
    (first, *_) = training_data([game], OTHELLO, "plain")
    assert first == f"fen {OTHELLO.start}\nmove d3\nscore 150\nply 0\nresult -1\ne\n"


@pytest.mark.parametrize(
    ("skip", "reason", "plies"),
    [
        ("", "checkmate", [0, 1, 2, 3, 4]),
        ("check", "checkmate", [0, 1, 2, 4]),  # the rook on d2 gives check
        ("unscored", "checkmate", [1, 2, 3, 4]),
        ("first=3", "checkmate", [3, 4]),
        ("adjudicated=2", "checkmate", [0, 1, 2, 3, 4]),
        ("adjudicated=2", "resign_adjudication", [0, 1, 2]),
        ("adjudicated=9", "draw_adjudication", []),
        ("faults", "time_forfeit", []),
        ("faults", "resignation", [0, 1, 2, 3, 4]),
        ("unscored, first=2,check", "checkmate", [2, 4]),
    ],
)
def test_plies_are_left_out_on_request(skip: str, reason: str, plies: list[int]) -> None:
    assert [line["ply"] for line in data(portable(reason=reason), skip=skip)] == plies


def test_terminations_of_other_programs_count_too() -> None:
    game = PortableGame((("Termination", "time forfeit"),), XIANGQI.start, (PortableMove("h2e2"),), "1-0")
    assert data(game, skip="faults") == []


def test_games_without_a_result_are_counted() -> None:
    left_out: list[int] = []
    assert [*training_data([portable("*")], XIANGQI, "plain", unfinished=lambda: left_out.append(1))] == []
    assert left_out == [1]


@pytest.mark.parametrize("words", ["chek", "first", "first=x", "check=2", "adjudicated=-1"])
def test_wrong_words_are_refused_by_name(words: str) -> None:
    with pytest.raises(UserError, match=r"--skip .*: cannot read .*; expected check, unscored, faults, first=N"):
        TrainingFilter.parse(words)


# The command


def test_a_runs_folder_and_its_pgn_give_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(write_spec(tmp_path, players=2, pairs=1), tmp_path / "run")
    records = records_in(tmp_path / "run")
    text = "\n".join(game_text(record, "cup", XIANGQI) for record in records)
    (tmp_path / "games.pgn").write_text(text, "utf-8")
    found = {}
    for target in (["plain"], ["jsonl"], ["epd", "--every-ply"]):
        for source in ("run", "games.pgn"):
            out = tmp_path / f"{source}.{target[0]}"
            line = ["convert", str(tmp_path / source), "--to", *target, "--out", str(out), "--skip", "check"]
            assert command_line.main(line) == 0
            found[source, target[0]] = out.read_text("utf-8")
        assert found["run", target[0]] == found["games.pgn", target[0]]
    lines = [json.loads(line) for line in found["run", "jsonl"].splitlines()]
    scored = [line for line in lines if line["score"] is not None]
    assert len(scored) == found["run", "plain"].count("\ne\n")
    moves = {(number, ply): entry for number, record in enumerate(records) for ply, entry in enumerate(record.moves)}
    for line in scored:
        entry = moves[line["game"], line["ply"]]
        assert (line["move"], line["score"], line["nodes"]) == (entry.move, entry.score, entry.nodes)
    assert command_line.main(["convert", str(tmp_path / "run"), "--to", "wxf"]) == 0
    assert capsys.readouterr().out.count("[Event ") == len(records)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "wxf", "--skip", "check"], "only training data skips plies"),
        (["--to", "plain", "--every-ply"], "give --to epd too"),
        (["--to", "plain", "--plies", "3"], "shortened games have no result"),
        (["--to", "jsonl", "--skip", "chess"], "cannot read 'chess'"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "games.pgn").write_text("1. h2e2 1-0\n")
    assert command_line.main(["convert", str(tmp_path / "games.pgn"), *words]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert message in said
