"""What a page that follows a run shows of a tuning, ablation, run of claims or fit: the sections of its report.

A helper process draws them (``engine.child_processes``), because fitting a model and drawing charts takes seconds;
``elolab watch`` starts it with the words DIR LANGUAGE [text]. With ``text`` it prints what the run's command prints at
its end, for a terminal.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.tuning.reports.document import Document, html_sections

LEFT_OUT = ("conditions", "repeat", "verdicts")
"""Sections that stay the same while games are played; the report has them."""


def watched_data(directory: Path, language: str) -> dict[str, Any]:
    """``title``, ``summary``, ``html`` (of the sections) and ``anchors`` (pairs of an anchor and a heading).

    Raises ``UserError`` where a run does not say enough yet.
    """
    result = _result_in(directory)
    document = _report_of(result).document(result, language)
    sections = [section for section in document.sections if section.name not in LEFT_OUT]
    return {
        "title": document.title,
        "summary": document.summary,
        "html": html_sections(sections, language),
        "anchors": [(section.name, section.title) for section in sections],
    }


def outcome_text(directory: Path, language: str) -> str:
    """What a run has come to so far, as its command prints it. Raises ``UserError`` as ``watched_data`` does."""
    result = _result_in(directory)
    return _report_of(result).text(result, language)


def _result_in(directory: Path) -> Any:
    from elolab.tuning.stored_results import result_in

    result = result_in(directory)
    if result is None:
        raise UserError(f"{directory}: its games are of a tournament")
    return result


class _Report(NamedTuple):
    """What is written of the results of a kind of run, given a result and a language."""

    document: Callable[[Any, str], Document]
    text: Callable[[Any, str], str]


def _report_of(result: Any) -> _Report:
    from elolab.tuning.reports.ablation import ablation_document
    from elolab.tuning.reports.claims.report import claims_document, claims_text
    from elolab.tuning.reports.fit import fit_document, fit_text
    from elolab.tuning.reports.study import tuning_document, tuning_text

    reports = {
        "StudyResult": _Report(tuning_document, tuning_text),
        "AblationResult": _Report(ablation_document, _ablation_text),
        "ClaimsResult": _Report(claims_document, claims_text),
        "FitResult": _Report(fit_document, fit_text),
    }
    return reports[type(result).__name__]


def _ablation_text(result: Any, language: str) -> str:
    from elolab.tuning.reports.ablation import ablation_text
    from elolab.tuning.reports.document import MESSAGES
    from elolab.tuning.reports.labels import in_language

    shown = in_language(result, Catalogue(MESSAGES, language))
    return ablation_text(shown.rows, shown.effects, language, shown.speeds)


def main(words: list[str]) -> int:
    """Write the data of a folder to standard output as JSON, with the seconds of processor time that it took.

    Or the text, where that is asked for; 1 if there is none yet.
    """
    directory, language, *form = words
    if form:
        try:
            print(outcome_text(Path(directory), language))
        except UserError as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    try:
        data = watched_data(Path(directory), language)
    except UserError as error:
        data = {"trouble": str(error)}
    print(json.dumps({**data, "seconds": time.process_time()}, ensure_ascii=False))
    return 0
