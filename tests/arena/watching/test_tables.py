"""The tables of the page: what a query selects, in which order rows come, and what openings and engines show."""

from __future__ import annotations

from typing import Any

import pytest

from elolab.arena.records import Pairing
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.watching.snapshot import WatchedGame
from elolab.arena.watching.tables import (
    ROWS_PER_PAGE,
    QueryError,
    engine_rows,
    opening_rows,
    part_of,
    running_games,
    selected,
)
from tests.arena.watching.test_snapshot import running_game


def finished(number: int, first: str, second: str, result: str, reason: str, opening: str = "") -> WatchedGame:
    pairing = Pairing(number, number // 2, 0, 1, number // 2)
    return WatchedGame(f"{number:032x}", pairing, first, second, opening, result, reason, 10 + number, "", 1500.0)


GAMES = [
    finished(0, "A", "AB 2", "1-0", "checkmate", "central cannon"),
    finished(1, "AB 2", "A", "1/2-1/2", "draw_agreement", "central cannon"),
    finished(2, "A", "C", "0-1", "time_forfeit", "central cannon, left"),
    finished(3, "C", "AB 2", "0-1", "checkmate"),
]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [0, 1, 2, 3]),
        ("engine:A", [0, 1, 2]),  # the whole name, where there is one
        ("engine:b", [0, 1, 3]),
        ('engine:"AB 2"', [0, 1, 3]),
        ("engine:A engine:C", [2]),
        ("ending:checkmate", [0, 3]),
        ("ending:将死", [0, 3]),
        ("ending：time", [2]),
        ("result:1-0", [0]),
        ("result:draw", [1]),
        ("engine:A result:won", [0]),
        ("engine:A result:lost", [2]),
        ('engine:"ab 2" result:won ending:checkmate', [3]),
        ('opening:"central cannon"', [0, 1]),
        ("opening:left", [2]),
        ("3", [3]),
        ("cannon AB", [0, 1]),
        ("engine:nobody", []),
        ("running", [7]),
        ("running engine:1", [7]),
        ("RUNNING engine:A", []),
    ],
)  # fmt: skip
def test_a_query_selects_games(query: str, numbers: list[int]) -> None:
    running = running_games([running_game(7, ["h2e2"])])
    assert [game.pairing.number for game in selected(query, GAMES, running)] == numbers


@pytest.mark.parametrize(
    ("query", "key", "named"),
    [
        ("colour:red", "table.unknown_filter", "colour:"),
        ("ending:boredom", "table.unknown_ending", "boredom"),
        ("result:2-0", "table.unknown_result", "2-0"),
        ("result:won", "table.result_of_whom", "won"),
    ],
)
def test_a_query_that_means_nothing_is_a_sentence(query: str, key: str, named: str) -> None:
    with pytest.raises(QueryError) as error:
        selected(query, GAMES, [])
    assert error.value.args[0] == key
    assert named in error.value.args[1].values()


def test_rows_are_sorted_by_a_column_and_come_in_pages() -> None:
    rows: list[dict[str, Any]] = [
        {"number": f"playoff-{number}", "size": number % 3 or None} for number in range(2 * ROWS_PER_PAGE)
    ]

    def page(first: int, sort: str, *, descending: bool) -> list[Any]:
        found = part_of(rows, first, sort, descending=descending)
        assert found["total"] == len(rows)
        return [row[sort] for row in found["rows"]]

    assert page(0, "number", descending=False)[:11] == [f"playoff-{number}" for number in range(11)]
    assert page(0, "number", descending=True)[0] == "playoff-29"
    assert page(ROWS_PER_PAGE, "size", descending=True) == [1] * 5 + [None] * 10
    assert part_of(rows, 0, "unknown", descending=True)["rows"] == rows[:ROWS_PER_PAGE]
    assert part_of([], 0, "size", descending=False) == {"total": 0, "rows": []}


def test_openings_have_the_results_of_the_side_that_moves_first() -> None:
    first, *others = opening_rows(GAMES)
    assert first == {
        "opening": "central cannon", "games": 2, "wins": 1, "draws": 1, "losses": 0, "score": 0.75, "plies": 10.5,
    }  # fmt: skip
    assert [(row["opening"], row["losses"]) for row in others] == [("central cannon, left", 1), ("#2", 1)]


def test_engines_have_their_limits_options_and_builds() -> None:
    entries = [
        {"name": "A", "protocol": "uci", "command": "fish", "options": {"Hash": 8}},
        {"name": "B"},
    ]
    given = {"format": "round_robin", "pairs": 1, "limit": "nodes=100", "players": entries, "openings": "xiangqi"}
    spec = spec_from_mapping(given, "cup.toml")
    facts = {"program files": [["fish", None, "ab" * 32], ["fish", None, "cd" * 32], ["other", None, "ef" * 32]]}
    external, own = engine_rows(spec, facts, "0123456789ab", "en")
    assert (external["player"], external["limit"]) == ("A", "nodes=100")
    assert "Hash = 8" in external["setting"]
    assert external["builds"] == "fish: abababababab, cdcdcdcdcdcd"
    assert own["builds"] == "elolab 0123456789ab"
    assert engine_rows(spec, {}, "", "zh")[0]["builds"] is None
