"""The command ``bench``: measures speed and prints the benchmark's node count, which identifies the search."""

from __future__ import annotations

import argparse

from elolab.cli.shared import options
from elolab.engine.language import with_minus


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Search fixed positions to fixed depths: with the default settings, to measure the speed, and with variants "
        "that exercise the other techniques. Then play a few moves on the node clock. The last lines are total numbers "
        "of nodes: Bench for Xiangqi and Othello, Bench chess for chess. A number changes only if the search or the "
        "evaluation of its games changes.\n\n"
        "With --preset or --set, search the positions of one game with these settings alone, to the depths of the "
        "variants; the number counts these searches."
    )
    parser.add_argument(
        "--game", metavar="NAME", help=f"only this game (default: all; with --preset or --set {options.DEFAULT_GAME})"
    )
    options.add_parameter(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmark; the last lines are ``Bench: N`` and ``Bench chess: N``."""
    from dataclasses import asdict

    from elolab.engine.bench import CLOCKED, DEFAULT, GIVEN, VARIANTS, searches, searches_under, signatures, speed
    from elolab.engine.games import GAMES

    is_given = arguments.preset is not None or bool(arguments.assignments)
    if is_given:
        arguments.game = arguments.game or options.DEFAULT_GAME
    games = GAMES if arguments.game is None else (options.game_of(arguments).name,)
    timed = GIVEN if is_given else DEFAULT
    width = max(map(len, (GIVEN,) if is_given else (*VARIANTS, *CLOCKED)))
    results = []
    for result in searches_under(games[0], options.overrides_of(arguments)) if is_given else searches(games):
        results.append(result)
        if not arguments.json:
            rate = result.nodes / max(result.cpu_seconds, 1e-9) / 1e6
            print(
                f"{result.game} {result.variant:<{width}} depth {result.depth:>2} {result.nodes:>9} nodes "
                f"{rate:6.2f} M/s  {with_minus(f'{result.score:+6d}')} cp  {result.position.split()[0][:24]}",
                flush=True,
            )
    numbers = signatures(results)
    if arguments.json:
        own = {game: [result for result in results if result.game == game] for game in games}
        options.print_json(
            {
                "bench": sum(numbers.values()) if len(numbers) == 1 else numbers["Bench"],
                "signatures": numbers,
                "nodes_per_second": {game: speed(found, variant=timed) for game, found in own.items()},
                "solved_nodes_per_second": {
                    game: speed(found, solves=True, variant=timed) for game, found in own.items()
                },
                "searches": [asdict(result) for result in results],
            }
        )
        return 0
    settings = "with these settings" if is_given else "with the default settings"
    for game in games:
        found = [result for result in results if result.game == game]
        searching, solving = (speed(found, solves=solves, variant=timed) for solves in (False, True))
        parts = [] if searching is None else [f"{searching:.0f}"]
        parts += [] if solving is None else [f"{solving:.0f} where it solves the game"]
        print(f"{game}: nodes per CPU second {settings}: {'; '.join(parts)}")
    for name, number in numbers.items():
        print(f"{name}: {number}")
    return 0
