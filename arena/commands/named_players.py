"""What ``match``, ``sprt`` and ``tournament`` share: players and conditions that the command line alone describes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
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
from engine.settings.limits import Limits

DEFAULT_LIMIT = "nodes=1000"
DEFAULT_SEED = 1
PLAYER_HELP = (
    "A player is the name of a preset of the built-in engine, or a TOML file: a preset of its own (with sections "
    "[xiangqi], [othello]), merely settings (null_move = false), or what a table [[players]] of a tournament holds "
    "(name, preset, set, limit; protocol and command for an external engine)."
)


def add_players(parser: argparse.ArgumentParser) -> None:
    """The two players of a match."""
    parser.add_argument("a", metavar="A", help="the player whose strength is in question: a preset or a TOML file")
    parser.add_argument("b", metavar="B", help="its opponent, likewise")


def add_conditions(parser: argparse.ArgumentParser, folder: str) -> None:
    """The conditions of a match, and how it is played."""
    add_game_argument(parser)
    add_limit_argument(parser, DEFAULT_LIMIT)
    add_openings_argument(parser)
    add_seed_argument(parser, DEFAULT_SEED)
    add_playing_arguments(parser, f"results/{folder}")


def run_named_players(
    command: str, names: Sequence[str], arguments: argparse.Namespace, content: dict[str, Any], words: Sequence[Any]
) -> int:
    """Play what ``content`` says beside players and conditions; ``words`` are those that say it on the command line.

    Returns the exit code.
    """
    game = game_of(arguments).name
    limit = str(arguments.limit or Limits.parse(DEFAULT_LIMIT))
    seed = DEFAULT_SEED if arguments.seed is None else arguments.seed
    entries = [player_entry(name, game, Limits.parse(limit)) for name in names]
    _tell_apart(entries)
    described = [command, *names, *map(_word, words), "--limit", limit, "--seed", str(seed), "--game", game]
    content = {
        "format": command,
        **content,
        "game": game,
        "seed": seed,
        "limit": limit,
        "players": entries,
    }
    content["name"] = _folder_name(content["format"], *(entry["name"] for entry in entries))
    if arguments.openings is not None:
        content["openings"] = arguments.openings
        described += ["--openings", arguments.openings]
    spec = spec_from_mapping(content, command)
    return play_and_print(replace(spec, command=tuple(described)), arguments)


def _tell_apart(entries: Sequence[dict[str, Any]]) -> None:
    """Number the players that have the name of one before."""
    names: list[str] = []
    for entry in entries:
        count = names.count(entry["name"])
        names.append(entry["name"])
        if count:
            entry["name"] += f" ({count + 1})"


def _word(value: Any) -> str:
    """A word of the command line; numbers without a point where they have no fraction."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _folder_name(kind: str, *names: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", "-".join((kind, *names)))[:MAX_NAME_LENGTH]
