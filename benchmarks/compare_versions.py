"""Checks that two versions of elolab play and count the same, and that the later one resumes the earlier one's runs.

    python benchmarks/compare_versions.py BEFORE [AFTER] [--only KIND ...]

BEFORE and AFTER are two checkouts; AFTER is this one by default. BEFORE and AFTER both play every kind of run to its
end (tournament, match, sprt, tune, ablate, claims, fit-evaluation). Then BEFORE begins the run again and is killed, and
AFTER resumes it. All three must have equal games (digests of moves, scores and nodes), equal tables, and equal results,
apart from times, folders and the engine's identity. For a fit, the keys of games are not compared, because they depend
on the engine that fitted the weights. The program prints a line per kind; its exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

MAY_DIFFER = {
    "folder", "report", "seconds", "time_ms", "mean_time_ms", "engine", "engine_identity", "started_at", "own_seconds",
    "games_seconds", "nodes_per_second", "weights", "output", "kept", "preset", "registered",
    "reference_time_ms", "reference_nodes_per_second", "speed_ratio", "speed_ratio_low", "speed_ratio_high",
    "time_ratio", "time_ratio_low", "time_ratio_high",
}  # fmt: skip
"""Keys and columns in which results of two versions may differ: times, paths, and the engine's version."""
KILL_AFTER_GAMES = 6

TUNING = """
name = "compared"
sampler = "duel"
budget = { games = 60 }
seed = 5
limit = "nodes=60"
parameters = ["null_depth", "evaluation"]

[set]
evaluation = "material"

[adjudication]
maximum_plies = 80

[validation]
elo_upper = 100
maximum_pairs = 60
slow = "fixed"
slow_pairs = 5
slow_limit = "nodes=100"
"""
ABLATION = """
name = "compared"
seed = 5
limit = "nodes=60"
pairs = 12

[adjudication]
maximum_plies = 60

[nodes_to_depth]
depth = 3
positions = 4

[[leave_one_out]]
features = ["null_move", "quiescence"]

[[factorial]]
factors = { null_move = [true, false], killers = [2, 0] }
"""
CLAIMS = """
game = "xiangqi"
seed = 5

[adjudication]
maximum_plies = 30

[budgets.quick]
pairs = 8
rounds = 2
positions = 4
limits = { play = "nodes=40", shallow = "depth=1", deep = "depth=2" }

[[claims]]
id = "C20"
claim = "One ply more is stronger, and the two drivers are equal."
claim_zh = "深一层更强，两种驱动相等。"
source = "OT"
basis = "c"
then = "moreland"

[[claims.parts]]
id = "C20a"
claim = "One ply more is stronger."
claim_zh = "深一层更强。"
expect = "better"
limits = ["depth=2"]
reference_limits = ["depth=1"]

[[claims.parts]]
id = "C20b"
claim = "The two drivers are equal."
claim_zh = "两种驱动相等。"
kind = "interaction"
factors = { killers = [0, 2], algorithm = ["alphabeta", "pvs"] }
limits = ["play"]

[[claims]]
id = "C1"
claim = "Windows save effort."
claim_zh = "窗口节省工作量。"
source = "AW"
basis = "c"
then = "moreland"

[[claims.parts]]
id = "C1a"
claim = "They save nodes."
claim_zh = "节省节点。"
kind = "nodes"
expect = "less"
variant = { aspiration = "full" }
reference = { aspiration = "off" }
"""
TOURNAMENT = """
name = "compared"
game = "othello"
seed = 5
pairs = 5
limit = "depth=2"

[[players]]
name = "whole"

[[players]]
name = "no killers"
set = { killers = 0 }

[[players]]
name = "deeper"
limit = "depth=3"
"""
TWO_PLAYERS = ["default", "xqwlight-0.3", "--game", "xiangqi", "--limit", "nodes=60", "--seed", "5"]


def commands(specifications: Path) -> dict[str, list[str]]:
    """The command line of every kind of run, without ``--out``; ``specifications`` is the folder for their files."""
    files = {}
    for kind, text in (("tournament", TOURNAMENT), ("tune", TUNING), ("ablate", ABLATION), ("claims", CLAIMS)):
        files[kind] = specifications / f"{kind}.toml"
        files[kind].write_text(text, "utf-8")
    claims = files.pop("claims")
    return {
        **{kind: [kind, str(path)] for kind, path in files.items()},
        "match": ["match", *TWO_PLAYERS, "--pairs", "10"],
        "sprt": ["sprt", *TWO_PLAYERS, "--pairs", "40", "--elo0", "0", "--elo1", "40"],
        "claims": ["claims", "--claims", str(claims)],
        "fit-evaluation": [
            "fit-evaluation", "--game", "othello", "--games", "40", "--iterations", "1", "--limit", "depth=1",
            "--match-pairs", "5", "--phases", "2", "--patterns", "off",
        ],
    }  # fmt: skip


def program(checkout: Path) -> list[str]:
    """The command that starts elolab from a checkout; in early versions, it starts the file ``elolab.py``."""
    single = checkout / "elolab.py"
    return [sys.executable, str(single if single.is_file() else checkout / "elolab")]


def play(checkout: Path, words: Sequence[str], folder: Path, *more: str) -> Any:
    """Run a command to its end and return its JSON output. The exit code 3 (no gain was shown) is accepted."""
    command = [*program(checkout), *words, "--out", str(folder), "--concurrency", "2", "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def killed(checkout: Path, words: Sequence[str], folder: Path) -> int:
    """Begin a command, and kill it with SIGKILL after some games; return the number of stored games."""
    command = [*program(checkout), *words, "--out", str(folder), "--concurrency", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder.parent) as process:
        while process.poll() is None and len(games(folder)) < KILL_AFTER_GAMES:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    return len(games(folder))


def games(folder: Path) -> list[tuple[str, str]]:
    """Key and digest of every stored game, sorted by key."""
    path = folder / "games.sqlite"
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return list(connection.execute("SELECT key, digest FROM games ORDER BY key"))
    except sqlite3.Error:
        return []  # it is being made


def played(folder: Path, kind: str) -> list[Any]:
    """The data about a folder's games that must be equal: keys and digests, or for fits only digests."""
    return sorted(digest for _, digest in games(folder)) if kind == "fit-evaluation" else games(folder)


def comparable(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: comparable(value) for key, value in data.items() if key not in MAY_DIFFER}
    return [comparable(entry) for entry in data] if isinstance(data, list) else data


def tables(folder: Path) -> dict[str, Any]:
    """Every CSV file of a folder, without columns that may differ and without games beyond a test's end."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row.get("counted") != "no"]
        found[path.name] = [comparable(row) for row in rows]
    return found


def compare(before: Path, after: Path, words: Sequence[str], folder: Path) -> list[str]:
    """Play one kind of run with each version, and once begun and resumed; return descriptions of the differences."""
    shown = {name: folder / name for name in ("before", "after", "resumed")}
    said = {"before": play(before, words, shown["before"]), "after": play(after, words, shown["after"])}
    left = killed(before, words, shown["resumed"])
    said["resumed"] = play(after, words, shown["resumed"])
    found = [] if left else ["nothing was stored when it was killed"]
    for name in ("after", "resumed"):
        if words[0] != "sprt" and played(shown[name], words[0]) != played(shown["before"], words[0]):
            found.append(f"{name}: other games")
        if comparable(said[name]) != comparable(said["before"]):
            found.append(f"{name}: other figures with --json")
        for table, rows in tables(shown["before"]).items():
            if tables(shown[name]).get(table) != rows:
                found.append(f"{name}: another {table}")
    if words[0] in ("tournament", "match", "sprt"):
        command = [*program(after), "replay", str(shown["before"]), "0"]
        if subprocess.run(command, capture_output=True).returncode:
            found.append("a game of before is not replayed alike")
    print(f"{words[0]:<15} {len(games(shown['before'])):>5} games, resumed from {left}: {'; '.join(found) or 'same'}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", type=lambda text: Path(text).resolve())
    parser.add_argument("after", nargs="?", default=Path(__file__).parents[1], type=lambda text: Path(text).resolve())
    parser.add_argument("--only", nargs="+", default=[], metavar="KIND")
    arguments = parser.parse_args()
    if arguments.before is None:
        print("nothing to compare with: give the checkout of another version")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        chosen = commands(Path(scratch))
        found = []
        for kind in arguments.only or chosen:
            folder = Path(scratch) / kind
            folder.mkdir()
            found += compare(arguments.before, arguments.after, chosen[kind], folder)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
