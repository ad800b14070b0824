"""The workflows of the public CI: every supported Python is tested, and each ``make`` target exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKFLOWS = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}


def test_each_python_of_the_classifiers_is_tested_once_per_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    (matrix,) = re.findall(r"^ +python: \[(.+)\]$", WORKFLOWS["ci"], re.MULTILINE)
    assert re.findall(r"[\d.]+", matrix) == supported
    (left_out,) = re.findall(r"os: ubuntu-latest, python: \"([\d.]+)\"", WORKFLOWS["ci"])
    (checked,) = re.findall(r"python-version: \"([\d.]+)\"", WORKFLOWS["ci"])
    assert checked == left_out


def test_each_target_exists_and_uses_the_python_of_the_workflow() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lines = re.findall(r"run: (.*)$", "\n".join(WORKFLOWS.values()), re.MULTILINE)
    made = [line.split() for line in lines if line.startswith("make ")]
    assert {words[1] for words in made} <= targets
    assert {words[2] for words in made} == {"PYTHON=python"}
    assert [line for line in lines if ".ci/run" in line and "PYTHON=" not in line] == []
