"""Polyglot books, written here by the format's description: keys and lines as of python-chess, and what is refused."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import chess
import chess.polyglot
import pytest

from elolab.arena.notation.archives.archive import ArchiveFile, Reading
from elolab.arena.notation.archives.formats import format_of
from elolab.arena.notation.archives.polyglot import key_of
from elolab.arena.notation.convert import read_all
from elolab.arena.notation.openings import load_suite
from elolab.arena.notation.pgn import PortableGame
from elolab.engine.errors import UserError
from elolab.engine.games import game_named

GAME = game_named("chess")
LINES = ("e4 e5 Nf3 Nc6 Bb5", "e4 e5 Nf3 Nf6", "d4 d5 c4", "c4 d5 d4", "e4 c5 Nf3", "e4 d5 e5 f5", "g4")


def book_of(lines: tuple[str, ...]) -> bytes:
    """A book with these lines; a move's weight is the number of lines that have it, of ``g4`` it is 0."""
    weights: dict[tuple[int, int], int] = {}
    for line in lines:
        board = chess.Board()
        for name in line.split():
            move = board.parse_san(name)
            entry = chess.polyglot.zobrist_hash(board), move.to_square | move.from_square << 6
            weights[entry] = weights.get(entry, 0) + (name != "g4")
            board.push(move)
    entries = sorted(weights, key=lambda entry: entry[0])
    return b"".join(struct.pack(">QHHI", *entry, weights[entry], 0) for entry in entries)


STRANGE = b"".join(struct.pack(">QHHI", key, 796, 1, 0) for key in (3, 5))


def read(path: Path, plies: int | None = None) -> list[str]:
    (source,) = (ArchiveFile(str(path), path.read_bytes()),)
    archive = format_of(source.data)
    assert archive is not None
    assert archive.name == "Polyglot"
    games = list(archive.read(source, Reading(GAME, plies=plies)))
    assert all(isinstance(game, PortableGame) for game in games)
    return [" ".join(move.move for move in game.moves) for game in games if isinstance(game, PortableGame)]


def test_the_lines_of_a_book_come_by_weight_and_transpositions_once(tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(book_of(LINES))
    assert sorted(read(path)) == [
        "d2d4 d7d5 c2c4", "e2e4 c7c5 g1f3", "e2e4 d7d5 e4e5 f7f5", "e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 e7e5 g1f3 g8f6",
    ]  # fmt: skip
    assert read(path, 1) == ["e2e4", "d2d4", "c2c4"]
    assert len(read(path, 2)) == 5
    with chess.polyglot.open_reader(path) as reader:
        for line in read(path):
            board = chess.Board()
            for move in line.split():
                assert move in {entry.move.uci() for entry in reader.find_all(board)}
                board.push_uci(move)
    suite = load_suite(str(path), "chess", plies=2)
    assert [opening.moves for opening in suite.openings] == [tuple(line.split()) for line in read(path, 2)]


def test_keys_are_those_of_python_chess() -> None:
    chance = random.Random(2)
    for _ in range(6):
        board, position, code = chess.Board(), GAME.position(), -1
        while board.ply() < 80 and not board.is_game_over():
            assert key_of(position, code) == chess.polyglot.zobrist_hash(board)
            pushes = [move for move in board.legal_moves if abs(move.to_square - move.from_square) == 16]
            move = chance.choice(pushes if pushes and chance.random() < 0.4 else list(board.legal_moves))
            board.push(move)
            code = position.code_of(move.uci())
            position.push(move.uci())
    passing = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"
    assert key_of(GAME.position(passing)) == chess.polyglot.zobrist_hash(chess.Board(passing))


def test_castling_is_the_king_taking_its_rook(tmp_path: Path) -> None:
    path = tmp_path / "castling.bin"
    path.write_bytes(book_of(("e4 e5 Nf3 Nc6 Bb5 a6",)))
    board, entries = chess.Board(), {}
    for name in ["e4", "e5", "Nf3", "Nc6", "Bb5", "Nf6", "O-O"]:
        move = board.parse_san(name)
        target = chess.H1 if board.is_castling(move) else move.to_square
        entries[chess.polyglot.zobrist_hash(board)] = struct.pack(">HHI", target | move.from_square << 6, 1, 0)
        board.push(move)
    path.write_bytes(b"".join(struct.pack(">Q", key) + entries[key] for key in sorted(entries)))
    assert read(path) == ["e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (book_of(LINES)[:-5], "truncated: its last entry has 11 of 16 bytes"),
        (STRANGE, "the book has no move for the start position of Chess"),
    ],
)
def test_books_that_are_cut_or_useless_are_one_line(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(data)
    (wrong,) = map(str, read_all(path, Reading(GAME)))
    assert wrong.startswith(f"{path}: {words}")
    with pytest.raises(UserError, match=words):
        load_suite(str(path), "chess")


@pytest.mark.parametrize("data", [bytes(32), bytes(37), book_of(LINES)[5:]])
def test_other_binary_files_are_no_moves(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(data)
    with pytest.raises(UserError) as raised:
        load_suite(str(path), "chess")
    assert str(raised.value).startswith(f"{path}: not text, and no archive that elolab knows")


def test_a_book_is_refused_in_other_games(tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(book_of(LINES))
    with pytest.raises(UserError, match="Polyglot holds games of Chess, not of Othello"):
        load_suite(str(path), "othello")
