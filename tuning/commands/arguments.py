"""What the commands of tuning share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.commands.arguments import add_specification_argument, names_paragraph
from engine.commands.arguments import (
    add_concurrency_argument,
    add_json_argument,
    add_output_argument,
    print_json,
)

if TYPE_CHECKING:
    from engine.settings.limits import Limits
    from tuning.ablation.spec import Comparison


def configure_with_specification(parser: argparse.ArgumentParser, kind: str, epilog: str) -> None:
    add_specification_argument(parser, kind)
    parser.epilog = epilog + names_paragraph(kind)
    add_output_argument(parser)
    add_playing_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say how many games, openings and how much time")
    add_json_argument(parser)


def add_playing_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``uninterrupted`` hands on to the run."""
    add_concurrency_argument(parser)
    parser.add_argument(
        "--accept-engine-change", action="store_true", help="go on although another version of the engine began"
    )


def add_language_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language", choices=("en", "zh"), default="en", help="the report's language (default %(default)s)"
    )


def folder_of(out: str | None, name: str) -> Path:
    """``--out``, in which ``{name}`` and ``{identity}`` stand for the run's name and the engine's."""
    if out is None:
        return Path("results") / name
    if "{identity}" in out:
        from engine.compiled.identity import engine_identity

        out = out.replace("{identity}", engine_identity())
    return Path(out.replace("{name}", name))


def uninterrupted(run: Callable[..., Any], arguments: argparse.Namespace, *given: Any, **named: Any) -> Any:
    """What ``run`` returns, given the arguments of playing too, or ``None`` after a second Ctrl-C."""
    played = {"concurrency": arguments.concurrency, "accept_engine_change": arguments.accept_engine_change}
    try:
        return run(*given, **named, **played)
    except KeyboardInterrupt:
        return None


def say_how_to_resume(command: str, directory: Path) -> None:
    from arena.play.store import STORE_NAME, Store

    stored = 0
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored = len(store)
    print(f"elolab: interrupted: {stored} games are stored; to go on: {command}", file=sys.stderr)


def work_of(comparisons: Iterable[Comparison]) -> list[tuple[int, tuple[Limits, ...]]]:
    """The most games of every comparison, and the limits of its two sides."""
    return [(2 * one.pairs, (one.limits, one.reference_limits or one.limits)) for one in comparisons]


def describe(
    name: str,
    directory: Path,
    games: int,
    work: Sequence[tuple[int, Sequence[Limits]]],
    facts: dict[str, int],
    arguments: argparse.Namespace,
) -> int:
    """Print what a run of at most ``games`` would do; ``work`` are its parts, which may be more than that together."""
    from arena.play.estimates import estimated_game_seconds
    from arena.play.live import duration_text
    from arena.play.store import STORE_NAME, Store

    stored, mean_ms = 0, None
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored, mean_ms = len(store), store.mean_duration_ms()
    if mean_ms is None:
        total = sum(count * estimated_game_seconds(limits) for count, limits in work)
        each = total / max(1, sum(count for count, _ in work))
    else:
        each = mean_ms / 1000
    seconds = max(0, games - stored) * each / arguments.concurrency
    data = {"name": name, "folder": str(directory), "games": games, "stored": stored, **facts, "seconds": seconds}
    if arguments.json:
        print_json(data)
        return 0
    print(f"{name}: at most {games} games, {stored} of them stored in {directory}")
    print(", ".join(f"{metadata.replace('_', ' ')}: {count}" for metadata, count in facts.items()))
    print(f"time: at most {duration_text(seconds)} or so (hours:minutes:seconds)")
    return 0
