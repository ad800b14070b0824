"""The command ``tune``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.arguments import specification_of
from arena.commands.results import finishing
from engine.commands.arguments import print_json
from engine.language import console
from tuning.commands.arguments import (
    complain,
    configure_with_specification,
    describe,
    figures_text,
    folder_of,
    print_outcome,
    say_how_to_resume,
    uninterrupted,
)

if TYPE_CHECKING:
    from tuning.study.spec import TuningSpec


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab tune``."""
    configure_with_specification(
        parser,
        "tuning",
        "Given again, the command goes on where it was stopped. A gain that a sequential test on reserved openings "
        "accepts, and a slower match does not contradict, is written as a preset to configs/engines (where there is no "
        "configs folder, to DIR); if none is, the exit code is 3.",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run or resume a study."""
    from tuning.reports.study import repeat_command, tuning_data, tuning_sentence, tuning_text, write_tuning_report
    from tuning.study.run import tune
    from tuning.study.spec import load_tuning

    spec = load_tuning(specification_of(arguments, "tuning", "tune"))
    directory = folder_of(arguments.out, spec.name)
    if arguments.dry_run:
        return _describe_tuning(spec, directory, arguments)
    result = uninterrupted(tune, arguments, spec, directory)
    if result is None or result.interrupted:
        say_how_to_resume(repeat_command("tune", spec.conditions, directory, arguments.language), directory)
        return 130
    if result.waiting_for:
        rounds = ", ".join(str(number + 1) for number in result.waiting_for)
        complain("console.other_workers", rounds=rounds)
        return result.exit_code
    with finishing():
        report = write_tuning_report(result, arguments.language)
    if arguments.json:
        print_json(tuning_data(result, report))
    else:
        print_outcome(tuning_text(result, arguments.language), result.digest, report)
    if not result.confirmed:
        sys.stdout.flush()
        print(f"elolab: {tuning_sentence(result, arguments.language)}", file=sys.stderr)
    return result.exit_code


def _describe_tuning(spec: TuningSpec, directory: Path, arguments: argparse.Namespace) -> int:
    from tuning.study.rounds import rounds_of
    from tuning.study.run import check_engine, prepare_tuning

    plan = prepare_tuning(spec)
    check_engine(spec, sys.stderr)
    figures = {
        "dimensions": len(spec.space.dimensions),
        "openings_for_tuning": len(plan.openings),
        "openings_for_validation": len(plan.reserved),
    }
    if plan.games is not None:
        figures["rounds"] = len(rounds_of(spec, plan.games))
        work = [(plan.games, (spec.conditions.limits,))]
        return describe(spec.name, directory, plan.games, work, figures, arguments)
    if arguments.json:
        print_json({"name": spec.name, "folder": str(directory), **figures, "seconds": spec.budget.seconds})
        return 0
    from arena.play.live import duration_text

    print(console("tuning")("dry_run.seconds", name=spec.name, time=duration_text(spec.budget.seconds or 0)))
    print(figures_text(figures))
    return 0
