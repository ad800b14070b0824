"""Colours for terminals, unless ``NO_COLOR`` is set (https://no-color.org), and safe one-line text."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

NO_COLOR = "NO_COLOR"
GREEN, RED, YELLOW = "32", "31", "33"
"""Colour codes of the terminal escape sequence ``ESC [ code m`` (SGR in ECMA-48)."""
DEFAULT_COLUMNS = 80
"""Width of text, in columns, for output that does not go to a terminal."""
MAX_MESSAGE = 2000
"""Maximum length of an error message in characters; ``one_line`` shortens longer messages."""


def has_colours(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours and the user has not switched them off."""
    return stream.isatty() and not os.environ.get(NO_COLOR) and os.environ.get("TERM", "") not in ("", "dumb")


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """The text in ``colour`` (``GREEN``, ``RED`` or ``YELLOW``) if the stream shows colours, else unchanged."""
    return f"\x1b[{colour}m{text}\x1b[0m" if text and colour and has_colours(stream) else text


def terminal_columns(stream: TextIO) -> int:
    """Width available for text on a stream, in columns.

    For a terminal this is the terminal's width, or the environment variable ``COLUMNS`` if that is smaller. For a file
    or pipe it is ``COLUMNS``, or 80 if that is not set.
    """
    columns = shutil.get_terminal_size().columns  # from COLUMNS, or the width of the standard output
    try:
        own = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # not a terminal, or closed
        return columns if os.environ.get("COLUMNS", "").isdigit() else DEFAULT_COLUMNS
    if own <= 0:  # some terminals do not know their width
        return columns
    return min(own, columns) if os.environ.get("COLUMNS", "").isdigit() else own


def text_columns() -> int:
    """Width available for text on the standard output, at most ``DEFAULT_COLUMNS``; see ``terminal_columns``."""
    return min(DEFAULT_COLUMNS, terminal_columns(sys.stdout))


def one_line(message: str) -> str:
    """Turn a message into one printable line: escape control characters and cut the middle out of a long message."""
    if len(message) > MAX_MESSAGE:
        half = MAX_MESSAGE // 2
        message = f"{message[:half]} … {message[-half:]}"
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in message)
