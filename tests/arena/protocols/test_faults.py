"""Every fault that an engine can commit, over every protocol: who loses, why, what is kept, that nothing is left."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import othello_match
import pytest
import xiangqi_match
from marked_processes import MARK, processes_marked, wait_until

from arena.play.executor import GameRunner
from arena.play.game import play_game
from arena.players.event_loop import run
from arena.players.external import ExternalPlayer
from arena.players.process import ERROR_TAIL_BYTES, LINE_BYTES
from arena.players.registry import make_player, protocols
from arena.players.supervisor import SUPERVISOR
from arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from engine.engine import StopFlag
from engine.games import game_named
from engine.rules import Adjudication, Rules
from engine.settings.limits import Limits


@dataclass(frozen=True)
class Speaker:
    """How a protocol is told to play."""

    game: str
    limit: str
    """Without a clock; empty for a level of the engine's own."""
    question: str
    """What asks for a move."""
    clock: str = ""
    """A time a move; empty where the protocol has none."""
    late_seconds: float = 0.0
    """Later than that and the margin, but before the engine is taken to hang."""

    lacks: frozenset[str] = frozenset()
    """Modes for which the protocol has no words."""


SPEAKERS = {
    "uci": Speaker("xiangqi", "nodes=100", "> go ", "move_time=0.2", 0.32),
    "ucci": Speaker("xiangqi", "depth=3", "> go ", "move_time=0.2", 0.32),
    "ucicyclone": Speaker("xiangqi", "depth=3", "> go ", "move_time=0.2", 0.32),
    "xboard": Speaker("xiangqi", "depth=3", "> go ", "move_time=1", 1.12, frozenset({"none"})),
    "gtp": Speaker("othello", "", " genmove b", "move_time=1", 1.12, frozenset({"until_stop"})),
    "nboard": Speaker("othello", "depth=4", "> go ", lacks=frozenset({"none"})),
}


class Fault(NamedTuple):
    """A way to lose a game."""

    mode: str
    """Of the mock engine."""
    reason: str
    text: str
    """A regular expression that the record's text matches."""
    on_clock: bool = False
    plies: int = 2
    """So long was the game."""


WATCHED = r"gave no move within 1 s, the watchdog's deadline"
ENDED = "ended while it should have moved"
OVERDUE = r"had not moved after [\d.]+ s, its time and the margin"
FAULTS = (
    Fault("exit", "crash", f"{ENDED}: exited with code 5; its last words: assertion failed: alpha < beta"),
    Fault("segfault", "crash", rf"{ENDED}: killed by signal 11 \(SIGSEGV\)"),
    Fault("child_holds_pipe", "crash", f"{ENDED}: exited with code 5"),
    Fault("leave", "crash", "ended while it .*: exited with code 0", plies=4),
    Fault("illegal", "illegal_move", r"illegal move '\w+' after 2 moves"),
    Fault("garbage", "illegal_move", "xyzzy.*is not a move"),
    Fault("empty", "illegal_move", "which is not a move"),
    Fault("none", "illegal_move", r"\(none\)|nobestmove|rather not"),
    Fault("hang", "no_answer", WATCHED),
    Fault("deaf", "no_answer", f"{WATCHED}|did not answer ping", plies=4),
    Fault("info_flood", "no_answer", WATCHED),
    Fault("byte_flood", "no_answer", WATCHED),
    Fault("until_stop", "no_answer", WATCHED),
    Fault("until_stop", "time_forfeit", f"{OVERDUE}, until (?:stopped|told to)", on_clock=True, plies=0),
    Fault("hang", "no_answer", OVERDUE, on_clock=True, plies=0),
    Fault("late", "time_forfeit", OVERDUE, on_clock=True, plies=0),
    Fault("info_flood", "no_answer", OVERDUE, on_clock=True, plies=0),
    Fault("byte_flood", "no_answer", OVERDUE, on_clock=True, plies=0),
)


ENDINGS = {"xiangqi": "repetition", "othello": "final_score"}
"""How games end in which nothing goes wrong."""


class Case(NamedTuple):
    protocol: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.protocol} {self.fault.mode}{' on the clock' if self.fault.on_clock else ''}"


CASES = [
    Case(protocol, fault) for protocol, speaker in SPEAKERS.items() for fault in FAULTS
    if fault.mode not in speaker.lacks and (speaker.clock or not fault.on_clock)
]  # fmt: skip
CANNOT_BE_STOPPED = {"xboard", "gtp"}
"""Protocols in which a program that thinks cannot be asked whether it hears."""


def reason_of(case: Case) -> str:
    """The reason of the loss."""
    if case.fault.on_clock and case.protocol in CANNOT_BE_STOPPED:
        return "time_forfeit"
    return case.fault.reason


def player(protocol: str, mode: str, *, on_clock: bool = False, **settings: object) -> PlayerSpec:
    """A mock engine."""
    speaker = SPEAKERS[protocol]
    limit = speaker.clock if on_clock else speaker.limit
    limits = Limits.parse(limit) if limit else Limits()
    settings |= {"seconds": speaker.late_seconds}
    if protocol == "uci":
        spec = replace(xiangqi_match.mock_spec("ucci", mode, settings=settings), protocol="uci", limits=limits)
        program = xiangqi_match.MOCK.replace("mock_xiangqi", "mock")
        command = tuple(program if word == xiangqi_match.MOCK else word for word in spec.command)
        return replace(spec, command=command, watchdog_ms=1000)
    if speaker.game == "othello":
        return othello_match.mock_spec(protocol, mode, limits, settings=settings, watchdog_ms=1000)
    return xiangqi_match.mock_spec(protocol, mode, str(limits), settings=settings, watchdog_ms=1000)


def job_of(protocol: str, number: int, wrong: PlayerSpec) -> GameJob:
    """A game in which the first player misbehaves."""
    speaker = SPEAKERS[protocol]
    never = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)
    good = replace(player(protocol, "good"), name="good", watchdog_ms=60_000)
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
def lost_games(protocol: str) -> dict[Fault, GameRecord]:
    """A game lost by each fault, side by side: most of the time they wait."""
    faults = [case.fault for case in CASES if case.protocol == protocol]
    jobs = [
        # On the clock at once: on a busy machine a good move might come late.
        job_of(protocol, number, player(protocol, fault.mode, on_clock=fault.on_clock, at=2 - fault.on_clock))
        for number, fault in enumerate(faults)
    ]
    with GameRunner(len(jobs), StopFlag()) as runner:
        records = {record.key: record for record in runner.run(jobs)}
    assert not runner.unavailable
    return {fault: records[job.key] for fault, job in zip(faults, jobs, strict=True)}


def test_no_protocol_is_left_out() -> None:
    assert SPEAKERS.keys() == {protocol.name for protocol in protocols() if protocol.is_external}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_fault_loses_the_game_and_keeps_the_dialogue(case: Case) -> None:
    record, mode = lost_games(case.protocol)[case.fault], case.fault.mode
    assert (record.result, record.reason) == ("0-1", reason_of(case)), record.detail
    fault = record.detail["fault"]
    assert (fault["player"], fault["side"], fault["reason"]) == (f"mock {mode}", 0, record.reason)
    assert re.search(f"mock {mode}: .*(?:{case.fault.text})", fault["text"]), fault["text"]
    assert fault["moves"] == len(record.moves) == case.fault.plies
    said = record.detail["dialogue"]
    assert any(SPEAKERS[case.protocol].question in f"{line} " for line in said), said
    assert len(said) <= 200
    assert sum(map(len, said)) <= 70_000


@pytest.mark.parametrize("protocol", SPEAKERS)
def test_after_a_fault_the_player_is_of_use_again(protocol: str, tmp_path: Path) -> None:
    wrong = player(protocol, "exit", once=tmp_path / "done")
    with GameRunner(1, StopFlag()) as runner:
        records = list(runner.run([job_of(protocol, 0, wrong), job_of(protocol, 1, wrong)]))
    assert [record.reason for record in records] == ["crash", ENDINGS[SPEAKERS[protocol].game]]
    assert records[1].detail == {}


@pytest.mark.parametrize("mode", ["error_flood", "long_line", "twice"])
@pytest.mark.parametrize("protocol", SPEAKERS)
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
        assert len(process._errors) <= ERROR_TAIL_BYTES
        assert len(process._data) <= LINE_BYTES
    finally:
        for one in players:
            run(one.close())
    assert record.reason == ENDINGS[SPEAKERS[protocol].game], record.detail
    assert record.detail == {}


def test_programs_that_do_not_go_and_their_children_are_ended(marked: str) -> None:
    """One of each protocol that ignores quit, the end of its input and signals, and so does its child."""
    jobs = [
        job_of(protocol, number, player(protocol, "immortal_with_child")) for number, protocol in enumerate(SPEAKERS)
    ]
    with GameRunner(len(jobs), StopFlag()) as runner:
        records = list(runner.run(jobs))
        assert len(set(processes_marked(marked)) - {SUPERVISOR.process_id}) == 3 * len(jobs)
    assert {record.reason for record in records} == set(ENDINGS.values())
    assert set(processes_marked(marked)) <= {SUPERVISOR.process_id}


STARTS = {"exit_at_start": r"ended during the .* handshake: exited with code 3; its last words: cannot find my network",
          "silent": r"did not complete the .* handshake within 0\.3 s"}  # fmt: skip


def test_who_cannot_be_started_is_out_and_the_others_play() -> None:
    jobs, reasons = [], {}
    for protocol in SPEAKERS:
        for mode, text in STARTS.items():
            wrong = replace(player(protocol, mode), name=f"{mode} {protocol}", start_timeout_ms=300)
            jobs.append(job_of(protocol, len(jobs), wrong))
            reasons[wrong.name] = text
        jobs.append(job_of(protocol, len(jobs), player(protocol, "fine")))
    with GameRunner(6, StopFlag()) as runner:
        records = list(runner.run(jobs))
        assert runner.unavailable.keys() == reasons.keys()
        for name, text in reasons.items():
            assert re.search(text, runner.unavailable[name]), runner.unavailable[name]
    assert sorted(record.key for record in records) == sorted(job.key for job in jobs if job.first.name not in reasons)
