"""What a run will play, stage by stage: at most how many games, and how long they may take.

What a dry run says, what is said before the first game, the line of progress and ``live.json`` are all of this one
plan, so that nothing is played beyond what was announced.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.play.estimates import duration_text
from arena.play.store import STORE_NAME, Store
from engine.language import console


@dataclass(frozen=True)
class GameStage:
    """A part of a run, such as the validation of a study."""

    name: str
    """For people, in the language of the console."""
    games: int
    """At most; of a stage that is bounded by ``seconds``, what these are taken to allow."""
    game_seconds: float
    """Time of one processor that a game may take, roughly: ``arena.play.estimates``."""
    stored: int = 0
    """Games of it that are there already."""
    seconds: float | None = None
    """The time that bounds it instead of a number of games."""

    @property
    def missing(self) -> int:
        """Games that may still be played."""
        return max(0, self.games - self.stored)


@dataclass(frozen=True)
class StagePlan:
    """What is played for a run that is called ``name``, in its folder."""

    name: str
    directory: Path
    stages: tuple[GameStage, ...]
    concurrency: int = 1
    is_bound: bool = True
    """Whether fewer games may be enough."""

    @property
    def games(self) -> int:
        """At most, of all stages."""
        return sum(stage.games for stage in self.stages)

    @property
    def stored(self) -> int:
        """Games that are there already."""
        return sum(stage.stored for stage in self.stages)

    def seconds_of(self, stage: GameStage) -> float:
        """Time that what is missing of a stage may take, by the pace of the stored games or by rough figures."""
        seconds = stage.missing * stage.game_seconds * self.pace / self.concurrency
        return seconds if stage.seconds is None else min(seconds, stage.seconds)

    @property
    def seconds(self) -> float:
        """The same of the whole run."""
        return sum(map(self.seconds_of, self.stages))

    @functools.cached_property
    def pace(self) -> float:
        """How many times the rough figures the games took that the folder holds; 1 if it holds none."""
        expected = sum(stage.stored * stage.game_seconds for stage in self.stages)
        if not expected or not (self.directory / STORE_NAME).is_file():
            return 1.0
        with Store(self.directory, read_only=True, glance=True) as store:  # for a rough figure
            mean_ms = store.mean_duration_ms()
        return 1.0 if mean_ms is None else mean_ms / 1000 * self.stored / expected

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "folder": str(self.directory),
            "at_most": self.is_bound and self.stored < self.games,
            "games": self.games,
            "stored": self.stored,
            "seconds": self.seconds,
            "stages": [
                {"stage": one.name, "games": one.games, "stored": one.stored, "seconds": self.seconds_of(one)}
                for one in self.stages
            ],
        }

    def lines(self, more: Sequence[str] = ()) -> list[str]:
        """In words, a line each: all games, every stage if there are several, ``more``, and the time."""
        say, bound = console("arena"), "_at_most" if self.data()["at_most"] else ""
        lines = [say(f"dry_run.games{bound}", **self._shown())]
        for stage in filter(lambda one: one.games, self.stages if len(self.stages) > 1 else ()):
            time = duration_text(self.seconds_of(stage), always_hours=True)
            key = "dry_run.stage_at_most" if stage.seconds is None else "dry_run.stage_in_time"
            lines.append(say(key, stage=stage.name, games=stage.games, stored=stage.stored, time=time))
        lines += more
        return [*lines, say(f"dry_run.time{bound}", time=duration_text(self.seconds, always_hours=True))]

    def _shown(self) -> dict[str, Any]:
        return {"name": self.name, "games": self.games, "stored": self.stored, "folder": self.directory}
