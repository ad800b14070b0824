"""That every rule was fixed beforehand, so that it can be proved: the digests of parts in the run's store.

Before the first game of a part its specification (rule, measure, settings, budget, looks, margin) is kept, with the
date and its digest, and beside it what else decides its games: the values of every parameter in its engines, which
presets leave to the defaults, and the openings that stand in the suite's file. A run that is resumed with another one
is refused, unless the change is to be kept as an *amendment*: with the reason, both texts, and how many of the part's
games had been seen. So is one that leaves out a part of which something is known, or has a new one that asks of games
or searches that are known from another part: those that the table had at the first run are kept by their digests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from elolab.arena.notation.openings import load_suite
from elolab.arena.play.store import Store
from elolab.arena.records import digest_of
from elolab.arena.run import RunError, differences, plain
from elolab.engine.settings.toml_values import told_value
from elolab.tuning.claims.spec import ClaimsSpec, Part

REGISTERED = "claims registered"
AMENDMENTS = "claims amendments"
POSITIONS_SEARCHED = "claims positions searched"
"""The names of the store's metadata."""
NOTHING = "nothing"
SURROUNDINGS = "surroundings"
WITHDRAWN = "withdrawn"
"""Of what is kept of a part: what decides its games beside its specification, and that the table has it no more."""
TABLE = "claims table"
"""The name of the store's metadata: the digests of all parts that the table had at the first run, by part."""


@dataclass(frozen=True)
class Amendment:
    """One change of a part's specification after it was registered."""

    part: str
    date: str
    """UTC, ISO 8601."""
    why: str
    old_digest: str
    new_digest: str
    changes: tuple[tuple[str, str, str], ...]
    """The path of each key that changed, what stood there, and what stands there now."""
    games: int
    """Games of the part that had been played."""
    positions: int
    """Positions that had been searched for it."""


@dataclass(frozen=True)
class AskedElsewhere:
    """What is known of a part from other folders."""

    date: str
    """When it was registered there: UTC, ISO 8601."""
    games: int
    positions: int


@dataclass(frozen=True)
class Registration:
    """What is known of when the rules of a run's parts were fixed."""

    dates: Mapping[str, str]
    """When each part was registered, by its id: UTC, ISO 8601."""
    amendments: tuple[Amendment, ...]
    withdrawn: tuple[str, ...] = ()
    """The parts that expected something and were taken out of the table when something of them was known."""
    surroundings: Mapping[str, Any] = field(default_factory=dict)
    """What else decides games and searches, as it was registered, by the id of the part: ``surroundings_of``."""

    @property
    def amended_after_results(self) -> frozenset[str]:
        """The parts whose specification was changed when games or searches of it were known."""
        return frozenset(one.part for one in self.amendments if one.games or one.positions)


def surroundings_of(spec: ClaimsSpec) -> dict[str, Any]:
    """By part, what decides its games and searches and lies outside of the table of claims and its presets."""
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
    """Raise ``RunError`` if what was registered is another now, or left out; arguments as of ``register``."""
    known: dict[str, Any] = store.metadata(REGISTERED) or {}
    changes = [
        (part.id, *change) for part in spec.parts if part.id in known
        for change in _changes(part, known[part.id], surroundings)
    ]  # fmt: skip
    if changes:
        raise RunError(_refusal(changes, spec, directory))
    seen = _seen(store, elsewhere)
    gone = _left_out(spec, known, *seen)
    if gone:
        raise RunError(
            f"{directory}: {gone[0]} was registered and something of it is known, {spec.source} has it no more; "
            f"{_REMEDY}"
        )
    late = _late(store, spec, known, *seen)
    if late:
        raise RunError(
            f"{directory}: {late[0].id} of {spec.source} is a new rule for games or searches that are known from "
            f"another part; {_REMEDY}"
        )


def register(
    store: Store, spec: ClaimsSpec, amend: str | None, elsewhere: Mapping[str, AskedElsewhere],
    surroundings: Mapping[str, Any],
) -> Registration:  # fmt: skip
    """Keep the specification of each part before its first game, after ``refuse_changes``.

    ``amend`` is the reason for which changes are kept as amendments; ``elsewhere`` is what was taken over from other
    folders, ``surroundings`` those of ``surroundings_of``, both by part.
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
    """Stored games by the part for which they were played."""
    return Counter(outcome.pairing.series.partition(" ")[0] for outcome in store.outcomes())


def is_searched_here(store: Store, part: str) -> bool:
    """Whether the run itself has searched positions for a part."""
    return bool((store.metadata(POSITIONS_SEARCHED) or {}).get(part))


def note_positions(store: Store, part: str, positions: int) -> None:
    """Keep how many positions were searched for a part."""
    counts = dict(store.metadata(POSITIONS_SEARCHED) or {})
    if counts.get(part, 0) < positions:
        store.record_metadata({POSITIONS_SEARCHED: {**counts, part: positions}})


def _seen(store: Store, elsewhere: Mapping[str, AskedElsewhere]) -> tuple[Counter[str], Counter[str]]:
    """Games and positions that are known of each part."""
    seen, searched = games_by_part(store), Counter(store.metadata(POSITIONS_SEARCHED) or {})
    for name, asked in elsewhere.items():
        seen[name] += asked.games
        searched[name] = max(searched[name], asked.positions)
    return seen, searched


def _left_out(spec: ClaimsSpec, known: Mapping[str, Any], games: Counter[str], positions: Counter[str]) -> list[str]:
    """The parts of which something is known and that the table of claims has no more."""
    return [
        name for name, entry in known.items()
        if name not in spec.asked and WITHDRAWN not in entry and (games[name] or positions[name])
    ]  # fmt: skip


def _late(
    store: Store, spec: ClaimsSpec, known: Mapping[str, Any], games: Counter[str], positions: Counter[str]
) -> list[Part]:
    """New parts that expect something of what another part has shown, and were not in the table at the first run."""
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
    """New parts that were asked in other folders, whose runs have seen to it that their rules came before."""
    return {
        part.id: {"content": plain(part.content)} for part in spec.parts
        if part.id not in known and (games[part.id] or positions[part.id])
    }  # fmt: skip


def _alike(content: Mapping[str, Any], known: Mapping[str, Any]) -> set[str]:
    """The parts that ask of the same games or searches, at one place at least, as one of that content does."""
    own = _asked_of(content)
    return {name for name, entry in known.items() if own & _asked_of(entry["content"])}


def _asked_of(content: Mapping[str, Any]) -> set[str]:
    """What decides the games or searches of each cell; either side of a comparison may be the variant."""
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
    """What is another than it was registered."""
    return [
        *differences(registered["content"], plain(part.content)),
        *changed_surroundings(registered.get(SURROUNDINGS, {}), surroundings[part.id]),
    ]


def changed_surroundings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Where the surroundings of a part differ, but for parameters that one of the two does not have."""
    return [change for change in differences(before, now) if None not in change[1:]]


def _told(value: Any) -> str:
    return NOTHING if value is None else told_value(value)


_REMEDY = 'give another folder with --out, or keep it as an amendment with --amend "why"'


def _refusal(changes: Sequence[tuple[str, str, Any, Any]], spec: ClaimsSpec, directory: Path) -> str:
    part, path, old, new = changes[0]
    more = len(changes) - 1
    others = f" (and {more} more changes)" if more > 1 else " (and 1 more change)" if more else ""
    return (
        f"{directory}: {part} was registered with {path} = {_told(old)}, by {spec.source} it is now {_told(new)}"
        f"{others}; {_REMEDY}"
    )
