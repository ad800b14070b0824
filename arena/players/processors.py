"""Processor affinity: each concurrent game gets its own processors, so that engines do not disturb each other.

``off`` leaves the choice to the system. ``auto`` divides the processors that this process may use. It takes one
processor of each core first, so that two games share a core only if there are more games than cores. A list such as
``0-3,8`` divides the listed processors, in this order. Linux only; other systems support only ``off``.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elolab.engine.errors import UserError, argument
from elolab.engine.language import console

if TYPE_CHECKING:
    from elolab.arena.records import PlayerSpec
    from elolab.engine.settings.limits import Limits

OFF, AUTO = "off", "auto"
THREAD_OPTIONS = ("threads", "cores", "numthreads")
"""Names of options for the number of threads, in lower case."""

HASH_OPTIONS = ("hash", "hashsize", "hashmb", "memory")
"""Names of options for the size of the hash table in MiB, in lower case."""
ANNOUNCED: dict[tuple[tuple[str, ...], str | None], dict[str, int]] = {}
"""Defaults of whole-number options that programs announced in their handshake.

The outer key is a program, as command and folder; the inner key is an option's name in lower case.
"""
MIB = 1 << 20
SLICE_NS = 100_000
"""Time slice, in nanoseconds, that ``wake_soon`` requests; the shortest that Linux grants."""
_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}
"""Number of the Linux system call ``sched_setattr``, by architecture."""
_NOT_INHERITED = 1
"""Value of the flag ``SCHED_FLAG_RESET_ON_FORK`` for ``sched_setattr``."""


def _group_files(version_2: str, *version_1: str) -> tuple[tuple[Path, Path | None], ...]:
    """Files with one kind of limit for this process's control group and for every group above it.

    ``version_2`` is the name of the file in cgroups version 2. ``version_1`` is the controller and one or two file
    names in version 1. Returns pairs of files; the second is ``None`` if the first file alone contains the limit.
    """
    controller, *names = version_1
    found: list[tuple[Path, Path | None]] = []
    try:
        lines = Path("/proc/self/cgroup").read_text("ascii").splitlines()
    except (OSError, ValueError):
        lines = []
    for line in [*lines, "0::/", f"1:{controller}:/"]:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = Path("/sys/fs/cgroup", *([] if not controllers else [controller]))
        own = root / path.strip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(root):
                files = [folder / name for name in (names if controllers else [version_2])]
                found.append((files[0], files[1] if len(files) > 1 else None))
    return tuple(dict.fromkeys(found))


_QUOTAS = _group_files("cpu.max", "cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")
"""Files with the CPU limits of control groups, for cgroups version 2 and 1."""
_MEMORY_LIMITS = _group_files("memory.max", "memory", "memory.limit_in_bytes")
"""Files with the memory limits that control groups set."""
_TOPOLOGY = Path("/sys/devices/system/cpu")
_MAX_PROCESSOR = 65_535

Processors = frozenset[int]
"""Set of processor numbers; if empty, the system chooses."""


class AffinityError(UserError):
    """Raised if the requested processors are not available."""


def parse_affinity(text: str) -> str | tuple[int, ...]:
    """Parse a value of ``affinity``: ``off`` and ``auto`` are returned unchanged, a list such as ``0-3,8`` as numbers.

    Raises ``AffinityError`` for any other text.
    """
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
    """Numbers of the processors that this process may use, beginning with one of each core; empty if unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0), key=lambda number: (_place_in_core(number), number))


def _place_in_core(processor: int) -> int:
    """Index of a processor, from 0, among the hardware threads of its core; 0 if unknown."""
    try:
        text = (_TOPOLOGY / f"cpu{processor}" / "topology" / "thread_siblings_list").read_text("ascii")
        siblings = parse_affinity(text.strip())
    except (OSError, ValueError):
        return 0
    return siblings.index(processor) if isinstance(siblings, tuple) and processor in siblings else 0


def processor_count() -> int:
    """Number of processors that this process may use, limited by its affinity and its control groups; 0 if unknown."""
    count = len(usable_processors()) or os.cpu_count() or 0
    quotas = [quota for quota in map(_quota, _QUOTAS) if quota is not None]
    return min([count, *(max(1, int(quota)) for quota in quotas)])


def _quota(files: tuple[Path | str, Path | str | None]) -> float | None:
    """CPU limit in ``files``, a pair from ``_group_files``, as a number of processors; ``None`` if unlimited."""
    quota, period = files
    with contextlib.suppress(OSError, ValueError, IndexError, ZeroDivisionError):  # missing, or "max"
        words = Path(quota).read_text("ascii").split()
        words += [] if period is None else Path(period).read_text("ascii").split()
        if float(words[0]) > 0:
            return float(words[0]) / float(words[1])
    return None


def memory_megabytes() -> int:
    """Memory in MiB that this process may use, limited by the machine and its control groups; 0 if unknown."""
    sizes = []
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not every system reports this
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for file, _ in _MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # the file is missing or contains "max"
            sizes.append(int(Path(file).read_text("ascii")))
    return max(0, min(sizes, default=0)) // MIB


def thread_count(player: PlayerSpec) -> int:
    """Number of threads that an engine's options or arguments such as ``--threads 4`` set; 1 if none do."""
    return max(1, _number_given(player, THREAD_OPTIONS) or 1)


def hash_megabytes(player: PlayerSpec) -> int:
    """Size in MiB of a player's hash table, from the player's settings, options or arguments; 0 if not specified."""
    if player.is_builtin:
        return int(dict(player.parameters).get("hash_mb", 0))
    return _number_given(player, HASH_OPTIONS) or 0


def _number_given(player: PlayerSpec, names: Sequence[str]) -> int | None:
    """The last whole number that a player's options or arguments set for one of ``names`` (lower case).

    If none is set, the default that the program has announced; ``None`` if that is unknown.
    """
    given = [(name, value) for name, value in player.options if name.lower() in names]
    for word, following in zip(player.command[1:], [*player.command[2:], ""], strict=False):
        name, sign, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name.lower() in names:
            given.append((name, value if sign else following))
    counts = [int(value[:9]) for _, value in given if value.isdecimal()]
    announced = ANNOUNCED.get((player.command, player.directory), {})
    defaults = [announced[name] for name in names if name in announced]
    return next(iter([*counts[::-1], *defaults]), None)


class PlayerLoad(NamedTuple):
    """The processors and memory that a player needs in a run."""

    place: str
    """The place where the player is defined, such as a file and a key, as text for messages."""
    limits: Limits
    threads: int = 1
    ponders: bool = False
    hash_mb: int = 0
    """Size of the hash table in MiB; 0 if unknown."""

    @classmethod
    def of(cls, place: str, player: PlayerSpec) -> PlayerLoad:
        """Determine the needs of ``player``, which is defined at ``place``."""
        return cls(place, player.limits, thread_count(player), player.ponder, hash_megabytes(player))

    @property
    def is_on_wall_clock(self) -> bool:
        """Whether the player's time is wall-clock time, which also runs while the player waits for a processor."""
        return self.limits.is_on_wall_clock


class Load(NamedTuple):
    """The processors that concurrent games may need at most, with the numbers for a warning about an overload."""

    games: int
    threads: int
    """Number of threads of the engine with the most threads."""
    ponders: bool
    needed: int
    """Maximum number of processors that the games need at the same time."""
    processors: int
    """Number of processors available."""
    concurrency: int
    """Maximum number of concurrent games for which the processors suffice; 0 if they do not suffice for one game."""
    is_on_wall_clock: bool


def overload(sides: Sequence[PlayerLoad], concurrency: int, processors: int, pondering_slots: int = 2) -> Load | None:
    """The ``largest_load`` of ``concurrency`` concurrent games; ``None`` unless it exceeds ``processors``.

    The result is also ``None`` if there are no wall clocks and no engines with several threads, because an overload is
    harmless then.
    """
    if not processors or not sides:
        return None
    load = largest_load(sides, concurrency, processors, pondering_slots)
    return load if load.needed > processors and (load.is_on_wall_clock or load.threads > 1) else None


def largest_load(sides: Sequence[PlayerLoad], concurrency: int, processors: int, pondering_slots: int = 2) -> Load:
    """The largest load of ``concurrency`` concurrent games between these players. ``sides`` must not be empty.

    A game with pondering counts as ``pondering_slots`` games.
    """
    on_clock = any(side.is_on_wall_clock for side in sides)
    threads = sorted((side.threads for side in sides), reverse=True)
    loads = []
    pondering = [side for side in sides if side.ponders and side.is_on_wall_clock]
    for side in pondering:
        others = [*threads]
        others.remove(side.threads)
        both = side.threads + (others[0] if others else side.threads)
        loads.append(_load(concurrency, pondering_slots, both, threads[0], processors, on_clock))
    if len(sides) != len(pondering):  # a single side may play against itself
        loads.append(_load(concurrency, 1, threads[0], threads[0], processors, on_clock))
    load = max(loads, key=lambda one: (one.needed, one.games))
    return load._replace(concurrency=min(one.concurrency for one in loads))


def _load(concurrency: int, slots: int, each: int, threads: int, processors: int, on_clock: bool) -> Load:
    """The load of ``concurrency // slots`` concurrent games, but of at least one game.

    A game occupies ``slots`` slots, more than one with pondering, and needs ``each`` processors; ``processors`` are
    available. ``threads`` is the largest number of threads of an engine; ``on_clock``: some player has wall-clock time.
    """
    games = max(1, concurrency // slots)
    most = processors // each * slots
    return Load(games, threads, each > threads, games * each, processors, most, on_clock)


class MemoryLoad(NamedTuple):
    """The maximum memory that the hash tables of concurrent games need."""

    games: int
    each: int
    """Memory for the hash tables of both players of one game, in MiB."""
    machine: int
    """Memory of the machine, in MiB; 0 if unknown."""

    @property
    def needed(self) -> int:
        """Memory of all hash tables, in MiB."""
        return self.games * self.each

    @property
    def is_too_large(self) -> bool:
        """Whether the hash tables need more memory than the machine has; false if that is unknown."""
        return 0 < self.machine < self.needed

    @property
    def games_that_fit(self) -> int:
        """Maximum number of concurrent games whose hash tables fit into the memory."""
        return self.machine // max(1, self.each)


def memory_load(sides: Sequence[PlayerLoad], concurrency: int, machine: int) -> MemoryLoad:
    """The memory that hash tables need in ``concurrency`` games between these players.

    ``machine`` is the memory of the machine in MiB. If there is only one side, it plays against itself. Every game in
    progress has the tables of both players.
    """
    sizes = sorted((side.hash_mb for side in sides), reverse=True) or [0]
    return MemoryLoad(concurrency, sizes[0] + sizes[min(1, len(sizes) - 1)], machine)


def memory_error(load: MemoryLoad, permit: str = "") -> UserError:
    """The error for hash tables that do not fit into memory; ``permit`` ends the remedy."""
    fewer = f"{argument('concurrency', load.games_that_fit)} or less, or " if load.games_that_fit else ""
    return UserError(
        f"not enough memory: the hash tables of {load.games} games at a time need {load.needed} MiB ({load.each} a "
        f"game), but the machine has {load.machine} MiB",
        f"use {fewer}smaller hash tables (Hash, hash_mb){permit}",
    )


def overload_text(load: Load | None, where: str = "here") -> str:
    """Warning about an overload, in the console's language; empty if ``load`` is ``None``.

    ``where`` is ``here`` if the games are played on this machine, or ``worker`` if they are played by a worker.
    """
    if load is None:
        return ""
    say = console("elolab.arena")
    harm = say("overload.harm_clock" if load.is_on_wall_clock else "overload.harm")
    remedy = f"overload.remedy_{where if load.concurrency else 'pondering' if load.ponders else 'threads'}"
    return say(
        "overload.warning", processors=load.processors, games=load.games, threads=load.threads, needed=load.needed,
        pondering=say("overload.pondering" if load.ponders else "overload.no_pondering"), harm=harm,
        remedy=say(remedy, most=load.concurrency),
    )  # fmt: skip


def overload_error(load: Load, permit: str = "") -> UserError:
    """The error for games that need too many processors; ``permit`` ends the remedy."""
    remedy = (
        f"use {argument('concurrency', load.concurrency)} or less"
        if load.concurrency
        else "give engines fewer threads" + ", or switch pondering off" * load.ponders
    )
    return UserError(
        f"too few processors: {load.games} games at a time, {load.threads} thread{'s' * (load.threads > 1)} per engine"
        f"{', pondering' if load.ponders else ''}, need {load.needed}, but the machine has {load.processors}, and "
        "clocks run while engines wait",
        remedy + permit,
    )


def shares(affinity: str, games: int) -> list[Processors] | None:
    """Divide the processors into one set for each of ``games`` concurrent games; ``None`` if ``affinity`` is ``off``.

    Raises ``AffinityError`` if there are too few processors, or if this process may not use a listed processor.
    """
    wanted = parse_affinity(affinity)
    if wanted == OFF:
        return None
    usable = usable_processors()
    if not usable:
        raise AffinityError(f"affinity = {affinity}: this system cannot pin programs to processors", "use off")
    chosen = usable if isinstance(wanted, str) else list(wanted)
    missing = sorted(set(chosen) - set(usable))
    if missing:
        raise AffinityError(
            f"affinity = {affinity}: this process may not use processor {missing[0]}", f"it may use {shown(usable)}"
        )
    size = len(chosen) // games
    if size == 0:
        raise AffinityError(
            f"affinity = {affinity}: {games} games at a time need {games} processors, but there are {len(chosen)}",
            f"use at most {argument('concurrency', len(chosen))}, or affinity off",
        )
    return [frozenset(chosen[game * size : (game + 1) * size]) for game in range(games)]


def shown(processors: Iterable[int]) -> str:
    """Format processor numbers as a list such as ``0-3,8``."""
    spans: list[list[int]] = []
    for number in sorted(processors):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


class ProcessorPool:
    """Assigns sets of processors to games as they begin; thread-safe."""

    def __init__(self, free: Sequence[Processors] | None) -> None:
        """``free`` contains a set of processors for each concurrent game; if it is ``None``, the system chooses."""
        self._free = None if free is None else list(free)
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, count: int, before: Processors) -> Iterator[Processors]:
        """Context manager that reserves ``count`` of the free sets of processors and yields their union.

        At least ``count`` sets must be free. Sets within ``before``, which the engines already use, are preferred.
        Yields an empty set if the system chooses the processors.
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


_OF_THREAD = threading.local()


def wake_soon() -> None:
    """Ask the system to run this thread soon after each wake-up, even if the processors are busy.

    Since version 6.12, Linux prefers threads that request short time slices. Programs started by this thread do not
    inherit the request. Does nothing on other systems, or if the thread's scheduling policy is not the default.
    """
    import ctypes
    import platform

    if getattr(_OF_THREAD, "wakes_soon", False):
        return
    _OF_THREAD.wakes_soon = True
    number = _SET_ATTRIBUTES.get(platform.machine()) if sys.platform == "linux" else None
    if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = struct.pack("=IIQiIQQQ", 48, os.SCHED_OTHER, _NOT_INHERITED, nice, 0, SLICE_NS, 0, 0)
    ctypes.CDLL(None).syscall(number, 0, attributes, 0)


def pin_thread(processors: Processors) -> None:
    """Restrict the calling thread, and threads and processes that it starts later, to these processors."""
    os.sched_setaffinity(0, processors)


def pin_process(process_id: int, processors: Processors) -> None:
    """Restrict all threads of a process and its children to these processors; ignores processes that have exited."""
    tasks = Path(f"/proc/{process_id}/task")
    with contextlib.suppress(OSError):
        for task in tasks.iterdir():
            os.sched_setaffinity(int(task.name), processors)
            for child in (task / "children").read_text("ascii").split():
                pin_process(int(child), processors)
