"""A twin of the engine in a temporary folder, in which reads of parameters in the kernels are something else."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable
from pathlib import Path

from elolab import engine
from elolab.engine.compiled.identity import kernel_files

Replacement = Callable[[str], str | None]
"""The source to put in place of ``parameters.NAME``, given the name; ``None`` leaves the read as it is."""


def _reads(source: str) -> list[ast.Attribute]:
    """Every ``parameters.NAME`` that is read, in the order of the text."""
    return sorted(
        (
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "parameters"
            and isinstance(node.ctx, ast.Load)
        ),
        key=lambda node: (node.lineno, node.col_offset),
    )


def rewrite(source: str, replacement: Replacement) -> tuple[str, list[str]]:
    """A source with its reads of parameters replaced, and the names of those that were."""
    lines = source.splitlines(keepends=True)
    names = []
    for node in reversed(_reads(source)):
        text = replacement(node.attr)
        if text is None:
            continue
        assert node.lineno == node.end_lineno
        line = lines[node.lineno - 1].encode()
        # The syntax tree counts columns in bytes of UTF-8.
        lines[node.lineno - 1] = (line[: node.col_offset] + text.encode() + line[node.end_col_offset :]).decode()
        names.append(node.attr)
    return "".join(lines), names[::-1]


def make_twin(folder: Path, replacement: Replacement) -> list[str]:
    """Copy the engine to ``folder``, rewrite its kernels, and return the names of the reads that were replaced."""
    original = Path(engine.__file__).parent
    shutil.copytree(original, folder / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    names = []
    for path in kernel_files():
        twin = folder / "engine" / path.relative_to(original)
        # Only compiled code gets its parameters as the record of that name; elsewhere they are a mapping.
        text, replaced = rewrite(twin.read_text("utf-8"), replacement)
        twin.write_text(text, "utf-8")
        names += replaced
    return names
