"""Whole tournaments: the same games at any concurrency, resumed and extended without a game lost or played twice."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.play import executor
from elolab.arena.play.damage import renew_checksums
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import LOCK_NAME, STORE_NAME, Store, StoreFailure
from elolab.arena.play.tournament import TournamentResult, describe, plan_of_run, players_in, prepare, run
from elolab.arena.players.interruption import TOGETHER_SECONDS, Pauses, stopping_on_signals
from elolab.arena.players.registry import protocols
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.arena.reports.write import export
from elolab.arena.run import ENGINE_IDENTITY, RunError
from elolab.arena.schedule import format_of, job_of
from elolab.arena.spec import load_tournament, spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from tests.support.faulty_players import player as faulty_player

pytestmark = pytest.mark.usefixtures("without_charts")

ROOT = Path(__file__).parents[3]
OPENINGS = """\
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C4NC1/9/RNBAKAB1R b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2B2C1/9/RN1AKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/6P2/P1P1P3P/1C5C1/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C3C3/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C1C5/9/RNBAKABNR b - - 0 1
"""


def write_spec(folder: Path, *, players: int = 3, pairs: int = 2, limit: str = "nodes=60", extra: str = "") -> Path:
    """A small tournament beside its openings; ``extra`` goes in front of the players."""
    (folder / "six.epd").write_text(OPENINGS)
    text = f'pairs = {pairs}\nseed = 5\nlimit = "{limit}"\nopenings = "six.epd"\n{extra}\n'
    text += "[adjudication]\nmaximum_plies = 60\n"
    for number in range(players):
        text += f'[[players]]\nname = "player {number}"\nset = {{ tempo = {10 * number}, hash_mb = 1 }}\n'
    path = folder / "cup.toml"
    path.write_text(text)
    return path


def play(path: Path, out: Path, concurrency: int = 1, **options: Any) -> TournamentResult:
    return run(load_tournament(path), out, concurrency=concurrency, stream=io.StringIO(), **options)


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


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


def digest_in(out: Path) -> str:
    with Store(out, read_only=True) as store:
        return store.digest()


def test_every_game_is_played_once_and_exported(played: tuple[Path, Path, TournamentResult]) -> None:
    _, out, ended = played
    assert (ended.planned, ended.stored, ended.exit_code) == (12, 12, 0)
    records = records_in(out)
    assert [record.pairing.number for record in records] == list(range(12))
    assert all(record.score is not None and record.moves for record in records)
    assert {(record.first, record.second, record.pairing.pair) for record in records} == {
        (f"player {a}", f"player {b}", pair) for a in range(3) for b in range(3) if a != b for pair in range(2)
    }
    rows = list(csv.DictReader((out / "games.csv").open()))
    assert [row["digest"] for row in rows] == [record.digest for record in records]
    assert (out / "games.pgn").read_text().count("[Result ") == 12
    assert json.loads((out / "live.json").read_text())["state"] == "finished"
    assert (out / "report.html").is_file()


def test_concurrency_does_not_matter(played: tuple[Path, Path, TournamentResult], tmp_path: Path) -> None:
    path, out, _ = played
    play(path, tmp_path / "two", concurrency=2)
    assert digest_in(tmp_path / "two") == digest_in(out)


def test_again_plays_nothing(played: tuple[Path, Path, TournamentResult]) -> None:
    path, out, _ = played
    before = {record.key: record.started_at for record in records_in(out)}
    digest = digest_in(out)
    play(path, out)
    assert digest_in(out) == digest
    assert {record.key: record.started_at for record in records_in(out)} == before


def test_extension_plays_only_what_is_missing(tmp_path: Path) -> None:
    small = play(write_spec(tmp_path, players=2, pairs=1), tmp_path / "out")
    assert small.planned == 2
    before = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    play(write_spec(tmp_path, players=2, pairs=2), tmp_path / "out")
    large = play(write_spec(tmp_path, players=3, pairs=2), tmp_path / "out", concurrency=2)
    assert (large.planned, large.stored) == (12, 12)
    after = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert before.items() < after.items()
    assert [record.pairing.number for record in records_in(tmp_path / "out")] == list(range(12))
    play(write_spec(tmp_path, players=3, pairs=2), tmp_path / "at once")
    assert digest_in(tmp_path / "out") == digest_in(tmp_path / "at once")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": "nodes=61"}, ["another tournament", "'player 0'", "nodes=60", "nodes=61", "--out"]),
        ({"players": 2}, ["'player 2'", "lacks", "--out"]),
        ({"extra": "[rules]\nfold = 4\n"}, ["another tournament", "fold = 3 there, 4 in"]),
        ({"extra": "opening_start = 1"}, ["opening_start = 0 there, 1 in"]),
    ],
)
def test_a_folder_of_another_tournament_is_refused(
    played: tuple[Path, Path, TournamentResult], tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    _, out, _ = played
    digest = digest_in(out)
    with pytest.raises(RunError) as raised:
        play(write_spec(tmp_path, **changes), out)
    for word in words:
        assert word in str(raised.value)
    assert digest_in(out) == digest


def test_fewer_pairs_end_a_tournament_with_all_that_was_played(
    played: tuple[Path, Path, TournamentResult], tmp_path: Path
) -> None:
    _, out, before = played
    shutil.copytree(out, tmp_path / "out")
    fewer = play(write_spec(tmp_path, pairs=1), tmp_path / "out")
    assert (fewer.stored, fewer.missing, fewer.exit_code) == (before.stored, 0, 0)
    assert digest_in(tmp_path / "out") == digest_in(out)
    play(write_spec(tmp_path, pairs=3), tmp_path / "out")
    play(write_spec(tmp_path, pairs=3), tmp_path / "at once")
    assert digest_in(tmp_path / "out") == digest_in(tmp_path / "at once")


def test_nobody_enters_a_tournament_that_holds_games_beyond_its_end(tmp_path: Path) -> None:
    """Other games would get the numbers of those."""
    for pairs in (3, 1):
        play(write_spec(tmp_path, players=2, pairs=pairs), tmp_path / "out")
    with pytest.raises(RunError, match=r"beyond pairs = 2, so that no player can enter; play .* pairs = 3"):
        play(write_spec(tmp_path, players=3, pairs=2), tmp_path / "out")
    play(write_spec(tmp_path, players=3, pairs=3), tmp_path / "out")
    assert [record.pairing.number for record in records_in(tmp_path / "out")] == list(range(18))


def test_no_players_change_places_in_a_tournament_that_holds_games_beyond_its_end(tmp_path: Path) -> None:
    """Those games would count for one another's opponents."""

    def swapped(pairs: int) -> Path:
        path = write_spec(tmp_path, players=2, pairs=pairs)
        head, one, other = path.read_text().split("[[players]]")
        path.write_text("[[players]]".join((head, other, one)))
        return path

    out = tmp_path / "out"
    play(write_spec(tmp_path, players=2, pairs=3), out)
    with pytest.raises(RunError, match=r"so that the order of its players cannot change; .* pairs = 3"):
        play(swapped(1), out)
    play(swapped(3), out)
    play(swapped(3), tmp_path / "at once")
    assert digest_in(out) == digest_in(tmp_path / "at once")


def test_a_folder_without_games_is_free_for_another_tournament(tmp_path: Path) -> None:
    path = write_spec(tmp_path, players=1, pairs=1)
    described = path.read_text()
    path.write_text(described + '[[players]]\nname = "other"\nprotocol = "uci"\ncommand = "no-such-engine"\n')
    assert play(path, tmp_path / "out").stored == 0
    assert players_in(tmp_path / "out") == ()
    path.write_text(described + '[[players]]\nname = "other"\n')
    assert play(path, tmp_path / "out").stored == 2
    assert [player.name for player in players_in(tmp_path / "out")] == ["player 0", "other"]


def test_changed_openings_are_refused(tmp_path: Path) -> None:
    path, out = write_spec(tmp_path, players=2, pairs=1), tmp_path / "out"
    play(path, out)
    (tmp_path / "six.epd").write_text("".join(OPENINGS.splitlines(keepends=True)[::-1]))
    with pytest.raises(RunError, match=r"the openings .* have changed"):
        play(path, out)
    path.write_text(path.read_text().replace("six.epd", "xiangqi"))  # of which a tournament plays a half
    with pytest.raises(RunError, match=r"tournament: openings = '.*six\.epd' there, 'xiangqi' in "):
        play(path, out)


def test_another_engine_is_refused_unless_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_spec(tmp_path, players=2, pairs=1)
    play(path, tmp_path / "out")
    monkeypatch.setattr("elolab.engine.compiled.identity.engine_identity", lambda: "another-one")
    path = write_spec(tmp_path, players=2, pairs=2)
    with pytest.raises(RunError, match=r"this is engine another-one.*--accept-engine-change"):
        play(path, tmp_path / "out")
    assert play(path, tmp_path / "out", accept_engine_change=True).exit_code == 0
    identities = [record.engine_identity for record in records_in(tmp_path / "out")]
    assert identities[2:] == ["another-one"] * 2
    assert "another-one" not in identities[:2]
    assert play(path, tmp_path / "out").exit_code == 0


def test_a_suite_that_is_too_small_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"pairs = 7 needs 7 different openings.*has 6"):
        play(write_spec(tmp_path, pairs=7), tmp_path / "out")
    assert not (tmp_path / "out").exists()


# Formats that decide on the way


@pytest.fixture(scope="module")
def cups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """A Swiss tournament and a knockout of five players: file and digest."""
    found = {}
    for kind in ("swiss", "knockout"):
        folder = tmp_path_factory.mktemp(kind)
        path = write_spec(folder, players=5, pairs=1, limit="nodes=30", extra=KEYS[kind])
        assert play(path, folder / "out").exit_code == 0
        found[kind] = path, digest_in(folder / "out")
    return found


KEYS = {
    "swiss": 'format = "swiss"\nrounds = 3',
    "knockout": 'format = "knockout"\nthird_place = true\ntiebreak_pairs = 1',
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("concurrency", [2, 4])
def test_rounds_are_the_same_at_any_concurrency(
    kind: str, concurrency: int, cups: dict[str, tuple[Path, str]], tmp_path: Path
) -> None:
    path, digest = cups[kind]
    play(path, tmp_path / "out", concurrency=concurrency)
    assert digest_in(tmp_path / "out") == digest


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_rounds_are_the_same_after_any_stop(
    kind: str, concurrency: int, cups: dict[str, tuple[Path, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended by force after every few games, wherever in a round that is."""
    path, digest = cups[kind]
    add_all, chance = Store.add_all, random.Random(concurrency)

    class Killed(Exception):
        pass

    def dying_add(store: Store, games: Iterable[tuple[GameRecord, bool]]) -> list[bool]:
        nonlocal left
        are_new = add_all(store, games)
        left -= len(are_new)
        if left <= 0:
            raise Killed
        return are_new

    monkeypatch.setattr(Store, "add_all", dying_add)
    deaths, result = 0, None
    while result is None:
        left = chance.randint(1, 6)
        try:
            result = play(path, tmp_path / "out", concurrency)
        except Killed:
            deaths += 1
    assert deaths >= 2
    assert (result.exit_code, result.missing, digest_in(tmp_path / "out")) == (0, 0, digest)
    live = json.loads((tmp_path / "out" / "live.json").read_text())
    assert live["planned"] == live["done"] == result.planned


@pytest.mark.parametrize("kind", KEYS)
def test_the_rounds_of_a_player_that_cannot_start_are_lost_and_stay_so(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = write_spec(tmp_path, players=3, pairs=1, limit="nodes=30", extra=KEYS[kind]), tmp_path / "out"
    program = tmp_path / "engine"
    text = f'[[players]]\nname = "absent"\nprotocol = "uci"\ncommand = "{program}"\n'
    path.write_text(path.read_text() + text)
    ended = play(path, out)
    assert ended.exit_code == 1
    assert (ended.missing, ended.unplayable) == (0, 2)
    assert ended.planned - ended.stored == 2
    assert [(entry.player, entry.round) for entry in ended.withdrawals] == [("absent", 0)]
    digest = digest_in(out)
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {ROOT / 'tests/support/mock_engines.py'} normal\n")
    program.chmod(0o755)
    again = play(path, out, concurrency=2)
    assert (again.exit_code, again.unavailable, digest_in(out)) == (1, {}, digest)
    assert again.withdrawals == ended.withdrawals
    assert describe(prepare(load_tournament(path)), out, 1)["seconds"] == 0
    assert command_line.main(["tournament", str(path), "--out", str(out)]) == 1
    printed = capsys.readouterr()
    assert "'absent' could not be started and is out" in printed.err
    assert "2 games will not be played" in printed.err
    assert "to go on" not in printed.err
    assert "absent could not be started and is out from round 1 on" in printed.out.replace("\n", " ")
    assert "is out from round 1 on" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("swiss", {"players": 6}, ["players = 5 there, 6 with 'player 5', who cannot enter later, in"]),
        ("knockout", {"players": 6}, ["who cannot enter later", "--out"]),
        ("swiss", {"pairs": 2}, ["pairs = 1 there, 2 in"]),
        ("knockout", {"pairs": 2, "extra": KEYS["knockout"][:-1] + "0"}, ["tiebreak_pairs = 1 there, 0 in"]),
        ("swiss", {"extra": 'format = "swiss"\nrounds = 2'}, ["longer tournament: 3 rounds there, 2 in"]),
        ("swiss", {"extra": 'format = "swiss"\nrounds = 3\nrepeats = true'}, ["repeats = false there, true in"]),
        ("swiss", {"extra": 'format = "round_robin"'}, ["format = 'swiss' there, 'round_robin' in"]),
        ("knockout", {"extra": 'format = "knockout"\ntiebreak_pairs = 1'}, ["third_place = true there, false in"]),
    ],
)
def test_what_rounds_depend_on_cannot_change(
    kind: str, changes: dict[str, Any], words: list[str], cups: dict[str, tuple[Path, str]], tmp_path: Path
) -> None:
    path, digest = cups[kind]
    out = path.parent / "out"
    settings = {"players": 5, "pairs": 1, "limit": "nodes=30", "extra": KEYS[kind]} | changes
    with pytest.raises(RunError) as raised:
        play(write_spec(tmp_path, **settings), out)
    for word in words:
        assert word in str(raised.value)
    assert "\n" not in str(raised.value)
    assert digest_in(out) == digest


def test_a_swiss_tournament_may_have_more_rounds_and_a_gauntlet_more_players(tmp_path: Path) -> None:
    for kind, small, large in (
        ("swiss", {"extra": 'format = "swiss"\nrounds = 2'}, {"extra": 'format = "swiss"\nrounds = 5'}),
        ("gauntlet", {"players": 4, "extra": 'format = "gauntlet"'}, {"extra": 'format = "gauntlet"'}),
    ):
        folder = tmp_path / kind
        folder.mkdir()
        common = {"players": 5, "pairs": 1, "limit": "nodes=30"}
        play(write_spec(folder, **(common | small)), folder / "out")
        before = {record.key: record.started_at for record in records_in(folder / "out")}
        assert play(write_spec(folder, **(common | large)), folder / "out").exit_code == 0
        assert before.items() < {record.key: record.started_at for record in records_in(folder / "out")}.items()
        play(write_spec(folder, **(common | large)), folder / "at once")
        assert digest_in(folder / "out") == digest_in(folder / "at once")
    moved = write_spec(folder, **common, extra='format = "gauntlet"\ngauntlet_players = 2')
    with pytest.raises(RunError, match="gauntlet_players = 1 there, 2 in"):
        play(moved, folder / "out")


# The runner


def some_jobs(folder: Path, **changes: Any) -> tuple[TournamentSpec, list[GameJob]]:
    plan = prepare(load_tournament(write_spec(folder, **changes)))
    pairings = format_of(plan.spec).pairings(plan.spec, plan.order, [])
    return plan.spec, [job_of(plan.spec, plan.suite, pairing) for pairing in pairings]


def test_the_runner_reads_jobs_just_ahead_and_yields_every_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elolab.engine.engine import StopFlag

    _, jobs = some_jobs(tmp_path)
    taken, ended = [], []
    play_one = GameRunner._play

    def played(runner: GameRunner, job: GameJob) -> Any:
        result = play_one(runner, job)
        ended.append(job.key)
        return result

    def source() -> Iterator[GameJob]:
        for job in jobs:
            assert len(taken) <= len(ended) + 2
            taken.append(job.key)
            yield job

    monkeypatch.setattr(GameRunner, "_play", played)
    with GameRunner(1, StopFlag()) as runner:
        records = list(runner.run(source()))
        again = list(runner.run(jobs[:3]))
    assert [record.key for record in records] == taken == [job.key for job in jobs]
    assert [record.digest for record in again] == [record.digest for record in records[:3]]


def test_games_that_end_soon_after_each_other_come_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "TOGETHER_SECONDS", 3600.0)
    # One game is seen to end at a time, also where the next has ended before anybody looks.
    wait = executor.wait
    monkeypatch.setattr(executor, "wait", lambda pending, *rest: wait(pending[:1], *rest))
    _, jobs = some_jobs(tmp_path)
    with GameRunner(1, StopFlag()) as runner:
        batches = [[record.key for record in batch] for batch in runner.batches(jobs)]
    assert len(jobs) > 3
    keys = [job.key for job in jobs]
    # The last ones come as soon as no other can begin.
    assert batches == [keys[:1], keys[1:-1], keys[-1:]]


def test_a_schedule_that_waits_for_results_gets_each_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "TOGETHER_SECONDS", 3600.0)
    _, jobs = some_jobs(tmp_path)
    known: set[str] = set()

    def source() -> Iterator[GameJob | None]:
        for before, job in zip([None, *jobs], jobs, strict=False):
            while before is not None and before.key not in known:
                yield None
            yield job

    with GameRunner(2, StopFlag()) as runner:
        for batch in runner.batches(source()):
            known.update(record.key for record in batch)
    assert known == {job.key for job in jobs}


@pytest.mark.parametrize("together", [0.0, 3600.0])
def test_a_stopped_runner_yields_what_has_ended_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: float
) -> None:
    monkeypatch.setattr(executor, "TOGETHER_SECONDS", together)
    _, jobs = some_jobs(tmp_path)
    stop, ended = StopFlag(), []
    play_one = GameRunner._play

    def played(runner: GameRunner, job: GameJob) -> Any:
        result = play_one(runner, job)
        if result.record is not None:
            ended.append(job.key)
        if len(ended) == 3:
            stop.set()
        return result

    monkeypatch.setattr(GameRunner, "_play", played)
    with GameRunner(2, stop) as runner:
        records = list(runner.run(iter(jobs)))
        assert not runner.running()
    assert sorted(record.key for record in records) == sorted(ended)
    assert 3 <= len(ended) < len(jobs)


@pytest.mark.parametrize("program", ["crashes", "does not start"])
def test_a_player_that_ends_with_the_run_has_not_lost(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from elolab.arena.play import game

    stop, play = StopFlag(), game.play

    async def play_and_stop(*arguments: Any) -> GameRecord:
        record = await play(*arguments)  # the player has ended, and what told it to tells the run too
        stop.set()
        return record

    monkeypatch.setattr(game, "play", play_and_stop)
    first = faulty_player("uci", "exit")
    if program == "does not start":
        first = replace(first, command=("no-such-engine",))
    second = replace(faulty_player("uci", "good"), name="second")
    opening = Opening(game_named("xiangqi").start)
    job = GameJob("xiangqi", Rules(), Adjudication(), Pairing(0, 0, 0, 1, 0), first, second, opening, seed=1)
    with GameRunner(1, stop) as runner:
        assert not list(runner.run([job]))
        assert not runner.unavailable


def test_the_compiled_loop_and_the_python_loop_play_the_same_games(tmp_path: Path) -> None:
    from elolab.arena.play.game import play_game
    from elolab.arena.players.registry import make_player
    from elolab.engine.engine import StopFlag

    _, jobs = some_jobs(tmp_path)
    stop = StopFlag()
    with GameRunner(1, stop) as runner:
        compiled = {record.key: record.digest for record in runner.run(jobs)}
    for job in jobs[:4]:
        players = (make_player(job.first, job.game), make_player(job.second, job.game))
        assert play_game(job, players, stop).digest == compiled[job.key]


def test_a_player_that_cannot_start_is_out_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = write_spec(tmp_path, players=2, pairs=1)
    path.write_text(path.read_text() + '[[players]]\nname = "absent"\nprotocol = "uci"\ncommand = "no-such-engine"\n')
    assert "no-such-engine" in describe(prepare(load_tournament(path)), tmp_path / "out", 1)["cannot_start"]["absent"]
    ended = play(path, tmp_path / "out")
    assert list(ended.unavailable) == ["absent"]
    assert "no-such-engine" in ended.unavailable["absent"]
    assert (ended.planned, ended.stored, ended.exit_code) == (6, 2, 1)


def test_a_player_said_to_speak_another_protocol_is_told_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elolab.arena.players import detect

    monkeypatch.setattr(detect, "HEAD_START_SECONDS", 0.02)
    path = write_spec(tmp_path, players=2, pairs=1)
    speaker = Path(__file__).parents[2] / "support" / "speaker.py"
    command = [sys.executable, "-I", "-S", str(speaker), "ucci=ucciok"]
    path.write_text(
        f'{path.read_text()}[[players]]\nname = "mine"\nprotocol = "uci"\ncommand = {command}\nstart_timeout = 0.1\n'
    )
    ended = play(path, tmp_path / "out")
    assert ended.unavailable == {
        "mine": "mine: did not complete the UCI handshake within 0.1 s (it said nothing); "
        'it answers over UCCI: give protocol = "ucci"'
    }
    assert (ended.stored, ended.exit_code) == (2, 1)


def test_files_that_are_used_up_are_no_players_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def popen(*arguments: object, **settings: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files", "/bin/sh")

    path = write_spec(tmp_path, players=2, pairs=1)
    path.write_text(path.read_text() + '[[players]]\nname = "mine"\nprotocol = "uci"\ncommand = "true"\n')
    monkeypatch.setattr("elolab.arena.players.process.subprocess.Popen", popen)
    with pytest.raises(OSError, match="Too many open files"):
        play(path, tmp_path / "out")


def test_players_that_were_replaced_are_not_kept() -> None:
    mock = (sys.executable, "-I", "-S", str(ROOT / "tests/support/mock_engines.py"), "normal")
    specs = [PlayerSpec(f"mock {number}", "uci", Limits.parse("depth=1"), command=mock) for number in range(3)]
    opening = Opening(game_named("xiangqi").start)
    with GameRunner(1, StopFlag()) as runner:
        for number in range(6):
            first, second = specs[number % 3], specs[(number + 1) % 3]
            job = GameJob(
                game="xiangqi", rules=Rules(), adjudication=Adjudication(), pairing=Pairing(number, 0, 0, 1, 0, 0),
                first=first, second=second, opening=opening, seed=0,
            )  # fmt: skip
            assert len(list(runner.run([job]))) == 1
        assert len(runner._players) == 2


def test_external_players_are_closed(tmp_path: Path) -> None:
    numbers = tmp_path / "processes"
    mock = [sys.executable, "-I", "-S", str(ROOT / "tests/support/mock_engines.py"), "normal", f"file={numbers}"]
    path = write_spec(tmp_path, players=1, pairs=2)
    path.write_text(path.read_text() + f'[[players]]\nname = "mock"\nprotocol = "uci"\ncommand = {json.dumps(mock)}\n')
    ended = play(path, tmp_path / "out", concurrency=2)
    assert ended.stored == 4
    processes = [word for word in numbers.read_text().split() if word.isdigit()]
    assert processes
    for number in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(int(number), 0)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors cannot be chosen here")
def test_games_do_not_depend_on_their_processors(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    players = [{"name": "default"}, {"name": "fenon", "preset": "fenon"}]
    content = {"game": "xiangqi", "pairs": 1, "limit": "depth=2", "adjudication": {"maximum_plies": 30}}
    spec = spec_from_mapping({**content, "players": players}, "pinned.toml")
    found = []
    for affinity in ("off", "auto", str(max(before))):
        run(spec, tmp_path / affinity, affinity=affinity)
        with Store(tmp_path / affinity, read_only=True) as store:
            found.append(store.digest())
    assert found[0] == found[1] == found[2]
    assert os.sched_getaffinity(0) == before
    with pytest.raises(UserError, match=r"affinity = auto: 9999 games at a time need 9999 processors"):
        run(spec, tmp_path / "many", affinity="auto", concurrency=9999)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_and_the_end_of_the_terminal_set_the_flag(number: signal.Signals) -> None:
    from elolab.engine.engine import StopFlag

    stop = StopFlag()
    before = signal.signal(number, signal.SIG_DFL)  # under nohup, whoever runs the tests ignores the second
    try:
        with stopping_on_signals(stop):
            signal.raise_signal(number)
        assert stop.is_set()
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_continuing_is_counted_and_sets_no_flag() -> None:
    stop, pauses, before = StopFlag(), Pauses(), signal.getsignal(signal.SIGCONT)
    with stopping_on_signals(stop, pauses):
        signal.raise_signal(signal.SIGCONT)
        signal.raise_signal(signal.SIGCONT)
    assert (pauses.count, stop.is_set()) == (2, False)
    assert signal.getsignal(signal.SIGCONT) is before


@pytest.mark.parametrize(("limit", "games"), [("clock=60", 2), ("nodes=9", 1)])
def test_a_game_on_the_clock_that_a_pause_fell_into_is_played_again(tmp_path: Path, limit: str, games: int) -> None:
    started, pauses = tmp_path / "processes", Pauses()
    told: list[str] = []
    mock = (sys.executable, "-I", "-S", str(ROOT / "tests/support/mock_engines.py"), "good")
    first = PlayerSpec("first", "uci", Limits.parse(limit), command=(*mock, f"file={started}"), restart="always")
    second = PlayerSpec("second", "uci", Limits(nodes=9), command=mock)
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)
    opening = Opening(game_named("xiangqi").start)
    job = GameJob("xiangqi", Rules(), adjudication, Pairing(0, 0, 0, 1, 0), first, second, opening, seed=1)

    def jobs() -> Iterator[GameJob]:
        yield job
        while not started.exists():
            time.sleep(0.005)
        pauses.count += 1

    with GameRunner(1, StopFlag(), warn=told.append, pauses=pauses) as runner:
        (record,) = runner.run(jobs())
    assert record.reason == "repetition"
    assert len([line for line in started.read_text().splitlines() if line.isdigit()]) == games
    assert len(told) == games - 1


def test_a_player_that_could_not_be_started_because_of_a_pause_is_tried_again(tmp_path: Path) -> None:
    started, pauses = tmp_path / "processes", Pauses()
    mock = (sys.executable, "-I", "-S", str(ROOT / "tests/support/mock_engines.py"))
    command = (*mock, "silent", f"file={started}")
    silent = PlayerSpec("silent", "uci", Limits(nodes=9), command=command, start_timeout_ms=1000)
    other = PlayerSpec("other", "uci", Limits(nodes=9), command=(*mock, "good"))
    opening = Opening(game_named("xiangqi").start)
    job = GameJob("xiangqi", Rules(), Adjudication(), Pairing(0, 0, 0, 1, 0), silent, other, opening, seed=1)

    def jobs() -> Iterator[GameJob]:
        yield job
        while not started.exists():
            time.sleep(0.005)
        pauses.count += 1

    with GameRunner(1, StopFlag(), pauses=pauses) as runner:
        assert not list(runner.run(jobs()))
        assert list(runner.unavailable) == ["silent"]
    greeted = [protocol for protocol in protocols() if protocol.greeting is not None]
    assert len(started.read_text().split()) == 2 + len(greeted), "at last it is greeted in all protocols"


def test_signals_set_the_flag_and_the_second_one_interrupts() -> None:
    from elolab.engine.engine import StopFlag

    stop = StopFlag()
    # A shell starts what runs in the background with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with stopping_on_signals(stop):
            signal.raise_signal(signal.SIGINT)
            assert stop.is_set()
            signal.raise_signal(signal.SIGINT)  # as from a wrapper that passes on what the terminal has sent already
            time.sleep(2 * TOGETHER_SECONDS)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        quiet = StopFlag()
        with stopping_on_signals(quiet):
            signal.raise_signal(signal.SIGINT)
        assert not quiet.is_set(), "what a job in the background ignores stays ignored"
    finally:
        signal.signal(signal.SIGINT, before)


# The command


def command(*words: object) -> list[str]:
    return [sys.executable, str(ROOT / "elolab"), *map(str, words)]


def test_the_command_prints_standings_digest_and_report(
    played: tuple[Path, Path, TournamentResult], capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, _ = played
    assert command_line.main(["tournament", str(path), "--out", str(out), "--concurrency", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == f"games digest: {digest_in(out)}"
    assert lines[-1] == str(out / "report.html")
    assert any("player 1" in line for line in lines)
    assert command_line.main(["report", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["games_digest"] == digest_in(out)
    assert {row["player"] for row in data["standings"]} == {"player 0", "player 1", "player 2"}


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_spec(tmp_path, limit="clock=10+0.1")
    out = tmp_path / "{name}"
    assert (
        command_line.main(["tournament", str(path), "--out", str(out), "--dry-run", "--json", "--concurrency", "2"])
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert (data["games"], data["stored"]) == (12, 0)
    assert (data["openings_needed"], data["openings_available"]) == (2, 6)
    assert data["folder"] == str(tmp_path / "cup")
    assert data["seconds"] == pytest.approx(12 * 120 * (10 / 60 + 0.1) / 2)
    assert not (tmp_path / "cup").exists()
    assert command_line.main(["tournament", str(path), "--dry-run"]) == 0
    assert "openings: 2 needed, 6 available" in capsys.readouterr().out


def test_no_time_is_told_before_games_of_other_programs(
    played: tuple[Path, Path, TournamentResult], tmp_path: Path
) -> None:
    path, out, _ = played
    plan = prepare(load_tournament(path))
    built_in, other = plan.spec.players, faulty_player("uci", "plain")
    joined = replace(plan, spec=replace(plan.spec, players=(*built_in, other)))
    assert describe(joined, out, 1)["unknown_speed"] == [other.name], "the games of the others tell nothing of it"
    known = replace(plan, spec=replace(plan.spec, players=(other, *built_in[1:])))
    assert describe(known, tmp_path / "none", 1)["seconds"] is None
    assert describe(known, out, 1)["seconds"] == 0, "its games are there"
    on_clock = replace(other, limits=Limits.parse("clock=10+0.1"))
    timed = replace(plan, spec=replace(plan.spec, players=(on_clock, *built_in[1:])))
    assert describe(timed, tmp_path / "none", 1)["unknown_speed"] == []


def test_games_of_players_that_ponder_are_planned_with_the_room_of_two(tmp_path: Path) -> None:
    plain = prepare(load_tournament(write_spec(tmp_path, limit="clock=10+0.1")))
    ponders = tuple(replace(player, ponder=True) for player in plain.spec.players)
    pondering = replace(plain, spec=replace(plain.spec, players=ponders))
    for concurrency, factor in ((1, 1), (2, 2), (4, 2)):
        usual, longer = (plan_of_run(plan, tmp_path / "none", concurrency) for plan in (plain, pondering))
        assert longer.stages[0].game_seconds == factor * usual.stages[0].game_seconds


def test_a_dry_run_refuses_what_would_be_refused(
    played: tuple[Path, Path, TournamentResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, _ = played
    words = ["tournament", str(path), "--out", str(out), "--dry-run"]
    before = (out / "games.sqlite").read_bytes()
    assert command_line.main(words) == 0
    assert command_line.main([*words, "--seed", "99"]) == 2
    assert "holds another tournament: seed = " in capsys.readouterr().err
    assert (out / "games.sqlite").read_bytes() == before
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    with Store(copy) as store:
        store.record_metadata({ENGINE_IDENTITY: "0123456789ab"})
    assert command_line.main(["tournament", str(path), "--out", str(copy), "--dry-run"]) == 2
    assert "played by engine 0123456789ab" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--affinity", "auto", "--concurrency", "1000"], "affinity = auto: "),
        (["--log", "FILE"], "dialogues cannot be kept there: a file of that name is in the way; give another"),
        (["--log", "FILE/inside"], "dialogues cannot be kept there: Not a directory; give another folder with --log"),
        (["--log", "log", "--cluster", "tcp://127.0.0.1:1"], "--log keeps dialogues of this machine only"),
        (["--affinity", "auto", "--cluster", "tcp://127.0.0.1:1"], "--affinity is of this machine's processors"),
    ],
)
def test_options_that_a_run_refuses_are_refused_by_the_dry_run_too(
    options: list[str], words: str, played: tuple[Path, Path, TournamentResult], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "FILE").touch()
    out, told = tmp_path / "out", []
    given = [str(tmp_path / word) if word.startswith("FILE") else word for word in options]
    for more in ([], ["--dry-run"]):
        assert command_line.main(["tournament", str(played[0]), "--out", str(out), *given, *more]) in (1, 2)
        told.append(capsys.readouterr().err.splitlines()[-1])
    assert told[0] == told[1]
    assert words in told[0]
    assert not out.exists()


def test_a_dry_run_says_that_the_folder_is_in_use(
    played: tuple[Path, Path, TournamentResult], capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, _ = played
    words = ["tournament", str(path), "--out", str(out), "--dry-run"]
    with Store(out):
        assert command_line.main(words) == 0
        shown = capsys.readouterr()
        assert "cup: 12 games, 12 of them in" in shown.out
        assert f"elolab: {out} is in use by another elolab (process {os.getpid()}); the run itself can" in shown.err
    assert command_line.main(words) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["file", "file/inside", "link", "link/inside"])
def test_a_folder_that_cannot_be_made_is_refused_by_the_dry_run_too(
    name: str, played: tuple[Path, Path, TournamentResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    words = ["tournament", str(played[0]), "--out", str(tmp_path / name)]
    told = []
    for more in ([], ["--dry-run"]):
        assert command_line.main([*words, *more]) == 2
        told.append(capsys.readouterr().err.splitlines()[-1])
    assert told[0] == told[1]
    in_the_way = "of that name" if name in ("file", "link") else tmp_path / name.partition("/")[0]
    assert f"{tmp_path / name}: cannot make the folder: a file {in_the_way} is in the way" in told[0]


@pytest.mark.parametrize("file", [STORE_NAME, LOCK_NAME])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/nowhere/inside")])
def test_what_is_in_the_place_of_a_file_is_refused_by_the_dry_run_too(
    make: Callable[[Path], None], file: str, played: tuple[Path, Path, TournamentResult], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    make(tmp_path / file)
    for more in ([], ["--dry-run"]):
        assert command_line.main(["tournament", str(played[0]), "--out", str(tmp_path), *more]) == 2
        assert capsys.readouterr().err.splitlines()[-1] == (
            f"elolab: {tmp_path / file}: is in the way, not a file; remove it, or give another folder with --out"
        )
    assert [path.name for path in tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("name", ["", STORE_NAME, LOCK_NAME])
def test_what_cannot_be_written_to_is_refused_by_the_dry_run_too(
    name: str, played: tuple[Path, Path, TournamentResult], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    path, out, _ = played
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    (copy / LOCK_NAME).touch()  # as a run that was killed leaves it
    words = ["tournament", str(path), "--out", str(copy)]
    monkeypatch.setattr(
        "elolab.arena.play.store.os.access", lambda path, mode: path != copy / name
    )  # as the superuser may
    for more in ([], ["--dry-run"]):
        assert command_line.main([*words, *more]) == 2
        assert f"{copy / name}: cannot be written to: Permission denied; change its" in capsys.readouterr().err


def test_a_link_to_a_file_that_is_yet_to_be_made_is_followed(
    played: tuple[Path, Path, TournamentResult], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / STORE_NAME).symlink_to(tmp_path / "elsewhere.sqlite")
    words = ["tournament", str(played[0]), "--out", str(out)]
    for more in (["--dry-run"], []):
        assert command_line.main([*words, *more]) == 0
    assert (tmp_path / "elsewhere.sqlite").is_file()


def test_replay(
    played: tuple[Path, Path, TournamentResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = played
    key = records_in(out)[5].key
    for game in ("5", key[:10]):
        assert command_line.main(["replay", str(out), game, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert (data["game"], data["key"], data["identical"], data["reproducible"]) == (5, key, True, True)
    assert command_line.main(["replay", str(out), "12"]) == 2
    assert "no games match '12'" in capsys.readouterr().err
    copy = tmp_path / "copy"
    copy.mkdir()
    with Store(out, read_only=True) as store, sqlite3.connect(copy / STORE_NAME) as target:
        store.connection.backup(target)
        target.execute("UPDATE games SET moves = replace(moves, '[[\"', '[[\"x'), digest = 'changed' WHERE number = 5")
        renew_checksums(target)
    assert command_line.main(["replay", str(copy), "5"]) == 1
    assert "different from ply 1 on: move x" in capsys.readouterr().out


def test_wrong_input_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_spec(tmp_path, extra="piars = 3")
    for words in (
        ["tournament", str(path)],
        ["tournament", "no-such-file"],
        ["report", str(tmp_path / "nothing")],
        ["openings", "check", str(path)],
    ):
        assert command_line.main(words) == 2
        error = capsys.readouterr().err
        assert error.startswith("elolab: ")
        assert error.count("\n") == 1


def test_the_generator_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made.epd.gz"
    words = ["--plies", "4", "--count", "8", "--limit", "nodes=50", "--seed", "3", "--out", str(out)]
    assert command_line.main(["openings", "generate", *words]) == 0
    capsys.readouterr()
    assert command_line.main(["openings", "check", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["all"] == 8
    assert command_line.main(["openings", "generate", "--limit", "move_time=1"]) == 2


# Sudden ends


def stored_games(out: Path) -> int:
    try:
        with sqlite3.connect(f"{(out / STORE_NAME).as_uri()}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def start_and_wait_for(path: Path, out: Path, games: int) -> subprocess.Popen[str]:
    """Run the tournament in a process of its own until the store holds so many games."""
    process = subprocess.Popen(
        command("tournament", path, "--out", out, "--concurrency", 2),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while stored_games(out) < games and process.poll() is None:
        time.sleep(0.002)
    return process


@pytest.mark.slow  # as what tests/test_interrupted_runs.py does with every kind of run
def test_killed_at_random_points_and_resumed(tmp_path: Path) -> None:
    path, out = write_spec(tmp_path, players=4, pairs=6, limit="nodes=400"), tmp_path / "out"
    chance = random.Random(17)
    killed = 0
    for share in (0.05, 0.3, 0.55, 0.8):
        process = start_and_wait_for(path, out, int(72 * share))
        time.sleep(chance.random() * 0.02)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        stored = records_in(out)
        assert len({record.key for record in stored}) == len(stored)
    assert killed >= 2
    before = {record.key: record.started_at for record in records_in(out)}
    ended = play(path, out, concurrency=2)
    assert (ended.planned, ended.stored) == (72, 72)
    records = records_in(out)
    assert [record.pairing.number for record in records] == list(range(72))
    assert before.items() <= {record.key: record.started_at for record in records}.items()
    play(path, tmp_path / "at once", concurrency=2)
    assert digest_in(out) == digest_in(tmp_path / "at once")


def test_ctrl_c_while_the_report_is_written_waits_for_its_end(
    played: tuple[Path, Path, TournamentResult], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, _ = played
    from elolab.arena.reports import write

    def interrupted(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return plots_of(*arguments)

    plots_of = write.plots_of
    monkeypatch.setattr(write, "plots_of", interrupted)
    for words in (["tournament", str(path), "--out", str(out)], ["report", str(out)]):
        (out / "report.html").unlink()
        assert command_line.main(words) == 0
        assert capsys.readouterr().out.splitlines()[-1] == str(out / "report.html")
        assert (out / "report.html").is_file()


def test_interrupted_says_how_to_resume(tmp_path: Path) -> None:
    path, out = write_spec(tmp_path, players=4, pairs=6, limit="nodes=2000"), tmp_path / "out"
    process = start_and_wait_for(path, out, 3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.splitlines()[-1] == str(out / "report.html")
    last = errors.splitlines()[-1]
    assert re.fullmatch(r"elolab: interrupted: \d+ of 72 games are stored; to go on: elolab tournament .*", last)
    assert f"{path} --out {out}" in last
    assert "Traceback" not in errors
    assert json.loads((out / "live.json").read_text())["state"] == "interrupted"


def test_games_that_run_are_not_waited_for_when_one_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(store: Store, games: Any) -> list[bool]:
        raise StoreFailure("the disk is full")

    stop, was_set = StopFlag(), []
    wait_for = GameRunner._wait_for

    def waiting(runner: GameRunner, pending: Any) -> None:
        was_set.append(stop.is_set())  # it ends the searches of the games that run
        wait_for(runner, pending)

    monkeypatch.setattr(Store, "add_all", fail)
    monkeypatch.setattr(GameRunner, "_wait_for", waiting)
    with pytest.raises(StoreFailure, match="the disk is full"):
        play(write_spec(tmp_path, players=2), tmp_path / "out", stop=stop)
    assert was_set == [True]


@pytest.mark.parametrize("name", ["games.pgn", "report.html", "copy.pgn"])
def test_standings_are_printed_though_a_file_cannot_be_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, copy = write_spec(tmp_path, players=3, pairs=1, limit="nodes=30"), tmp_path / "out", "/dev/full"
    words = ["tournament", str(path), "--out", str(out)]
    if name != "copy.pgn":
        (out / name).mkdir(parents=True)
    else:
        words += ["--pgnout", copy]
    assert command_line.main(words) == 1
    printed = capsys.readouterr()
    assert "Standings: 6 games" in printed.out
    assert (str(out / "report.html") in printed.out.split("\n")) == (name == "copy.pgn")
    blocked = copy if name == "copy.pgn" else out / name
    last = printed.err.splitlines()[-1]
    assert last.startswith(f"elolab: {blocked}: cannot be written: ")
    assert last.endswith("the games are stored: give the same command again once that is mended")
    if name != "copy.pgn":
        assert command_line.main(["report", str(out), "--json"]) == 1
        printed = capsys.readouterr()
        assert json.loads(printed.out)["report"] is None
        assert printed.err.startswith(f"elolab: {blocked}: cannot be written: ")
        (out / name).rmdir()
    assert command_line.main(words[:4]) == 0
    assert capsys.readouterr().out.endswith(f"{out / 'report.html'}\n")


def test_a_full_disk_is_one_line_and_resuming_completes(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path, out = write_spec(tmp_path, players=4, pairs=6), tmp_path / "out"
    play(write_spec(tmp_path, players=2, pairs=1), out)  # compiles everything before the limit
    path = write_spec(tmp_path, players=4, pairs=6)
    allowed = 150_000
    process = subprocess.run(
        command("tournament", path, "--out", out, "--concurrency", 2),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, allowed)),
        check=False,
    )
    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    last = process.stderr.splitlines()[-1]
    assert last.startswith(f"elolab: {out / STORE_NAME}: the disk")
    assert "every game stored before is safe" in last
    stored = records_in(out)
    assert 2 <= len(stored) < 72
    assert play(path, out).exit_code == 0
    assert {record.key for record in stored} <= {record.key for record in records_in(out)}
    assert len(records_in(out)) == 72
