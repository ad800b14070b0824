"""Two digests of the engine's sources: which machine code may be reused, and which engine played a game.

The *cache key* covers every file of the package byte for byte, numba's version and the bounds-check flag, because numba
itself notices neither an edited callee in another file nor the flag. The *engine identity* covers only what can change
play: the kernel sources without comments and docstrings, and numba's version.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import io
import os
import re
import tokenize
from importlib import metadata
from pathlib import Path

ENGINE_DIRECTORY = Path(__file__).parent

# Sources that cannot change a move: the shell around the kernels and the texts shown to people.
_NOT_KERNEL = {
    "bench.py", "cli.py", "command_line.py", "configuration.py", "errors.py", "fitting.py", "identity.py", "limits.py",
    "parameters.py", "parameter_reference.py", "presets.py", "solving.py", "weights.py",
}  # fmt: skip
_NOT_KERNEL_FOLDERS = {"protocols"}

_SKIPPED_TOKENS = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}


def engine_files() -> list[Path]:
    """Every Python source of the engine, in a fixed order."""
    return sorted(ENGINE_DIRECTORY.rglob("*.py"))


def kernel_files() -> list[Path]:
    """The sources that decide moves."""
    return [
        path
        for path in engine_files()
        if path.name not in _NOT_KERNEL
        and not _NOT_KERNEL_FOLDERS & set(path.relative_to(ENGINE_DIRECTORY).parts)
    ]


def source_without_comments(text: str) -> str:
    """A source's tokens, one a line, without comments, docstrings and blank lines (names and indentation stay)."""
    docstring_starts = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    docstring_starts.add((statement.lineno, statement.col_offset))
    tokens = []
    after_docstring = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _SKIPPED_TOKENS:
            continue
        in_docstring = token.type == tokenize.STRING and token.start in docstring_starts
        if in_docstring or (after_docstring and token.type == tokenize.NEWLINE):
            # Its end of line goes with it, so that adding a docstring changes nothing.
            after_docstring = in_docstring
            continue
        tokens.append(tokenize.tok_name[token.type] if not token.string.strip() else token.string)
    return "\n".join(tokens)


@functools.cache
def engine_identity() -> str:
    """Twelve hexadecimal digits that change whenever the engine might play differently.

    They are kept beside the compiled code, in the cache of just these sources: reading all of them takes half a second.
    """
    from engine.kernel import CACHE_DIRECTORY

    kept = CACHE_DIRECTORY / "identity"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if re.fullmatch("[0-9a-f]{12}", text := kept.read_text("ascii")):
            return text
    identity = _computed_identity()
    # Whoever reads a part of it computes it again.
    with contextlib.suppress(OSError):
        kept.write_text(identity, "ascii")
    return identity


def _computed_identity() -> str:
    digest = hashlib.sha256(metadata.version("numba").encode())
    for path in kernel_files():
        digest.update(str(path.relative_to(ENGINE_DIRECTORY).as_posix()).encode())
        digest.update(source_without_comments(path.read_text("utf-8")).encode())
    return digest.hexdigest()[:12]


def cache_key() -> str:
    """Sixteen hexadecimal digits that change whenever cached machine code might be stale."""
    flags = f"{metadata.version('numba')} {metadata.version('llvmlite')} {os.environ.get('NUMBA_BOUNDSCHECK', '')}"
    digest = hashlib.sha256(flags.encode())
    for path in engine_files():
        digest.update(str(path.relative_to(ENGINE_DIRECTORY).as_posix()).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
