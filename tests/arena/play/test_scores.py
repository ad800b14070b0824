"""The score in the status line: from pairs, whose view, what narrow lines show, and colours of terminals alone."""

from __future__ import annotations

import io
import random
from dataclasses import replace

import pytest

from elolab.arena.colours import GREEN, RED, coloured, has_colours
from elolab.arena.play.live import RunProgress
from elolab.arena.play.scores import GAP, LinePart, MatchScore, MatchScores, Score, Tally, line_of
from elolab.arena.records import Outcome, Pairing
from elolab.arena.statistics.elo import Pentanomial, Trinomial, sequential_test
from elolab.engine.language import columns_of

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


def texts_of(score: Score) -> list[str]:
    """The longest text of every part."""
    return [part.texts[0] for part in score.parts()]


def test_a_match_is_that_of_its_pairs_in_whatever_order_games_end() -> None:
    games = outcomes()
    random.Random(3).shuffle(games)
    score = MatchScore("mine", games)
    expected = Pentanomial.from_pairs(SCORES).estimate()
    assert score.estimate() == expected
    assert texts_of(score) == [
        "+5 =5 −2 (7.5)", "[0 1 2 2 1]", f"mine {expected.elo:+.1f} ± {expected.elo_error:.1f} Elo",
        f"nElo {expected.normalized_elo:+.1f}", f"LOS {100 * expected.los:.1f} %",
    ]  # fmt: skip
    mirrored = MatchScore("mine", [replace(game, score=1 - (game.score or 0)) for game in outcomes()])
    assert texts_of(mirrored)[2] == f"mine −{expected.elo:.1f} ± {expected.elo_error:.1f} Elo"
    other = MatchScore("other", games, view=1)
    assert texts_of(other)[:2] == ["+2 =5 −5 (4.5)", "[1 2 2 1 0]"]


def test_without_pairs_and_without_an_interval() -> None:
    score = MatchScore("mine")
    assert (score.estimate(), score.parts()) == (None, [])
    score.add(Outcome("", Pairing(0, 0, 0, 1, 0), None))
    assert score.estimate() is None
    score.add(Outcome("", Pairing(0, 0, 0, 1, 0), 1.0))
    assert texts_of(score)[:2] == ["+1 =0 −0 (1)", "mine 100.0 %"], "Elo is infinite, and there is no pair"
    for pair, points in enumerate((0.5, 0.0, 0.0), start=1):
        score.add(Outcome("", Pairing(2 * pair, pair, 0, 1, pair), points))
    assert score.estimate() == Trinomial(1, 1, 2).estimate()


def test_the_test_of_a_match_has_its_bounds() -> None:
    score = MatchScore("mine", outcomes(), test=lambda score: sequential_test(score.counts, 0, 10))
    ratio = sequential_test(Pentanomial.from_pairs(SCORES), 0, 10).log_likelihood_ratio
    assert texts_of(score)[-1] == f"LLR {ratio:+.2f} [−2.94, +2.94]"


def test_the_most_important_parts_come_first_and_everything_at_160() -> None:
    """Ranks and widths as of a sequential test of 2000 pairs."""
    counts = Pentanomial((51, 402, 913, 520, 114))
    score = MatchScore("experimental", test=lambda score: sequential_test(counts, 0, 5))
    score.counts, score.tally = counts, Tally(1283, 1590, 1127)
    parts = [LinePart(0, ("4000/8000 games", "4000/8000")), *score.parts(), LinePart(10, ("draws 40 %",)),
             LinePart(7, ("612/min",)), LinePart(4, ("at most 6:32 left", "≤ 6:32"))]  # fmt: skip
    lines = {columns: line_of(parts, columns - 1) for columns in (60, 80, 120, 160)}
    assert {columns for columns, line in lines.items() if columns_of(line) >= columns} == set()
    assert lines[60].split(GAP) == ["4000/8000", "experimental +21.2 ± 6.7 Elo", "LLR +5.19 [±2.94]"]
    assert "≤ 6:32" in lines[80]
    assert "LOS >99.9 %" in lines[80]
    assert "+1283 =1590 −1127" in lines[120]
    everything = ("+1283", "[51 402 913 520 114]", "Elo", "nElo", "LOS", "LLR", "draws", "/min", "6:32")
    assert [text for text in everything if text not in lines[160]] == []
    assert line_of(parts).split(GAP)[0] == "4000/8000 games"


def test_several_matches_take_turns() -> None:
    now = [0.0]
    scores = MatchScores(clock=lambda: now[0])
    for name in ("one", "two"):
        for number in range(4):
            scores.expect(f"{name} {number}", scores.of(name, name, 0))
    shared = scores.of("one", "one", 0)
    scores.expect("two 0", shared)
    shown = []
    for number in range(4):
        for name in ("one", "two"):
            place = Pairing(number, number // 2, number % 2, 1 - number % 2, 0)
            scores.add(Outcome(f"{name} {number}", place, 0.5))
            shown.append(next(text.split()[0] for text in texts_of(scores) if text.startswith(("one", "two"))))
        now[0] += 3.0
    assert shown == ["one", "one", "one", "one", "one", "two", "two", "two"]
    assert shared.tally.games == 5, "a game of two matches counts in both"
    rows = [line.split() for line in scores.table(60)]
    assert [row[:2] for row in rows[1:]] == [["one", "5"], ["two", "4"]]
    scores.add(Outcome("unknown", Pairing(9, 9, 0, 1, 0), 1.0))
    assert shared.tally.games == 5


def test_who_is_clearly_stronger_is_green(terminal: Terminal) -> None:
    games = [
        Outcome("", Pairing(number, number // 2, number % 2, 1 - number % 2, 0), float(number % 2 == 0))
        for number in range(60)
    ]
    for number in range(0, 60, 4):
        games[number] = Outcome("", games[number].pairing, 0.5)
    colours = {part.rank: part.colour for part in MatchScore("mine", games).parts()}
    assert colours[1] == GREEN
    theirs = [Outcome("", game.pairing, 1 - game.score) for game in games if game.score is not None]
    assert RED in [part.colour for part in MatchScore("mine", theirs).parts()]
    progress = RunProgress(terminal)
    progress.begin(100, done=60, score=MatchScore("mine", games))
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
