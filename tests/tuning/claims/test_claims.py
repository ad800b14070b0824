"""The literature's claims: the tables, courses of cells, runs that are stopped and resumed, registration, reports."""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from elolab import command_line
from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import Store
from elolab.arena.records import Opening
from elolab.arena.statistics.elo import Pentanomial, elo_of_score, score_of_elo
from elolab.arena.statistics.faults import FaultCount
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.engine.settings.configuration import find_config, read_toml
from elolab.tuning.ablation.verdicts import critical_values
from elolab.tuning.claims.cells import (
    COMPLETE,
    DECIDED,
    FUTILITY,
    PlayedCell,
    SearchedCell,
    game_seconds,
    games_at_most,
    sides_of,
)
from elolab.tuning.claims.measures import Searched
from elolab.tuning.claims.positions import SampledPosition
from elolab.tuning.claims.registration import AMENDMENTS
from elolab.tuning.claims.results import CellRow, ClaimsResult
from elolab.tuning.claims.spec import Claim, Part, claims_from_mapping, load_claims
from elolab.tuning.claims.verdicts import CONFIRMED, NEGLIGIBLE, OPEN, REFUTED, SHOWN, PartRule
from elolab.tuning.keys.claims import EXPECTED
from elolab.tuning.matches import Match, MatchTable
from elolab.tuning.reports.claims.report import (
    COMPRESSED,
    FILES,
    claims_data,
    claims_text,
    effect_text,
    range_text,
    rule_text,
    write_claims_report,
)
from elolab.tuning.reports.document import MESSAGES
from tests.support.small_claims import SMALL, change_weights, draw_no_figures, figures, run, write_claims

# Tables


def test_a_part_is_read_into_cells_with_settings_of_each_engine(tmp_path: Path) -> None:
    change = ('variant = { aspiration = "full" }\nreference', 'variant = { aspiration = "full" }\nset_now = '
              '{ killers = 0 }\nvariant_then = { aspiration_window = 25 }\nreference')  # fmt: skip
    spec = load_claims(write_claims(tmp_path, change), "quick")
    part = next(part for part in spec.parts if part.id == "C1a")
    assert [cell.name for cell in part.cells] == ["then shallow", "then deep", "now shallow", "now deep"]
    assert [str(cell.limits) for cell in part.cells] == ["depth=1", "depth=2", "depth=2", "depth=3"]
    then, now = dict(part.cells[0].variant), dict(part.cells[2].variant)
    assert (then["aspiration_window"], now["killers"], then["stop_on_mate"]) == (25, 0, False)
    assert dict(part.cells[2].reference)["killers"] == 0
    assert (part.cells[0].conditions.base_name, part.cells[2].conditions.base_name) == ("moreland", "default")
    assert part.error_rate == 0.05 / 4
    assert spec.family == 4
    doubled = next(part for part in spec.parts if part.id == "C20a")
    assert [str(cell.reference_limits) for cell in doubled.cells] == ["depth=1", "depth=1"]


def test_a_digest_is_of_what_decides_and_of_nothing_else(tmp_path: Path) -> None:
    def digests(*changes: tuple[str, str]) -> dict[str, str]:
        return {part.id: part.digest for part in load_claims(write_claims(tmp_path, *changes), "quick").parts}

    before = digests()
    assert digests(("Windows save effort.", "Other words."), ("They save nodes.", "Other words.")) == before
    for change, parts in (
        (('expect = "better"', 'expect = "worse"'), {"C20a"}),
        (("margin = 10", "margin = 11"), {"C20a"}),
        (("pairs = 8", "pairs = 9"), {"C20a", "C20b"}),
        (("rounds = 2", "rounds = 3"), {"C20a", "C20b"}),
        (("positions = 4", "positions = 5"), {"C1a", "C1b", "C1c"}),
        (('"nodes=40"', '"nodes=41"'), {"C20b"}),
        (('then = "moreland"', 'then = "xqwlight-0.3"'), {"C1a", "C1b"}),
        (("seed = 3", "seed = 4"), set(before)),
    ):
        assert {name for name, digest in digests(change).items() if digest != before[name]} == parts, change


def test_mates_are_followed_over_as_many_depths_as_the_part_says(tmp_path: Path) -> None:
    found = {}
    for further in ("", "further_plies = 3\n", "further_plies = 4\n"):
        change = ('limits = ["mate"]', further + 'limits = ["depth=6"]')
        part = load_claims(write_claims(tmp_path, change), "quick", ["C1c"]).parts[0]
        found[further] = [limits.depth for _, limits in sides_of(part, part.cells[0]).values()], part.digest
    assert [depths for depths, _ in found.values()] == [[3, 4, 5, 6], [3, 4, 5, 6], [2, 3, 4, 5, 6]]
    assert len({digest for _, digest in found.values()}) == 3


def test_claims_and_parts_are_picked_by_id(tmp_path: Path) -> None:
    path = write_claims(tmp_path)
    assert [part.id for part in load_claims(path, "quick", ["C1", "C20b"]).parts] == ["C20b", "C1a", "C1b", "C1c"]
    assert load_claims(path, "quick", ["C1a"]).family == 4
    with pytest.raises(UserError, match=r"no claim 'C2'.*C20, C1"):
        load_claims(path, "quick", ["C2"])


LIMITS = SMALL[SMALL.index("[budgets.quick.limits]") : SMALL.index("[[claims]]")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('id = "C20"', 'id = "X20"'), ["[[claims]] 1", "id = 'X20'"]),
        (('id = "C20a"', 'id = "C21a"'), ["C20: part 1", "C20 and a letter"]),
        (('id = "C20b"', 'id = "C20a"'), ["two parts are called 'C20a'"]),
        (('id = "C1"', 'id = "C20"'), ["C20", "part 1"]),
        (('aspiration = "full" }\nreference', 'asspiration = "full" }\nreference'), ["C1a", "'aspiration'"]),
        (('reference = { aspiration = "off" }', 'reference = { aspiration = "full" }'), ["C1a (then)", "with itself"]),
        (('of = "windows_missed"', 'of = "window"'), ["C1b", "of = 'window'", "'windows_missed'"]),
        (('expect = "less"', 'expect = "better"'), ["C1a", "expect = 'better'", "'less'"]),
        (('kind = "mates"', 'kind = "mate"'), ["kind = 'mate'", "'mates'"]),
        (('limits = ["mate"]', 'limits = ["mat"]'), ["C1c", "no limit 'mat'", "'mate'"]),
        (('limits = ["mate"]', 'limits = ["depth=3"]'), ["C1c", "more than 3 plies"]),
        (('limits = ["mate"]', 'further_plies = 4\nlimits = ["depth=4"]'), ["C1c", "more than 4 plies"]),
        (('limits = ["mate"]', 'limits = ["play"]'), ["C1c", "expected a depth"]),
        (('limits = ["mate"]', 'limits = ["nods=3"]'), ["C1c", "'nods=3'"]),
        (
            (
                'kind = "mates"\nexpect = "same"\nsuite = "last"\nlimits = ["mate"]',
                'kind = "exact"\nexpect = "same"\nlimits = ["play"]',
            ),
            ["C1c", "'nodes=40'", "a clock that counts nodes"],
        ),
        (('suite = "last"', 'suite = "passes"'), ["C1c", "suite = 'passes'", "nobody passes in xiangqi"]),
        (('reference_limits = ["depth=1"]', 'reference_limits = ["depth=1", "play"]'), ["C20a", "one for each"]),
        (("margin = 10", 'refuted_by = "negligible"\nmargin = 0'), ["C20a", "margin", "more than 0"]),
        (('expect = "same"', 'expect = "same"\nrefuted_by = "opposite"'), ["C1c", "refuted_by", "no direction"]),
        (('then = "moreland"\n', ""), ["C1a", "then is missing", "not_then"]),
        (('then = "moreland"', 'then = "morland"'), ["C1a", "'moreland'"]),
        (('not_then_zh = "无"\n', ""), ["C1c", "not_then_zh is missing"]),
        (('not_then_zh = "无"', 'not_then_zh = "无"\nnot_now = "n"\nnot_now_zh = "无"'), ["nothing to be asked"]),
        (('expect = "same"', 'expect = "same"\ncosts_time = true'), ["C1c", "costs_time", "compares no speed"]),
        (('expect = "better"', 'expect = "better"\ncosts_time = true'), ["C20a", "no limit 'time'"]),
        (("rounds = 2", "rounds = 2\nfoo = 1"), ["unknown key 'foo'"]),
        (("[budgets.quick]\n", "[budgets.quik]\n"), ["'quik'", "'quick'"]),
        ((LIMITS, ""), ["C20b", "no limit 'play'", "it has none"]),
        (('now = "depth=2" }', 'today = "depth=2" }'), ["limits: shallow", "'today'"]),
        (("factors = { aspiration", "factors = { null_depth = [3, 4], aspiration"), ["C20b", "two parameters"]),
        (("rounds = 2", "rounds = 2\nweights = { lon = 0.5 }"), ["[weights]", "no limit 'lon'", "'long'"]),
        (("rounds = 2", "rounds = 2\nweights = { long = 0 }"), ["[weights]", "long = 0"]),
        (('expect = "less"', 'expect = "less"\nlooks = 1'), ["C1a", "looks = 1", "plays no games"]),
        (('expect = "less"', 'expect = "less"\nfurther_plies = 4'), ["C1a", "further_plies", "kind = 'nodes'"]),
        (("margin = 10", "looks = 0"), ["C20a", "looks = 0"]),
        (('of = "windows_missed"', 'of = "windows_missed"\nwhere = "windows_missed"'), ["C1b", "takes all positions"]),
        (('expect = "less"', 'expect = "less"\nwhere = "windows_missed"'), ["C1a", "no aspiration window"]),
        (
            ('deep = { then = "depth=2", now = "depth=3" }', 'deep = "depth=2"'),
            ["C1a (now)", "shallow and deep are both depth=2"],
        ),
        (('of = "windows_missed"', 'of = "move_changes"'), ["C1b (then)", "depth=2", "a clock that counts nodes"]),
        (('variant = { aspiration = "full" }\nreference = { aspiration = "off" }', ""), ["C1a", "with itself"]),
        (
            ('kind = "nodes"\nexpect = "less"', 'kind = "nodes"\nfactors = { killers = [0, 1] }'),
            ["C1a", "factors", "no such key with kind = 'nodes'"],
        ),
        (('kind = "nodes"\nexpect = "less"', 'kind = "nodes_interaction"'), ["C1a", "variant", "nodes_interaction"]),
        (("margin = 10", 'margin = 10\nsuite = "mates"'), ["C20a", "suite", "no such key with kind = 'elo'"]),
        (
            (
                'kind = "nodes"\nexpect = "less"\nset = { algorithm = "alphabeta" }\n'
                'variant = { aspiration = "full" }\n'
                'reference = { aspiration = "off" }',
                'kind = "nodes_interaction"\nfactors = { killers = [1, 1], history = [false, true] }',
            ),
            ["C1a", "two different values"],
        ),
        (('expect = "less"', 'expect = "less"\ncosts_time = true\nlimits = ["deep", "deep time"]'), ["deep time"]),
    ],
)
def test_mistakes_are_refused_in_one_line(change: tuple[str, str], words: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        load_claims(write_claims(tmp_path, change), "quick")
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_cells_have_names_of_their_own(tmp_path: Path) -> None:
    path = write_claims(
        tmp_path, ('clock = "', 'time = "nodes=9"\nclock = "'),
        ('limits = ["play"]', 'limits = ["play", "time"]\ncosts_time = true'),
    )  # fmt: skip
    with pytest.raises(UserError, match=r"C20b: limits = .* with costs_time = true 'time' is there by itself"):
        load_claims(path, "quick")


def test_a_claim_that_the_budget_does_not_ask_cannot_be_picked(tmp_path: Path) -> None:
    changes = [(f'id = "{name}"', f'id = "{name}"\nonly = "full"') for name in ("C20a", "C20b")]
    with pytest.raises(UserError, match="the budget quick asks no part of C20; give another with --budget"):
        load_claims(write_claims(tmp_path, *changes), "quick", ["C20", "C1a"])


def test_what_has_no_effect_in_an_engine_is_refused_there(tmp_path: Path) -> None:
    table = read_toml(write_claims(tmp_path))
    part = table["claims"][1]["parts"][0]
    part["set"], part["variant"], part["reference"] = {}, {"null_depth": 4}, {"null_depth": 3}
    with pytest.raises(UserError, match=r"C1a \(then\): null_depth changes nothing"):
        claims_from_mapping(table, "x.toml", "quick")


# Courses


class Played:
    """Stands for the table of matches: pairs of results drawn beforehand, all of them stored."""

    def __init__(self, elo: float, draws: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        wins = (1 - draws) / (1 + 10 ** (-elo / 400))
        results = rng.choice([1.0, 0.5, 0.0], size=(20_000, 2), p=[wins, draws, 1 - draws - wins])
        self.pairs = [(float(one), float(other)) for one, other in results]

    def results(self, match: Match) -> list[tuple[float, float] | None]:
        return [self.pairs[pair] for pair in match.pair_numbers]

    def counts(self, match: Match) -> Any:
        return Pentanomial.from_pairs(pair for pair in self.results(match) if pair is not None)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Claim, Part]:
    """A part with a cell of 2000 pairs, in ten looks."""
    folder = tmp_path_factory.mktemp("asked")
    path = write_claims(folder, ("pairs = 8\nrounds = 2", "pairs = 2000\nrounds = 10"))
    spec = load_claims(path, "quick", ["C20a"])
    return spec.claims[0], spec.parts[0]


def first_look_that_decides(pairs: list[tuple[float, float]], sign: int, rule: PartRule) -> tuple[int, str]:
    """By plain formulas: the mean score of so many pairs and its standard error, and the bounds of ten looks."""
    bounds = critical_values(tuple(range(200, 2001, 200)), 0.05 / 2 / 2)  # two-sided, of two cells
    for look in range(1, 11):
        scores = np.array(pairs[: 200 * look]).mean(axis=1)
        reach = bounds[look - 1] * scores.std(ddof=1) / math.sqrt(len(scores))
        effect = sign * (scores.mean() - 0.5)
        verdict = rule.verdict(effect - reach, effect + reach)
        if verdict != OPEN:
            return look, verdict
    return 10, OPEN


@pytest.mark.parametrize(
    ("expect", "margin", "elo", "verdict"),
    [
        ("better", 10, 60, CONFIRMED),
        ("better", 10, -60, REFUTED),
        ("worse", 10, -60, CONFIRMED),
        ("better", 20, 0, NEGLIGIBLE),
        ("equivalent", 20, 0, CONFIRMED),
        ("equivalent", 10, 90, REFUTED),
        ("not_worse", 20, -3, CONFIRMED),
        ("not_worse", 10, -60, REFUTED),
    ],
)
def test_simulated_pairs_have_their_verdicts(
    expect: str, margin: float, elo: float, verdict: str, asked: tuple[Claim, Part]
) -> None:
    row, played = course_of(asked, expect, margin, elo)
    rule = PartRule(expect, score_of_elo(margin) - 0.5)
    assert (row.looks, row.verdict) == first_look_that_decides(played.pairs, rule.sign, rule)
    assert (row.verdict, row.ended) == (verdict, DECIDED)
    assert row.low < row.effect < row.high
    assert row.median_unbiased is not None
    assert abs(row.median_unbiased - row.effect) < (row.high - row.low) / 4
    assert row.p_value is not None
    assert row.p_value < 0.05 / 2
    assert row.games_needed is None
    assert row.LL + row.LD + row.even + row.WD + row.WW == row.cases == row.games / 2


def test_what_can_hardly_be_decided_is_given_up_and_what_is_only_shown_is_played_to_its_end(
    asked: tuple[Claim, Part],
) -> None:
    row, _ = course_of(asked, "better", 1, 1)
    assert (row.verdict, row.ended, row.p_value) == (OPEN, FUTILITY, None)
    assert row.looks < 10
    assert row.games_needed is not None
    shown, _ = course_of(asked, None, 10, 60)
    assert (shown.verdict, shown.ended, shown.looks, shown.median_unbiased) == (SHOWN, COMPLETE, 10, shown.effect)


def test_a_cell_has_time_left_until_it_ends(asked: tuple[Claim, Part]) -> None:
    course = PlayedCell(*asked, asked[1].cells[0], tuple(range(2000)), Played(60, 0.3, 4))  # type: ignore[arg-type]
    assert course.seconds_left == course.most_seconds == 4000 * game_seconds(course.cell)
    course.absorb()
    assert course.done < 10
    assert course.seconds_left == 0


def course_of(
    asked: tuple[Claim, Part], expect: str | None, margin: float, elo: float, draws: float = 0.3
) -> tuple[CellRow, Played]:
    """The row of a cell with another rule, of games drawn at that difference."""
    claim, part = asked[0], replace(asked[1], expect=expect, margin=margin)
    played = Played(elo, draws, 4)
    course = PlayedCell(claim, part, part.cells[0], tuple(range(2000)), played)  # type: ignore[arg-type]
    course.absorb()
    return course.result().row, played


class Searches:
    """Stands for searches: half of the nodes where there is a window."""

    def search(self, values: Any, limits: Any, positions: Any, counted: Any) -> list[Searched]:
        cost = 500 if values["aspiration"] == "full" else 1000
        return [Searched(0, cost + 7 * place, 1) for place in range(len(positions))]


def test_searches_are_judged_once_all_positions_are_searched(tmp_path: Path) -> None:
    spec = load_claims(write_claims(tmp_path), "quick", ["C1a"])
    claim, part = spec.claims[0], spec.parts[0]
    positions = [SampledPosition(Opening(str(game)), game) for game in range(30)]
    course = SearchedCell(claim, part, part.cells[0], Searches(), lambda: positions, 20)  # type: ignore[arg-type]
    assert course.step()
    before = course.result()
    assert range_text(before.row) == ""
    assert (before.row.verdict, before.row.cases, before.row.ended) == (OPEN, 20, "")
    assert (before.row.outcome.low, before.row.outcome.high) == (-math.inf, math.inf)
    assert course.step()
    after = course.result()
    assert range_text(after.row).startswith("[0.5")
    assert (after.row.verdict, after.row.cases, after.row.ended) == (CONFIRMED, 30, DECIDED)
    assert 0.5 < after.row.low < after.row.effect < after.row.high < 0.6
    assert after.row.outcome.low == pytest.approx(-math.log(after.row.high))
    assert not course.step()


class Costs:
    """Stands for searches: what they cost by two settings, and in which the reference missed a window."""

    def search(self, values: Any, limits: Any, positions: Any, counted: Any) -> list[Searched]:
        cost = 1000 * (0.8 if values["iterative_deepening"] else 1) * (0.5 if values["history"] else 1)
        cost *= 0.5 if values["history"] and values["iterative_deepening"] else 1
        missed = [int(int(one.position) % 3 == 0 and values["aspiration"] == "full") for one in positions]
        if values["aspiration"] == "one_sided":
            numbers = [int(one.position) for one in positions]
            return [Searched(0, 9000 if one % 3 else 100 if one % 2 else 4000, 1, one % 2) for one in numbers]
        return [Searched(0, round(cost) + place % 2, 1, hits, 5) for place, hits in enumerate(missed)]


def searched(path: Path, positions: int = 30) -> tuple[CellRow, SearchedCell]:
    """The first cell of C1a with ``Costs``, all positions searched."""
    spec = load_claims(path, "quick", ["C1a"])
    own = [SampledPosition(Opening(str(game)), game) for game in range(positions)]
    course = SearchedCell(
        spec.claims[0],
        spec.parts[0],
        spec.parts[0].cells[0],
        Costs(),
        lambda: own,
        positions,  # type: ignore[arg-type]
    )
    assert course.step()
    return course.result().row, course


SIDES = 'variant = { aspiration = "full" }\nreference = { aspiration = "off" }'


def test_an_interaction_of_node_counts_is_a_ratio_of_ratios(tmp_path: Path) -> None:
    """Iterations take 0.8 of the nodes without history, 0.4 with it."""
    factors = "factors = { iterative_deepening = [false, true], history = [false, true] }"
    path = write_claims(tmp_path, ('kind = "nodes"', 'kind = "nodes_interaction"'), (SIDES, factors))
    row, course = searched(path)
    assert (row.verdict, row.unit, row.cases) == (CONFIRMED, "×", 30)
    assert row.effect == pytest.approx(0.5, rel=0.01)
    assert [
        (one["iterative_deepening"], one["history"]) for one in map(dict, course.cell.combinations)
    ] == [(False, False), (False, True), (True, False), (True, True)]  # fmt: skip
    assert not any(dict(one)["stop_on_mate"] for one in course.cell.combinations)
    words = rule_text(course.part, Catalogue(MESSAGES, "en"))
    assert "(iterative_deepening, history): less" in words
    assert "of 1×" in words
    other = write_claims(tmp_path, ('kind = "nodes"', 'kind = "nodes_interaction"'),
                         (SIDES, factors.replace("[false, true] }", "[true, false] }")))  # fmt: skip
    assert searched(other)[0].effect == pytest.approx(2, rel=0.01)


def test_where_the_reference_missed_no_window_a_position_does_not_count(tmp_path: Path) -> None:
    change = (SIDES, SIDES.replace("full", "one_sided").replace("off", "full") + '\nwhere = "windows_missed"')
    row, course = searched(write_claims(tmp_path, change))
    assert (row.cases, course.searched) == (10, 30)
    assert row.effect == pytest.approx(math.sqrt(100 * 4000) / 200, rel=0.01)
    assert "missed a window" in rule_text(course.part, Catalogue(MESSAGES, "en"))
    everywhere = (SIDES, SIDES.replace("full", "one_sided").replace("off", "full"))
    row, other = searched(write_claims(tmp_path, everywhere))
    assert (row.cases, row.effect > 1) == (30, True)
    assert course.part.digest != other.part.digest
    # Where both sides must have missed one that converged, the odd numbers are left.
    both = (change[0], change[1].replace('"windows_missed"', '"converged_misses"'))
    row, third = searched(write_claims(tmp_path, both))
    assert (row.cases, row.verdict, row.effect) == (5, CONFIRMED, pytest.approx(100 / 200, rel=0.01))
    assert "neither alternated" in rule_text(third.part, Catalogue(MESSAGES, "en"))
    # None at all: nothing is seen, and nothing decided.
    assert searched(write_claims(tmp_path, change), 0)[0].verdict == OPEN


def test_positions_at_which_searches_differ_are_counted(tmp_path: Path) -> None:
    change = ('kind = "nodes"\nexpect = "less"', 'kind = "differing"\nexpect = "below"\nthreshold = 50\nweight = 1.5')
    sides = (SIDES, 'variant = { aspiration = "one_sided" }\nreference = { aspiration = "one_sided", killers = 0 }')
    row, course = searched(write_claims(tmp_path, change, sides))
    assert (row.unit, row.hits, row.cases, row.effect, row.verdict) == ("%", 0, 30, 0, CONFIRMED)
    assert course.part.positions == 6  # of four in the budget
    sides = (SIDES, SIDES.replace("full", "one_sided").replace("off", "full"))
    row, _ = searched(write_claims(tmp_path, change, sides))
    assert (row.hits, row.effect, row.verdict) == (30, 100, REFUTED)
    assert "another number of nodes" in rule_text(course.part, Catalogue(MESSAGES, "en"))


def test_a_fixed_length_is_looked_at_once_and_has_a_finite_interval(asked: tuple[Claim, Part], tmp_path: Path) -> None:
    path = write_claims(tmp_path, ("pairs = 8", "pairs = 250"), ("margin = 10", "margin = 10\nlooks = 1"))
    spec = load_claims(path, "quick", ["C20a"])
    fixed = spec.claims[0], spec.parts[0]
    assert fixed[1].has_fixed_length
    assert fixed[1].cells[0].analyses == (250,)
    assert "one look" in rule_text(fixed[1], Catalogue(MESSAGES, "en"))
    assert "one look" not in rule_text(asked[1], Catalogue(MESSAGES, "en"))
    row, played = course_of(fixed, "better", 10, 240)
    assert (row.looks, row.ended, row.verdict, row.unit) == (1, DECIDED, CONFIRMED, "Elo")
    scores = np.array(played.pairs[:250]).mean(axis=1)
    mean, error = scores.mean(), scores.std(ddof=1) / math.sqrt(250)
    reach = 2.2414 * error * 400 / math.log(10) / (mean * (1 - mean))  # half of 5 % for each of two cells
    assert row.low == pytest.approx(elo_of_score(mean) - reach, abs=4)
    assert row.high == pytest.approx(elo_of_score(mean) + reach, abs=4)
    assert row.median_unbiased == row.effect
    assert row.p_value is not None
    assert row.p_value < 0.025
    won, _ = course_of(fixed, "better", 10, 20_000, draws=0.0)
    assert won.WW == 250
    assert won.verdict == CONFIRMED
    assert 0 < won.low < won.effect < won.high < 3000


def test_dear_limits_play_fewer_pairs(tmp_path: Path) -> None:
    change = ("pairs = 8\nrounds = 2", "pairs = 40\nrounds = 2\nweights = { long = 0.5, play = 2 }")
    part = next(part for part in load_claims(write_claims(tmp_path, change), "quick").parts if part.id == "C20b")
    path = write_claims(tmp_path, change, ('limits = ["play"]', 'limits = ["play", "long", "nodes=50"]'))
    cells = next(part for part in load_claims(path, "quick").parts if part.id == "C20b").cells
    assert [cell.analyses for cell in cells] == [(40, 80), (10, 20), (20, 40)]
    assert [cell.comparisons[0].pairs for cell in cells] == [80, 20, 40]
    before = next(part for part in load_claims(write_claims(tmp_path), "quick").parts if part.id == "C20b")
    assert part.digest != before.digest


# A run


@pytest.fixture(scope="module")
def claims_result(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, ClaimsResult]:
    """A small run: its table, folder and end."""
    folder = tmp_path_factory.mktemp("claims")
    path = write_claims(folder)
    return path, folder / "out", run(path, folder / "out")


def test_games_forfeited_by_faults_are_told(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    _, _, result = claims_result
    assert (result.faults, result.exit_code) == ((), 0)
    late = replace(result, faults=(FaultCount("now", "time_forfeit", 2, 3, None),))
    assert late.exit_code == 1
    assert claims_data(late, None)["faults"] == [late.faults[0].data]
    assert replace(late, interrupted=True).exit_code == 130


def test_every_cell_has_been_asked(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    _, out, ended = claims_result
    assert ended.exit_code == 0
    assert not ended.missing
    rows = {result.part.id: result.rows for result in ended.results}
    assert {name: [(row.engine, row.limit_name) for row in own] for name, own in rows.items()} == {
        "C20a": [("then", "depth=2"), ("now", "depth=2")],
        "C20b": [("now", "play")],
        "C1a": [("then", "shallow"), ("then", "deep"), ("now", "shallow"), ("now", "deep")],
        "C1b": [("then", "deep"), ("now", "deep")],
        "C1c": [("now", "mate")],
    }
    assert [row.unit for own in rows.values() for row in own] == [*["Elo"] * 3, *["×"] * 4, *["%"] * 2, "cases"]
    assert all(row.cases == 4 for row in rows["C1a"])
    assert rows["C20b"][0].games == 4 * rows["C20b"][0].cases * 2
    assert ended.is_indicative
    assert ended.is_fixed_beforehand
    with Store(out, read_only=True) as store:
        assert len(store) == sum(result.games for result in ended.results)


def test_a_run_that_is_stopped_reports_what_it_has_and_ends_as_one_that_was_not(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    path, _, ended = claims_result
    stop = StopFlag()
    stop.set()
    stopped = run(path, tmp_path / "out", stop=stop)
    assert stopped.exit_code == 130
    assert len(stopped.missing) == 5
    assert {result.verdict for result in stopped.results} == {OPEN, SHOWN}
    text = claims_text(stopped)
    assert "5 parts are not finished" in text
    assert not re.search(r"\b(inf|nan)\b", text)
    some = run(path, tmp_path / "out", ("C1a", "C20b"))
    assert [result.part.id for result in some.results] == ["C20b", "C1a"]
    again = run(path, tmp_path / "out", concurrency=2)
    assert (figures(again), again.digest) == (figures(ended), ended.digest)


def test_who_follows_a_run_that_found_nothing_to_do_sees_it_at_its_end(tmp_path: Path) -> None:
    path, out = write_claims(tmp_path), tmp_path / "out"
    for _ in range(2):
        result = run(path, out, ("C20b", "C1a"))
        live = json.loads((out / LIVE_NAME).read_text("utf-8"))
        games = sum(part.games for part in result.results)
        assert (live["done"], live["planned"]) == (games, games)
        assert "5 of 5 cells have ended" in live["words"]


def test_runs_by_the_same_rules_are_told_to_have_the_same_settings_whenever_they_were_registered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, changes, day in (("one", (), 1), ("two", (), 2), ("three", (('expect = "less"', 'expect = "more"'),), 2)):
        monkeypatch.setattr("elolab.tuning.claims.registration.datetime", fixed_clock(day))
        run(write_claims(tmp_path, *changes), tmp_path / name, ("C1a",))
    assert command_line.main(["runs", "compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert "All settings are the same." in capsys.readouterr().out
    assert command_line.main(["runs", "compare", str(tmp_path / "one"), str(tmp_path / "three")]) == 0
    assert re.search(r"C1a\.content\.expect +A less +B more", capsys.readouterr().out)


def fixed_clock(day: int) -> type[datetime]:
    """A clock that stands still."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Clock:
            return cls(2026, 1, day, tzinfo=tz)

    return Clock


def test_the_cheapest_cell_is_played_to_its_end_before_dear_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    play_parts = MatchTable.play_parts

    def noted(table: MatchTable, parts: Any) -> bool:
        def note() -> Any:
            for part in parts:
                asked.extend([part[0].series] if part else [])
                yield part

        return play_parts(table, note())

    monkeypatch.setattr(MatchTable, "play_parts", noted)
    result = run(write_claims(tmp_path), tmp_path / "out", ("C20",))
    assert not result.missing
    cells = {f"{part.id} {cell.name}": cell for part in (one.part for one in result.results) for cell in part.cells}
    order = sorted(cells, key=lambda name: game_seconds(cells[name]) * games_at_most(cells[name]))
    assert [name for place, name in enumerate(asked) if name not in asked[:place]] == order
    assert len(asked) > len(order)
    for cell, later in zip(order, order[2:], strict=False):
        assert max(place for place, name in enumerate(asked) if name == cell) < asked.index(later)


def test_a_sitting_ends_after_its_minutes(tmp_path: Path) -> None:
    result = run(write_claims(tmp_path), tmp_path / "out", minutes=1e-9)
    assert (result.exit_code, result.interrupted) == (0, False)
    assert result.missing


def test_a_rule_that_is_changed_after_games_is_refused(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    """As it once was not: the opposite expected, and three times the pairs."""
    _, out, ended = claims_result
    path = write_claims(tmp_path, ('expect = "better"', 'expect = "worse"'), ("pairs = 8", "pairs = 24"))
    with pytest.raises(UserError) as raised:
        run(path, out)
    said = str(raised.value)
    assert "\n" not in said
    assert "C20a was registered with expect = 'better'" in said
    assert "now has 'worse' (and" in said
    assert "--amend" in said
    with Store(out, read_only=True) as store:
        assert len(store) == sum(result.games for result in ended.results)
        assert not store.metadata(AMENDMENTS)


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("changed", ["openings of the suite", "parameters.then.evaluation_weights"])
def test_what_lies_outside_of_the_table_is_registered_too(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Openings and weights have the same names as before, so that no rule says anything else; nor do digests."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    before = run(write_claims(tmp_path), out, ("C1a",))
    if changed == "openings of the suite":
        suite = tmp_path / "few.epd"
        suite.write_text("".join(suite.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    else:
        change_weights(tmp_path)
    path = tmp_path / "mine.toml"
    with pytest.raises(UserError, match=re.escape(f"C1a was registered with {changed} = ")):
        run(path, out, ("C1a",))
    amended = run(path, out, ("C1a",), amend="another sample")
    assert amended.results[0].part.digest == before.results[0].part.digest
    (amendment,) = amended.registration.amendments
    assert amendment.changes[0][0] == changed
    assert not amended.is_fixed_beforehand
    assert "Not every rule was fixed beforehand" in write_claims_report(amended).with_suffix(".md").read_text("utf-8")


@pytest.mark.usefixtures("without_figures")
def test_a_part_that_is_known_is_not_left_out_in_silence(tmp_path: Path) -> None:
    """As it once was, which made the family smaller too; parts that are not picked are not left out."""
    out = tmp_path / "out"
    path = write_claims(tmp_path)
    first = run(path, out, ("C20a", "C1b"))
    assert run(path, out, ("C1b",)).is_fixed_beforehand
    text = path.read_text("utf-8")
    start, end = text.index('[[claims.parts]]\nid = "C20a"'), text.index('[[claims.parts]]\nid = "C20b"')
    path.write_text(text[:start] + text[end:], "utf-8")
    with pytest.raises(UserError, match=r"C20a was registered and has results, but .* no longer has it"):
        run(path, out, ("C1b",))
    for _ in range(2):
        left = run(path, out, ("C1b",), amend="it did not please")
        assert left.spec.family == first.spec.family
        assert [(one.part, one.games) for one in left.registration.amendments] == [("C20a", first.results[0].games)]
        assert not left.is_fixed_beforehand
    page = write_claims_report(left).with_suffix(".md").read_text("utf-8")
    assert "it did not please" in page


@pytest.mark.usefixtures("without_figures")
def test_a_new_rule_for_known_games_is_not_fixed_beforehand(tmp_path: Path) -> None:
    """As it once was: a part with another name and margin is told the games of the first, which were known."""
    out = tmp_path / "out"
    path = write_claims(tmp_path)
    first = run(path, out, ("C20a",))
    text = path.read_text("utf-8")
    start, end = text.index('[[claims.parts]]\nid = "C20a"'), text.index('[[claims.parts]]\nid = "C20b"')
    other = text[start:end].replace("C20a", "C20c").replace("margin = 10", "margin = 90")
    path.write_text(text[:start] + text[start:end] + other + text[end:], "utf-8")
    assert run(path, out, ("C20a", "C1b")).is_fixed_beforehand
    with pytest.raises(UserError, match=r"C20c of .* is a new rule for games or searches that are known from another"):
        run(path, out, ("C20c",))
    for _ in range(2):
        late = run(path, out, ("C20c",), amend="a wider margin")
        assert [(one.part, one.games) for one in late.registration.amendments] == [("C20c", first.results[0].games)]
        assert not late.is_fixed_beforehand
    assert "a wider margin" in write_claims_report(late).with_suffix(".md").read_text("utf-8")


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_no_figures(monkeypatch)


@pytest.mark.usefixtures("without_figures")
def test_an_amendment_says_switches_as_the_file_does(tmp_path: Path) -> None:
    out, before = tmp_path / "out", ('aspiration = "full" }\nreference', "history = false }\nreference")
    run(write_claims(tmp_path, before), out, ("C1a",))
    path = write_claims(tmp_path, before, ("history = false", "history = true"))
    with pytest.raises(UserError, match=r"history = false, but .* now has true"):
        run(path, out, ("C1a",))
    amended = run(path, out, ("C1a",), amend="a slip")
    assert {change[1:] for change in amended.registration.amendments[0].changes} == {("false", "true")}
    assert "history: false → true" in write_claims_report(amended).read_text("utf-8")


@pytest.mark.usefixtures("without_figures")
def test_an_amendment_is_kept_with_its_reason_and_printed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = run(write_claims(tmp_path), out, ("C20a",))
    path = write_claims(tmp_path, ("margin = 10", "margin = 15"))
    with pytest.raises(UserError, match="margin = 10"):
        run(path, out, ("C20a",))
    for blank in ("", " \t"):
        with pytest.raises(UserError, match=r"--amend .*: expected the reason"):
            run(path, out, ("C20a",), amend=blank)
    assert command_line.main(["claims", "--claims", str(path), "--out", str(out), "--amend", " ", "--dry-run"]) == 2
    amended = run(path, out, ("C20a",), amend="the margin was a slip")
    assert not amended.is_fixed_beforehand
    (amendment,) = amended.registration.amendments
    assert (amendment.part, amendment.why, amendment.changes) == (
        "C20a", "the margin was a slip", (("margin", "10.0", "15.0"),)
    )  # fmt: skip
    assert (amendment.games, amendment.old_digest) == (before.results[0].games, before.results[0].part.digest)
    assert run(path, out, ("C20a",)).registration.amendments == (amendment,)
    page = write_claims_report(amended).read_text("utf-8")
    date = amendment.date.replace("T", " ").partition("+")[0].rpartition(":")[0]
    for said in (
        "the margin was a slip", "margin: 10.0 → 15.0", "Not every rule was fixed beforehand",
        f'<td class="whole">{date} UTC</td>',
    ):  # fmt: skip
        assert said in page
    assert "Each rule was fixed beforehand" not in page
    rows = list(csv.DictReader((out / "amendments.csv").open(encoding="utf-8")))
    assert [(row["part"], row["games"]) for row in rows] == [("C20a", str(amendment.games))]
    # Before anything of a part is known, a change leaves all fixed beforehand.
    stop = StopFlag()
    stop.set()
    other = tmp_path / "other"
    run(write_claims(tmp_path), other, stop=stop)
    assert run(path, other, stop=stop, amend="early").is_fixed_beforehand


def test_a_folder_of_an_older_version_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        store.record_metadata({"claims": {"game": "xiangqi", "depth": 6}})
    with pytest.raises(UserError, match="by the rules of an older version"):
        run(write_claims(tmp_path), tmp_path / "out")


def test_tables_and_report_are_written_in_both_languages(
    claims_result: tuple[Path, Path, ClaimsResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out, ended = claims_result
    english = write_claims_report(ended).read_text("utf-8")
    files = {COMPRESSED.get(name, f"{name}.csv"): columns for name, columns in FILES.items()}
    for name, columns in files.items():
        with (gzip.open if name.endswith(".gz") else open)(out / name, "rt", encoding="utf-8") as file:
            assert tuple(csv.DictReader(file).fieldnames or ()) == columns
    with (out / "columns.csv").open(encoding="utf-8") as file:
        described = [(row["file"], row["column"]) for row in csv.DictReader(file) if row["meaning"]]
    assert described == [(name, column) for name, columns in files.items() for column in columns]
    for said in (
        "Deeper is stronger.", "indicative", "Each rule was fixed beforehand", "The text knows neither.",
        f"elolab claims --game xiangqi --budget quick --claims {path} --only C20a", "then (moreland)",
    ):  # fmt: skip
        assert said in english, said
    # Of searches the columns for games are left out.
    tables = [table for table in re.findall(r"<thead>(.*?)</thead>", english) if ">Looks<" in table]
    assert {(">Games<" in table, ">Median-unbiased<" in table) for table in tables} == {(True, True), (False, False)}
    assert {plot.stem for plot in (out / "plots").glob("*.svg")} == {"verdicts", "C20", "C1"}
    draw_no_figures(monkeypatch)
    chinese = write_claims_report(ended, "zh").read_text("utf-8")
    for said in ('<html lang="zh-CN">', "搜得越深越强。", "每条规则都事先固定", "当时", f"--out {out} --language zh"):
        assert said in chinese, said
    assert ended.frame().shape[0] == 5


def test_a_cell_follows_from_its_searches(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    """By pandas, from the table of searches alone: costs and shares with their intervals, by Student's t."""
    _, _, ended = claims_result
    searches = ended.searches_frame()
    rows = {row.key: row for result in ended.results for row in result.rows}
    row = rows["C1a", "now", "deep"]
    own = searches[(searches["part"] == "C1a") & (searches["engine"] == "now") & (searches["limit_name"] == "deep")]
    nodes = own.pivot(index="game", columns="side", values="nodes")
    logs = np.log(nodes["variant"] / nodes["reference"])
    assert row.effect == pytest.approx(math.exp(logs.mean()))
    reach = stats.t.ppf(1 - row.error_rate / 2, len(logs) - 1) * stats.sem(logs)
    assert math.log(row.high / row.low) / 2 == pytest.approx(reach, rel=0.06)
    share = searches[(searches["part"] == "C1b") & (searches["engine"] == "then")]
    assert 100 * share["hits"].sum() / share["cases"].sum() == pytest.approx(rows["C1b", "then", "deep"].effect)
    assert json.loads(row.variant) == {"algorithm": "alphabeta", "aspiration": "full"}
    assert json.loads(row.reference) == {"algorithm": "alphabeta", "aspiration": "off"}
    assert rows["C1b", "then", "deep"].reference == ""
    assert json.loads(rows["C20b", "now", "play"].variant)["aspiration"] == ["off", "full"]
    assert searches[searches["suite"] == "games"]["position"].nunique() == 4


def test_every_rule_can_be_said_in_words(tmp_path: Path) -> None:
    parts = load_claims(write_claims(tmp_path), "quick").parts
    for language in ("en", "zh"):
        message = Catalogue(MESSAGES, language)
        for kind, words in EXPECTED.items():
            for expect in (None, *words):
                for refuted_by in ("margin", "opposite", "negligible"):
                    part = replace(parts[0], kind=kind, expect=expect, refuted_by=refuted_by, margin=7.5)
                    text = rule_text(part, message)
                    assert ("7.5" in text) == (expect is not None)
    assert "lies within 10 Elo" in rule_text(parts[0], Catalogue(MESSAGES, "en"))


def test_passes_are_a_number_of_passes_and_growth_is_a_factor() -> None:
    spec = load_claims(find_config("claims", "othello"), "quick", ["C17a", "C28b"])
    counts = Searched(0, 1000, 1, hits=36, cases=3)

    class Counted:
        def search(self, values: Any, limits: Any, positions: Any, counted: Any) -> list[Searched]:
            return [counts for _ in positions]

    positions = [SampledPosition(Opening(str(game)), game) for game in range(20)]
    english, chinese = (Catalogue(MESSAGES, language) for language in ("en", "zh"))
    said = []
    for claim, part in zip(spec.claims, spec.parts, strict=True):
        course = SearchedCell(claim, part, part.cells[0], Counted(), lambda: positions, 20)  # type: ignore[arg-type]
        assert course.step()
        row = course.result().row
        said.append((effect_text(row, english), effect_text(row, chinese), range_text(row)))
    assert said == [("12 passes", "12 遍", "[12, 12]"), ("12.0×", "12.0×", "[12.0, 12.0]")]
    assert [("15 passes" in rule_text(part, english), "2×" in rule_text(part, english)) for part in spec.parts] == [
        (True, False), (False, True),
    ]  # fmt: skip


@pytest.mark.usefixtures("without_figures")
def test_the_command_runs_plans_and_prints_digests(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, ended = claims_result
    told = ["claims", "--claims", str(path)]
    assert command_line.main([*told, "--dry-run", "--out", str(tmp_path / "none")]) == 0
    planned = capsys.readouterr().out
    assert "96 games" in planned
    assert "parts: 5, searches of positions (not in the time below): 56\n" in planned
    assert not (tmp_path / "none").exists()
    changed = write_claims(tmp_path, ("margin = 10", "margin = 15"))
    assert command_line.main(["claims", "--claims", str(changed), "--dry-run", "--out", str(out)]) == 2
    assert "--amend" in capsys.readouterr().err, "as the run would say"
    assert command_line.main([*told, "--digests"]) == 0
    printed = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert printed == {**{result.part.id: result.part.digest for result in ended.results}, "all": ended.spec.digest}
    assert command_line.main([*told, "--out", str(out)]) == 0
    printed_lines = capsys.readouterr().out.splitlines()
    assert max(map(len, printed_lines[:-1])) <= 80
    assert printed_lines[-2:] == [f"games digest: {ended.digest}", str(out / "report.html")]
    assert command_line.main([*told, "--out", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [part["verdict"] for part in data["parts"]] == [result.verdict for result in ended.results]
    assert command_line.main(["report", str(out)]) == 0
    assert "5 parts of claims" in capsys.readouterr().out
    assert command_line.main(["claims", "--game", "othello", "--claims", str(path), "--out", str(out)]) == 2
    assert "is for xiangqi, not othello" in capsys.readouterr().err
    assert math.isclose(sum(part["games"] for part in data["parts"]), sum(one.games for one in ended.results))
