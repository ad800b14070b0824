"""Othello games that end by a solved endgame: exact endgames of others are the oracle, for both game loops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elolab.engine import play as playing
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.play import Arbiter, CompiledGames, EndgameSolver, PlayedGame, PlayerSettings
from elolab.engine.rules import Adjudication, Ending, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

GAME = game_named("othello")
DATA = Path(__file__).parents[1] / "data"
SHARED = json.loads((DATA / "othello_endgames.json").read_text("utf-8"))
FFO = json.loads((DATA / "othello_ffo.json").read_text("utf-8"))["positions"]
CASES = [
    case
    for case in [*SHARED["cases"], *SHARED["pass_cases"], *SHARED["game_over_cases"], *FFO]
    if case["empties"] <= 16
]
OPENINGS = (["d3", "c3", "c4"], ["f5", "d6", "c3", "d3"], ["e6", "f6"])


def text_of(case: dict[str, Any]) -> str:
    return f"{case['board']} {case['side']}"


def ending_of(score: int, side: int) -> Ending:
    """The ending by a score of the view of ``side``."""
    first = -score if side else score
    return Ending("1-0" if first > 0 else "0-1" if first < 0 else "1/2-1/2", "solved", first)


def expected_after(score: int, side: int, over: Ending | None) -> Ending:
    """The ending after a move of known score: where it ends the game by the rules, that is the reason."""
    ending = ending_of(score, side)
    return ending if over is None else Ending(ending.result, "final_score")


def solved_at(empties: int, **more: int) -> Adjudication:
    return Adjudication(**{"resign_moves": 0, "draw_moves": 0, "maximum_plies": 0, "solved_empties": empties} | more)


def player_settings(limits: str = "nodes=200", **parameters: Any) -> PlayerSettings:
    return PlayerSettings(resolve({"hash_mb": 1, **parameters}, game="othello"), Limits.parse(limits))


def play(adjudication: Adjudication, text: str | None = None, moves: list[str] | None = None) -> PlayedGame:
    return CompiledGames("othello").play(
        text or GAME.start, moves or [], player_settings(), player_settings("depth=3", time_divisor=30), Rules(),
        adjudication, StopFlag(),
    )  # fmt: skip


def played_in_python(adjudication: Adjudication, moves: list[str]) -> tuple[list[str], Ending]:
    """The same game by engine objects and the arbiter, a move at a time."""
    board = GAME.position(moves=moves)
    engines = [Engine("othello", side.parameters) for side in (player_settings(), player_settings())]
    limits = (Limits(nodes=200), Limits(depth=3))
    arbiter = Arbiter(board, Rules(), adjudication)
    ending = board.judge(Rules())
    while ending is None:
        side = board.side_to_move
        found = engines[side].search(board, limits[side])
        ending = after(arbiter, str(found.move), found.score)
    return board.moves[len(moves) :], ending


def after(arbiter: Arbiter, move: str, score: int | None) -> Ending | None:
    """The ending after a move, for whoever has nothing else to do."""
    ending = arbiter.play(move, score)
    return arbiter.solve() if arbiter.has_to_solve else ending


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['empties']}-{case.get('id', '')}")
def test_a_position_ends_with_its_exact_score(case: dict[str, Any]) -> None:
    position = GAME.position(text_of(case))
    assert EndgameSolver(StopFlag(), Adjudication()).ending(position) == ending_of(case["score"], position.side_to_move)
    assert position.text == text_of(case)


@pytest.mark.parametrize("case", [case for case in CASES if len(case.get("moves", {})) > 1 and case["empties"] <= 14])
def test_after_any_move_both_loops_end_with_the_scores_of_the_data(case: dict[str, Any]) -> None:
    side = GAME.position(text_of(case)).side_to_move
    adjudication = solved_at(16)
    for move, score in list(case["moves"].items())[:4]:
        over = GAME.position(text_of(case), [move]).judge(Rules())
        judged = after(Arbiter(GAME.position(text_of(case)), Rules(), adjudication), move, None)
        assert judged == expected_after(score, side, over)
    game = play(adjudication, text_of(case))
    (move,) = game.moves
    over = GAME.position(text_of(case), [move]).judge(Rules())
    assert Ending(game.result, game.reason, game.exact_score) == expected_after(case["moves"][move], side, over)


@pytest.mark.parametrize("opening", OPENINGS)
def test_both_loops_end_the_same_game_at_the_same_move(opening: list[str]) -> None:
    adjudication = solved_at(12)
    game = play(adjudication, moves=opening)
    assert (game.moves, Ending(game.result, game.reason, game.exact_score)) == played_in_python(adjudication, opening)
    assert game.reason == "solved"
    assert GAME.empty_squares(game.final_position) == 12
    # Up to there it is the game that is played without.
    whole = play(solved_at(0), moves=opening)
    assert whole.moves[: len(game.moves)] == game.moves
    assert (whole.reason, whole.exact_score) == ("final_score", None)


def test_what_is_exact_comes_before_what_players_agree_on_and_the_greatest_length() -> None:
    plies = 60 - 14 - len(OPENINGS[0])
    for more in ({"maximum_plies": plies}, {"draw_moves": 1, "draw_score": 30_000, "draw_after_ply": plies - 2}):
        game = play(solved_at(14, **more), moves=OPENINGS[0])
        assert (game.reason, len(game.moves)) == ("solved", plies)
        assert play(solved_at(10, **more), moves=OPENINGS[0]).reason in ("maximum_length", "draw_adjudication")


def test_a_position_that_takes_too_many_nodes_is_played_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both loops try again after every move, and adjudicate as usual where a position was not solved."""
    plain = play(solved_at(16), moves=OPENINGS[1])
    monkeypatch.setattr(playing, "SOLVING_NODES", 3000)
    for adjudication in (solved_at(16), solved_at(16, draw_moves=3, draw_score=30_000, draw_after_ply=44)):
        game = play(adjudication, moves=OPENINGS[1])
        ending = Ending(game.result, game.reason, game.exact_score)
        assert (game.moves, ending) == played_in_python(adjudication, OPENINGS[1])
        assert len(game.moves) > len(plain.moves)
    monkeypatch.setattr(playing, "SOLVING_NODES", 1)
    assert play(solved_at(16), moves=OPENINGS[1]).reason in ("solved", "final_score")


def test_a_game_solved_does_not_depend_on_those_before() -> None:
    games = CompiledGames("othello")
    stop = StopFlag()
    settings = (player_settings(), player_settings("depth=3"))
    found = [
        games.play(GAME.start, moves, *settings, Rules(), solved_at(14), stop)
        for moves in (*OPENINGS, *reversed(OPENINGS))
    ]
    for early, late in zip(found[:3], reversed(found[3:]), strict=True):
        assert (early.moves, early.nodes, early.exact_score) == (late.moves, late.nodes, late.exact_score)


def test_a_stop_while_solving_gives_the_game_up(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopFlag()
    ending = EndgameSolver.ending

    def stopped(self: EndgameSolver, position: Any) -> Ending | None:
        stop.set()
        return ending(self, position)

    monkeypatch.setattr(EndgameSolver, "ending", stopped)
    game = CompiledGames("othello").play(
        GAME.start, OPENINGS[0], player_settings(), player_settings(), Rules(), solved_at(20), stop
    )
    assert (game.result, game.reason) == ("*", "stopped")
