"""``status.json``: how a run ended, for other programs to read. ``configs/schemas/status.json`` describes its keys.

A run writes the file when it begins, with the reason ``running``, and again when it ends. After a killed process the
file still contains ``running``; ``read_status`` then returns ``died``, because no process holds the folder's lock.
"""

from __future__ import annotations

import json
import os
import platform
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.files import FileError, replace_file
from elolab.arena.play.dialogue_log import file_stem
from elolab.arena.play.live import read_live
from elolab.arena.provenance.record import drivers_in, files_in
from elolab.arena.records import digest_of, utc_now
from elolab.arena.statistics.faults import FORFEITS, cause_of
from elolab.engine.language import DEFAULT_LANGUAGE

if TYPE_CHECKING:
    from elolab.arena.play.store import Store
    from elolab.arena.records import GameRecord

STATUS_NAME = "status.json"
SCHEMA_VERSION = 1
FAULTS_FOLDER = "faults"
"""Subfolder of a run with one text file per fault: the fault and the last lines exchanged before it."""
MOST_FAULTS = 100
"""Maximum number of faults that the status lists. Each has a file; the first ones in schedule order are kept."""

RUNNING = "running"
FINISHED = "finished"
DECIDED = "decided"
INCOMPLETE = "incomplete"
INTERRUPTED = "interrupted"
FAULTS = "faults"
FAILED = "failed"
DIED = "died"
UNKNOWN = "unknown"
REASONS = (RUNNING, FINISHED, DECIDED, INCOMPLETE, INTERRUPTED, FAULTS, FAILED, DIED, UNKNOWN)
"""Values of ``reason``, how a run ended.

``decided``: a sequential test ended the run. ``incomplete``: games are missing because a player could not be started.
``faults``: too many faults stopped the run. ``unknown``: an older version played the run.
"""


@dataclass
class Conclusion:
    """The findings of a run so far. The code of each kind of run updates them."""

    verdict: str | None = None
    """Verdict of the whole run, such as ``H1 accepted``; ``None`` if there is none yet or only parts have verdicts."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Verdicts of the parts of a run, keyed by the name of the part."""
    is_decided: bool = False
    """Whether a sequential test ended the run."""


@dataclass
class RunEnding:
    """How a run ended."""

    reason: str
    signal: int | None = None
    """Number of the signal that interrupted the run; ``None`` if no signal did."""
    error: str | None = None
    """The error that ended the run, in one line; ``None`` if no error did."""


def new_status(kind: str, key: str) -> dict[str, Any]:
    """The status of a run that begins now. ``kind`` is the kind of run.

    ``key`` is the metadata key under which the store has the run's specification.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "specification": key,
        "reason": RUNNING,
        "signal": None,
        "error": None,
        "verdict": None,
        "verdicts": {},
        "began_at": utc_now(),
        "ended_at": None,
        "host": platform.node(),
        "process": os.getpid(),
    }


def ended_status(
    status: Mapping[str, Any], store: Store, planned: int, conclusion: Conclusion, ending: RunEnding
) -> dict[str, Any]:
    """The status of a run that ends now: its findings and how it ended. ``planned`` is the run's number of games.

    Also writes a file for each fault, with the last lines exchanged before it, into the store's folder.
    """
    faulty = faulty_games(store)
    for record in faulty[:MOST_FAULTS]:
        write_dialogue(store.directory, record)
    return _with_end(status, conclusion, ending) | stored_facts(store, status["specification"], planned, faulty)


def _with_end(status: Mapping[str, Any], conclusion: Conclusion, ending: RunEnding) -> dict[str, Any]:
    return {
        **status,
        "reason": ending.reason,
        "signal": None if ending.signal is None else signal.Signals(ending.signal).name,
        "error": ending.error,
        "verdict": conclusion.verdict,
        "verdicts": dict(conclusion.verdicts),
        "ended_at": None if ending.reason == RUNNING else utc_now(),
    }


def joined_status(
    status: Mapping[str, Any],
    directory: Path,
    parts: Sequence[str],
    planned: int,
    specification: str,
    conclusion: Conclusion,
    ending: RunEnding,
) -> dict[str, Any]:
    """The status of a folder whose games are stored in the runs of its subfolders ``parts``.

    ``planned`` is the maximum number of games, ``specification`` the digest of the specification; ``conclusion`` and
    ``ending`` are for the whole folder.
    """
    found = [(part, kept) for part in parts if "games" in (kept := _kept(directory / part))]
    faults = [
        {**fault, "dialogue": fault["dialogue"] and f"{part}/{fault['dialogue']}"}
        for part, kept in found
        for fault in kept["faults"]
    ]
    digests = [kept["digests"] for _, kept in found]
    together = {
        key: list({repr(entry): entry for digest in digests for entry in digest[key]}.values())
        for key in ("engines", "files", "drivers")
    }
    return _with_end(status, conclusion, ending) | {
        "format": None,
        "games": {"planned": planned}
        | {key: sum(kept["games"][key] for _, kept in found) for key in ("played", "faults")},
        "faults": faults[:MOST_FAULTS],
        "digests": {"games": digest_of([digest["games"] for digest in digests]), "specification": specification}
        | together,
    }


def stored_facts(store: Store, key: str, planned: int, faulty: Sequence[GameRecord]) -> dict[str, Any]:
    """The part of a status that is computed from the store.

    ``key`` is the metadata key under which the store keeps the specification. ``planned`` is the run's number of games;
    ``faulty`` are the games that a fault ended.
    """
    specification = store.metadata(key)
    return {
        "format": _format_of(specification),
        "games": {"planned": planned, "played": store.played, "faults": len(faulty)},
        "faults": [_fault(record, store.directory) for record in faulty[:MOST_FAULTS]],
        "digests": {
            "games": store.digest(),
            "specification": None if specification is None else digest_of(specification),
            "engines": sorted(store.engine_identities()),
            "files": files_in(store),
            "drivers": drivers_in(store),
        },
    }


def _format_of(specification: Any) -> str | None:
    """The format of a tournament; ``None`` for other kinds of runs."""
    found = specification.get("format") if isinstance(specification, dict) else None
    return found if isinstance(found, str) else None


def faulty_games(store: Store) -> list[GameRecord]:
    """The games that ended by a fault of a player, in schedule order."""
    return list(store.ended_by(FORFEITS))


def write_status(directory: Path, status: Mapping[str, Any], *, durable: bool = True) -> None:
    """Replace the status file of a folder atomically. ``durable`` waits until the file is on the disk.

    Errors are ignored, because a run that cannot write to its folder fails when it writes to its store.
    """
    try:
        replace_file(directory / STATUS_NAME, json.dumps(status, ensure_ascii=False, indent=1) + "\n", durable=durable)
    except FileError:
        pass


def read_status(directory: Path, *, is_running: bool, store: Store | None = None) -> dict[str, Any]:
    """Read the status of a run, as in ``status.json``; complete it if the run is in progress or was killed.

    Runs of older versions have no such file; their status is derived from other files of the folder. ``is_running`` is
    true if a process holds the folder's lock. If the file does not yet contain the end of the run, numbers of games and
    digests are computed from ``store``. Without a store, they are taken from the file.
    """
    status = _kept(directory)
    if status and status["reason"] != RUNNING and not is_running:
        return status
    live = read_live(directory)
    if not status:
        status = {**new_status(str(live.get("kind", "")), ""), "began_at": None, "host": None}
        status |= {"process": None, "reason": _reason_in(live), "specification": _key_in(store, live)}
    if is_running:
        status |= {"reason": RUNNING, "ended_at": None}
    elif status["reason"] == RUNNING:
        status["reason"] = DIED
    if store is not None:
        status |= stored_facts(store, status["specification"], _planned_in(live), faulty_games(store))
    return status


def _kept(directory: Path) -> dict[str, Any]:
    """The contents of the folder's status file; empty if it is missing, unreadable or of a newer version."""
    try:
        status = json.loads((directory / STATUS_NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    is_known = isinstance(status, dict) and status.get("schema_version") == SCHEMA_VERSION
    return status if is_known and {"reason", "specification"} <= status.keys() else {}


def _reason_in(live: Mapping[str, Any]) -> str:
    """The value of ``reason`` for a run of an older version, from the contents of its ``live.json``."""
    state = live.get("state")
    return str(state) if state in (RUNNING, FINISHED, INTERRUPTED, FAILED) else UNKNOWN


def _key_in(store: Store | None, live: Mapping[str, Any]) -> str:
    """The metadata key of the specification in the store of an older version: ``specification``, or the kind of run.

    ``live`` has the contents of ``live.json``, which names the kind.
    """
    is_tournament = store is None or store.metadata("specification") is not None
    return "specification" if is_tournament else str(live.get("kind", ""))


def _planned_in(live: Mapping[str, Any]) -> int:
    planned = live.get("all_planned") or live.get("planned")
    return planned if isinstance(planned, int) else 0


def _fault(record: GameRecord, directory: Path) -> dict[str, Any]:
    """A fault as plain data; ``dialogue`` is the path, in the folder, of its dialogue, ``None`` if none is stored."""
    cause = cause_of(record)
    assert cause is not None
    player, fault = cause
    path = _dialogue_path(record)
    return {
        "game": record.key,
        "series": record.pairing.series,
        "number": record.pairing.number,
        "player": player,
        "reason": record.reason,
        "text": "" if fault is None else fault.text(DEFAULT_LANGUAGE),
        "dialogue": path.as_posix() if (directory / path).is_file() else None,
    }


def _dialogue_path(record: GameRecord) -> Path:
    series = f"{file_stem(record.pairing.series)}-" if record.pairing.series else ""
    return Path(FAULTS_FOLDER) / f"{series}{record.pairing.number}-{record.key[:8]}.txt"


def write_dialogue(directory: Path, record: GameRecord) -> None:
    """Write the last lines exchanged before a fault to a file, unless the file exists or no lines are stored."""
    path, lines = directory / _dialogue_path(record), record.detail.get("dialogue")
    if not lines or path.is_file():
        return
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, "\n".join([*lines, ""]), durable=False)
    except (FileError, OSError):
        pass
