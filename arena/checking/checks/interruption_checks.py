"""Checks of interrupted searches and pondering."""

from __future__ import annotations

from elolab.arena.checking.examination import Examination, expect_legal, full_clock
from elolab.arena.checking.findings import Failed, Remark, Skipped, remark
from elolab.engine.games.contract import Position

THINKING_SHARE = 2
"""A search is interrupted after ``move_time_ms`` divided by this number."""


def stop(examination: Examination, *, at_once: bool) -> Remark:
    """Check that an interruption such as ``stop`` ends a search.

    The remark gives the longest of three response times in milliseconds. With ``at_once``, the interruption follows the
    start of the search immediately.
    """
    slowest = 0.0
    for position in examination.positions.ordinary[:3]:
        slowest = max(slowest, _stop(examination, position, at_once=at_once))
    return remark("note.milliseconds", ms=f"{slowest:.1f}")


def _stop(examination: Examination, position: Position, *, at_once: bool = False, asks: bool = False) -> float:
    """Start a search and interrupt it; returns the time in milliseconds until the answer to the search.

    With ``at_once``, interrupts immediately; otherwise after half of ``move_time_ms``. With ``asks``, also asks for
    readiness during the search, and returns the time in milliseconds until the program confirms it.
    """
    dialect = examination.dialect
    if asks and not dialect.listens_while_thinking:
        raise dialect.lacking()
    dialect.begin_endless(position)
    if not at_once:
        _expect_no_answer(examination)
    ready_ms = dialect.ask_ready_while_thinking() if asks else 0.0
    answer = dialect.interrupt()
    if answer is None:
        return ready_ms
    expect_legal(position, answer)
    return ready_ms if asks else answer.elapsed_ms


def _expect_no_answer(examination: Examination) -> None:
    """Let a search run for half of ``move_time_ms``; raises ``Failed`` if the program answers within that time."""
    is_answer = examination.dialect.is_answer
    lines = examination.dialect.read_for(examination.settings.move_time_ms // THINKING_SHARE, is_answer)
    if lines and is_answer(lines[-1]):
        raise Failed("failure.early", said=lines[-1])


def stop_while_idle(examination: Examination) -> None:
    """Check that an idle program ignores an interruption and answers the next search as usual."""
    examination.dialect.interrupt_nothing()
    examination.search(examination.positions.ordinary[1])


def ready_while_thinking(examination: Examination) -> Remark:
    """Check that the program confirms its readiness during a search, and that the search then continues."""
    ready_ms = _stop(examination, examination.start_position, asks=True)
    return remark("note.milliseconds", ms=f"{ready_ms:.1f}")


def single_answer(examination: Examination) -> None:
    """Check that the program answers each search exactly once."""
    answer = examination.search(examination.start_position)
    for line in examination.dialect.read_for(examination.settings.quiet_ms):
        if examination.dialect.is_answer(line):
            raise Failed("failure.again", first=answer.line, again=line)


def ponder_hit(examination: Examination) -> Remark:
    """Check that after a ponder hit the search continues on the program's own clock and ends with a legal move."""
    position = _ponder(examination)
    answer = examination.dialect.hit(position, full_clock(examination.dialect.clock_limits()))
    expect_legal(position, answer)
    return remark("note.milliseconds", ms=f"{answer.elapsed_ms:.1f}")


def ponder_miss(examination: Examination) -> Remark:
    """Check that after a ponder miss the program searches the position actually played."""
    expected = _ponder(examination)
    limits = examination.dialect.clock_limits()
    *moves, last = expected.moves
    position = expected.game.position(expected.start, moves)
    position.push(next(move for move in position.legal_moves() if move != last))
    answer = examination.dialect.miss(position, limits, full_clock(limits))
    expect_legal(position, answer)
    return remark("note.milliseconds", ms=f"{answer.elapsed_ms:.1f}")


def _ponder(examination: Examination) -> Position:
    """Let the program move, then ponder; returns the position on which it ponders.

    The last move of that position is the reply that the program expects, or some legal reply if the program names none.
    """
    limits = examination.dialect.clock_limits()
    position = examination.positions.ordinary[1].copy()
    answer = examination.dialect.search_to_ponder(position, limits, full_clock(limits))
    expect_legal(position, answer)
    if answer.move is None:
        raise Skipped("skip.resigned")
    position.push(answer.move)
    legal = position.legal_moves()
    position.push(answer.expected if answer.expected in legal else legal[0])
    examination.dialect.ponder(position, limits, full_clock(limits))
    _expect_no_answer(examination)
    return position
