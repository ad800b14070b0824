"""The command ``analyse``: searches one position."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from elolab.arena.colours import terminal_columns
from elolab.background import in_background
from elolab.cli.judge import verdict_lines
from elolab.cli.shared import options
from elolab.engine.language import fitted, with_minus
from elolab.engine.settings.whole_numbers import natural_number

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_game(parser)
    options.add_position(parser)
    options.add_search_limit(parser)
    parser.add_argument("--multipv", type=_lines, default=1, metavar="N", help="report the N best moves (default 1)")
    parser.add_argument(
        "--search-moves", nargs="+", default=[], metavar="MOVE",
        help="consider only these moves, in the ranks of --moves",
    )  # fmt: skip
    options.add_parameter(parser)
    options.add_rules(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Search a position and print the lines found; Ctrl-C ends the search early and prints the lines so far."""
    from dataclasses import asdict, replace

    from elolab.engine.engine import Engine, StopFlag
    from elolab.engine.values import format_score, mate_distance

    limits = options.search_limits_of(arguments, "nodes=1000000")
    engine = Engine(arguments.game, options.overrides_of(arguments, limits))
    position = options.position_of(arguments)
    rules = options.rules_of(arguments)
    ending = position.judge(rules)  # the search too goes by the rules from here on
    moves = _search_moves(arguments, position)
    stop = StopFlag()
    future = in_background(
        partial(engine.search, position, limits, stop=stop, search_moves=moves, lines=arguments.multipv)
    )
    try:
        result = future.result()
    except KeyboardInterrupt:
        stop.set()
        result = future.result()
    lines = tuple(replace(line, principal_variation=engine.known_line(position, line)) for line in result.lines)
    result = replace(result, lines=lines, principal_variation=lines[0].principal_variation if lines else ())
    if arguments.json:
        data = asdict(result) | {"position": position.text, "mate": mate_distance(result.score)}
        data["nodes_per_second"] = result.nodes / (result.time_ms / 1000) if result.time_ms else None
        options.print_json(data)
        return 0
    print(position.game.describe(position))
    side = position.game.side_names[position.side_to_move]
    print(f"{position.text}")
    if ending is not None:
        print("\n".join(verdict_lines(position.game, ending, rules)))
    if ending is None or result.lines:
        print(f"{side} to move; scores are {side}'s, {unit_of_scores(position.game)}")
        digits = len(str(len(result.lines)))
        for number, line in enumerate(result.lines, 1):
            variation = " ".join(line.principal_variation)
            text = f"{number:>{digits}}. {with_minus(format_score(line.score)):>7}  depth {line.depth:<3} {variation}"
            print("\n".join(fitted([text], terminal_columns(sys.stdout)) if sys.stdout.isatty() else [text]))
        speed = f", {result.nodes / result.time_ms:.0f} thousand a second" if result.time_ms else ""
        print(f"{result.nodes} nodes in {result.time_ms / 1000:.3f} s{speed}; deepest ply {result.deepest_ply}")
    print(f"bestmove {result.move or '(none)'}")
    return 0


def _search_moves(arguments: argparse.Namespace, position: Position) -> list[str]:
    """The moves of ``--search-moves`` in protocol notation; raises ``MoveError`` if one is illegal in ``position``.

    ``--ranks`` gives the number of the first rank, 0 or 1; ``auto`` selects the numbering that makes all moves legal.
    """
    from elolab.engine.games.contract import MoveError

    game = position.game
    played = [word for given in arguments.moves for word in given.split()]
    words = [word for given in arguments.search_moves for word in given.split()]
    if game.move_names is not None and options.in_names(game, words):
        return [game.move_names.parse_move_name(position, word) for word in words]
    if arguments.ranks != "auto" or options.in_names(game, played):
        return game.read_moves(position, words, "0" if arguments.ranks == "auto" else arguments.ranks)
    readings: list[list[str]] = []
    failure = MoveError("")
    for ranks in ("0", "1"):
        try:
            if game.read_moves(position, played, ranks) != position.moves:
                continue
        except MoveError:
            continue
        try:
            reading = game.read_moves(position, words, ranks)
            for move in reading:
                position.code_of(move)
        except MoveError as error:
            failure = error
        else:
            readings += [reading] if reading not in readings else []
    if len(readings) > 1:
        both = " and as ".join(" ".join(reading) for reading in readings)
        raise MoveError(
            f"--search-moves {' '.join(words)}: legal as {both} (in ranks 0-9)", "give --ranks 0 or --ranks 1"
        )
    if not readings:
        raise failure
    return readings[0]


def unit_of_scores(game: Game) -> str:
    """Explanation of a game's scores: their unit, and the meaning of scores that begin with M or R."""
    return f"in {game.score_name}{'' if game.score_unit else ' (M: mate in moves, R: decided by repetition)'}"


def _lines(text: str) -> int:
    from elolab.engine.search.records import MAX_LINES

    lines = natural_number(text)
    if lines is None or not 1 <= lines <= MAX_LINES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of lines from 1 to {MAX_LINES}")
    return lines
