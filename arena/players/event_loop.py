"""Runs the coroutines that communicate with programs: in the calling thread, or those of many games together in a
thread of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

WORKERS = 1024
"""Maximum number of threads for blocking work: so many that searches of built-in players never wait for a free thread.
"""


@functools.cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WORKERS, "player")


def start_thread(function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Run a function in another thread; the future holds its result or exception."""
    return _workers().submit(function, *arguments)


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run a blocking or long function in another thread, await it, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(_workers(), function, *arguments)


_OF_THREAD = threading.local()


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine from synchronous code and wait for its result; not allowed on the thread of an event loop."""
    loop: asyncio.AbstractEventLoop | None = getattr(_OF_THREAD, "loop", None)
    if loop is None:
        loop = _OF_THREAD.loop = asyncio.new_event_loop()
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        if task.done():
            raise
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
            loop.run_until_complete(task)
        raise


class LoopThread:
    """An event loop in a thread of its own, for coroutines of other threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="games of programs", daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start the coroutine; the future holds its result or exception."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """End the thread; no coroutine may be running."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
