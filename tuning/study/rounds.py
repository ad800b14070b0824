"""The rounds of a study: how a budget is cut into them, and how their duels become games in the run's store.

Everything is counted from the store: a game's number is its place in the schedule, the sets that met are kept with it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from arena.figures.statistics import Pentanomial
from arena.notation.openings import Suite
from arena.play.store import Store
from arena.play.tournament import is_reproducible
from arena.records import GameJob, Pairing, PlayerSpec
from tuning.matches import REFERENCE, VARIANT, Runner
from tuning.run_folder import RunError
from tuning.study.pairs_of_settings import SettingsPair, game_pairs_per_settings_pair
from tuning.study.playoff import SHARE
from tuning.study.response import Values
from tuning.study.spec import MIN_ROUNDS, USUAL_ROUND_PAIRS, TuningSpec

SETS_DETAIL = "sets"
"""Under this name a game keeps the values of the first and of the second set of its duel."""
MAX_PLAYERS = 4096
"""Players kept ready at a time."""
PLAYOFF_ROUND = 10**6
"""Number under which the playoff's games are stored."""
FIRST_PLAYOFF_DUEL = 10**8
"""Numbers of the playoff's duels begin here."""


@dataclass(frozen=True)
class Round:
    """A piece of the schedule: one trial of Optuna's."""

    number: int
    first_duel: int
    duels: int
    duel_pairs: int
    """Pairs of each duel."""
    first_pair: int
    """Place of its first pair in the schedule."""

    @property
    def pairs(self) -> int:
        """Pairs of the round."""
        return self.duels * self.duel_pairs


@dataclass(frozen=True)
class Placed:
    """A duel and its place in the schedule."""

    duel: SettingsPair
    first_pair: int
    pairs: int
    round: int


def pairs_before_playoff(games: int) -> int:
    """Pairs of a budget that are left when the playoff has its share."""
    return games // 2 - int(games // 2 * SHARE)


def rounds_of(spec: TuningSpec, games: int, before: Sequence[Round] = ()) -> tuple[Round, ...]:
    """The rounds of a budget in games; those in ``before`` were played under another estimate of it and stay."""
    pairs = pairs_before_playoff(games)
    if spec.sampler != "duel":
        each = trial_pairs(spec, pairs)
        return tuple(Round(number, number, 1, each, number * each) for number in range(spec.trials))
    spent_duels = sum(one.duels for one in before)
    spent_pairs = sum(one.pairs for one in before)
    duel_pairs = game_pairs_per_settings_pair(games)
    left = max(0, pairs - spent_pairs) // duel_pairs
    wanted = spec.round_pairs or min(USUAL_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS))
    each = max(1, round(wanted / duel_pairs))
    found = list(before)
    for start in range(0, left, each):
        duels = min(each, left - start)
        found.append(Round(len(found), spent_duels + start, duels, duel_pairs, spent_pairs + start * duel_pairs))
    return tuple(found)


def trial_pairs(spec: TuningSpec, pairs: int) -> int:
    """Pairs of each trial of a sampler other than ``duel``."""
    if spec.budget.games is None:
        return spec.round_pairs or max(1, USUAL_ROUND_PAIRS // 4)
    return pairs // spec.trials


class SettingsPairGames:
    """Duels as games: plays what the store lacks, counts what is there."""

    def __init__(self, spec: TuningSpec, suite: Suite, openings: Sequence[int], store: Store) -> None:
        self._spec = spec
        self._suite = suite
        self._openings = openings
        self._store = store
        self._players: dict[Values, PlayerSpec] = {}
        self._names = spec.space.names
        self._known = {
            number: (None if score is None else score if first == VARIANT else 1 - score, sets)
            for number, score, first, sets in _stored(store)
        }
        """By game number: points of the duel's first set, and the two sets."""

    def play(self, duels: Sequence[Placed], runner: Runner, finished: Callable[[], None]) -> bool:
        """Play what the store lacks of some duels; False if games are left unplayed."""
        reproducible: dict[int, bool] = {}
        sets: dict[int, SettingsPair] = {}  # by number: where openings come again two duels may be one game

        def jobs() -> Iterator[GameJob]:
            for placed in duels:
                for job in self._missing(placed):
                    sets[job.pairing.number] = placed.duel
                    reproducible[job.pairing.number] = is_reproducible(job.first, job.second)
                    yield job

        for record in runner.run(jobs()):
            number = record.pairing.number
            duel = sets.pop(number)
            both = [list(duel.first), list(duel.second)]
            record = replace(record, detail={**record.detail, SETS_DETAIL: both})
            self._store.add(record, reproducible=reproducible.pop(number))
            place, score = record.pairing, record.score
            points = None if score is None else score if place.first == VARIANT else 1 - score
            self._known[place.number] = (points, (duel.first, duel.second))
            finished()
        return all(map(self.is_complete, duels))

    def _missing(self, placed: Placed) -> Iterator[GameJob]:
        """The games of a duel that are not stored; none where a set meets itself, which is even by definition."""
        if placed.duel.first == placed.duel.second:
            return
        first, second = self._player(placed.duel.first), self._player(placed.duel.second)
        for pair in range(placed.first_pair, placed.first_pair + placed.pairs):
            opening = self._openings[pair % len(self._openings)]
            for turn, (one, other) in enumerate(((VARIANT, REFERENCE), (REFERENCE, VARIANT))):
                number = 2 * pair + turn
                if number in self._known:
                    self._check(number, placed.duel)
                    continue
                yield GameJob(
                    game=self._spec.conditions.game,
                    rules=self._spec.conditions.rules,
                    adjudication=self._spec.conditions.adjudication,
                    pairing=Pairing(number, pair % len(self._openings), one, other, opening, placed.round),
                    first=first if one == VARIANT else second,
                    second=second if one == VARIANT else first,
                    opening=self._suite.openings[opening],
                    seed=self._spec.conditions.seed,
                )

    def _check(self, number: int, duel: SettingsPair) -> None:
        if self._known[number][1] != (duel.first, duel.second):
            raise RunError(
                f"{self._store.directory}: game {number} was played between other sets of parameters than this "
                "specification leads to; give another folder with --out, or remove that one"
            )

    def begun(self, rounds: Sequence[Round]) -> set[int]:
        """The rounds of which games are stored."""
        return {one.number for one in rounds if self.missing_games(one.first_pair, one.pairs) < 2 * one.pairs}

    def missing_games(self, first_pair: int, pairs: int) -> int:
        """How many games of a stretch of the schedule are not stored."""
        return sum(number not in self._known for number in range(2 * first_pair, 2 * (first_pair + pairs)))

    def is_complete(self, placed: Placed) -> bool:
        """Whether all its games are stored."""
        if placed.duel.first == placed.duel.second:
            return True
        return all(number in self._known for number in _numbers(placed))

    def counts(self, placed: Placed) -> Pentanomial:
        """The outcomes of its pairs, from the first set's view; none of a set against itself."""
        if placed.duel.first == placed.duel.second:
            return Pentanomial((0, 0, 0, 0, 0))
        points = [self._known[number][0] for number in _numbers(placed)]
        pairs = zip(points[::2], points[1::2], strict=True)
        return Pentanomial.from_pairs((one, other) for one, other in pairs if one is not None and other is not None)

    def stored_duels(self, one: Round) -> list[Placed]:
        """The duels of a round as the games tell them, as far as their games are all there."""
        found = []
        for place in range(one.duels):
            first_pair = one.first_pair + place * one.duel_pairs
            known = self._known.get(2 * first_pair)
            if known is not None:
                duel = SettingsPair(one.first_duel + place, *known[1])
                found.append(Placed(duel, first_pair, one.duel_pairs, one.number))
        return [placed for placed in found if self.is_complete(placed)]

    def _player(self, values: Values) -> PlayerSpec:
        if values not in self._players:
            if len(self._players) >= MAX_PLAYERS:
                self._players.clear()
            self._players[values] = self._spec.player(dict(zip(self._names, values, strict=True)))
        return self._players[values]


def _numbers(placed: Placed) -> range:
    return range(2 * placed.first_pair, 2 * (placed.first_pair + placed.pairs))


def _stored(store: Store) -> Iterator[tuple[int, float | None, int, tuple[Values, Values]]]:
    """Number, points of the mover of the first colour, its index and the duel's sets, of every game of a duel."""
    points = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
    query = "SELECT number, result, first_index, detail FROM games ORDER BY number"
    for number, result, first, text in store.connection.execute(query):
        sets = json.loads(text).get(SETS_DETAIL)
        if sets is not None:
            yield number, points.get(result), first, (tuple(sets[0]), tuple(sets[1]))


def estimated_games(seconds: float, seconds_per_game: float, concurrency: int) -> int:
    """Games that a time allows."""
    return max(2, math.floor(seconds * concurrency / max(seconds_per_game, 1e-6)))
