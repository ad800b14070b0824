"""Message catalogues in English and Chinese, and the layout of text in terminal columns.

A package's catalogue is the files ``messages/en.toml`` and ``messages/zh.toml`` in its folder. A message is
``str.format`` text under a key ``table.name``; both languages have the same keys and the same fields. Words with a
singular and a plural are written ``{games} {games:game|games}``: the first form for 1, the second for other numbers.
"""

from __future__ import annotations

import functools
import re
import textwrap
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elolab.engine.rules import Rules

LANGUAGES = ("en", "zh")
DEFAULT_LANGUAGE = "en"
LANGUAGE_VARIABLE = "ELOLAB_LANGUAGE"
"""Environment variable that sets the language if ``--language`` is not given."""

_NUMBER_FORMS = re.compile(r"\{(\w+):([^{}|]*)\|([^{}|]*)\}")

_console_language = DEFAULT_LANGUAGE


class Catalogue:
    """A package's messages in one language. Calling a catalogue with a message's key returns the text."""

    def __init__(self, package: str, language: str = DEFAULT_LANGUAGE) -> None:
        """``package`` is the dotted name of the package that has the folder ``messages``."""
        self.package, self.language = package, language

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text of the message ``key``, with ``values`` for its fields. Raises ``KeyError`` for an unknown key."""
        text = messages_of(self.package, self.language)[key]
        return with_number_forms(text, values).format(**values) if values else text

    def __contains__(self, key: str) -> bool:
        return key in messages_of(self.package, self.language)

    def name_of(self, table: str, name: str) -> str:
        """The text for ``name`` in a table of the catalogue; if there is none, ``name`` with spaces for underscores."""
        key = f"{table}.{name}"
        return self(key) if key in self else name.replace("_", " ")


@functools.cache
def messages_of(package: str, language: str) -> dict[str, str]:
    """All messages of a package in one language, by key (``table.name``)."""
    text = (resources.files(package) / "messages" / f"{language}.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {f"{table}.{name}": message for table, messages in tables.items() for name, message in messages.items()}


def with_number_forms(text: str, values: dict[str, Any]) -> str:
    """Replace each field ``{name:one|many}`` of a message by the form for the number ``values[name]``: ``one`` for 1,
    otherwise ``many``. Other fields remain.
    """
    return _NUMBER_FORMS.sub(lambda forms: forms[2] if values[forms[1]] in (1, "1") else forms[3], text)


def speak(language: str) -> None:
    """Set the language of this process's console output."""
    global _console_language
    _console_language = language


def console(package: str) -> Catalogue:
    """The message catalogue of a package, in the language of this process's console output."""
    return Catalogue(package, _console_language)


def with_minus(number: str) -> str:
    """Replace the hyphen of a negative number by a minus sign, for text that people read."""
    return number.replace("-", "\N{MINUS SIGN}")


def columns_of(text: str) -> int:
    """Number of terminal columns that a text occupies; a Chinese character occupies two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def cut(text: str, columns: int) -> str:
    """The longest prefix of ``text`` that fits into ``columns`` terminal columns."""
    while columns_of(text) > columns:
        text = text[:-1]
    return text


def clipped(text: str, columns: int) -> str:
    """``text`` if it fits into ``columns`` terminal columns, otherwise the words that fit, followed by an ellipsis."""
    if columns_of(text) <= columns:
        return text
    words = cut(text, max(0, columns - 2))
    if " " in words and not text[len(words) :].startswith(" "):
        words = words[: words.rindex(" ")]
    return cut(f"{words.rstrip()} \N{HORIZONTAL ELLIPSIS}", columns)


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """``text`` padded with spaces to ``columns`` terminal columns, aligned to the left or ``right``.

    A text that is wider is returned unchanged.
    """
    room = " " * (columns - columns_of(text))
    return room + text if right else text + room


def wrapped(text: str, columns: int) -> list[str]:
    """Split ``text`` into lines of at most ``columns`` terminal columns, at spaces and next to Chinese characters."""
    if text.isascii() or columns_of(text) == len(text):
        return textwrap.wrap(text, columns)
    lines, line = [], ""
    for piece in _unbroken(text):
        if line and columns_of(line + piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]


def fitted(lines: Iterable[str], columns: int) -> list[str]:
    """Wrap each of ``lines`` that is wider than ``columns`` terminal columns.

    A line may begin with a label, which ends with two spaces. Continuation lines are indented to the text after the
    label; without a label they start at the left margin. A word that is too long for a line is split.
    """
    found = []
    for line in lines:
        if columns_of(line) <= columns:
            found.append(line)
            continue
        label = re.match(r"\s*(?:\S+(?: \S+)* {2,})?", line)
        start = label[0] if label is not None and columns_of(label[0]) <= columns // 2 else ""
        indent = " " * columns_of(start)
        room = columns - len(indent)
        for number, part in enumerate(_in_room(line[len(start) :], room)):
            found.append((indent if number else start) + part)
    return found


def _in_room(text: str, columns: int) -> Iterator[str]:
    for line in wrapped(text, columns):
        while columns_of(line) > columns:
            part = cut(line, columns)
            yield part
            line = line[len(part) :]
        yield line


def _unbroken(text: str) -> list[str]:
    """Split a text into the pieces between which a line may break.

    A line may break after a space and next to a Chinese character, but not before closing punctuation and not after an
    opening bracket or quotation mark.
    """
    pieces = [""]
    before = ""
    for character in text:
        may_break = before == " " or columns_of(before) == 2 or columns_of(character) == 2
        if may_break and character not in " ，。、；：！？）」”" and before not in ("", "（", "「", "“"):
            pieces.append("")
        pieces[-1] += character
        before = character
    return pieces


@dataclass(frozen=True)
class GameWords:
    """Names of a game, its sides, its pieces and its score unit, in one language."""

    title: str
    side_names: tuple[str, str]
    """Names of the two sides, in the order in which they move."""
    score_name: str
    """Plural name of the score unit worth 100 points, such as ``pawns``."""
    pieces: dict[str, str]
    """Names of the pieces, by their letters in a position's text; empty for a game whose pieces have no names."""
    rules: tuple[str, ...] = ()
    """Sentences that describe the rules in use; empty for a game with only one set of rules."""


def game_words(name: str, language: str, rules: Rules | None = None) -> GameWords:
    """The names of a game, from the message catalogue in its folder, or from the ``Game`` object if it has no
    catalogue.

    ``rules`` are the rules that ``GameWords.rules`` describes; ``None`` to describe none.
    """
    from elolab.engine.games import game_named

    game = game_named(name)
    say = Catalogue(f"elolab.engine.games.{name}", language)
    try:
        messages = messages_of(say.package, language)
    except (FileNotFoundError, ModuleNotFoundError):
        return GameWords(game.title, game.side_names, game.score_name, {})
    return GameWords(
        say("game.title"),
        (say("game.first_side"), say("game.second_side")),
        say("game.score"),
        {key.removeprefix("piece."): text for key, text in messages.items() if key.startswith("piece.")},
        tuple(say(key, **values) for key, values in game.rule_messages(rules)) if rules else (),
    )
