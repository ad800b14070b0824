"""The literature's claims: the shipped tables, rules of verdicts, shares of what searches count, runs and reports."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from arena.play.store import Store
from arena.records import Opening
from arena.reports.drawing.fonts import chinese_font
from elolab import command_line
from engine.engine import Engine, StopFlag
from engine.errors import UserError
from engine.search_statistics import END_COLUMNS, NULL_COLUMNS
from engine.settings.configuration import read_toml
from engine.settings.limits import Limits
from engine.settings.parameters import resolve
from engine.values import MATE
from tuning.ablation.depth_cost import depth_rows
from tuning.ablation.rows import AblationRow
from tuning.claims.measures import (
    SHARES,
    Searched,
    SuiteSearches,
    exact_failures,
    last_positions,
    mates_that_change,
    sampled_positions,
    share_difference,
    share_of,
)
from tuning.claims.run import ClaimsResult, run_claims
from tuning.claims.spec import (
    CONFIRMED,
    EXPECTED,
    REFUTED,
    SHOWN,
    UNDECIDED,
    claims_from_mapping,
    load_claims,
    outcome_of_interval,
    outcome_of_verdict,
    positions_needed,
    verdict_of_outcomes,
)
from tuning.reports.claims import write_claims_report

ROOT = Path(__file__).parents[3]
XIANGQI = ROOT / "configs" / "claims" / "xiangqi.toml"
OTHELLO_CLAIMS = (1, 2, 3, 4, 9, 10, 11, 12, 16, 17, 20, 23, 24, 28, 29)
"""Those that apply to Othello."""

SMALL = """\
game = "xiangqi"
seed = 3

[adjudication]
maximum_plies = 30

[budgets.quick]
pairs = 8
rounds = 2
depth = 2
positions = 4
limits = { play = "nodes=40", clock = "clock=0.3+0.01,node_clock=4000" }

[[claims]]
id = "C20"
claim = "Deeper is stronger."
claim_zh = "搜得越深越强。"
source = "OT"
basis = "c"
rule = "Confirmed if stronger."
rule_zh = "若更强，则证实。"
measures = [
    { kind = "elo", expect = "better", limit = "depth=2", reference_limit = "depth=1", label = "one ply more" },
    { kind = "elo", limit = "clock", ponder = true, weight = 0.7, label = "pondering" },
    { kind = "elo", set = { aspiration = "off" }, variant = { algorithm = "pvs" }, \
      reference = { algorithm = "alphabeta" }, label = "PVS" },
    { kind = "interaction", label = "both", factors = { aspiration = ["off", "full"], \
      algorithm = ["alphabeta", "pvs"] } },
]

[[claims]]
id = "C1"
claim = "Windows save effort."
claim_zh = "窗口节省工作量。"
source = "AW"
basis = "c"
rule = "Confirmed if fewer nodes."
rule_zh = "若节点更少，则证实。"
measures = [
    { kind = "nodes", expect = "less", variant = { aspiration = "full" }, reference = { aspiration = "off" } },
    { kind = "nodes", depth = -1, variant = { hash_mb = 1 }, reference = { hash_mb = 0 } },
    { kind = "share", expect = "below", threshold = 50, of = "windows_missed", variant = { aspiration = "full" } },
    { kind = "share", of = "growth" },
    { kind = "share", of = "verifications_failed", depth = 4, variant = { null_verify = "always" } },
    { kind = "occurs", of = "alternations", variant = { aspiration = "naive" } },
    { kind = "share_difference", of = "after_last_iteration", limit = "clock", variant = { time_divisor = 10 } },
    { kind = "mates", expect = "same", variant = { stop_on_mate = false } },
]
"""


def write_claims(folder: Path) -> Path:
    path = folder / "mine.toml"
    path.write_text(SMALL, "utf-8")
    return path


def run(path: Path, out: Path, **options: Any) -> ClaimsResult:
    return run_claims(load_claims(path, "quick"), out, stream=io.StringIO(), **options)


def report(result: ClaimsResult, language: str = "en") -> str:
    return write_claims_report(result, language).read_text("utf-8")


# The shipped tables


@pytest.mark.parametrize("budget", ["quick", "full"])
def test_the_shipped_tables_have_every_claim_that_applies(budget: str) -> None:
    for game, numbers in (("xiangqi", tuple(range(1, 29))), ("othello", OTHELLO_CLAIMS)):
        spec = load_claims(ROOT / "configs" / "claims" / f"{game}.toml", budget)
        assert [claim.id for claim in spec.claims] == [f"C{number}" for number in numbers]
        for claim in spec.claims:
            assert any(measure.expect for measure in claim.measures)
            assert re.search(r"[\u4e00-\u9fff]", claim.texts["zh"])
            assert re.search(r"[\u4e00-\u9fff]", claim.rules["zh"])
            for group in claim.groups:
                assert all(comparison.limits.is_reproducible for comparison in group.comparisons)


def test_each_kind_of_measure_is_used() -> None:
    specs = [load_claims(ROOT / "configs" / "claims" / f"{game}.toml", "full") for game in ("xiangqi", "othello")]
    used = {measure.kind for spec in specs for claim in spec.claims for measure in claim.measures}
    assert used == set(EXPECTED)


# Rules


@pytest.mark.parametrize(
    ("kind", "expect", "low", "high", "threshold", "outcome"),
    [
        ("nodes", "less", 0.8, 0.95, 0, CONFIRMED),
        ("nodes", "less", 1.1, 1.2, 0, REFUTED),
        ("nodes", "less", 0.9, 1.1, 0, UNDECIDED),
        ("nodes", "more", 1.1, 1.2, 0, CONFIRMED),
        ("nodes", "equal", 0.97, 1.04, 0, CONFIRMED),
        ("nodes", "equal", 1.06, 1.2, 0, REFUTED),
        ("nodes", "equal", 0.9, 1.2, 0, UNDECIDED),
        ("share", "below", 0, 0.9, 1, CONFIRMED),
        ("share", "below", 1.1, 3, 1, REFUTED),
        ("share", "above", 40, 60, 50, UNDECIDED),
        ("share", "above", 51, 60, 50, CONFIRMED),
        ("share_difference", "less", -3, -1, 0, CONFIRMED),
        ("share_difference", "less", 1, 2, 0, REFUTED),
        ("share", None, 0, 0, 50, SHOWN),
    ],
)
def test_what_an_interval_says(
    kind: str, expect: str | None, low: float, high: float, threshold: float, outcome: str
) -> None:
    assert outcome_of_interval(kind, expect, low, high, threshold) == outcome


@pytest.mark.parametrize(
    ("kind", "expect", "effect", "half", "threshold", "distance"),
    [
        ("nodes", "less", 0.96, 0.05, 0, -math.log(0.96)),
        ("nodes", "equal", 1.02, 0.05, 0, math.log(1.05 / 1.02)),
        ("share", "below", 40, 12, 50, 10),
        ("share_difference", "less", -1, 3, 0, 1),
    ],
)
def test_an_open_measure_says_how_many_positions_would_decide_it(
    kind: str, expect: str, effect: float, half: float, threshold: float, distance: float
) -> None:
    factor = math.exp(half)
    low, high = (effect / factor, effect * factor) if kind == "nodes" else (effect - half, effect + half)
    assert outcome_of_interval(kind, expect, low, high, threshold) == UNDECIDED
    needed = positions_needed(kind, expect, effect, low, high, threshold, 100)
    assert needed is not None
    error = half / stats.norm.ppf(0.975) / math.sqrt((100 + needed) / 100)
    assert stats.norm.cdf(distance / error - stats.norm.ppf(0.975)) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("expect", "value", "threshold"), [("below", 0, 1), ("above", 100, 99)])
def test_what_was_seen_never_or_always_needs_just_so_many_positions_that_its_interval_ends_short_of_the_border(
    expect: str, value: float, threshold: float
) -> None:
    def outcome(positions: int) -> str:
        # By Clopper and Pearson's bound, half of an error of 5 % on either side.
        reach = 100 * stats.beta.ppf(0.975, 1, positions)
        return outcome_of_interval("share", expect, max(0, value - reach), min(100, value + reach), threshold)

    reach = 100 * stats.beta.ppf(0.975, 1, 100)
    needed = positions_needed("share", expect, value, max(0, value - reach), min(100, value + reach), threshold, 100)
    assert needed is not None
    outcomes = [outcome(positions) for positions in (100, 100 + needed - 1, 100 + needed)]
    assert outcomes == [UNDECIDED, UNDECIDED, CONFIRMED]


def test_no_number_of_positions_decides_what_lies_on_the_border() -> None:
    assert positions_needed("share", "below", 50, 40, 60, 50, 100) is None
    assert positions_needed("nodes", "less", 0.9, 0.0, math.inf, 0, 2) is None


def test_only_a_difference_beyond_the_margin_refutes_that_there_is_almost_none() -> None:
    claim = load_claims(XIANGQI, "full", ["C2"]).claims[0]
    expected = [(one.kind, one.comparison) for one in claim.measures if one.expect == "equivalent"]
    assert expected == [("elo", 0)]
    assert [one.beyond_margin for one in claim.groups[0].comparisons][:2] == [True, False]
    table = read_toml(XIANGQI)
    found = next(one for one in table["claims"] if one["id"] == "C2")
    interaction = next(one for one in found["measures"] if one["kind"] == "interaction")
    interaction["expect"] = "equivalent"
    claim = claims_from_mapping(table, "xiangqi.toml", "full", ["C2"]).claims[0]
    assert claim.groups[0].factorials[0].beyond_margin


@pytest.mark.parametrize(
    ("expect", "verdict", "low", "high", "outcome"),
    [
        ("better", "better", 3, 9, CONFIRMED),
        ("better", "worse", -9, -3, REFUTED),
        ("better", "equivalent", -2, 3, REFUTED),
        ("better", "undecided", -20, 30, UNDECIDED),
        ("equivalent", "equivalent", -3, 3, CONFIRMED),
        ("equivalent", "better", 6, 20, REFUTED),
        ("equivalent", "undecided", 1, 20, UNDECIDED),
        ("not_worse", "worse", -20, -3, REFUTED),
        ("not_worse", "undecided", -4, 12, CONFIRMED),
        ("not_worse", "undecided", -6, 12, UNDECIDED),
        (None, "better", 1, 2, SHOWN),
    ],
)
def test_what_a_verdict_on_strength_says(
    expect: str | None, verdict: str, low: float, high: float, outcome: str
) -> None:
    assert outcome_of_verdict(expect, verdict, low, high, 5.0) == outcome


def test_a_claim_stands_and_falls_with_its_measures() -> None:
    assert verdict_of_outcomes([CONFIRMED, SHOWN]) == CONFIRMED
    assert verdict_of_outcomes([CONFIRMED, UNDECIDED]) == UNDECIDED
    assert verdict_of_outcomes([UNDECIDED, REFUTED]) == REFUTED
    assert verdict_of_outcomes([SHOWN]) == UNDECIDED


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("id = \"C20\"", "id = \"X20\""), ["[[claims]] 1", "id = 'X20'"]),
        (("id = \"C20\"", "id = \"C1\""), ["two claims are called 'C1'"]),
        (("aspiration = \"full\" }, reference", "asspiration = \"full\" }, reference"), ["C1", "'aspiration'"]),
        (("variant = { hash_mb = 1 }", "variant = { endgame_parity = false }"), ["endgame_parity", "xiangqi"]),
        (("variant = { hash_mb = 1 }", "variant = { hash_mb = 1, Hash = 2 }"), ["C1", "hash_mb and Hash are the same"]),
        (("reference = { hash_mb = 0 }", "reference = { hash_mb = 1 }"), ["C1: measure 2", "with itself"]),
        (("of = \"growth\"", "of = \"grow\""), ["of = 'grow'", "'growth'"]),
        (("expect = \"less\"", "expect = \"better\""), ["C1: measure 1", "expect = 'better'", "'less'"]),
        (("kind = \"mates\"", "kind = \"mate\""), ["kind = 'mate'", "'mates'"]),
        (("play = \"nodes=40\"", "slow = \"nodes=40\""), ["[quick]", "play is missing"]),
        (("pairs = 8", "pairs = 4\nfoo = 1"), ["unknown key 'foo'"]),
        (("pairs = 8\nrounds = 2", "pairs = 4\nrounds = 1"), ["C20", "pairs = 4 is too few to decide anything"]),
        (("[budgets.quick]", "[budgets.quik]"), ["'quik'", "'quick'"]),
        (("limit = \"clock\", ponder", "limit = \"play\", ponder"), ["ponder", "nodes=40"]),
    ],
)
def test_mistakes_are_refused_in_one_line(change: tuple[str, str], words: list[str], tmp_path: Path) -> None:
    path = write_claims(tmp_path)
    assert change[0] in SMALL
    path.write_text(SMALL.replace(*change, 1), "utf-8")
    with pytest.raises(UserError) as raised:
        load_claims(path, "quick")
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_aliases_are_kept_under_the_own_names(tmp_path: Path) -> None:
    path = write_claims(tmp_path)
    own = load_claims(path, "quick")
    others = {"hash_mb": "Hash", "stop_on_mate": "StopOnMate", "time_divisor": "TIME_DIVISOR",
              "algorithm = \"pvs\"": "SearchAlgorithm = \"pvs\"", "null_verify": "null-verify"}  # fmt: skip
    text = SMALL
    for name, other in others.items():
        assert name in text
        text = text.replace(name, other)
    # The common setting is overlaid by one under another name.
    text = text.replace('set = { aspiration = "off" }', 'set = { aspiration = "off", search-algorithm = "mtdf" }')
    path.write_text(text, "utf-8")
    assert load_claims(path, "quick") == own


def test_claims_are_picked_by_id(tmp_path: Path) -> None:
    path = write_claims(tmp_path)
    assert [claim.id for claim in load_claims(path, "quick", ["C1"]).claims] == ["C1"]
    with pytest.raises(UserError, match=r"no claim 'C2'.*C20, C1"):
        load_claims(path, "quick", ["C2"])


def test_a_claim_that_expects_nothing_is_refused() -> None:
    claim = {"id": "C1", "claim": "a", "claim_zh": "b", "source": "AW", "basis": "c", "rule": "c", "rule_zh": "d",
             "measures": [{"kind": "share", "of": "growth"}]}  # fmt: skip
    budget = {"pairs": 5, "depth": 2, "positions": 2, "limits": {"play": "nodes=5"}}
    with pytest.raises(UserError, match="no measure expects anything"):
        claims_from_mapping({"game": "xiangqi", "budgets": {"quick": budget}, "claims": [claim]}, "x.toml", "quick")


# Measures


def searched(nodes: int = 10, score: int = 0, **search_statistics: Any) -> Searched:
    return Searched("a0a1", score, nodes, ((1, 2, 2000), (2, nodes, 9000)), search_statistics)


def test_shares_are_ratios_of_sums_with_positions_as_units() -> None:
    counts = [(3, 10), (0, 10), (6, 20), (1, 5)]
    rows = [searched(counters={"windows_missed": hits, "windows": cases}) for hits, cases in counts]
    share = share_of("windows_missed", rows)
    assert (share.hits, share.cases, share.value) == (10, 45, pytest.approx(10 / 45))
    deviation = math.sqrt(4 / 3 * sum((hits - 10 / 45 * cases) ** 2 for hits, cases in counts)) / 45
    assert share.high - share.value == pytest.approx(1.959964 * deviation)
    never = share_of("windows_missed", [searched(counters={"windows_missed": 0, "windows": 50})] * 4)
    assert never.low == never.value == 0
    assert never.high == pytest.approx(1 - 0.025 ** (1 / 4))
    always = share_of("windows_missed", [searched(counters={"windows_missed": 50, "windows": 50})] * 4)
    assert (always.low, always.high) == (pytest.approx(0.025 ** (1 / 4)), 1)
    assert math.isinf(share_of("windows_missed", [searched(counters={"windows_missed": 0, "windows": 0})]).high)


def test_a_difference_of_shares_is_paired_by_position() -> None:
    hits = (1, 5, 9, 3)
    one = [searched(counters={"windows_missed": count, "windows": 10}) for count in hits]
    other = [searched(counters={"windows_missed": count + 1, "windows": 10}) for count in hits]
    difference, low, high = share_difference("windows_missed", one, other)
    assert difference == pytest.approx(-0.1)
    assert high - low == pytest.approx(0, abs=1e-12)


def test_null_moves_are_counted_by_material_and_depth() -> None:
    def row(**values: int) -> list[int]:
        return [values.get(column, 0) for column in NULL_COLUMNS]

    data = searched(
        null_by_material={"900": row(verified=10, refuted=5), "1800": row(verified=20, refuted=1)},
        null_by_depth={"2": row(verified=4, refuted=2), "3": row(verified=6, refuted=1, sampled=8, wrong=2,
                                                                 unresolved=3)},
        ends={"soft_limit": [3 if column == "searches" else 0 for column in END_COLUMNS]},
    )  # fmt: skip
    assert SHARES["verifications_failed"](data.search_statistics, 1800) == (1, 20)
    assert SHARES["verifications_failed"](data.search_statistics, 0) == (6, 30)
    assert SHARES["shallow_verifications_failed"](data.search_statistics, 3) == (2, 4)
    assert SHARES["null_cutoffs_wrong"](data.search_statistics, 0) == (2, 5)
    assert SHARES["soft_stops"](data.search_statistics, 0) == (3, 3)


def test_every_share_can_be_read_from_a_search(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        searches = SuiteSearches("xiangqi", store, 1, StopFlag())
        start = Engine("xiangqi").game.position().text
        values = resolve({"hash_mb": 1, "null_verify": "always"}, game="xiangqi")
        found = searches.search(values, Limits(depth=4), [Opening(start)])
        assert found is not None
        for name in SHARES:
            hits, cases = SHARES[name](found[0].search_statistics, 0)
            assert hits >= 0
            assert cases >= 0
        engine = Engine("xiangqi", values)
        assert found[0].nodes == engine.search(engine.game.position(start), Limits(depth=4)).nodes
        assert searches.search(values, Limits(depth=4), [Opening(start)]) == found
        nodes = [found[0].nodes_to(depth) for depth in (1, 2, 3, 4)]
        assert nodes == sorted(nodes, key=lambda count: count or 0)
        assert found[0].nodes_to(9) is None


def test_depths_are_means_over_the_positions_that_reached_the_deepest() -> None:
    rows = depth_rows("x", [searched(8), searched(32), Searched(None, 0, 2, ((1, 999, 1000),), {})])
    assert [(row.depth, row.positions) for row in rows] == [(1, 2), (2, 2)]
    assert rows[0].nodes == pytest.approx(2)
    assert rows[1].nodes == pytest.approx((8 * 32) ** (1 / 2))
    assert rows[1].branching_factor == pytest.approx(rows[1].nodes / rows[0].nodes)


def test_mates_must_keep_winner_and_length() -> None:
    def scores(*values: int) -> list[Searched]:
        return [searched(score=value) for value in values]

    by_depth = {4: scores(MATE - 3, 50, MATE - 1, -(MATE - 2)), 5: scores(MATE - 3, MATE - 3, MATE - 3, -(MATE - 2))}
    assert mates_that_change(by_depth, 4) == (4, 1)
    assert exact_failures(scores(100, 200), scores(100, 300)) == 1


def test_positions_from_self_play_are_the_same_every_time() -> None:
    for game in ("xiangqi", "othello"):
        engine = Engine(game)
        openings = [Opening(engine.game.position().text)]
        first = sampled_positions(game, openings, 3, nodes=20)
        assert first == sampled_positions(game, openings, 3, nodes=20)
        assert len(set(first)) == 3
    last = last_positions("othello", openings, 3, nodes=20)
    assert all(one.position.count("-") <= 6 for one in last)


# A run


@pytest.fixture(scope="module")
def claims_result(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, ClaimsResult]:
    """A small run: its table, folder and end."""
    folder = tmp_path_factory.mktemp("claims")
    path = write_claims(folder)
    return path, folder / "out", run(path, folder / "out")


def without_times(ended: ClaimsResult) -> Any:
    return [(result.verdict, result.rows, result.strength) for result in ended.results]


def test_every_measure_has_an_outcome(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    _, out, ended = claims_result
    strength, cost = ended.results
    assert [row.unit for row in strength.rows] == ["Elo"] * 4
    assert strength.games == 2 * sum(row.pairs for row in strength.strength)
    assert [row.unit for row in cost.rows] == ["×", "×", "%", "×", "%", "cases", "points", "cases"]
    assert cost.rows[0].outcome in (CONFIRMED, REFUTED, UNDECIDED)
    assert cost.rows[1].outcome == SHOWN
    assert cost.games == 0
    assert ended.is_indicative
    with Store(out, read_only=True) as store:
        assert len(store) == strength.games


def test_an_interaction_is_that_of_its_four_sides(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    """One side is a comparison of its own; the other three are played for the interaction."""
    result = claims_result[2].results[0]
    rows = {row.label: row for row in result.rows}
    interaction = rows["both"]
    assert (interaction.kind, interaction.outcome, interaction.unit) == ("interaction", SHOWN, "Elo")
    sides = {row.label: row for row in result.strength if row.group == "factorial"}
    assert len(sides) == 3
    assert interaction.games == sum(row.games for row in sides.values()) > 0
    assert rows["PVS"].games > 0
    assert result.games == sum(row.games for row in result.strength)
    with_window = next(row for label, row in sides.items() if "algorithm" in label.partition(",")[0])
    under_pvs = next(row for label, row in sides.items() if row is not with_window and label.endswith("pvs"))
    under_alpha_beta = next(row for row in sides.values() if row not in (with_window, under_pvs))

    def shrunk(row: AblationRow) -> float:
        """A quarter of a pair is given to either side."""
        points = (row.LD + 2 * row.even + 3 * row.WD + 4 * row.WW) / 4
        score = (points + 0.25) / (row.pairs + 0.5)
        return 400 * math.log10(score / (1 - score))

    ways = shrunk(with_window) - shrunk(next(row for row in result.strength if row.label == "PVS"))
    other = shrunk(under_pvs) - shrunk(under_alpha_beta)
    assert interaction.effect == pytest.approx((ways + other) / 2, abs=0.01)
    assert [(cell.first_level, cell.second_level) for cell in result.squares[0]] == [(-1, -1), (-1, 1), (1, -1), (1, 1)]


def test_concurrency_and_a_stop_do_not_matter(claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, _, ended = claims_result
    stop = StopFlag()
    stop.set()
    assert run(path, tmp_path / "out", stop=stop).exit_code == 130
    again = run(path, tmp_path / "out", concurrency=2)
    assert (without_times(again), again.digest) == (without_times(ended), ended.digest)
    assert without_times(run(path, tmp_path / "out")) == without_times(ended)


@pytest.fixture
def without_charts_of_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """To draw them takes longer than the games."""
    monkeypatch.setattr("tuning.reports.claims._claim_plots", lambda *arguments: [])


@pytest.mark.usefixtures("without_charts_of_claims")
def test_a_stopped_run_reports_on_the_claims_it_was_done_with(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that need no games come first; run again it ends like one that was never stopped."""
    path, _, ended = claims_result
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(
            "tuning.claims.run.play_allocated", lambda allocation, *given, **named: (False, allocation.pairs)
        )
        stopped = run(path, out)
    assert (stopped.exit_code, stopped.missing) == (130, ("C20",))
    assert without_times(stopped) == without_times(ended)[1:]
    page = report(stopped)
    assert "1 of 2 claims" in page
    assert "stopped before it had an answer on C20" in page
    resumed = run(path, out)
    assert without_times(resumed) == without_times(ended)
    assert "stopped before" not in report(resumed)


def test_tables_and_report_are_written_in_both_languages(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    path, out, ended = claims_result
    english = report(ended)
    rows = list(csv.DictReader((out / "claims.csv").open(encoding="utf-8")))
    assert [row["claim"] for row in rows] == ["C20", "C1"]
    assert len(list(csv.DictReader((out / "measures.csv").open(encoding="utf-8")))) == 12
    assert {row["claim"] for row in csv.DictReader((out / "depths.csv").open(encoding="utf-8"))} == {"C1"}
    verified = list(csv.DictReader((out / "verifications.csv").open(encoding="utf-8")))
    assert {row["claim"] for row in verified} == {"C1"}
    assert sum(int(row["tries"]) for row in verified) > 0
    assert "Deeper is stronger." in english
    assert "indicative" in english
    strength = [line for line in (out / "report.md").read_text("utf-8").splitlines() if " games, " in line]
    assert [line.partition(" games, ")[2].partition(";")[0] for line in strength if "engine " in line] == [
        "depth=2 against depth=1", "limits as in the tables",
    ]  # fmt: skip
    assert f"elolab claims --game xiangqi --budget quick --claims {path} --out {out}" in english
    chinese = report(ended, "zh")
    assert '<html lang="zh-CN">' in chinese
    assert "搜得越深越强。" in chinese
    for said in ("仅供参考", "期中分析", "等效", "depth=2 对 depth=1", f"--out {out} --language zh"):
        assert said in chinese
    figure = (out / "plots" / "strength.svg").read_text("utf-8")
    assert ("Elo，变体减参照" in figure) == (chinese_font() is not None)
    assert ended.frame().shape[0] == 2
    empty = replace(ended, results=()).frame()  # as of a run that was stopped at once
    assert (len(empty), list(empty.columns)) == (0, list(ended.frame().columns))


@pytest.mark.usefixtures("without_charts_of_claims")
def test_the_command_runs_and_plans(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, ended = claims_result
    assert command_line.main(["claims", "--claims", str(path), "--dry-run", "--out", str(tmp_path / "none")]) == 0
    assert "92 games" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()
    assert command_line.main(["claims", "--claims", str(path), "--out", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed[:-1])) <= 80
    assert printed[-2:] == [f"games digest: {ended.digest}", str(out / "report.html")]
    assert command_line.main(["claims", "--claims", str(path), "--out", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [claim["verdict"] for claim in data["claims"]] == [result.verdict for result in ended.results]
    assert command_line.main(["claims", "--game", "othello", "--claims", str(path), "--out", str(out)]) == 2
    assert "is for xiangqi, not othello" in capsys.readouterr().err
    assert command_line.main(["claims", "--game", "chess"]) == 2
    assert "unknown game 'chess', expected one of" in capsys.readouterr().err
