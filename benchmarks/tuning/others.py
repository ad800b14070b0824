"""Tuning methods of other projects. Each is a function of a landscape, a budget in games and a random seed.

``METHODS`` lists them. A package that a method needs is imported when the method runs; ``PACKAGES`` names it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from landscapes import FISHTEST_REACH, Array, Games, Landscape, Values
from methods import Method, Outcome, best_of

from elolab.arena.statistics.elo import NATURAL_TO_ELO, Pentanomial
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.rounds.spsa import Spsa, Theta
from elolab.tuning.study.space import Space
from elolab.tuning.study.study_spec import PAIRED_SAMPLERS, SAMPLERS

PACKAGES = {"cmaes": "cmaes", "gp": "torch", "tbpsa": "nevergrad", "bask": "bask"}
"""Package that a method needs, by the first part of the method's name."""
TRIALS = 80
"""Number of trials in a study with a sampler of Optuna."""
FISHTEST_GOAL, FISHTEST_QUANTILES = 0.5, (3.8415, 5.9915, 7.8147, 9.4877, 11.0705, 12.5916)
"""Regret, in Elo, for which fishtest's authors choose the step, and 95 % quantiles of chi-squared with 1, 2, ...
degrees of freedom (the number of parameters)."""
BETA = 0.9
"""Weight of the average of all iterates in the point at which schedule-free SPSA plays; the iterate has the rest."""
BASK_PAIRS = 10
"""Number of game pairs per point in chess-tuning-tools."""
LOCALITY, CLOP_PRIOR = 3.0, 100.0
"""CLOP's locality parameter H, and the prior variance of its coefficients."""
GRID, SWEEPS, MAX_FITS = 41, 2, 30
REFIT_GROWTH = 1.05


def values_at(space: Space, point: Sequence[float]) -> Values:
    """The set of values at a point of the unit cube. Choices divide their side of the cube into equal parts."""
    return tuple(
        one.choices[min(int(part * len(one.choices)), len(one.choices) - 1)] if one.choices else one.value_at(part)
        for one, part in zip(space.dimensions, (min(max(float(part), 0.0), 1.0) for part in point), strict=True)
    )


def point_of(space: Space, values: Values) -> Array:
    """A point of the unit cube at which ``values_at`` returns these values."""
    sides = (one.coordinate(value) for one, value in zip(space.dimensions, values, strict=True))
    return np.array([
        (side + 0.5) / len(one.choices) if one.choices else min(max(side, 0.0), 1.0)
        for one, side in zip(space.dimensions, sides, strict=True)
    ])  # fmt: skip


def walk(landscape: Landscape, games: int, seed: int, **schedule: float) -> tuple[Spsa, list[Theta], Observations]:
    """Run SPSA with one game pair per iteration; return schedule, thetas (at the start, after each) and all results."""
    space, table, observations = landscape.space, Games(landscape, seed), Observations(landscape.space)
    spsa = Spsa(space, games // 2, seed, **schedule)
    thetas = [spsa.start()]
    for number in range(games // 2):
        one = spsa.iteration(thetas[-1], number, number)
        counts = (0, 0, 0, 0, 0)
        if one.first != one.second:
            counts = table.count(one.first, one.second, 1)
            observations.add(one.first, one.second, Pentanomial(counts))
        thetas.append(spsa.after(thetas[-1], one.step, Pentanomial(counts)))
    return spsa, thetas, observations


def spsa_textbook(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The last iterate of SPSA with the defaults of the sampler ``spsa``, which are usually recommended for SPSA."""
    spsa, thetas, _ = walk(landscape, games, seed)
    return Outcome(spsa.values(thetas[-1]))


def _for_few(games: int) -> dict[str, float]:
    """A schedule of SPSA for few games: wide perturbations and large steps."""
    return {"c_end": 0.2, "r_end": 0.02 * math.sqrt(1000 / games)}


def spsa_automatic(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The mean iterate over the second half of an SPSA run with a schedule for few games."""
    spsa, thetas, _ = walk(landscape, games, seed, **_for_few(games))
    later = [np.mean(parts, axis=0) for parts in zip(*thetas[len(thetas) // 2 :], strict=True)]
    return Outcome(spsa.values([part.tolist() for part in later]))


def spsa_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The maximum of elolab's model, fitted to the games of an SPSA run with a schedule for few games."""
    _, _, observations = walk(landscape, games, seed, **_for_few(games))
    return Outcome(best_of(fit(observations), observations, landscape.space.default_values))


def constant_walk(landscape: Landscape, games: int, seed: int, aside: float, rate: float, beta: float = 0.0) -> Outcome:
    """SPSA with constant perturbation and step.

    ``aside`` is the perturbation as a fraction of the range, ``rate`` the step as a multiple of the perturbation. With
    ``beta`` the method is schedule-free (Defazio et al. 2024, as in fishtest-spsa-lab): it plays around a mean of the
    iterate and the average of all iterates, with the weight ``beta`` for the average, and recommends this mean. Choices
    are treated as ranges of the unit cube.
    """
    space, table, generator = landscape.space, Games(landscape, seed), np.random.default_rng(seed)
    iterate = point_of(space, space.default_values)
    average, centre = iterate.copy(), iterate
    for number, signs in enumerate(generator.choice([-1.0, 1.0], (games // 2, len(iterate)))):
        one, other = (values_at(space, centre + way * aside * signs) for way in (1, -1))
        won = sum((place - 2) * count for place, count in enumerate(table.count(one, other, 1)))
        iterate = iterate + rate * aside * won * signs
        average += (iterate - average) / (number + 1)
        centre = np.clip((1 - beta) * iterate + beta * average, 0, 1)
        if not beta:
            iterate = centre
    return Outcome(values_at(space, centre))


def spsa_fishtest(landscape: Landscape, games: int, seed: int) -> Outcome:
    """SPSA with the constants of fishtest's authors, for which 95 % of the runs on their bowls end within half an Elo.

    The perturbation is a sixth of the authors' range; the step follows from the goal, the draws and the number of
    parameters.
    """
    quantile = FISHTEST_QUANTILES[min(len(landscape.space.dimensions), len(FISHTEST_QUANTILES)) - 1]
    rate = FISHTEST_GOAL / (2 * NATURAL_TO_ELO * quantile * (1 - landscape.games.draws) / 8)
    return constant_walk(landscape, games, seed, 2 * FISHTEST_REACH / 6, rate)


def schedule_free(landscape: Landscape, games: int, seed: int) -> Outcome:
    """Schedule-free SPSA. Its perturbation and step were the best of eight at 4000 games, on other seeds."""
    return constant_walk(landscape, games, seed, 0.2, 0.05 * math.sqrt(1000 / games), BETA)


@cache
def trials_of(sampler: str, landscape: Landscape, games: int, seed: int) -> tuple[Values, Observations]:
    """Play a study of trials against the default; return the best trial's set of values, and all results.

    Both are cached, because ``of_optuna`` needs them for both values of ``pick``.
    """
    import optuna

    from elolab.tuning.study.sampler import ReproducibleSampler, distribution_of, suggest

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space, table, observations = landscape.space, Games(landscape, seed), Observations(landscape.space)
    distributions = {dimension.name: distribution_of(dimension) for dimension in space.dimensions}
    study = optuna.create_study(
        direction="maximize", sampler=ReproducibleSampler(sampler, seed, distributions, startup_trials=10)
    )
    pairs = games // 2 // TRIALS
    best: tuple[float, Values] | None = None
    for _ in range(TRIALS):
        trial = study.ask()
        values = tuple(suggest(trial, dimension) for dimension in space.dimensions)
        score = 0.5 if values == space.default_values else table.play(values, space.default_values, pairs)
        study.tell(trial, score)
        if values != space.default_values:
            observations.add_score(values, space.default_values, pairs, score)
        if best is None or score > best[0]:
            best = (score, values)
    assert best is not None
    return best[1], observations


def of_optuna(sampler: str, pick: str, landscape: Landscape, games: int, seed: int) -> Outcome:
    """The recommendation of an Optuna sampler: its best trial, or the maximum of elolab's model fitted to its games.

    ``pick`` is ``best`` for the best trial; any other text selects the model's maximum.
    """
    best, observations = trials_of(sampler, landscape, games, seed)
    if pick == "best":
        return Outcome(best)
    return Outcome(best_of(fit(observations), observations, landscape.space.default_values))


def tbpsa(landscape: Landscape, games: int, seed: int) -> Outcome:
    """Nevergrad's test-based population-size adaptation (TBPSA). An evaluation is a game pair against the default."""
    import nevergrad

    space, table = landscape.space, Games(landscape, seed)
    cube = nevergrad.p.Array(init=point_of(space, space.default_values), lower=0, upper=1)
    cube.random_state = np.random.RandomState(seed)
    optimizer = nevergrad.optimizers.TBPSA(cube, budget=games // 2)
    for _ in range(games // 2):
        asked = optimizer.ask()
        optimizer.tell(asked, -table.play(values_at(space, asked.value), space.default_values, 1))
    return Outcome(values_at(space, optimizer.provide_recommendation().value))


def bask(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The optimizer of chess-tuning-tools with its settings: a Gaussian process whose hyperparameters are sampled.

    chess-tuning-tools requires scikit-learn below 0.24, which no supported Python has; its optimizer is in the package
    ``bask``.
    """
    import bask as package

    space, table = landscape.space, Games(landscape, seed)
    optimizer: Any = package.Optimizer(
        [(0.0, 1.0)] * len(space.dimensions), n_points=500, n_initial_points=16, acq_func="mes", random_state=seed,
        gp_kwargs={"normalize_y": True, "warp_inputs": True}, acq_func_kwargs={"alpha": 1.96, "n_thompson": 500},
    )  # fmt: skip
    result = None
    for _ in range(games // 2 // BASK_PAIRS):
        point = optimizer.ask()
        score = table.play(values_at(space, point), space.default_values, BASK_PAIRS)
        smoothed = (score * BASK_PAIRS + 0.5) / (BASK_PAIRS + 1)
        noise = 0.3 / (BASK_PAIRS * smoothed * (1 - smoothed)) / math.log(10) ** 2
        result = optimizer.tell(
            point, -math.log10(smoothed / (1 - smoothed)), noise_vector=noise, n_samples=1, gp_burnin=5
        )
    starts = np.random.default_rng(seed).random((10_000, len(space.dimensions)))
    mean, deviation = result.models[-1].predict(starts, return_std=True)
    return Outcome(values_at(space, starts[int(np.argmin(mean + 1.96 * deviation))]))


def clop(landscape: Landscape, games: int, seed: int) -> Outcome:
    """CLOP as published (Coulom 2011): local quadratic logistic regression, with weights that also draw the next point.

    Each point plays a game pair against the default. The recommendation is the weighted mean of all points.
    """
    space, table, generator = landscape.space, Games(landscape, seed), np.random.default_rng(seed)
    points, scores = np.zeros((games // 2, len(space.dimensions))), np.zeros(games // 2)
    fits: list[tuple[Array, float, float]] = []
    fitted, weights = 1, np.ones(0)
    for number in range(games // 2):
        if number >= REFIT_GROWTH * fitted:
            fits, weights, fitted = clop_fits(points[:number], scores[:number]), np.ones(0), number
        if not fits:
            points[number] = generator.random(len(space.dimensions))
        else:
            if not len(weights):
                weights = clop_weights(fits, points[:number])
            points[number] = points[generator.choice(len(weights), p=weights / weights.sum())]
            for place in list(range(len(space.dimensions))) * SWEEPS:
                line = np.repeat(points[number][None], GRID, axis=0)
                line[:, place] = (np.arange(GRID) + generator.random()) / GRID
                along = clop_weights(fits, line)
                points[number] = line[generator.choice(GRID, p=along / along.sum())]
        scores[number] = table.play(values_at(space, points[number]), space.default_values, 1)
    weights = clop_weights(clop_fits(points, scores), points)
    return Outcome(values_at(space, weights @ points / weights.sum()))


def clop_fits(points: Array, scores: Array) -> list[tuple[Array, float, float]]:
    """Fit quadratics with decreasing weights until the weights settle.

    Each fit has the coefficients, the logit of the weighted mean score, and the standard deviation of that logit.
    """
    features, weights = clop_features(points), np.ones(len(points))
    fits: list[tuple[Array, float, float]] = []
    for _ in range(MAX_FITS):
        coefficients = _regression(features, scores, weights)
        constant = _regression(features[:, :1], scores, weights)[0]
        expected = 1 / (1 + math.exp(-constant))
        deviation = 1 / math.sqrt(2 * weights.sum() * expected * (1 - expected) + 1 / CLOP_PRIOR)
        fits.append((coefficients, constant, deviation))
        before, weights = weights.sum(), np.minimum(weights, clop_weights(fits[-1:], points))
        if weights.sum() > 0.99 * before:
            break
    return fits


def clop_weights(fits: Sequence[tuple[Array, float, float]], points: Array) -> Array:
    """Weights of n points, (n,), at most 1: low where a quadratic is several standard deviations below its mean."""
    features = clop_features(points)
    exponents = [(features @ one - constant) / (LOCALITY * deviation) for one, constant, deviation in fits]
    return np.exp(np.clip(np.min(exponents, axis=0), -500, 0))


def clop_features(points: Array) -> Array:
    """Features of the points, one row each: a constant, the coordinates from -1 to 1, and their products."""
    centred = 2 * points - 1
    one, other = np.triu_indices(points.shape[1])
    return np.concatenate([np.ones((len(points), 1)), centred, centred[:, one] * centred[:, other]], axis=1)


def _regression(features: Array, scores: Array, weights: Array) -> Array:
    """Coefficients of a weighted logistic regression of the scores of game pairs, by Newton's method."""
    found = np.zeros(features.shape[1])
    for _ in range(20):
        expected = 1 / (1 + np.exp(-np.clip(features @ found, -20, 20)))
        slope = features.T @ (2 * weights * (scores - expected)) - found / CLOP_PRIOR
        curvature = (features * (2 * weights * expected * (1 - expected))[:, None]).T @ features
        step = np.linalg.solve(curvature + np.eye(len(found)) / CLOP_PRIOR, slope)
        found = found + step
        if np.abs(step).max() < 1e-4:
            break
    return found


METHODS: dict[str, Method] = {
    "spsa-textbook": spsa_textbook,
    "spsa-automatic": spsa_automatic,
    "spsa-model": spsa_model,
    "spsa-fishtest": spsa_fishtest,
    "schedule-free": schedule_free,
    **{
        f"{name}-{pick}": partial(of_optuna, name, pick)
        for name in SAMPLERS[len(PAIRED_SAMPLERS) :] for pick in ("best", "model")
    },
    "tbpsa": tbpsa,
    "clop": clop,
    "bask": bask,
}  # fmt: skip
