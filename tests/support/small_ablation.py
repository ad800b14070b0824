"""A small ablation for tests: seconds of searches and games; and runs of it."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord
from elolab.tuning.ablation.ablation_run import AblationResult, ablate
from elolab.tuning.ablation.ablation_spec import AblationSpec, ablation_from_mapping, load_ablation
from elolab.tuning.ablation.rows import AblationRow
from elolab.tuning.reports.ablation_report import write_ablation_report

OPENINGS = """\
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C4NC1/9/RNBAKAB1R b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2B2C1/9/RN1AKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/6P2/P1P1P3P/1C5C1/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C3C3/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C1C5/9/RNBAKABNR b - - 0 1
"""
SMALL = """\
seed = 5
limit = "nodes=60"
pairs = {pairs}
rounds = 1
openings = "twelve.epd"

[set]
hash_mb = 1

[adjudication]
maximum_plies = 50

[nodes_to_depth]
depth = 3
positions = 3

[[leave_one_out]]
features = ["quiescence", "null_move"]

[[values]]
parameter = "time_divisor"
values = [5]
limit = "clock=0.5+0.01,node_clock=10000"
pairs = 2

[[comparisons]]
label = "material only, under alpha-beta"
variant = {{ algorithm = "alphabeta", evaluation = "material" }}
reference = {{ algorithm = "alphabeta" }}
"""
MINIMAL: dict[str, Any] = {"limit": "nodes=100", "pairs": 20}


def write_openings(folder: Path) -> None:
    other = OPENINGS.replace(" b - ", " w - ").splitlines()
    (folder / "twelve.epd").write_text("\n".join([*OPENINGS.splitlines(), *other]))


def write_ablation(folder: Path, pairs: int = 7, extra: str = "") -> Path:
    write_openings(folder)
    path = folder / "parts.toml"
    path.write_text(SMALL.format(pairs=pairs) + extra)
    return path


def run(path: Path, out: Path, concurrency: int = 1, *, with_report: bool = False, **options: Any) -> AblationResult:
    result = ablate(load_ablation(path), out, concurrency=concurrency, stream=io.StringIO(), **options)
    if with_report:
        write_ablation_report(result, "en")
    return result


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


def read(**changes: Any) -> AblationSpec:
    return ablation_from_mapping({**MINIMAL, **changes}, "parts.toml")


def a_row(**changes: Any) -> AblationRow:
    values: dict[str, Any] = {
        "label": "x" * 60, "group": "values", "variant": "", "reference": "", "limit": "nodes=1", "elo": -math.inf,
        "elo_error": math.inf, "elo_low": -math.inf, "elo_high": 12.0, "los": 0.0, "verdict": "worse",
        "simultaneous_low": -math.inf, "simultaneous_high": 20.0, "games_needed": None, "pairs": 10_000,
        "games": 20_000, "LL": 1, "LD": 0, "even": 0, "WD": 0, "WW": 0, "nodes_ratio": 123.456, "nodes_ratio_low": 1.0,
        "nodes_ratio_high": 200.0, "depth": 12, "positions": 3,
    }  # fmt: skip
    return AblationRow(**{**values, **changes})
