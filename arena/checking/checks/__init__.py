"""The table of checks, in the order in which they are tried. Each module tries one subject."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from elolab.arena.checking.checks import information, interruptions, limits, moves, opening, options, process
from elolab.arena.checking.examination import Check

OTHER_MEMORY_MIB = 8
OTHER_THREADS = 2

CHECKS = (
    Check("handshake", opening.handshake, needs=()),
    Check("ready", opening.ready, needs=("handshake",)),
    Check("name", opening.name, is_recommendation=True, needs=("handshake",)),
    Check("options", options.announced, needs=("handshake",)),
    Check("start_position", moves.start_position, needs=("handshake",)),
    Check("ranks", moves.ranks),
    Check("single_answer", interruptions.single_answer),
    Check("start_word", moves.start_word),
    Check("told_moves", moves.told_moves),
    Check("described", moves.described),
    Check("in_check", partial(moves.answered, kind="in_check")),
    Check("only_move", partial(moves.answered, kind="only_move")),
    Check("must_pass", moves.must_pass),
    Check("endgame", partial(moves.answered, kind="endgame")),
    Check("long_game", moves.long_game),
    Check("repeated", partial(moves.answered, kind="repeated")),
    Check("quiet_plies", moves.quiet_plies, is_recommendation=True),
    Check("banned_moves", moves.banned_moves),
    Check("checkmate", partial(moves.game_over, kind="over")),
    Check("stalemate", partial(moves.game_over, kind="stalemate")),
    Check("depth", limits.depth),
    Check("nodes", limits.nodes),
    Check("move_time", limits.move_time),
    Check("low_clock", limits.low_clock),
    Check("moves_to_go", limits.moves_to_go),
    Check("information", information.well_formed),
    Check("reported", information.reported, is_recommendation=True),
    Check("variations", information.legal_variations, is_recommendation=True),
    Check("stop", partial(interruptions.stop, at_once=False)),
    Check("stop_at_once", partial(interruptions.stop, at_once=True)),
    Check("stop_while_idle", interruptions.stop_while_idle),
    Check("ready_while_thinking", interruptions.ready_while_thinking),
    Check("ponder_hit", interruptions.ponder_hit, is_fresh=True),
    Check("ponder_miss", interruptions.ponder_miss),
    Check("idle", process.idle, is_recommendation=True, is_fresh=True),
    Check("default_options", options.defaults),
    Check("memory_option", partial(options.changed, name="memory", value=OTHER_MEMORY_MIB)),
    Check("threads_option", partial(options.changed, name="threads", value=OTHER_THREADS)),
    Check("unknown_option", options.unknown),
    Check("garbage", opening.garbage),
    Check("empty_lines", opening.empty_lines),
    Check("line_ends", opening.line_ends, is_recommendation=True),
    Check("illegal_position", moves.illegal_position),
    Check("illegal_move", moves.illegal_move),
    Check("new_game", opening.new_game),
    Check("clock_game", limits.clock_game, is_fresh=True),
    Check("memory", process.memory, is_fresh=True),
    Check("quit", partial(process.ending, farewell=True, thinking=False)),
    Check("quit_while_thinking", partial(process.ending, farewell=True, thinking=True)),
    Check("end_of_input", partial(process.ending, farewell=False, thinking=False)),
    Check(
        "end_of_input_while_thinking", partial(process.ending, farewell=False, thinking=True), is_recommendation=True
    ),
    Check("nobody_left", process.nobody_left),
)


def chosen(only: Collection[str] | None = None, skipped: Collection[str] = ()) -> list[Check]:
    """The checks of these names (or all) with the checks that they need, except the skipped ones."""
    names = {check.name for check in CHECKS} if only is None else set(only)
    for check in reversed(CHECKS):  # what is needed comes before
        if check.name in names:
            names.update(check.needs)
    return [check for check in CHECKS if check.name in names - set(skipped)]
