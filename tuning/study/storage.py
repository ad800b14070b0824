"""Optuna's study for a run: a trial is a round, its parameters are the centre's values, its value is the centre's Elo.

If games and trials differ, the stored games are right. By default the study is a SQLite file in the run's folder. With
the URL of another Optuna storage, several machines work on one study, each with its own folder. The machines learn
from each other's rounds through the trials' attributes.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from elolab.arena.records import digest_of
from elolab.arena.run import RunError, without
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError
from elolab.tuning.study.result import DEVIATION_ATTRIBUTE, EXPECTED_ATTRIBUTE, STUDY_NAME, RoundResult
from elolab.tuning.study.rounds.pairs_of_settings import SettingsPair
from elolab.tuning.study.sampler import (
    DESIGN_ATTRIBUTE,
    RESULTS_ATTRIBUTE,
    DuelSampler,
    SpsaSampler,
    sampler_of,
    suggest,
)
from elolab.tuning.study.space import Values
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.study_spec import LENGTHS, TuningSpec

COUNTS_ATTRIBUTE = "pentanomial"
WORKER_ATTRIBUTE = "worker"
START_ATTRIBUTE = "start"
SPEC_ATTRIBUTE = "decides the games"
LOCK_SECONDS = 60
MAX_ATTEMPTS = 20
"""Maximum number of attempts to open a database while other processes may be creating its tables."""
DAMAGE_PHRASES = ("malformed", "not a database")
"""Phrases in SQLite's error messages that indicate a damaged file."""


class StudyFailure(UserError):
    """Raised if Optuna's study cannot be used. The stored games are not affected."""

    exit_code = 1


class RoundTrials:
    """The trials of Optuna's study; trial ``n`` is round ``n``.

    If the storage fails, methods raise ``StudyFailure`` with a message of one line.
    """

    def __init__(self, spec: TuningSpec, directory: Path, worker: str, pairs: int) -> None:
        """Open the study; ``worker`` names this process, ``pairs`` is the number of game pairs of all rounds."""
        self.is_shared = spec.storage is not None
        self._spec, self._worker = spec, worker
        self._where = spec.storage or str(directory / STUDY_NAME)
        with self._failures():
            self._sampler = sampler_of(spec, pairs)
            optuna.logging.set_verbosity(optuna.logging.WARNING)
            try:
                self._study = optuna.create_study(
                    storage=_storage(spec, directory), study_name=spec.name, direction="maximize", load_if_exists=True,
                    sampler=self._sampler,
                )  # fmt: skip
            except ValueError as error:
                shown = spec.storage and without_password(spec.storage)
                raise RunError(f"{spec.conditions.source}: storage = {shown!r}: {error}".splitlines()[0]) from None
            self._claim()
        self._asked: dict[int, optuna.Trial] = {}
        """Unfinished trials that this process has begun, by number."""

    def _claim(self) -> None:
        """Mark a new study with the digest of the specification.

        Raises ``RunError`` if the study belongs to another specification.
        """
        lengths = LENGTHS if not self.is_shared else LENGTHS[1:]  # workers of a shared study share its rounds
        digest = digest_of(without(self._spec.content(), lengths))
        trials = self._study.get_trials(deepcopy=False)  # before the digest: another process may be writing both
        before, where = self._study.user_attrs.get(SPEC_ATTRIBUTE), without_password(self._where)
        if before is None:
            if trials:
                raise RunError(f"{where}: holds a study {self._spec.name!r} that is not elolab's", "rename this one")
            self._study.set_user_attr(SPEC_ATTRIBUTE, digest)
        elif before != digest:
            raise RunError(
                f"{where}: the study {self._spec.name!r} there belongs to another specification than "
                f"{self._spec.conditions.source}",
                "give this one another name, or remove that study",
            )

    def finished(self) -> dict[int, RoundResult]:
        """Finished rounds of all workers, by number."""
        return {trial.number: self._result_of(trial) for trial in self._trials(TrialState.COMPLETE)}

    def own_unfinished(self) -> list[int]:
        """Numbers of this worker's unfinished rounds."""
        return self._unfinished(is_own=True)

    def others_unfinished(self) -> list[int]:
        """Numbers of other workers' unfinished rounds."""
        return self._unfinished(is_own=False)

    def _unfinished(self, *, is_own: bool) -> list[int]:
        running = self._trials(TrialState.RUNNING)
        return [one.number for one in running if (one.user_attrs.get(WORKER_ATTRIBUTE) == self._worker) == is_own]

    def candidate(self) -> Values | None:
        """The set of values that the sampler itself recommends; ``None`` if the model makes the recommendation."""
        with self._failures():
            if not isinstance(self._sampler, SpsaSampler):
                return None
            return tuple(self._sampler.last_iterate(self._study).values())

    def ask(self, state: StudyState, pairs: int, number: int | None = None) -> tuple[int, Values, Any]:
        """Begin or resume a round; return its number, its set of values, and its design.

        The design is plain data that determine the round's settings pairs. ``state`` holds results and model for the
        sampler ``duel``. ``pairs`` is the number of game pairs of all rounds, for the schedules of ``spsa``. A resumed
        round returns the set and the design recorded at its start. Without ``number``, the next new round begins.
        """
        if isinstance(self._sampler, DuelSampler):
            self._sampler.state = state
        elif isinstance(self._sampler, SpsaSampler):
            self._sampler.pairs = pairs
        with self._failures():
            trials = [] if number is None else self._trials()
            if number is None or number == len(trials):
                trial = self._study.ask()
            else:
                frozen = trials[number]
                if frozen.state.is_finished():
                    played = [sets for _, *sets, _ in frozen.user_attrs.get(RESULTS_ATTRIBUTE, [])]
                    start = {"played": played} if played else frozen.user_attrs.get(START_ATTRIBUTE, [])
                    return number, self._values_of(frozen), start
                trial = optuna.Trial(self._study, frozen._trial_id)
            if WORKER_ATTRIBUTE not in trial.user_attrs:
                trial.set_user_attr(WORKER_ATTRIBUTE, self._worker)
            values = tuple(suggest(trial, dimension) for dimension in self._spec.space.dimensions)
            start = trial.user_attrs.get(START_ATTRIBUTE)
            if start is None:
                start = trial.user_attrs.get(DESIGN_ATTRIBUTE, [])
                trial.set_user_attr(START_ATTRIBUTE, start)
            self._asked[trial.number] = trial
            return trial.number, values, start

    def tell(self, result: RoundResult, value: float, more: dict[str, Any]) -> None:
        """Finish a round: record its counts, its ``value`` for Optuna, and the attributes ``more``.

        A round that is already finished stays unchanged. Raises ``RunError`` if it was finished with other counts,
        which happens only if somebody changed the store or the study.
        """
        counts = list(result.counts.counts)
        with self._failures():
            trial = self._asked.pop(result.number, None)
            if trial is None or self.is_shared:
                frozen = self._trials()[result.number]
                if frozen.state.is_finished():
                    recorded = frozen.user_attrs.get(COUNTS_ATTRIBUTE)
                    if recorded != counts:
                        raise RunError(
                            f"{without_password(self._where)}: round {result.number + 1} counted the pairs {recorded} "
                            f"when it ended, but its games now give {counts}",
                            "remove that study: the same command rebuilds it from the games",
                        )
                    return
                trial = optuna.Trial(self._study, frozen._trial_id)
            pairs = [
                [pair.number, list(pair.first), list(pair.second), list(one.counts)] for pair, one in result.results
            ]
            for name, entry in {COUNTS_ATTRIBUTE: counts, RESULTS_ATTRIBUTE: pairs, **more}.items():
                trial.set_user_attr(name, entry)
            self._study.tell(trial, value)

    def give_up(self, number: int) -> None:
        """Mark a round that is not needed as failed, so that no worker plays it."""
        with self._failures():
            self._study.tell(number, state=TrialState.FAIL)

    def _trials(self, *states: TrialState) -> list[FrozenTrial]:
        with self._failures():
            return self._study.get_trials(deepcopy=False, states=states or None)

    def _values_of(self, trial: FrozenTrial) -> Values:
        return tuple(trial.params[name] for name in self._spec.space.names)

    def _result_of(self, trial: FrozenTrial) -> RoundResult:
        results = tuple(
            (SettingsPair(number, tuple(first), tuple(second)), Pentanomial(tuple(counts)))
            for number, first, second, counts in trial.user_attrs.get(RESULTS_ATTRIBUTE, [])
        )
        deviation, expected = (trial.user_attrs.get(name) for name in (DEVIATION_ATTRIBUTE, EXPECTED_ATTRIBUTE))
        return RoundResult(trial.number, self._values_of(trial), results, trial.value, deviation, expected)

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Context manager that converts exceptions of Optuna and its database into ``StudyFailure``.

        The message has one line and names the storage.
        """
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
            if not self.is_shared and any(word in reason for word in DAMAGE_PHRASES):
                remedy = "remove it: the same command rebuilds it from the games"
            else:
                remedy = "all stored games are safe: give the same command again once the storage can be used"
            raise StudyFailure(f"{without_password(self._where)}: cannot be used: {reason}", remedy) from None


def without_password(url: str) -> str:
    """URL of a storage without its password."""
    scheme, mark, rest = url.partition("://")
    login, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{login.partition(':')[0]}{at}{host}"


def folder_storage(directory: Path) -> optuna.storages.RDBStorage:
    """Optuna's storage in the file ``STUDY_NAME`` of a folder."""
    path = (directory / STUDY_NAME).resolve()
    # Not by a URL, because some characters of a folder's name have a meaning in URLs.
    connect = partial(sqlite3.connect, path, timeout=LOCK_SECONDS, check_same_thread=False)
    return _database(f"sqlite:///{STUDY_NAME}", creator=connect)


def _storage(spec: TuningSpec, directory: Path) -> optuna.storages.BaseStorage:
    if spec.storage is None:
        return folder_storage(directory)
    if "://" not in spec.storage:
        raise RunError(
            f"{spec.conditions.source}: storage = {spec.storage!r}, expected a URL such as "
            "postgresql://user:password@host/database or journal:///path/to/file"
        )
    if spec.storage.startswith("journal://"):
        from optuna.storages.journal import JournalFileBackend

        return optuna.storages.JournalStorage(JournalFileBackend(spec.storage.removeprefix("journal://")))
    return _database(spec.storage)


def _database(url: str, **engine: Any) -> optuna.storages.RDBStorage:
    """Open a storage in a database, and create missing tables.

    If several processes start on an empty database, only one creates a table; the other processes fail and retry.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return optuna.storages.RDBStorage(url, engine_kwargs=engine)
        except Exception as error:
            if not _is_made_by_another(error):
                raise
        time.sleep(0.1)
    return optuna.storages.RDBStorage(url, engine_kwargs=engine)


def _is_made_by_another(error: BaseException) -> bool:
    """Whether the error suggests that another process has just created the same table or row."""
    while isinstance(error, optuna.exceptions.StorageInternalError) and error.__cause__ is not None:
        error = error.__cause__
    kind = type(error).__name__  # a class of SQLAlchemy, which is only Optuna's dependency
    return kind in ("IntegrityError", "ProgrammingError") or "already exists" in str(error)
