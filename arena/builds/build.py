"""Builds of commits. Each is made once and kept in the cache folder, in a folder named after what it depends on.

``builds/DIGEST/tree`` is the checked-out and built tree. ``builds/DIGEST/build.json`` says what it is. It is written
last, so that a build without it is unfinished, and the next run makes it again. A lock keeps two runs from making the
same build at once. The folder never moves, because programs may contain paths of their tree.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import time
from collections import deque
from functools import cache
from pathlib import Path

from elolab.arena.builds.cache import cache_folder, waiting_lock
from elolab.arena.builds.repository import Commit, Repository, environment, run_git, tell
from elolab.arena.files import replace_file
from elolab.arena.players.supervisor import SUPERVISOR, kill_group
from elolab.arena.records import digest_of, utc_now
from elolab.engine.errors import UserError

RECORD_NAME = "build.json"
TREE_NAME = "tree"
GATE = 'read -r _ && exec /bin/sh -c "$1" </dev/null'
"""Script that runs its first argument once it has read a line, which comes when the supervisor knows its process."""
LINES_SHOWN = 12
"""Number of lines of a failed build's output that are shown."""


class BuildError(UserError):
    """Raised if a commit's build fails or makes no program; the message names the file with the build's output."""


@cache
def platform_name() -> str:
    """The machine on which a build runs: system, architecture and processor, because builds may be for it alone."""
    processor = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
    except OSError:
        pass
    return " ".join(filter(None, (platform.system(), platform.machine(), processor)))


def build_folder(commit: str, build: str) -> Path:
    """The folder of a build on this machine. A commit's name decides its files, wherever its repository lies."""
    return cache_folder() / "builds" / digest_of([commit, build, platform_name()])


def tree_of(commit: str, build: str) -> Path:
    """The folder in which a commit is checked out and built."""
    return build_folder(commit, build) / TREE_NAME


def is_built(commit: str, build: str) -> bool:
    """Whether the build is finished."""
    return (build_folder(commit, build) / RECORD_NAME).is_file()


def build_commit(repository: Repository, commit: Commit, build: str) -> Path:
    """Check out and build a commit unless that was done before; returns its tree.

    ``build`` is a command line of the shell, run in the tree; nothing is run if it is empty. If it fails, prints its
    last lines to standard error, keeps nothing but its output in ``DIGEST.log``, and raises ``BuildError``.
    """
    folder = build_folder(commit.name, build)
    record = folder / RECORD_NAME
    if record.is_file():
        return folder / TREE_NAME
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")

    def waits() -> None:
        tell("builds.waiting", commit=commit.short, repository=repository.name)

    with waiting_lock(folder.with_suffix(".lock"), waits):
        if record.is_file():
            return folder / TREE_NAME
        tell("builds.building", commit=commit.short, subject=commit.subject, repository=repository.name, build=build)
        began = time.monotonic()
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _check_out(repository, commit, folder / TREE_NAME)
            if build:
                _run(build, folder / TREE_NAME, log, f"commit {commit.short} of {repository.place}")
                log.rename(folder / "build.log")
            what = {"repository": repository.place, "commit": commit.name, "subject": commit.subject, "build": build}
            when = {"built_at": utc_now(), "seconds": round(time.monotonic() - began, 1)}
            content = what | {"platform": platform_name(), "digest": folder.name} | when
            replace_file(record, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        tell("builds.built", commit=commit.short, seconds=f"{time.monotonic() - began:.0f}", folder=folder)
    return folder / TREE_NAME


def _check_out(repository: Repository, commit: Commit, tree: Path) -> None:
    """Check out a commit with its submodules; objects stay in the repository."""
    plain = ("-c", "core.autocrlf=false", "-c", "advice.detachedHead=false", "-c", "protocol.file.allow=always")
    run_git("clone", "--quiet", "--shared", "--no-checkout", str(repository.folder), str(tree), options=plain)
    run_git("remote", "set-url", "origin", repository.origin, folder=tree)
    run_git("checkout", "--quiet", "--detach", commit.name, folder=tree, options=plain)
    if (tree / ".gitmodules").is_file():
        run_git("submodule", "--quiet", "update", "--init", "--recursive", folder=tree, options=plain)


def _run(build: str, tree: Path, log: Path, what: str) -> None:
    """Run a build and write its output to ``log``. Its processes end with this one, also if it is killed."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["/bin/sh", "-c", GATE, "sh", build], cwd=tree, env=environment(), stdin=subprocess.PIPE, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            SUPERVISOR.watch(process.pid)
            process.communicate(b"go\n")
            code = process.returncode
        finally:
            kill_group(process.pid)
            process.wait()
            SUPERVISOR.release(process.pid)
    if code:
        with log.open(encoding="utf-8", errors="replace") as lines:
            print("".join(deque(lines, LINES_SHOWN)), end="", file=sys.stderr, flush=True)
        raise BuildError(f"{what}: the build {build!r} failed with exit code {code}", f"its output is in {log}")
