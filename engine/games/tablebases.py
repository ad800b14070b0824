"""Syzygy endgame tablebases, which give the results of chess positions with few pieces. python-chess reads them.

python-chess is installed by elolab's extra ``syzygy``. Its licence is the GPL, version 3 or later. Nothing else needs
it.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from elolab.engine.errors import UserError

WINS = {2: 1, 1: 1, 0: 0, -1: -1, -2: -1}
"""Result for the side to move (1, 0, -1), by the WDL value of a table, without regard to the 50-move rule."""


class Tablebases:
    """The Syzygy tables in some folders. Any thread may use them."""

    def __init__(self, folders: str) -> None:
        """``folders`` is a list of paths separated by ``os.pathsep``.

        Raises ``UserError`` if a folder or python-chess is missing, or no table is found.
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
        """Number of pieces, including kings, in the largest table."""
        if not self.largest:
            raise UserError(f"tablebases {folders!r}: no Syzygy tables (.rtbw) in it")

    def result(self, text: str, ignore_50: bool) -> int | None:
        """Result of a position (FEN) for the side to move, with best play: 1 for a win, 0 for a draw, -1 for a loss.

        ``ignore_50`` disregards the 50-move rule. ``None`` if there is no table for the position, or if the position
        has castling rights or a halfmove clock other than 0.
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
"""Function with the arguments, result and errors of ``Tablebases``, which caches the four objects used last."""
