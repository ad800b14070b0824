"""Perft 5 from the start position: our move generator against fairy-stockfish's, in turn, on one pinned core.

python benchmarks/perft_speed.py [repeats]
"""

from __future__ import annotations

import time

from measuring import FAIRY_STOCKFISH, UciProgram, count_of, need_program, pin, report

from elolab.engine.games import game_named

DEPTH = 5
LEAVES = 133_312_995


def main() -> None:
    """Measure and print the ratio of the speeds."""
    repeats = count_of(__doc__, "repeats", 7)
    need_program(FAIRY_STOCKFISH)
    pin()
    position = game_named("xiangqi").position()
    perft, lists = position.game.kernels.perft, position.lists
    perft(position.state, lists, 1)
    opponent = UciProgram()
    opponent.send("position startpos")
    ours, theirs = [], []
    for _ in range(repeats):
        start = time.process_time()
        assert perft(position.state, lists, DEPTH) == LEAVES
        ours.append(time.process_time() - start)
        start_cpu = opponent.cpu_seconds()
        opponent.send(f"go perft {DEPTH}")
        counted = opponent.until("Nodes searched")[-1]
        assert int(counted.split()[-1]) == LEAVES, counted
        theirs.append(opponent.cpu_seconds() - start_cpu)
    opponent.close()
    report(f"elolab perft {DEPTH}", ours, "CPU s")
    report(f"fairy-stockfish perft {DEPTH}", theirs, "CPU s")
    report("ratio of speeds", [b / a for a, b in zip(ours, theirs, strict=True)], "times", "at least 12")


if __name__ == "__main__":
    main()
