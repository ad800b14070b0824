"""Work beside the main thread, which stays open to Ctrl-C."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future


Found = TypeVar("Found")


def in_background(work: Callable[[], Found]) -> Future[Found]:
    """Run ``work`` in a separate thread, since Python cannot handle Ctrl-C while compiled code runs in this one.

    The program need not wait for the thread's end.
    """
    from concurrent.futures import Future

    future: Future[Found] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # whoever waits for the result raises it
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
