"""Tournaments without engines: results come from a function of the game, and games end in any order."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable

from elolab.arena.notation.openings import Suite
from elolab.arena.records import Opening, Outcome, Pairing
from elolab.arena.schedule import ScheduleState, Withdrawal, format_of, job_of, opening_order
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec

SUITE = Suite("made up", tuple(Opening(f"k{number}/9 w - - 0 1", (), str(number)) for number in range(200)))
Result = Callable[[str], float]
"""Points of the first player by the game's key."""


def specification(format: str, players: int, pairs: int = 1, **keys: object) -> TournamentSpec:
    entries = [{"name": f"player {number}", "protocol": "uci", "command": "none"} for number in range(players)]
    data = {"format": format, "pairs": pairs, "limit": "nodes=100", "players": entries, "openings": "made up", **keys}
    return spec_from_mapping(data, "cup.toml")


def by_chance(salt: int, draws: int = 40) -> Result:
    """Results that depend on the game alone; so many of a hundred games are drawn."""

    def result(key: str) -> float:
        number = int(hashlib.sha256(f"{salt}:{key}".encode()).hexdigest(), 16) % 100
        return 0.5 if number < draws else float(number % 2)

    return result


def order_of(spec: TournamentSpec) -> tuple[int, ...]:
    return opening_order(spec, SUITE.part("all"))


def key_of(spec: TournamentSpec, pairing: Pairing) -> str:
    return job_of(spec, SUITE, pairing).key


def played(
    spec: TournamentSpec,
    result: Result,
    *,
    arrival: random.Random | None = None,
    stored: dict[str, float] | None = None,
    at_most: int | None = None,
    absent: Iterable[str] = (),
    absent_from: int = 0,
) -> ScheduleState:
    """The course of a tournament whose games end in random order.

    ``stored`` are results by key, and gets those of the games played; after ``at_most`` games it is stopped. Players
    that are ``absent`` cannot be started from that round on.
    """
    course = ScheduleState(spec, order_of(spec))
    stored = {} if stored is None else stored
    names = [player.name for player in spec.players]
    while not course.is_over:
        games = [(pairing, key_of(spec, pairing)) for pairing in course.batch]
        missing = [game for game in games if game[1] not in stored]
        if arrival is not None:
            arrival.shuffle(missing)
        for pairing, key in missing:
            both = (names[pairing.first], names[pairing.second])
            gone = [name for name in both if name in absent and pairing.round >= absent_from]
            for name in gone:
                course.withdraw(Withdrawal(name, pairing.round, "it was not there"))
            if gone:
                continue
            if at_most is not None:
                if not at_most:
                    return course
                at_most -= 1
            stored[key] = result(key)
        course.advance({pairing.number: Outcome(key, pairing, stored[key]) for pairing, key in games if key in stored})
    assert not list(format_of(spec).pairings(spec, order_of(spec), course.results))
    return course
