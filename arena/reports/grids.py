"""Crosstables and knockout brackets as HTML elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from elolab.arena.formats.knockout import BYE, POINTS, UNKNOWN, Tie
from elolab.arena.reports.contents import ARENA, MAX_TABLED_PLAYERS, Contents
from elolab.arena.reports.document import NUMBER, TEXT, Block, Drawn, Note, Section, TextTable, html_sections
from elolab.arena.reports.plots import Plot
from elolab.arena.reports.render import REPORTS
from elolab.arena.reports.tables import encounters_table, placing_table
from elolab.arena.statistics.numbers import elo_text, percent_text
from elolab.arena.statistics.placing import Placing, points_text, reason_text, round_name, round_title, rounds_text
from elolab.arena.statistics.standings import HeadToHead
from elolab.engine.language import Catalogue

MAX_NAMED_COLUMNS = 8
"""Maximum number of players whose names head the columns of the crosstable; with more players, row numbers do."""


def placing_section(placing: Placing, language: str) -> Section:
    """The section with the final places of a Swiss tournament or a knockout, and the bracket of a knockout."""
    say, arena = Catalogue(REPORTS, language), Catalogue(ARENA, language)
    key = "note.placing_swiss" if placing.bracket is None else "note.placing_knockout"
    blocks: list[Block] = [Note(say(key, rounds=rounds_text(placing, arena)))]
    if placing.bracket is not None:
        blocks.append(Drawn("bracket", {"rounds": _rounds(placing, arena)}, (encounters_table(placing, language),)))
    return Section("placing", say("section.placing"), (*blocks, placing_table(placing, language)))


def placing_html(placing: Placing, language: str) -> str:
    """``placing_section`` as HTML, for the live page of a run."""
    return html_sections([placing_section(placing, language)], language)


def crosstable_section(
    names: Sequence[str], results: Iterable[HeadToHead], language: str, instead: tuple[TextTable | Plot, ...] = ()
) -> Section:
    """The section with the crosstable. ``names`` has the players in the order of its rows and columns.

    In Markdown, ``instead`` replaces the crosstable.
    """
    found, say = {(result.player, result.opponent): result for result in results}, Catalogue(REPORTS, language)
    rows = [
        (name, [None if name == other else _crosstable_cell(found.get((name, other))) for other in names])
        for name in names
    ]
    is_numbered = len(rows) > MAX_NAMED_COLUMNS
    heads = range(1, len(rows) + 1) if is_numbered else names
    grid = Drawn("grid", {"rows": rows, "heads": heads, "kind": "vertical", "numbered": is_numbered}, instead)
    return Section("crosstable", say("section.crosstable"), (Note(say("note.crosstable")), grid))


def crosstable_html(names: Sequence[str], results: Iterable[HeadToHead], language: str) -> str:
    """``crosstable_section`` as HTML, for the live page of a run; empty if there are too many players."""
    too_many = len(names) > MAX_TABLED_PLAYERS
    return "" if too_many else html_sections([crosstable_section(names, results, language)], language)


def superiority_grid(contents: Contents) -> Drawn:
    """A grid of the likelihood, in percent, that the player of the row is stronger than the player of the column.

    Rows and columns are in the order of the standings.
    """
    found = contents.tables
    names = [row.player for row in found.standings]
    rows = [
        (name, [None if place == other else _superiority_cell(contents, place, other, share)
                for other, share in enumerate(shares)])
        for place, (name, shares) in enumerate(zip(names, found.superiority(), strict=True))
    ]  # fmt: skip
    numbers = tuple(str(place + 1) for place in range(len(names)))
    heads = (("#", ""), (contents.say("column.player"), ""), *((number, "") for number in numbers))
    texts = tuple(
        (number, name, *("" if cell is None else cell["figure"] for cell in cells))
        for number, (name, cells) in zip(numbers, rows, strict=True)
    )
    table = TextTable(heads, (NUMBER, TEXT, *(NUMBER for _ in names)), texts)
    return Drawn("grid", {"rows": rows, "heads": numbers, "table_kind": " matrix", "numbered": True}, (table,))


def _crosstable_cell(result: HeadToHead | None) -> dict[str, Any]:
    if result is None:
        return {}
    return {
        "direction": "up" if result.score >= 0.5 else "down",
        "share": f"{min(0.75, 1.5 * abs(result.score - 0.5)):.2f}",
        "figure": f"{100 * result.score:.1f}",
        "beside": elo_text(result.elo, result.elo_error) + ("" if result.from_pairs else " *"),
        "below": [f"LOS {percent_text(result.los)} %", f"{result.wins}-{result.draws}-{result.losses}"],
    }


def _rounds(placing: Placing, say: Catalogue) -> list[tuple[str, list[dict[str, Any]]]]:
    """The rounds of a knockout, each as a title and its encounters from top to bottom.

    The encounter for third place is an additional last round.
    """
    assert placing.bracket is not None
    bracket, count = placing.bracket, len(placing.bracket.rounds)
    rounds = [
        (round_title(round_name(number, count), say), [_bracket_tie(tie, placing, say) for tie in ties])
        for number, ties in enumerate(bracket.rounds)
    ]
    if bracket.third_place is not None:
        rounds.append((round_title("third_place", say), [_bracket_tie(bracket.third_place, placing, say)]))
    return rounds


def _bracket_tie(tie: Tie, placing: Placing, say: Catalogue) -> dict[str, Any]:
    assert placing.bracket is not None
    sides = [
        {
            "seed": placing.bracket.seeds.index(player) + 1,
            "name": placing.names[player],
            "points": points_text(points) if tie.played else "",
            "won": tie.reason is not None and player == tie.winner,
        }
        if player is not None and player != UNKNOWN
        else None
        for player, points in zip(tie.players, tie.points, strict=True)
    ]
    is_bye = tie.reason == BYE
    return {"sides": sides, "reason": "" if is_bye else reason_text(tie.reason or POINTS, say), "is_bye": is_bye}


def _superiority_cell(contents: Contents, row: int, column: int, share: float) -> dict[str, Any]:
    """A cell of the grid of superiority. ``row`` and ``column`` are indices in the standings.

    ``share`` is the likelihood, from 0 to 1, that the player of the row is stronger than the player of the column.
    """
    elo, error = contents.tables.difference(row, column)
    return {
        "direction": "up" if share >= 0.5 else "down",
        "share": f"{1.5 * abs(share - 0.5):.2f}",
        "figure": percent_text(share),
        "below": [elo_text(elo, error) if error < float("inf") else "\N{EN DASH}"],
    }
