"""A program that speaks just enough UCI to play, and misbehaves as told: ``mock_engines.py MODE [key=value ...]``.

It plays Xiangqi by moving the rook of the a file to and fro, so that a game of two of them from the start position is
a draw by repetition after eight plies. Only the standard library, to start quickly (``python -I -S``).

Settings: ``ranks=1|0`` (1 announces ``UCI_Variant``), ``at=N`` (the move, counted from 1, at which it misbehaves),
``seconds=S`` (how long it sleeps), ``file=PATH`` (where it notes process numbers), ``once=PATH`` (it behaves if PATH
exists, and creates it).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

LEGAL = (("a0a1", "a1a0"), ("a9a8", "a8a9"))
"""By side: there and back."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class MockEngine:
    def __init__(self, mode: str, settings: dict[str, str]) -> None:
        self.mode = mode
        self.settings = settings
        self.ranks = int(settings.get("ranks", "1"))
        self.turn = (0, 0)
        """Side to move and how often it has moved."""
        self.moves_made = 0
        self.ponders = False

    def run(self) -> None:
        if "file" in self.settings:
            with open(self.settings["file"], "a") as file:
                file.write(f"{os.getpid()}\n")
        if self.mode == "exit_at_start":
            sys.stderr.write("cannot find my network file\n")
            sys.exit(3)
        if self.mode == "silent":
            time.sleep(1000)
        if self.mode == "child" or self.mode == "child_holds_pipe":
            child = subprocess.Popen(["sleep", "1000"])
            with open(self.settings["file"], "a") as file:
                file.write(f"{child.pid}\n")
        if self.mode == "immortal":
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
        for line in sys.stdin:
            self.obey(line.split())
        if self.mode == "immortal":
            time.sleep(1000)

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
            self.moves_made += 1
            self.go()
        elif command == "stop" and self.mode == "until_stop":
            say(f"bestmove {self.move()}")
        elif command == "quit" and self.mode != "immortal":
            sys.exit(0)
        elif command == "setoption" and "file" in self.settings:
            with open(self.settings["file"], "a") as file:
                file.write(" ".join(words) + "\n")

    def introduce(self) -> None:
        say("id name Mock 1.0")
        if self.ranks == 1:
            say("option name UCI_Variant type combo default chess var chess var xiangqi")
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

    def misbehaves(self) -> bool:
        if self.moves_made < int(self.settings.get("at", "2")):
            return False
        marker = self.settings.get("once")
        if marker is not None:
            if os.path.exists(marker):
                return False
            open(marker, "w").close()
        return True

    def go(self) -> None:
        say(f"info depth 3 seldepth 5 multipv 1 score cp {10 + self.turn[1]} nodes 500 time 1 pv {self.move()}")
        say("info depth 4 score cp 900 lowerbound nodes 700 time 1")
        misdeed = getattr(self, f"go_{self.mode}", None)
        if misdeed is not None and self.misbehaves():
            misdeed()
        else:
            say(f"bestmove {self.move()} ponder {self.move(1)}")

    def go_exit(self) -> None:
        sys.stderr.write("assertion failed: alpha < beta\n")
        sys.exit(5)

    def go_segfault(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    go_child_holds_pipe = go_exit

    def go_illegal(self) -> None:
        say("bestmove e1e9")

    def go_garbage(self) -> None:
        say("bestmove \x00xyzzy\x7f")

    def go_empty(self) -> None:
        say("bestmove")

    def go_none(self) -> None:
        say("bestmove (none)")

    def go_hang(self) -> None:
        time.sleep(1000)

    def go_until_stop(self) -> None:
        pass

    def go_late(self) -> None:
        time.sleep(float(self.settings["seconds"]))
        say(f"bestmove {self.move()}")

    def go_info_flood(self) -> None:
        while True:
            say(f"info depth 5 score cp 1 nodes 1000 time 1 pv {self.move()}")

    def go_byte_flood(self) -> None:
        while True:
            sys.stdout.write("x" * 65536)

    def go_error_flood(self) -> None:
        for _ in range(128):
            sys.stderr.write("y" * 1_048_576)
        sys.stderr.flush()
        say(f"bestmove {self.move()}")

    def go_long_line(self) -> None:
        say("info string " + "z" * 2_000_000)
        say(f"bestmove {self.move()}")

    def go_twice(self) -> None:
        say(f"bestmove {self.move()}")
        say("bestmove i9i1")

    def go_leave(self) -> None:
        """Answers, and is gone before the next question."""
        say(f"bestmove {self.move()}")
        sys.exit(0)

    def go_deaf(self) -> None:
        """Answers, but does not read its input any more."""
        say(f"bestmove {self.move()}")
        time.sleep(1000)


if __name__ == "__main__":
    MockEngine(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])).run()
