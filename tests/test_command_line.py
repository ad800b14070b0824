"""The command line: help, speed of start, errors in one line, exit codes, and the arguments that all commands share."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elolab import command_line
from elolab.cli import Command
from elolab.cli.shared.options import (
    add_concurrency,
    add_game,
    add_limit,
    add_parameter,
    add_position,
    add_rules,
    add_search_limit,
    add_seed,
    overrides_of,
    position_of,
    print_json,
    rules_of,
    search_limits_of,
    usable_processors,
)
from elolab.cli.shared.parser import CommandParser, UsageError
from elolab.engine import suite
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import Game
from elolab.engine.rules import Rules
from elolab.engine.settings.limits import LimitError, Limits
from elolab.engine.settings.parameters import ParameterError

ROOT = Path(__file__).parent.parent
COMMAND_NAMES = [command.name for command in command_line.COMMANDS]

HEAVY = ("numba", "pandas", "matplotlib", "optuna", "scipy", "jinja2")
"""Libraries that take long to import and must not be loaded only to print help."""

REPORT_IMPORTS = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from elolab import command_line
code = command_line.main(sys.argv[1:])
print(*[name for name in {(*HEAVY, "numpy")!r} if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""

REPORT_HELP = f"""
import contextlib, io, json, sys
sys.path.insert(0, {str(ROOT)!r})
from elolab import command_line
found = {{}}
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        code = command_line.main([name, "--help"])
    loaded = [library for library in {HEAVY!r} if library in sys.modules]
    found[name] = {{"code": code, "help": text.getvalue(), "loaded": loaded}}
print(json.dumps(found))
"""


def run_elolab(*words: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, str(ROOT / "elolab"), *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        **settings,  # type: ignore[call-overload]
    )


@pytest.fixture
def fake_command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """``fake_command(run)`` adds a command ``fake`` that calls ``run``."""

    def add(run: Callable[[], int]) -> None:
        module = types.ModuleType("elolab.cli.fake")
        module.configure = lambda parser: parser.add_argument("--depth", type=int)  # type: ignore[attr-defined]
        module.run = lambda arguments: run()  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "elolab.cli.fake", module)
        fake = Command("fake", "", "a fake")
        monkeypatch.setattr(command_line, "COMMANDS", (*command_line.COMMANDS, fake))

    return add


def raising(error: BaseException) -> Callable[[], int]:
    def run() -> int:
        raise error

    return run


# Help and what it loads


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command_within_80_columns(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(words) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for name in COMMAND_NAMES:
        assert f"  {name} " in shown


def test_help_of_a_command_may_be_asked_for_in_either_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["help", "match"]) == 0
    shown = capsys.readouterr().out
    assert command_line.main(["match", "--help"]) == 0
    assert capsys.readouterr().out == shown
    assert command_line.main(["help", "mtach"]) == 2
    assert "'match'" in capsys.readouterr().err


def test_help_loads_no_library() -> None:
    finished = subprocess.run([sys.executable, "-c", REPORT_IMPORTS, "--help"], capture_output=True, text=True)
    assert (finished.returncode, finished.stderr.split()) == (0, [])


@pytest.fixture(scope="module")
def helped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Of every command the exit code, the help and what is loaded then; one interpreter has asked for all."""
    folder, environment = tmp_path_factory.mktemp("help"), os.environ | {"COLUMNS": "80"}
    asked = [sys.executable, "-c", REPORT_HELP, *COMMAND_NAMES]
    finished = subprocess.run(asked, capture_output=True, text=True, cwd=folder, env=environment)
    assert finished.returncode == 0, finished.stderr
    found: dict[str, dict[str, Any]] = json.loads(finished.stdout)
    return found


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_help_of_every_command_works_and_loads_no_heavy_library(name: str, helped: dict[str, dict[str, Any]]) -> None:
    assert helped[name]["code"] == 0
    assert max(map(len, helped[name]["help"].splitlines())) <= 80
    assert helped[name]["help"].startswith(f"usage: elolab {name}")
    assert not set(HEAVY) & set(helped[name]["loaded"])


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("elolab ")


# Errors and exit codes


@pytest.mark.parametrize(("typed", "meant"), [("tournamet", "tournament"), ("analyze", "analyse"), ("param", "param")])
def test_unknown_command_names_the_nearest(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([typed]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"elolab: unknown command {typed!r} (did you mean '{meant}")
    assert captured.err.count("\n") == 1


def test_errors_in_a_real_process_are_one_line() -> None:
    finished = run_elolab("parameters", "--jsn")
    assert finished.returncode == 2
    assert finished.stderr == (
        "elolab: parameters: unexpected argument '--jsn' (did you mean --json?); "
        "elolab parameters --help explains the arguments\n"
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--fen", "4k3/8/4K3/4P3/8/8/8/8 w"], "; for this position of chess give --game chess"),
        (
            ["--game", "chess", "--fen", "3k5/9/9/9/9/9/9/9/9/4K4 w"],
            "; for this position of xiangqi give --game xiangqi",
        ),
        (["--fen", "4k3/8/4K3/4P3/8/8/8/9 w"], ": 8 ranks, expected 10 (rank 9 first)"),
    ],
)
def test_a_position_of_another_game_is_called_that(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["judge", *words]) == 2
    assert capsys.readouterr().err.endswith(f"{hint}\n")


def test_a_current_folder_that_is_gone_is_called_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert command_line.main(["match", "default", "no-null-move", "--pairs", "1"]) == 1
    assert capsys.readouterr().err == "elolab: the current folder no longer exists; change to another one\n"


NO_MEMORY = "not enough memory; allow more (ulimit -v), or end other programs"


class NotConfirmedError(UserError):
    exit_code = 3


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("demo.toml: pairs = 0, expected at least 1"), 2, "demo.toml: pairs = 0, expected at least 1"),
        (NotConfirmedError("not confirmed"), 3, "not confirmed"),
        (FileNotFoundError(2, "No such file or directory", "a b.toml"), 1, "a b.toml: No such file or directory"),
        (OSError(28, "No space left on device"), 1, "the output cannot be written: No space left on device"),
        (
            OSError(24, "Too many open files", "/dev/null"),
            1,
            "Too many open files: allow more of them (ulimit), or play fewer games at a time (--concurrency)",
        ),
        (MemoryError(), 1, NO_MEMORY),
        (ImportError("numpy.so: failed to map segment from shared object"), 1, NO_MEMORY),
        (OSError(12, "Cannot allocate memory"), 1, NO_MEMORY),
        (RuntimeError("can't start new thread"), 1, NO_MEMORY),
        (UserError("name = 'a\nb\x1b[2J'"), 2, "name = 'a\\nb\\x1b[2J'"),
        (
            UserError(f"x.toml: name = {'n' * 10_000!r}, expected less"),
            2,
            f"x.toml: name = '{'n' * 984} … {'n' * 984}', expected less",
        ),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_failures_are_one_line_with_their_exit_code(
    error: BaseException,
    code: int,
    line: str,
    fake_command: Callable[[Callable[[], int]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake_command(raising(error))
    assert command_line.main(["fake"]) == code
    assert capsys.readouterr().err == f"elolab: {line}\n"


def test_a_command_decides_its_exit_code(fake_command: Callable[[Callable[[], int]], None]) -> None:
    fake_command(lambda: 3)
    assert command_line.main(["fake", "--depth", "4"]) == 3


def test_a_fault_of_ours_keeps_its_traceback(fake_command: Callable[[Callable[[], int]], None]) -> None:
    fake_command(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        command_line.main(["fake"])


def test_the_traceback_of_an_error_can_be_asked_for(
    fake_command: Callable[[Callable[[], int]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(command_line.TRACEBACK_VARIABLE, "1")
    fake_command(raising(UserError("wrong")))
    with pytest.raises(UserError):
        command_line.main(["fake"])


@pytest.mark.skipif(os.name != "posix", reason="pipes break differently elsewhere")
def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, str(ROOT / "elolab"), "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.integration
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--help"], ["perft", "--help"], ["openings", "check", "--help"]])
def test_a_full_disk_behind_standard_output_is_one_line(words: list[str], unbuffered: str) -> None:
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        finished = subprocess.run(
            [sys.executable, str(ROOT / "elolab"), *words], stdout=full, stderr=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
    assert finished.returncode == 1
    assert finished.stderr == "elolab: the output cannot be written: No space left on device\n"


@pytest.mark.integration
@pytest.mark.skipif(os.name != "posix", reason="closes a stream by a shell's words")
@pytest.mark.parametrize("words", [["--help"], ["parameters", "--help"], ["parameters", "tempo"]])
def test_a_closed_standard_output_is_one_line(words: list[str]) -> None:
    command = ["sh", "-c", '"$@" >&-', "sh", sys.executable, str(ROOT / "elolab"), *words]
    finished = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert finished.returncode == 1
    assert finished.stderr == "elolab: the output cannot be written: Bad file descriptor\n"


def test_a_terminal_without_unicode_is_no_error() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    finished = run_elolab("炮二平五", env=environment)
    assert finished.returncode == 2
    assert finished.stderr.startswith("elolab: unknown command '\\u70ae")


def printed_in(encoding: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """What a command prints to an output with this encoding."""
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        assert command_line.main(words) == 0
    return output.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk"])
def test_scores_can_be_read_where_the_encoding_has_no_minus_sign(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = printed_in(encoding, monkeypatch, "analyse", "--fen", "4k4/9/9/9/9/9/9/9/4R4/3K5 b", "--depth", "3")
    assert "\n1.     -M1  depth 2   e9f9 e1e8\n" in text


def test_json_stays_json_where_the_encoding_lacks_a_character(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "names.epd").write_text('4k4/9/9/9/9/9/9/9/4R4/3K5 b; bm e9f9; id "Réti 😀"\n', "utf-8")
    text = printed_in("ascii", monkeypatch, "suite", str(tmp_path / "names.epd"), "--depth", "2", "--json")
    assert [one["name"] for one in json.loads(text)["attempts"]] == ["Réti 😀"]


# Shared arguments


def parsed(add: Callable[..., None], *words: str, **settings: object) -> types.SimpleNamespace:
    """The arguments that ``add`` adds to a parser, read from ``words``."""
    parser = CommandParser(prog="elolab fake")
    add(parser, **settings)
    return parser.parse_args(words, types.SimpleNamespace())  # type: ignore[no-any-return]


def test_descriptions_are_wrapped_except_indented_examples() -> None:
    example = "  elolab fake " + "word " * 30
    parser = CommandParser(prog="elolab fake", description="word " * 60 + "\n\n" + example)
    lines = parser.format_help().splitlines()
    assert example.rstrip() in [line.rstrip() for line in lines]
    assert all(len(line) <= 200 for line in lines)
    assert sum(line.startswith("word") for line in lines) > 1


def test_options_cannot_be_abbreviated() -> None:
    with pytest.raises(UsageError, match=r"fake: unexpected argument '--mov' \(did you mean --moves\?\)"):
        parsed(add_position, "--mov", "h2e2")


def test_an_option_that_no_option_resembles_has_no_hint() -> None:
    with pytest.raises(UsageError, match="fake: unexpected argument '--pairs'; elolab fake --help"):
        parsed(add_position, "--pairs", "20")


@pytest.mark.parametrize(("command", "file"), [("ablate", "ablation specification"), ("tune", "tuning specification")])
def test_an_option_that_is_a_key_of_the_file_is_hinted_there(
    command: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main([command, "first", "--limit", "nodes=5", "--zzz"]) == 2
    assert capsys.readouterr().err == (
        f"elolab: {command}: unexpected arguments '--limit' (limit is a key of the {file}; set it there), "
        f"'--zzz'; elolab {command} --help explains the arguments\n"
    )


def test_a_missing_value_is_one_line_that_names_the_option() -> None:
    with pytest.raises(UsageError, match=r"fake: argument --fen: expected one argument; elolab fake --help"):
        parsed(add_position, "--fen")


def test_a_value_taken_for_an_option_is_told_how_to_give() -> None:
    board = "-" * 27 + "OX------XO" + "-" * 27 + "X"
    with pytest.raises(UsageError) as error:
        parsed(add_position, "--board", board)
    assert "expected one argument; a value that begins with - is given as --board=VALUE; elolab" in str(error.value)
    assert parsed(add_position, f"--board={board}").board == board
    for words in (("--board",), ("--board", "--fen", "x"), ("--board", "--fen=x")):
        with pytest.raises(UsageError, match="argument --board: expected one argument; elolab fake --help"):
            parsed(add_position, *words)


def test_numbers_are_read_with_the_minus_sign_that_is_printed() -> None:
    assert overrides("--set", "lmr_base=−50", "tempo=3") == overrides("--set", "lmr_base=-50", "tempo=3")
    assert parsed(lambda parser: parser.add_argument("--elo0", type=float), "--elo0", "−2.5").elo0 == -2.5
    # In what is no number it stays.
    assert parsed(add_position, "--moves", "−a", "炮8−1").moves == ["−a", "炮8−1"]


def test_limit_is_read_by_the_one_grammar() -> None:
    assert parsed(add_limit, "--limit", "clock=10+0.1").limit == Limits(clock_ms=10_000, increment_ms=100)
    assert parsed(add_limit, default="nodes=1000").limit == Limits(nodes=1000)
    assert parsed(add_limit).limit is None
    for text in ("clock=1000.001+0", "clock=999999.5+0.25", "move_time=0.05", "clock=40/300+0"):
        assert str(Limits.parse(text)) == text
    with pytest.raises(LimitError, match="moves to a control"):
        parsed(add_limit, "--limit", "clock=99999999999999999999/10")
    with pytest.raises(LimitError, match="nodse"):
        parsed(add_limit, "--limit", "nodse=1000")


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ([], Limits(depth=6)),
        (["--depth", "8"], Limits(depth=8)),
        (["--nodes", "5000", "--time", "0.5"], Limits(nodes=5000, move_time_ms=500)),
        (["--limit", "depth=3,nodes=10"], Limits(depth=3, nodes=10)),
    ],
)
def test_limits_of_one_search(words: list[str], limits: Limits) -> None:
    assert search_limits_of(parsed(add_search_limit, *words), "depth=6") == limits  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--depth", "0"], "depth is '0'"),
        (["--time", "soon"], "'soon'"),
        (["--limit", "depth=3", "--nodes", "10"], "--limit"),
    ],
)
def test_wrong_limits_of_one_search(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        search_limits_of(parsed(add_search_limit, *words), "depth=6")  # type: ignore[arg-type]


def test_settings_may_follow_one_option_or_several() -> None:
    found = overrides("--set", "tempo=7", "null_move=off", "--set", "evaluation=material")
    assert found == {"tempo": 7, "null_move": False, "evaluation": "material"}


def overrides(*words: str) -> dict[str, Any]:
    """The settings of a command that is for one game."""
    parser = CommandParser(prog="elolab fake")
    add_game(parser)
    add_parameter(parser)
    return overrides_of(parser.parse_args(words))


def test_settings_lie_over_the_preset_under_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[xiangqi]\nNullDepth = 4\nvalWINDOW = 20\n[othello]\nHash = 1\n")
    preset = ["--preset", str(tmp_path / "mine.toml")]
    assert overrides(*preset) == {"null_depth": 4, "aspiration_window": 20}
    assert overrides(*preset, "--set", "NullDepth=2", "hash=8") == {
        "null_depth": 2, "aspiration_window": 20, "hash_mb": 8,
    }  # fmt: skip
    assert overrides("--game", "othello", *preset) == {"hash_mb": 1}
    assert overrides("--set", "nulldepth=2") == {"null_depth": 2}


def test_a_setting_without_effect_is_named_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--preset", "fenon", "--set", "valWINDOW=30", "null_depth=4", "null_in_pv=off"]
    assert overrides(*words)["aspiration_window"] == 30
    assert capsys.readouterr().err == (
        "elolab: --set aspiration_window=30 changes nothing: it has an effect only if aspiration is full or one_sided "
        "or gradual or naive_half or naive, which is off\n"
    )
    overrides(*words, "aspiration=full")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["analyse", "suite --limit depth=1 xiangqi-tactics", "bench", "engine", "solve"])
def test_every_command_that_takes_settings_names_those_without_effect(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    game = ["--game", "othello"] if command == "solve" else []
    position = ["--board", "X" * 60 + "OO--X"] if command == "solve" else []
    words = [*command.split(), *game, *position, "--set", "null_move=off", "null_min_depth=3"]
    words += ["--depth", "1"] if command == "analyse" else []
    command_line.main(words)
    said = capsys.readouterr().err
    assert "--set null_min_depth=3 changes nothing: it has an effect only if null_move is on, which is off" in said
    assert "null_move=off" not in said


def test_a_setting_of_the_clock_has_no_effect_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["analyse", "--depth", "1", "--set", "time_divisor=30"]) == 0
    assert "time_divisor=30 changes nothing: it has an effect only on a clock, and the limit is depth=1" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--preset", "fennon"], "did you mean 'fenon'"),
        (["--preset", "fenon", "--game", "othello"], r"no section \[othello\]"),
        (["--preset", "fenon", "--game", "xiangi"], "xiangqi"),
        (["--set", "endgame_parity=on"], "--set: endgame_parity does not apply to xiangqi"),
        (["--set", "Hash=1", "hash_mb=1"], "--set: Hash and hash_mb are the same parameter"),
    ],
)
def test_wrong_presets_and_settings_of_another_game_are_refused(words: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        overrides(*words)


WITH_SETTINGS = ("engine", "analyse", "suite", "solve", "bench")
"""The commands that run the built-in engine under settings of the caller's choice."""


@pytest.mark.parametrize("name", COMMAND_NAMES)
def test_one_spelling_says_which_preset(name: str) -> None:
    command = command_line.find_command(name)
    parser = CommandParser(prog=f"elolab {name}")
    import_module(command.module).configure(parser)
    options = set(parser._option_string_actions)
    plays = name in ("match", "sprt", "tournament", "bisect")
    assert ("--engine" in options) == plays, "there it is a player"
    assert not {"--config", "--configuration"} & options
    assert options & {"--preset", "--set"} == ({"--preset", "--set"} if name in WITH_SETTINGS else set())


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["suite", "xiangqi-tactics", "--engine", "fenon"], "--preset"),
        (["suite", "--engine", "fenon"], "--preset"),
        (["analyse", "--engine=fenon"], "--preset"),
        (["analyse", "--perset", "fenon"], "--preset"),
        (["engine", "--engine", "fenon"], "--preset"),
        (["bench", "--config", "fenon"], "--preset"),
        (["solve", "--board", "x", "--option", "hash_mb=1"], "--set"),
        (["analyse", "--settings", "hash_mb=1"], "--set"),
        (["tournament", "--vv", "x.toml"], "-v"),
    ],
)
def test_other_spellings_are_answered_with_the_right_one(
    words: list[str], right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(words) == 2
    error = capsys.readouterr().err
    assert f"(did you mean {right}?)" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("words", [["stats", "-1", "2", "3"], ["convert", "x.pgn", "--notation", "wxf"]])
def test_no_option_is_suggested_that_only_shares_some_letters(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(words) == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("words", ["match default fenon", "tune first", "ablate first", "claims", "report x"])
def test_an_empty_name_is_not_the_current_folder(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A variable of the shell that is not set would have results written over whatever is there."""
    assert command_line.main([*words.split(), "--out", ""]) == 2
    assert "argument --out: '' is not a folder; give a folder" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["tempo", "tempi=3", "tempo=201", "evaluation=materiel"])
def test_wrong_settings_are_refused(word: str) -> None:
    with pytest.raises(ParameterError, match="--set"):
        overrides("--set", word)


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ([], Rules()),
        (["--repetition", "draw", "--fold", "4"], Rules(repetition="draw", fold=4)),
        (["--move-limit", "off", "--insufficient", "off"], Rules(move_limit=0, insufficient=False)),
        (["--move-limit", "100"], Rules(move_limit=100)),
    ],
)
def test_rules(words: list[str], rules: Rules) -> None:
    assert rules_of(parsed(add_rules, *words)) == rules  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words", [["--fold", "2"], ["--repetition", "asia"], ["--move-limit", "-1"], ["--move-limit", "9" * 20]]
)
def test_wrong_rules_are_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match=words[0]):
        parsed(add_rules, *words)


def test_a_board_text_of_another_game_is_refused_with_a_hint() -> None:
    parser = CommandParser(prog="elolab fake")
    add_game(parser)
    add_position(parser)
    with pytest.raises(UsageError, match="--board does not describe a position of xiangqi; give --fen"):
        position_of(parser.parse_args(["--board", "-" * 64 + " X"]))


HUGE = "9" * 5000
"""Python refuses to read a number of so many digits."""


@pytest.mark.parametrize("read", [
    lambda: Limits.parse(f"nodes={HUGE}"),
    lambda: game_named("xiangqi").position(f"4k4/9/9/9/9/9/9/9/9/3K5 w - - {HUGE} 1"),
    lambda: parsed(add_seed, "--seed", HUGE),
    lambda: parsed(add_rules, "--move-limit", HUGE),
])  # fmt: skip
def test_numbers_of_thousands_of_digits_are_refused(read: Callable[[], object]) -> None:
    with pytest.raises(UserError, match=r"expected|not a|neither a"):
        read()


@pytest.mark.parametrize("words", [["perft", "--depth", "2"], ["suite", "xiangqi-tactics", "--nodes", "10"]])
def test_long_work_leaves_the_main_thread_free_for_ctrl_c(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: set[threading.Thread] = set()

    def noticed(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            seen.add(threading.current_thread())
            return work(*arguments, **named)

        return run

    monkeypatch.setattr(Game, "perft", noticed(Game.perft))
    monkeypatch.setattr(suite, "attempt", noticed(suite.attempt))
    assert command_line.main(words) == 0
    assert capsys.readouterr().out
    assert seen
    assert threading.main_thread() not in seen


def test_random_seeds_are_used_as_they_are_or_refused() -> None:
    assert parsed(add_seed, "--seed", str(2**63 - 1)).seed == 2**63 - 1
    for seed in (2**63, 10**19, 10**30):
        with pytest.raises(UsageError, match=f"--seed: '{seed}' is not a whole number from 0 to {2**63 - 1}"):
            parsed(add_seed, "--seed", str(seed))


def test_numbers_have_a_least_value() -> None:
    assert parsed(add_seed, "--seed", "0").seed == 0
    assert parsed(add_seed, default=5).seed == 5
    assert parsed(add_concurrency).concurrency == usable_processors() >= 1
    for add, option in ((add_seed, "--seed"), (add_concurrency, "--concurrency")):
        with pytest.raises(UsageError, match=option):
            parsed(add, option, "-1")
    with pytest.raises(UsageError, match="at least 1"):
        parsed(add_concurrency, "--concurrency", "0")


def test_json_is_unrounded_and_always_valid(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"elo": [math.inf, math.nan, 1 / 3], "games": np.int64(4), "name": "炮", "rate": np.float64(0.1)})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"elo": [None, None, 1 / 3], "games": 4, "name": "炮", "rate": 0.1}
    assert "炮" in shown


INTERRUPTED_AT_THE_END = """
import atexit, os, signal, sys
from elolab.command_line import main

signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["elolab", "--version"]
sys.exit(main())
"""


def test_ctrl_c_while_the_interpreter_ends_leaves_no_traceback() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT_THE_END], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")
    assert ended.stdout.startswith("elolab")
