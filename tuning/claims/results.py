"""What a run through the claims has shown: a row a cell, a verdict a part, as plain values and pandas tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from elolab.arena.figures.faults import FaultCount
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.tuning.claims.registration import Registration
from elolab.tuning.claims.spec import Cell, Claim, ClaimsSpec, Part
from elolab.tuning.claims.verdicts import OPEN, UNFINISHED, CellOutcome

if TYPE_CHECKING:
    from pandas import DataFrame

    from elolab.tuning.claims.measures import Searched
    from elolab.tuning.claims.positions import SuitePosition

CellKey = tuple[str, str, str]
"""Which cell it is: its part, engine and the limit's name."""


@dataclass(frozen=True)
class CellRow:
    """What one cell of a part has shown: a line of cells.csv. columns.csv says what its columns mean.

    Those of ``OF_SPECIFICATION`` may be missing in tables of older versions.
    """

    claim: str
    part: str
    engine: str
    """``then`` or ``now``."""
    preset: str
    limit_name: str
    limit: str
    kind: str
    of: str
    """The share, or empty."""
    expect: str
    """Empty where the part is only shown."""
    unit: str
    """``Elo``, ``×`` (ratio), ``%``, ``points`` (difference of percentages) or ``cases``."""
    effect: float
    """The plain estimate, in ``unit``."""
    median_unbiased: float | None
    """Of games: the estimate that stops do not bias; ``None`` of searches, and before the first look."""
    low: float
    """Bounds of the interval that holds for all cells of the part and all looks together, with probability 95 %."""
    high: float
    threshold: float
    """What a share is compared with, in ``unit``; 0 for nothing."""
    margin: float
    """In Elo, percent of nodes or of cases, or percentage points."""
    verdict: str
    """``confirmed``, ``refuted``, ``negligible``, ``open`` or ``shown``."""
    p_value: float | None
    """Of the verdict, two-sided; ``None`` where there is none."""
    cases: int
    """Pairs of games, positions, or the denominator of a share."""
    hits: int
    """The numerator of a share, or cases found."""
    games: int
    looks: int
    looks_planned: int
    ended: str
    """Why there is no more: ``decided``, ``complete``, ``futility``; empty while it goes on."""
    games_needed: int | None
    """Further games that would decide it if the estimate is right; ``None`` where that is not open."""
    positions_needed: int | None
    """Further positions that would, of searches."""
    LL: int = 0
    """Pairs by outcome from the variant's view, of a part of kind ``elo``: both lost, ..., both won."""
    LD: int = 0
    even: int = 0
    WD: int = 0
    WW: int = 0
    error_rate: float = 0.0
    """Two-sided, of the interval; the cells of the part have 5 % together."""
    variant: str = ""
    """Its settings over the preset, as JSON; of an interaction the two that are combined, with both values of each."""
    reference: str = ""
    """The reference's, empty where nothing is compared; of an interaction what all combinations have."""
    engine_identity: str = ""
    """Of the engine that played or searched it, or of several; empty before the first game or search."""

    @property
    def key(self) -> CellKey:
        """Which cell it is of."""
        return self.part, self.engine, self.limit_name

    @property
    def shown_verdict(self) -> str:
        """The verdict, or ``unfinished`` where it is open and there is something left to be played or searched."""
        return UNFINISHED if self.verdict == OPEN and not self.ended else self.verdict


OF_SPECIFICATION = ("error_rate", "variant", "reference")
"""Columns of a cell that follow from the specification, and are read from there."""


def cell_row(line: Mapping[str, str]) -> CellRow:
    """A line of cells.csv: numbers by the types of the fields, an empty one is none."""
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
    """A cell with its row, and what the part's verdict takes from it."""

    cell: Cell
    row: CellRow
    outcome: CellOutcome
    positions: Sequence[SuitePosition] = field(default=(), compare=False, repr=False)
    """Those that the run itself has searched for it."""
    searches: Mapping[str, Sequence[Searched]] = field(default_factory=dict, compare=False, repr=False)
    """Of each position, by the side that searched."""


@dataclass(frozen=True)
class PartResult:
    """The verdict on a part."""

    claim: Claim
    part: Part
    verdict: str
    cells: tuple[CellResult, ...]
    p_value: float | None
    """The largest of its cells where they agree; ``None`` where the verdict is open or there is none."""
    stays_in_family: bool | None
    """Whether the verdict would stay by Holm's procedure over all parts; ``None`` where there is none."""
    is_finished: bool
    """Whether nothing is left to be played or searched."""

    @property
    def shown_verdict(self) -> str:
        """The verdict, or ``unfinished`` where it is open and cells have something left."""
        return UNFINISHED if self.verdict == OPEN and not self.is_finished else self.verdict

    @property
    def rows(self) -> tuple[CellRow, ...]:
        """Of its cells."""
        return tuple(one.row for one in self.cells)

    @property
    def games(self) -> int:
        """Games analysed for it."""
        return sum(row.games for row in self.rows)

    @property
    def games_needed(self) -> int | None:
        """Games that its open cells would still need; ``None`` if none is open or games would not decide it."""
        needed = [row.games_needed for row in self.rows if row.games_needed]
        return sum(needed) if self.verdict == OPEN and needed else None

    @property
    def positions_needed(self) -> int | None:
        """Further positions that its open cells would need; ``None`` if none is open or they would not decide it."""
        needed = [row.positions_needed for row in self.rows if row.positions_needed]
        return max(needed) if self.verdict == OPEN and needed else None


@dataclass(frozen=True)
class ClaimsResult:
    """How a run through the claims ended."""

    spec: ClaimsSpec
    directory: Path
    interrupted: bool
    """Whether it was stopped before its end; not by the end of a sitting that was limited beforehand."""
    results: tuple[PartResult, ...] = ()
    """Of all parts, in the order of the file."""
    registration: Registration = field(default_factory=lambda: Registration({}, ()))
    digest: str = ""
    """Of all games that the folder holds; empty if it holds none."""
    engine: str = ""
    """Identity of the engine, or of several: ``arena.run.engines_of``."""
    merged: int = 0
    """Cells that were taken over from other folders."""
    faults: tuple[FaultCount, ...] = ()
    """What players forfeited games by, of those that the folder holds."""
    caveats: Caveats = NO_CAVEATS

    @property
    def exit_code(self) -> int:
        """0, 1 if players forfeited games by faults, or 130 after an interruption."""
        return 130 if self.interrupted else int(any(fault.lost for fault in self.faults))

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts that an unfinished run has not come to an end with."""
        return tuple(result.part.id for result in self.results if not result.is_finished)

    @property
    def is_indicative(self) -> bool:
        """Whether the budget is too small for verdicts to be relied on."""
        return self.spec.budget.name == "quick"

    @property
    def is_fixed_beforehand(self) -> bool:
        """Whether no rule was changed, and no part left out, after games or searches of it were known."""
        others = set(self.spec.asked) - {part.id for part in self.spec.parts}
        return not self.registration.amended_after_results - others

    def frame(self) -> DataFrame:
        """One row a part.

        Columns: ``claim``, ``part``, ``text``, ``source``, ``basis``, ``kind``, ``expect``, ``margin``, ``verdict``,
        ``p_value``, ``family`` (``stays``, ``does not`` or empty), ``games``, ``games_needed``, ``positions_needed``,
        ``digest``, ``registered``, ``amendments``.
        """
        import pandas

        amended = [one.part for one in self.registration.amendments]
        rows = [
            {
                "claim": result.claim.id, "part": result.part.id, "text": result.part.text,
                "source": result.claim.source, "basis": result.claim.basis, "kind": result.part.kind,
                "expect": result.part.expect or "", "margin": result.part.margin, "verdict": result.verdict,
                "p_value": result.p_value,
                "family": {None: "", True: "stays", False: "does not"}[result.stays_in_family],
                "games": result.games, "games_needed": result.games_needed,
                "positions_needed": result.positions_needed, "digest": result.part.digest,
                "registered": self.registration.dates.get(result.part.id, ""),
                "amendments": amended.count(result.part.id),
            }
            for result in self.results
        ]  # fmt: skip
        frame = pandas.DataFrame(rows, columns=PART_COLUMNS)
        return frame.astype({"games_needed": "Int64", "positions_needed": "Int64"})

    def cells_frame(self) -> DataFrame:
        """One row a cell; its columns are the fields of ``CellRow``."""
        import pandas

        columns = [one.name for one in fields(CellRow)]
        frame = pandas.DataFrame([asdict(row) for result in self.results for row in result.rows], columns=columns)
        return frame.astype({"games_needed": "Int64", "positions_needed": "Int64"})

    def searches_frame(self) -> DataFrame:
        """One row a search that the run itself has made, position by position; its columns are ``SEARCH_COLUMNS``."""
        import pandas

        rows = [
            (result.part.suite, position.game, position.opening.position, *one.row.key, side, searched.score,
             searched.nodes, searched.processor_ns, searched.hits, searched.cases)
            for result in self.results for one in result.cells for side, searches in one.searches.items()
            for position, searched in zip(one.positions, searches, strict=True)
        ]  # fmt: skip
        frame = pandas.DataFrame(rows, columns=SEARCH_COLUMNS)
        return frame.sort_values(["suite", "game", "position"], kind="stable")


AMENDMENT_COLUMNS = ("part", "date", "why", "old_digest", "new_digest", "changes", "games", "positions")
SEARCH_COLUMNS = (
    "suite", "game", "position", "part", "engine", "limit_name", "side", "score", "nodes", "processor_ns", "hits",
    "cases",
)  # fmt: skip
PART_COLUMNS = (
    "claim", "part", "text", "source", "basis", "kind", "expect", "margin", "verdict", "p_value", "family", "games",
    "games_needed", "positions_needed", "digest", "registered", "amendments",
)  # fmt: skip
