"""Figures that cannot mislead: geometry of what is drawn of extreme results."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.records import Outcome
from elolab.arena.reports.drawing.marks import (
    CUT,
    draw_interval,
    draw_point,
    settle,
    shown_bounds,
    widen_coinciding,
)
from elolab.arena.reports.drawing.style import figure_file, single_axes, svg_text
from elolab.arena.reports.plots import Plot, also_written_as, plots_of, write_plots
from elolab.arena.reports.tournament_charts import wilson_interval
from elolab.arena.schedule import sequential_run
from elolab.arena.statistics.standings import tables_of
from tests.support.extreme_results import long_names, tournaments
from tests.support.figure_geometry import check_figure

CASES = tournaments()


@pytest.mark.integration
@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "five",
        "one-pair",
        "all-wins",
        "sprt",
        "same",
    ],
)
def test_figures_of_extreme_tournaments_are_legible(name: str) -> None:
    spec, records, planned = CASES[name]
    counted = [record for record in records if record.pairing.number < planned]
    tables = tables_of(spec.game, [player.name for player in spec.players], counted)
    test = sequential_run(spec, [Outcome(record.key, record.pairing, record.score) for record in counted])
    plots = plots_of(tables, counted, test, spec.game, "en")
    assert ("sequential" in [plot.name for plot in plots]) == (spec.sprt is not None)
    for plot in plots:
        check_figure(plot.figure, plot.name)


def test_a_tournament_that_has_just_begun_has_whole_pairs_and_all_words_in_its_figures() -> None:
    """One pair, and a player whose only game has no second one leads."""
    from elolab.arena.reports import tournament_charts as charts

    spec, records, _ = CASES["five"]
    one, other = (player.name for player in spec.players[:2])
    pair = [record for record in records if {record.first, record.second} == {one, other}][:2]
    single = next(record for record in records if other not in (record.first, record.second) and record.second == one)
    played = [replace(record, result="1-0") for record in (*pair, single)]
    tables = tables_of(spec.game, [player.name for player in spec.players], played)
    assert not tables.standings[0].pairs
    words = [text.get_text() for text in charts.pairs_chart(tables, "en").legends[0].get_texts()]
    assert "score, with 95 % interval" in words
    axes = charts.convergence_chart(tables, played, "en").axes[0]
    shown = [tick for tick in axes.get_xticks() if axes.get_xlim()[0] <= tick <= axes.get_xlim()[1]]
    assert len(shown) > 1
    assert all(tick == round(tick) for tick in shown)


@pytest.mark.integration
def test_forty_players_are_legible_too() -> None:
    from elolab.arena.reports import tournament_charts as charts

    spec, records, _ = CASES["forty"]
    tables = tables_of(spec.game, [player.name for player in spec.players], records)
    for chart in (charts.ratings_chart, charts.crosstable_chart):
        check_figure(chart(tables, "en"), chart.__name__)


def test_a_match_shows_elo_with_its_interval_after_every_moment() -> None:
    from elolab.arena.reports.tournament_charts import course_chart, match_course

    spec, records, _ = CASES["match"]
    tables = tables_of(spec.game, [player.name for player in spec.players], records)
    pairs, course = match_course(tables, records)
    assert pairs[-1] == tables.counter.complete_pairs == 100
    last = tables.head_to_heads[0]
    sign = 1 if last.player == spec.players[0].name else -1
    assert course[-1][0] == pytest.approx(sign * last.elo)
    axes = course_chart(tables, records, "en").axes[0]
    drawn = {line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 1.6}
    assert drawn >= set(pairs[1:])
    low, high = axes.get_ylim()
    assert low <= course[-1][1] < course[-1][2] <= high


@pytest.mark.parametrize(
    ("interval", "cuts"), [((-5, 5), 0), ((-50, 5), 1), ((-math.inf, math.inf), 2), ((20, 30), 1), ((-30, -20), 1)]
)
@pytest.mark.parametrize("upright", [False, True])
def test_an_interval_is_whole_or_has_an_arrowhead_where_it_is_cut(
    interval: tuple[float, float], cuts: int, upright: bool
) -> None:
    _, axes = single_axes(2)
    draw_interval(axes, 0, interval, (-10, 10), "#23272e", upright=upright)
    assert sum(line.get_label() == CUT for line in axes.lines) == cuts
    ends = [value for line in axes.lines for value in (line.get_ydata() if upright else line.get_xdata())]
    assert min(ends) >= -10
    assert max(ends) <= 10


def test_a_point_beyond_the_scale_says_so() -> None:
    _, axes = single_axes(2)
    draw_point(axes, 0, math.inf, (-10, 10), "#23272e", "o")
    draw_point(axes, 1, 3, (-10, 10), "#23272e", "o")
    assert [text.get_text() for text in axes.texts] == ["+∞"]
    assert sum(line.get_label() == CUT for line in axes.lines) == 1


@pytest.mark.parametrize(
    ("intervals", "bounds"),
    [
        ([(-5, 5), (0, 20)], (-5, 20)),
        ([(-1180, -820), (820, 1180)], (-1180, 1180)),
        ([(-3, 3)] * 5 + [(-900, 900)], (-12, 12)),
        ([(-math.inf, math.inf)], (-100, 100)),
        ([(-600, math.inf)], (-600, 300)),
        ([], (-100, 100)),
    ],
)
def test_the_scale_holds_all_intervals_but_the_very_widest(intervals: list, bounds: tuple) -> None:
    assert shown_bounds(intervals) == bounds


def test_what_decides_is_always_whole() -> None:
    assert shown_bounds([(-3, 3)] * 5, [(-400, 900)]) == (-400, 900)


def test_lines_that_coincide_are_told_apart() -> None:
    _, axes = single_axes(3)
    lines = [axes.plot([0, 1, 2], heights, linewidth=2)[0] for heights in ([1, 2, 3], [1, 2, 3.001], [3, 2, 1])]
    widen_coinciding(lines)
    assert lines[0].get_linewidth() > lines[1].get_linewidth() == lines[2].get_linewidth() == 2


@pytest.mark.integration
def test_tick_labels_of_categories_are_moved_apart() -> None:
    for count in (4, 9, 30):
        figure, axes = single_axes(3)
        axes.plot(range(count), range(count))
        axes.set_xticks(range(count), [name[:12] + str(place) for place, name in enumerate(long_names(count))])
        check_figure(settle(figure), str(count))


def test_the_check_of_geometry_finds_overlaps() -> None:
    figure, axes = single_axes(3)
    axes.set_xticks(range(30), ["a long label"] * 30)
    figure.draw_without_rendering()
    with pytest.raises(AssertionError, match="overlap"):
        check_figure(figure, "overlapping")


@pytest.mark.integration
def test_figures_are_written_as_png_svg_and_pdf(tmp_path: Path) -> None:
    figure, axes = single_axes(2)
    axes.set_title("胜 & draws")
    write_plots(tmp_path, [Plot("one", "One", "", figure)])
    assert [path.name for path in (tmp_path / "plots").iterdir()] == ["one.svg"]
    with also_written_as(("png", "pdf")):
        write_plots(tmp_path, [Plot("one", "One", "", figure)])
    data = {path.suffix: path.read_bytes() for path in (tmp_path / "plots").iterdir()}
    assert data.keys() == {".png", ".svg", ".pdf"}
    width = int.from_bytes(data[".png"][16:20], "big")
    dots = re.search(rb"pHYs(.{4})", data[".png"], re.DOTALL)
    assert width == 6.8 * 300
    assert dots
    assert int.from_bytes(dots[1], "big") == round(300 / 0.0254)
    assert "胜 &amp; draws" in data[".svg"].decode()
    assert data[".pdf"].startswith(b"%PDF")
    assert figure_file(figure, "svg") == data[".svg"]
    used, defined = (
        set(re.findall(mark, data[".svg"].decode())) for mark in (r'(?:url\(|href=")#(\w+)', r'\bid="(\w+)"')
    )
    assert used <= defined  # the ids of marks and clip paths are numbers, equal on all machines
    assert not any(re.search("[0-9a-f]{10}", name) for name in defined)
    (tmp_path / "plots" / "one.svg").write_text("of other games")
    (tmp_path / "plots" / "one.png").write_text("of other games")
    write_plots(tmp_path, [Plot("one", "One", "", figure)])  # what is there is kept up to date
    assert {path.suffix: path.read_bytes() for path in (tmp_path / "plots").iterdir()} == data
    assert "var(--ink)" in svg_text(figure, "one", "what it is")
    assert r'aria-label="C:\sub\1 &amp; \g&lt;0&gt;"' in svg_text(figure, "one", r"C:\sub\1 & \g<0>")


def test_a_folder_for_figures_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "plots").write_text("in the way")
    with pytest.raises(Exception, match="plots: cannot be made: "):
        write_plots(tmp_path, [])


@pytest.mark.parametrize(("found", "cases"), [(0, 1), (1, 1), (0, 40), (20, 40), (40, 40)])
def test_intervals_of_shares_hold_what_the_score_test_accepts(found: int, cases: int) -> None:
    low, high = wilson_interval(found, cases)
    assert 0 <= low <= found / cases <= high <= 1
    for bound in (low, high):  # The score test rejects a share exactly at the bounds.
        if 1e-9 < bound < 1 - 1e-9:
            assert abs(found / cases - bound) / math.sqrt(bound * (1 - bound) / cases) == pytest.approx(1.959964)


LONG_LABELS = ["a name that is very long indeed, " * 3, "关闭空着裁剪与静态搜索" * 8]


@pytest.mark.parametrize("names", [["short", "names"], pytest.param(LONG_LABELS * 2, marks=pytest.mark.integration)])
def test_legends_lie_within_the_figure(names: list[str]) -> None:
    figure, axes = single_axes(2.5)
    for place, name in enumerate(names):
        axes.plot([0, 1], [0, place], label=f"{place} {name}")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    settle(figure)
    check_figure(figure, names[0])
    (legend,) = figure.legends
    assert legend.get_window_extent().width <= figure.bbox.width
    assert axes.get_window_extent().height > 50
