"""Faults of players that ended games: crashes, missing answers, illegal or missing moves, losses on time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elolab.arena.players.player import Fault, late_move_fault, stored_fault
from elolab.arena.records import GameRecord
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue

FORFEITS = ("crash", "no_answer", "illegal_move", "time_forfeit", "no_move")
"""Reasons for the end of a game that are a player's fault; a subset of ``engine.rules.REASONS``.

A game that ends by ``no_move`` may be a draw; a game that ends for another of these reasons is lost by the player.
"""
FAULTS_SHOWN = 4
"""Maximum number of kinds of faults that a report describes one by one."""
STOP_AFTER_FAULTS = 10
"""Default number of consecutive games that a player may lose by faults before a run stops."""
TIME_LOSSES_PERCENT = 1
"""Percentage of games lost on time above which a report warns that load on the machine has influenced the ratings."""


FAULT_COLUMNS = ("player", "reason", "games", "number", "text")


@dataclass(frozen=True)
class FaultCount:
    """The number of games that one player ended by one kind of fault."""

    player: str
    reason: str
    """Kind of fault: one of ``FORFEITS``."""
    games: int
    number: int
    """Index in the schedule, from 0, of the first game with this fault."""
    fault: Fault | None
    """Description of the first fault; ``None`` if only the reason is known."""
    drawn: int = 0
    """Number of games with this fault that were drawn."""

    @property
    def lost(self) -> int:
        """Number of games with this fault that the player lost."""
        return self.games - self.drawn

    @property
    def text(self) -> str:
        """Description of the first fault, in English; empty if only the reason is known."""
        return "" if self.fault is None else self.fault.text(DEFAULT_LANGUAGE)

    @property
    def data(self) -> dict[str, Any]:
        """Maps the columns ``FAULT_COLUMNS`` to their values, for JSON and tables."""
        return {name: getattr(self, name) for name in FAULT_COLUMNS}


def cause_of(record: GameRecord) -> tuple[str, Fault | None] | None:
    """The name of the player whose fault ended a game, and the fault; ``None`` if no fault ended the game.

    The fault itself is ``None`` if only the reason is known.
    """
    if record.reason not in FORFEITS:
        return None
    found = stored_fault(record.detail)
    if found is not None:
        return found
    # A built-in player lost on time in compiled code.
    late = record.detail.get("late_move")
    fault = None if late is None else late_move_fault(late["elapsed_ms"], late["allowed_ms"], late.get("margin_ms", 0))
    return (record.second if record.result == "1-0" else record.first), fault


class FaultCounter:
    """Counts faults by player and kind. Games must be added in schedule order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], FaultCount] = {}

    def add(self, record: GameRecord) -> None:
        """Count a game if a fault ended it."""
        cause = cause_of(record)
        if cause is None:
            return
        player, fault = cause
        before = self._found.get((player, record.reason))
        if before is None:
            before = FaultCount(player, record.reason, 0, record.pairing.number, fault)
        drawn = before.drawn + (record.result == "1/2-1/2")
        self._found[player, record.reason] = replace(before, games=before.games + 1, drawn=drawn)

    def counts(self) -> tuple[FaultCount, ...]:
        """The counts for each player and kind of fault, most frequent first."""
        return tuple(sorted(self._found.values(), key=lambda fault: -fault.games))


def faults_of(records: Iterable[GameRecord]) -> tuple[FaultCount, ...]:
    """Count the faults that ended games, by player and kind, most frequent first.

    ``records`` must be in schedule order.
    """
    counter = FaultCounter()
    for record in records:
        counter.add(record)
    return counter.counts()


class FaultStreaks:
    """Counts how many consecutive games each player ended by a fault. Games are added in the order of their end."""

    def __init__(self, most: int) -> None:
        """Start before the first game.

        After ``most`` consecutive games that one player ended by faults, ``reason`` describes them. If ``most`` is 0,
        ``reason`` always remains empty.
        """
        self._most = most
        self._streaks: Counter[str] = Counter()
        self.reason = ""
        """A sentence on the first player with too many consecutive faults, and its last fault; empty before that."""

    def add(self, record: GameRecord) -> None:
        """Update the numbers of consecutive faults of both players of a game, and ``reason``."""
        cause = cause_of(record)
        for name in {record.first, record.second}:
            self._streaks[name] = self._streaks[name] + 1 if cause is not None and cause[0] == name else 0
        if cause is None or self.reason or self._streaks[cause[0]] != self._most:
            return
        player, fault = cause
        say = Catalogue("elolab.arena", DEFAULT_LANGUAGE)
        count = FaultCount(player, record.reason, 1, record.pairing.number, fault, record.result == "1/2-1/2")
        last = fault_text(count, say, DEFAULT_LANGUAGE).removesuffix(".")
        self.reason = f"player {player!r} failed in {self._most} game{'s' * (self._most > 1)} in a row; {last}"


def fault_sentences(faults: Sequence[FaultCount], say: Catalogue, language: str) -> list[str]:
    """Sentences on the first ``FAULTS_SHOWN`` kinds of faults, and one on the number of other kinds.

    ``faults`` must be sorted, most frequent first; ``say`` is the message catalogue of ``arena``.
    """
    found = [fault_text(fault, say, language) for fault in faults[:FAULTS_SHOWN]]
    if len(faults) > FAULTS_SHOWN:
        found.append(say("fault.more", count=len(faults) - FAULTS_SHOWN))
    return found


def fault_text(fault: FaultCount, say: Catalogue, language: str) -> str:
    """A sentence on the games that a player ended by one kind of fault; ``say`` is the catalogue of ``arena``."""
    how = say(f"lost_by.{fault.reason}")
    key = "fault.no_move" if fault.drawn else "fault.one" if fault.games == 1 else "fault.many"
    lost = say(key, player=fault.player, games=fault.games, number=fault.number, how=how)
    if fault.fault is None:
        return say("fault.unexplained", lost=lost)
    return say("fault.explained", lost=lost, text=fault.fault.text(language))


def time_loss_warnings(faults: Iterable[FaultCount], games: int, say: Catalogue) -> list[str]:
    """A list with one warning if more than ``TIME_LOSSES_PERCENT`` of all games were lost on time, otherwise empty.

    ``faults`` were counted in ``games`` games; ``say`` is the message catalogue of ``arena``.
    """
    lost = Counter({fault.player: fault.games for fault in faults if fault.reason == "time_forfeit"})
    if 100 * lost.total() <= TIME_LOSSES_PERCENT * games:
        return []
    players = [say("fault.time_of", player=player, games=count) for player, count in lost.most_common()]
    more = [] if len(players) <= FAULTS_SHOWN else [say("fault.time_more", count=len(players) - FAULTS_SHOWN)]
    percent = f"{100 * lost.total() / games:.3g}"
    listed = say("fault.comma").join([*players[:FAULTS_SHOWN], *more])
    return [say("fault.time_losses", lost=lost.total(), games=games, percent=percent, players=listed)]
