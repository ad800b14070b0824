"""Compares elolab with fastchess: the same two chess engines, openings and limits, with 1, 2 and 16 games at a time.

The two arenas take turns, and each plays a short and a long match. Games per second are the additional games of the
long match divided by its additional time; processor time per move is computed alike. So neither figure includes the
start of the programs, which has its own column. An uncounted match comes first, because elolab may have to compile.
Processor time and memory count the arena and its helper processes, without the engines, as read from ``/proc``. Latency
is the time charged for a move minus the time that the engine reports, which is in whole milliseconds. A ratio above 1
is in elolab's favour for games per second, a ratio below 1 for everything else.

At the end, fastchess's statistics are compared with elolab's statistics of the same games: pentanomial counts, Elo,
normalized Elo and log-likelihood ratio. elolab computes its intervals in another way (``docs/statistics.md``). For this
comparison, its error bar is computed with the normal approximation that fastchess uses.

    python benchmarks/against_fastchess.py FASTCHESS [--engines stockfish fairy-stockfish] [--limits 1 1000 2+0.02]
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measuring import arena_cost

from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.engine.games import game_named

GAMES = {"1": (8, 160), "1000": (4, 40), "2+0.02": (2, 6)}
"""Numbers of games of the short and the long match, by limit; multiplied by the root of the games at a time."""
OPENING_PLIES = 6
MOST_MOVES = 100
"""Number of moves of each side after which a game is drawn."""
SPRT = SequentialSettings(elo0=-3.0, elo1=3.0)
NORMAL_95 = 1.959963984540054


NAMES = ("one", "other")
Engines = tuple[str, ...]


class Run(NamedTuple):
    """Measurements of one match in one arena."""

    seconds: float
    games: int
    moves: int
    cpu_seconds: float
    """Processor time, in seconds, of the arena and its helper processes."""
    memory_mb: float
    """Largest resident memory of the arena and its helper processes, in MB."""
    latencies_ms: list[float]
    forfeits: int


def main() -> None:
    """Measure and print the table, then compare the statistics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fastchess", help="path of fastchess")
    parser.add_argument("--engines", nargs=2, default=["stockfish", "fairy-stockfish"], help="two UCI engines")
    parser.add_argument("--limits", nargs="+", default=list(GAMES), help="nodes a move, or time+increment in seconds")
    parser.add_argument("--at-a-time", type=int, nargs="+", default=[1, 2, 16])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of games (default 1)")
    arguments = parser.parse_args()
    print(f"{'limit':>7} {'at a time':>9} {'arena':>9} {'games/s':>16} {'cpu us a move':>16} {'memory MB':>9} "
          f"{'latency ms p50 / p99':>20} {'forfeits':>8} {'start s':>7}")  # fmt: skip
    engines = tuple(
        shutil.which(engine) or shutil.which(engine, path="/usr/games") or engine for engine in arguments.engines
    )
    with tempfile.TemporaryDirectory() as scratch:
        openings = _write_openings(Path(scratch) / "openings.epd")
        play = {
            "elolab": lambda *words: _elolab(engines, openings, Path(scratch), *words),
            "fastchess": lambda *words: _fastchess(arguments.fastchess, engines, openings, Path(scratch), *words),
        }  # fmt: skip
        for one in play.values():
            one("1", 1, 2)  # not counted: elolab may have to compile
        for limit in arguments.limits:
            for count in arguments.at_a_time:
                games = [_even(number * arguments.scale * math.sqrt(count)) for number in _games_of(limit)]
                runs: dict[str, list[tuple[Run, Run]]] = {name: [] for name in play}
                for _ in range(arguments.repeats):
                    for name, one in play.items():
                        runs[name].append((one(limit, count, games[0]), one(limit, count, games[1])))
                _print_rows(limit, count, runs)
        _compare_figures(Path(scratch) / "fastchess.txt", Path(scratch) / "fastchess.pgn")


def _games_of(limit: str) -> tuple[int, int]:
    return GAMES.get(limit, GAMES["2+0.02"] if "+" in limit else GAMES["1000"])


def _even(number: float) -> int:
    return max(2, 2 * round(number / 2))


def _write_openings(path: Path) -> Path:
    """Write 1000 distinct positions, each reached by a few random plies, to an EPD file; return its path."""
    generator, found = random.Random(1), []
    while len(found) < 1000:
        position = game_named("chess").position()
        for _ in range(OPENING_PLIES):
            position.push(generator.choice(position.legal_moves()))
        if position.text not in found:
            found.append(position.text)
    path.write_text("".join(f"{text}\n" for text in found))
    return path


def _elolab(engines: Engines, openings: Path, scratch: Path, limit: str, count: int, games: int) -> Run:
    folder = scratch / "run"
    shutil.rmtree(folder, ignore_errors=True)
    words = [sys.executable, "-m", "elolab", "match", "--game", "chess", "--pairs", str(games // 2)]
    for name, engine in zip(NAMES, engines, strict=True):
        words += ["--engine", f"name={name}", f"cmd={engine}", "proto=uci", "option.Hash=1"]
    words += ["--limit", f"clock={limit}" if "+" in limit else f"nodes={limit}", "--openings", f"file={openings}"]
    words += ["order=sequential", "--resign", "movecount=0", "--maxmoves", str(MOST_MOVES), "--concurrency", str(count)]
    seconds, cpu_seconds, memory_mb = arena_cost([*words, "--oversubscribe", "--out", str(folder)], scratch, engines)
    from elolab.arena.play.store import Store

    with Store(folder, read_only=True) as store:
        records = store.records()
    latencies = [move.latency_ms for record in records for move in record.moves if move.latency_ms is not None]
    moves = sum(record.plies for record in records)
    forfeits = sum(record.reason in ("time_forfeit", "no_answer") for record in records)
    return Run(seconds, len(records), moves, cpu_seconds, memory_mb, latencies, forfeits)


def _fastchess(
    program: str, engines: Engines, openings: Path, scratch: Path, limit: str, count: int, games: int
) -> Run:
    pgn = scratch / "fastchess.pgn"
    pgn.unlink(missing_ok=True)
    words = [os.path.abspath(program)]
    for name, engine in zip(NAMES, engines, strict=True):
        words += ["-engine", f"cmd={engine}", f"name={name}", "option.Hash=1"]
    words += ["-each", *([f"tc={limit}"] if "+" in limit else [f"nodes={limit}", "tc=inf"])]
    words += ["-rounds", str(games // 2), "-games", "2", "-repeat", "-concurrency", str(count), "-force-concurrency"]
    words += ["-openings", f"file={openings}", "format=epd", "order=sequential", "-maxmoves", str(MOST_MOVES)]
    words += ["-pgnout", f"file={pgn}", "nodes=true", "latency=true", "append=false"]
    words += ["-sprt", f"elo0={SPRT.elo0:g}", f"elo1={SPRT.elo1:g}", "alpha=0.05", "beta=0.05", "model=normalized"]
    seconds, cpu_seconds, memory_mb = arena_cost(words, scratch, engines, scratch / "fastchess.txt")
    text = pgn.read_text()
    moves = len(re.findall(r"\{[^}]*?\d+\.\d+s", text))
    latencies = [1000 * float(found) for found in re.findall(r"latency=(-?[\d.]+)s", text)]
    forfeits = text.count('[Termination "time forfeit"]')
    return Run(seconds, text.count("[Result "), moves, cpu_seconds, memory_mb, latencies, forfeits)


def _print_rows(limit: str, count: int, runs: dict[str, list[tuple[Run, Run]]]) -> None:
    rates: dict[str, list[float]] = {}
    costs: dict[str, list[float]] = {}
    for name, pairs in runs.items():
        rates[name] = [(long.games - short.games) / (long.seconds - short.seconds) for short, long in pairs]
        costs[name] = [
            1e6 * (long.cpu_seconds - short.cpu_seconds) / (long.moves - short.moves) for short, long in pairs
        ]
        latencies = sorted(ms for pair in pairs for run in pair for ms in run.latencies_ms)
        shown = (
            f"{latencies[len(latencies) // 2]:.2f} / {latencies[len(latencies) * 99 // 100]:.2f}" if latencies else "-"
        )
        starts = [short.seconds - short.games / rate for (short, _), rate in zip(pairs, rates[name], strict=True)]
        forfeits = sum(run.forfeits for pair in pairs for run in pair)
        memory = max(run.memory_mb for pair in pairs for run in pair)
        print(f"{limit:>7} {count:>9} {name:>9} {_spread(rates[name]):>16} {_spread(costs[name]):>16} {memory:>9.0f} "
              f"{shown:>20} {forfeits:>8} {statistics.median(starts):>7.1f}", flush=True)  # fmt: skip
    ratios = [[a / b for a, b in zip(found["elolab"], found["fastchess"], strict=True)] for found in (rates, costs)]
    print(f"{'':>17} {'ratio':>9} {_spread(ratios[0]):>16} {_spread(ratios[1]):>16}", flush=True)


def _spread(values: Sequence[float]) -> str:
    """Median and range of repeated measurements as text."""
    digits = 0 if max(values) >= 100 else 1 if max(values) >= 10 else 2
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def _compare_figures(output: Path, pgn: Path) -> None:
    """Print fastchess's last statistics in ``output`` beside elolab's statistics of the same games (``pgn``)."""
    scores: dict[str, list[float]] = {}
    points = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
    for game in pgn.read_text().split("[Event ")[1:]:
        tags = dict(re.findall(r'^\[(\w+) "([^"]*)"\]', "[Event " + game, re.MULTILINE))
        score = points[tags["Result"]]
        scores.setdefault(tags["FEN"], []).append(score if tags["White"] == NAMES[0] else 1 - score)
    pentanomial = Pentanomial.from_pairs((pair[0], pair[1]) for pair in scores.values() if len(pair) == 2)
    estimate, test = pentanomial.estimate(), SPRT.test(pentanomial)
    reach = NORMAL_95 * estimate.standard_error
    error = (elo_of_score(estimate.score + reach) - elo_of_score(estimate.score - reach)) / 2
    own = {
        "pentanomial": str(list(pentanomial.counts)),
        "Elo": f"{estimate.elo:.2f} +/- {error:.2f}",
        "nElo": f"{estimate.normalized_elo:.2f}",
        "LLR": f"{test.log_likelihood_ratio:.2f}",
    }
    text = output.read_text()
    patterns = {
        "pentanomial": r"Ptnml\(0-2\): (\[[\d, ]+\])",
        "Elo": r"\nElo: (-?[\d.]+ \+/- [\d.]+)",
        "nElo": r"nElo: (-?[\d.]+|-?nan)",
        "LLR": r"LLR: (-?[\d.]+)",
    }
    print(f"\nfigures of the same {2 * pentanomial.pairs} games, by fastchess and by elolab")
    for name, pattern in patterns.items():
        theirs = re.sub(r"-(?=0\.00\b)", "", (re.findall(pattern, text) or ["-"])[-1])
        print(f"  {name:12} {theirs:24} {own[name]:24} {'equal' if theirs == own[name] else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
