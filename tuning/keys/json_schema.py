"""JSON schemas of TOML files, generated from the declarations of their keys.

The schemas name draft 7, but use only features of draft 4: taplo, a language server for TOML, supports only these.
"""

from __future__ import annotations

import json
from typing import Any

from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue
from elolab.engine.settings import FileKind
from elolab.engine.settings.parameters import PARAMETERS, Parameter
from elolab.engine.settings.presets import SETTINGS
from elolab.engine.settings.schema import (
    CHOICE,
    NUMBER,
    ROWS,
    SWITCH,
    TABLE,
    TABLES,
    TEXT,
    TEXTS,
    VALUE,
    VALUES,
    WHOLE,
    Default,
    Field,
    Schema,
)

DIALECT = "http://json-schema.org/draft-07/schema#"
SCALAR = {"type": ["string", "number", "boolean"]}


def schema_of(kind: FileKind) -> dict[str, Any]:
    """The JSON schema of one kind of TOML file."""
    return {"$schema": DIALECT, "title": f"elolab: {kind.name}", **_object(kind.keys)}


def schema_text(kind: FileKind) -> str:
    """The JSON schema of one kind of TOML file, as the text of a ``.json`` file."""
    return json.dumps(schema_of(kind), ensure_ascii=False, indent=1) + "\n"


def _object(schema: Schema) -> dict[str, Any]:
    if schema is SETTINGS:
        return _parameters()
    found: dict[str, Any] = {"type": "object", "additionalProperties": False}
    if schema.keys:
        found["properties"] = {key.name: value_schema(key) for key in schema.keys.values()}
    if required := [key.name for key in schema.keys.values() if key.default is Default.REQUIRED]:
        found["required"] = required
    if schema.others is not None:
        found["additionalProperties"] = value_schema(schema.others)
    if schema.has_one_key:
        found |= {"minProperties": 1, "maxProperties": 1}
    return found


def value_schema(key: Field) -> dict[str, Any]:
    """The JSON schema of a key's value, with the key's meaning and default."""
    say = Catalogue(key.catalogue, DEFAULT_LANGUAGE)
    own: dict[str, Any] = {"description": say(f"{key.topic}.{key.message}")}
    if key.has_constant_default and key.default is not None:
        own["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    schemas = [_of_kind(key, kind) for kind in key.kinds]
    return own | (schemas[0] if len(schemas) == 1 else {"anyOf": schemas})


def _of_kind(key: Field, kind: str) -> dict[str, Any]:
    if kind in (WHOLE, NUMBER):
        return {"type": "integer" if kind == WHOLE else "number", "minimum": key.low, "maximum": key.high}
    if kind in (TABLE, TABLES):
        assert key.schema is not None
        table = _object(key.schema) | ({"minProperties": key.least} if key.least else {})
        return table if kind == TABLE else {"type": "array", "minItems": 1, "items": table}
    items = {"type": "array"} | ({"minItems": key.least} if key.least else {})
    schemas: dict[str, dict[str, Any]] = {
        TEXT: {"type": "string", "minLength": 1},
        SWITCH: {"type": "boolean"},
        CHOICE: {"enum": list(key.choices)},
        TEXTS: items | {"items": {"type": "string"}},
        VALUE: SCALAR,
        VALUES: items | {"items": SCALAR},
        ROWS: items | {"items": {"type": "array", "items": {"type": "integer"}}},
    }
    return schemas[kind]


def _parameters() -> dict[str, Any]:
    """JSON schemas of the built-in engine's parameters, by parameter name.

    elolab also accepts other spellings of the names; the schema does not check their values.
    """
    others = [name for row in PARAMETERS for name in (row.protocol_name, *row.aliases) if name != row.name]
    return {
        "type": "object",
        "properties": {row.name: _parameter(row) for row in PARAMETERS},
        "patternProperties": {f"^({'|'.join(dict.fromkeys(others))})$": {}},
        "additionalProperties": False,
    }


def _parameter(row: Parameter) -> dict[str, Any]:
    if row.kind == "integer":
        low, high = row.legal
        return {"description": row.doc, "type": "integer", "minimum": low, "maximum": high}
    if row.kind == "choice":
        return {"description": row.doc, "enum": list(row.legal)}
    if row.kind == "switch":
        return {"description": row.doc, "enum": [True, False, "on", "off"]}
    return {"description": row.doc, "type": "string", "minLength": 1}
