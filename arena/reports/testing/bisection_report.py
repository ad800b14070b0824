"""The data of a bisection, shown as lines in a terminal, as plain data and as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elolab.arena.builds.repository import Commit
from elolab.arena.reports.document import Commands, Document, Facts, Note, Section, TextTable, table_of
from elolab.arena.reports.drawing.fonts import chart_language
from elolab.arena.reports.plots import Plot
from elolab.arena.reports.render import REPORTS
from elolab.arena.reports.testing.charts import bisection_chart
from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.numbers import given_text, percent_text, signed
from elolab.arena.testing.bisection import SKIPPED, UNDECIDED, Bisection, Step
from elolab.engine.language import Catalogue

COLUMNS = ("step", "commit", "date", "subject", "verdict", "games", "elo", "interval", "folder")


@dataclass(frozen=True)
class BisectionReport:
    """A bisection and its steps so far."""

    repository: str
    good: Commit
    """The last good commit, directly before the commits to search."""
    reference: str
    """Name of the player against which every commit is tested."""
    settings: SequentialSettings
    pairs: int
    """Maximum number of game pairs of each test."""
    bisection: Bisection
    steps: Sequence[Step]
    """The tested and the skipped commits, in the order of the steps."""
    command: str
    """The command line that resumes the bisection; empty if unknown."""

    @property
    def is_undecided(self) -> bool:
        """Whether the last test ended at its maximum length without a verdict, so that the bisection cannot go on."""
        return bool(self.steps) and self.steps[-1].verdict == UNDECIDED

    @property
    def is_finished(self) -> bool:
        """Whether no commit is left to test."""
        return not self.is_undecided and self.bisection.next_commit() is None

    def plan(self, say: Catalogue) -> str:
        """A sentence on the maximum number of tests and games, and on the probability of a wrong result."""
        most = self.bisection.most_steps
        wrong = 1 - (1 - max(self.settings.alpha, self.settings.beta)) ** most
        hypotheses = {name: given_text(getattr(self.settings, name)) for name in ("elo0", "elo1")}
        unit = Catalogue("elolab.arena", say.language)(f"verdict.unit_{self.settings.model}")
        return say(
            "bisect.plan", commits=len(self.bisection.commits), good=self.good.short, steps=most, unit=unit,
            games=2 * self.pairs * most, reference=self.reference, percent=percent_text(wrong), **hypotheses,
        )  # fmt: skip

    def result(self, say: Catalogue) -> str:
        """A sentence on the result so far."""
        suspects = self.bisection.suspects
        if self.is_undecided:
            return say("bisect.stopped", commit=self.steps[-1].commit.short, pairs=self.pairs)
        if self.bisection.is_without_fault:
            return say("bisect.nothing", commit=self.bisection.commits[-1].short, reference=self.reference)
        if not self.is_finished:
            return say("bisect.unfinished", count=len(suspects))
        last = suspects[-1]
        if len(suspects) == 1:
            return say("bisect.found", commit=last.name, date=last.date, subject=last.subject)
        names = say("bisect.comma").join(one.short for one in suspects)
        return say("bisect.range", count=len(suspects), names=names)

    @property
    def verdict(self) -> str:
        """The result as one word: ``found`` (one commit), ``range`` (several), ``nothing`` (none) or ``undecided``."""
        if self.is_undecided:
            return UNDECIDED
        if self.bisection.is_without_fault:
            return "nothing"
        return "found" if len(self.bisection.suspects) == 1 else "range"

    def step_line(self, step: Step, say: Catalogue) -> str:
        """A line for a terminal on one step: commit, verdict, number of games, and Elo with its interval."""
        about = {"number": self.steps.index(step) + 1, "commit": step.commit.short, "subject": step.commit.subject}
        if step.verdict == SKIPPED:
            return say("bisect.step_skipped", reason=step.reason, **about)
        numbers = {"elo": step.elo, "low": step.elo_low, "high": step.elo_high}
        shown = {name: signed(value) for name, value in numbers.items() if value is not None}
        verdict = say(f"bisect.{step.verdict}")
        return say("bisect.step_tested", verdict=verdict, games=step.games, reference=self.reference, **shown, **about)

    def data(self) -> dict[str, Any]:
        """The bisection as plain data."""
        say = Catalogue(REPORTS, "en")
        return {
            "repository": self.repository,
            "good": self.good.name,
            "bad": self.bisection.commits[-1].name,
            "reference": self.reference,
            "commits": [one.name for one in self.bisection.commits],
            "most_steps": self.bisection.most_steps,
            "steps": [step.data() for step in self.steps],
            "finished": self.is_finished,
            "suspects": [one.name for one in self.bisection.suspects],
            "result": self.result(say),
        }

    def document(self, language: str) -> Document:
        """The report: the result, the steps with a chart, and the list of commits."""
        say = Catalogue(REPORTS, language)
        tested = [step for step in self.steps if step.elo is not None]
        commands = (Commands((self.command,)),) if self.command else ()
        sections = [Section("result", say("bisect.result"), (Facts(self._facts(say)), *commands))]
        if self.steps:
            sections.append(Section("steps", say("bisect.steps"), (self._table(say), *self._plots(tested, say))))
        sections.append(Section("commits", say("bisect.commits"), (Note(say("bisect.line")), self._line(say))))
        return Document(say("bisect.title"), say("bisect.kicker"), self.result(say), tuple(sections), language)

    def _facts(self, say: Catalogue) -> list[tuple[str, str]]:
        return [
            (say("bisect.repository"), self.repository),
            (say("bisect.good_commit"), f"{self.good.name} ({self.good.date}, {self.good.subject})"),
            (say("bisect.reference"), self.reference),
            (say("bisect.planned"), self.plan(say)),
        ]

    def _table(self, say: Catalogue) -> TextTable:
        rows = []
        for number, step in enumerate(self.steps, start=1):
            elo, interval = "", ""
            if step.elo is not None and step.elo_low is not None and step.elo_high is not None:
                elo, interval = signed(step.elo), f"{signed(step.elo_low)} … {signed(step.elo_high)}"
            verdict = say(f"bisect.{step.verdict}")
            rows.append((str(number), step.commit.short, step.commit.date, step.commit.subject, verdict,
                         str(step.games), elo, interval, step.folder))  # fmt: skip
        return table_of(
            [say(f"bisect.{name}") for name in COLUMNS], rows, numbers=(0, 5, 6, 7), sentence=(3,), whole=(1, 2)
        )

    def _plots(self, tested: Sequence[Step], say: Catalogue) -> list[Plot]:
        if not tested:
            return []
        figure = bisection_chart(self.bisection.commits, tested, chart_language(say.language))
        caption = say("plot.bisection_caption", reference=self.reference)
        return [Plot("bisection", say("plot.bisection"), caption, figure)]

    def _line(self, say: Catalogue) -> TextTable:
        suspects = {one.name for one in self.bisection.suspects} if self.is_finished else set()
        rows = []
        for commit in self.bisection.commits:
            verdict = self.bisection.verdicts.get(commit.name)
            words = [say(f"bisect.{verdict}")] if verdict else []
            words += [say("bisect.suspect")] if commit.name in suspects else []
            rows.append((commit.short, commit.date, commit.subject, say("bisect.comma").join(words)))
        heads = [say(f"bisect.{name}") for name in ("commit", "date", "subject", "verdict")]
        return table_of(heads, rows, sentence=(2,), whole=(0, 1))
