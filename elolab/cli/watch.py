"""The command ``watch``: shows a run in progress, or a finished one, on a web page or in the terminal."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from elolab.cli.shared.options import add_language, whole_number
from elolab.engine.child_processes import helper_command
from elolab.engine.errors import UserError
from elolab.engine.language import console

MESSAGES = "elolab.arena.watching"
RESULTS = "results"
HOST, PORT = "127.0.0.1", 8642
NICENESS = 10
"""Niceness (Unix scheduling priority) of the watching process, so that games get the processor first."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", nargs="?", metavar="DIR", type=Path,
        help=f"a run's folder, or one with runs below it (default {RESULTS}: first the run in progress)",
    )  # fmt: skip
    parser.add_argument("--wait", action="store_true", help="wait for a run to begin in DIR")
    parser.add_argument("--host", default=HOST, metavar="NAME", help=f"address to serve on (default {HOST})")
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535),
        default=PORT,
        metavar="N",
        help=f"port to serve on (default {PORT}; 0: any free port)",
    )
    parser.add_argument("--browser", action="store_true", help="open the page in your browser")
    parser.add_argument(
        "--terminal", action="store_true",
        help="show the run in this terminal instead of a page; in a file or pipe, print one snapshot",
    )  # fmt: skip
    add_language(parser)
    parser.epilog = (
        "The page shows standings, games on a board move by move, finished games, figures and faults. It changes "
        "nothing, and loads nothing from elsewhere; Ctrl-C ends it, and the run continues. Everyone who can reach "
        "--host can see the page: there is no password."
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve the web page, or update the terminal display, until Ctrl-C; return the exit code."""
    if arguments.terminal:
        return _run_in_terminal(arguments)
    for name in ("starlette", "uvicorn"):
        if find_spec(name) is None:
            raise UserError(f"watch: {name} is not installed", 'pip install "elolab[watch]"')
    root, is_single = _found(arguments)
    from elolab.arena.watching.followed import WatchedRuns
    from elolab.arena.watching.server import address_of, opened_socket, serve

    listening = opened_socket(arguments.host, arguments.port)
    os.nice(NICENESS)
    address = address_of(listening, arguments.host)
    print(console(MESSAGES)("console.address", address=address), file=sys.stderr, flush=True)
    if arguments.browser:
        import webbrowser

        webbrowser.open(address)
    runs = WatchedRuns(root, is_single=is_single, figures_command=helper_command("elolab.tuning.reports.watched"))
    serve(runs, listening, arguments.language, arguments.host)
    return 0


def _run_in_terminal(arguments: argparse.Namespace) -> int:
    for name, value, usual in (("host", arguments.host, HOST), ("port", arguments.port, PORT),
                               ("browser", arguments.browser, False)):  # fmt: skip
        if value != usual:
            raise UserError(
                f"watch: --{name} is for the page, which --terminal does not serve", "leave one of them out"
            )
    root, is_single = _found(arguments)
    from elolab.arena.watching.followed import WatchedRuns
    from elolab.arena.watching.terminal import watch_in_terminal

    runs = WatchedRuns(root, is_single=is_single)
    chosen = runs.chosen()
    if chosen is None:
        raise UserError(f"watch: {root}: no run in it", "name the folder in which one will begin")
    folder = runs.folders()[chosen]
    os.nice(NICENESS)
    outcome = helper_command("elolab.tuning.reports.watched", [str(folder), arguments.language, "text"])
    watch_in_terminal(folder, arguments.language, outcome)
    return 0


def _found(arguments: argparse.Namespace) -> tuple[Path, bool]:
    """Find the folder to watch. The second value is true for a run's folder, and false for a folder that contains runs.

    Raises ``UserError`` if there is no run, unless ``--wait`` is given.
    """
    from elolab.arena.collection.listing import is_run, run_folders

    named: Path | None = arguments.directory
    root = named or Path(RESULTS)
    if root.exists() and not root.is_dir():
        raise UserError(f"watch: {root} is a file", "name the folder of a run")
    if is_run(root):
        return root, True
    if run_folders(root):
        return root, False
    if arguments.wait:
        return root, named is not None
    remedy = "name the folder of a run, or add --wait to wait for one"
    if not root.is_dir():
        raise UserError(f"watch: {root}: no such folder", remedy)
    raise UserError(f"watch: {root}: no run in it", remedy)
