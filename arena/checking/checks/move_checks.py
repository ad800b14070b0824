"""Checks that programs understand positions and answer with legal moves."""

from __future__ import annotations

from elolab.arena.checking.examination import Examination, expect_legal
from elolab.arena.checking.findings import Failed, Remark, Skipped, remark
from elolab.arena.protocols.move_texts import RANKED, detect_first_rank
from elolab.engine.games.contract import Position


def start_position(examination: Examination) -> Remark:
    """Check that the program answers the start position with a legal move.

    The move also shows whether the program counts ranks from 0 or from 1, if that is not known yet.
    """
    start = examination.start_position
    if examination.settings.game in RANKED and examination.knowledge.first_rank is None:
        answer = examination.dialect.search(start)
        said = (answer.said or "").lower().replace("-", "")
        examination.knowledge.first_rank = detect_first_rank(said, start.legal_moves())
        if examination.knowledge.first_rank is None:
            raise Failed("failure.ranks_unknown", said=answer.line)
    answer = examination.search(start)
    return remark("note.said", said=answer.line)


def start_word(examination: Examination) -> None:
    """Check that the program understands the protocol's word for the start position, such as UCI's ``startpos``."""
    examination.dialect.begin_at_start_word()
    expect_legal(examination.start_position, examination.dialect.answer())


def ranks(examination: Examination) -> Remark:
    """Check that the program counts ranks from 0 or from 1 as the protocol requires or as the program declares."""
    declared = examination.dialect.declared_first_rank
    found = examination.knowledge.first_rank
    if declared is not None and found != declared:
        raise Failed("failure.ranks", declared=declared, found=found)
    return remark("note.ranks", rank=found)


def told_moves(examination: Examination) -> Remark:
    """Check that the program makes legal moves in positions that are sent as moves from the start of the game."""
    count = examination.settings.repetitions
    for position in examination.positions.ordinary[1 : count + 1]:
        examination.search(position)
    return remark("note.positions", count=count)


def described(examination: Examination) -> Remark:
    """Check that the program makes legal moves in positions that are sent as a FEN."""
    count = examination.settings.repetitions
    for number, position in enumerate(examination.positions.ordinary[1 : count + 1]):
        examination.search(_from_text(position, number % 2))
    return remark("note.positions", count=count)


def _from_text(position: Position, plies: int) -> Position:
    """Return the same position, described by a FEN from ``plies`` plies earlier and the moves since."""
    game, before = position.game, len(position.moves) - plies
    text = game.position(position.start, position.moves[:before]).text
    return game.position(text, position.moves[before:])


def answered(examination: Examination, kind: str) -> None:
    """Check that the program answers a test position with a legal move.

    ``kind`` is the name of a field of ``SamplePositions``, such as ``in_check``.
    """
    examination.search(_need(examination, kind))


def _need(examination: Examination, kind: str) -> Position:
    """The test position in the field of ``SamplePositions`` named ``kind``; raises ``Skipped`` if there is none."""
    position: Position | None = getattr(examination.positions, kind)
    if position is None:
        raise Skipped("skip.game")
    return position


def must_pass(examination: Examination) -> None:
    """Check that the program passes when that is the only legal move."""
    if not examination.dialect.is_asked_to_pass:
        raise examination.dialect.lacking()
    answered(examination, "must_pass")


def long_game(examination: Examination) -> Remark:
    """Check that the program reads a long game, sent in a line of over a thousand characters."""
    answered(examination, "long")
    return remark("note.plies", plies=examination.positions.long.ply)


def quiet_plies(examination: Examination) -> Remark:
    """Check that the program plays on after many moves without a capture, where some engines declare a draw.

    The program may declare the draw if the game's standard rules end the game too.
    """
    for position in examination.positions.quiet:
        answer = examination.dialect.search(position)
        if answer.move is not None and not answer.has_resigned:
            expect_legal(position, answer)
        elif answer.has_resigned or position.judge(position.game.standard_rules) is None:
            raise Failed("failure.quiet_plies", said=answer.line, plies=position.ply)
    if not examination.positions.quiet:
        raise Skipped("skip.game")
    return remark("note.plies", plies=examination.positions.quiet[-1].ply)


def banned_moves(examination: Examination) -> None:
    """Check that the program avoids forbidden moves.

    The program searches the start position three times; each search forbids the moves that the earlier ones returned.
    """
    start = examination.start_position
    banned: list[str] = []
    for _ in range(3):
        answer = examination.dialect.search_without(start, banned)
        expect_legal(start, answer, banned)
        banned.append(answer.move or "")


def game_over(examination: Examination, kind: str) -> None:
    """Check that the program does not answer a finished position with a move.

    ``kind`` is a field of ``SamplePositions``: ``over`` or ``stalemate``.
    """
    examination.dialect.ask_in_finished_game(_need(examination, kind))
    _plays_on(examination)


def illegal_position(examination: Examination) -> None:
    """Check that the program still works after it was sent an illegal position."""
    examination.dialect.send_illegal_position()
    _plays_on(examination)


def illegal_move(examination: Examination) -> None:
    """Check that the program still works after it was sent an illegal move."""
    position = examination.positions.ordinary[1]
    origin = position.legal_moves()[0]
    illegal = origin[: len(origin) // 2] * 2 if len(origin) == 4 else position.moves[0]  # an occupied square
    examination.dialect.send_illegal_move(position, illegal)
    _plays_on(examination)


def _plays_on(examination: Examination) -> None:
    """Check that after unusual input the program begins a new game and answers with a legal move."""
    examination.dialect.settled()
    examination.dialect.begin_game()
    examination.search(examination.start_position)
