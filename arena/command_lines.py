"""Splitting a command line into a program and its arguments."""

from __future__ import annotations

import os
import re
import shlex

WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\|[.\w-]+(\\[.\w-]+)+")
r"""Matches the start of an absolute Windows path, such as ``C:\Engines\mine.exe``."""


def split_command(text: str, *folders: str) -> list[str]:
    """Split a command line into program and arguments, as a shell does.

    If the whole text names a file, in the current folder or in one of ``folders``, that file is the program.
    Backslashes in a Windows path are kept. Raises ``ValueError`` for an unclosed quotation mark.
    """
    if re.search(r"[\s'\"\\]", text) is None:
        return [text] if text else []
    whole = os.path.expanduser(text)
    if any(os.path.isfile(os.path.join(folder, whole)) for folder in ("", *folders)):
        return [text if os.sep in text else os.path.join(".", text)]
    words = shlex.shlex(text, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if WINDOWS_PATH.match(text):
        words.escape = ""
    return list(words)
