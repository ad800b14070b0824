"""The command ``sprt``: plays a match that ends as soon as a sequential test decides it."""

from __future__ import annotations

import argparse

from elolab.arena.sequential import SequentialSettings
from elolab.arena.tournament_spec import SPRT
from elolab.cli.shared.match_conditions import sprt_of_words
from elolab.cli.shared.match_options import (
    PLAYER_HELP,
    add_players,
    add_tournament_words,
    play_sequential,
    rounds_as_pairs,
)
from elolab.cli.shared.options import whole_number
from elolab.cli.shared.parser import CommandParser
from elolab.cli.shared.playing_options import add_hypothesis, hypotheses_of


def configure(parser: CommandParser) -> None:
    """Add the arguments of ``elolab sprt``."""
    batch = SequentialSettings().batch_pairs
    add_players(parser)
    add_hypothesis(parser, always=True)
    parser.add_argument(
        "--pairs", type=whole_number(1), metavar="N", help="most pairs to play (default: as many as there are openings)"
    )
    parser.add_argument(
        "--batch-pairs", type=whole_number(1), default=batch, metavar="N",
        help=f"pairs between two interim analyses (default {batch})",
    )  # fmt: skip
    parser.add_argument("--sprt", nargs="+", metavar="WORD", help="the same as words: elo0=ELO elo1=ELO alpha=P ...")
    add_tournament_words(parser, "results/sprt-A-B-LIMIT-seed-N")
    parser.epilog = (
        f"{PLAYER_HELP}\n\n"
        "An interim analysis follows each batch of pairs, once all games before it have ended, so that the verdict "
        "does not depend on --concurrency. Games beyond the end are kept and marked, but do not count. "
        "Given again, the command resumes.\n\n"
        "Exit code: 0 if H1 was accepted (A is stronger, or with a negative --elo0 not weaker by as much), 3 if H0 was "
        "accepted or the test is undecided after the last pair (the text says which), 1 if games were left unplayed or "
        "forfeited by a fault, 2 for wrong input, also if A or B cannot be started as it was given, 130 if interrupted."
    )


def run(arguments: argparse.Namespace) -> int:
    """Play or resume a sequential test."""
    hypotheses_of(arguments)
    test = {name: getattr(arguments, name) for name in SPRT} | sprt_of_words(arguments.sprt or ())
    return play_sequential("sprt", arguments, test, rounds_as_pairs(arguments))
