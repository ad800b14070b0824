"""The interface of a tournament format: its next batch of games, and its maximum number of games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from elolab.arena.records import Outcome, Pairing
from elolab.arena.tournament_spec import TournamentSpec


class Format(ABC):
    """A tournament format: decides which games are played, and in which order.

    The next batch of games is a pure function of the specification, the order of openings and the results of earlier
    batches. It therefore does not depend on the order in which games end, or on interruptions. A format whose schedule
    does not depend on results puts all games into the first batch.
    """

    players: int | None = None
    """Required number of players; ``None`` for two or more."""
    has_rounds: bool = True
    """Whether the tournament file may have the key ``rounds``."""
    keys: tuple[str, ...] = ()
    """Keys of a tournament file that are valid in this format but not in every format."""
    is_sequential: bool = False
    """Whether a sequential test of the two players, configured in ``[sprt]``, ends the tournament."""
    may_take_all_openings: bool = False
    """Whether the key ``pairs`` may be omitted; each opening is then used for one pair."""
    decides_on_the_way: bool = False
    """Whether later batches depend on results.

    If so, the tournament does not wait for a player that fails to start: its opponents win by walkover, which is final.
    Players cannot join later.
    """
    has_fixed_length: bool = True
    """Whether all planned games are played if no player drops out; otherwise the tournament may end earlier."""

    @abstractmethod
    def pairings(self, spec: TournamentSpec, order: Sequence[int], results: Sequence[Outcome]) -> Iterator[Pairing]:
        """The next batch of games; an empty batch ends the tournament.

        In pair ``k``, any two players use the opening with the index ``order[k]`` in the suite. Without
        ``swap_colours``, the openings of the pair's games are ``order[2 * k]`` and ``order[2 * k + 1]``. ``results``
        has an outcome for every game of the earlier batches, in schedule order. The games of a shorter tournament are
        the first games of a longer one.
        """

    @abstractmethod
    def max_games(self, spec: TournamentSpec, results: Sequence[Outcome] = ()) -> int:
        """Maximum number of games in the whole tournament, given the results of the first batches."""

    def opened_pairs(self, spec: TournamentSpec) -> int:
        """Maximum number of game pairs with different openings; the encounters of a round share their openings."""
        return spec.pairs

    def openings_needed(self, spec: TournamentSpec) -> int:
        """Number of distinct openings that the tournament needs: one per pair, or two if colours are not swapped."""
        return self.opened_pairs(spec) * spec.openings_per_pair

    def changes(self, old: TournamentSpec, new: TournamentSpec) -> Iterator[tuple[str, str, str]]:
        """Yield the differences that prevent ``new`` from extending ``old``, each as key, old value and new value.

        Checks only what is specific to this format; the caller compares ``keys``. ``new`` has all players of ``old``.
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
        """The keys that determine the number of openings, with their values, as text for messages."""
        rounds = f" in {spec.rounds} rounds" if spec.rounds > 1 else ""
        return f"pairs = {spec.pairs_of_encounter}{rounds}"

    def default_rounds(self, players: int) -> int:
        """Default of the key ``rounds`` for this number of players."""
        return 1

    def most_rounds(self, players: int) -> int | None:
        """Maximum number of rounds without repeated opponents; ``None`` if unlimited."""
        return None


def paired_games(
    spec: TournamentSpec,
    encounters: Sequence[tuple[int, int]],
    pairs: Iterable[int],
    order: Sequence[int],
    *,
    number: int,
    round: int,
) -> Iterator[Pairing]:
    """Yield the games of encounters between two players, numbered from ``number`` on.

    Every encounter has a game pair for each number in ``pairs``, with the openings that ``Format.pairings`` names. The
    first pair of every encounter is played before the second pair of any, and so on. The two games of a pair are
    consecutive, with colours swapped; without ``swap_colours``, the player listed first in ``spec`` moves first in
    both. ``round`` is the index of the round, from 0.
    """
    for pair in pairs:
        for one, other in encounters:
            low, high = sorted((one, other))
            for game in (0, 1):
                if spec.swap_colours:
                    first, second, opening = *((one, other), (other, one))[game], order[pair]
                else:
                    first, second, opening = low, high, order[2 * pair + game]
                yield Pairing(number, pair, first, second, opening, round)
                number += 1
