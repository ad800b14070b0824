"""External engines as the subject of a study or an ablation: their options, placeholders in commands, and builds.

A *setting* of such an engine is one of three things, distinguished by name: ``build`` selects one of several programs;
a placeholder ``{name}`` in a command is filled in; anything else is an option that the protocol sends. This module
starts no program; ``tuning.engine_check`` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from elolab.arena.keys.player import PROGRAM
from elolab.arena.player_spec import read_player
from elolab.arena.players.registry import PROTOCOLS, Protocol, protocol_named
from elolab.arena.records import PlayerSpec
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError, nearest
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.engine.settings.schema import COMPUTED, Table
from elolab.engine.settings.toml_values import format_toml

BUILD = "build"
"""Name of the setting that selects one of several builds."""
MAX_BUILD_NAME = 40
DEFAULT_PROTOCOL = "uci"
EXTERNAL_PROTOCOLS = tuple(name for name in PROTOCOLS if protocol_named(name).is_external)

CATALOGUE = "elolab.tuning.keys"
BUILD_PROGRAM = schema.declare(
    CATALOGUE, "engine", "build", PROGRAM, *(protocol_named(name).keys for name in EXTERNAL_PROTOCOLS)
)
"""Declared keys of an external program, for all protocols; ``read_player`` rejects keys of unused protocols."""
_NAMED = schema.declare(
    CATALOGUE, "engine", "engine",
    name=schema.text(default=COMPUTED, example="mine"),
    protocol=schema.choice(EXTERNAL_PROTOCOLS, default=DEFAULT_PROTOCOL, example="ucci"),
)  # fmt: skip
ENGINE = schema.declare(CATALOGUE, "engine", "engine", _NAMED, BUILD_PROGRAM)
BUILDS = schema.declare(
    CATALOGUE, "engine", "builds",
    others=schema.key(schema.TEXT, schema.TABLE, schema=BUILD_PROGRAM, example="./mine-new", message="build"),
)  # fmt: skip

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{([A-Za-z_]\w*)\}")
"""Matches a placeholder ``{name}``; the doubled ``{{name}}`` is the literal text ``{name}``."""


@dataclass(frozen=True)
class ExternalEngine:
    """An external engine to tune or compare, before its settings are applied."""

    name: str
    """Name of the program, or the common name of its builds."""
    builds: tuple[tuple[str, PlayerSpec], ...]
    """Pairs of a build's name and its program, the base's build first.

    Programs have their own options and unfilled placeholders. Without ``[builds]`` there is one program with an empty
    name.
    """
    options: tuple[tuple[str, Value], ...]
    """Pairs of name and value: options that every build gets, unless a setting overrides them."""

    @property
    def has_builds(self) -> bool:
        """Whether there are several builds, so that ``build`` is a setting."""
        return bool(self.builds[0][0])

    @property
    def build_names(self) -> tuple[str, ...]:
        """Names of the builds: the possible values of ``build``."""
        return tuple(name for name, _ in self.builds if name)

    @property
    def has_own_level(self) -> bool:
        """Whether the engine can play at its own level, without a search limit."""
        return protocol_named(self.builds[0][1].protocol).has_own_level

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """Names of all placeholders in the builds' commands and in the lines that elolab sends to the builds."""
        return frozenset(name for _, player in self.builds for name in placeholders_of(player))

    def build(self, values: Mapping[str, Value]) -> PlayerSpec:
        """The program that the setting ``build`` selects; the first program if ``values`` lacks the setting."""
        return dict(self.builds)[str(values.get(BUILD, self.builds[0][0]))]

    def player(self, values: Mapping[str, Value], name: str, limits: Limits) -> PlayerSpec:
        """Make the player with these settings; ``values`` must contain every placeholder of the command."""
        build = self.build(values)
        texts = {setting: setting_text(value) for setting, value in values.items()}
        options = tuple((setting, text) for setting, text in texts.items() if self.is_option(setting))
        return replace(
            build,
            name=name,
            limits=limits,
            command=tuple(word for word in (_filled(word, texts) for word in build.command) if word),
            options=(*build.options, *options),
            protocol_keys=tuple(
                (key, tuple(_filled(line, texts) for line in value) if isinstance(value, tuple) else value)
                for key, value in build.protocol_keys
            ),
        )

    def is_option(self, setting: str) -> bool:
        """Whether a setting is an option of the engine, and neither the build nor a placeholder."""
        return setting not in self.placeholders and not (self.has_builds and setting == BUILD)

    def own_name(self, word: str) -> str:
        """The name under which a setting is stored.

        For an option in ``[engine]`` this is the file's spelling, whatever the case of ``word``; otherwise ``word``.
        """
        if not self.is_option(word):
            return word
        return next((name for name, _ in self.options if name.lower() == word.lower()), word)

    def check(self, name: str, value: object, where: str) -> Value:
        """Validate a setting and return its value; a float becomes a text.

        Raises ``ConfigurationError`` if the value or the setting is not allowed; ``where`` begins the message.
        """
        if isinstance(value, float):
            value = str(value)
        if not isinstance(value, bool | int | str) or "\n" in f"{name}{value}":
            raise ConfigurationError(f"{where}: {name} = {format_toml(value)}, expected a text, number, true or false")
        if self.has_builds and name == BUILD and value not in self.build_names:
            expected = " or ".join(map(repr, self.build_names))
            raise ConfigurationError(
                f"{where}: build = {format_toml(value)}, expected {expected}{nearest(str(value), self.build_names)}"
            )
        if self.is_option(name):
            self._check_option(name, where)
        return value

    def _check_option(self, name: str, where: str) -> None:
        for build, player in self.builds:
            protocol = protocol_named(player.protocol)
            if not protocol.has_options:
                places = " or ".join(f"{{{name}}} in {key}" for key in ("command", *_line_keys(player)))
                known = nearest(name, self.placeholders | ({BUILD} if self.has_builds else set()))
                raise ConfigurationError(
                    f"{where}: {name} is not a setting: {protocol.title} has no options",
                    f"expected the placeholder {places}{known}",
                )
            if any(own.lower() == name.lower() for own, _ in player.options):
                raise ConfigurationError(
                    f"{where}: {name} belongs to the build {build!r} ([builds.{build}])", "remove one of the two"
                )

    def read(self, given: Mapping[str, Any], where: str) -> dict[str, Value]:
        """Validate a table of settings. The keys of the result are the settings' own names (see ``own_name``).

        Raises ``ConfigurationError`` for the first mistake.
        """
        found: dict[str, Value] = {}
        for word, value in given.items():
            name = self.own_name(word)
            twin = next((other for other in found if other.lower() == name.lower() and self.is_option(other)), None)
            if twin is not None and self.is_option(name):
                raise ConfigurationError(f"{where}: {twin} and {word} are the same option", "give one")
            found[name] = self.check(name, value, where)
        return found

    def refuse_unfilled(self, values: Mapping[str, Value], where: str, tables: str) -> None:
        """Raise ``ConfigurationError`` if a placeholder has no value.

        ``tables`` names the tables of the file that could give the value; ``where`` begins the message.
        """
        for build, player in self.builds:
            missing = next((name for name in placeholders_of(player) if name not in values), None)
            if missing is not None:
                place = f"{where}: [builds.{build}]" if build else f"{where}: [engine]"
                raise ConfigurationError(
                    f"{place}: nothing fills {{{missing}}}",
                    f"give {missing} a value in {tables} ({{{{{missing}}}}} is the text itself)",
                )

    def content(self) -> dict[str, Any]:
        """Each build's plain data: what determines its games, apart from the settings."""
        parts = {build or "engine": player.content() for build, player in self.builds}
        return {
            name: {key: value for key, value in part.items() if key not in ("name", "limits")}
            for name, part in parts.items()
        }


def placeholders_of(player: PlayerSpec) -> tuple[str, ...]:
    """Names of the placeholders in a player's command and in the lines sent to the player, without repetitions."""
    texts = [*player.command, *(line for key in _line_keys(player) for line in player.protocol_key(key, ()))]
    return tuple(dict.fromkeys(match[2] for text in texts for match in _PLACEHOLDER.finditer(text) if match[2]))


def setting_text(value: Value) -> str:
    """A setting's value as the text that an engine receives, such as ``true`` for a bool."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", text)


def _line_keys(player: PlayerSpec) -> tuple[str, ...]:
    """Names of the protocol's keys whose values are lines to send to the engine."""
    return tuple(key for key, value in player.protocol_keys if isinstance(value, tuple))


# Reading a specification


def is_external(table: Table) -> bool:
    """Whether a specification is about an external engine instead of the built-in one."""
    return "engine" in table or "builds" in table


def protocol_of(table: Table) -> Protocol:
    """The protocol that a specification's ``[engine]`` names, or the default."""
    own = table.table("engine")
    own.get("name")
    return protocol_named(own["protocol"])


def read_external(table: Table, game: str, limits: Limits) -> ExternalEngine:
    """Read the tables ``[engine]`` and ``[builds]``; ``limits`` are the search limits of the programs.

    Raises ``UserError`` with one line for the first mistake.
    """
    protocol = protocol_of(table)
    common: dict[str, Any] = {**table.data.get("engine", {}), "protocol": protocol.name}
    options = common.pop("options", {}) if protocol.has_options else {}
    if not isinstance(options, Mapping):
        raise ConfigurationError(
            f"{table.where}: [engine]: options = {format_toml(options)}, expected a table of name = value"
        )
    name = common.pop("name", "")
    if "builds" in table:
        builds = tuple(
            (name, _build(common, entry, f"{table.where}: [builds.{name}]", game, limits))
            for name, entry in _build_entries(table)
        )
    else:
        builds = (("", read_player(common, f"{table.where}: [engine]", game, limits)),)
    engine = ExternalEngine(name or builds[0][1].name, builds, ())
    return replace(engine, options=tuple(engine.read(options, f"{table.where}: [engine]: options").items()))


def _build_entries(table: Table) -> list[tuple[str, Any]]:
    builds = table["builds"]
    if len(builds) < 2:
        raise table.error(
            "builds", "a table of at least two builds, name = command", "for one build give [engine] command"
        )
    if "command" in table.table("engine"):
        raise ConfigurationError(f"{table.where}: [engine]: command is given by [builds] too", "remove one of the two")
    for name in builds:
        if not name.strip() or not name.isprintable() or len(name) > MAX_BUILD_NAME:
            raise ConfigurationError(
                f"{table.where}: [builds]: {name!r}, expected a name of at most {MAX_BUILD_NAME} printable characters"
            )
    return list(builds.items())


def _build(common: Mapping[str, Any], entry: object, where: str, game: str, limits: Limits) -> PlayerSpec:
    """Read one entry of ``[builds]``: a command, or a table whose keys replace the keys ``common`` of ``[engine]``."""
    own = dict(entry) if isinstance(entry, Mapping) else {"command": entry}
    Table(own, where, BUILD_PROGRAM)
    return read_player({**common, **own}, where, game, limits)


def read_settings(table: Table, engine: ExternalEngine) -> dict[str, Value]:
    """The base's settings, by name: the first build, the options in ``[engine]``, and the table ``[set]``."""
    build: dict[str, Value] = {BUILD: engine.builds[0][0]} if engine.has_builds else {}
    given = engine.read(table["set"], f"{table.where}: [set]")
    known = {name.lower() for name, _ in engine.options}
    repeated = next((name for name in given if name.lower() in known), None)
    if repeated is not None:
        raise ConfigurationError(f"{table.where}: [set]: {repeated} is among the options of [engine] too", "remove one")
    return {**build, **dict(engine.options), **given}
