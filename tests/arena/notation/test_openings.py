"""Opening suites: reading, refusing, halves, order, generating."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from elolab.arena.notation.openings import (
    Suite,
    entries_of,
    identity_of,
    is_reserved_for_validation,
    load_suite,
    placement_of,
    split_line,
    suite_of_file,
    suite_text,
    write_suite,
)
from elolab.arena.play.tournament_run import prepare
from elolab.arena.records import Opening
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.settings.configuration import available_configs
from tests.support.portable_texts import parse_suite

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
AFTER_CANNON = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 1"
AFTER_HORSE = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C4NC1/9/RNBAKAB1R b - - 1 1"
MATED = "R3k4/R8/9/9/9/9/9/9/9/3K5 b - - 0 1"


def suite_of(size: int) -> Suite:
    return Suite("made up", tuple(Opening(f"k{number}/9 w - - 0 1") for number in range(size)))


def test_reading_epd() -> None:
    text = f'# comment\n\n{START}; id "start"\n{AFTER_CANNON} ; c0 "x"; id cannon ;\n{AFTER_HORSE}  # a comment\n'
    suite = parse_suite(text, "some/mine.epd.gz", "xiangqi")
    assert [opening.name for opening in suite.openings] == ["start", "cannon", "mine 3"]
    assert [opening.position for opening in suite.openings] == [START, AFTER_CANNON, AFTER_HORSE]


BARE = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b"


@pytest.mark.parametrize(
    ("line", "position", "name"),
    [
        (f"{BARE} - - hmvc 3; fmvn 7;", f"{BARE} - - 3 7", ""),
        (f'{BARE} - - bm h9g7 b9c7; id "a; b # c"; c0 "id wrong";', f"{BARE} - -", "a; b # c"),
        (f"{BARE} - - 1 4 ce 35; id two words; acd 12", f"{BARE} - - 1 4", "two words"),
        (f'{BARE} - - 1 4; hmvc 9; id "x" # id "y"', f"{BARE} - - 1 4", "x"),
        (f'  {BARE};id "tight";  ', BARE, "tight"),
        (f'{BARE} - - 0 1; id "never closed', f"{BARE} - - 0 1", "never closed"),
        (f"{BARE} - - what is this", f"{BARE} - - what is this", ""),
        ('# nothing; id "x"', "", ""),
        ("   ", "", ""),
        ('-XO- X; id "eight"; ce -300', "-XO- X", "eight"),
    ],
)
def test_lines_of_epd(line: str, position: str, name: str) -> None:
    assert split_line(line) == (position, name)


def test_counters_of_epd_are_those_of_the_position() -> None:
    suite = parse_suite(f'{BARE} - - hmvc 3; fmvn 7;\n{BARE.replace(" b", " w")} - - id "red";', "a.epd", "xiangqi")
    assert [opening.position.split()[4:] for opening in suite.openings] == [["3", "7"], ["0", "1"]]
    assert suite.openings[1].name == "red"


@pytest.mark.parametrize(
    ("lines", "number", "words"),
    [
        ([START, "rnbakabnr/9/1c5c1/p1p1p1p1p w"], 2, "mine.epd"),
        (["#", START, "", START], 4, "line 2"),
        ([MATED], 1, "over"),
        ([START, f"{AFTER_CANNON} moves h9g7"], 2, "give the position that they lead to"),
        ([f'{AFTER_CANNON} moves h9g7; id "x"'], 1, "give the position that they lead to"),
        ([START, "4k4/9/9/9/9/9/9/9/9/4K4 w - - 0 1"], 2, "mine.epd"),
    ],
)
def test_wrong_lines_are_named(lines: list[str], number: int, words: str) -> None:
    with pytest.raises(UserError, match=rf"mine.epd: line {number}: ") as raised:
        parse_suite("\n".join(lines), "mine.epd", "xiangqi")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_empty_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no openings in it"):
        parse_suite("# nothing\n", "mine.epd", "xiangqi")
    damaged = tmp_path / "mine.epd.gz"
    damaged.write_bytes(gzip.compress(START.encode())[:-10])
    with pytest.raises(UserError, match=r"mine.epd.gz: the compressed file is damaged"):
        load_suite(str(damaged), "xiangqi")
    with pytest.raises(UserError, match="no opening suite 'nowhere'"):
        load_suite("nowhere", "xiangqi")


def test_a_suite_of_another_game_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.epd"
    path.write_text(START, "utf-8")
    with pytest.raises(UserError) as raised:
        load_suite(str(path), "chess")
    assert str(raised.value) == f"{path}: a suite of xiangqi, not of chess"


@pytest.mark.parametrize("name", ["nowhere", "xiangqi"])
def test_a_suite_that_a_file_names_wrongly_is_found_by_file_and_key(name: str) -> None:
    with pytest.raises(UserError, match=rf"^cup\.toml: openings = '{name}': "):
        suite_of_file(name, "chess", "cup.toml")
    with pytest.raises(UserError, match=r"^no opening suite 'nowhere'"):
        suite_of_file("nowhere", "chess", "match")


def test_plain_and_compressed_files_are_the_same_suite(tmp_path: Path) -> None:
    text = suite_text([START, AFTER_CANNON], ["made by hand"])
    for name in ("a.epd", "b.epd.gz"):
        write_suite(tmp_path / name, text)
    plain, compressed = (load_suite(str(tmp_path / name), "xiangqi") for name in ("a.epd", "b.epd.gz"))
    assert plain.digest == compressed.digest
    assert (tmp_path / "b.epd.gz").read_bytes()[:2] == b"\x1f\x8b"
    before = (tmp_path / "b.epd.gz").read_bytes()
    write_suite(tmp_path / "b.epd.gz", text)
    assert (tmp_path / "b.epd.gz").read_bytes() == before


GAMES = """\
[Red "Ann"] [Black "Bob"]
1. C2=5 H8+7 2. H2+3 1-0
[Opening "the mirror image"]
1. C8=5 H2+3 2. R1+1 *
1. H2+3 *
"""


def test_first_moves_of_games_are_openings(tmp_path: Path) -> None:
    path = tmp_path / "mine.pgn.gz"
    path.write_bytes(gzip.compress(GAMES.encode("gbk")))
    suite = load_suite(str(path), "xiangqi", plies=2)
    assert suite.name == "mine"
    assert suite.openings == (
        Opening(START, ("h2e2", "h9g7"), "Ann - Bob"),
        Opening(START, ("h0g2",), "mine 3"),
    )
    whole = load_suite(str(path), "xiangqi")
    assert [opening.name for opening in whole.openings] == ["Ann - Bob", "the mirror image", "mine 3"]
    assert whole.openings[1].moves == ("b2e2", "b9c7", "i0i1")
    assert whole.digest != suite.digest


@pytest.mark.parametrize(
    "movetext",
    [
        "1. h2e2 h9g7 2. h0g2 i9h9",
        "1. H2-E2 {central cannon} H9-G7 (1... b9c7 2. h0g2 (2. b0c2)) 2. H0-G2 $1 I9-H9",
        "1. C2=5 H8+7 2. H2+3 R9=8",
        "1. 炮二平五 馬8進7 2. 馬二進三 車9平8",
        "1. 炮二平五 马８进７ 2. 马二进三 车９平８",
        "1. h3e3 h10g8 2. h1g3 i10h10",
    ],
)
def test_games_in_every_notation_are_the_same_opening(tmp_path: Path, movetext: str) -> None:
    path = tmp_path / "mine.pgn.gz"
    path.write_bytes(gzip.compress(f'[Event "x"]\n[Result "*"]\n\n{movetext} *\n'.encode()))
    for plies in (2, 4):
        expected = ("h2e2", "h9g7", "h0g2", "i9h9")[:plies]
        assert load_suite(str(path), "xiangqi", plies=plies).openings[0].moves == expected


def test_ranks_are_counted_in_the_base_in_which_the_whole_file_is_legal(tmp_path: Path) -> None:
    path = tmp_path / "mine.pgn"
    # The first game could be read either way.
    path.write_text("1. h3h4 *\n1. h3e3 h10g8 *\n")
    assert [opening.moves for opening in load_suite(str(path), "xiangqi").openings] == [("h2h3",), ("h2e2", "h9g7")]
    path.write_text("1. h3e3 *\n1. h2e2 *\n1. h2e2 h9g7 *")
    with pytest.raises(UserError, match=r"game 1, line 1"):
        load_suite(str(path), "xiangqi")


def test_games_from_positions_of_both_games(tmp_path: Path) -> None:
    path = tmp_path / "mine.pgn"
    path.write_text(f'[FEN "{AFTER_CANNON}"]\n[SetUp "1"]\n1... h9g7 2. h0g2 *\n')
    (opening,) = load_suite(str(path), "xiangqi", plies=1).openings
    assert (opening.position, opening.moves) == (AFTER_CANNON, ("h9g7",))
    board = game_named("othello").position(moves=["d3"]).text
    games = f'[Game "Othello"]\n[FEN "{board}"]\n1... C3 {{book}} 2. c4 (2. e6) *\n[Game "Othello"]\n1. d3 c3 *'
    path.write_text(games)
    first, *others = load_suite(str(path), "othello", plies=1).openings
    assert (first.position, first.moves) == (board, ("c3",))
    assert [opening.moves for opening in others] == [("d3",)]


def test_openings_reached_by_other_moves_or_turned_are_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.pgn"
    lines = ("1. h2e2 h9g7 2. h0g2", "1. b0c2 h9g7 2. h2e2", "1. h0g2 b9c7 2. b2e2", "1. h2e2 h9g7 2. b0c2")
    path.write_text("\n".join(f"{line} *" for line in lines))
    assert len(load_suite(str(path), "xiangqi").openings) == 2
    path.write_text("\n".join(f"1. {move} *" for move in ("d3", "c4", "f5", "e6")))
    assert len(load_suite(str(path), "othello").openings) == 1


def test_entries_tell_what_is_wrong_and_go_on(tmp_path: Path) -> None:
    path = tmp_path / "mine.epd.gz"
    path.write_bytes(gzip.compress(f'{START}; id "a"\n{START}\nnonsense\n{MATED}\n{AFTER_HORSE}\n'.encode()))
    entries = list(entries_of(path, "xiangqi"))
    assert [entry.name if isinstance(entry, Opening) else str(entry).split(": ")[1] for entry in entries] == [
        "a", "", "line 3", "line 4", ""
    ]  # fmt: skip
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bad.epd").write_bytes(b"\xff\xff\xff")
    (tmp_path / "folder" / "good.epd").write_text(f"{START}\n")
    bad, good = entries_of(tmp_path / "folder", "xiangqi")
    assert "bad.epd" in str(bad)
    assert isinstance(good, Opening)
    games = tmp_path / "mine.pgn"
    games.write_text("1. h2e2 *\n1. h2h8 *\n1. h0g2 *\n")
    found = list(entries_of(games, "xiangqi"))
    assert [entry.moves if isinstance(entry, Opening) else str(entry)[-20:] for entry in found][::2] == [
        ("h2e2",), ("h0g2",)
    ]  # fmt: skip
    assert "game 2, line 2: Red's move 1" in str(found[1])


def test_a_tournament_says_how_many_plies_of_a_game_it_takes(tmp_path: Path) -> None:
    (tmp_path / "mine.pgn").write_text(GAMES)
    data = {
        "pairs": 2, "limit": "nodes=10", "openings": "mine.pgn", "opening_order": "sequential",
        "players": [{"name": "a"}, {"name": "b"}],
    }  # fmt: skip
    for plies, moves in ((None, ("b2e2", "b9c7", "i0i1")), (1, ("h0g2",))):
        more = {} if plies is None else {"opening_plies": plies}
        plan = prepare(spec_from_mapping(data | more, str(tmp_path / "mine.toml")))
        assert plan.suite.openings[plan.order[1]].moves == moves


def test_wrong_games_are_no_openings(tmp_path: Path) -> None:
    path = tmp_path / "mine.pgn"
    path.write_text('[FEN "4k4/R8/1R7/9/9/9/9/9/9/3K5 w"]\n1. R8+2 *')
    with pytest.raises(UserError, match=r"mine.pgn: game 1: the game is over at ply 1 \(checkmate\); give a smaller"):
        load_suite(str(path), "xiangqi")
    path.write_text("1. C2=5 C2=6 C2=4")
    with pytest.raises(UserError, match=r"mine.pgn: game 1, line 1: Red's move 2: no legal move is 'C2=4'"):
        load_suite(str(path), "xiangqi")


def test_halves_are_disjoint_and_complete_and_follow_the_rule() -> None:
    suite = suite_of(1000)
    tournament, validation = suite.part("tournament").indices, suite.part("validation").indices
    assert sorted(tournament + validation) == list(range(1000))
    assert 400 < len(tournament) < 600
    for index in (tournament[0], validation[0]):
        reserved = hashlib.sha256(f"{placement_of(suite.openings[index].position)}".encode()).digest()[-1] % 2 == 1
        assert reserved == (index in validation)


def test_half_of_a_position_depends_neither_on_counters_nor_on_its_mirror_image() -> None:
    mirrored = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/4C2C1/9/RNBAKABNR b - - 1 1"
    assert placement_of(mirrored) == placement_of(AFTER_CANNON) == placement_of(AFTER_CANNON[:-5] + "7 9")
    assert placement_of(AFTER_CANNON) != placement_of(AFTER_CANNON.replace(" b ", " w "))
    assert is_reserved_for_validation(Opening(mirrored)) == is_reserved_for_validation(Opening(AFTER_CANNON))


def test_a_position_is_one_opening_however_it_is_spelled() -> None:
    spellings = [AFTER_CANNON, AFTER_CANNON.replace("N", "H").replace("n", "h"), AFTER_CANNON.replace("B", "E")]
    for spelling in spellings:
        assert parse_suite(spelling, "mine.epd", "xiangqi").openings[0].position == AFTER_CANNON
    with pytest.raises(UserError, match="repeats the position of line 1"):
        parse_suite("\n".join(spellings[:2]), "mine.epd", "xiangqi")
    board = game_named("othello").start
    spelled = board.replace("-", ".").lower()
    assert parse_suite(spelled, "mine.epd", "othello").openings[0].position == board


def test_the_order_is_the_documented_one() -> None:
    part = suite_of(50).part("all")
    order = part.order(3)
    keys = [hashlib.sha256(f"3:{index}".encode()).hexdigest() for index in order]
    assert keys == sorted(keys)
    assert sorted(order) == list(range(50))
    assert part.order(3, 7) == order[7:] + order[:7] == part.order(3, 57)
    assert part.order(4) != order
    assert part.order(3, 2, "sequential") == (*range(2, 50), 0, 1)
    assert order[:5] == (22, 5, 13, 15, 41)  # golden: never changes


LEAST = {
    "xiangqi-endgames": 4_000, "chess": 2_000, "chess-unbalanced": 1_500, "chess960": 960, "chess960-double": 2_000
}  # fmt: skip


def game_of(name: str) -> str:
    return next(game for game in ("xiangqi", "othello", "chess") if name.startswith(game))


@pytest.mark.integration
@pytest.mark.parametrize("name", available_configs("openings"))
def test_shipped_suites_are_legal_distinct_and_large(name: str) -> None:
    """Every twentieth opening for its legality; the slow test takes all."""
    game = game_of(name)
    suite = load_suite(name, game)
    least = LEAST.get(name, 30_000)
    assert len({identity_of(opening.position) for opening in suite.openings}) == len(suite.openings) >= least
    assert len(suite.part("validation")) >= 0.46 * least
    sample = [opening.position for opening in suite.openings[::20]]
    assert [opening.position for opening in parse_suite("\n".join(sample), name, game).openings] == sample


@pytest.mark.slow
@pytest.mark.parametrize("name", available_configs("openings"))
def test_every_opening_of_the_shipped_suites_is_legal(name: str) -> None:
    game = game_of(name)
    assert load_suite(name, game, check_all=True) == load_suite(name, game)


def test_the_suite_of_another_game_is_refused_before_the_games() -> None:
    with pytest.raises(UserError, match=r"chess\.epd\.gz: a suite of chess, not of xiangqi"):
        load_suite("chess", "xiangqi")
