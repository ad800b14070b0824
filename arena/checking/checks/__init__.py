"""The table of checks, in the order in which they are tried. Each module tries one subject."""

from __future__ import annotations

from collections.abc import Collection

from elolab.arena.checking.checks import (
    ending,
    endurance,
    information,
    interruptions,
    limits,
    moves,
    opening,
    options,
)
from elolab.arena.checking.examination import Check

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
    Check("in_check", moves.in_check),
    Check("only_move", moves.only_move),
    Check("must_pass", moves.must_pass),
    Check("endgame", moves.endgame),
    Check("long_game", moves.long_game),
    Check("repeated", moves.repeated),
    Check("quiet_plies", moves.quiet_plies, is_recommendation=True),
    Check("banned_moves", moves.banned_moves),
    Check("checkmate", moves.checkmate),
    Check("stalemate", moves.stalemate),
    Check("depth", limits.depth),
    Check("nodes", limits.nodes),
    Check("move_time", limits.move_time),
    Check("low_clock", limits.low_clock),
    Check("moves_to_go", limits.moves_to_go),
    Check("information", information.well_formed),
    Check("reported", information.reported, is_recommendation=True),
    Check("variations", information.legal_variations, is_recommendation=True),
    Check("stop", interruptions.stop),
    Check("stop_at_once", interruptions.stop_at_once),
    Check("stop_while_idle", interruptions.stop_while_idle),
    Check("ready_while_thinking", interruptions.ready_while_thinking),
    Check("ponder_hit", interruptions.ponder_hit, is_fresh=True),
    Check("ponder_miss", interruptions.ponder_miss),
    Check("idle", interruptions.idle, is_recommendation=True, is_fresh=True),
    Check("default_options", options.defaults),
    Check("memory_option", options.memory_option),
    Check("threads_option", options.threads_option),
    Check("unknown_option", options.unknown_option),
    Check("garbage", opening.garbage),
    Check("empty_lines", opening.empty_lines),
    Check("line_ends", opening.line_ends, is_recommendation=True),
    Check("illegal_position", moves.illegal_position),
    Check("illegal_move", moves.illegal_move),
    Check("new_game", opening.new_game),
    Check("clock_game", limits.clock_game, is_fresh=True),
    Check("memory", endurance.memory, is_fresh=True),
    Check("quit", ending.farewell),
    Check("quit_while_thinking", ending.farewell_while_thinking),
    Check("end_of_input", ending.end_of_input),
    Check("end_of_input_while_thinking", ending.end_of_input_while_thinking, is_recommendation=True),
    Check("nobody_left", ending.nobody_left),
)


def chosen(only: Collection[str] | None = None, skipped: Collection[str] = ()) -> list[Check]:
    """The checks of these names (or all) with the checks that they need, except the skipped ones."""
    names = {check.name for check in CHECKS} if only is None else set(only)
    for check in reversed(CHECKS):  # what is needed comes before
        if check.name in names:
            names.update(check.needs)
    return [check for check in CHECKS if check.name in names - set(skipped)]
