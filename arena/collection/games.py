"""Reads the games of a run's folder as ``PortableGame``, the form in which elolab exports games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.notation.pgn import PortableGame, portable_game
from elolab.arena.notation.played_tags import played_as
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import stored_tournament
from elolab.arena.provenance.record import builds_by_player

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game


def game_of_run(store: Store) -> str | None:
    """Name of the game that a run plays; ``None`` if the store does not record it."""
    contents = (store.metadata(name) for name in sorted(store.metadata_names()))
    named = (content["game"] for content in contents if isinstance(content, Mapping) and "game" in content)
    return next(named, None)


def portable_games(directory: Path, game: Game) -> Iterator[PortableGame]:
    """Yield a run's games in schedule order, read one at a time; raises ``StoreError`` if the store is unreadable."""
    with Store(directory, read_only=True) as store:
        event, players = directory.resolve().name, {}
        if store.metadata("specification") is not None:
            spec = stored_tournament(store)
            event, players = spec.name, played_as(spec.players, spec.game, builds_by_player(store, spec.players))
        for record in store.iterate():
            yield portable_game(record, event, game, players)
