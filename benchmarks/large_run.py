"""A tournament of 100 000 games: how long it takes to go on with it and to report it, in how much memory.

Real games are played at few nodes, a pair from every opening; the large run is made of them with other figures, for the
players, openings and keys that a round robin of eight players really has, so that it is resumed as any other. Each
measurement is a process of its own: seconds from its start, and the peak of its resident memory as the operating system
counts it.

    python benchmarks/large_run.py [games] [folder]
"""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from measuring import add_count, parser_of

from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.play.tournament import Plan, prepare
from elolab.arena.play.tournament import run as play_tournament
from elolab.arena.records import GameRecord, MoveRecord, Pairing
from elolab.arena.schedule import format_of, job_of
from elolab.arena.spec import load_tournament
from elolab.engine.engine import StopFlag

GAMES = 100_000
PLAYERS = 8
GAMES_A_PAIR = PLAYERS * (PLAYERS - 1)
MISSING = 20
"""Games that the run to be resumed lacks."""
FIRST_GAMES, LAST_GAMES = 1_000, 20_000
"""Between these, memory while playing must not grow by more than what a stored game may take."""
BYTES_A_GAME = 500
SECONDS_TO_RESUME, SECONDS_TO_REPORT, PAGE_BYTES = 5, 60, 5_000_000
PLAYER = '[[players]]\nname = "player-{number}"\nset = {{ aspiration_window = {window} }}\n'
SPECIFICATION = """\
name = "{name}"
game = "xiangqi"
format = "round_robin"
pairs = {pairs}
seed = 1
limit = "nodes={nodes}"
opening_part = "all"

{players}
[adjudication]
maximum_plies = {plies}
"""
PGN_EXPORT = """\
import sys
from pathlib import Path
from elolab.arena.files import replacing
from elolab.arena.notation.pgn import GameWriter
from elolab.arena.play.store import Store
with Store(Path(sys.argv[1]), read_only=True) as store, replacing(Path(sys.argv[2])) as stream:
    writer = GameWriter(stream, "large", "xiangqi")
    for record in store.iterate():
        writer.write(record)
"""
PLAY = """\
import io, sys
from pathlib import Path
from elolab.arena.play import store, tournament
from elolab.arena.spec import load_tournament
first, last = map(int, sys.argv[3:])
stored, add_all = 0, store.Store.add_all
def counting(self, games):
    global stored
    games = list(games)
    for _ in games:
        stored += 1
        if stored in (first, last):
            status = Path("/proc/self/status").read_text().split()
            print(int(status[status.index("VmRSS:") + 1]) * 1024, flush=True)
    return add_all(self, games)
store.Store.add_all = counting
tournament.run(load_tournament(Path(sys.argv[1])), Path(sys.argv[2]), stream=io.StringIO())
"""


@dataclass(frozen=True)
class Measured:
    """A process that has ended."""

    started: float
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


def main() -> None:
    """Make the run, measure, and print every figure beside its goal."""
    parser = parser_of(__doc__)
    add_count(parser, "games", GAMES)
    parser.add_argument("folder", nargs="?", help="where the run is kept (default: it is not)")
    arguments = parser.parse_args()
    with _folder(arguments.folder) as folder:
        specification = _written(folder, "large", -(-arguments.games // GAMES_A_PAIR), nodes=1000)
        run = folder / "run"
        if not (run / STORE_NAME).is_file():
            started = time.perf_counter()
            count = _make(folder, specification, run)
            print(f"made {count} games, {(run / STORE_NAME).stat().st_size / 1e6:.0f} MB, "
                  f"in {time.perf_counter() - started:.0f} s")  # fmt: skip
        _measure_resumption(specification, run)
        _measure_report(run)
        _measure_readers(folder, run)
        _measure_playing(folder)


@contextmanager
def _folder(name: str | None) -> Iterator[Path]:
    if name is None:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)
    else:
        Path(name).mkdir(parents=True, exist_ok=True)
        yield Path(name)


def _written(folder: Path, name: str, pairs: int, *, nodes: int, plies: int = 300, players: int = PLAYERS) -> Path:
    """A tournament's file."""
    path = folder / f"{name}.toml"
    entries = "".join(PLAYER.format(number=number + 1, window=20 + 10 * number) for number in range(players))
    path.write_text(SPECIFICATION.format(name=name, pairs=pairs, nodes=nodes, plies=plies, players=entries))
    return path


# Making the run


def _make(folder: Path, specification: Path, run: Path) -> int:
    """Store all games of the tournament but the last ``MISSING``; how many they are."""
    plan = prepare(load_tournament(specification))
    templates = _real_games(folder, plan)
    generator = random.Random(1)
    stop = StopFlag()
    stop.set()
    play_tournament(plan.spec, run, stream=io.StringIO(), stop=stop)  # takes the folder, and plays nothing
    pairings = list(format_of(plan.spec).pairings(plan.spec, plan.order, ()))
    with Store(run) as store:
        store.connection.execute("PRAGMA synchronous = OFF")
        for pairing in pairings[:-MISSING]:
            store.add(_varied(plan, pairing, generator.choice(templates[pairing.opening]), generator))
    return len(pairings) - MISSING


def _real_games(folder: Path, plan: Plan) -> dict[int, list[GameRecord]]:
    """Both games of a pair from every opening, by the opening."""
    path = _written(folder, "templates", plan.spec.pairs, nodes=200, players=2)
    play_tournament(load_tournament(path), folder / "templates", concurrency=os.cpu_count() or 1)
    found: dict[int, list[GameRecord]] = {}
    with Store(folder / "templates", read_only=True) as store:
        for record in store.iterate():
            found.setdefault(record.pairing.opening, []).append(record)
    return found


def _varied(plan: Plan, pairing: Pairing, template: GameRecord, generator: random.Random) -> GameRecord:
    """A real game with other figures, as one of that pairing's."""
    job = job_of(plan.spec, plan.suite, pairing)
    shift = generator.randrange(-30, 31)
    moves = tuple(
        MoveRecord(
            entry.move,
            None if entry.score is None else entry.score + shift,
            entry.depth,
            (entry.nodes or 0) + generator.randrange(1000),
            entry.time_ms + 2 * generator.random(),
        )
        for entry in template.moves
    )
    return replace(
        template, key=job.key, pairing=pairing, first=job.first.name, second=job.second.name, opening=job.opening,
        moves=moves,
    )  # fmt: skip


# Measuring


def _run(*words: str | Path, codes: Sequence[int] = (0,)) -> Measured:
    """A process to its end, with one of these exit codes."""
    started, clock = time.time(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([sys.executable, *map(str, words)], stdout=output, stderr=subprocess.DEVNULL)
        peak = 0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak = max(peak, _peak_of(process.pid))
            time.sleep(0.02)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - clock
        if process.returncode not in codes:
            raise SystemExit(f"{words}: exit code {process.returncode}")
        output.seek(0)
        return Measured(started, seconds, usage.ru_utime + usage.ru_stime, peak, output.read())


def _peak_of(process: int) -> int:
    """Bytes of resident memory that a process has had at most; ``ru_maxrss`` would count this process's before it."""
    try:
        words = Path(f"/proc/{process}/status").read_text().split()
    except OSError:
        return 0
    return 1024 * int(words[words.index("VmHWM:") + 1]) if "VmHWM:" in words else 0


def _elolab(*words: str | Path, codes: Sequence[int] = (0,)) -> Measured:
    return _run("-m", "elolab", *words, codes=codes)


def _say(what: str, measured: Measured, more: str = "", goal: str = "") -> None:
    aim = f"  [goal: {goal}]" if goal else ""
    took = f"{measured.seconds:.1f} s ({measured.cpu_seconds:.1f} s of CPU), peak {measured.peak_bytes / 1e6:.0f} MB"
    print(f"{what}: {took}{more}{aim}", flush=True)


def _measure_resumption(specification: Path, run: Path) -> None:
    goal = f"under {SECONDS_TO_RESUME} s"
    for kind in (f"resumed, {MISSING} games missing", "resumed, complete"):
        measured = _elolab("tournament", specification, "--out", run)
        launched = datetime.fromtimestamp(measured.started, UTC).isoformat(timespec="milliseconds")
        with Store(run, read_only=True) as store:
            query = "SELECT started_at FROM games WHERE started_at > ?"
            begun = [text for (text,) in store.connection.execute(query, (launched,))]
        ended = (run / "live.json").stat().st_mtime - measured.started
        first = min((datetime.fromisoformat(text).timestamp() - measured.started for text in begun), default=ended)
        event = "the first game began" if begun else "nothing was left to play"
        _say(kind, measured, f"; {event} after {first:.1f} s, all was played after {ended:.1f} s", goal)


def _measure_report(run: Path) -> None:
    measured = _elolab("report", run)
    page = (run / "report.html").stat().st_size
    chunks = [path.stat().st_size for path in (run / "report-games").glob("*.js")]
    more = f"; page {page / 1e6:.1f} MB, {len(chunks)} files beside it {sum(chunks) / 1e6:.0f} MB"
    _say("report, files beside it kept", measured, more, f"under {SECONDS_TO_REPORT} s, page under 5 MB")
    for path in (run / "report-games").glob("*.js"):
        path.unlink()
    _say("report, all files new", _elolab("report", run), "", f"under {SECONDS_TO_REPORT} s")
    assert page < PAGE_BYTES or not chunks


def _measure_readers(folder: Path, run: Path) -> None:
    pgn = folder / "games.pgn"
    measured = _run("-c", PGN_EXPORT, run, pgn)
    _say("PGN alone", measured, f"; {pgn.stat().st_size / 1e6:.0f} MB")
    players = ("--player", "player-1", "--opponent", "player-2", "--game", "xiangqi")
    _say("stats of the PGN", _elolab("stats", "--pgn", pgn, *players))
    _say("runs", _elolab("runs", folder))
    _say("replay of one game", _elolab("replay", run, "1234", codes=(0, 1)))  # its figures are not those played


def _measure_playing(folder: Path) -> None:
    """Memory while games are played, which are short, as memory must not depend on their moves."""
    pairs = -(-(LAST_GAMES + 1) // GAMES_A_PAIR)
    specification = _written(folder, "playing", pairs, nodes=5, plies=6)
    words: Sequence[str | Path] = ("-c", PLAY, specification, folder / "playing", str(FIRST_GAMES), str(LAST_GAMES))
    measured = _run(*words)
    first, last = map(int, measured.output.split())
    each = (last - first) / (LAST_GAMES - FIRST_GAMES)
    more = f"; resident {first / 1e6:.0f} MB after {FIRST_GAMES} games, {last / 1e6:.0f} MB after {LAST_GAMES}"
    _say("playing", measured, f"{more}: {each:.0f} bytes a game", f"below {BYTES_A_GAME} bytes a game")


if __name__ == "__main__":
    main()
