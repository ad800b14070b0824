"""Builds of commits: once each, all or nothing, whoever builds at the same time and however a build ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from elolab.arena.builds.build import BuildError, build_commit, build_folder, is_built
from elolab.arena.builds.repository import Repository, RepositoryError
from tests.support.git_repository import BUILD, GitRepository

SLEEPS = "echo $$ > {marker}; sleep 60"


def build(revision: str = "HEAD", command: str = BUILD) -> Path:
    place = Repository("mine")
    return build_commit(place, place.commit(revision), command)


def counted(tree: Path) -> int:
    return len((tree / "builds.txt").read_text().splitlines())


def test_a_build_is_made_once_and_says_what_it_is(
    repository: GitRepository, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = build()
    assert build() == tree
    assert counted(tree) == 1
    assert os.access(tree / "mine", os.X_OK)
    said = capsys.readouterr().err
    assert said.count("building mine@") == 1
    assert "(third)" in said
    record = json.loads((tree.parent / "build.json").read_text())
    assert record["commit"] == repository.git("rev-parse", "HEAD")
    assert record["build"] == BUILD
    assert record["digest"] == tree.parent.name
    assert tree.parent.parent == cache / "builds"
    assert "now building" in (tree.parent / "build.log").read_text()


def test_commits_and_build_commands_have_builds_of_their_own(repository: GitRepository) -> None:
    trees = {build("HEAD"), build("HEAD~1"), build("HEAD", f"{BUILD} && true"), build("HEAD", "")}
    assert len(trees) == 4
    assert "# second" in (build("HEAD~1") / "mine").read_text()


def test_a_repository_that_moved_has_the_same_build(repository: GitRepository, tmp_path: Path) -> None:
    tree = build()
    repository.folder.rename(tmp_path / "moved")
    place = Repository("moved")
    assert build_commit(place, place.commit("HEAD"), BUILD) == tree
    assert counted(tree) == 1


def test_changes_in_the_working_tree_are_not_built(repository: GitRepository) -> None:
    (repository.folder / "engine.sh").write_text("other")
    assert "# third" in (build() / "mine").read_text()


def test_the_tree_knows_its_version(repository: GitRepository) -> None:
    repository.git("tag", "-m", "v7", "v7")
    assert (build("HEAD", "git describe > version") / "version").read_text() == "v7\n"


def test_a_failed_build_shows_its_last_lines_and_leaves_only_its_output(
    repository: GitRepository, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BuildError, match=r"commit [0-9a-f]{8} of .*failed with exit code 3; its output is in .*\.log"):
        build(command="seq 99; touch half; exit 3")
    said = capsys.readouterr().err.splitlines()
    assert said[-12:] == [str(number) for number in range(88, 100)]
    assert {path.suffix for path in (cache / "builds").iterdir()} == {".log", ".lock"}
    build()


def test_two_runs_share_one_build(repository: GitRepository, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(2) as pool:
        trees = {future.result() for future in [pool.submit(build, "HEAD", f"sleep 0.3; {BUILD}") for _ in range(2)]}
    (tree,) = trees
    assert counted(tree) == 1
    assert "another elolab is building mine@" in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_was_killed_ends_and_is_made_again(
    repository: GitRepository, tmp_path: Path, number: signal.Signals
) -> None:
    marker, commit = tmp_path / "marker", repository.git("rev-parse", "HEAD")
    program = (
        "import sys; from elolab.arena.builds.build import build_commit as b; from elolab.arena.builds.repository "
        "import Repository as R; place = R('mine'); b(place, place.commit('HEAD'), sys.argv[1])"
    )
    command = SLEEPS.format(marker=marker)
    process = subprocess.Popen([sys.executable, "-c", program, command], stderr=subprocess.DEVNULL)
    while not (marker.exists() and marker.read_text().strip()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    process.wait()
    shell = int(marker.read_text())
    while Path(f"/proc/{shell}/cmdline").exists() and Path(f"/proc/{shell}/cmdline").read_bytes():
        time.sleep(0.02)  # the supervisor ends it at once; a build that stays fails the test's time limit
    assert not is_built(commit, command)
    assert build_folder(commit, command).exists() == (number == signal.SIGKILL)
    marker.unlink()
    place = Repository("mine")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sleep").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "sleep").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        build_commit(place, place.commit("HEAD"), command)
    assert is_built(commit, command)


def test_submodules_are_checked_out(repository: GitRepository, tmp_path: Path) -> None:
    part = GitRepository(tmp_path / "part")
    part.commit("part", part_txt="of it")
    repository.git("submodule", "--quiet", "add", "../part", "inner")
    repository.commit("with a part")
    assert (build() / "inner" / "part.txt").read_text() == "of it"
    part.folder.rename(tmp_path / "gone")
    with pytest.raises(RepositoryError, match="git submodule"):
        build("HEAD", "true")
