"""Suites of positions with known best moves, and how many of them the engine solves.

A suite is an EPD file (``engine.settings.epd``) with one position per line. The operation ``bm MOVE [MOVE ...];`` has
the best moves, ``am MOVE [MOVE ...];`` moves to avoid, in any of the game's notations; ``id "name";`` is optional. A
position is *solved* if the search plays a best move at its limit, and none to avoid. The depth of the solution is the
first depth from which all completed iterations prefer such a move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elolab.engine.engine import Engine
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.search.reports import Report, ReportBoard
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.epd import MOVES, position_and_operations
from elolab.engine.settings.limits import Limits


@dataclass(frozen=True)
class SuitePosition:
    """One position of a suite, with the moves that solve it."""

    name: str
    position: str
    """Text of the position, such as a FEN."""
    best_moves: tuple[str, ...]
    """The moves that solve the position. For a position with moves to avoid, these are all other moves."""


@dataclass(frozen=True)
class SuiteIteration:
    """A completed iteration of a search. Nodes and time are counted from the start of the search, on its clock."""

    depth: int
    move: str
    score: int
    """Score in centipawns, from the point of view of the side to move."""
    nodes: int
    time_ms: float


@dataclass(frozen=True)
class Attempt:
    """The result of searching one position of a suite."""

    name: str
    position: str
    best_moves: tuple[str, ...]
    move: str | None
    """The move that the engine chose."""
    score: int
    depth: int
    """Depth of the last completed iteration, in plies."""
    nodes: int
    time_ms: float
    solved: bool
    solution: SuiteIteration | None
    """The first iteration from which all iterations prefer a best move.

    ``None`` if the position was not solved, or if the best move was found only after the last completed iteration.
    """
    iterations: tuple[SuiteIteration, ...]


def load_positions(path: Path, game: str) -> tuple[SuitePosition, ...]:
    """Read a suite and check its positions and moves. ``ConfigurationError`` names the line of the first mistake."""
    contract = game_named(game)
    found: list[SuitePosition] = []
    try:
        text = path.read_text("utf-8-sig")  # editors of Windows begin it with a mark
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigurationError(f"{path}: cannot be read: {reason}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        position, operations = position_and_operations(line)
        if not position and not operations:
            continue
        where = f"{path}: line {number}"
        if MOVES in position.split():
            raise ConfigurationError(
                f"{where}: a line has no moves but the best ones", "give the position they lead to"
            )
        best, avoided = (operations.get(name, "").split() for name in ("bm", "am"))
        if not best and not avoided:
            raise ConfigurationError(f"{where}: no best move", 'expected FEN; bm MOVE; id "name";')
        try:
            board = contract.position(position)
            wrong = _named(board, avoided)
            moves = [move for move in _named(board, best) or board.legal_moves() if move not in wrong]
        except UserError as error:
            raise ConfigurationError.at(where, error) from None
        found.append(SuitePosition(operations.get("id") or f"line {number}", board.text, tuple(moves)))
    if not found:
        raise ConfigurationError(f"{path}: no positions in it", 'expected lines like FEN; bm MOVE; id "name";')
    return tuple(found)


def _named(position: Position, words: Sequence[str]) -> list[str]:
    """Convert moves, ``words``, from any notation to protocol notation. Raises ``UserError`` for an illegal move."""
    names = position.game.move_names
    moves = [
        position.game.read_moves(position, [word], "0")[0] if names is None else names.parse_move_name(position, word)
        for word in words
    ]
    for move in moves:
        position.code_of(move)
    return moves


def attempt(engine: Engine, entry: SuitePosition, limits: Limits) -> Attempt:
    """Search one position of a suite, ``entry``. Clears the engine's tables first."""
    board = ReportBoard()
    engine.new_game()
    result = engine.search(engine.game.position(entry.position), limits, board=board)
    iterations = tuple(_iteration(engine, report) for report in board.unread())
    solved = result.move in entry.best_moves
    solution = None
    for iteration in reversed(iterations if solved else ()):
        if iteration.move not in entry.best_moves:
            break
        solution = iteration
    return Attempt(
        entry.name, entry.position, entry.best_moves, result.move, result.score, result.depth, result.nodes,
        result.time_ms, solved, solution, iterations,
    )  # fmt: skip


def _iteration(engine: Engine, report: Report) -> SuiteIteration:
    move = engine.game.format_move(report.variation[0]) if report.variation else ""
    return SuiteIteration(report.depth, move, report.score, report.nodes, report.time_ns / 1e6)


def mean_nodes_to_depth(attempts: Sequence[Attempt]) -> dict[int, tuple[int, float]]:
    """By depth: the number of searches that completed it, and their mean number of nodes from the start to its end."""
    nodes: dict[int, list[int]] = {}
    for found in attempts:
        # If two iterations have the same depth, the second one solves the game. The first one counts for the depth.
        for depth, needed in {one.depth: one.nodes for one in reversed(found.iterations)}.items():
            nodes.setdefault(depth, []).append(needed)
    return {depth: (len(counts), sum(counts) / len(counts)) for depth, counts in sorted(nodes.items())}
