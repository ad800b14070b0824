"""Checks that programs respect search limits and clocks."""

from __future__ import annotations

from elolab.arena.checking.examination import Examination
from elolab.arena.checking.findings import Failed, Remark, SearchAnswer, Skipped, remark
from elolab.arena.players.player import PlayerClock
from elolab.engine.settings.limits import Limits

MOST_NODES = 1.5
"""A program may search this multiple of its node limit, plus ``NODES_SLACK``, because programs count at intervals."""
NODES_SLACK = 10_000
"""Number of nodes that a program may search in addition to ``MOST_NODES`` times the node limit."""
LOW_CLOCK_SHARE = 10
"""The check of a low clock gives the program the time of a full clock divided by this number."""
CONTROL_MOVES = 4


def depth(examination: Examination) -> Remark:
    """Check that the program does not exceed a depth limit of one ply, then of ``settings.depth`` plies."""
    examination.need_limit("depth")
    reached = 0
    for told in (1, examination.settings.depth):
        answer = examination.search(examination.positions.ordinary[1], Limits(depth=told))
        reached = _most(examination, answer, "depth")
        if reached > told:
            raise Failed("failure.depth", told=told, reached=reached)
    return remark("note.depth", reached=reached)


def nodes(examination: Examination) -> Remark:
    """Check that the program reports no more nodes than a node limit and the tolerances (``MOST_NODES``) permit."""
    examination.need_limit("nodes")
    told = examination.settings.nodes
    answer = examination.search(examination.positions.ordinary[1], Limits(nodes=told))
    counted = _most(examination, answer, "nodes")
    if counted > MOST_NODES * told + NODES_SLACK:
        raise Failed("failure.nodes", told=told, counted=counted)
    return remark("note.nodes", told=told, counted=counted)


def _most(examination: Examination, answer: SearchAnswer, what: str) -> int:
    """The largest value of the ``SearchLine`` field named ``what`` in the output of a search.

    Raises ``Skipped`` if no line of the output has a value.
    """
    found = [getattr(examination.dialect.read_information(line), what, None) for line in answer.lines]
    known = [number for number in found if number is not None]
    if not known:
        raise Skipped("skip.not_reported")
    return max(known)


def move_time(examination: Examination) -> Remark:
    """Check that the program keeps a fixed time per move; the remark gives the longest of three search times."""
    examination.need_limit("move_time")
    unit = examination.dialect.time_unit_ms
    told = -(-examination.settings.move_time_ms // unit) * unit
    slowest = 0.0
    for position in examination.positions.ordinary[:3]:
        answer = examination.search(position, Limits(move_time_ms=told))
        slowest = max(slowest, answer.elapsed_ms)
    return remark("note.time", told=told, elapsed=f"{slowest:.0f}")


def low_clock(examination: Examination) -> Remark:
    """Check that the program answers in time with a tenth of the clock left and no increment."""
    examination.need_limit("clock")
    limits = examination.dialect.clock_limits()
    assert limits.clock_ms is not None
    unit = examination.dialect.time_unit_ms
    left_ms = max(limits.clock_ms // LOW_CLOCK_SHARE // unit, 1) * unit
    clock = PlayerClock(left_ms * 1_000_000, 0, left_ms, 0, 0)
    answer = examination.search(examination.positions.ordinary[2], Limits(clock_ms=limits.clock_ms), clock)
    return remark("note.time", told=left_ms, elapsed=f"{answer.elapsed_ms:.0f}")


def moves_to_go(examination: Examination) -> Remark:
    """Check that the program never exceeds its clock in self-play with ``CONTROL_MOVES`` moves per time control.

    The game stops one move before the control, because the last move may use all the remaining time.
    """
    examination.need_limit("moves_to_go")
    limits = Limits(clock_ms=examination.dialect.clock_limits().clock_ms, moves_per_control=CONTROL_MOVES)
    examination.dialect.begin_game()
    _, _, least = _play(examination, limits, 2 * (CONTROL_MOVES - 1))
    return remark("note.left", left=least)


def clock_game(examination: Examination) -> Remark:
    """Check that the program never exceeds its clock in ``game_moves`` plies of self-play.

    If a game ends earlier, further games supply the remaining plies.
    """
    examination.need_limit("clock")
    limits = examination.dialect.clock_limits()
    slowest, least, games, made = 0.0, 1 << 62, 0, 0
    while made < examination.settings.game_moves:
        examination.dialect.begin_game()
        moves, slow, left = _play(examination, limits, examination.settings.game_moves - made)
        slowest, least, games, made = max(slowest, slow), min(least, left), games + 1, made + moves
        if moves == 0:
            break
    return remark("note.game", moves=made, games=games, slowest=f"{slowest:.0f}", least=least)


def _play(examination: Examination, limits: Limits, most: int) -> tuple[int, float, int]:
    """Let the program play a game against itself, for at most ``most`` plies.

    Returns the number of plies, the longest time of a move in milliseconds, and the least time left on either clock in
    milliseconds.
    """
    assert limits.clock_ms is not None
    position = examination.positions.ordinary[0].copy()
    left_ns = [limits.clock_ms * 1_000_000] * 2
    slowest, least = 0.0, limits.clock_ms
    while position.ply < most and position.judge(position.game.standard_rules) is None:
        side = position.side_to_move
        # The opponent of the second mover has made one more move.
        to_go = [limits.moves_per_control and limits.moves_per_control - (position.ply + side) // 2 for side in (0, 1)]
        clock = PlayerClock(
            left_ns[side], limits.increment_ms, left_ns[1 - side] // 1_000_000, limits.increment_ms, *to_go
        )
        answer = examination.search(position, limits, clock)
        if answer.move is None:
            break  # it resigned
        position.push(answer.move)
        left_ns[side] = max(0, left_ns[side] - round(answer.elapsed_ms * 1e6))
        slowest, least = max(slowest, answer.elapsed_ms), min(least, left_ns[side] // 1_000_000)
        left_ns[side] += limits.increment_ms * 1_000_000
    return position.ply, slowest, least
