"""A tournament as a frozen value: everything that decides its games, and the keys of its file."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from elolab.arena.players.registry import protocol_named
from elolab.arena.records import GameConditions, PlayerSpec
from elolab.arena.sequential import MAX_PAIRS, SequentialSettings
from elolab.engine.games import GAMES
from elolab.engine.rules import MAX_PLIES, Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import specification_word
from elolab.engine.settings.limits import GRAMMAR
from elolab.engine.settings.schema import COMPUTED
from elolab.engine.settings.whole_numbers import MAX_SEED

OPENING_PARTS = ("tournament", "validation", "all")
OPENING_ORDERS = ("random", "sequential")
"""A permutation by the seed, or the order of the file."""
SEEDINGS = ("order", "random")
"""Seeds follow the order of players in the file, or an order drawn from the tournament's random seed."""
TIEBREAKS = ("seed", "coin")
"""Tie-breaks after the sudden-death pairs: the better seed, or a coin thrown by the random seed."""
MAX_RATING = 10_000
"""Largest absolute value of an anchor's rating, in Elo."""

CATALOGUE = "elolab.arena.keys"
RULES = schema.declare(CATALOGUE, "rules", "rules", Rules)
ADJUDICATION = schema.declare(CATALOGUE, "adjudication", "adjudication", Adjudication)
SPRT = schema.declare(CATALOGUE, "sprt", "sprt", SequentialSettings)
SEARCH_STATISTICS = schema.declare(CATALOGUE, "search_statistics", "search_statistics", SearchStatisticsSettings)
ANCHORS = schema.declare(
    CATALOGUE, "tournament", "anchors",
    others=schema.number(-MAX_RATING, MAX_RATING, default=COMPUTED, example=2500, unit="Elo", message="anchor"),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """The common part of the specifications of tournaments, studies and ablations."""

    name: str = schema.text(default=COMPUTED, example="my-run", expected="a name for the results' folder")
    description: ClassVar[str | None] = schema.text(default=None, example="What the games are to show.")
    game: str = schema.choice(GAMES, default="xiangqi", example="othello")
    seed: int = schema.whole(0, MAX_SEED, default=1, example=2)
    openings: str = schema.text(default=COMPUTED, example="openings.epd", expected="an opening suite's name or file")
    rules: Rules = schema.table(RULES)
    adjudication: Adjudication = schema.table(ADJUDICATION)
    source: str
    """The file it was read from."""


RUN = schema.declare(CATALOGUE, "run", "run", RunSpec)


@dataclass(frozen=True, kw_only=True)
class TournamentSpec(RunSpec):
    """Everything that decides the games of a tournament."""

    format: str
    """A key of ``arena.schedule.FORMATS``."""
    players: tuple[PlayerSpec, ...]
    pairs: int = schema.whole(1, MAX_PAIRS, default=COMPUTED, example=50, unit="pairs")
    """Colour-swapped pairs of games for each pairing of two players, over all rounds; the maximum for a sequential
    test.

    Swiss: pairs of one player over all rounds. Knockout: pairs of one encounter. 0 (sequential tests only) means as
    many as there are openings.
    """
    rounds: int = schema.whole(1, MAX_PAIRS, default=COMPUTED, value=1, example=5)
    """Rounds of an n-fold round robin, a gauntlet or a Swiss tournament; ``pairs`` is a multiple of them."""
    limit: ClassVar[str] = schema.text(default=COMPUTED, example="clock=10+0.1", expected=GRAMMAR)
    ponder: ClassVar[bool] = schema.switch()
    engines: ClassVar[str] = schema.text(default=COMPUTED, example="engines.toml", expected="the file of your engines")
    opening_start: int = schema.whole(0, MAX_PAIRS, default=0, example=100)
    """Offset of pair 0 in the suite, once it is in its order."""
    opening_part: str = schema.choice(OPENING_PARTS, default=COMPUTED, value="all", example="all")
    """``tournament`` or ``validation`` (two fixed halves of the suite) or ``all``."""
    opening_order: str = schema.choice(OPENING_ORDERS, default=OPENING_ORDERS[0], example="sequential")
    opening_plies: int = schema.whole(0, MAX_PLIES, default=0, example=8, unit="plies")
    """Moves to take from each game of a PGN suite; 0 for all."""
    gauntlet_players: int = schema.whole(1, MAX_PAIRS, default=1, example=2)
    """Gauntlet: the number of leading players in the list that play against all others."""
    seeding: str = schema.choice(SEEDINGS, default=SEEDINGS[0], example="random")
    """Swiss and knockout: how players are seeded."""
    repeats: bool = schema.switch()
    """Swiss: whether players may meet again if unavoidable, so that any number of rounds is possible."""
    tiebreak_pairs: int = schema.whole(0, MAX_PAIRS, default=3, example=5, unit="pairs")
    """Knockout: the most sudden-death pairs of a tied encounter; 0 in other formats."""
    tiebreak: str = schema.choice(TIEBREAKS, default=TIEBREAKS[0], example="coin")
    third_place: bool = schema.switch()
    """Knockout: whether the losers of the semi-finals play for third place."""
    search_statistics: SearchStatisticsSettings | None = schema.key(
        schema.TABLE, schema.SWITCH, schema=SEARCH_STATISTICS, default=COMPUTED, value=None, example=True
    )
    """Settings for counting search events in built-in players; the games do not depend on it."""
    sprt: SequentialSettings | None = schema.table(SPRT, value=None)
    """The test that ends a match of format ``sprt``."""
    anchors: tuple[tuple[str, float], ...] = schema.table(ANCHORS, value=(), example={"default": 2500})
    """Players with given ratings, in Elo; the others are rated relative to them."""
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
