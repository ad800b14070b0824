"""A report as a list of sections, written once and rendered as a self-contained HTML page and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elolab.arena.files import replace_file
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.arena.reports.contents import Plot
from elolab.arena.reports.games import GAMES_FOLDER, GamesOnPage, remove_other_chunks
from elolab.arena.reports.markdown import escaped, table_markdown
from elolab.arena.reports.plots import PLOT_FOLDER, write_plots
from elolab.arena.reports.render import OWN_PACKAGE, render
from elolab.arena.reports.tables import NUMBER, TEXT, TextTable
from elolab.arena.statistics.faults import FaultCount, fault_sentences
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue

MESSAGES = "elolab.tuning.reports"
"""The package whose catalogues say everything in these reports."""


@dataclass(frozen=True)
class Note:
    """A paragraph that explains; ``warning`` makes it stand out."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Facts:
    """Names and what belongs to them."""

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Commands:
    """Lines to type."""

    lines: tuple[str, ...]


Block = Note | TextTable | Facts | Commands | Plot


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = (), **kinds: Sequence[int]
) -> TextTable:
    """A table whose first column names the row; ``numbers`` are set to the right.

    ``kinds`` are columns of other kinds: of ``sentence``, which needs room, ``figures_cell`` with several figures in
    a cell, or ``whole``, in which no line is broken.
    """
    known = dict.fromkeys(numbers, NUMBER)
    known |= {place: kind.replace("_", "-") for kind, places in kinds.items() for place in places}
    of_columns = tuple(known.get(place, TEXT) for place in range(len(heads)))
    return TextTable(tuple((head, "") for head in heads), of_columns, tuple(map(tuple, rows)))


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    name: str
    """Its anchor in the page."""
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    kicker: str
    """What kind of report it is."""
    summary: str
    sections: tuple[Section, ...]
    language: str = DEFAULT_LANGUAGE
    """One of ``engine.language.LANGUAGES``."""
    games: GamesOnPage | None = None
    """Games to be replayed on the page, after the sections."""

    @property
    def plots(self) -> list[Plot]:
        """All of its figures."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Plot)]


def write_document(
    directory: Path, document: Document, faults: Sequence[FaultCount] = (), caveats: Caveats = NO_CAVEATS
) -> Path:
    """Write report.html, report.md and the plots; returns the path of report.html. Raises ``FileError``.

    At the head of the first section stand the caveats, and what players forfeited games by.
    """
    found = caveats.sentences(document.language)
    found += fault_sentences(faults, Catalogue("elolab.arena", document.language), document.language)
    if found:
        first, *others = document.sections
        first = replace(first, blocks=(*(Note(text, warning=True) for text in found), *first.blocks))
        document = replace(document, sections=(first, *others))
    write_plots(directory, document.plots)
    replace_file(directory / "report.md", markdown(document))
    page = directory / "report.html"
    replace_file(page, html_page(document))
    remove_other_chunks(directory / GAMES_FOLDER, document.games.packed.files if document.games else ())
    return page


def html_page(document: Document) -> str:
    """The whole page; it loads nothing from elsewhere."""
    shell = Catalogue(OWN_PACKAGE, document.language)
    of_games = [(section, shell(f"section.{section}")) for section in ("games", "replay")]
    return render(
        f"{MESSAGES}/document.html.j2",
        document.language,
        title=document.title,
        kicker=document.kicker,
        summary=document.summary,
        navigation=[
            *((section.name, section.title) for section in document.sections), *(of_games if document.games else ())
        ],
        games=document.games,
        sections=_with_kinds(document.sections),
    )  # fmt: skip


def html_sections(sections: Sequence[Section], language: str) -> str:
    """Sections as they stand in the page, to be shown in another one."""
    return render(f"{MESSAGES}/sections.html.j2", language, sections=_with_kinds(sections))


def _with_kinds(sections: Sequence[Section]) -> list[tuple[Section, list[tuple[str, Block]]]]:
    return [(section, [(type(block).__name__, block) for block in section.blocks]) for section in sections]


# Markdown


def markdown(document: Document) -> str:
    """The same for reading in a repository or a terminal; plots are linked."""
    parts = [f"# {document.title}", f"*{document.kicker}*", document.summary]
    for section in document.sections:
        parts += [f"## {section.title}", *(_markdown(block, document.language) for block in section.blocks)]
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block, language: str) -> str:
    message = Catalogue(MESSAGES, language)
    if isinstance(block, Note):
        return message("document.warning", text=escaped(block.text)) if block.warning else block.text
    if isinstance(block, Facts):
        shell = Catalogue(OWN_PACKAGE, language)
        return "\n".join(f"- {shell('page.label_text', label=label, text=text)}" for label, text in block.entries)
    if isinstance(block, Commands):
        return "\n".join(f"    {line}" for line in block.lines)
    if isinstance(block, TextTable):
        return table_markdown(block)
    caption = message("document.figure", title=block.title, caption=block.caption)
    return f"![{block.title}]({PLOT_FOLDER}/{block.name}.svg)\n\n{caption}"
