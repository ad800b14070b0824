"""The plan of a run by stages: maximum number of games and durations.

A dry run, the announcement before the first game, the status line and ``live.json`` all use this plan, so that a run
never plays more games than announced.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elolab.arena.colours import text_columns
from elolab.arena.play.estimates import duration_text
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.sequential import Reach, SequentialSettings
from elolab.engine.errors import UserError, spelt
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, console, wrapped


class PlanError(UserError):
    """Raised if no outcome of the planned games can pass the run's statistical tests."""


@dataclass(frozen=True)
class GameStage:
    """A part of a run, such as the validation of a study."""

    name: str
    """Name of the stage, in the console's language."""
    games: int
    """Maximum number of games; for a time budget, the estimated number of games in that time."""
    game_seconds: float
    """Approximate processor seconds per game; see ``arena.play.estimates``."""
    stored: int = 0
    """Number of games already stored."""
    seconds: float | None = None
    """Time budget in seconds, in place of a fixed number of games; ``None`` without a budget."""
    unknown_speed: tuple[str, ...] = ()
    """Names of external players without stored games; the duration depends on their unknown speed."""
    reach: tuple[Reach, ...] = ()
    """Power of each statistical test of the stage with the planned games."""
    test: SequentialSettings | None = None
    """The sequential test that may end the stage; ``None`` without one."""
    is_rest: bool = False
    """Whether the stage also gets the games of earlier stages that end early, so that ``games`` is its minimum."""

    @property
    def has_unknown_games(self) -> bool:
        """Whether ``games`` is meaningless, because the number of games that fit into the time budget is unknown."""
        return self.seconds is not None and bool(self.unknown_speed)

    @property
    def missing(self) -> int:
        """Number of games of the stage that may still be played."""
        return max(0, self.games - self.stored)


@dataclass(frozen=True)
class StagePlan:
    """The plan of the run ``name`` with the folder ``directory``."""

    name: str
    directory: Path
    stages: tuple[GameStage, ...]
    concurrency: int = 1
    is_bound: bool = True
    """Whether the number of games is a maximum: fewer games may suffice."""

    @property
    def games(self) -> int:
        """Maximum number of games of all stages."""
        return sum(stage.games for stage in self.stages)

    @property
    def stored(self) -> int:
        """Number of games already stored."""
        return sum(stage.stored for stage in self.stages)

    def seconds_of(self, stage: GameStage) -> float | None:
        """Estimated seconds for a stage's remaining games.

        The estimate is ``game_seconds`` per game, times ``pace``, divided by the number of simultaneous games; at most
        the time budget. If a player's speed is unknown, the result is the time budget, or ``None`` without one.
        """
        if stage.unknown_speed:
            return stage.seconds if stage.missing else 0.0
        seconds = stage.missing * stage.game_seconds * self.pace / self.concurrency
        return seconds if stage.seconds is None else min(seconds, stage.seconds)

    @property
    def seconds(self) -> float | None:
        """Estimated seconds for the remaining games of all stages; ``None`` if unknown."""
        known = [seconds for seconds in map(self.seconds_of, self.stages) if seconds is not None]
        return sum(known) if len(known) == len(self.stages) else None

    @functools.cached_property
    def pace(self) -> float:
        """Ratio of the actual duration of the folder's stored games to the duration that ``game_seconds`` predicts.

        The ratio is 1 if no games are stored.
        """
        expected = sum(stage.stored * stage.game_seconds for stage in self.stages)
        if not expected or not (self.directory / STORE_NAME).is_file():
            return 1.0
        with Store(self.directory, read_only=True, glance=True) as store:  # a rough value suffices
            mean_ms = store.mean_duration_ms()
        return 1.0 if mean_ms is None else mean_ms / 1000 * self.stored / expected

    def check_attainable(self) -> None:
        """Raise ``PlanError`` if every stage has a test that no outcome of its games can pass.

        A single stage that can pass is enough to continue, because a study is useful without its validations. A run
        that has stored games may always continue.
        """
        hopeless = [next((reach for reach in stage.reach if reach.is_hopeless), None) for stage in self.stages]
        first = hopeless[0]
        if first is not None and all(hopeless) and not self.stored:
            raise PlanError(
                f"{first.where}: {first.text(Catalogue('elolab.arena', DEFAULT_LANGUAGE)).removesuffix('.')}"
            )

    def remarks(self) -> list[str]:
        """Sentences on the hypotheses and power of each test in unfinished stages; low power gets a warning."""
        say = console("elolab.arena")
        found = []
        for stage in filter(lambda stage: stage.missing, self.stages):
            if stage.test is not None:
                found.append(stage.test.text(say))
            for reach in stage.reach:
                text = spelt(reach.text(say))
                text = say("reach.of_stage", stage=stage.name, text=text) if len(self.stages) > 1 else text
                found.append(text if reach.is_likely else say("reach.warning", text=text))
        return found

    def data(self) -> dict[str, Any]:
        """The plan as data for JSON."""
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
        """The plan as lines of text: total games, games of each stage if there are several, duration, remarks.

        The lines ``more`` are inserted before the duration.
        """
        say, data = console("elolab.arena"), self.data()
        kind = "_unknown" if data["games"] is None else "_at_most" if data["at_most"] else ""
        lines = [say(f"dry_run.games{kind}", **data)]
        for stage in filter(lambda one: one.games, self.stages if len(self.stages) > 1 else ()):
            seconds = self.seconds_of(stage)
            time = "" if seconds is None else duration_text(seconds, always_hours=True)
            key = "stage_at_most" if stage.seconds is None else "stage_in_time"
            if stage.is_rest:
                key = "stage_rest"
            elif stage.unknown_speed:
                key += "_unknown"
            lines.append(say(f"dry_run.{key}", stage=stage.name, games=stage.games, stored=stage.stored, time=time))
        return [*lines, *more, time_line(data), *remark_lines(data)]


def remark_lines(plan: Mapping[str, Any]) -> list[str]:
    """The remarks of a plan as lines that fit the terminal; ``plan`` is the result of ``StagePlan.data``."""
    return [line for remark in plan["remarks"] for line in wrapped(remark, text_columns() - 1)]


def time_line(plan: Mapping[str, Any]) -> str:
    """Text with the duration of a plan, or why it is unknown; ``plan`` is the result of ``StagePlan.data``."""
    say = console("elolab.arena")
    if plan["seconds"] is None:
        return say("dry_run.time_unknown", players=", ".join(plan["unknown_speed"]))
    time = duration_text(plan["seconds"], always_hours=True)
    return say(f"dry_run.time{'_at_most' if plan['at_most'] else ''}", time=time)
