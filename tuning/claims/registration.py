"""That every rule was fixed beforehand, so that it can be proved: the digests of parts in the run's store.

Before the first game of a part its specification (rule, measure, settings, budget, looks, margin) is kept, with the
date and its digest. A run that is resumed with another one is refused, unless the change is to be kept as an
*amendment*: with the reason, both texts, and how many of the part's games had been seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.play.store import Store
from arena.run import RunError, differences, plain
from tuning.claims.spec import ClaimsSpec, Part

REGISTERED = "claims registered"
AMENDMENTS = "claims amendments"
POSITIONS_SEARCHED = "claims positions searched"
"""The names of the store's metadata."""
NOTHING = "nothing"


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

    @property
    def amended_after_results(self) -> frozenset[str]:
        """The parts whose specification was changed when games or searches of it were known."""
        return frozenset(one.part for one in self.amendments if one.games or one.positions)


def changed_parts(store: Store, spec: ClaimsSpec, directory: Path, amend: str | None) -> list[Part]:
    """The parts that were registered with another rule; raises ``RunError`` if there are any and no reason is given."""
    known: dict[str, Any] = store.metadata(REGISTERED) or {}
    changed = [part for part in spec.parts if part.id in known and known[part.id]["digest"] != part.digest]
    if changed and amend is None:
        raise RunError(_refusal(changed, known, spec, directory))
    return changed


def register(
    store: Store, spec: ClaimsSpec, directory: Path, amend: str | None, elsewhere: Mapping[str, AskedElsewhere]
) -> Registration:
    """Keep the specification of each part before its first game, or check that it is the one that was kept.

    ``amend`` is the reason for which changes are kept as amendments; ``elsewhere`` is what was taken over from other
    folders, by part. Raises ``RunError`` for a change without a reason.
    """
    changed = changed_parts(store, spec, directory, amend)
    known: dict[str, Any] = dict(store.metadata(REGISTERED) or {})
    amendments = list(store.metadata(AMENDMENTS) or [])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    seen, searched = games_by_part(store), Counter(store.metadata(POSITIONS_SEARCHED) or {})
    for name, asked in elsewhere.items():
        seen[name] += asked.games
        searched[name] = max(searched[name], asked.positions)
    for part in changed:
        old = known[part.id]
        amendments.append(
            {
                "part": part.id, "date": now, "why": amend, "old_digest": old["digest"], "new_digest": part.digest,
                "changes": [[path, _told(one), _told(other)] for path, one, other in _changes(part, old)],
                "old": old["content"], "new": plain(part.content),
                "games": seen[part.id], "positions": searched[part.id],
            }
        )  # fmt: skip
    for part in spec.parts:
        if part.id not in known or part in changed or part.id in elsewhere:
            before = known.get(part.id)
            date = now if part.id not in elsewhere else elsewhere[part.id].date
            date = date if before is None else min(before["date"], date)
            known[part.id] = {"digest": part.digest, "content": plain(part.content), "date": date}
    store.record_metadata({REGISTERED: known, AMENDMENTS: amendments})
    return Registration(
        {name: entry["date"] for name, entry in known.items()},
        tuple(
            Amendment(
                one["part"], one["date"], one["why"], one["old_digest"], one["new_digest"],
                tuple((path, old, new) for path, old, new in one["changes"]), one["games"], one["positions"],
            )
            for one in amendments
        ),
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


def _changes(part: Part, registered: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    return differences(registered["content"], plain(part.content))


def _told(value: Any) -> str:
    return NOTHING if value is None else repr(value)


def _refusal(changed: list[Part], known: Mapping[str, Any], spec: ClaimsSpec, directory: Path) -> str:
    first = changed[0]
    changes = _changes(first, known[first.id])
    path, old, new = changes[0]
    more = len(changes) - 1 + sum(len(_changes(part, known[part.id])) for part in changed[1:])
    others = f" (and {more} more changes)" if more > 1 else " (and 1 more change)" if more else ""
    return (
        f"{directory}: {first.id} was registered with {path} = {_told(old)}, {spec.source} now has {_told(new)}"
        f'{others}; give another folder with --out, or keep it as an amendment with --amend "why"'
    )
