"""The table of checks in the order in which they run; each module has the checks of one subject."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from elolab.arena.checking.checks import (
    information_checks,
    interruption_checks,
    limit_checks,
    move_checks,
    option_checks,
    process_checks,
    start_checks,
)
from elolab.arena.checking.examination import Check

OTHER_MEMORY_MIB = 8
OTHER_THREADS = 2

CHECKS = (
    Check("handshake", start_checks.handshake, needs=()),
    Check("ready", start_checks.ready, needs=("handshake",)),
    Check("name", start_checks.name, is_recommendation=True, needs=("handshake",)),
    Check("options", option_checks.announced, needs=("handshake",)),
    Check("start_position", move_checks.start_position, needs=("handshake",)),
    Check("ranks", move_checks.ranks),
    Check("single_answer", interruption_checks.single_answer),
    Check("start_word", move_checks.start_word),
    Check("told_moves", move_checks.told_moves),
    Check("described", move_checks.described),
    Check("in_check", partial(move_checks.answered, kind="in_check")),
    Check("only_move", partial(move_checks.answered, kind="only_move")),
    Check("must_pass", move_checks.must_pass),
    Check("endgame", partial(move_checks.answered, kind="endgame")),
    Check("long_game", move_checks.long_game),
    Check("repeated", partial(move_checks.answered, kind="repeated")),
    Check("quiet_plies", move_checks.quiet_plies, is_recommendation=True),
    Check("banned_moves", move_checks.banned_moves),
    Check("checkmate", partial(move_checks.game_over, kind="over")),
    Check("stalemate", partial(move_checks.game_over, kind="stalemate")),
    Check("depth", limit_checks.depth),
    Check("nodes", limit_checks.nodes),
    Check("move_time", limit_checks.move_time),
    Check("low_clock", limit_checks.low_clock),
    Check("moves_to_go", limit_checks.moves_to_go),
    Check("information", information_checks.well_formed),
    Check("reported", information_checks.reported, is_recommendation=True),
    Check("variations", information_checks.legal_variations, is_recommendation=True),
    Check("stop", partial(interruption_checks.stop, at_once=False)),
    Check("stop_at_once", partial(interruption_checks.stop, at_once=True)),
    Check("stop_while_idle", interruption_checks.stop_while_idle),
    Check("ready_while_thinking", interruption_checks.ready_while_thinking),
    Check("ponder_hit", interruption_checks.ponder_hit, is_fresh=True),
    Check("ponder_miss", interruption_checks.ponder_miss),
    Check("idle", process_checks.idle, is_recommendation=True, is_fresh=True),
    Check("default_options", option_checks.defaults),
    Check("memory_option", partial(option_checks.changed, name="memory", value=OTHER_MEMORY_MIB)),
    Check("threads_option", partial(option_checks.changed, name="threads", value=OTHER_THREADS)),
    Check("unknown_option", option_checks.unknown),
    Check("garbage", start_checks.garbage),
    Check("empty_lines", start_checks.empty_lines),
    Check("line_ends", start_checks.line_ends, is_recommendation=True),
    Check("illegal_position", move_checks.illegal_position),
    Check("illegal_move", move_checks.illegal_move),
    Check("new_game", start_checks.new_game),
    Check("clock_game", limit_checks.clock_game, is_fresh=True),
    Check("memory", process_checks.memory, is_fresh=True),
    Check("quit", partial(process_checks.ending, farewell=True, thinking=False)),
    Check("quit_while_thinking", partial(process_checks.ending, farewell=True, thinking=True)),
    Check("end_of_input", partial(process_checks.ending, farewell=False, thinking=False)),
    Check(
        "end_of_input_while_thinking",
        partial(process_checks.ending, farewell=False, thinking=True),
        is_recommendation=True,
    ),
    Check("nobody_left", process_checks.nobody_left),
)


def chosen(only: Collection[str] | None = None, skipped: Collection[str] = ()) -> list[Check]:
    """The checks named in ``only`` (default: all) and the checks that they need.

    Checks named in ``skipped`` are left out, even if another check needs them.
    """
    names = {check.name for check in CHECKS} if only is None else set(only)
    for check in reversed(CHECKS):  # a needed check comes earlier in the table
        if check.name in names:
            names.update(check.needs)
    return [check for check in CHECKS if check.name in names - set(skipped)]
