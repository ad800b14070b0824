"""Tables of TOML files, each key declared once. Readers, ``elolab keys`` and JSON schemas all use the key's ``Field``.

A dataclass that holds a table declares its keys as typed fields::

    @dataclass(frozen=True)
    class Rules:
        move_limit: int = schema.whole(0, MAX_PLIES, default=120, example=100, unit="plies")

    RULES = schema.declare("elolab.arena", "rules", "rules", Rules)

A key that is in the file but not in the dataclass is declared as a ``ClassVar``. The meaning of a key is the message
``<topic>.<key>`` of the catalogue; ``<topic>_default.<key>`` describes a default that is not a constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

from elolab.engine.settings.configuration import ConfigurationError, nearest, refuse_other_kind
from elolab.engine.settings.toml_values import format_toml, toml_key

TEXT, WHOLE, NUMBER, SWITCH, CHOICE = "text", "whole", "number", "switch", "choice"
TEXTS, VALUE, VALUES, ROWS = "texts", "value", "values", "rows"
"""Kinds of values. ``TEXTS``: a list of strings. ``VALUE``: a string, number or boolean. ``VALUES``: a list of such
values. ``ROWS``: a list of rows of whole numbers.
"""
TABLE, TABLES = "table", "tables"

DECLARATION = "key of a file"
"""Key of a dataclass field's metadata under which its ``Field`` is stored."""

Read = TypeVar("Read")


class Default(Enum):
    """Meaning of a missing key that has no constant default: an error, or a value computed from other settings."""

    REQUIRED = "required"
    COMPUTED = "computed"
    """The default is derived from other settings; the message catalogue describes how."""


REQUIRED, COMPUTED = Default.REQUIRED, Default.COMPUTED


@dataclass(frozen=True)
class Field:
    """Declaration of one key of a table."""

    kinds: tuple[str, ...]
    """Kinds of values that the key accepts, the most common one first."""
    default: Any = REQUIRED
    example: Any = None
    """Example of a value other than the default; ``None`` for a table that declares its own keys."""
    low: float = 0
    high: float = 0
    """Maximum of a value that is a number; ``low`` is the minimum."""
    least: int = 0
    """Least number of entries of a list, or of a table whose keys the user chooses."""
    unit: str = ""
    """Unit of a number, as the name of a message in the message catalogue's table ``unit``."""
    choices: Sequence[Any] = ()
    schema: Schema | None = None
    """Schema of the value if it is a table, or a list of tables."""
    expected: str = ""
    """Description of a valid value, for errors; if empty, the description is derived from the kind of value."""
    message: str = ""
    """Name of the message that explains the key; if empty, the key's own name."""
    name: str = ""
    catalogue: str = ""
    """Package whose message catalogue explains the key."""
    topic: str = ""
    """Table of the message catalogue that contains the message about the key."""

    @property
    def has_constant_default(self) -> bool:
        """Whether a missing key has a constant value as its default."""
        return not isinstance(self.default, Default)

    @property
    def right_value(self) -> str:
        """Description of a valid value, for errors."""
        match self.kinds[0]:
            case _ if self.expected:
                return self.expected
            case "choice":
                return " or ".join(map(repr, self.choices))
            case "whole":
                return f"a whole number from {self.low} to {self.high}"
            case "number":
                return f"a number from {self.low:g} to {self.high:g} {self.unit}".rstrip()
            case "switch":
                return "true or false"
            case "text":
                return "a text"
            case "tables":
                return f"one or more tables [[{self.name}]]"
        return "a value"

    def accepts(self, value: object) -> bool:
        """Whether a value is valid. Always true for a key of several kinds or free form: the caller must check it."""
        if len(self.kinds) > 1:
            return True
        match self.kinds[0]:
            case "text":
                return isinstance(value, str) and bool(value.strip())
            case "whole":
                return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
            case "number":
                return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high
            case "switch":
                return isinstance(value, bool)
            case "choice":
                return not isinstance(value, bool) and value in self.choices
            case "texts" | "values" | "rows" as kind:
                if not isinstance(value, list) or len(value) < self.least:
                    return False
                return kind != "texts" or all(isinstance(one, str) for one in value)
            case "tables":
                return isinstance(value, list) and bool(value)
        return True


@dataclass(frozen=True)
class Schema:
    """Declaration of a table and all its keys, made by ``declare``."""

    name: str
    """Name of the table in the reference, and of the message that explains it."""
    catalogue: str
    topic: str
    """Table of the message catalogue that contains the messages about this table and its keys."""
    keys: Mapping[str, Field]
    others: Field | None = None
    """Declaration for every key that is not in ``keys``; ``None`` if no other keys are allowed."""
    holds: Callable[[str], bool] = lambda name: False
    """Function that tests whether a name is valid under ``others``, so that errors can suggest where a key belongs."""
    holder: type | None = None
    """The dataclass that represents the table; ``None`` if there is none."""
    has_one_key: bool = False
    """Whether the table must have exactly one of its keys; ``Table.table`` refuses another number."""

    def __contains__(self, name: object) -> bool:
        return name in self.keys or self.others is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, name: str) -> Field:
        """The declaration of a key. Raises ``KeyError`` if there is none."""
        if self.others is not None and name not in self.keys:
            return replace(self.others, name=name)
        return self.keys[name]

    def only(self, names: Sequence[str]) -> Schema:
        """A copy of the schema with only the keys ``names``."""
        return replace(self, keys={name: self[name] for name in names}, others=None)


def declare(
    catalogue: str,
    topic: str,
    name: str,
    /,
    *parts: Schema | type,
    others: Any = None,
    holds: Callable[[str], bool] = lambda name: False,
    has_one_key: bool = False,
    **keys: Any,
) -> Schema:
    """Declare a table with the keys of ``parts`` (dataclasses and other schemas) and of ``keys``, in this order.

    ``catalogue`` and ``topic`` locate the messages for keys that do not come from another schema. ``others`` declares
    keys whose names users choose; ``holds`` and ``has_one_key`` are as in ``Schema``.
    """

    def labelled(key: str, declared: Any) -> Field:
        own: Field = declared if isinstance(declared, Field) else declared.metadata[DECLARATION]
        message = own.message or key
        return replace(own, name=key, message=message, catalogue=own.catalogue or catalogue, topic=own.topic or topic)

    found: dict[str, Field] = {}
    for part in parts:
        declared = part.keys if isinstance(part, Schema) else declared_fields(part)
        found |= {key: labelled(key, one) for key, one in declared.items() if key not in found}
    found |= {key: labelled(key, one) for key, one in keys.items()}
    holder = parts[-1] if parts and isinstance(parts[-1], type) else None
    return Schema(name, catalogue, topic, found, others and labelled("", others), holds, holder, has_one_key)


def declared_fields(holder: type) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a dataclass that declare keys, by name. A ``ClassVar`` that declares a key is included."""
    every: dict[str, dataclasses.Field[Any]] = holder.__dataclass_fields__  # type: ignore[attr-defined]
    return {name: one for name, one in every.items() if DECLARATION in one.metadata}


def key(*kinds: str, default: Any = REQUIRED, value: Any = COMPUTED, **more: Any) -> Any:
    """Declare a key whose value is of one of ``kinds``; ``more`` sets further attributes of its ``Field``.

    Without ``default`` the key is required. If ``default`` is ``COMPUTED``, the reader derives the value from other
    keys; ``value`` is then the default of the dataclass's field.
    """
    constant = value if isinstance(default, Default) else default
    own = dataclasses.MISSING if isinstance(constant, Default) else constant
    return field(default=own, metadata={DECLARATION: Field(kinds, default, **more)})


def text(*, example: str, default: Any = REQUIRED, **more: Any) -> Any:
    """Declare a key whose value is a non-empty string; other arguments as for ``key`` and ``Field``."""
    return key(TEXT, default=default, example=example, **more)


def whole(low: int, high: int, *, example: int, default: Any = REQUIRED, unit: str = "", **more: Any) -> Any:
    """Declare a key whose value is a whole number from ``low`` to ``high``; for other arguments see ``key``."""
    return key(WHOLE, low=low, high=high, example=example, default=default, unit=unit, **more)


def number(low: float, high: float, *, example: float, default: Any = REQUIRED, unit: str = "", **more: Any) -> Any:
    """Declare a key whose value is a number from ``low`` to ``high``; other arguments as for ``key`` and ``Field``."""
    return key(NUMBER, low=low, high=high, example=example, default=default, unit=unit, **more)


def switch(*, default: Any = False, **more: Any) -> Any:
    """Declare a key whose value is ``true`` or ``false``. The example is the opposite of the default."""
    return key(SWITCH, default=default, example=default is not True, **more)


def choice(choices: Sequence[Any], *, example: Any, default: Any = REQUIRED, **more: Any) -> Any:
    """Declare a key whose value is one of ``choices``; other arguments as for ``key`` and ``Field``."""
    return key(CHOICE, choices=choices, example=example, default=default, **more)


def table(schema: Schema, *, default: Any = COMPUTED, example: Any = None, **more: Any) -> Any:
    """Declare a key whose value is a table with the given schema; other arguments as for ``key`` and ``Field``."""
    return key(TABLE, schema=schema, default=default, example=example, **more)


def tables(schema: Schema, *, default: Any = COMPUTED, **more: Any) -> Any:
    """Declare a key whose value is a list of tables with one schema; other arguments as for ``key`` and ``Field``."""
    return key(TABLES, schema=schema, default=default, **more)


class Table:
    """Reads a table of a file. A value is validated against its declaration on access; unknown keys are rejected when
    the object is created.

    Access to an undeclared key is a programming error and raises ``KeyError``.
    """

    def __init__(self, data: object, where: str, schema: Schema, *, knows_all: bool = True, kind: str = "") -> None:
        """Check the keys of ``data``. ``where`` locates the table in errors: the file's path, and for a subtable also
        the subtable's name.

        ``knows_all`` is false if other code reads further keys, so that unknown keys are allowed. ``kind`` is a key of
        ``FILE_KINDS`` if ``data`` is a whole file, otherwise empty.
        """
        if not isinstance(data, Mapping):
            raise ConfigurationError(f"{where}: {format_toml(data)} is not a table of key = value")
        self.where = where
        self.schema = schema
        self.data = data
        if not knows_all:
            return
        for name in data:
            if name not in schema:
                if kind:
                    refuse_other_kind(data, where, kind)
                home = home_of(str(name), schema)
                hint = "" if home else nearest(str(name), schema)
                remedy = home or ("" if hint else f"expected one of {', '.join(schema)}")
                raise ConfigurationError(f"{where}: unknown key {name!r}{hint}", remedy)
        self._refuse_strayed_keys()

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def __getitem__(self, name: str) -> Any:
        """The validated value of a key, or the key's constant default. Raises ``ConfigurationError`` if the value is
        invalid, or if a key without a constant default is missing.

        A missing table is read as an empty one. A table whose schema has a dataclass is returned as an instance of the
        dataclass, a table whose keys have names that users choose as a dictionary.
        """
        declared = self.schema[name]
        if declared.kinds == (TABLE,):
            return self._below(declared)
        if name in self.data or not declared.has_constant_default:
            return self._checked(declared)
        return declared.default

    def get(self, name: str, default: Any = None, **narrower: Any) -> Any:
        """The validated value of a key, or ``default`` if the key is missing.

        ``narrower`` overrides attributes of the key's ``Field`` for this call, such as ``high``.
        """
        declared = self.schema[name]
        return self._checked(replace(declared, **narrower)) if name in self.data else default

    def error(self, name: str, expected: str, remedy: str = "") -> ConfigurationError:
        """The error to raise for a wrong value of the key ``name``; ``expected`` describes a valid value."""
        given = f"{name} = {format_toml(self.data[name])}" if name in self.data else f"{name} is missing"
        return ConfigurationError(f"{self.where}: {given}, expected {expected}", remedy)

    def read(self, holder: type[Read], **given: Any) -> Read:
        """Create an instance of the dataclass from the table's values, and from ``given`` for all other fields.

        Missing keys without a constant default become ``None``.
        """
        names = [one.name for one in dataclasses.fields(holder) if one.name in self.schema and one.name not in given]  # type: ignore[arg-type]
        values = {name: self.get(name) if self._is_optional(name) else self[name] for name in names}
        return holder(**values, **given)

    def _is_optional(self, name: str) -> bool:
        return self.schema[name].default is COMPUTED and self.schema[name].kinds != (TABLE,)

    def table(self, name: str, names: Sequence[str] | None = None) -> Table:
        """The subtable ``[name]``, empty if it is missing; ``names`` are the allowed keys, by default all keys of the
        subtable's schema.
        """
        schema = self.schema[name].schema
        assert schema is not None
        own = Table(self.data.get(name, {}), f"{self.where}: [{name}]", schema if names is None else schema.only(names))
        if schema.has_one_key and len(own.data) != 1:
            raise self.error(name, self.schema[name].right_value)
        return own

    def _checked(self, declared: Field) -> Any:
        value: Any = self.data.get(declared.name)
        if declared.name not in self.data or not declared.accepts(value):
            hint = nearest(value, [str(one) for one in declared.choices]) if isinstance(value, str) else ""
            raise self.error(declared.name, declared.right_value + hint)
        if declared.kinds == (CHOICE,):
            return declared.choices[list(declared.choices).index(value)]
        return float(value) if declared.kinds == (NUMBER,) else value

    def _below(self, declared: Field) -> Any:
        schema, value = declared.schema, self.data.get(declared.name, {})
        assert schema is not None
        if schema.keys:
            own = self.table(declared.name)
            return own if schema.holder is None else own.read(schema.holder)
        if not isinstance(value, Mapping):
            raise self.error(declared.name, "a table of name = value")
        return dict(value)

    def _refuse_strayed_keys(self) -> None:
        """Raise ``ConfigurationError`` if a key of this table was written below a subtable's header by mistake."""
        for name, value in self.data.items():
            below = self.schema[name].schema
            for entry in value if isinstance(value, list) else [value]:
                if below is None or not isinstance(entry, Mapping):
                    continue
                strayed = next((one for one in entry if one not in below and one in self.schema), None)
                if strayed is not None:
                    head = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
                    raise ConfigurationError(
                        f"{self.where}: {strayed} is written below {head}, so TOML reads it as part of that table",
                        "write it above the first table",
                    )


def home_of(name: str, schema: Schema) -> str:
    """Hint for a misplaced key: ``"it is a key of [x]"`` if it is a key of a subtable, otherwise an empty string.

    If ``name`` is a valid key under a subtable's ``others``, the hint is like ``"it belongs in set = { null_move = ...
    }"``.
    """
    below = {key: one for key, one in schema.keys.items() if one.schema is not None}
    for key_name, one in below.items():
        if one.schema is not None and name in one.schema.keys:
            return f"it is a key of {f'[[{key_name}]]' if TABLES in one.kinds else f'[{key_name}]'}"
    owners = [
        entry_of_table(owner, name) for owner, one in below.items() if one.schema is not None and one.schema.holds(name)
    ]
    return f"it belongs in {' or '.join(owners)}" if owners else ""


def entry_of_table(table: str, name: str) -> str:
    """Example of an entry in a table, as TOML: ``options = { "Skill Level" = ... }``."""
    return f"{table} = {{ {toml_key(name)} = ... }}"
