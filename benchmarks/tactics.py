"""CPU time until a set of mates and tactics is solved, against fairy-stockfish with its classical evaluation.

A position counts as solved at the first depth from which the engine prefers the solution at every deeper one it reaches
within its time; the time is that of the search up to the end of that iteration. The set (``tactics.epd``) was made by
``make_tactics.py``; its solutions are those both engines find given far more time.

    python benchmarks/tactics.py
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from make_tactics import to_ranks_from_one
from measuring import UciProgram, need_fairy_stockfish, pin

from engine.engine import Engine
from engine.games import game_named
from engine.limits import Limits

LONGEST_SECONDS = 1.0


def our_seconds(engine: Engine, text: str, solution: str) -> float | None:
    """CPU seconds to the solution; ``None`` if it is not found in time."""
    position = game_named("xiangqi").position(text)
    solved = None
    for depth in range(1, 60):
        engine.new_game()
        start = time.process_time()
        move = engine.search(position, Limits(depth=depth)).move
        seconds = time.process_time() - start
        if seconds > LONGEST_SECONDS:
            break
        if move != solution:
            solved = None
        elif solved is None:
            solved = seconds
    return solved


def their_seconds(opponent: UciProgram, text: str, solution: str) -> float | None:
    """The same for the other engine, from the times it reports itself."""
    opponent.new_game()
    opponent.send(f"position fen {text}")
    opponent.send(f"go movetime {round(LONGEST_SECONDS * 1000)}")
    solved = None
    for line in opponent.until("bestmove"):
        fields = line.split()
        if "pv" not in fields or "time" not in fields or "lowerbound" in fields or "upperbound" in fields:
            continue
        if fields[fields.index("pv") + 1] != solution:
            solved = None
        elif solved is None:
            solved = int(fields[fields.index("time") + 1]) / 1000
    return solved


def main() -> None:
    """Solve every position with both engines, in turn."""
    need_fairy_stockfish()
    pin()
    engine, opponent = Engine("xiangqi"), UciProgram()
    engine.search(game_named("xiangqi").position(), Limits(depth=2))
    ours, theirs = [], []
    for line in Path(__file__).with_name("tactics.epd").read_text().splitlines():
        text, solution, _ = (part.strip() for part in line.split(";"))
        solution = solution.removeprefix("bm ")
        ours.append(our_seconds(engine, text, solution))
        theirs.append(their_seconds(opponent, text, to_ranks_from_one(solution)))
    opponent.close()
    for name, times in (("elolab", ours), ("fairy-stockfish", theirs)):
        solved = [seconds for seconds in times if seconds is not None]
        middle = statistics.median(LONGEST_SECONDS if seconds is None else seconds for seconds in times)
        total = sum(solved) + LONGEST_SECONDS * (len(times) - len(solved))
        print(
            f"{name}: {len(solved)} of {len(times)} solved within {LONGEST_SECONDS:g} s; median {middle:.3f} s, "
            f"total {total:.1f} s (unsolved counted as {LONGEST_SECONDS:g} s)"
        )


if __name__ == "__main__":
    main()
