"""A tournament that has been played."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import TournamentResult
from elolab.arena.reports.write import export
from elolab.arena.tournament_reader import load_tournament
from tests.support.small_tournaments import play, write_spec


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, TournamentResult]:
    """A tournament of three players, two pairs each: its file, folder and end."""
    folder = tmp_path_factory.mktemp("played")
    path = write_spec(folder)
    out = folder / "out"
    result = play(path, out)
    with Store(out, read_only=True) as store:
        export(load_tournament(path), store)
    return path, out, result
