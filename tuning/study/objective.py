"""Maximisation of any function of the engine's parameters by Optuna's samplers.

The next trial depends only on the specification and the earlier trials. A file keeps the trials, so that an interrupted
search continues as if it had not been interrupted.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.files import replace_file
from elolab.arena.play.store import LOCK_NAME, STORE_NAME, FolderLock
from elolab.arena.run import differences, plain, setting_text
from elolab.engine.errors import UserError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, by_canonical_name, resolve
from elolab.engine.settings.presets import load_preset
from elolab.engine.settings.schema import Table
from elolab.tuning.study.space import Space, read_space
from elolab.tuning.study.study_spec import OBJECTIVE, PAIRED_SAMPLERS, SAMPLERS

if TYPE_CHECKING:
    from optuna.study import Study

Objective = Callable[[dict[str, Value]], float]

TRIALS_NAME = "trials.json"
ANY_LIMITS = Limits(clock_ms=1000)
"""Search limits with a clock, so that time-management parameters count as effective.

The function may measure anything, so time management may matter.
"""


@dataclass(frozen=True)
class ObjectiveSpec:
    """Specification of a search for the maximum of a function: everything except the function that determines the
    trials.
    """

    game: str
    space: Space
    fixed: tuple[tuple[str, Value], ...]
    """Parameter values given by the base's preset or the table ``set``; tuned parameters may be among them."""
    sampler: str
    """Name of the sampler: one of ``tuning.study.study_spec.SAMPLERS`` except ``PAIRED_SAMPLERS``."""
    startup_trials: int
    """Number of random trials before the samplers TPE and GP use their model."""
    seed: int

    def settings(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The settings that the function receives: the base's settings and the values of the tuned parameters.

        A tuned parameter that has no effect gets the base's value.
        """
        return {**dict(self.fixed), **self.space.effective(values)}

    def content(self) -> dict[str, Any]:
        """Everything that determines the trials, as plain data."""
        return {
            "game": self.game,
            "base": dict(self.space.base),
            "dimensions": {dimension.name: dimension.content() for dimension in self.space.dimensions},
            "sampler": self.sampler,
            "startup_trials": self.startup_trials,
            "seed": self.seed,
            **({"constraints": list(self.space.constraints)} if self.space.constraints else {}),
        }


@dataclass(frozen=True)
class Trial:
    """One evaluation of the function that is maximised."""

    number: int
    """Number of the trial, from 0; trial 0 is the base if the space contains it."""
    suggested: Mapping[str, Value]
    """Suggested value of every dimension, by name, including values that have no effect."""
    settings: Mapping[str, Value]
    """The settings that the function received, by parameter."""
    value: float
    attributes: Mapping[str, Any]
    """Data that the sampler stores in the trial."""


def read_objective(data: Mapping[str, Any], where: str, game: str) -> ObjectiveSpec:
    """Validate the specification of a search. ``data`` has the keys of ``OBJECTIVE``, as in the file of a study.

    Raises ``UserError`` with one line for the first mistake.
    """
    from elolab.engine.games import game_named
    from elolab.tuning.study.sampler import check_sampler

    game = game_named(game).name
    table = Table(data, where, OBJECTIVE)
    preset = load_preset(table["base"], game)
    fixed = {**preset, **by_canonical_name(table["set"], f"{where}: [set]")}
    base = resolve(fixed, where, game)
    sampler = table.get("sampler", "tpe", choices=SAMPLERS[len(PAIRED_SAMPLERS) :])
    check_sampler(sampler, where, other="tpe")
    return ObjectiveSpec(
        game=game,
        space=read_space(table, base, game, ANY_LIMITS),
        fixed=tuple((name, base[name]) for name in fixed),
        sampler=sampler,
        startup_trials=table["startup_trials"],
        seed=table["seed"],
    )


def search(
    spec: ObjectiveSpec,
    objective: Objective,
    trials: int,
    directory: Path | None,
    finished: Callable[[Trial], None] = lambda trial: None,
) -> list[Trial]:
    """Evaluate the function ``objective`` until the search has ``trials`` trials in total; return all trials.

    Trials stored in ``directory`` count, and new ones are added there; with ``None`` nothing is stored. ``finished`` is
    called with each new trial. Raises ``UserError`` if the folder holds trials of another search or is in use, or if
    the function's value is not finite. Exceptions of the function propagate; earlier trials remain stored.
    """
    from elolab.tuning.study.sampler import suggest

    with contextlib.ExitStack() as resources:
        found, file = [], None
        if directory is not None:
            _make_folder(directory)
            resources.callback(FolderLock(directory / LOCK_NAME).release)
            file = directory / TRIALS_NAME
            found = _kept(spec, file)
        study = _study_of(spec, found)
        while len(found) < trials:
            asked = study.ask()
            suggested = {dimension.name: suggest(asked, dimension) for dimension in spec.space.dimensions}
            settings = spec.settings(suggested)
            value = _number(objective(dict(settings)), settings)
            study.tell(asked, value)
            found.append(Trial(asked.number, suggested, settings, value, study.trials[asked.number].system_attrs))
            if file is not None:
                content = {"objective": spec.content(), "trials": [plain(vars(trial)) for trial in found]}
                replace_file(file, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
            finished(found[-1])
        return found


def _make_folder(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{directory}: cannot make the folder: {error.strerror}", "give another one") from None
    if (directory / STORE_NAME).exists():
        raise UserError(f"{directory}: holds games, not trials of a function", "give another folder")


def _number(value: object, settings: Mapping[str, Value]) -> float:
    """The function's value as a number. If not finite, raises ``UserError``, which names ``settings``."""
    number = math.nan
    if not isinstance(value, str | bytes):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise UserError(f"the objective is {value!r} for {dict(settings)}", "expected a finite number")
    return number


def _study_of(spec: ObjectiveSpec, found: Sequence[Trial]) -> Study:
    """An in-memory Optuna study with the trials ``found``.

    If ``found`` is empty, the first trial of the study is the base, provided that the base lies in the space.
    """
    import optuna

    from elolab.tuning.study.sampler import ReproducibleSampler, distribution_of

    dimensions = spec.space.dimensions
    distributions = {dimension.name: distribution_of(dimension) for dimension in dimensions}
    sampler = ReproducibleSampler(spec.sampler, spec.seed, distributions, spec.startup_trials)
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(sampler=sampler, direction="maximize")
    finally:
        optuna.logging.set_verbosity(level)
    for trial in found:
        study.add_trial(
            optuna.trial.create_trial(
                params=dict(trial.suggested), distributions=distributions, value=trial.value,
                system_attrs=dict(trial.attributes),
            )
        )  # fmt: skip
    base = spec.space.default
    if not found and all(dimension.contains(base[dimension.name]) for dimension in dimensions):
        study.enqueue_trial(base)
    return study


def _kept(spec: ObjectiveSpec, file: Path) -> list[Trial]:
    """The trials stored in a file; empty if there is no such file.

    Raises ``UserError`` if the trials belong to another search.
    """
    try:
        content = json.loads(file.read_text("utf-8"))
        trials = [Trial(**trial) for trial in content["trials"]]
        recorded = content["objective"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file}: its trials cannot be read ({error})", "give another folder, or remove it") from None
    for path, old, new in differences(recorded, plain(spec.content())):
        raise UserError(
            f"{file}: holds trials of another search: {path} = {setting_text(old)} there, {setting_text(new)} now",
            "give another folder",
        )
    return trials
