"""The command ``parameters``: lists and explains the settings of the engine."""

from __future__ import annotations

import argparse
import shutil

from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError

MAX_COLUMNS = 120
"""Maximum width of the text in characters, even on a wider terminal."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="show these parameters in full; an alias or any spelling will do (default: a list of all)",
    )  # fmt: skip
    parser.add_argument(
        "--game",
        metavar="NAME",
        help=f"the game (default {options.DEFAULT_GAME}; with NAME every game)",
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table of the parameters for the game, or a full description of the named parameters."""
    from elolab.engine.settings.parameters import parameters_of
    from elolab.engine.settings.reference import as_data, as_text

    if arguments.names:
        return _print_in_full(arguments)
    arguments.game = arguments.game or options.DEFAULT_GAME
    game = options.game_of(arguments).name
    rows = parameters_of(game)
    if arguments.json:
        options.print_json(as_data(rows, game))
    else:
        print(as_text(rows, game, min(shutil.get_terminal_size().columns, MAX_COLUMNS)), end="")
    return 0


def _print_in_full(arguments: argparse.Namespace) -> int:
    from elolab.engine.games import GAMES
    from elolab.engine.settings.parameters import find
    from elolab.engine.settings.reference import in_full, in_full_as_data

    games = GAMES if arguments.game is None else (options.game_of(arguments).name,)
    rows = {row.name: row for row in map(find, arguments.names)}
    for row in rows.values():
        if row.games and not set(row.games) & set(games):
            raise UsageError(f"parameters: {row.name} does not apply to {games[0]}, only to {', '.join(row.games)}")
    if arguments.json:
        options.print_json(in_full_as_data(list(rows), games))
    else:
        print(in_full(list(rows), games, min(shutil.get_terminal_size().columns, MAX_COLUMNS)), end="")
    return 0
