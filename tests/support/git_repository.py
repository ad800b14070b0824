"""A small git repository whose engine is a mock that plays Othello over GTP."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MOCK = Path(__file__).parent / "mock_othello_engines.py"
BUILD = "echo 'now building' && cp engine.sh mine && chmod +x mine && echo built >> builds.txt"
"""The command line that makes the program ``mine`` of a commit; ``builds.txt`` counts how often it ran."""


class GitRepository:
    """A repository in a folder; commits have fixed authors and times, so that their names do not change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        """Run git in the folder and return its output."""
        who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        time = {f"GIT_{role}_DATE": "2024-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
        nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        words = ("-c", "protocol.file.allow=always", *words)
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=os.environ | who | time | nobody, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, subject: str, **files: str) -> str:
        """Write files, whose names have ``_`` for a dot, commit them, and return the commit's name."""
        for name, text in files.items():
            (self.folder / name.replace("_", ".")).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def commit_engine(self, subject: str, mode: str = "normal") -> str:
        """Commit a mock engine; ``BUILD`` makes its program."""
        script = f'#!/bin/sh\n# {subject}\nexec {sys.executable} -I -S {MOCK} {mode} protocol=gtp "$@"\n'
        return self.commit(subject, engine_sh=script)
