"""Fresh matches on reserved openings decide whether a gain is real, and only a real one becomes a preset."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arena.figures.statistics import (
    Estimate,
    Pentanomial,
    SequentialEstimate,
    SequentialTest,
    estimate_after_test,
    sequential_test,
)
from arena.files import replace_file
from arena.records import PlayerSpec
from engine.settings.configuration import specification_word
from engine.settings.limits import OWN_LEVEL, Limits
from engine.settings.parameters import Value
from tuning.matches import Match, MatchTable
from tuning.study.spec import TuningSpec, Validation

MAX_STAGES = 2
"""Validations that belong to a study itself; further ones come after them."""
INTERIM_PAIRS = 25
"""Pairs between two interim analyses of a sequential test, whatever the number of processors."""


@dataclass(frozen=True)
class Verdict:
    """What one validation match showed, from the recommendation's view."""

    counts: Pentanomial
    limits: Limits
    kind: str
    """``sprt`` or ``fixed``."""
    test: SequentialTest | None
    """The sequential test where it ended; ``None`` of a match of fixed length."""
    after_test: SequentialEstimate | None = None
    """Elo without the bias of having stopped at a bound; ``None`` of a match of fixed length."""
    unfinished_of: int | None = None
    """Of a match that was stopped, the pairs that it has at most; whatever it shows, it has not been passed."""

    @property
    def estimate(self) -> Estimate:
        """Score, Elo, 95 % interval as of a match of fixed length."""
        return self.counts.estimate()

    @property
    def elo(self) -> float:
        """The recommendation's Elo minus the base's; after a sequential test the median-unbiased estimate."""
        return self.estimate.elo if self.after_test is None else self.after_test.elo

    @property
    def interval(self) -> tuple[float, float]:
        """95 % bounds of ``elo``."""
        if self.after_test is None:
            return self.estimate.elo_low, self.estimate.elo_high
        return self.after_test.elo_low, self.after_test.elo_high

    @property
    def passed(self) -> bool:
        """Whether the match speaks for the recommendation.

        A sequential test must accept its upper hypothesis. A match of fixed length, which only accompanies such a
        test, must not speak against it: its 95 % interval must not lie below 0.
        """
        if self.unfinished_of is not None:
            return False
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


def stages_of(validation: Validation, games: int, openings: int) -> list[Stage]:
    """The matches that the recommendation of a study of so many games must pass, in turn.

    Each pair has an opening of its own, of which there are so many.
    """
    stages = [Stage(validation.limits, "sprt", min(openings, validation.pairs(games)))]
    if validation.slow != "off":
        pairs = min(openings, validation.pairs_of_slow_match(games))
        stages.append(Stage(validation.slow_limits, validation.slow, pairs))
    return stages


@dataclass(frozen=True)
class ValidationGames:
    """The games of a validation: of which recommendation, under which limits, where in the run."""

    spec: TuningSpec
    table: MatchTable
    openings: tuple[int, ...]
    """Places in the suite, one a pair."""
    values: Mapping[str, Value]
    stage: Stage
    series: str

    def match(self, pairs: range) -> Match:
        """Some of its pairs."""
        limits = self.stage.limits
        return Match(
            variant=self.spec.player(self.values, limits),
            reference=self.spec.player(self.spec.space.default, limits),
            openings=self.openings[pairs.start : pairs.stop],
            numbers=tuple(range(2 * pairs.start, 2 * pairs.stop, 2)),
            pair_numbers=tuple(pairs),
            series=self.series,
        )

    @functools.cached_property
    def stored_pairs(self) -> int:
        """How many pairs from the first on were complete when it was asked first: they count, whatever the bound."""
        for start in range(0, len(self.openings), INTERIM_PAIRS):
            part = range(start, min(start + INTERIM_PAIRS, len(self.openings)))
            results = self.table.results(self.match(part))
            if None in results:
                return start + results.index(None)
        return len(self.openings)

    @property
    def most_pairs(self) -> int:
        """Where it ends: at its bound, or where a larger one that it had before let it come."""
        return max(min(self.stage.pairs, len(self.openings)), self.stored_pairs)

    @property
    def missing_games(self) -> int:
        """How many of its games may still be played."""
        return self.table.missing_games([self.match(range(self.most_pairs))])


def play_validation(
    games: ValidationGames,
    play: Callable[[Match], bool],
    show: Callable[[Verdict], None] = lambda verdict: None,
    decided_after: int | None = None,
) -> Verdict | None:
    """Go through a validation to its end; sequential tests have an interim analysis every ``INTERIM_PAIRS`` pairs.

    ``play`` plays what is missing of a part of it, and says whether all is there; if not, the verdict is unfinished,
    ``None`` without a complete pair. A test that once had its verdict ``decided_after`` so many pairs keeps it.
    """
    longest = games.most_pairs
    end = longest if decided_after is None else min(longest, decided_after)
    step = end if games.stage.kind == "fixed" else INTERIM_PAIRS
    total = Pentanomial((0, 0, 0, 0, 0))
    for start in range(0, end, step):
        match = games.match(range(start, min(start + step, end)))
        is_played = play(match)
        total += games.table.counts(match)
        verdict = judge(games.spec.validation, games.stage, total)
        if not is_played:
            return replace(verdict, unfinished_of=longest) if total.pairs else None
        show(verdict)
        if verdict.test is not None and verdict.test.verdict != "undecided":
            break
    return verdict


def judge(validation: Validation, stage: Stage, counts: Pentanomial) -> Verdict:
    """The verdict of a stage at these counts."""
    if stage.kind == "fixed":
        return Verdict(counts, stage.limits, stage.kind, None)
    hypotheses = (validation.elo_lower, validation.elo_upper, validation.model, validation.alpha, validation.beta)
    test, after = sequential_test(counts, *hypotheses), estimate_after_test(counts, *hypotheses)
    return Verdict(counts, stage.limits, stage.kind, test, after)


def write_preset(
    engine: str,
    spec: TuningSpec,
    directory: Path,
    values: Mapping[str, Value],
    verdict: Verdict,
    folder: Path | None = None,
) -> Path:
    """Write a recommendation that a sequential test has accepted (``verdict``) and return its path.

    A set of the built-in engine becomes a preset in ``folder``; without one in ``configs/engines`` if there is a
    ``configs`` here, unless a preset of that name that this study did not write is there; otherwise in the run's
    folder. An external engine's options are written to the run's folder as a player of a tournament.
    """
    text = preset_text(engine, spec, values, verdict)
    name = f"{spec.validation.preset}.toml"
    here = Path("configs")
    chosen = folder or (here / "engines" if here.is_dir() else directory)
    if spec.engine is not None:
        chosen = directory
    path = chosen / name
    if path.is_file() and _heading(path.read_text("utf-8")) != _heading(text):
        path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text)
    return path


def written_preset(spec: TuningSpec, directory: Path) -> Path | None:
    """Where the study of a folder has written its recommendation, if it is still there: see ``write_preset``."""
    name, heading = f"{spec.validation.preset}.toml", _heading_of(spec)
    paths = (directory / name, Path("configs") / "engines" / name)
    return next((path for path in paths if path.is_file() and _heading(path.read_text("utf-8")) == heading), None)


def _heading_of(spec: TuningSpec) -> str:
    source = specification_word("tuning", spec.conditions.source)
    return f"# Written by elolab tune {source} (study {spec.name!r}), whose next run replaces it."


def _heading(text: str) -> str:
    return text.partition("\n")[0]


def preset_text(engine: str, spec: TuningSpec, values: Mapping[str, Value], verdict: Verdict) -> str:
    """The TOML: every setting that differs from the engine's defaults, and what validated it, with which ``engine``."""
    gain = "{:+.1f} Elo [{:+.1f}, {:+.1f}]".format(verdict.elo, *verdict.interval)
    lines = [
        _heading_of(spec),
        f"# Against {spec.base_name}: {gain} over {verdict.counts.pairs} pairs",
        f"# on openings never tuned on, {verdict.limits}, {spec.conditions.openings}, seed {spec.conditions.seed}, "
        f"engine {engine}.",
        "",
    ]
    more = _preset_lines(spec, values, verdict) if spec.engine is None else _player_lines(spec, values)
    return "\n".join(lines + more) + "\n"


def _preset_lines(spec: TuningSpec, values: Mapping[str, Value], verdict: Verdict) -> list[str]:
    from engine.settings.parameters import resolve

    complete = spec.conditions.base_values | dict(values)
    lines = [
        f'description = "Tuned against {spec.base_name}: {verdict.elo:+.1f} Elo at {verdict.limits}."',
        "",
        f"[{spec.conditions.game}]",
    ]
    defaults = resolve({}, game=spec.conditions.game)
    return lines + [f"{name} = {_toml(value)}" for name, value in complete.items() if value != defaults[name]]


def _player_lines(spec: TuningSpec, values: Mapping[str, Value]) -> list[str]:
    engine = spec.player(values)
    lines = [
        "[[players]]",
        f"name = {json.dumps(spec.validation.preset)}",
        f"protocol = {json.dumps(engine.protocol)}",
        f"command = {json.dumps(list(engine.command))}",
        *_process_lines(engine),
        *(f"{key} = {json.dumps(value)}" for key, value in engine.protocol_keys),
    ]
    if engine.limits == Limits():
        lines.append(f"limit = {json.dumps(OWN_LEVEL)}")
    if engine.options:
        lines.append("[players.options]")
    return lines + [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in engine.options]


def _process_lines(engine: PlayerSpec) -> list[str]:
    """Where and how the program is run, in seconds."""
    lines = [f"directory = {json.dumps(engine.directory)}"] if engine.directory is not None else []
    times = (engine.start_timeout_ms, engine.margin_ms, engine.watchdog_ms)
    for key, milliseconds in zip(("start_timeout", "margin", "watchdog"), times, strict=True):
        lines.append(f"{key} = {milliseconds / 1000!r}")
    return [*lines, f"restart = {json.dumps(engine.restart)}"]


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f'"{value}"'
