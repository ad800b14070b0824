"""The public contract every game keeps: this suite runs over all games, and over the tiny one of ``tiny_game``.

A new game needs no test here: it appears by being in ``GAMES``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from elolab.engine.errors import UserError
from elolab.engine.games import GAMES, game_named
from elolab.engine.games.contract import (
    COMPILED_CONTRACT,
    PATH_OPEN,
    Game,
    MoveError,
    Position,
    PositionError,
    decode_verdict,
    encode_verdict,
)
from elolab.engine.games.evaluation_cache import WORDS
from elolab.engine.rules import REASONS, RESULTS, Rules
from elolab.engine.settings.parameters import resolve, to_record
from elolab.engine.values import INFINITY, MATE_BOUND, MAX_GAME_PLIES, MAX_MOVES, MAX_PLY, MOVE_BITS
from tests.support import tiny_game

ALL_GAMES = [*(game_named(name) for name in GAMES), tiny_game.GAME]


@pytest.fixture(params=ALL_GAMES, ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Game:
    found: Game = request.param
    return found


def played(game: Game, seeds: range, plies: int = 60) -> Iterator[Position]:
    """Every position of some random games, the last of each perhaps over."""
    for seed in seeds:
        generator = random.Random(seed)
        position = game.position()
        game.kernels.prepare(position.state, to_record(resolve({})))
        yield position
        for _ in range(plies):
            moves = position.legal_moves()
            if not moves:
                break
            position.push(generator.choice(moves))
            yield position


def test_a_positions_text_says_who_moves(game: Game) -> None:
    assert game.side_to_move("") == game.side_to_move(game.start) == 0
    for position in played(game, range(3)):
        assert game.side_to_move(position.text) == position.side_to_move


def test_empty_squares_are_counted_in_a_positions_text() -> None:
    assert game_named("xiangqi").side_to_move("3k5/9/9/9/9/9/9/9/9/5K3 r - - 0 1") == 0
    assert game_named("xiangqi").empty_squares(game_named("xiangqi").start) == 90 - 32
    assert game_named("othello").empty_squares(game_named("othello").start) == 60


def fields_of(position: Position) -> dict[str, list]:
    """The state without scratch and without what lies beyond the present ply."""
    found = {}
    for name in position.state.dtype.names:
        value = np.array(position.state[name])
        if name.startswith("undo_"):
            value = value[: int(position.state.ply)]
        if not name.startswith("exchange") and name != "critical":
            found[name] = value.tolist()
    return found


def test_a_game_describes_itself(game: Game) -> None:
    assert game.name.isidentifier()
    assert game.title
    assert len(game.side_names) == 2
    assert game.default_suite
    assert game.bench_positions
    assert game.position().text == game.start
    assert 0 < game.max_game_plies <= MAX_GAME_PLIES - MAX_PLY
    for bench in game.bench_positions:
        assert game.position(bench.text).text == game.position(game.position(bench.text).text).text
        assert bench.depth >= 1


def test_the_compiled_contract_is_complete(game: Game) -> None:
    for name in COMPILED_CONTRACT:
        assert callable(getattr(game.kernels, name))
    # What the search itself reads of a state.
    assert {"side", "ply", "key"} <= set(game.state_dtype.names)


def test_moves_are_legal_distinct_and_readable(game: Game) -> None:
    for position in played(game, range(3)):
        codes, moves = position.move_codes(), position.legal_moves()
        assert len(codes) == len(set(codes)) == len(set(moves)) <= MAX_MOVES
        for code, move in zip(codes, moves, strict=True):
            assert 0 < code < 1 << MOVE_BITS, "the table keeps so many bits of a move, 0 is none"
            assert position.code_of(move) == code
            assert game.format_move(code) == move
        quiet = [bool(game.kernels.is_quiet(position.state, code)) for code in codes]
        count = int(game.kernels.generate_noisy(position.state, position.lists, 1))
        noisy = [int(code) for code in position.lists.moves[1, :count]]
        assert sorted(noisy) == sorted(code for code, calm in zip(codes, quiet, strict=True) if not calm)
        for code in codes:
            assert 0 <= int(game.kernels.history_piece(position.state, code)) < 32


def test_perft_counts_what_pushing_counts(game: Game) -> None:
    position = game.position()
    assert game.kernels.perft(position.state, position.lists, 0) == 1
    assert game.kernels.perft(position.state, position.lists, 1) == len(position.legal_moves())
    leaves = 0
    for move in position.legal_moves():
        child = position.copy()
        child.push(move)
        leaves += len(child.legal_moves())
    assert game.kernels.perft(position.state, position.lists, 2) == leaves


def test_unmaking_restores_the_state_bit_for_bit(game: Game) -> None:
    for position in played(game, range(2), 40):
        checked = position.in_check
        before = fields_of(position)
        for code in position.move_codes():
            game.kernels.make(position.state, code)
            assert int(position.state.side) == 1 - before["side"]  # type: ignore[operator]
            assert int(position.state.ply) == before["ply"] + 1  # type: ignore[operator]
            assert int(position.state.key) != before["key"]
            key = int(position.state.key)
            now_checked = bool(game.kernels.in_check(position.state))
            assert now_checked == game.position(position.text).in_check, "what the last move tells is not what is there"
            game.kernels.unmake(position.state)
            assert bool(game.kernels.gives_check(position.state, code)) == now_checked
            told = int(game.kernels.key_after(position.state, code))
            assert told == key, "the prefetch would fetch the wrong bucket"
        if not checked and position.legal_moves():
            game.kernels.make_null(position.state)
            assert int(position.state.key) != before["key"]
            game.kernels.unmake_null(position.state)
        assert fields_of(position) == before


def test_text_round_trips_and_copies_are_independent(game: Game) -> None:
    for position in played(game, range(3)):
        twin = game.position(position.text)
        assert twin.text == position.text
        assert twin.side_to_move == position.side_to_move
        assert twin.state.key == position.state.key
        assert sorted(twin.legal_moves()) == sorted(position.legal_moves())
        copy = position.copy()
        assert copy.moves == position.moves
        if moves := copy.legal_moves():
            text = position.text
            copy.push(moves[0])
            assert position.text == text
            assert copy.ply == position.ply + 1


def test_evaluation_and_material_are_bounded_integers(game: Game) -> None:
    for position in played(game, range(3)):
        value = game.kernels.evaluate(position.state, 0, -INFINITY, INFINITY)
        assert isinstance(value, int)
        assert abs(value) < MATE_BOUND
        assert game.kernels.material(position.state) >= 0
        for code in position.move_codes():
            if not game.kernels.is_quiet(position.state, code):
                order = int(game.kernels.capture_order(position.state, code))
                assert abs(order) < 1 << 27, "captures must not reach the ranks of other moves"
                assert game.kernels.loses_material(position.state, code) in (True, False)


def test_evaluations_with_a_cache_are_the_same(game: Game) -> None:
    """With the default weights, of many games in one cache: positions met the first time, again and by other moves."""
    cache = np.zeros(WORDS, np.uint64)
    weights = to_record(resolve({}, game=game.name if game.name in GAMES else None))
    for _ in range(2):
        for position in played(game, range(12), 12):
            game.kernels.prepare(position.state, weights)
            exact = int(game.kernels.evaluate(position.copy().state, 0, -INFINITY, INFINITY))
            assert game.kernels.evaluate(position.state, cache.ctypes.data, -INFINITY, INFINITY) == exact
    used = np.count_nonzero(cache)
    assert used > 50 or game.name not in GAMES, "otherwise nothing was tested"


def test_a_game_ends_when_there_is_no_move_and_the_verdict_is_known(game: Game) -> None:
    for position in played(game, range(6), 200):
        ending = position.judge(Rules())
        if not position.legal_moves():
            assert ending is not None
            if abs(int(game.kernels.final_score(position.state))) >= MATE_BOUND:
                lost = "0-1" if position.side_to_move == 0 else "1-0"
                assert ending.result == lost
        if ending is not None:
            assert ending.result in RESULTS[:3]
            assert ending.reason in REASONS


def test_the_path_is_open_where_nothing_repeats(game: Game) -> None:
    for position in played(game, range(1), 2):
        if position.legal_moves() and position.judge(Rules()) is None:
            assert game.kernels.path_verdict(position.state, 0) == PATH_OPEN


def test_bad_texts_and_moves_are_user_errors(game: Game) -> None:
    for text in ("", "nonsense", "x" * 500, "\n"):
        with pytest.raises(PositionError):
            game.position(text)
    position = game.position()
    for move in ("", "zz99", "0000", position.legal_moves()[0] + "x"):
        with pytest.raises(MoveError):
            position.push(move)
    assert position.ply == 0
    with pytest.raises(MoveError):
        game.position(moves=[position.legal_moves()[0], "zz99"])


def test_verdict_codes_round_trip() -> None:
    for result in RESULTS:
        for reason in REASONS:
            ending = decode_verdict(encode_verdict(result, reason))
            assert (ending.result, ending.reason) == (result, reason)


def test_an_unknown_game_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match="did you mean 'xiangqi'"):
        game_named("xianqi")
