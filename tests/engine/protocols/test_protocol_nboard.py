"""The NBoard protocol: scripted dialogues, and games in GGF."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.engine.engine import Engine
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.protocols.game_format import read_game, read_move, write_game
from elolab.engine.protocols.nboard import NBoardServer
from tests.support.conversation import TRANSCRIPTS, Conversation, play_transcript


def make(output: TextIO) -> NBoardServer:
    return NBoardServer("othello", {}, output)


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("nboard-*.txt")), ids=lambda path: path.stem)
def test_dialogue(path: Path) -> None:
    play_transcript(path, make)


def test_a_failed_search_is_told_in_the_status_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    conversation = Conversation(make)
    conversation.say("ping 1")
    assert conversation.hear() == "pong 1"
    monkeypatch.setattr(Engine, "search", fail)
    conversation.say("go")
    assert [conversation.hear(), conversation.hear()] == [
        "status thinking", "status not enough memory; choose a smaller hash table",
    ]  # fmt: skip
    assert conversation.close() == []


def test_the_line_of_a_solved_position_is_told_beyond_its_first_move() -> None:
    chance = random.Random(3)
    position = game_named("othello").position()
    while position.text.count("-") > 12:
        position.push(chance.choice(position.legal_moves()))
    conversation = Conversation(make)
    conversation.say(f"set game {write_game(position.start, position.moves)}")
    conversation.say("hint 1")
    last = [line for line in conversation.hear_until("nodestats") if line.startswith("search ")][-1]
    conversation.close()
    moves = re.findall("[A-H][1-8]|PA", last.split()[1])
    assert len(moves) > 3
    for move in moves:
        position.push(read_move(move))


def test_hints_of_a_depth_come_the_best_first() -> None:
    chance, position = random.Random(1), game_named("othello").position()
    for _ in range(12):
        position.push(chance.choice(position.legal_moves()))
    conversation = Conversation(make)
    for line in (f"set game {write_game(position.start, position.moves)}", "set depth 8", "hint 8"):
        conversation.say(line)
    found = [line.split() for line in conversation.hear_until("nodestats") if line.startswith("search ")]
    conversation.close()
    groups = [[float(words[2]) for words in group] for _, group in itertools.groupby(found, lambda words: words[4])]
    assert len(groups) == 8
    for scores in groups:
        assert len(scores) == 8
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("number", range(5))
def test_games_come_back_with_and_without_their_passes(number: int) -> None:
    chance = random.Random(number)
    game = game_named("othello")
    position = game.position(game.start, ["d3", "c3", "e6", "d2", "d1", "e1", "b2", "c1"][: 8 * (number % 2)])
    while moves := position.legal_moves():
        position.push(chance.choice(moves))
    start = position.start
    read = read_game(write_game(start, position.moves))
    assert (read.moves, read.text) == (position.moves, position.text)
    side = {ply: "BW"[ply % 2] for ply in range(len(position.moves))}
    tags = "".join(f"{side[ply]}[{move}/0.5/1]" for ply, move in enumerate(position.moves) if move != "pass")
    text = f"(;GM[Othello]BO[8 {start.replace('X', '*')}]{tags};)"
    assert read_game(text).text == position.text
    assert "pass" in position.moves or number % 2 == 0


def test_a_game_may_begin_anywhere() -> None:
    start = "----OX------OX-----XO------XO-----XXOX---X--O------------------- O"
    assert "BO[8 ----O*------O*" in write_game(start, [])
    assert read_game(write_game(start, [])).text == start


@given(st.text(max_size=60))
def test_no_text_upsets_the_reader(text: str) -> None:
    for game in (text, f"(;{text};)", f"(;GM[Othello]BO[{text}];)", f"(;BO[8 {'-' * 64} *]B[{text}];)"):
        with pytest.raises(UserError):
            read_game(game)
