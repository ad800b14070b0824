"""DhtmlXQ: a published game, positions, pages with several games, and damage."""

from __future__ import annotations

import pytest

from elolab.arena.notation.archives.archive import ArchiveFile, Entry, Reading
from elolab.arena.notation.archives.archive_files import unpacked
from elolab.arena.notation.archives.formats import entries
from elolab.arena.notation.pgn import PortableGame, PortableGameError
from elolab.engine.games import game_named

MENG_LIU = """
<html>[DhtmlXQ]
[DhtmlXQ_binit]8979695949392919097717866646260600102030405060708012720323436383[/DhtmlXQ_binit]
[DhtmlXQ_title]中炮对左三步虎[/DhtmlXQ_title]
[DhtmlXQ_movelist]77477062796780701927728266652324170710220919001089881216885870761918766658576364187816120708\
625408688252575466672748676647676646656460826777527277473041542420422423725248674656681810306463303418165657161757566362\
525478755444594822306261121117165657675534352343575575553555434455656151656948596964474241524445[/DhtmlXQ_movelist]
[DhtmlXQ_open]中炮对左三步虎[/DhtmlXQ_open]
[DhtmlXQ_event]2025年第五届上海杯象棋大师公开赛[/DhtmlXQ_event]
[DhtmlXQ_place]上海[/DhtmlXQ_place]
[DhtmlXQ_date]2025-09-27[/DhtmlXQ_date]
[DhtmlXQ_result]红胜[/DhtmlXQ_result]
[DhtmlXQ_red]成都 孟辰[/DhtmlXQ_red]
[DhtmlXQ_black]江苏 刘柏宏[/DhtmlXQ_black]
[/DhtmlXQ]</html>"""
"""A game of a tournament, as sites hand it on."""

TREE = """[DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist][DhtmlXQ_move_0_2_1]10228988[/DhtmlXQ_move_0_2_1]
[DhtmlXQ_move_1_3_4]7967[/DhtmlXQ_move_1_3_4][DhtmlXQ_comment0]说明||第二行[/DhtmlXQ_comment0]
[DhtmlXQ_comment2]马[一][/DhtmlXQ_comment2][DhtmlXQ_comment1_2]另一马[/DhtmlXQ_comment1_2]"""


def read(text: str, *, encoding: str = "gb18030") -> list[Entry]:
    source = ArchiveFile("a.ubb", unpacked(text.encode(encoding), "a.ubb"))
    return list(entries(source, Reading(game_named("xiangqi"))))


def moves_of(entry: Entry) -> str:
    assert isinstance(entry, PortableGame), entry
    return " ".join(move.move for move in entry.moves)


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8-sig", "utf-16"])
def test_a_published_game(encoding: str) -> None:
    (found,) = read(MENG_LIU, encoding=encoding)
    assert isinstance(found, PortableGame)
    assert len(found.moves) == 77
    assert moves_of(found).startswith("h2e2 h9g7 h0g2 i9h9 b0c2")
    assert (found.start, found.result) == (game_named("xiangqi").start, "1-0")
    assert found.tag("Red") == "成都 孟辰"
    assert found.tag("Date") == "2025.09.27"
    assert found.tag("Opening") == "中炮对左三步虎"


def test_comments_are_read_and_variations_are_skipped() -> None:
    (main,) = read(TREE)
    assert isinstance(main, PortableGame)
    assert moves_of(main) == "h2e2 h9g7 h0g2"
    assert main.comment == "说明 第二行"
    assert main.moves[1].comment == "马[一]"


def test_games_follow_one_another_and_the_mover_of_the_first_move_begins() -> None:
    squares = ["99"] * 32
    squares[4], squares[16], squares[20] = "49", "00", "30"
    endgame = f"[DhtmlXQ_binit]{''.join(squares)}[/DhtmlXQ_binit]"
    first, second, third = read(f"{TREE}[DhtmlXQ_movelist]3031[/DhtmlXQ_movelist]{endgame}{TREE}")
    assert moves_of(first) == moves_of(third) == "h2e2 h9g7 h0g2"
    assert isinstance(second, PortableGame)
    assert (second.start, moves_of(second)) == ("r2k5/9/9/9/9/9/9/9/9/4K4 b - - 0 1", "d9d8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[DhtmlXQ_movelist]774", "a.ubb: game 1: truncated: [DhtmlXQ_movelist] is missing or has no end"),
        (
            "[DhtmlXQ_movelist]774[/DhtmlXQ_movelist]",
            "a.ubb: game 1, ply 1: truncated or damaged: [DhtmlXQ_movelist]: 3 dig",
        ),
        (
            "[DhtmlXQ_movelist]77x7[/DhtmlXQ_movelist]",
            "a.ubb: game 1, ply 2: truncated or damaged: [DhtmlXQ_movelist]: 'x'",
        ),
        ("[DhtmlXQ_movelist]7797[/DhtmlXQ_movelist]", "a.ubb: game 1, ply 1: file 10, rank 2 is off the board"),
        ("[DhtmlXQ_movelist]77477747[/DhtmlXQ_movelist]", "a.ubb: game 1, ply 2: illegal move 'h2e2'"),
        ("[DhtmlXQ_binit]12[/DhtmlXQ_binit]", "a.ubb: game 1: [DhtmlXQ_binit]: 2 characters, expected 64 digits"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, words: str) -> None:
    (error,) = read(text)
    assert isinstance(error, PortableGameError)
    assert words in str(error)
    assert "\n" not in str(error)
