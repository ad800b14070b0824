"""Checks of long-term behaviour."""

from __future__ import annotations

from elolab.arena.checking import processes
from elolab.arena.checking.contract import Failed, Remark, Skipped, remark
from elolab.arena.checking.examination import Examination

MIB = 1 << 20
SPARE_MIB = 48
"""Tolerated growth of memory beyond the transposition table, which fills with use."""
UNKNOWN_TABLE_MIB = 64
"""Assumed size of a table that is not announced."""
SEARCHES = 6
"""Searches in every game over which memory is watched."""


async def memory(examination: Examination) -> Remark:
    """Memory does not grow from the first game to the last."""
    if not processes.is_available():
        raise Skipped("skip.system")
    await _play(examination)
    before = _resident(examination)
    for _ in range(examination.settings.repetitions):
        await _play(examination)
    grown = _resident(examination) - before
    if grown > (_table_mib(examination) + SPARE_MIB) * MIB:
        raise Failed("failure.memory", before=before // MIB, grown=grown // MIB, games=examination.settings.repetitions)
    return remark("note.memory", now=(before + grown) // MIB, grown=max(grown, 0) // MIB)


async def _play(examination: Examination) -> None:
    await examination.dialect.begin_game()
    for position in examination.positions.ordinary[:SEARCHES]:
        await examination.search(position)


def _resident(examination: Examination) -> int:
    return sum(one.resident_bytes for one in processes.family_of(examination.wire.process.process_id))


def _table_mib(examination: Examination) -> int:
    try:
        option = examination.dialect.resource("memory")
    except Skipped:
        option = None
    if option is None or not option.default.isdigit():
        return UNKNOWN_TABLE_MIB
    return int(option.default)
