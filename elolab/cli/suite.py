"""The command ``suite``: tests the engine on positions with known best moves."""

from __future__ import annotations

import argparse
from functools import partial

from elolab.background import in_background
from elolab.cli.analyse import unit_of_scores
from elolab.cli.shared import options
from elolab.engine.language import cut, padded, with_minus

NAME_COLUMNS = 16


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Search every position of a suite and print how many are solved: the move played is a best move. The depth of "
        "the solution is the first from which every iteration prefers a best move. A suite is an EPD "
        'file of lines like FEN; bm MOVE [MOVE ...]; id "name"; (the first ; may be left out)'
    )
    parser.add_argument("suite", metavar="SUITE", help="EPD file, or the name of a shipped one (xiangqi-tactics)")
    options.add_game(parser)
    options.add_parameter(parser)
    options.add_search_limit(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Search every position; print which were solved, and the mean number of nodes to each depth."""
    import statistics
    from dataclasses import asdict

    from elolab.engine.engine import Engine
    from elolab.engine.settings.configuration import find_config
    from elolab.engine.suite import attempt, load_positions, mean_nodes_to_depth
    from elolab.engine.values import format_score

    limits = options.search_limits_of(arguments, "nodes=20000")
    path = find_config("suites", arguments.suite)
    settings = options.overrides_of(arguments, limits)
    entries = load_positions(path, arguments.game)
    engine = Engine(arguments.game, settings)
    attempts = []
    if not arguments.json:
        print(f"scores are those of the side to move, {unit_of_scores(engine.game)}")
        print("move, score, depth and nodes are of the iteration where a solution begins, or of the whole search\n")
    for entry in entries:
        found = in_background(partial(attempt, engine, entry, limits)).result()
        attempts.append(found)
        if not arguments.json:
            verdict = "solved" if found.solved else "missed"
            shown = found.solution or found
            print(
                f"{verdict} {padded(cut(entry.name, NAME_COLUMNS), NAME_COLUMNS)} {shown.move or '-':<6} "
                f"{with_minus(format_score(shown.score)):>7} "
                f"depth {shown.depth:>2} {shown.nodes:>10} nodes", flush=True,
            )  # fmt: skip
    solved = [found for found in attempts if found.solved]
    depths = mean_nodes_to_depth(attempts)
    to_solution = [found.solution.nodes for found in solved if found.solution]
    if arguments.json:
        options.print_json(
            {
                "suite": str(path), "preset": arguments.preset, "limit": str(limits), "positions": len(attempts),
                "solved": len(solved), "missed": len(attempts) - len(solved), "attempts": [asdict(a) for a in attempts],
                "nodes_to_depth": [
                    {"depth": depth, "searches": count, "mean_nodes": mean} for depth, (count, mean) in depths.items()
                ],
            }
        )  # fmt: skip
        return 0
    print(f"\n{len(solved)} of {len(attempts)} solved at {limits}, {len(attempts) - len(solved)} missed")
    if to_solution:
        print(f"median of {statistics.median(to_solution):.0f} nodes to the solution, where an iteration found it")
    print("\ndepth  searches  nodes to its end (mean of the searches that completed it)")
    for depth, (count, mean) in depths.items():
        print(f"{depth:>5}  {count:>8}  {mean:>12.0f}")
    return 0
