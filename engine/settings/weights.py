"""Weights of a linear evaluation, read from a file: one row per phase of the game, one column per feature.

A file is TOML. ``game`` names the game, ``provenance`` the origin of the weights, ``features`` the columns, by names
from ``engine.settings.features``. ``phases`` are rows of whole numbers in hundredths of a point. A feature without a
column has the weight 0. In Othello the rows divide the ``STEPS`` of a game evenly, so ``STEPS`` must be a multiple of
the number of rows. In Xiangqi and chess the first row applies with all material, the last one with none; weights are
interpolated between them. ``patterns`` are optional weights of patterns: 16-bit numbers, a row for each of
``pattern_phases``, compressed (zlib) and written in base 85.

A setting names a file. Validation turns it into ``name#digest`` with a digest of the numbers. So a game's settings
identify the weights, and a later change of the file is detected.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import json
import string
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError, find_config, nearest, read_toml
from elolab.engine.settings.features import FEATURES
from elolab.engine.settings.toml_values import format_toml

STEPS = 60
"""Number of steps of a game that can have separate weights. In Othello a step is the number of discs placed."""
LINE = 116
"""Width, in characters, of the lines with pattern weights in a file."""
MAX_WEIGHT = 10_000
"""Maximum absolute value of a weight, in hundredths of a point."""
MAX_PACKED_WEIGHT = 2_000
"""Maximum absolute value of a weight in ``PACKED_GAMES``: two sums of weights must fit into 16 bits each."""
PACKED_GAMES = ("xiangqi", "chess")
"""Games whose compiled code packs two weights into one integer: one for full material, one for none."""
DIGEST_DIGITS = 12

WEIGHTS = schema.declare(
    "elolab.engine",
    "weights_key",
    "weights",
    game=schema.text(example="othello"),
    provenance=schema.text(example="Fitted by: ..."),
    features=schema.key(schema.TEXTS, example=["mobility", "corners"], expected="a list of the features' names"),
    phases=schema.key(schema.ROWS, example=[[52, 10], [102, -2]], least=1, expected="rows of weights"),
    pattern_phases=schema.whole(1, STEPS, example=6, default=schema.COMPUTED),
    patterns=schema.text(example="...", default=schema.COMPUTED, expected="compressed numbers in base 85"),
)


@dataclass(frozen=True)
class Weights:
    """The content of a file of weights."""

    game: str
    provenance: str
    features: tuple[str, ...]
    phases: tuple[tuple[int, ...], ...]
    """Weights in hundredths of a point, one row per phase and one column per feature."""
    pattern_phases: int = 0
    """Number of game phases with separate pattern weights; 0 if the file has no pattern weights."""
    patterns: bytes = b""
    """Pattern weights in hundredths of a point, as little-endian int16, one phase after another."""

    @functools.cached_property
    def digest(self) -> str:
        """Digest of features and weights, which are everything in the file that affects the evaluation."""
        numbers: list[Any] = [self.game, self.features, self.phases]
        if self.pattern_phases:
            numbers += [self.pattern_phases, hashlib.sha256(self.patterns).hexdigest()]
        content = json.dumps(numbers, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()[:DIGEST_DIGITS]


def read_weights(path: Path) -> Weights:
    """Read a file of weights. Raises ``ConfigurationError`` if the content is invalid."""
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(64)
def _read(path: Path, changed_ns: int, size: int) -> Weights:
    table = schema.Table(read_toml(path), str(path), WEIGHTS, kind="weights")
    features = table["features"]
    phases = table["phases"]
    for row in phases:
        if not isinstance(row, list) or len(row) != len(features):
            raise ConfigurationError(
                f"{path}: phases: {format_toml(row)}, expected {len(features)} weights in each row"
            )
        for weight in row:
            if isinstance(weight, bool) or not isinstance(weight, int):
                raise ConfigurationError(f"{path}: phases: {format_toml(weight)}, expected a whole number")
    rows = tuple(tuple(row) for row in phases)
    return Weights(table["game"], table["provenance"], tuple(features), rows, *_read_patterns(table))


def _read_patterns(table: schema.Table) -> tuple[int, bytes]:
    """The number of phases and the pattern weights of a file, as in ``Weights``."""
    if "patterns" not in table:
        return 0, b""
    phases = table["pattern_phases"]
    if STEPS % phases:
        raise table.error("pattern_phases", f"a number that divides {STEPS}")
    text = table["patterns"]
    try:
        numbers = zlib.decompress(_base_85_decoded("".join(text.split())))
    except (ValueError, zlib.error) as error:
        raise ConfigurationError(f"{table.where}: patterns: damaged ({error})", "fit them again") from None
    if not numbers or len(numbers) % (2 * phases):
        raise ConfigurationError(f"{table.where}: patterns: {len(numbers)} bytes do not make {phases} equal rows")
    return phases, numbers


def _base_85_decoded(text: str) -> bytes:
    """Fast equivalent of ``base64.b85decode``, which would take 0.1 s for the weights. Raises ``ValueError``."""
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
    """The keys ``pattern_phases`` and ``patterns`` as TOML text, for an array with one row per phase."""
    encoded = base64.b85encode(zlib.compress(weights.astype("<i2").tobytes(), 9)).decode("ascii")
    lines = [encoded[start : start + LINE] for start in range(0, len(encoded), LINE)]
    return "\n".join([f"pattern_phases = {len(weights)}", "patterns = '''", *lines, "'''"]) + "\n"


_PROVIDED: dict[str, Weights] = {}
"""Weights that were registered without a file, by digest; for instance, weights received from another machine."""


def name_and_digest(value: str) -> tuple[str, str]:
    """Split a setting ``name#digest`` into the file's name or path, which may itself contain ``#``, and the digest.

    The digest is empty if the setting has none.
    """
    name, mark, digest = value.rpartition("#")
    is_pinned = bool(mark) and len(digest) == DIGEST_DIGITS and set(digest) <= set("0123456789abcdef")
    return (name, digest) if is_pinned else (value, "")


def find_weights(value: str, games: Sequence[str] = tuple(FEATURES)) -> Weights:
    """The weights for a setting ``name`` or ``name#digest``; they must be for one of ``games``.

    Raises ``ConfigurationError`` if there is no such file, if it is for another game or names features that its game
    does not have, or if its content no longer matches the digest.
    """
    name, digest = name_and_digest(value)
    if digest in _PROVIDED:
        return _PROVIDED[digest]
    path = find_config("weights", name)
    weights = read_weights(path)
    if weights.game not in games:
        raise ConfigurationError(f"{path}: game = {weights.game!r}, expected {' or '.join(games)}")
    status = path.stat()
    _check_content(path, status.st_mtime_ns, status.st_size)
    if digest and digest != weights.digest:
        raise ConfigurationError(
            f"{path}: its weights have the digest {weights.digest}", "restore the file, or leave out the digest"
        )
    return weights


def provide_weights(weights: Weights) -> None:
    """Register validated weights, so that settings ``name#digest`` can use them without a file."""
    _PROVIDED.setdefault(weights.digest, weights)


def is_provided(digest: str) -> bool:
    """Whether ``provide_weights`` has registered weights with that digest."""
    return digest in _PROVIDED


@functools.lru_cache(64)
def _check_content(path: Path, changed_ns: int, size: int) -> None:
    """Check that a weights file names known features and has legal numbers.

    Results are cached by path, modification time in nanoseconds and size, because every new engine reads its weights.
    """
    weights = _read(path, changed_ns, size)
    known = set(FEATURES[weights.game])
    strange = [name for name in weights.features if name not in known]
    if strange:
        hint = nearest(strange[0], FEATURES[weights.game])
        raise ConfigurationError(f"{path}: features: the evaluation of {weights.game} has no {strange[0]!r}{hint}")
    if len(set(weights.features)) != len(weights.features) or not weights.features:
        raise ConfigurationError(f"{path}: features = {list(weights.features)}, expected some names, each once")
    _check_numbers(weights, path)


def _check_numbers(weights: Weights, path: Path) -> None:
    largest = MAX_PACKED_WEIGHT if weights.game in PACKED_GAMES else MAX_WEIGHT
    phases = len(weights.phases)
    weight = max((weight for row in weights.phases for weight in row), key=abs, default=0)
    if abs(weight) > largest:
        raise ConfigurationError(f"{path}: phases: {weight}, expected a whole number from {-largest} to {largest}")
    if weights.game == "othello" and STEPS % phases:
        raise ConfigurationError(f"{path}: phases has {phases} rows, expected a number that divides {STEPS}")
    if weights.game in PACKED_GAMES and (phases > 2 or weights.pattern_phases):
        what = f"phases has {phases} rows" if phases > 2 else "patterns are given"
        raise ConfigurationError(f"{path}: {what}, expected one or two rows of weights and nothing else")


def pinned(value: str, games: Sequence[str]) -> str:
    """Add to a setting the digest of the weights that the setting names: ``name#digest``; see ``find_weights``."""
    return f"{name_and_digest(value)[0]}#{find_weights(value, games).digest}"


def pattern_rows(weights: Weights) -> np.ndarray:
    """The pattern weights as an int16 array of shape (pattern_phases, weights per phase)."""
    return np.frombuffer(weights.patterns, "<i2").reshape(weights.pattern_phases, -1)


def rows_of(weights: Weights) -> np.ndarray:
    """The weights as an int64 array of shape (phases, features of the game), in the order of the game's features."""
    features = FEATURES[weights.game]
    table = np.zeros((len(weights.phases), len(features)), np.int64)
    for column, name in enumerate(weights.features):
        table[:, features.index(name)] = [row[column] for row in weights.phases]
    return table


def steps_of(weights: Weights) -> np.ndarray:
    """The weights at each step of a game, as an int64 array of shape (STEPS, features of the game)."""
    rows = rows_of(weights)
    return np.ascontiguousarray(np.repeat(rows, STEPS // len(rows), axis=0))


_ARRAYS: dict[str, np.ndarray] = {}
"""Arrays of weights whose addresses compiled code uses, by digest. They are kept for the whole process."""
_FILLING = threading.Lock()
"""Lock under which ``_ARRAYS`` is filled.

Without the lock, two threads could create the same array, and the first array would be freed while compiled code uses
its address.
"""


def kernel_words(weights: Weights, where: str) -> np.ndarray:
    """The weights as 64-bit words for the compiled code of their game. The first word identifies the game.

    See ``kernel_words`` in the game's module ``weight_layout``. ``where`` names the file in errors. Raises
    ``ConfigurationError`` if the weights do not fit the compiled code.
    """
    with _FILLING:
        if weights.digest not in _ARRAYS:
            # Imported when asked for: it brings the game's tables.
            layout = importlib.import_module(f"elolab.engine.games.{weights.game}.weight_layout")
            _ARRAYS[weights.digest] = layout.kernel_words(weights, where)
        return _ARRAYS[weights.digest]


def weights_address(value: str) -> int:
    """Memory address of the ``kernel_words`` of the weights that ``value``, the value of a setting, selects.

    The address is valid until the process ends.
    """
    return int(kernel_words(find_weights(value), value).ctypes.data)
