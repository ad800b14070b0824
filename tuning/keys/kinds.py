"""Every kind of TOML file that is read, and the tables in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from elolab.arena.keys.player import ENGINES
from elolab.arena.keys.tournament import TOURNAMENT
from elolab.engine.settings.keys import TABLE, TABLES, Key, Section
from elolab.engine.settings.presets import preset_section
from elolab.engine.settings.weights import WEIGHTS
from elolab.tuning.keys.ablation import ABLATION
from elolab.tuning.keys.claims import CLAIMS
from elolab.tuning.keys.study import STUDY

NAME = "NAME"
"""Placeholder for a free name."""


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    name: str
    section: Section
    folder: str = ""
    """The folder of such files among the shipped ones; empty if there are none."""


KINDS = (
    Kind("tournament", TOURNAMENT, "tournaments"),
    Kind("engines", ENGINES),
    Kind("tuning", STUDY, "tuning"),
    Kind("ablation", ABLATION, "ablations"),
    Kind("claims", CLAIMS, "claims"),
    Kind("preset", preset_section(), "engines"),
    Kind("weights", WEIGHTS, "weights"),
)


@dataclass(frozen=True)
class Place:
    """A table of a kind of file, or the file itself."""

    kind: Kind
    section: Section
    paths: tuple[str, ...]
    """Its names, such as ``validation`` or ``builds.NAME``; an empty name is the file itself."""
    is_array: bool = False
    """Whether it may occur several times."""

    @property
    def heading(self) -> str:
        """Its heading in the file: ``[sprt]``, ``[[players]]``; the kind's name for the file itself."""
        if not self.paths[0]:
            return self.kind.name
        return ", ".join(f"[[{path}]]" if self.is_array else f"[{path}]" for path in self.paths)


def places_of(kind: Kind) -> list[Place]:
    """The tables of a kind that have keys of their own, the file itself first; equal tables are one place."""
    found: dict[int, Place] = {}
    for place in (Place(kind, kind.section, ("",)), *_below(kind, kind.section, "")):
        same = found.get(id(place.section))
        found[id(place.section)] = place if same is None else replace(same, paths=(*same.paths, *place.paths))
    return list(found.values())


def _below(kind: Kind, section: Section, path: str) -> Iterator[Place]:
    for key in entries_of(section):
        if key.section is None or not (key.section.keys or _holds_tables(key.section)):
            continue
        own = f"{path}.{key.name}" if path else key.name
        if key.section.keys:
            yield Place(kind, key.section, (own,), TABLES in key.kinds)
        yield from _below(kind, key.section, own)


def entries_of(section: Section) -> list[Key]:
    """The keys of a section, and last the key for any other name."""
    return [*section.keys, *([] if section.others is None else [section[NAME]])]


def _holds_tables(section: Section) -> bool:
    """Whether its free names hold tables."""
    return section.others is not None and TABLE in section.others.kinds
