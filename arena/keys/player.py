"""The keys of a player: keys of all players, of external programs, and of each protocol (``Protocol.keys``)."""

from __future__ import annotations

import os

from elolab.arena.command_lines import split_command
from elolab.arena.players.registry import PROTOCOLS, Protocol, protocols
from elolab.engine.settings import schema
from elolab.engine.settings.limits import GRAMMAR, MARGIN_MS
from elolab.engine.settings.schema import COMPUTED, Schema, Table

RESTARTS = ("on_fault", "always")
DEFAULT_START_SECONDS = 10

CATALOGUE, TOPIC = "elolab.arena.keys", "player"
"""The message catalogue that explains the keys, and the section in it."""

REFERENCE = "engine"
"""The key in a ``[[players]]`` table that names an engine of the engines file."""

SOURCE = "source"
"""The key with the git commit from which a program is built."""

OF_ANY_PLAYER = schema.declare(
    CATALOGUE, TOPIC, "of any player",
    name=schema.text(default=COMPUTED, example="mine"),
    protocol=schema.choice(PROTOCOLS, default=COMPUTED, example="uci"),
    limit=schema.text(default=COMPUTED, example="nodes=1000", expected=GRAMMAR),
    ponder=schema.switch(default=COMPUTED),
)  # fmt: skip

MARGIN = schema.declare(
    CATALOGUE, TOPIC, "margin", margin=schema.number(0, 3600, default=MARGIN_MS / 1000, example=0.3, unit="seconds")
)
"""The key ``margin``: the time in seconds by which a move may exceed its limit; built-in players have this key too."""

PROGRAM = schema.declare(
    CATALOGUE, TOPIC, "program",
    command=schema.key(
        schema.TEXT, schema.TEXTS, default=COMPUTED, example="./mine --threads 1", least=1,
        expected="the engine's program and arguments, a text or a list of texts",
    ),
    source=schema.text(default=COMPUTED, example="./mine@HEAD~1", expected="a repository and a revision, REPO@REV"),
    build=schema.text(default=COMPUTED, example="make -j"),
    directory=schema.text(default=COMPUTED, example="engines/mine", expected="a folder"),
    start_timeout=schema.number(0.1, 3600, default=DEFAULT_START_SECONDS, example=30, unit="seconds"),
    margin=MARGIN["margin"],
    watchdog=schema.number(0.1, 86_400, default=60, example=120, unit="seconds"),
    restart=schema.choice(RESTARTS, default=RESTARTS[0], example="always"),
)  # fmt: skip
"""Keys of ``[[players]]`` for external programs, whatever their protocol."""


def command_of(table: Table, *folders: str) -> tuple[str, ...]:
    """Program and arguments from the key ``command``: a list of words, or a text for ``split_command``.

    ``split_command`` looks for the program in the current folder and in ``folders``. Then it looks in the player's
    ``directory``, relative to each of these folders. Raises ``ConfigurationError`` if the value is not a command.
    """
    command = table["command"]
    expected = table.schema["command"].right_value
    if isinstance(command, str):
        directory = table.get("directory", "")
        places = (*folders, *(os.path.join(folder, directory) for folder in ("", *folders)))
        try:
            command = split_command(command, *places)
        except ValueError as error:
            raise table.error("command", f"{expected} ({error})") from None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) and word for word in command):
        raise table.error("command", expected)
    return tuple(command)


def keys_of(protocol: Protocol) -> Schema:
    """The keys of ``[[players]]`` for a program that uses this protocol."""
    program = PROGRAM if protocol.is_external else MARGIN
    return schema.declare(CATALOGUE, TOPIC, "players", OF_ANY_PLAYER, program, protocol.keys)


ANY_PLAYER = schema.declare(
    CATALOGUE, TOPIC, "players", *map(keys_of, protocols()),
    **{REFERENCE: schema.text(default=COMPUTED, example="mine", expected="an engine's name in the file of engines")},
)  # fmt: skip
"""All keys of ``[[players]]`` tables, for all protocols and for references to an engines file."""
DESCRIPTION = "description"
"""The key for free text about an engine; only valid in engines files."""
_ENTRY = schema.declare(
    CATALOGUE, TOPIC, "engine-entry", ANY_PLAYER.only([name for name in ANY_PLAYER if name != REFERENCE]),
    **{DESCRIPTION: schema.text(default=None, example="The version of last week.")},
)  # fmt: skip
ENGINES = schema.declare(CATALOGUE, TOPIC, "engines-file", others=schema.table(_ENTRY, message="entry"))
