"""The command ``tournament``: plays, resumes or extends a tournament."""

from __future__ import annotations

import argparse
from typing import Any

from elolab.arena.player_spec import merged
from elolab.arena.schedule import DEFAULT_FORMAT, FORMATS
from elolab.arena.tournament_spec import SEEDINGS, TIEBREAKS
from elolab.cli.shared.match_conditions import conditions_of, pairs_of, sprt_of_words
from elolab.cli.shared.match_options import (
    DEFAULT_SEED,
    PLAYER_HELP,
    add_tournament_words,
    play_words,
    protocol_finder,
    rounds_as_pairs,
    warn_of_ignored_options,
    warn_of_settings_without_effect,
)
from elolab.cli.shared.options import whole_number
from elolab.cli.shared.parser import CommandParser, UsageError
from elolab.cli.shared.playing_options import EXIT_CODES, names_paragraph, output_folder, specification_of
from elolab.cli.shared.tournament_output import play_and_print
from elolab.engine.settings.configuration import nearest

DEFAULT_PAIRS = 10
FORMAT_KEYS = (
    "format", "pairs", "rounds", "gauntlet_players", "seeding", "repeats", "tiebreak_pairs", "tiebreak", "third_place",
)  # fmt: skip
"""Keys of a tournament's TOML file that choose its format; each is also a command-line option."""


def configure(parser: CommandParser) -> None:
    parser.add_argument(
        "spec", metavar="SPEC", nargs="?",
        help="tournament specification: a TOML file, or one of the names below; or the first of several PLAYERs",
    )  # fmt: skip
    parser.add_argument(
        "players", metavar="PLAYER", nargs="*",
        help="without a SPEC: two players or more, here or by --engine, the first seed first",
    )  # fmt: skip
    _add_format_arguments(parser)
    add_tournament_words(parser, "results/<name of the spec>, or results/FORMAT-A-B-C-LIMIT-seed-N")
    parser.checks.append(_format_mistakes)
    parser.epilog = (
        "Options override SPEC, except for its players.\n\n"
        "Run again, the command plays only the games that the folder lacks: it resumes a tournament after any stop, "
        "and extends it if there are more pairs, rounds or players. A Swiss tournament can be extended by rounds, a "
        "knockout cannot be extended. In DIR, {name} stands for the "
        "tournament's name and {identity} for the engine's.\n\n"
        f"{PLAYER_HELP} Without a SPEC the default of --pairs is {DEFAULT_PAIRS} (with --rounds of a round robin or "
        f"gauntlet 1), and that of --seed {DEFAULT_SEED}.\n\n{EXIT_CODES}"
    ) + names_paragraph("tournaments")


def _add_format_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("format")
    group.add_argument(
        "--format", "--tournament", type=_format_name, metavar="NAME",
        help=f"{', '.join(FORMATS)} (default {DEFAULT_FORMAT})",
    )  # fmt: skip
    group.add_argument(
        "--pairs", type=whole_number(1), metavar="N",
        help="openings of an encounter of two players, each played twice with colours swapped",
    )  # fmt: skip
    group.add_argument(
        "--gauntlet-players", type=whole_number(1), metavar="N",
        help="gauntlet: how many of the first players play against the rest (default 1)",
    )  # fmt: skip
    group.add_argument("--seeds", dest="gauntlet_players", type=whole_number(1), help=argparse.SUPPRESS)
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
    group.add_argument(
        "--sprt", nargs="+", metavar="WORD",
        help="elo0=ELO elo1=ELO alpha=P beta=P model=MODEL: of two players, end as soon as the result is clear",
    )  # fmt: skip


def _format_name(text: str) -> str:
    """Convert the name of a tournament format to its canonical spelling; an unknown name is returned unchanged."""
    spelled = {name.replace("_", ""): name for name in FORMATS} | {"pyramid": "round_robin"}  # the same encounters
    return spelled.get(text.lower().replace("-", "").replace("_", ""), text)


def _format_mistakes(arguments: argparse.Namespace) -> list[str]:
    """Error messages if the name of the tournament format is wrong; checked before any engine is started."""
    kind = arguments.format
    if kind is None or kind in FORMATS:
        return []
    return [f"format = {kind!r}, expected {' or '.join(map(repr, FORMATS))}{nearest(kind, FORMATS)}"]


def run(arguments: argparse.Namespace) -> int:
    given = {key: getattr(arguments, key) for key in FORMAT_KEYS if getattr(arguments, key) is not None}
    pairs = pairs_of(arguments)
    if pairs is not None:
        given["pairs"] = pairs
    if not arguments.players and not arguments.engines:
        return _run_file(arguments, given)
    if arguments.sprt is not None and given.get("format") in (None, "round_robin", "gauntlet"):
        given |= {"format": "sprt"} | ({} if arguments.rounds is None else {"pairs": rounds_as_pairs(arguments)})
        for key in ("gauntlet_players", "rounds"):
            given.pop(key, None)
    chosen = FORMATS[given.setdefault("format", DEFAULT_FORMAT)]
    if not chosen.may_take_all_openings:
        is_repeated = arguments.rounds is not None and chosen.most_rounds(2) is None
        given.setdefault("pairs", 1 if is_repeated else DEFAULT_PAIRS)
    return play_words("tournament", arguments, given | _sprt(arguments))


def _run_file(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    """Play the tournament of a TOML file and return the exit code.

    ``given`` has values from the command line, by key of the file. They override the file's values.
    """
    from elolab.arena.tournament_reader import TOURNAMENT, spec_from_mapping
    from elolab.engine.settings.configuration import read_toml
    from elolab.engine.settings.schema import Table

    warn_of_ignored_options(arguments)
    path = specification_of(arguments, "tournaments", "tournament", ", or players (A B C, --engine A --engine B)")
    if arguments.each:
        raise UsageError(
            f"tournament: --each and {arguments.spec!r}: that file describes the players", "change them there"
        )
    data = read_toml(path)
    game = arguments.game or Table(data, str(path), TOURNAMENT, kind="tournaments")["game"]
    given |= _sprt(arguments) | conditions_of(arguments, game)
    for key, value in (
        ("game", arguments.game), ("seed", arguments.seed), ("name", arguments.event),
        ("engines", arguments.engines_file), ("limit", arguments.limit),
    ):  # fmt: skip
        if value is not None:
            given[key] = str(value) if key == "limit" else value
    content = merged(data, given)
    finder = protocol_finder(output_folder(arguments.out, str(content.get("name", path.stem))))
    spec = spec_from_mapping(content, str(path), finder)
    warn_of_settings_without_effect(content["players"], spec.players)
    return play_and_print(spec, arguments)


def _sprt(arguments: argparse.Namespace) -> dict[str, Any]:
    return {} if arguments.sprt is None else {"sprt": sprt_of_words(arguments.sprt)}
