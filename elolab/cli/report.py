"""The command ``report``: writes the tables, plots and pages of any run again, from its games."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from elolab.arena.reports.document import SUMMARY_NAME
from elolab.arena.reports.plots import LATEX, also_written_as
from elolab.cli.shared import tournament_report as tournaments
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.tuning_runs import say_stopped
from elolab.engine.errors import UserError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab report``."""
    tournaments.configure(parser)
    parser.add_argument(
        "--markdown", action="store_true", help="print summary.md, the outcome and a table in Markdown, for CI jobs"
    )
    parser.add_argument(
        "--latex", action="store_true", help="write tables.tex, all tables for LaTeX (booktabs), and the figures as PDF"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report of a run again, or a joint report of several tournaments."""
    with also_written_as((*arguments.figures, *([LATEX, "pdf"] if arguments.latex else []))):
        if not arguments.markdown:
            return _report(arguments)
        if arguments.json:
            raise UsageError("report: --markdown and --json both say what to print; give one of them")
        with redirect_stdout(io.StringIO()):
            code = _report(arguments)
    print((_folder_of_report(arguments) / SUMMARY_NAME).read_text("utf-8"), end="")
    return code


def _folder_of_report(arguments: argparse.Namespace) -> Path:
    if len(arguments.directories) > 1:
        return Path(arguments.out or tournaments.JOINT_FOLDER)
    return Path(arguments.out or arguments.directories[0])


def _report(arguments: argparse.Namespace) -> int:
    from elolab.tuning.stored_results import result_in

    result = None
    if len(arguments.directories) == 1:
        result = result_in(Path(arguments.directories[0]))
    if result is None:
        return tournaments.run(arguments)
    if arguments.anchors:
        raise UserError(f"--anchor: {arguments.directories[0]} is no tournament, and rates no players; leave it out")
    print_report(result, arguments, tournaments.report_folder(result.directory, arguments.out))
    if result.interrupted:
        say_stopped(result.directory)
    return 0


def print_report(result: Any, arguments: argparse.Namespace, folder: Path) -> None:
    """Write the report on a result of ``tuning.stored_results``, and print it like the command that played the run."""
    from elolab.cli.ablate import print_ablation
    from elolab.cli.claims import print_claims
    from elolab.cli.fit_evaluation import print_fit
    from elolab.cli.tune import print_tuning

    printers: dict[str, Callable[[Any, argparse.Namespace, Path], None]] = {
        "StudyResult": print_tuning,
        "AblationResult": print_ablation,
        "ClaimsResult": print_claims,
        "FitResult": print_fit,
    }
    printers[type(result).__name__](result, arguments, folder)
    sys.stdout.flush()
