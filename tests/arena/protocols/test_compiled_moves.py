"""Moves of programs in compiled code: the same games as by the loop in Python, whatever the programs say."""

from __future__ import annotations

import random
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.game import GameInProgress, play_game
from elolab.arena.players.external import ExternalPlayer
from elolab.arena.players.registry import make_player
from elolab.arena.players.threads import start_thread
from elolab.arena.protocols import compiled_moves
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.compiled.program_games import MoveWords
from elolab.engine.compiled.program_play import IS_COMPILED
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

MOCK = str(Path(__file__).parents[2] / "support" / "mock_line_engine.py")
PLIES = 40
GAMES = 3
"""Games that a pair of programs plays: in the first one compiled code learns the moves."""
TIMES = re.compile(r"(?<=[wb]time )\d+")

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="compilation is disabled")


def line_of_moves() -> list[str]:
    """Moves of a game of Xiangqi that has not ended after them."""
    generator = random.Random(4)
    position = game_named("xiangqi").position()
    while position.ply < PLIES + 2:
        move = generator.choice(position.legal_moves())
        trial = position.copy()
        trial.push(move)
        if trial.judge(Rules()) is None:
            position = trial
    return position.moves


def play(
    folder: Path,
    limit: str,
    *ending: str,
    compiled: bool,
    monkeypatch: pytest.MonkeyPatch,
    ranks: int = 0,
    follow: Callable[[Any, Any], None] | None = None,
    prepared: list[bool] | None = None,
) -> tuple[list[GameRecord], list[str]]:
    """Some games, and what the programs heard.

    With ``prepared``, each game prepares the next one, and the list gets whether compiled code played it to its end.
    """
    monkeypatch.setattr(compiled_moves, "IS_COMPILED", compiled)
    folder.mkdir()
    moves, position = line_of_moves(), game_named("xiangqi").start
    written = [re.sub(r"\d", lambda digit: str(int(digit[0]) + ranks), move) for move in moves]
    specs = [
        PlayerSpec(
            name, "uci", Limits.parse(limit), options=(("ranks", str(ranks)),), margin_ms=400, watchdog_ms=300,
            command=(sys.executable, "-I", "-S", MOCK, str(folder / name), " ".join(written), *ending),
        )
        for name in ("one", "other")
    ]  # fmt: skip
    players = [make_player(spec, "xiangqi") for spec in specs]
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=PLIES)
    opening = Opening(position, tuple(moves[:2]))
    stop = StopFlag()
    records: list[GameRecord] = []
    game: GameInProgress | None = None
    has_ended = False
    for number in range(GAMES):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        first, second = (specs[place] for place in order)
        job = GameJob(
            "xiangqi", Rules(), adjudication, Pairing(number, number, *order, 0), first, second, opening, seed=1
        )
        ordered = (players[order[0]], players[order[1]])
        if prepared is None:
            records.append(play_game(job, ordered, stop, follow))
            continue
        game = None if game is None else game.successor(job)
        if game is not None and (has_ended or game.can_start):
            has_ended = start_thread(game.start).result()
            prepared.append(has_ended)
        else:
            game, has_ended = GameInProgress(job, stop, ordered), False
        if has_ended:
            game.take()
        records.append((game.completed() if has_ended else start_thread(game.finish).result()).record())
    for player in players:
        player.close()
    return records, [line for name in ("one", "other") for line in (folder / name).read_text("utf-8").splitlines()]


def without_times(record: GameRecord) -> dict[str, Any]:
    detail = {key: value for key, value in record.detail.items() if key not in ("disturbed", "overruns")}
    if "dialogue" in detail:
        detail["dialogue"] = [TIMES.sub("T", line.partition(" ")[2]) for line in detail["dialogue"]]
    moves = [move._replace(time_ms=0.0) for move in record.moves]
    return {"moves": moves, "end": (record.result, record.reason, record.final_position), "detail": detail}


def counting(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    def counted(*values: Any) -> Any:
        calls.append(values)
        return function(*values)

    return counted


@pytest.mark.integration
@pytest.mark.parametrize(
    ("limit", "ending"),
    [
        ("nodes=100", ()),
        ("depth=3,nodes=7", ()),
        ("clock=60+0.5", ()),
        ("clock=12/60+1,nodes=5", ()),
        ("move_time=2", ()),
        ("nodes=100", ("30", "illegal")),
        ("nodes=100", ("30", "none")),
        ("nodes=100", ("30", "exit")),
        ("nodes=100", ("30", "hang")),
        ("clock=60", ("31", "illegal")),
        ("nodes=100", ("0", "usual")),
        ("clock=60+0.5", ("0", "usual")),
        ("nodes=100", ("0", "greets")),
        ("nodes=100", ("0", "leaves")),
    ],
)
def test_compiled_moves_are_those_of_the_loop_in_python(
    limit: str, ending: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games, heard = play(tmp_path / "compiled", limit, *ending, compiled=True, monkeypatch=monkeypatch)
    expected, told = play(tmp_path / "python", limit, *ending, compiled=False, monkeypatch=monkeypatch)
    ended: list[bool] = []
    others, said = play(tmp_path / "prepared", limit, *ending, compiled=True, monkeypatch=monkeypatch, prepared=ended)
    for records, lines in ((games, heard), (others, said)):
        assert list(map(without_times, records)) == list(map(without_times, expected))
        assert [TIMES.sub("T", line) for line in lines] == [TIMES.sub("T", line) for line in told]
    assert "usual" not in ending or ended == [True] * (GAMES - 1)


def test_most_moves_are_played_in_compiled_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for name in ("move", "finish_move"):
        monkeypatch.setattr(ExternalPlayer, name, counting(getattr(ExternalPlayer, name), asked))
    games, _ = play(tmp_path / "games", "nodes=1", compiled=True, monkeypatch=monkeypatch)
    assert len(asked) - len(games[0].moves) <= (GAMES - 1) * PLIES // 2


def test_a_live_dialogue_shows_the_question_that_is_being_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[Callable[[], tuple[list[str], list[str]]]] = []
    seen: list[list[str]] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            seen.extend(lines[-2:] for read in readers[-1:] for lines in read())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        play(
            tmp_path / "games", "nodes=100", "30", "hang", compiled=True, monkeypatch=monkeypatch,
            follow=lambda moves, dialogue: readers.append(dialogue),
        )  # fmt: skip
    finally:
        over.set()
        thread.join()
    asked = [lines for lines in seen if len(lines) == 2 and lines[1].endswith("> go nodes 100")]
    assert any(len(line.split(" moves ")[1].split()) == 30 for line, _ in asked if " moves " in line)


def test_ranks_from_one_are_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games, heard = play(tmp_path / "one", "nodes=9", compiled=True, monkeypatch=monkeypatch, ranks=1)
    zero, _ = play(tmp_path / "zero", "nodes=9", compiled=True, monkeypatch=monkeypatch)
    assert [[move.move for move in game.moves] for game in games] == [
        [move.move for move in game.moves] for game in zero
    ]
    assert any("10" in line for line in heard if line.startswith("position"))


def test_a_move_with_two_texts_is_left_to_python() -> None:
    words = MoveWords()
    words.learn("e1g1", 5)
    words.learn("e1g1", 5)
    before = words.array.copy()
    words.learn("e1h1", 5)
    record, old = words.array[0], before[0]
    assert (record["words"] == old["words"]).all()
    assert record["words_of_codes"].sum() == 0 < old["words_of_codes"].sum()
