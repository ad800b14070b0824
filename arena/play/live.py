"""Progress of a run: one line redrawn in place on a terminal, plain lines elsewhere, and the file ``live.json``.

Other programs watch the run by reading ``live.json``, which is replaced atomically about once a second.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from elolab.arena.colours import YELLOW, coloured
from elolab.arena.files import FileError, replace_file
from elolab.arena.play.estimates import duration_text
from elolab.arena.play.publishing import Asked, Requests, machine, published_games
from elolab.arena.records import RunningGame, utc_now
from elolab.arena.statistics.names import shorten_unique
from elolab.engine.language import clipped, columns_of, console, padded

if TYPE_CHECKING:
    from elolab.arena.play.stages import StagePlan

TERMINAL_SECONDS = 0.25
PLAIN_SECONDS = 5.0
TABLE_SECONDS = 20.0
LIVE_SECONDS = 1.0
SPEED_WINDOW_SECONDS = 60.0
WIDTH = 79
LEAST_GAME_SECONDS = 0.01
"""Minimum assumed seconds per game when the durations of two stages are compared; avoids a division by zero."""

LIVE_NAME = "live.json"
PUBLISHING_PAUSE = 200
"""Minimum pause between two publications of ``live.json``, as a multiple of the last one's duration."""
MAX_LIVE_SECONDS = 5.0


@dataclass
class Tally:
    """One player's wins, draws and losses so far."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float | None:
        """Points per game; ``None`` without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    def add(self, points: float) -> None:
        """Count a game of 1, 1/2 or 0 points."""
        self.wins += points == 1
        self.draws += points == 0.5
        self.losses += points == 0


@dataclass
class Scoreboard:
    """Wins, draws and losses of every player, for a quick view; ratings come from ``arena.statistics.standings``."""

    names: Sequence[str]
    challengers: Sequence[str] = ()
    """Names of a gauntlet's challengers; empty in other formats. The scores of the other players are not comparable,
    because they play only against challengers.
    """
    tallies: list[Tally] = field(init=False)

    def __post_init__(self) -> None:
        self.tallies = [Tally() for _ in self.names]

    def add(self, first: int, second: int, score: float | None) -> None:
        """Count a game between two players, given by their indices; ``score`` is the points of the player ``first``,
        ``None`` without a result.
        """
        if score is not None:
            self.tallies[first].add(score)
            self.tallies[second].add(1 - score)

    def ranked(self) -> list[tuple[str, Tally]]:
        """Pairs of name and tally, most points per game first; players without games come last."""
        shares = [-1.0 if tally.share is None else tally.share for tally in self.tallies]
        order = sorted(range(len(shares)), key=lambda player: -shares[player])
        return [(self.names[player], self.tallies[player]) for player in order]

    def leaders(self, columns: int) -> str:
        """Text with the names and percentages of the best players, as many as fit in ``columns``; in a gauntlet only
        challengers.
        """
        text = ""
        for name, tally in self.ranked():
            if self.challengers and name not in self.challengers:
                continue
            more = "" if tally.share is None else f"  {name} {100 * tally.share:.1f} %"
            if not more or len(text) + len(more) > columns:
                break
            text += more
        return text.strip()

    def data(self) -> list[dict[str, Any]]:
        """Name, wins, draws and losses of every player as plain data, most points per game first."""
        return [
            {"player": name, "wins": tally.wins, "draws": tally.draws, "losses": tally.losses}
            for name, tally in self.ranked()
        ]

    def lines(self) -> list[str]:
        """The standings as a small table within 79 columns."""
        say = console("elolab.arena")
        player = say("standings.player")
        width = min(40, max(map(columns_of, (player, *self.names))))
        games = padded(say("progress.games_head"), 6, right=True)
        lines = [f"  {padded(player, width)}  {games}  {'+':>5}  {'=':>5}  {'-':>5}   {say('progress.score_head')}"]
        short = dict(zip(self.names, shorten_unique(self.names, width), strict=True))
        for name, tally in self.ranked():
            shown = padded(short[name], width)
            share = "    –" if tally.share is None else f"{100 * tally.share:>5.1f} %"
            lines.append(f"  {shown}  {tally.games:>6}  {tally.wins:>5}  {tally.draws:>5}  {tally.losses:>5}  {share}")
        return lines


def first_that_fits(columns: int, *texts: str) -> str:
    """The first text that fits in ``columns`` of a terminal; if none fits, the last one, truncated."""
    return next((text for text in texts if columns_of(text) <= columns), clipped(texts[-1], max(0, columns)))


@dataclass
class _Count:
    """Progress of one stage of a run."""

    name: str
    planned: int
    done: int
    game_seconds: float
    """Approximate seconds per game; only the ratios between stages matter."""


class RunProgress:
    """Counts a run's games, in the current stage and in total, and displays the progress."""

    def __init__(
        self,
        stream: TextIO,
        *,
        kind: str = "",
        live_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Display the progress on ``stream``, and publish it in ``live_file`` unless that is ``None``. ``kind`` is the
        kind of run, as published there; ``clock`` returns the time in seconds.
        """
        self.planned = self.done = 0
        self.words: Callable[[int], str] = lambda columns: ""
        """Function that returns the run's own text for the progress line, given the available columns."""
        self.colour: Callable[[], str] = str
        """Function that returns the colour of ``words`` on a colour terminal, one of ``arena.colours``; empty for no
        colour.
        """
        self.table: Callable[[], list[str]] | None = None
        """Function that returns lines to print periodically above the progress line; ``None`` for no such lines."""
        self.data: Callable[[], dict[str, Any]] = dict
        """Function that returns further entries of ``live_file``, by key."""
        self.is_bound: bool = False
        """Whether the planned number of games is a maximum, so that fewer may suffice."""
        self.waiting: Callable[[], str] = str
        """Function that returns why no game has ended yet, or an empty text; called only until the first game ends."""
        self.workers: Callable[[], list[dict[str, Any]]] = list
        """Function that returns the workers on other machines as plain data, as published in ``live_file``."""
        self._kind, self._stream, self._live_file, self._clock = kind, stream, live_file, clock
        self._stages: list[_Count] = []
        self._stage: _Count | None = None
        self._missing: Callable[[], float] = self._games_missing
        self._has_finished: bool = False
        """Whether a game has ended."""
        self._is_terminal = stream.isatty()
        self._started = self._shown = self._tabled = clock()
        self._finishes: deque[float] = deque()
        self._published = -math.inf
        self._publishing_seconds = 0.0
        self._requests = None if live_file is None else Requests(live_file.parent, clock)
        self._is_gone: bool = False
        """Whether the output cannot be written any more, because its terminal or pipe was closed."""
        self._remarks: deque[str] = deque()
        """Texts given to ``remark`` that have not been printed yet."""

    def announce(self, plan: StagePlan) -> None:
        """Print the plan. If it has several stages, the progress line then shows the games of the current stage and of
        all stages.
        """
        self._leave_line()
        for line in plan.lines():
            self._write(line, keep=True)
        stages = plan.stages if len(plan.stages) > 1 else ()
        self._stages = [_Count(one.name, one.games, one.stored, one.game_seconds) for one in stages]
        self._stage = None

    def begin(
        self,
        planned: int,
        words: Callable[[int], str] | str = "",
        *,
        done: int = 0,
        is_bound: bool = False,
        stage: str = "",
        missing: Callable[[], float] | None = None,
    ) -> None:
        """Begin a stage of ``planned`` games, ``done`` of them already stored; the line of the previous stage stays on
        the terminal.

        ``stage`` is its name in the plan; all earlier stages of the plan are then over. With 0 games, only ``words`` is
        displayed. If later games take longer, ``missing`` returns the remaining work, measured in games of the current
        duration.
        """
        self._leave_line()
        self._enter(stage)
        self.planned, self.done, self.is_bound = planned, done, is_bound
        self._missing = missing or self._games_missing
        self.say(words)
        self._started = self._clock()
        self._finishes.clear()

    def say(self, words: Callable[[int], str] | str) -> None:
        """Set the run's own text for the progress line: a text, or a function from columns to text."""
        self.words = words if callable(words) else lambda columns: words

    def _enter(self, name: str) -> None:
        """Make the named stage the current one, and mark the earlier stages of the plan as over."""
        self._keep_count()
        self._stage = next((one for one in self._stages if one.name == name), None)
        if self._stage is not None:
            for before in self._stages[: self._stages.index(self._stage)]:
                before.planned = before.done

    def _keep_count(self) -> None:
        """Copy ``planned`` and ``done`` to the count of the current stage."""
        if self._stage is not None:
            self._stage.planned, self._stage.done = self.planned, self.done

    @property
    def all_planned(self) -> int:
        """Total number of games of all stages: of finished stages the games played, of the others the maximum."""
        self._keep_count()
        return sum(one.planned for one in self._stages) if self._stages else self.planned

    @property
    def all_done(self) -> int:
        """Number of stored games of all stages."""
        self._keep_count()
        return sum(one.done for one in self._stages) if self._stages else self.done

    def _games_missing(self) -> float:
        return float(self.planned - self.done)

    def _seconds_left(self, games_per_second: float) -> float:
        """Estimated seconds until the end of the last stage; later stages are scaled by the ratio of the stages' game
        durations.
        """
        self._keep_count()
        missing = self._missing()
        if self._stage is not None:
            own = max(LEAST_GAME_SECONDS, self._stage.game_seconds)
            for later in self._stages[self._stages.index(self._stage) + 1 :]:
                each = max(LEAST_GAME_SECONDS, later.game_seconds)
                missing += max(0, later.planned - later.done) * each / own
        return missing / games_per_second

    def finished(self) -> None:
        """Count a game that has just ended."""
        self.done += 1
        self._has_finished = True
        self._finishes.append(self._clock())

    def games_per_second(self) -> float | None:
        """Games per second over the last minute; ``None`` before the first game ends."""
        now = self._clock()
        while self._finishes and self._finishes[0] < now - SPEED_WINDOW_SECONDS:
            self._finishes.popleft()
        elapsed = min(now - self._started, SPEED_WINDOW_SECONDS)
        return len(self._finishes) / elapsed if self._finishes and elapsed > 0 else None

    def line(self) -> str:
        """The progress line: games done, speed, time left and the run's own text. It has at most 79 columns and fits in
        the terminal.
        """
        width = self._width()
        if not self.planned:
            return clipped(self.words(width), width)
        if self._stage is not None and len(self._stages) > 1:
            return self._line_of_stage(self._stage)
        speed = self.games_per_second()
        say = console("elolab.arena")
        parts = [say("progress.games", done=self.done, planned=self.planned)]
        parts += self._crew()
        if speed is not None:
            unit, rate = ("second", speed) if speed >= 1 else ("minute", 60 * speed)
            parts.append(say(f"progress.per_{unit}", games=f"{rate:.1f}"))
            parts += self._left(speed, is_bound=self.is_bound)
        if not self.is_bound:
            share = f"{100 * self.done / max(1, self.planned):.0f} %"
            text = "  ".join([parts[0], share, *parts[1:]])
            words = self._own_words(width - columns_of(text) - 2)
            if columns_of(text) + 2 + columns_of(words) <= width:
                return f"{text}  {words}".rstrip()
        return self._with_words("  ".join(parts))

    def _line_of_stage(self, stage: _Count) -> str:
        """The progress line with the games of this stage and of all stages."""
        speed = self.games_per_second()
        counts = {"done": self.done, "planned": self.planned, "all_done": self.all_done}
        text = console("elolab.arena")("progress.stage", stage=stage.name, **counts, all_planned=self.all_planned)
        left = [] if speed is None else self._left(speed, is_bound=True)
        return self._with_words("  ".join([text, *self._crew(), *left]))

    def _crew(self) -> list[str]:
        """The number of workers that play or are ready, as a list with one text; empty if no workers take part."""
        workers = self.workers()
        present = sum(worker["state"] in ("playing", "idle") for worker in workers)
        return [console("elolab.arena")("progress.workers", count=present)] if workers else []

    def _left(self, games_per_second: float, *, is_bound: bool) -> list[str]:
        """The remaining time, as a list with one text; empty if no games remain."""
        seconds = self._seconds_left(games_per_second)
        if seconds <= 0:
            return []
        key = "progress.at_most_left" if is_bound else "progress.left"
        return [console("elolab.arena")(key, time=duration_text(seconds))]

    def _with_words(self, text: str) -> str:
        width = self._width()
        return clipped(f"{text}  {self._own_words(width - columns_of(text) - 2)}".rstrip(), width)

    def _width(self) -> int:
        """Maximum columns of the progress line: one less than the terminal has, so that it does not wrap."""
        if not self._is_terminal:
            return WIDTH
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):  # no real terminal, or a closed one
            return WIDTH
        return min(WIDTH, columns - 1) if columns > 1 else WIDTH  # some terminals do not know, and say 0

    def _own_words(self, columns: int) -> str:
        """The run's own text; before the first game ends, the reason for waiting, if any."""
        return (self.waiting() if not self._has_finished else "") or self.words(columns)

    def _coloured_line(self) -> str:
        """``line``, with the run's own text coloured."""
        line, words = self.line(), self.words(self._width())
        if not words or not line.endswith(words):
            return line
        return line.removesuffix(words) + coloured(words, self.colour(), self._stream)

    def tick(self, running: Sequence[RunningGame] = ()) -> None:
        """Update the display and ``live.json``, each if its interval has passed; ``running`` are the running games in
        schedule order.
        """
        now = self._clock()
        pause = min(max(LIVE_SECONDS, PUBLISHING_PAUSE * self._publishing_seconds), MAX_LIVE_SECONDS)
        if self._live_file is not None and now - self._published >= pause:
            self._published = now
            self.publish(running)
        self.show_remarks()
        if now - self._shown < (TERMINAL_SECONDS if self._is_terminal else PLAIN_SECONDS):
            return
        self._shown = now
        if self.table is not None and now - self._tabled >= TABLE_SECONDS and self._finishes:
            self._tabled = now
            self._write("\n".join(["", *self.table(), ""]), keep=True)
        self._write(self._coloured_line(), keep=False)

    def remark(self, text: str) -> None:
        """Print a line above the progress line, at the next update; callable on any thread."""
        self._remarks.append(text)

    def close(self, state: str) -> None:
        """Show the final line and publish ``state``, which says how the run ended."""
        self.show_remarks()
        self._leave_line()
        self.publish(state=state)

    def publish(self, running: Sequence[RunningGame] = (), state: str = "running") -> None:
        """Replace ``live.json``. A failure to write is ignored here, because the store reports a full disk."""
        if self._live_file is None:
            return
        began = self._clock()
        data = {
            "kind": self._kind,
            "state": state,
            "updated_at": utc_now(),
            "planned": self.planned,
            "done": self.done,
            "stage": None if self._stage is None else self._stage.name,
            "all_planned": self.all_planned,
            "all_done": self.all_done,
            "games_per_second": self.games_per_second(),
            "words": self.words(WIDTH),
            "sequential_test": None,
            "running": published_games(running, self._requests.read() if self._requests and running else Asked()),
            "workers": self.workers(),
            "machine": machine(),
            "standings": [],
            **self.data(),
        }
        try:
            replace_file(self._live_file, json.dumps(data, ensure_ascii=False) + "\n", durable=False)
        except FileError:
            pass
        self._publishing_seconds = self._clock() - began
        if state != "running" and self._requests is not None:
            self._requests.remove()

    def show_remarks(self) -> None:
        """Print at once the texts given to ``remark``."""
        while self._remarks:
            self._write(coloured(f"elolab: {self._remarks.popleft()}", YELLOW, self._stream), keep=True)

    def _leave_line(self) -> None:
        if self._finishes:
            self._write(self._coloured_line(), keep=True)
        elif self._is_terminal:
            self._write("", keep=False)

    def _write(self, text: str, *, keep: bool) -> None:
        if self._is_gone:
            return
        try:
            if self._is_terminal:
                self._stream.write("\r\x1b[K" + text.replace("\n", "\r\n") + ("\n" if keep else ""))
            else:
                self._stream.write(text + "\n")
            self._stream.flush()
        except OSError:  # the terminal was closed, or the reader of a pipe has ended: the games go on
            self._is_gone = True


def read_live(directory: Path) -> dict[str, Any]:
    """The contents of ``live.json`` in a run's folder; empty if there is none, or if it is unreadable."""
    try:
        data = json.loads((directory / LIVE_NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
