"""A command line parser that reports an error in one line, with the nearest valid option."""

from __future__ import annotations

import argparse
import difflib
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NoReturn

from elolab.engine.errors import UserError
from elolab.engine.settings import FILE_KINDS

OTHER_WORDS = {
    "--engine": "--preset", "--configuration": "--preset", "--config": "--preset",
    "--parameter": "--set", "--parameters": "--set", "--option": "--set", "--options": "--set",
    "--tournament": "--format", "--seeds": "--gauntlet-players", "--srand": "--seed", "--games": "--pairs",
    "--variant": "--game", "--output": "--json", "--use-affinity": "--affinity", "--event": "--out",
    "--each": "--limit", "--tc": "--limit", "--st": "--limit", "--book": "--openings", "--threads": "--concurrency",
    "--debug": "--log", "--resultformat": "--json", "--force-concurrency": "--concurrency",
}  # fmt: skip
"""Options of other programs by name, with the option of elolab that the error message suggests instead."""

_TRUE_MINUS = re.compile("(^|=)\N{MINUS SIGN}(?=[.0-9])")
"""Matches a Unicode minus sign before a number, as elolab prints it; the parser replaces it by a hyphen."""
_ONE_ARGUMENT = ": expected one argument"
"""The last part of ``argparse``'s error message for an option without its value."""


class UsageError(UserError):
    """An invalid command line; the message names the command, the argument and the valid form."""


class ParagraphFormatter(argparse.HelpFormatter):
    """Wraps paragraphs of a description to the terminal's width, except paragraphs with indented lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = [
            paragraph
            if any(line.startswith(" ") for line in paragraph.splitlines())
            else textwrap.fill(paragraph, width, initial_indent=indent, subsequent_indent=indent)
            for paragraph in text.strip("\n").split("\n\n")
        ]
        return "\n\n".join(paragraphs)


class CommandParser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that reports an error in one line with the nearest option, and allows no abbreviations."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", ParagraphFormatter)
        super().__init__(**settings)
        self.checks: list[Callable[[argparse.Namespace], Iterable[str]]] = []
        """Functions that return errors in the parsed arguments; they are reported together with unknown options."""
        self.implied: tuple[str, Collection[str]] | None = None
        """The default subcommand and the names of all subcommands; ``None`` if there is no default subcommand."""
        self.file_kind = ""
        """Kind of the TOML file that the command takes, a key of ``FILE_KINDS``; empty if it takes none."""
        self._words: list[str] = []

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse a command line, by default the process's; raises ``UsageError`` where ``argparse`` would exit."""
        words = [_TRUE_MINUS.sub(r"\1-", word) for word in (sys.argv[1:] if args is None else args)]
        if self.implied is not None and words[:1] not in (["-h"], ["--help"]):
            meant, names = self.implied
            words = words if words and words[0] in names else [meant, *words]
        self._words = words
        arguments, extra = self.parse_known_args(words, namespace)
        mistakes = dict.fromkeys(mistake for check in self.checks for mistake in check(arguments))
        if extra:
            self.error("; ".join([self._unexpected(extra), *mistakes]))
        if mistakes:
            raise UsageError(f"{self.prog.removeprefix('elolab ')}: {'; '.join(mistakes)}")
        return arguments

    def print_help(self, file: Any = None) -> None:
        """Print the help. Unlike ``argparse``, raises ``OSError`` if writing fails."""
        print(self.format_help(), end="", file=file)

    def _unexpected(self, extra: Sequence[str]) -> str:
        """Error message for unexpected arguments: it names all unknown options or, without any, the first argument."""
        options = [word for word in extra if word.startswith("-")]
        told = [f"{word!r}{self._hint(word.partition('=')[0])}" for word in options or extra[:1]]
        return f"unexpected argument{'s' if len(told) > 1 else ''} {', '.join(told)}"

    def _hint(self, word: str) -> str:
        """A hint such as ``" (did you mean --json?)"`` for an unknown option; empty if no option is similar.

        If the word is a key of the file that the command takes, the hint says that.
        """
        if not word.startswith("-"):
            return ""
        actions = self._option_string_actions.items()
        options = [option for option, action in actions if action.help is not argparse.SUPPRESS]
        spelt = f"--{word.lstrip('-')}"
        near = [name for name in (spelt, OTHER_WORDS.get(spelt)) if name in options]
        if not near and self.file_kind:
            kind = FILE_KINDS[self.file_kind]
            if (key := spelt[2:].replace("-", "_")) in kind.keys:
                return f" ({key} is a key of the {kind.title}; set it there)"
        # The longest option that the word begins with: --elo10 means --elo1. Two letters are too few to tell.
        near = near or sorted(option for option in options if len(option) > 4 and spelt.startswith(option))[-1:]
        names = {option.lstrip("-"): option for option in options}
        near = near or [names[name] for name in difflib.get_close_matches(spelt[2:], names, 1)]
        return f" (did you mean {near[0]}?)" if near else ""

    def _hyphen_hint(self, names: Sequence[str]) -> str:
        """Hint for a missing value, if the next argument begins with a hyphen but is not an option; otherwise empty.

        For example, the text of an Othello board begins with a hyphen if its first square is empty. ``names`` are the
        spellings of the option.
        """
        for option, value in itertools.pairwise(self._words):
            if option in names and value.startswith("-") and value.partition("=")[0] not in self._option_string_actions:
                return f"; a value that begins with - is given as {option}=VALUE"
        return ""

    def error(self, message: str) -> NoReturn:
        """Raise ``UsageError`` with the command's name, and a hint to call the command with ``--help``."""
        command = self.prog.removeprefix("elolab ")
        if message.endswith(_ONE_ARGUMENT):
            message += self._hyphen_hint(message.removeprefix("argument ").partition(":")[0].split("/"))
        raise UsageError(f"{command}: {message}", f"{self.prog} --help explains the arguments")
