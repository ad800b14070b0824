"""Tables of a watched run for its page: games, which a query selects, openings and engines; all sortable and in pages.

A query is a list of words that a game must all match. ``engine:NAME``, ``ending:REASON`` and ``opening:NAME`` match a
whole name, or a part of one if no name equals the text. ``result:`` is a result, or ``won`` or ``lost`` of the named
engine. ``running`` selects games in progress instead of finished ones. Other words are game numbers, or parts of
names. Quotation marks keep a name with spaces together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elolab.arena.play.publishing import game_name
from elolab.arena.provenance.record import recorded_files
from elolab.arena.provenance.sources import SHOWN_DIGITS
from elolab.arena.records import Pairing, points_of
from elolab.arena.reports.contents import setting_text
from elolab.arena.reports.render import REPORTS
from elolab.arena.watching.snapshot import FinishedGame
from elolab.engine.language import LANGUAGES, Catalogue
from elolab.engine.rules import REASONS

if TYPE_CHECKING:
    from elolab.arena.tournament_spec import TournamentSpec

Row = dict[str, Any]
"""A row of a table as plain data, by column."""

ROWS_PER_PAGE = 15
RUNNING = "running"
RESULTS = {
    "1-0": "1-0", "0-1": "0-1", "1/2-1/2": "1/2-1/2", "draw": "1/2-1/2", "drawn": "1/2-1/2", "=": "1/2-1/2",
}  # fmt: skip
"""Result of a game by the word that selects it."""
OF_ENGINE = ("won", "lost")
"""Values of the filter ``result:`` from the point of view of an engine, which another filter must name."""
FILTERS = ("engine", "ending", "result", "opening")
_WORD = re.compile(r'(?:(\w+)[:：])?(?:"([^"]*)"?|(\S+))')


class QueryError(ValueError):
    """A query that cannot be understood; ``args`` are the key of a message and its fields."""


def part_of(rows: Sequence[Row], first: int, sort: str, *, descending: bool) -> dict[str, Any]:
    """Sort rows by a column and return a page: ``total`` is the number of all rows, ``rows`` begins with row ``first``.

    An unknown column keeps the given order. Empty values come last.
    """
    if rows and sort in rows[0]:
        filled = [row for row in rows if row[sort] is not None]
        filled.sort(key=lambda row: _sorted_as(row[sort]), reverse=descending)
        rows = [*filled, *(row for row in rows if row[sort] is None)]
    return {"total": len(rows), "rows": rows[first : first + ROWS_PER_PAGE]}


def _sorted_as(value: Any) -> tuple[float, str]:
    """Numbers by size before texts, which are sorted without regard to case, and with numbers in them by size."""
    if isinstance(value, (int, float)):
        return value, ""
    return 0, re.sub(r"\d+", lambda digits: digits[0].zfill(9), str(value).casefold())


# Games


def running_games(running: Iterable[Mapping[str, Any]]) -> list[FinishedGame]:
    """Games in progress, as published in ``live.json``, as games without a result."""
    return [
        FinishedGame(
            "", Pairing(game["number"], 0, 0, 0, 0, 0, game["series"]), game["first"], game["second"],
            game["opening"], "*", RUNNING, len(game["moves"] or ()), "", 1000 * game["seconds"],
        )
        for game in running
    ]  # fmt: skip


def game_row(game: FinishedGame) -> Row:
    """The row of a game."""
    return {
        "key": game.key, "number": game_name(game.pairing.series, game.pairing.number), "first": game.first,
        "second": game.second, "result": game.result, "reason": game.reason, "plies": game.plies,
        "opening": game.opening, "seconds": round(game.duration_ms / 1000, 3),
    }  # fmt: skip


def selected(query: str, games: Sequence[FinishedGame], running: Sequence[FinishedGame]) -> list[FinishedGame]:
    """The games that a query selects, in their order. Raises ``QueryError``."""
    words = [(key.casefold(), quoted or plain) for key, quoted, plain in _WORD.findall(query)]
    if ("", RUNNING) in words:
        words.remove(("", RUNNING))
        games = running
    engines = {name.casefold() for game in games for name in (game.first, game.second)}
    openings = {game.opening.casefold() for game in games}
    tests = [_test_of(key, text.casefold(), words, engines, openings) for key, text in words]
    return [game for game in games if all(test(game) for test in tests)]


def _test_of(
    key: str, text: str, words: Sequence[tuple[str, str]], engines: set[str], openings: set[str]
) -> Callable[[FinishedGame], bool]:
    """The condition that a word of a query sets for a game."""
    if key == "engine":
        is_engine = _named(text, engines)
        return lambda game: is_engine(game.first) or is_engine(game.second)
    if key == "opening":
        is_opening = _named(text, openings)
        return lambda game: is_opening(game.opening)
    if key == "ending":
        reasons = _endings(text)
        return lambda game: game.reason in reasons
    if key == "result":
        return _test_of_result(text, [value.casefold() for name, value in words if name == "engine"], engines)
    if key:
        known = ", ".join(f"{one}:" for one in FILTERS)
        raise QueryError("table.unknown_filter", {"filter": f"{key}:", "known": known})
    return lambda game: (
        game_name(game.pairing.series, game.pairing.number) == text
        or any(text in name.casefold() for name in (game.first, game.second, game.opening))
    )


def _named(text: str, names: set[str]) -> Callable[[str], bool]:
    """Whether a name is ``text``, or contains it if none of ``names`` is."""
    return (lambda name: name.casefold() == text) if text in names else (lambda name: text in name.casefold())


def _endings(text: str) -> set[str]:
    """Reasons of endings that a user's ``text`` names: by their name or title in any language, or a part of these."""
    titles: dict[str, list[str]] = {reason: [reason, reason.replace("_", " ")] for reason in REASONS}
    for language in LANGUAGES:
        say = Catalogue("elolab.engine", language)
        for reason in REASONS:
            titles[reason].append(say.name_of("ending", reason).casefold())
    equal = {reason for reason, known in titles.items() if text in known}
    found = equal or {reason for reason, known in titles.items() if any(text in title for title in known)}
    if not found:
        raise QueryError("table.unknown_ending", {"ending": text, "known": ", ".join(REASONS)})
    return found


def _test_of_result(text: str, named: Sequence[str], engines: set[str]) -> Callable[[FinishedGame], bool]:
    if text in RESULTS:
        return lambda game: game.result == RESULTS[text]
    if text not in OF_ENGINE:
        raise QueryError("table.unknown_result", {"result": text, "known": ", ".join((*RESULTS, *OF_ENGINE))})
    if not named:
        raise QueryError("table.result_of_whom", {"result": text})
    is_engine, wanted = _named(named[0], engines), ("1-0", "0-1") if text == "won" else ("0-1", "1-0")
    return lambda game: (
        (is_engine(game.first) and game.result == wanted[0]) or (is_engine(game.second) and game.result == wanted[1])
    )


# Openings and engines


def opening_rows(games: Iterable[FinishedGame]) -> list[Row]:
    """A row per opening, the most played first: wins, draws and losses of the side that moves first in the game, and
    its share of the points.
    """
    found: dict[str, list[float]] = {}
    for game in games:
        points = points_of(game.result)
        if points is not None:
            name = game.opening or f"#{game.pairing.opening + 1}"
            counts = found.setdefault(name, [0, 0, 0, 0])
            counts[{1: 0, 0.5: 1}.get(points, 2)] += 1
            counts[3] += game.plies
    rows = []
    for name, (wins, draws, losses, plies) in found.items():
        count = wins + draws + losses
        rows.append(
            {"opening": name, "games": count, "wins": wins, "draws": draws, "losses": losses,
             "score": (wins + draws / 2) / count, "plies": round(plies / count, 1)}
        )  # fmt: skip
    return sorted(rows, key=lambda row: -row["games"])


def engine_rows(spec: TournamentSpec, facts: Mapping[str, Any], identity: str, language: str) -> list[Row]:
    """A row per player: its limit, program and options or settings, and the builds that have played.

    ``facts`` is the metadata of the run's store. A built-in engine's build is its ``identity``; an external one's are
    the digests of its files.
    """
    say, files = Catalogue(REPORTS, language), recorded_files(facts.get)
    rows = []
    for player in spec.players:
        builds = [
            f"{file.word}: {', '.join(digest[:SHOWN_DIGITS] for digest in digests)}"
            for file, digests in files.items()
            if file.is_of(player)
        ]
        if player.is_builtin:
            builds = [f"elolab {identity}"] if identity else []
        rows.append(
            {"player": player.name, "limit": str(player.limits), "setting": setting_text(player, spec.game, say),
             "builds": "; ".join(builds) or None}
        )  # fmt: skip
    return rows
