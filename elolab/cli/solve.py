"""The command ``solve``: computes the exact result of a position."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from elolab.background import in_background
from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError
from elolab.engine.language import with_minus

if TYPE_CHECKING:
    from elolab.engine.settings.parameters import Value
    from elolab.engine.solving import Solver, TableSolver

RESULTS = {1: "won", 0: "drawn", -1: "lost"}
"""Names of the results of a position, by the sign of its score from the point of view of the side to move."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print the exact score of a position for the side to move, and a best line. A search plays positions of "
        "Othello out to the end: scores are in discs, and the winner gets the empty squares. This takes seconds up to "
        "about 20 empty squares, and about five times as long for each two more. Positions of chess are looked up in "
        "Syzygy tablebases: scores are DTZ, the plies until the winner gives mate, captures or moves a pawn."
    )
    parser.add_argument(
        "--game", metavar="NAME", help="othello or chess (default: othello with --board, chess with --fen)"
    )
    position = parser.add_mutually_exclusive_group(required=True)
    position.add_argument(
        "--board",
        metavar="TEXT",
        help="position of Othello: 64 characters X, O or - (a1 to h1, a2 to h8), then the side to move, X or O",
    )
    position.add_argument("--fen", metavar="FEN", help="position of chess, without castling rights")
    parser.add_argument("--moves", action="store_true", help="print the exact score of every move")
    parser.add_argument(
        "--tb", metavar="FOLDERS",
        help="chess: folders with Syzygy tables, .rtbw and .rtbz (needs pip install elolab[syzygy])",
    )  # fmt: skip
    parser.add_argument("--tbignore50", action="store_true", help="chess: ignore the 50-move rule")
    options.add_parameter(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Solve a position; Ctrl-C ends it without a result."""
    from elolab.engine.games import game_named
    from elolab.engine.solving import solvable_games, unsolvable

    if arguments.game is None:
        given = "fen" if arguments.board is None else "board"
        arguments.game = next(name for name in solvable_games() if game_named(name).position_option == given)
    settings = options.overrides_of(arguments)
    if arguments.game not in solvable_games():
        raise unsolvable(options.game_of(arguments).name)
    position = options.position_of(arguments, with_moves=False)
    solver = _solver(arguments, settings)
    began = time.monotonic()
    solution = in_background(partial(solver.solve, position, every_move=arguments.moves)).result()
    seconds = time.monotonic() - began
    result = RESULTS[(solution.score > 0) - (solution.score < 0)]
    if arguments.json:
        data = {
            "position": position.text, "score": solution.score, "result": result, "best_move": solution.best_move,
            "line": list(solution.line), "nodes": solution.nodes, "time_ms": 1000 * seconds,
        }  # fmt: skip
        options.print_json(data | ({"moves": dict(solution.moves)} if solution.moves is not None else {}))
        return 0
    side = position.game.side_names[position.side_to_move]
    print(position.game.describe(position))
    print(f"{side} to move; scores are {side}'s, {solver.unit}")
    for move, score in (solution.moves or {}).items():
        print(f"{move:<4} {with_minus(f'{score:+d}')}")
    print(f"score {with_minus(f'{solution.score:+d}')}")
    print(f"result {result}")
    print(f"bestmove {solution.best_move or '(none)'}")
    print(f"line {' '.join(solution.line) or '(none)'}")
    print(f"{solution.nodes} nodes in {seconds:.3f} s")
    return 0


def _solver(arguments: argparse.Namespace, settings: Mapping[str, Value]) -> Solver | TableSolver:
    """The solver for the game of the arguments; ``settings`` are parameters for a solver that searches.

    Raises ``UserError`` if the game has no solver, an option belongs to another game, or tablebases are missing.
    """
    from elolab.engine.engine import StopFlag
    from elolab.engine.solving import Solver, TableSolver

    game = options.game_of(arguments)
    if not game.has_tablebases:
        if arguments.tb is not None or arguments.tbignore50:
            raise UsageError(f"solve: --tb: there are no tablebases for {game.name}", "leave it out")
        return Solver(game.name, settings, StopFlag())
    if settings:
        raise UsageError(f"solve: --set and --preset change nothing in {game.name}, whose positions are looked up")
    if arguments.tb is None:
        raise UsageError(
            f"solve: positions of {game.name} are looked up in Syzygy tablebases", "give their folders: --tb FOLDERS"
        )
    return TableSolver(arguments.tb, arguments.tbignore50, StopFlag())
