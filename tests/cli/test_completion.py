"""Completion in the shells: the scripts are read without error, and complete commands, options, files and names."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from elolab import command_line
from elolab.cli.completion import SCRIPTS, completions
from elolab.command_line import COMMANDS
from elolab.engine.settings.configuration import available_configs

FOUND = tuple(completions())
BASH = """\
source {script}
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_elolab
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """\
compdef() {{ :; }}
_describe() {{ print -l -- ${{(P)2}}; }}
compadd() {{
    local ending=
    [[ $1 == -S ]] && ending=$2 && shift 2
    [[ $1 == -- ]] && shift
    set -- ${{(M)@:#$PREFIX*}}
    (($#)) && print -l -- ${{^@}}$ending
}}
_files() {{ print -l -- *; }}
source {script}
words=({words}) CURRENT=$#words PREFIX=$words[-1]
_elolab
"""
"""What the completion system hands over is shown as it is: it can only be had in a terminal."""
SHELLS = tuple(shell for shell in SCRIPTS if shutil.which(shell))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    for shell, script in SCRIPTS.items():
        (folder / f"elolab.{shell}").write_text(script(FOUND))
    (folder / "file with spaces.toml").write_text("")
    return folder


def completed(folder: Path, shell: str, *words: str) -> set[str]:
    """What is offered after these words, the last of which is being written; without what an offer means."""
    script = folder / f"elolab.{shell}"
    if shell == "fish":
        line = " ".join(("elolab", *words))
        code = f"set -e fish_complete_path; source {script}; complete -C '{line}'"
    else:
        quoted = " ".join(f"'{word}'" for word in ("elolab", *words))
        code = (BASH if shell == "bash" else ZSH).format(script=script, words=quoted)
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    finished = subprocess.run([shell, *quiet, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert finished.stderr == ""
    split = {"bash": "\0", "zsh": ":", "fish": "\t"}[shell]
    offered = (line.split(split)[0] for line in finished.stdout.splitlines())
    return {name for name in offered if name.startswith(words[-1])}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_can_be_read(shell: str, folder: Path) -> None:
    finished = subprocess.run([shell, "-n", str(folder / f"elolab.{shell}")], capture_output=True, text=True)
    assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_names_and_files(shell: str, folder: Path) -> None:
    assert completed(folder, shell, "to") == {"tournament"}
    assert completed(folder, shell, "") >= {command.name for command in COMMANDS}
    assert completed(folder, shell, "match", "--pai") == {"--pairs"}
    assert completed(folder, shell, "match", "default", "--pgno") == {"--pgnout"}
    assert completed(folder, shell, "match", "--game", "oth") == {"othello"}
    assert completed(folder, shell, "tournament", "--format", "gaunt") == {"gauntlet"}
    assert completed(folder, shell, "match", "no-nu") == {"no-null-move"}
    assert completed(folder, shell, "tune", "--language", "z") == {"zh"}
    assert completed(folder, shell, "ablate", "null") == {
        name for name in available_configs("ablations") if name.startswith("null")
    }
    assert "check" in completed(folder, shell, "openings", "ch")
    assert "check" not in completed(folder, shell, "openings", "balance", "ch")
    assert "--skip-illegal" in completed(folder, shell, "openings", "balance", "--skip")
    assert "--skip-illegal" not in completed(folder, shell, "openings", "check", "--skip")
    assert "--directory" not in completed(folder, shell, "openings", "check", "--dir")  # of the command check


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "fish"])  # fish escapes what it offers
def test_files_are_offered_as_they_are(shell: str, folder: Path) -> None:
    assert completed(folder, shell, "tournament", "file") == {"file with spaces.toml"}
    assert completed(folder, shell, "match", "--preset", "file") <= {"file with spaces.toml"}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "words",
    [
        ("analyse", "--set"), ("adapt", "--time-unit"), ("openings",), ("completion",), ("analyse", "--depth"),
        ("analyse",), ("parameters",), ("solve", "--game"), ("help",),
    ],
)  # fmt: skip
def test_files_are_not_offered_where_none_can_stand(shell: str, words: tuple[str, ...], folder: Path) -> None:
    assert not {name for name in completed(folder, shell, *words, "") if "file" in name or name.startswith("elolab")}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("words", [("openings", "check"), ("runs",), ("runs", "list"), ("adapt", "--directory")])
def test_files_are_offered_where_they_can_stand(shell: str, words: tuple[str, ...], folder: Path) -> None:
    assert f"elolab.{shell}" in completed(folder, shell, *words, "el")


@pytest.mark.parametrize("shell", SHELLS)
def test_names_are_offered_where_they_can_stand(shell: str, folder: Path) -> None:
    assert "null_move" in completed(folder, shell, "parameters", "null_")
    assert "null_move=" in completed(folder, shell, "analyse", "--set", "null_mo")
    assert completed(folder, shell, "suite", "x") == {"xiangqi-tactics"}
    assert completed(folder, shell, "help", "per") == {"perft"}
    assert completed(folder, shell, "solve", "--game", "") - {""} == {"othello"}
    assert completed(folder, shell, "adapt", "--time-unit", "s") == {"seconds"}
    assert "resign_score" in completed(folder, shell, "keys", "resign_")
    assert completed(folder, shell, "check", "--only", "hand") == {"handshake"}


@pytest.mark.parametrize("shell", SHELLS)
def test_names_are_offered_for_every_value_of_an_option(shell: str, folder: Path) -> None:
    """Bash takes an equals sign for a word of its own."""
    first, order = ("null_move=off",), ("order=random",)
    if shell == "bash":
        first, order = ("null_move", "=", "off"), ("order", "=", "random")
        assert "killers=" not in completed(folder, shell, "analyse", "--set", "null_move", "=", "kil")
    for words in (("analyse", "--set", *first), ("bench", "--depth", "3", "--set", *first, *first)):
        assert "killers=" in completed(folder, shell, *words, "kil")
        assert "--set" in completed(folder, shell, *words, "--s")
        assert "killers=" not in completed(folder, shell, *words, "--depth", "kil")
    assert "othello" in completed(folder, shell, "match", "--openings", *order, "oth")
    # Players can stand before such an option only.
    assert "othello-ids" not in completed(folder, shell, "match", "--openings", *order, "oth")
    assert "othello-ids" in completed(folder, shell, "match", "--openings", *order, "--pairs", "5", "oth")
    assert not completed(folder, shell, "analyse", "--set", *first, "elolab")


@pytest.mark.parametrize("shell", SHELLS)
def test_files_are_offered_for_a_value_where_no_name_fits(shell: str, folder: Path) -> None:
    """The folder's files begin as names of presets do."""
    assert completed(folder, shell, "analyse", "--preset", "el") == {
        name for name in available_configs("engines") if name.startswith("el")
    }
    assert completed(folder, shell, "match", "--openings", "order=random", "") >= {"othello", "xiangqi"}
    assert f"elolab.{shell}" not in completed(folder, shell, "match", "--openings", "order=random", "")
    assert f"elolab.{shell}" in completed(folder, shell, "analyse", "--preset", "elolab")


def test_nothing_is_offered_that_is_not_for_people() -> None:
    offered = {one.path: {option.name for option in one.options} for one in FOUND}
    assert set(offered) >= {command.name for command in COMMANDS}
    assert "--recover" not in offered["match"]  # a word of other programs that is answered
    assert {"--repeats", "--no-repeats"} <= offered["tournament"]


def test_the_commands_that_the_guide_names_speak_chinese() -> None:
    speakers = {one.path.split()[0] for one in FOUND if "--language" in {option.name for option in one.options}}
    assert speakers == {command.name for command in COMMANDS if command.group in ("Playing", "Improving")} - {"convert"}


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert command_line.main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == (folder / "elolab.bash").read_text()
    assert command_line.main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
