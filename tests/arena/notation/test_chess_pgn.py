"""PGN of chess as programs write it, compared with python-chess: what is read, what is written, what is refused."""

from __future__ import annotations

import io
import random
from pathlib import Path

import chess
import chess.pgn
import pytest

from elolab.arena.notation.pgn import PortableGame, PortableGameError, PortableMove, decode_text, portable_text
from elolab.arena.notation.pgn_results import results_of_file
from elolab.engine.games import game_named
from tests.support.portable_texts import read_games

GAME = game_named("chess")

CUTECHESS = """[Event "?"]
[Site "host"]
[Date "2026.11.27"]
[Round "1"]
[White "New"]
[Black "Old"]
[Result "1/2-1/2"]
[FEN "bnrbnkrq/pppppppp/8/8/8/8/PPPPPPPP/BNRBNKRQ w GCgc - 0 1"]
[PlyCount "4"]
[SetUp "1"]
[TimeControl "10+0.1"]
[Variant "fischerandom"]

1. d4 {+0.31/12 0.52s} d5 {0.00/11 0.48s} 2. Nd3 {+M5/20 1.2s}
Nd6 {-0.20/9 0.10s, Draw by adjudication} 1/2-1/2
"""
FASTCHESS = """[Event "Fastchess Tournament"]
[White "a"]
[Black "b"]
[Result "1-0"]

1. e4 {book} e5 {+0.25/9, 0.012s, tl=9.988s, latency=0.001s, n=4321, pv="e5"} 2. Nf3 {+0.30/10 0.020s n=77, tl=9.5s} 1-0
"""
LICHESS = """[Event "Rated blitz game"]
[Site "https://lichess.org/abcdefgh"]
[White "anna"]
[Black "bert"]
[Result "0-1"]
[Variant "Standard"]
[ECO "C20"]

1. e4 { [%eval 0.17] [%clk 0:03:00] } 1... e5?! { [%eval 0.5,21] [%clk 0:02:58.5] } 2. Ke2?? { [%eval -1.25] } 2... d6
{ [%eval #-3] [%emt 0:00:01.5] } 0-1
"""
CHESSBASE = """\ufeff[Event "Club"]
[White "M\u00fcller, J\u00f6rg"]
[Black "Pe\u00f1a"]
[Result "*"]

% an escaped line with 1. a4 moves
1.e4 $1 e5 ; the rest of the line, with Nf3
2.Nf3 (2.f4 exf4 (2...d5 3.exd5) 3.Nf3 {a {comment}) 2...Nc6 $14 3.Bb5 $5 ! a6 {[%cal Gb5a4]} 4.0-0 Nf6 +- *
"""


def read(text: str) -> PortableGame:
    (game,) = read_games(text, "some.pgn", "chess")
    return game


def moves_of(game: PortableGame) -> str:
    return " ".join(move.move for move in game.moves)


@pytest.mark.parametrize("text", [CUTECHESS, FASTCHESS, LICHESS, CHESSBASE])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_files_of_programs_are_read_as_python_chess_reads_them(text: str, ends: str) -> None:
    expected = chess.pgn.read_game(io.StringIO(text.lstrip("\ufeff")))
    assert expected is not None
    assert not expected.errors
    game = read(decode_text(text.replace("\n", ends).encode(), "some.pgn", GAME.encodings))
    board = expected.board()
    assert game.start == GAME.position(board.fen()).text
    assert list(map(chess.Move.from_uci, moves_of(game).split())) == list(expected.mainline_moves())
    assert game.result == expected.headers["Result"]
    assert game.tag("White") == expected.headers["White"]


def test_figures_in_comments_of_programs() -> None:
    cutechess = [move.figures for move in read(CUTECHESS).moves]
    assert [(found.score, found.depth, found.time_ms) for found in cutechess if found] == [
        (31, 12, 520.0), (0, 11, 480.0), (29_991, 20, 1200.0), (-20, 9, 100.0),
    ]  # fmt: skip
    book, reply, knight = (move.figures for move in read(FASTCHESS).moves)
    assert book is None
    assert reply is None or (reply.score, reply.nodes) == (25, 4321)
    assert knight is not None
    assert (knight.score, knight.depth, knight.nodes, knight.time_ms) == (30, 10, 77, 20.0)
    lichess = read(LICHESS).moves
    assert [move.figures and move.figures.score for move in lichess] == [17, -50, -125, 29_995]
    assert [move.time_left_ms for move in lichess] == [180_000.0, 178_500.0, None, None]
    assert lichess[1].figures is not None
    assert lichess[1].figures.depth == 21
    assert lichess[3].figures is not None
    assert lichess[3].figures.time_ms == 1500.0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_names_in_western_encodings(encoding: str, tmp_path: Path) -> None:
    text = CHESSBASE.lstrip("\ufeff")
    (tmp_path / "some.pgn").write_bytes(text.encode(encoding))
    assert (
        results_of_file(str(tmp_path / "some.pgn"), "chess", None, None).described["player"] == "M\u00fcller, J\u00f6rg"
    )
    game = read(decode_text(text.encode(encoding), "some.pgn", GAME.encodings))
    assert (game.tag("White"), game.tag("Black")) == ("M\u00fcller, J\u00f6rg", "Pe\u00f1a")
    damaged = text.encode() + b"\n{\xe9}"
    assert "M\u00fc" not in damaged.decode("latin-1")
    assert decode_text("\u00fc\u00f1".encode() * 20 + b"\xff", "a", GAME.encodings).startswith("\u00fc\u00f1")


@pytest.mark.parametrize("start", [None, 0, 311, 518, 959])
def test_written_games_are_read_by_python_chess(start: int | None) -> None:
    for seed in range(3):
        chance = random.Random(seed)
        board = chess.Board() if start is None else chess.Board.from_chess960_pos(start)
        fen = board.fen()
        while not board.is_game_over() and board.ply() < 100:
            board.push(chance.choice(list(board.legal_moves)))
        position = GAME.position(fen)
        words = [move.uci() for move in board.move_stack]
        moves = GAME.read_moves(position, words, "0")
        game = PortableGame(
            (("Event", "e"), ("White", "n"), ("Black", "o")), position.text,
            tuple(PortableMove(move, "+0.31/12 0.520s 77n" if place == 3 else "") for place, move in enumerate(moves)),
            "1/2-1/2",
        )  # fmt: skip
        text = portable_text(game, GAME)
        other = chess.pgn.read_game(io.StringIO(text))
        assert other is not None
        assert not other.errors
        assert list(other.mainline_moves()) == board.move_stack
        assert (other.headers["White"], other.headers["Result"]) == ("n", "1/2-1/2")
        assert ("Variant" in other.headers) == (start not in (None, 518))
        assert ("Game" in other.headers, "Format" in other.headers) == (False, False)
        assert ("SetUp" in other.headers) == (start not in (None, 518))
        again = read(text)
        assert (again.start, again.moves, again.result) == (game.start, game.moves, game.result)
        assert portable_text(again, GAME) == text


@pytest.mark.parametrize(
    "fen", ["4k3/8/8/8/8/8/8/R3K3 w - - 0 20", "4k3/8/8/8/8/8/8/R3K3 b - - 3 20", "4k3/8/8/8/8/8/8/4K2R b"]
)
def test_a_game_is_numbered_from_the_move_number_of_its_position(fen: str) -> None:
    moves = ("e1d2", "e8d7", "d2e3") if " w " in fen else ("e8d7", "e1d2", "d7e6")
    text = portable_text(PortableGame((), fen, tuple(PortableMove(move) for move in moves), "*"), GAME)
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    exporter = chess.pgn.StringExporter(headers=False)
    assert text.endswith("\n" + game.accept(exporter) + "\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[White "a"]\n\n1. e4 e5\n2. Nd2 Nc6 *', "line 4: White's move 2: no legal move is 'Nd2' after 2 moves in"),
        ('[White "a"]\n\n1. e4 -- 2. d4 *', "line 3: Black's move 1: '--' is a null move, which only analysis has"),
        ('[White "a"]\n[Variant "atomic"]\n\n1. e4 *', 'line 2: [Variant "atomic"]: elolab plays Chess without it'),
        ('[White "a"]\n[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]\n\n*', "line 2: FEN '8/8/8/8/8/8/8/K7 w - - 0 1': Black has"),
        ('[White "a"]\n[Result "2-0"]\n\n1. e4 *', 'line 2: [Result "2-0"]: expected one of 1-0'),
        ('[White "a"]\n\n1. e4 (1. d4 *', "line 3: the variation that begins here is not closed"),
        ('[White "a"]\n\n1. e4 {never', "line 3: the comment that begins here is not closed"),
        ('[White "a"]\n\n1. e4 e5 1-0 Nf3 *', "line 3: the move 'Nf3' follows the result 1-0"),
    ],
)
def test_mistakes_are_one_line(text: str, words: str) -> None:
    with pytest.raises(PortableGameError) as caught:
        read(text)
    assert str(caught.value).startswith(f"some.pgn: game 1, {words}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("moves", ["e4 e5 Nf3", "1. e4 1. ... e5", "1.e4 1...e5", "7. e4 e5", "1 e4 e5"])
def test_moves_with_and_without_numbers(moves: str) -> None:
    assert moves_of(read(f"{moves} *")).startswith("e2e4 e7e5")
