"""A study in PostgreSQL: a real server on this machine, started for the test, two folders working on one study."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.storage import RoundTrials
from elolab.tuning.study.study_spec import load_tuning
from elolab.tuning.study.tuning_run import tune

sys.path.insert(0, str(Path(__file__).parent))

from tests.support.small_studies import CountingStop, records_in, write_study

pytestmark = pytest.mark.integration

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
        return tune(load_tuning(path), tmp_path / folder, stream=io.StringIO(), stop=stop)

    one = run("one", stop=CountingStop(12))
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


def test_workers_may_begin_together_on_an_empty_database(server: str, tmp_path: Path) -> None:
    administer = program("psql")
    assert administer is not None
    folder = server.partition("?host=")[2]
    as_server_user(administer, "-h", folder, "-U", USER, "-c", "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    begin_together(server, tmp_path)


def test_workers_may_begin_together_on_an_empty_file(tmp_path: Path) -> None:
    for kind in ("sqlite", "journal"):
        begin_together(f"{kind}:///{tmp_path / kind}", tmp_path)


def begin_together(url: str, folder: Path) -> None:
    """Begin a round as each of several workers at once; every round has a number of its own."""
    spec = load_tuning(write_study(folder, storage=url, parameters=["lmr_base"]))
    together = threading.Barrier(4)

    def begin(worker: int) -> int:
        together.wait(timeout=30)
        return RoundTrials(spec, folder, str(worker), 100).ask(StudyState(Observations(spec.space), openings=100), 100)[
            0
        ]

    with ThreadPoolExecutor(together.parties) as pool:
        assert sorted(pool.map(begin, range(together.parties))) == [0, 1, 2, 3]


def test_a_database_that_is_not_there_is_one_line(server: str, tmp_path: Path) -> None:
    path = write_study(tmp_path, storage=server.replace("/postgres?", "/missing?"))
    with pytest.raises(UserError, match='database "missing" does not exist') as raised:
        tune(load_tuning(path), tmp_path / "out", stream=io.StringIO())
    assert "\n" not in str(raised.value)
