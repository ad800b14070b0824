"""What is written from a tournament's games: PGN, tables as CSV, one HTML page, a Markdown summary, plots."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from arena.figures.placing import Placing, placing_of
from arena.figures.search_statistics import search_statistics_of
from arena.figures.standings import HeadToHead, Standing, Tables, csv_text, tables_of
from arena.files import replace_file
from arena.notation.pgn import write_games
from arena.play.store import Store
from arena.play.tournament import withdrawals_of
from arena.records import GameRecord, Outcome
from arena.reports.contents import Contents
from arena.reports.markdown import markdown
from arena.reports.page import html_page
from arena.reports.plots import plots_of, search_statistics_plots, write_plots
from arena.schedule import Withdrawal, games_that_count, sequential_run
from arena.sequential import SequentialRun
from arena.tournament_spec import TournamentSpec
from engine.language import DEFAULT_LANGUAGE

PGN_NAME = "games.pgn"
GAME_COLUMNS = (
    "number", "round", "pair", "first", "second", "opening", "result", "reason", "plies", "nodes", "time_ms",
    "started_at", "engine_identity", "key", "digest", "counted",
)  # fmt: skip


@dataclass(frozen=True)
class Exports:
    """What was written and read from a store."""

    digest: str
    """Digest of all games that count, in schedule order."""
    report: Path
    tables: Tables
    sequential: SequentialRun | None
    """The sequential test, if the tournament is one."""
    placing: Placing | None = None
    """Of a Swiss tournament or a knockout."""


def export(spec: TournamentSpec, store: Store, language: str = DEFAULT_LANGUAGE) -> Exports:
    """Write games.pgn, games.csv, the tables and the report into the store's folder.

    Games beyond the end of a sequential test are marked there, and left out of every table.
    """
    outcomes, withdrawals = store.outcomes(), withdrawals_of(store)
    count = games_that_count(spec, outcomes, withdrawals)
    records = store.records()
    write_exports(store.directory, spec, records, count)
    report = write_report(
        store.directory, spec, records, planned_games=count, withdrawals=withdrawals, language=language
    )
    counted = [record for record in records if record.pairing.number < count]
    tables = tables_of(spec.game, [player.name for player in spec.players], counted, dict(spec.anchors))
    placing = placing_of(spec, outcomes, withdrawals)
    return Exports(store.digest(count), report, tables, sequential_run(spec, outcomes), placing)


def write_exports(directory: Path, spec: TournamentSpec, records: Sequence[GameRecord], count: int) -> None:
    """Write games.pgn and games.csv; games whose number is ``count`` or more are marked as not counted."""
    replace_file(
        directory / PGN_NAME,
        lambda stream: write_games(stream, records, spec.name, spec.game, counted=count),
    )
    replace_file(directory / "games.csv", lambda stream: _write_game_table(stream, records, count))


def _write_game_table(stream: IO[str], records: Sequence[GameRecord], count: int) -> None:
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(GAME_COLUMNS)
    for record in records:
        place = record.pairing
        nodes = sum(move.nodes or 0 for move in record.moves)
        time_ms = round(sum(move.time_ms for move in record.moves), 3)
        table.writerow(
            (
                place.number, place.round, place.pair, record.first, record.second, record.opening.name, record.result,
                record.reason, len(record.moves), nodes, time_ms, record.started_at, record.engine_identity, record.key,
                record.digest, "yes" if place.number < count else "no",
            )
        )  # fmt: skip


def write_report(
    directory: Path,
    spec: TournamentSpec,
    records: Sequence[GameRecord],
    *,
    planned_games: int,
    withdrawals: Sequence[Withdrawal] = (),
    runs: Sequence[tuple[str, TournamentSpec]] = (),
    notes: Sequence[str] = (),
    language: str = DEFAULT_LANGUAGE,
) -> Path:
    """Write report.html, report.md, standings.csv, crosstable.csv, superiority.csv and the plots into ``directory``.

    Of a Swiss tournament or a knockout also placing.csv and encounters.csv; ``withdrawals`` are players that it could
    not wait for. Where players' searches were counted also instruments.csv and its companions. Records whose number is
    ``planned_games`` or more lie beyond the end of a sequential test: the page shows them, marked, and nothing counts
    them. ``runs`` are the folders and tournaments that a joint report is about, ``notes`` what to say of it first.

    Returns the path of report.html. The files depend on nothing but the arguments. Raises ``FileError`` if one of them
    cannot be written.
    """
    names = [player.name for player in spec.players]
    ordered = sorted(records, key=lambda record: record.pairing.number)
    counted = [record for record in ordered if record.pairing.number < planned_games]
    tables = tables_of(spec.game, names, counted, dict(spec.anchors))
    outcomes = [Outcome(record.key, record.pairing, record.score) for record in ordered]
    sequential = sequential_run(spec, outcomes)
    placing = placing_of(spec, outcomes, withdrawals)
    plots = plots_of(tables, counted, sequential, spec.game, language)
    search_statistics = search_statistics_of(names, counted)
    counted_plots = search_statistics_plots(search_statistics, language) if search_statistics else ()
    contents = Contents(
        spec, ordered, planned_games, tables, plots, search_statistics, counted_plots, sequential, tuple(runs),
        tuple(notes), language, placing,
    )  # fmt: skip
    write_plots(directory, (*plots, *counted_plots))
    if placing is not None:
        replace_file(directory / "placing.csv", placing.frame().to_csv(index=False))
        replace_file(directory / "encounters.csv", placing.encounters_frame().to_csv(index=False))
    if search_statistics:
        for name, frame in search_statistics.frames().items():
            replace_file(directory / f"{name}.csv", frame.to_csv(index=False))
    replace_file(directory / "standings.csv", csv_text(tables.standings, Standing))
    replace_file(directory / "crosstable.csv", csv_text(tables.head_to_heads, HeadToHead))
    replace_file(directory / "superiority.csv", tables.superiority_csv())
    replace_file(directory / "report.md", markdown(contents))
    page = directory / "report.html"
    replace_file(page, html_page(contents))
    return page
