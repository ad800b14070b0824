"""Plays a tournament and prints its result, for every command that plays one."""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.colours import RED, coloured, terminal_columns, text_columns
from elolab.arena.files import FileError, replacing
from elolab.cli.shared.match_conditions import epd_file, pgn_words
from elolab.cli.shared.options import print_json, warn
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import output_file, output_folder, run_options
from elolab.engine.errors import UserError
from elolab.engine.language import console, fitted, wrapped
from elolab.engine.search_statistics import SearchStatisticsSettings

if TYPE_CHECKING:
    from elolab.arena.play.store import Store
    from elolab.arena.play.tournament_run import TournamentResult
    from elolab.arena.provenance.caveats import Caveats
    from elolab.arena.reports.write import Exports
    from elolab.arena.run import Purpose
    from elolab.arena.tournament_spec import TournamentSpec

BEGINNING_BYTES = 200
"""Number of bytes at the start of two PGN files that are compared to decide whether both belong to the same run.

These bytes contain the players and the date of the first game.
"""

LEAST_COLUMNS = 60
"""Width of the narrowest table layout in characters. On a narrower terminal the table's lines wrap."""


def play_and_print(spec: TournamentSpec, arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament with the options of ``add_playing``, print it, return the exit code."""
    from elolab.arena.play.tournament_run import describe, description_text, prepare, purpose_of, run, stored_result
    from elolab.arena.run import StoppedByFaults, check_directory
    from elolab.arena.tournament_reader import with_anchors

    spec = with_anchors(spec, arguments.anchors)
    if arguments.search_statistics and spec.search_statistics is None:
        spec = replace(spec, search_statistics=SearchStatisticsSettings())
    spec = replace(spec, command=arguments.command_line)
    directory = output_folder(arguments.out, spec.name)
    copy, positions = _copy_of_games(directory, arguments), _positions_file(arguments)
    if arguments.dry_run:
        plan = prepare(spec)
        purpose = purpose_of(plan)
        check_directory(directory, purpose, accepts_changes=arguments.accept_engine_change)
        description = describe(plan, directory, arguments.concurrency)
        return print_plan(purpose, directory, arguments, description, [description_text(description)])
    stopped = None
    try:
        try:
            result = run(spec, directory, **run_options(arguments))
        except StoppedByFaults as error:
            stopped, result = error, stored_result(spec, directory)
        if not directory.exists():  # no game could begin
            warn_of_missing(result)
            return result.exit_code
        exports, failure = write_results(directory, arguments.language, pgn_detail(arguments))
        if failure is None and result.stored:
            try:
                if copy is not None:
                    _copy_games(directory, copy)
                if positions is not None:
                    _write_positions(directory, positions)
            except (UserError, OSError) as error:
                failure = file_error(error)
    except KeyboardInterrupt:
        warn("console.interrupted", command=spec.command_line)
        return 130
    print_result(spec, directory, result, exports, arguments)
    if stopped is not None:
        sys.stdout.flush()
        raise stopped
    if result.forfeits and not result.interrupted:
        warn("console.forfeits_one" if result.forfeits == 1 else "console.forfeits", games=result.forfeits)
    if failure is not None:
        sys.stdout.flush()
        raise after_outcome(failure)
    return result.exit_code


def print_plan(
    purpose: Purpose, directory: Path, arguments: argparse.Namespace, data: Mapping[str, Any], lines: Sequence[str]
) -> int:
    """Print the plan of a run for ``--dry-run``; returns the exit code.

    With ``--json`` prints ``data``, otherwise ``lines``; either way, the processors that the run would use come last.
    ``purpose`` describes the run. Raises ``UserError`` if the run could not be played with the given options.
    """
    from elolab.arena.run import check_clocks, check_options, machine_line, machine_plan, overload_warning

    check_options(arguments.concurrency, arguments.cluster, arguments.affinity, getattr(arguments, "log", None))
    check_clocks(purpose, arguments.cluster, arguments.wall_clock_on_cluster, arguments.scale_limits)
    where = (arguments.concurrency, arguments.cluster, arguments.affinity)
    warning = overload_warning(purpose, *where, oversubscribe=arguments.oversubscribe)
    machine, warnings = machine_plan(purpose, *where), [warning] if warning else []
    if arguments.json:
        print_json({**data, "machine": machine, "warnings": warnings})
    else:
        shown = fitted(lines, terminal_columns(sys.stdout)) if sys.stdout.isatty() else lines
        print(*shown, *([] if machine is None else [machine_line(machine)]), sep="\n")
        print_warnings(warnings)
    warn_if_in_use(directory)
    return 0


def after_outcome(failure: FileError) -> FileError:
    """Complete the error for a file that could not be written after the games.

    The remedy says that the games are stored and that the command should be repeated.
    """
    return FileError(f"{failure}", "fix this, then give the same command again; the games are stored")


def _copy_of_games(directory: Path, arguments: argparse.Namespace) -> Path | None:
    """The path of ``--pgnout``, or ``None``; raises ``UsageError`` if it is not writable or has another run's games."""
    if getattr(arguments, "pgnout", None) is None:
        return None
    path = output_file("--pgnout", pgn_words(arguments.pgnout)[0])
    if path.is_file() and not _begin_alike(path, _games_file(directory)):
        raise UsageError(f"--pgnout {path}: the file holds other games", "name another file, or remove this one")
    return path


def pgn_detail(arguments: argparse.Namespace) -> str:
    """Level of detail of games.pgn, one of ``DETAILS``: from ``--pgn-detail``, or else from ``--pgnout``."""
    from elolab.arena.notation.pgn import DETAILS

    words = getattr(arguments, "pgnout", None)
    detail: str | None = arguments.pgn_detail or (words and pgn_words(words)[1])
    return detail or DETAILS[0]


def _begin_alike(copy: Path, own: Path) -> bool:
    """Whether ``copy`` is a copy of ``own``, the run's PGN: the two files begin with the same players and date."""
    try:
        with (gzip.open if copy.suffix == ".gz" else open)(copy, "rb") as one, own.open("rb") as other:
            return one.read(BEGINNING_BYTES) == other.read(BEGINNING_BYTES)
    except (OSError, EOFError, zlib.error):  # no games yet, or not compressed despite its name
        return False


def _copy_games(directory: Path, copy: Path) -> None:
    """Copy the folder's PGN file, and compress the copy if its name ends in ``.gz``."""
    with _games_file(directory).open("rb") as source, replacing(copy, binary=True) as stream:
        if copy.suffix != ".gz":
            shutil.copyfileobj(source, stream)
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as compressed:
            shutil.copyfileobj(source, compressed)


def _positions_file(arguments: argparse.Namespace) -> Path | None:
    """The path of ``--epdout``, or ``None``. Raises ``UsageError`` if it is not writable."""
    if getattr(arguments, "epdout", None) is None:
        return None
    return output_file("--epdout", epd_file(arguments.epdout))


def _write_positions(directory: Path, path: Path) -> None:
    """Write the final position of every stored game to ``path``, one per line, in schedule order."""
    from elolab.arena.play.store import Store

    with Store(directory, read_only=True) as store, replacing(path) as stream:
        stream.writelines(f"{record.final_position}\n" for record in store.records())


def _games_file(directory: Path) -> Path:
    from elolab.arena.reports.write import PGN_NAME

    return directory / PGN_NAME


@contextmanager
def finishing() -> Iterator[None]:
    """A context manager for writing a report: the first Ctrl-C lets it continue, the second skips it.

    Skipping raises ``KeyboardInterrupt``, even if a plotting library has turned the interruption into another error. A
    Ctrl-C that has already stopped the run counts as the first.
    """
    from elolab.arena.players.interruption import requests_to_end, stopping_on_signals

    try:
        if requests_to_end():
            warn("console.writing_report")
            yield
        else:
            with stopping_on_signals(_Patience()):
                yield
    except Exception:
        if requests_to_end() > 1:
            raise KeyboardInterrupt from None
        raise


class _Patience:
    """Stand-in for a run's stop flag while the report is being written: Ctrl-C then only prints a message."""

    def set(self) -> None:
        """Print that the report is still being written, to file descriptor 2: ``sys.stderr`` may be in use."""
        os.write(2, f"elolab: {console('elolab.arena')('console.writing_report')}\n".encode())


def warn_if_in_use(directory: Path) -> None:
    """Print a warning to standard error if another process is using the folder."""
    from elolab.arena.play.store import user_of

    process = user_of(directory)
    if process is not None:
        sys.stdout.flush()
        warn("console.in_use", folder=directory, process=process)


def write_results(directory: Path, language: str, detail: str) -> tuple[Exports, FileError | None]:
    """Write tables, PGN and report of the tournament in ``directory``; ``detail`` and the result are as for
    ``written_exports``.

    Writes nothing if no game has ended and no player has withdrawn.
    """
    from elolab.arena.play.store import Store
    from elolab.arena.play.tournament_run import stored_tournament, withdrawals_of
    from elolab.arena.reports.write import figures

    with Store(directory, read_only=True) as store:
        spec = stored_tournament(store)
        if not len(store) and not withdrawals_of(store):
            return figures(spec, store), None
        with finishing():
            return written_exports(spec, store, language, directory, detail)


def written_exports(
    spec: TournamentSpec, store: Store, language: str, directory: Path, detail: str
) -> tuple[Exports, FileError | None]:
    """Write a tournament's PGN, tables and report; returns the results, and the error if a file could not be written.

    ``detail`` is the level of detail of games.pgn, one of ``arena.notation.pgn.DETAILS``.
    """
    from elolab.arena.reports.write import export, figures

    try:
        return export(spec, store, language, directory, detail), None
    except (FileError, OSError) as error:
        return figures(spec, store), file_error(error)


def file_error(error: UserError | OSError) -> FileError:
    """Convert an error from writing a file to a ``FileError`` of one line, which names the file."""
    return FileError(str(error) if isinstance(error, UserError) else f"{error.filename}: {error.strerror}")


def print_result(
    spec: TournamentSpec,
    directory: Path,
    result: TournamentResult,
    exports: Exports,
    arguments: argparse.Namespace,
) -> None:
    """Print a tournament's result and tables (``exports``). Warn on standard error if games were not played."""
    warn_of_missing(result)
    if arguments.json:
        _print_result_as_json(spec, directory, result, exports)
    elif result.stored:
        print_exports(spec, exports, arguments.language)
    elif exports.report is not None:
        print(exports.report)
    if result.missing:
        sys.stdout.flush()
        key = "console.interrupted_stored" if result.interrupted else "console.stored"
        warn(key, stored=result.stored, planned=result.planned, command=spec.command_line)


def warn_of_missing(result: TournamentResult) -> None:
    """Print to standard error which players could not be started, and how many games were not played."""
    for name, reason in result.unavailable.items():
        warn("console.unavailable", name=name, reason=reason)
    for entry in result.withdrawals:
        if entry.player not in result.unavailable:
            warn("console.unavailable", name=entry.player, reason=entry.reason)
    if result.unplayable:
        warn("console.unplayable", games=result.unplayable)
    if result.missing and not result.interrupted:
        warn("console.not_played", missing=result.missing, planned=result.planned)


def print_exports(spec: TournamentSpec, exports: Exports, language: str) -> None:
    """Print a tournament's tables and the path of its report."""
    from elolab.arena.schedule import is_match
    from elolab.arena.statistics.match_statistics import match_lines
    from elolab.arena.statistics.placing import placing_lines
    from elolab.arena.statistics.standings import tables_text
    from elolab.engine.language import game_words

    columns = text_columns()
    layout = max(LEAST_COLUMNS, columns)
    sides = game_words(spec.game, language).side_names
    # the figures of a match repeat all that its standings show, except ratings relative to an anchor
    with_players = not is_match(spec) or bool(spec.anchors)
    tables = tables_text(exports.tables, sides, language, layout, with_players=with_players)
    print("\n".join([*fitted(tables.splitlines(), columns), ""]))
    if exports.placing is not None:
        print("\n".join([*fitted(placing_lines(exports.placing, language, layout), columns), ""]))
    if is_match(spec):
        lines = match_lines(spec, exports.tables, exports.sequential, language, columns)
        print("\n".join([*fitted(lines, columns), ""]))
    print_caveats(exports.caveats)
    print(console("elolab.arena")("console.digest", digest=exports.digest))
    if exports.report is not None:
        print(exports.report)


def print_caveats(caveats: Caveats) -> None:
    """Print warnings about the reliability of the results, followed by an empty line if there are any."""
    sentences = caveats.sentences(console("elolab.arena").language)
    print_warnings(sentences)
    if sentences:
        print()


def print_warnings(sentences: Sequence[str]) -> None:
    """Print sentences as warnings, in red."""
    for sentence in sentences:
        for line in wrapped(console("elolab.arena")("console.warning", text=sentence), text_columns()):
            print(coloured(line, RED, sys.stdout))


def _print_result_as_json(spec: TournamentSpec, directory: Path, result: TournamentResult, exports: Exports) -> None:
    data = {
        "name": spec.name,
        "folder": str(directory),
        "planned": result.planned,
        "stored": result.stored,
        "interrupted": result.interrupted,
        "unavailable": result.unavailable,
        "unplayable": result.unplayable,
    }
    print_json(data | exports_data(spec, exports))


def exports_data(spec: TournamentSpec, exports: Exports) -> dict[str, Any]:
    """A tournament's results and the paths of its files as plain data for JSON."""
    from elolab.arena.schedule import is_match
    from elolab.arena.statistics.match_statistics import figures_of_match

    return {
        "standings": [asdict(row) for row in exports.tables.standings],
        "duels": [asdict(row) for row in exports.tables.head_to_heads],
        "endings": [asdict(row) for row in exports.tables.endings],
        "faults": [row.data for row in exports.tables.faults],
        "warnings": exports.caveats.sentences(),
        "fit": exports.tables.fit(),
        **(figures_of_match(exports.tables, exports.sequential) if is_match(spec) else {}),
        **(exports.placing.data() if exports.placing is not None else {}),
        "variations": [count.data for count in exports.variations],
        "games_digest": exports.digest,
        "report": None if exports.report is None else str(exports.report),
    }
