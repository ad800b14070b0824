"""The command ``compile``: machine code made ahead of use."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab compile``."""
    parser.description = (
        "Compile the engine now, every game in a process of its own, and keep the code on disk. Whatever needs it does "
        "so by itself, one game after the other; this is for machines that are being prepared, such as the nodes of a "
        "cluster."
    )


def run(arguments: argparse.Namespace) -> int:
    """Compile every game."""
    from engine.compiled.cache import CACHE_DIRECTORY
    from engine.compiled.compilation import compile_games
    from engine.games import GAMES

    compile_games(GAMES)
    print(f"compiled for {' and '.join(GAMES)}; the code is in {CACHE_DIRECTORY}")
    return 0
