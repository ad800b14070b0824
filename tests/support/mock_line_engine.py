"""A UCI engine that follows a given game, says what it is told to say before each move, and logs what it hears.

    mock_line_engine.py LOG MOVES [PLY ENDING]

The k-th word of MOVES is the answer if k moves stand in the ``position`` line. Before it comes one of ``THOUGHTS``. At
the ply PLY it misbehaves as ENDING says. With the ENDING ``greets`` it says more than ``readyok``, and with ``leaves``
it does not live to see a second game. With the ENDING ``usual`` it says only what engines usually say.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

PV = "pv a0a1 a9a8"
THOUGHTS = (
    (f"info depth 3 score cp 17 nodes 1200 nps 5000 time 4 {PV}",),
    (f"info depth 3 seldepth 9 multipv 1 score cp -17 nodes 1200 nps 5000 hashfull 0 time 12 {PV}",),
    ("info depth 1 score mate 3 nodes 5", "info depth 2 score mate -2 nodes 7 pv a0a1"),
    (f"info depth 4 score cp 3 nodes 10 {PV}", "info depth 5 score cp 900 lowerbound nodes 20 pv a0a1"),
    (f"info depth 4 score cp 3 {PV}", "info depth 5 currmove a0a1 currmovenumber 1", "info nodes 33 time 2"),
    ("info depth 2 multipv 1 score cp 5 nodes 8", "info depth 2 multipv 2 score cp 1 nodes 9 time 1"),
    ("info string score cp 4 nodes 3", "info  depth  2\tscore cp 9   nodes 4"),
    ("info depth 2 score cp +8 nodes 4 wdl 1 2 3 pv a0a1 ",),
    ("info depth 99999999999 score cp 40000 nodes 12345678901234567890",),
    ("info depth 7 score cp -31000 upperbound nodes 3", "info depth 6 score cp 0 nodes 3 time 7\r"),
    ("info score cp 3", "info depth 12", "12 34 5 678 h2e2", "info nodes 99"),
    ("info depth 2 score cp x nodes 4 pv a0a1",),
    ("info depth 2 score mate 0 nodes 4 pv",),
    ("hello", "info depth 2 score cp 5 nodes 4"),
    (f"info depth 3 score cp 17 nodes 1200 time 4 {'pv' + 60 * ' a0a1 a9a8'}",),
    (),
)


def say(*lines: str) -> None:
    """Write lines at once."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def main() -> None:
    """Obey until ``quit``."""
    log, moves = Path(sys.argv[1]), sys.argv[2].split()
    ply, ending = (int(sys.argv[3]), sys.argv[4]) if len(sys.argv) > 3 else (-1, "")
    count = games = 0
    for line in sys.stdin:
        with log.open("a", encoding="utf-8") as file:
            file.write(line)
        words = line.split()
        if words[0] == "uci":
            say("id name line", "uciok")
        elif words[0] == "isready":
            say(*["info string ready", "hello"][: 2 * (ending == "greets")], "readyok")
        elif words[0] == "ucinewgame":
            games += 1
            if games > 1 and ending == "leaves":
                sys.exit(3)
        elif words[0] == "position":
            count = len(words) - words.index("moves") - 1 if "moves" in words else 0
        elif words[0] == "go" and count == ply and ending == "exit":
            sys.exit(3)
        elif words[0] == "go" and count == ply and ending == "hang":
            time.sleep(60)
        elif words[0] == "go":
            move = {"none": "(none)", "illegal": "a0a9"}.get(ending, "") if count == ply else ""
            thoughts = THOUGHTS[count % (2 if ending == "usual" else len(THOUGHTS))]
            say(*thoughts, f"bestmove {move or moves[count]}{' ponder a0a1' * (count % 2)}")
        elif words[0] == "quit":
            break


if __name__ == "__main__":
    main()
