"""Time management: limits of a move, and polling of clock, node limit and stop flag.

Strategies [EE 8.2]: the *proper* time of a move is the remaining time divided by the moves to go, or the increment plus
the remaining time divided by ``time_divisor``. ``elephanteye`` plays at the first new root result after half the proper
time and aborts at twice the proper time. ``fixed`` aborts after a constant time, ``share`` after a fixed share of the
remaining time. ``othello`` [OT] sets a deadline before each iteration: the closer the iteration's horizon is to the end
of the game, the later.

Pondering [EE 8.1]: no clock ends the search before the ponder hit. Either another thread signals the hit, or the caller
grants a pondering time in advance: the time that the opponent took, on the search's clock. A grant makes pondering
reproducible on the node clock.

``engine.settings.parameters`` lists the sources [EE] and [OT].
"""

from __future__ import annotations

import math

import numpy as np

from elolab.engine.compiled.kernel import jit, monotonic_ns, read_flag, thread_cpu_ns
from elolab.engine.games.contract import ENDLESS
from elolab.engine.search.records import (
    CLOCK_CPU,
    CLOCK_NODE,
    CLOCK_OFF,
    CLOCK_WALL,
    NO_LIMIT,
    STOPPED_BY_FLAG,
    STOPPED_BY_HARD_LIMIT,
    STOPPED_BY_NODES,
    STOPPED_BY_SOFT_LIMIT,
)
from elolab.engine.settings.parameters import choice_code

_ELEPHANTEYE = choice_code("time_strategy", "elephanteye")
_ELEPHANTEYE_331 = choice_code("time_strategy", "elephanteye-3.31")
_FIXED = choice_code("time_strategy", "fixed")
_MIN_TIME = choice_code("time_strategy", "min_time")
_OTHELLO = choice_code("time_strategy", "othello")
_SOFT_AT_ROOT = choice_code("time_soft_check", "root_result")
_PREDICT_OFF = choice_code("time_predict", "off")
_PREDICT_LAST_RATIO = choice_code("time_predict", "last_ratio")
_PREDICT_CONSTANT = choice_code("time_predict", "constant_ratio")

FALLING_SCORE = 90
"""Largest drop of the score between iterations, in centipawns, at which ElephantEye 3.31 still halves its time for the
move.

In ElephantEye's own units the drop is 20.
"""
STABLE_ITERATIONS = 4
"""Number of iterations in a row with the same best move after which ElephantEye 3.31 halves its time for the move."""

# Logarithms to base 2 in 256ths, as integers: forecasts are the same on every processor.
_LOGARITHMS = np.array([round(256 * math.log2(1 + part / 256)) for part in range(256)], np.int64)
_POWERS = np.array([round(65536 * 2 ** (part / 256)) for part in range(256)], np.int64)
_FROM_HIT = choice_code("ponder_elapsed", "from_hit")
_MILLISECOND = 1_000_000


@jit
def allocate_time(search, parameters, move_time_ms, remaining_ns, increment_ns, moves_to_go):
    """Set the soft and hard time limits of the next search, in nanoseconds.

    ``move_time_ms`` is a fixed time for this move, 0 for none. ``remaining_ns`` is the player's time on the game clock,
    negative without a game clock. ``increment_ns`` is added per move. ``moves_to_go`` is the number of moves until the
    next time control, 0 if there is none.
    """
    soft = NO_LIMIT
    hard = NO_LIMIT
    strategy = parameters.time_strategy
    search.soft_at_root = 0
    search.proper_ns = 0
    search.remaining_ns = remaining_ns
    if strategy == _MIN_TIME:
        # The time is a minimum: the search stops at the end of the iteration that passes it.
        if move_time_ms > 0 or remaining_ns >= 0:
            soft = (move_time_ms if move_time_ms > 0 else parameters.time_fixed_ms) * _MILLISECOND
        search.soft_ns = soft
        search.hard_ns = hard
        return
    if move_time_ms > 0:
        hard = move_time_ms * _MILLISECOND
    if remaining_ns >= 0:
        usable = max(0, remaining_ns - parameters.clock_reserve_ms * _MILLISECOND)
        if moves_to_go > 0:
            proper = remaining_ns // moves_to_go
        else:
            proper = increment_ns + remaining_ns // parameters.time_divisor
        if search.ponders != 0:
            proper = proper // 1000 * parameters.ponder_time_factor
        search.proper_ns = proper
        if strategy == _ELEPHANTEYE:
            soft = proper // 1000 * parameters.time_soft_factor
            hard = min(hard, proper // 1000 * parameters.time_hard_factor)
            search.soft_at_root = 1 if parameters.time_soft_check == _SOFT_AT_ROOT else 0
        elif strategy == _ELEPHANTEYE_331:
            soft = proper
            tenths = max(5, 11 - moves_to_go) if moves_to_go > 0 else 5
            hard = min(hard, min(remaining_ns // 10 * tenths, 10 * proper))
        elif strategy == _OTHELLO:
            hard = min(hard, remaining_ns // 1000 * parameters.time_move_cap)
        elif parameters.time_strategy == _FIXED:
            hard = min(hard, parameters.time_fixed_ms * _MILLISECOND)
        else:
            hard = min(hard, remaining_ns // 1000 * parameters.time_share)
        hard = min(hard, usable)
    search.soft_ns = soft
    search.hard_ns = hard
    search.max_ns = hard


@jit
def adapt_soft_limit(search, parameters, score_change):
    """Set the soft limit after an iteration, as ElephantEye 3.31 does.

    The limit is the move's proper time (see the module's docstring), halved for each of three conditions: null moves
    are off, the score has not dropped by more than ``FALLING_SCORE``, and the best move is stable. A best move is
    stable after ``STABLE_ITERATIONS`` iterations. ``score_change`` is the iteration's score minus the score of the
    previous iteration, in centipawns.
    """
    if parameters.time_strategy != _ELEPHANTEYE_331 or search.soft_ns >= NO_LIMIT:
        return
    soft = search.proper_ns
    if parameters.null_move == 0:
        soft //= 2
    if score_change >= -FALLING_SCORE:
        soft //= 2
    if search.best_move_stable >= STABLE_ITERATIONS:
        soft //= 2
    search.soft_ns = soft


@jit
def _logarithm(number):
    """Base-2 logarithm of a positive number, in units of 1/256."""
    whole = 0
    rest = number
    while rest > 1:
        rest >>= 1
        whole += 1
    part = ((number << 8) >> whole) & 255 if whole < 54 else (number >> (whole - 8)) & 255
    return whole * 256 + _LOGARITHMS[part]


@jit
def _power(logarithm):
    """2 to the power of ``logarithm`` / 256, for ``logarithm`` >= 0; ``NO_LIMIT`` for results of 2**46 or more."""
    whole = logarithm >> 8
    if whole > 45:
        return NO_LIMIT
    return (_POWERS[logarithm & 255] << whole) >> 16


@jit
def forecast_ns(search, parameters):
    """Expected duration of the next iteration in nanoseconds, extrapolated from up to three earlier iterations [OT].

    A straight line is fitted to the logarithms of the three durations. The line's value for the fourth iteration is the
    mean of the logarithms, plus the last minus the first.
    """
    last = search.iteration_ns[0]
    before = search.iteration_ns[1]
    earliest = search.iteration_ns[2]
    if parameters.time_predict == _PREDICT_CONSTANT or before == 0:
        return last // 1000 * parameters.time_predict_ratio
    if parameters.time_predict == _PREDICT_LAST_RATIO or earliest == 0:
        return _power(max(2 * _logarithm(last) - _logarithm(before), 0))
    one, two, three = _logarithm(earliest), _logarithm(before), _logarithm(last)
    return _power(max((one + two + three) // 3 + three - one, 0))


@jit
def next_iteration_fits(search, parameters):
    """Whether the next iteration is expected to end before the hard limit. True if there is no forecast.

    Call ``allocate_iteration_time`` first, which sets the hard limit for that iteration.
    """
    if parameters.time_predict == _PREDICT_OFF or search.clock == CLOCK_OFF or search.hard_ns >= NO_LIMIT:
        return True
    if awaits_ponder_hit(search):
        return True
    return counted_ns(search) + forecast_ns(search, parameters) <= search.hard_ns


@jit
def elapsed_ns(search):
    """Nanoseconds since the search began, on the search's clock; in real time if the search has no clock."""
    if search.clock == CLOCK_NODE:
        return search.nodes * search.nanoseconds_per_node
    if search.clock == CLOCK_CPU:
        return thread_cpu_ns() - search.start_ns
    return monotonic_ns() - search.start_ns


@jit
def counted_ns(search):
    """Nanoseconds that count against the time limits: since the search's start or, after pondering, the ponder hit."""
    return elapsed_ns(search) - search.uncounted_ns


@jit
def allocate_iteration_time(search, parameters, depth, left):
    """Set the move's deadline before an iteration of ``depth`` plies, under the time strategy ``othello`` [OT].

    The time for the move is the player's remaining time divided by the number of own moves between the iteration's
    horizon and the end of the game. ``left`` is the number of plies to the end of the game. In a game of unlimited
    length the divisor is ``time_divisor``.
    """
    if parameters.time_strategy != _OTHELLO or search.remaining_ns < 0:
        return
    moves = max((left - depth + 2) // 2, 1) if left < ENDLESS else parameters.time_divisor
    # Time before the ponder hit is not the player's own.
    nothing_used = awaits_ponder_hit(search) and parameters.ponder_elapsed == _FROM_HIT
    used_ns = np.int64(0) if nothing_used else counted_ns(search)
    search.hard_ns = min(search.max_ns, (search.remaining_ns - used_ns) // moves)
    # The next poll was scheduled for the previous deadline.
    search.countdown = 0


@jit
def start_clock(search):
    """Start to count the time and nodes of a search."""
    search.start_ns = thread_cpu_ns() if search.clock == CLOCK_CPU else monotonic_ns()
    search.nodes = 0
    search.stopped = 0
    search.stopped_at_result = 0
    search.clock_armed = 0
    search.countdown = 0
    search.uncounted_ns = 0
    search.report_count = 0


@jit
def awaits_ponder_hit(search):
    """Whether the search ponders and has not yet noticed a ponder hit."""
    return search.ponder_address != 0 or search.ponder_grant_ns > 0


@jit
def granted_nodes(search):
    """Number of nodes in the granted pondering time. Requires that time is counted in nodes."""
    return search.ponder_grant_ns // search.nanoseconds_per_node


@jit
def is_pondering(search, parameters):
    """Whether the search is still pondering, so that no clock limit applies.

    The first call after a ponder hit applies the parameter ``ponder_elapsed``. If it is ``from_hit``, the time before
    the hit no longer counts; otherwise the search stops if its soft limit has passed. The first call after a ponder
    miss sets ``stopped``.
    """
    if not awaits_ponder_hit(search):
        return False
    if search.ponder_grant_ns > 0:
        if search.clock == CLOCK_NODE:
            if search.nodes < granted_nodes(search):
                return True
        elif elapsed_ns(search) < search.ponder_grant_ns:
            return True
        before_hit_ns = search.ponder_grant_ns
        search.ponder_grant_ns = 0
        if search.ponder_misses != 0:
            search.stopped = STOPPED_BY_FLAG
            return False
    else:
        if read_flag(search.ponder_address) != 0:
            return True
        search.ponder_address = 0
        before_hit_ns = elapsed_ns(search)
    if parameters.ponder_elapsed == _FROM_HIT:
        search.uncounted_ns = before_hit_ns
    else:
        stop_if_soft_limit_passed(search)
    return False


@jit
def poll(search, parameters):
    """Check all limits. If a limit is reached, sets ``stopped``; otherwise sets ``countdown``, the number of nodes
    until the next check.
    """
    if read_flag(search.stop_address) != 0:
        search.stopped = STOPPED_BY_FLAG
        return
    left = search.node_limit - search.nodes
    if left <= 0:
        search.stopped = STOPPED_BY_NODES
        return
    pondering = is_pondering(search, parameters)
    if search.stopped != 0:
        return
    if pondering and search.ponder_grant_ns > 0 and search.clock == CLOCK_NODE:
        left = min(left, granted_nodes(search) - search.nodes)
    if search.clock != CLOCK_OFF and search.clock_armed != 0 and search.hard_ns < NO_LIMIT and not pondering:
        if search.clock == CLOCK_NODE:
            # Stop before the node that would pass the limit: the node clock is exact.
            left = min(left, (search.hard_ns + search.uncounted_ns) // search.nanoseconds_per_node - search.nodes)
            if left <= 0:
                search.stopped = STOPPED_BY_HARD_LIMIT
                return
        elif counted_ns(search) >= search.hard_ns:
            search.stopped = STOPPED_BY_HARD_LIMIT
            return
    search.countdown = min(left, parameters.poll_interval_nodes)


@jit
def arm_clock(search):
    """Allow the clock to end the search. Called when the first iteration is complete."""
    search.clock_armed = 1
    search.countdown = 0


@jit
def stop_if_soft_limit_passed(search):
    """Stop the search if its soft time limit has passed. Never stops a pondering search."""
    if search.clock != CLOCK_OFF and search.clock_armed != 0 and search.soft_ns < NO_LIMIT:
        if not awaits_ponder_hit(search) and counted_ns(search) > search.soft_ns:
            search.stopped = STOPPED_BY_SOFT_LIMIT


@jit
def spend_node(search, parameters):
    """Count one node before its move is made. Returns false if the search must stop instead."""
    if search.countdown <= 0:
        poll(search, parameters)
    if search.stopped != 0:
        return False
    search.countdown -= 1
    search.nodes += 1
    return True


@jit
def spend_nodes(search, parameters, nodes):
    """Count ``nodes`` nodes at once, like that many calls of ``spend_node``. Returns false if the search must stop."""
    while nodes > 0:
        if search.countdown <= 0:
            poll(search, parameters)
        if search.stopped != 0:
            return False
        share = min(nodes, search.countdown)
        search.countdown -= share
        search.nodes += share
        nodes -= share
    return True


CLOCK_CODES = {"wall": CLOCK_WALL, "cpu": CLOCK_CPU, "node": CLOCK_NODE}
