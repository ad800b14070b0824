"""The interface of a player for the game loop, and the ways in which a player can fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue
from elolab.engine.rules import REASONS

if TYPE_CHECKING:  # both import compiled code, which a tournament of external engines alone may never need
    from elolab.arena.players.processors import Processors
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position


MAX_DEPTH = 10**6
"""Maximum depth in plies; a larger reported depth is clipped to it."""


MAX_VARIATION = 20
"""Maximum number of plies stored of a principal variation."""
VARIATION_LENGTH = 20 * MAX_VARIATION
"""Maximum number of characters read of a principal variation; enough for ``MAX_VARIATION`` moves."""


def variation_of(moves: Iterable[str | None]) -> str:
    """Join the moves of a principal variation with spaces, at most ``MAX_VARIATION`` moves.

    ``None`` stands for a word that is not a move, and ends the variation.
    """
    read = list(islice(moves, MAX_VARIATION))
    return " ".join(read[: read.index(None)] if None in read else read)  # type: ignore[arg-type]


def plain_line(line: str) -> str:
    """A line with single spaces between words and no leading or trailing white space.

    Protocols permit any white space; engines indent lines or end them with a carriage return.
    """
    if "  " in line or "\t" in line or line != line.strip():
        return " ".join(line.split())
    return line


def first_word(line: str) -> str:
    """The first word of a line; empty if it has none."""
    words = line.split(maxsplit=1)
    return words[0] if words else ""


def number_of(digits: str, most: int = 10**15) -> int:
    """Parse a whole number from an engine's output and clip it to the range from ``-most`` to ``most``."""
    return max(-most, min(most, int(digits[:20])))


WORDS = "words"
"""Kind of a fault that consists only of an English text."""


@dataclass(frozen=True, init=False)
class Fault:
    """A player's fault: a kind and values, from which a phrase in any language is made.

    The phrase does not include the player's name. The kind is a key of the table ``did`` in the messages of ``arena``.
    A value is a text, a number, or another ``Fault``, whose phrase is inserted. Stored games keep kind and values, so
    that a later report can use any language.
    """

    kind: str
    values: Mapping[str, str | int | Fault]

    def __init__(self, kind: str, /, **values: str | int | Fault) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "values", values)

    @classmethod
    def of(cls, what: Fault | str) -> Fault:
        """Return a fault unchanged; convert an English text to a fault of kind ``WORDS``."""
        return what if isinstance(what, Fault) else cls(WORDS, text=what)

    def text(self, language: str = DEFAULT_LANGUAGE) -> str:
        """The fault as a phrase in a language, without the player's name and without a full stop."""
        parts = {
            name: value.text(language) if isinstance(value, Fault) else value for name, value in self.values.items()
        }
        return Catalogue("elolab.arena", language)(f"did.{self.kind}", **parts)

    @property
    def data(self) -> dict[str, Any]:
        """The fault as data for JSON; ``read`` is the inverse."""
        values = {name: value.data if isinstance(value, Fault) else value for name, value in self.values.items()}
        return {"kind": self.kind, "values": values}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Fault:
        """Make a fault from data that the property ``data`` has returned."""
        values = {
            name: cls.read(value) if isinstance(value, Mapping) else value for name, value in data["values"].items()
        }
        return cls(data["kind"], **values)


def seconds_text(milliseconds: float) -> str:
    """Format milliseconds as seconds, rounded to 0.1 ms, such as ``0.12``."""
    return f"{round(milliseconds / 1000, 4):g}"


def stored_fault(detail: Mapping[str, Any]) -> tuple[str, Fault] | None:
    """The name of the player at fault and the fault, from the ``detail`` of a stored game; ``None`` if there is none.

    Earlier versions stored only an English text that begins with the player's name.
    """
    stored = detail.get("fault")
    if stored is None:
        return None
    player: str = stored["player"]
    if "did" in stored:
        return player, Fault.read(stored["did"])
    return player, Fault(WORDS, text=stored["text"].removeprefix(f"{player}: "))


def late_move_fault(elapsed_ms: float, allowed_ms: float, margin_ms: float = 0) -> Fault:
    """The fault for a move that exceeded the allowed time plus the margin; all times are in milliseconds."""
    times: dict[str, str | int | Fault] = {"elapsed": seconds_text(elapsed_ms), "left": seconds_text(allowed_ms)}
    if not margin_ms:
        return Fault("moved_late", **times)
    return Fault("moved_late_with_margin", **times, margin=f"{margin_ms:g}")


class PlayerFault(Exception):
    """Raised if a player fails and loses its game, or cannot begin it; ``reason`` is in ``engine.rules.REASONS``."""

    def __init__(self, reason: str, what: Fault | str, player: str = "") -> None:
        """``reason`` is one of ``engine.rules.REASONS``, ``what`` the fault, or an English sentence about wrong
        settings.

        ``player`` is the player's name.
        """
        assert reason in REASONS, reason
        self.fault = Fault.of(what)
        self.text = f"{player}: {self.fault.text()}" if player else self.fault.text()
        """English line with the player's name, if given, and the fault."""
        super().__init__(self.text)
        self.reason = reason


class GameStopped(Exception):
    """Raised if the stop flag is set while a player is thinking; the unfinished game will be replayed."""


class PlayerResigned(Exception):
    """Raised if a player resigns instead of moving; a resignation is not a fault."""


LEVEL_SCORE = 100
"""Maximum absolute score, in centipawns or hundredths of a disc, of a position that counts as level."""


class NoMove(Exception):
    """Raised if a player answers without a move although legal moves exist.

    The answer may claim a result, pass, resign in a position that is not lost, or state that there is no move. The
    player may be asked once more, as in a new game.
    """

    def __init__(
        self, what: Fault, elapsed_ns: int = 0, score: int | None = None, *, is_resignation: bool = False
    ) -> None:
        super().__init__(what)
        self.is_resignation = is_resignation
        self.what = what
        """Description of the answer without a move."""
        self.elapsed_ns = elapsed_ns
        self.score = score
        """Score that came with this answer, in the units of ``Reply.score``; ``None`` if not reported."""


class PlayerClock(NamedTuple):
    """Both players' clocks, as sent to the player to move before it moves."""

    remaining_ns: int
    """The player's own time in nanoseconds, never negative."""
    increment_ms: int
    """Milliseconds added to the player's own time after each move."""
    opponent_remaining_ms: int | None
    """The opponent's time in milliseconds; ``None`` if the opponent plays without a clock."""
    opponent_increment_ms: int
    moves_to_go: int
    """Number of the player's own moves to the next time control; 0 for sudden death."""
    opponent_moves_to_go: int = 0
    """Number of the opponent's moves to the next time control; 0 for sudden death or without a clock."""

    @property
    def remaining_ms(self) -> int:
        """The player's own time in whole milliseconds."""
        return self.remaining_ns // 1_000_000


class Reply(NamedTuple):
    """A player's answer to one position."""

    move: str
    """The move in the game's protocol notation (in Xiangqi, ICCS with ranks 0-9); not yet checked for legality."""
    score: int | None
    """Score in centipawns or hundredths of a disc, from the mover's point of view; ``None`` if not reported.

    A mate in n plies is ``engine.values.MATE`` minus n.
    """
    depth: int | None
    nodes: int | None
    elapsed_ns: int
    """Nanoseconds charged to the player's clock."""
    said: str = ""
    """The player's line that contained the move, for messages; empty for built-in players."""
    expected: str | None = None
    """The opponent's reply that the player expects, in the notation of ``move``; not yet checked for legality.

    ``None`` if not reported.
    """
    reading: Fault | None = None
    """How the move was read, for messages: with ranks from 0 or from 1; ``None`` if the move has only one reading."""
    offers_draw: bool = False
    """Whether the move comes with a draw offer, which also accepts an earlier offer of the opponent."""
    principal_variation: str = ""
    """The principal variation, usually beginning with ``move``: at most ``MAX_VARIATION`` moves separated by spaces.

    In the notation of ``move``, not yet checked for legality; empty if not reported.
    """
    late_ns: int = 0
    """Part of ``elapsed_ns``, in nanoseconds, for which the answer may have waited for elolab to read it."""
    reported_ms: float | None = None
    """Milliseconds of the search according to the player; ``None`` if not reported."""


@dataclass(frozen=True)
class Pondered:
    """The outcome of pondering, known once the opponent has moved."""

    is_hit: bool
    """Whether the opponent made the expected move."""
    opponent_ns: int
    """Nanoseconds that the opponent's clock ran for its move."""


class Player(Protocol):
    """A player; it plays one game at a time on any thread, and may be kept for further games.

    Every method may raise ``PlayerFault``, except ``close``, ``dialogue``, ``ponder`` and ``stop_pondering``. ``move``
    and ``new_game`` may also raise ``GameStopped``, and methods that return a ``Reply`` also ``PlayerResigned`` and
    ``NoMove``. A player can be used after a fault: ``start`` starts it again.
    """

    @property
    def spec(self) -> PlayerSpec:
        """The player's specification."""

    @property
    def name(self) -> str:
        """The player's name in the tournament."""

    def pin(self, processors: Processors) -> None:
        """Restrict the player to these processors from now on; called before a game begins."""

    def start(self) -> None:
        """Prepare the player for play, unless it is ready; raises ``PlayerFault`` (``startup_failure``) on failure."""

    def announce_game(self, opening: Opening, stop: StopFlag) -> None:
        """Begin to prepare the player for a new game; called for both players before ``new_game``. May do nothing."""

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        """Prepare the player for a new game: start it if necessary, and clear its memory of the last game.

        A failure raises ``PlayerFault`` with ``startup_failure``.
        """

    def move(self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Choose a move in ``position``, which is not changed.

        ``moves`` are all moves since the opening's start position, including the moves of the opening. ``clock`` is
        ``None`` if the player's limits have no clock. Reasons of a ``PlayerFault``: ``crash``, ``illegal_move``,
        ``no_answer``, ``time_forfeit``.
        """

    def move_afresh(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, spent_ns: int
    ) -> Reply:
        """Choose a move after ``NoMove``; the position is sent as the start of a new game with its counters reset.

        ``spent_ns``, the nanoseconds used for the answer without a move, is charged too.
        """

    def hear_draw_offer(self) -> None:
        """Receive the opponent's draw offer; called before the ``move`` whose reply may accept it."""

    def ponder(self, position: Position, moves: Sequence[str], clock: PlayerClock | None) -> None:
        """Begin to ponder on ``position``, which arises if the opponent makes the expected reply, the last of
        ``moves``.

        The player's clock does not run. Called only if ``spec.ponder`` is set; the next call is
        ``move_after_pondering`` or ``stop_pondering``. The player may keep ``position``. This method raises no fault;
        the next call does.
        """

    def move_after_pondering(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, pondered: Pondered
    ) -> Reply:
        """Choose a move after the opponent has moved.

        After a ponder hit, continues the ponder search; otherwise abandons it and searches the actual position.
        """

    def stop_pondering(self) -> None:
        """Abandon the ponder search at the end of the game; does nothing if there is none, and raises no fault."""

    def search_statistics(self) -> dict[str, Any] | None:
        """Search events counted since ``new_game``, see ``engine.search_statistics``; ``None`` if not counted."""

    def dialogue(self) -> list[str]:
        """The last lines exchanged with the player since its start, the oldest first; empty if there are none."""

    def close(self) -> None:
        """End the player's process or threads within two seconds; may be called at any time and repeatedly."""
