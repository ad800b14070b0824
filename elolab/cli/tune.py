"""The command ``tune``: searches for better engine settings."""

from __future__ import annotations

import argparse
import sys

from elolab.cli.shared import tuning_runs
from elolab.cli.shared.playing_options import output_folder, specification_of


def configure(parser: argparse.ArgumentParser) -> None:
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
