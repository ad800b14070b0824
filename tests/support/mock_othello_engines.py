"""A program that plays Othello over GTP or NBoard, and misbehaves as told.

It is started as ``mock_othello_engines.py MODE [key=value ...]`` and plays the first legal move, from a1 to h8. Its
rules are its own, so that games against it check the engine's. Only the standard library, to start quickly
(``python -I -S``).

Settings: those of ``misdeeds.py``, and ``protocol=gtp|nboard``, ``passes=told|itself`` (over GTP: whether it has to be
told of passes, or passes by itself and knows no such move), ``numbers=no`` (its answers do not repeat the numbers of
commands).
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from misdeeds import Misbehaving, say

STEPS = tuple((rows, files) for rows in (-1, 0, 1) for files in (-1, 0, 1) if rows or files)
COMMANDS = (
    "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove "
    "time_settings time_left level"
)


class Board:
    """An Othello position: 1 is Black, -1 White, 0 an empty square; squares from 0 (a1) to 63 (h8)."""

    def __init__(self) -> None:
        self.squares = [0] * 64
        for name, colour in (("d4", -1), ("e4", 1), ("d5", 1), ("e5", -1)):
            self.squares[square_of(name)] = colour

    def turned(self, colour: int, square: int) -> list[int]:
        if self.squares[square]:
            return []
        found = []
        for rows, files in STEPS:
            line = []
            row, file = square // 8 + rows, square % 8 + files
            while 0 <= row < 8 and 0 <= file < 8 and self.squares[8 * row + file] == -colour:
                line.append(8 * row + file)
                row, file = row + rows, file + files
            if 0 <= row < 8 and 0 <= file < 8 and self.squares[8 * row + file] == colour:
                found += line
        return found

    def moves(self, colour: int) -> list[int]:
        return [square for square in range(64) if self.turned(colour, square)]

    def play(self, colour: int, square: int) -> None:
        for other in self.turned(colour, square):
            self.squares[other] = colour
        self.squares[square] = colour


def square_of(name: str) -> int:
    return "abcdefgh".index(name[0].lower()) + 8 * (int(name[1]) - 1)


def name_of(square: int) -> str:
    return "ABCDEFGH"[square % 8] + str(square // 8 + 1)


class MockEngine(Misbehaving):
    def __init__(self, mode: str, settings: dict[str, str]) -> None:
        super().__init__(mode, settings)
        self.board = Board()
        self.turn = 1
        self.number = ""

    def run(self) -> None:
        self.note(str(os.getpid()))
        self.begin()
        obey = self.obey_nboard if self.settings.get("protocol") == "nboard" else self.obey_gtp
        for line in sys.stdin:
            words = line.split()
            if words:
                obey(words)
        self.leave()

    # GTP

    def answer(self, text: str = "", sign: str = "=") -> None:
        number = self.number if self.settings.get("numbers") != "no" else ""
        say(f"{sign}{number} {text}".rstrip() + "\n")

    def obey_gtp(self, words: list[str]) -> None:
        self.number = words.pop(0) if words[0].isdigit() else ""
        command = words.pop(0)
        known = COMMANDS.split()
        if self.mode == "timeless":
            known = [name for name in known if not name.startswith("time")]
        if self.mode == "shy" and command == "list_commands":
            known = []
        if self.mode == "shy":  # and it keeps its own time
            known = [name for name in known if name != "time_left"]
        if command not in known:
            self.answer("unknown command", "?")
        elif command == "list_commands":
            self.answer("\n".join(known))
        elif command == "name":
            self.answer("Mock")
        elif command == "protocol_version":
            self.answer("2.0" if self.mode == "shy" else "2")
        elif command == "boardsize":
            self.answer(*(("unacceptable size", "?") if words != ["8"] or self.mode == "wrong_size" else ()))
        elif command == "level":
            self.answer(*(("no such level", "?") if words != ["3"] else ()))
        elif command == "clear_board":
            self.board, self.turn = Board(), 1
            self.answer()
        elif command == "play":
            self.be_told(*words)
        elif command == "genmove":
            self.generate(1 if words[0] == "b" else -1)
        else:
            self.answer()
            if command == "quit":
                self.leave()

    def be_told(self, colour: str, move: str) -> None:
        side = 1 if colour == "b" else -1
        if move == "pass":
            if self.settings.get("passes") == "itself":
                self.answer("syntax error", "?")
            elif side != self.turn or self.board.moves(side):
                self.answer("illegal move", "?")
            else:
                self.turn = -side
                self.answer()
            return
        if side != self.turn or square_of(move) not in self.board.moves(side):
            self.answer("illegal move", "?")
            return
        self.make(side, square_of(move))
        self.answer()

    def make(self, side: int, square: int) -> None:
        self.board.play(side, square)
        self.turn = -side
        if self.settings.get("passes") == "itself" and not self.board.moves(-side):
            self.turn = side

    def generate(self, side: int) -> None:
        self.searches += 1
        if not self.misdeed("gtp"):
            self.play_for(side)

    def play(self) -> None:
        if self.settings.get("protocol") == "nboard":
            self.name_move()
        else:
            self.play_for(self.turn)

    def play_for(self, side: int) -> None:
        if side != self.turn:
            self.answer("not my turn", "?")
            return
        moves = self.board.moves(side)
        if not moves:
            self.turn = -side
            self.answer("pass")
            return
        self.make(side, moves[0])
        if self.mode == "chatter":
            say("thinking about it\n\n")
        self.answer(name_of(moves[0]))
        if self.mode == "twice":
            self.answer("A1")

    def gtp_illegal(self) -> None:
        self.answer("A1" if not self.board.turned(self.turn, 0) else "H8")

    def gtp_garbage(self) -> None:
        self.answer("\x00xyzzy\x7f")

    def gtp_empty(self) -> None:
        self.answer()

    def gtp_none(self) -> None:
        self.answer("I would rather not", "?")

    def gtp_pass(self) -> None:
        self.answer("PASS")

    def gtp_pass_once(self) -> None:
        if self.searches == int(self.settings.get("at", "2")):
            self.answer("PASS")
        else:
            self.play()

    def gtp_resign(self) -> None:
        self.answer("resign")

    def gtp_info_flood(self) -> None:
        while True:
            say("thinking about it")

    def gtp_endless_answer(self) -> None:
        sys.stdout.write("= A1\n")
        while True:
            say("and another line")

    # NBoard

    def obey_nboard(self, words: list[str]) -> None:
        if words[0] == "ping":
            say(f"pong {words[1]}")
        elif words[:2] == ["set", "game"]:
            self.read_game(" ".join(words[2:]))
        elif words[0] == "go":
            self.go()
        elif words[0] == "quit":
            self.leave()

    def read_game(self, text: str) -> None:
        self.board = Board()
        position, *tags = text.partition("BO[8 ")[2].split("]")
        self.board.squares = [{"*": 1, "O": -1, "-": 0}[letter] for letter in position.split()[0]]
        self.turn = 1 if position.split()[1] == "*" else -1
        for tag in tags:
            if tag[:2] in ("B[", "W["):
                if tag[2:] != "PA":
                    self.board.play(1 if tag[0] == "B" else -1, square_of(tag[2:]))
                self.turn = -1 if tag[0] == "B" else 1

    def go(self) -> None:
        self.searches += 1
        if not self.misdeed("nboard"):
            self.name_move()

    def name_move(self) -> None:
        move = name_of(self.board.moves(self.turn)[0])
        say("status thinking")
        say(f"search {move} 1.25 0 3")
        say(f"search {move}D3 1.50 0 4")
        say("nodestats 1234 0.01")
        say(f"=== {move} -2.50 0.0" if self.mode == "spaces" else f"=== {move}/-2.50/0.01")
        if self.mode == "twice":
            say("=== A1")

    def nboard_illegal(self) -> None:
        say("=== A1" if not self.board.turned(self.turn, 0) else "=== H8")

    def nboard_garbage(self) -> None:
        say("=== \x00xyzzy\x7f")

    def nboard_empty(self) -> None:
        say("===")

    def nboard_until_stop(self) -> None:
        """Thinks until it is told to stop, as nobody asked it to."""

    def nboard_info_flood(self) -> None:
        while True:
            say("search D3 0.00 0 1")


if __name__ == "__main__":
    MockEngine(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])).run()
