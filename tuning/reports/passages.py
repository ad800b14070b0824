"""Passages that several reports share: a run's conditions, both sides' speeds, and the command that repeats the run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.files import replacing
from elolab.arena.notation.pgn import GameWriter
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.players.registry import protocol_named
from elolab.arena.reports.contents import command_text
from elolab.arena.reports.document import TextTable, table_of
from elolab.arena.reports.packed_games import GAMES_FOLDER, GamePacker, GamesOnPage
from elolab.arena.reports.render import REPORTS
from elolab.arena.reports.write import PGN_NAME
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, game_words
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.configuration import specification_word
from elolab.tuning.conditions import Conditions, describe
from elolab.tuning.external_engine import BUILD

if TYPE_CHECKING:
    from elolab.arena.records import PlayerSpec
    from elolab.tuning.ablation.speed import SpeedRow

SPECIFICATIONS = {"tune": "tuning", "ablate": "ablations"}
"""The kind of specification file that each command reads, by the command's name."""


def speeds_table(head: str, speeds: Sequence[SpeedRow], message: Catalogue) -> TextTable:
    """A table of depth, nodes, time and speed of both sides of each match.

    ``head`` is the title of the label column.
    """

    def beside(variant: float | None, reference: float | None, digits: int) -> str:
        one, other = ("–" if value is None else f"{value:.{digits}f}" for value in (variant, reference))
        return message("ablation.side_by_side", variant=one, reference=other)

    def ratio(value: float | None, low: float | None, high: float | None) -> str:
        return "" if value is None else message("ablation.ratio_with_interval", ratio=value, low=low, high=high)

    cells = tuple(
        (
            row.label, beside(row.depth, row.reference_depth, 1), beside(row.nodes, row.reference_nodes, 0),
            beside(row.time_ms, row.reference_time_ms, 2),
            beside(row.nodes_per_second, row.reference_nodes_per_second, 0),
            ratio(row.speed_ratio, row.speed_ratio_low, row.speed_ratio_high),
            ratio(row.time_ratio, row.time_ratio_low, row.time_ratio_high),
        )
        for row in speeds
    )  # fmt: skip
    names = ("depth_reached", "nodes_a_move", "time_a_move", "nodes_a_second", "speed_ratio", "time_ratio")
    heads = (head, *(message(f"ablation.{name}") for name in names))
    return table_of(heads, cells, (1, 2, 3, 4, 5, 6))


def condition_facts(conditions: Conditions, engine: str, message: Catalogue) -> tuple[tuple[str, str], ...]:
    """The conditions that all games of a run share, as pairs of label and text.

    ``engine`` is the identity of the built-in engine.
    """
    from elolab.engine.games import game_named

    title = game_words(conditions.game, message.language).title
    game = game_named(conditions.game)
    rules = _changed(conditions.rules, game.standard_rules) or message("fact.standard_rules")
    adjudication = _changed(conditions.adjudication, game.adjudication) or message("fact.standard_adjudication")
    return (
        (message("fact.game"), message("fact.game_name", title=title, name=conditions.game)),
        (message("fact.openings"), conditions.openings),
        (message("fact.rules"), rules),
        (message("fact.adjudication"), adjudication),
        (message("fact.seed"), str(conditions.seed)),
        *engine_facts(conditions, engine, message),
    )


def engine_facts(conditions: Conditions, engine: str, message: Catalogue) -> tuple[tuple[str, str], ...]:
    """The tested engine as pairs of label and text.

    For the built-in engine it is the identity ``engine``; for an external engine, the commands and settings.
    """
    external = conditions.external
    if external is None:
        return ((message("fact.engine"), engine),)
    programs = tuple(
        (message("fact.build", name=name) if name else message("fact.external_engine"), _program_text(player, message))
        for name, player in external.builds
    )
    settings = {name: value for name, value in conditions.base if name != BUILD}
    return (
        *programs,
        *([(message("fact.base_settings"), describe(settings))] if settings else []),
        (message("fact.arbiter"), message("fact.arbiter_identity", identity=engine)),
    )


def _program_text(player: PlayerSpec, message: Catalogue) -> str:
    """The command, protocol and options of a player's program, as text."""
    command = " ".join(map(_quoted, player.command))
    if player.built is not None:
        command = command_text(player, Catalogue(REPORTS, message.language))
    shown = {"command": command, "protocol": protocol_named(player.protocol).title}
    if player.directory is None or player.built is not None:
        text = message("fact.program", **shown)
    else:
        text = message("fact.program_in_folder", **shown, folder=player.directory)
    options = message("list.comma").join(f"{name} {value}" for name, value in player.options)
    return message("fact.program_with_options", program=text, options=options) if options else text


def _quoted(word: str) -> str:
    """Quote a word for a shell. Braces, which mark placeholders, need no quotes."""
    bare = word.replace("{", "").replace("}", "")
    return word if bare and shlex.quote(bare) == bare else shlex.quote(word)


def engine_text(conditions: Conditions, engine: str) -> str:
    """The engine's name for a caption: the built-in engine's identity, or the name or builds of an external engine."""
    external = conditions.external
    if external is None:
        return engine
    return ", ".join(external.build_names) if external.has_builds else external.name


def _changed(value: Rules | Adjudication, standard: Rules | Adjudication) -> str:
    ordinary = asdict(standard)
    return ", ".join(f"{name} = {entry}" for name, entry in asdict(value).items() if entry != ordinary[name])


def repeat_command(command: str, conditions: Conditions, directory: Path, language: str = DEFAULT_LANGUAGE) -> str:
    """The shell command that resumes the run in ``directory``. With another folder, the command repeats the run.

    ``command`` is ``tune`` or ``ablate``.
    """
    source = specification_word(SPECIFICATIONS[command], conditions.source)
    return shlex.join(["elolab", command, source, "--out", str(directory), *language_words(language)])


def language_words(language: str) -> list[str]:
    """Command-line arguments that select a language; empty for the default language."""
    return [] if language == DEFAULT_LANGUAGE else ["--language", language]


def games_of_run(directory: Path, folder: Path, game: str, event: str, language: str) -> GamesOnPage | None:
    """Write all games of a run to games.pgn in ``folder``; return them for replay on the report's page.

    If the page cannot hold all games, the remaining ones are written to further files in ``folder``. ``event`` is the
    event's name in the PGN file. Returns ``None`` without games. Raises ``FileError`` if a file cannot be written,
    ``StoreError`` if the games cannot be read.
    """
    if not (directory / STORE_NAME).is_file():
        return None
    packer = GamePacker((), folder / GAMES_FOLDER, game, language)
    with Store(directory, read_only=True) as store, replacing(folder / PGN_NAME) as stream:
        writer = GameWriter(stream, event, game)
        for record in store.iterate():
            writer.write(record)
            packer.add(record)
        packed = packer.packed()
    return GamesOnPage(game, event, packed, language=language) if packed.games else None
