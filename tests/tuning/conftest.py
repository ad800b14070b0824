"""A small study that has ended, for all tests of studies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from elolab.tuning.study.result import StudyResult
from tests.support.small_studies import (
    run,
    write_study,
)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, StudyResult]:
    """A small study: its file, folder and end. Its report is not written: to draw the charts takes longer."""
    folder = tmp_path_factory.mktemp("tuned")
    path = write_study(folder)
    return path, folder / "out", run(path, folder / "out")


@pytest.fixture
def copied(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> tuple[Path, Path]:
    """The file of that study, and a folder of its run that a test may change."""
    path, out, _ = played
    return path, shutil.copytree(out, tmp_path / "out")
