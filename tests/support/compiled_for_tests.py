"""Compiles what plays games, and the functions of each game that only tests call from Python.

    python -m tests.support.compiled_for_tests

A process that has compiled a game knows the types of these functions already; in a test each would take seconds. The
functions that fit an evaluation are left to ``make integration``, whose tests use them.
"""

from __future__ import annotations

import contextlib
import gc
import io
import subprocess
import sys
from collections.abc import Sequence

from elolab.engine.compiled.compilation import compile_play
from elolab.engine.compiled.kernel import announce_compilation
from elolab.engine.engine import SearchMemory
from elolab.engine.games import GAMES, game_named
from elolab.engine.games.chess.terms import sum_of_terms
from elolab.engine.search import ordering
from elolab.engine.search.quiescence import corrected_value, learn_correction, locate_corrections
from elolab.engine.settings.parameters import resolve, to_record
from elolab.engine.values import INFINITY


def compile_contract(name: str) -> None:
    """Call each function of a game's contract, as the tests call it."""
    game = game_named(name)
    position, kernels = game.position(), game.kernels
    state, lists, code = position.state, position.lists, position.move_codes()[0]
    kernels.prepare(state, to_record(resolve({}, game=name)))
    kernels.evaluate(state, 0, -INFINITY, INFINITY)
    kernels.generate_noisy(state, lists, 1)
    kernels.perft(state, lists, 1)
    kernels.path_verdict(state, 0)
    for kernel in (kernels.material, kernels.position_key, kernels.null_move_allowed, kernels.restarts_draw_count):
        kernel(state)
    for kernel in (
        kernels.is_quiet, kernels.key_after, kernels.history_piece, kernels.capture_order, kernels.capture_gain,
        kernels.loses_material,
    ):  # fmt: skip
        kernel(state, code)
    kernels.make(state, code)
    kernels.unmake(state)
    kernels.gives_check(state, code)
    kernels.make_null(state)
    kernels.unmake_null(state)
    if name == "chess":
        sum_of_terms(state, None)
        game.position("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1")  # whether a pawn may capture in passing


def compile_search_parts(name: str) -> None:
    """Call the functions that order moves and correct the evaluation, as their tests call them."""
    game = game_named(name)
    position, kernels = game.position(), game.kernels
    state, lists, code = position.state, position.lists, position.code_of(position.legal_moves()[0])
    memory = SearchMemory(resolve({"hash_mb": 1}, game=name), None)
    memory.new_game()
    search, parameters = memory.search, memory.parameters
    ordering.reward_cutoff(state, search, lists, parameters, code, 5, 3, 0)
    count = int(kernels.generate(state, lists, 0))
    ordering.score_moves(state, search, lists, parameters, 0, count, 0)
    ordering.bring_best(lists, 0, 0, count)
    ordering.leave_out_quiet(state, lists, 0, 1, count, False)
    ordering.gravity_bonus(parameters, 1)
    ordering.with_gravity(0, 2048)
    kernels.prepare(state, parameters)
    locate_corrections(state, search, parameters, 0)
    learn_correction(search, parameters, 80, 15, 0)
    corrected_value(state, search, parameters, -INFINITY, INFINITY, 0)


def main(words: Sequence[str]) -> int:
    """Compile the named game, or every game in a process of its own; returns the largest exit code."""
    if words:
        gc.disable()  # collecting garbage takes a twenty-fifth of the time, and this process ends soon
        with contextlib.redirect_stderr(io.StringIO()):
            compile_play(words[0])
        compile_contract(words[0])
        if words[0] != "othello":
            compile_search_parts(words[0])
        return 0
    announce_compilation()
    helpers = [subprocess.Popen([sys.executable, "-m", "tests.support.compiled_for_tests", name]) for name in GAMES]
    return max(helper.wait() for helper in helpers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
