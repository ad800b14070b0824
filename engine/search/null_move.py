"""Null move pruning [FN][EE]: conditions, reductions, mate threats and verification.

``engine.settings.parameters`` lists the sources [FN] and [EE].
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.contract import material, null_move_allowed
from elolab.engine.search.table import EXACT, UPPER_BOUND, entry_bound, entry_depth, entry_score, entry_threat
from elolab.engine.settings.parameters import choice_code
from elolab.engine.values import MATE, MATE_BOUND

_VERIFY_ALWAYS = choice_code("null_verify", "always")
_VERIFY_UNLESS_SAFE = choice_code("null_verify", "unless_safe")
_BANNED_IN_SUBTREE = choice_code("null_not_in_verify", "subtree")
_BANNED_AT_ROOT = choice_code("null_not_in_verify", "root")
_GUARD_ANY_ENTRY = choice_code("null_hash_guard", "any_entry")
_GUARD_BOUND = choice_code("null_hash_guard", "bound")
_OFFSET_NULL_DEPTH = choice_code("mate_threat_offset", "null_depth")

NORMAL, AFTER_NULL, VERIFICATION, EXCLUSION = 0, 1, 2, 3
"""Types of nodes. ``NORMAL``: no restriction. ``AFTER_NULL``: no null move is allowed, after a null move or at the root
of an auxiliary search. ``VERIFICATION``: root of a null move verification. ``EXCLUSION``: the table move is excluded,
to test whether it is singular.
"""


@jit
def null_move_banned(search, parameters, node_type):
    """Whether a null move is forbidden at a node: after a null move, or within a verification search.

    ``node_type`` is a type of node such as ``AFTER_NULL``. Parameters select which of these places are forbidden. True
    at every node if null moves are off.
    """
    if parameters.null_move == 0 or node_type == EXCLUSION:
        return True
    if node_type != NORMAL and parameters.null_not_twice != 0:
        return True
    if search.verifying > 0 and parameters.null_not_in_verify == _BANNED_IN_SUBTREE:
        return True
    return node_type == VERIFICATION and parameters.null_not_in_verify >= _BANNED_AT_ROOT


@jit
def null_reduction(parameters, depth):
    """Depth reduction, in plies, of the search after a null move; it includes the ply of the null move itself."""
    if parameters.null_depth_divisor == 0:
        return np.int64(parameters.null_depth)
    return np.int64(parameters.null_depth + depth // parameters.null_depth_divisor)


@jit
def null_evaluation_reduction(parameters, static, beta):
    """Additional reduction, 0 to 3 plies, that grows with the static evaluation's distance above beta."""
    if parameters.null_evaluation_divisor == 0:
        return np.int64(0)
    return min(max(static - beta, 0) // parameters.null_evaluation_divisor, 3)


@jit
def _table_forbids(parameters, entry, beta, depth, ply):
    """Whether the table entry forbids a null move, for instance by a mate threat or a score below beta."""
    if entry == 0:
        return False
    if parameters.null_mate_guard != 0 and entry_threat(entry) != 0:
        return True
    if parameters.null_hash_guard == _GUARD_ANY_ENTRY:
        return True
    if parameters.null_hash_guard == _GUARD_BOUND:
        bound = entry_bound(entry)
        if bound == UPPER_BOUND or bound == EXACT:
            return entry_depth(entry) >= depth - null_reduction(parameters, depth) and entry_score(entry, ply) < beta
    return False


@jit
def may_try_null_move(state, parameters, entry, beta, depth, ply, static, pv_node):
    """Whether the position allows a null move. Each condition depends on a parameter. The caller tests for check.

    ``entry`` is the transposition table entry, 0 for none; ``static`` is the static evaluation; ``pv_node`` is true for
    a node on the principal variation.
    """
    if depth < parameters.null_min_depth:
        return False
    if pv_node and parameters.null_in_pv == 0:
        return False
    # A bound that is itself a mate cannot be reached by passing.
    if beta >= MATE_BOUND or beta <= -MATE_BOUND:
        return False
    if parameters.null_eval_gate != 0 and depth > null_reduction(parameters, depth) and static < beta:
        return False
    if parameters.null_min_material != 0 and material(state) <= parameters.null_min_material:
        return False
    if _table_forbids(parameters, entry, beta, depth, ply):
        return False
    return parameters.null_need_attackers == 0 or null_move_allowed(state)


@jit
def is_mate_threat(parameters, value, ply):
    """Whether ``value``, the score of a null search, means that the opponent threatens mate with the next move."""
    offset = parameters.null_depth if parameters.mate_threat_offset == _OFFSET_NULL_DEPTH else 2
    return value == ply + offset - MATE


@jit
def must_verify(state, parameters, depth):
    """Whether a null cutoff at this depth must be confirmed by a search without the null move."""
    least = parameters.null_verify_min_depth
    if depth < (least if least > 0 else null_reduction(parameters, depth)):
        return False
    if parameters.null_verify == _VERIFY_ALWAYS:
        return True
    return parameters.null_verify == _VERIFY_UNLESS_SAFE and material(state) <= parameters.null_safe_material
