"""The shipped presets: the systems of the source texts, whole and free of everything that no text has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from elolab.arena.tournament_reader import load_tournament
from elolab.engine.engine import Engine
from elolab.engine.games import GAMES, game_named
from elolab.engine.settings.configuration import (
    ConfigurationError,
    available_configs,
    find_config,
    read_toml,
    shipped_folder,
)
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, is_active, parameters_of, resolve
from elolab.engine.settings.presets import load_preset, preset_name

ELEPHANTEYE = {
    "algorithm": "pvs", "aspiration": "off", "quiescence": True, "stop_on_mate": True, "unique_move_check": True,
    "hash_mate_any_depth": True, "null_move": True, "null_depth": 3, "null_not_in_verify": "root",
    "null_verify": "unless_safe", "null_safe_material": 1800, "time_divisor": 20,
}  # fmt: skip
EIGHT_CONDITIONS = {
    "null_need_attackers": True, "null_min_depth": 2, "null_not_in_check": True, "null_not_twice": True,
    "null_mate_guard": True, "null_eval_gate": True, "null_hash_guard": "bound",
}  # fmt: skip
FENON = {
    **EIGHT_CONDITIONS, "null_not_in_verify": "subtree", "null_move": True, "null_min_material": 0,
    "null_in_pv": True, "null_verify": "always", "null_verify_min_depth": 0, "null_return": "null_score",
    "null_store": "verified", "mate_threat_offset": "two", "fail_soft": True, "quiescence": True,
}  # fmt: skip
HALF_AND_TWICE = {
    "time_strategy": "elephanteye", "time_hard_factor": 2000, "time_soft_factor": 500, "time_soft_check": "root_result",
    "ponder_elapsed": "from_hit",
}  # fmt: skip
SETTINGS: dict[str, dict[str, Value]] = {
    "xqwlight-0.3": {
        "algorithm": "alphabeta", "fail_soft": False, "aspiration": "off", "quiescence": False, "hash_mb": 0,
        "hash_move": False, "null_move": False, "killers": 0, "capture_order": "none", "history": True,
        "history_weight": 2, "history_record": "cutoff_and_pv", "history_index": "from_to_shared",
        "history_captures": True, "history_decay": "clear", "iterative_deepening": True, "min_depth": 1,
        "time_strategy": "min_time", "stop_on_mate": True, "evaluation": "piece_square",
        "internal_iterative_deepening": False, "root_order": "as_nodes",
    },
    "elephanteye-2005": {
        **ELEPHANTEYE, **HALF_AND_TWICE, "null_min_material": 900, "null_need_attackers": False,
        "null_eval_gate": False, "null_mate_guard": False, "null_hash_guard": "off", "mate_threat_offset": "two",
        "null_return": "beta",
    },
    "elephanteye-3.31": {
        **ELEPHANTEYE, "null_min_material": 900, "null_need_attackers": False, "null_eval_gate": False,
        "null_mate_guard": False, "null_hash_guard": "off", "null_store": "all", "null_in_pv": False,
        "time_strategy": "elephanteye-3.31", "ponder_elapsed": "from_start", "ponder_time_factor": 1250,
        "hash_move": True, "capture_order": "see", "killers": 2, "history": True, "history_captures": False,
        "history_decay": "clear", "internal_iterative_deepening": True, "fail_soft": True, "null_return": "null_score",
        "null_verify_min_depth": 1,
    },
    "elephanteye-fenon": {
        **ELEPHANTEYE, **HALF_AND_TWICE, "null_min_material": 900, "null_need_attackers": False, "null_min_depth": 2,
        "null_not_in_check": True, "null_not_twice": True, "null_eval_gate": True, "null_mate_guard": False,
        "null_hash_guard": "off", "null_store": "off", "null_verify_min_depth": 0, "mate_threat_offset": "two",
        "null_in_pv": True, "null_return": "beta",
    },
    "fenon": {**FENON, "null_depth": 3},
    "fenon-extended": {**FENON, "null_depth": 4},
    "moreland": {
        "algorithm": "alphabeta", "aspiration": "full", "aspiration_window": 50, "iterative_deepening": True,
        "depth_step": 1,
    },
}  # fmt: skip
"""What each text on Xiangqi says, from the texts."""

COMPLETE = tuple(
    name for name in available_configs("engines") if read_toml(find_config("engines", name)).get("complete", False)
)
"""Presets that stay what they are when the defaults change."""

OTHELLO = ("othello-ids", "othello-ids-forecast", "othello-mtdf")
"""Systems of the text on Othello."""


def games_of(name: str) -> list[str]:
    """The games that a preset has a section for."""
    return [game for game in GAMES if game in read_toml(find_config("engines", name))]


@pytest.mark.parametrize("name", available_configs("engines"))
def test_every_preset_plays(name: str) -> None:
    assert games_of(name)
    for game in games_of(name):
        position = game_named(game).position()
        result = Engine(game, load_preset(name, game)).search(position, Limits(nodes=2000))
        assert result.move in position.legal_moves()
        assert 0 < result.nodes <= 2000
    assert read_toml(find_config("engines", name))["description"].endswith(".")


@pytest.mark.parametrize("name", COMPLETE)
def test_complete_presets_list_every_setting_that_matters(name: str) -> None:
    assert games_of(name)
    for game in games_of(name):
        listed = load_preset(name, game)
        values = resolve(listed, game=game)
        missing = [row.name for row in parameters_of(game) if is_active(row.name, values) and row.name not in listed]
        assert not missing, f"configs/engines/{name}.toml must say what it has for {', '.join(missing)} in [{game}]"


def test_the_systems_of_the_texts_are_complete() -> None:
    assert {*SETTINGS, *OTHELLO, "speed-reference"} == set(COMPLETE)


def test_what_a_complete_preset_does_not_name_is_off_in_it(tmp_path: Path) -> None:
    sections = "[xiangqi]\nnull_move = true\nnull_verify = 'always'\n[othello]\n[chess]\n"
    (tmp_path / "partial.toml").write_text(sections, "utf-8")
    (tmp_path / "whole.toml").write_text(f"complete = true\n{sections}", "utf-8")
    assert load_preset(str(tmp_path / "partial.toml"), "xiangqi") == {"null_move": True, "null_verify": "always"}
    for game in GAMES:
        values = resolve(load_preset(str(tmp_path / "whole.toml"), game), game=game)
        for row in parameters_of(game):
            if row.name in ("null_move", "null_verify") and game == "xiangqi":
                continue
            goes_off = is_active(row.name, values) or row.source.startswith("[ours]")
            off = row.off if row.off is not None and goes_off else row.check(row.default)
            assert values[row.name] == off, (game, row.name)


def test_whether_a_preset_is_complete_is_a_switch(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text("complete = 'yes'\n[xiangqi]\n", "utf-8")
    with pytest.raises(ConfigurationError, match=r"odd\.toml: complete = 'yes', expected true or false"):
        load_preset(str(tmp_path / "odd.toml"), "xiangqi")


SETTING = re.compile(r"(?m)^(\w+) = \S+ *(?:# *(.*))?$")
"""A setting's name and what its line says."""


def settings_with_reasons(name: str, game: str) -> dict[str, str]:
    """What the lines of a game's section of a preset's file say, by parameter."""
    text = find_config("engines", name).read_text("utf-8").partition(f"\n[{game}]\n")[2].partition("\n[")[0]
    return {found[1]: found[2] or "" for found in SETTING.finditer(text)}


@pytest.mark.parametrize("name", [*SETTINGS, *OTHELLO])
def test_every_line_of_a_system_names_its_source(name: str) -> None:
    source = re.compile(r"\[(XQ|EE|AW|FN|OT|3\.31|ours)[^]]*\]")
    assert games_of(name)
    for game in games_of(name):
        reasons = settings_with_reasons(name, game)
        assert reasons
        assert set(reasons) <= set(load_preset(name, game))
        assert [key for key, reason in reasons.items() if not source.match(reason)] == [], game


@pytest.mark.parametrize("name", [*SETTINGS, *OTHELLO])
def test_techniques_of_no_text_are_off_in_the_systems_of_the_texts(name: str) -> None:
    """Unless a line of the preset says why not; also where they have no effect, for another setting may change that."""
    assert games_of(name)
    for game in games_of(name):
        values = resolve(load_preset(name, game), game=game)
        reasons = settings_with_reasons(name, game)
        for row in parameters_of(game):
            if row.source.startswith("[ours]") and row.off is not None:
                explained = len(reasons.get(row.name, "")) > len("[ours]: ") + 5
                assert values[row.name] == row.off or explained, (game, row.name)


def test_no_technique_comes_in_with_a_setting_that_a_text_is_without() -> None:
    """Reductions of nodes without a table's move once made the fifth ply of this search vanish."""
    values = load_preset("xqwlight-0.3", "xiangqi") | {"hash_mb": 1, "hash_move": True, "iterative_deepening": False}
    start = game_named("xiangqi").position()
    nodes = [Engine("xiangqi", values).search(start, Limits(depth=depth)).nodes for depth in (3, 4, 5)]
    assert nodes[0] < nodes[1] < nodes[2]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_preset_says_what_its_text_says(name: str) -> None:
    listed = load_preset(name, "xiangqi")
    assert {key: listed.get(key) for key in SETTINGS[name]} == SETTINGS[name]


@pytest.mark.parametrize("name", OTHELLO)
def test_the_systems_for_othello_are_those_of_the_text(name: str) -> None:
    listed = load_preset(name, "othello")
    common = {
        "pass_costs_depth": False, "time_strategy": "othello", "killers": 0, "history": False, "endgame_empties": 0,
        "root_order": "as_nodes", "keep_partial_iteration": False, "iterative_deepening": True,
    }  # fmt: skip
    assert listed | common == listed
    assert (listed["algorithm"], listed["hash_mb"] > 0, listed["min_depth"], listed["time_predict"]) == {
        "othello-ids": ("alphabeta", False, 4, "off"),
        "othello-ids-forecast": ("alphabeta", False, 4, "last_ratio"),
        "othello-mtdf": ("mtdf", True, 1, "off"),
    }[name]


def test_fenons_variants_differ_by_the_null_depth_alone() -> None:
    standard, extended = load_preset("fenon", "xiangqi"), load_preset("fenon-extended", "xiangqi")
    assert {key for key in standard if standard[key] != extended[key]} == {"null_depth"}


def test_the_forecast_is_all_that_the_prose_adds_to_the_listing() -> None:
    listing, prose = load_preset("othello-ids", "othello"), load_preset("othello-ids-forecast", "othello")
    assert {key for key in listing if listing[key] != prose[key]} == {"time_predict"}


@pytest.mark.parametrize("name", ["fenon", "fenon-extended", "elephanteye-fenon"])
def test_fenons_systems_make_null_moves_under_iterative_deepening(name: str) -> None:
    listed = load_preset(name, "xiangqi")
    game = game_named("xiangqi")
    tries = {}
    for guard in (listed["null_hash_guard"], "any_entry"):
        engine = Engine("xiangqi", {**listed, "null_hash_guard": guard})
        found = [engine.search(game.position(bench.text), Limits(nodes=20_000)) for bench in game.bench_positions]
        tries[guard] = sum(result.counters["null_tries"] for result in found)
    # To the letter, condition 8 leaves hardly any of them.
    assert tries[listed["null_hash_guard"]] > 10 * tries["any_entry"]


def test_condition_6_acts_in_fenons_systems() -> None:
    """To the letter it never does: no null search can come back mated an odd number of plies later."""
    game = game_named("xiangqi")
    position = game.position(game.bench_positions[6].text)

    def searched(name: str, **settings: Value) -> tuple[int, int]:
        engine = Engine("xiangqi", load_preset(name, "xiangqi") | settings)
        found = engine.search(position, Limits(depth=7))
        return found.nodes, found.counters["mate_threats"]

    assert searched("fenon")[1] > 0
    assert searched("fenon-extended")[1] > 0
    assert searched("fenon") != searched("fenon", null_mate_guard=False)
    to_the_letter = searched("fenon", mate_threat_offset="null_depth")
    assert to_the_letter == searched("fenon", mate_threat_offset="null_depth", null_mate_guard=False)
    assert to_the_letter[1] == 0


def test_fail_soft_systems_return_what_the_null_search_found() -> None:
    """[EE] and [FN] have FAIL_SOFT ? value : beta in a null cutoff."""
    for name in ("elephanteye-2005", "elephanteye-3.31", "elephanteye-fenon", "fenon", "fenon-extended"):
        listed = load_preset(name, "xiangqi")
        assert listed["null_return"] == ("null_score" if listed["fail_soft"] else "beta"), name


@pytest.mark.parametrize("given", ["xqwlight-0.3", "xqwlight-0.3.toml", "configs/engines/xqwlight-0.3.toml"])
def test_a_point_is_part_of_a_presets_name(given: str) -> None:
    assert preset_name(given) == "xqwlight-0.3"


def test_the_literature_tournament_is_all_systems_at_equal_nodes() -> None:
    spec = load_tournament(find_config("tournaments", "literature"))
    assert {player.name for player in spec.players} == {*SETTINGS, "default"}
    assert {player.limits for player in spec.players} == {Limits(nodes=20_000)}


@pytest.mark.parametrize(
    ("name", "players", "games"), [("literature", 8, 2240), ("literature-othello", 4, 1200), ("othello-clock", 7, 1470)]
)
def test_tournaments_of_systems_are_reproducible_and_as_long_as_they_say(name: str, players: int, games: int) -> None:
    path = find_config("tournaments", name)
    spec = load_tournament(path)
    assert len(spec.players) == players
    assert players * (players - 1) * spec.pairs == games
    assert f": {games} games in all" in path.read_text("utf-8")
    assert all(player.limits.is_reproducible for player in spec.players)


def test_the_engine_allocates_othellos_time_in_four_ways_that_differ_in_nothing_else() -> None:
    spec = load_tournament(find_config("tournaments", "othello-clock"))
    assert {player.limits for player in spec.players} == {Limits.parse("clock=1200,node_clock=2000")}
    ours = [dict(player.parameters) for player in spec.players if player.name.startswith("default")]
    assert {values.pop("time_strategy") for values in ours} == {"elephanteye", "othello", "share", "fixed"}
    assert {values.pop("time_fixed_ms") for values in ours} == {1000, 45_000}
    assert all(values == ours[0] for values in ours)


@pytest.mark.parametrize("page", ["docs/literature.md", "docs/literature.zh-CN.md"])
def test_the_readme_names_every_system(page: str) -> None:
    text = (Path(__file__).parents[3] / page).read_text("utf-8")
    assert set(re.findall(r"^\| `([\w.-]+)` \|", text, re.MULTILINE)) == {*COMPLETE, "default"}


def test_a_pawn_in_the_palace_nearly_reaches_a_horse_or_a_cannon() -> None:
    """[XQ 3.1], in the evaluation of its preset: what a pawn more is worth, by the rank that it has reached."""
    engine = Engine("xiangqi", load_preset("xqwlight-0.3", "xiangqi"))
    board = "3k5/9/9/9/9/9/9/9/9/5K3"

    def value(piece: str, square: str) -> int:
        rows = [list(row.replace("9", "." * 9).replace("5", "." * 5).replace("3", "...")) for row in board.split("/")]
        rows[9 - int(square[1])]["abcdefghi".index(square[0])] = piece
        text = "/".join("".join(row) for row in rows)
        text = re.sub(r"\.+", lambda run: str(len(run[0])), text)
        position = game_named("xiangqi").position(f"{text} w - - 0 1")
        return engine.static_score(position) - engine.static_score(game_named("xiangqi").position(f"{board} w - - 0 1"))

    home, crossed, palace = value("P", "e4"), value("P", "e5"), value("P", "e8")
    horse, cannon = value("N", "e2"), value("C", "e2")
    assert home < crossed < palace
    assert 0.9 * horse < palace < horse < cannon


def test_files_of_the_current_folder_do_not_replace_the_weights_and_presets_that_shipped_files_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {game: resolve(load_preset("default", game), "", game) for game in GAMES}
    monkeypatch.chdir(tmp_path)
    for name in (*GAMES, "default"):
        Path(f"{name}.toml").write_text("pairs = 1\n")
    shipped = shipped_folder() / "ablations"
    assert {game: resolve(load_preset("default", game, shipped), "", game) for game in GAMES} == expected
    assert find_config("weights", "othello.toml") == Path("othello.toml")
    assert find_config("engines", "default") == Path("default.toml")
