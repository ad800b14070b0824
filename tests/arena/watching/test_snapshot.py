"""What is read of a run's folder: what reports count, only what is new, nothing written, nothing that crashes."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play import live
from elolab.arena.play.store import GAMES_ELSEWHERE, STORE_NAME, Store
from elolab.arena.play.tournament_run import WITHDRAWALS
from elolab.arena.players.player import Fault
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.arena.statistics.faults import FORFEITS
from elolab.arena.statistics.standings import tables_of
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.arena.watching import snapshot
from elolab.arena.watching.snapshot import GameReader, RunFollower, changes
from elolab.engine.games import game_named

START = game_named("xiangqi").start
FAULT = {"fault": {"player": "player 1", "text": "player 1: crashed"}}


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings are fitted at every reading that finds new games."""
    monkeypatch.setattr(snapshot, "FIT_SECONDS", 0)
    monkeypatch.setattr(snapshot, "FIT_PAUSE", 0)


def specification(players: int = 2, pairs: int = 50, **keys: Any) -> TournamentSpec:
    entries = [{"name": f"player {number}", "protocol": "uci", "command": "none"} for number in range(players)]
    given = {"format": "round_robin", "pairs": pairs, "limit": "nodes=100", "players": entries, "openings": "xiangqi"}
    return spec_from_mapping({**given, **keys}, "cup.toml")


def record(number: int, result: str, reason: str = "checkmate", **rest: Any) -> GameRecord:
    seats = (0, 1) if number % 2 == 0 else (1, 0)
    return GameRecord(
        f"{number:032x}", Pairing(number, number // 2, *seats, number // 2), *(f"player {seat}" for seat in seats),
        Opening(START), (MoveRecord("h2e2", 30, 5, 100, 1.0),), result, reason, "0123456789ab", **rest,
    )  # type: ignore[arg-type]  # fmt: skip


def result_of(number: int) -> str:
    return ("1-0", "0-1", "1/2-1/2")[int(hashlib.sha256(str(number).encode()).hexdigest(), 16) % 3]


def begun(folder: Path, spec: TournamentSpec) -> Store:
    store = Store(folder)
    store.record_metadata({"specification": spec.content()})
    return store


def test_a_folder_without_a_run_waits(tmp_path: Path) -> None:
    follower = RunFollower(tmp_path / "later")
    assert follower.read()["state"] == "waiting"
    with begun(tmp_path / "later", specification()) as store:
        store.add(record(0, "1-0"))
        state = follower.read()
    assert (state["kind"], state["game"], state["games"]) == ("tournament", "xiangqi", 1)
    assert not (tmp_path / "later" / "live.json").exists()


def test_games_that_a_command_played_are_counted(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.record_metadata({GAMES_ELSEWHERE: 24})
        assert RunFollower(tmp_path).read()["games"] == 24


def test_standings_read_bit_by_bit_are_those_of_the_report(tmp_path: Path) -> None:
    spec, records = specification(), [record(number, result_of(number)) for number in (1, 0, 2, 5, 7, 3, 4)]
    follower = RunFollower(tmp_path)
    with begun(tmp_path, spec) as store:
        for added in records:
            store.add(added)
            state = follower.read()
    tables = tables_of("xiangqi", ["player 0", "player 1"], records)
    assert [row["player"] for row in state["standings"]] == [row.player for row in tables.standings]
    for row, expected in zip(state["standings"], tables.standings, strict=True):
        assert {name: row[name] for name in row} == {name: getattr(expected, name) for name in row}
    between = next(row for row in tables.head_to_heads if row.player == "player 0")
    assert (state["match"]["elo"], state["match"]["pairs"]) == (between.elo, between.pairs)
    bounds = [value if math.isfinite(value) else None for value in (between.elo_low, between.elo_high)]
    assert state["curve"]["points"][-1] == [between.pairs, between.elo, *bounds]
    assert [point[0] for point in state["curve"]["points"]] == [1, 2, 3]


def test_of_more_than_two_players_the_pairs_are_those_of_the_report(tmp_path: Path) -> None:
    seats = [(0, 1), (1, 0), (2, 0), (0, 2)]
    records = [replace(record(number, result_of(number)), pairing=Pairing(number, number // 2, *pair, 0),
                       first=f"player {pair[0]}", second=f"player {pair[1]}")
               for number, pair in enumerate(seats)]  # fmt: skip
    follower = RunFollower(tmp_path)
    with begun(tmp_path, specification(players=3)) as store:
        for added in records:
            store.add(added)
            follower.read()
    tables = tables_of("xiangqi", [f"player {number}" for number in range(3)], records)
    assert follower.head_to_heads == tables.head_to_heads
    assert len(tables.head_to_heads) == 4


def test_the_first_fault_is_that_of_the_schedule_whichever_game_ended_first(tmp_path: Path) -> None:
    follower = RunFollower(tmp_path)
    with begun(tmp_path, specification()) as store:
        for number, text in ((5, "late"), (2, "first"), (7, "last")):
            detail = {"fault": {"player": "player 1", "text": f"player 1: {text}"}}
            store.add(record(number, "1-0" if number % 2 == 0 else "0-1", "crash", detail=detail))
            (fault,) = follower.read()["faults"]
    assert (fault["number"], fault["games"]) == (2, 3)
    assert fault["sentence"]["en"] == "player 1 lost 3 games by a crash (the first: game 2): first."
    assert fault["key"] == record(2, "1-0").key


def test_of_games_without_a_move_some_are_drawn(tmp_path: Path) -> None:
    follower = RunFollower(tmp_path)
    with begun(tmp_path, specification()) as store:
        detail = {"fault": {"player": "player 1", "text": "player 1: answered 'nobestmove'"}}
        for number, result in ((1, "0-1"), (2, "1/2-1/2")):
            store.add(record(number, result, "no_move", detail=detail))
        assert store.numbers_lost_by(FORFEITS) == [1]
    (fault,) = follower.read()["faults"]
    assert (
        fault["sentence"]["en"]
        == "player 1 made no move in 2 games, scored as draws (the first: game 1): answered 'nobestmove'."
    )


def test_a_knockout_is_won_by_its_bracket_and_not_by_ratings(tmp_path: Path) -> None:
    spec = specification(format="knockout", pairs=1, tiebreak_pairs=0)
    follower = RunFollower(tmp_path)
    with begun(tmp_path, spec) as store:
        store.add(record(0, "0-1"))
        assert follower.read()["result"]["en"] == "0 of 1 round played"
        store.add(record(1, "0-1"))
    result = follower.read()["result"]
    assert result["en"] == "player 0 has won the final against player 1, 1–1 (better seed)."
    assert "夺冠" in result["zh"]
    assert RunFollower(tmp_path / "none").read()["result"] == {}


def test_who_is_out_without_playing_is_known_without_new_games(tmp_path: Path) -> None:
    follower = RunFollower(tmp_path)
    with begun(tmp_path, specification(players=3, format="knockout", pairs=1, tiebreak_pairs=0)) as store:
        assert follower.read()["result"]["en"] == "0 of 2 rounds played"
        out = [{"player": f"player {seat}", "round": 0, "reason": "missing"} for seat in (1, 2)]
        store.record_metadata({WITHDRAWALS: out})
        assert "player 0 has won" in follower.read()["result"]["en"]


def test_only_new_games_are_read(tmp_path: Path) -> None:
    reader = GameReader(tmp_path)
    with begun(tmp_path, specification()) as store:
        for number in range(4):
            store.add(record(number, "1-0"))
        assert [game.pairing.number for game, _ in reader.new_games()[1]] == [0, 1, 2, 3]
        assert reader.new_games() == (False, [])
        store.add(record(5, "1-0", "crash", detail=FAULT))
        has_changed, ((game, fault),) = reader.new_games()
    assert has_changed
    assert (game.pairing.number, fault) == (5, ("player 1", Fault("words", text="crashed")))


def test_series_are_read_where_there_are_any(tmp_path: Path) -> None:
    reader = GameReader(tmp_path)
    one = record(0, "1-0")
    with begun(tmp_path, specification()) as store:
        store.add(one)
        store.add(replace(one, key="f" * 32, pairing=replace(one.pairing, series="playoff")))
    assert [game.pairing.series for game, _ in reader.new_games()[1]] == ["", "playoff"]


def test_games_have_their_new_places_after_an_extension(tmp_path: Path) -> None:
    follower = RunFollower(tmp_path)
    with begun(tmp_path, specification()) as store:
        first = record(2, "1-0")
        store.add(first)
        follower.read()
        longer = specification(pairs=200)
        store.record_metadata({"specification": longer.content()}, [(first.key, replace(first.pairing, number=6))])
        store.add(replace(record(2, "0-1"), key="f" * 32))
        assert follower.read()["games"] == 2
    assert sorted(game.pairing.number for game in follower.games) == [2, 6]


@pytest.mark.integration
def test_a_test_is_told_with_its_bounds_and_counts_nothing_beyond_its_end(tmp_path: Path) -> None:
    spec = specification(format="sprt", pairs=200, sprt={"elo0": 0, "elo1": 60})
    follower = RunFollower(tmp_path)
    with begun(tmp_path, spec) as store:
        number, state = 0, follower.read()
        while state["test"] is None or state["test"]["verdict"] == "undecided":
            store.add(record(number, "1-0" if number % 2 == 0 else "1/2-1/2"))
            number, state = number + 1, follower.read()
        for beyond in range(number, number + 4):
            store.add(record(beyond, "0-1"))
        state = follower.read()
    assert state["test"]["verdict"] == "H1 accepted"
    assert state["test"]["llr"] > state["test"]["upper_bound"] == pytest.approx(-state["test"]["lower_bound"])
    assert state["curve"]["points"][-1] == [number // 2, state["test"]["llr"]]
    assert (state["games"], sum(row["games"] for row in state["standings"])) == (number + 4, 2 * number)


def test_curves_keep_a_bounded_number_of_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MAX_POINTS", 8)
    with begun(tmp_path, specification()) as store:
        store.add_all([(record(number, result_of(number)), True) for number in range(90)])
    curve = RunFollower(tmp_path).read()["curve"]
    assert 4 <= len(curve["points"]) <= 8
    assert all(point[0] % curve["stride"] == 0 for point in curve["points"])


def running_game(number: int, moves: list[str]) -> dict[str, Any]:
    return {
        "series": "", "number": number, "first": "player 0", "second": "player 1", "opening": "", "seconds": 1.0,
        "game": "xiangqi", "position": START, "opening_moves": [], "moves": moves, "scores": [1] * len(moves),
    }  # fmt: skip


def test_changes_applied_to_a_state_give_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MAX_POINTS", 4)
    follower = RunFollower(tmp_path)
    games = [[(0, ["h2e2"])], [(0, ["h2e2", "h9g7"])], [(0, ["h2e2", "h9g7"]), (1, [])], [(1, ["b2e2"])], []]
    shown = before = follower.read()
    with begun(tmp_path, specification()) as store:
        for number in range(24):
            store.add(record(number, result_of(number)))
            running = [running_game(*game) for game in games[number % len(games)]]
            told = {"kind": "tournament", "state": "running", "planned": 100, "done": number + 1, "running": running}
            (tmp_path / live.LIVE_NAME).write_text(json.dumps(told), "utf-8")
            after = follower.read()
            event = json.loads(json.dumps(changes(before, after)))
            shown, before = {**shown, **event}, after
            assert shown == after
            assert changes(after, after) == {}


def test_a_run_that_was_killed_is_not_running(tmp_path: Path) -> None:
    told = {"kind": "tournament", "state": "running", "planned": 100, "done": 0, "running": [running_game(0, [])],
            "games_per_second": 2.0, "workers": [{"name": "one", "state": "playing"}]}  # fmt: skip
    with begun(tmp_path, specification()) as store:
        store.add(record(0, "1-0"))
    (tmp_path / live.LIVE_NAME).write_text(json.dumps(told), "utf-8")
    assert RunFollower(tmp_path).read()["state"] == "running"
    os.utime(tmp_path / live.LIVE_NAME, (1, 1))
    state = RunFollower(tmp_path).read()
    assert (state["state"], state["running"], state["workers"]) == ("died", [], [])
    told_now = {"done": 1, "all_done": 1, "games_per_second": None, "seconds_left": None}
    assert state["progress"].items() >= told_now.items()


@pytest.mark.parametrize("content", [b"no database at all", b"", b"SQLite format 3\0" + b"\7" * 4096])
def test_what_cannot_be_read_is_said_and_read_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / STORE_NAME).write_bytes(content)
    follower = RunFollower(tmp_path)
    state = follower.read()
    assert state["state"] == ("stopped" if content == b"" else "damaged")
    (tmp_path / STORE_NAME).unlink()
    (tmp_path / live.LIVE_NAME).write_text("[", "utf-8")
    follower.read()
    with begun(tmp_path, specification()) as store:
        store.add(record(0, "1-0"))
    state = follower.read()
    assert (state["trouble"], state["games"]) == ("", 1)


def test_a_changed_bit_is_noticed(tmp_path: Path) -> None:
    with begun(tmp_path, specification()) as store:
        store.add(record(0, "1-0"))
        store.connection.execute("UPDATE games SET result = '0-1'")
    state = RunFollower(tmp_path).read()
    assert state["state"] == "damaged"
    assert "checksum" in state["trouble"]


def test_nothing_is_written_into_the_folder(tmp_path: Path) -> None:
    with begun(tmp_path, specification()) as store:
        store.add(record(0, "1-0"))
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    follower = RunFollower(tmp_path)
    follower.read()
    stored = follower.game(f"{0:032x}")
    assert stored is not None
    assert stored.moves == record(0, "1-0").moves
    assert follower.game("0") is None
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_file_in_its_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    follower = RunFollower(tmp_path / "run")
    with begun(tmp_path / "run", specification()) as store:
        store.add(record(0, "1-0"))
        store.add(record(1, "1-0"))
    assert follower.read()["games"] == 2
    with begun(tmp_path / "other", specification()) as store:
        store.add(record(2, "1-0"))
    os.replace(tmp_path / "other" / STORE_NAME, tmp_path / "run" / STORE_NAME)
    assert follower.read()["games"] == 1
    assert [game.pairing.number for game in follower.games] == [2]
