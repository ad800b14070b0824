"""What a page prints of the output of its commands: is it what they say, and what would it be now?

A figure of the running text counts as printed too: it has to occur in the blocks or the output of its section. Where
the engine plays other games, ``brought_up_to_date`` puts the new figures in the place of the old ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_FIGURE = re.compile(r"(?<![\w.])[−+-]?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def _plain(figure: str) -> str:
    return figure.replace("−", "-").lstrip("+")


def figures_in(text: str) -> list[str]:
    """The numbers in a text, in their order, with a plain minus and no plus."""
    return [_plain(figure) for figure in _FIGURE.findall(text)]


def _shape(text: str) -> str:
    """A text without its figures and without what aligns it."""
    return " ".join(_FIGURE.sub("#", text).split())


@dataclass(frozen=True)
class Printed:
    """A block of output in a page, and the commands that print it."""

    section: int
    text: str
    commands: tuple[str, ...]


def sections_of(text: str) -> list[str]:
    """The parts of a page, each but the first from its heading on."""
    return re.split(r"^(?=## )", text, flags=re.MULTILINE)


def printed_in(text: str) -> list[Printed]:
    """The blocks of output in a page, with the commands of the block of commands before each."""
    printed = []
    commands: tuple[str, ...] = ()
    for number, section in enumerate(sections_of(text)):
        for language, content in _FENCED.findall(section):
            if language == "sh":
                commands = tuple(re.sub(r" +#.*", "", line) for line in content.splitlines())
            elif language == "text":
                printed.append(Printed(number, content.rstrip("\n"), commands))
    return printed


def prose_of(section: str) -> str:
    """A section without its blocks and without code in its lines."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", _FENCED.sub("", section))


def unfounded_figures(text: str, outputs: Mapping[str, str]) -> list[str]:
    """Figures in the prose of sections with output that neither a block of the page nor a command's output has.

    Numbers of one digit are words rather than figures.
    """
    known = set(figures_in("\n".join(content for _, content in _FENCED.findall(text))))
    known.update(figures_in("\n".join(outputs.values())))
    shown = {printed.section for printed in printed_in(text)}
    return [
        figure
        for number, section in enumerate(sections_of(text))
        if number in shown
        for figure in figures_in(prose_of(section))
        if len(figure) > 1 and figure not in known and figure.lstrip("-") not in known
    ]


def is_printed(block: str, output: str) -> bool:
    """Whether the lines of a block stand in an output, one below the other."""
    lines = [line.rstrip() for line in block.splitlines()]
    return any(window == lines for window in _windows([line.rstrip() for line in output.splitlines()], len(lines)))


def _windows(lines: Sequence[str], length: int) -> Iterator[Sequence[str]]:
    return (lines[start : start + length] for start in range(len(lines) - length + 1))


def block_of_now(block: str, output: str) -> str | None:
    """The lines of an output that say what the block said, with other figures; ``None`` if there are none.

    Lines may stand in another order, as players in a table do, and sentences may break elsewhere.
    """
    lines = [line.rstrip() for line in output.splitlines()]
    length = len(block.splitlines())
    wanted_lines, wanted = sorted(map(_shape, block.splitlines())), _shape(block)
    for window in _windows(lines, length):
        if sorted(map(_shape, window)) == wanted_lines:
            return "\n".join(window)
    for other in (length - 1, length + 1, length, length - 2, length + 2):
        for window in _windows(lines, max(other, 1)):
            if _shape("\n".join(window)) == wanted:
                return "\n".join(window)
    return None


def changed_figures(before: str, after: str) -> dict[str, str]:
    """By figure of a block what stands in its place now; without those that would have to become two things."""
    pairs: list[tuple[str, str]] = []
    if _shape(before) == _shape(after):
        pairs += zip(_FIGURE.findall(before), _FIGURE.findall(after), strict=True)
    else:
        rows = {_shape(line): line for line in after.splitlines()}
        for line in before.splitlines():
            pairs += zip(_FIGURE.findall(line), _FIGURE.findall(rows[_shape(line)]), strict=True)
    changed: dict[str, set[str]] = {}
    for old, new in pairs:
        changed.setdefault(_plain(old), set()).add(_plain(new))
    return {old: new.pop() for old, new in changed.items() if len(new) == 1}


def brought_up_to_date(text: str, blocks: Sequence[tuple[Printed, str]]) -> str:
    """A page in one of its languages with the blocks of now, and the figures of its prose that come from them."""
    sections = sections_of(text)
    for printed, now in blocks:
        section = sections[printed.section].replace(printed.text, now)
        changed = changed_figures(printed.text, now)

        def figure_of_now(found: re.Match[str], changed: Mapping[str, str] = changed) -> str:
            old = _plain(found.group())
            if len(old.lstrip("-")) == 1:
                return found.group()
            if old in changed:
                plus = "+" if found.group().startswith("+") and not changed[old].startswith("-") else ""
                return plus + changed[old].replace("-", "−")
            return changed.get(f"-{old}", found.group()).lstrip("-")

        parts = re.split(r"(^```\w*\n.*?^```\n|`[^`\n]*`)", section, flags=re.DOTALL | re.MULTILINE)
        sections[printed.section] = "".join(
            part if part.startswith("`") else _FIGURE.sub(figure_of_now, part) for part in parts
        )
    return "".join(sections)
