"""Checks of interrupted searches, pondering and idle silence."""

from __future__ import annotations

from elolab.arena.checking import processes
from elolab.arena.checking.contract import Answer, Failed, Remark, Skipped, remark
from elolab.arena.checking.examination import Examination, expect_legal, full_clock
from elolab.engine.games.contract import Position

THINKING_SHARE = 2
"""Divisor of ``move_time_ms`` for the time after which a search is interrupted."""
BUSY = 0.3
"""Processor share that an idle program must stay below."""


async def stop(examination: Examination) -> Remark:
    """``stop`` ends a running search."""
    return await _stop(examination, examination.settings.move_time_ms // THINKING_SHARE)


async def stop_at_once(examination: Examination) -> Remark:
    """``stop`` works immediately after the start of a search."""
    return await _stop(examination, 0)


async def _stop(examination: Examination, after_ms: int) -> Remark:
    slowest = 0.0
    for position in examination.positions.ordinary[:3]:
        await _begin_endless(examination, position, after_ms)
        answer = await examination.dialect.interrupt()
        if answer is not None:
            expect_legal(position, answer)
            slowest = max(slowest, answer.elapsed_ms)
    return remark("note.milliseconds", ms=f"{slowest:.1f}")


async def _begin_endless(examination: Examination, position: Position, ms: int) -> None:
    """Start a search and let it run for some milliseconds; raises ``Failed`` if it answers."""
    await examination.dialect.begin_endless(position)
    lines = await examination.wire.overhear(ms, examination.dialect.looks_like_answer) if ms else []
    _expect_no_answer(examination, lines)


def _expect_no_answer(examination: Examination, lines: list[str]) -> None:
    for line in lines[-1:]:
        if examination.dialect.looks_like_answer(line):
            raise Failed("failure.early", said=line)


async def stop_while_idle(examination: Examination) -> None:
    """``stop`` while idle has no effect, and the next search is answered as usual."""
    await examination.dialect.interrupt_nothing()
    await examination.search(examination.positions.ordinary[1])


async def ready_while_thinking(examination: Examination) -> Remark:
    """A readiness question is answered during a search, which goes on."""
    if not examination.dialect.listens_while_thinking:
        raise examination.dialect.lacking()
    if not examination.knowledge.answers_ready:
        raise Skipped("skip.not_ready")
    start = examination.positions.ordinary[0]
    await _begin_endless(examination, start, examination.settings.move_time_ms // THINKING_SHARE)
    took_ms = await examination.dialect.ask_ready_while_thinking()
    answer = await examination.dialect.interrupt()
    if answer is not None:
        expect_legal(start, answer)
    return remark("note.milliseconds", ms=f"{took_ms:.1f}")


async def single_answer(examination: Examination) -> None:
    """A search has only one answer."""
    answer = await examination.search(examination.positions.ordinary[0])
    for line in await examination.wire.overhear(examination.settings.quiet_ms):
        if examination.dialect.looks_like_answer(line):
            raise Failed("failure.again", first=answer.line, again=line)


async def ponder_hit(examination: Examination) -> Remark:
    """After a ponder hit the search continues on its own time, which starts with the opponent's move."""
    position, answer = await _ponder(examination)
    limits = examination.dialect.clock_limits()
    answer = await examination.dialect.hit(position, full_clock(limits))
    expect_legal(position, answer)
    return remark("note.milliseconds", ms=f"{answer.elapsed_ms:.1f}")


async def ponder_miss(examination: Examination) -> Remark:
    """After a ponder miss the program searches the position actually played."""
    position, _ = await _ponder(examination)
    limits = examination.dialect.clock_limits()
    other = _without_last(position)
    expected = position.moves[-1]
    other.push(next(move for move in other.legal_moves() if move != expected))
    answer = await examination.dialect.miss(other, limits, full_clock(limits))
    expect_legal(other, answer)
    return remark("note.milliseconds", ms=f"{answer.elapsed_ms:.1f}")


async def _ponder(examination: Examination) -> tuple[Position, Answer]:
    """Let it move, then ponder on its expected reply, or on any; returns the position after that reply."""
    limits = examination.dialect.clock_limits()
    position = examination.positions.ordinary[1].copy()
    answer = await examination.dialect.search_to_ponder(position, limits, full_clock(limits))
    expect_legal(position, answer)
    if answer.move is None:
        raise Skipped("skip.resigned")
    position.push(answer.move)
    legal = position.legal_moves()
    position.push(answer.expected if answer.expected in legal else legal[0])
    await examination.dialect.ponder(position, limits, full_clock(limits))
    after_ms = examination.settings.move_time_ms // THINKING_SHARE
    _expect_no_answer(examination, await examination.wire.overhear(after_ms, examination.dialect.looks_like_answer))
    return position, answer


def _without_last(position: Position) -> Position:
    before = position.game.position(position.start)
    for move in position.moves[:-1]:
        before.push(move)
    return before


async def idle(examination: Examination) -> Remark:
    """The program uses little processor time after a search."""
    if not processes.is_available():
        raise Skipped("skip.system")
    await examination.search(examination.positions.ordinary[1])
    await examination.dialect.settle()
    before = _demanded_seconds(examination)
    quiet_ms = max(examination.settings.quiet_ms, 200)
    await examination.wire.overhear(quiet_ms)
    share = (_demanded_seconds(examination) - before) / (quiet_ms / 1000)
    if share > BUSY:
        raise Failed("failure.busy", percent=f"{100 * share:.0f}")
    return remark("note.percent", percent=f"{100 * max(share, 0):.0f}")


def _demanded_seconds(examination: Examination) -> float:
    return processes.demanded_seconds(processes.family_of(examination.wire.process.process_id))
