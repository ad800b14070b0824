"""Tournament files: what they mean, and one clear line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.tournament_reader import load_tournament, spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES
from elolab.engine.settings.configuration import available_configs, find_config, read_toml, shipped_folder
from elolab.engine.settings.parameters import BY_NAME, parameters_of
from elolab.engine.settings.presets import load_preset

MINIMAL: dict[str, Any] = {
    "pairs": 3,
    "limit": "nodes=100",
    "players": [{"preset": "default"}, {"name": "other", "set": {"null_move": False}}],
}


OTHELLO = {"game": "othello"}


def specification(**changes: Any) -> TournamentSpec:
    return spec_from_mapping(MINIMAL | changes, "some/cup.toml")


def test_defaults_and_what_is_given() -> None:
    spec = specification(seed=7, rules={"fold": 4}, adjudication={"resign_moves": 0})
    assert (spec.name, spec.game, spec.format, spec.pairs, spec.seed) == ("cup", "xiangqi", "round_robin", 3, 7)
    assert [player.name for player in spec.players] == ["default", "other"]
    assert spec.rules.fold == 4
    assert spec.rules.move_limit == 120
    assert spec.adjudication.resign_moves == 0
    default, other = (dict(player.parameters) for player in spec.players)
    assert list(default) == [row.name for row in parameters_of("xiangqi")]
    assert {name for name in default if default[name] != other[name]} == {"null_move"}


def test_rounds_multiply_pairs() -> None:
    spec = specification(rounds=4)
    assert (spec.pairs, spec.rounds) == (12, 4)


def test_keys_of_formats() -> None:
    players = [{"name": str(number)} for number in range(5)]
    swiss = specification(format="swiss", players=players, repeats=True, rounds=9, seeding="random")
    assert (swiss.pairs, swiss.pairs_of_encounter, swiss.rounds, swiss.repeats) == (27, 3, 9, True)
    assert specification(format="swiss", players=players).rounds == 3
    cup = specification(format="knockout", players=players, tiebreak="coin", tiebreak_pairs=1, third_place=True)
    assert (cup.pairs, cup.tiebreak, cup.tiebreak_pairs, cup.third_place, cup.seeding) == (3, "coin", 1, True, "order")
    assert specification(format="knockout", players=players).tiebreak_pairs == 3
    assert specification(format="gauntlet", players=players, gauntlet_players=4).gauntlet_players == 4
    for spec in (swiss, cup):
        assert TournamentSpec.from_content(json.loads(json.dumps(spec.content()))) == spec


def test_limits_of_players_override_the_common_one() -> None:
    spec = specification(players=[{"preset": "default", "limit": "depth=3"}, {"preset": "material"}])
    assert [str(player.limits) for player in spec.players] == ["depth=3", "nodes=100"]


def test_an_external_player() -> None:
    entry = {
        "protocol": "uci",
        "command": "fairy-stockfish --quiet 'two words'",
        "options": {"UCI_Variant": "xiangqi", "Use NNUE": False, "Threads": 1},
        "start_timeout": 2.5,
        "margin": 0.05,
        "watchdog": 9,
        "restart": "always",
    }
    player = specification(players=[*MINIMAL["players"], entry]).players[2]
    assert player.name == "fairy-stockfish"
    assert player.command == ("fairy-stockfish", "--quiet", "two words")
    assert player.options == (("UCI_Variant", "xiangqi"), ("Use NNUE", "false"), ("Threads", "1"))
    assert (player.start_timeout_ms, player.margin_ms, player.watchdog_ms) == (2500, 50, 9000)


def test_players_of_othello() -> None:
    rhino = {"protocol": "gtp", "command": "gtp-rhino --level 3", "gtp_passes": "omit", "limit": "own"}
    own = {"protocol": "gtp", "command": "elolab", "commands": ["elolab-limit depth=4"], "limit": "clock=10+0.1"}
    nboard = {"protocol": "nboard", "command": "edax -nboard", "limit": "depth=6"}
    players = specification(game="othello", players=[{}, rhino, own, nboard]).players
    assert [player.name for player in players] == ["default", "gtp-rhino", "elolab", "edax"]
    assert [str(player.limits) for player in players] == ["nodes=100", "own", "clock=10+0.1", "depth=6"]
    assert [dict(player.protocol_keys) for player in players] == [
        {}, {"commands": (), "gtp_passes": "omit"}, {"commands": ("elolab-limit depth=4",), "gtp_passes": "send"}, {},
    ]  # fmt: skip


def test_content_survives_json() -> None:
    external = {"protocol": "uci", "command": ["engine"], "options": {"Hash": 8}, "limit": "clock=10+0.1"}
    spec = specification(players=[*MINIMAL["players"], external])
    assert TournamentSpec.from_content(json.loads(json.dumps(spec.content()))) == spec
    gtp = {"protocol": "gtp", "command": "x", "commands": ["level 3"], "gtp_passes": "omit", "limit": "own"}
    spec = specification(game="othello", players=[{}, gtp])
    assert TournamentSpec.from_content(json.loads(json.dumps(spec.content()))) == spec


def test_players_stored_with_the_keys_of_every_protocol_are_read() -> None:
    spec = specification(players=[{}, {"protocol": "uci", "command": "x"}])
    content = spec.content()
    for player in content["players"]:
        player |= {"commands": [], "gtp_passes": "send"}
    assert TournamentSpec.from_content(json.loads(json.dumps(content))) == spec


def test_the_identity_of_players_over_gtp_and_nboard_is_what_it_was() -> None:
    gtp = {"protocol": "gtp", "command": "x", "commands": ["level 3"], "limit": "own"}
    nboard = {"protocol": "nboard", "command": "y", "limit": "depth=6"}
    _, first, second = specification(game="othello", players=[{}, gtp, nboard]).players
    external: dict[str, Any] = {"directory": None, "options": {}}
    assert first.content() == {
        "name": "x", "protocol": "gtp", "limits": "own", "command": ["x"], **external,
        "commands": ["level 3"], "gtp_passes": "send",
    }  # fmt: skip
    assert second.content() == {
        "name": "y", "protocol": "nboard", "limits": "depth=6", "command": ["y"], **external,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"piars": 3}, ["some/cup.toml", "'piars'", "'pairs'"]),
        ({"pairs": 0}, ["pairs = 0", "from 1"]),
        ({"pairs": True}, ["pairs = true", "whole number"]),
        ({"pairs": "3"}, ["pairs = '3'", "whole number"]),
        ({"game": "xiangki"}, ["game = 'xiangki'", "'xiangqi'"]),
        ({"format": "swis"}, ["format = 'swis'", "'round_robin'", "'swiss'"]),
        ({"format": "match", "rounds": 2}, ["rounds = 2", "expected none with format = 'match'"]),
        ({"format": "knockout", "rounds": 2}, ["rounds = 2", "expected none with format = 'knockout'"]),
        ({"format": "swiss", "rounds": 2}, ["rounds = 2", "at most 1 for 2 players", "repeats = true"]),
        ({"format": "swiss", "rounds": 0}, ["rounds = 0", "from 1"]),
        ({"format": "swiss", "repeats": 1}, ["repeats = 1", "true or false"]),
        ({"format": "swiss", "third_place": True}, ["third_place is a key of format = 'knockout', not of 'swiss'"]),
        ({"seeding": "random"}, ["seeding is a key of", "'swiss' or 'knockout', not of 'round_robin'"]),
        ({"format": "gauntlet", "gauntlet_players": 2}, ["gauntlet_players = 2", "from 1 to 1"]),
        ({"gauntlet_players": 1}, ["gauntlet_players is a key of format = 'gauntlet'"]),
        ({"format": "knockout", "seeding": "rating"}, ["seeding = 'rating'", "'order' or 'random'"]),
        ({"format": "knockout", "tiebreak": "armageddon"}, ["tiebreak = 'armageddon'", "'seed' or 'coin'"]),
        ({"format": "knockout", "tiebreak_pairs": -1}, ["tiebreak_pairs = -1", "from 0"]),
        ({"format": "knockout", "third_place": True}, ["third_place = true", "2 players", "four"]),
        ({"limit": "node=100"}, ["node=100", "nodes=1000"]),
        ({"name": "../up"}, ["name = '../up'", "letters"]),
        ({"seed": -1}, ["seed = -1"]),
        ({"openings": 3}, ["openings = 3"]),
        ({"opening_part": "half"}, ["opening_part", "'validation'"]),
        ({"rules": {"fold": 6}}, ["[rules]", "fold = 6", "3 or 4 or 5"]),
        ({"rules": {"fould": 3}}, ["[rules]", "'fould'", "'fold'"]),
        ({"rules": {"repetition": "asain"}}, ["repetition = 'asain'", "'asian'"]),
        ({"game": "chess", "rules": {"repetition": "asian"}}, ["repetition = 'asian'", "expected 'draw' in chess"]),
        ({"rules": 3}, ["[rules]", "3"]),
        ({"adjudication": {"maximum_plies": -2}}, ["[adjudication]", "maximum_plies = -2"]),
        ({"adjudication": {"solved_empties": 8}}, ["[adjudication]", "solved_empties = 8", "0 in xiangqi"]),
        ({"game": "othello", "adjudication": {"solved_empties": 25}}, ["solved_empties = 25", "24"]),
        ({"players": []}, ["players", "two"]),
        ({"players": [{"preset": "default"}]}, ["one player", "two"]),
        ({"players": [{"preset": "default"}, {"preset": "default"}]}, ["player 2", "'default'", "another name"]),
        ({"players": [{"preset": "defalt"}, {}]}, ["player 1", "'defalt'", "'default'"]),
        ({"players": [{}, {"name": "x", "set": {"null_mov": 1}}]}, ["player 2 (x)", "'null_mov'", "'null_move'"]),
        ({"players": [{}, {"name": "x", "set": {"null_depth": 99}}]}, ["player 2 (x)", "null_depth = 99", "2 to 8"]),
        ({"players": [{}, {"nmae": "x"}]}, ["player 2", "'nmae'", "'name'"]),
        ({"players": [{}, {"name": "x", "command": "no-such-y"}]}, ["player 2 (x)", "cannot start 'no-such-y'"]),
        ({"players": [{}, {"protocol": "ucy"}]}, ["protocol = 'ucy'", "'uci'"]),
        ({"players": [{}, {"protocol": "uci"}]}, ["command is missing", "program"]),
        ({"players": [{}, {"protocol": "uci", "command": "x 'y"}]}, ["command", "quotation"]),
        ({"players": [{}, {"protocol": "uci", "command": "x", "preset": "default"}]}, ["preset", "built-in"]),
        ({"players": [{}, {"protocol": "uci", "command": "x", "directory": "/no/such"}]}, ["directory = '/no/such'"]),
        ({"players": [{}, {"protocol": "uci", "command": "x", "restart": "never"}]}, ["restart = 'never'", "on_fault"]),
        ({"players": [{}, {"protocol": "uci", "command": "x", "margin": -1}]}, ["margin = -1", "seconds"]),
        ({"players": [{}, {"protocol": "uci", "command": "x", "limit": "clock=1+0,cpu"}]}, ["cpu clock", "wall"]),
        ({"players": [{}, "default"]}, ["player 2", "not a table"]),
        ({"players": [{}, {"name": "x", "limit": "own"}]}, ["limit = 'own'", "only players over GTP"]),
        ({"players": [{}, {"name": "x", "gtp_passes": "omit"}]}, ["gtp_passes", "add command = ..."]),
        ({"players": [{}, {"protocol": "gtp", "command": "x"}]}, ["xiangqi cannot be played over gtp", "use uci"]),
        (OTHELLO | {"players": [{}, {"protocol": "uci", "command": "x"}]}, ["use gtp or nboard"]),
        (OTHELLO | {"players": [{}, {"protocol": "gtp", "command": "x"}]}, ["player 2", "nodes=100", 'limit = "own"']),
        (OTHELLO | {"players": [{}, {"protocol": "gtp", "command": "x", "options": {}}]}, ["options", "commands = "]),
        (OTHELLO | {"players": [{}, {"protocol": "gtp", "command": "x", "commands": "level 3"}]}, ['["level 3"]']),
        (OTHELLO | {"players": [{}, {"protocol": "gtp", "command": "x", "gtp_passes": "no"}]}, ["'no'", "omit"]),
        (OTHELLO | {"players": [{}, {"protocol": "gtp", "command": "x", "limit": "clock=0.5"}]}, ["whole seconds"]),
        (OTHELLO | {"players": [{}, {"protocol": "nboard", "command": "x"}]}, ["limits a search by depth only"]),
        (OTHELLO | {"players": [{}, {"protocol": "nboard", "command": "x", "limit": "own"}]}, ["players over GTP"]),
    ],
)
def test_mistakes_are_one_line(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as raised:
        specification(**changes)
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith("some/cup.toml")
    for word in words:
        assert word in message


def test_no_limit_at_all() -> None:
    data = {key: value for key, value in MINIMAL.items() if key != "limit"}
    with pytest.raises(UserError, match=r"player 1: no limit.*nodes=1000"):
        spec_from_mapping(data, "cup.toml")


def test_missing_pairs() -> None:
    with pytest.raises(UserError, match=r"cup\.toml: pairs is missing"):
        spec_from_mapping({"limit": "depth=1", "players": [{}, {"name": "x"}]}, "cup.toml")


def test_a_key_in_another_table_than_its_own_is_told_where_it_belongs(tmp_path: Path) -> None:
    path, players = tmp_path / "cup.toml", '[[players]]\nname = "default"\n[[players]]\npreset = "material"\n'
    for text, words in [
        (f'limit = "depth=1"\n{players}pairs = 5\n', r"cup\.toml: pairs is written below \[\[players\]\], .*above"),
        (f'pairs = 1\nlimit = "depth=1"\n[rules]\nseed = 5\n{players}', r"cup\.toml: seed is written below \[rules\]"),
        (f'pairs = 1\nlimit = "depth=1"\nwatchdog = 5\n{players}', r"'watchdog'; it is a key of \[\[players\]\]$"),
        (f'pairs = 1\nlimit = "depth=1"\nmove_limit = 5\n{players}', r"'move_limit'; it is a key of \[rules\]$"),
    ]:
        path.write_text(text)
        with pytest.raises(UserError, match=words):
            load_tournament(path)


def test_a_setting_beside_the_table_of_settings_is_told_where_it_belongs(tmp_path: Path) -> None:
    path, head = tmp_path / "cup.toml", 'pairs = 1\nlimit = "depth=1"\n[[players]]\npreset = "material"\n[[players]]\n'
    for text, words in [
        ('name = "x"\nnull_move = false', r"player 2 \(x\): unknown key 'null_move'; it belongs in set = { null_"),
        ('name = "x"\n"Move Overhead" = 3', r'it belongs in set = { "Move Overhead" = \.\.\. }$'),
        ('protocol = "uci"\ncommand = "x"\nMultiPV = 3', r"'MultiPV'; expected .*option.* in options = { MultiPV = "),
    ]:
        path.write_text(head + text)
        with pytest.raises(UserError, match=words):
            load_tournament(path)
    path.write_text("killers = 0\n")
    with pytest.raises(UserError, match=r"'killers'; it belongs in xiangqi = { killers = \.\.\. } or othello = "):
        load_preset(str(path), "xiangqi")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"pairs = ", "not valid TOML: Invalid value"),
        (b"pairs = 1\nlimit = nodes", "not valid TOML.*line 2"),
        (b"\xff\xfe", "not UTF-8 text .*; save it as UTF-8"),
        ("name = “象棋”".encode(), r"line 1, column 8\); '“' may not stand there: write '\"'$"),
        ("pairs ＝ 1".encode(), "'＝' may not stand there: write '='"),
        ("name = '，' # ，\nset = { a = 1， b = 2 }".encode(), "'，' may not stand there: write ','"),
        ("seed = −3".encode(), "'−' may not stand there: write '-'"),
        ("[anchors]\nmy鱼-2 = 2000".encode(), 'line 2.*in quotation marks: "my鱼-2"'),
        (b"limit = nodes=100 # fast", 'texts stand in quotation marks: "nodes=100"$'),
        (b"set = { null_move = False }", "; write false$"),
        (b'command = "C:\\engines\\mine"', "between single quotation marks"),
        (b"pairs = 007", r"column 10\)$"),
    ],
)
def test_files_that_are_not_toml(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=words) as raised:
        load_tournament(path)
    assert str(path) in str(raised.value)


def test_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Windows Notepad writes one."""
    path, player = tmp_path / "cup.toml", tmp_path / "mine.toml"
    player.write_text("[xiangqi]\nnull_depth = 4\n", "utf-8-sig")
    path.write_text(
        'pairs = 1\nlimit = "depth=1"\n[[players]]\npreset = "mine.toml"\n[[players]]\nname = "other"\n', "utf-8-sig"
    )
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    spec = load_tournament(path)
    assert dict(spec.players[0].parameters)["null_depth"] == 4


def test_find_config_prefers_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_config("engines", "default") == shipped_folder() / "engines" / "default.toml"
    own = Path("configs/engines/default.toml")
    own.parent.mkdir(parents=True)
    own.write_text("[xiangqi]\nnull_depth = 4\n")
    assert find_config("engines", "default") == own
    assert load_preset("default", "xiangqi") == {"null_depth": 4}
    with pytest.raises(UserError, match=r"no tournament specification 'dem'.*did you mean 'demo'"):
        find_config("tournaments", "dem")


def test_a_preset_beside_the_tournament(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[xiangqi]\nhash_mb = 1\n")
    (tmp_path / "cup.toml").write_text(
        'pairs = 1\nlimit = "depth=1"\n[[players]]\npreset = "default"\n[[players]]\npreset = "mine.toml"\n'
    )
    player = load_tournament(tmp_path / "cup.toml").players[1]
    assert player.name == "mine"
    assert dict(player.parameters)["hash_mb"] == 1


def test_aliases_are_kept_under_the_own_names(tmp_path: Path) -> None:
    (tmp_path / "texts.toml").write_text("[xiangqi]\nNullDepth = 4\nhash = 1\n")
    assert load_preset(str(tmp_path / "texts.toml"), "xiangqi") == {"null_depth": 4, "hash_mb": 1}
    texts = {"name": "x", "preset": str(tmp_path / "texts.toml"), "set": {"null-depth": 2, "valWINDOW": 20}}
    own = {"name": "x", "set": {"null_depth": 2, "hash_mb": 1, "aspiration_window": 20}}
    one, other = (specification(players=[{"preset": "default"}, entry]).players[1] for entry in (texts, own))
    assert one == other
    with pytest.raises(UserError, match=r"player 2 \(x\): Hash and hash_mb are the same parameter, hash_mb; give one"):
        specification(players=[{"preset": "default"}, {"name": "x", "set": {"Hash": 1, "hash_mb": 2}}])
    (tmp_path / "texts.toml").write_text("[xiangqi]\nNullDepth = 4\nnull_depth = 3\n")
    with pytest.raises(UserError, match=r"texts.toml: \[xiangqi\]: NullDepth and null_depth are the same"):
        load_preset(str(tmp_path / "texts.toml"), "xiangqi")


def test_a_preset_without_a_section_or_with_a_wrong_value(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text('description = "nothing"\n')
    with pytest.raises(UserError, match=r"no section \[xiangqi\]"):
        load_preset(str(path), "xiangqi")
    path.write_text("[xiangqi]\nkillers = 3\n")
    with pytest.raises(UserError, match=r"empty.toml: \[xiangqi\]: killers = 3"):
        load_preset(str(path), "xiangqi")
    path.write_text("[xianqi]\n")
    with pytest.raises(UserError, match=r"unknown key 'xianqi' \(did you mean 'xiangqi'"):
        load_preset(str(path), "xiangqi")


@pytest.mark.parametrize("name", available_configs("engines"))
def test_shipped_presets_differ_from_the_default_as_they_say(name: str) -> None:
    for game in GAMES:
        if game not in read_toml(find_config("engines", name)):
            continue
        overrides = load_preset(name, game)
        assert bool(overrides) == (name != "default")
        # A few settings are what the preset is about; a system written out in full repeats defaults on purpose.
        if len(overrides) < 10:
            assert all(BY_NAME[key].default_for(game) != value for key, value in overrides.items())


@pytest.mark.parametrize("name", available_configs("tournaments"))
def test_shipped_tournaments_are_valid(name: str) -> None:
    assert load_tournament(find_config("tournaments", name)).players
