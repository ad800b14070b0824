"""The command ``validate``: a study's recommendation against its base again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.arguments import (
    UsageError,
    add_json_argument,
    print_json,
    whole_number,
)

if TYPE_CHECKING:
    pass
from tuning.commands.arguments import add_playing_arguments, say_how_to_resume, uninterrupted


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
    validation_result = uninterrupted(validate_again, arguments, directory, arguments.limit, arguments.pairs)
    if validation_result is None or validation_result.verdict is None:
        say_how_to_resume("the same command again", directory)
        return 130
    verdict = validation_result.verdict
    if arguments.json:
        preset = None if validation_result.preset is None else str(validation_result.preset)
        print_json({"parameters": validation_result.values, **verdict_data(verdict), "preset": preset})
    else:
        print(verdict_sentence(verdict))
        print(f"pentanomial: {' '.join(map(str, verdict.counts.counts))}")
        if validation_result.preset is not None:
            print(f"preset: {validation_result.preset}")
    if not verdict.passed or validation_result.failed is not None:
        sys.stdout.flush()
        against = verdict.limits if not verdict.passed else f"{validation_result.failed.limits} in the study itself"
        print(f"elolab: {directory}: the recommendation is not validated at {against}", file=sys.stderr)
    return int(validation_result.exit_code)
