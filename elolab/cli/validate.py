"""The command ``validate``: plays new matches of a study's recommended settings against its base settings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.colours import text_columns
from elolab.cli.shared import options, tuning_runs
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import add_playing
from elolab.cli.shared.tournament_output import print_caveats
from elolab.engine.language import Catalogue, console, wrapped

if TYPE_CHECKING:
    from elolab.tuning.study.validation.further import ValidationResult
    from elolab.tuning.study.validation.validation_games import Verdict


def configure(parser: argparse.ArgumentParser) -> None:
    from elolab.engine.settings.limits import Limits

    parser.add_argument("directory", metavar="DIR", type=Path, help="the folder of a finished study")
    parser.add_argument(
        "--limit", type=Limits.parse, metavar="LIMIT", help="limit of each move (default: the limit used in the tuning)"
    )
    parser.add_argument(
        "--pairs", type=options.whole_number(1), metavar="N",
        help="play N pairs instead of a sequential test, from openings that no test at this limit has used",
    )  # fmt: skip
    parser.add_argument(
        "--maximum-pairs", type=options.whole_number(1), metavar="N",
        help="pairs after which the sequential test ends undecided (default: maximum_pairs of the study's file)",
    )  # fmt: skip
    add_playing(parser)
    parser.epilog = (
        "The study's recommendation plays its base on openings that the tuning never used. The exit code is 0 if the "
        "sequential test accepts the gain; the command then writes the preset. It is 3 if the test does not accept the "
        "gain, or if a match of the study itself contradicts it. It is 1 if the gain is accepted but players forfeited "
        "games by faults. Run again, the command plays only what is missing."
    )


def run(arguments: argparse.Namespace) -> int:
    from elolab.tuning.reports.tuning_report import write_tuning_report
    from elolab.tuning.stored_results import result_in
    from elolab.tuning.study.validation.further import plan_of_validation, validate_again

    directory = arguments.directory
    if not directory.is_dir():
        raise UsageError(f"validate: {directory}: there is no such folder", "expected one that elolab tune made")
    if arguments.pairs is not None and arguments.maximum_pairs is not None:
        raise UsageError(
            "validate: --pairs sets the pairs of a match, --maximum-pairs those of a sequential test", "give one"
        )
    match = (arguments.limit, arguments.pairs, arguments.maximum_pairs)
    if arguments.dry_run:
        planned, purpose = plan_of_validation(
            directory, *match, arguments.concurrency, accepts_changes=arguments.accept_engine_change
        )
        return tuning_runs.describe(planned, purpose, {}, arguments)
    result = tuning_runs.uninterrupted(validate_again, arguments, directory, *match)
    verdict = None if result is None else result.verdict
    if result is not None:
        with tuning_runs.report_written(
            lambda: write_tuning_report(result_in(directory), arguments.language)
        ) as report:
            if verdict is not None:
                _print_verdict(result, verdict, report, arguments)
    if result is None or verdict is None or result.interrupted:
        tuning_runs.print_how_to_resume(arguments, directory)
        return 130
    if not verdict.passed:
        key = "console.not_validated_by_matches" if result.spec.is_by_matches else "console.not_validated"
        tuning_runs.warn(key, folder=directory, limit=verdict.limits)
    elif result.failed is not None:
        tuning_runs.warn("console.not_validated_in_study", folder=directory, limit=result.failed.limits)
    tuning_runs.warn_of_faults(result.faults, result.exit_code)
    return int(result.exit_code)


def _print_verdict(
    result: ValidationResult, verdict: Verdict, report: Path | None, arguments: argparse.Namespace
) -> None:
    from elolab.tuning.reports.tuning_report import needed_sentence, verdict_data, verdict_sentence
    from elolab.tuning.reports.wording import MESSAGES

    if arguments.json:
        preset = None if result.preset is None else str(result.preset)
        data = {"parameters": result.values, **verdict_data(verdict), "preset": preset}
        data["report"] = None if report is None else str(report)
        data["faults"] = [fault.data for fault in result.faults]
        data["warnings"] = result.caveats.sentences()
        options.print_json(data)
    else:
        message = console("elolab.tuning")
        print(verdict_sentence(verdict, arguments.language))
        needed = needed_sentence(verdict, Catalogue(MESSAGES, arguments.language), "--maximum-pairs {pairs}")
        if needed:
            print("\n".join(wrapped(needed, text_columns())))
        print(message("console.pentanomial", counts=" ".join(map(str, verdict.counts.counts))))
        if result.preset is not None:
            print(message("console.preset", preset=result.preset))
        tuning_runs.print_faults(result.faults)
        print_caveats(result.caveats)
        if report is not None:
            print(report)
