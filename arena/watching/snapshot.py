"""Reads the state of a run's folder as plain data, repeatedly while the run is in progress.

``RunFollower.read`` returns the whole state and reads only new games. ``changes`` compares two states. Nothing is
written into the folder.

The state is a dictionary of JSON values. A section that has not changed is the same object as before:

- ``folder``, ``name``: texts
- ``kind``: the kind of run, such as ``tournament``
- ``format``: the format of a tournament; empty for other runs
- ``game``: name of the game, such as ``chess``; empty while unknown
- ``state``: ``waiting`` (the folder has no run yet), ``running``, ``finished``, ``stopped``, ``failed``, ``unreadable``
  or ``damaged``
- ``trouble``: the reason why the folder cannot be read; empty if it can
- ``progress``: numbers of games ``planned`` and ``done`` in the current stage, ``all_planned`` and ``all_done`` in the
  run; ``stage`` (a text or null); ``games_per_second`` and ``seconds_left`` (null if unknown or if the run is not in
  progress); ``at_most`` (whether the run may end with fewer games); ``words`` (the run's own line on its progress);
  ``updated_at``
- ``workers``: rows from ``live.json``: ``name``, ``threads``, ``games``, ``games_per_second``, ``state``,
  ``reason`` if the worker was refused, and, if known, the ``processors`` and the ``load`` of its machine
- ``players``: names in the order of the tournament
- ``standings``: rows, best first: ``rank``, ``player``, ``rating`` (Elo), ``rating_error`` (half the width of the 95 %
  interval), ``games``, ``wins``, ``draws``, ``losses``, ``score`` from 0 to 1, ``pairs``; null replaces infinite
  values. Only a tournament has standings
- ``anchors``: fixed Elo, keyed by the name of the anchored player
- ``result``: a sentence on the winner or the rounds played, keyed by language; empty unless the run is a Swiss
  tournament or a knockout
- ``match``: ``elo``, ``elo_low``, ``elo_high`` (null if infinite), ``los``, ``pairs`` and ``pentanomial`` of two
  players, from the first player's point of view; null for other runs
- ``test``: ``verdict``, ``llr``, ``lower_bound``, ``upper_bound``, ``elo0``, ``elo1``, ``model``, ``pairs`` and
  ``pentanomial`` of a sequential test, from the first player's point of view; null for other runs
- ``curve``: ``kind`` is ``elo`` (points are pairs, Elo, low, high), ``llr`` (points are pairs, ratio) or empty;
  ``stride`` is the distance of the points in pairs; ``points`` has at most ``MAX_POINTS`` points
- ``machine``: the run's machine, as in ``live.json``: ``name``, ``processors``, ``load``; empty if the run is not in
  progress
- ``running``: games in progress, as ``arena.play.publishing`` writes them to ``live.json``; ``thinking`` is the time
  in milliseconds until the reading
- ``faults``: a row for each player and kind of fault: ``player``, ``reason``, ``games`` (a count), ``number`` and
  ``key`` of the first such game, ``sentence`` keyed by language
- ``warnings``: warnings that a reader should see before the results, each a sentence keyed by language
- ``games``: number of stored games
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from elolab.arena.collection.listing import DAMAGED, RUNNING, TOURNAMENT, UNREADABLE, state_of
from elolab.arena.play.live import LIVE_NAME, read_live
from elolab.arena.play.scores import MatchScore
from elolab.arena.play.store import GAMES_ELSEWHERE, STORE_NAME, Store, StoreFailure
from elolab.arena.play.tournament_run import withdrawals_of
from elolab.arena.players.player import Fault
from elolab.arena.records import GameRecord, Opening, Outcome, Pairing, points_of
from elolab.arena.run import KIND
from elolab.arena.schedule import Withdrawal, format_of, planned_games
from elolab.arena.sequential import SequentialRun
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.faults import FORFEITS, FaultCount, cause_of, fault_text, time_loss_warnings
from elolab.arena.statistics.placing import Placing, placing_of, result_sentence
from elolab.arena.statistics.standings import HeadToHead, PairCounter, head_to_heads, standing_rows
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError
from elolab.engine.language import LANGUAGES, Catalogue

State = dict[str, Any]
"""The state of a run; the module's docstring lists the keys."""

WAITING = "waiting"
MAX_POINTS = 400
"""Maximum number of points of a curve. When it is exceeded, every second point is removed."""
FRESH_SECONDS = 5.0
"""Time in seconds after a progress report during which a run counts as running without a check of its lock."""
FIT_SECONDS = 2.0
"""Minimum time in seconds between two rating fits while a run is in progress."""
CLOCK_TICK_SECONDS = 2.0
"""Coarsest resolution of file modification times, in seconds: 2 s on some file systems, milliseconds on most."""
FIT_PAUSE = 100
"""Minimum pause between two rating fits, as a multiple of the duration of the last fit."""
MAX_FIT_PAUSE_SECONDS = 10.0

CHECKED_BYTES = 64 * 2**20
"""Maximum size in bytes of a store that is checked for damage when it is first read.

Larger stores are only checked by runs and reports.
"""
NO_PAIRS = Pentanomial((0, 0, 0, 0, 0))


GameFault = tuple[str, Fault | None]
"""A fault that ended a game: the player's name and the fault, which is ``None`` if only the reason is known."""


class WatchedGame(NamedTuple):
    """A stored game without its moves."""

    key: str
    pairing: Pairing
    first: str
    second: str
    opening: str
    """Name of the opening."""
    result: str
    reason: str
    plies: int
    started_at: str
    duration_ms: float

    @property
    def record(self) -> GameRecord:
        """The game as a record without moves, for functions that count results."""
        return GameRecord(
            self.key, self.pairing, self.first, self.second, Opening("", (), self.opening), (), self.result,
            self.reason, "",
        )  # fmt: skip


def waiting_state(folder: Path) -> State:
    """The state of a folder that contains no run yet."""
    return {
        "folder": str(folder), "name": folder.name, "kind": "", "format": "", "game": "", "state": WAITING,
        "trouble": "",
        "progress": {
            "planned": 0, "done": 0, "stage": None, "all_planned": 0, "all_done": 0, "games_per_second": None,
            "seconds_left": None, "at_most": True, "words": "", "updated_at": "",
        },
        "machine": {}, "workers": [], "players": [], "standings": [], "anchors": {}, "result": {}, "match": None,
        "test": None,
        "curve": {"kind": "", "stride": 1, "points": []}, "running": [], "faults": [], "warnings": [], "games": 0,
    }  # fmt: skip


class RunFollower:
    """Reads the state of one run repeatedly. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.games: list[WatchedGame] = []
        """All stored games, in the order of their end."""
        self._state = waiting_state(folder)
        self._store = GameReader(folder)
        self._faults: dict[str, GameFault] = {}
        """Faults that ended games, keyed by the game's key."""
        self._figures: _Figures | None = None
        self._content: Any = None
        self._live_stamp: tuple[int, ...] | None = None
        self._live: dict[str, Any] = {}

    def read(self) -> State:
        """Read the current state; if the folder cannot be read, the last state with the reason in ``trouble``."""
        state, failure = {**self._state, "trouble": ""}, ""
        self._read_live()
        try:
            self._read_games(state)
        except (UserError, sqlite3.Error, ValueError, KeyError, TypeError) as error:
            state["trouble"] = str(error) if isinstance(error, UserError) else f"{self.folder / STORE_NAME}: {error!r}"
            failure = UNREADABLE if isinstance(error, StoreFailure) else DAMAGED
        if self._store.is_there or self._live:
            self._add_live(state)
            state["state"] = failure if failure and not self.games else self._run_state(state)
            if state["state"] != RUNNING:
                self._remove_progress(state)
        for name, value in state.items():  # equal sections remain the same object
            if value == self._state[name]:
                state[name] = self._state[name]
        self._state = state
        return state

    def game(self, key: str) -> GameRecord | None:
        """Load a stored game; ``None`` for an unknown key. Raises ``StoreError`` if the store cannot be read."""
        return self._store.record(key)

    @property
    def spec(self) -> TournamentSpec | None:
        """The specification of a tournament; ``None`` for other runs."""
        return None if self._figures is None else self._figures.spec

    @property
    def facts(self) -> dict[str, Any]:
        """The metadata entries of the run's store, by name."""
        return self._store.facts

    @property
    def identity(self) -> str:
        """Identity of the built-in engine that played the newest game; empty before the first game."""
        return self._store.identity

    @property
    def placing(self) -> Placing | None:
        """The ranking of a Swiss tournament or a knockout, updated with the standings; ``None`` for other runs."""
        return None if self._figures is None else self._figures.placing

    @property
    def head_to_heads(self) -> tuple[HeadToHead, ...]:
        """The results of all pairs of players, updated with the standings.

        Empty if there is a ranking (``placing``) or if there are only two players.
        """
        return () if self._figures is None else self._figures.head_to_heads

    # Games

    def _read_games(self, state: State) -> None:
        has_changed, fresh = self._store.new_games()
        if self._store.was_replaced:
            self.games, self._faults, self._figures = [], {}, None
        if has_changed and self.games and self._store.facts.get("specification") != self._content:
            # Stored games may have other places in the new schedule.
            self.games, self._faults, self._figures = [], {}, None
            self._store.read_again()
            _, fresh = self._store.new_games()
        if has_changed:
            self._read_facts(state)
        for game, fault in fresh:
            self.games.append(game)
            if fault is not None:
                self._faults[game.key] = fault
            if self._figures is not None:
                self._figures.add(game, fault)
        state["games"] = len(self.games) + int(self._store.facts.get(GAMES_ELSEWHERE) or 0)
        if self._figures is not None:
            self._figures.fill(state, self._store.withdrawals)

    def _read_facts(self, state: State) -> None:
        """Read the specification of the run from the metadata, if it has changed."""
        facts = self._store.facts
        content = facts.get("specification")
        if self._figures is not None and content == self._content:
            return
        self._content = content
        if content is None:
            state["kind"] = str(self._live.get("kind") or facts.get(KIND, ""))  # before the first progress report
            state["game"] = _game_in(facts.get(state["kind"]))
            self._figures = _Figures(None)
        else:
            spec = TournamentSpec.from_content(content)
            state.update(kind=TOURNAMENT, format=spec.format, game=spec.game, name=spec.name)
            state.update(anchors=dict(spec.anchors), players=[player.name for player in spec.players])
            self._figures = _Figures(spec)
        for game in self.games:
            self._figures.add(game, self._faults.get(game.key))

    # live.json

    def _read_live(self) -> None:
        stamp = _stamp_of(self.folder / LIVE_NAME)
        if stamp != self._live_stamp:
            self._live_stamp, self._live = stamp, read_live(self.folder)
            age_ms = 0.0 if stamp is None else 1000 * min(max(0.0, time.time() - stamp[0] / 1e9), FRESH_SECONDS)
            for game in self._live.get("running") or []:
                if game.get("thinking") is not None:
                    game["thinking"] = round(game["thinking"] + age_ms)

    def _add_live(self, state: State) -> None:
        live, spec = self._live, self._figures.spec if self._figures is not None else None
        planned = _count(live.get("planned")) or (planned_games(spec) if spec is not None else 0)
        done = _count(live.get("done")) if live else state["games"]
        speed = live.get("games_per_second") if live.get("state") == RUNNING else None
        all_planned, all_done = _count(live.get("all_planned")) or planned, _count(live.get("all_done")) or done
        state["progress"] = {
            "planned": planned, "done": done, "stage": live.get("stage"), "all_planned": all_planned,
            "all_done": all_done, "games_per_second": speed,
            "seconds_left": max(0, all_planned - all_done) / speed if speed else None,
            "at_most": spec is None or not format_of(spec).has_fixed_length,
            "words": str(live.get("words") or ""), "updated_at": str(live.get("updated_at") or ""),
        }  # fmt: skip
        state["kind"] = state["kind"] or str(live.get("kind") or "")
        state["workers"] = live.get("workers") or []
        state["machine"] = live.get("machine") or {}
        state["running"] = live.get("running") or []
        state["game"] = state["game"] or next((game["game"] for game in state["running"] if game.get("game")), "")

    def _remove_progress(self, state: State) -> None:
        """Remove running games, speed and time left from ``state``; ``live.json`` of a killed run still has them."""
        progress = {**state["progress"], "games_per_second": None, "seconds_left": None}
        if self._live.get("state") == RUNNING:
            state["workers"] = []
            is_tournament = self._figures is not None and self._figures.spec is not None
            if is_tournament and not progress["stage"]:  # includes games stored after the last report
                progress["done"] = progress["all_done"] = min(state["games"], progress["all_planned"])
        state.update(running=[], machine={}, progress=progress)

    def _run_state(self, state: State) -> str:
        progress, stamp = state["progress"], self._live_stamp
        if self._live.get("state") == RUNNING and stamp and time.time() - stamp[0] / 1e9 < FRESH_SECONDS:
            return RUNNING
        is_decided = state["test"] is not None and state["test"]["verdict"] != "undecided"
        planned = progress["all_done"] if is_decided else progress["all_planned"]
        return state_of(self.folder, self._live, progress["all_done"], planned)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _game_in(content: Any) -> str:
    """Name of the game in the stored specification of a run that is not a tournament; empty if none is stored."""
    if not isinstance(content, dict):
        return ""
    found = content.get("game") or (content.get("conditions") or {}).get("game")
    return found if isinstance(found, str) else ""


class GameReader:
    """Reads the new games of a store. The store's file is only open during a reading.

    The process that plays the games can then close the file last, which is when SQLite merges its write-ahead log.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / STORE_NAME
        self._last = 0
        """Row number in the store of the last game read so far."""
        self._stamps: tuple[Any, ...] = ()
        self._file: tuple[int, int] | None = None
        self.was_replaced = False
        """Whether the last reading found another file in place of the store."""
        self.facts: dict[str, Any] = {}
        self.identity = ""
        """Identity of the built-in engine that played the newest game; empty before the first game."""
        self.withdrawals: tuple[Withdrawal, ...] = ()
        """Players that had withdrawn by the last reading, because they could not be started."""

    @property
    def is_there(self) -> bool:
        """Whether the file of the store exists."""
        return self._path.is_file()

    def read_again(self) -> None:
        """Make the next call of ``new_games`` return all games."""
        self._last, self._stamps = 0, ()

    def new_games(self) -> tuple[bool, list[tuple[WatchedGame, GameFault | None]]]:
        """Read the new games. Returns whether the store has changed, and the games with the faults that ended them.

        Raises ``StoreError`` if the store is damaged or cannot be read.
        """
        self.was_replaced = False
        began = time.time()
        stamps = tuple(map(_stamp_of, (self._path, self._path.with_name(f"{STORE_NAME}-wal"))))
        if stamps == self._stamps or stamps[0] is None:
            return False, []
        file = stamps[0][2:]
        if file != self._file:
            self.was_replaced, self._last = self._file is not None, 0
        with Store(self._folder, read_only=True, glance=True) as store:
            if file != self._file and stamps[0][1] <= CHECKED_BYTES:
                store.check()
            before, self.facts = self.facts, store.all_metadata()
            self.withdrawals = withdrawals_of(store)
            found = [*self._rows(store.connection)]
            newest_game = "SELECT engine_identity FROM games ORDER BY rowid DESC LIMIT 1"
            self.identity = next((row[0] for row in store.connection.execute(newest_game)), "")
        # A change within the same clock tick may leave time and size unchanged, because the log is overwritten.
        newest = max(stamp[0] for stamp in stamps if stamp is not None)
        is_settled = began - newest / 1e9 > CLOCK_TICK_SECONDS
        self._stamps, self._file = stamps if is_settled else (), file
        return self.was_replaced or before != self.facts or bool(found), found

    def _rows(self, connection: sqlite3.Connection) -> Iterator[tuple[WatchedGame, GameFault | None]]:
        # The series is stored after the moves and therefore slow to read; skipped if no game has one.
        is_divided = connection.execute("SELECT 1 FROM games WHERE series > '' LIMIT 1").fetchone() is not None
        forfeits = ", ".join(f"'{reason}'" for reason in FORFEITS)
        query = (
            "SELECT rowid, key, number, pair, first_index, second_index, opening_index, round, "
            f"{'series' if is_divided else repr('')}, first, second, opening_name, result, reason, plies, started_at, "
            f"duration_ms, CASE WHEN reason IN ({forfeits}) THEN detail END FROM games WHERE rowid > ? ORDER BY rowid"
        )
        for row, key, *rest in connection.execute(query, (self._last,)):
            self._last = row
            game = WatchedGame(key, Pairing(*rest[:7]), *rest[7:15])
            detail = rest[15]
            yield game, None if detail is None else cause_of(replace(game.record, detail=json.loads(detail)))

    def record(self, key: str) -> GameRecord | None:
        """Load a stored game; ``None`` for an unknown key. Raises ``StoreError`` if the store cannot be read."""
        with Store(self._folder, read_only=True, glance=True) as store:
            return next(store.iterate([key]), None)


def _stamp_of(path: Path) -> tuple[int, int, int, int] | None:
    """Modification time (ns), size, device and inode of a file; ``None`` if there is no file.

    Time and size change if the file is changed, device and inode if it is replaced.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_dev, found.st_ino


def _fault_entry(key: str, count: FaultCount) -> dict[str, Any]:
    """Create a row of the section ``faults``. ``key`` is the key of the first game that this kind of fault ended."""
    sentences = {language: fault_text(count, say, language) for language, say in _catalogues().items()}
    plain = {name: getattr(count, name) for name in ("player", "reason", "games", "number")}
    return {**plain, "key": key, "sentence": sentences}


def _catalogues() -> dict[str, Catalogue]:
    return {language: Catalogue("elolab.arena", language) for language in LANGUAGES}


class _Figures:
    """The results of a run so far, updated with every game."""

    def __init__(self, spec: TournamentSpec | None) -> None:
        self.spec = spec
        names = [player.name for player in spec.players] if spec is not None else []
        self._counter = PairCounter(names)
        self._faults: dict[tuple[str, str], tuple[tuple[str, int], str, FaultCount]] = {}
        """For each player and kind of fault: place (series and number) and key of the first such game, and a count."""
        self._games: list[WatchedGame] = []
        self._test = SequentialRun(spec.sprt, spec.pairs) if spec is not None and spec.sprt is not None else None
        self._elo = MatchScore(names[0]) if len(names) == 2 and self._test is None else None
        self._curve = _Curve("llr" if self._test is not None else "elo" if self._elo is not None else "")
        self._cumulated = NO_PAIRS
        self._fitted_games, self._fitted_at, self._fit_seconds = -1, -math.inf, 0.0
        self._withdrawals: tuple[Withdrawal, ...] = ()
        self._standings: list[dict[str, Any]] = []
        self._result: dict[str, str] = {}
        self.placing: Placing | None = None
        self.head_to_heads: tuple[HeadToHead, ...] = ()

    def add(self, game: WatchedGame, fault: GameFault | None) -> None:
        """Add a finished game to the results; ``fault`` is the fault that ended it, if any."""
        self._games.append(game)
        if fault is not None:
            self._add_fault(game, fault)
        if self.spec is None:
            return
        outcome = Outcome(game.key, game.pairing, points_of(game.result))
        if self._test is not None:
            self._add_to_test(self._test, outcome)
        elif self._elo is not None:
            self._elo.add(outcome)
            self._curve.add(self._elo.counts.pairs, self._elo_point)
        if self._counts(game):
            self._counter.add(game.record)

    def _counts(self, game: WatchedGame) -> bool:
        """Whether a game counts; games after the end of a sequential test do not."""
        end = None if self._test is None else self._test.stopped_after
        return end is None or game.pairing.number < end

    def _add_fault(self, game: WatchedGame, fault: GameFault) -> None:
        player, place = fault[0], (game.pairing.series, game.pairing.number)
        new = place, game.key, FaultCount(player, game.reason, 0, game.pairing.number, fault[1])
        first, key, before = self._faults.get((player, game.reason), new)
        if place < first:  # the first in the schedule, as in reports, not the first to end
            first, key, before = place, game.key, replace(before, number=game.pairing.number, fault=fault[1])
        counted = replace(before, games=before.games + 1, drawn=before.drawn + (game.result == "1/2-1/2"))
        self._faults[player, game.reason] = first, key, counted

    def _add_to_test(self, test: SequentialRun, outcome: Outcome) -> None:
        before, was_decided = len(test.history), test.is_decided
        test.add(outcome)
        for pair in test.history[before:]:
            self._cumulated += pair
            self._curve.add(self._cumulated.pairs, lambda: [test.settings.test(self._cumulated).log_likelihood_ratio])
        if test.is_decided and not was_decided:  # recount without games of later pairs
            self._counter = PairCounter(self._counter.players)
            for game in self._games[:-1]:
                if self._counts(game):
                    self._counter.add(game.record)

    def _elo_point(self) -> list[float | None]:
        assert self._elo is not None
        estimate = self._elo.counts.estimate()
        return [*map(_finite, (estimate.elo, estimate.elo_low, estimate.elo_high))]

    def fill(self, state: State, withdrawals: tuple[Withdrawal, ...]) -> None:
        """Write the results into ``state``. ``withdrawals`` are the players that have withdrawn so far."""
        faults = sorted((found[1:] for found in self._faults.values()), key=lambda found: -found[1].games)
        state["faults"] = [_fault_entry(*found) for found in faults]
        state["warnings"] = self._warnings([count for _, count in faults])
        if self.spec is None:
            return
        state["curve"] = self._curve.data()
        self._fit(withdrawals, is_running=state["state"] == "running")
        state["standings"], state["result"] = self._standings, self._result
        if len(self._counter.players) == 2:
            counts = self._counter.between(0, 1).pentanomial()
            estimate = counts.estimate() if counts.pairs else None
            state["match"] = None if estimate is None else {
                "elo": _finite(estimate.elo), "elo_low": _finite(estimate.elo_low),
                "elo_high": _finite(estimate.elo_high), "los": _finite(estimate.los), "pairs": counts.pairs,
                "pentanomial": list(counts.counts),
            }  # fmt: skip
        if self._test is not None:
            settings = self._test.settings
            named = {name: getattr(settings, name) for name in ("elo0", "elo1", "alpha", "beta", "model")}
            state["test"] = {**self._test.described(), **named}

    def _warnings(self, counts: Sequence[FaultCount]) -> list[dict[str, str]]:
        found = {name: time_loss_warnings(counts, len(self._games), say) for name, say in _catalogues().items()}
        return [dict(zip(found, sentences, strict=True)) for sentences in zip(*found.values(), strict=True)]

    def _fit(self, withdrawals: tuple[Withdrawal, ...], *, is_running: bool) -> None:
        """Recompute standings and result if there are new games; while the run is in progress, only after a pause."""
        games, now = len(self._games), time.monotonic()
        pause = min(max(FIT_SECONDS, FIT_PAUSE * self._fit_seconds), MAX_FIT_PAUSE_SECONDS)
        if not is_running or self._fitted_games <= 0:
            pause = 0
        is_known = games == self._fitted_games and withdrawals == self._withdrawals
        if is_known or now - self._fitted_at < pause:
            return
        assert self.spec is not None
        self._fitted_games, self._fitted_at, self._withdrawals = games, now, withdrawals
        anchors = {self._counter.players.index(name): elo for name, elo in self.spec.anchors}
        ratings = self._counter.ratings(anchors)
        rows = standing_rows(self._counter, ratings)
        self._standings = [
            {
                "rank": row.rank, "player": row.player, "rating": _finite(row.rating) if row.games else None,
                "rating_error": _finite(row.rating_error) if row.games else None, "games": row.games,
                "wins": row.wins, "draws": row.draws, "losses": row.losses, "score": row.score, "pairs": row.pairs,
            }
            for row in rows
        ]  # fmt: skip
        outcomes = (Outcome(game.key, game.pairing, points_of(game.result)) for game in self._games)
        in_order = sorted(outcomes, key=lambda outcome: outcome.pairing.number)
        self.placing = placing = placing_of(self.spec, in_order, withdrawals)
        if placing is not None:
            self._result = {name: result_sentence(placing, say) for name, say in _catalogues().items()}
        elif len(rows) > 2:
            ranking = [self._counter.players.index(row.player) for row in rows]
            self.head_to_heads = head_to_heads(self._counter, ranking)
        self._fit_seconds = time.monotonic() - now


class _Curve:
    """A curve over the pairs of a match, with at most ``MAX_POINTS`` points.

    Beyond this number, every second point is removed, and the distance between points doubles.
    """

    def __init__(self, kind: str) -> None:
        self._kind, self._stride = kind, 1
        self._points: list[list[float | None]] = []

    def add(self, pairs: int, figures: Callable[[], Sequence[float | None]]) -> None:
        """Add a point for ``pairs`` pairs with the values of ``figures()``.

        Does nothing if the point exists, or if ``pairs`` is 0 or not a multiple of the distance between points.
        """
        if not pairs or pairs % self._stride or (self._points and self._points[-1][0] == pairs):
            return
        self._points.append([pairs, *figures()])
        if len(self._points) > MAX_POINTS:
            self._stride *= 2
            self._points = [point for point in self._points if point[0] is not None and not point[0] % self._stride]

    def data(self) -> dict[str, Any]:
        """The points as plain data."""
        return {"kind": self._kind, "stride": self._stride, "points": [*self._points]}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def changes(before: State, after: State) -> dict[str, Any]:
    """The sections of the state ``after`` that differ from the state ``before``, keyed by name."""
    return {name: value for name, value in after.items() if value is not before[name] and value != before[name]}
