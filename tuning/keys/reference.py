"""The reference of all keys of all TOML files: terminal text, the pages ``docs/keys*.md``, and JSON schemas.

``make docs`` runs this module to rewrite the pages and schemas.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elolab.arena import ARENA_FILES
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue, padded, wrapped
from elolab.engine.settings import ENGINE_FILES, FileKind
from elolab.engine.settings.schema import CHOICE, NUMBER, TABLE, TABLES, WHOLE, Default, Field, Schema
from elolab.engine.settings.toml_values import toml_key, toml_value
from elolab.tuning import TUNING_FILES
from elolab.tuning.keys.json_schema import schema_text

KINDS = tuple(kind for kind in (*ARENA_FILES, *TUNING_FILES, *ENGINE_FILES) if kind.name)
"""The kinds of TOML file that the reference describes."""
NAME = "NAME"
"""Placeholder for a name that the user chooses, as in ``builds.NAME``."""
PAGES = {"keys.md": "en", "keys.zh-CN.md": "zh"}
"""File names of the reference's pages in ``docs``, each with its language code."""
SCHEMAS = Path("configs") / "schemas"
INDENT, DEEPER = "  ", "      "


@dataclass(frozen=True)
class Place:
    """One table of a kind of TOML file, or the top level of the file."""

    kind: FileKind
    schema: Schema
    paths: tuple[str, ...]
    """Paths of the table in the file, such as ``validation`` or ``builds.NAME``; the top level has the path ``""``."""
    is_array: bool = False
    """Whether the file may repeat the table (``[[name]]``)."""

    @property
    def heading(self) -> str:
        """The table's heading in the file, such as ``[[players]]``; for the top level, the name of the kind."""
        if not self.paths[0]:
            return self.kind.name
        return ", ".join(f"[[{path}]]" if self.is_array else f"[{path}]" for path in self.paths)


def places_of(kind: FileKind) -> list[Place]:
    """The top level of the file, then its tables that have keys.

    Tables with the same keys are merged into one place.
    """
    found: dict[int, Place] = {}
    for place in (Place(kind, kind.keys, ("",)), *_below(kind, kind.keys, "")):
        same = found.get(id(place.schema))
        found[id(place.schema)] = place if same is None else replace(same, paths=(*same.paths, *place.paths))
    return list(found.values())


def _below(kind: FileKind, schema: Schema, path: str) -> Iterator[Place]:
    for key in entries_of(schema):
        below = key.schema
        if below is None or not (below.keys or (below.others and TABLE in below.others.kinds)):
            continue
        own = f"{path}.{key.name}" if path else key.name
        if below.keys:
            yield Place(kind, below, (own,), TABLES in key.kinds)
        yield from _below(kind, below, own)


def entries_of(schema: Schema) -> list[Field]:
    """The keys of a table. If users may add keys of their own, the last entry, called ``NAME``, describes such
    keys.
    """
    return [*schema.keys.values(), *([] if schema.others is None else [schema[NAME]])]


class Wording:
    """The texts about keys in one language: meaning, type and default."""

    def __init__(self, language: str) -> None:
        self.say = Catalogue("elolab.tuning.keys", language)
        self._language = language

    def meaning(self, key: Field) -> str:
        """A key's meaning, as a sentence."""
        return Catalogue(key.catalogue, self._language)(f"{key.topic}.{key.message}")

    def of_table(self, schema: Schema) -> str:
        """A table's description, as a sentence."""
        return Catalogue(schema.catalogue, self._language)(f"{schema.topic}.{schema.name}")

    def default(self, key: Field) -> str:
        """The default of a key as text; empty if the key is required or has no default."""
        if key.default is Default.COMPUTED:
            return Catalogue(key.catalogue, self._language)(f"{key.topic}_default.{key.message}")
        return "" if key.default is None or key.default == () else written(key.default)

    def default_sentence(self, key: Field) -> str:
        """A phrase that states the default of a key, or that the key is required; empty if an optional key has no
        default.
        """
        if key.default is Default.REQUIRED:
            return self.say("reference.required")
        text = self.default(key)
        if not text:
            return ""
        message = "reference.left_out" if key.default is Default.COMPUTED else "reference.default_is"
        return self.say(message, default=text)

    def type(self, key: Field) -> str:
        """The type of a key's value, with its range and unit."""
        return self.say("reference.or").join(self._kind(key, kind) for kind in key.kinds)

    def _kind(self, key: Field, kind: str) -> str:
        if kind == CHOICE:
            choices = self.say("reference.comma").join(map(written, key.choices))
            return self.say("reference.choice", choices=choices)
        words = self.say(f"kind.{kind}")
        if kind in (WHOLE, NUMBER):
            words = self.say("reference.range", kind=words, low=_number(key.low), high=_number(key.high))
            if key.unit:
                words += self.say("reference.unit", unit=self.say(f"unit.{key.unit}"))
        if kind == TABLE and key.schema is not None and key.schema.others is not None:
            words += f" {NAME} = {self.type(key.schema.others)}"
        return words


def written(value: object) -> str:
    """A plain value in TOML syntax."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_key(name)} = {written(own)}' for name, own in value.items())} }}"
    return f"{value:g}" if isinstance(value, float) else toml_value(value)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


# On a terminal


def find_places(word: str) -> Sequence[tuple[Place, Field | None]]:
    """Find the tables and keys that a word names.

    The word names a kind of file, a table such as ``sprt`` or ``tuning.validation``, or a key. For a kind of file the
    result is all tables of the file. Each result is a table, and the key or ``None`` if the word names no key.

    Raises ``UserError`` for an unknown name; the message suggests the nearest one.
    """
    places = [place for kind in KINDS for place in places_of(kind)]
    wanted = word.strip("[]")
    if any(kind.name == wanted for kind in KINDS):
        return [(place, None) for place in places if place.kind.name == wanted]
    tables = [place for place in places if wanted in _names_of(place)]
    if tables:
        return [(place, None) for place in {id(place.schema): place for place in reversed(tables)}.values()]
    found = [(place, place.schema[wanted]) for place in places if wanted in tuple(place.schema)]
    if found:
        return [pair for number, pair in enumerate(found) if pair[1] not in [key for _, key in found[:number]]]
    near = difflib.get_close_matches(wanted, known_names(), 1, 0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UserError(f"no kind of file, table or key {word!r}{hint}", "elolab keys lists the kinds")


def known_names() -> tuple[str, ...]:
    """All names that ``find_places`` accepts: kinds of files, tables and keys."""
    places = [place for kind in KINDS for place in places_of(kind)]
    names = [name for place in places for name in (*_names_of(place), *place.schema)]
    return tuple(dict.fromkeys([*(kind.name for kind in KINDS), *names]))


def _names_of(place: Place) -> list[str]:
    """All names of a table: ``validation`` and, with the kind of file, ``tuning.validation``."""
    return [name for path in place.paths for name in (path, f"{place.kind.name}.{path}") if path]


def overview(language: str, columns: int) -> str:
    """A list of the kinds of files and their tables, wrapped to ``columns``."""
    wording = Wording(language)
    lines = [*wrapped(wording.say("reference.kinds"), columns), ""]
    for kind in KINDS:
        tables = "  ".join(place.heading for place in places_of(kind)[1:])
        lines += [
            f"{padded(kind.name, 12)}{wrapped(wording.of_table(kind.keys), columns - 12)[0]}",
            *(f"{' ' * 12}{line}" for line in wrapped(wording.of_table(kind.keys), columns - 12)[1:]),
            *(f"{' ' * 12}{line}" for line in wrapped(tables, columns - 12) if tables),
        ]
    return "\n".join(lines) + "\n"


def explained(word: str, language: str, columns: int) -> str:
    """The full explanation of a kind of file, a table or a key, wrapped to ``columns``."""
    wording = Wording(language)
    blocks = []
    for place, key in find_places(word):
        keys = entries_of(place.schema) if key is None else [key]
        heading = f"{place.kind.name}: {place.heading}" if place.paths[0] else place.kind.name
        blocks.append("\n".join([heading, *_indented(wording.of_table(place.schema), INDENT, columns)]))
        blocks += ["\n".join(_entry(wording, one, columns)) for one in keys]
    return "\n\n".join(blocks) + "\n"


def _entry(wording: Wording, key: Field, columns: int) -> Iterator[str]:
    yield f"{INDENT}{example_of(key)}"
    facts = [wording.type(key), wording.default_sentence(key)]
    yield from _indented(wording.say("reference.and").join(fact for fact in facts if fact), DEEPER, columns)
    yield from _indented(wording.meaning(key), DEEPER, columns)


def example_of(key: Field) -> str:
    """A TOML line with the key and an example value; for a key that holds a table, the table's heading."""
    name = toml_key(key.name)
    if key.example is not None:
        return f"{name} = {written(key.example)}"
    return f"[[{name}]]" if key.schema is not None and TABLE not in key.kinds else f"[{name}]"


def _indented(text: str, indent: str, columns: int) -> list[str]:
    return [f"{indent}{line}" for line in wrapped(text, columns - len(indent))]


# As pages and schemas


def page(language: str) -> str:
    """The reference in one language as Markdown: the content of one page ``docs/keys*.md``."""
    say = Catalogue("elolab.tuning.keys", language)
    name, other = next((name, other) for name, other in PAGES.items() if other != language)
    link = f"*[{Catalogue('elolab.tuning.keys', other)('reference.language')}]({name})*"
    lines = [f"# {say('reference.title')}", "", link, ""]
    lines += [say("reference.introduction"), "", say("reference.schemas")]
    for kind in KINDS:
        for place in places_of(kind):
            lines += ["", *_page_block(Wording(language), place)]
    return "\n".join(lines) + "\n"


def _page_block(wording: Wording, place: Place) -> list[str]:
    heads = [wording.say(f"reference.{name}") for name in ("key", "type", "default", "meaning")]
    lines = [f"### `{place.heading}`" if place.paths[0] else f"## {place.kind.name}", ""]
    lines += [wording.of_table(place.schema), "", _row(heads), _row(["---"] * len(heads))]
    for key in entries_of(place.schema):
        default = f"*{wording.say('reference.required')}*" if key.default is Default.REQUIRED else wording.default(key)
        if key.has_constant_default and default:
            default = f"`{default}`"
        lines.append(_row([f"`{example_of(key)}`", wording.type(key), default, wording.meaning(key)]))
    return lines


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_reference(root: Path) -> list[Path]:
    """Write the reference's pages and the JSON schemas below ``root``; return the paths of the files."""
    written = {root / "docs" / name: page(language) for name, language in PAGES.items()}
    written |= {root / SCHEMAS / f"{kind.name}.json": schema_text(kind) for kind in KINDS}
    (root / SCHEMAS).mkdir(parents=True, exist_ok=True)
    for path, text in written.items():
        path.write_text(text, "utf-8")
    return list(written)


if __name__ == "__main__":
    for file in write_reference(Path.cwd()):
        print(file)
