"""``elolab tournament``: players and format from the command line, and in place of what a file says."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.player_spec import DEFAULT_LIMIT
from elolab.arena.tournament_spec import TournamentSpec
from elolab.cli import tournament
from elolab.cli.shared import match_options as words_of_tournament
from elolab.engine.settings.configuration import ConfigurationError

FILE = """
name = "mine"
format = "round_robin"
pairs = 4
rounds = 2
limit = "nodes=10"
players = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }, { name = "e", limit = "depth=1" }]
"""


@pytest.fixture
def understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[TournamentSpec]:
    """The tournaments that commands would play, in a folder with ``mine.toml``."""
    specs: list[TournamentSpec] = []

    def play(spec: TournamentSpec, arguments: argparse.Namespace) -> int:
        specs.append(spec)
        return 0

    for module in (tournament, words_of_tournament):
        monkeypatch.setattr(module, "play_and_print", play)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FILE, "utf-8")
    return specs


def specification(specs: list[TournamentSpec], words: str) -> TournamentSpec:
    assert command_line.main(["tournament", *words.split()]) == 0
    return specs[-1]


def test_options_go_before_the_file(understood: list[TournamentSpec]) -> None:
    words = "mine.toml --format swiss --rounds 3 --pairs 5 --limit nodes=20 --seed 8 --no-repeats"
    spec = specification(understood, words)
    assert (spec.name, spec.format, spec.rounds, spec.pairs_of_encounter, spec.seed) == ("mine", "swiss", 3, 5, 8)
    assert [str(player.limits) for player in spec.players] == 4 * ["nodes=20"] + ["depth=1"]


def test_what_players_on_the_command_line_play_by_default(understood: list[TournamentSpec]) -> None:
    spec = specification(understood, "default material default default")
    assert [player.name for player in spec.players] == ["default", "material", "default (2)", "default (3)"]
    assert {player.limits for player in spec.players} == {DEFAULT_LIMIT}
    assert (spec.game, spec.format, spec.rounds, spec.pairs) == ("xiangqi", "round_robin", 1, tournament.DEFAULT_PAIRS)
    assert spec.name == "round_robin-default-and-3-others-nodes-1000-seed-1"
    assert specification(understood, "default material --format sprt").pairs == 0


@pytest.mark.parametrize("words", ["--format round-robin", "-tournament roundrobin", "--format round_robin", ""])
def test_a_format_has_the_names_that_other_programs_give_it(words: str, understood: list[TournamentSpec]) -> None:
    assert specification(understood, f"default material {words}").format == "round_robin"


def test_rounds_are_of_one_pair_where_they_repeat_all_encounters(understood: list[TournamentSpec]) -> None:
    players = "--engine default --engine default --engine default --rounds 2"
    for words, pairs in (("", 1), ("-games 4", 2), ("-tournament gauntlet -seeds 1", 1), ("--format swiss", 10)):
        spec = specification(understood, f"tournament {players} {words}".partition(" ")[2])
        assert (spec.rounds, spec.pairs_of_encounter) == (2, pairs)


def test_players_of_a_file_are_described_there(
    understood: list[TournamentSpec], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["tournament", "mine.toml", "--each", "nodes=5"]) == 2
    assert "that file describes the players" in capsys.readouterr().err


def test_a_key_of_another_format_is_refused_from_the_command_line_too(
    understood: list[TournamentSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(command_line.TRACEBACK_VARIABLE, "1")
    with pytest.raises(ConfigurationError, match="third_place is a key of format = 'knockout', not of 'swiss'"):
        command_line.main(["tournament", "default", "material", "--format", "swiss", "--third-place"])
    with pytest.raises(ConfigurationError, match=r"mine\.toml: rounds = 6, expected at most 5 for 5 players"):
        command_line.main(["tournament", "mine.toml", "--format", "swiss", "--rounds", "6"])
    assert not understood
