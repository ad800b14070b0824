"""Score against fairy-stockfish at 10 000 nodes a move, ours at 100 ms a move: 100 games with swapped colours.

The games are played through ``elolab tournament``; its standings give the score with its interval.

    python benchmarks/strength.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import need_fairy_stockfish


def main() -> None:
    """Play the match and print the standings."""
    need_fairy_stockfish()
    specification = Path(__file__).with_name("strength.toml")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "elolab", "tournament", str(specification), "--out", f"{folder}/run"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        print(done.stdout.partition("games digest")[0])
    print("goal: the default scores at least 50 %")


if __name__ == "__main__":
    main()
