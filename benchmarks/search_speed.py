"""Nodes per CPU second of one search from four positions, against fairy-stockfish with its classical evaluation.

A node is a move made in the main or the quiescence search; null moves are not counted. Both engines search each
position from empty tables of 16 MiB, in turn, on one pinned core. Ours plays by the preset speed-reference, so that a
better default does not change what is measured.

    python benchmarks/search_speed.py [repeats]
"""

from __future__ import annotations

import sys
import time

from measuring import UciProgram, need_fairy_stockfish, pin, report

from engine.engine import Engine
from engine.games import game_named
from engine.settings.limits import Limits
from engine.settings.presets import load_preset

OUR_NODES = 4_000_000
THEIR_NODES = 600_000


def main() -> None:
    """Measure and print the ratio of the speeds."""
    need_fairy_stockfish()
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    pin()
    game = game_named("xiangqi")
    positions = [bench.text for bench in game.bench_positions[:4]]
    engine = Engine("xiangqi", load_preset("speed-reference", "xiangqi"))
    engine.search(game.position(), Limits(nodes=1000))
    opponent = UciProgram()
    ours, theirs = [], []
    for _ in range(repeats):
        nodes, seconds, their_nodes, their_seconds = 0, 0.0, 0, 0.0
        for text in positions:
            engine.new_game()
            position = game.position(text)
            start = time.process_time()
            nodes += engine.search(position, Limits(nodes=OUR_NODES)).nodes
            seconds += time.process_time() - start
            opponent.new_game()
            opponent.send(f"position fen {text}")
            start = opponent.cpu_seconds()
            opponent.send(f"go nodes {THEIR_NODES}")
            lines = opponent.until("bestmove")
            their_seconds += opponent.cpu_seconds() - start
            fields = next(line for line in reversed(lines) if " nodes " in line).split()
            their_nodes += int(fields[fields.index("nodes") + 1])
        ours.append(nodes / seconds / 1e6)
        theirs.append(their_nodes / their_seconds / 1e6)
    opponent.close()
    report("elolab", ours, "M nodes per CPU s", "at least 5")
    report("fairy-stockfish", theirs, "M nodes per CPU s")
    report("ratio of speeds", [a / b for a, b in zip(ours, theirs, strict=True)], "times", "at least 10")


if __name__ == "__main__":
    main()
