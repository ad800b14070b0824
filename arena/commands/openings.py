"""The command ``openings``: suites of openings made and checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from engine.commands.arguments import (
    add_concurrency_argument,
    add_game_argument,
    add_json_argument,
    add_language_argument,
    add_limit_argument,
    add_seed_argument,
    game_of,
    print_json,
    usable_processors,
    whole_number,
)
from engine.errors import UserError
from engine.language import console

DEFAULT_PLIES = 8
DEFAULT_COUNT = 1000
DEFAULT_MAX_SCORE = 60
DEFAULT_SCORING = "nodes=1000"


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab openings generate`` and ``elolab openings check``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    generate = actions.add_parser(
        "generate",
        help="make a suite of distinct balanced positions by random play",
        description="Make a suite of distinct balanced positions: random legal moves from the start, then a short "
        "search whose score must be near zero.",
    )
    add_game_argument(generate)
    _add_number(generate, "--plies", DEFAULT_PLIES, 200, "random moves from the start position")
    _add_number(generate, "--count", DEFAULT_COUNT, 10_000_000, "openings wanted")
    add_seed_argument(generate, 1)
    scores = "largest score, either way, in centipawns (Othello: hundredths of a disc)"
    _add_number(generate, "--max-score", DEFAULT_MAX_SCORE, 30_000, scores)
    add_limit_argument(generate, DEFAULT_SCORING)
    add_concurrency_argument(generate)
    add_language_argument(generate)
    generate.add_argument("--out", metavar="FILE", help="file to write, compressed if it ends in .gz (default: print)")
    check = actions.add_parser(
        "check", help="read a suite and say what is in it", description="Check every line of a suite and count."
    )
    check.add_argument("openings", metavar="FILE", help="an EPD file, or the name of a shipped suite")
    add_game_argument(check)
    add_language_argument(check)
    add_json_argument(check)


def _add_number(parser: argparse.ArgumentParser, name: str, default: int, high: int, said: str) -> None:
    kind = whole_number(0, high)
    parser.add_argument(name, type=kind, default=default, metavar="N", help=f"{said} (default {default})")


def run(arguments: argparse.Namespace) -> int:
    """Generate or check a suite of openings."""
    return _generate_openings(arguments) if arguments.action == "generate" else _check_openings(arguments)


def _generate_openings(arguments: argparse.Namespace) -> int:
    from arena.notation.openings import RandomPlay, generate, suite_text, write_suite

    game = game_of(arguments).name
    if not arguments.limit.is_reproducible:
        raise UserError(f"--limit {arguments.limit}: a suite must not depend on the machine; use nodes= or depth=")
    positions = generate(
        RandomPlay(game, arguments.seed, arguments.plies, arguments.limit),
        arguments.count,
        max_score=arguments.max_score,
        concurrency=arguments.concurrency or usable_processors(),
        progress=_show_openings(arguments.count),
    )
    command = (
        f"elolab openings generate --game {game} --plies {arguments.plies} --count {arguments.count} "
        f"--seed {arguments.seed} --max-score {arguments.max_score} --limit {arguments.limit}"
    )
    text = suite_text(positions, [command])
    if arguments.out is None:
        print(text, end="")
    else:
        write_suite(Path(arguments.out), text)
        print(console("arena")("openings.written", file=arguments.out, openings=len(positions)))
    return 0


def _show_openings(wanted: int) -> Any:
    import time

    shown = time.monotonic()
    is_terminal = sys.stderr.isatty()

    def show(found: int, seen: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < (0.25 if is_terminal else 5) and found < wanted:
            return
        shown = now
        start, end = ("\r\x1b[K", "") if is_terminal and found < wanted else ("\r\x1b[K" if is_terminal else "", "\n")
        text = console("arena")("openings.progress", found=found, wanted=wanted, seen=seen)
        print(f"{start}{text}", end=end, file=sys.stderr, flush=True)

    return show


def _check_openings(arguments: argparse.Namespace) -> int:
    from arena.notation.openings import load_suite
    from engine.settings.configuration import find_config

    game = game_of(arguments).name
    suite = load_suite(arguments.openings, game, check_all=True)
    counts = {part: len(suite.part(part)) for part in ("all", "tournament", "validation")}
    path = find_config("openings", arguments.openings)
    if arguments.json:
        print_json({"file": str(path), "digest": suite.digest, **counts})
    else:
        print(console("arena")("openings.checked", file=path, digest=suite.digest, **counts))
    return 0
