"""Files of external players that travel to workers: programs and the files that arguments and options name.

A worker that lacks a file, or has another one at its path, says so; the client then sends the content once. The worker
keeps it in elolab's cache folder under its digest, so that later runs send nothing. A player whose files were sent
plays from a folder that repeats their paths: files beside each other stay so. Programs named without a path are the
worker's own, looked up in its PATH.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from elolab.arena.builds.cache import cache_folder
from elolab.arena.files import FileError, replace_file
from elolab.arena.provenance.record import GameFile, digest_of_file, files_of
from elolab.arena.provenance.sources import SHOWN_DIGITS
from elolab.arena.records import PlayerSpec, digest_of

SENT_FOLDER = "sent"
"""Subfolder of the cache: ``files`` holds contents by digest, ``players`` the folders from which players play."""
SCRIPT = b"#!"
"""Beginning of a program that runs on every platform that has its interpreter."""


@dataclass(frozen=True)
class SentFile:
    """The content of a file."""

    digest: str
    data: bytes


def platform_name() -> str:
    """System and processor architecture of this machine, such as ``linux x86_64``."""
    return f"{sys.platform} {platform.machine()}"


def files_to_send(players: Iterable[PlayerSpec], wanted: Mapping[GameFile, str]) -> dict[GameFile, str]:
    """Absolute path of each file that this machine can send for the players, with the digest in ``wanted``."""
    found = {}
    for player in players:
        for file, digest in files_of(player).items():
            has_path = not file.is_program or os.sep in file.word
            if has_path and wanted.get(file) == digest and (path := file.path()) is not None:
                found[file] = os.path.abspath(path)
    return found


def read_file(path: str, digest: str) -> SentFile | None:
    """The content of a file of this machine; ``None`` if it no longer has this digest."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    return SentFile(digest, data) if hashlib.sha256(data).hexdigest() == digest else None


def keep(sent: SentFile) -> str:
    """Keep a file that has arrived; returns the reason if that fails, else an empty text."""
    shown = sent.digest[:SHOWN_DIGITS]
    if hashlib.sha256(sent.data).hexdigest() != sent.digest:
        return f"the file {shown} has arrived damaged"
    path = _kept(sent.digest)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, sent.data)
        path.chmod(0o555)
    except (FileError, OSError) as error:
        return f"the file {shown} cannot be kept: {error}"
    return ""


@dataclass(frozen=True)
class Placed:
    """A player as a worker plays it."""

    player: PlayerSpec
    lacking: tuple[GameFile, ...] = ()
    """Files that must be sent first."""
    sent: tuple[GameFile, ...] = ()
    """Files that come from the client instead of the worker."""
    problem: str = ""
    """Reason why the worker cannot play it; empty if it can."""


def placed(player: PlayerSpec, sendable: Mapping[GameFile, str], wanted: Mapping[GameFile, str], sender: str) -> Placed:
    """Place a player on this worker; ``sendable`` has the paths on the client, ``sender`` is the client's platform.

    If the worker has all files with the digests in ``wanted``, the player stays as it is.
    """
    own = {file: path for file, path in sendable.items() if file.is_of(player)}
    if all(file.digest() == wanted[file] for file in own):
        return Placed(player)
    lacking = tuple(file for file in own if digest_of_file(_kept(wanted[file])) != wanted[file])
    if lacking:
        return Placed(player, lacking)
    here = platform_name()
    for file in own:
        if file.is_program and sender != here and not _is_script(_kept(wanted[file])):
            return Placed(player, sent=(*own,), problem=(
                f"its {file} is sent from {sender}, this worker is {here}; name a program without a path, and each "
                "worker looks for its own in its PATH"
            ))  # fmt: skip
    try:
        return Placed(_moved(player, own, wanted), sent=(*own,))
    except OSError as error:
        return Placed(player, sent=(*own,), problem=f"its files cannot be placed: {error}")


def _moved(player: PlayerSpec, paths: Mapping[GameFile, str], wanted: Mapping[GameFile, str]) -> PlayerSpec:
    """The player with its files, and its working directory if it has one, in a folder of this machine."""
    directory = None if player.directory is None else _directory_of(paths, player.directory)
    identity = digest_of([directory, sorted((path, wanted[file]) for file, path in paths.items())])
    root = cache_folder() / SENT_FOLDER / "players" / identity
    new: dict[str, str] = {}
    for file, path in paths.items():
        place = _below(root, path)
        if digest_of_file(place) != wanted[file]:
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, _kept(wanted[file]).read_bytes())
            place.chmod(0o755)
        new[file.word] = str(place)
    if directory is not None:
        (folder := _below(root, directory)).mkdir(parents=True, exist_ok=True)
        directory = str(folder)
    program, *words = player.command
    return replace(
        player, command=(new.get(program, program), *(_with_path(word, new) for word in words)),
        options=tuple((name, new.get(value, value)) for name, value in player.options),
        directory=directory, built=None,
    )  # fmt: skip


def _with_path(word: str, new: Mapping[str, str]) -> str:
    """A word of a command with the path of its file on this machine: ``book.bin`` or ``--book=book.bin``."""
    name, sign, value = word.partition("=")
    return new[word] if word in new else f"{name}{sign}{new[value]}" if value in new else word


def _directory_of(paths: Mapping[GameFile, str], directory: str) -> str:
    """The absolute path of a working directory on the client, which follows from the path of a relative file in it."""
    if os.path.isabs(directory):
        return os.path.normpath(directory)
    for file, path in paths.items():
        end = os.path.normpath(os.path.join(directory, file.word))
        if not os.path.isabs(file.word) and path.endswith(f"{os.sep}{end}"):
            return os.path.normpath(os.path.join(path.removesuffix(end), directory))
    return os.path.join(os.sep, os.path.normpath(directory).replace(os.pardir, ""))


def _below(root: Path, path: str) -> Path:
    return root / path.lstrip(os.sep)


def _kept(digest: str) -> Path:
    return cache_folder() / SENT_FOLDER / "files" / digest


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SCRIPT)) == SCRIPT
