"""The command ``runs``: lists, compares and removes runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.colours import terminal_columns
from elolab.arena.statistics.text_table import Column, name_column, table_lines
from elolab.cli.shared import options
from elolab.cli.shared.parser import CommandParser, UsageError
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue, console
from elolab.engine.settings.configuration import nearest

if TYPE_CHECKING:
    from elolab.arena.collection.listing import RunEntry

MESSAGES = "elolab.arena.collection"
RESULTS = "results"
LIST, COMPARE, REMOVE = "list", "compare", "remove"
ACTIONS = (LIST, COMPARE, REMOVE)
ENOUGH_FOLDER, ENOUGH_RESULT = 16, 24
"""Minimum widths, in terminal columns, of folders and results; a narrower table loses another column instead."""
SETTINGS_BESIDE = {"tuning": ("tuning method",), "ablation": ("verdict plans",), "claims": ("claims registered",)}
"""Names of the settings that a run stores as metadata, outside its specification, by kind of run."""


def configure(parser: CommandParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.implied = (LIST, ACTIONS)
    parser.epilog = "elolab runs and elolab runs DIR stand for elolab runs list."
    one = actions.add_parser(LIST, help="list the runs below a folder")
    one.add_argument("folders", nargs="?", metavar="DIR", type=Path, help=f"where to look for runs (default {RESULTS})")
    one.epilog = (
        "The list has every run's kind, state (running, finished, stopped, died, failed, unreadable, damaged), games "
        "played and planned, date, and result: of a match Elo from the first player's point of view, ± half of its "
        "95 % interval, or the score if the interval is infinite. "
        "--json adds every run's status.json: how it ended, verdict, faults, digests."
    )
    two = actions.add_parser(COMPARE, help="compare two runs")
    two.add_argument("folders", nargs=2, metavar="DIR", type=Path, help="a run's folder")
    two.epilog = (
        "Prints the settings that differ, including the builds of programs, and the players' Elo side by side with the "
        "difference of the two runs, computed as for independent games; - if the ratings have different references: "
        "another opponent, other anchors, or, without anchors, other players or players with other settings."
    )
    some = actions.add_parser(REMOVE, help="remove runs")
    some.add_argument("folders", nargs="+", metavar="DIR", type=Path, help="a run's folder")
    some.add_argument("--yes", action="store_true", help="do not ask first")
    some.epilog = "If one of the folders is not a run, or its run is in progress, nothing is removed."
    for action in (one, two, some):
        options.add_language(action)
        options.add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """List, compare or remove runs, depending on the argument ``ACTION``; returns the exit code."""
    if arguments.action == COMPARE:
        return _compare(arguments.folders, arguments)
    return _remove(arguments.folders, arguments) if arguments.action == REMOVE else _list(arguments)


def _list(arguments: argparse.Namespace) -> int:
    from elolab.arena.collection.listing import entries_below

    root = arguments.folders or Path(RESULTS)
    if arguments.folders is not None and not root.is_dir():
        raise UserError(f"runs: {root}: no such folder{nearest(str(root), ACTIONS)}")
    say = console(MESSAGES)
    words = Catalogue(MESSAGES) if arguments.json else say  # what programs read is the same in every language
    unreadable: list[OSError] = []
    entries = entries_below(root, words, unreadable.append)
    if arguments.json:
        options.print_json({"folder": str(root), "runs": [entry.data() for entry in entries]})
    else:
        is_narrow = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
        columns = terminal_columns(sys.stdout) if is_narrow else None
        print("\n".join(_lines(entries, say, columns) if entries else [say("list.none", folder=root)]))
    for error in unreadable:
        print(f"elolab: runs: {error.filename}: cannot be read: {error.strerror}", file=sys.stderr)
    return 1 if unreadable else 0


def _lines(entries: Sequence[RunEntry], say: Catalogue, columns: int | None = None) -> list[str]:
    """The runs ``entries`` as lines of a table, with texts from the message catalogue ``say``.

    Lines are at most ``columns`` terminal columns wide; ``None`` sets no limit.
    """
    games = [f"{entry.played}/{entry.planned}" if entry.planned else str(entry.played) for entry in entries]
    states = [say(f"list.state_{entry.state}") for entry in entries]
    folders = [str(entry.folder) for entry in entries]
    table = [
        name_column(say("list.folder"), folders, least=ENOUGH_FOLDER),
        Column(say("list.kind"), [entry.kind for entry in entries], left=True, rank=1),
        Column(say("list.state"), states, left=True),
        Column(say("list.games"), games, left=True),
        Column(say("list.date"), [entry.updated_at for entry in entries], left=True, rank=2),
        Column(say("list.result"), [entry.result for entry in entries], left=True, least=ENOUGH_RESULT),
    ]
    return table_lines(table, columns)


def _compare(folders: Sequence[Path], arguments: argparse.Namespace) -> int:
    from elolab.arena.collection.comparison import compared, comparison_data, comparison_lines

    one, other = (compared(folder, SETTINGS_BESIDE) for folder in folders)
    if arguments.json:
        options.print_json(comparison_data(one, other))
    else:
        print("\n".join(comparison_lines(one, other, console(MESSAGES))))
    return 0


def _remove(folders: Sequence[Path], arguments: argparse.Namespace) -> int:
    from elolab.arena.collection.removal import check, games_in, remove

    folders = list({os.path.realpath(folder): folder for folder in folders}.values())
    check(folders)
    games = {folder: games_in(folder) for folder in folders}
    say = console(MESSAGES)
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise UsageError(
                "runs: remove asks first, but standard input is not a terminal", "add --yes to remove without asking"
            )
        key = "remove.ask_one" if len(folders) == 1 else "remove.ask"
        question = say(key, folder=folders[0], runs=len(folders), games=_games_words(list(games.values())))
        if not _is_agreed(question):
            print(say("remove.kept"))
            return 1
    remove(folders)
    if arguments.json:
        options.print_json({"removed": [{"folder": str(folder), "games": count} for folder, count in games.items()]})
    else:
        removed = [say("remove.removed", folder=folder, games=_games_words([games[folder]])) for folder in folders]
        print("\n".join(removed))
    return 0


def _games_words(counts: Sequence[int | None]) -> str:
    """Text with the total number of games of several runs; ``None`` stands for a run that cannot be read.

    If there is such a run, the text says that the total is a lower bound or unknown.
    """
    known = [count for count in counts if count is not None]
    key = "games" if len(known) == len(counts) else "games_at_least" if known else "games_unknown"
    return console(MESSAGES)(f"remove.{key}", games=sum(known))


def _is_agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
