"""Conditions and constraints between dimensions: no set that is played violates them, whoever suggests it."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

import elolab
from elolab.engine.errors import UserError
from elolab.tuning.study.rounds.constraints import holds, names_in
from elolab.tuning.study.space import Space
from elolab.tuning.study.study_spec import load_tuning, matches_from_mapping
from tests.support.small_studies import external_study, write_study

DIMENSIONS: dict[str, Any] = {
    "low": {"low": 0, "high": 100, "default": 20},
    "high": {"low": 0, "high": 100, "default": 60},
    "rate": {"low": 0.01, "high": 10.0, "scale": "log", "default": 1.0},
    "pruning": {"choices": [True, False], "default": True},
    "depth": {"low": 1, "high": 9, "default": 3, "needs": {"pruning": True}},
    "margin": {"low": 0, "high": 50, "default": 10, "needs": {"depth": [3, 4, 5]}},
}
CONSTRAINTS = ["low + 10 <= high", "2 * rate < high - low"]


def study(**changes: Any) -> dict[str, Any]:
    return {"dimensions": DIMENSIONS, "constraints": CONSTRAINTS, "budget": {"games": 100}} | changes


def space() -> Space:
    return matches_from_mapping(study(), "here").space


def is_valid(values: dict[str, Any]) -> bool:
    if values["low"] + 10 > values["high"] or 2 * values["rate"] >= values["high"] - values["low"]:
        return False
    if values["depth"] != 3 and not values["pruning"]:
        return False
    return values["margin"] == 10 or (values["pruning"] and values["depth"] in (3, 4, 5))


@pytest.mark.parametrize(
    ("constraint", "names", "expected"),
    [
        ("a < b", ("a", "b"), True),
        ("a >= 3", ("a",), False),
        ("-a + 2 * b > 0 - 'with space'", ("a", "b", "with space"), True),
        ("1 < a <= b", ("a", "b"), True),
        ("a * b > 6.5", ("a", "b"), False),
    ],
)
def test_constraints_compare(constraint: str, names: tuple[str, ...], expected: bool) -> None:
    assert names_in(constraint) == names
    assert holds(constraint, {"a": 2, "b": 3, "with space": 1}) is expected


def test_every_suggestion_becomes_a_valid_set() -> None:
    here, source = space(), random.Random(1)
    assert here.effective(here.default) == here.default
    moved = 0
    for _ in range(300):
        suggested = {
            one.name: source.choice(one.choices) if one.choices else one.value_at(source.random())
            for one in here.dimensions
        }
        found = here.effective(suggested)
        assert is_valid(found)
        assert here.effective(found) == found
        assert all(one.contains(found[one.name]) for one in here.dimensions)
        if is_valid(suggested):
            assert found == suggested
        moved += found["low"] != suggested["low"]
    assert moved > 50


def test_a_set_moves_no_further_than_the_border() -> None:
    found = space().effective({**space().default, "low": 90, "high": 60, "rate": 0.01})
    assert found["low"] + 10 == found["high"] == 60


@pytest.mark.integration
@pytest.mark.parametrize("sampler", ["duel", "random"])
def test_no_match_violates_them(sampler: str, tmp_path: Path) -> None:
    seen = []

    def match(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> tuple[int, int, int]:
        seen.extend([one, other])
        return (2 * pairs, 0, 0) if one["low"] > other["low"] else (0, 2 * pairs, 0)

    content = study(sampler=sampler)
    tuned = elolab.tune(
        objective=match, dimensions=content["dimensions"], constraints=CONSTRAINTS, games=60, sampler=sampler
    )
    assert isinstance(tuned, elolab.MatchedStudy)
    assert tuned.best is not None
    assert is_valid(tuned.best)
    assert all(map(is_valid, seen))
    assert len({str(values) for values in seen}) > 5


def test_the_built_in_engine_has_them_too(tmp_path: Path) -> None:
    path = write_study(tmp_path, constraints=["lmr_base < 20 * null_depth + 40"])
    here = load_tuning(path).space
    assert load_tuning(path).content()["constraints"] == ["lmr_base < 20 * null_depth + 40"]
    for depth, base in itertools.product((2, 3, 5), (0, 90, 160)):
        found = here.effective({"null_depth": depth, "lmr_base": base, "evaluation": "full"})
        assert found["lmr_base"] < 20 * found["null_depth"] + 40


def test_options_of_an_engine_have_conditions(tmp_path: Path) -> None:
    dimensions = "[dimensions.Skill]\nlow = 0\nhigh = 9\ndefault = 2\nneeds = { Book = [true] }\n"
    dimensions += "[dimensions.Book]\nchoices = [true, false]\ndefault = true\n"
    here = load_tuning(external_study(tmp_path, dimensions)).space
    assert here.effective({"Skill": 7, "Book": False}) == {"Skill": 2, "Book": False}
    assert here.effective({"Skill": 7, "Book": True}) == {"Skill": 7, "Book": True}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"constraints": ["low << high"]}, "constraints: 'low << high', expected a comparison such as"),
        ({"constraints": ["low < "]}, "expected a comparison"),
        ({"constraints": ["low == high"]}, "expected a comparison"),
        ({"constraints": ["__import__('os') < 3"]}, "expected a comparison"),
        ({"constraints": ["low < hgih"]}, "no range of 'hgih'; expected low or high or rate or depth or margin"),
        ({"constraints": ["1 < 2"]}, "no name in it; expected low or high"),
        ({"constraints": ["pruning < 2"]}, "no range of 'pruning'; expected low or"),
        ({"constraints": ["high < low"]}, r"does not hold for the base itself \(high = 60, low = 20\)"),
        ({"needs": {"low": 20}}, r"\[dimensions.low\]: needs: low, expected another"),
        ({"needs": {"rates": 2}}, "needs: rates, expected another"),
        ({"needs": {"pruning": "on"}}, "needs: pruning = 'on', expected one of true, false"),
        ({"needs": {"margin": 10}}, "depends on itself in the end"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    data = study()
    if "needs" in changes:
        name = "depth" if "margin" in changes["needs"] else "low"
        data["dimensions"] = DIMENSIONS | {name: DIMENSIONS[name] | {"needs": changes["needs"]}}
    else:
        data |= changes
    with pytest.raises(UserError, match=message):
        matches_from_mapping(data, "here")
