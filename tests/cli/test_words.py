"""Tournaments described by words: what the words of cutechess-cli and fastchess mean here, and that they are kept."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.play.tournament_run import run
from elolab.arena.players.detect import DetectionError, ProtocolFinder
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.cli.shared import match_options as words_of_tournament
from elolab.cli.shared.match_conditions import pgn_words
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.settings.configuration import available_configs

SUPPORT = Path(__file__).parents[1] / "support"
END = "nodes-1000-seed-1"
"""Of folders, where neither limit nor seed is given."""
MOCK = (sys.executable, "-I", "-S", str(SUPPORT / "mock_engines.py"), "normal")


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder has a program ``mine`` that speaks UCI; nobody's own file of engines is near."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    program(tmp_path / "mine")


def program(path: Path, *arguments: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {shlex.join([*MOCK, *arguments])} "$@"\n')
    path.chmod(0o755)


@pytest.fixture
def specify(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The specification that a command line means."""

    def specification(line: str | list[str] | tuple[str, ...]) -> TournamentSpec:
        played: list[TournamentSpec] = []
        for module in (words_of_tournament, "elolab.cli.tournament"):
            name = f"{getattr(module, '__name__', module)}.play_and_print"
            monkeypatch.setattr(name, lambda spec, arguments: played.append(spec) or 0)
        words = shlex.split(line) if isinstance(line, str) else list(line)
        assert command_line.run_command(command_line.find_command(words[0]), words[1:]) == 0
        return played[0]

    return specification


LINES = (
    "match ./mine default",
    "match mine default --pairs 7 --limit depth=3 --game xiangqi",
    "match --engine cmd=./mine name=new option.Hash=64 tc=10+0.1 --engine preset=default --each tc=5 --pairs 50",
    "match default --engine material set.null_move=off name='no null' nodes=500",
    "match default material --openings xiangqi order=sequential start=3 plies=4 --draw movenumber=40 movecount=8 "
    "score=10 --resign movecount=3 score=600 --rules move_limit=100,fold=4 insufficient=off --maxmoves 100 --srand 5 "
    "--event 'my match'",
    "sprt ./mine default --elo0 -3 --elo1 2 --alpha 0.1 --model logistic",
    "match default material --sprt elo0=0 elo1=4 --rounds 30 --games 4",
    "sprt default material --sprt elo0=0 elo1=4 alpha=0.01 --pairs 40",
    "tournament --engine default --engine material --engine ./mine restart=on timemargin=250 --rounds 2 --pairs 3",
    "tournament --engine default --engine othello-ids --game othello --format match",
    "tournament default ./mine --engine material --format swiss --rounds 2 --seeding random",
    "match --engine cmd=./mine args='at=3 x=1' arg=y=2 start_timeout=20 ponder --engine cmd=mine st=1 --each tc=1:30+1",
)


@pytest.mark.integration
@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[] if place % 3 else [pytest.mark.integration]) for place, line in enumerate(LINES)],
)
def test_single_dashes_mean_the_same(line: str, specify: Any) -> None:
    assert specify(line.replace(" --", " -")) == specify(line)


def test_words_mean_what_a_file_says(specify: Any) -> None:
    spec = specify(
        "tournament -engine cmd=./mine name=new dir=. option.Hash=64 tc=40/60+0.6 timemargin=50 restart=on "
        "-engine preset=default name=plain set.null_move=off nodes=800 plies=5 -each watchdog=9 -rounds 3 -games 4 "
        "-tournament round-robin -event cup -srand 4 -draw movenumber=20 movecount=6 score=15 -resign movecount=2 "
        "score=500 twosided=true -maxmoves 150 -rules repetition=check-only,move_limit=100 insufficient=off "
        "-openings file=xiangqi format=epd order=random start=9"
    )
    content: dict[str, Any] = {
        "name": "cup",
        "format": "round_robin",
        "rounds": 3,
        "pairs": 2,
        "seed": 4,
        "opening_start": 8,
        "rules": {"repetition": "check-only", "move_limit": 100, "insufficient": False},
        "adjudication": {
            "draw_after_ply": 28, "draw_moves": 6, "draw_score": 15, "resign_moves": 2, "resign_score": 500,
            "maximum_plies": 300,
        },
        "players": [
            {"name": "new", "protocol": "uci", "command": ["./mine"], "directory": ".", "options": {"Hash": "64"},
             "limit": "clock=40/60+0.6", "margin": 0.05, "restart": "always", "watchdog": 9},
            {"name": "plain", "preset": "default", "set": {"null_move": False}, "limit": "depth=5,nodes=800"},
        ],
    }  # fmt: skip
    assert replace(spec, command=()) == replace(spec_from_mapping(content, "tournament"), command=())


@pytest.mark.integration
@pytest.mark.parametrize(
    ("each", "own", "limit"),
    [
        ("tc=10+0.1", "", "clock=10+0.1"),
        ("tc=10+0.1", "tc=40/5", "clock=40/5+0"),
        ("tc=1:30+1", "depth=4", "depth=4,clock=90+1"),
        ("tc=10", "st=0.25", "move_time=0.25"),
        ("st=1", "tc=2:00.5", "clock=120.5+0"),
        ("tc=10 nodes=700", "tc=inf", "nodes=700"),
        ("limit=clock=5", "nodes=9", "nodes=9"),
        ("nodes=9 tc=3", "limit=depth=2", "depth=2"),
        ("", "", "nodes=1000"),
    ],
)
def test_own_limits_stand_before_those_of_all(each: str, own: str, limit: str, specify: Any) -> None:
    spec = specify(f"match --engine ./mine {own} --engine material {'--each ' + each if each else ''}")
    assert str(spec.players[0].limits) == limit


def test_options_of_all_are_for_programs_and_settings_for_the_built_in_engine(specify: Any) -> None:
    spec = specify(
        "tournament --engine ./mine option.Threads=2 --engine cmd=./mine name=other --engine default "
        "option.NullDepth=4 --each proto=uci option.Threads=1 option.Hash=16 set.null_depth=3 restart=on"
    )
    mine, other, builtin = spec.players
    assert [player.protocol for player in spec.players] == ["uci", "uci", "builtin"]
    assert dict(mine.options) == {"Threads": "2", "Hash": "16"}
    assert dict(other.options) == {"Threads": "1", "Hash": "16"}
    assert dict(builtin.parameters)["null_depth"] == 4
    assert (mine.restart, builtin.restart) == ("always", "on_fault")


def test_settings_of_players_that_change_nothing_are_named(
    tmp_path: Path, specify: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "it has an effect only if null_move is on, which is off"
    specify("match --engine default set.nullmove=off --engine default name=other --each set.NullMinDepth=3")
    assert capsys.readouterr().err == f"elolab: default: null_min_depth = 3 changes nothing: {reason}\n"
    (tmp_path / "cup.toml").write_text(
        'pairs = 1\nlimit = "depth=1"\n[[players]]\npreset = "default"\n[[players]]\nname = "slow"\n'
        "set = { null_move = false, null_min_depth = 3, time_divisor = 30 }\n"
    )
    specify("tournament cup.toml")
    assert capsys.readouterr().err == (
        f"elolab: slow: null_min_depth = 3 changes nothing: {reason}\n"
        "elolab: slow: time_divisor = 30 changes nothing: it has an effect only on a clock, and the limit is depth=1\n"
    )


@pytest.mark.parametrize("name", available_configs("tournaments"))
def test_every_setting_of_a_shipped_tournament_has_an_effect(
    name: str, specify: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    specify(f"tournament {name}")
    assert "changes nothing" not in capsys.readouterr().err


def test_a_protocol_of_all_gives_way_to_that_of_a_player(specify: Any) -> None:
    spec = specify("match --engine cmd=./mine proto=ucci --engine cmd=./mine name=other --each proto=ucicyclone")
    assert [player.protocol for player in spec.players] == ["ucci", "ucicyclone"]
    with pytest.raises(UserError, match=r"--each proto=\.\.\.: no player takes it"):
        specify("match --engine default --engine material --each proto=uci")


def test_the_default_limit_is_one_that_all_players_can_be_told_of(
    specify: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    othello = shlex.join([sys.executable, "-I", "-S", str(SUPPORT / "mock_othello_engines.py"), "normal"])
    for protocol, limit in (("nboard", "depth=6"), ("gtp", "move_time=1")):
        players = f"--engine cmd='{othello} protocol={protocol}' name=mock proto={protocol} --engine default"
        spec = specify(f"match {players} --game othello")
        assert [str(player.limits) for player in spec.players] == [limit, limit]
        assert f"the limit is {limit}, because not all players" in capsys.readouterr().err
        with pytest.raises(UserError, match=r"GTP has no limit|NBoard limits"):
            specify(f"match {players} --game othello --limit nodes=5")


def test_the_default_limit_has_no_nodes_where_an_engine_may_not_know_them(specify: Any) -> None:
    players = "--game xiangqi --engine cmd=./mine proto=xboard {} --engine default"
    assert [str(player.limits) for player in specify(f"match {players.format('')}").players] == ["depth=6"] * 2
    own = specify(f"match {players.format('st=2')}")
    assert [str(player.limits) for player in own.players] == ["move_time=2", "nodes=1000"]
    given = specify(f"match {players.format('')} --limit nodes=70")
    assert [str(player.limits) for player in given.players] == ["nodes=70"] * 2


@pytest.mark.integration
def test_programs_of_one_name_are_told_apart_by_their_folders(specify: Any, tmp_path: Path) -> None:
    for folder in ("old", "new"):
        program(tmp_path / folder / "engine")
    names = [player.name for player in specify("match ./old/engine new/engine").players]
    assert names == ["old/engine", "new/engine"]
    assert specify("match ./old/engine new/engine").name == f"match-old-engine-new-engine-{END}"
    assert [player.name for player in specify("match ./mine ./mine").players] == ["mine", "mine (2)"]
    assert [player.name for player in specify("match default default").players] == ["default", "default (2)"]


def test_a_name_reaches_no_other_folder(specify: Any) -> None:
    spec = specify(["match", "--engine", "default", "name=../../<b>x,y;=1", "--engine", "material"])
    assert spec.players[0].name == "../../<b>x,y;=1"
    assert "/" not in spec.name
    for name in ('a"b', "a\nb", "a\x1bb", " a", "x" * 61):
        with pytest.raises(UserError) as refused:
            specify(["match", "--engine", "default", f"name={name}", "--engine", "material"])
        assert str(refused.value).isprintable()
    with pytest.raises(UserError, match=r"name = '\.\./out'"):
        specify(["match", "default", "material", "--event", "../out"])


def test_names_that_are_nothing_but_signs_make_a_plain_folder(specify: Any) -> None:
    assert specify("match ./mine ./mine").name == f"match-mine-mine-2-{END}"
    assert specify(["match", "--engine", "default", "name=(a)  [b]", "--engine", "material"]).name == (
        f"match-a-b-material-{END}"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("cmd=./absent", "no such file"),
        ("cmd=absent", "no such program in PATH"),
        ("cmd='./mine \"a'", '--engine cmd=./mine "a: No closing quotation'),
        ("cmd=./plain", r"chmod \+x ./plain"),
        ("./plain", r"chmod \+x plain"),
        ("./folder", "that is a folder"),
        ("./absent", "no such file"),
        ("'/bin/sleep 10 s'", "with arguments it is --engine cmd=/bin/sleep args='10 s'"),
        ("sh start_timeout=0.3", "sh answers in none of the protocols .* said nothing within 0.3 s"),
        ("cmd=./mute start_timeout=0.3", "said nothing within 0.3 s"),
        ("cmd=./mine nmae=x", "did you mean 'name'"),
        ("cmd=./mine preset=default", "cmd= and preset= both name an engine"),
        ("cmd=./mine proto=usi", "expected builtin, uci"),
        ("cmd=./mine tc=soon", "expected moves/time"),
        ("cmd=./mine tc=5 st=1", "exclude each other"),
        ("cmd=./mine option.Hash", "expected option.NAME=VALUE"),
        ("conf=mine", "there is no engines file"),
        ("default set.nul_move=off", "--engine: unknown parameter 'nul_move'"),
        ("name=x", "no engine is named"),
        ("default arg=--fast", "--engine arg=--fast: the built-in engine takes no arguments"),
        ("default --each args='-a -b'", "--each arg=-a: no player is a program"),
        ("default --each name=x", "--each name=x: every player needs its own name"),
    ],
)
def test_a_player_that_cannot_be_is_refused_in_one_line(words: str, said: str, specify: Any) -> None:
    Path("plain").write_text("plain text")
    Path("folder").mkdir()
    program(Path("mute"))
    Path("mute").write_text("#!/bin/sh\nexec sleep 100\n")
    with pytest.raises(UserError, match=said) as refused:
        specify(f"match --engine {words} --engine default")
    assert str(refused.value).isprintable()


def test_long_names_of_many_players_make_a_short_one(specify: Any) -> None:
    engines = " ".join(f"--engine default name={letter * 20}" for letter in "abcd")
    assert specify(f"tournament {engines}").name == f"round_robin-{'a' * 20}-and-3-{END}"


def test_all_unknown_words_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    line = (
        "match -engine cmd=./absent foo=1 tscale=x -engine conf=none bar=2 -each tc=10+0.1 baz=3 -recover -strange 4 "
        "-openings file=x ordr=random plies=z -draw movenumbr=3 -pgnout file=x y -pairs 2 --other"
    )
    assert command_line.main(shlex.split(line)) == 2
    (said,) = capsys.readouterr().err.splitlines()
    for word in (
        "'-strange'", "'--other'", "foo=1", "bar=2", "--each baz=3",
        "ordr=random: unknown word (did you mean 'order'?)", "movenumbr=3", "--pgnout file=x y: expected one file",
    ):  # fmt: skip
        assert word in said
    assert command_line.main(["tournament", "./absent", "default", "--format", "gauntlett", "-wait", "1"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "format = 'gauntlett'" in said  # before the programs are looked for
    assert "(did you mean 'gauntlet'?)" in said


def test_the_help_names_the_adjudication_that_games_have_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["match", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    xiangqi, othello = (game_named(name).adjudication for name in ("xiangqi", "othello"))
    assert f"default movecount={xiangqi.resign_moves} score={xiangqi.resign_score}, in Othello none" in text
    assert f"drawn (default {xiangqi.maximum_plies // 2}" in text
    assert (othello.resign_moves, xiangqi.draw_moves, othello.draw_moves) == (0, 0, 0)
    assert othello.maximum_plies == xiangqi.maximum_plies


@pytest.mark.integration
def test_a_played_folder_is_asked_for_protocols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The program speaks when the match begins, and is mute, or another, when it goes on."""
    line = ["match", "./mine", "material", "--limit", "nodes=1000", "--pairs", "1", "--maxmoves", "2"]
    entry = {"name": "mine", "command": ["./mine"]}
    content = {
        "format": "match", "limit": "nodes=1000", "pairs": 1, "players": [entry, {"preset": "material"}],
        "adjudication": {"maximum_plies": 4}, "seed": 1,
    }  # fmt: skip
    run(spec_from_mapping(content, "match"), Path(f"results/match-mine-material-{END}"), stream=io.StringIO())
    Path("mine").write_text("#!/bin/sh\nexit 1\n")
    os.chmod("mine", 0o755)
    words = [*line[1:], "--dry-run", "--accept-engine-change"]
    assert command_line.run_command(command_line.find_command("match"), words) == 0
    printed = capsys.readouterr()
    assert "2 games, 2 of them stored in" in printed.out
    assert "player 'mine': UCI, nodes=1000" in printed.out
    assert "speaks" not in printed.err
    with pytest.raises(DetectionError, match="exited with code 1"):
        ProtocolFinder().protocol_of(["./mine"], None, "xiangqi", 10)


@pytest.mark.integration
def test_games_of_a_program_are_not_taken_for_those_of_the_next_build(
    without_charts: None, capsys: pytest.CaptureFixture[str]
) -> None:
    command, folder = command_line.find_command("match"), f"results/match-mine-material-{END}"
    line = shlex.split("./mine material --limit nodes=1000 --maxmoves 2 --json --pairs")

    def play(*words: str) -> tuple[str, int]:
        command_line.run_command(command, [*line, *words])
        played = json.loads(capsys.readouterr().out)
        return played["folder"], played["stored"]

    assert play("1") == (folder, 2)
    before = Path("mine").read_text()
    Path("mine").write_text(f"{before}# the next build\n")
    assert play("1") == (f"{folder}-2", 2)
    assert play("2") == (f"{folder}-2", 4)
    with pytest.raises(UserError, match=r"program './mine' has changed .* add --accept-engine-change"):
        play("2", "--out", folder)
    Path("mine").write_text(before)
    assert play("2") == (folder, 4), "it is the first build again"
    Path("mine").write_text(f"{before}# the next build\n")
    assert play("3", "--accept-engine-change") == (folder, 6)
    assert play("3") == (folder, 6), "that was accepted"


@pytest.mark.integration
def test_a_program_that_could_not_be_started_may_be_mended(
    without_charts: None, capsys: pytest.CaptureFixture[str]
) -> None:
    line = shlex.split("material default --engine cmd=./mine proto=uci --pairs 1 --limit nodes=9 --maxmoves 2 --out x")
    command, mended = command_line.find_command("tournament"), Path("mine").read_text()
    Path("mine").write_text("#!/bin/sh\nexit 1\n")
    for stored, text in ((2, "#!/bin/sh\nexit 2\n"), (2, mended), (6, f"{mended}# the next build\n")):
        command_line.run_command(command, [*line, "--json"])
        assert json.loads(capsys.readouterr().out)["stored"] == stored
        Path("mine").write_text(text)
    with pytest.raises(UserError, match=r"program './mine' has changed"):
        command_line.run_command(command, line)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("games.pgn", ("games.pgn", None)),
        ("games.pgn fi min", ("games.pgn", "min")),
        ("file=a=b.pgn append=true notation=uci nodes=true", ("a=b.pgn", None)),
        ("file=games.pgn min=true pv=true", ("games.pgn", "min")),
        ("file=games.pgn min=false timeleft=true", ("games.pgn", "full")),
    ],
)
def test_words_of_pgnout_are_those_of_other_programs(words: str, expected: tuple[str, str | None]) -> None:
    assert pgn_words(words.split()) == expected


@pytest.mark.integration
def test_a_copy_is_as_short_as_its_words_say(without_charts: None, capsys: pytest.CaptureFixture[str]) -> None:
    line = shlex.split("default material --limit nodes=5 --maxmoves 2 --pairs 1 --out run --json --pgnout games.pgn")
    command = command_line.find_command("match")
    for words, is_long in (([], True), (["min"], False), (["fi", "--pgn-detail", "figures"], True)):
        assert command_line.run_command(command, [*line, *words]) == 0
        text = Path("games.pgn").read_text("utf-8")
        assert text == Path("run/games.pgn").read_text("utf-8")
        assert ("[Termination " in text) == ("5n" in text) == is_long


@pytest.mark.integration
def test_games_are_copied_to_a_file_that_holds_no_others(
    without_charts: None, capsys: pytest.CaptureFixture[str]
) -> None:
    line = shlex.split("default material --limit nodes=5 --maxmoves 2 --pgnout games.pgn --pairs")
    command = command_line.find_command("match")
    for pairs, games in (("1", 2), ("2", 4)):
        assert command_line.run_command(command, [*line, pairs, "--json"]) == 0
        text = Path("games.pgn").read_text("utf-8")
        assert text.count("[Event ") == games
        assert text == next(Path("results").glob("match-default-material-*/games.pgn")).read_text("utf-8")
    Path("games.pgn").write_text("another's", "utf-8")
    with pytest.raises(UserError, match="holds other games"):
        command_line.run_command(command, [*line, "3"])
    assert Path("games.pgn").read_text("utf-8") == "another's"
    for words in ("nowhere/games.pgn", ".", "min", "games.pgn other.pgn", "file="):
        with pytest.raises(UserError, match="--pgnout"):
            command_line.run_command(command, ["default", "material", "--pgnout", *words.split()])


def test_a_mistake_in_the_file_of_engines_names_the_player(capsys: pytest.CaptureFixture[str]) -> None:
    Path("engines.toml").write_text('[stone]\ncommand = "./mine"\nprotocol = "ucx"\n')
    for words in (["match", "stone", "default"], ["match", "--engine", "stone", "--engine", "default"]):
        assert command_line.main(words) == 2
        assert ": player 'stone': protocol = 'ucx', expected builtin" in capsys.readouterr().err
