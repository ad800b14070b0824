"""Options that apply to all games of a tournament: openings, rules, adjudication, rounds, and the sequential test."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from elolab.arena.tournament_spec import RULES, SPRT
from elolab.cli.shared.engine_options import read_player_words
from elolab.cli.shared.key_values import SWITCHES, assignments, plain_value
from elolab.cli.shared.options import warn, whole_number
from elolab.cli.shared.other_programs import without_ignored
from elolab.cli.shared.parser import UsageError
from elolab.engine.games import game_named
from elolab.engine.language import console
from elolab.engine.rules import MAX_PLIES, MAX_TABLEBASE_PIECES, TABLEBASE_RESULTS, Adjudication
from elolab.engine.settings.schema import WHOLE, Field
from elolab.engine.settings.whole_numbers import natural_number

OPENINGS_KEYS = {
    "file": "openings", "order": "opening_order", "plies": "opening_plies", "start": "opening_start",
    "part": "opening_part", "reuse": "opening_reuse",
}  # fmt: skip
"""Arguments ``NAME=VALUE`` of ``--openings``, with the key of a tournament's file that each one sets."""
DRAW_WORDS = ("movenumber", "movecount", "score")
RESIGN_WORDS = ("movecount", "score", "twosided")
PGN_MORE = ("pv", "timeleft", "latency")
"""Arguments of fastchess's ``--pgnout`` that add information on moves to the PGN; each selects elolab's full detail."""
PGN_WORDS = ("min", "nodes", "seldepth", "nps", "hashfull", "tbhits", "append", "notation", "match_line", *PGN_MORE)
"""Arguments that fastchess's ``--pgnout`` accepts besides ``file``.

``min`` selects less detail, the arguments in ``PGN_MORE`` select full detail; the others have no effect.
"""
GAMES_OF_A_PAIR = 2
STANDARD = Adjudication()


def add_condition_words(parser: argparse.ArgumentParser) -> None:
    """Add options for openings, rules, adjudication, rounds and files; read them with ``conditions_of``."""
    parser.add_argument(
        "--rounds", type=whole_number(1), metavar="N",
        help="rounds: play all encounters N times, each time from new openings; in a Swiss tournament its rounds",
    )  # fmt: skip
    parser.add_argument("--games", type=_games, metavar="N", help="games of an encounter in a round: 2 for every pair")
    parser.add_argument("--repeat", nargs="?", type=_repeat, const=GAMES_OF_A_PAIR, help=argparse.SUPPRESS)
    parser.add_argument(
        "--openings", nargs="+", metavar="WORD",
        help="opening suite: a file or the name of a shipped one; or file=FILE with order=random|sequential, start=N "
        "(from 1), plies=N (of games in PGN), part=tournament|validation|all, "
        "reuse=true (on a clock: play them again if there are too few)",
    )  # fmt: skip
    parser.add_argument(
        "--noswap", action="store_true",
        help="do not swap colours: each opening is played once, and the player named first moves first in every game",
    )  # fmt: skip
    parser.add_argument(
        "--rules", nargs="+", metavar="WORD",
        help=f"rules of the game, the keys of a table [rules]: {', '.join(map(_example, RULES.keys.values()))}; "
        "separated by blanks or commas",
    )  # fmt: skip
    parser.add_argument(
        "--draw", nargs="+", metavar="WORD",
        help="movenumber=N movecount=N score=S: a draw from move movenumber on once both sides' scores were within S "
        "hundredths for movecount moves (default: no such draws)",
    )  # fmt: skip
    parser.add_argument(
        "--resign", nargs="+", metavar="WORD",
        help="movecount=N score=S: a loss once both sides' scores have shown a lead of S hundredths for N moves, or "
        "with twosided=false once the loser's scores have; "
        f"default movecount={STANDARD.resign_moves} score={STANDARD.resign_score}, in Othello none; off is movecount=0",
    )  # fmt: skip
    parser.add_argument(
        "--maxmoves", type=whole_number(0, MAX_PLIES // 2), metavar="N",
        help=f"moves of each side after which the game is drawn (default {STANDARD.maximum_plies // 2}; 0 is never)",
    )  # fmt: skip
    parser.add_argument(
        "--tb", metavar="FOLDERS",
        help="chess: end games by the Syzygy tablebases in these folders (needs pip install elolab[syzygy])",
    )  # fmt: skip
    parser.add_argument(
        "--tbpieces", type=whole_number(0, MAX_TABLEBASE_PIECES), metavar="N",
        help="largest number of pieces, kings included, for which tables are probed (default: the tables' largest)",
    )  # fmt: skip
    parser.add_argument(
        "--tbignore50", action="store_true", help="count tablebase wins even where the 50-move rule draws the game"
    )
    parser.add_argument(
        "--tbadjudicate", type=str.lower, choices=TABLEBASE_RESULTS, default=TABLEBASE_RESULTS[0],
        help="tablebase results that end a game: all (default), wins and losses, or draws",
    )  # fmt: skip
    parser.add_argument("--event", metavar="NAME", help="name of the tournament and of its folder")
    parser.add_argument(
        "--pgnout",
        nargs="+",
        metavar="WORD",
        help="FILE [min]: write the games to FILE too, in addition to games.pgn in the folder; min is --pgn-detail min",
    )
    parser.add_argument("--epdout", nargs="+", metavar="FILE", help="write the final position of each game to FILE")


def condition_mistakes(arguments: argparse.Namespace) -> list[str]:
    """Check the values of all condition options and return every error, so that one report can list them all.

    A command line written for another program often has several errors.
    """
    mistakes = []
    for words, read in (
        *((words, read_player_words) for words in arguments.engines),
        (arguments.each, lambda words: read_player_words(words, "--each")),
        (arguments.openings, _openings),
        (arguments.rules, rules_of_words),
        (arguments.draw, _draw),
        (arguments.resign, _resign),
        (getattr(arguments, "sprt", None), sprt_of_words),
        (arguments.pgnout, pgn_words),
        (arguments.epdout, epd_file),
    ):
        if words is not None:
            try:
                read(words)
            except UsageError as error:
                mistakes.append(str(error))
    return [*arguments.refused, *mistakes]


def _example(key: Field) -> str:
    """A key with its possible values for a help text, such as ``name=on|off`` or ``name=N``."""
    if key.choices:
        return f"{key.name}={'|'.join(map(str, key.choices))}"
    return f"{key.name}={'N' if WHOLE in key.kinds else 'on|off'}"


def add_single_dashes(parser: argparse.ArgumentParser) -> None:
    """Make the parser also accept every option with a single dash, as cutechess-cli and fastchess do."""
    for option, action in list(parser._option_string_actions.items()):
        if option.startswith("--") and not isinstance(action, argparse.BooleanOptionalAction):
            parser._option_string_actions.setdefault(option[1:], action)


def _games(text: str) -> int:
    games = natural_number(text)
    if not games or games % GAMES_OF_A_PAIR:
        raise argparse.ArgumentTypeError(
            f"{text!r}: every opening is played twice with colours swapped, so that games come in pairs; give an even "
            "number, or --pairs N"
        )
    return games


def _repeat(text: str) -> int:
    if text != str(GAMES_OF_A_PAIR):
        raise argparse.ArgumentTypeError(
            f"{text!r}: every opening is played twice, with colours swapped; more pairs have more openings (--pairs N)"
        )
    return GAMES_OF_A_PAIR


def pairs_of(arguments: argparse.Namespace) -> int | None:
    """Number of game pairs of two players in a round, from ``--pairs`` or ``--games``; ``None`` without both.

    Raises ``UsageError`` if both are given.
    """
    if arguments.pairs is not None and arguments.games is not None:
        raise UsageError(
            f"--pairs {arguments.pairs} --games {arguments.games}: both set how often two players meet, and a pair is "
            "two games",
            "give one of them",
        )
    games = arguments.games
    pairs: int | None = arguments.pairs
    return pairs if games is None else games // GAMES_OF_A_PAIR


def conditions_of(arguments: argparse.Namespace, game: str) -> dict[str, Any]:
    """Keys of a tournament's file, with values, from the options of ``add_condition_words``; ``game`` is the game's
    name.

    Raises ``UsageError`` for wrong values.
    """
    content: dict[str, Any] = {}
    adjudication: dict[str, Any] = {}
    if arguments.openings is not None:
        content |= _openings(arguments.openings)
    if arguments.noswap:
        content["swap_colours"] = False
    if arguments.rules is not None:
        content["rules"] = rules_of_words(arguments.rules)
    if arguments.draw is not None:
        adjudication |= _draw(arguments.draw)
    if arguments.resign is not None:
        adjudication |= _resign(arguments.resign)
    if arguments.maxmoves is not None:
        adjudication["maximum_plies"] = 2 * arguments.maxmoves
    if arguments.tb is not None:
        adjudication |= _tablebases(arguments, game)
    return content | ({"adjudication": adjudication} if adjudication else {})


def _tablebases(arguments: argparse.Namespace, game: str) -> dict[str, Any]:
    """Keys of adjudication by tablebases, from the options; empty, with a warning, if the game has no tablebases."""
    if not game_named(game).has_tablebases:
        say = console("elolab.arena")
        warn("ignored.warning", words="--tb", count=1, reason=say("ignored.tablebases"))
        return {}
    found = {"tablebases": arguments.tb, "tablebase_ignore_50": arguments.tbignore50,
             "tablebase_results": arguments.tbadjudicate}  # fmt: skip
    return found if arguments.tbpieces is None else found | {"tablebase_pieces": arguments.tbpieces}


def rules_of_words(words: Sequence[str]) -> dict[str, Any]:
    """Convert the arguments ``name=value`` of ``--rules`` to a ``[rules]`` table; its values are validated later."""
    parts = [part for word in words for part in word.split(",") if part]
    return {name: plain_value(value) for name, value in assignments(parts, "--rules", tuple(RULES)).items()}


def sprt_of_words(words: Sequence[str]) -> dict[str, Any]:
    """Convert the arguments ``name=value`` of ``--sprt`` to a ``[sprt]`` table; its values are validated later."""
    return {name: plain_value(value) for name, value in assignments(words, "--sprt", tuple(SPRT)).items()}


def pgn_words(words: Sequence[str]) -> tuple[str, str | None]:
    """Parse ``--pgnout``: returns the file's path, and the level of detail, one of ``arena.notation.pgn.DETAILS`` or
    ``None``.

    Reads the forms of cutechess-cli (``FILE min fi``) and fastchess (``file=FILE min=true pv=true``). ``min`` selects
    the lowest level, fastchess's additional figures the highest; without them the level is ``None``. ``fi`` has no
    effect, because only finished games are written. Raises ``UsageError`` unless there is exactly one file.
    """
    switches = {name: SWITCHES.get(value.lower()) for name, _, value in (word.partition("=") for word in words)}
    is_minimal = "min" in words or switches.get("min") is True
    has_more = any(switches.get(name) for name in PGN_MORE)
    own = [word for word in words if word not in ("fi", "min") and word.partition("=")[0] not in PGN_WORDS]
    files = [word.removeprefix("file=") for word in own]
    if len(files) != 1 or not files[0]:
        raise UsageError(f"--pgnout {' '.join(words)}: expected one file")
    return files[0], "min" if is_minimal else "full" if has_more else None


def epd_file(words: Sequence[str]) -> str:
    """Parse ``--epdout``: returns the file's path. Raises ``UsageError`` unless there is exactly one."""
    files = [word.removeprefix("file=") for word in without_ignored(words, "--epdout")]
    if len(files) != 1 or not files[0]:
        raise UsageError(f"--epdout {' '.join(words)}: expected one file")
    return files[0]


def _openings(words: Sequence[str]) -> dict[str, Any]:
    """Convert the arguments of ``--openings`` to keys of a tournament's file, with their values.

    ``format`` is ignored, because the suite's file name determines the format.
    """
    if "=" not in words[0]:
        words = [f"file={words[0]}", *words[1:]]
    given = assignments(without_ignored(words, "--openings"), "--openings", (*OPENINGS_KEYS, "format"))
    content: dict[str, Any] = {key: given[word] for word, key in OPENINGS_KEYS.items() if word in given}
    if "plies" in given:
        content["opening_plies"] = _number(given, "plies", 1, "--openings")
    if "start" in given:
        content["opening_start"] = _number(given, "start", 1, "--openings") - 1
    if "reuse" in given:
        content["opening_reuse"] = _switch(given, "reuse", "--openings")
    return content


def _draw(words: Sequence[str]) -> dict[str, int]:
    given = {"movenumber": "0", "movecount": "1", "score": "0"} | assignments(words, "--draw", DRAW_WORDS)
    moves = _number(given, "movecount", 1, "--draw")
    return {
        # The counted moves may precede ``movenumber``; the draw may not.
        "draw_after_ply": 2 * max(0, _number(given, "movenumber", 0, "--draw") - moves),
        "draw_moves": moves,
        "draw_score": _number(given, "score", 0, "--draw"),
    }


def _resign(words: Sequence[str]) -> dict[str, int]:
    given = {"movecount": "1"} | assignments(words, "--resign", RESIGN_WORDS)
    moves = _number(given, "movecount", 0, "--resign")
    content = {"resign_moves": moves} | ({"resign_score": _number(given, "score", 1, "--resign")} if moves else {})
    return content | ({"resign_twosided": _switch(given, "twosided", "--resign")} if "twosided" in given else {})


def _switch(given: Mapping[str, str], name: str, option: str) -> bool:
    if given[name] not in SWITCHES:
        raise UsageError(f"{option} {name}={given[name]}: expected true or false")
    return SWITCHES[given[name]]


def _number(given: Mapping[str, str], name: str, least: int, option: str) -> int:
    if name not in given:
        raise UsageError(f"{option}: {name}= is missing")
    number = natural_number(given[name])
    if number is None or number < least:
        raise UsageError(f"{option} {name}={given[name]}: expected a whole number of at least {least}")
    return number
