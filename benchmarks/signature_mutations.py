"""Whether the signature of ``elolab bench`` notices every setting: each row of the table, perturbed in each variant.

For every row it must show up when the default changes; when a switch that a variant sets is flipped; when any choice
is exchanged for another; and when a number is moved a little. So whatever a change does to a technique, some variant
exercises it. Rows that cannot act in searches that are the same every time are listed with the reason. Ends with 1,
naming the rows, if something escapes.

    python benchmarks/signature_mutations.py [row ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from measuring import parser_of

from elolab.engine.bench import CLOCKED, NOT_IN_THE_SIGNATURE, VARIANTS, overrides_of, searches_of
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES
from elolab.engine.settings.parameters import PARAMETERS, Parameter, Value, find, format_value, is_active, resolve

SMALL_RANGE = 130
"""Numbers with no more legal values are moved by one, or if that is too little by four; others by as many fifths.

What is off is also switched on, with the middle of its range for tuning.
"""


@dataclass(frozen=True)
class Mutation:
    """Something that the signature must notice, under at least one of the ways to bring it about."""

    row: str
    kind: str
    """``default``, or the value that is exercised."""
    ways: tuple[tuple[str, Value], ...]
    """Variants, the most promising first, and the value that the row takes instead."""


def variants() -> tuple[str, ...]:
    """All variants, the cheap ones first."""
    cheap = [name for name, overrides in VARIANTS.items() if overrides]
    return (*cheap, *CLOCKED, *[name for name in VARIANTS if name not in cheap])


def others(row: Parameter, value: Value) -> tuple[Value, ...]:
    """What a value is exchanged for: every other choice, or the numbers next to it."""
    if row.kind != "integer":
        return tuple(other for other in row.legal if other != value)
    assert isinstance(value, int)
    low, high = row.legal
    step = 1 if high - low <= SMALL_RANGE else max(abs(value) // 5, 1)
    if row.unit == "MiB":
        step = value
    near = [value + step, value - step, value + 4 * step]
    if value == row.off and row.tuning:
        near.append(sum(row.tuning) // 2)
    return tuple(other for other in dict.fromkeys(near) if low <= other <= high and other != value)


def mutations_of(row: Parameter) -> Iterator[Mutation]:
    """What must be noticed of a row: its default, and each value that means a technique."""
    settings = {name: resolve(overrides_of(name)) for name in variants()}
    active = [name for name in settings if is_active(row.name, settings[name])]
    inherited = [name for name in active if row.name not in overrides_of(name)]
    ways = [(name, other) for name in inherited for other in others(row, row.default)]
    yield Mutation(row.name, "default", tuple(ways))
    # Where a variant names the row it is meant to show it.
    active.sort(key=lambda name: row.name not in overrides_of(name))
    if row.kind == "integer":
        nonzero = [name for name in active if settings[name][row.name] != 0]
        ways = [(name, other) for name in nonzero for other in others(row, settings[name][row.name])]
        yield Mutation(row.name, "a number", tuple(ways))
        return
    for value in row.legal:
        holding = [name for name in active if settings[name][row.name] == value]
        ways = [(name, other) for name in holding for other in others(row, value)]
        yield Mutation(row.name, format_value(value), tuple(ways))


def mutations(rows: tuple[Parameter, ...] = PARAMETERS) -> Iterator[Mutation]:
    """Everything that the signature must notice."""
    for row in rows:
        if row.name not in NOT_IN_THE_SIGNATURE:
            yield from mutations_of(row)


@cache
def baseline(game: str, variant: str) -> tuple[int, ...]:
    """Nodes of each search of a variant as it is."""
    return tuple(search.nodes for search in searches_of(game, variant))


def is_noticed(mutation: Mutation) -> str | None:
    """The variant in which some search takes another number of nodes, or ``None``; stops at the first difference."""
    for variant, value in mutation.ways:
        for game in GAMES:
            expected = baseline(game, variant)
            for nodes, search in zip(expected, searches_of(game, variant, {mutation.row: value}), strict=False):
                if search.nodes != nodes:
                    return f"{variant} with {format_value(value)}"
    return None


def _row(word: str) -> Parameter:
    try:
        return find(word)
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main() -> int:
    """Perturb everything, print what noticed it, and name what escapes."""
    parser = parser_of(__doc__)
    parser.add_argument("rows", nargs="*", type=_row, metavar="row", help="of the table of parameters (default: all)")
    rows = tuple(parser.parse_args().rows) or PARAMETERS
    escaped = []
    for mutation in mutations(rows):
        seen = is_noticed(mutation)
        print(f"{mutation.row:<32} {mutation.kind:<16} {seen or 'ESCAPES'}", flush=True)
        if seen is None:
            escaped.append(f"{mutation.row} ({mutation.kind})")
    for name, reason in NOT_IN_THE_SIGNATURE.items():
        print(f"{name:<32} exempt: {reason}")
    if escaped:
        print(f"not noticed by any variant of engine/bench.py: {', '.join(escaped)}", file=sys.stderr)
        return 1
    print("the signature notices every setting")
    return 0


if __name__ == "__main__":
    sys.exit(main())
