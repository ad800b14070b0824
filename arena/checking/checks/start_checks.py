"""Checks of the handshake, and of unusual input such as empty or meaningless lines."""

from __future__ import annotations

import time

from elolab.arena.checking.examination import Examination
from elolab.arena.checking.findings import Failed, Remark, remark

GARBAGE = ("xyzzy", "  ", "elolab 1 2 3", "go-there position uci", "\x7f\x01 \u5c06 \u5e05")
"""Lines that mean nothing in any protocol."""


def handshake(examination: Examination) -> Remark:
    """Check that the program completes the handshake after its start."""
    began = time.monotonic()
    examination.connect()
    return remark("note.seconds", seconds=f"{time.monotonic() - began:.2f}")


def name(examination: Examination) -> Remark:
    """Check that the program names itself in the handshake."""
    if not examination.name:
        raise Failed("failure.no_name")
    return remark("note.name", name=examination.name)


def ready(examination: Examination) -> Remark:
    """Check that the program confirms its readiness twice in succession, as later checks require."""
    examination.knowledge.answers_ready = True
    began = time.monotonic()
    try:
        examination.dialect.ask_ready()
        examination.dialect.ask_ready()
    except Failed:
        examination.knowledge.answers_ready = False
        raise
    return remark("note.milliseconds", ms=f"{(time.monotonic() - began) * 500:.1f}")


def garbage(examination: Examination) -> None:
    """Check that meaningless lines, sent before and after a search, do not disturb the program."""
    examination.dialect.send_garbage(GARBAGE)
    examination.dialect.settled()
    examination.search(examination.start_position)
    examination.dialect.send_garbage(GARBAGE)
    examination.search(examination.start_position)


def empty_lines(examination: Examination) -> None:
    """Check that the program ignores empty lines."""
    examination.dialect.send("", "", "   ")
    examination.search(examination.start_position)


def line_ends(examination: Examination) -> None:
    """Check that the program accepts lines that end with a carriage return and a line feed, as on Windows."""
    examination.dialect.line_end = "\r"
    examination.search(examination.positions.ordinary[1])
    examination.dialect.line_end = ""


def new_game(examination: Examination) -> None:
    """Check that several new games in a row work, and that a new game discards the old position."""
    examination.dialect.begin_game()
    examination.dialect.begin_game()
    examination.search(examination.positions.ordinary[-1])
    examination.dialect.begin_game()
    examination.search(examination.start_position)
