"""Helper processes that end with their parent process, even if the parent is killed.

A helper's standard input is a pipe that only its parent holds open. A thread of the helper waits for the end of that
input, which comes when the parent ends. This works on every POSIX system. External engines do not do this;
``arena.players.supervisor`` ends them.
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
    """Command line of a helper: ``module`` with the arguments ``words``, under this interpreter and module path."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from elolab.engine.child_processes import run; run({module!r})"
    return [sys.executable, "-c", program, *words]


def start_helper(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """Start a helper that writes text to a pipe, ``stdout``; ``options`` are further arguments of ``Popen``.

    The helper runs in its own session, so that Ctrl-C reaches only its parent. The caller must read ``stdout`` and call
    ``wait``. It must not call ``communicate``, which would close the helper's input and so end the helper.
    """
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True, **options
    )


def run(module: str) -> None:
    """Entry point of a helper process: call ``main`` of ``module`` with the arguments of the command line."""
    end_with_parent()
    from importlib import import_module

    sys.exit(import_module(module).main(sys.argv[1:]))


def end_with_parent() -> None:
    """Start a thread that ends this process when its standard input ends."""
    threading.Thread(target=_wait_for_end, daemon=True, name="parent").start()


def _wait_for_end() -> None:
    while os.read(0, 1):
        pass
    os._exit(EXIT_ORPHANED)
