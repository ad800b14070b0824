"""Which games a tournament consists of, and in which order.

A schedule is a pure function (specification, opening order, results so far in schedule order) -> next pairings. The
results are those of whole batches that it gave before, so that nothing depends on the order in which games end. A
format without decisions on the way (round robin, gauntlet) gives everything in the first batch and nothing after it; a
Swiss tournament gives one round a batch. A sequential test decides nothing but where its match ends: it gives every
pair there can be, and ``games_that_count`` says after how many games it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from arena.openings import Suite, SuitePart
from arena.records import GameJob, Pairing
from arena.sequential import SequentialRun
from arena.spec import TournamentSpec
from engine.errors import UserError


class ScheduleError(UserError):
    """A tournament that cannot be scheduled; names the file, the key and the remedy."""


@dataclass(frozen=True)
class Outcome:
    """What a schedule may know of a finished game."""

    key: str
    pairing: Pairing
    score: float | None
    """Points of the first player; ``None`` if the game has no result."""


class Schedule(Protocol):
    """The next batch of pairings; an empty one ends the tournament.

    ``order[k]`` is the opening (place in the suite) of pair ``k`` of any pairing.
    """

    def __call__(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]: ...


def round_robin(spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
    """Everyone against everyone: pair 0 of all pairings of two players, then pair 1, and so on.

    The two games of a pair are neighbours. A longer tournament begins with the games of the shorter one.
    """
    if results:
        return
    number = 0
    pairs_a_round = spec.pairs // spec.rounds
    for pair in range(spec.pairs):
        for one, other in combinations(range(len(spec.players)), 2):
            for first, second in ((one, other), (other, one)):
                yield Pairing(number, pair, first, second, order[pair], pair // pairs_a_round)
                number += 1


SCHEDULES: dict[str, Schedule] = {"round_robin": round_robin, "match": round_robin, "sprt": round_robin}
"""A match is a round robin of two players; so is the longest possible match of a sequential test."""


def planned_games(spec: TournamentSpec) -> int:
    """How many games the tournament has at most."""
    players = len(spec.players)
    return players * (players - 1) * spec.pairs


def sequential_run(spec: TournamentSpec, results: Iterable[Outcome]) -> SequentialRun | None:
    """The sequential test over the games so far; ``None`` for a tournament without one."""
    return None if spec.sprt is None else SequentialRun.over(spec.sprt, spec.pairs, results)


def games_that_count(spec: TournamentSpec, results: Iterable[Outcome]) -> int:
    """How many games, from the first of the schedule on, the tournament consists of, given what has been played.

    After a sequential test has accepted a hypothesis these are the games up to there, otherwise all planned.
    """
    run = sequential_run(spec, results)
    return planned_games(spec) if run is None or run.stopped_after is None else run.stopped_after


def openings_needed(spec: TournamentSpec) -> int:
    """How many different openings a pairing of two players needs: one a pair."""
    return spec.pairs


def opening_order(spec: TournamentSpec, part: SuitePart) -> tuple[int, ...]:
    """The opening of each pair. Raises ``ScheduleError`` if a pairing would have to play one twice.

    Built-in players at fixed nodes or depth play the same game again from the same opening, which proves nothing.
    """
    needed = openings_needed(spec)
    if needed > len(part):
        rounds = f" in {spec.rounds} rounds" if spec.rounds > 1 else ""
        half = "" if part.name == "all" else f"{part.name} half of the "
        raise ScheduleError(
            f"{spec.source}: pairs = {spec.pairs // spec.rounds}{rounds} needs {needed} different openings, but the "
            f"{half}suite {spec.openings!r} has {len(part)}; play fewer pairs or give a larger suite "
            "(elolab openings generate)"
        )
    return part.order(spec.seed, spec.opening_start, spec.opening_order)[:needed]


def job_of(spec: TournamentSpec, suite: Suite, pairing: Pairing) -> GameJob:
    """Everything that decides the game of a pairing."""
    return GameJob(
        game=spec.game,
        rules=spec.rules,
        adjudication=spec.adjudication,
        pairing=pairing,
        first=spec.players[pairing.first],
        second=spec.players[pairing.second],
        opening=suite.openings[pairing.opening],
        seed=spec.seed,
        instruments=spec.instruments,
    )
