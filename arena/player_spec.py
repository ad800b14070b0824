"""Reads and checks players from ``[[players]]`` tables, from engines files and from single words of a command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from elolab.arena.builds.players import commit_build, with_commit, with_program
from elolab.arena.builds.repository import is_source
from elolab.arena.keys.engines_file import EnginesFile, engines_file
from elolab.arena.keys.player import ANY_PLAYER, DESCRIPTION, REFERENCE, SOURCE, command_of, keys_of
from elolab.arena.players.detect import DetectionError, ProtocolFinder
from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.players.registry import (
    DEFAULT_PROTOCOL,
    EXPECTED_PROTOCOLS,
    PROTOCOLS,
    Protocol,
    check_player,
    protocol_named,
    protocols,
)
from elolab.arena.records import BUILTIN, PlayerSpec
from elolab.engine.errors import UserError, argument
from elolab.engine.games import GAMES
from elolab.engine.settings.configuration import (
    ConfigurationError,
    available_configs,
    find_config,
    nearest,
    read_toml,
    refuse_other_kind,
)
from elolab.engine.settings.limits import GRAMMAR, OWN_LEVEL, Limits
from elolab.engine.settings.parameters import by_canonical_name, resolve
from elolab.engine.settings.presets import load_preset, preset_name
from elolab.engine.settings.schema import Table, entry_of_table, home_of
from elolab.engine.settings.toml_values import format_toml

MAX_NAME_LENGTH = 60
DEFAULT_LIMIT = Limits.parse("nodes=1000")
"""Search limit of players that specify none; ``default_limit`` chooses another if a protocol cannot express it."""

PLAYER_KINDS = (
    "a preset, a program (with its path, or installed), an engine of your file of engines, a git commit (REPO@REV), or "
    "a TOML file"
)
"""The kinds of players that a word on the command line may name; a phrase for error messages."""


@dataclass(frozen=True)
class PlayerReader:
    """Reads the ``[[players]]`` tables of one game."""

    game: str
    """Name of the game. Empty while the game is unknown; then only ``resolved`` and ``protocol_of`` may be called."""
    limits: Limits | None = None
    """Search limit of players whose table has no ``limit``; ``None`` if every table must have one."""
    ponder: bool = False
    """Default of the key ``ponder``: whether players think on the opponent's time."""
    folder: Path = Path()
    """Folder that is searched first for the presets that tables name."""
    engines: EnginesFile = field(default_factory=lambda: EnginesFile(None))
    """The engines that tables may refer to."""
    finder: ProtocolFinder = field(default_factory=ProtocolFinder)
    """Detects the protocol of programs whose table has no ``protocol``."""

    def read(self, entry: object, where: str) -> PlayerSpec:
        """Read the player that a ``[[players]]`` table describes; ``where`` names the table in error messages.

        Raises ``UserError`` with one line for the first mistake.
        """
        if not isinstance(entry, Mapping):
            raise ConfigurationError(f"{where}: {format_toml(entry)} is not a table", "expected [[players]]")
        entry = self.resolved(entry, where)
        if isinstance(entry.get("name"), str) and entry["name"].isprintable():
            where = f"{where} ({entry['name']})"
        protocol = self.protocol_of(entry, where)
        _refuse_keys_of_another_kind(entry, where, protocol)
        table = Table(entry, where, keys_of(protocol))
        if "limit" not in table and self.limits is None:
            raise ConfigurationError(
                f"{where}: no limit, neither here nor for all players", f"expected limit = {GRAMMAR!r}"
            )
        limits = read_limits(table, self.limits, own_level=protocol.has_own_level)
        ponder = table.get("ponder", self.ponder)
        if not protocol.is_external:
            return replace(_builtin_player(table, self.game, limits, self.folder), ponder=ponder)
        player = replace(_external_player(table, protocol, limits), ponder=ponder)
        check_player(player, self.game, table.where)
        return player

    def under_default_limit(self, entry: Mapping[str, Any], where: str, folder: Path = Path()) -> PlayerSpec:
        """Read a player as ``read`` does, but search ``folder`` for presets. ``where`` names the table in error
        messages.

        A player without any limit gets the default limit of its protocol.
        """
        reader, resolved = replace(self, folder=folder), self.resolved(entry, where)
        if self.limits is None and "limit" not in resolved:
            reader = replace(reader, limits=default_limit([self.protocol_of(resolved, where)]))
        return reader.read(entry, where)

    def resolved(self, entry: Mapping[str, Any], where: str) -> Mapping[str, Any]:
        """The complete table of a player: the engine that ``engine = ...`` refers to, overridden by the player's own
        keys.

        For a player with a ``source``, the git commit is built, and ``command`` and ``directory`` become paths in the
        built tree. ``where`` names the table in error messages.
        """
        if REFERENCE in entry:
            name = Table(entry, where, ANY_PLAYER, knows_all=False)[REFERENCE]
            own = {key: value for key, value in entry.items() if key != REFERENCE}
            entry = merged(self.engines.entry(name, where), own)
        return with_program(entry, where) if SOURCE in entry else entry

    def protocol_of(self, entry: Mapping[str, Any], where: str) -> Protocol:
        """The protocol of a player. If the table of a program names none, the program is started to detect it.

        ``where`` names the table in error messages. Raises ``UserError`` for an unknown or undetected protocol.
        """
        if "command" in entry and "protocol" not in entry:
            table = Table(entry, where, ANY_PLAYER, knows_all=False)
            seconds = table["start_timeout"]
            try:
                return self.finder.protocol_of(command_of(table), _directory(table), self.game or None, seconds)
            except DetectionError as error:
                raise DetectionError.at(where, error) from None
        name = entry.get("protocol", DEFAULT_PROTOCOL)
        if name not in PROTOCOLS:
            expected = EXPECTED_PROTOCOLS + nearest(str(name), PROTOCOLS)
            raise ConfigurationError(f"{where}: protocol = {format_toml(name)}, expected {expected}")
        return protocol_named(name)


def read_players(entries: Sequence[object], where: str, reader: PlayerReader) -> tuple[PlayerSpec, ...]:
    """Read the players of a tournament from the ``[[players]]`` tables ``entries``.

    ``where`` names the file in error messages. Raises ``UserError`` for the first mistake, such as equal names.
    """
    players: list[PlayerSpec] = []
    for index, entry in enumerate(entries):
        place = f"{where}: player {index + 1}"
        player = reader.read(entry, place)
        if any(player.name == other.name for other in players):
            raise ConfigurationError(f"{place}: name = {player.name!r} is taken", "give the player another name")
        players.append(player)
    if len(players) < 2:
        raise ConfigurationError(f"{where}: one player ({players[0].name}), expected at least two [[players]]")
    _check_pondering(players, where)
    return tuple(players)


def read_player(entry: Mapping[str, Any], where: str, game: str, limits: Limits) -> PlayerSpec:
    """Read one player from the keys of a ``[[players]]`` table; ``limits`` apply if the table has no ``limit``.

    ``where`` names the file in error messages; presets are searched first in the folder of that file. Raises
    ``UserError`` with one line for the first mistake.
    """
    folder = Path(where.partition(":")[0]).parent
    return PlayerReader(game, limits, folder=folder, engines=engines_file(None, folder)).read(entry, where)


def merged(entry: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables; values of ``over`` replace values of ``entry``.

    Inner tables, such as ``options``, are merged key by key. Names of options are compared without regard to case.
    """
    both = {**entry, **over}
    for key in entry.keys() & over.keys():
        if isinstance(entry[key], Mapping) and isinstance(over[key], Mapping):
            respelt = {name.lower() for name in over[key]} if key == "options" else ()
            kept = {name: entry[key][name] for name in entry[key] if name in over[key] or name.lower() not in respelt}
            both[key] = {**kept, **over[key]}
    return both


def _check_pondering(players: Sequence[PlayerSpec], where: str) -> None:
    """Raise ``ConfigurationError`` if a player with ``ponder`` cannot ponder; ``where`` begins the message.

    The limit of such a player must have a time. If the clock counts processor time or nodes, all opponents must have
    the same clock.
    """
    for player in players:
        if not player.ponder:
            continue
        limits = player.limits
        place = f"{where}: player {player.name!r}"
        if mistake := pondering_mistake(player):
            raise ConfigurationError.at(place, mistake)
        for other in players:
            kind = other.limits.clock_kind if other.limits.is_timed else "no"
            if limits.clock_kind != "wall" and kind != limits.clock_kind:
                raise ConfigurationError(
                    f"{place}: ponder = true, but its limit {str(limits)!r} is on the {limits.clock_kind} clock and "
                    f"{other.name!r} plays on {kind} clock",
                    "put all players on that clock, or leave ponder out",
                )


def pondering_mistake(player: PlayerSpec) -> ConfigurationError | None:
    """The error for a player that cannot ponder with its own limit; ``None`` if it can, or if ``ponder`` is off."""
    if not player.ponder or player.limits.is_timed:
        return None
    return ConfigurationError(
        f"ponder = true, but its limit {str(player.limits)!r} has no time",
        "give it a clock or a move_time, or leave ponder out",
    )


def _refuse_keys_of_another_kind(entry: Mapping[str, Any], where: str, protocol: Protocol) -> None:
    for key in entry:
        owners = [other for other in protocols() if key in keys_of(other)]
        if not owners:  # no kind of player has this key; it may be misspelled
            every = dict.fromkeys(known for other in protocols() for known in keys_of(other))
            remedy = home_of(str(key), keys_of(protocol))
            hint = "" if remedy else nearest(str(key), every)
            if not remedy and not hint:
                remedy = f"expected one of {', '.join(keys_of(protocol))}"
                if protocol.has_options:
                    remedy += f"; an option of the engine belongs in {entry_of_table('options', str(key))}"
            raise ConfigurationError(f"{where}: unknown key {key!r}{hint}", remedy)
        if protocol in owners:
            continue
        if not protocol.is_external:
            raise ConfigurationError(f"{where}: {key} is a key of an external engine", "add command = ... or remove it")
        names = [owner.name for owner in owners]
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        kind = f"engines over {listed}" if owners[0].is_external else owners[0].title
        raise ConfigurationError(
            f"{where}: {key} is a key of {kind}", f"external engines over {protocol.name} take {protocol.remedy}"
        )


def read_limits(table: Table, default: Limits | None = None, key: str = "limit", *, own_level: bool = False) -> Limits:
    """Read the search limit under ``key``. Without a ``default`` the key is required.

    ``own_level`` allows the value ``OWN_LEVEL``: the player gets no limit and plays at the level set in the engine
    itself. Raises ``ConfigurationError`` if the key is missing or its value is not a limit.
    """
    if default is not None and key not in table:
        return default
    text = table[key]
    if text == OWN_LEVEL and own_level:
        return Limits()
    if text == OWN_LEVEL:
        able = " or ".join(other.title for other in protocols() if other.has_own_level)
        raise table.error(key, GRAMMAR, f"only players over {able} can have their own level")
    try:
        return Limits.parse(text)
    except UserError as error:
        raise ConfigurationError.at(table.where, error) from None


def _player_name(table: Table, default: str) -> str:
    name = table.get("name", default)
    if not name.isprintable() or '"' in name or name != name.strip() or len(name) > MAX_NAME_LENGTH:
        raise table.error("name", f"at most {MAX_NAME_LENGTH} printable characters without quotation marks")
    return str(name)


def _builtin_player(table: Table, game: str, limits: Limits, beside: Path) -> PlayerSpec:
    preset = table["preset"]
    try:
        overrides = load_preset(preset, game, beside)
    except ConfigurationError as error:
        raise ConfigurationError.at(table.where, error) from None
    overrides |= by_canonical_name(table["set"], table.where)
    parameters = resolve(overrides, table.where, game)
    name = _player_name(table, preset_name(preset))
    margin_ms = round(1000 * table["margin"])
    return PlayerSpec(name, BUILTIN, limits, parameters=tuple(parameters.items()), margin_ms=margin_ms)


def _external_player(table: Table, protocol: Protocol, limits: Limits) -> PlayerSpec:
    command = command_of(table)
    player = PlayerSpec(
        _player_name(table, PurePath(command[0]).name),
        protocol.name,
        limits,
        command=command,
        directory=_directory(table),
        start_timeout_ms=round(1000 * table["start_timeout"]),
        margin_ms=round(1000 * table["margin"]),
        watchdog_ms=round(1000 * table["watchdog"]),
        restart=table["restart"],
        built=commit_build(table),
    )
    return replace(player, **protocol.read(table))


def _directory(table: Table) -> str | None:
    directory: str | None = table.get("directory")
    if directory is not None and not Path(directory).is_dir():
        raise table.error("directory", "an existing folder")
    return directory


# Players named by one word


@dataclass(frozen=True)
class NamedPlayer:
    """A player named by one word of a command line; its settings are not checked yet."""

    entry: dict[str, Any]
    """The player's ``[[players]]`` table."""
    file: Path | None = None
    """The TOML file that the player was read from; ``None`` if there is none."""

    def check(self, reader: PlayerReader) -> dict[str, Any]:
        """Check the player if it comes from a TOML file; returns a table that does not depend on that file's folder.

        Raises ``UserError``, which names the file, if the player is invalid.
        """
        if self.file is None:
            return self.entry
        reader.under_default_limit(self.entry, str(self.file), self.file.parent)
        if "preset" in self.entry:
            return self.entry | {"preset": str(find_config("engines", self.entry["preset"], self.file.parent))}
        return self.entry


def default_limit(protocols: Iterable[Protocol]) -> Limits:
    """The limit of players that specify none: nodes if all ``protocols`` support them, else a depth, else a time."""
    limits = [DEFAULT_LIMIT, *(Limits.parse(protocol.default_limit) for protocol in protocols)]
    return max(limits, key=lambda limit: (limit.is_timed, limit.depth is not None))


def player_named(word: str, engines: EnginesFile) -> NamedPlayer:
    """Look up the player that a word of a command line names; ``PLAYER_KINDS`` lists what the word can be.

    A TOML file may contain a preset with a section per game, the keys of a ``[[players]]`` table, a single
    ``[[players]]`` table, or only settings of the built-in engine. Raises ``UserError`` for an unknown word and
    suggests the nearest name.
    """
    path = Path(word)
    if path.suffix != ".toml" and path.is_file() and os.access(path, os.X_OK):
        return NamedPlayer({"name": path.name, "command": [word if os.sep in word else os.path.join(".", word)]})
    if word in engines:
        if word in available_configs("engines"):
            raise ConfigurationError(
                f"{word!r} is an engine of {engines.path} and a preset of the built-in engine",
                f"give {argument('engine', f'conf={word}')} or {argument('engine', f'preset={word}')}",
            )
        return NamedPlayer(engines.entry(word, ""))
    if is_source(word):
        return NamedPlayer(with_commit({SOURCE: word}, f"player {word!r}"))
    if is_installed(word) and not _is_preset(word):
        return NamedPlayer({"name": word, "command": [word]})
    return _player_of_file(word, engines)


def player_entry(word: str, reader: PlayerReader) -> dict[str, Any]:
    """The checked ``[[players]]`` table of the player that a word of a command line names.

    Raises ``UserError``, naming the file, if the player is unknown or invalid.
    """
    return player_named(word, reader.engines).check(reader)


def _player_of_file(word: str, engines: EnginesFile) -> NamedPlayer:
    path, data = _read_player_file(word, engines)
    name = preset_name(word)
    alone = data.get("players")
    if isinstance(alone, list) and len(data) == len(alone) == 1 and isinstance(alone[0], dict):
        data = alone[0]  # a tournament file, as written by the tuning of an external engine
    others = {key: value for key, value in data.items() if key not in ANY_PLAYER}  # "margin" is also a key of ablations
    refuse_other_kind(others, str(path), "engines", "a player")
    data = {key: value for key, value in data.items() if key != DESCRIPTION}
    if any(section in data for section in GAMES):
        return NamedPlayer({"name": name, "preset": word})
    if REFERENCE not in data and not any(key in keys_of(protocol) for key in data for protocol in protocols()):
        data = {"set": data}
    return NamedPlayer({"name": name, **data}, path)


def _read_player_file(word: str, engines: EnginesFile) -> tuple[Path, dict[str, Any]]:
    """Read the preset or TOML file that a word names; returns its path and its tables."""
    try:
        path = find_config("engines", word)
    except ConfigurationError as error:
        if os.sep in word:
            found = "that is a folder" if Path(word).is_dir() else "no such file"
            program, _, words = word.partition(" ")
            if words and Path(program).is_file():
                found += f"; with arguments it is {argument('engine', f'cmd={program} args={shlex.quote(words)}')}"
            raise ConfigurationError(f"player {word!r}: {found}", f"a player is {PLAYER_KINDS}") from None
        otherwise = _other_meaning(word, engines)
        if Path(word).suffix != ".toml":
            otherwise += "; no program of that name is installed either (to play one elsewhere, give its path)"
        raise ConfigurationError(f"{error}{otherwise}") from None
    try:
        return path, read_toml(path)
    except ConfigurationError as error:
        if path.suffix == ".toml":
            raise
        raise ConfigurationError(f"{error}", f"if it is a program, make it executable: chmod +x {path}") from None


def _other_meaning(word: str, engines: EnginesFile) -> str:
    """Hint for a word that names no preset: the most similar name in the engines file; empty if there is none."""
    if near := nearest(word, engines.tables):
        return f"; {engines.path} has no such engine{near}"
    return ""


def _is_preset(word: str) -> bool:
    try:
        return find_config("engines", word) is not None
    except ConfigurationError:
        return False


def is_installed(program: str) -> bool:
    """Whether a folder of ``PATH`` contains a program named ``program``."""
    try:
        return os.sep not in program and bool(find_program([program], None))
    except PlayerFault:
        return False


def name_players(entries: Iterable[dict[str, Any]]) -> None:
    """Change names in ``[[players]]`` tables so that all are distinct.

    Programs with equal names get their folder as a prefix (``new/engine``), other players a number (``engine (2)``).
    """
    entries = list(entries)
    by_name: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        by_name.setdefault(str(entry.get("name", "")), []).append(entry)
    for name, alike in by_name.items():
        folders = [_folder_of(entry) for entry in alike]
        longer = [f"{folder}/{name}" for folder in folders]
        is_short = all(len(one) <= MAX_NAME_LENGTH for one in longer)
        if len(alike) > 1 and all(folders) and len(set(folders)) == len(alike) and is_short:
            for entry, own in zip(alike, longer, strict=True):
                entry["name"] = own
    taken: set[str] = set()
    for entry in entries:
        name = str(entry.get("name", ""))
        numbered = (f"{name} ({number})" for number in range(2, len(entries) + 2))
        while entry.get("name") in taken:
            entry["name"] = next(numbered)
        taken.add(str(entry.get("name", "")))


def _folder_of(entry: Mapping[str, Any]) -> str:
    """The name of the folder that contains a player's program; empty for a built-in player."""
    command = entry.get("command")
    return Path(command[0]).absolute().parent.name if isinstance(command, list) and command else ""
