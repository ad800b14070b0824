"""The keys that studies and ablations have in common."""

from __future__ import annotations

from elolab.arena.keys.player import PROGRAM
from elolab.arena.keys.tournament import RUN_KEYS
from elolab.arena.players.registry import PROTOCOLS, protocol_named
from elolab.engine.settings.keys import TABLE, TEXT, VALUE, Default, Key, Topic
from elolab.engine.settings.presets import DEFAULT_PRESET, is_parameter

ENGINE_TABLES = ("engine", "builds")
"""The tables of a specification that describe an external engine; without them the engine is the built-in one."""
DEFAULT_PROTOCOL = "uci"
EXTERNAL_PROTOCOLS = tuple(name for name in PROTOCOLS if protocol_named(name).is_external)

_conditions = Topic("elolab.tuning.keys", "conditions")
_engine = Topic("elolab.tuning.keys", "engine")


def _program_keys() -> tuple[Key, ...]:
    """Keys for running and setting up a program over any protocol; ``read_player`` checks which apply to which."""
    own = [key for name in EXTERNAL_PROTOCOLS for key in protocol_named(name).keys.keys]
    return tuple({key.name: key for key in (*PROGRAM.keys, *own)}.values())


BUILD_PROGRAM = _engine.section("build", *_program_keys())
ENGINE = _engine.section(
    "engine",
    _engine.text("name", "mine", Default.COMPUTED),
    _engine.choice("protocol", EXTERNAL_PROTOCOLS, "ucci", DEFAULT_PROTOCOL),
    *_program_keys(),
)
BUILDS = _engine.section("builds", others=_engine("build", TEXT, TABLE, section=BUILD_PROGRAM, example='"./mine-new"'))

SETTINGS = _conditions.section(
    "set",
    others=_conditions("setting", VALUE, default=Default.COMPUTED, example="3"),
    holds=is_parameter,
)
SET = _conditions.table(SETTINGS, example="{ null_depth = 3 }")
"""Parameters of the built-in engine, or settings of the one under test."""

CONDITION_KEYS = (
    *RUN_KEYS,
    _conditions.text("base", "fenon", DEFAULT_PRESET),
    SET,
    _conditions.text("limit", "nodes=1000"),
    _conditions.table(ENGINE),
    _conditions.table(BUILDS, example='{ old = "./mine-1.0", new = "./mine-1.1" }'),
)
CONDITIONS = _conditions.section("conditions", *CONDITION_KEYS)
