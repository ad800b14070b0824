"""Measures the arena's own processor time per move between two programs, as a ratio to a bare loop.

The bare loop is written in Python. It writes ``position`` and ``go``, polls, and reads until ``bestmove``, alternating
between two programs that replay one game. The arena plays the same game many times through ``arena.run.Run``, as every
command does, with arbiter, clocks, dialogue, progress and the store. A shorter run is subtracted, so that the fixed
cost of a run does not count. Both loops run in this process, in turns; each ratio comes from one turn. If there are two
processors, this process is pinned to one and the programs to the other, so that each move wakes a process in both
loops.

One program costs nothing; it is compiled from ``free_engine.c``. The real programs are fairy-stockfish at several
numbers of nodes.

    python benchmarks/arena_cost.py [repeats] [--profile]
"""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import FAIRY_STOCKFISH, add_count, long_game, parser_of, pin, report

from elolab.arena.protocols.uci import go_command, position_command
from elolab.arena.records import GameConditions, GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.arena.run import Purpose, Run
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

PLIES = 120
GAMES = 24
"""Number of games of the longer run."""
SHORT = 4
"""Number of games of the shorter run."""
RULES = Rules()
PINNED: list[str] = []
"""Command and arguments, put before a program's command line, that pin the program to a processor; may be empty."""
SOURCE = Path(__file__).parent / "free_engine.c"


@dataclass(frozen=True)
class Setting:
    """A kind of program that is measured, with its search limit; two copies of it play each other."""

    name: str
    command: tuple[str, ...]
    limit: str
    goal: str
    options: tuple[tuple[str, str], ...] = ()
    first_rank: int = 0


def main() -> None:
    parser = parser_of(__doc__)
    add_count(parser, "repeats", 5)
    parser.add_argument("--profile", action="store_true", help="show where the time of a run goes")
    arguments = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(processors) > 1 and shutil.which("taskset"):
        PINNED.extend(["taskset", "-c", str(processors[1])])
    pin()
    with tempfile.TemporaryDirectory() as folder:
        for setting in _settings(Path(folder)):
            _measure(setting, Path(folder), arguments.repeats, profile=arguments.profile)


def _settings(folder: Path) -> list[Setting]:
    game = folder / "moves"
    game.write_text("\n".join(long_game("xiangqi", PLIES + 2)))
    program = folder / "free_engine"
    compiler = shutil.which("cc") or shutil.which("gcc")
    settings = []
    if compiler is None:
        print("no C compiler (cc); the engine that costs nothing is left out")
    else:
        subprocess.run([compiler, "-O2", "-o", str(program), str(SOURCE)], check=True)
        for infos in (1, 20):
            command = (*PINNED, str(program), str(game), str(infos))
            name = f"an engine that costs nothing, {infos} info {'line' if infos == 1 else 'lines'} a move"
            settings.append(Setting(name, command, "nodes=1", "at most 3" if infos == 1 else ""))
    if os.path.exists(FAIRY_STOCKFISH):
        options = (("UCI_Variant", "xiangqi"), ("Threads", "1"), ("Use NNUE", "false"))
        for nodes in (100, 1000):
            command = (*PINNED, FAIRY_STOCKFISH)
            name = f"fairy-stockfish, {nodes} nodes a move"
            settings.append(Setting(name, command, f"nodes={nodes}", "at most 5", options, 1))
    else:
        print("fairy-stockfish is not installed; real engines are left out")
    return settings


def _measure(setting: Setting, folder: Path, repeats: int, *, profile: bool) -> None:
    ratios, bare_us, arena_us = [], [], []
    play = _Arena(setting, folder)
    play(1)  # whatever has to be loaded and compiled
    moves = play.moves
    for _ in range(repeats):
        before = _bare_loop(setting, moves)
        long_s, long_moves = play(GAMES)
        short_s, short_moves = play(SHORT)
        after = _bare_loop(setting, moves)
        bare = (before + after) / 2
        arena = (long_s - short_s) / (long_moves - short_moves)
        bare_us.append(1e6 * bare)
        arena_us.append(1e6 * arena)
        ratios.append(arena / bare)
    print(setting.name)
    report("  bare loop", bare_us, "us of processor time a move")
    report("  arena", arena_us, "us of processor time a move")
    report("  arena / bare loop", ratios, "", setting.goal)
    if profile:
        _print_profile(play)


def _bare_loop(setting: Setting, game: Sequence[str]) -> float:
    """Processor seconds per move of the bare loop, which replays the moves of ``game``."""
    start = game_named("xiangqi").start
    go = go_command(Limits.parse(setting.limit), None, 0)
    programs = [_BareProgram(setting) for _ in range(2)]
    questions = [
        f"{position_command(start, game[:ply], setting.first_rank)}\n{go}\n".encode() for ply in range(len(game))
    ]
    began = time.process_time()
    rounds = max(1, 1200 // len(game))
    for _ in range(rounds):
        for ply, question in enumerate(questions):
            programs[ply % 2].ask(question)
    seconds = time.process_time() - began
    for program in programs:
        program.close()
    return seconds / (rounds * len(questions))


class _BareProgram:
    """A started program, with a poll object that waits for the program's output."""

    def __init__(self, setting: Setting) -> None:
        self._process = subprocess.Popen(
            setting.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self.ask(b"uci\n", b"uciok")
        for name, value in setting.options:
            os.write(self._input, f"setoption name {name} value {value}\n".encode())
        self.ask(b"isready\n", b"readyok")

    def ask(self, question: bytes, answer: bytes = b"bestmove") -> None:
        """Write ``question``, and read until the line that begins with ``answer`` is complete."""
        os.write(self._input, question)
        said = b""
        while True:
            self._poll.poll(10_000)
            said += os.read(self._output, 65536)
            place = said.find(answer)
            if place >= 0 and said.find(b"\n", place) >= 0:
                return

    def close(self) -> None:
        os.write(self._input, b"quit\n")
        self._process.wait(timeout=10)


class _Arena:
    """Runs games between two players of a setting; each run has its own folder."""

    def __init__(self, setting: Setting, folder: Path) -> None:
        options = setting.options or (("ranks", "0"),)
        limits = Limits.parse(setting.limit)
        self._players = [
            PlayerSpec(name, "uci", limits, command=setting.command, options=options) for name in ("one", "other")
        ]
        self._folder = folder
        self._runs = 0
        self.moves: list[str] = []
        """Moves of the last game."""

    def __call__(self, games: int) -> tuple[float, int]:
        """Play ``games`` games; return the processor seconds of this process, and the total number of moves."""
        self._runs += 1
        directory = self._folder / f"run {self._runs} of {id(self)}"
        began = time.process_time()
        with (
            open(os.devnull, "w") as nowhere,
            Run(directory, Purpose("benchmark", {}, "benchmark"), stream=nowhere) as run,
        ):
            run.play(self._jobs(games))
            seconds = time.process_time() - began
            records = run.store.records()
        shutil.rmtree(directory)
        self.moves = [move.move for move in records[-1].moves]
        faults = [record.detail for record in records if record.reason != "maximum_length" and record.detail]
        if faults:
            raise RuntimeError(f"a game ended by a fault: {faults[0]}")
        return seconds, sum(len(record.moves) for record in records)

    def _jobs(self, games: int) -> list[GameJob]:
        adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=PLIES)
        conditions = GameConditions("xiangqi", RULES, adjudication, seed=1)
        opening = Opening(game_named("xiangqi").start)
        return [
            conditions.job(Pairing(number, number, 0, 1, 0), self._players[0], self._players[1], opening)
            for number in range(games)
        ]


def _print_profile(play: _Arena) -> None:
    """Print the functions in which the thread that plays spends most time."""
    from elolab.arena.play.executor import GameRunner

    profile = cProfile.Profile()
    plain = GameRunner._record_of

    def profiled(self: GameRunner, job: GameJob) -> GameRecord | None:
        profile.enable()
        try:
            return plain(self, job)
        finally:
            profile.disable()

    GameRunner._record_of = profiled  # type: ignore[method-assign]
    _, moves = play(GAMES)
    GameRunner._record_of = plain  # type: ignore[method-assign]
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(25)
    print(f"profile of {moves} moves")
    print(text.getvalue())


if __name__ == "__main__":
    main()
