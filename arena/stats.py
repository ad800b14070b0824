"""The command ``stats``: the figures of a match straight from its counts, or from the games of a PGN file."""

from __future__ import annotations

import argparse
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.sequential import MAXIMUM_HYPOTHESIS, SequentialSettings
from arena.statistics import SPRT_MODELS, Pentanomial, Trinomial
from engine.command_line import UsageError, add_game_argument, add_json_argument, game_of, print_json, whole_number
from engine.errors import UserError

if TYPE_CHECKING:
    from arena.portable_game_notation import PortableResult
    from arena.sequential import SequentialRun
    from arena.spec import TournamentSpec
    from arena.tournament import Exported

TEXT_WIDTH = 79
FEW_PAIRS = 30
"""From fewer, the interval by a normal distribution is too narrow: ``benchmarks/statistics_simulation.py``."""
FEW_PAIRS_LINE = "                (too narrow: of 10 pairs it is right in 90 %, of 30 in 94)"
POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
"""Of the first mover."""


def add_hypothesis_arguments(parser: argparse.ArgumentParser, *, always: bool) -> None:
    """``--elo0``, ``--elo1``, ``--alpha``, ``--beta`` and ``--model``: read them with ``hypotheses_of``.

    Unless there is ``always`` a test, the hypotheses have no defaults.
    """
    group = parser.add_argument_group("sequential test")
    default = SequentialSettings()
    for name, elo, meaning in (("elo0", default.elo0, "H0: not stronger"), ("elo1", default.elo1, "H1: stronger")):
        said = f" (default {elo:g})" if always else ""
        group.add_argument(
            f"--{name}", type=_elo, default=elo if always else None, metavar="ELO", help=f"hypothesis {meaning}{said}"
        )
    for name, error, meaning in (
        ("alpha", default.alpha, "H1 accepted though H0 holds"), ("beta", default.beta, "H0 accepted though H1 holds")
    ):  # fmt: skip
        group.add_argument(
            f"--{name}", type=_error_probability, default=error, metavar="P",
            help=f"probability of the error: {meaning} (default {error:g})",
        )  # fmt: skip
    group.add_argument(
        "--model", choices=SPRT_MODELS, default=default.model, help=f"unit of both (default {default.model} Elo)"
    )


def hypotheses_of(arguments: argparse.Namespace) -> SequentialSettings | None:
    """The test that the arguments describe, if any; raises ``UsageError`` unless H1 is given and above H0."""
    elo0, elo1 = arguments.elo0, arguments.elo1
    if elo0 is None and elo1 is None:
        return None
    if elo0 is None or elo1 is None:
        missing = "--elo0" if elo0 is None else "--elo1"
        raise UsageError(f"{missing} is missing; a sequential test needs --elo0 and --elo1")
    if elo0 >= elo1:
        raise UsageError(f"--elo0 {elo0:g} --elo1 {elo1:g}: the second hypothesis must be above the first")
    return SequentialSettings(elo0, elo1, arguments.alpha, arguments.beta, arguments.model)


def _number(text: str, low: float, high: float, inside: bool) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (low < value < high if inside else low <= value <= high):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number {'between' if inside else 'from'} {low:g} "
                                         f"{'and' if inside else 'to'} {high:g}")  # fmt: skip
    return value


def _elo(text: str) -> float:
    return _number(text, -MAXIMUM_HYPOTHESIS, MAXIMUM_HYPOTHESIS, inside=False)


def _error_probability(text: str) -> float:
    return _number(text, 0, 0.5, inside=True)


def configure_stats(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab stats``."""
    parser.epilog = (
        "Every figure is the view of the player whose results are counted. A pair is two\n"
        "games from one opening with colours swapped. Two games of a PGN file are a pair\n"
        "if they alone have the same Round, with the same opening and swapped colours, as\n"
        "in games.pgn of a tournament. Where most games are in pairs the figures are those\n"
        "of the pairs; otherwise all games are counted unpaired."
    )
    source = parser.add_argument_group("results, one of")
    count = whole_number(0)
    source.add_argument(
        "--pentanomial", type=count, nargs=5, metavar=("LL", "LD", "EVEN", "WD", "WW"),
        help="pairs: both lost; loss and draw; one win each or two draws; win and draw; both won",
    )  # fmt: skip
    source.add_argument(
        "--wdl", type=count, nargs=3, metavar=("WINS", "DRAWS", "LOSSES"), help="unpaired games, in this order"
    )
    source.add_argument("--pgn", metavar="FILE", help="games of two players")
    parser.add_argument("--player", metavar="NAME", help="PGN: whose view (default: who moves first in the first game)")
    parser.add_argument("--opponent", metavar="NAME", help="PGN: against whom, where there are more than two players")
    add_hypothesis_arguments(parser, always=False)
    add_game_argument(parser)
    add_json_argument(parser)


def run_stats(arguments: argparse.Namespace) -> int:
    """Print the figures."""
    given = [name for name in ("pentanomial", "wdl", "pgn") if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise UsageError(f"{len(given)} kinds of results given; expected one of --pentanomial, --wdl and --pgn")
    settings = hypotheses_of(arguments)
    if arguments.pgn is None and (arguments.player or arguments.opponent):
        raise UsageError("--player and --opponent choose among the players of --pgn; leave them out")
    results = _results_of(arguments)
    figures = figures_of(results.counts, settings)
    if arguments.json:
        print_json({**results.described, **figures})
    else:
        print("\n".join([*results.lines, *figure_lines(figures)]))
    return 0


@dataclass(frozen=True)
class Results:
    """Counts and where they are from."""

    counts: Pentanomial | Trinomial
    described: dict[str, Any]
    """Where they are from, as plain data."""
    lines: tuple[str, ...]
    """The same in words."""


def _results_of(arguments: argparse.Namespace) -> Results:
    if arguments.pentanomial is not None:
        return Results(Pentanomial(tuple(arguments.pentanomial)), {}, ())
    if arguments.wdl is not None:
        return Results(Trinomial(*arguments.wdl), {}, ())
    return results_of_file(arguments.pgn, game_of(arguments).name, arguments.player, arguments.opponent)


# Figures of counts


def figures_of(counts: Pentanomial | Trinomial, settings: SequentialSettings | None = None) -> dict[str, Any]:
    """Every figure as plain data; with ``settings`` also those of a sequential test."""
    seen = counts.estimate()
    paired = isinstance(counts, Pentanomial)
    figures: dict[str, Any] = {
        "pentanomial": list(counts.counts) if paired else None,
        "wdl": None if paired else list(counts.counts[::-1]),
        "pairs": counts.pairs if isinstance(counts, Pentanomial) else 0,
        "games": 2 * counts.pairs if isinstance(counts, Pentanomial) else counts.games,
        "score": seen.score,
        "elo": seen.elo,
        "elo_error": seen.elo_error,
        "elo_low": seen.elo_low,
        "elo_high": seen.elo_high,
        "normalized_elo": seen.normalized_elo,
        "los": seen.los,
        "pairs_ratio": seen.pairs_ratio,
        "llr": None,
    }
    if settings is not None:
        state, after = settings.test(counts), settings.estimate(counts)
        figures |= {
            "llr": state.log_likelihood_ratio,
            "lower_bound": state.lower_bound,
            "upper_bound": state.upper_bound,
            "elo0": settings.elo0,
            "elo1": settings.elo1,
            "model": settings.model,
            "alpha": settings.alpha,
            "beta": settings.beta,
            "verdict": verdict_text(state.verdict),
            "unbiased_elo": after.elo,
            "unbiased_elo_low": after.elo_low,
            "unbiased_elo_high": after.elo_high,
            "unbiased_los": after.los,
        }
    return figures


def figure_lines(figures: dict[str, Any]) -> list[str]:
    """``figures_of`` in words, within 80 columns."""
    from arena.standings import percent_text

    if figures["pentanomial"] is not None:
        counts = " ".join(map(str, figures["pentanomial"]))
        lines = [f"pairs           {figures['pairs']}: LL LD even WD WW = {counts}"]
    else:
        wins, draws, losses = figures["wdl"]
        lines = [f"games           {figures['games']}, unpaired: {wins} won, {draws} drawn, {losses} lost"]
    lines += [
        f"score           {100 * figures['score']:.2f} %",
        f"Elo             {_elo_with_interval(figures, '')}",
        *([FEW_PAIRS_LINE] if _has_narrow_interval(figures) else []),
        f"normalized Elo  {_signed(figures['normalized_elo'])}",
        f"LOS             {percent_text(figures['los'])} %",
    ]
    if figures["pairs_ratio"] is not None:
        lines.append(f"pairs ratio     {figures['pairs_ratio']:.3f}")
    if figures["llr"] is not None:
        lines += [
            f"LLR             {figures['llr']:+.3f}, bounds [{figures['lower_bound']:.3f}, "
            f"{figures['upper_bound']:+.3f}]: {figures['verdict']}",
            f"                of {figures['elo0']:g} (H0) against {figures['elo1']:g} (H1) {figures['model']} Elo, "
            f"alpha {figures['alpha']:g}, beta {figures['beta']:g}",
            f"after the test  {_elo_with_interval(figures, 'unbiased_')} Elo, LOS "
            f"{percent_text(figures['unbiased_los'])} %",
            "                (median-unbiased: without the bias of having stopped)",
        ]
    return lines


def _has_narrow_interval(figures: dict[str, Any]) -> bool:
    return figures["pentanomial"] is not None and figures["pairs"] < FEW_PAIRS and math.isfinite(figures["elo_error"])


def verdict_text(verdict: str) -> str:
    """What ``SequentialTest.verdict`` means."""
    return {"upper accepted": "H1 accepted", "lower accepted": "H0 accepted"}.get(verdict, "undecided")


def _elo_with_interval(figures: dict[str, Any], prefix: str) -> str:
    low, high = figures[f"{prefix}elo_low"], figures[f"{prefix}elo_high"]
    error = f" ± {(high - low) / 2:.2f}" if math.isfinite(high - low) else ""
    return f"{_signed(figures[f'{prefix}elo'])}{error}, 95 % interval {_signed(low)} to {_signed(high)}"


def _signed(value: float) -> str:
    from arena.standings import signed

    return signed(value, 2)


def figures_of_match(exported: Exported) -> dict[str, Any]:
    """``figures_of`` a match of two players, from the view of the first, with the verdict if it is a test."""
    counts = exported.tables.counter.between(0, 1)
    run = exported.sequential
    if run is None:
        pairs = counts.pentanomial()
        return figures_of(pairs if pairs.pairs else counts.trinomial())
    return figures_of(run.counts, run.settings) | {"verdict": run.verdict, "batch_pairs": run.settings.batch_pairs}


def match_lines(spec: TournamentSpec, exported: Exported) -> list[str]:
    """``figures_of_match`` in words; the verdict of a test comes last."""
    figures = figures_of_match(exported)
    one, other = (player.name for player in spec.players)
    lines = [f"{one} against {other}, from the view of {one}:", *figure_lines(figures)]
    if exported.sequential is not None:
        lines += ["", *textwrap.wrap(verdict_sentence(exported.sequential, one, other), TEXT_WIDTH)]
    return lines


def verdict_sentence(run: SequentialRun, one: str, other: str) -> str:
    """What a sequential test of ``one`` against ``other`` has shown so far."""
    settings, pairs = run.settings, run.games_seen // 2
    unit = f"{settings.model} Elo"
    if run.verdict == "H1 accepted":
        return f"H1 accepted after {pairs} pairs: {one} is stronger than {other}, by {settings.elo1:g} {unit} rather " \
               f"than {settings.elo0:g}."
    if run.verdict == "H0 accepted":
        return f"H0 accepted after {pairs} pairs: the gain of {one} over {other} is {settings.elo0:g} {unit} rather " \
               f"than {settings.elo1:g}."
    return f"Undecided after {pairs} of at most {run.pairs} pairs: neither hypothesis has been accepted."


# Results of a PGN file


def results_of_file(path: str, game: str, player: str | None, opponent: str | None) -> Results:
    """The counts of a file's games from one player's view. Raises ``UserError`` if it is not clear whose."""
    from arena.portable_game_notation import decode_text, read_results

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    games = list(read_results(decode_text(data, path), path, game))
    player, opponent = _two_players(path, games, player, opponent)
    own = [entry for entry in games if {entry.first, entry.second} == {player, opponent}]
    return _counted(own, player, opponent)


def _two_players(
    path: str, games: Sequence[PortableResult], player: str | None, opponent: str | None
) -> tuple[str, str]:
    names = list(dict.fromkeys(name for entry in games for name in (entry.first, entry.second)))
    listed = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
    for option, name in (("--player", player), ("--opponent", opponent)):
        if name is not None and name not in names:
            raise UserError(f"{path}: {option} {name!r} plays no game in it; expected one of {listed}")
    if len(names) > 2 and not (player and opponent):
        raise UserError(
            f"{path}: {len(names)} players ({listed}); choose two with --player and --opponent, or rate all of them "
            "from their tournament's folder with elolab report"
        )
    if player is None:
        player = next(name for name in names if name != opponent)
    if opponent is None:
        opponent = next((name for name in names if name != player), player)
    if player == opponent:
        raise UserError(f"{path}: {player!r} plays only against itself; expected games of two players")
    return player, opponent


def _counted(games: Sequence[PortableResult], player: str, opponent: str) -> Results:
    """Pairs if at least half of the finished games are in pairs, otherwise all games unpaired."""
    counting = [entry for entry in games if entry.counts]
    finished = [entry for entry in counting if entry.result in POINTS]
    by_round: dict[str, list[PortableResult]] = {}
    for entry in finished:
        by_round.setdefault(entry.round, []).append(entry)
    pairs = [played for name, played in by_round.items() if name and _is_pair(played)]
    in_pairs = 2 * len(pairs)
    single = len(finished) - in_pairs
    described = {
        "player": player,
        "opponent": opponent,
        "paired_games": in_pairs,
        "single_games": single,
        "unfinished_games": len(counting) - len(finished),
        "uncounted_games": len(games) - len(counting),
    }
    paired = in_pairs >= max(1, single)
    outside = f"{single} outside them ({'left out of all figures' if paired else 'all games are counted unpaired'})"
    parts = [f"{in_pairs} in {len(pairs)} complete pairs", *([outside] if single else [])]
    if len(counting) > len(finished):
        parts.append(f"{len(counting) - len(finished)} without a result")
    if len(games) > len(counting):
        parts.append(f"{len(games) - len(counting)} beyond the end of a sequential test (not counted)")
    lines = (f"{player} against {opponent}, from the view of {player}", f"games           {', '.join(parts)}")
    if paired:
        counts = Pentanomial.from_pairs([(_points(one, player), _points(other, player)) for one, other in pairs])
        return Results(counts, described, lines)
    scores = [_points(entry, player) for entry in finished]
    return Results(Trinomial(scores.count(1.0), scores.count(0.5), scores.count(0.0)), described, lines)


def _is_pair(games: Sequence[PortableResult]) -> bool:
    """Whether the games of one round are two from the same opening with colours swapped."""
    if len(games) != 2:
        return False
    one, other = games
    return one.first == other.second and (one.start, one.opening) == (other.start, other.opening)


def _points(entry: PortableResult, player: str) -> float:
    return POINTS[entry.result] if entry.first == player else 1 - POINTS[entry.result]
