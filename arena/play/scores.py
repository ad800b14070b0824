"""Scores of a run in progress, as parts of its status line and as tables.

There are scores for one match, for a tournament of many players, and for several matches. A part of a status line has
texts of different lengths and a rank; ``fitted`` chooses what a terminal of a given width shows.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from elolab.arena.colours import GREEN, RED
from elolab.arena.records import Outcome
from elolab.arena.statistics.elo import Estimate, Pentanomial, SequentialTest, Trinomial
from elolab.arena.statistics.numbers import elo_text, error_text, percent_text, signed
from elolab.arena.statistics.text_table import Column, name_column, shorten_unique, table_lines
from elolab.engine.language import columns_of, console

GAP = "  "
"""Text between the parts of a line."""
NAME_COLUMNS = (24, 16, 8)
"""Widths in columns to which a part may shorten a player's name, the widest first."""
LEADERS = 8
"""Maximum number of players that a status line shows."""
SHOWN_SECONDS = 4.0
"""Seconds for which a status line shows one of several matches before it changes to another."""
UNKNOWN = "–"


class LinePart(NamedTuple):
    """A part of a line of output, such as the status line."""

    rank: int
    """Rank in importance, 0 for the most important.

    A narrow line leaves out the parts with the highest ranks first, and never leaves out rank 0.
    """
    texts: tuple[str, ...]
    """Alternative texts of the part, the longest first."""
    colour: str = ""
    """Colour on a terminal, one of ``arena.colours``; empty for no colour."""


def fitted(parts: Sequence[LinePart], columns: float) -> list[tuple[str, str]]:
    """Choose texts of parts for a line of ``columns`` columns; returns them in order, each with its colour.

    As many parts as fit are shown, in the order of importance. Then, in the same order, each part gets its longest text
    that still fits.
    """
    parts = [part for part in parts if any(part.texts)]
    chosen: dict[int, str] = {}

    def width(texts: dict[int, str]) -> int:
        return sum(map(columns_of, texts.values())) + len(GAP) * (len(texts) - 1)

    by_rank = sorted(range(len(parts)), key=lambda place: parts[place].rank)
    for place in by_rank:
        longer = chosen | {place: parts[place].texts[-1]}
        if not parts[place].rank or width(longer) <= columns:
            chosen = longer
    for place in by_rank:
        for text in parts[place].texts if place in chosen else ():
            longer = chosen | {place: text}
            if width(longer) <= columns:
                chosen = longer
                break
    return [(chosen[place], parts[place].colour) for place in sorted(chosen)]


def line_of(parts: Sequence[LinePart], columns: float = math.inf) -> str:
    """The parts as one line without colours, within ``columns`` columns as ``fitted`` describes."""
    return GAP.join(text for text, _ in fitted(parts, columns))


class Score(ABC):
    """The score of a run, or of one stage of the run, for its status line and tables."""

    @abstractmethod
    def add(self, outcome: Outcome) -> None:
        """Count a game that has ended."""

    @abstractmethod
    def parts(self) -> list[LinePart]:
        """The score as parts of a status line."""

    def table(self, columns: int) -> list[str]:
        """The score as lines of a table of at most ``columns`` columns; empty if the status line shows everything."""
        return []

    def standings(self) -> list[dict[str, Any]]:
        """Results of the players as data for JSON, the best first; empty if the score has no players."""
        return []


@dataclass
class Tally:
    """Numbers of one player's wins, draws and losses so far."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float | None:
        """Points per game; ``None`` if there are no games."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    def add(self, points: float) -> None:
        """Count a game in which the player got ``points``: 1, 1/2 or 0."""
        self.wins += points == 1
        self.draws += points == 0.5
        self.losses += points == 0


Test = Callable[["MatchScore"], SequentialTest | None]
"""Function that takes the score of a match and returns the state of its sequential test; ``None`` if it has none."""


class MatchScore(Score):
    """Score of a player against one or several opponents; games may end in any order."""

    def __init__(
        self,
        name: str,
        outcomes: Iterable[Outcome] = (),
        *,
        view: int = 0,
        other: str = "",
        test: Test | None = None,
    ) -> None:
        """``name`` is the player from whose point of view the score is; ``view`` is its index in pairings.

        ``other`` is the opponent's name, for ``standings``. ``outcomes`` are the results already stored. ``test``
        returns the state of the match's sequential test.
        """
        self.name = name
        self.tally = Tally()
        self.counts = Pentanomial((0, 0, 0, 0, 0))
        """Results of the complete game pairs so far, from the player's point of view."""
        self._view, self._other, self._test = view, other, test
        self._single: dict[tuple[int, int, int], float] = {}
        """Points in games whose partner in the pair has not ended yet, by opponent, round and pair number."""
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        if outcome.score is None:
            return
        place = outcome.pairing
        moves_first = place.first == self._view
        points = outcome.score if moves_first else 1 - outcome.score
        self.tally.add(points)
        pair = place.second if moves_first else place.first, place.round, place.pair
        before = self._single.pop(pair, None)
        if before is None:
            self._single[pair] = points
        else:
            self.counts += Pentanomial.from_pairs([(before, points)])

    def estimate(self) -> Estimate | None:
        """Elo estimate from complete game pairs, else from single games; ``None`` before the first result."""
        if self.counts.pairs:
            return self.counts.estimate()
        tally = self.tally
        return Trinomial(tally.wins, tally.draws, tally.losses).estimate() if tally.games else None

    def parts(self) -> list[LinePart]:
        """Parts with wins, draws and losses, outcomes of pairs, Elo, normalized Elo, LOS, and the sequential test."""
        estimate = self.estimate()
        if estimate is None:
            return []
        say, tally = console("elolab.arena"), self.tally
        figures = {"wins": tally.wins, "draws": tally.draws, "losses": tally.losses}
        points = f"{tally.wins + tally.draws / 2:g}"
        pairs = " ".join(map(str, self.counts.counts))
        parts = [
            LinePart(5, (say("progress.results_points", points=points, **figures), say("progress.results", **figures))),
            self._strength(estimate),
        ]
        if self.counts.pairs:
            parts.insert(1, LinePart(8, (f"[{pairs}]",)))
        if math.isfinite(estimate.normalized_elo):
            parts.append(LinePart(9, (say("progress.normalized", elo=signed(estimate.normalized_elo)),)))
        parts.append(LinePart(6, (say("progress.los", los=percent_text(estimate.los)),)))
        if self._test is not None and (test := self._test(self)) is not None:
            ratio, low, high = (
                signed(value, 2) for value in (test.log_likelihood_ratio, test.lower_bound, test.upper_bound)
            )
            texts = [say("progress.ratio", ratio=ratio, lower=low, upper=high)]
            if low[1:] == high[1:]:
                texts.append(say("progress.ratio_short", ratio=ratio, bound=high[1:]))
            parts.append(LinePart(2, tuple(texts)))
        return parts

    def standings(self) -> list[dict[str, Any]]:
        """Both players' results as data for JSON, most points first; empty if the opponent's name is unknown."""
        own = self.tally
        both = (self.name, own), (self._other, Tally(own.losses, own.draws, own.wins))
        return _standings(sorted(both, key=lambda entry: -(entry[1].share or 0))) if self._other else []

    def _strength(self, estimate: Estimate) -> LinePart:
        """Part with the Elo difference and its 95 % interval, or the score in percent if a value is infinite."""
        say = console("elolab.arena")
        if math.isfinite(estimate.elo) and math.isfinite(estimate.elo_error):
            key, figures = "elo", {"elo": signed(estimate.elo), "error": error_text(estimate.elo_error)}
        else:
            key, figures = "share", {"share": f"{100 * (self.tally.share or 0):.1f}"}
        names = (self.name, *(shorten_unique([self.name], columns)[0] for columns in NAME_COLUMNS))
        texts = dict.fromkeys(say(f"progress.{key}", name=name, **figures) for name in names)
        colour = GREEN if estimate.elo_low > 0 else RED if estimate.elo_high < 0 else ""
        return LinePart(1, tuple(texts), colour)


class Scoreboard(Score):
    """Score of every player of a tournament; ``arena.statistics.standings`` computes ratings."""

    def __init__(self, names: Sequence[str], challengers: Sequence[str] = ()) -> None:
        """``challengers`` are the names of a gauntlet's challengers; empty in other formats.

        The scores of the other players are not comparable, because they meet only challengers.
        """
        self._scores = [MatchScore(name, view=player) for player, name in enumerate(names)]
        self._challengers = [score for score in self._scores if score.name in challengers]

    def add(self, outcome: Outcome) -> None:
        for player in (outcome.pairing.first, outcome.pairing.second):
            self._scores[player].add(outcome)

    def ranked(self) -> list[MatchScore]:
        """Score of each player, most points per game first; players without games come last."""

        def share(score: MatchScore) -> float:
            return -1.0 if score.tally.share is None else score.tally.share

        return sorted(self._scores, key=share, reverse=True)

    def parts(self) -> list[LinePart]:
        """Parts with the names and points per game of the best players; in a gauntlet, only of challengers.

        A single challenger has the same parts as a player of a match.
        """
        if len(self._challengers) == 1:
            return self._challengers[0].parts()
        say = console("elolab.arena")
        parts: list[LinePart] = []
        all_names = [score.name for score in self._scores]
        short = {columns: shorten_unique(all_names, columns) for columns in NAME_COLUMNS}
        for score in self.ranked():
            if score.tally.share is None or (self._challengers and score not in self._challengers):
                continue
            place = all_names.index(score.name)
            names = dict.fromkeys((score.name, *(texts[place] for texts in short.values())))
            share = f"{100 * score.tally.share:.1f}"
            texts = tuple(say("progress.share", name=text, share=share) for text in names)
            parts.append(LinePart(1 if len(parts) < 2 else 12, texts))
        return parts[:LEADERS]

    def table(self, columns: int) -> list[str]:
        say, ranked = console("elolab.arena"), self.ranked()
        shares = [score.tally.share for score in ranked]
        percents = [UNKNOWN if share is None else f"{100 * share:.1f} %" for share in shares]
        return _table(say("standings.player"), ranked, columns, Column(say("progress.score_head"), percents))

    def standings(self) -> list[dict[str, Any]]:
        """Name, wins, draws and losses of every player as data for JSON, most points per game first."""
        return _standings((score.name, score.tally) for score in self.ranked())


class MatchScores(Score):
    """Scores of several matches; the status line shows the match whose game ended last."""

    def __init__(self, test: Test | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """``test`` returns the state of a match's sequential test; ``clock`` returns the time in seconds.

        The status line shows a match for at least ``SHOWN_SECONDS`` before it changes to another.
        """
        self._test, self._clock = test, clock
        self._scores: dict[Hashable, MatchScore] = {}
        self._of_game: dict[str, list[MatchScore]] = {}
        """The matches in which each unfinished game counts, by game key."""
        self._shown: MatchScore | None = None
        self._shown_since = -math.inf

    def of(self, match: Hashable, name: str, view: int) -> MatchScore:
        """The score of a match; created as ``MatchScore(name, view=view)`` if it does not exist."""
        if match not in self._scores:
            self._scores[match] = MatchScore(name, view=view, test=self._test)
        return self._scores[match]

    def expect(self, key: str, score: MatchScore) -> None:
        """When the game ``key`` ends, add its result to ``score``; a game may count in several matches."""
        self._of_game.setdefault(key, []).append(score)

    def add(self, outcome: Outcome) -> None:
        scores = self._of_game.pop(outcome.key, [])
        for score in scores:
            score.add(outcome)
        if scores and scores[0] is not self._shown and self._clock() - self._shown_since >= SHOWN_SECONDS:
            self._shown, self._shown_since = scores[0], self._clock()

    def parts(self) -> list[LinePart]:
        """The parts of the status line for the match that is currently shown."""
        shown = self._shown or next(iter(self._scores.values()), None)
        return [] if shown is None else shown.parts()

    def table(self, columns: int) -> list[str]:
        """Table of all matches that have games; empty if there is only one match."""
        if len(self._scores) < 2:
            return []
        played = [score for score in self._scores.values() if score.tally.games]
        return _table(console("elolab.arena")("progress.match_head"), played, columns)


def _standings(tallies: Iterable[tuple[str, Tally]]) -> list[dict[str, Any]]:
    """Results of players as data for JSON; ``tallies`` has the name and the results of each player."""
    return [
        {"player": name, "wins": tally.wins, "draws": tally.draws, "losses": tally.losses} for name, tally in tallies
    ]


def _table(head: str, scores: Sequence[MatchScore], columns: int, *more: Column) -> list[str]:
    """Lines of a table at most ``columns`` wide: name, games, wins, draws, losses, the columns ``more``, and Elo.

    ``head`` is the heading of the names; ``scores`` are the rows.
    """
    tallies = [score.tally for score in scores]
    estimates = [score.estimate() for score in scores]
    elo = [UNKNOWN if estimate is None else elo_text(estimate.elo, estimate.elo_error) for estimate in estimates]
    table = [
        name_column(head, [score.name for score in scores]),
        Column(console("elolab.arena")("progress.games_head"), [str(tally.games) for tally in tallies]),
        Column("+", [str(tally.wins) for tally in tallies]),
        Column("=", [str(tally.draws) for tally in tallies]),
        Column("-", [str(tally.losses) for tally in tallies]),
        *more,
        Column("Elo", elo, rank=1),
    ]
    return [GAP + line for line in table_lines(table, columns - len(GAP))]
