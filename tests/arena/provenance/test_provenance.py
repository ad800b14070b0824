"""With what games were played: files of players and elolab's driver, recorded, compared and shown."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play import tournament_run
from elolab.arena.play.store import Store
from elolab.arena.provenance import record, sources
from elolab.arena.provenance.record import DRIVERS, OTHER_FILES, PROGRAMS, GameFile, files_of
from elolab.arena.records import PlayerSpec
from elolab.arena.run import RunError
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.command_line import main
from elolab.engine.settings.limits import Limits

pytestmark = pytest.mark.usefixtures("without_charts")

MOCK = Path(__file__).parent.parent.parent / "support" / "mock_othello_engines.py"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """An engine that is a script: its program is the interpreter."""
    path = tmp_path / "engine.py"
    path.write_text(f"import runpy\nrunpy.run_path({str(MOCK)!r}, run_name='__main__')\n")
    return path


def match(script: Path, pairs: int = 1, **more: Any) -> Any:
    program = {
        "name": "program", "protocol": "nboard", "command": [sys.executable, str(script), "good", "protocol=nboard"],
    }  # fmt: skip
    content = {"game": "othello", "format": "match", "pairs": pairs, "limit": "depth=1", "name": "small", "seed": 1}
    return spec_from_mapping({**content, "players": [program | more, {"name": "own"}]}, "small.toml")


def play(spec: Any, folder: Path, **options: Any) -> Any:
    return tournament_run.run(spec, folder, stream=io.StringIO(), **options)


def test_files_of_a_player_are_its_program_and_those_its_arguments_and_options_name(tmp_path: Path) -> None:
    for name in ("engine.py", "lines.bin", "net.nnue", "plain"):
        (tmp_path / name).write_text(name)
    for name in ("own.log", "dialogue.txt", "said.txt", "kept.txt"):
        (tmp_path / name).write_text(name)
    logs = ("own.log", "--log", "dialogue.txt", "--logfile=said.txt")
    command = ("sh", "engine.py", "--book=lines.bin", "plain", "missing.py", "0.5", "a\0b.c", *logs)
    options = (("EvalFile", "net.nnue"), ("Hash", "16"), ("Debug Log File", "kept.txt"))
    player = PlayerSpec("a", "uci", Limits(nodes=1), command=command, options=options, directory=str(tmp_path))
    assert {file.word for file in files_of(player)} == {"sh", "engine.py", "lines.bin", "net.nnue"}
    assert [file.word for file in files_of(player) if file.is_program] == ["sh"]
    before = files_of(player)
    (tmp_path / "net.nnue").write_text("another")
    after = files_of(player)
    assert [file.word for file in before if before[file] != after[file]] == ["net.nnue"]
    assert not files_of(PlayerSpec("b", "builtin", Limits(nodes=1)))


@pytest.mark.integration
def test_games_of_a_script_are_not_taken_for_those_of_another(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert play(match(script), out).stored == 2
    script.write_text(script.read_text() + "# the next version\n")
    with pytest.raises(RunError, match=rf"out: the file '{script}' has changed .* --accept-engine-change"):
        play(match(script, 2), out)
    assert play(match(script, 2), out, accept_engine_change=True).stored == 4
    assert play(match(script, 3), out).stored == 6, "that was accepted"
    with Store(out, read_only=True) as store:
        digests = [digest for word, _, digest in store.metadata(OTHER_FILES) if word == str(script)]
        assert len(set(digests)) == len(digests) == 2
    assert main(["report", str(out), "--json"]) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "2 builds" in warning
    assert all(digest[:12] in warning for digest in digests)
    assert warning in (out / "report.md").read_text().replace("\\", "")
    assert "2 builds" in (out / "report.html").read_text()
    assert main(["report", str(out)]) == 0
    assert "Warning: These games come from 2 builds" in capsys.readouterr().out


@pytest.mark.integration
def test_a_file_that_a_player_writes_binds_nobody(script: Path, tmp_path: Path) -> None:
    experience = tmp_path / "experience.bin"
    experience.write_text("")
    spec = match(script)
    command = (*spec.players[0].command, f"file={experience}")
    script.write_text(f"open({str(experience)!r}, 'a').write('game')\n{script.read_text()}")
    spec = replace(spec, players=(replace(spec.players[0], command=command), spec.players[1]))
    assert play(spec, tmp_path / "out").stored == 2
    assert play(replace(spec, pairs=2), tmp_path / "out").stored == 4
    with Store(tmp_path / "out", read_only=True) as store:
        assert [word for word, *_ in store.metadata(OTHER_FILES)] == [str(script)]


@pytest.mark.integration
def test_games_of_programs_are_bound_to_what_drives_them(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = spec_from_mapping(
        {"game": "othello", "format": "match", "pairs": 1, "limit": "depth=1", "name": "own",
         "players": [{"name": "a"}, {"name": "b", "set": {"killers": 0}}]}, "own.toml",
    )  # fmt: skip
    assert play(match(script), tmp_path / "out").stored == 2
    assert play(own, tmp_path / "own").stored == 2
    monkeypatch.setattr(record, "driver_identity", lambda: "0123456789ab")
    with pytest.raises(
        RunError, match=r"elolab.s code for talking to programs has changed .*0123456789ab now.*--accept-engine"
    ):
        play(match(script, 2), tmp_path / "out")
    assert play(own, tmp_path / "own").stored == 2, "no program played there"
    assert play(match(script, 2), tmp_path / "out", accept_engine_change=True).stored == 4


def test_folders_that_record_less_are_resumed(script: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    play(match(script), out)
    with Store(out) as store:
        store.connection.execute("DELETE FROM facts WHERE name IN (?, ?)", (OTHER_FILES, DRIVERS))
        assert store.metadata(DRIVERS) is None
        assert store.metadata(PROGRAMS)
        store.connection.commit()
    script.write_text(script.read_text() + "# the next version\n")
    assert play(match(script, 2), out).stored == 4
    with Store(out, read_only=True) as store:
        assert store.metadata(DRIVERS) == [sources.driver_identity()]


def test_a_report_decides_no_game_and_a_protocol_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sources.source_digests().keys()
    assert {"arena/play/game.py", "arena/protocols/uci.py", "engine/play.py"} <= names
    assert not [name for name in names if name.startswith(("arena/reports/", "arena/statistics/"))]
    there = dict(sources.source_digests())
    assert not sources.difference_in_sources(there)
    there["arena/protocols/uci.py"] = "0123456789ab"
    del there["engine/play.py"]
    told = sources.difference_in_sources(there)
    assert told.startswith("arena/protocols/uci.py is 0123456789ab there, ")
    assert told.endswith("and 1 more")


def test_a_file_that_is_not_here_is_none_that_has_changed() -> None:
    assert GameFile("no-such-program", None).digest() is None
    assert GameFile("no-such.py", None, False).digest() is None
    assert GameFile("/", None, False).digest() is None
