"""Options of cutechess-cli and fastchess that elolab translates, ignores with a warning, or refuses.

The same is done for their ``NAME=VALUE`` arguments. An option or argument is ignored if it affects neither the games
nor their result. If it would, it is refused with a remedy. Options and arguments with the same meaning in elolab are
not listed here.
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from elolab.arena.players.processors import processor_count
from elolab.cli.shared.key_values import SWITCHES, assignments
from elolab.engine.settings.whole_numbers import natural_number

Note = tuple[str, str]
"""An ignored option or ``NAME=VALUE`` argument, and the name of the message that explains why.

The message is in the table ``ignored`` of the message catalogue.
"""

IGNORED: Mapping[str, tuple[int | str, str]] = {
    "recover": (0, "restarts"),
    "autosaveinterval": (1, "stored"),
    "wait": (1, "no_pause"),
    "reverse": (0, "both_colours"),
    "bookmode": (1, "in_memory"),
    "crc32": ("+", "digest"),
    "livepgnout": ("+", "pgn"),
    "debug": ("?", "log"),
    "strict": (0, "exit_code"),
    "ucinewgame-ms": (1, "timeouts"),
    "ping-ms": (1, "timeouts"),
    "site": (1, "site"),
    **dict.fromkeys(("outcomeinterval", "resultformat"), (1, "output")),
    **dict.fromkeys(("output", "report"), ("+", "output")),
    **dict.fromkeys(("show-latency", "testEnv", "check-mate-pvs"), (0, "output")),
}
"""Ignored options, by name without dashes: number of values (``nargs`` of ``argparse``) and name of the explanation."""

IGNORED_WORDS: Mapping[str, Mapping[str, str]] = {
    "--engine": {"trust": "claims", "stderr": "log", "debug": "log"},
    "--openings": {"policy": "policy"},
    "--pgnout": {
        **dict.fromkeys(("notation", "seldepth", "nps", "hashfull", "tbhits", "match_line"), "pgn"),
        "append": "replaced",
    },
    "--epdout": {"append": "replaced"},
}  # fmt: skip
"""For each option, its ignored ``NAME=VALUE`` arguments, by name, with the message that explains why."""

REFUSED: Mapping[str, tuple[int | str, str]] = {
    "compliance": ("+", "elolab check PROGRAM checks an engine's protocol"),
}
"""Refused options, by name without dashes: the number of values (``nargs`` of ``argparse``) and the remedy."""

REFUSED_WORDS: Mapping[str, str] = {
    "book": "games start from the openings of --openings, and the engine is to find its moves; leave it out",
    "bookdepth": "games start from the openings of --openings; leave it out",
    "whitepov": (
        "adjudication reads scores from the point of view of the side to move; leave it out, and switch adjudication "
        "off with --resign movecount=0"
    ),
}
"""``NAME=VALUE`` arguments of ``--engine`` that are refused, by name, with the remedy for each."""

VARIANTS: Mapping[str, tuple[str, str | None]] = {
    "standard": ("chess", None),
    **dict.fromkeys(("fischerandom", "chess960"), ("chess", "chess960")),
}
"""Values of ``-variant`` for variants of chess, with the game and its opening suite (``None``: the default suite)."""
FLAGS = ("ponder", "trust", "whitepov", "debug")
"""``NAME=VALUE`` arguments of ``--engine`` that need no value."""
LOG_WORDS = ("file", "level", "append", "compress", "realtime", "engine")
LEAST_START_MS = 100
"""Minimum value of ``-startup-ms`` in milliseconds; it equals the minimum of the key ``start_timeout``."""

QUICK_ENGINE = ("tc=10+0.1",)
QUICK_DRAW = ("movenumber=30", "movecount=8", "score=8")
QUICK_ROUNDS = 25_000
QUICK_FREE = 2
"""Number of processors that fastchess's ``-quick`` leaves idle.

``QUICK_ENGINE``, ``QUICK_DRAW`` and ``QUICK_ROUNDS`` are the time control, draw adjudication and rounds of ``-quick``.
"""

_Reader = Callable[[argparse.Namespace, str, Sequence[str]], None]
"""Function that handles an option: takes the namespace parsed so far, the option's name, and its values."""


def add_other_options(parser: argparse.ArgumentParser, *, is_for_two: bool) -> None:
    """Add the options of cutechess-cli and fastchess that elolab translates, ignores or refuses.

    ``is_for_two`` is for commands with two players: they also accept ``-tournament``, ``--format`` and ``-seeds``.
    """
    parser.set_defaults(notes=(), refused=())

    def add(option: str, count: int | str, read: _Reader) -> None:
        parser.add_argument(
            option, nargs=count, action=_Call, const=read, help=argparse.SUPPRESS, default=argparse.SUPPRESS
        )

    for name, (count, reason) in IGNORED.items():
        add(f"--{name}", count, functools.partial(_ignore, reason))
    for name, (count, remedy) in REFUSED.items():
        add(f"--{name}", count, functools.partial(_refuse, remedy))
    for name in ("ratinginterval", "scoreinterval"):
        add(f"--{name}", 1, _read_interval)
    add("--variant", 1, _read_variant)
    add("--quick", "+", _read_quick)
    add("-config", "+", _read_config)
    add("-log", "+", _read_log)  # --log has one value, after which players may follow
    parser.add_argument(
        "--startup-ms", dest="each", action="append", type=_start_timeout, help=argparse.SUPPRESS,
        default=argparse.SUPPRESS,
    )  # fmt: skip
    if is_for_two:
        for name in ("tournament", "format"):
            add(f"--{name}", 1, _read_type_for_two)
        add("--seeds", 1, functools.partial(_ignore, "two_players"))


class _Call(argparse.Action):
    """Action of ``argparse`` that passes the namespace, the option's name and its values to the function ``const``."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        read: _Reader = self.const
        read(namespace, str(option), [values] if isinstance(values, str) else values or [])


def _ignore(reason: str, namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    namespace.notes = (*namespace.notes, (option, reason))


def _refuse(remedy: str, namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    namespace.refused = (*namespace.refused, f"{option}: {remedy}")


def _read_variant(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Handle ``-variant``: set the game, and for ``fischerandom`` also the opening suite ``chess960``."""
    namespace.game, openings = VARIANTS.get(words[0], (words[0], None))
    if openings is not None and namespace.openings is None:
        namespace.openings = [f"file={openings}"]


def _read_interval(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Handle an interval in games: set ``--every`` to the smallest interval given; ignore 0, which means never."""
    games = natural_number(words[0])
    if games is None:
        _refuse(f"{words[0]!r} is not a whole number of games", namespace, option, words)
    elif games:
        namespace.every = min(games, namespace.every or games)


def _read_quick(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Handle ``-quick cmd=A cmd=B book=FILE``: set the two players, and the match conditions that fastchess uses."""
    given = [word.partition("=")[::2] for word in words]
    programs = [value for name, value in given if name == "cmd"]
    books = [value for name, value in given if name == "book"]
    if len(programs) != 2 or len(books) != 1 or len(given) != 3:
        _refuse("expected cmd=ENGINE cmd=ENGINE book=FILE", namespace, option, words)
        return
    namespace.engines = [*namespace.engines, *([f"cmd={program}", *QUICK_ENGINE] for program in programs)]
    namespace.openings, namespace.draw = [f"file={books[0]}", "reuse=true"], [*QUICK_DRAW]
    namespace.rounds = QUICK_ROUNDS
    namespace.concurrency = max(1, processor_count() - QUICK_FREE)


def _read_config(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Handle ``-config``: refuse a file from which players and games would be loaded; ignore every other use."""
    given = assignments(words, option, ("file", "discard", "outname", "stats"))
    if "file" in given and SWITCHES.get(given.get("discard", "")) is not True:
        remedy = "elolab resumes by the same command, without such a file; describe the players with -engine"
        _refuse(remedy, namespace, f"{option} file={given['file']}", words)
    else:
        _ignore("resumes", namespace, option, words)


def _read_log(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Handle ``-log``: ``file=NAME engine=true`` sets the folder of ``--log`` to ``NAME`` without its suffix.

    So does ``file=NAME level=trace``. A single value without ``=`` is the folder itself. Any other use is ignored.
    """
    if len(words) == 1 and "=" not in words[0]:
        namespace.log = words[0]
        return
    given = assignments(words, option, LOG_WORDS)
    if "file" in given and (SWITCHES.get(given.get("engine", "")) is True or given.get("level") == "trace"):
        namespace.log = str(PurePath(given["file"]).with_suffix(""))
        _ignore("log_folder", namespace, f"{option} file={given['file']}", words)
    else:
        _ignore("log", namespace, option, words)


def _read_type_for_two(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Handle ``-tournament`` or ``--format`` for two players: ignore a format that is a match, refuse any other."""
    if re.sub("[-_]", "", words[0].lower()) in ("match", "roundrobin", "gauntlet", "pyramid"):
        _ignore("two_players", namespace, option, words)
    else:
        _refuse(f"elolab tournament plays it: elolab tournament {option} {words[0]}", namespace, option, words)


def _start_timeout(text: str) -> str:
    milliseconds = natural_number(text)
    if milliseconds is None or milliseconds < LEAST_START_MS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {LEAST_START_MS} (milliseconds)")
    return f"start_timeout={milliseconds / 1000:g}"


def notes_of(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Ignored options and arguments of a command line, without repetition, by the message that explains why."""
    found: dict[str, list[str]] = {}
    for word, reason in (*arguments.notes, *_ignored_words(arguments)):
        if word not in found.setdefault(reason, []):
            found[reason].append(word)
    return found


def _ignored_words(arguments: argparse.Namespace) -> Iterator[Note]:
    given = [("--engine", words) for words in (*arguments.engines, arguments.each)]
    given += [(f"--{name}", getattr(arguments, name) or ()) for name in ("openings", "pgnout", "epdout")]
    for option, words in given:
        for word in words:
            name = word.partition("=")[0]
            reason = IGNORED_WORDS[option].get(name)
            if reason is not None and word != "policy=round":  # that is what elolab does
                yield f"{option} {name}", reason


def without_ignored(words: Sequence[str], option: str) -> list[str]:
    """Leave out the ignored arguments among ``words``, the ``NAME=VALUE`` arguments of ``option``; returns the rest."""
    return [word for word in words if word.partition("=")[0] not in IGNORED_WORDS[option]]
