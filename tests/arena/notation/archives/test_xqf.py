"""XQF: every version, positions, comments, header; variations are skipped; what is cut, wrong or random is one line."""

from __future__ import annotations

import random

import pytest

from elolab.arena.notation.archives.archive import ArchiveFile, Entry, Reading
from elolab.arena.notation.archives.formats import entries, format_of
from elolab.arena.notation.pgn import PortableGame, PortableGameError
from elolab.engine.games import game_named
from tests.support.archive_writers import Branch, branches, xqf_file

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
ENDGAME = "2bak4/4a4/4b4/9/6R2/9/9/4B4/4A4/2B1KA3 b - - 0 1"
MOVES = "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7"
VERSIONS = (0x01, 0x0A, 0x0B, 0x0C, 0x0F, 0x10, 0x12)


def read(data: bytes, *, plies: int | None = None) -> list[Entry]:
    return list(entries(ArchiveFile("a.xqf", data), Reading(game_named("xiangqi"), plies=plies)))


def game(data: bytes) -> PortableGame:
    (entry,) = read(data)
    assert isinstance(entry, PortableGame), entry
    return entry


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_gives_moves_comments_and_header(version: int) -> None:
    random_bytes = random.Random(version).randbytes
    tree = branches(MOVES, {0: "开局\r\n说明", 2: "好棋"})
    data = xqf_file(
        tree, START, version, keys=random_bytes(4), masks=random_bytes(4), mask=random_bytes(1)[0], result=2,
        event="五羊杯", title="中炮对屏风马", date="1999年7月5日", place="广州", red="许银川", black="呂欽",
        time_rule="60分", annotator="某人",
    )  # fmt: skip
    found = game(data)
    assert format_of(data).name == "XQF"  # type: ignore[union-attr]
    assert " ".join(entry.move for entry in found.moves) == MOVES
    assert [entry.comment for entry in found.moves] == ["", "好棋", "", "", "", ""]
    assert (found.start, found.comment, found.result) == (START, "开局 说明", "0-1")
    assert dict(found.tags) == {
        "Event": "五羊杯", "Site": "广州", "Date": "1999.07.05", "Red": "许银川", "Black": "呂欽",
        "Title": "中炮对屏风马", "TimeControl": "60分", "Annotator": "某人",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("side", [0, 1])
def test_a_game_may_begin_anywhere_and_the_first_move_says_who_moves(version: int, side: int) -> None:
    data = xqf_file(branches("e8d7"), ENDGAME, version, side=side)
    assert game(data).start == ENDGAME
    assert game(xqf_file(Branch(), ENDGAME, version, side=1)).start == ENDGAME
    assert game(xqf_file(Branch(), ENDGAME, version, side=0)).start == ENDGAME.replace(" b ", " w ")


@pytest.mark.parametrize("version", VERSIONS)
def test_variations_are_skipped(version: int) -> None:
    tree = branches("h2e2 h9g7 h0g2")
    second = tree.next[0].next
    second.append(Branch("b9c7", "另一着", [Branch("h0g2"), Branch("b0c2")]))
    tree.next.append(Branch("c3c4"))
    assert " ".join(move.move for move in game(xqf_file(tree, START, version)).moves) == "h2e2 h9g7 h0g2"


@pytest.mark.parametrize(("code", "result"), [(0, "*"), (1, "1-0"), (3, "1/2-1/2"), (4, "1/2-1/2"), (99, "*")])
def test_results(code: int, result: str) -> None:
    assert game(xqf_file(branches("h2e2"), START, 0x12, result=code)).result == result


OLD = xqf_file(branches(MOVES), START, 0x0A)
DATA = xqf_file(branches(MOVES, {3: "注解"}), START, 0x12)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (DATA[:700], "a.xqf: game 1: truncated in the header (700 bytes of 1024)"),
        (DATA[:1026], "a.xqf: game 1: truncated at node 0 of the moves (byte 1024)"),
        (DATA[:1034], "a.xqf: game 1: truncated at node 2 of the moves (byte 1032)"),
        (DATA[:1045], "a.xqf: game 1: truncated or damaged: a comment of 4 bytes at node 3, but 1 are left"),
        (xqf_file(branches("h2e2 h9g6"), START, 0x0B), "a.xqf: game 1, ply 2: illegal move 'h9g6' after 1 move in"),
        (OLD[:16] + bytes(32) + OLD[48:], "a.xqf: game 1: two pieces on a0 at the start"),
    ],
)
def test_what_is_wrong_is_one_line(data: bytes, words: str) -> None:
    (error,) = read(data)
    assert isinstance(error, PortableGameError)
    assert words in str(error)
    assert "\n" not in str(error)


def test_a_wrong_move_behind_the_plies_wanted_does_not_matter() -> None:
    (found,) = read(xqf_file(branches("h2e2 h9g7 h0h9"), START, 0x12), plies=2)
    assert isinstance(found, PortableGame)
    assert len(found.moves) == 2
