"""A folder's record of what played its games: the players' files, elolab's driver code, and the refused workers.

A resumed run must play with the recorded files and driver code; see ``arena.provenance.sources``. Folders of earlier
versions record less, and a run compares only what its folder records.

The files of an external player are its program and the files named by its arguments and options. Digests distinguish
builds. Files that a program finds by itself are not recorded, such as the modules of a script or an opening book with a
fixed name.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from elolab.arena.play.store import Store
from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.provenance.sources import SHOWN_DIGITS, driver_identity
from elolab.arena.records import GameJob, PlayerSpec

PROGRAMS = "program files"
"""Metadata key of the programs that played: lists of path, working directory and digest, one for each build."""
OTHER_FILES = "files of players"
"""Metadata key of the other files that players' arguments and options name.

The value has lists of path, working directory and digest, one for each content of a file.
"""
DRIVERS = "driver identities"
"""Metadata key of the list of every ``driver_identity`` with which external programs played, oldest first."""
ACCEPTED = "accepted changes"
"""Metadata key of the digests of changed files and driver code that ``--accept-engine-change`` has accepted."""
REFUSED_WORKERS = "refused workers"
"""Metadata key of the refused workers. Its value maps the name of each worker to the reason."""


class GameFile(NamedTuple):
    """A file that can influence an external player's moves."""

    word: str
    """The path as written in the command, an argument or an option."""
    directory: str | None
    """The program's working directory; ``None`` for elolab's own working directory."""
    is_program: bool = True

    def digest(self) -> str | None:
        """SHA-256 of the file's current content in hexadecimal digits; ``None`` if it is missing or unreadable here."""
        path = self.path()
        return None if path is None else digest_of_file(path)

    def path(self) -> str | None:
        """Absolute path on this machine, whether or not the file exists; ``None`` for a program that is not found."""
        try:
            if self.is_program:
                return find_program([self.word], self.directory)
        except PlayerFault:
            return None
        return os.path.join(os.path.abspath(self.directory or ""), self.word)

    def is_of(self, player: PlayerSpec) -> bool:
        """Whether the player's command, arguments or options name this file."""
        return self in _named_by(player)

    @property
    def kind(self) -> str:
        """The kind of file, as a word for messages: ``program`` or ``file``."""
        return "program" if self.is_program else "file"

    def __str__(self) -> str:
        return f"{self.kind} {self.word!r}" + ("" if self.directory is None else f" in {self.directory}")


def digest_of_file(path: str | os.PathLike[str]) -> str | None:
    """SHA-256 of a regular file in hexadecimal digits; ``None`` if it is missing or unreadable."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return None
        return _digest(os.fspath(path), status.st_mtime_ns, status.st_size, status.st_ino)
    except (OSError, ValueError):  # ValueError: the path contains a null character
        return None


@functools.lru_cache(256)
def _digest(path: str, changed_ns: int, size: int, number: int) -> str:
    """SHA-256 of a file in hexadecimal digits. Cached, because workers need it before every chunk of games.

    The key of the cache is the path, the modification time in nanoseconds, the size in bytes and the inode number.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(player: PlayerSpec) -> dict[GameFile, str]:
    """Digests of an external player's program and of the files in its arguments and options, if they exist."""
    return {file: digest for file in _named_by(player) if (digest := file.digest()) is not None}


def _named_by(player: PlayerSpec) -> list[GameFile]:
    """The paths that may be a player's files: the program, and arguments and option values with a dot or slash.

    Paths of logs are left out.
    """
    if player.is_builtin or not player.command:
        return []
    program, *arguments = player.command
    named = [value for name, value in player.options if not _is_of_log(name)]
    for before, word in zip(["", *arguments], arguments, strict=False):
        name, _, value = word.partition("=")  # in --book=lines.bin, the file is named after the sign
        if not (before.startswith("-") and _is_of_log(before)):
            named += [word] if _is_of_log(name) else [word, value]
    words = [word for word in dict.fromkeys(named) if (os.sep in word or "." in word) and not word.endswith(".log")]
    return [GameFile(program, player.directory), *(GameFile(word, player.directory, False) for word in words)]


def _is_of_log(name: str) -> bool:
    """Whether an option or flag of this name sets the path of a log that the engine writes."""
    return "log" in name.lower()


class Provenance:
    """Tracks the players' files and elolab's driver code during a run and records them after the players have played.

    A file that changes during its player's first games is taken for output of the player and is not recorded.
    """

    def __init__(self, store: Store, *, accepts_changes: bool) -> None:
        """Read the record of a store.

        ``accepts_changes`` accepts changed files and driver code and records their digests in the store. For a file
        that is missing on this machine, any content on other machines is then accepted.
        """
        self._store = store
        self._recorded = recorded_files(store.metadata)
        self._drivers: list[str] = store.metadata(DRIVERS) or []
        self._refused: dict[str, str] = store.metadata(REFUSED_WORKERS) or {}
        self._noted: set[PlayerSpec] = set()
        self.files: dict[GameFile, str] = {}
        """The digest that each file of the external players must have on all machines."""
        for file, digests in self._recorded.items():
            digest = file.digest() or (None if accepts_changes else digests[-1])
            if digest is not None:
                self.files[file] = digest
        if accepts_changes and (changed := _changed(store)):
            store.record_metadata({ACCEPTED: [*(store.metadata(ACCEPTED) or ()), *changed]})

    def note(self, job: GameJob) -> None:
        """Compute the digests of the files of both players in ``job``, once for each player."""
        for player in (job.first, job.second):
            if not player.is_builtin and player not in self._noted:
                self._noted.add(player)
                for file, digest in files_of(player).items():
                    self.files.setdefault(file, digest)

    def record(self, players: Iterable[PlayerSpec], refused: Mapping[str, str]) -> None:
        """Record new files of players that have played, new driver code, and newly refused workers.

        ``refused`` maps the name of each refused worker to the reason.
        """
        new: dict[str, object] = {}
        external = [*dict.fromkeys(player for player in players if not player.is_builtin)]
        for file, digest in [*self.files.items()] if external else ():
            digests = self._recorded.get(file, [])
            if digest in digests[-1:] or not any(map(file.is_of, external)):
                continue
            if not digests and not file.is_program and file.digest() not in (None, digest):
                del self.files[file]  # the player writes this file during play
            else:
                self._recorded[file] = [*digests, digest]
                new |= _kept(self._recorded)
        if external and driver_identity() not in self._drivers[-1:]:
            self._drivers.append(driver_identity())
            new[DRIVERS] = self._drivers
        if refused.items() - self._refused.items():
            self._refused |= refused
            new[REFUSED_WORKERS] = self._refused
        if new:
            self._store.record_metadata(new)


def recorded_files(metadata: Callable[[str], Any]) -> dict[GameFile, list[str]]:
    """The recorded files of players, each with the digests of all its builds, oldest first.

    ``metadata`` is a function that returns the store's metadata for a key, ``None`` for a missing key.
    """
    found: dict[GameFile, list[str]] = {}
    for name in (PROGRAMS, OTHER_FILES):
        for word, directory, digest in metadata(name) or ():
            found.setdefault(GameFile(word, directory, name == PROGRAMS), []).append(digest)
    return found


def _kept(recorded: Mapping[GameFile, list[str]]) -> dict[str, object]:
    """The recorded files as plain data, keyed by metadata key."""
    kept: dict[str, list[list[str | None]]] = {PROGRAMS: [], OTHER_FILES: []}
    for file, digests in recorded.items():
        kept[PROGRAMS if file.is_program else OTHER_FILES] += [[file.word, file.directory, one] for one in digests]
    return {name: entries for name, entries in kept.items() if entries}


def files_in(store: Store) -> list[dict[str, str | None]]:
    """All builds of external players' files, oldest first.

    Each is a dictionary with the keys ``kind``, ``path``, ``directory`` and ``sha256``.
    """
    return [
        {"kind": file.kind, "path": file.word, "directory": file.directory, "sha256": digest}
        for file, digests in recorded_files(store.metadata).items()
        for digest in digests
    ]


def drivers_in(store: Store) -> list[str]:
    """Each ``driver_identity`` with which external programs played, oldest first."""
    return list(store.metadata(DRIVERS) or ())


def builds_in(store: Store) -> dict[str, str]:
    """The builds of the external players' files, for people: shortened digests separated by commas.

    The keys are texts with the kind and the path of a file.
    """
    return {f"{file.kind} {_place(file)}": _shown(digests) for file, digests in recorded_files(store.metadata).items()}


def builds_by_player(store: Store, players: Iterable[PlayerSpec]) -> dict[str, str]:
    """A text for each player that identifies its builds; players without a record are missing.

    For a built-in player it is ``elolab IDENTITY``. For a program it lists the files with their digests, as in ``engine
    sha256:DIGEST, net.nnue sha256:DIGEST``. Digests are shortened, and joined by ``+`` if several builds played.
    """
    identities, recorded = "+".join(sorted(store.engine_identities())), recorded_files(store.metadata)
    found = {}
    for player in players:
        if player.is_builtin:
            found[player.name] = identities and f"elolab {identities}"
            continue
        files = {
            os.path.basename(file.word): "+".join(digest[:SHOWN_DIGITS] for digest in digests)
            for file, digests in recorded.items()
            if file.is_of(player)
        }
        found[player.name] = ", ".join(f"{name} sha256:{digests}" for name, digests in files.items())
    return {name: text for name, text in found.items() if text}


def _place(file: GameFile) -> str:
    return file.word if file.directory is None else f"{file.word} in {file.directory}"


def _shown(digests: Iterable[str]) -> str:
    return ", ".join(digest[:SHOWN_DIGITS] for digest in digests)


def changed_since(store: Store) -> str:
    """A phrase about the first change to a player's file or to elolab's driver code since a folder's last games.

    Empty if there is no change, or if all changes were accepted. A file that is missing here does not count, because
    the games with it may be played on other machines.
    """
    return next(iter(_changed(store).values()), "")


def _changed(store: Store) -> dict[str, str]:
    """The changes that were not accepted: a phrase for each, keyed by the digest of the changed file or driver code."""
    found = {}
    for file, digests in recorded_files(store.metadata).items():
        now = file.digest()
        if now is not None and now != digests[-1]:
            found[now] = f"the {file.kind} {file.word!r} has changed since it played games there"
    drivers = store.metadata(DRIVERS)
    if drivers and drivers[-1] != driver_identity():
        found[driver_identity()] = (
            f"elolab's code for talking to programs has changed since it played games there (sources {drivers[-1]} "
            f"then, {driver_identity()} now)"
        )
    accepted = store.metadata(ACCEPTED) or ()
    return {digest: what for digest, what in found.items() if digest not in accepted}


def remarks_on(store: Store) -> list[tuple[str, dict[str, Any]]]:
    """Warnings about a folder's provenance, each as a message key (catalogue of ``arena``) and its fields."""
    found: list[tuple[str, dict[str, Any]]] = [
        ("provenance.builds", {"file": _place(file), "count": len(digests), "digests": _shown(digests)})
        for file, digests in recorded_files(store.metadata).items()
        if len(digests) > 1
    ]
    if len(drivers := store.metadata(DRIVERS) or ()) > 1:
        found.append(("provenance.drivers", {"count": len(drivers), "identities": _shown(drivers)}))
    if games := _games_from_used_openings(store):
        found.append(("provenance.reused", {"games": games, "count": len(store)}))
    if disturbed := [held_up for _, held_up in store.details("disturbed")]:
        worst = max(held_up["worst_ms"] for held_up in disturbed)
        found.append(("provenance.disturbed", {"games": len(disturbed), "count": len(store), "worst": f"{worst:g}"}))
    refused: dict[str, str] = store.metadata(REFUSED_WORKERS) or {}
    return found + [("provenance.refused", {"worker": worker, "reason": why}) for worker, why in refused.items()]


def _games_from_used_openings(store: Store) -> int:
    """Number of a tournament's games from openings that the same players had already played in an earlier pair."""
    if not (store.metadata("specification") or {}).get("opening_reuse"):
        return 0
    pairings = [outcome.pairing for outcome in store.outcomes()]
    uses: dict[tuple[int, int, int], set[int]] = {}
    for one in pairings:
        uses.setdefault((*sorted((one.first, one.second)), one.opening), set()).add(one.pair)  # type: ignore[arg-type]
    return sum(one.pair > min(uses[*sorted((one.first, one.second)), one.opening]) for one in pairings)  # type: ignore[index]
