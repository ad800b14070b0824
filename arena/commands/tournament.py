"""The command ``tournament``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.commands.arguments import add_playing_arguments, names_paragraph, specification_of
from arena.commands.named_players import DEFAULT_LIMIT, DEFAULT_SEED, PLAYER_HELP, run_named_players
from arena.commands.results import play_and_print
from arena.formats.encounters import SEEDINGS
from arena.formats.knockout import TIEBREAKS
from arena.schedule import DEFAULT_FORMAT, FORMATS
from arena.tournament_spec import TournamentSpec
from engine.commands.arguments import (
    DEFAULT_GAME,
    add_limit_argument,
    add_openings_argument,
    add_seed_argument,
    whole_number,
)

DEFAULT_PAIRS = 10
FORMAT_KEYS = (
    "format", "pairs", "rounds", "gauntlet_players", "seeding", "repeats", "tiebreak_pairs", "tiebreak", "third_place",
)  # fmt: skip
"""Keys of a tournament's file that are options too."""
CONDITION_KEYS = ("game", "limit", "openings", "seed")
"""Likewise; what a list of players has for them ``run_named_players`` says."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab tournament``."""
    parser.add_argument(
        "spec", metavar="SPEC", nargs="?",
        help="tournament specification: a TOML file, or one of the names below; or the first of several PLAYERs",
    )  # fmt: skip
    parser.add_argument(
        "players", metavar="PLAYER", nargs="*", help="without a SPEC: two players or more, the first seed first"
    )
    _add_format_arguments(parser)
    conditions = parser.add_argument_group("conditions", "likewise")
    conditions.add_argument("--game", metavar="NAME", help=f"the game (default {DEFAULT_GAME})")
    add_limit_argument(conditions)  # type: ignore[arg-type]
    add_openings_argument(conditions)  # type: ignore[arg-type]
    add_seed_argument(conditions)  # type: ignore[arg-type]
    add_playing_arguments(parser, "results/<name of the spec>, or results/FORMAT-A-B-C")
    parser.epilog = (
        "Given again, the command plays only the games that the folder lacks: that resumes a\n"
        "tournament after any stop, and extends it after pairs, rounds or players were added.\n"
        "A Swiss tournament takes more rounds, a knockout neither rounds nor pairs, and neither\n"
        "of them more players. In DIR, {name} stands for the tournament's name and {identity}\n"
        "for the engine's.\n\n"
        f"{PLAYER_HELP} Between PLAYERs the default limit is {DEFAULT_LIMIT}, --pairs {DEFAULT_PAIRS} and "
        f"--seed {DEFAULT_SEED}."
    ) + names_paragraph("tournaments")


def _add_format_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("format", "in place of what SPEC says")
    group.add_argument(
        "--format", type=_with_underscores, metavar="NAME", help=f"{', '.join(FORMATS)} (default {DEFAULT_FORMAT})"
    )
    group.add_argument(
        "--pairs", type=whole_number(1), metavar="N",
        help="openings of an encounter of two players, each played twice with colours swapped",
    )  # fmt: skip
    group.add_argument(
        "--rounds", type=whole_number(1), metavar="N",
        help="round robin, gauntlet: how often everybody meets (default 1); Swiss: rounds (default: until at most one "
        "player has won every encounter)",
    )  # fmt: skip
    group.add_argument(
        "--gauntlet-players", type=whole_number(1), metavar="N",
        help="gauntlet: how many of the first players play against the rest (default 1)",
    )  # fmt: skip
    group.add_argument(
        "--seeding", choices=SEEDINGS, help="Swiss, knockout: seeds in the order of the players (default), or drawn"
    )
    group.add_argument(
        "--repeats", action=argparse.BooleanOptionalAction,
        help="Swiss: whether players may meet again where it cannot be avoided, for any number of rounds",
    )  # fmt: skip
    group.add_argument(
        "--tiebreak-pairs", type=whole_number(0), metavar="N",
        help="knockout: sudden-death pairs at most after a tied encounter (default 3)",
    )  # fmt: skip
    group.add_argument(
        "--tiebreak", choices=TIEBREAKS,
        help="knockout: who goes on if those are tied too: the better seed (default), or by the toss of a coin",
    )  # fmt: skip
    group.add_argument(
        "--third-place", action=argparse.BooleanOptionalAction,
        help="knockout: whether the losers of the semi-finals play for the third place",
    )  # fmt: skip


def _with_underscores(text: str) -> str:
    return text.replace("-", "_")


def run(arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament."""
    given = _given(arguments, FORMAT_KEYS)
    if not arguments.players:
        path = specification_of(arguments, "tournaments", "tournament")
        return play_and_print(_read(path, given | _given(arguments, CONDITION_KEYS)), arguments)
    chosen = FORMATS.get(given.setdefault("format", DEFAULT_FORMAT))
    if chosen is None or not chosen.may_take_all_openings:
        given.setdefault("pairs", DEFAULT_PAIRS)
    arguments.game = arguments.game or DEFAULT_GAME
    return run_named_players("tournament", (arguments.spec, *arguments.players), arguments, given, _words(given))


def _read(path: Path, given: Mapping[str, Any]) -> TournamentSpec:
    """The tournament of a file, with what was given in place of what stands there."""
    from arena.spec import load_tournament, spec_from_mapping
    from engine.settings.configuration import read_toml

    if not given:
        return load_tournament(path)
    spec = spec_from_mapping({**read_toml(path), **given}, str(path))
    return replace(spec, command=(*spec.words, *_words(given)))


def _given(arguments: argparse.Namespace, keys: tuple[str, ...]) -> dict[str, Any]:
    """The keys for which there was an option, with values as a file would have them."""
    values = {key: getattr(arguments, key) for key in keys if getattr(arguments, key) is not None}
    return values | ({"limit": str(values["limit"])} if "limit" in values else {})


def _words(given: Mapping[str, Any]) -> list[str]:
    """The options that give them."""
    words = []
    for key, value in given.items():
        option = key.replace("_", "-")
        words += [f"--{'' if value else 'no-'}{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
    return words
