"""The record that one search works on: limits, clock, results, killers, history, principal variations, counters."""

from __future__ import annotations

import numpy as np

from elolab.engine.values import MAX_MOVES, MAX_PLY

HISTORY_SIZE = 1 << 15
HISTORY_BLOCK = 128
"""Number of entries of ``history`` in a block. Each block has a flag in ``history_filled``; if the flag is unset, all
entries of the block are 0.
"""
MAX_LINES = 32
"""Maximum number of variations in a multi-PV analysis."""

CONTINUATION_PIECES = 7
CONTINUATION_SQUARES = 90
CONTINUATION_MOVES = CONTINUATION_PIECES * CONTINUATION_SQUARES
"""Number of rows and of columns of a continuation history: one for each piece type and target square.

Both sides share rows and columns, so that the table fits into the processor's caches.
"""
CONTINUATIONS = 2
"""Number of continuation histories: one for the opponent's last move, one for the player's own move before it."""

CORRECTION_BITS = np.uint64(14)
CORRECTIONS = np.uint64(1 << 14)
"""Number of entries in each correction history, for each side to move."""
CORRECTION_TABLES = 4
"""Number of correction histories.

They have four keys: a hash of the structure, such as the pawns; a hash of the other pieces, one for each side; and a
hash of the last two moves.
"""
CORRECTION_UNIT = 256
"""Number of stored units per centipawn in a correction history."""

REDUCTION_DEPTHS = 64
"""Number of depths in the table of late move reductions. Greater depths use the entry of the greatest depth."""
REDUCTION_MOVES = 128
"""Number of move numbers in the table of late move reductions. Later moves use the entry of the last move number."""

NO_LIMIT = 1 << 60

CLOCK_OFF, CLOCK_WALL, CLOCK_CPU, CLOCK_NODE = range(4)

# Why a search was stopped.
RUNNING, STOPPED_BY_FLAG, STOPPED_BY_NODES, STOPPED_BY_HARD_LIMIT, STOPPED_BY_SOFT_LIMIT = range(5)
# Why it ended by itself.
ENDED_AT_DEPTH, ENDED_BY_MATE, ENDED_BY_UNIQUE_MOVE, ENDED_BY_FORECAST, ENDED_BY_SINGLE_MOVE, ENDED_WITHOUT_MOVES = (
    range(5, 11)
)
END_REASONS = (
    "running", "stop", "node_limit", "hard_limit", "soft_limit", "depth_limit", "mate", "unique_move", "forecast",
    "single_move", "no_moves",
)  # fmt: skip
"""Names of the reasons for which a search ends, indexed by their codes."""

SEARCH_DTYPE = np.dtype(
    [
        ("search_record", np.int64),  # distinguishes this record type from others
        ("nodes", np.int64),  # moves made in the main and the quiescence search; null moves not counted
        ("countdown", np.int64),  # nodes until limits, clock and stop flag are polled again
        ("stopped", np.int64),
        ("stopped_at_result", np.int64),  # whether the soft limit stopped it at a new root result
        ("former_best_left", np.int64),  # whether the previous iteration's best move is yet to be searched
        ("root", np.int64),  # the state's ply at the root
        ("game_number", np.int64),  # tags table entries; entries of other games count as empty
        ("search_number", np.int64),  # tags table entries for replacement within a game
        ("history_key", np.uint64),  # hash of the game's history that affects repetitions; part of every table key
        # Limits.
        ("depth_limit", np.int64),
        ("node_limit", np.int64),
        ("stop_address", np.int64),  # of a byte that another thread sets to stop the search; 0 for none
        ("ponder_address", np.int64),  # of a byte that is set until the ponder hit; 0 for none, and after the hit
        ("ponder_grant_ns", np.int64),  # pondering time granted beforehand; 0 for none, and once it is used up
        ("ponder_misses", np.int64),  # whether the search ends after the grant: the opponent made another move
        ("node_address", np.int64),  # of the compiled ``search_node`` for this game
        ("report_address", np.int64),  # of the board of ``engine.search.reports``; 0 for none
        ("report_count", np.int64),
        ("search_statistics_address", np.int64),  # of the record of ``engine.search.statistics``; 0 for none
        ("table_address", np.int64),
        ("table_mask", np.int64),  # buckets - 1; -1 for no table
        ("evaluation_cache", np.int64),  # address of an ``engine.games.evaluation_cache``; 0 for none
        ("replacement", np.int64),  # code of the parameter ``replacement``
        # Clock. Times are nanoseconds since the search began.
        ("clock", np.int64),
        ("clock_armed", np.int64),  # whether a clock may end the search: the first iteration is complete
        ("start_ns", np.int64),
        ("soft_ns", np.int64),
        ("soft_at_root", np.int64),  # whether the soft limit is tested at each new result of the root
        ("proper_ns", np.int64),  # the proper time of the move, before the factors
        ("hard_ns", np.int64),
        ("max_ns", np.int64),  # upper bound of ``hard_ns`` for every iteration
        ("remaining_ns", np.int64),  # on the player's clock when the move began; negative without a clock
        ("nanoseconds_per_node", np.int64),
        ("ponders", np.int64),  # whether the player thinks on the opponent's time too
        ("uncounted_ns", np.int64),  # time before the ponder hit, which does not count against the limits
        # Root moves in the order of trial, and the restriction to some of them.
        ("root_count", np.int64),
        ("root_moves", np.int32, (MAX_MOVES,)),
        ("filter_count", np.int64),
        ("filter_moves", np.int32, (MAX_MOVES,)),
        # Results: line 0 is the move to play.
        ("lines", np.int64),
        # From ``MAX_LINES`` on: copies from the last completed iteration, to restore when an aborted one is discarded.
        ("line_move", np.int64, (2 * MAX_LINES,)),
        ("line_score", np.int64, (2 * MAX_LINES,)),
        ("line_depth", np.int64, (2 * MAX_LINES,)),
        ("line_length", np.int64, (2 * MAX_LINES,)),
        ("line_variation", np.int32, (2 * MAX_LINES, MAX_PLY + 2)),
        ("depth", np.int64),  # last completed iteration
        ("deepest_ply", np.int64),
        ("elapsed_ns", np.int64),
        ("end_reason", np.int64),  # of the last search, a code of ``END_REASONS``
        ("current_line", np.int64),
        ("excluded", np.int32, (MAX_PLY + 2,)),  # by ply, the move excluded by the search for a singular move
        ("leaf_nodes", np.int64),  # nodes of an endgame solver not yet passed to ``spend_nodes``
        ("verifying", np.int64),  # number of nested null move verifications
        ("iteration_ns", np.int64, (4,)),  # durations of the last iterations, the latest first
        ("best_move_stable", np.int64),  # iterations for which the best move has stayed the same
        ("previous_score", np.int64),  # of the iteration before the last, for MTD(f) and the time rules
        # Heuristics.
        ("reductions", np.int8, (REDUCTION_DEPTHS, REDUCTION_MOVES)),  # of late moves, by depth and number
        # Static evaluations of the path, at index ply + 2; a node in check has that of two plies before.
        ("static_values", np.int32, (MAX_PLY + 4,)),
        # Corrections of the static evaluation, by side to move and hash.
        ("corrections", np.int16, (CORRECTION_TABLES, 2 * int(CORRECTIONS))),
        ("corrections_filled", np.int64),  # whether any entry may be other than 0
        ("correction_places", np.uint16, (MAX_PLY + 2, CORRECTION_TABLES)),  # by ply, the position's places in them
        ("killers", np.int32, (MAX_PLY + 2, 2)),
        ("history", np.int32, (HISTORY_SIZE,)),
        ("history_filled", np.uint8, (HISTORY_SIZE // HISTORY_BLOCK,)),  # whether a block of it has been written to
        # How well moves did after an earlier move, which is the row.
        ("continuation", np.int16, (CONTINUATIONS, CONTINUATION_MOVES, CONTINUATION_MOVES)),
        ("continuation_filled", np.int64),  # whether any entry may be other than 0
        # How well captures did, by moving piece and target, and by captured piece.
        ("captures", np.int16, (CONTINUATION_MOVES, CONTINUATION_PIECES)),
        ("captures_filled", np.int64),  # whether any entry may be other than 0
        ("variation", np.int32, (MAX_PLY + 2, MAX_PLY + 2)),
        ("variation_end", np.int64, (MAX_PLY + 2,)),
        # Counters.
        ("windows", np.int64),  # iterations of a line searched with an aspiration window
        ("windows_missed", np.int64),  # iterations whose value lay outside their first window
        ("fails_low", np.int64),  # aspiration windows
        ("fails_high", np.int64),
        ("researches", np.int64),  # principal variation search
        ("reduced_researches", np.int64),  # reduced searches that raised alpha and were searched again in full depth
        ("null_tries", np.int64),
        ("null_cutoffs", np.int64),
        ("null_verified", np.int64),  # cutoffs that were searched again without the null move
        ("null_refuted", np.int64),  # null cutoffs that the verification refuted
        ("mate_threats", np.int64),  # null searches that came back mated at once
        ("alternations", np.int64),  # aspiration windows that alternated between failing low and high
        ("mtdf_passes", np.int64),
        ("unique_moves", np.int64),  # searches that ended because every other move loses
        ("singular_tries", np.int64),  # table moves compared with all the others
        ("singular_moves", np.int64),  # table moves found singular and extended
        ("predicted_stops", np.int64),  # iterations not begun because they could not end in time
        ("probcuts", np.int64),  # cutoffs that a shallower search predicted
        ("enhanced_cutoffs", np.int64),  # cutoffs by a child's table entry, before any search of a child
        ("table_probes", np.int64),
        ("table_hits", np.int64),
        ("table_cutoffs", np.int64),  # nodes that an entry decided
        ("cutoffs", np.int64),
        ("first_move_cutoffs", np.int64),
    ],
    align=True,
)

COUNTERS = (
    "windows", "windows_missed", "fails_low", "fails_high", "researches", "reduced_researches", "null_tries",
    "null_cutoffs", "null_verified", "null_refuted", "mate_threats", "singular_tries", "singular_moves", "alternations",
    "mtdf_passes", "unique_moves", "predicted_stops", "probcuts", "enhanced_cutoffs", "table_probes", "table_hits",
    "table_cutoffs", "cutoffs",
    "first_move_cutoffs",
)  # fmt: skip
