"""A git repository, local or remote, and its commits; runs the program ``git``.

A source is written ``REPO@REV``. ``REPO`` is a folder or a URL. ``REV`` is any revision that git accepts, such as
``main``, ``v1.2``, ``HEAD~1`` or a commit hash. elolab keeps a copy of a remote repository in its cache folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elolab.arena.builds.cache import cache_folder, waiting_lock
from elolab.arena.records import digest_of
from elolab.engine.errors import UserError
from elolab.engine.language import console
from elolab.engine.settings.configuration import nearest

SHOWN_DIGITS = 8
"""Number of hexadecimal digits of a commit hash in players' names and messages."""
SOURCE_FORM = "REPO@REV, such as ./mine@HEAD~1 or https://example.org/mine.git@main"
_URL = re.compile(r"[a-z+]+://|[\w.-]+@[\w.-]+:|[\w.-]{2,}:(?!\\)")
"""Matches the beginning of a URL or of an SSH address such as ``git@host:``, as git accepts them."""
_OF_CALLER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
"""Environment variables that git sets for a hook; they would make git use the hook's repository."""
DIRTY_SHOWN = 3
"""Maximum number of changed files listed in the warning about uncommitted changes."""


class RepositoryError(UserError):
    """Raised if a repository or revision cannot be read; the message names what is missing and quotes git."""


@dataclass(frozen=True)
class Commit:
    """One commit of a repository."""

    name: str
    """The full hash: 40 hexadecimal digits, or 64 in a SHA-256 repository."""
    subject: str
    """First line of the commit message."""
    date: str
    """Date of the commit, as YYYY-MM-DD."""

    @property
    def short(self) -> str:
        """The first ``SHOWN_DIGITS`` digits of the hash."""
        return self.name[:SHOWN_DIGITS]


def split_source(text: str) -> tuple[str, str]:
    """Split ``REPO@REV`` into repository and revision; raises ``RepositoryError`` if the text has another form."""
    found = re.fullmatch(r"(.+)@([^@:\s{][^@:\s]*(?:@\{[^}]*\})?)", text)
    if found is None:
        raise RepositoryError(f"source {text!r}: expected {SOURCE_FORM}")
    return found[1], found[2]


def is_source(text: str) -> bool:
    """Whether the text is ``REPO@REV``, where ``REPO`` is a URL or an existing folder."""
    try:
        repository, _ = split_source(text)
    except RepositoryError:
        return False
    return _is_url(repository) or Path(repository).expanduser().is_dir()


def _is_url(repository: str) -> bool:
    return _URL.match(repository) is not None and not Path(repository).expanduser().exists()


class Repository:
    """A repository, given by its folder or URL; git runs only when a method needs it."""

    def __init__(self, place: str) -> None:
        self.is_remote = _is_url(place)
        self._given = place
        self._is_fresh = False

    @cached_property
    def place(self) -> str:
        """The URL, or the absolute path of the local repository that contains the given folder.

        Raises ``RepositoryError`` if the folder does not exist or is not in a repository.
        """
        if self.is_remote:
            return self._given
        folder = Path(self._given).expanduser().absolute()
        if not folder.is_dir():
            raise RepositoryError(f"repository {self._given!r}: no such folder")
        try:
            top = run_git("rev-parse", "--show-toplevel", folder=folder)
        except RepositoryError:  # a repository without a working tree
            top = run_git("rev-parse", "--absolute-git-dir", folder=folder)
        return top

    @property
    def name(self) -> str:
        """Name of the repository: the last part of its path or URL, without ``.git``."""
        parts = [part for part in re.split(r"[/:\\]", self.place.removesuffix("/.git")) if part]
        return parts[-1].removesuffix(".git") or "repository"

    @property
    def folder(self) -> Path:
        """Folder in which git runs: the local repository, or the cached copy of a remote one."""
        return self._copy if self.is_remote else Path(self.place)

    @cached_property
    def origin(self) -> str:
        """Base of submodules' relative URLs: the URL of a local repository's remote ``origin``, else ``place``."""
        if not self.is_remote:
            try:
                return run_git("config", "remote.origin.url", folder=self.folder)
            except RepositoryError:
                pass
        return self.place

    def commit(self, revision: str, *, fetch: bool = True) -> Commit:
        """The commit that a revision refers to.

        Updates the copy of a remote repository first, unless ``fetch`` is false or the revision is a full hash that the
        copy contains. Raises ``RepositoryError`` for an unknown revision; the message suggests the most similar name.
        """
        is_name = re.fullmatch(r"[0-9a-f]{40,64}", revision) is None
        if self.is_remote and fetch and (is_name or self._found(revision) is None):
            self._fetch()
        found = self._found(revision)
        if found is None:
            raise RepositoryError(f"repository {self.place}: no revision {revision!r}{self._hint(revision)}")
        return found

    def line(self, first: str, last: str) -> list[Commit]:
        """The commits after ``first``, up to and including ``last``, along first parents; the oldest comes first.

        ``first`` and ``last`` are full hashes. Raises ``RepositoryError`` unless first parents lead from ``last`` to
        ``first``.
        """
        names = run_git("rev-list", "--first-parent", "--reverse", last, folder=self.folder).split()
        if first not in names[:-1]:
            reason = "they are the same commit" if first == last else f"{first[:SHOWN_DIGITS]} is not on its main line"
            raise RepositoryError(
                f"repository {self.place}: no commits lead from {first[:SHOWN_DIGITS]} to {last[:SHOWN_DIGITS]}: "
                f"{reason}",
                "give a commit that lies before the other along first parents",
            )
        return [one for name in names[names.index(first) + 1 :] if (one := self._found(name)) is not None]

    def changed_files(self, commit: str) -> list[str]:
        """Tracked files with uncommitted changes in the working tree of a local repository.

        Empty if another commit than ``commit`` is checked out, or if the repository is remote or has no working tree.
        """
        if self.is_remote:
            return []
        try:
            if run_git("rev-parse", "HEAD", folder=self.folder) != commit:
                return []
            lines = run_git("status", "--porcelain", "--untracked-files=no", folder=self.folder).splitlines()
        except RepositoryError:  # no working tree
            return []
        return [line.strip().partition(" ")[2].strip() for line in lines]

    def _found(self, revision: str) -> Commit | None:
        words = ("log", "-1", "--no-show-signature", "--format=%H%x00%cs%x00%s", "--end-of-options", revision, "--")
        try:
            name, date, subject = run_git(*words, folder=self.folder).split("\0")
        except RepositoryError as error:
            if "dubious ownership" in str(error) or not self.folder.exists():
                raise
            return None
        return Commit(name, subject, date)

    def _hint(self, revision: str) -> str:
        names = run_git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", folder=self.folder)
        return nearest(revision, names.split())

    @property
    def _copy(self) -> Path:
        copies = cache_folder() / "repositories"
        return copies / f"{self.name}-{digest_of(self.place)[:12]}.git"

    def _fetch(self) -> None:
        """Clone a remote repository into the cache, or update the clone. Later calls on this object do nothing."""
        if self._is_fresh:
            return
        copy = self._copy
        copy.parent.mkdir(parents=True, exist_ok=True)
        notify("builds.fetching", repository=self.place)
        with waiting_lock(copy.with_suffix(".lock")):
            if copy.is_dir():
                run_git("fetch", "--quiet", "--force", "--prune", "--tags", "origin", "+refs/heads/*:refs/heads/*",
                        folder=copy)  # fmt: skip
            else:
                unfinished = copy.with_suffix(".unfinished")
                shutil.rmtree(unfinished, ignore_errors=True)
                run_git("clone", "--quiet", "--bare", self.place, str(unfinished))
                unfinished.rename(copy)
        self._is_fresh = True


def run_git(*words: str, folder: Path | None = None, options: Sequence[str] = ()) -> str:
    """Run ``git`` in ``folder`` (default: the current one); returns its output without the final newline.

    ``words`` are the git command and its arguments; ``options`` come before the command. Raises ``RepositoryError``
    with git's error message if git fails.
    """
    try:
        done = subprocess.run(
            ["git", *options, *words],
            cwd=folder,
            env=environment() | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        missing = shutil.which("git") is None
        raise RepositoryError("the program git is not installed" if missing else f"{folder}: no such folder") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        fatal = next((line for line in said if line.startswith(("fatal:", "error:"))), said[-1])
        raise RepositoryError(f"git {words[0]} in {folder or Path.cwd()}: {fatal}")
    return done.stdout.rstrip("\n")


def environment() -> dict[str, str]:
    """This process's environment without the variables that a git hook sets for its own repository."""
    return {name: value for name, value in os.environ.items() if name not in _OF_CALLER}


def notify(key: str, **fields: object) -> None:
    """Print a message to standard error; ``key`` is its key in the catalogue of ``arena``, ``fields`` its values."""
    print(f"elolab: {console('elolab.arena')(key, **fields)}", file=sys.stderr, flush=True)
