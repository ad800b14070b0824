"""Standings, crosstable and counts of endings as tables, computed from games.

``PairCounter`` counts game by game, fast enough for a live view. ``tables_of`` reads all games once, fits the ratings
and creates the tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.notation.csv_tables import csv_text
from elolab.arena.records import GameRecord, GameSummary
from elolab.arena.statistics.elo import Estimate, Pentanomial, Trinomial
from elolab.arena.statistics.faults import FaultCount, FaultCounter, fault_text
from elolab.arena.statistics.numbers import error_text, given_text, percent_text, signed
from elolab.arena.statistics.ratings import PairingCounts, PairingTable, Ratings, fit_ratings, with_match
from elolab.arena.statistics.text_table import Column, fitting, name_column, table_lines
from elolab.engine.games import game_named
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, with_minus, wrapped

if TYPE_CHECKING:
    from pandas import DataFrame

MESSAGES = "elolab.arena"
"""The package with this module's message catalogue."""
PENTANOMIAL_COLUMNS = ("LL", "LD", "even", "WD", "WW")
"""Names of the columns that count pairs by outcome.

In order: two losses; a loss and a draw; a win and a loss, or two draws; a win and a draw; two wins.
"""
TEXT_WIDTH = 80
NOTHING = "\N{EN DASH}"
"""Placeholder for unknown values in tables."""
MAX_MATRIX = 11
"""Maximum number of columns in the matrix of likelihoods of superiority as text."""
MAX_PAIRING_LIST = 45
"""Maximum number of rows in the list of pairings as text, enough for ten players; the CSV file has all."""

PairKey = tuple[int, int, int]


class PairCounter:
    """Counts complete pairs and single games between all players, game by game.

    A pair is complete when both games with swapped colours have a result. Adding a game takes constant time.
    """

    def __init__(self, players: Sequence[str]) -> None:
        self.players = tuple(players)
        self.unfinished = 0
        """Number of games without a result. No other count includes them."""
        self._index = {name: number for number, name in enumerate(self.players)}
        self._pairs: dict[tuple[int, int], np.ndarray] = {}
        self._single: dict[tuple[int, int], np.ndarray] = {}
        self._waiting: dict[PairKey, list[int | None]] = {}

    def add(self, record: GameRecord | GameSummary) -> None:
        """Count one game. Raises ``KeyError`` if a player is not in this tournament."""
        if record.score is None:
            self.unfinished += 1
            return
        first, second = self._index[record.first], self._index[record.second]
        swapped = int(first > second)
        low, high = (second, first) if swapped else (first, second)
        code = round(2 * (1 - record.score if swapped else record.score))
        single = self._single.setdefault((low, high), np.zeros((2, 3), np.int64))
        pairs = self._pairs.setdefault((low, high), np.zeros((3, 3), np.int64))
        key = (low, high, record.pairing.pair)
        games = self._waiting.setdefault(key, [None, None])
        single[swapped, code] += 1
        if games[swapped] is not None:
            return
        games[swapped] = code
        if (one := games[0]) is not None and (other := games[1]) is not None:
            single[0, one] -= 1
            single[1, other] -= 1
            pairs[one, other] += 1

    def table(self) -> PairingTable:
        """The results of all pairs of players who met, from the point of view of the player with the lower index."""
        places = np.array([*self._pairs], np.int64).reshape(-1, 2)
        pairs = np.array([*self._pairs.values()], float).reshape(-1, 3, 3)
        single = np.array([*self._single.values()], float).reshape(-1, 2, 3)
        return PairingTable(places[:, 0], places[:, 1], pairs, single)

    def between(self, one: int, other: int) -> PairingCounts:
        """Results of player ``one`` against player ``other``, both given by index; all zero if they have not met."""
        low, high = min(one, other), max(one, other)
        pairs = self._pairs.get((low, high), np.zeros((3, 3), np.int64))
        single = self._single.get((low, high), np.zeros((2, 3), np.int64))
        if one > other:
            pairs, single = pairs[::-1, ::-1].T, single[::-1, ::-1]
        return _pairing_counts(one, other, pairs, single)

    def pentanomial(self, player: int) -> Pentanomial:
        """Outcomes of the pairs of one player against all opponents, from this player's point of view."""
        return sum((counts.pentanomial() for counts in self._of(player)), Pentanomial((0, 0, 0, 0, 0)))

    def trinomial(self, player: int) -> Trinomial:
        """Results of all games of one player, from this player's point of view."""
        counts = [counts.trinomial() for counts in self._of(player)]
        return Trinomial(*(sum(getattr(count, name) for count in counts) for name in ("wins", "draws", "losses")))

    def _of(self, player: int) -> Iterator[PairingCounts]:
        """Yield the results of a player against each opponent that it has met, from this player's point of view."""
        for other in range(len(self.players)):
            if (min(player, other), max(player, other)) in self._pairs:
                yield self.between(player, other)

    def first_mover(self) -> Trinomial:
        """Results of all games from the point of view of the side that moves first."""
        losses, draws, wins = self.table().games_by_first_mover()[2].sum(axis=0)
        return Trinomial(int(wins), int(draws), int(losses))

    def estimate(self, one: int, other: int) -> Estimate:
        """Elo of ``one`` relative to ``other``, estimated from complete pairs or, without any, from single games."""
        counts = self.between(one, other)
        return (counts.pentanomial() if counts.pentanomial().pairs else counts.trinomial()).estimate()

    def ratings(self, anchors: Mapping[int, float] | None = None) -> Ratings:
        """The joint fit of all ratings. For two players, the rating difference is the estimate from their match.

        ``anchors`` are fixed ratings in Elo, keyed by the index of the player.
        """
        ratings = fit_ratings(len(self.players), self.table(), anchors=anchors)
        return with_match(ratings, self.estimate(0, 1)) if len(self.players) == 2 else ratings

    @property
    def complete_pairs(self) -> int:
        """Number of complete pairs of all players."""
        return int(sum(table.sum() for table in self._pairs.values()))

    @property
    def single_games(self) -> int:
        """Number of games with a result that are not part of a complete pair."""
        return int(sum(table.sum() for table in self._single.values()))

    @property
    def games(self) -> int:
        """Number of games with a result."""
        return 2 * self.complete_pairs + self.single_games


def _pairing_counts(first: int, second: int, pairs: np.ndarray, single: np.ndarray) -> PairingCounts:
    rows, loose = (tuple(map(tuple, table.tolist())) for table in (pairs, single))
    return PairingCounts(first, second, rows, loose)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Standing:
    """The row of one player in the standings."""

    rank: int
    player: str
    rating: float
    """Rating in Elo from a joint fit to all games.

    The rating is relative to the anchors of the player's group or, without anchors, to the group's mean.
    """
    rating_error: float
    """Half the width of the rating's 95 % interval, in Elo; 0 for an anchor, infinite without games."""
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    """Mean points per game, 0 to 1; 0.5 without games."""
    pairs: int
    """Number of complete pairs; the fields named in ``PENTANOMIAL_COLUMNS`` count them by outcome."""
    LL: int
    LD: int
    even: int
    WD: int
    WW: int
    single_games: int
    """Number of games outside complete pairs."""
    mean_depth: float | None
    """Mean search depth per move, in plies; ``None`` if the player reported no depths."""
    mean_nodes: float | None
    """Mean number of nodes per move; ``None`` if the player reported no nodes."""
    mean_time_ms: float | None
    """Mean time per move in milliseconds; ``None`` if unknown."""
    group: int
    """Index, from 1, of the player's group: players connected by games, whose ratings are comparable."""

    @property
    def is_rated(self) -> bool:
        """Whether the player has a rating, from games or as an anchor."""
        return self.games > 0 or math.isfinite(self.rating_error)


@dataclass(frozen=True)
class HeadToHead:
    """All results between two players, from the point of view of ``player``."""

    player: str
    opponent: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    """Mean points of ``player`` per game, 0 to 1, in all games."""
    elo: float
    """Elo of ``player`` relative to ``opponent``, from complete pairs or, if there are none, from single games.

    The interval and ``los`` are computed from the same games.
    """
    elo_error: float
    elo_low: float
    elo_high: float
    los: float
    """Probability that ``player`` is the stronger one, 0 to 1."""
    pairs: int
    LL: int
    LD: int
    even: int
    WD: int
    WW: int
    pairs_ratio: float | None
    single_games: int
    from_pairs: bool


@dataclass(frozen=True)
class EndingCount:
    """Number of games that ended for one reason, and the numbers of these that each side won."""

    reason: str
    games: int
    first_won: int
    drawn: int
    second_won: int


@dataclass(frozen=True)
class Tables:
    """All results of a tournament that its reports show."""

    counter: PairCounter
    ratings: Ratings
    standings: tuple[Standing, ...]
    """One row per player, by group and then by rating, best first.

    A group is a set of players connected by games; larger groups come first.
    """
    head_to_heads: tuple[HeadToHead, ...]
    """One row for each ordered pair of players who met, in the order of the standings."""
    endings: tuple[EndingCount, ...]
    """Counts of games by the reason that ended them, most frequent first."""
    faults: tuple[FaultCount, ...] = ()
    """The number of games that each player forfeited, for each kind of fault, most frequent first."""

    @property
    def games(self) -> int:
        """Number of games in these tables."""
        return sum(row.games for row in self.endings)

    @property
    def anchors(self) -> dict[str, float]:
        """Fixed ratings in Elo, keyed by the player's name."""
        return {self.counter.players[player]: elo for player, elo in self.ratings.anchors.items()}

    @property
    def referred_anchors(self) -> dict[str, float]:
        """Fixed Elo, keyed by name, of the anchors that have played other players and to which ratings are relative."""
        names = {name for group in self.ratings.groups if len(group) > 1 for name in self._names(group)}
        return {name: elo for name, elo in self.anchors.items() if name in names}

    @property
    def reference(self) -> str:
        """Reference point of the ratings: ``mean``, ``given`` or ``partly``.

        ``mean``: the mean of each group. ``given``: the anchors. ``partly``: some groups have anchors, others do not.
        """
        if not self.referred_anchors:
            return "mean"
        return "given" if all(self.is_anchored(row) for row in self.standings if row.is_rated) else "partly"

    @property
    def separate_groups(self) -> int:
        """Number of groups among the rated players. Ratings of different groups cannot be compared."""
        return len({row.group for row in self.standings if row.is_rated})

    def is_anchored(self, row: Standing) -> bool:
        """Whether a player's rating is relative to anchors, not to the mean of its group."""
        return not self.anchors.keys().isdisjoint(self._names(self.ratings.groups[row.group - 1]))

    def _names(self, group: Iterable[int]) -> list[str]:
        return [self.counter.players[player] for player in group]

    def superiority(self) -> list[list[float]]:
        """Likelihood, 0 to 1, that the player of the row is stronger than the player of the column.

        Rows and columns are in the order of the standings.
        """
        order = [self.counter.players.index(row.player) for row in self.standings]
        matrix = self.ratings.los_matrix()
        return [[float(matrix[one, other]) for other in order] for one in order]

    def difference(self, place: int, other: int) -> tuple[float, float]:
        """Rating difference in Elo between two players, and half the width of its 95 % interval.

        ``place`` and ``other`` are the players' indices in the standings. The difference is the rating of ``place``
        minus the rating of ``other``.
        """
        one, two = (self.counter.players.index(self.standings[rank].player) for rank in (place, other))
        return self.ratings.difference(one, two)

    def fit(self) -> dict[str, Any]:
        """The joint fit as plain data. Rows and columns of matrices are in the order of ``players``."""
        ratings = self.ratings
        return {
            "players": list(self.counter.players),
            "elo": ratings.elo.tolist(),
            "covariance": ratings.covariance.tolist(),
            "los": ratings.los_matrix().tolist(),
            "anchors": self.anchors,
            "groups": [*map(self._names, ratings.groups)],
            "first_move_advantage": ratings.first_move_advantage,
            "first_move_error": ratings.first_move_error,
            "draw_parameter": ratings.draw_parameter,
            "dispersion": ratings.dispersion,
        }

    def superiority_csv(self) -> str:
        """The matrix of ``superiority`` as CSV text. The first row and the first column have the players' names."""
        names = [row.player for row in self.standings]
        rows = [[name, *row] for name, row in zip(names, self.superiority(), strict=True)]
        return csv_text(["player", *names], rows)

    def standings_csv(self) -> str:
        """The standings as CSV text, written without pandas, whose import is slow."""
        return _rows_csv(self.standings, Standing)

    def crosstable_csv(self) -> str:
        """The head-to-head results as CSV text, written without pandas."""
        return _rows_csv(self.head_to_heads, HeadToHead)

    def standings_frame(self) -> DataFrame:
        """The standings as a pandas table."""
        return rows_frame(self.standings, Standing)

    def crosstable_frame(self) -> DataFrame:
        """The head-to-head results as a pandas table."""
        return rows_frame(self.head_to_heads, HeadToHead)

    def endings_frame(self) -> DataFrame:
        """The endings as a pandas table."""
        return rows_frame(self.endings, EndingCount)


def _rows_csv(rows: Sequence[Any], kind: type) -> str:
    columns = [field.name for field in fields(kind)]
    return csv_text(columns, map(attrgetter(*columns), rows))


def rows_frame(rows: Sequence[Any], kind: type) -> DataFrame:
    """Rows of the dataclass ``kind`` as a pandas table. Its columns are the fields."""
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows], columns=[field.name for field in fields(kind)])


class TableCounter:
    """Counts games for all tables, without keeping them. Games must be added in schedule order."""

    def __init__(self, game: str, players: Sequence[str]) -> None:
        """Start without games. ``game`` is the game's name; ``players`` are names in the specification's order."""
        self.pairs = PairCounter(players)
        self._effort = _Effort(game, players)
        self._endings = Counter[tuple[str, str]]()
        self._faults = FaultCounter()

    def add(self, record: GameRecord) -> None:
        """Count one game. Raises ``KeyError`` if a player is not in this tournament."""
        self.pairs.add(record)
        self._effort.add(record)
        self._endings[record.reason, record.result] += 1
        self._faults.add(record)

    def tables(self, anchors: Mapping[str, float] | None = None) -> Tables:
        """Fit the ratings and create all tables. ``anchors`` are fixed ratings in Elo, keyed by player name."""
        counter = self.pairs
        given = {counter.players.index(name): elo for name, elo in (anchors or {}).items()}
        ratings = counter.ratings(given)
        rows = standing_rows(counter, ratings, self._effort)
        ranking = [counter.players.index(row.player) for row in rows]
        heads = head_to_heads(counter, ranking)
        return Tables(counter, ratings, rows, heads, _endings(self._endings), self._faults.counts())


def tables_of(
    game: str, players: Sequence[str], records: Iterable[GameRecord], anchors: Mapping[str, float] | None = None
) -> Tables:
    """Read the games once, fit the ratings and create all tables; see ``TableCounter``.

    ``anchors`` are fixed ratings in Elo, keyed by player name.
    """
    counter = TableCounter(game, players)
    for record in records:
        counter.add(record)
    return counter.tables(anchors)


def standing_rows(counter: PairCounter, ratings: Ratings, effort: _Effort | None = None) -> tuple[Standing, ...]:
    """The rows of the standings. Without ``effort``, mean depth, nodes and time per move are ``None``."""
    group_of = {player: number for number, group in enumerate(ratings.groups, start=1) for player in group}
    order = sorted(
        range(len(counter.players)),
        # Rounded, because equal results differ in the last digits of the fit.
        key=lambda player: (group_of[player], -round(float(ratings.elo[player]), 6), counter.players[player]),
    )
    rows = []
    for rank, player in enumerate(order, start=1):
        name = counter.players[player]
        games, pairs = counter.trinomial(player), counter.pentanomial(player)
        means = (None, None, None) if effort is None else effort.means(name)
        rows.append(
            Standing(
                rank, name, float(ratings.elo[player]), ratings.error(player),
                games.points, games.games, games.wins, games.draws, games.losses, games.score,
                pairs.pairs, *pairs.counts, games.games - 2 * pairs.pairs, *means, group_of[player],
            )
        )  # fmt: skip
    return tuple(rows)


class _Effort:
    """Sums of the depths, nodes and times of each player's moves."""

    def __init__(self, game: str, players: Sequence[str]) -> None:
        self._game = game
        self._totals = {name: [0.0] * 6 for name in players}
        """For each player, keyed by name: sum and number of depths (plies), of nodes, and of times (ms)."""

    def add(self, record: GameRecord) -> None:
        """Add the moves of a game."""
        start = game_named(self._game).side_to_move(record.opening.position) + len(record.opening.moves)
        for side, name in enumerate((record.first, record.second)):
            moves = record.moves[(side - start) % 2 :: 2]
            if not moves:
                continue
            _, _, depths, nodes, times, *_ = zip(*moves, strict=True)
            total = self._totals[name]
            for place, values in enumerate((depths, nodes, times)):
                known = values if None not in values else [value for value in values if value is not None]
                total[2 * place] += sum(known)
                total[2 * place + 1] += len(known)

    def means(self, name: str) -> tuple[float | None, float | None, float | None]:
        """Mean depth, nodes and time (ms) of a player's moves; ``None`` for values that it never reported."""
        total = self._totals[name]
        depth, nodes, time = (
            float(total[place] / total[place + 1]) if total[place + 1] else None for place in (0, 2, 4)
        )
        return depth, nodes, time


def head_to_heads(counter: PairCounter, ranking: Sequence[int]) -> tuple[HeadToHead, ...]:
    """One row for each ordered pair of players who met. ``ranking`` has the players' indices in the rows' order."""
    rows = []
    for player in ranking:
        for opponent in ranking:
            counts = counter.between(player, opponent)
            games, pairs = counts.trinomial(), counts.pentanomial()
            if not games.games:
                continue
            estimate = counter.estimate(player, opponent)
            rows.append(
                HeadToHead(
                    counter.players[player], counter.players[opponent],
                    games.games, games.wins, games.draws, games.losses, games.score,
                    estimate.elo, estimate.elo_error, estimate.elo_low, estimate.elo_high, estimate.los,
                    pairs.pairs, *pairs.counts, estimate.pairs_ratio, games.games - 2 * pairs.pairs, bool(pairs.pairs),
                )
            )  # fmt: skip
    return tuple(rows)


def _endings(counts: Counter[tuple[str, str]]) -> tuple[EndingCount, ...]:
    """One row per reason. ``counts`` is keyed by pairs of reason and result."""
    reasons = Counter[str]()
    for (reason, _), count in counts.items():
        reasons[reason] += count
    return tuple(
        EndingCount(reason, games, counts[reason, "1-0"], counts[reason, "1/2-1/2"], counts[reason, "0-1"])
        for reason, games in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    )


# Plain text


def tables_text(
    tables: Tables,
    side_names: tuple[str, str] | None = None,
    language: str = DEFAULT_LANGUAGE,
    columns: int = TEXT_WIDTH,
    *,
    with_players: bool = True,
) -> str:
    """Standings, pairings, likelihoods of superiority and endings as text, with explanations.

    Without ``with_players``, returns only the endings and the advantage of the first move. Lines have at most
    ``columns`` columns. If there is too little room, standings leave out the pair outcomes, and the other tables show
    shorter names and fewer opponents.
    """
    say = Catalogue(MESSAGES, language)
    first = side_names[0] if side_names else say("standings.first_mover")
    parts = [_games_lines(tables, first, say, columns)]
    if with_players:
        parts[:0] = [shown(tables, say, columns) for shown in (_standings_lines, _pairings_lines, _superiority_lines)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _standings_lines(tables: Tables, say: Catalogue, columns: int) -> list[str]:
    counter, rows = tables.counter, tables.standings
    players = [row.player for row in rows]
    table = [
        Column("#", [str(row.rank) for row in rows]),
        name_column(say("standings.player"), players),
        Column(say("standings.rating"), [rating_text(row, tables) for row in rows]),
        Column("±", [rating_error_text(row, tables, say) for row in rows]),
        Column(say("standings.score"), [mean_score_text(row) for row in rows]),
        *(
            Column(say(f"standings.{name}"), [str(getattr(row, name)) for row in rows])
            for name in ("wins", "draws", "losses")
        ),
        *(
            Column(head, [str(getattr(row, name)) for row in rows], rank=1)
            for head, name in zip(("LL", "LD", "=", "WD", "WW"), PENTANOMIAL_COLUMNS, strict=True)
        ),
    ]
    note = say("standings.note", reference=rating_reference(tables, say))
    if len(fitting(table, columns)) == len(table):
        note = say("standings.note_pairs", note=note)
    title = say(
        "standings.title_single" if counter.single_games else "standings.title",
        games=counter.games,
        single=counter.single_games,
    )
    lines = [title, *wrapped(note, columns - 1)]
    if tables.separate_groups > 1:
        lines += wrapped(say("standings.groups", groups=tables.separate_groups), columns)
    return [*lines, "", *table_lines(table, columns)]


def rating_reference(tables: Tables, say: Callable[..., str]) -> str:
    """A phrase on the reference point of the ratings: the mean, or the anchors with their ratings.

    ``say`` is the message catalogue of ``arena``.
    """

    def given(anchors: Mapping[str, float]) -> str:
        texts = [say("rating.player_given", name=name, elo=given_text(elo)) for name, elo in anchors.items()]
        return say("rating.comma").join(texts)

    referred = tables.referred_anchors
    reference = say(f"rating.reference_{tables.reference}", players=given(referred))
    idle = {name: elo for name, elo in tables.anchors.items() if name not in referred}
    return say("rating.reference_idle", reference=reference, players=given(idle)) if idle else reference


def rating_text(row: Standing, tables: Tables) -> str:
    """A rating as text, with a plus or minus sign unless it is relative to anchors; ``NOTHING`` if unknown."""
    if not row.is_rated:
        return NOTHING
    return signed(row.rating) if not tables.is_anchored(row) else with_minus(f"{row.rating:.1f}")


def rating_error_text(row: Standing, tables: Tables, say: Callable[..., str]) -> str:
    """Half the width of a rating's interval as text; the word "fixed" for an anchor, ``NOTHING`` if unknown."""
    if not row.is_rated:
        return NOTHING
    return say("rating.given") if row.player in tables.anchors else error_text(row.rating_error)


def mean_score_text(row: Standing) -> str:
    """The points per game in percent, as text; ``NOTHING`` without games."""
    return f"{100 * row.score:.1f}" if row.games else NOTHING


def _superiority_lines(tables: Tables, say: Catalogue, columns: int) -> list[str]:
    """The matrix of likelihoods of superiority as lines of text.

    Empty for two players, because the table of pairings has the same number.
    """
    names = [row.player for row in tables.standings]
    if len(names) < 3:
        return []
    shares = tables.superiority()
    table = [
        Column("", [str(place + 1) for place in range(len(names))]),
        name_column("", names),
        *(
            Column(
                str(other + 1),
                ["-" if place == other else percent_text(row[other]) for place, row in enumerate(shares)],
                rank=other,
            )
            for other in range(min(MAX_MATRIX, len(names)))
        ),
    ]
    shown = len(fitting(table, columns)) - 2
    table = [Column(column.head, column.cells[:shown], column.left) for column in table]
    lines = [*wrapped(say("standings.superiority"), columns - 1), "", *table_lines(table, columns)]
    if len(names) > shown:
        lines += wrapped(say("standings.more_players", count=len(names) - shown), columns)
    return lines


def _pairings_lines(tables: Tables, say: Catalogue, columns: int) -> list[str]:
    rank = {row.player: row.rank for row in tables.standings}
    rows = [row for row in tables.head_to_heads if rank[row.player] < rank[row.opponent]]
    shown = rows[:MAX_PAIRING_LIST]
    players = tables.counter.players
    marks = ["" if row.from_pairs else "*" for row in shown]
    table = [
        name_column(say("standings.player"), [row.player for row in shown], players),
        name_column(say("standings.opponent"), [row.opponent for row in shown], players),
        Column("Elo", [signed(row.elo) for row in shown]),
        Column("±", [error_text(row.elo_error) for row in shown]),
        Column("LOS %", [percent_text(row.los) for row in shown]),
        Column(say("standings.games"), [f"{row.wins}-{row.draws}-{row.losses}" for row in shown]),
        *([Column("", marks, left=True)] if any(marks) else []),
    ]
    lines = [*wrapped(say("standings.pairings"), columns - 1), "", *table_lines(table, columns)]
    if any(marks):
        lines += wrapped(say("standings.single"), columns)
    if len(rows) > len(shown):
        lines += wrapped(say("standings.more_pairings", count=len(rows) - len(shown)), columns)
    return lines


def _games_lines(tables: Tables, first_side: str, say: Catalogue, columns: int) -> list[str]:
    counts = tables.counter.first_mover()
    lines = []
    if counts.games:
        advantage, error = tables.ratings.first_move_advantage, tables.ratings.first_move_error
        sentence = say(
            "standings.advantage", first=first_side, score=f"{100 * counts.score:.1f}", wins=counts.wins,
            draws=counts.draws, losses=counts.losses, elo=signed(advantage), error=error_text(error),
        )  # fmt: skip
        lines += wrapped(sentence, columns - 1)
    reasons = Catalogue("elolab.engine", say.language)
    endings = say("standings.comma").join(
        say("standings.ending", reason=reasons.name_of("ending", row.reason), games=row.games) for row in tables.endings
    )
    lines += wrapped(say("standings.endings", endings=endings or say("standings.none")), columns - 1)
    for fault in tables.faults:
        lines += wrapped(fault_text(fault, say, say.language), columns - 1)
    return lines
