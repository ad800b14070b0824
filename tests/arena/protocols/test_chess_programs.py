"""Programs of chess from Debian's packages, and the engine as a program, play games that python-chess accepts."""

from __future__ import annotations

import sys

import chess
import pytest

from elolab.arena.players.detect import games_of
from elolab.arena.players.registry import protocol_named
from elolab.arena.records import Opening, PlayerSpec
from tests.support.chess_match import builtin, playing, program
from tests.support.xiangqi_match import ROOT, need_program

pytestmark = pytest.mark.integration

OWN_UCI = program(f"{sys.executable} {ROOT}/elolab engine --game chess --protocol uci", "uci", "nodes=300")
OWN_XBOARD = program(f"{sys.executable} {ROOT}/elolab engine --game chess --protocol xboard", "xboard", "depth=3")
PROGRAMS = [
    program("stockfish", "uci", "nodes=300"),
    program("fairy-stockfish", "uci", "nodes=300"),
    program("glaurung", "uci", "depth=3", OwnBook="false"),
    program("toga2", "uci", "depth=3", OwnBook="false"),
    program("gnuchess --uci", "uci", "depth=3", OwnBook="false"),
    program("fairymax", "xboard", "depth=3"),
    program("hoichess", "xboard", "depth=2"),
    program("phalanx -b-", "xboard", "clock=1+0.05"),
    OWN_UCI,
    OWN_XBOARD,
]
CASTLED = Opening(
    "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4", ("e1g1", "g8f6", "d2d3", "e8g8")
)
PROMOTES = Opening("8/P5kp/8/8/8/8/5PKP/8 w - - 0 1", ("a7a8n", "g7f6"))
CHESS960 = [spec for spec in PROGRAMS if spec.command[0] in ("stockfish", "fairy-stockfish", "glaurung")]
CHESS960 += [program("fairy-stockfish", "xboard", "depth=4"), OWN_UCI, OWN_XBOARD]


def name(spec: PlayerSpec) -> str:
    own = "elolab" if spec.command[0] == sys.executable else spec.command[0]
    return f"{own}-{spec.protocol}"


def need(spec: PlayerSpec) -> None:
    if spec.command[0] != sys.executable:
        need_program(spec.command[0])


@pytest.mark.parametrize("spec", PROGRAMS, ids=name)
def test_a_program_plays_with_both_colours_from_any_opening(spec: PlayerSpec) -> None:
    need(spec)
    with playing(spec, builtin()) as play:
        for opening in (None, CASTLED, PROMOTES):
            for swapped in (False, True):
                record = play(opening, 6, swapped=swapped)
                assert record.reason == "maximum_length", record.detail
                assert len(record.moves) == 6


MATES = {
    "the pieces change places": ("4rkr1/4p1p1/8/8/8/8/8/5KR1 w G - 0 1", "f1g1"),
    "the king stays, king's side": ("4rkr1/4p1p1/8/8/8/8/8/6KR w H - 0 1", "g1h1"),
    "the rook passes the king": ("2rkr3/2p1p3/8/8/8/8/8/RK6 w A - 0 1", "b1a1"),
    "the king stays, queen's side": ("2rkr3/2p1p3/8/8/8/8/8/1RK5 w B - 0 1", "c1b1"),
}
"""Positions in which castling alone mates at once."""


def mirrored(fen: str, move: str) -> tuple[str, str]:
    """The same position with the colours exchanged."""
    board = chess.Board(fen, chess960=True).mirror()
    return board.fen(), move.replace("1", "8")


@pytest.mark.parametrize("spec", CHESS960, ids=name)
def test_every_castling_of_chess960_is_found_and_understood(spec: PlayerSpec) -> None:
    need(spec)
    with playing(spec, builtin()) as play:
        for fen, move in MATES.values():
            for position, castling in ((fen, move), mirrored(fen, move)):
                record = play(Opening(position), 2, swapped=position != fen)
                assert [told.move for told in record.moves] == [castling], record.detail
                assert record.reason == "checkmate", record.detail
        for fen, moves in (
            ("rkr5/pppppppp/8/8/8/8/PPPPPPPP/RKR5 w CAca - 0 1", ("b1c1", "b8c8")),
            ("1rk2r2/pppppppp/8/8/8/8/PPPPPPPP/1RK2R2 w FBfb - 0 1", ("c1b1", "c8f8")),
        ):
            assert play(Opening(fen, moves), 4).reason == "maximum_length"


@pytest.mark.parametrize(
    ("command", "protocol", "games"),
    [
        ("stockfish", "uci", ("chess",)),
        ("fairy-stockfish", "uci", ("xiangqi", "chess")),
        ("toga2", "uci", ("chess",)),
        ("hoichess", "xboard", ("chess",)),
        ("hoixiangqi", "xboard", ("xiangqi",)),
        ("phalanx", "xboard", ("chess",)),
    ],
)
def test_a_program_shows_which_games_it_plays(command: str, protocol: str, games: tuple[str, ...]) -> None:
    need_program(command)
    assert games_of(((command,), None), protocol_named(protocol)) == games


@pytest.mark.parametrize("command", ["toga2", "hoichess"])
def test_a_program_without_chess960_is_refused_its_openings(command: str) -> None:
    need_program(command)
    spec = next(spec for spec in PROGRAMS if spec.command[0] == command)
    with playing(spec, builtin()) as play:
        record = play(Opening("1rk2r2/pppppppp/8/8/8/8/PPPPPPPP/1RK2R2 w FBfb - 0 1"))
        assert record.reason == "startup_failure"
        assert "Chess960" in str(record.detail) or "fischerandom" in str(record.detail)


def test_a_program_that_ignores_a_depth_is_refused_instead_of_played_without_a_limit() -> None:
    need_program("phalanx")
    with playing(program("phalanx", "xboard", "depth=3"), builtin()) as play:
        record = play()
        assert record.reason == "startup_failure"
        assert "does not support the limit 'sd 3'" in str(record.detail)


def test_a_variation_is_kept_in_the_notation_of_the_game() -> None:
    need_program("fairymax")
    with playing(program("fairymax", "xboard", "depth=4"), builtin()) as play:
        record = play(CASTLED, 2)
        board = chess.Board(CASTLED.position)
        for move in CASTLED.moves:
            board.push_uci(move)
        for word in record.moves[0].principal_variation.split():
            board.push_uci(word)
        assert record.moves[0].principal_variation
