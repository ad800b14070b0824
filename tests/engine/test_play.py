"""Whole games in compiled code: the same whatever was played before, clocks, adjudication, stops.

A loop in Python over ``Engine`` and ``Arbiter`` is the oracle.
"""

from __future__ import annotations

import itertools
import random
import threading
from typing import Any

import pytest

from elolab.engine.engine import Clock, Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, PositionError
from elolab.engine.play import Arbiter, CompiledGames, PlayedGame, PlayerSettings
from elolab.engine.rules import Adjudication, Ending, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.values import MATE_BOUND
from tests.engine.search.test_search import mating_positions
from tests.support.adjudicator import Adjudicator

GAME = game_named("xiangqi")

OPENINGS = (
    ["h2e2", "h9g7", "h0g2", "i9h9"],
    ["b0c2", "c6c5", "h2h6", "b9c7"],
    ["g3g4", "b7e7", "h0g2", "b9c7", "b0a2", "a9b9"],
    [],
)

PLAIN = resolve({}, game="xiangqi")
OTHER = resolve(
    {"null_move": False, "history_index": "piece_to", "hash_mb": 1, "evaluation": "material"}, game="xiangqi"
)


def player_settings(limits: str, parameters: dict[str, Any] | None = None) -> PlayerSettings:
    """A side with its limits in the command line's notation."""
    return PlayerSettings(PLAIN if parameters is None else parameters, Limits.parse(limits))


def play(
    first: PlayerSettings,
    second: PlayerSettings,
    *,
    games: CompiledGames | None = None,
    position: str | None = None,
    moves: list[str] | None = None,
    rules: Rules | None = None,
    adjudication: Adjudication | None = None,
    stop: StopFlag | None = None,
) -> PlayedGame:
    """One compiled game."""
    return (games or CompiledGames("xiangqi")).play(
        position or GAME.start, moves or [], first, second, rules or Rules(), adjudication or Adjudication(),
        stop or StopFlag(),
    )  # fmt: skip


def played_in_python(
    first: PlayerSettings,
    second: PlayerSettings,
    *,
    position: str | None = None,
    moves: list[str] | None = None,
    rules: Rules | None = None,
    adjudication: Adjudication | None = None,
) -> PlayedGame:
    """The same game by engine objects and the arbiter, a move at a time."""
    rules, adjudication = rules or Rules(), adjudication or Adjudication()
    board = GAME.position(position, moves or [])
    engines = [Engine("xiangqi", side.parameters) for side in (first, second)]
    arbiter = Arbiter(board, rules, adjudication)
    record: dict[str, list[Any]] = {"moves": [], "scores": [], "depths": [], "nodes": [], "times_ms": []}
    ending = board.judge(rules)
    while ending is None:
        side = board.side_to_move
        found = engines[side].search(board, (first, second)[side].limits)
        for name, value in zip(record, (found.move, found.score, found.depth, found.nodes, found.time_ms), strict=True):
            record[name].append(value)
        ending = arbiter.play(str(found.move), found.score)
    return PlayedGame(**record, result=ending.result, reason=ending.reason, final_position=board.text)


def substance(game: PlayedGame) -> tuple[Any, ...]:
    """A game without its times."""
    return (game.moves, game.scores, game.depths, game.nodes, game.result, game.reason, game.final_position)


# --- The same game --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", range(len(OPENINGS)))
@pytest.mark.parametrize(
    ("one", "other"),
    [("nodes=300", "nodes=300"), ("nodes=1000", "nodes=100"), ("depth=3", "nodes=200"), ("depth=2", "depth=4")],
)
def test_the_compiled_game_is_the_one_python_plays(opening: int, one: str, other: str) -> None:
    first, second = player_settings(one), player_settings(other, OTHER)
    moves = OPENINGS[opening]
    assert substance(play(first, second, moves=moves)) == substance(played_in_python(first, second, moves=moves))


def test_a_game_is_legal_from_the_first_move_to_the_last() -> None:
    for number, opening in enumerate(OPENINGS):
        game = play(player_settings("nodes=200"), player_settings("nodes=400"), moves=opening)
        board = GAME.position(moves=opening)
        for move in game.moves:
            assert board.judge(Rules()) is None
            board.push(move)
        assert board.text == game.final_position
        assert game.reason in ("resign_adjudication", "maximum_length") or board.judge(Rules()) == Ending(
            game.result, game.reason
        )
        lengths = {len(values) for values in (game.moves, game.scores, game.depths, game.nodes, game.times_ms)}
        assert len(lengths) == 1, number
        for ply, (score, nodes) in enumerate(zip(game.scores, game.nodes, strict=True)):
            limit = 400 if (ply + len(opening)) % 2 else 200
            assert nodes <= limit
            assert abs(score) < MATE_BOUND or nodes <= limit


def test_rule_9_games_do_not_depend_on_those_before() -> None:
    """Any order, any number of times, by one object or by a new one for each game."""
    sides = [player_settings("nodes=150"), player_settings("nodes=150", OTHER), player_settings("nodes=400")]
    jobs = [
        (first, second, opening)
        for (first, second), opening in itertools.product(itertools.permutations(range(3), 2), range(3))
    ]
    alone = {
        job: substance(play(sides[job[0]], sides[job[1]], moves=OPENINGS[job[2]])) for job in jobs
    }  # a new object each
    assert len(set(map(str, alone.values()))) > 10, "the games should differ"
    generator = random.Random(1)
    games = CompiledGames("xiangqi")
    for _ in range(3):
        generator.shuffle(jobs)
        for job in jobs:
            found = play(sides[job[0]], sides[job[1]], moves=OPENINGS[job[2]], games=games)
            assert substance(found) == alone[job], job


def test_rules_adjudication_and_clocks_are_those_of_the_game() -> None:
    """One object plays under these and those in turn, from one opening, as a new one does."""
    flexible = player_settings("nodes=100"), player_settings("clock=0.05,node_clock=100000", OTHER)
    conditions: list[dict[str, Any]] = [
        {"adjudication": Adjudication(maximum_plies=12)},
        {"adjudication": Adjudication(draw_score=500, draw_moves=1, draw_after_ply=2)},
        {"rules": Rules(move_limit=6)},
        {"first": flexible[1], "second": flexible[0]},
        {"second": player_settings("clock=0.01,node_clock=100000", OTHER)},
    ]
    given = [{"first": flexible[0], "second": flexible[1], "moves": OPENINGS[1], **changed} for changed in conditions]
    alone = [substance(play(**one)) for one in given]
    assert len(set(map(str, alone))) == len(given), "the games should differ"
    games = CompiledGames("xiangqi")
    for number in (0, 1, 2, 3, 4, 2, 0, 4, 1):
        assert substance(play(**given[number], games=games)) == alone[number], number


def test_many_contenders_make_the_object_forget_tables_not_games() -> None:
    """It keeps a few tables only; a game after many others is still the same."""
    games = CompiledGames("xiangqi")
    first = player_settings("nodes=100")
    expected = substance(play(first, player_settings("nodes=100", OTHER)))
    for number in range(1, 20):
        other = player_settings(f"nodes={number}", OTHER)
        assert play(first, other, games=games, adjudication=Adjudication(maximum_plies=6)).moves
    assert substance(play(first, player_settings("nodes=100", OTHER), games=games)) == expected


def test_two_threads_play_the_games_one_plays() -> None:
    """The lock is released, and nothing is shared."""
    jobs = [(moves, limit) for moves in OPENINGS for limit in ("nodes=200", "nodes=301")]
    expected = [
        substance(play(player_settings(limit), player_settings(limit, OTHER), moves=moves)) for moves, limit in jobs
    ]
    found: dict[int, Any] = {}

    def work(part: int) -> None:
        games = CompiledGames("xiangqi")
        for number in range(part, len(jobs), 2):
            moves, limit = jobs[number]
            found[number] = substance(
                play(player_settings(limit), player_settings(limit, OTHER), moves=moves, games=games)
            )

    threads = [threading.Thread(target=work, args=(part,)) for part in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [found[number] for number in range(len(jobs))] == expected


def test_swapped_colours_swap_the_sides() -> None:
    game = play(player_settings("nodes=2000"), player_settings("depth=1"))
    swapped = play(player_settings("depth=1"), player_settings("nodes=2000"))
    # Only the side with the large limit reaches it.
    assert max(game.nodes[0::2]) == 2000 > max(game.nodes[1::2])
    assert max(swapped.nodes[1::2]) == 2000 > max(swapped.nodes[0::2])


def test_a_black_to_move_opening_gives_black_the_first_move() -> None:
    opening = ["h2e2"]
    game = play(
        player_settings("depth=1"),
        player_settings("nodes=777"),
        moves=opening,
        adjudication=Adjudication(maximum_plies=5),
    )
    assert game.nodes[0] == 777
    assert game.nodes[1] != 777


# --- Endings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "moves", "ending"),
    [
        ("1R1k5/R8/9/9/9/9/9/9/9/4K4 b", [], Ending("1-0", "checkmate")),
        ("3k5/R8/9/9/9/9/9/9/9/4K4 b", [], Ending("1-0", "stalemate")),
        ("4k4/9/9/9/9/9/9/9/3r5/3K5 w", ["d0d1"], Ending("1/2-1/2", "insufficient_material")),
        ("3k5/9/9/9/9/9/9/9/9/R4K3 w - - 120 80", [], Ending("1/2-1/2", "move_limit")),
        ("1nR6/3k5/9/9/9/9/9/4K4/9/9 w", ["c9c8", "d8d9", "c8c9", "d9d8"] * 2, Ending("0-1", "perpetual_check")),
        ("2R6/9/3k5/9/4n4/9/9/9/5K3/9 w", ["c9e9", "e5c4", "e9c9", "c4e5"] * 2, Ending("0-1", "perpetual_chase")),
    ],
)
def test_a_game_that_is_over_has_no_moves(fen: str, moves: list[str], ending: Ending) -> None:
    game = play(player_settings("depth=1"), player_settings("depth=1"), position=fen, moves=moves)
    assert (game.moves, Ending(game.result, game.reason)) == ([], ending)


def test_a_mate_is_played_and_counted() -> None:
    fen = next(fen for fen, plies in mating_positions(10, 3) if plies == 3)
    game = play(
        player_settings("depth=5"), player_settings("depth=5"), position=fen, adjudication=Adjudication(resign_moves=0)
    )
    assert (game.result, len(game.moves)) == ("1-0", 3)
    assert game.reason in ("checkmate", "stalemate")
    assert game.scores == [29_997, -29_998, 29_999]


def test_rules_decide_in_the_loop_too() -> None:
    """A rook that can only repeat: the outcome follows the rules in force."""
    side = player_settings("depth=1", resolve({"rules_in_search": False}, game="xiangqi"))
    endings = set()
    for rules in (Rules(move_limit=30), Rules(move_limit=0, fold=4), Rules(repetition="draw")):
        game = play(
            side, side, position="3k5/9/9/9/9/9/9/9/9/3AK4 w", rules=rules,
            adjudication=Adjudication(resign_moves=0, maximum_plies=200),
        )  # fmt: skip
        assert game.reason == "insufficient_material"
        pawns = play(
            side, side, position="3k5/4a4/9/p3p4/9/9/4P3P/9/4A4/5K3 w", rules=rules,
            adjudication=Adjudication(resign_moves=0, maximum_plies=300),
        )  # fmt: skip
        endings.add((pawns.reason, len(pawns.moves)))
    assert len(endings) > 1


def test_maximum_length_and_the_states_own_limit() -> None:
    for maximum in (1, 2, 17):
        game = play(
            player_settings("nodes=50"), player_settings("nodes=50"), adjudication=Adjudication(maximum_plies=maximum)
        )
        assert (game.result, game.reason, len(game.moves)) == ("1/2-1/2", "maximum_length", maximum)
    endless = Rules(repetition="draw", fold=10_000, move_limit=0, insufficient=False)
    game = play(
        player_settings("depth=1"), player_settings("depth=1"), position="3k5/9/9/9/9/9/9/9/9/3AK4 w", rules=endless,
        adjudication=Adjudication(resign_moves=0, maximum_plies=0),
    )  # fmt: skip
    assert (game.result, game.reason) == ("1/2-1/2", "maximum_length")
    assert len(game.moves) == GAME.max_game_plies


# --- Clocks ---------------------------------------------------------------------------------------------------------

NODE = "node_clock=1000000"
"""A node costs a microsecond."""


def test_a_side_that_cannot_keep_its_time_forfeits() -> None:
    """No clock ends the first iteration, so a first iteration too deep for the clock loses on time."""
    slow = resolve({"min_depth": 8}, game="xiangqi")
    patient = player_settings("nodes=200")
    game = play(player_settings(f"clock=0.05,{NODE}", slow), patient)
    assert (game.result, game.reason) == ("0-1", "time_forfeit")
    assert len(game.moves) % 2 == 1, "the move is recorded, then the flag falls"
    assert sum(game.times_ms[0::2]) > 50 >= sum(game.times_ms[0:-1:2])
    swapped = play(patient, player_settings(f"clock=0.05,{NODE}", slow))
    assert (swapped.result, swapped.reason) == ("1-0", "time_forfeit")


def test_clocks_are_kept_to_the_node() -> None:
    """A player who minds the clock never forfeits, and spends what the rule allocates."""
    side = player_settings(f"clock=0.3+0.002,{NODE}")
    game = play(side, side, moves=OPENINGS[0])
    assert game.reason != "time_forfeit"
    remaining = [300.0, 300.0]
    for ply, (nodes, milliseconds) in enumerate(zip(game.nodes, game.times_ms, strict=True)):
        assert milliseconds == nodes / 1000
        clock = remaining[ply % 2]
        proper = 2 + clock / 20
        assert milliseconds <= max(2.401 * proper, 1.0), "the hard limit, or a first iteration"
        remaining[ply % 2] += 2 - milliseconds
        assert remaining[ply % 2] >= 0
    again = play(side, side, moves=OPENINGS[0])
    assert substance(again) == substance(game)
    assert again.times_ms == game.times_ms


def test_moves_per_control_refill_the_clock() -> None:
    """Six moves in 60 ms, then 60 ms more: the time spent on n moves never exceeds what was given by then."""
    side = player_settings(f"clock=6/0.06+0,{NODE}", resolve({"clock_reserve_ms": 1}, game="xiangqi"))
    game = play(side, side, adjudication=Adjudication(resign_moves=0, maximum_plies=60))
    assert game.reason == "maximum_length"
    for first in (0, 1):
        spent = list(itertools.accumulate(game.times_ms[first::2]))
        for number, total in enumerate(spent, 1):
            assert total <= 60 * (1 + (number - 1) // 6)
        assert spent[-1] > 150, "later controls were never given"


@pytest.mark.integration
def test_clocked_games_equal_those_of_the_python_loop() -> None:
    """The clock's state handed over to the nanosecond."""
    limits = Limits.parse(f"clock=4/0.05+0.001,{NODE}")
    side = PlayerSettings(PLAIN, limits)
    game = play(side, side, adjudication=Adjudication(maximum_plies=50))
    board = GAME.position()
    GAME.apply_rules(board.state, Rules())
    engines = [Engine("xiangqi"), Engine("xiangqi")]
    remaining, made = [50_000_000, 50_000_000], [0, 0]
    for ply, move in enumerate(game.moves):
        mover = ply % 2
        clock = Clock(0, moves_to_go=4 - made[mover] % 4, remaining_ns=remaining[mover])
        found = engines[mover].search(board, limits, clock)
        assert (found.move, found.nodes, found.score) == (move, game.nodes[ply], game.scores[ply]), ply
        board.push(move)
        made[mover] += 1
        remaining[mover] += 1_000_000 - round(found.time_ms * 1e6) + (50_000_000 if made[mover] % 4 == 0 else 0)


@pytest.mark.parametrize("limit", ["clock=0.4+0.01", "clock=0.4+0.01,cpu", "move_time=0.01"])
def test_games_on_real_clocks_end(limit: str) -> None:
    game = play(player_settings(limit), player_settings("nodes=100"), adjudication=Adjudication(maximum_plies=12))
    assert game.moves
    assert game.result in ("1-0", "0-1", "1/2-1/2")


# --- Adjudication ---------------------------------------------------------------------------------------------------

ADJUDICATIONS = (
    Adjudication(),
    Adjudication(resign_score=300, resign_moves=2, draw_moves=3, draw_score=60, draw_after_ply=4),
    Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0),
    Adjudication(resign_score=150, resign_moves=1),
    Adjudication(resign_score=100, resign_moves=2, resign_twosided=False),
    Adjudication(resign_moves=0, draw_moves=2, draw_score=200, draw_after_ply=0, maximum_plies=90),
)


@pytest.mark.parametrize("number", range(len(ADJUDICATIONS)))
def test_the_arbiter_ends_games_where_the_compiled_loop_does(number: int) -> None:
    for opening in OPENINGS:
        first, second = player_settings("nodes=150"), player_settings("nodes=60", OTHER)
        game = play(first, second, moves=opening, adjudication=ADJUDICATIONS[number])
        board = GAME.position(moves=opening)
        arbiter = Arbiter(board, Rules(), ADJUDICATIONS[number])
        endings = [arbiter.play(move, score) for move, score in zip(game.moves, game.scores, strict=True)]
        assert endings == [None] * (len(game.moves) - 1) + [Ending(game.result, game.reason)]
        assert board.text == game.final_position


def plainly_adjudicated(rule: Adjudication, scores: list[int | None], restarts: set[int]) -> list[Ending | None]:
    """The rule's text, over whole histories; side 0 moves first. The plies ``restarts`` restart the count of draws."""
    found: list[Ending | None] = []
    for ply in range(1, len(scores) + 1):
        sides = [scores[side:ply:2] for side in (0, 1)]

        def run(values: list[int | None], number: int, good: Any) -> bool:
            return len(values) >= number > 0 and all(score is not None and good(score) for score in values[-number:])

        ending = None
        for side in (0, 1):
            if run(sides[side], rule.resign_moves, lambda score: score <= -rule.resign_score) and (
                not rule.resign_twosided
                or run(sides[1 - side], rule.resign_moves, lambda score: score >= rule.resign_score)
            ):
                ending = Ending(("0-1", "1-0")[side], "resign_adjudication")
        since = max((rule.draw_after_ply, *(restart - 1 for restart in restarts if restart <= ply)))
        counted = [scores[index] if index >= since else None for index in range(ply)]
        if ending is None and all(
            run(counted[side::2], rule.draw_moves, lambda score: abs(score) <= rule.draw_score) for side in (0, 1)
        ):
            ending = Ending("1/2-1/2", "draw_adjudication")
        if ending is None and 0 < rule.maximum_plies <= ply:
            ending = Ending("1/2-1/2", "maximum_length")
        found.append(ending)
    return found


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(other, marks=pytest.mark.integration) for other in range(1, len(ADJUDICATIONS)))]
)
def test_the_adjudicator_follows_the_rules_text(number: int) -> None:
    rule = ADJUDICATIONS[number]
    generator = random.Random(number)
    endings = 0
    for _ in range(300):
        level = generator.choice((0, 30, 200, 1200))
        scores: list[int | None] = []
        for ply in range(generator.randrange(1, 100)):
            score = generator.choice((level, level, level + generator.randrange(-80, 80)))
            scores.append(None if generator.random() < 0.03 else score * (1 - 2 * (ply % 2)))
        adjudicator = Adjudicator(rule)
        often = generator.choice((0, 0.05, 0.2))
        restarts = {ply for ply in range(1, len(scores) + 1) if generator.random() < often}
        expected = plainly_adjudicated(rule, scores, restarts)
        for ply, score in enumerate(scores, 1):
            ending = adjudicator.after_move((ply - 1) % 2, score, ply, ply in restarts)
            assert ending == expected[ply - 1], (ply, scores[:ply], restarts)
            if ending:
                endings += 1
                break
    assert endings > 20 or rule.resign_moves == 0 == rule.draw_moves


def test_both_sides_must_agree_on_a_resignation() -> None:
    adjudicator = Adjudicator(Adjudication(resign_score=500, resign_moves=2))
    for ply, (mover, score) in enumerate([(0, -900), (1, 400), (0, -900), (1, 600), (0, -900)], 1):
        assert adjudicator.after_move(mover, score, ply) is None
    assert adjudicator.after_move(1, 500, 6) == Ending("0-1", "resign_adjudication")


# --- Stops and mistakes ---------------------------------------------------------------------------------------------


def test_a_flag_set_beforehand_plays_nothing() -> None:
    flag = StopFlag()
    flag.set()
    game = play(player_settings("nodes=100"), player_settings("nodes=100"), stop=flag)
    assert (game.result, game.reason, game.moves) == ("*", "stopped", [])
    flag.clear()
    assert play(player_settings("nodes=100"), player_settings("nodes=100"), stop=flag).reason != "stopped"


def test_each_game_heeds_its_own_flag() -> None:
    games, quiet, raised = CompiledGames("xiangqi"), StopFlag(), StopFlag()
    raised.set()
    sides = player_settings("nodes=100"), player_settings("nodes=100", OTHER)
    first = play(*sides, games=games, stop=quiet)
    assert play(*sides, games=games, stop=raised).reason == "stopped"
    assert substance(play(*sides, games=games, stop=quiet)) == substance(first)


def test_a_flag_set_from_another_thread_stops_the_game() -> None:
    flag, found = StopFlag(), []
    games = CompiledGames("xiangqi")
    endless = player_settings("nodes=100000000")
    thread = threading.Thread(target=lambda: found.append(play(endless, endless, games=games, stop=flag)))
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    flag.set()
    thread.join(20)
    assert not thread.is_alive()
    assert (found[0].result, found[0].reason) == ("*", "stopped")
    # Played again from the beginning by the same object it is the game it would have been.
    flag.clear()
    first, second = player_settings("nodes=200"), player_settings("nodes=200", OTHER)
    assert substance(play(first, second, games=games, stop=flag)) == substance(play(first, second))


def test_an_illegal_position_or_opening_is_named() -> None:
    with pytest.raises(PositionError, match="face each other"):
        play(player_settings("depth=1"), player_settings("depth=1"), position="4k4/9/9/9/9/9/9/9/9/4K4 w")
    with pytest.raises(MoveError, match="after 1 move in"):
        play(player_settings("depth=1"), player_settings("depth=1"), moves=["h2h9", "a0a1"])
