"""Moves of Xiangqi in SAN: what pyffish writes, in both bases of ranks, and what is refused."""

from __future__ import annotations

import random
import re

import pyffish
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.games.xiangqi.move_names import is_algebraic, is_coordinates, parse_algebraic, read_algebraic
from tests.support.effort import EFFORT

GAME = game_named("xiangqi")
NOTATIONS = (pyffish.NOTATION_SAN, pyffish.NOTATION_LAN)


def random_moves(seed: int, plies: int) -> list[str]:
    chooser, position = random.Random(seed), GAME.position()
    for _ in range(plies):
        legal = position.legal_moves()
        if not legal:
            break
        position.push(chooser.choice(legal))
    return list(position.moves)


def from_one(move: str) -> str:
    """Coordinates with ranks from 1, as pyffish reads them."""
    return f"{move[0]}{int(move[1]) + 1}{move[2]}{int(move[3]) + 1}"


def fairy_names(position: Position, moves: list[str], notation: int) -> list[str]:
    return list(pyffish.get_san_moves("xiangqi", position.text, list(map(from_one, moves)), False, notation))


def lowered(name: str) -> str:
    """The same with ranks from 0."""
    return re.sub(r"\d+", lambda rank: str(int(rank[0]) - 1), name)


@EFFORT
@pytest.mark.parametrize("notation", NOTATIONS)
def test_games_are_read_as_pyffish_writes_them(notation: int, effort: int) -> None:
    for seed in range(10 * effort):
        position, moves = GAME.position(), random_moves(seed, 100)
        names = fairy_names(position, moves, notation)
        assert read_algebraic(position, names, "0") == moves
        assert read_algebraic(position, list(map(lowered, names)), "0") == moves
        others = [name.replace("H", "N").replace("E", "B").removeprefix("P") for name in names]
        assert read_algebraic(position, others, "auto") == moves


@pytest.mark.integration
def test_every_legal_move_of_a_position_has_its_own_name() -> None:
    for seed in range(20):
        position = GAME.position(None, random_moves(seed, 60))
        for move in position.legal_moves():
            name = pyffish.get_san("xiangqi", position.text, from_one(move), False, pyffish.NOTATION_SAN)
            assert parse_algebraic(position, name, 1) == move
            assert is_algebraic(name)


@pytest.mark.parametrize(("name", "move"), [
    ("Che2", "h2e2"), ("C2e2", None), ("Hg2", "h0g2"), ("Nc2", "b0c2"), ("Bce2", "c0e2"), ("Ege2", "g0e2"),
    ("c4", "c3c4"), ("Pc4", "c3c4"), ("Cxb9", "b2b9"), ("Cb9", "b2b9"), ("Ra1!?", "a0a1"), ("Ke1", "e0e1"),
    ("Cb2-e2", "b2e2"), ("b2e2", "b2e2"), ("C2xb9", "b2b9"), ("Ade1", "d0e1"), ("A0fe1", None),
])  # fmt: skip
def test_forms_in_the_start_position(name: str, move: str | None) -> None:
    position = GAME.position()
    if move is None:
        with pytest.raises(MoveError):
            parse_algebraic(position, name, 0)
    else:
        assert parse_algebraic(position, name, 0) == move


@pytest.mark.parametrize(("name", "said"), [
    ("Ce2", "may be b2e2 or h2e2"), ("c5", r"no legal move is 'c5' \(ranks from 0\) after 0 moves"),
    ("Rj1", "expected SAN"), ("Ka10", "no legal move"),
])  # fmt: skip
def test_what_names_no_move_or_several_is_refused(name: str, said: str) -> None:
    with pytest.raises(MoveError, match=said):
        parse_algebraic(GAME.position(), name, 0)


def test_other_notations_are_not_taken_for_it() -> None:
    for text in ("h2e2", "H2-E2", "h10g8", "C2=5", "R+=4", "A4+5", "炮二平五", "13=4", "++=4", "1-0", "12.", "x"):
        assert not is_algebraic(text), text
    assert is_algebraic("H2e2")
    assert is_coordinates("H2e2")


def test_a_game_that_is_legal_in_both_bases_asks_which() -> None:
    position = GAME.position()
    assert read_algebraic(position, ["Ra2"], "0") == ["a0a2"]
    assert read_algebraic(position, ["Ra2"], "1") == ["a0a1"]
    with pytest.raises(MoveError, match=r"legal with ranks from 0 \(a0a2\) and from 1 \(a0a1\); say --ranks"):
        read_algebraic(position, ["Ra2"], "auto")
    assert not position.moves
