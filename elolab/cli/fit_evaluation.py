"""The command ``fit-evaluation``: fits an evaluation's weights to games of self-play."""

from __future__ import annotations

import argparse

from elolab.cli.shared import options, tuning_runs
from elolab.cli.shared.playing_options import add_playing, output_file, output_folder

FIT_MATCH_LIMITS = ("nodes=1000", "depth=4")
SCORE_SHARE = 50
"""Default share, in percent, of the search's score in a logistic regression's target; the result has the rest."""


def configure(parser: argparse.ArgumentParser) -> None:
    from elolab.engine.settings.limits import Limits

    options.add_game(parser, "othello")
    parser.add_argument(
        "--games", type=options.whole_number(0), default=20_000, metavar="N",
        help="self-play games of each iteration, 0 with --with-games only (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--limit",
        type=Limits.parse,
        metavar="LIMIT",
        help="limit of a move in these games (default nodes=800 in Xiangqi and chess, depth=3 in Othello)",
    )
    options.add_seed(parser, 1)
    parser.add_argument(
        "--iterations", type=options.whole_number(1), default=1, metavar="N",
        help="number of iterations: each plays with the weights fitted before, then fits (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--until-no-gain", action="store_true",
        help="end after the first iteration that fails to beat the previous weights with 95 %% certainty; keep these",
    )  # fmt: skip
    parser.add_argument(
        "--phases", type=options.whole_number(1), metavar="N",
        help="Othello: phases of the game with weights of their own, a divisor of 60 (default 6)",
    )  # fmt: skip
    parser.add_argument(
        "--patterns", choices=("on", "off"),
        help="Othello: fit patterns of edges, corners, lines and diagonals as well as the features (default on)",
    )  # fmt: skip
    parser.add_argument(
        "--score-share", type=options.whole_number(0, 100), metavar="PERCENT",
        help="Xiangqi and chess: percentage of the search's score in the target; the rest is the game's outcome "
        "(default 50)",
    )  # fmt: skip
    parser.add_argument(
        "--score-limit", type=Limits.parse, metavar="LIMIT",
        help="Othello: fit to scores of searches with the previous weights at this limit, not to games' results "
        "(default: results; the last positions of a game are solved)",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="start", metavar="WEIGHTS",
        help="weights that play the first games: a file, or the name of shipped ones (default: the game's)",
    )  # fmt: skip
    parser.add_argument(
        "--with-games", action="append", default=[], metavar="FOLDER",
        help="fit also to the stored games of the run in this folder; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--match-pairs", type=options.whole_number(0), default=100, metavar="N",
        help="pairs of games of each match of new against previous weights, 0 for none (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--match-limit", dest="match_limits", type=Limits.parse, action="append", metavar="LIMIT",
        help=f"limit of such a match; may be given several times (default {' and '.join(FIT_MATCH_LIMITS)})",
    )  # fmt: skip
    parser.add_argument("--output", metavar="FILE", help="also write the last weights to this file")
    options.add_output(parser, "results/fit-<game>")
    add_playing(parser, keeps_dialogues=False)
    parser.epilog = (
        "Exit code 3: --until-no-gain found no gain. Run again, the command resumes where it stopped. More games "
        "or iterations extend the run; fewer give the result of the shorter run. The same command writes the same "
        "weights at any concurrency."
    )


def run(arguments: argparse.Namespace) -> int:
    from elolab.arena.run import check_directory
    from elolab.engine.games import game_named
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import BY_NAME
    from elolab.engine.settings.weights import find_weights
    from elolab.tuning.evaluation.evaluation_fit import (
        FitSpec,
        check_fit,
        fit_evaluation,
        fitting_of,
        match_openings,
        plan_of_run,
        purpose_of,
    )
    from elolab.tuning.evaluation.other_runs import other_runs

    game = game_named(arguments.game)
    fitting = fitting_of(game)
    logistic = fitting.regression == "logistic"
    patterns = arguments.patterns
    if patterns is None:
        patterns = "on" if fitting.pattern_weights else "off"
    spec = FitSpec(
        game=game.name,
        start=arguments.start or str(BY_NAME[fitting.parameter].default_for(game.name)),
        games=arguments.games,
        limits=arguments.limit or Limits.parse(fitting.self_play_limit),
        seed=arguments.seed,
        iterations=arguments.iterations,
        until_no_gain=arguments.until_no_gain,
        phases=arguments.phases or fitting.phases,
        patterns=patterns == "on",
        score_share=SCORE_SHARE * logistic if arguments.score_share is None else arguments.score_share,
        match_pairs=arguments.match_pairs,
        match_limits=tuple(arguments.match_limits or map(Limits.parse, FIT_MATCH_LIMITS)),
        score_limits=arguments.score_limit,
        other_runs=other_runs(arguments.with_games, game.name),
    )
    check_fit(spec)
    directory = output_folder(arguments.out, f"fit-{game.name}")
    output = None if arguments.output is None else output_file("--output", arguments.output)
    if arguments.dry_run:
        purpose = purpose_of(spec, find_weights(spec.start, (game.name,)))
        check_directory(directory, purpose, accepts_changes=arguments.accept_engine_change)
        match_openings(spec, game)
        return tuning_runs.describe(plan_of_run(spec, directory, arguments.concurrency), purpose, {}, arguments)
    fitted = tuning_runs.uninterrupted(fit_evaluation, arguments, spec, directory, output=output)
    return tuning_runs.finish(fitted, arguments, directory)
