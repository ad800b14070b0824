"""elolab from Python: play engines against each other, tune and ablate settings, read the games as tables.

Each name is imported on first use, so that ``import elolab`` is fast:

- ``play_match``, ``play_tournament``: games between settings of the built-in engine and other programs;
- ``bisect``: which commit of an engine lost strength;
- ``expect_test``: what a sequential test will do, before it is played;
- ``load_games``, ``load_moves``: games and moves, with evaluations, as pandas tables;
- ``tune``: a search for better settings, by games, by matches of your own, or by a function of your own;
- ``PairedObjective``, with its ``DuelSampler`` and ``SpsaSampler``: the method of ``tune``, or SPSA, for an Optuna
  study with matches of your own;
- ``ablate``: what each feature of the search is worth;
- ``Engine``: the built-in engine, to analyse positions;
- ``PlayedMatch``, ``PlayedTournament``, ``PlayedBisection``, ``PlayedStudy``, ``MatchedStudy``, ``Trials``,
  ``PlayedAblation``, ``Recommended``, ``Confirmation``, ``SearchResult`` and its ``Line``: the types of results, for
  annotations; ``help()`` explains their attributes and columns;
- ``UserError``: the error for wrong input; ``problem`` states the mistake, ``remedy`` what to do (may be empty).

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

if TYPE_CHECKING:  # a name imported as itself is public for type checkers
    from elolab.ablation import PlayedAblation as PlayedAblation
    from elolab.ablation import ablate as ablate
    from elolab.analysis import Engine as Engine
    from elolab.engine.engine import Line as Line
    from elolab.engine.engine import SearchResult as SearchResult
    from elolab.engine.errors import UserError as UserError
    from elolab.games import load_games as load_games
    from elolab.games import load_moves as load_moves
    from elolab.playing import PlayedBisection as PlayedBisection
    from elolab.playing import PlayedMatch as PlayedMatch
    from elolab.playing import PlayedTournament as PlayedTournament
    from elolab.playing import bisect as bisect
    from elolab.playing import expect_test as expect_test
    from elolab.playing import play_match as play_match
    from elolab.playing import play_tournament as play_tournament
    from elolab.studies import MatchedStudy as MatchedStudy
    from elolab.studies import PlayedStudy as PlayedStudy
    from elolab.studies import Trials as Trials
    from elolab.studies import tune as tune
    from elolab.tuning.paired import Confirmation as Confirmation
    from elolab.tuning.paired import PairedObjective as PairedObjective
    from elolab.tuning.paired import Recommended as Recommended
    from elolab.tuning.study.sampler import DuelSampler as DuelSampler
    from elolab.tuning.study.sampler import SpsaSampler as SpsaSampler

_NAMES = {
    "elolab.ablation": ("PlayedAblation", "ablate"),
    "elolab.analysis": ("Engine", "Line", "SearchResult"),
    "elolab.engine.errors": ("UserError",),
    "elolab.games": ("load_games", "load_moves"),
    "elolab.playing": ("PlayedBisection", "PlayedMatch", "PlayedTournament", "bisect", "expect_test", "play_match",
                       "play_tournament"),
    "elolab.studies": ("MatchedStudy", "PlayedStudy", "Trials", "tune"),
    "elolab.tuning.paired": ("Confirmation", "PairedObjective", "Recommended"),
    "elolab.tuning.study.sampler": ("DuelSampler", "SpsaSampler"),
}  # fmt: skip
"""Maps each public name to the module that defines it."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'elolab' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
