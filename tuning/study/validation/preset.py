"""A validated recommendation as a file that is ready to play: a preset, or a player of a tournament."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from elolab.arena.files import replace_file
from elolab.arena.play.store import Store
from elolab.arena.records import PlayerSpec
from elolab.arena.statistics.numbers import signed
from elolab.engine.settings.configuration import specification_word
from elolab.engine.settings.limits import OWN_LEVEL, Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.spec import TuningSpec
from elolab.tuning.study.validation.validation_games import Verdict

PRESET_METADATA = "tuning preset"
"""Where the recommendation was written."""
HEADING = re.compile(r"# Written by elolab tune (.+) \(study (.+)\), whose next run replaces it\.")
"""The first line: the specification and the study's name."""


def write_preset(engine: str, spec: TuningSpec, directory: Path, values: Mapping[str, Value], verdict: Verdict) -> Path:
    """Write a recommendation that a sequential test has accepted (``verdict``) to the run's folder; return its path.

    A set of the built-in engine becomes a preset, which every command takes by its path. An external engine's options
    become a player of a tournament. A file of that name that the study did not write stays as it is.
    """
    path = directory / f"{spec.validation.preset}.toml"
    if path.is_file() and not _is_of(path, spec):
        path = path.with_stem(f"{path.stem}-tuned")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, preset_text(engine, spec, values, verdict))
    with Store(directory) as store:
        store.record_metadata({PRESET_METADATA: str(path.resolve())})
    return path


def written_preset(spec: TuningSpec, directory: Path) -> Path | None:
    """Where the study of a folder has written its recommendation, if it is still there: see ``write_preset``."""
    name = f"{spec.validation.preset}.toml"
    with Store(directory, read_only=True) as store:
        recorded = store.metadata(PRESET_METADATA)
    # What an older version wrote is looked for where it lay.
    paths = (Path(recorded),) if recorded else (directory / name, Path("configs") / "engines" / name)
    return next((path for path in paths if path.is_file() and _is_of(path, spec)), None)


def _heading_of(spec: TuningSpec) -> str:
    source = specification_word("tuning", spec.conditions.source)
    return f"# Written by elolab tune {source} (study {spec.name!r}), whose next run replaces it."


def _is_of(path: Path, spec: TuningSpec) -> bool:
    """Whether a file was written by that study, from whatever folder its specification was read."""
    # Who saved it again may have put a byte order mark before it; another's file may be in any encoding.
    found = HEADING.match(path.read_text("utf-8-sig", errors="replace"))
    return found is not None and (Path(found[1]).stem, found[2]) == (Path(spec.conditions.source).stem, repr(spec.name))


def preset_text(engine: str, spec: TuningSpec, values: Mapping[str, Value], verdict: Verdict) -> str:
    """The TOML: every setting that differs from the engine's defaults, and what validated it, with which ``engine``."""
    low, high = map(signed, verdict.interval)
    gain = f"{signed(verdict.elo)} Elo [{low}, {high}]"
    lines = [
        _heading_of(spec),
        f"# Against {spec.base_name}: {gain} over {verdict.counts.pairs} pairs",
        f"# on openings never tuned on, {verdict.limits}, {spec.conditions.openings}, seed {spec.conditions.seed}, "
        f"engine {engine}.",
        "",
    ]
    more = _preset_lines(spec, values, verdict) if spec.engine is None else _player_lines(spec, values)
    return "\n".join(lines + more) + "\n"


def _preset_lines(spec: TuningSpec, values: Mapping[str, Value], verdict: Verdict) -> list[str]:
    from elolab.engine.settings.parameters import resolve

    complete = spec.conditions.base_values | dict(values)
    lines = [
        f"description = {_text(f'Tuned against {spec.base_name}: {signed(verdict.elo)} Elo at {verdict.limits}.')}",
        "",
        f"[{spec.conditions.game}]",
    ]
    defaults = resolve({}, game=spec.conditions.game)
    return lines + [f"{name} = {_toml(value)}" for name, value in complete.items() if value != defaults[name]]


def _player_lines(spec: TuningSpec, values: Mapping[str, Value]) -> list[str]:
    engine = spec.player(values)
    lines = [
        "[[players]]",
        f"name = {json.dumps(spec.validation.preset)}",
        f"protocol = {json.dumps(engine.protocol)}",
        f"command = {json.dumps(list(engine.command))}",
        *_process_lines(engine),
        *(f"{key} = {json.dumps(value)}" for key, value in engine.protocol_keys),
    ]
    if engine.limits == Limits():
        lines.append(f"limit = {json.dumps(OWN_LEVEL)}")
    if engine.options:
        lines.append("[players.options]")
    return lines + [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in engine.options]


def _process_lines(engine: PlayerSpec) -> list[str]:
    """Where and how the program is run, in seconds."""
    lines = [f"directory = {json.dumps(engine.directory)}"] if engine.directory is not None else []
    times = (engine.start_timeout_ms, engine.margin_ms, engine.watchdog_ms)
    for key, milliseconds in zip(("start_timeout", "margin", "watchdog"), times, strict=True):
        lines.append(f"{key} = {milliseconds / 1000!r}")
    return [*lines, f"restart = {json.dumps(engine.restart)}"]


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _text(value)


def _text(value: str) -> str:
    """As TOML, which takes JSON's strings."""
    return json.dumps(value, ensure_ascii=False)
