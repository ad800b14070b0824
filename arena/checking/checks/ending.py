"""Checks of the conversation's end."""

from __future__ import annotations

import time

from elolab.arena.checking import processes
from elolab.arena.checking.contract import Failed, Remark, Skipped, remark
from elolab.arena.checking.examination import Examination
from elolab.arena.players.event_loop import in_thread

GRACE_SECONDS = 0.1
"""Time after the program's end for its child processes to end."""


async def farewell(examination: Examination) -> Remark:
    """The program ends after the farewell when idle."""
    await examination.search(examination.positions.ordinary[0])
    return await _leave(examination, examination.dialect.farewell)


async def farewell_while_thinking(examination: Examination) -> Remark:
    """The program ends after the farewell during a search."""
    await examination.dialect.begin_endless(examination.positions.ordinary[0])
    return await _leave(examination, examination.dialect.farewell)


async def end_of_input(examination: Examination) -> Remark:
    """The program ends when its input ends, as after a crash of the harness."""
    await examination.search(examination.positions.ordinary[0])
    return await _leave(examination, None)


async def end_of_input_while_thinking(examination: Examination) -> Remark:
    """The program ends when its input ends during a search."""
    await examination.dialect.begin_endless(examination.positions.ordinary[0])
    return await _leave(examination, None)


async def _leave(examination: Examination, word: str | None) -> Remark:
    began = time.monotonic()
    ended = await examination.wire.leave(word, examination.settings.ending_ms)
    took = time.monotonic() - began
    if not ended:
        raise Failed("failure.lingers", seconds=f"{examination.settings.ending_ms / 1000:g}")
    process = examination.wire.process
    await process.end()
    if process.exit_signal is not None:
        raise Failed("failure.ended", how=process.exit.text())
    await examination.end()
    return remark("note.seconds", seconds=f"{took:.2f}")


async def nobody_left(examination: Examination) -> None:
    """Child processes end with the program."""
    if not processes.is_available():
        raise Skipped("skip.system")
    await examination.search(examination.positions.ordinary[0])
    process = examination.wire.process
    family = processes.family_of(process.process_id)
    if not await examination.wire.leave(examination.dialect.farewell, examination.settings.ending_ms):
        raise Skipped("skip.lingers")
    await in_thread(time.sleep, GRACE_SECONDS)
    left = processes.alive([one for one in family if one.number != process.process_id])
    if left:
        raise Failed("failure.children", numbers=", ".join(str(one.number) for one in left))
    await examination.end()
