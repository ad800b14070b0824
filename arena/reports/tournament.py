"""The report of a tournament, match or sequential test, as a ``Document``."""

from __future__ import annotations

from elolab.arena.notation.variations import LINES_READ
from elolab.arena.reports import tables
from elolab.arena.reports.contents import (
    ARENA,
    Contents,
    facts_of,
    number_text,
    sequential_facts,
    summary_of,
    warnings_of,
)
from elolab.arena.reports.document import Block, Commands, Document, Facts, Figures, Heading, Note, Section
from elolab.arena.reports.grids import crosstable_section, placing_section, superiority_grid
from elolab.arena.reports.packed_games import GamesOnPage
from elolab.arena.schedule import is_match
from elolab.arena.statistics.match_statistics import match_lines
from elolab.arena.statistics.standings import rating_reference
from elolab.engine.language import Catalogue, game_words

ELSEWHERE = ("ratings", "crosstable", "sequential")
"""Names of plots that other sections show. The section of plots leaves them out."""


def tournament_document(contents: Contents) -> Document:
    """Create the complete report of a tournament."""
    say, spec = contents.say, contents.spec
    return Document(
        title=spec.name,
        kicker=say("report.kicker", game=game_words(spec.game, contents.language).title),
        summary=summary_of(contents),
        sections=tuple(_sections(contents)),
        language=contents.language,
        warnings=tuple(warnings_of(contents)),
        games=GamesOnPage(
            spec.game, spec.name, contents.games, contents.planned_games, contents.language, contents.players
        ),
        headline=_headline(contents),
    )


def _headline(contents: Contents) -> tuple[Block, ...]:
    """The blocks of the short summary: the standings and, for a match, its main numbers."""
    standings = tables.standings_table(contents)
    if contents.runs or not is_match(contents.spec) or not contents.records:
        return (standings,)
    lines = match_lines(contents.spec, contents.tables, contents.sequential, contents.language)
    return Commands(tuple(lines)), standings


def _sections(contents: Contents) -> list[Section]:
    say, language = contents.say, contents.language
    found: list[Section] = []

    def add(name: str, *blocks: Block) -> None:
        found.append(Section(name, say(f"section.{name}"), blocks))

    if contents.sequential is not None:
        note = say("note.sequential", batch=str(contents.sequential.settings.batch_pairs))
        add("sequential", Note(note), Facts(sequential_facts(contents)), contents.plot("sequential"))
    if contents.placing is not None:
        found.append(placing_section(contents.placing, language))
    reference = rating_reference(contents.tables, Catalogue(ARENA, language))
    note = say("note.standings", reference=reference)
    add("standings", Note(note), tables.standings_table(contents), contents.plot("ratings"))
    names = [row.player for row in contents.tables.standings]
    if contents.has_many_players:
        add("crosstable", Note(say("note.many_players", players=str(len(names)))), contents.plot("crosstable"))
    else:
        instead = contents.plot("crosstable"), tables.pairings_table(contents)
        found.append(crosstable_section(names, contents.tables.head_to_heads, language, instead))
        if len(names) > 2:
            add("superiority", Note(say("note.superiority")), superiority_grid(contents))
    add("figures", Figures(tuple(plot for plot in contents.plots if plot.name not in ELSEWHERE)))
    if contents.search_statistics:
        add(
            "instruments", Note(say("note.instruments")), tables.search_statistics_table(contents),
            Figures(contents.counted_plots),
            Heading(say("section.endings")), tables.search_ends_table(contents),
            Heading(say("section.iterations")), tables.iterations_table(contents),
        )  # fmt: skip
    if any(count.counts.total() for count in contents.variations):
        add(
            "variations", Note(say("note.variations", lines=number_text(LINES_READ))), tables.variations_table(contents)
        )
    add(
        "played", Facts(facts_of(contents)), Heading(say("section.players")), tables.players_table(contents),
        Heading(say("report.again_joint" if contents.runs else "report.again")),
        Commands((contents.spec.command_line,)),
    )  # fmt: skip
    return found
