"""Every number of every kind of specification: what is no number, or beyond all measure, is refused in one line."""

from __future__ import annotations

import copy
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.errors import UserError
from elolab.tuning.ablation.ablation_spec import ablation_from_mapping
from elolab.tuning.study.study_spec import tuning_from_mapping

ABSURD = (-1e30, 1e30, 10**30, -(10**30), 10**400, math.nan, math.inf, -math.inf)
VALUES_EACH = 4
"""How many of them each number is replaced by, others for each."""

PLAYERS = """
players = [
    { name = "a", set = { hash_mb = 2, killers = 1 } },
    { name = "b", protocol = "ucci", command = "x", start_timeout = 1, margin = 1, watchdog = 1 },
"""
CONDITIONS = """
limit = "nodes=10"
seed = 1
rules = { fold = 3, move_limit = 10 }
adjudication.resign_score = 1
adjudication.resign_moves = 1
adjudication.draw_score = 1
adjudication.draw_moves = 1
adjudication.draw_after_ply = 1
adjudication.maximum_plies = 1
"""
TOURNAMENT = f"""{CONDITIONS}
pairs = 3
opening_start = 1
opening_plies = 1
search_statistics = {{ null_cutoff_interval = 1, null_cutoff_nodes = 1 }}
"""
OF_THREE = f"{TOURNAMENT} {PLAYERS} {{ name = 'c' }}] \n anchors = {{ a = 1 }}"
SPECIFICATIONS: dict[str, tuple[Callable[[Mapping[str, Any], str], Any], str]] = {
    "round robin": (spec_from_mapping, f"{OF_THREE} \n format = 'round_robin' \n rounds = 2"),
    "gauntlet": (spec_from_mapping, f"{OF_THREE} \n format = 'gauntlet' \n rounds = 2 \n gauntlet_players = 1"),
    "swiss": (spec_from_mapping, f"{OF_THREE} \n format = 'swiss' \n rounds = 2"),
    "knockout": (spec_from_mapping, f"{OF_THREE} \n format = 'knockout' \n tiebreak_pairs = 1"),
    "sprt": (
        spec_from_mapping,
        f"{TOURNAMENT} {PLAYERS}] \n format = 'sprt' \n"
        "sprt = { elo0 = 0, elo1 = 5, alpha = 0.05, beta = 0.05, batch_pairs = 1 }",
    ),
    "tuning": (
        tuning_from_mapping,
        f"""{CONDITIONS}
        budget = {{ games = 1000 }}
        round_pairs = 3
        stop_below = 1
        set = {{ hash_mb = 2 }}
        dimensions = {{ null_depth = {{ low = 2, high = 4, step = 1 }}, lmr_base = {{ choices = [1, 2] }} }}
        validation = {{ elo_lower = 0, elo_upper = 3, alpha = 0.1, beta = 0.1, maximum_pairs = 3, slow_pairs = 3 }}
        """,
    ),
    "tuning for a time": (
        tuning_from_mapping,
        f"{CONDITIONS} \n budget = {{ minutes = 2 }} \n parameters = ['killers'] \n sampler = 'tpe' \n trials = 10",
    ),
    "tuning of an engine": (
        tuning_from_mapping,
        f"""{CONDITIONS}
        budget = {{ hours = 1 }}
        engine = {{ protocol = "uci", command = "x", start_timeout = 1, margin = 1, watchdog = 1 }}
        dimensions = {{ Contempt = {{ low = 1, high = 3, step = 1, default = 2 }} }}
        """,
    ),
    "ablation": (
        ablation_from_mapping,
        f"""{CONDITIONS}
        pairs = 300
        games = 20000
        rounds = 3
        margin = 2
        error_rate = 0.05
        nodes_to_depth = {{ depth = 2, positions = 2 }}
        leave_one_out = [{{ features = ["null_move"], pairs = 300 }}]
        values = [{{ parameter = "null_depth", values = [4, 5], reference = 3, pairs = 300 }}]
        comparisons = [{{ label = "l", variant = {{ killers = 0 }}, reference = {{ killers = 1 }}, pairs = 300 }}]
        factorial = [{{ factors = {{ killers = [0, 1], lmr_base = [1, 2] }}, fraction = 1, pairs = 300 }}]
        """,
    ),
}
Path = tuple[str | int, ...]


def numbers_of(data: Any, path: Path = ()) -> Iterator[Path]:
    """Where the numbers stand in plain data."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers_of(value, (*path, key))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path


FIRST: dict[tuple[Callable[..., Any], Path], str] = {}
"""The first kind in which a reader meets a number: the other kinds need not try that again."""
for name, (reader, content) in SPECIFICATIONS.items():
    for place in numbers_of(tomllib.loads(content)):
        FIRST.setdefault((reader, place), name)


def changed(data: Any, path: Path, value: object) -> Any:
    """The same data with another value there."""
    copied = copy.deepcopy(data)
    table = copied
    for step in path[:-1]:
        table = table[step]
    table[path[-1]] = value
    return copied


@pytest.mark.integration
@pytest.mark.parametrize("kind", SPECIFICATIONS)
def test_absurd_numbers_are_refused_in_one_line_that_names_the_key(kind: str) -> None:
    read, text = SPECIFICATIONS[kind]
    data = tomllib.loads(text)
    read(copy.deepcopy(data), "mine.toml")
    for number, path in enumerate(numbers_of(data)):
        if kind != FIRST[read, path]:
            continue
        key = next(step for step in reversed(path) if isinstance(step, str))
        for value in (ABSURD * 2)[number % len(ABSURD) :][:VALUES_EACH]:
            with pytest.raises(UserError, match=f"^mine.toml: .*{key}") as refused:
                read(changed(data, path, value), "mine.toml")
            assert "\n" not in str(refused.value)
