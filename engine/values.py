"""Score constants shared by the search, the games and everything that reads a score.

Scores are in centipawns, in Othello in hundredths of a disc, from the point of view of the side to move. They fit into
16 bits.
"""

MAX_PLY = 128
"""Maximum ply in the search tree, including quiescence; the root is ply 0."""
MAX_MOVES = 224
"""Capacity of a move list: at least the largest number of legal moves in a position of any game (218 in chess).

It is below a power of two, so that rows of an array of lists do not compete for the same cache lines.
"""
MOVE_BITS = 17
"""Number of bits of a move's integer code in every game."""
MAX_DEPTH = 100
"""Maximum depth of an iteration, in plies."""
MATE = 30_000
"""Base of mate scores: a side without a legal move at ply p scores p - MATE for itself, so that shorter mates win."""
MATE_BOUND = MATE - MAX_PLY
"""Smallest absolute value of a proven mate score."""
BAN = 29_000
"""Base of scores for losses by repetition: p - BAN at ply p. They depend on the path, and prove no mate."""
BAN_BOUND = BAN - MAX_PLY
"""Smallest absolute score of a win or loss by repetition; below ``MATE_BOUND``, and above all ordinary scores."""
INFINITY = 32_000
MAX_GAME_PLIES = 1024
"""Maximum number of plies that a state can store, in the game and the search together."""


def mate_distance(score: int) -> int | None:
    """Number of plies to mate: positive if the side to move wins, negative if it loses; ``None`` for other scores."""
    if score >= MATE_BOUND:
        return MATE - score
    if score <= -MATE_BOUND:
        return -MATE - score
    return None


def format_score(score: int) -> str:
    """Format a score: ``+0.31`` in pawns, ``+M5``/``-M4`` for mates, ``+R``/``-R`` for a win or loss by repetition."""
    plies = mate_distance(score)
    if plies is not None:
        return f"{'+' if plies > 0 else '-'}M{(abs(plies) + 1) // 2}"
    if abs(score) >= BAN_BOUND:
        return "+R" if score > 0 else "-R"
    return f"{score / 100:+.2f}"
