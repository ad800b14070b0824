"""The common part of UCI and UCCI: reading lines, expecting replies, and requesting moves.

``uci`` and ``ucci`` add the differences. All functions and classes up to ``UciFamilyClient`` only process lines of
text. Source: the UCI specification (Meyer-Kahlen and Huber, 2006).
"""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from elolab.arena.players.announced_options import AnnouncedOption, repetition_setting
from elolab.arena.players.external import (
    LATE_ANSWER_MS,
    QUOTED,
    ExternalPlayer,
    ProtocolClient,
    canonical_position,
    without_history,
)
from elolab.arena.players.player import (
    MAX_DEPTH,
    VARIATION_LENGTH,
    Fault,
    NoMove,
    PlayerClock,
    Pondered,
    Reply,
    first_word,
    number_of,
)
from elolab.arena.players.process import DeadlinePassed, ProcessEnded
from elolab.arena.protocols.move_texts import MoveTexts, RankedMoves
from elolab.engine.rules import REPETITION_RULES
from elolab.engine.values import BAN_BOUND, MATE, MAX_PLY

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.compiled.program_games import MoveWords, ProgramArbiter
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position

# --- Reading lines ----------------------------------------------------------------------------------------------------


_PARTS = ("default", "min", "max", "var")
"""Keywords that may follow the type in an ``option`` line, in any order."""


def parse_option(line: str) -> AnnouncedOption | None:
    """Read an ``option name ... type ...`` line; ``None`` for any other line."""
    words = line.split()
    if words[:2] != ["option", "name"] or "type" not in words[3:-1]:
        return None
    place = words.index("type", 3)
    kind = words[place + 1]
    parts = _parts(words[place + 2 :], ("default",) if kind == "string" else _PARTS)
    low, high = (parts[key][-1] if kind == "spin" and key in parts else "" for key in ("min", "max"))
    return AnnouncedOption(
        " ".join(words[2:place]),
        kind,
        parts["default"][0] if "default" in parts else "",
        number_of(low, 2**64) if _INTEGER.fullmatch(low) else None,
        number_of(high, 2**64) if _INTEGER.fullmatch(high) else None,
        tuple(parts.get("var", ())) if kind == "combo" else (),
    )


_INTEGER = re.compile(r"-?\d+")


def _parts(words: Sequence[str], keys: Collection[str]) -> dict[str, list[str]]:
    """Split the words after an option's type at the keywords ``keys``; returns the texts after each keyword.

    A keyword such as ``var`` may occur several times. After ``var``, the word ``default`` is a value, not a keyword.
    """
    found: dict[str, list[list[str]]] = {}
    part: list[str] | None = None
    for word in words:
        if word in keys and not (part == [] and word == "default"):
            part = []
            found.setdefault(word, []).append(part)
        elif part is not None:
            part.append(word)
    return {key: [" ".join(value) for value in values] for key, values in found.items()}


class Information(NamedTuple):
    """Contents of one ``info`` line; missing parts are ``None``."""

    score: int | None = None
    """Score in centipawns from the point of view of the side to move; ``None`` if the line has none.

    With ``MATE`` of ``engine.values``, ``MATE - n`` is a mate in n plies; ``n - MATE`` is being mated in n plies.
    """
    depth: int | None = None
    nodes: int | None = None


_USUAL = re.compile(r"info depth (\d{1,5}) .{0,60}?\bscore cp (-?\d{1,5}) .{0,60}?\bnodes (\d{1,15})\b")
"""Matches the usual form of an ``info`` line: depth, score and nodes in one match instead of three.

The gaps between the parts are bounded, which keeps the match fast on long lines.
"""
# Each pattern begins with a literal: searching it is many times faster than a word boundary.
_SCORE = re.compile(r" score\s+(cp|mate)\s+([+-]?\d+)")
_DEPTH = re.compile(r" depth\s+(\d+)")
_NODES = re.compile(r" nodes\s+(\d+)")
_TIME = re.compile(r" time\s+(\d+)")


def parse_information(line: str) -> Information:
    """Read an ``info`` line; parts that cannot be read are ``None``."""
    usual = _USUAL.match(line)
    if usual is not None and " string " not in line:
        return Information(centipawns("cp", int(usual[2])), int(usual[1]), int(usual[3]))
    line = line.partition(" string ")[0]
    score, depth, nodes = _SCORE.search(line), _DEPTH.search(line), _NODES.search(line)
    return Information(
        None if score is None else centipawns(score[1], number_of(score[2])),
        None if depth is None else number_of(depth[1], MAX_DEPTH),
        None if nodes is None else number_of(nodes[1]),
    )


def centipawns(unit: str, number: int) -> int:
    """Convert a UCI score to the centipawns of ``Reply``.

    ``unit`` is ``cp`` or ``mate``. ``number`` is centipawns, or moves to mate, negative if the engine is being mated.
    """
    if unit == "cp":
        return max(1 - BAN_BOUND, min(BAN_BOUND - 1, number))  # larger scores are mates and wins by repetition
    # A mate in n moves takes 2n - 1 plies; being mated in n moves takes 2n.
    plies = min(2 * number - 1 if number > 0 else -2 * number, MAX_PLY)
    return MATE - plies if number > 0 else plies - MATE


NO_MOVES = ("(none)", "none", "0000", "null", "(null)", "nullmove", "nomove", "pass", "draw", "resign")
"""Words that engines write in ``bestmove`` if they have no move, in lower case."""
_NULL_MOVE = re.compile(r"([a-i]\d{1,2})\1")
"""Matches a null move, written as a move from a square to itself."""


def parse_best_move(line: str) -> str | None:
    """The move in a ``bestmove`` line, as the engine wrote it; ``None`` if the line has no move."""
    words = line.split()
    if len(words) < 2 or words[1].lower() in NO_MOVES or _NULL_MOVE.fullmatch(words[1]):
        return None
    return words[1]


def parse_ponder_move(line: str) -> str | None:
    """The expected reply (``ponder``) in a ``bestmove`` line, as the engine wrote it; ``None`` if there is none."""
    words = line.split()
    return words[3] if len(words) > 3 and words[2] == "ponder" else None


# --- Positions --------------------------------------------------------------------------------------------------------


def variation_text(line: str) -> str:
    """The principal variation of an ``info`` line, as the engine wrote it; empty if there is none."""
    return line.partition(" pv ")[2][:VARIATION_LENGTH]


class GameLine:
    """Writes the ``position`` commands of one game. Each command extends the previous one by the new moves."""

    def __init__(self, position: str, texts: MoveTexts) -> None:
        self._texts = texts
        self._start = position
        self._before = 0
        """Number of the game's moves that lead to ``_start``."""
        self._written = ""
        self._moves = self._first = 0
        """Numbers of the game's moves before the end of the command, and before the position with which it starts."""
        self.restart(position, 0)

    def restart(self, position: str, moves: int) -> None:
        """Make later commands start from the FEN ``position``, which is reached after ``moves`` moves of the game."""
        self._moves = self._first = self._before = moves
        self._start = position
        self.begin(f"fen {self._texts.write_position(position)}")

    def begin(self, position: str) -> None:
        """Start a new command without moves. ``position`` is ``startpos``, or ``fen`` and a FEN."""
        self._written = f"position {position}"

    @property
    def has_moves(self) -> bool:
        """Whether the last command contains moves."""
        return self._moves > self._first

    def command(self, moves: Sequence[str]) -> str:
        """The ``position`` command after all ``moves`` of the game, which extend the moves of the last call."""
        for word in self._words(moves, self._moves):
            self._written += (" moves " if self._moves == self._first else " ") + word
            self._moves += 1
        return self._written

    def _words(self, moves: Sequence[str], first: int) -> Iterable[str]:
        """The game's moves from index ``first`` on, in the engine's notation."""
        return self._texts.write(self._start, moves[self._before :], first - self._before)

    def command_after(self, moves: Sequence[str], expected: str) -> str:
        """The ``position`` command for pondering, after ``moves`` and the reply ``expected``.

        Later commands do not contain this reply unless it is played.
        """
        before = " moves " if len(moves) == self._first else " "
        (word,) = self._words([*moves, expected], len(moves))
        return self.command(moves) + before + word


# --- The conversation -------------------------------------------------------------------------------------------------


class UciFamilyClient(ProtocolClient):
    """Tracks the expected replies and the output of the last search. Subclasses define the commands of the protocol."""

    opening: ClassVar[tuple[str, str]]
    """The first command of the handshake, and the reply that ends the handshake."""
    answers: ClassVar[tuple[str, ...]]
    """Words that begin the lines that end a search; the client expects the first of these but accepts any."""
    remarks: ClassVar[str]
    """The keyword in an ``info`` line after which the rest of the line is a message for people."""

    def __init__(self) -> None:
        super().__init__()
        self.options: dict[str, AnnouncedOption] = {}
        """Options that the engine announced, keyed by name in lower case."""
        self.sent_rule = ""
        """The repetition rule last chosen for the engine; empty before the first search."""
        self._scored = ""
        self._counted = ""

    @abstractmethod
    def read_option(self, line: str) -> AnnouncedOption | None:
        """Read a line that announces an option; ``None`` for any other line."""

    @abstractmethod
    def read_information(self, line: str) -> Information:
        """Read an ``info`` line; parts that cannot be read are ``None``."""

    def hello(self) -> list[str]:
        """The command that begins the handshake. The client then expects the reply that ends it."""
        return self._expect(self.opening[1], self.opening[0])

    def synchronise(self, *before: str) -> list[str]:
        """The lines to send: ``before``, then ``isready``. The client then expects ``readyok``."""
        return self._expect("readyok", *before, "isready")

    def take_ready(self) -> None:
        """Note that the reply ``readyok`` has arrived."""
        self._take("readyok")

    def think(self, *lines: str) -> list[str]:
        """Return ``lines``, the commands of a search. The client then expects the answer to the search."""
        self._scored = self._counted = self.answer = ""
        return self._expect(self.answers[0], *lines)

    def receive(self, line: str) -> str:
        word = "info" if line.startswith("info ") else first_word(line)
        if word == "info":
            self._note(line)
            return ""
        is_answer = word in self.answers
        if is_answer or word in (self.opening[1], "readyok"):
            if not self._take(self.answers[0] if is_answer else word):
                return ""
            if is_answer:
                self.answer = line
            return word
        if self.opening[1] in self._due:
            self._introduce(line)
        return ""

    def _note(self, line: str) -> None:
        """Keep the last ``info`` line with an exact score of the first variation, and the last one with nodes.

        The kept lines are only parsed after the search.
        """
        if self.remarks in line:
            return
        if " nodes " in line:
            self._counted = line
        if " score " in line and "erbound" not in line and (" multipv " not in line or " multipv 1 " in f"{line} "):
            self._scored = line

    def _introduce(self, line: str) -> None:
        words = line.split()
        if words[:2] == ["id", "name"]:
            self.engine_name = " ".join(words[2:])
        option = self.read_option(line)
        if option is not None:
            self.options[option.name.lower()] = option

    def information(self) -> Information:
        """Final score, depth and nodes of the last search; missing parts are ``None``.

        Bounds and secondary variations (``multipv``) are ignored.
        """
        scored = self.read_information(self._scored)
        if self._counted is self._scored:
            return scored
        counted = self.read_information(self._counted)
        return Information(
            score=scored.score,
            depth=scored.depth if scored.depth is not None else counted.depth,
            nodes=counted.nodes if counted.nodes is not None else scored.nodes,
        )

    @property
    def variation(self) -> str:
        """The principal variation that came with the final score of the last search, as the engine wrote it."""
        return variation_text(self._scored)

    @property
    def reported_ms(self) -> float | None:
        """Duration of the last search in milliseconds, as the engine reported it in its last ``info`` line with nodes
        or a score.

        ``None`` without such a report.
        """
        line = (self._counted or self._scored).partition(" string ")[0]
        time_ms = _TIME.search(line)
        return None if time_ms is None else float(number_of(time_ms[1]))


# --- The player -------------------------------------------------------------------------------------------------------

Kind = TypeVar("Kind", bound=UciFamilyClient)


class UciFamilyPlayer(ExternalPlayer[Kind]):
    """An external engine over UCI or UCCI; see ``arena.players.player.Player``."""

    def __init__(self, spec: PlayerSpec, game: str, make_client: Callable[[], Kind]) -> None:
        super().__init__(spec, game, make_client)
        self._first_rank: int | None = None
        self._line = GameLine("", RankedMoves(0))
        self._reading: Fault | None = None
        self._ruled: GameLine | None = None
        """The writer of ``position`` commands in the game for which the repetition rule was last chosen."""
        self._learnt: tuple[GameLine, str] = (self._line, "")
        """The writer of the game's ``position`` commands, and the last command with moves that compiled code knows."""
        self._words: MoveWords
        """The table of move texts that compiled code can read for this player."""

    @property
    def announced_options(self) -> Mapping[str, AnnouncedOption] | None:
        return self._client.options

    @abstractmethod
    def _game_line(self, position: str) -> GameLine:
        """Create the writer of a game's ``position`` commands. The game starts from ``position``, a FEN."""

    @abstractmethod
    def _new_game_lines(self, opening: Opening) -> list[str]:
        """The commands that announce a new game."""

    @property
    def _texts(self) -> MoveTexts:
        """The converter of moves to and from the engine's notation."""
        return RankedMoves(self._first_rank or 0)

    @abstractmethod
    def _option_line(self, option: AnnouncedOption, value: str) -> str:
        """The command that sets an option of the engine to ``value``."""

    @abstractmethod
    def _go(self, position: Position, clock: PlayerClock | None, *, ponder: bool) -> list[str]:
        """The commands that start a search of the position sent last; with ``ponder``, a ponder search."""

    def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        self._converse(self._announcement(opening), deadline_ns, stop)

    def _announcement(self, opening: Opening) -> list[str]:
        """The lines that announce a new game. The client then expects ``readyok``."""
        lines = self._new_game_lines(opening)
        self._line = self._game_line(canonical_position(self._game, opening.position))
        return self._client.synchronise(*lines)

    def _question(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag
    ) -> list[str]:
        return self._lines(position, moves, clock)

    def _lines(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, *, ponder: bool = False
    ) -> list[str]:
        self._drain_unsolicited_lines()
        line = self._line.command_after(moves[:-1], moves[-1]) if ponder else self._line.command(moves)
        return self._client.think(*self._rule_lines(position), line, *self._go(position, clock, ponder=ponder))

    def _rule_lines(self, position: Position) -> list[str]:
        """The command that sets the repetition rule, if the rule has changed since the last game.

        Empty if the engine has no option for the rule, or if the player sets that option.
        """
        if self._ruled is self._line or "repetition" not in (position.game.state_dtype.names or ()):
            return []
        self._ruled = self._line
        client = self._client
        rule = REPETITION_RULES[int(position.state.repetition)]
        if rule == client.sent_rule:
            return []
        client.sent_rule = rule
        setting = repetition_setting(rule, client.options, {name.lower() for name, _ in self.spec.options})
        return [] if setting is None else [self._option_line(*setting)]

    def program_line(self, moves: Sequence[str], arbiter: ProgramArbiter) -> tuple[str, bool] | None:
        """The ``position`` command after ``moves``, and whether it contains moves.

        Returns ``None`` if the engine is busy or another command must be sent first. Also adds the texts of moves that
        Python has played to the table from which compiled code reads moves.
        """
        if not ((self._client.is_idle or self._is_announced) and self._running().is_quiet):
            return None
        if self._rule_lines(arbiter.position):  # they are sent with the next question
            self._ruled, self._client.sent_rule = None, ""
            return None
        line = self._line
        written = line.command(moves)
        learnt, before = self._learnt
        if learnt is line and written.startswith(before):
            words = written[len(before) :].removeprefix(" moves").split()
            codes = arbiter.codes[len(arbiter.codes) - len(words) :]
            for word, code in zip(words, codes, strict=True):
                if self._texts.has_one_meaning(word):
                    self._words.learn(word, code)
        self._learnt = line, written
        return written, line.has_moves

    def _restart(self, position: Position, moves: Sequence[str]) -> None:
        """Make later ``position`` commands start from this position, as a FEN without moves."""
        self._line.restart(without_history(position), len(moves))

    def ponder(self, position: Position, moves: Sequence[str], clock: PlayerClock | None) -> None:
        """Send ``go ponder``. The engine's output remains unread in the pipe while it ponders."""
        deadline_ns = time.monotonic_ns() + LATE_ANSWER_MS * 1_000_000
        try:
            self._running().send(self._lines(position, moves, clock, ponder=True), deadline_ns)
        except (DeadlinePassed, ProcessEnded):
            pass  # the engine will not answer after the opponent's move either; only that is a fault

    def move_after_pondering(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, pondered: Pondered
    ) -> Reply:
        """Get the engine's move after pondering. ``pondered`` tells whether the opponent played the expected move.

        If so, send ``ponderhit``; otherwise send ``stop``, wait for the answer and start a new search. The clock starts
        just before the first of these lines is sent, and stands still while the new search is prepared. Raises
        ``PlayerFault`` if the engine ends or does not answer ``stop`` in time.
        """
        if pondered.is_hit:
            return self._search([self._ponder_hit()], position, clock, stop)
        # On the player's own clock: only this player waits.
        deadline_ns = time.monotonic_ns() + self._allowance_ms(clock) * 1_000_000
        try:
            self._converse(self._client.stop(), deadline_ns, stop)
        except DeadlinePassed:
            raise self._failed("no_answer", Fault("pondered_on")) from None
        except ProcessEnded:
            raise self._failed("crash", Fault("ended_pondering")) from None
        process = self._running()
        stopping_ns = max(0, process.arrived_ns - process.asked_ns)
        return self._search(self._lines(position, moves, clock), position, clock, stop, stopping_ns)

    def _ponder_hit(self) -> str:
        return "ponderhit"

    def stop_pondering(self) -> None:
        """Send ``stop`` if the engine is still searching, and discard its answer."""
        if self.process_id is not None and not self._client.is_idle:
            self._halt()

    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        return self._made_move(elapsed_ns, position)

    def _made_move(self, elapsed_ns: int, position: Position) -> Reply:
        line, texts = self._client.answer, self._texts
        said = parse_best_move(line)
        score, depth, nodes = self._client.information()
        if said is None:
            raise NoMove(Fault("answered", said=line[:QUOTED]), elapsed_ns, score)
        move = texts.read(said, position)
        if move is None:
            raise self._failed("illegal_move", Fault("not_a_move", said=line[:QUOTED]))
        expected = parse_ponder_move(line) if self.spec.ponder else None
        variation = texts.read_line(self._client.variation, position)
        if expected is not None:
            expected = texts.read_line(f"{said} {expected}", position).partition(" ")[2] or None
        return Reply(
            move, score, depth, nodes, elapsed_ns, line, expected, self._reading, principal_variation=variation,
            reported_ms=self._client.reported_ms,
        )  # fmt: skip
