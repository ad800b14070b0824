"""Runs of ablations: equal tables at any concurrency and after any stop, rounds, factorials, depths, reports."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import pytest
from scipy import stats

from elolab import command_line
from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.provenance.record import PROGRAMS
from elolab.arena.records import Opening
from elolab.arena.run import ENGINE_IDENTITY, KIND
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.compiled.identity import engine_identity
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue, columns_of
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.tuning.ablation.ablation_run import (
    AblationResult,
    ablate,
    depths_of_settings,
    plan_of_run,
    prepare_ablation,
)
from elolab.tuning.ablation.ablation_spec import AblationSpec, ablation_from_mapping, load_ablation
from elolab.tuning.ablation.comparison_verdicts import detectable_elo, min_pairs
from elolab.tuning.ablation.depth_cost import DepthCost, cost_ratio, costs_to_depth
from elolab.tuning.ablation.position_searches import PositionSearches
from elolab.tuning.ablation.rows import frame_of, row_of
from elolab.tuning.reports.ablation_report import ablation_document, ablation_text, write_ablation_report
from elolab.tuning.reports.wording import MESSAGES
from tests.support.small_ablation import OPENINGS, a_row, read, records_in, run, write_ablation, write_openings
from tests.support.small_studies import CountingStop

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, AblationResult]:
    """A small ablation: its file, folder and end."""
    folder = tmp_path_factory.mktemp("ablated")
    path = write_ablation(folder)
    return path, folder / "out", run(path, folder / "out", with_report=True)


# Playing


def test_games_that_comparisons_share_are_told_once(tmp_path: Path) -> None:
    write_openings(tmp_path)
    features = {"features": ["quiescence", "null_move"]}
    spec = ablation_from_mapping(
        {
            "limit": "nodes=60",
            "pairs": 7,
            "rounds": 1,
            "openings": "twelve.epd",
            "adjudication": {"maximum_plies": 4},
            "nodes_to_depth": {"depth": 0},
            "games": 56,
            "leave_one_out": [features],
            "interactions": [features],
        },
        str(tmp_path / "shared.toml"),
    )
    ended = ablate(spec, tmp_path / "out", stream=io.StringIO())
    assert sum(row.games for row in ended.rows) == 6 * 14
    assert (ended.games, ended.planned, ended.counted) == (4 * 14, 4 * 14, 4 * 14)
    assert "with 56 of at most 56 games" in ablation_document(ended, "en").summary
    told = json.loads((tmp_path / "out" / LIVE_NAME).read_text())
    assert (told["done"], told["planned"]) == (56, 56)


@pytest.mark.integration
def test_every_comparison_plays_the_same_openings_with_colours_swapped(
    played: tuple[Path, Path, AblationResult],
) -> None:
    path, out, ended = played
    plan = prepare_ablation(load_ablation(path))
    records = {record.key: record for record in records_in(out)}
    assert (ended.games, ended.planned, len(records)) == (46, 46, 46)
    for match in plan.matches:
        assert match.openings == plan.openings[: match.pairs]
    numbers = [record.pairing.number for record in records_in(out)]
    assert numbers == list(range(46))
    for number in range(0, 46, 2):
        one, other = (record for record in records_in(out) if record.pairing.number in (number, number + 1))
        assert (one.first, one.second) == (other.second, other.first)
        assert one.opening == other.opening


@pytest.mark.integration
def test_rows_are_counted_from_the_variants_view(played: tuple[Path, Path, AblationResult]) -> None:
    path, out, ended = played
    spec = load_ablation(path)
    for row, comparison in zip(ended.rows, spec.comparisons, strict=True):
        name = spec.conditions.player(dict(comparison.variant)).name
        other = spec.conditions.player(dict(comparison.reference)).name
        points: dict[int, float] = {}
        for record in records_in(out):
            if {record.first, record.second} == {name, other}:
                assert record.score is not None
                score = record.score if record.first == name else 1 - record.score
                points[record.pairing.pair] = points.get(record.pairing.pair, 0) + score
        counts = [sum(round(2 * score) == place for score in points.values()) for place in range(5)]
        assert [row.LL, row.LD, row.even, row.WD, row.WW] == counts
        assert row.games == 2 * row.pairs == 2 * comparison.pairs


def test_the_sign_is_the_variants(played: tuple[Path, Path, AblationResult]) -> None:
    path, _, _ = played
    spec = load_ablation(path)
    row = row_of(spec, spec.comparisons[0], Pentanomial((0, 0, 1, 4, 5)), None)
    assert row.elo > 0
    assert row.los > 0.5
    assert row.variant == "quiescence off"
    assert row.reference == ""
    assert row.nodes_ratio is None


def test_concurrency_does_not_matter(played: tuple[Path, Path, AblationResult], tmp_path: Path) -> None:
    path, _, ended = played
    again = run(path, tmp_path / "two", concurrency=2)
    assert (again.rows, again.digest) == (ended.rows, ended.digest)


@pytest.mark.integration
def test_an_ablation_stopped_anywhere_goes_on_as_if_it_had_not_been(
    played: tuple[Path, Path, AblationResult], tmp_path: Path
) -> None:
    path, _, ended = played
    seen: dict[str, str] = {}
    exits = []
    for polls in (1, 15, 40, 80):
        exits.append(run(path, tmp_path / "out", stop=CountingStop(polls)).exit_code)
        now = {record.key: record.started_at for record in records_in(tmp_path / "out")}
        assert seen.items() <= now.items()
        seen = now
    assert exits[:2] == [130, 130]
    again = run(path, tmp_path / "out")
    assert (again.rows, again.digest, again.exit_code) == (ended.rows, ended.digest, 0)


@pytest.mark.integration
def test_an_ablation_killed_at_any_moment_loses_nothing(
    played: tuple[Path, Path, AblationResult], tmp_path: Path
) -> None:
    path, _, ended = played
    command = [sys.executable, str(ROOT / "elolab"), "ablate", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while _count(tmp_path / "out") < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.wait()
    before = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert len(before) >= 3
    again = run(path, tmp_path / "out")
    after = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert before.items() <= after.items()
    assert (again.rows, again.digest) == (ended.rows, ended.digest)


def _count(out: Path) -> int:
    try:
        with Store(out, read_only=True) as store:
            return len(store)
    except Exception:  # the other process is making it
        return 0


@pytest.mark.integration
def test_more_pairs_and_comparisons_play_only_what_is_missing(
    played: tuple[Path, Path, AblationResult], tmp_path: Path
) -> None:
    shutil.copytree(played[1], tmp_path / "out")
    before = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    extra = '[[comparisons]]\nlabel = "no tempo"\nvariant = { tempo = 0 }\n'
    longer = run(write_ablation(tmp_path, pairs=8, extra=extra), tmp_path / "out")
    after = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert before.items() < after.items()
    assert [row.pairs for row in longer.rows] == [8, 8, 2, 8, 8]
    at_once = run(write_ablation(tmp_path, pairs=8, extra=extra), tmp_path / "at once")
    assert (at_once.rows, at_once.digest) == (longer.rows, longer.digest)
    with pytest.raises(UserError, match="another ablation"):
        run(write_ablation(tmp_path), tmp_path / "out")


@pytest.mark.integration
def test_games_that_no_longer_count_keep_no_place_that_is_anothers(tmp_path: Path) -> None:
    """Alone the comparison is played to its end; the games are not enough for two of them."""
    quiescence, null_move = ({"label": name, "variant": {name: False}} for name in ("quiescence", "null_move"))
    settings = {"limit": "nodes=30", "pairs": 8, "rounds": 2, "adjudication": {"maximum_plies": 20}}
    settings |= {"nodes_to_depth": {"depth": 0}, "games": 16}
    for comparisons in ([quiescence], [null_move, quiescence]):
        ended = ablate(read(**settings, comparisons=comparisons), tmp_path / "out", stream=io.StringIO())
    assert [row.pairs for row in ended.rows] == [4, 4]
    records = records_in(tmp_path / "out")
    assert len(records) == 24
    assert len({record.pairing.number for record in records}) == 24


def test_a_comparison_keeps_the_conditions_that_it_was_begun_with(
    played: tuple[Path, Path, AblationResult], tmp_path: Path
) -> None:
    """One more key is another comparison, too, however new its entry in the table is."""
    shutil.copytree(played[1], tmp_path / "out")
    with pytest.raises(UserError, match="reference_limit = not set there, 'nodes=20' in"):
        run(write_ablation(tmp_path, extra='reference_limit = "nodes=20"\n'), tmp_path / "out")


# Rounds, verdicts, factorials

ROUNDS = """\
seed = 5
limit = "nodes=40"
pairs = 12
rounds = 3
openings = "twelve.epd"

[set]
hash_mb = 1

[adjudication]
maximum_plies = 30

[nodes_to_depth]
depth = 0

[[comparisons]]
label = "material only"
variant = { evaluation = "material" }

[[add_one_in]]
features = ["history"]
bare = "bare.toml"

[[factorial]]
factors = { algorithm = ["alphabeta", "pvs"], quiescence = [false, true] }

[[factorial]]
factors = { killers = [0, 2], history = [false, true], tempo = [0, 20] }
fraction = 2
"""


def figures_that_say_where_they_are_from(report: str, ended: AblationResult) -> int:
    """How many figures there are; each one's caption has to end with the engine and the command."""
    captions = re.findall(r"^!\[.*\n\n(.*)", report, re.MULTILINE)
    end = f"; engine {engine_identity()}; made by elolab ablate {ended.spec.conditions.source} --out {ended.directory}."
    assert all(caption.endswith(end) for caption in captions), captions
    return len(captions)


def write_rounds(folder: Path) -> Path:
    write_openings(folder)
    (folder / "bare.toml").write_text("[xiangqi]\nhistory = false\nkillers = 0\nhash_mb = 1\n")
    path = folder / "rounds.toml"
    path.write_text(ROUNDS)
    return path


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_rounds_stop_matches_whose_verdict_has_fallen_at_any_concurrency(tmp_path: Path) -> None:
    path = write_rounds(tmp_path)
    first = run(path, tmp_path / "one", with_report=True)
    assert all(row.pairs in (4, 8, 12) for row in first.rows)
    assert first.games == 2 * sum(row.pairs for row in first.rows) < first.planned
    for row in first.rows:
        assert row.verdict in ("better", "worse", "equivalent", "undecided") or row.group == "factorial"
    again = run(path, tmp_path / "two", concurrency=2)
    assert (again.rows, again.effects, again.digest) == (first.rows, first.effects, first.digest)
    stopped = run(path, tmp_path / "three", stop=CountingStop(30))
    assert stopped.exit_code == 130
    resumed = run(path, tmp_path / "three")
    assert (resumed.rows, resumed.effects, resumed.digest) == (first.rows, first.effects, first.digest)
    report = (tmp_path / "one" / "report.md").read_text()
    assert "algorithm × quiescence" in report
    assert figures_that_say_where_they_are_from(report, first) == 2


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_an_extension_after_results_is_told(tmp_path: Path) -> None:
    path = write_rounds(tmp_path)
    path.write_text(ROUNDS.replace("pairs = 12", "pairs = 9"))
    assert len(run(path, tmp_path / "out").plans) == 1
    path.write_text(ROUNDS)
    longer = run(path, tmp_path / "out", with_report=True)
    assert [plan["pairs"] for plan in longer.plans] == [9, 12]
    assert "changed after" in (tmp_path / "out" / "report.md").read_text()


def test_factorials_of_the_same_factors_have_labels_of_their_own() -> None:
    factors = {"killers": [1, 2], "history": [False, True]}
    spec = read(factorial=[{"factors": factors}, {"factors": factors, "limit": "nodes=77"}])
    assert [one.label for one in spec.factorials] == ["killers × history", "killers × history (2)"]
    # Nor is the same comparison at other odds the same one.
    odds = [{"label": f"odds {nodes}", "variant": {}, "reference_limit": f"nodes={nodes}"} for nodes in (20, 40)]
    assert len(read(comparisons=odds).comparisons) == 2


def test_factorials_are_read_and_share_their_matches() -> None:
    spec = read(interactions=[{"features": ["null_move", "history", "killers"]}])
    assert [factorial.label for factorial in spec.factorials] == [
        "null_move × history", "null_move × killers", "history × killers",
    ]  # fmt: skip
    assert len(spec.comparisons) == 9  # each feature left out of the base is played once, not twice
    assert spec.questions == 9 + 3
    labels = {comparison.label for comparison in spec.comparisons}
    assert "null_move on against off, history on" in labels
    model = read(factorial=[{"factors": {"algorithm": ["alphabeta", "pvs"], "aspiration": ["off", "full"]}}])
    assert len(model.comparisons) == 4
    for comparison in model.comparisons:
        assert len(comparison.differences) == 1


def test_aliases_are_kept_under_the_own_names() -> None:
    def asked(window: str, depth: str, iid: str, history: str, lmr: str, tempo: str) -> AblationSpec:
        return read(
            leave_one_out=[{"features": [lmr], "set": {window: 20}}],
            add_one_in=[{"features": [lmr], "set": {tempo: 1}}],
            values=[{"parameter": depth, "values": [4]}],
            comparisons=[{"variant": {iid: True, history: 1}, "reference": {history: 3}}],
            factorial=[{"factors": {window: [20, 40], depth: [2, 3]}}],
            interactions=[{"features": [lmr, "history"]}],
            set={tempo: 3},
        )

    texts = asked("valWINDOW", "NullDepth", "IID", "HistoryWeight", "LMR", "TEMPO")
    own = asked("aspiration_window", "null_depth", "internal_iterative_deepening", "history_weight",
                "late_move_reductions", "tempo")  # fmt: skip
    assert texts == own
    assert texts.content() == own.content()
    assert "null_depth 4 against 3" in [comparison.label for comparison in texts.comparisons]


def test_larger_factorials_are_judged_by_their_effects() -> None:
    factors = {"killers": [0, 2], "history": [False, True], "tempo": [0, 10], "algorithm": ["alphabeta", "pvs"]}
    spec = read(factorial=[{"factors": factors, "fraction": 2}])
    assert len(spec.comparisons) == 7
    assert not any(comparison.is_question for comparison in spec.comparisons)
    assert spec.questions == len(spec.factorials[0].design.effects) == 7
    low = {comparison.reference for comparison in spec.comparisons}
    assert len(low) == 1


def test_features_are_added_to_a_bare_engine() -> None:
    spec = read(add_one_in=[{"features": ["null_move", "late_move_reductions"]}])
    for comparison, name in zip(spec.comparisons, ("null_move", "late_move_reductions"), strict=True):
        assert comparison.differences == (name,)
        assert dict(comparison.reference)["algorithm"] == "alphabeta"
        assert dict(comparison.variant)[name] is True


def test_what_could_decide_nothing_is_refused_with_what_could(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"pairs = 2 is too few for a verdict.*50 Elo"):
        read(pairs=2, leave_one_out=[{"features": ["null_move"]}])
    with pytest.raises(UserError, match=r"games = 3 is less than the first of 10 rounds, 4 games"):
        read(games=3, leave_one_out=[{"features": ["null_move"]}])


@pytest.mark.integration
def test_what_the_shortest_comparison_can_show_is_said_before_the_first_game(tmp_path: Path) -> None:
    features = [{"features": ["null_move"], "pairs": 40}, {"features": ["killers"]}]
    spec = read(pairs=200, margin=5.0, leave_one_out=features)
    plan = plan_of_run(prepare_ablation(spec), tmp_path, 1)
    difference, equivalence = plan.stages[0].reach
    assert (difference.pairs, difference.least_pairs) == (40, min_pairs(2, spec.rule))
    assert difference.elo == pytest.approx(detectable_elo(40, 2, spec.rule))
    assert not equivalence.is_possible, "not even if all games are drawn"
    one, other = plan.remarks()
    assert one.startswith("Warning: 40 pairs are few: they detect only a true difference of ")
    assert other.startswith("Warning: 40 pairs cannot show equivalence within 5 Elo")
    wide = replace(spec, rule=replace(spec.rule, margin_elo=equivalence.elo))
    (_, equivalence) = plan_of_run(prepare_ablation(wide), tmp_path, 1).stages[0].reach
    assert equivalence.is_likely
    assert equivalence.target_pairs == pytest.approx(40, abs=2)


# Nodes to depth


def test_depths_of_what_is_added_to_a_bare_engine_have_the_names_of_the_comparisons() -> None:
    spec = read(
        add_one_in=[{"features": ["null_move", "late_move_reductions"]}], leave_one_out=[{"features": ["history"]}]
    )
    cost = (DepthCost(9, ((1, 9, 2000),)),)
    settings = [row.setting for row in depths_of_settings(spec, [cost] * (2 * len(spec.comparisons)))]
    bare = "plain-alpha-beta"
    expected = ["history off", "default", f"{bare} with null_move", bare, f"{bare} with late_move_reductions"]
    assert sorted(settings) == sorted(expected)


def test_nodes_are_those_of_the_engine_and_measured_once(tmp_path: Path) -> None:
    openings = [Opening(line) for line in OPENINGS.splitlines()[:3]]
    changes = ({}, {"quiescence": False, "time_divisor": 9}, {"time_divisor": 9})
    sets = [resolve({"hash_mb": 1, **change}, game="xiangqi") for change in changes]
    with Store(tmp_path) as store:
        stop = StopFlag()
        costs = costs_to_depth(PositionSearches("xiangqi", store, 2, stop), sets, openings, 3)
        assert costs is not None
        stop.set()  # afterwards they can only be read
        assert costs_to_depth(PositionSearches("xiangqi", store, 1, stop), sets, openings, 3) == costs
        assert costs_to_depth(PositionSearches("xiangqi", store, 1, stop), sets, openings, 2) is None
    nodes = [[cost.nodes for cost in side] for side in costs]
    assert [iteration[0] for iteration in costs[0][0].iterations] == [1, 2, 3]
    assert nodes[0] == nodes[2] != nodes[1]  # a clock's parameters do not matter without a clock
    for values, found in zip(sets, nodes, strict=True):
        for opening, count in zip(openings, found, strict=True):
            engine = Engine("xiangqi", values)
            assert engine.search(engine.game.position(opening.position), Limits(depth=3)).nodes == count


def test_the_ratio_is_a_geometric_mean_with_its_interval() -> None:
    ratio = cost_ratio([200, 50, 100, 100], [100, 100, 100, 100])
    assert ratio.ratio == pytest.approx(1)
    deviation = math.sqrt(2 * math.log(2) ** 2 / 3 / 4)
    assert ratio.high == pytest.approx(math.exp(stats.t.ppf(0.975, 3) * deviation))
    assert ratio.low == pytest.approx(1 / ratio.high)
    assert cost_ratio([8], [2]).ratio == pytest.approx(4)
    assert math.isinf(cost_ratio([8], [2]).high)


@pytest.mark.usefixtures("without_tuning_charts")
def test_it_can_be_left_out(tmp_path: Path) -> None:
    path = write_ablation(tmp_path)
    path.write_text(path.read_text().replace("depth = 3", "depth = 0"))
    ended = run(path, tmp_path / "out", with_report=True)
    assert all(row.nodes_ratio is None for row in ended.rows)
    assert "not measured" in (tmp_path / "out" / "report.html").read_text()


# What is written and printed


def test_tables_and_reports_are_written(played: tuple[Path, Path, AblationResult]) -> None:
    _, out, ended = played
    rows = list(csv.DictReader((out / "ablation.csv").open()))
    assert [row["label"] for row in rows] == [row.label for row in ended.rows]
    assert rows[0].keys() == set(frame_of(ended.rows).columns)
    assert float(rows[2]["nodes_ratio"]) == 1
    assert {"", ended.spec.conditions.base_name} & {row["reference"] for row in rows} == {
        ended.spec.conditions.base_name
    }
    report = (out / "report.md").read_text()
    assert "| without quiescence |" in report
    assert figures_that_say_where_they_are_from(report, ended) == 2
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 2
    depths = list(csv.DictReader((out / "depths.csv").open()))
    assert {row["depth"] for row in depths} == {"1", "2", "3"}
    assert float(depths[2]["branching_factor"]) == pytest.approx(float(depths[2]["nodes"]) / float(depths[1]["nodes"]))
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert (out / "plots" / "forest.svg").read_bytes().startswith(b"<?xml")
    assert (out / "games.pgn").read_text().count("[Event ") == ended.games
    assert games_on(page) == [record.pairing.number for record in records_in(out)]


def games_on(page: str) -> list[int]:
    """The numbers of the games that a page can replay."""
    index = re.search(r'<script type="application/octet-stream" id="index">(.*?)</script>', page)
    assert index
    numbers: list[int] = json.loads(zlib.decompress(base64.b64decode(index.group(1))))["games"]["number"]
    return numbers


@pytest.mark.integration
def test_an_equivalence_takes_as_many_pairs_as_so_many_questions_do(played: tuple[Path, Path, AblationResult]) -> None:
    """Of four questions, by hand: 0.0125 two-sided, and 10 % of misses at each of the margins 5 Elo away."""
    _, _, ended = played
    assert (ended.spec.questions, ended.spec.rule.rounds) == (4, 1)
    level = NormalDist().inv_cdf(1 - 0.0125 / 2) + NormalDist().inv_cdf(0.9)
    pairs = math.ceil((level * 0.3 / (1 / (1 + 10 ** (-5 / 400)) - 0.5)) ** 2)
    told = next(str(section) for section in ablation_document(ended, "en").sections if section.name == "verdicts")
    assert f"(which takes about {pairs} pairs)" in told
    rows = (replace(ended.rows[0], verdict="equivalent"), *ended.rows[1:])
    told = str(ablation_document(replace(ended, rows=rows), "en").sections)
    assert "which takes about" not in told, "beside a comparison that took fewer"


@pytest.mark.integration
@pytest.mark.parametrize(("language", "said"), [("en", "equivalent"), ("zh", "等效")])
def test_without_a_margin_nothing_is_said_to_be_equivalent(
    played: tuple[Path, Path, AblationResult], language: str, said: str
) -> None:
    _, _, ended = played
    spec = replace(ended.spec, rule=replace(ended.spec.rule, margin_elo=0.0))
    for one, times in ((ended, 2), (replace(ended, spec=spec), 0)):
        sections = {section.name: str(section) for section in ablation_document(one, language).sections}
        told = sections["figure"] + sections["verdicts"]
        found = re.findall(rf"{said} within|{said} that it is|{said} means|为在 \S+ Elo 之内{said}|“{said}”表示", told)
        assert len(found) == times


def test_the_report_and_the_table_are_in_chinese_too(played: tuple[Path, Path, AblationResult], tmp_path: Path) -> None:
    _, _, ended = played
    page = write_ablation_report(replace(ended, directory=tmp_path), "zh").read_text("utf-8")
    text = (tmp_path / "report.md").read_text("utf-8")
    for said in ("消融实验报告", "等效", "期中分析", "对局对", f"--out {tmp_path} --language zh"):
        assert said in page
        assert said in text
    lines = ablation_text(ended.rows, ended.effects, "zh").splitlines()
    assert max(map(columns_of, lines)) <= 80
    heads, first = (next(line for line in lines if line.startswith(word)) for word in ("比较", "without"))
    assert columns_of(heads.partition("判定")[0]) == columns_of(first.partition("未定")[0])


def test_matches_of_a_factorial_have_its_own_number_of_pairs() -> None:
    spec = read(
        comparisons=[{"variant": {"killers": 0}, "reference": {"killers": 2}, "pairs": 24}],
        factorial=[{"factors": {"killers": [2, 0], "tempo": [0, 9]}, "pairs": 8}],
    )
    assert {spec.comparisons[place].pairs for place in spec.factorials[0].comparisons} == {8}


def test_the_text_fits_the_terminal_and_the_figure_bears_infinite_bounds() -> None:
    from elolab.tuning.reports.ablation_charts import forest_chart

    rows = [a_row(), a_row(elo=1234.5, elo_error=999.9, nodes_ratio=None), a_row(elo=0.0, elo_low=-3.0)]
    assert max(map(len, ablation_text(rows).splitlines())) <= 80
    assert forest_chart(rows, Catalogue(MESSAGES)).axes
    assert forest_chart(rows[:1], Catalogue(MESSAGES)).axes


@pytest.mark.usefixtures("without_tuning_charts")
def test_the_command_prints_the_table(
    played: tuple[Path, Path, AblationResult], capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, ended = played
    assert command_line.main(["ablate", str(path), "--out", str(out)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed[:-1])) <= 80
    assert printed[-2:] == [f"games digest: {ended.digest}", str(out / "report.html")]
    assert command_line.main(["ablate", str(path), "--out", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["label"] for row in data["comparisons"]] == [row.label for row in ended.rows]


def test_its_games_are_not_replayed_one_by_one(
    played: tuple[Path, Path, AblationResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(played[1])
    assert command_line.main(["replay", out, "0"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"elolab: {out}: holds a run of kind ablation, and only games of tournaments, matches and tests"
    )
    assert f"elolab watch {out} shows" in said
    assert said.count("\n") == 1
    for kind in ("tuning", "ablation", "claims", "evaluation fit"):
        with Store(tmp_path / kind) as store:
            store.record_metadata({KIND: kind, kind: {}})
        assert command_line.main(["replay", str(tmp_path / kind), "0"]) == 2
        assert f"holds a run of kind {kind}, and" in capsys.readouterr().err
        assert command_line.main(["report", str(tmp_path / kind), out, "--out", str(tmp_path / "both")]) == 2
        assert f"no tournament in it, but a run of kind {kind}" in capsys.readouterr().err


def test_a_dry_run_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command_line.main(["ablate", str(write_ablation(tmp_path)), "--out", str(tmp_path / "out"), "--dry-run"]) == 0
    )
    assert "at most 46 games" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_a_dry_run_says_that_the_folder_is_in_use(
    played: tuple[Path, Path, AblationResult], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ablate", str(played[0]), "--out", str(played[1]), "--dry-run", "--json"]
    with Store(played[1]):
        assert command_line.main(words) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["folder"] == str(played[1])
    assert f"elolab: {played[1]} is in use by another elolab (process {os.getpid()})" in shown.err


def test_a_dry_run_refuses_what_would_be_refused(
    played: tuple[Path, Path, AblationResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = played[0], tmp_path / "out"
    shutil.copytree(played[1], out)
    words = ["ablate", str(path), "--out", str(out)]
    assert command_line.main([*words, "--dry-run"]) == 0
    assert command_line.main([*words, "--dry-run", "--log", str(path)]) == 1
    assert "dialogues cannot be written there" in capsys.readouterr().err
    for changed in ({ENGINE_IDENTITY: "0123456789ab"}, {PROGRAMS: [[sys.executable, None, "another"]]}):
        with Store(out) as store:
            before = {name: store.metadata(name) for name in changed}
            store.record_metadata(changed)
        refusals = []
        for more in (["--dry-run"], []):
            capsys.readouterr()
            assert command_line.main([*words, *more]) == 2
            refusals.append(capsys.readouterr().err)
        assert refusals[0] == refusals[1].splitlines(keepends=True)[-1]
        with Store(out) as store:
            assert all(store.metadata(name) == value for name, value in changed.items()), "nothing was written"
            store.record_metadata(before)
    assert command_line.main([*words, "--dry-run"]) == 0


@pytest.mark.integration
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    path = write_ablation(tmp_path, pairs=8)
    path.write_text(path.read_text().replace("nodes=60", "nodes=5000"))
    command = [sys.executable, str(ROOT / "elolab"), "ablate", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / STORE_NAME).is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    while _count(tmp_path / "out") < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    words = r"elolab: interrupted: (1 game is|\d+ games are) stored; to resume: elolab ablate "
    assert re.match(words, error.splitlines()[-1])


@pytest.mark.integration
def test_positions_are_as_many_as_there_are_openings_in_the_longest_match() -> None:
    """For those are what is searched to a depth, of which the shorter comparison has its share too."""
    features = [{"features": ["null_move"]}, {"features": ["killers"], "pairs": 30}]
    for wanted, positions in ((50, 30), (10, 10)):
        spec = read(leave_one_out=features, nodes_to_depth={"depth": 2, "positions": wanted})
        assert [comparison.pairs for comparison in spec.comparisons] == [20, 30]
        assert len(prepare_ablation(spec).openings[:wanted]) == positions
        for comparison in spec.comparisons:
            row = row_of(spec, comparison, Pentanomial((1, 0, 1, 0, 0)), cost_ratio([2, 2], [1, 1]))
            assert (row.positions, row.depth, row.pairs) == (positions, 2, 2)
