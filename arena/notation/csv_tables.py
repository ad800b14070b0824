"""CSV tables that are safe in spreadsheets, which take some texts for formulas.

A text that begins like a formula gets an apostrophe in front, which spreadsheets read as "this is text" (OWASP, "CSV
injection"). Formulas begin with ``=``, ``+``, ``-`` or ``@``, also in full width, with a tab or an end of line.
Numbers, also negative ones, stay as they are. ``unquoted`` removes the apostrophe.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

_FORMULA = re.compile("'*[=+\\-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
                      "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]")  # fmt: skip
"""Matches a formula-like text, with any apostrophes of its own before it for ``unquoted`` to restore."""


def quoted(cell: Any) -> Any:
    """The cell as written: a formula-like text that is no number gets an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) and not _is_number(cell) else cell


def unquoted(text: str) -> str:
    """Undo ``quoted``."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def row_writer(stream: IO[str]) -> Callable[[Iterable[Any]], None]:
    """Make a function that writes a row into an open text file: numbers in full, nothing for ``None`` and NaN."""
    table = csv.writer(stream, lineterminator="\n")

    def write(cells: Iterable[Any]) -> None:
        table.writerow(["" if cell is None or cell != cell else quoted(cell) for cell in cells])

    return write


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Format a whole table."""
    stream = io.StringIO()
    write = row_writer(stream)
    for row in (heads, *rows):
        write(row)
    return stream.getvalue()


def frame_csv(frame: DataFrame) -> str:
    """Format a pandas table without its index; every missing value, also ``pandas.NA``, is an empty cell."""
    known = frame.astype(object).where(frame.notna(), None)
    return csv_text([str(name) for name in frame.columns], known.itertuples(index=False, name=None))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
