"""The folder of a bisection: its lock, state, report and status, and a subfolder with the run of each step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from elolab.arena.builds.build import BuildError
from elolab.arena.builds.repository import Commit
from elolab.arena.files import OTHER_FOLDER, replace_file
from elolab.arena.play.store import LOCK_NAME, STORE_NAME, FolderLock, made_folder
from elolab.arena.play.tournament_run import TournamentResult
from elolab.arena.players.detect import DetectionError
from elolab.arena.provenance.status import (
    DECIDED,
    FAILED,
    INCOMPLETE,
    INTERRUPTED,
    RUNNING,
    Conclusion,
    RunEnding,
    joined_status,
    new_status,
    write_status,
)
from elolab.arena.records import digest_of
from elolab.arena.reports.document import write_document
from elolab.arena.reports.testing.bisection_report import BisectionReport
from elolab.arena.testing.bisection import KIND, SKIPPED, UNDECIDED, Step
from elolab.engine.errors import UserError

STATE_NAME = "bisect.json"
FIXED = ("repository", "good", "bad", "reference")
"""Keys of the state file whose values must not change when a bisection is resumed."""
PlayTest = Callable[[Commit, Path], tuple[str, TournamentResult]]
"""Plays the test of the reference against a commit in the given folder; returns the reference's name and the result."""


class BisectionFolder:
    """A bisection and its folder; a context manager.

    Entering the context locks the folder; it raises ``UserError`` if another bisection holds the lock. Leaving the
    context records how the bisection ended. If the folder is still empty, leaving the context removes it, unless the
    folder existed before.
    """

    def __init__(self, folder: Path, report: BisectionReport, language: str) -> None:
        """Read the state of an earlier run, if any; raises ``UserError`` if the folder has other content."""
        self.folder, self.report, self._language = folder, report, language
        self.unfinished: TournamentResult | None = None
        """The step's result with which the search ended early: games are missing, or a signal has come."""
        self._status = new_status(KIND, STATE_NAME)
        if (folder / STORE_NAME).exists():
            raise UserError(f"{folder}: holds a run, not a bisection", OTHER_FOLDER)
        self._stored = self._read()
        self.skipped: Mapping[str, str] = {
            step["commit"]: step["reason"] for step in self._stored.get("steps", ()) if step["verdict"] == SKIPPED
        }
        """Commits that an earlier run has skipped: maps the name of each to the reason."""
        self._check()

    def __enter__(self) -> Self:
        self._made = [one for one in (self.folder, *self.folder.parents) if not one.exists()]
        self._lock = FolderLock(made_folder(self.folder) / LOCK_NAME)
        return self

    def __exit__(self, kind: object, error: BaseException | None, *trace: object) -> None:
        if any(self.folder.glob(f"*/{STORE_NAME}")) or self._stored or self.report.steps:
            self._conclude(error)
        self._lock.release()
        for folder in self._made:
            with suppress(OSError):  # not empty
                folder.rmdir()

    def _conclude(self, error: BaseException | None) -> None:
        if self.unfinished is not None and self.is_interrupted:
            ending = RunEnding(INTERRUPTED, self.unfinished.signal)
        elif isinstance(error, KeyboardInterrupt):
            ending = RunEnding(INTERRUPTED, error.args[0] if error.args else None)
        elif error is not None:
            ending = RunEnding(FAILED, error=" ".join(str(error).split()))
        else:
            ending = RunEnding(DECIDED if self.report.is_finished else INCOMPLETE)
        self._write_status(ending)

    @property
    def is_interrupted(self) -> bool:
        """Whether the search ended early because its run was stopped, for example by Ctrl-C."""
        return self.unfinished is not None and (self.unfinished.interrupted or self.unfinished.signal is not None)

    def search(self, play: PlayTest) -> Iterator[Step]:
        """Test commits until the search is complete, and yield each step once it is stored.

        A commit that cannot be built or started is skipped. The search ends early if games of a test are left unplayed,
        and after a signal; ``unfinished`` is then set. Raises ``UserError`` if the last commit or the reference cannot
        be built or started.
        """
        while not self.report.is_undecided and (commit := self.report.bisection.next_commit()) is not None:
            reason, result = self.skipped.get(commit.name, ""), None
            if not reason:
                reason, result = self._test(commit, play)
            if result is None:
                self._add(Step(commit, SKIPPED, reason=reason))
                yield self.report.steps[-1]
                continue
            if not result.missing:
                assert result.sequential is not None
                self._add(Step.of(commit, result.sequential, commit.short))
                yield self.report.steps[-1]
            if result.missing or (result.signal is not None and not self.report.is_finished):
                self.unfinished = result
                return

    def _test(self, commit: Commit, play: PlayTest) -> tuple[str, TournamentResult | None]:
        """Play the test of a commit; returns its result, or the reason why the commit must be skipped."""
        is_last = commit == self.report.bisection.commits[-1]
        try:
            reference, result = play(commit, self.folder / commit.short)
        except (BuildError, DetectionError) as error:
            if is_last:
                raise
            return error.problem, None
        self.report = replace(self.report, reference=reference)
        if not result.unavailable or result.stored:
            return "", result
        name, reason = next(iter(result.unavailable.items()))
        if is_last or reference in result.unavailable:
            raise UserError(f"player {name!r} cannot be started: {reason}")
        return reason, None

    def _add(self, step: Step) -> None:
        """Add a step, and write the state, the report and the status."""
        verdicts = self.report.bisection.verdicts
        if step.verdict != UNDECIDED:
            verdicts = {**verdicts, step.commit.name: step.verdict}
        bisection = replace(self.report.bisection, verdicts=verdicts)
        self.report = replace(self.report, bisection=bisection, steps=(*self.report.steps, step))
        self._check()
        replace_file(self.folder / STATE_NAME, json.dumps(self.report.data(), ensure_ascii=False, indent=1) + "\n")
        write_document(self.folder, self.report.document(self._language))
        self._write_status(RunEnding(RUNNING))

    def _read(self) -> dict[str, Any]:
        """The contents of the state file; empty if there is none. Raises ``UserError`` if the file is invalid."""
        path = self.folder / STATE_NAME
        if not path.is_file():
            return {}
        try:
            stored: dict[str, Any] = json.loads(path.read_text("utf-8"))
            complete = [stored[key] for key in FIXED] + [step["reason"] + step["verdict"] for step in stored["steps"]]
            return stored if complete else {}
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path}: not the state of a bisection", f"remove the file, or {OTHER_FOLDER}") from None

    def _check(self) -> None:
        """Raise ``UserError`` if the folder has a bisection with other values of the keys ``FIXED``.

        Values that are empty in this bisection are not compared.
        """
        here = self.report.data()
        for key in FIXED:
            if self._stored and here[key] and self._stored[key] != here[key]:
                what = f"{key} = {self._stored[key]!r} there, {here[key]!r} here"
                raise UserError(f"{self.folder}: holds another bisection: {what}", OTHER_FOLDER)

    def _write_status(self, ending: RunEnding) -> None:
        report = self.report
        conclusion = Conclusion(
            report.verdict if report.is_finished or report.is_undecided else None,
            {step.commit.name: step.verdict for step in report.steps},
        )
        steps = [step.folder for step in report.steps if step.folder]
        planned = 2 * report.pairs * report.bisection.most_steps
        specification = digest_of({key: report.data()[key] for key in FIXED})
        write_status(
            self.folder, joined_status(self._status, self.folder, steps, planned, specification, conclusion, ending)
        )
