"""Allocation of games: after each round, only matches that contribute to an undecided question get more games.

The numbers of pairs per round are fixed beforehand. An allocation is a pure function of the plan and of the results up
to the interim analyses. So neither the order in which games end nor the concurrency matters, and a resumed run
computes the same allocation from the stored games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from elolab.tuning.ablation.comparison_verdicts import UNDECIDED, Question, VerdictRule, analyses_of, futile, judged


class Allocation:
    """State of an ablation: the number of pairs counted in every match, and the verdict on every question.

    A question is a comparison, or an effect of a factorial, that gets a verdict.
    """

    def __init__(
        self,
        pairs: Sequence[int],
        questions: Sequence[Question],
        rule: VerdictRule,
        max_pairs: int | None = None,
        together: Callable[[Sequence[int]], int] = sum,
    ) -> None:
        """``pairs`` has the maximum number of pairs of each match, and ``max_pairs`` limits the total.

        ``together`` computes the total from the pairs of each match, because matches may share pairs.
        """
        self.rule = rule
        self.pairs = [0] * len(pairs)
        """Number of pairs counted so far in each match."""
        self._analyses = [analyses_of(planned, rule.rounds) for planned in pairs]
        self._together = together
        self._max_pairs = sum(pairs) if max_pairs is None else max_pairs
        self.questions = tuple(questions)

    def next_pairs(self) -> tuple[int, ...] | None:
        """Number of pairs that each match must have at the next analysis, or ``None`` if there is no further analysis.

        A match continues while one of its questions is undecided and not stopped for futility. These matches advance
        together. If their total would exceed its maximum, none of them advances.
        """
        wanted = []
        for match, pairs in enumerate(self.pairs):
            is_open = any(not question.is_given_up for question in self._undecided(match))
            later = [analysis for analysis in self._analyses[match] if analysis > pairs]
            wanted.append(later[0] if is_open and later else pairs)
        return None if wanted == self.pairs or self._together(wanted) > self._max_pairs else tuple(wanted)

    def _undecided(self, match: int) -> list[Question]:
        """The undecided questions that a match contributes to."""
        return [one for one in self.questions if one.verdict == UNDECIDED and match in one.matches]

    def why_ended(self, match: int, planned: int) -> str:
        """Why the match with index ``match`` gets no more pairs: a value of ``AblationRow.ended``.

        ``planned`` is the match's maximum number of pairs.
        """
        undecided = self._undecided(match)
        if self.pairs[match] >= planned:
            return "complete"
        if not undecided:
            return "decided"
        return "futility" if all(question.is_given_up for question in undecided) else "games"

    def analyse(self, pairs: Sequence[int]) -> None:
        """Judge the questions at an interim analysis; ``pairs`` is the new number of pairs of each match."""
        self.pairs = list(pairs)
        questions = [
            question.with_estimate_after(min(pairs[match] for match in question.matches)) for question in self.questions
        ]
        verdicts = judged(questions, self.rule)
        questions = [replace(question, verdict=one) for question, one in zip(questions, verdicts, strict=True)]
        self.questions = tuple(
            replace(question, is_given_up=question.is_given_up or is_futile)
            for question, is_futile in zip(questions, futile(questions, self.rule), strict=True)
        )
