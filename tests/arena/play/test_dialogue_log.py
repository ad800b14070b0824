"""Whole dialogues in a folder: nothing is left out, nothing overwritten, no name leads elsewhere, no game is lost."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.files import FileError
from elolab.arena.play.dialogue_log import MAX_BEGUN_BYTES, DialogueFile, DialogueLog, file_stem
from elolab.arena.play.executor import GameRunner
from elolab.arena.players.process import EngineProcess
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from tests.support.faulty_players import player

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z ([><!*]) (.*)")


def lines_of(path: Path) -> list[tuple[str, str]]:
    """Who speaks and what is said, line by line; every line has its time."""
    found = [LINE.fullmatch(line) for line in path.read_text().splitlines()]
    assert None not in found
    return [(match[1], match[2]) for match in found if match is not None]


def no_warning(text: str) -> None:
    raise AssertionError(text)


def opened(log: DialogueLog, name: str) -> DialogueFile:
    file = log.begin(name, ["./engine"], 7)
    assert file is not None
    return file


def play(log: DialogueLog, *players: PlayerSpec) -> list[GameRecord]:
    never = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)
    opening = Opening(game_named("xiangqi").start)
    jobs = [GameJob("xiangqi", Rules(), never, Pairing(0, 0, 0, 1, 0), players[0], players[1], opening, seed=1)]
    with GameRunner(1, StopFlag(), log=log) as runner:
        return list(runner.run(jobs))


def test_all_that_is_said_is_kept_and_a_second_game_is_added(tmp_path: Path) -> None:
    good, bad = replace(player("uci", "good"), name="good"), replace(player("uci", "exit"), name="a/../bad")
    for _ in range(2):
        (record,) = play(DialogueLog(tmp_path, no_warning), good, bad)
        assert record.reason == "crash"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a%2F..%2Fbad.log", "good.log"]
    lines = lines_of(tmp_path / "a%2F..%2Fbad.log")
    assert [who for who, text in lines if text.startswith("player a/../bad, process ")] == ["*", "*"]
    # What the store keeps of the last game is the end of what stands here, but for the error stream.
    kept = [line.split(" ", 2)[1:] for line in record.detail["dialogue"] if "* stderr: " not in line]
    said = [[who, text] for who, text in lines if who != "!"]
    assert said[-len(kept) :] == kept
    assert ("!", "assertion failed: alpha < beta") in lines
    assert lines.count((">", "uci")) == 2
    assert ("*", "exited with code 0") in lines_of(tmp_path / "good.log")  # when told to quit


def test_every_question_of_a_long_game_is_kept(tmp_path: Path) -> None:
    good = player("uci", "good")
    (record,) = play(DialogueLog(tmp_path, no_warning), replace(good, name="one"), replace(good, name="two"))
    assert len(record.moves) == 8
    for side, name in enumerate(("one", "two")):
        lines = [text for who, text in lines_of(tmp_path / f"{name}.log") if who in "<>"]
        answers = [lines[place + 1 :] for place, text in enumerate(lines) if text == "go nodes 100"]
        assert len(answers) == len(record.moves[side::2])
        assert all(any(line.startswith("bestmove ") for line in after) for after in answers)


def test_processes_side_by_side_have_files_of_their_own(tmp_path: Path) -> None:
    logs = DialogueLog(tmp_path, no_warning), DialogueLog(tmp_path, no_warning)  # as in two commands
    one, two, three = opened(logs[0], "x"), opened(logs[0], "x"), opened(logs[1], "x")
    two.close()
    four = opened(logs[1], "x")
    for number, file in enumerate((one, four, three), start=1):
        file.write("<", f"{number}\n".encode())
        file.close()
    files = {path.name: [text for who, text in lines_of(path) if who == "<"] for path in tmp_path.iterdir()}
    assert files == {"x.log": ["1"], "x.2.log": ["2"], "x.3.log": ["3"]}


def test_lines_are_put_together_and_none_grows_without_end(tmp_path: Path) -> None:
    file = opened(DialogueLog(tmp_path, no_warning), "x")
    file.write("<", b"info dep")
    file.write(">", b"stop\n")
    file.write("<", b"th 1\nbest")
    for _ in range(3):
        file.write("!", b"x" * MAX_BEGUN_BYTES)
    file.close()
    file.close()
    lines = lines_of(tmp_path / "x.log")[1:]
    assert [entry for entry in lines if entry[0] != "!"] == [(">", "stop"), ("<", "info depth 1"), ("<", "best")]
    assert "".join(text for who, text in lines if who == "!") == "x" * 3 * MAX_BEGUN_BYTES


def test_lines_that_the_arena_throws_away_are_kept_here(tmp_path: Path) -> None:
    from elolab.arena.players.process import LINE_BYTES, ProcessEnded

    def listen(process: EngineProcess) -> None:
        with contextlib.suppress(ProcessEnded):
            while True:
                process.read_line(2**62)

    process = EngineProcess(["sh", "-c", f"head -c {5 * LINE_BYTES} /dev/zero | tr '\\0' y; echo; echo end"])
    process.dialogue.sink = opened(DialogueLog(tmp_path, no_warning), "long")
    listen(process)
    process.end()
    heard = [text for who, text in lines_of(tmp_path / "long.log") if who == "<"]
    assert "".join(heard) == "y" * 5 * LINE_BYTES + "end"


def test_a_full_disk_is_told_once_and_loses_no_game(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "full.log").symlink_to("/dev/full")
    full = replace(player("uci", "good"), name="full")
    (record,) = play(DialogueLog(tmp_path, told.append), full, replace(full, name="other"))
    assert record.result == "1/2-1/2"
    assert told == [
        f"{tmp_path / 'full.log'}: cannot write the dialogue: the disk is full; the games continue without a log"
    ]


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere"])
def test_a_folder_that_cannot_be_is_refused_in_one_line(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileError, match=r"dialogues cannot be written there: .*; give another folder with --log$"):
        DialogueLog(tmp_path / place, no_warning)
    assert (tmp_path / "file").read_text() == "mine"


def test_names_lead_nowhere_else_and_stay_apart() -> None:
    names = ["", ".", "..", "../x", "..%2Fx", "/etc/passwd", "a b", "A-1.0", "象棋", "象" * 60, "\U0001f600" * 60]
    names += ["\U0001f600" * 59 + letter for letter in "ab"]
    stems = [file_stem(name) for name in names]
    assert len(set(stems)) == len(names)
    for stem in stems:
        assert not {"/", "\0"} & set(stem)
        assert not stem.startswith(".")
        assert len(f"{stem}.10000.log".encode()) <= 255
    assert [file_stem(name) for name in ("a b", "A-1.0", "象棋")] == ["a b", "A-1.0", "象棋"]
