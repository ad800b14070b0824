"""Plays settings pairs as matches of a command or a function, and counts their outcomes.

A file in the run's folder holds the matches, one line of JSON each. All counts come from this file. A match is
identified by both sets of values, its number of game pairs and its seed, which follows from its position in the
schedule.
"""

from __future__ import annotations

import functools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from elolab.arena.files import OTHER_FOLDER
from elolab.arena.play.scores import MatchScores
from elolab.arena.play.store import GAMES_ELSEWHERE
from elolab.arena.records import Outcome, Pairing
from elolab.arena.run import Run, differences, plain, setting_text, without
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError
from elolab.engine.settings.parameters import Value
from elolab.tuning.match_command import Match, MatchCommand, counts_of
from elolab.tuning.study.plan import MATCHES_METADATA
from elolab.tuning.study.rounds.budgets import PLAYOFF_SERIES, BudgetPeriod, periods_of, rounds_of
from elolab.tuning.study.rounds.pairs_of_settings import ScheduledSettingsPair
from elolab.tuning.study.rounds.settings_pair_games import SettingsPairResults
from elolab.tuning.study.space import Values
from elolab.tuning.study.study_spec import COMMAND_PAIRS, TuningSpec
from elolab.tuning.study.validation.validation_games import VALIDATION, validation_series

MATCHES_NAME = "matches.jsonl"
VALIDATION_STEP, PLAYOFF_STEP, LATER_PLAYOFF_STEP = 1_000_000_000, 500_000_000, 10_000_000
"""Numbers added to a study's seed: for validations, for playoffs, and for each playoff after the first."""
TICK_SECONDS = 0.2
"""Maximum seconds between two updates of the progress display while matches are played."""
RECORD_SECONDS = 1.0
"""Minimum seconds between two records of the number of games in the store."""


@dataclass(frozen=True)
class PlannedMatch:
    """A match that is planned: two sets of values, the number of game pairs, and the seed."""

    first: Values
    second: Values
    pairs: int
    seed: int


class SettingsPairMatches(SettingsPairResults):
    """The matches in a run's folder: plays the missing ones, several at a time, and counts their outcomes."""

    def __init__(self, spec: TuningSpec, run: Run, match: Match | None = None) -> None:
        """Read the stored matches. ``match`` plays the missing ones; by default the specification's command does.

        Raises ``UserError`` if the stored matches belong to another study.
        """
        self._spec, self._run, self._file = spec, run, run.directory / MATCHES_NAME
        self._match = MatchCommand(spec.command, spec.conditions.source, run.stop) if spec.command else match
        self._header = json.dumps({"study": plain(spec.content())}, ensure_ascii=False)
        self._stored: dict[str, Pentanomial] = {}
        self._seeds: set[int] = set()
        """Seeds of all stored game pairs; the pairs of a match have consecutive seeds."""
        self._games: Counter[str] = Counter()
        """Number of stored games in each series."""
        self._recorded = 0.0
        if self._file.is_file():
            self._read()
        self._record()

    def play_parts(
        self,
        parts: Iterable[Sequence[ScheduledSettingsPair] | None],
        finished: Callable[[Outcome], None] = lambda outcome: None,
        scores: MatchScores | None = None,
    ) -> bool:
        """Play the matches that are not stored, part by part; return False if the run stopped before the last one.

        Once the run's stop flag is set, or a match raises ``KeyboardInterrupt``, no other match begins. Running matches
        of a command are then terminated and lost; matches of a function are played to their end. ``finished`` is
        called with the outcome of each match; ``scores`` stays unchanged.
        """
        stop, threads = self._run.stop, self._run.threads
        asked, running = self._missing_in(parts), dict[Future[Pentanomial], PlannedMatch]()
        is_open, is_complete = True, False
        try:
            with ThreadPoolExecutor(threads, "match") as pool:
                while is_open or running:
                    while is_open and len(running) < threads:
                        try:
                            match = next(asked)
                        except StopIteration:
                            is_open, is_complete = False, True
                            break
                        if match is None:
                            break
                        if stop.is_set():
                            is_open = False
                        else:
                            running[pool.submit(self._played, match)] = match
                    if not running:
                        break
                    for future in wait(running, TICK_SECONDS, FIRST_COMPLETED).done:
                        match = running.pop(future)
                        try:
                            self._store(match, future.result())
                        except BaseException as error:
                            stop.set()
                            is_open = is_complete = False
                            if not isinstance(error, KeyboardInterrupt):
                                raise
                        else:
                            finished(_outcome(self._key(match), match))
                    self._run.tick()
        finally:
            self._record()
        self._run.is_interrupted = not is_complete and stop.is_set()
        return is_complete

    def missing_keys(self, pairs: Iterable[ScheduledSettingsPair]) -> set[str]:
        """Keys of the settings pairs' matches that are not stored."""
        return {self._key(match) for one in pairs for match in self._matches(one)} - self._stored.keys()

    def missing_at(self, first_pair: int, pairs: int, series: str = "") -> int:
        """Number of games that are not stored, among the ``pairs`` game pairs of a series from ``first_pair`` on."""
        start = self._seed(series, first_pair)
        return 2 * sum(seed not in self._seeds for seed in range(start, start + pairs))

    def is_complete(self, scheduled: ScheduledSettingsPair) -> bool:
        """Whether all matches of the settings pair are stored."""
        return all(self._key(match) in self._stored for match in self._matches(scheduled))

    def missing_games(self, scheduled: ScheduledSettingsPair) -> int:
        """Number of games in the matches of a settings pair that are not stored."""
        return 2 * sum(match.pairs for match in self._matches(scheduled) if self._key(match) not in self._stored)

    def counts(self, scheduled: ScheduledSettingsPair) -> Pentanomial:
        """Outcomes of a settings pair's stored matches from the first set's point of view; empty if both sets are
        equal.
        """
        found = (self._stored.get(self._key(match)) for match in self._matches(scheduled))
        return sum((counts for counts in found if counts is not None), Pentanomial((0, 0, 0, 0, 0)))

    def games_of(self, outcome: Outcome) -> int:
        """Number of games of the match that an outcome from ``play_parts`` belongs to."""
        return 2 * self._stored[outcome.key].pairs

    def _missing_in(self, parts: Iterable[Sequence[ScheduledSettingsPair] | None]) -> Iterator[PlannedMatch | None]:
        for part in parts:
            if part is None:
                yield None
            for scheduled in part or ():
                yield from (match for match in self._matches(scheduled) if self._key(match) not in self._stored)

    def _matches(self, scheduled: ScheduledSettingsPair) -> list[PlannedMatch]:
        """The matches of a settings pair; empty if both sets of values are equal."""
        first, second, each = scheduled.settings.first, scheduled.settings.second, self._pairs_per_match
        if scheduled.series:  # the same two sets in many pairs
            each = self._spec.match_pairs or COMMAND_PAIRS
        start = self._seed(scheduled.series, scheduled.first_pair)
        starts = range(0, scheduled.pairs if first != second else 0, each)
        return [PlannedMatch(first, second, min(each, scheduled.pairs - at), start + at) for at in starts]

    def _seed(self, series: str, pair: int) -> int:
        """The seed of game pair ``pair`` of a series."""
        step = 0
        if series.startswith(PLAYOFF_SERIES):
            step = PLAYOFF_STEP + LATER_PLAYOFF_STEP * (int(series.removeprefix(PLAYOFF_SERIES) or 1) - 1)
        elif series.startswith(VALIDATION):
            step = VALIDATION_STEP
        return self._spec.conditions.seed + step + pair

    @functools.cached_property
    def _pairs_per_match(self) -> int:
        """Largest number of game pairs in one match of a round; at most the number of game pairs of the first round."""
        first = rounds_of(self._spec, periods_of(self._run.store)[0].games)[0]
        most = self._spec.match_pairs or (first.game_pairs if self._spec.sampler == "duel" else COMMAND_PAIRS)
        return min(most, first.pairs)

    def _series(self, seed: int) -> str:
        """Name of the series to which a game pair's ``seed`` belongs.

        All validations have the name of the first validation.
        """
        place = seed - self._spec.conditions.seed
        if place >= VALIDATION_STEP:
            return validation_series(0)
        earlier = (place - PLAYOFF_STEP) // LATER_PLAYOFF_STEP
        return "" if earlier < 0 else BudgetPeriod(0, {}, playoffs=earlier).playoff_series

    def _named(self, values: Values) -> dict[str, Value]:
        return dict(zip(self._spec.space.names, values, strict=True))

    def _key(self, match: PlannedMatch) -> str:
        sets = plain(self._named(match.first)), plain(self._named(match.second))
        return json.dumps([*sets, match.pairs, match.seed])

    def _played(self, match: PlannedMatch) -> Pentanomial:
        if self._match is None:
            raise UserError(
                f"{self._run.directory}: a Python function plays its matches",
                "give that function again: elolab.tune(objective=..., folder=...)",
            )
        found = self._match(self._named(match.first), self._named(match.second), match.pairs, match.seed)
        return counts_of(found, match.pairs, match.seed)

    def _store(self, match: PlannedMatch, counts: Pentanomial) -> None:
        sets = {"a": plain(self._named(match.first)), "b": plain(self._named(match.second))}
        entry = {**sets, "pairs": match.pairs, "seed": match.seed, "counts": list(counts.counts)}
        lines = [json.dumps(entry, ensure_ascii=False)]
        if not self._stored and not self._file.is_file():
            lines.insert(0, self._header)
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
        self._know(self._key(match), counts, match.seed)
        for _ in range(2 * match.pairs):
            self._run.progress.finished()
        if time.monotonic() > self._recorded + RECORD_SECONDS:
            self._record()

    def _know(self, key: str, counts: Pentanomial, seed: int) -> None:
        self._stored[key] = counts
        self._seeds.update(range(seed, seed + counts.pairs))
        self._games[self._series(seed)] += 2 * counts.pairs

    def _record(self) -> None:
        """Record the number of games of each series in the run's store."""
        self._run.has_other_results = bool(self._stored)
        self._run.store.record_metadata({GAMES_ELSEWHERE: self._games.total(), MATCHES_METADATA: dict(self._games)})
        self._recorded = time.monotonic()

    def _read(self) -> None:
        """Read the file of matches; remove an incomplete last line, which a killed process may have left."""
        content = self._file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.decode("utf-8").splitlines()
        lengths = self._run.purpose.lengths
        try:
            recorded: dict[str, Any] = json.loads(lines[0])["study"] if lines else {}
            for line in lines[1:]:
                entry = json.loads(line)
                key = json.dumps([entry["a"], entry["b"], entry["pairs"], entry["seed"]])
                self._know(key, Pentanomial(tuple(entry["counts"])), entry["seed"])
        except (ValueError, KeyError, TypeError) as error:
            problem = f"{self._file}: its matches cannot be read ({error})"
            raise UserError(problem, f"remove it, or {OTHER_FOLDER}") from None
        now = without(json.loads(self._header)["study"], lengths)
        for path, old, new in differences(without(recorded, lengths), now) if lines else ():
            raise UserError(
                f"{self._file}: holds matches of another study: {path} = {setting_text(old)} there, "
                f"{setting_text(new)} now",
                OTHER_FOLDER,
            )
        if len(whole) < len(content):
            with self._file.open("r+b") as stream:
                stream.truncate(len(whole))
        if not lines:
            self._file.unlink()


def _outcome(key: str, match: PlannedMatch) -> Outcome:
    return Outcome(key, Pairing(match.seed, match.seed, 0, 1, 0), None)
