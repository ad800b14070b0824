"""The runner of games: jobs just ahead of need, stops, pauses, and players that cannot start."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play import executor
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import describe, prepare, run
from elolab.arena.players.interruption import TOGETHER_SECONDS, Pauses, stopping_on_signals
from elolab.arena.players.registry import protocols
from elolab.arena.records import FinishedGame, GameJob, Opening, Pairing, PlayerSpec
from elolab.arena.schedule import format_of, job_of
from elolab.arena.tournament_reader import load_tournament, spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from tests.support.faulty_players import player as faulty_player
from tests.support.small_tournaments import play, write_spec

pytestmark = pytest.mark.usefixtures("without_charts")
ROOT = Path(__file__).parents[3]


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

    def played(runner: GameRunner, task: Any, *more: Any) -> None:
        play_one(runner, task, *more)
        ended.append(task.job.key)

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
    _, jobs = some_jobs(tmp_path)
    with GameRunner(1, StopFlag()) as runner:
        batches = [[record.key for record in batch] for batch in runner.batches(jobs)]
    assert len(jobs) > 3
    keys = [job.key for job in jobs]
    assert [key for batch in batches for key in batch] == keys
    # The first comes at once, the last ones as soon as no other can begin; several may have ended before one looks.
    assert 1 < len(batches) <= 3


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

    def played(runner: GameRunner, task: Any, *more: Any) -> None:
        play_one(runner, task, *more)
        if task.record is not None:
            ended.append(task.job.key)
        if len(ended) == 3:
            stop.set()

    monkeypatch.setattr(GameRunner, "_play", played)
    with GameRunner(2, stop) as runner:
        records = list(runner.run(iter(jobs)))
        assert not runner.running()
    assert sorted(record.key for record in records) == sorted(ended)
    assert 3 <= len(ended) < len(jobs)


@pytest.mark.parametrize("program", ["crashes", "does not start"])
def test_a_player_that_ends_with_the_run_has_not_lost(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from elolab.arena.play import game

    stop, play = StopFlag(), game.finish_game

    def play_and_stop(*arguments: Any) -> FinishedGame:
        finished = play(*arguments)  # the player has ended, and what told it to tells the run too
        stop.set()
        return finished

    monkeypatch.setattr(game, "finish_game", play_and_stop)
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


@pytest.mark.integration
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
    first = PlayerSpec(
        "first", "uci", Limits.parse(limit), command=(*mock, f"file={started}"), restart="always", margin_ms=60_000
    )
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


@pytest.mark.parametrize(
    ("late_ms", "kept"),
    [([12.0, None], None), ([12.0, 15.0, 11.0], 11.0), ([11.0, 12.0, 15.0], 11.0), ([None], None)],
)
def test_a_game_that_the_arena_disturbed_is_played_again_at_most_twice(
    late_ms: list[float | None], kept: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elolab.arena.play import game

    play, played, told = game.finish_game, iter(late_ms), []

    def play_disturbed(*arguments: Any) -> FinishedGame:
        late = next(played)
        detail = {} if late is None else {"disturbed": {"moves": 1, "worst_ms": late}}
        finished = play(*arguments)
        return finished._replace(record=lambda: replace(finished.record(), detail=detail))

    monkeypatch.setattr(game, "finish_game", play_disturbed)
    monkeypatch.setattr(executor, "REPLAYED_SHARE", 1)
    first = faulty_player("uci", "good")
    opening = Opening(game_named("xiangqi").start)
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=4)
    job = GameJob(
        "xiangqi", Rules(), adjudication, Pairing(0, 0, 0, 1, 0), first, replace(first, name="b"), opening, seed=1
    )
    with GameRunner(1, StopFlag(), warn=told.append) as runner:
        (record,) = runner.run([job])
    assert record.detail.get("disturbed", {}).get("worst_ms") == kept
    assert next(played, "all played") == "all played"
    assert len(told) == (len(late_ms) > 1)


def test_an_overloaded_machine_plays_few_games_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from elolab.arena.play import game

    play, played = game.finish_game, []

    def play_disturbed(*arguments: Any) -> FinishedGame:
        finished = play(*arguments)
        played.append(finished)
        detail = {"disturbed": {"moves": 1, "worst_ms": 99.0}}
        return finished._replace(record=lambda: replace(finished.record(), detail=detail))

    monkeypatch.setattr(game, "finish_game", play_disturbed)
    first = faulty_player("uci", "good")
    opening = Opening(game_named("xiangqi").start)
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=2)
    jobs = [
        GameJob("xiangqi", Rules(), adjudication, Pairing(n, n, 0, 1, 0), first, replace(first, name="b"), opening, n)
        for n in range(20)
    ]
    with GameRunner(1, StopFlag()) as runner:
        assert len(list(runner.run(jobs))) == 20
    assert 20 < len(played) <= 24


@pytest.mark.integration
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
