"""Figures of the benchmark of tuning methods: the pages show what ``results.csv`` has."""

from __future__ import annotations

import csv
import re

import pytest

from tests.support.documents import ROOT, text_of

FOLDER = ROOT / "benchmarks" / "tuning"
CELLS = {
    (row["landscape"], row["games"], row["method"]): row
    for row in csv.DictReader((FOLDER / "results.csv").read_text("utf-8").splitlines())
}
COLUMNS_OF_DIVISIONS = {"halves": 2, "whole-budget": 4}


def rows_of(page: str, head: str) -> list[list[str]]:
    """The cells of the page's table whose first line begins with ``head``, that line included."""
    lines = text_of(page).split(head)[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in [head + lines[0], *lines[2:]]]


def shown(row: dict[str, str], name: str, digits: int = 1) -> str:
    mean, error = (f"{float(row[key]):.{digits}f}" for key in (name, f"{name}_error"))
    return f"{mean.replace('-', '−')} ± {error}"


def test_the_table_of_methods_is_that_of_the_results() -> None:
    head, *rows = rows_of("benchmarks/tuning/README.md", "| landscape | games | `duel` |")
    for landscape, games, *cells in rows:
        for method, cell in zip(head[2:], cells, strict=True):
            key = (landscape.strip("`"), games, method.strip("`"))
            assert (shown(CELLS[key], "regret") if key in CELLS else "") == cell, key
            assert key not in CELLS or CELLS[key]["runs"] == "10"


def test_the_table_of_divisions_is_that_of_the_results() -> None:
    _, *rows = rows_of("benchmarks/tuning/README.md", "| landscape | games | `halves`: confirmed, % |")
    for cells in rows:
        for method, column in COLUMNS_OF_DIVISIONS.items():
            row = CELLS.get((cells[0].strip("`"), cells[1], method))
            assert (row is None) == (not cells[column])
            if row is not None:
                assert f"{100 * float(row['confirmed']):.0f}" == cells[column]
                assert shown(row, "gain") == cells[column + 1]
                assert row["runs"] in re.findall(r"\d+", cells[6])


@pytest.mark.parametrize("page", ["docs/tuning.md", "docs/tuning.zh-CN.md"])
def test_the_guide_has_figures_of_the_results(page: str) -> None:
    _, *rows = rows_of(page, "| | ")
    keys = [("plain-5", "300"), ("plain-5", "1000"), ("near-5", "1000"), ("best-5", "1000")]
    for key, cells in zip(keys, rows, strict=True):
        for column, method in ((1, "whole-budget"), (3, "halves")):
            row = CELLS[(*key, method)]
            assert cells[column] == f"{100 * float(row['confirmed']):.0f}"
            assert cells[column + 1] in (shown(row, "gain"), shown(row, "gain", 0))
    _, regrets = rows_of(page, "| `duel` | SPSA")
    methods = ("duel", "spsa-automatic", "tpe-best", "tpe-model", "random-model")
    found = [CELLS["plain-5", "1000", method] for method in methods]
    for cell, row in zip(regrets, found, strict=True):
        assert cell in (shown(row, "regret"), shown(row, "regret", 0))
