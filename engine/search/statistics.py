"""Optional search statistics, in a record of their own. The search record holds its address; 0 switches them off.

If they are off, the search only tests the address, at rare events: null moves, new root results, ends of iterations.
Statistics do not change the search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, store_word
from elolab.engine.games.contract import material, past_move, piece_count
from elolab.engine.search.clock import elapsed_ns
from elolab.engine.search.records import END_REASONS, NO_LIMIT, RUNNING
from elolab.engine.search_statistics import END_COLUMNS, ITERATION_COLUMNS, MATERIAL_STEP, NULL_COLUMNS
from elolab.engine.values import MATE, MAX_DEPTH, MAX_PLY

MAX_SAMPLES = 16
"""Maximum number of samples of null cutoffs in a search.

When it is reached, every second sample is dropped, and the interval between samples doubles.
"""
_SAMPLE_WORDS = 3 + MAX_PLY  # depth, beta, moves in the path, the path
_MATERIAL_ROWS = 64
_PIECE_ROWS = 129
_DEPTH_ROWS = MAX_PLY

NULL_TRY, NULL_CUTOFF, NULL_VERIFIED, NULL_REFUTED, NULL_SAMPLED, NULL_WRONG, NULL_UNRESOLVED = range(len(NULL_COLUMNS))

_TOTALS = (
    "searches", "nodes", "time_ns", "mate_at_two", "mate_at_null_depth", "last_iteration_nodes", "last_iteration_ns",
    "after_iteration_nodes", "after_iteration_ns", "after_result_nodes", "after_result_ns",
)  # fmt: skip
_TABLES = ("ends", "iterations", "null_by_material", "null_by_pieces", "null_by_depth")

SEARCH_STATISTICS_DTYPE = np.dtype(
    [
        ("search_statistics_record", np.int64),
        # Sums over the searches.
        *((name, np.int64) for name in _TOTALS),
        ("ends", np.int64, (len(END_REASONS), len(END_COLUMNS))),
        ("iterations", np.int64, (MAX_DEPTH + 1, len(ITERATION_COLUMNS))),
        ("null_by_material", np.int64, (_MATERIAL_ROWS, len(NULL_COLUMNS))),
        ("null_by_pieces", np.int64, (_PIECE_ROWS, len(NULL_COLUMNS))),
        ("null_by_depth", np.int64, (_DEPTH_ROWS, len(NULL_COLUMNS))),
        # The running search: start of its iteration, end of the last iteration, last new root result.
        ("began_nodes", np.int64),
        ("began_ns", np.int64),
        ("ended_nodes", np.int64),
        ("ended_ns", np.int64),
        ("result_nodes", np.int64),
        ("result_ns", np.int64),
        ("iteration_nodes", np.int64),
        ("iteration_ns", np.int64),
        # Samples of null cutoffs.
        ("sample_interval", np.int64),  # the setting: null cutoffs between samples; 0 for none
        ("sample_nodes", np.int64),
        ("sample_step", np.int64),  # the interval in force in the running search
        ("sample_wait", np.int64),  # null cutoffs since the last sample, also of earlier searches of the game
        ("sample_count", np.int64),
        ("samples", np.int64, (MAX_SAMPLES, _SAMPLE_WORDS)),
    ]
)
"""Record of one player's statistics. All fields consist of 8-byte words, which compiled code accesses by index."""

PLACE = {name: SEARCH_STATISTICS_DTYPE.fields[name][1] // 8 for name in SEARCH_STATISTICS_DTYPE.names}  # type: ignore[index,union-attr]

# Numbers of words, as the kernels' constants.
_SEARCHES, _NODES, _TIME_NS = PLACE["searches"], PLACE["nodes"], PLACE["time_ns"]
_MATE_AT_TWO, _MATE_AT_NULL_DEPTH = PLACE["mate_at_two"], PLACE["mate_at_null_depth"]
_LAST_ITERATION_NODES, _LAST_ITERATION_NS = PLACE["last_iteration_nodes"], PLACE["last_iteration_ns"]
_AFTER_ITERATION_NODES, _AFTER_ITERATION_NS = PLACE["after_iteration_nodes"], PLACE["after_iteration_ns"]
_AFTER_RESULT_NODES, _AFTER_RESULT_NS = PLACE["after_result_nodes"], PLACE["after_result_ns"]
_ENDS, _ITERATIONS = PLACE["ends"], PLACE["iterations"]
_BY_MATERIAL, _BY_PIECES, _BY_DEPTH = PLACE["null_by_material"], PLACE["null_by_pieces"], PLACE["null_by_depth"]
_BEGAN_NODES, _BEGAN_NS = PLACE["began_nodes"], PLACE["began_ns"]
_ENDED_NODES, _ENDED_NS = PLACE["ended_nodes"], PLACE["ended_ns"]
_RESULT_NODES, _RESULT_NS = PLACE["result_nodes"], PLACE["result_ns"]
_ITERATION_NODES, _ITERATION_NS = PLACE["iteration_nodes"], PLACE["iteration_ns"]
_SAMPLE_INTERVAL, _SAMPLE_NODES, _SAMPLE_STEP = PLACE["sample_interval"], PLACE["sample_nodes"], PLACE["sample_step"]
_SAMPLE_WAIT, _SAMPLE_COUNT, _SAMPLES = PLACE["sample_wait"], PLACE["sample_count"], PLACE["samples"]
_END_WORDS, _ITERATION_WORDS, _NULL_WORDS = len(END_COLUMNS), len(ITERATION_COLUMNS), len(NULL_COLUMNS)


@jit
def _read(search, place):
    return np.int64(load_word(search.search_statistics_address, place))


@jit
def _write(search, place, value):
    store_word(search.search_statistics_address, place, np.uint64(value))


@jit
def _add(search, place, amount):
    _write(search, place, _read(search, place) + np.int64(amount))


# --- Null moves ------------------------------------------------------------------------------------------------------


@jit
def note_null(state, search, column, depth):
    """Count one event of null move pruning at this node, in the tables by own material, number of pieces and remaining
    depth.

    ``column`` is the index of the event in ``NULL_COLUMNS``.
    """
    if search.search_statistics_address == 0:
        return
    row = min(max(material(state), 0) // MATERIAL_STEP, _MATERIAL_ROWS - 1)
    _add(search, _BY_MATERIAL + row * _NULL_WORDS + column, 1)
    row = min(piece_count(state), _PIECE_ROWS - 1)
    _add(search, _BY_PIECES + row * _NULL_WORDS + column, 1)
    row = min(max(depth, 0), _DEPTH_ROWS - 1)
    _add(search, _BY_DEPTH + row * _NULL_WORDS + column, 1)


@jit
def note_null_score(search, parameters, value, ply):
    """Count a null search whose score ``value`` is a mate threat, separately for each definition that
    ``mate_threat_offset`` can select.
    """
    if search.search_statistics_address == 0:
        return
    if value == ply + 2 - MATE:
        _add(search, _MATE_AT_TWO, 1)
    if value == ply + parameters.null_depth - MATE:
        _add(search, _MATE_AT_NULL_DEPTH, 1)


@jit
def note_null_cutoff(state, search, depth, beta, ply):
    """Count a null cutoff. At regular intervals, also store the cutoff as a sample for ``null_samples``.

    A sample has depth, beta, and the moves from the root to the node.
    """
    if search.search_statistics_address == 0:
        return
    note_null(state, search, NULL_CUTOFF, depth)
    step = _read(search, _SAMPLE_STEP)
    if step == 0:
        return
    _add(search, _SAMPLE_WAIT, 1)
    if _read(search, _SAMPLE_WAIT) < step:
        return
    _write(search, _SAMPLE_WAIT, np.int64(0))
    count = _read(search, _SAMPLE_COUNT)
    if count == MAX_SAMPLES:
        count = MAX_SAMPLES // 2
        for kept in range(count):
            for word in range(_SAMPLE_WORDS):
                source = _SAMPLES + (2 * kept + 1) * _SAMPLE_WORDS + word
                _write(search, _SAMPLES + kept * _SAMPLE_WORDS + word, _read(search, source))
        _write(search, _SAMPLE_STEP, 2 * step)
    start = _SAMPLES + count * _SAMPLE_WORDS
    _write(search, start, np.int64(depth))
    _write(search, start + 1, np.int64(beta))
    _write(search, start + 2, np.int64(ply))
    for index in range(ply):
        _write(search, start + 3 + index, np.int64(past_move(state, search.root + index)))
    _write(search, _SAMPLE_COUNT, np.int64(count + 1))


@jit
def sample_count(search):
    """Number of null cutoffs sampled in the last search."""
    return _read(search, _SAMPLE_COUNT)


@jit
def sample_nodes(search):
    """Node limit for searching one sampled null cutoff again without null moves."""
    return _read(search, _SAMPLE_NODES)


@jit
def sample_word(search, number, word):
    """Word number ``word`` of the stored sample number ``number``.

    Word 0 is the remaining depth, word 1 beta, word 2 the number of moves from the root; the moves follow.
    """
    return _read(search, _SAMPLES + number * _SAMPLE_WORDS + word)


# --- Searches and their iterations -----------------------------------------------------------------------------------


@jit
def note_search_start(search):
    """Reset the counts of the current search, at its start."""
    if search.search_statistics_address == 0:
        return
    for place in range(_BEGAN_NODES, _ITERATION_NS + 1):
        _write(search, place, np.int64(0))
    _write(search, _SAMPLE_STEP, _read(search, _SAMPLE_INTERVAL))
    _write(search, _SAMPLE_COUNT, np.int64(0))


@jit
def note_root_result(search):
    """Record nodes and time when the root gets a new best move or score."""
    if search.search_statistics_address == 0:
        return
    _write(search, _RESULT_NODES, search.nodes)
    _write(search, _RESULT_NS, elapsed_ns(search))


@jit
def note_iteration_start(search):
    """Record nodes and time at the start of an iteration."""
    if search.search_statistics_address == 0:
        return
    _write(search, _BEGAN_NODES, search.nodes)
    _write(search, _BEGAN_NS, elapsed_ns(search))


@jit
def note_iteration_end(search, depth):
    """Add the nodes and time of an iteration that was completed at ``depth`` to the sums."""
    if search.search_statistics_address == 0:
        return
    nodes = search.nodes
    now_ns = elapsed_ns(search)
    row = _ITERATIONS + depth * _ITERATION_WORDS
    _add(search, row, 1)
    _add(search, row + 1, nodes - _read(search, _BEGAN_NODES))
    _add(search, row + 2, now_ns - _read(search, _BEGAN_NS))
    _add(search, row + 3, nodes)
    _add(search, row + 4, now_ns)
    _add(search, row + 5, _read(search, _ITERATION_NODES))
    _write(search, _ITERATION_NODES, nodes - _read(search, _BEGAN_NODES))
    _write(search, _ITERATION_NS, now_ns - _read(search, _BEGAN_NS))
    _write(search, _ENDED_NODES, nodes)
    _write(search, _ENDED_NS, now_ns)


@jit
def note_search_end(search):
    """Add a finished search to the sums. Its ``elapsed_ns`` and ``end_reason`` must already be set."""
    if search.search_statistics_address == 0:
        return
    nodes = search.nodes
    time_ns = search.elapsed_ns
    _add(search, _SEARCHES, 1)
    _add(search, _NODES, nodes)
    _add(search, _TIME_NS, time_ns)
    _add(search, _LAST_ITERATION_NODES, _read(search, _ITERATION_NODES))
    _add(search, _LAST_ITERATION_NS, _read(search, _ITERATION_NS))
    if search.stopped != RUNNING:
        _add(search, _AFTER_ITERATION_NODES, nodes - _read(search, _ENDED_NODES))
        _add(search, _AFTER_ITERATION_NS, time_ns - _read(search, _ENDED_NS))
    _add(search, _AFTER_RESULT_NODES, nodes - _read(search, _RESULT_NODES))
    _add(search, _AFTER_RESULT_NS, time_ns - _read(search, _RESULT_NS))
    row = _ENDS + search.end_reason * _END_WORDS
    _add(search, row, 1)
    _add(search, row + 1, nodes)
    _add(search, row + 2, time_ns)
    used_ns = time_ns - search.uncounted_ns
    if search.proper_ns > 0:
        _add(search, row + 3, 1)
        _add(search, row + 4, used_ns)
        _add(search, row + 5, search.proper_ns)
    if search.hard_ns < NO_LIMIT:
        _add(search, row + 6, 1)
        _add(search, row + 7, used_ns)
        _add(search, row + 8, search.hard_ns)


def search_statistics_data(record: Any) -> dict[str, Any]:
    """Convert a statistics record to plain data (see ``engine.search_statistics``), without ``counters``."""
    labels = {
        "ends": END_REASONS,
        "null_by_material": [str(row * MATERIAL_STEP) for row in range(_MATERIAL_ROWS)],
    }
    data: dict[str, Any] = {name: int(record[name]) for name in _TOTALS}
    for name in _TABLES:
        table = record[name]
        rows = [int(row) for row in np.flatnonzero(table.any(axis=1))]
        data[name] = {labels[name][row] if name in labels else str(row): table[row].tolist() for row in rows}
    return data


def clear_search_statistics(record: Any) -> None:
    """Set all counts to 0. Keeps the settings, and the number of null cutoffs since the last sample."""
    for name in (*_TOTALS, *_TABLES):
        record[name] = 0
