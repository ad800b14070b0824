"""Fitting an evaluation: its features are the evaluation's own, hold-out is by game, and the same command repeats."""

from __future__ import annotations

import io
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from elolab import command_line
from elolab.arena.notation.openings import is_reserved_for_validation
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.records import GameRecord, Opening, Pairing, PlayerSpec
from elolab.arena.run import KIND, RunError
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import EvaluationFitting
from elolab.engine.games.othello import patterns
from elolab.engine.games.othello.evaluation import read_patterns
from elolab.engine.rules import Adjudication
from elolab.engine.settings.features import OTHELLO
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.settings.weights import STEPS, find_weights, pattern_rows, patterns_text, read_weights, steps_of
from elolab.engine.solving import Solver
from elolab.tuning.evaluation.evaluation_fit import FitResult, FitSpec, fit_evaluation, fit_from_plain, weights_text
from elolab.tuning.evaluation.held_out import FitError, is_held_out
from elolab.tuning.evaluation.pattern_ridge import PatternSample, best_of_phases, fit_patterns
from elolab.tuning.evaluation.ridge import Sample, fit, phases_of, root_mean_square
from elolab.tuning.evaluation.scored_positions import Scoring, positions_of
from elolab.tuning.evaluation.self_play import SelfPlay, games_of, stored_games
from elolab.tuning.reports.fit_report import fit_data, fit_document, fit_text

ROOT = Path(__file__).parents[3]
GAME = game_named("othello")
FEATURES = OTHELLO


def fitting() -> EvaluationFitting:
    found = GAME.fitting
    assert found is not None
    return found


def spec(**changes: object) -> FitSpec:
    values: dict[str, object] = {
        "game": "othello", "start": "othello-by-hand", "games": 40, "limits": Limits(depth=1), "seed": 5,
        "iterations": 1, "until_no_gain": False, "phases": 2, "patterns": False, "score_share": 0, "match_pairs": 0,
        "match_limits": (Limits(depth=1),),
    }  # fmt: skip
    return FitSpec(**{**values, **changes})  # type: ignore[arg-type]


def run(out: Path, concurrency: int = 1, *, cluster: Executor | None = None, **changes: object) -> FitResult:
    return fit_evaluation(spec(**changes), out, concurrency=concurrency, stream=io.StringIO(), cluster=cluster)


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FitResult]:
    """Two iterations of few games, with matches."""
    out = tmp_path_factory.mktemp("fitted") / "out"
    return out, run(out, iterations=2, match_pairs=3)


@pytest.mark.integration
def test_the_games_are_the_same_in_every_folder(fitted: tuple[Path, FitResult], tmp_path: Path) -> None:
    _, whole = fitted
    assert run(tmp_path / "deeper" / "weights#1", iterations=2, match_pairs=3).digest == whole.digest
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # where there are no such files
        assert run(tmp_path / "far", iterations=2, match_pairs=3, cluster=pool).digest == whole.digest


# Features


@pytest.mark.integration
def test_features_times_weights_are_the_evaluation() -> None:
    generator = random.Random(41)
    for name in ("othello", "othello-by-hand"):
        engine = Engine("othello", {"evaluation_weights": name})
        weights = find_weights(name)
        table = steps_of(weights)
        seen = set()
        for _ in range(6):
            position = GAME.position()
            while moves := position.legal_moves():
                position.push(generator.choice(moves))
            rows = fitting().rows_of_game(position.start, position.moves)
            steps, features = fitting().survey(rows)
            can_move = fitting().usable(rows)
            values = np.einsum("nf,nf->n", features, table[steps])
            if weights.pattern_phases:
                patterned = pattern_rows(weights).astype(np.int64)
                phases = phases_of(steps, weights.pattern_phases)
                values += patterned[phases[:, None], fitting().patterns(rows)].sum(axis=1)
            assert len(rows) == len(position.moves) + 1
            walked = GAME.position()
            for ply, row in enumerate(rows):
                assert bool(can_move[ply]) == (walked.legal_moves() not in ([], ["pass"]))
                if walked.legal_moves():
                    expected = min(max(int(values[ply]), -6300), 6300)
                    assert engine.static_score(walked) == expected
                    assert engine.static_score(GAME.position(fitting().text_of(row))) == expected
                    walked.push(position.moves[ply])
                seen.add(int(steps[ply]))
        assert len(seen) == STEPS


def mirrored_values(board: str, side: str, engine: Engine) -> set[int]:
    """Static scores of all images of a board, and of each with colours exchanged."""
    rows = [board[start : start + 8] for start in range(0, 64, 8)]
    exchanged = str.maketrans("XO", "OX")
    values = set()
    for _ in range(2):
        for _ in range(4):
            rows = ["".join(column) for column in zip(*rows[::-1], strict=True)]
            text = f"{''.join(rows)} {side}"
            values.add(engine.static_score(GAME.position(text)))
            values.add(engine.static_score(GAME.position(text.translate(exchanged))))
        rows = rows[::-1]
    return values


@pytest.fixture(scope="module")
def patterned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose features weigh nothing and whose patterns weigh whatever chance gave them."""
    generator = np.random.default_rng(7)
    weights = generator.integers(-200, 200, (3, fitting().pattern_weights)).astype(np.int16)
    path = tmp_path_factory.mktemp("patterns") / "chance.toml"
    path.write_text(weights_text("othello", "chance", ("discs",), [[0]]) + patterns_text(weights))
    return path


@pytest.mark.integration
def test_patterns_read_by_the_kernel_are_those_read_square_by_square(patterned: Path) -> None:
    """Occupations, their weights and the evaluation, from the definition of the patterns and nothing else."""
    weights = find_weights(str(patterned))
    rows = pattern_rows(weights)
    engine = Engine("othello", {"evaluation_weights": str(patterned)})
    numbers = patterns.weight_numbers()
    generator = random.Random(47)
    for _ in range(4):
        position = GAME.position()
        while True:
            own = int(position.state.discs[position.side_to_move])
            other = int(position.state.discs[1 - position.side_to_move])
            expected = []
            for pattern, squares in patterns.INSTANCES:
                digits = [(own >> square & 1) + 2 * (other >> square & 1) for square in squares]
                occupation = sum(digit * 3**place for place, digit in enumerate(digits))
                expected.append(int(numbers[patterns.STARTS[pattern] + occupation]))
            found = fitting().patterns(np.array([[own, other]], np.uint64))
            assert found.tolist() == [expected]
            uncompiled = np.zeros(patterns.LANES, np.uint16)
            read_patterns.py_func(np.uint64(own), np.uint64(other), uncompiled)
            places = uncompiled[: len(patterns.INSTANCES)].astype(int)
            assert numbers[places + patterns.INSTANCE_STARTS[: len(places)].astype(int)].tolist() == expected
            moves = position.legal_moves()
            if not moves:
                break
            step = min((own | other).bit_count() - 4, STEPS - 1)
            value = int(rows[step * 3 // STEPS, expected].sum())
            assert engine.static_score(position) == min(max(value, -6300), 6300)
            position.push(generator.choice(moves))


@pytest.mark.integration
def test_patterns_are_the_same_for_all_images_and_for_colours_exchanged(patterned: Path) -> None:
    generator = random.Random(53)
    for name in (str(patterned), "othello"):
        engine = Engine("othello", {"evaluation_weights": name})
        position = GAME.position()
        while moves := position.legal_moves():
            assert len(mirrored_values(*position.text.split(), engine)) == 1  # type: ignore[call-arg]
            position.push(generator.choice(moves))


def test_every_pattern_stands_in_all_its_places_and_every_square_is_in_one() -> None:
    places = [sum(number == pattern for number, _ in patterns.INSTANCES) for pattern in range(len(patterns.PATTERNS))]
    assert places == [4, 4, 8, 4, 4, 4, 2, 4, 4, 4, 4]
    assert {square for _, squares in patterns.INSTANCES for square in squares} == set(range(64))
    # An edge and its reflection share a weight: (3^10 + those equal to their reflection, 3^5) / 2.
    edge = patterns.weight_numbers()[: 3**10]
    assert len(np.unique(edge)) == (3**10 + 3**5) // 2
    assert len(np.unique(patterns.weight_numbers())) == fitting().pattern_weights


@pytest.mark.integration
def test_every_feature_occurs_and_changes_sign_with_the_sides() -> None:
    """All but the last two are differences: seen by the other side, they are the opposite."""
    generator = random.Random(43)
    position = GAME.position()
    largest = np.zeros(len(FEATURES), np.int64)
    for _ in range(30):
        position = GAME.position()
        while moves := position.legal_moves():
            position.push(generator.choice(moves))
        rows = fitting().rows_of_game(position.start, position.moves)
        _, features = fitting().survey(rows)
        _, mirrored = fitting().survey(rows[:, ::-1])
        assert (features[:, :-2] == -mirrored[:, :-2]).all()
        assert (features[:, -2:] == mirrored[:, -2:]).all()
        largest = np.maximum(largest, np.abs(features).max(axis=0))
    assert (largest > 0).all(), [name for name, most in zip(FEATURES, largest, strict=True) if not most]


# Positions


@pytest.mark.integration
def test_positions_have_the_score_of_a_search_where_that_is_asked_for(fitted: tuple[Path, FitResult]) -> None:
    out, _ = fitted
    records = [record for record in records_in(out) if record.pairing.series == "games 000"][:16]
    plain = positions_of(records, GAME, 5, 1, StopFlag())
    settings = {"endgame_empties": 0, "evaluation_weights": "othello-by-hand"}
    scored = [
        positions_of(records, GAME, 5, threads, StopFlag(), scoring=Scoring(Limits(depth=2), settings))
        for threads in (1, 3)
    ]
    assert plain is not None
    assert scored[0] is not None
    assert scored[1] is not None
    assert np.array_equal(scored[0].results, scored[1].results)
    assert np.array_equal(scored[0].rows, plain.rows)
    steps, _ = fitting().survey(plain.rows)
    solved = steps >= fitting().solved_steps
    assert np.array_equal(scored[0].results[solved], plain.results[solved])
    engine = Engine("othello", settings)
    early = np.flatnonzero(~solved)
    assert (scored[0].results[early] != plain.results[early]).mean() > 0.9
    for index in early[::20]:
        engine.new_game()
        found = engine.search(GAME.position(fitting().text_of(plain.rows[index])), Limits(depth=2))
        assert scored[0].results[index] == found.score / 100


@pytest.mark.integration
def test_a_fit_to_scores_says_so_and_is_the_same_when_it_goes_on(tmp_path: Path) -> None:
    given: dict[str, object] = {"games": 20, "score_limits": Limits(depth=2)}
    whole = run(tmp_path / "whole", concurrency=2, iterations=2, **given)  # type: ignore[arg-type]
    run(tmp_path / "parts", **given)  # type: ignore[arg-type]
    parts = run(tmp_path / "parts", iterations=2, **given)  # type: ignore[arg-type]
    texts = [result.iterations[-1].weights.read_bytes() for result in (whole, parts)]
    assert texts[0] == texts[1]
    provenance = find_weights(str(whole.iterations[-1].weights)).provenance
    assert "--phases 2 --patterns off --score-limit depth=2. " in provenance
    for language, said in (("en", "scores of searches (depth=2)"), ("zh", "搜索（depth=2）的评分")):
        assert any(said in str(section) for section in fit_document(whole, language).sections)
    by_results = replace(whole, spec=replace(whole.spec, score_limits=None))
    assert "results of games; exact results where positions are solved" in str(
        fit_document(by_results, "en").sections[-1]
    )
    # The second iteration's positions have the scores of the first one's weights.
    labels = [np.load(tmp_path / "whole" / f"positions-{number}.npz") for number in (0, 1)]
    steps, _ = fitting().survey(labels[1]["rows"])
    index = int(np.flatnonzero(steps < fitting().solved_steps)[0])
    engine = Engine("othello", {"endgame_empties": 0, "evaluation_weights": str(tmp_path / "whole" / "weights-1.toml")})
    position = GAME.position(fitting().text_of(labels[1]["rows"][index]))
    assert labels[1]["results"][index] == engine.search(position, Limits(depth=2)).score / 100
    assert fit_from_plain(json.loads(json.dumps(whole.spec.as_asked()))) == whole.spec
    with pytest.raises(UserError, match="score_limit"):
        run(tmp_path / "parts", games=20, score_limits=Limits(depth=3))


@pytest.mark.integration
def test_positions_have_the_exact_results_of_the_end(fitted: tuple[Path, FitResult]) -> None:
    out, _ = fitted
    records = [record for record in records_in(out) if record.pairing.series == "games 000"]
    found = positions_of(records, GAME, 5, 2, StopFlag())
    assert found is not None
    steps, _ = fitting().survey(found.rows)
    assert fitting().usable(found.rows).all()
    assert set(found.games.tolist()) == set(range(40))
    solver = Solver("othello", {"hash_mb": 16}, StopFlag())
    late = np.flatnonzero(steps >= 50)
    assert len(late) > 100
    for index in late[::10]:
        solution = solver.solve(GAME.position(fitting().text_of(found.rows[index])))
        assert found.results[index] == solution.score
    # Before that, the result is that of the first solved position of the game, from the mover's side.
    for record in records[:10]:
        moves = [*record.opening.moves, *(move.move for move in record.moves)]
        rows = fitting().rows_of_game(record.opening.position, moves)
        all_steps, _ = fitting().survey(rows)
        solved = int(np.flatnonzero(all_steps >= 48)[0])
        exact = solver.solve(GAME.position(fitting().text_of(rows[solved]))).score
        mine = found.games == record.pairing.number
        places = {tuple(row.tolist()): ply for ply, row in enumerate(rows)}
        plies = [places[tuple(row.tolist())] for row in found.rows[mine]]
        assert plies[0] >= len(record.opening.moves)
        for ply, result in zip(plies, found.results[mine], strict=True):
            if ply < solved:
                assert result == (exact if (solved - ply) % 2 == 0 else -exact)


def test_openings_are_different_random_and_never_the_end_of_a_game() -> None:
    plan = SelfPlay("othello", 0, PlayerSpec("p", "builtin", Limits(depth=1)), 60, 3, (8, 40), Adjudication())
    openings = [plan.opening(GAME, index) for index in range(60)]
    assert openings == [plan.opening(GAME, index) for index in range(60)]
    assert len({opening.moves for opening in openings}) == 60
    assert {len(opening.moves) for opening in openings} <= set(range(41))
    assert len({len(opening.moves) for opening in openings}) > 15
    assert all(GAME.position(moves=opening.moves).legal_moves() for opening in openings)
    other = SelfPlay("othello", 1, plan.player, 60, 3, (8, 40), Adjudication())
    assert other.opening(GAME, 0) != plan.opening(GAME, 0)


@pytest.mark.integration
def test_games_of_weights_that_have_changed_since_are_not_taken(tmp_path: Path) -> None:
    old, new = (
        SelfPlay("othello", 0, PlayerSpec(name, "builtin", Limits(depth=1)), 2, 3, (8, 40), Adjudication())
        for name in ("weights old", "weights new")
    )
    record = GameRecord(
        key="", pairing=Pairing(0, 0, 0, 0, 0, 0, "games 000"), first="weights old", second="weights old",
        opening=Opening(GAME.start), moves=(), result="1/2-1/2", reason="final_score", engine_identity="",
        started_at="", duration_ms=0.0, final_position="",
    )  # fmt: skip
    with Store(tmp_path) as store:
        store.add(replace(record, key="a"))
        store.add(replace(record, key="b", first="weights new", second="weights new"))
        store.add(replace(record, key="c", pairing=Pairing(1, 1, 0, 0, 1, 0, "games 000")))
        assert (stored_games(old, store), stored_games(new, store)) == ({0, 1}, {0})
        assert [record.key for record in games_of(old, store)] == ["a", "c"]
        assert [record.key for record in games_of(new, store)] == ["b"]


# Regression


def sample_of(games: int, weights: np.ndarray, noise: float, seed: int = 1) -> Sample:
    """Results that are just these weights and noise; ten positions a game."""
    generator = np.random.default_rng(seed)
    count = 10 * games
    features = generator.normal(size=(count, weights.shape[1]))
    phases = generator.integers(0, len(weights), count)
    values = np.einsum("nf,nf->n", features, weights[phases])
    results = values + noise * generator.normal(size=count)
    return Sample(np.repeat(np.arange(games), 10), features, phases, results)


def test_known_weights_are_found_again_and_the_error_is_the_noise() -> None:
    weights = np.array([[100.0, -50.0, 7.0], [0.0, 300.0, -20.0]])
    sample = sample_of(400, weights, noise=30.0)
    found = fit(sample, 2)
    assert np.abs(found.weights - weights).max() < 5
    assert found.held_out_error == pytest.approx(30, rel=0.1)
    assert found.training_error == pytest.approx(30, rel=0.1)
    assert (found.training, found.held_out) == (3600, 400)
    games, _, errors = zip(*found.curve, strict=True)
    assert games == (22, 45, 90, 180, 360)
    assert errors[-1] <= errors[0]
    assert root_mean_square(sample, np.zeros((2, 3))) > 200


def test_no_game_is_on_both_sides_and_what_is_held_out_changes_no_weight() -> None:
    weights = np.array([[100.0, -50.0]])
    sample = sample_of(100, weights, noise=1000.0)
    held_out = is_held_out(sample.games)
    assert held_out.sum() == 100
    assert not set(sample.games[held_out]) & set(sample.games[~held_out])
    spoilt = replace(sample, results=np.where(held_out, 1e6, sample.results))
    one, other = fit(sample, 1, (0.01,)), fit(spoilt, 1, (0.01,))
    assert (one.weights == other.weights).all()
    assert one.training_error == other.training_error
    assert one.held_out_error < other.held_out_error


def test_the_strength_is_the_one_with_the_least_held_out_error() -> None:
    weights = np.array([[3.0] * 30])
    sample = sample_of(40, weights, noise=400.0)
    errors = {strength: fit(sample, 1, (strength,)).held_out_error for strength in (1e-5, 1e-1, 3e-1, 10.0)}
    assert len(set(errors.values())) == 4
    assert fit(sample, 1, tuple(errors)).strengths == (min(errors, key=errors.__getitem__),)


def pattern_sample(games: int, noise: float) -> PatternSample:
    """Results made of one feature and two instances of a pattern with twenty weights, by two phases."""
    generator = np.random.default_rng(3)
    count = 10 * games
    steps = generator.integers(0, STEPS, count)
    numbers = generator.integers(0, 20, (count, 2)).astype(np.int32)
    features = generator.normal(size=(count, 1))
    truth = 10.0 * np.arange(20) - 95
    values = 50 * features[:, 0] + truth[numbers].sum(axis=1) * np.where(steps < 30, 1, -2)
    results = values + noise * generator.normal(size=count)
    return PatternSample(np.repeat(np.arange(games), 10), features, steps, numbers, results)


def test_pattern_weights_are_found_again_and_the_error_is_the_noise() -> None:
    found = fit_patterns(pattern_sample(1500, 20.0), 25, 2)
    assert found.patterns is not None
    assert found.patterns.shape == (2, 25)
    assert not found.patterns[:, 20:].any(), "what never occurred weighs nothing"
    truth = 10 * np.arange(20) - 95
    # A phase also learns from its neighbours' edge, so that the slopes are a little flatter.
    for phase, factor in enumerate((1, -2)):
        slope = np.polyfit(truth, found.patterns[phase, :20], 1)[0]
        assert slope == pytest.approx(factor, rel=0.35)
        assert np.corrcoef(truth, found.patterns[phase, :20])[0, 1] * factor > 0.98
    assert np.abs(found.weights - 50).max() <= 5
    assert found.held_out_error < 70
    assert found.curve[-1][0] == 1350


def test_patterns_learn_nothing_from_games_held_out() -> None:
    sample = pattern_sample(200, 20.0)
    held_out = is_held_out(sample.games)
    spoilt = replace(sample, results=np.where(held_out, 300.0, sample.results))
    one, other = (best_of_phases(some, 25, {0: (50.0,), 1: (50.0,)}, ~held_out) for some in (sample, spoilt))
    assert one.keys() == other.keys() == {0, 1}
    for phase, (_, weights) in one.items():
        assert np.array_equal(weights, other[phase][1])


def test_a_phase_without_positions_takes_the_weights_beside_it() -> None:
    weights = np.array([[100.0, -50.0]])
    sample = sample_of(100, weights, noise=1.0)
    shifted = replace(sample, phases=sample.phases + 2)
    found = fit(shifted, 4)
    assert (found.weights == found.weights[2]).all()
    assert phases_of(np.array([0, 4, 5, 59]), 12).tolist() == [0, 0, 1, 11]
    with pytest.raises(FitError, match="play more games"):
        fit(sample_of(1, np.ones((1, 3)), 1.0), 60)


# Whole runs


@pytest.mark.integration
def test_a_run_writes_weights_that_are_read_back_and_their_history(fitted: tuple[Path, FitResult]) -> None:
    out, done = fitted
    assert [iteration.games for iteration in done.iterations] == [40, 80]
    for iteration in done.iterations:
        weights = read_weights(iteration.weights)
        assert np.array_equal(np.array(weights.phases), iteration.fit.weights)
        assert weights.features == FEATURES
        name, digest = "othello-by-hand", find_weights("othello-by-hand").digest
        assert f"--from {name}#{digest} --games 40 --limit depth=1 --seed 5" in weights.provenance
        assert f"--iterations {iteration.number} --phases 2 --patterns off" in weights.provenance
        assert str(out) not in weights.provenance
    last = done.iterations[-1]
    assert last.fit.held_out_error < last.error_before_scaled * 1.5
    resolve({"evaluation_weights": str(last.weights)}, game="othello")
    first = read_weights(out / "weights-0.toml")
    assert first.digest == find_weights("othello-by-hand").digest
    text = fit_text(done)
    assert "iteration 2: 80 games" in text
    assert json.loads(json.dumps(fit_data(done)))["iterations"][1]["games"] == 80


@pytest.mark.integration
def test_each_iteration_plays_with_the_weights_before_and_matches_use_other_openings(
    fitted: tuple[Path, FitResult],
) -> None:
    out, done = fitted
    records = records_in(out)
    digests = [read_weights(out / f"weights-{number}.toml").digest for number in range(3)]
    assert len(set(digests)) == 3
    players = {record.pairing.series: record.first for record in records if record.first == record.second}
    assert players == {"games 000": f"weights {digests[0]}", "games 001": f"weights {digests[1]}"}
    assert all(record.reason == "final_score" for record in records)
    # A game played to one ply is not solved near its end, which would take longer than all the rest of it.
    own = [record for record in records if record.first == record.second]
    assert max(move.nodes or 0 for record in own for move in record.moves) <= 60
    matches = [record for record in records if record.first != record.second]
    assert len(matches) == 3 * 2 * 3
    assert all(is_reserved_for_validation(record.opening) for record in matches)
    assert {frozenset((record.first, record.second)) for record in matches} == {
        frozenset((f"weights {digests[1]}", f"weights {digests[0]}")),
        frozenset((f"weights {digests[2]}", f"weights {digests[1]}")),
        frozenset((f"weights {digests[2]}", f"weights {digests[0]}")),
    }
    assert [
        (iteration.number, match.against, match.counts.pairs)
        for iteration in done.iterations
        for match in iteration.matches
    ] == [(1, "the weights before", 3), (2, "the weights before", 3), (2, "the first weights", 3)]


@pytest.mark.integration
def test_the_same_command_writes_the_same_bytes_at_any_concurrency(
    fitted: tuple[Path, FitResult], tmp_path: Path
) -> None:
    out, _ = fitted
    run(tmp_path / "again", concurrency=3, iterations=2)
    for name in ("weights-1.toml", "weights-2.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()
    other = run(tmp_path / "other", seed=6)
    assert other.iterations[0].weights.read_bytes() != (out / "weights-1.toml").read_bytes()


@pytest.mark.integration
def test_a_run_goes_on_with_what_it_has_and_can_be_extended(fitted: tuple[Path, FitResult], tmp_path: Path) -> None:
    out, _ = fitted
    run(tmp_path, games=30)
    (tmp_path / "positions-0.npz").write_bytes(b"half of a file")
    shorter = records_in(tmp_path)
    done = run(tmp_path)
    assert [record.started_at for record in records_in(tmp_path)[:30]] == [record.started_at for record in shorter]
    assert done.iterations[0].weights.read_bytes() == (out / "weights-1.toml").read_bytes()
    with pytest.raises(RunError, match="seed = 5 there, 6 in the command"):
        run(tmp_path, seed=6)
    stored = len(records_in(tmp_path))
    fewer, at_once = run(tmp_path, games=20), run(tmp_path / "at once", games=20)
    assert fewer.iterations[0].weights.read_bytes() == at_once.iterations[0].weights.read_bytes()
    assert len(records_in(tmp_path)) >= stored


@pytest.mark.integration
def test_patterns_are_fitted_and_play(tmp_path: Path) -> None:
    done = run(tmp_path / "one", games=24, patterns=True)
    (iteration,) = done.iterations
    assert iteration.fit.patterns is not None
    assert iteration.fit.patterns.any()
    weights = read_weights(iteration.weights)
    assert np.array_equal(pattern_rows(weights), iteration.fit.patterns)
    assert "--patterns on" in weights.provenance
    again = run(tmp_path / "two", 2, games=24, patterns=True)
    assert again.iterations[0].weights.read_bytes() == iteration.weights.read_bytes()
    engine = Engine("othello", {"evaluation_weights": str(iteration.weights)})
    rows = fitting().rows_of_game(GAME.start, ["d3", "c5", "f6"])
    steps, features = fitting().survey(rows)
    table = steps_of(weights)
    for row, step, counted, numbers in zip(rows, steps, features, fitting().patterns(rows), strict=True):
        value = int(counted @ table[step]) + int(pattern_rows(weights)[step * 2 // STEPS, numbers].sum(dtype=np.int64))
        assert engine.static_score(GAME.position(fitting().text_of(row))) == value


@pytest.mark.integration
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("pattern_phases = 3", "pattern_phases = 7"), "a number that divides 60"),
        (lambda text: text.replace("pattern_phases = 3", "pattern_phases = 4"), "do not make 4 equal rows"),
        (lambda text: text.replace("pattern_phases = 3", "pattern_phases = 1"), "weights in a phase, expected"),
        (lambda text: text.replace("pattern_phases = 3\n", ""), "pattern_phases is missing"),
        (lambda text: text[:-200] + "\n'''\n", "patterns: damaged"),
    ],
)
def test_damaged_patterns_are_refused(change: Callable[[str], str], said: str, patterned: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.toml"
    path.write_text(change(patterned.read_text()))
    with pytest.raises(UserError, match=said):
        Engine("othello", {"evaluation_weights": str(path)}).search(GAME.position(), Limits(depth=1))


@pytest.mark.slow  # as what tests/test_interrupted_runs.py does with every kind of run
def test_ctrl_c_keeps_the_games_and_the_same_command_goes_on(fitted: tuple[Path, FitResult], tmp_path: Path) -> None:
    out, _ = fitted
    words = [
        sys.executable, str(ROOT / "elolab"), "fit-evaluation", "--from", "othello-by-hand", "--games", "40",
        "--limit", "depth=1", "--seed", "5", "--phases", "2", "--patterns", "off", "--match-pairs", "0",
        "--out", str(tmp_path / "out"), "--concurrency", "1", "--output", str(tmp_path / "mine.toml"),
    ]  # fmt: skip
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and not (tmp_path / "out" / STORE_NAME).is_file():
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    if running.returncode != 0:  # else it had ended before it was asked to
        assert running.returncode == 130
        assert "interrupted" in said
        assert "Traceback" not in said
        assert not (tmp_path / "mine.toml").exists()
    finished = subprocess.run(words, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "mine.toml").read_bytes() == (out / "weights-1.toml").read_bytes()
    assert "iteration 1: 40 games" in finished.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--game", "xiangqi", "--phases", "3"], "--phases 3: the evaluation of xiangqi has 2 rows of weights"),
        (["--game", "xiangqi", "--patterns", "on"], "the evaluation of xiangqi has no patterns; --patterns off"),
        (["--game", "xiangqi", "--from", "othello"], "othello.toml: game = 'othello', expected xiangqi"),
        (["--score-share", "20"], "--score-share 20: positions of othello have exact results; leave the option out"),
        (["--game", "xiangqi", "--score-share", "101"], "'101' is not a whole number from 0 to 100"),
        (["--score-limit", "move_time=1"], "games on a clock cannot be repeated; give nodes=N or depth=N"),
        (["--game", "xiangqi", "--score-limit", "depth=2"], "use the scores of the games' own searches"),
        (["--until-no-gain", "--match-pairs", "0"], "--until-no-gain needs matches; give --match-pairs of at least 1"),
        (["--game", "shogi"], "unknown game 'shogi'"),
        (["--phases", "7"], "--phases 7: expected one of 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60"),
        (["--limit", "move_time=1"], "games on a clock cannot be repeated; give nodes=N or depth=N"),
        (["--match-limit", "clock=1+1"], "games on a clock cannot be repeated; give nodes=N or depth=N"),
        (["--games", "3"], "--games 3: a fit needs at least 20 games; give more, or --with-games"),
        (["--from", "nobody"], "no file of evaluation weights 'nobody'"),
        (["--output", "nowhere/mine.toml"], "there is no folder nowhere"),
        (["--output", "."], "--output .: a folder; name a file"),
        (["--match-pairs", "100000", "--games", "20", "--limit", "depth=1"], "--match-pairs = 100000 needs as many"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--dry-run"]):
        assert command_line.main(["fit-evaluation", *words, *more]) == 2
        shown = capsys.readouterr().err
        assert said in shown
        assert len([line for line in shown.splitlines() if line.startswith("elolab:")]) == 1


def test_the_text_of_weights_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(weights_text("othello", 'by "somebody"\\', ("mobility", "discs"), [[1, -2], [300, 4]]))
    weights = find_weights(str(path))
    assert (weights.provenance, weights.phases) == ('by "somebody"\\', ((1, -2), (300, 4)))
    table = steps_of(weights)
    assert table.shape == (STEPS, len(FEATURES))
    assert table[29, FEATURES.index("discs")] == -2
    assert table[30, FEATURES.index("discs")] == 4
    assert not table[:, FEATURES.index("corners")].any()


@pytest.mark.integration
def test_another_run_s_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path) as store:
        store.record_metadata({KIND: "tuning", "tuning": {}})
    with pytest.raises(UserError, match="holds a run of kind tuning, not evaluation fit;"):
        run(tmp_path)
    assert command_line.main(["fit-evaluation", "--out", str(tmp_path), "--dry-run"]) == 2
    assert "holds a run of kind tuning, not evaluation fit;" in capsys.readouterr().err
