"""The literature's claims as data.

A claim has parts. A part asks for one quantity, and is measured in two engines at several limits. A table of claims
(configs/claims/*.toml) gives the measure of each part, its expected direction, and the margin below which an effect is
negligible; ``tuning.claims.part_verdicts`` has the resulting rule. The engine ``then`` has the features of the text
that makes the claim; ``now`` is elolab's best engine. One engine at one limit is a *cell*, with its own settings, pairs
and looks (interim analyses).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from pathlib import Path, PurePath
from typing import Any

from elolab.arena.records import digest_of
from elolab.engine.errors import argument
from elolab.engine.games import game_named
from elolab.engine.language import DEFAULT_LANGUAGE, LANGUAGES
from elolab.engine.settings.configuration import ConfigurationError, nearest, read_toml
from elolab.engine.settings.limits import LimitError, Limits
from elolab.engine.settings.parameters import Value, by_canonical_name, resolve
from elolab.engine.settings.presets import load_preset
from elolab.engine.settings.schema import Table
from elolab.tuning.ablation.ablation_spec import Comparison, Factorial, ablation_from_mapping
from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE, analyses_of
from elolab.tuning.ablation.settings import settings_of
from elolab.tuning.claims.measures import CONVERGED_MISSES, MOVE_CHANGES
from elolab.tuning.conditions import CONDITIONS, Conditions, read_conditions
from elolab.tuning.keys.ablation import MAX_MARGIN
from elolab.tuning.keys.claims import (
    CLAIM,
    CLAIMS,
    ENGINES,
    EXPECTED,
    LIMIT_BY_ENGINE,
    LIMITS,
    MARGINS,
    NOW,
    NOW_PRESET,
    PART,
    REFUTED_BY,
    SEARCH_LIMITS,
    THEN,
    TIME_LIMIT,
)

STRENGTH = ("elo", "interaction")
"""Kinds of measure that need games; all other kinds search fixed positions."""
COMPARED = ("elo", "nodes", "share_difference", "differing")
"""Kinds of measure that compare a variant with a reference."""
OF_FACTORS = ("interaction", "nodes_interaction")
"""Kinds of measure for the interaction of two settings with two values each."""
COSTS = ("nodes", "nodes_interaction")
"""Kinds of measure whose effects are log ratios of nodes or time, with margins in percent."""
OF_COUNTS = ("share", "share_difference", "occurs")
"""Kinds of measure whose result is a ratio of two counts of events."""
OF_THRESHOLD = ("share", "differing")
"""Kinds of measure whose result is compared with the part's threshold."""
SEARCHED = tuple(kind for kind in EXPECTED if kind not in STRENGTH)
"""Kinds of measure that search fixed positions."""
KINDS_OF_KEYS = {
    "variant": ("elo", *(kind for kind in SEARCHED if kind not in OF_FACTORS)), "reference": COMPARED,
    "factors": OF_FACTORS, "ponder": ("elo",), "suite": SEARCHED, "threshold": OF_THRESHOLD, "of": OF_COUNTS,
    "further_plies": ("mates",), "reference_limits": ("elo",), "looks": STRENGTH, "where": ("nodes",),
}  # fmt: skip
"""For each key, the kinds of measure that allow it."""
DIRECTIONS = ("better", "worse", "less", "more", "below", "above")
"""Expected results that have a direction. The others expect equivalence, non-inferiority or a number of cases."""
MATE_STOP = "stop_on_mate"
"""The parameter that ends a search at a mate; it is off where costs are measured. Not every game has the parameter."""
CLAIM_PATTERN = r"C\d+"


@dataclass(frozen=True)
class ClaimsBudget:
    """A budget: how many games and positions a run may use, and under which search limits."""

    name: str
    """Name of the budget: ``quick`` or ``full``."""
    pairs: int
    """Maximum number of game pairs in a cell (one engine at one limit) if the weight of the cell is 1."""
    rounds: int
    """Number of interim analyses for one engine at one limit, at equal distances in pairs."""
    positions: int
    positions_per_game: int
    limits: Mapping[str, Mapping[str, str]]
    """Search limits as text: by the limit's name, then by engine."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights by the limit's name; a weight multiplies the maximum number of pairs. The default is 1."""


@dataclass(frozen=True)
class Cell:
    """The measurement of one part of a claim, in one engine at one search limit."""

    engine: str
    """``then``, the engine that the claim's source describes, or ``now``, elolab's best engine."""
    limit: str
    """The limit's name in the budget, or its text if it has no name."""
    limits: Limits
    conditions: Conditions
    """Conditions of the games, with the engine's preset as base settings."""
    variant: tuple[tuple[str, Value], ...] = ()
    """All parameters of the variant; empty for an interaction."""
    reference: tuple[tuple[str, Value], ...] = ()
    reference_limits: Limits | None = None
    """Search limits of the reference; ``None`` if the variant has equal limits."""
    combinations: tuple[tuple[tuple[str, Value], ...], ...] = ()
    """For ``nodes_interaction``: four sets of values of all parameters.

    The two factors are at low-low, low-high, high-low and high-high, in this order.
    """
    comparisons: tuple[Comparison, ...] = ()
    """The comparisons to play: one, or the four of an interaction."""
    factorial: Factorial | None = None
    analyses: tuple[int, ...] = ()
    """Number of pairs per comparison at each interim analysis, ascending; a single entry means one analysis at the end.
    """
    is_time: bool = False
    """In games, whether both sides have equal processor time; in searches, whether time is measured instead of nodes.
    """

    @property
    def name(self) -> str:
        """Engine and limit as text, such as ``then play``."""
        return f"{self.engine} {self.limit}"


@dataclass(frozen=True)
class ClaimPart:
    """One part of a claim: the quantity to measure, the rule for its verdict, and its cells.

    A cell measures the quantity in one engine at one search limit.
    """

    id: str
    texts: Mapping[str, str]
    """The part's text, by language."""
    kind: str
    """Kind of measure, a key of ``tuning.keys.claims.EXPECTED``."""
    expect: str | None
    """The expected result; ``None`` if the part only shows a value."""
    margin: float
    """Margin below which an effect is negligible; ``tuning.keys.claims.MARGINS`` gives its unit."""
    refuted_by: str
    threshold: float
    """Value with which a share is compared, in percent; for the shares ``growth`` and ``passes`` a plain ratio."""
    of: str
    """Name of the measured share, from ``tuning.claims.measures.SHARE_NAMES``."""
    bound: int
    """A bound that some shares need: own material in centipawns, or depth in plies."""
    suite: str
    """Source of the part's positions, one of ``tuning.keys.claims.SUITES``."""
    where: str
    """Name in ``tuning.claims.measures.CONDITIONS`` of the condition that selects positions; empty selects all."""
    further_plies: int
    """For kind ``mates``: number of plies by which the deepest search is deeper than the first one.

    The deepest search has the depth of the cell's limit. A mate that one search finds must be confirmed by every deeper
    search.
    """
    positions: int
    """Number of positions to search; 0 for parts measured in games."""
    cells: tuple[Cell, ...]
    not_asked: Mapping[str, Mapping[str, str]]
    """Why the part is not measured in an engine: a text by engine and language."""
    content: Mapping[str, Any] = field(repr=False)
    """Everything that determines games, searches and verdict, as plain data; ``digest`` is computed from it."""

    @property
    def text(self) -> str:
        """The part's text in English."""
        return self.texts[DEFAULT_LANGUAGE]

    @property
    def is_played(self) -> bool:
        """Whether the part is measured in games instead of searches."""
        return self.kind in STRENGTH

    @property
    def has_fixed_length(self) -> bool:
        """Whether the part's games are analysed only once, after the last one."""
        return self.is_played and all(len(cell.analyses) == 1 for cell in self.cells)

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the two settings of an interaction, as the file gives them; empty for other kinds of measure."""
        return tuple(next(iter(self.content["cells"].values())).get("factors", ()))

    def settings_of(self, cell: Cell) -> dict[str, str]:
        """The settings of both sides of a cell as JSON: the values of ``CellRow.variant`` and ``CellRow.reference``."""
        said = self.content["cells"][cell.name]
        if self.kind in OF_FACTORS:
            sides = {"variant": said["factors"], "reference": said["set"]}
        else:
            sides = {side: said[side] for side in ("variant", "reference")}
        words = {side: json.dumps(own, ensure_ascii=False) for side, own in sides.items()}
        return words if self.kind in (*COMPARED, *OF_FACTORS) else {**words, "reference": ""}

    @property
    def joint_error_rate(self) -> float:
        """Two-sided error rate of each cell's interval when the engines are compared.

        It is ``ERROR_RATE`` divided by the number of cells, so that the intervals of all cells hold together. Verdicts
        use ``ERROR_RATE`` itself.
        """
        return ERROR_RATE / len(self.cells)

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines in which the part is measured."""
        return tuple(engine for engine in ENGINES if any(cell.engine == engine for cell in self.cells))

    @property
    def digest(self) -> str:
        """Digest of ``content``: rule, measure, budget, interim analyses and margin."""
        return digest_of(self.content)


@dataclass(frozen=True)
class Claim:
    """One claim of the literature, with its parts."""

    id: str
    texts: Mapping[str, str]
    """The claim's text, by language."""
    source: str
    """Abbreviation of the source, as in ``engine.settings.parameters``."""
    basis: str
    """Origin of the claim: ``c`` if the source claims it, ``i`` if its design implies it, ``o`` for our question."""
    parts: tuple[ClaimPart, ...]


@dataclass(frozen=True)
class ClaimsSpec:
    """Specification of a claims run: the claims about one game, and the budget."""

    name: str
    game: str
    conditions: Conditions
    """Game, openings, rules and seed common to all games."""
    budget: ClaimsBudget
    claims: tuple[Claim, ...]
    source: str
    """The file from which the specification was read."""
    only: tuple[str, ...] = ()
    """Ids of the selected claims and parts; empty if all are selected."""
    family: int = 0
    """Size of the family of Holm's correction: the number of verdicts in the whole file under this budget.

    A part with an expectation has one verdict for each of its engines.
    """
    asked: Mapping[str, str] = field(default_factory=dict)
    """Digest of every part of the whole file under this budget, by the part's id; includes parts that are not selected.
    """
    text: str = field(default="", compare=False, repr=False)
    """The specification's plain data, as JSON."""

    @property
    def parts(self) -> tuple[ClaimPart, ...]:
        """All parts, in the order of the file."""
        return tuple(part for claim in self.claims for part in claim.parts)

    @property
    def digest(self) -> str:
        """Digest over all parts."""
        return digest_of({part.id: part.digest for part in self.parts})


def load_claims(path: Path, budget: str, only: Sequence[str] = ()) -> ClaimsSpec:
    """Read a table of claims for the budget with the name ``budget``. Raises ``UserError`` for a mistake.

    ``only`` selects claims or parts by id; if ``only`` is empty, all are selected.
    """
    return claims_from_mapping(read_toml(path), str(path), budget, only)


def claims_from_mapping(data: Mapping[str, Any], where: str, budget: str, only: Sequence[str] = ()) -> ClaimsSpec:
    """Check a table of claims given as plain data; ``where`` is the file's path. Raises ``UserError`` for a mistake.

    ``budget`` and ``only`` are as in ``load_claims``.
    """
    table = Table(data, where, CLAIMS, kind="claims")
    game = table["game"]
    spent = _budget(table.table("budgets"), budget)
    shared = {
        "game": game,
        "seed": table["seed"],
        "openings": table.get("openings", game),
        "adjudication": dict(table.table("adjudication").data),
        "limit": "nodes=1",  # each cell has its own limit
    }
    reader = _ClaimsReader(where, game, shared, spent)
    claims = [
        reader.claim(Table(entry, f"{where}: [[claims]] {number}", CLAIM))
        for number, entry in enumerate(table["claims"], start=1)
    ]
    _refuse_equal_names([claim.id for claim in claims], f"{where}: two claims")
    _refuse_equal_names([part.id for claim in claims for part in claim.parts], f"{where}: two parts")
    return ClaimsSpec(
        name=table.get("name", f"claims-{PurePath(where).stem}-{budget}"),
        game=game,
        conditions=read_conditions(Table(shared, where, CONDITIONS), "claims"),
        budget=spent,
        claims=_picked(claims, only, where, budget),
        source=where,
        only=tuple(only),
        family=sum(len(part.engines) for claim in claims for part in claim.parts if part.expect is not None),
        asked={part.id: part.digest for claim in claims for part in claim.parts},
        text=json.dumps(data, default=str),
    )


def _refuse_equal_names(names: Sequence[str], two: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigurationError(f"{two} are called {twice!r}", "give each an id of its own")


def _picked(claims: Sequence[Claim], only: Sequence[str], where: str, budget: str) -> tuple[Claim, ...]:
    """The claims with only the selected parts; ``only`` holds ids of parts or of whole claims."""
    names = [name for claim in claims for name in (claim.id, *(part.id for part in claim.parts))]
    for name in only:
        if name not in names:
            known = ", ".join(claim.id for claim in claims)
            raise ConfigurationError(f"{where}: there is no claim {name!r}{nearest(name, names)}", f"it has {known}")
        if not any(part.id == name or claim.id == name for claim in claims for part in claim.parts):
            raise ConfigurationError(
                f"{where}: the budget {budget} has no part of {name}", f"give another with {argument('budget')}"
            )
    found = []
    for claim in claims:
        parts = tuple(part for part in claim.parts if not only or {claim.id, part.id} & set(only))
        if parts:
            found.append(Claim(claim.id, claim.texts, claim.source, claim.basis, parts))
    return tuple(found)


def _budget(table: Table, name: str) -> ClaimsBudget:
    own = table.table(name)
    limits = {key: _limit_by_engine(given, f"{own.where}: limits: {key}") for key, given in own["limits"].items()}
    given = own["weights"]
    weights = own.table("weights")
    for key in given:
        if key not in limits:
            raise ConfigurationError(
                f"{weights.where}: there is no limit {key!r}{nearest(key, limits)}", f"expected {', '.join(limits)}"
            )
    return ClaimsBudget(
        name, own["pairs"], own["rounds"], own["positions"], own["positions_per_game"], limits,
        {key: weights[key] for key in given},
    )  # fmt: skip


def _limit_by_engine(given: object, where: str) -> dict[str, str]:
    """The search limit of each engine, as text.

    ``given`` is one text for both engines, or a table with one text per engine.
    """
    if isinstance(given, Mapping):
        table = Table(given, where, LIMIT_BY_ENGINE)
        texts = {engine: table[engine] for engine in ENGINES}
    else:
        texts = dict.fromkeys(ENGINES, str(given))
    for text in texts.values():
        _parsed(text, where)
    return texts


def _parsed(text: str, where: str) -> Limits:
    try:
        return Limits.parse(text)
    except LimitError as error:
        raise ConfigurationError.at(where, error) from None


def _translations(table: Table, key: str) -> dict[str, str]:
    """The text of a key in every language, by the language's code."""
    return {language: table[_key_in(key, language)] for language in LANGUAGES}


def _key_in(key: str, language: str) -> str:
    return key if language == DEFAULT_LANGUAGE else f"{key}_{language}"


@dataclass(frozen=True)
class _ClaimsReader:
    """A reader of a table's claims, parts and cells."""

    where: str
    game: str
    shared: Mapping[str, Any]
    """Conditions of the games that all cells share."""
    budget: ClaimsBudget
    read: dict[str, Conditions] = field(default_factory=dict)
    """Conditions already read, by preset."""
    presets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The presets' own settings, by preset."""

    def claim(self, table: Table) -> Claim:
        name = table["id"]
        if not re.fullmatch(CLAIM_PATTERN, name):
            raise table.error("id", "an id such as C1")
        preset = table.get("then")
        parts = []
        for number, entry in enumerate(table["parts"], start=1):
            given = Table(entry, f"{self.where}: {name}: part {number}", PART)
            if given.get("only", self.budget.name) == self.budget.name:
                parts.append(self.part(given, name, preset))
        return Claim(name, _translations(table, "claim"), table["source"], table["basis"], tuple(parts))

    def part(self, table: Table, claim: str, preset: str | None) -> ClaimPart:
        name = table["id"]
        if not re.fullmatch(claim + "[a-z]", name):
            raise table.error("id", f"{claim} and a letter, such as {claim}a")
        table.where = f"{self.where}: {name}"
        kind = table["kind"]
        expect: str | None = table.get("expect", choices=EXPECTED[kind])
        margin = table.get("margin", MARGINS[kind])
        self._refuse_wrong(table, kind, expect, margin)
        not_asked = _not_asked(table)
        preset = table.get("then", preset)
        if preset is None and THEN not in not_asked:
            raise ConfigurationError(
                f"{table.where}: then is missing, expected the preset of the text's own engine (of the claim or of "
                "the part), or not_then and not_then_zh with the reason why there is none"
            )
        presets = {THEN: preset, NOW: NOW_PRESET}
        cells = tuple(
            cell for engine in ENGINES if engine not in not_asked
            for cell in self._cells(table, kind, engine, str(presets[engine]), margin)
        )  # fmt: skip
        content = {
            "game": self.game,
            **{key: self.shared[key] for key in ("seed", "openings")},
            "adjudication": cells[0].conditions.adjudication.content(),
            "kind": kind,
            "expect": expect,
            "margin": margin,
            "refuted_by": table["refuted_by"],
            "threshold": table["threshold"],
            "of": table["of"] if kind in OF_COUNTS else "",
            "bound": table["bound"],
            "error_rate": ERROR_RATE / len(cells),  # where the engines are compared
            "ponder": table["ponder"],
            "cells": {cell.name: self._content(table, cell, str(presets[cell.engine])) for cell in cells},
        }
        content |= {key: table[key] for key in ("where", "further_plies") if key in table}
        positions = 0 if kind in STRENGTH else max(2, round(self.budget.positions * table["weight"]))
        if positions:
            content |= {
                "suite": table["suite"],
                "positions": positions,
                "positions_per_game": self.budget.positions_per_game,
            }
        return ClaimPart(
            name, _translations(table, "claim"), kind, expect, margin, content["refuted_by"], content["threshold"],
            content["of"], content["bound"], table["suite"], table.get("where", ""), table["further_plies"], positions,
            cells, not_asked, content,
        )  # fmt: skip

    def _refuse_wrong(self, table: Table, kind: str, expect: str | None, margin: float) -> None:
        """Raise ``ConfigurationError`` if keys contradict each other or have no meaning for the kind of measure."""
        for key, kinds in KINDS_OF_KEYS.items():
            if key in table and kind not in kinds:
                raise table.error(key, f"none with kind = {kind!r}, which does not use the key")
        if "refuted_by" in table and expect not in DIRECTIONS:
            raise table.error("refuted_by", "none, because the part expects no direction")
        if table["refuted_by"] == REFUTED_BY[-1] and not margin:
            raise table.error("margin", "more than 0 where refuted_by = 'negligible'")
        if expect in ("equivalent", "equal") and not margin:
            raise table.error("margin", f"more than 0 where expect = {expect!r}")
        if table["suite"] == "passes" and not game_named(self.game).has_passes:
            raise table.error("suite", f"another one, because {self.game} has no passes")
        if table["costs_time"] and kind not in (*STRENGTH, "nodes"):
            raise table.error("costs_time", f"false, because kind = {kind!r} compares no speed")

    def _cells(self, table: Table, kind: str, engine: str, preset: str, margin: float) -> list[Cell]:
        """A part's cells in one engine: one cell per limit, and one at equal processor time if the part requests it."""
        names = _texts(table, "limits") if "limits" in table else list(LIMITS.get(kind, SEARCH_LIMITS))
        others: list[str | None] = list(_texts(table, "reference_limits")) if "reference_limits" in table else []
        if others and len(others) != len(names):
            raise table.error("reference_limits", f"one for each of the {len(names)} limits")
        others = others or [None] * len(names)
        cells = [self._cell(table, kind, engine, preset, margin, *pair) for pair in zip(names, others, strict=True)]
        if table["costs_time"]:
            name = TIME_LIMIT if kind in STRENGTH else names[-1]
            cells.append(self._cell(table, kind, engine, preset, margin, name, None, is_time=True))
        names = [cell.limit for cell in cells]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise table.error("limits", f"each limit once; costs_time = true already adds {twice!r}")
        for one, other in combinations(cells, 2):
            if all(getattr(one, name) == getattr(other, name) for name in ("limits", "reference_limits", "is_time")):
                raise ConfigurationError(
                    f"{table.where} ({engine}): limits {one.limit} and {other.limit} are both {one.limits}",
                    f"name different limits of the budget {self.budget.name}",
                )
        return cells

    def _cell(
        self, table: Table, kind: str, engine: str, preset: str, margin: float, name: str, other: str | None,
        *, is_time: bool = False,
    ) -> Cell:  # fmt: skip
        limit = self._limit_text(table, name, engine)
        where = f"{table.where} ({engine})"
        conditions = replace(self._conditions(preset, where), limits=_parsed(limit, where))
        if kind in STRENGTH:
            against = None if other is None else self._limit_text(table, other, engine)
            cell = Cell(engine, name, conditions.limits, conditions, is_time=is_time)
            given = {**self.shared, "base": preset, "limit": limit, "margin": min(margin, MAX_MARGIN)}
            return self._played(table, kind, given, cell, against)
        limits = conditions.limits
        if kind == "exact" and limits.depth is None and not limits.nanoseconds_per_node:
            raise ConfigurationError(
                f"{where}: limit {name} = {limit!r}, expected a depth, or a clock that counts nodes such as "
                f"clock=1+0.02,node_clock=5000, because kind = {kind!r}"
            )
        if limits.depth is None and kind in (*COSTS, "differing", "mates"):
            raise ConfigurationError(f"{where}: limit {name} = {limit!r}, expected a depth, because kind = {kind!r}")
        further_plies = table["further_plies"]
        if kind == "mates" and limits.depth is not None and limits.depth <= further_plies:
            raise ConfigurationError(
                f"{where}: limit {name} = {limit!r}, expected a depth of more than {further_plies} plies, because "
                f"mates are searched {further_plies} plies before this depth"
            )
        if (
            kind in OF_COUNTS
            and table["of"] == MOVE_CHANGES
            and (limits.clock_ms is None or not limits.nanoseconds_per_node)
        ):
            raise ConfigurationError(
                f"{where}: limit {name} = {limit!r}, expected a clock that counts nodes, such as "
                f"clock=1+0.02,node_clock=5000, because of = {MOVE_CHANGES!r}"
            )
        if kind == "nodes_interaction":
            combined = self._combined(table, engine, conditions, limits, where)
            return Cell(engine, name, limits, conditions, combinations=combined)
        is_of_cost = limits.depth is not None and kind in ("nodes", "differing", "mates", *OF_COUNTS)
        sides = [
            self._resolved(table, side, conditions, _settings(table, side, engine), is_of_cost=is_of_cost)
            for side in ("variant", "reference")
        ]
        asked = sides if table.get("where", "") == CONVERGED_MISSES else sides[1:]
        if "where" in table and any(dict(side)["aspiration"] == "off" for side in asked):
            raise table.error("where", "none, because a search without aspiration windows misses none")
        if kind in COMPARED:
            if sides[0] == sides[1]:
                raise ConfigurationError(f"{where}: compares a set of parameters with itself", "change one of the two")
            settings_of(conditions).refuse_without_effect(where, dict(sides[0]), dict(sides[1]), limits)
        shown = f"{name} time" if is_time else name
        return Cell(engine, shown, limits, conditions, sides[0], sides[1], is_time=is_time)

    def _conditions(self, preset: str, where: str) -> Conditions:
        """Conditions with ``preset`` as the base; each preset is read once."""
        if preset not in self.read:
            self.read[preset] = read_conditions(Table({**self.shared, "base": preset}, where, CONDITIONS), "claims")
        return self.read[preset]

    def _limit_text(self, table: Table, name: str, engine: str) -> str:
        """Text of the budget's limit called ``name``; ``name`` itself if it is already the text of a limit."""
        limits = self.budget.limits
        if name in limits:
            return limits[name][engine]
        if "=" not in name:
            raise ConfigurationError(
                f"{table.where}: the budget {self.budget.name} has no limit {name!r}{nearest(name, limits)}",
                f"it has {', '.join(limits) or 'none'}",
            )
        _parsed(name, table.where)
        return name

    def _resolved(
        self, table: Table, side: str, conditions: Conditions, own: Mapping[str, Value], *, is_of_cost: bool
    ) -> tuple[tuple[str, Value], ...]:
        """All parameters of one side: the preset's values, overridden by the side's ``own`` values.

        Where costs are measured, ``MATE_STOP`` is off, so that searches continue after they find a mate.
        """
        if is_of_cost and MATE_STOP in conditions.base_values:
            own = {MATE_STOP: False, **own}
        return tuple(resolve({**conditions.base_values, **own}, f"{table.where}: {side}", self.game).items())

    def _combined(
        self, table: Table, engine: str, conditions: Conditions, limits: Limits, where: str
    ) -> tuple[tuple[tuple[str, Value], ...], ...]:
        """All parameters of each combination of two factors: low-low, low-high, high-low and high-high.

        Raises ``UserError`` if a factor has no effect.
        """
        settings = settings_of(conditions)
        factors = settings.levels(_two_factors(table), f"{where}: factors")
        found = [
            self._resolved(
                table, "factors", conditions,
                {**_common(table, engine), **dict(zip(factors, levels, strict=True))}, is_of_cost=True,
            )
            for levels in product(*factors.values())
        ]  # fmt: skip
        for one, other in ((3, 1), (3, 2)):
            if found[one] == found[other]:
                raise table.error("factors", "two different values of each")
            settings.refuse_without_effect(where, dict(found[one]), dict(found[other]), limits)
        return tuple(found)

    def _played(self, table: Table, kind: str, given: Mapping[str, Any], cell: Cell, against: str | None) -> Cell:
        """Return a cell measured in games with its comparisons, which the reader of ablations reads and checks.

        ``given`` holds further keys for that reader; ``against`` is the reference's limit, ``None`` if both sides have
        one limit.
        """
        weight = table["weight"] * self.budget.weights.get(cell.limit, 1.0)
        pairs = max(4, round(self.budget.pairs * weight))
        looks = table.get("looks", self.budget.rounds)
        own: dict[str, Any] = {"label": table["id"]}
        if kind == "elo":
            own |= {side: _settings(table, side, cell.engine) for side in ("variant", "reference")}
            own |= {} if against is None else {"reference_limit": against}
            own |= {"ponder": True} if table["ponder"] else {}
        else:
            own |= {"factors": _two_factors(table), "set": _common(table, cell.engine)}
        spec = ablation_from_mapping(
            {**given, "comparisons" if kind == "elo" else "factorial": [own], "name": table["id"], "pairs": pairs,
             "rounds": looks, "nodes_to_depth": {"depth": 0}},
            f"{table.where} ({cell.engine})",
        )  # fmt: skip
        first = spec.comparisons[0]
        return replace(
            cell, reference_limits=first.reference_limits, comparisons=spec.comparisons,
            factorial=spec.factorials[0] if spec.factorials else None,
            analyses=analyses_of(pairs, looks),
        )  # fmt: skip

    def _content(self, table: Table, cell: Cell, preset: str) -> dict[str, Any]:
        """Plain data that determines a cell's results, for digests.

        The data have only the settings given in the file; the engine's identity covers all other settings.
        """
        if table["kind"] in OF_FACTORS:
            settings: dict[str, Any] = {"set": _common(table, cell.engine), "factors": table["factors"]}
        else:
            settings = {side: _settings(table, side, cell.engine) for side in ("variant", "reference")}
        if preset not in self.presets:
            self.presets[preset] = load_preset(preset, self.game, Path(self.where).parent)
        data = {
            "preset": preset,
            "preset_settings": self.presets[preset],
            **settings,
            "limit": str(cell.limits),
            "looks": list(cell.analyses),
            "processor_time": cell.is_time,
        }
        if cell.reference_limits is not None:
            data["reference_limit"] = str(cell.reference_limits)
        return data


def _not_asked(table: Table) -> dict[str, dict[str, str]]:
    """The reasons why a part is not measured in an engine, by engine and language."""
    found = {}
    for engine in ENGINES:
        key = f"not_{engine}"
        if any(_key_in(key, language) in table for language in LANGUAGES):
            found[engine] = _translations(table, key)
    if len(found) == len(ENGINES):
        raise ConfigurationError(
            f"{table.where}: not_then and not_now leave no engine to measure", "remove one of them"
        )
    return found


def _texts(table: Table, key: str) -> list[str]:
    """The value of a key that is a list of texts: at least one, and each only once."""
    given: list[str] = table[key]
    if "" in given:
        raise table.error(key, table.schema[key].right_value)
    if len(set(given)) < len(given):
        raise table.error(key, "each limit once")
    return given


def _two_factors(table: Table) -> dict[str, Any]:
    """The two factors of an interaction, each with its two levels, as given in the file."""
    given = table["factors"]
    if len(given) != 2:
        raise table.error("factors", "a table of two parameters with two values each")
    return given


def _common(table: Table, engine: str) -> dict[str, Any]:
    """The settings that both sides share, for one engine."""
    return _overlaid(table, "set", engine)


def _settings(table: Table, side: str, engine: str) -> dict[str, Any]:
    """The settings of one side for one engine, including settings that both sides share."""
    return {**_common(table, engine), **_overlaid(table, side, engine)}


def _overlaid(table: Table, key: str, engine: str) -> dict[str, Any]:
    keys = (key, f"{key}_{engine}")
    first, second = (by_canonical_name(table[one], f"{table.where}: {one}") for one in keys)
    return {**first, **second}
