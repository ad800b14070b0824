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

import pytest

from elolab.arena.play.estimates import depends_on_speed, duration_text, estimated_game_seconds, estimated_move_seconds
from elolab.arena.play.live import RunProgress, Scoreboard
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord, Opening, Pairing
from elolab.engine.settings.limits import Limits


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
        "time: unknown without a stored game of slug",
    ]
    in_time = StagePlan("cup", tmp_path, (replace(unknown, seconds=60),))
    assert in_time.lines() == [
        f"cup: as many games as the time allows, 0 of them in {tmp_path}",
        "time: at most about 0:01:00 (hours:minutes:seconds)",
    ]
    assert (in_time.data()["games"], in_time.data()["stages"][0]["games"]) == (None, None)


def test_plain_lines_every_few_seconds(tmp_path: Path) -> None:
    stream, watch = io.StringIO(), Watch()
    progress = RunProgress(stream, kind="cup", live_file=tmp_path / "live.json", clock=watch)
    scoreboard = Scoreboard(["Ann", "Bob"])
    for first, second, score in ((0, 1, 1.0), (1, 0, 0.5)):
        scoreboard.add(first, second, score)
    progress.begin(100, scoreboard.leaders, done=2)
    progress.data = lambda: {"standings": scoreboard.data()}
    for second in range(1, 13):
        watch.now = 100.0 + second
        for first, score in ((0, 1.0), (1, None)):
            scoreboard.add(first, 1 - first, score)
            progress.finished()
        progress.tick()
    progress.close("finished")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "12/100 games  12 %  2.0/s  0:44 left  Ann 92.9 %  Bob 7.1 %"
    assert len(lines) == 3
    assert lines[-1].startswith("26/100 games")
    live = json.loads((tmp_path / "live.json").read_text())
    assert (live["kind"], live["state"]) == ("cup", "finished")
    assert (live["planned"], live["done"], live["standings"][0]["player"]) == (100, 26, "Ann")


def test_a_player_without_games_has_no_score_and_comes_last() -> None:
    scoreboard = Scoreboard(["Ann", "Bob", "Cid"])
    scoreboard.add(1, 2, 1.0)
    assert scoreboard.leaders(79) == "Bob 100.0 %  Cid 0.0 %"
    assert scoreboard.lines()[-1].split() == ["Ann", "0", "0", "0", "0", "–"]
    drawn = Scoreboard(["Ann", "Bob", "Cid"])
    drawn.add(1, 2, 0.5)
    assert [name for name, _ in drawn.ranked()] == ["Bob", "Cid", "Ann"]


def test_a_terminal_line_renews_itself_and_fits() -> None:
    stream, watch = Terminal(), Watch()
    names = [f"a player with a long name {number}" for number in range(9)]
    scoreboard = Scoreboard(names)
    progress = RunProgress(stream, clock=watch)
    progress.begin(10**6, scoreboard.leaders)
    progress.table = scoreboard.lines
    for step in range(100):
        watch.now += 0.3
        scoreboard.add(step % 9, (step + 1) % 9, 0.5)
        progress.finished()
        progress.tick()
    progress.close("finished")
    shown = stream.getvalue().split("\r\x1b[K")
    assert len(shown) > 90
    assert all(len(line) <= 79 for text in shown for line in text.split("\n"))
    assert any("score" in text for text in shown)


def test_the_line_is_no_wider_than_the_terminal() -> None:
    reader, writer = os.openpty()
    with os.fdopen(writer, "w") as stream:
        progress, scoreboard = RunProgress(stream, clock=Watch()), Scoreboard(["Ann", "Bob"])
        scoreboard.add(0, 1, 1.0)
        progress.begin(10**6, scoreboard.leaders)
        for columns, width in ((200, 79), (30, 29), (20, 19), (0, 79)):
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            progress.say("word " * 40)
            assert width - 6 < len(progress.line()) <= width
            progress.say(scoreboard.leaders)
            assert len(progress.line()) <= width
    os.close(reader)


def test_a_stage_follows_another_and_words_that_are_long_take_the_room_of_the_share() -> None:
    stream, watch = io.StringIO(), Watch()
    progress = RunProgress(stream, clock=watch)
    progress.begin(10, "short")
    progress.finished()
    progress.begin(4, "w" * 64, done=1)
    assert progress.line() == "1/4 games  " + "w" * 64
    progress.begin(0, "something else than games")
    assert progress.line() == "something else than games"
    progress.close("finished")
    assert stream.getvalue().splitlines() == ["1/10 games  10 %  short"]


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
        "alike": "10/20 games  1.0/s  at most 0:10 left", "longer": "10/20 games  1.0/s  at most 1:00 left"
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
    counts = [list(map(int, re.findall(r"(\d+)/(\d+), all (\d+)/(\d+)", line)[0])) for line in lines]
    assert counts[3] == [4, 4, 4, 12]
    assert counts[6] == [3, 6, 7, 12]
    assert counts[7] == [1, 2, 8, 9]
    assert counts[-1] == [2, 2, 9, 9]
    assert all(done <= planned and all_done <= all_planned for done, planned, all_done, all_planned in counts)
    assert "left" not in lines[-1]
    assert max(map(len, lines)) <= 79
