"""Null move: when skipping the turn may prune a node, and how far its score is believed [FN][EE]."""

from __future__ import annotations

from engine.games.contract import material, null_move_allowed
from engine.kernel import jit
from engine.parameters import choice_code
from engine.values import MATE_BOUND

VERIFY_ALWAYS = choice_code("null_verify", "always")
VERIFY_UNLESS_SAFE = choice_code("null_verify", "unless_safe")


@jit
def may_try_null_move(state, parameters, beta, depth, static, checked, open_window, null_before):
    """Whether the conditions for a null move hold; each but "not in check" is a parameter."""
    if parameters.null_move == 0 or checked or depth < parameters.null_min_depth:
        return False
    if null_before != 0 and parameters.null_not_twice != 0:
        return False
    if open_window and parameters.null_in_pv == 0:
        return False
    # A bound that is itself a mate cannot be reached by passing.
    if beta >= MATE_BOUND or beta <= -MATE_BOUND:
        return False
    if parameters.null_eval_gate != 0 and depth > parameters.null_depth and static < beta:
        return False
    return parameters.null_need_attackers == 0 or null_move_allowed(state)


@jit
def must_verify(state, parameters, depth):
    """Whether a null cutoff at this depth is believed only after a search without it."""
    if depth < parameters.null_depth:
        # The verification would itself be quiescence.
        return False
    if parameters.null_verify == VERIFY_ALWAYS:
        return True
    return parameters.null_verify == VERIFY_UNLESS_SAFE and material(state) <= parameters.null_safe_material
