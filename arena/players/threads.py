"""Threads for work beside a game: a search that ponders, and several programs at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

WORKERS = 1024
"""Maximum number of threads, so high that searches of built-in players never wait for one."""


@functools.cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(WORKERS, "player")


def start_thread(function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Run a function in another thread; the future holds its result or exception."""
    return _workers().submit(function, *arguments)
