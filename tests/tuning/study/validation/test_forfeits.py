"""A gain over an engine that crashes is confirmed, but no clean success; the games that it forfeited are told."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from elolab import command_line
from elolab.tuning.reports.tuning_report import tuning_data
from elolab.tuning.stored_results import result_in

MOCK_ENGINES = Path(__file__).parents[3] / "support" / "mock_engines.py"


def write_study(folder: Path) -> Path:
    """A base that crashes at its first move, against a build that does not."""
    suite = folder / "openings.epd"
    rows = ["rnbakabnr", "9", "{}c{}", "p1p1p1p1p", "9", "9", "P1P1P1P1P", "{}C{}", "9", "RNBAKABNR"]
    places = [(str(place), str(8 - place)) for place in range(1, 8)]  # of one cannon a side
    positions = ("/".join(rows).format(*black, *red) for black in places for red in places)
    suite.write_text("".join(f"{position} w - - 0 1\n" for position in positions))
    mock = f"{sys.executable} -I -S {MOCK_ENGINES}"
    path = folder / "crashing.toml"
    path.write_text(
        f"""
        game = "xiangqi"
        limit = "nodes=100"
        budget = {{ games = 46 }}
        round_pairs = 7
        stop_after_faults = 0
        openings = {json.dumps(str(suite))}
        [adjudication]
        maximum_plies = 12
        [builds]
        crashing = {json.dumps(f"{mock} exit")}
        sound = {json.dumps(f"{mock} plain")}
        [dimensions]
        build = {{ default = "crashing", choices = ["crashing", "sound"] }}
        [validation]
        elo_upper = 200
        slow = "off"
        """
    )
    return path


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_the_exit_code_is_one_and_the_faults_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write_study(tmp_path), tmp_path / "out"
    assert command_line.main(["tune", str(path), "--out", str(out)]) == 1
    printed = capsys.readouterr()
    result = result_in(out)
    (fault,) = result.faults
    assert (fault.player, fault.reason, fault.games) == ("build crashing", "crash", result.games)
    assert f"players lost {result.games} games by faults" in printed.err.splitlines()[-1]
    assert printed.err.splitlines()[-1].endswith("exit code 1")
    told = f"build crashing lost {result.games} games by a crash (the first: game 0)"
    assert told in printed.out.replace("\n", " ")
    for name in ("report.md", "report.html"):
        assert told in (out / name).read_text("utf-8")
    assert tuning_data(result, out)["faults"] == [fault.data]

    assert command_line.main(["validate", str(out), "--json"]) == 1
    printed = capsys.readouterr()
    games = 2 * json.loads(printed.out)["pairs"]
    assert json.loads(printed.out)["faults"][0]["games"] == games
    assert f"{games} games by faults" in printed.err
    assert replace(result, verdicts=()).exit_code == 3  # a gain that is not confirmed is no other case for faults
    assert replace(result, faults=()).exit_code == 0
    assert command_line.main(["report", str(out)]) == 0
    assert told in capsys.readouterr().out.replace("\n", " ")
