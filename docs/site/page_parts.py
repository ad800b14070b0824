"""Parts of the pages that come from stored results: reading their tables, and writing their figures."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.notation.csv_tables import unquoted
from elolab.arena.reports.drawing.fonts import CHINESE, chinese_font
from elolab.arena.reports.drawing.style import svg_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = CHINESE[0]
"""Name of the font for Chinese text in the figures of ``docs``, besides matplotlib's own font."""


def rows_of(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV table as dictionaries by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{column: unquoted(cell) for column, cell in row.items()} for row in csv.DictReader(file)]


def write_figure(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw a figure and write it as SVG; keep an existing file if ``FONT`` is missing.

    With another font, texts have other widths, and a Chinese figure may have English texts.
    """
    if path.exists() and chinese_font() != FONT:
        print(f"{path}: kept, because its font {FONT} is not installed", file=sys.stderr)
        return
    path.write_text(svg_of(draw()), "utf-8")
