"""The specification of a tournament: everything that can influence its games, and the keys of its file."""

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
"""Orders in which a tournament plays the openings: drawn from its random seed, or as in the suite's file."""
SEEDINGS = ("order", "random")
"""Ways to seed players: in the order of the file, or in an order drawn from the tournament's random seed."""
TIEBREAKS = ("seed", "coin")
"""Ways to decide an encounter that is still tied after sudden-death pairs: by the better seed, or by a random draw."""
MAX_RATING = 10_000
"""Largest absolute value of an anchor's rating in Elo."""

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
    """Common base of the specifications of tournaments, studies and ablations."""

    name: str = schema.text(default=COMPUTED, example="my-run", expected="a name for the results' folder")
    description: ClassVar[str | None] = schema.text(default=None, example="What the games are to show.")
    game: str = schema.choice(GAMES, default=DEFAULT_GAME, example="othello")
    seed: int = schema.whole(0, MAX_SEED, default=1, example=2)
    openings: str = schema.text(default=COMPUTED, example="openings.epd", expected="an opening suite's name or file")
    rules: Rules = schema.table(RULES)
    adjudication: Adjudication = schema.table(ADJUDICATION)
    stop_after_faults: int = schema.whole(0, MAX_PAIRS, default=STOP_AFTER_FAULTS, example=0, unit="games")
    """Number of consecutive games that a player may lose by faults before the run stops; 0 never stops."""
    source: str
    """The TOML file that the specification was read from."""


RUN = schema.declare(CATALOGUE, "run", "run", RunSpec)


@dataclass(frozen=True, kw_only=True)
class TournamentSpec(RunSpec):
    """Everything that can influence the games of a tournament."""

    format: str
    """The tournament format: a key of ``arena.schedule.FORMATS``, such as ``round_robin``."""
    players: tuple[PlayerSpec, ...]
    pairs: int = schema.whole(1, MAX_PAIRS, default=COMPUTED, example=50, unit="pairs")
    """Number of game pairs between any two players, over all rounds.

    Swiss: pairs of one player over all rounds. Knockout: pairs of one encounter. Sequential test: the maximum; 0 means
    as many as there are openings.
    """
    rounds: int = schema.whole(1, MAX_PAIRS, default=COMPUTED, value=1, example=5)
    """Number of rounds of a round robin, gauntlet or Swiss tournament; ``pairs`` is the total of all rounds."""
    limit: ClassVar[str] = schema.text(default=COMPUTED, example="clock=10+0.1", expected=GRAMMAR)
    ponder: ClassVar[bool] = schema.switch()
    engines: ClassVar[str] = schema.text(default=COMPUTED, example="engines.toml", expected="the file of your engines")
    opening_start: int = schema.whole(0, MAX_PAIRS, default=0, example=100)
    """Index, from 0, of the first pair's opening in the suite, after ``opening_order`` has been applied."""
    opening_part: str = schema.choice(OPENING_PARTS, default=COMPUTED, value="all", example="all")
    """Part of the suite: one of its two fixed halves, ``tournament`` or ``validation``, or ``all``."""
    opening_order: str = schema.choice(OPENING_ORDERS, default=OPENING_ORDERS[0], example="sequential")
    opening_plies: int = schema.whole(0, MAX_PLIES, default=0, example=8, unit="plies")
    """Number of plies to play from each game of a PGN suite; 0 for all plies."""
    opening_reuse: bool = schema.switch()
    """Whether the openings are repeated, in the same order, if there are more pairs than openings.

    Repeated openings require a clock, because players at fixed nodes or depth would repeat their games.
    """
    swap_colours: bool = schema.switch(default=True)
    """Whether the games of a pair have the same opening and swapped colours.

    Otherwise each game has its own opening, and the player listed first in the tournament moves first in both games.
    """
    gauntlet_players: int = schema.whole(1, MAX_PAIRS, default=1, example=2)
    """Gauntlet: number of players, from the start of the list, who play against all others."""
    seeding: str = schema.choice(SEEDINGS, default=SEEDINGS[0], example="random")
    """Swiss and knockout: how players are seeded, one of ``SEEDINGS``."""
    repeats: bool = schema.switch()
    """Swiss: whether players may meet again if it cannot be avoided. The number of rounds is then unlimited."""
    tiebreak_pairs: int = schema.whole(0, MAX_PAIRS, default=3, example=5, unit="pairs")
    """Knockout: maximum number of sudden-death pairs in a tied encounter; 0 in other formats."""
    tiebreak: str = schema.choice(TIEBREAKS, default=TIEBREAKS[0], example="coin")
    third_place: bool = schema.switch()
    """Knockout: whether the losers of the semi-finals play for third place."""
    search_statistics: SearchStatisticsSettings | None = schema.key(
        schema.TABLE, schema.SWITCH, schema=SEARCH_STATISTICS, default=COMPUTED, value=None, example=True
    )
    """Settings for counting built-in players' search events, which does not affect games; ``None`` counts none."""
    sprt: SequentialSettings | None = schema.table(SPRT, value=None)
    """The settings of the sequential test that ends a match of format ``sprt``; ``None`` in other formats."""
    anchors: tuple[tuple[str, float], ...] = schema.table(ANCHORS, value=(), example={"default": 2500})
    """Pairs of a player's name and its fixed rating in Elo. All other ratings are relative to these."""
    command: tuple[str, ...] = ()
    """Words after ``elolab`` of the command that started or last resumed the tournament; empty if there was none."""

    @functools.cached_property
    def conditions(self) -> GameConditions:
        """The conditions that all games share: game, rules, adjudication, random seed and search statistics."""
        return GameConditions(self.game, self.rules, self.adjudication, self.seed, self.search_statistics)

    @property
    def pairs_of_encounter(self) -> int:
        """Number of game pairs that two players play in one round."""
        return self.pairs // self.rounds

    @property
    def openings_per_pair(self) -> int:
        """Number of openings of a game pair: 1, or 2 if colours are not swapped."""
        return 1 if self.swap_colours else 2

    def player(self, name: str) -> PlayerSpec:
        """The specification of the player named ``name``."""
        return next(player for player in self.players if player.name == name)

    @property
    def command_line(self) -> str:
        """The command line that plays this tournament, quoted for a shell."""
        return shlex.join(("elolab", *self.words))

    @property
    def words(self) -> tuple[str, ...]:
        """The words of ``command_line`` after ``elolab``."""
        return self.command or ("tournament", specification_word("tournaments", self.source))

    def content(self) -> dict[str, Any]:
        """The specification as plain data that JSON can store; ``from_content`` reads it."""
        return asdict(self) | {"players": tuple(player.stored() for player in self.players)}

    @classmethod
    def from_content(cls, data: Mapping[str, Any]) -> TournamentSpec:
        """Create a specification from the result of ``content``, possibly from an older version."""
        fields = dict(data)
        fields["players"] = tuple(
            PlayerSpec.from_stored(player, protocol_named(player["protocol"]).keys) for player in data["players"]
        )
        fields["rules"] = Rules(**data["rules"])
        fields["adjudication"] = Adjudication(**data["adjudication"])
        # Older folders have "instruments".
        counting = fields.pop("instruments", None) or fields.get("search_statistics")
        fields["search_statistics"] = None if counting is None else SearchStatisticsSettings(**counting)
        if data.get("sprt") is not None:
            fields["sprt"] = SequentialSettings(**data["sprt"])
        fields["anchors"] = tuple((name, elo) for name, elo in data.get("anchors", ()))
        fields["command"] = tuple(data.get("command", ()))
        return cls(**fields)
