"""Small studies of a few dozen games, and what tests ask of their runs."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord
from elolab.engine.engine import StopFlag
from elolab.tuning.reports.tuning_report import (
    write_tuning_report,
)
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.study_spec import MODELLING_SAMPLERS, PAIRED_SAMPLERS, load_tuning
from elolab.tuning.study.tuning_run import tune

ROOT = Path(__file__).parents[2]


def openings(count: int) -> str:
    """Legal positions, all different: the start with one cannon of each side elsewhere."""
    lines = []
    for red in range(9):
        for black in range(9):
            rows = ["rnbakabnr", "9", "1c5c1", "p1p1p1p1p", "9", "9", "P1P1P1P1P", "1C5C1", "9", "RNBAKABNR"]
            rows[7] = cannons(red).upper()
            rows[2] = cannons(black)
            if red != black or red in (1, 7):
                lines.append("/".join(rows) + " w - - 0 1")
    return "\n".join(dict.fromkeys(lines[:count])) + "\n"


def cannons(place: int) -> str:
    """A rank with two cannons: one on its square, the other one somewhere."""
    squares = ["1"] * 9
    squares[7 if place < 4 else 1] = "c"
    squares[place] = "c"
    text, empty = "", 0
    for square in squares:
        if square == "1":
            empty += 1
            continue
        text += (str(empty) if empty else "") + square
        empty = 0
    return text + (str(empty) if empty else "")


WEAK_BASE = '[set]\nhash_mb = 1\nevaluation = "material_chess"'


def write_study(folder: Path, extra: str = "", **changes: Any) -> Path:
    """A small study beside its openings."""
    (folder / "few.epd").write_text(openings(60))
    settings: dict[str, Any] = {
        "seed": 3,
        "limit": "nodes=60",
        "round_pairs": 4,
        "openings": "few.epd",
        "startup_trials": 2,
        "trials": 5,
        "parameters": ["null_depth", "lmr_base", "evaluation"],
    }
    games = changes.pop("games", 46)
    sampler = changes.get("sampler", "duel")
    del settings["trials" if sampler in PAIRED_SAMPLERS else "round_pairs"]
    if sampler not in MODELLING_SAMPLERS:
        del settings["startup_trials"]
    validation = {"kind": "sprt", **changes.pop("validation", {"maximum_pairs": 6, "slow": "off"})}
    lines = [f"{key} = {json.dumps(value)}" for key, value in {**settings, **changes}.items()]
    # A base so weak that even so few games show a gain: otherwise it would be recommended itself.
    lines += [f"budget = {{ games = {games} }}" if games else "", WEAK_BASE]
    lines += ["[adjudication]\nmaximum_plies = 50", "[validation]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in validation.items()]
    path = folder / "small.toml"
    path.write_text("\n".join(lines) + "\n" + extra)
    return path


def run(path: Path, out: Path, concurrency: int = 1, *, with_report: bool = False, **options: Any) -> StudyResult:
    """Tune; the figures of a report cost more than the games, so only those who look at it get one."""
    result = tune(load_tuning(path), out, concurrency=concurrency, stream=io.StringIO(), **options)
    if with_report:
        write_tuning_report(result)
    return result


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


def outline(study_result: StudyResult) -> Any:
    return study_result.rounds, study_result.digest, study_result.decision, study_result.verdicts


def sets_of(record: GameRecord) -> list[tuple[Any, ...]]:
    return [tuple(values) for values in record.detail["sets"]]


class CountingStop(StopFlag):
    """A stop flag that is set after being polled so many times."""

    def __init__(self, polls: int) -> None:
        super().__init__()
        self.left = polls

    def is_set(self) -> bool:
        self.left -= 1
        if self.left < 0:
            self.set()
        return super().is_set()


def external_study(folder: Path, dimensions: str, options: str = "") -> Path:
    """A study of the mock engine's options."""
    path = write_study(folder, extra=dimensions)
    command = json.dumps([sys.executable, "-I", "-S", str(ROOT / "tests" / "support" / "mock_engines.py"), "plain"])
    text = path.read_text().replace(WEAK_BASE, f"[engine]\ncommand = {command}\noptions = {{{options}}}")
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("parameters")) + "\n")
    return path


def count_games(out: Path, before: int) -> int:
    try:
        with Store(out, read_only=True) as store:
            return len(store)
    except Exception:  # the other process is making it
        return before
