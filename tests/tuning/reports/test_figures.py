"""Figures and tables of studies, ablations and claims on extreme results."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast, get_type_hints

import pytest

from elolab.arena.reports.document import Section, markdown, table_of, write_document
from elolab.arena.reports.drawing.marks import CUT, mark_ratios
from elolab.arena.reports.drawing.style import single_axes
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.language import LANGUAGES, Catalogue, columns_of
from elolab.engine.settings.parameters import BY_NAME, Value
from elolab.tuning.ablation.ablation_spec import ablation_from_mapping
from elolab.tuning.ablation.levels import level_of
from elolab.tuning.ablation.rows import AblationRow, CombinationRow
from elolab.tuning.claims.claims_results import CellRow, ClaimsResult, PartResult, cell_row
from elolab.tuning.claims.measures import SHARE_NAMES
from elolab.tuning.keys.claims import EXPECTED
from elolab.tuning.reports import ablation_charts as charts
from elolab.tuning.reports import claims_charts
from elolab.tuning.reports import tuning_charts as study_charts
from elolab.tuning.reports.ablation_report import ablation_text
from elolab.tuning.reports.claims_report import claims_text
from elolab.tuning.reports.labels import base_label, comparison_label, in_language
from elolab.tuning.reports.tuning_report import optimism_sentence, tuning_data, tuning_document, tuning_sentence
from elolab.tuning.reports.wording import MESSAGES, counted, ratio_text
from elolab.tuning.study.model.importance import ParameterKnowledge
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import INTERVAL_90
from tests.support.extreme_results import (
    STUDY,
    ablation,
    ablation_rows,
    all_won_row,
    candidates,
    claims,
    comparison_row,
    depth_rows_of,
    long_names,
    study,
)
from tests.support.figure_geometry import check_figure, is_cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORDS = Catalogue(MESSAGES)
ROWS = ablation_rows()


@pytest.fixture(scope="module")
def all_claims(tmp_path_factory: pytest.TempPathFactory) -> ClaimsResult:
    return claims(tmp_path_factory.mktemp("claims"))


@pytest.mark.integration
@pytest.mark.parametrize("case", ROWS)
def test_forest_plots_show_intervals_whole_or_mark_the_cut(case: str) -> None:
    rows = ROWS[case]
    figure = charts.forest_chart(rows, WORDS, 5.0)
    check_figure(figure, case)
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    for place, row in zip(axes.get_yticks(), rows, strict=True):
        judged = charts.judged_interval(row)
        marks = [line for line in axes.lines if line.get_label() == CUT and line.get_ydata()[0] == place]
        beyond = sum((judged[0] < low, judged[1] > high))
        assert bool(marks) == bool(beyond), row.label
        if not beyond:
            ends = [x for line in axes.lines if set(line.get_ydata()) == {place} for x in line.get_xdata()]
            assert min(ends) == pytest.approx(judged[0])
            assert max(ends) == pytest.approx(judged[1])


def test_a_verdict_has_a_shape_of_its_own() -> None:
    shapes = [charts.verdict_mark(verdict)[1] for verdict in ("better", "worse", "equivalent", "undecided", "")]
    assert len(set(shapes)) == len(shapes)
    rows = [comparison_row(f"{place}", 5.0, 3.0, verdict) for place, verdict in enumerate(("better", "undecided"))]
    figure = charts.forest_chart(rows, WORDS)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["better", "undecided"]


@pytest.mark.integration
def test_every_figure_of_a_whole_ablation_is_legible(tmp_path: Path) -> None:
    from elolab.tuning.reports.ablation_report import ablation_document

    document = ablation_document(ablation(tmp_path), "en")
    assert {plot.name for plot in document.plots} == {"forest", "curves", "depths", "interactions", "pairs"}
    for plot in document.plots:
        check_figure(plot.figure, plot.name)


def verticals(axes: Axes, place: float) -> list[tuple[float, float, float]]:
    """The upright lines at a place: low end, high end and width."""
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2 and set(line.get_xdata()) == {place}]
    return sorted((min(line.get_ydata()), max(line.get_ydata()), line.get_linewidth()) for line in lines)


def test_a_curve_shows_both_intervals_and_the_verdict() -> None:
    levels = [level_of(BY_NAME["null_depth"], value, {}, "x", "xiangqi") for value in (2, 4, 3)]
    rows = (comparison_row("2", 10.0, 8.0, "undecided"), comparison_row("4", -30.0, 8.0, "worse"))
    figure = charts.curves_chart([charts.Curve("", levels[-1], tuple(zip(levels, rows, strict=False)))], WORDS)
    check_figure(figure, "curve")
    (axes,) = figure.axes
    for place, row in zip((2, 4), rows, strict=True):
        judged, own = verticals(axes, place)
        assert judged[:2] == pytest.approx((row.simultaneous_low, row.simultaneous_high))
        assert own[:2] == pytest.approx((row.elo_low, row.elo_high))
        assert judged[2] < own[2]
        (point,) = (line for line in axes.lines if list(line.get_xdata()) == [place])
        assert point.get_marker() == charts.verdict_mark(row.verdict)[1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["worse", "undecided"]


def test_titles_of_curves_do_not_run_into_each_other() -> None:
    levels = [level_of(BY_NAME["null_depth"], value, {}, "x", "xiangqi") for value in (2, 4, 3)]
    points = tuple(zip(levels, [comparison_row("2", 10.0, 8.0), comparison_row("4", 5.0, 8.0)], strict=False))
    titles = ["单独使用历史启发，不用杀手着法和置换表着法，吃子按历史排序而不按价值", "history, without killers " * 3]
    figure = charts.curves_chart([charts.Curve(title, levels[-1], points) for title in titles], WORDS)
    check_figure(figure, "curves")
    left, right = (axes._left_title.get_window_extent() for axes in figure.axes)
    assert left.x1 < right.x0


def test_legends_of_interactions_stay_in_their_picture() -> None:
    names = {-1: "off", 1: "one_sided"}
    square = [
        CombinationRow(
            "null move × quiescence", one, other, f"quiescence_see_margin {names[one]}", f"null_move {names[other]}",
            9.0 * one, 4.0,
        )
        for one in (-1, 1) for other in (-1, 1)
    ]  # fmt: skip
    figure = charts.interactions_chart([square, square], WORDS)
    check_figure(figure, "interactions")
    for axes in figure.axes:
        box, picture, title = (one.get_window_extent() for one in (axes.get_legend(), axes, axes._left_title))
        assert box.x1 <= picture.x1
        assert picture.width > 2 * figure.dpi
        assert box.y1 <= title.y0 + 2


CHINESE_NAMES = [f"关闭空着裁剪与静态搜索{number}，不用杀手着法" * 3 for number in range(6)]


@pytest.mark.integration
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "names",
    [
        long_names(7, 60),
        pytest.param(["a", "b"], marks=pytest.mark.integration),
        pytest.param(CHINESE_NAMES, marks=pytest.mark.integration),
    ],
)
def test_depths_are_shown_over_the_reference(names: list[str], language: str) -> None:
    rows = depth_rows_of([comparison_row(name, 0.0, 1.0) for name in names])
    figure = charts.depths_chart(rows, study_charts.chart_words(Catalogue(MESSAGES, language)))
    check_figure(figure, language)
    (axes,) = figure.axes
    lines = [line for line in axes.lines if not line.get_label().startswith("_")]
    nodes = {(row.setting, row.depth): row.nodes for row in rows}
    for name, line in zip(names, lines, strict=True):
        expected = [nodes[name, depth] / nodes[names[0], depth] for depth in line.get_xdata()]
        assert list(line.get_ydata()) == pytest.approx(expected)
    assert all(label.get_text().endswith("×") for label in axes.get_yticklabels())


@pytest.mark.integration
@pytest.mark.parametrize("expected", [None, 7.0])
def test_a_convergence_figure_shows_the_band_of_its_time(tmp_path: Path, expected: float | None) -> None:
    result = study(tmp_path)
    rounds = tuple(replace(end, deviation=50 / (1 + end.number), expected=expected) for end in result.rounds)
    (axes,) = study_charts.convergence_chart(replace(result, rounds=rounds), WORDS).axes
    for end in rounds:
        ((low, high, _),) = verticals(axes, 2 * end.total_pairs)
        reach, middle = INTERVAL_90 * (end.deviation or 0.0), end.elo if expected is None else expected
        assert (low, high) == pytest.approx((middle - reach, middle + reach))


@pytest.mark.integration
@pytest.mark.parametrize("label", ["unknown", "other"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_study_that_keeps_the_base_says_what_may_still_be_gained(tmp_path: Path, language: str, label: str) -> None:
    result = study(tmp_path, "base")
    assert result.decision is not None
    other = None if label == "unknown" else result.decision.values
    decision = replace(result.decision, left=(9.6, -5.0, 24.2), believed=9.6, pairs=20, other=other)
    result = replace(result, decision=decision)
    words = Catalogue(MESSAGES, language)
    said = tuning_sentence(result, language) + optimism_sentence(result, language)
    assert "+9.6 Elo" in said
    known = "best other setting", "其他设置中最好的一组"
    assert any(text in said for text in known) == (label == "other")
    assert "[−5.0, +24.2]" in said
    assert "Nothing" not in said
    page = markdown(tuning_document(result, language))
    assert page.count(words("study.larger_budget")) == 1
    assert words("validation.none") in page
    figure = study_charts.convergence_chart(result, study_charts.chart_words(words))
    check_figure(figure, language)
    assert words(f"chart.best_{label}_interval") in [text.get_text() for text in figure.legends[0].get_texts()]
    diamonds = [list(line.get_ydata()) for line in figure.axes[0].lines if line.get_marker() == "D"]
    assert diamonds == [[9.6]]
    assert tuning_data(result, None)["recommendation"]["left_to_gain"] == {"elo": 9.6, "low": -5.0, "high": 24.2}


@pytest.mark.integration
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_shows_the_legends_of_a_study_whole(tmp_path: Path, language: str) -> None:
    result, words = study(tmp_path), study_charts.chart_words(Catalogue(MESSAGES, language))
    names = result.spec.space.names
    for figure in (
        study_charts.convergence_chart(result, words),
        study_charts.contour_chart(result, [(names[0], names[1]), (names[0], names[3])], words),
    ):
        figure.draw_without_rendering()
        right = figure.legends[0].get_window_extent().x1 / figure.bbox.width
        assert right < 358 / 560  # of a figure 560 pixels wide, a window of 390 shows 358


@pytest.mark.integration
def test_contours_show_only_sets_that_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, words = study(tmp_path), study_charts.chart_words(Catalogue(MESSAGES, "en"))
    name, other = result.spec.space.names[:2]
    space = replace(result.spec.space, constraints=(f"{name} <= {result.spec.space.default[name]}",))
    shown: list[tuple[Value, ...]] = []
    gain = ResponseModel.gain
    monkeypatch.setattr(
        ResponseModel, "gain", lambda model, sets, best: (shown.extend(sets), gain(model, sets, best))[1]
    )
    study_charts.contour_chart(replace(result, spec=replace(result.spec, space=space)), [(name, other)], words)
    assert len(shown) > 100
    assert all(space.effective_values(one) == tuple(one) for one in shown)


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
@pytest.mark.parametrize("language", LANGUAGES)
def test_captions_have_the_games_that_a_figure_shows_and_why_a_line_is_flat(tmp_path: Path, language: str) -> None:
    result, message = study(tmp_path), Catalogue(MESSAGES, language)
    assert result.observations is not None
    captions = {plot.name: plot.caption for plot in tuning_document(result, language).plots}
    games = {name: int(re.findall(r"(\d+) (?:games|局)", caption)[-1]) for name, caption in captions.items()}
    of_model = 2 * result.observations.pairs
    assert games == {"convergence": result.games, **dict.fromkeys(("slices", "contours", "importance"), of_model)}
    flat = message("model.flat", names="null_depth")
    assert flat not in captions["slices"]
    space = replace(result.spec.space, base=(*result.spec.space.base, ("null_move", False)))
    off = replace(result, spec=replace(result.spec, space=space))
    captions = {plot.name: plot.caption for plot in tuning_document(off, language).plots}
    assert flat in captions["slices"]


@pytest.mark.integration
def test_a_page_breaks_no_word_of_a_name_and_gives_meanings_room(tmp_path: Path) -> None:
    page = write_document(tmp_path, tuning_document(study(tmp_path), "zh")).read_text("utf-8")
    assert '<th scope="row" class="middling">lmr_<wbr>min_<wbr>depth</th>' in page
    assert page.count('<td class="sentence">') == 4


@pytest.mark.integration
def test_numbers_that_name_rows_stand_under_their_heading(tmp_path: Path) -> None:
    table = table_of(("More games", "Pairs"), (("41940", "21132"),), (0, 1))
    document = replace(tuning_document(study(tmp_path), "en"), sections=(Section("a", "A", (table,)),))
    page = write_document(tmp_path, document).read_text("utf-8")
    assert '<th scope="col" class="number">More games</th>' in page
    assert '<th scope="row" class="number short">41940</th>' in page


@pytest.mark.integration
def test_a_loss_of_nothing_has_no_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = ParameterKnowledge("null_depth", (2, 3), 4, -0.01, 1.0, 100.0)
    monkeypatch.setattr("elolab.tuning.reports.tuning_report.knowledge", lambda *given: [known] * 4)
    page = markdown(tuning_document(study(tmp_path), "en"))
    assert "| 0.0 ± 1.6 |" in page


@pytest.mark.integration
@pytest.mark.parametrize("kind", ["usual", "huge", "few", "trials"])
def test_figures_of_a_study_hold_what_they_are_judged_by(kind: str, tmp_path: Path) -> None:
    result = study(tmp_path, kind)
    assert result.decision is not None
    assert result.model is not None
    history = study_charts.convergence_chart(result, WORDS)
    check_figure(history, kind)
    low, high = history.axes[0].get_ylim()
    intervals = [result.decision.interval(), *(verdict.interval for verdict in result.verdicts)]
    for least, most in intervals:
        assert least >= low
        assert most <= high or (most == math.inf and is_cut(history.axes[0]))
    slices = study_charts.slices_chart(result, WORDS)
    check_figure(slices, kind)
    low, high = slices.axes[0].get_ylim()
    best = result.decision.values
    for place, dimension in enumerate(result.spec.space.dimensions):
        sets = [(*best[:place], value, *best[place + 1 :]) for value in candidates(dimension)]
        mean, _ = result.model.gain(sets, best)
        assert low <= min(mean)
        assert max(mean) <= high


@pytest.mark.integration
@pytest.mark.parametrize(("game", "unit"), [("xiangqi", "centipawns"), ("othello", "hundredths of a disc")])
def test_parameters_have_the_unit_that_scores_have_in_the_game(
    game: str, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in (("game", game), ("parameters", ["aspiration_window", "lmr_base"])):
        monkeypatch.setitem(STUDY, key, value)
    result = study(tmp_path)
    labels = [axes.get_xlabel() for axes in study_charts.slices_chart(result, WORDS).axes]
    assert labels[0] == f"aspiration_window\n{unit}"
    assert f" | {unit} | " in markdown(tuning_document(result, "en"))


def test_a_trial_that_won_every_pair_is_infinitely_stronger(tmp_path: Path) -> None:
    result = study(tmp_path, "trials")
    won, *others = result.rounds
    lost = replace(others[0], elo=-math.inf)
    result = replace(result, rounds=(replace(won, elo=math.inf), lost, *others[1:]))
    for language in LANGUAGES:
        sentence = optimism_sentence(result, language)
        assert "+∞ Elo" in sentence
        assert "inf" not in sentence
    assert "optimistic" not in optimism_sentence(result)
    history = study_charts.convergence_chart(result, WORDS)
    check_figure(history, "trials")
    assert is_cut(history.axes[0])


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["usual", "trials"])
def test_the_caption_of_the_gain_names_its_band(kind: str, language: str, tmp_path: Path) -> None:
    (plot,) = (plot for plot in tuning_document(study(tmp_path, kind), language).plots if plot.name == "convergence")
    assert "90 %" in plot.caption


@pytest.mark.integration
def test_figures_of_claims_mark_what_has_no_end_and_name_every_part(all_claims: ClaimsResult) -> None:
    names = {one.claim.id for one in all_claims.results}
    for name in sorted(names)[:6]:
        own = [one for one in all_claims.results if one.claim.id == name]
        figure = claims_charts.claim_chart(own, WORDS)
        assert figure is not None
        check_figure(figure, name)
        for axes in figure.axes:
            labels = [label.get_text() for label in axes.get_yticklabels()]
            assert len(set(labels)) == len(labels) > 0
        rows = [row for one in own for row in one.rows]
        assert any(is_cut(axes) for axes in figure.axes) == any(math.isinf(row.high) for row in rows)


def claim_row(part: str, unit: str, kind: str, effect: float, low: float, high: float, **other: Any) -> CellRow:
    """A cell as cells.csv has it."""
    empty = {name: "0" for name, kind in get_type_hints(CellRow).items() if kind in (int, float)}
    row = cell_row({one.name: empty.get(one.name, "") for one in fields(CellRow)})
    return replace(row, part=part, unit=unit, kind=kind, effect=effect, low=low, high=high, engine="then",
                   limit_name="play", cases=100, ended="decided", verdict="confirmed", **other)  # fmt: skip


def claim_figure(*rows: CellRow) -> Figure:
    """The figure of these cells."""
    result = SimpleNamespace(rows=rows)
    figure = claims_charts.claim_chart([cast(PartResult, result)], WORDS)
    assert figure is not None
    check_figure(figure, "claim")
    return figure


def parts_of(axes: Axes) -> list[str]:
    """The parts that a picture shows."""
    return [label.get_text().split()[0] for label in axes.get_yticklabels()]


def test_each_quantity_of_a_claim_has_a_picture_with_its_unit_and_point_of_view() -> None:
    figure = claim_figure(
        claim_row("C9a", "×", "nodes", 0.11, 0.1, 0.12, margin=10.0),
        claim_row("C9b", "Elo", "elo", 90.0, 20.0, 160.0, margin=20.0),
        claim_row("C9c", "×", "nodes", 0.97, 0.95, 0.99, margin=2.0),
        claim_row("C9d", "%", "share", 12.0, 8.0, 17.0, of="windows_missed", threshold=50.0),
        claim_row("C9e", "×", "share", 5.0, 4.0, 6.0, of="growth", threshold=2.0),
    )
    # A factor of 0.11 would make one point of all that lies within 5 % of 1.
    assert [parts_of(axes) for axes in figure.axes] == [["C9b"], ["C9a"], ["C9c"], ["C9e"], ["C9d"]]
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "Elo, variant minus reference (right: the variant is stronger)",
        "nodes to a fixed depth, variant over reference (left: the variant is better)",
        "nodes to a fixed depth, variant over reference (left: the variant is better)",
        "nodes of an iteration, relative to the previous iteration",
        "aspiration windows missed, %",
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "confirmed", "margin", "threshold",
    ]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_quantity_and_share_has_a_name_on_axes(language: str) -> None:
    message = Catalogue(MESSAGES, language)
    assert all(f"axis.{kind}" in message for kind in EXPECTED if kind != "share")
    assert all(message(f"share_axis.{name}") for name in SHARE_NAMES)
    assert all(message(f"column_tick.{name}") for name in claims_charts.COLUMNS)


def test_margins_and_all_intervals_but_of_elo_are_drawn_whole() -> None:
    windows = [claim_row(f"C4{place}", "cases", "occurs", 0.0, low, high, of="alternations", margin=1.0, hits=hits)
               for place, (low, high, hits) in enumerate([(0.3, 1.0, 1), (0.4, 1.1, 1), (5.6, 7.2, 6)])]  # fmt: skip
    (axes,) = claim_figure(*windows).axes
    assert axes.get_xlim()[1] > 7.2
    assert not is_cut(axes)
    (axes,) = claim_figure(claim_row("C1b", "Elo", "elo", 0.0, -15.0, 10.0, margin=20.0)).axes
    assert axes.get_xlim()[0] < -20
    assert axes.get_xlim()[1] > 20


def test_an_interval_without_an_end_is_seen_even_where_it_begins_farthest_out() -> None:
    rows = (claim_row("C16b", "Elo", "elo", 20.0, -20.0, 60.0), claim_row("C16c", "Elo", "elo", 735.0, 97.0, math.inf))
    (axes,) = claim_figure(*rows).axes
    (line,) = (line for line in axes.lines if len(line.get_xdata()) == 2 and set(line.get_ydata()) == {1})
    assert line.get_xdata()[1] - line.get_xdata()[0] > 0.1 * (axes.get_xlim()[1] - axes.get_xlim()[0])


@pytest.mark.integration
def test_games_are_drawn_by_their_median_unbiased_effect() -> None:
    (axes,) = claim_figure(claim_row("C1b", "Elo", "elo", 33.3, 2.7, 64.7, median_unbiased=32.3)).axes
    assert [list(line.get_xdata()) for line in axes.lines if line.get_label() == "_point"] == [[32.3]]


@pytest.mark.integration
def test_many_parts_stand_in_two_columns_and_what_was_not_asked_has_none(all_claims: ClaimsResult) -> None:
    results = all_claims.results
    assert len(results) > claims_charts.MOST_IN_ONE
    summary = claims_charts.summary_chart(results, WORDS)
    check_figure(summary, "summary")
    assert len(summary.axes) == 2
    shown = [label.get_text() for axes in summary.axes for label in axes.get_yticklabels()]
    assert sorted(shown) == sorted(one.part.id for one in results)
    assert summary.get_size_inches()[1] < 13
    of_today = [replace(one, cells=tuple(cell for cell in one.cells if cell.cell.engine == "now"))
                for one in results[:5]]  # fmt: skip
    (axes,) = claims_charts.summary_chart(of_today, WORDS).axes
    assert "then,\nfirst" not in [label.get_text() for label in axes.get_xticklabels()]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.98, 1.02, [0.98, 1, 1.02, 1.04]), (0.9, 1.05, [0.9, 0.95, 1, 1.05]), (0.6, 1.3, [0.6, 0.8, 1, 1.2]),
        (0.1, 1.1, [0.1, 0.2, 0.3, 0.5, 0.7, 1]), (1.0, 10.0, [1, 2, 3, 5, 10]),
    ],
)  # fmt: skip
def test_ticks_of_ratios_stand_at_equal_steps_or_round_numbers(low: float, high: float, shown: list[float]) -> None:
    _, axes = single_axes(2)
    mark_ratios(axes, (low, high))
    assert list(axes.get_xticks()) == shown


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.03151, "0.0315×"), (1.5, "1.50×"), (0.9999, "1.00×"), (12.34, "12.3×"), (99.96, "100×"), (1234.5, "1234×"),
     (math.inf, "∞×")],
)  # fmt: skip
def test_factors_have_one_form(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text


def test_ticks_of_factors_have_one_form() -> None:
    for bounds, shown in (((0.95, 1.05), ["0.95×", "1.00×", "1.05×"]), ((0.09, 11), ["0.1×", "1×", "10×"])):
        _, axes = single_axes(2)
        mark_ratios(axes, bounds, 2)
        assert [label.get_text() for label in axes.get_xticklabels()] == shown


@pytest.mark.parametrize("columns", [60, 80])
def test_the_terminal_has_no_two_rows_alike_and_says_why_comparisons_ended(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    names = long_names(40)
    rows = [
        comparison_row(name, -1.0, 2.0, ended="futility" if place else "decided") for place, name in enumerate(names)
    ]
    for language, reason in (("en", "39 stopped for futility"), ("zh", "因判定无望而停止 39")):
        text = ablation_text(rows, language=language)
        lines = [line for line in text.splitlines() if "…" in line]
        assert len(lines) == len(set(lines)) == 40
        assert max(map(columns_of, text.splitlines())) <= columns
        assert reason in " ".join(text.splitlines())


@pytest.mark.integration
@pytest.mark.parametrize("columns", [60, 80])
def test_the_table_of_claims_fits_and_has_no_zeros(
    columns: int, all_claims: ClaimsResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    result = all_claims
    for language in ("en", "zh"):
        lines = claims_text(result, language).splitlines()
        assert [line for line in lines if columns_of(line) > columns] == []
        assert not re.search(r"\binf\b|nan", "\n".join(lines))
    one = claims_text(
        replace(result, results=result.results[:1], spec=replace(result.spec, claims=result.spec.claims[:1]))
    )
    found = "then 1 confirmed; now 1 confirmed; 1 part depends on the engine."
    assert " ".join(one.split()).startswith(f"1 part of a claim, 0 games: {found}")


def test_infinite_figures_have_one_sign() -> None:
    won = all_won_row("won", Pentanomial((0, 0, 0, 0, 5)))
    for language in ("en", "zh"):
        text = ablation_text([won], language=language)
        assert "+∞" in text
        assert not re.search(r"\binf\b|nan", text)


EXTERNAL: dict[str, Any] = {
    "pairs": 400, "limit": "nodes=1000", "name": "sample",
    "engine": {"command": "some-engine", "protocol": "uci", "options": {"Hash": 16}},
    "leave_one_out": [{"features": {"Hash": 1, "Ponder": False}}],
}  # fmt: skip


def test_a_comparison_says_what_it_changes_and_in_which_language() -> None:
    spec = ablation_from_mapping(EXTERNAL, "sample.toml")

    def labels(language: str) -> list[str]:
        message = Catalogue(MESSAGES, language)
        return [comparison_label(one, spec.conditions, message) for one in spec.comparisons]

    assert labels("en") == ["Hash 1 instead of 16", "without Ponder"]
    assert labels("zh") == ["Hash 1（原为 16）", "去掉 Ponder"]
    assert base_label(spec.conditions, Catalogue(MESSAGES, "zh")) == "some-engine 原样"


def test_labels_follow_the_language_and_own_ones_stay(tmp_path: Path) -> None:
    result = ablation(tmp_path, comparisons=[{"label": "mine against all", "variant": {"tempo": 3}}])
    chinese = in_language(result, Catalogue(MESSAGES, "zh"))
    shown = {row.label for row in chinese.rows}
    assert {"去掉 null_move", "null_depth 2 对 3", "mine against all"} <= shown
    assert not any("without" in label for label in shown)
    assert [row.label for row in in_language(result, WORDS).rows] == [row.label for row in result.rows]


def test_zeros_that_say_nothing_are_left_out() -> None:
    assert counted([("better", 2), ("worse", 0), ("undecided", 1)], WORDS) == "2 better, 1 undecided"


def test_rows_of_a_run_know_why_they_ended() -> None:
    from elolab.tuning.ablation.allocation import Allocation
    from elolab.tuning.ablation.comparison_verdicts import Question, VerdictRule, match_estimate

    rule = VerdictRule(rounds=10)

    def question(match: int, outcome: int) -> Question:
        def after(pairs: int) -> Any:
            counts = [0] * 5
            counts[outcome] = pairs
            return match_estimate(Pentanomial(tuple(counts)), 5.0)  # type: ignore[arg-type]

        return Question.about((match,), after, 100, rule)

    def ended(max_pairs: int) -> list[str]:
        allocation = Allocation([100, 100], [question(0, 4), question(1, 2)], rule, max_pairs)
        while (wanted := allocation.next_pairs()) is not None:
            allocation.analyse(wanted)
        assert allocation.why_ended(0, allocation.pairs[0]) == "complete"
        return [allocation.why_ended(match, 100) for match in (0, 1)]

    assert ended(200) == ["decided", "futility"]
    assert ended(20) == ["games", "games"]


def test_a_row_without_a_reason_says_none() -> None:
    row: AblationRow = replace(comparison_row("x", 1.0, 1.0), ended="")
    assert "Of the comparisons" not in ablation_text([row])
