"""Sources ``REPO@REV``, what revisions name, and copies of remote repositories; git itself is the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.arena.builds.repository import Repository, RepositoryError, is_source, split_source
from tests.support.git_repository import GitRepository


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mine@HEAD~1", ("mine", "HEAD~1")),
        (".@v1.2^2", (".", "v1.2^2")),
        ("mine@main@{2}", ("mine", "main@{2}")),
        ("git@example.org:a/b.git@feature/x", ("git@example.org:a/b.git", "feature/x")),
        ("https://me@example.org/b@deadbeef", ("https://me@example.org/b", "deadbeef")),
        ("a@b/c@HEAD", ("a@b/c", "HEAD")),
    ],
)
def test_a_source_is_a_repository_and_a_revision(text: str, parts: tuple[str, str]) -> None:
    assert split_source(text) == parts


@pytest.mark.parametrize("text", ["mine", "mine@", "@HEAD", "git@example.org:a/b.git", "mine@a b", ""])
def test_other_texts_are_no_source(text: str) -> None:
    with pytest.raises(RepositoryError, match="expected REPO@REV"):
        split_source(text)
    assert not is_source(text)


def test_only_folders_and_urls_are_sources_of_one_word(repository: GitRepository) -> None:
    assert is_source("mine@HEAD")
    assert is_source("https://example.org/x@main")
    assert is_source("me@host:x.git@main")
    assert not is_source("yours@HEAD")


@pytest.mark.parametrize("revision", ["HEAD", "main", "HEAD~1", "main^", ":/second", "HEAD@{0}"])
def test_revisions_are_those_of_git(repository: GitRepository, revision: str) -> None:
    found = Repository("mine").commit(revision)
    assert found.name == repository.git("rev-parse", revision)
    assert found.subject == repository.git("log", "-1", "--format=%s", revision)
    assert found.date == "2024-01-01"


def test_a_subfolder_and_a_bare_copy_are_the_repository(repository: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "mine" / "src").mkdir()
    assert Repository("mine/src").place == str(repository.folder)
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    bare = Repository("bare.git")
    assert bare.name == "bare"
    assert bare.commit("main") == Repository("mine").commit("main")


@pytest.mark.parametrize(
    ("place", "revision", "says"),
    [
        ("mine", "mian", "no revision 'mian' .did you mean 'main'"),
        ("mine", "HEAD~9", "no revision 'HEAD~9'"),
        ("mine", "--all", "no revision '--all'"),
        ("none", "HEAD", "repository 'none': no such folder"),
        (".", "HEAD", "not a git repository"),
    ],
)
def test_mistakes_name_the_repository(repository: GitRepository, place: str, revision: str, says: str) -> None:
    with pytest.raises(RepositoryError, match=says):
        Repository(place).commit(revision)


def test_changed_files_are_only_those_of_the_commit_checked_out(repository: GitRepository) -> None:
    (repository.folder / "engine.sh").write_text("other")
    (repository.folder / "new.txt").write_text("not tracked")
    place = Repository("mine")
    assert place.changed_files(place.commit("HEAD").name) == ["engine.sh"]
    assert place.changed_files(place.commit("HEAD~1").name) == []


def test_the_line_follows_first_parents(repository: GitRepository) -> None:
    first = repository.git("rev-parse", "HEAD~2")
    repository.git("checkout", "--quiet", "-b", "side", first)
    side = repository.commit("aside")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    place = Repository("mine")
    line = place.line(first, place.commit("main").name)
    assert [one.subject for one in line] == ["second", "third", "merge"]
    for good, bad in ((side, "main"), (first, first), ("main", first)):
        with pytest.raises(RepositoryError, match="no commits lead from"):
            place.line(place.commit(good).name, place.commit(bad).name)


def test_a_remote_repository_is_copied_and_followed(repository: GitRepository, cache: Path) -> None:
    url = f"file://{repository.folder}"
    before = Repository(url).commit("main")
    assert before.name == repository.git("rev-parse", "main")
    assert Repository(url).name == "mine"
    assert len(list((cache / "repositories").glob("*.git"))) == 1
    repository.commit_engine("fourth")
    repository.git("tag", "v4")
    assert Repository(url).commit("main", fetch=False) == before
    assert Repository(url).commit("main").subject == "fourth" == Repository(url).commit("v4").subject


def test_a_full_commit_needs_no_network_again(repository: GitRepository) -> None:
    url = f"file://{repository.folder}"
    commit = Repository(url).commit("main")
    repository.folder.rename(repository.folder.with_name("gone"))
    assert Repository(url).commit(commit.name) == commit
    with pytest.raises(RepositoryError, match=r"does not appear to be a git repository|does not exist"):
        Repository(url).commit("main")
