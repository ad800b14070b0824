"""Runs ablations from Python: measures what each feature of the search is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from elolab.arguments import naming_arguments
from elolab.documented import documented
from elolab.engine.language import DEFAULT_LANGUAGE
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
from elolab.tuning.ablation import ablation_run
from elolab.tuning.ablation.ablation_spec import ablation_from_mapping
from elolab.tuning.ablation.depth_cost import DepthRow
from elolab.tuning.ablation.rows import AblationRow, CombinationRow, EffectRow, frame_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pandas import DataFrame


@documented
@dataclass(frozen=True, eq=False)
class PlayedAblation(PlayedGames):
    """The result of an ablation. Elo is always the variant's rating minus the reference's."""

    name: str
    planned: int
    """Maximum number of games."""
    stored: int
    """Number of games played."""
    interrupted: bool
    """Whether Ctrl-C ended the ablation early. The same call with the same ``folder`` resumes it."""
    margin: float
    """Equivalence margin in Elo: an effect proven to be smaller than this is reported as ``equivalent``."""
    rows: DataFrame = field(repr=False)
    """One row per comparison, with its ``label``. ``group`` is the key of the specification that declares the
    comparison; ``variant`` and ``reference`` describe how each side differs from the base settings. ``elo`` has the
    error ``elo_error``, the 95 % interval ``elo_low`` to ``elo_high``, and ``los`` (0 to 1). ``verdict`` is ``better``,
    ``worse``, ``equivalent`` or ``undecided``; it is empty for a comparison that only contributes to a factorial.
    ``simultaneous_low`` to ``simultaneous_high`` is an interval in Elo that holds for all comparisons and interim
    analyses together; it extends ``critical_value`` standard errors to each side, where the 95 % interval extends 1.96.
    ``games_needed`` is the estimated number of further games for an undecided comparison. ``pairs`` is the number of
    pairs played, ``planned_pairs`` the maximum; ``ended`` is the reason why play stopped. After ``games`` come the
    numbers of pairs by outcome: ``LL`` (both lost), ``LD``, ``even``, ``WD``, ``WW``. ``nodes_ratio`` is the variant's
    number of nodes to ``depth`` (plies) divided by the reference's, over ``positions`` positions. Its 95 % interval is
    ``nodes_ratio_low`` to ``nodes_ratio_high``.
    """
    effects: DataFrame = field(repr=False)
    """One row per effect of a factorial: ``factorial``, ``effect``, ``group``, ``elo``, and the columns of intervals,
    verdict and games as in ``rows``. ``order`` is 1 for a main effect, 2 for an interaction. ``pairs`` is the total
    number of pairs; ``rests_on`` lists the matches from which the effect is computed, with the weight and pairs of
    each.
    """
    cells: DataFrame = field(repr=False)
    """One row per combination of a 2 x 2 factorial: ``factorial``, and the levels ``first_level`` and ``second_level``
    (-1 for low, 1 for high), described in ``first_text`` and ``second_text``. ``elo``, with the error ``elo_error``, is
    relative to the combination of both low levels.
    """
    depths: DataFrame = field(repr=False)
    """One row per setting and depth, measured on the same positions without games: ``setting``, ``depth`` (plies),
    ``positions``, ``nodes``, ``time_ms``, ``branching_factor`` and ``nodes_per_second``.
    """
    _result: ablation_run.AblationResult = field(repr=False)
    _run_folder: RunFolder = field(repr=False)

    def _written_report(self) -> Path:
        from elolab.tuning.reports.ablation_report import write_ablation_report

        return write_ablation_report(self._result)

    def _repr_html_(self) -> str:
        """The report as HTML, which Jupyter notebooks display."""
        from elolab.arena.reports.document import notebook_html
        from elolab.tuning.reports.ablation_report import ablation_document

        return notebook_html(ablation_document(self._result, DEFAULT_LANGUAGE))


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

    ``specification`` is a TOML file as ``elolab ablate`` reads it, the name of a shipped one, or a mapping with the
    contents of such a file. ``folder`` keeps the games: the same call resumes them, and the specification may gain
    comparisons or pairs. Without a folder, a temporary one lives as long as the result. ``concurrency`` is the number
    of simultaneous games. ``progress`` is a text stream such as ``sys.stderr`` for progress lines.
    ``accept_engine_change`` resumes games that another version of the engine, or of an external program, played.
    ``cluster`` and ``wall_clock_on_cluster`` are as for ``play_match``.

    Raises ``UserError`` for wrong input and for a folder that holds something else.
    """
    options = run_options(concurrency, progress, accept_engine_change, cluster, wall_clock_on_cluster)
    spec = read_specification(specification, "ablations", "ablation", ablation_from_mapping)
    run_folder = RunFolder(folder)
    directory = run_folder.path
    options["files"] = kept_specification(specification)
    result = ablation_run.ablate(spec, directory, **options)
    if isinstance(specification, Mapping):
        conditions = replace(spec.conditions, source=str(directory / SPECIFICATION_NAME))
        result = replace(result, spec=replace(spec, conditions=conditions))
    tables: dict[str, Any] = {
        "rows": frame_of(result.rows, AblationRow),
        "effects": frame_of(result.effects, EffectRow),
        "cells": frame_of(result.combinations, CombinationRow),
        "depths": frame_of(result.depths, DepthRow),
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
