"""A cache folder of its own for each test, and a repository of three commits."""

from __future__ import annotations

from pathlib import Path

import pytest

import elolab.engine.compiled.cache  # noqa: F401 - numba's cache stays where it is
from tests.support.git_repository import GitRepository


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder; the tests run in the folder that holds it, and nobody's own file of engines is near."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache" / "elolab"


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """A repository ``mine`` with an engine in each of its commits."""
    made = GitRepository(tmp_path / "mine")
    for subject in ("first", "second", "third"):
        made.commit_engine(subject)
    return made
