"""Compiling ahead of use: every game in a process of its own, so that they compile side by side."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from engine.compiled.kernel import announce_compilation


def compile_games(games: Sequence[str]) -> None:
    """Fill the cache on disk with the code of these games; takes a second or two where it is filled already.
    """
    announce_compilation()
    # Started afresh: what a forked process inherits of numba's threads and locks is not safe to use.
    with ProcessPoolExecutor(len(games), mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_compile_quietly, games))


def _compile_quietly(name: str) -> None:
    """The announcement was made."""
    with contextlib.redirect_stderr(io.StringIO()):
        compile_game(name)


def compile_game(name: str) -> None:
    """Use once whatever the commands use of a game: a search, a match game, perft, the arbiter, adjudication."""
    from engine.engine import Engine, Line, StopFlag
    from engine.games import game_named
    from engine.play import Arbiter, CompiledGames, PlayerSettings
    from engine.rules import Adjudication, Rules
    from engine.settings.limits import Limits
    from engine.settings.parameters import resolve
    from engine.solving import known_line

    game = game_named(name)
    position = game.position()
    engine = Engine(name)
    engine.search(position, Limits(depth=1))
    known_line(engine, position, Line("", 0, 0, ()))
    player_settings = PlayerSettings(resolve({}, game=name), Limits(nodes=10))
    CompiledGames(name).play(
        game.start, (), player_settings, player_settings, Rules(), Adjudication(maximum_plies=2), StopFlag()
    )
    for passes in ("ply", "free"):
        game.perft(position, 1, passes)
    position.push(position.legal_moves()[0])
    position.judge(Rules())
    arbiter = Arbiter(position, Rules(), Adjudication())
    arbiter.play(position.legal_moves()[0], None)
    if name == "xiangqi":
        from engine.programs.exchange import Exchange, Program

        nobody = Program(-1, -1, -1, "", "", 0, 0)
        Exchange(arbiter, StopFlag()).play((nobody, nobody), 0, 0, False)
