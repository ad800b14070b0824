"""What small things cost beside the work in them: a match of twenty fast games, its report, a second environment.

    python benchmarks/small_things.py [repeats]

Each is measured in user CPU time and as a ratio to a yardstick that runs in turn with it, all on one processor, so
that both see the same load: the match against the bare time of its games in one process, the report against an import
of ``matplotlib.pyplot``. At last a copy of the packages at another path, as another environment has one, must find the
code that the first compiled.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import pin, report

MATCH = ("match", "default", "material", "--limit", "nodes=100", "--pairs", "10")
ELOLAB = ("-m", "elolab")
PYPLOT = ("-c", "import matplotlib.pyplot")
MATCH_SECONDS, REPORT_SECONDS = 3, 2
"""What a user waits for at most on a processor that nobody else uses."""
ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("arena", "configs", "elolab", "engine", "tuning")


def _user_seconds(words: Sequence[str], path: Path = ROOT) -> float:
    """User CPU seconds of Python with these arguments and the packages in ``path``, its children included."""
    before = os.times().children_user
    environment = {**os.environ, "PYTHONPATH": str(path)}
    subprocess.run(
        [sys.executable, *words], check=True, env=environment, cwd=path, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return os.times().children_user - before


def _bare_seconds(folder: Path) -> float:
    """CPU seconds of playing the games of a run again, one after another in this process, its code being loaded."""
    from elolab.arena.play.store import Store
    from elolab.arena.play.tournament import stored_tournament
    from elolab.engine.engine import StopFlag
    from elolab.engine.play import CompiledGames, PlayerSettings

    with Store(folder, read_only=True) as store:
        spec, records = stored_tournament(store), store.records()
    games, stop = CompiledGames(spec.game), StopFlag()
    settings = {player.name: PlayerSettings(dict(player.parameters), player.limits) for player in spec.players}

    def play() -> None:
        for record in records:
            opening, sides = record.opening, (settings[record.first], settings[record.second])
            games.play(opening.position, opening.moves, *sides, spec.rules, spec.adjudication, stop)

    play()
    start = time.process_time()
    play()
    return time.process_time() - start


def _measure_match(folder: Path, repeats: int) -> None:
    run = folder / "run"
    _user_seconds([*ELOLAB, *MATCH, "--out", str(run)])  # whatever has to be compiled
    match, reports, yardstick, bare = [], [], [], []
    for _ in range(repeats):
        shutil.rmtree(run)
        match.append(_user_seconds([*ELOLAB, *MATCH, "--out", str(run)]))
        bare.append(_bare_seconds(run))
        reports.append(_user_seconds([*ELOLAB, "report", str(run)]))
        yardstick.append(_user_seconds(PYPLOT))
    report("its 20 games alone, in one process", bare, "s of CPU")
    report("elolab match of 20 fast games", match, "s of user CPU", f"under {MATCH_SECONDS}")
    report("the match over its games alone", [one / other for one, other in zip(match, bare, strict=True)], "times")
    report("import matplotlib.pyplot", yardstick, "s of user CPU")
    report("elolab report of it", reports, "s of user CPU", f"under {REPORT_SECONDS}")
    ratios = [one / other for one, other in zip(reports, yardstick, strict=True)]
    report("the report over import matplotlib.pyplot", ratios, "times")


def _measure_second_environment(folder: Path) -> None:
    """The same packages at another path: a compilation would take a hundred times as long as a start."""
    copy = folder / "environment"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package)
    words = [*ELOLAB, "analyse", "--depth", "1"]
    first, second = (_user_seconds(words, path) for path in (ROOT, copy))
    report("a second environment over the first: elolab analyse --depth 1", [second / first], "times", "about 1")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repeats", nargs="?", type=int, default=5)
    repeats = parser.parse_args().repeats
    pin()
    with tempfile.TemporaryDirectory() as folder:
        _measure_match(Path(folder), repeats)
        _measure_second_environment(Path(folder))


if __name__ == "__main__":
    main()
