"""A tournament as a frozen value: everything that decides which games it consists of and how they go."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.players.registry import protocol_named
from arena.records import GameConditions, PlayerSpec
from arena.sequential import SequentialSettings
from engine.rules import Adjudication, Rules
from engine.search_statistics import SearchStatisticsSettings
from engine.settings.configuration import specification_word


@dataclass(frozen=True)
class TournamentSpec:
    """Everything that decides which games a tournament consists of and how they go."""

    name: str
    game: str
    format: str
    players: tuple[PlayerSpec, ...]
    pairs: int
    """Colour-swapped pairs of games for each pairing of two players, over all rounds; the most of a sequential test.

    In a Swiss tournament those of a player over all rounds, in a knockout those of an encounter. 0 (sequential tests
    only) stands for as many as there are openings.
    """
    seed: int
    openings: str
    """The opening suite: a shipped name or a file."""
    opening_start: int
    """Where in the shuffled suite pair 0 begins."""
    rules: Rules
    adjudication: Adjudication
    source: str
    """The file it was read from."""
    rounds: int = 1
    """Rounds of an n-fold round robin, a gauntlet or a Swiss tournament; ``pairs`` is a multiple of it."""
    opening_part: str = "all"
    """``tournament`` or ``validation`` (two fixed halves of the suite) or ``all``."""
    opening_order: str = "random"
    """``random`` (a permutation by the seed) or ``sequential`` (the order of the file)."""
    opening_plies: int = 0
    """Moves to take from each game of a suite in PGN; 0 for all."""
    search_statistics: SearchStatisticsSettings | None = None
    """Whether and how built-in players count what they do; the games do not depend on it."""
    sprt: SequentialSettings | None = None
    """The test that ends a match of format ``sprt``."""
    anchors: tuple[tuple[str, float], ...] = ()
    """Players whose ratings are given, with their Elo; the others are rated relative to them."""
    gauntlet_players: int = 1
    """Gauntlet: how many of the first players play against the others."""
    seeding: str = "order"
    """Swiss and knockout: whether the ``order`` of the players is that of the seeds, or a ``random`` one."""
    repeats: bool = False
    """Swiss: whether players may meet again if it cannot be avoided, so that there may be any number of rounds."""
    tiebreak_pairs: int = 0
    """Knockout: how many pairs a tied encounter may go on for."""
    tiebreak: str = "seed"
    """Knockout: what decides after those: the better ``seed`` or a ``coin``."""
    third_place: bool = False
    """Knockout: whether the losers of the semi-finals play for the third place."""
    command: tuple[str, ...] = ()
    """The words after ``elolab`` that describe it, if no file does."""

    @functools.cached_property
    def conditions(self) -> GameConditions:
        """What all its games have in common."""
        return GameConditions(self.game, self.rules, self.adjudication, self.seed, self.search_statistics)

    @property
    def pairs_of_encounter(self) -> int:
        """Pairs of two players in one round."""
        return self.pairs // self.rounds

    def player(self, name: str) -> PlayerSpec:
        """The player of that name."""
        return next(player for player in self.players if player.name == name)

    @property
    def words(self) -> tuple[str, ...]:
        """The command line, after ``elolab``, that plays it."""
        return self.command or ("tournament", specification_word("tournaments", self.source))

    def content(self) -> dict[str, Any]:
        """The whole specification as plain data (JSON); ``from_content`` reads it back."""
        return asdict(self) | {"players": tuple(player.stored() for player in self.players)}

    @classmethod
    def from_content(cls, data: Mapping[str, Any]) -> TournamentSpec:
        """The specification that ``content`` described."""
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
