"""The reference of all keys of all files: on a terminal, and as the pages ``docs/keys*.md``.

make docs
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue, padded, wrapped
from elolab.engine.settings.keys import CHOICE, NUMBER, TABLE, WHOLE, Default, Key, Section
from elolab.tuning.keys.kinds import KINDS, NAME, Place, entries_of, places_of
from elolab.tuning.keys.schema import schema_text

PAGES = {"keys.md": "en", "keys.zh-CN.md": "zh"}
"""The pages in ``docs``, and their languages."""
SCHEMAS = Path("configs") / "schemas"
INDENT, DEEPER = "  ", "      "


class Wording:
    """Descriptions of keys in one language."""

    def __init__(self, language: str) -> None:
        self.say = Catalogue("elolab.tuning.keys", language)
        self._language = language

    def meaning(self, key: Key) -> str:
        """The meaning of a key."""
        return Catalogue(key.catalogue, self._language)(f"{key.topic}.{key.message}")

    def of_section(self, section: Section) -> str:
        """The description of a table."""
        return Catalogue(section.catalogue, self._language)(f"{section.topic}.{section.name}")

    def default(self, key: Key) -> str:
        """The default of a key as text; empty if leaving the key out has no meaning of its own."""
        if key.default is Default.COMPUTED:
            return Catalogue(key.catalogue, self._language)(f"{key.topic}_default.{key.message}")
        return "" if key.default is None or key.default == () else toml_value(key.default)

    def default_sentence(self, key: Key) -> str:
        """The default of a key as part of a sentence."""
        if key.default is Default.REQUIRED:
            return self.say("reference.required")
        text = self.default(key)
        if not text:
            return ""
        message = "reference.left_out" if key.default is Default.COMPUTED else "reference.default_is"
        return self.say(message, default=text)

    def type(self, key: Key) -> str:
        """The type of a key's value, with its range and unit."""
        return self.say("reference.or").join(self._kind(key, kind) for kind in key.kinds)

    def _kind(self, key: Key, kind: str) -> str:
        if kind == CHOICE:
            choices = self.say("reference.comma").join(map(toml_value, key.choices))
            return self.say("reference.choice", choices=choices)
        words = self.say(f"kind.{kind}")
        if kind in (WHOLE, NUMBER):
            words = self.say("reference.range", kind=words, low=_number(key.low), high=_number(key.high))
            if key.unit:
                words += self.say("reference.unit", unit=self.say(f"unit.{key.unit}"))
        if kind == TABLE and key.section is not None and key.section.others is not None:
            words += f" {NAME} = {self.type(key.section.others)}"
        return words


def toml_value(value: object) -> str:
    """A plain value in TOML syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


# On a terminal


def find_places(word: str) -> Sequence[tuple[Place, Key | None]]:
    """Find a kind of file with all its tables, one table (``sprt``, ``tuning.validation``), or a key.

    Raises ``UserError`` with the nearest name.
    """
    places = [place for kind in KINDS for place in places_of(kind)]
    wanted = word.strip("[]")
    if any(kind.name == wanted for kind in KINDS):
        return [(place, None) for place in places if place.kind.name == wanted]
    tables = [place for place in places if wanted in _names_of(place)]
    if tables:
        return [(place, None) for place in {id(place.section): place for place in reversed(tables)}.values()]
    found = [(place, place.section[wanted]) for place in places if wanted in tuple(place.section)]
    if found:
        return list({id(key): (place, key) for place, key in reversed(found)}.values())[::-1]
    near = difflib.get_close_matches(wanted, known_names(), 1, 0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UserError(f"no kind of file, table or key {word!r}{hint}; elolab keys lists the kinds")


def known_names() -> tuple[str, ...]:
    """All names that ``find_places`` accepts: kinds of files, tables and keys."""
    places = [place for kind in KINDS for place in places_of(kind)]
    names = [name for place in places for name in (*_names_of(place), *place.section)]
    return tuple(dict.fromkeys([*(kind.name for kind in KINDS), *names]))


def _names_of(place: Place) -> list[str]:
    """Names of a table, with and without its kind."""
    return [name for path in place.paths for name in (path, f"{place.kind.name}.{path}") if path]


def overview(language: str, columns: int) -> str:
    """The kinds of files, and their tables."""
    wording = Wording(language)
    lines = [*wrapped(wording.say("reference.kinds"), columns), ""]
    for kind in KINDS:
        tables = "  ".join(place.heading for place in places_of(kind)[1:])
        lines += [
            f"{padded(kind.name, 12)}{wrapped(wording.of_section(kind.section), columns - 12)[0]}",
            *(f"{' ' * 12}{line}" for line in wrapped(wording.of_section(kind.section), columns - 12)[1:]),
            *(f"{' ' * 12}{line}" for line in wrapped(tables, columns - 12) if tables),
        ]
    return "\n".join(lines) + "\n"


def explained(word: str, language: str, columns: int) -> str:
    """The full explanation of a name, wrapped to ``columns``."""
    wording = Wording(language)
    blocks = []
    for place, key in find_places(word):
        keys = entries_of(place.section) if key is None else [key]
        heading = f"{place.kind.name}: {place.heading}" if place.paths[0] else place.kind.name
        blocks.append("\n".join([heading, *_indented(wording.of_section(place.section), INDENT, columns)]))
        blocks += ["\n".join(_entry(wording, one, columns)) for one in keys]
    return "\n\n".join(blocks) + "\n"


def _entry(wording: Wording, key: Key, columns: int) -> Iterator[str]:
    yield f"{INDENT}{example_of(key)}"
    facts = [wording.type(key), wording.default_sentence(key)]
    yield from _indented(wording.say("reference.and").join(fact for fact in facts if fact), DEEPER, columns)
    yield from _indented(wording.meaning(key), DEEPER, columns)


def example_of(key: Key) -> str:
    """A line with the key and an example value."""
    name = key.name if key.name.replace("_", "").replace("-", "").isalnum() else f'"{key.name}"'
    if key.example:
        return f"{name} = {key.example}"
    return f"[[{name}]]" if key.section is not None and TABLE not in key.kinds else f"[{name}]"


def _indented(text: str, indent: str, columns: int) -> list[str]:
    return [f"{indent}{line}" for line in wrapped(text, columns - len(indent))]


# As pages and schemas


def page(language: str) -> str:
    """The page ``docs/keys*.md``."""
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
    lines += [wording.of_section(place.section), "", _row(heads), _row(["---"] * len(heads))]
    for key in entries_of(place.section):
        default = f"*{wording.say('reference.required')}*" if key.default is Default.REQUIRED else wording.default(key)
        if key.has_constant_default and default:
            default = f"`{default}`"
        lines.append(_row([f"`{example_of(key)}`", wording.type(key), default, wording.meaning(key)]))
    return lines


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_reference(root: Path) -> list[Path]:
    """Write the pages and schemas of a checkout; returns the files."""
    written = {root / "docs" / name: page(language) for name, language in PAGES.items()}
    written |= {root / SCHEMAS / f"{kind.name}.json": schema_text(kind) for kind in KINDS}
    (root / SCHEMAS).mkdir(parents=True, exist_ok=True)
    for path, text in written.items():
        path.write_text(text, "utf-8")
    return list(written)


if __name__ == "__main__":
    for file in write_reference(Path.cwd()):
        print(file)
