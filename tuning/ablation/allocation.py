"""Allocation of games: in rounds fixed beforehand, games go only to matches with an undecided question.

An allocation is a pure function of the plan and of results up to the interim analyses. So neither the order in which
games end nor the concurrency matters, and a resumed run replays the allocation from the stored games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from elolab.tuning.ablation.verdicts import UNDECIDED, EffectEstimate, Question, Rule, analyses_of, futile, judged


@dataclass(frozen=True)
class ResearchQuestion:
    """One question of a run: its matches, and how to estimate the answer from them."""

    matches: tuple[int, ...]
    """Indices of matches, which all have the same number of planned pairs."""
    estimate_after: Callable[[int], EffectEstimate]
    """The estimate from the first ``n`` pairs of each match."""


class Allocation:
    """The state of a run: counted pairs of every match, and the verdict on every question."""

    def __init__(
        self,
        pairs: Sequence[int],
        research_questions: Sequence[ResearchQuestion],
        rule: Rule,
        max_pairs: int | None = None,
        together: Callable[[Sequence[int]], int] = sum,
    ) -> None:
        """``pairs`` are the maximum pairs per match; ``max_pairs`` limits the total, if given.

        ``together`` computes that total, because matches may share pairs.
        """
        self.rule = rule
        self.pairs = [0] * len(pairs)
        """Counted pairs of each match."""
        self._analyses = [analyses_of(planned, rule.rounds) for planned in pairs]
        self._together = together
        self._max_pairs = sum(pairs) if max_pairs is None else max_pairs
        self.research_questions = tuple(research_questions)
        self.questions = tuple(
            Question(asked.estimate_after(0), self._analyses[asked.matches[0]], 0) for asked in self.research_questions
        )
        self.given_up = (False,) * len(research_questions)
        """Questions stopped for futility, which get no more games."""

    def next_pairs(self) -> tuple[int, ...] | None:
        """Pairs that each match must have at the next analysis, or ``None`` if there is no next one.

        A match continues while one of its questions is undecided and not stopped for futility. All such matches advance
        together; none does if the total would exceed its maximum.
        """
        wanted = [self._wanted(match) for match in range(len(self.pairs))]
        return None if wanted == self.pairs or self._together(wanted) > self._max_pairs else tuple(wanted)

    def _wanted(self, match: int) -> int:
        is_open = any(
            question.verdict == UNDECIDED and not given_up and match in asked.matches
            for question, asked, given_up in zip(self.questions, self.research_questions, self.given_up, strict=True)
        )
        later = [analysis for analysis in self._analyses[match] if analysis > self.pairs[match]]
        return later[0] if is_open and later else self.pairs[match]

    def why_ended(self, match: int, planned: int) -> str:
        """Why a match gets no more pairs: a value of ``AblationRow.ended``."""
        if self.pairs[match] >= planned:
            return "complete"
        open_questions = [
            given_up
            for question, asked, given_up in zip(self.questions, self.research_questions, self.given_up, strict=True)
            if match in asked.matches and question.verdict == UNDECIDED
        ]
        if not open_questions:
            return "decided"
        return "futility" if all(open_questions) else "games"

    def analyse(self, pairs: Sequence[int]) -> None:
        """Record the pairs of every match, and judge the questions that have reached a new analysis."""
        self.pairs = list(pairs)
        questions = []
        for question, asked in zip(self.questions, self.research_questions, strict=True):
            played = min(self.pairs[match] for match in asked.matches)
            if question.verdict == UNDECIDED and played:
                done = question.analyses.index(played) + 1
                question = replace(question, estimate=asked.estimate_after(played), analyses_done=done)
            questions.append(question)
        verdicts = judged(questions, self.rule)
        self.questions = tuple(
            replace(question, verdict=verdict) for question, verdict in zip(questions, verdicts, strict=True)
        )
        now_futile = futile(self.questions, self.rule)
        self.given_up = tuple(before or now for before, now in zip(self.given_up, now_futile, strict=True))
