"""Players over the xboard protocol, version 2 (Chess Engine Communication Protocol, Mann and Muller, 2009).

The engine keeps the game. In ``force`` mode it receives moves, confirms them (``ping``), and is then asked to move
(``go``), move by move. An engine's claims between moves therefore change nothing: the rules of ``engine.rules``
decide. A pondering engine (``hard``) stays out of ``force`` mode and chooses itself which reply to think about.

The specification leaves these decisions to the driver of an engine:

- **Limits** are a depth (``sd``), whole seconds per move (``st``), or a clock (``level``, ``time``, ``otim``) of whole
  seconds. A limit in nodes needs the feature ``nps``: the engine treats that number of nodes as one second, and gets
  one second. Under a limit without time, the engine receives the time of the watchdog (``watchdog_ms``).
- **Openings** without known moves are set up by ``setboard``. If the engine refuses it, elolab searches for moves that
  lead to the position; the last resort is ``edit``.
- **Moves to a control** are counted by engines from the beginning of their game. Therefore ``setboard`` sends the
  position after the opening as a new game; an engine without ``setboard`` is refused, because it would play by another
  time control. If a position is sent again within a control, the number of moves left is sent with it, and the position
  is sent once more at the next control.
- **Ranks** of Xiangqi count from 0, as on all boards of ten ranks. For other engines, set ``options = {ranks = 1}``.
- **Chess960** is the variant ``fischerandom`` with castling written ``O-O``; other chess is ``normal``, with ``e1g1``.
  Fairy-Stockfish takes the fifth character of any move for a promotion and so misreads ``O-O-O``; it receives the
  king's move to its own rook. Castling is read in any of these forms, and moves may also arrive in SAN.
- **Version 1** has no features: an engine that refuses ``protover`` plays without them. An engine that refuses ``sd``
  would play without a limit, so it is refused.
- **Hash and threads** are the options ``memory`` and ``cores`` if the engine announces these features.
- **A resignation** ("resign", or a result that the engine has lost) is valid at any time. If it comes after the
  engine's own move, it counts at the engine's next turn, unless the opponent's move has ended the game.
- **A result** that the engine claims instead of moving is a resignation if it is a loss. An engine that claims a
  draw or a win, or refuses its opponent's move, plays by other rules. It receives the position by ``setboard`` as a new
  game and is asked again. For an engine that still does not move, see ``arena.play.game``.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from elolab.arena.players.announced_options import AnnouncedOption, unknown_option
from elolab.arena.players.external import QUOTED, ExternalPlayer, ProtocolClient, move_style, without_history
from elolab.arena.players.player import (
    MAX_DEPTH,
    VARIATION_LENGTH,
    Fault,
    NoMove,
    PlayerClock,
    PlayerFault,
    Reply,
    first_word,
    number_of,
)
from elolab.arena.players.process import DeadlinePassed, ProcessEnded
from elolab.arena.players.registry import Converse, Greeting, PlayerError, Protocol
from elolab.arena.protocols import uci
from elolab.arena.protocols.move_texts import RANKED, GameMoves, MoveTexts, RankedMoves
from elolab.arena.protocols.uci import CHESS960_STYLE, RANKS_OPTION, forced_first_rank
from elolab.arena.protocols.uci_family import Information, centipawns
from elolab.engine.games import REGISTERED, game_named, games_over
from elolab.engine.settings.limits import Limits

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position

STYLES = {"normal": "standard", "fischerandom": "castling"}
"""The notation of moves (``Game.write_moves``) for each variant of chess."""
FEATURES_MS = 2_000
"""Time in milliseconds to wait for ``feature`` lines if the engine sends no ``done``, as the protocol specifies."""
MATE_SCORE = 100_000
"""A mate in n moves has the score ``MATE_SCORE + n``; being mated in n moves has ``-MATE_SCORE - n``."""

ACCEPTED = frozenset({
    "ping", "setboard", "playother", "usermove", "time", "draw", "sigint", "sigterm", "reuse", "analyze", "myname",
    "variants", "colors", "name", "pause", "nps", "debug", "memory", "smp", "option", "done", "highlight", "exclude",
    "setscore", "egt", "ics",
})  # fmt: skip
"""Features whose announcement is accepted; others, such as moves in algebraic notation (``san``), are rejected."""


def mistake_in(spec: PlayerSpec) -> PlayerError | None:
    """The error for a player specification that the xboard protocol does not support; otherwise ``None``."""
    limits = spec.limits
    if limits.nodes is not None and limits != Limits(nodes=limits.nodes):
        return PlayerError(
            f"limit = {str(limits)!r}, but xboard has nodes only alone", "give nodes, or a depth with a time"
        )
    if limits.clock_ms is not None and limits.move_time_ms is not None:
        return PlayerError(
            f"limit = {str(limits)!r}, but xboard has a clock or a time a move, not both", "give one of them"
        )
    if (limits.clock_ms or 0) % 1000 or (limits.move_time_ms or 0) % 1000:
        return PlayerError(
            f"limit = {str(limits)!r}, but xboard counts whole seconds", "give a clock or move_time in whole seconds"
        )
    return uci.mistake_in(spec)


# --- Reading lines ----------------------------------------------------------------------------------------------------

_FEATURE = re.compile(r'\b(\w++)\s*+=\s*+(?:"([^"]*)"|(\S+))')
_OPTION = re.compile(r"(.+?)\s-(check|spin|slider|combo|string|file|path|button|save|reset)\b\s*(.*)")
_THINKING = re.compile(r"\s*(-?\d+)[.&+\-!?:]?\s+([+-]?\d+)\s+(\d+)\s+(\d+)")
_FIGURE = re.compile(r"[-\d.]+|\(-\)")
_MOVE_NUMBER = re.compile(r"\d+\.+")
_SQUARES = re.compile(r"[A-Z]?([a-i]\d{1,2})[-x]?([a-i]\d{1,2})=?([nbrq]?)[+#]*", re.IGNORECASE)
"""Matches a move that names both its squares, such as ``h2e2``, ``Ng1-f3`` or ``e7e8q``."""
_MOVE = re.compile(r"(?:move|\d+\s*\.\s*\.\.\.)\s+(\S+)")
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2)\b")
REFUSALS = ("Illegal move", "Invalid move")
"""Beginnings of lines with which engines refuse their opponent's move."""
COMPLAINTS = (*REFUSALS, "Error", "tellusererror")
"""Beginnings of lines with which engines reject input."""
LOSSES = ("0-1", "1-0")
"""The result that means a loss for the engine: for side 0 (the side that moves first in the game) and for side 1."""
_KINDS = {"slider": "spin", "file": "string", "path": "string", "save": "button", "reset": "button"}
"""Kinds of options that differ only in a user interface, each with the kind as which elolab treats it."""


def parse_features(line: str) -> list[tuple[str, str]]:
    """The pairs of name and value in a ``feature`` line, in their order."""
    return [(name, quoted or plain) for name, quoted, plain in _FEATURE.findall(line.partition("feature")[2])]


def parse_option(text: str) -> AnnouncedOption | None:
    """Read an option from the value of a feature ``option``; ``None`` if the value is not an option."""
    found = _OPTION.fullmatch(text)
    if found is None:
        return None
    name, kind, rest = found.groups()
    name = name.strip()
    kind = _KINDS.get(kind, kind)
    if kind == "check":
        return AnnouncedOption(name, kind, "true" if rest.strip() == "1" else "false")
    if kind == "spin":
        numbers = re.findall(r"-?\d+", rest)
        low, high = (number_of(number, 2**64) for number in numbers[1:3]) if len(numbers) > 2 else (None, None)
        return AnnouncedOption(name, kind, numbers[0] if numbers else "", low, high)
    if kind == "combo":
        choices = [choice.strip() for choice in rest.split("///")]
        default = next((choice[1:] for choice in choices if choice.startswith("*")), choices[0])
        return AnnouncedOption(name, kind, default, choices=tuple(choice.removeprefix("*") for choice in choices))
    return AnnouncedOption(name, kind, rest)


def parse_thinking(line: str) -> Information:
    """Read a line of thinking output: depth, score, centiseconds and nodes. All parts are ``None`` for other lines."""
    found = _THINKING.match(line)
    if found is None:
        return Information()
    depth, score, _, nodes = found.groups()
    return Information(
        score=_centipawns(number_of(score)), depth=max(0, number_of(depth, MAX_DEPTH)), nodes=number_of(nodes)
    )


def parse_thinking_time(line: str) -> float | None:
    """Time since the start of the search, in milliseconds, from a line of thinking output; ``None`` for other lines."""
    found = _THINKING.match(line)
    return None if found is None else 10.0 * number_of(found[3])


def variation_text(line: str) -> str:
    """The moves of the principal variation in a line of thinking output; empty if there are none.

    Removes extra numbers before the variation, move numbers, and the piece letters of moves that name both squares.
    """
    found = _THINKING.match(line)
    words = [] if found is None else line[found.end() :][:VARIATION_LENGTH].split()
    words = [word for word in words if not _FIGURE.fullmatch(word)]
    if words and words[0].startswith("("):
        return ""  # book moves, not a variation
    return " ".join(filter(None, map(bare_move, words)))


@functools.lru_cache(maxsize=10_000)
def bare_move(word: str) -> str:
    """Remove the move number from a move.

    A move that names both its squares is also reduced to the squares and the promotion piece, in lower case.
    """
    word = _MOVE_NUMBER.sub("", word)
    found = _SQUARES.fullmatch(word)
    return word if found is None else "".join(found.groups()).lower()


def _centipawns(number: int) -> int:
    moves = abs(number) - MATE_SCORE
    return centipawns("cp", number) if moves < 0 else centipawns("mate", max(moves, 1) if number > 0 else -moves)


def parse_move(line: str) -> str | None:
    """The move in a line ``move h2e2`` or (version 1) ``1. ... h2e2``, as written; ``None`` for other lines."""
    found = _MOVE.match(line)
    return None if found is None else found.group(1)


def is_refusal(line: str) -> bool:
    """Whether a line refuses something that a game needs: a move, a position or a variant."""
    if line.startswith("Error"):
        return any(word in line for word in ("setboard", "edit", "variant"))
    return line.startswith((*REFUSALS, "tellusererror"))


def is_answer(line: str) -> bool:
    """Whether a line ends a search: a move, a resignation, a result, or ``move`` without a move."""
    return (
        parse_move(line) is not None
        or _RESULT.match(line) is not None
        or first_word(line) == "resign"
        or line == "move"
    )


# --- Writing lines ----------------------------------------------------------------------------------------------------


def option_command(option: AnnouncedOption, value: str) -> str:
    """The command that sets an option; raises ``PlayerFault`` (``startup_failure``) for an invalid value."""
    if option.kind == "button":
        return f"option {option.name}"
    checked = option.check(value)
    return f"option {option.name}={int(checked == 'true') if option.kind == 'check' else checked}"


def all_options(announced: Mapping[str, AnnouncedOption], features: Mapping[str, str]) -> dict[str, AnnouncedOption]:
    """All options of an engine, keyed by name in lower case.

    These are the announced options, ``memory`` if the engine has the feature ``memory``, and ``cores`` if it has
    ``smp``.
    """
    own = {
        name: AnnouncedOption(name, "spin", low=1, high=2**31)
        for name, feature in (("memory", "memory"), ("cores", "smp"))
        if features.get(feature) == "1"
    }
    return {**own, **announced}


def option_commands(
    options: Sequence[tuple[str, str]], announced: Mapping[str, AnnouncedOption], features: Mapping[str, str]
) -> list[str]:
    """The commands that set a player's options.

    The keys of ``announced`` are the names of the engine's options in lower case, the keys of ``features`` the names of
    its features. The features ``memory`` and ``smp`` add the options ``memory`` and ``cores``. Raises ``PlayerFault``
    (``startup_failure``) for an option that the engine would reject.
    """
    known = all_options(announced, features)
    commands = []
    for name, value in options:
        key = name.lower()
        if key in announced:
            if announced[key].must_be_sent(value):
                commands.append(option_command(announced[key], value))
        elif key in known:
            commands.append(f"{key} {known[key].check(value)}")
        elif key != RANKS_OPTION:
            raise unknown_option(name, known)
    return commands


def limit_commands(limits: Limits, watchdog_ms: int, moves_to_go: int = 0) -> list[str]:
    """The commands that set the limits at the start of a game. Without a time limit, ``watchdog_ms`` is the time per
    move.

    ``moves_to_go`` is the number of moves to the first time control; 0 means the number in ``limits``.
    """
    commands = []
    if limits.nodes is not None:
        commands += [f"nps {limits.nodes}", "st 1"]
    elif limits.move_time_ms is not None:
        commands.append(f"st {limits.move_time_ms // 1000}")
    elif limits.clock_ms is not None:
        minutes, seconds = divmod(limits.clock_ms // 1000, 60)
        base = f"{minutes}:{seconds:02}" if seconds else f"{minutes}"
        moves = moves_to_go or limits.moves_per_control
        commands.append(f"level {moves} {base} {limits.increment_ms / 1000:g}")
    else:
        commands.append(f"st {max(1, watchdog_ms // 1000)}")
    if limits.depth is not None:
        commands.append(f"sd {limits.depth}")
    return commands


def clock_commands(clock: PlayerClock | None) -> list[str]:
    """The commands that send both clocks, in centiseconds, before a move; none without a clock.

    If the opponent has no clock, the player's own time is sent for both.
    """
    if clock is None:
        return []
    other_ms = clock.remaining_ms if clock.opponent_remaining_ms is None else clock.opponent_remaining_ms
    return [f"time {max(1, clock.remaining_ms // 10)}", f"otim {max(1, other_ms // 10)}"]


def setboard_command(position: str, engine_name: str) -> str:
    """The command that sets up a Xiangqi position, given as a FEN.

    The engine HoiXiangqi uses the letters H and E for horse and elephant, and a FEN without the two fields that Xiangqi
    does not need. This engine is recognised by ``engine_name``, the name that it announced.
    """
    if not engine_name.startswith("HoiXiangqi"):
        return f"setboard {position}"
    board, side, _, _, *counters = position.split()
    return " ".join(["setboard", board.translate(str.maketrans("nbNB", "heHE")), side, *counters])


def is_editable(position: str) -> bool:
    """Whether ``edit`` can set up a chess position, given as a FEN.

    White must be to move, no en passant capture may be possible, and each king and rook on its original square must
    have the right to castle.
    """
    board, side, rights, passing, *_ = position.split()
    last, *_, first = (re.sub(r"\d", lambda digits: int(digits[0]) * ".", row) for row in board.split("/"))
    homes = (("K", first, "K", 7, "R"), ("Q", first, "K", 0, "R"), ("k", last, "k", 7, "r"), ("q", last, "k", 0, "r"))
    implied = [right for right, row, king, file, rook in homes if row[4] == king and row[file] == rook]
    return (side, passing) == ("w", "-") and sorted(rights.replace("-", "")) == sorted(implied)


def edit_commands(position: str, first_rank: int) -> list[str]:
    """The lines of an ``edit`` command, which sets up a position piece by piece.

    The side that moves first in the game must be to move. ``first_rank`` is 0 or 1, the number of the first rank.
    """
    squares: tuple[list[str], list[str]] = ([], [])
    rows = position.split()[0].split("/")
    for rank, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                squares[letter.islower()].append(f"{letter.upper()}{'abcdefghi'[file]}{rank + first_rank}")
                file += 1
    return ["edit", "#", *squares[0], "c", *squares[1], "."]


# --- The conversation -------------------------------------------------------------------------------------------------


class XboardClient(ProtocolClient):
    """Tracks the expected replies and keeps the engine's output. Does no input or output itself."""

    def __init__(self) -> None:
        super().__init__()
        self.features: dict[str, str] = {}
        self.options: dict[str, AnnouncedOption] = {}
        """Options that the engine announced, keyed by name in lower case."""
        self.needs_time = False
        """Whether the engine has asked for more time to list its features (``done=0``)."""
        self.complaints: list[str] = []
        """Lines with which the engine has rejected input since the last request."""
        self.offers_draw = False
        self.claim = ""
        """The line with a result or resignation that the engine sent without being asked; empty if there is none.

        Some engines stop playing after such a line.
        """
        self._pings = 0
        self._thinking = ""

    def has(self, feature: str) -> bool:
        """Whether the engine announced the feature with the value 1."""
        return self.features.get(feature) == "1"

    def hello(self) -> list[str]:
        """The lines that begin the handshake. The client then expects ``feature done=1``."""
        return self._expect("done", "xboard", "protover 2")

    def give_up_features(self) -> None:
        """Stop waiting for ``feature done=1``, which the engine has not sent."""
        self._due.discard("done")

    def acknowledgements(self, *more: str) -> list[str]:
        """The lines that accept or reject each announced feature; ``more`` are accepted besides ``ACCEPTED``."""
        accepted = {*ACCEPTED, *more}
        return [f"{'accepted' if name in accepted else 'rejected'} {name}" for name in self.features]

    def synchronise(self, *before: str) -> list[str]:
        """The lines to send: ``before`` and, if the engine supports it, ``ping``. The client then expects ``pong``."""
        self.complaints = []
        if not self.has("ping"):
            return [*before]
        self._pings += 1
        return self._expect(f"pong {self._pings}", *before, f"ping {self._pings}")

    def stop(self) -> list[str]:
        """The command that asks the engine to move at once (``?``); an engine may ignore it."""
        return ["?"]

    def think(self, *lines: str) -> list[str]:
        """Return ``lines``, the commands that start a search. The client then expects a move."""
        self.answer = self._thinking = ""
        self.complaints = []
        return self._expect("move", *lines)

    def receive(self, line: str) -> str:
        line = line.strip()
        if _THINKING.match(line):
            self._thinking = line
            return ""
        word = first_word(line)
        if word == "feature":
            return self._introduce(line)
        if word == "pong":
            return self._take(" ".join(line.split()))
        if is_answer(line):
            return self._take_answer(line)
        if line.split()[:2] == ["offer", "draw"]:
            self.offers_draw = True
        elif line.startswith(COMPLAINTS):
            self.complaints.append(line)
            if "protover" in line and not self.features:
                return self._take("done")
            if line.startswith(REFUSALS) and "move" in self._due:
                return self._take_answer(line)  # it cannot answer a move that it refuses
            if line.startswith("tellusererror"):
                # Some engines end after this line.
                self._due = {reply for reply in self._due if not reply.startswith("pong")}
        return ""

    def _introduce(self, line: str) -> str:
        for name, value in parse_features(line):
            if name == "option":
                option = parse_option(value)
                if option is not None:
                    self.options[option.name.lower()] = option
            self.features[name] = value
            if name == "myname":
                self.engine_name = value
            if name == "done":
                self.needs_time = value == "0"
                if value == "1":
                    return self._take("done")
        return ""

    def _take_answer(self, line: str) -> str:
        """Process a line that ends a search; returns ``move`` if it is the expected answer, else an empty text.

        While ``pong`` is expected, the line belongs to an earlier position: only a result or resignation is kept.
        """
        if "move" not in self._due or any(reply.startswith("pong") for reply in self._due):
            self.unexpected += 1
            if (_RESULT.match(line) or first_word(line) == "resign") and first_word(self.claim) != "resign":
                self.claim = line
            return ""
        self.answer = line
        return self._take("move")

    def has_resigned(self, side: int) -> bool:
        """Whether the engine, which plays ``side``, has resigned while it was not asked for a move."""
        return first_word(self.claim) == "resign" or (self.claim.startswith(LOSSES[side]) and "resign" in self.claim)

    def information(self) -> Information:
        """Score, depth and nodes of the last line of thinking output; all parts are ``None`` if there was none."""
        return parse_thinking(self._thinking)

    @property
    def reported_ms(self) -> float | None:
        """Duration of the last search in ms, from reported centiseconds; ``None`` if the engine reported none."""
        return parse_thinking_time(self._thinking)

    @property
    def variation(self) -> str:
        """The moves of the principal variation in the last line of thinking output; empty if there are none."""
        return variation_text(self._thinking)

    @property
    def all_options(self) -> dict[str, AnnouncedOption]:
        """Options of the engine by lower-case name, with ``memory`` and ``cores`` if it supports them."""
        return all_options(self.options, self.features)

    def move_style(self, variant: str) -> str:
        """The notation (``Game.write_moves``) in which the engine reads the moves of a variant."""
        if self.has("san"):
            return "san"
        takes_rook = variant == "fischerandom" and self.engine_name.startswith("Fairy-Stockfish")
        return CHESS960_STYLE if takes_rook else STYLES[variant]

    def check_variant(self, variant: str) -> None:
        """Raise ``PlayerFault`` (``startup_failure``) if the engine does not play the variant, such as ``xiangqi``.

        An engine that sends no list of variants is assumed to play any variant but Chess960.
        """
        variants = self.features.get("variants")
        played = [variant] if variants is None and STYLES.get(variant) != "castling" else []
        if variant not in (played or re.split(r"[\s,]+", variants or "normal")):
            shown = "no list of variants" if variants is None else f"the variants {variants[:QUOTED]!r}"
            raise PlayerFault("startup_failure", f"does not play {variant}: it has {shown}")

    def new_game_lines(self, variant: str, mode: str) -> list[str]:
        """The commands that begin a game of a variant in ``force`` mode; ``mode`` is ``hard`` (ponder) or ``easy``."""
        return ["new", *([] if variant == "normal" else [f"variant {variant}"]), "force", mode, "post"]

    def move_lines(self, words: Iterable[str]) -> list[str]:
        """The commands that send moves. ``words`` are the moves in the engine's notation."""
        command = "usermove " if self.has("usermove") else ""
        return [command + word for word in words]

    def clock_lines(self, clock: PlayerClock | None) -> list[str]:
        """The commands that send the clocks before a move; none if the engine has declined them (``time=0``)."""
        return clock_commands(clock) if self.features.get("time") != "0" else []

    def take_offer(self) -> bool:
        """Whether the engine has offered a draw; clears the offer."""
        offered, self.offers_draw = self.offers_draw, False
        return offered


# --- The player -------------------------------------------------------------------------------------------------------


class XboardPlayer(ExternalPlayer[XboardClient]):
    """An external engine over the xboard protocol; see ``arena.players.player.Player``."""

    protocol_name = "xboard"

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game, XboardClient)
        self._first_rank = forced_first_rank(spec.options) or 0
        self._texts: MoveTexts = RankedMoves(self._first_rank)
        """Converts moves to and from the engine's notation in the current game."""
        self._variant = REGISTERED[game].xboard_variants[0]
        self._start = ""
        """The position before the first move of ``_known``, as a FEN."""
        self._refuses_setboard = False
        self._path: tuple[str, ...] = ()
        """Moves from the start of the game to the opening's position; empty if the position is set up directly."""
        self._known: list[str] = []
        """All moves that the engine has received or played: ``_path``, the opening's moves and the game's."""
        self._plays = False
        """Whether the engine is out of ``force`` mode; it then answers each move without ``go``."""
        self._draw_is_offered = False
        self._restarts = False
        """Whether the next request for a move must send the position as the start of a new game."""
        self._has_short_control = False
        """Whether the engine was given fewer moves to its next time control than a full control has."""

    @property
    def announced_options(self) -> Mapping[str, AnnouncedOption] | None:
        return self._client.all_options

    def _handshake(self, deadline_ns: int) -> None:
        """Receive the features, reply to them, and set the options.

        Raises ``PlayerFault`` (``startup_failure``) if the engine does not support the game, the limit or an option.
        """
        self._learn_features(deadline_ns)
        client = self._client
        client.check_variant(REGISTERED[self._game].xboard_variants[0])
        if self.spec.limits.nodes is not None and not client.has("nps"):
            raise PlayerFault(
                "startup_failure",
                f"cannot receive limit = {str(self.spec.limits)!r}: it has no feature nps=1, without which xboard "
                "knows no nodes; give a depth or a time",
            )
        commands = option_commands(self.spec.options, client.options, client.features)
        more = () if self._game in RANKED else ("san",)
        self._converse(client.synchronise(*client.acknowledgements(*more), *commands), deadline_ns)

    def _learn_features(self, deadline_ns: int) -> None:
        """Wait until the engine has sent its features.

        Waits for ``FEATURES_MS``, or until the deadline if the engine has sent no feature or has asked for more time.
        """
        client = self._client
        self._running().send(client.hello(), deadline_ns)
        while not client.is_idle:
            is_patient = client.needs_time or not client.features
            usual_ns = time.monotonic_ns() + FEATURES_MS * 1_000_000
            until_ns = deadline_ns if is_patient else min(deadline_ns, usual_ns)
            try:
                client.receive(self._running().read_line(until_ns, self._starting))
            except DeadlinePassed:
                if is_patient:
                    raise
                client.give_up_features()

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        """Begin a game. Starts a new process if the engine has asked for one per game (``reuse=0``)."""
        if self._games > 0 and self._client.features.get("reuse") == "0":
            self.close()
        super().new_game(opening, stop)

    def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        """Begin a game in ``force`` mode: send the limits and the opening.

        Raises ``PlayerFault`` if the engine cannot play from the opening. If the engine refuses ``setboard`` for the
        first time, raises ``ProcessEnded``, so that a new process is started and receives the opening in another way.
        """
        if self._game not in RANKED:
            style = move_style(self._game, opening.position)
            self._variant = REGISTERED[self._game].xboard_variants[style == CHESS960_STYLE]
            self._client.check_variant(self._variant)
            self._texts = GameMoves(game_named(self._game), self._client.move_style(self._variant))
        if opening.moves and self.spec.limits.moves_per_control and self._has_setboard:
            self._path = ()
            setup, setup_moves = (
                [self._setup_command(game_named(self._game).position(opening.position, opening.moves))],
                [],
            )
        else:
            setup = self._setup_commands(opening.position)
            setup_moves = [*self._path, *opening.moves]
            if setup_moves and self.spec.limits.moves_per_control:
                raise PlayerFault("startup_failure", f"{self.name}: {_miscounted(self.spec.limits, len(setup_moves))}")
        self._start = game_named(self._game).start if self._path else opening.position
        self._known = [*self._path, *opening.moves]
        self._plays = self._draw_is_offered = self._has_short_control = self._restarts = False
        self._client.take_offer()
        moves = self._client.move_lines(self._texts.write(self._start, setup_moves))
        self._watch_new_game([*setup, *moves], deadline_ns, stop)
        refusal = self._refusal()
        if not refusal:
            return
        if setup and setup[0].startswith("setboard") and not self._refuses_setboard:
            self._refuses_setboard = True
            raise ProcessEnded  # set up differently in a new process: some engines crash after a refusal
        raise self._failed("startup_failure", Fault("refused_opening", said=refusal[:QUOTED]))

    def _watch_new_game(self, opening: Sequence[str], deadline_ns: int, stop: StopFlag, moves_to_go: int = 0) -> None:
        """Begin a game in ``force`` mode: send the variant, the limits and ``opening``, the commands of the opening.

        ``moves_to_go`` is the number of moves to the first time control; 0 means the number in the player's limits.
        Discards results that the engine claimed in the previous game. Raises ``PlayerFault`` if the engine refuses a
        depth limit.
        """
        limits = limit_commands(self.spec.limits, self.spec.watchdog_ms, moves_to_go)
        commands = [*self._client.new_game_lines(self._variant, "hard" if self.spec.ponder else "easy"), *limits]
        self._converse(self._client.synchronise(*commands, *opening), deadline_ns, stop)
        for line in self._client.complaints:
            if self.spec.limits.depth is not None and limits[-1] in line:
                raise self._failed("startup_failure", Fault("no_depth", command=limits[-1], said=line[:QUOTED]))
        # Earlier claims belong to the previous game. Without ping, these are all lines received so far.
        if not self._client.has("ping"):
            self._drain_unsolicited_lines()
        self._client.claim = ""

    def _setup_commands(self, position: str) -> list[str]:
        """The commands that set up an opening's position; empty for the start position of the game.

        Without ``setboard``, a Xiangqi position is reached by moves if possible: then no commands are returned, and
        ``_path`` is set to these moves. Raises ``PlayerFault`` if the position can be neither set up nor reached.
        """
        from elolab.engine.games.proof_game import proof_game

        game = game_named(self._game)
        self._path = ()
        if position == game.start:
            return []
        if self._has_setboard:
            return [setboard_command(game.position(position).text, self._client.engine_name)]
        text = game.position(position).text
        if self._game not in RANKED:
            if not is_editable(text) or self._variant != REGISTERED[self._game].xboard_variants[0]:
                raise PlayerFault("startup_failure", f"{self.name}: {_unreachable(position)}")
            return edit_commands(text, 1)
        path = proof_game(self._game, position)
        if path is not None:
            self._path = path
            return []
        if game.side_to_move(position) != 0:
            raise PlayerFault("startup_failure", f"{self.name}: {_unreachable(position)}")
        return edit_commands(text, self._first_rank)

    @property
    def _has_setboard(self) -> bool:
        return self._client.has("setboard") and not self._refuses_setboard

    def _new_lines(self, first: int) -> list[str]:
        """The commands that send the moves of the game (``_known``) from index ``first`` on."""
        return self._client.move_lines(self._texts.write(self._start, self._known, first))

    def _refusal(self) -> str:
        """The line with which the engine refused something that a game needs; empty if it refused nothing."""
        return next(filter(is_refusal, self._client.complaints), "")

    def hear_draw_offer(self) -> None:
        """Record a draw offer to send before the next search, unless the engine declines offers (``draw=0``)."""
        self._draw_is_offered = self._client.features.get("draw") != "0"

    def _question(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag
    ) -> list[str]:
        """Send the new moves, or the position as a new game; returns the commands that request a move.

        The last command is ``go``, or the opponent's move if the engine is pondering.
        """
        side = position.side_to_move
        first, self._known = len(self._known), [*self._path, *moves]
        if not self._restarts:
            self._drain_unsolicited_lines()
            self._take_resignation(side)
        if self._plays and len(self._known) == first + 1 and not self._client.claim and not self._needs_new_game(clock):
            lines = self._new_lines(first)
        else:
            if not self._needs_new_game(clock):
                self._send_moves(first, clock, stop)
                self._take_resignation(side)
            if self._needs_new_game(clock):
                self._send_as_new_game(position, clock, stop)
            lines = ["go"]
        self._plays = self.spec.ponder
        offer, self._draw_is_offered = ["draw"] if self._draw_is_offered else [], False
        return self._client.think(*offer, *self._client.clock_lines(clock), *lines)

    def _restart(self, position: Position, moves: Sequence[str]) -> None:
        """Make the next request send the position by ``setboard``.

        Raises ``NoMove`` if the engine does not support ``setboard``.
        """
        if not self._has_setboard:
            raise NoMove(Fault("no_setboard"))
        self._restarts = True

    def _take_resignation(self, side: int) -> None:
        """Raise ``PlayerResigned`` if the engine, playing ``side``, has resigned while it was not asked for a move.

        Raises ``NoMove`` instead if the engine's own score does not indicate a lost position.
        """
        if self._client.has_resigned(side):
            raise self._resignation(self._client.claim, 0, self._client.information().score)

    def _needs_new_game(self, clock: PlayerClock | None) -> bool:
        """Whether the next request must send the position as a new game; always false without ``setboard``."""
        is_miscounting = (
            self._has_short_control and clock is not None and clock.moves_to_go == self.spec.limits.moves_per_control
        )
        return self._has_setboard and (self._restarts or is_miscounting or self._client.claim != "")

    def _send_moves(self, first: int, clock: PlayerClock | None, stop: StopFlag) -> None:
        """Send the moves of the game (``_known``) from index ``first`` on in ``force`` mode.

        Waits until the engine has processed them; no clock runs meanwhile.
        """
        asked = self._client.synchronise("force", *self._new_lines(first))
        sent = " ".join(self._known[first:])
        self._send_checked(lambda: self._converse(asked, self._deadline_ns(clock), stop), sent)

    def _send_as_new_game(self, position: Position, clock: PlayerClock | None, stop: StopFlag) -> None:
        """Send the position as a new game, in ``force`` mode."""
        setup = self._setup_command(position)
        moves_to_go = 0 if clock is None else clock.moves_to_go
        self._has_short_control = moves_to_go < self.spec.limits.moves_per_control
        self._restarts = False
        self._send_checked(lambda: self._watch_new_game([setup], self._deadline_ns(clock), stop, moves_to_go), setup)

    def _setup_command(self, position: Position) -> str:
        """The command that sets up a position as the start of a new game."""
        return setboard_command(without_history(position), self._client.engine_name)

    def _deadline_ns(self, clock: PlayerClock | None) -> int:
        return time.monotonic_ns() + self._allowance_ms(clock) * 1_000_000

    def _send_checked(self, converse: Callable[[], None], command: str) -> None:
        """Call ``converse``, which sends ``command``. Raises ``NoMove`` if the engine refuses the command.

        Raises ``PlayerFault`` if the engine ends or does not answer in time.
        """
        try:
            converse()
        except DeadlinePassed:
            raise self._failed("no_answer", Fault("no_pong")) from None
        except ProcessEnded:
            raise self._failed("crash", Fault("ended_listening")) from None
        if self._refusal():
            raise NoMove(Fault("refused", said=self._refusal()[:QUOTED], command=command))

    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        line, information = self._client.answer, self._client.information()
        score, side = information.score, position.side_to_move
        result = _RESULT.match(line)
        if first_word(line) == "resign" or (result is not None and result.group(1) == LOSSES[side]):
            raise self._resignation(line, elapsed_ns, score)
        if result is not None or line == "move" or line.startswith(REFUSALS):
            raise NoMove(Fault("answered", said=line[:QUOTED]), elapsed_ns, score)
        written = parse_move(line)
        move = None if written is None else self._texts.read(bare_move(written), position)
        if move is None:
            raise self._failed("illegal_move", Fault("not_a_move", said=line[:QUOTED]))
        self._known.append(move)
        return Reply(
            move, score, information.depth, information.nodes, elapsed_ns, line,
            reading=Fault("ranks_from", rank=self._first_rank) if self._game in RANKED else None,
            offers_draw=self._client.take_offer(), reported_ms=self._client.reported_ms,
            principal_variation=self._texts.read_line(self._client.variation, position),
        )  # fmt: skip

    def _overdue(self, clock: PlayerClock | None, began_ns: int) -> Exception:
        """Stop an engine that has exceeded the time for its move; returns the exception to raise.

        The search began at ``began_ns`` (``time.monotonic_ns``). The exception is ``NoMove`` if the engine has claimed
        a result, otherwise ``PlayerFault``.
        """
        if self._client.claim:
            self._halt()
            what = Fault("claimed", said=self._client.claim[:QUOTED])
            return NoMove(what, time.monotonic_ns() - began_ns)
        if not self.spec.limits.is_timed:
            return super()._overdue(clock, began_ns)
        overdue = self._no_move_in_time(clock)
        if self._halt():
            return PlayerFault("time_forfeit", overdue, self.name)
        return self._failed("time_forfeit", overdue)


def _unreachable(position: str) -> str:
    return (
        f"cannot receive the opening {position!r}: it has no setboard, and no moves were found that lead there; use "
        "openings of fewer plies, games in PGN from the start on, or another protocol"
    )


def _miscounted(limits: Limits, plies: int) -> str:
    return (
        f"cannot receive limit = {str(limits)!r} after an opening of {plies} plies: it has no setboard, and would "
        "count their moves towards the first control; give a clock without moves to a control, such as 'clock=60+1', "
        "games without openings, or another protocol"
    )


def find_games(converse: Converse) -> tuple[str, ...]:
    """Find out which games a program plays: the games in its feature ``variants``.

    A program that does not announce this feature is assumed to play only chess. ``converse`` sends lines and returns
    the answers.
    """
    lines = converse(("xboard", "protover 2"), lambda line: "done=1" in line)
    features = dict(pair for line in lines if line.startswith("feature ") for pair in parse_features(line))
    played = re.split(r"[\s,]+", features.get("variants", "normal"))
    return tuple(game for game in games_over("xboard") if REGISTERED[game].xboard_variants[0] in played)


PROTOCOL = Protocol(
    name="xboard",
    title="xboard",
    player=lambda spec, game, _: XboardPlayer(spec, game),
    games=games_over("xboard"),
    keys=uci.KEYS,
    read=uci.read_keys,
    check=mistake_in,
    remedy="options = {...}",
    can_ponder=True,
    default_limit="depth=6",
    find_games=find_games,
    greeting=Greeting(("xboard", "protover 2"), lambda line: line.startswith("feature ") and "=" in line),
)
