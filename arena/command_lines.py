"""The command of a program in one text: where it ends and its arguments begin."""

from __future__ import annotations

import os
import re
import shlex

WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\|[.\w-]+(\\[.\w-]+)+")
"""How a path of Windows begins, such as ``C:\\Engines\\mine.exe``."""


def split_command(text: str, *folders: str) -> list[str]:
    """Program and arguments, as a shell splits them.

    A text that as a whole names a file, in the current folder or in one of ``folders``, is that program, and
    backslashes in a path of Windows stay. Raises ``ValueError`` for a quotation that is not closed.
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
