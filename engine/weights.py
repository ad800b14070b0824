"""Weights of a linear evaluation, read from a file: one row a phase of the game, one column a feature.

A file is TOML: ``game``, ``provenance`` (who made the weights from what), ``features`` (names) and ``phases`` (rows of
whole numbers in hundredths of a disc, in the order of the features). The rows divide the game's ``STEPS`` evenly, so
that their number must divide it; a feature without a column weighs nothing. A setting names a file; checked, it
becomes ``name#digest`` with a digest of the numbers, so that a game's settings say which weights were meant, and a file
that was changed since is noticed.
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
STEPS = 60
"""Steps of a game that the kernels tell apart: in Othello the discs placed since the start, but for the last."""
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
    """Hundredths of a disc; shape (phases, number of features)."""

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
    if not isinstance(phases, list) or not phases or STEPS % len(phases):
        raise table.error("phases", f"a number of rows of weights that divides {STEPS}")
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
    strange = [name for name in weights.features if name not in features]
    if strange or len(set(weights.features)) != len(weights.features) or not weights.features:
        raise ConfigurationError(
            f"{path}: features = {list(weights.features)}, expected some of {list(features)}, each once"
        )
    if mark and digest != weights.digest:
        raise ConfigurationError(
            f"{path}: its weights have the digest {weights.digest}; restore the file, or leave out the digest"
        )
    return weights


def pinned(value: str, features: Sequence[str]) -> str:
    """``name#digest`` for a setting; see ``find_weights``."""
    return f"{value.partition('#')[0]}#{find_weights(value, features).digest}"


def steps_of(weights: Weights, features: Sequence[str]) -> np.ndarray:
    """The weights at each step of a game, shape (STEPS, len(features)), int64, in the order of ``features``."""
    table = np.zeros((len(weights.phases), len(features)), np.int64)
    for column, name in enumerate(weights.features):
        table[:, features.index(name)] = [row[column] for row in weights.phases]
    return np.ascontiguousarray(np.repeat(table, STEPS // len(table), axis=0))


_ARRAYS: dict[tuple[str, tuple[str, ...]], np.ndarray] = {}
"""Every array whose address a kernel was told, by digest and order of the features; they live with the process."""


def weights_address(value: str, features: Sequence[str]) -> int:
    """Where the weights lie in memory, as (STEPS, len(features)) uint64 words of two's complement."""
    weights = find_weights(value, features)
    key = weights.digest, tuple(features)
    if key not in _ARRAYS:
        _ARRAYS[key] = steps_of(weights, features)
    return int(_ARRAYS[key].ctypes.data)
