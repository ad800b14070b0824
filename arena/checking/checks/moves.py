"""Checks of positions and moves."""

from __future__ import annotations

from elolab.arena.checking.contract import Answer, Failed, Remark, Skipped, remark
from elolab.arena.checking.examination import Examination, expect_legal, need
from elolab.arena.protocols.uci import detect_first_rank
from elolab.engine.games.contract import Position


async def start_position(examination: Examination) -> Remark:
    """The start position is answered; learns the first rank if it is unknown."""
    start = examination.positions.ordinary[0]
    if examination.settings.game == "xiangqi" and examination.knowledge.first_rank is None:
        await _learn_first_rank(examination, start)
    answer = await examination.search(start)
    return remark("note.said", said=answer.line)


async def _learn_first_rank(examination: Examination, start: Position) -> None:
    """Learn the first rank: no first move of the start position is legal in both bases, so one search decides."""
    answer = await examination.dialect.search(start)
    said = (answer.said or "").lower().replace("-", "")
    examination.knowledge.first_rank = detect_first_rank(said, start.legal_moves())
    if examination.knowledge.first_rank is None:
        raise Failed("failure.ranks_unknown", said=answer.line)


async def start_word(examination: Examination) -> None:
    """The protocol's own word for the start position works."""
    await examination.dialect.begin_at_start_word()
    expect_legal(examination.positions.ordinary[0], await examination.dialect.answer())


async def ranks(examination: Examination) -> Remark:
    """The first rank is the declared one; other checks test that all moves use it."""
    declared = examination.dialect.declared_first_rank
    found = examination.knowledge.first_rank
    if declared is not None and found != declared:
        raise Failed("failure.ranks", declared=declared, found=found)
    return remark("note.ranks", rank=found)


async def told_moves(examination: Examination) -> Remark:
    """Positions sent as all moves since the start are answered."""
    count = examination.settings.repetitions
    for position in examination.positions.ordinary[1 : count + 1]:
        await examination.search(position)
    return remark("note.positions", count=count)


async def described(examination: Examination) -> Remark:
    """Search the ordinary positions once more, given as a bare position and as a position with its last move."""
    count = examination.settings.repetitions
    for number, position in enumerate(examination.positions.ordinary[1 : count + 1]):
        await examination.search(_from_text(position, number % 2))
    return remark("note.positions", count=count)


def _from_text(position: Position, plies: int) -> Position:
    """The position, sent as the text some plies ago and the moves since."""
    game = position.game
    moves = position.moves[: len(position.moves) - plies]
    before = game.position(position.start)
    for move in moves:
        before.push(move)
    later = game.position(before.text)
    for move in position.moves[len(moves) :]:
        later.push(move)
    return later


async def in_check(examination: Examination) -> None:
    """In check, only evasions are answered."""
    await examination.search(need(examination.positions.in_check))


async def only_move(examination: Examination) -> None:
    """A single legal move is found."""
    await examination.search(need(examination.positions.only_move))


async def must_pass(examination: Examination) -> None:
    """A forced pass is answered correctly."""
    if not examination.dialect.is_asked_to_pass:
        raise examination.dialect.lacking()
    await examination.search(need(examination.positions.must_pass))


async def endgame(examination: Examination) -> None:
    """Endgames, where searches end by themselves, are answered."""
    await examination.search(need(examination.positions.endgame))


async def long_game(examination: Examination) -> Remark:
    """A game with a line of some thousand characters is answered."""
    await examination.search(examination.positions.long)
    return remark("note.plies", plies=examination.positions.long.ply)


async def repeated(examination: Examination) -> None:
    """A repeated position is answered."""
    await examination.search(need(examination.positions.repeated))


async def quiet_plies(examination: Examination) -> Remark:
    """Play continues past the move limits that some engines count on their own."""
    for position in examination.positions.quiet:
        answer = await examination.dialect.search(position)
        if answer.move is None or answer.has_resigned:
            raise Failed("failure.quiet_plies", said=answer.line, plies=position.ply)
        expect_legal(position, answer)
    if not examination.positions.quiet:
        raise Skipped("skip.game")
    return remark("note.plies", plies=examination.positions.quiet[-1].ply)


async def banned_moves(examination: Examination) -> None:
    """Forbidden moves are not played: the favourite move is banned, then the next ones too."""
    start = examination.positions.ordinary[0]
    banned: list[str] = []
    for _ in range(3):
        answer = await examination.dialect.search_without(start, banned)
        expect_legal(start, answer, banned)
        banned.append(answer.move or "")


async def checkmate(examination: Examination) -> None:
    """Checkmate is answered without a move."""
    await _ask_where_over(examination, examination.positions.over)


async def stalemate(examination: Examination) -> None:
    """Stalemate is answered without a move."""
    await _ask_where_over(examination, examination.positions.stalemate)


async def _ask_where_over(examination: Examination, position: Position | None) -> None:
    await examination.dialect.ask_in_finished_game(need(position))
    await _plays_on(examination)


async def illegal_position(examination: Examination) -> None:
    """The program survives an illegal position."""
    await examination.dialect.tell_illegal_position()
    await _plays_on(examination)


async def illegal_move(examination: Examination) -> None:
    """The program survives an illegal move."""
    position = examination.positions.ordinary[1]
    origin = position.legal_moves()[0]
    illegal = origin[: len(origin) // 2] * 2 if len(origin) == 4 else _taken_square(position)
    await examination.dialect.tell_illegal_move(position, illegal)
    await _plays_on(examination)


def _taken_square(position: Position) -> str:
    """An occupied square: that of the first move's disc."""
    return position.moves[0]


async def _plays_on(examination: Examination) -> Answer:
    """Check that a new game works after unusual input."""
    await examination.dialect.settle()
    await examination.dialect.begin_game()
    return await examination.search(examination.positions.ordinary[0])
