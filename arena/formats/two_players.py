"""Matches of two players, with and without a sequential test."""

from __future__ import annotations

from elolab.arena.formats.round_robin import RoundRobin


class MatchFormat(RoundRobin):
    """A match of two players with a fixed number of game pairs."""

    players = 2
    has_rounds = False


class SequentialMatch(MatchFormat):
    """A match of two players that ends when a sequential test accepts a hypothesis.

    The schedule holds the maximum number of pairs; ``arena.schedule.games_that_count`` finds the test's last game.
    """

    is_sequential = True
    may_take_all_openings = True
    has_fixed_length = False
