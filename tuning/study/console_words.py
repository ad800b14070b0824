"""Texts that a study shows in the terminal: names of its stages, and its state for the status line."""

from __future__ import annotations

from elolab.arena.statistics.numbers import signed
from elolab.engine.language import console
from elolab.tuning.study.playoff import INTERVAL_90
from elolab.tuning.study.state import StudyState


def validation_name(number: int) -> str:
    """Displayed name of a study's validation: number 0 is the first one, number 1 the second, slower one."""
    return console("elolab.tuning")("stage.slow_validation" if number else "stage.validation")


def round_words(state: StudyState, rounds: int) -> tuple[str, ...]:
    """Texts for the status line, the longest first: the current round, and the gain that the model expects."""
    message, model, best, base = (
        console("elolab.tuning"),
        state.model,
        state.best,
        state.observations.space.default_values,
    )
    number = min(len(state.results) + 1, rounds)
    if model is None or best is None:
        return (message("progress.round", number=number, rounds=rounds),)
    if best == base:
        return (message("progress.round_base", number=number, rounds=rounds),)
    mean, deviation = model.difference(best, base)
    low, high = mean - INTERVAL_90 * deviation, mean + INTERVAL_90 * deviation
    gain = {"gain": signed(mean, 0), "low": signed(low, 0), "high": signed(high, 0)}
    return message("progress.round_gain", number=number, rounds=rounds, **gain), message("progress.gain", **gain)
