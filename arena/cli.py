"""The commands that play: ``tournament``, ``report``, ``replay``, ``openings`` and ``convert``."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.shipped_specifications import add_specification_argument, names_paragraph, specification_of
from engine.command_line import (
    add_concurrency_argument,
    add_game_argument,
    add_json_argument,
    add_limit_argument,
    add_output_argument,
    add_seed_argument,
    game_of,
    print_json,
    usable_processors,
    whole_number,
)
from engine.errors import UserError
from engine.instruments import InstrumentSettings

if TYPE_CHECKING:
    from arena.records import GameJob, GameRecord
    from arena.spec import TournamentSpec
    from arena.tournament import Ended, Exported

JOINT_FOLDER = "results/joint"
DEFAULT_PLIES = 8
DEFAULT_COUNT = 1000
DEFAULT_MAX_SCORE = 60
DEFAULT_SCORING = "nodes=1000"


# tournament


def configure_tournament(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab tournament``."""
    add_specification_argument(parser, "tournaments")
    parser.epilog = (
        "Given again, the command plays only the games that the folder lacks: that resumes a\n"
        "tournament after any stop, and extends it after pairs or players were added to SPEC.\n"
        "In DIR, {name} stands for the tournament's name and {identity} for the engine's."
    ) + names_paragraph("tournaments")
    add_playing_arguments(parser)


def add_playing_arguments(parser: argparse.ArgumentParser, folder: str = "results/<name of the spec>") -> None:
    """The arguments of every command that plays a tournament: read them with ``play_and_print``."""
    add_output_argument(parser, folder)
    add_concurrency_argument(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say how many games, openings and how much time")
    parser.add_argument(
        "--accept-engine-change", action="store_true", help="go on although another version of the engine began"
    )
    parser.add_argument(
        "--instruments",
        action="store_true",
        help="count what the searches of built-in players do (null moves, iterations, endings, time), for "
        "instruments.csv and a section of the report; the games are the same with and without",
    )
    add_anchor_argument(parser)
    add_json_argument(parser)


def add_anchor_argument(parser: argparse.ArgumentParser) -> None:
    """``--anchor NAME=ELO``: a list of names and ratings."""
    parser.add_argument(
        "--anchor",
        dest="anchors",
        type=_anchor,
        action="append",
        default=[],
        metavar="NAME=ELO",
        help="the rating of a player, to which the others' are relative (default: the mean of all is 0); may be "
        "given for several players",
    )


def _anchor(text: str) -> tuple[str, float]:
    from arena.spec import MAXIMUM_RATING

    name, _, elo = text.rpartition("=")
    try:
        rating = float(elo)
    except ValueError:
        rating = math.nan
    if not name or not abs(rating) <= MAXIMUM_RATING:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a player's name, '=' and a number from {-MAXIMUM_RATING} to {MAXIMUM_RATING}"
        )
    return name, rating


def run_tournament(arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament."""
    from arena.spec import load_tournament

    return play_and_print(load_tournament(specification_of(arguments, "tournaments", "tournament")), arguments)


def play_and_print(spec: TournamentSpec, arguments: argparse.Namespace) -> int:
    """Play, resume or extend a tournament under the arguments of ``add_playing_arguments``; returns the exit code."""
    from arena.spec import with_anchors
    from arena.tournament import describe, description_text, prepare, resume_command, run

    spec = with_anchors(spec, arguments.anchors)
    if arguments.instruments and spec.instruments is None:
        spec = replace(spec, instruments=InstrumentSettings())
    given = ["--instruments"] if arguments.instruments else []
    for name, elo in arguments.anchors:
        given += ["--anchor", f"{name}={elo:.15g}"]
    if given:
        spec = replace(spec, command=(*spec.words, *given))
    directory = output_folder(arguments.out, spec)
    if arguments.dry_run:
        description = describe(prepare(spec), directory, arguments.concurrency)
        if arguments.json:
            print_json(description)
        else:
            print(description_text(description))
        return 0
    try:
        ended = run(
            spec, directory, concurrency=arguments.concurrency, accept_engine_change=arguments.accept_engine_change
        )
    except KeyboardInterrupt:
        print(f"elolab: interrupted; to go on: {resume_command(spec, directory)}", file=sys.stderr)
        return 130
    print_end(spec, directory, ended, arguments.json)
    return ended.exit_code


def output_folder(out: str | None, spec: TournamentSpec) -> Path:
    """The folder of ``--out``, or the default."""
    if out is None:
        return Path("results") / spec.name
    if "{identity}" in out:
        from engine.identity import engine_identity

        out = out.replace("{identity}", engine_identity())
    return Path(out.replace("{name}", spec.name))


def print_end(spec: TournamentSpec, directory: Path, ended: Ended, as_json: bool) -> None:
    """Print what came of a tournament, and on standard error what is missing."""
    from arena.tournament import resume_command

    for name, reason in ended.unavailable.items():
        print(f"elolab: player {name!r} could not be started and is out: {reason}", file=sys.stderr)
    missing = ended.planned - ended.stored
    if missing and not ended.interrupted:
        print(f"elolab: {missing} of {ended.planned} games were not played", file=sys.stderr)
    if missing:
        kind = "interrupted: " if ended.interrupted else ""
        command = resume_command(spec, directory)
        print(f"elolab: {kind}{ended.stored} of {ended.planned} games are stored; to go on: {command}", file=sys.stderr)
    if as_json:
        _print_result_as_json(spec, directory, ended)
    elif ended.exported is not None:
        _print_exported(spec, ended.exported)


def _print_exported(spec: TournamentSpec, exported: Exported) -> None:
    from arena.spec import TWO_PLAYER_FORMATS
    from arena.standings import tables_text
    from arena.stats import match_lines
    from engine.games import game_named

    print(tables_text(exported.tables, game_named(spec.game).side_names))
    print()
    if spec.format in TWO_PLAYER_FORMATS:
        print("\n".join([*match_lines(spec, exported), ""]))
    print(f"games digest: {exported.digest}")
    print(exported.report)


def _print_result_as_json(spec: TournamentSpec, directory: Path, ended: Ended) -> None:
    data = {
        "name": spec.name,
        "folder": str(directory),
        "planned": ended.planned,
        "stored": ended.stored,
        "interrupted": ended.interrupted,
        "unavailable": ended.unavailable,
    }
    if ended.exported is not None:
        data |= _exported_data(spec, ended.exported)
    print_json(data)


def _exported_data(spec: TournamentSpec, exported: Exported) -> dict[str, Any]:
    """What was written, as plain data."""
    from arena.spec import TWO_PLAYER_FORMATS
    from arena.stats import figures_of_match

    return {
        "standings": [asdict(row) for row in exported.tables.standings],
        "duels": [asdict(row) for row in exported.tables.duels],
        "endings": [asdict(row) for row in exported.tables.endings],
        "fit": exported.tables.fit(),
        **(figures_of_match(exported) if spec.format in TWO_PLAYER_FORMATS else {}),
        "games_digest": exported.digest,
        "report": str(exported.report),
    }


# report


def configure_report(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab report``."""
    parser.add_argument("directories", nargs="+", metavar="DIR", help="the folder of a tournament, match or test")
    parser.epilog = (
        "Several folders are rated together: one fit over the games of all. A player is the same in two folders if "
        "name and configuration are; a name with different configurations becomes several players. The same game in "
        "two folders counts once."
    )
    add_output_argument(parser, f"that of one tournament; {JOINT_FOLDER} for several")
    add_anchor_argument(parser)
    add_json_argument(parser)


def run_report(arguments: argparse.Namespace) -> int:
    """Write a tournament's PGN, tables and report again from its games, or those of several together."""
    from arena.spec import with_anchors
    from arena.store import Store
    from arena.tournament import ended_at, export, stored_tournament

    if len(arguments.directories) > 1:
        return _run_joint_report(arguments)
    (directory,) = map(Path, arguments.directories)
    if arguments.out is not None:
        raise UserError(f"--out {arguments.out}: the report of one tournament is written into its folder; leave it out")
    with Store(directory, read_only=True) as store:
        spec = with_anchors(stored_tournament(store), arguments.anchors)
        ended = replace(ended_at(spec, store), exported=export(spec, store))
    print_end(spec, directory, ended, arguments.json)
    return 0


def _run_joint_report(arguments: argparse.Namespace) -> int:
    from arena.joint import export, join

    joint = join(arguments.directories, arguments.anchors)
    exported = export(joint, Path(arguments.out or JOINT_FOLDER))
    if arguments.json:
        print_json({"folders": arguments.directories, "notes": joint.notes, **_exported_data(joint.spec, exported)})
        return 0
    for note in joint.notes:
        print(f"elolab: {note}", file=sys.stderr)
    _print_exported(joint.spec, exported)
    return 0


# replay


def configure_replay(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab replay``."""
    parser.add_argument("directory", type=Path, metavar="DIR", help="the tournament's folder")
    parser.add_argument("game", metavar="GAME", help="the game's number (as in games.csv) or the beginning of its key")
    add_json_argument(parser)


def run_replay(arguments: argparse.Namespace) -> int:
    """Play one stored game again and compare."""
    from arena.executor import GameRunner, stopping_on_signals
    from arena.tournament import is_reproducible
    from engine.engine import StopFlag

    stored, job = _stored_game(arguments.directory, arguments.game)
    stop = StopFlag()
    with stopping_on_signals(stop), GameRunner(1, stop) as runner:
        played = next(runner.run([job]), None)
    if played is None:
        reason = "; ".join(runner.unavailable.values()) or "interrupted"
        print(f"elolab: the game was not played: {reason}", file=sys.stderr)
        return 130 if stop.is_set() else 1
    reproducible = is_reproducible(job.first, job.second)
    if arguments.json:
        print_json(_comparison(stored, played, reproducible))
    else:
        print(_comparison_text(stored, played, reproducible))
    return 0 if played.digest == stored.digest else 1


def _stored_game(directory: Path, game: str) -> tuple[GameRecord, GameJob]:
    """A stored game and the job that it was. Raises ``UserError`` if there is no such game, or more than one."""
    from arena.records import GameJob
    from arena.store import Store
    from arena.tournament import stored_player, stored_tournament

    with Store(directory, read_only=True) as store:
        spec = stored_tournament(store)
        found = store.find(game)
        count = len(store)
    if len(found) != 1:
        raise UserError(
            f"{directory}: {len(found) or 'no'} games match {game!r}; expected a number below {count} "
            "or the beginning of a key (see games.csv)"
        )
    (record,) = found
    first, second = (stored_player(spec.player(name), spec.game, directory) for name in (record.first, record.second))
    job = GameJob(spec.game, spec.rules, spec.adjudication, record.pairing, first, second, record.opening, spec.seed)
    return record, job


def _comparison(stored: GameRecord, played: GameRecord, reproducible: bool) -> dict[str, Any]:
    return {
        "game": stored.pairing.number,
        "key": stored.key,
        "reproducible": reproducible,
        "identical": stored.digest == played.digest,
        "stored": _summary(stored),
        "played": _summary(played),
    }


def _summary(record: GameRecord) -> dict[str, Any]:
    return {
        "digest": record.digest,
        "result": record.result,
        "reason": record.reason,
        "plies": len(record.moves),
        "engine_identity": record.engine_identity,
    }


def _comparison_text(stored: GameRecord, played: GameRecord, reproducible: bool) -> str:
    lines = [f"game {stored.pairing.number}: {stored.first} against {stored.second}, opening {stored.opening.name}"]
    for name, record in (("stored", stored), ("played", played)):
        plies = len(record.moves)
        lines.append(f"{name}: {record.result} ({record.reason}) after {plies} plies, digest {record.digest}")
    if stored.digest == played.digest:
        lines.append("identical")
        return "\n".join(lines)
    lines.append(f"different{_first_difference(stored, played)}")
    if stored.engine_identity != played.engine_identity:
        lines.append(f"it was played by engine {stored.engine_identity}, this is engine {played.engine_identity}")
    if not reproducible:
        lines.append("its limits or players are not reproducible (time, or an external engine): that is to be expected")
    return "\n".join(lines)


def _first_difference(stored: GameRecord, played: GameRecord) -> str:
    for ply, (before, now) in enumerate(zip(stored.moves, played.moves, strict=False), start=1):
        for what in ("move", "score", "depth", "nodes"):
            if getattr(before, what) != getattr(now, what):
                return f" from ply {ply} on: {what} {getattr(before, what)} stored, {getattr(now, what)} played"
    return "" if len(stored.moves) == len(played.moves) else " in length"


# openings


def configure_openings(parser: argparse.ArgumentParser) -> None:
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
    generate.add_argument("--out", metavar="FILE", help="file to write, compressed if it ends in .gz (default: print)")
    check = actions.add_parser(
        "check", help="read a suite and say what is in it", description="Check every line of a suite and count."
    )
    check.add_argument("openings", metavar="FILE", help="an EPD file, or the name of a shipped suite")
    add_game_argument(check)
    add_json_argument(check)


def _add_number(parser: argparse.ArgumentParser, name: str, default: int, high: int, said: str) -> None:
    kind = whole_number(0, high)
    parser.add_argument(name, type=kind, default=default, metavar="N", help=f"{said} (default {default})")


def run_openings(arguments: argparse.Namespace) -> int:
    """Generate or check a suite of openings."""
    return _generate_openings(arguments) if arguments.action == "generate" else _check_openings(arguments)


def _generate_openings(arguments: argparse.Namespace) -> int:
    from arena.openings import RandomPlay, generate, suite_text, write_suite

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
        print(f"{arguments.out}: {len(positions)} openings")
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
        print(f"{start}{found}/{wanted} openings of {seen} candidates", end=end, file=sys.stderr, flush=True)

    return show


def _check_openings(arguments: argparse.Namespace) -> int:
    from arena.openings import load_suite
    from engine.configuration import find_config

    game = game_of(arguments).name
    suite = load_suite(arguments.openings, game, check_all=True)
    counts = {part: len(suite.part(part)) for part in ("all", "tournament", "validation")}
    path = find_config("openings", arguments.openings)
    if arguments.json:
        print_json({"file": str(path), "digest": suite.digest, **counts})
    else:
        print(
            f"{path}: {counts['all']} openings, all legal and distinct; {counts['tournament']} for tournaments, "
            f"{counts['validation']} reserved for validation; digest {suite.digest}"
        )
    return 0


# convert


def configure_convert(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab convert``."""
    from arena.convert import TARGETS
    from arena.portable_game_notation import ENCODINGS

    parser.description = (
        "Convert games and positions. INPUT holds games (PGN with moves in any notation, or merely moves) or positions "
        "(FEN or EPD, one a line), in UTF-8 or GBK; every move is checked.\n\n"
        "iccs, wxf, chinese (simplified) and traditional write PGN with the moves in that notation, pgn in the one "
        "that was read. fen and epd write the position after the last move of each game, epd each position once."
    )
    parser.add_argument("input", metavar="INPUT", help="file to read, or - for standard input")
    add_game_argument(parser)
    parser.add_argument("--to", choices=TARGETS, help="what to write (default iccs, of Othello pgn)")
    parser.add_argument("--out", metavar="FILE", help="file to write (default: print)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="utf-8", help="of what is written (default utf-8)")
    parser.add_argument("--plies", type=whole_number(0), metavar="N", help="keep only the first N moves of each game")
    parser.add_argument(
        "--ranks",
        choices=("0", "1", "auto"),
        default="0",
        help="number of the lowest rank in coordinates read: 0 (default), 1, or auto: whichever makes a game legal",
    )


def run_convert(arguments: argparse.Namespace) -> int:
    """Convert games or positions."""
    from arena.convert import convert
    from arena.files import replace_file
    from arena.portable_game_notation import decode_text, encode_text

    content, where = _input(arguments.input)
    text = decode_text(content, where)
    game = game_of(arguments)
    target = arguments.to or (*game.move_notations, "pgn")[0]
    converted = convert(text, where, game.name, target, arguments.ranks, arguments.plies)
    data = encode_text(converted, arguments.encoding, arguments.out or "standard output")
    if arguments.out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    else:
        replace_file(Path(arguments.out), data)
    return 0


def _input(name: str) -> tuple[bytes, str]:
    """The bytes of ``INPUT`` and what to call it in errors."""
    if name == "-":
        return sys.stdin.buffer.read(), "standard input"
    try:
        return Path(name).read_bytes(), name
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
