"""The command ``engine``: runs the built-in engine as a program for other programs, over a protocol."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError

if TYPE_CHECKING:
    from elolab.engine.protocols.engine_server import EngineServer
    from elolab.engine.settings.parameters import Value


def configure(parser: argparse.ArgumentParser) -> None:
    from elolab.engine.protocols import SERVED_PROTOCOLS, protocol_choices

    parser.description = (
        "Run the engine as a program that other programs talk to, over standard input and output. It ends with the "
        "command quit or with its input."
    )
    options.add_game(parser)
    parser.add_argument(
        "--protocol",
        choices=tuple(SERVED_PROTOCOLS),
        metavar="NAME",
        help=protocol_choices(),
    )
    parser.add_argument(
        "--ranks",
        choices=("0", "1"),
        default="1",
        help="number of the lowest rank in UCI: 1 (default; announces UCI_Variant), or 0, as over ucicyclone",
    )
    options.add_parameter(parser)
    options.add_rules(parser)
    options.add_plugin_start(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve one program over standard input and output, until ``quit`` or the end of the input.

    With ``-info``, print the description that Qianhong requires of a plug-in instead. Returns the exit code.
    """
    server = _server(arguments, options.overrides_of(arguments))
    if arguments.info:
        from elolab.engine.protocols.qianhong import description

        print(*description(server.title), sep="\n")
        return 0
    server.run(sys.stdin.fileno() if sys.stdin is not None else None)
    return 0


def _server(arguments: argparse.Namespace, overrides: dict[str, Value]) -> EngineServer:
    """The server for the protocol of ``--protocol``; ``overrides`` are engine parameters.

    Raises ``UsageError`` if the protocol does not support the game.
    """
    from elolab.engine.protocols import SERVED_PROTOCOLS, protocols_for
    from elolab.engine.settings.presets import preset_name

    game = options.game_of(arguments).name
    suitable = protocols_for(game)
    if not suitable:
        raise UsageError(
            f"no protocol can play {game}; those there are play other games: {', '.join(SERVED_PROTOCOLS)}"
        )
    entry = SERVED_PROTOCOLS[arguments.protocol] if arguments.protocol else suitable[0]
    if entry not in suitable:
        raise UsageError(
            f"--protocol {entry.name} cannot play {game}, only {', '.join(entry.games)} (--game {entry.games[0]})",
            f"{game} is played over {' or '.join(other.name for other in suitable)}",
        )
    if entry.name == "uci" and arguments.ranks == "0":
        entry = SERVED_PROTOCOLS["ucicyclone"]
    title = preset_name(arguments.preset) if arguments.preset else ""
    return entry.load()(game, overrides, sys.stdout, rules=options.rules_of(arguments), title=title)
