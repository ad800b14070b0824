"""Creates the HTML page of a run, the list of runs, and the data of games for the scripts of the page."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from elolab.arena.collection.listing import bisection_entry, is_bisection
from elolab.arena.notation.pgn import date_of, round_of
from elolab.arena.play.publishing import GAMES_WITH_MOVES, game_name
from elolab.arena.records import GameRecord
from elolab.arena.reports.packed_games import GamesOnPage, details_of_game, fault_of_game, script_data
from elolab.arena.reports.render import board_script, render
from elolab.engine.games import GAMES
from elolab.engine.language import LANGUAGES, Catalogue, messages_of
from elolab.engine.rules import REASONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elolab.arena.collection.listing import RunEntry
    from elolab.arena.watching.snapshot import State

MESSAGES = "elolab.arena.watching"
ASSETS = {"boards.js": "elolab.arena.reports", "report.js": "elolab.arena.reports", "watch.js": MESSAGES}
"""Maps the name of each script to the package that contains it."""


def asset_text(name: str) -> str:
    """The source text of a script in ``ASSETS``. The script ``boards.js`` includes the boards of all games."""
    own = (resources.files(ASSETS[name]) / "assets" / name).read_text("utf-8")
    return "\n".join([own, *(map(board_script, GAMES) if name == "boards.js" else ())])


def run_page(state: State, language: str, *, has_list: bool) -> str:
    """The page of a run as HTML. ``has_list`` adds a link to the list of runs."""
    from markupsafe import Markup

    game = state["game"] if state["game"] in GAMES else ""
    games = GamesOnPage(game or next(iter(GAMES)), state["name"], language=language)
    own = messages_of(MESSAGES, language)
    facts = games.facts(REASONS)
    facts["messages"] |= {key.removeprefix("script."): text for key, text in own.items() if key.startswith("script.")}
    facts |= {"game": game, "language": language, "counts": _titles(language)}
    say = Catalogue(MESSAGES, language)
    facts["gamesWithMoves"] = GAMES_WITH_MOVES
    # The script hides links to missing sections.
    sections = ("standing", "faults", "now", "replay", "finished", "openings", "engines", "machines")
    return render(
        f"{MESSAGES}/watch.html.j2", language,
        title=state["name"], kicker=Markup('<span id="kicker"></span>'), summary=Markup('<span id="finding"></span>'),
        navigation=[(anchor, say(f"section.{anchor}")) for anchor in sections],
        language=language, games=games, facts=script_data(facts), style=_style(), has_list=has_list,
        languages=_languages(language),
    )  # fmt: skip


def runs_page(entries: Sequence[tuple[str, RunEntry]], root: Path, language: str) -> str:
    """The list of runs as HTML. Each entry has a path relative to ``root`` and a link to the page of the run.

    If ``root`` is the folder of a bisection, the page begins with its finding so far.
    """
    say, shown = Catalogue(MESSAGES, language), Catalogue("elolab.arena.collection", language)
    rows = [
        {"name": name, "entry": entry, "folder": entry.folder.relative_to(root).as_posix(),
         "state": shown(f"list.state_{entry.state}"), "kind": say.name_of("kind", entry.kind)}
        for name, entry in entries
    ]  # fmt: skip
    summary = say("runs.summary" if rows else "runs.none", folder=str(root))
    if rows and is_bisection(root):
        search = bisection_entry(root, [entry for _, entry in entries])
        state = shown(f"list.state_{search.state}")
        summary = say("runs.bisection", folder=str(root), state=state, finding=search.result)
    heads = [shown(f"list.{name}") for name in ("folder", "kind", "state", "games", "date", "result")]
    return render(
        f"{MESSAGES}/runs.html.j2", language, title=say("runs.title"), kicker=say("page.kicker"),
        summary=summary, navigation=(), rows=rows, heads=heads,
        style=_style(), language=language, languages=_languages(language),
    )  # fmt: skip


def _style() -> Any:
    from markupsafe import Markup

    return Markup((resources.files(MESSAGES) / "assets" / "watch.css").read_text("utf-8"))


def _languages(language: str) -> list[tuple[str, str]]:
    """All languages but ``language``: pairs of a code and the language's own name."""
    return [(name, Catalogue(MESSAGES, name)("page.language")) for name in LANGUAGES if name != language]


def _titles(language: str) -> dict[str, dict[str, str]]:
    """Texts for a page's scripts: titles of run kinds and formats (``kinds``) and of run states (``states``)."""
    say, shown = Catalogue(MESSAGES, language), messages_of("elolab.arena.collection", language)
    named = messages_of(MESSAGES, language)
    states = {key.removeprefix("list.state_"): text for key, text in shown.items() if key.startswith("list.state_")}
    return {
        "kinds": {key.removeprefix("kind."): text for key, text in named.items() if key.startswith("kind.")},
        "states": {**states, "waiting": say("page.waiting")},
    }


# Games


def game_data(record: GameRecord, game: str, language: str) -> dict[str, Any]:
    """A game as data for the replay: players, opening, result, moves, fault, and sentences on unusual facts."""
    fault = fault_of_game(record, language)
    return {
        "key": record.key, "number": game_name(record.pairing.series, record.pairing.number),
        "pair": record.pairing.pair,
        "round": round_of(record), "date": date_of(record), "first": record.first, "second": record.second,
        "opening": [record.opening.position, " ".join(record.opening.moves), record.opening.name],
        "result": record.result, "reason": record.reason,
        "detail": details_of_game(record, game, language),
        "fault": {"text": fault, "dialogue": "\n".join(record.detail.get("dialogue", ()))} if fault else None,
        "entries": [
            {"move": move, "score": score, "depth": depth, "nodes": nodes, "time": time_ms, "line": variation.split()}
            for move, score, depth, nodes, time_ms, variation, _ in record.moves
        ],
    }  # fmt: skip
