"""Repeats the searches of stored games without an arena, as an upper bound on the speed of a tournament.

Each player's moves of a game are searched in order, beginning with an empty table. So every search visits the same
nodes as in the game. A whole game is one call of compiled code.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from elolab.arena.records import GameRecord, PlayerSpec
from elolab.engine.compiled.kernel import jit, new_record
from elolab.engine.engine import SearchMemory, StopFlag
from elolab.engine.games import game_named
from elolab.engine.games.contract import MOVE_LISTS_DTYPE, Game, in_check, make, prepare
from elolab.engine.rules import Rules
from elolab.engine.search.clock import allocate_time
from elolab.engine.search.driver import think


@jit
def search_moves(state: Any, search: Any, lists: Any, parameters: Any, moves: Any, side: int) -> Any:
    """Play ``moves`` (move codes, 1-d int64), searching before each move of ``side``; returns the number of nodes."""
    nodes = np.int64(0)
    for index in range(moves.size):
        if state.side == side:
            prepare(state, parameters)
            allocate_time(search, parameters, np.int64(0), np.int64(-1), np.int64(0), np.int64(0))
            think(state, search, lists, parameters)
            nodes += search.nodes
        in_check(state)
        make(state, np.int64(moves[index]))
    return nodes


@dataclass(frozen=True)
class PlainSearches:
    """Totals over all searches of some games."""

    nodes: int
    cpu_seconds: float
    wall_seconds: float


@dataclass(frozen=True)
class _Line:
    """A game whose searches are repeated."""

    start: Any
    """State record of the start position; it is not changed."""
    moves: np.ndarray
    """Move codes, 1-d int64."""
    players: tuple[PlayerSpec, PlayerSpec]
    nodes: int


class Searcher:
    """Repeats the searches of games whose players have limits in nodes or depth."""

    def __init__(self, game: str, rules: Rules, players: Sequence[PlayerSpec], records: Sequence[GameRecord]) -> None:
        self._game: Game = game_named(game)
        named = {player.name: player for player in players}
        self._lines = [self._line(record, rules, (named[record.first], named[record.second])) for record in records]

    def _line(self, record: GameRecord, rules: Rules, players: tuple[PlayerSpec, PlayerSpec]) -> _Line:
        start = self._game.position(record.opening.position, record.opening.moves)
        self._game.apply_rules(start.state, rules)
        trial, codes = start.copy(), []
        for entry in record.moves:
            codes.append(trial.code_of(entry.move))
            trial.push(entry.move)
        nodes = sum(entry.nodes or 0 for entry in record.moves)
        return _Line(start.state, np.array(codes, np.int64), players, nodes)

    def __call__(self, threads: int) -> PlainSearches:
        """Repeat all searches in ``threads`` threads; raises ``RuntimeError`` unless they have the games' nodes."""
        shares = [self._lines[thread::threads] for thread in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self._search, [share[:1] for share in shares]))  # compiled, tables touched
            wall = time.monotonic()
            found = list(pool.map(self._search, shares))
            wall = time.monotonic() - wall
        nodes = sum(nodes for nodes, _ in found)
        if nodes != sum(line.nodes for line in self._lines):
            raise RuntimeError("the searches are not those of the games")
        return PlainSearches(nodes, sum(seconds for _, seconds in found), wall)

    def _search(self, lines: Sequence[_Line]) -> tuple[int, float]:
        """Repeat the searches of some games; return their nodes, and the processor seconds of this thread."""
        lists, memories = new_record(MOVE_LISTS_DTYPE), {}
        nodes, seconds = 0, 0.0
        for line in lines:
            for side, player in enumerate(line.players):
                if player not in memories:
                    memory = memories[player] = SearchMemory(dict(player.parameters), player.limits.nodes)
                    memory.set_limits(player.limits, StopFlag())
                    memory.compile_search(line.start, lists)
                memory = memories[player]
                state = line.start.copy()
                began = time.thread_time()
                memory.new_game()
                nodes += search_moves(state, memory.search, lists, memory.parameters, line.moves, side)
                seconds += time.thread_time() - began
        return nodes, seconds
