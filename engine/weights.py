"""Weights of a linear evaluation, read from a file: one row a phase of the game, one column a feature.

A file is TOML: ``game``, ``provenance`` (who made the weights from what), ``features`` (names) and ``phases`` (rows of
whole numbers in hundredths of a disc, in the order of the features). The rows divide the game's ``STEPS`` evenly, so
that their number must divide it; a feature without a column weighs nothing. Weights of patterns, if there are any, are
``patterns``: 16-bit numbers, a row for each of ``pattern_phases``, compressed (zlib) and written in base 85. A setting
names a file; checked, it becomes ``name#digest`` with a digest of the numbers, so that a game's settings say which
weights were meant, and a file that was changed since is noticed.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import string
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.configuration import ConfigurationError, Table, find_config, read_toml

KEYS = ("game", "provenance", "features", "phases", "pattern_phases", "patterns")
STEPS = 60
"""Steps of a game that the kernels tell apart: in Othello the discs placed since the start, but for the last."""
LINE = 116
"""Columns of the text of pattern weights."""
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
    pattern_phases: int = 0
    """Phases of the patterns' weights; 0 if there are none."""
    patterns: bytes = b""
    """Their weights in hundredths of a disc: little-endian int16, row after row."""

    @functools.cached_property
    def digest(self) -> str:
        """Digest of features and numbers: what decides the evaluation."""
        numbers: list[Any] = [self.game, self.features, self.phases]
        if self.pattern_phases:
            numbers += [self.pattern_phases, hashlib.sha256(self.patterns).hexdigest()]
        content = json.dumps(numbers, separators=(",", ":"))
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
    rows = tuple(tuple(row) for row in phases)
    return Weights(table.text("game"), table.text("provenance"), tuple(features), rows, *_read_patterns(table))


def _read_patterns(table: Table) -> tuple[int, bytes]:
    """Phases and weights of the patterns."""
    if "patterns" not in table:
        return 0, b""
    phases = table.whole("pattern_phases", 1, STEPS)
    if STEPS % phases:
        raise table.error("pattern_phases", f"a number that divides {STEPS}")
    text = table.text("patterns", expected="compressed numbers in base 85")
    try:
        numbers = zlib.decompress(_base_85_decoded("".join(text.split())))
    except (ValueError, zlib.error) as error:
        raise ConfigurationError(f"{table.where}: patterns: damaged ({error}); fit them again") from None
    if not numbers or len(numbers) % (2 * phases):
        raise ConfigurationError(f"{table.where}: patterns: {len(numbers)} bytes do not make {phases} equal rows")
    return phases, numbers


def _base_85_decoded(text: str) -> bytes:
    """As ``base64.b85decode``, which takes a tenth of a second for the weights; raises ``ValueError``."""
    padding = -len(text) % 5
    digits = _BASE_85_DIGITS[np.frombuffer(text.encode("ascii") + b"~" * padding, np.uint8)]
    words = digits.reshape(-1, 5) @ np.array([85**4, 85**3, 85**2, 85, 1])
    if (digits == _NO_DIGIT).any() or (words >> 32).any():
        raise ValueError("not numbers in base 85")
    data = words.astype(">u4").tobytes()
    return data[: len(data) - padding]


_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
_NO_DIGIT = len(_ALPHABET)
_BASE_85_DIGITS = np.full(256, _NO_DIGIT)
_BASE_85_DIGITS[list(_ALPHABET.encode("ascii"))] = np.arange(_NO_DIGIT)


def patterns_text(weights: np.ndarray) -> str:
    """The keys ``pattern_phases`` and ``patterns`` for weights of shape (phases, weights of a phase)."""
    encoded = base64.b85encode(zlib.compress(weights.astype("<i2").tobytes(), 9)).decode("ascii")
    lines = [encoded[start : start + LINE] for start in range(0, len(encoded), LINE)]
    return "\n".join([f"pattern_phases = {len(weights)}", "patterns = '''", *lines, "'''"]) + "\n"


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


def pattern_rows(weights: Weights) -> np.ndarray:
    """The patterns' weights, int16 of shape (pattern_phases, weights of a phase)."""
    return np.frombuffer(weights.patterns, "<i2").reshape(weights.pattern_phases, -1)


def packed_patterns(weights: Weights, where: str) -> np.ndarray:
    """The patterns' weights as the kernels of the game read them; raises ``ConfigurationError``."""
    # Imported when asked for: the tables take a moment.
    from engine.games.othello import patterns

    rows = pattern_rows(weights)
    if rows.shape[1] != patterns.weight_count():
        raise ConfigurationError(
            f"{where}: patterns: {rows.shape[1]} weights in a phase, expected {patterns.weight_count()}; fit them again"
        )
    return patterns.packed(rows)


def steps_of(weights: Weights, features: Sequence[str]) -> np.ndarray:
    """The weights at each step of a game, shape (STEPS, len(features)), int64, in the order of ``features``."""
    table = np.zeros((len(weights.phases), len(features)), np.int64)
    for column, name in enumerate(weights.features):
        table[:, features.index(name)] = [row[column] for row in weights.phases]
    return np.ascontiguousarray(np.repeat(table, STEPS // len(table), axis=0))


_ARRAYS: dict[tuple[str, tuple[str, ...]], np.ndarray] = {}
"""Every array whose address a kernel was told, by digest and order of the features; they live with the process."""
_FILLING = threading.Lock()
"""Held while an array is made: of two made by two threads the first would be freed with its address in use."""


def weights_address(value: str, features: Sequence[str]) -> int:
    """Where the weights lie in memory, as (STEPS, len(features)) uint64 words of two's complement.

    Behind them stand the address of the patterns' weights, as ``packed`` of the game's module ``patterns`` makes them,
    and the number of their phases; both are 0 if there are none.
    """
    weights = find_weights(value, features)
    key = weights.digest, tuple(features)
    with _FILLING:
        if key not in _ARRAYS:
            address = 0
            if weights.pattern_phases:
                _ARRAYS[(weights.digest, ())] = table = packed_patterns(weights, value)
                address = table.ctypes.data
            behind = np.array([address, weights.pattern_phases], np.int64)
            _ARRAYS[key] = np.concatenate([steps_of(weights, features).reshape(-1), behind])
        return int(_ARRAYS[key].ctypes.data)
