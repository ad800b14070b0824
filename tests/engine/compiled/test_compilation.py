"""Compiling ahead of use leaves nothing of the engine uncompiled that commands and protocols call.

This file is also the program of a fresh process: ``python test_compilation.py GAME`` prints the functions that are used
after ``compile_game`` and not in it.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.registry import CPUDispatcher

from elolab import command_line
from elolab.engine.compiled import compilation
from elolab.engine.games import GAMES

ROOT = Path(__file__).parents[3]
TIMEOUT_SECONDS = 400


def _ready() -> set[str]:
    """Every function that has been compiled or loaded, with its types of arguments."""
    dispatchers = [thing for thing in gc.get_objects() if isinstance(thing, CPUDispatcher)]
    return {
        f"{function.py_func.__module__}.{function.py_func.__name__} {signature}"
        for function in dispatchers
        for signature in function.signatures
    }


def _use(name: str) -> None:
    """What commands, protocols and the arena do with a game, apart from searches and match games."""
    from elolab.engine.engine import Engine, StopFlag
    from elolab.engine.games import game_named
    from elolab.engine.settings.limits import Limits
    from elolab.engine.solving import Solver

    game = game_named(name)
    kernels, engine, position = game.kernels, Engine(name), game.position()
    engine.search(position, Limits(nodes=200), lines=2)
    assert engine.table_entry(position) is not None
    engine.static_score(position)
    ended = {
        "xiangqi": "R3k4/1R7/9/9/9/9/9/9/9/3K5 b",
        "othello": "XXXXXXXXXXXXXXXXXXXXXXXXXXXXOXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX X",
        "chess": "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
    }
    over = game.position(ended[name])
    assert not over.legal_moves()
    engine.static_score(over)
    for kernel in (kernels.final_score, kernels.plies_left, kernels.repetition_key):
        kernel(over.state)
    for passes in ("ply", "free"):
        game.perft(position, 2, passes)
    code = position.move_codes()[0]
    kernels.is_pass(position.state, code)
    kernels.make(position.state, code)
    kernels.in_check(position.state)
    kernels.judge(position.state, position.lists)
    kernels.unmake(position.state)
    if game.score_unit:
        Solver(name, {}, StopFlag()).solve(game.position("O" + "X" * 62 + "- O"), every_move=True)
    if game.fitting is not None:
        rows = game.fitting.rows_of_game(game.start, position.legal_moves()[:1])
        game.fitting.survey(rows)
        if game.fitting.pattern_weights:
            game.fitting.patterns(rows)


def test_code_that_could_not_be_kept_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compilation, "compile_game", lambda name: None)
    assert compilation.compile_quietly("xiangqi") == []
    monkeypatch.setattr(compilation, "REASONS_NOT_KEPT", ["File too large"])
    assert compilation.compile_quietly("xiangqi") == ["File too large"]
    for reasons, code in (([], 0), (["File too large"], 1)):
        monkeypatch.setattr(compilation, "compile_games", lambda games, found=reasons: found)
        assert command_line.main(["compile"]) == code
        said = capsys.readouterr()
        assert said.out.startswith("compiled for xiangqi, othello and chess") == (code == 0)
        assert ("compiled code cannot be kept there (File too large); make room" in said.err) == (code == 1)


@pytest.mark.integration
@pytest.mark.parametrize("game", GAMES)
def test_commands_and_protocols_compile_nothing_after_it(game: str) -> None:
    # At first the functions may be there because others call them; the second process has only what was kept.
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, __file__, game], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.split("\n") == [""]


if __name__ == "__main__":
    from elolab.engine.compiled.compilation import compile_game

    compile_game(sys.argv[1])
    known = _ready()
    assert ".play_programs " in " ".join(known) or sys.argv[1] == "othello", "moves of two programs are not compiled"
    _use(sys.argv[1])
    print("".join(f"{function}\n" for function in sorted(_ready() - known)), end="")
