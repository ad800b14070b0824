"""The command ``match``: plays two players against each other."""

from __future__ import annotations

import argparse

from elolab.cli.shared.match_conditions import sprt_of_words
from elolab.cli.shared.match_options import (
    PLAYER_HELP,
    add_players,
    add_tournament_words,
    play_sequential,
    play_words,
    rounds_as_pairs,
)
from elolab.cli.shared.options import whole_number
from elolab.cli.shared.parser import CommandParser
from elolab.cli.shared.playing_options import EXIT_CODES

DEFAULT_PAIRS = 100


def configure(parser: CommandParser) -> None:
    add_players(parser)
    parser.add_argument(
        "--pairs", type=whole_number(1), metavar="N",
        help=f"openings, each played twice with colours swapped (default {DEFAULT_PAIRS})",
    )  # fmt: skip
    parser.add_argument(
        "--sprt", nargs="+", metavar="WORD",
        help="elo0=ELO elo1=ELO alpha=P beta=P model=MODEL: end as soon as the result is clear, as elolab sprt does",
    )  # fmt: skip
    add_tournament_words(parser, "results/match-A-B-LIMIT-seed-N")
    parser.epilog = (
        f"{PLAYER_HELP}\n\n"
        "Run again, the command plays only the games that the folder lacks; more pairs extend the match.\n\n"
        f"{EXIT_CODES} With --sprt as for elolab sprt."
    )


def run(arguments: argparse.Namespace) -> int:
    pairs = rounds_as_pairs(arguments)
    if arguments.sprt is None:
        return play_words("match", arguments, {"format": "match", "pairs": DEFAULT_PAIRS if pairs is None else pairs})
    return play_sequential("match", arguments, sprt_of_words(arguments.sprt), pairs)
