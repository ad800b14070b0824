"""The pages ``docs/ablations*.md`` and their figures: what four techniques are worth, game by game.

    make docs

The texts are ``docs/ablations-source*.md``, with numbers in double braces. The stored results of a question ``NAME``
are in ``results/reference/ablations/NAME`` for Xiangqi and ``NAME-GAME`` for another game.

- ``{{null-depth table}}``: a table of all comparisons, game by game, and the commands
- ``{{null-depth xiangqi null_depth 4 against 3}}``: the Elo of that comparison, half of its interval, and its verdict
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from page_parts import rows_of, write_figure

from elolab.arena.reports.drawing.marks import (
    draw_interval,
    draw_point,
    mark_ratios,
    ratio_bounds,
    settle,
    shown_bounds,
)
from elolab.arena.reports.drawing.style import INK, MUTED, SERIES, draw_grid, name_rows, new_figure
from elolab.arena.statistics.numbers import signed
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.tuning.ablation.comparison_verdicts import UNDECIDED
from elolab.tuning.conditions import short_name
from elolab.tuning.reports.ablation_charts import verdict_mark
from elolab.tuning.reports.tuning_charts import chart_words
from elolab.tuning.reports.wording import MESSAGES, ratio_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOLDER = Path("results") / "reference" / "ablations"
QUESTIONS = ("aspiration-windows", "null-depth", "history-weight", "time-divisor")
GAMES = {"xiangqi": "", "othello": "-othello", "chess": "-chess"}
"""The games, each with what its results add to the name of a question."""
PAGES = {"ablations.md": "en", "ablations.zh-CN.md": "zh"}
STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Ablation:
    """The stored results of a question in a game."""

    game: str
    name: str
    """The name of its file and of its folder."""
    comparisons: tuple[dict[str, str], ...]
    """Rows of ablation.csv."""
    nodes: dict[str, dict[int, float]]
    """Nodes to each depth, geometric mean over positions, by setting; empty if nothing was searched."""

    def ratios(self, row: dict[str, str]) -> dict[int, float]:
        """Nodes of a comparison's variant over its reference's, by depth; empty if nothing was searched."""
        variant, reference = (self._setting(row[side]) for side in ("variant", "reference"))
        if variant is None or reference is None:
            return {}
        return {depth: nodes / self.nodes[reference][depth] for depth, nodes in self.nodes[variant].items()}

    def _setting(self, text: str) -> str | None:
        """The setting of depths.csv that a side of a comparison has; the base has the name ``default`` there, and long
        texts are shortened."""
        for name in (text, short_name(text)):
            if name in self.nodes:
                return name
        return next((name for name in self.nodes if name.startswith("default")), None) if not text else None


def read_ablations(root: Path, question: str) -> list[Ablation]:
    """The stored results of a question in every game that has some, below the project's folder ``root``."""
    found = []
    for game, ending in GAMES.items():
        folder = root / FOLDER / f"{question}{ending}"
        if not (folder / "ablation.csv").is_file():
            continue
        nodes: dict[str, dict[int, float]] = {}
        if (folder / "depths.csv").is_file():
            for row in rows_of(folder / "depths.csv"):
                nodes.setdefault(row["setting"], {})[int(row["depth"])] = float(row["nodes"])
        found.append(Ablation(game, folder.name, tuple(rows_of(folder / "ablation.csv")), nodes))
    return found


def ablations_page(root: Path, page: str) -> str:
    """The text of a page (a key of ``PAGES``), filled in. Raises ``UserError`` for braces that name nothing."""
    source = page.replace("ablations", "ablations-source", 1)
    message = Catalogue(MESSAGES, PAGES[page])

    def fill(match: re.Match[str]) -> str:
        question, what, *label = match[1].split(" ")
        ablations = read_ablations(root, question)
        if what == "table":
            return _table(ablations, message)
        for ablation in ablations:
            for row in ablation.comparisons:
                if (ablation.game, row["label"]) == (what, " ".join(label)):
                    return _elo(row)
        raise UserError(f"docs/{source}: {match[0]} names nothing in {FOLDER}")

    text = re.sub(r"\{\{(.*?)\}\}", fill, (root / "docs" / source).read_text("utf-8"))
    return f"<!-- Made by `make docs` from {source} and {FOLDER}; edit the former. -->\n\n" + text


def _table(ablations: Sequence[Ablation], message: Catalogue) -> str:
    heads = [message(f"ablations.{name}") for name in ("game", "comparison", "elo", "verdict", "games", "nodes")]
    lines = [" | ".join(["", *heads, ""]).strip(), "| --- | --- | ---: | --- | ---: | ---: |"]
    for ablation in ablations:
        for row in ablation.comparisons:
            ratio = row.get("nodes_ratio") or ""
            cells = [
                message(f"ablations.{ablation.game}"), row["label"], _elo(row), message(f"verdict.{row['verdict']}"),
                row["games"], f"{ratio_text(float(ratio))} [{float(row['nodes_ratio_low']):.2f}, "
                              f"{float(row['nodes_ratio_high']):.2f}]" if ratio else "–",
            ]  # fmt: skip
            lines.append(" | ".join(["", *cells, ""]).strip())
    reports = message("list.comma").join(
        f"[`elolab ablate {one.name}`](../{FOLDER.as_posix()}/{one.name}/report.md)" for one in ablations
    )
    return "\n".join([*lines, "", message("ablations.repeat", reports=reports)])


def _elo(row: dict[str, str]) -> str:
    """The Elo of a comparison, and half of its 95 % interval."""
    return f"{signed(float(row['elo']), 0)} ± {(float(row['elo_high']) - float(row['elo_low'])) / 2:.0f}"


def question_chart(ablations: Sequence[Ablation], words: Catalogue) -> Figure:
    """The figure of a question: for each game the Elo of every comparison and, where searched, its ratio of nodes to
    every depth."""
    has_nodes = any(ablation.nodes for ablation in ablations)
    rows = [len(ablation.comparisons) for ablation in ablations]
    height = sum(max(2.3 if has_nodes else 1.0, 0.8 + 0.27 * count) for count in rows) + 0.3
    figure, grid = new_figure(height, len(ablations), 1 + has_nodes, share_scale=False)
    grid[0, 0].get_gridspec().set_height_ratios([max(9 if has_nodes else 3, 2 + count) for count in rows])
    for place, ablation in enumerate(ablations):
        _draw_elo(grid[place, 0], ablation, words)
        if has_nodes:
            _draw_nodes(grid[place, 1], ablation, words)
    return settle(figure)


def _color(number: int) -> str:
    return SERIES[number % len(SERIES)]


def _draw_elo(axes: Axes, ablation: Ablation, words: Catalogue) -> None:
    known = [(float(row["simultaneous_low"]), float(row["simultaneous_high"])) for row in ablation.comparisons]
    bounds = shown_bounds(known, known)
    for place, (row, judged) in enumerate(zip(ablation.comparisons, known, strict=True)):
        color, (_, marker) = _color(place), verdict_mark(row["verdict"])
        draw_interval(axes, place, judged, bounds, color, linewidth=0.9)
        draw_interval(axes, place, (float(row["elo_low"]), float(row["elo_high"])), bounds, color, linewidth=2.4)
        draw_point(axes, place, float(row["elo"]), bounds, color, marker, is_open=row["verdict"] == UNDECIDED)
    names = [row["label"].replace(" against ", " / ").replace(": ", ":\n") for row in ablation.comparisons]
    name_rows(axes, names, 8)
    axes.axvline(0, color=MUTED, linewidth=0.9)
    axes.set_title(words(f"ablations.{ablation.game}"), fontsize=10, color=INK, loc="left")
    axes.set_xlabel("Elo", fontsize=8)
    draw_grid(axes, "x")


def _draw_nodes(axes: Axes, ablation: Ablation, words: Catalogue) -> None:
    lines = [(place, ablation.ratios(row)) for place, row in enumerate(ablation.comparisons)]
    for place, ratios in lines:
        if ratios:
            axes.plot(list(ratios), list(ratios.values()), STYLES[place % len(STYLES)], color=_color(place), marker="o",
                      markersize=3, linewidth=1.4)  # fmt: skip
    if not any(ratios for _, ratios in lines):
        axes.set_visible(False)
        return
    axes.axhline(1, color=MUTED, linewidth=0.9)
    mark_ratios(axes, ratio_bounds([value for _, ratios in lines for value in ratios.values()]), way="y")
    axes.set_xticks(sorted({depth for _, ratios in lines for depth in ratios}))
    axes.set_xlabel(words("ablations.depth"), fontsize=8)
    axes.set_title(words("ablations.nodes_by_depth"), fontsize=9, color=INK, loc="left")
    draw_grid(axes, "y")


def write_ablations_pages(root: Path) -> list[Path]:
    """Write the pages and figures below the project's folder ``root`` and return their paths."""
    paths = []
    for page, language in PAGES.items():
        path = root / "docs" / page
        path.write_text(ablations_page(root, page), "utf-8")
        paths.append(path)
        words = chart_words(Catalogue(MESSAGES, language))
        for question in QUESTIONS:
            path = root / "docs" / page.replace("ablations", f"ablations-{question}", 1).replace(".md", ".svg")
            write_figure(path, partial(question_chart, read_ablations(root, question), words))
            paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write_ablations_pages(Path.cwd()):
        print(written)
