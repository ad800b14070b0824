"""The levels (values of one parameter) that ``[[values]]`` of an ablation file compares, and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elolab.engine.settings.configuration import ConfigurationError, nearest
from elolab.engine.settings.parameters import BY_NAME, Parameter, Value, format_value
from elolab.engine.settings.reference import unit_in
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.conditions import describe, value_text

OFF = "off"
"""In a specification, the value that switches off the feature on which a parameter depends."""


@dataclass(frozen=True)
class Level:
    """One value of a setting in a comparison.

    ``value`` is ``None`` if the feature is switched off, or if an external engine uses its default.
    """

    parameter: str
    value: Value | None
    settings: tuple[tuple[str, Value], ...]
    """Settings that replace the base's settings to give the parameter this value."""
    name: str = ""
    """Display name from the specification; empty if the specification gives none."""
    is_number: bool = False
    """Whether the parameter is an integer; charts then draw the values along an axis."""
    unit: str = ""
    scale: str = "linear"
    """Spacing of the axis: ``linear`` or ``log``."""

    @property
    def full(self) -> str:
        """The level's name on its own: the display name, else for example ``null_depth 2`` or ``null_move off``."""
        if self.name:
            return self.name
        return describe(dict(self.settings))

    @property
    def short(self) -> str:
        """The level's name in a list of levels of one parameter: the display name, else ``2`` or ``null_move off``."""
        return self.name or (self.full if self.value is None else value_text(self.value))

    @property
    def tick(self) -> str:
        """The level's name on an axis that is labelled with the parameter: the display name, else ``2`` or ``off``."""
        return self.name or (OFF if self.value is None else value_text(self.value))


@dataclass(frozen=True)
class CurvePoint:
    """A point of the curve of strength against a parameter's value: one level, compared with the reference level."""

    curve: str
    """The label of the curve; empty if the curve has no label."""
    level: Level
    reference: Level


def level_of(row: Parameter, value: Any, names: Mapping[str, str], where: str, game: str) -> Level:
    """The level of a parameter for a ``value`` from a specification; ``row`` declares the parameter.

    ``names`` maps values, as text, to display names. Raises ``ConfigurationError`` if the value is not allowed;
    ``where`` begins the message.
    """
    axis = (row.kind == "integer", unit_in(game, row), row.scale)
    if value == OFF and OFF not in row.legal and row.kind != "switch":
        return Level(row.name, None, ((_switch_of(row, where), False),), names.get(OFF, ""), *axis)
    checked = row.check(value, where)
    return Level(row.name, checked, ((row.name, checked),), names.get(format_value(checked), ""), *axis)


def switched_on(base: Mapping[str, Value], level: Level, other: Level) -> dict[str, Value]:
    """The settings of one side: the base's settings, overridden by the settings of ``level``.

    ``other`` is the other side's level. If ``other`` switches a feature off, this side switches the feature on.
    """
    on = {name: True for name, _ in other.settings} if other.value is None else {}
    return {**base, **on, **dict(level.settings)}


def read_names(given: Mapping[str, Any], levels: Iterable[Any], where: str) -> dict[str, str]:
    """Check the table ``names`` of a specification: each key is a level as text, its value the level's display name.

    Raises ``ConfigurationError`` for a key that is not in ``levels``, and for a name that cannot be printed.
    """
    written = [level if isinstance(level, str) else format_value(level) for level in levels if level is not None]
    for key, words in given.items():
        if key not in written:
            hint = nearest(key, written)
            problem = f"{where}: names: {key!r} is neither a value nor the reference{hint}"
            raise ConfigurationError(problem, "" if hint else f"expected one of {', '.join(written)}")
        if not isinstance(words, str) or not words.strip() or not words.isprintable():
            raise ConfigurationError(f"{where}: names: {key} = {format_toml(words)}, expected printable characters")
    return dict(given)


def _switch_of(row: Parameter, where: str) -> str:
    parent = row.depends_on[0] if row.depends_on is not None else None
    if parent is None or BY_NAME[parent].kind != "switch":
        raise ConfigurationError(f"{where}: {row.name} cannot be switched off")
    return parent
