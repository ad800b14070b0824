"""What only fresh processes show: the cache on disk, two games in one process, the bounds-checked and uncompiled lanes.

The processes share one new cache directory, so that each game's search is compiled once: Xiangqi alone, the tiny game
of ``tiny_game.py`` alone, and then every order loads what those two wrote. That is the case in which numba, naming
records by a counter, ran one game's code for the other (``record_twins.py`` shows it).

This file is also the program of those processes: ``python test_kernel_processes.py WORD...`` does one task a word and
prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from elolab.engine.compiled.cache import CACHE_DIRECTORY

ROOT = Path(__file__).parents[3]
SUPPORT = ROOT / "tests" / "support"
PYTHON_PATH = os.pathsep.join(map(str, (ROOT, SUPPORT)))
TIMEOUT_SECONDS = 400

Run = Callable[..., dict[str, Any]]


# --- The program ----------------------------------------------------------------------------------------------------


def _search(game: Any, text: str, depth: int, **overrides: Any) -> list[Any]:
    """[move, score, nodes, depth] of one search, straight through the compiled driver."""
    from elolab.engine.compiled.kernel import new_record
    from elolab.engine.engine import SearchMemory
    from elolab.engine.games.contract import MOVE_LISTS_DTYPE
    from elolab.engine.search.driver import think
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import resolve

    memory = SearchMemory(resolve({"hash_mb": 1, **overrides}), None)
    memory.new_game()
    memory.set_limits(Limits(depth=depth), None)
    position = game.position(text)
    game.kernels.prepare(position.state, memory.parameters)
    lists = new_record(MOVE_LISTS_DTYPE)
    memory.compile_search(position.state, lists)
    move = int(think(position.state, memory.search, lists, memory.parameters))
    found = memory.search
    return [game.format_move(move), int(found.line_score[0]), int(found.nodes), int(found.depth)]


def task_xiangqi() -> Any:
    from elolab.engine.games import game_named

    game = game_named("xiangqi")
    position = game.position()
    found = [_search(game, bench.text, 5) for bench in game.bench_positions]
    return [int(game.kernels.perft(position.state, position.lists, 3)), found]


def task_takeaway() -> Any:
    from tests.support.tiny_game import GAME

    position = GAME.position()
    found = [_search(GAME, text, 16) for text in ("3-4-5 w", "1-2-3 b", "4-4-8 w", "0-0-4 w", "2-0-7 b")]
    return [int(GAME.kernels.perft(position.state, position.lists, 4)), found]


def task_othello() -> Any:
    from elolab.engine.games import game_named

    game = game_named("othello")
    position = game.position()
    found = [_search(game, bench.text, 6) for bench in game.bench_positions]
    solved = _search(game, "-OX-OOOOXXOOOOOOXXXOXOOOXXOXOOXOXXXOXXOOXXOOXXOOX---XX-O----XX-O X", 64)
    return [int(game.kernels.perft(position.state, position.lists, 6)), found, solved]


def task_both() -> Any:
    """One compiled function over both games."""
    from elolab.engine.compiled.kernel import new_record
    from elolab.engine.engine import SearchMemory
    from elolab.engine.games import game_named
    from elolab.engine.games.contract import MOVE_LISTS_DTYPE
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import resolve
    from tests.support import tiny_game

    arguments: list[Any] = []
    lists = new_record(MOVE_LISTS_DTYPE)
    moves = []
    for game, text, depth in (
        (game_named("xiangqi"), game_named("xiangqi").bench_positions[0].text, 5), (tiny_game.GAME, "3-4-5 w", 16),
    ):  # fmt: skip
        memory = SearchMemory(resolve({"hash_mb": 1}), None)
        memory.new_game()
        memory.set_limits(Limits(depth=depth), None)
        position = game.position(text)
        game.kernels.prepare(position.state, memory.parameters)
        memory.compile_search(position.state, lists)
        arguments += [position.state, memory.search, memory.parameters]
        moves.append((game, memory))
    code = int(tiny_game.think_both(*arguments, lists))
    codes = (code // 100_000, code % 100_000)
    return [
        [game.format_move(code), int(memory.search.line_score[0]), int(memory.search.nodes), int(memory.search.depth)]
        for code, (game, memory) in zip(codes, moves, strict=True)
    ]


def task_game() -> Any:
    """A short compiled game and two small searches with everything switched on."""
    from elolab.engine.engine import StopFlag
    from elolab.engine.games import game_named
    from elolab.engine.play import CompiledGames, PlayerSettings
    from elolab.engine.rules import Adjudication, Rules
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import resolve

    game = game_named("xiangqi")
    limits = Limits(nodes=150)
    contenders = (
        PlayerSettings(resolve({"null_verify": "always", "null_in_pv": True}), limits),
        PlayerSettings(resolve({"history_index": "piece_to", "evaluation": "material", "hash_mb": 1}), limits),
    )
    played = CompiledGames("xiangqi").play(
        game.start, ["h2e2", "h9g7"], *contenders, Rules(), Adjudication(maximum_plies=60), StopFlag()
    )
    return [played.moves, played.scores, played.nodes, played.result, played.reason]


def task_cycles() -> Any:
    """The arbiter on a check, a chase and a draw."""
    from elolab.engine.games import game_named
    from elolab.engine.rules import Rules

    game = game_named("xiangqi")
    found = []
    for fen, cycle in (
        ("1nR6/3k5/9/9/9/9/9/4K4/9/9 w", "c9c8 d8d9 c8c9 d9d8"),
        ("2R6/9/3k5/9/4n4/9/9/9/5K3/9 w", "c9e9 e5c4 e9c9 c4e5"),
        ("1r3k3/9/9/9/1N7/9/9/r8/4K4/9 w", "b5a7 a2a3 a7b5 a3a2"),
    ):
        ending = game.position(fen, cycle.split() * 2).judge(Rules())
        found.append([ending.result, ending.reason] if ending else None)
    return found


def task_small() -> Any:
    """Cases small enough for the uncompiled lane."""
    from elolab.engine.games import game_named
    from tests.support.tiny_game import GAME

    game = game_named("xiangqi")
    position = game.position()
    sharp = "1r2kab1r/2c1a4/n1c1b1n2/4p2N1/p1p6/1C4P2/P1P1P4/2N1B3C/4A4/1RBAK2R1 w"
    return [
        int(game.kernels.perft(position.state, position.lists, 2)),
        _search(game, game.start, 2),
        _search(game, sharp, 2),
        _search(game, "3ak4/4a4/4P4/2P3P2/9/9/2p3p2/4p4/4A4/3AK4 w", 3, algorithm="alphabeta", fail_soft=False),
        _search(GAME, "1-2-2 w", 6),
        _search(game_named("othello"), "OOOOOO----XXXX--XOOOXOOOXXOXXOOOXXOXXOOOXOXXXOX--XOOOO-XX-OOOOOO X", 2),
        _search(game_named("othello"), "XXXXXXX-XXXXXXXOXOXXXXXOXXOXXXXO-XXXOXXOXXXXX-XOX-XXXOOX--XXXXXO O", 64),
        task_cycles(),
    ]


def _dispatchers() -> list[Any]:
    from numba.core.dispatcher import Dispatcher

    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(("elolab.engine", "tests.support.tiny_game")):
            for value in vars(module).values():
                if isinstance(value, Dispatcher):
                    found[id(value)] = value
    return list(found.values())


def main(words: list[str]) -> None:
    results = {word: globals()[f"task_{word}"]() for word in words}
    hits, misses = {}, {}
    for dispatcher in _dispatchers():
        name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"
        if count := sum(dispatcher.stats.cache_hits.values()):
            hits[name] = count
        if count := sum(dispatcher.stats.cache_misses.values()):
            misses[name] = count
    print(json.dumps({"results": results, "hits": hits, "misses": misses}))


# --- The tests ------------------------------------------------------------------------------------------------------


def run_processes(
    cache: Path, tasks: Sequence[Sequence[str]], program: Path = Path(__file__), **environment: str
) -> list[dict[str, Any]]:
    """What a program prints for each list of words, in fresh processes side by side, their cache below ``cache``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    processes = [
        subprocess.Popen(
            [sys.executable, str(program), *words],
            cwd=ROOT,
            env={**inherited, "PYTHONPATH": PYTHON_PATH, "NUMBA_CACHE_DIR": str(cache), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in tasks
    ]
    found = []
    try:
        for words, process in zip(tasks, processes, strict=True):
            printed, complaints = process.communicate(timeout=TIMEOUT_SECONDS)
            assert process.returncode == 0, f"{words} ended with {process.returncode}:\n{complaints[-3000:]}"
            found.append(json.loads(printed.splitlines()[-1]))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return found


def run_process(cache: Path, *words: str, **settings: str) -> dict[str, Any]:
    """What one process prints."""
    return run_processes(cache, [words], **settings)[0]


@pytest.fixture(scope="module", params=["copied", pytest.param("empty", marks=pytest.mark.slow)])
def cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the processes find compiled code: a copy of what ``elolab compile`` has made, or nothing."""
    base = tmp_path_factory.mktemp("numba")
    if request.param == "copied":
        shutil.copytree(CACHE_DIRECTORY, base / CACHE_DIRECTORY.name)
    return base


@pytest.fixture(scope="module")
def xiangqi_alone(cache: Path) -> dict[str, Any]:
    """What a process prints that knows no other game."""
    return run_process(cache, "xiangqi")


@pytest.fixture(scope="module")
def othello_alone(cache: Path) -> dict[str, Any]:
    return run_process(cache, "othello")


@pytest.fixture(scope="module")
def takeaway_alone(cache: Path) -> dict[str, Any]:
    return run_process(cache, "takeaway")


@pytest.fixture(scope="module")
def compiled_small(cache: Path, xiangqi_alone: dict[str, Any]) -> dict[str, Any]:
    return run_process(cache, "game", "small", "cycles")


@pytest.mark.slow
def test_rule_1_processes_may_write_the_cache_at_once(tmp_path: Path) -> None:
    """As users' may: three that compile from nothing, each right in itself, and a fourth to which all three serve."""
    games = ("xiangqi", "othello", "takeaway")
    alone = run_processes(tmp_path, [(game,) for game in games])
    again = run_process(tmp_path, *games)
    assert again["results"] == {game: one["results"][game] for game, one in zip(games, alone, strict=True)}
    assert again["misses"] == {}


@pytest.mark.integration
def test_rule_1_each_game_alone_is_right(
    request: pytest.FixtureRequest, xiangqi_alone: dict[str, Any], othello_alone: dict[str, Any]
) -> None:
    found = "hits" if "copied" in request.node.name else "misses"
    assert othello_alone[found]["elolab.engine.search.driver.think"] == 1
    assert othello_alone["results"]["othello"][0] == 8200
    assert xiangqi_alone[found]["elolab.engine.search.driver.think"] == 1
    assert xiangqi_alone["results"]["xiangqi"][0] == 79_666


@pytest.mark.slow
def test_rule_1_a_third_game_alone_is_right(takeaway_alone: dict[str, Any]) -> None:
    assert takeaway_alone["misses"]["elolab.engine.search.driver.think"] == 1
    # The side to move wins where the piles modulo 4 do not xor to zero; every search reaches the end.
    for text, (_, score, _, _) in zip(
        ("3-4-5 w", "1-2-3 b", "4-4-8 w", "0-0-4 w", "2-0-7 b"), takeaway_alone["results"]["takeaway"][1], strict=True
    ):
        one, two, three = (int(pile) % 4 for pile in text.split()[0].split("-"))
        assert (score > 0) == bool(one ^ two ^ three), text
        assert abs(score) > 29_000, text


@pytest.mark.integration
@pytest.mark.parametrize(
    "order",
    [
        ("xiangqi", "othello"),
        *(
            pytest.param(order, marks=pytest.mark.slow)
            for order in (("othello", "xiangqi"), ("takeaway",), ("xiangqi", "takeaway"), ("takeaway", "xiangqi"))
        ),
    ],
    ids=" then ".join,
)  # fmt: skip
def test_rule_1_games_from_the_cache_play_their_own_code(
    order: tuple[str, ...], cache: Path, request: pytest.FixtureRequest
) -> None:
    """Rule 3 too: recursion loaded from the cache, in a second process, with every function a cache hit."""
    alone = {game: request.getfixturevalue(f"{game}_alone")["results"][game] for game in order}
    found = run_process(cache, *order)
    assert found["results"] == alone
    assert found["misses"] == {}
    assert found["hits"]["elolab.engine.search.driver.think"] == len(order)


@pytest.mark.slow
def test_rule_1_one_function_over_both_games(
    cache: Path, xiangqi_alone: dict[str, Any], takeaway_alone: dict[str, Any]
) -> None:
    expected = [xiangqi_alone["results"]["xiangqi"][1][0], takeaway_alone["results"]["takeaway"][1][0]]
    for process in range(2):
        found = run_process(cache, "both")
        assert found["results"]["both"] == expected
        assert bool(found["misses"].get("tests.support.tiny_game.think_both")) == (process == 0)
    assert found["misses"] == {}
    assert found["hits"]["tests.support.tiny_game.think_both"] == 1


def run_twins(cache: Path, *words: str) -> dict[str, Any]:
    """What ``record_twins.py`` prints in a fresh process."""
    return run_process(cache, *words, program=SUPPORT / "record_twins.py")


@pytest.mark.integration
@pytest.mark.parametrize(
    "order", [("alpha", "beta"), pytest.param(("beta", "alpha"), marks=pytest.mark.slow)], ids=" then ".join
)
def test_rule_1_twins_whose_symbols_numba_would_name_alike(order: tuple[str, str], tmp_path: Path) -> None:
    """Each compiled in a process of its own, then both loaded into a third."""
    expected = {"alpha": 30, "beta": 30_000}
    for word in ("alpha", "beta"):
        assert run_twins(tmp_path, word) == {"values": [expected[word]], "hits": 0}
    assert run_twins(tmp_path, *order) == {"values": [expected[word] for word in order], "hits": 2}


@pytest.mark.slow
def test_rule_1_the_danger_is_real(tmp_path: Path) -> None:
    """With numba's own names the third process runs one game's code for the other; if not, rule 1 can be retired."""
    for word in ("alpha", "beta"):
        run_twins(tmp_path, "unpatched", word)
    assert run_twins(tmp_path, "unpatched", "alpha", "beta") == {"values": [30, 30], "hits": 2}


@pytest.mark.slow
@pytest.mark.parametrize("order", [("xiangqi", "takeaway"), ("takeaway", "xiangqi"), ("both",)], ids=" then ".join)
def test_rule_1_compiling_both_games_in_one_process(
    order: tuple[str, ...], tmp_path: Path, xiangqi_alone: dict[str, Any], takeaway_alone: dict[str, Any]
) -> None:
    """From an empty cache, and once more from what that process wrote."""
    alone = {**xiangqi_alone["results"], **takeaway_alone["results"]}
    alone["both"] = [alone["xiangqi"][1][0], alone["takeaway"][1][0]]
    for process in range(2):
        found = run_process(tmp_path, *order)
        assert found["results"] == {game: alone[game] for game in order}
        assert bool(found["misses"]) == (process == 0)


@pytest.mark.slow  # compiles what the games do not need
def test_rule_3_everything_in_a_second_process_from_the_cache(cache: Path, compiled_small: dict[str, Any]) -> None:
    again = run_process(cache, "game", "small", "cycles")
    assert again["results"] == compiled_small["results"]
    assert again["misses"] == {}
    for name in (
        "elolab.engine.play.play_compiled",
        "elolab.engine.search.driver.think",
        "elolab.engine.games.xiangqi.moves.perft",
    ):
        assert again["hits"][name] >= 1, name


@pytest.mark.slow  # compiles everything once more
def test_rule_8_the_bounds_checked_lane(
    cache: Path, xiangqi_alone: dict[str, Any], othello_alone: dict[str, Any], compiled_small: dict[str, Any]
) -> None:
    """An index outside its array raises there; values are those of the ordinary lane."""
    checked = run_process(cache, "xiangqi", "game", "cycles", "othello", NUMBA_BOUNDSCHECK="1")
    assert checked["misses"]["elolab.engine.search.driver.think"] == 2, "a warm cache of unchecked code was used"
    assert checked["results"]["xiangqi"] == xiangqi_alone["results"]["xiangqi"]
    assert checked["results"]["othello"] == othello_alone["results"]["othello"]
    assert checked["results"]["game"] == compiled_small["results"]["game"]
    assert checked["results"]["cycles"] == compiled_small["results"]["cycles"]


@pytest.mark.slow
def test_rule_8_the_uncompiled_lane(cache: Path, compiled_small: dict[str, Any]) -> None:
    """Plain Python runs the same sources with the same values; no warning of an overflow is let pass."""
    plain = run_process(cache, "small", NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="error::RuntimeWarning")
    assert plain["results"]["small"] == compiled_small["results"]["small"]


@pytest.mark.integration
def test_rule_2_each_state_of_the_flags_has_its_own_directory(cache: Path, xiangqi_alone: dict[str, Any]) -> None:
    directories = [path for path in cache.iterdir() if path.name.startswith("kernels-")]
    assert directories, "nothing was cached"
    assert any(any(path.rglob("*.nbc")) for path in directories)


if __name__ == "__main__":
    main(sys.argv[1:])
