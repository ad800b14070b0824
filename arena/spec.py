"""Strict reading of tournaments from TOML, or from the options of a command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any

from elolab.arena.engines_file import beside_or_here, engines_file
from elolab.arena.formats.tournament_format import Format
from elolab.arena.keys.tournament import TOURNAMENT
from elolab.arena.player_spec import MAX_NAME_LENGTH, PlayerReader, read_limits, read_players
from elolab.arena.players.detect import ProtocolFinder
from elolab.arena.records import PlayerSpec
from elolab.arena.schedule import DEFAULT_FORMAT, FORMATS
from elolab.arena.sequential import MIN_GAP, SequentialSettings
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError, argument
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.configuration import ConfigurationError, Table, nearest, read_toml

MIN_PLAYERS_FOR_THIRD_PLACE = 4


def load_tournament(path: Path) -> TournamentSpec:
    """Read a tournament's TOML file. Raises ``UserError`` with one line for the first mistake."""
    return spec_from_mapping(read_toml(path), str(path))


def spec_from_mapping(data: Mapping[str, Any], where: str, finder: ProtocolFinder | None = None) -> TournamentSpec:
    """Read a tournament from plain data; ``where`` is its file, which names it unless the key ``name`` does.

    ``finder`` detects the protocol of programs that give none. Raises ``UserError`` with one line for the first
    mistake.
    """
    table = Table(data, where, TOURNAMENT, kind="tournaments")
    game = table.choice("game")
    kind = table.choice("format")
    chosen = FORMATS[kind]
    _check_keys_of_format(table, kind, chosen)
    pairs = 0 if chosen.may_take_all_openings and "pairs" not in table else table.whole("pairs")
    players = _players(table, game, finder or ProtocolFinder())
    if chosen.players not in (None, len(players)):
        raise table.error("format", f"{DEFAULT_FORMAT!r} for {len(players)} players, or two players")
    rounds = _read_rounds(table, chosen, len(players))
    openings = table.text("openings", game, "an opening suite's name or file")
    return TournamentSpec(
        name=_folder_name(table, PurePath(where).stem),
        game=game,
        format=kind,
        players=players,
        pairs=pairs * rounds,
        seed=table.whole("seed"),
        openings=beside_or_here(openings, where),
        opening_start=table.whole("opening_start"),
        rules=read_rules(table),
        adjudication=read_adjudication(table, game),
        source=where,
        rounds=rounds,
        opening_part=table.choice("opening_part", default_part(game, openings)),
        opening_order=table.choice("opening_order"),
        opening_plies=table.whole("opening_plies"),
        search_statistics=read_search_statistics(table),
        sprt=_read_sprt(table, chosen.is_sequential),
        anchors=_read_anchors(table, players),
        **_read_keys_of_format(table, chosen, len(players)),
    )


def _check_keys_of_format(table: Table, kind: str, chosen: Format) -> None:
    """Raise ``ConfigurationError`` for a key that only other formats have."""
    if table.value("rounds", 1) != 1 and not chosen.has_rounds:
        raise table.error("rounds", f"no such key for format = {kind!r}; give more pairs")
    for key in dict.fromkeys(key for other in FORMATS.values() for key in other.keys):
        if key in table and key not in chosen.keys:
            owners = " or ".join(repr(name) for name, other in FORMATS.items() if key in other.keys)
            raise ConfigurationError(
                f"{table.where}: {key} is a key of format = {owners}, not of {kind!r}; leave it out"
            )


def _read_rounds(table: Table, chosen: Format, players: int) -> int:
    rounds = table.whole("rounds", chosen.default_rounds(players))
    most = chosen.most_rounds(players)
    if most is not None and rounds > most and table.value("repeats", False) is not True:
        raise table.error(
            "rounds",
            f"at most {most} for {players} players, of whom no two meet twice; or add repeats = true",
        )
    return rounds


def _read_keys_of_format(table: Table, chosen: Format, players: int) -> dict[str, Any]:
    """Read the keys that are specific to the chosen format."""
    read: dict[str, Callable[[str], Any]] = {
        "gauntlet_players": lambda key: table.whole(key, high=players - 1),
        "seeding": table.choice,
        "repeats": table.switch,
        "tiebreak_pairs": table.whole,
        "tiebreak": table.choice,
        "third_place": table.switch,
    }
    values = {key: read[key](key) for key in chosen.keys}
    if values.get("third_place") and players < MIN_PLAYERS_FOR_THIRD_PLACE:
        raise table.error("third_place", f"false for {players} players; two semi-finals need four")
    return values


def _read_sprt(table: Table, is_sequential: bool) -> SequentialSettings | None:
    """Read the table ``[sprt]`` over the defaults, for a format with a sequential test."""
    if not is_sequential:
        if "sprt" in table:
            raise table.error("sprt", 'no such table without format = "sprt"')
        return None
    section = table.table("sprt")
    settings = SequentialSettings(
        elo0=section.number("elo0"),
        elo1=section.number("elo1"),
        alpha=section.number("alpha"),
        beta=section.number("beta"),
        model=section.choice("model"),
        batch_pairs=section.whole("batch_pairs"),
    )
    if settings.elo1 - settings.elo0 < MIN_GAP:
        raise section.error("elo1" if "elo1" in section else "elo0", f"elo0 ({settings.elo0:g}) below elo1 "
                            f"({settings.elo1:g}), by {MIN_GAP:g} or more")  # fmt: skip
    return settings


def _read_anchors(table: Table, players: Sequence[PlayerSpec]) -> tuple[tuple[str, float], ...]:
    """Read the table ``[anchors]``: names of players and their Elo."""
    names = [player.name for player in players]
    section = table.table("anchors", names)
    return tuple((name, section.number(name)) for name in names if name in section)


def default_part(game: str, openings: str) -> str:
    """The default part of a suite: its tournament half for the game's shipped suite, all of any other."""
    return "tournament" if PurePath(openings).name.partition(".")[0] == default_suite(game) else "all"


def default_suite(game: str) -> str:
    """The name of the opening suite that ships for a game."""
    return game


def read_rules(table: Table) -> Rules:
    """Read the table ``[rules]`` over the defaults."""
    rules = table.table("rules")
    return Rules(
        repetition=rules.choice("repetition"),
        fold=rules.choice("fold"),
        move_limit=rules.whole("move_limit"),
        insufficient=rules.switch("insufficient"),
    )


def read_adjudication(table: Table, game: str) -> Adjudication:
    """Read the table ``[adjudication]`` over the game's defaults."""
    from elolab.engine.games import GAMES, game_named

    section = table.table("adjudication")
    contract = game_named(game)
    default = contract.adjudication
    if not contract.score_unit and section.value("solved_empties", 0) != 0:
        able = " and ".join(name for name in GAMES if game_named(name).score_unit)
        raise section.error("solved_empties", f"0 in {game}, whose endgames cannot be solved; the key is for {able}")
    return Adjudication(**{name: section.whole(name, value) for name, value in asdict(default).items()})


def read_search_statistics(table: Table) -> SearchStatisticsSettings | None:
    """Read the table ``[search_statistics]`` (an empty one switches them on), or ``search_statistics = true``.

    ``instruments`` is an older name for it.
    """
    key = "instruments" if "instruments" in table else "search_statistics"
    switch = table.value(key, False)
    if isinstance(switch, bool):
        return SearchStatisticsSettings() if switch else None
    if not isinstance(switch, Mapping):
        raise table.error(key, f"true, false or a table [{key}]")
    section = table.table(key)
    return SearchStatisticsSettings(section.whole("null_cutoff_interval"), section.whole("null_cutoff_nodes"))


def _folder_name(table: Table, default: str) -> str:
    name = table.text("name", default, "a name for the results' folder")
    if not re.fullmatch(r"[\w.+ -]+", name) or name.startswith(".") or len(name) > MAX_NAME_LENGTH:
        raise table.error("name", f"at most {MAX_NAME_LENGTH} letters, digits, '-', '_', '+', '.' or spaces")
    return name


def _players(table: Table, game: str, finder: ProtocolFinder) -> tuple[PlayerSpec, ...]:
    folder = Path(table.where).parent
    reader = PlayerReader(
        game,
        read_limits(table) if "limit" in table else None,
        table.switch("ponder"),
        folder,
        engines_file(table.text("engines", None, "the file of your engines"), folder),
        finder,
    )
    return read_players(table.array("players", "at least two [[players]]"), table.where, reader)


def with_anchors(spec: TournamentSpec, anchors: Sequence[tuple[str, float]]) -> TournamentSpec:
    """Add given ratings to a tournament; raises ``UserError`` if a player does not exist."""
    names = [player.name for player in spec.players]
    for name, _ in anchors:
        if name not in names:
            listed = ", ".join(repr(other) for other in names)
            raise UserError(
                f"{argument('anchor', repr(name))}: no such player{nearest(name, names)}", f"expected one of {listed}"
            )
    merged = dict(spec.anchors) | dict(anchors)
    return replace(spec, anchors=tuple((name, merged[name]) for name in names if name in merged))
