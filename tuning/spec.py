"""A study as a frozen value, read strictly from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from engine.configuration import Table, read_toml
from engine.limits import Limits
from tuning.conditions import CONDITION_KEYS, Conditions, read_conditions, read_limits
from tuning.space import Space, read_space

SAMPLERS = ("tpe", "cmaes", "random", "qmc")

TUNING_KEYS = (
    *CONDITION_KEYS, "sampler", "trials", "pairs", "trial_openings", "batch", "startup_trials", "parameters",
    "dimensions", "validation",
)  # fmt: skip
TRIAL_OPENINGS = ("fresh", "common")
VALIDATION_KEYS = ("pairs", "limit", "alpha", "preset")

MAXIMUM_TRIALS = 100_000
MAXIMUM_PAIRS = 100_000
MAXIMUM_BATCH = 1000
MAXIMUM_VALIDATION_PAIRS = 1_000_000


@dataclass(frozen=True)
class Validation:
    """The fresh match that decides."""

    pairs: int
    """Colour-swapped pairs between the recommendation and the base."""
    limits: Limits
    alpha: float
    """The gain counts as confirmed if the lower bound of its ``1 - alpha`` interval is above 0."""
    preset: str
    """Name of the preset that a confirmed recommendation becomes."""


@dataclass(frozen=True)
class TuningSpec:
    """Everything that decides a study: which trials it makes, which games they are, and how they are judged."""

    conditions: Conditions
    space: Space
    sampler: str
    """One of ``SAMPLERS``."""
    trials: int
    pairs: int
    """Colour-swapped pairs a trial."""
    trial_openings: str
    """``fresh``: every trial has openings of its own; ``common``: all trials have the same.

    Similar sets play similar games from the same openings, so that with common ones the luck of neighbouring trials is
    shared and cannot be averaged out; with fresh ones it is independent.
    """
    batch: int
    """Trials whose parameters are chosen before the results of any of them are known."""
    startup_trials: int
    """Trials that TPE draws at random before it starts to model."""
    validation: Validation

    @property
    def name(self) -> str:
        """Names the study and the results' folder."""
        return self.conditions.name

    @property
    def has_fresh_openings(self) -> bool:
        """Whether every trial has openings of its own."""
        return self.trial_openings == "fresh"

    @property
    def openings_needed(self) -> int:
        """Different openings that all trials together play."""
        return self.pairs * self.trials if self.has_fresh_openings else self.pairs

    def content(self) -> dict[str, Any]:
        """What decides trials and games, as plain data."""
        return {
            **self.conditions.content(),
            "sampler": self.sampler,
            "batch": self.batch,
            "startup_trials": self.startup_trials,
            "pairs": self.pairs,
            "trial_openings": self.trial_openings,
            "trials": self.trials,
            "dimensions": {dimension.name: dimension.content() for dimension in self.space.dimensions},
            "validation": {
                "pairs": self.validation.pairs,
                "limit": str(self.validation.limits),
                "alpha": self.validation.alpha,
            },
        }


def load_tuning(path: Path) -> TuningSpec:
    """Read a study's TOML file. Raises ``UserError`` with one line for the first mistake."""
    return tuning_from_mapping(read_toml(path), str(path))


def tuning_from_mapping(data: Mapping[str, Any], where: str) -> TuningSpec:
    """Check a study's plain data; ``where`` is its file, which names it unless ``name`` does.

    Raises ``UserError`` with one line for the first mistake.
    """
    table = Table(data, where, TUNING_KEYS)
    conditions = read_conditions(table, PurePath(where).stem)
    space = read_space(table, conditions.base_values, conditions.game, conditions.limits)
    validation = table.table("validation", VALIDATION_KEYS)
    return TuningSpec(
        conditions=conditions,
        space=space,
        sampler=table.choice("sampler", SAMPLERS, SAMPLERS[0]),
        trials=table.whole("trials", 1, MAXIMUM_TRIALS),
        pairs=table.whole("pairs", 1, MAXIMUM_PAIRS),
        trial_openings=table.choice("trial_openings", TRIAL_OPENINGS, TRIAL_OPENINGS[0]),
        batch=table.whole("batch", 1, MAXIMUM_BATCH, 1),
        startup_trials=table.whole("startup_trials", 1, MAXIMUM_TRIALS, 10),
        validation=Validation(
            pairs=validation.whole("pairs", 1, MAXIMUM_VALIDATION_PAIRS),
            limits=read_limits(validation, conditions.limits),
            alpha=validation.number("alpha", 0.0001, 0.5, 0.05),
            preset=_preset_name(validation, conditions.name),
        ),
    )


def _preset_name(validation: Table, default: str) -> str:
    name: str = validation.text("preset", default, "a name for the preset, without folder or suffix")
    if PurePath(name).name != name or name.startswith("."):
        raise validation.error("preset", "a name without folder or suffix")
    return name.removesuffix(".toml")
