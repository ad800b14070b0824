"""Keys of TOML files as values: each is declared once, and readers, reference and JSON schemas take it from there.

A ``Section`` is a table of a file: its keys, and what its other names may hold. ``Table`` of
``engine.settings.configuration`` reads a table by its section and cannot read what is not declared. What a key means is
a message of a catalogue, ``<topic>.<name>``; what stands in for one that is left out and is no constant is
``<topic>_default.<name>``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

TEXT, WHOLE, NUMBER, SWITCH, CHOICE = "text", "whole", "number", "switch", "choice"
TEXTS, VALUE, VALUES, ROWS = "texts", "value", "values", "rows"
"""Kinds: a list of texts; a text, number or truth value; a list of such values; a list of rows of whole numbers."""
TABLE, TABLES = "table", "tables"


class Default(Enum):
    """Meaning of a missing key that has no constant default."""

    REQUIRED = "required"
    COMPUTED = "computed"
    """Something else decides; the catalogue says what."""


@dataclass(frozen=True)
class Key:
    """One key of a table."""

    name: str
    kinds: tuple[str, ...]
    """Kinds of values that it accepts; the first is the usual one."""
    catalogue: str
    """Package whose message catalogue explains the key."""
    topic: str
    """Table of the catalogue."""
    message: str = ""
    """Name of the message in the table; empty if it is the key's name."""
    default: Any = Default.REQUIRED
    low: float = 0
    high: float = 0
    """The range of a number."""
    unit: str = ""
    """Unit of a number, a key of the catalogue's table ``unit``."""
    choices: Sequence[Any] = ()
    section: Section | None = None
    """Section that declares the keys of a table."""
    example: str = ""
    """A value as it is written, or empty for a table with keys of its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", self.message or self.name)

    @property
    def has_constant_default(self) -> bool:
        """Whether a missing key has a constant value as its default."""
        return not isinstance(self.default, Default)


@dataclass(frozen=True)
class Section:
    """A table of a file."""

    name: str
    """Name in the reference."""
    keys: tuple[Key, ...] = ()
    others: Key | None = None
    """Declaration of all names beside ``keys``; ``None`` if no others are allowed."""
    catalogue: str = ""
    topic: str = ""
    """Table of the catalogue whose message ``<topic>.<name of the section>`` explains the section."""
    holds: Callable[[str], bool] = field(default=lambda name: False, compare=False)
    """Tests whether a name is one of the others, for the hint when it is misplaced."""
    _by_name: dict[str, Key] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {key.name: key for key in self.keys})
        assert len(self._by_name) == len(self.keys), f"{self.name}: a key is declared twice"

    def __contains__(self, name: object) -> bool:
        return name in self._by_name or self.others is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, name: str) -> Key:
        """The key; raises ``KeyError`` for one that is not declared."""
        if self.others is not None and name not in self._by_name:
            return replace(self.others, name=name)
        return self._by_name[name]

    def only(self, names: Sequence[str]) -> Section:
        """A copy restricted to these names."""
        return replace(self, keys=tuple(self[name] for name in names), others=None)

    def with_keys(self, *more: Key) -> Section:
        """A copy with further keys."""
        return replace(self, keys=(*self.keys, *more))


@dataclass(frozen=True)
class Topic:
    """Declares keys whose meanings are in one table of a catalogue."""

    catalogue: str
    topic: str

    def __call__(self, name: str, *kinds: str, default: Any = Default.REQUIRED, **more: Any) -> Key:
        """A key that holds one of ``kinds``; ``more`` are fields of ``Key``."""
        return Key(name, kinds, self.catalogue, self.topic, default=default, **more)

    def text(self, name: str, example: str, default: Any = Default.REQUIRED) -> Key:
        """A text that is not empty."""
        return self(name, TEXT, default=default, example=f'"{example}"')

    def whole(
        self, name: str, low: int, high: int, example: int, default: Any = Default.REQUIRED, unit: str = ""
    ) -> Key:
        """A whole number from ``low`` to ``high``."""
        return self(name, WHOLE, default=default, low=low, high=high, unit=unit, example=str(example))

    def number(
        self, name: str, low: float, high: float, example: float, default: Any = Default.REQUIRED, unit: str = ""
    ) -> Key:
        """A number from ``low`` to ``high``."""
        return self(name, NUMBER, default=default, low=low, high=high, unit=unit, example=f"{example:g}")

    def switch(self, name: str, default: Any = False, *, example: bool | None = None) -> Key:
        """``true`` or ``false``; the example is the value that is not the default."""
        shown = (default is not True) if example is None else example
        return self(name, SWITCH, default=default, example="true" if shown else "false")

    def choice(self, name: str, choices: Sequence[Any], example: Any, default: Any = Default.REQUIRED) -> Key:
        """One of a few values."""
        written = f'"{example}"' if isinstance(example, str) else str(example)
        return self(name, CHOICE, default=default, choices=choices, example=written)

    def table(self, section: Section, name: str = "", default: Any = Default.COMPUTED, example: str = "") -> Key:
        """The table ``[name]``, that of the section unless said otherwise."""
        return self(name or section.name, TABLE, default=default, section=section, example=example)

    def tables(self, section: Section, name: str = "", default: Any = Default.COMPUTED) -> Key:
        """The tables ``[[name]]``."""
        return self(name or section.name, TABLES, default=default, section=section)

    def section(self, name: str, *keys: Key, others: Key | None = None, **more: Any) -> Section:
        """A section whose own meaning is in the topic too; ``more`` are fields of ``Section``."""
        return Section(name, keys, others, self.catalogue, self.topic, **more)
