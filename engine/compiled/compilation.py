"""Compilation of all games before first use, in parallel processes, one per game."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Sequence

from elolab.engine.child_processes import helper_command, start_helper
from elolab.engine.compiled.cache import REASONS_NOT_KEPT
from elolab.engine.compiled.kernel import announce_compilation, new_record
from elolab.engine.errors import UserError


class CompilationFailure(UserError):
    """A helper process failed or was killed; the message names the game."""

    exit_code = 1


def compile_games(games: Sequence[str]) -> list[str]:
    """Fill the on-disk cache with the code of these games. Takes one or two seconds if the code is already there.

    Returns the reasons, without repetition, why code could not be saved; empty if all was saved. Raises
    ``CompilationFailure`` if a helper process fails.
    """
    announce_compilation()
    reasons: list[str] = []
    with contextlib.ExitStack() as ending:
        helpers = [ending.enter_context(start_helper(helper_command(__name__, [name]))) for name in games]
        for name, helper in zip(games, helpers, strict=True):
            assert helper.stdout is not None
            text = helper.stdout.read()
            if helper.wait() != 0:
                raise CompilationFailure(f"{name} was not compiled: the process for it ended with {helper.returncode}")
            reasons += json.loads(text)
    return list(dict.fromkeys(reasons))


def main(words: Sequence[str]) -> int:
    """Run a helper process: compile the named game and print as JSON the reasons why code could not be saved."""
    print(json.dumps(compile_quietly(words[0])))
    return 0


def compile_quietly(name: str) -> list[str]:
    """Compile a game without output; return the reasons why code could not be saved.

    Used by helper processes: the parent process reports progress and problems.
    """
    with contextlib.redirect_stderr(io.StringIO()):
        compile_game(name)
    return REASONS_NOT_KEPT


def compile_game(name: str) -> None:
    """Compile a game by calling, once, each compiled function that Python calls."""
    compile_play(name)
    _use_fitting(name)


def compile_play(name: str) -> None:
    """Compile a game as ``compile_game`` does, but without the functions that fit an evaluation."""
    _use_engine(name)
    _use_rules(name)
    _use_programs(name)


def _use_engine(name: str) -> None:
    """Compile the search, the transposition table, the evaluation and match play, by using them once."""
    from elolab.engine.engine import Engine, Line, StopFlag
    from elolab.engine.games import game_named
    from elolab.engine.play import CompiledGames, PlayerSettings
    from elolab.engine.rules import Adjudication
    from elolab.engine.search.clock import start_clock
    from elolab.engine.search.quiescence import terminal_value
    from elolab.engine.search.records import SEARCH_DTYPE
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import resolve

    game = game_named(name)
    position = game.position()
    engine = Engine(name)
    engine.search(position, Limits(depth=1))
    engine.known_line(position, Line("", 0, 0, (), 0))
    engine.table_entry(position)
    engine.static_score(position)
    # Also needed for the evaluation of a finished game and the best line of a solved one.
    terminal_value(position.state, 0)
    start_clock(new_record(SEARCH_DTYPE))
    player_settings = PlayerSettings(resolve({}, game=name), Limits(nodes=10))
    CompiledGames(name).play(
        game.start, (), player_settings, player_settings, game.standard_rules, Adjudication(maximum_plies=2), StopFlag()
    )


def _use_rules(name: str) -> None:
    """Compile perft, names of moves, the arbiter, adjudication and tests of a position's state, by using them once."""
    from elolab.engine.games import game_named
    from elolab.engine.play import Arbiter
    from elolab.engine.rules import Adjudication

    game = game_named(name)
    position, kernels = game.position(), game.kernels
    for passes in ("ply", "free"):
        game.perft(position, 1, passes)
    for kernel in (kernels.final_score, kernels.plies_left, kernels.repetition_key, kernels.in_check):
        kernel(position.state)
    kernels.is_pass(position.state, position.move_codes()[0])
    move = position.legal_moves()[0]
    if game.move_names is not None:
        named = game.move_names.format_moves(position.copy(), [move], game.move_notations[0])
        game.move_names.read_game(position.copy(), named)
    position.push(move)
    position.judge(game.standard_rules)
    kernels.unmake(position.copy().state)
    arbiter = Arbiter(position, game.standard_rules, Adjudication())
    arbiter.play(position.legal_moves()[0], None)


def _use_programs(name: str) -> None:
    """Compile the code for games between two external programs, with a game that is stopped before its first move."""
    from elolab.engine.compiled.exchange import Conversation
    from elolab.engine.compiled.program_games import ProgramArbiter, ProgramGame, ProgramSide, move_words
    from elolab.engine.compiled.program_play import IS_COMPILED
    from elolab.engine.engine import StopFlag
    from elolab.engine.games import game_named
    from elolab.engine.protocols import SERVED_PROTOCOLS
    from elolab.engine.rules import Adjudication
    from elolab.engine.settings.limits import Limits

    if not IS_COMPILED or name not in SERVED_PROTOCOLS["uci"].games:
        return
    game, stop = game_named(name), StopFlag()
    stop.set()
    side = ProgramSide(Conversation(-1, -1, -1, -1), move_words(name), ("", "", ""), Limits(nodes=1))
    arbiter = ProgramArbiter(game.position(), game.standard_rules, Adjudication())
    arbiter.call(ProgramGame((side, side), 0), game.position().list_array, side.talk.wait_arguments(stop))()


def _use_fitting(name: str) -> None:
    """Compile the functions that fit an evaluation, by using them once."""
    from elolab.engine.games import game_named

    game = game_named(name)
    fitting = game.fitting
    if fitting is not None:
        rows = fitting.rows_of_game(game.start, ())
        fitting.survey(rows)
        if fitting.pattern_weights:
            fitting.patterns(rows)
