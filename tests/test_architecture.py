"""The direction of imports (tuning -> arena -> engine), who may use which library, and the names of modules."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from elolab.cli import COMMANDS
from tests.support.cases import for_each

ROOT = Path(__file__).parent.parent

PARTS = {"engine", "arena", "tuning", "configs"}
"""Packages inside ``elolab``. A module of theirs has a short name here: ``engine.play`` is ``elolab.engine.play``."""

MAY_IMPORT = {
    "configs": {"configs"},
    "engine": {"engine", "configs", "numba", "llvmlite", "numpy", "chess"},
    "arena": {
        "arena",
        "engine",
        "configs",
        "numpy",
        "pandas",
        "matplotlib",
        "jinja2",
        "markupsafe",
        "asyncssh",
        "backports",
        "compression",
        "distributed",
        "starlette",
        "uvicorn",
    },
    "tuning": {"tuning", "arena", "engine", "configs", "numpy", "pandas", "matplotlib", "optuna"},
    "elolab": {"elolab", "tuning", "arena", "engine", "pandas", "argcomplete"},
}
"""What each may import besides the standard library."""

MAY_DRAW = {
    "arena.reports.testing.charts", "arena.reports.tournament_charts", "arena.reports.plots",
    "arena.reports.drawing.fonts", "arena.reports.drawing.marks", "arena.reports.drawing.style",
    "tuning.reports.ablation_charts", "tuning.reports.claims_charts", "tuning.reports.tuning_charts",
}  # fmt: skip
"""The only modules that may import matplotlib."""

MAY_SERVE = {"arena.watching.server"}
"""The only modules that may import starlette and uvicorn, an extra that most do without."""
MAY_USE_DASK = {"arena.cluster.dask_cluster", "arena.cluster.ssh_cluster"}
"""The only modules that may import distributed and asyncssh."""

SPECIFICATION_FOLDERS = {path.relative_to(ROOT).as_posix() for path in (ROOT / "configs").iterdir() if path.is_dir()}
"""Folders of files that a user may write; the page has them in one line."""

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "tools"}


def short(module: str) -> str:
    """The name of a module without ``elolab.``, if it belongs to one of ``PARTS``."""
    inner = module.removeprefix("elolab.")
    return inner if inner.partition(".")[0] in PARTS else module


@functools.cache
def imports_in(source: str) -> list[ast.Import | ast.ImportFrom]:
    """Every import of a source, wherever in it."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported_modules(source: str, package: str) -> Iterator[tuple[str, int]]:
    """Full names of every module that a source imports, wherever in it, with the line; relative ones resolved."""
    for node in imports_in(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        else:
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])]), node.lineno


def offences(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """What a module imports against the rules, one line each."""
    top = module.partition(".")[0]
    package = module if is_package else module.rpartition(".")[0]
    package = f"elolab.{package}" if top in PARTS else package
    found = []
    for full_name, line in imported_modules(source, package):
        name = short(full_name)
        library = name.partition(".")[0]
        if library in sys.stdlib_module_names:
            continue
        if name == full_name and library in PARTS:
            found.append(f"{module}:{line} imports {name}: only elolab.{name} is installed")
        elif library not in MAY_IMPORT[top]:
            found.append(f"{module}:{line} imports {name}: {top} may import only {', '.join(sorted(MAY_IMPORT[top]))}")
        elif library == "matplotlib" and module not in MAY_DRAW:
            found.append(f"{module}:{line} imports {name}: only {', '.join(sorted(MAY_DRAW))} may")
        elif library in ("starlette", "uvicorn") and module not in MAY_SERVE:
            found.append(f"{module}:{line} imports {name}: only {', '.join(sorted(MAY_SERVE))} may")
        elif library in ("asyncssh", "distributed") and module not in MAY_USE_DASK:
            found.append(f"{module}:{line} imports {name}: only {', '.join(sorted(MAY_USE_DASK))} may")
    return found


def sources() -> list[tuple[str, Path]]:
    """Short names and files of all modules of the distribution."""
    paths = sorted((ROOT / "elolab").rglob("*.py"))  # which does not enter links
    for package in sorted(PARTS):
        paths += sorted((ROOT / package).rglob("*.py"))
    named = []
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        named.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return named


@for_each(sources(), name=lambda case: case[0])
def test_imports_go_one_way(module: str, path: Path) -> None:
    assert not offences(module, path.read_text("utf-8"), is_package=path.name == "__init__.py")


@for_each(sources(), name=lambda case: case[0])
def test_module_names_say_what_is_inside(module: str, path: Path) -> None:
    assert not EMPTY_NAMES & set(module.split("."))


def test_every_folder_of_sources_is_a_package() -> None:
    """A folder without ``__init__.py`` would be left out of an installed copy."""
    for _, path in sources():
        if path.parent != ROOT:
            assert (path.parent / "__init__.py").exists(), f"{path.parent} has no __init__.py"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("engine.play", "import engine.values"),
        ("engine.play", "import elolab.arena.play.store"),
        ("engine.play", "from elolab.tuning import study"),
        ("engine.search.node", "def f():\n    import pandas"),
        ("engine.search.node", "from ...arena import store"),
        ("arena.play.game", "from numba import njit"),
        ("arena.play.game", "import optuna.samplers"),
        ("arena.run", "from distributed import Client"),
        ("arena.statistics.standings", "import matplotlib.pyplot as plt"),
        ("arena.play.game", "import elolab.tuning.study.space"),
        ("arena.watching.snapshot", "from starlette.applications import Starlette"),
        ("tuning.study.tuning_run", "import elolab"),
        ("tuning.study.tuning_run", "import scipy"),
        ("elolab.games", "import numba"),
        ("elolab.studies", "import optuna"),
    ],
)
def test_the_check_finds_each_kind_of_offence(module: str, source: str) -> None:
    assert offences(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("engine.search.node", "from elolab.engine.values import MATE\nfrom ..values import MATE\nimport numba"),
        ("arena.reports.tournament_charts", "import matplotlib"),
        ("tuning.study.tuning_run", "import optuna\nfrom elolab.arena.play.executor import GameRunner"),
        ("elolab", "import os\nfrom elolab.engine.errors import UserError"),
    ],
)
def test_the_check_allows_what_the_rules_allow(module: str, source: str) -> None:
    assert not offences(module, source)


def test_the_rules_cover_the_distribution() -> None:
    assert {module.partition(".")[0] for module, _ in sources()} == PARTS | {"elolab"} == set(MAY_IMPORT)


def test_the_page_on_the_architecture_is_one_page_that_names_every_folder_and_no_other_file() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert len(page.splitlines()) <= 90
    named = re.findall(r"^\| `([\w/]+)/` \|", page, re.MULTILINE)
    folders = {path.parent.relative_to(ROOT).as_posix() for _, path in sources()}
    assert sorted(named) == sorted(folders - SPECIFICATION_FOLDERS)
    ours = [path for path in ROOT.iterdir() if not path.name.startswith(".")]  # not what was installed
    files = {
        path.relative_to(ROOT).as_posix()
        for top in ours for path in (top, *top.rglob("*")) if path.suffix in {".py", ".md", ".toml"}
    }  # fmt: skip
    for name in re.findall(r"`([\w/.-]+\.(?:py|md|toml))`", page):
        assert any(f"/{file}".endswith(f"/{name}") for file in files), name


# The rooms


def imports_among(modules: Mapping[str, tuple[str, bool]]) -> dict[str, set[str]]:
    """Which of the modules each one imports anywhere in it; of sources, and whether they are of a package."""
    found: dict[str, set[str]] = {}
    for module, (source, is_package) in modules.items():
        package = module if is_package else module.rpartition(".")[0]
        found[module] = set()
        for node in imports_in(source):
            if isinstance(node, ast.Import):
                found[module] |= {short(alias.name) for alias in node.names} & modules.keys()
            else:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = short(".".join([*parts, *([node.module] if node.module else [])]))
                for alias in node.names:
                    named = short(f"{base}.{alias.name}")
                    found[module] |= {named if named in modules else base} & modules.keys()
        found[module].discard(module)
    return found


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Modules that import each other in a circle: the strongly connected parts of the graph with several members."""

    def reached(start: str, edges: Mapping[str, set[str]]) -> set[str]:
        seen, waiting = {start}, [start]
        while waiting:
            for other in edges[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        return seen

    back: dict[str, set[str]] = {module: set() for module in graph}
    for module, others in graph.items():
        for other in others:
            back[other].add(module)
    parts = {frozenset(reached(module, graph) & reached(module, back)) for module in graph}
    return [set(part) for part in parts if len(part) > 1]


def distributed() -> dict[str, tuple[str, bool]]:
    return {module: (path.read_text("utf-8"), path.name == "__init__.py") for module, path in sources()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert not circles(imports_among(distributed()))


def test_circles_are_found_also_where_an_import_is_lazy_or_for_types() -> None:
    modules = {
        "a": ("def f():\n    from b import one", False),
        "b": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import c.d", False),
        "c": ("", True),
        "c.d": ("from . import e", False),
        "c.e": ("import a", False),
        "f": ("import a", False),
    }
    assert circles(imports_among(modules)) == [{"a", "b", "c.d", "c.e"}]


def test_no_class_name_is_used_twice() -> None:
    named = Counter(
        name for source, _ in distributed().values() for name in re.findall(r"^class (\w+)[:(]", source, re.MULTILINE)
    )
    assert {name for name, uses in named.items() if uses > 1} == {"Engine"}  # for users, and of compiled code


def outer_room(module: str) -> int:
    """0 for code that plays and counts, 1 for reports, 2 for commands and the Python interface."""
    package, *rooms = module.split(".")
    if package == "elolab":
        return 2
    return int(bool(rooms) and rooms[0] in ("reports", "watching"))


def test_what_plays_imports_no_report_and_reports_import_no_command() -> None:
    for module, others in imports_among(distributed()).items():
        assert all(outer_room(other) <= outer_room(module) for other in others), f"{module} imports {sorted(others)}"


def test_no_folder_has_more_than_twelve_modules_besides_the_folder_of_commands() -> None:
    sizes = Counter(str(path.parent.relative_to(ROOT)) for _, path in sources())
    commands = [command.module.rpartition(".")[2] for command in COMMANDS]
    assert sorted(path.stem for path in (ROOT / "elolab" / "cli").glob("*.py")) == sorted(["__init__", *commands])
    del sizes["elolab/cli"]  # holds one module a command and nothing else
    assert not {folder: size for folder, size in sizes.items() if size > 12}


def test_no_source_has_more_than_900_lines_and_no_test_more_than_800() -> None:
    limits = {path: 900 for _, path in sources()} | dict.fromkeys((ROOT / "tests").rglob("*.py"), 800)
    assert not [path for path, limit in limits.items() if len(path.read_text("utf-8").splitlines()) > limit]


def test_no_folder_has_a_single_module() -> None:
    sizes = Counter(path.parent for _, path in sources() if path.name != "__init__.py")
    assert not [folder for folder, size in sizes.items() if size == 1]


def test_the_parts_are_links_in_the_one_package() -> None:
    for part in PARTS:
        assert (ROOT / "elolab" / part).readlink() == Path("..", part)
