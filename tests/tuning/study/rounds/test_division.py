"""How a budget is cut into rounds, where settings pairs play one game pair and where they play several."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest

from elolab.tuning.study.rounds.budgets import is_time_to_confirm, pairs_before_playoff, rounds_of
from elolab.tuning.study.study_spec import tuning_from_mapping

STUDY = {"game": "xiangqi", "limit": "nodes=1000", "parameters": ["null_depth"], "validation": {"kind": "sprt"}}


@pytest.mark.parametrize(("games", "game_pairs"), [(100, 1), (4000, 1), (9000, 3), (40_000, 8)])
def test_rounds_follow_each_other_without_gap_or_overlap(games: int, game_pairs: int) -> None:
    """A tenth is left for the playoff, and what no settings pair fits into."""
    rounds = rounds_of(tuning_from_mapping(STUDY | {"budget": {"games": games}}, "small.toml"), games)
    assert (rounds[0].first_pair, rounds[0].first_settings_pair) == (0, 0)
    assert [one.number for one in rounds] == list(range(len(rounds)))
    for one, following in pairwise(rounds):
        assert following.first_pair == one.first_pair + one.pairs
        assert following.first_settings_pair == one.first_settings_pair + one.settings_pairs
    assert {one.game_pairs for one in rounds} == {game_pairs}
    pairs = sum(one.pairs for one in rounds)
    assert pairs_before_playoff(games) - game_pairs < pairs <= pairs_before_playoff(games)
    assert pairs_before_playoff(games) == games // 2 - games // 20


def test_a_budget_for_everything_keeps_games_for_the_validation() -> None:
    """At least 15 % of them, and as many as confirm the gain that the model expects."""
    whole = STUDY | {"budget": {"games": 4000}, "validation": {"kind": "gain"}}
    rounds = rounds_of(tuning_from_mapping(whole, "small.toml"), 4000)
    assert sum(one.pairs for one in rounds) == pairs_before_playoff(3400)

    def ends_after(gain: float) -> int:
        space = SimpleNamespace(default_values=(1,))
        model = SimpleNamespace(space=space, difference=lambda best, base: (gain, 0.0))
        played = (pairs for pairs in range(0, 2000, 20) if is_time_to_confirm(model, (2,), pairs, 20, 2000))  # type: ignore[arg-type]
        return next(played, 2000)

    assert 720 <= ends_after(1.0) <= 740 < ends_after(25.0) < ends_after(40.0) < ends_after(150.0)
    base = SimpleNamespace(space=SimpleNamespace(default_values=(1,)))
    assert not is_time_to_confirm(base, (1,), 1990, 20, 2000)  # type: ignore[arg-type]
