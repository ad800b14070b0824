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
from elolab.arena.statistics.faults import STOP_AFTER_FAULTS
from elolab.engine.games import DEFAULT_GAME, GAMES
from elolab.engine.rules import MAX_PLIES, Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import specification_word
from elolab.engine.settings.limits import GRAMMAR
from elolab.engine.settings.schema import COMPUTED
from elolab.engine.settings.whole_numbers import MAX_SEED

OPENING_PARTS = ("tournament", "validation", "all")
OPENING_ORDERS = ("random", "sequential")
"""Orders in which a tournament plays openings: at random, as its random seed determines, or as in the suite's file."""
SEEDINGS = ("order", "random")
"""Ways to seed players: in the order of the file, or in an order drawn from the tournament's random seed."""
TIEBREAKS = ("seed", "coin")
"""Ways to decide an encounter still tied after sudden-death pairs: the better seed wins, or a random draw decides."""
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
    """Base class of the specifications of tournaments, studies and ablations."""

    name: str = schema.text(default=COMPUTED, example="my-run", expected="a name for the results' folder")
    description: ClassVar[str | None] = schema.text(default=None, example="What the games are to show.")
    game: str = schema.choice(GAMES, default=DEFAULT_GAME, example="othello")
    seed: int = schema.whole(0, MAX_SEED, default=1, example=2)
    openings: str = schema.text(default=COMPUTED, example="openings.epd", expected="an opening suite's name or file")
    rules: Rules = schema.table(RULES)
    adjudication: Adjudication = schema.table(ADJUDICATION)
    stop_after_faults: int = schema.whole(0, MAX_PAIRS, default=STOP_AFTER_FAULTS, example=0, unit="games")
    """Number of games in a row that a player may lose by faults before the run stops; 0 for any number."""
    source: str
    """The TOML file that the specification was read from."""


RUN = schema.declare(CATALOGUE, "run", "run", RunSpec)


@dataclass(frozen=True, kw_only=True)
class TournamentSpec(RunSpec):
    """Everything that decides the games of a tournament."""

    format: str
    """The tournament format, such as a round robin, as a key of ``arena.schedule.FORMATS``."""
    players: tuple[PlayerSpec, ...]
    pairs: int = schema.whole(1, MAX_PAIRS, default=COMPUTED, example=50, unit="pairs")
    """Colour-swapped pairs of games for each pairing of two players, over all rounds; the maximum for a sequential
    test.

    Swiss: pairs of one player over all rounds. Knockout: pairs of one encounter. 0 (sequential tests only) means as
    many as there are openings.
    """
    rounds: int = schema.whole(1, MAX_PAIRS, default=COMPUTED, value=1, example=5)
    """Number of rounds of a round robin, a gauntlet or a Swiss tournament; ``pairs`` is a multiple of it."""
    limit: ClassVar[str] = schema.text(default=COMPUTED, example="clock=10+0.1", expected=GRAMMAR)
    ponder: ClassVar[bool] = schema.switch()
    engines: ClassVar[str] = schema.text(default=COMPUTED, example="engines.toml", expected="the file of your engines")
    opening_start: int = schema.whole(0, MAX_PAIRS, default=0, example=100)
    """Index, from 0, of the first pair's opening in the suite, counted after ``opening_order`` was applied."""
    opening_part: str = schema.choice(OPENING_PARTS, default=COMPUTED, value="all", example="all")
    """Part of the suite to use: ``tournament`` or ``validation``, which are two fixed halves, or ``all``."""
    opening_order: str = schema.choice(OPENING_ORDERS, default=OPENING_ORDERS[0], example="sequential")
    opening_plies: int = schema.whole(0, MAX_PLIES, default=0, example=8, unit="plies")
    """Number of plies to play from each game of a PGN suite; 0 for all."""
    opening_reuse: bool = schema.switch()
    """Whether further pairs play the openings again, in the same order, if there are fewer openings than pairs; only on
    a clock, where games differ."""
    gauntlet_players: int = schema.whole(1, MAX_PAIRS, default=1, example=2)
    """Gauntlet: the number of leading players in the list that play against all others."""
    seeding: str = schema.choice(SEEDINGS, default=SEEDINGS[0], example="random")
    """Swiss and knockout: how players are seeded, as an entry of ``SEEDINGS``."""
    repeats: bool = schema.switch()
    """Swiss: whether players may meet again if it is unavoidable; the number of rounds is then unlimited."""
    tiebreak_pairs: int = schema.whole(0, MAX_PAIRS, default=3, example=5, unit="pairs")
    """Knockout: maximum number of sudden-death pairs of a tied encounter; 0 in other formats."""
    tiebreak: str = schema.choice(TIEBREAKS, default=TIEBREAKS[0], example="coin")
    third_place: bool = schema.switch()
    """Knockout: whether the losers of the semi-finals play for third place."""
    search_statistics: SearchStatisticsSettings | None = schema.key(
        schema.TABLE, schema.SWITCH, schema=SEARCH_STATISTICS, default=COMPUTED, value=None, example=True
    )
    """Settings of the search statistics of built-in players; ``None`` for none. Statistics do not affect the games."""
    sprt: SequentialSettings | None = schema.table(SPRT, value=None)
    """The sequential test that ends a match of format ``sprt``; ``None`` in other formats."""
    anchors: tuple[tuple[str, float], ...] = schema.table(ANCHORS, value=(), example={"default": 2500})
    """Names of players with their given ratings in Elo; the ratings of other players are relative to these."""
    command: tuple[str, ...] = ()
    """Words after ``elolab`` of the command that started or last resumed the tournament; empty if Python code did."""

    @functools.cached_property
    def conditions(self) -> GameConditions:
        """Game, rules, adjudication, random seed and search statistics, which all games of the tournament share."""
        return GameConditions(self.game, self.rules, self.adjudication, self.seed, self.search_statistics)

    @property
    def pairs_of_encounter(self) -> int:
        """Number of game pairs that two players play in one round."""
        return self.pairs // self.rounds

    def player(self, name: str) -> PlayerSpec:
        """The specification of the player with this name."""
        return next(player for player in self.players if player.name == name)

    @property
    def command_line(self) -> str:
        """The command line that plays the tournament, quoted for a shell."""
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
