"""The command ``report``: writes the tables, plots and pages of any run again, from its games."""

from __future__ import annotations

import argparse
import io
import os
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

from elolab.arena.reports.document import SUMMARY_NAME
from elolab.arena.reports.plots import LATEX, also_written_as
from elolab.cli.shared.options import add_json, add_language, add_output, print_json
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import add_anchor, add_pgn_detail
from elolab.cli.shared.tournament_output import (
    exports_data,
    finishing,
    pgn_detail,
    print_exports,
    print_result,
    written_exports,
)
from elolab.cli.shared.tuning_runs import print_report, warn
from elolab.engine.errors import UserError
from elolab.engine.language import DEFAULT_LANGUAGE

JOINT_FOLDER = "results/joint"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directories", nargs="+", metavar="DIR", help="the folder of a run of any kind")
    parser.add_argument(
        "--figures", type=figure_formats, default=(), metavar="png,pdf",
        help="write the figures in plots/ in these formats too, PNG at 300 dpi (default: SVG and existing formats)",
    )  # fmt: skip
    parser.epilog = (
        "Several tournaments are rated together, by one fit over all games. Players of two folders are the same if "
        "their settings are; the report gives all names of such a player. A name with different settings stands for "
        "several players. The same game in two folders counts once."
    )
    add_output(parser, f"that of the run; {JOINT_FOLDER} for several")
    add_pgn_detail(parser)
    add_anchor(parser)
    add_language(parser)
    add_json(parser)
    parser.add_argument(
        "--markdown", action="store_true", help="print summary.md, the outcome and a table in Markdown, for CI jobs"
    )
    parser.add_argument(
        "--latex", action="store_true", help="write tables.tex, all tables for LaTeX (booktabs), and the figures as PDF"
    )


def figure_formats(text: str) -> tuple[str, ...]:
    """Parse the value of ``--figures``: returns the file formats of plots."""
    formats = tuple(filter(None, text.replace(",", " ").lower().split()))
    if not formats or not set(formats) <= {"png", "pdf", "svg"}:
        raise argparse.ArgumentTypeError(f"{text!r}: expected png, pdf or both with a comma between")
    return formats


def run(arguments: argparse.Namespace) -> int:
    """Write the report of a run again, or a joint report of several tournaments."""
    with also_written_as((*arguments.figures, *([LATEX, "pdf"] if arguments.latex else []))):
        if not arguments.markdown:
            return _report(arguments)
        if arguments.json:
            raise UsageError("report: --markdown and --json both print the result", "give one of them")
        with redirect_stdout(io.StringIO()):
            code = _report(arguments)
    own_folder = JOINT_FOLDER if len(arguments.directories) > 1 else arguments.directories[0]
    print((Path(arguments.out or own_folder) / SUMMARY_NAME).read_text("utf-8"), end="")
    return code


def _report(arguments: argparse.Namespace) -> int:
    from elolab.tuning.stored_results import result_in

    if len(arguments.directories) > 1:
        return _report_jointly(arguments)
    directory = Path(arguments.directories[0])
    result = result_in(directory)
    if result is None:
        return _report_tournament(directory, arguments)
    if arguments.anchors:
        raise UserError(f"--anchor: {directory} is not a tournament and rates no players", "leave it out")
    print_report(result, arguments, report_folder(directory, arguments.out))
    sys.stdout.flush()
    if result.interrupted:
        warn("console.unfinished", folder=directory)
    return 0


def _report_tournament(directory: Path, arguments: argparse.Namespace) -> int:
    from elolab.arena.play.store import Store
    from elolab.arena.play.tournament_run import result_of, stored_tournament
    from elolab.arena.tournament_reader import with_anchors

    with Store(directory, read_only=True) as store, finishing():
        spec = with_anchors(stored_tournament(store), arguments.anchors)
        folder = report_folder(directory, arguments.out)
        with store.snapshot():
            result = result_of(spec, store)
            exports, failure = written_exports(spec, store, arguments.language, folder, pgn_detail(arguments))
    if not any(word.lstrip("-").partition("=")[0] == "out" for word in spec.words):
        spec = replace(spec, command=(*spec.words, "--out", str(directory)))  # the folder may have been moved or chosen
    print_result(spec, directory, result, exports, arguments)
    if failure is not None:
        sys.stdout.flush()
        raise failure
    return 0


def report_folder(directory: Path, out: str | None) -> Path:
    """The folder for a run's report: ``out``, or the run's own folder; raises ``UserError`` if that is not writable."""
    from elolab.arena.reports.write import folder_beside_runs

    if out is not None and os.path.realpath(out) != os.path.realpath(directory):
        return folder_beside_runs(Path(out))
    if not os.access(directory, os.W_OK):
        raise UserError(f"{directory}: cannot write there", "give another folder with --out")
    return directory


def _report_jointly(arguments: argparse.Namespace) -> int:
    from elolab.arena.reports.joint import export, join

    joint = join(arguments.directories, arguments.anchors)
    with finishing():
        exports = export(joint, Path(arguments.out or JOINT_FOLDER), arguments.language, pgn_detail(arguments))
    if arguments.json:
        notes = joint.notes_in(DEFAULT_LANGUAGE)
        print_json({"folders": arguments.directories, "notes": notes, **exports_data(joint.spec, exports)})
        return 0
    for note in joint.notes_in(arguments.language):
        print(f"elolab: {note}", file=sys.stderr)
    print_exports(joint.spec, exports, arguments.language)
    return 0
