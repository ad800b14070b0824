"""The chart of a sequential test's expected outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from elolab.arena.reports.drawing.marks import settle
from elolab.arena.reports.drawing.style import GRID, LOSS, MUTED, WIN, draw_grid, legend_above, new_figure
from elolab.arena.reports.render import REPORTS
from elolab.arena.testing.expectation import LATE, Expectation
from elolab.engine.language import Catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def expectation_chart(rows: Sequence[Expectation], language: str) -> Figure:
    """Probabilities of both verdicts, and the length of the test in games, by the true strength in logistic Elo."""
    say = Catalogue(REPORTS, language)
    figure, grid = new_figure(3.4, columns=2, share_scale=False, font_size=11)
    verdicts, lengths = grid[0]
    strengths = [row.elo for row in rows]
    for shares, colour, name in (
        ([100 * row.h1 for row in rows], WIN, "h1"), ([100 * row.h0 for row in rows], LOSS, "h0"),
    ):  # fmt: skip
        verdicts.plot(strengths, shares, color=colour, linewidth=1.8, label=say(f"chart.expected_{name}"))
    verdicts.set_ylim(0, 100)
    verdicts.set_ylabel(say("chart.expected_share"))
    for counts, style, label in (
        ([2 * row.pairs for row in rows], "-", say("chart.expected_mean")),
        ([2 * row.median_pairs for row in rows], "--", "50 %"),
        ([2 * row.late_pairs for row in rows], ":", f"{100 * LATE:.0f} %"),
    ):  # fmt: skip
        lengths.plot(strengths, counts, color=MUTED, linewidth=1.8, linestyle=style, label=label)
    lengths.set_ylim(0, None)
    lengths.set_ylabel(say("chart.games"))
    for axes in (verdicts, lengths):
        axes.axvline(0, color=GRID, linewidth=0.9)
        axes.set_xlabel(say("chart.true_elo"))
        draw_grid(axes, "y")
    legend_above(figure, 5, font_size=10)
    return settle(figure)
