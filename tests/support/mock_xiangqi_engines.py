"""A program that speaks just enough UCCI, UCI-Cyclone or xboard to play Xiangqi, and misbehaves as told.

``mock_xiangqi_engines.py MODE protocol=ucci|ucicyclone|xboard [key=value ...]``. It moves the rook of the a file to and
fro, so that a game of two of them from the start position is a draw by repetition after eight plies. Only the standard
library, to start quickly (``python -I -S``).

Settings: those of ``misdeeds.py`` (the file also notes what it is told), and ``ranks=1`` (it counts ranks from 1),
``features=TEXT`` (beside those of every xboard mock), ``isready=no``, ``milliseconds=no``, ``name=TEXT``,
``options=no`` (UCCI), ``rule=yes`` (it has an option for the rule of repetition). ``refuses_at=N`` plies without a
capture, by the position as it is told, an engine over UCCI or UCI-Cyclone gives the ``refusal=TEXT`` instead of a move;
``stubborn=yes`` then does so for ever. ``score=N`` is said.
"""

from __future__ import annotations

import os
import sys
import time
from abc import abstractmethod

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from misdeeds import Misbehaving, say

LEGAL = (("a0a1", "a1a0"), ("a9a8", "a8a9"))
"""By side: there and back."""


def plies_on_board(board: str, side: int) -> int:
    """How many plies since the start led to a board, by where the rooks of the a file stand."""
    rows = board.split("/")
    has_left = (rows[9][0] != "R", rows[0][0] != "r")
    return sum(has_left) if has_left[0] == has_left[1] else 3 if has_left[side] else 1


class MockEngine(Misbehaving):
    """What both have in common."""

    def __init__(self, mode: str, settings: dict[str, str]) -> None:
        super().__init__(mode, settings)
        self.side = 0
        self.plies = 0
        """Moves of the game so far."""

    def run(self) -> None:
        self.note(f"process {os.getpid()}")
        self.begin()
        for line in sys.stdin:
            self.note(line.strip())
            if line.strip():
                self.obey(line.split())
        self.leave()

    @abstractmethod
    def obey(self, words: list[str]) -> None:
        """Do what a line says."""

    def move(self, plies: int = 0) -> str:
        """What is played now, or so many plies later."""
        ply = self.plies + plies
        move = LEGAL[(self.side + plies) % 2][ply // 2 % 2]
        ranks = int(self.settings.get("ranks", "0"))
        return f"{move[0]}{int(move[1]) + ranks}{move[2]}{int(move[3]) + ranks}"

    @abstractmethod
    def information(self) -> str:
        """What is said during a search."""

    def any_info_flood(self) -> None:
        while True:
            say(self.information())

    def any_until_stop(self) -> None:
        """Says nothing before it is told to."""


class UcciEngine(MockEngine):
    """Over UCCI."""

    ponders = False
    thinks = False
    refuses = False

    def obey(self, words: list[str]) -> None:
        command = words[0]
        if command == "ucci":
            self.introduce()
        elif command == "isready" and self.settings.get("isready") != "no":
            say("readyok")
        elif command == "position":
            moves = words[words.index("moves") + 1 :] if "moves" in words else []
            first = 0 if words[1] == "startpos" or words[3] == "w" else 1
            self.side, self.plies = (first + len(moves)) % 2, len(moves)
            if "refuses_at" in self.settings:
                self.refuses = self.refuses and self.settings.get("stubborn") == "yes"
                self.refuses |= int(words[6]) + len(moves) >= int(self.settings["refuses_at"])
                self.plies += plies_on_board(words[2], first)
        elif command == "go":
            self.ponders = words[1] == "ponder"
            self.thinks = True
            if not self.ponders:
                self.answer("draw" in words)
        elif command == "ponderhit" and self.ponders:
            self.answer("draw" in words)
        elif command == "stop":
            self.stop()
        elif command == "quit":
            if not self.mode.startswith("immortal"):
                say("bye")
            self.leave()

    def introduce(self) -> None:
        say(f"id name {self.settings.get('name', 'Mock 1.0')}")
        say("id copyright nobody")
        if self.settings.get("options") != "no":
            if self.settings.get("milliseconds") != "no":
                say("option usemillisec type check default false")
            say("option ponder type check default false")
            say("option hashsize type spin min 0 max 1024 default 16")
            say("option style type combo var solid var normal var risky default normal")
            say("option newgame type button")
        if self.settings.get("rule") == "yes":
            rules = "var alwaysdraw var checkban var asianrule var chineserule"
            say(f"option repetition type combo {rules} default asianrule")
        say("ucciok")

    def score(self) -> int:
        return int(self.settings.get("score", 10 + self.plies // 2))

    def information(self) -> str:
        return f"info depth 3 score {self.score()} pv {self.move()}"

    def answer(self, is_draw_offered: bool) -> None:
        say("info message about to think, depth 9 score 9999")
        say(self.information())
        say("info time 5 nodes 700")
        self.searches += 1
        if self.misdeed("go"):
            return
        if self.refuses:
            say(self.settings["refusal"].format(move=self.move()))
            return
        word = ""
        if (self.mode == "accepts" and is_draw_offered) or (self.mode == "offers" and self.plies >= 2):
            word = " draw"
        self.thinks = self.ponders = False
        say(f"bestmove {self.move()} ponder {self.move(1)}{word}")

    def stop(self) -> None:
        if not self.thinks:
            say("nobestmove")
        elif self.mode == "late_stop":
            # Answers what it was asked, and then the stop, as if it had come to an idle engine.
            self.thinks = False
            say(f"bestmove {self.move()}")
            say("nobestmove")
        else:
            self.thinks = self.ponders = False
            say(f"bestmove {self.move()} ponder {self.move(1)}")

    def play(self) -> None:
        self.thinks = False
        say(f"bestmove {self.move()}")

    def go_twice(self) -> None:
        self.thinks = self.ponders = False
        say(f"bestmove {self.move()}\nbestmove i9i1")

    def go_resign(self) -> None:
        say(f"bestmove {self.move()} resign")

    def go_none(self) -> None:
        say("nobestmove")

    def go_illegal(self) -> None:
        say("bestmove e0e9")

    def go_garbage(self) -> None:
        say("bestmove \x00xyzzy\x7f")

    def go_empty(self) -> None:
        say("bestmove")


class UciCycloneEngine(UcciEngine):
    """Over UCI-Cyclone."""

    def obey(self, words: list[str]) -> None:
        if words[0] == "uci":
            self.introduce()
        elif words[0] != "stop" or self.thinks:
            super().obey(words)

    def introduce(self) -> None:
        say("id name Mock 1.0")
        if self.mode == "other_dialect":
            say("option name UCI_Variant type combo default chess var chess var xiangqi")
        say("option name Hash type spin default 16 min 1 max 1024")
        if self.settings.get("rule") == "yes":
            say("option name Repetition Rule type combo default AsianRule var AsianRule var ChineseRule var AllowChase")
        say("option name Ponder type check default false")
        say("uciok")

    def go_none(self) -> None:
        say("bestmove (none)")

    def information(self) -> str:
        return f"info depth 3 score cp {self.score()} nodes 700 pv {self.move()}"


class XboardEngine(MockEngine):
    """Over xboard."""

    plays: int | None = None
    thinks = is_over = has_claimed = False

    def obey(self, words: list[str]) -> None:
        command = words[0]
        if command == "protover":
            self.introduce()
        elif command == "new":
            self.side = self.plies = 0
            self.plays = 1
            self.is_over = False
        elif command == "force":
            self.plays = None
        elif command == "setboard" and self.mode == "no_setboard":
            say("tellusererror Illegal position")
            sys.exit(0)
        elif command == "setboard":
            self.set_board(words[1], words[2])
        elif command == "usermove":
            self.be_told(words[1])
        elif command == "go" and not self.is_over:
            self.plays = self.side
            self.think()
        elif command == "?" and self.mode == "until_stop" and self.thinks:
            self.make()
        elif command == "draw" and self.mode == "accepts":
            say("offer draw")
        elif command == "ping":
            if self.mode == "claims_between":
                say("1/2-1/2 {Draw by repetition}")
            say(f"pong {words[1]}")
        elif command == "?":
            say(f"Error (unknown command): {command}")
        elif command == "quit":
            self.leave()

    def introduce(self) -> None:
        if self.mode == "no_features":
            return
        say("Some Xiangqi engine, version 1")
        if self.mode == "slow":
            say("feature done=0")
            time.sleep(float(self.settings["seconds"]))
        say('feature myname="Mock 1.0" variants="xiangqi,chess" usermove=1 san=0 colors=0 memory=1 smp=1')
        if self.mode != "no_ping":
            say("feature ping=1")
        say('feature option="Style -combo solid /// *normal /// risky" option="Contempt -spin 0 -10 10"')
        say('feature option="Own Book -check 1" option="Clear -button" option="Log -file none"')
        if "features" in self.settings:
            say(f"feature {self.settings['features']}")
        if self.mode != "no_done":
            say("feature done=1")

    def set_board(self, board: str, side: str) -> None:
        self.side = int(side == "b")
        self.plies = plies_on_board(board, self.side)

    def be_told(self, move: str) -> None:
        if self.mode == "stubborn" and self.plies >= 2:
            say(f"Illegal move: {move}")
            return
        self.side = 1 - self.side
        self.plies += move[0] == "a"  # others are of the opening
        if self.mode == "holds_drawn" and self.plies >= 3 and not self.has_claimed:
            self.is_over = self.has_claimed = True
            say("1/2-1/2 {50 move rule}")
        elif self.plays == self.side:
            self.think()

    def information(self) -> str:
        return f"3. {10 + self.plies // 2} 12 700 {self.move()}"

    def think(self) -> None:
        if self.mode == "claims_once" and self.plies >= 2 and not self.has_claimed:
            self.is_over = self.has_claimed = True
            say("1/2-1/2 {Draw by repetition}")
            return
        self.thinks = True
        say(" 0 9999 0 1 a0a1")
        say(self.information())
        self.searches += 1
        if not self.misdeed("think"):
            self.make()

    def make(self) -> None:
        move = self.move()
        self.thinks = False
        self.side, self.plies = 1 - self.side, self.plies + 1
        if self.mode == "offers" and self.plies > 2:
            say("offer draw")
        say(f"1. ... {move}" if self.mode == "old_fashioned" else f"move {move}")

    def play(self) -> None:
        self.make()

    def think_empty(self) -> None:
        say("move")

    def think_twice(self) -> None:
        self.make()
        say("move i9i1")

    def think_resign(self) -> None:
        say("resign {White has enough}")

    def think_resigns_late(self) -> None:
        self.make()
        say("resign")
        say("0-1")

    def think_resigns_late_by_result(self) -> None:
        self.make()
        say("0-1 {White resigns}")

    def think_claims_loss(self) -> None:
        say("0-1 {White mates itself}")

    def think_claims_draw(self) -> None:
        say("1/2-1/2 {Draw by repetition}")

    def think_illegal(self) -> None:
        say("move e0e9")

    def think_garbage(self) -> None:
        say("move \x00xyzzy\x7f")


if __name__ == "__main__":
    told = dict(word.split("=", 1) for word in sys.argv[2:])
    kinds = {"ucci": UcciEngine, "ucicyclone": UciCycloneEngine, "xboard": XboardEngine}
    kinds[told["protocol"]](sys.argv[1], told).run()
