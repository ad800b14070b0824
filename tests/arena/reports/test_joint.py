"""Ratings over several runs: who is the same player, which games are the same, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.arena.reports.joint import Joint, JointError, export, join
from elolab.arena.statistics.standings import Tables, tables_of
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.cli.report import report_folder
from elolab.engine.errors import UserError

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"


def specification(names: Sequence[str], **changes: Any) -> TournamentSpec:
    players = [{"name": name, "set": {"tempo": len(name)}} for name in names]
    return spec_from_mapping({"pairs": 9, "limit": "nodes=100", "players": players, **changes}, "made up.toml")


def run(folder: Path, spec: TournamentSpec, results: Sequence[tuple[str, str, int, str]], salt: int = 0) -> str:
    """A folder with the games given as (first, second, pair, result); ``salt`` tells otherwise equal games apart."""
    places = {player.name: place for place, player in enumerate(spec.players)}
    with Store(folder) as store:
        store.record_metadata({"specification": spec.content(), "engine_identity": "one"})
        for number, (first, second, pair, result) in enumerate(results):
            store.add(
                GameRecord(
                    f"{number:032x}", Pairing(number, pair, places[first], places[second], pair), first, second,
                    Opening(START, (), f"opening {pair}"), (MoveRecord("h2e2", 10 * pair, 3, 100 + salt, 1.0),), result,
                    "checkmate", "0123456789ab",
                )
            )  # fmt: skip
    return str(folder)


def tables(joint: Joint) -> Tables:
    names = [player.name for player in joint.spec.players]
    return tables_of(joint.spec.game, names, joint.records, dict(joint.spec.anchors))


AB = [("a", "bb", 0, "1-0"), ("bb", "a", 0, "1/2-1/2"), ("a", "bb", 1, "1-0"), ("bb", "a", 1, "1-0")]
BC = [("bb", "ccc", 0, "1-0"), ("ccc", "bb", 0, "0-1"), ("bb", "ccc", 1, "0-1"), ("ccc", "bb", 1, "0-1")]


def test_players_who_never_met_are_rated_through_a_third(tmp_path: Path) -> None:
    one = run(tmp_path / "one", specification(("a", "bb")), AB)
    two = run(tmp_path / "two", specification(("bb", "ccc")), BC)
    joint = join([one, two])
    found = tables(joint)
    assert found.counter.players == ("a", "bb", "ccc")
    assert (found.counter.games, found.counter.complete_pairs) == (8, 4)
    assert len(found.ratings.groups) == 1
    assert [row.player for row in found.standings] == ["a", "bb", "ccc"]
    assert found.counter.between(0, 1).pentanomial().counts == (0, 0, 1, 1, 0)
    assert found.counter.between(1, 2).pentanomial().counts == (0, 0, 1, 0, 1)
    assert [record.pairing.number for record in joint.records] == list(range(8))
    assert joint.notes == ()
    reversed_order = tables(join([two, one]))
    assert reversed_order.ratings.difference(2, 1) == pytest.approx(found.ratings.difference(0, 2))


def test_one_name_with_two_configurations_is_two_players(tmp_path: Path) -> None:
    one = run(tmp_path / "one", specification(("a", "bb")), AB)
    two = run(tmp_path / "two", specification(("a", "bb"), limit="nodes=200"), AB, salt=1)
    joint = join([one, two])
    assert [player.name for player in joint.spec.players] == [
        f"{name} ({folder})" for name in ("a", "bb") for folder in (one, two)
    ]
    told = f"a stands for 2 players, because the configurations differ: limits = 'nodes=100' in {one}"
    assert told in joint.notes_in("en")[0]
    assert len(tables(joint).ratings.groups) == 2


def renamed(names: Sequence[str], settings: Sequence[int]) -> TournamentSpec:
    players = [{"name": name, "set": {"tempo": tempo}} for name, tempo in zip(names, settings, strict=True)]
    return spec_from_mapping({"pairs": 9, "limit": "nodes=100", "players": players}, "made up.toml")


def test_one_player_under_two_names_is_one(tmp_path: Path) -> None:
    one = run(tmp_path / "one", renamed(("a", "bb"), (1, 2)), AB)
    two = run(tmp_path / "two", renamed(("bb", "ccc"), (1, 3)), BC, salt=1)  # bb is the a of before
    joint = join([one, two], [("a", 2000.0)])
    found = tables(joint)
    assert set(found.counter.players) == {"a = bb", "bb", "ccc"}
    assert found.anchors == {"a = bb": 2000.0}
    counts = {(row.player, row.opponent): row.games for row in found.head_to_heads}
    assert counts["a = bb", "bb"] == counts["a = bb", "ccc"] == 4
    notes = " ".join(joint.notes_in("en"))
    assert "a = bb are counted as one player, because" in notes
    assert "bb stands for 2 players, because the configurations differ: parameters.tempo = 1 in" in notes
    # The same games under other names are the same games.
    again = run(tmp_path / "again", renamed(("x", "y"), (1, 2)), [("x", "y", 0, "1-0"), ("y", "x", 0, "1/2-1/2")])
    twice = join([one, again])
    assert (tables(twice).counter.players, len(twice.records)) == (("a = x", "bb = y"), 4)


def test_two_players_of_one_run_stay_two_though_their_settings_are_the_same(tmp_path: Path) -> None:
    one = run(tmp_path / "one", renamed(("a", "bb"), (1, 1)), AB)
    two = run(tmp_path / "two", renamed(("bb", "ccc"), (1, 3)), BC)
    found = tables(join([one, two]))
    assert found.counter.players == ("a", "bb", "ccc")
    assert found.counter.games == 8


def test_a_game_in_two_folders_counts_once_and_another_run_of_the_players_twice(tmp_path: Path) -> None:
    one = run(tmp_path / "one", specification(("a", "bb")), AB)
    longer = run(tmp_path / "longer", specification(("a", "bb")), [*AB, ("a", "bb", 2, "1-0"), ("bb", "a", 2, "0-1")])
    joint = join([one, longer])
    assert len(joint.records) == 6
    assert joint.notes_in("en") == ("4 games are in more than one folder and count once.",)
    assert tables(joint).counter.complete_pairs == 3
    on_a_clock = run(tmp_path / "again", specification(("a", "bb")), AB, salt=1)
    assert tables(join([one, on_a_clock])).counter.complete_pairs == 4


def test_games_beyond_the_end_of_a_test_do_not_count(tmp_path: Path) -> None:
    won = [game for pair in range(40) for game in (("a", "bb", pair, "1-0"), ("bb", "a", pair, "1/2-1/2"))]
    test = {"elo1": 150.0, "batch_pairs": 1}
    one = run(tmp_path / "one", specification(("a", "bb"), pairs=40, format="sprt", sprt=test), won)
    two = run(tmp_path / "two", specification(("bb", "ccc")), BC)
    counted = len(join([one, two]).records) - len(BC)
    assert 0 < counted < len(won)


def test_anchors_of_the_runs_and_of_the_command(tmp_path: Path) -> None:
    one = run(tmp_path / "one", specification(("a", "bb"), anchors={"bb": 1500}), AB)
    two = run(tmp_path / "two", specification(("bb", "ccc"), anchors={"bb": 1500, "ccc": 1200}), BC)
    assert join([one, two]).spec.anchors == (("bb", 1500.0), ("ccc", 1200.0))
    assert join([one, two], [("a", 10.0), ("bb", 20.0)]).spec.anchors == (("a", 10.0), ("bb", 20.0), ("ccc", 1200.0))
    other = run(tmp_path / "other", specification(("bb", "ccc"), anchors={"bb": 1600}), BC)
    with pytest.raises(JointError, match=r"other: anchor bb = 1600, but .*one has 1500"):
        join([one, other])
    assert join([one, other], [("bb", 1550.0)]).spec.anchors == (("bb", 1550.0),)


def test_an_anchor_means_one_player(tmp_path: Path) -> None:
    """As it once was not: of two players of that name it was the last run's."""
    one = run(tmp_path / "one", specification(("a", "bb")), AB)
    two = run(tmp_path / "two", specification(("bb", "ccc"), limit="nodes=300"), BC)
    with pytest.raises(JointError, match=r"--anchor bb: several players .* have this name: bb \(.*one\), bb \(.*two\)"):
        join([one, two], [("bb", 20.0)])
    assert join([one, two], [(f"bb ({two})", 20.0)]).spec.anchors == ((f"bb ({two})", 20.0),)


@pytest.mark.integration
def test_the_command_writes_a_report_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = run(tmp_path / "one", specification(("a", "bb")), AB)
    two = run(tmp_path / "two", specification(("bb", "ccc"), limit="nodes=300"), BC)
    out = tmp_path / "out"
    assert command_line.main(["report", one, two, "--out", str(out), "--anchor", "a=2000", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["folders"] == [one, two]
    assert len(data["notes"]) == 1
    assert {row["player"]: row["games"] for row in data["standings"]}["ccc"] == 4
    fit = data["fit"]
    assert (fit["players"][0], fit["elo"][0], fit["anchors"]) == ("a", 2000, {"a": 2000})
    assert len(fit["covariance"]) == len(fit["los"]) == 4
    assert fit["covariance"][0][3] is None
    page = (out / "report.html").read_text("utf-8")
    for said in ("Likelihood of superiority", f"elolab report {one} {two} --anchor a=2000", "format round robin"):
        assert said in page
    for name in ("games.pgn", "games.csv", "standings.csv", "superiority.csv", "report.md"):
        assert (out / name).is_file()
    assert (out / "games.csv").read_text().count("\n") == 9


def test_what_cannot_be_joined_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = run(tmp_path / "one", specification(("a", "bb")), AB)
    othello = spec_from_mapping(
        {"game": "othello", "pairs": 1, "limit": "nodes=9", "players": [{"name": "a"}, {"name": "b"}]}, "x.toml"
    )
    other = run(tmp_path / "othello", othello, [])
    for words, said in (
        ([one, other], "game = 'othello', but"),
        ([one, one], "the same folder as"),
        ([one, str(tmp_path / "none")], "no games in it"),
        ([one, "--anchor", "c=1"], "no such player"),
    ):
        assert command_line.main(["report", *words]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
    two = run(tmp_path / "two", specification(("bb", "ccc")), BC)
    with pytest.raises(UserError, match="already holds a run"):
        export(join([one, two]), tmp_path / "one")
    (tmp_path / "file").touch()
    for runs, out in (([one], "file"), ([one, two], "file"), ([one], "file/below")):
        assert command_line.main(["report", *runs, "--out", str(tmp_path / out)]) == 2
        error = capsys.readouterr().err
        assert f"{tmp_path / out}: cannot make the folder: a file " in error
        assert error.endswith("is in the way; give another one with --out\n")


def test_the_same_game_twice_in_one_folder_is_two_games_however_often_it_comes_again(tmp_path: Path) -> None:
    """Reproducible players play an opening that comes twice alike; only another folder's games are copies."""
    twice = [*AB[:2], *AB[:2]]
    one = run(tmp_path / "one", specification(("a", "bb")), twice)
    other = run(tmp_path / "other", specification(("a", "bb")), twice)
    third = run(tmp_path / "third", specification(("bb", "ccc")), BC)
    joint = join([one, other, third])
    assert [(record.first, record.result) for record in joint.records[:4]] == [("a", "1-0"), ("bb", "1/2-1/2")] * 2
    assert len(joint.records) == 4 + len(BC)
    assert joint.notes_in("en") == ("4 games are in more than one folder and count once.",)


def test_a_loop_of_links_is_no_place_for_a_report(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    for out in (one, one / "report"):
        with pytest.raises(UserError, match="cannot make the folder: a file"):
            report_folder(tmp_path, str(out))
    with pytest.raises(UserError):
        join([str(one), str(other)])
