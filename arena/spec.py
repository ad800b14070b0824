"""Tournaments read strictly from TOML, or from what a command line says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from arena.figures.statistics import SPRT_MODELS
from arena.formats.contract import Format
from arena.formats.encounters import SEEDINGS
from arena.formats.knockout import TIEBREAKS
from arena.players.registry import (
    DEFAULT_PROTOCOL,
    EXPECTED_PROTOCOLS,
    PROTOCOLS,
    Protocol,
    check_player,
    protocol_named,
    protocols,
)
from arena.records import BUILTIN, PlayerSpec
from arena.schedule import DEFAULT_FORMAT, FORMATS
from arena.sequential import MAX_HYPOTHESIS, SequentialSettings
from arena.tournament_spec import TournamentSpec
from engine.errors import UserError
from engine.rules import MAX_PLIES, REPETITION_RULES, Adjudication, Rules
from engine.search_statistics import SearchStatisticsSettings
from engine.settings.configuration import ConfigurationError, Table, find_config, nearest, read_toml
from engine.settings.limits import GRAMMAR, OWN_LEVEL, Limits
from engine.settings.parameters import by_own_names, resolve
from engine.settings.presets import load_preset, preset_name

OPENING_PARTS = ("tournament", "validation", "all")
OPENING_ORDERS = ("random", "sequential")

MAX_PAIRS = 1_000_000
MAX_SEED = 2**63 - 1
MAX_SCORE = 30_000
MAX_SOLVED_EMPTIES = 24
"""Beyond, hardly any position is solved within ``engine.play.SOLVING_NODES``."""
MAX_NAME_LENGTH = 60
MAX_INTERVAL = 10**9
DEFAULT_TIEBREAK_PAIRS = 3
MIN_PLAYERS_FOR_THIRD_PLACE = 4
MAX_RATING = 10_000
"""Elo of an anchor, either way."""
ERROR_PROBABILITIES = (0.000001, 0.499999)
"""Least and greatest probability of an error of a sequential test."""

TOURNAMENT_KEYS = (
    "name", "description", "game", "format", "pairs", "rounds", "seed", "limit", "openings", "opening_start",
    "opening_part", "opening_order", "opening_plies", "ponder", "rules", "adjudication", "search_statistics",
    "instruments", "gauntlet_players", "seeding", "repeats", "tiebreak_pairs", "tiebreak", "third_place",
    "sprt", "anchors", "players",
)  # fmt: skip
RULES_KEYS = ("repetition", "fold", "move_limit", "insufficient")
ADJUDICATION_KEYS = (
    "resign_score", "resign_moves", "draw_score", "draw_moves", "draw_after_ply", "maximum_plies",
    "solved_empties",
)  # fmt: skip
SPRT_KEYS = ("elo0", "elo1", "alpha", "beta", "model", "batch_pairs")
SEARCH_STATISTICS_KEYS = ("null_cutoff_interval", "null_cutoff_nodes")
PLAYER_KEYS = ("name", "protocol", "limit", "ponder")
"""Keys of any table [[players]]; its protocol has more."""
EXTERNAL_KEYS = ("command", "directory", "start_timeout", "margin", "watchdog", "restart")
"""Keys of players that are programs."""


def keys_of(protocol: Protocol) -> tuple[str, ...]:
    """What a table [[players]] of the protocol may hold."""
    return (*PLAYER_KEYS, *(EXTERNAL_KEYS if protocol.is_external else ()), *protocol.keys)


def load_tournament(path: Path) -> TournamentSpec:
    """Read a tournament's TOML file. Raises ``UserError`` with one line for the first mistake."""
    return spec_from_mapping(read_toml(path), str(path))


def spec_from_mapping(data: Mapping[str, Any], where: str) -> TournamentSpec:
    """Check a tournament's plain data; ``where`` is its file, which names it unless ``name`` does.

    Raises ``UserError`` with one line for the first mistake.
    """
    table = Table(data, where, TOURNAMENT_KEYS)
    game = _game(table)
    kind = table.choice("format", tuple(FORMATS), DEFAULT_FORMAT)
    chosen = FORMATS[kind]
    _check_keys_of_format(table, kind, chosen)
    pairs = 0 if chosen.may_take_all_openings and "pairs" not in table else table.whole("pairs", 1, MAX_PAIRS)
    players = _players(table, game)
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
        seed=table.whole("seed", 0, MAX_SEED, 1),
        openings=_openings_file(openings, where),
        opening_start=table.whole("opening_start", 0, MAX_PAIRS, 0),
        rules=read_rules(table),
        adjudication=read_adjudication(table, game),
        source=where,
        rounds=rounds,
        opening_part=table.choice("opening_part", OPENING_PARTS, default_part(game, openings)),
        opening_order=table.choice("opening_order", OPENING_ORDERS, OPENING_ORDERS[0]),
        opening_plies=table.whole("opening_plies", 0, MAX_PLIES, 0),
        search_statistics=read_search_statistics(table),
        sprt=_read_sprt(table, kind, chosen.is_sequential),
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
    rounds = table.whole("rounds", 1, MAX_PAIRS, chosen.default_rounds(players))
    most = chosen.most_rounds(players)
    if most is not None and rounds > most and table.value("repeats", False) is not True:
        raise table.error(
            "rounds",
            f"at most {most} for {players} players, of whom no two meet twice; or add repeats = true",
        )
    return rounds


def _read_keys_of_format(table: Table, chosen: Format, players: int) -> dict[str, Any]:
    """The keys that only some formats have, as far as the chosen one has them."""
    read = {
        "gauntlet_players": lambda key: table.whole(key, 1, players - 1, 1),
        "seeding": lambda key: table.choice(key, SEEDINGS, SEEDINGS[0]),
        "repeats": lambda key: table.switch(key, False),
        "tiebreak_pairs": lambda key: table.whole(key, 0, MAX_PAIRS, DEFAULT_TIEBREAK_PAIRS),
        "tiebreak": lambda key: table.choice(key, TIEBREAKS, TIEBREAKS[0]),
        "third_place": lambda key: table.switch(key, False),
    }
    values = {key: read[key](key) for key in chosen.keys}
    if values.get("third_place") and players < MIN_PLAYERS_FOR_THIRD_PLACE:
        raise table.error("third_place", f"false for {players} players; two semi-finals need four")
    return values


def _read_sprt(table: Table, kind: str, is_sequential: bool) -> SequentialSettings | None:
    """The table ``[sprt]`` over the defaults, for a format with such a test."""
    if not is_sequential:
        if "sprt" in table:
            raise table.error("sprt", 'no such table without format = "sprt"')
        return None
    section = table.table("sprt", SPRT_KEYS)
    default = SequentialSettings()
    settings = SequentialSettings(
        elo0=section.number("elo0", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, default.elo0, "Elo"),
        elo1=section.number("elo1", -MAX_HYPOTHESIS, MAX_HYPOTHESIS, default.elo1, "Elo"),
        alpha=section.number("alpha", *ERROR_PROBABILITIES, default.alpha),
        beta=section.number("beta", *ERROR_PROBABILITIES, default.beta),
        model=section.choice("model", SPRT_MODELS, default.model),
        batch_pairs=section.whole("batch_pairs", 1, MAX_PAIRS, default.batch_pairs),
    )
    if settings.elo0 >= settings.elo1:
        raise section.error("elo1" if "elo1" in section else "elo0", f"elo0 ({settings.elo0:g}) below elo1 "
                            f"({settings.elo1:g})")  # fmt: skip
    return settings


def _read_anchors(table: Table, players: Sequence[PlayerSpec]) -> tuple[tuple[str, float], ...]:
    """The table ``[anchors]``: names of players and their Elo."""
    names = [player.name for player in players]
    section = table.table("anchors", names)
    return tuple(
        (name, section.number(name, -MAX_RATING, MAX_RATING, unit="Elo")) for name in names if name in section
    )


def default_part(game: str, openings: str) -> str:
    """The half meant for tournaments of the game's shipped suite, the whole of any other."""
    return "tournament" if PurePath(openings).name.partition(".")[0] == default_suite(game) else "all"


def default_suite(game: str) -> str:
    """The name of the opening suite that ships for a game."""
    return game


def read_rules(table: Table) -> Rules:
    """The table ``[rules]`` over the defaults."""
    rules = table.table("rules", RULES_KEYS)
    default = Rules()
    return Rules(
        repetition=rules.choice("repetition", REPETITION_RULES, default.repetition),
        fold=rules.choice("fold", (3, 4), default.fold),
        move_limit=rules.whole("move_limit", 0, MAX_PLIES, default.move_limit),
        insufficient=rules.switch("insufficient", default.insufficient),
    )


def read_adjudication(table: Table, game: str) -> Adjudication:
    """The table ``[adjudication]`` over the game's defaults."""
    from engine.games import GAMES, game_named

    section = table.table("adjudication", ADJUDICATION_KEYS)
    contract = game_named(game)
    default = contract.adjudication
    if not contract.score_unit and section.whole("solved_empties", 0, MAX_PLIES, 0):
        able = " and ".join(name for name in GAMES if game_named(name).score_unit)
        raise section.error("solved_empties", f"0 in {game}, whose endgames cannot be solved; the key is for {able}")
    return Adjudication(
        resign_score=section.whole("resign_score", 1, MAX_SCORE, default.resign_score),
        resign_moves=section.whole("resign_moves", 0, MAX_PLIES, default.resign_moves),
        draw_score=section.whole("draw_score", 0, MAX_SCORE, default.draw_score),
        draw_moves=section.whole("draw_moves", 0, MAX_PLIES, default.draw_moves),
        draw_after_ply=section.whole("draw_after_ply", 0, MAX_PLIES, default.draw_after_ply),
        maximum_plies=section.whole("maximum_plies", 0, MAX_PLIES, default.maximum_plies),
        solved_empties=section.whole("solved_empties", 0, MAX_SOLVED_EMPTIES, default.solved_empties),
    )


def read_search_statistics(table: Table) -> SearchStatisticsSettings | None:
    """The table ``[search_statistics]`` (an empty one switches them on), or ``search_statistics = true``.

    ``instruments`` is an older name of the same.
    """
    key = "instruments" if "instruments" in table else "search_statistics"
    switch = table.value(key, False)
    if isinstance(switch, bool):
        return SearchStatisticsSettings() if switch else None
    if not isinstance(switch, Mapping):
        raise table.error(key, f"true, false or a table [{key}]")
    section = table.table(key, SEARCH_STATISTICS_KEYS)
    default = SearchStatisticsSettings()
    return SearchStatisticsSettings(
        section.whole("null_cutoff_interval", 0, MAX_INTERVAL, default.null_cutoff_interval),
        section.whole("null_cutoff_nodes", 1, MAX_INTERVAL, default.null_cutoff_nodes),
    )


def _game(table: Table) -> str:
    from engine.games import GAMES

    return table.choice("game", GAMES, "xiangqi")


def _folder_name(table: Table, default: str) -> str:
    name = table.text("name", default, "a name for the results' folder")
    if not re.fullmatch(r"[\w.+ -]+", name) or name.startswith(".") or len(name) > MAX_NAME_LENGTH:
        raise table.error("name", f"at most {MAX_NAME_LENGTH} letters, digits, '-', '_', '+', '.' or spaces")
    return name


def _openings_file(openings: str, where: str) -> str:
    """The suite's name, or the path of a suite that lies beside the specification."""
    beside = Path(where).parent
    if not Path(openings).is_file() and (beside / openings).is_file():
        return str(beside / openings)
    return openings


def _players(table: Table, game: str) -> tuple[PlayerSpec, ...]:
    default_limit = None
    if "limit" in table:
        default_limit = _limits(table)
    ponder = table.switch("ponder", False)
    entries = table.array("players", "at least two [[players]]")
    players: list[PlayerSpec] = []
    for index, entry in enumerate(entries):
        where = f"{table.where}: player {index + 1}"
        player = _player(entry, where, game, default_limit, ponder, Path(table.where).parent)
        if any(player.name == other.name for other in players):
            raise ConfigurationError(f"{where}: name = {player.name!r} is taken; give the player another name")
        players.append(player)
    if len(players) < 2:
        raise ConfigurationError(f"{table.where}: one player ({players[0].name}), expected at least two [[players]]")
    _check_pondering(players, table.where)
    return tuple(players)


def _check_pondering(players: Sequence[PlayerSpec], where: str) -> None:
    """Raise ``ConfigurationError`` unless everyone who ponders can tell how long the opponent's move takes."""
    for player in players:
        if not player.ponder:
            continue
        limits = player.limits
        place = f"{where}: player {player.name!r}: ponder = true, but its limit {str(limits)!r}"
        if not limits.is_timed:
            raise ConfigurationError(f"{place} has no time; give it a clock or a move_time, or leave ponder out")
        for other in players:
            kind = other.limits.clock_kind if other.limits.is_timed else "no"
            if limits.clock_kind != "wall" and kind != limits.clock_kind:
                raise ConfigurationError(
                    f"{place} is on the {limits.clock_kind} clock and {other.name!r} plays on {kind} clock; put all "
                    "players on that clock, or leave ponder out"
                )


def read_player(entry: Mapping[str, Any], where: str, game: str, limits: Limits) -> PlayerSpec:
    """A player from the keys of a table [[players]]; ``limits`` are its own unless it names others.

    Raises ``UserError`` with one line for the first mistake.
    """
    return _player(entry, where, game, limits, False, Path(where.partition(":")[0]).parent)


def _player(
    entry: object, where: str, game: str, default_limit: Limits | None, default_ponder: bool, beside: Path
) -> PlayerSpec:
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f"{where}: {entry!r} is not a table; expected [[players]]")
    if isinstance(entry.get("name"), str):
        where = f"{where} ({entry['name']})"
    name = entry.get("protocol", DEFAULT_PROTOCOL)
    if name not in PROTOCOLS:
        expected = EXPECTED_PROTOCOLS + nearest(str(name), PROTOCOLS)
        raise ConfigurationError(f"{where}: protocol = {name!r}, expected {expected}")
    protocol = protocol_named(name)
    _refuse_keys_of_another_kind(entry, where, protocol)
    table = Table(entry, where, keys_of(protocol))
    if "limit" not in table and default_limit is None:
        raise ConfigurationError(f"{where}: no limit, neither here nor for all players; expected limit = {GRAMMAR!r}")
    limits = _limits(table, protocol) if "limit" in table else default_limit
    assert limits is not None
    ponder = table.switch("ponder", default_ponder)
    if not protocol.is_external:
        return replace(_builtin_player(table, game, limits, beside), ponder=ponder)
    player = replace(_external_player(table, protocol, limits), ponder=ponder)
    check_player(player, game, table.where)
    return player


def _refuse_keys_of_another_kind(entry: Mapping[str, Any], where: str, protocol: Protocol) -> None:
    for key in entry:
        owners = [other for other in protocols() if key in keys_of(other)]
        if not owners or protocol in owners:
            continue
        if not protocol.is_external:
            remedy = f'add protocol = "{owners[0].name}" or remove it'
            raise ConfigurationError(f"{where}: {key} is a key of an external engine; {remedy}")
        names = [owner.name for owner in owners]
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        kind = f"engines over {listed}" if owners[0].is_external else owners[0].title
        raise ConfigurationError(
            f"{where}: {key} is a key of {kind}; external engines over {protocol.name} take {protocol.remedy}"
        )


def _limits(table: Table, protocol: Protocol | None = None) -> Limits:
    text = table.text("limit", expected=GRAMMAR)
    if text == OWN_LEVEL:
        if protocol is not None and protocol.has_own_level:
            return Limits()
        able = " or ".join(other.title for other in protocols() if other.has_own_level)
        raise table.error("limit", f"{GRAMMAR}; only players over {able} can have their own level")
    try:
        return Limits.parse(text)
    except UserError as error:
        raise ConfigurationError(f"{table.where}: {error}") from None


def player_entry(name_or_path: str, game: str, limits: Limits) -> dict[str, Any]:
    """What a table [[players]] would hold for a player that a command line names.

    It is a preset's name, or a TOML file: a preset (with a section a game), what a table [[players]] holds, or merely
    settings. ``limits`` are for a player without its own. Raises ``ConfigurationError`` naming the file.
    """
    from engine.games import GAMES

    path = find_config("engines", name_or_path)
    data = read_toml(path)
    name = preset_name(name_or_path)
    if any(section in data for section in GAMES):
        return {"name": name, "preset": name_or_path}
    entry = {key: value for key, value in data.items() if key != "description"}
    if not any(key in keys_of(protocol) for key in entry for protocol in protocols()):
        entry = {"set": entry}
    entry = {"name": name, **entry}
    _player(entry, str(path), game, limits, False, path.parent)
    if "preset" in entry:
        entry["preset"] = str(find_config("engines", entry["preset"], path.parent))
    return entry


def with_anchors(spec: TournamentSpec, anchors: Sequence[tuple[str, float]]) -> TournamentSpec:
    """The tournament with more ratings given; raises ``UserError`` if it has no such player."""
    names = [player.name for player in spec.players]
    for name, _ in anchors:
        if name not in names:
            listed = ", ".join(repr(other) for other in names)
            raise UserError(f"--anchor {name!r}: no such player{nearest(name, names)}; expected one of {listed}")
    merged = dict(spec.anchors) | dict(anchors)
    return replace(spec, anchors=tuple((name, merged[name]) for name in names if name in merged))


def _player_name(table: Table, default: str) -> str:
    name = table.text("name", default)
    if not name.isprintable() or '"' in name or name != name.strip() or len(name) > MAX_NAME_LENGTH:
        raise table.error("name", f"at most {MAX_NAME_LENGTH} printable characters without quotation marks")
    return name


def _builtin_player(table: Table, game: str, limits: Limits, beside: Path) -> PlayerSpec:
    preset = table.text("preset", "default")
    try:
        overrides = load_preset(preset, game, beside)
    except ConfigurationError as error:
        raise ConfigurationError(f"{table.where}: {error}") from None
    overrides |= by_own_names(table.mapping("set"), table.where)
    parameters = resolve(overrides, table.where, game)
    name = _player_name(table, preset_name(preset))
    return PlayerSpec(name, BUILTIN, limits, parameters=tuple(parameters.items()))


def _external_player(table: Table, protocol: Protocol, limits: Limits) -> PlayerSpec:
    command = _command(table)
    directory = table.text("directory", None, "a folder")
    if directory is not None and not Path(directory).is_dir():
        raise table.error("directory", "an existing folder")
    player = PlayerSpec(
        _player_name(table, PurePath(command[0]).name),
        protocol.name,
        limits,
        command=command,
        directory=directory,
        start_timeout_ms=round(1000 * table.number("start_timeout", 0.1, 3600, 10, "seconds")),
        margin_ms=round(1000 * table.number("margin", 0, 3600, 0.1, "seconds")),
        watchdog_ms=round(1000 * table.number("watchdog", 0.1, 86_400, 60, "seconds")),
        restart=table.choice("restart", ("on_fault", "always"), "on_fault"),
    )
    return replace(player, **protocol.read(table))


def _command(table: Table) -> tuple[str, ...]:
    expected = "the engine's program and arguments, a text or a list of texts"
    command = table.value("command", expected=expected)
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise table.error("command", f"{expected} ({error})") from None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) and word for word in command):
        raise table.error("command", expected)
    return tuple(command)
