"""How games of Xiangqi end: repetition on constructed cycles, move limit, bare material, mate and stalemate.

Two oracles: the plain dictionary board of ``plain_xiangqi``, written from the rule's text, which must agree always, and
pyffish, which plays by the Asian rules as Fairy-Stockfish has them and differs from ours in documented classes (see
``test_random_cycles_agree_with_both_oracles``).
"""

from __future__ import annotations

import csv
import itertools
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyffish
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.contract import PATH_DRAW, PATH_LOSS, PATH_OPEN, PATH_WIN, Position
from elolab.engine.rules import Ending, Rules
from elolab.engine.settings.parameters import resolve, to_record
from tests.engine.games.test_xiangqi_moves import EVALUATIONS, random_ending, snapshot, to_pyffish
from tests.support import plain_xiangqi
from tests.support.effort import EFFORT
from tests.support.plain_xiangqi import ChaseRule

GAME = game_named("xiangqi")

DRAW = Ending("1/2-1/2", "repetition")


def lost(side: str, offence: str) -> Ending:
    """The ending in which ``side`` loses by a perpetual check or chase."""
    return Ending("0-1" if side == "Red" else "1-0", f"perpetual_{offence}")


CHASED = lost("Red", "chase")

# (name, FEN, cycle, verdict under the Asian rule, whether pyffish agrees)
CYCLES: tuple[tuple[str, str, str, Ending, bool], ...] = (
    ("perpetual check by a rook", "1nR6/3k5/9/9/9/9/9/4K4/9/9 w", "c9c8 d8d9 c8c9 d9d8", lost("Red", "check"), True),
    ("perpetual check by a horse", "2N1k4/9/9/9/9/4r4/9/9/9/3K5 w", "c9d7 e9e8 d7c9 e8e9", lost("Red", "check"), True),
    ("perpetual check by Black", "1N7/9/5k3/9/9/9/4r4/3K5/9/9 b", "e3d3 d2e2 d3e3 e2d2", lost("Black", "check"), True),
    ("check outranks chase", "4k4/n2R5/9/9/9/9/9/9/3K5/7r1 b", "h0h1 d1d0 h1h0 d0d1", lost("Black", "check"), True),
    ("a rook chases a horse", "2R6/9/3k5/9/4n4/9/9/9/5K3/9 w", "c9e9 e5c4 e9c9 c4e5", lost("Red", "chase"), True),
    ("a cannon chases a horse", "5k3/9/9/9/9/9/9/C4A3/3K1n3/9 w", "a2a1 f1h2 a1a2 h2f1", lost("Red", "chase"), True),
    ("a horse chases a rook", "3k5/9/9/9/9/4N4/7r1/5K3/9/9 w", "e4g5 h3c3 g5e4 c3h3", lost("Red", "chase"), True),
    ("Black chases", "3R5/4nk3/9/9/9/9/9/3K5/9/9 b", "e8c7 d9c9 c7e8 c9d9", lost("Black", "chase"), True),
    ("cannons chase by their screen", "3k5/9/9/C5n2/9/6N2/9/6C2/9/5K3 w", "g4f6 d9e9 f6g4 e9d9", CHASED, True),
    ("chase of an uncrossed pawn", "3k5/9/9/C5p2/9/6N2/9/6C2/9/5K3 w", "g4f6 d9e9 f6g4 e9d9", DRAW, True),
    ("chase of a protected horse", "3k5/9/9/C5n1r/9/6N2/9/6C2/9/5K3 w", "g4f6 d9e9 f6g4 e9d9", DRAW, True),
    ("cannons chase a protected rook", "3k5/9/9/C5r1r/9/6N2/9/6C2/9/5K3 w", "g4f6 d9e9 f6g4 e9d9", CHASED, True),
    ("chase by a pawn", "5k3/9/9/3c5/2P6/9/9/9/9/4K4 w", "c5d5 d6c6 d5c5 c6d6", DRAW, True),
    ("chase by a general", "5k3/9/9/9/9/9/9/9/4c4/3K5 w", "d0e0 e1d1 e0d0 d1e1", DRAW, True),
    ("an offer to exchange rooks", "5k3/9/9/9/8r/R8/9/9/9/4K4 w", "a4a5 i5i4 a5a4 i4i5", DRAW, True),
    ("a pinned rook", "3kr4/9/9/9/3n5/4R4/9/9/9/4K4 w", "e4e5 d5b4 e5e4 b4d5", DRAW, False),
    ("the protector's recapture is illegal", "3k5/9/5n3/4R4/9/9/9/9/9/4K4 w", "e6f6 f7e9 f6e6 e9f7", CHASED, True),
    ("two pieces in turn", "1r3k3/9/9/9/1N7/9/9/r8/4K4/9 w", "b5a7 a2a3 a7b5 a3a2", DRAW, True),
    ("check and chase in turn", "1nR6/3k5/9/9/9/9/9/4K4/9/9 w", "c9c8 d8d7 c8c9 d7d8", DRAW, True),
    ("both chase", "7C1/9/3k5/9/9/1r7/C8/3A3r1/9/5K3 w", "a3h3 b4h4 h3a3 h4b4", DRAW, True),
    ("nobody does anything", "3k5/9/9/9/9/9/9/9/9/R4K3 w", "a0a1 d9d8 a1a0 d8d9", DRAW, True),
    ("a rook that only draws back", "1nR6/3k5/9/9/9/9/9/4K4/9/9 w", "c9e9 b9c7 e9c9 c7b9", DRAW, False),
)  # fmt: skip
NAMES = [case[0] for case in CYCLES]


def pyffish_loser(fen: str, moves: Sequence[str]) -> str | None:
    """Who loses a game that pyffish ends by repetition after ``moves``; ``None`` for a draw."""
    ended, value = pyffish.is_optional_game_end("xiangqi", fen, [to_pyffish(move) for move in moves])
    assert ended, (fen, moves)
    if value == 0:
        return None
    assert len(moves) % 2 == 0
    return ("Red" if " w" in fen else "Black") if value < 0 else ("Black" if " w" in fen else "Red")


def loser(ending: Ending) -> str | None:
    """The side an ending makes lose."""
    return {"1-0": "Black", "0-1": "Red"}.get(ending.result)


def described(ending: Ending) -> str:
    """An ending by repetition in the words of ``plain_xiangqi.judge_cycle``."""
    return "draw" if ending == DRAW else f"{ending.reason} {str(loser(ending)).lower()}"


@pytest.mark.parametrize(("fen", "cycle", "verdict", "agrees"), [case[1:] for case in CYCLES], ids=NAMES)
def test_constructed_cycles(fen: str, cycle: str, verdict: Ending, agrees: bool) -> None:
    """Open until the third occurrence, then the verdict; both oracles are asked."""
    game = GAME.position(fen)
    fen = game.text
    moves = cycle.split()
    for number, move in enumerate(moves * 2, 1):
        assert game.judge(Rules()) is None, f"ended before move {number}"
        game.push(move)
    before = snapshot(game)
    assert game.judge(Rules()) == verdict
    assert game.judge(Rules()) == verdict
    assert {**snapshot(game), "in_check": 0} == {**before, "in_check": 0}, "judging changed the position"
    expected = plain_xiangqi.judge_cycle(fen, moves * 2)
    assert expected == described(verdict)
    assert (pyffish_loser(fen, moves * 2) == loser(verdict)) == agrees


@pytest.mark.parametrize(("fen", "cycle", "verdict"), [case[1:4] for case in CYCLES], ids=NAMES)
def test_options_of_the_repetition_rule(fen: str, cycle: str, verdict: Ending) -> None:
    game = GAME.position(fen, cycle.split() * 2)
    assert game.judge(Rules(repetition="draw")) == DRAW
    assert game.judge(Rules(repetition="check-only")) == (verdict if verdict.reason == "perpetual_check" else DRAW)
    # Four occurrences need another round.
    assert game.judge(Rules(fold=4)) is None
    game = GAME.position(fen, cycle.split() * 3)
    assert game.judge(Rules(fold=4)) == verdict
    assert game.judge(Rules(fold=4, repetition="draw")) == DRAW


@pytest.mark.parametrize(("fen", "cycle", "verdict"), [case[1:4] for case in CYCLES], ids=NAMES)
def test_a_cycle_is_judged_wherever_it_begins(fen: str, cycle: str, verdict: Ending) -> None:
    """Entered one ply later, with the first move of it as the game's history, the same side offends."""
    moves = cycle.split()
    game = GAME.position(fen, [moves[0], *(moves[1:] + moves[:1]) * 2])
    assert game.judge(Rules()) == verdict


PUBLISHED = list(csv.DictReader((Path(__file__).parents[2] / "data" / "xiangqi_diagrams.csv").open(encoding="utf-8")))
UNDERMINED = "105"
"""The one diagram in which ours and pyffish draw, against the rules: a pawn takes away the victim's protection."""


@pytest.mark.parametrize("case", PUBLISHED, ids=[case["diagram"].replace(" ", "-") for case in PUBLISHED])
def test_published_diagrams(case: dict[str, str]) -> None:
    """The positions and verdicts that the Asian Xiangqi Federation printed with its rules, by number or by chapter.

    The positions are as the tests of the engine Orange transcribe them (github.com/danieltan1517/orange-xiangqi). The
    printed moves, of which 36 diagrams' could be had from pages of the World Xiangqi Federation, fit in 33.
    """
    moves = case["cycle"].split()
    game = GAME.position(case["position"] + " - - 0 1", moves * 2)
    ending = game.judge(Rules())
    assert ending is not None
    expected = None if case["diagram"] == UNDERMINED else case["loser"] or None
    assert loser(ending) == expected
    assert pyffish_loser(game.start, moves * 2) == expected


def test_a_mutual_perpetual_check_is_a_draw() -> None:
    """Two horses hop in and out as screens of two cannons: every move answers a check and gives one."""
    fen, moves = "4c4/9/3k2N1C/6n2/9/9/9/9/9/4K4 b", ["g6e7", "g7e6", "e7g6", "e6g7"]
    game = GAME.position(fen)
    for move in moves * 2:
        assert game.in_check
        assert game.judge(Rules()) is None
        game.push(move)
    for rules in (Rules(), Rules(repetition="check-only"), Rules(repetition="draw")):
        assert game.judge(rules) == DRAW
    assert plain_xiangqi.judge_cycle(fen, moves * 2) == "draw"
    assert pyffish_loser(fen, moves * 2) is None


def test_a_capture_breaks_a_repetition() -> None:
    """Occurrences are counted since the last capture, whatever went before."""
    shuffle = ["a0a1", "d9d8", "a1a0", "d8d9"]
    game = GAME.position("3k4r/9/9/9/9/9/9/9/9/R4K2R w", [*shuffle, "i0i9", "d9d8"])
    assert game.judge(Rules()) is None
    for move in ["a0a1", "d8d7", "a1a0", "d7d8"] * 2:
        assert game.judge(Rules()) is None
        game.push(move)
    assert game.judge(Rules()) == DRAW


def test_an_idle_move_in_the_second_round_is_no_perpetual_check() -> None:
    """Every move between first and third occurrence must offend."""
    fen = CYCLES[0][1]
    check, idle = "c9c8 d8d9 c8c9 d9d8 ", "c9c5 d8d7 c5c9 d7d8 "
    assert GAME.position(fen, (check + check).split()).judge(Rules()) == lost("Red", "check")
    assert GAME.position(fen, (check + idle).split()).judge(Rules()) == DRAW
    assert GAME.position(fen, (idle + check).split()).judge(Rules()) == DRAW
    # What lies before the first counted occurrence does not matter.
    game = GAME.position("1n7/4k4/9/9/2R6/9/9/9/5K3/9 w", ("c5c9 e8d8 " + check + check).split())
    assert game.judge(Rules()) == lost("Red", "check")


def test_the_score_survives_a_judged_chase() -> None:
    """The chase rule replays moves made before the evaluation's tables were set, or under other tables."""
    fen, cycle = CYCLES[4][1], CYCLES[4][2].split()
    for first, second in itertools.permutations((None, *EVALUATIONS), 2):
        game = GAME.position(fen)
        for name, moves in ((first, cycle), (second, cycle)):
            if name is not None:
                GAME.kernels.prepare(game.state, to_record(resolve({"evaluation": name})))
            for move in moves:
                game.push(move)
        if second is None:
            continue
        score, material = int(game.state.score), game.state.material.tolist()
        assert game.judge(Rules()) == lost("Red", "chase")
        assert (int(game.state.score), game.state.material.tolist()) == (score, material)
        for _ in cycle:
            GAME.kernels.unmake(game.state)
        fresh = GAME.position(game.text)
        GAME.kernels.prepare(fresh.state, to_record(resolve({"evaluation": second})))
        assert int(game.state.score) == int(fresh.state.score)


# --- Random cycles --------------------------------------------------------------------------------------------------

CYCLE_PIECES = (
    "KkRn", "KkCAn", "KkNr", "KkRRcc", "KkRCnn", "KRArnkb", "KCNrckaa", "KRNCkrnc", "KRPkcpa", "KCCAAkrr", "KABNkabr",
    "KRRkcnp", "KNCBkrnp",
)  # fmt: skip

DIFFERENCES = {
    "along the line": {"along_the_line": True},
    "pinned attacker": {"attackers_may_be_pinned": True},
    "pinned protector": {"pinned_protect": True},
    "advisors and elephants chase": {"attackers": "RNCAB", "minor_against_major": True},
}


def threatens(game: Position, move: str) -> bool:
    """Whether a move checks or attacks something, in the widest sense."""
    board, red = plain_xiangqi.read_board(game.text)
    origin, target = plain_xiangqi.read_move(move)
    wide = ChaseRule("RNCAB", True, True, True)
    if any(True for _ in plain_xiangqi.chased_by(board, origin, target, wide)):
        return True
    return plain_xiangqi.in_check(plain_xiangqi.play(board, origin, target), not red)


def cycles_from(game: Position, generator: random.Random) -> list[list[str]]:
    """Cycles of four plies, there and back, mostly of a side that threatens with both of its moves."""
    found = []
    for there in game.legal_moves():
        if generator.random() < 0.9 and not threatens(game, there):
            continue
        one = game.copy()
        one.push(there)
        if int(one.state.quiet) == 0:
            continue
        back = there[2:] + there[:2]
        for reply in one.legal_moves():
            two = one.copy()
            two.push(reply)
            if int(two.state.quiet) == 0 or back not in two.legal_moves():
                continue
            if generator.random() < 0.95 and not threatens(two, back):
                continue
            two.push(back)
            if reply[2:] + reply[:2] in two.legal_moves():
                found.append([there, reply, back, reply[2:] + reply[:2]])
    return found


def explanation(fen: str, moves: Sequence[str], expected: str | None) -> str:
    """The differences of rules that together lead to pyffish's verdict, or ``other``."""
    for count in range(1, len(DIFFERENCES) + 1):
        for names in itertools.combinations(DIFFERENCES, count):
            options = {key: value for name in names for key, value in DIFFERENCES[name].items()}
            verdict = plain_xiangqi.judge_cycle(fen, moves, ChaseRule(**options))
            if {"draw": None, "red": "Red", "black": "Black"}[verdict.split()[-1]] == expected:
                return " and ".join(names)
    return "other"


@pytest.mark.integration
@EFFORT
def test_random_cycles_agree_with_both_oracles(effort: int) -> None:
    """Hundreds of cycles in random endings: the plain oracle always agrees, pyffish in at least 97 of 100.

    The differences from pyffish 0.0.90, of which each follows from the specification:

    * *along the line*: pyffish counts a rook or cannon that moves along the line on which it already attacked; a chase
      must be a *new* attack (nearly all differences).
    * *pinned attacker*: pyffish lets a piece chase whose capture would expose its own general.
    * *pinned protector*: pyffish looks only for pins along lines, not at whether the recapture is legal.
    * *advisors and elephants chase* in pyffish; in ours only rooks, horses and cannons do.
    * *other*: attacks that are old, but become threats because a protector was pinned or the capture would now also
      uncover a check, count as chases in pyffish; ours asks for a new attack.
    """
    generator = random.Random(20)
    verdicts: Counter[str] = Counter()
    differences: Counter[str] = Counter()
    while sum(verdicts.values()) < 200 * effort:
        game = random_ending(generator, generator.choice(CYCLE_PIECES))
        if game.judge(Rules()):
            continue
        fen = game.text
        found = cycles_from(game, generator)
        for cycle in generator.sample(found, min(len(found), 15)):
            ended = GAME.position(fen, cycle * 2).judge(Rules())
            assert ended is not None
            verdict = described(ended)
            assert verdict == plain_xiangqi.judge_cycle(fen, cycle * 2), (fen, cycle)
            verdicts[verdict.split()[0]] += 1
            expected = pyffish_loser(fen, cycle * 2)
            if loser(ended) != expected:
                differences[explanation(fen, cycle * 2, expected)] += 1
    assert min(verdicts["perpetual_check"], verdicts["perpetual_chase"], verdicts["draw"]) >= effort, verdicts
    assert sum(differences.values()) <= 0.03 * sum(verdicts.values()), differences
    assert differences["other"] <= 0.002 * sum(verdicts.values()), differences


# --- In the search's tree -------------------------------------------------------------------------------------------


def test_one_repetition_within_the_tree_counts_at_once() -> None:
    """The root is a ply before the cycle: the checker loses, a chase or nothing is a draw; the history waits."""
    for name, fen, cycle, verdict, _ in CYCLES:
        moves = cycle.split()
        game = GAME.position(fen, [moves[0], *moves[1:], moves[0]])
        kernel = GAME.kernels.path_verdict
        GAME.apply_rules(game.state, Rules())
        # The position of ply 1 has come back at ply 5; the side to move is not the one that moved first.
        mover_is_red = " w" in fen
        if verdict.reason == "perpetual_check":
            checker_moves_next = (loser(verdict) == "Red") != mover_is_red
            assert kernel(game.state, 0) == (PATH_LOSS if checker_moves_next else PATH_WIN), name
        else:
            assert kernel(game.state, 0) == PATH_DRAW, name
        assert kernel(game.state, 1) == PATH_OPEN, f"{name}: the root's own position is the game's history"
        assert kernel(game.state, 5) == PATH_OPEN, name


def test_the_games_history_is_judged_by_the_arbiters_rule() -> None:
    for name, fen, cycle, verdict, _ in CYCLES:
        game = GAME.position(fen, cycle.split() * 2)
        GAME.apply_rules(game.state, Rules())
        found = GAME.kernels.path_verdict(game.state, 8)
        to_move = "Red" if " w" in fen else "Black"
        expected = PATH_DRAW if verdict == DRAW else PATH_LOSS if loser(verdict) == to_move else PATH_WIN
        assert found == expected, name


# --- Move limit -----------------------------------------------------------------------------------------------------

NEVER = Rules(fold=1000, insufficient=False)


@pytest.mark.parametrize("limit", [100, 120])
def test_the_move_limit_counts_from_the_position_text(limit: int) -> None:
    fen = "3k5/9/9/9/9/9/9/9/9/R4K3 w - - {} 80"
    rules = Rules(move_limit=limit)
    assert GAME.position(fen.format(limit - 1)).judge(rules) is None
    assert GAME.position(fen.format(limit)).judge(rules) == Ending("1/2-1/2", "move_limit")
    assert GAME.position(fen.format(limit)).judge(Rules(move_limit=0)) is None
    game = GAME.position(fen.format(limit - 2), ["a0a1", "d9d8"])
    assert game.judge(rules) == Ending("1/2-1/2", "move_limit")
    capture = GAME.position("3k5/9/9/9/9/9/9/9/r8/R4K3 w - - 119 80", ["a0a1"])
    assert capture.judge(Rules()) is None


def plies_to_limit(fen: str, cycle: str, limit: int = 120) -> int:
    """Plies until the move limit ends a game of one cycle repeated."""
    game = GAME.position(fen)
    rules = Rules(fold=1000, insufficient=False, move_limit=limit)
    for number, move in enumerate(itertools.cycle(cycle.split())):
        ending = game.judge(rules)
        if ending:
            assert ending.reason == "move_limit"
            return number
        game.push(move)
    raise AssertionError


def test_checks_beyond_ten_do_not_count_towards_the_move_limit() -> None:
    assert plies_to_limit("3k5/9/9/9/9/9/9/9/9/R4K3 w", "a0a1 d9d8 a1a0 d8d9") == 120
    # Red checks with every move: of n plies n/2 are checks, all but ten of them not counted.
    assert plies_to_limit(CYCLES[0][1], CYCLES[0][2]) == 220
    assert plies_to_limit(CYCLES[0][1], CYCLES[0][2], 100) == 180
    # A check in every second move of Red: n/4 checks, n - (n/4 - 10) plies count.
    assert plies_to_limit(CYCLES[18][1], CYCLES[18][2]) == 147


def test_the_move_limit_by_its_definition_in_random_games() -> None:
    """Checks of each side since the last capture, counted anew from the positions."""
    for seed in range(6):
        generator = random.Random(seed)
        game = random_ending(generator, "KRNPPPkrnppp")
        quiet, checks = 0, [0, 0]
        for _ in range(260):
            ending = game.judge(Rules(fold=1000, insufficient=False, move_limit=40))
            if ending and ending.reason in ("checkmate", "stalemate"):
                break
            counted = quiet - sum(max(0, count - 10) for count in checks)
            assert (ending is not None) == (counted >= 40)
            mover = game.side_to_move
            moves = game.legal_moves()
            board, _ = plain_xiangqi.read_board(game.text)
            calm = [move for move in moves if plain_xiangqi.read_move(move)[1] not in board]
            checking = [move for move in calm if gives_check(game, move)]
            game.push(generator.choice(checking or calm or moves))
            if int(game.state.quiet) == 0:
                quiet, checks = 0, [0, 0]
            else:
                quiet += 1
                checks[mover] += game.in_check


def gives_check(game: Position, move: str) -> bool:
    """Whether a move attacks the general."""
    board, red = plain_xiangqi.read_board(game.text)
    return plain_xiangqi.in_check(plain_xiangqi.play(board, *plain_xiangqi.read_move(move)), not red)


# --- Other endings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "bare"),
    [
        ("3k5/9/9/9/9/9/9/9/9/5K3", True),
        ("2bakab2/9/9/9/9/9/9/9/9/2BA1K3", True),
        ("3k5/9/9/p8/9/9/9/9/9/5K3", False),  # a pawn that has not crossed counts here
        ("3k5/9/9/9/9/9/9/9/9/N4K3", False),
        ("3k5/9/9/9/9/9/9/9/9/C4K3", False),
        ("3k4r/9/9/9/9/9/9/9/9/5K3", False),
    ],
)
def test_bare_material_is_a_draw(board: str, bare: bool) -> None:
    for side in ("w", "b"):
        game = GAME.position(f"{board} {side}")
        assert game.judge(Rules()) == (Ending("1/2-1/2", "insufficient_material") if bare else None)
        assert game.judge(Rules(insufficient=False)) is None
    assert GAME.kernels.null_move_allowed(GAME.position("3k5/9/9/p8/9/9/9/9/9/5K3 b").state) == 0
    assert GAME.kernels.null_move_allowed(GAME.position("3k5/9/9/9/9/p8/9/9/9/5K3 b").state) == 1


def test_the_last_capture_can_leave_bare_material() -> None:
    game = GAME.position("4k4/9/9/9/9/9/9/9/3r5/3K5 w", ["d0d1"])
    assert game.judge(Rules()) == Ending("1/2-1/2", "insufficient_material")


@pytest.mark.parametrize(
    ("fen", "ending"),
    [
        ("1R1k5/R8/9/9/9/9/9/9/9/4K4 b", Ending("1-0", "checkmate")),
        ("3k5/R8/9/9/9/9/9/9/9/4K4 b", Ending("1-0", "stalemate")),
        ("4k4/9/9/9/9/9/9/9/r8/1r1K5 w", Ending("0-1", "checkmate")),
        ("4k4/9/9/9/9/9/9/9/r8/3K5 w", Ending("0-1", "stalemate")),
        ("3k5/R8/9/9/9/9/9/9/9/3K5 b", None),
    ],
)
def test_a_side_without_a_legal_move_loses(fen: str, ending: Ending | None) -> None:
    if ending is None:
        with pytest.raises(Exception, match="face each other"):
            GAME.position(fen)
        return
    assert GAME.position(fen).judge(Rules()) == ending
    # It outranks every draw.
    assert GAME.position(f"{fen} - - 500 300").judge(Rules()) == ending


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_do_not_depend_on_how_often_they_are_asked(seed: int) -> None:
    generator = random.Random(seed)
    asked, unasked = GAME.position(), GAME.position()
    for _ in range(150):
        moves = unasked.legal_moves()
        if not moves:
            break
        move = generator.choice(moves)
        for rules in (Rules(), Rules(repetition="draw", fold=4), NEVER):
            asked.judge(rules)
        asked.push(move)
        unasked.push(move)
    assert asked.judge(Rules()) == unasked.judge(Rules())
    assert asked.text == unasked.text
    assert asked.state.key == unasked.state.key
