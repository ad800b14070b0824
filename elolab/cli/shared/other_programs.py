"""Options and words of cutechess-cli and fastchess that elolab has in another form, ignores with a warning, or refuses.

A word is ignored if the games and their result are the same without it. A word that would change them is refused with a
remedy. Words that mean the same in elolab are read where elolab reads its own.
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
"""A word that is ignored, and the reason: the name of a message in the table ``ignored`` of the catalogue."""

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
"""Number of values (``nargs`` of ``argparse``) and the reason of each ignored option, by its name without dashes."""

IGNORED_WORDS: Mapping[str, Mapping[str, str]] = {
    "--engine": {"trust": "claims", "stderr": "log", "debug": "log"},
    "--openings": {"policy": "policy"},
    "--pgnout": {
        **dict.fromkeys(("notation", "seldepth", "nps", "hashfull", "tbhits", "match_line"), "pgn"),
        "append": "replaced",
    },
    "--epdout": {"append": "replaced"},
}  # fmt: skip
"""The reason of each ignored word, by the option that takes it and the word's name."""

REFUSED: Mapping[str, tuple[int | str, str]] = {
    "noswap": (0, "every opening is played twice, with colours swapped; leave it out"),
    "compliance": ("+", "elolab check PROGRAM checks an engine's protocol"),
}
"""Number of values and the remedy of each refused option, by its name without dashes."""

REFUSED_WORDS: Mapping[str, str] = {
    "book": "games start from the openings of --openings, and the engine is to find its moves; leave it out",
    "bookdepth": "games start from the openings of --openings; leave it out",
    "whitepov": (
        "adjudication reads scores from the point of view of the side to move; leave it out, and switch adjudication "
        "off with --resign movecount=0"
    ),
}
"""The remedy of each refused word of ``--engine``."""

VARIANTS: Mapping[str, tuple[str, str | None]] = {
    "standard": ("chess", None),
    **dict.fromkeys(("fischerandom", "chess960"), ("chess", "chess960")),
}
"""Game and usual opening suite of the variants of chess, by their names in ``-variant``."""
FLAGS = ("ponder", "trust", "whitepov", "debug")
"""Words of ``--engine`` that may stand without a value."""
LOG_WORDS = ("file", "level", "append", "compress", "realtime", "engine")
LEAST_START_MS = 100
"""Least value of ``-startup-ms``, in milliseconds; that of the key ``start_timeout``."""

QUICK_ENGINE = ("tc=10+0.1",)
QUICK_DRAW = ("movenumber=30", "movecount=8", "score=8")
QUICK_ROUNDS = 25_000
QUICK_FREE = 2
"""Meaning of ``-quick`` in fastchess: the clock, the draw rule, the rounds, and the processors that stay free."""

_Reader = Callable[[argparse.Namespace, str, Sequence[str]], None]
"""Reads an option: takes the arguments read so far, the option as given, and its values."""


def add_other_options(parser: argparse.ArgumentParser, *, is_for_two: bool) -> None:
    """Add the options of cutechess-cli and fastchess that elolab ignores, refuses or has in another form.

    ``is_for_two`` adds their options for the type of tournament, which matter only to more than two players.
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
    add("--tbadjudicate", 1, _read_table_results)
    add("-config", "+", _read_config)
    add("-log", "+", _read_log)  # --log has one value, after which players may follow
    parser.add_argument(
        "--startup-ms", dest="each", action="append", type=_start_timeout, help=argparse.SUPPRESS,
        default=argparse.SUPPRESS,
    )  # fmt: skip
    if is_for_two:
        add("--tournament", 1, _read_type_for_two)
        add("--seeds", 1, functools.partial(_ignore, "two_players"))


class _Call(argparse.Action):
    """Calls ``const`` with the arguments read so far, the option as given, and its values."""

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
    """Read the name of a game, or of a variant of chess; ``fischerandom`` begins from its own openings."""
    namespace.game, openings = VARIANTS.get(words[0], (words[0], None))
    if openings is not None and namespace.openings is None:
        namespace.openings = [f"file={openings}"]


def _read_interval(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Read a number of games as ``--every``, the least of several; 0 means never and changes nothing."""
    games = natural_number(words[0])
    if games is None:
        _refuse(f"{words[0]!r} is not a whole number of games", namespace, option, words)
    elif games:
        namespace.every = min(games, namespace.every or games)


def _read_quick(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Read ``-quick cmd=A cmd=B book=FILE``, which stands for two players and all conditions of their match."""
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


def _read_table_results(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Refuse tablebases for some results only."""
    if words[0].upper() != "BOTH":
        remedy = "tablebases end won and drawn games alike (BOTH); leave it out, or play without --tb"
        _refuse(remedy, namespace, f"{option} {words[0]}", words)


def _read_config(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Refuse ``-config file=NAME``, which loads players and games, unless it is discarded; ignore other words."""
    given = assignments(words, option, ("file", "discard", "outname", "stats"))
    if "file" in given and SWITCHES.get(given.get("discard", "")) is not True:
        remedy = "elolab resumes by the same command, without such a file; describe the players with -engine"
        _refuse(remedy, namespace, f"{option} file={given['file']}", words)
    else:
        _ignore("resumes", namespace, option, words)


def _read_log(namespace: argparse.Namespace, option: str, words: Sequence[str]) -> None:
    """Read ``-log file=NAME level=... engine=true``; one word without ``=`` is a folder as for ``--log``."""
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
    """Ignore a type of tournament in which two players meet as in a match; refuse others."""
    if re.sub("[-_]", "", words[0].lower()) in ("roundrobin", "gauntlet", "pyramid"):
        _ignore("two_players", namespace, option, words)
    else:
        _refuse(f"elolab tournament plays it: elolab tournament {option} {words[0]}", namespace, option, words)


def _start_timeout(text: str) -> str:
    milliseconds = natural_number(text)
    if milliseconds is None or milliseconds < LEAST_START_MS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {LEAST_START_MS} (milliseconds)")
    return f"start_timeout={milliseconds / 1000:g}"


def notes_of(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The ignored words of a command line by their reason, each word once, as it was given."""
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
    """The words of ``option`` that elolab reads."""
    return [word for word in words if word.partition("=")[0] not in IGNORED_WORDS[option]]
