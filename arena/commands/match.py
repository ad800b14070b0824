"""The command ``match``: two players against each other."""

from __future__ import annotations

import argparse

from arena.commands.named_players import PLAYER_HELP, add_conditions, add_players, run_named_players
from engine.commands.arguments import (
    whole_number,
)

DEFAULT_PAIRS = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab match``."""
    add_players(parser)
    parser.add_argument(
        "--pairs", type=whole_number(1), default=DEFAULT_PAIRS, metavar="N",
        help=f"openings, each played twice with colours swapped (default {DEFAULT_PAIRS})",
    )  # fmt: skip
    add_conditions(parser, "match-A-B")
    parser.epilog = f"{PLAYER_HELP}\n\nGiven again, the command plays only what the folder lacks; more pairs extend it."


def run(arguments: argparse.Namespace) -> int:
    """Play, resume or extend a match."""
    content, words = {"pairs": arguments.pairs}, ["--pairs", arguments.pairs]
    return run_named_players("match", (arguments.a, arguments.b), arguments, content, words)
