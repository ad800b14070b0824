"""Whole tournaments: the same games at any concurrency, resumed and extended without a game lost or played twice."""

from __future__ import annotations

import csv
import json
import random
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import TournamentResult, describe, players_in, prepare, stored_player
from elolab.arena.records import BUILTIN, GameRecord, PlayerSpec
from elolab.arena.run import RunError
from elolab.arena.tournament_reader import load_tournament
from elolab.engine.errors import UserError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from tests.support.small_tournaments import OPENINGS, digest_in, play, records_in, write_spec

pytestmark = pytest.mark.usefixtures("without_charts")
ROOT = Path(__file__).parents[3]


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


@pytest.mark.integration
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


@pytest.mark.integration
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("concurrency", [2, 4])
def test_rounds_are_the_same_at_any_concurrency(
    kind: str, concurrency: int, cups: dict[str, tuple[Path, str]], tmp_path: Path
) -> None:
    path, digest = cups[kind]
    play(path, tmp_path / "out", concurrency=concurrency)
    assert digest_in(tmp_path / "out") == digest


@pytest.mark.integration
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


@pytest.mark.integration
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


def test_a_technique_newer_than_the_store_is_off_in_a_resumed_run() -> None:
    now = resolve({}, game="chess")
    then = tuple((name, value) for name, value in now.items() if name != "correction_history")
    stored = PlayerSpec("default", BUILTIN, Limits(nodes=1000), parameters=then)
    assert dict(stored_player(stored, "chess", Path()).parameters) == {**now, "correction_history": 0}
