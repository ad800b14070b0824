"""Publishes games in progress in ``live.json``, and reads viewers' requests.

All games in progress are published, but moves only for the first games in schedule order, because the moves of hundreds
of games would take megabytes. To request the moves of all games, or a game's dialogue, a viewer writes the file
``asked.json`` in the run's folder. The run reads the file at its next publication, and deletes it at its end.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elolab.arena.files import FileError, replace_file
from elolab.arena.records import PlayerSpec, RunningGame

ASKED_NAME = "asked.json"
ASKED_SECONDS = 6.0
"""Seconds for which a request is valid; viewers repeat it every few seconds."""
GAMES_WITH_MOVES = 16
"""Number of games in progress that are published with their moves by default: the first in schedule order.

A game only moves forward in this order. Once its moves are published, they are published until it ends.
"""
DIALOGUE_LINES = 80
"""Maximum number of lines of a player's dialogue to publish."""


def game_name(series: str, number: int) -> str:
    """Name of a game for viewers: its number, preceded by the name of its series (``Pairing.series``) if it has one."""
    return "-".join([*series.split(), str(number)])


class Asked(NamedTuple):
    """The current requests of a run's viewers."""

    all_moves: bool = False
    """Whether the run shall publish the moves of all games in progress."""
    dialogues: frozenset[str] = frozenset()
    """Names (see ``game_name``) of the games whose dialogues the run shall publish."""


def ask(folder: Path, *, all_moves: bool, dialogues: Iterable[str]) -> bool:
    """Write a request to the run in ``folder``, valid for ``ASKED_SECONDS``; returns whether it could be written.

    ``all_moves`` asks for the moves of all games. ``dialogues`` names the games (``game_name``) whose dialogues are
    wanted.
    """
    text = json.dumps({"all_moves": all_moves, "dialogues": sorted(dialogues)}) + "\n"
    try:
        replace_file(folder / ASKED_NAME, text, durable=False)
    except FileError:
        return False
    return True


class Requests:
    """Reads viewers' requests; without requests, this takes only one system call."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = folder / ASKED_NAME, clock
        self._stamp, self._seen = 0, 0.0
        self._asked = Asked()

    def read(self) -> Asked:
        """The requests that are valid now.

        The age of a request is measured with the clock of this machine, because a viewer's clock may differ.
        """
        try:
            stamp = os.stat(self._path).st_mtime_ns
        except OSError:
            return Asked()
        now = self._clock()
        if stamp != self._stamp:
            self._stamp, self._seen = stamp, now
            self._asked = self._read()
        return self._asked if now - self._seen < ASKED_SECONDS else Asked()

    def _read(self) -> Asked:
        try:
            found = json.loads(self._path.read_text("utf-8"))
            return Asked(bool(found["all_moves"]), frozenset(map(str, found["dialogues"])))
        except (OSError, ValueError, KeyError, TypeError):  # a viewer of another version may write other content
            return Asked()

    def remove(self) -> None:
        """Delete the file of requests at the end of the run."""
        with contextlib.suppress(OSError):
            self._path.unlink()


def published_games(running: Sequence[RunningGame], asked: Asked) -> list[dict[str, Any]]:
    """The games in progress as data for ``live.json``, in schedule order."""
    return [
        _published(game, asked, with_moves=asked.all_moves or place < GAMES_WITH_MOVES)
        for place, game in enumerate(running)
    ]


def _published(game: RunningGame, asked: Asked, *, with_moves: bool) -> dict[str, Any]:
    """A game in progress as data; without ``with_moves``, the lists with one value per move are ``None``."""
    job = game.job
    so_far = game.read_moves() if with_moves else None
    data: dict[str, Any] = {
        "series": job.pairing.series,
        "number": job.pairing.number,
        "game": job.game,
        "first": job.first.name,
        "second": job.second.name,
        "opening": job.opening.name,
        "seconds": round(game.seconds, 3),
        "worker": game.worker,
        "position": job.opening.position,
        "opening_moves": job.opening.moves,
        "clocks": [_clock(job.first), _clock(job.second)],
        "moves": None if so_far is None else so_far.moves,
        "scores": None if so_far is None else so_far.scores,
        "depths": None if so_far is None else so_far.depths,
        "nodes": None if so_far is None else so_far.nodes,
        "times": None if so_far is None else [round(time_ms, 2) for time_ms in so_far.times_ms],
        "thinking": None if so_far is None or so_far.thinking_ms is None else round(so_far.thinking_ms),
    }
    if asked.dialogues and game_name(job.pairing.series, job.pairing.number) in asked.dialogues:
        data["dialogue"] = [lines[-DIALOGUE_LINES:] for lines in game.read_dialogue()]
    return data


def _clock(player: PlayerSpec) -> list[int] | None:
    """A player's clock: time in ms, increment in ms, and moves per time control; ``None`` without a clock."""
    limits = player.limits
    return None if limits.clock_ms is None else [limits.clock_ms, limits.increment_ms, limits.moves_per_control]


def machine() -> dict[str, Any]:
    """This machine as data: name, number of processors, and load average over the last minute."""
    return {"name": platform.node(), "processors": os.cpu_count() or 1, "load": round(os.getloadavg()[0], 2)}
