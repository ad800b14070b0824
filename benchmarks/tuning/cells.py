"""Results of the benchmark: one row of ``results.csv`` for each method, budget and landscape, and their figure."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

import numpy as np

LEAST_METHODS = 3
"""Minimum number of methods on a landscape for which the figure has a panel."""
VALIDATING = ("halves", "whole-budget")
"""Methods that use only a part of the budget for the search; the figure leaves them out."""
REGRET = 0.5
"""Regret, in Elo, up to which ``Cell.within`` counts a run."""


@dataclass(frozen=True)
class Played:
    """The result of one run of a method on a landscape."""

    regret: float
    gain: float
    """True gain over the default, in Elo."""
    is_default: bool
    is_confirmed: bool
    is_covered: bool | None
    """Whether the 90 % interval of the gain contains the true gain; ``None`` without an interval."""
    seconds: float
    """Processor time of the run, in seconds."""


@dataclass(frozen=True)
class Cell:
    """Averages over a method's runs on a landscape, one run per seed from ``first_seed`` on; shares are 0 to 1."""

    landscape: str
    games: int
    method: str
    first_seed: int
    runs: int
    regret: float
    regret_error: float
    largest: float
    """Largest regret of a run, in Elo."""
    gain: float
    gain_error: float
    within: float
    """Share of runs with a regret of at most ``REGRET``."""
    worse: float
    """Share of recommendations worse than the default."""
    default: float
    """Share of runs that recommend the default."""
    confirmed: float
    """Share of runs that rightly confirm a gain."""
    wrong: float
    """Share of runs that confirm a gain although there is none."""
    covered: float
    """Share of 90 % intervals that contain the true gain; NaN without intervals."""
    seconds: float
    """Mean processor time of a run, in seconds."""

    @property
    def regret_text(self) -> str:
        return f"{self.regret:.2f} ± {self.regret_error:.2f}"

    @property
    def gain_text(self) -> str:
        return f"{self.gain:.2f} ± {self.gain_error:.2f}"


class Results:
    """The cells (averages over runs) in a results file, which also receives added cells."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.cells: dict[tuple[str, int, str, int, int], Cell] = {}
        types = [{"str": str, "int": int, "float": float}[str(field.type)] for field in fields(Cell)]
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                for row in list(csv.reader(file))[1:]:
                    self._note(Cell(*(kind(text) for kind, text in zip(types, row, strict=True))))

    def _note(self, cell: Cell) -> None:
        self.cells[cell.landscape, cell.games, cell.method, cell.first_seed, cell.runs] = cell

    def cell(self, name: str, games: int, method: str, seeds: range) -> Cell | None:
        """The cell of a landscape, budget, method and range of seeds; ``None`` if the file does not have it."""
        return self.cells.get((name, games, method, seeds[0], len(seeds)))

    def add(self, name: str, games: int, method: str, seeds: range, runs: Sequence[Played]) -> Cell:
        """Make a cell, the averages over ``runs``, add it to the cells and write the file; returns the cell."""
        regrets, gains = np.array([one.regret for one in runs]), np.array([one.gain for one in runs])
        confirmed, covered = np.array([one.is_confirmed for one in runs]), [one.is_covered for one in runs]
        means = [
            regrets.mean(), regrets.std() / math.sqrt(len(runs)), regrets.max(),
            gains.mean(), gains.std() / math.sqrt(len(runs)), (regrets <= REGRET).mean(), (gains < 0).mean(),
            np.mean([one.is_default for one in runs]), (confirmed & (gains > 0)).mean(),
            (confirmed & (gains <= 0)).mean(), math.nan if None in covered else np.mean(covered),
            np.mean([one.seconds for one in runs]),
        ]  # fmt: skip
        cell = Cell(name, games, method, seeds[0], len(seeds), *(round(float(mean), 3) for mean in means))
        self.cells = Results(self._path).cells  # another process may have added some
        self._note(cell)
        with self._path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(asdict(cell))
            writer.writerows(astuple(one) for _, one in sorted(self.cells.items()))
        return cell


def draw(results: Results, path: Path, first_seed: int) -> None:
    """Draw mean regret against the budget, with standard errors, in a panel for each landscape that several methods
    have.

    Only cells whose seeds begin with ``first_seed`` are drawn.
    """
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams.update({"svg.hashsalt": "elolab", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    lines: dict[str, dict[str, dict[int, Cell]]] = {}
    for one in results.cells.values():
        if one.method in VALIDATING or one.first_seed != first_seed:
            continue
        known = lines.setdefault(one.landscape, {}).setdefault(one.method, {})
        if one.games not in known or known[one.games].runs < one.runs:
            known[one.games] = one
    lines = {
        name: {method: cells for method, cells in found.items() if len(cells) > 1} for name, found in lines.items()
    }
    shown = {name: found for name, found in lines.items() if len(found) >= LEAST_METHODS}
    methods = sorted({method for found in shown.values() for method in found}, key=lambda one: (one != "duel", one))
    columns = min(3, len(shown))
    rows = math.ceil(len(shown) / columns)
    size = (4 * columns, 3.2 * rows + 0.8)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat[len(shown) :]:
        axis.axis("off")
    for axis, (name, found) in zip(axes.flat, sorted(shown.items()), strict=False):
        for method in methods:
            cells = [cell for _, cell in sorted(found.get(method, {}).items())]
            place = methods.index(method)
            axis.errorbar(
                [cell.games for cell in cells], [cell.regret for cell in cells],
                yerr=[cell.regret_error for cell in cells], label=method, marker="osD^vPX*<>"[place % 10],
                color=f"C{place % 10}", linewidth=2.2 if method == "duel" else 1.0, markersize=4, capsize=2,
            )  # fmt: skip
        axis.set(title=name, xscale="log", yscale="log", xlabel="games", ylabel="regret, Elo")
        budgets = sorted({games for cells in found.values() for games in cells})
        axis.set_xticks(budgets, [str(games) for games in budgets])
        axis.minorticks_off()
        axis.grid(visible=True, alpha=0.3)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
