"""Places in Swiss tournaments and knockouts: tie-breaks from their definitions, and what is said of them."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elolab.arena.formats.encounters import Encounter
from elolab.arena.records import GameRecord, MoveRecord, Opening, Outcome
from elolab.arena.schedule import ScheduleState
from elolab.arena.statistics.placing import (
    KnockoutRow,
    Placing,
    SwissRow,
    _direct_encounter,
    placing_lines,
    placing_of,
    points_text,
    result_sentence,
)
from elolab.engine.language import LANGUAGES, Catalogue, columns_of
from tests.support.fake_tournament import by_chance, order_of, played, specification
from tests.support.report_files import write_report


def placing(course: ScheduleState) -> Placing:
    games = [outcome for outcome in course.results if outcome.key]
    found = placing_of(course.spec, games, course.withdrawals)
    assert found is not None
    return found


@given(st.integers(3, 9), st.integers(0, 10**6), st.sampled_from([[], ["player 1"]]), st.sampled_from([0, 1]))
@example(5, 44, ["player 1"], 1)  # who won the direct encounter is before who has more points of games
@example(5, 0, ["player 1"], 1)  # who dropped out has points; three are tied, two of whom have not met
@example(6, 1, [], 0)  # three are tied, all of whom have met
def test_points_and_tie_breaks_follow_from_the_encounters(
    players: int, salt: int, absent: list[str], absent_from: int
) -> None:
    course = played(specification("swiss", players, 2), by_chance(salt, 70), absent=absent, absent_from=absent_from)
    found = placing(course)
    points: dict[str, float] = defaultdict(float)
    games: dict[str, float] = defaultdict(float)
    met: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for row in found.encounters:
        for player, other, own in (
            (row.player, row.opponent, row.points), (row.opponent, row.player, row.opponent_points),
        ):  # fmt: skip
            won = 1.0 if row.winner == player else 0.5 if not row.winner and row.reason == "tied" else 0.0
            points[player] += won
            games[player] += own
            if row.reason in ("points", "tied"):
                met[player].append((other, won))
    rows = [row for row in found.rows if isinstance(row, SwissRow)]
    assert {row.player for row in rows} == {f"player {number}" for number in range(players)}
    for row in rows:
        idle = found.rounds_played - len(met[row.player])
        idle_points = points[row.player] - sum(won for _, won in met[row.player])
        assert row.points == points[row.player]
        assert row.game_points == games[row.player]
        assert row.buchholz == sum(points[other] for other, _ in met[row.player]) + idle * row.points
        beaten = sum(points[other] for other, won in met[row.player] if won == 1)
        tied = sum(points[other] for other, won in met[row.player] if won == 0.5)
        assert row.sonneborn_berger == beaten + tied / 2 + idle_points * row.points
    ranks = [
        (-row.points, -row.buchholz, -row.sonneborn_berger, -(row.direct_encounter or 0), -row.game_points, row.seed)
        for row in rows
    ]
    assert ranks == sorted(ranks)
    for one in rows:
        tied_with = [row.player for row in rows if ranks_of(row) == ranks_of(one)]
        pairs = [(name, other) for name in tied_with for other in tied_with if name != other]
        have_met = all(other in (opponent for opponent, _ in met[name]) for name, other in pairs)
        direct = sum(won for other, won in met[one.player] if other in tied_with)
        assert one.direct_encounter == (direct if have_met and len(tied_with) > 1 else None)


def ranks_of(row: SwissRow) -> tuple[float, float, float]:
    return row.points, row.buchholz, row.sonneborn_berger


@given(st.integers(2, 9), st.integers(0, 10**6), st.booleans())
def test_places_of_a_knockout(players: int, salt: int, third_place: bool) -> None:
    keys = {"third_place": True} if third_place and players >= 4 else {}
    found = placing(played(specification("knockout", players, 2, **keys), by_chance(salt, 70)))
    rows = [row for row in found.rows if isinstance(row, KnockoutRow)]
    assert sorted(row.player for row in rows) == sorted(found.names)
    places = [row.place for row in rows]
    assert places[:2] == [1, 2]
    assert places[2:4] == ([3, 4] if keys else [3, 3] if players >= 4 else [3] * (players - 2))
    assert [row.reached for row in rows[:4]] == ["winner", "final", "semi_finals", "semi_finals"][:players]
    for row in rows:
        lost = [one for one in found.encounters if row.player in (one.player, one.opponent) != one.winner]
        assert rows[0].player != row.player or all(one.winner == row.player for one in lost)


def test_a_knockout_that_goes_on_places_only_those_who_are_out() -> None:
    course = played(specification("knockout", 8, third_place=True), by_chance(1, 0), at_most=12)
    found = placing(course)
    assert not found.is_over
    assert [row.place for row in found.rows] == [5] * 4
    assert found.rounds_played == 1


@pytest.mark.parametrize(("absent", "places"), [([0], [1, 2, 3, 4]), ([0, 3], [1, 3, 4, 4]), ([0, 1, 2, 3], [3] * 4)])
def test_players_of_a_semi_final_that_cannot_be_started_are_behind_the_third(
    absent: list[int], places: list[int]
) -> None:
    names = [f"player {number}" for number in absent]
    course = played(specification("knockout", 4, third_place=True), by_chance(1, 0), absent=names)
    rows = placing(course).rows
    assert [row.place for row in rows] == places
    assert {row.player for row in rows[len(rows) - len(names) :]} == set(names)


def test_who_won_the_final_is_told_with_the_points_of_the_final() -> None:
    """The lower one of the bracket wins it: 2-0, after semi-finals of 1½-½."""
    strength = [1, 3, 0, 2]
    course = ScheduleState(spec := specification("knockout", 4, third_place=True), order_of(spec))
    while not course.is_over:
        points = {
            game.number: float(strength[game.first] > strength[game.second]) if game.number % 2 or game.round else 0.5
            for game in course.batch
        }
        course.advance({game.number: Outcome("played", game, points[game.number]) for game in course.batch})
    found = placing(course)
    assert [(row.player, row.opponent) for row in found.encounters[-1:]] == [("player 3", "player 1")]
    sentence = result_sentence(found, Catalogue("elolab.arena", "en"))
    assert sentence == "player 1 has won the final against player 3, 2–0."
    rows = [row for row in found.rows if isinstance(row, KnockoutRow)]
    assert [(row.player, row.encounters_won, row.game_points) for row in rows] == [
        ("player 1", 2, 3.5), ("player 3", 1, 1.5), ("player 0", 1, 2.5), ("player 2", 0, 0.5),
    ]  # fmt: skip


def test_an_encounter_that_was_not_played_is_none_that_was_won() -> None:
    """player 0 has a bye and player 3's walkover in the semi-final, and wins the final."""
    course = played(specification("knockout", 5), lambda key: 0.5, absent=["player 3"], absent_from=1)
    rows = {row.player: row for row in placing(course).rows if isinstance(row, KnockoutRow)}
    assert (rows["player 0"].reached, rows["player 0"].encounters_won) == ("winner", 1)
    assert (rows["player 3"].reached, rows["player 3"].encounters_won) == ("semi_finals", 1)


@pytest.mark.parametrize(("points", "text"), [(0, "0"), (0.5, "½"), (3.25, "3¼"), (10.75, "10¾"), (4.0, "4")])
def test_fractions(points: float, text: str) -> None:
    assert points_text(points) == text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("players", [2, 5, 11, 30])
@pytest.mark.parametrize("format", ["swiss", "knockout"])
def test_the_lines_fit_on_a_terminal(format: str, players: int, language: str) -> None:
    course = played(specification(format, players), by_chance(3, 60), absent=["player 1"])
    lines = placing_lines(placing(course), language)
    assert max(map(columns_of, lines)) <= 80
    text = "\n".join(lines)
    assert all(f"player {number}" in text for number in range(players))


def records_of(course: ScheduleState) -> list[GameRecord]:
    names = [player.name for player in course.spec.players]
    results = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
    return [
        GameRecord(
            outcome.key, outcome.pairing, names[outcome.pairing.first], names[outcome.pairing.second],
            Opening("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"),
            (MoveRecord("h2e2", 10, 3, 100, 1.0),), results[float(outcome.score or 0)], "checkmate", "0123456789ab",
        )
        for outcome in course.results if outcome.key
    ]  # fmt: skip


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize(("language", "bye"), [("en", "bye"), ("zh", "轮空")])
def test_the_report_of_a_swiss_tournament(language: str, bye: str, tmp_path: Path) -> None:
    course = played(specification("swiss", 5, 2), by_chance(3, 60))
    page = write_report(
        tmp_path, course.spec, records_of(course), planned_games=course.games, language=language
    ).read_text("utf-8")
    summary = (tmp_path / "report.md").read_text("utf-8")
    first, *rest = csv.DictReader((tmp_path / "placing.csv").open(encoding="utf-8"))
    assert [int(row["place"]) for row in rest] == [2, 3, 4, 5]
    assert {f"round_{number}" for number in (1, 2, 3)} <= first.keys()
    assert bye in page
    assert bye in summary
    assert page.index('id="placing"') < page.index('id="standings"')
    assert first["player"] in page
    encounters = list(csv.DictReader((tmp_path / "encounters.csv").open(encoding="utf-8")))
    assert [row["reason"] for row in encounters].count("bye") == 3
    assert len(encounters) == 9


@pytest.mark.usefixtures("without_charts")
def test_the_report_of_a_knockout(tmp_path: Path) -> None:
    course = played(specification("knockout", 6, 2, third_place=True), by_chance(3, 60), absent=["player 3"])
    page = write_report(
        tmp_path, course.spec, records_of(course), planned_games=course.games, withdrawals=course.withdrawals
    ).read_text("utf-8")
    summary = (tmp_path / "report.md").read_text("utf-8")
    for said in ("Quarter-finals", "Semi-finals", "Third place", "walkover", "player 3 could not be started"):
        assert said in page
        assert said in summary
    assert page.count('<li class="bye">') == 2
    assert page.count('<li class="tie">') == 2 + 2 + 2
    assert page.count("side winner") == 2 + 6
    rows = list(csv.DictReader((tmp_path / "placing.csv").open(encoding="utf-8")))
    assert [row["place"] for row in rows] == ["1", "2", "3", "4", "5", "5"]
    assert "4 of " in page.partition("planned games")[0][-20:]


@pytest.mark.usefixtures("without_charts")
def test_the_report_of_a_gauntlet_has_empty_cells(tmp_path: Path) -> None:
    course = played(specification("gauntlet", 5, 2), by_chance(3, 60))
    page = write_report(tmp_path, course.spec, records_of(course), planned_games=course.games).read_text("utf-8")
    assert page.count("<td>–</td>") == 4 * 3
    assert "gauntlet of the first 1 against each of the others" in page
    assert 'id="placing"' not in page
    assert not (tmp_path / "placing.csv").exists()


def test_of_two_encounters_of_the_same_players_one_that_was_not_played_is_no_direct_encounter() -> None:
    """With ``repeats`` they may meet twice: 0 beat 1, and won again in the second round because 1 was not there."""
    met = Encounter(0, (0, 1), (1.5, 0.5), 2, 2, frozenset())
    walkover = Encounter(1, (1, 0), (0.0, 0.0), 2, 0, frozenset({1}))
    again = Encounter(1, (1, 0), (1.0, 1.0), 2, 2, frozenset())
    for second, points in ((walkover, (1.0, 0.0)), (again, (1.5, 0.5))):
        own = {0: [met, second], 1: [met, second]}
        assert tuple(_direct_encounter(player, [0, 1], own) for player in (0, 1)) == points
    assert _direct_encounter(0, [0, 1], {0: [walkover], 1: [walkover]}) is None
