"""The READMEs: their examples work, and the two languages say the same."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from arena.spec import spec_from_mapping
from elolab.command_line import COMMANDS, find_command
from engine.commands.arguments import CommandParser

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "README.zh-CN.md")
EACH_PAGE = pytest.mark.parametrize("page", PAGES)


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def tournament_in(page: str) -> dict[str, Any]:
    """The example of a tournament's TOML file."""
    return tomllib.loads(re.findall(r"```toml\n(.*?)```", text_of(page), re.DOTALL)[0])


def example_commands(page: str) -> list[str]:
    """The indented lines that are commands."""
    return re.findall(r"^    ((?:elolab|make) .*?)(?:  +#.*)?$", text_of(page), re.MULTILINE)


@EACH_PAGE
def test_the_tournament_is_a_valid_one(page: str) -> None:
    spec = spec_from_mapping(tournament_in(page), "mine.toml")
    assert [player.protocol for player in spec.players] == ["builtin", "builtin", "uci"]
    assert dict(spec.players[1].parameters)["null_move"] is False


@EACH_PAGE
def test_example_commands_are_read_by_the_command_line(page: str) -> None:
    examples = [shlex.split(line)[1:] for line in example_commands(page) if line.startswith("elolab")]
    assert len(examples) >= 5
    for name, *words in examples:
        command = find_command(name)
        parser = CommandParser(prog=f"elolab {name}")
        import_module(command.module).configure(parser)
        parser.parse_args(words)


@EACH_PAGE
def test_the_tour_shows_every_command(page: str) -> None:
    assert set(re.findall(r"^\| `elolab ([\w-]+)", text_of(page), re.MULTILINE)) == {row.name for row in COMMANDS}


def test_both_languages_show_the_same_examples_and_links() -> None:
    english, chinese = PAGES
    assert tournament_in(english) == tournament_in(chinese)
    assert example_commands(english) == example_commands(chinese)
    links = [
        {link.replace(".zh-CN.md", ".md") for link in re.findall(r"\]\(([^):]+)\)", text_of(page))} for page in PAGES
    ]
    assert links[0] == links[1]
    assert text_of(english).count("\n## ") == text_of(chinese).count("\n## ")


@EACH_PAGE
def test_links_to_files_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^):]+)\)", text_of(page)):
        assert (ROOT / link).exists(), link


@EACH_PAGE
def test_make_examples_are_targets(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {line.split()[1] for line in example_commands(page) if line.startswith("make")}
    assert named
    assert named <= targets
