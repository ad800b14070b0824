"""Details of a game besides its moves, as sentences: fault, moves within the margin, pondering, exact score."""

from __future__ import annotations

from collections.abc import Iterator

from elolab.arena.records import GameRecord
from elolab.arena.statistics.faults import cause_of
from elolab.engine.language import Catalogue, game_words


def fault_of_game(record: GameRecord, language: str) -> str:
    """The fault that lost a game, as a sentence; empty without one, or if only the reason is known."""
    cause = cause_of(record)
    player, fault = cause or ("", None)
    return (
        ""
        if fault is None
        else Catalogue("elolab.arena", language)("fault.of_player", player=player, text=fault.text(language))
    )


def details_of_game(record: GameRecord, game: str, language: str) -> str:
    """The other details of a game as sentences; empty without any."""
    return " ".join(_sentences(record, game, Catalogue("elolab.arena.reports", language)))


def _sentences(record: GameRecord, game: str, say: Catalogue) -> Iterator[str]:
    detail, players = record.detail, (record.first, record.second)
    for player, overrun in zip(players, detail.get("overruns", ()), strict=False):
        if overrun["moves"]:
            yield say("detail.overruns", player=player, moves=overrun["moves"], worst=f"{overrun['worst_ms']:g}")
    for player, pondering in zip(players, detail.get("pondering", ()), strict=False):
        if pondering["tries"]:
            yield say("detail.pondering", player=player, count=pondering["tries"], hits=len(pondering["hits"]))
    if record.exact_score:
        words = game_words(game, say.language)
        winner = words.side_names[0 if record.exact_score > 0 else 1]
        yield say("detail.exact_score", winner=winner, points=abs(record.exact_score), unit=words.score_name)
    if "limit" in detail:
        yield say("detail.limit", limit=detail["limit"])
