"""The schedule of a tournament: its format, its games and their order, and its progress in batches.

A format is a class in ``arena.formats`` and an entry of ``FORMATS``. It returns the schedule in batches of games; each
batch is a pure function of the specification and the results so far (``arena.formats.tournament_format``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from elolab.arena.formats.gauntlet import Gauntlet
from elolab.arena.formats.knockout import Knockout
from elolab.arena.formats.round_robin import RoundRobin
from elolab.arena.formats.swiss import Swiss
from elolab.arena.formats.tournament_format import Format
from elolab.arena.formats.two_players import MatchFormat, SequentialMatch
from elolab.arena.notation.openings import Suite, SuitePart
from elolab.arena.records import GameJob, Outcome, Pairing
from elolab.arena.sequential import SequentialRun
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError


class ScheduleError(UserError):
    """Raised if a tournament cannot be scheduled; the message names the file, the key and the remedy."""


FORMATS: dict[str, Format] = {
    "round_robin": RoundRobin(),
    "gauntlet": Gauntlet(),
    "swiss": Swiss(),
    "knockout": Knockout(),
    "match": MatchFormat(),
    "sprt": SequentialMatch(),
}
DEFAULT_FORMAT = "round_robin"


def format_of(spec: TournamentSpec) -> Format:
    """The format of a tournament."""
    return FORMATS[spec.format]


def is_match(spec: TournamentSpec) -> bool:
    """Whether the tournament is a match, also as a round robin or gauntlet of two. False for a joint report."""
    if spec.format not in FORMATS:
        return False
    form = format_of(spec)
    return form.players == 2 or (len(spec.players) == 2 and isinstance(form, RoundRobin))


def challengers_of(spec: TournamentSpec) -> tuple[str, ...]:
    """Names of a gauntlet's challengers, who meet all other players but not each other; empty in other formats.

    All challengers meet the same opponents. Only their scores can therefore be compared.
    """
    if spec.format not in FORMATS or not isinstance(format_of(spec), Gauntlet):
        return ()
    return tuple(player.name for player in spec.players[: spec.gauntlet_players])


def planned_games(spec: TournamentSpec) -> int:
    """Maximum number of games of a tournament."""
    return format_of(spec).max_games(spec)


@dataclass(frozen=True)
class Withdrawal:
    """The withdrawal of a player that could not be started, in a format whose later games depend on results."""

    player: str
    round: int
    """First round, from 0, whose remaining games the player loses."""
    reason: str


class ScheduleState:
    """The progress of a tournament: the outcomes of earlier batches and the games of the current batch."""

    def __init__(
        self, spec: TournamentSpec, order: Iterable[int] | None = None, withdrawals: Iterable[Withdrawal] = ()
    ) -> None:
        """Start with the first batch.

        ``order`` has the index of each pair's opening in the suite; if it is missing, the opening indices in ``batch``
        are not valid. ``withdrawals`` are the withdrawals so far.
        """
        self.spec = spec
        self.results: list[Outcome] = []
        """Outcomes of all earlier batches, in schedule order."""
        self._order = tuple(range(format_of(spec).openings_needed(spec)) if order is None else order)
        self._names = [player.name for player in spec.players]
        self._out: dict[str, Withdrawal] = {}
        for withdrawal in withdrawals:
            self.withdraw(withdrawal)
        self.batch = self._next_batch()
        """Games of the current batch; empty once the tournament is over."""

    @classmethod
    def over(
        cls, spec: TournamentSpec, outcomes: Iterable[Outcome], withdrawals: Iterable[Withdrawal] = ()
    ) -> ScheduleState:
        """The state of the schedule after games with these outcomes, in any order, and after these withdrawals."""
        state = cls(spec, withdrawals=withdrawals)
        played = {outcome.pairing.number: outcome for outcome in outcomes}
        while state.batch and state.advance(played):
            pass
        return state

    def withdraw(self, withdrawal: Withdrawal) -> None:
        """Withdraw a player, who then loses all remaining games from the round of the withdrawal on."""
        self._out.setdefault(withdrawal.player, withdrawal)

    @property
    def withdrawals(self) -> tuple[Withdrawal, ...]:
        """The withdrawals so far, in order of time."""
        return tuple(self._out.values())

    def absent(self, pairing: Pairing) -> tuple[int, ...]:
        """Indices of the players of a pairing who have withdrawn by the round of the pairing."""
        if not self._out:
            return ()
        return tuple(player for player in (pairing.first, pairing.second) if self._is_out(player, pairing.round))

    def _is_out(self, player: int, round: int) -> bool:
        withdrawal = self._out.get(self._names[player])
        return withdrawal is not None and withdrawal.round <= round

    def advance(self, played: Mapping[int, Outcome]) -> bool:
        """Advance to the next batch if all games of the current batch have ended; otherwise returns false.

        ``played`` maps game numbers to outcomes. Games of withdrawn players count as ended.
        """
        outcomes = []
        for pairing in self.batch:
            outcome = played.get(pairing.number)
            absent = self.absent(pairing)
            if outcome is None and not absent:
                return False
            outcomes.append(outcome or Outcome("", pairing, None, absent))
        self.results += outcomes
        self.batch = self._next_batch()
        return True

    @property
    def is_over(self) -> bool:
        """Whether all games of the tournament have ended."""
        return not self.batch

    @property
    def games(self) -> int:
        """Number of games of the tournament; an upper bound until the tournament is over."""
        return len(self.results) if self.is_over else format_of(self.spec).max_games(self.spec, self.results)

    @property
    def unplayable(self) -> int:
        """Number of games that are never played, because a player could not be started."""
        return sum(bool(outcome.absent) for outcome in self.results)

    def _next_batch(self) -> list[Pairing]:
        return list(format_of(self.spec).pairings(self.spec, self._order, self.results))


def sequential_run(spec: TournamentSpec, results: Iterable[Outcome]) -> SequentialRun | None:
    """The sequential test over the games so far; ``None`` if the tournament has none.

    Its maximum length is ``spec.pairs`` or, if more pairs were played under an earlier, larger maximum, the number of
    pairs played.
    """
    if spec.sprt is None:
        return None
    outcomes = list(results)
    numbers = {outcome.pairing.number for outcome in outcomes}
    complete = next(pair for pair in itertools.count() if not {2 * pair, 2 * pair + 1} <= numbers)
    return SequentialRun.over(spec.sprt, max(spec.pairs, complete), outcomes)


def games_that_count(spec: TournamentSpec, results: Iterable[Outcome], withdrawals: Iterable[Withdrawal] = ()) -> int:
    """Number of games, from the start of the schedule, that count. ``results`` are the outcomes so far.

    If a sequential test is decided, the games up to its decision count. In formats whose later games depend on results,
    the result is the largest number of games still possible. In all other cases, all planned games count, and so do
    further games that were played under an earlier, longer plan.
    """
    if format_of(spec).decides_on_the_way:
        return ScheduleState.over(spec, results, withdrawals).games
    outcomes = list(results)
    run = sequential_run(spec, outcomes)
    if run is not None:
        return 2 * run.pairs if run.stopped_after is None else run.stopped_after
    return max([planned_games(spec), *(outcome.pairing.number + 1 for outcome in outcomes)])


def games_expected(spec: TournamentSpec, outcomes: Iterable[Outcome], count: int) -> int:
    """Number of games that the finished run should have, among the first ``count`` games of the schedule.

    ``count`` is the result of ``games_that_count``. Games beyond a shortened plan only count if they were played.
    """
    planned = min(count, planned_games(spec))
    return planned + sum(planned <= outcome.pairing.number < count for outcome in outcomes)


def opening_order(spec: TournamentSpec, part: SuitePart) -> tuple[int, ...]:
    """For each pair, the index in the suite of its opening.

    If there are more pairs than openings, ``opening_reuse`` repeats the openings in the same order. Raises
    ``ScheduleError`` if there are too few openings, or if ``opening_reuse`` would make two players repeat a game: both
    play at fixed nodes or depth.
    """
    needed = format_of(spec).openings_needed(spec)
    order = part.order(spec.seed, spec.opening_start, spec.opening_order)
    if needed > len(part) and order and spec.opening_reuse:
        if (repeating := _repeating_players(spec)) is not None:
            raise ScheduleError(
                f"{spec.source}: opening_reuse = true: {repeating[0]!r} and {repeating[1]!r} would repeat their games, "
                "because neither has a clock or a time per move",
                "give one of them a clock, or play fewer pairs",
            )
    elif needed > len(part):
        half = "" if part.name == "all" else f"{part.name} half of the "
        reuse = "opening_reuse = true" if PurePath(spec.source).suffix else f"--openings {spec.openings} reuse=true"
        again = "" if _repeating_players(spec) else f", or play them again with {reuse}"
        raise ScheduleError(
            f"{spec.source}: {format_of(spec).pairs_text(spec)} needs {needed} different openings, but the "
            f"{half}suite {spec.openings!r} has {len(part)}",
            f"play fewer pairs or give a larger suite (elolab openings generate){again}",
        )
    return tuple(itertools.islice(itertools.cycle(order), needed))


def _repeating_players(spec: TournamentSpec) -> list[str] | None:
    """Names of two players who would both repeat their moves after the same opening; ``None`` if at most one would."""
    players = [
        player.name for player in spec.players if not (player.limits.is_timed and player.limits.clock_kind != "node")
    ]
    return players[:2] if len(players) > 1 else None


def job_of(spec: TournamentSpec, suite: Suite, pairing: Pairing) -> GameJob:
    """The game to play for a pairing: its players, opening and conditions."""
    first, second = spec.players[pairing.first], spec.players[pairing.second]
    return spec.conditions.job(pairing, first, second, suite.openings[pairing.opening])
