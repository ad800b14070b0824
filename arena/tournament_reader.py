"""Reads and checks tournaments, from TOML files or from the options of a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any

from elolab.arena.formats.tournament_format import Format
from elolab.arena.keys.engines_file import beside_or_here, engines_file
from elolab.arena.keys.player import ANY_PLAYER
from elolab.arena.player_spec import MAX_NAME_LENGTH, PlayerReader, read_limits, read_players
from elolab.arena.players.detect import ProtocolFinder
from elolab.arena.records import PlayerSpec
from elolab.arena.schedule import DEFAULT_FORMAT, FORMATS
from elolab.arena.sequential import MIN_GAP, SequentialSettings
from elolab.arena.tournament_spec import CATALOGUE, RUN, TournamentSpec
from elolab.engine.errors import UserError, argument
from elolab.engine.games import GAMES, game_named
from elolab.engine.games.tablebases import open_tablebases
from elolab.engine.rules import REPETITION_RULES, Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings import schema
from elolab.engine.settings.configuration import ConfigurationError, nearest, read_toml
from elolab.engine.settings.schema import Table

MIN_PLAYERS_FOR_THIRD_PLACE = 4

_FORMAT = schema.declare(
    CATALOGUE, "tournament", "format",
    format=schema.choice(tuple(FORMATS), default=DEFAULT_FORMAT, example="swiss"),
)  # fmt: skip
TOURNAMENT = schema.declare(
    CATALOGUE, "tournament", "tournament", RUN, _FORMAT, TournamentSpec,
    players=schema.tables(ANY_PLAYER, default=schema.REQUIRED, expected="at least two [[players]]"),
)  # fmt: skip
"""The keys of a tournament's TOML file, with their types and defaults."""


def load_tournament(path: Path) -> TournamentSpec:
    """Read a tournament's TOML file; raises ``UserError`` with one line for the first mistake."""
    return spec_from_mapping(read_toml(path), str(path))


def spec_from_mapping(data: Mapping[str, Any], where: str, finder: ProtocolFinder | None = None) -> TournamentSpec:
    """Read a tournament from plain data.

    ``where`` is the tournament's file, which gives the tournament its name if there is no key ``name``. ``finder``
    detects the protocol of players whose table has none. Raises ``UserError`` with one line for the first mistake.
    """
    table = Table(data, where, TOURNAMENT, kind="tournaments")
    game, kind = table["game"], table["format"]
    chosen = FORMATS[kind]
    _check_keys_of_format(table, kind, chosen)
    pairs = 0 if chosen.may_take_all_openings and "pairs" not in table else table["pairs"]
    players = _players(table, game, finder or ProtocolFinder())
    if chosen.players not in (None, len(players)):
        raise table.error("format", f"{DEFAULT_FORMAT!r} for {len(players)} players, or two players")
    rounds = _read_rounds(table, chosen, len(players))
    if table["third_place"] and len(players) < MIN_PLAYERS_FOR_THIRD_PLACE:
        raise table.error("third_place", f"false for {len(players)} players; two semi-finals need four")
    openings = table.get("openings", game)
    return table.read(
        TournamentSpec,
        name=folder_name(table, PurePath(where).stem),
        openings=beside_or_here(openings, where),
        rules=read_rules(table, game),
        adjudication=read_adjudication(table, game),
        source=where,
        players=players,
        pairs=pairs * rounds,
        rounds=rounds,
        opening_part=table.get("opening_part", default_part(game, openings)),
        gauntlet_players=table.get("gauntlet_players", 1, high=len(players) - 1),
        tiebreak_pairs=table["tiebreak_pairs"] if "tiebreak_pairs" in chosen.keys else 0,
        search_statistics=read_search_statistics(table),
        sprt=_read_sprt(table, chosen.is_sequential),
        anchors=_read_anchors(table, players),
    )


def _check_keys_of_format(table: Table, kind: str, chosen: Format) -> None:
    """Raise ``ConfigurationError`` if the table has a key that only formats other than ``chosen`` have.

    ``kind`` is the name of the chosen format.
    """
    if table.data.get("rounds", 1) != 1 and not chosen.has_rounds:
        raise table.error("rounds", f"none with format = {kind!r}", "give more pairs")
    for key in dict.fromkeys(key for other in FORMATS.values() for key in other.keys):
        if key in table and key not in chosen.keys:
            owners = " or ".join(repr(name) for name, other in FORMATS.items() if key in other.keys)
            raise ConfigurationError(
                f"{table.where}: {key} is a key of format = {owners}, not of {kind!r}", "leave it out"
            )


def _read_rounds(table: Table, chosen: Format, players: int) -> int:
    rounds: int = table.get("rounds", chosen.default_rounds(players))
    most = chosen.most_rounds(players)
    if most is not None and rounds > most and table.data.get("repeats") is not True:
        raise table.error(
            "rounds", f"at most {most} for {players} players, of whom no two meet twice", "or add repeats = true"
        )
    return rounds


def _read_sprt(table: Table, is_sequential: bool) -> SequentialSettings | None:
    """Read the table ``[sprt]``, with defaults for missing keys; ``None`` for formats without a sequential test.

    Raises ``ConfigurationError`` if such a format has the table, or if ``elo0`` is not below ``elo1``.
    """
    if not is_sequential:
        if "sprt" in table:
            raise table.error("sprt", 'none without format = "sprt"')
        return None
    settings: SequentialSettings = table["sprt"]
    if settings.elo1 - settings.elo0 < MIN_GAP:
        section = table.table("sprt")
        raise section.error("elo1" if "elo1" in section else "elo0", f"elo0 ({settings.elo0:g}) below elo1 "
                            f"({settings.elo1:g}), by {MIN_GAP:g} or more")  # fmt: skip
    return settings


def _read_anchors(table: Table, players: Sequence[PlayerSpec]) -> tuple[tuple[str, float], ...]:
    """Read the table ``[anchors]``: pairs of a player's name and its fixed Elo."""
    names = [player.name for player in players]
    section = table.table("anchors", names)
    return tuple((name, section[name]) for name in names if name in section)


def default_part(game: str, openings: str) -> str:
    """Default of ``opening_part``: ``tournament`` for the suite that elolab ships for the game, otherwise ``all``.

    ``openings`` is the path of the suite. Only its file name is compared.
    """
    return "tournament" if PurePath(openings).name.partition(".")[0] == game else "all"


def read_rules(table: Table, game: str) -> Rules:
    """Read the table ``[rules]``. Missing keys have the values of the game's standard rules.

    Raises ``ConfigurationError`` for a repetition rule that the game does not have.
    """
    section = table.table("rules")
    standard = asdict(game_named(game).standard_rules)
    if standard["repetition"] == "draw" and section.data.get("repetition") in REPETITION_RULES[1:]:
        raise section.error("repetition", f"'draw' in {game}, where every repetition is a draw", "leave the key out")
    return Rules(**{name: section.get(name, value) for name, value in standard.items()})


def read_adjudication(table: Table, game: str) -> Adjudication:
    """Read the table ``[adjudication]``. Missing keys have the game's defaults.

    Raises ``ConfigurationError`` for a key that does not apply to the game, and for unreadable tablebases.
    """
    section = table.table("adjudication")
    contract = game_named(game)
    if not contract.score_unit and section.data.get("solved_empties", 0) != 0:
        able = " and ".join(name for name in GAMES if game_named(name).score_unit)
        raise section.error("solved_empties", f"0 in {game}, whose endgames cannot be solved", f"the key is for {able}")
    if tablebases := section.data.get("tablebases"):
        if not contract.has_tablebases:
            raise section.error("tablebases", f"none in {game}", "the key is for chess")
        if isinstance(tablebases, str):
            try:
                open_tablebases(tablebases)
            except UserError as error:
                raise section.error("tablebases", f"folders with Syzygy tables; {error}") from None
    return Adjudication(**{name: section.get(name, value) for name, value in asdict(contract.adjudication).items()})


def read_search_statistics(table: Table) -> SearchStatisticsSettings | None:
    """Read the table ``[search_statistics]``, or the key ``search_statistics = true``; ``None`` if both are missing.

    An empty table also switches the statistics on. Raises ``ConfigurationError`` for another value.
    """
    given = table.get("search_statistics", False)
    if isinstance(given, bool):
        return SearchStatisticsSettings() if given else None
    if not isinstance(given, Mapping):
        raise table.error("search_statistics", "true, false or a table [search_statistics]")
    return table.table("search_statistics").read(SearchStatisticsSettings)


def folder_name(table: Table, default: str) -> str:
    """The value of the key ``name``, or else ``default``; raises ``ConfigurationError`` if it cannot name a folder."""
    name: str = table.get("name", default)
    if not re.fullmatch(r"[\w.+ -]+", name) or name.startswith(".") or len(name) > MAX_NAME_LENGTH:
        raise table.error("name", f"at most {MAX_NAME_LENGTH} letters, digits, '-', '_', '+', '.' or spaces")
    return name


def _players(table: Table, game: str, finder: ProtocolFinder) -> tuple[PlayerSpec, ...]:
    folder = Path(table.where).parent
    reader = PlayerReader(
        game,
        read_limits(table) if "limit" in table else None,
        table["ponder"],
        folder,
        engines_file(table.get("engines"), folder),
        finder,
    )
    return read_players(table["players"], table.where, reader)


def with_anchors(spec: TournamentSpec, anchors: Sequence[tuple[str, float]]) -> TournamentSpec:
    """Copy a specification and add ``anchors``: pairs of a player's name and its fixed Elo.

    An anchor in ``anchors`` replaces the player's anchor in ``spec``. Raises ``UserError`` for an unknown player.
    """
    names = [player.name for player in spec.players]
    for name, _ in anchors:
        if name not in names:
            listed = ", ".join(repr(other) for other in names)
            raise UserError(
                f"{argument('anchor', repr(name))}: no such player{nearest(name, names)}", f"expected one of {listed}"
            )
    merged = dict(spec.anchors) | dict(anchors)
    return replace(spec, anchors=tuple((name, merged[name]) for name in names if name in merged))
