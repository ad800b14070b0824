"""The command ``perft``: counts the legal move sequences of a position."""

from __future__ import annotations

import argparse
from functools import partial

from elolab.background import in_background
from elolab.cli.shared import options

MAX_PERFT_DEPTH = 16


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_game(parser)
    options.add_position(parser)
    parser.add_argument(
        "--depth",
        type=options.whole_number(1, MAX_PERFT_DEPTH),
        required=True,
        metavar="PLIES",
        help=f"1 to {MAX_PERFT_DEPTH}",
    )
    parser.add_argument(
        "--passes",
        choices=("ply", "free"),
        default="ply",
        help="whether a forced pass, in games that have it, counts as a ply (default) or costs none; a game that is "
        "over is one leaf in both conventions",
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the number of leaves below each move, then ``total N``; Ctrl-C ends the count early."""
    position = options.position_of(arguments)
    game = position.game
    counts = {}
    for code, move in zip(position.move_codes(), position.legal_moves(), strict=True):
        free = arguments.passes == "free" and bool(game.kernels.is_pass(position.state, code))
        child = position.copy()
        child.push(move)
        depth = arguments.depth - (0 if free else 1)
        counts[move] = in_background(partial(game.perft, child, depth, arguments.passes)).result()
        if not arguments.json:
            print(f"{move} {counts[move]}", flush=True)
    total = sum(counts.values()) if counts else game.perft(position, arguments.depth, arguments.passes)
    if arguments.json:
        convention = {"passes": arguments.passes}
        options.print_json(
            {"position": position.text, "depth": arguments.depth, **convention, "moves": counts, "total": total}
        )
    else:
        print(f"total {total}")
    return 0
