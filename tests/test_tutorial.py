"""The pages in ``docs``: commands run as printed, what they name is there, and both languages say the same."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from elolab.command_line import find_command
from engine.commands.arguments import CommandParser
from engine.settings.configuration import read_toml
from tuning.ablation.spec import load_ablation
from tuning.study.spec import load_tuning

ROOT = Path(__file__).parent.parent
PAGES = ("docs/tutorial.md", "docs/how-to.md")
EACH_PAGE = pytest.mark.parametrize("page", [*PAGES, *(page.replace(".md", ".zh-CN.md") for page in PAGES)])
EACH_TUTORIAL = pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/tutorial.zh-CN.md"])
EACH_HOW_TO = pytest.mark.parametrize("page", ["docs/how-to.md", "docs/how-to.zh-CN.md"])

COMMAND_SECONDS = 1800
"""The most for one command; the longest take about a minute, or compile the engine first."""
EXIT_CODES = {"sprt": {0, 3}, "tune": {0, 3}, "validate": {0, 3}}
"""3 is an answer of these; everything else must end with 0."""

NOT_RUN = {
    "make demo": "installs packages and plays two tournaments",
    "make test": "is what runs this test",
    "elolab sprt default no-null-move --elo0 0 --elo1 10 --limit nodes=1000": "plays up to tens of thousands of games",
    "elolab match fenon xqwlight-0.3 --pairs 200": "minutes; the tutorial has a shorter match",
    "elolab stats --pgn results/match-fenon-xqwlight-0.3/games.pgn --player fenon": "reads what that match wrote",
    "elolab tune configs/tuning/first.toml": "minutes; the tutorial has a shorter study",
    "elolab ablate configs/ablations/first.toml": "minutes; the tutorial has a shorter ablation",
    "elolab claims": "minutes, of all claims",
    "elolab claims --game othello --only C20": "minutes",
    "elolab claims --game othello --only C20 C29": "minutes",
    "elolab fit-evaluation --game othello --games 5000 --output mine.toml": "fits weights for many minutes",
    "elolab fit-evaluation --game xiangqi --games 5000 --iterations 3 --until-no-gain --output mine.toml":
        "fits weights for hours",
}  # fmt: skip
"""Commands of README.md that are too long for a test or need something else; test_readme.py reads them all."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def commands_in(page: str) -> list[str]:
    """The lines of fenced ``sh`` blocks, or in the README, which has none, the indented commands."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    return lines or re.findall(r"^    ((?:elolab|make) .*?)(?:  +#.*)?$", text_of(page), re.MULTILINE)


def files_in(page: str) -> dict[str, str]:
    """The TOML files that the page tells to save, by name: the name is the last one before the block."""
    parts = re.split(r"^```toml\n(.*?)^```", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return {
        re.findall(r"`([\w-]+\.toml)`", before)[-1]: content
        for before, content in zip(parts[:-1:2], parts[1::2], strict=True)
    }


def without_comments(content: str) -> list[str]:
    return [line.partition("#")[0].rstrip() for line in content.splitlines()]


@EACH_TUTORIAL
def test_commands_are_read_by_the_command_line(page: str) -> None:
    for program, name, *words in map(shlex.split, commands_in(page)):
        assert program == "elolab"
        parser = CommandParser(prog=f"elolab {name}")
        import_module(find_command(name).module).configure(parser)
        parser.parse_args(words)


@EACH_TUTORIAL
def test_its_files_are_valid(page: str, tmp_path: Path) -> None:
    for name, content in files_in(page).items():
        (tmp_path / name).write_text(content, "utf-8")
    assert read_toml(tmp_path / "first.toml")["pairs"] == 20
    assert load_tuning(tmp_path / "gain.toml").base_name == "default with quiescence off"
    assert load_ablation(tmp_path / "worth.toml").questions == 3


@pytest.mark.parametrize("page", PAGES)
def test_both_languages_show_the_same(page: str) -> None:
    other = page.replace(".md", ".zh-CN.md")
    assert commands_in(page) == commands_in(other)
    assert [*map(without_comments, files_in(page).values())] == [*map(without_comments, files_in(other).values())]
    shown = [
        re.findall(r"^```(?:text|python)\n(.*?)^```", text_of(one), re.DOTALL | re.MULTILINE) for one in (page, other)
    ]
    assert shown[0] == shown[1]
    headings = [re.findall(r"^#+(?= )", text_of(one), re.MULTILINE) for one in (page, other)]
    assert headings[0] == headings[1]


@EACH_PAGE
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^):]+)\)", text_of(page)):
        assert (ROOT / "docs" / link).exists(), link


@EACH_HOW_TO
def test_files_and_names_in_how_tos_exist(page: str) -> None:
    quoted = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)))
    files = {text for text in quoted if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", text) and ("/" in text or "." in text)}
    files = {text for text in files if "NAME" not in text and not text.startswith("parameters.")}
    missing = {name for name in files if not any((ROOT / base / name).exists() for base in ("", "engine/games"))}
    assert missing <= {"contract.py", "__init__.py"}  # of the folder spoken of
    words = {
        word
        for folder in ("engine", "arena", "tuning", "tests", "configs/engines")
        for pattern in ("*.py", "*.toml", "*.js")
        for path in (ROOT / folder).rglob(pattern)
        if path.name != Path(__file__).name
        for word in re.findall(r"\w+", path.read_text("utf-8"))
    }
    names = {name for text in quoted - files for name in re.findall(r"^[A-Za-z_]\w+(?=$|\()", text)} - {"NAME"}
    assert len(names) > 30
    assert names <= words, f"not in the sources: {', '.join(sorted(names - words))}"


def test_commands_that_are_not_run_are_still_there() -> None:
    assert set(NOT_RUN) <= set(commands_in("README.md"))


@pytest.mark.slow  # plays the games of the tutorial: minutes
@pytest.mark.parametrize("page", ["docs/tutorial.md", "README.md"])
def test_commands_run_as_printed(page: str, tmp_path: Path) -> None:
    programs, folder = tmp_path / "bin", tmp_path / "reader"
    programs.mkdir()
    folder.mkdir()
    (programs / "elolab").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m elolab "$@"\n')
    (programs / "elolab").chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    if page == "README.md":
        shutil.copytree(ROOT / "configs", folder / "configs")
    else:
        for name, content in files_in(page).items():
            (folder / name).write_text(content, "utf-8")
    commands = [line for line in commands_in(page) if line not in NOT_RUN]
    assert len(commands) >= 9
    for line in commands:
        ended = subprocess.run(
            line, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=COMMAND_SECONDS,
        )  # fmt: skip
        assert ended.returncode in EXIT_CODES.get(line.split()[1], {0}), f"{line}\n{ended.stdout}\n{ended.stderr}"
