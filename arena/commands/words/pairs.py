"""Reading groups of words ``name=value``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from engine.commands.arguments import UsageError
from engine.settings.configuration import nearest

SWITCHES = {"true": True, "on": True, "false": False, "off": False}
"""How a value may say that something is switched on or off."""


def assignment(word: str, option: str, known: Collection[str]) -> tuple[str, str]:
    """Name and value of a word ``name=value``; raises ``UsageError`` unless the name is known to the option."""
    name, sign, value = word.partition("=")
    if name not in known:
        hint = nearest(name, known) or f"; expected {', '.join(f'{other}=' for other in known)}"
        raise UsageError(f"{option} {word}: unknown word{hint}")
    if not sign or not value:
        raise UsageError(f"{option} {word}: expected {name}=VALUE")
    return name, value


def assignments(words: Sequence[str], option: str, known: Collection[str]) -> dict[str, str]:
    """The values of words ``name=value`` by name; raises ``UsageError`` for unknown ones and those given twice."""
    values: dict[str, str] = {}
    for word in words:
        name, value = assignment(word, option, known)
        if name in values:
            raise UsageError(f"{option} {word}: {name} is given twice")
        values[name] = value
    return values


def refuse_words_of_others(words: Sequence[str], option: str, answers: Mapping[str, str]) -> None:
    """Raise ``UsageError`` with what is said here instead of a word that other programs know."""
    for word in words:
        name = word.partition("=")[0]
        if name in answers:
            raise UsageError(f"{option} {word}: {answers[name]}")


def plain_value(text: str) -> bool | int | float | str:
    """A value as a file would have it: true or false, a number, or the text."""
    if text in SWITCHES:
        return SWITCHES[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
