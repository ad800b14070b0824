"""Which games a tournament consists of, and in which order.

A format is a class here and its line in ``FORMATS``. Its schedule is a pure function (specification, opening order,
results so far in schedule order) -> next pairings. The results are those of whole batches that it gave before, so that
nothing depends on the order in which games end. A format without decisions on the way gives everything in the first
batch and nothing after it. A sequential test decides nothing but where its match ends: it gives every pair there can
be, and ``games_that_count`` says after how many games it has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from arena.notation.openings import Suite, SuitePart
from arena.records import GameJob, Outcome, Pairing
from arena.sequential import SequentialRun
from arena.tournament_spec import TournamentSpec
from engine.errors import UserError


class ScheduleError(UserError):
    """A tournament that cannot be scheduled; names the file, the key and the remedy."""


class Format:
    """A round robin of any number of players; other formats say in what they differ."""

    players: int | None = None
    """How many it is for; ``None`` for any number from two on."""
    has_rounds = True
    """Whether the key ``rounds`` has a meaning."""
    is_sequential = False
    """Whether a sequential test of player 1 against player 2 ends it, whose settings are in ``[sprt]``."""
    may_take_all_openings = False
    """Whether ``pairs`` may be left out, for as many as there are openings."""

    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The next batch; an empty one ends the tournament.

        ``order[k]`` is the opening (place in the suite) of pair ``k`` of any pairing of two players. Pair 0 of all
        pairings comes first, then pair 1, and so on; the two games of a pair are neighbours. A longer tournament
        begins with the games of the shorter one.
        """
        if results:
            return
        number = 0
        pairs_per_round = spec.pairs // spec.rounds
        for pair in range(spec.pairs):
            for one, other in combinations(range(len(spec.players)), 2):
                for first, second in ((one, other), (other, one)):
                    yield Pairing(number, pair, first, second, order[pair], pair // pairs_per_round)
                    number += 1

    def max_games(self, spec: TournamentSpec) -> int:
        """How many games the tournament has at most."""
        players = len(spec.players)
        return players * (players - 1) * spec.pairs

    def openings_needed(self, spec: TournamentSpec) -> int:
        """How many different openings a pairing of two players needs: one a pair."""
        return spec.pairs


class Match(Format):
    """Two players."""

    players = 2
    has_rounds = False


class SequentialMatch(Match):
    """Two players, until a test has accepted a hypothesis."""

    is_sequential = True
    may_take_all_openings = True


FORMATS: dict[str, Format] = {"round_robin": Format(), "match": Match(), "sprt": SequentialMatch()}
DEFAULT_FORMAT = "round_robin"


def format_of(spec: TournamentSpec) -> Format:
    """The tournament's format."""
    return FORMATS[spec.format]


def is_match(spec: TournamentSpec) -> bool:
    """Whether the tournament's format is one of two players; a report over several tournaments is of no format."""
    return spec.format in FORMATS and format_of(spec).players == 2


def planned_games(spec: TournamentSpec) -> int:
    """How many games the tournament has at most."""
    return format_of(spec).max_games(spec)


def sequential_run(spec: TournamentSpec, results: Iterable[Outcome]) -> SequentialRun | None:
    """The sequential test over the games so far; ``None`` for a tournament without one."""
    return None if spec.sprt is None else SequentialRun.over(spec.sprt, spec.pairs, results)


def games_that_count(spec: TournamentSpec, results: Iterable[Outcome]) -> int:
    """How many games, from the first of the schedule on, the tournament consists of, given what has been played.

    After a sequential test has accepted a hypothesis these are the games up to there, otherwise all planned.
    """
    run = sequential_run(spec, results)
    return planned_games(spec) if run is None or run.stopped_after is None else run.stopped_after


def opening_order(spec: TournamentSpec, part: SuitePart) -> tuple[int, ...]:
    """The opening of each pair. Raises ``ScheduleError`` if a pairing would have to play one twice.

    Built-in players at fixed nodes or depth play the same game again from the same opening, which proves nothing.
    """
    needed = format_of(spec).openings_needed(spec)
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
    first, second = spec.players[pairing.first], spec.players[pairing.second]
    return spec.conditions.job(pairing, first, second, suite.openings[pairing.opening])
