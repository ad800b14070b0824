"""Registration of rules before results: digests and dates of parts in the run's store.

Before a part's first game, the store keeps its specification (rule, measure, settings, budget, looks, margin), its
digest and the date, and the *surroundings* that also determine its games: parameter values that presets leave to the
defaults, and the openings in the suite's file. A resumed run with another specification is refused, unless it gives a
reason. The change is then an *amendment*, kept with the reason, both texts and the number of games seen. The run also
refuses to drop a part with known results, and to add a part that reuses known games or searches. Digests of all parts
in the table at the first run prove which parts are new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from elolab.arena.files import OTHER_FOLDER
from elolab.arena.notation.openings import load_suite
from elolab.arena.play.store import Store
from elolab.arena.records import digest_of
from elolab.arena.run import RunError, differences, plain
from elolab.engine.errors import argument
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.claims.spec import ClaimsSpec, Part

REGISTERED = "claims registered"
AMENDMENTS = "claims amendments"
POSITIONS_SEARCHED = "claims positions searched"
"""The names of the store's metadata."""
NOTHING = "nothing"
SURROUNDINGS = "surroundings"
WITHDRAWN = "withdrawn"
"""Keys in a part's record: its surroundings, and the mark of a part removed from the table."""
TABLE = "claims table"
"""Metadata name; its value is the digest of every part at the first run, by part."""


@dataclass(frozen=True)
class Amendment:
    """A change of a part's specification after registration."""

    part: str
    date: str
    """UTC, ISO 8601."""
    why: str
    old_digest: str
    new_digest: str
    changes: tuple[tuple[str, str, str], ...]
    """Path, old value and new value of each changed key."""
    games: int
    """Games of the part played before the change."""
    positions: int
    """Positions of the part searched before the change."""


@dataclass(frozen=True)
class AskedElsewhere:
    """Known results of a part from other folders."""

    date: str
    """When the part was registered there: UTC, ISO 8601."""
    games: int
    positions: int


@dataclass(frozen=True)
class Registration:
    """When the rules of a run's parts were fixed, and how they changed."""

    dates: Mapping[str, str]
    """When each part was registered: UTC, ISO 8601."""
    amendments: tuple[Amendment, ...]
    withdrawn: tuple[str, ...] = ()
    """Parts with an expectation that were removed from the table after results were known."""
    surroundings: Mapping[str, Any] = field(default_factory=dict)
    """The registered surroundings by part: ``surroundings_of``."""

    @property
    def amended_after_results(self) -> frozenset[str]:
        """Parts whose specification changed after games or searches were known."""
        return frozenset(one.part for one in self.amendments if one.games or one.positions)


def surroundings_of(spec: ClaimsSpec) -> dict[str, Any]:
    """By part, what determines its games and searches apart from the table of claims and its presets."""
    openings = load_suite(spec.conditions.openings, spec.game).digest
    return {
        part.id: plain(
            {
                "openings of the suite": openings,
                "parameters": {cell.engine: dict(cell.conditions.base_values) for cell in part.cells},
            }
        )
        for part in spec.parts
    }


def refuse_changes(
    store: Store, spec: ClaimsSpec, directory: Path, elsewhere: Mapping[str, AskedElsewhere],
    surroundings: Mapping[str, Any],
) -> None:  # fmt: skip
    """Raise ``RunError`` if a registered rule changed or is gone; arguments as for ``register``."""
    known: dict[str, Any] = store.metadata(REGISTERED) or {}
    changes = [
        (part.id, *change) for part in spec.parts if part.id in known
        for change in _changes(part, known[part.id], surroundings)
    ]  # fmt: skip
    if changes:
        raise RunError(_refusal(changes, spec, directory), _REMEDY)
    seen = _seen(store, elsewhere)
    gone = _left_out(spec, known, *seen)
    if gone:
        raise RunError(
            f"{directory}: {gone[0]} was registered and something of it is known, {spec.source} has it no more",
            _REMEDY,
        )
    late = _late(store, spec, known, *seen)
    if late:
        raise RunError(
            f"{directory}: {late[0].id} of {spec.source} is a new rule for games or searches that are known from "
            f"another part",
            _REMEDY,
        )


def register(
    store: Store, spec: ClaimsSpec, amend: str | None, elsewhere: Mapping[str, AskedElsewhere],
    surroundings: Mapping[str, Any],
) -> Registration:  # fmt: skip
    """Register each part's specification before its first game, after ``refuse_changes``.

    ``amend`` is the reason for amendments; ``elsewhere`` are results from other folders and ``surroundings`` those of
    ``surroundings_of``, both by part.
    """
    known: dict[str, Any] = dict(store.metadata(REGISTERED) or {})
    amendments = list(store.metadata(AMENDMENTS) or [])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    seen, searched = _seen(store, elsewhere)
    taken = _taken_over(spec, known, seen, searched)

    def amended(name: str, old: Any, new: Any, digests: tuple[str, str], changes: Sequence[Any]) -> None:
        alike = _alike(new if old is None else old, {**taken, **known}) | {name}
        amendments.append(
            {
                "part": name, "date": now, "why": amend, "old_digest": digests[0], "new_digest": digests[1],
                "changes": [[path, _told(one), _told(other)] for path, one, other in changes],
                "old": old, "new": new,
                "games": max(seen[one] for one in alike), "positions": max(searched[one] for one in alike),
            }
        )  # fmt: skip

    for part in _late(store, spec, known, seen, searched):
        amended(part.id, None, plain(part.content), ("", part.digest), [("part", None, part.id)])
    for name in _left_out(spec, known, seen, searched):
        amended(name, known[name]["content"], None, (known[name]["digest"], ""), [("part", name, None)])
        known[name] = {**known[name], WITHDRAWN: True}
    for part in spec.parts:
        before = known.get(part.id)
        changes = [] if before is None else _changes(part, before, surroundings)
        if before is not None and changes:
            amended(part.id, before["content"], plain(part.content), (before["digest"], part.digest), changes)
        date = now if part.id not in elsewhere else elsewhere[part.id].date
        known[part.id] = {
            "digest": part.digest, "content": plain(part.content),
            "date": date if before is None else min(before["date"], date),
            SURROUNDINGS: surroundings[part.id],
        }  # fmt: skip
    table = store.metadata(TABLE) or dict(spec.asked)
    store.record_metadata({REGISTERED: known, AMENDMENTS: amendments, TABLE: table})
    return Registration(
        {name: entry["date"] for name, entry in known.items()},
        tuple(
            Amendment(
                one["part"], one["date"], one["why"], one["old_digest"], one["new_digest"],
                tuple((path, old, new) for path, old, new in one["changes"]), one["games"], one["positions"],
            )
            for one in amendments
        ),
        tuple(
            name for name, entry in known.items()
            if name not in spec.asked and WITHDRAWN in entry and entry["content"]["expect"] is not None
        ),
        {name: entry[SURROUNDINGS] for name, entry in known.items() if SURROUNDINGS in entry},
    )  # fmt: skip


def games_by_part(store: Store) -> Counter[str]:
    """Number of stored games by part."""
    return Counter(outcome.pairing.series.partition(" ")[0] for outcome in store.outcomes())


def is_searched_here(store: Store, part: str) -> bool:
    """Whether the run itself has searched positions for a part."""
    return bool((store.metadata(POSITIONS_SEARCHED) or {}).get(part))


def note_positions(store: Store, part: str, positions: int) -> None:
    """Record how many positions were searched for a part."""
    counts = dict(store.metadata(POSITIONS_SEARCHED) or {})
    if counts.get(part, 0) < positions:
        store.record_metadata({POSITIONS_SEARCHED: {**counts, part: positions}})


def _seen(store: Store, elsewhere: Mapping[str, AskedElsewhere]) -> tuple[Counter[str], Counter[str]]:
    """Known games and positions by part."""
    seen, searched = games_by_part(store), Counter(store.metadata(POSITIONS_SEARCHED) or {})
    for name, asked in elsewhere.items():
        seen[name] += asked.games
        searched[name] = max(searched[name], asked.positions)
    return seen, searched


def _left_out(spec: ClaimsSpec, known: Mapping[str, Any], games: Counter[str], positions: Counter[str]) -> list[str]:
    """Parts with known results that the table no longer has."""
    return [
        name for name, entry in known.items()
        if name not in spec.asked and WITHDRAWN not in entry and (games[name] or positions[name])
    ]  # fmt: skip


def _late(
    store: Store, spec: ClaimsSpec, known: Mapping[str, Any], games: Counter[str], positions: Counter[str]
) -> list[Part]:
    """New parts with an expectation that reuse another part's known games or searches."""
    table, taken = store.metadata(TABLE), _taken_over(spec, known, games, positions)
    return [
        part for part in spec.parts
        if table is not None and part.id not in known and part.expect is not None
        and table.get(part.id) != part.digest
        and any(
            games[name] or positions[name]
            for name in _alike(plain(part.content), known if part.id in taken else {**taken, **known})
        )
    ]  # fmt: skip


def _taken_over(
    spec: ClaimsSpec, known: Mapping[str, Any], games: Counter[str], positions: Counter[str]
) -> dict[str, Any]:
    """New parts with results from other folders, whose runs checked that the rules came first."""
    return {
        part.id: {"content": plain(part.content)} for part in spec.parts
        if part.id not in known and (games[part.id] or positions[part.id])
    }  # fmt: skip


def _alike(content: Mapping[str, Any], known: Mapping[str, Any]) -> set[str]:
    """Parts that share at least one cell's games or searches with ``content``."""
    own = _asked_of(content)
    return {name for name, entry in known.items() if own & _asked_of(entry["content"])}


def _asked_of(content: Mapping[str, Any]) -> set[str]:
    """Digests of what determines each cell's games or searches, whichever side is the variant."""
    common = ("game", "seed", "openings", "adjudication", "ponder", "suite", "of", "bound")
    return {
        digest_of(
            [
                *(content.get(key) for key in common),
                {key: value for key, value in cell.items() if key not in ("preset", "looks", "variant", "reference")},
                sorted(digest_of(cell.get(side)) for side in ("variant", "reference")),
            ]
        )
        for cell in content["cells"].values()
    }


def _changes(part: Part, registered: Mapping[str, Any], surroundings: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Differences from the registered specification and surroundings."""
    return [
        *differences(registered["content"], plain(part.content)),
        *changed_surroundings(registered.get(SURROUNDINGS, {}), surroundings[part.id]),
    ]


def changed_surroundings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Differences between surroundings, without parameters that only one of them has."""
    return [change for change in differences(before, now) if None not in change[1:]]


def _told(value: Any) -> str:
    return NOTHING if value is None else format_toml(value)


_REMEDY = f'{OTHER_FOLDER}, or keep it as an amendment with {argument("amend")} "why"'


def _refusal(changes: Sequence[tuple[str, str, Any, Any]], spec: ClaimsSpec, directory: Path) -> str:
    part, path, old, new = changes[0]
    more = len(changes) - 1
    others = f" (and {more} more changes)" if more > 1 else " (and 1 more change)" if more else ""
    return (
        f"{directory}: {part} was registered with {path} = {_told(old)}, by {spec.source} it is now {_told(new)}"
        f"{others}"
    )
