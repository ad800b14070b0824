"""Ways of tuning: each spends a budget of games on a landscape and recommends a set. ``METHODS`` lists them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from landscapes import Games, Landscape, Values

from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.elo import Pentanomial
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
from elolab.tuning.study.rounds.spsa import Spsa, Theta
from elolab.tuning.study.study_spec import (
    DEFAULT_ROUND_PAIRS,
    INTERIM_PAIRS,
    MAX_SEARCH,
    MIN_ROUNDS,
    PAIRED_SAMPLERS,
    SAMPLERS,
)
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


def walk(landscape: Landscape, games: int, seed: int, **schedule: float) -> tuple[Spsa, list[Theta], Observations]:
    """SPSA with one game pair an iteration: its schedule, theta after every iteration, and all results."""
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
    """The last iterate with the defaults of the sampler ``spsa``, which are the usual advice."""
    spsa, thetas, _ = walk(landscape, games, seed)
    return Outcome(spsa.values(thetas[-1]))


def _for_few(games: int) -> dict[str, float]:
    """Schedule for few games: wide perturbations and large steps."""
    return {"c_end": 0.2, "r_end": 0.02 * math.sqrt(1000 / games)}


def spsa_automatic(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The mean of the later half of a walk that is scheduled for few games."""
    spsa, thetas, _ = walk(landscape, games, seed, **_for_few(games))
    later = [np.mean(parts, axis=0) for parts in zip(*thetas[len(thetas) // 2 :], strict=True)]
    return Outcome(spsa.values([part.tolist() for part in later]))


def spsa_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The model's maximum of the games of such a walk."""
    _, _, observations = walk(landscape, games, seed, **_for_few(games))
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
    **{
        f"{name}-{pick}": of_optuna(name, pick)
        for name in SAMPLERS[len(PAIRED_SAMPLERS) :] for pick in ("best", "model")
    },
}  # fmt: skip
