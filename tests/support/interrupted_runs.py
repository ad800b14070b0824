"""Commands that are killed, or stopped by a signal, at random moments and given again until they end by themselves.

The commands run in children of a server that has imported everything and loaded the compiled engine, so that most
moments are inside the run. Whatever the moment: no game that was stored may be lost or changed, none may be there
twice, no process and no unfinished file may be left, and in the end everything must be as if nothing had happened.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from tests.support.marked_processes import MARK, processes_marked, wait_until

ROOT = Path(__file__).parents[2]
SUPPORT = Path(__file__).parent
STORE_NAME, STATUS_NAME = "games.sqlite", "status.json"
STATUS_SCHEMA = json.loads((ROOT / "configs/schemas/status.json").read_text("utf-8"))
LONGEST_SECONDS = 300
"""No run takes so long, or it hangs."""


# --- The server -------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Run one command after the other, each in a child: an order (JSON) a line; its process, then its status."""
    from elolab import command_line

    _prepare()
    for line in sys.stdin:
        order = json.loads(line)
        process = os.fork()
        if process == 0:
            sys.exit(_obey(order, command_line.main))
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _prepare() -> None:
    """Import what commands import, and load what they compile."""
    from importlib import import_module

    from elolab.cli import COMMANDS
    from elolab.engine.compiled.compilation import compile_game
    from elolab.engine.games import GAMES

    for command in COMMANDS:
        import_module(command.module)
    parts = (
        "arena.reports.write", "arena.protocols.uci", "arena.protocols.gtp", "arena.protocols.nboard",
        "tuning.study.tuning_run", "tuning.study.storage", "tuning.ablation.ablation_run", "tuning.claims.claims_run",
        "tuning.evaluation.evaluation_fit", "tuning.reports.tuning_report", "tuning.reports.ablation_report",
        "tuning.reports.claims_report", "arena.reports.tournament_charts", "arena.play.game",
    )  # fmt: skip
    for module in (*(f"elolab.{part}" for part in parts), "optuna.storages._rdb.storage"):
        import_module(module)
    for game in GAMES:
        compile_game(game)


def _obey(order: Mapping[str, Any], main: Callable[[], int]) -> int:
    os.setsid()
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "output"), (2, "errors")):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    sys.argv = ["elolab", *order["words"]]
    return main()


@dataclass
class Ended:
    """How a command ended."""

    code: int
    """The exit code; negative is a signal."""
    output: str
    errors: str
    seconds: float


class Server:
    """Starts commands; use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir(parents=True)
        self._ended: int | None = 0
        self._process_id = 0

    def __enter__(self) -> Server:
        environment = {**os.environ, "TMPDIR": str(self.temporary), "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        environment["PYTHONPATH"] = str(ROOT)
        self._server = subprocess.Popen(
            [sys.executable, "-c", "from tests.support.interrupted_runs import serve; serve()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.communicate()

    def start(self, words: Sequence[str], mark: str) -> None:
        """Begin a command."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        order = {
            "words": [*words], "folder": str(self.folder), "environment": {MARK: mark},
            "output": str(self.folder / "output.txt"), "errors": str(self.folder / "errors.txt"),
        }  # fmt: skip
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        self._process_id = int(self._server.stdout.readline())
        self._began = time.monotonic()
        self._ended = None

    def signal(self, number: int) -> None:
        """Send the command a signal; a zombie that ended meanwhile takes it too."""
        try:
            os.kill(self._process_id, number)
        except ProcessLookupError:
            pass

    @property
    def is_running(self) -> bool:
        """Whether the command has not ended yet."""
        try:
            stat = Path(f"/proc/{self._process_id}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] not in "ZX"

    def wait(self) -> Ended:
        """How it ended. Raises ``AssertionError`` with its stack if it does not."""
        assert self._server.stdout is not None
        if not wait_until(lambda: not self.is_running, LONGEST_SECONDS):
            self.signal(signal.SIGABRT)
            raise AssertionError("the command hangs")
        code = int(self._server.stdout.readline())
        seconds = time.monotonic() - self._began
        texts = [(self.folder / f"{name}.txt").read_text("utf-8", "replace") for name in ("output", "errors")]
        return Ended(code, *texts, seconds)


# --- What is run ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of run: ``prepare`` writes its files into a folder; ``words`` is its command, which adds ``--out``."""

    words: tuple[str, ...]
    prepare: Callable[[Path], None]
    before: tuple[str, ...] = ()
    """A command that makes the folder first, uninterrupted."""
    overshoots: bool = False
    """Whether games are stored that do not count, more or fewer of them."""
    on_clock: bool = False
    """Whether games come out otherwise every time; none may be lost on time."""

    def command(self, out: Path) -> list[str]:
        """The words of the command."""
        return [str(out) if word == "OUT" else word for word in self.words]


def _write_openings(folder: Path) -> None:
    for game in ("xiangqi", "othello"):
        lines = gzip.decompress((ROOT / "configs/openings" / f"{game}.epd.gz").read_bytes()).decode().splitlines()
        (folder / f"{game}.epd").write_text("\n".join(lines[:80]) + "\n")


def mock_command(program: str, *words: str) -> list[str]:
    """A mock engine's command."""
    return [sys.executable, "-I", "-S", str(SUPPORT / f"{program}.py"), *words]


def _tournament(
    form: str, *, players: int = 3, pairs: int = 8, game: str = "xiangqi", extra: str = ""
) -> Callable[[Path], None]:
    """Writes a tournament of built-in players and a program."""
    program, protocol, limit = {
        "xiangqi": (mock_command("mock_engines", "good"), "uci", "nodes=50"),
        "othello": (mock_command("mock_othello_engines", "good", "protocol=nboard"), "nboard", "depth=2"),
    }[game]

    def prepare(folder: Path) -> None:
        _write_openings(folder)
        text = (
            f'game = "{game}"\nformat = "{form}"\npairs = {pairs}\nseed = 7\nlimit = "{limit}"\n'
            f'openings = "{game}.epd"\n{extra}\n[adjudication]\nmaximum_plies = 40\n'
        )
        for number in range(1, players):
            text += f'[[players]]\nname = "player {number}"\nset = {{ hash_mb = {number} }}\n'
        text += f'[[players]]\nname = "program"\nprotocol = "{protocol}"\ncommand = {json.dumps(program)}\n'
        (folder / "cup.toml").write_text(text)

    return prepare


STUDY = """\
seed = 3
limit = "nodes=40"
round_pairs = 4
openings = "xiangqi.epd"
parameters = ["null_depth", "lmr_base", "evaluation"]
budget = { games = 46 }
[set]
hash_mb = 1
evaluation = "material"
[adjudication]
maximum_plies = 40
[validation]
maximum_pairs = 6
slow_limit = "nodes=60"
slow_pairs = 4
"""
ABLATION = """\
seed = 5
limit = "nodes=40"
pairs = 6
rounds = 2
openings = "xiangqi.epd"
leave_one_out = [{ features = ["quiescence", "null_move"] }]
[set]
hash_mb = 1
[adjudication]
maximum_plies = 30
[nodes_to_depth]
depth = 3
positions = 3
"""
CLAIMS = """\
game = "xiangqi"
seed = 3
[adjudication]
maximum_plies = 30
[budgets.quick]
pairs = 8
rounds = 2
positions = 4
limits = { play = "nodes=40", shallow = "depth=1", deep = "depth=2" }
"""
CLAIM = """\
[[claims]]
id = "{id}"
claim = "A claim."
claim_zh = "主张。"
source = "OT"
basis = "c"
then = "moreland"
[[claims.parts]]
id = "{id}a"
claim = "A part."
claim_zh = "分项。"
{measure}
"""
MEASURES = {
    "C20": 'expect = "better"\nlimits = ["depth=2"]\nreference_limits = ["depth=1"]',
    "C1": 'kind = "nodes"\nexpect = "less"\nvariant = { aspiration = "full" }\nreference = { aspiration = "off" }',
}


def _specification(name: str, text: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        _write_openings(folder)
        (folder / name).write_text(text, "utf-8")

    return prepare


def _match(folder: Path) -> None:
    _write_openings(folder)
    command = json.dumps(mock_command("mock_xiangqi_engines", "good", "protocol=ucci"))
    (folder / "program.toml").write_text(f'protocol = "ucci"\ncommand = {command}\n')


_CLAIMS_TEXT = CLAIMS + "".join(CLAIM.format(id=name, measure=measure) for name, measure in MEASURES.items())
_TOURNAMENT = ("tournament", "cup.toml", "--out", "OUT", "--concurrency", "2")
_TUNE = ("tune", "study.toml", "--out", "OUT", "--concurrency", "2")


def _on_clock(folder: Path) -> None:
    _write_openings(folder)
    command = json.dumps(mock_command("mock_xiangqi_engines", "late", "protocol=ucci", "at=1", "seconds=0.05"))
    (folder / "cup.toml").write_text(
        f'pairs = 2\nlimit = "clock=3"\nopenings = "xiangqi.epd"\n[adjudication]\nmaximum_plies = 16\n'
        f'[[players]]\nname = "slow"\nprotocol = "ucci"\ncommand = {command}\n'
        f'[[players]]\nname = "builtin"\n'
    )


KINDS = {
    "match": Kind(
        ("match", "default", "program.toml", "--pairs", "20", "--limit", "depth=2", "--openings", "xiangqi.epd",
         "--out", "OUT", "--concurrency", "2"),
        _match,
    ),
    "round_robin": Kind(_TOURNAMENT, _tournament("round_robin")),
    "gauntlet": Kind(_TOURNAMENT, _tournament("gauntlet", players=4, game="othello")),
    "swiss": Kind(_TOURNAMENT, _tournament("swiss", players=6, pairs=4, extra="rounds = 2")),
    "knockout": Kind(_TOURNAMENT, _tournament("knockout", players=4, game="othello", extra="third_place = true")),
    "clock": Kind(_TOURNAMENT, _on_clock, on_clock=True),
    "sprt": Kind(
        ("sprt", "default", "material", "--elo0", "0", "--elo1", "100", "--limit", "nodes=40", "--batch-pairs", "2",
         "--openings", "xiangqi.epd", "--out", "OUT", "--concurrency", "2"),
        _write_openings, overshoots=True,
    ),
    "tune": Kind(_TUNE, _specification("study.toml", STUDY)),
    "validate": Kind(
        ("validate", "OUT", "--pairs", "8", "--limit", "nodes=50", "--concurrency", "2"),
        # More games, so that something else than the base is recommended, which there is to validate.
        _specification("study.toml", STUDY.replace("games = 46", "games = 110")), before=_TUNE,
    ),
    "ablate": Kind(
        ("ablate", "parts.toml", "--out", "OUT", "--concurrency", "2"), _specification("parts.toml", ABLATION)
    ),
    "claims": Kind(
        ("claims", "--claims", "mine.toml", "--out", "OUT", "--concurrency", "2"),
        _specification("mine.toml", _CLAIMS_TEXT),
    ),
    "fit-evaluation": Kind(
        ("fit-evaluation", "--from", "othello-by-hand", "--games", "40", "--limit", "depth=1", "--seed", "5",
         "--phases", "2", "--patterns", "off", "--match-pairs", "4", "--match-limit", "depth=1",
         "--out", "OUT", "--output", "last.toml", "--concurrency", "2"),
        lambda folder: None,
    ),
}  # fmt: skip


# --- What must hold ---------------------------------------------------------------------------------------------------


def stored_games(out: Path) -> dict[str, tuple[Any, ...]]:
    """Place, digest and beginning of every stored game by its key; none may be there twice."""
    path = out / STORE_NAME
    if not path.is_file():
        return {}
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'games'").fetchone()[0]:
            return {}
        rows = connection.execute("SELECT key, series, number, digest, started_at, reason FROM games").fetchall()
    assert len({row[0] for row in rows}) == len(rows)
    assert len({row[1:3] for row in rows}) == len(rows), "two games have one place"
    return {row[0]: row[1:] for row in rows}


def _count(out: Path) -> int:
    try:
        return len(stored_games(out))
    except sqlite3.Error:  # it is being made
        return 0


@dataclass(frozen=True)
class Finished:
    """What a run has left behind."""

    code: int
    output: str
    games: Mapping[str, tuple[Any, ...]]
    files: tuple[str, ...]
    contents: Mapping[str, str]
    """Of the files that times do not change."""


TIMELESS = ("crosstable.csv", "superiority.csv", "placing.csv", "encounters.csv", "effects.csv",
            "weights-1.toml", "rounds.csv", "parameters.csv")  # fmt: skip


def finished_run(ended: Ended, out: Path) -> Finished:
    """What is there now."""
    # Whoever looks into a store that is being closed is left with its log: the one who waits for games here.
    files = sorted(
        path.relative_to(out).as_posix() for path in out.rglob("*")
        if path.is_file() and path.name not in (f"{STORE_NAME}-wal", f"{STORE_NAME}-shm")
    )  # fmt: skip
    return Finished(
        ended.code,
        _timeless(ended.output),
        stored_games(out),
        tuple(files),
        {name: (out / name).read_text("utf-8") for name in TIMELESS if name in files},
    )


def _timeless(text: str) -> str:
    return re.sub(r"\d+(\.\d+)? (ms|s|seconds)\b|\d+:\d\d(:\d\d)?", "TIME", text)


@dataclass
class Tally:
    """What a series of interruptions consisted of."""

    interruptions: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    """What a run takes that is left alone."""
    rounds: int = 0
    """Runs that were brought to their end."""
    between_games: int = 0
    """Interruptions with some of the games stored."""
    after_games: int = 0
    """Interruptions with all of them stored."""

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.interruptions.items()))
        return (
            f"{counts} in {self.rounds} runs of {self.seconds:.1f} s; {self.between_games} between games, "
            f"{self.after_games} after the last"
        )


def interrupt(kind: Kind, folder: Path, interruptions: int, seed: int, signals: Sequence[str] = ("SIGKILL",)) -> Tally:
    """Interrupt a kind of run so often, bring every run to its end, and compare it with one that was left alone.

    ``signals`` are drawn from: names of signals, ``SIGINT SIGINT`` for two of them, ``SIGSTOP SIGCONT`` for a pause.
    """
    chance, tally, mark = random.Random(seed), Tally(), f"{os.getpid()}-{seed}"
    with Server(folder) as server:
        kind.prepare(folder)
        out = folder / "out"  # always the same: the key of a game may contain its path
        expected, seconds = _uninterrupted(server, kind, out, mark)
        tally.seconds = seconds
        while tally.interruptions.total() < interruptions:
            shutil.rmtree(out)
            _begun(server, kind, out, mark)
            known = stored_games(out)
            while True:
                server.start(kind.command(out), mark)
                name = chance.choice(signals) if tally.interruptions.total() < interruptions else ""
                if name:
                    _wait_for_moment(server, out, chance, seconds, len(known), len(expected.games))
                    stored, was_running = _count(out), server.is_running
                    _send(server, name, chance)
                ended = server.wait()
                known = _checked(known, out, expected, mark, ended, kind)
                if name and was_running and (ended.code != expected.code or "SIGCONT" in name):
                    tally.interruptions[name] += 1
                    tally.between_games += 0 < stored < len(expected.games)
                    tally.after_games += stored >= len(expected.games)
                if ended.code == expected.code:
                    break
                _check_manners(name, ended, out)
            tally.rounds += 1
            _compare(finished_run(ended, out), expected, kind)
        left = [path.name for path in server.temporary.iterdir()]
        assert not left, f"temporary files are left: {left}"
    return tally


def _begun(server: Server, kind: Kind, out: Path, mark: str) -> None:
    """Make the folder that a run needs."""
    if kind.before:
        made = server.folder / "made before"
        if not made.is_dir():
            server.start([str(made) if word == "OUT" else word for word in kind.before], mark)
            ended = server.wait()
            assert has_ended_by_itself(ended), ended
        shutil.copytree(made, out)


def has_ended_by_itself(ended: Ended) -> bool:
    """Whether it came to its end: with an answer, or with word of the players that forfeited games."""
    return ended.code in (0, 3) or (ended.code == 1 and " games by faults (" in ended.errors)


def _uninterrupted(server: Server, kind: Kind, out: Path, mark: str) -> tuple[Finished, float]:
    _begun(server, kind, out, mark)
    server.start(kind.command(out), mark)
    ended = server.wait()
    assert has_ended_by_itself(ended), ended
    assert wait_until(lambda: not processes_marked(mark)), "processes are left"
    return finished_run(ended, out), ended.seconds


def _wait_for_moment(
    server: Server, out: Path, chance: random.Random, seconds: float, known: int, planned: int
) -> None:
    """Wait for a moment: any, one soon after a game was stored, or one after the last of them."""
    aim = chance.choice(("any", "end", "game", "game", "game"))
    if aim == "any" or (aim == "game" and known >= planned):
        deadline = time.monotonic() + chance.uniform(0, 1.2 * seconds)
        wait_until(lambda: not server.is_running or time.monotonic() > deadline, LONGEST_SECONDS)
        return
    wanted = known + chance.randint(1, max(1, (planned - known) // 4)) if aim == "game" else planned
    wait_until(lambda: not server.is_running or _count(out) >= wanted, LONGEST_SECONDS)
    time.sleep(chance.uniform(0, 0.01 if aim == "game" else 0.6 * seconds))


def _send(server: Server, name: str, chance: random.Random) -> None:
    for place, one in enumerate(name.split()):
        if place:
            time.sleep(3.5 if one == "SIGCONT" else chance.uniform(0, 0.3))  # longer than any clock
        server.signal(signal.Signals[one])


def _checked(
    known: Mapping[str, tuple[Any, ...]], out: Path, expected: Finished, mark: str, ended: Ended, kind: Kind
) -> dict[str, tuple[Any, ...]]:
    """The games that are stored now: those of before, and nothing that should not be there."""
    assert wait_until(lambda: not processes_marked(mark), 5), f"processes are left: {processes_marked(mark)}"
    now = stored_games(out)
    assert known.items() <= now.items(), (known.items() - now.items(), ended)
    for key in now.keys() & expected.games.keys():
        same = 2 if kind.on_clock else 3
        assert now[key][:same] == expected.games[key][:same], "another game, or elsewhere"
    assert not {game[-1] for game in now.values()} & {"time_forfeit", "no_answer", "crash"}
    return now


def _check_manners(name: str, ended: Ended, out: Path) -> None:
    """A signal that can be heard ends a run with the code of an interruption, and with one line that says so."""
    assert "Traceback" not in ended.errors, ended
    if (out / STATUS_NAME).is_file():  # killed, it still says that it runs; ended by two signals, perhaps
        status = json.loads((out / STATUS_NAME).read_text("utf-8"))
        jsonschema.validate(status, STATUS_SCHEMA)
        mild = {"interrupted", "finished", "decided"}  # after the last game, a signal only spares the report
        assert status["reason"] in {"running", *mild} if name in ("SIGKILL", "SIGINT SIGINT") else mild, (status, ended)
    if name == "SIGKILL":
        assert ended.code == -signal.SIGKILL, ended
        return
    # Before and after the games the system's own way of ending is as good.
    assert ended.code in (130, *(-signal.Signals[one] for one in name.split())), ended
    if ended.code == 130:
        assert "interrupted" in ended.errors.splitlines()[-1], ended


def _compare(found: Finished, expected: Finished, kind: Kind) -> None:
    assert kind.on_clock or found.output == expected.output
    if not kind.overshoots:
        more, fewer = (
            sorted(one.games[key][:2] for key in one.games.keys() - other.games.keys())
            for one, other in ((found, expected), (expected, found))
        )
        assert not more, f"games too many, or others: {more} for {fewer}"
        assert not fewer, f"games are missing: {fewer}"
    assert found.files == expected.files, set(found.files) ^ set(expected.files)
    for name, text in expected.contents.items():
        assert kind.on_clock or found.contents[name] == text, name
