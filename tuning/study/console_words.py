"""Console texts of a study: names of its stages, and its state for the progress line."""

from __future__ import annotations

from elolab.arena.play.live import first_that_fits
from elolab.arena.statistics.numbers import error_text, signed
from elolab.engine.language import console
from elolab.tuning.study.playoff import INTERVAL_90
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.validation.validation_games import Verdict


def validation_name(number: int) -> str:
    """The displayed name of a validation: number 0 is the first one, other numbers are slow ones."""
    return console("elolab.tuning")("stage.slow_validation" if number else "stage.validation")


def round_words(state: StudyState, rounds: int, columns: int) -> str:
    """Progress-line text of a study in ``columns`` columns: the current round, and the gain that the model expects."""
    message, model, best, base = (
        console("elolab.tuning"),
        state.model,
        state.best,
        state.observations.space.default_values,
    )
    number = min(len(state.results) + 1, rounds)
    if model is None or best is None:
        return message("progress.round", number=number, rounds=rounds)
    if best == base:
        return message("progress.round_base", number=number, rounds=rounds)
    mean, deviation = model.difference(best, base)
    low, high = mean - INTERVAL_90 * deviation, mean + INTERVAL_90 * deviation
    gain = {"gain": signed(mean, 0), "low": signed(low, 0), "high": signed(high, 0)}
    whole = message("progress.round_gain", number=number, rounds=rounds, **gain)
    return first_that_fits(columns, whole, message("progress.gain", **gain))


def validation_words(verdict: Verdict, columns: int) -> str:
    """Progress-line text of a validation in ``columns`` columns: its result so far."""
    message, elo, test = console("elolab.tuning"), signed(verdict.elo), verdict.test
    if test is None:
        return message("progress.validation_match", elo=elo, error=error_text(verdict.estimate.elo_error))
    ratio = {
        "ratio": signed(test.log_likelihood_ratio, 2),
        "lower": signed(test.lower_bound),
        "upper": signed(test.upper_bound),
    }
    return first_that_fits(
        columns, message("progress.validation_test", elo=elo, **ratio), message("progress.ratio", **ratio)
    )
