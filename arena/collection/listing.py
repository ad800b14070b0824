"""The runs below a folder, and their progress."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.play.live import LIVE_NAME, read_live
from elolab.arena.play.scores import MatchScore, Scoreboard
from elolab.arena.play.store import STORE_NAME, Store, StoreFailure, is_in_use
from elolab.arena.play.tournament_run import result_of, stored_tournament, withdrawals_of
from elolab.arena.provenance.status import DECIDED, DIED, read_status
from elolab.arena.schedule import challengers_of
from elolab.arena.statistics.numbers import elo_text
from elolab.arena.statistics.placing import placing_of, result_sentence
from elolab.arena.testing import bisection
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue

if TYPE_CHECKING:
    from elolab.arena.statistics.elo import Estimate
    from elolab.arena.tournament_spec import TournamentSpec

MAX_DEPTH = 4
"""Maximum depth of subfolders in the search for runs."""
RUNNING, FINISHED, STOPPED, FAILED = "running", "finished", "stopped", "failed"
UNREADABLE, DAMAGED = "unreadable", "damaged"
TOURNAMENT = "tournament"


@dataclass(frozen=True)
class RunEntry:
    """Summary of one run for the list of runs."""

    folder: Path
    kind: str
    """The tournament format, or ``bisection``; for other runs, the kind recorded in ``live.json``."""
    state: str
    """``running``, ``finished``, ``stopped``, ``died``, ``failed``, ``unreadable`` or ``damaged``.

    A run has died if it was killed. An unreadable store cannot be opened; a damaged one has content that this version
    of elolab cannot interpret.
    """
    played: int
    planned: int
    """Number of planned games; 0 if unknown."""
    updated_at: str
    """Time of the last write to the run, in UTC, as ISO 8601 with seconds; empty if it cannot be read."""
    result: str
    """The run's result so far, as text."""
    status: Mapping[str, Any]
    """Contents of ``status.json``, completed by ``provenance.status.read_status``; empty if the run is unreadable."""

    def data(self) -> dict[str, Any]:
        """The entry as data for JSON."""
        return {**vars(self), "folder": str(self.folder)}


def run_folders(root: Path, unreadable: Callable[[OSError], None] | None = None) -> list[Path]:
    """The run folders at or below ``root``, sorted by path; searches ``MAX_DEPTH`` levels of subfolders.

    Follows links; a folder with several links is listed once. ``unreadable`` gets the error of an unreadable folder.
    """
    if is_run(root):
        return [root]
    found: list[Path] = []
    seen: set[Path] = set()
    for folder, names, files in os.walk(root, onerror=unreadable, followlinks=True):
        path = Path(folder)
        names.sort(key=lambda name: ((path / name).is_symlink(), name))
        depth, real = len(path.relative_to(root).parts), path.resolve()
        if STORE_NAME in files and real not in seen:
            found.append(path)
        if STORE_NAME in files or real in seen or depth >= MAX_DEPTH:  # a run's folder contains no other runs
            names.clear()
        names[:] = [name for name in names if not name.startswith(".")]
        seen.add(real)
    return sorted(found)


def is_run(folder: Path) -> bool:
    """Whether a folder is a run's folder: it contains a store of games."""
    return (folder / STORE_NAME).is_file()


def is_bisection(folder: Path) -> bool:
    """Whether a folder belongs to a bisection; the steps of a bisection are runs in its subfolders."""
    return read_status(folder, is_running=False)["kind"] == bisection.KIND


def entries_below(root: Path, say: Catalogue, unreadable: Callable[[OSError], None] | None = None) -> list[RunEntry]:
    """Summaries of the runs at or below ``root``, sorted by path; arguments as for ``run_folders`` and ``entry_of``.

    A bisection below ``root`` is one entry. If ``root`` is the bisection's folder, its steps are listed.
    """
    entries, steps = [], dict[Path, list[RunEntry]]()
    for folder in run_folders(root, unreadable):
        entry = entry_of(folder, say)
        if root not in (folder, folder.parent) and is_bisection(folder.parent):
            steps.setdefault(folder.parent, []).append(entry)
        else:
            entries.append(entry)
    entries += [bisection_entry(folder, of_it) for folder, of_it in steps.items()]
    return sorted(entries, key=lambda entry: entry.folder)


def bisection_entry(folder: Path, steps: Sequence[RunEntry]) -> RunEntry:
    """Summarise the bisection in ``folder`` from its status and ``steps``, the entries of its steps, at least one."""
    status = read_status(folder, is_running=is_in_use(folder))
    reason = status["reason"]
    return RunEntry(
        folder, bisection.KIND,
        reason if reason in (RUNNING, FAILED, DIED) else FINISHED if reason == DECIDED else STOPPED,
        sum(step.played for step in steps), status.get("games", {}).get("planned", 0),
        max(step.updated_at for step in steps), _finding(folder), status,
    )  # fmt: skip


def entry_of(folder: Path, say: Catalogue) -> RunEntry:
    """Summarise a run; ``say`` is the message catalogue of ``arena.collection``."""
    live = read_live(folder)
    kind, planned = str(live.get("kind") or TOURNAMENT), _number(live.get("all_planned") or live.get("planned"))
    updated = changed_at(folder)
    date = datetime.fromtimestamp(updated, UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if updated else ""
    try:
        with Store(folder, read_only=True) as store:
            played = store.played
            status = read_status(folder, is_running=is_in_use(folder), store=store)
            spec = tournament_in(store)
            if spec is None:
                result = _finding(folder) or str(live.get("words") or "")
                planned = max(planned, played) if planned else planned  # a later validation counts only its own games
            else:
                kind, planned, played, result = _of_tournament(spec, store, say)
    except (OSError, StoreFailure):
        return RunEntry(folder, kind, UNREADABLE, 0, planned, date, "", {})
    except (UserError, KeyError, TypeError):  # the last two: written by another version of elolab
        return RunEntry(folder, kind, DAMAGED, 0, planned, date, "", {})
    return RunEntry(folder, kind, state_of(folder, live, played, planned), played, planned, date, result, status)


def changed_at(folder: Path) -> float:
    """Time of a run's last write, in seconds since 1970; 0 if unreadable."""
    times = [0.0]
    for name in (STORE_NAME, f"{STORE_NAME}-wal", LIVE_NAME):
        with contextlib.suppress(OSError):
            found = (folder / name).stat()
            if found.st_size:  # readers leave an empty log
                times.append(found.st_mtime)
    return max(times)


def _finding(folder: Path) -> str:
    """First sentence of the report file of a run whose results ``arena`` cannot compute; empty without a report."""
    try:
        lines = (folder / "report.md").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    found = next((line for line in lines if line and not line.startswith(("#", "*", "|", "!"))), "")
    return re.sub(r"\\(.)|\*", r"\1", found)  # without Markdown's markup


def tournament_in(store: Store) -> TournamentSpec | None:
    """The tournament specification in a store; ``None`` if the run is not a tournament, match or test."""
    return stored_tournament(store) if store.metadata("specification") is not None else None


def _of_tournament(spec: TournamentSpec, store: Store, say: Catalogue) -> tuple[str, int, int, str]:
    """The format, the numbers of games planned and played, and the result as text."""
    found = result_of(spec, store)
    possible = found.planned - found.unplayable
    if len(spec.players) == 2:
        words = "" if found.sequential is None else f"{found.sequential.verdict}; "
        estimate = match_estimate(store, found.count)
        if estimate is not None:
            words += _match_words(spec.players[0].name, estimate, found.stored, say)
        return spec.format, possible, found.stored, words
    placing = placing_of(spec, store.outcomes(), withdrawals_of(store))
    if placing is not None:
        words = result_sentence(placing, Catalogue("elolab.arena", say.language)).rstrip(".。")
        return spec.format, possible, found.stored, words
    scoreboard = Scoreboard([player.name for player in spec.players])
    for outcome in store.outcomes():
        if outcome.pairing.number < found.count:
            scoreboard.add(outcome)
    return spec.format, possible, found.stored, _scores_words(spec, scoreboard, say)


def _match_words(name: str, estimate: Estimate, games: int, say: Catalogue) -> str:
    """Text with a match's Elo difference and its 95 % interval, from the point of view of the first player, ``name``.

    If the interval is infinite, gives the player's score as a percentage of ``games`` games; empty without games.
    """
    if math.isfinite(estimate.elo_error):
        return say("list.match", name=name, elo=elo_text(estimate.elo, estimate.elo_error))
    return say("list.challenger", name=name, score=f"{100 * estimate.score:.1f}", games=games) if games else ""


def _scores_words(spec: TournamentSpec, scoreboard: Scoreboard, say: Catalogue) -> str:
    """Text that names the leader, or all challengers of a gauntlet, each with its score in percent."""
    challengers, ranked = challengers_of(spec), scoreboard.ranked()
    shown = [score for score in ranked if score.name in challengers] if challengers else ranked[:1]
    key = "list.challenger" if challengers else "list.leader"
    return say("list.challengers").join(
        say(key, name=score.name, score=f"{100 * score.tally.share:.1f}", games=score.tally.games)
        for score in shown
        if score.tally.share is not None
    )


def match_estimate(store: Store, games: int) -> Estimate | None:
    """Elo of the first player minus the second from the first ``games`` games; ``None`` if there is no estimate."""
    return MatchScore("", (outcome for outcome in store.outcomes() if outcome.pairing.number < games)).estimate()


def state_of(folder: Path, live: dict[str, Any], played: int, planned: int) -> str:
    """The state of a run, from its lock, the contents ``live`` of ``live.json``, and the numbers of games.

    If ``live.json`` says that the run is in progress although nothing holds the lock, the run was killed.
    """
    if is_in_use(folder):
        return RUNNING
    state = live.get("state")
    if state in (FINISHED, FAILED):
        return STOPPED if state == FINISHED and played < planned and live.get("kind") == TOURNAMENT else state
    if state is None and planned and played >= planned:
        return FINISHED
    return DIED if state == RUNNING else STOPPED


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
