"""The result so far of a tuning, ablation, run of claims or fit, for ``elolab watch``: sections of its report, or text.

A helper process makes it (``engine.child_processes``), because fitting a model and drawing charts takes seconds. Its
words are DIR LANGUAGE, and ``text`` for a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elolab.arena.reports.document import Document, html_sections
from elolab.engine.errors import UserError

LEFT_OUT = ("conditions", "repeat", "verdicts")
"""Sections that stay the same while games are played; the report has them."""


def watched_data(directory: Path, language: str) -> dict[str, Any]:
    """Title, summary, markup of the sections (``html``) and ``anchors``, pairs of an anchor and a heading.

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
    """The result so far as the run's command prints it. Raises ``UserError`` as ``watched_data`` does."""
    result = _result_in(directory)
    return _report_of(result)[1](result, language)


def _result_in(directory: Path) -> Any:
    from elolab.tuning.stored_results import result_in

    result = result_in(directory)
    if result is None:
        raise UserError(f"{directory}: its games are of a tournament")
    return result


def _report_of(result: Any) -> tuple[Callable[[Any, str], Document], Callable[[Any, str], str]]:
    """The document and the text of a kind of run, as functions of a result and a language."""
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
    """Write the data of a folder as JSON, or its text if that is asked for, to standard output; 1 without any yet."""
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
