"""What the tests of players of chess share: programs, and games between them, replayed by python-chess."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import chess

from elolab.arena.play.game import play_game
from elolab.arena.players.registry import make_player
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

GAME = game_named("chess")


def program(command: str, protocol: str, limit: str, **options: str) -> PlayerSpec:
    """A program with its options."""
    return PlayerSpec(
        command, protocol, Limits.parse(limit), command=tuple(shlex.split(command)), options=tuple(options.items()),
        start_timeout_ms=300_000,
    )  # fmt: skip


def builtin(limit: str = "depth=1") -> PlayerSpec:
    """The built-in engine."""
    return PlayerSpec("builtin", "builtin", Limits.parse(limit), parameters=tuple(Engine("chess").parameters.items()))


@contextmanager
def playing(*specs: PlayerSpec) -> Iterator[Any]:
    """A function that plays a game of at most ``plies`` plies from an opening; the players live until the end.

    The second player has White where ``swapped`` is true.
    """
    players = [make_player(spec, "chess") for spec in specs]

    def play(opening: Opening | None = None, plies: int = 8, *, swapped: bool = False) -> GameRecord:
        first, second = (1, 0) if swapped else (0, 1)
        job = GameJob(
            "chess", Rules(), Adjudication(resign_moves=0, draw_moves=0, maximum_plies=plies),
            Pairing(0, 0, 0, 1, 0), specs[first], specs[second], opening or Opening(GAME.start), 1,
        )  # fmt: skip
        record = play_game(job, (players[first], players[second]), StopFlag())
        replay(job.opening, record)
        return record

    try:
        yield play
    finally:
        for player in players:
            player.close()


def replay(opening: Opening, record: GameRecord) -> chess.Board:
    """Play a game by the rules of python-chess; returns its final position, which must be that of elolab too."""
    moves = [*opening.moves, *(move.move for move in record.moves)]
    board = chess.Board(opening.position, chess960=True)
    for move in moves:
        board.push_uci(move)  # refuses illegal moves
    assert chess.Board(GAME.position(opening.position, moves).text, chess960=True).fen() == board.fen()
    return board
