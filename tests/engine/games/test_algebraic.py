"""Names of chess moves, compared with python-chess: every legal move of random positions."""

from __future__ import annotations

import random

import chess
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.algebraic import (
    NOTATIONS,
    format_move_name,
    format_moves,
    looks_like_a_move,
    notation_of,
    parse_move_name,
    read_game,
)
from elolab.engine.games.contract import MoveError, WrongMoveError

GAME = game_named("chess")
PROMOTION = "3r3k/2P1P3/8/8/8/8/8/4K3 w - - 0 1"


def random_game(seed: int, start: int | None, plies: int = 120) -> tuple[str, list[chess.Move], list[str]]:
    """A game of random moves from Chess960's position ``start`` (``None`` is chess): FEN, moves and SAN."""
    chance = random.Random(seed)
    board = chess.Board() if start is None else chess.Board.from_chess960_pos(start)
    fen, names = board.fen(), []
    while len(names) < plies and not board.is_game_over(claim_draw=False):
        legal = list(board.legal_moves)
        # Castling and promotions are rare among random moves.
        rare = [move for move in legal if board.is_castling(move) or move.promotion]
        move = chance.choice(rare if rare and chance.random() < 0.5 else legal)
        names.append(board.san_and_push(move))
    return fen, board.move_stack, names


STARTS = [None, *random.Random(1).sample(range(960), 4)]


@pytest.mark.parametrize("start", STARTS)
def test_games_are_named_and_read_as_python_chess_names_them(start: int | None) -> None:
    for seed in range(3):
        fen, _, names = random_game(seed, start)
        position = GAME.position(fen)
        moves = read_game(GAME.position(fen), names)
        assert format_moves(position, moves, "san") == names
        assert position.text == GAME.position(fen, moves).text
        for notation in NOTATIONS:
            written = format_moves(GAME.position(fen), moves, notation)
            assert read_game(GAME.position(fen), written) == moves
            assert all(map(looks_like_a_move, written))
            assert {notation_of(name) for name in written} <= {notation, "san"}


@pytest.mark.integration
@pytest.mark.parametrize("start", STARTS)
def test_every_move_of_a_position_has_its_name(start: int | None) -> None:
    fen, stack, _ = random_game(5, start)
    board = chess.Board(fen, chess960=start is not None)
    for number, move in enumerate(stack):
        if number % 6:
            board.push(move)
            continue
        position = GAME.position(board.fen())
        named = {format_move_name(position, legal, "san"): legal for legal in position.legal_moves()}
        assert set(named) == {board.san(legal) for legal in board.legal_moves}
        for name, legal in named.items():
            assert parse_move_name(position, name) == legal
        board.push(move)


@pytest.mark.parametrize(
    ("fen", "move", "texts"),
    [
        (GAME.start, "g1f3", "Nf3 nf3 Ngf3 N1f3 Ng1f3 Ng1-f3 g1f3 G1-F3 Nf3!? Nf3+ ♘f3 ♞f3 Nxf3 Nf3# Nf3++"),
        (GAME.start, "e2e4", "e4 Pe4 pe4 e2e4 e2-e4 e4= ♙e4 e4!!"),
        (PROMOTION, "e7e8n", "e8=N e8N e8(N) e8/N e8n e8=n e7e8n e7-e8=N e8=♘"),
        (PROMOTION, "c7d8q", "cxd8=Q cxd8Q+ c7xd8=Q cd8=Q c7d8q c:d8(Q)+ cxd8=Q#!"),
        ("3b4/8/k7/8/7Q/8/8/K2Q4 w - - 0 1", "h4d8", "Qhd8 Qh4d8 Qh4xd8 Qhxd8 h4d8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O 0-0 o-o OO 00 O–O O-O! e1g1 e1h1 Ke1g1 O-O+"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O 0-0-0 OOO e8c8 e8a8 O-O-O#"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6 exd ed ed6 e5xd6 exd6e.p. exd6ep e:d6"),
        ("5rkr/8/8/8/8/8/8/1RK1R3 w BE - 0 1", "c1b1", "O-O-O c1b1"),
        ("5rkr/8/8/8/8/8/8/1RK1R3 w BE - 0 1", "c1d1", "Kd1 c1d1"),
    ],
)
def test_sloppy_texts_are_read(fen: str, move: str, texts: str) -> None:
    for text in texts.split():
        assert parse_move_name(GAME.position(fen), text) == move, text


def test_pinned_pieces_do_not_count() -> None:
    pinned = GAME.position("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1")
    assert format_move_name(pinned, "g1e2", "san") == "Ne2"
    assert parse_move_name(pinned, "Ne2") == "g1e2"


@pytest.mark.parametrize(
    ("fen", "move", "name"),
    [
        ("8/6k1/8/8/Q6Q/8/8/K7 w - - 0 1", "a4d4", "Qad4+"),
        ("5k2/8/8/Q7/8/8/Q7/7K w - - 0 1", "a2d5", "Q2d5"),
        ("8/k7/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1"),
    ],
)
def test_origins_are_added_where_needed(fen: str, move: str, name: str) -> None:
    board = chess.Board(fen)
    assert format_move_name(GAME.position(fen), move, "san") == name == board.san(chess.Move.from_uci(move))
    with pytest.raises(MoveError, match="illegal move 'a1a8'"):
        format_move_name(GAME.position(fen), "a1a8", "san")


@pytest.mark.parametrize(
    ("fen", "text", "words"),
    [
        (GAME.start, "Nd2", "no legal move is 'Nd2' after 0 moves in position '"),
        (GAME.start, "Che2", "cannot read move 'Che2': expected SAN such as Nf3"),
        (GAME.start, "e9", "cannot read move 'e9'"),
        (GAME.start, "O-O", "no legal move is 'O-O'"),
        (GAME.start, "--", "'--' is a null move, which only analysis has"),
        (PROMOTION, "e8", "move 'e8' may be e8=Q+ or e8=R+ or e8=B or e8=N"),
        ("k7/8/8/8/8/N7/8/K1N5 w - - 0 1", "Nb5+", None),
        ("k7/8/8/8/8/2N5/8/K1N1N3 w - - 0 1", "Nd3", "move 'Nd3' may be Ncd3 or Ned3 after 0 moves in position"),
        (PROMOTION, "e8=K", "cannot read move 'e8=K'"),
    ],
)
def test_what_names_no_move_or_several_is_one_line(fen: str, text: str, words: str | None) -> None:
    if words is None:
        assert parse_move_name(GAME.position(fen), text) == "a3b5"
        return
    with pytest.raises(WrongMoveError) as caught:
        read_game(GAME.position(fen), [text])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_move_is_named_with_its_place() -> None:
    position = GAME.position()
    with pytest.raises(WrongMoveError, match=r"no legal move is 'Ke2' after 2 moves in position 'rnbqkbnr/pppp1ppp"):
        read_game(position, ["f3", "e5", "Ke2"])
    assert position.moves == ["f2f3", "e7e5"]
