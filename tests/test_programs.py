"""The recipes in ``docs/programs.md``: every block is read, and the programs that are installed play a game.

A program counts as installed if its command is in the PATH, or lies in the folder that the environment variable
``ELOLAB_PROGRAMS`` puts in place of ``/path/to``.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.keys.engines_file import EnginesFile
from elolab.arena.players.registry import protocol_named
from elolab.arena.records import PlayerSpec
from elolab.cli.engines import player_of
from elolab.engine.rules import Adjudication
from elolab.engine.settings.limits import Limits
from tests.support import chess_match, othello_match, xiangqi_match
from tests.support.documents import commands_in, read_command, text_of

PAGE = "docs/programs.md"
GAMES = {"Xiangqi": "xiangqi", "Othello": "othello", "Chess": "chess"}
"""The game of each chapter that has recipes."""


def recipes() -> dict[str, tuple[str, str]]:
    """Game and TOML text of every entry of the page, by name."""
    found = {}
    for chapter in re.split(r"^## ", text_of(PAGE), flags=re.MULTILINE)[1:]:
        for block in re.findall(r"^```toml\n(.*?)^```", chapter, flags=re.DOTALL | re.MULTILINE):
            for entry in re.split(r"^(?=\[)", block, flags=re.MULTILINE)[1:]:
                found[entry[1 : entry.index("]")]] = (GAMES[chapter.splitlines()[0]], entry)
    return found


RECIPES = recipes()


def written(names: Sequence[str], folder: Path) -> Path:
    """A file of engines with some of the entries, and with the paths of this machine."""
    programs = Path(os.environ.get("ELOLAB_PROGRAMS", folder / "programs"))
    text = "".join(RECIPES[name][1] for name in names).replace("/path/to", str(programs))
    for directory in re.findall(r'^directory = "(.+)"$', text, re.MULTILINE):
        if not programs.exists() or programs.is_relative_to(folder):
            Path(directory).mkdir(parents=True, exist_ok=True)  # an entry must not name a folder that does not exist
    path = folder / "engines.toml"
    path.write_text(text, "utf-8")
    return path


def read(name: str, path: Path) -> PlayerSpec:
    """The player that an entry of a file describes."""
    player, _ = player_of(EnginesFile(path).entry(name, "test"), RECIPES[name][0])
    return player


def test_the_table_lists_the_protocols_of_the_recipes() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\(#.+?\) \| (\w+) \| (.+?) \|", text_of(PAGE), flags=re.MULTILINE)
    for program, game, protocols in rows:
        section = re.search(rf"^### {program}\n(.*?)(?=^##|\Z)", text_of(PAGE), re.DOTALL | re.MULTILINE)
        assert section is not None
        entries = [RECIPES[name] for name in re.findall(r"^\[([\w-]+)\](?!\()", section[1], re.MULTILINE)]
        assert {played for played, _ in entries} == {GAMES[game]}
        spoken = {word for _, entry in entries for word in re.findall(r'^protocol = ("\w+")$', entry, re.MULTILINE)}
        assert spoken == set(re.findall(r'"\w+"', protocols))
    assert len(rows) == 16


def test_its_commands_are_read_by_the_command_line() -> None:
    for line in commands_in(PAGE):
        read_command(line)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_accepted(name: str, tmp_path: Path) -> None:
    player = read(name, written([name], tmp_path))
    assert player.name == name
    assert RECIPES[name][0] in (protocol_named(player.protocol).games or ())
    assert protocol_named(player.protocol).check(player) is None


@pytest.mark.integration
@pytest.mark.parametrize("name", RECIPES)
def test_every_program_that_is_installed_plays(name: str, tmp_path: Path) -> None:
    """With both colours against the built-in engine, under its own limit or to depth 3, without a fault.

    Eight plies each; Othello begins with a forced pass.
    """
    game = RECIPES[name][0]
    player = read(name, written([name], tmp_path))
    if not shutil.which(player.command[0]):
        pytest.skip(f"{player.command[0]} is not installed")
    if not re.search("^limit = ", RECIPES[name][1], re.MULTILINE):
        player = replace(player, limits=Limits(depth=3))
    if game == "chess":
        with chess_match.playing(player, chess_match.builtin()) as play:
            assert {play(swapped=swapped).reason for swapped in (False, True)} == {"maximum_length"}
        return
    match, other = (xiangqi_match, "depth=1") if game == "xiangqi" else (othello_match, "builtin")
    with match.playing(player, match.builtin(other)) as play:
        for swapped in (False, True):
            record = play(adjudication=Adjudication(resign_moves=0, maximum_plies=8), swapped=swapped)
            assert record.reason == "maximum_length", record.detail
