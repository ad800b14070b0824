"""Players that misbehave, over every protocol, and what has to be said of the games that they lose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from elolab.arena.records import PlayerSpec
from elolab.engine.settings.limits import Limits
from tests.support import othello_match, xiangqi_match


@dataclass(frozen=True)
class Speaker:
    """How a protocol is told to play."""

    game: str
    limit: str
    """Without a clock; empty for a level of the engine's own."""
    question: str
    """What asks for a move."""
    clock: str = ""
    """A time a move; empty where the protocol has none."""
    late_seconds: float = 0.0
    """Later than that and the margin, but before the engine is taken to hang."""

    lacks: frozenset[str] = frozenset()
    """Modes for which the protocol has no words."""


SPEAKERS = {
    "uci": Speaker("xiangqi", "nodes=100", "> go ", "move_time=0.2", 0.32),
    "ucci": Speaker("xiangqi", "depth=3", "> go ", "move_time=0.2", 0.32),
    "ucicyclone": Speaker("xiangqi", "depth=3", "> go ", "move_time=0.2", 0.32),
    "xboard": Speaker("xiangqi", "depth=3", "> go ", "move_time=1", 1.12, frozenset({"none"})),
    "gtp": Speaker("othello", "", " genmove b", "move_time=1", 1.12, frozenset({"until_stop"})),
    "nboard": Speaker("othello", "depth=4", "> go ", lacks=frozenset({"none"})),
}


class Fault(NamedTuple):
    """A way to lose a game."""

    mode: str
    """Of the mock engine."""
    reason: str
    text: str
    """A regular expression that the record's text matches."""
    on_clock: bool = False
    plies: int = 2
    """So long was the game."""


WATCHED = r"no move within 1 s, the watchdog's deadline"
ENDED = "ended when it had to move"
OVERDUE = r"no move after [\d.]+ s \((?:remaining|move) time plus \d+ ms margin\)"
FAULTS = (
    Fault("exit", "crash", f"{ENDED}: exited with code 5; the end of its error output: assertion failed: alpha < beta"),
    Fault("segfault", "crash", rf"{ENDED}: killed by signal 11 \(SIGSEGV\)"),
    Fault("child_holds_pipe", "crash", f"{ENDED}: exited with code 5"),
    Fault("leave", "crash", "ended wh(?:en|ile) it .*: exited with code 0", plies=4),
    Fault("illegal", "illegal_move", r"illegal move '\w+' after 2 plies"),
    Fault("garbage", "illegal_move", "xyzzy.*is not a move"),
    Fault("empty", "no_move", "answered '(?:bestmove|move|=|=== ?|= )'.*loss: under the rules in force"),
    Fault(
        "none",
        "no_move",
        r"(?:\(none\)|nobestmove|rather not).*asked again, it answered.*loss: under the rules in force",
    ),
    Fault("hang", "no_answer", rf"{WATCHED}; it (?:said nothing|last said ')"),
    Fault("deaf", "no_answer", f"{WATCHED}|did not answer ping", plies=4),
    Fault("info_flood", "no_answer", rf"{WATCHED}; it last said '"),
    Fault("byte_flood", "no_answer", rf"{WATCHED}; its last line is longer than 65536 bytes and has not ended: 'x"),
    Fault("until_stop", "no_answer", WATCHED),
    Fault("until_stop", "time_forfeit", f"{OVERDUE}$", on_clock=True, plies=0),
    Fault("hang", "no_answer", OVERDUE, on_clock=True, plies=0),
    # On a busy machine its move may be seen before that it is overdue.
    Fault("late", "time_forfeit", rf"{OVERDUE}|moved after [\d.]+ s with", on_clock=True, plies=0),
    Fault("info_flood", "no_answer", OVERDUE, on_clock=True, plies=0),
    Fault("byte_flood", "no_answer", OVERDUE, on_clock=True, plies=0),
)


ENDINGS = {"xiangqi": "repetition", "othello": "final_score"}
"""How games end in which nothing goes wrong."""


class Case(NamedTuple):
    protocol: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.protocol} {self.fault.mode}{' on the clock' if self.fault.on_clock else ''}"


CASES = [
    Case(protocol, fault) for protocol, speaker in SPEAKERS.items() for fault in FAULTS
    if fault.mode not in speaker.lacks and (speaker.clock or not fault.on_clock)
]  # fmt: skip
CANNOT_BE_STOPPED = {"xboard", "gtp"}
"""Protocols in which a program that thinks cannot be asked whether it hears."""


def reason_of(case: Case) -> str:
    """The reason of the loss."""
    if case.fault.on_clock and case.protocol in CANNOT_BE_STOPPED:
        return "time_forfeit"
    return case.fault.reason


def player(protocol: str, mode: str, *, on_clock: bool = False, **settings: object) -> PlayerSpec:
    """A mock engine."""
    speaker = SPEAKERS[protocol]
    limit = speaker.clock if on_clock else speaker.limit
    limits = Limits.parse(limit) if limit else Limits()
    settings |= {"seconds": speaker.late_seconds}
    if protocol == "uci":
        spec = replace(xiangqi_match.mock_spec("ucci", mode, settings=settings), protocol="uci", limits=limits)
        program = xiangqi_match.MOCK.replace("mock_xiangqi", "mock")
        command = tuple(program if word == xiangqi_match.MOCK else word for word in spec.command)
        return replace(spec, command=command, watchdog_ms=1000)
    if speaker.game == "othello":
        return othello_match.mock_spec(protocol, mode, limits, settings=settings, watchdog_ms=1000)
    return xiangqi_match.mock_spec(protocol, mode, str(limits), settings=settings, watchdog_ms=1000)
