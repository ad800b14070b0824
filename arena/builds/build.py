"""Builds commits; every build is kept in the cache folder and reused.

A build is identified by a digest of the commit, the build command and the machine. ``builds/DIGEST/tree`` holds the
checked-out and compiled sources. ``builds/DIGEST/build.json`` describes the build and is written last: a folder without
it is incomplete and is built again. A lock prevents two runs from making one build at the same time. The folder is
never moved, because programs may contain absolute paths.
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
from elolab.arena.builds.repository import Commit, Repository, environment, notify, run_git
from elolab.arena.files import replace_file
from elolab.arena.players.supervisor import SUPERVISOR, kill_group
from elolab.arena.records import digest_of, utc_now
from elolab.engine.errors import UserError

RECORD_NAME = "build.json"
TREE_NAME = "tree"
GATE = 'read -r _ && exec /bin/sh -c "$1" </dev/null'
"""Shell script that waits for a line of input, then runs the command in its first argument.

elolab sends the line once its supervisor process watches the shell, so that the command never runs unsupervised.
"""
LINES_SHOWN = 12
"""Maximum number of lines shown from the output of a failed build."""


class BuildError(UserError):
    """Raised if a build fails or does not produce the player's program; the message names the log file of the build."""


@cache
def platform_name() -> str:
    """System, architecture and processor of this machine, as text; a build is used only where this text is equal."""
    processor = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
    except OSError:
        pass
    return " ".join(filter(None, (platform.system(), platform.machine(), processor)))


def build_folder(commit: str, build: str) -> Path:
    """Folder of a build in the cache; its name depends on the commit's hash, the build command and this machine."""
    return cache_folder() / "builds" / digest_of([commit, build, platform_name()])


def tree_of(commit: str, build: str) -> Path:
    """Folder that holds the checked-out and compiled sources of a commit."""
    return build_folder(commit, build) / TREE_NAME


def is_built(commit: str, build: str) -> bool:
    """Whether the cache holds a complete build of the commit."""
    return (build_folder(commit, build) / RECORD_NAME).is_file()


def build_commit(repository: Repository, commit: Commit, build: str) -> Path:
    """Check out and build a commit, unless the cache has the build already; returns the folder of its sources.

    ``build`` is a shell command that runs in that folder; an empty text builds nothing. If the command fails, prints
    the last lines of its output to standard error, keeps the whole output in ``builds/DIGEST.log``, removes the folder
    ``builds/DIGEST``, and raises ``BuildError``.
    """
    folder = build_folder(commit.name, build)
    record = folder / RECORD_NAME
    if record.is_file():
        return folder / TREE_NAME
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")

    def waits() -> None:
        notify("builds.waiting", commit=commit.short, repository=repository.name)

    with waiting_lock(folder.with_suffix(".lock"), waits):
        if record.is_file():
            return folder / TREE_NAME
        notify("builds.building", commit=commit.short, subject=commit.subject, repository=repository.name, build=build)
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
        notify("builds.built", commit=commit.short, seconds=f"{time.monotonic() - began:.0f}", folder=folder)
    return folder / TREE_NAME


def _check_out(repository: Repository, commit: Commit, tree: Path) -> None:
    """Check out a commit and its submodules into ``tree``, which shares the repository's git objects."""
    plain = ("-c", "core.autocrlf=false", "-c", "advice.detachedHead=false", "-c", "protocol.file.allow=always")
    run_git("clone", "--quiet", "--shared", "--no-checkout", str(repository.folder), str(tree), options=plain)
    run_git("remote", "set-url", "origin", repository.origin, folder=tree)
    run_git("checkout", "--quiet", "--detach", commit.name, folder=tree, options=plain)
    if (tree / ".gitmodules").is_file():
        run_git("submodule", "--quiet", "update", "--init", "--recursive", folder=tree, options=plain)


def _run(build: str, tree: Path, log: Path, what: str) -> None:
    """Run a build command in ``tree`` and write its output to ``log``; raises ``BuildError`` if it fails.

    ``what`` names the commit in the error message. The command's processes end with this process, even if it is killed.
    """
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
