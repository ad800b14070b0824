"""What a PGN file says about how its games were played: against the game's own clock, and as other programs read it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.notation.pgn import DETAILS, game_text
from elolab.arena.notation.played_tags import (
    TERMINATIONS,
    played_as,
    side_tags,
    termination_of,
    time_control,
    times_left_ms,
)
from elolab.arena.play.game import GameClock
from elolab.arena.play.store import Store
from elolab.arena.provenance.record import builds_by_player
from elolab.arena.records import CommitBuild, GameRecord, MoveRecord, Opening, Pairing, PlayerSpec
from elolab.arena.reports.write import export
from elolab.arena.tournament_reader import load_tournament
from elolab.engine.games import game_named
from elolab.engine.rules import REASONS
from elolab.engine.settings.limits import Limits
from tests.support.portable_texts import read_games
from tests.support.small_tournaments import play, records_in, write_spec

GAME = game_named("xiangqi")
OTHELLO = game_named("othello")
LINE = ("h2e2", "h9g7", "h0g2", "i9h9", "i0h0", "g6g5")


def player(name: str, limit: str, **rest: object) -> PlayerSpec:
    return PlayerSpec(name, "ucci", Limits.parse(limit), command=("engine",), **rest)  # type: ignore[arg-type]


def record_of(moves: tuple[MoveRecord, ...], **changes: object) -> GameRecord:
    fields: dict = {
        "key": "0" * 32, "pairing": Pairing(5, 2, 0, 1, 0, 0), "first": "Ann", "second": "Bob",
        "opening": Opening(GAME.start, LINE[:1], "cannon"), "moves": moves, "result": "0-1", "reason": "checkmate",
        "engine_identity": "0", "started_at": "2025-11-21T10:11:12.345+00:00", "duration_ms": 3_723_999.0,
    }  # fmt: skip
    return GameRecord(**(fields | changes))


def tags_of(text: str) -> dict[str, str]:
    (game,) = read_games(text, "some.pgn", "xiangqi")
    return dict(game.tags)


@pytest.mark.parametrize(
    ("limit", "control", "more"),
    [
        ("clock=10+0.1", "10+0.1", ""),
        ("clock=40/60", "40/60", ""),
        ("clock=100000.125+0.015", "100000.125+0.015", ""),
        ("move_time=0.05", "0.05/move", ""),
        ("nodes=1000", "-", "nodes=1000"),
        ("depth=6,clock=10+0.1", "10+0.1", "depth=6,clock=10+0.1"),
        ("clock=10+0.1,node_clock=1000", "10+0.1", "clock=10+0.1,node_clock=1000"),
        ("clock=10,cpu", "10", "clock=10+0,cpu"),
        ("move_time=1,clock=10", "10", "move_time=1,clock=10+0"),
    ],
)
def test_limits_as_tags(limit: str, control: str, more: str) -> None:
    limits = Limits.parse(limit)
    assert time_control(limits) == control
    (found,) = played_as([player("Ann", limit)], "xiangqi").values()
    assert found.tags.get("Limit", "") == more
    assert Limits.parse(str(limits)) == limits


def test_own_level_has_an_unknown_time_control() -> None:
    assert time_control(Limits()) == "?"


def test_tags_that_both_sides_share_stand_once() -> None:
    same = side_tags(("Red", "Black"), {"TimeControl": "10", "Options": "a = 1"}, {"TimeControl": "10"})
    assert same == [("TimeControl", "10"), ("RedOptions", "a = 1")]
    odds = side_tags(("Red", "Black"), {"TimeControl": "10"}, {"TimeControl": "-", "Limit": "depth=1", "Build": "x"})
    assert odds == [("RedTimeControl", "10"), ("BlackTimeControl", "-"), ("BlackLimit", "depth=1"), ("BlackBuild", "x")]


def test_a_game_says_when_and_how_it_was_played_and_why_it_ended() -> None:
    players = played_as(
        [player("Ann", "clock=10+0.1", options=(("Hash", "16"), ('Say "hi"', "\\"))), player("Bob", "nodes=9")],
        "xiangqi",
        {"Ann": "engine sha256:0123456789ab"},
    )
    text = game_text(record_of(()), "cup", GAME, players=players)
    tags = tags_of(text)
    assert (tags["Date"], tags["UTCTime"], tags["GameDuration"]) == ("2025.11.21", "10:11:12", "01:02:03")
    assert (tags["RedTimeControl"], tags["BlackTimeControl"], tags["BlackLimit"]) == ("10+0.1", "-", "nodes=9")
    assert tags["RedOptions"] == 'Hash = 16, Say "hi" = \\'
    assert tags["RedBuild"] == "engine sha256:0123456789ab"
    assert (tags["Termination"], tags["Reason"]) == ("normal", "checkmate")
    assert text.endswith("1. H2-E2 {Black wins: checkmate} 0-1\n")
    drawn = game_text(record_of((), result="1/2-1/2", reason="draw_adjudication"), "cup", GAME)
    assert drawn.endswith("{draw: draw by adjudication} 1/2-1/2\n")
    assert tags_of(drawn)["Termination"] == "adjudication"


def test_the_build_of_a_commit_names_the_commit() -> None:
    built = CommitBuild("https://host/engine.git", "0123abcd", "make", "/tree")
    (found,) = played_as([player("Ann", "nodes=1", built=built)], "xiangqi", {"Ann": "engine sha256:4567"}).values()
    assert found.tags["Build"] == "https://host/engine.git@0123abcd, engine sha256:4567"


def test_every_reason_has_a_termination_that_cutechess_or_fastchess_writes() -> None:
    known = {"normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"}
    assert {termination_of(reason) for reason in REASONS} == known
    assert TERMINATIONS.keys() <= set(REASONS)


def test_the_time_control_of_a_scaled_game_is_the_one_played() -> None:
    players = played_as([player("Ann", "clock=10+0.1"), player("Bob", "nodes=5")], "xiangqi", {"Ann": "one"})
    record = record_of((MoveRecord(LINE[1], 0, 1, 1, 1000.0),), detail={"limit_scale": 1.5})
    tags = tags_of(game_text(record, "cup", GAME, players=players))
    assert {"15+0.15", "-"} == {value for name, value in tags.items() if name.endswith("TimeControl")}
    assert "one" in tags.values()


def test_the_limit_stored_with_a_game_counts_for_players_that_are_not_listed() -> None:
    tags = tags_of(game_text(record_of((), detail={"limit": "clock=5+0.5"}), "cup", GAME))
    assert tags["TimeControl"] == "5+0.5"


MOVES = st.lists(
    st.builds(
        MoveRecord,
        st.just(""),
        st.none() | st.integers(-20_000, 20_000),
        st.none() | st.integers(0, 120),
        st.none() | st.integers(0, 10**15),
        st.integers(0, 10**7).map(float),
        st.sampled_from(["", "h2e2", "h9g7 h0g2 i9h9"]),
        st.none() | st.integers(0, 10**7).map(float),
    ),
    max_size=5,
)


@pytest.mark.integration
@given(MOVES, st.sampled_from(["clock=10+0.1", "clock=2/10+0.1", "clock=3/5", "nodes=5"]), st.sampled_from(DETAILS))
def test_everything_is_read_back(moves: list[MoveRecord], limit: str, detail: str) -> None:
    """Score, depth, nodes, time, latency, variation, time left; times here are whole milliseconds, as files have."""
    played = tuple(entry._replace(move=move) for entry, move in zip(moves, LINE[1:], strict=False))
    players = played_as([player("Ann", limit), player("Bob", limit)], "xiangqi")
    text = game_text(record_of(played), "cup", GAME, players=players, detail=detail)
    (game,) = read_games(text, "some.pgn", "xiangqi")
    assert [entry.move for entry in game.moves] == list(LINE[: len(played) + 1])
    found = [entry.figures for entry in game.moves[1:]]
    if detail == "min":
        assert found == [None] * len(played)
        return
    hidden = {} if detail == "full" else {"principal_variation": "", "reported_ms": None}
    for one, entry in zip(found, played, strict=True):
        assert one is not None
        expected = entry._replace(**hidden)
        assert one[:6] == expected[:6]
        assert (one.reported_ms is None) == (expected.reported_ms is None)
        if one.reported_ms is not None:
            assert one.reported_ms == pytest.approx(expected.reported_ms, abs=0.01)
    clocks = [GameClock(player(name, limit)) for name in ("Bob", "Ann")]  # Black moves first after the opening
    for number, entry in enumerate(played):
        left_ms = game.moves[number + 1].time_left_ms
        if detail == "figures" or not clocks[0].runs:
            assert left_ms is None
            continue
        clock = clocks[number % 2]
        try:
            clock.after_move(round(entry.time_ms * 1e6))
        except Exception:  # too late: the game would have ended here
            return
        assert left_ms == pytest.approx(clock.remaining_ns / 1e6, abs=0.51)


def test_a_latency_that_rounds_to_zero_has_no_sign() -> None:
    move = MoveRecord(LINE[1], None, None, None, 5.7, reported_ms=6.0)
    players = played_as([player("Ann", "clock=3/5"), player("Bob", "clock=3/5")], "xiangqi")
    assert "latency=0.000s" in game_text(record_of((move,)), "cup", GAME, players=players)


def test_times_left_over_several_controls() -> None:
    assert times_left_ms(Limits.parse("clock=2/1+0.1"), [400.0, 500.0, 100.0]) == [700.0, 1300.0, 1300.0]
    assert times_left_ms(Limits.parse("nodes=5"), [1.0, 2.0]) == [None, None]


# Other programs' readers


def full_text(game_name: str) -> str:
    """Two games with everything that a file can say, and awkward names."""
    game = game_named(game_name)
    start, line = (GAME.start, LINE) if game is GAME else (OTHELLO.start, ("d3", "c5", "d6", "e3", "f4"))
    players = played_as(
        [player('An "x"', "clock=10+0.1", options=(("Book", "c:\\lines {1}"),)), player("Bob", "depth=3")], game_name
    )
    moves = tuple(
        MoveRecord(move, 31 * number, 12, 1000, 120.0, " ".join(line), 119.0) for number, move in enumerate(line[1:])
    )
    fault = {"fault": {"player": "Bob", "text": "Bob: said {nothing}"}}
    records = [
        record_of(moves, first='An "x"', opening=Opening(start, line[:1], "cannon")),
        record_of(moves, second='An "x"', first="Bob", opening=Opening(start, line[:1], ""), detail=fault),
    ]
    return "\n".join(game_text(record, "cup [1]", game, players=players) for record in records)


def cutechess_tokens(text: str) -> list[tuple[str, str]]:
    """Tokens of a PGN text by the rules of cutechess's ``PgnStream``.

    A tag ends at the first ``]`` outside quotes or at the end of its line, and its value at the first quotation mark:
    the stream knows no escapes. Comments in braces and parentheses nest. Dots and white space separate moves. ``;``
    and ``%`` begin comments to the end of the line, ``$`` a mark of value. A tag after a move begins the next game.
    """
    tokens, place = [], 0
    while place < len(text):
        character = text[place]
        if character in " \t\r\n.":
            place += 1
        elif character == "[":
            end, quoted = place + 1, False
            while text[end] not in "\r\n" and (quoted or text[end] != "]"):
                quoted ^= text[end] == '"'
                end += 1
            name, _, value = text[place + 1 : end].strip().partition(" ")
            tokens.append((f"[{name}", value.strip().removeprefix('"').partition('"')[0]))
            place = end + 1
        elif character in "({":
            level, end = 1, place + 1
            while level:
                level += (text[end] == character) - (text[end] == (")" if character == "(" else "}"))
                end += 1
            tokens.append(("{", text[place + 1 : end - 1]))
            place = end
        else:
            assert character not in ";%$", text[place : place + 20]
            end = place
            while text[end] not in " \t\r\n.":
                end += 1
            tokens.append(("result" if text[place:end] in ("1-0", "0-1", "1/2-1/2", "*") else "move", text[place:end]))
            place = end
    return tokens


@pytest.mark.parametrize("game", ["xiangqi", "othello"])
def test_cutechess_reads_the_form(game: str) -> None:
    text = full_text(game)
    tokens = cutechess_tokens(text)
    assert sum(kind == "result" for kind, _ in tokens) == 2
    moves = [value for kind, value in tokens if kind == "move" and not value.isdigit()]
    plies = len(LINE) if game == "xiangqi" else 5
    assert len(moves) == 2 * plies
    tags = dict([(kind[1:], value) for kind, value in tokens if kind.startswith("[")][:22])
    first, second = game_named(game).side_names
    assert tags["Event"] == "cup [1]"
    assert tags[f"{first}TimeControl" if first != "Black" else "BlackTimeControl"]
    assert tags[second]
    comments = [value for kind, value in tokens if kind == "{"]
    assert len(comments) == 2 * plies  # one a move after the opening, and the ending
    assert max(map(len, text.splitlines())) <= 80 + len(max(comments, key=len))


@pytest.mark.parametrize("game", ["xiangqi", "othello"])
def test_python_chess_reads_tags_and_separates_games(game: str) -> None:
    pgn = pytest.importorskip("chess.pgn")
    text = full_text(game)
    stream = io.StringIO(text)
    for own in read_games(text, "some.pgn", game):
        found = pgn.read_headers(stream)
        # It leaves the escapes of quotation marks in the values.
        unescaped = {name: re.sub(r'\\(["\\])', r"\1", value) for name, value in found.items()}
        assert dict(own.tags).items() <= unescaped.items()
    assert pgn.read_headers(stream) is None
    stream.seek(0)
    assert [pgn.skip_game(stream) for _ in range(3)] == [True, True, False]


@pytest.mark.integration
def test_pyffish_plays_the_moves(tmp_path: Path) -> None:
    pyffish = pytest.importorskip("pyffish")
    play(write_spec(tmp_path, players=2, pairs=1), tmp_path / "run")
    with Store(tmp_path / "run", read_only=True) as store:
        spec = load_tournament(tmp_path / "cup.toml")
        export(spec, store, directory=tmp_path)
        builds = builds_by_player(store, spec.players)
    text = (tmp_path / "games.pgn").read_text()
    for record, game in zip(records_in(tmp_path / "run"), read_games(text, "games.pgn", "xiangqi"), strict=True):
        words = re.findall(r"\b[A-I]\d-[A-I]\d\b", game_text(record, "cup", GAME, detail="min"))
        moves = [f"{a}{int(b) + 1}{c}{int(d) + 1}" for a, b, c, d in (re.sub("-", "", word).lower() for word in words)]
        assert len(moves) == len(game.moves)
        final = pyffish.get_fen("xiangqi", game.start, moves)
        assert final.split()[0] == GAME.position(game.start, [entry.move for entry in game.moves]).text.split()[0]
        assert game.tag("RedBuild") == builds[record.first] == f"elolab {record.engine_identity}"
