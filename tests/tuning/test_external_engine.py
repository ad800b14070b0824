"""Settings of external engines: what specifications may say, what is refused before any game, what is then played."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.players.registry import PlayerError
from elolab.arena.records import PlayerSpec
from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import find_config
from elolab.tuning.ablation.ablation_run import check_engine
from elolab.tuning.ablation.ablation_spec import AblationSpec, ablation_from_mapping, load_ablation
from elolab.tuning.external_engine import placeholders_of
from elolab.tuning.study.plan import check_engine as check_engine_of_study
from elolab.tuning.study.study_spec import load_tuning, tuning_from_mapping

MOCK_ENGINES = str(Path(__file__).parents[1] / "support" / "mock_engines.py")
MOCK = [sys.executable, "-I", "-S", MOCK_ENGINES, "plain"]
MOCK_OF_MODE = [*MOCK[:-1], "{mode}"]


def read(**changes: Any) -> AblationSpec:
    return ablation_from_mapping({"limit": "nodes=100", "pairs": 20, **changes}, "parts.toml")


def sides(spec: AblationSpec, number: int = 0) -> tuple[PlayerSpec, PlayerSpec]:
    """Variant and reference of a comparison, as players."""
    comparison = spec.comparisons[number]
    variant, reference = (
        spec.conditions.player(dict(side), comparison.limits) for side in (comparison.variant, comparison.reference)
    )
    return variant, reference


@pytest.mark.parametrize("name", ["builds", "fairy-stockfish-options", "rhino-levels"])
def test_ablations_that_are_ready_are_of_external_engines(name: str) -> None:
    spec = load_ablation(find_config("ablations", name))
    assert spec.name == name
    assert spec.conditions.external is not None
    assert all(one != other for one, other in (sides(spec, number) for number in range(len(spec.comparisons))))


def test_a_tuning_that_is_ready_begins_with_the_engines_own_values() -> None:
    spec = load_tuning(find_config("tuning", "fairy-stockfish-time"))
    assert spec.engine is not None
    assert spec.space.default == {"Slow Mover": 84, "Minimum Thinking Time": 20, "Move Overhead": 30}


# What settings amount to


def test_options_of_the_variant_come_after_those_of_the_base() -> None:
    spec = read(
        engine={"command": MOCK, "options": {"Hash": 8}},
        comparisons=[{"variant": {"hash": 32, "Ponder": True}}],
    )
    variant, reference = sides(spec)
    assert variant.options == (("Hash", "32"), ("Ponder", "true"))
    assert reference.options == (("Hash", "8"),)
    assert (variant.name, reference.name) == ("Hash 32, Ponder on", f"{Path(sys.executable).name} as it is")


def test_placeholders_are_filled_in_and_doubled_braces_are_braces() -> None:
    spec = read(
        engine={"command": ["engine", "--level={level}", "{more}", "{{level}}"], "options": {"Hash": 8}},
        set={"level": 2, "more": ""},
        values=[{"option": "level", "values": [3]}],
        comparisons=[{"variant": {"more": "--fast"}}],
    )
    assert [player.command for player in sides(spec)] == [
        ("engine", "--level=3", "{level}"),
        ("engine", "--level=2", "{level}"),
    ]
    assert sides(spec, 1)[0].command == ("engine", "--level=2", "--fast", "{level}")
    assert sides(spec)[0].options == (("Hash", "8"),)


def test_lines_of_a_protocol_have_placeholders_too() -> None:
    engine = {"protocol": "gtp", "command": "engine", "commands": ["set_level {level}"]}
    values = [{"option": "level", "values": [4]}]
    spec = read(game="othello", limit="own", engine=engine, set={"level": 2}, values=values)
    variant, reference = sides(spec)
    assert variant.protocol_key("commands", ()) == ("set_level 4",)
    assert reference.protocol_key("commands", ()) == ("set_level 2",)
    assert placeholders_of(spec.conditions.external.builds[0][1]) == ("level",)


def test_builds_alone_are_each_compared_with_the_first() -> None:
    spec = read(
        engine={"options": {"Hash": 8}},
        builds={"old": "one", "new": ["two", "--x"], "other": {"command": "three", "options": {"Ponder": True}}},
    )
    assert [comparison.label for comparison in spec.comparisons] == ["new against old", "other against old"]
    variant, reference = sides(spec, 1)
    assert (variant.command, variant.options) == (("three",), (("Ponder", "true"), ("Hash", "8")))
    assert (reference.command, reference.options) == (("one",), (("Hash", "8"),))
    assert sides(spec)[0].command == ("two", "--x")


def test_a_build_is_a_setting_like_others() -> None:
    factors = {"build": ["old", "new"], "Hash": [1, 64]}
    spec = read(builds={"old": "one", "new": "two"}, factorial=[{"factors": factors}])
    assert len(spec.comparisons) == 4
    played = {(player.command, player.options) for place in range(4) for player in sides(spec, place)}
    assert played == {((program,), (("Hash", size),)) for program in ("one", "two") for size in ("1", "64")}


def test_left_out_features_are_switched_off_or_as_they_say() -> None:
    engine = {"command": "engine", "options": {"Null Move": True, "Reductions": 3}}
    spec = read(
        engine=engine,
        leave_one_out=[{"features": ["Null Move"]}, {"features": {"Reductions": 0}}],
        add_one_in=[{"features": {"Null Move": False, "Reductions": 0}}],
        interactions=[{"features": {"Null Move": False, "Reductions": 0}}],
    )
    names = ("Null Move", "Reductions")
    found = {
        comparison.label: tuple(dict(player.options)[name] for player in sides(spec, place) for name in names)
        for place, comparison in enumerate(spec.comparisons[:4])
    }
    assert found == {
        "without Null Move": ("false", "3", "true", "3"),
        "without Reductions": ("true", "0", "true", "3"),
        "bare with Null Move": ("true", "0", "false", "0"),
        "bare with Reductions": ("false", "3", "false", "0"),
    }
    assert spec.factorials[0].factors == (("Null Move", False, True), ("Reductions", 0, 3))


def test_the_order_of_settings_in_the_file_makes_no_other_player() -> None:
    engine = {"command": "engine"}
    spec = read(
        engine=engine,
        comparisons=[
            {"label": "one", "variant": {"B": 1, "A": 2}, "reference": {"A": 1}},
            {"label": "two", "variant": {"A": 2, "B": 1}, "reference": {"B": 1}},
        ],
    )
    assert sides(spec)[0] == sides(spec, 1)[0]


# What is refused


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"builds": {"one": "x"}}, "at least two builds"),
        ({"engine": {"command": "x"}, "builds": {"a": "x", "b": "y"}}, "command is given by [builds] too"),
        ({"builds": {"a": "x", "b": {"comand": "y"}}}, "[builds.b]: unknown key 'comand'"),
        ({"builds": {"a": "x", "b\n": "y"}}, "printable characters"),
        ({"builds": {"a": "x", "b": "y"}, "values": [{"option": "build", "values": ["c"]}]}, "expected 'a' or 'b'"),
        ({"engine": {"command": "x {level}"}, "values": [{"option": "A", "values": [1]}]}, "nothing fills {level}"),
        ({"engine": {"command": "x"}, "base": "default"}, "base names a preset of the built-in engine"),
        ({"engine": {"command": "x", "protocol": "udp"}}, "protocol = 'udp'"),
        ({"engine": {"command": "x", "options": {"A": 1}}, "set": {"a": 2}}, "A is among the options of [engine] too"),
        ({"engine": {"command": "x"}, "values": [{"parameter": "A", "values": [1]}]}, "unknown key 'parameter'"),
        ({"engine": {"command": "x"}, "values": [{"option": "A", "values": [[1]]}]}, "expected a text, number"),
        ({"engine": {"command": "x"}, "comparisons": [{"variant": {"A": 1, "a": 2}}]}, "are the same option"),
        ({"engine": {"command": "x"}, "interactions": [{"features": ["A", "B"]}]}, "the base has no value of A"),
        ({"builds": {"a": "x", "b": "y"}, "nodes_to_depth": {}}, "nodes_to_depth needs the built-in engine"),
        ({"engine": {"command": "x"}, "comparisons": [{"variant": {}}]}, "parts.toml"),
        ({"engine": {"command": "x"}, "limit": "own"}, "limit"),
        (
            {"builds": {"a": {"command": "x", "options": {"A": 1}}, "b": "y"}, "set": {"a": 3}},
            "belongs to the build 'a'",
        ),
        (
            {"builds": {"a": "x {level}", "b": "y"}, "set": {"level": 1, "build": "b"},
             "values": [{"option": "level", "values": [2]}]},
            "the command of the build 'b' has no {level}",
        ),
        (
            {"game": "othello", "limit": "own", "engine": {"command": "x {level}", "protocol": "gtp"},
             "set": {"level": 1}, "values": [{"option": "levle", "values": [2]}]},
            "levle is not a setting: GTP",
        ),
    ],
)  # fmt: skip
def test_mistakes_in_a_specification_are_one_line(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as raised:
        read(**changes)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def checked(**changes: Any) -> str:
    """What is remarked on an ablation before its first game."""
    stream = io.StringIO()
    check_engine(read(**changes), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"option": "Hahs", "values": [1]}, "the engine has no option 'Hahs'; did you mean 'Hash'?"),
        ({"option": "Hash", "values": [1, 2000]}, "option Hash = '2000': expected 1 to 1024"),
        ({"option": "Ponder", "values": ["maybe"]}, "option Ponder = 'maybe': expected true or false"),
        ({"option": "Clear Hash", "values": [False]}, "both sides are the same, because the engine's own default is"),
        ({"option": "hash", "values": [16]}, "both sides are the same, because the engine's own default is hash 16"),
        ({"option": "Hash", "values": ["+7"], "reference": 7}, "both sides are the same"),
    ],
)
def test_what_the_engine_would_not_take_is_told_before_any_game(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as raised:
        checked(engine={"command": MOCK}, values=[entry])
    assert words in str(raised.value)
    assert str(raised.value).startswith("parts.toml: ")
    assert "\n" not in str(raised.value)


def test_what_it_takes_is_not_remarked_on() -> None:
    assert checked(engine={"command": MOCK}, values=[{"option": "Hash", "values": [1, 1024]}]) == ""


def mock_over(protocol: str, *settings: str) -> dict[str, Any]:
    """The table ``[engine]`` of the mock engine that speaks other protocols of Xiangqi."""
    program = str(Path(MOCK_ENGINES).with_name("mock_xiangqi_engines.py"))
    command = [sys.executable, "-I", "-S", program, "plain", f"protocol={protocol}", *settings]
    return {"protocol": protocol, "command": command}


@pytest.mark.parametrize(
    ("engine", "entry", "words"),
    [
        (mock_over("ucci"), {"option": "hashsize", "values": [2000]}, "option hashsize = '2000': expected 0 to 1024"),
        (mock_over("ucci"), {"option": "styl", "values": ["risky"]}, "did you mean 'style'?"),
        (mock_over("ucci"), {"option": "style", "values": ["normal"]}, "the engine's own default is style normal"),
        (mock_over("xboard"), {"option": "contempt", "values": [11]}, "option Contempt = '11': expected -10 to 10"),
        (mock_over("xboard"), {"option": "Own Book", "values": [True]}, "the engine's own default is Own Book on"),
        (mock_over("xboard"), {"option": "memory", "values": [0]}, "option memory = '0'"),
        (mock_over("xboard", "features=memory=0"), {"option": "memory", "values": [1]}, "has no option 'memory'"),
    ],
)
def test_options_over_other_protocols_are_checked_by_what_they_announce(
    engine: dict[str, Any], entry: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError) as raised:
        checked(engine=engine, values=[entry], limit="depth=2")
    assert words in str(raised.value)


def test_an_engine_that_takes_options_unannounced_is_believed() -> None:
    entry = {"option": "anything", "values": [1]}
    assert checked(engine=mock_over("ucci", "options=no"), values=[entry], limit="depth=2") == ""


def test_every_build_is_asked_for_its_own_options() -> None:
    without_ponder = [*MOCK[:-1], "no_ponder"]
    builds = {"old": MOCK, "new": without_ponder}
    comparison = {"variant": {"build": "new", "Ponder": True}, "reference": {"build": "old", "Ponder": True}}
    with pytest.raises(UserError, match="the engine has no option 'Ponder'"):
        checked(builds=builds, comparisons=[comparison])
    assert checked(builds=builds, comparisons=[comparison | {"variant": {"build": "new"}}]) == ""


def test_an_engine_that_does_not_start_is_told_with_its_build() -> None:
    builds = {"old": MOCK, "new": [*MOCK[:-1], "exit_at_start"]}
    with pytest.raises(PlayerError, match=r"^parts\.toml: \[builds\.new\]: .* ended during the UCI handshake"):
        checked(builds=builds)
    with pytest.raises(PlayerError, match=r"^parts\.toml: \[builds\.new\]: cannot start 'nowhere'"):
        checked(builds={"old": MOCK, "new": "nowhere"})


def test_builds_that_are_one_program_are_refused_and_copies_remarked_on(tmp_path: Path) -> None:
    script = tmp_path / "engine"
    script.write_text(f"#!/bin/sh\nexec {' '.join(MOCK)}\n")
    script.chmod(0o755)
    (tmp_path / "link").symlink_to(script)
    shutil.copy(script, tmp_path / "copy")
    with pytest.raises(UserError, match=r"one and two are the same program .* with the same arguments"):
        checked(builds={"one": str(script), "two": str(tmp_path / "link")})
    assert "the builds one and two are copies of one program" in checked(
        builds={"one": str(script), "two": str(tmp_path / "copy")}
    )


# Tuning


def study(**changes: Any) -> Any:
    return tuning_from_mapping({"limit": "nodes=100", "budget": {"games": 100}, **changes}, "study.toml")


def test_placeholders_and_builds_can_be_tuned() -> None:
    spec = study(
        builds={"old": "one --level {level}", "new": "two --level {level}"},
        dimensions={
            "level": {"default": 2, "low": 1, "high": 5},
            "build": {"default": "new", "choices": ["old", "new"]},
        },
    )
    assert spec.player({"level": 4, "build": "old"}).command == ("one", "--level", "4")
    assert spec.player({"level": 2, "build": "new"}).command == ("two", "--level", "2")


@pytest.mark.parametrize(
    ("dimensions", "words"),
    [
        ({"Hash": {"default": 16, "low": 1, "high": 4096}}, "option Hash = '4096': expected 1 to 1024"),
        ({"Ponder": {"default": True, "choices": [True, False, "x"]}}, "option Ponder = 'x'"),
        ({"Hsh": {"default": 16, "low": 1, "high": 64}}, "did you mean 'Hash'?"),
    ],
)
def test_ends_of_ranges_and_all_choices_are_tried_before_a_tuning(dimensions: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as raised:
        check_engine_of_study(study(engine={"command": MOCK}, dimensions=dimensions), io.StringIO())
    assert words in str(raised.value)


def test_a_dimension_that_is_no_placeholder_of_an_engine_without_options_is_refused() -> None:
    engine = {"protocol": "gtp", "command": "engine --level {level}"}
    with pytest.raises(UserError, match="depth is not a setting: GTP has no options"):
        study(
            game="othello", limit="own", engine=engine, set={"level": 1},
            dimensions={"depth": {"default": 1, "low": 1, "high": 2}}, validation={"slow": "off"},
        )  # fmt: skip
