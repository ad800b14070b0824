"""The report of every kind of run, written again from its folder alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from elolab import command_line
from tests.support.interrupted_runs import KINDS

NAMES = ("sprt", "tune", "claims", "fit-evaluation")
MORE_NAMES = ("match", "swiss")


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")  # those of the sequential test are drawn
@pytest.mark.parametrize(
    "name",
    [
        "ablate",
        *NAMES,
        *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_NAMES),
    ],
)
def test_a_report_is_written_again_from_a_copy_without_the_specification(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, out = KINDS[name], Path("out")
    monkeypatch.chdir(tmp_path)
    kind.prepare(tmp_path)
    # 1 where the scripted program, which knows a few moves only, forfeits games.
    assert command_line.main(kind.command(out)) in ((0, 1) if name in MORE_NAMES else (0, 3))
    printed = capsys.readouterr().out.splitlines()
    shutil.move(out, "copy")
    for path in tmp_path.glob("*.toml"):
        path.unlink()
    written = Path("copy/report.html")
    written.unlink()
    assert command_line.main(["report", "copy"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert again[-1] == str(written)
    assert written.is_file()
    kept = [line.replace("out/", "copy/") for line in printed if not line.startswith("elolab wrote the weights to")]
    assert again == kept
    # Into another folder, because nobody may write into the run's: the same, and nothing into that.
    page, before = written.read_bytes(), sorted(Path("copy").rglob("*"))
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "copy")
    written.unlink()
    assert command_line.main(["report", "copy"]) == 2
    assert capsys.readouterr().err == "elolab: copy: cannot write there; give another folder with --out\n"
    assert command_line.main(["report", "copy", "--out", "elsewhere/report"]) == 0
    assert capsys.readouterr().out.splitlines() == [*again[:-1], "elsewhere/report/report.html"]
    assert Path("elsewhere/report/report.html").read_bytes() == page
    assert sorted([*Path("copy").rglob("*"), written]) == before
    assert command_line.main(["report", "copy", "--out", shutil.copytree("copy", "other run")]) == 2


def test_a_folder_without_a_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("no run in it") == 1
