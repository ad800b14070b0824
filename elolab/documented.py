"""Appends the descriptions of a dataclass's fields to its docstring, because ``help()`` does not show them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TypeVar

Documented = TypeVar("Documented", bound=type)


def documented(kind: Documented) -> Documented:
    """Decorator for dataclasses: appends every public field, with the text below it, to the class's docstring."""
    if not kind.__doc__:  # Python runs with -OO
        return kind
    try:
        source = inspect.getsource(kind)
    except OSError:  # no sources available
        return kind
    (tree,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(tree, ast.ClassDef)
    lines = [inspect.cleandoc(kind.__doc__), "", "Attributes:"]
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
            lines.append(f"- {node.target.id}: {ast.unparse(node.annotation)}")
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                lines += textwrap.indent(inspect.cleandoc(str(following.value.value)), "    ").splitlines()
    kind.__doc__ = "\n".join(lines)
    return kind
