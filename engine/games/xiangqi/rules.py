"""Endings of Xiangqi: mate, stalemate, repetition (Asian and Chinese rules), move limit, insufficient material.

The arbiter (``judge``) and the search (``path_verdict``) use the same implementation. The rule for repetition applies
at the ``fold``-th occurrence of a position, to the moves since the first of these occurrences:

1. If one side gave check with every move and the other did not, the first side loses; if both did, it is a draw.
2. Otherwise, if one side chased the same piece with every move and the other did not, the first side loses; if both
   did, it is a draw.
3. Otherwise it is a draw.

A move *chases* a piece if after it a rook, horse or cannon could legally capture that piece, the attack is new, and the
piece is unprotected, with no legal recapture. An attack is new in two cases: the piece that moved makes it, and is not
a rook or cannon that merely moved along the line of attack; or a piece makes it that did not attack before. An attack
that was only suspended while its general was in check is not new. A horse or cannon that attacks a rook chases it even
if the rook is protected. Generals, and pawns that have not crossed the river, cannot be chased. An attack on a piece of
the same type that could itself legally capture the attacker is an offer to exchange, not a chase.

The Chinese rule (Rules of Xiangqi Competitions of the Chinese Xiangqi Association, 2020, articles 24 to 26) has the
same first step. Its second step punishes *attacks* of all kinds: a side loses if each of its moves gave check,
threatened mate or chased any piece, and this is not true of the other side. If both sides attacked, it is a draw.
There are four differences:

- Advisors and elephants chase too. Attacks by pawns count only if they turn a loss of the other side into a draw.
- A chase must win material if both sides then make their best captures on its square. A rook is worth four units, a
  horse or cannon two, an advisor, elephant or crossed pawn one. A capture that lets the other side mate is not a chase.
- A chase is new if the same piece did not chase the same victim before the move, on any square. So a move that removes
  the victim's protection is a chase, and a move from one chase of a victim to another is not.
- A general that moves out of check chases nothing and threatens no mate.

A threat of mate means that the mover could mate if it were to move again, and could not do so before the move. Threats
of longer mates, and of winning material by a series of checks, are left to referees.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.contract import PATH_DRAW, PATH_LOSS, PATH_OPEN, PATH_WIN, encode_verdict
from elolab.engine.games.repetition import earlier_occurrence, repetition_key_of
from elolab.engine.games.xiangqi.attacks import reaches, slides_to
from elolab.engine.games.xiangqi.moves import count_moves, gives_check, in_check, is_safe
from elolab.engine.games.xiangqi.position import (
    CANNON,
    CHECK_ONLY,
    CHINESE,
    DRAW,
    FILE_OF,
    FIRST_ADVISOR,
    FIRST_HORSE,
    FIRST_PAWN,
    GENERAL,
    HALF_OF,
    HORSE,
    NOWHERE,
    PAWN,
    RANK_OF,
    ROOK,
    SLOT_TYPE,
    SQUARES,
    make,
    unmake,
)
from elolab.engine.values import MATE

FREE_CHECKS = 10
"""Number of checks by each side, since the last capture, that count towards the move limit; later checks do not."""

_OPEN = encode_verdict("*", "unfinished")
_CHECKMATE = (encode_verdict("0-1", "checkmate"), encode_verdict("1-0", "checkmate"))
_STALEMATE = (encode_verdict("0-1", "stalemate"), encode_verdict("1-0", "stalemate"))
_PERPETUAL_CHECK = (encode_verdict("0-1", "perpetual_check"), encode_verdict("1-0", "perpetual_check"))
_PERPETUAL_CHASE = (encode_verdict("0-1", "perpetual_chase"), encode_verdict("1-0", "perpetual_chase"))
_PERPETUAL_ATTACK = (encode_verdict("0-1", "perpetual_attack"), encode_verdict("1-0", "perpetual_attack"))
_REPETITION = encode_verdict("1/2-1/2", "repetition")
_MOVE_LIMIT = encode_verdict("1/2-1/2", "move_limit")
_INSUFFICIENT = encode_verdict("1/2-1/2", "insufficient_material")
# The pairs above are indexed by the side that loses: 0 Red, 1 Black.

_NOBODY, _BOTH = -1, 2

_WORTH = np.array([0, 1, 1, 2, 4, 2, 1], np.int64)
"""Value of each piece type in units of the Chinese repetition rule. A general cannot be captured."""


@jit
def _can_recapture(state, attacker_side, origin, target):
    """Whether the other side can recapture legally after ``attacker_side`` captures from ``origin`` on ``target``."""
    mover = state.side
    state.side = attacker_side
    make(state, origin | (target << 7))
    defender = 1 - attacker_side
    base = (defender + 1) << 4
    found = False
    for slot in range(base, base + 16):
        at = np.int64(state.square[slot])
        if at != NOWHERE and not found and reaches(state, slot, at, target):
            found = is_safe(state, defender, at, target)
    unmake(state)
    state.side = mover
    return found


@jit
def _may_be_chased(slot, at):
    """Whether the rules allow a piece to be chased: any piece except a general, or a pawn that has not crossed the
    river.

    ``slot`` is the piece slot, ``at`` the piece's square.
    """
    kind = SLOT_TYPE[slot]
    if kind == GENERAL:
        return False
    if kind == PAWN:
        return (HALF_OF[at] == 1) if slot < 32 else (HALF_OF[at] == 0)
    return True


@jit
def _worth(slot, at):
    """Value of the piece with piece slot ``slot``, on square ``at``, in units of the Chinese rule.

    The value is 0 for a pawn that has not crossed the river.
    """
    return _WORTH[SLOT_TYPE[slot]] if _may_be_chased(slot, at) else np.int64(0)


@jit
def _exchange(state, target):
    """Material that the side to move wins on ``target`` if both sides make their best captures there, in units of the
    Chinese rule.
    """
    worth = _worth(np.int64(state.board[target]), target)
    best = np.int64(0)
    if worth == 0:
        return best
    side = np.int64(state.side)
    base = (side + 1) << 4
    for slot in range(base, base + 16):
        at = np.int64(state.square[slot])
        if at != NOWHERE and worth > best and reaches(state, slot, at, target) and is_safe(state, side, at, target):
            make(state, at | (target << 7))
            best = max(best, worth - _exchange(state, target))
            unmake(state)
    return best


@jit
def _may_go(state, slot, at, target):
    """Whether the piece with slot ``slot``, on ``at``, can move to ``target``, even if that exposes its own general."""
    other = np.int64(state.board[target])
    if other != 0:
        return (other >> 4) != (slot >> 4) and reaches(state, slot, at, target)
    if SLOT_TYPE[slot] == ROOK or SLOT_TYPE[slot] == CANNON:
        return slides_to(state, at, target)
    return reaches(state, slot, at, target)


@jit
def _can_move(state):
    """Whether the side to move has a legal move. Unlike ``count_moves``, it needs no move lists."""
    side = np.int64(state.side)
    base = (side + 1) << 4
    for slot in range(base, base + 16):
        at = np.int64(state.square[slot])
        if at != NOWHERE:
            for target in range(SQUARES):
                if _may_go(state, slot, at, target) and is_safe(state, side, at, target):
                    return True
    return False


@jit
def _can_mate(state):
    """Whether the side to move has a move that gives checkmate."""
    side = np.int64(state.side)
    base = (side + 1) << 4
    found = False
    for slot in range(base, base + 16):
        at = np.int64(state.square[slot])
        if at == NOWHERE or found:
            continue
        for target in range(SQUARES):
            if not found and _may_go(state, slot, at, target) and is_safe(state, side, at, target):
                move = at | (target << 7)
                if gives_check(state, move):
                    make(state, move)
                    found = not _can_move(state)
                    unmake(state)
    return found


@jit
def _threatens_mate(state, side):
    """Whether ``side`` could give checkmate if it were to move. The other side must not be in check."""
    mover = state.side
    state.side = side
    found = _can_mate(state)
    state.side = mover
    return found


@jit
def _wins_material(state, side, origin, target):
    """Whether ``side``'s capture from ``origin`` on ``target`` wins material and does not allow an immediate mate."""
    worth = _worth(np.int64(state.board[target]), target)
    mover = state.side
    state.side = side
    make(state, origin | (target << 7))
    wins = worth > _exchange(state, target) and not _can_mate(state)
    unmake(state)
    state.side = mover
    return wins


@jit
def _attack_masks(state, side, masks, end, safe_already):
    """For each piece of ``side`` with a slot offset below ``end``, write the enemy pieces that it attacks into
    ``masks``.

    A slot offset is a piece slot minus its side's first slot, 16 or 32. ``masks`` is indexed by the attacker's slot
    offset; bit n of an element stands for the victim with slot offset n. An attack counts if the capture would leave
    the general of ``side`` safe; under the Chinese rule it must also be a chase. ``safe_already`` skips these tests.
    """
    base = (side + 1) << 4
    enemy = 48 - base
    chinese = state.repetition == CHINESE
    for offset in range(FIRST_ADVISOR if chinese else FIRST_HORSE, end):
        attacker = base + offset
        origin = np.int64(state.square[attacker])
        mask = 0
        if origin != NOWHERE:
            for victim in range(enemy + 1, enemy + 16):
                at = np.int64(state.square[victim])
                if at == NOWHERE or not _may_be_chased(victim, at) or not reaches(state, attacker, origin, at):
                    continue
                if not safe_already:
                    if not is_safe(state, side, origin, at) or (
                        chinese and not _is_chase(state, side, attacker, victim)
                    ):
                        continue
                mask |= 1 << (victim - enemy)
        masks[offset] = mask


@jit
def _is_chase(state, side, attacker, victim):
    """Whether an attack is a chase under the rule in force; the module's docstring defines chases.

    ``attacker`` is the piece slot of the attacking piece of ``side``, ``victim`` the piece slot of the attacked piece.
    """
    origin = np.int64(state.square[attacker])
    at = np.int64(state.square[victim])
    kind = SLOT_TYPE[attacker]
    if SLOT_TYPE[victim] == kind and reaches(state, victim, at, origin) and is_safe(state, 1 - side, at, origin):
        return False
    if state.repetition == CHINESE:
        return _wins_material(state, side, origin, at)
    if SLOT_TYPE[victim] == ROOK and kind != ROOK:
        return True
    return not _can_recapture(state, side, origin, at)


@jit
def _chased_by_move(state, move, end):
    """Play ``move`` and return the enemy pieces that it chases. Does not take the move back.

    Bit n of the result stands for the victim with slot offset n. Only pieces with a slot offset below ``end`` count as
    attackers. ``_attack_masks`` defines slot offsets.
    """
    side = np.int64(state.side)
    base = (side + 1) << 4
    enemy = 48 - base
    before = np.zeros(16, np.int64)
    after = np.zeros(16, np.int64)
    # In check, attacks count even if the capture is illegal: they are not new once the check is over.
    _attack_masks(state, side, before, end, in_check(state))
    moved = np.int64(state.board[move & 127])
    origin = move & 127
    target = move >> 7
    make(state, move)
    _attack_masks(state, side, after, end, False)
    chased = 0
    for index in range(end):
        attacker = base + index
        fresh = after[index] & ~before[index]
        if state.repetition == CHINESE:
            chased |= fresh
            continue
        if attacker == moved:
            fresh = after[index]
        for offset in range(1, 16):
            if (fresh >> offset) & 1 == 0 or (chased >> offset) & 1:
                continue
            victim = enemy + offset
            if attacker == moved and SLOT_TYPE[moved] != HORSE:
                at = np.int64(state.square[victim])
                along_file = FILE_OF[origin] == FILE_OF[target] and FILE_OF[target] == FILE_OF[at]
                along_rank = RANK_OF[origin] == RANK_OF[target] and RANK_OF[target] == RANK_OF[at]
                # A slider that moved along the line of its attack already attacked before.
                if (along_file or along_rank) and (before[index] >> offset) & 1:
                    continue
            if _is_chase(state, side, attacker, victim):
                chased |= 1 << offset
    return chased


@jit
def _attacks_by_move(state, move, end):
    """Play ``move``; return -1 if it is an attack under the Chinese rule, otherwise 0. Does not take the move back.

    ``end`` is as for ``_chased_by_move``.
    """
    side = np.int64(state.side)
    evades = in_check(state) and SLOT_TYPE[state.board[move & 127]] == GENERAL
    threatened = _can_mate(state)
    chased = _chased_by_move(state, move, end)
    if in_check(state):
        return -1
    if evades:
        return 0
    return -1 if chased != 0 or (not threatened and _threatens_mate(state, side)) else 0


@jit
def _chaser(state, first, end):
    """The side that chased the same piece with every one of its moves since ply ``first``: 0, 1, ``_NOBODY`` or
    ``_BOTH``.

    Under the Chinese rule, a side counts if each of its moves was an attack on any piece or a mate threat. Only pieces
    with a slot offset below ``end`` count as attackers (see ``_attack_masks``).
    """
    last = np.int64(state.ply)
    score = state.score
    moves = np.zeros(last - first, np.int64)
    for index in range(last - first - 1, -1, -1):
        moves[index] = state.undo_move[first + index]
        unmake(state)
    chased = np.full(2, -1, np.int64)
    for index in range(last - first):
        side = np.int64(state.side)
        if state.repetition == CHINESE:
            chased[side] &= _attacks_by_move(state, moves[index], end)
        else:
            chased[side] &= _chased_by_move(state, moves[index], end)
        in_check(state)
    # Moves before the search may have been scored with other evaluation tables; correct the offset that replay adds.
    offset = score - state.score
    state.score = score
    for ply in range(first, last):
        state.undo_score[ply] += offset
    if chased[0] != 0 and chased[1] != 0:
        return _BOTH
    if chased[0] != 0:
        return 0
    return 1 if chased[1] != 0 else _NOBODY


@jit
def _checker(state, first):
    """The side that gave check with every one of its moves since ply ``first``: 0, 1, ``_NOBODY`` or ``_BOTH``."""
    last = np.int64(state.ply)
    mover = 1 - np.int64(state.side)
    every = 3 if in_check(state) else 3 & ~(1 << mover)
    for ply in range(last - 1, first, -1):
        mover = 1 - mover
        if state.undo_in_check[ply] != 1:
            every &= ~(1 << mover)
    if every == 3:
        return _BOTH
    return every - 1 if every != 0 else _NOBODY


@jit
def _judge_repetition(state, first):
    """Verdict code for the current position under the repetition rule. The same position occurred at ply ``first``."""
    if state.repetition == DRAW:
        return _REPETITION
    checker = _checker(state, first)
    if checker == 0 or checker == 1:
        return _PERPETUAL_CHECK[checker]
    if checker == _BOTH or state.repetition == CHECK_ONLY:
        return _REPETITION
    chaser = _chaser(state, first, FIRST_PAWN)
    if state.repetition == CHINESE:
        # Perpetual attacks by pawns are allowed; they only turn the other side's loss into a draw.
        if (chaser == 0 or chaser == 1) and _chaser(state, first, FIRST_PAWN + 5) != _BOTH:
            return _PERPETUAL_ATTACK[chaser]
    elif chaser == 0 or chaser == 1:
        return _PERPETUAL_CHASE[chaser]
    return _REPETITION


@jit
def _move_limit_reached(state):
    """Whether the move limit is reached. Each side's checks beyond ``FREE_CHECKS`` do not count towards the limit."""
    if state.move_limit == 0 or state.quiet < state.move_limit:
        return False
    checks = np.zeros(2, np.int64)
    last = np.int64(state.ply)
    mover = 1 - np.int64(state.side)
    if in_check(state):
        checks[mover] += 1
    for ply in range(last - 1, last - state.quiet, -1):
        mover = 1 - mover
        if ply >= 0 and state.undo_in_check[ply] == 1:
            checks[mover] += 1
    excess = max(0, checks[0] - FREE_CHECKS) + max(0, checks[1] - FREE_CHECKS)
    return state.quiet - excess >= state.move_limit


@jit
def judge(state, lists):
    side = np.int64(state.side)
    if count_moves(state, lists) == 0:
        return _CHECKMATE[side] if in_check(state) else _STALEMATE[side]
    if state.fold > 1 and state.reversible >= 4:
        first = earlier_occurrence(state, state.fold - 1)
        if first >= 0:
            return _judge_repetition(state, first)
    if state.insufficient != 0 and state.crossers[0] == 0 and state.crossers[1] == 0:
        return _INSUFFICIENT
    if _move_limit_reached(state):
        return _MOVE_LIMIT
    return _OPEN


@jit
def path_verdict(state, root):
    """``PATH_OPEN``, ``PATH_DRAW``, ``PATH_LOSS`` or ``PATH_WIN``; see ``engine.games.contract.path_verdict``."""
    side = np.int64(state.side)
    if state.insufficient != 0 and state.crossers[0] == 0 and state.crossers[1] == 0:
        return PATH_DRAW
    if state.reversible >= 4 and state.fold > 1:
        last = np.int64(state.ply)
        seen = 0
        ply = last - 4
        while ply >= last - state.reversible and ply >= 0:
            if state.undo_key[ply] == state.key:
                seen += 1
                # Within the tree one repetition is enough, since the cycle could go on for ever. Positions of the game
                # are judged by the arbiter's rule, at the full number of occurrences.
                if ply > root:
                    if state.repetition == DRAW:
                        return PATH_DRAW
                    checker = _checker(state, ply)
                    if checker == 0 or checker == 1:
                        return PATH_LOSS if checker == side else PATH_WIN
                    return PATH_DRAW
                if seen == state.fold - 1:
                    result = _judge_repetition(state, ply) & 3
                    if result == 2:
                        return PATH_DRAW
                    return PATH_WIN if result == side else PATH_LOSS
            ply -= 2
    if _move_limit_reached(state):
        return PATH_DRAW
    return PATH_OPEN


@jit
def repetition_key(state):
    return repetition_key_of(state)


@jit
def final_score(state):
    """Always ``-MATE``: a side without a legal move loses, in check or not."""
    return -MATE


@jit
def null_move_allowed(state):
    """Whether the side to move has a rook, a horse, a cannon, or a pawn that has crossed the river."""
    side = np.int64(state.side)
    base = (side + 1) << 4
    for slot in range(base + FIRST_HORSE, base + FIRST_PAWN):
        if state.square[slot] != NOWHERE:
            return True
    for slot in range(base + FIRST_PAWN, base + FIRST_PAWN + 5):
        if _may_be_chased(slot, np.int64(state.square[slot])) and state.square[slot] != NOWHERE:
            return True
    return False
