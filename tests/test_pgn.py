"""Games as PGN, read back with a small reader of its own."""

from __future__ import annotations

import io
import re

from arena.portable_game_notation import game_text, write_games
from arena.records import GameRecord, MoveRecord, Opening, Pairing
from engine.games import game_named

GAME = game_named("xiangqi")
BLACK_FIRST = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 1"


def record_of(position: str, moves: tuple[MoveRecord, ...], **changes: object) -> GameRecord:
    fields: dict = {
        "key": "0" * 32,
        "pairing": Pairing(5, 2, 0, 1, 0, 0),
        "first": 'Ann "A"',
        "second": "Bob",
        "opening": Opening(position, (), "cannon"),
        "moves": moves,
        "result": "1-0",
        "reason": "checkmate",
        "engine_identity": "0",
        "started_at": "2025-11-21T10:11:12.345+00:00",
    }
    return GameRecord(**(fields | changes))


def test_tags_and_moves() -> None:
    moves = (
        MoveRecord("h9g7", -31, 12, 1000, 430.0),
        MoveRecord("h0g2", 29995, 3, None, 7.0),
        MoveRecord("i9h9", None, None, None, 0.0),
    )
    assert game_text(record_of(BLACK_FIRST, moves), "cup", GAME) == (
        '[Game "Chinese Chess"]\n[Event "cup"]\n[Site "elolab"]\n[Date "2025.11.21"]\n[Round "1.3"]\n'
        '[Red "Ann \\"A\\""]\n[Black "Bob"]\n[Result "1-0"]\n[SetUp "1"]\n'
        f'[FEN "{BLACK_FIRST}"]\n[Opening "cannon"]\n[Format "ICCS"]\n[PlyCount "3"]\n[Termination "checkmate"]\n\n'
        "1... H9-G7 {-0.31/12 0.430s 1000n} 2. H0-G2 {+M3/3 0.007s} I9-H9 {0.000s} 1-0\n"
    )


def test_start_position_has_no_fen_and_faults_are_told() -> None:
    fault = {"fault": {"player": "Bob", "text": "Bob: said {nothing}"}}
    text = game_text(record_of(GAME.start, (), detail=fault, started_at=""), "cup", GAME)
    assert "FEN" not in text
    assert '[Date "????.??.??"]' in text
    assert text.endswith("\n\n{Bob: said (nothing)} 1-0\n")


def test_long_games_wrap_between_words_and_read_back() -> None:
    moves = tuple(MoveRecord(move, number, 5, 1000, 1.0) for number, move in enumerate(["h2e2", "h9g7"] * 40))
    stream = io.StringIO()
    write_games(stream, [record_of(GAME.start, moves)] * 2, "cup", "xiangqi")
    games = re.split(r"\n\n(?=\[Game)", stream.getvalue())
    assert len(games) == 2
    movetext = games[0].split("\n\n")[1]
    assert max(len(line) for line in movetext.splitlines()) <= 80
    words = re.sub(r"\{[^}]*\}", "", movetext.replace("\n", " ")).split()
    assert [word for word in words if "-" in word and word[0].isalpha()] == ["H2-E2", "H9-G7"] * 40
    assert [word for word in words if word.endswith(".")] == [f"{number}." for number in range(1, 41)]
    assert len(re.findall(r"\{\S+ 0\.001s 1000n\}", movetext.replace("\n", " "))) == 80
