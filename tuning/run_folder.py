"""The folder of a study or an ablation: what it is for, and which engine's games it holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.openings import Suite, SuitePart, load_suite
from arena.store import Store
from engine.errors import UserError
from tuning.conditions import Conditions

TOURNAMENT_FACT = "specification"
"""The name under which a tournament's folder says what it is."""


RUN_FACTS = ("tuning", "ablation", "claims", "evaluation fit")
"""The same for what this package runs."""


class RunError(UserError):
    """A study or an ablation that cannot be run as asked; names the folder or file and the remedy."""


def read_openings(
    conditions: Conditions, part: str, pairs: int | None, key: str = "pairs"
) -> tuple[Suite, tuple[int, ...]]:
    """The suite and the places in it of the openings of ``pairs`` pairs, all different; ``None`` for all there are.

    ``part`` is the half to take them from; ``key`` is named in the error if it has too few.
    """
    suite = load_suite(conditions.openings, conditions.game)
    half: SuitePart = suite.part(part)
    if (pairs is not None and pairs > len(half)) or not len(half):
        name = "" if part == "all" else f"{part} half of the "
        raise RunError(
            f"{conditions.source}: {key} = {pairs} needs as many different openings, but the {name}suite "
            f"{conditions.openings!r} has {len(half)}; play fewer pairs or give a larger suite "
            "(elolab openings generate)"
        )
    return suite, half.order(conditions.seed)[:pairs]


def claim(
    store: Store,
    kind: str,
    content: Mapping[str, Any],
    growing: tuple[str, ...],
    source: str,
    accept_engine_change: bool,
) -> None:
    """Record what the folder is for, or check that it is for this.

    ``content`` is the specification as plain data; the numbers named in ``growing`` may be larger than before, and the
    tables named there may have new entries. Raises ``RunError`` naming the difference.
    """
    from engine.identity import engine_identity

    identity = engine_identity()
    recorded = store.fact(kind)
    if recorded is not None:
        _check_same(store.directory, kind, recorded, content, growing, source)
        before = store.fact("engine_identity")
        if before != identity and len(store) and not accept_engine_change:
            raise RunError(
                f"{store.directory}: its games were played by engine {before}, this is engine {identity}; to mix them "
                "all the same add --accept-engine-change, otherwise give another folder with --out"
            )
    elif len(store) or any(store.fact(other) is not None for other in (TOURNAMENT_FACT, *RUN_FACTS)):
        raise RunError(f"{store.directory}: holds another run, not this {kind}; give another folder with --out")
    store.record_facts({kind: dict(content), "engine_identity": identity})


def engines_of(store: Store) -> str:
    """The engine's identity as a report says it, and after it those of others whose games the folder holds."""
    from engine.identity import engine_identity

    identity = engine_identity()
    return " + ".join([identity, *sorted(store.engine_identities() - {identity})])


def _check_same(
    directory: Path, kind: str, before: Mapping[str, Any], now: Mapping[str, Any], growing: tuple[str, ...], source: str
) -> None:
    for path, old, new in _differences(before, now):
        more = path in growing and isinstance(old, int) and isinstance(new, int) and new > old
        added = old is None and any(path.startswith(f"{table}.") for table in growing)
        if more or added:
            continue
        raise RunError(
            f"{directory}: holds another {kind}: {path} = {old!r} there, {new!r} in {source}; give another folder with "
            "--out, or remove that one"
        )


def _differences(before: Any, now: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Where two pieces of plain data differ: the path of keys and both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        found = []
        for key in [*before, *(key for key in now if key not in before)]:
            found += _differences(before.get(key), now.get(key), f"{path}.{key}" if path else str(key))
        return found
    if isinstance(before, list | tuple) and isinstance(now, list | tuple) and len(before) == len(now):
        found = []
        for place, (one, other) in enumerate(zip(before, now, strict=True), start=1):
            found += _differences(one, other, f"{path} {place}")
        return found
    return [] if before == now else [(path, before, now)]
