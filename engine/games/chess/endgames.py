"""Knowledge of endgames with few pieces: drawish endgames in spite of extra material, and the mate of a lone king.

Material is counted in pawns here: knights and bishops 3, rooks 5, queens 9.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, popcount
from elolab.engine.games.chess.boards import BISHOP, FILES, KNIGHT, NONE, PAWN, QUEEN, ROOK, SQUARES

_DARK_SQUARES = np.uint64(0xAA55_AA55_AA55_AA55)
_FILE_A, _FILE_H = FILES[0], FILES[7]
_FULL, _OPPOSITE_BISHOPS, _FEW_PAWNLESS = 64, 32, 8
"""Factors by which the evaluation is scaled, in 64ths.

``_FULL``: no scaling. ``_OPPOSITE_BISHOPS``: each side has only pawns and one bishop, on opposite colours.
``_FEW_PAWNLESS``: the stronger side has no pawns, and leads by a minor piece at most.
"""
_MINOR, _ROOK = 3, 5
_TO_EDGE, _TO_OTHER_KING, _TO_CORNER = 12, 6, 14
"""Bonus in centipawns for driving a lone king towards mate, for each king step.

``_TO_EDGE``: for the lone king's distance from the centre. ``_TO_OTHER_KING``: for the closeness of the kings.
``_TO_CORNER``: for the lone king's closeness to a corner of the bishop's colour, against bishop and knight.
"""
_WON = 200
"""Bonus in centipawns against a lone king if the material suffices for mate."""

_CENTRE_DISTANCE = np.array([max(3 - s % 8, s % 8 - 4) + max(3 - s // 8, s // 8 - 4) for s in range(SQUARES)], np.int64)
"""Distance of each square from the four central squares: steps along ranks plus steps along files."""


@jit
def is_rare_ending(state):
    """Whether ``with_endgame_knowledge`` may apply: a side has no pawns, or both have only bishops and pawns."""
    if state.pieces[np.uint64(PAWN)] == NONE or state.pieces[np.uint64(PAWN + 8)] == NONE:
        return True
    others = state.pieces[np.uint64(KNIGHT)] | state.pieces[np.uint64(ROOK)] | state.pieces[np.uint64(QUEEN)]
    others |= state.pieces[np.uint64(KNIGHT + 8)] | state.pieces[np.uint64(ROOK + 8)]
    return others | state.pieces[np.uint64(QUEEN + 8)] == NONE


@jit
def _pieces_of(state, base):
    """Material of a side without its pawns, in pawn units; ``base`` is 0 for White and 8 for Black."""
    minors = state.pieces[base + np.uint64(KNIGHT)] | state.pieces[base + np.uint64(BISHOP)]
    rooks, queens = state.pieces[base + np.uint64(ROOK)], state.pieces[base + np.uint64(QUEEN)]
    return _MINOR * popcount(minors) + _ROOK * popcount(rooks) + 9 * popcount(queens)


@jit
def _steps(one, other):
    """Distance between two squares in king moves."""
    return max(abs((one & 7) - (other & 7)), abs((one >> 3) - (other >> 3)))


@jit
def _cannot_promote(state, base, king):
    """Whether a side's pawns and bishops cannot win: the enemy king holds the promotion corner of a rook pawn.

    True if all pawns are on one rook file, no bishop has the colour of the corner, and the enemy king (on ``king``) is
    at most a step from it. The caller makes sure that the side has no other pieces. ``base`` is 0 for White and 8 for
    Black.
    """
    pawns, bishops = state.pieces[base + np.uint64(PAWN)], state.pieces[base + np.uint64(BISHOP)]
    if pawns & ~_FILE_A != NONE and pawns & ~_FILE_H != NONE:
        return False
    corner = (np.int64(0) if pawns & _FILE_A != NONE else np.int64(7)) + (56 if base == 0 else 0)
    is_dark = (np.uint64(1) << np.uint64(corner)) & _DARK_SQUARES != NONE
    of_its_colour = bishops & _DARK_SQUARES if is_dark else bishops & ~_DARK_SQUARES
    return of_its_colour == NONE and _steps(king, corner) <= 1


@jit
def _mop_up(state, base, own_king, king):
    """Bonus in centipawns for a side with mating material against a lone king on square ``king``; see ``_TO_EDGE``.

    ``base`` is 0 if the side is White and 8 if it is Black; its king stands on ``own_king``.
    """
    bishops = state.pieces[base + np.uint64(BISHOP)]
    value = _WON + _TO_OTHER_KING * (7 - _steps(own_king, king))
    others = state.pieces[base + np.uint64(PAWN)] | state.pieces[base + np.uint64(ROOK)]
    if bishops != NONE and others | state.pieces[base + np.uint64(QUEEN)] == NONE and popcount(bishops) == 1:
        # Bishop and knight mate in the corners of the bishop's colour only: a1 and h8 are dark.
        if bishops & _DARK_SQUARES != NONE:
            steps = min(_steps(king, np.int64(0)), _steps(king, np.int64(63)))
        else:
            steps = min(_steps(king, np.int64(7)), _steps(king, np.int64(56)))
        return value + _TO_CORNER * (7 - steps)
    return value + _TO_EDGE * _CENTRE_DISTANCE[np.uint64(king)]


@jit
def with_endgame_knowledge(state, score):
    """Adjust ``score``, an evaluation in centipawns for White, by knowledge of rare endgames; returns the new score."""
    base = np.uint64(0) if score > 0 else np.uint64(8)
    other = np.uint64(8) - base
    own_king = np.int64(state.king[base >> np.uint64(3)])
    king = np.int64(state.king[other >> np.uint64(3)])
    own, theirs = _pieces_of(state, base), _pieces_of(state, other)
    bishops, their_bishops = state.pieces[base + np.uint64(BISHOP)], state.pieces[other + np.uint64(BISHOP)]
    is_lone = theirs == 0 and state.pieces[other + np.uint64(PAWN)] == NONE
    share = np.int64(_FULL)
    if state.pieces[base + np.uint64(PAWN)] == NONE:
        if is_lone:
            knights = state.pieces[base + np.uint64(KNIGHT)]
            of_two_colours = bishops & _DARK_SQUARES != NONE and bishops & ~_DARK_SQUARES != NONE
            mates = own - _MINOR * popcount(bishops | knights) > 0 or of_two_colours or popcount(knights) > 2
            if not (mates or (bishops != NONE and knights != NONE)):
                return np.int64(0)
        elif own - theirs <= _MINOR:
            share = np.int64(_FEW_PAWNLESS) if own >= _ROOK else np.int64(0)
    elif own == _MINOR * popcount(bishops):
        if _cannot_promote(state, base, king):
            return np.int64(0)
        if own == _MINOR and theirs == _MINOR and their_bishops != NONE:
            if (bishops & _DARK_SQUARES == NONE) != (their_bishops & _DARK_SQUARES == NONE):
                share = np.int64(_OPPOSITE_BISHOPS)
    if is_lone and own >= _ROOK:
        bonus = _mop_up(state, base, own_king, king)
        return score + bonus if base == 0 else score - bonus
    # Rounds towards zero, so that scores for White and Black differ only in sign.
    scaled = abs(score) * share // _FULL
    return scaled if base == 0 else -scaled
