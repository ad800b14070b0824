"""Matches of two players and sequential tests: the same verdict however games arrive, resumed after any stop."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
import random
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elolab import command_line
from elolab.arena.play.scores import MatchScore
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.play.tournament_run import result_of
from elolab.arena.records import GameRecord, Opening, Outcome, Pairing
from elolab.arena.schedule import format_of, games_that_count, sequential_run
from elolab.arena.sequential import SequentialRun, SequentialSettings
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.match_statistics import figure_lines, figures_of, verdict_sentence
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.arena.watching.snapshot import RunFollower
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue

pytestmark = pytest.mark.usefixtures("without_charts")

ROOT = Path(__file__).parents[3]
SETTINGS = SequentialSettings(0, 60, batch_pairs=4)
STRONG_AGAINST_WEAK = (
    "default", "material", "--elo0", "0", "--elo1", "100", "--limit", "nodes=60", "--batch-pairs", "4"
)  # fmt: skip


def outcomes_of(scores: list[tuple[float, float]]) -> list[Outcome]:
    """Games in schedule order from player 1's points in both games of each pair."""
    games = []
    for pair, (as_first, as_second) in enumerate(scores):
        games.append(Outcome(f"{pair}a", Pairing(2 * pair, pair, 0, 1, pair), as_first))
        games.append(Outcome(f"{pair}b", Pairing(2 * pair + 1, pair, 1, 0, pair), 1 - as_second))
    return games


def random_games(pairs: int, share: float, number: int) -> list[Outcome]:
    chance = random.Random(number)
    draw = lambda: chance.choices((1.0, 0.5, 0.0), (share, 0.3, 0.7 - share))[0]  # noqa: E731
    return outcomes_of([(draw(), draw()) for _ in range(pairs)])


# The test over a match


@pytest.mark.integration
@settings(max_examples=10)
@given(st.sampled_from((0.2, 0.35, 0.5)), st.integers(0, 20), st.integers(1, 40))
def test_the_order_of_arrival_changes_nothing(share: float, number: int, window: int) -> None:
    """Games end a little earlier or later, as they do when many are played at a time."""
    games = random_games(120, share, number)
    chance = random.Random(number)
    shuffled = sorted(games, key=lambda game: game.pairing.number + chance.random() * window)
    ordered = SequentialRun.over(SETTINGS, 120, games)
    late = SequentialRun.over(SETTINGS, 120, shuffled)
    assert (late.stopped_after, late.counts, late.verdict) == (ordered.stopped_after, ordered.counts, ordered.verdict)


def test_it_stops_at_the_first_batch_whose_ratio_is_beyond_a_bound() -> None:
    games = random_games(120, 0.6, 1)
    run = SequentialRun.over(SETTINGS, 120, games)
    assert run.verdict == "H1 accepted"
    assert run.stopped_after is not None
    analyses = []
    for pairs in range(4, 121, 4):
        scores = [(games[2 * k].score, 1 - games[2 * k + 1].score) for k in range(pairs)]  # type: ignore[operator]
        analyses.append((pairs, SETTINGS.test(Pentanomial.from_pairs(scores)).verdict))  # type: ignore[arg-type]
    first = next(pairs for pairs, verdict in analyses if verdict != "undecided")
    assert run.stopped_after == 2 * first
    assert run.counts.pairs == first
    assert SequentialRun.over(SETTINGS, 120, games[: 2 * first - 1]).verdict == "undecided"


def test_a_missing_game_holds_the_verdict_back() -> None:
    games = random_games(60, 0.6, 1)
    run = SequentialRun.over(SETTINGS, 60, games[:3] + games[4:])
    assert (run.games_seen, run.verdict) == (2, "undecided")
    run.add(games[3])
    assert run.is_decided
    with pytest.raises(ValueError, match="ended twice"):
        run.add(games[3])


def test_the_last_pair_has_an_interim_analysis_too_and_games_without_result_make_no_pair() -> None:
    games = outcomes_of([(1.0, 1.0)] * 9 + [(1.0, 0.5)] * 9)
    decided = next(
        pairs for pairs in range(1, 19)
        if SequentialSettings(0, 100, batch_pairs=1).test(Pentanomial.from_pairs([(1, 1)] * min(9, pairs) + [(1, 0.5)]
        * (pairs - 9))).verdict != "undecided"
    )  # fmt: skip
    rare = SequentialSettings(0, 100, batch_pairs=100)
    assert SequentialRun.over(rare, decided, games[: 2 * decided]).verdict == "H1 accepted"
    assert SequentialRun.over(rare, 18, games[: 2 * decided]).verdict == "undecided"
    unfinished = [Outcome("x", games[0].pairing, None), *games[1:]]
    run = SequentialRun.over(SequentialSettings(0, 1), 18, unfinished)
    assert (run.games_seen, run.counts.pairs) == (36, 17)


def test_interim_analyses_come_by_the_schedule_though_a_game_had_no_result() -> None:
    """The fourth pair of the schedule is the third that counts: it is not the fifth that is waited for."""
    games = outcomes_of([(1.0, 1.0)] * 3 + [(1.0, 0.5)] * 9)
    games[0] = Outcome("x", games[0].pairing, None)
    run = SequentialRun.over(SequentialSettings(0, 200, alpha=0.4, beta=0.4, batch_pairs=4), 12, games)
    assert (run.stopped_after, run.counts.counts) == (8, (0, 0, 0, 1, 2))


def test_the_final_analysis_of_a_test_made_shorter_is_where_it_was() -> None:
    """Twelve pairs were there before it was to have ten: these are all looked at once, after the twelfth."""
    spec = replace(specification(pairs=10), sprt=SequentialSettings(0, 5, batch_pairs=100))
    run = sequential_run(spec, random_games(12, 0.4, 1))
    assert run is not None
    assert (run.pairs, run.counts.pairs, games_that_count(spec, random_games(12, 0.4, 1))) == (12, 12, 24)


def test_a_game_forfeited_beyond_the_end_of_a_test_is_not_one_of_it(tmp_path: Path) -> None:
    spec = replace(specification(pairs=20), sprt=SequentialSettings(0, 200, alpha=0.4, beta=0.4, batch_pairs=4))
    names = [player.name for player in spec.players]
    with Store(tmp_path) as store:
        for outcome in outcomes_of([(1.0, 1.0)] * 6):
            place = outcome.pairing
            store.add(GameRecord(
                outcome.key, place, names[place.first], names[place.second], Opening("-", (), ""), (),
                "1-0" if place.first == 0 else "0-1", "time_forfeit" if place.number in (3, 9) else "checkmate", "0",
            ))  # fmt: skip
        result = result_of(spec, store)
    assert (result.planned, result.stored, result.forfeits) == (8, 8, 1)


def test_a_test_of_non_regression_claims_no_superiority() -> None:
    test = SequentialRun.over(SequentialSettings(-200, -20, batch_pairs=4), 100, random_games(100, 0.33, 1))
    assert test.verdict == "H1 accepted"
    said = {name: verdict_sentence(test, "A", "B", Catalogue("elolab.arena", name)) for name in ("en", "zh")}
    assert "of A against B: the games support a gain of −20 normalized Elo rather than −200" in said["en"]
    assert "A 对 B 的优势更符合 −20 归一化 Elo，而不是 −200" in said["zh"]
    assert not any(claim in text for text in said.values() for claim in ("stronger", "强于"))


def test_the_figures_of_a_test_have_true_minus_signs() -> None:
    test = SequentialRun.over(SequentialSettings(-5, 5, batch_pairs=4), 100, random_games(40, 0.1, 1))
    lines = figure_lines(figures_of(test.counts, test.settings))
    score = MatchScore("one", random_games(40, 0.1, 1), test=lambda score: test.state)
    assert re.fullmatch(r"LLR −\d\.\d\d \[−2\.94, \+2\.94\]", score.parts()[-1].texts[0])
    assert any("bounds [−2.944, +2.944]" in line for line in lines)
    assert any("H0: −5, H1: 5 " in line for line in lines)
    assert not [line for line in lines if re.search(r"(?<!\w)-\d", line)]


# The specification


def specification(**changes: Any) -> TournamentSpec:
    players = [{"name": "one"}, {"name": "two", "set": {"tempo": 1}}]
    return spec_from_mapping({"format": "sprt", "limit": "nodes=100", "players": players, **changes}, "test.toml")


def test_a_specification_of_a_test() -> None:
    spec = specification(pairs=30, sprt={"elo1": 10.0, "model": "logistic"}, anchors={"two": 100})
    assert spec.sprt == SequentialSettings(0, 10, model="logistic")
    assert spec.anchors == (("two", 100.0),)
    assert specification().pairs == 0
    assert TournamentSpec.from_content(json.loads(json.dumps(spec.content()))) == spec
    pairings = list(format_of(spec).pairings(spec, range(30), []))
    assert [(game.number, game.pair, game.first) for game in pairings[:3]] == [(0, 0, 0), (1, 0, 1), (2, 1, 0)]
    assert games_that_count(spec, []) == 60
    won = outcomes_of([(1.0, 1.0), (1.0, 0.5)] * 15)
    assert games_that_count(specification(pairs=30, sprt={"elo1": 100.0}), won) < 60


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sprt": {"elo0": 5, "elo1": 5}}, r"test.toml: \[sprt\]: elo1 = 5, expected elo0 \(5\) below elo1 \(5\)"),
        ({"sprt": {"elo1": 1e-300}}, r"elo1 = 1e-300, expected elo0 \(0\) below elo1 \(1e-300\), by 0.001 or more"),
        ({"sprt": {"elo1": 500}}, r"elo1 = 500, expected a number from -200 to 200 Elo"),
        ({"sprt": {"alpha": 0.5}}, r"\[sprt\]: alpha = 0.5, expected a number"),
        ({"sprt": {"modle": "logistic"}}, r"unknown key 'modle' \(did you mean 'model'"),
        ({"format": "match", "pairs": 3, "sprt": {}}, r'sprt = \{\}, expected none without format = "sprt"'),
        ({"rounds": 2}, r"rounds = 2, expected none with format = 'sprt'; give more pairs"),
        ({"players": [{"name": str(n)} for n in range(3)]}, r"format = 'sprt', expected 'round_robin' for 3 players"),
        ({"anchors": {"on": 3}}, r"\[anchors\]: unknown key 'on' \(did you mean 'one'"),
        ({"anchors": {"one": "x"}}, r"\[anchors\]: one = 'x', expected a number from -10000 to 10000 Elo"),
        ({"format": "match"}, r"pairs is missing"),
    ],
)
def test_wrong_specifications(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        specification(**changes)


# The commands


def played(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    code = command_line.main([*map(str, words), "--json"])
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, data


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a test in which H1 was accepted, six games at a time, so that some lie beyond its end."""
    for _ in range(5):  # on a busy machine all games may have ended before the next ones began
        out = tmp_path_factory.mktemp("accepted") / "out"
        assert command_line.main(["sprt", *STRONG_AGAINST_WEAK, "--out", str(out), "--concurrency", "6"]) == 0
        if '[Counted "no"]' in (out / "games.pgn").read_text():
            break
    return out


@pytest.mark.integration
def test_the_verdict_is_the_same_at_any_concurrency(
    accepted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, alone = played(capsys, "sprt", *STRONG_AGAINST_WEAK, "--out", tmp_path / "out", "--concurrency", 1)
    assert (code, alone["verdict"]) == (0, "H1 accepted")
    code, six = played(capsys, "report", accepted)
    assert code == 0
    for key in ("verdict", "llr", "pentanomial", "games_digest", "planned", "stored", "unbiased_elo", "elo"):
        assert six[key] == alone[key]
    assert alone["llr"] >= alone["upper_bound"]
    assert sum(alone["pentanomial"]) * 2 == alone["planned"]
    assert alone["planned"] % 8 == 0


@pytest.mark.integration
def test_games_beyond_the_end_are_kept_and_marked(accepted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = played(capsys, "report", accepted)
    rows = list(csv.DictReader((accepted / "games.csv").open()))
    assert [row["counted"] for row in rows[: data["planned"]]] == ["yes"] * data["planned"]
    beyond = rows[data["planned"] :]
    assert beyond
    assert {row["counted"] for row in beyond} == {"no"}
    assert (accepted / "games.pgn").read_text().count('[Counted "no"]') == len(beyond)
    assert sum(row["games"] for row in data["standings"]) == 2 * data["planned"]
    assert command_line.main(["stats", "--pgn", str(accepted / "games.pgn"), "--player", "default", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["pentanomial"], figures["uncounted_games"]) == (data["pentanomial"], len(beyond))
    progress = RunFollower(accepted).read()["progress"]
    assert (progress["all_done"], progress["all_planned"]) == (data["planned"], data["planned"])


@pytest.mark.integration
def test_again_plays_nothing_and_says_the_same(accepted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (accepted / "games.csv").read_text()
    assert command_line.main(["sprt", *STRONG_AGAINST_WEAK, "--out", str(accepted), "--concurrency", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("H1 accepted after ") for line in lines)
    assert lines[-2].startswith("games digest: ")
    assert (accepted / "games.csv").read_text() == before
    assert json.loads((accepted / "live.json").read_text())["sequential_test"]["verdict"] == "H1 accepted"


@pytest.mark.integration
def test_h0_accepted_and_undecided_are_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weak = ("material", "default", *STRONG_AGAINST_WEAK[2:], "--concurrency", 2)
    code, data = played(capsys, "sprt", *weak, "--out", tmp_path / "weak")
    assert (code, data["verdict"]) == (3, "H0 accepted")
    few = ("sprt", *STRONG_AGAINST_WEAK, "--pairs", 10, "--out", tmp_path / "few")
    code, data = played(capsys, *few)
    assert (code, data["verdict"], data["planned"], data["stored"]) == (3, "undecided", 20, 20)
    assert command_line.main([*map(str, few)]) == 3
    shown = " ".join(capsys.readouterr().out.split())
    needed = math.ceil(10 * data["upper_bound"] / data["llr"])
    assert "Undecided after 10 of at most 10 pairs" in shown
    assert (
        f"the test accepts H1 after about {needed} pairs in total: give --pairs {needed} (in a file, pairs = {needed})."
        in shown
    )
    code, data = played(capsys, *few[:-4], "--pairs", 11, "--out", tmp_path / "few")
    assert (data["verdict"], data["stored"]) == ("undecided", 22)
    last = ("sprt", "default", "material", "--limit", "nodes=300", "--batch-pairs", 50, "--out", tmp_path / "last")
    code, data = played(capsys, *last, "--elo0", -200, "--elo1", -100, "--pairs", 12)
    assert data["verdict"] == "H1 accepted", "at the final analysis, which is no multiple of the batch"
    assert command_line.main([*map(str, last), "--elo0", "-200", "--elo1", "-100", "--pairs", "40"]) == 2
    assert "ended with H1 accepted after 12 pairs and cannot be extended to 40" in capsys.readouterr().err
    assert command_line.main([*map(str, few), "--alpha", "0.1"]) == 2
    assert "alpha = 0.05 there, 0.1 in sprt" in capsys.readouterr().err


@pytest.mark.integration
def test_a_match_is_played_and_extended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("match", "default", "default", "--limit", "nodes=60", "--out", tmp_path / "out", "--game", "othello")
    code, data = played(capsys, *words, "--pairs", 2)
    assert (code, data["stored"], data["pairs"], data["llr"]) == (0, 4, 2, None)
    assert {row["player"] for row in data["standings"]} == {"default", "default (2)"}
    assert data["pentanomial"] == [0, 0, 2, 0, 0]
    code, data = played(capsys, *words, "--pairs", 3, "--anchor", "default=1500")
    assert (data["stored"], {row["rating"] for row in data["standings"]}) == (6, {1500.0})
    assert command_line.main(["report", str(tmp_path / "out")]) == 0
    assert "Elo, with default = 1500 fixed" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "elolab match default default --limit nodes=60 --out" in page
    assert "--pairs 3 --anchor default=1500" in page


@pytest.mark.integration
def test_a_test_from_a_file_is_the_same_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "test.toml"
    path.write_text(
        'format = "sprt"\npairs = 10\nlimit = "nodes=60"\n[sprt]\nelo1 = 100\n[[players]]\npreset = "default"\n'
        '[[players]]\npreset = "material"\n'
    )
    code, from_file = played(capsys, "tournament", path, "--out", tmp_path / "file")
    few = ("default", "material", "--elo1", 100, "--limit", "nodes=60", "--pairs", 10, "--out", tmp_path / "command")
    assert (code, from_file["verdict"], from_file["planned"]) == (3, "undecided", 20)
    assert played(capsys, "sprt", *few)[1]["games_digest"] == from_file["games_digest"]


@pytest.mark.integration
def test_players_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = tmp_path / "processes"
    mock = [sys.executable, "-I", "-S", str(ROOT / "tests/support/mock_engines.py"), "normal", f"file={numbers}"]
    (tmp_path / "settings.toml").write_text("NullMove = false\nHash = 1\n")
    (tmp_path / "preset.toml").write_text('description = "mine"\n[xiangqi]\nnull_move = false\n')
    (tmp_path / "player.toml").write_text('name = "short"\npreset = "preset"\nset = { tempo = 3 }\nlimit = "depth=1"\n')
    (tmp_path / "mock.toml").write_text(f'protocol = "uci"\ncommand = {json.dumps(mock)}\nlimit = "nodes=30"\n')
    for one, other in (("settings", "preset"), ("player", "mock")):
        files = [tmp_path / f"{name}.toml" for name in (one, other)]
        out = tmp_path / one
        code, data = played(capsys, "match", *files, "--pairs", 1, "--limit", "nodes=30", "--out", out)
        # The mock engine knows but two moves, neither of which is legal after the opening.
        assert (code, data["stored"], bool(data["faults"])) == ((1, 2, True) if other == "mock" else (0, 2, False))
    assert {row["player"] for row in data["standings"]} == {"short", "mock"}
    assert numbers.is_file()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("null_mvoe = false", "player.toml (player): unknown parameter 'null_mvoe'"),
        ('name = "x"\nprset = "fenon"', "player.toml (x): unknown key 'prset'"),
        ('name = "x"\npreset = "fenno"', "no engine preset 'fenno' (did you mean 'fenon'"),
        ("[othello]\n", "no section [xiangqi]"),
        ("x = [", "player.toml: not valid TOML"),
    ],
)
def test_wrong_files_are_named_in_one_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "player.toml"
    path.write_text(text)
    assert command_line.main(["sprt", str(path), "default", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--elo0", "5"], "--elo0 5 --elo1 5: the second hypothesis must be above"),
        (["--elo0", "4.99999"], "--elo1 5: the second hypothesis must be above the first, by 0.001 or more"),
        (["--pairs", "40000"], "pairs = 40000 needs 40000 different openings"),
        (["--anchor", "defualt=3"], "no such player (did you mean 'default'?)"),
        (["--anchor", "default"], "'default' is not a player's name, '=' and a number"),
    ],
)
def test_wrong_arguments(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["sprt", "default", "fenon", *words, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.integration
def test_a_test_whose_player_cannot_start_is_refused_and_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "absent.toml").write_text('protocol = "uci"\ncommand = "no-such-engine"\nlimit = "nodes=9"\n')
    words = ("sprt", "default", tmp_path / "absent.toml", "--pairs", 200, "--out", tmp_path / "out", "--json")
    assert command_line.main(list(map(str, words))) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "player 'absent' could not be started" in said.err
    assert "no-such-engine" in said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.integration
@pytest.mark.parametrize("command", ["match", "sprt"])
def test_an_option_that_an_engine_does_not_have_is_wrong_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """As for commands that tune; with others that play on, only its own games are left unplayed."""
    mock = json.dumps([sys.executable, "-I", "-S", str(ROOT / "tests/support/mock_engines.py"), "normal"])
    (tmp_path / "mock.toml").write_text(
        f'protocol = "uci"\ncommand = {mock}\nlimit = "nodes=9"\noptions = {{ Hsah = 1 }}\n'
    )
    words = (command, "default", tmp_path / "mock.toml", "--pairs", 200, "--out", tmp_path / "out")
    assert command_line.main(list(map(str, words))) == 2
    assert "the engine has no option 'Hsah'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.integration
def test_a_dry_run_says_at_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sprt", "default", "fenon", "--pairs", "200", "--dry-run", "--out", str(tmp_path / "out")]
    assert command_line.main(words) == 0
    shown = capsys.readouterr().out
    assert "at most 400 games" in shown
    assert re.search(r"time: at most about \d", shown)
    assert "Warning: 200 pairs are few" in shown
    assert "give --pairs 732" in shown
    assert command_line.main([*words, "--json"]) == 0
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    (reach,) = stage["reach"]
    assert (reach["least_pairs"], reach["target_pairs"], reach["is_possible"]) == (147, 732, True)


def test_a_test_that_could_accept_nothing_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (["--dry-run"], []):
        words = ["sprt", "default", "fenon", "--pairs", "146", "--out", str(tmp_path / "out"), *more]
        assert command_line.main(words) == 2
        error = capsys.readouterr().err
        assert (
            "146 pairs are too few for the test to accept a gain, even if one side wins all of them; "
            "it needs at least 147." in error
        )
        assert "give --pairs 732" in error
        assert not (tmp_path / "out").exists()


# Sudden ends


def stored_games(out: Path) -> int:
    try:
        with sqlite3.connect(f"{(out / STORE_NAME).as_uri()}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.integration
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_stopped_and_resumed_it_comes_to_the_same_verdict(
    signal_number: int, accepted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["sprt", *STRONG_AGAINST_WEAK, "--out", str(out), "--concurrency", "2"]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "elolab"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while stored_games(out) < 6 and process.poll() is None:
        time.sleep(0.002)
    os.kill(process.pid, signal_number)
    _, errors = process.communicate(timeout=60)
    if signal_number == signal.SIGINT:
        assert process.returncode == 130
        assert f"to resume: {shlex.join(('elolab', *words))}\n" in errors, "the command line as given"
    code, resumed = played(capsys, *words)
    assert code == 0
    _, straight = played(capsys, "report", accepted)
    assert (resumed["games_digest"], resumed["llr"]) == (straight["games_digest"], straight["llr"])


def test_a_copy_of_the_games_is_renewed_after_a_stop_and_when_more_are_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy.pgn.gz"
    words = ["match", "default", "default", "--limit", "nodes=5", "--maxmoves", "1", "--out", str(out)]
    words += ["--pgnout", str(copy)]
    assert command_line.main([*words, "--pairs", "1"]) == 0
    games = (out / "games.pgn").read_bytes()
    assert gzip.decompress(copy.read_bytes()) == games
    (out / "games.pgn").write_bytes(games + b"\n")  # as when a kill came before it was copied
    assert command_line.main([*words, "--pairs", "2"]) == 0
    assert gzip.decompress(copy.read_bytes()) == (out / "games.pgn").read_bytes()
    assert (out / "games.pgn").read_bytes().count(b"[Result ") == 4
    capsys.readouterr()
    copy.write_bytes(gzip.compress(b"mine"))
    assert command_line.main([*words, "--pairs", "2"]) == 2
    assert "the file holds other games" in capsys.readouterr().err
    assert gzip.decompress(copy.read_bytes()) == b"mine"


@pytest.mark.parametrize(("language", "words"), [
    ("en", "Undecided after 100 of at most 120 pairs: the test has accepted neither hypothesis. These pairs are "
           "too few to decide between gains of 5 and 0 normalized Elo, even if the measured Elo is large."),
    ("zh", "无论测得的 Elo 多大，这些对局对还分不清优势是 5 归一化 Elo 还是 0。"),
])  # fmt: skip
def test_why_a_clear_match_is_undecided_is_told(language: str, words: str) -> None:
    """A hundred pairs, all of them won, do not decide between hypotheses that lie so close."""
    settings = SequentialSettings(elo0=0.0, elo1=5.0)
    run = SequentialRun.over(settings, 120, outcomes_of([(1.0, 1.0)] * 100))
    assert run.counts.counts == (0, 0, 0, 0, 100)
    assert words in verdict_sentence(run, "a", "b", Catalogue("elolab.arena", language))
