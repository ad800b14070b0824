"""Cells: looks at simulated games, and searches block by block."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elolab.arena.records import Opening
from elolab.arena.statistics.elo import Pentanomial, elo_of_score, score_of_elo
from elolab.engine.language import Catalogue
from elolab.engine.settings.configuration import find_config
from elolab.tuning.ablation.comparison_verdicts import critical_values
from elolab.tuning.claims.cells import (
    COMPLETE,
    DECIDED,
    FUTILITY,
    PlayedCell,
    SearchedCell,
    game_seconds,
)
from elolab.tuning.claims.claims_results import CellRow
from elolab.tuning.claims.claims_spec import Claim, ClaimPart, load_claims
from elolab.tuning.claims.measures import Searched
from elolab.tuning.claims.part_verdicts import CONFIRMED, NEGLIGIBLE, OPEN, REFUTED, SHOWN, PartRule
from elolab.tuning.claims.position_suites import SampledPosition
from elolab.tuning.matches import Match
from elolab.tuning.reports.claims_report import (
    effect_text,
    range_text,
    rule_text,
)
from elolab.tuning.reports.wording import MESSAGES
from tests.support.small_claims import write_claims


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
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Claim, ClaimPart]:
    """A part with a cell of 2000 pairs, in ten looks."""
    folder = tmp_path_factory.mktemp("asked")
    path = write_claims(folder, ("pairs = 8\nrounds = 2", "pairs = 2000\nrounds = 10"))
    spec = load_claims(path, "quick", ["C20a"])
    return spec.claims[0], spec.parts[0]


def first_look_that_decides(pairs: list[tuple[float, float]], sign: int, rule: PartRule) -> tuple[int, str]:
    """By plain formulas: the mean score of so many pairs and its standard error, and the bounds of ten looks."""
    bounds = critical_values(tuple(range(200, 2001, 200)), 0.05 / 2)  # two-sided
    for look in range(1, 11):
        scores = np.array(pairs[: 200 * look]).mean(axis=1)
        reach = bounds[look - 1] * scores.std(ddof=1) / math.sqrt(len(scores))
        effect = sign * (scores.mean() - 0.5)
        verdict = rule.verdict(effect - reach, effect + reach)
        if verdict != OPEN:
            return look, verdict
    return 10, OPEN


@pytest.mark.integration
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
    expect: str, margin: float, elo: float, verdict: str, asked: tuple[Claim, ClaimPart]
) -> None:
    row, played = course_of(asked, expect, margin, elo)
    rule = PartRule(expect, score_of_elo(margin) - 0.5)
    assert (row.looks, row.verdict) == first_look_that_decides(played.pairs, rule.sign, rule)
    assert (row.verdict, row.ended) == (verdict, DECIDED)
    assert row.low < row.effect < row.high
    assert row.median_unbiased is not None
    assert abs(row.median_unbiased - row.effect) < (row.high - row.low) / 4
    assert row.p_value is not None
    assert row.p_value < 0.05
    assert row.games_needed is None
    assert row.LL + row.LD + row.even + row.WD + row.WW == row.cases == row.games / 2


def test_what_can_hardly_be_decided_is_given_up_and_what_is_only_shown_is_played_to_its_end(
    asked: tuple[Claim, ClaimPart],
) -> None:
    row, _ = course_of(asked, "better", 1, 1)
    assert (row.verdict, row.ended, row.p_value) == (OPEN, FUTILITY, None)
    assert row.looks < 10
    assert row.games_needed is not None
    shown, _ = course_of(asked, None, 10, 60)
    assert (shown.verdict, shown.ended, shown.looks, shown.median_unbiased) == (SHOWN, COMPLETE, 10, shown.effect)


def test_a_cell_has_time_left_until_it_ends(asked: tuple[Claim, ClaimPart]) -> None:
    course = PlayedCell(*asked, asked[1].cells[0], tuple(range(2000)), Played(60, 0.3, 4))  # type: ignore[arg-type]
    assert course.seconds_left == course.most_seconds == 4000 * game_seconds(course.cell)
    course.analyse_stored()
    assert course.done < 10
    assert course.seconds_left == 0


def course_of(
    asked: tuple[Claim, ClaimPart], expect: str | None, margin: float, elo: float, draws: float = 0.3
) -> tuple[CellRow, Played]:
    """The row of a cell with another rule, of games drawn at that difference."""
    claim, part = asked[0], replace(asked[1], expect=expect, margin=margin)
    played = Played(elo, draws, 4)
    course = PlayedCell(claim, part, part.cells[0], tuple(range(2000)), played)  # type: ignore[arg-type]
    course.analyse_stored()
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
    assert before.row.outcome(before.row.low, before.row.high) == (-math.inf, math.inf)
    assert course.step()
    after = course.result()
    assert range_text(after.row).startswith("[0.5")
    assert (after.row.verdict, after.row.cases, after.row.ended) == (CONFIRMED, 30, DECIDED)
    assert 0.5 < after.row.low < after.row.effect < after.row.high < 0.6
    assert after.row.outcome(after.row.low, after.row.high)[0] == pytest.approx(-math.log(after.row.high))
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
    assert "missed an aspiration window" in rule_text(course.part, Catalogue(MESSAGES, "en"))
    everywhere = (SIDES, SIDES.replace("full", "one_sided").replace("off", "full"))
    row, other = searched(write_claims(tmp_path, everywhere))
    assert (row.cases, row.effect > 1) == (30, True)
    assert course.part.digest != other.part.digest
    # Where both sides must have missed one that converged, the odd numbers are left.
    both = (change[0], change[1].replace('"windows_missed"', '"converged_misses"'))
    row, third = searched(write_claims(tmp_path, both))
    assert (row.cases, row.verdict, row.effect) == (5, CONFIRMED, pytest.approx(100 / 200, rel=0.01))
    assert "no re-search failed on the other side" in rule_text(third.part, Catalogue(MESSAGES, "en"))
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
    assert "different numbers of nodes" in rule_text(course.part, Catalogue(MESSAGES, "en"))


def test_a_fixed_length_is_looked_at_once_and_has_a_finite_interval(
    asked: tuple[Claim, ClaimPart], tmp_path: Path
) -> None:
    path = write_claims(tmp_path, ("pairs = 8", "pairs = 250"), ("margin = 10", "margin = 10\nlooks = 1"))
    spec = load_claims(path, "quick", ["C20a"])
    fixed = spec.claims[0], spec.parts[0]
    assert fixed[1].has_fixed_length
    assert fixed[1].cells[0].analyses == (250,)
    assert "the only interim analysis" in rule_text(fixed[1], Catalogue(MESSAGES, "en"))
    assert "the only interim analysis" not in rule_text(asked[1], Catalogue(MESSAGES, "en"))
    row, played = course_of(fixed, "better", 10, 240)
    assert (row.looks, row.ended, row.verdict, row.unit) == (1, DECIDED, CONFIRMED, "Elo")
    scores = np.array(played.pairs[:250]).mean(axis=1)
    mean, error = scores.mean(), scores.std(ddof=1) / math.sqrt(250)
    reach = 2.2414 * error * 400 / math.log(10) / (mean * (1 - mean))  # half of 5 % for each of two cells
    assert row.low == pytest.approx(elo_of_score(mean) - reach, abs=4)
    assert row.high == pytest.approx(elo_of_score(mean) + reach, abs=4)
    assert row.median_unbiased == row.effect
    assert row.p_value is not None
    assert row.p_value < 0.05
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


@pytest.mark.integration
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
    assert said == [("12 passes per iteration", "每次迭代 12 遍", "[12, 12]"), ("12.0×", "12.0×", "[12.0, 12.0]")]
    assert [("15 passes" in rule_text(part, english), "2×" in rule_text(part, english)) for part in spec.parts] == [
        (True, False), (False, True),
    ]  # fmt: skip
