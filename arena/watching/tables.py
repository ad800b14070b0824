"""Tables on the page of a run: games, openings and engines. Every table can be sorted and has several pages; a query
selects games.

A query is a list of words; a game must match all of them. ``engine:NAME``, ``ending:REASON`` and ``opening:NAME`` match
a whole name, or part of a name if no name equals the text. ``result:`` is followed by a result, or by ``won`` or
``lost`` for the named engine. ``running`` selects games in progress, not finished ones. Other words match the number of
a game or part of a name. Names with blanks are put in quotation marks.
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
from elolab.arena.watching.snapshot import WatchedGame
from elolab.engine.language import LANGUAGES, Catalogue
from elolab.engine.rules import REASONS

if TYPE_CHECKING:
    from elolab.arena.tournament_spec import TournamentSpec

Row = dict[str, Any]
"""A row of a table as plain data, keyed by column."""

ROWS_PER_PAGE = 15
RUNNING = "running"
RESULTS = {
    "1-0": "1-0", "0-1": "0-1", "1/2-1/2": "1/2-1/2", "draw": "1/2-1/2", "drawn": "1/2-1/2", "=": "1/2-1/2",
}  # fmt: skip
"""Maps each word that may follow ``result:`` to the result that it selects."""
OF_ENGINE = ("won", "lost")
"""Words after ``result:`` from the point of view of an engine, which the query must name by ``engine:``."""
FILTERS = ("engine", "ending", "result", "opening")
_WORD = re.compile(r'(?:(\w+)[:：])?(?:"([^"]*)"?|(\S+))')


class QueryError(ValueError):
    """Raised for an invalid query; ``args`` are a message key and the message's fields."""


def part_of(rows: Sequence[Row], first: int, sort: str, *, descending: bool) -> dict[str, Any]:
    """Sort rows by the column ``sort`` and return one page.

    The result has ``rows``, at most ``ROWS_PER_PAGE`` rows from index ``first`` on, and ``total``, the number of all
    rows. Rows keep their order if there is no such column. Empty values come last, also if ``descending``.
    """
    if rows and sort in rows[0]:
        filled = [row for row in rows if row[sort] is not None]
        filled.sort(key=lambda row: _sorted_as(row[sort]), reverse=descending)
        rows = [*filled, *(row for row in rows if row[sort] is None)]
    return {"total": len(rows), "rows": rows[first : first + ROWS_PER_PAGE]}


def _sorted_as(value: Any) -> tuple[float, str]:
    """Sort key of a value. Numbers come before texts; case is ignored, and digits in texts are compared as numbers."""
    if isinstance(value, (int, float)):
        return value, ""
    return 0, re.sub(r"\d+", lambda digits: digits[0].zfill(9), str(value).casefold())


# Games


def running_games(running: Iterable[Mapping[str, Any]]) -> list[WatchedGame]:
    """Convert the running games in ``live.json`` to games without a result."""
    return [
        WatchedGame(
            "", Pairing(game["number"], 0, 0, 0, 0, 0, game["series"]), game["first"], game["second"],
            game["opening"], "*", RUNNING, len(game["moves"] or ()), "", 1000 * game["seconds"],
        )
        for game in running
    ]  # fmt: skip


def game_row(game: WatchedGame) -> Row:
    """The row of a game in the table of games."""
    return {
        "key": game.key, "number": game_name(game.pairing.series, game.pairing.number), "first": game.first,
        "second": game.second, "result": game.result, "reason": game.reason, "plies": game.plies,
        "opening": game.opening, "seconds": round(game.duration_ms / 1000, 3),
    }  # fmt: skip


def selected(query: str, games: Sequence[WatchedGame], running: Sequence[WatchedGame]) -> list[WatchedGame]:
    """The games that a query selects, in their given order; raises ``QueryError`` for an invalid query.

    ``games`` are finished games, ``running`` the games in progress, which the word ``running`` selects.
    """
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
) -> Callable[[WatchedGame], bool]:
    """The condition that the word ``key:text`` of a query sets for games; ``key`` may be empty.

    ``words`` has all words of the query, as pairs of key and text. ``engines`` and ``openings`` have the names of all
    engines and openings. The names and ``text`` are in lower case. Raises ``QueryError`` for unknown keys, endings and
    results.
    """
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
    """A function that returns whether a name matches ``text``; case is ignored.

    If one of ``names`` equals ``text``, only equal names match, else all names with ``text`` in them. Both are in lower
    case.
    """
    return (lambda name: name.casefold() == text) if text in names else (lambda name: text in name.casefold())


def _endings(text: str) -> set[str]:
    """The reasons for the end of a game that ``text`` (lower case) selects.

    A reason is selected if its name, or its title in any language, equals ``text`` or, if none does, contains ``text``.
    Raises ``QueryError`` if no reason is selected.
    """
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


def _test_of_result(text: str, named: Sequence[str], engines: set[str]) -> Callable[[WatchedGame], bool]:
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


def opening_rows(games: Iterable[WatchedGame]) -> list[Row]:
    """One row per opening, most played first: results and share of points of the side that moves first in the game."""
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
    """One row per player: its limit, its program and options or its settings, and the builds that have played.

    ``facts`` is the metadata of the store. The build of a built-in player is ``identity``, the engine's identity. The
    builds of an external player are the digests of its files.
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
