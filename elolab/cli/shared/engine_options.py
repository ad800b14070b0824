"""Reads ``--engine`` and ``--each``, which describe players, as in ``--engine cmd=./mine tc=10+0.1 option.Hash=64``.

Each part is an argument ``NAME=VALUE``; functions and variables call it a word. Arguments of cutechess-cli and
fastchess keep their meaning. Every key of a ``[[players]]`` table is also the name of an argument. If the first part
has no ``=``, it is the name of a player, as in ``elolab match A B``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from elolab.arena.builds.players import with_commit
from elolab.arena.command_lines import split_command
from elolab.arena.keys.engines_file import EnginesFile
from elolab.arena.keys.player import ANY_PLAYER, DEFAULT_START_SECONDS, REFERENCE, SOURCE, command_of, keys_of
from elolab.arena.player_spec import NamedPlayer, PlayerReader, is_installed, merged, player_named
from elolab.arena.players.detect import games_of
from elolab.arena.players.registry import protocols
from elolab.cli.shared.key_values import SWITCHES, assignment, plain_value, refuse_unknown_words
from elolab.cli.shared.other_programs import FLAGS, REFUSED_WORDS, without_ignored
from elolab.cli.shared.parser import UsageError
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import parse_assignments
from elolab.engine.settings.presets import preset_name
from elolab.engine.settings.schema import Table

SOURCES = {"cmd": "command", "conf": REFERENCE, "preset": "preset"}
"""Arguments of ``--engine`` that select the engine, each with the key of a ``[[players]]`` table that it sets."""
SAME = {"name": "name", "dir": "directory", "proto": "protocol"}
"""Other arguments of ``--engine`` with a string as value, each with the ``[[players]]`` key that it sets."""
LIMITS = ("tc", "st", "nodes", "depth", "plies", "limit")
"""Arguments of ``--engine`` that set a search limit; ``limit`` uses elolab's notation, which can express all others."""
EXCLUDED_BY = {"tc": ("st", "limit"), "st": ("tc", "limit"), "limit": ("tc", "st", "nodes", "depth")}
"""For each limit of ``--engine``, such as ``tc``, the limits that cannot be combined with it.

All other limits can be combined: a search then ends at the first limit reached.
"""
RESTARTS = {"on": "always", "off": "on_fault", "auto": "on_fault", "always": "always", "on_fault": "on_fault"}
PREFIXES = ("option.", "set.")


_SETOPTION = re.compile(r"setoption name (\S.*?) value (.*)")
"""Matches UCI's command ``setoption`` in the value of ``initstr``."""


@dataclass(frozen=True)
class PlayerWords:
    """The parsed ``NAME=VALUE`` arguments of one ``--engine``, or of ``--each``."""

    option: str = "--engine"
    player: str | None = None
    """Name of a player, if the first argument has no ``=``; otherwise ``None``."""
    table: Mapping[str, Any] = field(default_factory=dict)
    """Keys of a ``[[players]]`` table that the arguments set, with their values."""
    names: Mapping[str, str] = field(default_factory=dict)
    """For each key of ``table``, the argument that set it, such as ``cmd`` for ``command``, to quote in errors."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Search limits in elolab's notation, by name of the argument, such as ``tc``; an empty string for ``tc=inf``."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of an external engine by name, from arguments ``option.NAME=VALUE``."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the built-in engine by name, from arguments ``set.NAME=VALUE``."""
    arguments: tuple[str, ...] = ()
    """Command line arguments of the player's program."""

    @property
    def has_source(self) -> bool:
        """Whether the arguments select an engine."""
        if self.player is not None or SOURCE in self.table:
            return True
        return any(key in self.table for key in SOURCES.values())


def read_player_words(words: Sequence[str], option: str = "--engine") -> PlayerWords:
    """Parse the ``NAME=VALUE`` arguments of ``option``; ``UsageError`` names a wrong argument and the expected form."""
    player, given = None, without_ignored(words, "--engine")
    if option == "--engine" and given and "=" not in given[0] and given[0] not in FLAGS:
        player = given.pop(0)
    _refuse_words_of_others(given, option)
    refuse_unknown_words(given, option, _known_words(), PREFIXES)
    table: dict[str, Any] = {}
    names: dict[str, str] = {}
    limits: dict[str, str] = {}
    named: dict[str, dict[str, str]] = {prefix: {} for prefix in PREFIXES}
    arguments: list[str] = []
    for word in given:
        prefix = next((prefix for prefix in PREFIXES if word.startswith(prefix)), None)
        if prefix is not None:
            name, sign, value = word.removeprefix(prefix).partition("=")
            if not name or not sign:
                raise UsageError(f"{option} {word}: expected {prefix}NAME=VALUE")
            named[prefix][name] = value
            continue
        name, value = assignment(f"{word}=true" if word in FLAGS else word, option)
        if name in LIMITS:
            limits["depth" if name == "plies" else name] = _limit(name, value, word, option)
            _refuse_two_limits(limits, option)
        elif name == "arg":
            arguments.append(value)
        elif name == "args":
            arguments += _split(value, word, option)
        elif name == "initstr":
            for line in value.split("\\n"):
                if (option_line := _SETOPTION.fullmatch(line)) is not None:
                    named["option."][option_line[1]] = option_line[2]
                else:
                    table["commands"], names["commands"] = [*table.get("commands", ()), line], name
        else:
            key, own = _key_and_value(name, value, word, option)
            table[key], names[key] = own, name
    _refuse_unsent_lines(table, names, option)
    sources = [word for word, key in SOURCES.items() if key in table]
    if len(sources) + (player is not None) > 1:
        one, other = [*([repr(player)] if player else []), *(f"{source}=" for source in sources)][:2]
        raise UsageError(f"{option}: {one} and {other} both name an engine", "give one of them")
    return PlayerWords(option, player, table, names, limits, named["option."], named["set."], tuple(arguments))


def _refuse_unsent_lines(table: Mapping[str, Any], names: Mapping[str, str], option: str) -> None:
    """Raise ``UsageError`` if ``initstr`` in ``option`` has lines that the player's protocol cannot send.

    ``table`` is the player's ``[[players]]`` table; ``names`` has the argument that set each key.
    """
    own = [protocol for protocol in protocols() if protocol.name == table.get("protocol")]
    if names.get("commands") == "initstr" and own and "commands" not in keys_of(own[0]):
        raise UsageError(
            f"{option} initstr={table['commands'][0]}: players over {own[0].title} receive options only",
            "give option.NAME=VALUE, or setoption name NAME value VALUE",
        )


def _refuse_words_of_others(words: Sequence[str], option: str) -> None:
    mistakes = [
        f"{option} {word}: {REFUSED_WORDS[name]}" for word in words if (name := word.partition("=")[0]) in REFUSED_WORDS
    ]
    if mistakes:
        raise UsageError("; ".join(mistakes))


def _refuse_two_limits(limits: Mapping[str, str], option: str) -> None:
    for name in limits:
        for other in EXCLUDED_BY.get(name, ()):
            if other in limits:
                raise UsageError(f"{option}: {name}= and {other}= exclude each other", "give one of them")


def is_player_word(word: str) -> bool:
    """Whether a string is a ``NAME=VALUE`` argument of ``--engine``: its name is known, whatever the value."""
    name, sign, _ = word.partition("=")
    return bool(sign) and (name in _known_words() or name.startswith(PREFIXES))


def _known_words() -> tuple[str, ...]:
    own = dict.fromkeys(key for protocol in protocols() for key in keys_of(protocol))
    theirs = (*SOURCES, *SAME, "arg", "args", "initstr", *LIMITS, "timemargin", "tscale", "restart", "ponder")
    return tuple(dict.fromkeys((*theirs, *own)))


def _key_and_value(name: str, value: str, word: str, option: str) -> tuple[str, Any]:
    """Convert an argument ``name=value`` to a key of a ``[[players]]`` table and its value.

    The error for an invalid value quotes ``option``, such as ``--engine``, and the whole argument, ``word``.
    """
    if name in SAME or name in SOURCES:
        return {**SAME, **SOURCES}[name], value
    if name == "timemargin":
        if re.fullmatch(r"\d+", value) is None:
            raise UsageError(f"{option} {word}: expected a whole number of milliseconds")
        return "margin", int(value) / 1000
    if name == "tscale":
        return "start_timeout", DEFAULT_START_SECONDS * _factor(value, word, option)
    if name == "restart":
        if value not in RESTARTS:
            raise UsageError(f"{option} {word}: expected on (a new process for every game), off or auto")
        return name, RESTARTS[value]
    if name == "ponder":
        if value not in SWITCHES:
            raise UsageError(f"{option} {word}: expected ponder or ponder=false")
        return name, SWITCHES[value]
    return name, value if name in ("command", "directory", "protocol", SOURCE, "build") else plain_value(value)


def _factor(value: str, word: str, option: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", value) is None or not float(value):
        raise UsageError(f"{option} {word}: expected a number above 0, the factor of the time to start (10 s)")
    return float(value)


def _limit(name: str, value: str, word: str, option: str) -> str:
    """Convert a limit from the notation of cutechess-cli to elolab's; returns an empty string for ``tc=inf``.

    ``name`` and ``value`` are the parts of ``word``. The error for an invalid value quotes ``option`` and ``word``.
    """
    text = value
    if name == "tc":
        text = "" if value in ("inf", "infinite") else f"clock={_clock(value, word, option)}"
    elif name == "st":
        text = f"move_time={value.removesuffix('s')}"
    elif name != "limit":
        text = f"{'depth' if name == 'plies' else name}={value}"
    if text and name != "limit":
        try:
            Limits.parse(text)
        except UserError as error:
            raise UsageError.at(f"{option} {word}", error) from None
    return text


def _clock(value: str, word: str, option: str) -> str:
    """Convert a time control ``moves/time+increment`` to elolab's notation; the time may be ``minutes:seconds``."""
    found = re.fullmatch(r"(?:inf/|(\d+/))?(?:(\d+):)?(\d+(?:\.\d*)?|\.\d+)s?(\+(?:\d+(?:\.\d*)?|\.\d+))?s?", value)
    if found is None:
        raise UsageError(
            f"{option} {word}: expected moves/time+increment with the time in seconds or minutes:seconds, such as "
            "tc=40/60+0.6, tc=10+0.1, tc=1:30, or tc=inf"
        )
    moves, minutes, seconds, increment = found.groups(default="")
    return f"{moves}{60 * int(minutes or 0) + float(seconds):.12g}{increment}"


def _split(value: str, word: str, option: str, *folders: str) -> list[str]:
    try:
        return split_command(value, *folders)
    except ValueError as error:
        raise UsageError(f"{option} {word}: {error}") from None


# From words to tables


def named_player(words: PlayerWords, each: PlayerWords, engines: EnginesFile) -> NamedPlayer:
    """Find the engine of a player: selected by its own arguments, ``words``, or else by ``--each``.

    ``engines`` resolves names in the user's file of engines. Raises ``UsageError`` if no engine is selected. All other
    arguments are read later, by ``complete``.
    """
    source = words if words.has_source else each
    if not source.has_source:
        raise UsageError(
            f"{words.option} {' '.join(f'{key}={value}' for key, value in words.table.items())}: no engine is named",
            "give cmd=PROGRAM, conf=NAME (of your file of engines) or preset=NAME (of the built-in engine)",
        )
    named = NamedPlayer({}) if source.player is None else player_named(source.player, engines)
    if source.player is not None:
        entry = dict(named.entry)
    elif SOURCE in source.table:
        entry = {SOURCE: source.table[SOURCE]}
    elif "command" in source.table:
        directory = words.table.get("directory", each.table.get("directory"))
        command = _program(str(source.table["command"]), directory, source.option)
        entry = {"name": PurePath(*command[:1]).name, "command": command}
    elif REFERENCE in source.table:
        entry = engines.entry(str(source.table[REFERENCE]), source.option)
    else:
        preset = str(source.table["preset"])
        entry = {"name": preset_name(preset), "preset": preset}
    if SOURCE in entry:
        for key in ("command", "build"):
            value = words.table.get(key, entry.get(key, each.table.get(key)))
            entry |= {} if value is None else {key: value}
        entry = with_commit(entry, words.option)
    if "name" in words.table:
        entry["name"] = words.table["name"]
    return NamedPlayer(entry, named.file)


def _program(command: str, directory: str | None, option: str) -> list[str]:
    """Split the value of ``cmd=`` into the program and its arguments.

    The program's path may contain spaces. A name without a slash is also searched for in the current folder and in
    ``directory``, the value of ``dir=``. ``option`` is named in errors.
    """
    words = _split(command, f"cmd={command}", option, directory or "")
    if words and os.sep not in words[0] and not is_installed(words[0]):
        places = [Path(directory or "", words[0]), Path(words[0])]
        if any(place.is_file() for place in places):
            words[0] = os.path.join(".", words[0])
    return words


def complete(entry: Mapping[str, Any], words: PlayerWords, each: PlayerWords, reader: PlayerReader) -> dict[str, Any]:
    """The complete ``[[players]]`` table of a player: ``entry``, overridden by ``--each`` and then by the player's own
    ``words``.

    ``words`` and ``each`` are parsed arguments; ``reader`` resolves protocols. Keys of ``--each`` that the player's
    protocol does not have are ignored, because they are meant for other players.
    """
    skipped = ("name", SOURCE, "build", *SOURCES.values())
    entry = _with_program(entry, words, each, reader)
    keys = keys_of(reader.protocol_of(entry, _place(entry, words)))
    for given in (each, words):
        own = {key: value for key, value in given.table.items() if key not in skipped}
        if given is each:  # its protocol has been given to programs, and the built-in engine has none
            own = {key: value for key, value in own.items() if key in keys and key != "protocol"}
        entry = merged(entry, own | _options(given, keys, is_each=given is each))
    limit = _joined_limits(each.limits, words.limits)
    return entry | ({"limit": limit} if limit else {})


def game_of_players(
    players: Sequence[tuple[Mapping[str, Any], PlayerWords]], each: PlayerWords, reader: PlayerReader, usual: str
) -> str:
    """The game that all players support: ``usual`` if they support it, otherwise the first such game.

    Each player is given by its ``[[players]]`` table and its arguments; ``each`` are the arguments of ``--each``.
    ``reader`` resolves protocols, and each external program is started to query its games. Raises ``UsageError`` if the
    players have no game in common.
    """
    common: dict[str, tuple[str, ...]] = {}
    for given, words in players:
        entry = _with_program(given, words, each, reader)
        if "command" in entry:
            place = _place(entry, words)
            protocol = reader.protocol_of(entry, place)
            program = (tuple(command_of(Table(entry, place, ANY_PLAYER, knows_all=False))), entry.get("directory"))
            common[str(entry["name"])] = games_of(program, protocol)
    games = [game for game in GAMES if all(game in played for played in common.values())]
    if not games:
        listed = "; ".join(f"{name} plays {' and '.join(played)}" for name, played in common.items())
        raise UsageError(f"no game that all players play: {listed}")
    return usual if usual in games else games[0]


def _place(entry: Mapping[str, Any], words: PlayerWords) -> str:
    """Text for errors: the option and the player to which the arguments ``words`` belong."""
    return f"{words.option}: player {entry['name']!r}"


def _with_program(
    entry: Mapping[str, Any], words: PlayerWords, each: PlayerWords, reader: PlayerReader
) -> dict[str, Any]:
    """``entry``, a player's ``[[players]]`` table, extended by the arguments that determine which program is started.

    The player's own arguments, ``words``, override the arguments of ``--each``. ``reader`` resolves protocols.
    """
    place = _place(entry, words)
    entry = dict(reader.resolved(entry, place))
    for given in (each, words):
        for key in ("directory", "protocol", "start_timeout"):
            if key in given.table and "command" in entry:
                entry[key] = given.table[key]
        if given.arguments and "command" in entry:
            command, directory = entry["command"], str(entry.get("directory", ""))
            if isinstance(command, str):
                command = _split(command, f"command={command}", words.option, directory)
            entry["command"] = [*command, *given.arguments]
        elif given.arguments and given is words:
            raise UsageError(
                f"{words.option} arg={given.arguments[0]}: the built-in engine takes no arguments",
                "its settings are set.NAME=VALUE",
            )
    return dict(reader.resolved(entry, place))


def _options(given: PlayerWords, keys: Collection[str], *, is_each: bool) -> dict[str, Any]:
    """Collect arguments ``option.NAME=VALUE`` and ``set.NAME=VALUE`` of ``given`` into the tables ``options`` and
    ``set``.

    ``keys`` are the keys that the player's protocol allows; a table that is not among them is left out. ``is_each`` is
    true for the arguments of ``--each``.
    """
    is_builtin = "set" in keys
    found: dict[str, Any] = {}
    settings = dict(given.settings)
    if is_builtin and not is_each:
        settings |= given.options  # over UCI they would be its options too
    if settings and (is_builtin or not is_each):
        found["set"] = parse_assignments([f"{name}={value}" for name, value in settings.items()], given.option)
    if given.options and not is_builtin and ("options" in keys or not is_each):
        found["options"] = dict(given.options)
    return found


def _joined_limits(each: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Combine the search limits of ``--each`` with a player's own limits.

    A limit of the player replaces every limit of ``--each`` that cannot be combined with it.
    """
    excluded = {other for name in own for other in EXCLUDED_BY.get(name, ("limit",))}
    both = {name: text for name, text in each.items() if name not in excluded} | dict(own)
    return ",".join(text for text in both.values() if text)


def refuse_unused(each: PlayerWords, players: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``UsageError`` for an argument of ``--each`` that applies to no player (``[[players]]`` tables)."""
    if "name" in each.table:
        raise UsageError(
            f"--each name={each.table['name']}: every player needs its own name", "give it to each --engine"
        )
    if each.arguments and not any("command" in player for player in players):
        raise UsageError(f"--each arg={each.arguments[0]}: no player is a program", "leave it out")
    for key in each.table:
        if key not in (SOURCE, *SOURCES.values()) and not any(key in player for player in players):
            raise UsageError(f"--each {each.names[key]}=...: no player takes it", "leave it out")
    for option in each.options:
        if not any(option in player.get("options", {}) for player in players):
            raise UsageError(
                f"--each option.{option}=...: no player has options", "those of the built-in engine are set.NAME=VALUE"
            )
    for setting in each.settings:
        if not any("set" in player for player in players):
            raise UsageError(f"--each set.{setting}=...: no player is the built-in engine, whose settings these are")
