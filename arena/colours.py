"""Colours and safe one-line text for terminals.

Only terminals receive colours, and only while ``NO_COLOR`` is unset (https://no-color.org).
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

NO_COLOR = "NO_COLOR"
GREEN, RED, YELLOW = "32", "31", "33"
"""Colour parameters of the terminal escape sequence ``SGR`` (ECMA-48)."""
DEFAULT_COLUMNS = 80
"""Columns of text where no terminal determines them."""
MAX_MESSAGE = 2000
"""Maximum length of an error message in characters; longer ones are shortened."""


def has_colours(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours and the user has not switched them off."""
    return stream.isatty() and not os.environ.get(NO_COLOR) and os.environ.get("TERM", "") not in ("", "dumb")


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour if the stream shows colours, otherwise unchanged."""
    return f"\x1b[{colour}m{text}\x1b[0m" if text and colour and has_colours(stream) else text


def terminal_columns(stream: TextIO) -> int:
    """Columns for text on a stream: those of its terminal, or fewer if the variable ``COLUMNS`` says so.

    A stream without a terminal has the columns of ``COLUMNS`` (default 80).
    """
    columns = shutil.get_terminal_size().columns  # of the variable, or of the standard output
    try:
        own = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # no terminal, or a closed one
        return columns if os.environ.get("COLUMNS", "").isdigit() else DEFAULT_COLUMNS
    if own <= 0:  # some terminals do not know
        return columns
    return min(own, columns) if os.environ.get("COLUMNS", "").isdigit() else own


def text_columns() -> int:
    """Columns for text on the standard output: those of ``terminal_columns``, at most ``DEFAULT_COLUMNS``."""
    return min(DEFAULT_COLUMNS, terminal_columns(sys.stdout))


def one_line(message: str) -> str:
    """The message as one line: control characters are escaped, and the middle of a long message is left out."""
    if len(message) > MAX_MESSAGE:
        half = MAX_MESSAGE // 2
        message = f"{message[:half]} … {message[-half:]}"
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in message)
