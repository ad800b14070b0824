"""What a run shows while it plays: one line that renews itself on a terminal, plain lines elsewhere, and ``live.json``.

Whoever else wants to watch reads ``live.json``; it is replaced as a whole about once a second.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from arena.figures.names import told_apart
from arena.files import FileError, replace_file
from arena.records import GameJob, utc_now
from engine.language import columns_of, console, cut, padded

TERMINAL_SECONDS = 0.25
PLAIN_SECONDS = 5.0
TABLE_SECONDS = 20.0
LIVE_SECONDS = 1.0
SPEED_WINDOW_SECONDS = 60.0
WIDTH = 79

LIVE_NAME = "live.json"


@dataclass
class Tally:
    """One player's games so far."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points a game; one half without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    def add(self, points: float) -> None:
        """Count a game of 1, 1/2 or 0 points."""
        self.wins += points == 1
        self.draws += points == 0.5
        self.losses += points == 0


@dataclass
class Scoreboard:
    """Wins, draws and losses of every player; a quick view only, the ratings come from ``arena.figures.standings``."""

    names: Sequence[str]
    tallies: list[Tally] = field(init=False)

    def __post_init__(self) -> None:
        self.tallies = [Tally() for _ in self.names]

    def add(self, first: int, second: int, score: float | None) -> None:
        """Count a game between two players (indices); ``score`` is the first one's points."""
        if score is not None:
            self.tallies[first].add(score)
            self.tallies[second].add(1 - score)

    def ranked(self) -> list[tuple[str, Tally]]:
        """Names and tallies, best share first."""
        return sorted(zip(self.names, self.tallies, strict=True), key=lambda entry: -entry[1].share)

    def leaders(self, columns: int) -> str:
        """Names and shares of the best, as many as there is room for."""
        text = ""
        for name, tally in self.ranked():
            more = f"  {name} {100 * tally.share:.1f} %"
            if not tally.games or len(text) + len(more) > columns:
                break
            text += more
        return text.strip()

    def data(self) -> list[dict[str, Any]]:
        """Every player's results as plain data, best share first."""
        return [
            {"player": name, "wins": tally.wins, "draws": tally.draws, "losses": tally.losses}
            for name, tally in self.ranked()
        ]

    def lines(self) -> list[str]:
        """A small table within 79 columns."""
        say = console("arena")
        player = say("standings.player")
        width = min(40, max(map(columns_of, (player, *self.names))))
        games = padded(say("progress.games_head"), 6, right=True)
        lines = [f"  {padded(player, width)}  {games}  {'+':>5}  {'=':>5}  {'-':>5}   {say('progress.score_head')}"]
        short = dict(zip(self.names, told_apart(self.names, width), strict=True))
        for name, tally in self.ranked():
            shown = padded(short[name], width)
            lines.append(
                f"  {shown}  {tally.games:>6}  {tally.wins:>5}  {tally.draws:>5}  {tally.losses:>5}  "
                f"{100 * tally.share:>5.1f} %"
            )
        return lines


def duration_text(seconds: float) -> str:
    """``0:07``, ``12:34``, ``3:04:05``."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Progress:
    """Counts the games of a run, or of a stage of it, and shows how far it is."""

    def __init__(
        self,
        stream: TextIO,
        *,
        kind: str = "",
        live_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``kind`` says in ``live_file`` what the run is."""
        self.planned = self.done = 0
        self.words: Callable[[int], str] = lambda columns: ""
        """What else to say of the run, in at most so many columns."""
        self.table: Callable[[], list[str]] | None = None
        """Lines to show now and then above the one that renews itself."""
        self.data: Callable[[], dict[str, Any]] = dict
        """What else ``live_file`` holds."""
        self.is_bound = False
        """Whether fewer games than planned may be needed."""
        self._kind, self._stream, self._live_file, self._clock = kind, stream, live_file, clock
        self._is_terminal = stream.isatty()
        self._started = self._shown = self._tabled = clock()
        self._finishes: deque[float] = deque()
        self._published = -LIVE_SECONDS
        self._is_gone = False
        """Whether nobody reads what is shown any more."""
        self._remarks: deque[str] = deque()
        """What is still to be shown."""

    def begin(
        self, planned: int, words: Callable[[int], str] | str = "", *, done: int = 0, is_bound: bool = False
    ) -> None:
        """Begin a stage of so many games, ``done`` of which were stored before; the line of the last one stays.

        0 games stand for a stage of something else, of which ``words`` say all.
        """
        self._leave_line()
        self.planned, self.done, self.is_bound = planned, done, is_bound
        self.words = words if callable(words) else lambda columns: words
        self._started = self._clock()
        self._finishes.clear()

    def finished(self) -> None:
        """Count a game that has just ended."""
        self.done += 1
        self._finishes.append(self._clock())

    def games_per_second(self) -> float | None:
        """Over the last minute; ``None`` before the first game ends."""
        now = self._clock()
        while self._finishes and self._finishes[0] < now - SPEED_WINDOW_SECONDS:
            self._finishes.popleft()
        elapsed = min(now - self._started, SPEED_WINDOW_SECONDS)
        return len(self._finishes) / elapsed if self._finishes and elapsed > 0 else None

    def line(self) -> str:
        """Games done, speed, time left and the run's own words, within 79 columns."""
        if not self.planned:
            return cut(self.words(WIDTH), WIDTH)
        speed = self.games_per_second()
        say = console("arena")
        parts = [say("progress.games", done=self.done, planned=self.planned)]
        if speed is not None:
            unit, rate = ("second", speed) if speed >= 1 else ("minute", 60 * speed)
            parts.append(say(f"progress.per_{unit}", games=f"{rate:.1f}"))
            if self.done < self.planned:
                left = duration_text((self.planned - self.done) / speed)
                parts.append(say("progress.at_most_left" if self.is_bound else "progress.left", time=left))
        if not self.is_bound:
            share = f"{100 * self.done / max(1, self.planned):.0f} %"
            text = "  ".join([parts[0], share, *parts[1:]])
            words = self.words(WIDTH - columns_of(text) - 2)
            if columns_of(text) + 2 + columns_of(words) <= WIDTH:
                return f"{text}  {words}".rstrip()
        text = "  ".join(parts)
        return cut(f"{text}  {self.words(WIDTH - columns_of(text) - 2)}", WIDTH).rstrip()

    def tick(self, running: Iterable[tuple[GameJob, float]] = ()) -> None:
        """Renew what is shown and published, if it is time."""
        now = self._clock()
        if self._live_file is not None and now - self._published >= LIVE_SECONDS:
            self._published = now
            self.publish(running)
        self.show_remarks()
        if now - self._shown < (TERMINAL_SECONDS if self._is_terminal else PLAIN_SECONDS):
            return
        self._shown = now
        if self.table is not None and now - self._tabled >= TABLE_SECONDS and self._finishes:
            self._tabled = now
            self._write("\n".join(["", *self.table(), ""]), keep=True)
        self._write(self.line(), keep=False)

    def remark(self, text: str) -> None:
        """A line that stays, from whatever thread."""
        self._remarks.append(text)

    def close(self, state: str) -> None:
        """Show the last state, leave the line and publish how the run ended."""
        self.show_remarks()
        self._leave_line()
        self.publish(state=state)

    def publish(self, running: Iterable[tuple[GameJob, float]] = (), state: str = "running") -> None:
        """Replace ``live.json``; a disk that is full is left for the store to complain about."""
        if self._live_file is None:
            return
        data = {
            "kind": self._kind,
            "state": state,
            "updated_at": utc_now(),
            "planned": self.planned,
            "done": self.done,
            "games_per_second": self.games_per_second(),
            "words": self.words(WIDTH),
            "sequential_test": None,
            "running": [
                {
                    "series": job.pairing.series,
                    "number": job.pairing.number,
                    "first": job.first.name,
                    "second": job.second.name,
                    "opening": job.opening.name,
                    "seconds": round(seconds, 3),
                }
                for job, seconds in running
            ],
            "standings": [],
            **self.data(),
        }
        try:
            replace_file(self._live_file, json.dumps(data, indent=1, ensure_ascii=False), durable=False)
        except FileError:
            pass

    def show_remarks(self) -> None:
        """Show them now, which otherwise ``tick`` does."""
        while self._remarks:
            self._write(f"elolab: {self._remarks.popleft()}", keep=True)

    def _leave_line(self) -> None:
        if self._finishes:
            self._write(self.line(), keep=True)
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
