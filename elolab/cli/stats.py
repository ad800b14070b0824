"""The command ``stats``: computes Elo, LOS and a sequential test from counts or a PGN file."""

from __future__ import annotations

import argparse

from elolab.arena.colours import text_columns
from elolab.arena.notation.pgn_results import Results, results_of_file
from elolab.arena.statistics.elo import Pentanomial, Trinomial
from elolab.arena.statistics.match_statistics import figure_lines, figures_of
from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import add_hypothesis, hypotheses_of
from elolab.engine.errors import UserError
from elolab.engine.language import fitted


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "All figures are for the player whose results are counted. A pair is two\n"
        "games from one opening with colours swapped. Two games of a PGN file are a pair\n"
        "if they alone have the same Round, with the same opening and swapped colours, as\n"
        "in games.pgn of a tournament. Where most games are in pairs the figures are those\n"
        "of the pairs; otherwise all games are counted singly."
    )
    source = parser.add_argument_group("results, one of")
    count = options.whole_number(0)
    source.add_argument(
        "--pentanomial", type=count, nargs=5, metavar=("LL", "LD", "EVEN", "WD", "WW"),
        help="pairs: both lost; loss and draw; one win each or two draws; win and draw; both won",
    )  # fmt: skip
    source.add_argument(
        "--wdl", type=count, nargs=3, metavar=("WINS", "DRAWS", "LOSSES"), help="games that are not in pairs"
    )
    source.add_argument("--pgn", metavar="FILE", help="a file of games")
    parser.add_argument(
        "--player",
        metavar="NAME",
        help="PGN: the player from whose point of view games count (default: the first mover of the first game)",
    )
    parser.add_argument("--opponent", metavar="NAME", help="PGN: the opponent, if there are more than two players")
    add_hypothesis(parser, always=False)
    options.add_game(parser)
    options.add_language(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    given = [name for name in ("pentanomial", "wdl", "pgn") if getattr(arguments, name) is not None]
    if len(given) != 1:
        kinds = "--pentanomial, --wdl and --pgn"
        raise UsageError(
            f"stats: {' and '.join(f'--{name}' for name in given) or 'no results'}", f"give one of {kinds}"
        )
    settings = hypotheses_of(arguments)
    if arguments.pgn is None and (arguments.player or arguments.opponent):
        raise UsageError("--player and --opponent choose among the players of --pgn", "leave them out")
    results = _results_of(arguments)
    figures = figures_of(results.counts, settings)
    if arguments.json:
        options.print_json({**results.described, **figures})
    else:
        lines = [*results.lines(arguments.language), *figure_lines(figures, arguments.language)]
        print("\n".join(fitted(lines, text_columns())))
    return 0


def _results_of(arguments: argparse.Namespace) -> Results:
    """Parse the results given as counts or as a PGN file. Raises ``UserError`` if there are none."""
    if arguments.pgn is not None:
        results = results_of_file(arguments.pgn, options.game_of(arguments).name, arguments.player, arguments.opponent)
        if not any(results.counts.counts):
            one, other = (results.described[name] for name in ("player", "opponent"))
            raise UserError(f"{arguments.pgn}: no game of {one!r} and {other!r} that counts has a result")
        return results
    name, unit = ("pentanomial", "pair") if arguments.wdl is None else ("wdl", "game")
    given = getattr(arguments, name)
    if not any(given):
        raise UsageError(f"stats: --{name} {' '.join(map(str, given))}: no {unit}", "expected at least one")
    return Results(Pentanomial(tuple(given)) if arguments.wdl is None else Trinomial(*given), {})
