"""Real programs of all protocols in one tournament of each game, with the built-in engine among them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import run
from elolab.arena.players.process import GAMES_DIRECTORIES
from elolab.arena.statistics.faults import FORFEITS
from elolab.arena.tournament_reader import spec_from_mapping

ROOT = Path(__file__).parents[3]
FAULTS = {*FORFEITS, "startup_failure"}


def own(protocol: str, game: str) -> str:
    return f"{sys.executable} {ROOT / 'elolab'} engine --protocol {protocol} --game {game}"


XIANGQI = [
    {"name": "default"},
    {"name": "fairy over UCI", "protocol": "uci", "command": "fairy-stockfish", "options": {"UCI_Variant": "xiangqi"}},
    {"name": "fairy over UCCI", "protocol": "ucci", "command": "fairy-stockfish"},
    {"name": "fairy over xboard", "protocol": "xboard", "command": "fairy-stockfish"},
    {"name": "HoiXiangqi", "protocol": "xboard", "command": "hoixiangqi"},
    {"name": "MaxQi", "protocol": "xboard", "command": "maxqi"},
    *({"name": f"own over {one}", "protocol": one, "command": own(one, "xiangqi")} for one in ("ucci", "ucicyclone")),
]
OTHELLO = [
    {"name": "default"},
    {"name": "Rhino", "protocol": "gtp", "command": "gtp-rhino --level 1", "limit": "own", "gtp_passes": "omit"},
    {"name": "own over GTP", "protocol": "gtp", "command": own("gtp", "othello"), "limit": "move_time=1"},
    {"name": "own over NBoard", "protocol": "nboard", "command": own("nboard", "othello")},
]


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"format": "swiss", "rounds": 3}, {"format": "knockout"}, {"format": "gauntlet"}])
@pytest.mark.parametrize(("game", "players"), [("xiangqi", XIANGQI), ("othello", OTHELLO)], ids=["xiangqi", "othello"])
def test_all_of_them_play_to_the_end(
    game: str, players: list[dict[str, object]], how: dict[str, object], tmp_path: Path
) -> None:
    path = ":".join(GAMES_DIRECTORIES)
    there = [one for one in players if "command" not in one or _is_there(str(one["command"]).split()[0], path)]
    content = {"game": game, "pairs": 1, "limit": "depth=2", "seed": 7, "players": there, **how}
    spec = spec_from_mapping(content, "mixed.toml")
    result = run(spec, tmp_path / "mixed", concurrency=2)
    assert result.exit_code == 0
    assert not result.unavailable
    with Store(tmp_path / "mixed", read_only=True) as store:
        records = store.records()
    assert len({record.key for record in records}) == len(records) == result.planned
    assert [(record.first, record.second, record.detail) for record in records if record.reason in FAULTS] == []
    assert {name for record in records for name in (record.first, record.second)} == {one["name"] for one in there}


def _is_there(program: str, path: str) -> bool:
    return shutil.which(program) is not None or shutil.which(program, path=path) is not None
