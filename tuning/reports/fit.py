"""What a fit of evaluation weights prints: every iteration's errors, learning curve and matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.language import DEFAULT_LANGUAGE, Catalogue, padded
from tuning.evaluation.fit import AGAINST_BEFORE, strengths_text
from tuning.reports.document import MESSAGES

if TYPE_CHECKING:
    from tuning.evaluation.fit import FitResult, FittedMatch, Iteration

LABEL_WIDTH = 29
FIGURE_WIDTH = 10


def fit_text(fitted: FitResult, language: str = DEFAULT_LANGUAGE) -> str:
    """Every iteration in a few lines for a terminal, and what became of the last weights."""
    message = Catalogue(MESSAGES, language)
    lines = [line for done in fitted.iterations for line in _iteration_lines(fitted, done, message)]
    if fitted.kept is None:
        lines.append(message("fit.none_kept"))
    if fitted.output is not None:
        lines.append(message("fit.written", path=fitted.output))
    return "\n".join(lines)


def _iteration_lines(fitted: FitResult, done: Iteration, message: Catalogue) -> list[str]:
    found, regression = done.fit, fitted.regression

    def errors(label: str, *figures: float | None) -> str:
        shown = ["" if figure is None else f"{figure / fitted.unit:.4f}" for figure in figures]
        return _line("    ", label, shown)

    title, training = message(f"fit.{regression}_error"), message("fit.training")
    counts = {"training": found.training, "held_out": found.held_out}
    return [
        message("fit.iteration", number=done.number, games=done.games, **counts),
        _line("  ", title, [training, message("fit.held_out")]),
        errors(message("fit.weights_before"), None, done.error_before),
        errors(message("fit.weights_scaled"), None, done.error_before_scaled),
        errors(message("fit.fitted"), found.training_error, found.held_out_error),
        "  " + message(f"fit.{regression}_prior", strengths=strengths_text(found)),
        "  " + message("fit.learning_curve"),
        *(errors(str(games), *losses) for games, *losses in found.curve),
        *(f"  {_match_text(match, message)}" for match in done.matches),
        f"  {done.weights}",
    ]


def _line(indent: str, label: str, figures: Sequence[str]) -> str:
    """A label and its figures, one under the other wherever the line begins."""
    cells = [indent + padded(label, LABEL_WIDTH + 4 - len(indent))]
    return " ".join([*cells, *(padded(figure, FIGURE_WIDTH, right=True) for figure in figures)])


def _match_text(match: FittedMatch, message: Catalogue) -> str:
    estimate = match.counts.estimate()
    return message(
        "fit.against_before" if match.against == AGAINST_BEFORE else "fit.against_first",
        limit=match.limits,
        score=100 * estimate.score,
        games=2 * match.counts.pairs,
        elo=estimate.elo,
        low=estimate.elo_low,
        high=estimate.elo_high,
        counts=list(match.counts.counts),
    )


def fit_data(fitted: FitResult) -> dict[str, Any]:
    """What ``fit_text`` says as plain data; errors in points of the game's own score, or logistic losses."""
    unit = fitted.unit
    return {
        "game": fitted.spec.game,
        "folder": str(fitted.directory),
        "regression": fitted.regression,
        "kept": None if fitted.kept is None else str(fitted.kept),
        "output": None if fitted.output is None else str(fitted.output),
        "iterations": [
            {
                "games": done.games,
                "positions": {"training": done.fit.training, "held_out": done.fit.held_out},
                "ridge_strengths": list(done.fit.strengths),
                "error": {
                    "training": done.fit.training_error / unit,
                    "held_out": done.fit.held_out_error / unit,
                    "held_out_before": done.error_before / unit,
                    "held_out_before_scaled": done.error_before_scaled / unit,
                },
                "learning_curve": [
                    {"games": games, "training": training / unit, "held_out": held_out / unit}
                    for games, training, held_out in done.fit.curve
                ],
                "matches": [
                    {
                        "against": match.against,
                        "limit": str(match.limits),
                        "pentanomial": list(match.counts.counts),
                        **asdict(match.counts.estimate()),
                    }
                    for match in done.matches
                ],
                "weights": str(done.weights),
            }
            for done in fitted.iterations
        ],
    }
