"""The notebook in ``examples``: what is stored in it is clean, and executing it gives the same tables again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from elolab.tuning.ablation.ablation_spec import ablation_from_mapping

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "examples" / "ablation.ipynb"
EXECUTE_SECONDS = 1800
"""The most for one cell; the games take about a minute, a first compilation some more."""
MACHINE_OR_TIME = re.compile(r"(?<!\w)[~\\/]\w+[\\/]|\d{4}-\d\d-\d\d|\d\d:\d\d|\b0x[0-9a-f]{6,}")
"""An absolute path, a date, a time of day, an address in memory."""


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text_of(value: str | list[str]) -> str:
    """A text as notebooks store it: whole, or line by line."""
    return value if isinstance(value, str) else "".join(value)


def shown(notebook: dict[str, Any]) -> list[list[tuple[str, str]]]:
    """Kind and text of every output of each cell; of a picture the kind only, for its bytes depend on fonts."""
    return [
        [
            (kind, "" if kind.startswith("image/") else text_of(content))
            for output in cell["outputs"]
            for kind, content in sorted(output.get("data", {output["output_type"]: str(output)}).items())
        ]
        for cell in code_cells(notebook)
    ]


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return dict(json.loads(NOTEBOOK.read_text("utf-8")))


def test_it_is_stored_as_executed_from_above(stored: dict[str, Any]) -> None:
    cells = code_cells(stored)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert {output["output_type"] for cell in cells for output in cell["outputs"]} == {"execute_result"}
    kinds = [kind for outputs in shown(stored) for kind, _ in outputs]
    assert kinds.count("text/html") >= 3  # tables
    assert "image/png" in kinds


def test_outputs_and_metadata_tell_nothing_of_machine_and_time(stored: dict[str, Any]) -> None:
    assert stored["metadata"]["language_info"] == {"name": "python"}
    assert not any(cell["metadata"] for cell in stored["cells"])
    for outputs in shown(stored):
        for _, text in outputs:
            assert not MACHINE_OR_TIME.search(re.sub(r"</\w+>", "", text)), text


def test_its_specification_is_a_valid_one(stored: dict[str, Any]) -> None:
    source = text_of(code_cells(stored)[0]["source"])
    names: dict[str, Any] = {}
    exec("\n".join(line for line in source.splitlines() if not line.startswith("%")), names)
    assert len(ablation_from_mapping(names["specification"], "notebook").comparisons) == 8


def test_it_uses_nothing_but_the_public_interface(stored: dict[str, Any]) -> None:
    sources = [text_of(cell["source"]) for cell in code_cells(stored)]
    imported = re.findall(r"^\s*(?:import|from) (\w+)", "\n".join(sources), re.MULTILINE)
    assert "elolab" in imported
    assert set(imported) <= {"elolab", "matplotlib", "pandas"}


@pytest.mark.slow  # plays its games
def test_executing_it_gives_what_is_stored(
    stored: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    remedy = 'to execute the notebook: pip install -c constraints.txt -e ".[notebook]"'
    nbclient = pytest.importorskip("nbclient", reason=remedy)
    nbformat = pytest.importorskip("nbformat", reason=remedy)
    pytest.importorskip("ipykernel", reason=remedy)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(shutil.copy(NOTEBOOK, tmp_path), as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=EXECUTE_SECONDS, record_timing=False, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    notebook.metadata.language_info = {"name": "python"}
    nbformat.validate(notebook)
    if request.config.getoption("--update-golden"):
        nbformat.write(notebook, NOTEBOOK)
        return
    assert shown(notebook) == shown(stored), (
        "the notebook shows other results than it stores; if the engine was changed: pytest --update-golden"
    )
