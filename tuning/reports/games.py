"""The games of a run in its report: all of them in games.pgn, and as many as a page takes for its replay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.files import replace_file
from arena.notation.pgn import write_games
from arena.play.store import STORE_NAME, Store
from arena.records import GameRecord
from arena.reports.games import MAX_MOVES, Candidate, GamesOnPage, chosen
from arena.reports.write import PGN_NAME
from engine.language import Catalogue
from tuning.reports.document import MESSAGES


def games_of_run(directory: Path, game: str, event: str, language: str) -> GamesOnPage | None:
    """Write the PGN of a run's folder; its games for the page, ``None`` where nothing was played.

    Raises ``FileError`` if the file cannot be written, ``StoreError`` if the games cannot be read.
    """
    if not (directory / STORE_NAME).is_file():
        return None
    candidates: list[Candidate] = []

    def noted(store: Store) -> Iterator[GameRecord]:
        candidates.clear()
        for record in store.iterate():
            candidates.append(Candidate.of(record))
            yield record

    with Store(directory, read_only=True) as store:
        replace_file(directory / PGN_NAME, lambda stream: write_games(stream, noted(store), event, game))
        keys = chosen(candidates, MAX_MOVES)
        records = list(store.iterate(keys))
    if not candidates:
        return None
    note = ""
    if len(records) < len(candidates):
        fields = {"shown": len(records), "games": len(candidates), "moves": MAX_MOVES, "file": PGN_NAME}
        note = Catalogue(MESSAGES, language)("document.games", **fields)
    players = dict.fromkeys(name for record in records for name in (record.first, record.second))
    return GamesOnPage(game, event, tuple(players), records, note=note, language=language)
