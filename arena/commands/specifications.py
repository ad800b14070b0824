"""The argument ``SPEC`` of commands: a file, or the name of one that is shipped or in ./configs."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from engine.commands.arguments import UsageError
from engine.settings.configuration import KIND_NAMES, available_configs, find_config

INDENTATION = "  "
COLUMNS = 78


def add_specification_argument(parser: argparse.ArgumentParser, kind: str) -> None:
    """``SPEC``: read it with ``specification_of``. ``kind`` is a key of ``SUFFIXES``.

    To ``argparse`` it may be missing, so that ``specification_of`` can say which names there are.
    """
    parser.add_argument(
        "spec", metavar="SPEC", nargs="?", help=f"{KIND_NAMES[kind]}: a TOML file, or one of the names below"
    )


def names_paragraph(kind: str) -> str:
    """The names that ``SPEC`` may be, as the last paragraph of a command's help."""
    names = textwrap.wrap(", ".join(available_configs(kind)), COLUMNS - len(INDENTATION), break_on_hyphens=False)
    return "\n".join(["\n\nNames that SPEC may be:", *(INDENTATION + line for line in names)])


def specification_of(arguments: argparse.Namespace, kind: str, command: str) -> Path:
    """The file that ``SPEC`` means. Raises ``UserError`` with the nearest name, or all names if it is missing."""
    if arguments.spec is None:
        raise UsageError(
            f"{command}: SPEC is missing: give a TOML file or one of {', '.join(available_configs(kind))}; "
            f"elolab {command} --help explains the arguments"
        )
    return find_config(kind, arguments.spec)
