"""What ``match`` and ``sprt`` share: two players and the conditions, described by the command line alone."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import Any

from arena.commands.arguments import add_playing_arguments
from arena.commands.results import play_and_print
from arena.spec import MAX_NAME_LENGTH, player_entry, spec_from_mapping
from engine.commands.arguments import (
    add_game_argument,
    add_limit_argument,
    add_openings_argument,
    add_seed_argument,
    game_of,
)

DEFAULT_LIMIT = "nodes=1000"
DEFAULT_SEED = 1
PLAYER_HELP = (
    "A player is the name of a preset of the built-in engine, or a TOML file: a preset of its own (with sections "
    "[xiangqi], [othello]), merely settings (null_move = false), or what a table [[players]] of a tournament holds "
    "(name, preset, set, limit; protocol and command for an external engine)."
)


def add_players(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="the player whose strength is in question: a preset or a TOML file")
    parser.add_argument("b", metavar="B", help="its opponent, likewise")


def add_conditions(parser: argparse.ArgumentParser, folder: str) -> None:
    add_game_argument(parser)
    add_limit_argument(parser, DEFAULT_LIMIT)
    add_openings_argument(parser)
    add_seed_argument(parser, DEFAULT_SEED)
    add_playing_arguments(parser, f"results/{folder}")


def run_two_players(kind: str, arguments: argparse.Namespace, content: dict[str, Any], words: list[Any]) -> int:
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
    return re.sub(r"[^\w.+-]+", "-", f"{kind}-{one}-{other}")[:MAX_NAME_LENGTH]
