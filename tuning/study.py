"""A study: trials asked from Optuna, played as matches against the base, told back, and judged by fresh games.

Two files in the run's folder: the games (``arena.store``), which are the truth, and Optuna's study. A trial's
parameters are a function of the specification and of the trials of earlier batches, its value is counted from the
games; so a study that was stopped anywhere goes on as if it had not been, and a lost study file is made again from the
games without playing one of them twice.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from arena.executor import GameRunner, stopping_on_signals
from arena.openings import Suite
from arena.standings import signed
from arena.statistics import Pentanomial
from arena.store import Store
from engine.errors import UserError
from engine.parameters import Value
from tuning.matches import Match, MatchTable, Runner
from tuning.progress import RunProgress
from tuning.recommend import Observation, Recommendation, recommend
from tuning.run_folder import RunError, claim, read_openings
from tuning.spec import TuningSpec
from tuning.validate import Verdict, judge, validation_match, write_preset

if TYPE_CHECKING:
    import optuna

    from engine.engine import StopFlag

STUDY_NAME = "study.sqlite"
HIGHEST_VALUE = 1000.0
"""Elo: what a trial that won or lost every pair is told to Optuna as."""
GROWING = ("trials",)
"""What may become more when a study is resumed."""
COUNTS_ATTRIBUTE = "pentanomial"


class StudyFailure(UserError):
    """A study file that cannot be used any more; the games are safe."""

    exit_code = 1


@dataclass(frozen=True)
class Trial:
    """One set of parameters and what it scored against the base."""

    number: int
    suggested: dict[str, Value]
    """What the sampler asked for."""
    values: dict[str, Value]
    """What was played: a dimension without effect beside the others has the base's value."""
    counts: Pentanomial
    """From the candidate's view; no pairs if the set is the base itself, which is worth 0 by definition."""
    same_as: int | None = None
    """The earlier trial with the same set; on common openings its games are these."""

    @property
    def elo(self) -> float:
        """Observed Elo against the base."""
        return self.counts.estimate().elo

    @property
    def told(self) -> float:
        """The value Optuna gets: the observed Elo, kept finite."""
        return min(max(self.elo, -HIGHEST_VALUE), HIGHEST_VALUE)


@dataclass(frozen=True)
class TuningPlan:
    """A study ready to run."""

    spec: TuningSpec
    suite: Suite
    openings: tuple[int, ...]
    """Places in the suite of the trials' openings, all of the tournament half."""
    reserved: tuple[int, ...]
    """The same of the validation's openings, all of the half reserved for it."""

    @property
    def games(self) -> int:
        """Games of the whole study, if no set is tried twice."""
        return 2 * (self.spec.trials * self.spec.pairs + self.spec.validation.pairs)


@dataclass(frozen=True)
class Tuned:
    """How a run of a study ended."""

    spec: TuningSpec
    directory: Path
    trials: tuple[Trial, ...]
    games: int
    """Games in the store."""
    interrupted: bool = False
    recommendation: Recommendation | None = None
    verdict: Verdict | None = None
    """``None`` if the recommendation is the base itself, or after an interruption."""
    preset: Path | None = None
    """Where a confirmed recommendation was written."""
    digest: str = ""
    """Digest of all games."""
    report: Path | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the recommendation is stronger than the base beyond doubt."""
        return self.verdict is not None and self.verdict.confirmed

    @property
    def exit_code(self) -> int:
        """0 if a gain was confirmed, 3 if not, 130 after an interruption."""
        if self.interrupted:
            return 130
        return 0 if self.confirmed else 3


def prepare_tuning(spec: TuningSpec) -> TuningPlan:
    """Read the openings and check the sampler. Raises ``UserError``."""
    from tuning.sampler import check_sampler

    check_sampler(spec.sampler, spec.conditions.source)
    key = "pairs * trials" if spec.has_fresh_openings else "pairs"
    suite, openings = read_openings(spec.conditions, "tournament", spec.openings_needed, key)
    _, reserved = read_openings(spec.conditions, "validation", spec.validation.pairs, "validation: pairs")
    return TuningPlan(spec, suite, openings, reserved)


def tune(
    spec: TuningSpec,
    directory: Path,
    *,
    concurrency: int = 1,
    accept_engine_change: bool = False,
    stream: TextIO | None = None,
    stop: StopFlag | None = None,
    presets: Path | None = None,
) -> Tuned:
    """Run or resume a study in its folder: trials, recommendation, validation, preset, report.

    Nothing but times depends on ``concurrency``. Progress goes to ``stream`` (default: standard error). A confirmed
    recommendation is written to the folder ``presets`` (default: ``configs/engines`` if there is a ``configs`` here,
    else the run's folder). Raises ``UserError`` if the folder belongs to another run or engine, or the disk is full.
    """
    from engine.engine import StopFlag
    from tuning.report import write_tuning_report

    plan = prepare_tuning(spec)
    stop = stop or StopFlag()
    with Store(directory) as store:
        content = {**spec.content(), "openings_digest": plan.suite.digest}
        claim(store, "tuning", content, GROWING, spec.conditions.source, accept_engine_change)
        table = MatchTable(spec.conditions, plan.suite, store)
        progress = RunProgress(0, stream or sys.stderr)
        with _study_failures(directory), stopping_on_signals(stop):
            study = open_study(directory / STUDY_NAME, spec)
            with GameRunner(concurrency, stop, tick=progress.tick) as runner:
                course = _Course(plan, study, table, runner, progress, stop)
                try:
                    ended = course.run(directory)
                finally:
                    progress.close()
        tuned = Tuned(**ended, spec=spec, directory=directory, games=len(store), digest=store.digest())
    if tuned.interrupted:
        return tuned
    preset = write_preset(tuned, presets) if tuned.confirmed else None
    tuned = replace(tuned, preset=preset)
    return replace(tuned, report=write_tuning_report(tuned))


class _Course:
    """One run of a study: batch after batch of trials, then the recommendation and its validation."""

    def __init__(
        self,
        plan: TuningPlan,
        study: optuna.Study,
        table: MatchTable,
        runner: Runner,
        progress: RunProgress,
        stop: StopFlag,
    ) -> None:
        self._plan, self._spec = plan, plan.spec
        self._study, self._table, self._runner = study, table, runner
        self._progress, self._stop = progress, stop
        self._trials: list[Trial] = []

    def run(self, directory: Path) -> dict[str, Any]:
        """Go through to the end, or as far as the stop flag lets; returns fields of ``Tuned``."""
        self._trials = finished_trials(self._plan, self._study, self._table, directory)
        left = self._spec.trials - len(self._trials)
        self._progress.planned = 2 * (left * self._spec.pairs + self._spec.validation.pairs)
        self._progress.words = self._words
        while len(self._trials) < self._spec.trials:
            if not self._batch():
                return {"trials": tuple(self._trials), "interrupted": True}
        found = recommend(self._spec.space, observations(self._spec, self._trials))
        ended = {"trials": tuple(self._trials), "recommendation": found}
        if found.values == self._spec.space.default:
            return ended
        match = validation_match(self._plan, found.values)
        self._progress.planned = self._progress.done + self._table.missing_games([match])
        self._progress.words = lambda: f"validation: {_with_error(self._table.counts(match))}"
        if not self._table.play([match], self._runner, self._progress.finished):
            return {**ended, "interrupted": True}
        return {**ended, "verdict": judge(self._spec.validation, self._table.counts(match))}

    def _batch(self) -> bool:
        """Ask for the rest of a batch, play it, tell its values; False if it was stopped."""
        first = len(self._trials)
        last = min((first // self._spec.batch + 1) * self._spec.batch, self._spec.trials)
        asked = []
        for number in range(first, last):
            if self._stop.is_set():
                return False
            asked.append(ask(self._study, self._spec, number))
        matches = [trial_match(self._plan, number, suggested) for number, suggested in enumerate(asked, first)]
        played = [match for match in matches if match is not None]
        expected = 2 * self._spec.pairs * len(matches)
        self._progress.planned -= expected - self._table.missing_games(played)
        if not self._table.play(played, self._runner, self._progress.finished):
            return False
        for number, suggested in enumerate(asked, first):
            trial = trial_of(self._plan, self._table, number, suggested, self._trials)
            tell(self._study, trial)
            self._trials.append(trial)
        return True

    def _words(self) -> str:
        number = min(len(self._trials) + 1, self._spec.trials)
        text = f"trial {number}/{self._spec.trials}"
        best = best_trial(self._trials)
        return text if best is None else f"{text}  best {_with_error(best.counts)} (#{best.number + 1})"


def _with_error(counts: Pentanomial) -> str:
    estimate = counts.estimate()
    return f"{signed(estimate.elo)} ± {estimate.elo_error:.1f}" if counts.pairs else "-"


# Trials and their matches


def trial_match(plan: TuningPlan, number: int, suggested: dict[str, Value]) -> Match | None:
    """The match of a trial; ``None`` if the set is the base itself."""
    spec = plan.spec
    values = spec.space.effective(suggested)
    if values == spec.space.default:
        return None
    first = number * spec.pairs
    first_pair = first if spec.has_fresh_openings else 0
    return Match(
        variant=spec.conditions.player(values),
        reference=spec.conditions.player({}),
        openings=plan.openings[first_pair : first_pair + spec.pairs],
        numbers=tuple(range(2 * first, 2 * (first + spec.pairs), 2)),
        round=number,
        first_pair=first_pair,
    )


def trial_of(
    plan: TuningPlan, table: MatchTable, number: int, suggested: dict[str, Value], earlier: Sequence[Trial]
) -> Trial:
    """The trial with its counts from the store."""
    match = trial_match(plan, number, suggested)
    counts = Pentanomial((0, 0, 0, 0, 0)) if match is None else table.counts(match)
    values = plan.spec.space.effective(suggested)
    same_as = next((trial.number for trial in earlier if trial.values == values), None)
    return Trial(number, suggested, values, counts, same_as)


def observations(spec: TuningSpec, trials: Sequence[Trial]) -> list[Observation]:
    """What the trials showed, each different set once with all its games; the base is left out."""
    counts: dict[int, Pentanomial] = {}
    for trial in trials:
        if not trial.counts.pairs:
            continue
        if trial.same_as is None:
            counts[trial.number] = trial.counts
        elif spec.has_fresh_openings:  # on common ones they are the same games
            counts[trial.same_as] += trial.counts
    return [Observation(trials[number].values, total) for number, total in counts.items()]


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """The trial with the best observed result; the earliest of several."""
    played = [trial for trial in trials if trial.counts.pairs]
    return max(played, key=lambda trial: (trial.elo, -trial.number), default=None)


# Optuna's study


def open_study(path: Path, spec: TuningSpec) -> optuna.Study:
    """The study in a SQLite file, made if it is missing, with the sampler of the specification."""
    import optuna

    from tuning.sampler import ReproducibleSampler, distribution_of

    if "?" in str(path):
        raise RunError(f"{path.parent}: SQLite cannot use a folder with '?' in its name here; give another with --out")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}", engine_kwargs={"connect_args": {"timeout": 60}})
    distributions = {dimension.name: distribution_of(dimension) for dimension in spec.space.dimensions}
    sampler = ReproducibleSampler(spec.sampler, spec.conditions.seed, distributions, spec.startup_trials)
    return optuna.create_study(
        storage=storage, study_name=spec.name, direction="maximize", load_if_exists=True, sampler=sampler
    )


def ask(study: optuna.Study, spec: TuningSpec, number: int) -> dict[str, Value]:
    """The parameters of trial ``number``: a new one, or one that was begun before the process ended."""
    from tuning.sampler import suggest

    known = study.get_trials(deepcopy=False)
    # What a killed process recorded only in part is completed; what is recorded stays as it is.
    trial = study.ask() if number >= len(known) else _reopened(study, number)
    assert trial.number == number
    return {dimension.name: suggest(trial, dimension) for dimension in spec.space.dimensions}


def _reopened(study: optuna.Study, number: int) -> optuna.Trial:
    import optuna

    return optuna.Trial(study, study.get_trials(deepcopy=False)[number]._trial_id)


def tell(study: optuna.Study, trial: Trial) -> None:
    """Record a trial's counts, error and value in the study, unless they are there."""
    if study.get_trials(deepcopy=False)[trial.number].state.is_finished():
        return
    estimate = trial.counts.estimate()
    attributes = {
        COUNTS_ATTRIBUTE: list(trial.counts.counts),
        "elo_error": estimate.elo_error if math.isfinite(estimate.elo_error) else None,
        "los": estimate.los,
        "played": trial.values,
        "same_as": trial.same_as,
    }
    reopened = _reopened(study, trial.number)
    for name, value in attributes.items():
        reopened.set_user_attr(name, value)
    study.tell(trial.number, trial.told)


def finished_trials(plan: TuningPlan, study: optuna.Study, table: MatchTable, directory: Path) -> list[Trial]:
    """The trials that the study has finished, held against the games.

    Raises ``RunError`` if the two disagree, which happens only if somebody changed one of the files.
    """
    trials: list[Trial] = []
    for frozen in study.get_trials(deepcopy=False)[: plan.spec.trials]:
        if not frozen.state.is_finished():
            break
        suggested = {name: frozen.params[name] for name in plan.spec.space.names}
        trial = trial_of(plan, table, frozen.number, suggested, trials)
        recorded = frozen.user_attrs.get(COUNTS_ATTRIBUTE)
        if recorded != list(trial.counts.counts):
            raise RunError(
                f"{directory}: trial {frozen.number + 1} counted the pairs {recorded} when it ended, its games now "
                f"give {list(trial.counts.counts)}; remove {STUDY_NAME}: the same command makes it again from the games"
            )
        trials.append(trial)
    return trials


@contextlib.contextmanager
def _study_failures(directory: Path) -> Iterator[None]:
    """Turn Optuna's failures to write into one line."""
    import optuna

    try:
        yield
    except Exception as error:
        ours = isinstance(error, optuna.exceptions.StorageInternalError)
        if not ours and not type(error).__module__.startswith("sqlalchemy"):
            raise
        reason = str(error.__cause__ or error).splitlines()[0]
        raise StudyFailure(
            f"{directory / STUDY_NAME}: cannot be used: {reason}; every game stored before is safe: give the same "
            "command again once there is room"
        ) from None
