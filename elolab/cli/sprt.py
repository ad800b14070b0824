"""The command ``sprt``: plays a match that ends as soon as a sequential test decides it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from elolab.arena.colours import text_columns
from elolab.arena.sequential import MAX_HYPOTHESIS
from elolab.cli.shared.match_options import (
    PLAYER_HELP,
    add_players,
    add_test,
    add_tournament_words,
    planned_test,
    play_sequential,
    rounds_as_pairs,
    test_of,
)
from elolab.cli.shared.options import number, print_json, whole_number
from elolab.cli.shared.parser import CommandParser, UsageError
from elolab.cli.shared.playing_options import output_folder
from elolab.engine.language import fitted


def configure(parser: CommandParser) -> None:
    add_players(parser)
    add_test(parser)
    before = parser.add_argument_group("before the match", "what the test is expected to do; plays nothing")
    before.add_argument(
        "--expect", nargs="*", type=number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS), metavar="ELO",
        help="print how likely the test accepts each hypothesis and how long it takes at these true strengths, in the "
        "unit of --model (default: from below H0 to above H1); needs no players; with --out, also writes a report",
    )  # fmt: skip
    before.add_argument(
        "--draws", type=number(0, 1, inside=True), metavar="SHARE",
        help="expected share of drawn games, such as 0.4 (default: pairs with a standard deviation of 0.3)",
    )  # fmt: skip
    before.add_argument(
        "--pentanomial", type=whole_number(0), nargs=5, metavar=("LL", "LD", "EVEN", "WD", "WW"),
        help="instead of --draws: the pairs of an earlier match, as elolab stats counts them",
    )  # fmt: skip
    add_tournament_words(parser, "results/sprt-A-B-LIMIT-seed-N")
    parser.epilog = (
        f"{PLAYER_HELP}\n\n"
        "An interim analysis follows each batch of pairs, once all games before it have ended, so that the verdict "
        "does not depend on --concurrency. Games beyond the end are kept and marked, but do not count. "
        "Run again, the command resumes.\n\n"
        "Exit code: 0 if H1 was accepted (A is stronger, or with a negative --elo0 not weaker by as much), 3 if H0 was "
        "accepted or the test is undecided after the last pair (the text says which), 1 if games were left unplayed or "
        "forfeited by a fault, 2 for wrong input, also if A or B cannot be started as it was given, 130 if interrupted."
    )


def run(arguments: argparse.Namespace) -> int:
    test = test_of(arguments)
    if arguments.expect is not None:
        return _expect(arguments, test)
    if arguments.draws is not None or arguments.pentanomial is not None:
        raise UsageError("sprt: --draws and --pentanomial are for --expect; a match counts its own games")
    return play_sequential("sprt", arguments, test, rounds_as_pairs(arguments))


def _expect(arguments: argparse.Namespace, test: dict[str, Any]) -> int:
    """Print the test's expected length and the probabilities of its outcomes; write a report to ``--out``."""
    from elolab.arena.reports.testing.expected_test import ExpectedTest
    from elolab.arena.testing.expectation import expectations, outcomes_of_draws, outcomes_of_pairs

    if arguments.draws is not None and arguments.pentanomial is not None:
        raise UsageError("sprt: --draws and --pentanomial both describe the pairs", "give one of them")
    settings, pairs = planned_test(arguments, test, rounds_as_pairs(arguments))
    outcomes = None if arguments.draws is None else outcomes_of_draws(arguments.draws)
    if arguments.pentanomial is not None:
        if not any(arguments.pentanomial):
            raise UsageError("sprt: --pentanomial 0 0 0 0 0: no pairs", "expected at least one")
        outcomes = outcomes_of_pairs(arguments.pentanomial)
    expected = ExpectedTest(settings, pairs, expectations(settings, pairs, outcomes, arguments.expect or None))
    if arguments.json:
        print_json({**asdict(settings), "most_pairs": pairs, "expected": [asdict(row) for row in expected.rows]})
    else:
        columns = text_columns()
        print("\n".join(fitted(expected.lines(arguments.language, columns), columns)))
    if arguments.out is not None:
        from elolab.arena.play.store import STORE_NAME
        from elolab.arena.reports.document import write_document

        folder = output_folder(arguments.out, "")
        if (folder / STORE_NAME).exists():
            raise UsageError(
                f"sprt: --out {folder}: holds a run, whose report stays", "name another folder for --expect"
            )
        report = write_document(folder, expected.document(arguments.language))
        if not arguments.json:
            print(f"\n{report}")
    return 0
