"""Helper processes that end with the process that started them, however that ends.

A helper's standard input is a pipe that only its parent holds open and nobody writes to. The helper waits in a thread
for its end, which the system brings about when the parent is killed. This works on every POSIX system. Engines know
nothing of it: ``arena.players.supervisor`` ends them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

EXIT_ORPHANED = 1


def helper_command(module: str, words: Sequence[str] = ()) -> list[str]:
    """The command for ``main(words)`` of a module of ours, in an interpreter that finds modules where this one does."""
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; from elolab.engine.programs.children import run; run({module!r})"
    )
    return [sys.executable, "-c", program, *words]


def start_helper(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Start a helper whose output is text to be read; ``options`` are ``Popen``'s.

    It runs in a session of its own, so that Ctrl-C reaches its parent alone. Whoever starts it reads ``stdout`` and
    waits; ``communicate`` would close its input, and with that end it.
    """
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True, **options
    )


def run(module: str) -> None:
    """The helper's side: call the module's ``main`` with the words of the command line."""
    end_with_parent()
    from importlib import import_module

    sys.exit(import_module(module).main(sys.argv[1:]))


def end_with_parent() -> None:
    """From now on the process ends as soon as its standard input does."""
    threading.Thread(target=_wait_for_end, daemon=True, name="parent").start()


def _wait_for_end() -> None:
    while os.read(0, 1):
        pass
    os._exit(EXIT_ORPHANED)
