"""Reading TOML strictly: unknown keys, wrong types and values out of range are refused in one line.

A file is read once, at the edge, into frozen objects; ``Table`` is what the readers of tournaments, presets, studies
and ablations share.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import tomllib
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from elolab.engine.errors import UserError
from elolab.engine.settings.keys import CHOICE, NUMBER, SWITCH, TABLE, TABLES, TEXT, WHOLE, Default, Key, Section
from elolab.engine.settings.toml_values import format_toml, toml_key

SUFFIXES = {
    "engines": (".toml",),
    "tournaments": (".toml",),
    "tuning": (".toml",),
    "ablations": (".toml",),
    "claims": (".toml",),
    "openings": (".epd", ".epd.gz"),
    "suites": (".epd",),
    "weights": (".toml",),
}
"""Suffixes of the files, by kind of configuration."""

KIND_NAMES = {
    "engines": "engine preset",
    "tournaments": "tournament specification",
    "tuning": "tuning specification",
    "ablations": "ablation specification",
    "claims": "table of claims",
    "openings": "opening suite",
    "suites": "suite of positions",
    "weights": "file of evaluation weights",
}

MARKS: dict[str, tuple[str, ...]] = {
    "engines": ("xiangqi", "othello"),
    "tournaments": ("players",),
    "tuning": ("budget",),
    "ablations": (
        "leave_one_out",
        "add_one_in",
        "values",
        "comparisons",
        "factorial",
        "nodes_to_depth",
        "margin",
        "error_rate",
    ),
    "claims": ("claims",),
    "weights": ("features",),
}
"""By kind, keys that only its files have, and nearly all of them at least one of; of presets the names of games."""

USES = {
    "engines": "players, as of elolab match",
    "tournaments": "elolab tournament",
    "tuning": "elolab tune",
    "ablations": "elolab ablate",
    "claims": "elolab claims --claims",
    "weights": "the parameter evaluation_weights",
}
"""The command or parameter that takes the files, by kind."""

_ASCII = dict(zip("“”‘’−–—、。【】", "\"\"''---,.[]", strict=True))
"""ASCII equivalents of typographic and Chinese characters; Unicode itself maps the wide forms."""

_DECLARED: Any = object()
"""Marker for the default of the key's declaration."""


class ConfigurationError(UserError):
    """A configuration that cannot be used; the message names the file, the key, the value and the remedy."""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """``" (did you mean 'x'?)"`` for the candidate closest to ``name``, or an empty text."""
    near = difflib.get_close_matches(name, list(candidates), 1, 0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def home_of(name: str, section: Section) -> str:
    """``"; it is a key of [x]"`` for a key of a table below ``section``, or an empty text.

    Of a name that such a table knows although it takes any: ``"; it belongs in set = { null_move = ... }"``.
    """
    for key in section.keys:
        if key.section is not None and name in set(key.section):
            head = f"[[{key.name}]]" if TABLES in key.kinds else f"[{key.name}]"
            return f"; it is a key of {head}"
    owners = [key.name for key in section.keys if key.section is not None and key.section.holds(name)]
    return f"; it belongs in {' or '.join(entry_of_table(owner, name) for owner in owners)}" if owners else ""


def entry_of_table(table: str, name: str) -> str:
    """A table with an entry of that name in TOML: ``options = { "Skill Level" = ... }``."""
    return f"{table} = {{ {toml_key(name)} = ... }}"


def refuse_other_kind(data: Mapping[Any, Any], where: str, kind: str, expected: str = "") -> None:
    """Raise ``ConfigurationError`` if a file's content belongs to another kind than ``kind``, a key of ``MARKS``."""
    marks = {other: next(filter(data.__contains__, own), None) for other, own in MARKS.items()}
    found = next((other for other, mark in marks.items() if mark is not None), kind)
    if found == kind or marks[kind] is not None:
        return
    expected, held = expected or _with_article(KIND_NAMES[kind]), _with_article(KIND_NAMES[found])
    raise ConfigurationError(
        f"{where}: not {expected} but {held}, for it has the key {marks[found]!r}; such files are for {USES[found]}"
    )


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def shipped_folder() -> Path:
    """The folder ``configs`` that is installed beside the package ``engine``.

    Its place says where it is, not an import: ``configs`` is a name that a user's own folder may well have.
    """
    return Path(__file__).resolve().parent.parent.parent / "configs"


def find_config(kind: str, name_or_path: str, beside: Path | None = None) -> Path:
    """The file of that kind: a path, then beside the file that names it, ``./configs/<kind>``, then what is shipped.

    ``kind`` is a key of ``SUFFIXES``; the suffix may be left out. Raises ``ConfigurationError`` with the nearest name.
    """
    folders = [Path(), *([beside] if beside else []), Path("configs") / kind, shipped_folder() / kind]
    for folder in folders:
        for suffix in ("", *SUFFIXES[kind]):
            path = folder / (name_or_path + suffix)
            if _is_file(path):
                return path
    if os.sep in name_or_path and Path(name_or_path).is_dir():
        raise ConfigurationError(f"{name_or_path}: a folder; give the {KIND_NAMES[kind]} in it")
    hint = _near_names(name_or_path, available_configs(kind))
    searched = ", ".join(dict.fromkeys(str(folder) for folder in folders[:-1]))
    raise ConfigurationError(
        f"no {KIND_NAMES[kind]} {name_or_path!r}{hint}: no such file, nor one of that name in {searched} "
        "or among those that are shipped"
    )


def _near_names(name: str, names: Sequence[str]) -> str:
    """A hint for an error: up to four similar names, the nearest first, or all names if none is similar."""
    near = difflib.get_close_matches(name, names, 4, 0.4) or [other for other in names if name and name in other][:4]
    if not near:
        return f" (there are {', '.join(names)})" if names else ""
    listed = " or ".join(filter(None, (", ".join(map(repr, near[:-1])), repr(near[-1]))))
    return f" (did you mean {listed}?)"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name longer than any file's
        return False


def available_configs(kind: str) -> list[str]:
    """The names, without suffix, that ``find_config`` finds without a path."""
    names = set()
    for folder in (Path("configs") / kind, shipped_folder() / kind):
        for path in folder.glob("*") if folder.is_dir() else ():
            for suffix in SUFFIXES[kind]:
                if path.name.endswith(suffix):
                    names.add(path.name.removesuffix(suffix))
    return sorted(names)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises ``ConfigurationError`` naming the file, the line and the usual remedy."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin it with a mark
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}{_toml_remedy(text, str(error))}") from None
    except ValueError:  # Python reads no longer numbers
        raise ConfigurationError(f"{path}: {_place_of_long_number(text)}; write a shorter one") from None
    except RecursionError:
        reason = "lists or tables are nested too deeply; take some of the brackets out"
        raise ConfigurationError(f"{path}: {reason}") from None


def _place_of_long_number(text: str) -> str:
    """The line and key of the first whole number that has more digits than Python reads."""
    most = sys.get_int_max_str_digits()
    found = re.search(rf"[0-9](?:_?[0-9]){{{most},}}", text)
    if found is None:
        return f"a whole number has more than {most} digits"
    before = text[: found.start()].split("\n")
    key = re.match(r"\s*([^\s=#]+)\s*=", before[-1])
    return f"line {len(before)}: {f'{key[1]} is' if key else 'there is'} a whole number of more than {most} digits"


def _toml_remedy(text: str, error: str) -> str:
    """A remedy for a TOML error, derived from the text at its place; empty if there is none."""
    place = re.search(r"at line (\d+), column (\d+)", error)
    if place is None:
        return ""
    line, column = text.split("\n")[int(place[1]) - 1], int(place[2]) - 1
    if "\\" in error:
        return "; between single quotation marks, as in 'C:\\mine', a backslash is a character like others"
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|([^\x00-\x7f])', line):
        character = found[1]
        if character is None:  # a text or a comment, which may hold any
            continue
        if character.isalpha():
            whole = next(word[0] for word in re.finditer(r"[\w-]+", line) if word.end() > found.start())
            return f'; what has other letters than English ones stands in quotation marks: "{whole}"'
        meant = _ASCII.get(character) or unicodedata.normalize("NFKC", character)
        remedy = f"write {meant!r}" if meant.isascii() else "take it out"
        return f"; {character!r} may not stand there: {remedy}"
    word = re.match(r"[A-Za-z][^\s,#\]}]*", line[column:])
    if "Invalid value" not in error or word is None:
        return ""
    lower = word[0].lower()
    return f"; write {lower}" if lower in ("true", "false") else f'; texts stand in quotation marks: "{word[0]}"'


class Table:
    """One table of a configuration; its methods return checked values, and unknown keys are refused at once.

    ``where`` is the file, followed by the table's name unless it is the top one. ``section`` declares the keys with
    their ranges and defaults; reading an undeclared key is a mistake of the program and raises ``KeyError``. Methods
    take a default for keys whose declaration calls it computed.
    """

    def __init__(
        self, data: object, where: str, section: Section, *, knows_all: bool = True, kind: str | None = None
    ) -> None:
        """``knows_all`` is false if other code reads further keys; ``kind`` is the kind of a whole file."""
        if not isinstance(data, Mapping):
            raise ConfigurationError(f"{where}: {format_toml(data)} is not a table of key = value")
        self.where = where
        self.section = section
        self._data = data
        for key in data:
            if knows_all and key not in section:
                if kind is not None:
                    refuse_other_kind(data, where, kind)
                hint = home_of(str(key), section) or nearest(str(key), section)
                hint = hint or f"; expected one of {', '.join(section)}"
                raise ConfigurationError(f"{where}: unknown key {key!r}{hint}")
        if knows_all:
            self._refuse_strayed_keys()

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def error(self, key: str, expected: str) -> ConfigurationError:
        """The error to raise for the value of ``key``; ``expected`` says what would be right."""
        if key not in self._data:
            return ConfigurationError(f"{self.where}: {key} is missing, expected {expected}")
        return ConfigurationError(f"{self.where}: {key} = {format_toml(self._data[key])}, expected {expected}")

    def value(self, key: str, default: Any = _DECLARED, expected: str = "a value") -> Any:
        """The value, unchecked; raises an error if the key is missing and has no default."""
        declared = self.section[key]
        if key in self._data:
            return self._data[key]
        if default is _DECLARED:
            default = declared.default
        if isinstance(default, Default):
            raise self.error(key, expected)
        return default

    def text(self, key: str, default: Any = _DECLARED, expected: str = "a text") -> Any:
        """A text that is not empty; ``default`` may be ``None``."""
        self._declared(key, TEXT)
        value = self.value(key, default, expected)
        if key in self._data and (not isinstance(value, str) or not value.strip()):
            raise self.error(key, expected)
        return value

    def choice(self, key: str, default: Any = _DECLARED, *, but: Container[Any] = ()) -> Any:
        """One of the declared choices, except those in ``but``."""
        choices = [choice for choice in self._declared(key, CHOICE).choices if choice not in but]
        expected = " or ".join(repr(choice) for choice in choices)
        value = self.value(key, default, expected)
        if isinstance(value, bool) or value not in choices:
            hint = nearest(value, [str(choice) for choice in choices]) if isinstance(value, str) else ""
            raise self.error(key, expected + hint)
        return choices[choices.index(value)]

    def whole(self, key: str, default: Any = _DECLARED, *, high: int | None = None) -> int:
        """A whole number in its range; ``high`` lowers the upper end."""
        declared = self._declared(key, WHOLE)
        low, high = int(declared.low), int(declared.high if high is None else high)
        expected = f"a whole number from {low} to {high}"
        value = self.value(key, default, expected)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(key, expected)
        return value

    def number(self, key: str, default: Any = _DECLARED) -> float:
        """A number in its range."""
        declared = self._declared(key, NUMBER)
        unit = f" {declared.unit}" if declared.unit else ""
        expected = f"a number from {declared.low:g} to {declared.high:g}{unit}"
        value = self.value(key, default, expected)
        if isinstance(value, bool) or not isinstance(value, int | float) or not declared.low <= value <= declared.high:
            raise self.error(key, expected)
        return float(value)

    def switch(self, key: str, default: Any = _DECLARED) -> bool:
        """``true`` or ``false``."""
        self._declared(key, SWITCH)
        value = self.value(key, default, "true or false")
        if not isinstance(value, bool):
            raise self.error(key, "true or false")
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """A table as a dictionary, unchecked; empty if it is missing."""
        self._declared(key, TABLE)
        value = self.value(key, {})
        if not isinstance(value, Mapping):
            raise self.error(key, "a table of name = value")
        return dict(value)

    def table(self, key: str, names: Sequence[str] | None = None) -> Table:
        """The table ``[key]``; empty if it is missing. ``names`` restricts the keys of a table with free names."""
        section = self._declared(key, TABLE).section
        assert section is not None
        return Table(self.value(key, {}), f"{self.where}: [{key}]", section if names is None else section.only(names))

    def array(self, key: str, expected: str) -> list[Any]:
        """The tables ``[[key]]``."""
        self._declared(key, TABLES)
        value = self.value(key, expected=expected)
        if not isinstance(value, list) or not value:
            raise self.error(key, expected)
        return value

    def _refuse_strayed_keys(self) -> None:
        """Raise ``ConfigurationError`` for a key of this table that was written below the head of a subtable."""
        for name, value in self._data.items():
            below = self.section[name].section
            for entry in value if isinstance(value, list) else [value]:
                if below is None or not isinstance(entry, Mapping):
                    continue
                for key in entry:
                    if key not in below and key in self.section:
                        head = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
                        raise ConfigurationError(
                            f"{self.where}: {key} stands below {head}, so it is part of that table; write it above the "
                            "first table"
                        )

    def _declared(self, key: str, kind: str) -> Key:
        """The declaration of a key, which must allow ``kind``."""
        declared = self.section[key]
        assert kind in declared.kinds, f"{self.section.name}: {key} is declared as {declared.kinds}"
        return declared


def specification_word(kind: str, source: str) -> str:
    """The word for a file on a command line: its name if it is a shipped one, else its path.

    The path is from the current folder if the file lies below it, as the folders of results are.
    """
    path = Path(source).resolve()
    name = path.name.removesuffix(SUFFIXES[kind][0])
    # In the project's own folder ./configs is what is shipped.
    is_there = path.parent == (shipped_folder() / kind).resolve() and path.is_file()
    if is_there and find_config(kind, name).resolve() == path:
        return name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else source
