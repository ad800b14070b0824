"""A program that plays Xiangqi by the rules over UCI, UCI-Cyclone, UCCI or xboard, with one vice at most.

``mock_examined_engine.py VICE protocol=NAME``; the vice ``none`` is none. It answers with the first legal move there
is, from ``plain_xiangqi``, and thinks no longer than it says. Only the standard library and that module, to start
quickly (``python -I -S``).
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from plain_xiangqi import Board, in_check, is_red, pieces_between, play, reaches, read_board, read_move

SILENT = ("xboard", "variant", "easy", "hard", "post", "accepted", "time", "otim", "memory", "cores", "option")
"""Commands of xboard of which nothing comes."""
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
SQUARES = [(file, rank) for file in range(9) for rank in range(10)]
LONGEST_LINE = 1_000
"""What a program with a short buffer reads of a line."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def legal_moves(board: Board, red: bool, *, ignoring_check: bool = False) -> Iterator[str]:
    """All of them, or those too that leave the general in check."""
    for origin, piece in board.items():
        if is_red(piece) != red:
            continue
        for target in SQUARES:
            taken = board.get(target)
            if target == origin or (taken is not None and is_red(taken) == red):
                continue
            if piece[0].upper() == "C" and taken is None:
                moves = pieces_between(board, origin, target) == 0
            else:
                moves = reaches(board, origin, target)
            if moves and (ignoring_check or not in_check(play(board, origin, target), red)):
                yield f"{'abcdefghi'[origin[0]]}{origin[1]}{'abcdefghi'[target[0]]}{target[1]}"


class Engine(ABC):
    """What all protocols have in common."""

    ranks = 0

    def __init__(self, vice: str) -> None:
        self.vice = vice
        self.board, self.red = read_board(START)
        self.told: list[str] = []
        self.banned: set[str] = set()
        self.is_thinking = False
        self.has_begun_thinking = False
        self.answers = 0
        self.games = 0
        self.leak: list[bytes] = []
        self.has_stopped = False

    def run(self) -> None:
        if self.vice == "exits_at_start":
            sys.stderr.write("cannot find my network file\n")
            sys.exit(3)
        if self.vice == "silent":
            time.sleep(1000)
        if self.vice == "leaves_child":
            subprocess.Popen(["setsid", "sleep", "5"])
        for line in self.lines():
            self.obey(line)

    def lines(self) -> Iterator[str]:
        """What is said to it; at the end of the input it leaves, or has a vice about that."""
        buffer = b""
        while True:
            while b"\n" in buffer:
                line, _, buffer = buffer.partition(b"\n")
                text = line.decode(errors="replace")
                if self.vice == "dies_of_carriage_returns" and text.endswith("\r"):
                    sys.exit(9)
                yield text.rstrip("\r")
            if self.vice == "busy":
                while not select.select([0], [], [], 0)[0]:
                    pass
            chunk = os.read(0, 65_536)
            if not chunk:
                ignores = self.vice == "ignores_end_of_input" and not self.is_thinking
                if ignores or (self.vice == "ignores_end_of_input_while_thinking" and self.is_thinking):
                    time.sleep(1000)
                return
            buffer += chunk

    @abstractmethod
    def obey(self, line: str) -> None:
        """Do what a line says."""

    def quit(self) -> None:
        if self.vice == "ignores_quit" or (self.vice == "ignores_quit_while_thinking" and self.is_thinking):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        sys.exit(0)

    def unknown(self, line: str) -> None:
        """Words without a meaning."""
        if self.vice == "dies_of_garbage" and line.strip():
            sys.exit(9)
        if self.vice == "dies_of_empty_lines" and not line.strip():
            sys.exit(9)

    def begin_game(self) -> None:
        self.games += 1
        if self.vice == "dies_of_new_games" and self.games > 2:
            sys.exit(9)

    def set_position(self, fen: str, moves: list[str], *, is_start: bool = False) -> None:
        """Where it is now; it keeps what it had if that is no position."""
        self.banned = set()
        if self.vice == "ignores_descriptions":
            fen = START
        try:
            board, red = read_board(fen)
            if fen.split()[0].count("k") != 1 or fen.split()[0].count("K") != 1:
                raise ValueError
        except (ValueError, IndexError):
            if self.vice == "dies_of_illegal_positions":
                sys.exit(9)
            return
        self.board, self.red, self.told = board, red, moves
        if self.vice == "ignores_moves":
            return
        for move in moves:
            self.make(move)

    def make(self, text: str) -> bool:
        """Make a move; whether it was legal."""
        if self.ranks:
            text = "".join(letter if letter.isalpha() else str(int(letter) - 1) for letter in _parts(text))
        origin, target = read_move(text[:4])
        piece = self.board.get(origin)
        if piece is None or is_red(piece) != self.red or origin == target:
            if self.vice == "dies_of_illegal_moves":
                sys.exit(9)
            return False
        self.board, self.red = play(self.board, origin, target), not self.red
        return True

    def written(self, move: str) -> str:
        return "".join(letter if letter.isalpha() else str(int(letter) + self.ranks) for letter in move)

    def choose(self) -> str | None:
        """The move it plays, as it writes it; ``None`` where the game is over."""
        self.answers += 1
        if self.vice == "leaks":
            self.leak.append(b"x" * (30 << 20))
        ignores = self.vice == "overlooks_checks" and in_check(self.board, self.red)
        moves = [move for move in legal_moves(self.board, self.red, ignoring_check=ignores) if move not in self.banned]
        if ignores:
            moves = [move for move in moves if in_check(play(self.board, *read_move(move)), self.red)] or moves
        if not moves:
            has_vice = self.vice == f"moves_after_{'mate' if in_check(self.board, self.red) else 'stalemate'}"
            return self.written("a0a1") if has_vice else None
        if self.vice == "overlooks_the_only_move" and len(moves) == 1:
            return self.written("a0a0")
        if self.vice == "fails_in_repetitions" and len(self.told) == 4 and self.told[0][:2] == self.told[2][2:]:
            return self.written("a0a0")
        if self.vice == "counts_100_plies" and len(self.told) in (100, 120):
            return None
        return self.written(moves[0])

    def delay(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)


def _parts(move: str) -> list[str]:
    """Letters and numbers of a move."""
    parts = [""]
    for letter in move:
        if parts[-1] and letter.isalpha() != parts[-1].isalpha():
            parts.append("")
        parts[-1] += letter
    return parts


class UciEngine(Engine):
    """UCI, its dialect and UCCI."""

    def __init__(self, vice: str, protocol: str) -> None:
        super().__init__(vice)
        self.protocol = protocol
        if protocol == "uci" and vice != "says_1_counts_0":
            self.ranks = 1
        if vice == "counts_1":
            self.ranks = 1

    def obey(self, line: str) -> None:
        if self.vice == "has_short_buffer":
            line = line[:LONGEST_LINE].rpartition(" ")[0] if len(line) > LONGEST_LINE else line
        words = line.split()
        command = words[0] if words else ""
        if command == {"ucicyclone": "uci"}.get(self.protocol, self.protocol):
            self.introduce()
        elif command == "isready":
            if self.vice != "never_ready" and not (self.vice == "not_ready_while_thinking" and self.is_thinking):
                say("readyok")
        elif command == "ucinewgame":
            self.begin_game()
        elif command == "setoption":
            self.set_option(line)
        elif command == "position":
            self.read_position(words)
        elif command == "banmoves":
            self.banned = set() if self.vice == "ignores_bans" else set(words[1:])
        elif command == "go":
            self.go(words)
        elif command == "stop":
            self.stop()
        elif command == "ponderhit" and self.is_thinking:
            if self.vice != "ignores_ponderhit":
                self.answer()
        elif command == "quit":
            self.quit()
        else:
            self.unknown(line)

    def option(self, name: str, rest: str) -> None:
        say(f"option {name} {rest}" if self.protocol == "ucci" else f"option name {name} {rest}")

    def introduce(self) -> None:
        if self.vice != "nameless":
            say("id name Mock 1.0")
        if self.protocol == "uci":
            self.option("UCI_Variant", "type combo default chess var chess var xiangqi")
        if self.protocol == "ucci":
            self.option("usemillisec", "type check default false")
            self.option("newgame", "type button")
        high = 8 if self.vice == "announces_nonsense" else 1024
        self.option("hashsize" if self.protocol == "ucci" else "Hash", f"type spin default 16 min 1 max {high}")
        self.option("Threads", "type spin default 1 min 1 max 8")
        self.option("ponder" if self.protocol == "ucci" else "Ponder", "type check default false")
        self.option("Style", "type combo default normal var solid var normal")
        say({"ucci": "ucciok"}.get(self.protocol, "uciok"))

    def set_option(self, line: str) -> None:
        vices = {
            "Style": "dies_of_style", "Hash value 8": "dies_of_memory", "hashsize 8": "dies_of_memory",
            "Threads value 2": "dies_of_threads", "uch": "dies_of_unknown_options", "newgame": "",
        }  # fmt: skip
        for words, vice in vices.items():
            if words in line and self.vice == vice:
                sys.exit(9)
        if "newgame" in line:
            self.begin_game()

    def read_position(self, words: list[str]) -> None:
        moves = words[words.index("moves") + 1 :] if "moves" in words else []
        if words[1] == "startpos":
            if self.vice == "knows_no_startpos":
                moves, words = [], ["position", "fen", "4k4/9/9/9/9/9/9/9/4K4/R8", "w", "-", "-", "0", "1"]
            else:
                self.set_position(START, moves)
                return
        fen = " ".join(words[2 : words.index("moves") if "moves" in words else len(words)])
        self.set_position(fen, moves)

    def go(self, words: list[str]) -> None:
        numbers = {word: int(value) for word, value in pairwise(words) if value.isdigit()}
        self.is_thinking = self.has_begun_thinking = True
        ponders = "ponder" in words
        if ponders and self.vice == "answers_before_ponderhit":
            self.answer()
        if "infinite" in words or ponders:
            if "infinite" in words and self.vice == "answers_before_stop":
                self.answer()
            return
        self.dawdle(numbers)
        self.depth = numbers.get("depth", 3) + (1 if self.vice == "searches_too_deep" else 0)
        self.nodes = numbers.get("nodes", 500) * (9 if self.vice == "searches_too_much" else 1)
        self.answer()

    def dawdle(self, numbers: dict[str, int]) -> None:
        """Take too long, if that is the vice."""
        side = "wtime" if self.red else "btime"
        left = numbers.get(side, numbers.get("time", 0))
        if self.vice == "late_by_move_time" and "movetime" in numbers:
            self.delay(numbers["movetime"] + 1_000)
        if self.vice == "late_by_low_clock" and 0 < left <= 30:
            self.delay(1_000)
        if self.vice == "wastes_its_control" and "movestogo" in numbers:
            self.delay(left * 0.9)
            if numbers["movestogo"] < 4:
                self.delay(1_000)
        if self.vice == "loses_on_time" and left and self.answers > 4 and "winc" in numbers:
            self.delay(left + 1_000)

    depth = 3
    nodes = 500

    def answer(self) -> None:
        self.is_thinking = False
        move = self.choose()
        self.inform(move)
        if move is None:
            say("nobestmove" if self.protocol == "ucci" else "bestmove (none)")
            return
        say(f"bestmove {move}")
        if self.vice == "answers_twice":
            say(f"bestmove {move}")

    def inform(self, move: str | None) -> None:
        if self.vice == "says_nothing" or move is None:
            return
        depth = "three" if self.vice == "cannot_count" else self.depth
        line = f"{move} {move}" if self.vice == "invents_variations" else move
        score = "12" if self.protocol == "ucci" else "cp 12"
        say(f"info depth {depth} score {score} nodes {self.nodes} time 1 pv {line}")

    def stop(self) -> None:
        if not self.is_thinking:
            if self.vice == "answers_idle_stops":
                self.answer()
            elif self.protocol == "ucci":
                say("nobestmove")
            return
        if self.vice == "ignores_stop" or (self.vice == "ignores_second_stop" and self.has_stopped):
            return
        self.has_stopped = True
        self.answer()


class XboardEngine(Engine):
    """xboard.

    Three manners are allowed: ``prefers_depth`` keeps ``sd`` in new games and has no clock then, as Fairy-Stockfish 11;
    ``draws_after_120_plies`` claims the draw; ``knows_no_depth`` rejects ``sd``, as Phalanx.
    """

    has_depth = has_clock = False
    moves = 0

    def obey(self, line: str) -> None:
        words = line.split()
        command = words[0] if words else ""
        if command == "protover":
            say('feature myname="Mock 1.0" variants="xiangqi" ping=1 setboard=1 usermove=1 memory=1 smp=1 colors=0')
            say('feature option="Style -combo solid /// *normal" done=1')
        elif command == "new":
            self.begin_game()
            self.has_clock, self.moves = False, 0
            self.plays: bool | None = None
            self.depth = 3
            self.is_endless = False
            self.set_position(START, [])
        elif command == "setboard":
            self.set_position(line.partition(" ")[2], [])
        elif command == "usermove":
            self.moves += 1
            if not self.make(words[1]):
                say(f"Illegal move: {words[1]}")
            elif self.plays == self.red:
                self.answer()
        elif command == "go":
            self.plays = self.red
            if self.vice == "draws_after_120_plies" and self.moves == 120:
                say("1/2-1/2 {no capture}")
            elif self.vice == "prefers_depth" and self.has_depth and self.has_clock:
                self.is_thinking = True
            elif self.vice == "answers_before_stop" or not self.is_endless:
                self.answer()
            else:
                self.is_thinking = True
        elif command == "?" and self.is_thinking and self.vice != "ignores_stop":
            self.answer()
        elif command == "force":
            self.plays = None
        elif command == "ping":
            say(f"pong {words[1]}")
        elif command == "sd" and self.vice == "knows_no_depth":
            say(f"Illegal move: {line}")
        elif command == "sd":
            self.depth, self.has_depth = int(words[1]), True
        elif command == "level":
            self.has_clock = True
        elif command == "st":
            self.is_endless = int(words[1]) > 100
        elif command == "quit":
            self.quit()
        elif command not in SILENT:
            self.unknown(line)

    def answer(self) -> None:
        self.is_thinking = False
        move = self.choose()
        if move is None:
            say("0-1 {Black wins}" if self.red else "1-0 {Red wins}")
            return
        depth = self.depth + (1 if self.vice == "searches_too_deep" else 0)
        say(f"{depth} 12 1 500 {move}")
        self.make(move)
        say(f"move {move}")
        if self.vice == "answers_twice":
            say(f"move {move}")


if __name__ == "__main__":
    protocol = sys.argv[2].partition("=")[2]
    (XboardEngine(sys.argv[1]) if protocol == "xboard" else UciEngine(sys.argv[1], protocol)).run()
