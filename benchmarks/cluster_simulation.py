"""Simulates what limits the speed of a run at 1, 2, 10, 100 and 1000 workers, with costs measured on this machine.

    python benchmarks/cluster_simulation.py                     games of 1000 nodes a move, and of 30 seconds
    python benchmarks/cluster_simulation.py --nodes 10000       the same with longer games
    python benchmarks/cluster_simulation.py --workers 50 200 --game 5 --overlaps 0 4
    python benchmarks/cluster_simulation.py --save costs.json   keep the measured costs; --costs costs.json takes them

The simulation needs no cluster. *Workers* play chunks of games one after the other. One *client* stores their results,
fits the model and designs the next games. One *wire* (the scheduler and the network) carries every chunk to a worker
and back. Client and wire process one request at a time, first come, first served. At most twice as many chunks as
workers are in progress, so that a worker finds the next one waiting. A chunk has as many games as take some seconds,
but at most a worker's share of the games that may be played. *Single games* is the design without chunks: each game is
sent alone and has its own commit.

Five kinds of run are simulated:

- a tournament, whose games are all known from the start
- a sequential test, which ends at some game; games in progress beyond the end are wasted
- a tuning, whose rounds are designed from the games of earlier rounds, except the last ``overlap`` rounds
- its validation, a sequential test analysed after every ``INTERIM_PAIRS`` pairs, with games for ``overlap`` further
  analyses in progress
- an ablation with interim analyses, which waits for all games of an analysis

A worker either plays games that count or games that no longer count (``beyond the end``), or it waits. It may wait for
the client's *writer*, which unpacks and stores, for the *wire*, or for a *model fit* with the design of the next round.
It may also wait for the last games of a *round* or a *look* (interim analysis), or for the *end* of the run. The limit
is ``workers`` if they spend nine tenths of their time on games that count, otherwise whatever takes most of the
remaining time.

Equal costs and seeds give equal tables.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import math
import pickle
import statistics
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.rounds.pairs_of_settings import game_pairs_per_settings_pair
from elolab.tuning.study.state import REFIT_GROWTH
from elolab.tuning.study.study_spec import DEFAULT_ROUND_PAIRS, MIN_ROUNDS
from elolab.tuning.study.validation.validation_games import INTERIM_PAIRS

WORKERS = (1, 2, 10, 100, 1000)
LONG_GAME = 30.0
"""Seconds per game in the second table, as in a short game with a clock."""
CHUNK_SECONDS = 2.0
"""Target duration of a chunk, in seconds of play."""
AHEAD = 2
"""Maximum number of chunks in progress per worker."""
ENOUGH = 0.9
"""Share of the workers' time, spent on games that count, from which the workers themselves are the limit."""

GAMES = 40_000
"""Number of games of the tournament, and number of games after which the sequential test ends."""
TUNING_GAMES = 16_000
VALIDATION_GAMES = 4_000
COMPARISONS, COMPARISON_PAIRS, LOOKS = 15, 1_000, 10
"""Size of the ablation: comparisons, pairs of each comparison, and looks (interim analyses).

Half of the comparisons get their verdicts before the last look, evenly spread over the looks.
"""
OVERLAPS = (0, 2, 8)

PARAMETERS = ("null_depth", "lmr_base", "aspiration_window", "futility_margin", "evaluation")
"""Tuned parameters of the study whose model and rounds are timed."""


# Costs


@dataclass(frozen=True)
class Costs:
    """Costs on the machine where they were measured, in seconds unless stated otherwise."""

    game: float
    """Mean duration of a game, in seconds."""
    variation: float
    """Standard deviation of a game's duration divided by the mean."""
    chunk: float
    """Seconds of the scheduler's processor time to send one chunk to a worker and to return the results."""
    result_bytes: float
    """Size of a game's record, in bytes, when the worker sends it to the client."""
    bytes_per_second: float
    """Transfer rate of the network between client and workers, in bytes per second."""
    unpack: float
    """Seconds that the client needs to decode one received record."""
    commit: float
    """Seconds to store one game in a commit of its own."""
    row: float
    """Seconds for each further game in a commit."""
    lay_out: float
    """Seconds to create one game of a round: its settings, players and key."""
    fits: tuple[tuple[int, float], ...]
    """Numbers of known games, each with the seconds to fit the response model to these games and find its maximum."""

    def commit_of(self, games: int, *, is_one: bool) -> float:
        """Seconds to store ``games`` games: in one commit if ``is_one``, otherwise each in a commit of its own."""
        return self.commit + (games - 1) * self.row if is_one else games * self.commit

    def fit(self, games: int) -> float:
        """Seconds of a model fit to ``games`` games, by linear interpolation or extrapolation of measured times."""
        if len(self.fits) < 2:
            return self.fits[0][1] if self.fits else 0.0
        known, seconds = zip(*self.fits, strict=True)
        if games <= known[-1]:
            return float(np.interp(games, known, seconds))
        return float(seconds[-1] + (games - known[-1]) * (seconds[-1] - seconds[-2]) / (known[-1] - known[-2]))


FREE = Costs(1.0, 0.0, 0.0, 0.0, math.inf, 0.0, 0.0, 0.0, 0.0, ())
"""Costs if a game takes one second and everything else takes no time."""


# What is played


class Schedule(Protocol):
    """The order of a run's games, and the conditions under which they may begin. Games are numbered from 0."""

    most: int
    """Maximum number of games that can begin."""
    counted: int
    """Number of games that count when the run is over."""
    waiting: str
    """Name of the reason why workers wait while no game may begin."""

    def allowed(self) -> int:
        """Number of games that may have begun by now. They are the games with the lowest numbers, from 0 on."""

    def ended(self, games: Sequence[int]) -> float:
        """Record that games are stored; returns how many seconds the client works before further games may begin."""

    def known(self) -> None:
        """Record that the client has finished the work after ``ended``, so that further games may begin."""

    @property
    def is_over(self) -> bool:
        """Whether the run is over."""


class Batches:
    """Games in batches. A batch may begin once a given number of earlier batches is complete."""

    def __init__(
        self,
        sizes: Sequence[int],
        needs: Sequence[int],
        waiting: str,
        thinking: Callable[[int], float] = lambda complete: 0.0,
    ) -> None:
        """Make batches of ``sizes`` games; batch i begins when the first ``needs[i]`` batches are complete.

        ``waiting`` names the reason for waiting. ``thinking(complete)`` returns how many seconds the client works once
        ``complete`` batches are complete.
        """
        self._ends = list(itertools.accumulate(sizes))
        self._needs, self._thinking = needs, thinking
        self._left = list(sizes)
        self._batch_of = np.repeat(np.arange(len(sizes)), sizes)
        self._complete = self._thought = 0
        self.most = self.counted = self._ends[-1]
        self.waiting = waiting

    def allowed(self) -> int:
        allowed = 0
        for end, need in zip(self._ends, self._needs, strict=True):
            if need > self._thought:
                break
            allowed = end
        return allowed

    def ended(self, games: Sequence[int]) -> float:
        for game in games:
            self._left[self._batch_of[game]] -= 1
        seconds = 0.0
        while self._complete < len(self._left) and not self._left[self._complete]:
            self._complete += 1
            seconds += self._thinking(self._complete)
        return seconds

    def known(self) -> None:
        self._thought = self._complete

    @property
    def is_over(self) -> bool:
        return self._thought == len(self._left)


class SequentialTest:
    """A test that accepts a hypothesis after a given number of games, once all of them have ended."""

    waiting = "end"

    def __init__(self, games: int) -> None:
        self.counted, self.most = games, 2**62
        self._left = games

    def allowed(self) -> int:
        return self.most

    def ended(self, games: Sequence[int]) -> float:
        self._left -= sum(game < self.counted for game in games)
        return 0.0

    def known(self) -> None:
        """Do nothing, because the client has no work to finish."""

    @property
    def is_over(self) -> bool:
        return self._left == 0


def tournament(games: int) -> Batches:
    """A schedule in which every game is known from the beginning."""
    return Batches([games], [0], "end")


def tuning(games: int, overlap: int, costs: Costs) -> Batches:
    """A study with default settings: its rounds, with ``overlap`` further rounds in progress, and its playoff."""
    pairs = games // 2 - int(games // 2 * SHARE)
    each = game_pairs_per_settings_pair(games)
    round_pairs = max(1, round(min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS)) / each)) * each
    sizes = [2 * min(round_pairs, pairs - start) for start in range(0, pairs, round_pairs)]
    rounds, known = len(sizes), [0, *itertools.accumulate(sizes)]
    fitted = [0]

    def thinking(complete: int) -> float:
        seconds = 0.0
        if rounds >= complete and (known[complete] >= REFIT_GROWTH * fitted[0] or complete == rounds):
            fitted[0] = known[complete]
            seconds += costs.fit(known[complete])
        next_one = complete + overlap
        return seconds + (costs.lay_out * sizes[next_one] if next_one < rounds else 0.0)

    needs = [max(0, number - overlap) for number in range(rounds)]
    return Batches([*sizes, games - 2 * pairs], [*needs, rounds], "round", thinking)


def looks(sizes: Sequence[int]) -> Batches:
    """A schedule of interim analyses (looks). ``sizes`` has the number of games that each analysis adds."""
    return Batches(sizes, range(len(sizes)), "look")


def validation(games: int, overlap: int) -> Batches:
    """A sequential test that ends after ``games`` games, with ``overlap`` further interim analyses in progress."""
    counted = math.ceil(games / 2 / INTERIM_PAIRS)
    needs = [max(0, look - overlap) for look in range(counted + overlap)]
    schedule = Batches([2 * INTERIM_PAIRS] * len(needs), needs, "look")
    schedule.counted = 2 * INTERIM_PAIRS * counted
    return schedule


def ablation() -> Batches:
    """The schedule of an ablation with ``COMPARISONS`` comparisons."""
    each = 2 * COMPARISON_PAIRS // LOOKS
    return looks([each * round(COMPARISONS * (1 - look / (2 * LOOKS))) for look in range(LOOKS)])


# The simulation


@dataclass(frozen=True)
class Design:
    """How games are sent to workers: in chunks with a target duration, or one at a time."""

    chunk_seconds: float = CHUNK_SECONDS
    """Target duration of a chunk, in seconds of play. 0 means single games, each with its own commit."""

    @property
    def has_chunks(self) -> bool:
        return self.chunk_seconds > 0


@dataclass(frozen=True)
class Outcome:
    """The result of a simulated run: its duration and speed, and how the workers spent their time."""

    seconds: float
    games_per_second: float
    """Number of games that count, per second."""
    used: float
    """Share of the workers' time spent on games that count."""
    lost: dict[str, float]
    """Share of the workers' time spent on anything but games that count, by name of the activity, largest first."""

    @property
    def limit(self) -> str:
        """Name of the bottleneck: ``workers``, or the activity that takes most of the rest of the workers' time."""
        return "workers" if self.used >= ENOUGH or not self.lost else next(iter(self.lost))


class _Server:
    """Processes one request at a time, first come, first served."""

    def __init__(self, run: _Simulation) -> None:
        self._run = run
        self._queue: deque[tuple[str, float, Callable[[], None]]] = deque()
        self.doing = ""
        """Name of the current request; empty if idle."""

    def ask(self, what: str, seconds: float, then: Callable[[], None], *, first: bool = False) -> None:
        (self._queue.appendleft if first else self._queue.append)((what, seconds, then))
        if not self.doing:
            self._next()

    def _next(self) -> None:
        if not self._queue:
            self.doing = ""
            return
        self.doing, seconds, then = self._queue.popleft()
        self._run.after(seconds, lambda: self._done(then))

    def _done(self, then: Callable[[], None]) -> None:
        then()
        self._next()


class _Simulation:
    """One simulated run: events in the order of their times."""

    def __init__(self, schedule: Schedule, workers: int, costs: Costs, design: Design, seed: int) -> None:
        self._schedule, self._workers, self._costs, self._design = schedule, workers, costs, design
        self._generator = np.random.default_rng(seed)
        self._times = np.zeros(0)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._now = 0.0
        self._client, self._wire = _Server(self), _Server(self)
        self._waiting: deque[range] = deque()
        """Chunks that have arrived at the workers and have not begun."""
        self._idle = workers
        self._begun = self._under_way = 0
        self._lost: Counter[str] = Counter()
        self._is_over = False

    def after(self, seconds: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now + seconds, next(self._order), event))

    def run(self) -> Outcome:
        self._hand_out()
        while not self._schedule.is_over:
            then, _, event = heapq.heappop(self._events)
            if self._idle and then > self._now:
                self._lost[self._reason()] += self._idle * (then - self._now)
            self._now = then
            event()
            self._hand_out()
        total = self._workers * self._now
        counted = float(self._seconds_of(range(self._schedule.counted)))
        self._lost["beyond the end"] = total - counted - sum(self._lost.values())
        lost = {name: seconds / total for name, seconds in self._lost.most_common() if seconds > 1e-9 * total}
        return Outcome(self._now, self._schedule.counted / self._now, counted / total, lost)

    def _reason(self) -> str:
        """Name of the reason why workers are idle now."""
        if self._client.doing == "model fit":
            return "model fit"
        is_waiting = self._begun >= self._schedule.allowed()
        if is_waiting and self._idle < self._workers:
            return "end" if self._begun >= self._schedule.most else self._schedule.waiting
        return self._client.doing or "wire"

    def _seconds_of(self, games: range) -> float:
        """Total duration, in seconds, of these games. A game's duration depends only on its number and the seed."""
        if games.stop > len(self._times):
            more = max(games.stop - len(self._times), 10_000)
            mean, variation = self._costs.game, self._costs.variation
            shape = 1 / variation**2 if variation else 0.0
            drawn = self._generator.gamma(shape, mean / shape, more) if variation else np.full(more, mean)
            self._times = np.concatenate([self._times, drawn])
        return float(self._times[games.start : games.stop].sum())

    def _hand_out(self) -> None:
        """Send chunks of games that may begin, until the maximum number of chunks is in progress."""
        while self._under_way < AHEAD * self._workers:
            allowed = self._schedule.allowed() - self._begun
            if allowed <= 0:
                return
            chunk = range(self._begun, self._begun + self._chunk_size(allowed))
            self._begun, self._under_way = chunk.stop, self._under_way + 1
            self._send(chunk)

    def _chunk_size(self, allowed: int) -> int:
        wanted = max(1, round(self._design.chunk_seconds / self._costs.game)) if self._design.has_chunks else 1
        return min(wanted, max(1, math.ceil(allowed / (AHEAD * self._workers))))

    def _send(self, chunk: range) -> None:
        self._wire.ask("wire", self._costs.chunk / 2, lambda: self._arrive(chunk))

    def _arrive(self, chunk: range) -> None:
        self._waiting.append(chunk)
        self._begin()

    def _begin(self) -> None:
        if self._idle and self._waiting:
            self._idle -= 1
            chunk = self._waiting.popleft()
            self.after(self._seconds_of(chunk), lambda: self._played(chunk))

    def _played(self, chunk: range) -> None:
        self._idle += 1
        self._begin()
        seconds = self._costs.chunk / 2 + len(chunk) * self._costs.result_bytes / self._costs.bytes_per_second
        self._wire.ask("wire", seconds, lambda: self._receive(chunk))

    def _receive(self, chunk: range) -> None:
        costs = self._costs
        seconds = len(chunk) * costs.unpack + costs.commit_of(len(chunk), is_one=self._design.has_chunks)
        self._client.ask("writer", seconds, lambda: self._stored(chunk))

    def _stored(self, chunk: range) -> None:
        self._under_way -= 1
        thinking = self._schedule.ended(chunk)
        if thinking:
            self._client.ask("model fit", thinking, self._schedule.known, first=True)
        else:
            self._schedule.known()


def simulate(schedule: Schedule, workers: int, costs: Costs, design: Design = Design(), seed: int = 1) -> Outcome:
    """Simulate a run with this number of workers. ``schedule`` changes and cannot be used again."""
    return _Simulation(schedule, workers, costs, design, seed).run()


# Measuring


def measured(nodes: int, bytes_per_second: float) -> Costs:
    """Measure the costs on this machine, with games of the built-in Xiangqi engine at ``nodes`` nodes per move."""
    from elolab.arena.run import Run
    from elolab.tuning.study.plan import prepare_tuning, purpose_of
    from elolab.tuning.study.rounds.pairs_of_settings import design_pair, first_design
    from elolab.tuning.study.rounds.settings_pair_games import ScheduledSettingsPair, SettingsPairGames
    from elolab.tuning.study.study_spec import tuning_from_mapping

    content = {"budget": {"games": TUNING_GAMES}, "limit": f"nodes={nodes}", "parameters": list(PARAMETERS)}
    plan = prepare_tuning(tuning_from_mapping(content, "measured"))
    space = plan.spec.space
    with (
        tempfile.TemporaryDirectory() as folder,
        open("/dev/null", "w") as nowhere,
        Run(Path(folder), purpose_of(plan), stream=nowhere) as run,
    ):
        games = SettingsPairGames(plan.spec, plan.suite, plan.openings, run)
        design = first_design(space)
        games.missing_keys([ScheduledSettingsPair(design_pair(space, 1, design, 0, 0), 0, 1)])
        began = time.thread_time()
        pairs = [
            ScheduledSettingsPair(design_pair(space, 1, design, number, number), number, 1)
            for number in range(DEFAULT_ROUND_PAIRS)
        ]
        games.missing_keys(pairs)
        lay_out = (time.thread_time() - began) / (2 * len(pairs))
        games.play_parts([pairs[:2]])  # loads compiled code
        began = time.process_time()
        games.play_parts([pairs[2:22]])
        mean = (time.process_time() - began) / 40
        records = run.store.records()[4:]
    seconds = [record.duration_ms / 1000 for record in records]
    packed = [pickle.dumps(record) for record in records]
    began = time.thread_time()
    for text in packed:
        pickle.loads(text)
    unpack = (time.thread_time() - began) / len(packed)
    commit, row = _commits(records)
    return Costs(
        game=mean,
        variation=statistics.stdev(seconds) / statistics.mean(seconds),
        chunk=_chunk_overhead(),
        result_bytes=statistics.mean(map(len, packed)),
        bytes_per_second=bytes_per_second,
        unpack=unpack,
        commit=commit,
        row=row,
        lay_out=lay_out,
        fits=_fits(space),
    )


def _commits(records: Sequence[Any]) -> tuple[float, float]:
    """Median seconds to store a game in a commit of its own: with synchronisation to disk, and without."""
    from elolab.arena.play.store import Store

    taken = []
    for mode in ("FULL", "OFF"):
        # Not in memory, as the system's folder for temporary files may be.
        with tempfile.TemporaryDirectory(dir=".") as folder, Store(Path(folder)) as store:
            store.connection.execute(f"PRAGMA synchronous = {mode}")
            own = []
            for number in range(200):
                record = records[number % len(records)]
                place = replace(record.pairing, number=number, series="measured")
                record = replace(record, key=f"{number:032x}", pairing=place)
                began = time.perf_counter()
                store.add(record)
                own.append(time.perf_counter() - began)
            taken.append(statistics.median(own))
    return taken[0], taken[1]


def _chunk_overhead() -> float:
    """Processor seconds of scheduler and client for an empty task, over loopback, with many tasks at a time.

    Returns a constant estimate if the package ``distributed`` is not installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return 0.001
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=40) as cluster,
        Client(cluster) as client,
    ):
        taken = []
        for _ in range(6):
            began = time.process_time()  # both are in this process, the worker in another one
            client.gather(client.map(_nothing, range(100), pure=False))
            taken.append((time.process_time() - began) / 100)
    return min(taken)


def _nothing(number: int) -> int:
    return number


def _fits(space: Any) -> tuple[tuple[int, float], ...]:
    """Numbers of known games (one per settings pair), each with the seconds to fit the model and design a round."""
    from elolab.tuning.study.model.observations import Observations
    from elolab.tuning.study.rounds.pairs_of_settings import design_pair, first_design
    from elolab.tuning.study.state import StudyState

    found, generator = [], np.random.default_rng(1)
    for games in (400, 400, 1_600, 6_400, 16_000):  # the first one loads what it needs
        state = StudyState(Observations(space), 1)
        each = game_pairs_per_settings_pair(games)
        for number in range(games // 2 // each):
            pair = design_pair(space, 1, first_design(space), number, number * each)
            if pair.first != pair.second:
                state.observations.add_score(pair.first, pair.second, each, generator.integers(0, 5) / 4)
        began = time.thread_time()
        state.refit(is_last=True)
        state.design()
        found.append((games, time.thread_time() - began))
    return tuple(found[1:])


# The table


def rows(costs: Costs, overlaps: Sequence[int]) -> list[tuple[str, Callable[[], Schedule], Design]]:
    """The simulated runs, each with its name, a function that makes its schedule, and its design."""
    chunks, single = Design(), Design(chunk_seconds=0.0)
    return [
        ("tournament", partial(tournament, GAMES), chunks),
        ("tournament, single games", partial(tournament, GAMES), single),
        ("sequential test", partial(SequentialTest, GAMES), chunks),
        *((f"tuning, overlap {one}", partial(tuning, TUNING_GAMES, one, costs), chunks) for one in overlaps),
        ("tuning, single games", partial(tuning, TUNING_GAMES, overlaps[-1], costs), single),
        *((f"its validation, overlap {one}", partial(validation, VALIDATION_GAMES, one), chunks) for one in overlaps),
        ("ablation with looks", ablation, chunks),
    ]


def table(costs: Costs, workers: Sequence[int], overlaps: Sequence[int], seed: int) -> str:
    """Games a second and the share of the workers' time in use, one line for each schedule and number of workers."""
    lines = [f"{'':<27}{'workers':>8}{'games/s':>10}{'used':>7}  limit"]
    for name, schedule, design in rows(costs, overlaps):
        for count in workers:
            found = simulate(schedule(), count, costs, design, seed)
            lost = ", ".join(f"{what} {100 * share:.0f} %" for what, share in found.lost.items() if share >= 0.01)
            lines.append(
                f"{name if count == workers[0] else '':<27}{count:>8}{found.games_per_second:>10.4g}"
                f"{100 * found.used:>5.0f} %  {found.limit}" + (f"   ({lost})" if lost else "")
            )
    return "\n".join(lines)


def costs_text(costs: Costs) -> str:
    """The costs as text, one per line."""
    fits = ", ".join(f"{1000 * seconds:.0f} ms after {games}" for games, seconds in costs.fits)
    return "\n".join(
        (
            f"a game {costs.game:.4g} s (deviation {100 * costs.variation:.0f} %), its record "
            f"{costs.result_bytes / 1000:.1f} kB, unpacked in {1e6 * costs.unpack:.0f} us",
            f"a commit of one game {1000 * costs.commit:.2f} ms, each further game in it {1000 * costs.row:.2f} ms",
            f"a chunk on the wire {1000 * costs.chunk:.2f} ms, {costs.bytes_per_second / 1e6:.0f} MB/s",
            f"laying out a game of a round {1e6 * costs.lay_out:.0f} us; a model fit {fits} games",
        )
    )


def main() -> None:
    """Measure, simulate, and print a table for each duration of games."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", nargs="+", type=int, default=WORKERS, help="default: 1 2 10 100 1000")
    parser.add_argument("--nodes", type=int, default=1000, help="a move, of measured games (default: 1000)")
    parser.add_argument("--game", type=float, nargs="+", help="seconds of a game (default: as measured, and 30)")
    parser.add_argument("--overlaps", nargs="+", type=int, default=OVERLAPS, help="of tunings (default: 0 2 8)")
    parser.add_argument("--megabytes", type=float, default=100.0, help="of the wire in a second (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the games' times")
    parser.add_argument("--costs", type=Path, help="a file of costs that was saved, instead of measuring")
    parser.add_argument("--save", type=Path, help="where to keep the measured costs")
    arguments = parser.parse_args()
    if arguments.costs is None:
        costs = measured(arguments.nodes, 1e6 * arguments.megabytes)
    else:
        data = json.loads(arguments.costs.read_text("utf-8"))
        costs = Costs(**{**data, "fits": tuple(map(tuple, data["fits"]))})
    if arguments.save is not None:
        arguments.save.write_text(json.dumps(asdict(costs), indent=1) + "\n", "utf-8")
    for game in arguments.game or (costs.game, LONG_GAME):
        own = replace(costs, game=game)
        print(costs_text(own))
        print(table(own, arguments.workers, arguments.overlaps, arguments.seed), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
