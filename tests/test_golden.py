"""What must not change unnoticed: the help and the errors of the command line, and the games of fixed tournaments."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import run
from elolab.arena.tournament_reader import spec_from_mapping

ROOT = Path(__file__).parent.parent
Golden = Callable[[str, str], None]

ERRORS = (
    "tournamnet",
    "tournament",
    "tournament no-such-file.toml",
    "tournament empty.toml",
    "tournament misspelled.toml",
    "tournament wrong-value.toml",
    "tournament too-many-rounds.toml",
    "tournament key-of-another-format.toml",
    "tournament two-for-third-place.toml",
    "tournament nobody-left-to-challenge.toml",
    "tournament too-few-openings.toml",
    "tournament default material --format roundrobbin",
    "tournament default material --thrid-place",
    "match default",
    "match default defualt",
    "match default material --limit nodes=0",
    "match default material --limit node=100",
    "match default material --game shogi",
    "match default material --pairs x",
    "match default material --openings nowhere.epd",
    "match default material --out plain.txt",
    "sprt default material --elo0 5 --elo1 5",
    "report .",
    "report . --figures gif",
    "report nowhere",
    "replay nowhere 0",
    "check --protocol uci",
    "check -- true",
    "check --protocol ucii -- sh",
    "check --protocol gtp --game xiangqi -- sh",
    "check --protocol uci --only stp -- sh",
    "check --protocol uci --option Hash -- sh",
    "check --protocol uci -- no-such-engine",
    "stats",
    "stats --wdl 1 2",
    "openings check nowhere.epd",
    "tune misspelled-study.toml",
    "validate nowhere",
    "ablate unknown-feature.toml",
    "ablate absent-engine.toml",
    "ablate unfilled.toml",
    "claims --only C99",
    "fit-evaluation --game othello --phases 7",
    "engine --game othello --protocol ucci",
    "analyse --game othello nonsense",
    "solve --game xiangqi",
    "perft --depth -1",
    "bench --set null_depth=99",
    "parameters no_such_parameter",
    "stats --pentanomial 1 2 3 4 5 --language fr",
)
"""Command lines that are refused."""
TWO_PLAYERS = 'limit = "nodes=10"\npairs = 2\nplayers = [{ name = "a" }, { name = "b" }]\n'
FILES = {
    "empty.toml": "",
    "misspelled.toml": 'pairs = 2\nlimt = "nodes=10"\n[[players]]\nname = "a"\n[[players]]\nname = "b"\n',
    "wrong-value.toml": (
        'limit = "nodes=10"\npairs = 2\n[[players]]\nname = "a"\n[[players]]\nname = "b"\nset = { null_depth = 99 }\n'
    ),
    "too-many-rounds.toml": TWO_PLAYERS + 'format = "swiss"\nrounds = 3\n',
    "key-of-another-format.toml": TWO_PLAYERS + 'format = "swiss"\nthird_place = true\n',
    "two-for-third-place.toml": TWO_PLAYERS + 'format = "knockout"\nthird_place = true\n',
    "nobody-left-to-challenge.toml": TWO_PLAYERS + 'format = "gauntlet"\ngauntlet_players = 2\n',
    "too-few-openings.toml": TWO_PLAYERS + 'format = "knockout"\ntiebreak_pairs = 50000\n',
    "misspelled-study.toml": 'limit = "nodes=10"\nbudget = { games = 100 }\nparameters = ["null_dept"]\n',
    "unknown-feature.toml": 'limit = "nodes=10"\npairs = 2\n[[leave_one_out]]\nfeatures = ["null_mov"]\n',
    "absent-engine.toml": (
        'limit = "nodes=10"\npairs = 20\n[engine]\ncommand = "no-such-engine"\n'
        '[[values]]\noption = "Hash"\nvalues = [1]\n'
    ),
    "unfilled.toml": 'limit = "nodes=10"\npairs = 20\n[builds]\nold = "engine"\nnew = "engine --hash {hash}"\n',
    "plain.txt": "a file, not a folder\n",
}
"""What lies in the folder in which they are given."""


@pytest.mark.parametrize("name", ["", *(command.name for command in command_line.COMMANDS)])
def test_the_help(
    name: str, golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert command_line.main([name, "--help"] if name else ["--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    golden(f"help/{name or 'elolab'}.txt", text)


def test_the_errors(
    golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    lines = []
    for words in ERRORS:
        code = command_line.main(words.split())
        printed = capsys.readouterr()
        assert printed.out == "", words
        assert code == 2, words
        lines += [f"$ elolab {words}", printed.err.replace(str(tmp_path), ".").replace(str(ROOT), "").strip(), ""]
    golden("errors.txt", "\n".join(lines))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


@pytest.mark.parametrize(("name", "limit"), [("xiangqi", "nodes=300"), ("othello", "depth=3")])
def test_the_games_of_a_fixed_tournament(name: str, limit: str, golden: Golden, tmp_path: Path) -> None:
    players = [
        {"name": "default"},
        {"name": "no killers", "set": {"killers": 0}},
        {"name": "alpha-beta", "set": {"algorithm": "alphabeta"}},
    ]
    content = {
        "name": "golden", "game": name, "limit": limit, "pairs": 2, "seed": 7, "players": players,
        "adjudication": {"maximum_plies": 120},
    }  # fmt: skip
    run(spec_from_mapping(content, "golden.toml"), tmp_path, concurrency=2, stream=io.StringIO())
    with Store(tmp_path, read_only=True) as store:
        rows = [
            f"{game.pairing.number:2} {game.first} - {game.second}: {game.result} {game.reason} {game.digest}"
            for game in store.records()
        ]
        assert len(rows) == 12, "a golden file without its games would say nothing"
        golden(f"tournament-{name}.txt", "\n".join([*rows, f"all: {store.digest()}", ""]))


def test_every_error_is_one_line_that_says_what_and_what_then() -> None:
    text = (Path(__file__).parent / "data" / "golden" / "errors.txt").read_text("utf-8")
    for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        _, *lines = block.strip().splitlines()
        assert len(lines) == 1, block
        assert lines[0].startswith("elolab: "), block
