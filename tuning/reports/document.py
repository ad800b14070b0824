"""A report as a list of sections, written once and rendered as a self-contained HTML page and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

from arena.files import FileError, replace_file
from arena.reports.write import Plot

PLOT_FOLDER = "plots"

FIXED_WORDS = {
    "en": {"language": "en", "footer": "Written by elolab.", "sections_word": "Sections", "note": "Note:"},
    "zh": {"language": "zh-CN", "footer": "由 elolab 生成。", "sections_word": "目录", "note": "注意："},
}
"""By language: what every report says."""

PAGE = """\
<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}: {kicker}</title>
<style>
{style}
</style>
</head>
<body>
<header class="page-head">
<p class="kicker">{kicker}</p>
<h1>{title}</h1>
<p class="summary">{summary}</p>
<nav aria-label="{sections_word}">{navigation}</nav>
</header>
<main>
{sections}
</main>
<footer><p>{footer}</p></footer>
</body>
</html>
"""


@dataclass(frozen=True)
class Note:
    """A paragraph that explains; ``warning`` makes it stand out."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Grid:
    """A table. The first column names its row."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    """Columns that hold numbers and are set to the right."""
    wide: tuple[int, ...] = ()
    """Columns that hold sentences, which need room on a narrow screen too."""


@dataclass(frozen=True)
class Facts:
    """Names and what belongs to them."""

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Commands:
    """Lines to type."""

    lines: tuple[str, ...]


Block = Note | Grid | Facts | Commands | Plot


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
    language: str = "en"
    """A key of ``FIXED_WORDS``."""


def write_document(directory: Path, document: Document) -> Path:
    """Write report.html, report.md and the plots as PNG; returns the path of report.html. Raises ``FileError``."""
    from arena.reports.charts import png_bytes

    folder = directory / PLOT_FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {error.strerror}") from None
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Plot):
                replace_file(folder / f"{block.name}.png", png_bytes(block.figure))
    replace_file(directory / "report.md", markdown(document))
    page = directory / "report.html"
    replace_file(page, html_page(document))
    return page


# HTML


def html_page(document: Document) -> str:
    """The whole page; it loads nothing from elsewhere."""
    style = resources.files("arena.reports") / "assets" / "report.css"
    return PAGE.format(
        **FIXED_WORDS[document.language],
        title=escape(document.title),
        kicker=escape(document.kicker),
        summary=escape(document.summary),
        style=style.read_text(encoding="utf-8"),
        navigation="".join(f'<a href="#{one.name}">{escape(one.title)}</a>' for one in document.sections),
        sections="\n".join(
            f'<section id="{one.name}"><h2>{escape(one.title)}</h2>{"".join(map(_html, one.blocks))}</section>'
            for one in document.sections
        ),
    )


def _html(block: Block) -> str:
    if isinstance(block, Note):
        return f'<p class="note{" warning" if block.warning else ""}">{escape(block.text)}</p>'
    if isinstance(block, Facts):
        entries = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in block.entries)
        return f'<dl class="facts">{entries}</dl>'
    if isinstance(block, Commands):
        return f"<pre><code>{escape(chr(10).join(block.lines))}</code></pre>"
    if isinstance(block, Grid):
        return _html_table(block)
    from arena.reports.charts import svg_text

    picture = svg_text(block.figure, block.name, f"{block.title}. {block.caption}")
    caption = f"<strong>{escape(block.title)}.</strong> {escape(block.caption)}"
    return f'<figure><div class="chart-scroll">{picture}</div><figcaption>{caption}</figcaption></figure>'


def _html_table(grid: Grid) -> str:
    def cell(place: int, text: str) -> str:
        if place == 0:
            return f'<th scope="row">{escape(text)}</th>'
        return f"<td{_alignment(grid, place)}>{escape(text)}</td>"

    heads = "".join(
        f'<th scope="col"{_alignment(grid, place)}>{escape(text)}</th>' for place, text in enumerate(grid.heads)
    )
    rows = "".join(f"<tr>{''.join(cell(place, text) for place, text in enumerate(row))}</tr>" for row in grid.rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _alignment(grid: Grid, place: int) -> str:
    if place in grid.wide:
        return ' class="sentence"'
    return ' class="number"' if place in grid.numbers else ""


# Markdown


def markdown(document: Document) -> str:
    """The same for reading in a repository or a terminal; plots are linked."""
    parts = [f"# {document.title}", f"*{document.kicker}*", document.summary]
    for section in document.sections:
        note = FIXED_WORDS[document.language]["note"]
        parts += [f"## {section.title}", *(_markdown(block, note) for block in section.blocks)]
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block, note: str) -> str:
    if isinstance(block, Note):
        return f"**{note}** {block.text}" if block.warning else block.text
    if isinstance(block, Facts):
        return "\n".join(f"- {name}: {text}" for name, text in block.entries)
    if isinstance(block, Commands):
        return "\n".join(f"    {line}" for line in block.lines)
    if isinstance(block, Grid):
        marks = ["---:" if place in block.numbers else "---" for place in range(len(block.heads))]
        return "\n".join(_markdown_row(row) for row in (block.heads, marks, *block.rows))
    return f"![{block.title}]({PLOT_FOLDER}/{block.name}.png)\n\n{block.title}: {block.caption}"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"
