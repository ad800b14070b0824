"""The rounds of a run under its successive budgets, and the playoff after them."""

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
"""Metadata with the run's budgets and the games estimated for budgets in time: ``schedule.Leg``."""
ESTIMATES_METADATA = "tuning estimates"
"""Metadata of runs from before budgets could change: the games estimated for a budget in time."""
SECONDS_METADATA = "tuning seconds"
ENDED_METADATA = "tuning rounds ended"
"""Metadata with the number of ended rounds, including rounds without games of their own."""
PLAYOFF_METADATA = "tuning playoff"
"""Metadata with the number of rounds before the playoff, and the playoff's pairs."""


class Schedule:
    """The schedule under the current budget; rounds begun under earlier ones stay."""

    def __init__(self, spec: TuningSpec, run: Run, games: SettingsPairGames) -> None:
        self._spec, self._run, self._store, self._games = spec, run, run.store, games
        self._seconds_before = float(run.store.metadata(SECONDS_METADATA) or 0.0)
        self._started = time.monotonic()
        self.legs = self._planned_legs()
        """The run's budgets; the last is the current one."""
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
        """Continue under another budget: begun rounds stay, and a begun playoff if no round follows it."""
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
        """The budget in games; for a budget in time, an estimate from stored games or rough figures."""
        budget = self._spec.budget
        if budget.games is not None:
            return budget.games
        assert budget.seconds is not None
        if played and self._seconds_before:
            return max(min_games(self._spec), estimated_games(budget.seconds, self._seconds_before / played, 1))
        each = self._spec.limit_shares.game_seconds
        return max(min_games(self._spec), estimated_games(budget.seconds, each, self._run.concurrency))

    def correct_estimate(self, seconds: float) -> bool:
        """Replan a budget in time after its first round, given the ``seconds`` per game.

        Rounds that may already be in progress stay. Returns whether the others changed.
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
        """Whether any games of that round or later ones are stored."""
        return bool(self._store.metadata(PLAYOFF_METADATA) or self._games.begun(self.rounds[number:]))

    def planned_games(self, finished: int) -> int:
        """Games of the rounds and the playoff; ``finished`` is the number of finished rounds."""
        return 2 * (sum(one.pairs for one in self.rounds) + self.playoff_pairs(finished))

    def missing_games(self, finished: Collection[int]) -> int:
        """Games still to be played without validations, given the ``finished`` rounds."""
        rounds = (one for one in self.rounds if one.number not in finished)
        missing = sum(self._games.missing_games(one.first_pair, one.pairs) for one in rounds)
        playoff, pairs = self._store.metadata(PLAYOFF_METADATA), self.playoff_pairs(len(finished))
        if playoff is None:
            return missing + 2 * pairs
        before = sum(one.pairs for one in self.rounds[: playoff[0]])
        return missing + self._games.missing_games(before, pairs, self.legs[-1].playoff_series)

    def playoff_pairs(self, finished: int) -> int:
        """Pairs of the playoff; for a budget in time, based on the ``finished`` rounds."""
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
        """Record the number of rounds before the playoff; returns the playoff's pairs."""
        pairs = self.playoff_pairs(finished)
        self._store.record_metadata({PLAYOFF_METADATA: [finished, pairs]})
        return pairs

    def _pairs_before_playoff(self, games: int) -> int:
        return pairs_before_playoff(games, self._spec.limit_shares.playoff_share(SHARE))

    def _spent(self) -> float:
        """Seconds spent by this and earlier runs."""
        return self._seconds_before + time.monotonic() - self._started

    def record_spent(self) -> None:
        """Record the time spent."""
        self._store.record_metadata({SECONDS_METADATA: self._spent()})

    def record_ended(self, rounds: int) -> None:
        """Record the number of ended rounds and the time spent; the number may be smaller than when the run was
        stopped."""
        ended = max(rounds, int(self._store.metadata(ENDED_METADATA) or 0))
        self._store.record_metadata({ENDED_METADATA: ended, SECONDS_METADATA: self._spent()})


def begun_before(rounds: Sequence[Round], games: SettingsPairGames, pairs: int, ended: int) -> tuple[int, int | None]:
    """How many begun rounds a study with ``pairs`` pairs before its playoff keeps, and how much of the last one.

    A begun round stays whole if there is room for it, or for part of a later one. Otherwise it ends with its games or
    with the budget. The first ``ended`` rounds stay in any case: games alone cannot identify them, because settings
    that meet themselves, or meet again, play none.
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
    """The budgets of a run; for a run from before budgets could change, its recorded one."""
    recorded = store.metadata(LEGS_METADATA)
    if recorded is not None:
        return tuple(Leg(**leg) for leg in recorded)
    if budget is None:
        return ()
    estimates = store.metadata(ESTIMATES_METADATA) or [budget["games"]]
    return tuple(Leg(games, budget, rounds) for rounds, games in enumerate(estimates))
