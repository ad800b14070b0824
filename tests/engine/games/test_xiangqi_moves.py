"""Moves of Xiangqi: counts against shared figures, every position of random games against pyffish, incremental sums."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pyffish
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position, PositionError
from elolab.engine.games.packed_values import at_start
from elolab.engine.games.xiangqi import evaluation, position
from elolab.engine.rules import Rules
from elolab.engine.settings.parameters import resolve, to_record
from elolab.engine.values import INFINITY
from tests.support import plain_xiangqi
from tests.support.effort import EFFORT

GAME = game_named("xiangqi")
PERFT = json.loads((Path(__file__).parents[2] / "data" / "xiangqi_perft.json").read_text("utf-8"))["positions"]

EVALUATIONS = ("squares", "material_chess", "material", "piece_square")


def to_pyffish(move: str) -> str:
    """The move with ranks counted from 1."""
    return f"{move[0]}{int(move[1]) + 1}{move[2]}{int(move[3]) + 1}"


def random_game(seed: int, plies: int, taste: str = "any") -> Position:
    """A random game; ``taste`` prefers captures or checks so that games get sharp."""
    generator = random.Random(seed)
    game = GAME.position()
    for _ in range(plies):
        moves = game.legal_moves()
        if not moves or game.judge(Rules(move_limit=0)):
            break
        preferred = moves
        if taste == "captures" and generator.random() < 0.5:
            codes = game.move_codes()
            preferred = [GAME.format_move(code) for code in codes if not GAME.kernels.is_quiet(game.state, code)]
        elif taste == "checks" and generator.random() < 0.7:
            board, red = plain_xiangqi.read_board(game.text)
            preferred = [
                move for move in moves
                if plain_xiangqi.in_check(plain_xiangqi.play(board, *plain_xiangqi.read_move(move)), not red)
            ]  # fmt: skip
        game.push(generator.choice(preferred or moves))
    return game


# --- Counts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PERFT, ids=[case["name"] for case in PERFT])
def test_perft_equals_the_shared_counts(case: dict) -> None:
    game = GAME.position(case["fen"])
    for depth, count in case["perft"].items():
        assert GAME.kernels.perft(game.state, game.lists, int(depth)) == count, f"depth {depth}"
    assert game.text.split()[0] == case["fen"].split()[0], "perft left another position behind"


# --- Against pyffish ------------------------------------------------------------------------------------------------


@EFFORT
@pytest.mark.parametrize("taste", ["any", "captures", "checks"])
def test_random_games_agree_with_pyffish(taste: str, effort: int) -> None:
    """Legal moves, check, position text and mates in hundreds of positions of each kind of game."""
    positions = checks = endings = 0
    for seed in range(effort):
        generator = random.Random(seed)
        moves = random_game(seed, 100, taste).moves
        game = GAME.position()
        fen = pyffish.start_fen("xiangqi")
        for number in range(len(moves) + 1):
            expected = pyffish.legal_moves("xiangqi", fen, [])
            found = game.legal_moves()
            assert sorted(map(to_pyffish, found)) == sorted(expected), fen
            assert len(set(found)) == len(found)
            assert game.in_check == pyffish.gives_check("xiangqi", fen, []), fen
            assert game.text == fen, "the texts of one position differ"
            board, _ = plain_xiangqi.read_board(fen)
            assert sorted(noisy(game)) == sorted(m for m in found if plain_xiangqi.read_move(m)[1] in board), fen
            ending = game.judge(Rules(move_limit=0, insufficient=False))
            if not expected:
                endings += 1
                assert ending is not None
                assert ending.reason == ("checkmate" if game.in_check else "stalemate")
                # No legal move loses: pyffish says it from the side to move.
                assert pyffish.game_result("xiangqi", fen, []) == -pyffish.VALUE_MATE
                assert ending.result == ("0-1" if game.side_to_move == 0 else "1-0")
            else:
                assert ending is None or ending.reason in ("repetition", "perpetual_check", "perpetual_chase")
            positions += 1
            checks += game.in_check
            if number < len(moves):
                # An illegal move is refused, and the position stays.
                illegal = f"{generator.choice('abcdefghi')}{generator.randrange(10)}"
                illegal += f"{generator.choice('abcdefghi')}{generator.randrange(10)}"
                if illegal not in found:
                    with pytest.raises(MoveError, match=illegal):
                        game.push(illegal)
                fen = pyffish.get_fen("xiangqi", fen, [to_pyffish(moves[number])])
                game.push(moves[number])
    assert positions > 60 * effort, positions
    if taste == "checks":
        assert checks > 6 * effort, checks


def noisy(game: Position) -> list[str]:
    """The moves quiescence would try."""
    count = int(GAME.kernels.generate_noisy(game.state, game.lists, 0))
    return [GAME.format_move(int(code)) for code in game.lists.moves[0, :count]]


@EFFORT
def test_random_endings_agree_with_pyffish(effort: int) -> None:
    """Few pieces, open lines, generals that face each other: legal moves, check and mates of hundreds of positions."""
    generator = random.Random(11)
    ended = 0
    for _ in range(120 * effort):
        game = random_ending(generator)
        fen = game.text
        expected = pyffish.legal_moves("xiangqi", fen, [])
        assert sorted(map(to_pyffish, game.legal_moves())) == sorted(expected), fen
        assert game.in_check == pyffish.gives_check("xiangqi", fen, []), fen
        ended += not expected
    assert ended > 0


ENDING_PIECES = ("KRkn", "KRRkrc", "KCAAkrbb", "KNNkcaa", "KRCPkrcp", "KPPPkppp", "KRNCkrnc", "KRCNPkrcnp", "KCCNkrr")


def allowed_squares(letter: str) -> list[tuple[int, int]]:
    """Files and ranks on which a piece can stand."""
    squares = [(file, rank) for file in range(9) for rank in range(10)]
    own = {
        "K": lambda file, rank: 3 <= file <= 5 and rank <= 2,
        "A": lambda file, rank: (file, rank) in {(3, 0), (5, 0), (4, 1), (3, 2), (5, 2)},
        "B": lambda file, rank: (file, rank) in {(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)},
        "P": lambda file, rank: rank >= 5 or (rank >= 3 and file % 2 == 0),
    }.get(letter.upper(), lambda file, rank: True)
    return [(file, rank) for file, rank in squares if own(file, rank if letter.isupper() else 9 - rank)]


ALLOWED_SQUARES = {letter: allowed_squares(letter) for letter in "KABNRCPkabnrcp"}


def random_ending(generator: random.Random, pieces: str | None = None) -> Position:
    """A random legal position of a few pieces."""
    while True:
        rows = [["1"] * 9 for _ in range(10)]
        for letter in pieces or generator.choice(ENDING_PIECES):
            file, rank = generator.choice(ALLOWED_SQUARES[letter])
            rows[9 - rank][file] = letter
        try:
            return GAME.position(GAME.position("/".join(map("".join, rows)) + f" {generator.choice('wb')}").text)
        except PositionError:
            continue


# --- What is kept incrementally -------------------------------------------------------------------------------------


def recounted(game: Position) -> dict[str, object]:
    """Every incremental sum of a state, counted anew from its text."""
    fresh = GAME.position(game.text)
    record = to_record(resolve({"evaluation": EVALUATIONS[max(0, int(game.state.evaluation) - 1)]}))
    if int(game.state.evaluation):
        GAME.kernels.prepare(fresh.state, record)
    sums = ("key", "score", "crossers", "pieces", "counts", "occupied", "file_bits", "material", "side")
    return {name: np.array(fresh.state[name]).tolist() for name in sums}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_hash_and_sums_equal_a_full_recount(name: str) -> None:
    record = to_record(resolve({"evaluation": name}))
    generator = random.Random(5)
    for _ in range(2):
        game = GAME.position()
        GAME.kernels.prepare(game.state, record)
        for _ in range(120):
            moves = game.legal_moves()
            if not moves:
                break
            game.push(generator.choice(moves))
            expected = recounted(game)
            assert {key: np.array(game.state[key]).tolist() for key in expected} == expected
            assert int(evaluation.full_score(game.state)) == int(game.state.score)
            if name != "full":
                value = int(GAME.kernels.evaluate(game.state, 0, -INFINITY, INFINITY))
                assert value == int(at_start(game.state.score)) * (1 - 2 * game.side_to_move)


def test_the_evaluation_is_that_of_the_same_position_set_up_anew() -> None:
    kernels, record = GAME.kernels, to_record(resolve({}))
    generator = random.Random(5)
    game = GAME.position()
    kernels.prepare(game.state, record)

    def value(position: Position) -> int:
        return int(kernels.evaluate(position.state, 0, -INFINITY, INFINITY))

    def afresh(text: str) -> int:
        position = GAME.position(text)
        kernels.prepare(position.state, record)
        return value(position)

    compared = 0
    while (moves := game.legal_moves()) and len(game.moves) < 100:
        known = value(game)
        assert known == afresh(game.text)
        for move in moves[::7]:
            kernels.make(game.state, game.code_of(move))
            assert value(game) == afresh(GAME.format_state(game.state))
            kernels.unmake(game.state)
            assert value(game) == known
            compared += 1
        if not game.in_check:
            kernels.make_null(game.state)
            assert value(game) == -known == afresh(GAME.format_state(game.state))
            kernels.unmake_null(game.state)
        captures = noisy(game)
        game.push(generator.choice(captures if captures and generator.random() < 0.5 else moves))
    assert compared > 100


def test_the_key_tells_positions_apart_and_paths_not() -> None:
    one = GAME.position(moves=["h2e2", "h9g7", "b0c2"])
    other = GAME.position(moves=["b0c2", "h9g7", "h2e2"])
    assert one.state.key == other.state.key
    assert one.text.split()[0] == other.text.split()[0]
    keys = {}
    for seed in range(20):
        game = random_game(seed, 60)
        replay = GAME.position()
        for move in game.moves:
            replay.push(move)
            board = " ".join(replay.text.split()[:2])
            assert keys.setdefault(int(replay.state.key), board) == board, "two positions share a key"
    assert len(keys) > 800


def test_another_evaluation_in_mid_game_is_recounted() -> None:
    game = GAME.position()
    generator = random.Random(3)
    for ply in range(60):
        GAME.kernels.prepare(game.state, to_record(resolve({"evaluation": EVALUATIONS[ply % 3]})))
        assert int(game.state.score) == int(evaluation.full_score(game.state))
        game.push(generator.choice(game.legal_moves()))


def snapshot(game: Position) -> dict[str, list]:
    """Every field of a state but scratch and what lies beyond the present ply."""
    fields = {}
    for name in game.state.dtype.names:
        value = np.array(game.state[name])
        if name.startswith("undo_"):
            value = value[: int(game.state.ply)]
        if not name.startswith("exchange") and name != "critical":
            fields[name] = value.tolist()
    return fields


@pytest.mark.parametrize("taste", ["any", "captures", "checks"])
def test_making_and_unmaking_restores_the_state_bit_for_bit(taste: str) -> None:
    kernels = GAME.kernels
    for seed in range(3):
        game = random_game(seed, 80, taste)
        kernels.prepare(game.state, to_record(resolve({})))
        checked = game.in_check
        before = snapshot(game)
        for code in game.move_codes():
            kernels.make(game.state, code)
            assert snapshot(game) != before
            for reply in game.move_codes()[:6]:
                kernels.make(game.state, reply)
                kernels.unmake(game.state)
            kernels.in_check(game.state)
            kernels.unmake(game.state)
            assert snapshot(game) == before
        if not checked:
            kernels.make_null(game.state)
            assert int(game.state.side) != before["side"]
            assert int(game.state.key) == int(before["key"]) ^ int(position.SIDE_KEY)
            assert int(game.state.reversible) == 0
            for code in game.move_codes()[:10]:
                kernels.make(game.state, code)
                kernels.unmake(game.state)
            kernels.unmake_null(game.state)
            assert snapshot(game) == before


def test_the_exchange_equals_a_plain_one() -> None:
    """Static exchange evaluation against a recursion on the dictionary board, over captures of random positions."""
    compared = losing = 0
    for seed in range(3):
        game = GAME.position()
        GAME.kernels.prepare(game.state, to_record(resolve({})))
        for move in random_game(seed, 90).moves:
            game.push(move)
            board, _ = plain_xiangqi.read_board(game.text)
            before = snapshot(game)
            for capture in noisy(game):
                code = game.code_of(capture)
                expected = plain_exchange(board, *plain_xiangqi.read_move(capture))
                assert bool(GAME.kernels.loses_material(game.state, code)) == (expected < 0), (game.text, capture)
                compared += 1
                losing += expected < 0
            assert snapshot(game) == before
    assert compared > 500
    assert losing > 100


VALUES = {"A": 200, "B": 200, "N": 400, "R": 900, "C": 450, "P": 100, "K": 10_000}


def plain_exchange(board: plain_xiangqi.Board, origin: plain_xiangqi.Square, target: plain_xiangqi.Square) -> int:
    """What the mover wins when both sides go on capturing with their cheapest piece and may stop at any time."""
    values = VALUES
    victim = values[board[target][0].upper()]
    after = plain_xiangqi.play(board, origin, target)
    mover_is_red = plain_xiangqi.is_red(board[origin])
    replies = [
        at for at, piece in after.items()
        if plain_xiangqi.is_red(piece) != mover_is_red and plain_xiangqi.reaches(after, at, target)
    ]  # fmt: skip
    if not replies:
        return victim
    best = max(
        plain_exchange(after, at, target)
        for at in replies
        if values[after[at][0].upper()] == min(values[after[at][0].upper()] for at in replies)
    )
    return victim - max(0, best)
