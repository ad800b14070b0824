"""The specification of an ablation: variants and references, declared in compact forms in a TOML file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path, PurePath
from typing import Any

from elolab.arena.player_spec import read_limits
from elolab.arena.players.registry import check_player
from elolab.arena.records import digest_of
from elolab.arena.tournament_reader import default_part
from elolab.engine.settings.configuration import ConfigurationError, read_toml
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.engine.settings.schema import Table
from elolab.tuning.ablation.comparison_verdicts import VerdictRule, analyses_of, min_pairs, pairs_to_decide
from elolab.tuning.ablation.factorial import GENERATORS, MAX_FACTORS, Design, Effect, design_of
from elolab.tuning.ablation.levels import CurvePoint, read_names, switched_on
from elolab.tuning.ablation.settings import DEFAULT_LEVEL, Settings, settings_of
from elolab.tuning.conditions import Conditions, describe, read_conditions, shortened, value_text
from elolab.tuning.external_engine import BUILD
from elolab.tuning.keys.ablation import (
    ABLATION,
    ADD_ONE_IN,
    BUILD_COMPARISON,
    COMPARISON,
    FACTORIAL,
    INTERACTIONS,
    LEAVE_ONE_OUT,
    NodesToDepth,
)

MAX_LABEL = 60


@dataclass(frozen=True)
class Comparison:
    """A match between two sets of an engine's settings: how much stronger is the variant than the reference?"""

    label: str
    group: str
    """The key of the specification that declares the comparison, such as ``leave_one_out`` or ``values``."""
    variant: tuple[tuple[str, Value], ...]
    """All parameters of the variant with their values; for an external engine, only the settings that are given."""
    reference: tuple[tuple[str, Value], ...]
    limits: Limits
    pairs: int
    """Maximum number of game pairs."""
    reference_limits: Limits | None = None
    """The reference's search limits; ``None`` if they equal the variant's."""
    ponders: bool = False
    """Whether the variant thinks on the opponent's time."""
    is_question: bool = True
    """Whether the comparison gets its own verdict; otherwise it only contributes to a factorial's effects."""
    curve_point: CurvePoint | None = None
    """The comparison's point on the curve of a parameter's values; ``None`` if the comparison belongs to no curve."""

    @property
    def differences(self) -> tuple[str, ...]:
        """Names of the settings in which the two sides differ."""
        variant, reference = dict(self.variant), dict(self.reference)
        return tuple(name for name in variant | reference if variant.get(name) != reference.get(name))

    def content(self) -> dict[str, Any]:
        """Everything that determines the games, as plain data for a digest."""
        data: dict[str, Any] = {
            "variant": dict(self.variant),
            "reference": dict(self.reference),
            "limit": str(self.limits),
            "pairs": self.pairs,
        }
        if self.reference_limits is not None:
            data["reference_limit"] = str(self.reference_limits)
        if self.ponders:
            data["ponder"] = True
        return data


@dataclass(frozen=True)
class Factorial:
    """Combinations of two-level factors, for the effect of each factor and of each pair of factors."""

    label: str
    group: str
    """The key of the specification that declares the factorial: ``factorial`` or ``interactions``."""
    factors: tuple[tuple[str, Value, Value], ...]
    """Parameter name, low value and high value of each factor."""
    comparisons: tuple[int, ...]
    """Indices, among the ablation's comparisons, of the factorial's matches, in the order of the design."""
    design: Design

    def effect_label(self, effect: Effect) -> str:
        """Name of an effect, such as ``null_move × history``, followed by the effects that are aliased with it."""
        terms = [
            ("\N{MINUS SIGN}" if sign < 0 else "") + " × ".join(self.factors[factor][0] for factor in term)
            for term, sign in ((effect.factors, 1), *effect.aliases)
        ]
        return " = ".join(terms)


@dataclass(frozen=True)
class AblationSpec:
    """Complete specification of an ablation."""

    conditions: Conditions
    comparisons: tuple[Comparison, ...]
    opening_part: str
    """The part of the suite to use: ``tournament``, ``validation`` or ``all``."""
    nodes_to_depth: NodesToDepth
    rule: VerdictRule = field(default_factory=VerdictRule)
    max_games: int | None = None
    """Maximum number of games of all comparisons together; ``None`` for no maximum."""
    factorials: tuple[Factorial, ...] = ()
    text: str = field(default="", compare=False, repr=False)
    """The specification's content in JSON."""

    @property
    def questions(self) -> int:
        """Number of questions that get a verdict: comparisons and effects of factorials."""
        effects = sum(len(self.asked_effects(one)) for one in self.factorials)
        return effects + sum(comparison.is_question for comparison in self.comparisons)

    def pairs_together(self, pairs: Sequence[int]) -> int:
        """Total number of pairs to play if ``pairs`` has the number of pairs of each comparison, in order.

        Comparisons between the same players may share pairs. A shared pair counts once.
        """
        most: dict[frozenset[Any], int] = {}
        for one, count in zip(self.comparisons, pairs, strict=True):
            variant = self.conditions.player(dict(one.variant), one.limits), one.ponders
            reference = self.conditions.player(dict(one.reference), one.reference_limits or one.limits), False
            players = frozenset((variant, reference))
            most[players] = max(count, most.get(players, 0))
        return sum(most.values())

    def asked_effects(self, factorial: Factorial) -> tuple[Effect, ...]:
        """The effects of a factorial that get a verdict: with two factors only the interaction, otherwise all."""
        effects = factorial.design.effects
        return effects if len(factorial.factors) > 2 else tuple(one for one in effects if len(one.factors) > 1)

    @property
    def name(self) -> str:
        """The default name of the folder for results."""
        return self.conditions.name

    def content(self) -> dict[str, Any]:
        """Everything that determines the games, as plain data for a digest."""
        return {
            **self.conditions.content(),
            "opening_part": self.opening_part,
            "rounds": self.rule.rounds,
            "margin": self.rule.margin_elo,
            "error_rate": self.rule.error_rate,
            "comparisons": {comparison.label: comparison.content() for comparison in self.comparisons},
        }


def load_ablation(path: Path) -> AblationSpec:
    """Read an ablation's TOML file. Raises ``UserError`` with one line for the first mistake."""
    return ablation_from_mapping(read_toml(path), str(path))


def ablation_from_mapping(data: Mapping[str, Any], where: str) -> AblationSpec:
    """Read an ablation from plain data, such as the JSON in ``AblationSpec.text``. Raises ``UserError`` for a mistake.

    ``where`` is the path of the ablation's file, for errors and as the default of ``name``.
    """
    table = Table(data, where, ABLATION, kind="ablations")
    conditions = read_conditions(table, PurePath(where).stem)
    if conditions.external is not None:
        conditions.external.refuse_unfilled(conditions.base_values, where, "[set]")
    rule = VerdictRule(table["margin"], table["error_rate"], table["rounds"])
    reader = _ComparisonReader(conditions, table["pairs"], settings_of(conditions))

    def entries(kind: str) -> Iterator[tuple[Any, str]]:
        for number, entry in enumerate(table.get(kind, []), start=1):
            yield entry, f"{where}: [[{kind}]] {number}"

    readers = {
        "leave_one_out": reader.leave_one_out, "add_one_in": reader.add_one_in, "values": reader.values,
        "comparisons": reader.comparison,
    }  # fmt: skip
    comparisons = [one for kind, read in readers.items() for entry in entries(kind) for one in read(*entry)]
    _refuse_repetitions(comparisons, where)
    factorials = [one for entry in entries("factorial") for one in reader.factorial(*entry, comparisons)]
    factorials += [one for entry in entries("interactions") for one in reader.interactions(*entry, comparisons)]
    if not comparisons and conditions.external is not None and conditions.external.has_builds:
        comparisons = list(reader.builds(conditions.external.build_names, table))
    if not comparisons:
        raise ConfigurationError(
            f"{where}: nothing to compare",
            "expected [[leave_one_out]], [[add_one_in]], [[values]], [[comparisons]], "
            "[[factorial]] or [[interactions]]",
        )
    part = default_part(conditions.game, str(data.get("openings", conditions.game)))
    spec = AblationSpec(
        conditions=conditions,
        comparisons=tuple(comparisons),
        opening_part=table.get("opening_part", part),
        nodes_to_depth=_nodes_to_depth(table, conditions),
        rule=rule,
        max_games=table.get("games"),
        factorials=tuple(_with_unique_labels(factorials)),
        text=json.dumps(data, default=str),
    )
    _refuse_without_verdict(spec, where)
    return spec


def _refuse_without_verdict(spec: AblationSpec, where: str) -> None:
    """Raise ``UserError`` if no verdict would be possible even if one side won every game."""
    questions, rule = spec.questions, spec.rule
    largest = max(comparison.pairs for comparison in spec.comparisons)
    least = min_pairs(questions, rule)
    if largest < least:
        raise ConfigurationError(
            f"{where}: pairs = {largest} is too few for a verdict, even if one side won all of them",
            f"give at least {least}, or {pairs_to_decide(50, questions, rule)} to detect a difference of 50 Elo",
        )
    pairs = [comparison.pairs for comparison in spec.comparisons]
    first_analyses = spec.pairs_together([analyses_of(planned, rule.rounds)[0] for planned in pairs])
    if spec.max_games is not None and spec.max_games < 2 * first_analyses:
        raise ConfigurationError(
            f"{where}: games = {spec.max_games} is less than the first of {rule.rounds} rounds, {2 * first_analyses} "
            f"games",
            f"all rounds have at most {2 * spec.pairs_together(pairs)} games",
        )


def _nodes_to_depth(table: Table, conditions: Conditions) -> NodesToDepth:
    if conditions.external is not None:
        if "nodes_to_depth" in table:
            raise ConfigurationError(
                f"{table.where}: nodes_to_depth needs the built-in engine",
                "remove it (the report shows what an external engine reports of nodes, depth and time)",
            )
        return NodesToDepth(0, 0)
    found: NodesToDepth = table["nodes_to_depth"]
    return found


@dataclass(frozen=True)
class _ComparisonReader:
    """Expands the compact forms of a specification into comparisons and factorials."""

    conditions: Conditions
    pairs: int
    settings: Settings

    def builds(self, names: Sequence[str], table: Table) -> Iterator[Comparison]:
        """Yield one comparison per named build of an external engine, against the base's build.

        Builds are compared in this way if the specification declares no comparison.
        """
        base = self.conditions.base_values
        limits = Table({}, f"{table.where}: [builds]", BUILD_COMPARISON)
        for name in names:
            if name != base[BUILD]:
                label = f"{name} against {base[BUILD]}"
                yield self._comparison(label, "builds", base | {BUILD: name}, base, limits)

    def leave_one_out(self, entry: object, where: str) -> Iterator[Comparison]:
        """Yield the comparisons of a table ``[[leave_one_out]]``.

        For each of its ``features``, the base without the feature plays the full base.
        """
        table = Table(entry, where, LEAVE_ONE_OUT)
        base = self._base(table)
        for name, value in self.settings.features(table, base):
            yield self._comparison(f"without {name}", "leave_one_out", base | {name: value}, base, table)

    def add_one_in(self, entry: object, where: str) -> Iterator[Comparison]:
        """Yield the comparisons of a table ``[[add_one_in]]``.

        For each of its ``features``, the bare engine with the feature plays the bare engine.
        """
        table = Table(entry, where, ADD_ONE_IN)
        base = self._base(table)
        asked = self.settings.additions(table, base)
        for name, variant in asked.variants:
            yield self._comparison(f"{asked.name} with {name}", "add_one_in", variant, asked.bare, table)

    def factorial(self, entry: object, where: str, comparisons: list[Comparison]) -> Iterator[Factorial]:
        """Yield the factorial of a table ``[[factorial]]`` and append its matches to ``comparisons``.

        ``factors`` has two values for each parameter. ``fraction`` 1 plays all combinations, 2 half, 4 a quarter.
        """
        table = Table(entry, where, FACTORIAL)
        base = self._base(table)
        given = table["factors"]
        if not 2 <= len(given) <= MAX_FACTORS:
            raise table.error("factors", f"a table of 2 to {MAX_FACTORS} {self.settings.noun}s with two values each")
        levels = self.settings.levels(given, f"{where}: factors")
        factors = [(name, low, high) for name, (low, high) in levels.items()]
        fraction = table["fraction"]
        if fraction > 1 and (len(factors), fraction) not in GENERATORS:
            raise table.error("fraction", f"1: there is no design with this fraction for {len(factors)} factors")
        default = " × ".join(name for name, _, _ in factors)
        yield self._factorial(
            "factorial", table.get("label", default[:MAX_LABEL]), factors, fraction, base, table, comparisons
        )

    def interactions(self, entry: object, where: str, comparisons: list[Comparison]) -> Iterator[Factorial]:
        """Yield the factorials of a table ``[[interactions]]``, and append their matches to ``comparisons``.

        There is one 2 x 2 factorial for every two of its ``features``, each off and on.
        """
        table = Table(entry, where, INTERACTIONS)
        base = self._base(table)
        factors = [
            (name, without, self._level_of_base(name, base, where))
            for name, without in self.settings.features(table, base)
        ]
        for pair in combinations(factors, 2):
            label = " × ".join(name for name, _, _ in pair)
            yield self._factorial("interactions", label, list(pair), 1, base, table, comparisons)

    def _factorial(
        self,
        group: str,
        label: str,
        factors: list[tuple[str, Value, Value]],
        fraction: int,
        base: dict[str, Value],
        table: Table,
        comparisons: list[Comparison],
    ) -> Factorial:
        """Build a factorial and append its matches to ``comparisons``, unless they are already there.

        ``factors`` has the name, low value and high value of each factor. ``fraction`` is 1 for all combinations of
        levels, 2 for half and 4 for a quarter. ``base`` has the settings that are not factors.
        """
        design = design_of(len(factors), fraction)
        places = []
        for cells in design.matches:
            variant, reference = (
                base | {name: levels[sign > 0] for (name, *levels), sign in zip(factors, cell, strict=True)}
                for cell in cells
            )
            comparison = self._comparison(_cells_label(factors, *cells), group, variant, reference, table)
            comparison = replace(comparison, is_question=len(factors) == 2)
            same = [place for place, other in enumerate(comparisons) if _is_same_match(comparison, other)]
            if same:
                places.append(same[0])
                continue
            if any(other.label == comparison.label for other in comparisons):
                comparison = replace(comparison, label=f"{comparison.label} ({len(comparisons) + 1})")
            places.append(len(comparisons))
            comparisons.append(comparison)
        return Factorial(label, group, tuple(factors), tuple(places), design)

    def values(self, entry: object, where: str) -> Iterator[Comparison]:
        """Yield the comparisons of a table ``[[values]]``: a parameter's ``values``, each against ``reference``.

        The default of ``reference`` is the base's value. The value ``"off"`` disables the feature that the parameter
        depends on. ``names`` are display names of values. ``label`` replaces the parameter's name in labels.
        """
        table = Table(entry, where, self.settings.values)
        base = self._base(table)
        given = table["values"]
        chosen = table.get("reference", self.settings.reference(table, base))
        names = read_names(table["names"], [*given, DEFAULT_LEVEL if chosen is None else chosen], where)
        curve = _label(table, "")
        other = self.settings.level(table, chosen, names, f"{where}: reference")
        for value in given:
            level = self.settings.level(table, value, names, f"{where}: values")
            against = other.full if level.value is None and not curve else other.short
            label = f"{curve}: {level.short} against {against}" if curve else f"{level.full} against {against}"
            variant, reference = switched_on(base, level, other), switched_on(base, other, level)
            comparison = self._comparison(shortened(label, MAX_LABEL), "values", variant, reference, table)
            yield replace(comparison, curve_point=CurvePoint(curve, level, other))

    def comparison(self, entry: object, where: str) -> Iterator[Comparison]:
        """Yield the comparison of a table ``[[comparisons]]``.

        Its ``variant`` and ``reference`` are settings that override the base's. ``reference_limit`` is the reference's
        limit, by default the variant's. With ``ponder`` the variant thinks on the opponent's time.
        """
        table = Table(entry, where, COMPARISON)
        base = self.conditions.base_values
        variant, reference = (
            base | self.settings.read(table[side], f"{where}: {side}") for side in ("variant", "reference")
        )
        label = _label(table, unnamed_label(self.conditions, variant, reference))
        yield self._comparison(label, "comparisons", variant, reference, table)

    def _base(self, table: Table) -> dict[str, Value]:
        return self.conditions.base_values | self.settings.read(table["set"], f"{table.where}: set")

    def _level_of_base(self, name: str, base: Mapping[str, Value], where: str) -> Value:
        if name not in base:
            raise ConfigurationError(
                f"{where}: features: the base has no value of {name}", "give one in [engine] options or [set]"
            )
        return base[name]

    def _ordered(self, values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
        """The settings as pairs in a fixed order, so that equal settings give equal tuples."""
        base = self.conditions.base_values
        return tuple((name, values[name]) for name in (*base, *sorted(values.keys() - base.keys())) if name in values)

    def _check_external(self, comparison: Comparison, where: str) -> None:
        """Raise ``UserError`` if an external engine cannot play one of the sides; the engine is not started."""
        if self.conditions.external is None:
            return
        for values, limits, ponder in (
            (comparison.variant, comparison.limits, comparison.ponders),
            (comparison.reference, comparison.reference_limits or comparison.limits, False),
        ):
            player = replace(self.conditions.player(dict(values), limits), ponder=ponder)
            check_player(player, self.conditions.game, where)

    def _comparison(
        self, label: str, group: str, variant: Mapping[str, Value], reference: Mapping[str, Value], table: Table
    ) -> Comparison:
        own_level = self.conditions.own_level
        limits = read_limits(table, self.conditions.limits, own_level=own_level)
        pairs = table.get("pairs", self.pairs)
        comparison = Comparison(label, group, self._ordered(variant), self._ordered(reference), limits, pairs)
        where = f"{table.where}: {label}"
        if "reference_limit" in table:
            reference_limits = read_limits(table, None, "reference_limit", own_level=own_level)
            comparison = replace(comparison, reference_limits=reference_limits)
        ponders = "ponder" in table.schema and table["ponder"]
        if ponders:
            if not limits.is_timed:
                raise table.error("ponder", f"false: with the limit {limits} the opponent has no time to think on")
            comparison = replace(comparison, ponders=True)
        self._check_external(comparison, where)
        unequal = comparison.ponders or comparison.reference_limits not in (None, limits)
        if not comparison.differences and unequal:
            return comparison
        if not comparison.differences:
            noun = self.settings.noun
            raise ConfigurationError(f"{where}: compares a set of {noun}s with itself", "change one side")
        self.settings.refuse_without_effect(where, variant, reference, limits)
        return comparison


def unnamed_label(conditions: Conditions, variant: Mapping[str, Value], reference: Mapping[str, Value]) -> str:
    """The label of a comparison that the file does not name: how each side differs from the base."""
    one, other = (describe(conditions.differences(side)) or "base" for side in (variant, reference))
    return f"{one} against {other}"[:MAX_LABEL]


def _label(table: Table, default: str) -> str:
    label: str = table.get("label", default)
    if len(label) > MAX_LABEL or not label.isprintable():
        raise table.error("label", f"at most {MAX_LABEL} printable characters")
    return label


def _cells_label(factors: Sequence[tuple[str, Value, Value]], variant: Sequence[int], reference: Sequence[int]) -> str:
    """The label of a factorial's match: factors that differ between its sides, then factors that are equal.

    For example ``aspiration full against off, algorithm pvs``. ``variant`` and ``reference`` hold each factor's level,
    -1 or 1.
    """
    changed, kept = [], []
    for (name, low, high), one, other in zip(factors, variant, reference, strict=True):
        if one != other:
            changed.append(f"{name} {value_text(high)} against {value_text(low)}")
        else:
            kept.append(f"{name} {value_text(high if one > 0 else low)}")
    if len(changed) > 1:
        changed = ["+".join(name for (name, _, _), sign in zip(factors, variant, strict=True) if sign > 0)]
        kept = []
    return shortened(", ".join([*changed, *kept]), MAX_LABEL)


def _is_same_match(one: Comparison, other: Comparison) -> bool:
    """Whether two comparisons would play the same games, so that a single match is enough for both."""
    if (other.reference_limits, other.ponders) != (None, False) or other.pairs != one.pairs:
        return False
    return (one.variant, one.reference, one.limits) == (other.variant, other.reference, other.limits)


def _with_unique_labels(factorials: Sequence[Factorial]) -> Iterator[Factorial]:
    """Yield the factorials. A label that occurred before, for instance at other limits, gets a number."""
    counts: Counter[str] = Counter()
    for factorial in factorials:
        counts[factorial.label] += 1
        number = counts[factorial.label]
        yield factorial if number == 1 else replace(factorial, label=f"{factorial.label} ({number})")


def _refuse_repetitions(comparisons: Sequence[Comparison], where: str) -> None:
    """Raise ``ConfigurationError`` if two comparisons have the same label or the same content."""
    seen: dict[Any, str] = {}
    for comparison in comparisons:
        if comparison.label in seen:
            raise ConfigurationError(f"{where}: two comparisons are called {comparison.label!r}", "give one a label")
        content = digest_of(comparison.content() | {"pairs": 0})
        same = seen.get(content)
        if same is not None:
            raise ConfigurationError(f"{where}: {comparison.label!r} is the same comparison as {same!r}", "remove one")
        seen[comparison.label] = comparison.label
        seen[content] = comparison.label
