"""A tournament as a frozen value: everything that decides its games."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from elolab.arena.players.registry import protocol_named
from elolab.arena.records import GameConditions, PlayerSpec
from elolab.arena.sequential import SequentialSettings
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.configuration import specification_word


@dataclass(frozen=True)
class TournamentSpec:
    """Everything that decides the games of a tournament."""

    name: str
    game: str
    format: str
    players: tuple[PlayerSpec, ...]
    pairs: int
    """Colour-swapped pairs of games for each pairing of two players, over all rounds; the maximum for a sequential
    test.

    Swiss: pairs of one player over all rounds. Knockout: pairs of one encounter. 0 (sequential tests only) means as
    many as there are openings.
    """
    seed: int
    openings: str
    """The opening suite: a shipped name or a file."""
    opening_start: int
    """Offset of pair 0 in the shuffled suite."""
    rules: Rules
    adjudication: Adjudication
    source: str
    """The file it was read from."""
    rounds: int = 1
    """Rounds of an n-fold round robin, a gauntlet or a Swiss tournament; ``pairs`` is a multiple of them."""
    opening_part: str = "all"
    """``tournament`` or ``validation`` (two fixed halves of the suite) or ``all``."""
    opening_order: str = "random"
    """``random`` (a permutation by the seed) or ``sequential`` (the order of the file)."""
    opening_plies: int = 0
    """Moves to take from each game of a PGN suite; 0 for all."""
    search_statistics: SearchStatisticsSettings | None = None
    """Whether and how built-in players count search events; the games do not depend on it."""
    sprt: SequentialSettings | None = None
    """The test that ends a match of format ``sprt``."""
    anchors: tuple[tuple[str, float], ...] = ()
    """Players with given ratings, in Elo; the others are rated relative to them."""
    gauntlet_players: int = 1
    """Gauntlet: the number of players, from the first on, that play against the others."""
    seeding: str = "order"
    """Swiss and knockout: seeds in the ``order`` of the players, or in a ``random`` order."""
    repeats: bool = False
    """Swiss: whether players may meet again if unavoidable, so that any number of rounds is possible."""
    tiebreak_pairs: int = 0
    """Knockout: the most sudden-death pairs of a tied encounter."""
    tiebreak: str = "seed"
    """Knockout: how ties after those pairs are decided: the better ``seed`` or a ``coin``."""
    third_place: bool = False
    """Knockout: whether the losers of the semi-finals play for third place."""
    command: tuple[str, ...] = ()
    """The words after ``elolab`` that began or last resumed the tournament; empty if Python did."""

    @functools.cached_property
    def conditions(self) -> GameConditions:
        """The conditions shared by all its games."""
        return GameConditions(self.game, self.rules, self.adjudication, self.seed, self.search_statistics)

    @property
    def pairs_of_encounter(self) -> int:
        """Pairs of two players in one round."""
        return self.pairs // self.rounds

    def player(self, name: str) -> PlayerSpec:
        """The player of a given name."""
        return next(player for player in self.players if player.name == name)

    @property
    def command_line(self) -> str:
        """The command line that plays it, as it was given."""
        return shlex.join(("elolab", *self.words))

    @property
    def words(self) -> tuple[str, ...]:
        """The words of ``command_line`` after ``elolab``."""
        return self.command or ("tournament", specification_word("tournaments", self.source))

    def content(self) -> dict[str, Any]:
        """The whole specification as plain data (JSON); ``from_content`` reads it back."""
        return asdict(self) | {"players": tuple(player.stored() for player in self.players)}

    @classmethod
    def from_content(cls, data: Mapping[str, Any]) -> TournamentSpec:
        """Read back the specification from ``content``."""
        fields = dict(data)
        fields["players"] = tuple(
            PlayerSpec.from_stored(player, protocol_named(player["protocol"]).keys) for player in data["players"]
        )
        fields["rules"] = Rules(**data["rules"])
        fields["adjudication"] = Adjudication(**data["adjudication"])
        counting = fields.pop("instruments", None) or fields.get("search_statistics")  # the first in older folders
        fields["search_statistics"] = None if counting is None else SearchStatisticsSettings(**counting)
        if data.get("sprt") is not None:
            fields["sprt"] = SequentialSettings(**data["sprt"])
        fields["anchors"] = tuple((name, elo) for name, elo in data.get("anchors", ()))
        fields["command"] = tuple(data.get("command", ()))
        return cls(**fields)
