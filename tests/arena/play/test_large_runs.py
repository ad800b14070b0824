"""Long tournaments: going on with one makes few objects and reads the store little, whatever it holds."""

from __future__ import annotations

import io
import weakref
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play import damage, tournament_run
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import prepare, run
from elolab.arena.records import GameJob, GameRecord, MoveRecord, digest_of
from elolab.arena.schedule import format_of, job_of
from elolab.arena.tournament_reader import load_tournament
from elolab.engine.engine import StopFlag

pytestmark = pytest.mark.usefixtures("without_charts")

SPECIFICATION = """\
name = "long"
game = "othello"
pairs = 200
opening_part = "all"
limit = "nodes=10"

[[players]]
preset = "default"

[[players]]
name = "b"
set = { aspiration_window = 100 }

[[players]]
name = "c"
set = { aspiration_window = 200 }
"""
GAMES = 1200
MOVE = MoveRecord("d3", 10, 3, 100, 0.5)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> tournament_run.PreparedTournament:
    path = tmp_path_factory.mktemp("specification") / "long.toml"
    path.write_text(SPECIFICATION)
    return prepare(load_tournament(path))


@pytest.fixture(scope="module")
def stored(plan: tournament_run.PreparedTournament, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every game of the tournament."""
    folder = tmp_path_factory.mktemp("long")
    stop = StopFlag()
    stop.set()
    run(plan.spec, folder, stream=io.StringIO(), stop=stop)
    with Store(folder) as store:
        store.connection.execute("PRAGMA synchronous = OFF")
        for pairing in format_of(plan.spec).pairings(plan.spec, plan.order, ()):
            store.add(record_of(job_of(plan.spec, plan.suite, pairing)))
        assert len(store) == GAMES
    return folder


def record_of(job: GameJob) -> GameRecord:
    return GameRecord(
        job.key, job.pairing, job.first.name, job.second.name, job.opening, (MOVE,) * 60, "1-0", "final_score", "0" * 12
    )


def test_the_key_of_a_game_is_the_digest_of_all_that_decides_it(plan: tournament_run.PreparedTournament) -> None:
    for pairing in list(format_of(plan.spec).pairings(plan.spec, plan.order, ()))[::97]:
        job = job_of(plan.spec, plan.suite, pairing)
        assert job.key == digest_of(
            {
                "game": job.game, "rules": asdict(job.rules), "adjudication": job.adjudication.content(),
                "first": job.first.content(), "second": job.second.content(), "pair": pairing.pair, "seed": job.seed,
                "opening": [job.opening.position, list(job.opening.moves)],
            }
        )  # fmt: skip


@pytest.mark.integration
def test_a_read_game_has_the_digest_of_its_moves(stored: Path) -> None:
    with Store(stored, read_only=True) as store:
        for record in list(store.iterate())[::199]:
            assert record.digest == replace(record).digest


def test_going_on_makes_one_game_at_a_time_and_checks_the_store_once(
    plan: tournament_run.PreparedTournament, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    most = made = checks = 0

    class Counted:
        """What a set of weak references can hold, unlike a job that is equal to none."""

    def counting(*arguments: Any) -> GameJob:
        nonlocal most, made
        job = job_of(*arguments)
        mark = Counted()
        object.__setattr__(job, "mark", mark)
        alive.add(mark)
        made += 1
        most = max(most, len(alive))
        return job

    def checking(*arguments: Any) -> None:
        nonlocal checks
        checks += 1
        damage_check(*arguments)

    damage_check = damage.check
    monkeypatch.setattr(tournament_run, "job_of", counting)
    monkeypatch.setattr(damage, "check", checking)
    result = run(plan.spec, stored, stream=io.StringIO(), accept_engine_change=True)
    assert result.stored == result.planned == made == GAMES
    assert most <= 4
    assert checks == 1


@pytest.mark.integration
def test_a_long_report_reads_each_game_once(
    plan: tournament_run.PreparedTournament, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elolab.arena.reports.write import export

    read = 0
    iterate = Store.iterate

    def counting(self: Store, *arguments: Any) -> Iterator[GameRecord]:
        nonlocal read
        for record in iterate(self, *arguments):
            read += 1
            yield record

    monkeypatch.setattr(Store, "iterate", counting)
    with Store(stored, read_only=True) as store:
        exports = export(plan.spec, store)
        assert exports.digest == store.digest()
    assert read == GAMES
    assert (stored / "games.pgn").read_text().count("[Event ") == GAMES
