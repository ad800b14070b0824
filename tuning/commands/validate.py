"""The command ``validate``: a study's recommendation against its base again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from arena.commands.arguments import add_log_argument
from engine.commands.arguments import (
    UsageError,
    add_json_argument,
    add_language_argument,
    print_json,
    whole_number,
)
from engine.language import console
from tuning.commands.arguments import add_playing_arguments, complain, say_how_to_resume, uninterrupted


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab validate``."""
    from engine.settings.limits import Limits

    parser.add_argument("directory", metavar="DIR", type=Path, help="the folder of a finished study")
    parser.add_argument(
        "--limit", type=Limits.parse, metavar="LIMIT", help="of every move (default: the limit of the tuning)"
    )
    parser.add_argument(
        "--pairs", type=whole_number(1), metavar="N", help="play so many pairs of games instead of a sequential test"
    )
    add_playing_arguments(parser)
    add_log_argument(parser)
    add_language_argument(parser)
    add_json_argument(parser)
    parser.epilog = (
        "Plays the study's recommendation against its base on openings that the tuning never saw. The exit code is 0 "
        "if the sequential test accepts the gain, which also writes the preset, and 3 if not, or if a match of the "
        "study itself spoke against it. Given again, the command plays only what is missing."
    )


def run(arguments: argparse.Namespace) -> int:
    """Validate a study's recommendation again."""
    from tuning.reports.study import verdict_data, verdict_sentence
    from tuning.study.run import validate_again

    directory = arguments.directory
    if not directory.is_dir():
        raise UsageError(f"validate: {directory}: there is no such folder; expected one that elolab tune made")
    result = uninterrupted(validate_again, arguments, directory, arguments.limit, arguments.pairs)
    if result is None or result.verdict is None:
        say_how_to_resume(None, directory)
        return 130
    verdict = result.verdict
    if arguments.json:
        preset = None if result.preset is None else str(result.preset)
        print_json({"parameters": result.values, **verdict_data(verdict), "preset": preset})
    else:
        message = console("tuning")
        print(verdict_sentence(verdict, arguments.language))
        print(message("console.pentanomial", counts=" ".join(map(str, verdict.counts.counts))))
        if result.preset is not None:
            print(message("console.preset", preset=result.preset))
    if not verdict.passed or result.failed is not None:
        sys.stdout.flush()
        if not verdict.passed:
            complain("console.not_validated", folder=directory, limit=verdict.limits)
        else:
            complain("console.not_validated_in_study", folder=directory, limit=result.failed.limits)
    return int(result.exit_code)
