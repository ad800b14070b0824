"""Threads for work beside the game loop, such as pondering or waiting for several programs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

WORKERS = 1024
"""Maximum number of threads; high enough that a built-in player's search never waits for a thread."""


@functools.cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WORKERS, "player")


def start_thread(function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Run a function in another thread; the returned future has its result or exception."""
    return _workers().submit(function, *arguments)
