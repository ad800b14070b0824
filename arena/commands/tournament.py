"""The command ``tournament``."""

from __future__ import annotations

import argparse

from arena.commands.arguments import (
    add_playing_arguments,
    add_specification_argument,
    names_paragraph,
    specification_of,
)
from arena.commands.results import play_and_print


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab tournament``."""
    add_specification_argument(parser, "tournaments")
    parser.epilog = (
        "Given again, the command plays only the games that the folder lacks: that resumes a\n"
        "tournament after any stop, and extends it after pairs or players were added to SPEC.\n"
        "In DIR, {name} stands for the tournament's name and {identity} for the engine's."
    ) + names_paragraph("tournaments")
    add_playing_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament."""
    from arena.spec import load_tournament

    return play_and_print(load_tournament(specification_of(arguments, "tournaments", "tournament")), arguments)
