"""Score against fairy-stockfish at 100 000 nodes a move, ours at 100 ms of processor time: 100 games.

Every opening is played with both colours. The games are played through ``elolab tournament``; its standings give the
score with its interval.

    python benchmarks/strength.py
"""

from __future__ import annotations

from pathlib import Path

from measuring import need_fairy_stockfish, play_match


def main() -> None:
    """Play the match and print the standings."""
    need_fairy_stockfish()
    play_match(Path(__file__).with_name("strength.toml"))
    print("goal: the default scores at least 60 %")


if __name__ == "__main__":
    main()
