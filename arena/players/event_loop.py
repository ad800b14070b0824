"""One thread that talks to any number of programs: coroutines that wait for pipes, deadlines and worker threads.

Games between programs are coroutines on one loop with one poll over all pipes. The loop is minimal because every move
pays for it: asyncio needs more time for one event than a whole move may cost here. ``run`` runs a single coroutine;
``LoopThread`` serves other threads.
"""

from __future__ import annotations

import os
import select
import threading
import time
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")

WAKE_NS = 100_000_000
"""Interval for checking all waiting tasks for stop flags and silently ended processes."""
WORKERS = 1024
"""Most threads for blocking work; started on demand. Searches of built-in players must not queue."""

_FOR_EVER = 1 << 62


class Waitable(Protocol):
    """Something that a coroutine can wait for by ``suspend``."""

    deadline_ns: int
    """Deadline of the wait, by ``time.monotonic_ns``; constant while a task waits."""

    def begin(self, loop: EventLoop, task: Task) -> None:
        """Start waiting on behalf of a task, which ``loop.resume`` wakes. The loop may differ from call to call."""

    def check(self, now_ns: int) -> None:
        """Called every ``WAKE_NS`` and after the deadline: wakes the task if it should wait no longer."""


class Source(Protocol):
    """The owner of a file descriptor."""

    def ready(self, descriptor: int, event: int) -> None:
        """Something can be read or written, or the other end is gone (a mask of ``select.POLL...``)."""


@types.coroutine
def suspend(source: Waitable) -> Generator[Waitable, Any, Any]:
    """Wait for ``source``; returns the value that it resumes the task with."""
    return (yield source)


class Task:
    """A running coroutine."""

    __slots__ = ("coroutine", "done", "error", "result")

    def __init__(self, coroutine: Coroutine[Waitable, Any, Any], done: Callable[[Task], None] | None = None) -> None:
        self.coroutine = coroutine
        self.done = done
        """Called on the loop's thread at the end."""
        self.result: Any = None
        self.error: BaseException | None = None


class EventLoop:
    """Runs tasks on the thread that calls ``run_until_done``."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._sources: dict[int, Source] = {}
        self._waiting: dict[Task, Waitable] = {}
        self._check_ns = 0
        self._calls: deque[Callable[[], None]] = deque()
        """Calls requested by other threads."""
        self._closing = threading.Lock()
        self._is_closed = False
        self._wake_output, self._wake_input = os.pipe()
        os.set_blocking(self._wake_output, False)
        os.set_blocking(self._wake_input, False)
        self.watch(self._wake_output, select.POLLIN, self)

    def close(self) -> None:
        """Close the loop's own pipe; threads of abandoned tasks that end later are ignored."""
        with self._closing:
            self._is_closed = True
            os.close(self._wake_output)
            os.close(self._wake_input)

    # What those who wait use.

    def watch(self, descriptor: int, events: int, source: Source) -> None:
        """Report a descriptor's events (a mask of ``select.POLL...``) to ``source`` from now on."""
        self._sources[descriptor] = source
        self._poll.register(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor; does nothing if it is not watched."""
        if self._sources.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def resume(self, task: Task, value: Any = None, error: BaseException | None = None) -> None:
        """Continue a task until it waits again."""
        self._waiting.pop(task, None)
        try:
            source = task.coroutine.send(value) if error is None else task.coroutine.throw(error)
        except StopIteration as end:
            task.result = end.value
        except BaseException as failure:
            task.error = failure
        else:
            self._waiting[task] = source
            source.begin(self, task)
            if source.deadline_ns < self._check_ns:
                self._check_ns = source.deadline_ns
            return
        if task.done is not None:
            task.done(task)

    def call(self, function: Callable[[], None]) -> None:
        """Call ``function`` on the loop's thread; usable from any thread, ignored once the loop is closed."""
        with self._closing:
            if self._is_closed:
                return
            self._calls.append(function)
            try:
                os.write(self._wake_input, b"\0")
            except BlockingIOError:
                pass  # it is awake

    # What runs it.

    def run_until_done(self, coroutine: Coroutine[Waitable, Any, Result]) -> Result:
        """Run a coroutine to its end, and other tasks meanwhile; returns its result or raises its exception."""
        ended: list[Task] = []
        task = Task(coroutine, ended.append)
        self.resume(task)
        while not ended:
            self.turn()
        if task.error is not None:
            raise task.error
        result: Result = task.result
        return result

    def turn(self) -> None:
        """Wait for the next events and handle them."""
        left_ns = self._check_ns - time.monotonic_ns()
        for descriptor, event in self._poll.poll(left_ns / 1e6 if left_ns > 0 else 0):
            source = self._sources.get(descriptor)
            if source is not None:  # an event before may have ended the watch
                source.ready(descriptor, event)
        now_ns = time.monotonic_ns()
        if now_ns >= self._check_ns:
            self._check(now_ns)

    def ready(self, descriptor: int, event: int) -> None:
        """Run the calls that other threads requested."""
        try:
            os.read(descriptor, 4096)
        except BlockingIOError:
            pass
        while self._calls:
            self._calls.popleft()()

    def _check(self, now_ns: int) -> None:
        for task, source in list(self._waiting.items()):
            if self._waiting.get(task) is source:
                source.check(now_ns)
        earliest_ns = min((source.deadline_ns for source in self._waiting.values()), default=_FOR_EVER)
        self._check_ns = min(now_ns + WAKE_NS, max(earliest_ns, now_ns + 1))


class _Work:
    """A function running in its own thread, as a ``Waitable``."""

    deadline_ns = _FOR_EVER

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._arguments = arguments

    def begin(self, loop: EventLoop, task: Task) -> None:
        """Start it."""
        future = _workers().submit(self._function, *self._arguments)
        future.add_done_callback(lambda ended: loop.call(lambda: _resume_with(loop, task, ended)))

    def check(self, now_ns: int) -> None:
        """Does nothing: a function cannot be interrupted."""


def _resume_with(loop: EventLoop, task: Task, future: Future[Any]) -> None:
    error = future.exception()
    loop.resume(task, None if error is not None else future.result(), error)


_WORKERS: list[ThreadPoolExecutor] = []
_WORKERS_LOCK = threading.Lock()


def _workers() -> ThreadPoolExecutor:
    with _WORKERS_LOCK:
        if not _WORKERS:
            _WORKERS.append(ThreadPoolExecutor(WORKERS, "player"))
        return _WORKERS[0]


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run a blocking or long function in another thread, and wait for its result."""
    result: Result = await suspend(_Work(function, arguments))
    return result


_OF_THREAD = threading.local()


def run(coroutine: Coroutine[Waitable, Any, Result]) -> Result:
    """Run a coroutine from ordinary code, blocking the thread; not on a loop's thread."""
    loop = getattr(_OF_THREAD, "loop", None)
    if loop is None:
        loop = _OF_THREAD.loop = EventLoop()
    return loop.run_until_done(coroutine)


class LoopThread:
    """An event loop in a thread of its own, for coroutines of other threads."""

    def __init__(self) -> None:
        self._loop = EventLoop()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="games of programs", daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[Waitable, Any, Result]) -> Future[Result]:
        """Start the coroutine; the future holds its result or exception."""
        future: Future[Result] = Future()

        def done(task: Task) -> None:
            if task.error is not None:
                future.set_exception(task.error)
            else:
                future.set_result(task.result)

        self._loop.call(lambda: self._loop.resume(Task(coroutine, done)))
        return future

    def close(self) -> None:
        """End the thread; no coroutine may be running."""
        self._is_closing = True
        self._loop.call(lambda: None)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        while not self._is_closing:
            self._loop.turn()
