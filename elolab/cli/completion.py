"""The command ``completion``: scripts that let a shell complete commands, options and names of configurations.

A script holds all words, taken from the commands' own parsers, so that pressing Tab starts no Python. It knows the
names of shipped configurations, and completes files where an argument may be one.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from elolab.cli.shared.parser import CommandParser

SPECIFICATIONS = {"tournament": "tournaments", "tune": "tuning", "ablate": "ablations", "claims": "claims"}
"""The kind of configuration that each command's ``SPEC`` is."""
PLAYERS = ("A", "B", "PLAYER")
"""Metavariables of players in the help; each may be a preset."""
FILES = (*PLAYERS, "FILE", "DIR", "SPEC", "SUITE", "INPUT", "WEIGHTS", "COMMAND")
"""Metavariables of arguments in the help that may be files or folders."""


@dataclass(frozen=True)
class Option:
    """An option of a command."""

    name: str
    """The option, with its dashes."""
    meaning: str
    takes_value: bool
    takes_more: bool
    """Whether further values may follow the first."""
    values: tuple[str, ...]
    """Its possible values, if they can be listed."""
    takes_files: bool
    """Whether to offer files if no value matches."""


@dataclass(frozen=True)
class Completion:
    """What may follow a command, or a command and its subcommand."""

    path: str
    """The command and its subcommand, separated by a space."""
    summary: str
    options: tuple[Option, ...]
    names: tuple[str, ...]
    """Words to offer as positional arguments."""
    takes_files: bool
    """Whether to offer files too."""


def configure(parser: CommandParser) -> None:
    """The arguments of ``elolab completion``."""
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell for which a script is printed")
    parser.epilog = (
        "To have it in every new shell:\n"
        "  bash   elolab completion bash >> ~/.bash_completion\n"
        "  zsh    elolab completion zsh > DIR/_elolab      with a DIR of $fpath\n"
        "  fish   elolab completion fish > ~/.config/fish/completions/elolab.fish\n\n"
        "In this one only: source <(elolab completion bash), and the same with zsh; elolab completion fish | source."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(SCRIPTS[arguments.shell](list(completions())), end="")
    return 0


def completions() -> Iterator[Completion]:
    """All commands, each followed by its subcommands."""
    from importlib import import_module

    from elolab.command_line import COMMANDS

    for command in COMMANDS:
        parser = CommandParser(prog=f"elolab {command.name}")
        import_module(command.module).configure(parser)
        yield from _of_parser(parser, command.name, command.summary)
    yield Completion("help", "explain a command", (), tuple(command.name for command in COMMANDS), False)


def _of_parser(parser: CommandParser, path: str, summary: str) -> Iterator[Completion]:
    options: list[Option] = []
    names: list[str] = []
    below: list[Completion] = []
    takes_files = parser.implied is not None  # the implied subcommand takes them
    for action in parser._actions:
        if action.help is argparse.SUPPRESS:
            continue
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                inner = _of_parser(action.choices[choice.dest], f"{path} {choice.dest}", choice.help or "")
                below += inner
                names.append(choice.dest)
        elif action.option_strings:
            takes_value = action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)
            values = _values_of(action, path) if takes_value else ()
            # argparse writes help with the fields of the action
            meaning = (action.help or "") % {**vars(action), "prog": parser.prog}
            words = [word for word in action.option_strings if word.startswith("--")]
            more = action.nargs in ("+", "*")
            options += [Option(word, meaning, takes_value, more, values, _may_be_file(action)) for word in words]
        else:
            names += _values_of(action, path)
            takes_files |= _may_be_file(action)
    yield Completion(path, summary, tuple(options), tuple(dict.fromkeys(names)), takes_files)
    yield from below


def _may_be_file(action: argparse.Action) -> bool:
    return action.metavar in FILES or action.dest in ("preset", "openings", "engines")


def _values_of(action: argparse.Action, path: str) -> tuple[str, ...]:
    """The possible values of an argument; empty if they cannot be listed."""
    from elolab.arena.checking.checks import CHECKS
    from elolab.arena.checking.dialects import DIALECTS
    from elolab.arena.protocols.ucci import TIME_UNITS
    from elolab.arena.schedule import FORMATS
    from elolab.engine.games import GAMES, game_named
    from elolab.engine.language import LANGUAGES
    from elolab.engine.settings.configuration import available_configs
    from elolab.engine.settings.parameters import BY_NAME
    from elolab.tuning.keys.reference import known_names

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
        return tuple(name for name in GAMES if game_named(name).score_unit)
    if action.metavar == "NAMES":
        return tuple(check.name for check in CHECKS)
    return {
        "game": tuple(GAMES), "language": LANGUAGES, "protocol": tuple(DIALECTS), "format": tuple(FORMATS),
        "suite": tuple(available_configs("suites")), "time_unit": TIME_UNITS,
        "assignments": tuple(f"{name}=" for name in BY_NAME),
    }.get(action.dest, ())  # fmt: skip


# Scripts


def bash_script(found: Sequence[Completion]) -> str:
    """The script for bash 3.2 or later."""
    return f"""\
# Completion of elolab for bash; made by: elolab completion bash
_elolab() {{
    local IFS=$'\\n' word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= names= files= valued=
    local path=${{COMP_WORDS[1]}} last=$((COMP_CWORD - 1))
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W {_list(_commands(found), "bash")} -- "$word"))
        return
    fi
    if ((COMP_CWORD > 2)); then
        case "$path ${{COMP_WORDS[2]}}" in
            {_paths(found)}) path="$path ${{COMP_WORDS[2]}}" ;;
        esac
    fi
    while ((last > 1)) && [[ ${{COMP_WORDS[last]}} != --* ]]; do ((last--)); done
    if [[ $word != [-=]* && $before != = ]]; then
        case "$path ${{COMP_WORDS[last]}}" in
            {_with_more(found)}) before=${{COMP_WORDS[last]}} ;;
        esac
    fi
    case "$path $before" in
{_lines(f"        {keys}) {offered} valued=1 ;;" for keys, offered in _valued(found, "bash"))}
    esac
    if [[ -z $valued ]]; then
        case "$path" in
{_lines(_bash_branch(one) for one in found)}
        esac
        [[ $word == -* ]] && names=$words files=
    fi
    COMPREPLY=($(compgen -W "$names" -- "$word"))
    if [[ ${{COMPREPLY[0]}} == *= ]]; then
        compopt +o filenames -o nospace 2>/dev/null
    fi
    if [[ -n $files && ( -z $valued || ${{#COMPREPLY[@]}} -eq 0 ) ]]; then
        COMPREPLY+=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _elolab elolab
"""


def _bash_branch(one: Completion) -> str:
    options = [option.name for option in one.options]
    offered = _offered(one.names, one.takes_files, "bash")
    return f"            {shlex.quote(one.path)}) words={_list(options, 'bash')} {offered} ;;"


def zsh_script(found: Sequence[Completion]) -> str:
    """The script for zsh 5 or later, to be found in ``$fpath`` or sourced."""
    return f"""\
#compdef elolab
# Completion of elolab for zsh; made by: elolab completion zsh
_elolab() {{
    local word=$PREFIX before=$words[CURRENT-1] at=$words[2] files= valued= last=$((CURRENT - 1))
    local -a known names
    if ((CURRENT == 2)); then
        known=(
{_lines(f"            {shlex.quote(f'{one.path}:{_plain(one.summary)}')}" for one in found if " " not in one.path)}
        )
        _describe command known
        return
    fi
    if ((CURRENT > 3)); then
        case "$at $words[3]" in
            ({_paths(found)}) at="$at $words[3]" ;;
        esac
    fi
    while ((last > 2)) && [[ $words[last] != --* ]]; do ((last--)); done
    if [[ $word != -* ]]; then
        case "$at $words[last]" in
            ({_with_more(found)}) before=$words[last] ;;
        esac
    fi
    case "$at $before" in
{_lines(f"        ({keys}) {offered} valued=1 ;;" for keys, offered in _valued(found, "zsh"))}
    esac
    if [[ -z $valued ]]; then
        case "$at" in
{_lines(_zsh_branch(one) for one in found)}
        esac
        if [[ $word == -* ]]; then
            _describe option known
            return
        fi
    fi
    local -a ending
    if [[ $names[1] == *= ]]; then
        ending=(-S '')
    fi
    if ! compadd "$ending[@]" -- $names || [[ -z $valued ]]; then
        if [[ -n $files ]]; then
            _files
        fi
    fi
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _elolab "$@"
else
    compdef _elolab elolab
fi
"""


def _zsh_branch(one: Completion) -> str:
    options = " ".join(shlex.quote(f"{option.name}:{_plain(option.meaning)}") for option in one.options)
    offered = _offered(one.names, one.takes_files, "zsh")
    return f"            ({shlex.quote(one.path)}) known=({options}) {offered} ;;"


FISH_HEAD = """\
# Completion of elolab for fish; made by: elolab completion fish
function __elolab_at --description 'Whether the command, or it and its subcommand, are these'
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test "$words[2..$last]" = "$argv"
end
function __elolab_values_of --description 'Whether the last option before the cursor is one of these'
    for word in (commandline -opc)[-1..1]
        if string match -q -- '--*' $word
            contains -- $word $argv
            return
        end
    end
    return 1
end
function __elolab_names_or_files --description 'These names, or files where none of them fits'
    set -l word (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    for name in $argv
        if string match -q -- "$word*" $name
            printf '%s\\n' $argv
            return
        end
    end
    __fish_complete_path $word
end"""


def fish_script(found: Sequence[Completion]) -> str:
    """The script for fish 3 or later."""
    lines = [FISH_HEAD]
    parents = {one.path.split()[0] for one in found if " " in one.path}
    for one in found:
        command, _, inner = one.path.partition(" ")
        where = "__fish_use_subcommand"
        if inner:
            siblings = " ".join(_inner_commands(found, command))
            where = f"__elolab_at {command}; and not __fish_seen_subcommand_from {siblings}"
        lines.append(f"complete -c elolab -n {_fish(where)} -f -a {_fish(inner or command)} -d {_fish(one.summary)}")
        here = f"__elolab_at {one.path}"
        for option in one.options:
            line = f"complete -c elolab -n {_fish(here)} -l {option.name[2:]} -d {_fish(_plain(option.meaning))}"
            lines.append(line + (f" -r{_fish_values(option)}" if option.takes_value else ""))
            if option.takes_more:
                line = f"complete -c elolab -n {_fish(f'{here}; and __elolab_values_of {option.name}')}"
                lines.append(line + _fish_values(option))
        more = " ".join(option.name for option in one.options if option.takes_more)
        alone = f"{here}; and not __elolab_values_of {more}" if more else here
        line = f"complete -c elolab -n {_fish(alone)}{_fish_files(one.takes_files)}"
        if one.names and (inner or command not in parents):
            line += f" -a {_fish(' '.join(one.names))}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _fish_values(option: Option) -> str:
    """Fish's options that offer an option's values."""
    if not option.values:
        return _fish_files(option.takes_files)
    names = " ".join(option.values)
    return _fish_files(False) + f" -a {_fish(f'(__elolab_names_or_files {names})' if option.takes_files else names)}"


def _fish_files(are_offered: bool) -> str:
    """Fish's switch for files; ``-F`` on one line overrides ``-f`` on another, such as the command's own."""
    return " -F" if are_offered else " -f"


SCRIPTS: dict[str, Callable[[Sequence[Completion]], str]] = {
    "bash": bash_script, "zsh": zsh_script, "fish": fish_script,
}  # fmt: skip


def _commands(found: Sequence[Completion]) -> list[str]:
    return [one.path for one in found if " " not in one.path]


def _inner_commands(found: Sequence[Completion], command: str) -> list[str]:
    return [one.path.split()[1] for one in found if one.path.startswith(f"{command} ")]


def _paths(found: Sequence[Completion]) -> str:
    """All commands with their subcommands, as the pattern of a ``case``."""
    return "|".join(shlex.quote(one.path) for one in found if " " in one.path)


def _with_more(found: Sequence[Completion]) -> str:
    """All commands and options that take several values, as the pattern of a ``case``."""
    return "|".join(
        shlex.quote(f"{one.path} {option.name}") for one in found for option in one.options if option.takes_more
    )


def _valued(found: Sequence[Completion], shell: str) -> Iterator[tuple[str, str]]:
    """Commands and options with a value, as the pattern of a ``case``, and the shell code that offers their values."""
    alike: dict[str, list[str]] = {}
    for one in found:
        for option in one.options:
            if option.takes_value:
                offered = _offered(option.values, option.takes_files, shell)
                alike.setdefault(offered, []).append(shlex.quote(f"{one.path} {option.name}"))
    for offered, keys in alike.items():
        yield "|".join(keys), offered


def _offered(names: Sequence[str], takes_files: bool, shell: str) -> str:
    """Shell assignments of the names to offer and of whether to offer files."""
    return f"names={_list(names, shell)} files={int(takes_files) or ''}"


def _list(words: Sequence[str], shell: str) -> str:
    """A shell's list of words: for bash one text with line breaks, for zsh an array."""
    if shell == "bash":
        return "$'" + "\\n".join(re.sub(r"([\\'])", r"\\\1", word) for word in words) + "'"
    return f"({' '.join(map(shlex.quote, words))})"


def _plain(text: str) -> str:
    """A description on one line, without the colons that ``_describe`` reads as separators."""
    return re.sub(r"\s+", " ", text).replace(":", " -").strip()


def _fish(text: str) -> str:
    """A text in single quotes, with fish's two escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _lines(lines: Iterator[str]) -> str:
    return "\n".join(lines)
