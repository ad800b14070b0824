"""Protocol detection: send a program the greeting of each protocol until it answers one.

Each protocol gets its own process, because unknown input can leave a program in any state. The processes are started
one after another, and the first answer decides; most programs ignore unknown commands. Each protocol defines its own
``greeting``.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.players.player import GameStopped, PlayerFault
from elolab.arena.players.process import DeadlinePassed, EngineProcess, ProcessEnded
from elolab.arena.players.processors import ANNOUNCED
from elolab.arena.players.registry import Protocol, protocol_named, protocols
from elolab.arena.players.threads import start_thread
from elolab.engine.errors import UserError, argument

if TYPE_CHECKING:
    from elolab.arena.records import PlayerSpec

MAX_LINES = 10_000
"""Maximum number of output lines to read without finding an answer to the greeting of a protocol."""
HEAD_START_SECONDS = 1.0
"""Seconds to wait for an answer before another process is started for the next protocol."""
QUOTED = 80
"""Maximum number of characters of a program's output that a message quotes."""
_OPTION = re.compile(r"option (?:name )?(.+?) type spin\b.*?\bdefault (\d{1,9})\b")
"""Matches an option with a whole number in UCI and UCCI; the groups are its name and its default."""
FAREWELL = "quit"
GAMES_SECONDS = 10.0
"""Seconds to wait for each answer when asking a program which games it plays."""
HINT_SECONDS = 2.0
"""Seconds allowed per protocol to find out which protocol a program really uses, for an error message."""

Program = tuple[tuple[str, ...], str | None]
"""A program: its command with arguments, and its working directory; ``None`` is elolab's working directory."""


class DetectionError(UserError):
    """Raised if the protocol of a program cannot be found; the message quotes its answer and gives the remedy."""


@dataclass
class ProtocolFinder:
    """Detects the protocols of programs and caches them, so that each program is started only once."""

    known: Iterable[PlayerSpec] = ()
    """Players of an earlier run; their programs are assumed to use the same protocol as then."""
    tell: Callable[[str, Protocol], None] = lambda program, protocol: None
    """Function called after each detection with the program's command line and the protocol."""
    tell_slow: Callable[[str, float], None] = lambda program, seconds: None
    """Function called with the command line of a program that has not answered yet, and the maximum wait in seconds."""
    _found: dict[tuple[Program, str | None], Protocol] = field(default_factory=dict)

    def protocol_of(self, command: Sequence[str], directory: str | None, game: str | None, seconds: float) -> Protocol:
        """Detect the protocol of a program among the protocols that support ``game``; ``None`` means any game.

        ``seconds`` is the limit per protocol. Raises ``DetectionError`` if no protocol fits.
        """
        program = (tuple(command), directory)
        among_all = self._found.get((program, None))
        if among_all is not None and game is not None and plays(among_all, game):
            return among_all
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
        others = [protocol for protocol in candidates if protocol not in own]  # to name the protocol in the message
        found, said = greet(program, [*own, *others], seconds, lambda: self.tell_slow(_shown(program), seconds))
        if found is None:
            raise _of_no_protocol(program, own, said, seconds)
        if found in others and game is not None:
            raise _of_another_game(program, found, game)
        return found


def other_protocol(player: PlayerSpec) -> str:
    """Advice for an error message that names the protocol in which a player's program answers.

    Empty if the program answers in no protocol, or in the protocol that is specified.
    """
    found = true_protocol((player.command, player.directory), player.protocol)
    return "" if found is None else f'it answers over {found.title}: give protocol = "{found.name}"'


def true_protocol(program: Program, name: str) -> Protocol | None:
    """Find the protocol in which a program answers; ``None`` if there is none, or if it is the protocol ``name``."""
    tried = sorted((one for one in protocols() if one.greeting is not None), key=lambda one: one.name != name)
    try:
        found, _ = greet(program, tried, HINT_SECONDS)
    except DetectionError:
        return None
    return None if found is None or found.name == name else found


def games_of(program: Program, protocol: Protocol) -> tuple[str, ...]:
    """Find out which games a program plays in a protocol that has several games.

    Returns all games of the protocol if the program does not announce them or cannot be started.
    """
    games = protocol.games or ()
    if protocol.find_games is None:
        return games
    try:
        process = EngineProcess(*program)
    except PlayerFault:
        return games  # starting it to play reports the problem

    def converse(lines: Sequence[str], is_end: Callable[[str], bool]) -> list[str]:
        deadline_ns, heard = time.monotonic_ns() + round(GAMES_SECONDS * 1e9), list[str]()
        try:
            process.send(lines, deadline_ns)
            while not (heard and is_end(heard[-1])) and len(heard) < MAX_LINES:
                heard.append(process.read_line(deadline_ns))
        except (DeadlinePassed, ProcessEnded):
            pass
        return heard

    try:
        return protocol.find_games(converse) or games
    finally:
        process.end(FAREWELL)


def plays(protocol: Protocol, game: str) -> bool:
    """Whether the protocol supports the game."""
    return protocol.games is None or game in protocol.games


def greet(
    program: Program, protocols: Sequence[Protocol], seconds: float, waiting: Callable[[], None] = lambda: None
) -> tuple[Protocol | None, str]:
    """Find the first protocol in which a program answers; ``None`` if there is none.

    Also returns a text with the program's last output after the first protocol's greeting. ``seconds`` is the limit per
    protocol; ``waiting`` is called if all greetings have been sent and none is answered yet. All processes have ended
    on return. Raises ``DetectionError`` if the program cannot be started.
    """

    attempts: list[_Attempt] = []
    try:
        for protocol in protocols:
            attempts.append(_Attempt(program, protocol, seconds))
            if _await_answer(attempts, HEAD_START_SECONDS):
                break
        else:
            if _await_answer(attempts, HEAD_START_SECONDS) is None:
                waiting()
                _await_answer(attempts, None)
    finally:
        for attempt in attempts:
            attempt.close()
    found = next((attempt.protocol for attempt in attempts if attempt.is_understood), None)
    return found, attempts[0].description


def _await_answer(attempts: Sequence[_Attempt], seconds: float | None) -> bool | None:
    """Wait for the answer to a greeting: true if one comes, false once all processes have ended without an answer.

    Returns ``None`` if neither happens within ``seconds``.
    """
    until = None if seconds is None else time.monotonic() + seconds
    while not any(attempt.is_understood for attempt in attempts):
        tasks = [attempt.task for attempt in attempts if not attempt.task.done()]
        left = None if until is None else until - time.monotonic()
        if not tasks or (left is not None and left <= 0):
            return None if tasks else False
        wait(tasks, left, FIRST_COMPLETED)
    return True


class _Attempt:
    """A process of the program that receives the greeting of one protocol."""

    def __init__(self, program: Program, protocol: Protocol, seconds: float) -> None:
        from elolab.engine.engine import StopFlag

        self.protocol = protocol
        self.is_understood = False
        self._words = ""
        self._program, self._defaults = program, dict[str, int]()
        try:
            self._process = EngineProcess(*program)
        except PlayerFault as fault:
            raise DetectionError(fault.text) from None
        self._stop = StopFlag()
        self.task = start_thread(self._greet, time.monotonic_ns() + round(seconds * 1e9))

    def _greet(self, deadline_ns: int) -> None:
        greeting = self.protocol.greeting
        assert greeting is not None
        try:
            self._process.send(greeting.lines, deadline_ns)
            for _ in range(MAX_LINES):
                line = self._process.read_line(deadline_ns, self._stop)
                if option := _OPTION.match(line):
                    self._defaults[option[1].lower()] = int(option[2])
                self.is_understood = greeting.is_answer(line)
                if self.is_understood:
                    ANNOUNCED[self._program] = self._defaults
                    return
                self._words = line.strip() or self._words
                if greeting.is_refusal(line):
                    return
        except (DeadlinePassed, ProcessEnded, GameStopped):
            pass

    @property
    def description(self) -> str:
        """The program's last output and, if it ended by itself, the way it ended; call this after ``close``."""
        said = f"said {self._words[:QUOTED]!r}" if self._words else ""
        return _printable(" and ".join(part for part in (said, self._end) if part))

    def close(self) -> None:
        """End the process."""
        self._stop.set()
        wait([self.task])
        died = self._process.has_died
        self._process.end(FAREWELL if self.is_understood else None)
        self._end = self._process.exit.text() if died else ""


def _of_another_game(program: Program, protocol: Protocol, game: str) -> DetectionError:
    games = protocol.games or ()
    return DetectionError(
        f"{_shown(program)} speaks {protocol.title}, over which {' or '.join(games)} is played, not {game}",
        f'add {argument("game", games[0])} (in a file game = "{games[0]}"), or name another protocol that it speaks',
    )


def _of_no_protocol(program: Program, tried: Sequence[Protocol], said: str, seconds: float) -> DetectionError:
    titles = [protocol.title for protocol in tried]
    return DetectionError(
        f"{_shown(program)} answers in none of the protocols {', '.join(titles)}: greeted in {titles[0]}, it "
        f"{said or f'said nothing within {seconds:g} s'}",
        "check the program and its arguments, or name its protocol",
    )


def _shown(program: Program) -> str:
    """The command of a program, within ``QUOTED`` characters: without the folder of the program if that is too long."""
    path, *arguments = program[0]
    text = shlex.join((path, *arguments))
    return _printable(text if len(text) <= QUOTED else shlex.join((Path(path).name, *arguments)))[:QUOTED]


def _printable(text: str) -> str:
    """The text with every control character replaced by ``?``, so that it is safe on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
