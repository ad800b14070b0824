"""Constraints between the dimensions of a study: comparisons of sums and products of names and numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType

from elolab.engine.settings.parameters import Value

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
OPERATIONS = (ast.Add, ast.Sub, ast.Mult)
GRAMMAR = "a comparison such as 'low < high' or '2 * low <= high + 10', of names of ranges, numbers, + - * < <= > >="


def names_in(constraint: str) -> tuple[str, ...]:
    """Names of the parameters in a constraint, each once. In the text, a name with spaces is in quotation marks.

    Raises ``ValueError`` if the text is not a constraint.
    """
    return _parsed(constraint)[0]


def holds(constraint: str, values: Mapping[str, Value]) -> bool:
    """Whether a set of values, given by name, satisfies a constraint."""
    return bool(eval(_parsed(constraint)[1], {"__builtins__": {}}, values))


def all_hold(constraints: Sequence[str], values: Mapping[str, Value]) -> bool:
    """Whether a set of values, given by name, satisfies all constraints."""
    return all(holds(one, values) for one in constraints)


@lru_cache(maxsize=256)
def _parsed(constraint: str) -> tuple[tuple[str, ...], CodeType]:
    """Names and compiled code of a constraint. Nothing but comparisons, sums and products is accepted."""
    names: dict[str, None] = {}

    def checked(node: ast.expr) -> ast.expr:
        if isinstance(node, ast.BinOp) and isinstance(node.op, OPERATIONS):
            return ast.BinOp(checked(node.left), node.op, checked(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return ast.UnaryOp(node.op, checked(node.operand))
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return ast.Constant(node.value)
        name = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
        if not isinstance(name, str):
            raise ValueError(constraint)
        names[name] = None
        return ast.Name(name, ast.Load())

    try:
        found = ast.parse(constraint.strip(), mode="eval").body
        if not isinstance(found, ast.Compare) or not all(isinstance(one, COMPARISONS) for one in found.ops):
            raise ValueError(constraint)
        body = ast.Compare(checked(found.left), found.ops, [checked(side) for side in found.comparators])
        code = compile(ast.fix_missing_locations(ast.Expression(body)), constraint, "eval")
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(constraint) from None
    return tuple(names), code
