"""elolab's tuning methods. Each spends a budget of games on a landscape and recommends a set of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

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
from elolab.tuning.study.state import REFIT_GROWTH
from elolab.tuning.study.study_spec import (
    DEFAULT_ROUND_PAIRS,
    INTERIM_PAIRS,
    MAX_SEARCH,
    MIN_ROUNDS,
)
from elolab.tuning.study.validation.gain_test import GainTest

OVERLAPS = (1, 2, 4, 8)
"""Numbers of rounds that are still in progress while variants of ``duel`` design another round."""


@dataclass(frozen=True)
class Outcome:
    """The recommendation of a method."""

    values: Values
    decision: Decision | None = None
    is_confirmed: bool = False
    """Whether a validation within the budget has confirmed a gain over the default."""


Method = Callable[[Landscape, int, int], Outcome]
"""A function that tunes on a landscape; its other arguments are the budget in games and a random seed."""


def best_of(model: ResponseModel, observations: Observations, start: Values) -> Values:
    """The model's maximum, found as in a study: from ``start`` and from other combinations of values."""
    starts = [start, *combinations(model.space, 16)]
    return maximum(model, observations.trust_region(), starts)


Stop = Callable[[ResponseModel, Values, int, int], bool]
"""A function that decides whether a search ends early.

Its arguments are the model, the model's maximum, the number of pairs so far, and the number of pairs in the next round.
"""


def play_settings_pairs(
    landscape: Landscape, games: int, seed: int, share: float, overlap: int = 0,
    stop: Stop = lambda model, best, played, following: False,
) -> tuple[ResponseModel, Values, Games]:  # fmt: skip
    """Play the rounds of ``elolab tune`` with all but ``share`` (0 to 1) of the budget.

    Returns the model, its maximum, and the object that played the games. A round is designed before the results of the
    last ``overlap`` rounds are known.
    """
    space, pairs, each = landscape.space, games // 2 - int(games // 2 * share), game_pairs_per_settings_pair(games)
    pairs_per_round = max(1, round(min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS)) / each))
    observations, table = Observations(space), Games(landscape, seed)
    design, best, fitted = first_design(space), space.default_values, 1
    unknown: list[list[tuple[Values, Values, float]]] = [[]]
    """Results, by round, that no round has used yet."""
    for start in range(0, pairs // each, pairs_per_round):
        if start:
            if len(unknown) > overlap:
                add_results(observations, unknown.pop(0), each)
            if len(observations) >= REFIT_GROWTH * fitted:
                model, fitted = fit(observations), len(observations)
                best = best_of(model, observations, best)
                design = design_of(model, best)
            if fitted > 1 and stop(model, best, start * each, pairs_per_round * each):
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
    """Add a round's results: two sets of values, and the first set's mean score over ``pairs`` game pairs."""
    for first, second, score in results:
        observations.add_score(first, second, pairs, score)


def duel(landscape: Landscape, games: int, seed: int, overlap: int = 0) -> Outcome:
    """The method of ``elolab tune``, with a playoff; ``overlap`` is as for ``play_settings_pairs``."""
    model, best, table = play_settings_pairs(landscape, games, seed, SHARE, overlap)
    base, pairs = landscape.space.default_values, int(games // 2 * SHARE)
    decision = decide(model, best, pairs, table.play(best, base, pairs)) if best != base else decide(model, base)
    return Outcome(decision.values, decision)


def whole_budget(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The method of ``elolab tune`` for a budget that covers search and validation."""
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

    elolab divided a budget in this way before it had a test of its own for gains.
    """
    found = duel(landscape, games // 2, seed)
    if found.decision is None or found.decision.is_base:
        return found
    test = SequentialSettings(batch_pairs=INTERIM_PAIRS)
    table, base = Games(landscape, seed + 1), landscape.space.default_values
    return replace(found, is_confirmed=is_accepted(table, found.values, base, test, games // 4))


def is_accepted(table: Games, values: Values, base: Values, test: GainTest | SequentialSettings, pairs: int) -> bool:
    """Whether a sequential test of at most ``pairs`` pairs from ``table`` accepts that ``values`` beat ``base``."""
    counts = Pentanomial((0, 0, 0, 0, 0))
    while counts.pairs < pairs:
        counts += Pentanomial(table.count(values, base, min(test.batch_pairs, pairs - counts.pairs)))
        verdict = test.test(counts).verdict
        if verdict != "undecided":
            return verdict == "upper accepted"
    return False


def duel_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """Spend the whole budget on rounds of settings pairs, without a playoff; returns the fitted model's maximum."""
    return Outcome(play_settings_pairs(landscape, games, seed, 0.0)[1])


METHODS: dict[str, Method] = {
    "duel": duel,
    "whole-budget": whole_budget,
    "halves": halves,
    **{f"duel-overlap-{overlap}": partial(duel, overlap=overlap) for overlap in OVERLAPS},
    "duel-model": duel_model,
}
