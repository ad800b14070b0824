"""What a run will play, stage by stage: at most how many games, and how long they may take.

What a dry run says, what is said before the first game, the line of progress and ``live.json`` are all of this one
plan, so that nothing is played beyond what was announced.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elolab.arena.play.estimates import duration_text
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.sequential import Reach
from elolab.engine.errors import UserError
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, console, wrapped

TEXT_WIDTH = 79


class PlanError(UserError):
    """A run that could not show what it is for."""


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
    unknown_speed: tuple[str, ...] = ()
    """Programs of which no game is stored and on whose speed the time depends, so that nothing is said of it."""
    reach: tuple[Reach, ...] = ()
    """What its tests can show within its games."""

    @property
    def has_unknown_games(self) -> bool:
        """Whether ``games`` says nothing, because nobody knows how many the time allows."""
        return self.seconds is not None and bool(self.unknown_speed)

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
    paced_by: StagePlan | None = None
    """Of a folder's other games, whose pace holds for these too."""

    @property
    def games(self) -> int:
        """At most, of all stages."""
        return sum(stage.games for stage in self.stages)

    @property
    def stored(self) -> int:
        """Games that are there already."""
        return sum(stage.stored for stage in self.stages)

    def seconds_of(self, stage: GameStage) -> float | None:
        """Time that what is missing of a stage may take, by the pace of the stored games or by rough figures.

        ``None`` if it depends on programs of unknown speed.
        """
        if stage.unknown_speed:
            return stage.seconds if stage.missing else 0.0
        seconds = stage.missing * stage.game_seconds * self.pace / self.concurrency
        return seconds if stage.seconds is None else min(seconds, stage.seconds)

    @property
    def seconds(self) -> float | None:
        """The same of the whole run."""
        known = [seconds for seconds in map(self.seconds_of, self.stages) if seconds is not None]
        return sum(known) if len(known) == len(self.stages) else None

    @functools.cached_property
    def pace(self) -> float:
        """How many times the rough figures the games took that the folder holds; 1 if it holds none."""
        if self.paced_by is not None:
            return self.paced_by.pace
        expected = sum(stage.stored * stage.game_seconds for stage in self.stages)
        if not expected or not (self.directory / STORE_NAME).is_file():
            return 1.0
        with Store(self.directory, read_only=True, glance=True) as store:  # for a rough figure
            mean_ms = store.mean_duration_ms()
        return 1.0 if mean_ms is None else mean_ms / 1000 * self.stored / expected

    def refuse_the_impossible(self) -> None:
        """Raise ``PlanError`` if all stages are tests that no outcome of their games can pass.

        A study is worth its games without its validations. A run that was begun may go on, and be reported as far as it
        comes.
        """
        hopeless = [next((reach for reach in stage.reach if reach.is_hopeless), None) for stage in self.stages]
        first = hopeless[0]
        if first is not None and all(hopeless) and not self.stored:
            raise PlanError(f"{first.where}: {first.text(Catalogue('arena', DEFAULT_LANGUAGE)).removesuffix('.')}")

    def remarks(self) -> list[str]:
        """What the tests of the stages that are still to be played can show, a sentence each."""
        say = console("elolab.arena")
        found = []
        for stage in filter(lambda stage: stage.missing, self.stages):
            for reach in stage.reach:
                text = reach.text(say)
                text = say("reach.of_stage", stage=stage.name, text=text) if len(self.stages) > 1 else text
                found.append(text if reach.is_likely else say("reach.warning", text=text))
        return found

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "folder": str(self.directory),
            "at_most": self.is_bound and self.stored < self.games,
            "games": None if any(stage.has_unknown_games for stage in self.stages) else self.games,
            "stored": self.stored,
            "seconds": self.seconds,
            "unknown_speed": [*dict.fromkeys(name for stage in self.stages for name in stage.unknown_speed)],
            "stages": [
                {
                    "stage": one.name,
                    "games": None if one.has_unknown_games else one.games,
                    "stored": one.stored,
                    "seconds": self.seconds_of(one),
                    "reach": [reach.data() for reach in one.reach],
                }
                for one in self.stages
            ],
            "remarks": self.remarks(),
        }

    def lines(self, more: Sequence[str] = ()) -> list[str]:
        """In words, a line each: all games, every stage if there are several, ``more``, and the time."""
        say, data = console("elolab.arena"), self.data()
        kind = "_unknown" if data["games"] is None else "_at_most" if data["at_most"] else ""
        lines = [say(f"dry_run.games{kind}", **data)]
        for stage in filter(lambda one: one.games, self.stages if len(self.stages) > 1 else ()):
            seconds = self.seconds_of(stage)
            time = "" if seconds is None else duration_text(seconds, always_hours=True)
            key = "stage_at_most" if stage.seconds is None else "stage_in_time"
            if stage.unknown_speed:
                key += "_unknown"
            lines.append(say(f"dry_run.{key}", stage=stage.name, games=stage.games, stored=stage.stored, time=time))
        return [*lines, *more, time_line(data), *remark_lines(data)]


def remark_lines(plan: Mapping[str, Any]) -> list[str]:
    """The remarks of a plan, as ``StagePlan.data`` has it, within 80 columns."""
    return [line for remark in plan["remarks"] for line in wrapped(remark, TEXT_WIDTH)]


def time_line(plan: Mapping[str, Any]) -> str:
    """How long a plan, as ``StagePlan.data`` has it, may take, or why that is not known."""
    say = console("elolab.arena")
    if plan["seconds"] is None:
        return say("dry_run.time_unknown", players=", ".join(plan["unknown_speed"]))
    time = duration_text(plan["seconds"], always_hours=True)
    return say(f"dry_run.time{'_at_most' if plan['at_most'] else ''}", time=time)
