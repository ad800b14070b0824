"""Checks of a program's output during a search."""

from __future__ import annotations

from elolab.arena.checking.examination import Examination
from elolab.arena.checking.findings import Failed, Remark, SearchLine, Skipped, remark
from elolab.engine.games.contract import Position


def well_formed(examination: Examination) -> Remark:
    """Check that search output has numbers where the protocol requires them, and scores in the protocol's units."""
    count = 0
    for position in _asked(examination):
        count += len(_informed(examination, position))
    if not count:
        raise Skipped("skip.not_reported")
    return remark("note.lines", count=count)


def _asked(examination: Examination) -> tuple[Position, ...]:
    return examination.positions.ordinary[: max(examination.settings.repetitions // 2, 1)]


def _informed(examination: Examination, position: Position) -> list[tuple[str, SearchLine]]:
    """Search a position; returns each output line that has search information, with its parsed content."""
    answer = examination.search(position)
    read = [(line, examination.dialect.read_information(line)) for line in answer.lines]
    return [(line, information) for line, information in read if information is not None]


def reported(examination: Examination) -> None:
    """Check that the program reports depth, nodes and score, which a tournament records for every move."""
    found = [information for _, information in _informed(examination, examination.start_position)]
    missing = [
        what
        for what, is_there in (
            ("depth", any(one.depth is not None for one in found)),
            ("nodes", any(one.nodes is not None for one in found)),
            ("score", any(one.has_score for one in found)),
        )
        if not is_there
    ]
    if missing:
        raise Failed("failure.not_reported", missing=", ".join(missing))


def legal_variations(examination: Examination) -> Remark:
    """Check that principal variations are legal from the searched position."""
    count = 0
    for position in _asked(examination):
        for line, information in _informed(examination, position):
            if information.variation:
                _expect_playable(examination, position, line, information.variation)
                count += 1
    if not count:
        raise Skipped("skip.not_reported")
    return remark("note.lines", count=count)


def _expect_playable(examination: Examination, position: Position, line: str, moves: tuple[str, ...]) -> None:
    after = position.copy()
    for said in moves:
        move = examination.dialect.read_move(said)
        if move is None or move not in after.legal_moves():
            raise Failed("failure.variation", line=line, said=said, position=after.text)
        after.push(move)
