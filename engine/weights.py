"""Weights of a linear evaluation, read from a file: one row a phase of the game, one column a feature.

A file is TOML: ``game``, ``provenance`` (who made the weights from what), ``features`` (names) and ``phases`` (rows of
whole numbers in hundredths of a disc, in the order of the features). A setting names a file; checked, it becomes
``name#digest`` with a digest of the numbers, so that a game's settings say which weights were meant, and a file that
was changed since is noticed.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.configuration import ConfigurationError, Table, find_config, read_toml

KEYS = ("game", "provenance", "features", "phases")
PHASES = 6
LARGEST = 10_000
"""Largest weight either way: a hundred discs."""
DIGEST_DIGITS = 12


@dataclass(frozen=True)
class Weights:
    """A file of weights."""

    game: str
    provenance: str
    features: tuple[str, ...]
    phases: tuple[tuple[int, ...], ...]
    """Hundredths of a disc; shape (PHASES, number of features)."""

    @property
    def digest(self) -> str:
        """Digest of features and numbers: what decides the evaluation."""
        content = json.dumps([self.game, self.features, self.phases], separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()[:DIGEST_DIGITS]


def read_weights(path: Path) -> Weights:
    """The weights of a file; raises ``ConfigurationError``."""
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(64)
def _read(path: Path, changed_ns: int, size: int) -> Weights:
    table = Table(read_toml(path), str(path), KEYS)
    features = table.value("features")
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise table.error("features", "a list of the features' names")
    phases = table.value("phases")
    if not isinstance(phases, list) or len(phases) != PHASES:
        raise table.error("phases", f"{PHASES} rows of weights")
    for row in phases:
        if not isinstance(row, list) or len(row) != len(features):
            raise ConfigurationError(f"{path}: phases: {row!r}, expected {len(features)} weights in each row")
        for weight in row:
            if isinstance(weight, bool) or not isinstance(weight, int) or abs(weight) > LARGEST:
                raise ConfigurationError(
                    f"{path}: phases: {weight!r}, expected a whole number from {-LARGEST} to {LARGEST}"
                )
    return Weights(
        table.text("game"), table.text("provenance"), tuple(features), tuple(tuple(row) for row in phases)
    )


def find_weights(value: str, features: Sequence[str]) -> Weights:
    """The weights that a setting ``name`` or ``name#digest`` means.

    Raises ``ConfigurationError`` if there is no such file, its features are not ``features``, or it was changed.
    """
    name, mark, digest = value.partition("#")
    path = find_config("weights", name)
    weights = read_weights(path)
    if sorted(weights.features) != sorted(features):
        raise ConfigurationError(f"{path}: features = {list(weights.features)}, expected {list(features)}")
    if mark and digest != weights.digest:
        raise ConfigurationError(
            f"{path}: its weights have the digest {weights.digest}; restore the file, or leave out the digest"
        )
    return weights


def pinned(value: str, features: Sequence[str]) -> str:
    """``name#digest`` for a setting; see ``find_weights``."""
    return f"{value.partition('#')[0]}#{find_weights(value, features).digest}"


_ARRAYS: dict[tuple[str, tuple[str, ...]], np.ndarray] = {}
"""Every array whose address a kernel was told, by digest and order of the features; they live with the process."""


def weights_address(value: str, features: Sequence[str]) -> int:
    """Where the weights lie in memory, as (PHASES, len(features)) uint64 words of two's complement."""
    weights = find_weights(value, features)
    key = weights.digest, tuple(features)
    if key not in _ARRAYS:
        columns = [weights.features.index(name) for name in features]
        _ARRAYS[key] = np.ascontiguousarray(np.array(weights.phases, np.int64)[:, columns])
    return int(_ARRAYS[key].ctypes.data)
