"""Players given as commits: their names, their programs, and what is stored with the games."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line, play_match
from elolab.arena.builds.players import restored
from elolab.arena.play.tournament_run import players_in
from elolab.arena.player_spec import PlayerReader, read_player
from elolab.arena.players.registry import protocol_named
from elolab.arena.records import PlayerSpec
from elolab.engine.errors import UserError
from elolab.engine.settings.limits import Limits
from tests.support.git_repository import BUILD, GitRepository

LIMITS = Limits.parse("move_time=1")
ENTRY = {"source": "mine@HEAD", "build": BUILD, "command": "./mine fast=yes", "protocol": "gtp"}


def read(**keys: Any) -> PlayerSpec:
    return read_player(ENTRY | keys, "cup.toml: player 1", "othello", LIMITS)


def test_the_program_is_that_of_the_built_tree(repository: GitRepository) -> None:
    player, commit = read(), repository.git("rev-parse", "HEAD")
    assert player.built is not None
    assert player.built.commit == commit
    assert player.built.build == BUILD
    assert player.name == f"mine@{commit[:8]}"
    assert player.command == (f"{player.built.tree}/mine", "fast=yes")
    assert player.directory == player.built.tree
    assert PlayerSpec.from_stored(json.loads(json.dumps(player.stored())), protocol_named("gtp").keys) == player


def test_equal_commits_are_equal_players_wherever_they_lie(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = read(name="one")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    repository.git("clone", "--quiet", ".", str(tmp_path / "twin"))
    there = read(name="one", source="twin@main")
    assert here != there
    assert here.content() == there.content()
    assert str(tmp_path) not in json.dumps(here.content())
    assert here.content() != read(name="one", source="mine@HEAD~1").content()
    assert here.content() != read(name="one", build=f"{BUILD}; true").content()


def test_folders_and_programs_are_looked_for_in_the_tree(repository: GitRepository) -> None:
    player = read(directory="inner", build=f"mkdir inner; {BUILD}; mv mine inner/", command="inner/mine")
    assert player.built is not None
    assert player.directory == f"{player.built.tree}/inner"
    assert player.content()["directory"] == "inner"
    assert player.content()["command"] == ["inner/mine"]
    plain = {key: value for key, value in ENTRY.items() if key != "build"} | {"command": "sh engine.sh"}
    assert read_player(plain, "cup.toml", "othello", LIMITS).command == ("sh", "engine.sh")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"command": "./yours"}, r"cup.toml: player 1.* has no program './yours'; does the build make it"),
        ({"command": "./src/engine.sh", "build": "chmod +x engine.sh"}, r"did you mean ./engine.sh\?"),
        ({"source": "mine"}, "expected REPO@REV"),
        ({"source": "mine@mian"}, "did you mean 'main'"),
        ({"source": 5}, "source = 5"),
        ({"build": ["make"]}, "build = "),
        ({"directory": "nowhere"}, "directory = "),
        ({"build": "exit 1"}, "failed with exit code 1"),
    ],
)
def test_mistakes_name_the_player_and_the_key(repository: GitRepository, keys: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says):
        read(**keys)


def test_keys_that_need_each_other(repository: GitRepository) -> None:
    with pytest.raises(UserError, match=r"source = .* without a command; give the program inside the tree"):
        read_player({"source": "mine@HEAD"}, "cup.toml: player 1", "othello", LIMITS)
    with pytest.raises(UserError, match=r"build = .*expected none without source"):
        read_player({"command": "sh", "build": "make", "protocol": "gtp"}, "cup.toml", "othello", LIMITS)


def test_a_dirty_working_tree_is_named(repository: GitRepository, capsys: pytest.CaptureFixture[str]) -> None:
    (repository.folder / "engine.sh").write_text("other")
    read()
    said = capsys.readouterr().err
    assert said.count("has uncommitted changes in 1 file (engine.sh)") == 1


def test_a_stored_player_is_built_again_where_the_cache_is_now(
    repository: GitRepository, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = read()
    shutil.rmtree(cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    again = restored(player)
    assert again.content() == player.content()
    assert Path(again.command[0]).is_file()
    assert again.command[0].startswith(str(tmp_path / "other"))


ENGINES = f"""
[mine]
source = "./mine@main"
build = "{BUILD}"
command = "./mine"
protocol = "gtp"
"""


def test_an_engine_of_the_file_plays_at_any_revision(
    repository: GitRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "engines.toml").write_text(ENGINES)
    assert command_line.main(["engines", "mine", "mine@HEAD~1", "--json"]) == 0
    engines = json.loads(capsys.readouterr().out)["engines"]
    names = [repository.git("rev-parse", revision) for revision in ("HEAD", "HEAD~1")]
    assert [engine["commit"] for engine in engines] == names
    assert not any(engine["is_built"] for engine in engines)
    assert [engine["name"] for engine in engines] == ["mine", f"mine@{names[1][:8]}"]
    assert command_line.main(["engines", "mine", "--check"]) == 0
    assert f"commit {names[0][:8]}, works" in capsys.readouterr().out
    assert command_line.main(["engines"]) == 0
    assert f"commit {names[0][:8]}, built" in capsys.readouterr().out
    assert command_line.main(["engines", "mine@HEAD~7"]) == 2


MATCH = [
    "match",
    "--pairs",
    "1",
    "--limit",
    "move_time=1",
    "--each",
    "cmd=./mine",
    f"build={BUILD}",
    "proto=gtp",
    "--game",
    "othello",
]


@pytest.mark.integration
def test_a_test_of_a_change_is_one_line(repository: GitRepository, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([*MATCH, "--dry-run", "--json", "mine@HEAD", "mine@HEAD~1"]) == 0
    names = [player["name"] for player in json.loads(capsys.readouterr().out)["players"]]
    assert names == [f"mine@{repository.git('rev-parse', revision)[:8]}" for revision in ("HEAD", "HEAD~1")]


@pytest.mark.integration
def test_a_match_keeps_to_the_commits_with_which_it_began(
    repository: GitRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(first: str, second: str) -> int:
        words = ["--engine", f"source=mine@{first}", "name=a", "--engine", f"source=mine@{second}", "name=b"]
        return command_line.main([*MATCH, "--out", "out", *words])

    assert play("HEAD", "HEAD~1") == 0
    commits = [repository.git("rev-parse", revision) for revision in ("HEAD", "HEAD~1")]
    assert [player.built.commit for player in players_in(tmp_path / "out") if player.built] == commits
    report = (tmp_path / "out" / "report.md").read_text()
    assert f"gtp: mine, commit {commits[0][:8]} of {repository.folder}" in report
    repository.commit_engine("fourth")  # the branch moves on
    capsys.readouterr()
    assert play("HEAD", "HEAD~2") == 2
    assert "the player 'a' played with commit = " in capsys.readouterr().err
    assert play("HEAD~1", "HEAD~2") == 0


@pytest.mark.integration
def test_a_match_from_python(repository: GitRepository) -> None:
    match = play_match(ENTRY, ENTRY | {"source": "mine@HEAD~1"}, pairs=1, limit="move_time=1", game="othello")
    commits = [repository.git("rev-parse", revision)[:8] for revision in ("HEAD", "HEAD~1")]
    assert [match.a, match.b] == [f"mine@{commit}" for commit in commits]
    assert match.pairs == 1


def test_a_reader_builds_only_players_with_a_source() -> None:
    assert PlayerReader("othello", LIMITS).resolved({"preset": "default"}, "") == {"preset": "default"}
