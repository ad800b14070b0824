"""The space of a study: dimensions from the parameter table, what is refused, and Optuna's samplers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import optuna
import pytest

from elolab.engine.errors import UserError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, resolve, why_without_effect
from elolab.engine.settings.schema import Table
from elolab.tuning.conditions import describe, short_name
from elolab.tuning.study.sampler import ReproducibleSampler, SamplerError, check_sampler, distribution_of, suggest
from elolab.tuning.study.space import Dimension, Space, read_options, read_space
from elolab.tuning.study.study_spec import PAIRED_SAMPLERS, SAMPLERS, load_tuning, tuning_from_mapping
from elolab.tuning.study.study_spec import STUDY as STUDY_KEYS

NODES = Limits(nodes=1000)
ROOT = Path(__file__).parents[3]


def space_of(data: dict[str, Any], limits: Limits = NODES, **base: Any) -> Space:
    return read_space(Table(data, "study.toml", STUDY_KEYS), resolve(base), "xiangqi", limits)


# Dimensions


def test_ranges_and_scales_come_from_the_table() -> None:
    space = space_of({"parameters": ["null_depth", "aspiration_window", "killers", "aspiration", "quiescence_see"]})
    null_depth, window, killers, aspiration, see = space.dimensions
    assert (null_depth.low, null_depth.high) == BY_NAME["null_depth"].tuning
    assert (window.low, window.high, window.scale) == (*BY_NAME["aspiration_window"].tuning, "log")
    assert (killers.low, killers.high) == BY_NAME["killers"].tuning
    assert aspiration.choices == BY_NAME["aspiration"].tuning
    assert see.choices == (False, True)


def test_the_file_may_say_otherwise() -> None:
    space = space_of(
        {
            "parameters": ["null_depth", "lmr_base"],
            "dimensions": {
                "null_depth": {"choices": [2, 4]},
                "lmr_base": {"low": 0, "high": 100, "step": 20},
                "tempo": {"scale": "log", "low": 1},
                "aspiration": {"choices": ["off", "full"]},
            },
        }
    )
    assert space.names == ("null_depth", "lmr_base", "tempo", "aspiration")
    assert space.dimensions[0].choices == (2, 4)
    assert space.dimensions[1] == Dimension("lmr_base", 0, 100, 20)
    assert space.dimensions[2] == Dimension("tempo", 1, 40, scale="log")
    assert space.dimensions[3].choices == ("off", "full")


def test_aliases_are_kept_under_the_own_names() -> None:
    data = {"parameters": ["NullDepth", "valWINDOW"], "dimensions": {"nulldepth": {"high": 4}, "TIME-DIVISOR": {}}}
    limits = Limits.parse("clock=1+0.01,node_clock=50000")
    space = space_of(data, limits)
    assert space.names == ("null_depth", "aspiration_window", "time_divisor")
    assert (space.dimensions[0].low, space.dimensions[0].high) == (2, 4)
    own = {"parameters": ["null_depth", "aspiration_window"], "dimensions": {"null_depth": {"high": 4},
           "time_divisor": {}}}  # fmt: skip
    assert space == space_of(own, limits)
    study = tuning_from_mapping({**STUDY, "parameters": ["NullDepth"], "set": {"Hash": 1}}, "study.toml")
    assert study.content() == tuning_from_mapping({**STUDY, "set": {"hash_mb": 1}}, "study.toml").content()
    assert study.base_name == "default with hash_mb 1"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"parameters": ["null_depth", "null_depth"]}, ["parameters", "each name once"]),
        (
            {"parameters": ["NullDepth", "null_depth"]},
            ["parameters", "NullDepth and null_depth are the same parameter, null_depth"],
        ),
        (
            {"dimensions": {"hash_mb": {"low": 1, "high": 4}, "Hash": {}}},
            ["[dimensions]", "hash_mb and Hash are the same parameter, hash_mb"],
        ),
        ({"dimensions": {"NullDepth": {"low": 1}}}, ["[dimensions.NullDepth]", "null_depth = 1", "from 2 to 8"]),
        ({}, ["nothing to tune", "parameters", "[dimensions.NAME]"]),
        ({"parameters": ["nul_depth"]}, ["unknown parameter 'nul_depth'", "did you mean 'null_depth'"]),
        ({"parameters": "null_depth"}, ["parameters", "a list of parameter names"]),
        ({"dimensions": {"null_depth": {"lo": 2}}}, ["[dimensions.null_depth]", "unknown key 'lo'", "'low'"]),
        ({"dimensions": {"null_depth": {"low": 1}}}, ["[dimensions.null_depth]", "null_depth = 1", "from 2 to 8"]),
        ({"dimensions": {"null_depth": {"low": 4, "high": 4}}}, ["low = 4 and high = 4", "low below high"]),
        ({"dimensions": {"null_depth": {"choices": [3]}}}, ["choices", "at least two"]),
        ({"dimensions": {"null_depth": {"choices": [3, 9]}}}, ["null_depth = 9", "from 2 to 8"]),
        ({"dimensions": {"null_depth": {"choices": [3, 3]}}}, ["different values"]),
        ({"dimensions": {"aspiration": {"low": 1}}}, ["low is for a range", "choices"]),
        ({"dimensions": {"tempo": {"scale": "log"}}}, ["scale = 'log'", "low of at least 1"]),
        ({"dimensions": {"tempo": {"step": 7}}}, ["step = 7", "divisor of 40"]),
        ({"parameters": ["hash_mb"]}, ["hash_mb", "give low and high"]),
        ({"parameters": ["time_divisor"]}, ["time_divisor", "only on a clock", "nodes=1000"]),
        ({"parameters": ["aspiration_growth"]}, ["aspiration_growth", "aspiration is gradual", "one_sided"]),
    ],
)
def test_mistakes_are_refused_in_one_line(data: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as raised:
        space_of(data)
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_clock_parameters_are_dimensions_on_a_clock() -> None:
    assert space_of({"parameters": ["time_divisor"]}, Limits.parse("clock=1+0.01,node_clock=50000")).names


def test_a_dimension_that_depends_on_another_counts_only_beside_it() -> None:
    space = space_of({"parameters": ["aspiration", "aspiration_growth"]})
    active = {"aspiration": "gradual", "aspiration_growth": 1500}
    assert space.effective(active) == active
    assert space.effective({**active, "aspiration": "off"}) == {"aspiration": "off", "aspiration_growth": 2000}


def test_what_depends_on_what_is_followed_to_the_end() -> None:
    values = resolve({"null_move": False, "null_verify": "unless_safe"}, game="xiangqi")
    assert "null_move is on" in str(why_without_effect("null_safe_material", values, NODES))
    assert why_without_effect("null_safe_material", values | {"null_move": True}, NODES) is None


def test_coordinates_follow_the_scale() -> None:
    assert Dimension("lmr_base", 0, 100).coordinate(25) == pytest.approx(0.25)
    assert Dimension("aspiration_window", 10, 1000, scale="log").coordinate(100) == pytest.approx(0.5)
    assert Dimension("aspiration", choices=("off", "full")).coordinate("full") == 1


def test_long_names_are_short_and_different() -> None:
    long = {"lmr_divisor": 200, "null_min_depth": 3, "killers": 1, "tempo": 3, "history_weight": 1}
    names = {short_name(describe({**long, "lmr_base": value})) for value in range(50)}
    assert len(names) == 50
    assert max(map(len, names)) <= 60


# The specification


STUDY: dict[str, Any] = {
    "limit": "nodes=100", "budget": {"games": 100}, "parameters": ["null_depth"],
}  # fmt: skip


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "tuning").glob("*.toml")), ids=lambda path: path.stem)
def test_the_shipped_studies_can_be_read(path: Path) -> None:
    spec = load_tuning(path)
    assert spec.name == f"{path.stem}-tuning" or spec.name == path.stem
    assert spec.validation.limits == spec.conditions.limits
    assert spec.conditions.limits.is_reproducible or spec.conditions.external is not None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trails": 3}, ["unknown key 'trails'", "'trials'"]),
        ({"null_move": False}, ["unknown key 'null_move'", "set = { null_move = ... }"]),
        ({"sampler": "tpee"}, ["sampler = 'tpee'", "'tpe'"]),
        ({"round_pairs": 0}, ["round_pairs = 0", "from 1"]),
        ({"trials": 9}, ["trials = 9 has no effect with sampler = 'duel'; leave it out"]),
        ({"startup_trials": 9}, ["startup_trials = 9 has no effect with sampler = 'duel'; leave it out"]),
        (
            {"sampler": "qmc", "trials": 9, "startup_trials": 9},
            ["startup_trials = 9 has no effect with sampler = 'qmc'; leave it out"],
        ),
        (
            {"sampler": "tpe", "trials": 9, "round_pairs": 7},
            ["round_pairs = 7 has no effect with sampler = 'tpe' and a budget in games; leave it out"],
        ),
        ({"budget": {}}, ["budget = {}", "{ games = N }"]),
        ({"budget": {"games": 10, "minutes": 1}}, ["budget", "one of"]),
        ({"budget": {"games": 10}}, ["games = 10", "1 dimensions of the sampler 'duel' need at least 55"]),
        ({"sampler": "tpe", "trials": 90}, ["games = 100", "90 trials of the sampler 'tpe' need at least"]),
        ({"base": "x" * 5000}, ["base", "no engine preset"]),
        ({"base": str(ROOT)}, ["base", f"{ROOT}: a folder; give the engine preset in it"]),
        ({"base": "defalt"}, ["base", "'defalt'", "'default'"]),
        ({"set": {"null_depht": 3}}, ["[set]", "'null_depht'", "'null_depth'"]),
        ({"validation": {"alpa": 0.1}}, ["[validation]", "'alpa'", "'alpha'"]),
        ({"validation": {"elo_upper": 0}}, ["elo_upper = 0", "above elo_lower = 0"]),
        ({"validation": {"elo_upper": 1e-9}}, ["elo_upper = 1e-09", "by 0.001 or more"]),
        ({"validation": {"elo_upper": 250}}, ["elo_upper = 250", "200"]),
        (
            {"parameters": [], "dimensions": {"evaluation_weights": {"choices": ["xiangqi", "othello"]}}},
            ["evaluation_weights", "othello"],
        ),
        ({"validation": {"preset": "../x"}}, ["preset", "without folder"]),
        ({"limit": "node=100"}, ["study.toml", "limit 'node=100'"]),
        ({"set": {"null_depth": 8}}, ["study.toml: null_depth = 8 in the base", "the range that is searched, "]),
        ({"dimensions": {"null_depth": {"low": 4, "high": 6}}}, ["study.toml: null_depth = 3 in the base", "4 to 6"]),
    ],
)
def test_mistakes_in_a_study_are_refused(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as raised:
        tuning_from_mapping({**STUDY, **changes}, "study.toml")
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_what_depends_on_a_range_may_be_searched_with_it() -> None:
    space = space_of({"parameters": ["singular_depth", "singular_margin"]})
    assert space.names == ("singular_depth", "singular_margin")


def test_choices_of_different_kinds_have_a_default_of_either() -> None:
    table = {"dimensions": {"Mode": {"choices": ["auto", 4, 8], "default": 4}}}
    assert read_options(Table(table, "study.toml", STUDY_KEYS)).default == {"Mode": 4}
    for wrong in ("4", True, 5):
        table["dimensions"]["Mode"]["default"] = wrong
        with pytest.raises(UserError, match=r"expected one of 'auto', 4, 8$"):
            read_options(Table(table, "study.toml", STUDY_KEYS))


@pytest.mark.parametrize(
    ("range_", "expected"),
    [
        ({"low": 0, "high": 1}, "a whole number from 0 to 1 (for decimals: low = 0.0)"),
        ({"low": 2, "high": 8, "step": 2}, "a whole number from 2 to 8, in steps of 2 (for decimals: low = 2.0)"),
        ({"low": 1.0, "high": 2.0}, "a number from 1.0 to 2.0"),
        ({"low": 1.0, "high": 2.0, "step": 0.25}, "a number from 1.0 to 2.0, in steps of 0.25"),
    ],
)
def test_a_default_outside_its_range_is_refused_with_the_values_allowed(range_: Any, expected: str) -> None:
    table = {"dimensions": {"Margin": {**range_, "default": 0.3}}}
    with pytest.raises(UserError, match=f"Margin.: default = 0.3, expected {re.escape(expected)}$"):
        read_options(Table(table, "study.toml", STUDY_KEYS))


# Samplers


OTHERS = SAMPLERS[len(PAIRED_SAMPLERS) :]
"""Those of Optuna: all but our own."""


def mixed_space() -> Space:
    return space_of({"parameters": ["null_depth", "aspiration_window", "lmr_base", "aspiration", "killers"]})


def landscape(values: dict[str, Any]) -> float:
    return -((values["lmr_base"] - 90) ** 2) / 100 - 20 * (values["aspiration"] == "off") - values["null_depth"]


def new_study(sampler: str, seed: int = 7) -> optuna.Study:
    distributions = {dimension.name: distribution_of(dimension) for dimension in mixed_space().dimensions}
    return optuna.create_study(
        direction="maximize", sampler=ReproducibleSampler(sampler, seed, distributions, startup_trials=4)
    )


def run_trials(study: optuna.Study, count: int) -> list[dict[str, Any]]:
    for _ in range(count):
        trial = study.ask()
        for dimension in mixed_space().dimensions:
            suggest(trial, dimension)
        study.tell(trial, landscape(trial.params))
    return [trial.params for trial in study.get_trials()]


def available(sampler: str) -> str:
    try:
        check_sampler(sampler, "here")
    except SamplerError as error:
        pytest.skip(str(error))
    return sampler


@pytest.mark.parametrize("sampler", OTHERS)
def test_every_sampler_stays_in_the_space_and_moves(sampler: str) -> None:
    found = run_trials(new_study(available(sampler)), 12)
    assert len({tuple(values.items()) for values in found}) > 6
    for values in found:
        assert 2 <= values["null_depth"] <= 5
        assert 10 <= values["aspiration_window"] <= 400
        assert values["aspiration"] in BY_NAME["aspiration"].legal


@pytest.mark.integration
@pytest.mark.parametrize("sampler", OTHERS)
def test_a_study_that_was_stopped_goes_on_with_the_same_suggestions(sampler: str) -> None:
    whole = run_trials(new_study(available(sampler)), 12)
    first = new_study(sampler)
    run_trials(first, 7)
    if sampler in ("cmaes", "qmc"):  # their state travels in the study's attributes
        first.sampler = new_study(sampler).sampler
        resumed = first
    else:
        resumed = new_study(sampler)
        resumed.add_trials(first.get_trials())
    assert run_trials(resumed, 5) == whole
    assert run_trials(new_study(sampler, seed=8), 12) != whole


@pytest.mark.parametrize("sampler", OTHERS)
def test_a_trial_recorded_in_part_is_completed_as_it_would_have_been(sampler: str) -> None:
    whole = run_trials(new_study(available(sampler)), 8)
    study = new_study(sampler)
    run_trials(study, 7)
    first, second = mixed_space().dimensions[:2]
    begun = study.ask()
    suggest(begun, first)
    suggest(begun, second)
    reopened = optuna.Trial(study, begun._trial_id)  # as a new process does
    for dimension in mixed_space().dimensions:
        suggest(reopened, dimension)
    assert reopened.params == whole[-1]


def test_a_sampler_that_nothing_makes_is_no_other() -> None:
    with pytest.raises(ValueError, match="no sampler 'grid'"):
        run_trials(new_study("grid"), 1)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elolab.tuning.study.sampler.find_spec", lambda name: None)
    check_sampler("tpe", "study.toml")
    with pytest.raises(SamplerError, match=r"study\.toml: sampler = 'cmaes' needs the Python package 'cmaes'.*pip"):
        check_sampler("cmaes", "study.toml")


def test_options_may_have_decimals_steps_and_logarithmic_scales() -> None:
    from elolab.tuning.study.space import Dimension

    free, stepped = Dimension("free", 0.5, 2.5, 0.0), Dimension("stepped", 0.5, 2.5, 0.1)
    logarithmic = Dimension("rate", 1e-4, 1.0, 0.0, "log")
    assert [free.value_at(place) for place in (-1.0, 0.25, 2.0)] == [0.5, 1.0, 2.5]
    assert [stepped.value_at(place) for place in (0.0, 0.51, 1.0)] == [0.5, 1.5, 2.5]
    assert logarithmic.value_at(0.5) == 0.01
    assert logarithmic.coordinate(0.01) == pytest.approx(0.5)
    assert [stepped.contains(value) for value in (0.7, 0.75, 3.0, True, "0.7")] == [True, False, False, False, False]
    assert free.contains(1)
    assert not Dimension("whole", 0, 10, 2).contains(4.0)
