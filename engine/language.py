"""Sentences for people, apart from the code: catalogues in English and Chinese, one pair of files a package.

A catalogue is ``messages/en.toml`` and ``messages/zh.toml`` beside the modules that use it. A message is
``str.format`` text under a key ``table.name``; both languages have the same keys and the same fields.
"""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

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


@functools.cache
def messages_of(package: str, language: str) -> dict[str, str]:
    """Every message of a package in a language, by ``table.name``."""
    text = (resources.files(package) / "messages" / f"{language}.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {f"{table}.{name}": message for table, messages in tables.items() for name, message in messages.items()}
