"""A run in a terminal: what the lines say, that they fit, and that they are drawn until Ctrl-C."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.tournament_run import run
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.watching.snapshot import RunFollower, State, waiting_state
from elolab.arena.watching.terminal import watch_in_terminal
from elolab.arena.watching.view import Line, board_lines, printed, screen
from elolab.engine.games import game_named
from elolab.engine.language import LANGUAGES, columns_of
from tests.arena.watching.test_snapshot import begun, record, specification

ROOT = Path(__file__).parents[3]
MOVES = ["h2e2", "h9g7", "e2e6"]


def running(number: int, moves: list[str] | None, game: str = "xiangqi") -> dict[str, Any]:
    return {
        "series": "", "number": number, "game": game, "first": "a player with a long name", "second": "红方选手",
        "opening": "1", "seconds": 61.0, "position": game_named(game).start, "opening_moves": [], "moves": moves,
        "scores": None if moves is None else [12, None, 250][: len(moves)],
    }  # fmt: skip


def state(**sections: Any) -> State:
    """A tournament on its way."""
    row = {"rating_error": 20.5, "games": 40, "wins": 20, "draws": 10, "losses": 10, "score": 0.625, "pairs": 20}
    players = ["default", "红方选手", "no-late-move-reductions-at-all", *(f"player {number}" for number in range(30))]
    usual: State = waiting_state(Path("/runs/cup"))
    usual |= {
        "name": "cup", "kind": "tournament", "format": "round_robin", "game": "xiangqi", "state": "running",
        "standings": [{**row, "rank": rank, "player": name, "rating": 100.0 - rank} for rank, name in
                      enumerate(players, start=1)],
        "running": [running(7, MOVES), running(8, None), running(9, MOVES[:1])],
        "faults": [
            {"player": "default", "reason": "time_forfeit", "games": 2, "number": 3, "key": "k",
             "sentence": {"en": "default lost 2 games on time.", "zh": "default 有 2 局因超时判负。"}}
        ],
        "workers": [{"name": "云端", "threads": 8, "games": 3, "games_per_second": 1.5, "state": "lost"}],
        "test": {"verdict": "undecided", "llr": 1.0, "lower_bound": -2.94, "upper_bound": 2.94, "elo0": 0, "elo1": 5,
                 "model": "normalized", "pairs": 20, "pentanomial": [1, 2, 10, 5, 2]},
        "match": {"elo": 12.3, "elo_low": -3.0, "elo_high": 28.0, "los": 0.93, "pairs": 20, "pentanomial": []},
    }  # fmt: skip
    usual["progress"] = usual["progress"] | {
        "planned": 100, "done": 40, "all_planned": 100, "all_done": 40, "games_per_second": 2.5, "seconds_left": 24.0,
    }  # fmt: skip
    return usual | sections


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


@pytest.mark.integration
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [(80, 24), (120, 50), (76, 10), (40, 24), (20, 5), (1, 1)])
@pytest.mark.parametrize("outcome", [[], ["a table " * 20] * 60])
def test_lines_fill_the_screen_and_nothing_more(size: tuple[int, int], language: str, outcome: list[str]) -> None:
    columns, rows = size
    for standings in (state()["standings"], []):
        lines = screen(state(standings=standings), outcome, language, columns, rows)
        assert len(lines) == rows
        assert {columns_of("".join(text for text, _ in line)) for line in lines} == {columns}


def test_what_a_screen_of_usual_size_says() -> None:
    text = text_of(screen(state(), [], "en", 80, 24))
    for said in (
        "40/100 games  40 %  150/min", "0:24 left", "Elo +12.3 [−3.0, +28.0]  LOS 93.0 %", "LLR +1.00 [−2.94, +2.94]",
        "undecided", "1 default", "+99.0 20.5    40 62.5 %", "and 23 more players", "default lost 2 games",
        "lost", "game 7", "move 3: e2e6  1:01", "+2.50",
    ):  # fmt: skip
        assert said in text, said


@pytest.mark.parametrize("left_out", [(), ("faults",), ("faults", "workers"), ("faults", "workers", "match", "test")])
def test_standings_that_go_on_fill_the_room(left_out: tuple[str, ...]) -> None:
    sections = {name: [] if name in ("faults", "workers") else None for name in left_out}
    lines = text_of(screen(state(**sections, running=[]), [], "en", 80, 24)).splitlines()
    assert lines[-1] != ""
    assert "more players" in "".join(lines)


@pytest.mark.parametrize(("results", "said"), [
    (("1-0", "0-1"), "Elo +∞ [−636.4, +∞]  LOS 84.3 %  pairs 1"),
    (("0-1", "1-0"), "Elo −∞ [−∞, +636.4]  LOS 15.7 %  pairs 1"),
])  # fmt: skip
def test_infinite_elo_has_its_sign(tmp_path: Path, results: tuple[str, str], said: str) -> None:
    with begun(tmp_path, specification()) as store:
        store.add_all((record(number, result), True) for number, result in enumerate(results))
    assert said in text_of(printed(RunFollower(tmp_path).read(), [], "en"))


def test_what_a_player_did_is_whole_in_a_file_and_has_an_ellipsis_on_a_screen() -> None:
    words = "answered 'bestmove 0000', which is not a move, after it had said a great deal about itself"
    fault = {
        "player": "default",
        "reason": "illegal_move",
        "games": 2,
        "number": 3,
        "key": "k",
        "sentence": {"en": words},
    }
    lines = text_of(printed(state(faults=[fault]), [], "en")).splitlines()
    assert words in " ".join(lines)
    assert max(map(columns_of, lines)) <= 80
    shown = text_of(screen(state(faults=[fault]), [], "en", 80, 24))
    assert words not in shown
    assert "…" in shown


def test_given_ratings_have_no_sign_and_no_interval() -> None:
    text = text_of(screen(state(anchors={"default": 99}), [], "en", 80, 24))
    assert "1 default                 99.0 fixed    40 62.5 %" in text
    assert " 98.0  20.5" in text
    assert "+98.0" not in text


def test_the_winner_of_a_knockout_is_named() -> None:
    own = state(format="knockout", result={"en": "player 3 has won.", "zh": "player 3 夺冠。"})
    assert "player 3 has won." in text_of(screen(own, [], "en", 80, 24))
    assert "player 3 夺冠。" in text_of(printed(own, [], "zh"))


def test_what_is_printed_holds_everything() -> None:
    text = text_of(printed(state(), ["centre: history_weight 3"], "en"))
    assert "player 29" in text
    assert "centre: history_weight 3" in text
    assert text.index("player 29") < text.index("game 7")


@pytest.mark.parametrize("columns", [60, 80])
def test_a_snapshot_fits_the_columns_that_are_asked_for(columns: int) -> None:
    lines = text_of(printed(state(name="a tournament with a rather long name"), [], "en", columns)).splitlines()
    assert max(map(columns_of, lines)) <= columns


@pytest.mark.parametrize("moves", [MOVES[:1], MOVES, [*MOVES, "h7h8"]])
def test_boards_show_the_position_of_the_engine(moves: list[str]) -> None:
    """The letters that are drawn, read back, are the position's text."""
    text = game_named("xiangqi").position(None, moves).text
    lines = board_lines("xiangqi", text, {})
    drawn = ["".join(text for text, _ in line[1:]).replace(" ", "") for line in lines]
    rows = [re.sub(r"\.+", lambda found: str(len(found.group())), row) for row in drawn[:-1]]
    assert "/".join(rows) == text.split()[0]
    assert drawn[-1] == "abcdefghi"
    assert text_of(lines) in text_of(printed(state(running=[running(1, moves)]), [], "en"))


def test_an_illegal_move_leaves_no_board() -> None:
    lines = text_of(printed(state(running=[running(1, ["a1"], "othello")]), [], "en")).splitlines()
    assert lines[-1].startswith("move 1: a1")


def test_chinese_boards_are_as_wide_as_those_of_letters() -> None:
    start = game_named("xiangqi").start
    widths = {
        columns_of("".join(text for text, _ in line))
        for pieces in ({}, dict.fromkeys("KABNRCPkabnrcp", "車"))
        for line in board_lines("xiangqi", start, pieces)
    }
    assert widths == {20}


# --- The terminal -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tournament that is over."""
    players = [{"name": name, "limit": "nodes=20"} for name in ("Ann", "Bob")]
    found = tmp_path_factory.mktemp("terminal") / "cup"
    keys = {"format": "match", "pairs": 2, "adjudication": {"maximum_plies": 20}, "players": players}
    run(spec_from_mapping({"name": "cup", **keys}, "cup.toml"), found, stream=io.StringIO())
    return found


class Window:
    """``elolab watch --terminal`` in a terminal of 80 by 24."""

    def __init__(self, folder: Path) -> None:
        self._own, inner = pty.openpty()
        self.resize(80, 24)
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "elolab", "watch", str(folder), "--terminal"], stdin=inner, stdout=inner,
            stderr=inner, cwd=ROOT, start_new_session=True, env={**environment, "TERM": "xterm"},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        self.inner, self.shown = inner, ""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self._own, keys)

    def until(self, text: str) -> str:
        """Wait until something is shown, and give all that was shown up to it."""
        while text not in self.shown:
            assert select.select([self._own], [], [], 60)[0], self.shown[-2000:]
            self.shown += os.read(self._own, 65536).decode(errors="replace")
        before, _, self.shown = self.shown.partition(text)
        return before

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._own)
        os.close(self.inner)


@pytest.fixture
def window(folder: Path) -> Iterator[Window]:
    window = Window(folder)
    yield window
    window.close()


@pytest.mark.integration
def test_a_terminal_shows_the_run_until_ctrl_c(window: Window) -> None:
    window.until("Ann")
    window.until("\x1b[H")
    window.type(b"\x03")
    assert window.process.wait(60) == 0
    assert "Traceback" not in window.shown


@pytest.mark.integration
def test_another_size_is_used_at_once(window: Window) -> None:
    window.until("\x1b[H")
    window.resize(50, 10)
    widths = []
    for _ in range(20):
        window.until("\x1b[H")
        widths.append(len(re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", window.until("\n"))))
        if widths[-1] <= 50:
            break
    assert widths[-1] <= 50, widths


@pytest.mark.integration
def test_a_pipe_gets_one_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir())
    watch_in_terminal(folder, "en")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "4/4 games  100 %" in shown
    assert sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir()) == before
