"""Names of the features of each game's evaluation, in the order in which compiled code numbers them.

A file of weights (``engine.settings.weights``) has a column for each feature that it weighs.
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
    "hanging_guard",  # advisors and elephants likewise
    "hanging_pawn",
    "rook_check",  # empty squares that a rook reaches and checks from, and that no enemy piece attacks
    "horse_check",  # likewise for horses, including squares of enemy pieces, even if the horse's leg is blocked there
    "general_squares",  # the general's steps to squares that are neither attacked nor its side's own
    # Piece-count terms: they depend on the numbers of pieces alone.
    "rook_on_bare_palace",  # rooks times the advisors the enemy has lost
    "horse_on_bare_palace",
    "cannon_on_bare_river",  # cannons times the elephants the enemy has lost
    "no_attacker",  # no rook, horse, cannon or pawn left
    "single_attacker",  # just one rook, horse or cannon left
    "no_major",  # no rook, horse or cannon left
    "no_pawn",
    "horse_with_advisor",  # horses times own advisors; the next terms likewise
    "cannon_with_advisor",
    "horse_with_elephant",
    "rook_with_elephant",
    "horse_with_pawn",
    "rook_with_pawn",
    "cannon_with_pawn",
    "cannon_against_advisor",  # cannons times the enemy's advisors; the next terms likewise
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
"""Names of the piece types, in the order in which compiled code numbers them."""
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
"""Squares on which a Red piece can stand, by piece type.

Only files a to e are listed: files f to i mirror files d to a, and Black's ranks mirror Red's.
"""

XIANGQI = XIANGQI_TERMS + tuple(f"{piece}_{square}" for piece, squares in XIANGQI_SQUARES.items() for square in squares)
"""Names of the features of Xiangqi's evaluation: the terms, followed by each piece type on each square.

The weight of a piece on a square includes its material value.
"""

_CHESS_MEN = ("pawn", "knight", "bishop", "rook", "queen")
CHESS_MATERIAL = tuple(
    name
    for number, piece in enumerate(_CHESS_MEN)
    for other_number, other in enumerate(_CHESS_MEN[: number + 1])
    for name in (f"{piece}_with_{other}", f"{piece}_against_{other}")
    if number and (other_number < number or "with" in name)
)
"""Names of the material terms, each a product of two piece counts.

``A_with_B`` multiplies the numbers of pieces A and B of the same side; ``A_with_A`` counts pairs of A.
``A_against_B`` multiplies the number of pieces A by the number of enemy pieces B, a lesser type.
"""

CHESS_TERMS = (
    # Squares that a piece reaches, except squares of the own king and pawns and squares that enemy pawns attack.
    *(f"knight_mobility_{squares}" for squares in range(9)),
    *(f"bishop_mobility_{squares}" for squares in range(14)),
    *(f"rook_mobility_{squares}" for squares in range(15)),
    *(f"queen_mobility_{squares}" for squares in range(28)),
    # Pawns. Ranks are counted from the own side, 1 to 8.
    "isolated",  # no own pawn on the neighbouring files
    "isolated_open",  # isolated, and no pawn ahead on its file
    "doubled",  # an own pawn ahead on its file
    "backward",  # behind its neighbours, with the square ahead attacked by an enemy pawn
    "backward_open",  # backward, and no pawn ahead on its file
    *(f"connected_{rank}" for rank in range(2, 8)),  # beside an own pawn or defended by one
    "phalanx",  # beside an own pawn
    "connected_opposed",  # connected, with an enemy pawn ahead on its file
    "supported_twice",  # defended by two pawns
    "doubled_isolated",
    "unopposed",  # no pawn ahead on its file, but not passed
    *(
        f"passed_{rank}" for rank in range(2, 8)
    ),  # no pawn ahead on its file, no enemy pawn ahead on the neighbouring ones
    *(f"passed_free_{rank}" for rank in range(4, 8)),  # passed, with an empty square ahead
    *(f"passed_safe_{rank}" for rank in range(4, 8)),  # passed, with no square of its path attacked
    "passed_clear",  # ranks beyond the third, if no square of the path is attacked or held by the enemy
    "passed_defended",  # squares of the path that the own side attacks, times ranks beyond the third
    "passed_own_king",  # king's distance to the square ahead of a passed pawn, times ranks beyond the third
    "passed_enemy_king",
    "passed_rook_behind",
    "passed_enemy_rook_behind",
    # The king's shelter on its file and the neighbouring ones: the rank of the rearmost own pawn not behind the king.
    *(f"shelter_{rank}" for rank in (2, 3, 4)),
    "shelter_none",  # no such pawn up to rank 4
    *(f"shelter_file_{rank}" for rank in (2, 3, 4)),  # of the king's own file
    "shelter_file_none",
    *(f"storm_{rank}" for rank in (2, 3, 4, 5)),  # rank of the enemy's nearest pawn there, from the own side
    "storm_blocked",  # this pawn stands right ahead of an own pawn
    "storm_advance",  # steps beyond rank 4 of the farthest enemy pawn on each of these files, from its side
    "king_half_open_file",  # no own pawn on one of these files
    "king_open_file",  # no pawn of either side on one of these files
    "king_pawn_distance",  # from the own king to the nearest own pawn
    # Attacks on the enemy's king, summed up in an index from 0.
    *(f"danger_{index}" for index in range(1, 24)),
    # Squares from which a piece can check, safe for it: not defended, or attacked twice and defended by king or queen.
    *(f"safe_check_{piece}" for piece in ("knight", "bishop", "rook", "queen")),
    "unsafe_check",  # squares of the other checks
    "zone_twice",  # squares around the enemy's king that are attacked twice
    "zone_twice_loose",  # squares around the enemy's king that are attacked twice and not defended twice
    "flank_defended",  # squares that the enemy defends on its first five ranks, on its king's side of the board
    "king_blocker",  # single pieces of either side between a sliding piece and the enemy's king
    "pinned_minor",  # enemy knights and bishops among these pieces
    "pinned_rook",
    # Pieces.
    "bishop_pair",
    "bishop_pair_pawns",  # pawns of both sides, with a bishop pair
    "bishop_pawns",  # own pawns on the squares of a bishop's colour
    "knight_outpost",  # on ranks 4 to 6, defended by a pawn, where no enemy pawn can attack it
    "bishop_outpost",
    "outpost_in_reach",  # outpost squares that knights attack
    "minor_in_hole",  # on ranks 4 to 6, where no enemy pawn can attack it and no own pawn defends it
    "knight_king_distance",  # from the own king to each knight
    "bishop_king_distance",
    "long_diagonal",  # bishops that attack two of the four centre squares through pieces, not through pawns
    "minor_behind_pawn",
    "rook_open_file",  # no pawn on its file
    "rook_half_open_file",  # no own pawn on its file
    "trapped_rook",  # at most three squares of mobility, a pawn on its file, on the king's side nearer to the edge
    "blocked_pawns",  # pawns with a piece right ahead
    *CHESS_MATERIAL,
    "space",  # squares on files c to f and ranks 2 to 4 without own pawns that no enemy pawn attacks
    # Threats: enemy pieces attacked.
    "pawn_on_minor",
    "pawn_on_rook",
    "pawn_on_queen",
    "minor_on_minor",  # knights by bishops and the other way round
    "minor_on_rook",
    "minor_on_queen",
    "rook_on_minor",  # attacked by a rook and not defended by a pawn
    "rook_on_queen",
    "king_on_loose",  # attacked by the king and not defended
    "hanging",  # attacked and not defended
    "minor_on_pawn",  # attacked by knights or bishops; neither defended by a pawn nor, if attacked once, twice
    "rook_on_pawn",
    "hanging_twice",  # pieces attacked twice and defended once, not by a pawn
    "restricted",  # squares that both sides attack and that the enemy does not hold (see minor_on_pawn)
    "slider_on_queen",  # safe squares, attacked twice, from which a bishop or rook attacks a single queen
    "pawn_push",  # attacked by a pawn after a step to a safe square
)

CHESS_PIECES = ("pawn", "knight", "bishop", "rook", "queen", "king")
"""Names of the piece types, in the order in which compiled code numbers them."""
CHESS_SQUARES: dict[str, tuple[str, ...]] = {
    piece: tuple(f"{file}{rank}" for rank in (range(2, 8) if piece == "pawn" else range(1, 9)) for file in "abcd")
    for piece in CHESS_PIECES
}
"""Squares on which a white piece can stand, by piece type.

Only files a to d are listed: files e to h mirror files d to a, and Black's ranks mirror White's.
"""

CHESS = CHESS_TERMS + tuple(f"{piece}_{square}" for piece, squares in CHESS_SQUARES.items() for square in squares)
"""Names of the features of chess's evaluation: the terms, followed by each piece type on each square.

The weight of a piece on a square includes its material value.
"""

FEATURES: dict[str, tuple[str, ...]] = {"xiangqi": XIANGQI, "othello": OTHELLO, "chess": CHESS}
"""Names of all features of the evaluation, by game."""
