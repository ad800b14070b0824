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
