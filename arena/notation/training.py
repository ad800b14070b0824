"""Training data from games: position, score, move and result of every ply, one after another.

All values are from the point of view of the side to move, unless stated otherwise. Formats:

- ``plain``, the text format of the training tools of Stockfish and Fairy-Stockfish: the lines ``fen``, ``move``,
  ``score``, ``ply``, ``result`` (1 won, 0 drawn, -1 lost) and ``e``. Xiangqi moves count ranks from 1, as in
  Fairy-Stockfish.
- ``epd``, with the first four fields of a FEN and these operations: ``sm`` is the move played, ``ce`` the score,
  ``acd`` the depth, ``acn`` the nodes. ``c9`` is the result from the first mover's point of view, such as ``"1-0"``.
- ``jsonl``, one JSON object per line, as described in ``ply_data``.

Scores are in centipawns, or hundredths of a disc. Games are read one at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from elolab.arena.notation.pgn import PortableGame, reason_of
from elolab.arena.notation.played_tags import termination_of
from elolab.arena.records import MoveRecord, points_of
from elolab.engine.errors import UserError, argument
from elolab.engine.settings.whole_numbers import natural_number

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position

    Writer = Callable[["Position", "Ply"], str]

FORMATS = ("plain", "epd", "jsonl")
"""Formats of training data."""
BY_FAULT = ("time forfeit", "illegal move", "abandoned")
"""Values of the tag ``Termination`` for games that ended with a fault; their results say little about positions."""


@dataclass(frozen=True)
class TrainingFilter:
    """Kinds of plies and games to leave out of training data."""

    check: bool = False
    """Whether to skip positions in which the side to move is in check."""
    unscored: bool = False
    """Whether to skip plies without a score; with the format ``plain`` they are always skipped."""
    faults: bool = False
    """Whether to skip games that ended with a fault: time forfeit, illegal move, crash, no answer."""
    first: int = 0
    """Number of plies to skip at the beginning of each game, including the moves of its opening."""
    adjudicated: int = 0
    """Number of plies to skip at the end of each adjudicated game."""

    @classmethod
    def parse(cls, text: str) -> TrainingFilter:
        """Parse names of fields, such as ``check,unscored,first=16``; raises ``UserError`` for an unknown name."""
        found: dict[str, bool | int] = {}
        for word in filter(None, text.replace(" ", "").split(",")):
            name, _, value = word.partition("=")
            number = natural_number(value)
            if name in ("check", "unscored", "faults") and not value:
                found[name] = True
            elif name in ("first", "adjudicated") and number is not None:
                found[name] = number
            else:
                raise UserError(
                    f"{argument('skip', text)}: cannot read {word!r}",
                    "expected check, unscored, faults, first=N or adjudicated=N, with commas between",
                )
        return cls(**found)  # type: ignore[arg-type]


def training_data(
    games: Iterable[PortableGame],
    game: Game,
    target: str,
    skipped: TrainingFilter = TrainingFilter(),
    unfinished: Callable[[], None] = lambda: None,
) -> Iterator[str]:
    """Yield the text of every ply in the format ``target``, one of ``FORMATS``.

    Leaves out what ``skipped`` selects. Also leaves out games without a result, calling ``unfinished`` for each.
    """
    write = _WRITERS[target]
    for number, portable in enumerate(games):
        points = points_of(portable.result)
        if points is None:
            unfinished()
            continue
        termination = termination_of(reason_of(portable)) if portable.tag("Reason") else portable.tag("Termination")
        if skipped.faults and termination in BY_FAULT:
            continue
        last = len(portable.moves) - (skipped.adjudicated if termination == "adjudication" else 0)
        position = game.position(portable.start)
        for ply, entry in enumerate(portable.moves[: max(0, last)]):
            figures = entry.figures or MoveRecord(entry.move, None, None, None, 0.0)
            is_wanted = ply >= skipped.first and (
                figures.score is not None or not (skipped.unscored or target == "plain")
            )
            if is_wanted and not (skipped.check and position.in_check):
                result = round(2 * points - 1) * (-1 if position.side_to_move else 1)
                yield write(position, Ply(number, ply, figures, result, portable.result))
            position.push(entry.move)


class Ply(NamedTuple):
    """One ply of a game, without the position in which it was played."""

    game: int
    """Index of the game among the games read, from 0."""
    number: int
    """Number of plies played before this one in the game, including the plies of the opening."""
    figures: MoveRecord
    """The move, with the score, depth, time and nodes that the mover reported; unknown values are ``None``."""
    result: int
    """The game's result from the mover's point of view: 1 won, 0 drawn, -1 lost."""
    game_result: str
    """The game's result from the first mover's point of view, such as ``1-0``."""


def _plain(position: Position, ply: Ply) -> str:
    move = ply.figures.move
    if "0" in position.game.ranks:
        move = f"{move[0]}{int(move[1]) + 1}{move[2]}{int(move[3]) + 1}"
    return f"fen {position.text}\nmove {move}\nscore {ply.figures.score}\nply {ply.number}\nresult {ply.result}\ne\n"


def _epd(position: Position, ply: Ply) -> str:
    fields = position.text.split()[:4]
    move, score, depth, nodes, *_ = ply.figures
    operations = {"sm": move, "ce": score, "acd": depth, "acn": nodes, "c9": f'"{ply.game_result}"'}
    words = [f"{name} {value};" for name, value in operations.items() if value is not None]
    return f"{' '.join([*fields, *words])}\n"


def ply_data(position: Position, ply: Ply) -> dict[str, Any]:
    """One ply as data for JSON.

    ``game`` and ``ply`` count from 0; ``position`` is a FEN, or the board as text; ``side`` is 0 for the game's first
    mover; ``score`` and ``result`` (1, 0, -1) are from the mover's point of view. Unknown values are ``None``.
    """
    move, score, depth, nodes, *_ = ply.figures
    return {
        "game": ply.game, "ply": ply.number, "position": position.text, "side": position.side_to_move, "move": move,
        "score": score, "depth": depth, "nodes": nodes, "result": ply.result,
    }  # fmt: skip


def _json_line(position: Position, ply: Ply) -> str:
    return json.dumps(ply_data(position, ply), separators=(",", ":")) + "\n"


_WRITERS: Mapping[str, Writer] = {"plain": _plain, "epd": _epd, "jsonl": _json_line}
