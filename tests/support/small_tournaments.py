"""Small tournaments of built-in players, and what their folders hold."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import TournamentResult, run
from elolab.arena.records import GameRecord
from elolab.arena.tournament_reader import load_tournament

OPENINGS = """\
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C4NC1/9/RNBAKAB1R b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2B2C1/9/RN1AKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/6P2/P1P1P3P/1C5C1/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C3C3/9/RNBAKABNR b - - 0 1
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C1C5/9/RNBAKABNR b - - 0 1
"""


def write_spec(folder: Path, *, players: int = 3, pairs: int = 2, limit: str = "nodes=60", extra: str = "") -> Path:
    """A small tournament beside its openings; ``extra`` goes in front of the players."""
    (folder / "six.epd").write_text(OPENINGS)
    text = f'pairs = {pairs}\nseed = 5\nlimit = "{limit}"\nopenings = "six.epd"\n{extra}\n'
    text += "[adjudication]\nmaximum_plies = 60\n"
    for number in range(players):
        text += f'[[players]]\nname = "player {number}"\nset = {{ tempo = {10 * number}, hash_mb = 1 }}\n'
    path = folder / "cup.toml"
    path.write_text(text)
    return path


def play(path: Path, out: Path, concurrency: int = 1, **options: Any) -> TournamentResult:
    return run(load_tournament(path), out, concurrency=concurrency, stream=io.StringIO(), **options)


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


def digest_in(out: Path) -> str:
    with Store(out, read_only=True) as store:
        return store.digest()
