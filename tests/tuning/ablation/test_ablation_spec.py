"""Specifications of ablations: compact forms, levels and their axes, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.engine.settings.configuration import available_configs, find_config, specification_word
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, is_active, parameters_of, resolve
from elolab.tuning.ablation.ablation_spec import load_ablation
from elolab.tuning.ablation.levels import level_of
from elolab.tuning.ablation.settings import feature_left_out
from elolab.tuning.reports.ablation_charts import Curve, curves_chart, level_places
from elolab.tuning.reports.wording import MESSAGES
from tests.support.small_ablation import a_row, read

ROOT = Path(__file__).parents[3]


def test_leaving_out_changes_one_parameter_of_the_base() -> None:
    spec = read(leave_one_out=[{"features": ["null_move", "aspiration", "killers", "algorithm"]}])
    assert [comparison.label for comparison in spec.comparisons] == [
        "without null_move", "without aspiration", "without killers", "without algorithm",
    ]  # fmt: skip
    for comparison, value in zip(spec.comparisons, (False, "off", 0, "alphabeta"), strict=True):
        (name,) = comparison.differences
        assert dict(comparison.variant)[name] == value
        assert dict(comparison.reference) == resolve({}, game="xiangqi")


def test_every_feature_that_is_on_can_be_left_out() -> None:
    base = resolve({}, game="xiangqi")
    features = {row.name: row.off for row in parameters_of("xiangqi") if row.off is not None}
    on = [name for name, off in features.items() if base[name] != off and is_active(name, base)]
    assert len(on) > 15
    spec = read(leave_one_out=[{"features": on}])
    assert len(spec.comparisons) == len(on)


def test_values_are_compared_with_the_bases_or_another() -> None:
    spec = read(
        values=[
            {"parameter": "history_weight", "values": [0, "off"]},
            {"parameter": "null_depth", "values": [4], "reference": 2, "limit": "depth=3", "pairs": 7},
        ]
    )
    assert [comparison.label for comparison in spec.comparisons] == [
        "history_weight 0 against 2", "history off against history_weight 2", "null_depth 4 against 2",
    ]  # fmt: skip
    assert spec.comparisons[1].differences == ("history",)
    assert (spec.comparisons[2].limits, spec.comparisons[2].pairs) == (Limits(depth=3), 7)


def test_the_shipped_ablation_asks_what_it_should() -> None:
    spec = load_ablation(ROOT / "configs" / "ablations" / "first.toml")
    labels = " ".join(comparison.label for comparison in spec.comparisons)
    for word in ("null_move", "null_depth 4 against 3", "history_weight 0", "history off", "time_divisor", "PVS"):
        assert word in labels
    assert all(comparison.limits.is_reproducible for comparison in spec.comparisons)


READY = {
    "aspiration-windows": (10, 8000),
    "history-weight": (8, 4000),
    "null-depth": (5, 4000),
    "time-divisor": (4, 2400),
}
"""The ablations that are asked for by name: their comparisons, and the most games of ten minutes."""


@pytest.mark.parametrize("name", READY)
def test_a_shipped_ablation_is_known_by_name_in_any_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["ablate", name, "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["comparisons"], plan["games"]) == READY[name]
    assert plan["folder"] == str(Path("results") / name)
    spec = load_ablation(find_config("ablations", name))
    assert all(comparison.limits.is_reproducible for comparison in spec.comparisons)
    assert all(len(comparison.label) <= 36 for comparison in spec.comparisons)  # what a terminal's table shows


def test_a_file_of_the_current_folder_comes_before_a_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("configs/ablations/null-depth.toml")
    own.parent.mkdir(parents=True)
    own.write_text('limit = "nodes=9"\npairs = 20\n[[leave_one_out]]\nfeatures = ["killers"]\n')
    assert command_line.main(["ablate", "null-depth", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ablate", "aspiration-window"], "no ablation specification 'aspiration-window' (did you mean 'aspiration-w"),
        (["ablate", "null_depth"], "no ablation specification 'null_depth' (did you mean 'null-depth' or "),
        (["tournament", "othelo-clock"], "no tournament specification 'othelo-clock' (did you mean 'othello-clock', "),
        (["tune", "clocks"], "no tuning specification 'clocks' (did you mean 'clock'?)"),
        (["ablate"], "ablate: SPEC is missing: give a TOML file or one of aspiration-windows, "),
        (["tournament"], "tournament: SPEC is missing: give a TOML file or one of demo, "),
        (["tune"], "tune: SPEC is missing: give a TOML file or one of chess-search, clock, "),
    ],
)  # fmt: skip
def test_a_wrong_name_is_answered_in_one_line_with_a_right_one(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"elolab: {message}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "kind"), [("ablate", "ablations"), ("tournament", "tournaments"), ("tune", "tuning")]
)
def test_the_help_lists_every_name(command: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([command, "--help"]) == 0
    names = capsys.readouterr().out.rpartition("Names that SPEC may be:\n")[2]
    assert names.replace(",", " ").split() == available_configs(kind)


def test_a_report_names_a_shipped_file_and_locates_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = find_config("ablations", "first")
    assert shipped.is_absolute()
    assert specification_word("ablations", str(shipped)) == "first"
    other = tmp_path / "configs" / "ablations" / "first.toml"
    other.parent.mkdir(parents=True)
    other.write_text("")
    assert specification_word("ablations", str(other)) == str(other.relative_to(tmp_path))
    assert specification_word("ablations", str(shipped)) == str(shipped)  # by name it would now be the other
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert specification_word("ablations", str(other)) == str(other)
    monkeypatch.chdir(shipped.parents[2])
    for source in (shipped, Path("configs") / "ablations" / "first.toml"):
        assert specification_word("ablations", str(source)) == "first"


def test_values_against_what_is_switched_off() -> None:
    spec = read(values=[{"parameter": "null_depth", "values": [2, 3], "reference": "off", "set": {"null_move": False}}])
    assert [comparison.label for comparison in spec.comparisons] == [
        "null_depth 2 against null_move off", "null_depth 3 against null_move off",
    ]  # fmt: skip
    for comparison, depth in zip(spec.comparisons, (2, 3), strict=True):
        assert dict(comparison.reference)["null_move"] is False
        assert (dict(comparison.variant)["null_move"], dict(comparison.variant)["null_depth"]) == (True, depth)


def test_levels_have_the_words_that_the_file_gives_them() -> None:
    entry = {"parameter": "history_weight", "values": [0, "off"], "reference": 2}
    names = {"0": "1", "2": "depth²", "off": "none"}
    spec = read(values=[{**entry, "label": "alone", "names": names}, {**entry, "limit": "depth=2"}])
    assert [comparison.label for comparison in spec.comparisons] == [
        "alone: 1 against depth²", "alone: none against depth²",
        "history_weight 0 against 2", "history off against history_weight 2",
    ]  # fmt: skip


def test_what_is_switched_off_lies_one_step_below_the_values() -> None:
    row = BY_NAME["null_depth"]
    levels = [level_of(row, value, {}, "x", "xiangqi") for value in (2, "off", 4, 8)]
    assert level_places(levels, logarithmic=False) == [2, 0, 4, 8]
    assert level_places(levels, logarithmic=True) == [2, 1, 4, 8]
    assert level_places(levels[:2], logarithmic=False) == [2, 1]


@pytest.mark.parametrize(("game", "unit"), [("xiangqi", "centipawns"), ("othello", "hundredths of a disc")])
def test_an_axis_has_the_unit_that_scores_have_in_the_game(game: str, unit: str) -> None:
    low, high = (level_of(BY_NAME["aspiration_window"], value, {}, "x", game) for value in (10, 400))
    chart = curves_chart([Curve("", high, ((low, a_row(elo=9.0, elo_low=1.0)),))], Catalogue(MESSAGES))
    assert chart.axes[0].get_xlabel() == f"aspiration_window ({unit})"


@pytest.mark.parametrize("reference", [3, "off"])
def test_a_curve_has_a_tick_for_every_level_and_its_diamond_at_the_reference(reference: int | str) -> None:
    row = BY_NAME["null_depth"]
    values = [value for value in (2, 3, 4, "off") if value != reference]
    levels = [level_of(row, value, {"4": "four"}, "x", "xiangqi") for value in (*values, reference)]
    points = tuple((level, a_row(elo=9.0, elo_low=1.0)) for level in levels[:-1])
    (axes,) = curves_chart([Curve("title", levels[-1], points)], Catalogue(MESSAGES)).axes
    ticks = {tick.get_text(): place for tick, place in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)}
    assert ticks == {"off": 1, "2": 2, "3": 3, "four": 4}
    (diamond,) = (line for line in axes.lines if line.get_marker() == "D")
    assert list(diamond.get_xdata()) == [ticks[str(reference)]]
    (curve,) = (line for line in axes.lines if len(line.get_xdata()) == 3)
    assert list(curve.get_xdata()) == [2, 3, 4]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ["nothing to compare", "[[leave_one_out]]"]),
        ({"leave_out": []}, ["unknown key 'leave_out'", "'leave_one_out'"]),
        ({"leave_one_out": [{"features": ["nul_move"]}]}, ["[[leave_one_out]] 1", "'nul_move'", "'null_move'"]),
        ({"leave_one_out": [{"features": ["null_depth"]}]}, ["null_depth cannot be left out", "[[values]]"]),
        ({"leave_one_out": [{"features": ["null_in_pv"]}]}, ["null_in_pv is off in the base", "[[values]]"]),
        ({"leave_one_out": [{"features": []}]}, ["features", "a list"]),
        (
            {"leave_one_out": [{"features": ["quiescence", "QSearch"]}]},
            ["features", "quiescence and QSearch are the same parameter, quiescence"],
        ),
        (
            {"factorial": [{"factors": {"NullDepth": [2, 3], "null_depth": [3, 4]}}]},
            ["factors", "NullDepth and null_depth are the same parameter"],
        ),
        ({"comparisons": [{"variant": {"Hash": 1, "hash_mb": 2}}]}, ["variant", "Hash and hash_mb are the same"]),
        (
            {"values": [{"parameter": "tempo", "values": [3], "set": {"Hash": 1, "TTSize": 2}}]},
            ["set", "Hash and TTSize"],
        ),
        ({"leave_one_out": [{"features": ["history", "history"]}]}, ["two comparisons", "'without history'"]),
        ({"values": [{"parameter": "null_depth", "values": [3]}]}, ["null_depth 3", "with itself"]),
        ({"values": [{"parameter": "null_depth", "values": [9]}]}, ["null_depth = 9", "from 2 to 8"]),
        ({"values": [{"parameter": "nuldepth", "values": [4]}]}, ["'nuldepth'", "'null_depth'"]),
        ({"values": [{"parameter": "tempo", "values": ["off"]}]}, ["tempo cannot be switched off"]),
        (
            {"values": [{"parameter": "tempo", "values": [3], "reference": "off"}]},
            ["reference", "tempo cannot be switched off"],
        ),
        ({"values": [{"parameter": "null_depth", "values": ["off"], "reference": "off"}]}, ["with itself"]),
        ({"values": [{"parameter": "null_depth", "values": [2], "names": {"22": "b"}}]}, ["'22'", "did you mean '2'"]),
        ({"values": [{"parameter": "null_depth", "values": [2], "names": {"2": 2}}]}, ["2 = 2", "characters"]),
        ({"values": [{"parameter": "null_depth", "values": [2], "label": "x" * 61}]}, ["label", "60 printable"]),
        ({"values": [{"parameter": "time_divisor", "values": [9]}]}, ["time_divisor changes nothing", "nodes=100"]),
        (
            {"values": [{"parameter": "null_depth", "values": [4], "set": {"null_move": False}}]},
            ["null_depth changes nothing", "null_move is on", "which is off"],
        ),
        ({"comparisons": [{"variant": {}, "reference": {}}]}, ["[[comparisons]] 1", "with itself"]),
        ({"comparisons": [{"variant": {"nul": 1}}]}, ["variant", "'nul'"]),
        ({"comparisons": [{"variant": {"evaluation_weights": "othello-by-hand"}}]}, ["variant", "othello"]),
        ({"comparisons": [{"variant": {"tempo": 3}, "limit": "nodes"}]}, ["limit 'nodes'"]),
        ({"add_one_in": [{"features": ["nul_move"]}]}, ["[[add_one_in]] 1", "'nul_move'", "'null_move'"]),
        ({"add_one_in": [{"features": ["history"]}]}, ["history is on in plain-alpha-beta too"]),
        ({"add_one_in": [{"features": ["history"], "bare": "plain-alpha"}]}, ["bare", "'plain-alpha'"]),
        ({"factorial": [{"factors": {"tempo": [0, 9]}}]}, ["factors", "2 to 6 parameters"]),
        ({"factorial": [{"factors": {"tempo": [0, 9], "killers": [1]}}]}, ["killers = [1]", "two values"]),
        ({"factorial": [{"factors": {"tempo": [0, 9], "killers": [1, 1]}}]}, ["with itself"]),
        ({"factorial": [{"factors": {"tmpo": [0, 9], "killers": [1, 2]}}]}, ["'tmpo'", "'tempo'"]),
        (
            {"factorial": [{"factors": {"tempo": [0, 9], "killers": [1, 2]}, "fraction": 2}]},
            ["fraction = 2", "no design with this fraction", "2"],
        ),
        ({"interactions": [{"features": ["history"]}]}, ["features", "at least 2"]),
        ({"interactions": [{"features": ["history", "endgame_parity"]}]}, ["endgame_parity", "xiangqi"]),
        ({"rounds": 0, "leave_one_out": [{"features": ["history"]}]}, ["rounds = 0", "1 to 100"]),
        (
            {"leave_one_out": [{"features": ["history"]}], "comparisons": [{"variant": {"history": False}}]},
            ["is the same comparison as 'without history'"],
        ),
    ],
)
def test_mistakes_are_refused_in_one_line(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as raised:
        read(**changes)
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_a_feature_left_out_twice_is_refused() -> None:
    with pytest.raises(UserError, match="history is off in the base"):
        feature_left_out("history", resolve({"history": False}, game="xiangqi"), "parts.toml", "xiangqi")
