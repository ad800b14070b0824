"""The direction of imports (tuning -> arena -> engine), who may use which library, and the names of modules."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

OWN = {"engine", "arena", "tuning", "configs", "elolab"}
"""The top-level packages and modules of the distribution."""

MAY_IMPORT = {
    "configs": {"configs"},
    "engine": {"engine", "configs", "numba", "llvmlite", "numpy"},
    "arena": {"arena", "engine", "configs", "numpy", "pandas", "matplotlib", "jinja2", "markupsafe"},
    "tuning": {"tuning", "arena", "engine", "configs", "numpy", "pandas", "matplotlib", "optuna"},
    "elolab": {"elolab", "engine"},
}
"""What each may import besides the standard library."""

MAY_DRAW = {
    "arena.reports.charts", "arena.reports.contents", "arena.reports.fonts", "arena.reports.plots",
    "tuning.reports.ablation_charts", "tuning.reports.study", "tuning.reports.study_charts",
}  # fmt: skip
"""The only modules that may import matplotlib."""

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "tools"}


def imported_modules(source: str, package: str) -> Iterator[tuple[str, int]]:
    """Full names of every module that a source imports, wherever in it, with the line; relative ones resolved."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield ".".join([*base, *([node.module] if node.module else [])]), node.lineno


def offences(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """What a module imports against the rules, one line each."""
    top = module.partition(".")[0]
    package = module if is_package else module.rpartition(".")[0]
    found = []
    for name, line in imported_modules(source, package):
        library = name.partition(".")[0]
        if library in sys.stdlib_module_names:
            continue
        if library not in MAY_IMPORT[top]:
            found.append(f"{module}:{line} imports {name}: {top} may import only {', '.join(sorted(MAY_IMPORT[top]))}")
        elif library == "matplotlib" and module not in MAY_DRAW:
            found.append(f"{module}:{line} imports {name}: only {', '.join(sorted(MAY_DRAW))} may")
    return found


def sources() -> list[tuple[str, Path]]:
    """Module names and files of everything that is distributed."""
    paths = sorted((ROOT / "elolab").rglob("*.py"))
    for package in ("engine", "arena", "tuning", "configs"):
        paths += sorted((ROOT / package).rglob("*.py"))
    named = []
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        named.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return named


@pytest.mark.parametrize(("module", "path"), sources(), ids=lambda value: value if isinstance(value, str) else "")
def test_imports_go_one_way(module: str, path: Path) -> None:
    assert not offences(module, path.read_text("utf-8"), is_package=path.name == "__init__.py")


@pytest.mark.parametrize(("module", "path"), sources(), ids=lambda value: value if isinstance(value, str) else "")
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
        ("engine.play", "import arena.play.store"),
        ("engine.play", "from tuning import study"),
        ("engine.search.node", "def f():\n    import pandas"),
        ("engine.search.node", "from ...arena import store"),
        ("arena.play.game", "from numba import njit"),
        ("arena.play.game", "import optuna.samplers"),
        ("arena.figures.standings", "import matplotlib.pyplot as plt"),
        ("arena.play.game", "import tuning.study.space"),
        ("tuning.study.run", "import elolab"),
        ("tuning.study.run", "import scipy"),
        ("elolab", "import arena.commands.match"),
    ],
)
def test_the_check_finds_each_kind_of_offence(module: str, source: str) -> None:
    assert offences(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("engine.search.node", "from engine.compiled.kernel import jit\nfrom ..values import MATE\nimport numba"),
        ("arena.reports.charts", "import matplotlib"),
        ("tuning.study.run", "import optuna\nfrom arena.play.executor import GameRunner"),
        ("elolab", "import os\nfrom engine.errors import UserError"),
    ],
)
def test_the_check_allows_what_the_rules_allow(module: str, source: str) -> None:
    assert not offences(module, source)


def test_the_rules_cover_the_distribution() -> None:
    assert {module.partition(".")[0] for module, _ in sources()} == OWN == set(MAY_IMPORT)


def test_the_page_on_the_architecture_names_every_module_and_no_other() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## The tree")[2].partition("\n## ")[0]
    named = Counter(re.findall(r"\b[a-z_]+\.py\b", page))
    assert named == Counter(path.name for _, path in sources() if path.name != "__init__.py")
