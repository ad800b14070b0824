"""The page report.html, with a board that replays every game.

If there are too many players for tables with a cell per pairing, the page shows one player's opponents at a time. It
loads them on demand from a script beside it: ``receiveChunk(name, data)``, with data packed like an index in
``arena.reports.games``. A page opened from a file cannot read other kinds of files.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.arena.files import FileError, replace_file
from elolab.arena.formats.knockout import BYE, POINTS, UNKNOWN, Tie
from elolab.arena.reports import tables
from elolab.arena.reports.contents import (
    ARENA,
    MAX_TABLED_PLAYERS,
    Contents,
    facts_of,
    placing_note,
    sequential_facts,
    summary_of,
    warnings_of,
)
from elolab.arena.reports.games import GAMES_FOLDER, GamesOnPage, compressed
from elolab.arena.reports.render import markup_messages, render
from elolab.arena.statistics.numbers import error_text, percent_text, signed
from elolab.arena.statistics.placing import Placing, points_text, reason_text, round_name, round_title
from elolab.arena.statistics.standings import NOTHING, HeadToHead
from elolab.engine.language import Catalogue

ELSEWHERE = ("ratings", "crosstable", "sequential")
"""Figures placed with the standings or the test, or replaced by the crosstable."""


def html_page(contents: Contents) -> str:
    """The whole page; it loads nothing from elsewhere, except many games from the folder beside it."""
    from markupsafe import Markup

    name, code = Markup('<strong class="name">{}</strong>'), Markup("<code>{}</code>")
    say, words = contents.say, contents.words
    sequential = contents.sequential
    return render(
        "elolab.arena.reports/report.html.j2",
        contents.language,
        title=contents.spec.name,
        kicker=say("report.kicker", game=words.title),
        summary=summary_of(contents, markup_messages, name.format, code.format),
        navigation=[(section, say(f"section.{section}")) for section in (*contents.sections, "games", "replay")],
        contents=contents,
        warnings=warnings_of(contents),
        sequential_facts=sequential_facts(contents) if sequential is not None else (),
        facts=facts_of(contents),
        command=contents.spec.command_line,
        tables=tables,
        players=tables.players_table(contents, code),
        **_tables_of_pairs(contents),
        bracket=_bracket(contents.placing, Catalogue(ARENA, contents.language)),
        figures=[plot for plot in contents.plots if plot.name not in ELSEWHERE],
        games=GamesOnPage(
            contents.spec.game, contents.spec.name, contents.games, contents.planned_games, contents.language
        ),
    )  # fmt: skip


def _tables_of_pairs(contents: Contents) -> dict[str, Any]:
    """The crosstable and the likelihoods of superiority, unless there are too many players."""
    if contents.has_many_players:
        return {}
    names = [row.player for row in contents.tables.standings]
    return _crosstable(names, contents.tables.head_to_heads) | {"superiority": _superiority(contents)}


OpponentRow = tuple[int | str, ...]
"""The opponent's place in the standings from 0, then texts in the order of ``tables.opponents_heads``."""


def with_opponents(contents: Contents, directory: Path) -> Contents:
    """The contents; with many players, their opponents' script is written into ``directory`` and named in the result.

    Raises ``FileError``.
    """
    if not contents.has_many_players:
        return contents
    text = json.dumps(_opponent_rows(contents), ensure_ascii=False, separators=(",", ":")).encode()
    name = f"opponents-{hashlib.sha256(text).hexdigest()[:12]}"
    folder = directory / GAMES_FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {error.strerror}") from None
    replace_file(folder / f"{name}.js", f'receiveChunk("{name}", "{compressed(text)}");\n')
    games = replace(contents.games, files=(*contents.games.files, f"{name}.js"))
    return replace(contents, games=games, opponents=name)


def _opponent_rows(contents: Contents) -> list[list[OpponentRow]]:
    """Each player's rows, both in standings order; opponents without games have no results."""
    found = contents.tables
    names = [row.player for row in found.standings]
    index = {name: number for number, name in enumerate(found.counter.players)}
    met = {(result.player, result.opponent): result for result in found.head_to_heads}
    rows: list[list[OpponentRow]] = []
    for place, (name, shares) in enumerate(zip(names, found.superiority(), strict=True)):
        own: list[OpponentRow] = []
        for other, (opponent, share) in enumerate(zip(names, shares, strict=True)):
            if other != place:
                elo, error = found.ratings.difference(index[name], index[opponent])
                joint = f"{signed(elo)} ± {error_text(error)}" if math.isfinite(error) else NOTHING
                own.append((other, *_result_texts(met.get((name, opponent))), joint, percent_text(share)))
        rows.append(own)
    return rows


def _result_texts(result: HeadToHead | None) -> tuple[str, ...]:
    if result is None:
        return ("",) * 4
    return (
        f"{result.wins}-{result.draws}-{result.losses}", f"{100 * result.score:.1f}",
        f"{signed(result.elo)} ± {error_text(result.elo_error)}{'' if result.from_pairs else ' *'}",
        percent_text(result.los),
    )  # fmt: skip


def placing_html(placing: Placing, language: str) -> str:
    """The section on the placing alone, for a page that watches a run."""
    return render(
        "elolab.arena.reports/placing.html.j2", language, note=placing_note(placing, language),
        bracket=_bracket(placing, Catalogue(ARENA, language)), table=tables.placing_table(placing, language),
    )  # fmt: skip


def crosstable_html(names: Sequence[str], results: Iterable[HeadToHead], language: str) -> str:
    """The crosstable section alone, for a page that watches a run; ``names`` are its rows and columns.

    Empty if there are too many players.
    """
    if len(names) > MAX_TABLED_PLAYERS:
        return ""
    return render("elolab.arena.reports/crosstable.html.j2", language, **_crosstable(names, results))


MAX_NAMED_COLUMNS = 8
"""Maximum players named in the crosstable's column heads; with more, they have the numbers of their rows."""


def _crosstable(names: Sequence[str], results: Iterable[HeadToHead]) -> dict[str, Any]:
    """``crosstable``: each player with the cells of its row: ``None`` on the diagonal, empty without games.

    ``numbered`` is whether the columns have numbers as heads.
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
    """Each round of a knockout and its encounters from top to bottom, then the match for third place; empty without a
    bracket."""
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
    """Each player with the cells of its row; ``None`` on the diagonal."""
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
