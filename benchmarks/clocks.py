"""Counts losses on time by the wall clock, in games of ``elolab tournament`` on all processors with the margin 0.

First ``default`` plays itself at 1 s + 0.01 s. Then every preset whose time strategy reads the clock plays a match
against another one at 0.5 s + 0.005 s. Then presets with a fixed or a minimum time (``fixed``, ``min_time``) play with
a time per move, and their overruns are measured.

A loss counts as *not running* if the processor time of the late move was within the clock's remaining time. Such a move
would have been in time if the system had let the process run. These losses are counted separately, and every loss is
printed with its times. Games end by the usual adjudication, in which both sides agree on a lost or level score. This
shortens most endgames.

    python benchmarks/clocks.py [games [preset_games]] [--concurrency N] [--skip default presets fixed]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord
from elolab.engine.settings.configuration import available_configs, find_config, read_toml
from elolab.engine.settings.parameters import resolve
from elolab.engine.settings.presets import load_preset

CLOCK = "clock=1+0.01"
PRESET_CLOCK = "clock=0.5+0.005"
MOVE_TIME_MS = 20
TIMED_STRATEGIES = ("fixed", "min_time")
"""Time strategies that have their own time per move and do not read the clock."""


def strategy_of(preset: str) -> str:
    """Name of a preset's time strategy."""
    return str(resolve(load_preset(preset, "xiangqi"), game="xiangqi")["time_strategy"])


def play(
    name: str, limit: str, presets: Sequence[str], games: int, concurrency: int, margin: float = 0
) -> list[GameRecord]:
    """Play a match between two presets, or of one against itself, with a ``margin`` in seconds; return its games."""
    players = "".join(f'[[players]]\nname = "{number}: {preset}"\npreset = "{preset}"\nmargin = {margin}\n'
                      for number, preset in enumerate(presets))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.toml"
        file.write_text(
            f'name = "{name}"\npairs = {max(1, games // 2)}\nlimit = "{limit}"\nstop_after_faults = 0\n{players}'
        )
        words = [
            "tournament",
            str(file),
            "--out",
            f"{folder}/run",
            "--concurrency",
            str(concurrency),
            "--oversubscribe",
        ]
        ended = subprocess.run([sys.executable, "-m", "elolab", *words], capture_output=True, text=True)
        if ended.returncode not in (0, 1):  # 1: a player has lost on time, which is to be counted
            sys.exit(ended.stderr)
        with Store(Path(folder) / "run", read_only=True) as store:
            return store.records()


def losses(records: Sequence[GameRecord]) -> tuple[int, int]:
    """Print each loss on time; return the number of losses by the engine, and of losses while it was not running."""
    counts = [0, 0]
    for record in records:
        if record.reason == "time_forfeit":
            late = record.detail["late_move"]
            not_running = late["running_ms"] <= late["allowed_ms"]
            counts[not_running] += 1
            loser = record.second if record.result == "1-0" else record.first
            print(
                f"  {loser}, move {(len(record.moves) + 1) // 2}: {late['elapsed_ms']:.1f} ms with "
                f"{late['allowed_ms']:.1f} ms left, of which it ran {late['running_ms']:.1f} ms"
                f"{' (not running)' if not_running else ''}"
            )
    return counts[0], counts[1]


def report(what: str, records: Sequence[GameRecord], seconds: float) -> None:
    """Print the losses on time in the match ``what``, the slowest move, the duration ``seconds`` and the load."""
    own, other = losses(records)
    moves = [move.time_ms for record in records for move in record.moves]
    slowest, plies = max(moves), len(moves) / len(records)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(
        f"{what}: {len(records)} games, lost on time {own}, and {other} while not running; "
        f"{plies:.0f} plies a game, slowest move {slowest:.0f} ms, {seconds:.0f} s{load}",
        flush=True,
    )


def report_overruns(preset: str, records: Sequence[GameRecord]) -> None:
    """Print the distribution of the times by which the preset's moves exceeded their limit."""
    over = [max(0.0, move.time_ms - MOVE_TIME_MS) for record in records for move in record.moves]
    cuts = statistics.quantiles(over, n=100)
    print(
        f"{preset} ({strategy_of(preset)}), {MOVE_TIME_MS} ms a move: {len(records)} games, overrun median "
        f"{cuts[49]:.2f} ms, 99th percentile {cuts[98]:.2f} ms, most {max(over):.1f} ms of {len(over)} moves",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="losses on time on the wall clock")
    parser.add_argument("games", type=int, nargs="?", default=500, help="of default against itself (default 500)")
    parser.add_argument("preset_games", type=int, nargs="?", default=100, help="of each preset (default 100)")
    parser.add_argument("--concurrency", type=int, default=os.cpu_count() or 1, help="games at a time")
    parser.add_argument(
        "--skip", nargs="*", default=[], choices=("default", "presets", "fixed"), help="parts to leave out"
    )
    arguments = parser.parse_args()
    presets = [name for name in available_configs("engines") if "xiangqi" in read_toml(find_config("engines", name))]
    clocked = [preset for preset in presets if strategy_of(preset) not in TIMED_STRATEGIES]
    matches = [("default", CLOCK, ("default", "default"), arguments.games)]
    clocked += ["default"] * (len(clocked) % 2)
    matches += [("presets", PRESET_CLOCK, pair, arguments.preset_games)
                for pair in zip(clocked[::2], clocked[1::2], strict=True)]  # fmt: skip
    for part, limit, pair, games in matches:
        if part not in arguments.skip:
            began = time.monotonic()
            records = play("clocks", limit, pair, games, arguments.concurrency)
            report(f"{' - '.join(pair)} at {limit}", records, time.monotonic() - began)
    if "fixed" not in arguments.skip:
        for preset in (preset for preset in presets if strategy_of(preset) in TIMED_STRATEGIES):
            limit = f"move_time={MOVE_TIME_MS / 1000}"
            report_overruns(
                preset, play("times", limit, (preset, preset), arguments.preset_games, arguments.concurrency, 3600)
            )


if __name__ == "__main__":
    main()
