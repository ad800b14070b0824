"""The command ``adapt``: a UCCI engine for programs that speak Qianhong's protocol."""

from __future__ import annotations

import argparse
import sys

from elolab.cli.shared import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab adapt``."""
    parser.description = (
        "Put a UCCI engine behind the plug-in protocol of Qianhong, over standard input and output. It ends with the "
        "command QUIT or with its input.\n\n"
        "A plug-in of Qianhong is a program that is started with -plugin or -info: put the command into one that hands "
        "its arguments over.\n\n"
        '  exec elolab adapt "$@" -- eleeye'
    )
    parser.add_argument(
        "command", metavar="COMMAND", nargs="+", help="the engine's program and its arguments, after -- if any has a -"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=options.named_value,
        metavar="NAME=VALUE",
        help="an option of the engine; may be repeated",
    )
    parser.add_argument("--directory", metavar="DIR", help="the folder that the engine runs in")
    parser.add_argument(
        "--time-unit", metavar="UNIT", default="auto", help="in which it counts time: milliseconds, seconds, or auto "
        "(default): as it says"
    )  # fmt: skip
    options.add_rules(parser)
    # How Qianhong starts its plug-ins.
    parser.add_argument("-info", "--info", action="store_true", help="describe the engine to Qianhong, and end")
    parser.add_argument("-plugin", "--plugin", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Serve one program over standard input and output, until ``QUIT`` or the end of the input."""
    from elolab.arena.players.registry import check_player
    from elolab.arena.protocols.adapter import AdaptedSession, adapted_spec
    from elolab.engine.protocols.qianhong import description

    spec = adapted_spec(arguments.command, arguments.option, arguments.directory, arguments.time_unit)
    check_player(spec, "xiangqi", "adapt")
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
