"""What all tests share: the command line options of the suite, golden files and the profiles of hypothesis.

Numba's cache is set up in the ordinary way, by importing the engine, so that tests meet what users meet.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from elolab.engine.language import DEFAULT_LANGUAGE, speak

if TYPE_CHECKING:
    from tests.support.browser import Browser

GOLDEN_DIRECTORY = Path(__file__).parent / "data" / "golden"

hypothesis.settings.register_profile("ordinary", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("soak", deadline=None, max_examples=2000)
hypothesis.settings.load_profile("ordinary")


SLOW_FILES = (
    "test_watch.py", "test_tuning_run.py", "test_match_study.py", "test_validations.py", "test_budgets.py",
    "test_faults.py", "test_claims_page.py", "test_overlap.py", "test_study.py", "test_transcriptions.py",
    "test_merging.py", "test_dask.py", "test_marks.py", "test_executor.py", "test_bench.py", "test_search.py",
    "test_play.py", "test_examination.py", "test_lines.py", "test_techniques.py", "test_scaling.py", "test_figures.py",
    "test_keys.py", "test_interruption.py", "test_posterior.py", "test_ablation_run.py", "test_storage.py",
    "test_gain_test.py", "test_non_regression.py", "test_tournament_commands.py", "test_constraints.py",
    "test_match.py", "test_words.py", "test_game_contract.py", "test_files.py", "test_adapter.py", "test_process.py",
    "test_othello.py", "test_fit_xiangqi.py", "test_fit_evaluation.py", "test_spsa.py", "test_engine_program.py",
    "test_forfeits.py", "test_comparison_verdicts.py", "test_language.py", "test_claims_run.py", "test_status.py",
    "test_xiangqi_moves.py", "test_replay.py", "test_api.py", "test_clocks.py", "test_overload.py", "test_linking.py",
    "test_brownian.py", "test_stored_results.py", "test_command_line.py", "test_report.py", "test_cache.py",
    "test_bisect.py", "test_tournament_run.py", "test_external_ablation.py", "test_kernel_processes.py",
    "test_compilation.py", "test_paired.py",
)  # fmt: skip
"""They begin first, lest one of them be left for the end, when a processor has nothing else to do.

Those that mostly wait are apart, so that other workers have work for the processors meanwhile.
"""


MEMORY, MEMORY_BYTES = Path("/dev/shm"), 2 << 30
"""Where Linux keeps files in memory, and how much must be free for those of tests."""


class _OnlyElolab:
    """Refuses the names that an installed copy does not have; in a checkout pytest would find the folders."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in ("engine", "arena", "tuning", "configs"):
            raise ModuleNotFoundError(f"only elolab.{name} is installed", name=name)


sys.meta_path.insert(0, _OnlyElolab)


def pytest_configure() -> None:
    """Keep tests' files in memory, and let Ctrl-C reach what tests start.

    Every game is written to the disk before the next one counts: to wait for that is a fifth of the time otherwise. A
    shell starts what runs in the background with Ctrl-C ignored, for good.
    """
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """One worker at a time imports a file of tests, and leaves its bytecode to the others.

    In a fresh clone each of them would rewrite and compile all sources, which takes longer than to import them.
    """
    if not isinstance(collector, pytest.Module):
        return (yield)
    with collector.path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without garbage collection, which later leaves alone what was made: nearly all of it stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; mark the tests that need a browser, which is a program of the system."""
    order = {name: place for place, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
    for item in items:
        if "one_browser" in getattr(item, "fixturenames", ()):
            item.add_marker("integration")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files anew instead of comparing")
    parser.addoption(
        "--interruptions", type=int, default=8, metavar="N", help="how often each kind of run is killed (default 8)"
    )
    parser.addoption("--seed", type=int, default=1, metavar="N", help="of the moments of interruptions (default 1)")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each file took, the longest first; what is below a second is summed up."""
    seconds: dict[str, float] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                seconds[file] = seconds.get(file, 0.0) + report.duration
    terminalreporter.section("seconds of each file")
    for file, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        if spent >= 1:
            terminalreporter.write_line(f"{spent:8.1f}  {file}")
    terminalreporter.write_line(f"{sum(seconds.values()):8.1f}  all {len(seconds)}")


@pytest.fixture(autouse=True)
def usual_language() -> Iterator[None]:
    """Whatever a test has the command line say, the next one begins in English."""
    yield
    speak(DEFAULT_LANGUAGE)


@pytest.fixture(scope="session", autouse=True)
def migrations_read_once() -> Iterator[None]:
    """Optuna reads the sources of all its migrations three times whenever a study is opened; nobody changes them."""
    with pytest.MonkeyPatch.context() as patch:
        if "optuna" in sys.modules:  # as where a file of tests names it: to import it takes a while
            from optuna.storages._rdb.storage import _VersionManager

            read, kept = _VersionManager._create_alembic_script, []

            def read_once(manager: _VersionManager) -> object:
                if not kept:
                    kept.append(read(manager))
                return kept[0]

            patch.setattr(_VersionManager, "_create_alembic_script", read_once)
        yield


@pytest.fixture
def without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of tournaments with empty charts: to draw them takes longer than the games of a small one."""
    from matplotlib.figure import Figure

    from elolab.arena.reports.plots import Plot

    names = ("ratings", "convergence", "pairs", "endings", "lengths", "crosstable", "sequential")
    plots = tuple(Plot(name, name, name, Figure((1, 1))) for name in names)
    monkeypatch.setattr("elolab.arena.reports.write.plots_of", lambda *arguments: plots)


@pytest.fixture
def without_tuning_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of studies and ablations with empty charts, and those of claims with none."""
    from matplotlib.figure import Figure

    from tests.support.small_claims import draw_no_figures

    draw_no_figures(monkeypatch)
    for name in ("ablation_charts", "tuning_charts"):
        module = import_module(f"elolab.tuning.reports.{name}")
        for chart in [found for found in vars(module) if found.endswith("_chart")]:
            monkeypatch.setattr(module, chart, lambda *arguments: Figure((1, 1)))


@pytest.fixture(scope="session")
def one_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all pages, each of which finds nothing that another one kept: to start it takes longer than a page."""
    from tests.support.browser import Browser

    with Browser(tmp_path_factory.mktemp("profile")) as found:
        found.call("Page.addScriptToEvaluateOnNewDocument", source="try { localStorage.clear(); } catch {}")
        yield found


@pytest.fixture(scope="module")
def browser(one_browser: Browser) -> Iterator[Browser]:
    """The browser, which has nothing to do once the tests of a file have ended."""
    yield one_browser
    one_browser.open("about:blank")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)`` demands that ``text`` equals the file of that name in ``tests/data/golden``."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN_DIRECTORY / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        assert path.exists(), f"{path} is missing; pytest --update-golden writes it"
        assert text == path.read_text("utf-8"), f"{path} differs; if that is meant: pytest --update-golden"

    return compare
