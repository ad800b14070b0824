"""Tournaments from the command line: dry runs, refusals, interruptions, full disks."""

from __future__ import annotations

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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.play.damage import renew_checksums
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import LOCK_NAME, STORE_NAME, Store, StoreFailure
from elolab.arena.play.tournament_run import TournamentResult, describe, plan_of_run, prepare
from elolab.arena.run import ENGINE_IDENTITY
from elolab.arena.tournament_reader import load_tournament
from elolab.engine.engine import StopFlag
from elolab.engine.settings.limits import Limits
from tests.support.faulty_players import player as faulty_player
from tests.support.small_tournaments import digest_in, play, records_in, write_spec

pytestmark = pytest.mark.usefixtures("without_charts")
ROOT = Path(__file__).parents[3]


def command(*words: object) -> list[str]:
    return [sys.executable, str(ROOT / "elolab"), *map(str, words)]


@pytest.mark.integration
def test_a_run_stops_when_a_player_keeps_failing_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mock = ROOT / "tests" / "support" / "mock_xiangqi_engines.py"
    out = tmp_path / "out"
    words = [
        "match", "--engine", "name=bad", "proto=ucci", f"cmd={sys.executable} -I -S {mock} illegal protocol=ucci",
        "--engine", "default", "--limit", "depth=1", "--pairs", "6", "--concurrency", "1", "--out", str(out),
    ]  # fmt: skip
    assert command_line.main([*words, "--stop-after-faults", "2"]) == 1
    printed = capsys.readouterr()
    (error,) = (line for line in printed.err.splitlines() if "in a row" in line)
    assert error.startswith(
        "elolab: match: player 'bad' failed in 2 games in a row; bad lost game 1 by an illegal move"
    )
    assert "--stop-after-faults 0" in error
    assert (
        sum(line.startswith("elolab: bad lost game") for line in printed.err.splitlines()) == len(records_in(out)) >= 2
    )
    assert "bad" in printed.out, "the standings so far"
    assert json.loads((out / "status.json").read_text())["reason"] == "faults"
    assert len(records_in(out)) < 12
    assert command_line.main([*words, "--stop-after-faults", "0"]) == 1
    assert len(records_in(out)) == 12


@pytest.mark.integration
def test_a_match_prints_one_block_of_figures_and_with_an_anchor_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["match", "default", "material", "--limit", "nodes=20", "--pairs", "2", "--out", str(tmp_path / "out")]
    assert command_line.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    block = lines[lines.index("default against material, from the point of view of default:") :]
    records = records_in(tmp_path / "out")
    scores = [
        record.score if record.first == "default" else 1 - record.score
        for record in records
        if record.score is not None
    ]
    won, drawn, lost = (scores.count(score) for score in (1, 0.5, 0))
    assert block[1].split(maxsplit=1) == ["games", f"4: {won} won, {drawn} drawn, {lost} lost"]
    assert sum("default" in line and "material" in line for line in lines) == 1
    assert command_line.main([*words, "--anchor", "material=1500"]) == 0
    assert "Standings: 4 games" in capsys.readouterr().out


@pytest.mark.integration
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


@pytest.mark.integration
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
        (["--log", "FILE"], "dialogues cannot be written there: a file of that name is in the way; give another"),
        (
            ["--log", "FILE/inside"],
            "dialogues cannot be written there: Not a directory; give another folder with --log",
        ),
        (["--log", "log", "--cluster", "tcp://127.0.0.1:1"], "--log keeps dialogues of this machine only"),
        (
            ["--affinity", "auto", "--cluster", "tcp://127.0.0.1:1"],
            "--affinity chooses processors of this machine only",
        ),
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
        assert "cup: 12 games, 12 of them stored in" in shown.out
        assert f"elolab: {out} is in use by another elolab (process {os.getpid()}); this run starts" in shown.err
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
            f"elolab: {tmp_path / file}: not a file; remove it, or give another folder with --out"
        )
    assert [path.name for path in tmp_path.iterdir()] == [file]


@pytest.mark.integration
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
    assert "different from ply 1 on: stored move x" in capsys.readouterr().out


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
        time.sleep(0.02)
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


def test_a_signal_when_the_first_file_is_written_leaves_a_status_and_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = write_spec(tmp_path, players=2, pairs=4, limit="nodes=30"), tmp_path / "out"
    opened, received = Store.__init__, list[int]()

    def open_and_signal(store: Store, directory: Path, **options: Any) -> None:
        opened(store, directory, **options)
        if not options.get("read_only"):
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        monkeypatch.setattr(Store, "__init__", open_and_signal)
        words = ["tournament", str(path), "--out", str(out), "--pgnout", str(tmp_path / "copy.pgn")]
        assert command_line.main(words) == 130
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [], "the signal came before the run's own handler"
    printed = capsys.readouterr()
    assert printed.out == ""
    last = printed.err.splitlines()[-1]
    assert last.startswith("elolab: interrupted: 0 of 8 games are stored; to resume: elolab tournament ")
    assert sorted(file.name for file in out.iterdir()) == [STORE_NAME, "live.json", "status.json"]
    status = json.loads((out / "status.json").read_text())
    assert (status["reason"], status["signal"], status["games"]["played"]) == ("interrupted", "SIGTERM", 0)


@pytest.mark.integration
def test_interrupted_says_how_to_resume(tmp_path: Path) -> None:
    path, out = write_spec(tmp_path, players=4, pairs=6, limit="nodes=2000"), tmp_path / "out"
    process = start_and_wait_for(path, out, 3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.splitlines()[-1] == str(out / "report.html")
    last = errors.splitlines()[-1]
    assert re.fullmatch(r"elolab: interrupted: \d+ of 72 games are stored; to resume: elolab tournament .*", last)
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


@pytest.mark.integration
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
    assert last.endswith("fix this, then give the same command again; the games are stored")
    if name != "copy.pgn":
        assert command_line.main(["report", str(out), "--json"]) == 1
        printed = capsys.readouterr()
        assert json.loads(printed.out)["report"] is None
        assert printed.err.startswith(f"elolab: {blocked}: cannot be written: ")
        (out / name).rmdir()
    assert command_line.main(words[:4]) == 0
    assert capsys.readouterr().out.endswith(f"{out / 'report.html'}\n")


@pytest.mark.integration
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


@pytest.mark.integration
def test_a_refused_run_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither its own nor those above it, unless they were there before or it holds a log."""
    out = tmp_path / "new" / "deep"
    silent = ["--engine", "cmd=/bin/false", "proto=ucci", "--engine", "default", "--limit", "depth=1", "--pairs", "1"]
    cluster = ["default", "default", "--pairs", "1", "--cluster", "tcp://127.0.0.1:1"]
    for words, code in ((silent, 2), (cluster, 1)):
        assert command_line.main(["match", *words, "--out", str(out)]) == code
        assert capsys.readouterr().err
        assert not out.parent.exists()
    out.mkdir(parents=True)
    assert command_line.main(["match", *silent, "--out", str(out)]) == 2
    assert out.exists()
