"""Configuration files: finds them by name, reads TOML, and explains mistakes in one line."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from elolab.engine.errors import UserError
from elolab.engine.settings import FILE_KINDS

_ASCII = dict(zip("“”‘’−–—、。【】", "\"\"''---,.[]", strict=True))
"""ASCII equivalents of typographic and Chinese characters that Unicode normalization (NFKC) does not convert."""


class ConfigurationError(UserError):
    """An invalid configuration; the message names the file, the key, the value and the remedy."""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Hint ``" (did you mean 'x'?)"`` with the candidate most similar to ``name``, or an empty string."""
    near = difflib.get_close_matches(name, list(candidates), 1, 0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def refuse_other_kind(data: Mapping[Any, Any], where: str, kind: str, expected: str = "") -> None:
    """Raise ``ConfigurationError`` if a file's content, ``data``, has a key that shows it to be of another kind than
    ``kind``.

    ``kind`` is a key of ``FILE_KINDS``. ``where`` is the file's path, for the error. ``expected`` describes the
    expected file; by default it is the kind's title.
    """
    found = {one.folder: mark for one in FILE_KINDS.values() for mark in reversed(one.marks) if mark in data}
    if not found or kind in found:
        return
    folder, mark = next(iter(found.items()))
    expected, held = expected or _with_article(FILE_KINDS[kind].title), _with_article(FILE_KINDS[folder].title)
    raise ConfigurationError(
        f"{where}: not {expected} but {held}, for it has the key {mark!r}",
        f"such files are for {FILE_KINDS[folder].use}",
    )


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def shipped_folder() -> Path:
    """The folder ``configs`` that is installed with elolab.

    Its path is derived from this file and not from an import, because users may have a folder ``configs`` of their own.
    """
    return Path(__file__).resolve().parent.parent.parent / "configs"


def find_config(kind: str, name_or_path: str, beside: Path | None = None) -> Path:
    """Find a configuration file by path or by name. The suffix may be left out.

    Searches these folders in order: the current folder, ``beside`` (the folder of the file that refers to the wanted
    file), ``./configs/<kind>``, and the shipped files. ``kind`` is a key of ``FILE_KINDS``. Raises
    ``ConfigurationError``, which suggests similar names, if there is no such file.

    Exception: the current folder is searched last for a name without suffix, if it names weights or comes from a
    shipped file. The folder may have a file of another kind with that name.
    """
    is_shipped = beside is not None and beside.resolve().is_relative_to(shipped_folder().resolve())
    is_name = "/" not in name_or_path and not name_or_path.endswith(FILE_KINDS[kind].suffixes)
    shipped = shipped_folder() / kind
    folders = [*([beside] if beside else []), Path("configs") / kind, shipped]
    folders.insert(len(folders) if is_name and (is_shipped or kind == "weights") else 0, Path())
    for folder in folders:
        for suffix in ("", *FILE_KINDS[kind].suffixes):
            path = folder / (name_or_path + suffix)
            if _is_file(path):
                return path
    if os.sep in name_or_path and Path(name_or_path).is_dir():
        raise ConfigurationError(f"{name_or_path}: a folder", f"give the {FILE_KINDS[kind].title} in it")
    hint = _near_names(name_or_path, available_configs(kind))
    searched = ", ".join(dict.fromkeys(str(folder) for folder in folders if folder != shipped))
    raise ConfigurationError(
        f"no {FILE_KINDS[kind].title} {name_or_path!r}{hint}: searched {searched} and the shipped files"
    )


def _near_names(name: str, names: Sequence[str]) -> str:
    """Hint for an error: up to four similar names, the most similar first, or all names if none is similar."""
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
    """Names, without suffix, of the files that ``find_config`` finds by name alone."""
    names = set()
    for folder in (Path("configs") / kind, shipped_folder() / kind):
        for path in folder.glob("*") if folder.is_dir() else ():
            for suffix in FILE_KINDS[kind].suffixes:
                if path.name.endswith(suffix):
                    names.add(path.name.removesuffix(suffix))
    return sorted(names)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises ``ConfigurationError``, which names the file, the line and the usual remedy, if the file
    cannot be read or is not valid TOML.
    """
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin it with a mark
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 text (byte {error.start})", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}", _toml_remedy(text, str(error))) from None
    except ValueError:  # Python reads no longer numbers
        raise ConfigurationError(f"{path}: {_place_of_long_number(text)}", "write a shorter one") from None
    except RecursionError:
        reason = "lists or tables are nested too deeply"
        raise ConfigurationError(f"{path}: {reason}", "take some of the brackets out") from None


def _place_of_long_number(text: str) -> str:
    """Message that gives the line and the key of the first whole number with more digits than Python can convert."""
    most = sys.get_int_max_str_digits()
    found = re.search(rf"[0-9](?:_?[0-9]){{{most},}}", text)
    if found is None:
        return f"a whole number has more than {most} digits"
    before = text[: found.start()].split("\n")
    key = re.match(r"\s*([^\s=#]+)\s*=", before[-1])
    return f"line {len(before)}: {f'{key[1]} is' if key else 'there is'} a whole number of more than {most} digits"


def _toml_remedy(text: str, error: str) -> str:
    """Advice on how to correct a TOML error, given the text in which it occurs; empty if there is none."""
    place = re.search(r"at line (\d+), column (\d+)", error)
    if place is None:
        return ""
    line, column = text.split("\n")[int(place[1]) - 1], int(place[2]) - 1
    if "\\" in error:
        return "between single quotation marks, as in 'C:\\mine', a backslash is a character like others"
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|([^\x00-\x7f])', line):
        character = found[1]
        if character is None:  # a text or a comment, which may hold any
            continue
        if character.isalpha():
            whole = next(word[0] for word in re.finditer(r"[\w-]+", line) if word.end() > found.start())
            return f'write text with other than English letters in quotation marks: "{whole}"'
        meant = _ASCII.get(character) or unicodedata.normalize("NFKC", character)
        remedy = f"write {meant!r}" if meant.isascii() else "take it out"
        return f"{character!r} may not stand there: {remedy}"
    word = re.match(r"[A-Za-z][^\s,#\]}]*", line[column:])
    if "Invalid value" not in error or word is None:
        return ""
    lower = word[0].lower()
    return f"write {lower}" if lower in ("true", "false") else f'texts stand in quotation marks: "{word[0]}"'


def specification_word(kind: str, source: str) -> str:
    """The argument that names the file ``source`` on a command line: its name if it is a shipped file, otherwise its
    path.

    ``kind`` is a key of ``FILE_KINDS``. The path is relative if the file is below the current folder.
    """
    path = Path(source).resolve()
    name = path.name.removesuffix(FILE_KINDS[kind].suffixes[0])
    # In the project's own folder ./configs is what is shipped.
    is_there = path.parent == (shipped_folder() / kind).resolve() and path.is_file()
    if is_there and find_config(kind, name).resolve() == path:
        return name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else source
