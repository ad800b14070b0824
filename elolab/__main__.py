"""``python -m elolab``, and ``python elolab`` from a checkout that is not installed."""

import sys
from pathlib import Path

if not __package__:  # run as a folder: what is beside it is meant, not what is in it
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from elolab.command_line import main

if __name__ == "__main__":
    sys.exit(main())
