"""CBF: moves, head, comments, other encodings, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.arena.notation.archives.archive import ArchiveFile, Reading
from elolab.arena.notation.archives.archive_files import unpacked
from elolab.arena.notation.archives.formats import entries, format_of
from elolab.arena.notation.pgn import PortableGame, PortableGameError
from elolab.engine.games import game_named

GAME = game_named("xiangqi")
ENDING = "3k5/9/9/9/9/9/9/9/4R4/4K4 b - - 0 1"
HEAD = (
    "<Name>一局</Name><URL /><Contest>名手赛</Contest><Round>3</Round><Date>2019-7-31</Date><Site>北京</Site>"
    "<Red>甲</Red><RedTeam>东</RedTeam><Black>乙&amp;丙</Black><ECCO>C61</ECCO><RecordResult>{result}</RecordResult>"
    "<FEN>{fen}</FEN>"
)
MOVES = '<Move value="00-00">开始</Move><Move value="77-47"><![CDATA[当头炮]]></Move><Move value="70-62" end="1"/>'


def cbf(moves: str = MOVES, fen: str = GAME.start, result: int = 1, encoding: str = "UTF-8") -> bytes:
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?>\n<ChineseChessRecord Version="1.0">\n'
        f"<Head>{HEAD.format(fen=fen, result=result)}</Head>\n<MoveList>{moves}</MoveList></ChineseChessRecord>"
    )
    return text.encode(encoding)


def read(data: bytes, plies: int | None = None) -> PortableGame | PortableGameError:
    (entry,) = entries(ArchiveFile("a.cbf", unpacked(data, "a.cbf")), Reading(GAME, plies=plies))
    return entry


@pytest.mark.parametrize("encoding", ["UTF-8", "GBK", "UTF-16"])
def test_a_game(encoding: str) -> None:
    data = cbf(encoding=encoding)
    archive = format_of(unpacked(data, "a.cbf"))
    assert archive is not None
    assert archive.name == "CBF"
    game = read(data)
    assert isinstance(game, PortableGame), game
    assert [(move.move, move.comment) for move in game.moves] == [("h2e2", "当头炮"), ("h9g7", "")]
    assert (game.start, game.result, game.comment) == (GAME.start, "1-0", "开始")
    assert dict(game.tags) == {
        "Event": "名手赛", "Site": "北京", "Date": "2019.07.31", "Round": "3", "Red": "甲", "Black": "乙&丙",
        "RedTeam": "东", "ECCO": "C61",
    }  # fmt: skip


@pytest.mark.parametrize(("result", "meant"), [(0, "*"), (1, "1-0"), (2, "0-1"), (3, "1/2-1/2"), (4, "1/2-1/2")])
def test_results(result: int, meant: str) -> None:
    game = read(cbf(result=result))
    assert isinstance(game, PortableGame)
    assert game.result == meant


def test_a_position_of_its_own_and_fewer_plies() -> None:
    game = read(cbf('<Move value="00-00"/><Move value="30-31"/><Move value="48-41"/>', ENDING), 1)
    assert isinstance(game, PortableGame), game
    assert (game.start, [move.move for move in game.moves]) == (ENDING, ["d9d8"])


def test_what_follows_the_end_or_is_nested_is_another_line() -> None:
    moves = (
        '<Move value="00-00"/><Move value="77-47"><Move value="17-47"/></Move><Move value="70-62" end="1"/>'
        '<Move value="17-47"/>'
    )
    game = read(cbf(moves))
    assert isinstance(game, PortableGame), game
    assert [move.move for move in game.moves] == ["h2e2", "h9g7"]


@pytest.mark.parametrize(("data", "said"), [
    (cbf()[:-30], "truncated or damaged"), (cbf('<Move value="99-47"/>'), "ply 0: '99-47' is not a move"),
    (cbf('<Move value="00-00"/><Move value="77-40"/>'), "ply 1: illegal move 'h2e9'"),
    (cbf(fen="nonsense"), "start position: FEN 'nonsense'"),
    (cbf().replace(b"<Chinese", b'<!DOCTYPE a [<!ENTITY b "c">]><Chinese', 1), "declares no document type"),
])  # fmt: skip
def test_what_is_wrong_is_one_line(data: bytes, said: str) -> None:
    error = read(data)
    assert isinstance(error, PortableGameError)
    assert str(error).startswith("a.cbf: game 1")
    assert said in str(error)
    assert "\n" not in str(error)


def test_a_file_of_it_is_converted(tmp_path: Path) -> None:
    from elolab.arena.notation.archives.formats import load_games

    (tmp_path / "a.cbf").write_bytes(cbf())
    (game,) = load_games(tmp_path / "a.cbf", "xiangqi")
    assert len(game.moves) == 2
