"""Ablations of external engines: games, verdicts, speeds, any concurrency, any stop."""

from __future__ import annotations

import io
import math
import shlex
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.records import GameRecord
from elolab.arena.run import RunError
from elolab.engine.engine import StopFlag
from elolab.tuning.ablation.ablation_run import AblationResult, ablate, plan_of_run, prepare_ablation
from elolab.tuning.ablation.ablation_spec import AblationSpec, ablation_from_mapping
from elolab.tuning.ablation.comparison_verdicts import WORSE
from elolab.tuning.reports.ablation_report import ablation_data, ablation_text, write_ablation_report

MOCK_ENGINES = str(Path(__file__).parents[2] / "support" / "mock_engines.py")
OPENINGS = """\
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C4NC1/9/RNBAKAB1R b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2B2C1/9/RN1AKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/6P2/P1P1P3P/1C5C1/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C3C3/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C1C5/9/RNBAKABNR b - - 0 1
"""
PAIRS = 8


def suite_in(folder: Path) -> str:
    """Openings in which the mock engines' rooks can move."""
    suite = folder / "twelve.epd"
    suite.write_text("\n".join([*OPENINGS.splitlines(), *OPENINGS.replace(" b - ", " w - ").splitlines()]))
    return str(suite)


def spec_in(folder: Path) -> AblationSpec:
    """The mock engine against itself with another hash table, and with a mode in which it moves illegally."""
    return ablation_from_mapping(
        {
            "limit": "nodes=100",
            "pairs": PAIRS,
            "rounds": 1,
            "openings": suite_in(folder),
            "opening_part": "all",
            "stop_after_faults": 0,
            "adjudication": {"maximum_plies": 12},
            "engine": {"name": "mock", "command": [sys.executable, "-I", "-S", MOCK_ENGINES, "{mode}"]},
            "set": {"mode": "plain"},
            "values": [{"option": "mode", "values": ["illegal"]}, {"option": "Hash", "values": [64]}],
        },
        str(folder / "mock.toml"),
    )


def run(spec: AblationSpec, out: Path, **options: Any) -> AblationResult:
    return ablate(spec, out, stream=io.StringIO(), **{"concurrency": 2, **options})


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


class StopAfter(StopFlag):
    """A stop flag that is set once so many games are stored."""

    def __init__(self, records: int, store: Path) -> None:
        super().__init__()
        self._records, self._store = records, store

    def is_set(self) -> bool:
        if (self._store / STORE_NAME).is_file() and len(records_in(self._store)) >= self._records:
            self.set()
        return super().is_set()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, AblationResult]:
    """The folder in which ``spec_in`` lies, and the ablation's end."""
    folder = tmp_path_factory.mktemp("external")
    return folder, run(spec_in(folder), folder / "out")


@pytest.mark.integration
def test_an_engine_that_loses_every_game_is_worse(played: tuple[Path, AblationResult]) -> None:
    _, result = played
    illegal, hash_size = result.rows
    assert (illegal.LL, illegal.LD, illegal.even, illegal.WD, illegal.WW) == (PAIRS, 0, 0, 0, 0)
    assert illegal.verdict == WORSE
    assert (hash_size.even, hash_size.verdict != WORSE) == (PAIRS, True)


@pytest.mark.integration
def test_no_time_is_told_before_its_games(played: tuple[Path, AblationResult]) -> None:
    folder, _ = played
    plan = prepare_ablation(spec_in(folder))
    assert plan_of_run(plan, folder / "none", 1).data()["unknown_speed"] == ["mock"]
    assert plan_of_run(plan, folder / "out", 1).seconds is not None


@pytest.mark.integration
def test_games_forfeited_by_faults_are_told(played: tuple[Path, AblationResult]) -> None:
    _, result = played
    (fault,) = result.faults
    assert (fault.player, fault.reason, fault.games) == ("mode illegal", "illegal_move", 2 * PAIRS)
    assert result.exit_code == 1
    assert replace(result, interrupted=True).exit_code == 130
    page = write_ablation_report(result).with_name("report.md").read_text("utf-8")
    assert f"mode illegal lost {2 * PAIRS} games by an illegal move" in page
    assert ablation_data(result, Path())["faults"] == [fault.data]


@pytest.mark.integration
def test_speeds_are_means_of_what_the_engines_told(played: tuple[Path, AblationResult]) -> None:
    folder, result = played
    told: dict[str, list[Any]] = defaultdict(list)
    for record in records_in(folder / "out"):
        if "Hash 64" not in (record.first, record.second):
            continue
        starts_red = record.opening.position.split()[1] != "b"
        for place, move in enumerate(record.moves, len(record.opening.moves)):
            mover_is_first = (place % 2 == 0) == starts_red
            told[record.first if mover_is_first else record.second].append(move)
    (row,) = (row for row in result.speeds if row.label == "Hash 64 against default")
    reference = next(name for name in told if name != "Hash 64")
    for moves, depth, nodes, time_ms in (
        (told["Hash 64"], row.depth, row.nodes, row.time_ms),
        (told[reference], row.reference_depth, row.reference_nodes, row.reference_time_ms),
    ):
        assert depth == pytest.approx(sum(move.depth for move in moves) / len(moves))
        assert nodes == pytest.approx(sum(move.nodes for move in moves) / len(moves))
        assert time_ms == pytest.approx(sum(move.time_ms for move in moves) / len(moves), abs=0.01)


@pytest.mark.integration
def test_the_table_is_the_same_at_any_concurrency_and_after_any_stop(
    played: tuple[Path, AblationResult], tmp_path: Path
) -> None:
    folder, whole = played
    stopped = run(spec_in(folder), tmp_path / "out", concurrency=1, stop=StopAfter(records=7, store=tmp_path / "out"))
    assert stopped.exit_code == 130
    assert 7 <= len(records_in(tmp_path / "out")) < len(records_in(folder / "out"))
    result = run(spec_in(folder), tmp_path / "out", concurrency=1)
    assert result.rows == whole.rows
    assert len(records_in(tmp_path / "out")) == len(records_in(folder / "out"))


@pytest.mark.integration
def test_a_folder_is_reported_on_without_the_engine(
    played: tuple[Path, AblationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, whole = played
    monkeypatch.setattr("elolab.tuning.engine_check.make_player", None)
    assert run(spec_in(folder), folder / "out").rows == whole.rows


@pytest.mark.integration
def test_a_build_that_has_played_is_not_mixed_with_the_next_one(tmp_path: Path) -> None:
    for name in ("old", "new"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-S', MOCK_ENGINES, 'plain'])}\n")
        program.chmod(0o755)
    spec = ablation_from_mapping(
        {
            "limit": "nodes=100",
            "pairs": PAIRS,
            "rounds": 1,
            "openings": suite_in(tmp_path),
            "opening_part": "all",
            "adjudication": {"maximum_plies": 12},
            "engine": {"directory": str(tmp_path)},
            "builds": {name: f"./{name}" for name in ("old", "new")},
        },
        str(tmp_path / "builds.toml"),
    )
    played = run(spec, tmp_path / "out")
    with (tmp_path / "new").open("a") as file:
        file.write("# the next build\n")
    with pytest.raises(RunError, match=r"out: the program './new' has changed .* --accept-engine-change"):
        run(spec, tmp_path / "out")
    assert run(spec, tmp_path / "out", accept_engine_change=True).rows == played.rows
    assert run(spec, tmp_path / "out").rows == played.rows, "that was accepted"


@pytest.mark.integration
@pytest.mark.parametrize(("language", "engine"), [("en", "Engine"), ("zh", "引擎")])
def test_the_report_names_program_settings_and_arbiter(
    played: tuple[Path, AblationResult], language: str, engine: str
) -> None:
    folder, result = played
    page = (write_ablation_report(result, language).parent / "report.md").read_text("utf-8")
    (line,) = (line for line in page.splitlines() if MOCK_ENGINES in line and line.startswith("- "))
    assert engine in line
    assert "{mode}" in line
    assert "'{mode}'" not in line
    assert (folder / "out" / "speeds.csv").is_file()
    text = ablation_text(result.rows, result.effects, language, result.speeds)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.integration
@pytest.mark.parametrize(("protocol", "option", "line"), [
    ("ucci", "hashsize", "setoption hashsize 7"),
    ("xboard", "Contempt", "option Contempt=7"),
])  # fmt: skip
def test_engines_over_other_protocols_are_told_of_each_sides_options(
    tmp_path: Path, protocol: str, option: str, line: str
) -> None:
    program = str(Path(MOCK_ENGINES).with_name("mock_xiangqi_engines.py"))
    command = [sys.executable, "-I", "-S", program, "plain", f"protocol={protocol}", f"file={tmp_path}/{{side}}"]
    spec = ablation_from_mapping(
        {
            "limit": "depth=2",
            "pairs": PAIRS,
            "rounds": 1,
            "openings": suite_in(tmp_path),
            "opening_part": "all",
            "adjudication": {"maximum_plies": 12},
            "engine": {"protocol": protocol, "command": command},
            "set": {"side": "reference"},
            "comparisons": [{"variant": {"side": "variant", option: 7}}],
        },
        str(tmp_path / "mock.toml"),
    )
    result = run(spec, tmp_path / "out", concurrency=1)
    assert result.rows[0].pairs == PAIRS
    told = {side: (tmp_path / side).read_text().splitlines() for side in ("variant", "reference")}
    assert all(any(words.startswith("go") for words in lines) for lines in told.values())
    assert [side for side, lines in told.items() if line in lines] == ["variant"]


@pytest.mark.integration
def test_levels_of_rhino_over_gtp(tmp_path: Path) -> None:
    try:
        find_program(("gtp-rhino",), None)
    except PlayerFault:
        pytest.skip("gtp-rhino is not installed (Debian's package grhino)")
    spec = ablation_from_mapping(
        {
            "game": "othello",
            "limit": "own",
            "pairs": 7,
            "rounds": 1,
            "engine": {"protocol": "gtp", "command": "gtp-rhino --level {level}", "gtp_passes": "omit"},
            "set": {"level": 2},
            "values": [{"option": "level", "values": [1]}],
        },
        str(tmp_path / "rhino.toml"),
    )
    result = run(spec, tmp_path / "out")
    (row,), (speed,) = result.rows, result.speeds
    assert row.elo < 0
    assert speed.nodes is None
    assert speed.time_ratio is not None
    assert math.isfinite(speed.time_ratio)
    assert "time" in ablation_text(result.rows, (), "en", result.speeds)
