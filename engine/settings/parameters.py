"""The table of all parameters of the engine.

Everything that depends on the parameters is derived from ``PARAMETERS``: the record that compiled code reads,
validation, the command line, tuning dimensions, ablation rows, complete presets, the benchmark's variants, and the
printed reference (``elolab parameters``). A new parameter needs one row here, its use in the search, and a test. A
parameter's name and aliases are accepted in any spelling; files store its name. Names from the literature whose unit or
meaning differs are refused (``TEXT_NAMES``).

Sources: [EE] ElephantEye, chapter 8 (2005); [AW] aspiration windows (Moreland); [FN] null move in practice (fenon,
2006); [XQ] XQWizard Light 0.3 (2008); [OT] Othello, iterative deepening (2021); [3.31] the released ElephantEye 3.31;
[ours] parameters that are in no text.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import nearest
from elolab.engine.settings.features import FEATURES
from elolab.engine.settings.toml_values import format_toml
from elolab.engine.settings.weights import pinned, weights_address

if TYPE_CHECKING:
    from elolab.engine.settings.limits import Limits

Value = bool | int | float | str

NO_TEXT = "[ours]"
"""Prefix of the source of every parameter that does not come from the literature."""


class ParameterError(UserError):
    """An unknown parameter, or a value outside its legal range; the message names the key, the value and the remedy."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of the engine: a row of the table ``PARAMETERS``."""

    name: str
    kind: str
    """Type of the value: ``switch``, ``integer``, ``choice`` or ``weights`` (a file of ``engine.settings.weights``)."""
    default: Value
    legal: tuple[Any, ...]
    """The legal values. Integers: lowest and highest. Choices: all choices, in the order of their codes. Weights: the
    games for which a file of weights may be given.
    """
    tuning: tuple[Any, ...]
    """Values for tuning: an integer's range, or values of a switch or choice to try; empty if never tuned."""
    scale: str
    """How a tuner should space values in the tuning range: ``linear`` or ``log``."""
    unit: str
    games: tuple[str, ...]
    """The games that the parameter applies to; empty if it applies to every game."""
    depends_on: tuple[str, tuple[Value, ...]] | None
    """Another parameter, with the values under which this parameter has an effect. ``None`` if this parameter always
    has an effect.
    """
    sound: bool
    """Whether the parameter's technique leaves the search's value at a given depth unchanged, if all other techniques
    in use do so too.
    """
    off: Value | None
    """Value that switches the parameter's technique off; ``None`` if there is no such value, as for a margin or a time.

    Ablations use this value. Complete presets use it for each technique that they do not name.
    """
    acts_on_clock_only: bool
    """Whether the parameter has no effect under limits without a clock."""
    doc: str
    source: str
    default_by_game: tuple[tuple[str, Value], ...] = ()
    """Pairs of a game and the parameter's default there, where that differs from ``default``. They include games in
    which users cannot set the parameter.
    """
    aliases: tuple[str, ...] = ()
    """Names of the same parameter, with the same unit and meaning, in the literature and in other engines. The spelling
    is the source's.
    """

    def default_for(self, game: str | None) -> Value:
        """The default value in a game. ``None`` stands for every game that has no default of its own."""
        return dict(self.default_by_game).get(game or "", self.default)

    @property
    def protocol_name(self) -> str:
        """Name of the parameter's option in UCI and UCCI."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    def check(self, value: object, where: str = "", name: str = "") -> Value:
        """Convert ``value`` to the parameter's type and validate it. Raises ``ParameterError`` if it is not legal.

        For errors, ``where`` is the file or option, and ``name`` the parameter's name as written there.
        """
        said = (f"{where}: " if where else "") + (name or self.name)
        if self.kind == "switch":
            words = {"on": True, "off": False, "true": True, "false": False, "1": True, "0": False}
            if isinstance(value, str) and value.lower() in words:
                return words[value.lower()]
            if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
                return bool(value)
            raise ParameterError(f"{said} = {format_toml(value)}, expected on or off")
        if self.kind == "choice":
            if isinstance(value, str) and value in self.legal:
                return value
            expected = f"one of {', '.join(self.legal)}{nearest(str(value), self.legal)}"
            raise ParameterError(f"{said} = {format_toml(value)}, expected {expected}")
        if self.kind == "weights":
            expected = f"{said} = {format_toml(value)}, expected a file of weights"
            if not isinstance(value, str) or not value:
                raise ParameterError(expected)
            try:
                return pinned(value, self.legal)
            except UserError as error:
                raise ParameterError.at(expected, error) from None
        low, high = self.legal
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = int(value)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
            raise ParameterError(f"{said} = {format_toml(value)}, expected a whole number from {low} to {high}")
        return int(value)

    def encode(self, value: Value) -> int:
        """Convert a value to the integer that compiled code reads."""
        if self.kind == "choice":
            return self.legal.index(value)
        if self.kind == "weights":
            return weights_address(str(value))
        return int(value)


def _switch(name: str, default: bool, doc: str, source: str, *, sound: bool = False, **rest: Any) -> Parameter:
    return _row(name, "switch", default, (False, True), (False, True), doc, source, sound=sound, off=False, **rest)


def _choice(
    name: str, default: str, choices: tuple[str, ...], doc: str, source: str, *, sound: bool = False, **rest: Any
) -> Parameter:
    return _row(name, "choice", default, choices, rest.pop("tuning", choices), doc, source, sound=sound, **rest)


def _weights(name: str, defaults: Mapping[str, str], doc: str, source: str, **rest: Any) -> Parameter:
    """Make a row of the kind ``weights``, with a default file for each game."""
    names, games = tuple(defaults.values()), tuple(defaults)
    row = _row(name, "weights", names[0], games, (), doc, source, games=games, sound=False, **rest)
    return replace(row, default_by_game=tuple(defaults.items()))


def _integer(
    name: str,
    default: int,
    legal: tuple[int, int],
    tuning: tuple[int, int] | tuple[()],
    unit: str,
    doc: str,
    source: str,
    *,
    sound: bool = False,
    **rest: Any,
) -> Parameter:
    return _row(name, "integer", default, legal, tuning, doc, source, unit=unit, sound=sound, **rest)


def _row(
    name: str,
    kind: str,
    default: Value,
    legal: tuple[Any, ...],
    tuning: tuple[Any, ...],
    doc: str,
    source: str,
    *,
    unit: str = "",
    scale: str = "linear",
    games: tuple[str, ...] = (),
    depends_on: tuple[str, tuple[Value, ...]] | None = None,
    sound: bool,
    off: Value | None = None,
    clock: bool = False,
    aliases: tuple[str, ...] = (),
    **by_game: Value,
) -> Parameter:
    """Make a row of the table. The arguments are fields of ``Parameter``, with two exceptions.

    ``clock`` sets ``acts_on_clock_only``; ``by_game`` has the defaults of games whose default differs.
    """
    return Parameter(
        name, kind, default, legal, tuning, scale, unit, games, depends_on, sound, off, clock, doc, source,
        tuple(by_game.items()), aliases,
    )  # fmt: skip


def _needs(name: str, *values: Value) -> tuple[str, tuple[Value, ...]]:
    return name, values or (True,)


_WITH_KINGS = ("xiangqi", "chess")
"""Games with captures and with a king or general that can be mated."""
_OTHELLO = ("othello",)
_MEASURED_IN = ("chess",)
"""Value of ``Parameter.games`` for techniques that have been measured, and are therefore offered, only in chess."""

PARAMETERS: tuple[Parameter, ...] = (
    # Search drivers
    _choice("algorithm", "pvs", ("alphabeta", "pvs", "mtdf"),
            "plain alpha-beta, principal variation search (null windows after the first move), or MTD(f): null windows "
            "only, closing in on the value", "[XQ][OT] alphabeta; [AW] note pvs; [OT] mtdf", sound=True,
            aliases=("search_algorithm",), off="alphabeta"),
    _choice("mtdf_guess", "last", ("last", "two_back", "zero"),
            "first guess of MTD(f): the last iteration's value, that of two iterations ago (same parity), or 0; the "
            "first iteration starts from 0", "[OT] last", sound=True, depends_on=_needs("algorithm", "mtdf")),
    _switch("fail_soft", True,
            "return the best value found, even outside the window, instead of the bound (mates are always returned as "
            "found)",
            "[FN]; [XQ] is fail-hard", sound=True),
    _switch("iterative_deepening", True, "deepen step by step; off searches straight to the depth limit", "[XQ][OT]",
            sound=True, aliases=("IDS",)),
    _integer("min_depth", 1, (1, 64), (), "plies",
             "depth of the first iteration, which only a node limit or a stop can end, not a clock",
             "[OT] 4; [XQ] 1", sound=True,
             depends_on=_needs("iterative_deepening")),
    _integer("depth_step", 1, (1, 4), (1, 2), "plies", "increment of the depth from one iteration to the next",
             "[ours]", sound=True, depends_on=_needs("iterative_deepening")),
    _choice("aspiration", "one_sided", ("off", "full", "one_sided", "gradual", "naive_half", "naive"),
            "window around the last iteration's value; after a failure reopen both bounds (full), the failing bound "
            "(one_sided), widen the failing bound by a growing factor (gradual), or open the failing bound and set the "
            "other to the value just seen (naive: both ways; naive_half: only after a failure upwards); a guard ends "
            "the alternation that naive can fall into", "[AW]", sound=True, depends_on=_needs("iterative_deepening"),
            off="off", chess="gradual"),
    _integer("aspiration_window", 53, (1, 5000), (10, 400), "centipawns",
             "half-width of the aspiration window (the text's valWINDOW: half a pawn)", "[AW]", scale="log", sound=True,
             depends_on=_needs("aspiration", "full", "one_sided", "gradual", "naive_half", "naive"), othello=94,
             chess=25, aliases=("valWINDOW",)),
    _integer("aspiration_growth", 2000, (1100, 10000), (1200, 5000), "permille",
             "factor by which gradual widens the half-width at each failure", "[ours]", scale="log", sound=True,
             depends_on=_needs("aspiration", "gradual")),
    _switch("stop_on_mate", True, "end iterative deepening once the root value is a proven mate", "[EE 8.3][XQ]",
            sound=True, depends_on=_needs("iterative_deepening"), games=_WITH_KINGS),
    _switch("unique_move_check", False,
            "after an iteration search the root again without its best move; if every other move is proven to lose, "
            "play at once", "[EE 8.3]", depends_on=_needs("iterative_deepening"), games=_WITH_KINGS,
            aliases=("SearchUnique",)),
    _choice("root_order", "best_first", ("best_first", "as_nodes"),
            "order of the root's moves. best_first: each new best move goes to the front, and the others keep their "
            "order. as_nodes: each search of the root sorts them as in every other node, by the table's move, "
            "captures, killers and history", "[ours]; [XQ] and [OT] as_nodes",
            sound=True),
    _switch("keep_partial_iteration", True,
            "after a limit or a stop, play a move that the unfinished iteration has proven better (with root_order = "
            "as_nodes only if the best move before was searched first); off plays the move of the last completed "
            "iteration, unless the soft limit ends the search at a new result",
            "[EE 8.2]; [XQ] and [OT] off"),
    _switch("spare_open_windows", True,
            "no table cutoffs and no pruning in nodes with an open window, the main line of principal variation "
            "search; off treats these nodes like all others, as plain alpha-beta and MTD(f) do, so that the three "
            "algorithms can be compared", "[ours]",
            depends_on=_needs("algorithm", "pvs")),
    # Quiescence
    _switch("quiescence", True, "search captures (all replies in check) below depth 0; off returns the static value",
            "[ours]; off in [XQ] and [OT]", games=_WITH_KINGS, aliases=("SearchQuiesc", "QSearch", "QuiescenceSearch")),
    _switch("quiescence_see", True, "quiescence skips captures that lose material by static exchange evaluation",
            "[ours]", depends_on=_needs("quiescence"), games=_WITH_KINGS),
    _integer("quiescence_check_plies", 2, (0, 64), (0, 8), "plies",
             "depth below the horizon to which a side in check searches every reply, not only captures", "[ours]",
             depends_on=_needs("quiescence"), games=_WITH_KINGS, off=0),
    _integer("quiescence_moves", 0, (0, 100), (0, 8), "moves",
             "captures that quiescence searches in a node where it does not search every reply; 0 is all", "[ours]",
             depends_on=_needs("quiescence"), games=_MEASURED_IN, off=0, chess=3),
    _integer("delta_margin", 187, (0, 3000), (0, 600), "centipawns",
             "quiescence skips captures that even with this margin cannot raise the score to alpha; 0 is off", "[ours]",
             depends_on=_needs("quiescence"), games=_WITH_KINGS, aliases=("DeltaPruningMargin",), off=0),
    # Null move
    _switch("null_move", True, "prune where even skipping the turn keeps the score above beta", "[FN][EE]",
            othello=False, aliases=("NullMovePruning", "UseNullMove", "NMP")),
    _integer("null_depth", 3, (2, 8), (2, 5), "plies",
             "total depth subtracted in the null search, including the skipped ply (ElephantEye's NULL_DEPTH 2 is 3 "
             "here)", "[FN] 3 or 4; [EE] 3", depends_on=_needs("null_move")),
    _integer("null_depth_divisor", 0, (0, 20), (0, 8), "plies",
             "plies of depth for which the null search is reduced by one more ply; 0 reduces it by null_depth alone",
             "[ours]", depends_on=_needs("null_move"), off=0, chess=4),
    _integer("null_evaluation_divisor", 200, (0, 2000), (0, 400), "centipawns",
             "static evaluation above beta for which the null search is reduced by one more ply, at most three; 0 is "
             "off", "[ours]", depends_on=_needs("null_move"), othello=0, off=0, chess=230),
    _integer("null_min_depth", 2, (1, 20), (1, 6), "plies",
             "least depth at which a null move is tried: pruning directly above the leaves is dangerous", "[FN] 2",
             depends_on=_needs("null_move"), aliases=("NMPMinDepth",)),
    _switch("null_not_in_check", True,
            "no null move in check; off wastes a node each time, because the general or king would be captured",
            "[FN] condition 3", depends_on=_needs("null_move"), games=_WITH_KINGS),
    _switch("null_need_attackers", True,
            "the side to move must have a rook, horse, cannon or a pawn across the river; in chess a piece other "
            "than king and pawns", "[FN] condition 1",
            depends_on=_needs("null_move"), games=_WITH_KINGS),
    _switch("null_not_twice", True, "no null move directly after a null move", "[FN] condition 4",
            depends_on=_needs("null_move")),
    _switch("null_eval_gate", True,
            "a null move needs a static evaluation of at least beta, unless the null search is quiescence",
            "[FN] condition 7, from Fruit", depends_on=_needs("null_move")),
    _choice("null_not_in_verify", "subtree", ("off", "root", "subtree"),
            "no null move while a null cutoff is verified: nowhere in the verification's subtree, or not at its root",
            "[FN] condition 5 subtree; [EE] root", depends_on=_needs("null_verify", "always", "unless_safe"),
            off="off"),
    _switch("null_mate_guard", False,
            "no null move in a position where an earlier null search was mated (the table's entry records it)",
            "[FN] condition 6, from Crafty", depends_on=_needs("null_move"), games=_WITH_KINGS),
    _choice("null_hash_guard", "off", ("off", "any_entry", "bound"),
            "no null move where the table has an entry that gave no cutoff. bound: only if the entry is exact or an "
            "upper bound, below beta and at least as deep as the null search. any_entry, the literal reading of the "
            "text, permits hardly any null move under iterative deepening, because nearly every node has an entry; "
            "its author must have meant bound", "[FN] condition 8 any_entry; bound from Crafty",
            depends_on=_needs("null_move"), off="off"),
    _integer("null_min_material", 0, (0, 10000), (0, 2000), "centipawns",
             "a null move needs more own material than this (general or king not counted); 0 is off",
             "[EE] instead of condition 1; [3.31] 200 in its unit, 900 here", depends_on=_needs("null_move"),
             games=_WITH_KINGS, off=0),
    _switch("null_in_pv", False,
            "also try null moves in nodes of the principal variation; plain alpha-beta, and principal variation "
            "search without spare_open_windows, do not distinguish these nodes and always do",
            "[FN] on; [3.31] off", depends_on=_needs("null_move")),
    _choice("null_verify", "off", ("off", "always", "unless_safe"),
            "after a null cutoff search the same side to depth - null_depth + 1, and accept the cutoff only if that "
            "fails high too; unless_safe skips this above null_safe_material",
            "[FN][EE]", depends_on=_needs("null_move"),
            aliases=("NullVerification",), off="off"),
    _integer("null_verify_min_depth", 0, (0, 30), (0, 10), "plies",
             "least depth of a null cutoff that is verified; 0 stands for null_depth, below which the verification "
             "would itself be quiescence", "[FN] null_depth",
             depends_on=_needs("null_verify", "always", "unless_safe")),
    _choice("null_return", "null_score", ("null_score", "beta"),
            "what a null cutoff returns", "[FN] null_score; [EE] beta unless fail-soft",
            depends_on=_needs("null_move")),
    _choice("null_store", "off", ("off", "verified", "all"),
            "which null cutoffs enter the table, as bounds without a move",
            "[FN] verified; [3.31] and Crafty all", depends_on=_needs("null_move"), off="off"),
    _choice("null_store_depth", "null_search", ("null_search", "node"),
            "depth stored with a null cutoff: the null search's, which seldom suffices when the position recurs, or "
            "the node's, whose search the cutoff replaces",
            "[FN] is silent; [3.31] and Crafty node", depends_on=_needs("null_store", "verified", "all")),
    _choice("mate_threat_offset", "two", ("two", "null_depth"),
            "a null search that scores -MATE + ply + this shows a threat of mate. two: mated at once. null_depth, the "
            "literal reading of the listing, never occurs at a null depth of 3 and is a mate in two at 4; its author, "
            "whose mates may end with the general's capture, must have meant two",
            "[EE] and Crafty two; [FN]'s listing null_depth", depends_on=_needs("null_move"), games=_WITH_KINGS),
    _switch("mate_threat_extension", False,
            "search a node one ply deeper if its null search was mated at once", "[ours], Crafty's use",
            depends_on=_needs("null_move"), games=_WITH_KINGS),
    _integer("null_safe_material", 1800, (0, 10000), (500, 4000), "centipawns",
             "own material (general or king not counted) above which unless_safe trusts a null cutoff",
             "[EE]; [3.31] 400 in its unit", depends_on=_needs("null_verify", "unless_safe"), games=_WITH_KINGS),
    # Reductions and extensions
    _switch("late_move_reductions", True, "search late quiet moves at reduced depth first", "[ours]", aliases=("LMR",)),
    _integer("lmr_min_depth", 3, (2, 20), (2, 6), "plies", "least depth at which moves are reduced", "[ours]",
             depends_on=_needs("late_move_reductions"), othello=2),
    _integer("lmr_min_moves", 4, (1, 40), (1, 10), "moves", "moves searched in full before reductions start", "[ours]",
             depends_on=_needs("late_move_reductions"), othello=1, chess=5),
    _integer("lmr_base", 59, (-200, 400), (0, 150), "hundredths of a ply",
             "constant part of the reduction; the rest is ln(depth) * ln(move number) / (lmr_divisor / 100)", "[ours]",
             depends_on=_needs("late_move_reductions"), othello=93, chess=82),
    _integer("lmr_divisor", 192, (50, 1000), (120, 400), "hundredths", "divisor of the logarithmic part", "[ours]",
             depends_on=_needs("late_move_reductions"), othello=132, chess=246),
    _integer("lmr_history", 0, (0, 1000), (0, 300), "hundredths of a ply",
             "how much the best possible history lowers the reduction of a move, and the worst raises it; 0 is off",
             "[ours]", depends_on=_needs("history_gravity"), off=0, chess=180),
    _switch("lmr_root", True, "late quiet moves are first tried at reduced depth at the root too", "[ours]",
            depends_on=_needs("late_move_reductions"), othello=False),
    _switch("lmr_checks", False, "late quiet moves that give check or answer one are first tried at reduced depth too",
            "[ours]", depends_on=_needs("late_move_reductions"), games=_MEASURED_IN, chess=True),
    _switch("check_extension", True, "search one ply deeper when the side to move is in check", "[ours]",
            games=_WITH_KINGS, aliases=("CheckExtensions",)),
    _switch("single_reply_extension", False, "search one ply deeper when there is only one legal move", "[ours]",
            aliases=("OneReplyExtension",)),
    _integer("singular_depth", 0, (0, 30), (0, 12), "plies",
             "least depth at which a table move far better than all others is searched one ply deeper; 0 is off",
             "[ours], after Deep Blue", aliases=("SingularExtensionDepth",), off=0, chess=8),
    _integer("singular_margin", 6, (0, 200), (1, 30), "centipawns a ply",
             "how much worse the others must be, times the depth", "[ours]",
             depends_on=_needs("singular_depth", *range(1, 31))),
    _integer("reverse_futility_depth", 6, (0, 20), (0, 8), "plies",
             "greatest depth at which a static evaluation far above beta cuts a node off; 0 is off",
             "[ours]", othello=0,
             aliases=("RFPDepth", "StaticNullMoveDepth"), off=0),
    _integer("reverse_futility_margin", 62, (1, 2000), (40, 400), "centipawns a ply",
             "how far above beta the evaluation must be, times the depth", "[ours]", scale="log", othello=120,
             aliases=("RFPMargin", "StaticNullMoveMargin"), depends_on=_needs("reverse_futility_depth", *range(1, 21)),
             chess=58),
    _integer("reverse_futility_improving", 0, (0, 1000), (0, 120), "centipawns",
             "how much less far above beta the evaluation must be where it is better than two plies before; 0 is off",
             "[ours]", depends_on=_needs("reverse_futility_depth", *range(1, 21)), games=_MEASURED_IN, off=0, chess=58),
    _integer("futility_depth", 4, (0, 20), (0, 6), "plies",
             "greatest depth at which quiet moves are skipped if the static evaluation is far below alpha; 0 is off",
             "[ours]", othello=0, off=0),
    _integer("futility_margin", 83, (1, 2000), (50, 500), "centipawns a ply",
             "how far below alpha the evaluation must be, times the depth", "[ours]", scale="log", othello=150,
             depends_on=_needs("futility_depth", *range(1, 21)), chess=99),
    _integer("razoring_depth", 2, (0, 10), (0, 4), "plies",
             "greatest depth at which a node with a static evaluation far below alpha goes straight to quiescence; 0 "
             "is off",
             "[ours]", othello=0, aliases=("RazorDepth",), off=0),
    _integer("razoring_margin", 300, (1, 3000), (100, 900), "centipawns a ply",
             "how far below alpha the evaluation must be, times the depth", "[ours]", scale="log",
             depends_on=_needs("razoring_depth", *range(1, 11))),
    _integer("late_move_pruning_depth", 4, (0, 20), (0, 6), "plies",
             "greatest depth at which late quiet moves are skipped altogether; 0 is off", "[ours]", othello=0,
             aliases=("LMPDepth",), off=0),
    _integer("late_move_pruning_base", 5, (1, 60), (2, 20), "moves",
             "moves searched at depth 1 before late ones are skipped; depth squared are added", "[ours]", othello=6,
             aliases=("LMPBase",), depends_on=_needs("late_move_pruning_depth", *range(1, 21)), chess=6),
    _integer("late_move_pruning_not_improving", 60, (10, 100), (30, 100), "percent",
             "share of these moves that are searched where the static evaluation is no better than two plies before; "
             "100 is off", "[ours]", depends_on=_needs("late_move_pruning_depth", *range(1, 21)), othello=100, off=100,
             chess=66),
    _integer("exchange_pruning_depth", 0, (0, 20), (0, 8), "plies",
             "greatest depth at which moves that lose material by static exchange evaluation are skipped, unless they "
             "give check; 0 is off", "[ours], after Stockfish", games=_MEASURED_IN, off=0, chess=4),
    _switch("pruning_spares_checks", True,
            "moves that give check are not skipped as futile or late (which costs making every such move)", "[ours]",
            games=_WITH_KINGS),
    _switch("pass_costs_depth", False,
            "a forced pass costs a ply of depth; off, a search as deep as there are empty squares reaches the end",
            "[OT] off", games=_OTHELLO),
    _integer("probcut_depth", 0, (0, 60), (0, 12), "plies",
             "least depth at which a shallower search with a value far outside the window cuts a node off; 0 is off",
             "[ours], after Buro's ProbCut", othello=2, off=0),
    _integer("probcut_checks", 1, (1, 3), (1, 3), "searches",
             "multi-ProbCut: such searches at a node, each deeper than the one before, up to half the depth",
             "[ours], after Buro", depends_on=_needs("probcut_depth", *range(1, 61))),
    _integer("probcut_margin", 400, (0, 5000), (100, 1500), "centipawns",
             "how far outside the window the shallower value must lie", "[ours]", scale="log", othello=465,
             depends_on=_needs("probcut_depth", *range(1, 61))),
    # Transposition table
    _integer("hash_mb", 16, (0, 4096), (), "MiB", "size of the transposition table; 0 is none", "[EE]",
             aliases=("Hash", "hashsize", "TTSize"), off=0),
    _choice("replacement", "two_tier", ("two_tier", "always", "deeper"),
            "replacement in buckets of two entries: one keeps the deepest of the search and the other the latest "
            "(two_tier); the latest two are kept (always); or an entry replaces only one that is no deeper or from an "
            "earlier move (deeper)",
            "[ours]", aliases=("ReplacementScheme",)),
    _switch("hash_exact_depth_only", False,
            "use table entries only of exactly the depth asked for, so that values do not depend on the table",
            "[ours]"),
    _switch("hash_static", True,
            "replace the static evaluation by the table's bound of the position's value if it lies outside that bound",
            "[ours]", games=_WITH_KINGS),
    _switch("quiescence_table", True,
            "quiescence uses table entries of any depth at the horizon, and stores some of depth 0", "[ours]",
            depends_on=_needs("quiescence"), games=_WITH_KINGS),
    _switch("hash_mate_any_depth", False,
            "a proven mate in the table cuts at any depth where its bound helps, in open windows too", "[EE 8.3]",
            depends_on=None, games=_WITH_KINGS),
    _integer("enhanced_cutoff_depth", 0, (0, 60), (0, 12), "plies",
             "least depth at which every child's table entry is probed for a cutoff before any move is searched (in "
             "the endgame solver too); 0 is off", "[ours], after Plaat's enhanced transposition cutoffs",
             aliases=("ETCDepth",), off=0),
    # Move ordering
    _switch("hash_move", True, "try the table's move first", "[3.31]", sound=True, aliases=("mvHash", "TTMove")),
    _integer("killers", 2, (0, 2), (0, 2), "moves", "killer moves kept at each ply", "[3.31] 2", sound=True,
             aliases=("mvKillers", "KillerMoves"), off=0),
    _choice("capture_order", "see", ("none", "mvv_lva", "see"),
            "captures first by most valuable victim, least valuable attacker; see also puts losing ones last",
            "[3.31]; none in [XQ]", sound=True, games=_WITH_KINGS, off="none"),
    _switch("internal_iterative_deepening", False,
            "search open-window nodes deeper than 2 without a table move at half the depth first", "[3.31]",
            sound=True, aliases=("IID",)),
    _integer("internal_iterative_reduction", 4, (0, 20), (0, 8), "plies",
             "least depth at which a node without a table move is searched one ply less, if hash_move is on; 0 is off",
             "[ours]", aliases=("IIRDepth",), depends_on=_needs("hash_move"), othello=0, off=0),
    _switch("history", True, "order quiet moves by how often they caused cutoffs", "[XQ 3.4]", sound=True,
            aliases=("HistoryHeuristic",)),
    _integer("history_weight", 2, (0, 3), (0, 3), "exponent", "bonus is (remaining depth) to this power", "[XQ 3.4] 2",
             sound=True, depends_on=_needs("history")),
    _choice("history_record", "cutoff", ("cutoff", "cutoff_and_pv"),
            "which moves earn the bonus: those that cut, or also the best move of nodes where alpha rose",
            "[XQ 3.4] cutoff_and_pv", sound=True, depends_on=_needs("history")),
    _choice("history_index", "from_to_side", ("from_to_shared", "from_to_side", "piece_to"),
            "one table for both sides by squares, one for each side, or by piece and target",
            "[XQ 3.4] from_to_shared", sound=True, depends_on=_needs("history"), chess="piece_to"),
    _switch("history_gravity", True,
            "histories are bounded and grow more slowly near the bound, so that recent results count more; off, they "
            "are sums, all halved once one is too large, which is in no text",
            "[ours], after Stockfish", sound=True, depends_on=_needs("history"), othello=False),
    _switch("history_malus", True,
            "when a quiet move cuts, the quiet moves tried before it lose as much history as it gains",
            "[ours], after Stockfish", sound=True, depends_on=_needs("history_gravity"), othello=False),
    _integer("continuation_history", 0, (0, 2), (0, 2), "plies",
             "order quiet moves also by how often they cut after the opponent's last move (1), and after the side's "
             "own move before it too (2), by types of pieces and targets; 0 is off",
             "[ours], after Stockfish", sound=True,
             depends_on=_needs("history_gravity"), games=_WITH_KINGS, aliases=("ContinuationHistory",), off=0, chess=2),
    _integer("capture_history", 0, (0, 8000), (0, 4000), "points",
             "what the best history, by types of both pieces and by target, adds to a capture's score in the order, "
             "and the worst takes away; in chess a centipawn of the captured piece is 8 points; 0 is off",
             "[ours], after Stockfish", sound=True, depends_on=_needs("history_gravity"), games=_MEASURED_IN,
             aliases=("CaptureHistory",), off=0, chess=1200),
    _switch("history_captures", False, "captures earn and use history too", "[XQ 3.4] on; [3.31] off", sound=True,
            depends_on=_needs("history"), games=_WITH_KINGS),
    _choice("history_decay", "halve", ("keep", "halve", "clear"),
            "what happens to the table between two moves of a game (between iterations it is kept)",
            "[XQ 3.4] needs it from iteration to iteration; [XQ]'s program and [3.31] clear", sound=True,
            depends_on=_needs("history")),
    # Evaluation
    _choice("evaluation", "full", ("squares", "material_chess", "material", "piece_square", "full"),
            "terms of the evaluation: bonuses of squares alone (squares), the piece values of international chess "
            "(material_chess: rook 5, knight, bishop, horse and cannon 3, pawn 1), our piece values (material), a "
            "value by piece and square (piece_square), or these with mobility, safety of king or general, threats, "
            "pawns and phase (full)",
            "[XQ 3.1]; material and full [ours]", games=_WITH_KINGS, off="material"),
    _integer("tempo", 10, (0, 200), (0, 40), "centipawns", "added for the side to move", "[ours]", games=_WITH_KINGS,
             off=0),
    _integer("correction_history", 0, (0, 300), (0, 200), "percent",
             "share of the static evaluation's errors, as searches found them at positions with the same pawns, by "
             "which it is corrected; 0 is off", "[ours], after Caissa", games=_MEASURED_IN, off=0, chess=100),
    _integer("correction_pieces", 0, (0, 300), (0, 200), "percent",
             "share of the static evaluation's errors, as searches found them at positions where a side has the same "
             "pieces other than pawns on the same squares, by which it is corrected; 0 is off",
             "[ours], after Stockfish", depends_on=_needs("correction_history", *range(1, 301)), games=_MEASURED_IN,
             off=0, chess=70),
    _integer("correction_moves", 0, (0, 300), (0, 200), "percent",
             "share of the static evaluation's errors, as searches found them after the same last two moves (types of "
             "pieces and targets), by which it is corrected; 0 is off",
             "[ours], after Stockfish", depends_on=_needs("correction_history", *range(1, 301)), games=_MEASURED_IN,
             off=0, chess=70),
    _switch("rules_in_search", True,
            "score repetitions, the move limit and bare material inside the search; off leaves them to the arbiter",
            "[ours]", games=_WITH_KINGS),
    _weights("evaluation_weights", {game: game for game in FEATURES},
             "file of the evaluation's weights (configs/weights), one for each feature and phase of the game; its "
             "digest becomes part of the setting", "[ours]", depends_on=_needs("evaluation", "full"),
             aliases=("EvalFile",)),
    # Endgame
    _integer("endgame_empties", 14, (0, 60), (8, 20), "empty squares",
             "number of empty squares from which the game is solved exactly: at the root at any depth limit, below it "
             "where the search reaches the end; 0 is off", "[ours]", games=_OTHELLO, off=0),
    _switch("endgame_exact_iteration", True,
            "follow an iteration that has reached the end of the game selectively by one that solves it; not if depth "
            "is the only limit, or is limited to at most the empty squares", "[ours]", games=_OTHELLO),
    _integer("endgame_presearch", 8, (1, 60), (4, 14), "plies",
             "iteration after which the next one solves the root, once endgame_empties allows it", "[ours]",
             games=_OTHELLO),
    _integer("endgame_sort_empties", 7, (5, 60), (5, 12), "empty squares",
             "least number of empty squares at which the solver sorts moves and uses the table", "[ours]",
             games=_OTHELLO, sound=True),
    _switch("endgame_fastest_first", True, "the solver tries first what leaves the opponent the fewest moves", "[ours]",
            games=_OTHELLO, sound=True),
    _switch("endgame_parity", True, "the solver tries first the regions with an odd number of empty squares", "[ours]",
            games=_OTHELLO, sound=True),
    _switch("endgame_stability", True,
            "the solver cuts where discs that can no longer turn already decide against alpha", "[ours]",
            games=_OTHELLO, sound=True),
    # Time
    _choice("time_strategy", "elephanteye",
            ("elephanteye", "elephanteye-3.31", "fixed", "share", "min_time", "othello"),
            "elephanteye: proper time with hard and soft limits; elephanteye-3.31: the released program's rules; "
            "fixed: the same time every move, aborted; share: a fixed share of what remains; min_time: end after the "
            "iteration in which the time passed, never inside; othello: before each iteration what remains is shared "
            "among the own moves beyond its horizon", "[EE 8.2]; [3.31]; min_time [XQ 3.5]; share [ours]; othello [OT]",
            tuning=(), clock=True),
    _integer("time_divisor", 20, (2, 200), (8, 60), "moves",
             "proper time is increment + remaining / time_divisor: the game is taken to end within so many moves (by "
             "othello only where its end is not known)", "[EE 8.2] 20", scale="log",
             depends_on=_needs("time_strategy", "elephanteye", "elephanteye-3.31", "othello"),
             aliases=("TIME_DIVISOR",), clock=True),
    _integer("time_hard_factor", 2401, (1000, 20000), (1000, 6000), "permille",
             "the search is aborted after this much of the proper time", "[EE 8.2] 2", scale="log",
             depends_on=_needs("time_strategy", "elephanteye"), othello=2000, clock=True),
    _integer("time_soft_factor", 613, (50, 5000), (200, 1500), "permille",
             "when the root has a result after this much of the proper time, the move is played", "[EE 8.2] 1/2",
             scale="log", depends_on=_needs("time_strategy", "elephanteye"), othello=500, clock=True),
    _choice("time_soft_check", "root_result", ("root_result", "iteration"),
            "where the soft limit is tested: whenever a move becomes best at the root, or after an iteration",
            "[EE 8.2] root_result; [3.31] iteration", depends_on=_needs("time_strategy", "elephanteye"), clock=True),
    _integer("time_fixed_ms", 1000, (1, 3_600_000), (), "ms",
             "time a move under the fixed and min_time strategies on a clock", "[EE 8.2][XQ 3.5]",
             depends_on=_needs("time_strategy", "fixed", "min_time"), clock=True),
    _choice("time_predict", "off", ("off", "last_ratio", "constant_ratio", "least_squares"),
            "forecast the next iteration's time and do not start it if it cannot end before the hard limit (under the "
            "strategy othello: before that iteration's own): by the ratio of the last two, a constant ratio, or a line "
            "through the logarithms of the last three", "[OT]",
            tuning=("off", "last_ratio", "constant_ratio", "least_squares"), off="off", clock=True),
    _integer("time_predict_ratio", 3000, (1000, 20000), (1500, 8000), "permille",
             "growth from one iteration to the next under constant_ratio", "[ours]", scale="log",
             depends_on=_needs("time_predict", "constant_ratio"), clock=True),
    _integer("time_share", 40, (1, 1000), (10, 150), "permille", "share of the remaining time under share", "[ours]",
             scale="log", depends_on=_needs("time_strategy", "share"), clock=True),
    _integer("time_move_cap", 500, (1, 1000), (100, 1000), "permille",
             "largest share of the remaining time for one move under othello, which could otherwise spend all of it "
             "on a search to the end", "[ours]; [OT] 1000", depends_on=_needs("time_strategy", "othello"), clock=True),
    _choice("ponder_elapsed", "from_hit", ("from_hit", "from_start"),
            "what counts as spent after a ponder hit: the time since the hit, or all since the search began (it then "
            "answers at once if the soft limit has passed)", "[EE 8.1] from_hit; [3.31] from_start"),
    _integer("ponder_time_factor", 1250, (1000, 4000), (1000, 2000), "permille",
             "factor of the proper time for a player who thinks on the opponent's time too", "[3.31] 5/4", scale="log",
             depends_on=_needs("time_strategy", "elephanteye", "elephanteye-3.31")),
    _integer("clock_reserve_ms", 50, (0, 60_000), (), "ms",
             "time on the clock that the search never uses, reserved for delays outside it",
             "[ours]", aliases=("Move Overhead",), clock=True),
    _integer("poll_interval_nodes", 1024, (1, 1_000_000), (), "nodes", "nodes between two polls of clock and stop flag",
             "[EE 8.2]"),
)  # fmt: skip

BY_NAME: dict[str, Parameter] = {row.name: row for row in PARAMETERS}

TEXT_NAMES: Mapping[str, str] = tomllib.loads((Path(__file__).parent / "text_names.toml").read_text("utf-8"))
"""Names from the literature that are refused, because their unit or meaning differs from the engine's.

Each name, in the spelling of its source, has an explanation and the setting to use instead.
"""

_SAYS_NOTHING = str.maketrans("", "", "_- ")


def plain_spelling(name: str) -> str:
    """Normalize a name for comparison: lower case, without underscores, hyphens and spaces."""
    return name.lower().translate(_SAYS_NOTHING)


_BY_SPELLING: dict[str, Parameter] = {
    plain_spelling(name): row for row in PARAMETERS for name in (row.name, *row.aliases)
}

PARAMETERS_DTYPE = np.dtype([(row.name, np.int64) for row in PARAMETERS])


@functools.cache
def parameters_of(game: str) -> tuple[Parameter, ...]:
    """The rows of ``PARAMETERS`` that apply to a game, with the game's own defaults."""
    return tuple(_row_for(row, game) for row in PARAMETERS if not row.games or game in row.games)


@functools.cache
def _row_for(row: Parameter, game: str) -> Parameter:
    """A row of ``PARAMETERS`` as it applies to a game: with the game's default, weights files and dependency."""
    legal = (game,) if row.kind == "weights" else row.legal
    needed = row.depends_on
    if needed is not None and (games := BY_NAME[needed[0]].games) and game not in games:
        needed = None
    return replace(row, default=row.default_for(game), legal=legal, depends_on=needed)


def row_named(name: str) -> Parameter | None:
    """The parameter with a name or alias in any spelling (``null_depth``, ``NullDepth``); ``None`` if there is none.

    A name in ``TEXT_NAMES``, in exactly that spelling, has no parameter.
    """
    return None if name in TEXT_NAMES else _BY_SPELLING.get(plain_spelling(name))


def nearest_name(name: str, among: Iterable[str] | None = None) -> str:
    """Hint for an unknown name: ``" (did you mean 'x'?)"``, the explanation in ``TEXT_NAMES``, or an empty string.

    ``among`` are the names to compare, by default the names of all parameters.
    """
    if name in TEXT_NAMES:
        return f" ({TEXT_NAMES[name]})"
    rows = PARAMETERS if among is None else [BY_NAME[own] for own in among]
    words = {plain_spelling(text): text for text in TEXT_NAMES}
    words |= {plain_spelling(word): row.name for row in rows for word in (row.name, *row.aliases)}
    near = difflib.get_close_matches(plain_spelling(name), list(words), 1, 0.6)
    if not near:
        return ""
    word = words[near[0]]
    return f" ({word}: {TEXT_NAMES[word]})" if word in TEXT_NAMES else f" (did you mean {word!r}?)"


def find(name: str, where: str = "", among: Iterable[str] | None = None) -> Parameter:
    """The parameter with a name or alias in any spelling.

    Raises ``ParameterError`` for an unknown name; the message suggests the most similar name in ``among``, which has
    the names of all parameters by default. ``where`` names the file or option in errors.
    """
    row = row_named(name)
    if row is not None:
        return row
    hint = nearest_name(name, among) or " (elolab parameters lists them)"
    raise ParameterError(f"{where + ': ' if where else ''}unknown parameter {name!r}{hint}")


def find_all(names: Iterable[str], where: str = "", among: Iterable[str] | None = None) -> dict[str, Parameter]:
    """The parameter of each name or alias, by the name as given. Raises ``ParameterError`` for an unknown name, or if
    two names mean the same parameter.

    ``where`` and ``among`` are as for ``find``.
    """
    among = None if among is None else tuple(among)
    rows: dict[str, Parameter] = {}
    for name in names:
        row = find(name, where, among)
        for other in rows:
            if rows[other] is row and other != name:
                raise ParameterError(
                    f"{where + ': ' if where else ''}{other} and {name} are the same parameter, {row.name}", "give one"
                )
        rows[name] = row
    return rows


def by_canonical_name(settings: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Replace every alias among the keys of ``settings`` by the parameter's name. Values are not checked.

    ``where`` names the file or option in errors. Raises ``ParameterError`` like ``find_all``.
    """
    return {row.name: settings[name] for name, row in find_all(settings, where).items()}


def resolve(overrides: Mapping[str, object], where: str = "", game: str | None = None) -> dict[str, Value]:
    """The value of every parameter, in the table's order: the validated ``overrides``, and defaults for the rest.

    With a ``game``, returns only the parameters that apply to it, with its defaults. ``where`` names the file or option
    in errors. Raises ``ParameterError``.
    """
    rows = PARAMETERS if game is None else parameters_of(game)
    values: dict[str, Value] = {row.name: row.default for row in rows}
    overrides = by_canonical_name(overrides, where)
    for name, value in overrides.items():
        row = BY_NAME[name]
        if game is not None and row.games and game not in row.games:
            raise ParameterError(f"{where + ': ' if where else ''}{name} does not apply to {game}")
        values[name] = (row if game is None else _row_for(row, game)).check(value, where)
    for row in rows:
        if row.kind == "weights" and row.name not in overrides:
            values[row.name] = row.check(row.default, where)
    return values


def is_active(name: str, values: Mapping[str, Value]) -> bool:
    """Whether the parameter ``name`` has an effect, given the values of all parameters."""
    needed = BY_NAME[name].depends_on
    # A parameter that does not apply to this game is not in ``values``, and a dependency on it is ignored.
    if needed is None or needed[0] not in values:
        return True
    return values[needed[0]] in needed[1] and is_active(needed[0], values)


def why_without_effect(name: str, values: Mapping[str, Value], limits: Limits | None = None) -> str | None:
    """Explain why a parameter has no effect under these values and limits; ``None`` if it has an effect."""
    row = BY_NAME[name]
    if limits is not None and row.acts_on_clock_only and limits.clock_ms is None:
        return f"it has an effect only on a clock, and the limit is {limits}"
    if row.depends_on is None or is_active(name, values):
        return None
    parent, wanted = row.depends_on
    if values[parent] in wanted:
        return why_without_effect(parent, values, limits)
    remedy = f"{wanted[0]} or more" if BY_NAME[parent].kind == "integer" else " or ".join(map(format_value, wanted))
    return f"it has an effect only if {parent} is {remedy}, which is {format_value(values[parent])}"


def needed_for(name: str) -> dict[str, Value]:
    """Values of other parameters under which the parameter ``name`` has an effect, whatever the defaults are."""
    needed = BY_NAME[name].depends_on
    if needed is None:
        return {}
    parent, wanted = needed
    default = BY_NAME[parent].default
    return {**needed_for(parent), parent: default if default in wanted else wanted[0]}


def completed_settings(settings: Mapping[str, Value], game: str) -> dict[str, Value]:
    """All settings of a complete preset, given the ``settings`` that it names: every other technique is switched off.

    The parameters of a technique that is off have no effect. Such parameters keep their defaults if they come from the
    literature; otherwise they are set to their ``off`` values, so that no other setting can activate them.
    """
    rows = {row.name: row for row in parameters_of(game)}
    completed = dict(settings)

    def value_of(name: str) -> Value:
        if name in completed:
            return completed[name]
        row = rows[name]
        if row.off is not None and (has_effect(row) or row.source.startswith(NO_TEXT)):
            completed[name] = row.off
            return row.off
        return row.default

    def has_effect(row: Parameter) -> bool:
        needed = row.depends_on
        return needed is None or (value_of(needed[0]) in needed[1] and has_effect(rows[needed[0]]))

    for name in rows:
        value_of(name)
    return completed


def parse_assignments(assignments: Iterable[str], where: str = "--set") -> dict[str, Value]:
    """Parse arguments ``name=value`` of a command line, and validate them. ``where`` is the option, for errors."""
    given: dict[str, str] = {}
    for word in assignments:
        name, equals, value = word.partition("=")
        if not equals:
            raise ParameterError(f"{where} {word!r}: expected name=value")
        given[name.strip()] = value.strip()
    return {name: BY_NAME[name].check(value, where) for name, value in by_canonical_name(given, where).items()}


def to_record(values: Mapping[str, Value]) -> Any:
    """The values as a record of ``PARAMETERS_DTYPE`` (all int64) for compiled code; parameters of other games are 0."""
    record = np.zeros(1, PARAMETERS_DTYPE).view(np.recarray)[0]
    for row in PARAMETERS:
        if row.name not in values:
            continue
        record[row.name] = row.encode(values[row.name])
    return record


def choice_code(name: str, choice: str) -> int:
    """The integer code of a choice. Compiled code takes its constants for choices from this function."""
    return BY_NAME[name].legal.index(choice)


def format_value(value: Value) -> str:
    """A value as text: ``on`` or ``off`` for a switch."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
