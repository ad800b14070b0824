"""The summary report.md: the report without games, for reading in a repository or a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from elolab.arena.reports import tables
from elolab.arena.reports.contents import (
    Contents,
    Plot,
    facts_of,
    sequential_facts,
    summary_of,
    warnings_of,
)

FIGURES = ("crosstable", "pairs", "convergence", "endings", "lengths")


def markdown(contents: Contents) -> str:
    """The report without games, for reading in a repository or a terminal; plots are linked."""
    warnings = [f"> {escaped(text)}" for text in warnings_of(contents)]
    parts = [f"# {contents.spec.name}", escaped(summary_of(contents)), *warnings]
    for section in contents.sections:
        parts += [f"## {contents.say(f'section.{section}')}", *_section(contents, section)]
    again = contents.say("page.label", label=contents.again)
    return "\n\n".join([*parts, again, f"    {contents.spec.command_line}"]) + "\n"


def _section(contents: Contents, section: str) -> list[str]:
    """The content of a section, below its heading."""
    if section == "figures":
        return [_plot(contents, contents.plot(name)) for name in FIGURES]
    if section == "played":
        return [_facts(contents, facts_of(contents)), table_markdown(tables.players_table(contents, "`{}`"))]
    note = contents.note(section)
    if section == "sequential":
        return [note, _facts(contents, sequential_facts(contents)), _plot(contents, contents.plot("sequential"))]
    if section == "standings":
        return [note, table_markdown(tables.standings_table(contents)), _plot(contents, contents.plot("ratings"))]
    if section == "placing":
        assert contents.placing is not None
        encounters = [] if contents.placing.bracket is None else [table_markdown(tables.encounters_table(contents))]
        return [note, *encounters, table_markdown(tables.placing_table(contents.placing, contents.language))]
    if section == "crosstable":
        return [note] if contents.has_many_players else [note, table_markdown(tables.pairings_table(contents))]
    if section == "superiority":
        return [note, table_markdown(tables.superiority_table(contents))]
    figures = tables.turned_over(tables.search_statistics_table(contents), contents.say("column.figure"))
    return [note, table_markdown(figures), *(_plot(contents, plot) for plot in contents.counted_plots)]


def _facts(contents: Contents, entries: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {contents.say('page.label_text', label=label, text=escaped(text))}" for label, text in entries)


def _plot(contents: Contents, plot: Plot) -> str:
    title = contents.say("page.figure_title", title=plot.title)
    return f"![{plot.title}](plots/{plot.name}.svg)\n\n*{title}* {plot.caption}"


def table_markdown(table: tables.TextTable) -> str:
    """A table as Markdown, with units after the titles."""
    heads = [f"{title} ({unit})" if unit else title for title, unit in table.heads]
    rules = ["---:" if kind == tables.NUMBER else "---" for kind in table.kinds]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in (heads, rules, *table.rows))


def _cell(text: str) -> str:
    return (text if re.fullmatch("`[^`]*`", text) else escaped(text)).replace("|", "\\|")


def escaped(text: str) -> str:
    """Plain text, such as a player's name, escaped so that Markdown shows it literally."""
    return re.sub(r"[<\[`\\$]|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)
