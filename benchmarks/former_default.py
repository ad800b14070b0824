"""What the default gained over that of an earlier version: both as UCI programs at 50 ms a move by the wall clock.

    python benchmarks/former_default.py BEFORE [--after AFTER] [--pairs PAIRS] [--out FOLDER]

BEFORE is a checkout of the earlier version; AFTER, this one unless given, the one against it. A program cannot be told
to count processor time, so that nothing else should run beside the match; the margin of two seconds keeps games from
being lost by a busy machine. The games are played through ``elolab tournament`` in FOLDER, and go on there if the same
command is given again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import parser_of, run_elolab

from elolab.cli.shared.parser import whole_number

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
# Python looks for modules in the folder in which it is started with -m, before all others.
PLAYER = """
[[players]]
name = "{name}"
protocol = "uci"
command = ['{python}', "-m", "elolab", "engine", "--protocol", "uci"]
directory = '{checkout}'
limit = "move_time=0.05"
margin = 2.0
"""


def checkout_of(text: str) -> Path:
    """A folder with a version of elolab in it: from any other one, the version of this script would play."""
    folder = Path(text).resolve()
    if not (folder / "elolab" / "__main__.py").is_file():
        raise argparse.ArgumentTypeError(f"{text!r} is no checkout of elolab")
    return folder


def main() -> None:
    """Play the match and print the standings."""
    here = Path(__file__).resolve().parent.parent
    parser = parser_of(__doc__)
    parser.add_argument("before", type=checkout_of, metavar="BEFORE", help="checkout of the earlier version")
    parser.add_argument(
        "--after", type=checkout_of, default=here, metavar="AFTER", help="of the later version (default: this one)"
    )
    parser.add_argument("--pairs", type=whole_number(1), default=1000, help="pairs of games (default: 1000)")
    parser.add_argument("--out", metavar="FOLDER", help="where the games are kept (default: they are not)")
    arguments = parser.parse_args()
    specification = HEAD.format(pairs=arguments.pairs)
    for name, checkout in (("default", arguments.after), ("former", arguments.before)):
        specification += PLAYER.format(name=name, python=sys.executable, checkout=checkout)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "former_default.toml"
        path.write_text(specification)
        run_elolab("tournament", str(path), "--out", arguments.out or f"{folder}/run")
    print("goal: at least +40 Elo")


if __name__ == "__main__":
    main()
