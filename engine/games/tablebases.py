"""Syzygy tablebases, which know the results of chess positions with few pieces; the library python-chess reads them.

python-chess is the extra ``syzygy`` of elolab. Its licence is the GPL, version 3 or later. Nothing else needs it.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from elolab.engine.errors import UserError

WINS = {2: 1, 1: 1, 0: 0, -1: -1, -2: -1}
"""Result for the side to move by the value in a table, if the game has no rule of 50 moves."""


class Tablebases:
    """The tables in some folders; any thread may use them."""

    def __init__(self, folders: str) -> None:
        """``folders`` are separated by ``os.pathsep``. Raises ``UserError`` if a folder or python-chess is missing, or
        no table is found.
        """
        try:
            import chess.syzygy
        except ImportError:
            raise UserError(
                "tablebases are read by python-chess, which is not installed", "pip install 'elolab[syzygy]'"
            ) from None
        self._board: Any = chess.Board
        self._missing: Any = chess.syzygy.MissingTableError
        self._tables: Any = chess.syzygy.Tablebase()
        for folder in folders.split(os.pathsep):
            if not Path(folder).is_dir():
                raise UserError(f"tablebases {folder!r}: no such folder")
            self._tables.add_directory(folder)
        self.largest = max((len(name) - 1 for name in self._tables.wdl), default=0)
        """Number of pieces, kings included, in the largest table."""
        if not self.largest:
            raise UserError(f"tablebases {folders!r}: no Syzygy tables (.rtbw) in it")

    def result(self, text: str, ignore_50: bool) -> int | None:
        """The result of a position (FEN) with best play for the side to move: 1 won, 0 drawn, -1 lost.

        ``None`` if there is no table for the position, a side may castle, or moves since the last capture or pawn's
        move count towards the rule of 50 moves, which ``ignore_50`` switches off.
        """
        board = self._board(text)
        if board.castling_rights or board.halfmove_clock:
            return None
        try:
            value = int(self._tables.probe_wdl(board))
        except (self._missing, KeyError):
            return None
        return WINS[value] if ignore_50 else WINS[value] * (abs(value) == 2)


open_tablebases = functools.lru_cache(maxsize=4)(Tablebases)
"""``Tablebases`` of some folders, which are opened once."""
