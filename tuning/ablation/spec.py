"""What an ablation compares: variants against references, declared in compact forms in a TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path, PurePath
from typing import Any

from arena.spec import OPENING_PARTS, default_part
from engine.settings.configuration import ConfigurationError, Table, read_toml
from engine.settings.limits import Limits
from engine.settings.parameters import (
    BY_NAME,
    Parameter,
    Value,
    by_own_names,
    find,
    find_all,
    format_value,
    parameters_of,
    resolve,
)
from engine.settings.presets import load_preset, preset_name
from tuning.ablation.factorial import GENERATORS, MAX_FACTORS, Design, Effect, design_of
from tuning.ablation.levels import CurvePoint, level_of, read_names, switched_on
from tuning.ablation.verdicts import ERROR_RATE, MARGIN_ELO, Rule, analyses_of, min_pairs, pairs_to_decide
from tuning.conditions import (
    CONDITION_KEYS,
    Conditions,
    describe,
    read_conditions,
    read_limits,
    shortened,
    why_without_effect,
)

ABLATION_KEYS = (
    *CONDITION_KEYS, "pairs", "games", "rounds", "margin", "error_rate", "opening_part", "leave_one_out", "add_one_in",
    "values", "comparisons", "factorial", "interactions", "nodes_to_depth",
)  # fmt: skip
LEAVE_ONE_OUT_KEYS = ("features", "set", "limit", "pairs")
ADD_ONE_IN_KEYS = ("features", "bare", "set", "limit", "pairs")
VALUES_KEYS = ("label", "parameter", "values", "reference", "names", "set", "limit", "pairs")
COMPARISON_KEYS = ("label", "variant", "reference", "limit", "reference_limit", "ponder", "pairs")
FACTORIAL_KEYS = ("label", "factors", "fraction", "set", "limit", "pairs")
INTERACTIONS_KEYS = ("features", "set", "limit", "pairs")
NODES_TO_DEPTH_KEYS = ("depth", "positions")

MAX_PAIRS = 1_000_000
MAX_ROUNDS = 100
BARE = "plain-alpha-beta"
"""The preset to which features are added one at a time, unless another is named."""
MAX_LABEL = 60


@dataclass(frozen=True)
class Comparison:
    """One question: what is the variant worth against the reference?"""

    label: str
    group: str
    """Where it was declared, a key of the file: ``leave_one_out``, ``values``, ..."""
    variant: tuple[tuple[str, Value], ...]
    """Every parameter of the variant."""
    reference: tuple[tuple[str, Value], ...]
    limits: Limits
    pairs: int
    """The most that are played."""
    reference_limits: Limits | None = None
    """The reference's, where they are others."""
    ponders: bool = False
    """Whether the variant thinks on the reference's time."""
    is_question: bool = True
    """Whether it gets a verdict of its own, and is not only a part of a factorial's effects."""
    beyond_margin: bool = False
    """Whether only a difference larger than the margin counts as one."""
    curve_point: CurvePoint | None = None
    """Where it lies on a curve along a parameter, if it is one of several values of it."""

    @property
    def differences(self) -> tuple[str, ...]:
        """The parameters in which the two differ."""
        reference = dict(self.reference)
        return tuple(name for name, value in self.variant if value != reference[name])

    def content(self) -> dict[str, Any]:
        """What decides the games, as plain data."""
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
    """Combinations of two-level factors, and what each factor and each pair of them is worth."""

    label: str
    group: str
    """``factorial`` or ``interactions``."""
    factors: tuple[tuple[str, Value, Value], ...]
    """Parameter, low and high level."""
    comparisons: tuple[int, ...]
    """Places of its matches among the ablation's comparisons, in the order of the design's."""
    design: Design
    beyond_margin: bool = False
    """Whether only an effect larger than the margin counts as one."""

    def effect_label(self, effect: Effect) -> str:
        """``null_move × history``, with the effects aliased with it."""
        terms = [
            ("\N{MINUS SIGN}" if sign < 0 else "") + " × ".join(self.factors[factor][0] for factor in term)
            for term, sign in ((effect.factors, 1), *effect.aliases)
        ]
        return " = ".join(terms)


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
    rule: Rule = field(default_factory=Rule)
    max_games: int | None = None
    """The most of all comparisons together, if that is less than their sum."""
    factorials: tuple[Factorial, ...] = ()

    @property
    def questions(self) -> int:
        """How many verdicts are asked for: on comparisons, and on effects of factorials."""
        effects = sum(len(self.asked_effects(one)) for one in self.factorials)
        return effects + sum(comparison.is_question for comparison in self.comparisons)

    def asked_effects(self, factorial: Factorial) -> tuple[Effect, ...]:
        """The effects of a factorial that get a verdict: of two factors only their interaction, else all."""
        effects = factorial.design.effects
        return effects if len(factorial.factors) > 2 else tuple(one for one in effects if len(one.factors) > 1)

    @property
    def name(self) -> str:
        """Names the results' folder."""
        return self.conditions.name

    def content(self) -> dict[str, Any]:
        """What decides the games, as plain data."""
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
    """Check an ablation's plain data; ``where`` is its file, which names it unless ``name`` does.

    Raises ``UserError`` with one line for the first mistake.
    """
    table = Table(data, where, ABLATION_KEYS)
    conditions = read_conditions(table, PurePath(where).stem)
    rule = Rule(
        margin_elo=table.number("margin", 0, 100, MARGIN_ELO, "Elo"),
        error_rate=table.number("error_rate", 0.0001, 0.5, ERROR_RATE),
        rounds=table.whole("rounds", 1, MAX_ROUNDS, Rule().rounds),
    )
    reader = _Reader(conditions, table.whole("pairs", 1, MAX_PAIRS))
    comparisons = [
        comparison
        for kind, read in (
            ("leave_one_out", reader.leave_one_out),
            ("add_one_in", reader.add_one_in),
            ("values", reader.values),
            ("comparisons", reader.comparison),
        )
        for number, entry in enumerate(_entries(table, kind), start=1)
        for comparison in read(entry, f"{where}: [[{kind}]] {number}")
    ]
    _refuse_repetitions(comparisons, where)
    factorials = [
        factorial
        for kind, read_factorials in (("factorial", reader.factorial), ("interactions", reader.interactions))
        for number, entry in enumerate(_entries(table, kind), start=1)
        for factorial in read_factorials(entry, f"{where}: [[{kind}]] {number}", comparisons)
    ]
    if not comparisons:
        raise ConfigurationError(
            f"{where}: nothing to compare; expected [[leave_one_out]], [[add_one_in]], [[values]], [[comparisons]], "
            "[[factorial]] or [[interactions]]"
        )
    part = default_part(conditions.game, str(data.get("openings", conditions.game)))
    cost = table.table("nodes_to_depth", NODES_TO_DEPTH_KEYS)
    spec = AblationSpec(
        conditions=conditions,
        comparisons=tuple(comparisons),
        opening_part=table.choice("opening_part", OPENING_PARTS, part),
        nodes_to_depth=NodesToDepth(cost.whole("depth", 0, 64, 6), cost.whole("positions", 1, 10_000, 40)),
        rule=rule,
        max_games=table.whole("games", 2, 2 * MAX_PAIRS) if "games" in table else None,
        factorials=tuple(factorials),
    )
    _refuse_what_decides_nothing(spec, where)
    return spec


def _refuse_what_decides_nothing(spec: AblationSpec, where: str) -> None:
    """A budget that could decide nothing, even if one side won every game."""
    questions, rule = spec.questions, spec.rule
    largest = max(comparison.pairs for comparison in spec.comparisons)
    least = min_pairs(questions, rule)
    if largest < least:
        raise ConfigurationError(
            f"{where}: pairs = {largest} is too few to decide anything, even if one side won them all; {least} could "
            f"decide that much, and {pairs_to_decide(50, questions, rule)} a difference of 50 Elo"
        )
    first_analyses = sum(analyses_of(comparison.pairs, rule.rounds)[0] for comparison in spec.comparisons)
    if spec.max_games is not None and spec.max_games < 2 * first_analyses:
        raise ConfigurationError(
            f"{where}: games = {spec.max_games} is less than the first of {rule.rounds} rounds, {2 * first_analyses} "
            f"games; all rounds are {2 * sum(comparison.pairs for comparison in spec.comparisons)} games at most"
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
        for feature in self._features(table):
            name, value = feature_left_out(feature, base, where, self.conditions.game)
            yield self._comparison(f"without {name}", "leave_one_out", base | {name: value}, base, table)

    def add_one_in(self, entry: object, where: str) -> Iterator[Comparison]:
        """``features = [...]``: each feature of the base added to a bare engine, against the bare engine."""
        table = Table(entry, where, ADD_ONE_IN_KEYS)
        base = self._base(table)
        name = table.text("bare", BARE, "an engine preset's name or file")
        try:
            overrides = load_preset(name, self.conditions.game, Path(self.conditions.source).parent)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: bare: {error}") from None
        own = by_own_names(table.mapping("set"), f"{where}: set")
        bare = resolve({**overrides, **own}, f"{where}: bare", self.conditions.game)
        for feature in self._features(table):
            parameter, _ = feature_left_out(feature, base, where, self.conditions.game)
            if bare[parameter] == base[parameter]:
                raise ConfigurationError(
                    f"{where}: features: {parameter} is {format_value(bare[parameter])} in {name} too, so it cannot be "
                    "added to it"
                )
            variant = bare | {parameter: base[parameter]}
            yield self._comparison(f"{preset_name(name)} with {parameter}", "add_one_in", variant, bare, table)

    def _features(self, table: Table, least: int = 1) -> list[str]:
        expected = "a list of features" if least == 1 else f"a list of at least {least} features"
        features = table.value("features", expected=expected)
        if not isinstance(features, list) or len(features) < least:
            raise table.error("features", expected)
        words = [str(feature) for feature in features]
        rows = find_all(words, f"{table.where}: features", _features_of(self.conditions.game))
        return [rows[word].name for word in words]

    def factorial(self, entry: object, where: str, comparisons: list[Comparison]) -> Iterator[Factorial]:
        """``factors``: two values of each of some parameters; ``fraction``: 1 for all combinations, 2 for half, 4."""
        table = Table(entry, where, FACTORIAL_KEYS)
        base = self._base(table)
        given = table.mapping("factors")
        if not 2 <= len(given) <= MAX_FACTORS:
            raise table.error("factors", f"a table of 2 to {MAX_FACTORS} parameters with two values each")
        factors = []
        rows = _rows(given, f"{where}: factors", self.conditions.game)
        for word, levels in given.items():
            row, name = rows[word], rows[word].name
            if not isinstance(levels, list) or len(levels) != 2:
                raise ConfigurationError(f"{where}: factors: {name} = {levels!r}, expected a list of two values")
            low, high = (row.check(level, f"{where}: factors") for level in levels)
            factors.append((name, low, high))
        fraction = table.choice("fraction", (1, 2, 4), 1)
        if fraction > 1 and (len(factors), fraction) not in GENERATORS:
            raise table.error("fraction", f"1, for there is no such fraction of the combinations of {len(factors)}")
        default = " × ".join(name for name, _, _ in factors)
        yield self._factorial(
            "factorial", table.text("label", default[:MAX_LABEL]), factors, fraction, base, table, comparisons
        )

    def interactions(self, entry: object, where: str, comparisons: list[Comparison]) -> Iterator[Factorial]:
        """``features``: for every two of them a 2 x 2 factorial of leaving them out of the base."""
        table = Table(entry, where, INTERACTIONS_KEYS)
        base = self._base(table)
        factors = []
        for feature in self._features(table, 2):
            name, without = feature_left_out(feature, base, where, self.conditions.game)
            factors.append((name, without, base[name]))
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
        """A factorial, whose matches are appended to ``comparisons`` unless they are there already."""
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
        """``parameter`` and ``values``: each value against ``reference`` (default: the base's).

        ``"off"`` switches off what the parameter depends on. ``names`` are words for values, and ``label``
        stands in every comparison's label for the parameter's name.
        """
        table = Table(entry, where, VALUES_KEYS)
        base = self._base(table)
        word = table.text("parameter", expected="a parameter's name")
        row = _rows([word], f"{where}: parameter", self.conditions.game)[word]
        name = row.name
        given = table.value("values", expected="a list of values")
        if not isinstance(given, list) or not given:
            raise table.error("values", "a list of values")
        chosen = table.value("reference", base[name])
        names = read_names(table.mapping("names"), [*given, chosen], where)
        curve = _label(table, "")
        other = level_of(row, chosen, names, f"{where}: reference")
        for value in given:
            level = level_of(row, value, names, f"{where}: values")
            against = other.full if level.value is None and not curve else other.short
            label = f"{curve}: {level.short} against {against}" if curve else f"{level.full} against {against}"
            variant, reference = switched_on(base, level, other), switched_on(base, other, level)
            comparison = self._comparison(shortened(label, MAX_LABEL), "values", variant, reference, table)
            yield replace(comparison, curve_point=CurvePoint(curve, level, other))

    def comparison(self, entry: object, where: str) -> Iterator[Comparison]:
        """``label``, ``variant`` and ``reference``: two tables of settings that override the base's.

        ``reference_limit`` is the reference's, where it is another; with ``ponder`` the variant thinks on the
        reference's time.
        """
        table = Table(entry, where, COMPARISON_KEYS)
        base = self.conditions.base_values
        sides = []
        for side in ("variant", "reference"):
            own = table.mapping(side)
            rows = _rows(own, f"{where}: {side}", self.conditions.game)
            sides.append(base | {row.name: row.check(own[word], f"{where}: {side}") for word, row in rows.items()})
        variant, reference = sides
        default = f"{describe(self.conditions.differences(variant)) or 'base'} against " + (
            describe(self.conditions.differences(reference)) or "base"
        )
        label = _label(table, default[:MAX_LABEL])
        yield self._comparison(label, "comparisons", variant, reference, table)

    def _base(self, table: Table) -> dict[str, Value]:
        own = by_own_names(table.mapping("set"), f"{table.where}: set")
        resolve(own, f"{table.where}: set", self.conditions.game)
        return self.conditions.base_values | {name: BY_NAME[name].check(value) for name, value in own.items()}

    def _comparison(
        self, label: str, group: str, variant: dict[str, Value], reference: dict[str, Value], table: Table
    ) -> Comparison:
        limits = read_limits(table, self.conditions.limits)
        pairs = table.whole("pairs", 1, MAX_PAIRS, self.pairs)
        comparison = Comparison(label, group, tuple(variant.items()), tuple(reference.items()), limits, pairs)
        where = f"{table.where}: {label}"
        if "reference_limit" in table:
            comparison = replace(comparison, reference_limits=read_limits(table, key="reference_limit"))
        if "ponder" in table and table.switch("ponder"):
            if not limits.is_timed:
                raise table.error("ponder", f"false, for under {limits} there is no time of the other's to think on")
            comparison = replace(comparison, ponders=True)
        unequal = comparison.ponders or comparison.reference_limits not in (None, limits)
        if not comparison.differences and unequal:
            return comparison
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


def _label(table: Table, default: str) -> str:
    label: str = table.text("label", default)
    if len(label) > MAX_LABEL or not label.isprintable():
        raise table.error("label", f"at most {MAX_LABEL} printable characters")
    return label


def _cells_label(factors: Sequence[tuple[str, Value, Value]], variant: Sequence[int], reference: Sequence[int]) -> str:
    """What a match of a factorial compares: ``aspiration full against off, algorithm pvs``."""
    changed, kept = [], []
    for (name, low, high), one, other in zip(factors, variant, reference, strict=True):
        if one != other:
            changed.append(f"{name} {format_value(high)} against {format_value(low)}")
        else:
            kept.append(f"{name} {format_value(high if one > 0 else low)}")
    if len(changed) > 1:
        changed = ["+".join(name for (name, _, _), sign in zip(factors, variant, strict=True) if sign > 0)]
        kept = []
    return shortened(", ".join([*changed, *kept]), MAX_LABEL)


def _is_same_match(one: Comparison, other: Comparison) -> bool:
    """Whether the other's games can serve as this one's."""
    if (other.reference_limits, other.ponders) != (None, False) or other.pairs != one.pairs:
        return False
    return (one.variant, one.reference, one.limits) == (other.variant, other.reference, other.limits)


def feature_left_out(feature: str, base: Mapping[str, Value], where: str, game: str) -> tuple[str, Value]:
    """A feature's parameter and its value without the feature.

    Raises ``UserError`` for an unknown feature (nearest name) and for one that the base does not have.
    """
    row = find(feature, f"{where}: features", _features_of(game))
    value = row.off
    if value is None or row.name not in _features_of(game):
        raise ConfigurationError(
            f"{where}: {row.name} cannot be left out, it is no feature of {game}; use [[values]] to compare its values"
        )
    if base[row.name] == value:
        raise ConfigurationError(
            f"{where}: {row.name} is {format_value(value)} in the base, so it cannot be left out of it; use [[values]] "
            "to switch it on"
        )
    return row.name, value


def _features_of(game: str) -> list[str]:
    """The parameters that can be left out."""
    return [row.name for row in parameters_of(game) if row.off is not None]


def _rows(words: Iterable[str], where: str, game: str) -> dict[str, Parameter]:
    """The row of each word as it is in the game; raises ``UserError`` for one that is unknown or of another game."""
    own = {row.name: row for row in parameters_of(game)}
    found = {}
    for word, row in find_all(words, where, own).items():
        if row.name not in own:
            raise ConfigurationError(f"{where}: {row.name} does not apply to {game}")
        found[word] = own[row.name]
    return found


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
