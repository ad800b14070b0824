"""A match played by a user's program: a command line with placeholders, whose output ends with the outcomes."""

from __future__ import annotations

import json
import random
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.players.supervisor import SUPERVISOR, kill_group
from elolab.arena.run import plain
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.parameters import Value

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

Match = Callable[[dict[str, Value], dict[str, Value], int, int], float | Sequence[int]]
"""A function that plays a match: it receives two sets of values, a number of game pairs and a seed.

It returns one of three results, from the first set's point of view:

- the numbers of pairs with each outcome, from two losses to two wins
- the numbers of games won, drawn and lost
- for a single pair, the share of the points, from 0 to 1
"""
PLACEHOLDERS = ("a", "b", "pairs", "seed")
"""Placeholders of a command: the paths of two JSON files with values by name, the number of game pairs, and a seed."""
REQUIRED = PLACEHOLDERS[:3]
ATTEMPTS = 3
"""Maximum number of attempts to play a match. After the last one the study stops."""
POLL_SECONDS = 0.1
"""Seconds between two checks of the stop flag while a command runs."""
LEAVE_SECONDS = 2.0
"""Seconds that a command's processes have to end after SIGTERM; after that they are killed."""

_COUNTS = re.compile(r"[\[(]?\s*\d+(?:[\s,]+\d+){2,4}\s*[\])]?")


class MatchFailure(UserError):
    """Raised if a command still plays no match after ``ATTEMPTS`` attempts."""

    exit_code = 1


class MatchCommand:
    """A match for ``PairedObjective`` that a command plays; ``where`` names the command's file in errors.

    Once ``stop`` is set, calls raise ``KeyboardInterrupt``, running commands end with all their processes, and the
    matches of these commands are lost. The processes also end if elolab dies.
    """

    def __init__(self, command: str, where: str, stop: StopFlag | None = None) -> None:
        self._where, self._stop = where, stop
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise ConfigurationError(f"{where}: command = {command!r}: {error}") from None
        found = {name for word in self._words for name in re.findall(r"\{(\w+)\}", word)}
        unknown = next((name for name in sorted(found) if name not in PLACEHOLDERS), None)
        missing = next((name for name in REQUIRED if name not in found), None)
        if unknown is not None or missing is not None:
            problem = f"{{{missing}}} is missing" if unknown is None else f"there is no {{{unknown}}}"
            raise ConfigurationError(
                f"{where}: command = {command!r}: {problem}", "expected {a}, {b}, {pairs} and perhaps {seed}"
            )

    def __call__(self, one: Mapping[str, Value], other: Mapping[str, Value], pairs: int, seed: int) -> tuple[int, ...]:
        """Play the match; return the number of pairs with each outcome, from two losses of the first set to two wins.

        Raises ``MatchFailure`` if the command fails ``ATTEMPTS`` times.
        """
        with tempfile.TemporaryDirectory(prefix="elolab-match-") as name:
            texts = {"pairs": str(pairs), "seed": str(seed)}
            for place, values in (("a", one), ("b", other)):
                path = Path(name) / f"{place}.json"
                path.write_text(json.dumps(dict(values), ensure_ascii=False) + "\n", "utf-8")
                texts[place] = str(path)
            words = [re.sub(r"\{(\w+)\}", lambda found: texts[found[1]], word) for word in self._words]
            reason = ""
            for _ in range(ATTEMPTS):
                try:
                    return self._played(words, pairs, seed).counts
                except UserError as error:
                    reason = str(error)
                if self._is_stopped():
                    raise KeyboardInterrupt
        raise MatchFailure(
            f"{self._where}: command: {shlex.join(self._words)}: {reason} ({ATTEMPTS} times)",
            "all matches before are stored: mend it and give the same command again",
        )

    def _is_stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def _played(self, words: list[str], pairs: int, seed: int) -> Pentanomial:
        if self._is_stopped():
            raise KeyboardInterrupt
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                errors="replace", start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UserError(f"cannot be started: {error.strerror}") from None
        SUPERVISOR.watch(process.pid)
        try:
            output, complaints = self._outputs_of(process)
        finally:
            SUPERVISOR.release(process.pid)
        if process.returncode:
            raise UserError(f"exit code {process.returncode}{_last_line(complaints, ': ')}")
        last = _last_line(output)
        if not _COUNTS.fullmatch(last):
            raise UserError(
                f"its last line is {last!r}, expected the numbers of pairs LL LD even WD WW, or of games won, drawn "
                "and lost"
            )
        return counts_of([int(number) for number in re.findall(r"\d+", last)], pairs, seed)

    def _outputs_of(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        """Wait for a process; return the text of its standard output and of its standard error.

        If the stop flag is set, end the process.
        """
        waited = 0.0
        while True:
            try:
                return process.communicate(timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if self._is_stopped():
                    kill_group(process.pid, signal.SIGTERM if waited < LEAVE_SECONDS else signal.SIGKILL)
                    waited += POLL_SECONDS


def counts_of(result: object, pairs: int, seed: int) -> Pentanomial:
    """Convert the result of a match of ``pairs`` pairs (see ``Match``) to the number of pairs with each outcome.

    If the result has only the games won, drawn and lost, ``seed`` determines how the games are paired at random. Raises
    ``UserError`` if the result is not valid.
    """
    if isinstance(result, int | float) and not isinstance(result, bool) and pairs == 1 and 0 <= result <= 1:
        return Pentanomial.from_pairs([(round(4 * result) / 4, round(4 * result) / 4)])
    counts = list(plain(result)) if isinstance(plain(result), list) else []
    if len(counts) in (3, 5) and all(isinstance(one, int) and one >= 0 for one in counts):
        played = sum(counts) if len(counts) == 5 else sum(counts) / 2
        if played != pairs:
            raise UserError(f"the match returned {counts}, which are {played:g} pairs", f"expected {pairs}")
        if len(counts) == 5:
            return Pentanomial((counts[0], counts[1], counts[2], counts[3], counts[4]))
        games = [score for score, count in zip((1.0, 0.5, 0.0), counts, strict=True) for _ in range(count)]
        random.Random(seed).shuffle(games)
        return Pentanomial.from_pairs(zip(games[::2], games[1::2], strict=True))
    raise UserError(
        f"the match returned {result!r}",
        "expected the numbers of pairs with 0, 0.5, 1, 1.5 and 2 points of the first "
        "set, its games won, drawn and lost, or for a single pair its share of the points, 0 to 1",
    )


def _last_line(text: str, before: str = "") -> str:
    """``before`` followed by the last line of ``text`` that is not blank; empty if there is no such line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return before + lines[-1] if lines else ""
