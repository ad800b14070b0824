"""Processors for games: each game at a time has some of its own, so that engines do not push each other about.

``off`` leaves it to the system. ``auto`` shares out the processors this process may use, one of each core first, so
that two games share a core only where there are more games than cores. A list such as ``0-3,8`` shares out these, in
its order. Linux only; elsewhere nothing but ``off`` is possible.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

OFF, AUTO = "off", "auto"
THREAD_OPTIONS = ("threads", "cores")
"""What engines call the number of their threads, in lower case."""

_TOPOLOGY = Path("/sys/devices/system/cpu")
_MAX_PROCESSOR = 65_535

Processors = frozenset[int]
"""Numbers of processors; where none are given, that is left to the system."""


class AffinityError(ValueError):
    """The processors cannot be shared out as asked; says why and what to do."""


def parse_affinity(text: str) -> str | tuple[int, ...]:
    """``off``, ``auto``, or the processors of a list such as ``0-3,8``; raises ``AffinityError``."""
    if text in (OFF, AUTO):
        return text
    processors: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= _MAX_PROCESSOR:
            raise AffinityError(f"{text!r} is not off, auto or a list of processors such as 0-3,8")
        processors += range(first, last + 1)
    return tuple(dict.fromkeys(processors))


def usable_processors() -> list[int]:
    """The numbers of the processors this process may use, one of each core first; empty where nobody can say."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0), key=lambda number: (_place_in_core(number), number))


def _place_in_core(processor: int) -> int:
    """Which of its core's hardware threads a processor is; 0 where nobody can say."""
    try:
        text = (_TOPOLOGY / f"cpu{processor}" / "topology" / "thread_siblings_list").read_text("ascii")
        siblings = parse_affinity(text.strip())
    except (OSError, ValueError):
        return 0
    return siblings.index(processor) if isinstance(siblings, tuple) and processor in siblings else 0


def thread_count(options: Sequence[tuple[str, str]]) -> int:
    """How many threads an engine is told to use by its options; 1 if they say nothing of it."""
    told = [value for name, value in options if name.lower() in THREAD_OPTIONS and value.isdecimal()]
    return max(1, int(told[-1][:6])) if told else 1


def shares(affinity: str, games: int) -> list[Processors] | None:
    """For each of so many games at a time its processors; ``None`` if ``affinity`` is off.

    Raises ``AffinityError`` if there are too few, or this process may not use one of them.
    """
    wanted = parse_affinity(affinity)
    if wanted == OFF:
        return None
    usable = usable_processors()
    if not usable:
        raise AffinityError(f"affinity = {affinity}: this system cannot pin programs to processors; use off")
    chosen = usable if isinstance(wanted, str) else list(wanted)
    missing = sorted(set(chosen) - set(usable))
    if missing:
        raise AffinityError(
            f"affinity = {affinity}: this process may not use processor {missing[0]}; it may use {shown(usable)}"
        )
    size = len(chosen) // games
    if size == 0:
        raise AffinityError(
            f"affinity = {affinity}: {games} games at a time need {games} processors, but there are {len(chosen)}; "
            f"use at most --concurrency {len(chosen)}, or affinity off"
        )
    return [frozenset(chosen[game * size : (game + 1) * size]) for game in range(games)]


def shown(processors: Iterable[int]) -> str:
    """Numbers as a list such as ``0-3,8``."""
    spans: list[list[int]] = []
    for number in sorted(processors):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


class ProcessorPool:
    """Hands out the shares to the games that begin. Safe to use from several threads."""

    def __init__(self, free: Sequence[Processors] | None) -> None:
        """``free`` are the shares, or ``None`` if processors are left to the system."""
        self._free = None if free is None else list(free)
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, count: int, before: Processors) -> Iterator[Processors]:
        """The processors of so many shares, of those in ``before`` first, for processes are there already.

        So many must be free: who asks has waited for a place to play. None if processors are left to the system.
        """
        if self._free is None:
            yield frozenset()
            return
        with self._lock:
            self._free.sort(key=lambda share: not share <= before)
            mine, self._free = self._free[:count], self._free[count:]
        try:
            yield frozenset().union(*mine)
        finally:
            with self._lock:
                self._free += mine


def pin_thread(processors: Processors) -> None:
    """Have the calling thread run on these only; the threads and processes it starts do so too."""
    os.sched_setaffinity(0, processors)


def pin_process(process_id: int, processors: Processors) -> None:
    """Have all threads of a process and of its children run on these only; nothing of what has ended meanwhile."""
    tasks = Path(f"/proc/{process_id}/task")
    with contextlib.suppress(OSError):
        for task in tasks.iterdir():
            os.sched_setaffinity(int(task.name), processors)
            for child in (task / "children").read_text("ascii").split():
                pin_process(int(child), processors)
