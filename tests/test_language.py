"""Catalogues of messages: both languages say everything, with the same fields, and the code asks for what is there."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.language import LANGUAGES, messages_of
from engine.settings.parameters import BY_NAME

ROOT = Path(__file__).parent.parent
ROOMS = ("engine", "arena", "tuning")
PACKAGES = sorted(
    ".".join(path.parent.parent.relative_to(ROOT).parts) for room in ROOMS for path in ROOT.glob(f"{room}/**/en.toml")
    if path.parent.name == "messages"
)  # fmt: skip
KEY = re.compile(r"[a-z_]+\.[a-z0-9_]+")
ASKING = ("message", "say", "shell", "words")
"""What a catalogue is called where it is asked."""
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff01-\uff60]")


@cache
def sources(suffix: str) -> dict[Path, str]:
    """The text of every file of the program with such an ending."""
    return {path: path.read_text("utf-8") for room in ROOMS for path in sorted((ROOT / room).rglob(f"*{suffix}"))}


def python_strings() -> Iterator[tuple[Path, str, bool]]:
    """Every string of the code that may be a key or, of an f-string, a pattern of keys; and whether it is asked for."""
    for path, text in sources(".py").items():
        tree = ast.parse(text)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
        asked = {id(call.args[0]) for call in calls if getattr(call.func, "id", "") in ASKING}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr):
                yield path, pattern_of(node), id(node) in asked
        for call in calls:
            if getattr(call.func, "attr", "") == "name_of":
                yield path, r"\.".join(map(pattern_of, call.args)), False


def pattern_of(node: ast.AST) -> str:
    """A regular expression for the strings that an expression may give."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(pattern_of, node.values))
    return re.escape(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ".+"


@cache
def used_patterns() -> tuple[tuple[Path, str, bool], ...]:
    """What the code and the templates may ask a catalogue for."""
    strings = list(python_strings())
    # Modules that put the table's name before a key themselves, where it stands alone as a string or ends in its dot.
    composing = {path for path, text, asked in strings if asked and re.match(r"\.\+\\\.", text)}
    found = [(path, text, asked) for path, text, asked in strings if r"\." in text or asked]
    found += [(path, rf"{text}\..+", False) for path, text, _ in strings if path in composing and text.isidentifier()]
    found += [(path, f"{text}.+", False) for path, text, _ in strings if re.fullmatch(r"[a-z_]+\\\.", text)]
    for path, text in sources(".j2").items():
        keys = re.findall(rf"(?:message|shell)\(\W({KEY.pattern})\W", text)
        found += [(path, re.escape(key), True) for key in keys]
    return tuple(found)


@pytest.mark.parametrize("package", PACKAGES)
def test_both_languages_have_the_same_keys_and_fields(package: str) -> None:
    first, *others = (messages_of(package, language) for language in LANGUAGES)
    for other in others:
        assert first.keys() == other.keys()
        assert {key: fields(text) for key, text in first.items()} == {key: fields(text) for key, text in other.items()}


def fields(text: str) -> set[str]:
    """The names of a message's fields."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_message_is_asked_for(package: str) -> None:
    patterns = re.compile("|".join(sorted({text for _, text, _ in used_patterns() if re.match(r"[a-z_]+\\\.", text)})))
    assert [key for key in messages_of(package, LANGUAGES[0]) if not patterns.fullmatch(key)] == []


def test_what_is_asked_for_is_there() -> None:
    known = [key for package in PACKAGES for key in messages_of(package, LANGUAGES[0])]
    missing = [
        f"{path.relative_to(ROOT)}: {text}" for path, text, asked in used_patterns()
        if asked and not any(re.fullmatch(text, key) for key in known)
    ]  # fmt: skip
    assert missing == []


@pytest.mark.parametrize("room", ["tuning"])
def test_code_has_no_chinese(room: str) -> None:
    found = [path for path, text in sources(".py").items() if path.is_relative_to(ROOT / room) and CHINESE.search(text)]
    assert found == []


def test_words_of_the_code_have_messages() -> None:
    from arena.figures.statistics import SPRT_MODELS
    from tuning.ablation import verdicts
    from tuning.claims import spec

    names = {
        "verdict": (verdicts.BETTER, verdicts.WORSE, verdicts.EQUIVALENT, verdicts.UNDECIDED),
        "outcome": (spec.CONFIRMED, spec.REFUTED, spec.UNDECIDED, spec.SHOWN),
        "expected": {word for words in spec.EXPECTED.values() for word in words},
        "basis": spec.BASES.values(),
        "elo_model": SPRT_MODELS,
        "unit": {row.unit.replace(" ", "_") for row in BY_NAME.values() if row.unit not in ("", "MiB")},
    }
    messages = messages_of("tuning.reports", LANGUAGES[0])
    for table, words in names.items():
        assert {f"{table}.{word}" for word in words} == {key for key in messages if key.startswith(f"{table}.")}
