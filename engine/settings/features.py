"""Names of the features of each game's evaluation, in the numbering of its compiled code.

A file of weights (``engine.settings.weights``) has a column for each feature it weighs.
"""

from __future__ import annotations

OTHELLO = (
    "mobility", "potential_mobility", "frontier", "corners", "corner_moves", "unsafe_moves", "x_squares", "c_squares",
    "a_squares", "edge_stable", "edges", "centre", "discs", "to_move", "last_move",
)  # fmt: skip

XIANGQI_TERMS = (
    # Square terms: they depend on where pieces stand.
    "rook_mobility",  # empty squares in reach
    "cannon_mobility",
    "horse_mobility",  # squares in reach that hold no own piece
    "rook_on_palace",  # squares of the enemy's palace attacked
    "cannon_on_palace",
    "horse_on_palace",
    "pawn_on_palace",
    "second_attacker",  # the palace is attacked by two pieces or more
    "third_attacker",  # by three or more
    "open_cannon",  # on the general's file with nothing between
    "bottom_cannon",  # on the general's rank with nothing between
    "bound_to_rook",  # pieces that shield their general from a rook (counted for the rook's side)
    "bound_to_cannon",  # pairs of pieces of which either would become a cannon's screen
    "attack_on_rook",  # rooks attacked by horses, cannons and pawns
    "attack_on_minor",  # horses and cannons attacked by horses, cannons and pawns
    "linked_pawns",  # crossed pawns side by side
    "blocked_pawn",  # uncrossed, with a piece right in front
    "hanging_minor",  # enemy horses and cannons attacked and not defended
    "hanging_guard",  # advisors and elephants so
    "hanging_pawn",
    "rook_check",  # empty squares that a rook reaches and checks from, and that no enemy piece attacks
    "horse_check",  # a horse's, with enemy pieces too, whether or not the leg there is blocked
    "general_squares",  # the general's steps to squares that are neither attacked nor its side's own
    # Piece-count terms: they depend on the numbers of pieces alone.
    "rook_on_bare_palace",  # rooks times the advisors the enemy has lost
    "horse_on_bare_palace",
    "cannon_on_bare_river",  # cannons times the elephants the enemy has lost
    "no_attacker",  # no rook, horse, cannon or pawn left
    "single_attacker",  # just one rook, horse or cannon left
    "no_major",  # none of them
    "no_pawn",
    "horse_with_advisor",  # horses times the own advisors, and so on
    "cannon_with_advisor",
    "horse_with_elephant",
    "rook_with_elephant",
    "horse_with_pawn",
    "rook_with_pawn",
    "cannon_with_pawn",
    "cannon_against_advisor",  # cannons times the enemy's advisors, and so on
    "pawn_against_advisor",
    "horse_against_elephant",
    "rook_against_elephant",
    "pawn_against_elephant",
    "horse_against_cannon",
    "rook_against_cannon",
    "horse_against_pawn",
    "rook_against_pawn",
    "cannon_against_pawn",
)

XIANGQI_PIECES = ("general", "advisor", "elephant", "horse", "rook", "cannon", "pawn")
"""Names of the types of pieces, in the order of their numbers in compiled code."""
_FILES = "abcde"
_ANYWHERE = tuple(f"{file}{rank}" for rank in range(10) for file in _FILES)
XIANGQI_SQUARES: dict[str, tuple[str, ...]] = {
    "general": tuple(f"{file}{rank}" for rank in range(3) for file in "de"),
    "advisor": ("d0", "e1", "d2"),
    "elephant": ("c0", "a2", "e2", "c4"),
    "horse": _ANYWHERE,
    "rook": _ANYWHERE,
    "cannon": _ANYWHERE,
    "pawn": tuple(f"{file}{rank}" for rank in range(3, 10) for file in (_FILES if rank > 4 else "ace")),
}
"""Squares on which a piece of Red may stand, by piece. Files f to i are mirrored to d to a, and Black's ranks are
mirrored."""

XIANGQI = XIANGQI_TERMS + tuple(f"{piece}_{square}" for piece, squares in XIANGQI_SQUARES.items() for square in squares)
"""Names of Xiangqi's features: the terms, then each type of piece on each square. The weight of a piece on a square
includes its material."""

FEATURES: dict[str, tuple[str, ...]] = {"xiangqi": XIANGQI, "othello": OTHELLO}
"""Names of the features, by game."""
