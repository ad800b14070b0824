"""What a format of tournaments has to give: its next games, and how many there are at most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from arena.records import Outcome, Pairing
from arena.tournament_spec import TournamentSpec
from engine.settings.toml_values import told_value


class Format(ABC):
    """Which games a tournament consists of, and in which order.

    The schedule is a pure function (specification, opening order, results of the batches before) -> next batch, so
    that nothing depends on the order in which games end, nor on where a run was stopped. A format without decisions on
    the way gives everything in the first batch and nothing after it.
    """

    players: int | None = None
    """How many it is for; ``None`` for any number from two on."""
    has_rounds = True
    """Whether the key ``rounds`` has a meaning."""
    keys: tuple[str, ...] = ()
    """The keys of a tournament's file that only this format and some others have."""
    is_sequential = False
    """Whether a sequential test of player 1 against player 2 ends it, whose settings are in ``[sprt]``."""
    may_take_all_openings = False
    """Whether ``pairs`` may be left out, for as many as there are openings."""
    decides_on_the_way = False
    """Whether later batches depend on results.

    Such a tournament cannot wait for a player that cannot be started: its opponents win without playing, for good, and
    nobody can enter later.
    """
    has_fixed_length = True
    """Whether it has as many games as planned, unless players drop out; otherwise there may be fewer."""

    @abstractmethod
    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The next batch; an empty one ends the tournament.

        ``order[k]`` is the opening (place in the suite) of pair ``k`` of any pairing of two players. ``results`` has
        an outcome for every game of the batches before, in schedule order. A longer tournament begins with the games
        of the shorter one.
        """

    @abstractmethod
    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        """How many games the tournament has at most, given the results of its first batches."""

    def openings_needed(self, spec: TournamentSpec) -> int:
        """How many different openings a pairing of two players needs: one a pair."""
        return spec.pairs

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """What keeps a tournament from being an extension of another: a key and both values.

        That is beside what no format may change; the players of ``old`` are among those of ``new``.
        """
        for key in self.keys:
            if getattr(old, key) != getattr(new, key):
                yield key, told_value(getattr(old, key)), told_value(getattr(new, key))
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
        """What ``rounds`` is where the file does not say."""
        return 1

    def most_rounds(self, players: int) -> int | None:
        """How many rounds there can be in which nobody meets an opponent again; ``None`` if any number."""
        return None


def paired_games(
    encounters: Sequence[tuple[int, int]], pairs: Iterable[int], order: Sequence[int], *, number: int, round: int
) -> Iterator[Pairing]:
    """The games of encounters of two players, from ``number`` on.

    Every one has the same ``pairs`` and so the same openings. The first pair of all encounters comes first, then the
    second, and so on; the two games of a pair, with colours swapped, are neighbours.
    """
    for pair in pairs:
        for one, other in encounters:
            for first, second in ((one, other), (other, one)):
                yield Pairing(number, pair, first, second, order[pair], round)
                number += 1
