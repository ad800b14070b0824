"""Positions for searches, drawn from self-play games; every game starts from its own opening.

The seed and the game's number alone determine which positions are drawn. So a longer list begins with all positions of
a shorter list. The games are the same on every machine, because moves are limited by nodes. The run's store keeps the
positions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elolab.arena.notation.openings import Suite
from elolab.arena.records import Opening, digest_of
from elolab.engine.settings.limits import Limits
from elolab.tuning.ablation.position_searches import PositionSearches

if TYPE_CHECKING:
    from elolab.engine.engine import Engine

NODES_A_MOVE = 100
GAMES_AT_A_TIME = 100
"""Number of games between two writes to the store; a stopped run loses at most these games."""
MAX_PLIES = {"games": 160, "last": 300, "passes": 300}
"""Maximum number of plies of a game, by suite."""
LAST_PLIES = 9
"""The suites ``last`` and ``passes`` take positions from this number of plies at the end of a game."""


@dataclass(frozen=True)
class SampledPosition:
    """A position and the index of the game from which it comes."""

    opening: Opening
    game: int


class PositionSuites:
    """A run's positions by suite: drawn from self-play, or read from the run's store."""

    def __init__(self, searches: PositionSearches, seed: int, suite: Suite, openings: Sequence[int]) -> None:
        """Draw from games that start at ``openings``, indices into ``suite``. Every game has a different opening."""
        self._searches, self._seed, self._suite, self._openings = searches, seed, suite, openings

    def positions(self, name: str, count: int, per_game: int) -> list[SampledPosition] | None:
        """At most ``count`` positions of the suite ``name``; ``None`` if the stop flag was set before all were drawn.

        ``tuning.keys.claims.SUITES`` lists the suites. ``per_game`` is the number of positions to draw from each game.
        ``passes`` may give fewer positions than ``count``, because some games have no pass.
        """
        content = [self._searches.game, self._seed, self._suite.digest, per_game, NODES_A_MOVE]
        key, store = f"positions {name} {digest_of(content)}", self._searches.store
        kept: list[list[str]] = list(store.metadata(key) or [])
        games = min(-(-count // per_game), len(self._openings))
        while len(kept) < games:
            numbers = range(len(kept), min(len(kept) + GAMES_AT_A_TIME, games))
            found = self._searches.by_threads(
                {"hash_mb": 1}, numbers, lambda engine, number: self._drawn(engine, name, number, per_game)
            )
            if found is None:
                return None
            kept += found
            store.record_metadata({key: kept})
        positions = [
            SampledPosition(Opening(text), number) for number, texts in enumerate(kept[:games]) for text in texts
        ]
        return positions[:count]

    def _drawn(self, engine: Engine, name: str, number: int, per_game: int) -> list[str]:
        texts = texts_of_self_play(engine, self._suite.openings[self._openings[number]], MAX_PLIES[name])
        places = _places(name, texts)
        chosen = random.Random(f"{self._seed} {name} {number}").sample(places, min(per_game, len(places)))
        return [texts[place] for place in sorted(chosen)]


def _places(name: str, texts: Sequence[str]) -> range:
    """Indices of the positions that the suite ``name`` may use; ``texts`` are all positions of one game."""
    if name == "games":
        return range(len(texts))
    # A pass leaves the board as it is.
    boards = [text.split()[0] for text in texts]
    passes = [place for place in range(len(boards) - 1) if boards[place] == boards[place + 1]]
    end = len(texts) if name == "last" else max(passes, default=-1) + 1
    return range(max(len(texts) - LAST_PLIES, 0), end)


def texts_of_self_play(engine: Engine, opening: Opening, max_plies: int) -> list[str]:
    """The positions of a game that the engine plays against itself from an opening, without the final position."""
    engine.new_game()
    position = engine.game.position(opening.position, opening.moves)
    engine.game.apply_rules(position.state, engine.game.standard_rules)
    texts: list[str] = []
    while position.judge(engine.game.standard_rules) is None and len(texts) < max_plies:
        texts.append(position.text)
        move = engine.search(position, Limits(nodes=NODES_A_MOVE)).move
        assert move is not None
        position.push(move)
    return texts
