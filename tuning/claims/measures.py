"""What needs no games: nodes, time and branching to each depth, shares of what searches count, mates and exact scores.

Every figure comes from searches of the same positions, each from an empty memory, with the position as the unit of its
interval. What was measured is kept in the run's store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.figures.statistics import INTERVAL_DEVIATIONS
from arena.play.executor import TICK_SECONDS
from arena.play.store import Store
from arena.records import Opening, digest_of
from engine.search_statistics import END_COLUMNS, ITERATION_COLUMNS, NULL_COLUMNS, SearchStatisticsSettings
from engine.settings.limits import Limits
from engine.settings.parameters import Value

if TYPE_CHECKING:
    from engine.engine import Engine, StopFlag

MATE_SPAN = 3
"""Plies between the depth at which mates are looked for and the deepest search that must agree."""
NULL_CUTOFF_SAMPLING = SearchStatisticsSettings(null_cutoff_interval=50, null_cutoff_nodes=20_000)
"""Denser than in games, for there are few searches."""


# Positions


def sampled_positions(
    game: str, openings: Sequence[Opening], count: int, nodes: int = 100, interval: int = 7, max_plies: int = 160
) -> list[Opening]:
    """Positions from self-play of the default setting, every ``interval`` plies of one game an opening.

    The same on every machine, for each move is searched for so many nodes. Games are played until there are ``count``
    positions or no more openings.
    """
    from engine.engine import Engine
    from engine.rules import Rules

    found: list[Opening] = []
    engine = Engine(game, {"hash_mb": 1})
    for number, opening in enumerate(openings):
        if len(found) >= count:
            break
        engine.new_game()
        position = engine.game.position(opening.position, opening.moves)
        engine.game.apply_rules(position.state, Rules())
        for ply in range(max_plies):
            if position.judge(Rules()) is not None:
                break
            if ply % interval == number % interval:
                found.append(Opening(position.text))
            move = engine.search(position, Limits(nodes=nodes)).move
            assert move is not None
            position.push(move)
    return found[:count]


def last_positions(game: str, openings: Sequence[Opening], plies: int, nodes: int = 100) -> list[Opening]:
    """The positions of the last so many plies of one self-play game an opening, the final one left out."""
    from engine.engine import Engine
    from engine.rules import Rules

    found: list[Opening] = []
    engine = Engine(game, {"hash_mb": 1})
    for opening in openings:
        engine.new_game()
        position = engine.game.position(opening.position, opening.moves)
        engine.game.apply_rules(position.state, Rules())
        texts: list[str] = []
        while position.judge(Rules()) is None and len(texts) < 300:
            texts.append(position.text)
            move = engine.search(position, Limits(nodes=nodes)).move
            assert move is not None
            position.push(move)
        found += [Opening(text) for text in texts[-plies:]]
    return found


# Searches


@dataclass(frozen=True)
class Searched:
    """One search of a position."""

    move: str | None
    score: int
    nodes: int
    iterations: tuple[tuple[int, int, int], ...]
    """Of each completed iteration: depth, nodes and nanoseconds since the search began."""
    search_statistics: Mapping[str, Any]

    def nodes_to(self, depth: int) -> int | None:
        """Nodes to the end of that iteration; ``None`` if it was not completed."""
        return next((nodes for completed, nodes, _ in self.iterations if completed == depth), None)


class SuiteSearches:
    """Searches of positions by settings, each done once and then read from the store."""

    def __init__(
        self, game: str, store: Store, concurrency: int, stop: StopFlag, tick: Callable[[], None] = lambda: None
    ) -> None:
        """``tick`` is called now and then while they go on."""
        self._game = game
        self._tick = tick
        self._store = store
        self._concurrency = concurrency
        self._stop = stop

    def search(
        self, values: Mapping[str, Value], limits: Limits, positions: Sequence[Opening]
    ) -> list[Searched] | None:
        """One search a position; ``None`` if the stop flag was set."""
        from engine.compiled.identity import equivalent_identities

        places = [[opening.position, list(opening.moves)] for opening in positions]
        names = [
            f"suite searches {digest_of([self._game, identity, dict(values), str(limits), places])}"
            for identity in equivalent_identities()
        ]
        kept = next((found for name in names if (found := self._store.metadata(name)) is not None), None)
        if kept is None:
            chunks = [positions[start :: self._concurrency] for start in range(self._concurrency)]
            with ThreadPoolExecutor(self._concurrency, "suite") as pool:
                searches = [pool.submit(self._search_all, values, limits, chunk) for chunk in chunks]
                while wait(searches, TICK_SECONDS).not_done:
                    self._tick()
                parts = [search.result() for search in searches]
            if any(part is None for part in parts):
                return None
            kept = [
                (parts[place % self._concurrency] or [])[place // self._concurrency] for place in range(len(positions))
            ]
            self._store.record_metadata({names[0]: kept})
        return [
            Searched(row["move"], row["score"], row["nodes"], tuple(map(tuple, row["iterations"])), row["instruments"])
            for row in kept
        ]

    def _search_all(
        self, values: Mapping[str, Value], limits: Limits, positions: Sequence[Opening]
    ) -> list[dict[str, Any]] | None:
        from engine.engine import Engine

        engine = Engine(self._game, values, NULL_CUTOFF_SAMPLING)
        found = []
        for opening in positions:
            if self._stop.is_set():
                return None
            found.append(_searched(engine, opening, limits, self._stop))
        return None if self._stop.is_set() else found


def _searched(engine: Engine, opening: Opening, limits: Limits, stop: StopFlag) -> dict[str, Any]:
    from engine.search.reports import ReportBoard

    board = ReportBoard()
    engine.new_game()
    position = engine.game.position(opening.position, opening.moves)
    result = engine.search(position, limits, stop=stop, board=board)
    return {
        "move": result.move,
        "score": result.score,
        "nodes": result.nodes,
        "iterations": [[report.depth, report.nodes, report.time_ns] for report in board.unread() if report.line == 0],
        "instruments": result.search_statistics,
    }


# Shares


def _of_ends(data: Mapping[str, Any], reason: str) -> int:
    row = data["ends"].get(reason)
    return int(row[END_COLUMNS.index("searches")]) if row else 0


def _of_null(data: Mapping[str, Any], table: str, column: str, low: int = 0, high: int = 1 << 30) -> int:
    place = NULL_COLUMNS.index(column)
    return sum(int(row[place]) for key, row in data[table].items() if low <= int(key) < high)


def _of_iterations(data: Mapping[str, Any], column: str) -> int:
    """Over the iterations that have one before them."""
    place, before = ITERATION_COLUMNS.index(column), ITERATION_COLUMNS.index("nodes_before")
    return sum(int(row[place]) for row in data["iterations"].values() if row[before])


Counted = Callable[[Mapping[str, Any], int], tuple[int, int]]

SHARES: dict[str, Counted] = {
    "windows_missed": lambda data, _: (data["counters"]["windows_missed"], data["counters"]["windows"]),
    "verifications_failed": lambda data, low: (
        _of_null(data, "null_by_material", "refuted", low), _of_null(data, "null_by_material", "verified", low),
    ),
    "shallow_verifications_failed": lambda data, below: (
        _of_null(data, "null_by_depth", "refuted", 0, below), _of_null(data, "null_by_depth", "verified", 0, below),
    ),
    "null_cutoffs_wrong": lambda data, _: (
        _of_null(data, "null_by_depth", "wrong"),
        _of_null(data, "null_by_depth", "sampled") - _of_null(data, "null_by_depth", "unresolved"),
    ),
    "first_move_cutoffs": lambda data, _: (data["counters"]["first_move_cutoffs"], data["counters"]["cutoffs"]),
    "last_iteration": lambda data, _: (data["last_iteration_nodes"], data["nodes"]),
    "after_last_iteration": lambda data, _: (data["after_iteration_nodes"], data["nodes"]),
    "after_last_result": lambda data, _: (data["after_result_nodes"], data["nodes"]),
    "soft_stops": lambda data, _: (
        _of_ends(data, "soft_limit"), _of_ends(data, "soft_limit") + _of_ends(data, "hard_limit"),
    ),
    "growth": lambda data, _: (_of_iterations(data, "nodes"), _of_iterations(data, "nodes_before")),
    "passes": lambda data, _: (data["counters"]["mtdf_passes"], sum(row[0] for row in data["iterations"].values())),
    "alternations": lambda data, _: (data["counters"]["alternations"], data["counters"]["windows"]),
}  # fmt: skip
"""Two counts of a search by the name of their ratio; the second argument is the bound that some have."""


RATIOS = ("growth", "passes")
"""Those of ``SHARES`` that may exceed 1."""


@dataclass(frozen=True)
class Share:
    """A ratio of sums over positions, with its 95 % interval."""

    value: float
    low: float
    high: float
    cases: int
    """The denominator's sum."""
    hits: int
    """The numerator's."""


def share_of(name: str, searches: Sequence[Searched], bound: int = 0) -> Share:
    """A ratio of ``SHARES`` over all searches; positions are the units of the interval."""
    counts = [SHARES[name](search.search_statistics, bound) for search in searches]
    hits, cases = sum(one for one, _ in counts), sum(other for _, other in counts)
    if not cases:
        return Share(0.0, 0.0, math.inf, 0, 0)
    value = hits / cases
    reach = INTERVAL_DEVIATIONS * math.sqrt(sum(part**2 for part in _parts(counts)))
    # Where it never happened, or always did, the spread is nil; the other may still hold in so many positions.
    unseen = 1 - 0.025 ** (1 / sum(part > 0 for _, part in counts))
    low = value - (unseen if hits == cases and name not in RATIOS else reach)
    high = value + (unseen if not hits else reach)
    return Share(value, max(0.0, low), high if name in RATIOS else min(1.0, high), cases, hits)


def share_difference(
    name: str, variant: Sequence[Searched], reference: Sequence[Searched], bound: int = 0
) -> tuple[float, float, float]:
    """The variant's share minus the reference's over the same positions, with the bounds of its 95 % interval."""
    sides = [[SHARES[name](search.search_statistics, bound) for search in side] for side in (variant, reference)]
    shares = [share_of(name, side, bound) for side in (variant, reference)]
    if not all(share.cases for share in shares):
        return 0.0, -math.inf, math.inf
    parts = [one - other for one, other in zip(*(_parts(side) for side in sides), strict=True)]
    reach = INTERVAL_DEVIATIONS * math.sqrt(sum(part**2 for part in parts))
    difference = shares[0].value - shares[1].value
    return difference, difference - reach, difference + reach


def _parts(counts: Sequence[tuple[int, int]]) -> list[float]:
    """What each position adds to the ratio's deviation; their squares sum to its variance."""
    hits, cases = sum(one for one, _ in counts), sum(other for _, other in counts)
    correction = math.sqrt(len(counts) / max(1, len(counts) - 1))
    return [correction * (one - hits / cases * other) / cases for one, other in counts]


# Mates and exact scores


def mates_that_change(searches: Mapping[int, Sequence[Searched]], deepest_mate: int) -> tuple[int, int]:
    """Mates of at most so many plies found at some depth, and those of which a deeper search says otherwise.

    ``searches`` are of the same positions by depth.
    """
    from engine.values import mate_distance

    depths = sorted(searches)
    found = changed = 0
    for place in range(len(searches[depths[0]])):
        scores = [searches[depth][place].score for depth in depths]
        first = next(
            (number for number, score in enumerate(scores)
             if (plies := mate_distance(score)) is not None and 0 < abs(plies) <= deepest_mate), None,
        )  # fmt: skip
        if first is not None:
            found += 1
            changed += any(score != scores[first] for score in scores[first:])
    return found, changed


def exact_failures(searched: Sequence[Searched], solved: Sequence[Searched]) -> int:
    """Of searches to the end of the game, how many do not have the score of the exact solution."""
    return sum(one.score != other.score for one, other in zip(searched, solved, strict=True))
