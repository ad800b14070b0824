"""Makes the suite of positions ``xiangqi-tactics``.

The positions come from stored games. Each has one clearly best move that a shallow search misses.

    python benchmarks/make_tactics.py RUN_FOLDER [positions]

A position is kept if three searches agree. elolab's search (two lines, 1 000 000 nodes) finds one move at least a pawn
better than any other. Its search to depth 2 prefers another move. fairy-stockfish plays the best move at 1 500 000
nodes.
"""

from __future__ import annotations

import random
from pathlib import Path

from measuring import FAIRY_STOCKFISH, UciProgram, add_count, need_program, parser_of

from elolab.arena.play.store import Store
from elolab.engine.engine import Engine
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MATE_BOUND

GAP = 100
OUTPUT = Path(__file__).parent.parent / "configs" / "suites" / "xiangqi-tactics.epd"
COMMENT = f"""\
# Positions from games between settings of this engine with one clearly best move that a shallow search misses:
# a search of 1 000 000 nodes finds it at least {GAP} centipawns better than any other, a search to depth 2 prefers
# another, and fairy-stockfish at 1 500 000 nodes plays the same move. Made by benchmarks/make_tactics.py.
"""


def to_ranks_from_one(move: str) -> str:
    """Convert a move such as ``h2e2`` to ``h3e3``, the notation of Stockfish's family, which counts ranks from 1."""
    return f"{move[0]}{int(move[1]) + 1}{move[2]}{int(move[3]) + 1}"


def main() -> None:
    """Search random positions of the stored games until enough tactical positions are found, and print them."""
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path, metavar="RUN_FOLDER", help="of the stored games")
    add_count(parser, "positions", 40)
    arguments = parser.parse_args()
    need_program(FAIRY_STOCKFISH)
    game = game_named("xiangqi")
    try:
        with Store(arguments.folder, read_only=True) as store:
            records = store.records()
    except UserError as error:
        parser.error(str(error))
    choice = random.Random(1)
    engine, opponent = Engine("xiangqi"), UciProgram()
    found: dict[str, str] = {}
    while len(found) < arguments.positions:
        record = choice.choice(records)
        moves = [entry.move for entry in record.moves]
        if len(moves) < 20:
            continue
        cut = choice.randrange(10, len(moves) - 4)
        played = [*record.opening.moves, *moves[:cut]]
        text = game.position(record.opening.position, played).text
        position = game.position(text)
        engine.new_game()
        shallow = engine.search(position, Limits(depth=2)).move
        engine.new_game()
        # Most positions have nothing to find: a short search spares the long one.
        if engine.search(position, Limits(depth=6)).move == shallow:
            continue
        engine.new_game()
        lines = engine.search(position, Limits(nodes=1_000_000), lines=2).lines
        if len(lines) < 2 or lines[0].move == shallow or lines[0].score - lines[1].score < GAP:
            continue
        if lines[1].score > 500 or lines[0].score < -300:
            continue
        opponent.new_game()
        opponent.send(f"position fen {text}")
        opponent.send("go nodes 1500000")
        answer = opponent.until("bestmove")[-1].split()[1]
        if answer != to_ranks_from_one(lines[0].move):
            continue
        kind = "mate" if lines[0].score >= MATE_BOUND else "tactics"
        found[text] = f'{text}; bm {lines[0].move}; id "{kind}-{len(found) + 1}";'
        print(found[text], flush=True)
    opponent.close()
    OUTPUT.write_text(COMMENT + "\n".join(found.values()) + "\n")


if __name__ == "__main__":
    main()
