"""Tuning from Python: by games, by matches of your own, or by maximising a function of your own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, overload

from elolab.arena.run import plain
from elolab.arguments import at_least_one, naming_arguments, path_text, stream_or_none
from elolab.documented import documented
from elolab.engine.errors import UserError
from elolab.engine.games import DEFAULT_GAME
from elolab.engine.language import DEFAULT_LANGUAGE
from elolab.engine.settings.parameters import Value
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

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pandas import DataFrame

    from elolab.tuning.match_command import Match
    from elolab.tuning.paired import Confirmation
    from elolab.tuning.study.result import StudyResult
    from elolab.tuning.study.study_spec import TuningSpec

DEFAULT_TRIALS = 80


@documented
@dataclass(frozen=True, eq=False)
class PlayedStudy(PlayedGames):
    """The result of tuning by playing games."""

    name: str
    best: dict[str, Value] | None
    """Recommended values of the tuned parameters; the base's values if nothing better was found. For an interrupted
    study the best so far, or ``None`` before its first complete pair of games."""
    is_base: bool
    """Whether ``best`` equals the base settings."""
    elo: float | None
    """Expected Elo of ``best`` relative to the base; 0 if ``best`` is the base, ``None`` without a recommendation."""
    elo_low: float | None
    """Lower bound of the 95 % interval of ``elo``; ``elo_high`` is the upper bound. The report and ``elolab tune``
    show the 90 % interval instead."""
    elo_high: float | None
    elo_low_90: float | None
    """Lower bound of the 90 % interval of ``elo``; ``elo_high_90`` is the upper bound."""
    elo_high_90: float | None
    left_to_gain: tuple[float, float, float] | None
    """Expected gain in Elo that other settings may still offer, followed by the lower and upper bound of its 90 %
    interval. ``None`` unless the base is recommended.
    """
    confirmed: bool
    """Whether matches on openings that the tuning did not use confirmed the gain."""
    preset: Path | None
    """Path of the preset file written for a confirmed gain; ``None`` without one."""
    interrupted: bool
    """Whether Ctrl-C ended the study early; the same call with the same ``folder`` resumes it."""
    rounds: DataFrame = field(repr=False)
    """One row per ``round`` (from 1), as in rounds.csv. Each tuned parameter has a column with its value at the round's
    centre or, if the round was a trial, in the trial. ``elo`` is the Elo of these values relative to the base, as the
    model estimated it at that time or as observed in the trial. ``deviation`` is its standard deviation, NaN for a
    trial. ``pairs`` counts the round's game pairs. ``LL``, ``LD``, ``even``, ``WD`` and ``WW`` count them by outcome,
    for each pair's first setting. ``total_pairs`` counts the pairs of the study so far. ``final_elo`` and
    ``final_deviation`` are the estimates of the final model, fitted to all games.
    """
    validations: DataFrame = field(repr=False)
    """One row per match of ``best`` against the base: ``kind``, ``limit`` (search limit), ``pairs``, ``elo`` and
    ``passed``. ``kind`` is ``sprt``, ``non_regression`` or ``fixed``. ``elo_low`` to ``elo_high`` is the 95 % interval,
    unbiased after a sequential test."""
    _result: StudyResult = field(repr=False)
    _run_folder: RunFolder = field(repr=False)

    def _written_report(self) -> Path:
        from elolab.tuning.reports.tuning_report import write_tuning_report

        return write_tuning_report(self._result)

    def _repr_html_(self) -> str:
        """The report as HTML, which Jupyter notebooks display."""
        from elolab.arena.reports.document import notebook_html
        from elolab.tuning.reports.tuning_report import tuning_document

        return notebook_html(tuning_document(self._result, DEFAULT_LANGUAGE))


@documented
@dataclass(frozen=True, eq=False)
class Trials:
    """The result of maximising a function."""

    best: dict[str, Value]
    """The settings with the greatest value, as passed to the function."""
    best_value: float
    """The function's value at ``best``. For a noisy function the value is biased upwards: evaluate ``best`` again."""
    base_value: float | None
    """The function's value at the base; ``None`` if the base lies outside the dimensions."""
    trials: DataFrame = field(repr=False)
    """One row per trial: ``trial`` (from 1; trial 1 is the base), ``value``, and a column for each tuned parameter."""


@documented
@dataclass(frozen=True, eq=False)
class MatchedStudy:
    """The result of tuning by the matches of a function or a command."""

    best: dict[str, Value] | None
    """Recommended values; the base's if nothing better was found. For an interrupted study the best so far, or ``None``
    before its first trial."""
    is_base: bool
    """Whether ``best`` equals the base."""
    elo: float | None
    """Expected Elo of ``best`` relative to the base; ``elo_low_90`` to ``elo_high_90`` is its 90 % interval."""
    elo_low_90: float | None
    elo_high_90: float | None
    confirmation: Confirmation | None
    """The test of ``best`` against the base in new matches; ``None`` without such a test."""
    confirmed: bool
    """Whether ``confirmation`` confirmed a gain."""
    interrupted: bool
    """Whether Ctrl-C ended the study early; the same call with the same ``folder`` resumes it."""
    trials: DataFrame = field(repr=False)
    """One row per trial: ``trial`` (from 1), and a column for each dimension. ``elo`` is relative to the base, as
    estimated at that time; ``pairs`` is the number of game pairs.
    """
    _result: StudyResult = field(repr=False)
    _run_folder: RunFolder = field(repr=False)

    @naming_arguments("folder")
    def write_report(self) -> Path:
        """Write the report, tables and plots into the study's folder; returns the path of report.html."""
        from elolab.tuning.reports.tuning_report import write_tuning_report

        return write_tuning_report(self._result)

    def _repr_html_(self) -> str:
        """The report as HTML, which Jupyter notebooks display."""
        return PlayedStudy._repr_html_(self)  # type: ignore[arg-type]


@overload
def tune(
    specification: Specification,
    *,
    folder: FolderLike | None = None,
    concurrency: int = 1,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
    progress: TextIO | None = None,
    accept_engine_change: bool = False,
) -> PlayedStudy | MatchedStudy: ...


@overload
def tune(
    *,
    objective: Callable[[dict[str, Any]], float],
    dimensions: Sequence[str] | Mapping[str, Mapping[str, Any]],
    constraints: Sequence[str] = (),
    game: str = DEFAULT_GAME,
    base: str = "default",
    settings: Mapping[str, Any] | None = None,
    trials: int = DEFAULT_TRIALS,
    sampler: str | None = None,
    seed: int = 1,
    folder: FolderLike | None = None,
    progress: TextIO | None = None,
) -> Trials: ...


@overload
def tune(
    *,
    objective: Callable[[dict[str, Any], dict[str, Any], int, int], float | Sequence[int]],
    dimensions: Mapping[str, Mapping[str, Any]],
    games: int,
    constraints: Sequence[str] = (),
    sampler: str | None = None,
    seed: int = 1,
    folder: FolderLike | None = None,
    concurrency: int = 1,
    progress: TextIO | None = None,
) -> MatchedStudy: ...


@naming_arguments("folder")
def tune(
    specification: Specification | None = None,
    *,
    objective: Callable[..., Any] | None = None,
    dimensions: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    games: int | None = None,
    constraints: Sequence[str] = (),
    game: str = DEFAULT_GAME,
    base: str = "default",
    settings: Mapping[str, Any] | None = None,
    trials: int = DEFAULT_TRIALS,
    sampler: str | None = None,
    seed: int = 1,
    folder: FolderLike | None = None,
    concurrency: int = 1,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
    progress: TextIO | None = None,
    accept_engine_change: bool = False,
) -> PlayedStudy | MatchedStudy | Trials:
    """Search for better settings, by games, by matches of your own, or by a function of your own.

    **By games**, ``tune(specification, ...)``: as ``elolab tune`` does. ``specification`` is a TOML file, the name of a
    shipped one, or a mapping with the contents of such a file. ``folder`` keeps the games, and the same call resumes
    them. Without a folder, a temporary one lives as long as the result. ``concurrency`` is the number of simultaneous
    games. ``progress`` is a text stream such as ``sys.stderr`` for progress lines. ``accept_engine_change`` resumes
    games that another version of the engine, or of an external program, played. A confirmed gain is written to
    ``folder`` as a preset. ``cluster`` and ``wall_clock_on_cluster`` are as for ``play_match``. Returns a
    ``PlayedStudy``, or a ``MatchedStudy`` if the specification has a ``command`` that plays the matches.

    **By matches of your own**, ``tune(objective=..., dimensions=..., games=...)``: ``objective(a, b, pairs, seed)``
    plays pairs of games between two dictionaries of values. It returns the numbers of pairs in which ``a`` scores 0,
    0.5, 1, 1.5 and 2 points, or the numbers of games that ``a`` wins, draws and loses. Returns a ``MatchedStudy``.

    - ``dimensions``: a mapping from any names to ranges or choices, with the base's value: ``{"margin": {"low": 0.0,
      "high": 1.0, "default": 0.2}, "mode": {"choices": ["old", "new"], "default": "old"}}``.
    - ``constraints``: comparisons that every set of values satisfies, such as ``["low < high"]``. They are also allowed
      with a function.
    - ``games``: maximum number of games, for search and confirmation together.
    - ``sampler``: ``duel`` (the default), ``spsa``, or a sampler below.
    - ``concurrency``: number of simultaneous calls, from several threads; it does not affect the result.
    - ``folder``: keeps each match; the same call resumes.

    **By a function**, ``tune(objective=..., dimensions=..., ...)``: Optuna maximises ``objective(settings)``.
    ``settings`` is a dictionary of parameters that ``Engine`` and ``play_match`` accept: the tuned parameters, and the
    parameters in which the base differs from the defaults. The function returns a finite number in any unit.

    - ``dimensions``: names of parameters, with the ranges of ``elolab parameters``, or a mapping from names to ranges:
      ``{"null_depth": {"low": 2, "high": 4}, "quiescence": {"choices": [...]}, "lmr_divisor": {}}``. Further keys of a
      range are ``step`` and ``scale`` (``linear`` or ``log``). A parameter that the other values make ineffective keeps
      the base's value.
    - ``game``; ``base``, the preset to start from; ``settings``, parameters of the base that differ from that preset.
    - ``trials``: number of evaluations, including any in ``folder``. The first evaluates the base.
    - ``sampler``: ``tpe`` (the default), ``cmaes``, ``gp``, ``qmc`` or ``random``; some need ``pip install
      "elolab[samplers]"``.
    - ``seed``: the same seed and values produce the same trials on every machine.
    - ``folder``: keeps each trial; the same call resumes, and more ``trials`` extend it.
    - ``progress``: a text stream for one line per trial.

    Returns ``Trials``. Exceptions from the function propagate, also KeyboardInterrupt.

    Raises ``UserError`` for wrong input and for a folder that holds something else, and ``TypeError`` if arguments of
    both forms are mixed.
    """
    from elolab.tuning.study.study_spec import matches_from_mapping, tuning_from_mapping

    if objective is None:
        if specification is None or dimensions:
            raise TypeError("tune() takes a specification, or an objective and dimensions")
        options = run_options(concurrency, progress, accept_engine_change, cluster, wall_clock_on_cluster)
        content = None if not isinstance(specification, Mapping) else specification
        if content is None:
            content = read_specification(specification, "tuning", "tuning", lambda data, where: data)
        if "command" not in content:
            return _by_games(specification, RunFolder(folder), options)
        spec = read_specification(specification, "tuning", "tuning", tuning_from_mapping)
        return _by_matches(spec, None, RunFolder(folder), options)
    of_games = (specification, cluster)
    is_of_games = any(one is not None for one in of_games) or (concurrency != 1 and games is None)
    is_left_out = isinstance(dimensions, tuple) and not dimensions
    if is_of_games or is_left_out or accept_engine_change or wall_clock_on_cluster:
        raise TypeError(
            "tune() takes an objective with dimensions, and no specification, concurrency, cluster, "
            "wall_clock_on_cluster or accept_engine_change"
        )
    if not callable(objective):
        raise UserError(f"objective = {objective!r}, expected a function")
    trials = at_least_one(trials, "trials")
    progress = stream_or_none(progress, "progress")
    if games is not None:
        if not isinstance(dimensions, Mapping) or base != "default" or settings or trials != DEFAULT_TRIALS:
            raise TypeError("tune() by matches takes dimensions as a mapping, and no base, settings or trials")
        study: dict[str, Any] = {"budget": {"games": games}, "dimensions": dimensions, "constraints": list(constraints)}
        study |= {"sampler": sampler or "duel", "seed": seed}
        spec, options = matches_from_mapping(plain(study), "tune"), run_options(concurrency, progress, False)
        return _by_matches(spec, objective, RunFolder(folder), options)
    content = plain({"base": base, "set": settings or {}, "sampler": sampler or "tpe", "seed": seed})
    if not isinstance(dimensions, Collection) or not len(dimensions):
        raise UserError(f"dimensions = {dimensions!r}, expected names of parameters, or a mapping from names to ranges")
    content["constraints"] = list(constraints)
    if isinstance(dimensions, Mapping):
        content["dimensions"] = plain(dimensions)
    else:
        content["parameters"] = [dimensions] if isinstance(dimensions, str) else list(dimensions)
    return _by_objective(content, game, objective, trials, folder, progress)


def _by_matches(spec: TuningSpec, match: Match | None, run_folder: RunFolder, options: Any) -> MatchedStudy:
    import pandas

    from elolab.tuning.paired import Confirmation
    from elolab.tuning.study import tuning_run

    result = tuning_run.tune(spec, run_folder.path, match, **options)
    found, names, confirmation = result.decision, spec.space.names, None
    low, high = (None, None) if found is None else found.interval()
    for verdict in result.verdicts if not result.interrupted else ():
        needed = None if verdict.test is None else getattr(verdict.test, "pairs_needed", None)
        confirmation = Confirmation(verdict.passed, verdict.counts.counts, verdict.elo, *verdict.interval, needed)
    return MatchedStudy(
        best=None if found is None else result.recommended,
        is_base=found is not None and found.is_base,
        elo=None if found is None else found.gain,
        elo_low_90=low,
        elo_high_90=high,
        confirmation=confirmation,
        confirmed=result.confirmed,
        interrupted=result.interrupted,
        trials=pandas.DataFrame(
            [(end.number + 1, end.elo, end.counts.pairs, *end.values) for end in result.rounds],
            columns=["trial", "elo", "pairs", *names],
        ),
        _result=result,
        _run_folder=run_folder,
    )  # fmt: skip


def _by_games(specification: Specification, run_folder: RunFolder, options: Any) -> PlayedStudy:
    import pandas

    from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS
    from elolab.tuning.reports.tuning_report import rounds_frame
    from elolab.tuning.study import tuning_run
    from elolab.tuning.study.study_spec import tuning_from_mapping

    spec = read_specification(specification, "tuning", "tuning", tuning_from_mapping)
    folder = run_folder.path
    options["files"] = kept_specification(specification)
    result = tuning_run.tune(spec, folder, **options)
    if isinstance(specification, Mapping):
        conditions = replace(spec.conditions, source=str(folder / SPECIFICATION_NAME))
        result = replace(result, spec=replace(spec, conditions=conditions))
    validations = [
        (verdict.kind, str(verdict.limits), verdict.counts.pairs, verdict.elo, *verdict.interval, verdict.passed)
        for verdict in result.verdicts
    ]
    decision = result.decision
    low, high = (None, None) if decision is None else decision.interval(INTERVAL_DEVIATIONS)
    low_90, high_90 = (None, None) if decision is None else decision.interval()
    return PlayedStudy(
        name=spec.name,
        best=None if decision is None else result.recommended,
        is_base=decision is not None and decision.is_base,
        elo=None if decision is None else decision.gain,
        elo_low=low,
        elo_high=high,
        elo_low_90=low_90,
        elo_high_90=high_90,
        left_to_gain=None if decision is None else decision.left,
        confirmed=result.confirmed,
        preset=result.preset,
        interrupted=result.interrupted,
        rounds=rounds_frame(result),
        validations=pandas.DataFrame(
            validations, columns=["kind", "limit", "pairs", "elo", "elo_low", "elo_high", "passed"]
        ),
        _result=result,
        _run_folder=run_folder,
    )


def _by_objective(
    content: Mapping[str, Any],
    game: str,
    objective: Callable[[dict[str, Any]], float],
    trials: int,
    folder: FolderLike | None,
    progress: TextIO | None,
) -> Trials:
    import pandas

    from elolab.arena.statistics.numbers import given_text
    from elolab.tuning.study.objective import Trial, read_objective, search

    spec = read_objective(content, "tune", str(game))

    def show(trial: Trial) -> None:
        if progress is not None:
            print(f"trial {trial.number + 1} of {trials}: {given_text(trial.value)}", file=progress, flush=True)

    found = search(spec, objective, trials, None if folder is None else Path(path_text(folder, "folder")), show)
    best = max(found, key=lambda trial: trial.value)
    default = spec.space.default
    first = found[0]
    names = spec.space.names
    return Trials(
        best=dict(best.settings),
        best_value=best.value,
        base_value=first.value if {name: first.settings[name] for name in names} == default else None,
        trials=pandas.DataFrame(
            [(trial.number + 1, trial.value, *(trial.settings[name] for name in names)) for trial in found],
            columns=["trial", "value", *names],
        ),
    )
