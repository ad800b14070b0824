"""Runs elolab as ``python -m elolab``, or as ``python elolab`` from a checkout that is not installed."""

import sys
from pathlib import Path

if not __package__:  # run as a folder: import the package beside it, not its modules
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from elolab.command_line import main

if __name__ == "__main__":
    sys.exit(main())
