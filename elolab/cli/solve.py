"""The command ``solve``: computes the exact result of an Othello position."""

from __future__ import annotations

import argparse
import time
from functools import partial

from elolab.background import in_background
from elolab.cli.shared import options
from elolab.engine.language import with_minus


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab solve``."""
    parser.description = (
        "Play a position out to the end, perfectly: the exact score for the side to move, in discs with the empty "
        "squares going to the winner, and a best line. Up to about 20 empty squares that takes seconds, and each two "
        "more take about five times as long. For games with an exact solver: Othello."
    )
    options.add_game(parser, "othello")
    parser.add_argument(
        "--board",
        required=True,
        metavar="TEXT",
        help="the position: 64 characters X, O or - (a1 to h1, a2 to h8), then the side to move, X or O",
    )
    parser.add_argument("--fen", metavar="FEN", help=argparse.SUPPRESS)
    parser.add_argument("--moves", action="store_true", help="give the exact score of every move")
    options.add_parameter(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Solve a position; Ctrl-C ends it without a result."""
    from elolab.engine.engine import StopFlag
    from elolab.engine.solving import Solver

    solver = Solver(options.game_of(arguments).name, options.overrides_of(arguments), StopFlag())
    position = options.position_of(arguments, with_moves=False)
    began = time.monotonic()
    solution = in_background(partial(solver.solve, position, every_move=arguments.moves)).result()
    seconds = time.monotonic() - began
    if arguments.json:
        data = {
            "position": position.text, "score": solution.score, "best_move": solution.best_move,
            "line": list(solution.line), "nodes": solution.nodes, "time_ms": 1000 * seconds,
        }  # fmt: skip
        options.print_json(data | ({"moves": dict(solution.moves)} if solution.moves is not None else {}))
        return 0
    side = position.game.side_names[position.side_to_move]
    print(position.game.describe(position))
    print(f"{side} to move; scores are {side}'s, in discs, empty squares to the winner")
    for move, score in sorted((solution.moves or {}).items(), key=lambda pair: -pair[1]):
        print(f"{move:<4} {with_minus(f'{score:+d}')}")
    print(f"score {with_minus(f'{solution.score:+d}')}")
    print(f"bestmove {solution.best_move or '(none)'}")
    print(f"line {' '.join(solution.line) or '(none)'}")
    print(f"{solution.nodes} nodes in {seconds:.3f} s")
    return 0
