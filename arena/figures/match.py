"""The figures of a match of two players as data and as lines of text."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from arena.figures.statistics import Pentanomial, Trinomial
from arena.sequential import SequentialSettings

if TYPE_CHECKING:
    from arena.figures.standings import Tables
    from arena.sequential import SequentialRun
    from arena.tournament_spec import TournamentSpec


TEXT_WIDTH = 79
FEW_PAIRS = 30
"""From fewer, the interval by a normal distribution is too narrow: ``benchmarks/statistics_simulation.py``."""
FEW_PAIRS_LINE = "                (too narrow: of 10 pairs it is right in 90 %, of 30 in 94)"


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
    from arena.figures.standings import percent_text

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
    from arena.figures.standings import signed

    return signed(value, 2)


def figures_of_match(tables: Tables, run: SequentialRun | None) -> dict[str, Any]:
    """``figures_of`` a match of two players, from the view of the first, with the verdict if it is a test."""
    counts = tables.counter.between(0, 1)
    if run is None:
        pairs = counts.pentanomial()
        return figures_of(pairs if pairs.pairs else counts.trinomial())
    return figures_of(run.counts, run.settings) | {"verdict": run.verdict, "batch_pairs": run.settings.batch_pairs}


def match_lines(spec: TournamentSpec, tables: Tables, run: SequentialRun | None) -> list[str]:
    """``figures_of_match`` in words; the verdict of a test comes last."""
    figures = figures_of_match(tables, run)
    one, other = (player.name for player in spec.players)
    lines = [f"{one} against {other}, from the view of {one}:", *figure_lines(figures)]
    if run is not None:
        lines += ["", *textwrap.wrap(verdict_sentence(run, one, other), TEXT_WIDTH)]
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
