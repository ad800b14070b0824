"""Search statistics of whole games: the same through both loops, stored with the game, and as tables and figures."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.executor import GameRunner
from elolab.arena.play.game import play_game
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import run
from elolab.arena.players.registry import make_player
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.arena.reports.write import Exports, export
from elolab.arena.statistics.search_tables import SearchStatisticsCounter, null_rows, player_row
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

START = game_named("xiangqi").start
SETTINGS = SearchStatisticsSettings(15, 2000)
SHORT = Adjudication(resign_score=600, resign_moves=3, maximum_plies=40)


def job_of(limit: str, search_statistics: SearchStatisticsSettings | None = SETTINGS) -> GameJob:
    first, second = (
        PlayerSpec(name, "builtin", Limits.parse(limit), parameters=tuple(resolve(parameters, game="xiangqi").items()))
        for name, parameters in (
            ("plain", {"null_min_depth": 2}),
            ("verified", {"null_min_depth": 2, "null_verify": "always", "null_verify_min_depth": 1}),
        )
    )
    opening = Opening(START, ("h2e2", "h9g7"))
    return GameJob("xiangqi", Rules(), SHORT, Pairing(0, 0, 0, 1, 0), first, second, opening, 1, search_statistics)


def compiled(job: GameJob) -> GameRecord:
    with GameRunner(1, StopFlag()) as runner:
        return next(runner.run([job]))


def without_times(data: Any) -> Any:
    """The counts alone: under limits without a clock, time is whatever the machine took."""
    if isinstance(data, dict):
        return {key: without_times(value) for key, value in data.items() if not key.endswith("_ns")}
    return data


@pytest.mark.parametrize("limit", ["nodes=1500", "clock=0.4+0.02,node_clock=20000"])
def test_both_loops_count_the_same(limit: str) -> None:
    job = job_of(limit)
    whole = compiled(job)
    players = [make_player(spec, "xiangqi", job.search_statistics) for spec in (job.first, job.second)]
    stepwise = play_game(job, (players[0], players[1]), StopFlag())
    assert whole.digest == stepwise.digest
    assert whole.search_statistics is not None
    assert stepwise.search_statistics is not None
    for one, other in zip(whole.search_statistics, stepwise.search_statistics, strict=True):
        assert one is not None
        assert other is not None
        if "node_clock" in limit:
            assert one == other
            assert {"soft_limit", "hard_limit"} & one["ends"].keys()
        one, other = without_times(one), without_times(other)
        for table, timed in (("ends", (2, 4, 5, 7, 8)), ("iterations", (2, 4))):
            for side in (one, other):
                side[table] = {
                    key: [value for place, value in enumerate(row) if place not in timed]
                    for key, row in side[table].items()
                }
        assert one == other
    plain, verified = whole.search_statistics
    assert plain is not None
    assert verified is not None
    assert plain["searches"] + verified["searches"] == len(whole.moves)
    assert plain["nodes"] == sum(move.nodes or 0 for move in whole.moves[::2])
    assert verified["counters"]["null_verified"] > plain["counters"]["null_verified"] == 0
    assert sum(row[4] for row in plain["null_by_depth"].values()) > 0


def test_a_game_does_not_depend_on_them() -> None:
    with_them, without = job_of("nodes=1500"), job_of("nodes=1500", None)
    assert with_them.key == without.key
    one, other = compiled(with_them), compiled(without)
    assert one.digest == other.digest
    assert one.search_statistics is not None
    assert other.search_statistics is None


SPECIFICATION: dict[str, Any] = {
    "name": "counted", "pairs": 2, "limit": "nodes=1500", "adjudication": {"maximum_plies": 30},
    "players": [
        {"preset": "default", "name": "first <one>"},
        {"preset": "default", "name": "second", "set": {"null_verify": "always", "null_verify_min_depth": 1}},
    ],
}  # fmt: skip


def specification(**changes: Any) -> TournamentSpec:
    return spec_from_mapping(SPECIFICATION | changes, "counted.toml")


def test_the_specification_switches_them_on() -> None:
    assert specification().search_statistics is None
    assert specification(search_statistics=False).search_statistics is None
    assert specification(search_statistics=True).search_statistics == SearchStatisticsSettings()
    chosen = specification(search_statistics={"null_cutoff_interval": 7})
    assert chosen.search_statistics == replace(SearchStatisticsSettings(), null_cutoff_interval=7)
    assert TournamentSpec.from_content(chosen.content()) == chosen
    old = chosen.content()
    old["instruments"] = old.pop("search_statistics")  # as older folders call it
    assert TournamentSpec.from_content(old) == chosen
    del old["instruments"]
    assert TournamentSpec.from_content(old) == specification()
    for wrong, words in (
        ({"interval": 3}, "unknown key 'interval'"),
        ({"null_cutoff_nodes": 0}, "null_cutoff_nodes = 0, expected"),
        ("yes", "search_statistics = 'yes', expected true, false or a table"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            specification(search_statistics=wrong)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as stream:
        return list(csv.DictReader(stream))


def written(spec: TournamentSpec, folder: Path) -> Exports:
    with Store(folder, read_only=True) as store:
        return export(spec, store)


@pytest.mark.integration
def test_a_tournament_writes_tables_figures_and_a_section(tmp_path: Path) -> None:
    counted, plain = tmp_path / "counted", tmp_path / "plain"
    spec = specification(search_statistics={"null_cutoff_interval": 50})
    with (tmp_path / "progress").open("w") as stream:
        run(spec, counted, concurrency=1, stream=stream)
        run(specification(), plain, concurrency=2, stream=stream)
    assert written(spec, counted).digest == written(specification(), plain).digest
    assert not list(plain.glob("instruments*"))
    assert "Search statistics" not in (plain / "report.html").read_text()
    with Store(counted, read_only=True) as store:
        records = store.records()
    names = [player.name for player in spec.players]
    counter = SearchStatisticsCounter(names)
    for record in records:
        counter.add(record)
    found = counter.sums()
    rows = rows_of(counted / "instruments.csv")
    assert [row["player"] for row in rows] == names
    for name, row in zip(names, rows, strict=True):
        moves = [move for game in records for move in game.moves[game.first != name :: 2]]
        assert int(row["games"]) == len(records)
        assert int(row["searches"]) == len(moves)
        assert int(row["nodes"]) == sum(move.nodes or 0 for move in moves)
        assert 0 < float(row["null_cutoffs_percent_of_tries"]) < 100
        assert int(row["null_cutoffs_sampled"]) > 0
    assert int(rows[0]["null_verifications"]) == 0 < int(rows[1]["null_verifications"])
    assert rows[0]["null_verifications_failed_percent"] == ""
    for by in ("material", "pieces", "depth"):
        table = rows_of(counted / f"instruments_null_by_{by}.csv")
        assert sum(int(row["tries"]) for row in table) == sum(
            total["counters"]["null_tries"] for total in found.totals.values()
        )
    depths = [row for row in rows_of(counted / "instruments_iterations.csv") if row["player"] == names[0]]
    assert [int(row["depth_plies"]) for row in depths] == list(range(1, len(depths) + 1))
    assert int(depths[0]["searches"]) == int(rows[0]["searches"])
    page = (counted / "report.html").read_text()
    for words in ("Search statistics", "Nodes to depth", "Null moves that failed", "node limit", "first &lt;one&gt;"):
        assert words in page
    assert "first <one>" not in page
    assert "## Search statistics" in (counted / "report.md").read_text()
    for name in ("nodes_to_depth", "null_failures"):
        assert (counted / "plots" / f"{name}.svg").stat().st_size > 5000


def test_rates_of_counts_made_by_hand() -> None:
    counters = dict.fromkeys(
        ("windows", "windows_missed", "fails_low", "fails_high", "researches", "reduced_researches", "null_tries",
         "null_cutoffs", "null_verified", "null_refuted", "mate_threats", "alternations", "mtdf_passes", "table_probes",
         "table_hits", "table_cutoffs", "cutoffs", "first_move_cutoffs"), 0,
    )  # fmt: skip
    counters |= {"windows": 8, "windows_missed": 2, "cutoffs": 50, "first_move_cutoffs": 40, "null_tries": 10}
    total = {
        "searches": 4, "nodes": 2000, "time_ns": 8_000_000, "mate_at_two": 3, "mate_at_null_depth": 1,
        "last_iteration_nodes": 1200, "last_iteration_ns": 1, "after_iteration_nodes": 100,
        "after_iteration_ns": 2_000_000, "after_result_nodes": 500, "after_result_ns": 4_000_000,
        "counters": counters,
        "ends": {
            "soft_limit": [3, 1500, 6, 3, 600, 1000, 3, 600, 2000], "hard_limit": [1, 500, 2, 1, 900, 500, 1, 900, 900],
        },
        "iterations": {"1": [4, 100, 4, 100, 4, 0], "2": [4, 300, 4, 400, 8, 100], "3": [2, 500, 4, 700, 12, 150]},
        "null_by_material": {"900": [6, 3, 2, 1, 4, 1, 2], "1200": [4, 2, 0, 0, 0, 0, 0]},
        "null_by_pieces": {}, "null_by_depth": {"2": [10, 5, 2, 1, 4, 1, 2]},
    }  # fmt: skip
    row = player_row("A", total, 2)
    expected = {
        "nodes_per_search": 500, "time_per_search_ms": 2, "iterations_per_search": 2.5, "branching_factor": 800 / 250,
        "last_iteration_nodes_percent": 60, "aspiration_windows_held_percent": 75, "cutoffs_by_first_move_percent": 80,
        "null_verifications_failed_percent": None, "null_cutoffs_wrong_percent_of_decided": 50,
        "after_last_iteration_nodes_percent": 5, "after_last_iteration_time_percent": 25,
        "after_last_result_ms_per_search": 1, "time_used_percent_of_proper": 100, "soft_stops_percent_of_both": 75,
        "mate_scores_at_offset_2": 3, "mate_scores_at_offset_null_depth": 1,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    low, high = null_rows("A", total, "material")
    assert (low["own_material_from_centipawns"], high["own_material_from_centipawns"]) == (900, 1200)
    assert (low["refuted_percent_of_verified"], high["refuted_percent_of_verified"]) == (50, None)
    assert (low["cutoffs_percent_of_tries"], low["wrong_percent_of_decided"]) == (50, 50)
