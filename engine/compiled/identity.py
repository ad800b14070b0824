"""The engine's identity, stored with each game: a digest of the sources that decide moves.

It covers everything that can change play: the kernel sources, without comments and docstrings, and numba's version. It
also changes when sources are only moved or split; ``SAME_PLAY`` lists earlier states that play the same games.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import io
import tokenize
from importlib import metadata
from pathlib import Path

from elolab.engine.compiled.sources import ENGINE_DIRECTORY, engine_files

# Sources that cannot change a move: code around the kernels, and texts for people.
_NOT_KERNEL = {
    "assertions.py", "bench.py", "child_processes.py", "distances.py", "errors.py", "fitting.py",
    "language.py", "program_games.py", "program_play.py", "proof_game.py", "solving.py", "suite.py",
    "cache.py", "compilation.py", "exchange.py", "exchanged.py", "identity.py", "linking.py", "numba_patches.py",
    "sources.py",
}  # fmt: skip
_NOT_KERNEL_FOLDERS = {"protocols", "settings"}

SAME_PLAY: dict[str, frozenset[str]] = {
    "1509372b9fe3": frozenset({
        "7d8167313aa9", "f46a44ef0b5f", "f13ea522aa78", "c41fa9b5977e",
        "7df5fdbcc344",
        "f2d5272f234d",
        "1ba0ef8d92d4", "68f9c7961c15", "cd149d5c214c", "896eb5da7ace",
        "b8e343c149e4", "f44cf68cc713", "8e8810e87776",
        "a6c9b60708dc", "d860b22e0713", "16474c6b46c5", "b3789ec54c31", "29e25815888a", "8f0fbb99d2d7",
        "18f1cb281de0", "224ceebc49c0", "bff65fd6a586", "f043710e0628", "b113e1fb71ae", "3711b4b721f5",
        "299b44b05186",
    }),
}  # fmt: skip
"""Earlier engine identities under which the engine played the same games as a current one, move for move and node for
node. The key is the current identity.

Add an identity only if both versions have the same benchmark signature, and play the same tournament with the same
digest of its games.
"""

_SKIPPED_TOKENS = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}


def kernel_files() -> list[Path]:
    """Paths of the source files that can affect which moves the engine chooses."""
    return [
        path
        for path in engine_files()
        if path.name not in _NOT_KERNEL and not _NOT_KERNEL_FOLDERS & set(path.relative_to(ENGINE_DIRECTORY).parts)
    ]


def source_without_comments(text: str) -> str:
    """The tokens of a source text, one per line, without comments, docstrings and blank lines."""
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
            # Drop its line end too, so that adding a docstring changes nothing.
            after_docstring = in_docstring
            continue
        tokens.append(tokenize.tok_name[token.type] if not token.string.strip() else token.string)
    return "\n".join(tokens)


@functools.cache
def engine_identity() -> str:
    """The engine's identity: twelve hexadecimal digits that change whenever the engine might play differently.

    The identity is cached in the folder with the compiled code, because reading all sources takes half a second.
    """
    from elolab.engine.compiled.cache import CACHE_DIRECTORY, read_kept, write_kept

    path = CACHE_DIRECTORY / "identity"
    kept = read_kept(path)
    if kept is not None:
        return bytes(kept).decode("ascii")
    identity = _computed_identity()
    with contextlib.suppress(OSError):
        write_kept(path, identity.encode("ascii"))
    return identity


def _computed_identity() -> str:
    digest = hashlib.sha256(metadata.version("numba").encode())
    for path in kernel_files():
        digest.update(str(path.relative_to(ENGINE_DIRECTORY).as_posix()).encode())
        digest.update(source_without_comments(path.read_text("utf-8")).encode())
    return digest.hexdigest()[:12]


def equivalent_identities() -> tuple[str, ...]:
    """The identity of this engine, followed by the identities of earlier versions that play the same games."""
    own = engine_identity()
    return own, *sorted(SAME_PLAY.get(own, ()))
