"""Pages in a light and a dark theme: Black stays black, and what is written on a colour can be read."""

from __future__ import annotations

import re
from importlib import resources
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer

from elolab.arena.reports.drawing.style import GROUND, INK, svg_text
from elolab.arena.reports.tournament_charts import endings_chart, pairs_chart
from elolab.arena.statistics.standings import EndingCount
from elolab.engine.language import Catalogue

READABLE = 4.5
"""The least ratio of luminances for small text (WCAG 2.2, 1.4.3)."""
STYLE = (resources.files("elolab.arena.reports") / "assets" / "report.css").read_text("utf-8")


def theme(name: str) -> dict[str, str]:
    """The page's variables in a theme."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    found = dict(re.findall(r"--([\w-]+): ([^;]+);", light))
    return found | dict(re.findall(r"--([\w-]+): ([^;]+);", dark)) if name == "dark" else found


def luminance(color: Any) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Any, other: Any) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("heat", ["heat-win", "heat-loss"])
def test_the_most_one_sided_cells_of_a_crosstable_can_be_read(name: str, heat: str) -> None:
    colors = theme(name)
    share = 0.75 * float(colors["heat-strength"])
    ground = np.array(to_rgb(colors["ground"]))
    cell = share * np.array([int(part) for part in colors[heat].split(",")]) / 255 + (1 - share) * ground
    assert contrast(to_rgb(colors["ink"]), cell) >= READABLE


@pytest.mark.parametrize("name", ["light", "dark"])
def test_what_went_wrong_can_be_read(name: str) -> None:
    found = re.search(r"#failure \{.*?background: var\(--(\w+)\); color: var\(--(\w+)\); \}", STYLE)
    assert found is not None
    assert contrast(*(to_rgb(theme(name)[variable]) for variable in found.groups())) >= READABLE


def test_games_that_black_won_are_black_in_every_theme() -> None:
    tables: Any = SimpleNamespace(endings=[EndingCount("score", 3, 1, 1, 1)])
    text = svg_text(endings_chart(tables, ("Black", "White"), ("Black", "White"), "en"), "endings", "")
    bars = [fill for fill in re.findall(r'<path [^>]*style="fill: ([^;]+);', text) if fill != "var(--ground)"]
    assert {luminance(to_rgb(fill)) < 0.02 for fill in bars if fill.startswith("#")} == {True, False}
    assert "var(--ink)" not in bars


def test_counts_on_the_bars_of_pairs_can_be_read() -> None:
    for name, text in (("loss", "black-disc"), ("setback", "ink"), ("even", "ink"), ("gain", "ink"), ("win", "ground")):
        for kind in ("light", "dark"):
            colors = theme(kind)
            assert contrast(to_rgb(colors[name]), to_rgb(colors[text])) >= READABLE, (name, kind)


def test_score_intervals_stand_out_from_the_bars_of_pairs() -> None:
    """By a rim: ink alone is too near to some bar's colour in either theme."""
    row = SimpleNamespace(player="A", pairs=20, LL=12, LD=1, even=2, WD=1, WW=4)
    tables: Any = SimpleNamespace(standings=[row])
    (axes,) = pairs_chart(tables, "en").axes
    rim, interval = (container.lines[2][0] for container in axes.containers if isinstance(container, ErrorbarContainer))
    assert [part.get_color()[0][:3].tolist() for part in (rim, interval)] == [[*to_rgb(GROUND)], [*to_rgb(INK)]]
    assert rim.get_linewidth()[0] >= interval.get_linewidth()[0] + 2
    assert rim.get_zorder() <= interval.get_zorder()
    assert min(contrast(to_rgb(theme(kind)["ink"]), to_rgb(theme(kind)["ground"])) for kind in ("light", "dark")) > 7


@pytest.mark.parametrize("value", [0.0, 10.0, 53.0, 60.0])
def test_figures_on_a_heat_map_can_be_read_whatever_the_theme(value: float) -> None:
    """Its cells keep their colours, so their texts must too."""
    from elolab.tuning.reports.ablation_charts import heat_chart

    worth = np.array([[np.nan, value], [-60.0, np.nan]])
    figure = heat_chart(["one", "other"], worth, np.isfinite(worth), Catalogue("elolab.tuning.reports", "en"))
    text, (image,) = figure.axes[0].texts[0], figure.axes[0].images
    cell = image.to_rgba(np.array([[value]]))[0, 0, :3]
    assert contrast(to_rgb(text.get_color()), cell) >= 4
    assert "var(" not in svg_text(figure, "heat", "").split(">" + text.get_text() + "<")[0].rsplit("<text", 1)[1]
