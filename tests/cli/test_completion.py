"""Completion in the shells: commands, options, files and names, and a shell that asks for them."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from argcomplete import CompletionFinder

from elolab import command_line
from elolab.cli import COMMANDS
from elolab.cli.completion import SHELLS, parser_for
from elolab.engine.settings.configuration import available_configs

BASH = """\
source <(elolab completion bash)
COMP_LINE='{line}' COMP_POINT={length}
_python_argcomplete elolab
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("file with spaces.toml").touch()
    Path("elolab.md").touch()
    return tmp_path


def completed(*words: str) -> set[str]:
    """What may stand in place of the last word, which is being written."""
    line = " ".join(words)
    finder = CompletionFinder(parser_for(f"elolab {line}"), always_complete_options=False)
    found = itertools.takewhile(lambda one: one is not None, (finder.rl_complete(line, at) for at in itertools.count()))
    kept = len(line) - len(words[-1])
    return {one[kept:].strip() for one in found if one is not None}


def test_commands_options_and_names() -> None:
    assert completed("to") == {"tournament"}
    assert completed("") == {command.name for command in COMMANDS} | {"help"}
    assert completed("match", "--pai") == {"--pairs"}
    assert completed("match", "default", "--pgno") == {"--pgnout"}
    assert completed("match", "--game", "oth") == {"othello"}
    assert completed("tournament", "--format", "gaunt") == {"gauntlet"}
    assert completed("match", "no-nu") == {"no-null-move"}
    assert completed("tune", "--language", "z") == {"zh"}
    assert completed("ablate", "null") == {name for name in available_configs("ablations") if name.startswith("null")}
    assert completed("openings", "ch") == {"check"}
    assert completed("openings", "balance", "--skip") == {"--skip-illegal"}
    assert not completed("openings", "check", "--skip")
    assert completed("parameters", "null_depth_") == {"null_depth_divisor"}
    assert completed("analyse", "--set", "null_mo") == {"null_move="}
    assert completed("suite", "x") == {"xiangqi-tactics"}
    assert completed("help", "per") == {"perft"}
    assert completed("solve", "--game", "") == {"othello", "chess"}
    assert completed("adapt", "--time-unit", "s") == {"seconds"}
    assert completed("keys", "resign_") == {"resign_moves", "resign_score", "resign_twosided"}
    assert completed("check", "--only", "hand") == {"handshake"}
    assert completed("completion", "") == set(SHELLS)


def test_nothing_is_offered_that_is_not_for_people() -> None:
    assert not completed("match", "--recov")  # a word of other programs that is answered
    assert completed("tournament", "--no-rep") == {"--no-repeats"}


def test_names_are_offered_for_every_value_of_an_option() -> None:
    assert completed("analyse", "--set", "null_move=off", "killers") == {"killers="}
    assert completed("analyse", "--set", "null_move=off", "--dep") == {"--depth"}
    assert not completed("analyse", "--set", "null_move=off", "--depth", "kil")
    assert "othello" in completed("match", "--openings", "order=random", "oth")


def test_files_are_offered_where_they_can_stand() -> None:
    assert completed("tournament", "file") == {r"file\ with\ spaces.toml"}
    assert completed("analyse", "--preset", "file") == {r"file\ with\ spaces.toml"}
    for words in (("openings", "check"), ("runs",), ("runs", "list"), ("adapt", "--directory"), ("report",)):
        assert "elolab.md" in completed(*words, "el"), words


@pytest.mark.parametrize(
    "words",
    [
        ("analyse", "--set"), ("adapt", "--time-unit"), ("completion",), ("analyse", "--depth"), ("analyse",),
        ("parameters",), ("solve", "--game"), ("help",),
    ],
)  # fmt: skip
def test_files_are_not_offered_where_none_can_stand(words: tuple[str, ...]) -> None:
    assert "elolab.md" not in completed(*words, "elolab")


def test_files_are_offered_for_a_value_where_no_name_fits() -> None:
    presets = {name for name in available_configs("engines") if name.startswith("el")}
    assert completed("analyse", "--preset", "el") == presets
    assert completed("analyse", "--preset", "elolab") == {"elolab.md"}


def test_users_own_configurations_are_offered(folder: Path) -> None:
    (folder / "configs" / "tuning").mkdir(parents=True)
    (folder / "configs" / "tuning" / "my-own.toml").touch()
    assert completed("tune", "my") == {"my-own"}


@pytest.mark.integration
def test_bash_asks_for_what_may_stand(folder: Path) -> None:
    for line, expected in (("elolab tourn", "tournament"), ("elolab match --game oth", "othello")):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        finished = subprocess.run(
            ["bash", "--norc", "-c", BASH.format(line=line, length=len(line))],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": path}, check=True,
        )  # fmt: skip
        assert finished.stdout.split() == [expected]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_can_be_read(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "elolab" in script
    if shutil.which(shell):
        (folder / "script").write_text(script)
        subprocess.run([shell, "-n", "script"], check=True)


def test_other_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err


def test_the_commands_that_the_guide_names_speak_chinese() -> None:
    inner = {"openings": ("check",), "runs": ("list",)}
    speakers = {one.name for one in COMMANDS if completed(one.name, *inner.get(one.name, ()), "--languag")}
    assert speakers == {one.name for one in COMMANDS if one.group in ("Playing", "Improving")} - {"convert"}
