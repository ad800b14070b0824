"""The command ``keys``: explains the keys of every kind of TOML file."""

from __future__ import annotations

import argparse
import shutil
from typing import TYPE_CHECKING

from elolab.cli.shared.options import add_language
from elolab.cli.shared.parser import UsageError

if TYPE_CHECKING:
    from elolab.engine.settings import FileKind

MAX_COLUMNS = 100
"""Maximum width of the text in characters, even on a wider terminal."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="a kind of file (tournament), a table (sprt, tuning.validation) or a key (resign_score); default: a list",
    )  # fmt: skip
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON schema of a kind of file, for editors and other programs"
    )
    parser.epilog = (
        "The command explains every key of elolab's TOML files: type, unit, range, default, meaning and an example, as "
        "docs/keys.md does. Editors that know TOML schemas complete and check the keys of a file whose "
        "first line is #:schema FILE."
    )
    add_language(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain the keys or kinds of files named on the command line; without names, list the kinds of files."""
    from elolab.tuning.keys.json_schema import schema_text
    from elolab.tuning.keys.reference import explained, overview

    if arguments.schema:
        print(schema_text(_kind_named(arguments.names)), end="")
        return 0
    columns = min(shutil.get_terminal_size().columns, MAX_COLUMNS)
    if not arguments.names:
        print(overview(arguments.language, columns), end="")
    print("\n".join(explained(name, arguments.language, columns) for name in arguments.names), end="")
    return 0


def _kind_named(names: list[str]) -> FileKind:
    from elolab.tuning.keys.reference import KINDS

    kinds = {kind.name: kind for kind in KINDS}
    if len(names) != 1 or names[0] not in kinds:
        raise UsageError("keys: --schema prints the schema of one kind of file", f"give one of {', '.join(kinds)}")
    return kinds[names[0]]
