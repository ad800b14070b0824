"""Measures perft of Xiangqi and chess against fairy-stockfish and Stockfish, in turns on one pinned core.

python benchmarks/perft_speed.py [repeats]
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from measuring import FAIRY_STOCKFISH, STOCKFISH, UciProgram, count_of, need_program, pin, report

from elolab.engine.games import game_named


def measure(game: str, depth: int, leaves: int, opponents: Mapping[str, tuple[str, str]], repeats: int) -> None:
    """Measure perft from the start position, and print the ratios of elolab's speed to the opponents'.

    ``leaves`` is the correct count. ``opponents`` has the command and the goal for the ratio, by the opponent's name.
    """
    position = game_named(game).position()
    perft, lists = position.game.kernels.perft, position.lists
    perft(position.state, lists, 1)
    programs = {
        name: UciProgram((command,), (f"UCI_Variant value {game}",)) for name, (command, _) in opponents.items()
    }
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        start = time.process_time()
        assert perft(position.state, lists, depth) == leaves
        ours.append(time.process_time() - start)
        for name, program in programs.items():
            start_cpu = program.cpu_seconds()
            program.send("position startpos")
            program.send(f"go perft {depth}")
            counted = program.until("Nodes searched")[-1]
            assert int(counted.split()[-1]) == leaves, counted
            theirs[name].append(program.cpu_seconds() - start_cpu)
    report(f"{game}: elolab perft {depth}", ours, "CPU s")
    for name, program in programs.items():
        program.close()
        report(f"{game}: {name} perft {depth}", theirs[name], "CPU s")
        ratios = [other / own for own, other in zip(ours, theirs[name], strict=True)]
        report(f"{game}: ratio of speeds to {name}", ratios, "times", opponents[name][1])


def main() -> None:
    """Measure perft of Xiangqi and of chess, where Stockfish is a further opponent."""
    repeats = count_of(__doc__, "repeats", 7)
    need_program(FAIRY_STOCKFISH)
    pin()
    measure("xiangqi", 5, 133_312_995, {"fairy-stockfish": (FAIRY_STOCKFISH, "at least 12")}, repeats)
    need_program(STOCKFISH)
    opponents = {"fairy-stockfish": (FAIRY_STOCKFISH, "at least 3"), "stockfish": (STOCKFISH, "at least 0.5")}
    measure("chess", 6, 119_060_324, opponents, repeats)


if __name__ == "__main__":
    main()
