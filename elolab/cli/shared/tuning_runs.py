"""Arguments and messages that the commands for tuning, ablations, claims and fits share."""

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
    from elolab.cli.shared.parser import CommandParser


def configure_with_specification(parser: CommandParser, kind: str, epilog: str) -> None:
    """Add the arguments of a command for TOML files of ``kind``, a key of ``FILE_KINDS``; ``epilog`` ends the help."""
    playing_options.add_specification(parser, kind)
    parser.file_kind = kind
    parser.epilog = epilog + playing_options.names_paragraph(kind)
    options.add_output(parser)
    playing_options.add_playing(parser)


def uninterrupted(run: Callable[..., Any], arguments: argparse.Namespace, *given: Any, **named: Any) -> Any:
    """Call ``run`` with ``given``, ``named`` and the options of ``add_playing`` as arguments; returns its result.

    Returns ``None`` if a second Ctrl-C ends the call.
    """
    try:
        return run(*given, **named, **playing_options.run_options(arguments))
    except KeyboardInterrupt:
        return None


def finish(result: Any, arguments: argparse.Namespace, directory: Path) -> int:
    """Print the report of a finished run, or how to resume a run that was stopped. Returns the exit code.

    ``result`` is as for ``print_report``, or ``None`` after a second Ctrl-C.
    """
    if result is not None:
        print_report(result, arguments)
    if result is None or result.interrupted:
        print_how_to_resume(arguments, directory)
        return 130
    warn_of_faults(getattr(result, "faults", ()), result.exit_code)
    return int(result.exit_code)


def print_how_to_resume(arguments: argparse.Namespace, directory: Path) -> None:
    """Print to standard error the command line that resumes the run."""
    from elolab.arena.play.store import STORE_NAME, Store

    stored = 0
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored = store.played
    warn("console.interrupted", stored=stored, command=shlex.join(("elolab", *arguments.command_line)))


def warn(key: str, **values: Any) -> None:
    """Print the message with this key to standard error; ``values`` fill its placeholders."""
    print(f"elolab: {console('elolab.tuning')(key, **values)}", file=sys.stderr)


def warn_of_faults(faults: Sequence[FaultCount], exit_code: int) -> None:
    """Print to standard error how many games players forfeited, and the exit code; nothing if no game was forfeited."""
    games = sum(fault.lost for fault in faults)
    if games:
        warn("console.forfeits_one" if games == 1 else "console.forfeits", code=exit_code, games=games)


def print_faults(faults: Sequence[FaultCount]) -> None:
    """Print a line for each fault by which players forfeited games."""
    from elolab.arena.statistics.faults import fault_sentences

    say = console("elolab.arena")
    for sentence in fault_sentences(faults, say, say.language):
        print("\n".join(wrapped(sentence, text_columns())))


def print_outcome(
    text: str, digest: str, report: Path | None, faults: Sequence[FaultCount] = (), caveats: Caveats = NO_CAVEATS
) -> None:
    """Print a run's outcome (``text``), its faults and caveats, the digest of its games, and the report's path.

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


def print_report(result: Any, arguments: argparse.Namespace, folder: Path | None = None) -> None:
    """Write the report on a result, and print its outcome as text, or as JSON with ``--json``.

    ``result`` is a ``StudyResult``, ``AblationResult``, ``ClaimsResult`` or ``FitResult``. The report goes to
    ``folder``, by default the run's own.
    """
    write, text, data = _report_functions(type(result).__name__)
    with report_written(lambda: write(result, arguments.language, folder)) as report:
        if arguments.json:
            options.print_json(data(result, report))
        else:
            faults, caveats = getattr(result, "faults", ()), getattr(result, "caveats", NO_CAVEATS)
            print_outcome(text(result, arguments.language), getattr(result, "digest", ""), report, faults, caveats)


def _report_functions(kind: str) -> tuple[Callable[..., Path], Callable[..., str], Callable[..., dict[str, Any]]]:
    """The three functions for a type of result: one writes the report, one returns the text, one the JSON data.

    ``kind`` is the name of the result's class.
    """
    if kind == "StudyResult":
        from elolab.tuning.reports.tuning_report import tuning_data, tuning_text, write_tuning_report

        return write_tuning_report, tuning_text, tuning_data
    if kind == "AblationResult":
        from elolab.tuning.reports.ablation_report import ablation_data, ablation_result_text, write_ablation_report

        return write_ablation_report, ablation_result_text, ablation_data
    if kind == "ClaimsResult":
        from elolab.tuning.reports.claims_report import claims_data, claims_text, write_claims_report

        return write_claims_report, claims_text, claims_data
    from elolab.tuning.reports.fit_report import fit_data, fit_text, write_fit_report

    return write_fit_report, fit_text, fit_data


@contextmanager
def report_written(write: Callable[[], Path]) -> Iterator[Path | None]:
    """A context manager that writes a report with ``write`` and yields its path, or ``None`` if writing fails.

    The error is raised at the end of the block, so that the block can print the results first. The path is also
    ``None`` if the run was stopped by Ctrl-C and a second Ctrl-C skips the report.
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
    """Print the plan of a run for ``--dry-run``; returns the exit code.

    ``figures`` has further numbers of the plan besides the numbers of games, as for ``figures_text``. Raises
    ``UserError`` for invalid options, and if every stage is a test that no result could pass.
    """
    plan.check_attainable()
    lines = plan.lines([figures_text(figures)] if figures else [])
    return tournament_output.print_plan(purpose, plan.directory, arguments, {**plan.data(), **figures}, lines)


def figures_text(figures: Mapping[str, int]) -> str:
    """Text that lists numbers of a plan; their names are keys of the catalogue's table ``dry_run``."""
    message = console("elolab.tuning")
    return message("dry_run.comma").join(message(f"dry_run.{name}", count=count) for name, count in figures.items())
