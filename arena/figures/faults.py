"""What players forfeited games by: crashes, silence, illegal moves, losses on time, and what caused them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from arena.records import GameRecord
from engine.language import Catalogue

FORFEITS = ("crash", "no_answer", "illegal_move", "time_forfeit")
"""Reasons (``engine.rules.REASONS``) of games that were lost by a fault, not over the board."""
FAULTS_SHOWN = 4
"""Kinds of faults that are told one by one."""


@dataclass(frozen=True)
class FaultCount:
    """The games that one player forfeited for one reason."""

    player: str
    reason: str
    """One of ``FORFEITS``."""
    games: int
    number: int
    """The first of them."""
    text: str
    """What happened there, without the player's name; empty where nothing but the reason is known."""


def cause_of(record: GameRecord) -> tuple[str, str] | None:
    """Who forfeited a game and what it did, without its name; ``None`` for a game that ended otherwise."""
    if record.reason not in FORFEITS:
        return None
    fault = record.detail.get("fault")
    if fault is None:  # a built-in player's time
        return (record.second if record.result == "1-0" else record.first), ""
    player: str = fault["player"]
    return player, fault["text"].removeprefix(f"{player}: ")


class FaultCounter:
    """Counts faults game by game, in schedule order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], FaultCount] = {}

    def add(self, record: GameRecord) -> None:
        """Count what a game was forfeited by, if it was."""
        cause = cause_of(record)
        if cause is None:
            return
        player, text = cause
        before = self._found.get((player, record.reason))
        self._found[player, record.reason] = (
            FaultCount(player, record.reason, 1, record.pairing.number, text)
            if before is None
            else replace(before, games=before.games + 1)
        )

    def counts(self) -> tuple[FaultCount, ...]:
        """Every player's faults by their reasons, the most frequent first."""
        return tuple(sorted(self._found.values(), key=lambda fault: -fault.games))


def faults_of(records: Iterable[GameRecord]) -> tuple[FaultCount, ...]:
    """What games were forfeited by, as ``FaultCounter`` counts it."""
    counter = FaultCounter()
    for record in records:
        counter.add(record)
    return counter.counts()


def fault_sentences(
    faults: Sequence[FaultCount],
    say: Callable[..., str],
    language: str,
    shown: Callable[[str], str] = str,
    quoted: Callable[[str], str] = str,
) -> list[str]:
    """The most frequent faults, a sentence each as of ``fault_text``, and how many other kinds there were."""
    found = [fault_text(fault, say, language, shown, quoted) for fault in faults[:FAULTS_SHOWN]]
    if len(faults) > FAULTS_SHOWN:
        found.append(say("fault.more", count=len(faults) - FAULTS_SHOWN))
    return found


def fault_text(
    fault: FaultCount,
    say: Callable[..., str],
    language: str,
    shown: Callable[[str], str] = str,
    quoted: Callable[[str], str] = str,
) -> str:
    """One sentence on a player's forfeited games; ``say`` are the messages of ``arena``.

    ``shown`` marks up a name, and ``quoted`` what happened, which is English.
    """
    reason = Catalogue("engine", language).name_of("ending", fault.reason)
    games = say("fault.game_one" if fault.games == 1 else "fault.game_many", games=fault.games, number=fault.number)
    key = "fault.told" if fault.text else "fault.untold"
    return say(key, player=shown(fault.player), reason=reason, games=games, text=quoted(fault.text))
