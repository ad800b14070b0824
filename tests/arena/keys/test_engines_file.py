"""Files of engines: found where they should be, referred to by name, and what the command says of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line, play_match
from elolab.arena.keys.engines_file import engines_file
from elolab.arena.tournament_reader import load_tournament
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError

MOCK = f"{sys.executable} -I -S {Path(__file__).parents[2] / 'support' / 'mock_engines.py'}"
ENGINES = f"""
[mine]
description = "the one that I write"
command = "./bin/mine --fast"
protocol = "uci"
options = {{ Hash = 32, Ponder = false }}
limit = "depth=3"

[mock]
command = "{MOCK} normal"
"""
CUP = """
pairs = 1
limit = "nodes=7"
[[players]]
engine = "mine"
[[players]]
name = "other"
engine = "mine"
options = { Hash = 64 }
limit = "nodes=9"
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder ``cups`` with a file of engines and a program; the tests run in another folder."""
    program = tmp_path / "cups" / "bin" / "mine"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "cups" / "engines.toml").write_text(ENGINES)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


def cup(folder: Path, text: str = CUP) -> TournamentSpec:
    (folder / "cup.toml").write_text(text)
    return load_tournament(folder / "cup.toml")


def elolab(*words: str) -> int:
    return command_line.run_command(command_line.find_command(words[0]), list(words[1:]))


def test_a_player_refers_to_an_engine_and_overrides_what_it_names(tmp_path: Path) -> None:
    mine, other = cup(tmp_path / "cups").players
    assert mine.command == other.command == (str(tmp_path / "cups" / "bin" / "mine"), "--fast")
    assert (mine.name, str(mine.limits), mine.options) == ("mine", "depth=3", (("Hash", "32"), ("Ponder", "false")))
    assert (other.name, str(other.limits), other.options) == ("other", "nodes=9", (("Hash", "64"), ("Ponder", "false")))


def test_a_tournament_elsewhere_knows_the_engines_of_the_current_folder(tmp_path: Path) -> None:
    """A folder of tournaments needs no copy of the file; one beside the tournament, or named there, comes first."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path("engines.toml").write_text('[mine]\nprotocol = "uci"\ncommand = "./mine --slow"\n')
    assert cup(elsewhere).players[0].command == ("./mine", "--slow")
    assert cup(tmp_path / "cups").players[0].command == (str(tmp_path / "cups" / "bin" / "mine"), "--fast")


def test_the_file_is_the_one_that_is_named_or_beside_or_the_users(tmp_path: Path) -> None:
    here, configuration = tmp_path / "here", tmp_path / "configuration" / "elolab"
    with pytest.raises(UserError, match=r"no engines file; write engines\.toml with a table \[mine\]"):
        cup(here)
    assert cup(here, f'engines = "{tmp_path}/cups/engines.toml"\n{CUP}').players[0].name == "mine"
    (here / "mine.toml").write_text(ENGINES.replace("depth=3", "depth=4"))
    assert str(cup(tmp_path / "cups", f'engines = "mine.toml"\n{CUP}').players[0].limits) == "depth=4"
    with pytest.raises(UserError, match=r"no engines file 'no\.toml'"):
        cup(here, f'engines = "no.toml"\n{CUP}')
    for there, name in ((here, tmp_path), (tmp_path / "cups", "bin")):
        with pytest.raises(UserError, match=f"^{name} is a folder; give the engines file in it"):
            cup(there, f'engines = "{name}"\n{CUP}')
    configuration.mkdir(parents=True)
    (configuration / "engines.toml").write_text(ENGINES.replace("depth=3", "depth=5"))
    assert str(cup(here).players[0].limits) == "depth=5"
    assert str(cup(tmp_path / "cups").players[0].limits) == "depth=3"


@pytest.mark.parametrize(
    ("engines", "reference", "message"),
    [
        (ENGINES, "mien", r"engine 'mien' is not in .*engines\.toml \(did you mean 'mine'\?\); it has mine, mock"),
        ("mine = 3", "mine", r"engines\.toml: mine = 3, expected tables of engines"),
        ("[mine", "mine", r"engines\.toml: not valid TOML"),
        ("[mine]\nprotocol = 'uci'", "mine", r"cup\.toml: player 1 \(mine\): command is missing"),
        ("[mine]\ncommand = './x'\nprotocol = 'uci'\noptoins = {}", "mine", r"unknown key 'optoins' \(did you mean"),
        ('[mine]\ncommand = "a \'b"', "mine", "No closing quotation"),
        ("[mine]\ncommand = 3", "mine", r"engines\.toml: engine 'mine': command = 3, expected the engine's program"),
        (ENGINES, 3, "engine = 3, expected an engine's name"),
    ],
)
def test_mistakes_are_named_in_one_line(engines: str, reference: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "cups" / "engines.toml").write_text(engines)
    with pytest.raises(UserError, match=message) as refused:
        cup(tmp_path / "cups", CUP.replace('"mine"', json.dumps(reference), 1))
    assert "\n" not in str(refused.value)


def test_engines_of_cutechess_are_read(tmp_path: Path) -> None:
    configurations = [
        {"name": "Sloppy", "command": "sloppy", "arguments": ["-x"], "protocol": "uci", "options": [
            {"name": "Hash", "value": 64, "default": 16}, {"name": "Threads", "value": 1, "default": 1},
            {"name": "Clear Hash", "type": "button"},
        ]},
        {"name": "Other", "command": "./other", "protocol": "uci", "workingDirectory": str(tmp_path)},
        {"name": "Thinker", "command": "x", "protocol": "uci", "ponder": True, "restart": "on", "initStrings": []},
        {"name": "Usual", "command": "x", "protocol": "uci", "ponder": False, "restart": "off", "whitepov": False},
        {"name": "Told", "command": "x", "protocol": "xboard", "initStrings": ["memory 4"]},
    ]  # fmt: skip
    path = tmp_path / "engines.json"
    path.write_text(json.dumps(configurations))
    file = engines_file(str(path), Path())
    assert file.entry("Sloppy", "") == {
        "name": "Sloppy", "command": ["sloppy", "-x"], "protocol": "uci", "options": {"Hash": 64}
    }  # fmt: skip
    assert file.entry("Other", "")["directory"] == str(tmp_path)
    usual = {"name": "Usual", "command": ["x"], "protocol": "uci"}
    assert file.entry("Usual", "") == usual
    assert file.entry("Thinker", "") == usual | {"name": "Thinker", "ponder": True, "restart": "always"}
    with pytest.raises(UserError, match=r"player 1 \(Told\): unknown key 'initStrings'"):
        elolab("match", "--engine", "conf=Told", "--engine", "default", "--engines", str(path), "--dry-run")
    for text in ("{}x", "[3]", '{"a": 1}', '[{"name": "x"}]'):
        path.write_text(text)
        with pytest.raises(UserError, match="cannot be read as engines of cutechess"):
            engines_file(str(path), Path()).entry("Sloppy", "")


def test_a_mark_of_the_byte_order_is_no_part_of_the_engines_of_cutechess(tmp_path: Path) -> None:
    path = tmp_path / "engines.json"
    path.write_text('[{"name": "Mine", "command": "x"}]', encoding="utf-8-sig")
    assert engines_file(str(path), Path()).entry("Mine", "")["command"] == ["x"]


@pytest.fixture
def spaced(tmp_path: Path) -> Path:
    """A program below a folder with a space in its name, in the current folder."""
    program = tmp_path / "here" / "my engines" / "it's mine"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def commands_of(*words: str) -> list[list[str]]:
    """The commands of the players of a match, which is not played."""
    from elolab.arena.player_spec import PlayerReader
    from elolab.cli.shared.engine_options import PlayerWords, complete, named_player, read_player_words

    reader = PlayerReader("xiangqi", engines=engines_file(None, Path()))
    found = []
    for given in words:
        spoken = read_player_words(given.split("|"))
        named = named_player(spoken, PlayerWords(), reader.engines)
        entry = complete(named.entry | {"protocol": "uci"}, spoken, PlayerWords(), reader)
        found.append(list(reader.read(entry | {"limit": "depth=1"}, "here").command))
    return found


def test_a_value_that_as_a_whole_names_a_file_is_that_program_everywhere(spaced: Path) -> None:
    name = f"my engines/{spaced.name}"
    folder = json.dumps("my engines")
    Path("engines.toml").write_text(
        f"[one]\ncommand = {json.dumps(name)}\n"
        f"[two]\ncommand = {json.dumps(spaced.name)}\ndirectory = {folder}\n"
        f"[three]\ncommand = {json.dumps(str(spaced))}\ndirectory = {folder}\n"
        f"[four]\ncommand = 'my\\ engines/program -x'\n"
    )
    assert commands_of("conf=one", "conf=two", "conf=three", "conf=four", f"cmd={name}", f"cmd={name}|dir=my engines",
                       f"cmd={spaced.name}|dir=my engines", f"cmd={name}|arg=-x", "conf=one|arg=-x") == [
        [name], [f"./{spaced.name}"], [str(spaced)], ["my engines/program", "-x"], [name], [name], [f"./{spaced.name}"],
        [name, "-x"], [name, "-x"],
    ]  # fmt: skip
    for player in ("one", "two", "three"):
        assert elolab("engines", player) == 0


def test_a_program_of_a_file_of_engines_elsewhere_may_have_a_space(spaced: Path, tmp_path: Path) -> None:
    path = tmp_path / "here" / "engines.toml"
    path.write_text(f"[one]\ncommand = {json.dumps('my engines/' + spaced.name)}\n")
    assert engines_file(str(path), Path()).entry("one", "")["command"] == [str(spaced)]


def test_a_command_of_cutechess_is_one_program(spaced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    windows = "C:\\Engines\\fsf.exe"
    configurations = [
        {"name": "one", "command": str(spaced), "protocol": "uci", "workingDirectory": str(spaced.parent)},
        {"name": "two", "command": spaced.name, "arguments": ["-a", "b c"], "workingDirectory": str(spaced.parent)},
        {"name": "three", "command": windows, "protocol": "uci"},
        {"name": "four", "command": "sh -x", "protocol": "uci"},
    ]
    Path("engines.json").write_text(json.dumps(configurations))
    file = engines_file("engines.json", Path())
    commands = [file.entry(name, "")["command"] for name in ("one", "three", "four")]
    assert commands == [[str(spaced)], [windows], ["sh -x"]]
    assert file.entry("two", "")["command"] == [spaced.name, "-a", "b c"]
    assert elolab("engines", "--engines", "engines.json") == 1
    lines = capsys.readouterr().out.splitlines()
    assert f"cannot start '{windows}': this is a Windows path; give the program's path on this machine" in lines[4]
    assert (
        "cannot start 'sh -x': no such file; if 'sh' is the program, give its arguments as separate words" in lines[5]
    )


def test_backslashes_of_windows_stay_in_a_text(tmp_path: Path) -> None:
    from elolab.arena.command_lines import split_command

    assert split_command(r"C:\Engines\a.exe -x") == [r"C:\Engines\a.exe", "-x"]
    assert split_command(r"engines\a.exe") == [r"engines\a.exe"]
    assert split_command(r"a\ b c") == ["a b", "c"]
    assert split_command("") == []
    with pytest.raises(ValueError, match="No closing quotation"):
        split_command("a 'b")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("engines.toml", "[bad]\ncommand = 3", "engine 'bad': command = 3, expected the engine's program"),
        ("engines.toml", "[bad]\ncommand = true", "engine 'bad': command = true, expected"),
        ("engines.toml", "[bad]\ncommand = { a = 1 }", "engine 'bad': command = {a = 1}, expected"),
        ("engines.toml", "[bad]\ncommand = 'x'\nname = 3", "engine 'bad': name = 3, expected a text"),
        ("engines.toml", "[bad]\ncommand = 'x'\ndirectory = 3", "engine 'bad': directory = 3, expected a folder"),
        ("engines.json", '[{"name": "a", "command": 4}]', "engine 'a': command = 4, expected"),
        ("engines.json", '[{"name": 3, "command": "x"}]', "engine 1: name = 3, expected a text"),
        ("engines.json", '[{"name": "a", "command": "x", "options": [{"name": 3, "value": 1}]}]',
         "engine 1: options: name = 3, expected a text"),
    ],
)  # fmt: skip
def test_values_of_a_wrong_kind_are_refused_with_file_and_engine(
    name: str, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_text(text)
    for words in (["engines"], ["engines", "--check"], ["engines", "--json"], ["match", "bad", "default"]):
        if words[0] == "match" and "bad" not in text:
            continue
        assert command_line.main([*words, "--engines", name]) == 2
        assert f"{name}: {message}" in capsys.readouterr().err


@pytest.mark.integration
def test_a_word_that_an_engine_and_a_preset_have_is_asked_back(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "here" / "engines.toml").write_text(ENGINES.replace("[mock]", "[default]"))
    with pytest.raises(UserError, match="--engine conf=default or --engine preset=default"):
        elolab("match", "default", "material", "--dry-run")
    assert elolab("match", "mine", "--engine", "conf=default", "name=x", "--dry-run", "--json") == 0
    players = json.loads(capsys.readouterr().out)["players"]
    assert [(player["name"], player["protocol"]) for player in players] == [("mine", "UCI"), ("x", "UCI")]


def test_the_command_lists_engines_and_checks_them(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="engines: no engines file"):
        elolab("engines")
    monkeypatch.chdir(tmp_path / "cups")
    with open("engines.toml", "a") as file:
        file.write('[gone]\ncommand = "./gone"\n')
    assert elolab("engines", "--json") == 1
    engines = {engine["name"]: engine for engine in json.loads(capsys.readouterr().out)["engines"]}
    assert [engines[name]["protocol"] for name in ("mine", "mock", "gone")] == ["UCI", "", ""]
    assert [name for name in engines if engines[name]["problem"]] == ["gone"]
    assert "no such file" in engines["gone"]["problem"]
    assert elolab("engines", "mine", "mock", "--check") == 1
    lines = capsys.readouterr().out.splitlines()
    assert "handshake" in lines[2]
    assert lines[3].startswith("mock")
    assert lines[3].endswith("works")
    assert elolab("engines", "mock", "--check") == 0
    with pytest.raises(UserError, match="engine 'mokc' is not in"):
        elolab("engines", "mokc")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("foo = 1", "unknown key 'foo'"),
        ("margin = -1", "margin = -1, expected a number from 0 to 3600 seconds"),
        ('options = { Hash = 3 }\nlimit = "depth=3"', ""),
        ("ponder = true", ""),
        ('ponder = true\nlimit = "move_time=1"', ""),
        (
            'ponder = true\nlimit = "nodes=9"',
            "ponder = true, but its limit 'nodes=9' has no time; give it a clock or a move_time, or leave ponder out",
        ),
        ('commands = ["komi 0"]\nlimit = "own"', ""),
    ],
)
def test_an_engine_is_not_there_if_no_protocol_takes_its_keys(line: str, problem: str, capsys: Any) -> None:
    Path("engines.toml").write_text(f'[mine]\ncommand = "{sys.executable} -c pass"\n{line}\n')
    assert elolab("engines", "--json") == bool(problem)
    (engine,) = json.loads(capsys.readouterr().out)["engines"]
    assert engine["problem"].partition("; expected")[0] == problem
    assert engine["protocol"] == ""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("table", "protocol", "problem"),
    [
        ("options = { Hash = 3 }", "", "options is a key of engines over uci"),
        ('limit = "depth=4"', "", "GTP has no limit by depth"),
        ('protocol = "gtp"\nlimit = "depth=4"', "GTP", "GTP has no limit by depth"),
        ('protocol = "uci"\nlimit = "own"', "UCI", "only players over GTP"),
    ],
)
def test_what_is_said_of_an_engine_is_about_a_game_that_it_plays(
    table: str, protocol: str, problem: str, capsys: Any
) -> None:
    command = f"{MOCK.replace('mock_engines', 'mock_othello_engines')} normal protocol=gtp"
    Path("engines.toml").write_text(f'[mine]\ncommand = "{command}"\n{table}\n[preset]\npreset = "absent"\n')
    assert elolab("engines", "--check", "--json") == 1
    mine, preset = json.loads(capsys.readouterr().out)["engines"]
    assert problem in mine["problem"]
    assert (mine["protocol"], preset["protocol"]) == (protocol, "the built-in engine")


@pytest.mark.integration
def test_python_refers_to_engines_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "cups")
    with pytest.raises(UserError, match="player 'twin' cannot be started"):
        play_match("mock", {"engine": "mine", "name": "twin"}, limit="nodes=5", pairs=1)
