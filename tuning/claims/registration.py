"""Registration of rules before results: the run's store keeps digests and dates of the parts of claims.

Before a part's first game, the store keeps its specification (rule, measure, settings, budget, looks, margin), its
digest and the date. It also keeps the *surroundings* that determine the games: parameter values that presets leave to
the defaults, and the openings in the suite's file. A resumed run with another specification is refused, unless the user
gives a reason. The change is then an *amendment*, kept with the reason, the old and new values, and the number of games
seen. The run also refuses to drop a part with known results, and to add a part that reuses known games or searches.
Digests of all parts in the table at the first run prove which parts are new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
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
from elolab.tuning.claims.claims_spec import ClaimPart, ClaimsSpec

REGISTERED = "claims registered"
AMENDMENTS = "claims amendments"
POSITIONS_SEARCHED = "claims positions searched"
"""Key in the store's metadata for the number of positions searched for each part.

``REGISTERED`` is the key of the registered rules, ``AMENDMENTS`` the key of the amendments.
"""
NOTHING = "nothing"
SURROUNDINGS = "surroundings"
WITHDRAWN = "withdrawn"
"""Key, in a part's registered record, that marks the part as removed from the table of claims.

``SURROUNDINGS`` is the key of the part's surroundings in that record.
"""
TABLE = "claims table"
"""Key in the store's metadata for the digest of every part that was in the table at the first run."""


@dataclass(frozen=True)
class Amendment:
    """A change of a part's specification after registration."""

    part: str
    date: str
    """Time of the change: UTC, ISO 8601."""
    why: str
    old_digest: str
    new_digest: str
    changes: tuple[tuple[str, str, str], ...]
    """Path, old value and new value of each changed key."""
    games: int
    """Number of the part's games played before the change."""
    positions: int
    """Number of the part's positions searched before the change."""

    @classmethod
    def from_plain(cls, entry: Mapping[str, Any]) -> Amendment:
        """Convert an entry of a store to an amendment."""
        changes = tuple((path, old, new) for path, old, new in entry["changes"])
        counts = {"games": int(entry["games"]), "positions": int(entry["positions"])}
        return cls(**{name: entry[name] for name in AMENDMENT_COLUMNS} | {"changes": changes} | counts)


AMENDMENT_COLUMNS = tuple(one.name for one in fields(Amendment))


@dataclass(frozen=True)
class ClaimsRegistration:
    """Times at which the rules for the parts of a run were fixed, and changes to these rules."""

    dates: Mapping[str, str]
    """Time of registration of each part, by the part's id: UTC, ISO 8601."""
    amendments: tuple[Amendment, ...]
    withdrawn: tuple[str, ...] = ()
    """Verdicts that were withdrawn, as pairs (part, engine).

    Their parts had an expectation and were removed from the table of claims after results were known.
    """
    surroundings: Mapping[str, Any] = field(default_factory=dict)
    """The registered surroundings by part: openings and parameters that determine the games (``surroundings_of``)."""

    @property
    def amended_after_results(self) -> frozenset[str]:
        """Parts whose specification changed after games or searches were known."""
        return frozenset(one.part for one in self.amendments if one.games or one.positions)


def surroundings_of(spec: ClaimsSpec) -> dict[str, Any]:
    """Surroundings by part: the digest of the suite's openings, and every parameter of the part's presets."""
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


def changed_surroundings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Path, old value and new value of each difference between the old and the new surroundings of a part.

    Surroundings are the openings and parameters that determine the games. Parameters that only one of the two has are
    left out.
    """
    return [change for change in differences(before, now) if None not in change[1:]]


@dataclass(frozen=True)
class _Departure:
    """A deviation from the registered rules: a part with a changed rule, a removed part, or a part that was added after
    results for it were known."""

    part: str
    old: Any
    """The registered content; ``None`` for an added part."""
    new: Any
    """The present content; ``None`` for a removed part."""
    digests: tuple[str, str]
    """Digests of the registered and the present content; ``""`` if the part was not registered or is no longer present.
    """
    changes: list[tuple[str, Any, Any]]
    games: int
    positions: int
    """Largest number of searched positions of any part that shares games or searches with this one.

    ``games`` is the largest number of games of such a part.
    """

    def text(self, source: str) -> str:
        """A sentence that describes the deviation; ``source`` is the file of the table of claims."""
        if self.old is None:
            return f"{self.part} of {source} is a new rule for games or searches whose results another part has shown"
        if self.new is None:
            return f"{self.part} was registered and has results, but {source} no longer has it"
        path, old, new = self.changes[0]
        return f"{self.part} was registered with {path} = {_text_of(old)}, but {source} now has {_text_of(new)}"


def _departures(store: Store, spec: ClaimsSpec, surroundings: Mapping[str, Any]) -> list[_Departure]:
    """All deviations of the specification from the rules that the store has registered."""
    known: dict[str, Any] = store.metadata(REGISTERED) or {}
    games, positions = games_by_part(store), Counter(store.metadata(POSITIONS_SEARCHED) or {})
    contents = {part.id: plain(part.content) for part in spec.parts}

    def departure(name: str, old: Any, new: Any, digests: tuple[str, str], changes: Any) -> _Departure:
        alike = _parts_sharing_results(new if old is None else old, known) | {name}
        counts = [max(counted[one] for one in alike) for counted in (games, positions)]
        return _Departure(name, old, new, digests, changes, *counts)

    def is_added_late(part: ClaimPart) -> bool:
        is_new = table is not None and part.expect is not None and table.get(part.id) != part.digest
        return is_new and any(games[one] or positions[one] for one in _parts_sharing_results(contents[part.id], known))

    found, table = [], store.metadata(TABLE)
    for part in spec.parts:
        if part.id in known:
            before = known[part.id]
            changes = differences(before["content"], contents[part.id])
            changes += changed_surroundings(before.get(SURROUNDINGS, {}), surroundings[part.id])
            if changes:
                digests = before["digest"], part.digest
                found.append(departure(part.id, before["content"], contents[part.id], digests, changes))
        elif is_added_late(part):
            change = ("part", None, part.id)
            found.append(departure(part.id, None, contents[part.id], ("", part.digest), [change]))
    for name, entry in known.items():
        if name not in spec.asked and WITHDRAWN not in entry and (games[name] or positions[name]):
            found.append(departure(name, entry["content"], None, (entry["digest"], ""), [("part", name, None)]))
    return found


def refuse_changes(store: Store, spec: ClaimsSpec, directory: Path, surroundings: Mapping[str, Any]) -> None:
    """Raise ``RunError`` if the specification deviates from the rules registered in the store.

    ``directory`` is named in the error; ``surroundings`` is the result of ``surroundings_of``.
    """
    found = _departures(store, spec, surroundings)
    if not found:
        return
    more = sum(len(one.changes) for one in found) - 1
    others = f" (and {more} more change{'s' * (more > 1)})" if more else ""
    raise RunError(
        f"{directory}: {found[0].text(spec.source)}{others}",
        f'{OTHER_FOLDER}, or keep the change as an amendment with {argument("amend")} "why"',
    )


def register(store: Store, spec: ClaimsSpec, amend: str | None, surroundings: Mapping[str, Any]) -> ClaimsRegistration:
    """Register the specification of each part before its first game. Call ``refuse_changes`` first.

    ``amend`` is the reason for amendments; ``surroundings`` is the result of ``surroundings_of``.
    """
    known: dict[str, Any] = dict(store.metadata(REGISTERED) or {})
    amendments = list(store.metadata(AMENDMENTS) or [])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for one in _departures(store, spec, surroundings):
        amendments.append(
            {
                "part": one.part, "date": now, "why": amend, "old_digest": one.digests[0], "new_digest": one.digests[1],
                "changes": [[path, _text_of(old), _text_of(new)] for path, old, new in one.changes],
                "old": one.old, "new": one.new, "games": one.games, "positions": one.positions,
            }
        )  # fmt: skip
        if one.new is None:
            known[one.part] = {**known[one.part], WITHDRAWN: True}
    for part in spec.parts:
        known[part.id] = {
            "digest": part.digest,
            "content": plain(part.content),
            "date": known[part.id]["date"] if part.id in known else now,
            SURROUNDINGS: surroundings[part.id],
        }
    store.record_metadata({REGISTERED: known, AMENDMENTS: amendments, TABLE: store.metadata(TABLE) or dict(spec.asked)})
    return ClaimsRegistration(
        {name: entry["date"] for name, entry in known.items()},
        tuple(map(Amendment.from_plain, amendments)),
        tuple(
            f"{name} {engine}" for name, entry in known.items()
            if name not in spec.asked and WITHDRAWN in entry and entry["content"]["expect"] is not None
            for engine in dict.fromkeys(cell.split()[0] for cell in entry["content"]["cells"])
        ),
        {name: entry[SURROUNDINGS] for name, entry in known.items() if SURROUNDINGS in entry},
    )  # fmt: skip


def games_by_part(store: Store) -> Counter[str]:
    """Number of games in the store for each part."""
    return Counter(outcome.pairing.series.partition(" ")[0] for outcome in store.outcomes())


def note_positions(store: Store, part: str, positions: int) -> None:
    """Record how many positions were searched for a part."""
    counts = dict(store.metadata(POSITIONS_SEARCHED) or {})
    if counts.get(part, 0) < positions:
        store.record_metadata({POSITIONS_SEARCHED: {**counts, part: positions}})


def _parts_sharing_results(content: Mapping[str, Any], known: Mapping[str, Any]) -> set[str]:
    """Names of the parts in ``known`` that share games or searches with the part that has this ``content``."""
    own = _cell_digests(content)
    return {name for name, entry in known.items() if own & _cell_digests(entry["content"])}


def _cell_digests(content: Mapping[str, Any]) -> set[str]:
    """One digest per cell of a part; equal digests mean shared games or searches.

    A digest covers everything that determines the cell's games or searches, except the order of the sides.
    """
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


def _text_of(value: Any) -> str:
    return NOTHING if value is None else format_toml(value)
