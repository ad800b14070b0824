"""The report of a fit of evaluation weights: errors, learning curve and matches of every iteration."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.reports.document import Block, Document, Facts, Note, Section, table_of, write_document
from elolab.arena.statistics.numbers import signed
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, game_words, padded
from elolab.tuning.evaluation.evaluation_fit import AGAINST_BEFORE, strengths_text
from elolab.tuning.reports.wording import MESSAGES, interval_text

if TYPE_CHECKING:
    from elolab.tuning.evaluation.evaluation_fit import FitIteration, FitResult, FittedMatch

LABEL_WIDTH = 29
FIGURE_WIDTH = 10


def fit_text(fitted: FitResult, language: str = DEFAULT_LANGUAGE) -> str:
    """The results of every iteration as text for the terminal, then warnings and the path of the weights."""
    message = Catalogue(MESSAGES, language)
    lines = [line for done in _shown(fitted) for line in _iteration_lines(fitted, done, message)]
    if fitted.interrupted:
        lines.append(_stopped_sentence(fitted, message))
    elif fitted.kept is None:
        lines.append(message("fit.none_kept"))
    lines += _warnings(fitted, message)
    if fitted.output is not None:
        lines.append(message("fit.written", path=fitted.output))
    return "\n".join(lines)


def _shown(fitted: FitResult) -> tuple[FitIteration, ...]:
    """The iterations to report: all finished ones, then any unfinished one that has been fitted."""
    return fitted.iterations + (() if fitted.unfinished is None else (fitted.unfinished,))


def _warnings(fitted: FitResult, message: Catalogue) -> list[str]:
    """A warning if the kept weights play significantly worse than the previous weights; otherwise empty."""
    weaker = [done.number for done in fitted.iterations if done.weights == fitted.kept and done.lost]
    return [message("fit.weaker", number=number) for number in weaker]


def _stopped_sentence(fitted: FitResult, message: Catalogue) -> str:
    """A sentence that states where an unfinished run stopped."""
    number = len(fitted.iterations) + 1
    if fitted.unfinished is not None:
        return message("fit.stopped_in_matches", number=number)
    games, planned = fitted.games
    return message("fit.stopped", number=number, games=games, planned=planned)


def write_fit_report(fitted: FitResult, language: str = DEFAULT_LANGUAGE, folder: Path | None = None) -> Path:
    """Write report.html and report.md; return the path of report.html.

    The files go to ``folder``, by default the run's folder.
    """
    folder = folder or fitted.directory
    return write_document(folder, fit_document(fitted, language))


def fit_document(fitted: FitResult, language: str) -> Document:
    """The report as a document."""
    message = Catalogue(MESSAGES, language)
    spec = fitted.spec
    facts = (
        (message("fact.game"), game_words(spec.game, message.language).title),
        (message("fact.limit"), str(spec.limits)),
        (message("fit.target"), _target_text(fitted, message)),
        (message("fact.seed"), str(spec.seed)),
        (message("fact.engine"), fitted.engine),
        (message("fact.games"), message("claims.stored_games", digest=fitted.digest)),
        *((message("fit.other_runs"), message("fit.other_run", **asdict(run))) for run in spec.other_runs),
    )
    sections = []
    for done in _shown(fitted):
        title = message("fit.heading", number=done.number)
        sections.append(Section(f"iteration-{done.number}", title, _iteration_blocks(fitted, done, message)))
    sections.append(Section("conditions", message("section.conditions"), (Facts(facts),)))
    return Document(
        title=message("fit.title", game=game_words(spec.game, message.language).title),
        kicker=message("fit.kicker"),
        summary=_fit_sentence(fitted, message),
        sections=tuple(sections),
        language=message.language,
    )


def _target_text(fitted: FitResult, message: Catalogue) -> str:
    """A description of the values that the evaluation is fitted to predict."""
    spec = fitted.spec
    if fitted.regression == "logistic":
        return message("fit.target_share", share=spec.score_share, rest=100 - spec.score_share)
    if spec.score_limits is None:
        return message("fit.target_results")
    return message("fit.target_scores", limit=spec.score_limits)


def _fit_sentence(fitted: FitResult, message: Catalogue) -> str:
    if fitted.interrupted:
        return _stopped_sentence(fitted, message)
    if fitted.kept is None:
        return message("fit.none_kept")
    return message("fit.kept", path=fitted.kept)


def _iteration_blocks(fitted: FitResult, done: FitIteration, message: Catalogue) -> tuple[Block, ...]:
    heads, rows, curve = _error_rows(fitted, done, message)
    return (
        Note(_counts_text(done, message)),
        table_of(heads, rows, (1, 2)),
        table_of((message("fit.learning_curve"), *heads[1:]), curve, (1, 2)),
        *(Note(_match_text(match, message)) for match in done.matches),
        *(Note(text, warning=True) for text in _warnings(fitted, message) if done.weights == fitted.kept),
        Note(message("fit.weights", path=done.weights)),
    )


def _iteration_lines(fitted: FitResult, done: FitIteration, message: Catalogue) -> list[str]:
    heads, rows, curve = _error_rows(fitted, done, message)
    return [
        message("fit.iteration", number=done.number, counts=_counts_text(done, message)),
        _line("  ", *heads),
        *(_line("    ", *row) for row in rows),
        "  " + message(f"fit.{fitted.regression}_prior", strengths=strengths_text(done.fit)),
        "  " + message("fit.learning_curve"),
        *(_line("    ", *row) for row in curve),
        *(f"  {_match_text(match, message)}" for match in done.matches),
        f"  {done.weights}",
    ]


def _counts_text(done: FitIteration, message: Catalogue) -> str:
    """The numbers of games, of positions to fit, and of positions from held-out games."""
    return message("fit.counts", games=done.games, training=done.fit.training, held_out=done.fit.held_out)


def _error_rows(
    fitted: FitResult, done: FitIteration, message: Catalogue
) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Column heads, rows with the errors before and after the fit, and rows of the learning curve.

    Each row has a label, the error in training and the error on held-out games, as text.
    """
    found = done.fit

    def row(label: str, *errors: float | None) -> tuple[str, ...]:
        return label, *("" if error is None else f"{error / fitted.unit:.4f}" for error in errors)

    rows = [
        row(message("fit.weights_before"), None, done.error_before),
        row(message("fit.weights_scaled"), None, done.error_before_scaled),
        row(message("fit.fitted"), found.training_error, found.held_out_error),
    ]
    heads = (message(f"fit.{fitted.regression}_error"), message("fit.training"), message("fit.held_out"))
    return heads, rows, [row(str(games), *errors) for games, *errors in found.curve]


def _line(indent: str, label: str, *figures: str) -> str:
    """One line of a table: an indented label, then its figures, in aligned columns."""
    cells = [indent + padded(label, LABEL_WIDTH + 4 - len(indent))]
    return " ".join([*cells, *(padded(figure, FIGURE_WIDTH, right=True) for figure in figures)])


def _match_text(match: FittedMatch, message: Catalogue) -> str:
    estimate = match.counts.estimate()
    return message(
        "fit.against_before" if match.against == AGAINST_BEFORE else "fit.against_first",
        limit=match.limits,
        score=100 * estimate.score,
        games=2 * match.counts.pairs,
        elo=signed(estimate.elo),
        interval=interval_text(estimate.elo_low, estimate.elo_high),
        counts=list(match.counts.counts),
    )


def fit_data(fitted: FitResult, report: Path | None = None) -> dict[str, Any]:
    """The content of ``fit_text``, and the path of the report, as plain data.

    Errors are in points of the game's score (such as discs), or are logistic losses.
    """
    unit = fitted.unit
    return {
        "game": fitted.spec.game,
        "folder": str(fitted.directory),
        "regression": fitted.regression,
        "other_runs": [asdict(run) for run in fitted.spec.other_runs],
        "kept": None if fitted.kept is None else str(fitted.kept),
        "output": None if fitted.output is None else str(fitted.output),
        "interrupted": fitted.interrupted,
        "report": None if report is None else str(report),
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
            for done in _shown(fitted)
        ],
    }
