"""The expected outcome of a sequential test, as lines in a terminal and as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elolab.arena.reports.document import Document, Note, Section, table_of
from elolab.arena.reports.drawing.fonts import chart_language
from elolab.arena.reports.plots import Plot
from elolab.arena.reports.render import REPORTS
from elolab.arena.reports.testing.charts import expectation_chart
from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.numbers import given_text, percent_text, signed
from elolab.arena.statistics.text_table import Column, table_lines
from elolab.arena.testing.expectation import LATE, Expectation
from elolab.engine.language import Catalogue, wrapped

COLUMNS = {
    "elo": "Elo", "normalized": "nElo", "h1": "H1 %", "h0": "H0 %", "undecided": "", "games": "", "median": "50 %",
    "late": f"{100 * LATE:.0f} %",
}  # fmt: skip
"""The columns of the table: maps names to titles. If a title is empty, the message ``expected.NAME`` replaces it."""
TEXT_WIDTH = 79


@dataclass(frozen=True)
class ExpectedTest:
    """A planned sequential test with its expected outcomes at several true strengths, weakest first."""

    settings: SequentialSettings
    pairs: int
    """Maximum number of game pairs."""
    rows: Sequence[Expectation]

    def sentences(self, say: Catalogue) -> list[str]:
        """Two sentences: the hypotheses and length of the test, and the meaning of the columns."""
        settings = self.settings
        hypotheses = {name: given_text(getattr(settings, name)) for name in ("elo0", "elo1", "alpha", "beta")}
        unit = Catalogue("elolab.arena", say.language)(f"verdict.unit_{settings.model}")
        about = say("expected.test", unit=unit, pairs=self.pairs, batch=settings.batch_pairs, **hypotheses)
        return [about, say("expected.reading", percent=f"{100 * LATE:.0f}")]

    def cells(self) -> list[tuple[str, ...]]:
        """The rows of the table as texts, in the order of ``COLUMNS``. Lengths are numbers of games."""
        return [
            (
                signed(row.elo), signed(row.normalized_elo), percent_text(row.h1), percent_text(row.h0),
                percent_text(row.undecided), *(f"{2 * n:.0f}" for n in (row.pairs, row.median_pairs, row.late_pairs)),
            )
            for row in self.rows
        ]  # fmt: skip

    def lines(self, language: str, columns: int = TEXT_WIDTH) -> list[str]:
        """The sentences and the table as lines for a terminal. Columns of the table that do not fit are left out."""
        say = Catalogue(REPORTS, language)
        cells = zip(*self.cells(), strict=True)
        table = [Column(*texts, rank=rank) for rank, texts in enumerate(zip(_titles(say), cells, strict=True))]
        rows = table_lines(table, columns)
        width = min(columns, TEXT_WIDTH)
        return [line for text in self.sentences(say) for line in wrapped(text, width)] + ["", *rows]

    def document(self, language: str) -> Document:
        """The report: the table and a chart."""
        say = Catalogue(REPORTS, language)
        about, reading = self.sentences(say)
        table = table_of(_titles(say), self.cells(), numbers=range(len(COLUMNS)))
        caption = say("plot.expected_caption", percent=f"{100 * LATE:.0f}")
        plot = Plot("expected", say("plot.expected"), caption, expectation_chart(self.rows, chart_language(language)))
        section = Section("expected", say("expected.title"), (Note(reading), table, plot))
        return Document(say("expected.title"), say("expected.kicker"), about, (section,), language)


def _titles(say: Catalogue) -> tuple[str, ...]:
    return tuple(title or say(f"expected.{name}") for name, title in COLUMNS.items())
