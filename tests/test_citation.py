"""CITATION.cff says of the package what pyproject.toml says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_what_is_cited_is_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    fields = dict(re.findall(r"^([\w-]+): (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    assert fields["title"] == project["name"]
    assert (fields["version"], fields["license"]) == (project["version"], project["license"])
    assert fields["cff-version"] == "1.2.0"


def test_it_has_what_the_format_requires_and_a_date_once_the_version_is_released() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    keys = re.findall(r"^([\w-]+):", text, re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert set(keys) >= {"cff-version", "message", "title", "authors"}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heading = re.search(rf"^## {re.escape(version)} \((.+)\)$", changes, re.MULTILINE)
    assert heading is not None
    dates = re.findall(r"^date-released: '?([\d-]+)'?$", text, re.MULTILINE)
    assert dates == ([] if heading[1] == "unreleased" else [heading[1]])
