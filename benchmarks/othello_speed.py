"""Measures perft 11 of Othello, and the exact solution of FFO endgames with up to 20 empty squares, on one pinned core.

Published figures exist for FFO 40, which has 20 empty squares: a top engine solves it in 21 million nodes.

    python benchmarks/othello_speed.py [repeats]
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from measuring import count_of, pin, report

from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.solving import Solver

PERFT_DEPTH = 11
PERFT_LEAVES = 212_258_800
MAX_EMPTIES = 20
REFERENCE = 40
REFERENCE_NODES = 21_000_000
SUITE = Path(__file__).parent.parent / "tests" / "data" / "othello_ffo.json"


def main() -> None:
    """Measure and print; end the program if a count or score is wrong."""
    repeats = count_of(__doc__, "repeats", 5)
    pin()
    game = game_named("othello")
    position = game.position()
    game.perft(position, 1)
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        assert game.perft(position, PERFT_DEPTH) == PERFT_LEAVES
        seconds.append(time.process_time() - start)
    report(f"othello perft {PERFT_DEPTH}", seconds, "CPU s", "under 1")
    solver = Solver("othello", {}, StopFlag())
    cases = [case for case in json.loads(SUITE.read_text("utf-8"))["positions"] if case["empties"] <= MAX_EMPTIES]
    solver.solve(game.position(f"{cases[0]['board']} {cases[0]['side']}"))
    nodes, total = 0, 0.0
    for case in cases:
        start = time.process_time()
        solution = solver.solve(game.position(f"{case['board']} {case['side']}"))
        took = time.process_time() - start
        assert solution.score == case["score"], case["id"]
        assert solution.best_move in case["best_moves"], case["id"]
        nodes, total = nodes + solution.nodes, total + took
        if case["id"] == REFERENCE:
            report(f"FFO {REFERENCE}", [took], "CPU s", "under 60")
            share = solution.nodes / REFERENCE_NODES
            report(f"FFO {REFERENCE}", [solution.nodes], "nodes", f"at most 8 times 21 million; here {share:.2f} times")
    print(f"{len(cases)} endgames of up to {MAX_EMPTIES} empty squares: {nodes} nodes, {total:.2f} CPU s, all exact")


if __name__ == "__main__":
    main()
