"""Warnings that the results of a run may not be reliable: games lost on time, mixed builds, refused workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elolab.arena.play.store import Store
from elolab.arena.provenance.record import remarks_on
from elolab.arena.statistics.faults import FaultCount, time_loss_warnings
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue


@dataclass(frozen=True)
class Caveats:
    """The warnings about a run as data; ``sentences`` formats them in a language."""

    faults: tuple[FaultCount, ...] = ()
    """The number of games that each player forfeited, for each kind of fault."""
    games: int = 0
    """Number of games in which ``faults`` were counted."""
    provenance: Sequence[tuple[str, Mapping[str, Any]]] = ()
    """Warnings about the players' files and the workers: the result of ``arena.provenance.record.remarks_on``."""

    def sentences(self, language: str = DEFAULT_LANGUAGE) -> list[str]:
        """One sentence for each warning, the most serious first."""
        say = Catalogue("elolab.arena", language)
        remarks = [say(key, **fields) for key, fields in self.provenance]
        return time_loss_warnings(self.faults, self.games, say) + remarks


NO_CAVEATS = Caveats()


def caveats_of(store: Store, faults: tuple[FaultCount, ...], games: int | None = None) -> Caveats:
    """Warnings about the run in a store.

    ``faults`` were counted in ``games`` games, by default in all games of the store.
    """
    return Caveats(faults, len(store) if games is None else games, remarks_on(store))
