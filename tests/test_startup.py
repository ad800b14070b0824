"""What commands import before they have anything to do: nothing heavy, and Optuna only where settings are tuned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("jinja2", "matplotlib", "numba", "numpy", "optuna", "pandas", "scipy")


def loaded_by(code: str, *names: str) -> set[str]:
    """Which of these modules are loaded once ``code`` has run in an interpreter of its own."""
    code += f"\nimport sys; print('loaded', *(name for name in {names!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_help_loads_nothing_heavy() -> None:
    code = "from elolab.command_line import main; main(['--help'])"
    assert loaded_by(code, *HEAVY, "argparse", "importlib.metadata", "tomllib") == set()


@pytest.mark.integration
def test_optuna_is_loaded_by_nothing_but_tuning() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in ("arena", "tuning/ablation", "tuning/claims", "tuning/evaluation", "elolab/cli")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
    ]
    assert len(modules) > 50
    assert loaded_by(f"import importlib\nfor name in {modules!r}: importlib.import_module(name)", "optuna") == set()
