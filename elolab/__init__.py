"""elolab from Python: play engines against each other, tune and ablate settings, read the games as tables.

Each name is imported on first use, so that ``import elolab`` is fast:

- ``play_match``, ``play_tournament``: games between settings of the built-in engine and other programs;
- ``bisect``: which commit of an engine lost strength;
- ``expect_test``: what a sequential test will do, before it is played;
- ``load_games``, ``load_moves``: games and moves, with evaluations, as pandas tables;
- ``tune``: a search for better settings, by games, by matches of your own, or by a function of your own;
- ``PairedObjective``, with its ``DuelSampler`` and ``SpsaSampler``: the method of ``tune``, or SPSA, for a study of
  Optuna's and a match of your own;
- ``ablate``: what each feature of the search is worth;
- ``Engine``: the built-in engine, to analyse positions;
- ``PlayedMatch``, ``PlayedTournament``, ``PlayedBisection``, ``PlayedStudy``, ``MatchedStudy``, ``Trials``,
  ``PlayedAblation``, ``Recommended``, ``Confirmation``, ``SearchResult`` and its ``Line``: the types of results, for
  annotations; ``help()`` explains their attributes and columns;
- ``UserError``: the error for wrong input, one line that names the remedy.

The page ``docs/python.md`` has examples of all of them.
"""

from __future__ import annotations

import os
import signal
import sys

_NAME = os.path.basename(sys.argv[0]) if sys.argv else ""
if _NAME == "elolab" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # In the command's own process, Ctrl-C ends it without a traceback until ``main`` handles signals.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from elolab.ablation import PlayedAblation, ablate
    from elolab.analysis import Engine
    from elolab.engine.engine import Line, SearchResult
    from elolab.engine.errors import UserError
    from elolab.games import load_games, load_moves
    from elolab.playing import (
        PlayedBisection,
        PlayedMatch,
        PlayedTournament,
        bisect,
        expect_test,
        play_match,
        play_tournament,
    )
    from elolab.studies import MatchedStudy, PlayedStudy, Trials, tune
    from elolab.tuning.paired import Confirmation, PairedObjective, Recommended
    from elolab.tuning.study.sampler import DuelSampler, SpsaSampler

__all__ = [
    "Confirmation",
    "DuelSampler",
    "Engine",
    "Line",
    "MatchedStudy",
    "PairedObjective",
    "PlayedAblation",
    "PlayedBisection",
    "PlayedMatch",
    "PlayedStudy",
    "PlayedTournament",
    "Recommended",
    "SearchResult",
    "SpsaSampler",
    "Trials",
    "UserError",
    "ablate",
    "bisect",
    "expect_test",
    "load_games",
    "load_moves",
    "play_match",
    "play_tournament",
    "tune",
]

_MODULES = {
    "Confirmation": "elolab.tuning.paired",
    "DuelSampler": "elolab.tuning.study.sampler",
    "Engine": "elolab.analysis",
    "Line": "elolab.analysis",
    "MatchedStudy": "elolab.studies",
    "PairedObjective": "elolab.tuning.paired",
    "PlayedAblation": "elolab.ablation",
    "PlayedBisection": "elolab.playing",
    "PlayedMatch": "elolab.playing",
    "PlayedStudy": "elolab.studies",
    "PlayedTournament": "elolab.playing",
    "Recommended": "elolab.tuning.paired",
    "SearchResult": "elolab.analysis",
    "SpsaSampler": "elolab.tuning.study.sampler",
    "Trials": "elolab.studies",
    "UserError": "elolab.engine.errors",
    "ablate": "elolab.ablation",
    "bisect": "elolab.playing",
    "expect_test": "elolab.playing",
    "load_games": "elolab.games",
    "load_moves": "elolab.games",
    "play_match": "elolab.playing",
    "play_tournament": "elolab.playing",
    "tune": "elolab.studies",
}
"""The module that defines each public name."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'elolab' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
