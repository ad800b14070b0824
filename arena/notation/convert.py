"""Games and positions from one notation or file format into another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.notation.openings import epd_line, placement_of, split_line
from arena.notation.pgn import (
    FORMATS,
    PortableGame,
    PortableGameError,
    portable_text,
    read_games,
)
from engine.errors import UserError

if TYPE_CHECKING:
    from engine.games.contract import Game

MAX_MOVE = 16
"""Characters; a first word that is longer is no move."""
TARGETS = (*FORMATS, "fen", "epd", "pgn")
"""Notations of moves (written as PGN), positions, opening suites, and PGN in the notation that was read."""


def convert(text: str, where: str, game: str, target: str, ranks: str = "0", plies: int | None = None) -> str:
    """A text of games (PGN, or merely moves) or of positions (FEN or EPD, one a line) in another form.

    ``plies`` keeps only so many first moves of each game. Positions become games without moves; a game becomes the
    position after its last move, and those that come up twice, or as mirror images, are one in EPD. Raises
    ``UserError`` naming the file, the game or line, and the move.
    """
    from engine.games import game_named

    assert target in TARGETS, target
    contract = game_named(game)
    if target in FORMATS and target not in contract.move_notations:
        raise UserError(f"--to {target}: moves of {game} have one notation only; give --to pgn, fen or epd")
    if holds_positions(text, contract):
        games = read_positions(text, where, contract)
    else:
        games = list(read_games(text, where, game, ranks))
    if plies is not None:
        games = [_shortened(portable, plies) for portable in games]
    if target in ("fen", "epd"):
        return _positions_text(games, contract, target)
    notations = [portable.notation if target == "pgn" else target for portable in games]
    texts = (portable_text(portable, contract, notation) for portable, notation in zip(games, notations, strict=True))
    return "\n".join(texts)


def holds_positions(text: str, game: Game) -> bool:
    """Whether a text is a list of positions rather than of games: its first line that says anything tells."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    first = next((line for line in lines if line), "")
    if first.startswith("["):
        return False
    board = first.split(" ")[0]
    if game.position_option == "board":  # one character a square; moves have digits
        return len(board) > MAX_MOVE and not any(character.isdigit() for character in board)
    return board.count("/") >= 7


def read_positions(text: str, where: str, game: Game) -> list[PortableGame]:
    """Games without moves from FEN or EPD lines. Raises ``PortableGameError`` with the number of a wrong line."""
    games = []
    for number, line in enumerate(text.splitlines(), start=1):
        position, name = split_line(line)
        if not position:
            continue
        try:
            start = game.position(position).text
        except UserError as error:
            raise PortableGameError(f"{where}: line {number}: {error}") from None
        games.append(PortableGame((("Opening", name),) if name else (), start, ()))
    return games


def _shortened(portable: PortableGame, plies: int) -> PortableGame:
    from dataclasses import replace

    if len(portable.moves) <= plies:
        return portable
    tags = tuple((name, value) for name, value in portable.tags if name.lower() not in ("plycount", "termination"))
    return replace(portable, moves=portable.moves[:plies], tags=tags, result="*", closing_comment="")


def _positions_text(games: Sequence[PortableGame], game: Game, target: str) -> str:
    lines: dict[str, str] = {}
    for number, portable in enumerate(games):
        text = game.position(portable.start, [entry.move for entry in portable.moves]).text
        if target == "fen":
            lines[str(number)] = text
        else:
            name = "".join(character for character in portable.name(game) if character not in '";#')
            lines.setdefault(placement_of(text), epd_line(text, name))
    return "".join(f"{line}\n" for line in lines.values())
