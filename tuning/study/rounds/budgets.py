"""The rounds of a run under the budgets that it has had, and the playoff after them."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from elolab.arena.play.store import Store
from elolab.arena.run import Run, plain
from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.rounds.games import SettingsPairGames
from elolab.tuning.study.rounds.schedule import (
    PLAYOFF_SERIES,
    Leg,
    Round,
    estimated_games,
    pairs_before_playoff,
    rounds_of_legs,
)
from elolab.tuning.study.spec import TuningSpec, min_games

LEGS_METADATA = "tuning budgets"
"""The budgets that the run has had, and what those in time were taken to allow: ``schedule.Leg``."""
ESTIMATES_METADATA = "tuning estimates"
"""Of runs that were begun before budgets could be changed, instead: the games that a time was taken to allow."""
SECONDS_METADATA = "tuning seconds"
ENDED_METADATA = "tuning rounds ended"
"""How many rounds have ended, be it without games of their own."""
PLAYOFF_METADATA = "tuning playoff"
"""How many rounds were played when the playoff began, and its pairs."""


class Schedule:
    """What a run plays under its budget; whatever was begun under another one stays."""

    def __init__(self, spec: TuningSpec, run: Run, games: SettingsPairGames) -> None:
        self._spec, self._run, self._store, self._games = spec, run, run.store, games
        self._seconds_before = float(run.store.metadata(SECONDS_METADATA) or 0.0)
        self._started = time.monotonic()
        self.legs = self._planned_legs()
        """The budgets that the run has had, the last one being what it is asked for now."""
        self.rounds = rounds_of_legs(spec, self.legs)

    def _planned_legs(self) -> tuple[Leg, ...]:
        legs, wanted = legs_of(self._store, (self._run.recorded or {}).get("budget")), self._spec.budget
        if not legs:
            legs = (Leg(self._games_allowed(0), wanted.content()),)
        elif plain(legs[-1].budget) != plain(wanted.content()):
            return self._with_other_budget(legs)
        self._store.record_metadata({LEGS_METADATA: [asdict(leg) for leg in legs]})
        return legs

    def _with_other_budget(self, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
        """Go on under another budget: the rounds that were begun stay, and a playoff if no round comes after it."""
        before = rounds_of_legs(self._spec, legs)
        series = [outcome.pairing.series for outcome in self._store.outcomes()]
        games = self._games_allowed(sum(one == "" or one.startswith(PLAYOFF_SERIES) for one in series))
        playoff = self._store.metadata(PLAYOFF_METADATA)
        ended = int(self._store.metadata(ENDED_METADATA) or 0) if playoff is None else int(playoff[0])
        begun, last = begun_before(before, self._games, self._pairs_before_playoff(games), ended)
        leg = Leg(games, self._spec.budget.content(), begun, last, legs[-1].playoffs)
        more = games > legs[-1].games and len(rounds_of_legs(self._spec, (*legs, leg))) > begun
        if playoff is not None and more:
            leg, playoff = replace(leg, playoffs=leg.playoffs + 1), None
        legs = (*legs, leg)
        changed = {LEGS_METADATA: [asdict(leg) for leg in legs], PLAYOFF_METADATA: playoff}
        self._store.record_metadata(changed)
        return legs

    def _games_allowed(self, played: int) -> int:
        """The budget in games, or what its time is taken to allow: by the games that were played, or rough figures."""
        budget = self._spec.budget
        if budget.games is not None:
            return budget.games
        assert budget.seconds is not None
        if played and self._seconds_before:
            return max(min_games(self._spec), estimated_games(budget.seconds, self._seconds_before / played, 1))
        each = self._spec.limit_shares.game_seconds
        return max(min_games(self._spec), estimated_games(budget.seconds, each, self._run.concurrency))

    def correct_estimate(self, seconds: float) -> bool:
        """After the first round of a budget in time: plan the rest from the ``seconds`` that a game took.

        The rounds that may be under way by then stay. Returns whether the others are other ones now.
        """
        budget = self._spec.budget.seconds
        if budget is None or len(self.legs) != 1:
            return False
        games = estimated_games(budget, seconds, 1)
        kept = self.rounds[: 1 + self._spec.overlap]
        games = max(games, min_games(self._spec), 4 * sum(one.pairs for one in kept))
        self.legs = (*self.legs, Leg(games, self._spec.budget.content(), len(kept)))
        self._store.record_metadata({LEGS_METADATA: [asdict(leg) for leg in self.legs]})
        self.rounds = rounds_of_legs(self._spec, self.legs)
        return True

    def is_over(self, number: int) -> bool:
        """Whether the budget ends before this round."""
        if number >= len(self.rounds):
            return True
        budget = self._spec.budget.seconds
        if budget is None or not number:
            return False
        playoff = self._store.metadata(PLAYOFF_METADATA)
        if playoff is not None:
            return number >= int(playoff[0])
        return self._spent() >= budget * (1 - SHARE) and not self.has_games_from(number)

    def has_games_from(self, number: int) -> bool:
        """Whether any games are stored of that round or of what comes after it."""
        return bool(self._store.metadata(PLAYOFF_METADATA) or self._games.begun(self.rounds[number:]))

    def planned_games(self, finished: int) -> int:
        """Games of the rounds, so many of which are ``finished``, and the playoff."""
        return 2 * (sum(one.pairs for one in self.rounds) + self.playoff_pairs(finished))

    def missing_games(self, finished: Collection[int]) -> int:
        """Games that are still to be played when these rounds are ``finished``, validations not counted."""
        rounds = (one for one in self.rounds if one.number not in finished)
        missing = sum(self._games.missing_games(one.first_pair, one.pairs) for one in rounds)
        playoff, pairs = self._store.metadata(PLAYOFF_METADATA), self.playoff_pairs(len(finished))
        if playoff is None:
            return missing + 2 * pairs
        before = sum(one.pairs for one in self.rounds[: playoff[0]])
        return missing + self._games.missing_games(before, pairs, self.legs[-1].playoff_series)

    def playoff_pairs(self, finished: int) -> int:
        """Pairs of the playoff; of a budget in time by the rounds that are ``finished``."""
        recorded = self._store.metadata(PLAYOFF_METADATA)
        if recorded is not None:
            return int(recorded[1])
        games = self._spec.budget.games
        if games is not None:
            room = games // 2 - sum(one.pairs for one in self.rounds)  # less, if a larger budget has left too little
            return max(0, min(room, games // 2 - self._pairs_before_playoff(games)))
        rounds = list(self.rounds)[: finished or None]
        share = self._spec.limit_shares.playoff_share(SHARE)
        return max(3, round(sum(one.pairs for one in rounds) * share / (1 - share)))

    def record_playoff(self, finished: int) -> int:
        """Keep after how many rounds the playoff began; returns its pairs."""
        pairs = self.playoff_pairs(finished)
        self._store.record_metadata({PLAYOFF_METADATA: [finished, pairs]})
        return pairs

    def _pairs_before_playoff(self, games: int) -> int:
        return pairs_before_playoff(games, self._spec.limit_shares.playoff_share(SHARE))

    def _spent(self) -> float:
        """Seconds of this and of earlier runs."""
        return self._seconds_before + time.monotonic() - self._started

    def record_spent(self) -> None:
        """Keep the time that the run has taken."""
        self._store.record_metadata({SECONDS_METADATA: self._spent()})

    def record_ended(self, rounds: int) -> None:
        """Keep how many rounds have ended, which may be fewer now than when the run was stopped, and the time."""
        ended = max(rounds, int(self._store.metadata(ENDED_METADATA) or 0))
        self._store.record_metadata({ENDED_METADATA: ended, SECONDS_METADATA: self._spent()})


def begun_before(rounds: Sequence[Round], games: SettingsPairGames, pairs: int, ended: int) -> tuple[int, int | None]:
    """How many rounds a study keeps that is to have ``pairs`` before its playoff, and how much of the last of them.

    A round that was begun stays whole if there is room for it, or for a part of one after it. Otherwise it ends where
    its games end, or the budget. The first rounds, which have ``ended``, stay in any case: by games alone it cannot be
    told, for settings that meet themselves, or meet again, play none.
    """
    begun = max(games.begun(rounds), default=-1) + 1
    while begun > ended:
        last = rounds[begun - 1]
        room = max(0, pairs - last.first_pair) // last.game_pairs
        if room >= last.settings_pairs:
            return begun, None
        kept = min(last.settings_pairs, max(room, games.complete_settings_pairs(last)))
        if kept:
            return begun, kept
        begun -= 1
    return ended, None


def legs_of(store: Store, budget: Mapping[str, Any] | None = None) -> tuple[Leg, ...]:
    """The budgets that a run has had; of one that was begun before they could be changed, the one recorded then."""
    recorded = store.metadata(LEGS_METADATA)
    if recorded is not None:
        return tuple(Leg(**leg) for leg in recorded)
    if budget is None:
        return ()
    estimates = store.metadata(ESTIMATES_METADATA) or [budget["games"]]
    return tuple(Leg(games, budget, rounds) for rounds, games in enumerate(estimates))
