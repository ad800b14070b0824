"""The command ``completion``: lets a shell complete commands, options and names of configurations.

The printed script calls elolab whenever Tab is pressed; ``offer`` then prints the completions that argcomplete finds.
"""

from __future__ import annotations

import argparse
import functools
from importlib import import_module
from typing import Any

from argcomplete.completers import FilesCompleter
from argcomplete.finders import CompletionFinder
from argcomplete.shell_integration import shellcode

from elolab.cli import COMMANDS
from elolab.cli.shared.parser import CommandParser

SHELLS = ("bash", "zsh", "fish")
SPECIFICATIONS = {"tournament": "tournaments", "tune": "tuning", "ablate": "ablations", "claims": "claims"}
"""Kind of configuration file that the argument ``SPEC`` names, by command."""
PLAYERS = ("A", "B", "PLAYER")
"""Metavariables of arguments that describe a player; a value may be the name of a preset."""
FILES = (*PLAYERS, "FILE", "DIR", "SPEC", "SUITE", "INPUT", "WEIGHTS", "COMMAND")
"""Metavariables of arguments whose values may be files or folders."""


def configure(parser: CommandParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell for which a script is printed")
    parser.epilog = (
        "To enable completion in every new shell:\n"
        "  bash   elolab completion bash >> ~/.bash_completion\n"
        "  zsh    elolab completion zsh > DIR/_elolab      with a DIR of $fpath\n"
        "  fish   elolab completion fish > ~/.config/fish/completions/elolab.fish\n\n"
        "In the current shell only: source <(elolab completion bash), also for zsh; elolab completion fish | source."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the completion script for a shell."""
    print(shellcode(["elolab"], use_defaults=False, shell=arguments.shell))
    return 0


def offer(line: str) -> None:
    """Print the possible completions of a command line for the shell, then exit the process."""
    CompletionFinder()(parser_for(line), always_complete_options=False)


def parser_for(line: str) -> CommandParser:
    """A parser that knows every command; only the command named in ``line`` has its arguments."""
    parser = CommandParser(prog="elolab")
    commands = parser.add_subparsers()
    for command in COMMANDS:
        inner = commands.add_parser(command.name, help=command.summary)
        if command.name in line.split()[1:2]:
            import_module(command.module).configure(inner)
            _complete_values(inner, command.name)
    commands.add_parser("help", help="explain a command").add_argument("name", choices=[one.name for one in COMMANDS])
    return parser


def _complete_values(parser: argparse.ArgumentParser, path: str) -> None:
    """Give each argument a function that completes its values; ``path`` is the command with its subcommand, if any."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                _complete_values(inner, f"{path} {name}")
        action.completer = functools.partial(_offered, path)  # type: ignore[attr-defined]


def _offered(path: str, *, action: argparse.Action, prefix: str, **_: Any) -> list[str]:
    """Completions of ``prefix`` for an argument: its possible values, and files where files are allowed.

    For an option, files are offered only if no value matches.
    """
    found = [name for name in _values_of(action, path) if name.startswith(prefix)]
    takes_files = isinstance(action, argparse._SubParsersAction) or _may_be_file(action)
    return found + FilesCompleter()(prefix) if takes_files and not (found and action.option_strings) else found


def _may_be_file(action: argparse.Action) -> bool:
    return action.metavar in FILES or action.dest in ("preset", "openings", "engines")


def _values_of(action: argparse.Action, path: str) -> tuple[str, ...]:
    """The possible values of an argument; empty if they cannot be listed."""
    from elolab.arena.checking.checks import CHECKS
    from elolab.arena.checking.dialects import DIALECTS
    from elolab.arena.protocols.ucci import TIME_UNITS
    from elolab.arena.schedule import FORMATS
    from elolab.engine.games import GAMES
    from elolab.engine.language import LANGUAGES
    from elolab.engine.settings.configuration import available_configs
    from elolab.engine.settings.parameters import BY_NAME
    from elolab.engine.solving import solvable_games
    from elolab.tuning.keys.reference import known_names

    if isinstance(action, argparse._SubParsersAction):
        return ()
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.metavar == "SPEC" and path in SPECIFICATIONS:
        return tuple(available_configs(SPECIFICATIONS[path]))
    if action.metavar in PLAYERS or action.dest in ("preset", "engines"):
        return tuple(available_configs("engines")) if action.metavar != "FILE" else ()
    if action.dest == "openings":
        return tuple(available_configs("openings"))
    if action.dest == "names":
        return {"parameters": tuple(BY_NAME), "keys": known_names()}.get(path, ())
    if action.dest == "game" and path == "solve":
        return tuple(solvable_games())
    if action.metavar == "NAMES":
        return tuple(check.name for check in CHECKS)
    return {
        "game": tuple(GAMES), "language": LANGUAGES, "protocol": tuple(DIALECTS), "format": tuple(FORMATS),
        "suite": tuple(available_configs("suites")), "time_unit": TIME_UNITS,
        "assignments": tuple(f"{name}=" for name in BY_NAME),
    }.get(action.dest, ())  # fmt: skip
