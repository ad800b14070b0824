"""Interim results for ``elolab watch``: report sections or text for a tuning, ablation, claims run or fit.

The module runs in a child process (``engine.child_processes``), because fitting a model and drawing charts takes
seconds. Its command-line arguments are DIR and LANGUAGE, then ``text`` for text instead of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elolab.arena.reports.document import Document, html_sections
from elolab.arena.watching.followed import LEFT_OUT
from elolab.engine.errors import UserError


def watched_data(directory: Path, language: str) -> dict[str, Any]:
    """The interim report as plain data.

    The keys are ``title``, ``summary``, ``html`` with the sections, and ``anchors`` with pairs of anchor and heading.

    Raises ``UserError`` if the run has too few games.
    """
    result = _result_in(directory)
    document = _report_of(result)[0](result, language)
    sections = [section for section in document.sections if section.name not in LEFT_OUT]
    return {
        "title": document.title,
        "summary": document.summary,
        "html": html_sections(sections, language),
        "anchors": [(section.name, section.title) for section in sections],
    }


def outcome_text(directory: Path, language: str) -> str:
    """The interim result as text for the terminal, in the form that the run's command prints.

    Raises ``UserError`` if the run has too few games.
    """
    result = _result_in(directory)
    return _report_of(result)[1](result, language)


def _result_in(directory: Path) -> Any:
    from elolab.tuning.stored_results import result_in

    result = result_in(directory)
    if result is None:
        raise UserError(f"{directory}: contains a tournament, expected a tuning, ablation, run of claims or fit")
    return result


def _report_of(result: Any) -> tuple[Callable[[Any, str], Document], Callable[[Any, str], str]]:
    """Two functions for the kind of ``result``: the first makes its report, the second its text for the terminal.

    Both take a result and a language.
    """
    from elolab.tuning.reports.ablation_report import ablation_document, ablation_result_text
    from elolab.tuning.reports.claims_report import claims_document, claims_text
    from elolab.tuning.reports.fit_report import fit_document, fit_text
    from elolab.tuning.reports.tuning_report import tuning_document, tuning_text

    reports: dict[str, tuple[Callable[[Any, str], Document], Callable[[Any, str], str]]] = {
        "StudyResult": (tuning_document, tuning_text),
        "AblationResult": (ablation_document, ablation_result_text),
        "ClaimsResult": (claims_document, claims_text),
        "FitResult": (fit_document, fit_text),
    }
    return reports[type(result).__name__]


def main(words: list[str]) -> int:
    """Print a run's interim report as JSON, or as text on request; return 1 if the run has too few games.

    ``words`` are the command-line arguments.
    """
    directory, language, *form = words
    try:
        if form:
            print(outcome_text(Path(directory), language))
        else:
            print(json.dumps(watched_data(Path(directory), language), ensure_ascii=False))
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
