"""Repetition by the Chinese rule: positions for each clause, and random cycles against the plain board.

The clauses are those of the Rules of Xiangqi Competitions (Chinese Xiangqi Association, 2020, articles 24 to 26) and,
for pawns that answer an attack, of its edition of 2011 (article 27). The positions are ours: each shows one clause.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from elolab.engine.games import game_named
from elolab.engine.games.contract import PATH_DRAW, PATH_LOSS, PATH_WIN, Position
from elolab.engine.rules import Ending, Rules
from tests.engine.games.test_xiangqi_moves import random_ending, snapshot
from tests.engine.games.test_xiangqi_rules import CYCLE_PIECES, cycles_from, loser, pyffish_loser
from tests.support import plain_xiangqi
from tests.support.effort import EFFORT

GAME = game_named("xiangqi")
CHINESE = Rules(repetition="chinese")
ASIAN = Rules()

# Name, FEN and cycle; then what the side that moves first does by the Chinese rule, and the verdicts of the Chinese and
# the Asian rule: "check", "attack" or "chase" if that side loses by it, else "draw".
CASES: tuple[tuple[str, str, str, str], ...] = (
    # One side's forbidden moves (24.9 to 24.13, 25.1, 25.3)
    ("perpetual check", "1nR6/3k5/9/9/9/9/9/4K4/9/9 w", "c9c8 d8d9 c8c9 d9d8", "check check, check, check"),
    ("check outranks chase", "4k4/n2R5/9/9/9/9/9/9/3K5/7r1 b", "h0h1 d1d0 h1h0 d0d1", "check check, check, check"),
    ("perpetual threat of mate", "6R2/3k5/9/9/9/9/9/1R2K4/3r5/9 w", "g9g1 d1d7 g1g9 d7d1", "mate mate, attack, draw"),
    ("check and mate in turn", "9/3k5/c8/9/8R/9/2N6/9/9/4K4 w", "i5i8 d8d7 i8i5 d7d8", "check mate, attack, draw"),
    ("mate and chase in turn", "5k3/9/9/9/9/7n1/9/2R6/8R/4K4 w", "c2c7 h4g2 c7c2 g2h4", "mate chase, attack, draw"),
    ("check and chase in turn", "1nR6/3k5/9/9/9/9/9/4K4/9/9 w", "c9c8 d8d7 c8c9 d7d8", "check chase, attack, draw"),
    ("perpetual chase", "2R6/9/3k5/9/4n4/9/9/9/5K3/9 w", "c9e9 e5c4 e9c9 c4e5", "chase chase, attack, chase"),
    ("two pieces in turn", "1r3k3/9/9/9/1N7/9/9/r8/4K4/9 w", "b5a7 a2a3 a7b5 a3a2", "chase chase, attack, draw"),
    ("a pawn across the river", "3k5/9/9/9/9/2p6/9/9/9/1R2K4 w", "b0c0 c4b4 c0b0 b4c4", "chase chase, attack, chase"),
    ("elephants chase", "9/9/5k3/9/4r4/6p2/9/3K4B/9/6B2 w", "g0e2 e5a5 e2g0 a5e5", "chase chase, attack, draw"),
    # Allowed moves (24.4 to 24.8, 25.2)
    ("check and an idle move", "9/3k5/9/9/9/9/9/9/7R1/5K3 w", "h1d1 d8e8 d1h1 e8d8", "check idle, draw, draw"),
    ("chase and an idle move", "9/9/4k4/9/9/4n4/9/9/5K3/7R1 w", "h0e0 e7e8 e0h0 e8e7", "chase idle, draw, draw"),
    ("exchange", "5k3/9/9/9/8r/R8/9/9/9/4K4 w", "a4a5 i5i4 a5a4 i4i5", "idle idle, draw, draw"),
    ("offer", "3k5/9/9/9/8r/C8/9/9/9/4K4 w", "a4a5 i5i4 a5a4 i4i5", "idle idle, draw, draw"),
    ("block", "3k5/9/9/9/4r4/9/9/9/5C3/4KA3 w", "f1e1 e5f5 e1f1 f5e5", "idle idle, draw, draw"),
    ("follow a protected piece", "3k5/9/9/2c5r/9/9/9/9/9/1R2K4 w", "b0c0 c6b6 c0b0 b6c6", "idle idle, draw, draw"),
    ("a pawn at home", "3k5/9/9/C5p2/9/6N2/9/6C2/9/5K3 w", "g4f6 d9e9 f6g4 e9d9", "idle idle, draw, draw"),
    # Protection (24.15, 24.16, 26.5, 26.6)
    ("a false root", "3k5/9/5n3/4R4/9/9/9/9/9/4K4 w", "e6f6 f7e9 f6e6 e9f7", "chase chase, attack, chase"),
    ("too few roots", "3k5/1n7/9/2Rn5/6b2/9/3R5/9/9/4K4 w", "c6c8 g5e7 c8c6 e7g5", "chase chase, attack, draw"),
    ("a root cut off", "5k3/9/9/2r4C1/9/3c5/9/9/3K5/7R1 b", "d4h4 h0d0 h4d4 d0h0", "chase chase, attack, draw"),
    ("a protected rook", "3k5/9/9/C5r1r/9/6N2/9/6C2/9/5K3 w", "g4f6 d9e9 f6g4 e9d9", "chase chase, attack, chase"),
    ("a pinned attacker", "3kr4/9/9/9/3n5/4R4/9/9/9/4K4 w", "e4e5 d5b4 e5e4 b4d5", "idle idle, draw, draw"),
    ("a deadly capture", "1R7/4k4/2c6/9/9/5r3/9/3K3n1/9/9 w", "b9b7 c7c9 b7b9 c9c7", "idle idle, draw, chase"),
    # Generals and pawns (26.1; 27 of 2011)
    ("a general chases", "5k3/9/9/9/9/9/9/9/4c4/3K5 w", "d0e0 e1d1 e0d0 d1e1", "idle idle, draw, draw"),
    ("a pawn chases", "5k3/9/9/3c5/2P6/9/9/9/9/4K4 w", "c5d5 d6c6 d5c5 c6d6", "idle idle, draw, draw"),
    ("a general uncovers", "5k3/9/9/9/9/9/9/9/1R7/R2K4n w", "d0d1 i0g1 d1d0 g1i0", "chase chase, attack, chase"),
    ("a pawn uncovers", "5k3/3n5/9/9/3P5/9/9/9/9/2RRK4 w", "d5c5 d8c6 c5d5 c6d8", "chase chase, attack, chase"),
    ("a general leaves a check", "5k3/9/9/9/9/9/9/9/1R7/R2K2n1c w", "d0d1 g0i1 d1d0 i1g0", "idle chase, draw, chase"),
    ("a piece meets a check", "3k5/9/9/9/9/7p1/9/R5Nc1/9/4K3r w", "g2f0 i0i9 f0g2 i9i0", "chase chase, attack, draw"),
    # Both sides' forbidden moves (25.1, 26.9; 26 of 2011)
    ("both check", "4c4/9/3k2N1C/6n2/9/9/9/9/9/4K4 b", "g6e7 g7e6 e7g6 e6g7", "check check, draw, draw"),
    ("both chase", "7C1/9/3k5/9/9/1r7/C8/3A3r1/9/5K3 w", "a3h3 b4h4 h3a3 h4b4", "chase chase, draw, draw"),
    ("pawns answer", "9/9/5k3/9/9/5Cp2/1n7/5p2R/9/4K4 w", "i2i4 g4h4 i4i2 h4g4", "chase chase, draw, draw"),
)  # fmt: skip
NAMES = [case[0] for case in CASES]


def verdict(first: str, offence: str) -> Ending:
    """The ending if the side ``first`` (``w`` or ``b``) loses by an offence, or the repetition is a ``draw``."""
    if offence == "draw":
        return Ending("1/2-1/2", "repetition")
    return Ending("0-1" if first == "w" else "1-0", f"perpetual_{offence}")


def in_words(ending: Ending) -> str:
    """An ending by repetition in the words of the plain board."""
    return "draw" if ending.result == "1/2-1/2" else f"{ending.reason} {'red' if ending.result == '0-1' else 'black'}"


def mirrored(text: str) -> str:
    """A FEN without counters, or moves, with the sides exchanged and the files reversed."""
    if "/" not in text:
        turned = {**dict(zip("abcdefghi", "ihgfedcba", strict=True)), **{str(r): str(9 - r) for r in range(10)}}
        return "".join(turned.get(letter, letter) for letter in text)
    rows, side = text.split()
    return f"{rows[::-1].swapcase()} {'b' if side == 'w' else 'w'}"


@pytest.mark.parametrize(("name", "fen", "cycle", "expected"), CASES, ids=NAMES)
def test_each_clause(name: str, fen: str, cycle: str, expected: str) -> None:
    """The moves' nature by the plain board, then the verdicts; pyffish is asked for the Asian one, but for pins."""
    does, chinese, asian = expected.split(", ")
    first = fen.split()[1]
    moves = cycle.split()
    board, _ = plain_xiangqi.read_board(fen)
    natures = []
    for move in moves:
        natures.append(plain_xiangqi.nature(board, *plain_xiangqi.read_move(move)))
        board = plain_xiangqi.play(board, *plain_xiangqi.read_move(move))
    assert board == plain_xiangqi.read_board(fen)[0], "the moves are no cycle"
    assert natures[0::2] == does.split()
    game = GAME.position(fen)
    for move in moves * 2:
        assert game.judge(CHINESE) is None
        game.push(move)
    before = snapshot(game)
    assert game.judge(CHINESE) == verdict(first, chinese)
    assert {**snapshot(game), "in_check": 0} == {**before, "in_check": 0}, "judging changed the position"
    assert plain_xiangqi.judge_cycle_chinese(fen, moves) == in_words(verdict(first, chinese))
    assert game.judge(ASIAN) == verdict(first, asian)
    if name != "a pinned attacker":
        assert pyffish_loser(GAME.position(fen).text, moves * 2) == loser(verdict(first, asian))


@pytest.mark.parametrize(("fen", "cycle", "expected"), [case[1:] for case in CASES], ids=NAMES)
def test_sides_are_treated_alike_and_the_search_agrees(fen: str, cycle: str, expected: str) -> None:
    _, chinese, _ = expected.split(", ")
    for text, moves in ((fen, cycle), (mirrored(fen), mirrored(cycle))):
        game = GAME.position(text, moves.split() * 2)
        ending = verdict(text.split()[1], chinese)
        assert game.judge(CHINESE) == ending
        GAME.apply_rules(game.state, CHINESE)
        expected = PATH_DRAW if chinese == "draw" else PATH_LOSS
        assert GAME.kernels.path_verdict(game.state, 8) == expected
        later = GAME.position(text, (moves.split() * 3)[:9])
        GAME.apply_rules(later.state, CHINESE)
        assert GAME.kernels.path_verdict(later.state, 9) == (PATH_DRAW if chinese == "draw" else PATH_WIN)


def judged(game: Position, cycle: list[str]) -> tuple[str, str]:
    """The verdicts of kernel and plain board on a cycle."""
    ending = GAME.position(game.text, cycle * 2).judge(CHINESE)
    assert ending is not None
    return in_words(ending), plain_xiangqi.judge_cycle_chinese(game.text, cycle)


@pytest.mark.integration
@EFFORT
def test_random_cycles_agree_with_the_plain_board(effort: int) -> None:
    generator = random.Random(7)
    verdicts: Counter[str] = Counter()
    while verdicts.total() < 150 * effort:
        game = random_ending(generator, generator.choice(CYCLE_PIECES))
        if game.judge(CHINESE):
            continue
        found = cycles_from(game, generator)
        for cycle in generator.sample(found, min(len(found), 6)):
            ours, plain = judged(game, cycle)
            assert ours == plain, (game.text, cycle)
            verdicts[ours.split()[0]] += 1
    assert min(verdicts["perpetual_check"], verdicts["perpetual_attack"], verdicts["draw"]) >= effort, verdicts
