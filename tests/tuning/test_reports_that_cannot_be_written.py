"""A report that cannot be written costs nobody the outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.command_line import main


@pytest.mark.integration
def test_the_outcome_is_printed_and_then_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.html").mkdir()
    arguments = ["--game", "othello", "--games", "20", "--limit", "nodes=20", "--iterations", "1"]
    arguments += ["--match-pairs", "0", "--patterns", "off"]
    assert main(["fit-evaluation", *arguments, "--out", str(tmp_path)]) == 1
    out, errors = capsys.readouterr()
    assert "games digest: " in out
    assert "report.html" not in out
    assert f"{tmp_path}/report.html" in errors.splitlines()[-1]
    assert "give the same command again; the games are stored" in errors.splitlines()[-1]
    (tmp_path / "report.html").rmdir()
    assert main(["fit-evaluation", *arguments, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").is_file()
