"""The command ``check``: tests whether an engine follows its protocol."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.checking.dialects import DIALECTS, dialect_named
from elolab.arena.checking.findings import CheckSettings
from elolab.arena.colours import GREEN, RED, YELLOW, coloured, text_columns
from elolab.arena.keys.engines_file import engines_file
from elolab.cli.engines import player_of
from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import add_log, dialogue_log
from elolab.engine.language import Catalogue, console, game_words, wrapped
from elolab.engine.settings.configuration import nearest

if TYPE_CHECKING:
    from elolab.arena.checking.examination import CheckOutcome, Examination

DEFAULTS = CheckSettings("", "", ())
COLOURS = {"passed": GREEN, "failed": RED, "advised": YELLOW}
"""Colour in which the result of a check is printed, by result."""
BASIC = {"handshake", "start_position"}
"""Names of the checks on which most other checks depend.

If one of them fails, the checks that depend on it are not run, and the report only gives their number.
"""

EPILOG = """\
What follows the command belongs to the engine, so the arguments of elolab come before it:

  elolab check ./mine
  elolab check mine                an engine of that name in engines.toml
  elolab check --protocol ucci --only stop,clock_game -- ./engine --book none

Every line begins with pass, FAIL, advice (a recommendation that is not followed) or n/a (the protocol, the game or the
engine has nothing of the kind). A failed check shows the dialogue, each line with the seconds since the engine
started and the speaker: > for elolab, < for the engine. The exit code is 0 if nothing but recommendations failed, and 1
otherwise."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--protocol", metavar="NAME", help=f"{', '.join(DIALECTS)} (default: detected)")
    parser.add_argument("--game", metavar="NAME", help="the game (default: the protocol's)")
    options.add_program(parser)
    options.add_engines_file(parser)
    parser.add_argument("--only", metavar="NAMES", type=_names, help="run only these checks, and the checks they need")
    parser.add_argument("--skip", metavar="NAMES", type=_names, default=(), help="run all checks except these")
    parser.add_argument("--list", action="store_true", help="list the names of the checks, and what they require")
    add_log(parser)
    group = parser.add_argument_group("time limits", "whole numbers of milliseconds")
    for name, meaning in (
        ("margin", "how much later than its time a move may come"),
        ("start", "longest wait for the engine's start"),
        ("timeout", "longest wait for an answer without a clock"),
        ("stop", "longest wait for the answer to a stop"),
        ("ending", "longest wait for the engine's end"),
        ("clock", "each side's time in the game against itself; tenfold if the protocol gives times in seconds"),
    ):  # fmt: skip
        default = getattr(DEFAULTS, f"{name}_ms")
        group.add_argument(
            f"--{name}",
            type=options.whole_number(1),
            default=default,
            metavar="MS",
            help=f"{meaning} (default {default} ms)",
        )
    parser.add_argument(
        "--moves", type=options.whole_number(0), default=DEFAULTS.game_moves, metavar="N",
        help=f"moves of both sides in the game against itself (default {DEFAULTS.game_moves})",
    )  # fmt: skip
    options.add_language(parser)
    options.add_json(parser)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the engine and its arguments, last"
    )
    parser.epilog = EPILOG


def _names(text: str) -> tuple[str, ...]:
    from elolab.arena.checking.checks import CHECKS

    known = [check.name for check in CHECKS]
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no check {name!r}{nearest(name, known)}; --list names them")
    return names


def run(arguments: argparse.Namespace) -> int:
    """Run the checks on a program and print one result per line."""
    if arguments.list:
        return _list()
    settings = _settings(arguments)
    from elolab.arena.checking.checks import chosen
    from elolab.arena.checking.examination import Examination

    checks = chosen(arguments.only, arguments.skip)

    log = dialogue_log(arguments)
    examination = Examination(settings, checks, None if log is None else log.begin)
    try:
        outcomes = _run_checks(examination, settings, is_quiet=arguments.json)
    finally:
        examination.close()
    from elolab.arena.checking.outcome_text import data_of, mark_of

    has_failed = any(mark_of(outcome) == "failed" for outcome in outcomes)
    if arguments.json:
        head = {"command": list(settings.command), "protocol": settings.protocol, "game": settings.game}
        data = [data_of(outcome) for outcome in outcomes]
        options.print_json({**head, "name": examination.name, "keeps_to_protocol": not has_failed, "checks": data})
    return 1 if has_failed else 0


def _list() -> int:
    from elolab.arena.checking.checks import CHECKS
    from elolab.arena.checking.dialects.dialect import Dialect

    say = console("elolab.arena.checking")
    width = max(len(check.name) for check in CHECKS)
    for check in CHECKS:
        words = {"question": Dialect.synchronisation or "isready", "farewell": Dialect.farewell}
        advice = f" [{say('mark.advised')}]" if check.is_recommendation else ""
        print(f"{check.name:<{width}}  {say(f'demand.{check.name}', **words)}{advice}")
    return 0


def _settings(arguments: argparse.Namespace) -> CheckSettings:
    """The settings of the checks from the command line. Raises ``UserError`` for invalid ones."""
    from elolab.arena.players.detect import ProtocolFinder, games_of
    from elolab.arena.players.player import PlayerFault
    from elolab.arena.players.process import find_program
    from elolab.arena.players.registry import protocol_named
    from elolab.engine.errors import UserError

    if arguments.command[:1] == ["--"]:
        del arguments.command[0]
    if not arguments.command:
        raise UsageError("check: COMMAND is missing", "give the engine and its arguments last")
    if arguments.protocol is not None and arguments.protocol not in DIALECTS:
        expected = f"{', '.join(DIALECTS[:-1])} or {DIALECTS[-1]}"
        hint = nearest(arguments.protocol, DIALECTS)
        raise UsageError(f"check: --protocol {arguments.protocol!r}, expected {expected}{hint}")
    engines = engines_file(arguments.engines_file, Path())
    named = arguments.command[0]
    if named in engines:
        _take_from_file(engines.entry(named, "check"), arguments)
    try:
        find_program(arguments.command, arguments.directory)
    except PlayerFault as fault:
        meant = nearest(named, engines.tables)
        raise UserError(f"check: {fault.text}{meant and f'; {engines.path} has no such engine{meant}'}") from None
    protocol = (
        arguments.protocol
        or ProtocolFinder()
        .protocol_of(arguments.command, arguments.directory, arguments.game, arguments.start / 1000)
        .name
    )
    games = protocol_named(protocol).games or ()
    game = arguments.game or games_of((tuple(arguments.command), arguments.directory), protocol_named(protocol))[0]
    if game not in games:
        raise UsageError(f"check: --game {game!r} is not played over {protocol}, only {', '.join(games)} is")
    options = {option.lower(): (option, value) for option, value in arguments.options}  # the last of each
    return CheckSettings(
        game,
        protocol,
        tuple(arguments.command),
        arguments.directory,
        tuple(options.values()),
        margin_ms=arguments.margin,
        start_ms=arguments.start,
        timeout_ms=arguments.timeout,
        ending_ms=arguments.ending,
        stop_ms=arguments.stop,
        clock_ms=arguments.clock,
        game_moves=arguments.moves,
    )


def _take_from_file(entry: Mapping[str, Any], arguments: argparse.Namespace) -> None:
    """Fill ``arguments`` with the settings of an entry in a file of engines; the command line has precedence."""
    given = {"protocol": arguments.protocol, "directory": arguments.directory}
    player, _ = player_of(dict(entry) | {key: value for key, value in given.items() if value}, arguments.game)
    if player.is_builtin:
        raise UsageError(f"check: {player.name} is the built-in engine", "give a program, such as elolab engine")
    arguments.command = [*player.command, *arguments.command[1:]]
    arguments.directory, arguments.protocol = player.directory, player.protocol
    own = dialect_named(player.protocol).own_keys if player.protocol in DIALECTS else ()
    keys = [(key, value) for key, value in player.protocol_keys if key in own]
    arguments.options = [*player.options, *keys, *arguments.options]


def _untried_text(count: int, settings: CheckSettings, failed: Collection[str], say: Catalogue) -> str:
    """Text on the number of checks, ``count``, that were not run after an early failure; ``say`` is the message
    catalogue.

    ``failed`` has the names of failed checks. If the program uses another protocol than the one tested, the text names
    it.
    """
    from elolab.arena.players.detect import true_protocol

    words = say("report.untried", count=count)
    other = true_protocol((settings.command, settings.directory), settings.protocol) if "handshake" in failed else None
    return words if other is None else say("report.untried_other", words=words, title=other.title, name=other.name)


def _run_checks(examination: Examination, settings: CheckSettings, *, is_quiet: bool) -> list[CheckOutcome]:
    """Run the checks on a program and return their outcomes. Unless ``is_quiet``, print each outcome at once."""
    from elolab.arena.checking.outcome_text import lines_of, mark_of, summary

    say = console("elolab.arena.checking")
    dialect = dialect_named(settings.protocol)
    outcomes: list[CheckOutcome] = []

    def tell(*lines: str) -> None:
        if not is_quiet:
            print(*lines, sep="\n", flush=True)

    title = game_words(settings.game, say.language).title
    tell(say("report.title", command=shlex.join(settings.command), title=title, protocol=dialect.title))
    untried = 0
    failed: set[str] = set()
    for outcome in examination.run():
        outcomes.append(outcome)
        if failed & BASIC and outcome.remark is not None and outcome.remark.key == "skip.needs":
            untried += 1  # nearly all checks have this reason, so they are only counted
            continue
        if outcome.verdict == "failed":
            failed.add(outcome.check.name)
        first, *others = lines_of(outcome, dialect, say)
        tell(coloured(first, COLOURS.get(mark_of(outcome), ""), sys.stdout), *others)
    if untried:
        tell(*wrapped(_untried_text(untried, settings, failed, say), text_columns() - 1))
    tell(summary(outcomes, say))
    return outcomes
