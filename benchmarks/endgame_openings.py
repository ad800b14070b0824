"""Balanced Xiangqi endgames for matches: where null moves, which fear zugzwang, are said to go wrong.

Each comes from a game that the default engine plays against itself from a shipped opening: its first position with few
pieces that a longer search finds about even. Written as a suite of openings (EPD), the same on every machine.

    python benchmarks/endgame_openings.py xiangqi-endgames.epd.gz --count 2000
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.notation.openings import load_suite
from engine.engine import Engine
from engine.rules import Rules
from engine.settings.limits import Limits

PLAY_NODES, JUDGE_NODES = 200, 4000
MAX_PIECES = 16
"""On the board, generals, advisors and elephants included: 32 at the beginning of a game."""
MAX_ATTACKERS = 6
"""Rooks, horses, cannons and pawns of both sides together."""
MAX_SCORE = 120
"""Centipawns by which either side may be ahead."""
MAX_PLIES = 200


def is_endgame(board: str) -> bool:
    """Whether few pieces are left in the FEN board, and each side can still attack."""
    pieces = [letter for letter in board if letter.isalpha()]
    attackers = [letter for letter in pieces if letter.lower() in "rncp"]
    sides = {letter.isupper() for letter in attackers}
    return len(pieces) <= MAX_PIECES and len(attackers) <= MAX_ATTACKERS and len(sides) == 2


def endgames(seed: int) -> Iterator[str]:
    """Distinct endgames, one a game at most, in the order of the shipped openings that ``seed`` gives."""
    engine, judge = Engine("xiangqi", {"hash_mb": 1}), Engine("xiangqi", {"hash_mb": 1})
    suite = load_suite("xiangqi", "xiangqi")
    found = set()
    for place in suite.part("all").order(seed):
        opening = suite.openings[place]
        position = engine.game.position(opening.position, opening.moves)
        engine.new_game()
        for _ in range(MAX_PLIES):
            if position.judge(Rules()) is not None:
                break
            board = position.text.split()[0]
            if is_endgame(board):
                judge.new_game()
                text = " ".join([*position.text.split()[:2], "- - 0 1"])
                score = judge.search(judge.game.position(text), Limits(nodes=JUDGE_NODES)).score
                if board not in found and abs(score) <= MAX_SCORE:
                    found.add(board)
                    yield text
                break
            move = engine.search(position, Limits(nodes=PLAY_NODES)).move
            assert move is not None
            position.push(move)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the suite."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="the file to write, compressed if it ends in .gz")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    lines = [f"# python benchmarks/endgame_openings.py {given.out.name} --count {given.count} --seed {given.seed}"]
    for text in endgames(given.seed):
        lines.append(text)
        if len(lines) > given.count:
            break
    data = ("\n".join(lines) + "\n").encode()
    given.out.write_bytes(gzip.compress(data, mtime=0) if given.out.suffix == ".gz" else data)
    print(f"{len(lines) - 1} endgames: {given.out}")


if __name__ == "__main__":
    main()
