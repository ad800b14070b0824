"""The command ``ablate``: measures what each feature of the search is worth."""

from __future__ import annotations

import argparse
import sys

from elolab.cli.shared import tuning_runs
from elolab.cli.shared.parser import CommandParser
from elolab.cli.shared.playing_options import output_folder, specification_of


def configure(parser: CommandParser) -> None:
    tuning_runs.configure_with_specification(
        parser,
        "ablations",
        "The verdicts are better, worse, or equivalent within a margin. Each round of games, fixed beforehand, goes "
        "to the comparisons without a verdict. Run again, the command plays only what is missing: it resumes an "
        "ablation after any stop, and extends it if SPEC has more comparisons or pairs. An ablation that is stopped "
        "reports what the games show so far. The exit code is 1 if players forfeited games by faults.",
    )


def run(arguments: argparse.Namespace) -> int:
    from elolab.arena.run import check_directory
    from elolab.tuning.ablation.ablation_run import ablate, check_engine, plan_of_run, prepare_ablation, purpose_of
    from elolab.tuning.ablation.ablation_spec import load_ablation

    spec = load_ablation(specification_of(arguments, "ablations", "ablate"))
    directory = output_folder(arguments.out, spec.name)
    if arguments.dry_run:
        plan = prepare_ablation(spec)
        purpose = purpose_of(plan)
        check_directory(directory, purpose, accepts_changes=arguments.accept_engine_change)
        check_engine(spec, sys.stderr)
        figures = {
            "comparisons": len(plan.matches),
            "questions": spec.questions,
            "rounds": spec.rule.rounds,
            "openings": len(plan.openings),
        }
        return tuning_runs.describe(plan_of_run(plan, directory, arguments.concurrency), purpose, figures, arguments)
    result = tuning_runs.uninterrupted(ablate, arguments, spec, directory)
    return tuning_runs.finish(result, arguments, directory)
