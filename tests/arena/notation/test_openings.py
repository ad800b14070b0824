"""Opening suites: reading, refusing, halves, order, generating."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.notation.openings import (
    Candidate,
    RandomPlay,
    Suite,
    generate,
    is_reserved_for_validation,
    load_suite,
    parse_suite,
    placement_of,
    suite_text,
    write_suite,
)
from arena.play.tournament import prepare
from arena.records import Opening
from arena.spec import spec_from_mapping
from engine.errors import UserError
from engine.games import game_named
from engine.settings.configuration import available_configs
from engine.settings.limits import Limits

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


@pytest.mark.parametrize(
    ("lines", "number", "words"),
    [
        ([START, "rnbakabnr/9/1c5c1/p1p1p1p1p w"], 2, "mine.epd"),
        (["#", START, "", START], 4, "line 2"),
        ([MATED], 1, "over"),
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
    with pytest.raises(UserError, match=r"mine.pgn: game 1: over after 1 plies \(checkmate\); take fewer"):
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
    with pytest.raises(UserError, match="the position of line 1 again"):
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


def test_generating_keeps_the_first_distinct_balanced_candidates_in_order() -> None:
    def propose(first: int, count: int) -> Sequence[Candidate | None]:
        return [
            None if number % 3 == 0 else Candidate(f"K{number // 2}r/9 w - - 0 1", 100 if number % 7 == 1 else -60)
            for number in range(first, first + count)
        ]

    expected = [f"K{number // 2}r/9 w - - 0 1" for number in range(1000) if number % 3 and number % 7 != 1]
    expected = list(dict.fromkeys(expected))[:100]
    for concurrency in (1, 3):
        assert generate(propose, 100, max_score=60, concurrency=concurrency) == expected


def test_generating_gives_up() -> None:
    with pytest.raises(UserError, match=r"only 0 of 1 openings found among \d+ candidates.*--max-score"):
        generate(lambda first, count: [Candidate(START, 61)] * count, 1, max_score=60)
    with pytest.raises(UserError, match=r"found among (\d+) candidates, \1 of which were over.* fewer --plies"):
        generate(lambda first, count: [None] * count, 1, max_score=60)


def test_generated_openings_are_legal_distinct_and_the_same_at_any_concurrency() -> None:
    limits = Limits.parse("nodes=50")
    one = generate(RandomPlay("xiangqi", 5, 6, limits), 12, max_score=80, concurrency=1)
    two = generate(RandomPlay("xiangqi", 5, 6, limits), 12, max_score=80, concurrency=2)
    assert one == two
    assert len(parse_suite(suite_text(one), "made.epd", "xiangqi").openings) == 12
    assert one != generate(RandomPlay("xiangqi", 6, 6, limits), 12, max_score=80)


@pytest.mark.parametrize("name", available_configs("openings"))
def test_shipped_suites_are_legal_distinct_and_large(name: str) -> None:
    """Every twentieth opening for its legality; the slow test takes all."""
    suite = load_suite(name, name)
    assert len({placement_of(opening.position) for opening in suite.openings}) == len(suite.openings) >= 30_000
    assert len(suite.part("validation")) >= 14_000
    sample = [opening.position for opening in suite.openings[::20]]
    assert [opening.position for opening in parse_suite("\n".join(sample), name, name).openings] == sample


@pytest.mark.slow
@pytest.mark.parametrize("name", available_configs("openings"))
def test_every_opening_of_the_shipped_suites_is_legal(name: str) -> None:
    assert load_suite(name, name, check_all=True) == load_suite(name, name)
