"""The registry of protocols: every one says all that the arena asks, and a new one needs no word anywhere else."""

from __future__ import annotations

import sys
import types
from dataclasses import replace

import pytest

from elolab.arena.keys.player import keys_of
from elolab.arena.player_spec import merged
from elolab.arena.players import registry
from elolab.arena.players.registry import (
    PROTOCOLS,
    PlayerError,
    Protocol,
    check_player,
    make_player,
    protocol_named,
    protocols,
)
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.schema import TEXTS, Table, declare, key
from tests.support.othello_match import builtin


def test_every_protocol_says_who_it_is() -> None:
    for name in PROTOCOLS:
        protocol = protocol_named(name)
        assert protocol.name == name
        assert protocol.title
        assert protocol.games is None or set(protocol.games) <= set(GAMES)
        assert bool(protocol.remedy) is protocol.is_external
        assert len(set(keys_of(protocol))) == len(keys_of(protocol))


def test_an_engine_with_no_keys_of_its_own_is_read_by_every_external_protocol() -> None:
    for protocol in protocols():
        if protocol.is_external:
            read = protocol.read(Table({}, "cup.toml", protocol.keys))
            assert set(read) <= {"options", "protocol_keys"}


@pytest.fixture
def semaphore(monkeypatch: pytest.MonkeyPatch) -> Protocol:
    """A protocol that is nothing but a module and a line in the registry."""

    def read(table: Table) -> dict[str, object]:
        return {"protocol_keys": (("flags", tuple(table["flags"])),)}

    module = types.ModuleType("arena_players_semaphore")
    module.PROTOCOL = Protocol(  # type: ignore[attr-defined]
        name="semaphore",
        title="Semaphore",
        player=lambda spec, game, _: make_player(replace(builtin(), name=f"{spec.name} waves {game}"), game),
        games=("othello",),
        keys=declare(
            "elolab.arena.keys", "player", "semaphore", flags=key(TEXTS, default=(), expected="a list of flags")
        ),
        read=read,
        check=lambda spec: PlayerError("flags: too many") if len(spec.protocol_key("flags", ())) > 2 else None,
        remedy="flags = [...]",
        has_own_level=True,
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry._MODULES, "semaphore", module.__name__)
    for user in ("elolab.arena.players.registry", "elolab.arena.player_spec"):
        monkeypatch.setattr(sys.modules[user], "PROTOCOLS", (*PROTOCOLS, "semaphore"))
    protocol: Protocol = module.PROTOCOL
    return protocol


def cup(*players: dict[str, object]) -> TournamentSpec:
    return spec_from_mapping({"game": "othello", "pairs": 1, "players": [{"limit": "depth=1"}, *players]}, "cup.toml")


def test_a_new_protocol_is_a_module_and_a_line(semaphore: Protocol) -> None:
    spec = cup({"protocol": "semaphore", "command": "wave", "flags": ["red", "blue"], "limit": "own"})
    player = spec.players[1]
    assert player.limits == Limits()
    assert player.content() == {
        "name": "wave", "protocol": "semaphore", "limits": "own", "command": ["wave"], "options": {},
        "directory": None, "flags": ["red", "blue"],
    }  # fmt: skip
    assert TournamentSpec.from_content(spec.content()) == spec
    assert make_player(player, "othello").name == "wave waves othello"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"protocol": "semaphor"}, r"expected builtin, uci, .* \(did you mean 'semaphore'\?\)"),
        ({"protocol": "semaphore", "flags": 3, "command": "x", "limit": "own"}, "flags = 3, expected a list of flags"),
        ({"protocol": "semaphore", "flags": list("abc"), "command": "x", "limit": "own"}, "flags: too many"),
        ({"protocol": "semaphore", "options": {}, "command": "x"}, r"and xboard; .* semaphore take flags = \[...\]"),
        ({"flags": []}, "flags is a key of an external engine; add command"),
        ({"limit": "own"}, "only players over GTP or .*Semaphore can have their own level"),
    ],
)
def test_its_mistakes_are_told(semaphore: Protocol, entry: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError if "too many" not in said else UserError, match=said):
        cup({"limit": "depth=1", **entry})


def test_it_ponders_only_if_it_says_so(semaphore: Protocol) -> None:
    player = cup({"protocol": "semaphore", "command": "wave", "limit": "clock=10"}).players[1]
    with pytest.raises(UserError, match="semaphore has no pondering"):
        check_player(replace(player, ponder=True), "othello")


@pytest.mark.parametrize("protocol", ["uci", "ucci", "ucicyclone", "xboard"])
def test_an_option_is_given_once_however_it_is_spelt(protocol: str) -> None:
    entry = {"protocol": protocol, "command": "x", "options": {"Hash": 16, "Style": "x", "hash": 32}}
    data = {"game": "xiangqi", "pairs": 1, "players": [entry, {}], "limit": "depth=1"}
    with pytest.raises(ConfigurationError, match=r"^cup: player 1: options: Hash and hash are the same option; give o"):
        spec_from_mapping(data, "cup")


def test_options_over_others_keep_their_places_and_replace_another_spelling() -> None:
    """Their order is that in which an engine is told of them, and a part of what decides a game."""
    entry = {"options": {"Hash": 16, "Style": "calm", "Threads": 1}}
    over = {"options": {"Hash": 32, "threads": 2, "Book": True}}
    expected = {"Hash": 32, "Style": "calm", "threads": 2, "Book": True}
    assert list(merged(entry, over)["options"].items()) == list(expected.items())
