"""Writes balanced Xiangqi endgames as a suite of openings (EPD), for tests of null moves in zugzwang.

Both sides have the same few pieces, on random legal squares. A position is kept if nobody has won, it is quiet, and a
search finds it roughly equal. The file is the same on every machine.

    python benchmarks/endgame_openings.py xiangqi-endgames.epd.gz --count 2000
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from elolab.engine.engine import Engine
from elolab.engine.errors import UserError
from elolab.engine.rules import Rules
from elolab.engine.settings.limits import Limits

FORCES = ("r", "n", "c", "p", "pp", "np", "cp", "rp", "nc", "nn", "rn", "rc", "npp", "cpp", "ncp", "rnp", "rcp")
"""Sets of attacking pieces that each side may have, as letters of FEN."""
JUDGE_NODES = 4000
MAX_SCORE = 120
"""Largest absolute score of a balanced position, in centipawns."""
GENERAL = tuple((file, rank) for file in (3, 4, 5) for rank in (0, 1, 2))
ADVISOR = ((3, 0), (5, 0), (4, 1), (3, 2), (5, 2))
ELEPHANT = ((2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4))
PAWN = tuple((file, rank) for file in range(9) for rank in range(5, 10))
ANYWHERE = tuple((file, rank) for file in range(9) for rank in range(10))
SQUARES = {"k": GENERAL, "a": ADVISOR, "b": ELEPHANT, "p": PAWN}
"""Squares (file, rank) where each piece may stand, as seen by the piece's side; pawns only across the river."""


def random_board(choice: random.Random) -> str:
    """Board field of a FEN in which both sides have the same random pieces. The position may be illegal."""
    guards = "k" + "a" * choice.randrange(3) + "b" * choice.randrange(3)
    pieces = guards + choice.choice(FORCES)
    board: dict[tuple[int, int], str] = {}
    for is_red in (True, False):
        for letter in pieces:
            free = [
                square for file, rank in SQUARES.get(letter, ANYWHERE)
                if (square := (file, rank if is_red else 9 - rank)) not in board
            ]  # fmt: skip
            board[choice.choice(free)] = letter.upper() if is_red else letter
    rows = ["".join(board.get((file, rank), "1") for file in range(9)) for rank in range(9, -1, -1)]
    for empty in range(9, 1, -1):
        rows = [row.replace("1" * empty, str(empty)) for row in rows]
    return "/".join(rows)


def endgames(seed: int) -> Iterator[str]:
    """Yield an endless sequence of distinct endgames."""
    choice, engine, found = random.Random(seed), Engine("xiangqi", {"hash_mb": 1}), set()
    while True:
        text = f"{random_board(choice)} w - - 0 1"
        try:
            position = engine.game.position(text)
        except UserError:
            continue
        if text in found or position.judge(Rules()) is not None:
            continue
        engine.new_game()
        if abs(engine.search(position, Limits(nodes=JUDGE_NODES)).score) <= MAX_SCORE:
            found.add(text)
            yield text


def main(arguments: Sequence[str] | None = None) -> None:
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
