"""What the tests of players of Xiangqi share: mock engines, programs of this repository, and games between them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.play.game import play_game
from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.players.registry import make_player, protocol_named
from elolab.arena.records import GameJob, GameRecord, MoveRecord, Opening, Pairing, PlayerSpec
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

ROOT = Path(__file__).parents[2]
MOCK = str(Path(__file__).parent / "mock_xiangqi_engines.py")
START = game_named("xiangqi").start
AFTER_CAPTURES = Opening(START, ("h2e2", "h7e7", "e2e6", "d9e8"))
BLACK_TO_MOVE = Opening("rnbakabnr/9/1c5c1/p1p1C1p1p/9/9/P1P1P1P1P/1C7/9/RNBAKABNR b - - 0 2")
NO_ADJUDICATION = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0)


def mock_spec(protocol: str, mode: str = "good", limit: str = "depth=3", **changes: Any) -> PlayerSpec:
    """A mock engine; ``settings`` are its own, other values those of the player."""
    words = (f"{name}={value}" for name, value in {"protocol": protocol, **changes.pop("settings", {})}.items())
    command = (sys.executable, "-I", "-S", MOCK, mode, *words)
    spec = PlayerSpec(f"mock {mode}", protocol, Limits.parse(limit), command=command, start_timeout_ms=60_000)
    return with_keys(spec, **changes)


def with_keys(spec: PlayerSpec, **changes: Any) -> PlayerSpec:
    """A player with other values, also of what its protocol alone has."""
    own = {key: changes.pop(key) for key in protocol_named(spec.protocol).keys if key in changes and key != "options"}
    return replace(spec, protocol_keys=tuple((dict(spec.protocol_keys) | own).items()), **changes)


def own_engine(protocol: str, limit: str, **changes: Any) -> PlayerSpec:
    """The engine of this repository as a program."""
    program = (sys.executable, str(ROOT / "elolab"), "engine", "--protocol", protocol)
    spec = PlayerSpec(f"own {protocol}", protocol, Limits.parse(limit), command=program, start_timeout_ms=300_000)
    return with_keys(spec, **changes)


def builtin(limit: str, name: str = "builtin") -> PlayerSpec:
    """The same engine built in."""
    return PlayerSpec(name, "builtin", Limits.parse(limit), parameters=tuple(Engine("xiangqi").parameters.items()))


def assert_same_games(protocol: str, limit: str = "nodes=700", **changes: Any) -> None:
    """The engine as a program plays either side against the one built in as that does, from several openings.

    With the same scores, nodes and principal variations. A move that an iteration found that was then broken off is
    told with the depth of this one; a player that is built in has that of the last completed one in its record.
    """
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=24)
    expected = (builtin(limit, "a"), builtin(limit, "b"))
    own = own_engine(protocol, limit, **changes)
    with playing(own, expected[0], adjudication=adjudication) as play:
        for opening, swapped in itertools.product((Opening(START), AFTER_CAPTURES, BLACK_TO_MOVE), (False, True)):
            record = play(opening, swapped=swapped)
            assert record.reason == "maximum_length", record.detail
            built_in = play_one(*expected, opening, adjudication=adjudication)
            assert (record.result, record.reason) == (built_in.result, built_in.reason)
            assert [_without_depth(move) for move in record.moves] == [_without_depth(move) for move in built_in.moves]
            for told, kept in zip(record.moves, built_in.moves, strict=True):
                assert (told.depth or 0) - (kept.depth or 0) in (0, 1)
            assert all(move.principal_variation.split()[0] == move.move for move in record.moves)


def _without_depth(move: MoveRecord) -> tuple[Any, ...]:
    return move.move, move.score, move.nodes, move.principal_variation


def need_program(name: str) -> None:
    """Skip the test if a program of Debian's is not installed."""
    try:
        find_program((name,), None)
    except PlayerFault:
        pytest.skip(f"{name} is not installed (.ci/run says how)")


@contextmanager
def playing(
    *specs: PlayerSpec, adjudication: Adjudication = NO_ADJUDICATION, rules: Rules | None = None
) -> Iterator[Any]:
    """A function that plays a game between two players from an opening; both live until the end.

    The second one moves first where it is told that colours are swapped.
    """
    players = [make_player(spec, "xiangqi") for spec in specs]

    def play(
        opening: Opening | None = None, adjudication: Adjudication = adjudication, *, swapped: bool = False
    ) -> GameRecord:
        first, second = (1, 0) if swapped else (0, 1)
        job = GameJob(
            "xiangqi", rules or Rules(), adjudication, Pairing(0, 0, 0, 1, 0), specs[first], specs[second],
            opening or Opening(START), 1,
        )  # fmt: skip
        play.dialogues = [player.dialogue for player in players]  # type: ignore[attr-defined]
        return play_game(job, (players[first], players[second]), StopFlag())

    try:
        yield play
    finally:
        for player in players:
            player.close()


def play_one(first: PlayerSpec, second: PlayerSpec, opening: Opening | None = None, **options: Any) -> GameRecord:
    """One game."""
    with playing(first, second, **options) as play:
        record: GameRecord = play(opening)
    return record
