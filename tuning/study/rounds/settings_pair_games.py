"""Plays settings pairs (two sets of values) as games of a run, and counts their outcomes.

All counts come from the store, which keeps both sets of values with every game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from elolab.arena.notation.openings import Suite
from elolab.arena.play.scores import MatchScores
from elolab.arena.records import Outcome, PlayerSpec
from elolab.arena.run import OTHER_OR_REMOVE, Run, RunError
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.settings.limits import Limits
from elolab.tuning.matches import Match, MatchTable
from elolab.tuning.study.rounds.pairs_of_settings import Round, ScheduledSettingsPair
from elolab.tuning.study.space import Values
from elolab.tuning.study.study_spec import TuningSpec

LIMIT_DETAIL = "limit"
"""Name of the detail, stored with each game, that holds its search limit in a study with several limits."""
SETTINGS_DETAIL = "sets"
"""Name of the detail, stored with each game, that holds the first and the second set of values of its settings pair."""
MAX_PLAYERS = 4096
"""Maximum number of ``PlayerSpec`` objects that are cached."""


class SettingsPairResults(ABC):
    """Interface that plays settings pairs (two sets of values) and counts the outcomes. Stored results are not played
    again.
    """

    @abstractmethod
    def play_parts(
        self,
        parts: Iterable[Sequence[ScheduledSettingsPair] | None],
        finished: Callable[[Outcome], None] = lambda outcome: None,
        scores: MatchScores | None = None,
    ) -> bool:
        """Play the missing games, part by part; return False if the run stopped before all were played.

        ``parts`` yields ``None`` while the next part depends on games in progress. ``finished`` is called with each
        outcome; the key of the outcome is one of ``missing_keys``. Matches are added to ``scores``, which the progress
        display shows.
        """

    @abstractmethod
    def missing_keys(self, pairs: Iterable[ScheduledSettingsPair]) -> set[str]:
        """Keys of the results of ``pairs`` that are not stored."""

    @abstractmethod
    def missing_at(self, first_pair: int, pairs: int, series: str = "") -> int:
        """Number of games that are not stored, among the ``pairs`` game pairs of a series from ``first_pair`` on."""

    @abstractmethod
    def is_complete(self, scheduled: ScheduledSettingsPair) -> bool:
        """Whether all games of the settings pair are stored."""

    @abstractmethod
    def counts(self, scheduled: ScheduledSettingsPair) -> Pentanomial:
        """Outcomes of a settings pair from the first set's point of view; empty if both sets are equal."""

    def games_of(self, outcome: Outcome) -> int:
        """Number of games in an outcome from ``play_parts``: one, or all games of a match that a command plays."""
        return 1

    def begun(self, rounds: Sequence[Round]) -> set[int]:
        """Numbers of the rounds that have stored games."""
        return {one.number for one in rounds if self.missing_at(one.first_pair, one.pairs) < 2 * one.pairs}

    def complete_settings_pairs(self, one: Round) -> int:
        """Number of settings pairs of the round that come before the first one with missing games."""
        for place in range(one.settings_pairs):
            if self.missing_at(one.first_pair + place * one.game_pairs, one.game_pairs):
                return place
        return one.settings_pairs


class SettingsPairGames(SettingsPairResults):
    """The games of settings pairs: plays the games that the store lacks, and counts the outcomes of stored games."""

    def __init__(self, spec: TuningSpec, suite: Suite, openings: Sequence[int], run: Run) -> None:
        self._spec, self._openings, self._run = spec, openings, run
        self._table = MatchTable(spec.conditions.of_games, suite, run)
        self._player = lru_cache(MAX_PLAYERS)(self._make_player)
        self._settings: dict[tuple[str, int], tuple[Values, Values]] = {
            pairing.place: (tuple(first), tuple(second))
            for pairing, (first, second) in run.store.details(SETTINGS_DETAIL)
        }
        """Both sets of values of each stored game, by the game's series and number."""

    def play_parts(
        self,
        parts: Iterable[Sequence[ScheduledSettingsPair] | None],
        finished: Callable[[Outcome], None] = lambda outcome: None,
        scores: MatchScores | None = None,
    ) -> bool:
        """Play the games that the store lacks, part by part; return False if the run stopped before all were played.

        ``parts`` yields ``None`` while the next part depends on games in progress. ``finished`` is called with each
        game's outcome. Matches are added to ``scores``, which the progress display shows.
        """
        settings: dict[tuple[str, int], tuple[Values, Values]] = {}

        def matches(part: Sequence[ScheduledSettingsPair]) -> list[Match]:
            found = []
            for scheduled in part:
                found.append(self._checked(scheduled))
                both = (scheduled.settings.first, scheduled.settings.second)
                settings.update(dict.fromkeys(found[-1].places, both))
            return found

        def ended(outcome: Outcome) -> None:
            self._settings[outcome.pairing.place] = settings.pop(outcome.pairing.place)
            finished(outcome)

        return self._table.play_parts((None if part is None else matches(part) for part in parts), ended, scores)

    def _match(self, scheduled: ScheduledSettingsPair) -> Match:
        """The match of a settings pair; it has no games if both sets are equal."""
        first, second = scheduled.settings.first, scheduled.settings.second
        pairs = range(scheduled.first_pair, scheduled.first_pair + (scheduled.pairs if first != second else 0))
        numbers = tuple(pair % len(self._openings) for pair in pairs)
        shares = self._spec.limit_shares
        limits = shares.target if scheduled.series else shares.of_settings_pair(scheduled.settings.number)
        detail: dict[str, Any] = {SETTINGS_DETAIL: [list(first), list(second)]}
        if shares.content():
            detail[LIMIT_DETAIL] = str(limits)
        return Match(
            variant=self._player(first, limits),
            reference=self._player(second, limits),
            openings=tuple(self._openings[number] for number in numbers),
            numbers=tuple(2 * pair for pair in pairs),
            pair_numbers=numbers,
            series=scheduled.series,
            round=scheduled.round,
            detail=detail,
        )

    def _checked(self, scheduled: ScheduledSettingsPair) -> Match:
        """The match of a settings pair, after a check of the store.

        Raises ``RunError`` if the store has games of other sets of values under the match's game numbers.
        """
        match, settings = self._match(scheduled), (scheduled.settings.first, scheduled.settings.second)
        for place in match.places:
            if self._settings.get(place, settings) != settings:
                raise RunError(
                    f"{self._run.directory}: game {place[1]} was played between other settings than this specification "
                    "gives",
                    OTHER_OR_REMOVE,
                )
        return match

    def missing_keys(self, pairs: Iterable[ScheduledSettingsPair]) -> set[str]:
        """Keys of the settings pairs' games that the store lacks.

        Raises ``RunError`` if the store has games of other sets of values under the same game numbers.
        """
        jobs = self._table.in_turn([self._checked(pair) for pair in pairs])
        return {job.key for job in jobs} - self._run.scores.keys()

    def missing_at(self, first_pair: int, pairs: int, series: str = "") -> int:
        """Number of games that are not stored, among the ``pairs`` game pairs of a series from ``first_pair`` on."""
        return sum((series, number) not in self._settings for number in range(2 * first_pair, 2 * (first_pair + pairs)))

    def is_complete(self, scheduled: ScheduledSettingsPair) -> bool:
        """Whether all games of the settings pair are stored."""
        return not self._table.missing_games([self._match(scheduled)])

    def counts(self, scheduled: ScheduledSettingsPair) -> Pentanomial:
        """Outcomes of a settings pair from the first set's point of view; empty if both sets are equal."""
        match = self._match(scheduled)
        counts = self._table.counts(match)
        self._table.forget(match)
        return counts

    def _make_player(self, values: Values, limits: Limits) -> PlayerSpec:
        return self._spec.player(dict(zip(self._spec.space.names, values, strict=True)), limits)
