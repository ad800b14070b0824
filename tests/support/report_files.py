"""Reports and chunks of games without a run's folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from elolab.arena.records import GameRecord
from elolab.arena.reports.packed_games import PackedChunk
from elolab.arena.reports.write import read_contents, write_contents
from elolab.arena.schedule import Withdrawal
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.language import DEFAULT_LANGUAGE


def write_report(
    directory: Path,
    spec: TournamentSpec,
    records: Iterable[GameRecord],
    *,
    planned_games: int,
    withdrawals: Sequence[Withdrawal] = (),
    language: str = DEFAULT_LANGUAGE,
) -> Path:
    """Write the report of games, without the games themselves; returns the path of report.html."""
    contents = read_contents(directory, spec, records, planned_games, withdrawals=withdrawals, language=language)
    return write_contents(directory, contents)


def chunk_of(records: Iterable[GameRecord], game: str, language: str = DEFAULT_LANGUAGE) -> bytes:
    """Pack games into one chunk, in the given order."""
    chunk = PackedChunk(game, language)
    for record in records:
        chunk.add(record)
    return chunk.data()
