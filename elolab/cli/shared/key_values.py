"""Parses ``NAME=VALUE`` arguments of a command line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from elolab.cli.shared.parser import UsageError
from elolab.engine.settings.configuration import nearest

SWITCHES = {"true": True, "on": True, "false": False, "off": False}
"""Spellings of a switch, such as ``on`` and ``off``, with their boolean values."""


def assignment(word: str, option: str) -> tuple[str, str]:
    """Split ``name=value``; raises ``UsageError``, which names ``option``, if the ``=`` or the value is missing."""
    name, sign, value = word.partition("=")
    if not sign or not value:
        raise UsageError(f"{option} {word}: expected {name}=VALUE")
    return name, value


def assignments(words: Sequence[str], option: str, known: Collection[str]) -> dict[str, str]:
    """Parse arguments ``NAME=VALUE`` of ``option``; raises ``UsageError`` for a name given twice or not ``known``."""
    refuse_unknown_words(words, option, known)
    values: dict[str, str] = {}
    for word in words:
        name, value = assignment(word, option)
        if name in values:
            raise UsageError(f"{option} {word}: {name} is given twice")
        values[name] = value
    return values


def refuse_unknown_words(
    words: Sequence[str], option: str, known: Collection[str], prefixes: tuple[str, ...] = ()
) -> None:
    """Raise ``UsageError`` that lists the unknown ``NAME=VALUE`` arguments in ``words``.

    A name is unknown if it is not in ``known`` and begins with none of ``prefixes``.
    """
    mistakes = []
    for word in words:
        name = word.partition("=")[0]
        if name not in known and not word.startswith(prefixes):
            hint = nearest(name, known) or f"; expected {', '.join(f'{other}=' for other in known)}"
            mistakes.append(f"{option} {word}: unknown word{hint}")
    if mistakes:
        raise UsageError("; ".join(mistakes))


def plain_value(text: str) -> bool | int | float | str:
    """Convert a string to a value as in a TOML file: a boolean or a number if it is one, otherwise the string."""
    if text in SWITCHES:
        return SWITCHES[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
