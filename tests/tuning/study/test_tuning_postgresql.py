"""A study in PostgreSQL: a real server on this machine, started for the test, two folders working on one study."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.engine import StopFlag
from engine.errors import UserError
from tuning.study.result import StudyResult
from tuning.study.run import tune
from tuning.study.spec import load_tuning

sys.path.insert(0, str(Path(__file__).parent))

from test_tune import CountingStop, records_in, write_study

USER = "postgres"
"""The server refuses to run as root; Debian's package makes this user."""


def program(name: str) -> str | None:
    """One of PostgreSQL's programs: Debian keeps them out of the search path."""
    found = [path for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}") if path.is_file()]
    return str(found[-1]) if found else shutil.which(name)


def as_server_user(*command: str) -> None:
    user = USER if os.geteuid() == 0 else None
    # A pipe would stay open in the server, and with it the call.
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(command, stdout=said, stderr=said, timeout=60, cwd="/", user=user)
        said.seek(0)
        text = said.read().strip()
    if done.returncode:
        pytest.skip(f"PostgreSQL does not run here: {text.splitlines()[-1]}")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """URL of a fresh database on a socket."""
    initdb, control = program("initdb"), program("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    driver = next((name for name in ("psycopg", "psycopg2") if find_spec(name)), None)
    if driver is None:
        pytest.skip("no driver for PostgreSQL is installed (pip install 'psycopg[binary]')")
    folder = Path(tempfile.mkdtemp(prefix="elolab-"))  # pytest's own folders are closed to other users
    folder.chmod(0o777)
    data = folder / "data"
    as_server_user(initdb, "-D", str(data), "-U", USER, "--auth=trust", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    as_server_user(control, "-D", str(data), "-w", "-o", options, "-l", str(folder / "log"), "start")
    try:
        yield f"postgresql+{driver}://{USER}@/postgres?host={folder}"
    finally:
        as_server_user(control, "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder)


def test_two_folders_work_on_one_study_in_postgresql(server: str, tmp_path: Path) -> None:
    path = write_study(tmp_path, storage=server, parameters=["lmr_base"], games=46)

    def run(folder: str, stop: StopFlag | None = None) -> StudyResult:
        return tune(load_tuning(path), tmp_path / folder, stream=io.StringIO(), presets=tmp_path, stop=stop)

    one = run("one", stop=CountingStop(20))
    assert one.interrupted
    assert run("two").waiting_for
    ended = run("one")
    assert len(ended.rounds) == ended.planned_rounds
    own, theirs = (
        {record.pairing.round for record in records_in(tmp_path / name) if not record.pairing.series}
        for name in ("one", "two")
    )
    assert {end.number for end in ended.rounds} <= own | theirs
    assert not own & theirs


def test_a_database_that_is_not_there_is_one_line(server: str, tmp_path: Path) -> None:
    path = write_study(tmp_path, storage=server.replace("/postgres?", "/missing?"))
    with pytest.raises(UserError, match='database "missing" does not exist') as raised:
        tune(load_tuning(path), tmp_path / "out", stream=io.StringIO())
    assert "\n" not in str(raised.value)
