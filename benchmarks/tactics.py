"""CPU time until a set of mates and tactics is solved, against fairy-stockfish with its classical evaluation.

A position counts as solved at the first depth from which the engine prefers the solution at every deeper one it reaches
within its time; the time is that of the search up to the end of that iteration. The set is the shipped suite
``xiangqi-tactics``; its solutions are those both engines find given far more time. ``elolab suite`` solves it for any
setting.

    python benchmarks/tactics.py
"""

from __future__ import annotations

import statistics

from make_tactics import to_ranks_from_one
from measuring import UciProgram, need_fairy_stockfish, pin

from elolab.engine.engine import Engine
from elolab.engine.settings.configuration import find_config
from elolab.engine.settings.limits import Limits
from elolab.engine.suite import SuitePosition, attempt, load_positions

MAX_SECONDS = 1.0


def our_seconds(engine: Engine, entry: SuitePosition) -> float | None:
    """CPU seconds to the solution; ``None`` if no iteration finds it in time."""
    limits = Limits(move_time_ms=round(1000 * MAX_SECONDS), clock_kind="cpu")
    solution = attempt(engine, entry, limits).solution
    return solution.time_ms / 1000 if solution is not None else None


def their_seconds(opponent: UciProgram, text: str, solution: str) -> float | None:
    """The same for the other engine, from the times it reports itself."""
    opponent.new_game()
    opponent.send(f"position fen {text}")
    opponent.send(f"go movetime {round(MAX_SECONDS * 1000)}")
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
    engine.search(engine.game.position(), Limits(depth=2))
    ours, theirs = [], []
    for entry in load_positions(find_config("suites", "xiangqi-tactics"), "xiangqi"):
        ours.append(our_seconds(engine, entry))
        theirs.append(their_seconds(opponent, entry.position, to_ranks_from_one(entry.best_moves[0])))
    opponent.close()
    for name, times in (("elolab", ours), ("fairy-stockfish", theirs)):
        solved = [seconds for seconds in times if seconds is not None]
        middle = statistics.median(MAX_SECONDS if seconds is None else seconds for seconds in times)
        total = sum(solved) + MAX_SECONDS * (len(times) - len(solved))
        print(
            f"{name}: {len(solved)} of {len(times)} solved within {MAX_SECONDS:g} s; median {middle:.3f} s, "
            f"total {total:.1f} s (unsolved counted as {MAX_SECONDS:g} s)"
        )


if __name__ == "__main__":
    main()
