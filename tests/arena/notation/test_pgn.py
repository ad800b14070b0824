"""Games as PGN: written, read back with a small reader of its own, and read as other programs write them."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import pytest

from elolab.arena.notation.archives.formats import load_games
from elolab.arena.notation.pgn import (
    ENCODINGS,
    FORMATS,
    GameWriter,
    PortableGame,
    PortableGameError,
    PortableMove,
    decode_text,
    encode_text,
    format_figures,
    game_text,
    parse_figures,
    portable_game,
    portable_text,
    try_games,
)
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.engine.games import game_named
from elolab.engine.values import BAN, MATE
from tests.support.portable_texts import read_games

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
        f'[FEN "{BLACK_FIRST}"]\n[Opening "cannon"]\n[UTCTime "10:11:12"]\n[Format "ICCS"]\n[PlyCount "3"]\n'
        '[Termination "normal"]\n[Reason "checkmate"]\n\n'
        "1... H9-G7 {-0.31/12 0.430s 1000n} 2. H0-G2 {+M3/3 0.007s} I9-H9 {0.000s}\n{Red wins: checkmate} 1-0\n"
    )


def test_moves_are_numbered_from_the_move_number_of_the_position() -> None:
    start = " ".join([*BLACK_FIRST.split()[:2], "- - 4 17"])
    moves = (MoveRecord("h9g7", 0, 1, 1, 1.0), MoveRecord("h0g2", 0, 1, 1, 1.0))
    assert "\n17... H9-G7 {+0.00/1 0.001s 1n} 18. H0-G2 {+" in game_text(record_of(start, moves), "cup", GAME)


def test_the_count_of_plies_is_that_of_the_moves_shown() -> None:
    moves = (MoveRecord("h9g7", 0, 1, 1, 1.0),)
    text = game_text(record_of(GAME.start, moves, opening=Opening(GAME.start, ("h2e2",), "cannon")), "cup", GAME)
    assert '[PlyCount "2"]' in text
    assert "1. H2-E2 H9-G7" in text


@pytest.mark.parametrize("name", ['a "b"] c', '"]', "\\", 'x\\"'])
def test_names_with_marks_of_tags_are_read_back(name: str) -> None:
    text = game_text(record_of(GAME.start, (), opening=Opening(GAME.start, (), name)), "cup", GAME)
    (game,) = read_games(text, "games.pgn", "xiangqi")
    assert dict(game.tags)["Opening"] == name


def test_start_position_has_no_fen_and_faults_are_told() -> None:
    fault = {"fault": {"player": "Bob", "text": "Bob: said {nothing}"}}
    text = game_text(record_of(GAME.start, (), detail=fault, started_at=""), "cup", GAME)
    assert "FEN" not in text
    assert '[Date "????.??.??"]' in text
    assert text.endswith("\n\n{Bob: said (nothing)} 1-0\n")


def test_long_games_wrap_between_words_and_read_back() -> None:
    moves = tuple(MoveRecord(move, number, 5, 1000, 1.0) for number, move in enumerate(["h2e2", "h9g7"] * 40))
    stream = io.StringIO()
    writer = GameWriter(stream, "cup", "xiangqi")
    for record in [record_of(GAME.start, moves)] * 2:
        writer.write(record)
    games = re.split(r"\n\n(?=\[Game)", stream.getvalue())
    assert len(games) == 2
    movetext = games[0].split("\n\n")[1]
    assert max(len(line) for line in movetext.splitlines()) <= 80
    words = re.sub(r"\{[^}]*\}", "", movetext.replace("\n", " ")).split()
    assert [word for word in words if "-" in word and word[0].isalpha()] == ["H2-E2", "H9-G7"] * 40
    assert [word for word in words if word.endswith(".")] == [f"{number}." for number in range(1, 41)]
    assert len(re.findall(r"\{\S+ 0\.001s 1000n\}", movetext.replace("\n", " "))) == 80


# Reading

FROM_A_COLLECTION = """\
[Game "Chinese Chess"]
[Event "1st Chinese Computer Games Championship, Beijing 2006"]
[Round "1"]
[Date "2006.08.03"]
[Site "北京中国科技馆"]
[RedTeam ""]
[Red "宝岛一号"]
[Black "相眼竞技"]
[Result "0-1"]
[ECCO "C48"]
[Opening "中炮过河车互进七兵对屏风马平炮兑车"]
  1. 炮八平五 马２进３
  2. 马八进七 车１平２
  3. 车九平八 马８进７
  0-1
============================
欢迎访问《象棋百科全书》网站 (推荐用“象棋巫师”观赏棋谱
http://www.elephantbase.net/
"""

SEVERAL_GAMES = """\
% a line for other programs
[Event "one"] [Format "WXF"]
{before} 1.C2.5 $1 {the first comment
goes on} H8+7!? ; a comment to the end of the line (
2. H2+3 (2. R1+1 (2. P3+1 {in ) a comment}) H2+3) 2...R9=8 {a} {b} 1/2-1/2

[Event "two"]
[FEN "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR r - - 0 1"]
1.H2+3 1-0
[Event "no moves"]
[Result "0-1"]
[Event "no result"]
1. h2e2 1... h9g7 2.H0-G2
"""


def read_all(text: str, ranks: str = "0") -> list[PortableGame]:
    return list(read_games(text, "some.pgn", "xiangqi", ranks))


def moves_of(portable: PortableGame) -> str:
    return " ".join(entry.move for entry in portable.moves)


def random_game(seed: int, plies: int) -> PortableGame:
    """A game of random moves, every third with a comment, from the start or a position with Black to move."""
    chooser = random.Random(seed)
    start = BLACK_FIRST if seed % 2 else GAME.start
    position = GAME.position(start)
    moves = []
    for ply in range(plies):
        move = chooser.choice(position.legal_moves())
        position.push(move)
        moves.append(PortableMove(move, "" if ply % 3 else f"+0.{ply:02d}/{ply} 0.100s; 好棋 (1-0)" + " very" * 9))
    tags = (("Event", 'a "quoted" \\ name'), ("Red", "甲"), ("Black", "乙"), ("ECCO", "C48"), ("RedElo", "2500"))
    comment = "before the first move" if seed % 3 else ""
    return PortableGame(tags, start, tuple(moves), ("1-0", "0-1", "1/2-1/2", "*")[seed % 4], comment)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("notation", FORMATS)
def test_round_trips_are_exact_in_every_notation_and_encoding(notation: str, encoding: str) -> None:
    games = [random_game(seed, 60) for seed in range(4)]
    text = "\n".join(portable_text(portable, GAME, notation) for portable in games)
    again = read_all(decode_text(encode_text(text, encoding, "some.pgn"), "some.pgn"))
    for before, after in zip(games, again, strict=True):
        assert (after.start, after.moves, after.result, after.comment) == (
            before.start, before.moves, before.result, before.comment,
        )  # fmt: skip
        assert after.notation == notation
        assert after.tag("Format") == FORMATS[notation]
        for name, value in before.tags:
            assert after.tag(name) == value
    assert "\n".join(portable_text(portable, GAME, notation) for portable in again) == text


def test_games_of_a_run_are_read_back_with_their_figures() -> None:
    played = (
        MoveRecord("h9g7", -31, 12, 1000, 430.0, " ".join(["h9g7", "h0g2"] * 10)),
        MoveRecord("h0g2", None, None, None, 7.0),
    )
    fault = {"fault": {"player": "Bob", "text": "Bob: crashed"}}
    record = record_of(GAME.start, played, opening=Opening(GAME.start, ("h2e2",), "cannon"), detail=fault)
    for notation in FORMATS:
        (again,) = read_all(portable_text(portable_game(record, "cup", GAME), GAME, notation))
        assert moves_of(again) == "h2e2 h9g7 h0g2"
        assert [entry.figures for entry in again.moves] == [None, *played]
        assert again.moves[2].comment == "0.007s Bob: crashed"
        assert again.moves[1].comment.endswith(', pv="' + "h9g7 h0g2 " * 9 + 'h9g7 h0g2"')
        assert (again.tag("Termination"), again.tag("Reason")) == ("normal", "checkmate")
    assert portable_game(record, "cup", GAME).closing_comment == "Bob: crashed"


def test_chinese_games_are_written_as_their_programs_expect() -> None:
    moves = tuple(PortableMove(move) for move in ("h2e2", "h9g7", "h0g2"))
    portable = PortableGame((("Red", "甲"),), GAME.start, moves, "*")
    assert portable_text(portable, GAME, "chinese") == (
        '[Game "Chinese Chess"]\n[Red "甲"]\n[Result "*"]\n[Format "Chinese"]\n\n1. 炮二平五 马８进７ 2. 马二进三 *\n'
    )
    assert "馬８進７" in portable_text(portable, GAME, "traditional")
    assert "1. C2=5 H8+7 2. H2+3 *" in portable_text(portable, GAME, "wxf")


def test_lines_of_chinese_fit_the_terminal() -> None:
    text = portable_text(random_game(2, 60), GAME, "chinese")
    for line in text.partition("\n\n")[2].splitlines():
        assert sum(2 if character > "\u2e80" else 1 for character in line) <= 80


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_collections_file_in_any_encoding(tmp_path: Path, encoding: str, line_end: str) -> None:
    path = tmp_path / "game.pgn"
    path.write_bytes(FROM_A_COLLECTION.replace("\n", line_end).encode(encoding))
    (portable,) = load_games(path, "xiangqi")
    assert moves_of(portable) == "b2e2 b9c7 b0c2 a9b9 a0b0 h9g7"
    assert portable.result == "0-1"
    assert portable.notation == "chinese"
    assert portable.tag("red") == "宝岛一号"
    assert portable.tag("ECCO") == "C48"
    assert portable.tag("RedTeam") == portable.tag("nothing") == ""


def test_several_games_comments_variations_marks_and_glued_numbers() -> None:
    first, second, third, fourth = read_all(SEVERAL_GAMES)
    assert moves_of(first) == "h2e2 h9g7 h0g2 i9h9"
    assert first.comment == "before"
    comments = [entry.comment for entry in first.moves]
    assert comments == ["the first comment goes on", "a comment to the end of the line (", "", "a b"]
    assert (first.result, first.notation) == ("1/2-1/2", "wxf")
    assert (moves_of(second), second.result) == ("h0g2", "1-0")
    assert second.start == "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 0 1"
    assert (third.moves, third.result) == ((), "0-1")
    assert (moves_of(fourth), fourth.result, fourth.notation) == ("h2e2 h9g7 h0g2", "*", "iccs")


@pytest.mark.parametrize(
    "text",
    [
        "1. 炮二平五 马8进7 2. 马二进三",
        "1.炮二平五 马8进7 2．马二进三 *",
        "１、炮二平五 馬８進７ ２、馬二進三",
        "炮二平五 H8+7 h0g2",
        "1 C2=5 H8+7 2 H2+3",
        "1. C2=5 .... 1. ... H8+7 2. H2+3",
        "1. C2=5 …… H8+7 2.…H2+3",
        "1. H2-E2 h9g7 ! 2. H0G2 ??",
    ],
)
def test_mere_moves_in_many_spellings(text: str) -> None:
    (portable,) = read_all(text)
    assert moves_of(portable) == "h2e2 h9g7 h0g2"


@pytest.mark.parametrize(("encoding", "damage"), [("utf-8", "车".encode()[:1]), ("gb18030", b"\xff")])
def test_a_damaged_character_costs_no_more_than_its_game(encoding: str, damage: bytes) -> None:
    whole = '[Red "甲"]\n[Black "乙"]\n1. 炮二平五 马8进7 2. 马二进三 1-0\n\n'.encode(encoding)
    wrong = whole.replace("马8".encode(encoding), damage + b"8")
    games = list(try_games(decode_text(whole + wrong + whole, "x.pgn"), "x.pgn", "xiangqi"))
    assert [moves_of(game) for game in games if isinstance(game, PortableGame)] == ["h2e2 h9g7 h0g2"] * 2
    assert str(games[1]).startswith("x.pgn: game 2, line 7: Black's move 1: cannot read move '\ufffd8")


def test_a_pawns_move_is_not_taken_for_a_number() -> None:
    start = '[FEN "4k4/9/6P2/6P2/6P2/6P2/9/9/9/3K5 w"]\n'
    for moves in ("1. 13.4 K5+1 2.23=4", "1.++.4 K5+1 2. 23.4", "1.13.4 K5+1 2.P3.4"):
        (portable,) = read_all(start + moves)
        assert moves_of(portable) == "g7f7 e9e8 g5f5"


def test_moves_with_ranks_from_one() -> None:
    text = "1. h3e3 h10g8 2. h1g3"
    for ranks in ("1", "auto"):
        (portable,) = read_all(text, ranks)
        assert moves_of(portable) == "h2e2 h9g7 h0g2"
    with pytest.raises(PortableGameError, match="Red's move 1"):
        read_all(text)
    with pytest.raises(PortableGameError, match=r"game 1, line 1: .*say --ranks"):
        read_all('[FEN "4k4/9/9/9/9/9/9/R8/R8/3K5 w"]a2b2', "auto")
    (portable,) = read_all("1. C2=5 H8+7", "auto")
    assert moves_of(portable) == "h2e2 h9g7"


@pytest.mark.parametrize(("ranks", "words"), [("0", r"\('A0-A9'\): "), ("1", r"\('A1-A10', ranks from 1\): ")])
def test_an_illegal_move_is_quoted_in_the_ranks_in_which_it_was_read(ranks: str, words: str) -> None:
    with pytest.raises(PortableGameError, match=f"Red's move 1 {words}illegal move 'a0a9'"):
        read_all("1. A0-A9" if ranks == "0" else "1. A1-A10", ranks)


def test_a_position_of_another_game_is_called_that() -> None:
    start = game_named("chess").start
    with pytest.raises(PortableGameError, match=r"line 1: \[FEN .*\]: a position of chess, not of xiangqi"):
        list(read_games(f'[FEN "{start}"]\n\n1. e4 *', "some.pgn", "xiangqi"))


def test_the_expected_tag_is_one_of_the_game() -> None:
    with pytest.raises(PortableGameError, match=r'expected a tag such as \[White "name"\] and moves'):
        list(read_games("", "some.pgn", "chess"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "some.pgn: no games in it"),
        ("\n\n", "no games in it"),
        ('[Game "Chess"]\n*', r'game 1, line 1: \[Game "Chess"\]: expected "Chinese Chess"'),
        ('[Event "x"]\n[FEN "nonsense w"]\n*', "game 1, line 2: FEN 'nonsense w'"),
        ('[Result "maybe"]\n*', r'line 1: \[Result "maybe"\]: expected one of 1-0'),
        ('\n[Result "1-0"]\n1. C2=5 0-1', r'line 2: \[Result "1-0"\] but 0-1 after the moves'),
        ("1. C2=5 *\n1. C2=5 H8+7\n2. C2=5", "game 2, line 3: Red's move 2: no legal move is 'C2=5' after 2 moves"),
        ("1. C2=5\nH8+6", "game 1, line 2: Black's move 1: no legal move is 'H8[+]6'"),
        ("1. C2=5 hello", "line 1: Black's move 1: cannot read move 'hello'"),
        (f'[FEN "{BLACK_FIRST}"]\n1... H8+7 H2+3 H8+7', "line 2: Black's move 2: no legal move"),
        ('[Event "x"\n*', r"line 1: cannot read '\[Event': expected a tag"),
        ("1. C2=5\n{a\nb\nc", "game 1, line 2: the comment that begins here is not closed"),
        ("C2=5 }", "a '}' without its '{'"),
        ("C2=5 )", r"a '\)' without its '\('"),
        ("C2=5\n(H8+7\n(H2+3)", "line 2: the variation that begins here is not closed"),
        ("C2=5 1-0 H8+7", r"the move 'H8\+7' follows the result 1-0"),
    ],
)
def test_errors_name_file_game_line_and_move(text: str, words: str) -> None:
    with pytest.raises(PortableGameError, match=words) as raised:
        read_all(text)
    assert str(raised.value).startswith("some.pgn: ")
    assert "\n" not in str(raised.value)


def test_text_in_neither_encoding_and_characters_an_encoding_lacks() -> None:
    with pytest.raises(PortableGameError, match=r"x.pgn: line 2: neither UTF-8 nor GBK text \(byte 2\)"):
        decode_text(b"a\n\xff\xff", "x.pgn")
    with pytest.raises(PortableGameError, match=r"x.pgn: line 2: gbk has no '😀'; use --encoding utf-8"):
        encode_text("a\n😀", "gbk", "x.pgn")
    with pytest.raises(PortableGameError, match=r"nowhere.pgn: cannot be read"):
        load_games(Path("nowhere.pgn"), "xiangqi")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (MoveRecord("h2e2", 31, 12, 1000, 430.0), "+0.31/12 0.430s 1000n"),
        (MoveRecord("h2e2", -1234, None, None, 7.0), "-12.34 0.007s"),
        (MoveRecord("h2e2", None, 3, 5, 0.0), "/3 0.000s 5n"),
        (MoveRecord("h2e2", None, None, None, 1500.0), "1.500s"),
        (MoveRecord("h2e2", MATE - 5, 3, None, 0.0), "+M3/3 0.000s"),
        (MoveRecord("h2e2", 6 - MATE, 3, None, 0.0), "-M3/3 0.000s"),
        (MoveRecord("h2e2", BAN, 3, None, 0.0), "+R/3 0.000s"),
        (MoveRecord("h2e2", -BAN, 3, None, 0.0), "-R/3 0.000s"),
    ],
)
def test_figures_are_read_as_they_are_written(entry: MoveRecord, text: str) -> None:
    assert format_figures(entry) == text
    assert parse_figures("h2e2", text) == entry
    assert parse_figures("h2e2", f"{text}, and more") == entry


@pytest.mark.parametrize("comment", ["", "good move", "+0.31/12", "0.43", "12 1.5s", "x 0.43s", "0.43seconds"])
def test_other_comments_are_no_figures(comment: str) -> None:
    assert parse_figures("h2e2", comment) is None


WINBOARD = """[Event "Computer Chess Game"]
[White "A (UCI2WB)"]
[Black "B (UCCI2WB)"]
[Result "*"]
[Variant "xiangqi"]

1. Cbe2 {+0.38/19} Hg7 2. Hc2 {+0.30/18 41} Cd7 3. c4 {+0.75/18 40} g5 4.
Rb0 {+0.64/18 39} Ege7 {-0.20/11 22} 5. Chf2 Afe8 6. Hi2 Rf9 *
"""
BANKSIA = """[White "P"]
[Black "C"]
[Result "0-1"]

1.c4 g5 2.Che2 {E40: Pawn vs. Pawn}  Nc7
3.Nc2 Ng7 4.Nd4 Rh9
5.Ng2 Ci7 6.Ri1 Bce7
7.Cb4 Ade8 8.Cd2 a5
9.Bce2 Ra6 10.Raa1 Rh6
11.Cb0 e5 12.Cc0 {End of opening}  e4
13.Nxc6 Rd6 14.Cdc2 Nce6
15.xe4 Nf4 0-1
"""
CUTECHESS = """[White "A"]
[Black "B"]
[Result "1/2-1/2"]

1. Hg3 {+0.20/10 0.5s} Hc8 2. c5 Hg8 3. Hc3 {book} Pg6 4. Ra2 Cb4 5. Rf2 Cd4 1/2-1/2
"""


@pytest.mark.parametrize(("text", "first", "last"), [
    (WINBOARD, "b2e2 h9g7 b0c2 b7d7", "i9f9"), (BANKSIA, "c3c4 g6g5 h2e2 b9c7", "e6f4"),
    (CUTECHESS, "h0g2 b9c7 c3c4 h9g7 b0c2 g6g5 a0a1 b7b3 a1f1", "b3d3"),
])  # fmt: skip
@pytest.mark.parametrize("ranks", ["0", "1", "auto"])
def test_san_is_read_as_western_programs_write_it(text: str, first: str, last: str, ranks: str) -> None:
    (game,) = read_games(text, "a.pgn", "xiangqi", ranks)
    moves = [move.move for move in game.moves]
    assert " ".join(moves).startswith(first)
    assert moves[-1] == last
    assert game.notation == "iccs"
    (again,) = read_games(portable_text(game, GAME), "b.pgn", "xiangqi")
    assert again.moves == game.moves


def test_the_first_player_of_western_files_is_red() -> None:
    (game,) = read_games(BANKSIA, "a.pgn", "xiangqi")
    assert (game.tag("Red"), game.tag("Black"), game.tag("White"), game.name(GAME)) == ("P", "C", "", "P - C")
    othello = game_named("othello")
    (game,) = read_games('[Black "P"]\n[White "C"]\n\n1. d3 *', "a.pgn", "othello")
    assert game.name(othello) == "P - C"


def test_short_games_in_san_count_ranks_as_the_others_of_their_file() -> None:
    """``Ra2`` is legal with ranks from 0 and from 1; ``Che3`` and ``Ra1`` as first moves only in one of them."""
    for text, moves in (("1. Ra2 *\n1. Che3 *", "a0a1"), ("1. Ra2 *\n1. Ra1 *", "a0a2"), ("1. Ra2 *", "a0a2")):
        first, *_ = read_games(text, "a.pgn", "xiangqi")
        assert [move.move for move in first.moves] == [moves], text
    (alone,) = read_games("1. Ra2 *", "a.pgn", "xiangqi", "1")
    assert alone.moves[0].move == "a0a1"
    with pytest.raises(PortableGameError, match="say --ranks 0 or --ranks 1"):
        list(read_games("1. Ra2 *", "a.pgn", "xiangqi", "auto"))


@pytest.mark.parametrize("text", ["+1.0/{} 1s", "+M{}/3 1s", "+1.0/3 {}s", "+{}.0/3 1s"])
def test_figures_of_thousands_of_digits_are_none(text: str) -> None:
    """Python refuses to read them, or takes them for infinite."""
    assert parse_figures("h2e2", text.format("9" * 5000)) is None
    entry = parse_figures("h2e2", f"+1.0/3 1s {'9' * 5000}n")
    assert entry is not None
    assert (entry.depth, entry.nodes) == (3, None)
