"""A read-only view of a run in a terminal, drawn again every second; a file or pipe receives one snapshot."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from elolab.arena.colours import coloured, text_columns
from elolab.arena.watching.drawing import RenewedOutput
from elolab.arena.watching.snapshot import RunFollower, State
from elolab.arena.watching.view import Line, printed, screen

RENEWED_SECONDS = 1.0
_CLEAR, _HOME, _REST_OF_LINE = "\x1b[2J", "\x1b[H", "\x1b[K"


def watch_in_terminal(folder: Path, language: str, outcome_command: Sequence[str] = ()) -> None:
    """Show a run on the standard output until Ctrl-C; if that is not a terminal, print the run once.

    ``outcome_command`` prints the result so far, for a run that is not a tournament.
    """
    follower, outcome = RunFollower(folder), RenewedOutput(outcome_command)

    def read() -> State:
        state = follower.read()
        if outcome_command and state["games"] and not state["standings"]:
            outcome.renew(state["games"])
        return state

    try:
        if not sys.stdout.isatty():
            state = read()
            outcome.wait()
            _write(printed(state, outcome.text.splitlines(), language, text_columns()), "\n")
            return
        sys.stdout.write(_CLEAR)
        while True:
            columns, rows = shutil.get_terminal_size()
            lines = screen(read(), outcome.text.splitlines(), language, columns, rows - 1)
            sys.stdout.write(_HOME)
            _write(lines, f"{_REST_OF_LINE}\n")
            time.sleep(RENEWED_SECONDS)
    except KeyboardInterrupt:
        pass
    finally:
        outcome.close()


def _write(lines: Sequence[Line], line_end: str) -> None:
    for line in lines:
        text = "".join(coloured(text, colour, sys.stdout) for text, colour in line)
        sys.stdout.write(text.rstrip() + line_end)
    sys.stdout.flush()
