"""Files of external players that the client sends to workers: programs, and files named in arguments and options.

A worker reports a file that it lacks or that differs. The client then sends the content once. The worker keeps it in
elolab's cache folder under its digest, so that later runs send nothing. A player with sent files runs in a folder that
reproduces the client's paths, so that files in one directory stay together. A program named without a path is not sent:
each worker finds its own in ``PATH``.
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
"""Subfolder of the cache: ``files`` holds contents by digest, ``players`` the folders in which players run."""
SCRIPT = b"#!"
"""First bytes of a script, which runs on every platform that has its interpreter."""


@dataclass(frozen=True)
class SentFile:
    """A file that the client sends: its SHA-256 digest and its content."""

    digest: str
    data: bytes


def platform_name() -> str:
    """System and processor architecture of this machine, such as ``linux x86_64``."""
    return f"{sys.platform} {platform.machine()}"


def files_to_send(players: Iterable[PlayerSpec], wanted: Mapping[GameFile, str]) -> dict[GameFile, str]:
    """Absolute paths of the players' files whose content on this machine has the digest in ``wanted``.

    Programs named without a path are not included.
    """
    found = {}
    for player in players:
        for file, digest in files_of(player).items():
            has_path = not file.is_program or os.sep in file.word
            if has_path and wanted.get(file) == digest and (path := file.path()) is not None:
                found[file] = os.path.abspath(path)
    return found


def read_file(path: str, digest: str) -> SentFile | None:
    """Read a file of this machine; ``None`` if its content no longer has this digest."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    return SentFile(digest, data) if hashlib.sha256(data).hexdigest() == digest else None


def keep(sent: SentFile) -> str:
    """Store a received file in the cache; returns an error message, empty if that succeeds."""
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
    """A player with the paths of its files on this worker, or the reason why it cannot play yet."""

    player: PlayerSpec
    lacking: tuple[GameFile, ...] = ()
    """Files that the client must send first."""
    sent: tuple[GameFile, ...] = ()
    """Files that the worker received from the client."""
    problem: str = ""
    """Reason why the worker cannot run the player; empty if it can."""


def placed(player: PlayerSpec, sendable: Mapping[GameFile, str], wanted: Mapping[GameFile, str], sender: str) -> Placed:
    """Find a player's files on this worker; received files are copied to paths at which the player finds them.

    ``sendable`` has the files' paths on the client, ``wanted`` their digests, and ``sender`` is the client's platform.
    If the worker has the same files at the same paths, the player is returned unchanged.
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
    """Return a player with the paths of its received files, which are copied from the cache into a folder of its own.

    A working directory is created there too. ``paths`` has the files' paths on the client, ``wanted`` their digests.
    """
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
    """Replace the file name in a word of a command, such as ``book.bin`` or ``--book=book.bin``, by its new path.

    ``new`` has the new path of each file name; a word without such a file name is returned unchanged.
    """
    name, sign, value = word.partition("=")
    return new[word] if word in new else f"{name}{sign}{new[value]}" if value in new else word


def _directory_of(paths: Mapping[GameFile, str], directory: str) -> str:
    """Absolute path, on the client, of a player's working directory.

    ``paths`` has the absolute paths of the player's files. A relative ``directory`` is inferred from a file that the
    player names relative to it, by removing that name from the file's absolute path. If there is no such file,
    ``directory`` is taken as relative to the root folder.
    """
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
