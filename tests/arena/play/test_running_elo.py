"""Elo in the line of progress: from pairs, whose view, and in colours only where a terminal has them."""

from __future__ import annotations

import io
import random
from dataclasses import replace

import pytest

from elolab.arena.colours import GREEN, coloured, has_colours
from elolab.arena.play.live import RunProgress
from elolab.arena.play.running_elo import RunningElo
from elolab.arena.records import Outcome, Pairing
from elolab.arena.statistics.elo import Pentanomial, Trinomial

SCORES = [(1.0, 0.5), (1.0, 1.0), (0.5, 0.5), (0.0, 1.0), (1.0, 0.5), (0.5, 0.0)]
"""Points of player 0 in both games of each pair."""


def outcomes() -> list[Outcome]:
    """The games of those pairs; player 0 is the first player in the first of each alone."""
    found = []
    for pair, (one, other) in enumerate(SCORES):
        found.append(Outcome("", Pairing(2 * pair, pair, 0, 1, pair), one))
        found.append(Outcome("", Pairing(2 * pair + 1, pair, 1, 0, pair), 1 - other))
    return found


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_it_is_that_of_the_pairs_in_whatever_order_games_end() -> None:
    games = outcomes()
    random.Random(3).shuffle(games)
    elo = RunningElo("mine", games)
    expected = Pentanomial.from_pairs(SCORES).estimate()
    assert elo.estimate() == expected
    assert elo.words(79) == f"mine {expected.elo:+.1f} ± {expected.elo_error:.1f} Elo"
    assert elo.direction() == int(expected.elo_low > 0) == 0
    mirrored = RunningElo("mine", [replace(game, score=1 - (game.score or 0)) for game in outcomes()])
    assert mirrored.words(79) == f"mine −{expected.elo:.1f} ± {expected.elo_error:.1f} Elo"


def test_without_pairs_and_without_an_interval() -> None:
    elo = RunningElo("mine")
    assert (elo.estimate(), elo.words(79), elo.direction()) == (None, "", 0)
    elo.add(Outcome("", Pairing(0, 0, 0, 1, 0), None))
    assert elo.estimate() is None
    elo.add(Outcome("", Pairing(0, 0, 0, 1, 0), 1.0))
    assert elo.words(79) == ""  # infinite
    for pair, points in enumerate((0.5, 0.0, 0.0), start=1):
        elo.add(Outcome("", Pairing(2 * pair, pair, 0, 1, pair), points))
    assert elo.estimate() == Trinomial(1, 1, 2).estimate()
    assert RunningElo("m" * 60, outcomes()).words(10) == ""
    assert len(RunningElo("m" * 60, outcomes()).words(40)) == 40


def test_who_is_clearly_stronger_is_green(terminal: Terminal) -> None:
    games = [
        Outcome("", Pairing(number, number // 2, number % 2, 1 - number % 2, 0), float(number % 2 == 0))
        for number in range(60)
    ]
    for number in range(0, 60, 4):
        games[number] = Outcome("", games[number].pairing, 0.5)
    elo = RunningElo("mine", games)
    assert elo.direction() == 1
    theirs = [Outcome("", game.pairing, 1 - game.score) for game in games if game.score is not None]
    assert RunningElo("mine", theirs).direction() == -1
    progress = RunProgress(terminal)
    progress.begin(100, elo.words, done=60)
    progress.colour = lambda: GREEN
    progress.finished()
    progress.close("finished")
    assert f"\x1b[{GREEN}mmine +" in terminal.getvalue()


def test_files_pipes_and_who_wants_none_get_no_colours(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert coloured("text", GREEN, terminal) == f"\x1b[{GREEN}mtext\x1b[0m"
    assert coloured("text", GREEN, io.StringIO()) == "text"
    assert coloured("", GREEN, terminal) == ""
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colours(terminal)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colours(terminal)
