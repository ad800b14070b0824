"""Arguments and messages shared by the commands of tuning."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.colours import text_columns
from elolab.arena.files import FileError
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.cli.shared import options, playing_options, tournament_output
from elolab.engine.language import console, fitted, wrapped

if TYPE_CHECKING:
    from elolab.arena.play.stages import StagePlan
    from elolab.arena.run import Purpose
    from elolab.arena.statistics.faults import FaultCount


def configure_with_specification(parser: argparse.ArgumentParser, kind: str, epilog: str) -> None:
    playing_options.add_specification(parser, kind)
    parser.epilog = epilog + playing_options.names_paragraph(kind)
    options.add_output(parser)
    add_playing(parser)
    playing_options.add_log(parser)
    add_dry_run(parser, "the number of games and openings")
    options.add_language(parser)
    options.add_json(parser)


def add_dry_run(parser: argparse.ArgumentParser, counted: str = "the number of games") -> None:
    """Add ``--dry-run``; ``counted`` says in the help text which numbers it prints."""
    parser.add_argument("--dry-run", action="store_true", help=f"print {counted} and the expected time; play nothing")


def add_playing(parser: argparse.ArgumentParser) -> None:
    """Add the options on how games are played, which ``uninterrupted`` passes to the run."""
    options.add_concurrency(parser)
    playing_options.add_oversubscribe(parser)
    playing_options.add_affinity(parser)
    playing_options.add_cluster(parser)
    playing_options.add_progress(parser)
    playing_options.add_engine_change(parser)


def uninterrupted(run: Callable[..., Any], arguments: argparse.Namespace, *given: Any, **named: Any) -> Any:
    """Call ``run`` with the options of ``add_playing``; returns its result, or ``None`` after a second Ctrl-C."""
    try:
        return run(*given, **named, **playing_options.run_options(arguments))
    except KeyboardInterrupt:
        return None


def say_how_to_resume(arguments: argparse.Namespace, directory: Path) -> None:
    """Print to standard error the command line that resumes the run."""
    from elolab.arena.play.store import STORE_NAME, Store

    stored = 0
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored = store.played
    warn("console.interrupted", stored=stored, command=shlex.join(("elolab", *arguments.command_line)))


def say_stopped(directory: Path) -> None:
    """Print to standard error that a run is not finished."""
    warn("console.unfinished", folder=directory)


def warn(key: str, **values: Any) -> None:
    """Print the message with this key to standard error; ``values`` fill its placeholders."""
    print(f"elolab: {console('elolab.tuning')(key, **values)}", file=sys.stderr)


def warn_of_faults(faults: Sequence[FaultCount], exit_code: int) -> None:
    """Print to standard error how many games players forfeited, if any."""
    games = sum(fault.lost for fault in faults)
    if games:
        warn("console.forfeits_one" if games == 1 else "console.forfeits", code=exit_code, games=games)


def print_faults(faults: Sequence[FaultCount]) -> None:
    """Print the faults by which players forfeited games."""
    from elolab.arena.statistics.faults import fault_sentences

    say = console("elolab.arena")
    for sentence in fault_sentences(faults, say, say.language):
        print("\n".join(wrapped(sentence, text_columns())))


def print_outcome(
    text: str, digest: str, report: Path | None, faults: Sequence[FaultCount] = (), caveats: Caveats = NO_CAVEATS
) -> None:
    """Print a run's outcome, faults, caveats, the digest of its games and the report's path.

    ``digest`` is empty for a run without games.
    """
    print("\n".join(fitted(text.splitlines(), text_columns())))
    print()
    if faults:
        print_faults(faults)
        print()
    tournament_output.print_caveats(caveats)
    if digest:
        print(console("elolab.arena")("console.digest", digest=digest))
    if report is not None:
        print(report)


@contextmanager
def report_written(write: Callable[[], Path]) -> Iterator[Path | None]:
    """A context that writes a report with ``write`` and yields its path, or ``None`` if writing fails.

    The error is raised at the end of the block, so that the block can print the results first. The path is also
    ``None`` if Ctrl-C skips the report of a run that Ctrl-C has already stopped.
    """
    from elolab.arena.players.interruption import requests_to_end

    report = failure = None
    was_stopped = requests_to_end() > 0
    try:
        with tournament_output.finishing():
            report = write()
    except KeyboardInterrupt:
        if not was_stopped:
            raise
    except (FileError, OSError) as error:
        failure = tournament_output.file_error(error)
    yield report
    sys.stdout.flush()
    if failure is not None:
        raise tournament_output.after_outcome(failure)


def describe(plan: StagePlan, purpose: Purpose, figures: Mapping[str, int], arguments: argparse.Namespace) -> int:
    """Print the plan of a run, for ``--dry-run``; ``figures`` has its numbers other than games, by name.

    Raises ``UserError`` for invalid options, and if all stages are tests that no outcome of their games can pass.
    """
    from elolab.arena.run import check_clocks, check_options, machine_line, machine_plan, overload_warning

    plan.refuse_the_impossible()
    check_clocks(purpose, arguments.cluster, arguments.wall_clock_on_cluster, arguments.scale_limits)
    check_options(arguments.concurrency, arguments.cluster, arguments.affinity, getattr(arguments, "log", None))
    where = (arguments.concurrency, arguments.cluster, arguments.affinity)
    warning = overload_warning(purpose, *where, oversubscribe=arguments.oversubscribe)
    machine = machine_plan(purpose, *where)
    if arguments.json:
        options.print_json({**plan.data(), **figures, "machine": machine, "warnings": [warning] if warning else []})
    else:
        print("\n".join(plan.lines([figures_text(figures)] if figures else [])))
        if machine is not None:
            print(machine_line(machine))
        tournament_output.print_warnings([warning] if warning else [])
    tournament_output.warn_if_in_use(plan.directory)
    return 0


def figures_text(figures: Mapping[str, int]) -> str:
    """Text on the numbers of a plan; each name in ``figures`` is also the key of a message in ``dry_run``."""
    message = console("elolab.tuning")
    return message("dry_run.comma").join(message(f"dry_run.{name}", count=count) for name, count in figures.items())
