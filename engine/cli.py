"""The engine's commands: each has ``configure_<command>(parser)`` and ``run_<command>(arguments) -> exit code``."""

from __future__ import annotations

import argparse
import shutil

from engine.command_line import add_game_argument, add_json_argument, game_of, print_json

MOST_COLUMNS = 120
"""Text is not spread wider than this on a wide terminal."""


def configure_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab parameters``."""
    add_game_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a Markdown table with every column")
    add_json_argument(form)  # type: ignore[arg-type]


def run_parameters(arguments: argparse.Namespace) -> int:
    """Print every parameter that applies to the game."""
    from engine.parameter_reference import as_data, as_markdown, as_text
    from engine.parameters import parameters_of

    rows = parameters_of(game_of(arguments).name)
    if arguments.json:
        print_json(as_data(rows))
    elif arguments.markdown:
        print(as_markdown(rows), end="")
    else:
        print(as_text(rows, min(shutil.get_terminal_size().columns, MOST_COLUMNS)), end="")
    return 0
