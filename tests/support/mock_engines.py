"""A program that speaks just enough UCI to play, and misbehaves as told: ``mock_engines.py MODE [key=value ...]``.

It plays Xiangqi by moving the rook of the a file to and fro, so that a game of two of them from the start position is
a draw by repetition after eight plies. Only the standard library, to start quickly (``python -I -S``).

Settings: those of ``misdeeds.py``, and ``ranks=1|0`` (1 announces ``UCI_Variant``).
"""

from __future__ import annotations

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from misdeeds import Misbehaving, say

LEGAL = (("a0a1", "a1a0"), ("a9a8", "a8a9"))
"""By side: there and back."""


class MockEngine(Misbehaving):
    def __init__(self, mode: str, settings: dict[str, str]) -> None:
        super().__init__(mode, settings)
        self.ranks = int(settings.get("ranks", "1"))
        self.turn = (0, 0)
        """Side to move and how often it has moved."""
        self.ponders = False

    def run(self) -> None:
        self.note(str(os.getpid()))
        self.begin()
        for line in sys.stdin:
            self.obey(line.split())
        self.leave()

    def obey(self, words: list[str]) -> None:
        command = words[0] if words else ""
        if command == "uci":
            self.introduce()
        elif command == "isready":
            say("readyok")
        elif command == "position":
            self.read_position(words)
        elif command == "go" and words[1] == "ponder" and self.mode not in ("answers_early", "dies_pondering"):
            self.ponders = True
        elif command == "go" and words[1] == "ponder" and self.mode == "dies_pondering":
            sys.exit(7)
        elif command in ("ponderhit", "stop") and self.ponders:
            self.ponders = False
            if command == "stop" and self.mode == "ignores_stop":
                time.sleep(1000)
            if command == "stop" and self.mode == "stops_slowly":
                time.sleep(0.4)
            self.go()
        elif command == "go":
            self.searches += 1
            self.go()
        elif command == "stop" and self.mode == "until_stop":
            say(f"bestmove {self.move()}")
        elif command == "quit":
            self.leave()
        elif command == "setoption":
            self.note(" ".join(words))

    def introduce(self) -> None:
        say("id name Mock 1.0")
        if self.ranks == 1:
            say("option name UCI_Variant type combo default chess var chess var xiangqi")
        if self.mode == "only_chess":
            say("option name UCI_Chess960 type check default false")
        say("option name Hash type spin default 16 min 1 max 1024")
        say("option name Clear Hash type button")
        if self.mode != "no_ponder":
            say("option name Ponder type check default false")
        say("option name EvalFile type string default <empty>")
        say("uciok")

    def read_position(self, words: list[str]) -> None:
        # position fen BOARD SIDE - - 0 1 [moves ...]
        moves = words[words.index("moves") + 1 :] if "moves" in words else []
        first = 0 if words[3] in ("w", "r") else 1
        self.turn = ((first + len(moves)) % 2, len(moves) // 2)

    def move(self, plies: int = 0) -> str:
        """What is played now, or so many plies later."""
        side, number = (self.turn[0] + plies) % 2, self.turn[1] + (self.turn[0] + plies) // 2
        move = LEGAL[side][number % 2]
        return f"{move[0]}{int(move[1]) + self.ranks}{move[2]}{int(move[3]) + self.ranks}"

    def go(self) -> None:
        say(f"info depth 3 seldepth 5 multipv 1 score cp {10 + self.turn[1]} nodes 500 time 1 pv {self.move()}")
        say("info depth 4 score cp 900 lowerbound nodes 700 time 1")
        if not self.misdeed("go"):
            say(f"bestmove {self.move()} ponder {self.move(1)}")

    def play(self) -> None:
        say(f"bestmove {self.move()}")

    def go_illegal(self) -> None:
        say("bestmove e1e9")

    def go_garbage(self) -> None:
        say("bestmove \x00xyzzy\x7f")

    def go_empty(self) -> None:
        say("bestmove")

    def go_none(self) -> None:
        say("bestmove (none)")

    def go_until_stop(self) -> None:
        pass

    def go_info_flood(self) -> None:
        while True:
            say(f"info depth 5 score cp 1 nodes 1000 time 1 pv {self.move()}")

    def go_twice(self) -> None:
        say(f"bestmove {self.move()}\nbestmove i9i1")


if __name__ == "__main__":
    MockEngine(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])).run()
