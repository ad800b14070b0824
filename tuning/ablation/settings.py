"""Settings in an ablation's tables: parameters of the built-in engine, or options and builds of an external one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import (
    Parameter,
    Value,
    find,
    find_all,
    format_value,
    parameters_of,
    resolve,
    why_without_effect,
)
from elolab.engine.settings.presets import load_preset, preset_name
from elolab.engine.settings.schema import TEXT, Schema, Table
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.ablation.levels import Level, level_of
from elolab.tuning.conditions import Conditions, value_text
from elolab.tuning.external_engine import BUILD, ExternalEngine, placeholders_of
from elolab.tuning.keys.ablation import BARE, VALUES_OF_OPTION, VALUES_OF_PARAMETER

DEFAULT_LEVEL = "default"
"""The level of an option that is not set: the engine uses its own default."""


@dataclass(frozen=True)
class Additions:
    """An engine without optional features (the bare engine), and variants that each add one feature to it."""

    name: str
    """Name of the bare engine."""
    bare: Mapping[str, Value]
    variants: tuple[tuple[str, Mapping[str, Value]], ...]
    """For each added feature its name, and all settings of the bare engine with this feature."""


class Settings(Protocol):
    """Interface through which an ablation reads, names and disables an engine's settings.

    Methods raise ``UserError`` for mistakes in the specification.
    """

    noun: str
    """Noun for a setting in messages, such as ``parameter``."""
    values: Schema
    """Declared keys of a table ``[[values]]``. The value of the key called ``noun`` is the setting's name."""

    def read(self, given: Mapping[str, Any], where: str) -> dict[str, Value]:
        """Validate a table of settings and replace aliases; the keys of the result are the settings' names."""

    def levels(self, given: Mapping[str, Any], where: str) -> dict[str, tuple[Value, Value]]:
        """Validate a table that has two values (low, high) for each setting.

        The keys of the result are the settings' names, with aliases replaced.
        """

    def level(self, table: Table, value: Any, names: Mapping[str, str], where: str) -> Level:
        """The level for ``value``, one of the values that a table ``[[values]]`` lists for a setting.

        ``names`` maps values, as text, to display names. ``where`` is the place of the table, for errors.
        """

    def reference(self, table: Table, base: Mapping[str, Value]) -> Any:
        """The base's value of the setting that a ``[[values]]`` table names; ``None`` if unknown.

        This value is the default of the table's key ``reference``.
        """

    def features(self, table: Table, base: Mapping[str, Value]) -> list[tuple[str, Value]]:
        """The settings that the key ``features`` lists, each with the value that disables the feature."""

    def additions(self, table: Table, base: Mapping[str, Value]) -> Additions:
        """The bare engine and the variants that a table ``[[add_one_in]]`` compares."""

    def refuse_without_effect(
        self, where: str, variant: Mapping[str, Value], reference: Mapping[str, Value], limits: Limits
    ) -> None:
        """Raise ``UserError`` if variant and reference would play identical games although their settings differ."""


class BuiltinSettings:
    """``Settings`` of the built-in engine: its parameters."""

    noun = "parameter"
    values = VALUES_OF_PARAMETER

    def __init__(self, conditions: Conditions) -> None:
        self._game, self._beside = conditions.game, Path(conditions.source).parent

    def read(self, given: Mapping[str, Any], where: str) -> dict[str, Value]:
        return {row.name: row.check(given[word], where) for word, row in self._rows(given, where).items()}

    def levels(self, given: Mapping[str, Any], where: str) -> dict[str, tuple[Value, Value]]:
        rows = self._rows(given, where)
        return {
            rows[word].name: (rows[word].check(low, where), rows[word].check(high, where))
            for word, (low, high) in _pairs_of_values(given, where, {word: row.name for word, row in rows.items()})
        }

    def level(self, table: Table, value: Any, names: Mapping[str, str], where: str) -> Level:
        return level_of(self._row(table), value, names, where, self._game)

    def reference(self, table: Table, base: Mapping[str, Value]) -> Any:
        return base[self._row(table).name]

    def _row(self, table: Table) -> Parameter:
        word = table[self.noun]
        return self._rows([word], f"{table.where}: {self.noun}")[word]

    def features(self, table: Table, base: Mapping[str, Value]) -> list[tuple[str, Value]]:
        words = _feature_words(table)
        rows = find_all(words, f"{table.where}: features", _features_of(self._game))
        return [feature_left_out(rows[word].name, base, table.where, self._game) for word in words]

    def additions(self, table: Table, base: Mapping[str, Value]) -> Additions:
        name = table.get("bare", BARE, kinds=(TEXT,), expected="an engine preset's name or file")
        try:
            overrides = load_preset(name, self._game, self._beside)
        except ConfigurationError as error:
            raise ConfigurationError.at(f"{table.where}: bare", error) from None
        own = self.read(table["set"], f"{table.where}: set")
        bare = resolve({**overrides, **own}, f"{table.where}: bare", self._game)
        variants = []
        for feature, _ in self.features(table, base):
            if bare[feature] == base[feature]:
                raise ConfigurationError(
                    f"{table.where}: features: {feature} is {format_value(bare[feature])} in {name} too, so it cannot "
                    "be added to it"
                )
            variants.append((feature, bare | {feature: base[feature]}))
        return Additions(preset_name(name), bare, tuple(variants))

    def refuse_without_effect(
        self, where: str, variant: Mapping[str, Value], reference: Mapping[str, Value], limits: Limits
    ) -> None:
        reasons = {}
        for name in (name for name, value in variant.items() if value != reference[name]):
            one = why_without_effect(name, variant, limits)
            reasons[name] = one and why_without_effect(name, reference, limits)
        if all(reasons.values()):
            name, reason = next(iter(reasons.items()))
            raise ConfigurationError(f"{where}: {name} changes nothing: {reason}")

    def _rows(self, words: Iterable[str], where: str) -> dict[str, Parameter]:
        """The declared parameter for each of the given names.

        Raises ``UserError`` for an unknown name, or for a parameter of another game.
        """
        own = {row.name: row for row in parameters_of(self._game)}
        found = {}
        for word, row in find_all(words, where, own).items():
            if row.name not in own:
                raise ConfigurationError(f"{where}: {row.name} does not apply to {self._game}")
            found[word] = own[row.name]
        return found


class ExternalSettings:
    """``Settings`` of an external engine: its options, the placeholders in its command, and its builds."""

    noun = "option"
    values = VALUES_OF_OPTION

    def __init__(self, conditions: Conditions) -> None:
        assert conditions.external is not None
        self._conditions = conditions
        self._engine: ExternalEngine = conditions.external

    def read(self, given: Mapping[str, Any], where: str) -> dict[str, Value]:
        return self._engine.read(given, where)

    def levels(self, given: Mapping[str, Any], where: str) -> dict[str, tuple[Value, Value]]:
        pairs = dict(_pairs_of_values(given, where, {word: word for word in given}))
        lows = self.read({word: low for word, (low, _) in pairs.items()}, where)
        highs = self.read({word: high for word, (_, high) in pairs.items()}, where)
        return {name: (lows[name], highs[name]) for name in lows}

    def level(self, table: Table, value: Any, names: Mapping[str, str], where: str) -> Level:
        name = self._name(table)
        scale = table["scale"]
        if value is None:
            return Level(name, None, (), names.get(DEFAULT_LEVEL, DEFAULT_LEVEL), is_number=True, scale=scale)
        ((_, checked),) = self.read({name: value}, where).items()
        words = names.get(format_value(checked), "" if self._engine.is_option(name) or name != BUILD else str(checked))
        is_number = isinstance(checked, int) and not isinstance(checked, bool)
        if scale == "log" and not (is_number and int(checked) > 0):
            raise table.error("scale", "'linear', because some values are not whole numbers above 0")
        return Level(name, checked, ((name, checked),), words, is_number=is_number, scale=scale)

    def reference(self, table: Table, base: Mapping[str, Value]) -> Any:
        return base.get(self._name(table))

    def _name(self, table: Table) -> str:
        return self._engine.own_name(table[self.noun])

    def features(self, table: Table, base: Mapping[str, Value]) -> list[tuple[str, Value]]:
        given = table.get("features")
        if isinstance(given, Mapping) and len(given) >= table.schema["features"].least:
            pairs = list(given.items())
        else:
            pairs = [(word, False) for word in _feature_words(table)]
        found = []
        for word, without in pairs:
            ((name, value),) = self.read({word: without}, f"{table.where}: features").items()
            if base.get(name) == value:
                raise ConfigurationError(
                    f"{table.where}: features: {name} is {value_text(value)} in the base, so it cannot be left out"
                )
            found.append((name, value))
        return found

    def additions(self, table: Table, base: Mapping[str, Value]) -> Additions:
        features = self.features(table, base)
        given = table.data.get("bare", {})
        if not isinstance(given, Mapping):
            raise table.error("bare", "a table of name = value")
        bare = {**base, **(self.read(given, f"{table.where}: bare") or dict(features))}
        variants = []
        for name, _ in features:
            variant = {other: value for other, value in bare.items() if other != name}
            variant |= {name: base[name]} if name in base else {}
            if variant == bare:
                raise ConfigurationError(f"{table.where}: features: {name} is in the bare engine too")
            variants.append((name, variant))
        return Additions("bare", bare, tuple(variants))

    def refuse_without_effect(
        self, where: str, variant: Mapping[str, Value], reference: Mapping[str, Value], limits: Limits
    ) -> None:
        players = [self._conditions.player(values, limits) for values in (variant, reference)]
        one, other = ({**player.content(), "name": ""} for player in players)
        if one != other:
            return
        changed = [name for name in {**variant, **reference} if variant.get(name) != reference.get(name)]
        for name in changed:
            if name in self._engine.placeholders and name not in placeholders_of(self._engine.build(variant)):
                build = variant[BUILD]
                raise ConfigurationError(
                    f"{where}: {name} changes nothing: the command of the build {build!r} has no {{{name}}}"
                )
        raise ConfigurationError(f"{where}: both sides are the same program with the same options")


def settings_of(conditions: Conditions) -> Settings:
    """The object that handles settings of the specification's engine: ``BuiltinSettings`` or ``ExternalSettings``."""
    return BuiltinSettings(conditions) if conditions.external is None else ExternalSettings(conditions)


def _feature_words(table: Table) -> list[str]:
    features, declared = table.get("features"), table.schema["features"]
    if not isinstance(features, list) or len(features) < declared.least:
        raise table.error("features", declared.right_value)
    return [str(feature) for feature in features]


def _pairs_of_values(
    given: Mapping[str, Any], where: str, names: Mapping[str, str]
) -> list[tuple[str, tuple[Any, Any]]]:
    """The settings of the table ``given``, each with its low and its high value.

    ``names`` maps the table's keys to the names to show in errors. Raises ``ConfigurationError`` if a setting does not
    have two values.
    """
    for word, levels in given.items():
        if not isinstance(levels, list) or len(levels) != 2:
            raise ConfigurationError(f"{where}: {names[word]} = {format_toml(levels)}, expected a list of two values")
    return [(word, (levels[0], levels[1])) for word, levels in given.items()]


def feature_left_out(feature: str, base: Mapping[str, Value], where: str, game: str) -> tuple[str, Value]:
    """The parameter that controls a feature, and the value that disables the feature.

    Raises ``UserError`` for an unknown feature, with the nearest name, and for a feature that the base does not have.
    """
    row = find(feature, f"{where}: features", _features_of(game))
    value = row.off
    if value is None or row.name not in _features_of(game):
        raise ConfigurationError(
            f"{where}: {row.name} cannot be left out: it is not a feature of {game}",
            "use [[values]] to compare its values",
        )
    if base[row.name] == value:
        raise ConfigurationError(
            f"{where}: {row.name} is {format_value(value)} in the base, so it cannot be left out",
            "use [[values]] to switch it on",
        )
    return row.name, value


def _features_of(game: str) -> list[str]:
    """Names of the parameters that can be disabled in a game."""
    return [row.name for row in parameters_of(game) if row.off is not None]
