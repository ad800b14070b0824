"""Score against gtp-rhino (Debian's package grhino) at its highest level, ours at 100 ms of processor time: 20 games.

gtp-rhino thinks for some fifteen seconds about a move, so this takes hours. Every opening is played with both colours.
The games are played through ``elolab tournament``; its standings give the score with its interval.

    python benchmarks/othello_strength.py
"""

from __future__ import annotations

from pathlib import Path

from measuring import need_program, play_match


def main() -> None:
    """Play the match and print the standings."""
    need_program("gtp-rhino", "grhino")
    play_match(Path(__file__).with_name("othello_strength.toml"))
    print("goal: the default scores at least 95 %")


if __name__ == "__main__":
    main()
