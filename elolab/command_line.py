"""Parses the command line and runs the command. A command's module is imported only when the command runs.

Exit codes:

- 0: done
- 1: a failure, games left unplayed, or a game forfeited by a fault
- 2: wrong input
- 3: a tuned setting was not confirmed, or a sequential test did not accept H1
- 130: interrupted
- 141: the program that reads the output has ended
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO

import elolab.tuning  # noqa: F401 - registers its kinds of files
from elolab.arena.players.interruption import EXIT_INTERRUPTED, give_back_signals, requests_to_end, take_over_signals
from elolab.cli import COMMANDS, Command

EXIT_FAILED = 1
EXIT_BROKEN_PIPE = 141
"""Exit code if the program that reads the output has ended: 128 + SIGPIPE, as shells report it."""

SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Error numbers (``errno``) for a lack of file descriptors, processes or memory.

Such an error may carry the name of a file although the file is not its cause.
"""
OUTPUT_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EBADF)
"""Error numbers (``errno``) for writing to a closed output or a full disk."""

_WORDS_OF_NO_MEMORY = re.compile("failed to map segment|cannot allocate memory|can't start new thread", re.IGNORECASE)

TRACEBACK_VARIABLE = "ELOLAB_TRACEBACK"
"""Environment variable that, when set, makes errors show their traceback."""

IN_PLACE_OF_UNICODE = "elolab.in_place_of_unicode"
"""Name under which ``_in_place_of`` is registered as an error handler of ``codecs``."""


EXAMPLES = """\
Examples:
  elolab tournament demo    the same command resumes it
  elolab sprt default no-null-move --elo0 0 --elo1 10
  elolab analyse --depth 8 --moves h2e2
  elolab parameters
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. ``words`` are its arguments, by default this process's."""
    if words is not None:
        return _exit_code(words)
    take_over_signals()
    code = EXIT_FAILED
    try:
        code = _exit_code(sys.argv[1:])
        return code
    finally:
        give_back_signals(code)


def _exit_code(words: Sequence[str]) -> int:
    _prepare_streams()
    try:
        code = _run(list(words))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        _warn("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _flush_or_discard(sys.stdout)
        return EXIT_BROKEN_PIPE
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        if requests_to_end():  # some libraries turn an interruption into another error
            _warn("interrupted")
            return EXIT_INTERRUPTED
        if _lacks_memory(error):
            _warn("not enough memory; allow more (ulimit -v), or end other programs")
            return EXIT_FAILED
        if isinstance(error, OSError):
            _warn(_describe(error))
            return EXIT_FAILED
        raise


def _run(words: list[str]) -> int:
    from elolab.engine.errors import UserError

    if "_ARGCOMPLETE" in os.environ:
        from elolab.cli.completion import offer

        offer(os.environ["COMP_LINE"])
    try:
        if words[:1] == ["help"] and len(words) > 1:
            return run_command(find_command(words[1]), ["--help"])
        if not words or words[0] in ("-h", "--help", "help"):
            print(help_text(), end="")
            return 0
        if words[0] == "--version" or words[1:] in (["-version"], ["--version"]):
            print(f"elolab {_version()}")
            return 0
        return run_command(find_command(words[0]), words[1:])
    except UserError as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        _warn(str(error))
        return error.exit_code


def run_command(command: Command, words: list[str]) -> int:
    """Import a command and run it with the words after its name; returns its exit code."""
    from importlib import import_module

    from elolab.cli.shared.parser import CommandParser
    from elolab.engine.language import DEFAULT_LANGUAGE, speak

    module = import_module(command.module)
    summary = command.summary[0].upper() + command.summary[1:] + "."
    parser = CommandParser(prog=f"elolab {command.name}", description=summary)
    module.configure(parser)
    try:
        arguments = parser.parse_args(words)
    except SystemExit as finished:  # --help
        return int(finished.code or 0)
    arguments.command_line = (command.name, *words)
    speak(getattr(arguments, "language", DEFAULT_LANGUAGE))
    return int(module.run(arguments))


def find_command(name: str) -> Command:
    """Look up a command by name; raises ``UserError`` with the nearest name if there is none."""
    for command in COMMANDS:
        if command.name == name:
            return command

    from elolab.engine.errors import UserError
    from elolab.engine.settings.configuration import nearest

    hint = nearest(name, [command.name for command in COMMANDS])
    kind = "option" if name.startswith("-") else "command"
    raise UserError(f"unknown {kind} {name!r}{hint}", "elolab --help lists the commands")


def help_text() -> str:
    """The text of ``elolab --help``, within 80 columns."""
    lines = [
        "usage: elolab COMMAND [arguments]",
        "",
        "Tournaments between engines and between settings of the built-in engine for",
        "chess, Xiangqi and Othello, with everything needed to find out which is",
        "stronger, and how certain that is.",
    ]
    width = max(len(command.name) for command in COMMANDS)
    group = ""
    for command in COMMANDS:
        if command.group != group:
            group = command.group
            lines += ["", f"{group}:"]
        lines.append(f"  {command.name:<{width}}  {command.summary}")
    lines += ["", "elolab COMMAND --help explains a command; elolab --version prints the version.", "", EXAMPLES]
    return "\n".join(lines)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("elolab")
    except PackageNotFoundError:
        return "(not installed)"


def _warn(message: str) -> None:
    """Print a one-line error to standard error, after flushing standard output."""
    from elolab.arena.colours import RED, coloured, one_line

    _flush_or_discard(sys.stdout)
    print(coloured(f"elolab: {one_line(message)}", RED, sys.stderr), file=sys.stderr)
    _flush_or_discard(sys.stderr)


def _lacks_memory(error: BaseException | None) -> bool:
    """Whether an error, or an error that caused it, is due to a lack of memory.

    A shared library that does not fit into memory raises an ordinary error, which is recognized by its message.
    """
    while error is not None:
        if isinstance(error, MemoryError) or _WORDS_OF_NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.errno in SHORTAGES:
        return f"{reason}: allow more of them (ulimit), or play fewer games at a time (--concurrency)"
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if isinstance(error, FileNotFoundError) and not _has_current_folder():
        return "the current folder no longer exists; change to another one"
    return f"the output cannot be written: {reason}" if error.errno in OUTPUT_ERRORS else reason


def _has_current_folder() -> bool:
    try:
        return bool(os.getcwd())
    except FileNotFoundError:  # another program has removed it
        return False


def _flush_or_discard(stream: TextIO) -> None:
    """Flush a stream; if that fails, redirect it to the null device, so that the interpreter exits without an error."""
    try:
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _prepare_streams() -> None:
    """Replace closed standard streams, and make outputs substitute characters that their encoding lacks.

    Writing to a closed standard output stays an error, because the output would be lost.
    """
    codecs.register_error(IN_PLACE_OF_UNICODE, _in_place_of)
    for name, access in (("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, access)
            setattr(sys, name, open(nowhere, "w", encoding="utf-8"))  # noqa: SIM115 (lives as long as the process)
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=IN_PLACE_OF_UNICODE)


def _in_place_of(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: replace a minus sign by a hyphen, and escape any other character as in JSON.

    Returns the replacement and the index at which encoding continues, as ``codecs`` requires of an error handler.
    """
    import json

    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join("-" if sign == "\N{MINUS SIGN}" else json.dumps(sign)[1:-1] for sign in lacking), error.end
