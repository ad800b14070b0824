"""Players that speak UCI: a pure reading of the protocol, and the player that drives a process with it.

Everything down to ``UciSession`` works on lines of text alone and is tested by scripted dialogues. Source: the UCI
specification (Meyer-Kahlen and Huber, 2006), with the ways of Fairy-Stockfish (variants, ranks 1-10) and of the
Xiangqi engines of the "cyclone" dialect (ranks 0-9).
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from elolab.arena.players.contract import (
    MAX_DEPTH,
    MAX_VARIATION,
    VARIATION_LENGTH,
    Fault,
    NoMove,
    PlayerClock,
    PlayerFault,
    Pondered,
    Reply,
    first_word,
    number_of,
    plain_line,
    variation_of,
)
from elolab.arena.players.external import LATE_ANSWER_MS, QUOTED, ExternalPlayer, canonical_position, without_history
from elolab.arena.players.options import Option, unknown_option
from elolab.arena.players.process import DeadlinePassed, ProcessEnded
from elolab.arena.players.registry import Greeting, Protocol
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.keys import VALUE, Default, Section, Topic
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.toml_values import format_toml
from elolab.engine.values import BAN_BOUND, MATE, MAX_PLY

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.settings.configuration import Table

VARIANTS = {"xiangqi": "xiangqi"}
"""The games playable over UCI, and their names in ``UCI_Variant``."""

RANKS_OPTION = "ranks"
"""Option of ours, never sent: 0 or 1 forces the number of the first rank; ``auto`` is the default."""

OFF_WHERE_ABSENT = ("use nnue",)
"""Switches that old engines lack together with the feature; setting them to false is no error."""

PONDER_OPTION = "Ponder"
"""Option announced by engines that can ponder; set to announce pondering."""


# --- Reading lines ----------------------------------------------------------------------------------------------------


_PARTS = ("default", "min", "max", "var")
"""Words that begin the parts of an announced option, in any order."""


def parse_option(line: str) -> Option | None:
    """Read an ``option name ... type ...`` line; ``None`` if it is not one."""
    words = line.split()
    if words[:2] != ["option", "name"] or "type" not in words[3:-1]:
        return None
    place = words.index("type", 3)
    kind = words[place + 1]
    parts = _parts(words[place + 2 :], ("default",) if kind == "string" else _PARTS)
    low, high = (parts[key][-1] if kind == "spin" and key in parts else "" for key in ("min", "max"))
    return Option(
        " ".join(words[2:place]),
        kind,
        parts["default"][0] if "default" in parts else "",
        number_of(low, 2**64) if _INTEGER.fullmatch(low) else None,
        number_of(high, 2**64) if _INTEGER.fullmatch(high) else None,
        tuple(parts.get("var", ())) if kind == "combo" else (),
    )


_INTEGER = re.compile(r"-?\d+")


def _parts(words: Sequence[str], keys: Collection[str]) -> dict[str, list[str]]:
    """The text after each keyword up to the next one; a combo value may itself be ``default``."""
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
    """Contents of one ``info`` line; ``None`` for missing parts."""

    score: int | None = None
    """Centipawns, the mover's view; mates as ``MATE`` less the plies to it."""
    depth: int | None = None
    nodes: int | None = None


_USUAL = re.compile(r"info depth (\d{1,5}) .{0,60}?\bscore cp (-?\d{1,5}) .{0,60}?\bnodes (\d{1,15})\b")
"""Matches the usual ``info`` line in one search instead of three; bounded, so that no long line stalls the games."""
# Each begins with a literal, which is searched for many times faster than a word boundary.
_SCORE = re.compile(r" score\s+(cp|mate)\s+([+-]?\d+)")
_DEPTH = re.compile(r" depth\s+(\d+)")
_NODES = re.compile(r" nodes\s+(\d+)")


def parse_information(line: str) -> Information:
    """Read an ``info`` line; unreadable parts are left out."""
    usual = _USUAL.match(line)
    if usual is not None and " string " not in line:
        return Information(_centipawns("cp", int(usual[2])), int(usual[1]), int(usual[3]))
    line = line.partition(" string ")[0]
    score, depth, nodes = _SCORE.search(line), _DEPTH.search(line), _NODES.search(line)
    return Information(
        None if score is None else _centipawns(score[1], number_of(score[2])),
        None if depth is None else number_of(depth[1], MAX_DEPTH),
        None if nodes is None else number_of(nodes[1]),
    )


def _centipawns(unit: str, number: int) -> int:
    if unit == "cp":
        return max(1 - BAN_BOUND, min(BAN_BOUND - 1, number))  # beyond are mates and wins by repetition
    # A mate in n of one's own moves takes 2n - 1 plies, being mated in n moves 2n.
    plies = min(2 * number - 1 if number > 0 else -2 * number, MAX_PLY)
    return MATE - plies if number > 0 else plies - MATE


NO_MOVES = ("(none)", "none", "0000", "null", "(null)", "nullmove", "nomove", "pass", "draw", "resign")
"""Placeholders of engines without a move, in lower case."""
_NULL_MOVE = re.compile(r"([a-i]\d{1,2})\1")
"""Matches a move from a square to itself."""


def parse_best_move(line: str) -> str | None:
    """The move of a ``bestmove`` line as written; ``None`` if there is none."""
    words = line.split()
    if len(words) < 2 or words[1].lower() in NO_MOVES or _NULL_MOVE.fullmatch(words[1]):
        return None
    return words[1]


def parse_ponder_move(line: str) -> str | None:
    """The expected reply of a ``bestmove`` line as written; ``None`` if there is none."""
    words = line.split()
    return words[3] if len(words) > 3 and words[2] == "ponder" else None


# --- Rank bases -------------------------------------------------------------------------------------------------------

_MOVE = re.compile(r"([a-i])(\d{1,2})([a-i])(\d{1,2})")
_ICCS_MOVES = re.compile(r"[a-i][0-9][a-i][0-9](?: [a-i][0-9][a-i][0-9])*")


@functools.lru_cache(maxsize=10_000)
def read_move(text: str, first_rank: int) -> str | None:
    """Convert a move to ICCS notation (ranks 0-9), given the engine's first rank; ``None`` if it is no move."""
    match = _MOVE.fullmatch(text)
    if match is None:
        return None
    from_file, from_rank, to_file, to_rank = match.groups()
    ranks = (int(from_rank) - first_rank, int(to_rank) - first_rank)
    if not all(0 <= rank <= 9 for rank in ranks):
        return None
    return f"{from_file}{ranks[0]}{to_file}{ranks[1]}"


@functools.cache  # the whole game is written again for every move
def write_move(move: str, first_rank: int) -> str:
    """Convert an ICCS move to the engine's first rank."""
    if first_rank == 0:
        return move
    return f"{move[0]}{int(move[1]) + first_rank}{move[2]}{int(move[3]) + first_rank}"


def variation_text(line: str) -> str:
    """The principal variation of an ``info`` line, in the engine's words."""
    return line.partition(" pv ")[2][:VARIATION_LENGTH]


def read_variation(text: str, first_rank: int) -> str:
    """The principal variation that an engine wrote as ``text``, as ``Reply`` has it."""
    if first_rank == 0 and _ICCS_MOVES.fullmatch(text):  # most engines, and there is one with every move
        return text[: 5 * MAX_VARIATION - 1]
    return variation_of(map(read_move, text.split(), repeat(first_rank)))


def detect_first_rank(text: str, legal: Collection[str]) -> int | None:
    """The one rank base, 0 or 1, in which ``text`` is among the legal moves; ``None`` if neither or both."""
    bases = [base for base in (0, 1) if read_move(text, base) in legal]
    return bases[0] if len(bases) == 1 else None


# --- Writing lines ----------------------------------------------------------------------------------------------------


def option_commands(options: Sequence[tuple[str, str]], announced: Mapping[str, Option], variant: str) -> list[str]:
    """The lines that set a player's options, the variant first.

    ``announced`` is keyed by name in lower case. Raises ``PlayerFault`` (``startup_failure``) for an option that the
    engine did not announce, with the nearest that it did, and for values it would not take.
    """
    wanted = [(name, value) for name, value in options if name.lower() != RANKS_OPTION]
    if "uci_variant" in announced and all(name.lower() != "uci_variant" for name, _ in wanted):
        wanted.insert(0, ("UCI_Variant", variant))
    commands = []
    for name, value in wanted:
        option = announced.get(name.lower())
        if option is not None:
            if option.is_told(str(value)):
                commands.append(option.command(str(value)))
        elif name.lower() not in OFF_WHERE_ABSENT or str(value).lower() not in ("false", "off", "0"):
            raise unknown_option(name, announced)
    return commands


def ponder_options(options: Sequence[tuple[str, str]], announced: Mapping[str, Option]) -> list[tuple[str, str]]:
    """A pondering player's options; raises ``PlayerFault`` (``startup_failure``) if the engine cannot ponder."""
    if PONDER_OPTION.lower() not in announced:
        raise PlayerFault(
            "startup_failure", f"ponder = true, but the engine has no option {PONDER_OPTION}; leave ponder out"
        )
    others = [(name, value) for name, value in options if name.lower() != PONDER_OPTION.lower()]
    return [*others, (PONDER_OPTION, "true")]


def forced_first_rank(options: Sequence[tuple[str, str]]) -> int | None:
    """The rank base that the player's options force, if they do; raises ``PlayerFault`` for anything but 0, 1, auto."""
    for name, value in options:
        if name.lower() == RANKS_OPTION and str(value).lower() != "auto":
            if str(value) not in ("0", "1"):
                raise PlayerFault("startup_failure", f"option {RANKS_OPTION} = {value!r}: expected 0, 1 or auto")
            return int(value)
    return None


def mistake_in(spec: PlayerSpec) -> str:
    """The error in a player's options, found without asking an engine; empty if none."""
    try:
        forced_first_rank(spec.options)
    except PlayerFault as fault:
        return fault.text
    return ""


_player = Topic("elolab.arena.keys", "player")
_OPTIONS = _player.section("options", others=_player("option", VALUE, default=Default.COMPUTED, example="16"))
KEYS = Section("uci", (_player.table(_OPTIONS, example="{ Hash = 16 }"),))
"""Keys of protocols whose engines have options."""


def read_keys(table: Table) -> dict[str, Any]:
    """Read the keys of a player that only UCI has."""
    options = table.mapping("options")
    seen: dict[str, str] = {}
    for name in options:
        twin = seen.setdefault(name.lower(), name)
        if twin != name:
            raise ConfigurationError(f"{table.where}: options: {twin} and {name} are the same option; give one")
    return {"options": tuple((name, _written(table, name, value)) for name, value in options.items())}


def _written(table: Table, name: str, value: object) -> str:
    """An option's value as it is sent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float) or "\n" in f"{name}{value}":
        raise ConfigurationError(
            f"{table.where}: options: {name} = {format_toml(value)}, expected a text, number, true or false"
        )
    return str(value)


def go_command(limits: Limits, clock: PlayerClock | None, side_to_move: int, *, ponder: bool = False) -> str:
    """The ``go`` line for the player's limits; the side that moves first in the game is UCI's white."""
    words = ["go ponder" if ponder else "go"]
    if clock is not None:
        own = (max(1, clock.remaining_ms), clock.increment_ms)
        # An opponent without a clock is given the player's own time: some engines divide by it.
        other = own
        if clock.opponent_remaining_ms is not None:
            other = (max(1, clock.opponent_remaining_ms), clock.opponent_increment_ms)
        white, black = (own, other) if side_to_move == 0 else (other, own)
        words.append(f"wtime {white[0]} btime {black[0]} winc {white[1]} binc {black[1]}")
        if clock.moves_to_go:
            words.append(f"movestogo {clock.moves_to_go}")
    if limits.move_time_ms is not None:
        words.append(f"movetime {limits.move_time_ms}")
    if limits.nodes is not None:
        words.append(f"nodes {limits.nodes}")
    if limits.depth is not None:
        words.append(f"depth {limits.depth}")
    return " ".join(words)


def position_command(position: str, moves: Sequence[str], first_rank: int) -> str:
    """The ``position`` line for a FEN and the ICCS moves played from it."""
    return GameLine(position, first_rank).command(moves)


class GameLine:
    """The ``position`` lines of one game, each of which begins with the one before."""

    def __init__(self, position: str, first_rank: int) -> None:
        self._first_rank = first_rank
        self._written = ""
        self._moves = self._first = 0
        """Number of moves written, and number of moves before the line's position."""
        self.restart(position, 0)

    def restart(self, position: str, moves: int) -> None:
        """Restart with a FEN, the position after so many moves of the game."""
        self._moves = self._first = moves
        self.begin(f"fen {position}")

    def begin(self, position: str) -> None:
        """Write the game's first position as ``position``, without the word."""
        self._written = f"position {position}"

    def command(self, moves: Sequence[str]) -> str:
        """The line after the ICCS moves played from the position; the moves so far must be the first of them."""
        for place in range(self._moves, len(moves)):
            before = " moves " if place == self._first else " "
            self._written += before + write_move(moves[place], self._first_rank)
        self._moves = len(moves)
        return self._written

    def command_after(self, moves: Sequence[str], expected: str) -> str:
        """The line with one more move, which may not be played after all."""
        before = " moves " if len(moves) == self._first else " "
        return self.command(moves) + before + write_move(expected, self._first_rank)


# --- The conversation -------------------------------------------------------------------------------------------------


class UciSession:
    """Tracks due replies and the last search's output. Pure: lines in, events out.

    The words are UCI's; protocols after its model have others.
    """

    opening: ClassVar[tuple[str, str]] = ("uci", "uciok")
    """The first command, and its reply."""
    answers: ClassVar[tuple[str, ...]] = ("bestmove",)
    """First words of lines that end a search; the first one stands for all as a due reply."""
    remarks: ClassVar[str] = " string "
    """Marks ``info`` lines meant for people."""

    def __init__(self) -> None:
        self.engine_name = ""
        self.options: dict[str, Option] = {}
        """Keyed by name in lower case."""
        self.best_move_line = ""
        self.unexpected = 0
        """Number of unrequested replies, which are ignored."""
        self._due: set[str] = set()
        self._scored = ""
        self._counted = ""

    @property
    def is_idle(self) -> bool:
        """Whether no reply is due."""
        return not self._due

    def hello(self) -> list[str]:
        """Open the conversation; ``uciok`` is due."""
        return self._ask(*self.opening)

    def synchronise(self, *before: str) -> list[str]:
        """Send lines and ask whether the engine has processed them; ``readyok`` is due."""
        return [*before, *self._ask("isready", "readyok")]

    def stop(self) -> list[str]:
        """End the search, whose answer is due, and wait until no late answer can follow."""
        return self.synchronise("stop")

    def think(self, *lines: str) -> list[str]:
        """Send lines that set a position and start a search; ``bestmove`` is due."""
        self._scored = self._counted = self.best_move_line = ""
        self._due.add(self.answers[0])
        return list(lines)

    def _ask(self, line: str, reply: str) -> list[str]:
        self._due.add(reply)
        return [line]

    def receive(self, text: str) -> str:
        """Take a line of the engine, or several of which only the last may be a reply.

        Returns the event it is: a reply that was due (its first word), or nothing.
        """
        before, _, line = text.rpartition("\n")
        if before:
            self._note(before.splitlines())
        word = first_word(line)
        if word == "info":
            self._note([line])
            return ""
        is_answer = word in self.answers
        if is_answer or word in (self.opening[1], "readyok"):
            reply = self.answers[0] if is_answer else word
            if reply not in self._due:
                self.unexpected += 1
                return ""
            self._due.discard(reply)
            if is_answer:
                self.best_move_line = line
            return word
        if self.opening[1] in self._due:
            self._introduce(line)
        return ""

    def _note(self, lines: Sequence[str]) -> None:
        """Keep the last line with a final score, and the last with nodes; they are read when the search is over.

        Searches say far more than is needed, so the last lines are looked at first and the others not at all.
        """
        scored = counted = ""
        for line in map(plain_line, reversed(lines)):
            if first_word(line) != "info" or self.remarks in line:
                continue
            if " nodes " in line:
                counted = counted or line
            if " score " in line and "erbound" not in line and (" multipv " not in line or " multipv 1 " in f"{line} "):
                scored = scored or line
            if scored and counted:
                break
        self._scored = scored or self._scored
        self._counted = counted or self._counted

    def _introduce(self, line: str) -> None:
        words = line.split()
        if words[:2] == ["id", "name"]:
            self.engine_name = " ".join(words[2:])
        option = self._option(line)
        if option is not None:
            self.options[option.name.lower()] = option

    def _option(self, line: str) -> Option | None:
        return parse_option(line)

    def _parse(self, line: str) -> Information:
        return parse_information(line)

    def information(self) -> Information:
        """Final score and depth of the last search (without bounds and side lines), and its total nodes."""
        scored = self._parse(self._scored)
        if self._counted is self._scored:
            return scored
        counted = self._parse(self._counted)
        return Information(
            score=scored.score,
            depth=scored.depth if scored.depth is not None else counted.depth,
            nodes=counted.nodes if counted.nodes is not None else scored.nodes,
        )

    @property
    def variation(self) -> str:
        """The principal variation of that score, as the engine wrote it."""
        return variation_text(self._scored)


# --- The player -------------------------------------------------------------------------------------------------------


class UciPlayer(ExternalPlayer[UciSession]):
    """An external engine over UCI; see ``arena.players.contract.Player``."""

    protocol_name = "UCI"
    search_replies: ClassVar[tuple[bytes, ...]] = (b"bestmove",)
    session: ClassVar[type[UciSession]] = UciSession

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game, self.session)
        self._first_rank: int | None = None
        self._line = GameLine("", 0)
        self._go = go_command(spec.limits, None, 0)
        """The usual line, where there is no clock."""
        self._reading: Fault | None = None

    @property
    def announced_options(self) -> Mapping[str, Option] | None:
        """Options announced by the engine started last, by name in lower case."""
        return self._session.options

    async def _handshake(self, deadline_ns: int) -> None:
        """Shake hands, set the options, learn the rank base."""
        await self._converse(self._session.hello(), deadline_ns)
        options: Sequence[tuple[str, str]] = self.spec.options
        if self.spec.ponder:
            options = ponder_options(options, self._session.options)
        commands = option_commands(options, self._session.options, VARIANTS[self._game])
        await self._converse(self._session.synchronise(*commands), deadline_ns)
        await self._learn_first_rank(deadline_ns)

    async def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        self._line = self._game_line(canonical_position(self._game, opening.position))
        self._reading = Fault("ranks_from", rank=self._first_rank or 0)
        await self._converse(self._session.synchronise("ucinewgame"), deadline_ns, stop)

    def _game_line(self, position: str) -> GameLine:
        return GameLine(position, self._first_rank or 0)

    async def move(self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """One search. The clock runs from just before ``go`` is written until ``bestmove`` has arrived."""
        lines = self._question(position, moves, clock)
        return await self._reply(await self._wait_for_move(lines, clock, stop, time.monotonic_ns()))

    async def move_afresh(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, spent_ns: int
    ) -> Reply:
        """One search of the position as a FEN without moves; the game's lines begin with it from now on."""
        began_ns = time.monotonic_ns() - spent_ns
        self._line.restart(without_history(position), len(moves))
        lines = self._question(position, moves, clock)
        return await self._reply(await self._wait_for_move(lines, clock, stop, began_ns))

    async def ponder(self, position: Position, moves: Sequence[str], clock: PlayerClock | None) -> None:
        """Send ``go ponder``; the output stays in the pipe meanwhile."""
        deadline_ns = time.monotonic_ns() + LATE_ANSWER_MS * 1_000_000
        try:
            await self._running().send(self._question(position, moves, clock, ponder=True), deadline_ns)
            self._running().pause()
        except (DeadlinePassed, ProcessEnded):
            pass  # it will not answer after the opponent's move either, which is when that counts

    async def move_after_pondering(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, pondered: Pondered
    ) -> Reply:
        """``ponderhit``, or ``stop`` and a new search; the clock runs from just before either."""
        began_ns = time.monotonic_ns()
        if pondered.is_hit:
            return await self._reply(await self._wait_for_move([self._ponder_hit()], clock, stop, began_ns))
        deadline_ns = began_ns + self._allowance_ms(clock) * 1_000_000  # its own time: nobody waits for it but itself
        try:
            await self._converse(self._session.stop(), deadline_ns, stop)
        except DeadlinePassed:
            raise await self._failed("no_answer", Fault("pondered_on")) from None
        except ProcessEnded:
            raise await self._failed("crash", Fault("ended_pondering")) from None
        lines = self._question(position, moves, clock)
        return await self._reply(await self._wait_for_move(lines, clock, stop, began_ns))

    def _ponder_hit(self) -> str:
        return "ponderhit"

    async def stop_pondering(self) -> None:
        """Send ``stop`` and discard the answer."""
        if self.process_id is not None and not self._session.is_idle:
            await self._halt()

    def _question(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, *, ponder: bool = False
    ) -> list[str]:
        """The lines that ask for a move."""
        self._drain_unsolicited_lines()
        return self._session.think(
            self._line.command_after(moves[:-1], moves[-1]) if ponder else self._line.command(moves),
            self._go
            if clock is None and not ponder
            else go_command(self.spec.limits, clock, position.side_to_move, ponder=ponder),
        )

    async def _learn_first_rank(self, deadline_ns: int) -> None:
        """Settle how the engine numbers ranks: as told, as its family does, or as its first move in a game shows.

        Written in one base, no first move of Xiangqi's start position is legal in the other, so one search decides.
        """
        forced = forced_first_rank(self.spec.options)
        if forced is not None:
            self._first_rank = forced
        elif "uci_variant" in self._session.options:
            self._first_rank = 1
        if self._first_rank is not None:
            return
        from elolab.engine.games import game_named

        start = game_named(self._game).position()
        await self._converse(self._session.think(position_command(start.text, (), 0), "go depth 1"), deadline_ns)
        said = parse_best_move(self._session.best_move_line)
        self._first_rank = detect_first_rank(said or "", start.legal_moves())
        if self._first_rank is None:
            said_line = self._session.best_move_line
            raise PlayerFault(
                "startup_failure",
                f"answered {said_line!r} to the start position, which is no legal move whether ranks are counted from "
                f"0 or from 1; does it play {self._game}?",
            )

    async def _halt(self) -> bool:
        """Stop the search and wait for the engine to be idle; whether it moved. One that is not idle is ended."""
        deadline_ns = time.monotonic_ns() + LATE_ANSWER_MS * 1_000_000
        try:
            await self._converse(self._session.stop(), deadline_ns)
        except (DeadlinePassed, ProcessEnded):
            await self._running().end()
        return self._session.best_move_line != ""

    async def _reply(self, elapsed_ns: int) -> Reply:
        line = self._session.best_move_line
        first_rank = self._first_rank or 0
        said = parse_best_move(line)
        score, depth, nodes = self._session.information()
        if said is None:
            raise NoMove(Fault("answered", said=line[:QUOTED]), elapsed_ns, score)
        move = read_move(said, first_rank)
        if move is None:
            raise await self._failed("illegal_move", Fault("not_a_move", said=line[:QUOTED]))
        expected = parse_ponder_move(line) if self.spec.ponder else None
        if expected is not None:
            expected = read_move(expected, first_rank)
        variation = read_variation(self._session.variation, first_rank)
        return Reply(
            move, score, depth, nodes, elapsed_ns, line, expected, self._reading, principal_variation=variation
        )


PROTOCOL = Protocol(
    name="uci",
    title="UCI",
    player=lambda spec, game, _: UciPlayer(spec, game),
    games=tuple(VARIANTS),
    keys=KEYS,
    read=read_keys,
    check=mistake_in,
    remedy="options = {...}",
    can_ponder=True,
    greeting=Greeting(("uci",), lambda line: line == "uciok"),
)
