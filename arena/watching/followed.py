"""Follows the runs below a folder for viewers in a browser. Each run is read once for all its viewers."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import html
import json
import re
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from elolab.arena.collection.listing import RUNNING, RunEntry, changed_at, entry_of, is_run, run_folders
from elolab.arena.play.publishing import ASKED_SECONDS, ask, game_name
from elolab.arena.play.store import STORE_NAME, is_in_use
from elolab.arena.watching.drawing import RenewedOutput
from elolab.arena.watching.snapshot import RunFollower, State, changes, waiting_state
from elolab.engine.language import Catalogue

POLL_SECONDS = 1.0
"""Interval in seconds at which the folder of a run is read while the run has viewers."""
KEEP_ALIVE_SECONDS = 15.0
"""Time in seconds without changes after which a viewer receives an empty message, to detect closed connections."""
ASKING_SECONDS = 2.0
"""Minimum time in seconds between two equal requests to a run for more data."""
REPORT_NAME = "report.html"
LEFT_OUT = ("conditions", "repeat", "verdicts")
"""Sections of a report that the page omits, because they do not change while games are played."""
_SUMMARY = r'<p class="summary">(.*?)</p>'


class FollowedRun:
    """Reads one run repeatedly for all its viewers; without viewers, the reading pauses."""

    def __init__(self, folder: Path, figures_command: Sequence[str] = ()) -> None:
        """Follow the run in ``folder``.

        ``figures_command`` prints the plots and tables of a run as JSON, given folder and language as last arguments.
        The command is not used for tournaments.
        """
        self.folder = folder
        self._command = figures_command
        self._follower = RunFollower(folder)
        self._reading = asyncio.Lock()
        self._news = asyncio.Condition()
        self._state: State = waiting_state(folder)
        self._viewers: dict[str, int] = {}
        """Number of viewers, keyed by language."""
        self._figures: dict[str, RenewedOutput] = {}
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._boards = 0
        """Number of viewers that request the moves of all running games."""
        self._dialogues: dict[str, float] = {}
        """Time of the last request for a game's dialogue (``time.monotonic``), keyed by the game's name on pages."""
        self._last_request: tuple[float, frozenset[str], bool] = (0.0, frozenset(), False)
        """Time (``time.monotonic``) and dialogues of the last request to the run, and whether it was for all moves."""

    async def state(self) -> State:
        """Read the folder of the run; returns its state, as ``arena.watching.snapshot`` describes it."""
        async with self._reading:
            self._state = await asyncio.to_thread(self._follower.read)
        return self._state

    async def events(self, language: str, *, all_boards: bool = False) -> AsyncGenerator[dict[str, Any] | None, None]:
        """Yield the whole state of the run, and after each change the changed sections, keyed by name.

        Yields ``None`` after ``KEEP_ALIVE_SECONDS`` without a change. ``all_boards`` requests the moves of all running
        games from the run. ``close`` ends the iteration.
        """
        self._viewers[language] = self._viewers.get(language, 0) + 1
        self._boards += all_boards
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow())
        try:
            sent, drawing = await self.state(), self._drawing(language)
            yield {**sent, "drawing": drawing}
            while not self._closing.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wait(sent, drawing, language), KEEP_ALIVE_SECONDS)
                if self._closing.is_set():
                    return
                event = changes(sent, self._state)
                if drawing != self._drawing(language):
                    event["drawing"] = self._drawing(language)
                sent, drawing = self._state, self._drawing(language)
                yield event or None
        finally:
            self._viewers[language] -= 1
            self._boards -= all_boards

    async def _wait(self, sent: State, drawing: int, language: str) -> None:
        def is_news() -> bool:
            return self._closing.is_set() or self._state is not sent or self._drawing(language) != drawing

        async with self._news:
            await self._news.wait_for(is_news)

    async def _follow(self) -> None:
        while any(self._viewers.values()) and not self._closing.is_set():
            before, drawings = self._state, self._drawings()
            self._draw(await self.state())
            await self._request_data()
            is_same = not changes(before, self._state)
            if is_same:
                self._state = before
            if not is_same or drawings != self._drawings():
                async with self._news:
                    self._news.notify_all()
            await asyncio.sleep(POLL_SECONDS)

    async def _request_data(self) -> bool:
        """Request the data that viewers want and the run only publishes on request: moves of all games, dialogues.

        Returns false if the request could not be written.
        """
        now = time.monotonic()
        self._dialogues = {name: at for name, at in self._dialogues.items() if now - at < ASKED_SECONDS}
        wanted = (frozenset(self._dialogues), self._boards > 0)
        if not any(wanted) or self._state["state"] != RUNNING:
            return True
        if wanted == self._last_request[1:] and now - self._last_request[0] < ASKING_SECONDS:
            return True
        self._last_request = (now, *wanted)
        return await asyncio.to_thread(ask, self.folder, all_moves=wanted[1], dialogues=wanted[0])

    async def dialogue(self, name: str) -> dict[str, Any]:
        """The last lines exchanged with the players of a running game, which the run publishes on request.

        Returns a dictionary with the keys ``state`` and ``players``. ``players`` has a pair of name and lines for each
        side if ``state`` is ``shown``; otherwise it is empty. Other values of ``state``:

        - ``asked``: the run has not answered yet
        - ``over``: there is no such game in progress
        - ``unwritable``: the request cannot be written, because the run's folder is read-only
        """
        game = next((one for one in self._state["running"] if game_name(one["series"], one["number"]) == name), None)
        if game is None:
            return {"state": "over", "players": []}
        self._dialogues[name] = time.monotonic()
        is_asked = await self._request_data()
        lines = game.get("dialogue")
        if lines is None:
            return {"state": "asked" if is_asked else "unwritable", "players": []}
        return {"state": "shown", "players": [*zip((game["first"], game["second"]), lines, strict=True)]}

    def _draw(self, state: State) -> None:
        if not self._command or state["kind"] in ("", "tournament") or not state["games"]:
            return
        for language, viewers in self._viewers.items():
            if viewers:
                command = (*self._command, str(self.folder), language)
                figures = self._figures.setdefault(language, RenewedOutput(command))
                is_last = state["state"] != RUNNING
                figures.renew((state["games"], is_last), is_last=is_last)

    def _drawings(self) -> dict[str, int]:
        return {language: figures.count for language, figures in self._figures.items()}

    def _drawing(self, language: str) -> int:
        return self._drawings().get(language, 0)

    def figures(self, language: str) -> dict[str, Any]:
        """Plots and tables of a run for the page; empty if there are none.

        For a tournament, these are the ranking or the crosstable.
        """
        placing = self._follower.placing
        if placing is not None:
            from elolab.arena.reports.grids import placing_html

            return {"html": placing_html(placing, language)}
        results = self._follower.head_to_heads
        if results:
            from elolab.arena.reports.grids import crosstable_html

            return {"html": crosstable_html([row["player"] for row in self._state["standings"]], results, language)}
        drawn = self._figures.get(language)
        if drawn is not None and drawn.text:
            found: dict[str, Any] = json.loads(drawn.text)
            return found
        return {} if self._state["state"] == RUNNING else self._figures_of_report()

    def _figures_of_report(self) -> dict[str, Any]:
        """The plots and tables in the report that the run wrote at its end, in the report's language; empty without a
        report.

        The page shows them until plots and tables in the viewer's language are available.
        """
        try:
            text = (self.folder / REPORT_NAME).read_text("utf-8")
        except (OSError, ValueError):
            return {}
        main = text.partition("<main>")[2].partition("</main>")[0]
        sections = re.findall(r'(<section id="(\w+)">.*?</section>)', main, re.DOTALL)
        title, summary = (
            html.unescape(re.sub(r"<[^>]*>", "", found[1])).strip() if found else ""
            for found in (re.search(pattern, text, re.DOTALL) for pattern in (r"<h1>(.*?)</h1>", _SUMMARY))
        )
        kept = [part for part, name in sections if name not in (*LEFT_OUT, "games")]
        return {"title": title, "summary": summary, "html": "".join(kept)}

    async def game(self, key: str, language: str) -> dict[str, Any] | None:
        """A stored game with its moves, as data for the replay; ``None`` for an unknown key."""
        record = await asyncio.to_thread(self._follower.game, key)
        if record is None:
            return None
        from elolab.arena.watching.page import game_data

        return game_data(record, self._state["game"], language)

    def table(self, name: str, query: str, first: int, sort: str, language: str, *, descending: bool) -> dict[str, Any]:
        """One page of the table ``games``, ``openings`` or ``engines``, in the form of ``tables.part_of``.

        ``query`` selects games. For an invalid query, the page is empty and ``problem`` has the reason. Rows are sorted
        by the column ``sort``; without it, the newest games come first.
        """
        from elolab.arena.watching import tables

        follower, rows = self._follower, []
        if name == "games":
            try:
                found = tables.selected(query, follower.games, tables.running_games(self._state["running"]))
            except tables.QueryError as error:
                key, fields = error.args
                return {"total": 0, "rows": [], "problem": Catalogue("elolab.arena.watching", language)(key, **fields)}
            if not sort:
                page = found[::-1][first : first + tables.ROWS_PER_PAGE]
                return {"total": len(found), "rows": [*map(tables.game_row, page)]}
            rows = [*map(tables.game_row, found)]
        elif name == "openings":
            rows = tables.opening_rows(follower.games)
        elif follower.spec is not None:
            rows = tables.engine_rows(follower.spec, follower.facts, follower.identity, language)
        return tables.part_of(rows, first, sort, descending=descending)

    def key_of(self, name: str) -> str | None:
        """The key of a stored game, from its name on pages (``game_name``); ``None`` for an unknown name."""
        games = self._follower.games
        return next((one.key for one in games if game_name(one.pairing.series, one.pairing.number) == name), None)

    async def close(self) -> None:
        """Disconnect all viewers."""
        self._closing.set()
        async with self._news:
            self._news.notify_all()
        for figures in self._figures.values():
            await asyncio.to_thread(figures.close)
        if self._task is not None:
            self._task.cancel()


class WatchedRuns:
    """The runs below a folder, or a single run. Runs are named by a hash, which does not reveal their paths."""

    def __init__(self, root: Path, *, is_single: bool, figures_command: Sequence[str] = ()) -> None:
        """Follow the runs below ``root``, or with ``is_single`` the run in ``root``, which may not exist yet.

        ``figures_command`` is passed to each ``FollowedRun``.
        """
        self.root, self.is_single = root, is_single
        self._command = figures_command
        self._runs: dict[str, FollowedRun] = {}
        self._entries: dict[tuple[Path, str], tuple[object, RunEntry]] = {}

    def folders(self) -> dict[str, Path]:
        """The folders of all runs, keyed by the name of the run."""
        found = [self.root] if self.is_single else [*run_folders(self.root)] if self.root.is_dir() else []
        return {self._name_of(folder): folder for folder in found}

    def _name_of(self, folder: Path) -> str:
        return hashlib.sha256(str(folder.relative_to(self.root)).encode()).hexdigest()[:12]

    def run(self, name: str) -> FollowedRun | None:
        """The run named ``name``; ``None`` for an unknown name."""
        if name not in self._runs:
            folder = self.folders().get(name)
            if folder is None:
                return None
            self._runs[name] = FollowedRun(folder, self._command)
        return self._runs[name]

    def chosen(self) -> str | None:
        """The name of the run to show first; ``None`` if there are no runs.

        This is the most recently written run in progress or, if there is none, the most recently written run.
        """
        folders = self.folders()
        if self.is_single:
            return next(iter(folders))

        def rank(name: str) -> tuple[bool, float]:
            folder = folders[name]
            return is_in_use(folder), changed_at(folder)  # live.json of a killed run still has the state "running"

        return max(folders, key=rank, default=None)

    def entries(self, language: str) -> list[tuple[str, RunEntry]]:
        """All runs, most recently written first: pairs of the name and the entry for the list of runs."""
        say = Catalogue("elolab.arena.collection", language)
        found = []
        for name, folder in self.folders().items():
            # A killed run writes nothing more and loses its lock.
            stamp = (changed_at(folder), (folder / STORE_NAME).is_file(), is_in_use(folder))
            kept = self._entries.get((folder, language))
            if kept is None or kept[0] != stamp:
                if not is_run(folder):
                    continue
                kept = self._entries[folder, language] = (stamp, entry_of(folder, say))
            found.append((name, kept[1]))
        return sorted(found, key=lambda one: -changed_at(one[1].folder))

    async def close(self) -> None:
        """Disconnect all viewers of all runs."""
        for run in self._runs.values():
            await run.close()
