"""Games of other runs, such as tournaments, from which a fit learns in addition to its own self-play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elolab.arena.collection.games import game_of_run
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.records import GameRecord, digest_of
from elolab.arena.statistics.faults import FORFEITS
from elolab.engine.errors import UserError, argument

FIRST_ROUND = 1_000_000
"""Round number given to games of the first other run in a fit; it is larger than the number of any iteration."""


@dataclass(frozen=True)
class OtherRun:
    """The games of another run that a fit uses: all finished games that were not forfeited by a fault."""

    folder: str
    games: int
    """Number of games."""
    digest: str
    """Digest of the games."""

    @property
    def name(self) -> str:
        """The folder's name, without the folders above it."""
        return Path(self.folder).name


def other_runs(folders: Sequence[str], game: str) -> tuple[OtherRun, ...]:
    """The games of the runs in ``folders``. Raises ``UserError`` if a folder has no games of ``game``, or if two have
    the same games.
    """
    found: dict[str, OtherRun] = {}
    for folder in folders:
        run = _other_run(folder, game)
        if run.digest in found:
            raise UserError(
                f"fit-evaluation: {argument('with_games', folder)}: the same games as in {found[run.digest].folder}",
                "name each run once",
            )
        found[run.digest] = run
    return tuple(found.values())


def records_of(run: OtherRun, number: int) -> list[GameRecord]:
    """The games of ``run``, with new numbers so that ``self_play.game_number`` is unique in the fit.

    ``number`` is the run's index among the fit's other runs. Raises ``UserError`` if the games have changed since the
    fit began.
    """
    with Store(Path(run.folder), read_only=True) as store:
        records = list(_usable(store))
    if _digest(records) != run.digest:
        raise UserError(
            f"fit-evaluation: {argument('with_games', run.folder)}: its games have changed since the fit began",
            f"give another {argument('out')}",
        )
    return [
        replace(record, pairing=replace(record.pairing, round=FIRST_ROUND + number, number=index))
        for index, record in enumerate(records)
    ]


def _other_run(folder: str, game: str) -> OtherRun:
    where = f"fit-evaluation: {argument('with_games', folder)}"
    if not (Path(folder) / STORE_NAME).is_file():
        raise UserError(f"{where}: no run in it (there is no {STORE_NAME})", "name the folder of a run")
    with Store(Path(folder), read_only=True) as store:
        other, records = game_of_run(store), list(_usable(store))
    if other != game:
        raise UserError(f"{where}: a run of {other}, expected {game}")
    if not records:
        raise UserError(f"{where}: no finished games")
    return OtherRun(folder, len(records), _digest(records))


def _usable(store: Store) -> Iterator[GameRecord]:
    return (record for record in store.iterate() if record.score is not None and record.reason not in FORFEITS)


def _digest(records: Sequence[GameRecord]) -> str:
    return digest_of([[record.key, record.digest] for record in records])
