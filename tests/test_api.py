"""``import elolab``: what it gives to scripts and notebooks, and what it says where a user's files hide ours."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import io
import math
import os
import pickle
import pydoc
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import elolab
from elolab import command_line
from elolab.arena.play.store import Store
from elolab.arena.players.registry import protocol_named
from tests.support.documents import ROOT, blocks_in

LIMIT = "nodes=60"
STARTS_SECONDS = 60

pytestmark = pytest.mark.usefixtures("without_charts", "without_tuning_charts")


# The surface


def test_importing_it_loads_nothing_heavy_and_naming_it_all_does() -> None:
    code = (
        "import sys, elolab\n"
        "heavy = {'numba', 'numpy', 'pandas', 'optuna', 'matplotlib'}\n"
        "heavy |= {'elolab.engine', 'elolab.arena', 'elolab.tuning'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
        "assert set(elolab.__all__) <= set(dir(elolab))\n"
        "elolab.UserError\n"
        "assert not {'numba', 'pandas', 'optuna'} & sys.modules.keys()\n"
        "from elolab import load_games, tune\n"
        "assert not {'optuna', 'matplotlib'} & sys.modules.keys()\n"
    )
    done = run_python("-c", code, folder=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", elolab.__all__)
def test_every_name_is_documented_and_there_for_type_checkers(name: str) -> None:
    documented = inspect.getdoc(getattr(elolab, name))
    assert documented
    assert len(documented) > 20
    typed = Path(elolab.__file__).read_text("utf-8").partition("if TYPE_CHECKING:")[2].partition("__all__")[0]
    assert re.search(rf"\b{name}\b", typed)


def test_names_are_offered_sorted_and_an_unknown_one_is_an_attribute_error() -> None:
    assert elolab.__all__ == sorted(elolab.__all__)
    with pytest.raises(AttributeError, match="'elolab' has no attribute 'play'"):
        elolab.play  # noqa: B018 - the access is what is tested


@pytest.mark.parametrize("package", ["elolab", "engine", "arena", "tuning"])
def test_packages_say_that_they_are_typed(package: str) -> None:
    import tomllib

    assert (ROOT / package / "py.typed").read_text() == ""
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    assert "py.typed" in shipped["*"]


# Playing


@pytest.fixture(scope="module")
def match() -> elolab.PlayedMatch:
    return elolab.play_match("default", {"quiescence": "off"}, limit=LIMIT, pairs=4, concurrency=2)


@pytest.mark.integration
def test_a_match_of_a_preset_and_of_settings(match: elolab.PlayedMatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert (match.a, match.b, match.planned, match.pairs) == ("default", "quiescence off", 8, 4)
    assert sum(match.pentanomial) == 4
    assert match.score > 0.5
    assert match.elo_low <= match.elo <= match.elo_high
    assert (match.verdict, match.llr, match.interrupted) == (None, None, False)
    assert f"pentanomial={match.pentanomial}" in repr(match)
    assert "figures" not in repr(match)
    assert capfd.readouterr() == ("", "")


def test_games_as_a_table(match: elolab.PlayedMatch) -> None:
    games = match.games
    assert list(games.number) == list(range(8))
    assert list(games["pair"]) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert (games["first"] == "default").sum() == 4
    points = games.points.where(games["first"] == "default", 1 - games.points)
    assert points.sum() / 8 == match.score
    assert games.counted.all()
    assert set(games.result) <= {"1-0", "0-1", "1/2-1/2"}
    assert documented_columns(elolab.load_games) == set(games.columns)


def test_moves_as_a_table(match: elolab.PlayedMatch) -> None:
    moves, games = match.moves, match.games.set_index("key")
    assert documented_columns(elolab.load_moves) == set(moves.columns)
    assert len(moves) == games.plies.sum()
    assert (moves.groupby("key").nodes.sum() == games.nodes.loc[sorted(games.index)]).all()
    assert str(moves.score_cp.dtype) == "Int64"
    assert list(moves.ply[:3]) == [1, 2, 3]
    assert (moves.mover == [games.loc[key][side] for key, side in zip(moves.key, moves.side, strict=True)]).all()
    with Store(match.folder, read_only=True) as store:
        record = store.records()[0]
    own = moves[moves.key == record.key]
    assert list(own.move) == [entry.move for entry in record.moves]
    assert list(own.score_cp) == [entry.score for entry in record.moves]


def test_a_portable_file_as_tables(match: elolab.PlayedMatch) -> None:
    file = match.write_report().parent / "games.pgn"
    games, moves = elolab.load_games(file), elolab.load_moves(file)
    for column in ("number", "first", "second", "result", "points", "reason", "plies", "counted", "nodes"):
        assert list(games[column]) == list(match.games[column]), column
    for column in ("number", "ply", "side", "mover", "move", "depth", "nodes"):
        assert list(moves[column]) == list(match.moves[column]), column
    assert list(moves.score_cp[:20]) == list(match.moves.score_cp[:20])
    assert list(moves.dtypes) == list(match.moves.dtypes)


def test_what_other_programs_write_lacks_figures(tmp_path: Path) -> None:
    (tmp_path / "plain.pgn").write_text('[Red "A"]\n[Black "B"]\n\n1. C2=5 N8+7 2. N2+3 *\n', "utf-8")
    moves = elolab.load_moves(tmp_path / "plain.pgn")
    assert list(moves.mover) == ["A", "B", "A"]
    assert moves[["score_cp", "depth", "nodes", "time_ms"]].isna().all(axis=None)
    assert elolab.load_games(tmp_path / "plain.pgn").points.isna().all()


def test_nothing_to_load_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(elolab.UserError, match="no such folder or file of games"):
        elolab.load_games(tmp_path / "nothing")
    with pytest.raises(elolab.UserError, match=re.escape(str(tmp_path))):
        elolab.load_moves(tmp_path)


@pytest.mark.integration
def test_a_temporary_folder_goes_with_its_result() -> None:
    played = elolab.play_match("default", "default", limit=LIMIT, pairs=1)
    folder = played.folder
    assert (folder / "games.sqlite").is_file()
    assert played.b == "default (2)"
    del played
    gc.collect()
    assert not folder.exists()


@pytest.mark.integration
def test_games_forfeited_by_faults_are_told(match: elolab.PlayedMatch) -> None:
    mock = [sys.executable, "-I", "-S", ROOT / "tests" / "support" / "mock_engines.py", "exit", "at=1"]
    mine = {"name": "mine", "protocol": "uci", "command": mock}
    played = elolab.play_match(mine, "default", limit=LIMIT, pairs=1)
    assert played.forfeits == 2
    assert "forfeits=2" in repr(played)
    [fault] = played.faults.to_dict("records")
    assert (fault["player"], fault["reason"], fault["games"], fault["number"]) == ("mine", "crash", 2, 0)
    assert "assertion failed: alpha < beta" in fault["text"]
    players = [mine, {"name": "default"}]
    assert elolab.play_tournament({"limit": LIMIT, "pairs": 1, "players": players}).forfeits == 2
    assert match.forfeits == 0
    assert list(match.faults.columns) == ["player", "reason", "games", "number", "text"]
    assert match.faults.empty


@pytest.mark.integration
def test_a_result_from_another_process_has_its_games() -> None:
    played = elolab.play_match("default", "default", limit=LIMIT, pairs=1)
    folder, sent = played.folder, pickle.dumps(played)
    del played
    gc.collect()
    assert not folder.exists()
    received = pickle.loads(sent)
    assert len(received.games) == 2
    assert set(received.moves.key) == set(received.games.key)
    with pytest.raises(elolab.UserError, match=re.escape(str(folder))):
        received.write_report()


def test_a_folder_keeps_the_games_and_is_extended(tmp_path: Path) -> None:
    given = {"limit": LIMIT, "folder": tmp_path / "match", "seed": 3}
    one = elolab.play_match("default", {"null_move": False}, pairs=1, **given)
    assert len(one.games) == 2
    progress = io.StringIO()
    two = elolab.play_match("default", {"null_move": False}, pairs=2, progress=progress, **given)
    assert list(two.games.key[:2]) == list(one.games.key)
    assert "4" in progress.getvalue()
    with pytest.raises(elolab.UserError, match="holds another tournament"):
        elolab.play_match("default", {"null_move": False}, pairs=2, **given | {"seed": 4})


@pytest.mark.integration
def test_a_sequential_test_ends_when_it_is_decided() -> None:
    test = elolab.play_match(
        "default", {"quiescence": "off"}, limit=LIMIT, sprt={"elo0": 0, "elo1": 100, "batch_pairs": 2}, pairs=60
    )
    assert test.verdict == "H1 accepted"
    assert test.planned == 2 * test.pairs < 120
    assert test.llr is not None
    assert test.llr > 0
    assert {"unbiased_elo", "unbiased_elo_low", "unbiased_elo_high"} <= test.figures.keys()
    assert test.games.counted.sum() == test.planned


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": "defalt"}, "did you mean 'default'"),
        ({"a": {"null_mov": False}}, "null_mov"),
        ({"a": {"null_move": 7}}, "null_move = 7"),
        ({"a": {"protocol": "uci", "command": ["no-such-program"]}}, "cannot be started"),
        ({"game": "shogi"}, "shogi"),
        ({"limit": "nodes"}, "limit 'nodes'"),
        ({"pairs": 0}, "pairs = 0"),
        ({"sprt": {"elo2": 1}}, "elo2"),
        ({"openings": "nowhere"}, "nowhere"),
    ],
)
def test_wrong_input_is_one_line(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(elolab.UserError) as raised:
        elolab.play_match(**{"a": "default", "b": "no-null-move", "limit": LIMIT, "pairs": 1} | arguments)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.integration
def test_remedies_name_arguments_and_not_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder, program, name = tmp_path / "match", tmp_path / "program", str(tmp_path / "program")
    program.touch()
    Path("engines.toml").write_text('[default]\ncommand = "other"\n')
    given = {"a": "default", "b": "no-null-move", "limit": LIMIT, "pairs": 1, "folder": folder}

    def remedy(call: Callable[..., Any], *positional: Any, **named: Any) -> str:
        with pytest.raises(elolab.UserError) as raised:
            call(*positional, **named)
        return str(raised.value)

    assert 'give {"engine": "default"} or {"preset": "default"}' in remedy(elolab.play_match, **given)
    Path("engines.toml").unlink()
    match = elolab.play_match(**given)
    other = remedy(elolab.play_match, **given | {"seed": 2})
    assert other.endswith("; give another folder with folder=..., or remove that one")
    questions = {"limit": LIMIT, "pairs": 20, "leave_one_out": [{"features": ["null_move"]}]}
    assert "not ablation; give another folder with folder=..." in remedy(elolab.ablate, questions, folder=folder)
    study = {"limit": LIMIT, "budget": {"games": 400}, "dimensions": {"lmr_divisor": {}}}
    assert "not tuning; give another folder with folder=..." in remedy(elolab.tune, study, folder=folder)
    with Store(folder) as store:
        store.record_metadata({"engine_identity": "0123456789ab"})
        assert "stop it, or give another folder with folder=..." in remedy(elolab.play_match, **given)
    changed = remedy(elolab.play_match, **given)
    assert "anyway add accept_engine_change=True, otherwise give another folder with folder=..." in changed
    (folder / "games.sqlite").write_bytes(b"no database" * 500)
    assert "give another folder with source=..." in remedy(elolab.load_games, folder)
    for table in ("games", "moves", "faults"):
        assert "give another folder with folder=..." in remedy(getattr, match, table)
    assert "give another folder with folder=..." in remedy(match.write_report)

    with_words = remedy(elolab.play_match, **given | {"a": f"{name} --threads 1", "folder": None})
    assert f'with arguments it is {{"command": ["{name}", ...]}}; a player is' in with_words
    with ThreadPoolExecutor(1) as pool:
        on_cluster = given | {"limit": "move_time=0.01", "cluster": pool, "folder": tmp_path / "cluster"}
        assert remedy(elolab.play_match, **on_cluster).endswith("or allow it with wall_clock_on_cluster=True")
    monkeypatch.setattr("elolab.arena.players.detect.greet", lambda *given: (protocol_named("gtp"), ""))
    assert 'add game="othello" (in a file' in remedy(elolab.play_match, {"command": ["x"]}, "default", limit=LIMIT)


def test_what_was_given_is_quoted_as_it_was(tmp_path: Path) -> None:
    player = {"name": "other", "protocol": "uci", "command": ["no-such-program", "--out", "--cluster"]}
    with pytest.raises(elolab.UserError, match="no-such-program") as raised:
        elolab.play_match(player, "default", limit=LIMIT, pairs=1)
    assert "=..." not in str(raised.value)


def test_a_tournament_of_a_mapping_and_of_a_file(tmp_path: Path) -> None:
    players = [{"name": "default"}, {"name": "blind", "set": {"quiescence": "off"}}, {"preset": "no-null-move"}]
    played = elolab.play_tournament({"limit": LIMIT, "pairs": 1, "players": tuple(players)}, concurrency=2)
    assert (played.planned, played.stored, played.unavailable) == (6, 6, {})
    assert set(played.standings.player) == {"default", "blind", "no-null-move"}
    assert len(played.crosstable) == 6
    assert played.endings.games.sum() == 6
    assert played.write_report().is_file()
    file = tmp_path / "small.toml"
    entries = "".join(f'[[players]]\nname = "{name}"\n' for name in ("a", "b"))
    file.write_text(f'game = "othello"\nlimit = "{LIMIT}"\npairs = 1\n{entries}', "utf-8")
    again = elolab.play_tournament(str(file), folder=tmp_path / "run")
    assert (again.name, again.folder) == ("small", tmp_path / "run")
    assert set(again.moves.move[again.moves.ply < 3].str.len()) == {2}


@pytest.mark.integration
def test_commands_go_on_with_what_python_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    match = elolab.play_match("no-null-move", {"hash_mb": 1}, limit=LIMIT, pairs=1, folder=folder)
    page = match.write_report().read_text("utf-8")
    assert f"elolab tournament {folder / 'specification.toml'}" in page
    file = folder / "specification.toml"
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["tournament", str(file), "--out", str(folder), "--dry-run"]) == 0
    assert "2 games, 2 of them stored in" in capsys.readouterr().out
    file.write_text(file.read_text("utf-8").replace("pairs = 1", "pairs = 2"), "utf-8")
    assert len(elolab.play_tournament(file, folder=folder).games) == 4


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": True, "c": '1\n"ü\\', "d": 0.5, "e": [], "f": {}},
        {"table": {"key": [1, 2], "inner": {"x": {"y": "z"}}}, "after": [[1], []], "list": [{"a": {"b c": 1}}, {}]},
    ],
)
def test_plain_data_as_toml(data: dict[str, Any]) -> None:
    import tomllib

    from elolab.runs import toml_text

    assert tomllib.loads(toml_text(data)) == data


# Improving


def test_an_ablation_as_tables(tmp_path: Path) -> None:
    specification = {
        "limit": LIMIT,
        "pairs": 8,
        "rounds": 2,
        "margin": 30,
        "leave_one_out": [{"features": ["quiescence"]}],
        "nodes_to_depth": {"depth": 2, "positions": 2},
    }
    ablation = elolab.ablate(specification, folder=tmp_path / "run", concurrency=2)
    assert list(ablation.rows.label) == ["without quiescence"]
    assert ablation.rows.games[0] == ablation.stored == len(ablation.games)
    assert (ablation.margin, ablation.interrupted) == (30, False)
    assert len(ablation.effects) == len(ablation.cells) == 0
    assert set(ablation.depths.setting) == {"default", "quiescence off"}
    page = ablation.write_report()
    assert page == tmp_path / "run" / "report.html"
    assert f"elolab ablate {page.parent / 'specification.toml'}" in page.read_text("utf-8")
    with pytest.raises(elolab.UserError, match=r"^ablation: margin"):
        elolab.ablate(specification | {"margin": -1})


@pytest.mark.integration
def test_a_tuning_by_games(tmp_path: Path) -> None:
    specification = {
        "limit": "nodes=20",
        "set": {"quiescence": False},
        "adjudication": {"maximum_plies": 60},
        "budget": {"games": 60},
        "round_pairs": 4,
        "dimensions": {"quiescence": {}},
        "validation": {"maximum_pairs": 4, "slow": "off"},
    }
    study = elolab.tune(specification, folder=tmp_path / "run", concurrency=2)
    assert study.best is not None
    assert set(study.best) == {"quiescence"}
    assert list(study.rounds["round"]) == list(range(1, len(study.rounds) + 1))
    assert list(study.rounds.total_pairs) == list(study.rounds.pairs.cumsum())
    assert list(study.rounds.pairs) == list(study.rounds[["LL", "LD", "even", "WD", "WW"]].sum(axis=1))
    study.write_report()
    assert study._repr_html_().startswith("<iframe")
    written = pandas.read_csv(study.folder / "rounds.csv")
    assert list(written.columns) == list(study.rounds.columns)
    assert list(written["round"]) == list(study.rounds["round"])
    assert set(study.rounds.quiescence) <= {False, True}
    assert study.elo is not None
    assert study.elo_low is not None
    assert study.elo_high is not None
    assert study.elo_low_90 is not None
    assert study.elo_high_90 is not None
    assert study.elo_low <= study.elo_low_90 <= study.elo <= study.elo_high_90 <= study.elo_high
    assert (study.left_to_gain is not None) == study.is_base
    wide, narrow = study.elo_high - study.elo_low, study.elo_high_90 - study.elo_low_90
    assert wide == pytest.approx(narrow * 1.959964 / 1.644854, rel=1e-4)
    assert len(study.games) >= 44
    assert study.preset is None or study.preset.parent == tmp_path / "run"
    assert len(study.validations) == (0 if study.is_base else 1)


RESULTS = ("PlayedMatch", "PlayedTournament", "PlayedStudy", "Trials", "PlayedAblation", "SearchResult", "Line")


@pytest.mark.parametrize("name", RESULTS)
def test_help_of_what_is_returned_explains_its_attributes_and_columns(name: str) -> None:
    kind = getattr(elolab, name)
    shown = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    for field in dataclasses.fields(kind):
        assert field.name.startswith("_") or f"- {field.name}: " in shown
    columns = {"PlayedStudy": "``total_pairs``", "PlayedAblation": "``simultaneous_low``", "Trials": "``trial``",
               "PlayedTournament": "``rating_error``"}  # fmt: skip
    assert columns.get(name, "") in shown


def test_everything_that_is_returned_can_be_annotated() -> None:
    """Classes of ours that public functions and methods return, and those among their fields."""
    asked: list[Any] = [getattr(elolab, name) for name in elolab.__all__]
    methods = [method for kind in asked if isinstance(kind, type) for name, method in vars(kind).items()
               if name[0] != "_" and callable(method)]  # fmt: skip
    texts = [str(function.__annotations__.get("return", "")) for function in asked + methods
             if hasattr(function, "__annotations__")]  # fmt: skip
    texts += [str(text) for kind in asked if isinstance(kind, type)
              for name, text in vars(kind).get("__annotations__", {}).items() if name[0] != "_"]  # fmt: skip
    known = {"DataFrame", "Any", "None", "Path", "Callable"}
    found = {word for text in texts for word in re.findall(r"\b[A-Z]\w+", text)} - known
    assert {"PlayedStudy", "Trials", "SearchResult", "Line"} <= found
    assert found - {"Value"} <= set(elolab.__all__)


DIMENSIONS = {"null_depth": {"low": 2, "high": 5}, "lmr_divisor": {"low": 120, "high": 400}, "null_move": {}}


def distance(settings: dict[str, Any]) -> float:
    """Greatest, 0, at one corner of the space."""
    return -abs(settings["null_depth"] - 5) - abs(settings["lmr_divisor"] - 400) / 100 - (not settings["null_move"])


def test_a_tuning_by_a_function_finds_its_maximum() -> None:
    progress = io.StringIO()
    found = elolab.tune(objective=distance, dimensions=DIMENSIONS, trials=25, progress=progress)
    assert list(found.trials.columns) == ["trial", "value", "null_depth", "lmr_divisor", "null_move"]
    assert found.base_value == found.trials.value[0]
    assert found.best_value == found.trials.value.max() > found.base_value
    assert found.best == {name: found.trials[name][found.trials.value.idxmax()] for name in DIMENSIONS}
    assert distance(found.best) == found.best_value
    assert progress.getvalue().count("\n") == 25
    without = found.trials[~found.trials.null_move.astype(bool)]
    assert (without.null_depth == found.trials.null_depth[0]).all()  # it has no effect there


@pytest.mark.parametrize(
    "sampler", ["tpe", *(pytest.param(name, marks=pytest.mark.integration) for name in ("cmaes", "random"))]
)
def test_a_stopped_tuning_by_a_function_goes_on_as_if_it_had_not_been(tmp_path: Path, sampler: str) -> None:
    given: dict[str, Any] = {"dimensions": DIMENSIONS, "sampler": sampler, "seed": 7}
    whole = elolab.tune(objective=distance, trials=16, **given)
    evaluated = []

    def failing(settings: dict[str, Any]) -> float:
        if len(evaluated) == 11:
            raise KeyboardInterrupt
        evaluated.append(settings)
        return distance(settings)

    with pytest.raises(KeyboardInterrupt):
        elolab.tune(objective=failing, trials=16, folder=tmp_path / "run", **given)
    evaluated.clear()
    assert elolab.tune(objective=failing, trials=16, folder=tmp_path / "run", **given).trials.equals(whole.trials)
    assert len(evaluated) == 5
    with pytest.raises(elolab.UserError, match="holds trials of another search: seed = 7 there, 8 now"):
        elolab.tune(objective=distance, trials=16, folder=tmp_path / "run", **given | {"seed": 8})


def test_a_function_is_told_the_settings_of_its_base() -> None:
    told: list[dict[str, Any]] = []

    def objective(settings: dict[str, Any]) -> float:
        told.append(settings)
        return 0.0

    elolab.tune(objective=objective, dimensions=["lmr_divisor"], base="no-null-move", settings={"hash_mb": 2}, trials=2)
    assert [set(settings) for settings in told] == [{"null_move", "hash_mb", "lmr_divisor"}] * 2
    assert (told[0]["null_move"], told[0]["hash_mb"]) == (False, 2)
    assert elolab.Engine(settings=told[1]).settings["lmr_divisor"] == told[1]["lmr_divisor"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dimensions": ["null_dept"]}, "null_dept"),
        ({"dimensions": {"null_depth": {"low": 4, "high": 2}}}, "low = 4 and high = 2"),
        ({"sampler": "duel"}, "sampler = 'duel'"),
        ({"game": "shogi"}, "shogi"),
        ({"objective": lambda settings: math.nan}, "the objective is nan"),
        ({"objective": lambda settings: "3"}, "the objective is '3'"),
        ({"objective": lambda settings: None}, "the objective is None"),
        ({"objective": 3}, "objective = 3, expected a function"),
        ({"trials": 0}, "trials = 0, expected a whole number of at least 1"),
        ({"trials": 2.5}, "trials = 2.5"),
        ({"dimensions": {}}, "dimensions = {}"),
        ({"dimensions": 3}, "dimensions = 3"),
        ({"dimensions": {"null_depth": 3}}, "[dimensions.null_depth]"),
        ({"dimensions": {3: {}}}, "'3'"),
        ({"settings": [1]}, "set = [1]"),
        ({"game": None}, "unknown game 'None'"),
        ({"folder": 3}, "folder = 3, expected a path"),
    ],
)
def test_a_tuning_by_a_function_names_what_is_wrong(arguments: dict[str, Any], words: str) -> None:
    given = {"objective": distance, "dimensions": DIMENSIONS, "trials": 2} | arguments
    with pytest.raises(elolab.UserError) as raised:
        elolab.tune(**given)
    assert words in str(raised.value)


def test_values_of_numpy_and_pandas_are_as_good_as_pythons_own(tmp_path: Path) -> None:
    settings = {"hash_mb": np.int64(2), "null_move": np.False_}
    numbers: dict[str, Any] = {"pairs": np.int64(1), "seed": np.int64(3), "concurrency": np.int64(1)}
    match = elolab.play_match("default", settings, limit="depth=1", folder=tmp_path, **numbers)
    assert match.pairs == 1
    written = tomllib.loads((tmp_path / "specification.toml").read_text(encoding="utf-8"))
    assert written["players"][1]["set"] == {"hash_mb": 2, "null_move": False}
    choices = {"quiescence": {"choices": np.array(["off", "on"])}}
    assert set(elolab.tune(objective=lambda settings: 1.0, dimensions=choices, trials=1).best) == {"quiescence"}


def test_the_sampler_told_instead_of_one_without_its_package_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elolab.tuning.study.sampler.find_spec", lambda name: None)
    with pytest.raises(elolab.UserError, match=r"'cmaes' needs .* use sampler = 'tpe'"):
        elolab.tune(objective=distance, dimensions=DIMENSIONS, sampler="cmaes")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": None}, "player = None, expected a preset's name"),
        ({"a": 3}, "player = 3"),
        ({"a": {"nul_move": 1}}, "'nul_move'"),
        ({"openings": 3}, "openings = 3"),
        ({"sprt": "yes"}, "sprt = 'yes', expected True"),
        ({"concurrency": 0}, "concurrency = 0, expected a whole number of at least 1"),
        ({"concurrency": "2"}, "concurrency = '2'"),
        ({"folder": 3}, "folder = 3, expected a path"),
        ({"folder": ""}, "folder = '', expected a path"),
        ({"progress": True}, "progress = True, expected a text stream such as sys.stderr"),
        ({"cluster": 4}, "cluster = 4, expected the address of a Dask scheduler"),
        ({"cluster": "nowhere"}, "cluster = 'nowhere', expected the address of a Dask scheduler"),
        ({"accept_engine_change": "no"}, "accept_engine_change = 'no', expected True or False"),
        ({"wall_clock_on_cluster": 1}, "wall_clock_on_cluster = 1, expected True or False"),
    ],
)
def test_a_match_names_what_is_wrong(arguments: dict[str, Any], words: str) -> None:
    given = {"a": "default", "b": "fenon", "pairs": 1, "limit": "nodes=10"} | arguments
    with pytest.raises(elolab.UserError) as raised:
        elolab.play_match(**given)
    assert words in str(raised.value)


def test_restricted_moves_are_named_as_they_were_given() -> None:
    with pytest.raises(elolab.UserError, match="search_moves = None, expected a list of moves"):
        elolab.Engine().search(search_moves=None)  # type: ignore[arg-type]


def test_a_program_is_given_as_a_path_too(tmp_path: Path) -> None:
    program = tmp_path / "nothing there"
    for command in (program, [program]):
        with pytest.raises(elolab.UserError, match="nothing there"):
            elolab.play_match({"name": "mine", "protocol": "uci", "command": command}, "default", pairs=1)


def test_a_specification_of_a_wrong_kind_is_named() -> None:
    for play in (elolab.play_tournament, elolab.tune, elolab.ablate):
        with pytest.raises(elolab.UserError, match="specification = 3, expected a TOML file"):
            play(3)  # type: ignore[operator]


def test_the_two_kinds_of_tuning_do_not_mix() -> None:
    for given in ({}, {"objective": distance}, {"specification": "x", "objective": distance, "dimensions": ["a"]}):
        with pytest.raises(TypeError, match=r"tune\(\) takes"):
            elolab.tune(**given)


# The engine


def test_the_engine_answers_about_positions() -> None:
    engine = elolab.Engine("xiangqi", {"hash_mb": 1})
    result = engine.search(moves="h2e2 h9g7", limit="depth=2", lines=2)
    assert len(result.lines) == 2
    assert result.move in engine.legal_moves(moves=["h2e2", "h9g7"])
    assert engine.search(limit="depth=1", search_moves="a0a1").move == "a0a1"
    assert isinstance(engine.static_score(), int)
    assert "a b c" in engine.diagram()
    assert (engine.game, engine.settings["hash_mb"]) == ("xiangqi", 1)
    engine.new_game()
    assert elolab.Engine("othello", "default").legal_moves() == ["d3", "c4", "f5", "e6"]


def test_copies_of_an_engine_have_memory_of_their_own() -> None:
    engine = elolab.Engine("xiangqi", {"hash_mb": 1, "null_move": False})
    first = engine.search(limit="nodes=500")
    for copied in (copy.copy(engine), copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        assert (copied.game, copied.settings) == (engine.game, engine.settings)
        found = copied.search(limit="nodes=500")
        assert (found.move, found.score, found.nodes) == (first.move, first.score, first.nodes)


def test_threads_search_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    searching, together = [], []

    def search(self: Any, *_: Any, **__: Any) -> None:
        searching.append(self)
        together.append(len(searching))
        time.sleep(0.02)
        searching.pop()

    monkeypatch.setattr("elolab.engine.engine.Engine.search", search)
    engine = elolab.Engine()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: engine.search(), range(4)))
    assert together == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: elolab.Engine("shogi"),
        lambda: elolab.Engine(settings={"nothing": 1}),
        lambda: elolab.Engine(settings="nothing"),
        lambda: elolab.Engine().search("nonsense"),
        lambda: elolab.Engine().search(moves="a0a9"),
        lambda: elolab.Engine().search(limit="many"),
        lambda: elolab.Engine(3),
        lambda: elolab.Engine().search(math.nan),
        lambda: elolab.Engine().search(lines="2"),
        lambda: elolab.Engine().legal_moves(moves=3),
        lambda: elolab.Engine().search(search_moves=[3]),
        lambda: elolab.Engine(settings=["null_move"]),
        lambda: elolab.Engine(settings=""),
        lambda: elolab.load_games(3),
        lambda: elolab.load_games(__file__, game=None),
    ],
)
def test_the_engine_and_tables_refuse_in_one_line(wrong: Any) -> None:
    with pytest.raises(elolab.UserError):
        wrong()


def test_the_examples_in_docstrings_hold() -> None:
    import doctest

    import elolab.analysis

    assert doctest.testmod(elolab.analysis) == (0, 4)


@pytest.mark.slow
def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks_in("docs/python.md", "python"):
        exec(block, names)
    assert names["found"].base_value <= names["found"].best_value
    for page in ("docs/python.md", "docs/python.zh-CN.md"):
        assert set(elolab.__all__) <= set(re.findall(r"\w+", (ROOT / page).read_text("utf-8"))), page


# A user's files of the same names


def run_python(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=STARTS_SECONDS
    )


@pytest.mark.integration
def test_files_of_ones_own_are_no_trouble(tmp_path: Path) -> None:
    for name in ("engine.py", "arena/__init__.py", "tuning/__init__.py"):
        own = tmp_path / name
        own.parent.mkdir(exist_ok=True)
        own.write_text(f"raise SystemExit('{name} must not be imported')\n", "utf-8")
    (tmp_path / "script.py").write_text("import elolab\nprint(elolab.play_match.__name__)\n", "utf-8")
    done = run_python("script.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "play_match\n"), done.stderr
    for words in (["-m", "elolab", "match", "--help"], [str(ROOT / "elolab"), "match", "--help"]):
        done = run_python(*words, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "usage: elolab match" in done.stdout


@pytest.mark.integration
@pytest.mark.parametrize(
    "name",
    [
        "configs/engines/mine.toml",
        *(pytest.param(name, marks=pytest.mark.integration) for name in ("configs.py", "configs/__init__.py")),
    ],
)
def test_configs_of_ones_own_are_no_trouble(tmp_path: Path, name: str) -> None:
    own = tmp_path / name
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("[xiangqi]\nnull_move = false\n" if own.suffix == ".toml" else "", "utf-8")
    player = "mine" if own.suffix == ".toml" else "no-null-move"
    (tmp_path / "script.py").write_text(
        f"import elolab\nprint(elolab.Engine(settings={player!r}).settings['null_move'])\n", "utf-8"
    )
    done = run_python("script.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def documented_columns(function: Any) -> set[str]:
    """The columns in the table of a docstring."""
    table = (inspect.getdoc(function) or "").split("\n===")[1]
    return {name for line in table.splitlines() if line[:2] == "``" for name in re.findall(r"``(\w+)``", line[:27])}
