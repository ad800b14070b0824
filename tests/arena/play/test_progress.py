"""What a running tournament shows."""

from __future__ import annotations

import fcntl
import io
import itertools
import json
import os
import re
import struct
import termios
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.estimates import depends_on_speed, duration_text, estimated_game_seconds, estimated_move_seconds
from elolab.arena.play.live import RunProgress
from elolab.arena.play.scores import MatchScore, Scoreboard
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import Store
from elolab.arena.provenance.caveats import caveats_of
from elolab.arena.records import GameRecord, MoveRecord, Opening, Outcome, Pairing
from elolab.engine.language import columns_of
from elolab.engine.settings.limits import Limits


class Terminal(io.StringIO):
    """A stream that keeps what is written, and takes its size from a terminal."""

    def __init__(self, terminal: int, written: list[str]) -> None:
        super().__init__()
        self._terminal, self._written = terminal, written

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal

    def write(self, text: str) -> int:
        self._written.append(text)
        return len(text)


class Watch:
    """A clock that the test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_durations() -> None:
    assert [duration_text(seconds) for seconds in (0, 7.4, 754, 11045)] == ["0:00", "0:07", "12:34", "3:04:05"]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        ("nodes=20000", 0.02),
        ("depth=9", 3**9 / 1e6),
        ("move_time=0.5", 0.5),
        ("move_time=0.5,node_clock=200000", 0.1),
        ("clock=12+0.1", 12 / 60 + 0.1),
        ("clock=20/10+0.5", 1.0),
        ("nodes=20000,depth=30,move_time=0.5", 0.02),
    ],
)  # fmt: skip
def test_a_move_is_taken_to_need_what_its_limit_allows(limit: str, seconds: float) -> None:
    assert estimated_move_seconds(Limits.parse(limit)) == pytest.approx(seconds)


def test_a_game_is_taken_to_have_as_many_moves_of_each_player() -> None:
    assert estimated_move_seconds(Limits()) == 0.1, "a program at a level of its own"
    assert estimated_game_seconds([Limits(nodes=10_000), Limits(nodes=30_000)]) == pytest.approx(120 * 0.02)


def test_what_is_missing_takes_as_long_as_the_stored_games_took(tmp_path: Path) -> None:
    plan = StagePlan("cup", tmp_path, (GameStage("one", 6, 0.25, 2), GameStage("two", 2, 0.5)), concurrency=2)
    assert (plan.games, plan.stored, plan.pace, plan.seconds) == (8, 2, 1, (4 * 0.25 + 2 * 0.5) / 2)
    with Store(tmp_path) as store:
        for number, duration_ms in enumerate((1000.0, 2000.0)):
            place = Pairing(number, 0, number, 1 - number, 0)
            opening = Opening("K w", (), "an opening")
            store.add(GameRecord(str(number), place, "a", "b", opening, (), "1-0", "checkmate", "", "", duration_ms))
    plan = replace(plan)
    assert plan.pace == 6, "1.5 seconds in place of 0.25"
    assert [plan.seconds_of(stage) for stage in plan.stages] == [6 * 4 * 0.25 / 2, 6 * 2 * 0.5 / 2]
    in_time = replace(plan, stages=(replace(plan.stages[0], seconds=1.5), plan.stages[1]))
    assert in_time.seconds == 1.5 + 3
    assert (plan.data()["at_most"], replace(plan, is_bound=False).data()["at_most"]) == (True, False)
    assert not replace(plan, stages=(GameStage("one", 2, 0.25, 2),)).data()["at_most"], "nothing is left to play"


@pytest.mark.parametrize(
    ("limit", "depends"),
    [
        ("nodes=9", True), ("depth=9", True), ("nodes=9,move_time=1", True), ("clock=1+0,node_clock=9", True),
        ("move_time=1", False), ("clock=1+0", False), ("clock=1+0,cpu", False),
    ],
)  # fmt: skip
def test_only_what_is_held_to_time_alone_takes_a_slow_program_no_longer(limit: str, depends: bool) -> None:
    assert depends_on_speed(Limits.parse(limit)) == depends


def test_of_programs_of_unknown_speed_no_time_is_told(tmp_path: Path) -> None:
    timed, unknown = GameStage("timed", 6, 0.5), GameStage("unknown", 2, 0.5, unknown_speed=("slug",))
    plan = StagePlan("cup", tmp_path, (timed, unknown))
    assert [plan.seconds_of(stage) for stage in plan.stages] == [3, None]
    assert (plan.seconds, plan.data()["unknown_speed"]) == (None, ["slug"])
    assert plan.lines()[1:] == [
        "- timed: at most 6 games, 0 of them stored, at most about 0:00:03",
        "- unknown: at most 2 games, 0 of them stored",
        "time: unknown, because nothing tells the speed of slug",
    ]
    in_time = StagePlan("cup", tmp_path, (replace(unknown, seconds=60),))
    assert in_time.lines() == [
        f"cup: as many games as the time allows, 0 of them stored in {tmp_path}",
        "time: at most about 0:01:00 (hours:minutes:seconds)",
    ]
    assert (in_time.data()["games"], in_time.data()["stages"][0]["games"]) == (None, None)


NAMES = ["Ann", "Bob", "Cid"]


def outcome(first: int, second: int, score: float | None, number: int = 0) -> Outcome:
    return Outcome("", Pairing(number, number, first, second, 0), score)


def game(number: int, result: str, reason: str = "checkmate", **more: Any) -> GameRecord:
    """Game ``number`` of a match of Ann and Bob, who moves first in the games with odd numbers."""
    first, second = number % 2, 1 - number % 2
    place = Pairing(number, number // 2, first, second, number // 2)
    opening = Opening("K w", (), f"opening number {number // 2}")
    moves = (MoveRecord("a1a2", None, None, None, 1.0),) * 41
    return GameRecord(str(number), place, NAMES[first], NAMES[second], opening, moves, result, reason, "", "", 1500.0,
                      **more)  # fmt: skip


def test_a_line_a_minute_without_a_terminal(tmp_path: Path) -> None:
    stream, watch = io.StringIO(), Watch()
    progress = RunProgress(stream, kind="cup", live_file=tmp_path / "live.json", clock=watch)
    scoreboard = Scoreboard(NAMES)
    for first, second, score in ((0, 1, 1.0), (1, 0, 0.5)):
        scoreboard.add(outcome(first, second, score))
    progress.begin(1000, done=2, score=scoreboard)
    for second in range(1, 151):
        watch.now = 100.0 + second
        for number, result in ((2 * second, "1-0"), (2 * second + 1, "*")):
            progress.finished(game(number, result))
            progress.counted()
        progress.tick()
    progress.close("finished")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "122/1000 games  Ann 99.2 %  Bob 0.8 %  draws 0 %  120/min  7:19 left"
    assert len(lines) == 3
    assert lines[-1].startswith("302/1000 games")
    live = json.loads((tmp_path / "live.json").read_text())
    assert (live["kind"], live["state"], live["words"]) == ("cup", "finished", "Ann 99.7 %  Bob 0.3 %")
    assert (live["planned"], live["done"], live["standings"][0]["player"]) == (1000, 302, "Ann")


def test_a_line_every_so_many_games() -> None:
    stream, watch = io.StringIO(), Watch()
    progress = RunProgress(stream, clock=watch, every=4)
    progress.begin(20, score=MatchScore("Ann"))
    for number in range(11):
        watch.now += 60
        progress.finished(game(number, "1/2-1/2" if number % 4 else "1-0"))
        progress.counted()
        progress.tick()
    progress.close("finished")
    assert [line.split("  ")[:2] for line in stream.getvalue().splitlines()] == [
        ["4/20 games", "+1 =3 −0 (2.5)"], ["8/20 games", "+2 =6 −0 (5)"], ["11/20 games", "+3 =8 −0 (7)"]
    ]  # fmt: skip


def test_the_standings_stand_above_every_complete_line() -> None:
    stream = io.StringIO()
    progress = RunProgress(stream, clock=Watch(), every=2)
    progress.begin(2, score=Scoreboard(NAMES))
    for number in range(2):
        progress.finished(game(number, "1-0"))
        progress.counted()
    progress.close("finished")
    lines = stream.getvalue().splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["Ann", "2", "1", "0", "1", "50.0", "%", "0.0", "±", "759.1"],
        ["Bob", "2", "1", "0", "1", "50.0", "%", "0.0", "±", "759.1"],
        ["Cid", "0", "0", "0", "0", "–", "–"],
    ]  # fmt: skip
    assert lines[4].startswith("2/2 games")
    assert len(lines) == 5, "the last complete line is not repeated at the end"


def test_every_finished_game_may_have_a_line() -> None:
    stream = io.StringIO()
    progress = RunProgress(stream, clock=Watch(), verbose=True)
    progress.begin(2)
    progress.finished(game(17, "0-1", "resignation"))
    assert stream.getvalue() == "game 17  Bob – Ann  0-1  resignation  41 plies  1.50 s  opening number 8\n"


def test_games_whose_clocks_the_machine_held_up_are_counted(tmp_path: Path) -> None:
    stream = io.StringIO()
    progress = RunProgress(stream, clock=Watch(), every=2)
    progress.begin(4)
    with Store(tmp_path) as store:
        for number, detail in enumerate(({}, {"disturbed": {"moves": 1, "worst_ms": 31.5}})):
            record = replace(game(number, "1-0"), key=f"{number:032x}", detail=detail)
            store.add(record)
            progress.finished(record)
            progress.counted()
        (warning,) = caveats_of(store, ()).sentences()
    assert "disturbed games: 1" in stream.getvalue()
    assert warning.startswith(
        "1 of 2 games was disturbed: the machine was busy, and elolab read moves up to 31.5 ms late."
    )


def late(number: int, drawn: bool = False) -> GameRecord:
    """A game that Ann loses on time."""
    fault = {"player": "Ann", "side": number % 2, "text": "no move", "reason": "time_forfeit"}
    result = "1/2-1/2" if drawn else ("0-1", "1-0")[number % 2]
    return game(number, result, "time_forfeit", detail={"fault": fault})


def test_a_fault_is_shown_at_once_and_of_very_many_only_some() -> None:
    stream = io.StringIO()
    progress = RunProgress(stream, clock=Watch())
    progress.begin(2000)
    progress.finished(late(3))
    assert stream.getvalue() == "elolab: Ann lost game 3 on time: no move.\n"
    for number in range(4, 1003):
        progress.finished(late(number))
    lines = stream.getvalue().splitlines()
    assert [line.split()[4] for line in lines[:10]] == [str(number) for number in range(3, 13)]
    counts = [int(re.findall(r"This is fault (\d+) of this kind", line)[0]) for line in lines[10:]]
    assert counts == [20, 50, 100, 200, 500, 1000]


def test_a_player_without_games_has_no_score_and_comes_last() -> None:
    scoreboard = Scoreboard(NAMES)
    scoreboard.add(outcome(1, 2, 1.0))
    assert [part.texts[0] for part in scoreboard.parts()] == ["Bob 100.0 %", "Cid 0.0 %"]
    assert scoreboard.table(79)[-1].split() == ["Ann", "0", "0", "0", "0", "–", "–"]
    drawn = Scoreboard(NAMES)
    drawn.add(outcome(1, 2, 0.5))
    assert [score.name for score in drawn.ranked()] == ["Bob", "Cid", "Ann"]


def test_a_single_challenger_has_the_line_of_a_match() -> None:
    """Its pairs against all opponents count: two wins against Bob, then a draw and a loss against Cid."""
    match, gauntlet = MatchScore("Ann"), Scoreboard(NAMES, ["Ann"])
    for number, (opponent, points) in enumerate(((1, 1.0), (1, 1.0), (2, 0.5), (2, 0.0))):
        swapped = number % 2 == 1
        score = 1 - points if swapped else points
        for counted, other in ((match, 1), (gauntlet, opponent)):
            first, second = (other, 0) if swapped else (0, other)
            pair = number // 2 if counted is match else 0
            counted.add(Outcome("", Pairing(number, pair, first, second, 0), score))
    assert gauntlet.parts() == match.parts()
    assert "[0 1 0 0 1]" in [part.texts[0] for part in gauntlet.parts()]
    assert len(Scoreboard(NAMES, ["Ann", "Bob"]).parts()) == 0


@pytest.mark.integration
@pytest.mark.parametrize("columns", [20, 60, 80, 160])
def test_lines_and_tables_fit_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written: the line, games, standings, faults; with Chinese names too."""
    monkeypatch.delenv("COLUMNS", raising=False)  # it would hide the terminal's own size
    reader, writer = os.openpty()
    with os.fdopen(writer, "w") as stream:
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        written: list[str] = []
        stream = Terminal(stream.fileno(), written)
        names = [f"选手 with a long name {number}" for number in range(9)]
        for score in (Scoreboard(names), MatchScore(names[0])):
            watch = Watch()
            progress = RunProgress(stream, clock=watch, every=7, verbose=True)
            progress.begin(10**6, "words " * 9, score=score)
            for number in range(50):
                watch.now += 0.6
                progress.finished(late(number, drawn=number % 3 == 0))
                progress.counted()
                progress.tick()
            progress.close("finished")
        lines = [line for text in "".join(written).split("\r\x1b[K") for line in text.split("\r\n")]
        widths = [columns_of(re.sub(r"\x1b\[\d*m", "", line).strip("\n")) for line in lines]
        assert len(lines) > 200
        assert max(widths) < columns or columns == 20, [line for line in lines if columns_of(line) >= columns][:3]
        assert max(widths) > min(columns, 120) - 15
    os.close(reader)


def test_a_stage_follows_another_which_may_be_no_games() -> None:
    stream, watch = io.StringIO(), Watch()
    progress = RunProgress(stream, clock=watch)
    progress.begin(10, "short")
    progress.finished()
    progress.begin(4, "w" * 64, done=1)
    assert progress.line() == "1/4 games  " + "w" * 64
    progress.begin(0, "something else than games")
    assert progress.line() == "something else than games"
    progress.close("finished")
    assert stream.getvalue().splitlines() == ["1/10 games  short"]


def test_games_to_come_may_take_longer_than_those_of_now() -> None:
    watch = Watch()
    progress = RunProgress(io.StringIO(), clock=watch)
    left = {}
    for name, missing in (("alike", None), ("longer", lambda: 60.0)):
        progress.begin(20, is_bound=True, missing=missing)
        watch.now += 10
        for _ in range(10):
            progress.finished()
        left[name] = progress.line()
    assert left == {
        "alike": "10/20 games  60/min  at most 0:10 left", "longer": "10/20 games  60/min  at most 1:00 left"
    }  # fmt: skip


def test_stages_are_counted_one_by_one_and_together(tmp_path: Path) -> None:
    """No line has more games done than there are, and a stage that ends early takes its rest from all."""
    stream, times = io.StringIO(), itertools.count(1)
    progress = RunProgress(stream, clock=lambda: float(next(times)))
    stages = (GameStage("study", 4, 1.0), GameStage("validation", 6, 1.0), GameStage("slow", 2, 4.0))
    progress.announce(StagePlan("cup", tmp_path, stages))
    assert "cup: at most 12 games" in stream.getvalue()
    heads = [line[:12] for line in stream.getvalue().splitlines()[1:4]]
    assert heads == ["- study: at ", "- validation", "- slow: at m"]
    lines = []
    for stage, done in (("study", 4), ("validation", 3), ("slow", 2)):
        progress.begin(next(one.games for one in stages if one.name == stage), stage=stage)
        for _ in range(done):
            progress.finished()
            lines.append(progress.line())
    counts = [list(map(int, re.findall(r"(\d+)/(\d+), in all (\d+)/(\d+)", line)[0])) for line in lines]
    assert counts[3] == [4, 4, 4, 12]
    assert counts[6] == [3, 6, 7, 12]
    assert counts[7] == [1, 2, 8, 9]
    assert counts[-1] == [2, 2, 9, 9]
    assert all(done <= planned and all_done <= all_planned for done, planned, all_done, all_planned in counts)
    assert "left" not in lines[-1]
    assert max(map(len, lines)) <= 79


def test_a_stage_may_get_the_games_of_one_that_ends_early(tmp_path: Path) -> None:
    progress = RunProgress(io.StringIO())
    stages = (GameStage("study", 8, 1.0), GameStage("validation", 2, 1.0, is_rest=True))
    plan = StagePlan("cup", tmp_path, stages)
    assert plan.lines()[2] == "- validation: the remaining games, at least 2 games, 0 of them stored"
    progress.announce(plan)
    progress.begin(8, stage="study")
    assert progress.all_planned == 10
    progress.planned = 4
    assert progress.all_planned == 10, "the validation gets the games that the study leaves"
    progress.omit_later_stages()
    assert progress.all_planned == 4, "nothing is validated"
