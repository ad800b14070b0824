"""What the default gained over that of an earlier version: both as UCI programs at 50 ms a move by the wall clock.

    python benchmarks/former_default.py BEFORE [--after AFTER] [--pairs PAIRS] [--out FOLDER]

BEFORE is a checkout of the earlier version; AFTER, this one unless given, the one against it. A program cannot be told
to count processor time, so that nothing else should run beside the match; the margin of two seconds keeps games from
being lost by a busy machine. The games are played through ``elolab tournament`` in FOLDER, and go on there if the same
command is given again.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from pathlib import Path

from measuring import run_elolab

HEAD = """
name = "former-default"
game = "xiangqi"
pairs = {pairs}
seed = 1

[adjudication]
resign_score = 1000
resign_moves = 4
maximum_plies = 300
"""
PLAYER = """
[[players]]
name = "{name}"
protocol = "uci"
command = '''{command}'''
limit = "move_time=0.05"
margin = 2.0
"""


def main() -> None:
    """Play the match and print the standings."""
    here = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="checkout of the earlier version")
    parser.add_argument("--after", type=Path, default=here, help="checkout of the later version (default: this one)")
    parser.add_argument("--pairs", type=int, default=1000, help="pairs of games (default: 1000)")
    parser.add_argument("--out", help="folder to keep the games in (default: they are thrown away)")
    arguments = parser.parse_args()
    players = {"default": arguments.after.resolve(), "former": arguments.before.resolve()}
    specification = HEAD.format(pairs=arguments.pairs)
    for name, checkout in players.items():
        program = ["env", f"PYTHONPATH={checkout}", sys.executable, "-m", "elolab", "engine", "--protocol", "uci"]
        specification += PLAYER.format(name=name, command=shlex.join(program))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "former_default.toml"
        path.write_text(specification)
        run_elolab("tournament", str(path), "--out", arguments.out or f"{folder}/run")
    print("goal: at least +40 Elo")


if __name__ == "__main__":
    main()
