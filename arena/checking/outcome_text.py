"""Formats the results of an examination as text lines and as data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elolab.arena.checking.dialects.dialect import Dialect
from elolab.arena.checking.examination import CheckOutcome
from elolab.arena.checking.findings import Remark
from elolab.arena.colours import text_columns
from elolab.engine.language import Catalogue, columns_of, padded, wrapped

INDENTATION = " " * 10
QUOTED = 160
"""Maximum number of characters quoted from a program's line."""
DIALOGUE_SHOWN = 24
"""Maximum number of dialogue lines shown; earlier lines are left out."""
RUN_SHOWN = 3
"""Number of lines shown at the beginning, and at the end, of a long block of program output."""
MARKS = ("passed", "failed", "advised", "skipped")
"""The four results that the line of a check can show; the message ``mark.KEY`` has the word for each."""


def mark_of(outcome: CheckOutcome) -> str:
    """The result that the line of a check shows: ``advised`` for a failed recommendation, otherwise the verdict."""
    if outcome.verdict == "failed" and outcome.check.is_recommendation:
        return "advised"
    return outcome.verdict


def lines_of(outcome: CheckOutcome, dialect: type[Dialect[Any]], say: Catalogue) -> list[str]:
    """Lines of text for the result of a check; a failed check also shows the reason and the dialogue.

    ``dialect`` is the class of the protocol that was checked; ``say`` is the message catalogue of ``arena.checking``.
    """
    name = outcome.check.name
    demand = say(f"demand.{name}", question=dialect.synchronisation, farewell=dialect.farewell)
    note = _sentence(outcome.remark, say)
    if outcome.verdict == "passed":
        return _item("passed", say("report.passed", demand=demand, note=note) if note else demand, say)
    if outcome.verdict == "skipped":
        return _item("skipped", say("report.skipped", demand=demand, note=note), say)
    lines = _item(mark_of(outcome), f"{demand} [{name}]", say)
    lines += [INDENTATION + line for line in wrapped(note, text_columns() - 1 - len(INDENTATION))]
    return lines + [f"{INDENTATION}  {line}" for line in shortened(outcome.dialogue, say)]


def _item(mark: str, text: str, say: Catalogue) -> list[str]:
    width = max(columns_of(say(f"mark.{other}")) for other in MARKS)
    first, *others = wrapped(text, text_columns() - 1 - len(INDENTATION)) or [""]
    head = f" {padded(say(f'mark.{mark}'), width)} "
    return [padded(head, len(INDENTATION)) + first, *(INDENTATION + line for line in others)]


def _sentence(remark: Remark | None, say: Catalogue) -> str:
    if remark is None:
        return ""
    return say(remark.key, **{name: _quoted(value) for name, value in remark.values.items()})


def _quoted(value: Any) -> Any:
    """Make a text safe for a terminal: escape control characters and cut it after ``QUOTED`` characters.

    Values that are not text are returned unchanged.
    """
    if not isinstance(value, str):
        return value
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in value)
    return printable if len(printable) <= QUOTED else f"{printable[:QUOTED]}..."


def shortened(dialogue: Sequence[str], say: Catalogue) -> list[str]:
    """Shorten a dialogue for display.

    Long blocks of program output are cut in the middle, and only the last ``DIALOGUE_SHOWN`` lines are kept. Where
    lines are omitted, a line gives their number.
    """
    shown: list[str] = []
    run: list[str] = []
    for line in dialogue:
        if " < " in line[:24]:
            run.append(line)
        else:
            shown += [*_ends(run, say), line]
            run = []
    shown += _ends(run, say)
    if len(shown) > DIALOGUE_SHOWN:
        left_out = say("report.left_out", count=len(shown) - DIALOGUE_SHOWN)
        shown = [left_out, *shown[-DIALOGUE_SHOWN:]]
    return [_quoted(line) for line in shown]


def _ends(run: Sequence[str], say: Catalogue) -> list[str]:
    if len(run) <= 2 * RUN_SHOWN + 1:
        return list(run)
    return [*run[:RUN_SHOWN], say("report.left_out", count=len(run) - 2 * RUN_SHOWN), *run[-RUN_SHOWN:]]


def summary(outcomes: Sequence[CheckOutcome], say: Catalogue) -> str:
    """One line that summarises all checks."""
    marks = [mark_of(outcome) for outcome in outcomes]
    verdict = "report.keeps" if "failed" not in marks else "report.breaks"
    counts = say("report.counts", **{mark: marks.count(mark) for mark in MARKS})
    return say(verdict, counts=counts)


def data_of(outcome: CheckOutcome) -> dict[str, Any]:
    """The result of a check as data for JSON; texts are in English."""
    return {
        "name": outcome.check.name,
        "is_recommendation": outcome.check.is_recommendation,
        "verdict": outcome.verdict,
        "remark": _sentence(outcome.remark, Catalogue("elolab.arena.checking")),
        "values": {} if outcome.remark is None else outcome.remark.values,
        "dialogue": list(outcome.dialogue),
        "seconds": outcome.seconds,
    }
