"""Playing a tournament and printing what came of it, for every command that plays one."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.arguments import (
    print_json,
)
from engine.search_statistics import SearchStatisticsSettings

if TYPE_CHECKING:
    from arena.play.tournament import Exports, TournamentResult
    from arena.spec import TournamentSpec
from arena.commands.arguments import output_folder


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
        ended = run(
            spec, directory, concurrency=arguments.concurrency, accept_engine_change=arguments.accept_engine_change
        )
    except KeyboardInterrupt:
        print(f"elolab: interrupted; to go on: {resume_command(spec, directory)}", file=sys.stderr)
        return 130
    print_end(spec, directory, ended, arguments.json)
    return ended.exit_code


def print_end(spec: TournamentSpec, directory: Path, ended: TournamentResult, as_json: bool) -> None:
    """Print what came of a tournament, and on standard error what is missing."""
    from arena.play.tournament import resume_command

    for name, reason in ended.unavailable.items():
        print(f"elolab: player {name!r} could not be started and is out: {reason}", file=sys.stderr)
    missing = ended.planned - ended.stored
    if missing and not ended.interrupted:
        print(f"elolab: {missing} of {ended.planned} games were not played", file=sys.stderr)
    if missing:
        kind = "interrupted: " if ended.interrupted else ""
        command = resume_command(spec, directory)
        print(f"elolab: {kind}{ended.stored} of {ended.planned} games are stored; to go on: {command}", file=sys.stderr)
    if as_json:
        _print_result_as_json(spec, directory, ended)
    elif ended.exports is not None:
        print_exported(spec, ended.exports)


def print_exported(spec: TournamentSpec, exports: Exports) -> None:
    from arena.figures.match import match_lines
    from arena.figures.standings import tables_text
    from arena.spec import TWO_PLAYER_FORMATS
    from engine.games import game_named

    print(tables_text(exports.tables, game_named(spec.game).side_names))
    print()
    if spec.format in TWO_PLAYER_FORMATS:
        print("\n".join([*match_lines(spec, exports), ""]))
    print(f"games digest: {exports.digest}")
    print(exports.report)


def _print_result_as_json(spec: TournamentSpec, directory: Path, ended: TournamentResult) -> None:
    data = {
        "name": spec.name,
        "folder": str(directory),
        "planned": ended.planned,
        "stored": ended.stored,
        "interrupted": ended.interrupted,
        "unavailable": ended.unavailable,
    }
    if ended.exports is not None:
        data |= exported_data(spec, ended.exports)
    print_json(data)


def exported_data(spec: TournamentSpec, exports: Exports) -> dict[str, Any]:
    """What was written, as plain data."""
    from arena.figures.match import figures_of_match
    from arena.spec import TWO_PLAYER_FORMATS

    return {
        "standings": [asdict(row) for row in exports.tables.standings],
        "duels": [asdict(row) for row in exports.tables.duels],
        "endings": [asdict(row) for row in exports.tables.endings],
        "fit": exports.tables.fit(),
        **(figures_of_match(exports) if spec.format in TWO_PLAYER_FORMATS else {}),
        "games_digest": exports.digest,
        "report": str(exports.report),
    }
