"""Finding out which protocol a program speaks, by greeting it in all of them.

Every protocol has a process of its own, for a program may be in any state once it has been told what it does not
understand. They are started one after another, and the first that answers decides: most programs say nothing to what
they do not understand, so that there is nothing else to wait for. What is said and which answer counts is the
protocol's own ``greeting``.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elolab.arena.players.registry import Protocol, protocol_named, protocols
from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from elolab.arena.players.event_loop import EventLoop, Task
    from elolab.arena.records import PlayerSpec

MAX_LINES = 10_000
"""Lines of a program that greets without end before it is taken to speak another protocol."""
HEAD_START_SECONDS = 1.0
"""How long a program may take to answer before it is greeted in the next protocol too, in another process."""
QUOTED = 80
"""Characters of a program's words in messages."""
FAREWELL = "quit"
HINT_SECONDS = 2.0
"""How long each protocol is tried to say what a program speaks that did not answer in its own."""

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
    """Called with a program that does not answer at once, and how many seconds it is given."""
    _found: dict[tuple[Program, str | None], Protocol] = field(default_factory=dict)

    def protocol_of(self, command: Sequence[str], directory: str | None, game: str | None, seconds: float) -> Protocol:
        """The protocol that a program speaks, of those that the game is played over, or of all.

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

    def _find(self, program: Program, game: str | None, seconds: float) -> Protocol:
        candidates = [protocol for protocol in protocols() if protocol.greeting is not None]
        own = [protocol for protocol in candidates if game is None or plays(protocol, game)]
        others = [protocol for protocol in candidates if protocol not in own]  # to say what it is instead
        found, said = greet(program, [*own, *others], seconds, lambda: self.tell_slow(_shown(program), seconds))
        if found is None:
            raise DetectionError(_of_no_protocol(program, own, said, seconds))
        if found in others and game is not None:
            raise DetectionError(_of_another_game(program, found, game))
        return found


def other_protocol(player: PlayerSpec) -> str:
    """In words, which protocol a program speaks that does not answer in the one it is said to; empty if it does."""
    found = spoken_instead((player.command, player.directory), player.protocol)
    return "" if found is None else f'it answers over {found.title}: give protocol = "{found.name}"'


def spoken_instead(program: Program, name: str) -> Protocol | None:
    """The protocol in which a program answers, if it is another than the one of that name."""
    tried = sorted((one for one in protocols() if one.greeting is not None), key=lambda one: one.name != name)
    try:
        found, _ = greet(program, tried, HINT_SECONDS)
    except DetectionError:
        return None
    return None if found is None or found.name == name else found


def plays(protocol: Protocol, game: str) -> bool:
    """Whether the game can be played over the protocol."""
    return protocol.games is None or game in protocol.games


def greet(
    program: Program, protocols: Sequence[Protocol], seconds: float, waiting: Callable[[], None] = lambda: None
) -> tuple[Protocol | None, str]:
    """The first of the protocols in which a program answers, and what it says to the first of all.

    ``seconds`` is what each is given; ``waiting`` is called once all have been tried in vain but time is left. No
    process is left behind. Raises ``DetectionError`` if the program cannot be started.
    """
    from elolab.arena.players.event_loop import EventLoop

    loop = EventLoop()
    attempts: list[_Attempt] = []
    is_waiting = False
    try:
        while not any(attempt.is_understood for attempt in attempts):
            running = [attempt for attempt in attempts if not attempt.has_ended]
            if len(attempts) < len(protocols):
                if all(attempt.age >= HEAD_START_SECONDS for attempt in running):
                    attempts.append(_Attempt(loop, program, protocols[len(attempts)], seconds))
                    continue
            elif not running:
                break
            elif not is_waiting and running[-1].age >= 2 * HEAD_START_SECONDS:
                is_waiting = True
                waiting()
            loop.turn()
    finally:
        for attempt in attempts:
            attempt.close()
        loop.close()
    found = next((attempt.protocol for attempt in attempts if attempt.is_understood), None)
    return found, attempts[0].description


class _Attempt:
    """A process that is greeted over one protocol."""

    def __init__(self, loop: EventLoop, program: Program, protocol: Protocol, seconds: float) -> None:
        from elolab.arena.players.contract import PlayerFault
        from elolab.arena.players.event_loop import Task
        from elolab.arena.players.process import EngineProcess

        self.protocol = protocol
        self.is_understood = False
        self.has_ended = False
        """Whether the program has answered, or will not."""
        self._words = ""
        self._began = time.monotonic()
        try:
            self._process = EngineProcess(*program)
        except PlayerFault as fault:
            raise DetectionError(fault.text) from None
        loop.resume(Task(self._greet(time.monotonic_ns() + round(seconds * 1e9)), self._done))

    @property
    def age(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._began

    async def _greet(self, deadline_ns: int) -> None:
        from elolab.arena.players.process import DeadlinePassed, ProcessEnded

        greeting = self.protocol.greeting
        assert greeting is not None
        try:
            await self._process.send(greeting.lines, deadline_ns)
            for _ in range(MAX_LINES):
                line = await self._process.read_line(deadline_ns)
                self.is_understood = greeting.is_answer(line)
                if self.is_understood:
                    return
                self._words = line.strip() or self._words
                if greeting.is_refusal(line):
                    return
        except (DeadlinePassed, ProcessEnded):
            pass

    def _done(self, task: Task) -> None:
        self.has_ended = True
        if task.error is not None:
            raise task.error

    @property
    def description(self) -> str:
        """What the program said, and how it ended if it did so by itself; after ``close``."""
        said = f"said {self._words[:QUOTED]!r}" if self._words else ""
        return _printable(" and ".join(part for part in (said, self._end) if part))

    def close(self) -> None:
        """End the process."""
        died = self._process.has_died
        self._process.end_now(FAREWELL if self.is_understood else None)
        self._end = self._process.exit.text() if died else ""


def _of_another_game(program: Program, protocol: Protocol, game: str) -> str:
    games = protocol.games or ()
    return (
        f"{_shown(program)} speaks {protocol.title}, over which {' or '.join(games)} is played, not {game}; add --game "
        f'{games[0]} (in a file game = "{games[0]}"), or name another protocol that it speaks'
    )


def _of_no_protocol(program: Program, tried: Sequence[Protocol], said: str, seconds: float) -> str:
    titles = [protocol.title for protocol in tried]
    return (
        f"{_shown(program)} answers in none of the protocols {', '.join(titles)}: greeted in {titles[0]}, it "
        f"{said or f'said nothing within {seconds:g} s'}; check the program and its arguments, or name its protocol"
    )


def _shown(program: Program) -> str:
    return _printable(shlex.join(program[0]))[:QUOTED]


def _printable(text: str) -> str:
    """The text in one line that no terminal takes for anything else."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
