"""Writes the 960 start positions of Chess960 as a suite of openings (EPD).

With ``--double`` it writes a sample for double Chess960, in which each side has its own arrangement. Start positions
have the numbers of R. Scharnagl's scheme; 518 is chess. The files are the same on every machine.

    python benchmarks/chess960_openings.py chess960.epd.gz
    python benchmarks/chess960_openings.py chess960-double.epd.gz --double 2000
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from elolab.arena.notation.openings import epd_line, suite_text, write_suite

STARTS = 960


def back_rank(number: int) -> str:
    """Pieces on the first rank for the start position ``number`` (from 0), as capital letters from the a-file on."""
    rank = [""] * 8
    rest, light = divmod(number, 4)
    rest, dark = divmod(rest, 4)
    knights, queen = divmod(rest, 6)
    rank[2 * light + 1] = rank[2 * dark] = "B"
    rank[[file for file in range(8) if not rank[file]][queen]] = "Q"
    free = [file for file in range(8) if not rank[file]]
    for place in list(combinations(range(5), 2))[knights]:
        rank[free[place]] = "N"
    for piece in "RKR":
        rank[rank.index("")] = piece
    return "".join(rank)


def start_position(white: int, black: int) -> str:
    """FEN of the start position with the arrangements number ``white`` for White and ``black`` for Black."""
    own, other = back_rank(white), back_rank(black).lower()
    return f"{other}/pppppppp/8/8/8/8/PPPPPPPP/{own} w KQkq - 0 1"


def lines(double: int, seed: int) -> Iterator[str]:
    """Yield the lines of the suite; ``double`` is the sample size for double Chess960, 0 for Chess960."""
    if not double:
        yield from (epd_line(start_position(number, number), f"960 {number}") for number in range(STARTS))
        return
    for pair in random.Random(seed).sample(range(STARTS * STARTS), double):
        white, black = divmod(pair, STARTS)
        yield epd_line(start_position(white, black), f"960 {white}-{black}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="the file to write, compressed if it ends in .gz, .bz2 or .zst")
    parser.add_argument("--double", type=int, default=0, metavar="COUNT", help="positions of double Chess960")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    options = f" --double {given.double} --seed {given.seed}" if given.double else ""
    command = f"python benchmarks/chess960_openings.py {given.out.name}{options}"
    write_suite(given.out, suite_text(lines(given.double, given.seed), [command]))


if __name__ == "__main__":
    main()
