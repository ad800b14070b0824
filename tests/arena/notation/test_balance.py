"""Openings made and chosen: bands, symmetry, what is dropped; other programs' rules are the oracle for symmetry."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pyffish
import pyspiel
import pytest

from elolab.arena.notation.balance import (
    Accepts,
    Candidate,
    EngineJudge,
    JudgesByThread,
    PlayerJudge,
    Proposer,
    RandomPlay,
    balance,
    generate,
    win_probability,
    within_probability,
    within_score,
)
from elolab.arena.notation.openings import OpeningError, suite_text
from elolab.arena.records import Opening, PlayerSpec
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits
from tests.support.othello_match import mock_spec
from tests.support.portable_texts import parse_suite

XIANGQI, OTHELLO = game_named("xiangqi"), game_named("othello")
EVERYTHING: Accepts = within_probability(0, 1, 100)


def candidate(text: str, score: int, side: int = 0) -> Candidate:
    return Candidate(Opening(text), text, score, side)


def random_play(seed: int, plies: int = 6, game: str = "xiangqi") -> Proposer:
    judge = JudgesByThread(lambda: EngineJudge(game, Limits(nodes=50)))
    return RandomPlay(game, seed, plies).proposer(judge)


class CountingJudge:
    """Says how many pieces are on the board; after so many questions it sets a stop flag."""

    def __init__(self, stop: StopFlag | None = None, after: int = 0) -> None:
        self.asked = 0
        self._stop, self._after = stop, after

    def score(self, position: Position) -> int:
        self.asked += 1
        if self._stop is not None and self.asked > self._after:
            self._stop.set()
        return sum(map(str.isalpha, position.text.split()[0]))

    def close(self) -> None: ...


# --- Bands -----------------------------------------------------------------------------------------------------------


def test_win_probability_is_the_logistic_function() -> None:
    for score in (-900, -30, 0, 17, 450, 1200):
        assert win_probability(score, 450) == pytest.approx(1 / (1 + math.exp(-score / 450)), abs=1e-12)
        assert win_probability(score, 450) + win_probability(-score, 450) == pytest.approx(1)
    assert win_probability(-32_000, 1) == 0
    assert win_probability(32_000, 1) == 1


def test_bands_are_of_the_side_that_has_the_first_move_of_the_game() -> None:
    accepts = within_probability(0.6, 0.75, 400)
    least, most = 400 * math.log(0.6 / 0.4), 400 * math.log(3)
    for score in (math.ceil(least), 200, 300, math.floor(most)):
        assert accepts(candidate("x", score, 0))
        assert accepts(candidate("x", -score, 1))
        assert not accepts(candidate("x", -score, 0))
        assert not accepts(candidate("x", score, 1))
    assert not accepts(candidate("x", math.floor(least), 0))
    assert not accepts(candidate("x", math.ceil(most), 0))
    assert [within_score(60)(candidate("x", score, 1)) for score in (-61, -60, 0, 60, 61)] == [
        False, True, True, True, False
    ]  # fmt: skip


# --- Generating ------------------------------------------------------------------------------------------------------


def test_generating_keeps_the_first_distinct_balanced_candidates_in_order() -> None:
    def propose(first: int, count: int) -> Sequence[Candidate | None]:
        return [
            None if number % 3 == 0 else candidate(f"K{number // 2}r/9 w - - 0 1", 100 if number % 7 == 1 else -60)
            for number in range(first, first + count)
        ]

    expected = [f"K{number // 2}r/9 w - - 0 1" for number in range(1000) if number % 3 and number % 7 != 1]
    expected = list(dict.fromkeys(expected))[:100]
    for concurrency in (1, 3):
        selection = generate(propose, 100, within_score(60), concurrency=concurrency)
        assert [found.reached for found in selection.kept] == expected
        last = next(number for number in range(1000) if f"K{number // 2}r/9 w - - 0 1" == expected[-1] and number % 3)
        seen = range(selection.seen)
        assert last in (selection.seen - 1, selection.seen - 2)
        assert selection.dropped["over"] == sum(number % 3 == 0 for number in seen)
        assert selection.dropped["outside"] == sum(number % 3 != 0 and number % 7 == 1 for number in seen)
        assert selection.dropped["duplicate"] == selection.seen - 100 - sum(
            selection.dropped[reason] for reason in ("over", "outside")
        )


def test_generating_gives_up() -> None:
    start = XIANGQI.start
    with pytest.raises(UserError, match=r"only 0 of 1 openings found among \d+ candidates.*--max-score"):
        generate(lambda first, count: [candidate(start, 61)] * count, 1, within_score(60))
    with pytest.raises(UserError, match=r"found among (\d+) candidates, \1 of which were over.* fewer --plies"):
        generate(lambda first, count: [None] * count, 1, within_score(60))


@pytest.mark.integration
def test_generated_openings_are_legal_distinct_and_the_same_at_any_concurrency() -> None:
    one = generate(random_play(5), 12, within_score(80), concurrency=1)
    two = generate(random_play(5), 12, within_score(80), concurrency=2)
    assert (one.kept, one.dropped) == (two.kept, two.dropped)
    texts = [found.reached for found in one.kept]
    assert len(parse_suite(suite_text(texts), "made.epd", "xiangqi").openings) == 12
    assert texts != [found.reached for found in generate(random_play(6), 12, within_score(80)).kept]
    for text in texts:
        oracle = {counted_from_0(move) for move in pyffish.legal_moves("xiangqi", text, [])}
        assert set(XIANGQI.position(text).legal_moves()) == oracle


@pytest.mark.integration
def test_a_stopped_generation_has_the_beginning_of_the_whole() -> None:
    whole = generate(random_play(5), 40, within_score(80))
    stop = StopFlag()

    def progress(selection: object) -> None:
        if len(getattr(selection, "kept")) == 7:  # noqa: B009
            stop.set()

    part = generate(random_play(5), 40, within_score(80), progress=progress, stop=stop, concurrency=2)
    assert part.interrupted
    assert not whole.interrupted
    assert part.kept == whole.kept[:7]


# --- Symmetry: other programs' positions, and a symmetry of our own --------------------------------------------------


def lines_of(legal: Callable[[Sequence[str]], Sequence[str]], plies: int) -> Iterator[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = [()]
    for _ in range(plies):
        lines = [(*line, move) for line in lines for move in legal(line)]
    yield from lines


def othello_state(moves: Sequence[str]) -> pyspiel.State:
    state = pyspiel.load_game("othello").new_initial_state()
    for move in moves:
        state.apply_action("abcdefgh".index(move[0]) + 8 * (int(move[1]) - 1))
    return state


def turned(board: str) -> frozenset[tuple[str, ...]]:
    """All eight images of a board of eight rows."""
    images = set()
    rows = [board[start : start + 8] for start in range(0, 64, 8)]
    for _ in range(4):
        rows = ["".join(column) for column in zip(*reversed(rows), strict=True)]
        images |= {tuple(rows), tuple(row[::-1] for row in rows)}
    return frozenset(images)


@pytest.mark.parametrize(
    ("plies", "distinct"), [(1, 1), (2, 3), (3, 14), (4, 60), pytest.param(6, 1773, marks=pytest.mark.slow)]
)
def test_othello_openings_are_counted_up_to_symmetry(plies: int, distinct: int) -> None:
    def legal(line: Sequence[str]) -> list[str]:
        return ["abcdefgh"[action % 8] + str(action // 8 + 1) for action in othello_state(line).legal_actions()]

    lines = list(lines_of(legal, plies))
    boards = {turned(cells_of(othello_state(line).observation_string(0))) for line in lines}
    selection = balance([Opening(OTHELLO.start, line) for line in lines], "othello", None, EVERYTHING)
    assert len(selection.kept) == len(boards) == distinct
    assert {turned(found.reached.split()[0].lower()) for found in selection.kept} == boards
    assert selection.seen == len(lines)
    assert set(selection.dropped) <= {"duplicate", "mirrored"}


@pytest.mark.integration
def test_xiangqi_openings_are_counted_up_to_the_mirror() -> None:
    start = pyffish.start_fen("xiangqi")

    def legal(line: Sequence[str]) -> list[str]:
        return list(pyffish.legal_moves("xiangqi", start, list(line)))

    def images(text: str) -> frozenset[str]:
        board = text.split()[0]
        return frozenset({board, "/".join(rank[::-1] for rank in board.split("/"))})

    lines = list(lines_of(legal, 2))
    assert len(lines) == 1920
    lines = lines[::8]
    texts = [pyffish.get_fen("xiangqi", start, list(line)) for line in lines]
    openings = [Opening(XIANGQI.start, tuple(map(counted_from_0, line))) for line in lines]
    selection = balance(openings, "xiangqi", None, EVERYTHING)
    assert {images(found.reached) for found in selection.kept} == set(map(images, texts))
    boards = {text.split()[0] for text in texts}
    assert len(selection.kept) == len(set(map(images, texts)))
    assert selection.dropped["mirrored"] >= len(boards) - len(selection.kept) > 0
    assert selection.seen == 240


def counted_from_0(move: str) -> str:
    """A move whose ranks are counted from 1."""
    return re.sub(r"\d+", lambda rank: str(int(rank[0]) - 1), move)


def cells_of(text: str) -> str:
    """The 64 squares in pyspiel's picture of a board."""
    rows = [line.split()[1:9] for line in text.splitlines() if line[:1].isdigit()]
    return "".join("".join(row) for row in rows)


# --- Other programs as judges ----------------------------------------------------------------------------------------

MOCK = Path(__file__).parents[2] / "support" / "mock_engines.py"
AFTER_TWO = ("h2e2", "h9g7")


@contextmanager
def mock_judge(mode: str, **settings: object) -> Iterator[PlayerJudge]:
    """The mock engine: its score of a position is 10 and a point for each of its own moves from there."""
    words = [sys.executable, "-I", "-S", str(MOCK), mode, *(f"{key}={value}" for key, value in settings.items())]
    spec = PlayerSpec("mock", "uci", Limits(nodes=10), command=tuple(words))
    with closing(PlayerJudge(spec, "xiangqi", StopFlag())) as judge:
        yield judge


def test_another_program_judges() -> None:
    openings = [Opening(XIANGQI.start, AFTER_TWO[:plies]) for plies in range(3)]
    with mock_judge("good") as judge:
        selection = balance(openings, "xiangqi", judge, EVERYTHING)
    assert [(found.score, found.first_score) for found in selection.kept] == [(10, 10), (10, -10), (11, 11)]


def test_a_judge_that_crashes_once_is_asked_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    positions = [XIANGQI.position(moves=AFTER_TWO[:plies]) for plies in range(3)]
    with mock_judge("exit", at=2, once=tmp_path / "once", file=notes) as judge:
        assert [judge.score(position) for position in positions] == [10, 10, 11]
    assert len([line for line in notes.read_text().splitlines() if line.isdigit()]) == 2, "two processes"


def test_a_judge_that_crashes_every_time_or_says_nothing_is_no_judge() -> None:
    position = XIANGQI.position()
    with mock_judge("exit", at=1) as judge, pytest.raises(OpeningError, match=r"failed at 'rnba.*mock: ended"):
        judge.score(position)
    with mock_judge("exit_at_start") as judge, pytest.raises(OpeningError, match=r"failed.*ended during the UCI"):
        judge.score(position)
    silent = closing(PlayerJudge(mock_spec("gtp"), "othello", StopFlag()))
    with silent as judge, pytest.raises(OpeningError, match=r"'mock good' reports no score for '-"):
        judge.score(OTHELLO.position())


# --- Choosing from a suite -------------------------------------------------------------------------------------------


def entries() -> list[Opening | UserError]:
    """Openings after one to three moves, some of them twice, turned or wrong."""
    return [
        Opening(XIANGQI.start, ("h2e2",), "one"),
        OpeningError("mine.epd: line 2: wrong"),
        Opening(XIANGQI.start, ("b2e2",), "its image"),
        Opening(XIANGQI.position(moves=["h2e2"]).text, (), "again"),
        Opening(XIANGQI.start, ("h2h9", "i9h9"), "a horse and a cannon gone"),
        Opening(XIANGQI.start, ("h0g2",), "two"),
    ]


def test_what_a_suite_loses_is_counted() -> None:
    judge = CountingJudge()
    accepts = within_probability(0.5, 0.8, 23)  # 32 pieces: 0.80; 30: 0.786
    selection = balance(entries(), "xiangqi", judge, accepts, skip_illegal=True)
    assert [found.opening.name for found in selection.kept] == ["a horse and a cannon gone"]
    assert [found.score for found in selection.kept] == [30]
    assert selection.dropped == {"illegal": 1, "mirrored": 1, "duplicate": 1, "outside": 2}
    assert selection.seen == 6
    assert judge.asked == 3, "what is there before is not judged"
    with pytest.raises(OpeningError, match=r"mine\.epd: line 2: wrong"):
        balance(entries(), "xiangqi", CountingJudge(), accepts)


def test_a_suite_is_filtered_the_same_at_any_concurrency() -> None:
    positions = [found.reached for found in generate(random_play(3), 40, EVERYTHING).kept]
    suite: list[Opening | UserError] = [Opening(text) for text in positions]
    found = []
    for concurrency in (1, 3):
        judge = JudgesByThread(lambda: EngineJudge("xiangqi", Limits(nodes=300)))
        found.append(balance(suite, "xiangqi", judge, within_probability(0.45, 0.7, 400), concurrency=concurrency))
    assert found[0].kept == found[1].kept
    assert 0 < len(found[0].kept) < 40
    judge = EngineJudge("xiangqi", Limits(nodes=300))
    for opening in found[0].kept:
        position = XIANGQI.position(opening.reached)
        assert judge.score(position) == opening.score
        assert 0.45 <= win_probability(-opening.score if position.side_to_move else opening.score, 400) <= 0.7


def test_a_stopped_filter_has_the_beginning() -> None:
    stop = StopFlag()
    suite = [entry for entry in entries() if isinstance(entry, Opening)]
    selection = balance(suite, "xiangqi", CountingJudge(stop, 1), EVERYTHING, stop=stop)
    assert selection.interrupted
    assert not selection.kept


def test_turned_boards_of_othello_have_one_score_each() -> None:
    lines = [("d3",), ("c4",), ("f5",), ("e6",), ("d3", "c3"), ("e6", "f6")]
    judge = CountingJudge()
    selection = balance([Opening(OTHELLO.start, line) for line in lines], "othello", judge, EVERYTHING)
    assert [found.opening.moves for found in selection.kept] == [("d3",), ("d3", "c3")]
    assert selection.dropped == {"mirrored": 4}
    assert judge.asked == 2
