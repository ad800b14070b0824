"""Runs the tests of a pytest session in several processes, which fork once all tests are collected.

    python -m pytest --workers 3

Each process of pytest-xdist imports all files of tests, which takes longer than to run most of them; here one process
imports them for all. A worker runs one file after the other, and takes the number of its next file from a pipe that all
workers share. A test that no worker has run counts as failed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import struct
import sys
import traceback
import warnings
from collections.abc import Iterator
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

NUMBER = struct.Struct("H")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, metavar="N", help="processes that run tests (default 1)")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Take pytest's own loop's place if there are several workers."""
    workers = session.config.getoption("--workers")
    if workers == 1 or session.testsfailed or session.config.option.collectonly:
        return None
    files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
    numbers, to_numbers = os.pipe()
    os.write(to_numbers, b"".join(map(NUMBER.pack, range(len(files)))))
    os.close(to_numbers)
    running = dict(_fork(session, files, numbers) for _ in range(min(workers, len(files))))
    os.close(numbers)
    try:
        _follow(session, running)
    finally:
        for process in running.values():
            os.kill(process, signal.SIGKILL)  # some tests handle other signals
            os.waitpid(process, 0)
    return True


def _fork(session: pytest.Session, files: list[list[pytest.Item]], numbers: int) -> tuple[Connection, int]:
    """Start a worker; returns the pipe of its reports and its process."""
    reports, to_main = multiprocessing.Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        to_main.close()
        return reports, process
    code = 1
    try:
        reports.close()
        _work(session, files, numbers, to_main)
        code = 0
    except (KeyboardInterrupt, pytest.exit.Exception, session.Failed):
        pass
    except BaseException:
        to_main.send(("broken", traceback.format_exc()))
    finally:
        os._exit(code)


def _work(session: pytest.Session, files: list[list[pytest.Item]], numbers: int, to_main: Connection) -> None:
    """Run files of tests until none is left, and send what happens to the main process."""
    plugins = session.config.pluginmanager
    capture: Any = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()  # its file is the main process's
    capture.start_global_capturing()
    plugins.unregister(plugins.getplugin("terminalreporter"))
    plugins.register(_Sender(session.config, to_main))
    items = _taken(files, numbers)
    item = next(items, None)
    while item:
        following = next(items, None)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        item = following
    session.config.hook.pytest_sessionfinish(session=session, exitstatus=min(session.testsfailed, 1))
    capture.stop_global_capturing()


def _taken(files: list[list[pytest.Item]], numbers: int) -> Iterator[pytest.Item]:
    """The tests of one file after the other, each of which no other worker takes."""
    while number := os.read(numbers, NUMBER.size):
        yield from files[NUMBER.unpack(number)[0]]


class _Sender:
    """Sends the reports and warnings of a worker to the main process."""

    def __init__(self, config: pytest.Config, to_main: Connection) -> None:
        self._config, self._to_main = config, to_main

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._to_main.send(("end", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._to_main.send(("report", data))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, when: Any, nodeid: str) -> None:
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        self._to_main.send(("warning", (text, warning_message.filename, warning_message.lineno, when, nodeid)))


def _follow(session: pytest.Session, running: dict[Connection, int]) -> None:
    """Pass on what workers send until all have ended; a test that did not end, or was not run, has failed."""
    hook = session.config.hook
    missing = {item.nodeid: item.location for item in session.items}
    while running:
        for reports in wait(list(running)):
            assert isinstance(reports, Connection)
            try:
                kind, what = reports.recv()
            except EOFError:
                os.waitpid(running.pop(reports), 0)
                continue
            if kind == "report":
                report = hook.pytest_report_from_serializable(config=session.config, data=what)
                hook.pytest_runtest_logreport(report=report)
            elif kind == "end":
                del missing[what]
            elif kind == "warning":
                text, file, line, when, nodeid = what
                message = warnings.WarningMessage(Warning(text), Warning, file, line)
                hook.pytest_warning_recorded.call_historic(
                    kwargs={"warning_message": message, "when": when, "nodeid": nodeid, "location": None}
                )
            else:
                raise RuntimeError(what)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
    for nodeid, location in missing.items():
        text = "a worker died while it ran this test, or before it could"
        hook.pytest_runtest_logreport(report=pytest.TestReport(nodeid, location, {}, "failed", text, "call"))
