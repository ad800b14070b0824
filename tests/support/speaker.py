"""A program that answers greetings as told: ``speaker.py [file=PATH] WORDS=ANSWER ...``.

It says the answer to each line it is told that begins with the words, and nothing to others; ``*=`` answers all of
them. Before that it notes its process number in the file. Only the standard library, to start quickly.
"""

from __future__ import annotations

import os
import sys

answers = dict(word.split("=", 1) for word in sys.argv[1:])
if "file" in answers:
    with open(answers.pop("file"), "a") as file:
        file.write(f"{os.getpid()}\n")
for line in sys.stdin:
    if line.strip() == "quit":
        break
    for words, answer in answers.items():
        if words == "*" or line.startswith(words):
            print(answer.format(line=line.strip()), flush=True)
