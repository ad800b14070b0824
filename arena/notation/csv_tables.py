"""CSV tables that are safe to open in spreadsheets, which interpret some texts as formulas.

A text that looks like a formula gets a leading apostrophe, which spreadsheets read as "this is text" (OWASP, "CSV
injection"). Such a text begins with ``=``, ``+``, ``-`` or ``@``, also in full width, or with a tab or a line break.
Numbers, even negative ones, are unchanged. ``unquoted`` removes the apostrophe.
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
"""Matches a text like a formula; leading apostrophes are allowed, so that ``unquoted`` can restore such texts too."""


def quoted(cell: Any) -> Any:
    """Put an apostrophe in front of a text that looks like a formula and is not a number; other cells are unchanged."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) and not _is_number(cell) else cell


def unquoted(text: str) -> str:
    """Remove the apostrophe that ``quoted`` has put in front of a text."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def row_writer(stream: IO[str]) -> Callable[[Iterable[Any]], None]:
    """Make a function that writes a row to ``stream``: numbers in full precision, ``None`` and NaN as empty cells."""
    table = csv.writer(stream, lineterminator="\n")

    def write(cells: Iterable[Any]) -> None:
        table.writerow(["" if cell is None or cell != cell else quoted(cell) for cell in cells])

    return write


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Format a table with the column heads ``heads`` as CSV text."""
    stream = io.StringIO()
    write = row_writer(stream)
    for row in (heads, *rows):
        write(row)
    return stream.getvalue()


def frame_csv(frame: DataFrame) -> str:
    """Format a pandas table as CSV without its index; missing values (``None``, NaN, ``pandas.NA``) are empty cells."""
    known = frame.astype(object).where(frame.notna(), None)
    return csv_text([str(name) for name in frame.columns], known.itertuples(index=False, name=None))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
