"""The command ``check``: what it prints, its exit codes, and both languages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from elolab.command_line import main

MOCK = Path(__file__).parents[1] / "support" / "mock_examined_engine.py"


def check(*words: str, vice: str = "none") -> int:
    return main(
        ["check", "--protocol", "uci", *words, "--", sys.executable, "-I", "-S", str(MOCK), vice, "protocol=uci"]
    )


def items(lines: list[str]) -> list[str]:
    """The lines, each with those that go on with it."""
    whole: list[str] = []
    for line in lines:
        if line.startswith(" " * 10):
            whole[-1] += f" {line.strip()}"
        else:
            whole.append(line)
    return whole


@pytest.mark.integration
def test_a_program_that_keeps_to_its_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--only", "ranks,banned_moves") == 0
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown[1:])) <= 80
    title, *lines, summary = items(shown)
    assert title.endswith(": Chinese Chess, over UCI")
    assert [line[:10] for line in lines] == [" pass     "] * 3 + [" n/a      "]
    assert lines[2].endswith(": the program counts ranks from 1")
    assert lines[3].endswith("(UCI has no command for this)")
    assert summary == "Protocol followed: 3 passed, 0 failed, 0 against advice, 1 not applicable."


@pytest.mark.integration
def test_a_failure_is_told_with_the_dialogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--only", "depth", vice="searches_too_deep") == 1
    lines = capsys.readouterr().out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(" FAIL "))
    assert lines[start].endswith("[depth]")
    assert lines[start + 1].strip() == "The program searched to depth 2; the limit was depth 1."
    assert lines[start + 3].endswith(" > go depth 1")
    assert " < info depth 2 " in lines[start + 4]
    assert lines[-1].startswith("Protocol violated: 2 passed, 1 failed, ")


@pytest.mark.integration
def test_advice_that_is_not_followed_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--only", "name", vice="nameless") == 0
    out = capsys.readouterr().out
    assert "\n advice   the program gives its name [name]\n" in out
    assert "1 passed, 0 failed, 1 against advice" in out


@pytest.mark.integration
def test_what_needs_a_failed_check_is_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--only", "stop", vice="exits_at_start") == 1
    lines = items(capsys.readouterr().out.splitlines())
    assert any("cannot find my network file" in line for line in lines)
    assert not any("n/a" in line for line in lines)
    assert lines[-2] == "2 checks were not tried, because they need a check that failed."
    assert lines[-1] == "Protocol violated: 0 passed, 1 failed, 0 against advice, 2 not applicable."


@pytest.mark.integration
def test_who_answers_in_another_protocol_is_told_which(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--protocol", "ucci", "--start", "300", "--only", "stop"]
    assert main(["check", *words, "--", sys.executable, "-I", "-S", str(MOCK), "none", "protocol=uci"]) == 1
    lines = items(capsys.readouterr().out.splitlines())
    assert " ".join(lines[-3:-1]) == (
        "2 checks were not tried, because they need a check that failed. "
        "The program uses the protocol UCI: give --protocol uci."
    )


def test_an_engine_of_the_file_is_checked_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = json.dumps([sys.executable, "-I", "-S", str(MOCK)])
    Path("engines.toml").write_text(f'[mine]\ncommand = {command}\nprotocol = "uci"\n')
    assert main(["check", "--only", "handshake", "--log", "logs", "mine", "none", "protocol=uci"]) == 0
    assert "1 passed" in capsys.readouterr().out
    assert [path.suffix for path in Path("logs").iterdir()] == [".log"]
    assert main(["check", "mien"]) == 2
    assert "engines.toml has no such engine (did you mean 'mine'?)" in capsys.readouterr().err


def test_an_engine_of_the_file_keeps_its_way_to_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mock program refuses passes that are sent to it; its entry of the file says so."""
    monkeypatch.chdir(tmp_path)
    mock = MOCK.with_name("mock_othello_engines.py")
    command = json.dumps([sys.executable, "-I", "-S", str(mock), "good", "protocol=gtp", "passes=itself"])
    for passes, code in (("omit", 0), ("send", 1)):
        Path("engines.toml").write_text(f'[mine]\ncommand = {command}\nprotocol = "gtp"\ngtp_passes = "{passes}"\n')
        assert main(["check", "--only", "must_pass", "mine"]) == code, capsys.readouterr().out


def test_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--language", "zh", "--only", "ranks", "--skip", "start_position", vice="says_1_counts_0") == 1
    out = capsys.readouterr().out
    assert "：象棋，UCI 协议\n" in out
    assert "违反协议：" in out.splitlines()[-1]


def test_json_has_everything_and_the_same_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for language in ("en", "zh"):
        assert check("--json", "--language", language, "--only", "depth", vice="searches_too_deep") == 1
        data = json.loads(capsys.readouterr().out)
        assert (data["protocol"], data["name"], data["keeps_to_protocol"]) == ("uci", "Mock 1.0", False)
        failed = data["checks"][-1]
        assert failed["dialogue"]
        found.append({key: failed[key] for key in ("name", "verdict", "remark", "values", "is_recommendation")})
    assert (
        found[0]
        == found[1]
        == {
            "name": "depth",
            "verdict": "failed",
            "remark": "The program searched to depth 2; the limit was depth 1.",
            "values": {"told": 1, "reached": 2},
            "is_recommendation": False,
        }
    )


def test_an_option_the_engine_does_not_have_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--option", "Hsh=3") == 2
    captured = capsys.readouterr()
    assert captured.err == "elolab: check: the engine has no option 'Hsh'; did you mean 'Hash'?\n"


def test_the_list_names_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    from elolab.arena.checking.checks import CHECKS

    assert main(["check", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [check.name for check in CHECKS]
