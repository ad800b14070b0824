"""Checks of the program's process: how it ends, and its use of processor time and memory."""

from __future__ import annotations

import time

from elolab.arena.checking import processes
from elolab.arena.checking.examination import Examination
from elolab.arena.checking.findings import Failed, Remark, Skipped, remark

GRACE_SECONDS = 0.1
"""Seconds for which child processes may outlive the program."""
MIB = 1 << 20
SPARE_MIB = 48
"""Tolerated growth of a program's memory in MiB, in addition to its transposition table, which fills with use."""
UNKNOWN_TABLE_MIB = 64
"""Assumed size in MiB of the transposition table if the program announces no option for it."""
SEARCHES = 6
"""Searches per game in the check of memory growth."""
BUSY = 0.3
"""Maximum load of an idle program, as a share of one processor."""


def ending(examination: Examination, *, farewell: bool, thinking: bool) -> Remark:
    """Check that the program exits without a crash, when idle or, with ``thinking``, during a search.

    With ``farewell``, the check sends ``quit``; otherwise it closes the program's input, as a crash of elolab would.
    """
    if thinking:
        examination.dialect.begin_endless(examination.start_position)
    else:
        examination.search(examination.start_position)
    began = time.monotonic()
    ended = examination.dialect.leave(examination.dialect.farewell if farewell else None)
    took = time.monotonic() - began
    if not ended:
        raise Failed("failure.lingers", seconds=f"{examination.settings.ending_ms / 1000:g}")
    process = examination.dialect.process
    process.end()
    if process.exit_signal is not None:
        raise Failed("failure.ended", how=process.exit.text())
    examination.close()
    return remark("note.seconds", seconds=f"{took:.2f}")


def nobody_left(examination: Examination) -> None:
    """Check that child processes end with the program."""
    family = _family_after_search(examination)
    if not examination.dialect.leave(examination.dialect.farewell):
        raise Skipped("skip.lingers")
    time.sleep(GRACE_SECONDS)
    number = examination.dialect.process.process_id
    left = processes.alive([one for one in family if one.number != number])
    if left:
        raise Failed("failure.children", numbers=", ".join(str(one.number) for one in left))
    examination.close()


def _family_after_search(examination: Examination) -> list[processes.ProcessStatus]:
    if not processes.is_available():
        raise Skipped("skip.system")
    examination.search(examination.start_position)
    return _family(examination)


def _family(examination: Examination) -> list[processes.ProcessStatus]:
    return processes.family_of(examination.dialect.process.process_id)


def idle(examination: Examination) -> Remark:
    """Check that the program uses little processor time after a search."""
    _family_after_search(examination)
    examination.dialect.settled()
    before = processes.demanded_seconds(_family(examination))
    quiet_ms = max(examination.settings.quiet_ms, 200)
    examination.dialect.read_for(quiet_ms)
    share = (processes.demanded_seconds(_family(examination)) - before) / (quiet_ms / 1000)
    if share > BUSY:
        raise Failed("failure.busy", percent=f"{100 * share:.0f}")
    return remark("note.percent", percent=f"{100 * max(share, 0):.0f}")


def memory(examination: Examination) -> Remark:
    """Check that the program's memory does not keep growing from game to game."""
    games = examination.settings.repetitions
    before = _resident_after_game(examination)
    for _ in range(games):
        now = _resident_after_game(examination)
    if now - before > (_table_mib(examination) + SPARE_MIB) * MIB:
        raise Failed("failure.memory", before=before // MIB, grown=(now - before) // MIB, games=games)
    return remark("note.memory", now=now // MIB, grown=max(now - before, 0) // MIB)


def _resident_after_game(examination: Examination) -> int:
    if not processes.is_available():
        raise Skipped("skip.system")
    examination.dialect.begin_game()
    for position in examination.positions.ordinary[:SEARCHES]:
        examination.search(position)
    return sum(one.resident_bytes for one in _family(examination))


def _table_mib(examination: Examination) -> int:
    try:
        option = examination.dialect.resource("memory")
    except Skipped:
        option = None
    return int(option.default) if option is not None and option.default.isdigit() else UNKNOWN_TABLE_MIB
