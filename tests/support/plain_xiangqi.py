"""Xiangqi on a dictionary, slow and simple: the oracle of the tests for checks, exchanges and chases.

Written from the rules alone, without the engine's tables: a board maps (file, rank) to (letter, number), where the
letter is a FEN letter (upper case Red) and the number tells pieces of one kind apart, so that a chased piece can be
followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

Square = tuple[int, int]
Piece = tuple[str, int]
Board = dict[Square, Piece]


@dataclass(frozen=True)
class ChaseRule:
    """What counts as a chase; the defaults are our rule, the rest turns it into the one pyffish plays by."""

    attackers: str = "RNC"
    """Letters of the pieces whose attacks count."""
    attackers_may_be_pinned: bool = False
    """Whether an attack counts that would expose the attacker's general."""
    along_the_line: bool = False
    """Whether a rook or cannon that only came nearer or drew back, attacking along the same line, attacks anew."""
    minor_against_major: bool = False
    """Whether an advisor or elephant attacking a rook, horse or cannon counts even if that is protected."""
    pinned_protect: bool = False
    """Whether a recapture counts that would expose the general."""


def read_board(fen: str) -> tuple[Board, bool]:
    """The board of a FEN and whether Red is to move."""
    board: Board = {}
    rows, side = fen.split()[:2]
    for index, row in enumerate(rows.split("/")):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                board[file, 9 - index] = (letter, len(board))
                file += 1
    return board, side == "w"


def read_move(move: str) -> tuple[Square, Square]:
    """Squares of an ICCS move with ranks 0-9."""
    return ("abcdefghi".index(move[0]), int(move[1])), ("abcdefghi".index(move[2]), int(move[3]))


def is_red(piece: Piece) -> bool:
    """Whether a piece is Red's."""
    return piece[0].isupper()


def play(board: Board, origin: Square, target: Square) -> Board:
    """The board after a move."""
    after = dict(board)
    after[target] = after.pop(origin)
    return after


def pieces_between(board: Board, one: Square, other: Square) -> int | None:
    """Number of pieces strictly between two squares of one line; ``None`` if they are not on one."""
    (file, rank), (file_2, rank_2) = one, other
    if one == other or (file != file_2 and rank != rank_2):
        return None
    step = ((file_2 > file) - (file_2 < file), (rank_2 > rank) - (rank_2 < rank))
    count, at = 0, (file + step[0], rank + step[1])
    while at != other:
        count += at in board
        at = (at[0] + step[0], at[1] + step[1])
    return count


def reaches(board: Board, origin: Square, target: Square) -> bool:
    """Whether the piece on ``origin``, in its way of capturing, could capture on ``target``."""
    letter = board[origin][0]
    kind, red = letter.upper(), letter.isupper()
    across, up = target[0] - origin[0], target[1] - origin[1]
    palace = 3 <= target[0] <= 5 and (target[1] <= 2 if red else target[1] >= 7)
    if kind == "R":
        return pieces_between(board, origin, target) == 0
    if kind == "C":
        return pieces_between(board, origin, target) == 1
    if kind == "N":
        if sorted((abs(across), abs(up))) != [1, 2]:
            return False
        leg = (across // 2, 0) if abs(across) == 2 else (0, up // 2)
        return (origin[0] + leg[0], origin[1] + leg[1]) not in board
    if kind == "K":
        return palace and abs(across) + abs(up) == 1
    if kind == "A":
        return palace and abs(across) == abs(up) == 1
    if kind == "B":
        at_home = target[1] <= 4 if red else target[1] >= 5
        eye = (origin[0] + across // 2, origin[1] + up // 2)
        return at_home and abs(across) == abs(up) == 2 and eye not in board
    forward = 1 if red else -1
    crossed = origin[1] >= 5 if red else origin[1] <= 4
    return (across, up) == (0, forward) or (crossed and up == 0 and abs(across) == 1)


def in_check(board: Board, red: bool) -> bool:
    """Whether a side's general is attacked; generals that face each other attack."""
    general = next(at for at, piece in board.items() if piece[0] == ("K" if red else "k"))
    for at, piece in board.items():
        if is_red(piece) != red:
            facing = piece[0].upper() == "K" and at[0] == general[0] and pieces_between(board, at, general) == 0
            if facing or reaches(board, at, general):
                return True
    return False


def captures_legally(board: Board, origin: Square, target: Square) -> bool:
    """Whether the piece on ``origin`` could capture on ``target`` without exposing its own general."""
    return reaches(board, origin, target) and not in_check(play(board, origin, target), is_red(board[origin]))


def chased_by(before: Board, origin: Square, target: Square, rule: ChaseRule) -> Iterator[int]:
    """Numbers of the pieces a move chases."""
    after = play(before, origin, target)
    red = is_red(before[origin])
    for at, attacker in after.items():
        kind = attacker[0].upper()
        if is_red(attacker) != red or kind not in rule.attackers:
            continue
        for victim_at, victim in after.items():
            prey = victim[0].upper()
            crossed = victim_at[1] >= 5 if is_red(victim) else victim_at[1] <= 4
            if is_red(victim) == red or prey == "K" or (prey == "P" and not crossed):
                continue
            attacked = _attacks(after, at, victim_at, rule) and _is_new(before, origin, target, at, victim_at, rule)
            if attacked and _is_threat(after, at, victim_at, rule):
                yield victim[1]


def _attacks(board: Board, at: Square, victim_at: Square, rule: ChaseRule) -> bool:
    if rule.attackers_may_be_pinned:
        return reaches(board, at, victim_at)
    return captures_legally(board, at, victim_at)


def _is_new(before: Board, origin: Square, target: Square, at: Square, victim_at: Square, rule: ChaseRule) -> bool:
    """Whether the attack from ``at`` did not exist before the move, or was renewed by the piece that moved.

    Out of check an attack needs to have been legal to be an old one; a side in check keeps its old attacks.
    """
    if in_check(before, is_red(before[origin])):
        rule = replace(rule, attackers_may_be_pinned=True)
    if at != target:
        return not _attacks(before, at, victim_at, rule)
    if before[origin][0].upper() not in "RC":
        return True
    along = (origin[0] == target[0] == victim_at[0]) or (origin[1] == target[1] == victim_at[1])
    return rule.along_the_line or not (along and _attacks(before, origin, victim_at, rule))


def _is_threat(board: Board, at: Square, victim_at: Square, rule: ChaseRule) -> bool:
    kind, prey = board[at][0].upper(), board[victim_at][0].upper()
    if kind == prey and captures_legally(board, victim_at, at):
        return False
    if prey == "R" and kind in "NC":
        return True
    if rule.minor_against_major and kind in "AB" and prey in "RNC":
        return True
    red = is_red(board[at])
    taken = play(board, at, victim_at)
    for other, piece in taken.items():
        takes_back = is_red(piece) != red and reaches(taken, other, victim_at)
        if takes_back and (rule.pinned_protect or captures_legally(taken, other, victim_at)):
            return False
    return True


def judge_cycle(fen: str, moves: Sequence[str], rule: ChaseRule | None = None) -> str:
    """Verdict on a cycle of moves from ``fen`` back to it: ``draw``, or the reason and the losing side.

    Check outranks chase outranks none.
    """
    rule = rule or ChaseRule()
    board, red = read_board(fen)
    checks = {True: True, False: True}
    chased: dict[bool, set[int]] = {True: set(range(99)), False: set(range(99))}
    for move in moves:
        origin, target = read_move(move)
        chased[red] &= set(chased_by(board, origin, target, rule))
        board = play(board, origin, target)
        checks[red] &= in_check(board, not red)
        red = not red
    if checks[True] != checks[False]:
        return "perpetual_check red" if checks[True] else "perpetual_check black"
    if not checks[True] and bool(chased[True]) != bool(chased[False]):
        return "perpetual_chase red" if chased[True] else "perpetual_chase black"
    return "draw"


# --- The Chinese rule -----------------------------------------------------------------------------------------------

WORTH = {"A": 1, "B": 1, "N": 2, "C": 2, "R": 4, "P": 1}
"""Worth of each piece in units of the Chinese rule; a pawn that has not crossed the river has none."""


def may_go(board: Board, origin: Square, target: Square) -> bool:
    """Whether a piece may move to a square, its general's safety aside."""
    piece, other = board[origin], board.get(target)
    if other is None and piece[0] in "Cc":
        return pieces_between(board, origin, target) == 0
    return (other is None or is_red(other) != is_red(piece)) and reaches(board, origin, target)


def legal_moves(board: Board, red: bool) -> Iterator[tuple[Square, Square]]:
    """Legal moves of a side as pairs of squares."""
    for origin in [at for at, piece in board.items() if is_red(piece) == red]:
        for target in ((file, rank) for file in range(9) for rank in range(10)):
            if may_go(board, origin, target) and not in_check(play(board, origin, target), red):
                yield origin, target


def can_mate(board: Board, red: bool) -> bool:
    """Whether a side, to move, can give checkmate."""
    boards = (play(board, *move) for move in legal_moves(board, red))
    return any(in_check(after, not red) and not any(True for _ in legal_moves(after, not red)) for after in boards)


def worth(board: Board, at: Square) -> int:
    """Worth of the piece on a square; 0 for a general, and for a pawn that has not crossed."""
    letter = board[at][0]
    crossed = at[1] >= 5 if letter.isupper() else at[1] <= 4
    return 0 if letter in "KkPp" and not (crossed and letter in "Pp") else WORTH[letter.upper()]


def exchange(board: Board, at: Square, red: bool) -> int:
    """Units that a side to move wins by captures on one square, if both sides stop where it is best for them."""
    origins = [origin for origin, piece in board.items() if is_red(piece) == red]
    captures = [play(board, origin, at) for origin in origins if captures_legally(board, origin, at)]
    return max([0, *(worth(board, at) - exchange(after, at, not red) for after in captures)])


def chinese_chases(board: Board, red: bool, attackers: str) -> set[tuple[int, int]]:
    """Numbers of attackers and victims of a side's chases; all attacks count if the side is in check."""
    found = set()
    checked = in_check(board, red)
    for at, piece in board.items():
        if is_red(piece) != red or piece[0].upper() not in attackers:
            continue
        for victim_at, victim in board.items():
            if is_red(victim) == red or worth(board, victim_at) == 0 or not reaches(board, at, victim_at):
                continue
            if checked:
                found.add((piece[1], victim[1]))
                continue
            offers = piece[0].upper() == victim[0].upper() and captures_legally(board, victim_at, at)
            if offers or not captures_legally(board, at, victim_at):
                continue
            taken = play(board, at, victim_at)
            if worth(board, victim_at) > exchange(taken, victim_at, not red) and not can_mate(taken, not red):
                found.add((piece[1], victim[1]))
    return found


def nature(board: Board, origin: Square, target: Square, attackers: str = "RNCAB") -> str:
    """What a move does by the Chinese rule: ``check``, ``chase``, ``mate`` (it threatens mate) or ``idle``."""
    red = is_red(board[origin])
    after = play(board, origin, target)
    if in_check(after, not red):
        return "check"
    if in_check(board, red) and board[origin][0] in "Kk":
        return "idle"
    if chinese_chases(after, red, attackers) - chinese_chases(board, red, attackers):
        return "chase"
    return "mate" if can_mate(after, red) and not can_mate(board, red) else "idle"


def judge_cycle_chinese(fen: str, moves: Sequence[str]) -> str:
    """Verdict of the Chinese rule on a cycle of moves from ``fen``, in the words of ``judge_cycle``."""

    def natures(attackers: str) -> dict[bool, set[str]]:
        board, red = read_board(fen)
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for move in moves:
            found[red].add(nature(board, *read_move(move), attackers))
            board, red = play(board, *read_move(move)), not red
        return found

    found = natures("RNCAB")
    checks = {red: found[red] == {"check"} for red in found}
    attacks = {red: "idle" not in found[red] for red in found}
    if checks[True] != checks[False]:
        return "perpetual_check red" if checks[True] else "perpetual_check black"
    if attacks[True] == attacks[False] or all("idle" not in one for one in natures("RNCABP").values()):
        return "draw"
    return "perpetual_attack red" if attacks[True] else "perpetual_attack black"
