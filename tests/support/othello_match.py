"""What the tests of players of Othello share: mock engines, and games with a forced pass in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.arena.play.game import play_game
from elolab.arena.players.registry import make_player, protocol_named
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

ROOT = Path(__file__).parents[2]
MOCK = str(Path(__file__).parent / "mock_othello_engines.py")
START = "---------------------------OX------XO--------------------------- X"
PASS_NEXT = Opening(START, ("d3", "c3", "e6", "d2", "d1", "e1", "b2", "c1"))
"""Black has no move now, and White has."""
NO_ADJUDICATION = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)


def mock_spec(protocol: str, mode: str = "good", limits: Limits | None = None, **changes: Any) -> PlayerSpec:
    """A mock engine: over GTP at its own level, over NBoard at depth 4, unless ``limits`` says otherwise."""
    settings = {"protocol": protocol, **changes.pop("settings", {})}
    words = tuple(f"{name}={value}" for name, value in settings.items())
    command = (sys.executable, "-I", "-S", MOCK, mode, *words)
    limits = limits or (Limits() if protocol == "gtp" else Limits(depth=4))
    spec = PlayerSpec(f"mock {mode}", protocol, limits, command=command, start_timeout_ms=60_000)
    return with_keys(spec, **changes)


def with_keys(spec: PlayerSpec, **changes: Any) -> PlayerSpec:
    """A player with other values, also of what its protocol alone has."""
    own = {key: changes.pop(key) for key in protocol_named(spec.protocol).keys if key in changes and key != "options"}
    return replace(spec, protocol_keys=tuple((dict(spec.protocol_keys) | own).items()), **changes)


def own_engine(protocol: str, **changes: Any) -> PlayerSpec:
    """The engine of this repository as a program, without a hash table, at depth 2."""
    program = (sys.executable, str(ROOT / "elolab"), "engine", "--game", "othello", "--protocol", protocol)
    limits = Limits() if protocol == "gtp" else Limits(depth=2)
    spec = PlayerSpec(
        f"own {protocol}", protocol, limits, command=(*program, "--set", "hash_mb=0"), start_timeout_ms=300_000
    )
    if protocol == "gtp":
        spec = with_keys(spec, commands=("elolab-limit depth=2",))
    return with_keys(spec, **changes)


def builtin(name: str = "builtin") -> PlayerSpec:
    """The same engine built in."""
    parameters = tuple(Engine("othello", {"hash_mb": 0}).parameters.items())
    return PlayerSpec(name, "builtin", Limits(depth=2), parameters=parameters)


@contextmanager
def playing(*specs: PlayerSpec) -> Iterator[Any]:
    """A function that plays a game between two players from an opening; both live until the end.

    The second one moves first where it is told that colours are swapped.
    """
    players = [make_player(spec, "othello") for spec in specs]

    def play(
        opening: Opening = PASS_NEXT, adjudication: Adjudication = NO_ADJUDICATION, *, swapped: bool = False
    ) -> GameRecord:
        first, second = (1, 0) if swapped else (0, 1)
        pairing = Pairing(0, 0, 0, 1, 0)
        job = GameJob("othello", Rules(), adjudication, pairing, specs[first], specs[second], opening, 1)
        play.dialogues = [player.dialogue for player in players]  # type: ignore[attr-defined]
        return play_game(job, (players[first], players[second]), StopFlag())

    try:
        yield play
    finally:
        for player in players:
            player.close()


def play_one(first: PlayerSpec, second: PlayerSpec, opening: Opening = PASS_NEXT) -> GameRecord:
    """One game."""
    with playing(first, second) as play:
        record: GameRecord = play(opening)
    return record


def final_text(record: GameRecord) -> str:
    """The position that a game's moves lead to, played through again."""
    moves = [*record.opening.moves, *(move.move for move in record.moves)]
    return game_named("othello").position(record.opening.position, moves).text
