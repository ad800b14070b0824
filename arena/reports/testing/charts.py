"""Charts for the expected outcome of a sequential test and for a bisection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from elolab.arena.builds.repository import Commit
from elolab.arena.reports.drawing.marks import settle
from elolab.arena.reports.drawing.style import (
    GRID,
    LOSS,
    MUTED,
    WIN,
    draw_grid,
    legend_above,
    new_figure,
    single_axes,
    whole_numbers,
)
from elolab.arena.reports.render import REPORTS
from elolab.arena.testing.bisection import BAD, GOOD, Step
from elolab.arena.testing.expectation import LATE, Expectation
from elolab.engine.language import Catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 40
"""Maximum number of commits for which a chart shows names; with more commits, it shows numbers."""
MOST_ELO = 400.0
"""Elo limit of the chart of a bisection, on each side of 0. Larger values are drawn at the limit."""


def expectation_chart(rows: Sequence[Expectation], language: str) -> Figure:
    """Two charts with the true logistic Elo on the x axis.

    One shows the probabilities of both verdicts in percent, the other the length of the test in games.
    """
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


def bisection_chart(commits: Sequence[Commit], steps: Sequence[Step], language: str) -> Figure:
    """A chart of each tested commit's Elo against the reference, with 95 % intervals, in historical order."""
    say = Catalogue(REPORTS, language)
    figure, axes = single_axes(3.2)
    places = {commit.name: place for place, commit in enumerate(commits, start=1)}
    axes.axhline(0, color=GRID, linewidth=0.9)
    for step in steps:
        assert step.elo is not None
        assert step.elo_low is not None
        assert step.elo_high is not None
        colour = {BAD: LOSS, GOOD: WIN}.get(step.verdict, MUTED)
        low, high = (max(-MOST_ELO, min(MOST_ELO, bound)) for bound in (step.elo_low, step.elo_high))
        place = places[step.commit.name]
        axes.plot([place, place], [low, high], color=colour, linewidth=1.8)
        axes.plot([place], [max(-MOST_ELO, min(MOST_ELO, step.elo))], color=colour, marker="o", markersize=6)
    axes.set_xlim(0.5, len(commits) + 0.5)
    if len(commits) <= MOST_NAMED:
        axes.set_xticks(range(1, len(commits) + 1), [commit.short for commit in commits], rotation=90, fontsize=9)
    else:
        whole_numbers(axes, "x")
        axes.set_xlabel(say("chart.commit_number"))
    axes.set_ylabel(say("chart.elo"))
    draw_grid(axes, "y")
    return settle(figure)
