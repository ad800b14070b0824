"""A fresh match on reserved openings decides whether a gain is real, and only a real one becomes a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

from arena.files import replace_file
from arena.statistics import Estimate, Pentanomial, elo_of_score
from engine.parameters import Value
from tuning.matches import Match
from tuning.spec import Validation

if TYPE_CHECKING:
    from tuning.study import Tuned, TuningPlan

FIRST_NUMBER = 10**9
"""Place in the run's schedule from which validations are counted: behind any trial."""
NUMBERS_A_STUDY = 10**7
"""Places kept for the validation of a study of so and so many trials."""


@dataclass(frozen=True)
class Verdict:
    """What the validation showed, from the recommendation's view."""

    counts: Pentanomial
    low: float
    """Bounds of the ``1 - alpha`` interval in Elo."""
    high: float
    alpha: float

    @property
    def estimate(self) -> Estimate:
        """Score, Elo, 95 % interval."""
        return self.counts.estimate()

    @property
    def confirmed(self) -> bool:
        """Whether the whole interval is above 0."""
        return self.low > 0


def validation_match(plan: TuningPlan, values: Mapping[str, Value]) -> Match:
    """The match between the recommendation and the base on the reserved openings."""
    spec = plan.spec
    first = FIRST_NUMBER + NUMBERS_A_STUDY * spec.trials
    return Match(
        variant=spec.conditions.player(values, spec.validation.limits),
        reference=spec.conditions.player({}, spec.validation.limits),
        openings=plan.reserved,
        numbers=tuple(range(first, first + 2 * spec.validation.pairs, 2)),
        round=spec.trials,
    )


def judge(validation: Validation, counts: Pentanomial) -> Verdict:
    """The interval at the level asked for."""
    estimate = counts.estimate()
    margin = NormalDist().inv_cdf(1 - validation.alpha / 2) * estimate.standard_error
    low, high = elo_of_score(estimate.score - margin), elo_of_score(estimate.score + margin)
    return Verdict(counts, low, high, validation.alpha)


def write_preset(tuned: Tuned, folder: Path | None = None) -> Path:
    """Write a confirmed recommendation as a preset and return its path.

    It goes to ``folder``; without one to ``configs/engines`` if there is a ``configs`` here, unless a preset of that
    name that this study did not write is there; otherwise to the run's folder.
    """
    text = preset_text(tuned)
    name = f"{tuned.spec.validation.preset}.toml"
    here = Path("configs")
    chosen = folder or (here / "engines" if here.is_dir() else tuned.directory)
    path = chosen / name
    if path.is_file() and _heading(path.read_text("utf-8")) != _heading(text):
        path = tuned.directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text)
    return path


def _heading(text: str) -> str:
    return text.partition("\n")[0]


def preset_text(tuned: Tuned) -> str:
    """The preset's TOML: every setting that differs from the engine's defaults, and what confirmed it."""
    from engine.identity import engine_identity
    from engine.parameters import resolve

    spec, verdict, found = tuned.spec, tuned.verdict, tuned.recommendation
    assert verdict is not None
    assert found is not None
    values = spec.conditions.base_values | found.values
    estimate = verdict.estimate
    lines = [
        f"# Written by elolab tune {spec.conditions.source} (study {spec.name!r}); the next run of it replaces this.",
        f"# Against {spec.conditions.base_name}: {estimate.elo:+.1f} Elo "
        f"[{verdict.low:+.1f}, {verdict.high:+.1f}] over {verdict.counts.pairs} pairs on openings never tuned on,",
        f"# {spec.validation.limits}, {spec.conditions.openings}, seed {spec.conditions.seed}, "
        f"engine {engine_identity()}.",
        "",
        f'description = "Tuned against {spec.conditions.base_name}: {estimate.elo:+.1f} Elo at '
        f'{spec.validation.limits}."',
        "",
        f"[{spec.conditions.game}]",
    ]
    defaults = resolve({}, game=spec.conditions.game)
    for name, value in values.items():
        if value != defaults[name]:
            lines.append(f"{name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
