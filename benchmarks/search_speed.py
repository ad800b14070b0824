"""Nodes per CPU second of one search from four positions, against fairy-stockfish with its classical evaluation.

A node is a move made in the main or the quiescence search; null moves are not counted. All search each position from
empty tables of 16 MiB, in turn, on one pinned core: ours under the default settings, which say what users get, and by
the preset speed-reference, a fixed search whose speed no better default changes.

    python benchmarks/search_speed.py [repeats]
"""

from __future__ import annotations

import time

from measuring import UciProgram, count_of, need_fairy_stockfish, pin, report

from elolab.engine.engine import Engine
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.presets import load_preset

GOALS = {"default": "at least 9", "speed-reference": "at least 10"}
"""Our presets and what is asked of their speeds in times of fairy-stockfish's."""
OUR_NODES = 4_000_000
THEIR_NODES = 600_000


def main() -> None:
    """Measure and print the ratios of the speeds."""
    repeats = count_of(__doc__, "repeats", 7)
    need_fairy_stockfish()
    pin()
    game = game_named("xiangqi")
    positions = [bench.text for bench in game.bench_positions[:4]]
    engines = {preset: Engine("xiangqi", load_preset(preset, "xiangqi")) for preset in GOALS}
    for engine in engines.values():
        engine.search(game.position(), Limits(nodes=1000))
    opponent = UciProgram()
    ours: dict[str, list[float]] = {preset: [] for preset in GOALS}
    theirs = []
    for _ in range(repeats):
        nodes, seconds = 0, 0.0
        our_seconds = dict.fromkeys(GOALS, 0.0)
        our_nodes = dict.fromkeys(GOALS, 0)
        for text in positions:
            for preset, engine in engines.items():
                engine.new_game()
                position = game.position(text)
                start = time.process_time()
                our_nodes[preset] += engine.search(position, Limits(nodes=OUR_NODES)).nodes
                our_seconds[preset] += time.process_time() - start
            found, taken = _search_by(opponent, text)
            nodes += found
            seconds += taken
        for preset in GOALS:
            ours[preset].append(our_nodes[preset] / our_seconds[preset] / 1e6)
        theirs.append(nodes / seconds / 1e6)
    opponent.close()
    report("fairy-stockfish", theirs, "M nodes per CPU s")
    for preset, goal in GOALS.items():
        report(preset, ours[preset], "M nodes per CPU s")
        report(f"{preset} to fairy-stockfish", _ratios(ours[preset], theirs), "times", goal)
    report("default to speed-reference", _ratios(ours["default"], ours["speed-reference"]), "times")


def _search_by(opponent: UciProgram, text: str) -> tuple[int, float]:
    """Nodes and CPU seconds of the opponent's search of a position."""
    opponent.new_game()
    opponent.send(f"position fen {text}")
    start = opponent.cpu_seconds()
    opponent.send(f"go nodes {THEIR_NODES}")
    lines = opponent.until("bestmove")
    seconds = opponent.cpu_seconds() - start
    fields = next(line for line in reversed(lines) if " nodes " in line).split()
    return int(fields[fields.index("nodes") + 1]), seconds


def _ratios(speeds: list[float], others: list[float]) -> list[float]:
    return [speed / other for speed, other in zip(speeds, others, strict=True)]


if __name__ == "__main__":
    main()
