"""Ablations from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from elolab.arguments import naming_arguments
from elolab.documented import documented
from elolab.runs import (
    SPECIFICATION_NAME,
    FolderLike,
    PlayedGames,
    RunFolder,
    Specification,
    kept_specification,
    read_specification,
    run_options,
)
from elolab.tuning.ablation import run
from elolab.tuning.ablation.rows import CellRow, frame_of
from elolab.tuning.ablation.spec import ablation_from_mapping

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pandas import DataFrame


@documented
@dataclass(frozen=True, eq=False)
class PlayedAblation(PlayedGames):
    """What came of an ablation. Elo is always the variant's minus the reference's."""

    name: str
    planned: int
    """The most games that it may need."""
    stored: int
    """Games that were played."""
    interrupted: bool
    """Whether Ctrl-C ended it early; the tables are then of the games so far, and with the same ``folder`` the same
    call goes on."""
    margin: float
    """Elo: smaller effects are ``equivalent``."""
    rows: DataFrame = field(repr=False)
    """One row a comparison: ``label``, ``group`` (the key under which it was declared), ``variant`` and ``reference``
    (how they differ from the base), ``limit``, ``elo`` with ``elo_error``, ``elo_low``, ``elo_high`` (95 % interval),
    ``los`` (0 to 1), ``verdict`` (``better``, ``worse``, ``equivalent``, ``undecided`` or empty),
    ``simultaneous_low`` and ``simultaneous_high`` (the interval that holds for all questions and looks together, Elo)
    with its ``critical_value`` (standard normal deviates, where the 95 % interval has 1.96),
    ``games_needed`` (games that an open verdict would still need), ``pairs`` (that count) and ``planned_pairs`` (the
    most), ``ended`` (why there are no more), ``games``, ``LL``, ``LD``, ``even``,
    ``WD``, ``WW`` (pairs by outcome: both lost ... both won), ``nodes_ratio`` with ``nodes_ratio_low`` and
    ``nodes_ratio_high`` (nodes to ``depth`` over the reference's, 95 % interval), ``depth`` (plies), ``positions``."""
    effects: DataFrame = field(repr=False)
    """One row an effect of a factorial: ``factorial``, ``effect``, ``group``, ``order`` (1 of one factor, 2 of an
    interaction), ``elo`` and the columns of its intervals, verdict and games as in ``rows``, ``pairs`` of all matches
    that it rests on, and ``rests_on`` (weight and pairs of each)."""
    cells: DataFrame = field(repr=False)
    """One row a combination of a 2 x 2 factorial: ``factorial``, ``first_level`` and ``second_level`` (-1 or 1),
    ``first_text``, ``second_text``, ``elo`` above the combination of both low levels, ``elo_error``."""
    depths: DataFrame = field(repr=False)
    """One row a setting and depth, over the same positions and without games: ``setting``, ``depth`` (plies),
    ``nodes``, times (milliseconds), branching factor and speed."""
    _result: run.AblationResult = field(repr=False)
    _run_folder: RunFolder = field(repr=False)

    @naming_arguments("folder")
    def write_report(self) -> Path:
        """Write the report, tables and plots into ``folder``; returns the path of report.html."""
        from elolab.tuning.reports.ablation import write_ablation_report

        return write_ablation_report(self._result)


@naming_arguments("folder")
def ablate(
    specification: Specification,
    *,
    folder: FolderLike | None = None,
    concurrency: int = 1,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
    progress: TextIO | None = None,
    accept_engine_change: bool = False,
) -> PlayedAblation:
    """Measure what each feature of the search is worth.

    ``specification`` is a TOML file as ``elolab ablate`` reads it, the name of one that is shipped, or a mapping of
    what such a file holds. ``folder`` keeps the games: the same call goes on with what is there, and comparisons or
    pairs may be added; without one they are in a temporary folder, as long as the result lives. ``concurrency`` is how
    many games are played at a time, ``progress`` a text stream such as ``sys.stderr`` that is told how it goes, and
    ``accept_engine_change`` says whether to go on with games that another version of the engine, or of an external
    program, played. ``cluster`` and ``wall_clock_on_cluster`` are as for ``play_match``.

    Raises ``UserError`` for wrong input and for a folder that holds something else.
    """
    options = run_options(concurrency, progress, accept_engine_change, cluster, wall_clock_on_cluster)
    spec = read_specification(specification, "ablations", "ablation", ablation_from_mapping)
    run_folder = RunFolder(folder)
    directory = run_folder.path
    options["files"] = kept_specification(specification)
    result = run.ablate(spec, directory, **options)
    if isinstance(specification, Mapping):
        conditions = replace(spec.conditions, source=str(directory / SPECIFICATION_NAME))
        result = replace(result, spec=replace(spec, conditions=conditions))
    tables: dict[str, Any] = {
        "rows": result.frame(),
        "effects": result.effects_frame(),
        "cells": frame_of(result.cells, CellRow),
        "depths": result.depths_frame(),
    }
    return PlayedAblation(
        name=spec.name,
        planned=result.planned,
        stored=result.games,
        interrupted=result.interrupted,
        margin=spec.rule.margin_elo,
        _result=result,
        _run_folder=run_folder,
        **tables,
    )
