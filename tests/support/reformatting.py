"""A program between an engine and whoever drives it, which writes the engine's lines in another form.

``reformatting.py FORM COMMAND ...``; the forms change nothing that a protocol cares about. Only the standard library.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading

FORMS = {
    "blank": lambda line: b" " + line,
    "tab": lambda line: b"\t" + line,
    "wide": lambda line: b"  " + re.sub(rb" ", rb"  ", line),
    "tabs": lambda line: re.sub(rb" ", rb"\t", line),
    "crlf": lambda line: line.rstrip(b"\n") + b"\r\n",
    "trailing": lambda line: line.rstrip(b"\n") + b" \t\n",
    "edax": lambda line: re.sub(rb"^([=?])(\d+) ?", rb"\1 \2 ", line),
}


def main() -> None:
    form = FORMS[sys.argv[1]]
    engine = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert engine.stdin is not None
    assert engine.stdout is not None
    lines = engine.stdout

    def forward() -> None:
        for line in lines:
            sys.stdout.buffer.write(form(line) if line.strip() else line)
            sys.stdout.buffer.flush()

    threading.Thread(target=forward, daemon=True).start()
    for line in sys.stdin.buffer:
        engine.stdin.write(line)
        engine.stdin.flush()
    engine.stdin.close()
    engine.wait()


if __name__ == "__main__":
    main()
