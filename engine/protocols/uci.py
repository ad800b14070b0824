"""UCI (Meyer-Kahlen and Huber, 2006) for chess and, in two dialects, for Xiangqi.

In Xiangqi, engines of the Fairy-Stockfish family number ranks from 1 to 10 and announce ``UCI_Variant``. Engines of the
"cyclone" dialect number ranks from 0 to 9 and do not announce it. The user chooses the dialect when the engine is
started. In chess, castling is written as a king's move of two files or, with ``UCI_Chess960``, onto its own rook. Both
forms are always understood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from elolab.engine.engine import Clock, SearchResult
from elolab.engine.errors import UserError
from elolab.engine.games import REGISTERED
from elolab.engine.protocols.engine_server import (
    MAX_TIME_MS,
    CommandError,
    EngineServer,
    SearchProgress,
    SearchTask,
    counters_text,
    one_line,
    read_count,
)
from elolab.engine.protocols.options import (
    REPETITION_OPTIONS,
    EngineOption,
    OptionError,
    nearest_option,
    read_repetition,
    repetition_option,
)
from elolab.engine.search.records import MAX_LINES
from elolab.engine.settings.limits import Limits
from elolab.engine.values import mate_distance

THREADS = EngineOption("Threads", "spin", "1", 1, 1)
PONDER = EngineOption("Ponder", "check", "false")
LINES = EngineOption("MultiPV", "spin", "1", 1, MAX_LINES)
CLEAR = EngineOption("Clear Hash", "button")
REPETITION = REPETITION_OPTIONS[0]
CHESS960 = EngineOption("UCI_Chess960", "check", "false")
_STYLES = {"false": "standard", "true": "chess960"}
"""Style of moves in chess, by the value of ``UCI_Chess960``; see ``Game.write_moves``."""

_NUMBERS = ("depth", "nodes", "movestogo")
_TIMES = ("wtime", "btime", "winc", "binc", "movetime")
_KEYWORDS = (*_NUMBERS, *_TIMES, "mate", "infinite", "ponder", "searchmoves")


def variant_option(game: str) -> EngineOption:
    """The option ``UCI_Variant``, with the game as its only choice."""
    return EngineOption("UCI_Variant", "combo", game, choices=(game,))


class UciServer(EngineServer):
    """Server for one session in UCI."""

    other_names: ClassVar = {"hash_mb": "Hash", "clock_reserve_ms": "Move Overhead"}
    first_rank: ClassVar[int] = 1
    """Number of the lowest rank in the notation of moves: 0 or 1."""

    @property
    def _plays_chess(self) -> bool:
        return not REGISTERED[self.game.name].is_ranked

    def open(self) -> None:
        """Set up the session; sends nothing, because UCI allows no output before the command ``uci``."""
        self._lines = 1
        self._ponder_option = False
        self._debug = False
        self._is_warm = False
        self._style = _STYLES[CHESS960.default] if self._plays_chess else str(self.first_rank)
        self.set_position(None, ())

    def handle(self, line: str) -> None:
        """Execute one line with a command. Unknown words before the command are skipped, as UCI requires."""
        words = line.split()
        if self.first_rank == 0 and words[:1] in (["fen"], ["startpos"]):
            words.insert(0, "position")  # the cyclone dialect may leave it out
        actions: dict[str, Callable[[Sequence[str]], None]] = {
            "uci": self._introduce, "debug": self._set_debug, "isready": self._get_ready, "setoption": self._set_option,
            "ucinewgame": self._new_game, "position": self._set_position, "go": self._go, "stop": self._stop_search,
            "ponderhit": self._ponder_hit, "quit": self._quit,
        }  # fmt: skip
        for at, word in enumerate(words):
            if word in actions:
                self._attempt(actions[word], word, words[at + 1 :])
                return
        if self._debug:
            self.warn(f"unknown command {line!r}")

    def warn(self, message: str) -> None:
        """Send a message for the user, as ``info string``."""
        self.say(f"info string {one_line(message)}")

    def show(self, progress: SearchProgress) -> None:
        """Send one ``info`` line with depths, score, nodes, speed, hash usage, time and variation."""
        words = ["info", "depth", progress.depth, "seldepth", progress.deepest_ply]
        if self._lines > 1:
            words += ["multipv", progress.line]
        words += ["score", format_score(progress.score), "nodes", progress.nodes]
        if progress.time_ms > 0:
            words += ["nps", round(progress.nodes / progress.time_ms * 1000)]
        words += ["hashfull", self.engine.table_permille, "time", round(progress.time_ms)]
        words += ["pv", *self.game.write_moves(self.board.copy, progress.moves, self._style)]
        self.say(" ".join(str(word) for word in words))

    def answer(self, result: SearchResult) -> None:
        """Send ``bestmove`` with the reply to ponder on."""
        if self._debug:
            self.say(f"info string {counters_text(result)}")
        expected = result.principal_variation[1:2]
        move, *reply = self.game.write_moves(self.board.copy, [str(result.move), *expected], self._style)
        self.say(" ".join(["bestmove", move, *(["ponder", *reply] if reply else [])]))

    def answer_nothing(self) -> None:
        """Send ``bestmove 0000``, which means that there is no move."""
        self.say("bestmove 0000")

    def _attempt(self, action: Callable[[Sequence[str]], None], command: str, words: Sequence[str]) -> None:
        if self.is_searching and command in ("uci", "setoption", "ucinewgame", "position", "go"):
            if not self.is_stopping:
                self.warn(f"{command} is ignored during a search")
                return
            self.settle()  # the search is about to answer; the program need not have waited for the answer
        try:
            action(words)
        except UserError as error:
            self.warn(str(error))

    def _introduce(self, words: Sequence[str]) -> None:
        self.say(f"id name {self.title}")
        self.say("id author elolab contributors")
        own = [CHESS960] if self._plays_chess else [repetition_option(REPETITION, self.rules.repetition)]
        if not self._plays_chess and self.first_rank == 1:
            own.append(variant_option(self.game.name))
        for option in (THREADS, PONDER, LINES, CLEAR, *own, *self.parameter_options()):
            self.say(option.announcement(keyword=True))
        self.say("uciok")

    def _set_debug(self, words: Sequence[str]) -> None:
        self._debug = list(words[:1]) == ["on"]

    def _get_ready(self, words: Sequence[str]) -> None:
        if not self._is_warm and not self.is_searching:
            self.warm_up()
            self._is_warm = True
        self.prepare_memory()
        self.say("readyok")

    def _set_option(self, words: Sequence[str]) -> None:
        if list(words[:1]) != ["name"]:
            raise CommandError("setoption: expected name NAME value VALUE")
        at = list(words).index("value") if "value" in words else len(words)
        name, value = " ".join(words[1:at]), " ".join(words[at + 1 :])
        wanted = name.lower()
        if wanted == PONDER.name.lower():
            self._ponder_option = PONDER.read_switch(value)
        elif wanted == LINES.name.lower():
            self._lines = LINES.read_number(value)
        elif wanted == THREADS.name.lower():
            THREADS.read_number(value)
        elif wanted == CLEAR.name.lower():
            self.new_game()
        elif wanted == CHESS960.name.lower() and self._plays_chess:
            self._style = _STYLES["true" if CHESS960.read_switch(value) else "false"]
        elif wanted == REPETITION.lower() and not self._plays_chess:
            self.set_repetition(read_repetition(REPETITION, value))
        elif wanted == "uci_variant" and self.first_rank == 1 and not self._plays_chess:
            if value.lower() != self.game.name:
                raise OptionError(f"option UCI_Variant = {value!r}, expected {self.game.name}")
        elif not self.set_parameter(name, value):
            raise OptionError(f"there is no option {name!r}{nearest_option(name, self.game.name)}")

    def _new_game(self, words: Sequence[str]) -> None:
        self.new_game()
        self.prepare_memory()

    def _set_position(self, words: Sequence[str]) -> None:
        self.set_position_of(words, str(self.first_rank))

    def _stop_search(self, words: Sequence[str]) -> None:
        if self.is_searching:
            self.stop()

    def _ponder_hit(self, words: Sequence[str]) -> None:
        if self.is_searching:
            self.ponder_hit()

    def _quit(self, words: Sequence[str]) -> None:
        self.finish()
        self.end()

    def _go(self, words: Sequence[str]) -> None:
        try:
            task = self._read_go(words)
        except UserError as error:
            self.warn(str(error))
            self.answer_nothing()
            return
        self.start(task)

    def _read_go(self, words: Sequence[str]) -> SearchTask:
        """Convert the arguments of ``go`` to a search task. Raises ``CommandError``."""
        position = self.board
        found, moves = self._read_limits(words)
        legal = set(position.legal_moves())
        wanted = dict.fromkeys(self.game.read_moves(position, [move], str(self.first_rank))[0] for move in moves)
        allowed = [move for move in wanted if move in legal]
        if moves and not allowed:
            raise CommandError(f"searchmoves: none is legal here: {' '.join(moves)}")
        limits, clock = self._limits(found, position.side_to_move)
        ponders = "ponder" in words
        is_endless = not (limits.is_timed or limits.depth or limits.nodes)
        return SearchTask(
            position, limits, clock, tuple(allowed), min(self._lines, len(allowed or legal) or 1), ponders,
            until_stopped="infinite" in words or (is_endless and not ponders),
        )  # fmt: skip

    def _read_limits(self, words: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        """Parse the arguments of ``go``: returns each number, by the keyword before it, and the moves of
        ``searchmoves``.

        Raises ``CommandError``.
        """
        found: dict[str, int] = {}
        moves: list[str] = []
        rest = list(words)
        while rest:
            name = rest.pop(0)
            if name == "searchmoves":
                while rest and rest[0] not in _KEYWORDS:
                    moves.append(rest.pop(0))
            elif name in _NUMBERS or name in _TIMES:
                high = 10**15 if name in _NUMBERS else MAX_TIME_MS
                found[name] = read_count(name, rest.pop(0) if rest else "", high=high)
            elif name == "mate":
                # Two plies for each move: the last ply shows the search that there is no reply to the mate.
                found["depth"] = 2 * read_count(name, rest.pop(0) if rest else "", low=1, high=1000)
        return found, moves

    def _limits(self, found: Mapping[str, int], side_to_move: int) -> tuple[Limits, Clock | None]:
        depth = max(1, found["depth"]) if "depth" in found else None
        nodes = max(1, found["nodes"]) if "nodes" in found else None
        move_time = max(1, found["movetime"]) if "movetime" in found else None
        own, other = ("btime", "wtime") if side_to_move else ("wtime", "btime")
        if own not in found:
            return Limits(depth, nodes, move_time), None
        increment = found.get("binc" if side_to_move else "winc", 0)
        clock = Clock(found[own], found.get(other), found.get("movestogo", 0), ponders=self._ponder_option)
        return Limits(depth, nodes, move_time, found[own], increment), clock


class UciCycloneServer(UciServer):
    """Server for one session in the cyclone dialect of UCI, which is for Xiangqi only and numbers ranks from 0."""

    first_rank = 0


def format_score(score: int) -> str:
    """Format a score for UCI: ``cp 31`` (centipawns), or ``mate 3`` in moves, negative if the engine is mated."""
    plies = mate_distance(score)
    if plies is None:
        return f"cp {score}"
    return f"mate {(plies + 1) // 2 if plies > 0 else -(-plies // 2)}"
