"""Presets of the built-in engine: named sets of parameters in ``configs/engines/NAME.toml``, one section for each game.

A preset lists the differences from the defaults. A preset with ``complete = true``, such as an engine from the
literature, switches off every technique that it does not name, including techniques that are added to the engine later.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

from elolab.engine.games import GAMES
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError, find_config, read_toml
from elolab.engine.settings.parameters import by_canonical_name, completed_settings, resolve, row_named

DEFAULT_PRESET = "default"
"""Name of the preset with the engine's defaults. It applies to every game, even to one without a section."""


def is_parameter(name: str) -> bool:
    """Whether ``name`` is a parameter's name or alias, in any spelling."""
    return row_named(name) is not None


SETTINGS = schema.declare(
    "elolab.engine",
    "preset_key",
    "settings",
    others=schema.key(schema.VALUE, default=schema.COMPUTED, example=3, message="parameter"),
    holds=is_parameter,
)
"""Schema of a table whose keys are engine parameters. The table of parameters validates their values."""
PRESET = schema.declare(
    "elolab.engine",
    "preset_key",
    "preset",
    description=schema.text(example="Without null moves.", default=None),
    complete=schema.switch(),
    **{game: schema.table(SETTINGS, example={"killers": 0}) for game in GAMES},
)
"""Schema of a file that defines a preset."""


def preset_name(name_or_path: str) -> str:
    """The preset's name: ``name_or_path`` without folder and ``.toml``. A name may contain dots (``xqwlight-0.3``)."""
    return PurePath(name_or_path).name.removesuffix(".toml")


def load_preset(name_or_path: str, game: str, beside: Path | None = None) -> dict[str, Any]:
    """Load a preset: returns the parameters that differ from the game's defaults, by name.

    For a complete preset, the result includes the parameters that switch techniques off. ``beside`` is an additional
    folder to search. Raises ``UserError`` if there is no such preset or section, or if a parameter or value is wrong.
    """
    path = find_config("engines", name_or_path, beside)
    table = schema.Table(read_toml(path), str(path), PRESET, kind="engines")
    table["description"]  # only checked to be a text
    if game not in table and preset_name(name_or_path) != DEFAULT_PRESET:
        raise ConfigurationError(
            f"{path}: no section [{game}]", f"add one (it may be empty) to use the preset for {game}"
        )
    overrides = by_canonical_name(table[game], f"{path}: [{game}]")
    resolve(overrides, f"{path}: [{game}]", game)
    return completed_settings(overrides, game) if table["complete"] else overrides
