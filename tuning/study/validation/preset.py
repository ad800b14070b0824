"""The file of a validated recommendation: a preset, or for an external engine a tournament player."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elolab.arena.files import replace_file
from elolab.arena.play.store import Store
from elolab.arena.records import PlayerSpec
from elolab.arena.statistics.numbers import signed
from elolab.engine.settings.configuration import specification_word
from elolab.engine.settings.limits import OWN_LEVEL, Limits
from elolab.engine.settings.parameters import Value, resolve
from elolab.engine.settings.toml_values import toml_lines
from elolab.tuning.study.study_spec import TuningSpec
from elolab.tuning.study.validation.validation_games import Verdict

PRESET_METADATA = "tuning preset"
"""Key in the store's metadata for the path of the file that holds the recommendation."""
HEADING = "# Written by elolab tune "
"""Beginning of the first line of a file that a study has written. Only such files may be overwritten."""


def write_preset(engine: str, spec: TuningSpec, directory: Path, values: Mapping[str, Value], verdict: Verdict) -> Path:
    """Write a validated recommendation to the run's folder, and return the file's path.

    Values of the built-in engine become a preset, whose path every command accepts. Options of an external engine
    become a tournament player. ``verdict`` is the result of the sequential test that accepted the recommendation,
    ``engine`` the identity of the engine.

    A file of this name that no study wrote stays unchanged; the new file is then called ``NAME-tuned.toml``.
    """
    path = directory / f"{spec.validation.preset}.toml"
    if path.is_file() and not _is_ours(path):
        path = path.with_stem(f"{path.stem}-tuned")
    replace_file(path, preset_text(engine, spec, values, verdict))
    with Store(directory) as store:
        store.record_metadata({PRESET_METADATA: str(path.resolve())})
    return path


def written_preset(spec: TuningSpec, directory: Path) -> Path | None:
    """Path of the file that a study has written for its recommendation; ``None`` if there is no such file."""
    with Store(directory, read_only=True) as store:
        recorded = store.metadata(PRESET_METADATA)
    path = Path(recorded) if recorded else directory / f"{spec.validation.preset}.toml"
    return path if path.is_file() and _is_ours(path) else None


def _is_ours(path: Path) -> bool:
    # An editor may have put a byte order mark before it; another file may be in any encoding.
    return path.read_text("utf-8-sig", errors="replace").startswith(HEADING)


def preset_text(engine: str, spec: TuningSpec, values: Mapping[str, Value], verdict: Verdict) -> str:
    """TOML text of the file: comments about the validation and the identity ``engine``, then the settings.

    A preset has only the settings that differ from the engine's defaults; a tournament player has all settings.
    """
    low, high = map(signed, verdict.interval)
    gain = f"{signed(verdict.elo)} Elo [{low}, {high}]"
    source = specification_word("tuning", spec.conditions.source)
    lines = [
        f"{HEADING}{source} (study {spec.name!r}), whose next run replaces it.",
        f"# Against {spec.base_name}: {gain} over {verdict.counts.pairs} pairs",
        f"# on openings never tuned on, {verdict.limits}, {spec.conditions.openings}, seed {spec.conditions.seed}, "
        f"engine {engine}.",
        "",
    ]
    lines += _preset_lines(spec, values, verdict) if spec.engine is None else _player_lines(spec, values)
    return "\n".join(lines) + "\n"


def _preset_lines(spec: TuningSpec, values: Mapping[str, Value], verdict: Verdict) -> list[str]:
    defaults = resolve({}, game=spec.conditions.game)
    complete = spec.conditions.base_values | dict(values)
    description = f"Tuned against {spec.base_name}: {signed(verdict.elo)} Elo at {verdict.limits}."
    changed = {name: value for name, value in complete.items() if value != defaults[name]}
    return [*toml_lines({"description": description}), "", f"[{spec.conditions.game}]", *toml_lines(changed)]


def _place(engine: PlayerSpec) -> dict[str, str]:
    """Keys of a player's TOML table that locate its program: source and build, or the working directory."""
    built = engine.built
    if built is not None:
        keys = {"build": built.build, "directory": built.inside(str(engine.directory))}
        return {"source": f"{built.repository}@{built.commit}"} | {key: text for key, text in keys.items() if text}
    return {} if engine.directory is None else {"directory": engine.directory}


def _player_lines(spec: TuningSpec, values: Mapping[str, Value]) -> list[str]:
    engine = spec.player(values)
    keys: dict[str, Any] = {
        "name": spec.validation.preset,
        "protocol": engine.protocol,
        "command": engine.shown_command,
        **_place(engine),
        "start_timeout": engine.start_timeout_ms / 1000,
        "margin": engine.margin_ms / 1000,
        "watchdog": engine.watchdog_ms / 1000,
        "restart": engine.restart,
        **dict(engine.protocol_keys),
        **({"limit": OWN_LEVEL} if engine.limits == Limits() else {}),
    }
    options = ["[players.options]", *toml_lines(dict(engine.options))] if engine.options else []
    return ["[[players]]", *toml_lines(keys), *options]
