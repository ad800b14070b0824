"""The space of a study: the parameters to tune, called dimensions, with their candidate values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import (
    BY_NAME,
    Parameter,
    Value,
    find_all,
    is_active,
    parameters_of,
    why_without_effect,
)
from elolab.engine.settings.schema import COMPUTED, Table
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.study.rounds.constraints import GRAMMAR, all_hold, holds, names_in

SCALES = ("linear", "log")
MAX_OPTION = 10**9
MAX_VALUES = 1_000_000
"""Maximum number of values in a range."""
R_END = 0.002
"""Default of ``r_end``, the final step of ``spsa``: each game won moves a value by ``r_end`` times ``c_end``."""

CATALOGUE = "elolab.tuning.keys"
RANGE = schema.declare(
    CATALOGUE, "dimension", "range",
    low=schema.whole(-MAX_OPTION, MAX_OPTION, default=COMPUTED, example=1),
    high=schema.whole(-MAX_OPTION, MAX_OPTION, default=COMPUTED, example=8),
    step=schema.whole(1, 2 * MAX_OPTION, default=1, example=2),
    scale=schema.choice(SCALES, default=COMPUTED, example="log"),
    c_end=schema.number(1e-9, MAX_OPTION, default=COMPUTED, example=0.5),
    r_end=schema.number(1e-9, 1, default=R_END, example=0.005),
)  # fmt: skip
SPSA_KEYS = ("c_end", "r_end")
"""Keys of a range that only the sampler ``spsa`` uses."""
PARAMETER_DIMENSION = schema.declare(
    CATALOGUE, "dimension", "dimension", RANGE,
    choices=schema.key(
        schema.VALUES, default=COMPUTED, example=["off", "full"], least=2,
        expected="a list of at least two different values",
    ),
)  # fmt: skip
"""Declared keys of a dimension that is a parameter of the built-in engine.

There is no key for the default value, because it is the base's value.
"""
NEEDS = schema.declare(
    CATALOGUE, "dimension", "needs",
    others=schema.key(schema.VALUE, schema.VALUES, default=COMPUTED, example=True, least=1, message="need"),
)  # fmt: skip
DIMENSION = schema.declare(
    CATALOGUE, "dimension", "dimension", PARAMETER_DIMENSION,
    low=schema.number(-MAX_OPTION, MAX_OPTION, default=COMPUTED, example=0.5),
    high=schema.number(-MAX_OPTION, MAX_OPTION, default=COMPUTED, example=2.5),
    step=schema.number(0, 2 * MAX_OPTION, default=COMPUTED, example=0.1),
    default=schema.key(schema.VALUE, default=COMPUTED, example=2, expected="the value that the tuned one must beat"),
    needs=schema.table(NEEDS, example={"Pruning": True}),
)  # fmt: skip
DIMENSIONS = schema.declare(CATALOGUE, "dimension", "dimensions", others=schema.table(DIMENSION, message="dimension"))

PROJECTION_STEPS = 12
"""Number of bisections between a set of values that violates a constraint and the base, to find a set that satisfies
it.
"""
DIGITS = 6
"""Significant digits of a value in a range without steps, or with steps that are not whole numbers."""
STEP_PRECISION = 1e-6
"""A value counts as a candidate if its distance from the candidate is at most this many steps."""

Number = int | float
Values = tuple[Value, ...]
"""A set of values, one per dimension of a space, in order."""


def rounded(number: float) -> float:
    """The number rounded to ``DIGITS`` significant digits, so that every file has the same number."""
    return float(f"{number:.{DIGITS}g}")


@dataclass(frozen=True)
class Dimension:
    """One parameter and its candidate values: a range of numbers, or a list of choices."""

    name: str
    low: float = 0
    high: float = 0
    """Upper end of the range, inclusive; unused with choices."""
    step: float = 1
    """Distance between neighbouring values, beginning at ``low``; 0 allows any number in the range."""
    scale: str = "linear"
    """Scale on which distances in the range are measured: ``linear`` or ``log``."""
    choices: tuple[Value, ...] = ()
    c_end: float | None = None
    """Perturbation of the sampler ``spsa`` at the end of the search; ``None`` for the default.

    The unit is that of the values; on a logarithmic scale, of their natural logarithms.
    """
    r_end: float | None = None
    """Step of the sampler ``spsa`` at the end of the search: each game won moves the value by ``r_end`` times
    ``c_end``.

    ``None`` stands for the default ``R_END``.
    """
    needs: tuple[tuple[str, tuple[Value, ...]], ...] | None = None
    """Conditions for an engine's option to have an effect: names of other dimensions, each with its
    permitted values.

    ``None`` means no conditions. Parameters of the built-in engine have ``depends_on`` in the parameter table instead.
    """

    def coordinate(self, value: Value) -> float:
        """Coordinate of a value: 0 and 1 are the ends of the range.

        For choices the result is the index in the list of choices, or -1 for a value that is not in the list.
        """
        if self.choices:
            return float(self.choices.index(value)) if value in self.choices else -1.0
        number, low, high = float(value), float(self.low), float(self.high)
        if self.scale == "log":
            number, low, high = math.log(max(number, min(low, 1.0))), math.log(low), math.log(high)
        return (number - low) / (high - low)

    @property
    def is_whole(self) -> bool:
        """Whether all values of the range are whole numbers."""
        return bool(self.step) and all(isinstance(number, int) for number in (self.low, self.high, self.step))

    def value_at(self, coordinate: float, threshold: float = 0.5) -> Number:
        """The value of a range at a coordinate: 0 and 1 are the ends of the range. Outside the range it is the nearest
        end.

        A coordinate between two values is rounded up if the fraction of the distance between them is at least
        ``threshold``. With a uniformly random threshold the mean of the result is the exact value.
        """
        inside = min(max(coordinate, 0.0), 1.0)
        if self.scale == "log":
            number = math.exp(math.log(self.low) + inside * (math.log(self.high) - math.log(self.low)))
        else:
            number = self.low + inside * (self.high - self.low)
        if not self.step:
            return min(max(rounded(number), self.low), self.high)
        below = math.floor((number - self.low) / self.step + 1e-9)
        above = number - (self.low + below * self.step) > threshold * self.step + 1e-9
        found = min(self.low + (below + above) * self.step, self.high)
        return found if self.is_whole else rounded(found)

    def contains(self, value: object) -> bool:
        """Whether a value is one of the candidates."""
        if self.choices:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        steps = (value - self.low) / self.step if self.step else 0.0
        return self.low <= value <= self.high and abs(steps - round(steps)) < STEP_PRECISION

    def content(self) -> dict[str, Any]:
        """The dimension as plain data, without fields that are ``None``."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Space:
    """The dimensions of a study, and the base settings; a tuned set replaces only the values of the dimensions."""

    dimensions: tuple[Dimension, ...]
    base: tuple[tuple[str, Value], ...]
    """Value of every parameter of the base, by name; for an external engine only the defaults of the tuned options."""
    external: bool = False
    """Whether the dimensions are options of an external engine; then only ``needs`` decides which have an effect."""
    constraints: tuple[str, ...] = ()
    """Comparisons that every set of values satisfies, in the form that ``constraints.holds`` accepts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tuned parameters, in the order of the dimensions."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def default(self) -> dict[str, Value]:
        """The base's values of the tuned parameters, by name."""
        base = dict(self.base)
        return {name: base[name] for name in self.names}

    @cached_property
    def default_values(self) -> tuple[Value, ...]:
        """The base's values of the tuned parameters, in the order of the dimensions."""
        return tuple(self.default.values())

    @cached_property
    def has_conditions(self) -> bool:
        """Whether the effect or the allowed values of a dimension depend on the values of other dimensions."""
        if self.constraints or any(dimension.needs for dimension in self.dimensions):
            return True
        return not self.external and any(BY_NAME[name].depends_on is not None for name in self.names)

    @cached_property
    def _by_name(self) -> dict[str, Dimension]:
        return {dimension.name: dimension for dimension in self.dimensions}

    def refuse_base_outside(self, where: str) -> None:
        """Raise ``ConfigurationError`` if a value of the base lies outside its range, where the model knows nothing.

        A value between two steps, or one that is none of the choices, is allowed. ``where`` begins the message.
        """
        for one, value in zip(self.dimensions, self.default_values, strict=True):
            if not one.choices and not (isinstance(value, int | float) and one.low <= value <= one.high):
                raise ConfigurationError(
                    f"{where}: {one.name} = {format_toml(value)} in the base, expected a value in the range that is "
                    f"searched, {format_toml(one.low)} to {format_toml(one.high)}",
                    "change the range or the base",
                )

    def has_effect(self, name: str, values: Mapping[str, Value]) -> bool:
        """Whether the dimension ``name`` has an effect beside ``values``, which include those of the base."""
        if not self.external:
            return is_active(name, values)
        needs = self._by_name[name].needs or ()
        return all(values[parent] in wanted and self.has_effect(parent, values) for parent, wanted in needs)

    def effective(self, suggested: Mapping[str, Value]) -> dict[str, Value]:
        """The values that play if a sampler suggests ``suggested``, by name.

        A parameter that has no effect with the other values gets the base's value. If the values violate a constraint,
        they move along the line to the base's values until they satisfy all constraints. So a sampler may suggest
        anything, no games are lost, and the model learns from the valid set that was played.
        """
        found = self._constrained(self._active(suggested))
        if not self.constraints:
            return found
        found = self._active(found)  # a value that moved may have been needed
        return found if all_hold(self.constraints, found) else self.default

    def _active(self, suggested: Mapping[str, Value]) -> dict[str, Value]:
        values, default = dict(self.base) | dict(suggested), self.default
        return {name: values[name] if self.has_effect(name, values) else default[name] for name in self.names}

    def _constrained(self, values: dict[str, Value]) -> dict[str, Value]:
        if all_hold(self.constraints, values):
            return values
        bound = {name for one in self.constraints for name in names_in(one)}
        ends = {
            name: (self._by_name[name].coordinate(self.default[name]), self._by_name[name].coordinate(values[name]))
            for name in self.names if name in bound
        }  # fmt: skip
        found, low, high = {**values, **{name: self.default[name] for name in ends}}, 0.0, 1.0
        for _ in range(PROJECTION_STEPS):
            middle = (low + high) / 2
            moved: dict[str, Value] = {
                name: self._by_name[name].value_at(base + middle * (wanted - base))
                for name, (base, wanted) in ends.items()
            }
            if all_hold(self.constraints, values | moved):
                found, low = values | moved, middle
            else:
                high = middle
        return found

    def effective_values(self, suggested: Sequence[Value]) -> tuple[Value, ...]:
        """Like ``effective``, but ``suggested`` and the result are in the order of the dimensions."""
        if not self.has_conditions:
            return tuple(suggested)
        return tuple(self.effective(dict(zip(self.names, suggested, strict=True))).values())

    def coordinates(self, values: Sequence[Value]) -> tuple[float, ...]:
        """Coordinates of a set of values, in the order of the dimensions; see ``Dimension.coordinate``."""
        return tuple(dimension.coordinate(value) for dimension, value in zip(self.dimensions, values, strict=True))


def read_space(table: Table, base: Mapping[str, Value], game: str, limits: Limits) -> Space:
    """Read ``parameters`` (a list of names) and the tables ``[dimensions.NAME]`` of a study's file.

    Ranges and scales default to the tuning columns of the parameter table. Raises ``UserError`` for illegal values, and
    for a parameter that does not exist, does not apply to the game or has no effect.
    """
    tables = table["dimensions"]
    listed = table["parameters"]
    if len(set(listed)) < len(listed):
        raise table.error("parameters", "each name once")
    if not listed and not tables:
        raise ConfigurationError(
            f"{table.where}: nothing to tune", "expected parameters = [names] or tables [dimensions.NAME]"
        )
    applicable = {row.name: row for row in parameters_of(game)}
    rows = find_all(listed, f"{table.where}: parameters", applicable)
    words = {row.name: word for word, row in find_all(tables, f"{table.where}: [dimensions]", applicable).items()}
    dimensions = []
    for name in dict.fromkeys([*(row.name for row in rows.values()), *words]):
        where = f"{table.where}: [dimensions.{words[name]}]" if name in words else f"{table.where}: parameters"
        if name not in applicable:
            raise ConfigurationError(f"{where}: {name} does not apply to {game}")
        own = tables[words[name]] if name in words else {}
        dimensions.append(_dimension(applicable[name], Table(own, where, PARAMETER_DIMENSION)))
    _refuse_without_effect(table.where, dimensions, base, limits)
    return Space(tuple(dimensions), tuple(base.items()), constraints=_constraints(table, dimensions, base))


def read_options(table: Table) -> Space:
    """Read the tables ``[dimensions.OPTION]`` of a study of an external engine: ranges or choices, with defaults.

    Raises ``UserError`` with one line for the first mistake.
    """
    if "parameters" in table:
        raise ConfigurationError(
            f"{table.where}: parameters belong to the built-in engine",
            "give an external engine's options as tables [dimensions.OPTION] with default, low and high, or choices",
        )
    given = table["dimensions"]
    if not given:
        raise ConfigurationError(f"{table.where}: nothing to tune", "expected tables [dimensions.OPTION]")
    dimensions, base = [], []
    for name, entry in given.items():
        own = Table(entry, f"{table.where}: [dimensions.{name}]", DIMENSION)
        dimension = _option_choice(name, own) if "choices" in own else _option_range(name, own)
        default = own["default"]
        if not dimension.contains(default):
            raise own.error("default", _searched(dimension))
        dimensions.append(dimension)
        base.append((name, default))
    for place, dimension in enumerate(dimensions):
        own = Table(given[dimension.name], f"{table.where}: [dimensions.{dimension.name}]", DIMENSION)
        needs = _needs(own, dimension.name, dimensions)
        dimensions[place] = replace(dimension, needs=needs or None)
    _refuse_circles(table.where, dimensions)
    constraints = _constraints(table, dimensions, dict(base))
    return Space(tuple(dimensions), tuple(base), external=True, constraints=constraints)


def _searched(dimension: Dimension) -> str:
    """The values of an option's dimension as a phrase for errors."""
    if dimension.choices:
        return f"one of {', '.join(format_toml(choice) for choice in dimension.choices)}"
    ends = f"from {format_toml(dimension.low)} to {format_toml(dimension.high)}"
    if dimension.is_whole:
        steps = "" if dimension.step == 1 else f", in steps of {dimension.step}"
        return f"a whole number {ends}{steps} (for decimals: low = {float(dimension.low)})"
    return f"a number {ends}" + (f", in steps of {format_toml(dimension.step)}" if dimension.step else "")


def _needs(table: Table, name: str, dimensions: Sequence[Dimension]) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    others = {dimension.name: dimension for dimension in dimensions if dimension.name != name}
    found = []
    for parent, value in table["needs"].items():
        if parent not in others:
            raise ConfigurationError(f"{table.where}: needs: {parent}, expected another one of [dimensions]")
        wanted = tuple(value) if isinstance(value, list) else (value,)
        if not wanted or not all(others[parent].contains(one) for one in wanted):
            raise ConfigurationError(
                f"{table.where}: needs: {parent} = {format_toml(value)}, expected {_searched(others[parent])}, or "
                "a list of such values"
            )
        found.append((parent, wanted))
    return tuple(found)


def _refuse_circles(where: str, dimensions: Sequence[Dimension]) -> None:
    parents = {dimension.name: [parent for parent, _ in dimension.needs or ()] for dimension in dimensions}
    for name in parents:
        above = set(parents[name])
        for _ in parents:
            above |= {parent for one in above for parent in parents[one]}
        if name in above:
            raise ConfigurationError(
                f"{where}: [dimensions.{name}]: needs: {name} depends on itself in the end", "remove one of these needs"
            )


def _constraints(table: Table, dimensions: Sequence[Dimension], base: Mapping[str, Value]) -> tuple[str, ...]:
    ranges = [dimension.name for dimension in dimensions if not dimension.choices]
    for one in table["constraints"]:
        place = f"{table.where}: constraints: {one!r}"
        try:
            names = names_in(one)
        except ValueError:
            raise ConfigurationError(f"{place}, expected {GRAMMAR}") from None
        unknown = next((name for name in names if name not in ranges), None)
        if unknown is not None or not names:
            raise ConfigurationError(
                f"{place}: {f'no range of {unknown!r}' if unknown else 'no name in it'}",
                f"expected {' or '.join(ranges)}",
            )
        if not holds(one, base):
            told = ", ".join(f"{name} = {format_toml(base[name])}" for name in names)
            raise ConfigurationError(f"{place} does not hold for the base itself ({told})", "change one of them")
    return tuple(table["constraints"])


def _option_range(name: str, table: Table) -> Dimension:
    """The range of an option: whole numbers if ``low``, ``high`` and ``step`` are, otherwise decimal numbers."""
    low, high, step = table["low"], table["high"], table.get("step")
    if not any(isinstance(table.data.get(key), float) for key in ("low", "high", "step")):
        whole = Table({key: table.data[key] for key in RANGE if key in table}, table.where, RANGE)
        return _checked_range(name, whole["low"], whole["high"], "linear", whole)
    if low >= high:
        raise ConfigurationError(f"{table.where}: low = {low:g} and high = {high:g}, expected low below high")
    scale = table.get("scale", "linear")
    if scale == "log" and (low <= 0 or step):
        raise ConfigurationError(f"{table.where}: scale = 'log' needs low above 0 and no step", "use 'linear'")
    steps = (high - low) / step if step else 0.0
    if abs(steps - round(steps)) > STEP_PRECISION or (step and steps < 1):
        raise table.error("step", f"a divisor of {high - low:g} (high - low)")
    return Dimension(name, low, high, step or 0.0, scale, **_spsa_keys(table))


def _spsa_keys(table: Table) -> dict[str, Any]:
    return {key: table.get(key) for key in SPSA_KEYS}


def _refuse_range(table: Table) -> None:
    for key in RANGE:
        if key in table:
            raise ConfigurationError(f"{table.where}: {key} is for a range", "use choices alone")


def _option_choice(name: str, table: Table) -> Dimension:
    _refuse_range(table)
    choices = table["choices"]
    if len({str(choice) for choice in choices}) < len(choices):
        raise table.error("choices", table.schema["choices"].right_value)
    if not all(isinstance(choice, bool | int | str) for choice in choices):
        raise table.error("choices", "texts, whole numbers, true or false")
    return Dimension(name, choices=tuple(choices))


def _dimension(row: Parameter, table: Table) -> Dimension:
    if "choices" in table or row.kind != "integer":
        return _choice(row, table)
    if not row.tuning and not ("low" in table and "high" in table):
        raise ConfigurationError(f"{table.where}: {row.name} has no range of its own for tuning", "give low and high")
    low, high = row.tuning or (None, None)
    low = row.check(table.data.get("low", low), f"{table.where}: low")
    high = row.check(table.data.get("high", high), f"{table.where}: high")
    assert isinstance(low, int)
    assert isinstance(high, int)
    return _checked_range(row.name, low, high, row.scale, table)


def _checked_range(name: str, low: int, high: int, default_scale: str, table: Table) -> Dimension:
    if low >= high:
        raise ConfigurationError(f"{table.where}: low = {low} and high = {high}, expected low below high")
    scale = table.get("scale", default_scale)
    step = table.get("step", 1, high=high - low)
    if scale == "log" and (low < 1 or step != 1):
        raise ConfigurationError(f"{table.where}: scale = 'log' needs low of at least 1 and no step", "use 'linear'")
    if (high - low) % step:
        raise table.error("step", f"a divisor of {high - low} (high - low)")
    if (high - low) // step > MAX_VALUES:
        raise table.error("step", f"one that leaves at most {MAX_VALUES} values")
    return Dimension(name, low, high, step, scale, **_spsa_keys(table))


def _choice(row: Parameter, table: Table) -> Dimension:
    _refuse_range(table)
    choices = table.get("choices", list(row.tuning or row.legal))
    checked = tuple(row.check(choice, f"{table.where}: choices") for choice in choices)
    if len(set(checked)) < len(checked):
        raise table.error("choices", table.schema["choices"].right_value)
    return Dimension(row.name, choices=checked)


def _refuse_without_effect(
    where: str, dimensions: Sequence[Dimension], base: Mapping[str, Value], limits: Limits
) -> None:
    """Raise ``ConfigurationError`` if a dimension has no effect in the base, whatever the other dimensions' values."""
    names = {dimension.name for dimension in dimensions}
    for dimension in dimensions:
        hopeful = dict(base)
        name: str | None = dimension.name
        while name is not None and (needed := BY_NAME[name].depends_on) is not None:
            parent, wanted = needed
            searched = next((other for other in dimensions if other.name == parent), None)
            if (
                parent in names
                and searched is not None
                and (right := {value for value in wanted if searched.contains(value)})
            ):
                hopeful[parent] = next(value for value in wanted if value in right)
            name = parent
        reason = why_without_effect(dimension.name, hopeful, limits)
        if reason is not None:
            raise ConfigurationError(
                f"{where}: tuning {dimension.name} would change nothing: {reason}", "change that, or leave it out"
            )
