"""What the commands of tuning share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.commands.arguments import (
    add_affinity_argument,
    add_log_argument,
    add_specification_argument,
    names_paragraph,
)
from engine.commands.arguments import (
    add_concurrency_argument,
    add_json_argument,
    add_language_argument,
    add_output_argument,
    print_json,
)
from engine.language import console

if TYPE_CHECKING:
    from engine.settings.limits import Limits
    from tuning.ablation.spec import Comparison


def configure_with_specification(parser: argparse.ArgumentParser, kind: str, epilog: str) -> None:
    add_specification_argument(parser, kind)
    parser.epilog = epilog + names_paragraph(kind)
    add_output_argument(parser)
    add_playing_arguments(parser)
    add_log_argument(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say how many games, openings and how much time")
    add_language_argument(parser)
    add_json_argument(parser)


def add_playing_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``uninterrupted`` hands on to the run."""
    add_concurrency_argument(parser)
    add_affinity_argument(parser)
    parser.add_argument(
        "--accept-engine-change", action="store_true", help="go on although another version of the engine began"
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
    played = {
        "concurrency": arguments.concurrency,
        "affinity": arguments.affinity,
        "accept_engine_change": arguments.accept_engine_change,
        "log": getattr(arguments, "log", None),
    }
    try:
        return run(*given, **named, **played)
    except KeyboardInterrupt:
        return None


def say_how_to_resume(command: str | None, directory: Path) -> None:
    """Say on standard error how to go on; without a command, with the same again."""
    from arena.play.store import STORE_NAME, Store

    stored = 0
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            stored = len(store)
    complain("console.interrupted", stored=stored, command=command or console("tuning")("console.same_command"))


def complain(key: str, **values: Any) -> None:
    """Say something on standard error."""
    print(f"elolab: {console('tuning')(key, **values)}", file=sys.stderr)


def print_outcome(text: str, digest: str, report: Path | None) -> None:
    """Print what came of a run, the digest of its games and where the report is."""
    print(text)
    print()
    print(console("arena")("console.digest", digest=digest))
    print(report)


def work_of(comparisons: Iterable[Comparison]) -> list[tuple[int, tuple[Limits, ...]]]:
    """The most games of every comparison, and the limits of its two sides."""
    return [(2 * one.pairs, (one.limits, one.reference_limits or one.limits)) for one in comparisons]


def describe(
    name: str,
    directory: Path,
    games: int,
    work: Sequence[tuple[int, Sequence[Limits]]],
    figures: dict[str, int],
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
    data = {"name": name, "folder": str(directory), "games": games, "stored": stored, **figures, "seconds": seconds}
    if arguments.json:
        print_json(data)
        return 0
    message = console("tuning")
    print(message("dry_run.games", name=name, games=games, stored=stored, folder=directory))
    print(figures_text(figures))
    print(message("dry_run.time", time=duration_text(seconds)))
    return 0


def figures_text(figures: dict[str, int]) -> str:
    """What a run consists of, by names of the messages ``dry_run``."""
    message = console("tuning")
    return message("dry_run.comma").join(message(f"dry_run.{name}", count=count) for name, count in figures.items())
