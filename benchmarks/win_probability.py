"""Fits the scale that converts a search's score to a probability of winning: ``Game.odds_scale``.

    python benchmarks/win_probability.py [xiangqi|othello|chess] [games]

Each game begins at a position reached by random moves. A search to ``SCORING`` scores this position, and the default
engine plays the game from it at ``PLAYING``. The odds of the side to move are modelled as exp(score / scale), with a
draw as half a win; the fit maximises the likelihood. The table shows the quality of the fit: observed and expected
points per game, by score.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from measuring import parser_of
from scipy.optimize import minimize_scalar

from elolab.arena.notation.balance import EngineJudge, RandomPlay
from elolab.arena.records import points_of
from elolab.engine.engine import StopFlag
from elolab.engine.games import GAMES
from elolab.engine.play import CompiledGames, PlayerSettings
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.settings.whole_numbers import natural_number

SCORING, PLAYING = "nodes=10000", "nodes=1000"
PLIES = range(6, 13)
LARGEST = 1500
"""Largest absolute score, in the search's points, of positions in the fit; beyond it, games are decided."""
BINS = np.array([-1500, -600, -400, -250, -150, -75, -25, 25, 75, 150, 250, 400, 600, 1500])


def play(game: str, number: int) -> tuple[int, float] | None:
    """Score of position ``number`` and points of a game from it, for the side to move; ``None`` if it is left out."""
    plies = PLIES[number % len(PLIES)]
    position = RandomPlay(game, 1, plies).position(number)
    if position is None:
        return None
    score = EngineJudge(game, Limits.parse(SCORING)).score(position)
    if abs(score) > LARGEST:
        return None
    side = PlayerSettings(resolve({"hash_mb": 1}, game=game), Limits.parse(PLAYING))
    played = CompiledGames(game).play(position.text, (), side, side, Rules(), Adjudication(resign_moves=0), StopFlag())
    points = points_of(played.result)
    assert points is not None
    return score, 1 - points if position.side_to_move else points


def fit(scores: np.ndarray, points: np.ndarray) -> tuple[float, float]:
    """The scale of maximum likelihood, and its standard error from the curvature of the likelihood."""

    def loss(scale: float) -> float:
        logits = scores / scale
        return float(np.sum(np.logaddexp(0, logits) - points * logits))

    best = float(minimize_scalar(loss, bounds=(10, 5000), method="bounded").x)
    step = best / 100
    curvature = (loss(best + step) - 2 * loss(best) + loss(best - step)) / step**2
    return best, curvature**-0.5


def report(game: str, games: int) -> None:
    """Play ``games`` games, fit the scale and print the table."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [pair for pair in pool.map(lambda number: play(game, number), range(games)) if pair is not None]
    scores, points = np.array(found).T
    scale, error = fit(scores, points)
    drawn = np.mean(points == 0.5)
    print(f"{game}: scale {scale:.0f} ± {1.96 * error:.0f} points, {len(found)} games, {100 * drawn:.1f} % drawn")
    expected = 1 / (1 + np.exp(-scores / scale))
    for low, high in pairwise(BINS):
        chosen = (scores >= low) & (scores < high)
        if chosen.any():
            print(
                f"  {low:+6d} to {high:+6d}: {chosen.sum():5d} games, points {points[chosen].mean():.3f}, "
                f"expected {expected[chosen].mean():.3f}"
            )


def _word(text: str) -> str | int:
    """Convert a command-line argument: the name of a game, or a number of games."""
    number = natural_number(text)
    if text not in GAMES and not number:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number of at least 1 nor {' or '.join(GAMES)}")
    return number or text


def main() -> None:
    """Fit the scale of one game, or of all games."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "words", nargs="*", type=_word, metavar="|".join((*GAMES, "games")),
        help="games whose scale is fitted (default: all), and how many of each are played (default 4000)",
    )  # fmt: skip
    words = parser.parse_args().words
    games = next((word for word in words if isinstance(word, int)), 4000)
    for name in [word for word in words if isinstance(word, str)] or GAMES:
        report(name, games)


if __name__ == "__main__":
    main()
