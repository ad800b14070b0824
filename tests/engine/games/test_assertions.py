"""What the search asserts on entry under ``ELOLAB_DEBUG``: in processes of their own, since code is compiled with it or
without.

This file is also the program of those processes: ``python test_assertions.py TASK`` prints one line.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PYTHON_PATH = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "support")))
TIMEOUT_SECONDS = 900
NODES = 3000
"""Of each search: with assertions a node costs several times as much."""


def run_variants() -> str:
    """Both games under every variant of the benchmark, and on clocks: nothing is violated."""
    from elolab.engine import bench
    from elolab.engine.engine import Engine
    from elolab.engine.games import GAMES
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import parameters_of

    searched = 0
    for game in GAMES:
        applicable = {row.name for row in parameters_of(game)}
        for variant in (*bench.VARIANTS, *bench.CLOCKED):
            overrides = {key: value for key, value in bench.overrides_of(variant).items() if key in applicable}
            engine = Engine(game, overrides)
            for position in engine.game.bench_positions:
                engine.search(engine.game.position(position.text), Limits(nodes=NODES))
                searched += 1
    return f"{searched} searches"


def corrupt_key() -> str:
    """The hash of a position is wrong from the start."""
    from elolab.engine.engine import Engine
    from elolab.engine.settings.limits import Limits

    engine = Engine("xiangqi")
    position = engine.game.position()
    position.state.key ^= type(position.state.key)(1)
    return report(lambda: engine.search(position, Limits(depth=2)))


def corrupt_side() -> str:
    """The other side is to move, which neither the hash nor the number of moves says."""
    from elolab.engine.engine import Engine
    from elolab.engine.settings.limits import Limits

    engine = Engine("othello")
    position = engine.game.position()
    position.state.side = 1
    return report(lambda: engine.search(position, Limits(depth=2)))


def report(search: Callable[[], object]) -> str:
    """What a search complains of."""
    try:
        search()
    except AssertionError as error:
        return f"AssertionError: {error}"
    return "nothing"


def run(task: str, cache: Path, debug: str) -> str:
    """One task in a process of its own; the last line that it prints."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "ELOLAB_DEBUG": debug, "PYTHONPATH": PYTHON_PATH}
    done = subprocess.run(
        [sys.executable, __file__, task], env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the code with assertions is kept, so that it is compiled once."""
    return tmp_path_factory.mktemp("debug")


@pytest.mark.slow
def test_nothing_is_violated_in_searches_of_both_games(cache: Path) -> None:
    assert run("run_variants", cache, "1").endswith(" searches")


@pytest.mark.slow
@pytest.mark.parametrize("task", ["corrupt_key", "corrupt_side"])
def test_a_violation_is_reported(task: str, cache: Path) -> None:
    found = run(task, cache, "1")
    assert found == "AssertionError: search: the incremental hash key is that of the position"
    # Loaded from the cache it says the same.
    assert run(task, cache, "1") == found


def test_code_with_assertions_has_a_cache_of_its_own() -> None:
    program = "from elolab.engine.compiled.sources import DEBUG, cache_key; print(DEBUG, cache_key())"
    keys = {}
    for debug in ("", "0", "1"):
        environment = {**os.environ, "ELOLAB_DEBUG": debug, "PYTHONPATH": PYTHON_PATH}
        words = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        keys[debug] = words.stdout.split()
    assert keys[""] == keys["0"]
    assert (keys["0"][0], keys["1"][0]) == ("False", "True")
    assert keys["0"][1] != keys["1"][1]


if __name__ == "__main__":
    print(globals()[sys.argv[1]]())
