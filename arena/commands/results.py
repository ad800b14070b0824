"""Playing a tournament and printing what came of it, for every command that plays one."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.commands.arguments import output_folder
from engine.commands.arguments import print_json
from engine.search_statistics import SearchStatisticsSettings

if TYPE_CHECKING:
    from arena.play.tournament import TournamentResult
    from arena.reports.write import Exports
    from arena.tournament_spec import TournamentSpec


def play_and_print(spec: TournamentSpec, arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament under the arguments of ``add_playing_arguments``; returns the exit code."""
    from arena.play.tournament import describe, description_text, prepare, resume_command, run
    from arena.spec import with_anchors

    spec = with_anchors(spec, arguments.anchors)
    if arguments.search_statistics and spec.search_statistics is None:
        spec = replace(spec, search_statistics=SearchStatisticsSettings())
    given = ["--search-statistics"] if arguments.search_statistics else []
    for name, elo in arguments.anchors:
        given += ["--anchor", f"{name}={elo:.15g}"]
    if given:
        spec = replace(spec, command=(*spec.words, *given))
    directory = output_folder(arguments.out, spec)
    if arguments.dry_run:
        description = describe(prepare(spec), directory, arguments.concurrency)
        if arguments.json:
            print_json(description)
        else:
            print(description_text(description))
        return 0
    try:
        result = run(
            spec, directory, concurrency=arguments.concurrency, accept_engine_change=arguments.accept_engine_change
        )
        exports = None if result.interrupted else _written(directory)
    except KeyboardInterrupt:
        print(f"elolab: interrupted; to go on: {resume_command(spec, directory)}", file=sys.stderr)
        return 130
    print_result(spec, directory, result, exports, as_json=arguments.json)
    return result.exit_code


def _written(directory: Path) -> Exports:
    """Write a tournament's PGN, tables and report from its games."""
    from arena.play.store import Store
    from arena.play.tournament import stored_tournament
    from arena.reports.write import export

    with Store(directory, read_only=True) as store:
        return export(stored_tournament(store), store)


def print_result(
    spec: TournamentSpec, directory: Path, result: TournamentResult, exports: Exports | None, *, as_json: bool
) -> None:
    """Print what came of a tournament, and on standard error what is missing."""
    from arena.play.tournament import resume_command

    for name, reason in result.unavailable.items():
        print(f"elolab: player {name!r} could not be started and is out: {reason}", file=sys.stderr)
    missing = result.planned - result.stored
    if missing and not result.interrupted:
        print(f"elolab: {missing} of {result.planned} games were not played", file=sys.stderr)
    if missing:
        kind = "interrupted: " if result.interrupted else ""
        stored = f"{result.stored} of {result.planned} games are stored"
        print(f"elolab: {kind}{stored}; to go on: {resume_command(spec, directory)}", file=sys.stderr)
    if as_json:
        _print_result_as_json(spec, directory, result, exports)
    elif exports is not None:
        print_exports(spec, exports)


def print_exports(spec: TournamentSpec, exports: Exports) -> None:
    from arena.figures.match import match_lines
    from arena.figures.standings import tables_text
    from arena.schedule import is_match
    from engine.games import game_named

    print(tables_text(exports.tables, game_named(spec.game).side_names))
    print()
    if is_match(spec):
        print("\n".join([*match_lines(spec, exports.tables, exports.sequential), ""]))
    print(f"games digest: {exports.digest}")
    print(exports.report)


def _print_result_as_json(
    spec: TournamentSpec, directory: Path, result: TournamentResult, exports: Exports | None
) -> None:
    data = {
        "name": spec.name,
        "folder": str(directory),
        "planned": result.planned,
        "stored": result.stored,
        "interrupted": result.interrupted,
        "unavailable": result.unavailable,
    }
    if exports is not None:
        data |= exports_data(spec, exports)
    print_json(data)


def exports_data(spec: TournamentSpec, exports: Exports) -> dict[str, Any]:
    """What was written, as plain data."""
    from arena.figures.match import figures_of_match
    from arena.schedule import is_match

    return {
        "standings": [asdict(row) for row in exports.tables.standings],
        "duels": [asdict(row) for row in exports.tables.duels],
        "endings": [asdict(row) for row in exports.tables.endings],
        "fit": exports.tables.fit(),
        **(figures_of_match(exports.tables, exports.sequential) if is_match(spec) else {}),
        "games_digest": exports.digest,
        "report": str(exports.report),
    }
