"""Pandas tables of games, loaded from a run's folder or from a file in PGN or another format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elolab.arena.collection.games import game_of_run
from elolab.arena.notation.archives.formats import load_games as load_portable_games
from elolab.arena.notation.pgn import reason_of
from elolab.arena.play.store import Store
from elolab.arena.play.tournament_run import count_of
from elolab.arena.records import GameRecord, MoveRecord, points_of
from elolab.arena.tournament_spec import TournamentSpec
from elolab.arguments import naming_arguments, path_text
from elolab.engine.errors import UserError
from elolab.engine.games import DEFAULT_GAME

if TYPE_CHECKING:
    from pandas import DataFrame

SIDES = ("first", "second")


@dataclass(frozen=True)
class _LoadedGame:
    """One game, loaded from a run's folder or from a file, from which the rows of both tables are made."""

    row: dict[str, Any]
    """The game's row in the table of ``load_games``: values by column name."""
    start: int
    """Side that plays the first of ``moves``: 0 for the side that moves first in the game, 1 for the other."""
    before: int
    """Number of opening moves, which are not in ``moves`` and ``names``."""
    moves: tuple[MoveRecord | None, ...]
    """Records of the moves after the opening, in order; ``None`` for a move without score, depth and time."""
    names: tuple[str, ...]
    """The moves after the opening in protocol notation, parallel to ``moves``."""


@naming_arguments("source")
def load_games(source: str | os.PathLike[str], *, game: str = DEFAULT_GAME) -> DataFrame:
    """Load the games of a run's folder, or of a file, as a table with one row per game, in schedule order.

    ``source`` is the folder of a tournament, match, study or ablation, or a file of games (PGN, XQF, DhtmlXQ, GGF,
    WTHOR). ``game`` is the game in such a file, ``xiangqi``, ``othello`` or ``chess``. Columns:

    ========================  =========================================================================
    ``number``                place in the schedule of its series, from 0
    ``series``                part of the run, such as ``playoff``; mostly empty
    ``round``, ``pair``       numbers of the round, and of the game pair of these players, from 0
    ``first``, ``second``     names of the player who moves first (Red; Black in Othello) and of the other
    ``opening``               number of the opening in its suite, from 0
    ``opening_position``      position in which the opening's moves begin (FEN; a board in Othello)
    ``result``                ``1-0`` (``first`` won), ``0-1``, ``1/2-1/2``, or ``*`` for an unfinished game
    ``points``                points of ``first``: 1, 0.5, 0, or NaN for an unfinished game
    ``reason``                why the game ended, such as ``checkmate`` or ``move_limit``
    ``plies``                 moves of both sides, without the moves of the opening
    ``nodes``                 nodes of both sides together, as reported by the players
    ``time_ms``               thinking time of both sides together, in milliseconds
    ``duration_ms``           time from the start of the game to its end, in milliseconds
    ``started_at``            UTC, ISO 8601
    ``engine_identity``       version of the built-in engine
    ``key``                   identifies the game, also in ``load_moves``
    ``counted``               False for games after the end of a sequential test; statistics leave them out
    ========================  =========================================================================

    A file of games lacks some columns: missing values are NA, NaN or empty, and ``key`` is the number. Raises
    ``UserError`` if there is no such folder or file, or it holds no readable games.
    """
    import pandas

    table = pandas.DataFrame([loaded.row for loaded in _loaded(source, str(game))], columns=list(_GAME_COLUMNS))
    return table.astype(_GAME_COLUMNS)


@naming_arguments("source")
def load_moves(source: str | os.PathLike[str], *, game: str = DEFAULT_GAME) -> DataFrame:
    """Load the moves of a run's folder, or of a file of games, as a table with one row per move.

    ``source`` and ``game`` are as for ``load_games``; ``key`` matches its ``key``. Columns:

    =======================  ============================================================================
    ``key``, ``number``      the game's key, and its place in the schedule of its series, from 0
    ``series``               part of the run; mostly empty
    ``ply``                  number of the move in its game, from 1, counting the moves of the opening
    ``side``                 ``first`` or ``second``: the column of ``load_games`` that names the mover
    ``mover``                name of the player who made the move
    ``move``                 the move in the game's protocol notation (``h2e2``; ``d3`` or ``pass`` in Othello)
    ``score_cp``             the mover's own evaluation, positive if the mover is better, in centipawns (Othello:
                             hundredths of a disc); a mate in N plies is 30 000 - N (29 872 or more), negative if mated
    ``depth``                depth of the search, in plies
    ``nodes``                nodes of the search
    ``time_ms``              thinking time, in milliseconds
    ``principal_variation``  the line that the mover expected, as moves separated by spaces that may not be legal;
                             empty if the mover gave none, and in games between built-in engines
    =======================  ============================================================================

    A folder's table leaves out the moves of the opening; a PGN file does not mark them. ``score_cp``,
    ``depth`` and ``nodes`` are NA where a player did not report them. Raises ``UserError`` as ``load_games`` does.
    """
    import pandas

    columns: dict[str, list[Any]] = {name: [] for name in _MOVE_COLUMNS}
    for loaded in _loaded(source, str(game)):
        row = loaded.row
        players = tuple(row[side] for side in SIDES)
        count = len(loaded.moves)
        sides = [(loaded.start + place) % 2 for place in range(count)]
        for name in ("key", "number", "series"):
            columns[name] += [row[name]] * count
        columns["ply"] += range(loaded.before + 1, loaded.before + count + 1)
        columns["side"] += [SIDES[side] for side in sides]
        columns["mover"] += [players[side] for side in sides]
        columns["move"] += loaded.names
        for name, field in (("score_cp", "score"), ("depth", "depth"), ("nodes", "nodes"), ("time_ms", "time_ms")):
            columns[name] += [None if move is None else getattr(move, field) for move in loaded.moves]
        columns["principal_variation"] += ["" if move is None else move.principal_variation for move in loaded.moves]
    return pandas.DataFrame(
        {name: pandas.Series(values, dtype=_MOVE_COLUMNS[name]) for name, values in columns.items()}
    )


_GAME_COLUMNS: dict[str, Any] = {
    "number": "int64", "series": "str", "round": "Int64", "pair": "Int64", "first": "str", "second": "str",
    "opening": "Int64", "opening_position": "str", "result": "str", "points": "float64", "reason": "str",
    "plies": "int64", "nodes": "Int64", "time_ms": "float64", "duration_ms": "float64", "started_at": "str",
    "engine_identity": "str", "key": "str", "counted": "bool",
}  # fmt: skip
"""Pandas types of the columns of ``load_games``, by column name."""
_MOVE_COLUMNS: dict[str, Any] = {
    "key": "str", "number": "int64", "series": "str", "ply": "int64", "side": "str", "mover": "str", "move": "str",
    "score_cp": "Int64", "depth": "Int64", "nodes": "Int64", "time_ms": "float64",
    "principal_variation": "str",
}  # fmt: skip
"""Pandas types of the columns of ``load_moves``, by column name."""


def _loaded(source: str | os.PathLike[str], game: str) -> Iterator[_LoadedGame]:
    path = Path(path_text(source, "source"))
    if path.is_dir():
        return _of_folder(path, game)
    if not path.exists():
        raise UserError(f"{path}: no such folder or file of games")
    return _of_file(path, game)


def _of_folder(folder: Path, default_game: str) -> Iterator[_LoadedGame]:
    from elolab.engine.games import game_named

    with Store(folder, read_only=True) as store:
        game = game_named(game_of_run(store) or default_game)
        content = store.metadata("specification")
        last = None if content is None else count_of(TournamentSpec.from_content(content), store)
        for record in store.iterate():
            row = _row_of(record) | {"counted": last is None or record.pairing.number < last}
            names = tuple(entry.move for entry in record.moves)
            before = len(record.opening.moves)
            start = (game.side_to_move(record.opening.position) + before) % 2
            yield _LoadedGame(row, start, before, record.moves, names)


def _row_of(record: GameRecord) -> dict[str, Any]:
    place = record.pairing
    nodes = [entry.nodes for entry in record.moves if entry.nodes is not None]
    return {
        "number": place.number,
        "series": place.series,
        "round": place.round,
        "pair": place.pair,
        "first": record.first,
        "second": record.second,
        "opening": place.opening,
        "opening_position": record.opening.position,
        "result": record.result,
        "points": record.score,
        "reason": record.reason,
        "plies": len(record.moves),
        "nodes": sum(nodes) if nodes else None,
        "time_ms": sum(entry.time_ms for entry in record.moves),
        "duration_ms": record.duration_ms,
        "started_at": record.started_at,
        "engine_identity": record.engine_identity,
        "key": record.key,
    }


def _of_file(path: Path, game: str) -> Iterator[_LoadedGame]:
    from elolab.engine.games import game_named

    contract = game_named(game)
    names = contract.side_names
    for number, portable in enumerate(load_portable_games(path, game)):
        figures = tuple(move.figures for move in portable.moves)
        known = [entry for entry in figures if entry is not None]
        nodes = [entry.nodes for entry in known if entry.nodes is not None]
        sides = names if portable.tag(names[0]) else ("White", "Black")
        row = {
            "number": number,
            "series": "",
            "round": None,
            "pair": None,
            "first": portable.tag(sides[0]),
            "second": portable.tag(sides[1]),
            "opening": None,
            "opening_position": portable.start,
            "result": portable.result,
            "points": points_of(portable.result),
            "reason": reason_of(portable),
            "plies": len(portable.moves),
            "nodes": sum(nodes) if nodes else None,
            "time_ms": sum(entry.time_ms for entry in known) if known else None,
            "duration_ms": None,
            "started_at": "",
            "engine_identity": "",
            "key": str(number),
            "counted": portable.tag("Counted").lower() != "no",
        }
        moves = tuple(move.move for move in portable.moves)
        yield _LoadedGame(row, contract.side_to_move(portable.start), 0, figures, moves)
