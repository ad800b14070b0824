"""The keys of a player: those of any, those of programs, and those of its protocol (``Protocol.keys``)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from elolab.arena.command_lines import split_command
from elolab.arena.players.registry import PROTOCOLS, Protocol, protocols
from elolab.engine.settings.keys import TEXT, TEXTS, Default, Section, Topic
from elolab.engine.settings.limits import MARGIN_MS

if TYPE_CHECKING:
    from elolab.engine.settings.configuration import Table

RESTARTS = ("on_fault", "always")
DEFAULT_START_SECONDS = 10

_player = Topic("elolab.arena.keys", "player")

REFERENCE = "engine"
"""The key by which a table [[players]] refers to an engine of a file of engines."""

OF_ANY_PLAYER = (
    _player.text("name", "mine", Default.COMPUTED),
    _player.choice("protocol", PROTOCOLS, "uci", Default.COMPUTED),
    _player.text("limit", "nodes=1000", Default.COMPUTED),
    _player.switch("ponder", Default.COMPUTED),
)

MARGIN = _player.number("margin", 0, 3600, 0.3, MARGIN_MS / 1000, "seconds")
"""The margin of any player, and of programs that are tuned."""

PROGRAM = Section(
    "program",
    (
        _player("command", TEXT, TEXTS, default=Default.COMPUTED, example='"./mine --threads 1"'),
        _player.text("directory", "engines/mine", Default.COMPUTED),
        _player.number("start_timeout", 0.1, 3600, 30, DEFAULT_START_SECONDS, "seconds"),
        MARGIN,
        _player.number("watchdog", 0.1, 86_400, 120, 60, "seconds"),
        _player.choice("restart", RESTARTS, "always", RESTARTS[0]),
    ),
)
"""Keys of players that are programs."""


def command_of(table: Table, *folders: str) -> tuple[str, ...]:
    """The words of the key ``command``, at least the program; raises ``ConfigurationError``.

    A program may lie here, in the player's ``directory``, or in one of ``folders``.
    """
    expected = "the engine's program and arguments, a text or a list of texts"
    command = table.value("command", expected=expected)
    if isinstance(command, str):
        directory = table.text("directory", None, "a folder") or ""
        places = (*folders, *(os.path.join(folder, directory) for folder in ("", *folders)))
        try:
            command = split_command(command, *places)
        except ValueError as error:
            raise table.error("command", f"{expected} ({error})") from None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) and word for word in command):
        raise table.error("command", expected)
    return tuple(command)


def keys_of(protocol: Protocol) -> Section:
    """The keys of a table [[players]] of the protocol."""
    program = PROGRAM.keys if protocol.is_external else (MARGIN,)
    return _player.section("players", *OF_ANY_PLAYER, *program, *protocol.keys.keys)


def _keys_of_all() -> Section:
    named = {key.name: key for protocol in protocols() for key in keys_of(protocol).keys}
    return _player.section("players", *named.values(), _player.text(REFERENCE, "mine", Default.COMPUTED))


ANY_PLAYER = _keys_of_all()
"""All keys of tables [[players]], over all protocols and references to an engines file."""
DESCRIPTION = "description"
"""The key of an engine in a file of engines that no player has: it is for whoever reads the file."""
ENGINES = _player.section(
    "engines-file",
    others=_player.table(
        _player.section(
            "engine-entry",
            *(key for key in ANY_PLAYER.keys if key.name != REFERENCE),
            _player.text(DESCRIPTION, "The version of last week.", None),
        ),
        "entry",
    ),
)
