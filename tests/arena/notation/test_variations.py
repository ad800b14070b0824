"""Variations, mates, scores and depths that players report: legality against pyffish, and each kind of finding."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from elolab.arena.notation.variations import KINDS, LINES_READ, LineReader, VariationCounter
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.engine.games import game_named
from elolab.engine.values import MATE

XIANGQI, OTHELLO = game_named("xiangqi"), game_named("othello")
ENDGAME = "4k4/9/R8/9/9/9/9/9/9/1R3K3 w - - 0 1"
MATING = ("a7a8", "e9d9", "b0b9")
"""Red mates in three plies from ``ENDGAME``."""


def record_of(*moves: MoveRecord, number: int = 0, **changes: object) -> GameRecord:
    fields: dict = {
        "key": "0" * 32, "pairing": Pairing(number, 0, 0, 1, 0), "first": "Ann", "second": "Bob",
        "opening": Opening(XIANGQI.start), "moves": moves, "result": "1-0", "reason": "resignation",
        "engine_identity": "0",
    }  # fmt: skip
    return GameRecord(**(fields | changes))


def entry(move: str, score: int | None = 0, line: str = "", depth: int | None = 5) -> MoveRecord:
    return MoveRecord(move, score, depth, 100, 1.0, line)


def found(*records: GameRecord, game: str = "xiangqi") -> dict[str, dict[str, int]]:
    """Kinds with their numbers by player."""
    counter = VariationCounter(game)
    for record in records:
        counter.add(record)
    return {count.player: dict(+count.counts) for count in counter.counts()}


def test_sound_reports_have_no_findings() -> None:
    record = record_of(
        entry("h2e2", 20, "h2e2 h9g7 h0g2"),
        entry("h9g7", -20, "h9g7 h0g2"),
        entry("h0g2"),
        entry("i9h9", None, "", None),
    )
    counter = VariationCounter("xiangqi")
    counter.add(record)
    ann, bob = counter.counts()
    assert (ann.player, ann.moves, ann.lines, bob.moves, bob.lines) == ("Ann", 2, 1, 1, 1)
    assert not ann.counts + bob.counts
    assert ann.data["counts"] == dict.fromkeys(KINDS, 0)


def test_players_that_report_nothing_are_missing() -> None:
    assert found(record_of(MoveRecord("h2e2", None, None, None, 1.0), entry("h9g7"))) == {"Bob": {}}


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("h2e2 h9g7 h0g2", {}),
        ("h2e2 h2e2", {"illegal": 1}),
        ("h2e2 h9g7 nonsense", {"illegal": 1}),
        ("b2e2 h9g7", {"other_move": 1}),
        ("h2h3 e2e9", {"other_move": 1, "illegal": 1}),
    ],
)
def test_lines(line: str, kinds: dict[str, int]) -> None:
    assert found(record_of(entry("h2e2", 20, line)))["Ann"] == kinds


@pytest.mark.parametrize(
    ("score", "line", "kinds"),
    [
        (MATE - 3, MATING, {}),
        (MATE - 3, (*MATING, "e9e8"), {}),  # what follows the mate is not read
        (MATE - 3, MATING[:2], {"mate_cut": 1}),
        (MATE - 1, MATING, {"mate_open": 1}),
        (MATE - 3, ("a7a8", "e9d9", "b0b8"), {"mate_open": 1}),
        (MATE - 3, ("a7a8", "e9e8", "b0b9"), {"illegal": 1}),
        (MATE - 50, MATING, {}),  # too long for a stored variation
        (900, MATING, {}),
    ],
)
def test_mates(score: int, line: tuple[str, ...], kinds: dict[str, int]) -> None:
    assert found(record_of(entry(line[0], score, " ".join(line)), opening=Opening(ENDGAME)))["Ann"] == kinds


@pytest.mark.parametrize(
    ("scores", "recedes"),
    [
        ((MATE - 7, MATE - 5), 0),
        ((MATE - 7, MATE - 3), 0),
        ((MATE - 7, MATE - 7), 1),
        ((MATE - 7, 250), 1),
        ((MATE - 7, None), 0),
        ((4 - MATE, 2 - MATE), 0),
        ((300, 100), 0),
    ],
)
def test_mates_that_recede(scores: tuple[int | None, int | None], recedes: int) -> None:
    moves = (entry("h2e2", scores[0]), entry("h9g7"), entry("h0g2", scores[1]))
    assert found(record_of(*moves))["Ann"].get("mate_recedes", 0) == recedes


@pytest.mark.parametrize(
    ("score", "result", "reason", "is_wrong"),
    [
        (-900, "1-0", "checkmate", True),
        (900, "1-0", "checkmate", False),
        (-20, "1-0", "checkmate", False),
        (-900, "1-0", "resignation", False),
        (900, "0-1", "final_score", True),
        (900, "1/2-1/2", "final_score", False),
        (None, "1-0", "checkmate", False),
    ],
)
def test_scores_of_the_wrong_side(score: int | None, result: str, reason: str, is_wrong: bool) -> None:
    record = record_of(entry("h2e2", score, "h2e2"), result=result, reason=reason)
    assert found(record)["Ann"].get("wrong_side", 0) == is_wrong
    swapped = record_of(entry("h9g7", score, "h9g7"), result=result[::-1] if "/" not in result else result,
                        reason=reason, opening=Opening(XIANGQI.start, ("h2e2",)))  # fmt: skip
    assert found(swapped)["Bob"].get("wrong_side", 0) == is_wrong


def test_scores_without_a_search() -> None:
    assert found(record_of(entry("h2e2", depth=0), entry("h9g7", None, depth=0)))["Ann"] == {"no_depth": 1}


def test_the_first_finding_of_each_kind_has_its_place() -> None:
    counter = VariationCounter("xiangqi")
    sound, wrong = entry("h2e2", 0, "h2e2"), entry("h9g7", 0, "h9g7 h9g7")
    for number, moves in enumerate(((sound, replace_line(wrong, "h9g7")), (sound, wrong), (sound, wrong))):
        counter.add(record_of(*moves, number=number))
    _, bob = counter.counts()
    assert (bob.counts["illegal"], bob.first["illegal"]) == (2, (1, 2))


def replace_line(move: MoveRecord, line: str) -> MoveRecord:
    return move._replace(principal_variation=line)


def test_only_so_many_lines_are_played_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elolab.arena.notation.variations.LINES_READ", 2)
    counter = VariationCounter("xiangqi")
    for number in range(5):
        counter.add(record_of(entry("h2e2", 0, "h2e2 h2e2"), number=number))
    (ann,) = counter.counts()
    assert (ann.moves, ann.lines, ann.counts["illegal"]) == (5, 2, 2)
    assert LINES_READ > 2


def test_random_lines_are_as_legal_as_in_pyffish() -> None:
    """Lines are played through to the first illegal move, and positions stay as they were."""
    pyffish = pytest.importorskip("pyffish")
    chooser, reader = random.Random(3), LineReader(XIANGQI)
    position = XIANGQI.position()
    for _ in range(10):
        before, line, legal = position.text, [], None
        fen = position.text
        for ply in range(12):
            moves = pyffish.legal_moves("xiangqi", fen, [])
            if not moves:
                break
            if chooser.random() < 0.05:
                line.append(chooser.choice(["a0a9", "e0e9", "i9i0"]))
            else:
                move = chooser.choice(moves)
                own = "".join(f"{c}{int(r) - 1}" for c, r in split(move))
                line.append(own)
            word = "".join(f"{c}{int(r) + 1}" for c, r in split(line[-1]))
            if word not in moves:
                legal = ply
                break
            fen = pyffish.get_fen("xiangqi", fen, [word])
        over = legal is None and not pyffish.legal_moves("xiangqi", fen, [])
        assert reader.read(position, line) == (len(line) if legal is None else legal, over)
        assert position.text == before
        position.push(chooser.choice(position.legal_moves()))


def split(move: str) -> list[tuple[str, str]]:
    """Files and ranks of a move's two squares; ranks have one or two digits."""
    middle = next(place for place, sign in enumerate(move) if place and sign.isalpha())
    return [(move[0], move[1:middle]), (move[middle], move[middle + 1 :])]


def test_a_forced_pass_may_be_left_out_in_othello() -> None:
    reader, chooser = LineReader(OTHELLO), random.Random(5)
    passes = 0
    for _ in range(60):
        position = OTHELLO.position()
        while moves := position.legal_moves():
            position.push(chooser.choice(moves))
        played = position.moves
        start = OTHELLO.position(None, played[:40])
        rest = played[40:]
        passes += "pass" in rest
        assert reader.read(start, rest) == (len(rest), True)
        without = [move for move in rest if move != "pass"]
        assert reader.read(start, without) == (len(without), True)
        assert start.moves == played[:40]
    assert passes > 5


def test_othello_reports_are_checked_too() -> None:
    moves = (entry("d3", 100, "d3 c5 d6"), entry("c5", -100, "c5 a1"))
    record = record_of(*moves, opening=Opening(OTHELLO.start))
    assert found(record, game="othello") == {"Ann": {}, "Bob": {"illegal": 1}}
    assert found(replace(record, reason="final_score", result="0-1"), game="othello")["Bob"] == {
        "illegal": 1, "wrong_side": 1,
    }  # fmt: skip
