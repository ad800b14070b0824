"""The model of a report: a list of sections, rendered as a self-contained HTML page, as Markdown or as LaTeX tables."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elolab.arena.files import replace_file
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats
from elolab.arena.reports.packed_games import GAMES_FOLDER, GamesOnPage, remove_other_chunks
from elolab.arena.reports.plots import LATEX, PLOT_FOLDER, Plot, wanted_formats, write_plots
from elolab.arena.reports.render import REPORTS, render
from elolab.arena.statistics.faults import FaultCount, fault_sentences
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, columns_of

LATEX_NAME = "tables.tex"
"""Name of the file with a report's tables in LaTeX."""
SUMMARY_NAME = "summary.md"
"""Name of the file with a report's short summary."""
NUMBER, TEXT = "number", ""


@dataclass(frozen=True)
class Note:
    """A paragraph of text; highlighted if it is a ``warning``."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True)
class Facts:
    """A list of facts, each a pair of a label and a text."""

    entries: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Commands:
    """Command lines for the reader to copy."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """Several plots side by side."""

    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are texts."""

    heads: tuple[tuple[str, str], ...]
    """For each column, a pair of title and unit; the unit may be empty."""
    kinds: tuple[str, ...]
    """The CSS class of each column: ``NUMBER``, ``TEXT`` (no class), or a class listed in ``table_of``."""
    rows: tuple[tuple[str, ...], ...]
    row_head: int = 0
    """Index of the column whose cells are the titles of the rows."""


@dataclass(frozen=True)
class Drawn:
    """A diagram of HTML elements. In Markdown, the blocks ``instead`` replace it."""

    macro: str
    """Name of the macro in ``templates/blocks.html.j2`` that draws the diagram: ``grid`` or ``bracket``."""
    fields: dict[str, Any]
    """Arguments of the macro, keyed by name."""
    instead: tuple[TextTable | Plot, ...]


Block = Note | Heading | Facts | Commands | Figures | TextTable | Drawn | Plot


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it."""

    name: str
    """Anchor of the section in the HTML page."""
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Document:
    """A complete report, which can be written in every output format."""

    title: str
    kicker: str
    """The short line above the title that names the kind of report."""
    summary: str
    sections: tuple[Section, ...]
    language: str = DEFAULT_LANGUAGE
    """Language of the report, one of ``engine.language.LANGUAGES``."""
    warnings: tuple[str, ...] = ()
    """Warnings that a reader should see before the results."""
    games: GamesOnPage | None = None
    """Games that can be replayed on the page, below the sections; ``None`` for a report without games."""
    headline: tuple[Block, ...] | None = None
    """The blocks of the short summary; ``None`` means the tables and facts of the first section."""

    @property
    def plots(self) -> list[Plot]:
        """All plots of the report, in the order of the sections."""
        return [*_plots(block for section in self.sections for block in section.blocks)]


def _plots(blocks: Iterable[Block]) -> Iterator[Plot]:
    for block in blocks:
        if isinstance(block, Plot):
            yield block
        elif isinstance(block, (Figures, Drawn)):
            yield from _plots(block.plots if isinstance(block, Figures) else block.instead)


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = (), **kinds: Sequence[int]
) -> TextTable:
    """Create a table. ``heads`` are the titles of its columns; the first column has the titles of the rows.

    The columns at the indices ``numbers`` are right-aligned. Each keyword argument is a CSS class with the indices of
    its columns: ``sentence`` for long texts, ``figures_cell`` for several numbers in a cell, ``whole`` for cells
    without line breaks.
    """
    known = dict.fromkeys(numbers, NUMBER)
    known |= {place: kind.replace("_", "-") for kind, places in kinds.items() for place in places}
    of_columns = tuple(known.get(place, TEXT) for place in range(len(heads)))
    return TextTable(tuple((head, "") for head in heads), of_columns, tuple(map(tuple, rows)))


def write_document(
    directory: Path, document: Document, faults: Sequence[FaultCount] = (), caveats: Caveats = NO_CAVEATS
) -> Path:
    """Write a report into ``directory``: ``report.html``, ``report.md``, ``summary.md`` and the plots.

    Returns the path of ``report.html``. Also writes ``tables.tex`` if ``also_written_as`` has selected ``tex`` or the
    file exists. ``caveats`` and ``faults``, the faults by which players lost games, become warnings at the top of the
    report. Raises ``FileError`` if a file cannot be written.
    """
    language = document.language
    found = caveats.sentences(language) + fault_sentences(faults, Catalogue("elolab.arena", language), language)
    document = replace(document, warnings=(*found, *document.warnings))
    write_plots(directory, document.plots)
    replace_file(directory / "report.md", markdown(document))
    replace_file(directory / SUMMARY_NAME, summary_markdown(document))
    if LATEX in wanted_formats() or (directory / LATEX_NAME).exists():
        replace_file(directory / LATEX_NAME, latex_tables(document))
    page = directory / "report.html"
    replace_file(page, html_page(document))
    remove_other_chunks(directory / GAMES_FOLDER, document.games.packed.files if document.games else ())
    return page


def html_page(document: Document) -> str:
    """Render a report as one HTML page.

    The page is self-contained unless it has many games: it then loads them from the folder ``GAMES_FOLDER`` next to it.
    """
    shell = Catalogue(REPORTS, document.language)
    first, *others = document.sections
    sections = (replace(first, blocks=(*(Note(text, True) for text in document.warnings), *first.blocks)), *others)
    of_games = [(section, shell(f"section.{section}")) for section in ("games", "replay")] if document.games else []
    return render(
        f"{REPORTS}/document.html.j2",
        document.language,
        title=document.title,
        kicker=document.kicker,
        summary=document.summary,
        navigation=[*((section.name, section.title) for section in sections), *of_games],
        games=document.games,
        sections=_with_kinds(sections),
    )


def notebook_html(document: Document) -> str:
    """Render a report for the output cell of a notebook. A frame keeps the page's styles away from the notebook."""
    page = html.escape(html_page(document))
    return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


def html_sections(sections: Sequence[Section], language: str) -> str:
    """Render sections as HTML, to be included in another page."""
    return render(f"{REPORTS}/sections.html.j2", language, sections=_with_kinds(sections))


def _with_kinds(sections: Sequence[Section]) -> list[tuple[Section, list[tuple[str, Block]]]]:
    return [(section, [(type(block).__name__, block) for block in section.blocks]) for section in sections]


# Markdown


def markdown(document: Document) -> str:
    """Render a report as Markdown, without its games; plots are links to their SVG files."""
    warnings = (f"> {escaped(text)}" for text in document.warnings)
    parts = [f"# {document.title}", f"*{document.kicker}*", escaped(document.summary), *warnings]
    for section in document.sections:
        parts += [f"## {section.title}", *(_markdown(block, document.language) for block in section.blocks)]
    return "\n\n".join(parts) + "\n"


def summary_markdown(document: Document) -> str:
    """Render a report's short summary as self-contained Markdown: title, outcome, warnings and tables."""
    blocks = document.headline
    if blocks is None:
        blocks = tuple(block for block in document.sections[0].blocks if isinstance(block, (TextTable, Facts)))
    warnings = (f"> {escaped(text)}" for text in document.warnings)
    parts = [f"## {escaped(document.title)}", escaped(document.summary), *warnings]
    return "\n\n".join(filter(None, [*parts, *(_markdown(block, document.language) for block in blocks)])) + "\n"


def _markdown(block: Block, language: str) -> str:
    shell = Catalogue(REPORTS, language)
    match block:
        case Note():
            return f"> {escaped(block.text)}" if block.warning else block.text
        case Heading():
            return f"### {block.text}"
        case Facts():
            lines = (shell("page.label_text", label=label, text=escaped(text)) for label, text in block.entries)
            return "\n".join(f"- {line}" for line in lines)
        case Commands():
            return "\n".join(f"    {line}" for line in block.lines)
        case TextTable():
            return table_markdown(block)
        case Figures() | Drawn():
            inner = block.plots if isinstance(block, Figures) else block.instead
            return "\n\n".join(_markdown(one, language) for one in inner)
    title = shell("page.figure_title", title=block.title)
    return f"![{block.title}]({PLOT_FOLDER}/{block.name}.svg)\n\n*{title}* {block.caption}"


def table_markdown(table: TextTable) -> str:
    """Render a table as Markdown. Units are in brackets after the column titles."""
    heads = [f"{title} ({unit})" if unit else title for title, unit in table.heads]
    rules = ["---:" if kind == NUMBER else "---" for kind in table.kinds]
    lines = (heads, rules, *table.rows)
    return "\n".join("| " + " | ".join(escaped(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def escaped(text: str) -> str:
    """Escape plain text, such as a player's name, so that Markdown shows it unchanged."""
    return re.sub(r"[<\[`\\$]|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)


# LaTeX

_LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    "\N{MINUS SIGN}": "$-$", "±": r"$\pm$", "∞": r"$\infty$", "×": r"$\times$", "≥": r"$\ge$", "≤": r"$\le$",
    "–": "--", "…": r"\ldots{}", "<": "$<$", ">": "$>$", "|": "$|$", "→": r"$\to$",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}  # fmt: skip
_TO_LATEX = str.maketrans(_LATEX_SIGNS)


def latex_tables(document: Document) -> str:
    """Render all tables of a report in LaTeX, each with a caption, a label and the rules of the package booktabs."""
    tables: list[str] = []
    for section in document.sections:
        title = section.title
        for block in section.blocks:
            if isinstance(block, Heading):
                title = block.text
            shown = block.instead if isinstance(block, Drawn) else (block,)
            for one in shown:
                if isinstance(one, TextTable) and one.rows:
                    tables.append(_latex_table(one, title, f"tab:{section.name}-{len(tables) + 1}"))
    about = r"% \usepackage{array,booktabs,longtable,adjustbox}; for Chinese \usepackage{ctex} with XeLaTeX or LuaLaTeX"
    return "\n\n".join([f"% {document.title}\n{about}", *tables]) + "\n"


_LATEX_LINE = 78
"""Characters in a LaTeX line, in ``\\footnotesize`` and the class article; a Chinese character counts as two."""
_LATEX_HEIGHT = 25
"""Number of lines, as estimated from widths of text, from which on a LaTeX table breaks between rows.

A page of the class article has some 50 lines, of Chinese text 40, but words that do not fit waste space.
"""
_LATEX_GAP = 2
"""Width of the gap between two columns of a LaTeX table, in characters: twice a ``\\tabcolsep`` of 4 pt."""
_LATEX_CHARACTER = 0.53
"""Mean width of a Latin character in a LaTeX table, in em."""
_LATEX_PIECES = re.compile(r"[\u2e80-\uffef]|[^\s\u2e80-\uffef]+?(?:[-_=/,](?=\w)|(?=[\s\u2e80-\uffef]|$))")
"""Matches text that no line break may divide: a Chinese character, or a word up to its end or one of ``-_=/,``."""


def _latex_widths(columns: Sequence[Sequence[str]], kinds: Sequence[str]) -> list[int]:
    """Widths of the columns of a LaTeX table, in characters.

    If the table is too wide, text breaks into lines in its widest columns.
    Cells with numbers break only if that is not enough. Parts of words stay whole, and no column is narrower than a few
    capital letters, so the table may still be too wide.
    """
    widths = [max(map(columns_of, column)) for column in columns]
    least = [
        max(columns_of(part) for cell in ("LLWW", *column) for part in _LATEX_PIECES.findall(cell))
        for column in columns
    ]
    whole = [
        max(width, *map(columns_of, cells)) if kind == NUMBER else width
        for (_, *cells), kind, width in zip(columns, kinds, least, strict=True)
    ]
    for smallest in (whole, least):
        while _is_too_wide(widths) and (
            wide := [place for place, width in enumerate(widths) if width > smallest[place]]
        ):
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _is_too_wide(widths: Sequence[int]) -> bool:
    return sum(widths) + _LATEX_GAP * len(widths) > _LATEX_LINE


def _latex_table(table: TextTable, caption: str, label: str) -> str:
    lines = [[f"{title} ({unit})" if unit else title for title, unit in table.heads], *table.rows]
    columns = list(zip(*lines, strict=True))
    widths, types, cells = _latex_widths(columns, table.kinds), "", []
    for column, width, kind in zip(columns, widths, table.kinds, strict=True):
        side, ragged = ("r", "left") if kind == NUMBER else ("l", "right")
        texts = [cell.translate(_TO_LATEX) for cell in column]
        if width < max(map(columns_of, column)):
            side = rf">{{\ragged{ragged}\arraybackslash}}p{{{_LATEX_CHARACTER * width:.2f}em}}"
            texts = [re.sub(r"(?<=[_=/,])(?=\w)", r"\\allowbreak{}", text) for text in texts]
        types += side
        cells.append(texts)
    head, *rows = (" & ".join(line) + r" \\" for line in zip(*cells, strict=True))
    title = rf"\caption{{{caption.translate(_TO_LATEX)}}}\label{{{label}}}"
    small, ruled = (r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"), (r"\toprule", head, r"\midrule")
    is_scaled = _is_too_wide(widths)
    if _lines(lines, widths) > _LATEX_HEIGHT and not is_scaled:
        return "\n".join((
            r"\begingroup", *small, rf"\begin{{longtable}}{{{types}}}", title + r"\\", *ruled, r"\endfirsthead",
            *ruled, r"\endhead", r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}", r"\endgroup",
        ))  # fmt: skip
    fit = r"\begin{adjustbox}{max width=\linewidth, max totalheight=0.9\textheight}"
    before, after = (fit, r"\end{adjustbox}") if is_scaled else ("", "")
    return "\n".join(
        filter(None, (
            r"\begin{table}", r"\centering", *small, title, before, rf"\begin{{tabular}}{{{types}}}", *ruled, *rows,
            r"\bottomrule", r"\end{tabular}", after, r"\end{table}",
        ))
    )  # fmt: skip


def _lines(table: Sequence[Sequence[str]], widths: Sequence[int]) -> int:
    """Number of lines of text in a LaTeX table whose columns have these widths, in characters."""
    rows = (zip(row, widths, strict=True) for row in table)
    return sum(max(math.ceil(columns_of(cell) / max(width, 1)) for cell, width in row) for row in rows)
