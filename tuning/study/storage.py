"""Optuna's study of a run: a trial is a round, its parameters the centre at the round's start, its value the Elo there.

The store of games is authoritative; the study is kept consistent with it. By default it is a SQLite file in the run's
folder. With the URL of any Optuna storage, several machines work on one study, each with its own folder, and learn from
each other's rounds through the trials' attributes.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from elolab.arena.records import digest_of
from elolab.arena.run import RunError, without
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError
from elolab.tuning.study.result import DEVIATION_ATTRIBUTE, RoundResult
from elolab.tuning.study.rounds.pairs_of_settings import SettingsPair
from elolab.tuning.study.sampler import CentreSampler, ReproducibleSampler, distribution_of, suggest
from elolab.tuning.study.space import Space, Values
from elolab.tuning.study.spec import LENGTHS, TuningSpec

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

STUDY_NAME = "study.sqlite"
COUNTS_ATTRIBUTE = "pentanomial"
SETTINGS_PAIRS_ATTRIBUTE = "duels"
ROUND_ATTRIBUTE = "round"
WORKER_ATTRIBUTE = "worker"
START_ATTRIBUTE = "start"
SPEC_ATTRIBUTE = "decides the games"
OLD_SPEC_ATTRIBUTE = "specification"
"""Attribute of studies from before budgets could change."""
LOCK_SECONDS = 60
MOST_ATTEMPTS = 20
"""Attempts to create the tables of a database that other processes are creating too."""


WORDS_OF_DAMAGE = ("malformed", "not a database")
"""Phrases in SQLite's messages about a damaged file."""


class StudyFailure(UserError):
    """A study that has become unusable; the games are safe."""

    exit_code = 1


class Study:
    """An Optuna study by rounds. Every failure of its storage is one line."""

    def __init__(self, spec: TuningSpec, directory: Path, worker: str) -> None:
        self.is_shared = spec.storage is not None
        self._spec = spec
        self._worker = worker
        self._where = spec.storage if spec.storage is not None else str(directory / STUDY_NAME)
        self._shown_where = without_password(self._where)
        with self._failures():
            self._sampler = _sampler(spec)
            self._study = _opened(spec, directory, self._sampler)
            self._claim()

    def _claim(self) -> None:
        """Raise ``RunError`` if the study belongs to another specification."""
        lengths = LENGTHS if not self.is_shared else LENGTHS[1:]  # workers of a shared study share its rounds
        digest = digest_of(without(self._spec.content(), lengths))
        trials = self._study.get_trials(deepcopy=False)  # before the digest: another process may be writing both
        before = self._study.user_attrs.get(SPEC_ATTRIBUTE)
        if before is None:
            if trials and OLD_SPEC_ATTRIBUTE not in self._study.user_attrs:
                raise RunError(
                    f"{self._shown_where}: holds a study {self._spec.name!r} that is not elolab's; rename this one"
                )
            self._study.set_user_attr(SPEC_ATTRIBUTE, digest)
        elif before != digest:
            raise RunError(
                f"{self._shown_where}: the study {self._spec.name!r} there belongs to another specification than "
                f"{self._spec.conditions.source}; give this one another name, or remove that study"
            )

    def finished(self) -> dict[int, RoundResult]:
        """Finished rounds of all workers, by number."""
        with self._failures():
            trials = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return {_round_of(trial): _result_of(trial, self._spec.space) for trial in trials}

    def trial_of(self, number: int) -> FrozenTrial | None:
        """The trial of a round in any state."""
        with self._failures():
            for trial in self._study.get_trials(deepcopy=False):
                if _round_of(trial) == number and trial.state != TrialState.FAIL:
                    return trial
        return None

    def own_unfinished(self) -> list[int]:
        """Unfinished rounds of this worker."""
        with self._failures():
            trials = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
            return sorted(
                _round_of(trial)
                for trial in trials
                if not self.is_shared or trial.user_attrs.get(WORKER_ATTRIBUTE) == self._worker
            )

    def others_unfinished(self) -> list[int]:
        """Unfinished rounds of other workers."""
        with self._failures():
            trials = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        return sorted(_round_of(trial) for trial in trials if trial.user_attrs.get(WORKER_ATTRIBUTE) != self._worker)

    def ask(
        self, centre: Values, start: Any, number: int | None = None, played: Collection[int] = ()
    ) -> tuple[int, Values, Any]:
        """Begin or resume a round; returns its number, set and start data.

        ``centre`` is the set that the sampler ``duel`` suggests; ``start`` is plain data that determines the round's
        play. A resumed round returns the recorded values. A new round of a shared study gets the next free number
        outside ``played`` (rounds of a lost study); otherwise it gets ``number``.
        """
        if isinstance(self._sampler, CentreSampler):
            self._sampler.centre = centre
        with self._failures():
            frozen = None if number is None else self.trial_of(number)
            if frozen is not None and frozen.state.is_finished():
                values = tuple(frozen.params[name] for name in self._spec.space.names)
                return _round_of(frozen), values, frozen.user_attrs.get(START_ATTRIBUTE, start)
            if frozen is None:
                trial = self._study.ask()
                given = self._free_number(trial.number, played) if number is None else number
                if given != trial.number:
                    trial.set_user_attr(ROUND_ATTRIBUTE, given)
            else:
                trial = optuna.Trial(self._study, frozen._trial_id)
                given = _round_of(frozen)
            recorded = trial.user_attrs.get(START_ATTRIBUTE)
            if recorded is None:
                trial.set_user_attr(WORKER_ATTRIBUTE, self._worker)
                trial.set_user_attr(START_ATTRIBUTE, start)
            values = tuple(suggest(trial, dimension) for dimension in self._spec.space.dimensions)
            return given, values, start if recorded is None else recorded

    def _free_number(self, number: int, played: Collection[int]) -> int:
        """The trial's number, or the next free one if a lost round has it."""
        trials = self._study.get_trials(deepcopy=False)
        taken = {_round_of(trial) for trial in trials if trial.number != number} | set(played)
        return next(one for one in itertools.count(number) if one not in taken)

    def tell(self, result: RoundResult, value: float, more: dict[str, Any]) -> None:
        """Record a round's counts and value, unless they are there.

        Raises ``RunError`` if other counts are recorded, which only happens if one of the files was changed.
        """
        with self._failures():
            frozen = self.trial_of(result.number)
            assert frozen is not None
            if frozen.state.is_finished():
                recorded = frozen.user_attrs.get(COUNTS_ATTRIBUTE)
                if recorded != list(result.counts.counts):
                    raise RunError(
                        f"{self._shown_where}: round {result.number + 1} counted the pairs {recorded} when "
                        f"it ended, its games now give {list(result.counts.counts)}; remove that study: the same "
                        "command makes it again from the games"
                    )
                return
            trial = optuna.Trial(self._study, frozen._trial_id)
            attributes = {
                COUNTS_ATTRIBUTE: list(result.counts.counts),
                SETTINGS_PAIRS_ATTRIBUTE: _plain(result),
                **more,
            }
            for name, entry in attributes.items():
                trial.set_user_attr(name, entry)
            self._study.tell(frozen.number, value)

    def give_up(self, number: int) -> None:
        """Drop an unneeded round."""
        with self._failures():
            frozen = self.trial_of(number)
            if frozen is not None:
                self._study.tell(frozen.number, state=TrialState.FAIL)

    def add_lost(self, result: RoundResult, value: float, start: Any) -> None:
        """Record a round from this worker's games that a shared study has lost."""
        with self._failures():
            self._study.add_trial(
                optuna.trial.create_trial(
                    state=TrialState.COMPLETE,
                    value=value,
                    params=dict(zip(self._spec.space.names, result.values, strict=True)),
                    distributions={one.name: distribution_of(one) for one in self._spec.space.dimensions},
                    user_attrs={
                        ROUND_ATTRIBUTE: result.number,
                        WORKER_ATTRIBUTE: self._worker,
                        START_ATTRIBUTE: start,
                        COUNTS_ATTRIBUTE: list(result.counts.counts),
                        SETTINGS_PAIRS_ATTRIBUTE: _plain(result),
                    },
                )
            )

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        with storage_failures(self._where):
            yield


@contextlib.contextmanager
def storage_failures(where: str) -> Iterator[None]:
    """Turn failures of Optuna and its database into one line that names the storage."""
    try:
        yield
    except (UserError, KeyboardInterrupt):
        raise
    except Exception as error:
        module = type(error).__module__
        is_ours = isinstance(error, optuna.exceptions.StorageInternalError | ImportError)
        if not is_ours and not module.startswith(("sqlalchemy", "psycopg", "pymysql", "redis")):
            raise
        reason = next(iter(str(error.__cause__ or error).strip().splitlines()), type(error).__name__)
        if "://" not in where and any(word in reason for word in WORDS_OF_DAMAGE):
            remedy = "remove it: the same command makes it again from the games"
        else:
            remedy = "every game stored before is safe: give the same command again once it can"
        raise StudyFailure(f"{without_password(where)}: cannot be used: {reason}; {remedy}") from None


def without_password(url: str) -> str:
    """A storage's URL without the password."""
    scheme, mark, rest = url.partition("://")
    login, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{login.partition(':')[0]}{at}{host}"


def _opened(spec: TuningSpec, directory: Path, sampler: BaseSampler) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            storage=_storage(spec, directory), study_name=spec.name, direction="maximize", load_if_exists=True,
            sampler=sampler,
        )  # fmt: skip
    except ValueError as error:
        shown = spec.storage and without_password(spec.storage)
        raise RunError(f"{spec.conditions.source}: storage = {shown!r}: {error}".splitlines()[0]) from None


def _storage(spec: TuningSpec, directory: Path) -> optuna.storages.BaseStorage:
    if spec.storage is None:
        path = (directory / STUDY_NAME).resolve()
        # Not by a URL, because some characters of a folder's name have a meaning in URLs.
        connect = partial(sqlite3.connect, path, timeout=LOCK_SECONDS, check_same_thread=False)
        return _database(f"sqlite:///{STUDY_NAME}", creator=connect)
    if "://" not in spec.storage:
        raise RunError(
            f"{spec.conditions.source}: storage = {spec.storage!r}, expected a URL such as "
            "postgresql://user:password@host/database or journal:///path/to/file"
        )
    if spec.storage.startswith("journal://"):
        from optuna.storages.journal import JournalFileBackend

        backend = JournalFileBackend(spec.storage.removeprefix("journal://"))
        return optuna.storages.JournalStorage(backend)
    return _database(spec.storage)


def _database(url: str, **engine: Any) -> optuna.storages.RDBStorage:
    """A storage in a database; missing tables are created.

    If several processes start on an empty database, only one creates a table; the others fail and retry.
    """
    attempts = 0
    while True:
        attempts += 1
        try:
            return optuna.storages.RDBStorage(url, engine_kwargs=engine)
        except Exception as error:
            if attempts == MOST_ATTEMPTS or not _is_made_by_another(error):
                raise
        time.sleep(0.1)


def _is_made_by_another(error: BaseException) -> bool:
    """Whether another process may have just created the table or row that was missing."""
    while isinstance(error, optuna.exceptions.StorageInternalError) and error.__cause__ is not None:
        error = error.__cause__
    kind = type(error).__name__  # a class of SQLAlchemy, which is only Optuna's dependency
    return kind in ("IntegrityError", "ProgrammingError") or "already exists" in str(error)


def _sampler(spec: TuningSpec) -> BaseSampler:
    distributions = {dimension.name: distribution_of(dimension) for dimension in spec.space.dimensions}
    if spec.sampler == "duel":
        return CentreSampler(spec.space.default_values, distributions)
    return ReproducibleSampler(spec.sampler, spec.conditions.seed, distributions, spec.startup_trials)


def _round_of(trial: FrozenTrial) -> int:
    return int(trial.user_attrs.get(ROUND_ATTRIBUTE, trial.number))


def _plain(result: RoundResult) -> list[Any]:
    return [[pair.number, list(pair.first), list(pair.second), list(counts.counts)] for pair, counts in result.results]


def _result_of(trial: FrozenTrial, space: Space) -> RoundResult:
    pairs: Sequence[Any] = trial.user_attrs.get(SETTINGS_PAIRS_ATTRIBUTE, [])
    results = tuple(
        (SettingsPair(number, tuple(first), tuple(second)), Pentanomial(tuple(counts)))
        for number, first, second, counts in pairs
    )
    values = tuple(trial.params[name] for name in space.names)
    return RoundResult(_round_of(trial), values, results, trial.value, trial.user_attrs.get(DEVIATION_ATTRIBUTE))
