"""The positions that programs are asked about are what they are called."""

from __future__ import annotations

import pytest

from elolab.arena.checking.sample_positions import LONG_PLIES, QUIET_PLIES, positions_of
from elolab.engine.games.contract import Position
from elolab.engine.rules import Rules


@pytest.mark.integration
@pytest.mark.parametrize("game", ["xiangqi", "othello"])
def test_every_position_is_of_its_kind_and_reached_by_its_moves(game: str) -> None:
    positions = positions_of(game)
    asked = (positions.long, positions.in_check, positions.only_move, positions.must_pass, positions.endgame)
    for position in (*positions.ordinary, *asked, positions.repeated, positions.over):
        if position is None:
            continue
        again = position.game.position(position.start)
        for move in position.moves:
            assert again.legal_moves()
            again.push(move)
        assert again.text == position.text
        if position is not positions.over:
            assert position.legal_moves()
            assert position.judge(Rules()) is None
    assert positions.ordinary[0].ply == 0
    assert len({position.text for position in positions.ordinary}) == len(positions.ordinary)
    assert positions.only_move is not None
    assert len(positions.only_move.legal_moves()) == 1
    assert positions.only_move.legal_moves() != ["pass"]
    assert positions.over is not None
    assert positions.over.legal_moves() == []


@pytest.mark.integration
def test_captures_are_long_ago() -> None:
    quiet = positions_of("xiangqi").quiet
    assert [position.ply for position in quiet] == list(QUIET_PLIES)
    for position in quiet:
        again = position.game.position(position.start, position.moves)
        assert again.text.split()[4] == str(position.ply)
        assert again.legal_moves()
        assert again.judge(Rules(move_limit=0)) is None
        assert (again.judge(Rules()) is None) == (position.ply < 120 or _checks(position) > 10)
    assert positions_of("othello").quiet == ()


def _checks(position: Position) -> int:
    game, found = position.game.position(position.start), [0, 0]
    for move in position.moves:
        game.push(move)
        found[1 - game.side_to_move] += game.in_check is True
    return max(found)


@pytest.mark.integration
def test_of_xiangqi_there_are_checks_repetitions_and_two_ways_to_lose() -> None:
    positions = positions_of("xiangqi")
    assert positions.long.ply == LONG_PLIES
    assert positions.in_check is not None
    assert positions.in_check.in_check
    assert positions.over is not None
    assert positions.over.in_check
    assert positions.stalemate is not None
    assert not positions.stalemate.in_check
    assert positions.stalemate.legal_moves() == []
    assert positions.repeated is not None
    assert positions.repeated.text.split()[0] == positions.ordinary[0].text.split()[0]
    assert positions.must_pass is None


def test_of_othello_there_are_passes() -> None:
    positions = positions_of("othello")
    assert positions.must_pass is not None
    assert positions.must_pass.legal_moves() == ["pass"]
    assert (positions.in_check, positions.stalemate, positions.repeated) == (None, None, None)
