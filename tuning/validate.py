"""Fresh matches on reserved openings decide whether a gain is real, and only a real one becomes a preset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.files import replace_file
from arena.statistics import Estimate, Pentanomial, SequentialTest, sequential_test
from engine.limits import Limits
from engine.parameters import Value
from tuning.matches import Match, MatchTable, Runner
from tuning.spec import TuningSpec, Validation, option_text

if TYPE_CHECKING:
    from tuning.study import Tuned

FIRST_NUMBER = 10**9
"""Place in the run's schedule from which validations are counted: behind any round and playoff."""
NUMBERS_A_MATCH = 10**8
"""Places kept for each of a run's validations."""
LOOK_PAIRS = 25
"""A sequential test looks at its bounds after every so many pairs, whatever the number of processors."""


@dataclass(frozen=True)
class Verdict:
    """What one validation match showed, from the recommendation's view."""

    counts: Pentanomial
    limits: Limits
    kind: str
    """``sprt`` or ``fixed``."""
    test: SequentialTest | None
    """The sequential test where it ended; ``None`` of a match of fixed length."""

    @property
    def estimate(self) -> Estimate:
        """Score, Elo, 95 % interval."""
        return self.counts.estimate()

    @property
    def passed(self) -> bool:
        """Whether the match speaks for the recommendation.

        A sequential test must accept its upper hypothesis. A match of fixed length, which only accompanies such a
        test, must not speak against it: its 95 % interval must not lie below 0.
        """
        if self.test is not None:
            return self.test.verdict == "upper accepted"
        return self.estimate.elo_high >= 0


@dataclass(frozen=True)
class Stage:
    """A validation match to be played."""

    limits: Limits
    kind: str
    pairs: int
    """Its length, or where a sequential test ends undecided."""


def stages_of(validation: Validation) -> list[Stage]:
    """The matches that a study's recommendation must pass, in turn."""
    stages = [Stage(validation.limits, "sprt", validation.maximum_pairs)]
    if validation.slow != "off":
        pairs = validation.slow_pairs if validation.slow == "fixed" else validation.maximum_pairs
        stages.append(Stage(validation.slow_limits, validation.slow, pairs))
    return stages


def validation_match(
    spec: TuningSpec, openings: tuple[int, ...], values: Mapping[str, Value], stage: Stage, number: int, pairs: range
) -> Match:
    """The pairs ``pairs`` of a validation; ``number`` is its place among the run's validations."""
    first = FIRST_NUMBER + NUMBERS_A_MATCH * number
    return Match(
        variant=spec.player(values, stage.limits),
        reference=spec.player(spec.space.default, stage.limits),
        openings=openings[pairs.start : pairs.stop],
        numbers=tuple(range(first + 2 * pairs.start, first + 2 * pairs.stop, 2)),
        round=FIRST_NUMBER + number,
        first_pair=pairs.start,
    )


def play_validation(
    spec: TuningSpec,
    table: MatchTable,
    openings: tuple[int, ...],
    values: Mapping[str, Value],
    stage: Stage,
    number: int,
    runner: Runner,
    finished: Callable[[], None],
    show: Callable[[Verdict], None] = lambda verdict: None,
) -> Verdict | None:
    """Play a validation to its end; ``None`` if it was stopped. A sequential test looks every ``LOOK_PAIRS`` pairs."""
    longest = min(stage.pairs, len(openings))
    step = longest if stage.kind == "fixed" else LOOK_PAIRS
    total = Pentanomial((0, 0, 0, 0, 0))
    for start in range(0, longest, step):
        match = validation_match(spec, openings, values, stage, number, range(start, min(start + step, longest)))
        if not table.play([match], runner, finished):
            return None
        total += table.counts(match)
        verdict = judge(spec.validation, stage, total)
        show(verdict)
        if verdict.test is not None and verdict.test.verdict != "undecided":
            break
    return verdict


def judge(validation: Validation, stage: Stage, counts: Pentanomial) -> Verdict:
    """The verdict of a stage at these counts."""
    test = None
    if stage.kind == "sprt":
        test = sequential_test(
            counts, validation.elo_lower, validation.elo_upper, validation.model, validation.alpha, validation.beta
        )
    return Verdict(counts, stage.limits, stage.kind, test)


def write_preset(tuned: Tuned, folder: Path | None = None) -> Path:
    """Write a validated recommendation and return its path.

    A set of the built-in engine becomes a preset in ``folder``; without one in ``configs/engines`` if there is a
    ``configs`` here, unless a preset of that name that this study did not write is there; otherwise in the run's
    folder. An external engine's options are written to the run's folder as a player of a tournament.
    """
    text = preset_text(tuned)
    name = f"{tuned.spec.validation.preset}.toml"
    here = Path("configs")
    chosen = folder or (here / "engines" if here.is_dir() else tuned.directory)
    if tuned.spec.engine is not None:
        chosen = tuned.directory
    path = chosen / name
    if path.is_file() and _heading(path.read_text("utf-8")) != _heading(text):
        path = tuned.directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text)
    return path


def _heading(text: str) -> str:
    return text.partition("\n")[0]


def preset_text(tuned: Tuned) -> str:
    """The TOML: every setting that differs from the engine's defaults, and what validated it."""
    from engine.identity import engine_identity

    spec = tuned.spec
    verdict = tuned.verdicts[0]
    estimate = verdict.estimate
    gain = f"{estimate.elo:+.1f} Elo [{estimate.elo_low:+.1f}, {estimate.elo_high:+.1f}]"
    lines = [
        f"# Written by elolab tune {spec.conditions.source} (study {spec.name!r}); the next run of it replaces this.",
        f"# Against {spec.base_name}: {gain} over {verdict.counts.pairs} pairs",
        f"# on openings never tuned on, {verdict.limits}, {spec.conditions.openings}, seed {spec.conditions.seed}, "
        f"engine {engine_identity()}.",
        "",
    ]
    return "\n".join(lines + (_preset_lines(tuned) if spec.engine is None else _player_lines(tuned))) + "\n"


def _preset_lines(tuned: Tuned) -> list[str]:
    from engine.parameters import resolve

    spec = tuned.spec
    verdict = tuned.verdicts[0]
    values = spec.conditions.base_values | tuned.recommended
    lines = [
        f'description = "Tuned against {spec.base_name}: {verdict.estimate.elo:+.1f} Elo at {verdict.limits}."',
        "",
        f"[{spec.conditions.game}]",
    ]
    defaults = resolve({}, game=spec.conditions.game)
    return lines + [f"{name} = {_toml(value)}" for name, value in values.items() if value != defaults[name]]


def _player_lines(tuned: Tuned) -> list[str]:
    import json

    engine = tuned.spec.engine
    assert engine is not None
    options: dict[str, Any] = dict(engine.options) | {
        name: option_text(value) for name, value in tuned.recommended.items()
    }
    return [
        "[[players]]",
        f"name = {json.dumps(tuned.spec.validation.preset)}",
        'protocol = "uci"',
        f"command = {json.dumps(list(engine.command))}",
        "[players.options]",
        *(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in options.items()),
    ]


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
