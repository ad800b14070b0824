"""Positions for searches: from games of self-play, as a rule one a game, each game from an opening of its own.

Which position a game gives is drawn at random, by the seed and the game's number alone: a longer list begins with the
shorter one. The games are the same on every machine, for each move is searched for so many nodes; what was found is
kept in the run's store, so that a repetition searches the same positions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elolab.arena.notation.openings import Suite
from elolab.arena.play.executor import TICK_SECONDS
from elolab.arena.play.store import Store
from elolab.arena.records import Opening, digest_of

if TYPE_CHECKING:
    from elolab.engine.engine import Engine, StopFlag

NODES_A_MOVE = 100
GAMES_AT_A_TIME = 100
"""Between which a run can be stopped without losing any."""
MAX_PLIES = {"games": 160, "last": 300, "passes": 300}
"""Of a game, by the suite that it is for."""
LAST_PLIES = 9
"""From how many plies before the end the positions of ``last`` and ``passes`` come."""


@dataclass(frozen=True)
class SuitePosition:
    """One position and the number of the game that it is from."""

    opening: Opening
    game: int


class PositionSuites:
    """The positions of a run by the name of their suite, from self-play or from its store."""

    def __init__(
        self,
        game: str,
        seed: int,
        suite: Suite,
        openings: Sequence[int],
        store: Store,
        threads: int,
        stop: StopFlag,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        """``openings`` are the places in the suite from which the games begin, one each."""
        self._game, self._seed = game, seed
        self._suite, self._openings = suite, openings
        self._store, self._threads, self._stop, self._tick = store, threads, stop, tick

    def positions(self, name: str, count: int, per_game: int) -> list[SuitePosition] | None:
        """So many positions of a suite (``tuning.keys.claims.SUITES``); ``None`` if the stop flag was set before.

        Fewer of ``passes``, for a game without one gives none.
        """
        key = f"positions {name} {digest_of([self._game, self._seed, self._suite.digest, per_game, NODES_A_MOVE])}"
        kept: list[list[str]] = list(self._store.metadata(key) or [])
        games = min(-(-count // per_game), len(self._openings))
        while len(kept) < games:
            found = self._play(name, range(len(kept), min(len(kept) + GAMES_AT_A_TIME, games)), per_game)
            if found is None:
                return None
            kept += found
            self._store.record_metadata({key: kept})
        positions = [
            SuitePosition(Opening(text), number) for number, texts in enumerate(kept[:games]) for text in texts
        ]
        return positions[:count]

    def _play(self, name: str, numbers: Sequence[int], per_game: int) -> list[list[str]] | None:
        """What the games of these numbers give; ``None`` if the stop flag was set."""
        if self._stop.is_set():
            return None
        with ThreadPoolExecutor(self._threads, "positions") as pool:
            chunks = [
                pool.submit(self._play_all, name, numbers[start :: self._threads], per_game)
                for start in range(self._threads)
            ]
            while wait(chunks, TICK_SECONDS).not_done:
                self._tick()
        found: dict[int, list[str]] = {}
        for chunk in chunks:
            found.update(chunk.result())
        return [found[number] for number in numbers] if len(found) == len(numbers) else None

    def _play_all(self, name: str, numbers: Sequence[int], per_game: int) -> dict[int, list[str]]:
        """What each game gives, by its number; fewer of them if the stop flag was set."""
        from elolab.engine.engine import Engine

        engine = Engine(self._game, {"hash_mb": 1})
        found = {}
        for number in numbers:
            if self._stop.is_set():
                break
            opening = self._suite.openings[self._openings[number]]
            texts = texts_of_self_play(engine, opening, MAX_PLIES[name])
            chosen = random.Random(f"{self._seed} {name} {number}")
            places = _places(name, texts)
            found[number] = [texts[place] for place in sorted(chosen.sample(places, min(per_game, len(places))))]
        return found


def _places(name: str, texts: Sequence[str]) -> range:
    """Which positions of a game a suite may take."""
    if name == "games":
        return range(len(texts))
    # A pass leaves the board as it is.
    boards = [text.split()[0] for text in texts]
    passes = [place for place in range(len(boards) - 1) if boards[place] == boards[place + 1]]
    end = len(texts) if name == "last" else max(passes, default=-1) + 1
    return range(max(len(texts) - LAST_PLIES, 0), end)


def texts_of_self_play(engine: Engine, opening: Opening, max_plies: int) -> list[str]:
    """The positions of a game of an engine against itself from an opening, the final one left out."""
    from elolab.engine.rules import Rules
    from elolab.engine.settings.limits import Limits

    engine.new_game()
    position = engine.game.position(opening.position, opening.moves)
    engine.game.apply_rules(position.state, Rules())
    texts: list[str] = []
    while position.judge(Rules()) is None and len(texts) < max_plies:
        texts.append(position.text)
        move = engine.search(position, Limits(nodes=NODES_A_MOVE)).move
        assert move is not None
        position.push(move)
    return texts
