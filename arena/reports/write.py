"""Writes the files of a tournament: games as PGN, tables as CSV, the report as HTML and Markdown, and the plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from elolab.arena.files import OTHER_FOLDER, replace_file, replacing
from elolab.arena.notation.csv_tables import frame_csv, row_writer
from elolab.arena.notation.pgn import DETAILS, GameWriter
from elolab.arena.notation.played_tags import PlayedAs, played_as
from elolab.arena.notation.variations import VariationCount, VariationCounter
from elolab.arena.play.store import STORE_NAME, Store, made_folder
from elolab.arena.play.tournament_run import withdrawals_of
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats, caveats_of
from elolab.arena.provenance.record import builds_by_player, remarks_on
from elolab.arena.records import GameRecord, GameSummary, Outcome, games_digest
from elolab.arena.reports.contents import Contents
from elolab.arena.reports.document import write_document
from elolab.arena.reports.packed_games import GAMES_FOLDER, GamePacker
from elolab.arena.reports.plots import plots_of, search_statistics_plots
from elolab.arena.reports.tournament import tournament_document
from elolab.arena.schedule import Withdrawal, games_expected, games_that_count, sequential_run
from elolab.arena.sequential import SequentialRun
from elolab.arena.statistics.placing import Placing, placing_of
from elolab.arena.statistics.search_tables import SearchStatisticsCounter
from elolab.arena.statistics.standings import TableCounter, Tables, tables_of
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError
from elolab.engine.language import DEFAULT_LANGUAGE

PGN_NAME = "games.pgn"
GAME_COLUMNS = (
    "number", "round", "pair", "first", "second", "opening", "result", "reason", "plies", "nodes", "time_ms",
    "started_at", "engine_identity", "key", "digest", "counted",
)  # fmt: skip


@dataclass(frozen=True)
class Exports:
    """The results of a tournament, and the path of the report if one was written."""

    digest: str
    """Digest of the games that count, in schedule order."""
    report: Path | None
    """Path of ``report.html``; ``None`` if no files were written."""
    tables: Tables
    sequential: SequentialRun | None
    """The sequential test; ``None`` if the tournament has none."""
    placing: Placing | None = None
    """Final ranking of a Swiss tournament or a knockout; ``None`` for other formats."""
    caveats: Caveats = NO_CAVEATS
    variations: tuple[VariationCount, ...] = ()
    """By player: numbers of announced scores and variations, and of faults in them; empty if no files were written."""


def folder_beside_runs(directory: Path) -> Path:
    """Create the folder of a report, unless it exists; returns its path.

    Raises ``UserError`` if the folder contains a run or cannot be created.
    """
    if (directory / STORE_NAME).exists():
        raise UserError(f"{directory}: already holds a run", OTHER_FOLDER)
    return made_folder(directory)


def export(
    spec: TournamentSpec,
    store: Store,
    language: str = DEFAULT_LANGUAGE,
    directory: Path | None = None,
    pgn_detail: str = DETAILS[0],
) -> Exports:
    """Write ``games.pgn``, ``games.csv``, the tables and the report into a folder, by default the store's folder.

    Returns the results. ``pgn_detail`` is the amount of detail in ``games.pgn``, one of ``arena.notation.pgn.DETAILS``.
    Games after the end of a sequential test are marked in ``games.pgn`` and ``games.csv``, and do not count in the
    tables. Games are read once, one at a time.
    """
    directory = directory or store.directory
    withdrawals = withdrawals_of(store)
    count = games_that_count(spec, store.outcomes(), withdrawals)
    players = played_as(spec.players, spec.game, builds_by_player(store, spec.players))
    with exported(directory, spec, store.iterate(), count, players, pgn_detail) as records:
        contents = read_contents(
            directory, spec, records, count, withdrawals=withdrawals, provenance=remarks_on(store), players=players,
            language=language,
        )  # fmt: skip
    return _exports(contents, write_contents(directory, contents), store.digest(count))


def figures(spec: TournamentSpec, store: Store) -> Exports:
    """Compute the results of a tournament without writing files."""
    withdrawals, outcomes = withdrawals_of(store), [*store.outcomes()]
    count = games_that_count(spec, outcomes, withdrawals)
    records = (record for record in store.iterate() if record.pairing.number < count)
    tables = tables_of(spec.game, [player.name for player in spec.players], records, dict(spec.anchors))
    placing = placing_of(spec, outcomes, withdrawals)
    caveats = caveats_of(store, tables.faults, tables.games)
    return Exports(store.digest(count), None, tables, sequential_run(spec, outcomes), placing, caveats)


def export_joint(
    directory: Path,
    spec: TournamentSpec,
    records: Sequence[GameRecord],
    runs: Sequence[tuple[str, TournamentSpec]],
    notes: Sequence[str],
    language: str,
    pgn_detail: str = DETAILS[0],
) -> Exports:
    """Write all files of a joint report into a folder; returns the results.

    ``records`` are the renumbered games of all runs. ``runs`` has the folder and the specification of each run.
    ``notes`` are explanations and warnings for the reader. ``pgn_detail`` is one of ``arena.notation.pgn.DETAILS``.
    """
    count = len(records)
    players = played_as(spec.players, spec.game)
    with exported(directory, spec, records, count, players, pgn_detail) as games:
        contents = read_contents(
            directory, spec, games, count, runs=runs, notes=notes, players=players, language=language
        )
    return _exports(contents, write_contents(directory, contents), games_digest(records))


def _exports(contents: Contents, report: Path, digest: str) -> Exports:
    return Exports(
        digest, report, contents.tables, contents.sequential, contents.placing, contents.caveats, contents.variations
    )


@contextmanager
def exported(
    directory: Path,
    spec: TournamentSpec,
    records: Iterable[GameRecord],
    count: int,
    players: Mapping[str, PlayedAs] = MappingProxyType({}),
    pgn_detail: str = DETAILS[0],
) -> Iterator[Iterator[GameRecord]]:
    """A context that yields an iterator over ``records`` and writes each game that is read from it to two files.

    The end of the context replaces ``games.pgn`` and ``games.csv`` in ``directory`` by these files. Only the first
    ``count`` games of the schedule count; all others are marked as not counted.
    ``players`` and ``pgn_detail`` are as for ``GameWriter``.
    """
    with replacing(directory / PGN_NAME) as pgn, replacing(directory / "games.csv") as stream:
        write_row = row_writer(stream)
        write_row(GAME_COLUMNS)
        writer = GameWriter(pgn, spec.name, spec.game, counted=count, players=players, detail=pgn_detail)

        def written() -> Iterator[GameRecord]:
            for record in records:
                writer.write(record)
                write_row(_table_row(record, count))
                yield record

        yield written()


def _table_row(record: GameRecord, count: int) -> tuple[Any, ...]:
    place = record.pairing
    known = [move.nodes for move in record.moves if move.nodes is not None]
    nodes = sum(known) if known else None  # an empty cell if no player reported any
    time_ms = round(sum(move.time_ms for move in record.moves), 3)
    return (
        place.number, place.round, place.pair, record.first, record.second, record.opening.name, record.result,
        record.reason, len(record.moves), nodes, time_ms, record.started_at, record.engine_identity, record.key,
        record.digest, "yes" if place.number < count else "no",
    )  # fmt: skip


def read_contents(
    directory: Path,
    spec: TournamentSpec,
    records: Iterable[GameRecord],
    planned_games: int,
    *,
    withdrawals: Sequence[Withdrawal] = (),
    runs: Sequence[tuple[str, TournamentSpec]] = (),
    notes: Sequence[str] = (),
    provenance: Sequence[tuple[str, Mapping[str, Any]]] = (),
    players: Mapping[str, PlayedAs] | None = None,
    language: str,
) -> Contents:
    """Read the games once, in schedule order; returns the contents of the report.

    Only the first ``planned_games`` games of the schedule count: games after the decision of a sequential test do not.
    In a joint report, ``runs`` has each run's folder and specification. ``notes`` and ``provenance`` become warnings
    (see ``Contents`` and ``Caveats``). Chunks of games may be written into ``directory``.
    """
    names = [player.name for player in spec.players]
    counter, searches = TableCounter(spec.game, names), SearchStatisticsCounter(names)
    variations = VariationCounter(spec.game)
    games: list[GameSummary] = []
    outcomes: list[Outcome] = []
    packer = GamePacker(names, directory / GAMES_FOLDER, spec.game, language)
    for record in records:
        games.append(GameSummary.of(record))
        outcomes.append(Outcome("", record.pairing, record.score))
        packer.add(record)
        if record.pairing.number < planned_games:
            counter.add(record)
            searches.add(record)
            variations.add(record)
    tables, search_statistics = counter.tables(dict(spec.anchors)), searches.sums()
    sequential = sequential_run(spec, outcomes)
    placing = placing_of(spec, outcomes, withdrawals)
    counted = [game for game in games if game.pairing.number < planned_games]
    expected = None if runs else games_expected(spec, outcomes, planned_games)
    plots = plots_of(tables, counted, sequential, spec.game, language)
    counted_plots = search_statistics_plots(search_statistics, language) if search_statistics else ()
    return Contents(
        spec, games, packer.packed(), planned_games, tables, plots, search_statistics, counted_plots, sequential,
        tuple(runs), tuple(notes), language, placing, expected, Caveats(tables.faults, tables.games, provenance),
        played_as(spec.players, spec.game) if players is None else players, variations.counts(),
    )  # fmt: skip


def write_contents(directory: Path, contents: Contents) -> Path:
    """Write a report's files except the games; returns the path of ``report.html``. Raises ``FileError`` on failure."""
    tables, placing, search_statistics = contents.tables, contents.placing, contents.search_statistics
    if placing is not None:
        replace_file(directory / "placing.csv", frame_csv(placing.frame()))
        replace_file(directory / "encounters.csv", frame_csv(placing.encounters_frame()))
    if search_statistics:
        for name, frame in search_statistics.frames().items():
            replace_file(directory / f"{name}.csv", frame_csv(frame))
    replace_file(directory / "standings.csv", tables.standings_csv())
    replace_file(directory / "crosstable.csv", tables.crosstable_csv())
    replace_file(directory / "superiority.csv", tables.superiority_csv())
    return write_document(directory, tournament_document(contents))
