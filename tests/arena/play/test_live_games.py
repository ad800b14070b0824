"""Games in progress, move by move: what ``live.json`` says of them is always the beginning of what is stored later.

The oracle is the record of the game, which no reading of it has touched.
"""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.executor import GameRunner
from elolab.arena.play.live import RunProgress
from elolab.arena.play.publishing import ASKED_NAME, ASKED_SECONDS, GAMES_WITH_MOVES, ask
from elolab.arena.records import (
    GameConditions,
    GameJob,
    GameRecord,
    GameSoFar,
    Opening,
    Pairing,
    PlayerSpec,
    RunningGame,
)
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

MOCK = str(Path(__file__).parents[2] / "support" / "mock_engines.py")
OPENINGS = {
    "xiangqi": Opening(game_named("xiangqi").start, ("h2e2", "h9g7"), "cannon"),
    "othello": Opening(game_named("othello").start, ("f5", "d6"), "perpendicular"),
}
MOST_GAMES = 50


def builtin(name: str, game: str, limit: str = "nodes=4000") -> PlayerSpec:
    return PlayerSpec(name, "builtin", Limits.parse(limit), parameters=tuple(resolve({}, game=game).items()))


def mock(name: str, seconds: float, at: int, **changes: Any) -> PlayerSpec:
    """A program that thinks for so long about one of its moves."""
    command = (sys.executable, "-I", "-S", MOCK, "late", f"seconds={seconds}", f"at={at}")
    return replace(PlayerSpec(name, "uci", Limits.parse("nodes=100"), command=command), **changes)


def jobs_of(game: str, first: PlayerSpec, second: PlayerSpec, opening: Opening, games: int) -> list[GameJob]:
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=100)
    conditions = GameConditions(game, Rules(), adjudication, seed=1)
    return [conditions.job(Pairing(number, number, 0, 1, 0), first, second, opening) for number in range(games)]


class Follower:
    """Reads ``live.json`` every millisecond, in a thread of its own, while games are played."""

    def __init__(self, folder: Path, runner: GameRunner) -> None:
        self.seen: list[dict[str, Any]] = []
        self._file, self._runner, self._over = folder / "live.json", runner, threading.Event()
        self._progress = RunProgress(io.StringIO(), live_file=self._file)
        self._thread = threading.Thread(target=self._follow)

    def _follow(self) -> None:
        while not self._over.wait(0.001):
            self._progress.publish(self._runner.running())
            for entry in json.loads(self._file.read_text())["running"]:
                if not self.seen or entry["moves"] != self.seen[-1]["moves"]:
                    self.seen.append(entry)

    def __enter__(self) -> Follower:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def lengths(self, number: int) -> list[int]:
        """Of what was seen of a game, in the order of time, moves and scores alike."""
        return [len(entry["moves"]) for entry in self.seen if entry["number"] == number]


def followed(folder: Path, jobs: Sequence[GameJob], needed: int) -> tuple[dict[int, GameRecord], Follower]:
    """Play the games until one of them was seen at ``needed`` lengths between beginning and end."""
    records: dict[int, GameRecord] = {}
    with GameRunner(1, StopFlag()) as runner:
        follower = Follower(folder, runner)

        def seen_enough() -> bool:
            return any(
                len(set(follower.lengths(number)) - {0, len(record.moves)}) >= needed
                for number, record in records.items()
            )

        with follower:
            for record in runner.run(jobs, seen_enough):
                records[record.pairing.number] = record
        assert seen_enough(), [follower.lengths(number) for number in records]
    return records, follower


def check_prefixes(records: dict[int, GameRecord], follower: Follower) -> None:
    """Every game was seen growing, and never anything but its beginning."""
    for entry in follower.seen:
        record = records[entry["number"]]
        stored = [(*move[:4], round(move.time_ms, 2)) for move in record.moves]
        names = ("moves", "scores", "depths", "nodes", "times")
        columns = zip(*(entry[name] for name in names), strict=True)
        assert [*columns] == stored[: len(entry["moves"])]
        assert (entry["first"], entry["second"]) == (record.first, record.second)
        assert (entry["position"], tuple(entry["opening_moves"])) == (record.opening.position, record.opening.moves)
    for number in records:
        assert follower.lengths(number) == sorted(follower.lengths(number))


@pytest.mark.integration
@pytest.mark.parametrize("name", ["xiangqi", "othello"])
def test_a_game_in_compiled_code(name: str, tmp_path: Path) -> None:
    jobs = jobs_of(name, builtin("A", name), builtin("B", name), OPENINGS[name], MOST_GAMES)
    records, follower = followed(tmp_path, jobs, needed=3)
    check_prefixes(records, follower)
    assert {entry["game"] for entry in follower.seen} == {name}
    with GameRunner(1, StopFlag()) as unseen:  # the oracle of what following does to a game
        assert next(unseen.run(jobs[:1])).digest == records[0].digest


@pytest.mark.parametrize("ponder", [False, True])
def test_a_game_of_the_loop_in_python(ponder: bool, tmp_path: Path) -> None:
    clock = {"ponder": True, "limits": Limits.parse("clock=20")} if ponder else {}
    opening = Opening(game_named("xiangqi").start)
    jobs = jobs_of("xiangqi", mock("A", 0.05, 2, **clock), mock("B", 0.05, 4, **clock), opening, 6)
    check_prefixes(*followed(tmp_path, jobs, needed=2))


def test_moves_of_many_games_stay_few(tmp_path: Path) -> None:
    """Whoever comes later in the schedule is named, and its moves are not read."""
    players = builtin("A", "othello"), builtin("B", "othello")
    asked = []

    def read(number: int) -> GameSoFar:
        asked.append(number)
        return GameSoFar(["c4"], [None], [None], [None], [1.0])

    running = [
        RunningGame(job, 1.0, lambda number=job.pairing.number: read(number))
        for job in jobs_of("othello", *players, OPENINGS["othello"], 64)
    ]
    progress = RunProgress(io.StringIO(), live_file=tmp_path / "live.json")
    progress.publish(running)
    shown = json.loads((tmp_path / "live.json").read_text())["running"]
    assert [entry["number"] for entry in shown] == list(range(64))
    assert [(entry["moves"], entry["scores"]) for entry in shown[:GAMES_WITH_MOVES]] == [(["c4"], [None])] * 16
    assert {(entry["moves"], entry["scores"]) for entry in shown[GAMES_WITH_MOVES:]} == {(None, None)}
    assert asked == list(range(GAMES_WITH_MOVES))


def test_a_viewer_gets_all_moves_and_a_dialogue_while_it_asks(tmp_path: Path) -> None:
    """The request is removed when the run ends, and one that nobody repeats does not hold."""
    now = 0.0
    players = builtin("A", "othello"), replace(builtin("B", "othello"), limits=Limits.parse("clock=60+0.5"))
    said = ["0.1 > genmove b"], ["0.2 < = c4"]
    running = [
        RunningGame(job, 1.0, lambda: GameSoFar(["c4"], [8], [4], [99], [12.3456], 70.6), read_dialogue=lambda: said)
        for job in jobs_of("othello", *players, OPENINGS["othello"], 20)
    ]
    progress = RunProgress(io.StringIO(), live_file=tmp_path / "live.json", clock=lambda: now)

    def shown() -> list[dict[str, Any]]:
        progress.publish(running)
        found: list[dict[str, Any]] = json.loads((tmp_path / "live.json").read_text())["running"]
        return found

    def asked_for(games: list[dict[str, Any]]) -> tuple[int, dict[int, Any]]:
        with_moves = sum(game["moves"] is not None for game in games)
        return with_moves, {game["number"]: game["dialogue"] for game in games if "dialogue" in game}

    first = shown()[0]
    assert (first["depths"], first["nodes"], first["times"], first["thinking"]) == ([4], [99], [12.35], 71)
    assert first["clocks"] == [None, [60_000, 500, 0]]
    assert asked_for(shown()) == (GAMES_WITH_MOVES, {})
    assert ask(tmp_path, all_moves=True, dialogues=["3", "18", "77"])
    assert asked_for(shown()) == (20, {3: [*said], 18: [*said]})
    now += ASKED_SECONDS
    assert asked_for(shown()) == (GAMES_WITH_MOVES, {})
    (tmp_path / ASKED_NAME).write_text("[]")
    assert asked_for(shown()) == (GAMES_WITH_MOVES, {})
    progress.close("finished")
    assert not (tmp_path / ASKED_NAME).exists()
    assert not ask(tmp_path / "missing", all_moves=True, dialogues=())


def test_the_dialogue_of_a_game_can_be_read_while_it_is_played(tmp_path: Path) -> None:
    jobs = jobs_of("xiangqi", mock("A", 0.05, 2), mock("B", 0.05, 4), Opening(game_named("xiangqi").start), 1)
    seen: list[tuple[list[str], list[str]]] = []
    runner: GameRunner

    def look() -> None:
        seen.extend(game.read_dialogue() for game in runner.running())

    with GameRunner(1, StopFlag(), tick=look) as runner:
        over = threading.Event()

        def look_often() -> None:
            while not over.wait(0.002):
                look()

        thread = threading.Thread(target=look_often)
        thread.start()
        list(runner.run(jobs))
        over.set()
        thread.join()
    for side in (0, 1):
        assert any(line.split(" ", 1)[1].startswith("> go") for lines in seen for line in lines[side])
        assert any(line.split(" ", 1)[1].startswith("< bestmove") for lines in seen for line in lines[side])
