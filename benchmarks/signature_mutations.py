"""Checks that the signature of ``elolab bench`` depends on every setting.

The signature is the total number of nodes of several *variants*: searches of fixed positions, each with its own
settings. It must change in four cases: when a parameter's default changes, when a switch that a variant sets is
flipped, when one choice replaces another, and when a number changes a little. Then no change to a technique of
the search can go unnoticed. Parameters that cannot act in reproducible searches are listed with the reason. The exit
code is 1 if some change has no effect; it is printed with its parameter.

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
"""Largest range of a number that is changed by steps of one. Numbers with larger ranges are changed by a fifth.

One such step may be too small to matter, so four steps are tried, too. A number whose value switches its technique off
is also set to the middle of its range for tuning.
"""


@dataclass(frozen=True)
class Mutation:
    """A change to a parameter, and ways to make it. At least one of the ways must change the signature."""

    row: str
    kind: str
    """The change: ``default`` for the parameter's default, ``a number``, or a choice that variants set, as text."""
    ways: tuple[tuple[str, Value], ...]
    """Ways to make the change: a variant and the value that the parameter has instead, the most promising way first."""


def variants() -> tuple[str, ...]:
    """Names of all variants, the fast ones first."""
    cheap = [name for name, overrides in VARIANTS.items() if overrides]
    return (*cheap, *CLOCKED, *[name for name in VARIANTS if name not in cheap])


def others(row: Parameter, value: Value) -> tuple[Value, ...]:
    """Values that replace a parameter's value: every other choice, or nearby numbers."""
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
    """Yield the changes to a parameter that the signature must notice: of its default, and of values in variants."""
    default = row.default_for(row.games[0] if len(row.games) == 1 else None)
    settings = {
        name: {**resolve(overrides_of(name)), row.name: overrides_of(name).get(row.name, default)}
        for name in variants()
    }
    active = [name for name in settings if is_active(row.name, settings[name])]
    inherited = [name for name in active if row.name not in overrides_of(name)]
    ways = [(name, other) for name in inherited for other in others(row, default)]
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
    """Yield all changes that the signature must notice."""
    for row in rows:
        if row.name not in NOT_IN_THE_SIGNATURE:
            yield from mutations_of(row)


@cache
def baseline(game: str, variant: str) -> tuple[int, ...]:
    """Number of nodes of each search of a game in the unchanged variant."""
    return tuple(search.nodes for search in searches_of(game, variant))


def is_noticed(mutation: Mutation) -> str | None:
    """The first variant in which a search has another number of nodes after the change; ``None`` if no variant has."""
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
    """Make all changes, print which variant notices each, and list those that no variant notices."""
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
