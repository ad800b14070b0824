"""Measures nodes per processor second of searches from four positions, against an engine with a classical evaluation.

The opponent is fairy-stockfish in Xiangqi, and Stockfish 15.1 without its network in chess. A node is a move made in
the main or the quiescence search; null moves are not counted. All engines search each position from empty tables of 16
MiB, in turns on one pinned core. elolab uses its default settings, which show what users get. In Xiangqi it also uses
the preset speed-reference, a fixed search whose speed does not change with the defaults.

    python benchmarks/search_speed.py [repeats] [--game xiangqi|chess]
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from measuring import FAIRY_STOCKFISH, STOCKFISH, UciProgram, add_count, need_program, parser_of, pin, report

from elolab.engine.engine import Engine
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.presets import load_preset


@dataclass(frozen=True)
class Comparison:
    """The opponent and the goals for one game."""

    command: str
    """Command of the opponent's program."""
    options: tuple[str, ...]
    goals: dict[str, str]
    """Goal for the speed of each elolab preset, as a multiple of the opponent's speed."""
    their_nodes: int
    """Number of nodes of each search by the opponent."""


COMPARISONS = {
    "xiangqi": Comparison(
        FAIRY_STOCKFISH, ("UCI_Variant value xiangqi",), {"default": "at least 9", "speed-reference": "at least 10"},
        600_000,
    ),
    "chess": Comparison(STOCKFISH, (), {"default": "at least 1"}, 2_000_000),
}  # fmt: skip
OUR_NODES = 4_000_000


def main() -> None:
    parser = parser_of(__doc__)
    add_count(parser, "repeats", 7)
    parser.add_argument("--game", choices=COMPARISONS, default="xiangqi")
    arguments = parser.parse_args()
    compared = COMPARISONS[arguments.game]
    need_program(compared.command)
    pin()
    game = game_named(arguments.game)
    positions = [bench.text for bench in game.bench_positions[:4]]
    engines = {preset: Engine(game.name, load_preset(preset, game.name)) for preset in compared.goals}
    for engine in engines.values():
        engine.search(game.position(), Limits(nodes=1000))
    opponent = UciProgram((compared.command,), compared.options)
    ours: dict[str, list[float]] = {preset: [] for preset in compared.goals}
    theirs = []
    for _ in range(arguments.repeats):
        nodes, seconds = 0, 0.0
        our_seconds = dict.fromkeys(compared.goals, 0.0)
        our_nodes = dict.fromkeys(compared.goals, 0)
        for text in positions:
            for preset, engine in engines.items():
                engine.new_game()
                position = game.position(text)
                start = time.process_time()
                our_nodes[preset] += engine.search(position, Limits(nodes=OUR_NODES)).nodes
                our_seconds[preset] += time.process_time() - start
            found, taken = _search_by(opponent, text, compared.their_nodes)
            nodes += found
            seconds += taken
        for preset in compared.goals:
            ours[preset].append(our_nodes[preset] / our_seconds[preset] / 1e6)
        theirs.append(nodes / seconds / 1e6)
    opponent.close()
    name = compared.command.rpartition("/")[2]
    report(name, theirs, "M nodes per CPU s")
    for preset, goal in compared.goals.items():
        report(preset, ours[preset], "M nodes per CPU s")
        report(f"{preset} to {name}", _ratios(ours[preset], theirs), "times", goal)
        if preset != "default":
            report(f"default to {preset}", _ratios(ours["default"], ours[preset]), "times")


def _search_by(opponent: UciProgram, text: str, nodes: int) -> tuple[int, float]:
    """The nodes and processor seconds of the opponent's search of the position ``text``, limited to ``nodes``."""
    opponent.new_game()
    opponent.send(f"position fen {text}")
    start = opponent.cpu_seconds()
    opponent.send(f"go nodes {nodes}")
    lines = opponent.until("bestmove")
    seconds = opponent.cpu_seconds() - start
    fields = next(line for line in reversed(lines) if " nodes " in line).split()
    return int(fields[fields.index("nodes") + 1]), seconds


def _ratios(speeds: list[float], others: list[float]) -> list[float]:
    return [speed / other for speed, other in zip(speeds, others, strict=True)]


if __name__ == "__main__":
    main()
