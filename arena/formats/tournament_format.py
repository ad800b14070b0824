"""The interface of a tournament format: its next games, and their maximum number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from elolab.arena.records import Outcome, Pairing
from elolab.arena.tournament_spec import TournamentSpec


class Format(ABC):
    """A tournament format: the games and their order.

    The schedule is a pure function (specification, opening order, results of the batches before) -> next batch, so
    neither the order in which games end nor an interruption matters. A format whose schedule does not depend on results
    puts all games into the first batch.
    """

    players: int | None = None
    """Number of players; ``None`` for any number from two on."""
    has_rounds: bool = True
    """Whether the key ``rounds`` has a meaning."""
    keys: tuple[str, ...] = ()
    """Keys of a tournament's file that are not valid in every format."""
    is_sequential: bool = False
    """Whether a sequential test of player 1 against player 2 ends it, with settings in ``[sprt]``."""
    may_take_all_openings: bool = False
    """Whether ``pairs`` may be left out, meaning as many as there are openings."""
    decides_on_the_way: bool = False
    """Whether later batches depend on results.

    Such a tournament cannot wait for a player that fails to start: its opponents win without playing, for good. Players
    cannot join later.
    """
    has_fixed_length: bool = True
    """Whether all planned games are played unless players drop out; otherwise there may be fewer."""

    @abstractmethod
    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The next batch; an empty one ends the tournament.

        ``order[k]`` is the opening (place in the suite) of pair ``k`` of any pairing of two players. ``results`` has an
        outcome for every game of the earlier batches, in schedule order. A longer tournament begins with the games of
        the shorter one.
        """

    @abstractmethod
    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        """Maximum number of games, given the results of the first batches."""

    def openings_needed(self, spec: TournamentSpec) -> int:
        """Number of distinct openings that a pairing of two players needs: one per pair."""
        return spec.pairs

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """The differences that keep ``new`` from being an extension of ``old``: a key and both values each.

        The caller checks ``keys`` and what holds for all formats. ``new`` has all players of ``old``.
        """
        if not self.decides_on_the_way:
            return
        before, now = ([player.name for player in spec.players] for spec in (old, new))
        for place, (there, here) in enumerate(zip(before, now, strict=False)):
            if there != here:
                yield f"order of the players: player {place + 1}", repr(there), repr(here)
        if len(before) < len(now):
            yield "players", str(len(before)), f"{len(now)} with {now[len(before)]!r}, who cannot enter later,"
        if old.pairs_of_encounter != new.pairs_of_encounter:
            yield "pairs", str(old.pairs_of_encounter), str(new.pairs_of_encounter)

    def pairs_text(self, spec: TournamentSpec) -> str:
        """The keys that decide how many openings are needed, for messages."""
        rounds = f" in {spec.rounds} rounds" if spec.rounds > 1 else ""
        return f"pairs = {spec.pairs_of_encounter}{rounds}"

    def default_rounds(self, players: int) -> int:
        """Default of ``rounds``."""
        return 1

    def most_rounds(self, players: int) -> int | None:
        """Maximum number of rounds without repeated opponents; ``None`` if unlimited."""
        return None


def paired_games(
    encounters: Sequence[tuple[int, int]], pairs: Iterable[int], order: Sequence[int], *, number: int, round: int
) -> Iterator[Pairing]:
    """The games of encounters of two players, numbered from ``number`` on.

    All encounters have the same ``pairs`` and so the same openings. The first pair of all encounters comes first, then
    the second, and so on. The two games of a pair, with colours swapped, are neighbours.
    """
    for pair in pairs:
        for one, other in encounters:
            for first, second in ((one, other), (other, one)):
                yield Pairing(number, pair, first, second, order[pair], round)
                number += 1
