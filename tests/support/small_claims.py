"""A small table of claims, with every kind of measure, for tests: seconds of searches and games; and runs of it."""

from __future__ import annotations

import gzip
import io
import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from elolab.engine.settings.configuration import find_config
from elolab.tuning.claims.claims_results import ClaimsResult
from elolab.tuning.claims.claims_run import run_claims
from elolab.tuning.claims.claims_spec import load_claims

SMALL = """\
game = "xiangqi"
seed = 3

[adjudication]
maximum_plies = 30

[budgets.quick]
pairs = 8
rounds = 2
positions = 4

[budgets.quick.limits]
play = "nodes=40"
long = "nodes=60"
shallow = { then = "depth=1", now = "depth=2" }
deep = { then = "depth=2", now = "depth=3" }
mate = "depth=4"
clock = "clock=0.3+0.01,node_clock=4000"

[[claims]]
id = "C20"
claim = "Deeper is stronger."
claim_zh = "搜得越深越强。"
source = "OT"
basis = "c"
then = "xqwlight-0.3"

[[claims.parts]]
id = "C20a"
claim = "One ply more is stronger."
claim_zh = "多一层更强。"
expect = "better"
margin = 10
limits = ["depth=2"]
reference_limits = ["depth=1"]

[[claims.parts]]
id = "C20b"
claim = "The interaction of two settings."
claim_zh = "两个设置的交互作用。"
kind = "interaction"
factors = { aspiration = ["off", "full"], algorithm = ["alphabeta", "pvs"] }
limits = ["play"]
not_then = "The text knows neither."
not_then_zh = "原文两者皆无。"

[[claims]]
id = "C1"
claim = "Windows save effort."
claim_zh = "窗口节省工作量。"
source = "AW"
basis = "c"
then = "moreland"

[[claims.parts]]
id = "C1a"
claim = "They save nodes."
claim_zh = "节省节点。"
kind = "nodes"
expect = "less"
set = { algorithm = "alphabeta" }
variant = { aspiration = "full" }
reference = { aspiration = "off" }

[[claims.parts]]
id = "C1b"
claim = "Few are missed."
claim_zh = "很少失败。"
kind = "share"
expect = "below"
threshold = 50
of = "windows_missed"
variant = { aspiration = "full" }
limits = ["deep"]

[[claims.parts]]
id = "C1c"
claim = "A mate found stays."
claim_zh = "杀棋不变。"
kind = "mates"
expect = "same"
suite = "last"
limits = ["mate"]
not_then = "no"
not_then_zh = "无"
"""


OPENINGS = Path(__file__).parents[2] / "configs" / "openings" / "xiangqi.epd.gz"


@cache
def few_openings() -> str:
    """Some of the shipped ones, for all of them take longer to read than the games do."""
    with gzip.open(OPENINGS, "rt", encoding="utf-8") as file:
        return "".join(islice(file, 40))


def write_claims(folder: Path, *changes: tuple[str, str]) -> Path:
    (folder / "few.epd").write_text(few_openings(), "utf-8")
    text = SMALL.replace("seed = 3", 'seed = 3\nopenings = "few.epd"')
    for change in changes:
        assert change[0] in text
        text = text.replace(*change, 1)
    path = folder / "mine.toml"
    path.write_text(text, "utf-8")
    return path


def change_weights(folder: Path) -> None:
    """Let other evaluation weights have the name of the shipped ones where that is the current folder."""
    weights = folder / "configs" / "weights" / "xiangqi.toml"
    weights.parent.mkdir(parents=True)
    shipped = find_config("weights", "xiangqi").read_text("utf-8")
    weights.write_text(re.sub(r"(phases = \[\s+\[\s*)\d+", r"\g<1>77", shipped), "utf-8")


def run(path: Path, out: Path, only: tuple[str, ...] = (), **options: Any) -> ClaimsResult:
    return run_claims(load_claims(path, "quick", only), out, stream=io.StringIO(), **options)


def figures(ended: ClaimsResult) -> Any:
    return [(result.verdicts, result.rows) for result in ended.results]


def draw_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """To draw them takes longer than the games."""
    monkeypatch.setattr("elolab.tuning.reports.claims_report.claim_chart", lambda *arguments: None)
    monkeypatch.setattr("elolab.tuning.reports.claims_report._summary_plot", lambda *arguments: ())
