"""Score constants shared by the search, the games and everything that reads a score.

Scores are centipawns (Othello: disc-hundredths) of the side to move, within 16 bits.
"""

MAX_PLY = 128
"""Deepest ply of the tree, quiescence included; the root is ply 0."""
MAX_MOVES = 128
"""Most legal moves a game may have in one position."""
MAX_DEPTH = 100
"""Deepest iteration."""
MATE = 30_000
"""A side without a legal move at ply p scores p - MATE for itself, so that shorter mates win."""
MATE_BOUND = MATE - MAX_PLY
"""Scores of at least this absolute value are proven mates."""
BAN = 29_000
"""A loss by repetition at ply p scores p - BAN: it depends on the path and is never a proven mate."""
BAN_BOUND = BAN - MAX_PLY
"""Scores from this absolute value up to ``MATE_BOUND`` are losses and wins by repetition; ordinary scores are below."""
INFINITY = 32_000
MAX_GAME_PLIES = 1024
"""Number of positions that a state can store: the plies of the game and of the search together."""


def mate_distance(score: int) -> int | None:
    """Plies to mate (positive: the side to move wins, negative: it loses); ``None`` for other scores."""
    if score >= MATE_BOUND:
        return MATE - score
    if score <= -MATE_BOUND:
        return -MATE - score
    return None


def format_score(score: int) -> str:
    """``+0.31`` in pawns, ``+M5`` / ``-M4`` for mates in moves, ``+R``/``-R`` for a win or loss by repetition."""
    plies = mate_distance(score)
    if plies is not None:
        return f"{'+' if plies > 0 else '-'}M{(abs(plies) + 1) // 2}"
    if abs(score) >= BAN_BOUND:
        return "+R" if score > 0 else "-R"
    return f"{score / 100:+.2f}"
