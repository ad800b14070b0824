"""What all games of a study or an ablation share, and how a set of parameters becomes a player of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.records import BUILTIN, GameConditions, PlayerSpec, digest_of
from arena.spec import MAX_NAME_LENGTH, MAX_SEED, read_adjudication, read_rules
from engine.errors import UserError
from engine.rules import Adjudication, Rules
from engine.settings.configuration import ConfigurationError, Table
from engine.settings.limits import GRAMMAR, Limits
from engine.settings.parameters import BY_NAME, Value, by_own_names, format_value, is_active, resolve
from engine.settings.presets import load_preset, preset_name

CONDITION_KEYS = (
    "name", "description", "game", "base", "set", "seed", "limit", "openings", "rules", "adjudication",
)  # fmt: skip
"""The keys that specifications of studies and ablations have in common."""

DIGEST_DIGITS = 8
"""Hexadecimal digits that stand for the rest of a name that is too long."""


@dataclass(frozen=True)
class Conditions:
    """Game, base, limits, rules and openings of a run."""

    name: str
    game: str
    base_name: str
    """Name of the preset that is the base."""
    base: tuple[tuple[str, Value], ...]
    """Every parameter of the base with its value, in the table's order."""
    limits: Limits
    """Of every game, unless said otherwise."""
    openings: str
    """The opening suite: a shipped name or a file."""
    seed: int
    rules: Rules
    adjudication: Adjudication
    source: str
    """The file it was read from."""

    @property
    def base_values(self) -> dict[str, Value]:
        """Every parameter of the base."""
        return dict(self.base)

    @property
    def of_games(self) -> GameConditions:
        """What the arena has to know of them."""
        return GameConditions(self.game, self.rules, self.adjudication, self.seed)

    def differences(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The parameters in which ``values`` differ from the base."""
        base = self.base_values
        return {name: value for name, value in values.items() if value != base[name]}

    def player(self, values: Mapping[str, Value], limits: Limits | None = None) -> PlayerSpec:
        """The player with these values (the base's where they are silent), named by its differences from the base.

        Equal sets have equal names, so that their games are the same games.
        """
        changed = self.differences(values)
        complete = self.base_values | dict(values)
        name = short_name(describe(changed)) if changed else self.base_name
        return PlayerSpec(name, BUILTIN, limits or self.limits, parameters=tuple(complete.items()))

    def content(self) -> dict[str, Any]:
        """What decides the games, as plain data by the keys of the file."""
        return {
            "game": self.game,
            "base": dict(self.base),
            "limit": str(self.limits),
            "seed": self.seed,
            "rules": asdict(self.rules),
            "adjudication": self.adjudication.content(),
        }


def describe(overrides: Mapping[str, Value]) -> str:
    """Parameters and values in words: ``null_depth 4, history off``."""
    return ", ".join(f"{name} {format_value(value)}" for name, value in overrides.items())


def short_name(text: str) -> str:
    """A text as a player's name: what is too long ends in a digest of the whole."""
    return shortened(text, MAX_NAME_LENGTH)


def shortened(text: str, longest: int) -> str:
    """A text of at most ``longest`` characters: what is too long ends in a digest of the whole."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - DIGEST_DIGITS - 2]}… {digest_of(text)[:DIGEST_DIGITS]}"


def read_conditions(table: Table, default_name: str) -> Conditions:
    """Read the common keys of a specification. Raises ``UserError`` with one line for the first mistake."""
    from engine.games import GAMES

    game = table.choice("game", GAMES, GAMES[0])
    base_name = table.text("base", "default", "an engine preset's name or file")
    try:
        overrides = load_preset(base_name, game, Path(table.where).parent)
    except ConfigurationError as error:
        raise ConfigurationError(f"{table.where}: base: {error}") from None
    own = by_own_names(table.mapping("set"), f"{table.where}: [set]")
    resolve(own, f"{table.where}: [set]", game)
    values = resolve({**overrides, **own}, table.where, game)
    openings = table.text("openings", game, "an opening suite's name or file")
    beside = Path(table.where).parent / openings
    return Conditions(
        name=_folder_name(table, default_name),
        game=game,
        base_name=preset_name(base_name) + (f" with {describe(own)}" if own else ""),
        base=tuple(values.items()),
        limits=read_limits(table),
        openings=str(beside) if not Path(openings).is_file() and beside.is_file() else openings,
        seed=table.whole("seed", 0, MAX_SEED, 1),
        rules=read_rules(table),
        adjudication=read_adjudication(table, game),
        source=table.where,
    )


def read_limits(table: Table, default: Limits | None = None, key: str = "limit") -> Limits:
    """The value of ``key``; required without a default."""
    if default is not None and key not in table:
        return default
    text = table.text(key, expected=GRAMMAR)
    try:
        return Limits.parse(text)
    except UserError as error:
        raise ConfigurationError(f"{table.where}: {error}") from None


def _folder_name(table: Table, default: str) -> str:
    name: str = table.text("name", default, "a name for the results' folder")
    if not re.fullmatch(r"[\w.+ -]+", name) or name.startswith(".") or len(name) > MAX_NAME_LENGTH:
        raise table.error("name", f"at most {MAX_NAME_LENGTH} letters, digits, '-', '_', '+', '.' or spaces")
    return name


# Which parameters have an effect


def why_without_effect(name: str, values: Mapping[str, Value], limits: Limits) -> str | None:
    """The reason in words why a parameter changes nothing here, or ``None``."""
    if BY_NAME[name].acts_on_clock_only and limits.clock_ms is None:
        return f"it has an effect only on a clock, and the limit is {limits}"
    needed = BY_NAME[name].depends_on
    if needed is None or is_active(name, values):
        return None
    parent, wanted = needed
    if values[parent] not in wanted:
        remedy = " or ".join(format_value(value) for value in wanted)
        return f"it has an effect only if {parent} is {remedy}, which is {format_value(values[parent])}"
    return why_without_effect(parent, values, limits)
