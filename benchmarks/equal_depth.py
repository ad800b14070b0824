"""Alpha-beta, MTD(f) and principal variation search at depth 4 with nothing pruned, 300 pairs for every two of them.

Their values are equal (``tests/engine/search/test_search.py``), and so should their strength be: a driver that loses
here is handicapped by something else than its way of searching. The games are played through ``elolab tournament``. At
commit 58bb844, Elo with half of its 95 % interval: principal variation search against alpha-beta +4.1 ± 11.1, against
MTD(f) +6.9 ± 14.3, MTD(f) against alpha-beta +8.1 ± 14.1.

    python benchmarks/equal_depth.py
"""

from __future__ import annotations

from pathlib import Path

from measuring import play_match


def main() -> None:
    """Play the round robin and print the standings."""
    play_match(Path(__file__).with_name("equal_depth.toml"))
    print("goal: every two of them within 10 Elo")


if __name__ == "__main__":
    main()
