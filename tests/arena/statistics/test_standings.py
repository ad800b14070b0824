"""Tables from hand-made records: every number checked against a count by hand."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas
import pytest

from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.numbers import given_text, signed
from elolab.arena.statistics.standings import (
    PairCounter,
    tables_of,
    tables_text,
)

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"
NAMES = ("alpha", "beta", "gamma")


def game(first: int, second: int, pair: int, result: str, reason: str = "checkmate", number: int = 0) -> GameRecord:
    moves = (MoveRecord("h2e2", 10, 4 + first, 100 * (first + 1), 2.0), MoveRecord("h9g7", -5, None, None, 4.0))
    opening = Opening(START, (), f"opening {pair}")
    pairing = Pairing(number, pair, first, second, pair)
    key = f"{first}-{second}-{pair}"
    return GameRecord(key, pairing, NAMES[first], NAMES[second], opening, moves, result, reason, "0123456789ab")


def sample() -> list[GameRecord]:
    """alpha-beta: WW, WD, one single; beta-gamma: WL; alpha-gamma: one single and one unfinished game."""
    return [
        game(0, 1, 0, "1-0"), game(1, 0, 0, "0-1"),
        game(0, 1, 1, "1/2-1/2", "repetition"), game(1, 0, 1, "0-1"),
        game(1, 0, 2, "1-0"),
        game(1, 2, 0, "1-0"), game(2, 1, 0, "1-0"),
        game(0, 2, 0, "0-1", "time_forfeit"), game(2, 0, 1, "*", "unfinished"),
    ]  # fmt: skip


def test_pairs_and_single_games_are_told_apart() -> None:
    counter = tables_of("xiangqi", NAMES, sample()).counter
    assert counter.between(0, 1).pentanomial().counts == (0, 0, 0, 1, 1)
    assert counter.between(1, 0).pentanomial().counts == (1, 1, 0, 0, 0)
    assert counter.between(1, 2).pentanomial().counts == (0, 0, 1, 0, 0)
    assert counter.between(0, 2).pentanomial().pairs == 0
    assert (counter.complete_pairs, counter.single_games, counter.unfinished, counter.games) == (3, 2, 1, 8)
    wins = counter.between(1, 0).trinomial()
    assert (wins.wins, wins.draws, wins.losses) == (1, 1, 3)
    assert counter.pentanomial(1).counts == (1, 1, 1, 0, 0)


def test_csv_files_are_what_pandas_writes_of_the_same_tables() -> None:
    tables = tables_of("xiangqi", (*NAMES, 'a "quoted", name'), sample())
    assert tables.standings_csv() == tables.standings_frame().to_csv(index=False)
    assert tables.crosstable_csv() == tables.crosstable_frame().to_csv(index=False)
    names = [row.player for row in tables.standings]
    superiority = pandas.DataFrame(tables.superiority(), index=pandas.Index(names, name="player"), columns=names)
    assert tables.superiority_csv() == superiority.to_csv()


def test_order_of_arrival_does_not_matter() -> None:
    forward, backward = (tables_of("xiangqi", NAMES, records).counter for records in (sample(), sample()[::-1]))
    for one, other in permutations(range(len(NAMES)), 2):
        assert forward.between(one, other) == backward.between(one, other)


def test_views_keep_who_moved_first() -> None:
    counter = PairCounter(NAMES)
    for record in (game(0, 1, 0, "1-0"), game(1, 0, 0, "1-0"), game(1, 0, 1, "1-0")):
        counter.add(record)
    assert counter.between(0, 1).outcomes().tolist() == [[0, 0, 1], [2, 0, 0]]
    assert counter.between(1, 0).outcomes().tolist() == [[0, 0, 2], [1, 0, 0]]
    first = counter.first_mover()
    assert (first.wins, first.draws, first.losses) == (3, 0, 0)


def test_a_game_counted_twice_does_not_make_a_pair() -> None:
    counter = tables_of("xiangqi", NAMES, [game(0, 1, 0, "1-0"), game(0, 1, 0, "1-0")]).counter
    assert (counter.complete_pairs, counter.single_games) == (0, 2)


def test_a_third_game_of_a_pair_stands_alone() -> None:
    games = [game(0, 1, 0, "1-0"), game(1, 0, 0, "0-1"), game(0, 1, 0, "0-1"), game(1, 0, 0, "1/2-1/2")]
    counter = tables_of("xiangqi", NAMES, games).counter
    assert counter.between(0, 1).pentanomial().counts == (0, 0, 0, 0, 1)
    assert counter.between(0, 1).outcomes().tolist() == [[1, 0, 1], [0, 1, 1]]
    assert (counter.complete_pairs, counter.single_games) == (1, 2)


@pytest.mark.parametrize(("side", "moves", "is_first"), [
    ("w", (), True), ("w", ("h2e2",), False), ("w", ("h2e2", "h9g7"), True), ("b", (), False), ("b", ("h9g7",), True),
])  # fmt: skip
def test_a_move_is_its_movers_whoever_is_to_move_after_the_opening(
    side: str, moves: tuple[str, ...], is_first: bool
) -> None:
    spent = [(9, 900, 8.0), (2, 50, 1.0), (7, 100, 6.0)]
    thought = tuple(MoveRecord("a0a1", 1, *one) for one in spent)
    record = replace(game(0, 1, 0, "1-0"), opening=Opening(START[:-1] + side, moves, ""), moves=thought)
    rows = tables_of("xiangqi", NAMES, [record]).standings_frame().set_index("player")
    means = rows[["mean_depth", "mean_nodes", "mean_time_ms"]]
    assert means.loc["alpha" if is_first else "beta"].tolist() == [8, 500, 7]
    assert means.loc["beta" if is_first else "alpha"].tolist() == [2, 50, 1]


def test_standings_rows() -> None:
    table = tables_of("xiangqi", NAMES, sample()).standings_frame().set_index("player")
    assert table.loc["alpha", ["points", "games", "wins", "draws", "losses"]].tolist() == [3.5, 6, 3, 1, 2]
    assert table.loc["alpha", ["pairs", "WD", "WW", "single_games"]].tolist() == [2, 1, 1, 2]
    assert table["rating"].sum() == pytest.approx(0, abs=1e-9)
    assert sorted(table["rank"]) == [1, 2, 3]
    assert table["rating"].is_monotonic_decreasing
    # alpha moves first in 3 of its 7 games (the unfinished one included) and then says its depth, 4, and nodes, 100.
    assert table.loc["alpha", "mean_depth"] == 4
    assert table.loc["alpha", "mean_nodes"] == 100
    assert table.loc["alpha", "mean_time_ms"] == pytest.approx((3 * 2 + 4 * 4) / 7)


def test_crosstable_mirrors() -> None:
    table = tables_of("xiangqi", NAMES, sample()).crosstable_frame().set_index(["player", "opponent"])
    mine, theirs = table.loc[("alpha", "beta")], table.loc[("beta", "alpha")]
    assert mine["elo"] == pytest.approx(-theirs["elo"])
    assert mine["los"] == pytest.approx(1 - theirs["los"])
    assert (mine["score"], mine["single_games"]) == (0.7, 1)
    assert mine["from_pairs"]
    assert not table.loc[("alpha", "gamma"), "from_pairs"]
    assert not table[["elo", "elo_error", "los"]].isna().any().any()


def test_elo_of_two_players_is_of_their_pairs_alone() -> None:
    """alpha's pairs against beta are 1 and 3/4; the lost single game is in the score."""
    table = tables_of("xiangqi", NAMES, sample()).crosstable_frame().set_index(["player", "opponent"])
    row = table.loc["alpha", "beta"]
    assert row["elo"] == pytest.approx(400 * math.log10(0.875 / 0.125))
    match = Pentanomial((0, 0, 0, 1, 1)).estimate()
    assert (row["elo_low"], row["elo_high"], row["los"]) == (match.elo_low, match.elo_high, match.los)
    assert row["pairs_ratio"] == math.inf


def test_endings_are_counted_by_result() -> None:
    table = tables_of("xiangqi", NAMES, sample()).endings_frame().set_index("reason")
    assert table.loc["checkmate"].tolist() == [6, 4, 0, 2]
    assert table.loc["repetition"].tolist() == [1, 0, 1, 0]
    assert table["games"].sum() == 9


def test_text_fits_a_terminal_and_says_whose_view() -> None:
    text = tables_text(tables_of("xiangqi", NAMES, sample()), ("Red", "Black"))
    assert max(map(len, text.splitlines())) <= 80
    for phrase in (
        "Elo above the mean",
        "95 %",
        "from the point of view of the left one",
        "all games of the player",
        "Red scored",
        "time forfeit 1",
    ):
        assert phrase in text
    assert "from single games" in text


@pytest.mark.integration
def test_text_of_many_games_and_long_names_fits_too() -> None:
    names = tuple(f"a rather long name of player {number} indeed" for number in range(12))
    generator = np.random.default_rng(2)
    records = []
    for first in range(12):
        for second in range(12):
            if first != second:
                for pair in range(60):
                    base = game(0, 1, pair, str(generator.choice(["1-0", "0-1", "1/2-1/2"])))
                    place = Pairing(0, pair, first, second, pair)
                    fields = {**vars(base), "pairing": place, "first": names[first], "second": names[second]}
                    records.append(GameRecord(**fields))
    text = tables_text(tables_of("xiangqi", names, records))
    assert max(map(len, text.splitlines())) <= 80
    assert "and 21 more pairings: see crosstable.csv" in text


def test_nothing_played_gives_tables_without_numbers_that_lie() -> None:
    tables = tables_of("xiangqi", NAMES, [])
    assert tables.crosstable_frame().empty
    assert [row.games for row in tables.standings] == [0, 0, 0]
    assert not any(math.isnan(row.rating_error) for row in tables.standings)
    assert "groups of players never met" not in tables_text(tables)


def test_of_a_player_without_games_nothing_is_known() -> None:
    tables = tables_of("xiangqi", NAMES, sample()[:4])
    assert [math.isinf(row.rating_error) for row in tables.standings] == [False, False, True]
    assert tables.standings_csv().splitlines()[3].startswith("3,gamma,0.0,inf,")
    line = next(line for line in tables_text(tables).splitlines() if line.startswith("3  gamma"))
    assert line.split()[2:5] == ["–", "–", "–"]
    assert "groups of players never met" not in tables_text(tables)  # who has no rating compares with nobody
    given = tables_of("xiangqi", NAMES, sample()[:4], {"gamma": 1500.0})
    line = next(line for line in tables_text(given).splitlines() if line.split()[1:2] == ["gamma"])
    assert line.split()[2:5] == ["1500.0", "fixed", "–"]
    assert [row.rating_error for row in given.standings if row.player == "gamma"] == [0]
    assert "2 groups of players never met" in tables_text(given)


@pytest.mark.parametrize(("anchors", "said", "signs"), [
    ({"idle": 2500.0}, "Elo above the mean of all players; no games connect other players to idle = 2500 (", "++"),
    ({"alpha": 2000.0}, "Elo, with alpha = 2000 fixed; players that no chain of games connects to these are rated "
     "against the mean of their group (with a sign, + or −) (", "2+"),
    ({"alpha": 2000.0, "gamma": 1000.0, "idle": 9.0}, "Elo, with alpha = 2000, gamma = 1000 fixed; "
     "no games connect other players to idle = 9 (", "21"),
])  # fmt: skip
def test_ratings_refer_to_anchors_of_their_own_group_alone(anchors: dict[str, float], said: str, signs: str) -> None:
    games = [(0, 1, "1-0"), (1, 0, "0-1"), (2, 3, "1-0"), (3, 2, "0-1")]
    names = (*NAMES, "delta", "idle")
    records = [replace(game(0, 1, number // 2, result, number=number), first=names[first], second=names[second])
               for number, (first, second, result) in enumerate(games)]  # fmt: skip
    tables = tables_of("xiangqi", names, records, anchors)
    lines = tables_text(tables, ("Red", "Black")).split("\n")
    assert said in " ".join(lines)
    ratings = {words[1]: words[2] for words in map(str.split, reversed(lines)) if words and words[0].isdigit()}
    assert ratings["alpha"][0] + ratings["gamma"][0] == signs


def test_signs_are_typographic_and_zero_has_none() -> None:
    assert [signed(value) for value in (1.25, -3.0, 0.0, -0.01, math.inf)] == ["+1.2", "−3.0", "0.0", "0.0", "+∞"]
    assert [given_text(value) for value in (5, -0.5, 0.0)] == ["5", "−0.5", "0"]


def test_importing_is_light() -> None:
    heavy = ("pandas", "matplotlib", "numba")
    code = f"import sys, elolab.arena.statistics.standings; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("results", [["1-0", "1-0"], ["1-0", "1-0", "1-0", "0-1"], ["1/2-1/2", "1-0", "1-0", "1-0"]])
@pytest.mark.parametrize("anchors", [{}, {"alpha": 100.0}])
def test_a_match_has_one_interval_in_crosstable_and_standings(results: list[str], anchors: dict[str, float]) -> None:
    """One level pair gave -759 to +759 Elo beside ratings of +0 with an error of 171."""
    games = [game(number % 2, 1 - number % 2, number // 2, result) for number, result in enumerate(results)]
    tables = tables_of("xiangqi", NAMES[:2], games, anchors)
    rows = {row.player: row for row in tables.standings}
    match = tables.counter.estimate(0, 1)
    one, other = (rows[name] for name in NAMES[:2])
    assert one.rating - other.rating == pytest.approx(match.elo)
    assert one.rating_error + other.rating_error == pytest.approx(match.elo_error)
    assert tables.difference(0, 1)[1] == pytest.approx(match.elo_error)
    assert [row.rating for row in tables.standings if row.player in anchors] == list(anchors.values())


def test_the_rating_of_a_match_won_outright_reaches_to_its_finite_bound() -> None:
    games = [game(number % 2, 1 - number % 2, number // 2, "1-0" if number % 2 == 0 else "0-1") for number in range(12)]
    tables = tables_of("xiangqi", NAMES[:2], games)
    (elo, error), match = tables.difference(0, 1), tables.counter.estimate(0, 1)
    assert math.isinf(match.elo)
    assert math.isfinite(elo)
    assert elo - error == pytest.approx(match.elo_low)
