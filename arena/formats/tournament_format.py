"""The interface of a tournament format: its next games, and their maximum number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from elolab.arena.records import Outcome, Pairing
from elolab.arena.tournament_spec import TournamentSpec


class Format(ABC):
    """A tournament format: it decides which games are played, and in which order.

    The next batch of games is a pure function of the specification, the order of openings and the results of earlier
    batches. So neither the order in which games end nor an interruption matters. A format whose schedule does not
    depend on results puts all games into the first batch.
    """

    players: int | None = None
    """Number of players; ``None`` for any number from two on."""
    has_rounds: bool = True
    """Whether the key ``rounds`` is valid."""
    keys: tuple[str, ...] = ()
    """Keys of a tournament's file that are valid in this format but not in all."""
    is_sequential: bool = False
    """Whether a sequential test between the two players, set up in ``[sprt]``, ends the tournament."""
    may_take_all_openings: bool = False
    """Whether the key ``pairs`` is optional; without it there is one pair for every opening."""
    decides_on_the_way: bool = False
    """Whether later batches depend on results.

    Such a tournament cannot wait for a player that fails to start: its opponents win without playing, for good. Players
    cannot join later.
    """
    has_fixed_length: bool = True
    """Whether all planned games are played if no player drops out; otherwise the tournament may end earlier."""

    @abstractmethod
    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The next batch; an empty one ends the tournament.

        ``order[k]`` is the opening (place in the suite) of pair ``k`` of any pairing of two players. ``results`` has an
        outcome for every game of the earlier batches, in schedule order. A longer tournament begins with the games of
        a shorter one.
        """

    @abstractmethod
    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        """Maximum number of games in the whole tournament, given the results of the first batches."""

    def openings_needed(self, spec: TournamentSpec) -> int:
        """Number of distinct openings that the tournament needs; two players use one per game pair."""
        return spec.pairs

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """The differences that prevent ``new`` from extending ``old``: the key, the old and the new value.

        Only checks that are special to this format; the caller compares ``keys``. ``new`` has all players of ``old``.
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
        """The keys that determine the number of openings, with their values, for messages."""
        rounds = f" in {spec.rounds} rounds" if spec.rounds > 1 else ""
        return f"pairs = {spec.pairs_of_encounter}{rounds}"

    def default_rounds(self, players: int) -> int:
        """Default of the key ``rounds`` for this number of players."""
        return 1

    def most_rounds(self, players: int) -> int | None:
        """Maximum number of rounds without repeated opponents; ``None`` if unlimited."""
        return None


def paired_games(
    encounters: Sequence[tuple[int, int]], pairs: Iterable[int], order: Sequence[int], *, number: int, round: int
) -> Iterator[Pairing]:
    """The games of encounters between two players, numbered from ``number`` on.

    Every encounter has a game pair for each number in ``pairs``; pair ``k`` uses opening ``order[k]``. The first pair
    of all encounters comes first, then the second, and so on. The two games of a pair, with colours swapped, are
    neighbours. ``round`` is the number of the round, from 0.
    """
    for pair in pairs:
        for one, other in encounters:
            for first, second in ((one, other), (other, one)):
                yield Pairing(number, pair, first, second, order[pair], round)
                number += 1
