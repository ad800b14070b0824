"""Plays tournaments, matches and sequential tests that options describe, without a TOML file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.arena.keys.engines_file import engines_file
from elolab.arena.player_spec import (
    DEFAULT_LIMIT,
    MAX_NAME_LENGTH,
    PLAYER_KINDS,
    PlayerReader,
    default_limit,
    name_players,
)
from elolab.arena.players.detect import ProtocolFinder
from elolab.arena.records import PlayerSpec, digest_of
from elolab.arena.sequential import SequentialSettings
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import SPRT, TournamentSpec
from elolab.cli.shared import options
from elolab.cli.shared.engine_options import (
    PlayerWords,
    complete,
    game_of_players,
    is_player_word,
    named_player,
    read_player_words,
    refuse_unused,
)
from elolab.cli.shared.match_conditions import (
    add_condition_words,
    add_single_dashes,
    condition_mistakes,
    conditions_of,
    pairs_of,
    sprt_of_words,
)
from elolab.cli.shared.other_programs import add_other_options, notes_of
from elolab.cli.shared.parser import CommandParser, UsageError
from elolab.cli.shared.playing_options import (
    add_hypothesis,
    add_playing,
    add_tournament_output,
    hypotheses_of,
    output_folder,
)
from elolab.cli.shared.tournament_output import play_and_print
from elolab.engine.language import console
from elolab.engine.settings.limits import GRAMMAR, Limits
from elolab.engine.settings.parameters import by_canonical_name, format_value, why_without_effect
from elolab.engine.settings.whole_numbers import MAX_SEED

DEFAULT_SEED = 1
RESULTS = Path("results")
FOLDER_SUFFIX_LENGTH = 36
"""Maximum number of characters for limits and seed at the end of a folder's name."""
PLAYER_HELP = (
    f"A player is {PLAYER_KINDS}. elolab detects the protocol of a program. A TOML file is a preset "
    "(with sections [xiangqi], [othello]), settings alone (null_move = false), or the contents of a tournament's table "
    "[[players]] (name, preset, set, limit; command and options for an external engine).\n\n"
    "--engine describes a player by words: cmd=PROGRAM with args=, dir=, proto=, or conf=NAME, or preset=NAME; name=; "
    "source=REPO@REV and build=COMMAND for a program cmd= that is built from that git commit, once, and kept; "
    "tc=MOVES/TIME+INCREMENT, st=SECONDS, nodes=N, depth=N or limit=LIMIT; option.NAME=VALUE, for the built-in engine "
    "set.NAME=VALUE; timemargin=MS, restart=on|off, ponder, and every other key of a table [[players]]. --each "
    "gives the same words to all players. Words of cutechess-cli and fastchess mean the same here, and may have one "
    "dash.\n\n"
    "Every opening is played twice, with colours swapped: -rounds 50 -games 2 -repeat are 50 openings and 100 games."
)
"""Help text on how to describe players, for every command that plays games between players."""


def add_players(parser: argparse.ArgumentParser) -> None:
    """Add the arguments ``A`` and ``B``, the two players; both are optional, because ``--engine`` can replace them."""
    parser.add_argument("a", metavar="A", nargs="?", help="the player whose strength is tested")
    parser.add_argument("b", metavar="B", nargs="?", help="its opponent")


def add_test(parser: CommandParser) -> None:
    """Add the options of a sequential test, which ``test_of`` reads."""
    batch = SequentialSettings().batch_pairs
    add_hypothesis(parser, always=True)
    parser.add_argument(
        "--pairs", type=options.whole_number(1), metavar="N",
        help="pairs after which a test ends undecided (default: as many as there are openings)",
    )  # fmt: skip
    parser.add_argument(
        "--batch-pairs", type=options.whole_number(1), default=batch, metavar="N",
        help=f"pairs between two interim analyses (default {batch})",
    )  # fmt: skip
    parser.add_argument("--sprt", nargs="+", metavar="WORD", help="the test as words: elo0=ELO elo1=ELO alpha=P ...")


def test_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The ``[sprt]`` table that the options of ``add_test`` describe. Raises ``UsageError`` for wrong values."""
    hypotheses_of(arguments)
    return {name: getattr(arguments, name) for name in SPRT} | sprt_of_words(arguments.sprt or ())


def add_tournament_words(parser: CommandParser, folder: str) -> None:
    """Add every option that describes a tournament, after the command's own options.

    ``folder`` is the default of ``--out``, as the help text shows it.
    """
    parser.add_argument(
        "--engine", dest="engines", nargs="+", action="append", default=[], metavar="WORD",
        help="a player: cmd=PROGRAM, conf=NAME, preset=NAME or a single word, and more; see below",
    )  # fmt: skip
    parser.add_argument(
        "--each", nargs="+", action="extend", default=[], metavar="WORD", help="the same for all players"
    )
    parser.add_argument(
        "--engines", dest="engines_file", metavar="FILE", type=_engines_file, nargs="?", const="",
        help="file of your engines for conf=NAME (default engines.toml, here or in ~/.config/elolab)",
    )  # fmt: skip
    options.add_game(parser)
    parser.set_defaults(game=None)
    parser.add_argument(
        "--limit", type=Limits.parse, metavar="LIMIT",
        help=f"limit of players without their own: {GRAMMAR}; default {DEFAULT_LIMIT}, or if not all players' "
        "protocols have it, depth=6 or move_time=1",
    )  # fmt: skip
    add_condition_words(parser)
    options.add_seed(parser, DEFAULT_SEED)
    parser.set_defaults(seed=None)  # so that it is known whether it was given
    parser.add_argument("--srand", dest="seed", type=options.whole_number(0, MAX_SEED), help=argparse.SUPPRESS)
    options.add_output(parser, folder)
    add_tournament_output(parser)
    add_playing(parser)
    add_other_options(parser, is_for_two=parser.prog.split()[-1] != "tournament")
    add_single_dashes(parser)
    parser.checks.append(condition_mistakes)


def _engines_file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a FILE; elolab engines lists your engines")
    return text


def play_words(kind: str, arguments: argparse.Namespace, own: dict[str, Any]) -> int:
    """Play, resume or extend the tournament that the arguments describe, and return the exit code.

    ``kind`` is the command's name. ``own`` has keys of a tournament's file that the command itself sets.
    """
    warn_of_ignored_options(arguments)
    return play_and_print(spec_of_words(kind, arguments, own, player_words(kind, arguments)), arguments)


def spec_of_words(
    kind: str, arguments: argparse.Namespace, own: dict[str, Any], players: Sequence[PlayerWords]
) -> TournamentSpec:
    """The tournament that the arguments describe, with the given players; ``kind`` and ``own`` are as for
    ``play_words``.

    Raises ``UserError`` for wrong input, and for a program that cannot be built or whose protocol cannot be detected.
    """
    if arguments.game is not None:
        arguments.game = options.game_of(arguments).name
    arguments.seed = DEFAULT_SEED if arguments.seed is None else arguments.seed
    content = {"seed": arguments.seed} | own
    entries, reader = _entries(players, content, arguments)
    content = conditions_of(arguments, reader.game) | content
    limit = arguments.limit
    if limit is None:
        limit = default_limit(reader.protocol_of(entry, kind) for entry in entries if "limit" not in entry)
        if limit != DEFAULT_LIMIT:
            options.warn("console.other_limit", limit=limit, usual=DEFAULT_LIMIT)
    spec = spec_from_mapping(content | {"players": entries, "limit": str(limit)}, kind, reader.finder)
    warn_of_settings_without_effect(entries, spec.players)
    if arguments.out is None and arguments.event is None:
        spec = _in_folder_of_its_own(spec, accepts_changes=arguments.accept_engine_change)
    return spec


def warn_of_ignored_options(arguments: argparse.Namespace) -> None:
    """Warn about options of other programs that have no effect. Replace ``--event`` by a valid name for a folder."""
    for reason, words in notes_of(arguments).items():
        options.warn(
            "ignored.warning",
            words=", ".join(words),
            count=len(words),
            reason=console("elolab.arena")(f"ignored.{reason}"),
        )
    if arguments.resign is not None and not any(
        word.startswith(("twosided=", "movecount=0")) for word in arguments.resign
    ):
        options.warn("ignored.twosided")
    event = arguments.event
    if event is not None:
        name = re.sub(r"[^\w.+ -]+", "-", event)[:MAX_NAME_LENGTH].strip(" -")
        if name and name != event and not name.startswith("."):
            arguments.event = name
            options.warn("ignored.event", event=event, name=name)


def play_sequential(kind: str, arguments: argparse.Namespace, test: dict[str, Any], pairs: int | None) -> int:
    """Play, resume or extend a match until a sequential test ends it, or until ``pairs`` game pairs have been played.

    ``kind`` is the command's name, ``test`` the ``[sprt]`` table. Returns the exit code.
    """
    return play_words(kind, arguments, keys_of_test(test, pairs))


def keys_of_test(test: dict[str, Any], pairs: int | None) -> dict[str, Any]:
    """Keys of a tournament's file, with values, for the sequential test ``test`` of at most ``pairs`` game pairs."""
    return {"format": "sprt", "sprt": test} | ({} if pairs is None else {"pairs": pairs})


def planned_test(
    arguments: argparse.Namespace, test: dict[str, Any], pairs: int | None
) -> tuple[SequentialSettings, int]:
    """The settings and the maximum number of pairs of the test that ``play_sequential`` would play.

    The players are not read, so that a test can be evaluated before they exist.
    """
    from elolab.arena.play.tournament_run import prepare

    game = arguments.game or options.DEFAULT_GAME
    content = {"game": game, "limit": str(DEFAULT_LIMIT)} | conditions_of(arguments, game) | keys_of_test(test, pairs)
    content["players"] = [{"name": name} for name in ("A", "B")]
    spec = prepare(spec_from_mapping(content, "sprt")).spec
    assert spec.sprt is not None
    return spec.sprt, spec.pairs


def warn_of_settings_without_effect(entries: Sequence[Mapping[str, Any]], players: Sequence[PlayerSpec]) -> None:
    """Warn about engine settings that have no effect. ``entries`` are the ``[[players]]`` tables of ``players``."""
    for entry, player in zip(entries, players, strict=True):
        values = dict(player.parameters)
        for name in by_canonical_name(entry.get("set", {})):
            reason = why_without_effect(name, values, player.limits)
            if reason is not None:
                options.warn("console.without_effect", player=player.name, name=name,
                         value=format_value(values[name]), reason=reason)  # fmt: skip


def player_words(kind: str, arguments: argparse.Namespace) -> list[PlayerWords]:
    """Parse the descriptions of the players on the command line of the command ``kind``.

    Raises ``UsageError`` if there are too few or too many players.
    """
    named = [getattr(arguments, name, None) for name in ("a", "b", "spec")]
    single = [*(word for word in named if word is not None), *getattr(arguments, "players", ())]
    for word in single:
        if is_player_word(word):
            raise UsageError(f"{kind}: {word!r} describes a player in words", f"give --engine {word}")
    players = [PlayerWords(kind, word) for word in single]
    players += [read_player_words(words) for words in arguments.engines]
    if len(players) < 2 or (kind != "tournament" and len(players) > 2):
        expected = "two or more: A B C, or --engine" if kind == "tournament" else f"two: elolab {kind} A B, or --engine"
        raise UsageError(
            f"{kind}: {len(players)} player{'' if len(players) == 1 else 's'}, expected {expected}",
            f"elolab {kind} --help explains the arguments",
        )
    return players


def _entries(
    players: Sequence[PlayerWords], content: dict[str, Any], arguments: argparse.Namespace
) -> tuple[list[dict[str, Any]], PlayerReader]:
    """Build the ``[[players]]`` tables; return them with the reader that resolves engines and protocols.

    Adds to ``content``, the tournament's keys, a name made from format and players, and the game if it is missing.
    """
    each = read_player_words(arguments.each, "--each")
    engines = engines_file(arguments.engines_file, Path())
    named = [named_player(words, each, engines) for words in players]
    name_players(player.entry for player in named)
    names = [str(player.entry["name"]) for player in named]
    content["name"] = arguments.event or _folder_name(content["format"], names, MAX_NAME_LENGTH)
    finder = protocol_finder(*_folders_of(arguments, content["format"], names))
    reader = PlayerReader(arguments.game or "", arguments.limit, engines=engines, finder=finder)
    if arguments.game is None:
        entries_and_words = [(player.entry, words) for player, words in zip(named, players, strict=True)]
        arguments.game = game_of_players(entries_and_words, each, reader, options.DEFAULT_GAME)
        if arguments.game != options.DEFAULT_GAME:
            options.warn("console.game_found", game=arguments.game)
        reader = replace(reader, game=arguments.game)
    content["game"] = arguments.game
    entries = [
        complete(player.check(reader), words, each, reader) for player, words in zip(named, players, strict=True)
    ]
    refuse_unused(each, entries)
    return entries, reader


def _folders_of(arguments: argparse.Namespace, kind: str, names: Sequence[str]) -> list[Path]:
    """Folders of results that may belong to a tournament of format ``kind`` between players with these names.

    If ``--out`` or ``--event`` is given, only its folder; otherwise every folder whose name fits.
    """
    if arguments.out is not None or arguments.event is not None:
        return [output_folder(arguments.out, arguments.event or "")]
    return sorted(RESULTS.glob(f"{_folder_name(kind, names, MAX_NAME_LENGTH - FOLDER_SUFFIX_LENGTH)}*"))


def _in_folder_of_its_own(spec: TournamentSpec, *, accepts_changes: bool) -> TournamentSpec:
    """Give a tournament a name, and so a folder, made from its players, limits and seed.

    The same command always resumes the same folder. If that folder holds a tournament with other settings, or games of
    other versions of the programs, a number is added to the name. ``accepts_changes`` permits other versions.
    """
    from elolab.arena.play.tournament_run import holds_another

    limits = "-".join(dict.fromkeys(str(player.limits) for player in spec.players))
    end = re.sub(r"[^\w.+]+", "-", f"-{limits}-seed-{spec.seed}")
    if len(end) > FOLDER_SUFFIX_LENGTH:
        end = f"-{digest_of([limits, spec.seed])[:8]}"
    base = _folder_name(spec.format, [player.name for player in spec.players], MAX_NAME_LENGTH - len(end) - 4) + end
    number, name = 1, base
    while holds_another(RESULTS / name, spec, accepts_changes=accepts_changes):
        number += 1
        name = f"{base}-{number}"
    if number > 1:
        options.warn("console.other_folder", taken=RESULTS / base, folder=RESULTS / name)
    return replace(spec, name=name)


def protocol_finder(*directories: Path) -> ProtocolFinder:
    """A detector of programs' protocols, which prints findings and reuses the findings of the runs ``directories``."""
    from elolab.arena.play.tournament_run import players_in

    return ProtocolFinder(
        [player for directory in directories for player in players_in(directory)],
        lambda program, protocol: options.warn("console.speaks", program=program, protocol=protocol.title),
        lambda program, seconds: options.warn("console.slow_to_speak", program=program, seconds=f"{seconds:g}"),
    )


def rounds_as_pairs(arguments: argparse.Namespace) -> int | None:
    """Number of game pairs over all rounds of a match; ``None`` without ``--rounds``, ``--pairs`` and ``--games``."""
    pairs = pairs_of(arguments)
    if arguments.rounds is None:
        return pairs
    return int(arguments.rounds) * (1 if pairs is None else pairs)


def _folder_name(kind: str, names: Sequence[str], most: int) -> str:
    """Folder name of at most ``most`` characters, made from a tournament's format ``kind`` and its players' names."""
    text = "-".join((kind, *names))
    if len(names) > 2 and len(text) > most:
        text = f"{kind}-{names[0]}-and-{len(names) - 1}-others"
    return re.sub(r"[^\w.+]+", "-", text)[:most].strip("-")
