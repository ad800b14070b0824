"""Sentences for people, apart from the code: catalogues in English and Chinese, one pair of files a package.

A catalogue is ``messages/en.toml`` and ``messages/zh.toml`` beside the modules that use it. A message is
``str.format`` text under a key ``table.name``; both languages have the same keys and the same fields.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.rules import Rules

LANGUAGES = ("en", "zh")
DEFAULT_LANGUAGE = "en"


class Catalogue:
    """The messages of a package in one language."""

    def __init__(self, package: str, language: str = DEFAULT_LANGUAGE) -> None:
        """``package`` is the dotted name of the one that holds ``messages``; ``language`` one of ``LANGUAGES``."""
        self.package, self.language = package, language

    def __call__(self, key: str, /, **values: Any) -> str:
        """The message ``key`` with its fields filled in. Raises ``KeyError`` if there is none."""
        text = messages_of(self.package, self.language)[key]
        return text.format(**values) if values else text

    def __contains__(self, key: str) -> bool:
        return key in messages_of(self.package, self.language)

    def name_of(self, table: str, name: str) -> str:
        """What a table calls something that the program calls ``name``; for what it lacks, that name in words."""
        key = f"{table}.{name}"
        return self(key) if key in self else name.replace("_", " ")


@functools.cache
def messages_of(package: str, language: str) -> dict[str, str]:
    """Every message of a package in a language, by ``table.name``."""
    text = (resources.files(package) / "messages" / f"{language}.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {f"{table}.{name}": message for table, messages in tables.items() for name, message in messages.items()}


@dataclass(frozen=True)
class GameWords:
    """What a game and its parts are called in a language."""

    title: str
    side_names: tuple[str, str]
    """First mover's colour, second mover's colour."""
    score_name: str
    """What a hundred points of a search's score are called."""
    pieces: dict[str, str]
    """By the letter of a position's text; empty where pieces have no names."""
    rules: tuple[str, ...] = ()
    """The rules in force, where the game has a choice of them."""


def game_words(name: str, language: str, rules: Rules | None = None) -> GameWords:
    """The words of a game from its folder's catalogue, or, where it has none, as the game itself has them."""
    from engine.games import game_named

    game = game_named(name)
    say = Catalogue(f"engine.games.{name}", language)
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
