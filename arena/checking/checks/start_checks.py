"""Checks of the start of a conversation, and of its robustness."""

from __future__ import annotations

import time

from elolab.arena.checking.examination import Examination
from elolab.arena.checking.findings import Failed, Remark, remark

GARBAGE = ("xyzzy", "  ", "elolab 1 2 3", "go-there position uci", "\x7f\x01 \u5c06 \u5e05")
"""Lines that mean nothing in any protocol."""


async def handshake(examination: Examination) -> Remark:
    """The handshake completes after the start of the process."""
    began = time.monotonic()
    await examination.connect()
    return remark("note.seconds", seconds=f"{time.monotonic() - began:.2f}")


async def name(examination: Examination) -> Remark:
    """The handshake gives a name."""
    if not examination.name:
        raise Failed("failure.no_name")
    return remark("note.name", name=examination.name)


async def ready(examination: Examination) -> Remark:
    """Readiness is confirmed, twice; later checks rely on it."""
    examination.knowledge.answers_ready = True
    began = time.monotonic()
    try:
        await examination.dialect.ask_ready()
        await examination.dialect.ask_ready()
    except Failed:
        examination.knowledge.answers_ready = False
        raise
    return remark("note.milliseconds", ms=f"{(time.monotonic() - began) * 500:.1f}")


async def garbage(examination: Examination) -> None:
    """Nonsense before and after a position is ignored."""
    await examination.dialect.say_garbage(GARBAGE)
    await examination.dialect.settled()
    await examination.search(examination.start_position)
    await examination.dialect.say_garbage(GARBAGE)
    await examination.search(examination.start_position)


async def empty_lines(examination: Examination) -> None:
    """Empty lines are ignored."""
    await examination.dialect.say("", "", "   ")
    await examination.search(examination.start_position)


async def line_ends(examination: Examination) -> None:
    """Carriage returns, as Windows programs write them, are accepted."""
    examination.dialect.line_end = "\r"
    await examination.search(examination.positions.ordinary[1])
    examination.dialect.line_end = ""


async def new_game(examination: Examination) -> None:
    """New games in a row work, and a new game after a search forgets the old position."""
    await examination.dialect.begin_game()
    await examination.dialect.begin_game()
    await examination.search(examination.positions.ordinary[-1])
    await examination.dialect.begin_game()
    await examination.search(examination.start_position)
