"""Finding out which protocol a program speaks, by greeting it in one after another.

Each attempt is a process of its own, for a program may be in any state once it has been told what it does not
understand. What is said and which answer counts is the protocol's own ``greeting``. Programs that start slowly are
greeted once more, with all the time that a player has to start.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from arena.players.registry import Protocol, protocol_named, protocols
from engine.errors import UserError

if TYPE_CHECKING:
    from arena.records import PlayerSpec

MAX_LINES = 10_000
"""Lines of a program that greets without end before it is taken to speak another protocol."""
QUICK_SECONDS = 2.0
"""For how long every protocol is tried at first: who does not speak it often says nothing at all."""
QUOTED = 80
"""Characters of a program's words in messages."""
FAREWELL = "quit"

Program = tuple[tuple[str, ...], str | None]
"""A command and its working directory."""


class DetectionError(UserError):
    """A program whose protocol cannot be found; the message says what it answered, and the remedy."""


@dataclass
class ProtocolFinder:
    """Asks programs which protocol they speak, each once."""

    known: Iterable[PlayerSpec] = ()
    """Players of an earlier run: what they spoke is not asked again."""
    tell: Callable[[str, Protocol], None] = lambda program, protocol: None
    """Called with a program and the protocol that was found."""
    tell_slow: Callable[[str, float], None] = lambda program, seconds: None
    """Called with a program that does not answer at once, and how long every protocol is now tried for."""
    _found: dict[tuple[Program, str], Protocol] = field(default_factory=dict)

    def protocol_of(self, command: Sequence[str], directory: str | None, game: str, seconds: float) -> Protocol:
        """The protocol that a program speaks, of those that the game is played over.

        ``seconds`` is the most that each protocol is tried for. Raises ``DetectionError`` in one line.
        """
        program = (tuple(command), directory)
        if (program, game) not in self._found:
            before = [player.protocol for player in self.known if (player.command, player.directory) == program]
            if before:
                return protocol_named(before[0])
            self._found[program, game] = self._find(program, game, seconds)
            self.tell(_shown(program), self._found[program, game])
        return self._found[program, game]

    def _find(self, program: Program, game: str, seconds: float) -> Protocol:
        candidates = [protocol for protocol in protocols() if protocol.greeting is not None]
        own = [protocol for protocol in candidates if plays(protocol, game)]
        others = [protocol for protocol in candidates if protocol not in own]  # to say what it is instead
        said = []
        for protocol in [*own, *others]:
            answer = greet(program, protocol, min(seconds, QUICK_SECONDS))
            if answer.is_understood:
                if protocol in others:
                    raise DetectionError(_of_another_game(program, protocol, game))
                return protocol
            said.append(answer)
        slow = [protocol for protocol, answer in zip(own, said, strict=False) if not answer.end]
        if slow and seconds > QUICK_SECONDS:
            self.tell_slow(_shown(program), seconds)
            for protocol in slow:
                if greet(program, protocol, seconds).is_understood:
                    return protocol
        raise DetectionError(_of_no_protocol(program, own, said))


def plays(protocol: Protocol, game: str) -> bool:
    """Whether the game can be played over the protocol."""
    return protocol.games is None or game in protocol.games


@dataclass(frozen=True)
class Answer:
    """What a program did when it was greeted over one protocol."""

    is_understood: bool
    words: str = ""
    """Its last line, empty if it said nothing."""
    end: str = ""
    """How it ended, where it did by itself."""


def greet(program: Program, protocol: Protocol, seconds: float) -> Answer:
    """Start a program, greet it over a protocol and wait for the answer; raises ``DetectionError`` if it cannot be
    started. Its process is gone afterwards."""
    from arena.players.contract import PlayerFault
    from arena.players.event_loop import run

    try:
        return run(_greet(program, protocol, time.monotonic_ns() + round(seconds * 1e9)))
    except PlayerFault as fault:
        raise DetectionError(fault.text) from None


async def _greet(program: Program, protocol: Protocol, deadline_ns: int) -> Answer:
    from arena.players.process import DeadlinePassed, EngineProcess, ProcessEnded

    greeting = protocol.greeting
    assert greeting is not None
    process = EngineProcess(*program)
    said: deque[str] = deque(maxlen=1)
    is_understood = False
    try:
        await process.send(greeting.lines, deadline_ns)
        for _ in range(MAX_LINES):
            line = await process.read_line(deadline_ns)
            is_understood = greeting.is_answer(line)
            if is_understood:
                break
            said.extend([line] if line.strip() else [])
    except (DeadlinePassed, ProcessEnded):
        pass
    except BaseException:
        await process.end()
        raise
    died = process.has_died
    await process.end(FAREWELL if is_understood else None)
    return Answer(is_understood, "".join(said)[:QUOTED], process.exit_description if died else "")


def _of_another_game(program: Program, protocol: Protocol, game: str) -> str:
    games = " or ".join(protocol.games or ())
    return (
        f"{_shown(program)} speaks {protocol.title}, over which {game} cannot be played, only {games}; is it an engine "
        f"for {games} (--game {(protocol.games or ('',))[0]})? If it speaks another protocol too, name that one"
    )


def _of_no_protocol(program: Program, tried: Sequence[Protocol], answers: Sequence[Answer]) -> str:
    titles = [protocol.title for protocol in tried]
    said = next((answer for answer in answers if answer.words or answer.end), Answer(False))
    told = f"said {said.words!r}" if said.words else "said nothing"
    if said.end:
        told = f"{told} and {said.end}" if said.words else said.end
    return (
        f"{_shown(program)} answers in none of the protocols {', '.join(titles)}: greeted in {titles[0]}, it {told}; "
        "check the program and its arguments, or name its protocol"
    )


def _shown(program: Program) -> str:
    return PurePath(program[0][0]).name if len(program[0]) == 1 else " ".join(program[0])[:QUOTED]
