"""The terms of the full evaluation against counts made on a dictionary, without the engine's tables."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from elolab.engine.engine import Engine
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.games.xiangqi import evaluation, terms
from elolab.engine.games.xiangqi.position import PHASES
from elolab.engine.settings.features import XIANGQI, XIANGQI_PIECES, XIANGQI_TERMS
from elolab.engine.settings.parameters import resolve, to_record
from elolab.engine.settings.weights import find_weights
from elolab.engine.values import BAN_BOUND, INFINITY
from tests.support.plain_xiangqi import Board, Square, is_red, pieces_between, reaches, read_board

GAME = game_named("xiangqi")
FULL = to_record(resolve({"evaluation": "full"}))
TERMS = len(XIANGQI_TERMS)


@cache
def positions(count: int) -> tuple[str, ...]:
    """Positions of random games, many captures deep."""
    generator = random.Random(3)
    texts: list[str] = []
    while len(texts) < count:
        position = GAME.position()
        for _ in range(generator.randrange(1, 160)):
            moves = position.legal_moves()
            if not moves:
                break
            position.push(generator.choice(moves))
        texts.append(position.text)
    return tuple(texts)


def prepared(text: str) -> Position:
    position = GAME.position(text)
    GAME.kernels.prepare(position.state, FULL)
    return position


def counted(position: Position) -> dict[str, int]:
    """What the kernels count, Red's less Black's."""
    terms.count_terms(position.state)
    return dict(zip(XIANGQI_TERMS, (int(term) for term in position.state.terms), strict=True))


@cache
def _both_counts(text: str) -> tuple[Counter[str], Counter[str]]:
    """Red's and Black's terms, counted plainly: what is compared with them changes nothing in them."""
    board, _ = read_board(text)
    return _side_counts(board, True), _side_counts(board, False)


def _side_counts(board: Board, red: bool) -> Counter[str]:
    """One side's terms, counted plainly."""
    found: Counter[str] = Counter()
    own = {at: piece[0].upper() for at, piece in board.items() if is_red(piece) == red}
    other = {at: piece[0].upper() for at, piece in board.items() if is_red(piece) != red}
    everywhere = [(file, rank) for file in range(9) for rank in range(10)]
    palace = [(file, rank) for file in (3, 4, 5) for rank in ((7, 8, 9) if red else (0, 1, 2))]
    attackers = 0
    for at, kind in own.items():
        if kind in "RC":
            seen = [to for to in everywhere if _in_line(at, to) and pieces_between(board, at, to) == 0]
            empty = [to for to in seen if to not in board]
            found[{"R": "rook", "C": "cannon"}[kind] + "_mobility"] += len(empty)
            between = 0 if kind == "R" else 1
            hit = [to for to in palace if _in_line(at, to) and pieces_between(board, at, to) == between]
            if kind == "C":
                hit = [to for to in hit if to in board]
        elif kind == "N":
            found["horse_mobility"] += sum(to not in own and reaches(board, at, to) for to in everywhere)
            hit = [to for to in palace if reaches(board, at, to)]
        elif kind == "P":
            crossed = at[1] >= 5 if red else at[1] <= 4
            ahead = (at[0], at[1] + (1 if red else -1))
            if crossed:
                found["linked_pawns"] += own.get((at[0] + 1, at[1])) == "P"
            elif ahead in board:
                found["blocked_pawn"] += 1
            hit = [to for to in palace if reaches(board, at, to)] if crossed else []
        else:
            continue
        if hit:
            attackers += 1
            found[{"R": "rook", "C": "cannon", "N": "horse", "P": "pawn"}[kind] + "_on_palace"] += len(hit)
        if kind != "R" and (kind != "P" or crossed):
            for to, victim in other.items():
                if reaches(board, at, to):
                    found["attack_on_rook"] += victim == "R"
                    found["attack_on_minor"] += victim in "NC"
    found["second_attacker"] = int(attackers >= 2)
    found["third_attacker"] = int(attackers >= 3)
    general = next(at for at, kind in other.items() if kind == "K")
    for step in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        met = _met(board, general, step)
        letters = ["own" if is_red(board[at]) == red else "other" for at in met]
        kinds = [board[at][0].upper() for at in met]
        if letters[:1] == ["own"]:
            if kinds[0] == "C":
                found["open_cannon" if step[0] == 0 else "bottom_cannon"] += 1
        elif letters[1:2] == ["own"]:
            found["bound_to_rook"] += kinds[1] == "R"
        elif letters[2:3] == ["own"]:
            found["bound_to_cannon"] += kinds[2] == "C"
    numbers, theirs = Counter(own.values()), Counter(other.values())
    found["rook_on_bare_palace"] = numbers["R"] * (2 - theirs["A"])
    found["horse_on_bare_palace"] = numbers["N"] * (2 - theirs["A"])
    found["cannon_on_bare_river"] = numbers["C"] * (2 - theirs["B"])
    found["no_attacker"] = int(not any(numbers[letter] for letter in "RNCP"))
    majors = sum(numbers[letter] for letter in "RNC")
    found["single_attacker"] = int(majors == 1)
    found["no_major"] = int(majors == 0)
    found["no_pawn"] = int(numbers["P"] == 0)
    for name in XIANGQI_TERMS:
        for word, counts in (("_with_", numbers), ("_against_", theirs)):
            if word in name:
                first, second = name.split(word)
                found[name] = numbers[LETTERS[first]] * counts[LETTERS[second]]
    found.update(_attack_counts(board, own, other, general))
    return found


def _attack_counts(board: Board, own: dict[Square, str], other: dict[Square, str], general: Square) -> Counter[str]:
    """One side's terms that ask what attacks what, counted plainly."""
    found: Counter[str] = Counter()
    targets = {at: {to for to in EVERYWHERE if _attacks(board, at, to)} for at in board}
    # What a side attacks it defends where its own pieces stand.
    attacked, defended = (set().union(*(targets[at] for at in side)) for side in (own, other))
    for at, kind in other.items():
        if at in attacked and at not in defended:
            found["hanging_pawn"] += kind == "P"
            found["hanging_minor"] += kind in "NC"
            found["hanging_guard"] += kind in "AB"
    for to in EVERYWHERE:
        if to not in own and to not in defended:
            reached = {kind for at, kind in own.items() if kind in "RN" and to in targets[at]}
            is_open = to not in board and _in_line(to, general) and pieces_between(board, to, general) == 0
            found["rook_check"] += "R" in reached and is_open
            is_jump = sorted((abs(to[0] - general[0]), abs(to[1] - general[1]))) == [1, 2]
            found["horse_check"] += "N" in reached and is_jump
    home = next(at for at, kind in own.items() if kind == "K")
    found["general_squares"] = sum(to not in own and to not in defended for to in targets[home])
    return found


def _attacks(board: Board, at: Square, to: Square) -> bool:
    """Whether the piece on ``at`` attacks ``to``, whatever stands there: no cannon attacks an empty square."""
    kind = board[at][0].upper()
    if kind == "C" and to not in board:
        return False
    return reaches(board, at, to)


EVERYWHERE = [(file, rank) for file in range(9) for rank in range(10)]
LETTERS = {"advisor": "A", "elephant": "B", "horse": "N", "rook": "R", "cannon": "C", "pawn": "P"}


def _in_line(one: Square, other: Square) -> bool:
    return one != other and (one[0] == other[0] or one[1] == other[1])


def _met(board: Board, start: Square, step: Square) -> list[Square]:
    """The pieces met from a square in one direction."""
    met = []
    file, rank = start[0] + step[0], start[1] + step[1]
    while 0 <= file < 9 and 0 <= rank < 10:
        if (file, rank) in board:
            met.append((file, rank))
        file, rank = file + step[0], rank + step[1]
    return met


@pytest.mark.integration
def test_every_term_equals_a_plain_count() -> None:
    seen: Counter[str] = Counter()
    for text in positions(60):
        red, black = _both_counts(text)
        expected = {name: red[name] - black[name] for name in XIANGQI_TERMS}
        assert counted(prepared(text)) == expected, text
        seen.update(name for name in XIANGQI_TERMS if red[name] or black[name])
    # Random play leaves nobody without attackers.
    assert set(XIANGQI_TERMS) - set(seen) <= {"no_attacker"}


@pytest.mark.integration
def test_a_side_without_attackers_is_counted() -> None:
    assert counted(prepared("3k5/9/9/9/9/9/9/4B4/4A4/4KR3 w - - 0 1"))["no_attacker"] == -1


def _swapped(text: str) -> str:
    """The position with colours exchanged and the board turned."""
    rows, side = text.split()[:2]
    turned = "/".join(row[::-1] for row in reversed(rows.swapcase().split("/")))
    return f"{turned} {'b' if side == 'w' else 'w'} - - 0 1"


def _mirrored(text: str) -> str:
    rows, side = text.split()[:2]
    return f"{'/'.join(row[::-1] for row in rows.split('/'))} {side} - - 0 1"


@pytest.mark.parametrize("change", [_swapped, _mirrored])
def test_the_evaluation_is_symmetric(change: object) -> None:
    for text in positions(60):
        other = change(text)  # type: ignore[operator]
        values = [int(evaluation.evaluate(prepared(one).state, 0, -INFINITY, INFINITY)) for one in (text, other)]
        assert values[0] == values[1]


def test_outside_the_window_the_value_is_a_bound_and_inside_it_is_exact() -> None:
    generator = random.Random(9)
    kinds: Counter[str] = Counter()
    for text in positions(60):
        state = prepared(text).state
        exact = int(evaluation.evaluate(state, 0, -INFINITY, INFINITY))
        for _ in range(10):
            alpha = exact + generator.randrange(-600, 600)
            beta = alpha + generator.randrange(1, 100)
            value = int(evaluation.evaluate(state, 0, alpha, beta))
            if value == exact:
                kinds["exact"] += 1
            elif value <= alpha:
                assert exact <= value
                kinds["upper"] += 1
            else:
                assert beta <= value <= exact
                kinds["lower"] += 1
    assert min(kinds.values()) > 50
    assert len(kinds) == 3


@pytest.mark.integration
def test_the_evaluation_is_the_terms_and_the_squares_times_the_weights_of_the_phase() -> None:
    """Counted plainly, with the weights of the shipped file read as text."""
    weights = find_weights("xiangqi")
    assert weights.features == XIANGQI
    start, end = (dict(zip(XIANGQI, row, strict=True)) for row in weights.phases)
    phases = set()
    for text in positions(60):
        position = prepared(text)
        board, _ = read_board(text)
        now = int(terms.phase(position.state))
        phases.add(now)
        both = Counter[str]()
        for red, sign in ((True, 1), (False, -1)):
            both.update({name: sign * count for name, count in _both_counts(text)[not red].items()})
            for (file, rank), piece in board.items():
                if is_red(piece) == red:
                    kind = XIANGQI_PIECES["KABNRCP".index(piece[0].upper())]
                    both[f"{kind}_{'abcde'[min(file, 8 - file)]}{rank if red else 9 - rank}"] += sign
        sixteenths = {name: start[name] * now + end[name] * (PHASES - now) for name in XIANGQI}
        value = int(sum(both[name] * sixteenths[name] for name in XIANGQI[TERMS:]) / PHASES)  # towards zero
        pieces, places = (
            sum(both[name] * ((sixteenths[name] + PHASES // 2) // PHASES) for name in names)
            for names in (XIANGQI[terms.FIRST_OF_PIECES : TERMS], XIANGQI[: terms.FIRST_OF_PIECES])
        )
        value += pieces + min(max(places, -evaluation.MAX_OF_PLACES), evaluation.MAX_OF_PLACES)
        found = int(evaluation.evaluate(position.state, 0, -INFINITY, INFINITY))
        assert found == (value if position.side_to_move == 0 else -value), text
    assert len(phases) > 8
    assert int(terms.phase(prepared(GAME.start).state)) == PHASES
    assert int(terms.phase(prepared("3k5/9/9/9/9/9/9/9/9/4K4 w - - 0 1").state)) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("phases = [[2001]]", "2001, expected a whole number from -2000 to 2000"),
        ("phases = [[1], [2], [3]]", "phases has 3 rows, expected one or two rows of weights and nothing else"),
    ],
)
def test_weights_that_the_kernels_cannot_hold_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(f'game = "xiangqi"\nprovenance = "a test"\nfeatures = ["rook_e0"]\n{text}\n')
    with pytest.raises(UserError, match=said):
        resolve({"evaluation_weights": str(path)}, "preset.toml", game="xiangqi")


def test_weights_of_the_other_game_are_refused_and_never_read() -> None:
    for game, other in (("xiangqi", "othello"), ("othello", "xiangqi")):
        with pytest.raises(UserError, match=f"game = '{other}', expected {game}"):
            resolve({"evaluation_weights": other}, game=game)
    # A record made for no game in particular may name either file: the kernels look at the mark.
    state = GAME.position().state
    GAME.kernels.prepare(state, to_record(resolve({"evaluation": "full", "evaluation_weights": "othello"})))
    assert int(evaluation.full_score(state)) == 0
    assert not np.array(state.term_weights).any()


def test_the_largest_weights_keep_the_evaluation_below_a_decided_game(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text(
        'game = "xiangqi"\nprovenance = "a test"\n'
        f"features = {json.dumps(XIANGQI)}\nphases = [{[2000] * len(XIANGQI)}, {[2000] * len(XIANGQI)}]\n"
    )
    position = GAME.position("3k5/9/9/9/9/9/9/9/9/RNB1KABNR w - - 0 1")
    assert 20_000 < Engine("xiangqi", {"evaluation_weights": str(path)}).static_score(position) < BAN_BOUND
