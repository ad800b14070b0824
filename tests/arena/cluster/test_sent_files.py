"""Files that travel to workers: a worker that lacks a player's program or book gets it once."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from elolab.arena.builds.cache import cache_folder
from elolab.arena.cluster.sent_files import SentFile, files_to_send, keep, placed, platform_name
from elolab.arena.play import tournament_run
from elolab.arena.provenance.record import GameFile, files_of
from elolab.arena.records import PlayerSpec
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.settings.limits import Limits
from tests.support.interrupted_runs import SUPPORT
from tests.support.local_cluster import LocalCluster

ENGINE = "#!/bin/sh\nexit 3\n"


def player(folder: Path) -> PlayerSpec:
    """A program with a book beside it."""
    folder.mkdir()
    (folder / "engine.sh").write_text(ENGINE)
    (folder / "engine.sh").chmod(0o755)
    (folder / "book.bin").write_bytes(b"\0book")
    return PlayerSpec(
        "mine", "uci", Limits(nodes=20), command=("./engine.sh", "book.bin", "--x=book.bin"),
        options=(("Book", "book.bin"),), directory=str(folder),
    )  # fmt: skip


def test_a_worker_asks_for_what_it_lacks_and_puts_it_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mine = player(tmp_path / "engines")
    wanted = files_of(mine)
    sendable = files_to_send([mine], wanted)
    assert set(sendable.values()) == {str(tmp_path / "engines" / name) for name in ("engine.sh", "book.bin")}
    assert placed(mine, sendable, wanted, "other").player is mine  # the same files are there: nothing is sent
    contents = {wanted[file]: Path(path).read_bytes() for file, path in sendable.items()}
    (tmp_path / "engines" / "book.bin").write_bytes(b"another")
    lacking = placed(mine, sendable, wanted, platform_name()).lacking
    assert {file.word for file in lacking} == {"./engine.sh", "book.bin"}
    for digest, data in contents.items():
        assert keep(SentFile(digest, data)) == ""
    assert "damaged" in keep(SentFile("0" * 64, b"x"))
    there = placed(mine, sendable, wanted, platform_name()).player
    program, book, worded = there.command
    assert Path(program).read_text() == ENGINE
    assert Path(program).stat().st_mode & 0o100
    assert Path(book).read_bytes() == b"\0book"
    assert worded == f"--x={book}"
    assert there.options == (("Book", book),)
    assert Path(there.directory or "") == Path(program).parent == Path(book).parent
    (Path(book)).write_bytes(b"changed by its program")
    placed(mine, sendable, wanted, platform_name())
    assert Path(book).read_bytes() == b"\0book"


def test_a_program_of_another_platform_is_refused_but_a_script_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for head, problem in ((b"#!/bin/sh\n", ""), (b"\x7fELF", "sent from linux z80, this worker is ")):
        data = head + b"rest"
        path = tmp_path / f"engine{len(head)}"
        path.write_bytes(data)
        path.chmod(0o755)
        mine = PlayerSpec("mine", "uci", Limits(nodes=20), command=(str(path),))
        wanted = files_of(mine)
        sendable = files_to_send([mine], wanted)
        assert keep(SentFile(wanted[GameFile(str(path), None)], data)) == ""
        path.unlink()
        found = placed(mine, sendable, wanted, "linux z80")
        assert problem in found.problem
        assert bool(found.problem) == bool(problem)


def test_a_bare_name_is_the_workers_own_program() -> None:
    mine = PlayerSpec("mine", "uci", Limits(nodes=20), command=("sh", "-c", "true"))
    assert files_of(mine)
    assert not files_to_send([mine], files_of(mine))


@pytest.mark.integration
def test_a_cluster_plays_with_a_program_and_a_book_that_only_the_client_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    mock = f"{sys.executable} -I -S {SUPPORT / 'mock_othello_engines.py'} good protocol=nboard"
    (here / "engine.sh").write_text(f'#!/bin/sh\n# {tmp_path}\n[ -f "$1" ] && exec {mock}\n')
    (here / "engine.sh").chmod(0o755)
    (here / "book.bin").write_text(f"{tmp_path}")
    monkeypatch.chdir(here)
    mine = {"name": "mine", "protocol": "nboard", "command": ["./engine.sh", "book.bin"]}
    content = {"game": "othello", "format": "match", "pairs": 3, "limit": "depth=1", "players": [mine, {}]}
    spec = spec_from_mapping({**content, "name": "small"}, "small.toml")
    local = tournament_run.run(spec, tmp_path / "local")
    try:
        with LocalCluster(there) as cluster:
            cluster.start_worker("one")
            cluster.wait_for_workers(1)
            result = tournament_run.run(spec, tmp_path / "run", cluster=cluster.address)
        assert (result.stored, result.unavailable, local.stored) == (6, {}, 6)
        digests = [json.loads((tmp_path / name / "status.json").read_text())["digests"] for name in ("local", "run")]
        assert digests[0] == digests[1]
        kept = {file["sha256"] for file in digests[1]["files"]}
        assert {path.name for path in (cache_folder() / "sent" / "files").iterdir()} >= kept
    finally:
        for path in (cache_folder() / "sent").rglob("*"):
            if path.is_file() and str(tmp_path) in path.read_text("utf-8", "replace"):
                path.unlink()
        for path in (cache_folder() / "sent" / "players").glob(f"*/{str(tmp_path).lstrip('/')}"):
            shutil.rmtree(path)
