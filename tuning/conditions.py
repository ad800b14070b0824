"""Conditions common to all games of a tuning study or an ablation, and the players for sets of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from elolab.arena.keys.engines_file import beside_or_here
from elolab.arena.play.estimates import depends_on_speed
from elolab.arena.player_spec import MAX_NAME_LENGTH, read_limits
from elolab.arena.players.registry import check_player
from elolab.arena.records import BUILTIN, GameConditions, PlayerSpec, digest_of
from elolab.arena.tournament_reader import folder_name, read_adjudication, read_rules
from elolab.arena.tournament_spec import RUN, RunSpec
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.limits import GRAMMAR, Limits
from elolab.engine.settings.parameters import Value, by_canonical_name, format_value, resolve
from elolab.engine.settings.presets import DEFAULT_PRESET, is_parameter, load_preset, preset_name
from elolab.engine.settings.schema import Table
from elolab.tuning.external_engine import (
    BUILD,
    BUILDS,
    CATALOGUE,
    ENGINE,
    ExternalEngine,
    is_external,
    protocol_of,
    read_external,
    read_settings,
)

EMPTY = '""'
"""Text shown in place of an empty value: a pair of quotation marks."""

DIGEST_DIGITS = 8
"""Number of hexadecimal digits in the digest at the end of a shortened name."""


SETTINGS = schema.declare(
    CATALOGUE, "conditions", "set",
    others=schema.key(schema.VALUE, default=schema.COMPUTED, example=3, message="setting"),
    holds=is_parameter,
)  # fmt: skip
CONDITIONS = schema.declare(
    CATALOGUE, "conditions", "conditions", RUN,
    base=schema.text(default=DEFAULT_PRESET, example="fenon", expected="an engine preset's name or file"),
    set=schema.table(SETTINGS, example={"null_depth": 3}),
    limit=schema.text(example="nodes=1000", expected=GRAMMAR),
    engine=schema.table(ENGINE),
    builds=schema.table(BUILDS, example={"old": "./mine-1.0", "new": "./mine-1.1"}),
)  # fmt: skip
"""Declared TOML keys that the files of tuning studies and of ablations have in common."""


@dataclass(frozen=True, kw_only=True)
class Conditions(RunSpec):
    """Game, base settings, default search limits, rules and openings of a run."""

    base_name: str
    """Displayed name of the base settings: a preset and its changes, or the external engine or build."""
    base: tuple[tuple[str, Value], ...]
    """Base settings as pairs of name and value: every engine parameter in the order of the parameter table.

    For an external engine, these are only the settings that the file gives.
    """
    limits: Limits
    """Search limits of the players, unless a player has limits of its own."""
    external: ExternalEngine | None = None
    """The external engine whose settings vary; ``None`` if the built-in engine plays."""

    @property
    def base_values(self) -> dict[str, Value]:
        """The base settings, by name."""
        return dict(self.base)

    @property
    def of_games(self) -> GameConditions:
        """The part of the conditions that the arena needs, as its ``GameConditions``."""
        return GameConditions(self.game, self.rules, self.adjudication, self.seed)

    def differences(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The settings of ``values`` that differ from the base."""
        base = self.base_values
        return {name: value for name, value in values.items() if name not in base or value != base[name]}

    def player(self, values: Mapping[str, Value], limits: Limits | None = None) -> PlayerSpec:
        """Make the player with the settings ``values``; all other settings have the base's values.

        The player's name lists the differences from the base. Equal settings get equal names, so that they share stored
        games. ``limits`` replaces the limits of the conditions.
        """
        changed = self.differences(values)
        complete = self.base_values | dict(values)
        name = short_name(describe(changed)) if changed else self.base_name
        if self.external is not None:
            return self.external.player(complete, name, limits or self.limits)
        return PlayerSpec(name, BUILTIN, limits or self.limits, parameters=tuple(complete.items()))

    @property
    def own_level(self) -> bool:
        """Whether players can play without a search limit, at their own level: ``limit = "own"`` in the file."""
        return self.external is not None and self.external.has_own_level

    def unknown_speed(self, limits: Iterable[Limits]) -> tuple[str, ...]:
        """The external engine's name, as the only entry, if one of the limits is a number of nodes or a depth.

        The duration of games then depends on the engine's speed. Otherwise the tuple is empty.
        """
        return () if self.external is None or not any(map(depends_on_speed, limits)) else (self.external.name,)

    def check_limits(self, limits: Limits, where: str) -> None:
        """Raise ``UserError`` if an external engine does not support these limits; the engine is not started."""
        if self.external is not None:
            check_player(self.player({}, limits), self.game, where)

    def content(self) -> dict[str, Any]:
        """Everything that determines the games, as plain data with the keys of the file."""
        return {
            "game": self.game,
            **({} if self.external is None else {"engine": self.external.content()}),
            "base": dict(self.base),
            "limit": str(self.limits),
            "seed": self.seed,
            "rules": asdict(self.rules),
            "adjudication": self.adjudication.content(),
        }


def describe(overrides: Mapping[str, Value]) -> str:
    """Text that lists settings, such as ``null_depth 4, history off``."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in overrides.items())


def value_text(value: Value) -> str:
    """A value as text; an empty text is shown as ``EMPTY``."""
    return format_value(value) or EMPTY


def short_name(text: str) -> str:
    """Make a player's name from a text; a long name is truncated and ends in a digest of the whole text."""
    return shortened(text, MAX_NAME_LENGTH)


def shortened(text: str, longest: int) -> str:
    """Shorten a text to at most ``longest`` characters; a truncated text ends in a digest of the whole text."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - DIGEST_DIGITS - 2]}… {digest_of(text)[:DIGEST_DIGITS]}"


def read_conditions(table: Table, default_name: str) -> Conditions:
    """Read the keys ``CONDITIONS`` of a specification; ``default_name`` names the run if the file does not.

    Raises ``UserError`` with one line for the first mistake.
    """
    game = table["game"]
    if is_external(table):
        limits = read_limits(table, own_level=protocol_of(table).has_own_level)
        external, base_name, values = _external_base(table, game, limits)
    else:
        limits, external = read_limits(table), None
        base_name, values = _builtin_base(table, game)
    return table.read(
        Conditions,
        name=folder_name(table, default_name),
        base_name=base_name,
        base=tuple(values.items()),
        limits=limits,
        openings=beside_or_here(table.get("openings", game), table.where),
        rules=read_rules(table, game),
        adjudication=read_adjudication(table, game),
        source=table.where,
        external=external,
    )


def _builtin_base(table: Table, game: str) -> tuple[str, dict[str, Value]]:
    """Name and parameter values of the base: the preset ``base``, changed by the table ``[set]``."""
    base_name = table["base"]
    try:
        overrides = load_preset(base_name, game, Path(table.where).parent)
    except ConfigurationError as error:
        raise ConfigurationError.at(f"{table.where}: base", error) from None
    own = by_canonical_name(table["set"], f"{table.where}: [set]")
    resolve(own, f"{table.where}: [set]", game)
    values = resolve({**overrides, **own}, table.where, game)
    return preset_name(base_name) + (f" with {describe(own)}" if own else ""), values


def _external_base(table: Table, game: str, limits: Limits) -> tuple[ExternalEngine, str, dict[str, Value]]:
    """Read ``[engine]`` and ``[builds]``; return the engine, the base's name and the base's settings."""
    if "base" in table:
        raise ConfigurationError(
            f"{table.where}: base names a preset of the built-in engine",
            "remove it: an external engine starts from the options in [engine] and the values in [set]",
        )
    engine = read_external(table, game, limits)
    values = read_settings(table, engine)
    name = f"{BUILD} {values[BUILD]}" if engine.has_builds else f"{engine.name} as it is"
    return engine, short_name(name), values
