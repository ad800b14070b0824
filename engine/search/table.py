"""The transposition table: a uint64 array of buckets with two entries each; an entry is two words.

The first word is the key xor the data, so that a torn or foreign entry does not match. The second word holds the data,
from the lowest bit: move 17 bits, score 16 (offset by 32 768), depth 8, bound 2, mate threat 1, search number 5, game
number 15. Entries of other games count as empty, so that a new game does not depend on earlier ones and nothing needs
to be cleared. Mate scores are stored relative to the node. Losses by repetition depend on the path and are not stored.
Every key includes the search's ``history_key``, because values depend on the earlier positions whose next occurrence
would end the game; it is 0 if there are none.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, prefetch, store_word
from elolab.engine.games.assertions import check_entry, check_table_word
from elolab.engine.settings.parameters import choice_code
from elolab.engine.values import BAN_BOUND, MATE_BOUND, MOVE_BITS

NO_BOUND, UPPER_BOUND, LOWER_BOUND, EXACT = range(4)
WORDS_PER_BUCKET = 4
BYTES_PER_BUCKET = 8 * WORDS_PER_BUCKET
CACHE_LINE = 64
SEARCH_NUMBERS = 32
GAME_NUMBERS = 1 << 15
SAMPLE = 1000
"""Number of entries that are sampled to estimate how full the table is."""

ALWAYS = choice_code("replacement", "always")
DEEPER = choice_code("replacement", "deeper")

_SCORE_OFFSET = 32_768
_MOVE_MASK = (1 << MOVE_BITS) - 1
_SCORE_SHIFT = MOVE_BITS
_DEPTH_SHIFT = 33
_BOUND_SHIFT = 41
_THREAT_SHIFT = 43
_SEARCH_SHIFT = 44
_GAME_SHIFT = 49


def allocate(megabytes: int, node_limit: int | None) -> np.ndarray:
    """A zeroed table of at most ``megabytes`` MiB; smaller under a low ``node_limit``. Shape: (4 * buckets,) uint64.

    The size depends only on the two arguments, so that games are reproducible.
    """
    buckets = 1
    while 2 * buckets * BYTES_PER_BUCKET <= megabytes << 20:
        buckets *= 2
    if node_limit is not None:
        enough = 1024
        while enough < 32 * node_limit:
            enough *= 2
        buckets = min(buckets, enough)
    words = buckets * WORDS_PER_BUCKET
    memory = np.zeros(words + CACHE_LINE // 8, np.uint64)
    # Large arrays begin 16 bytes into a page: without alignment, every other bucket would span two cache lines.
    skipped = -memory.ctypes.data % CACHE_LINE // 8
    return memory[skipped : skipped + words]


def permille_in_use(table: np.ndarray, game_number: int, search_number: int) -> int:
    """Share of a table, in thousandths, that holds entries of the given search, estimated from its first ``SAMPLE``
    entries.

    ``table`` is an array made by ``allocate``; the two numbers are the fields ``game_number`` and ``search_number`` of
    the search record.
    """
    data = table[1 : 2 * SAMPLE : 2]
    wanted = game_number << (_GAME_SHIFT - _SEARCH_SHIFT) | search_number
    return round(1000 * float(np.mean(data >> np.uint64(_SEARCH_SHIFT) == np.uint64(wanted))))


@jit
def prefetch_bucket(search, key):
    """Load the bucket for a position's key into the processor's cache in advance."""
    if search.table_mask >= 0:
        key ^= search.history_key
        prefetch(search.table_address + (np.int64(key) & search.table_mask) * BYTES_PER_BUCKET)


@jit
def probe(search, key):
    """Data word of the position's entry (int64); 0 if there is none.

    Read it with ``entry_move``, ``entry_score``, ``entry_depth``, ``entry_bound`` and ``entry_threat``.
    """
    if search.table_mask < 0:
        return np.int64(0)
    search.table_probes += 1
    key ^= search.history_key
    start = (np.int64(key) & search.table_mask) * WORDS_PER_BUCKET
    check_table_word(search, start, WORDS_PER_BUCKET)
    for offset in (0, 2):
        data = load_word(search.table_address, start + offset + 1)
        if load_word(search.table_address, start + offset) ^ data == key:
            entry = np.int64(data)
            if (entry >> _GAME_SHIFT) & (GAME_NUMBERS - 1) == search.game_number and entry_bound(entry) != NO_BOUND:
                search.table_hits += 1
                return entry
    return np.int64(0)


@jit
def entry_move(entry):
    """Best move of an entry, a data word from ``probe``, or the move that caused the cutoff; 0 if none is known."""
    return entry & _MOVE_MASK


@jit
def entry_score(entry, ply):
    """Score of an entry, a data word from ``probe``, for a node at ``ply``; mate scores count from the root."""
    score = ((entry >> _SCORE_SHIFT) & 0xFFFF) - _SCORE_OFFSET
    if score >= MATE_BOUND:
        return score - ply
    if score <= -MATE_BOUND:
        return score + ply
    return score


@jit
def entry_depth(entry):
    """Depth, in plies, of the search that stored an entry, a data word from ``probe``."""
    return (entry >> _DEPTH_SHIFT) & 0xFF


@jit
def entry_bound(entry):
    """Type of the score of an entry, a data word from ``probe``: ``UPPER_BOUND``, ``LOWER_BOUND`` or ``EXACT``."""
    return (entry >> _BOUND_SHIFT) & 3


@jit
def entry_threat(entry):
    """1 if a search after a null move in the position of an entry (a data word) found a mate threat, otherwise 0."""
    return (entry >> _THREAT_SHIFT) & 1


@jit
def is_null_cutoff(entry):
    """Whether a null cutoff stored the entry, as a lower bound without a move; other cutoffs store a move."""
    return entry_bound(entry) == LOWER_BOUND and entry_move(entry) == 0


@jit
def _replaceable(search, entry, depth):
    """Whether an entry may be replaced: it is from another game or search, or not deeper than the new one."""
    if (entry >> _GAME_SHIFT) & (GAME_NUMBERS - 1) != search.game_number:
        return True
    if (entry >> _SEARCH_SHIFT) & (SEARCH_NUMBERS - 1) != search.search_number:
        return True
    return depth >= entry_depth(entry)


@jit
def store(search, key, move, score, depth, bound, ply, threat):
    """Store a search result in the bucket of ``key``; ``threat`` is 1 if a null move showed a mate threat, otherwise 0.

    With the default replacement, the first slot keeps the deepest entry of this search, the second the latest. A null
    cutoff (a lower bound without a move) never replaces a lower bound that has a move.
    """
    if search.table_mask < 0:
        return
    if score >= MATE_BOUND:
        score += ply
    elif score <= -MATE_BOUND:
        score -= ply
    elif score >= BAN_BOUND or score <= -BAN_BOUND:
        return
    key ^= search.history_key
    start = (np.int64(key) & search.table_mask) * WORDS_PER_BUCKET
    check_table_word(search, start, WORDS_PER_BUCKET)
    check_entry(move, score, depth, bound, threat)
    deep = load_word(search.table_address, start + 1)
    deep_key = load_word(search.table_address, start) ^ deep
    last = load_word(search.table_address, start + 3)
    known = np.int64(0)
    if deep_key == key:
        known = np.int64(deep)
    elif load_word(search.table_address, start + 2) ^ last == key:
        known = np.int64(last)
    if known != 0 and (known >> _GAME_SHIFT) & (GAME_NUMBERS - 1) == search.game_number:
        if move == 0 and bound == LOWER_BOUND:
            if entry_bound(known) == LOWER_BOUND and entry_move(known) != 0:
                return
        elif move == 0:
            # An entry without a move keeps the known move.
            move = entry_move(known)
        threat |= entry_threat(known)
    slot = start
    if deep_key != key:
        if search.replacement == ALWAYS or _replaceable(search, np.int64(deep), depth):
            # The entry that leaves the deep slot moves to the other one.
            store_word(search.table_address, start + 2, deep_key ^ deep)
            store_word(search.table_address, start + 3, deep)
        else:
            slot = start + 2
            if search.replacement == DEEPER:
                if not _replaceable(search, np.int64(last), depth):
                    return
    entry = (
        move
        | ((score + _SCORE_OFFSET) << _SCORE_SHIFT)
        | (max(depth, 0) << _DEPTH_SHIFT)
        | (bound << _BOUND_SHIFT)
        | (threat << _THREAT_SHIFT)
        | (search.search_number << _SEARCH_SHIFT)
        | (search.game_number << _GAME_SHIFT)
    )
    data = np.uint64(entry)
    store_word(search.table_address, slot, key ^ data)
    store_word(search.table_address, slot + 1, data)
