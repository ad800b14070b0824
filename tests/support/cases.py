"""One test of hundreds of cases that take no time by themselves, unlike a test of pytest's for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def for_each(cases: Iterable[Any], name: Callable[[Any], object] = str) -> Callable[[Callable[..., None]], Any]:
    """A decorator that makes a test of a check, which is called with each case; every case that fails is reported.

    A case that is a tuple is given as several arguments. ``name`` says what a case is called in the report.
    """
    known = list(cases)

    def decorated(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            failures = []
            for case in known:
                try:
                    check(*(case if isinstance(case, tuple) else (case,)))
                except Exception as error:
                    failures.append(f"{name(case)}: {type(error).__name__}: {error}")
            assert known
            assert not failures, "\n\n".join(failures)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorated
