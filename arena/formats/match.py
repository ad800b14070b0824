"""Two players: matches, with and without a sequential test."""

from __future__ import annotations

from arena.formats.round_robin import RoundRobin


class Match(RoundRobin):
    """Two players."""

    players = 2
    has_rounds = False


class SequentialMatch(Match):
    """Two players, until a test has accepted a hypothesis.

    It decides nothing but where the match ends: the schedule has every pair there can be, and
    ``arena.schedule.games_that_count`` says after how many games it has ended.
    """

    is_sequential = True
    may_take_all_openings = True
    has_fixed_length = False
