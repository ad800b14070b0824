"""Ways of tuning: each spends a budget of games on a landscape and recommends a set. ``METHODS`` lists them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from landscapes import CHOICES, Games, Landscape, Values

from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.maxima import combinations, maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import SHARE, Decision, decide
from elolab.tuning.study.rounds.budgets import is_time_to_confirm
from elolab.tuning.study.rounds.pairs_of_settings import (
    design_of,
    design_pair,
    first_design,
    game_pairs_per_settings_pair,
)
from elolab.tuning.study.space import Space
from elolab.tuning.study.study_spec import DEFAULT_ROUND_PAIRS, INTERIM_PAIRS, MAX_SEARCH, MIN_ROUNDS, SAMPLERS
from elolab.tuning.study.validation.gain_test import GainTest

TRIALS = 80
OVERLAPS = (1, 2, 4, 8)
"""Rounds that are under way when another one is laid out, beside none."""


@dataclass(frozen=True)
class Outcome:
    """What a method recommends."""

    values: Values
    decision: Decision | None = None
    is_confirmed: bool = False
    """Whether a validation within the budget has confirmed a gain over the default."""


Method = Callable[[Landscape, int, int], Outcome]
"""A function that tunes on a landscape; its other arguments are the budget in games and a random seed."""


def best_of(model: ResponseModel, observations: Observations, start: Values) -> Values:
    """The model's maximum, as a study finds it."""
    starts = [start, *combinations(model.space, 16)]
    return maximum(model, observations.trust_region(), starts)


Stop = Callable[[ResponseModel, Values, int, int], bool]
"""Whether a search ends early: of the model, its maximum, the pairs so far, and those of the next round."""


def play_settings_pairs(
    landscape: Landscape, games: int, seed: int, share: float, overlap: int = 0,
    stop: Stop = lambda model, best, played, following: False,
) -> tuple[ResponseModel, Values, Games]:  # fmt: skip
    """What ``elolab tune`` plays with all but ``share`` of the budget: model, the model's maximum, and the table.

    The results of the last ``overlap`` rounds are not known yet when a round is laid out.
    """
    space, pairs, each = landscape.space, games // 2 - int(games // 2 * share), game_pairs_per_settings_pair(games)
    pairs_per_round = max(1, round(min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS)) / each))
    observations, table = Observations(space), Games(landscape, seed)
    design, best = first_design(space), space.default_values
    unknown: list[list[tuple[Values, Values, float]]] = [[]]
    """By round: the results that no round has been laid out from yet."""
    for start in range(0, pairs // each, pairs_per_round):
        if start:
            if len(unknown) > overlap:
                add_results(observations, unknown.pop(0), each)
                model = fit(observations)
                best = best_of(model, observations, best)
                design = design_of(model, best)
                if stop(model, best, start * each, pairs_per_round * each):
                    break
            unknown.append([])
        numbers = range(start, min(start + pairs_per_round, pairs // each))
        designed = [design_pair(space, seed, design, number, number * each) for number in numbers]
        landscape.compute([values for pair in designed for values in (pair.first, pair.second)])
        unknown[-1] = [
            (pair.first, pair.second, table.play(pair.first, pair.second, each))
            for pair in designed if pair.first != pair.second
        ]  # fmt: skip
    for results in unknown:
        add_results(observations, results, each)
    model = fit(observations, is_last=True)
    return model, best_of(model, observations, best), table


def add_results(observations: Observations, results: Sequence[tuple[Values, Values, float]], pairs: int) -> None:
    """Make a round's results known, each the mean score of so many pairs."""
    for first, second, score in results:
        observations.add_score(first, second, pairs, score)


def duel(landscape: Landscape, games: int, seed: int, overlap: int = 0) -> Outcome:
    """What ``elolab tune`` does."""
    model, best, table = play_settings_pairs(landscape, games, seed, SHARE, overlap)
    base, pairs = landscape.space.default_values, int(games // 2 * SHARE)
    decision = decide(model, best, pairs, table.play(best, base, pairs)) if best != base else decide(model, base)
    return Outcome(decision.values, decision)


def whole_budget(landscape: Landscape, games: int, seed: int) -> Outcome:
    """What ``elolab tune`` does with a budget for search and validation."""
    total = games // 2

    def stop(model: ResponseModel, best: Values, played: int, following: int) -> bool:
        return is_time_to_confirm(model, best, played, following, total)

    searched = 2 * round(total * MAX_SEARCH)
    model, best, table = play_settings_pairs(landscape, searched, seed, SHARE, stop=stop)
    base, pairs = landscape.space.default_values, max(3, round(table.pairs * SHARE / (1 - SHARE)))
    if best == base:
        decision = decide(model, base)
        return Outcome(decision.values, decision)
    decision = decide(model, best, pairs, table.play(best, base, pairs))
    test = GainTest(max(1, total - table.pairs))
    is_confirmed = not decision.is_base and is_accepted(table, decision.values, base, test, test.horizon)
    return Outcome(decision.values, decision, is_confirmed)


def halves(landscape: Landscape, games: int, seed: int) -> Outcome:
    """Half of a budget for the search, half for a sequential probability ratio test of 0 against 5 normalized Elo.

    This is how elolab divided a budget, and tested, before it had a test of its own.
    """
    found = duel(landscape, games // 2, seed)
    if found.decision is None or found.decision.is_base:
        return found
    test = SequentialSettings(batch_pairs=INTERIM_PAIRS)
    table, base = Games(landscape, seed + 1), landscape.space.default_values
    return replace(found, is_confirmed=is_accepted(table, found.values, base, test, games // 4))


def is_accepted(table: Games, values: Values, base: Values, test: GainTest | SequentialSettings, pairs: int) -> bool:
    """Whether a sequential test of at most ``pairs`` game pairs accepts a gain."""
    counts = Pentanomial((0, 0, 0, 0, 0))
    while counts.pairs < pairs:
        counts += Pentanomial(table.count(values, base, min(test.batch_pairs, pairs - counts.pairs)))
        verdict = test.test(counts).verdict
        if verdict != "undecided":
            return verdict == "upper accepted"
    return False


def duel_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The model's maximum after settings pairs with the whole budget."""
    return Outcome(play_settings_pairs(landscape, games, seed, 0.0)[1])


@dataclass(frozen=True)
class Spsa:
    """Simultaneous perturbation (Spall 1992), choices by a preference that rises with their wins."""

    perturbation_end: float
    """Distance of the two settings of a pair from the centre at the end, as a share of the range."""
    rate_end: float
    """What a game won moves the centre at the end, in perturbations squared over ranges."""

    def play(
        self, landscape: Landscape, games: int, seed: int
    ) -> tuple[list[list[float]], list[list[float]], Observations]:
        """The centre after every settings pair, the preferences of the switches at the end, and all results."""
        space, table, random_source = landscape.space, Games(landscape, seed), random.Random(f"{seed}:spsa")
        centre = list(space.coordinates(space.default_values))
        preferences = [[0.0] * len(dimension.choices) for dimension in space.dimensions]
        centres, observations, count = [], Observations(space), games // 2
        for number in range(count):
            aside = self.perturbation_end * (count / (number + 1)) ** 0.101
            gain = self.rate_end * self.perturbation_end**2 * (1.1 * count / (0.1 * count + number + 1)) ** 0.602
            signs = [random_source.choice((-1, 1)) for _ in space.dimensions]
            first: list[Value] = []
            second: list[Value] = []
            for place, dimension in enumerate(space.dimensions):
                if dimension.choices:
                    weights = [0.5 / len(CHOICES) + 0.5 * share for share in _softmax(preferences[place])]
                    first += random_source.choices(dimension.choices, weights)
                    second += random_source.choices(dimension.choices, weights)
                    continue
                threshold = random_source.random()
                first.append(dimension.value_at(centre[place] + signs[place] * aside, threshold))
                second.append(dimension.value_at(centre[place] - signs[place] * aside, 1 - threshold))
            one, other = tuple(first), tuple(second)
            if one != other:
                score = table.play(one, other, 1)
                observations.add_score(one, other, 1, score)
                for place, dimension in enumerate(space.dimensions):
                    if dimension.choices:
                        preferences[place][dimension.choices.index(one[place])] += 0.2 * (score - 0.5)
                        preferences[place][dimension.choices.index(other[place])] -= 0.2 * (score - 0.5)
                    elif one[place] != other[place]:
                        moved = centre[place] + signs[place] * gain / aside * 4 * (score - 0.5)
                        centre[place] = min(max(moved, 0.0), 1.0)
            centres.append(list(centre))
        return centres, preferences, observations

    def values(self, space: Space, centre: Sequence[float], preferences: Sequence[Sequence[float]]) -> Values:
        """The set at a centre, with the preferred choices."""
        return tuple(
            dimension.choices[int(np.argmax(liked))] if dimension.choices else dimension.value_at(coordinate)
            for dimension, coordinate, liked in zip(space.dimensions, centre, preferences, strict=True)
        )


def _softmax(preferences: Sequence[float]) -> list[float]:
    powers = [math.exp(value) for value in preferences]
    return [power / sum(powers) for power in powers]


def spsa_textbook(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The last centre of a walk by the usual advice."""
    method = Spsa(1 / 20, 0.002 / 400 * 20**2)
    centres, preferences, _ = method.play(landscape, games, seed)
    return Outcome(method.values(landscape.space, centres[-1], preferences))


def _wide(games: int) -> Spsa:
    return Spsa(0.2, 0.02 * math.sqrt(1000 / games))


def spsa_automatic(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The mean of the later half of a walk that is scheduled for few games."""
    centres, preferences, _ = _wide(games).play(landscape, games, seed)
    later = centres[len(centres) // 2 :]
    return Outcome(_wide(games).values(landscape.space, np.mean(later, axis=0).tolist(), preferences))


def spsa_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The model's maximum of the games of such a walk."""
    _, _, observations = _wide(games).play(landscape, games, seed)
    return Outcome(best_of(fit(observations), observations, landscape.space.default_values))


@cache
def trials_of(sampler: str, landscape: Landscape, games: int, seed: int) -> tuple[Values, Observations]:
    """A study of trials against the default: the best trial's set, and all games. Played once for both picks."""
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


def of_optuna(sampler: str, pick: str) -> Method:
    """What a sampler of Optuna's recommends: its best trial, or our model's maximum of the same games."""

    def method(landscape: Landscape, games: int, seed: int) -> Outcome:
        best, observations = trials_of(sampler, landscape, games, seed)
        if pick == "best":
            return Outcome(best)
        return Outcome(best_of(fit(observations), observations, landscape.space.default_values))

    return method


METHODS: dict[str, Method] = {
    "duel": duel,
    "whole-budget": whole_budget,
    "halves": halves,
    **{f"duel-overlap-{overlap}": partial(duel, overlap=overlap) for overlap in OVERLAPS},
    "duel-model": duel_model,
    "spsa-textbook": spsa_textbook,
    "spsa-automatic": spsa_automatic,
    "spsa-model": spsa_model,
    **{f"{name}-{pick}": of_optuna(name, pick) for name in SAMPLERS[1:] for pick in ("best", "model")},
}  # fmt: skip
