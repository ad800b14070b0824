"""The command ``tune``: searches for better engine settings."""

from __future__ import annotations

import argparse
import functools
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.cli.shared import tuning_runs
from elolab.cli.shared.options import print_json
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import output_folder, specification_of
from elolab.engine.settings.configuration import read_toml

if TYPE_CHECKING:
    from elolab.tuning.match_study import MatchResult
    from elolab.tuning.study.result import StudyResult


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab tune`` to its parser."""
    tuning_runs.configure_with_specification(
        parser,
        "tuning",
        "Given again, the command resumes where it stopped, also with another budget or longest validation. "
        "Stopped, it reports the best that is known so far. A gain that a sequential test on reserved openings "
        "accepts, and that a second one at a larger limit finds no regression of, is written as a preset "
        "to DIR; every command takes it as a player by its path. Without such a gain the exit code is 3. "
        "It is 1 if there is one, but players forfeited games by faults. "
        "A file with the key command has a program of yours play the matches.",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run or resume a tuning study; return the exit code."""
    from elolab.tuning.reports.tuning_report import tuning_sentence
    from elolab.tuning.study.plan import check_engine, plan_of_run, prepare_tuning, purpose_of
    from elolab.tuning.study.rounds.budgets import rounds_of
    from elolab.tuning.study.study_spec import load_tuning
    from elolab.tuning.study.tuning_run import check_folder, tune

    path = specification_of(arguments, "tuning", "tune")
    data = read_toml(path)
    if "command" in data:
        return _run_by_matches(data, path, arguments)
    spec = load_tuning(path)
    directory = output_folder(arguments.out, spec.name)
    if arguments.dry_run:
        plan = prepare_tuning(spec)
        check_folder(plan, directory, accepts_changes=arguments.accept_engine_change)
        check_engine(spec, sys.stderr)
        planned = plan_of_run(plan, directory, arguments.concurrency)
        figures = {
            "dimensions": len(spec.space.dimensions),
            "rounds": len(rounds_of(spec, planned.stages[0].games)),
            "openings_for_tuning": len(plan.openings),
            "openings_for_validation": len(plan.reserved),
        }
        return tuning_runs.describe(planned, purpose_of(plan), figures, arguments)
    result = tuning_runs.uninterrupted(tune, arguments, spec, directory)
    if result is None:
        tuning_runs.say_how_to_resume(arguments, directory)
        return 130
    if result.waiting_for:
        rounds = ", ".join(str(number + 1) for number in result.waiting_for)
        tuning_runs.warn("console.other_workers", rounds=rounds)
        return result.exit_code
    print_tuning(result, arguments)
    if result.interrupted:
        tuning_runs.say_how_to_resume(arguments, directory)
        return result.exit_code
    if not result.confirmed and arguments.json:  # otherwise it has just been printed
        print(f"elolab: {tuning_sentence(result, arguments.language)}", file=sys.stderr)
    tuning_runs.warn_of_faults(result.faults, result.exit_code)
    return result.exit_code


def _run_by_matches(data: Mapping[str, Any], path: Path, arguments: argparse.Namespace) -> int:
    """Run or resume a study whose matches a command plays; return the exit code."""
    from elolab.tuning.match_command import MatchCommand
    from elolab.tuning.match_study import match_plan, read_match_study, tune_by_matches

    spec = read_match_study(data, str(path))
    MatchCommand(spec.command, spec.source)
    directory = output_folder(arguments.out, spec.name)
    if arguments.dry_run:
        print(match_plan(spec, arguments.language))
        return 0
    if arguments.cluster is not None:
        raise UsageError("tune: --cluster is for elolab's own games; a command reaches its machines itself")

    show = functools.partial(print, file=sys.stderr, flush=True)
    result = tune_by_matches(spec, directory, concurrency=arguments.concurrency, progress=show)
    print_matched(result, arguments)
    if result.interrupted:
        command = shlex.join(("elolab", *arguments.command_line))
        tuning_runs.warn("match_study.interrupted", folder=directory, command=command)
    return result.exit_code


def print_matched(result: MatchResult, arguments: argparse.Namespace, folder: Path | None = None) -> None:
    """Write the report of a study by matches to ``folder``, by default its own one, and print its outcome."""
    from elolab.tuning.match_study import match_data, match_text
    from elolab.tuning.reports.tuning_report import write_match_report

    with tuning_runs.report_written(lambda: write_match_report(result, arguments.language, folder)) as report:
        if arguments.json:
            print_json(match_data(result, report))
        else:
            tuning_runs.print_outcome(match_text(result, arguments.language), "", report)


def print_tuning(result: StudyResult, arguments: argparse.Namespace, folder: Path | None = None) -> None:
    """Write the report of a finished or interrupted study, and print its outcome.

    The report goes to ``folder``, by default the study's own folder. ``arguments`` choose the language, and JSON or
    text.
    """
    from elolab.tuning.reports.tuning_report import tuning_data, tuning_text, write_tuning_report

    with tuning_runs.report_written(lambda: write_tuning_report(result, arguments.language, folder)) as report:
        if arguments.json:
            print_json(tuning_data(result, report))
        else:
            tuning_runs.print_outcome(
                tuning_text(result, arguments.language), result.digest, report, result.faults, result.caveats
            )
