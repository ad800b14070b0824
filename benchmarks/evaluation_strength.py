"""What the full evaluation of Xiangqi is worth above piece-square tables: matches at equal nodes and equal CPU time.

    python benchmarks/evaluation_strength.py [pairs]

Each match is played by ``elolab match``, which prints the estimate with its interval; the default is 200 pairs of games
with swapped colours at each limit.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import count_of, run_elolab

LIMITS = ("nodes=3000", "move_time=0.002,cpu", "move_time=0.006,cpu")
"""Of a move; the times are seconds of processor time."""
OPPONENT = 'name = "piece-square"\npreset = "default"\nset = { evaluation = "piece_square" }\n'


def main() -> None:
    """Play the matches and print what each says."""
    pairs = count_of(__doc__, "pairs", 200)
    with tempfile.TemporaryDirectory() as folder:
        opponent = Path(folder) / "piece-square.toml"
        opponent.write_text(OPPONENT)
        for number, limit in enumerate(LIMITS):
            print(f"default against piece-square tables at {limit}:")
            words = ["--pairs", str(pairs), "--limit", limit, "--out", str(Path(folder) / str(number))]
            run_elolab("match", "default", str(opponent), *words)
    print("goal: at equal time at least +50 Elo, the interval above 0")


if __name__ == "__main__":
    main()
