"""The examination of a program: runs the checks one after another, each with a process in a known state."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from elolab.arena.checking.dialects import dialect_named
from elolab.arena.checking.dialects.dialect import Dialect, Knowledge
from elolab.arena.checking.findings import CheckSettings, Failed, LimitRemains, Remark, SearchAnswer, Skipped
from elolab.arena.checking.sample_positions import positions_of
from elolab.arena.players.external import LogDialogue
from elolab.arena.players.player import PlayerClock, PlayerFault
from elolab.arena.players.process import EngineProcess
from elolab.engine.errors import UserError
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits

Test = Callable[["Examination"], Remark | None]
"""Function that tests one requirement; returns a remark to report, ``None`` if there is nothing to report.

Raises ``Failed`` if the program does not meet the requirement, ``Skipped`` if it cannot be tested.
"""


@dataclass(frozen=True)
class Check:
    """One check of the examination; the message ``demand.NAME`` describes the required behaviour."""

    name: str
    test: Test
    is_recommendation: bool = False
    """Whether a failure is only reported as advice and does not make the examination fail."""
    needs: tuple[str, ...] = ("start_position",)
    """Names of earlier checks; if one of them failed, this check is skipped."""
    is_fresh: bool = False
    """Whether the check needs a new process; otherwise it may reuse the process of the previous check."""


@dataclass(frozen=True)
class CheckOutcome:
    """The result of one check."""

    check: Check
    verdict: str
    """Result of the check: ``passed``, ``failed`` or ``skipped``."""
    remark: Remark | None = None
    dialogue: tuple[str, ...] = ()
    """Lines exchanged with the program during a failed check, with time and direction; empty for other verdicts."""
    seconds: float = 0.0


class Examination:
    """Runs checks on one program; close it when done.

    A check uses the process of the previous check, unless that check failed or this one needs a new process. A check
    that meets ``LimitRemains`` is run again with a new process.
    """

    def __init__(self, settings: CheckSettings, checks: Sequence[Check], log: LogDialogue | None = None) -> None:
        """``checks`` run in the given order.

        ``log`` is called for every new process. It returns a function that records the process's dialogue, or ``None``
        to record nothing.
        """
        self.settings = settings
        self._log = log
        self.checks = tuple(checks)
        self.knowledge = Knowledge()
        self.positions = positions_of(settings.game)
        self.start_position = self.positions.ordinary[0]
        self.name = ""
        """Name that the program gives itself; empty until known."""
        self._dialect_class: type[Dialect[Any]] = dialect_named(settings.protocol)
        self._dialect: Dialect[Any] | None = None
        self._blocked: set[str] = set()
        """Names of failed checks, and of checks that were skipped because they need a failed or skipped one."""

    @property
    def dialect(self) -> Dialect[Any]:
        """The connection to the current process; there must be one."""
        assert self._dialect is not None
        return self._dialect

    def run(self) -> Iterator[CheckOutcome]:
        """Run all checks, one after another; yields the outcome of each."""
        for entry in self.checks:
            check = entry
            if entry.name in self._dialect_class.recommendations:
                check = dataclasses.replace(entry, is_recommendation=True)
            began = time.monotonic()
            outcome = self._try(check)
            if outcome.verdict == "failed":
                self._blocked.add(check.name)
            yield dataclasses.replace(outcome, seconds=round(time.monotonic() - began, 3))

    def _try(self, check: Check) -> CheckOutcome:
        missing = [name for name in check.needs if name in self._blocked]
        if missing:
            self._blocked.add(check.name)
            return CheckOutcome(check, "skipped", Remark("skip.needs", {"names": ", ".join(missing)}))
        if check.is_fresh:
            self.close()
        began_ns = time.monotonic_ns()
        try:
            if self._dialect is None and check.needs:
                self.start()
                began_ns = time.monotonic_ns()
            return CheckOutcome(check, "passed", self._test(check))
        except Skipped as skipped:
            if self._dialect is not None and self.dialect.process.dialogue.tail(began_ns):
                self.close()  # the process may be in the middle of a search
            return CheckOutcome(check, "skipped", skipped.remark)
        except Failed as failed:
            remark = failed.remark
        except PlayerFault as fault:
            remark = Remark("failure.fault", {"text": fault.text})
        dialogue = None if self._dialect is None else self.dialect.process.dialogue
        self.close()  # the state of the process is unknown
        return CheckOutcome(check, "failed", remark, () if dialogue is None else tuple(dialogue.tail(began_ns)))

    def _test(self, check: Check) -> Remark | None:
        """Run a check's test; while the test raises ``LimitRemains``, repeat it with a new process. Returns its remark.

        At most two new processes are needed. The first may get a depth limit that only tests whether the program
        supports one, and then keep that limit. The second gets none, because the support is then known.
        """
        for _ in range(2):
            try:
                return check.test(self)
            except LimitRemains:
                self.start()
        return check.test(self)

    # For checks.

    def start(self) -> None:
        """Start a new process, perform the handshake, set the options and begin a game."""
        self.connect()
        self.dialect.settled()
        self.dialect.begin_game()

    def connect(self) -> None:
        """Start a new process, perform the handshake and set the options.

        Raises ``UserError`` if an option cannot be set.
        """
        self.close()
        command = self.settings.command
        process = EngineProcess(command, self.settings.directory)
        if self._log is not None:
            process.dialogue.sink = self._log(PurePath(command[0]).name, process.command, process.process_id)
        self._dialect = self._dialect_class(process, self.settings, self.knowledge)
        self.dialect.greet()
        self.name = self.dialect.name or self.name
        try:
            self.dialect.configure()
        except PlayerFault as fault:
            raise UserError(f"check: {fault.text}") from None

    def close(self) -> None:
        """End the process, if there is one."""
        if self._dialect is not None:
            self.dialect.process.end()
            self._dialect = None

    def search(
        self, position: Position, limits: Limits | None = None, clock: PlayerClock | None = None
    ) -> SearchAnswer:
        """Search a position; raises ``Failed`` unless the answer is a legal move."""
        answer = self.dialect.search(position, limits, clock)
        expect_legal(position, answer)
        return answer

    def need_limit(self, name: str) -> None:
        """Raise ``Skipped`` if the protocol cannot express the limit ``name``."""
        if name not in self.dialect.limits:
            raise self.dialect.lacking()


def expect_legal(position: Position, answer: SearchAnswer, banned: Collection[str] = ()) -> None:
    """Raise ``Failed`` unless the answer is a legal move that is not banned."""
    if answer.has_resigned:
        return
    if answer.move is None:
        raise Failed("failure.no_move", said=answer.line, position=position.text)
    if answer.move not in position.legal_moves():
        raise Failed("failure.illegal_move", said=answer.line, position=position.text)
    if answer.move in banned:
        raise Failed("failure.banned_move", said=answer.line, banned=" ".join(sorted(banned)))


def full_clock(limits: Limits) -> PlayerClock:
    """Both players' clocks at the beginning of a game with these limits."""
    assert limits.clock_ms is not None
    return PlayerClock(
        limits.clock_ms * 1_000_000, limits.increment_ms, limits.clock_ms, limits.increment_ms,
        limits.moves_per_control, limits.moves_per_control,
    )  # fmt: skip
