"""The command ``adapt``: runs a UCCI engine as a plug-in for programs that use Qianhong's protocol."""

from __future__ import annotations

import argparse
import sys

from elolab.cli.shared import options


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Put a UCCI engine behind the plug-in protocol of Qianhong, over standard input and output. It ends with the "
        "command QUIT or with its input.\n\n"
        "Qianhong starts a plug-in with the argument -plugin or -info. Give it a script that passes its arguments "
        "on:\n\n"
        '  exec elolab adapt "$@" -- eleeye'
    )
    parser.add_argument(
        "command", metavar="COMMAND", nargs="+", help="the engine's program and its arguments, after -- if any has a -"
    )
    options.add_program(parser)
    parser.add_argument(
        "--time-unit", metavar="UNIT", default="auto", help="the engine's unit of time: milliseconds, seconds, or "
        "auto (default), from the engine's options and name"
    )  # fmt: skip
    options.add_rules(parser)
    options.add_plugin_start(parser)


def run(arguments: argparse.Namespace) -> int:
    """Answer one Qianhong program over standard input and output, until ``QUIT`` or the end of the input.

    With ``-info``, print the plug-in's description instead. Returns the exit code.
    """
    from elolab.arena.players.registry import check_player
    from elolab.arena.protocols.adapter import GAME, AdaptedSession, adapted_spec
    from elolab.engine.protocols.qianhong import description

    spec = adapted_spec(arguments.command, arguments.options, arguments.directory, arguments.time_unit)
    check_player(spec, GAME, "adapt")
    session = AdaptedSession(spec, sys.stdout, rules=options.rules_of(arguments))
    try:
        if arguments.info:
            session.warm_up()
            print(*description(session.title), sep="\n")
        else:
            session.run(sys.stdin.fileno() if sys.stdin is not None else None)
    finally:
        session.close()
    return 0
