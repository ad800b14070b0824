"""Results of a claims run: one row per cell, one verdict per part and engine, as plain values and pandas tables.

A cell is one part of a claim, measured in one engine at one search limit. A look is an interim analysis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.arena.statistics.faults import FaultCount
from elolab.tuning.claims.claims_spec import COSTS, OF_THRESHOLD, Cell, Claim, ClaimPart, ClaimsSpec
from elolab.tuning.claims.part_verdicts import OPEN, UNFINISHED, PartRule
from elolab.tuning.claims.registration import ClaimsRegistration
from elolab.tuning.keys.claims import ENGINES

if TYPE_CHECKING:
    from pandas import DataFrame

    from elolab.tuning.claims.measures import Searched
    from elolab.tuning.claims.position_suites import SampledPosition

CellKey = tuple[str, str, str]
"""Key of a cell, that is, of one measurement: part, engine (``then`` or ``now``) and name of the limit."""


@dataclass(frozen=True)
class CellRow:
    """The result of one cell (one part of a claim, in one engine at one limit): a line of cells.csv.

    The file columns.csv explains the columns.

    Tables of older versions may lack ``error_rate``, ``variant`` and ``reference``.
    """

    claim: str
    part: str
    engine: str
    """Engine of the measurement: ``then``, which the claim's source describes, or ``now``, elolab's best engine."""
    preset: str
    limit_name: str
    limit: str
    kind: str
    of: str
    """Name of the measured share, a ratio of two counts from searches; empty if the part measures no share."""
    expect: str
    """The expected direction; empty if the part expects nothing."""
    unit: str
    """Unit of the effect: ``Elo``, ``×`` (ratio), ``passes``, ``%``, ``points`` (percentage points) or ``cases``."""
    effect: float
    """Estimate of the effect in ``unit``, not corrected for early stopping."""
    median_unbiased: float | None
    """Median-unbiased estimate, corrected for early stopping.

    ``None`` if the cell is measured by searches, and until its estimate has a finite standard error.
    """
    low: float
    """Lower bound of the interval with the error rate ``error_rate``, which holds for all interim analyses together."""
    high: float
    threshold: float
    """The value with which a share is compared, in ``unit``; 0 if the part has none."""
    margin: float
    """Margin below which an effect is negligible: in Elo, percent of nodes or of cases, or percentage points."""
    verdict: str
    """The verdict: ``confirmed``, ``refuted``, ``negligible``, ``open``; ``shown`` if nothing is expected."""
    p_value: float | None
    """Two-sided p-value of the verdict; ``None`` without a verdict."""
    cases: int
    """Number of game pairs or of positions; for a share or a rate, its denominator."""
    hits: int
    """Number of cases with the counted event, such as the numerator of a share; 0 if the part counts no events."""
    games: int
    looks: int
    looks_planned: int
    ended: str
    """Why the measurement ended: ``decided``, ``complete`` (all planned) or ``futility``; empty before the end."""
    games_needed: int | None
    """Further games after which the cell probably has a verdict, if the estimate is right.

    ``None`` if the verdict is not open, if no number would be enough, or if the cell is measured by searches.
    """
    positions_needed: int | None
    """Further positions after which the cell probably has a verdict, if the estimate is right.

    ``None`` if the verdict is not open, if no number would be enough, or if the cell is measured by games.
    """
    LL: int = 0
    """Number of pairs in which the variant lost both games.

    This field and the next four count a cell's game pairs by outcome. All five are 0 unless the part has the kind
    ``elo``.
    """
    LD: int = 0
    even: int = 0
    WD: int = 0
    WW: int = 0
    error_rate: float = 0.0
    """Two-sided error rate of the interval; in older tables 5 % divided by the part's number of cells."""
    variant: str = ""
    """The variant's changes to the preset, as JSON. For an interaction, the two factors with two values each."""
    reference: str = ""
    """The reference's changes to the preset, or an interaction's common settings, as JSON; otherwise empty."""
    engine_identity: str = ""
    """Identity of the engine or engines that played or searched; empty before the first result."""

    @property
    def key(self) -> CellKey:
        """Part, engine and limit name."""
        return self.part, self.engine, self.limit_name

    @property
    def shown_verdict(self) -> str:
        """The verdict, or ``unfinished`` if the verdict is open and the cell has games or searches left."""
        return UNFINISHED if self.verdict == OPEN and not self.ended else self.verdict

    def outcome(self, low: float, high: float) -> tuple[float, float]:
        """Convert an interval from the row's unit to the scale of the margin, with the expected direction as positive.

        The scale is a log ratio for costs, and the difference from the threshold for shares with a threshold. Otherwise
        the scale is the row's unit.
        """
        if self.kind in COSTS:
            low, high = (math.log(bound) if bound > 0 else -math.inf for bound in (low, high))
        elif self.kind in OF_THRESHOLD:
            low, high = low - self.threshold, high - self.threshold
        return PartRule(self.expect or None, 0.0).turned(low, high)


def rule_of_part(part: ClaimPart) -> PartRule:
    """The rule that gives verdicts on the part's cells, on the scale of ``CellRow.outcome``."""
    return PartRule(part.expect, scaled_margin(part), part.refuted_by)


def scaled_margin(part: ClaimPart) -> float:
    """The part's margin on the scale of ``CellRow.outcome``: a log ratio for costs, otherwise as in the file."""
    return math.log1p(part.margin / 100) if part.kind in COSTS else part.margin


def cell_row(line: Mapping[str, str]) -> CellRow:
    """Read a row from a line of cells.csv; empty numbers become ``None``."""
    kinds = get_type_hints(CellRow)
    values: dict[str, Any] = {}
    for column in fields(CellRow):
        if column.name not in line:
            continue
        text, kind = line[column.name], kinds[column.name]
        if kind is str:
            values[column.name] = text
        elif not text:
            values[column.name] = None
        else:
            values[column.name] = float(text) if "float" in str(kind) else int(float(text))
    return CellRow(**values)


@dataclass(frozen=True)
class CellResult:
    """The result of one cell (one part, in one engine at one limit): the table row and the results of its searches.

    There are no searches if the part is measured in games.
    """

    cell: Cell
    row: CellRow
    positions: Sequence[SampledPosition] = field(default=(), compare=False, repr=False)
    """The positions that this run searched; empty for games."""
    searches: Mapping[str, Sequence[Searched]] = field(default_factory=dict, compare=False, repr=False)
    """Results of the searches, one per position, by the search's name (``tuning.claims.cells.sides_of``)."""


@dataclass(frozen=True)
class EngineVerdict:
    """The verdict on one part of a claim, measured in one engine."""

    verdict: str
    p_value: float | None
    """The largest p-value over the engine's search limits; ``None`` if the verdict is ``open`` or ``shown``."""
    is_finished: bool
    """Whether no games or searches are left for the part in this engine."""
    stays_in_family: bool | None = None
    """Whether the verdict stays significant after Holm's correction over the file; ``None`` without a p-value."""

    @property
    def shown_verdict(self) -> str:
        """The verdict, or ``unfinished`` if the verdict is open and games or searches are left."""
        return UNFINISHED if self.verdict == OPEN and not self.is_finished else self.verdict


@dataclass(frozen=True)
class PartResult:
    """Results of one part of a claim: one for each engine and limit (a cell), and one verdict per engine."""

    claim: Claim
    part: ClaimPart
    cells: tuple[CellResult, ...]
    verdicts: Mapping[str, EngineVerdict]
    """The part's verdict by engine (``then``, ``now``)."""
    depends: bool = False
    """Whether the result depends on the engine. The engines' verdicts then differ, and at some limit their effects
    differ by more than the margin."""

    @property
    def is_finished(self) -> bool:
        """Whether the part has no games or searches left."""
        return all(one.is_finished for one in self.verdicts.values())

    @property
    def is_open(self) -> bool:
        """Whether the verdict is open in at least one engine."""
        return any(one.verdict == OPEN for one in self.verdicts.values())

    @property
    def rows(self) -> tuple[CellRow, ...]:
        """The part's table rows, one for each engine and limit."""
        return tuple(one.row for one in self.cells)

    @property
    def games(self) -> int:
        """Number of the part's games that have been analysed, over all engines and limits."""
        return sum(row.games for row in self.rows)

    @property
    def games_needed(self) -> int | None:
        """Further games that the cells with open verdicts need; ``None`` if no verdict is open, or if no number would
        be enough.
        """
        needed = [row.games_needed for row in self.rows if row.games_needed]
        return sum(needed) if self.is_open and needed else None

    @property
    def positions_needed(self) -> int | None:
        """Further positions that the cells with open verdicts need; ``None`` if no verdict is open, or if no number
        would be enough.
        """
        needed = [row.positions_needed for row in self.rows if row.positions_needed]
        return max(needed) if self.is_open and needed else None


@dataclass(frozen=True)
class ClaimsResult:
    """The result of a claims run."""

    spec: ClaimsSpec
    directory: Path
    interrupted: bool
    """Whether the run was stopped before its end, other than by its own time limit."""
    results: tuple[PartResult, ...] = ()
    """Results of all parts, in the file's order."""
    registration: ClaimsRegistration = field(default_factory=lambda: ClaimsRegistration({}, ()))
    digest: str = ""
    """Digest of all games in the folder; empty without games."""
    engine: str = ""
    """Identity of the engine, or of several engines, as given by ``arena.run.engines_of``."""
    faults: tuple[FaultCount, ...] = ()
    """Number of games forfeited by faults, per player and kind of fault, over all games of the folder."""
    caveats: Caveats = NO_CAVEATS

    @property
    def exit_code(self) -> int:
        """Exit code: 130 after an interruption, 1 if players forfeited games by faults, otherwise 0."""
        return 130 if self.interrupted else int(any(fault.lost for fault in self.faults))

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids of the parts that the run has not finished."""
        return tuple(result.part.id for result in self.results if not result.is_finished)

    @property
    def is_indicative(self) -> bool:
        """Whether the budget is ``quick``, which is too small for reliable verdicts."""
        return self.spec.budget.name == "quick"

    @property
    def is_fixed_beforehand(self) -> bool:
        """Whether no rule was changed and no part was dropped after results were known."""
        others = set(self.spec.asked) - {part.id for part in self.spec.parts}
        return not self.registration.amended_after_results - others

    def frame(self) -> DataFrame:
        """One row per part, with the columns ``PART_COLUMNS``.

        The columns of an engine that the part leaves out are empty. The columns ``family_...`` show the
        result of Holm's correction: ``stays``, ``does not`` or empty.
        """
        amended = [one.part for one in self.registration.amendments]
        rows = [
            (
                result.claim.id, part.id, part.text, result.claim.source, result.claim.basis, part.kind,
                part.expect or "", part.margin,
                *(value for engine in ENGINES for value in _verdict_columns(result.verdicts.get(engine))),
                result.depends, result.games,
                result.games_needed, result.positions_needed, part.digest, self.registration.dates.get(part.id, ""),
                amended.count(part.id),
            )
            for result in self.results for part in (result.part,)
        ]  # fmt: skip
        return _frame(rows, PART_COLUMNS)

    def cells_frame(self) -> DataFrame:
        """A table with one row for each part, engine and limit; the columns are the fields of ``CellRow``."""
        rows = [astuple(row) for result in self.results for row in result.rows]
        return _frame(rows, tuple(one.name for one in fields(CellRow)))

    def searches_frame(self) -> DataFrame:
        """One row per position search of this run, with the columns ``SEARCH_COLUMNS``."""
        rows = [
            (result.part.suite, position.game, position.opening.position, *one.row.key, side, *astuple(searched))
            for result in self.results for one in result.cells for side, searches in one.searches.items()
            for position, searched in zip(one.positions, searches, strict=True)
        ]  # fmt: skip
        return _frame(rows, SEARCH_COLUMNS).sort_values(["suite", "game", "position"], kind="stable")


def _verdict_columns(verdict: EngineVerdict | None) -> tuple[str, float | None, str]:
    """Columns of one engine in claims.csv: verdict, p-value and result of Holm's correction."""
    if verdict is None:
        return "", None, ""
    return verdict.verdict, verdict.p_value, {None: "", True: "stays", False: "does not"}[verdict.stays_in_family]


def _frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> DataFrame:
    """Make a pandas table; its columns for needed games and needed positions hold integers or missing values."""
    import pandas

    needed = [name for name in ("games_needed", "positions_needed") if name in columns]
    return pandas.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(needed, "Int64"))


SEARCH_COLUMNS = (
    "suite", "game", "position", "part", "engine", "limit_name", "side", "score", "nodes", "processor_ns", "hits",
    "cases",
)  # fmt: skip
PART_COLUMNS = (
    "claim", "part", "text", "source", "basis", "kind", "expect", "margin",
    *(f"{column}_{engine}" for engine in ENGINES for column in ("verdict", "p_value", "family")),
    "depends", "games", "games_needed", "positions_needed", "digest", "registered", "amendments",
)  # fmt: skip
