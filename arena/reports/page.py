"""The page report.html, with a board on which every game can be replayed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from arena.figures.numbers import error_text, percent_text, signed
from arena.figures.placing import Placing, points_text, reason_text, round_name, round_title
from arena.figures.standings import HeadToHead
from arena.formats.knockout import BYE, POINTS, UNKNOWN, Tie
from arena.reports import tables
from arena.reports.contents import (
    ARENA,
    Contents,
    facts_of,
    placing_note,
    repeat_command,
    sequential_facts,
    summary_of,
    warnings_of,
)
from arena.reports.games import GamesOnPage
from arena.reports.render import markup_messages, render
from engine.language import Catalogue

if TYPE_CHECKING:
    pass

ELSEWHERE = ("ratings", "crosstable", "sequential")
"""Figures that stand by the standings or the test, or that the crosstable shows."""


def html_page(contents: Contents) -> str:
    """The whole page; it loads nothing from elsewhere but games from the folder beside it, if they are many."""
    from markupsafe import Markup

    name, code = Markup('<strong class="name">{}</strong>'), Markup("<code>{}</code>")
    say, words = contents.say, contents.words
    sequential = contents.sequential
    return render(
        "arena.reports/report.html.j2",
        contents.language,
        title=contents.spec.name,
        kicker=say("report.kicker", game=words.title),
        summary=summary_of(contents, markup_messages, name.format, code.format),
        navigation=[(section, say(f"section.{section}")) for section in (*contents.sections, "games", "replay")],
        contents=contents,
        warnings=warnings_of(contents),
        sequential_facts=sequential_facts(contents) if sequential is not None else (),
        facts=facts_of(contents),
        command=repeat_command(contents.spec, contents.language),
        tables=tables,
        players=tables.players_table(contents, code),
        **_crosstable([row.player for row in contents.tables.standings], contents.tables.head_to_heads),
        superiority=_superiority(contents),
        bracket=_bracket(contents.placing, Catalogue(ARENA, contents.language)),
        figures=[plot for plot in contents.plots if plot.name not in ELSEWHERE],
        games=GamesOnPage(
            contents.spec.game, contents.spec.name, contents.games, contents.planned_games, contents.language
        ),
    )  # fmt: skip


def placing_html(placing: Placing, language: str) -> str:
    """The section on the placing alone, for a page that follows a run."""
    return render(
        "arena.reports/placing.html.j2", language, note=placing_note(placing, language),
        bracket=_bracket(placing, Catalogue(ARENA, language)), table=tables.placing_table(placing, language),
    )  # fmt: skip


def crosstable_html(names: Sequence[str], results: Iterable[HeadToHead], language: str) -> str:
    """The section of the crosstable alone, for a page that follows a run; ``names`` are its rows and columns."""
    return render("arena.reports/crosstable.html.j2", language, **_crosstable(names, results))


MAX_NAMED_COLUMNS = 8
"""Players whose names head the columns of the crosstable; more have the numbers of their rows."""


def _crosstable(names: Sequence[str], results: Iterable[HeadToHead]) -> dict[str, Any]:
    """``crosstable``: each player and the cells of the row, ``None`` on the diagonal, an empty cell for who never met.

    ``numbered`` says whether the columns are headed by numbers.
    """
    found = {(result.player, result.opponent): result for result in results}
    rows = [
        (name, [None if name == other else _crosstable_cell(found.get((name, other))) for other in names])
        for name in names
    ]
    return {"crosstable": rows, "numbered": len(rows) > MAX_NAMED_COLUMNS}


def _crosstable_cell(result: HeadToHead | None) -> dict[str, Any]:
    if result is None:
        return {}
    return {
        "direction": "up" if result.score >= 0.5 else "down",
        "share": f"{min(0.75, 1.5 * abs(result.score - 0.5)):.2f}",
        "figure": f"{100 * result.score:.1f}",
        "beside": f"{signed(result.elo)} ± {error_text(result.elo_error)}{'' if result.from_pairs else ' *'}",
        "below": [f"LOS {percent_text(result.los)} %", f"{result.wins}-{result.draws}-{result.losses}"],
    }


def _bracket(placing: Placing | None, say: Catalogue) -> list[tuple[str, list[dict[str, Any]]]]:
    """Each round of a knockout and its encounters from top to bottom, and what is below; empty without a bracket."""
    if placing is None or placing.bracket is None:
        return []
    bracket, rounds = placing.bracket, len(placing.bracket.rounds)
    columns = [
        (round_title(round_name(round, rounds), say), [_bracket_tie(tie, placing, say) for tie in ties])
        for round, ties in enumerate(bracket.rounds)
    ]
    if bracket.third_place is not None:
        columns.append((round_title("third_place", say), [_bracket_tie(bracket.third_place, placing, say)]))
    return columns


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


def _superiority(contents: Contents) -> list[tuple[str, list[dict[str, Any] | None]]]:
    """Each player and the cells of the row, ``None`` on the diagonal."""
    found = contents.tables
    names = [row.player for row in found.standings]
    return [
        (name, [None if place == other else _superiority_cell(contents, place, other, share)
                for other, share in enumerate(shares)])
        for place, (name, shares) in enumerate(zip(names, found.superiority(), strict=True))
    ]  # fmt: skip


def _superiority_cell(contents: Contents, row: int, column: int, share: float) -> dict[str, Any]:
    """``row`` and ``column`` are places in the standings."""
    elo, error = contents.tables.difference(row, column)
    return {
        "direction": "up" if share >= 0.5 else "down",
        "share": f"{1.5 * abs(share - 0.5):.2f}",
        "figure": percent_text(share),
        "below": [f"{signed(elo)} ± {error_text(error)}" if error < float("inf") else "\N{EN DASH}"],
    }
