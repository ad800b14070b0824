"""Five hundred games in which players misbehave in every way, side by side, over all protocols."""

from __future__ import annotations

import io
import os
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import run
from elolab.arena.players.supervisor import SUPERVISOR
from elolab.arena.records import GameRecord, PlayerSpec
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication
from tests.support.faulty_players import CASES, ENDINGS, SPEAKERS, Case, Fault, player, reason_of
from tests.support.marked_processes import MARK, processes_marked, wait_until

MANNERS = ("good", "twice", "long_line", "child", "immortal_with_child")
"""Modes that lose nothing."""
PLAYERS = {"xiangqi": 18, "othello": 15}
CONCURRENCY = 4
MAX_DESCRIPTORS = CONCURRENCY * 2 * 3 + 26
"""Three pipes of each program, the descriptor of the stop flag, and what else a tournament holds open."""
MAX_GROWTH_KB = 40_000
"""What games may add once the compiled code is there; to compile it takes 160 MB where none is kept."""


@dataclass(frozen=True)
class Entry:
    """A player, and how it fails: at its move ``at`` (from 1); ``None`` for one that loses nothing."""

    spec: PlayerSpec
    protocol: str
    fault: Fault | None
    at: int

    def fails_at(self, side: int) -> int:
        """The ply (from 0) at which it fails, far away if it does not."""
        if self.fault is None:
            return 10**6
        answers = self.at + (self.fault.mode in ("leave", "deaf"))  # these answer once more
        return 2 * (answers - 1) + side


def entries_of(game: str, seed: int) -> list[Entry]:
    """Players of a game, drawn."""
    chance = random.Random(f"{game} {seed}")
    protocols = [name for name, speaker in SPEAKERS.items() if speaker.game == game]
    found = []
    for number in range(PLAYERS[game]):
        protocol, at = protocols[number % len(protocols)], chance.randint(1, 3)
        if number % 4 == 3:
            mode, fault = MANNERS[number // 4 % len(MANNERS)], None
            spec = player(protocol, mode, at=at)
        else:
            fault = chance.choice([case.fault for case in CASES if case.protocol == protocol])
            spec = player(protocol, fault.mode, on_clock=fault.on_clock, at=at)
            mode = fault.mode
        seconds = {"move_time=0.2": 1.6, "move_time=1": 1.6}.get(SPEAKERS[protocol].clock, 0.0)
        command = tuple(f"seconds={seconds}" if word.startswith("seconds=") else word for word in spec.command)
        limits = replace(spec.limits, move_time_ms=1000) if fault is not None and fault.on_clock else spec.limits
        name = f"{number} {protocol} {mode} {at}"
        watchdog_ms = 60_000 if fault is None else 3_000
        spec = replace(
            spec, name=name, command=command, limits=limits, margin_ms=500, watchdog_ms=watchdog_ms, restart="always"
        )
        found.append(Entry(spec, protocol, fault, at))
    return found


def expected_of(first: Entry, second: Entry, game: str) -> tuple[str | None, set[str], str | None]:
    """Result, possible reasons and the name of the player at fault."""
    side = int(second.fails_at(1) < first.fails_at(0))
    loser = (first, second)[side]
    if loser.fault is None:
        return None, {ENDINGS[game]}, None
    reason = reason_of(Case(loser.protocol, loser.fault))
    # On a busy machine the answer of one that is late may come so late that it is taken to hang.
    return ("0-1", "1-0")[side], {reason, "no_answer"} if loser.fault.mode == "late" else {reason}, loser.spec.name


def memory_kb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def sampled() -> Iterator[list[tuple[int, int]]]:
    """Memory and open descriptors of this process, taken all the while."""
    samples, done = [(memory_kb(), descriptors())], threading.Event()

    def sample() -> None:
        while not done.wait(0.1):
            samples.append((memory_kb(), descriptors()))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def played(game: str, entries: Sequence[Entry], folder: Path) -> list[GameRecord]:
    """A round robin of the players."""
    (folder / "start.epd").write_text(game_named(game).start + "\n")
    content = {"game": game, "pairs": 1, "openings": str(folder / "start.epd"), "opening_part": "all",
               "limit": "depth=1", "stop_after_faults": 0,
               "players": [{"name": entry.spec.name} for entry in entries]}  # fmt: skip
    spec = replace(
        spec_from_mapping(content, "soak"), players=tuple(entry.spec for entry in entries),
        adjudication=Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0),
    )  # fmt: skip
    result = run(spec, folder / "out", concurrency=CONCURRENCY, oversubscribe=True, stream=io.StringIO())
    assert (result.exit_code, result.missing, result.unavailable) == (1, 0, {})  # 1: games were lost by faults
    with Store(folder / "out", read_only=True) as store:
        return store.records()


@pytest.mark.slow
@pytest.mark.parametrize("game", PLAYERS)
def test_every_game_is_stored_once_with_the_right_reason_and_nothing_is_left(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = entries_of(game, seed=1)
    mark = f"soak {os.getpid()}"
    monkeypatch.setenv(MARK, mark)
    (tmp_path / "first").mkdir()
    played(game, entries[:4], tmp_path / "first")
    before = descriptors()
    with sampled() as samples:
        records = played(game, entries, tmp_path)
    assert [record.pairing.number for record in records] == list(range(len(entries) * (len(entries) - 1)))
    for record in records:
        first, second = entries[record.pairing.first], entries[record.pairing.second]
        result, reasons, loser = expected_of(first, second, game)
        told = (record.first, record.second, record.result, record.reason, record.detail.get("fault"))
        assert record.reason in reasons, told
        assert record.detail.get("fault", {}).get("player") == loser, told
        assert result in (None, record.result), told
        assert ("dialogue" in record.detail) is (loser is not None), told
    assert wait_until(lambda: not set(processes_marked(mark)) - {SUPERVISOR.process_id})
    assert max(memory for memory, _ in samples) <= samples[0][0] + MAX_GROWTH_KB
    assert max(number for _, number in samples) <= before + MAX_DESCRIPTORS
    assert descriptors() <= before + 4
    print(f"{len(records)} games, {max(samples)[0] - samples[0][0]} kB more, {max(n for _, n in samples)} descriptors")
