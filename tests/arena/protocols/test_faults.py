"""Every fault that an engine can commit, over every protocol: who loses, why, what is kept, that nothing is left."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.play.executor import GameRunner
from elolab.arena.play.game import play_game
from elolab.arena.players import detect, external
from elolab.arena.players.external import ExternalPlayer
from elolab.arena.players.registry import make_player, protocols
from elolab.arena.players.supervisor import SUPERVISOR
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from tests.support.faulty_players import CASES, ENDINGS, SPEAKERS, Case, Fault, player, reason_of
from tests.support.marked_processes import MARK, processes_marked, wait_until


def job_of(protocol: str, number: int, wrong: PlayerSpec, good: PlayerSpec | None = None) -> GameJob:
    """A game in which the first player misbehaves, by default against a program over the same protocol."""
    speaker = SPEAKERS[protocol]
    never = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)
    good = good or replace(player(protocol, "good"), name="good", watchdog_ms=60_000)
    opening = Opening(game_named(speaker.game).start)
    return GameJob(speaker.game, Rules(), never, Pairing(number, number, 0, 1, 0), wrong, good, opening, seed=1)


@pytest.fixture(autouse=True, scope="module")
def marked() -> Iterator[str]:
    """Everything that the tests start is gone after them, but for the supervisor, which ends with the harness."""
    mark = f"faults {os.getpid()}"
    os.environ[MARK] = mark
    yield mark
    del os.environ[MARK]
    assert wait_until(lambda: not set(processes_marked(mark)) - {SUPERVISOR.process_id})


@functools.cache
def builtin(game: str) -> PlayerSpec:
    """An opponent without a process, where nothing depends on it."""
    parameters = tuple(Engine(game, {"hash_mb": 0}).parameters.items())
    return PlayerSpec("good", "builtin", Limits(depth=1), parameters=parameters)


def is_repeated(case: Case) -> bool:
    """Whether it is a flood that is read as over UCI and GTP: by the process, whatever the protocol."""
    fault = case.fault
    return (fault.mode == "byte_flood" or (fault.mode, fault.on_clock) == ("info_flood", True)) and (
        case.protocol not in ("uci", "gtp")
    )


@functools.cache
def lost_games(protocol: str, repeated: bool) -> dict[Fault, GameRecord]:
    """A game lost by each fault, side by side: most of the time they wait."""
    faults = [case.fault for case in CASES if case.protocol == protocol and is_repeated(case) == repeated]
    jobs = {fault: job_of_fault(protocol, number, fault) for number, fault in enumerate(faults)}
    # On a busy machine an answer that is late comes later still; who never answers is waited for in vain.
    answering = [job for fault, job in jobs.items() if fault.reason == "time_forfeit"]
    records = {}
    for patience_ms, played in ((60_000, answering), (250, [job for job in jobs.values() if job not in answering])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(external, "LATE_ANSWER_MS", patience_ms)
            with GameRunner(max(1, len(played)), StopFlag()) as runner:
                records |= {record.key: record for record in runner.run(played)}
        assert not runner.unavailable
    return {fault: records[job.key] for fault, job in jobs.items()}


def job_of_fault(protocol: str, number: int, fault: Fault) -> GameJob:
    """A game lost by it."""
    # On the clock at once: on a busy machine a good move might come late.
    wrong = player(protocol, fault.mode, on_clock=fault.on_clock, at=2 - fault.on_clock)
    if fault.reason in ("crash", "illegal_move", "no_move"):
        wrong = replace(wrong, watchdog_ms=60_000)  # there even the end of a program may come late
    # The mock of Xiangqi plays on only while its rook can go to and fro.
    return job_of(protocol, number, wrong, builtin(SPEAKERS[protocol].game) if fault.plies <= 2 else None)


def test_no_protocol_is_left_out() -> None:
    assert SPEAKERS.keys() == {protocol.name for protocol in protocols() if protocol.is_external}


def marks_of(case: Case) -> list[pytest.MarkDecorator]:
    """Faults of UCI and GTP are tested each time: the other protocols resemble one of them."""
    if is_repeated(case):
        return [pytest.mark.slow]
    return [] if case.protocol in ("uci", "gtp") else [pytest.mark.integration]


@pytest.mark.integration
@pytest.mark.parametrize("case", [pytest.param(case, marks=marks_of(case)) for case in CASES], ids=str)
def test_a_fault_loses_the_game_and_keeps_the_dialogue(case: Case) -> None:
    record, mode = lost_games(case.protocol, is_repeated(case))[case.fault], case.fault.mode
    assert (record.result, record.reason) == ("0-1", reason_of(case)), record.detail
    fault = record.detail["fault"]
    assert (fault["player"], fault["side"], fault["reason"]) == (f"mock {mode}", 0, record.reason)
    assert re.search(f"mock {mode}: .*(?:{case.fault.text})", fault["text"]), fault["text"]
    # On a busy machine a late move may come in before it is given up; it is kept then.
    came_in = mode == "late" and "no move after" not in fault["text"]
    assert fault["moves"] == len(record.moves) == case.fault.plies + came_in
    said = record.detail["dialogue"]
    assert any(SPEAKERS[case.protocol].question in f"{line} " for line in said), said
    assert len(said) <= 200
    assert sum(map(len, said)) <= 70_000


@pytest.mark.integration
@pytest.mark.parametrize("protocol", SPEAKERS)
def test_after_a_fault_the_player_is_of_use_again(protocol: str, tmp_path: Path) -> None:
    wrong = player(protocol, "exit", once=tmp_path / "done")
    with GameRunner(1, StopFlag()) as runner:
        records = list(runner.run([job_of(protocol, 0, wrong), job_of(protocol, 1, wrong)]))
    assert [record.reason for record in records] == ["crash", ENDINGS[SPEAKERS[protocol].game]]
    assert records[1].detail == {}


def marks_of_noise(protocol: str, mode: str) -> list[pytest.MarkDecorator]:
    """What is written to standard error is read alike over all protocols."""
    if mode == "error_flood":
        return [] if protocol == "uci" else [pytest.mark.slow]
    return [] if protocol in ("uci", "gtp") else [pytest.mark.integration]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "mode"),
    [
        pytest.param(protocol, mode, marks=marks_of_noise(protocol, mode))
        for protocol in SPEAKERS
        for mode in ("error_flood", "long_line", "twice")
    ],
)
def test_noise_alone_loses_nothing_and_fills_no_memory(protocol: str, mode: str, tmp_path: Path) -> None:
    """128 megabytes of errors, a line of two megabytes, an answer too many."""
    job = job_of(protocol, 0, replace(player(protocol, mode, once=tmp_path / "done"), watchdog_ms=60_000))
    players = [make_player(spec, SPEAKERS[protocol].game) for spec in (job.first, job.second)]
    try:
        record = play_game(job, (players[0], players[1]), StopFlag())
        noisy = players[0]
        assert isinstance(noisy, ExternalPlayer)
        process = noisy._process
        assert process is not None
        assert process.error_bytes >= (128 << 20 if mode == "error_flood" else 0)
    finally:
        for one in players:
            one.close()
    assert record.reason == ENDINGS[SPEAKERS[protocol].game], record.detail
    assert record.detail == {}


@pytest.mark.integration
def test_programs_that_do_not_go_and_their_children_are_ended(marked: str) -> None:
    """One of each protocol that ignores quit, the end of its input and signals, and so does its child."""
    jobs = [
        job_of(protocol, number, player(protocol, "immortal_with_child")) for number, protocol in enumerate(SPEAKERS)
    ]
    with GameRunner(len(jobs), StopFlag()) as runner:
        records = list(runner.run(jobs))
        assert len(set(processes_marked(marked)) - {SUPERVISOR.process_id}) == 3 * len(jobs)
    assert {record.reason for record in records} == set(ENDINGS.values())
    # A process that was killed may take a moment to go.
    assert wait_until(lambda: set(processes_marked(marked)) <= {SUPERVISOR.process_id})


STARTS = {"exit_at_start": r"ended during the .* handshake: exited with code 3; "
          "the end of its error output: cannot find my network",
          "silent": r"did not complete the .* handshake within 0\.3 s"}  # fmt: skip


@pytest.mark.integration
def test_who_cannot_be_started_is_out_and_the_others_play(monkeypatch: pytest.MonkeyPatch) -> None:
    # Not also tried in all other protocols, which is of no avail here.
    monkeypatch.setattr(detect, "other_protocol", lambda spec: "")
    jobs, reasons = [], {}
    for protocol in SPEAKERS:
        for mode, text in STARTS.items():
            patience_ms = 300 if mode == "silent" else 30_000  # a busy machine takes its time to start one that ends
            wrong = replace(player(protocol, mode), name=f"{mode} {protocol}", start_timeout_ms=patience_ms)
            jobs.append(job_of(protocol, len(jobs), wrong, builtin(SPEAKERS[protocol].game)))
            reasons[wrong.name] = text
        jobs.append(job_of(protocol, len(jobs), player(protocol, "fine")))
    with GameRunner(6, StopFlag()) as runner:
        records = list(runner.run(jobs))
        assert runner.unavailable.keys() == reasons.keys()
        for name, text in reasons.items():
            assert re.search(text, runner.unavailable[name]), runner.unavailable[name]
    assert sorted(record.key for record in records) == sorted(job.key for job in jobs if job.first.name not in reasons)
