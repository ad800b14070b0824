"""What an ablation compares: variants against references, declared in compact forms in a TOML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from arena.spec import OPENING_PARTS, default_part
from engine.configuration import ConfigurationError, Table, read_toml
from engine.limits import Limits
from engine.parameters import BY_NAME, Parameter, Value, find, format_value, parameters_of, resolve
from tuning.conditions import CONDITION_KEYS, Conditions, describe, read_conditions, read_limits, why_without_effect

ABLATION_KEYS = (
    *CONDITION_KEYS, "pairs", "opening_part", "leave_one_out", "values", "comparisons", "nodes_to_depth",
)  # fmt: skip
LEAVE_ONE_OUT_KEYS = ("features", "set", "limit", "pairs")
VALUES_KEYS = ("parameter", "values", "reference", "set", "limit", "pairs")
COMPARISON_KEYS = ("label", "variant", "reference", "limit", "pairs")
NODES_TO_DEPTH_KEYS = ("depth", "positions")

MAXIMUM_PAIRS = 1_000_000
LONGEST_LABEL = 60
OFF = "off"
"""Among the values of a parameter: what the parameter depends on is switched off."""

LEFT_OUT: dict[str, Value] = {
    "algorithm": "alphabeta",
    "aspiration": "off",
    "null_verify": "off",
    "capture_order": "none",
    "evaluation": "material",
    "killers": 0,
    "hash_mb": 0,
    "tempo": 0,
    "quiescence_check_plies": 0,
}
"""What is left of a feature that is no switch when it is left out."""


@dataclass(frozen=True)
class Comparison:
    """One question: what is the variant worth against the reference?"""

    label: str
    group: str
    """Where it was declared: ``leave_one_out``, ``values`` or ``comparisons``."""
    variant: tuple[tuple[str, Value], ...]
    """Every parameter of the variant."""
    reference: tuple[tuple[str, Value], ...]
    limits: Limits
    pairs: int

    @property
    def differences(self) -> tuple[str, ...]:
        """The parameters in which the two differ."""
        reference = dict(self.reference)
        return tuple(name for name, value in self.variant if value != reference[name])

    def content(self) -> dict[str, Any]:
        """What decides the games, as plain data."""
        return {
            "variant": dict(self.variant),
            "reference": dict(self.reference),
            "limit": str(self.limits),
            "pairs": self.pairs,
        }


@dataclass(frozen=True)
class NodesToDepth:
    """How the cost of a fixed depth is measured."""

    depth: int
    """Plies; 0 leaves the measurement out."""
    positions: int


@dataclass(frozen=True)
class AblationSpec:
    """Everything that decides an ablation."""

    conditions: Conditions
    comparisons: tuple[Comparison, ...]
    opening_part: str
    """Which half of the suite: ``tournament``, ``validation`` or ``all``."""
    nodes_to_depth: NodesToDepth

    @property
    def name(self) -> str:
        """Names the results' folder."""
        return self.conditions.name

    def content(self) -> dict[str, Any]:
        """What decides the games, as plain data."""
        return {
            **self.conditions.content(),
            "opening_part": self.opening_part,
            "comparisons": {comparison.label: comparison.content() for comparison in self.comparisons},
        }


def load_ablation(path: Path) -> AblationSpec:
    """Read an ablation's TOML file. Raises ``UserError`` with one line for the first mistake."""
    return ablation_from_mapping(read_toml(path), str(path))


def ablation_from_mapping(data: Mapping[str, Any], where: str) -> AblationSpec:
    """Check an ablation's plain data; ``where`` is its file, which names it unless ``name`` does.

    Raises ``UserError`` with one line for the first mistake.
    """
    table = Table(data, where, ABLATION_KEYS)
    conditions = read_conditions(table, PurePath(where).stem)
    reader = _Reader(conditions, table.whole("pairs", 1, MAXIMUM_PAIRS))
    comparisons = [
        comparison
        for kind, read in (
            ("leave_one_out", reader.leave_one_out),
            ("values", reader.values),
            ("comparisons", reader.comparison),
        )
        for number, entry in enumerate(_entries(table, kind), start=1)
        for comparison in read(entry, f"{where}: [[{kind}]] {number}")
    ]
    if not comparisons:
        raise ConfigurationError(
            f"{where}: nothing to compare; expected [[leave_one_out]], [[values]] or [[comparisons]]"
        )
    _refuse_repetitions(comparisons, where)
    part = default_part(conditions.game, str(data.get("openings", conditions.game)))
    cost = table.table("nodes_to_depth", NODES_TO_DEPTH_KEYS)
    return AblationSpec(
        conditions=conditions,
        comparisons=tuple(comparisons),
        opening_part=table.choice("opening_part", OPENING_PARTS, part),
        nodes_to_depth=NodesToDepth(cost.whole("depth", 0, 64, 6), cost.whole("positions", 1, 10_000, 40)),
    )


def _entries(table: Table, kind: str) -> list[Any]:
    return table.array(kind, f"one or more tables [[{kind}]]") if kind in table else []


@dataclass(frozen=True)
class _Reader:
    """Turns the compact forms into comparisons."""

    conditions: Conditions
    pairs: int

    def leave_one_out(self, entry: object, where: str) -> Iterator[Comparison]:
        """``features = [...]``: the base without each of them, against the base."""
        table = Table(entry, where, LEAVE_ONE_OUT_KEYS)
        base = self._base(table)
        features = table.value("features", expected="a list of features")
        if not isinstance(features, list) or not features:
            raise table.error("features", "a list of features")
        for feature in features:
            name, value = feature_left_out(str(feature), base, where, self.conditions.game)
            yield self._comparison(f"without {name}", "leave_one_out", base | {name: value}, base, table)

    def values(self, entry: object, where: str) -> Iterator[Comparison]:
        """``parameter`` and ``values``: each value against ``reference`` (default: the base's)."""
        table = Table(entry, where, VALUES_KEYS)
        base = self._base(table)
        name = table.text("parameter", expected="a parameter's name")
        row = _row(name, f"{where}: parameter", self.conditions.game)
        given = table.value("values", expected="a list of values")
        if not isinstance(given, list) or not given:
            raise table.error("values", "a list of values")
        reference = base | {name: row.check(table.value("reference", base[name]), f"{where}: reference")}
        for value in given:
            if value == OFF and OFF not in row.legal and row.kind != "switch":
                yield self._switched_off(row, base, reference, table)
                continue
            variant = base | {name: row.check(value, f"{where}: values")}
            label = f"{name} {format_value(variant[name])} against {format_value(reference[name])}"
            yield self._comparison(label, "values", variant, reference, table)

    def _switched_off(
        self, row: Parameter, base: dict[str, Value], reference: dict[str, Value], table: Table
    ) -> Comparison:
        parent = row.depends_on[0] if row.depends_on is not None else None
        if parent is None or BY_NAME[parent].kind != "switch":
            raise ConfigurationError(f"{table.where}: values: {row.name} has no switch that could be off")
        label = f"{parent} off against {row.name} {format_value(reference[row.name])}"
        return self._comparison(label, "values", base | {parent: False}, reference, table)

    def comparison(self, entry: object, where: str) -> Iterator[Comparison]:
        """``label``, ``variant`` and ``reference``: two tables of settings laid over the base."""
        table = Table(entry, where, COMPARISON_KEYS)
        base = self.conditions.base_values
        sides = []
        for side in ("variant", "reference"):
            own = table.mapping(side)
            for name in own:
                _row(name, f"{where}: {side}", self.conditions.game)
            sides.append(base | {name: BY_NAME[name].check(value, f"{where}: {side}") for name, value in own.items()})
        variant, reference = sides
        default = f"{describe(self.conditions.differences(variant)) or 'base'} against " + (
            describe(self.conditions.differences(reference)) or "base"
        )
        label = table.text("label", default[:LONGEST_LABEL])
        if len(label) > LONGEST_LABEL or not label.isprintable():
            raise table.error("label", f"at most {LONGEST_LABEL} printable characters")
        yield self._comparison(label, "comparisons", variant, reference, table)

    def _base(self, table: Table) -> dict[str, Value]:
        own = table.mapping("set")
        resolve(own, f"{table.where}: set", self.conditions.game)
        return self.conditions.base_values | {name: BY_NAME[name].check(value) for name, value in own.items()}

    def _comparison(
        self, label: str, group: str, variant: dict[str, Value], reference: dict[str, Value], table: Table
    ) -> Comparison:
        limits = read_limits(table, self.conditions.limits)
        pairs = table.whole("pairs", 1, MAXIMUM_PAIRS, self.pairs)
        comparison = Comparison(label, group, tuple(variant.items()), tuple(reference.items()), limits, pairs)
        where = f"{table.where}: {label}"
        if not comparison.differences:
            raise ConfigurationError(f"{where}: compares a set of parameters with itself; change one of the two")
        reasons = {}
        for name in comparison.differences:
            one = why_without_effect(name, variant, limits)
            reasons[name] = one and why_without_effect(name, reference, limits)
        if all(reasons.values()):
            name, reason = next(iter(reasons.items()))
            raise ConfigurationError(f"{where}: {name} changes nothing: {reason}")
        return comparison


def feature_left_out(feature: str, base: Mapping[str, Value], where: str, game: str) -> tuple[str, Value]:
    """A feature's parameter and its value without the feature.

    Raises ``UserError`` for an unknown feature (nearest name) and for one that the base does not have.
    """
    names = [row.name for row in parameters_of(game) if row.kind == "switch" or row.name in LEFT_OUT]
    row = find(feature, f"{where}: features", names)
    if row.name not in names:
        raise ConfigurationError(
            f"{where}: {row.name} cannot be left out, it is no feature of {game}; use [[values]] to compare its values"
        )
    value = LEFT_OUT.get(row.name, False)
    if base[row.name] == value:
        raise ConfigurationError(
            f"{where}: {row.name} is {format_value(value)} in the base, so it cannot be left out of it; use [[values]] "
            "to switch it on"
        )
    return row.name, value


def _row(name: str, where: str, game: str) -> Parameter:
    names = [row.name for row in parameters_of(game)]
    row = find(name, where, names)
    if row.name not in names:
        raise ConfigurationError(f"{where}: {name} does not apply to {game}")
    return row


def _refuse_repetitions(comparisons: Sequence[Comparison], where: str) -> None:
    """Labels must be different, and so must be what is compared."""
    seen: dict[Any, str] = {}
    for comparison in comparisons:
        if comparison.label in seen:
            raise ConfigurationError(f"{where}: two comparisons are called {comparison.label!r}; give one a label")
        same = seen.get((comparison.variant, comparison.reference, comparison.limits))
        if same is not None:
            raise ConfigurationError(f"{where}: {comparison.label!r} is the same comparison as {same!r}; remove one")
        seen[comparison.label] = comparison.label
        seen[comparison.variant, comparison.reference, comparison.limits] = comparison.label
