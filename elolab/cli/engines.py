"""The command ``engines``: lists the engines in a file of engines, and checks that they work."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from elolab.arena.builds.build import is_built
from elolab.arena.builds.players import with_commit
from elolab.arena.builds.repository import SHOWN_DIGITS, split_source
from elolab.arena.keys.engines_file import ENGINES_NAME, EnginesFile, engines_file, user_folder
from elolab.arena.keys.player import SOURCE, keys_of
from elolab.arena.player_spec import PlayerReader, pondering_mistake
from elolab.arena.players.detect import DetectionError
from elolab.arena.players.registry import DEFAULT_PROTOCOL, PROTOCOLS, protocol_named, protocols
from elolab.arena.records import PlayerSpec
from elolab.cli.shared import options
from elolab.cli.shared.match_options import protocol_finder
from elolab.cli.shared.parser import UsageError
from elolab.engine.errors import UserError
from elolab.engine.language import columns_of, console, padded

THERE = "engines.there"
"""Catalogue key of the status message for an engine whose program exists."""


@dataclass(frozen=True)
class EngineStatus:
    """The status of one engine in a file of engines."""

    name: str
    protocol: str
    """Display name of the engine's protocol; empty if the file names none and none was detected."""
    command: str
    problem: str
    """Why the engine cannot play, in one line; empty if no problem is known."""
    commit: str = ""
    """Full name of the git commit from which the engine is built; empty for an engine that is given as a program."""
    is_built: bool = True
    """Whether the commit's program has been built. If not, the next match builds it."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="engines of the file (default: all)")
    options.add_engines_file(parser)
    parser.add_argument(
        "--check", action="store_true", help="start every engine, and detect its protocol if the file gives none"
    )
    parser.add_argument("--game", metavar="NAME", help="the game that the engines must play (default: any)")
    options.add_language(parser)
    options.add_json(parser)
    parser.epilog = (
        "The file has a table for every engine, with the keys of [[players]]:\n"
        "  [mine]\n"
        '  command = "./mine"\n'
        "  options = { Hash = 64 }\n\n"
        'This engine plays in elolab match mine default, by --engine conf=mine, and by engine = "mine" under '
        "[[players]]. The file engines.json of cutechess is read too.\n\n"
        "Exit code: 1 if an engine is not found or, with --check, does not work."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the table of engines with their status."""
    file = engines_file(arguments.engines_file, Path())
    if file.path is None:
        raise UsageError(
            "engines: no engines file",
            f"write {ENGINES_NAME} here, or {user_folder() / ENGINES_NAME}, with a table "
            'for each: [mine] and below it command = "./mine"',
        )
    for name in arguments.names:
        file.entry(name, "engines")
    names = arguments.names or list(file.tables)
    status = [_status(file, name, arguments.game, check=arguments.check) for name in names]
    if arguments.json:
        options.print_json({"file": str(file.path), "engines": [asdict(engine) for engine in status]})
    else:
        print("\n".join(_lines(file, status, "engines.works" if arguments.check else THERE)))
    return 1 if any(engine.problem for engine in status) else 0


def _status(file: EnginesFile, name: str, game: str | None, *, check: bool) -> EngineStatus:
    entry = file.entry(name, str(file.path))
    command = entry.get("command", "")
    shown = command if isinstance(command, str) else " ".join(map(str, command))
    if SOURCE in entry and not check:
        return _status_of_commit(entry, shown)
    given = _protocol_given(entry)
    is_unknown = not check and "command" in entry and "protocol" not in entry
    try:
        player, found = (_player_over_some_protocol if is_unknown else player_of)(entry, game)
        problem = _missing(player) if player.command else ""
        if "limit" in entry:  # otherwise the tournament sets the limit
            problem = problem or str(pondering_mistake(player) or "")
        if check and not problem:
            problem = _start(player, game or _game_played(player, found))
        title = "" if is_unknown else protocol_named(player.protocol).title
        return EngineStatus(name, title, shown, problem, player.built.commit if player.built else "")
    except UserError as error:
        title = protocol_named(given).title if given in PROTOCOLS else ""
        return EngineStatus(name, title, shown, str(error).removeprefix(f"{name} ({name}): "))


def _status_of_commit(entry: Mapping[str, Any], shown: str) -> EngineStatus:
    """The status of an engine that is built from a git commit. Does not build or fetch the commit.

    ``shown`` is the text that describes the engine's source in the table.
    """
    protocol = _protocol_given(entry)
    title = protocol_named(protocol).title if protocol in PROTOCOLS else ""
    try:
        _, commit = split_source(with_commit(entry, str(entry["name"]), fetch=False)[SOURCE])
    except UserError as error:
        return EngineStatus(str(entry["name"]), title, shown, str(error).removeprefix(f"{entry['name']}: "))
    finished = is_built(commit, str(entry.get("build", "")))
    return EngineStatus(str(entry["name"]), title, shown, "", commit, finished)


def player_of(entry: dict[str, Any], game: str | None) -> tuple[PlayerSpec, str]:
    """The player that an entry of the file describes, and the game that it plays: ``game``, or the first that it
    supports.

    Raises ``UserError`` for an invalid entry.
    """
    from elolab.engine.games import GAMES, game_named

    errors: dict[str, UserError] = {}
    finder = protocol_finder(Path())
    for other in [game_named(game).name] if game is not None else GAMES:
        try:
            return PlayerReader(other, finder=finder).under_default_limit(entry, entry["name"]), other
        except UserError as error:
            errors[other] = error
    raise _most_specific(errors, _protocol_given(entry))


def _most_specific(errors: Mapping[str, UserError], protocol: str) -> UserError:
    """Choose the error to report if an entry is invalid for every game; ``errors`` has one error per game.

    The choice is the error for the first game that ``protocol`` supports, or else the first error.
    """
    games = protocol_named(protocol).games if protocol in PROTOCOLS else None
    for game, error in errors.items():
        if not isinstance(error, DetectionError) and (games is None or game in games):
            return error
    return next(iter(errors.values()))


def _protocol_given(entry: Mapping[str, Any]) -> str:
    """The protocol named in a ``[[players]]`` table; empty if it must be detected by starting the program."""
    return str(entry.get("protocol", "" if "command" in entry else DEFAULT_PROTOCOL))


def _player_over_some_protocol(entry: dict[str, Any], game: str | None) -> tuple[PlayerSpec, str]:
    """Read an entry that names no protocol, without starting its program; returns the player and its game.

    The protocol is the one with the most of the entry's keys. If no protocol accepts the entry, raises the
    ``UserError`` of the protocol with the most keys.
    """
    errors: list[UserError] = []
    external = [protocol for protocol in protocols() if protocol.is_external]
    for protocol in sorted(external, key=lambda protocol: sum(key not in keys_of(protocol) for key in entry)):
        try:
            return player_of(entry | {"protocol": protocol.name}, game)
        except UserError as error:
            errors.append(error)
    raise errors[0]


def _missing(player: PlayerSpec) -> str:
    """Why a player's program cannot be started; empty if the program exists."""
    from elolab.arena.players.player import PlayerFault
    from elolab.arena.players.process import find_program

    try:
        find_program(player.command, player.directory)
    except PlayerFault as fault:
        return str(fault)
    return ""


def _game_played(player: PlayerSpec, otherwise: str) -> str:
    """The first game that the player's program, once started, supports; ``otherwise`` for the built-in engine."""
    from elolab.arena.players.detect import games_of

    if not player.command:
        return otherwise
    return games_of((player.command, player.directory), protocol_named(player.protocol))[0]


def _start(player: PlayerSpec, game: str) -> str:
    """Start and stop a player; returns the problem in one line, empty if the player works."""
    from elolab.arena.players.player import PlayerFault
    from elolab.arena.players.registry import make_player

    started = make_player(player, game)
    try:
        started.start()
    except PlayerFault as fault:
        return fault.text.removeprefix(f"{player.name}: ")
    finally:
        started.close()
    return ""


def _lines(file: EnginesFile, status: Sequence[EngineStatus], good: str) -> list[str]:
    """Lines of the table of engines; ``good`` is the message key of the status of an engine without a problem."""
    say = console("elolab.arena")
    rows = [(say("engines.name"), say("engines.protocol"), say("engines.command"), say("engines.state"))]
    for engine in status:
        protocol = engine.protocol or say("engines.found_by_trying")
        state = engine.problem or say(good)
        if engine.commit and not engine.problem:
            if good == THERE:
                state = say("engines.built" if engine.is_built else "engines.not_built")
            state = say("engines.of_commit", commit=engine.commit[:SHOWN_DIGITS], state=state)
        rows.append((engine.name, protocol, engine.command, state))
    widths = [max(columns_of(row[column]) for row in rows) for column in range(3)]
    return [
        str(file.path),
        *("  ".join([*map(padded, row[:3], widths), row[3]]) for row in rows),
    ]
