"""Settings of the engine, and the kinds of files that users write; each package registers its own kinds."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FileKind:
    """A kind of configuration file, such as tournament specifications."""

    folder: str
    """Folder of this kind in ``configs``, which also identifies the kind; empty if no such files are shipped."""
    title: str
    """Name of this kind of file in messages, such as ``tournament specification``."""
    use: str = ""
    """The command or parameter that takes a file of this kind, as named in messages."""
    marks: tuple[str, ...] = ()
    """Keys that occur in no other kind of file. Nearly every file of this kind has at least one of them."""
    suffixes: tuple[str, ...] = (".toml",)
    name: str = ""
    """Name of the kind in the command ``elolab keys``; empty if files of this kind have no keys."""
    schema: str = ""
    """Where the ``Schema`` of these files is defined, as ``module:NAME``."""

    @property
    def keys(self) -> Any:
        """The ``Schema`` of these files. Imports the module that declares it."""
        return pkgutil.resolve_name(self.schema)


FILE_KINDS: dict[str, FileKind] = {}
"""Every registered kind of file, by its folder in ``configs``."""


def register(*kinds: FileKind) -> tuple[FileKind, ...]:
    """Add kinds of files to ``FILE_KINDS``; returns them."""
    FILE_KINDS.update((kind.folder, kind) for kind in kinds if kind.folder)
    return kinds


ENGINE_FILES = register(
    FileKind(
        "engines", "engine preset", "players", ("xiangqi", "othello", "chess"), name="preset",
        schema="elolab.engine.settings.presets:PRESET",
    ),
    FileKind(
        "weights", "file of evaluation weights", "the parameter evaluation_weights", ("features",), name="weights",
        schema="elolab.engine.settings.weights:WEIGHTS",
    ),
    FileKind("suites", "suite of positions", suffixes=(".epd",)),
)  # fmt: skip
"""The kinds of files that the engine reads. A preset is recognized by its sections, which are named after games."""
