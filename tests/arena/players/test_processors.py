"""Processors for games: what is read, how they are shared out, and that engines and their children run on them."""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from elolab.arena.players import processors
from elolab.arena.players.detect import ProtocolFinder
from elolab.arena.players.processors import (
    AffinityError,
    PlayerLoad,
    ProcessorPool,
    hash_megabytes,
    memory_load,
    overload,
    parse_affinity,
    pin_process,
    processor_count,
    shares,
    shown,
    thread_count,
    wake_soon,
)
from elolab.arena.players.registry import make_player
from elolab.arena.records import PlayerSpec
from elolab.engine.settings.limits import Limits

MOCK = str(Path(__file__).parents[2] / "support" / "mock_engines.py")
on_linux = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors cannot be chosen here")


@pytest.mark.parametrize(
    ("text", "read"),
    [("off", "off"), ("auto", "auto"), ("3", (3,)), ("0-3,8", (0, 1, 2, 3, 8)), ("5, 1-2,1", (5, 1, 2))],
)
def test_what_affinity_may_be(text: str, read: object) -> None:
    assert parse_affinity(text) == read


@pytest.mark.parametrize("text", ["", "on", "-1", "3-1", "1,,2", "0x1", "70000", "1-999999"])
def test_what_it_may_not_be(text: str) -> None:
    with pytest.raises(AffinityError, match="is not off, auto or a list"):
        parse_affinity(text)


def test_numbers_are_shown_as_they_are_written() -> None:
    assert shown({8, 0, 1, 2, 3}) == "0-3,8"
    assert parse_affinity(shown([7, 5, 4])) == (4, 5, 7)


def test_games_get_processors_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "usable_processors", lambda: [0, 2, 4, 6, 1, 3, 5, 7])  # two of each core
    assert shares("off", 3) is None
    assert shares("auto", 4) == [{0, 2}, {4, 6}, {1, 3}, {5, 7}]
    assert shares("auto", 3) == [{0, 2}, {4, 6}, {1, 3}]
    assert shares("7,6,5", 3) == [{7}, {6}, {5}]


def test_games_without_processors_are_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "usable_processors", lambda: [0, 1])
    with pytest.raises(AffinityError, match="3 games at a time need 3 processors, but there are 2; use at most"):
        shares("auto", 3)
    with pytest.raises(AffinityError, match="may not use processor 2; it may use 0-1"):
        shares("1-2", 2)
    monkeypatch.setattr(processors, "usable_processors", list)
    with pytest.raises(AffinityError, match="use off"):
        shares("auto", 1)


def test_hardware_threads_of_one_core_come_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    siblings = {0: "0-1", 1: "0-1", 2: "2,3", 3: "2,3"}
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(siblings), raising=False)
    monkeypatch.setattr(processors, "_TOPOLOGY", tmp_path)
    for number, text in siblings.items():
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{text}\n")
    assert processors.usable_processors() == [0, 2, 1, 3]


def test_no_two_games_share_and_a_thread_keeps_its_own() -> None:
    pool = ProcessorPool([frozenset({number}) for number in range(4)])
    with pool.taken(1, frozenset()) as first, pool.taken(2, frozenset()) as two, pool.taken(1, frozenset()) as last:
        assert sorted([*first, *two, *last]) == [0, 1, 2, 3]
    with pool.taken(1, last) as again:
        assert again == last
    with pool.taken(2, two) as again:
        assert again == two


def test_shares_are_given_back_whatever_happens() -> None:
    pool = ProcessorPool([frozenset({0})])
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), pool.taken(1, frozenset()):
            raise ZeroDivisionError
    with pool.taken(1, frozenset()) as mine:
        assert mine == {0}


@pytest.mark.parametrize(
    ("options", "threads"),
    [((), 1), ((("Threads", "4"),), 4), ((("Hash", "64"), ("threads", "2")), 2), ((("Threads", "many"),), 1)],
)
def test_threads_of_an_engine(options: tuple[tuple[str, str], ...], threads: int) -> None:
    assert thread_count(PlayerSpec("a", "uci", Limits(nodes=1), options=options)) == threads


@pytest.mark.parametrize(
    ("command", "threads"),
    [("a --threads 4", 4), ("a --Threads=3 x", 3), ("a -cores 2", 2), ("a threads 4", 1), ("a -threads", 1)],
)
def test_threads_among_the_arguments_of_an_engine(command: str, threads: int) -> None:
    assert thread_count(PlayerSpec("a", "uci", Limits(nodes=1), command=tuple(command.split()))) == threads


def test_a_program_that_is_greeted_announces_its_threads_and_hash(tmp_path: Path) -> None:
    script = tmp_path / "engine"
    script.write_text(
        "#!/bin/sh\nread line\necho option name Threads type spin default 3 min 1 max 8\n"
        "echo option name Hash type spin default 64 min 1 max 9999\necho uciok\n"
    )
    script.chmod(0o755)
    player = PlayerSpec("a", "uci", Limits(nodes=1), command=(str(script),))
    assert (thread_count(player), hash_megabytes(player)) == (1, 0)
    assert ProtocolFinder().protocol_of([str(script)], None, "xiangqi", 10).name == "uci"
    assert (thread_count(player), hash_megabytes(player)) == (3, 64)
    given = PlayerSpec("a", "uci", Limits(nodes=1), command=(str(script),), options=(("Hash", "8"),))
    assert hash_megabytes(given) == 8


def test_memory_is_that_of_the_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(processors, "_MEMORY_LIMITS", ((limit, None),))
    whole = processors.memory_megabytes()
    assert whole > 0
    for text, megabytes in (("max\n", whole), (f"{5 << 20}\n", 5), (f"{1 << 62}\n", whole)):
        limit.write_text(text)
        assert processors.memory_megabytes() == megabytes


def test_the_hash_tables_of_a_game_are_those_of_both_players() -> None:
    sides = [PlayerLoad("a player", NODES, hash_mb=size) for size in (16, 64, 256)]
    load = memory_load(sides, 3, 900)
    assert (load.each, load.needed, load.is_too_large, load.games_that_fit) == (320, 960, True, 2)
    assert not memory_load(sides, 3, 0).is_too_large, "the memory is unknown"
    assert memory_load(sides[:1], 2, 900).needed == 64, "it plays against itself"


CLOCK, TIME, NODES, CPU = (Limits.parse(text) for text in ("clock=10+0.1", "move_time=0.1", "nodes=9", "clock=10,cpu"))


@pytest.mark.parametrize(
    ("sides", "concurrency", "needed", "remedy"),
    [
        ([(CLOCK, 1, False)] * 2, 2, None, None),
        ([(CLOCK, 1, False)] * 2, 24, 24, 2),
        ([(TIME, 1, False)] * 2, 3, 3, 2),
        ([(CLOCK, 1, False), (NODES, 1, False)], 3, 3, 2),
        ([(NODES, 1, False)] * 2, 24, None, None),
        ([(NODES, 1, False), (NODES, 3, False)], 1, 3, 0),
        ([(CPU, 1, False)] * 2, 24, None, None),
        ([(CLOCK, 2, False), (CLOCK, 1, False)], 1, None, None),
        ([(CLOCK, 2, False), (CLOCK, 1, False)], 2, 4, 1),
        ([(CLOCK, 1, True), (CLOCK, 1, False)], 2, None, None),
        ([(CLOCK, 1, True), (CLOCK, 1, False)], 4, 4, 2),
        ([(CLOCK, 2, True), (CLOCK, 1, False)], 1, 3, 0),
        ([(CLOCK, 1, True), (CLOCK, 2, False), (CLOCK, 1, False)], 2, 4, 0),
        ([], 24, None, None),
    ],
)
def test_games_that_want_more_than_two_processors(
    sides: list[tuple[Limits, int, bool]], concurrency: int, needed: int | None, remedy: int | None
) -> None:
    load = overload([PlayerLoad("a player", *side) for side in sides], concurrency, 2)
    assert (None if load is None else (load.needed, load.concurrency)) == (None if needed is None else (needed, remedy))
    assert overload([PlayerLoad("a player", *side) for side in sides], concurrency, 0) is None


def test_the_remedy_of_an_overload_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the sides, as many games at a time as the warning names are not warned of, and one more is."""
    for threads, ponders, count in itertools.product((1, 2, 3), (False, True), range(1, 9)):
        sides = [PlayerLoad("one", CLOCK, threads, ponders), PlayerLoad("other", CLOCK)]
        load = overload(sides, 64, count)
        assert load is not None
        if load.concurrency:
            assert overload(sides, load.concurrency, count) is None
            assert overload(sides, load.concurrency + 2, count) is not None
        else:
            assert overload(sides, 1, count) is not None


def test_processors_of_a_container_are_what_it_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, quota, period = (tmp_path / name for name in ("cpu.max", "quota", "period"))
    monkeypatch.setattr(processors, "_QUOTAS", ((str(new), None), (str(quota), str(period))))
    monkeypatch.setattr(processors, "usable_processors", lambda: [0, 1, 2, 3])
    assert processor_count() == 4
    for text, count in (("max 100000", 4), ("250000 100000", 2), ("50000 100000", 1), ("900000 100000", 4)):
        new.write_text(text)
        assert processor_count() == count
    new.unlink()
    period.write_text("100000\n")
    for text, count in (("-1\n", 4), ("200000\n", 2)):
        quota.write_text(text)
        assert processor_count() == count


@on_linux
def test_a_process_and_its_children_are_pinned() -> None:
    one = min(os.sched_getaffinity(0))
    script = "import subprocess, sys; child = subprocess.Popen(['cat']); print(child.pid, flush=True); child.wait()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        pin_process(parent.pid, frozenset({one}))
        assert os.sched_getaffinity(parent.pid) == os.sched_getaffinity(child) == {one}
        assert parent.stdin is not None
        parent.stdin.close()
    pin_process(parent.pid, frozenset({one}))  # it has ended


@on_linux
def test_engines_run_where_their_game_is_played() -> None:
    usable = sorted(os.sched_getaffinity(0))
    spec = PlayerSpec("mock", "uci", Limits(depth=1), command=(sys.executable, "-I", "-S", MOCK, "good"))
    player = make_player(spec, "xiangqi")
    for number in (usable[0], usable[-1]):  # before it starts, and while it runs
        player.pin(frozenset({number}))
        player.start()
        process_id = player.process_id  # type: ignore[attr-defined]
        assert os.sched_getaffinity(process_id) == {number}
    player.close()
    assert os.sched_getaffinity(0) == set(usable)


@on_linux
def test_the_built_in_engine_thinks_where_its_game_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    from elolab.arena.players import builtin

    pinned = []
    monkeypatch.setattr(builtin, "pin_thread", lambda numbers: pinned.append((numbers, threading.get_ident())))
    player = builtin.BuiltinPlayer(PlayerSpec("own", "builtin", Limits(depth=1)), "xiangqi")
    player.pin(frozenset({0}))
    player._pinned(lambda: None)
    assert pinned == [(frozenset({0}), threading.get_ident())]


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="Linux only")
def test_a_thread_asks_to_wake_soon_but_its_programs_do_not() -> None:
    def policies() -> list[int]:
        wake_soon()
        wake_soon()
        code = "import os; print(os.sched_getscheduler(0))"
        child = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
        return [os.sched_getscheduler(0), int(child.stdout)]

    with ThreadPoolExecutor(1) as pool:
        own, child = pool.submit(policies).result()
    assert (own, child) == (os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.SCHED_OTHER)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
