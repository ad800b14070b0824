"""The command ``compile``: compiles the engine before its first use."""

from __future__ import annotations

import argparse
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compile the engine now, each game in its own process, and keep the code on disk. Other commands compile what "
        "they need at their first use; this one prepares machines, such as the nodes of a cluster."
    )


def run(arguments: argparse.Namespace) -> int:
    """Compile every game; returns 1 if the code could not be saved, else 0."""
    from elolab.engine.compiled.cache import CACHE_DIRECTORY
    from elolab.engine.compiled.compilation import compile_games
    from elolab.engine.games import GAMES

    if reasons := compile_games(GAMES):
        print(
            f"elolab: {CACHE_DIRECTORY}: compiled code cannot be kept there ({', '.join(reasons)}); make room, or set "
            "NUMBA_CACHE_DIR to a folder that can be written to",
            file=sys.stderr,
        )
        return 1
    print(f"compiled for {', '.join(GAMES[:-1])} and {GAMES[-1]}; the code is in {CACHE_DIRECTORY}")
    return 0
