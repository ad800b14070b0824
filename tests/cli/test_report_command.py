"""``elolab report``: the short summary that a CI job shows, and what its JSON says about reports of players."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.reports.document import Document, Heading, Section, latex_tables, table_of
from tests.support.small_tournaments import play, write_spec


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("match")
    play(write_spec(folder, players=2, pairs=1, extra='format = "match"'), folder / "run")
    return folder / "run"


@pytest.mark.usefixtures("without_charts")
def test_the_summary_is_markdown_that_needs_no_other_file(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["report", str(run), "--markdown"]) == 0
    text = capsys.readouterr().out
    assert text == (run / "summary.md").read_text("utf-8")
    assert text.startswith("## cup\n")
    assert "    LOS " in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert {row.count("|") for row in rows} == {rows[0].count("|")}
    assert "player 1" in rows[2] + rows[3]
    assert "![" not in text


@pytest.mark.usefixtures("without_charts")
def test_a_joint_report_has_a_summary_too(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(write_spec(tmp_path, players=2, pairs=2), tmp_path / "other")
    words = ["report", str(run), str(tmp_path / "other"), "--out", str(tmp_path / "joint"), "--markdown"]
    assert command_line.main([*words, "--language", "zh"]) == 0
    assert "选手" in capsys.readouterr().out


@pytest.mark.usefixtures("without_charts")
def test_json_counts_what_players_reported(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["report", str(run), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["variations"]
    assert {entry["player"] for entry in found} == {"player 0", "player 1"}
    assert all(entry["moves"] > 0 and entry["lines"] == 0 for entry in found)


def test_two_forms_of_output_are_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["report", str(run), "--markdown", "--json"]) == 2
    assert "give one of them" in capsys.readouterr().err


@pytest.mark.usefixtures("without_charts")
def test_tables_for_latex_are_written_on_request_and_then_kept_up_to_date(run: Path) -> None:
    assert not (run / "tables.tex").exists()
    assert command_line.main(["report", str(run), "--latex"]) == 0
    text = (run / "tables.tex").read_text("utf-8")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == text.count(r"\toprule") > 3
    assert r"hash\_mb = 1" in text
    assert "longtable}" not in text.partition("\n\n")[2]
    (run / "tables.tex").write_text("old")
    assert command_line.main(["report", str(run)]) == 0
    assert (run / "tables.tex").read_text("utf-8") == text


def test_signs_of_latex_are_escaped() -> None:
    table = table_of(["player", "Elo \N{PLUS-MINUS SIGN}"], [[r"a_b & {c} 5% #1 \d >|", "\N{MINUS SIGN}3.0"]], [1])
    text = latex_tables(Document("cup", "", "", (Section("one", "One", (Heading("Its head"), table)),)))
    assert r"\caption{Its head}" in text
    assert r"\label{tab:one-1}" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"a\_b \& \{c\} 5\% \#1 \textbackslash{}d $>$$|$ & $-$3.0 \\" in text
    assert r"player & Elo $\pm$ \\" in text


@pytest.mark.parametrize("meaning", ["a long meaning of many words " * 9, "由许多汉字写成的很长的含义" * 9])
def test_the_widest_column_of_a_table_for_latex_has_lines_that_break(meaning: str) -> None:
    table = table_of(["Parameter", "Meaning", "Recommended"], [["late_move_pruning", meaning, "4"]], [2])
    text = latex_tables(Document("cup", "", "", (Section("one", "One", (table,)),)))
    columns = re.search(r"\\begin\{tabular\}\{l>\{\\raggedright\\arraybackslash\}p\{([\d.]+)em\}r\}", text)
    assert columns
    em_of_line = 345 / 8.5  # of a line in the class article, in points, and of \footnotesize
    assert 15 < float(columns[1]) < em_of_line - 0.53 * len("late_move_pruning" + "Recommended")


def test_a_table_for_latex_that_is_longer_than_a_page_breaks_between_rows() -> None:
    table = table_of(["player", "Elo", ""], [[f"player {number}", "1 2 3 4 5", ""] for number in range(60)], [1])
    text = latex_tables(Document("cup", "", "", (Section("one", "One", (table,)),)))
    assert r"\begin{table}" not in text
    assert text.count(r"\begin{longtable}{lrl}") == text.count(r"\end{longtable}") == 1
    assert text.count("player & Elo & ") == 2, "on every page"
    assert text.index(r"\endhead") < text.index("player 0 ") < text.index("player 59 ")


def test_numbers_of_a_table_for_latex_break_last_and_the_rest_is_scaled() -> None:
    heads = [f"title {number} of several words" for number in range(4)]
    text = latex_tables(
        Document("cup", "", "", (Section("one", "One", (table_of(heads, [["+1217.4 ± 730.3"] * 4], range(4)),)),))
    )
    assert "{adjustbox}" not in text
    assert text.count("730.3") == 4
    assert all(float(width) >= 0.53 * len("+1217.4 ± 730.3") for width in re.findall(r"p\{([\d.]+)em\}", text))
    long = [["limit=clock=4+0.04,node_clock=100000"] * 12]
    text = latex_tables(Document("cup", "", "", (Section("one", "One", (table_of(["limit"] * 12, long, []),)),)))
    assert r"limit=\allowbreak{}clock=\allowbreak{}4+0.04,\allowbreak{}node\_\allowbreak{}clock" in text
    assert "{adjustbox}{max width=\\linewidth, max totalheight=0.9\\textheight}\n\\begin{tabular}" in text
    assert "\\end{tabular}\n\\end{adjustbox}\n" in text
