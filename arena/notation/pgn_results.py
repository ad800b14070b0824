"""Results of two players' games in a PGN file, counted by game pairs if most games are in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.notation.archives.archive_files import unpacked
from elolab.arena.notation.pgn import decode_text, read_results
from elolab.arena.records import points_of
from elolab.arena.statistics.elo import Pentanomial, Trinomial
from elolab.arena.statistics.match_statistics import labelled
from elolab.engine.errors import UserError, argument
from elolab.engine.games import game_named
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue

if TYPE_CHECKING:
    from elolab.arena.notation.pgn import PortableResult


@dataclass(frozen=True)
class Results:
    """Counts of two players' results, by game pairs or by single games, and the source of the counts."""

    counts: Pentanomial | Trinomial
    described: dict[str, Any]
    """Source of the counts as data for JSON; empty if the user gave the counts directly."""

    def lines(self, language: str = DEFAULT_LANGUAGE) -> list[str]:
        """Lines of text on the source of the counts; empty if the user gave the counts directly."""
        if not self.described:
            return []
        say, found = Catalogue("elolab.arena", language), self.described
        parts = [say("match.in_pairs", games=found["paired_games"], pairs=found["paired_games"] // 2)]
        if found["single_games"]:
            key = "match.outside" if isinstance(self.counts, Pentanomial) else "match.outside_counted"
            parts.append(say(key, games=found["single_games"]))
        for key in ("unfinished", "uncounted"):
            if games := found[f"{key}_games"]:
                parts.append(say(f"match.{key}", games=games))
        title = say("match.title_of_file", one=found["player"], other=found["opponent"])
        return [title, labelled(say("match.games"), say("match.comma").join(parts))]


def results_of_file(path: str, game: str, player: str | None, opponent: str | None) -> Results:
    """Count the results of games in a file between ``player`` and ``opponent``, from the point of view of ``player``.

    The file may be compressed. If it has only two players, no names are needed, and ``player`` is the first mover of
    the first game. Raises ``UserError`` if the players cannot be determined.
    """
    try:
        data = unpacked(Path(path).read_bytes(), path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    games = list(read_results(decode_text(data, path, game_named(game).encodings), path, game))
    player, opponent = _two_players(path, games, player, opponent)
    own = [entry for entry in games if {entry.first, entry.second} == {player, opponent}]
    return _counted(own, player, opponent)


def _two_players(
    path: str, games: Sequence[PortableResult], player: str | None, opponent: str | None
) -> tuple[str, str]:
    names = list(dict.fromkeys(name for entry in games for name in (entry.first, entry.second)))
    listed = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
    for option, name in (("player", player), ("opponent", opponent)):
        if name is not None and name not in names:
            raise UserError(f"{path}: {argument(option, repr(name))} plays no game in it", f"expected one of {listed}")
    if len(names) > 2 and not (player and opponent):
        raise UserError(
            f"{path}: {len(names)} players ({listed})",
            f"choose two with {argument('player')} and {argument('opponent')}, or rate all of them from their "
            "tournament's folder with elolab report",
        )
    if player is None:
        player = next(name for name in names if name != opponent)
    if opponent is None:
        opponent = next((name for name in names if name != player), player)
    if player == opponent:
        raise UserError(f"{path}: {player!r} plays only against itself", "expected games of two players")
    return player, opponent


def _counted(games: Sequence[PortableResult], player: str, opponent: str) -> Results:
    """Count results by game pairs if at least half of the finished games are in pairs; otherwise count single games."""
    counting = [entry for entry in games if entry.counts]
    finished = [entry for entry in counting if points_of(entry.result) is not None]
    by_round: dict[str, list[PortableResult]] = {}
    for entry in finished:
        by_round.setdefault(entry.round, []).append(entry)
    pairs = [played for name, played in by_round.items() if name and _is_pair(played)]
    in_pairs = 2 * len(pairs)
    single = len(finished) - in_pairs
    described = {
        "player": player,
        "opponent": opponent,
        "paired_games": in_pairs,
        "single_games": single,
        "unfinished_games": len(counting) - len(finished),
        "uncounted_games": len(games) - len(counting),
    }
    paired = in_pairs >= max(1, single)
    if paired:
        counts = Pentanomial.from_pairs([(_points(one, player), _points(other, player)) for one, other in pairs])
        return Results(counts, described)
    scores = [_points(entry, player) for entry in finished]
    return Results(Trinomial(scores.count(1.0), scores.count(0.5), scores.count(0.0)), described)


def _is_pair(games: Sequence[PortableResult]) -> bool:
    """Whether the games of one round are a pair: two games from one opening with colours swapped."""
    if len(games) != 2:
        return False
    one, other = games
    return one.first == other.second and (one.start, one.opening) == (other.start, other.opening)


def _points(entry: PortableResult, player: str) -> float:
    """Points of ``player`` in a finished game: 1, 0.5 or 0."""
    points = points_of(entry.result)
    assert points is not None
    return points if entry.first == player else 1 - points
