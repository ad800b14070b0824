"""The command ``tune``: searches for better engine settings."""

from __future__ import annotations

import argparse
import sys

from elolab.cli.shared import tuning_runs
from elolab.cli.shared.parser import CommandParser
from elolab.cli.shared.playing_options import output_folder, specification_of


def configure(parser: CommandParser) -> None:
    tuning_runs.configure_with_specification(
        parser,
        "tuning",
        "Run again, the command resumes where it stopped, also with another budget or a longer validation. A study "
        "that is stopped reports the best settings so far. elolab writes a preset to DIR if a sequential test on "
        "reserved openings confirms the gain. Every command takes the preset as a player by its path. The exit code is "
        "0 if the gain is confirmed and 3 if not. It is 1 if the gain is confirmed but players forfeited games by "
        "faults. "
        "With the key command in SPEC, your own program plays the matches.",
    )


def run(arguments: argparse.Namespace) -> int:
    from elolab.tuning.reports.tuning_report import tuning_sentence
    from elolab.tuning.study.plan import check_engine, plan_of_run, prepare_tuning, purpose_of
    from elolab.tuning.study.rounds.budgets import rounds_of
    from elolab.tuning.study.study_spec import load_tuning
    from elolab.tuning.study.tuning_run import check_folder, tune

    path = specification_of(arguments, "tuning", "tune")
    spec = load_tuning(path)
    directory = output_folder(arguments.out, spec.name)
    if arguments.dry_run:
        plan = prepare_tuning(spec)
        check_folder(plan, directory, accepts_changes=arguments.accept_engine_change)
        check_engine(spec, sys.stderr)
        planned = plan_of_run(plan, directory, arguments.concurrency)
        figures = {
            "dimensions": len(spec.space.dimensions),
            "rounds": len(rounds_of(spec, spec.budget.games or planned.games)),
        }
        if plan.suite is not None:
            figures["openings_for_tuning"] = len(plan.openings)
            figures["openings_for_validation"] = len(plan.reserved)
        return tuning_runs.describe(planned, purpose_of(plan), figures, arguments)
    result = tuning_runs.uninterrupted(tune, arguments, spec, directory)
    if result is not None and result.waiting_for:
        rounds = ", ".join(str(number + 1) for number in result.waiting_for)
        tuning_runs.warn("console.other_workers", rounds=rounds)
        return int(result.exit_code)
    if result is not None and arguments.json and not (result.confirmed or result.interrupted):
        print(f"elolab: {tuning_sentence(result, arguments.language)}", file=sys.stderr)
    return tuning_runs.finish(result, arguments, directory)
