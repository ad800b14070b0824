"""The texts' programs in plain Python, written from their specification: what the presets must be, node for node.

[OT] iterative deepening, with its clock, and MTD(f) in Othello; [XQ] XQWizard Light's SearchFull and SearchMain in
Xiangqi; [AW] Moreland's loop in chess. Othello's rules are written out too, and chess's are those of python-chess;
Xiangqi's moves, the order of all moves, and the static values are the engine's. A node is a move made; a pass is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import chess

INFINITY = 10**6
Line = tuple[str, ...]


@dataclass(frozen=True)
class Iteration:
    """A completed iteration."""

    depth: int
    nodes: int
    """Since the search began."""
    score: int
    line: Line
    """The principal variation, or only its first move."""
    passes: int = 0
    """Searches with a window of MTD(f), since the search began."""


class CutOff(Exception):
    """The nodes allowed are used up."""


# Othello


class Discs(NamedTuple):
    """A position as the side to move sees it; bit 0 is a1, bit 7 h1, bit 63 h8."""

    own: int
    other: int

    @property
    def empties(self) -> int:
        """Squares without a disc."""
        return 64 - (self.own | self.other).bit_count()


PASS = 64
_ALL_SQUARES = (1 << 64) - 1
_INNER_FILES = 0x7E7E_7E7E_7E7E_7E7E
"""Lines that run across files end before the first and the last."""
_STEPS = [(across, down) for across in (-1, 0, 1) for down in (-1, 0, 1) if (across, down) != (0, 0)]


def _ray(square: int, across: int, down: int) -> list[int]:
    """Bits of the squares from ``square`` (left out) to the border."""
    bits, file, rank = [], square % 8 + across, square // 8 + down
    while 0 <= file < 8 and 0 <= rank < 8:
        bits.append(1 << 8 * rank + file)
        file, rank = file + across, rank + down
    return bits


_RAYS = [[ray for step in _STEPS if len(ray := _ray(square, *step)) > 1] for square in range(64)]


def read_discs(text: str) -> Discs:
    """The position of a board's 64 characters and the side to move."""
    board, side = text.split()
    black, white = (sum(1 << square for square in range(64) if board[square] == disc) for disc in "XO")
    return Discs(black, white) if side == "X" else Discs(white, black)


def square_name(move: int) -> str:
    """``a1`` to ``h8``, or ``pass``."""
    return "pass" if move == PASS else "abcdefgh"[move % 8] + str(move // 8 + 1)


def turned(discs: Discs, square: int) -> int:
    """Discs that a move to an empty square turns."""
    own, other = discs
    found = 0
    for ray in _RAYS[square]:
        run = 0
        for bit in ray:
            if other & bit:
                run |= bit
            else:
                if own & bit:
                    found |= run
                break
    return found


def _squares_to_play(discs: Discs) -> list[int]:
    own, other = discs
    beyond = 0
    for step, columns in ((1, _INNER_FILES), (7, _INNER_FILES), (8, _ALL_SQUARES), (9, _INNER_FILES)):
        between = other & columns
        up, down = between & own << step, between & own >> step
        for _ in range(5):
            up |= between & up << step
            down |= between & down >> step
        beyond |= up << step | down >> step
    playable = beyond & ~(own | other) & _ALL_SQUARES
    return [square for square in range(64) if playable >> square & 1]


def othello_moves(discs: Discs) -> list[int]:
    """Squares from a1 to h8; a pass where only the other side has any; nothing where the game is over."""
    squares = _squares_to_play(discs)
    if not squares and _squares_to_play(Discs(discs.other, discs.own)):
        return [PASS]
    return squares


def othello_after(discs: Discs, move: int) -> Discs:
    """The position after a move, as the other side sees it."""
    if move == PASS:
        return Discs(discs.other, discs.own)
    flipped = turned(discs, move)
    return Discs(discs.other ^ flipped, discs.own | flipped | 1 << move)


def othello_result(discs: Discs) -> int:
    """What a finished game is worth: a hundred a disc, empty squares to the winner."""
    difference = discs.own.bit_count() - discs.other.bit_count()
    if difference > 0:
        difference += discs.empties
    elif difference < 0:
        difference -= discs.empties
    return 100 * difference


StaticValue = Callable[[Discs], int]


class OthelloIterativeDeepening:
    """[OT] ``ids()``: fail-soft alpha-beta from 4 plies on, without table or ordering."""

    def __init__(self, static: StaticValue, max_nodes: int = INFINITY) -> None:
        self.static = static
        self.max_nodes = max_nodes
        self.nodes = 0

    def iterations(self, root: Discs, deepest: int = 60) -> Iterator[Iteration]:
        """What is completed within the nodes allowed, never deeper than the empty squares."""
        last = min(deepest, root.empties)
        for depth in range(min(4, last), last + 1):
            try:
                score, line = self.alpha_beta(root, depth, -INFINITY, INFINITY)
            except CutOff:
                return
            yield Iteration(depth, self.nodes, score, tuple(map(square_name, line)))

    def alpha_beta(self, discs: Discs, depth: int, alpha: int, beta: int) -> tuple[int, tuple[int, ...]]:
        """The value, within or beyond the window, and the best line."""
        if depth == 0:
            return self.static(discs), ()
        moves = othello_moves(discs)
        if not moves:
            return othello_result(discs), ()
        best = -INFINITY
        line: tuple[int, ...] = ()
        for move in moves:
            if self.nodes == self.max_nodes:
                raise CutOff
            self.nodes += 1
            child_depth = depth if move == PASS else depth - 1
            value, reply = self.alpha_beta(othello_after(discs, move), child_depth, -beta, -max(alpha, best))
            if -value > best:
                best, line = -value, (move, *reply)
                if best >= beta:
                    break
        return best, line


class Entry(NamedTuple):
    """What the memory of MTD(f) holds of a position: one bound."""

    score: int
    is_lower_bound: bool
    depth: int
    move: int | None

    def answers(self, depth: int, beta: int) -> bool:
        """Whether it decides a search of ``depth`` with the window (beta - 1, beta)."""
        return self.depth >= depth and self.is_lower_bound == (self.score >= beta)


class OthelloMtdf:
    """[OT] MTD(f) and ``deepening()``: null windows alone, with a memory that forgets nothing."""

    def __init__(self, static: StaticValue) -> None:
        self.static = static
        self.nodes = 0
        self.passes = 0
        self.memory: dict[Discs, Entry] = {}

    def deepening(self, root: Discs, deepest: int) -> Iterator[Iteration]:
        """From 1 ply on; the first guess is 0, then the last value. The memory of the move before serves too."""
        self.nodes = self.passes = 0
        value = 0
        for depth in range(1, min(deepest, root.empties) + 1):
            value, move = self.mtdf(root, value, depth)
            yield Iteration(depth, self.nodes, value, (square_name(move),), self.passes)

    def mtdf(self, root: Discs, guess: int, depth: int) -> tuple[int, int]:
        """The value, and the move that last proved good: a search that fails low proves none."""
        lower, upper = -INFINITY, INFINITY
        value, best_move = guess, None
        while lower < upper:
            beta = value + 1 if value == lower else value
            self.passes += 1
            value = self.alpha_beta_with_memory(root, depth, beta, is_root=True)
            if value < beta:
                upper = value
            else:
                lower = value
                best_move = self.memory[root].move
        assert best_move is not None
        return value, best_move

    def alpha_beta_with_memory(self, discs: Discs, depth: int, beta: int, is_root: bool = False) -> int:
        """The value within or beyond the window (beta - 1, beta).

        The engine's choice: the memory does not answer for the root, though it may hold it from the move before.
        """
        if depth == 0:
            return self.static(discs)
        entry = self.memory.get(discs)
        if entry is not None and entry.answers(depth, beta) and not is_root:
            return entry.score
        moves = othello_moves(discs)
        if not moves:
            return othello_result(discs)
        best, best_move = -INFINITY, entry.move if entry is not None else None
        if best_move is not None:
            # The engine's choice: the move remembered and the first one change places.
            place = moves.index(best_move)
            moves[0], moves[place] = moves[place], moves[0]
        for move in moves:
            self.nodes += 1
            child_depth = depth if move == PASS else depth - 1
            best = max(best, -self.alpha_beta_with_memory(othello_after(discs, move), child_depth, 1 - beta))
            if best >= beta:
                best_move = move
                break
        # Where no move was good enough, the one known from before is kept.
        self.memory[discs] = Entry(best, best >= beta, depth, best_move)
        return best


# Othello's clock


@dataclass(frozen=True)
class Decision:
    """What was known before an iteration that is not the first, in nanoseconds since the move began."""

    elapsed: int
    forecast: int
    deadline: int
    deadline_before: int
    """Of the iteration before."""


@dataclass(frozen=True)
class TimedMove:
    """A move on the clock."""

    nodes: int
    played: Iteration
    """The last one completed."""
    ended_by: str
    """``depth_limit``, ``forecast`` or ``hard_limit``, as the engine calls them."""
    decisions: tuple[Decision, ...]


def othello_on_the_clock(
    iterations: Sequence[Iteration], empties: int, remaining: int, reserve: int, a_node: int, forecasts: bool
) -> TimedMove:
    """[OT] a move with so many nanoseconds remaining, ``reserve`` of them never touched, at ``a_node`` a node.

    ``iterations`` are all that any deadline can allow. The first is completed whatever the time; one that its deadline
    cuts off is thrown away. With ``forecasts`` one that would not end before its own deadline is not begun.
    """
    done: list[Iteration] = []
    durations: list[int] = []
    decisions: list[Decision] = []
    deadline = 0
    for depth in range(min(4, empties), empties + 1):
        elapsed = sum(durations)
        own_moves = max((empties - depth + 2) // 2, 1)
        deadline_before, deadline = deadline, min((remaining - elapsed) // own_moves, max(remaining - reserve, 0))
        if done:
            # One duration alone has no growth: the engine's choice is three times as long.
            last = durations[-1]
            forecast = last * last // durations[-2] if len(done) > 1 else last * 3
            decisions.append(Decision(elapsed, forecast, deadline, deadline_before))
            if forecasts and elapsed + forecast > deadline:
                return TimedMove(done[-1].nodes, done[-1], "forecast", tuple(decisions))
            allowed = max(deadline // a_node, done[-1].nodes)
            if len(done) == len(iterations) or iterations[len(done)].nodes > allowed:
                return TimedMove(allowed, done[-1], "hard_limit", tuple(decisions))
        done.append(iterations[len(done)])
        durations.append(done[-1].nodes * a_node - elapsed)
    return TimedMove(done[-1].nodes, done[-1], "depth_limit", tuple(decisions))


# Xiangqi

MATE = 30_000
MATE_BOUND = MATE - 128
"""A value this great is a proven mate."""


class XiangqiBoard:
    """[XQ 3.1] pieces on squares, whose values are added up as they are put on and taken off; moves are the engine's.

    ``values`` are those of each piece (the engine's slots) on each square, Red's view. A move is from + (to << 7).
    """

    def __init__(self, position: Any, values: Sequence[Sequence[int]]) -> None:
        self._position = position.copy()
        self._values = values
        self._squares = [int(piece) for piece in position.state.board]
        self._score = sum(values[piece][square] for square, piece in enumerate(self._squares) if piece)
        self._red_moves = position.side_to_move == 0
        self._made: list[tuple[int, int]] = []
        self._known_to_engine = 0

    @property
    def ply(self) -> int:
        """Moves made since the root."""
        return len(self._made)

    def play(self, move: int) -> None:
        """Make a move."""
        origin, target = move & 127, move >> 7
        piece, captured = self._squares[origin], self._squares[target]
        if captured:
            self._score -= self._values[captured][target]
        self._score += self._values[piece][target] - self._values[piece][origin]
        self._squares[origin], self._squares[target] = 0, piece
        self._red_moves = not self._red_moves
        self._made.append((move, captured))

    def take_back(self) -> None:
        """Unmake the last move."""
        if self._known_to_engine == len(self._made):
            self._position.game.kernels.unmake(self._position.state)
            self._known_to_engine -= 1
        move, captured = self._made.pop()
        origin, target = move & 127, move >> 7
        piece = self._squares[target]
        self._squares[origin], self._squares[target] = piece, captured
        self._score += self._values[piece][origin] - self._values[piece][target]
        if captured:
            self._score += self._values[captured][target]
        self._red_moves = not self._red_moves

    def static(self) -> int:
        """The static value, the side to move's view."""
        return self._score if self._red_moves else -self._score

    def moves(self) -> list[int]:
        """The legal moves in the engine's order."""
        # Leaves are most of the tree and need no moves: the engine follows only here.
        for move, _ in self._made[self._known_to_engine :]:
            self._position.game.kernels.make(self._position.state, move)
        self._known_to_engine = len(self._made)
        return list(self._position.move_codes())

    def name_of(self, move: int) -> str:
        """A move in the game's notation."""
        return str(self._position.game.format_move(move))


class XqwizardLight:
    """[XQ] SearchMain and SearchFull: plain fail-hard alpha-beta, ordered by the history alone."""

    def __init__(self, board: XiangqiBoard) -> None:
        self.board = board
        self.nodes = 0
        self.history: dict[int, int] = {}
        """By from + 256 * to, one table for both sides; empty before each search."""

    def search_main(self, deepest: int) -> Iterator[Iteration]:
        """Deeper and deeper until a mate is found."""
        for depth in range(1, deepest + 1):
            score, line = self.search_full(-MATE, MATE, depth)
            yield Iteration(depth, self.nodes, score, tuple(map(self.board.name_of, line)))
            if abs(score) >= MATE_BOUND:
                return

    def search_full(self, alpha: int, beta: int, depth: int) -> tuple[int, tuple[int, ...]]:
        """The value within the window, and the best line."""
        board = self.board
        if depth == 0:
            return board.static(), ()
        moves = board.moves()
        if not moves:
            return board.ply - MATE, ()
        best_move: int | None = None
        line: tuple[int, ...] = ()
        for move in self.by_history(moves):
            self.nodes += 1
            board.play(move)
            value, reply = self.search_full(-beta, -alpha, depth - 1)
            board.take_back()
            if -value >= beta:
                self.reward(move, depth)
                return beta, ()
            if -value > alpha:
                alpha, best_move, line = -value, move, (move, *reply)
        if best_move is not None:
            self.reward(best_move, depth)
        return alpha, line

    def reward(self, move: int, depth: int) -> None:
        """Let a move that proved good be tried earlier elsewhere."""
        index = _history_index(move)
        self.history[index] = self.history.get(index, 0) + depth * depth

    def merit(self, move: int) -> int:
        """The number by which a move is ordered."""
        return self.history.get(_history_index(move), 0)

    def by_history(self, moves: list[int]) -> list[int]:
        """The moves sorted as the history stands now.

        The engine's choice among equals: the first of the best changes places with the first of those unsorted.
        """
        merits = [self.merit(move) for move in moves]
        for place in range(len(moves)):
            most = max(merits[place:])
            best = merits.index(most, place)
            moves[place], moves[best] = moves[best], moves[place]
            merits[place], merits[best] = merits[best], merits[place]
        return moves


def _history_index(move: int) -> int:
    return (move & 127) + 256 * (move >> 7 & 127)


# Chess


class ChessBoard:
    """Pieces on squares, with moves made and taken back by python-chess; the order of the moves is the engine's.

    ``values`` are those of each white piece (by type, from 0 for the pawn) on each square. A move is the engine's code.
    """

    def __init__(self, position: Any, values: Sequence[Sequence[int]]) -> None:
        self._game = position.game
        self._board = chess.Board(position.text)
        self._values = values

    @property
    def ply(self) -> int:
        """Moves made since the root."""
        return len(self._board.move_stack)

    def play(self, move: int) -> None:
        """Make a move."""
        self._board.push_uci(self.name_of(move))

    def take_back(self) -> None:
        """Unmake the last move."""
        self._board.pop()

    def static(self) -> int:
        """The static value, the side to move's view."""
        score = 0
        for square, piece in self._board.piece_map().items():
            row = self._values[piece.piece_type - 1]
            score += row[square] if piece.color else -row[chess.square_mirror(square)]
        return score if self._board.turn else -score

    def moves(self) -> list[int]:
        """The legal moves in the engine's order."""
        moves: list[int] = self._game.position(self._board.fen()).move_codes()
        assert sorted(map(self.name_of, moves)) == sorted(move.uci() for move in self._board.legal_moves)
        return moves

    def is_quiet(self, move: int) -> bool:
        """Whether a move captures and promotes nothing."""
        found = chess.Move.from_uci(self.name_of(move))
        return found.promotion is None and not self._board.is_capture(found)

    def name_of(self, move: int) -> str:
        """A move in the game's notation."""
        return str(self._game.format_move(move))


class Moreland(XqwizardLight):
    """[AW] the loop over a window of half a pawn, around plain fail-hard alpha-beta, of which the text says nothing.

    Quiet moves are ordered by the history alone.
    """

    board: ChessBoard
    WINDOW = 50

    def iterations(self, deepest: int) -> Iterator[Iteration]:
        """Deeper by one whenever the value lies inside the window; outside, both bounds are opened again."""
        alpha, beta, depth = -MATE, MATE, 1
        while depth <= deepest:
            value, line = self.search_full(alpha, beta, depth)
            if value <= alpha or value >= beta:
                alpha, beta = -MATE, MATE
                continue
            yield Iteration(depth, self.nodes, value, tuple(map(self.board.name_of, line)))
            alpha, beta, depth = value - self.WINDOW, value + self.WINDOW, depth + 1

    def reward(self, move: int, depth: int) -> None:
        """Captures and promotions earn nothing."""
        if self.board.is_quiet(move):
            super().reward(move, depth)

    def merit(self, move: int) -> int:
        """The history of a quiet move; 0 for others."""
        return super().merit(move) if self.board.is_quiet(move) else 0
