"""Fitting Xiangqi's evaluation to who won: its features are the evaluation's own, and known weights are found again."""

from __future__ import annotations

import io
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from elolab import command_line
from elolab.arena.play.store import Store
from elolab.arena.reports.document import NUMBER, TEXT, TextTable
from elolab.arena.run import RunError
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import EvaluationFitting
from elolab.engine.games.xiangqi.evaluation import MAX_OF_PLACES
from elolab.engine.games.xiangqi.position import FIRST_OF_PIECES
from elolab.engine.settings.features import XIANGQI
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.settings.weights import find_weights, read_weights, rows_of
from elolab.engine.values import BAN_BOUND
from elolab.tuning.evaluation.evaluation_fit import FitResult, FitSpec, fit_evaluation, plan_of_run
from elolab.tuning.evaluation.logistic import (
    GROUP_DEVIATION,
    UNGROUPED_DEVIATION,
    WinSample,
    expected_score,
    fit_wins,
    logistic_loss,
    losses_of,
    values_of,
)
from elolab.tuning.evaluation.other_runs import other_runs, records_of
from elolab.tuning.evaluation.scored_positions import positions_of
from elolab.tuning.evaluation.self_play import game_number
from elolab.tuning.reports.fit_report import fit_data, fit_document, fit_text
from elolab.tuning.stored_results import result_in

GAME = game_named("xiangqi")


def fitting() -> EvaluationFitting:
    found = GAME.fitting
    assert found is not None
    return found


def run(out: Path, concurrency: int = 1, **changes: object) -> FitResult:
    values: dict[str, object] = {
        "game": "xiangqi", "start": "xiangqi-by-hand", "games": 30, "limits": Limits(nodes=40), "seed": 5,
        "iterations": 1, "until_no_gain": False, "phases": 2, "patterns": False, "score_share": 50, "match_pairs": 0,
        "match_limits": (Limits(nodes=40),),
    }  # fmt: skip
    spec = FitSpec(**{**values, **changes})  # type: ignore[arg-type]
    return fit_evaluation(spec, out, concurrency=concurrency, stream=io.StringIO())


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FitResult]:
    out = tmp_path_factory.mktemp("fitted") / "out"
    return out, run(out, match_pairs=3)


# Features


@pytest.mark.integration
def test_features_times_weights_are_the_evaluation_of_either_side() -> None:
    generator = random.Random(41)
    engine = Engine("xiangqi", {"tempo": 0})
    rows_of_weights = rows_of(find_weights("xiangqi"))
    for _ in range(4):
        position = GAME.position()
        for _ in range(120):
            if not position.legal_moves():
                break
            position.push(generator.choice(position.legal_moves()))
        rows = fitting().rows_of_game(position.start, position.moves)
        steps, features = fitting().survey(rows)
        usable = fitting().usable(rows)
        shares = fitting().row_shares(steps)
        assert np.allclose(shares.sum(axis=1), 1)
        weights = shares @ rows_of_weights
        places = np.sum(features[:, :FIRST_OF_PIECES] * weights[:, :FIRST_OF_PIECES], axis=1)
        rest = np.sum(features[:, FIRST_OF_PIECES:] * weights[:, FIRST_OF_PIECES:], axis=1)
        expected = rest + np.clip(places, -MAX_OF_PLACES, MAX_OF_PLACES)
        walked = GAME.position()
        for ply in range(len(rows)):
            if not walked.legal_moves():
                break
            # Each weight of a phase is rounded for itself.
            assert engine.static_score(walked) == pytest.approx(expected[ply], abs=25)
            text = fitting().text_of(rows[ply])
            assert engine.static_score(GAME.position(text)) == engine.static_score(walked)
            captures = ply < len(position.moves) and captured(walked, position.moves[ply])
            assert bool(usable[ply]) == (not walked.in_check and not captures and ply < len(position.moves))
            if ply < len(position.moves):
                walked.push(position.moves[ply])


def captured(position: object, move: str) -> bool:
    """Whether a move goes to a square with a piece, read from the FEN."""
    board = position.text.split()[0]  # type: ignore[attr-defined]
    rank = "".join("." * int(letter) if letter.isdigit() else letter for letter in board.split("/")[9 - int(move[3])])
    return rank["abcdefghi".index(move[2])] != "."


# Positions


@pytest.mark.integration
def test_positions_have_the_outcome_of_their_game_and_the_score_of_the_search(fitted: tuple[Path, FitResult]) -> None:
    out, _ = fitted
    with Store(out, read_only=True) as store:
        records = [record for record in store.records() if record.pairing.series == "games 000"]
    found = positions_of(records, GAME, 5, 2, StopFlag())
    assert found is not None
    assert len(found) > 300
    assert fitting().usable(found.rows).all()
    assert (np.abs(found.scores) < BAN_BOUND).all()
    assert len(set(found.results.tolist())) == 3
    for record in records:
        mine = found.games == record.pairing.number
        rows = fitting().rows_of_game(record.opening.position, [*record.opening.moves, *(m.move for m in record.moves)])
        places = {tuple(row.tolist()): ply for ply, row in enumerate(rows)}
        before = len(record.opening.moves)
        for row, result, score in zip(found.rows[mine], found.results[mine], found.scores[mine], strict=True):
            ply = places[tuple(row.tolist())]
            assert record.score is not None
            assert result == (record.score if ply % 2 == 0 else 1 - record.score)
            assert rows[ply].tolist() == row.tolist()
            twins = [at for at, other in enumerate(rows) if other.tolist() == row.tolist() and at >= before]
            assert score in [record.moves[at - before].score for at in twins]


# Regression


def sample_of(games: int, weights: np.ndarray, scale: float, seed: int = 1) -> WinSample:
    """Games of ten positions won with the odds of these weights; draws never."""
    generator = np.random.default_rng(seed)
    count = 10 * games
    features = generator.integers(-4, 5, (count, weights.shape[1])).astype(np.int8)
    share = generator.random(count)
    shares = np.stack([share, 1 - share], axis=1)
    empty, numbers = np.zeros(count), np.repeat(np.arange(games), 10)
    values = values_of(WinSample(numbers, features, shares, empty, empty), weights)
    outcomes = (generator.random(count) < expected_score(values, scale)).astype(np.float64)
    return WinSample(numbers, features, shares, outcomes, outcomes)


WEIGHTS = np.array([[100.0, -50.0, 7.0, 0.0], [20.0, 60.0, -20.0, 300.0]])


def test_known_weights_are_found_again() -> None:
    sample = sample_of(6000, WEIGHTS, 450.0)
    found = fit_wins(sample, np.zeros((2, 4)), [(0, 1)], 450.0, (50.0, 500.0))
    assert np.abs(found.weights - WEIGHTS).max() < 30
    best = logistic_loss(values_of(sample, WEIGHTS), sample.outcomes, 450.0)
    assert found.held_out_error == pytest.approx(best, abs=0.01)
    games, _, losses = zip(*found.curve, strict=True)
    assert games == (337, 675, 1350, 2700, 5400)
    assert losses[-1] < losses[0]


def test_the_weights_are_those_of_the_greatest_posterior() -> None:
    """Against a general minimiser of the same function, written anew."""
    scale, deviation, groups = 450.0, 30.0, [(0, 1)]
    sample = sample_of(60, WEIGHTS, scale)
    start = WEIGHTS + 40
    training = sample.part(sample.games % 10 != 9)

    def negative_posterior(unknowns: np.ndarray) -> float:
        changes = unknowns[:8].reshape(2, 4)
        shared = unknowns[8:10]
        weights = start + changes
        weights[:, :2] += shared[:, None]
        odds = (values_of(training, weights) + unknowns[10]) / scale
        likelihood = np.sum(np.logaddexp(0, odds) - training.targets * odds)
        deviations = np.array([deviation, deviation, UNGROUPED_DEVIATION * deviation, UNGROUPED_DEVIATION * deviation])
        prior = np.sum((changes / deviations) ** 2) + np.sum((shared / (GROUP_DEVIATION * deviation)) ** 2)
        return float(likelihood + prior / 2)

    best = minimize(negative_posterior, np.zeros(11), method="BFGS", options={"gtol": 1e-7}).x
    expected = start + best[:8].reshape(2, 4)
    expected[:, :2] += best[8:10, None]
    found = fit_wins(sample, start, groups, scale, (deviation,))
    assert np.abs(found.weights - expected).max() <= 0.6


def test_what_is_held_out_changes_no_weight() -> None:
    sample = sample_of(100, WEIGHTS, 450.0)
    held_out = sample.games % 10 == 9
    spoilt = replace(
        sample, outcomes=np.where(held_out, 1 - sample.outcomes, sample.outcomes),
        targets=np.where(held_out, 1 - sample.targets, sample.targets),
    )  # fmt: skip
    one, other = (fit_wins(some, np.zeros((2, 4)), (), 450.0, (50.0,)) for some in (sample, spoilt))
    assert (one.weights == other.weights).all()
    assert one.held_out_error < other.held_out_error


def test_without_positions_the_weights_stay_where_they_were() -> None:
    """The prior draws back to the start what no position speaks of."""
    sample = sample_of(50, WEIGHTS, 450.0)
    sample.features[:, 3] = 0
    found = fit_wins(sample, np.full((2, 4), 17.0), (), 450.0, (50.0,))
    assert found.weights[:, 3].tolist() == [17, 17]


def test_the_losses_as_they_are_and_scaled() -> None:
    sample = sample_of(3000, WEIGHTS, 450.0)
    plain, scaled = losses_of(sample, WEIGHTS / 3, 450.0)
    best = logistic_loss(values_of(sample, WEIGHTS), sample.outcomes, 450.0)
    assert scaled == pytest.approx(best, abs=1e-3)
    assert plain > scaled + 0.01
    assert losses_of(sample, np.zeros((2, 4)), 450.0) == pytest.approx((np.log(2), np.log(2)))


@pytest.mark.integration
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [10.0, -10.0, 1000.0, -1000.0, 30_000.0, -30_000.0])
def test_the_best_factor_is_found_for_few_positions_of_any_size(weight: float) -> None:
    """Also where all evaluations are right, or all wrong, so that no factor is the best."""
    features, shares = np.array([[3], [1], [-2]], np.int8), np.ones((3, 1))
    for outcomes in ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.5]):
        sample = WinSample(np.arange(3), features, shares, np.array(outcomes), np.array(outcomes))
        plain, scaled = losses_of(sample, np.array([[weight]]), 450.0)
        factors = np.linspace(-20, 20, 4001)
        losses = [logistic_loss(factor * weight * features[:, 0], sample.outcomes, 450.0) for factor in factors]
        assert 0 <= scaled <= min(losses) + 1e-9 <= plain + 1e-9


# Whole runs


@pytest.mark.integration
def test_a_run_writes_weights_that_play(fitted: tuple[Path, FitResult]) -> None:
    _, done = fitted
    (iteration,) = done.iterations
    weights = read_weights(iteration.weights)
    assert weights.game == "xiangqi"
    assert weights.features == XIANGQI
    assert np.array_equal(np.array(weights.phases), iteration.fit.weights)
    assert not np.array_equal(iteration.fit.weights, rows_of(find_weights("xiangqi-by-hand")))
    assert "--limit nodes=40 --seed 5 --iterations 1 --score-share 50" in weights.provenance
    assert "logistic loss on" in weights.provenance
    values = resolve({"evaluation_weights": str(iteration.weights)}, game="xiangqi")
    assert Engine("xiangqi", values).search(GAME.position(), Limits(depth=3)).move
    text = fit_text(done)
    assert "logistic loss (per position)" in text
    assert "against the previous weights at nodes=40" in text
    assert fit_data(done)["regression"] == "logistic"
    assert "are weaker than the previous weights" not in text
    lost = tuple(replace(match, counts=Pentanomial((90, 8, 2, 0, 0))) for match in iteration.matches)
    weaker = replace(iteration, matches=lost)
    assert "weights of iteration 1 are weaker than the previous weights" in fit_text(
        replace(done, iterations=(weaker,))
    )
    beaten = replace(iteration, matches=tuple(replace(match, counts=Pentanomial((3, 0, 0, 0, 0))) for match in lost))
    assert "0.0 % of 6 games, −∞ Elo [−∞, +153.5]" in fit_text(replace(done, iterations=(beaten,)))
    document = fit_document(done, "en")
    assert "results of games (50 %) and scores of the games' searches (50 %)" in str(document.sections[-1])
    # What names a row is set to the left, with its head.
    kinds = [block.kinds for block in document.sections[0].blocks if isinstance(block, TextTable)]
    assert kinds == [(TEXT, NUMBER, NUMBER)] * 2


@pytest.mark.integration
def test_the_same_command_writes_the_same_bytes_at_any_concurrency(
    fitted: tuple[Path, FitResult], tmp_path: Path
) -> None:
    out, _ = fitted
    again = run(tmp_path, concurrency=3)
    assert again.iterations[0].weights.read_bytes() == (out / "weights-1.toml").read_bytes()
    other = run(tmp_path / "other", score_share=0)
    assert other.iterations[0].weights.read_bytes() != (out / "weights-1.toml").read_bytes()


@pytest.mark.integration
def test_a_run_until_no_gain_ends_there_and_keeps_nothing_that_did_not_gain(tmp_path: Path) -> None:
    """Weights fitted to thirty games do not beat those by hand beyond doubt in six."""
    done = run(tmp_path, iterations=3, until_no_gain=True, match_pairs=3)
    gains = [iteration.gained for iteration in done.iterations]
    assert gains == [False]
    assert done.kept is None
    assert "so elolab keeps none" in fit_text(done)


# Games of other runs


def played(out: Path, *, pairs: int = 2) -> Path:
    """The folder of a match with openings where either side moves first."""
    suite = out.with_suffix(".epd")
    suite.parent.mkdir(parents=True, exist_ok=True)
    boards = (
        f"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/{row}/1C5C1/9/RNBAKABNR" for row in ("P1P1P1P1P", "2P1P1P1P", "P3P1P1P")
    )
    lines = [f"{board} {side} - - 0 1\n" for board in boards for side in "wb"]
    suite.write_text("".join(lines[:pairs]))
    words = [
        "match", "default", "default", "--game", "xiangqi", "--limit", "nodes=40", "--pairs", str(pairs), "--seed", "3",
        "--openings", f"file={suite}", "part=all", "--out", str(out),
    ]  # fmt: skip
    assert command_line.main(words) == 0
    return out


@pytest.mark.integration
def test_games_of_other_runs_are_fitted_too(fitted: tuple[Path, FitResult], tmp_path: Path) -> None:
    _, alone = fitted
    others = other_runs([str(played(tmp_path / "match"))], "xiangqi")
    assert [run.games for run in others] == [4]
    done = run(tmp_path / "out", other_runs=others)
    (iteration,) = done.iterations
    assert iteration.games == alone.iterations[0].games + 4
    positions, before = iteration.fit, alone.iterations[0].fit
    assert positions.training + positions.held_out > before.training + before.held_out
    provenance = read_weights(iteration.weights).provenance
    assert f", 4 games of the run match (digest {others[0].digest}), " in provenance
    assert " --with-games match. " in provenance
    assert fit_data(done)["other_runs"] == [{"folder": others[0].folder, "games": 4, "digest": others[0].digest}]
    assert "match: 4 games, digest" in str(fit_document(done, "en"))
    plan = plan_of_run(done.spec, tmp_path / "out", 1)
    assert [(stage.games, stage.stored) for stage in plan.stages] == [(4, 4), (30, 30)]
    # The folder of the fit keeps what it needs of them.
    shutil.rmtree(tmp_path / "match")
    again = result_in(tmp_path / "out")
    assert again.iterations[0].fit.training == positions.training
    with pytest.raises(RunError, match="with_games"):
        run(tmp_path / "out")


@pytest.mark.integration
def test_a_fit_to_games_of_other_runs_alone_plays_none_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(played(tmp_path / name, pairs=pairs)) for name, pairs in (("five", 5), ("six", 6))]
    out, few = tmp_path / "out", ["--game", "xiangqi", "--games", "0", "--with-games", folders[0]]
    assert command_line.main(["fit-evaluation", *few]) == 2
    assert "--games 0: a fit needs at least 20 games; give more, or --with-games" in capsys.readouterr().err
    words = [*few, "--with-games", folders[1], "--match-pairs", "0", "--from", "xiangqi-by-hand", "--out", str(out)]
    assert command_line.main(["fit-evaluation", *words]) == 0
    weights = read_weights(out / "weights-1.toml")
    assert ". 10 games of the run five (digest " in weights.provenance
    assert "), 12 games of the run six (digest " in weights.provenance
    with Store(out, read_only=True) as store:
        assert not list(store.iterate())
    again = result_in(out)
    assert again.iterations[0].games == 22
    assert "22 games" in fit_text(again)


@pytest.mark.integration
def test_positions_of_other_runs_have_the_result_of_the_side_to_move(tmp_path: Path) -> None:
    (run_of,) = other_runs([str(played(tmp_path / "match"))], "xiangqi")
    records = records_of(run_of, 1)
    assert len({game_number(record) for record in records}) == 4
    assert {record.opening.position.split()[1] for record in records} == {"w", "b"}
    for record in records:
        won = replace(record, result="1-0", moves=tuple(move._replace(score=5) for move in record.moves))
        found = positions_of([won], GAME, 5, 1, StopFlag())
        assert found is not None
        start = record.opening.position
        rows = fitting().rows_of_game(start, [*record.opening.moves, *(move.move for move in record.moves)])
        moved_first = start.split()[1]
        red = {row.tobytes(): (ply % 2 == 0) == (moved_first == "w") for ply, row in enumerate(rows)}
        assert found.results.tolist() == [float(red[row.tobytes()]) for row in found.rows]
        without = replace(won, moves=tuple(move._replace(score=None) for move in won.moves))
        unscored = positions_of([without], GAME, 5, 1, StopFlag())
        assert unscored is not None
        assert len(unscored) == 0


@pytest.mark.integration
def test_folders_that_hold_no_suitable_games_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = str(played(tmp_path / "match"))
    for folders, game, said in (
        ([str(tmp_path)], "xiangqi", "no run in it"),
        ([match], "othello", "a run of xiangqi, expected othello"),
        ([match, match], "xiangqi", "the same games as in"),
    ):
        capsys.readouterr()
        words = [word for folder in folders for word in ("--with-games", folder)]
        assert command_line.main(["fit-evaluation", "--game", game, *words, "--dry-run"]) == 2
        shown = capsys.readouterr().err.splitlines()
        assert len(shown) == 1
        assert f"--with-games {folders[-1]}: {said}" in shown[0]
    (changed,) = other_runs([match], "xiangqi")
    with pytest.raises(UserError, match="its games have changed since the fit began"):
        records_of(replace(changed, digest="other"), 0)
