"""Bisection of commits by sequential tests: which commit to test next, and which commit is the first bad one.

Each step tests a reference, usually the good commit, against one commit. The commit is bad if the test accepts that the
reference is stronger (H1), and good if it accepts H0. Commits that cannot be built are skipped. The next step is a pure
function of the verdicts so far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elolab.arena.builds.repository import Commit
from elolab.arena.sequential import SequentialRun

KIND = "bisection"
"""Value of ``kind`` in the status file of a bisection."""
GOOD, BAD, SKIPPED, UNDECIDED = "good", "bad", "skipped", "undecided"


@dataclass(frozen=True)
class Step:
    """A tested or skipped commit. Elo is the strength of the commit relative to the reference."""

    commit: Commit
    verdict: str
    """Result of the test: ``GOOD``, ``BAD``, ``SKIPPED`` or ``UNDECIDED``."""
    games: int = 0
    """Number of games up to the end of the test."""
    elo: float | None = None
    """Median-unbiased estimate in logistic Elo; ``None`` for a skipped commit."""
    elo_low: float | None = None
    elo_high: float | None = None
    """Upper bound of the 95 % interval of ``elo``, in logistic Elo; ``elo_low`` is the lower bound."""
    llr: float | None = None
    """Log-likelihood ratio of the test, positive if the reference is better; ``None`` for a skipped commit."""
    folder: str = ""
    """Name of the subfolder with the games, in the folder of the bisection."""
    reason: str = ""
    """Reason for skipping the commit; otherwise empty."""

    @classmethod
    def of(cls, commit: Commit, run: SequentialRun, folder: str) -> Step:
        """Create the step for a test of ``commit``. The first player of the test must be the reference."""
        verdict = {"H1 accepted": BAD, "H0 accepted": GOOD}.get(run.verdict, UNDECIDED)
        estimate = run.settings.estimate(run.counts)
        return cls(
            commit, verdict, run.games_seen, -estimate.elo, -estimate.elo_high, -estimate.elo_low,
            run.state.log_likelihood_ratio, folder,
        )  # fmt: skip

    def data(self) -> dict[str, object]:
        """The step as plain data for JSON. Infinite bounds become ``None``."""
        own = {name: value for name, value in vars(self).items() if name != "commit"}
        finite = {name: None if value in (math.inf, -math.inf) else value for name, value in own.items()}
        return {"commit": self.commit.name, "subject": self.commit.subject, "date": self.commit.date, **finite}


@dataclass(frozen=True)
class Bisection:
    """A range of commits, with the verdicts so far."""

    commits: Sequence[Commit]
    """The commits after the good commit up to and including the bad one, oldest first; at least one."""
    verdicts: Mapping[str, str]
    """Verdicts on commits (``GOOD``, ``BAD`` or ``SKIPPED``), keyed by the commit's name."""

    @property
    def most_steps(self) -> int:
        """Maximum number of tests if no commit is skipped: one for the last commit, then one for each halving."""
        return 1 + (len(self.commits) - 1).bit_length()

    def _known(self, verdict: str) -> list[int]:
        return [index for index, one in enumerate(self.commits) if self.verdicts.get(one.name) == verdict]

    @property
    def _span(self) -> tuple[int, int]:
        """Indices in ``commits`` of the last good commit and of the first bad commit after it.

        The first index is -1 if only the commit before ``commits`` is known to be good.
        """
        last = len(self.commits) - 1
        bad = min(self._known(BAD), default=last)
        return max((index for index in self._known(GOOD) if index < bad), default=-1), bad

    @property
    def is_without_fault(self) -> bool:
        """Whether the last commit is good; there is then no bad commit to find."""
        return self.verdicts.get(self.commits[-1].name) == GOOD

    @property
    def suspects(self) -> list[Commit]:
        """The commits that may be the first bad one. At the end, only skipped commits can leave more than one."""
        good, bad = self._span
        return [] if self.is_without_fault else list(self.commits[good + 1 : bad + 1])

    def next_commit(self) -> Commit | None:
        """The commit to test next; ``None`` once no commit is left to test.

        The last commit is tested first, then always the commit closest to the middle between last good and first bad
        one.
        """
        last = self.commits[-1]
        if last.name not in self.verdicts:
            return last
        if self.is_without_fault:
            return None
        good, bad = self._span
        open_ones = [index for index in range(good + 1, bad) if self.commits[index].name not in self.verdicts]
        if not open_ones:
            return None
        return self.commits[min(open_ones, key=lambda index: abs(2 * index - good - bad))]
