"""Displays the progress of a run and publishes it in ``live.json``.

On a terminal, a status line is redrawn in place; in a file or pipe, complete lines follow one another. Every kind of
run has the same status line. A narrow terminal shows its most important parts (``arena.play.scores``). Faults and
warnings appear immediately, above the line.

Other programs watch the run by reading ``live.json``, which is replaced atomically about once a second. With many games
at a time, the file is replaced less often, to take at most a thousandth of a processor.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from elolab.arena.colours import YELLOW, coloured, terminal_columns
from elolab.arena.files import FileError, replace_file
from elolab.arena.play.estimates import duration_text
from elolab.arena.play.publishing import Asked, Requests, machine, published_games
from elolab.arena.play.scores import GAP, NAME_COLUMNS, LinePart, Score, fitted, line_of
from elolab.arena.records import GameRecord, Outcome, RunningGame, utc_now
from elolab.arena.statistics.faults import FaultCount, cause_of, fault_text
from elolab.arena.statistics.text_table import shorten_unique
from elolab.engine.language import Catalogue, clipped, columns_of, console, wrapped

if TYPE_CHECKING:
    from elolab.arena.play.stages import StagePlan
    from elolab.arena.players.player import Fault

TERMINAL_SECONDS = 0.5
"""Seconds between updates of the status line on a terminal."""
PLAIN_SECONDS = 60.0
"""Default seconds between progress lines in a file or pipe; a number of games between them may be set instead."""
LIVE_SECONDS = 1.0
SPEED_WINDOW_SECONDS = 60.0
WORDS_COLUMNS = 79
"""Width in columns of the run's own text and of its score in ``live.json``."""
MOST_COLUMNS = 100
"""Maximum width of the table of scores, in columns."""
SCORE_SECONDS = 1.0
"""Seconds for which a computed score is shown; computing it takes a few milliseconds."""
FAULTS_SHOWN = 10
"""Number of faults of a player and kind that are all shown; then only the 20th, 50th, 100th, 200th and so on."""
WHOLE_RATE = 10
"""Games per minute from which the speed is shown without decimals."""
WHOLE_SECONDS = 10
"""Seconds per game from which the duration is shown without decimals."""
LEAST_GAME_SECONDS = 0.01
"""Minimum assumed seconds per game when the durations of two stages are compared; avoids a division by zero."""

LIVE_NAME = "live.json"
PUBLISHING_PAUSE = 1000
"""Minimum pause between updates of ``live.json``, as a multiple of the duration of the last update."""
MAX_LIVE_SECONDS = 5.0


@dataclass
class _Count:
    """Numbers of planned and finished games of one stage of a run."""

    name: str
    planned: int
    done: int
    game_seconds: float
    """Approximate seconds per game; only the ratios between stages matter."""
    is_rest: bool
    """Whether the stage may also play the games that earlier stages did not need."""


class RunProgress:
    """Counts a run's games, in the current stage and in total, and displays the progress."""

    def __init__(
        self,
        stream: TextIO,
        *,
        kind: str = "",
        live_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        every: int | None = None,
        verbose: bool = False,
    ) -> None:
        """Display the progress on ``stream``, and publish it in the file ``live_file``, if given.

        ``kind`` is the kind of run, which is published; ``clock`` returns the time in seconds. ``every`` is the number
        of games between complete lines; ``None`` means one every ``PLAIN_SECONDS``, and none on a terminal. ``verbose``
        prints a line for each finished game.
        """
        self.planned = self.done = 0
        self.words: Callable[[], Sequence[str]] = tuple
        """Function that returns the run's own text for the status line in several lengths, the longest first."""
        self.score: Score | None = None
        """The score of the current stage; ``None`` if it has none."""
        self.data: Callable[[], dict[str, Any]] = dict
        """Function that returns further entries for ``live_file``, by key."""
        self.is_bound: bool = False
        """Whether the planned number of games is a maximum, so that fewer may suffice."""
        self.waiting: Callable[[], str] = str
        """Function that returns why no game has ended yet, or an empty text; it is called until the first game ends."""
        self.workers: Callable[[], list[dict[str, Any]]] = list
        """Function that returns the workers on other machines as data for ``live_file``."""
        self._kind, self._stream, self._live_file, self._clock = kind, stream, live_file, clock
        self._every, self._verbose = every, verbose
        self._stages: list[_Count] = []
        self._stage: _Count | None = None
        self._missing: Callable[[], float] = self._games_missing
        self._has_finished: bool = False
        """Whether a game has ended."""
        self._is_terminal = stream.isatty()
        self._started = self._shown = clock()
        self._finishes: deque[float] = deque()
        self._published = -math.inf
        self._publishing_seconds = 0.0
        self._requests = None if live_file is None else Requests(live_file.parent, clock)
        self._ended = self._draws = self._printed = 0
        """Three numbers of the current stage: games ended in this process, drawn games among them, and games ended at
        the last complete line.
        """
        self._score_parts: list[LinePart] = []
        self._scored = -math.inf
        """Time at which ``_score_parts`` was computed."""
        self._faults: Counter[tuple[str, str]] = Counter()
        """Number of faults by player and reason."""
        self._disturbed = 0
        """Number of finished games of this process in which elolab read a move late."""
        self._is_gone: bool = False
        """Whether the output was closed, so that nothing can be written."""
        self._remarks: deque[str] = deque()
        """Texts given to ``remark`` that have not been printed yet."""

    def announce(self, plan: StagePlan) -> None:
        """Print the plan. If it has several stages, the status line then shows both the current stage and the total."""
        self._leave_line()
        for line in plan.lines():
            self._write("\n".join(wrapped(line, self._columns())), keep=True)
        stages = plan.stages if len(plan.stages) > 1 else ()
        self._stages = [_Count(one.name, one.games, one.stored, one.game_seconds, one.is_rest) for one in stages]
        self._stage = None

    def begin(
        self,
        planned: int,
        words: Callable[[], Sequence[str]] | str = "",
        *,
        done: int = 0,
        is_bound: bool = False,
        stage: str = "",
        missing: Callable[[], float] | None = None,
        score: Score | None = None,
    ) -> None:
        """Begin a stage of ``planned`` games; ``done`` of them are already stored.

        The line of the previous stage stays on the terminal. ``words`` is as for ``say``. ``is_bound`` means that fewer
        games may suffice. ``stage`` is the name in the plan; all earlier stages are then over. With 0 games, only
        ``words`` is displayed. If later games take longer, ``missing`` returns the remaining work, in games of the
        current duration. ``score`` counts the stage's games as they end.
        """
        self._leave_line()
        self._enter(stage)
        self.planned, self.done, self.is_bound, self.score = planned, done, is_bound, score
        self._missing = missing or self._games_missing
        self.say(words)
        self._started = self._clock()
        self._finishes.clear()
        self._ended = self._draws = self._printed = 0
        self._scored = -math.inf

    def say(self, words: Callable[[], Sequence[str]] | str) -> None:
        """Set the run's own text for the status line; a function returns it in several lengths, the longest first."""
        self.words = words if callable(words) else lambda: (words,)

    def _enter(self, name: str) -> None:
        """Make the stage ``name`` the current one, and mark the earlier stages of the plan as over."""
        self._keep_count()
        self._stage = next((one for one in self._stages if one.name == name), None)
        if self._stage is not None:
            for before in self._stages[: self._stages.index(self._stage)]:
                before.planned = before.done

    def omit_later_stages(self) -> None:
        """Plan no further games for the stages after the current one, because they are not needed."""
        self._keep_count()
        for later in self._later_stages():
            later.planned = later.done

    def _later_stages(self) -> list[_Count]:
        return [] if self._stage is None else self._stages[self._stages.index(self._stage) + 1 :]

    def _keep_count(self) -> None:
        """Copy ``planned`` and ``done`` to the record of the current stage.

        If ``planned`` has become smaller, later stages with ``is_rest`` get the difference.
        """
        if self._stage is not None:
            for later in self._later_stages():
                later.planned += later.is_rest * (self._stage.planned - self.planned)
            self._stage.planned, self._stage.done = self.planned, self.done

    @property
    def all_planned(self) -> int:
        """Number of games of all stages: games played for a finished stage, the maximum for any other."""
        self._keep_count()
        return sum(one.planned for one in self._stages) if self._stages else self.planned

    @property
    def all_done(self) -> int:
        """Number of games stored in all stages."""
        self._keep_count()
        return sum(one.done for one in self._stages) if self._stages else self.done

    def _games_missing(self) -> float:
        return float(self.planned - self.done)

    def _seconds_left(self, games_per_second: float) -> float:
        """Estimated seconds until the end of the last stage.

        The duration of later stages follows from the ratio of the stages' seconds per game.
        """
        self._keep_count()
        missing = self._missing()
        for later in self._later_stages():
            own, each = (max(LEAST_GAME_SECONDS, one.game_seconds) for one in (self._stage or later, later))
            missing += max(0, later.planned - later.done) * each / own
        return missing / games_per_second

    def finished(self, record: GameRecord | None = None) -> None:
        """Count a game that has just ended, or another unit of work if ``record`` is ``None``.

        If a player's fault ended the game, the fault is shown immediately.
        """
        self.done += 1
        self._has_finished = True
        self._finishes.append(self._clock())
        if record is None:
            return
        self._ended += 1
        self._draws += record.score == 0.5
        self._disturbed += "disturbed" in record.detail
        if self.score is not None:
            self.score.add(Outcome(record.key, record.pairing, record.score))
        if self._verbose:
            self._write(line_of(game_parts(record), self._columns()), keep=True)
        if (cause := cause_of(record)) is not None:
            self._show_fault(record, *cause)

    def _show_fault(self, record: GameRecord, player: str, fault: Fault | None) -> None:
        """Show a fault; after ``FAULTS_SHOWN`` of a player and kind, only the 20th, 50th, 100th, 200th and so on."""
        self._faults[player, record.reason] += 1
        count = self._faults[player, record.reason]
        if count > FAULTS_SHOWN and str(count).strip("0") not in ("1", "2", "5"):
            return
        say = console("elolab.arena")
        drawn = int(record.result == "1/2-1/2")
        text = fault_text(FaultCount(player, record.reason, 1, record.pairing.number, fault, drawn), say, say.language)
        self.remark(text if count <= FAULTS_SHOWN else say("progress.repeated", text=text, count=count))
        self.show_remarks()

    def counted(self) -> None:
        """After every ``every`` games, print the table of scores, if there is one, and a complete line.

        Call this after each finished game, once the run's own text and score include the game.
        """
        if self._every and self._ended % self._every == 0:
            self._printed = self._ended
            if self.score is not None and (table := self.score.table(min(MOST_COLUMNS, self._columns()))):
                self._write("\n".join(table), keep=True)
            self._show_complete_line()

    def games_per_second(self) -> float | None:
        """Games per second over the last minute; ``None`` if no game has ended in that time."""
        now = self._clock()
        while self._finishes and self._finishes[0] < now - SPEED_WINDOW_SECONDS:
            self._finishes.popleft()
        elapsed = min(now - self._started, SPEED_WINDOW_SECONDS)
        return len(self._finishes) / elapsed if self._finishes and elapsed > 0 else None

    def line(self) -> str:
        """The status line without colours, within the columns of the terminal."""
        columns = self._columns()
        text = line_of(self._parts(), columns)
        return text if columns == sys.maxsize else clipped(text, columns)

    def _parts(self) -> list[LinePart]:
        """Parts of the status line: games done, the run's own text and score, draws, speed and remaining time."""
        if not self.planned:
            return [LinePart(0, tuple(self.words()))]
        say, own = console("elolab.arena"), self._own_parts()
        parts = [self._count_part(say), *own]
        if self._ended:
            parts.append(LinePart(10, (say("progress.draws", share=f"{100 * self._draws / self._ended:.0f}"),)))
        if self._disturbed:
            parts.append(LinePart(8, (say("progress.disturbed_games", count=self._disturbed),)))
        workers = self.workers()
        if workers:
            present = sum(worker["state"] in ("playing", "idle") for worker in workers)
            parts.append(LinePart(7, (say("progress.workers", count=present),)))
        speed = self.games_per_second()
        if speed is not None:
            parts.append(LinePart(7, (rate_text(speed, say),)))
            parts += self._left(speed, say)
        return parts

    def _count_part(self, say: Catalogue) -> LinePart:
        """Part of the status line with the numbers of games done in this stage and in all stages."""
        short = f"{self.done}/{self.planned}"
        whole = say("progress.games", done=self.done, planned=self.planned)
        if self._stage is None or len(self._stages) < 2:
            return LinePart(0, (whole, short))
        counts = {"done": self.done, "planned": self.planned, "all_done": self.all_done}
        text = say("progress.stage", stage=self._stage.name, **counts, all_planned=self.all_planned)
        return LinePart(0, (text, f"{self._stage.name} {short}", short))

    def _left(self, games_per_second: float, say: Catalogue) -> list[LinePart]:
        """Part with the remaining time; none if no games remain."""
        seconds = self._seconds_left(games_per_second)
        if seconds <= 0:
            return []
        key = "at_most_left" if self.is_bound or len(self._stages) > 1 else "left"
        time = duration_text(seconds)
        return [LinePart(4, (say(f"progress.{key}", time=time), say(f"progress.{key}_short", time=time)))]

    def _own_parts(self) -> list[LinePart]:
        """Parts with the run's own text and its score; before the first game ends, the reason for waiting, if any."""
        if not self._has_finished and (reason := self.waiting()):
            return [LinePart(1, (reason,))]
        now = self._clock()
        if now - self._scored >= SCORE_SECONDS:
            self._scored = now
            self._score_parts = [] if self.score is None else self.score.parts()
        return [LinePart(3 if self._score_parts else 1, tuple(self.words())), *self._score_parts]

    def _columns(self) -> int:
        """Width of a line: one column less than the terminal, to prevent wrapping; unlimited in a file or pipe."""
        return sys.maxsize if not self._is_terminal else max(1, terminal_columns(self._stream) - 1)

    def _show_complete_line(self) -> None:
        """Print a status line that stays when later ones are drawn; its score includes all games so far."""
        self._scored = -math.inf
        self._write(self._coloured_line(), keep=True)

    def _coloured_line(self) -> str:
        """The status line with colours for the terminal."""
        texts, columns = fitted(self._parts(), self._columns()), self._columns()
        if columns_of(GAP.join(text for text, _ in texts)) > columns:
            return self.line()
        return GAP.join(coloured(text, colour, self._stream) for text, colour in texts)

    def tick(self, running: Callable[[], Sequence[RunningGame]] = tuple) -> None:
        """Update the display and ``live.json``, each if its interval has passed.

        ``running`` returns the games in progress in schedule order.
        """
        now = self._clock()
        pause = min(max(LIVE_SECONDS, PUBLISHING_PAUSE * self._publishing_seconds), MAX_LIVE_SECONDS)
        if self._live_file is not None and now - self._published >= pause:
            self._published = now
            self.publish(running())
        self.show_remarks()
        if self._every and not self._is_terminal:
            return
        if now - self._shown < (TERMINAL_SECONDS if self._is_terminal else PLAIN_SECONDS):
            return
        self._shown = now
        self._write(self._coloured_line(), keep=False)

    def remark(self, text: str) -> None:
        """Print a line above the status line at the next update; may be called on any thread."""
        self._remarks.append(text)

    def close(self, state: str) -> None:
        """Show the final line and publish ``state``, a word for how the run ended."""
        self.show_remarks()
        self._leave_line()
        self.publish(state=state)

    def publish(self, running: Sequence[RunningGame] = (), state: str = "running") -> None:
        """Replace ``live.json``; write errors are ignored, because the store reports a full disk.

        ``running`` are the games in progress, in schedule order. ``state``: ``running``, or how the run ended.
        """
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
            "words": line_of(self._own_parts(), WORDS_COLUMNS),
            "sequential_test": None,
            "running": published_games(running, self._requests.read() if self._requests and running else Asked()),
            "workers": self.workers(),
            "machine": machine(),
            "standings": [] if self.score is None else self.score.standings(),
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
        """Print immediately all texts that were given to ``remark``."""
        while self._remarks:
            text = f"elolab: {self._remarks.popleft()}"
            for line in wrapped(text, self._columns()) if self._is_terminal else [text]:
                self._write(coloured(line, YELLOW, self._stream), keep=True)

    def _leave_line(self) -> None:
        if self._finishes and not 0 < self._printed == self._ended:
            self._show_complete_line()
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
        except OSError:  # the terminal or pipe was closed: games continue
            self._is_gone = True


def rate_text(games_per_second: float, say: Catalogue) -> str:
    """Text for a speed, in games per minute; ``say`` is the message catalogue of ``arena``."""
    rate = 60 * games_per_second
    return say("progress.per_minute", games=f"{rate:.0f}" if rate >= WHOLE_RATE else f"{rate:.1f}")


def game_parts(record: GameRecord) -> list[LinePart]:
    """A finished game as parts of a line: number, players, result, reason, plies, time and opening."""
    say, place = console("elolab.arena"), record.pairing
    names = [(record.first, record.second)]
    names += [
        (one, other)
        for one, other in (shorten_unique([record.first, record.second], columns) for columns in NAME_COLUMNS)
    ]
    number = say("progress.game", number=place.number)
    seconds = record.duration_ms / 1000
    time = say("progress.seconds", seconds=f"{seconds:.2f}") if seconds < WHOLE_SECONDS else duration_text(seconds)
    return [
        LinePart(0, (f"{place.series} {number}".lstrip(), number)),
        LinePart(1, tuple(say("progress.players", first=one, second=other) for one, other in names)),
        LinePart(0, (record.result,)),
        LinePart(2, (console("elolab.engine").name_of("ending", record.reason),)),
        LinePart(3, (say("progress.plies", plies=record.plies),)),
        LinePart(4, (time,)),
        LinePart(5, (record.opening.name or say("progress.opening", number=place.opening),)),
    ]


def read_live(directory: Path) -> dict[str, Any]:
    """The contents of ``live.json`` in a run's folder; empty if it is missing or unreadable."""
    try:
        data = json.loads((directory / LIVE_NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
