"""A claims run: measures cell by cell, can be resumed, and gives verdicts on the parts of claims.

A cell measures one part in one engine at one limit, with looks (interim analyses) that are fixed beforehand. The run
plays the cheapest cell to its end, then the next. Many verdicts are therefore known early: more than half of the cells
in the shipped tables take at most an eighth of the total time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

from elolab.arena.files import OTHER_FOLDER
from elolab.arena.play.scores import MatchScores
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.provenance.caveats import caveats_of
from elolab.arena.run import Purpose, Run, RunError, RunOptions, engines_of
from elolab.arena.statistics.faults import FORFEITS, faults_of
from elolab.arena.tournament_reader import default_part
from elolab.engine.errors import argument
from elolab.engine.language import console
from elolab.tuning.ablation.ablation_run import sides_of
from elolab.tuning.claims.cells import (
    PlayedCell,
    RunningCell,
    SearchedCell,
    game_seconds,
    games_at_most,
    key_of,
    series_of,
)
from elolab.tuning.claims.claims_results import (
    CellKey,
    CellResult,
    ClaimsResult,
    EngineVerdict,
    PartResult,
    scaled_margin,
)
from elolab.tuning.claims.claims_spec import Cell, Claim, ClaimPart, ClaimsSpec
from elolab.tuning.claims.error_rates import interval_at
from elolab.tuning.claims.measures import SuiteSearches
from elolab.tuning.claims.part_verdicts import OPEN, SHOWN, are_apart, stays_in_family, verdict_of_cells
from elolab.tuning.claims.position_suites import PositionSuites, SampledPosition
from elolab.tuning.claims.registration import note_positions, refuse_changes, register, surroundings_of
from elolab.tuning.matches import Match, MatchTable, read_openings

FILE_METADATA = "claims file"
"""Key in the store's metadata for the table of claims, its path, the budget and the selected claims."""
FORMAT = 2
"""Version of the format in which the store keeps claims; format 1 had no parts."""


def run_claims(
    spec: ClaimsSpec,
    directory: Path,
    *,
    amend: str | None = None,
    minutes: float | None = None,
    **options: Unpack[RunOptions],
) -> ClaimsResult:
    """Play the games and do the searches that the folder lacks, and judge every part on its results so far.

    ``amend`` is the reason for changed rules, which are kept as amendments. ``minutes`` limits the time of this call.
    Raises ``UserError`` if the folder belongs to another run, if a rule differs from the registered one without
    ``amend``, or if ``amend`` is blank.
    """
    with Run(directory, purpose_of(spec, directory, amend), **options) as run:
        is_over = threading.Event()

        def end_sitting() -> None:
            is_over.set()
            run.stop.set()

        sitting = threading.Timer(60 * (minutes or 0), end_sitting)
        sitting.daemon = True
        if minutes is not None:
            sitting.start()
        registration = register(run.store, spec, amend, surroundings_of(spec))
        spec = replace(spec, family=spec.family + len(registration.withdrawn))
        planned = plan_of_run(spec, directory, run.concurrency, run.store)
        run.progress.announce(planned)
        experiments = Experiments(spec, run)
        experiments.go_on(planned.stages[0])
        sitting.cancel()
        results = experiments.results()
        is_unfinished = not all(result.is_finished for result in results)
        run.is_interrupted = is_unfinished
        run.conclusion.verdicts = {
            f"{result.part.id} {engine}": one.shown_verdict
            for result in results for engine, one in result.verdicts.items()
        }  # fmt: skip
        faults = faults_of(run.store.ended_by(FORFEITS))
        return ClaimsResult(
            spec, directory, is_unfinished and not is_over.is_set(), results, registration,
            run.store.digest() if len(run.store) else "", engines_of(run.store), faults, caveats_of(run.store, faults),
        )  # fmt: skip


def purpose_of(spec: ClaimsSpec, directory: Path, amend: str | None) -> Purpose:
    """The run's specification, and how it may change when the run resumes.

    A changed rule is refused unless ``amend`` gives the reason. Raises ``RunError`` if the reason is blank.
    """
    if amend is not None and not amend.strip():
        raise RunError(
            f"claims: {argument('amend', repr(amend))}: expected the reason for the change, which is recorded"
        )
    content = {"format": FORMAT, "game": spec.game, "budget": spec.budget.name}

    def check(store: Store, recorded: Any) -> None:
        """Raise ``RunError`` before anything changes if the run cannot be resumed in the folder.

        ``recorded`` is the specification in the store. Format, game and budget must be equal, and no rule may have
        changed without ``amend``.
        """
        if recorded.get("format") != FORMAT:
            raise RunError(
                f"{directory}: holds claims by the rules of an older version; it cannot be resumed, its report stays",
                OTHER_FOLDER,
            )
        for key, now in content.items():
            if recorded[key] != now:
                raise RunError(f"{directory}: holds claims of {key} = {recorded[key]!r}, not {now!r}", OTHER_FOLDER)
        if amend is None:
            refuse_changes(store, spec, directory, surroundings_of(spec))

    source = [spec.text, str(Path(spec.source).resolve()), spec.budget.name, list(spec.only)]
    sides = tuple(
        side
        for part in spec.parts
        for cell in part.cells
        for comparison in cell.comparisons
        for side in sides_of(f"claim {part.id}", cell.conditions, comparison)
    )
    return Purpose(
        "claims", content, spec.source, check=check, more={FILE_METADATA: source}, sides=sides,
        stop_after_faults=spec.conditions.stop_after_faults,
    )  # fmt: skip


def plan_of_run(spec: ClaimsSpec, directory: Path, concurrency: int, store: Store | None = None) -> StagePlan:
    """The planned games of a claims run and their estimated cost, for display before the run starts.

    ``store`` is the store of ``directory`` if it is already open.
    """
    if store is None and (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as stored:
            return plan_of_run(spec, directory, concurrency, stored)
    cells = {series_of(part, cell): cell for part in spec.parts if part.is_played for cell in part.cells}
    games = sum(map(games_at_most, cells.values()))
    seconds = sum(games_at_most(cell) * game_seconds(cell) for cell in cells.values())
    known = 0 if store is None else sum(outcome.pairing.series in cells for outcome in store.outcomes())
    stage = GameStage(console("elolab.tuning")("stage.claims"), games, seconds / max(1, games), min(known, games))
    return StagePlan(spec.name, directory, (stage,), concurrency)


class Experiments:
    """All cells of a claims run. It plays their games, searches their positions, and computes their results.

    A cell is one part of a claim, measured in one engine at one limit.
    """

    def __init__(self, spec: ClaimsSpec, run: Run) -> None:
        self._spec, self._run = spec, run
        most = max((cell.analyses[-1] for part in spec.parts for cell in part.cells if cell.analyses), default=1)
        conditions = spec.conditions
        suite, openings = read_openings(conditions, default_part(spec.game, conditions.openings), most)
        self._table = MatchTable(conditions.of_games, suite, run)
        searches = SuiteSearches(spec.game, run.store, run.threads, run.stop, run.tick)
        suites = PositionSuites(searches, conditions.seed, suite, suite.part("all").order(conditions.seed))
        per_game, rounds = spec.budget.positions_per_game, spec.budget.rounds

        def running(claim: Claim, part: ClaimPart, cell: Cell) -> RunningCell:
            if part.is_played:
                played = PlayedCell(claim, part, cell, openings, self._table)
                played.analyse_stored()
                return played

            def positions() -> list[SampledPosition] | None:
                return suites.positions(part.suite, part.positions, per_game)

            return SearchedCell(claim, part, cell, searches, positions, max(1, -(-part.positions // rounds)))

        self.played: list[PlayedCell] = []
        self.searched: list[SearchedCell] = []
        self._cells: dict[CellKey, RunningCell] = {}
        for claim in spec.claims:
            for part in claim.parts:
                for cell in part.cells:
                    own = self._cells[key_of(part, cell)] = running(claim, part, cell)
                    if isinstance(own, PlayedCell):
                        self.played.append(own)
                    else:
                        self.searched.append(own)
        self._current: PlayedCell | None = None
        """The cell whose games were scheduled last; ``None`` before the first."""

    def go_on(self, stage: GameStage) -> None:
        """Play games and search positions until every cell has ended or the run is stopped."""
        is_searching = True
        while is_searching:
            is_searching = sum(self._search(cell) for cell in self.searched if not cell.ended) > 0
        self._play(stage)

    def _search(self, cell: SearchedCell) -> bool:
        """Search the next block of a cell's positions; return False if no position was left or if the run stops."""
        if not self._run.stop.is_set():
            self._run.release_players()
            name, most = series_of(cell.part, cell.cell), cell.part.positions
            words = console("elolab.tuning")("progress.positions", name=name, searched=cell.searched, most=most)
            self._run.progress.begin(0, words)
        if not cell.step():
            return False
        note_positions(self._run.store, cell.part.id, cell.searched)
        return True

    def _play(self, stage: GameStage) -> None:
        """Play the games of every cell to their end, beginning with the cell that takes the least time."""
        if self._run.stop.is_set():
            return
        scores = MatchScores()
        due = sorted((cell for cell in self.played if not cell.ended), key=lambda cell: cell.most_seconds)
        self._run.progress.begin(  # also without games left, so that watchers see the state
            stage.games, self._words_of_games, done=stage.stored, is_bound=True, stage=stage.name,
            missing=self._games_missing if due else None, score=scores,
        )  # fmt: skip
        if due:
            self._table.play_parts(self._games_in_turn(due), scores=scores)
        for cell in due:
            cell.analyse_stored()

    def _games_in_turn(self, cells: Sequence[PlayedCell]) -> Iterator[list[Match] | None]:
        """Yield lists of games to play: the games up to the next interim analysis of the first cell that has not ended.

        While these games are in progress, it yields games of the next such cell. It yields ``None`` while all cells
        wait for games in progress.
        """
        waiting: dict[str, int] = {}
        """Index of the look that each cell waits for, by the cell's series."""
        while True:
            for cell in cells:
                if waiting.get(cell.series) == cell.done and not cell.ended:
                    cell.analyse_stored()
                if not cell.ended and waiting.get(cell.series) != cell.done:
                    waiting[cell.series] = cell.done
                    self._current = cell
                    yield cell.matches_until_next_look
                    break
            else:
                if all(cell.ended for cell in cells):
                    return
                yield None

    def _games_missing(self) -> float:
        """Estimated remaining time of all cells, expressed as a number of games of the cell that is being played."""
        assert self._current is not None
        return sum(cell.seconds_left for cell in self.played) / game_seconds(self._current.cell)

    def _words_of_games(self) -> tuple[str, ...]:
        words = console("elolab.tuning")
        ended = sum(bool(cell.ended) for cell in self._cells.values())
        short = words("progress.cells", ended=ended, all=len(self._cells))
        if self._current is None:
            return (short,)
        looks = len(self._current.cell.analyses)
        look = min(self._current.done + 1, looks)
        long = words("progress.look", cells=short, name=self._current.series, look=look, looks=looks)
        return long, short

    def _result(self, part: ClaimPart, cell: Cell) -> tuple[CellResult, bool]:
        """The result of a part in one engine at one limit (a cell), and whether the cell has ended."""
        own = self._cells[key_of(part, cell)]
        result = own.result()
        if result.row.cases or own.ended:
            result = replace(result, row=replace(result.row, engine_identity=engines_of(self._run.store)))
        return result, bool(own.ended)

    def results(self) -> tuple[PartResult, ...]:
        """The results of all parts so far, with their verdicts."""
        found = []
        for claim in self._spec.claims:
            for part in claim.parts:
                cells, ended = zip(*(self._result(part, cell) for cell in part.cells), strict=True)
                found.append(part_result(claim, part, cells, ended))
        return with_family(found, self._spec.family)


def part_result(claim: Claim, part: ClaimPart, cells: Sequence[CellResult], ended: Sequence[bool]) -> PartResult:
    """Results of a part, computed from the results of its engines and limits (``cells``).

    ``ended[i]`` is true if ``cells[i]`` has no games and no searches left.
    """
    verdicts = {}
    for engine in part.engines:
        own = [(one.row, is_over) for one, is_over in zip(cells, ended, strict=True) if one.cell.engine == engine]
        verdict = verdict_of_cells([row.verdict for row, _ in own])
        values = [row.p_value for row, _ in own if row.p_value is not None]
        p_value = max(values) if verdict not in (OPEN, SHOWN) and len(values) == len(own) else None
        verdicts[engine] = EngineVerdict(verdict, p_value, all(is_over for _, is_over in own))
    return PartResult(claim, part, tuple(cells), verdicts, _depends(part, cells, verdicts))


def _depends(part: ClaimPart, cells: Sequence[CellResult], verdicts: Mapping[str, EngineVerdict]) -> bool:
    """Whether the engines' verdicts differ, and their effects at a common limit differ by more than the margin."""
    if len({one.verdict for one in verdicts.values()}) < 2:
        return False
    joint = [
        (one.cell.limit, one.row.outcome(*interval_at(one.row, part.joint_error_rate)))
        for one in cells if one.row.cases and one.row.ended
    ]  # fmt: skip
    margin = scaled_margin(part)
    return any(
        limit == other_limit and are_apart(interval, other, margin)
        for (limit, interval), (other_limit, other) in combinations(joint, 2)
    )


def with_family(results: Sequence[PartResult], family: int) -> tuple[PartResult, ...]:
    """The results, with ``stays_in_family`` set by Holm's correction over ``family`` verdicts."""
    p_values = {
        f"{result.part.id} {engine}": one.p_value for result in results for engine, one in result.verdicts.items()
    }
    stays = stays_in_family(p_values, family)
    return tuple(
        replace(
            result,
            verdicts={
                engine: one if one.p_value is None
                else replace(one, stays_in_family=f"{result.part.id} {engine}" in stays)
                for engine, one in result.verdicts.items()
            },
        )
        for result in results
    )  # fmt: skip
