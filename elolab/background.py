"""Runs work in a background thread, so that the main thread can handle Ctrl-C."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future


Found = TypeVar("Found")


def in_background(work: Callable[[], Found]) -> Future[Found]:
    """Run ``work`` in a daemon thread, so that the main thread can handle Ctrl-C.

    Python cannot handle Ctrl-C while compiled code runs in the main thread. Returns a future of the result or the
    exception. The program can end before the thread does.
    """
    from concurrent.futures import Future

    future: Future[Found] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again by future.result()
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
