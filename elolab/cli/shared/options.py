"""Options that several commands share, and functions that read them."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elolab.arena.colours import YELLOW, coloured
from elolab.cli.shared.parser import UsageError
from elolab.engine.games import DEFAULT_GAME as DEFAULT_GAME
from elolab.engine.language import DEFAULT_LANGUAGE, LANGUAGE_VARIABLE, LANGUAGES, console
from elolab.engine.settings.whole_numbers import MAX_SEED, natural_number

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position
    from elolab.engine.rules import Rules
    from elolab.engine.settings.limits import Limits
    from elolab.engine.settings.parameters import Value

NONE_LEFT = "off"
"""Value that turns off a rule whose option normally takes a number, such as ``--move-limit``."""


def warn(key: str, **values: Any) -> None:
    """Print the message with this key to standard error; ``values`` fill its placeholders."""
    print(coloured(f"elolab: {console('elolab.arena')(key, **values)}", YELLOW, sys.stderr), file=sys.stderr)


def add_game(parser: argparse.ArgumentParser, default: str = DEFAULT_GAME) -> None:
    """Add ``--game NAME``, which ``game_of`` reads."""
    parser.add_argument("--game", default=default, metavar="NAME", help=f"the game (default {default})")


def game_of(arguments: argparse.Namespace) -> Game:
    """The game of ``--game``; raises ``UserError`` with the nearest name for an unknown game."""
    from elolab.engine.games import game_named

    return game_named(arguments.game)


def add_limit(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add ``--limit LIMIT`` in the notation of ``engine.settings.limits``; its value is a ``Limits`` or ``None``."""
    from elolab.engine.settings.limits import GRAMMAR, Limits

    parser.add_argument(
        "--limit",
        type=Limits.parse,
        default=None if default is None else Limits.parse(default),
        metavar="LIMIT",
        help=f"limit of a player: {GRAMMAR}" + (f"; default {default}" if default else ""),
    )


def add_search_limit(parser: argparse.ArgumentParser) -> None:
    """Add ``--depth``, ``--nodes``, ``--time`` and ``--limit`` for one search, which ``search_limits_of`` reads."""
    group = parser.add_argument_group("limits", "any one of them; the first one reached ends the search")
    group.add_argument("--depth", metavar="PLIES", help="deepest iteration")
    group.add_argument("--nodes", metavar="N", help="number of nodes")
    group.add_argument("--time", metavar="SECONDS", help="time for the move")
    add_limit(group)  # type: ignore[arg-type]


def search_limits_of(arguments: argparse.Namespace, default: str) -> Limits:
    """The limits of ``--depth``, ``--nodes``, ``--time`` or ``--limit``; ``default`` if none of them is given.

    Raises ``UserError`` if a value cannot be read or ``--limit`` is combined with another of these options.
    """
    from elolab.engine.settings.limits import Limits

    given = [
        f"{name}={value}"
        for name, value in (("depth", arguments.depth), ("nodes", arguments.nodes), ("move_time", arguments.time))
        if value is not None
    ]
    if arguments.limit is None:
        return Limits.parse(",".join(given) or default)
    if given:
        raise UsageError("--limit excludes --depth, --nodes and --time", "leave one or the other out")
    limits: Limits = arguments.limit
    return limits


def add_parameter(parser: argparse.ArgumentParser) -> None:
    """Add ``--preset NAME`` and ``--set name=value ...``, which ``overrides_of`` reads."""
    parser.add_argument(
        "--preset",
        metavar="NAME",
        help="settings from a preset of the built-in engine: configs/engines/NAME.toml, or a file (default: none)",
    )
    parser.add_argument(
        "--set",
        dest="assignments",
        nargs="+",
        action="extend",
        default=[],
        metavar="name=value",
        help="settings that differ from the default, or from the preset (elolab parameters lists them)",
    )


def overrides_of(arguments: argparse.Namespace, limits: Limits | None = None) -> dict[str, Value]:
    """The settings given by ``--preset`` and, with precedence, by ``--set``, validated for the game of ``--game``.

    Prints a warning for each setting of ``--set`` that has no effect with the other settings or under ``limits``.
    Raises ``UserError`` for a wrong game, preset, name or value.
    """
    from elolab.engine.settings.parameters import format_value, parse_assignments, resolve, why_without_effect
    from elolab.engine.settings.presets import load_preset

    own = parse_assignments(arguments.assignments)
    game = game_of(arguments).name
    resolve(own, "--set", game)
    overrides = own if arguments.preset is None else load_preset(arguments.preset, game) | own
    values = resolve(overrides, game=game)
    for name, value in own.items():
        reason = why_without_effect(name, values, limits)
        if reason is not None:
            print(f"elolab: --set {name}={format_value(value)} changes nothing: {reason}", file=sys.stderr)
    return overrides


def add_position(parser: argparse.ArgumentParser) -> None:
    """Add ``--fen``, ``--board``, ``--moves`` and ``--ranks``, which ``position_of`` reads."""
    group = parser.add_argument_group("position")
    group.add_argument("--fen", metavar="FEN", help="position as a FEN (default: the start of the game)")
    group.add_argument(
        "--board", metavar="TEXT", help="position of Othello: 64 characters X, O or - (a1 to h1, a2 to h8), then X or O"
    )
    group.add_argument(
        "--moves",
        nargs="*",
        default=[],
        metavar="MOVE",
        help="moves played from the position, such as h2e2 h9g7, or d3 pass; in any notation of the game, such as Nf3",
    )
    group.add_argument(
        "--ranks",
        choices=("0", "1", "auto"),
        default="0",
        help="number of the lowest rank in --moves: 0 (default), 1, or auto: whichever makes all of them legal",
    )


def position_of(arguments: argparse.Namespace, *, with_moves: bool = True) -> Position:
    """The position that the arguments describe. Raises ``UserError`` if the position or a move is illegal.

    Without ``with_moves``, the options ``--moves`` and ``--ranks`` are ignored.
    """
    from elolab.arena.notation.game_moves import other_game_with
    from elolab.engine.games import GAMES, game_named
    from elolab.engine.games.contract import PositionError

    game = game_of(arguments)
    for option in ("fen", "board"):
        if getattr(arguments, option, None) is not None and option != game.position_option:
            others = [name for name in GAMES if game_named(name).position_option == option]
            hint = f", or --game {' or '.join(others)} for that position" if others else ""
            raise UsageError(
                f"--{option} does not describe a position of {game.name}",
                f"give --{game.position_option} {game.start!r}{hint}",
            )
    text = getattr(arguments, game.position_option, None)
    moves = [word for given in arguments.moves for word in given.split()] if with_moves else []
    try:
        position = game.position(text)
    except PositionError as error:
        if text and (other := other_game_with(text, game.name)):
            raise PositionError(f"{error}", f"for this position of {other} give --game {other}") from None
        raise
    return _after(position, moves, arguments.ranks) if moves else position


_SQUARES = re.compile(r"[a-z]\d+-?[a-z]\d+[a-z]?", re.IGNORECASE)


def in_names(game: Game, moves: Sequence[str]) -> bool:
    """Whether some of the moves are not written as squares, in a game with other notations of moves."""
    return game.move_names is not None and not all(map(_SQUARES.fullmatch, moves))


def _after(position: Position, moves: Sequence[str], ranks: str) -> Position:
    """The position after ``moves``: squares or, where these cannot be read, any notation of the game.

    ``ranks`` is the value of ``--ranks``. Raises ``MoveError`` if a move is illegal.
    """
    from elolab.arena.notation.game_moves import read_moves
    from elolab.engine.games.contract import MoveError

    game = position.game
    try:
        return game.position(position.start, moves, ranks)
    except MoveError as error:
        if in_names(game, moves):
            read_moves(position, moves, ranks)
            return position
        named = str(error).partition("illegal move '")[2].partition("'")[0]
        if ranks == "0" or not named or named in map(str.lower, moves):
            raise
        raise MoveError(f"{error}, read with --ranks {ranks}, shown in ranks 0-9") from None


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add ``--repetition``, ``--fold``, ``--move-limit`` and ``--insufficient``, which ``rules_of`` reads."""
    from elolab.engine.rules import FOLDS, REPETITION_RULES, Rules

    standard = Rules()
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--repetition",
        choices=REPETITION_RULES,
        help=f"how repetitions are judged (default {standard.repetition}); in chess always as a draw",
    )
    group.add_argument(
        "--fold",
        type=int,
        choices=FOLDS,
        help=f"number of occurrences of a position at which elolab judges a repetition (default {standard.fold})",
    )
    group.add_argument(
        "--move-limit",
        type=_plies_or_off,
        metavar="PLIES",
        help=f"plies without a capture (in chess without a pawn's move too) that draw the game, or {NONE_LEFT} "
        f"(default {standard.move_limit}, in chess 100)",
    )
    group.add_argument(
        "--insufficient",
        choices=("on", "off"),
        help="whether insufficient material draws the game; in Xiangqi, no piece that can cross the river (default on)",
    )


def rules_of(arguments: argparse.Namespace) -> Rules:
    """The game's standard rules, changed as the options of ``add_rules`` require."""
    from dataclasses import replace

    from elolab.engine.games import game_named

    given: dict[str, Any] = {
        name: value for name in ("repetition", "fold", "move_limit") if (value := getattr(arguments, name)) is not None
    }
    if arguments.insufficient is not None:
        given["insufficient"] = arguments.insufficient == "on"
    return replace(game_named(getattr(arguments, "game", None) or DEFAULT_GAME).standard_rules, **given)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``; a command then prints its result with ``print_json``."""
    parser.add_argument("--json", action="store_true", help="print JSON with unrounded figures")


def print_json(data: Any) -> None:
    """Print plain data as JSON; infinite and undefined numbers become null."""
    print(json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False))


def add_language(parser: argparse.ArgumentParser) -> None:
    """Add ``--language``, the language of reports and the console, one of ``engine.language.LANGUAGES``."""
    given = os.environ.get(LANGUAGE_VARIABLE)
    parser.add_argument(
        "--language",
        type=_language,
        default=_FromEnvironment(given) if given else DEFAULT_LANGUAGE,
        metavar="{" + ",".join(LANGUAGES) + "}",
        help=f"language of reports and of the console (default: {LANGUAGE_VARIABLE}, or else {DEFAULT_LANGUAGE})",
    )


class _FromEnvironment(str):
    """A language set by an environment variable. The class lets errors name the variable."""


def _language(text: str) -> str:
    if text not in LANGUAGES:
        named = f"{LANGUAGE_VARIABLE} = {str(text)!r}" if isinstance(text, _FromEnvironment) else repr(text)
        raise argparse.ArgumentTypeError(f"{named} is not a language; expected {' or '.join(LANGUAGES)}")
    return str(text)


def add_output(parser: argparse.ArgumentParser, default: str = "results/<name of the spec>") -> None:
    """Add ``--out DIR``, the folder to write to; the help text shows ``default``."""
    parser.add_argument("--out", type=_folder, metavar="DIR", help=f"folder to write to (default {default})")


def _folder(text: str) -> str:
    """Return ``text``, the path of a folder, unchanged.

    Raises an error for an empty path, as from an unset shell variable, because it would mean the current folder.
    """
    if not text:
        raise argparse.ArgumentTypeError("'' is not a folder; give a folder, . for the current one, or omit --out")
    return text


def add_engines_file(parser: argparse.ArgumentParser) -> None:
    """Add ``--engines FILE``, the file of the user's engines."""
    from elolab.arena.keys.engines_file import ENGINES_NAME

    parser.add_argument(
        "--engines", dest="engines_file", metavar="FILE",
        help=f"file of your engines (default {ENGINES_NAME}, here or in ~/.config/elolab)",
    )  # fmt: skip


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add ``--option NAME=VALUE`` (may be repeated) and ``--directory DIR``, for a program on the command line."""
    parser.add_argument(
        "--option", dest="options", action="append", default=[], metavar="NAME=VALUE", type=named_value,
        help="an option of the engine, set after every start; may be repeated",
    )  # fmt: skip
    parser.add_argument("--directory", metavar="DIR", help="folder in which the engine runs (default: the current one)")


def add_plugin_start(parser: argparse.ArgumentParser) -> None:
    """Add ``-info`` and ``-plugin``, the arguments with which the program Qianhong starts its plug-ins."""
    parser.add_argument("-info", "--info", action="store_true", help="describe the engine to Qianhong, and end")
    parser.add_argument("-plugin", "--plugin", action="store_true", help=argparse.SUPPRESS)


def add_seed(parser: argparse.ArgumentParser, default: int | None = None) -> None:
    """Add ``--seed N``, the random seed."""
    said = "" if default is None else f" (default {default})"
    parser.add_argument(
        "--seed", type=whole_number(0, MAX_SEED), default=default, metavar="N", help=f"random seed{said}"
    )


def add_concurrency(parser: argparse.ArgumentParser) -> None:
    """Add ``--concurrency N``, the number of simultaneous games; the default depends on the number of processors."""
    parser.add_argument(
        "--concurrency",
        type=whole_number(1),
        default=usable_processors(),
        metavar="N",
        help="games at a time (default: the usable processors, here %(default)s)",
    )


def usable_processors() -> int:
    """Number of processors that this process may use."""
    from elolab.arena.players.processors import processor_count

    return processor_count() or 1


def whole_number(lowest: int, highest: int | None = None) -> Any:
    """A ``type`` for ``add_argument``: whole numbers from ``lowest`` to ``highest``, without a maximum if ``None``."""
    span = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"

    def read(text: str) -> int:
        number = natural_number(text)
        if number is None or not lowest <= number <= (highest or number):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {span}")
        return number

    return read


def number(lowest: float, highest: float, *, inside: bool = False) -> Any:
    """A ``type`` for ``add_argument``: numbers from ``lowest`` to ``highest``; ``inside`` excludes the bounds."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (lowest < value < highest if inside else lowest <= value <= highest):
            span = f"between {lowest:g} and {highest:g}" if inside else f"from {lowest:g} to {highest:g}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number {span}")
        return value

    return read


def named_value(text: str) -> tuple[str, str]:
    """A ``type`` for ``add_argument``: splits ``NAME=VALUE`` into the name and the value."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _plies_or_off(text: str) -> int:
    from elolab.engine.rules import MAX_PLIES

    plies = 0 if text == NONE_LEFT else natural_number(text)
    if plies is None or plies > MAX_PLIES:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of plies up to {MAX_PLIES} nor {NONE_LEFT!r}")
    return plies


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if hasattr(data, "item"):  # numpy's scalars
        return _finite(data.item())
    return data
