"""Arguments shared by several commands that play games."""

from __future__ import annotations

import argparse
import math
import os
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.cluster.address import EXPECTED_CLUSTER, is_cluster
from elolab.arena.players.processors import AUTO, OFF, AffinityError, parse_affinity
from elolab.arena.sequential import MAX_HYPOTHESIS, MIN_GAP, SequentialSettings
from elolab.arena.statistics.elo import SPRT_MODELS
from elolab.arena.statistics.faults import STOP_AFTER_FAULTS
from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError
from elolab.engine.language import console
from elolab.engine.settings import FILE_KINDS
from elolab.engine.settings.configuration import available_configs, find_config, shipped_folder

if TYPE_CHECKING:
    from elolab.arena.play.dialogue_log import DialogueLog

INDENTATION = "  "
COLUMNS = 78


def add_playing(parser: argparse.ArgumentParser, *, keeps_dialogues: bool = True) -> None:
    """Add the options that every command that plays games has, such as ``--concurrency``, ``--dry-run`` and ``--json``.

    ``run_options`` reads most of them. ``keeps_dialogues`` adds ``--log``, for commands that play external engines.
    """
    _add_machine(parser)
    _add_progress(parser)
    if keeps_dialogues:
        add_log(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print the number of games and the expected time; play nothing"
    )
    parser.add_argument(
        "--accept-engine-change", action="store_true",
        help="resume although another version of the engine, or of a player's program, played the earlier games",
    )  # fmt: skip
    options.add_language(parser)
    options.add_json(parser)


def add_tournament_output(parser: argparse.ArgumentParser) -> None:
    """Add ``--search-statistics``, ``--pgn-detail`` and ``--anchor``, for commands that play a tournament."""
    parser.add_argument(
        "--search-statistics", "--instruments", action="store_true",
        help="count what the searches of built-in players do (null moves, iterations, endings, time), for "
        "instruments.csv and a section of the report; does not change the games",
    )  # fmt: skip
    add_pgn_detail(parser)
    add_anchor(parser)


def _add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options that control the use of processors and of clusters."""
    options.add_concurrency(parser)
    parser.add_argument(
        "--oversubscribe", action="store_true",
        help="play although games on clocks need more processors, or hash tables more memory, than the machine has",
    )  # fmt: skip
    parser.add_argument("--force-concurrency", dest="oversubscribe", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--affinity",
        type=_affinity,
        default=OFF,
        metavar="PROCESSORS",
        help="give each simultaneous game its own processors: off (default), auto (from all that this process may "
        "use), or a list such as 0-3,8",
    )
    parser.add_argument(
        "--use-affinity", dest="affinity", nargs="?", const=AUTO, type=_affinity, default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )  # fmt: skip
    parser.add_argument(
        "--cluster", type=_scheduler, metavar="ADDRESS",
        help="play the games on the workers of a Dask cluster, as many at a time as they have threads; ADDRESS is its "
        "scheduler's, such as tcp://192.168.1.5:8786; ssh:host1,host2*8 starts a cluster on these hosts for the run, "
        "with 8 games at a time on host2 (the guide: Games on many machines)",
    )  # fmt: skip
    parser.add_argument(
        "--wall-clock-on-cluster", action="store_true",
        help="with --cluster, also play games on clocks that other work on a worker's machine disturbs",
    )  # fmt: skip
    parser.add_argument(
        "--scale-limits", action="store_true",
        help="with --cluster, multiply clocks and times per move by a factor for each machine, from a benchmark of a "
        "few seconds before its first game: the speed of the run's first machine, divided by its own",
    )  # fmt: skip


def _add_progress(parser: argparse.ArgumentParser) -> None:
    """Add the options that control progress lines, and ``--stop-after-faults``."""
    parser.add_argument(
        "--every", type=options.whole_number(1), metavar="N",
        help="print a complete status line every N games (default: none on a terminal, whose last line shows the "
        "status; a line a minute in a file)",
    )  # fmt: skip
    parser.add_argument(
        "-v", "--verbose", action="store_true",
        help="print a line for each finished game: number, players, result, reason, plies, time, opening",
    )  # fmt: skip
    parser.add_argument(
        "--stop-after-faults", type=options.whole_number(0), metavar="N",
        help="stop the run once a player has lost N games in a row by faults; it can be resumed; 0: never (default: "
        f"stop_after_faults of the file, or {STOP_AFTER_FAULTS})",
    )  # fmt: skip


def run_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Convert the options to keyword arguments for the function that plays a run; ``None`` for options not given."""
    names = (
        "concurrency", "oversubscribe", "affinity", "cluster", "wall_clock_on_cluster", "scale_limits",
        "accept_engine_change", "log", "every", "verbose", "stop_after_faults",
    )  # fmt: skip
    return {name: getattr(arguments, name, None) for name in names}


def _scheduler(text: str) -> str:
    if not is_cluster(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the address of a Dask scheduler, such as {EXPECTED_CLUSTER}")
    return text


EXIT_CODES = (
    "Exit code: 0 if all games were played, 1 if some were not or a player forfeited one by a fault (crash, no answer, "
    "illegal move, loss on time; the games are kept and count), 2 for wrong input, also if no game could be played "
    "because a player cannot be started as it was given, 130 if interrupted."
)
"""Help text on exit codes, for commands that play games and do not tune settings."""


def add_log(parser: argparse.ArgumentParser) -> None:
    """Add ``--log DIR``, the folder for logs of dialogues with external engines."""
    parser.add_argument(
        "--log", metavar="DIR", type=_log_folder,
        help="folder for complete dialogues with external engines: one file a player, with times; existing files are "
        "extended",
    )  # fmt: skip


def dialogue_log(arguments: argparse.Namespace) -> DialogueLog | None:
    """The log of the dialogue with engines, in the folder of ``--log``; ``None`` without the option.

    Used by commands that have no run. Raises ``FileError`` if the folder is not writable.
    """
    if arguments.log is None:
        return None
    from elolab.arena.play.dialogue_log import DialogueLog

    return DialogueLog(Path(arguments.log), lambda text: print(f"elolab: {text}", file=sys.stderr))


def _log_folder(text: str) -> str:
    if text.startswith("file="):  # the syntax of cutechess-cli and fastchess
        raise argparse.ArgumentTypeError(f"{text!r}: every player gets its own file; give a folder: --log DIR")
    return text


def _affinity(text: str) -> str:
    try:
        parse_affinity(text)
    except AffinityError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def add_pgn_detail(parser: argparse.ArgumentParser) -> None:
    """Add ``--pgn-detail``, the amount of detail about each move in games.pgn."""
    from elolab.arena.notation.pgn import DETAILS

    parser.add_argument(
        "--pgn-detail",
        choices=DETAILS,
        help="contents of games.pgn: full (default; score, depth, time, nodes, time left, latency, variation of each "
        "move), figures (without the last three), min (players, result and moves alone)",
    )


def add_anchor(parser: argparse.ArgumentParser) -> None:
    """Add ``--anchor NAME=ELO``, which fixes a player's rating. The option may be repeated."""
    parser.add_argument(
        "--anchor",
        dest="anchors",
        type=_anchor,
        action="append",
        default=[],
        metavar="NAME=ELO",
        help="fix the rating of a player; the others are relative to it (default: the mean of all is 0); may be "
        "repeated",
    )


def _anchor(text: str) -> tuple[str, float]:
    from elolab.arena.tournament_spec import MAX_RATING

    name, _, elo = text.rpartition("=")
    try:
        rating = float(elo)
    except ValueError:
        rating = math.nan
    if not name or not abs(rating) <= MAX_RATING:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a player's name, '=' and a number from {-MAX_RATING} to {MAX_RATING}"
        )
    return name, rating


def output_folder(out: str | None, name: str) -> Path:
    """The folder of ``--out``, or ``results/`` and the run's name if ``out`` is ``None``.

    In ``out``, ``{name}`` stands for the run's name and ``{identity}`` for the engine's identity.
    """
    if out is None:
        return Path("results") / name
    if "{identity}" in out:
        from elolab.engine.compiled.identity import engine_identity

        out = out.replace("{identity}", engine_identity())
    return Path(out.replace("{name}", name))


def output_file(option: str, name: str) -> Path:
    """Check the path ``name`` of an output file before a long run, and return it. Errors mention ``option``.

    Raises ``UsageError`` if the path is a folder, or its parent folder is missing or not writable.
    """
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{option} {name}: a folder", "name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {name}: there is no folder {path.parent}")
    if not path.exists() and not os.access(path.parent, os.W_OK):
        raise UsageError(f"{option} {name}: no file can be written into the folder {path.parent}", "name another")
    return path


def add_hypothesis(parser: argparse.ArgumentParser, *, always: bool) -> None:
    """Add ``--elo0``, ``--elo1``, ``--alpha``, ``--beta`` and ``--model``, which ``hypotheses_of`` reads.

    ``always`` is true for a command that always plays a test. Only then do ``--elo0`` and ``--elo1`` have defaults.
    """
    group = parser.add_argument_group("sequential test")
    default = SequentialSettings()
    for name, elo, meaning in (
        ("elo0", default.elo0, "H0: stronger by at most"),
        ("elo1", default.elo1, "H1: stronger by at least"),
    ):
        said = f" (default {elo:g})" if always else ""
        group.add_argument(
            f"--{name}",
            type=options.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS),
            default=elo if always else None,
            metavar="ELO",
            help=f"hypothesis {meaning} ELO{said}",
        )
    for name, error, meaning in (
        ("alpha", default.alpha, "H1 accepted though H0 holds"), ("beta", default.beta, "H0 accepted though H1 holds")
    ):  # fmt: skip
        group.add_argument(
            f"--{name}", type=options.number(0, 0.5, inside=True), default=error, metavar="P",
            help=f"error probability: {meaning} (default {error:g})",
        )  # fmt: skip
    group.add_argument(
        "--model",
        choices=SPRT_MODELS,
        default=default.model,
        help=f"Elo model of both hypotheses (default {default.model})",
    )


def hypotheses_of(arguments: argparse.Namespace) -> SequentialSettings | None:
    """The sequential test that the arguments describe; ``None`` without ``--elo0`` and ``--elo1``.

    Raises ``UsageError`` if only one of them is given, or H1 is not above H0.
    """
    elo0, elo1 = arguments.elo0, arguments.elo1
    if elo0 is None and elo1 is None:
        return None
    if elo0 is None or elo1 is None:
        missing = "--elo0" if elo0 is None else "--elo1"
        raise UsageError(f"{missing} is missing; a sequential test needs --elo0 and --elo1")
    if elo1 - elo0 < MIN_GAP:
        raise UsageError(
            f"--elo0 {elo0:g} --elo1 {elo1:g}: the second hypothesis must be above the first, by {MIN_GAP:g} or more"
        )
    return SequentialSettings(elo0, elo1, arguments.alpha, arguments.beta, arguments.model)


def add_specification(parser: argparse.ArgumentParser, kind: str) -> None:
    """Add the argument ``SPEC``, which ``specification_of`` reads. ``kind`` is a key of ``FILE_KINDS``.

    ``argparse`` treats ``SPEC`` as optional, so that ``specification_of`` can list the known names if it is missing.
    """
    parser.add_argument(
        "spec", metavar="SPEC", nargs="?", help=f"{FILE_KINDS[kind].title}: a TOML file, or one of the names below"
    )


def names_paragraph(kind: str) -> str:
    """Paragraph for the end of a command's help that lists the names of shipped files of this kind."""
    names = textwrap.wrap(", ".join(available_configs(kind)), COLUMNS - len(INDENTATION), break_on_hyphens=False)
    return "\n".join(["\n\nNames that SPEC may be:", *(INDENTATION + line for line in names)])


def specification_of(arguments: argparse.Namespace, kind: str, command: str, otherwise: str = "") -> Path:
    """The path of the file that the argument ``SPEC`` gives. If ``SPEC`` is a known name, prints the path to standard
    error.

    ``kind`` is a key of ``FILE_KINDS``, ``command`` the command's name for errors, ``otherwise`` a text on alternatives
    to ``SPEC``. Raises ``UserError`` with similar names for an unknown name, or with all names if ``SPEC`` is missing.
    """
    if arguments.spec is None:
        raise UsageError(
            f"{command}: SPEC is missing: give a TOML file or one of {', '.join(available_configs(kind))}{otherwise}",
            f"elolab {command} --help explains the arguments",
        )
    path = find_config(kind, arguments.spec)
    if str(path) != arguments.spec:
        key = "console.taken_shipped" if path.parent == shipped_folder() / kind else "console.taken"
        print(f"elolab: {console('elolab.arena')(key, name=arguments.spec, path=path)}", file=sys.stderr)
    return path
