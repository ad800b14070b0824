"""The command ``openings``: generates, filters and checks suites of openings."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError
from elolab.cli.shared.playing_options import output_file
from elolab.engine.errors import UserError
from elolab.engine.language import console

if TYPE_CHECKING:
    from elolab.arena.notation.balance import Accepts, Judge, Selection
    from elolab.arena.records import PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Game

DEFAULT_PLIES = 8
DEFAULT_COUNT = 1000
DEFAULT_MAX_SCORE = 60
DEFAULT_SCORING = "nodes=1000"
DEFAULT_BALANCE_SCORING = "nodes=10000"
MAX_COUNT = 10_000_000
MAX_SCORE = 30_000
MAX_ODDS_SCALE = 100_000
EXIT_INTERRUPTED = 130
_SUITE = (
    "a file or folder of positions (EPD) or games (PGN, XQF, CBF, DhtmlXQ, GGF, WTHOR), or the name of a shipped suite"
)


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _configure_generate(actions)
    _configure_balance(actions)
    check = actions.add_parser(
        "check", help="read a suite and print a summary", description="Check every line of a suite and count."
    )
    check.add_argument("openings", metavar="FILE", help=_SUITE)
    options.add_game(check)
    _add_number(check, "--plies", None, MAX_SCORE, "moves to take of each game (default all)", least=1)
    options.add_language(check)
    options.add_json(check)


def _configure_generate(actions: Any) -> None:
    generate = actions.add_parser(
        "generate",
        help="make a suite of distinct balanced positions by random play",
        description="Make a suite of distinct balanced positions: random legal moves from the start, then a short "
        "search. Its score must be near zero, or its win probability within a band. Mirror images are one opening.",
    )
    options.add_game(generate)
    _add_number(generate, "--plies", DEFAULT_PLIES, 200, "random moves from the start position")
    _add_number(generate, "--count", DEFAULT_COUNT, MAX_COUNT, "openings wanted", least=1)
    options.add_seed(generate, 1)
    scores = "largest absolute score in centipawns (Othello: hundredths of a disc)"
    band = generate.add_mutually_exclusive_group()
    _add_number(band, "--max-score", None, MAX_SCORE, f"{scores} (default {DEFAULT_MAX_SCORE})")
    _add_band(band)
    _add_judging(generate, DEFAULT_SCORING)
    _add_output(generate)


def _configure_balance(actions: Any) -> None:
    balance = actions.add_parser(
        "balance",
        help="keep the openings of a suite whose win probability lies within a band",
        description="Keep the openings of a suite whose win probability, by a search, lies within a band, and drop "
        "repeated ones, also as a mirror image or by another order of moves.\n\n"
        "The win probability is that of the side with the first move of the game (Red; Black in Othello), where a "
        "draw is half a win: 1 / (1 + exp(-score / scale)). Even openings are about 0.4 to 0.6; unbalanced ones, which "
        "leave fewer draws between strong engines, 0.6 to 0.75. 0 to 1 keeps all that are legal, without a search.",
    )
    balance.add_argument("openings", metavar="FILE", help=_SUITE)
    options.add_game(balance)
    _add_band(balance, required=True)
    _add_judging(balance, DEFAULT_BALANCE_SCORING)
    _add_number(balance, "--plies", None, MAX_SCORE, "moves to take of each game (default all)", least=1)
    balance.add_argument(
        "--skip-illegal", action="store_true", help="drop and count lines and games that are illegal or over"
    )
    _add_output(balance)


def _add_number(parser: Any, name: str, default: int | None, high: int, said: str, *, least: int = 0) -> None:
    said = said if default is None else f"{said} (default {default})"
    parser.add_argument(name, type=options.whole_number(least, high), default=default, metavar="N", help=said)


def _add_band(parser: Any, *, required: bool = False) -> None:
    parser.add_argument(
        "--win-probability", nargs=2, type=options.number(0, 1), metavar=("LOW", "HIGH"), required=required,
        help="least and greatest probability that the side with the first move wins, a draw being half a win",
    )  # fmt: skip


def _add_judging(parser: argparse.ArgumentParser, limit: str) -> None:
    parser.add_argument(
        "--judge", metavar="PLAYER", help="player that scores the positions: a preset, or the TOML file of a player "
        "(default: the built-in engine)",
    )  # fmt: skip
    options.add_limit(parser, limit)
    parser.add_argument(
        "--odds-scale", type=options.number(1, MAX_ODDS_SCALE), metavar="POINTS",
        help="score, in centipawns, that multiplies the odds of winning by 2.72 (default: that of the built-in engine)",
    )  # fmt: skip


def _add_output(parser: argparse.ArgumentParser) -> None:
    options.add_concurrency(parser)
    options.add_language(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="file to write, compressed if it ends in .gz, .bz2 or .zst, as games if in .pgn "
        "(default: print)",
    )  # fmt: skip
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    actions = {"generate": _generate_openings, "balance": _balance_openings, "check": _check_openings}
    return actions[arguments.action](arguments)


def _generate_openings(arguments: argparse.Namespace) -> int:
    from elolab.arena.notation.balance import JudgesByThread, RandomPlay, generate, within_score
    from elolab.arena.players.interruption import stopping_on_signals
    from elolab.engine.engine import StopFlag

    game = options.game_of(arguments)
    _check_output(arguments)
    stop = StopFlag()
    make, judge_words = _judging(arguments, game, stop)
    max_score = DEFAULT_MAX_SCORE if arguments.max_score is None else arguments.max_score
    accepts = within_score(max_score) if arguments.win_probability is None else _band(arguments, game)
    with stopping_on_signals(stop), closing(JudgesByThread(make)) as judge:
        selection = generate(
            RandomPlay(game.name, arguments.seed, arguments.plies).proposer(judge),
            arguments.count,
            accepts,
            concurrency=arguments.concurrency or options.usable_processors(),
            progress=_progress("openings.progress", arguments.count),
            stop=stop,
        )
    band = f"--max-score {max_score}" if arguments.win_probability is None else _band_words(arguments)
    command = (
        f"elolab openings generate --game {game.name} --plies {arguments.plies} --count {arguments.count} "
        f"--seed {arguments.seed} {band} {judge_words}"
    )
    return _hand_over(arguments, game, selection, command, [candidate.reached for candidate in selection.kept])


def _balance_openings(arguments: argparse.Namespace) -> int:
    from elolab.arena.notation.balance import JudgesByThread, balance
    from elolab.arena.notation.openings import entries_of, epd_line, find_suite
    from elolab.arena.players.interruption import stopping_on_signals
    from elolab.engine.engine import StopFlag

    game = options.game_of(arguments)
    _check_output(arguments)
    stop = StopFlag()
    make, judge_words = _judging(arguments, game, stop)
    accepts = _band(arguments, game)
    entries = list(entries_of(find_suite(arguments.openings), game.name, arguments.plies))
    scored = arguments.win_probability != [0, 1]
    with stopping_on_signals(stop), closing(JudgesByThread(make)) as judge:
        selection = balance(
            entries, game.name, judge if scored else None, accepts, skip_illegal=arguments.skip_illegal,
            concurrency=arguments.concurrency or options.usable_processors(),
            progress=_progress("openings.progress_balance", len(entries)), stop=stop,
        )  # fmt: skip
    if not selection.kept and not selection.interrupted:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(selection.dropped.items()))
        raise UserError(f"{arguments.openings}: none of its openings is within the band ({reasons})", "use a wider one")
    words = [shlex.quote(arguments.openings), _band_words(arguments), *([judge_words] if scored else [])]
    command = f"elolab openings balance --game {game.name} {' '.join(words)}"
    command += f" --plies {arguments.plies}" if arguments.plies else ""
    lines = [
        epd_line(candidate.reached, candidate.opening.name, **({"ce": candidate.score} if scored else {}))
        for candidate in selection.kept
    ]
    return _hand_over(arguments, game, selection, command, lines)


def _check_output(arguments: argparse.Namespace) -> None:
    if arguments.json and arguments.out is None:
        raise UsageError("--json and the openings would both be printed", "give --out FILE for the openings")
    if arguments.out is not None:
        output_file("--out", arguments.out)


def _judging(arguments: argparse.Namespace, game: Game, stop: StopFlag) -> tuple[Callable[[], Judge], str]:
    """A factory of judges, which score openings, and the options that describe these judges on a command line.

    Each thread calls the factory once. ``stop`` ends a judge's search early. Raises ``UserError`` if the judges' limit
    depends on the machine's speed.
    """
    from elolab.arena.notation.balance import EngineJudge, PlayerJudge

    if arguments.judge is None:
        _check_reproducible(f"--limit {arguments.limit}", arguments.limit.is_reproducible)
        return lambda: EngineJudge(game.name, arguments.limit, stop), f"--limit {arguments.limit}"
    spec = _judging_player(arguments, game.name)
    _check_reproducible(f"--judge {arguments.judge}: limit = {spec.limits}", spec.limits.is_reproducible)
    return (
        lambda: PlayerJudge(spec, game.name, stop),
        f"--judge {shlex.quote(arguments.judge)} --limit {spec.limits}",
    )


def _judging_player(arguments: argparse.Namespace, game: str) -> PlayerSpec:
    """The player named by ``--judge``; ``--limit`` applies if the player has no limit of its own."""
    from elolab.arena.keys.engines_file import engines_file
    from elolab.arena.player_spec import PlayerReader, player_entry, read_player
    from elolab.arena.players.registry import check_player

    entry = player_entry(arguments.judge, PlayerReader(game, arguments.limit, engines=engines_file(None, Path())))
    spec = read_player(entry, "--judge", game, arguments.limit)
    check_player(spec, game, "--judge")
    return spec


def _check_reproducible(said: str, is_reproducible: bool) -> None:
    if not is_reproducible:
        raise UserError(f"{said}: the suite would depend on the machine's speed", "use nodes= or depth=")


def _band(arguments: argparse.Namespace, game: Game) -> Accepts:
    from elolab.arena.notation.balance import within_probability

    low, high = arguments.win_probability
    if low > high:
        raise UsageError(f"--win-probability {low:g} {high:g}: expected the lower one first")
    return within_probability(low, high, arguments.odds_scale or game.odds_scale)


def _band_words(arguments: argparse.Namespace) -> str:
    low, high = arguments.win_probability
    scale = "" if arguments.odds_scale is None else f" --odds-scale {arguments.odds_scale:g}"
    return f"--win-probability {low:g} {high:g}{scale}"


def _hand_over(
    arguments: argparse.Namespace, game: Game, selection: Selection, command: str, lines: Sequence[str]
) -> int:
    """Write or print the openings in ``selection``, report how many were discarded, and return the exit code.

    ``lines`` are the lines of the suite's file. ``command``, the command line, goes into the comment above them.
    """
    from elolab.arena.notation.archives.archive_files import COMPRESSED
    from elolab.arena.notation.openings import suite_text, write_suite

    say = console("elolab.arena")
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # the line of progress
    comments = [command]
    if selection.interrupted:
        comments.append(f"interrupted after {selection.seen}: this is the beginning")
    if arguments.out is None:
        print(suite_text(lines, comments), end="")
    elif selection.kept:
        path = Path(arguments.out)
        is_games = path.name.endswith(tuple(f".pgn{packing}" for packing in COMPRESSED))
        write_suite(path, _games_text(selection, game) if is_games else suite_text(lines, comments))
    counts = {"openings": len(selection.kept), "seen": selection.seen, "dropped": dict(selection.dropped)}
    if arguments.json:
        options.print_json({"file": arguments.out, "interrupted": selection.interrupted, **counts})
    else:
        stream = sys.stderr if arguments.out is None else sys.stdout
        key = "openings.interrupted" if selection.interrupted else "openings.chosen"
        place = "" if arguments.out is None or not selection.kept else f"{arguments.out}: "
        print(place + say(key, openings=len(selection.kept), seen=selection.seen), file=stream)
        if selection.dropped:
            print(_dropped_words(selection), file=stream)
    return EXIT_INTERRUPTED if selection.interrupted else 0


def _dropped_words(selection: Selection) -> str:
    say = console("elolab.arena")
    reasons: Counter[str] = selection.dropped
    parts = [say(f"openings.dropped_{reason}", count=count) for reason, count in sorted(reasons.items())]
    return say("openings.dropped", parts=say("openings.comma").join(parts))


def _games_text(selection: Selection, game: Game) -> str:
    """The openings as PGN text, with moves in coordinate notation."""
    from elolab.arena.notation.pgn import PortableGame, PortableMove, portable_text

    games = []
    for candidate in selection.kept:
        opening = candidate.opening
        tags = (("Opening", opening.name),) if opening.name else ()
        moves = tuple(PortableMove(move) for move in opening.moves)
        games.append(portable_text(PortableGame(tags, opening.position, moves), game))
    return "\n".join(games)


def _progress(key: str, wanted: int) -> Callable[[Selection], None]:
    """A function that shows progress on standard error: in one updated line on a terminal, otherwise in periodic lines.

    ``key`` is the key of the message, ``wanted`` the planned number of openings.
    """
    shown = time.monotonic()
    is_terminal = sys.stderr.isatty()

    def show(selection: Selection) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < (0.25 if is_terminal else 5):
            return
        shown = now
        text = console("elolab.arena")(key, found=len(selection.kept), wanted=wanted, seen=selection.seen)
        start, end = ("\r\x1b[K", "") if is_terminal else ("", "\n")
        print(f"{start}{text}", end=end, file=sys.stderr, flush=True)

    return show


def _check_openings(arguments: argparse.Namespace) -> int:
    from elolab.arena.notation.openings import find_suite, identity_of, load_suite

    game = options.game_of(arguments).name
    suite = load_suite(arguments.openings, game, check_all=True, plies=arguments.plies)
    counts = {part: len(suite.part(part)) for part in ("all", "tournament", "validation")}
    path = find_suite(arguments.openings)
    # Games were deduplicated when they were read.
    positions = [identity_of(opening.position) for opening in suite.openings if not opening.moves]
    counts["mirrored"] = len(positions) - len(set(positions))
    if arguments.json:
        options.print_json({"file": str(path), "digest": suite.digest, **counts})
    else:
        print(console("elolab.arena")("openings.checked", file=path, digest=suite.digest, **counts))
    return 0
