"""The command ``tournament``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from arena.commands.arguments import (
    add_specification_argument,
    names_paragraph,
    output_folder,
    specification_of,
)
from arena.commands.results import play_and_print
from arena.commands.words.conditions import add_format_words, format_of_words, pairs_of, sprt_of_words
from arena.commands.words.tournament import PLAYER_HELP, add_tournament_words, play_words, protocol_finder
from arena.schedule import DEFAULT_FORMAT, FORMATS
from engine.commands.arguments import UsageError, whole_number

DEFAULT_PAIRS = 10
WORDS_ALONE = (
    "engines", "each", "game", "limit", "format", "pairs", "rounds", "games", "openings", "draw", "resign", "maxmoves",
    "event", "seed", "sprt",
)  # fmt: skip
"""Arguments that describe a tournament which has no file."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab tournament``."""
    add_specification_argument(parser, "tournaments")
    add_format_words(parser)
    parser.add_argument(
        "--pairs", type=whole_number(1), metavar="N",
        help="openings of an encounter in each round, each played twice with colours swapped (default "
        f"{DEFAULT_PAIRS}; 1 with --rounds)",
    )  # fmt: skip
    parser.add_argument(
        "--sprt", nargs="+", metavar="WORD",
        help="elo0=ELO elo1=ELO alpha=P beta=P model=MODEL: of two players, end as soon as the result is clear",
    )  # fmt: skip
    add_tournament_words(parser, "results/<name of the spec>")
    parser.epilog = (
        "SPEC describes a tournament completely. Without it players and all else are given by words: elolab tournament "
        "--engine ./one --engine ./two --engine default --rounds 2\n\n"
        "Given again, the command plays only the games that the folder lacks: that resumes a tournament after any "
        "stop, and extends it after pairs or players were added. In DIR, {name} stands for the tournament's name and "
        "{identity} for the engine's.\n\n"
    ) + PLAYER_HELP + names_paragraph("tournaments")


def run(arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament."""
    if arguments.spec is None and arguments.engines:
        return _run_words(arguments)
    path = specification_of(arguments, "tournaments", "tournament", ", or players (--engine A --engine B)")
    for name in WORDS_ALONE:
        if getattr(arguments, name) not in (None, []):
            option = "engine" if name == "engines" else name
            raise UsageError(
                f"tournament: --{option} and {arguments.spec!r}: a file says everything; write it there, or describe "
                "the tournament by words without a file"
            )
    return _run_file(path, arguments)


def _run_file(path: Path, arguments: argparse.Namespace) -> int:
    from arena.spec import load_tournament
    from engine.settings.configuration import read_toml

    name = str(read_toml(path).get("name", path.stem))
    finder = protocol_finder(output_folder(arguments.out, name))
    return play_and_print(load_tournament(path, finder, arguments.engines_file), arguments)


def _run_words(arguments: argparse.Namespace) -> int:
    pairs = pairs_of(arguments)
    own: dict[str, Any] = {"format": DEFAULT_FORMAT}
    words: list[Any] = []
    if arguments.sprt is not None:
        own |= {"format": "sprt", "sprt": sprt_of_words(arguments.sprt)}
        words += ["--sprt", *arguments.sprt]
    if arguments.format is not None:
        own |= format_of_words(arguments.format)
        words += ["--format", *arguments.format]
    chosen = FORMATS[own["format"]]
    if arguments.rounds is not None:
        own["rounds"] = arguments.rounds
        words += ["--rounds", arguments.rounds]
    if pairs is None and not chosen.may_take_all_openings:
        pairs = DEFAULT_PAIRS if arguments.rounds is None else 1
    if pairs is not None:
        own["pairs"] = pairs
        words += ["--pairs", pairs]
    return play_words("tournament", arguments, own, words)
