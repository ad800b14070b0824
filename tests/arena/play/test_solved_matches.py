"""Games that end by a solved endgame: with every kind of player, and what is kept and said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.notation.pgn import game_text, portable_game
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import run
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.solving import Solver
from tests.support.othello_match import PASS_NEXT, START, builtin, mock_spec, playing
from tests.support.report_files import write_report

GAME = game_named("othello")
OPENING = Opening(START, ("d3", "c3", "c4", "c5"))
SOLVED = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0, solved_empties=10)


def exact_score(record: GameRecord) -> int:
    """The score of the final position by the solver of ``elolab solve``, the first mover's view."""
    moves = [*record.opening.moves, *(entry.move for entry in record.moves)]
    position = GAME.position(record.opening.position, moves)
    score = Solver("othello", {"hash_mb": 16}, StopFlag()).solve(position).score
    return -score if position.side_to_move else score


def check(record: GameRecord) -> None:
    assert record.reason == "solved"
    assert GAME.empty_squares(record.final_position) <= SOLVED.solved_empties
    assert record.exact_score == exact_score(record)
    points = 0.5 if record.exact_score == 0 else float(record.exact_score > 0)
    assert record.score == points


@pytest.mark.integration
@pytest.mark.parametrize("protocol", ["gtp", "nboard"])
def test_games_of_other_programs_end_solved(protocol: str) -> None:
    with playing(mock_spec(protocol), builtin()) as play:
        records = [play(opening, SOLVED) for opening in (OPENING, Opening(START, ("f5", "d6")), PASS_NEXT)]
    solved = [record for record in records if record.reason != "final_score"]  # the mock may lose all its discs
    assert solved
    for record in solved:
        check(record)


def test_both_loops_end_with_the_same_record() -> None:
    first, second = builtin("one"), replace(builtin("two"), limits=replace(builtin().limits, depth=3))
    job = GameJob("othello", Rules(), SOLVED, Pairing(0, 0, 0, 1, 0), first, second, OPENING, 1)
    with GameRunner(1, StopFlag()) as runner:
        (compiled,) = runner.run([job])
    with playing(first, second) as play:
        driven = play(OPENING, SOLVED)
    check(compiled)
    assert (compiled.digest, compiled.detail, compiled.final_position) == (
        driven.digest, driven.detail, driven.final_position
    )  # fmt: skip


def test_the_key_of_a_game_tells_whether_endgames_are_solved() -> None:
    keys = {
        GameJob("othello", Rules(), adjudication, Pairing(0, 0, 0, 1, 0), builtin(), builtin(), OPENING, 1).key
        for adjudication in (SOLVED, replace(SOLVED, solved_empties=11), replace(SOLVED, solved_empties=0))
    }
    assert len(keys) == 3
    assert "solved_empties" not in Adjudication().content()


@pytest.mark.integration
def test_a_tournament_says_so_everywhere(tmp_path: Path, without_charts: None) -> None:
    data = {
        "game": "othello", "pairs": 3, "limit": "nodes=50", "adjudication": {"solved_empties": 12},
        "players": [{"name": "a"}, {"name": "b", "set": {"history": False}}],
    }  # fmt: skip
    spec = spec_from_mapping(data, str(tmp_path / "solved.toml"))
    run(spec, tmp_path / "run", concurrency=1)
    with Store(tmp_path / "run", read_only=True) as store:
        records = store.records()
    assert {record.reason for record in records} == {"solved"}
    for record in records:
        assert record.exact_score == exact_score(record)
        text = game_text(record, "cup", GAME)
        assert '[Termination "adjudication"]\n[Reason "solved"]' in text
        comment = portable_game(record, "cup", GAME).closing_comment
        winner = "Black" if record.exact_score > 0 else "White"
        won = f"{winner} wins by {abs(record.exact_score)} discs with best play"
        assert comment == (won if record.exact_score else "")
    for language, words in (
        ("en", "exact result with 12 or fewer empty squares"),
        ("zh", "空格不多于 12 个时精确求解"),
    ):
        (tmp_path / language).mkdir()
        page = write_report(tmp_path / language, spec, records, planned_games=6, language=language)
        assert words in page.read_text("utf-8")
    # What a folder holds was played so; without the key it is another tournament.
    del data["adjudication"]
    without = spec_from_mapping(data, str(tmp_path / "solved.toml"))
    with pytest.raises(UserError, match="solved_empties = 12 there, 0 in"):
        run(without, tmp_path / "run", concurrency=1)
