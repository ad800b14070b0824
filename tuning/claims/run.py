"""A run of claims: cell by cell, resumable, with verdicts on their parts.

Every cell has its looks fixed beforehand. The run plays the cheapest cell to its end, then the next. Early looks decide
next to nothing, so going round all cells would show little until the last hours. More than half of the shipped tables'
cells take at most an eighth of the total time, and get their verdicts first.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any, Unpack

from elolab.arena.files import OTHER_FOLDER
from elolab.arena.play.live import first_that_fits
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.provenance.caveats import caveats_of
from elolab.arena.run import SEVERAL, Purpose, Run, RunError, RunOptions, engines_of
from elolab.arena.spec import default_part
from elolab.arena.statistics.faults import FORFEITS, faults_of
from elolab.engine.errors import argument
from elolab.engine.language import console
from elolab.tuning.ablation.run import sides_of
from elolab.tuning.ablation.verdicts import ERROR_RATE
from elolab.tuning.claims.courses import (
    CellCourse,
    GameCourse,
    MergedCourse,
    SearchCourse,
    block_size,
    game_seconds,
    games_at_most,
    key_of,
    series_of,
)
from elolab.tuning.claims.measures import SuiteSearches
from elolab.tuning.claims.merging import (
    MergedPart,
    keep_merged,
    known_merged,
    merged_cells,
    read_merged,
    refuse_other_engines,
)
from elolab.tuning.claims.positions import PositionSuites, SuitePosition
from elolab.tuning.claims.registration import AskedElsewhere, note_positions, refuse_changes, register, surroundings_of
from elolab.tuning.claims.results import CellKey, CellResult, CellRow, ClaimsResult, PartResult
from elolab.tuning.claims.spec import COSTS, ClaimsSpec, Part
from elolab.tuning.claims.verdicts import DEPENDS, OPEN, SHOWN, differ, stays_in_family, verdict_of_cells
from elolab.tuning.matches import Match, MatchTable, read_openings

FILE_METADATA = "claims file"
"""Metadata with the table of claims, its path, the budget and the selected claims."""
FORMAT = 2
"""Format of the stored claims; version 1 had no parts."""
_NORMAL = NormalDist()


def run_claims(
    spec: ClaimsSpec, directory: Path, *, amend: str | None = None, minutes: float | None = None,
    merge: Sequence[Path] = (), **options: Unpack[RunOptions],
) -> ClaimsResult:  # fmt: skip
    """Play and search what the folder lacks, and judge every part on its results so far.

    ``amend`` is the reason for which a changed rule is kept as an amendment, ``minutes`` limits this sitting, ``merge``
    are folders whose ended cells are reused. Raises ``UserError`` if the folder belongs to another run, a rule differs
    from the registered one, or ``amend`` is blank.
    """
    accept_engine_change = options.get("accept_engine_change", False)
    merged = read_merged(spec, merge, accept_engine_change)
    purpose = purpose_of(spec, directory, amend, merged, accept_engine_change)
    with Run(directory, purpose, **options) as run, _sitting(run, minutes) as sitting:
        keep_merged(run.store, merged)
        known = known_merged(run.store)
        registration = register(run.store, spec, amend, _elsewhere(spec, known), surroundings_of(spec))
        spec = replace(spec, family=spec.family + len(registration.withdrawn))
        taken = merged_cells(spec, known)
        planned = plan_of_run(spec, directory, run.concurrency, run.store, taken)
        run.progress.announce(planned)
        experiments = Experiments(spec, run, taken)
        experiments.go_on(planned.stages[0])
        results = experiments.results()
        is_unfinished = not all(result.is_finished for result in results)
        run.is_interrupted = is_unfinished
        faults = faults_of(run.store.ended_by(FORFEITS))
        return ClaimsResult(
            spec, directory, is_unfinished and not sitting.is_over, results, registration,
            run.store.digest() if len(run.store) else "", experiments.engines, experiments.merged,
            faults, caveats_of(run.store, faults),
        )  # fmt: skip


def purpose_of(
    spec: ClaimsSpec, directory: Path, amend: str | None, merged: Mapping[str, MergedPart], accept_engine_change: bool
) -> Purpose:
    """The purpose of a run of claims, which refuses a changed rule without a reason in ``amend``.

    ``merged`` are the cells to be merged, by part. Raises ``RunError`` if the reason is blank.
    """
    if amend is not None and not amend.strip():
        raise RunError(
            f"claims: {argument('amend', repr(amend))}: expected the reason for the change, which is kept for good"
        )
    source = [spec.text, str(Path(spec.source).resolve()), spec.budget.name, list(spec.only)]
    content = {"format": FORMAT, "game": spec.game, "budget": spec.budget.name}
    check = _check_of(spec, directory, amend, merged, accept_engine_change)
    sides = tuple(
        side
        for part in spec.parts
        for cell in part.cells
        for comparison in cell.comparisons
        for side in sides_of(f"claim {part.id}", cell.conditions, comparison)
    )
    return Purpose("claims", content, spec.source, check=check, more={FILE_METADATA: source}, sides=sides)


def _elsewhere(spec: ClaimsSpec, merged: Mapping[str, MergedPart]) -> dict[str, AskedElsewhere]:
    """Known results of parts from other folders."""
    positions = {part.id: part.positions for part in spec.parts}
    return {name: part.asked(positions.get(name, 0)) for name, part in merged.items()}


def _check_of(
    spec: ClaimsSpec, directory: Path, amend: str | None, merged: Mapping[str, MergedPart], accept_engine_change: bool
) -> Any:
    """A check that refuses an unsuitable folder before anything in it changes."""

    def check(store: Store, recorded: Any) -> None:
        if recorded.get("format") != FORMAT:
            raise RunError(
                f"{directory}: holds claims by the rules of an older version; its report stays as it is",
                OTHER_FOLDER,
            )
        for key, now in (("game", spec.game), ("budget", spec.budget.name)):
            if recorded[key] != now:
                raise RunError(
                    f"{directory}: holds claims of {key} = {recorded[key]!r}, not {now!r}; give another folder with "
                    "--out"
                )
        if amend is None:
            elsewhere = _elsewhere(spec, {**merged, **known_merged(store)})
            refuse_changes(store, spec, directory, elsewhere, surroundings_of(spec))
        if not accept_engine_change:
            refuse_other_engines(merged_cells(spec, known_merged(store)).values(), directory)

    return check


class _Sitting:
    """Whether the sitting's time is over."""

    is_over = False


@contextmanager
def _sitting(run: Run, minutes: float | None) -> Iterator[_Sitting]:
    """Stop the run after ``minutes``, as a first Ctrl-C does."""
    sitting = _Sitting()

    def end() -> None:
        sitting.is_over = True
        run.stop.set()

    timer = None if minutes is None else threading.Timer(60 * minutes, end)
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield sitting
    finally:
        if timer is not None:
            timer.cancel()


def plan_of_run(
    spec: ClaimsSpec, directory: Path, concurrency: int, store: Store | None = None, merged: Container[CellKey] = ()
) -> StagePlan:
    """The stages of a run in that folder without the ``merged`` cells; ``store`` is its store if already open."""
    if store is None and (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as stored:
            return plan_of_run(spec, directory, concurrency, stored, merged)
    cells = {
        series_of(part, cell): cell
        for part in spec.parts if part.is_played
        for cell in part.cells if key_of(part, cell) not in merged
    }  # fmt: skip
    games = sum(map(games_at_most, cells.values()))
    seconds = sum(games_at_most(cell) * game_seconds(cell) for cell in cells.values())
    known = 0 if store is None else sum(outcome.pairing.series in cells for outcome in store.outcomes())
    stage = GameStage(console("elolab.tuning")("stage.claims"), games, seconds / max(1, games), min(known, games))
    return StagePlan(spec.name, directory, (stage,), concurrency)


class Experiments:
    """The courses of all cells of a run."""

    def __init__(self, spec: ClaimsSpec, run: Run, merged: Mapping[CellKey, CellRow]) -> None:
        self._spec, self._run = spec, run
        most = max((cell.analyses[-1] for part in spec.parts for cell in part.cells if cell.analyses), default=1)
        conditions = spec.conditions
        part_of_suite = default_part(spec.game, conditions.openings)
        suite, openings = read_openings(conditions, part_of_suite, most)
        self._table = MatchTable(conditions.of_games, suite, run)
        self._searches = SuiteSearches(spec.game, run.store, run.threads, run.stop, run.tick)
        all_openings = suite.part("all").order(conditions.seed)
        self._suites = PositionSuites(self._searches, conditions.seed, suite, all_openings)
        self.courses: list[CellCourse] = []
        self._course: GameCourse | None = None
        """The course whose games were requested last."""
        for claim in spec.claims:
            for part in claim.parts:
                for cell in part.cells:
                    course: CellCourse
                    if part.is_played:
                        course = GameCourse(claim, part, cell, openings, self._table)
                        course.absorb()
                    else:
                        course = SearchCourse(
                            claim, part, cell, self._searches, self._positions_of(part),
                            block_size(part.positions, spec.budget.rounds),
                        )  # fmt: skip
                    row = merged.get(key_of(part, cell))
                    if row is not None and not course.ended:
                        course = MergedCourse(claim, part, cell, row)
                    self.courses.append(course)

    def _positions_of(self, part: Part) -> Any:
        budget = self._spec.budget

        def read() -> list[SuitePosition] | None:
            return self._suites.positions(part.suite, part.positions, budget.positions_per_game)

        return read

    def go_on(self, stage: GameStage) -> None:
        """Play and search until everything is decided or complete, or the run is stopped."""
        games = [course for course in self.courses if isinstance(course, GameCourse)]
        searches = [course for course in self.courses if isinstance(course, SearchCourse)]
        while self._search(searches):
            pass
        self._play(games, stage)

    def _search(self, courses: Sequence[SearchCourse]) -> bool:
        """Search one block of every unfinished search course; returns whether there was any."""
        has_moved = False
        for course in courses:
            if course.ended:
                continue
            if not self._run.stop.is_set():
                self._run.release_players()
                self._run.progress.begin(0, self._words_of_searches(course))
            if course.step():
                has_moved = True
                note_positions(self._run.store, course.part.id, course.searched)
        return has_moved

    def _words_of_searches(self, course: SearchCourse) -> str:
        words = console("elolab.tuning")
        name = series_of(course.part, course.cell)
        return words("progress.positions", name=name, searched=course.searched, most=course.part.positions)

    def _play(self, courses: Sequence[GameCourse], stage: GameStage) -> None:
        """Play every course to its end, the cheapest first."""
        due = sorted((course for course in courses if not course.ended), key=lambda course: course.most_seconds)
        if self._run.stop.is_set():
            return
        self._run.progress.begin(  # also without games left, so that watchers see the state
            stage.games, self._words_of_games, done=stage.stored, is_bound=True, stage=stage.name,
            missing=self._games_missing if due else None,
        )  # fmt: skip
        if not due:
            return
        self._table.play_parts(self._looks(due))
        for course in due:
            course.absorb()

    def _looks(self, courses: Sequence[GameCourse]) -> Iterator[list[Match] | None]:
        """The games of the first course's looks; while its last games are in progress, those of the next course.

        ``None`` while all open courses wait for games.
        """
        waiting: dict[str, int] = {}
        """The look that each course waits for, by series."""
        while True:
            for course in courses:
                if waiting.get(course.series) == course.done and not course.ended:
                    course.absorb()
                if not course.ended and waiting.get(course.series) != course.done:
                    waiting[course.series] = course.done
                    self._course = course
                    yield course.next_matches
                    break
            else:
                if all(course.ended for course in courses):
                    return
                yield None

    def _games_missing(self) -> float:
        """Remaining time, as a number of games like the last requested ones."""
        assert self._course is not None
        games = [course for course in self.courses if isinstance(course, GameCourse)]
        return sum(course.seconds_left for course in games) / game_seconds(self._course.cell)

    def _words_of_games(self, columns: int) -> str:
        words = console("elolab.tuning")
        ended = sum(bool(course.ended) for course in self.courses)
        short = words("progress.cells", ended=ended, all=len(self.courses))
        if self._course is None:
            return short
        look, looks = self._course.done + 1, len(self._course.cell.analyses)
        long = words("progress.look", cells=short, name=self._course.series, look=min(look, looks), looks=looks)
        return first_that_fits(columns, long, short)

    @property
    def merged(self) -> int:
        """Number of merged cells."""
        return sum(isinstance(course, MergedCourse) for course in self.courses)

    @property
    def engines(self) -> str:
        """Identities of the run's own engine, if it has results, and of the merged cells' engines."""
        own = engines_of(self._run.store).split(SEVERAL)
        merged = [course.engine_identity for course in self.courses if isinstance(course, MergedCourse)]
        others = {one for engines in merged for one in engines.split(SEVERAL)}
        has_own = any(
            course.pairs if isinstance(course, GameCourse) else course.searched
            for course in self.courses if not isinstance(course, MergedCourse)
        )  # fmt: skip
        own = own if has_own or not others else []
        return SEVERAL.join([*own, *sorted(others - set(own))])

    def _result(self, course: CellCourse) -> CellResult:
        """A course's result, with the engines that produced it."""
        result = course.result()
        if isinstance(course, MergedCourse) or not (result.row.cases or course.ended):
            return result
        return replace(result, row=replace(result.row, engine_identity=engines_of(self._run.store)))

    def results(self) -> tuple[PartResult, ...]:
        """The verdicts on all parts so far."""
        by_part: dict[str, list[CellCourse]] = {}
        for course in self.courses:
            by_part.setdefault(course.part.id, []).append(course)
        found = []
        for courses in by_part.values():
            cells = tuple(map(self._result, courses))
            claim, part = courses[0].claim, courses[0].part
            verdict = verdict_of_cells([one.outcome for one in cells], depends_margin(part))
            is_finished = all(bool(course.ended) for course in courses)
            found.append((claim, part, verdict, cells, p_value_of_part(part, verdict, cells), is_finished))
        stays = stays_in_family({part.id: p for _, part, _, _, p, _ in found}, self._spec.family)
        return tuple(
            PartResult(
                claim, part, verdict, cells, p_value, None if p_value is None else part.id in stays, is_finished
            )
            for claim, part, verdict, cells, p_value, is_finished in found
        )  # fmt: skip


def depends_margin(part: Part) -> float:
    """The difference between cells from which a part depends on engine or limit, on the scale of outcomes."""
    return math.log1p(part.margin / 100) if part.kind in COSTS else part.margin


def p_value_of_part(part: Part, verdict: str, cells: Sequence[CellResult]) -> float | None:
    """The largest p-value if the cells agree; if they differ, that of the clearest difference, corrected for all
    pairs."""
    if verdict in (OPEN, SHOWN):
        return None
    if verdict != DEPENDS:
        values = [one.row.p_value for one in cells]
        return None if any(value is None for value in values) else max(value for value in values if value is not None)
    margin = depends_margin(part)
    bound = _NORMAL.inv_cdf(1 - part.error_rate / 2)
    pairs = list(combinations([one.outcome for one in cells], 2))
    found = []
    for one, other in pairs:
        if not differ(one, other, margin):
            continue
        # Intervals, read as if there had been a single look, give standard errors that are not too small.
        errors = [(outcome.high - outcome.low) / 2 / bound for outcome in (one, other)]
        middles = [(outcome.high + outcome.low) / 2 for outcome in (one, other)]
        spread = sum(error * error for error in errors) ** 0.5
        if not math.isfinite(spread):  # it holds at the level of the intervals, for all that is known
            found.append(ERROR_RATE / 2 / len(pairs))
            continue
        distance = abs(middles[0] - middles[1]) - margin
        found.append(_NORMAL.cdf(-distance / spread) if spread else 0.0)
    return min(1.0, 2 * len(pairs) * min(found, default=0.5))
