"""The commands ``match`` and ``sprt``: two players against each other, described by the command line alone.

Both are tournaments: a folder with a store, resumed by the same command, read by ``elolab report``.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import Any

from arena.cli import add_playing_arguments, play_and_print
from arena.sequential import SequentialSettings
from arena.spec import LONGEST_NAME, SPRT_KEYS, player_entry, spec_from_mapping
from arena.stats import add_hypothesis_arguments, hypotheses_of
from engine.command_line import (
    add_game_argument,
    add_limit_argument,
    add_openings_argument,
    add_seed_argument,
    game_of,
    whole_number,
)

DEFAULT_LIMIT = "nodes=1000"
DEFAULT_PAIRS = 100
DEFAULT_SEED = 1
PLAYER_HELP = (
    "A player is the name of a preset of the built-in engine, or a TOML file: a preset of its own (with sections "
    "[xiangqi], [othello]), merely settings (null_move = false), or what a table [[players]] of a tournament holds "
    "(name, preset, set, limit; protocol and command for an external engine)."
)


def configure_match(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab match``."""
    _add_players(parser)
    parser.add_argument(
        "--pairs", type=whole_number(1), default=DEFAULT_PAIRS, metavar="N",
        help=f"openings, each played twice with colours swapped (default {DEFAULT_PAIRS})",
    )  # fmt: skip
    _add_conditions(parser, "match-A-B")
    parser.epilog = f"{PLAYER_HELP}\n\nGiven again, the command plays only what the folder lacks; more pairs extend it."


def configure_sprt(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab sprt``."""
    batch = SequentialSettings().batch_pairs
    _add_players(parser)
    add_hypothesis_arguments(parser, always=True)
    parser.add_argument(
        "--pairs", type=whole_number(1), metavar="N", help="most pairs to play (default: as many as there are openings)"
    )
    parser.add_argument(
        "--batch-pairs", type=whole_number(1), default=batch, metavar="N",
        help=f"pairs between two looks at the result (default {batch})",
    )  # fmt: skip
    _add_conditions(parser, "sprt-A-B")
    parser.epilog = (
        f"{PLAYER_HELP}\n\n"
        "The test looks after every so many pairs, once all games up to there have ended, so that the verdict is the "
        "same however many games are played at a time. Games beyond the end are kept and marked, but do not count. "
        "Given again, the command resumes.\n\n"
        "Exit code: 0 if H1 was accepted (A is stronger), 3 if H0 was accepted or the test is undecided after the last "
        "pair (the text says which), 1 if games were left unplayed, 130 if interrupted."
    )


def run_match(arguments: argparse.Namespace) -> int:
    """Play, resume or extend a match."""
    return _run("match", arguments, {"pairs": arguments.pairs}, ["--pairs", arguments.pairs])


def run_sprt(arguments: argparse.Namespace) -> int:
    """Play or resume a sequential test."""
    hypotheses_of(arguments)
    test = {name: getattr(arguments, name) for name in SPRT_KEYS}
    words = [word for name, value in test.items() for word in (f"--{name.replace('_', '-')}", value)]
    content: dict[str, Any] = {"sprt": test}
    if arguments.pairs is not None:
        content["pairs"] = arguments.pairs
        words += ["--pairs", arguments.pairs]
    return _run("sprt", arguments, content, words)


def _add_players(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="the player whose strength is in question: a preset or a TOML file")
    parser.add_argument("b", metavar="B", help="its opponent, likewise")


def _add_conditions(parser: argparse.ArgumentParser, folder: str) -> None:
    add_game_argument(parser)
    add_limit_argument(parser, DEFAULT_LIMIT)
    add_openings_argument(parser)
    add_seed_argument(parser, DEFAULT_SEED)
    add_playing_arguments(parser, f"results/{folder}")


def _run(kind: str, arguments: argparse.Namespace, content: dict[str, Any], words: list[Any]) -> int:
    game = game_of(arguments).name
    entries = [player_entry(name, game, arguments.limit) for name in (arguments.a, arguments.b)]
    if entries[0]["name"] == entries[1]["name"]:
        entries[1]["name"] += " (2)"
    described = [kind, arguments.a, arguments.b, *map(_word, words), "--limit", str(arguments.limit)]
    described += ["--seed", str(arguments.seed), "--game", game]
    content |= {
        "name": _folder_name(kind, *(entry["name"] for entry in entries)),
        "game": game,
        "format": kind,
        "seed": arguments.seed,
        "limit": str(arguments.limit),
        "players": entries,
    }
    if arguments.openings is not None:
        content["openings"] = arguments.openings
        described += ["--openings", arguments.openings]
    spec = spec_from_mapping(content, kind)
    return play_and_print(replace(spec, command=tuple(described)), arguments)


def _word(value: Any) -> str:
    """A word of the command line; numbers without a point where they have no fraction."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _folder_name(kind: str, one: str, other: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", f"{kind}-{one}-{other}")[:LONGEST_NAME]
