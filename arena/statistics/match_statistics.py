"""Statistics of a match between two players, as data and as lines of text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from elolab.arena.sequential import SequentialSettings, expected_pairs
from elolab.arena.statistics.elo import Pentanomial, Trinomial
from elolab.arena.statistics.numbers import INFINITY, given_text, percent_text, signed
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, padded, wrapped

if TYPE_CHECKING:
    from elolab.arena.sequential import SequentialRun
    from elolab.arena.statistics.standings import Tables
    from elolab.arena.tournament_spec import TournamentSpec

TEXT_WIDTH = 79
LABEL_WIDTH = 16


def figures_of(counts: Pentanomial | Trinomial, settings: SequentialSettings | None = None) -> dict[str, Any]:
    """All statistics of a match as plain data, from the point of view of the player whose results are counted.

    With ``settings``, includes the statistics of a sequential test.
    """
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


def figure_lines(figures: dict[str, Any], language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Format the result of ``figures_of`` as lines of text with at most 80 columns."""
    say = Catalogue("elolab.arena", language)
    if figures["pentanomial"] is not None:
        counts = " ".join(map(str, figures["pentanomial"]))
        lines = [labelled(say("match.pairs"), say("match.pairs_text", pairs=figures["pairs"], counts=counts))]
    else:
        wins, draws, losses = figures["wdl"]
        games = say("match.games_text", games=figures["games"], wins=wins, draws=draws, losses=losses)
        lines = [labelled(say("match.games"), games)]
    if figures["games"]:  # without games, there are no estimates
        lines += [
            labelled(say("match.score"), f"{100 * figures['score']:.2f} %"),
            labelled(say("match.elo"), _elo_with_interval(figures, "", say)),
            labelled(say("match.normalized"), signed(figures["normalized_elo"], 2)),
            labelled(say("match.los"), f"{percent_text(figures['los'])} %"),
        ]
    if figures["games"] and figures["pairs_ratio"] is not None:
        lines.append(labelled(say("match.pairs_ratio"), f"{figures['pairs_ratio']:.3f}".replace("inf", INFINITY)))
    return lines if figures["llr"] is None else [*lines, *_test_lines(figures, say)]


def _test_lines(figures: dict[str, Any], say: Catalogue) -> list[str]:
    """Lines of text on the sequential test in ``figures``. ``say`` is the message catalogue of ``arena``."""
    llr, low, high = (signed(figures[name], 3) for name in ("llr", "lower_bound", "upper_bound"))
    verdict = say(f"verdict.{VERDICT_KEYS.get(figures['verdict'], 'undecided')}_short")
    hypotheses = {name: given_text(figures[name]) for name in ("elo0", "elo1", "alpha", "beta")}
    ratio = say("match.llr_text", llr=llr, low=low, high=high, verdict=verdict)
    lines = [
        labelled(say("match.llr"), ratio),
        labelled("", say("match.hypotheses", unit=say(f"verdict.unit_{figures['model']}"), **hypotheses)),
    ]
    if not figures["games"]:
        return lines
    after, los = _elo_with_interval(figures, "unbiased_", say), percent_text(figures["unbiased_los"])
    return [
        *lines,
        labelled(say("match.after"), say("match.after_text", interval=after, los=los)),
        labelled("", say("match.unbiased")),
    ]


def labelled(label: str, text: str) -> str:
    """A line of text with a label, which is padded to ``LABEL_WIDTH`` columns."""
    return padded(label, LABEL_WIDTH) + text


VERDICT_KEYS = {"H1 accepted": "upper", "H0 accepted": "lower"}
"""Last part of a message key for each verdict of a sequential test; ``undecided`` for all other verdicts."""


def verdict_text(verdict: str) -> str:
    """Convert ``SequentialTest.verdict`` for data files: ``H1 accepted``, ``H0 accepted`` or ``undecided``."""
    return {"upper accepted": "H1 accepted", "lower accepted": "H0 accepted"}.get(verdict, "undecided")


def _elo_with_interval(figures: dict[str, Any], prefix: str, say: Catalogue) -> str:
    low, high = figures[f"{prefix}elo_low"], figures[f"{prefix}elo_high"]
    error = f" ± {(high - low) / 2:.2f}" if math.isfinite(high - low) else ""
    elo = signed(figures[f"{prefix}elo"], 2)
    return say("match.interval", elo=elo, error=error, low=signed(low, 2), high=signed(high, 2))


def figures_of_match(tables: Tables, run: SequentialRun | None) -> dict[str, Any]:
    """All statistics of a match as plain data, from the first player's point of view; see ``figures_of``.

    ``run`` is the sequential test, whose verdict is included; ``None`` without a test.
    """
    counts = tables.counter.between(0, 1)
    if run is None:
        pairs = counts.pentanomial()
        return figures_of(pairs if pairs.pairs else counts.trinomial())
    return figures_of(run.counts, run.settings) | {"verdict": run.verdict, "batch_pairs": run.settings.batch_pairs}


def match_lines(
    spec: TournamentSpec,
    tables: Tables,
    run: SequentialRun | None,
    language: str = DEFAULT_LANGUAGE,
    columns: int = TEXT_WIDTH,
) -> list[str]:
    """All statistics of a match as lines of text; the verdict of a sequential test comes last.

    ``run`` is the sequential test, ``None`` without a test. Lines have at most ``columns`` columns.
    """
    say = Catalogue("elolab.arena", language)
    figures = figures_of_match(tables, run)
    one, other = (player.name for player in spec.players)
    lines = [say("match.title", one=one, other=other)]
    if figures["pentanomial"] is not None:
        games = tables.counter.between(0, 1).trinomial()
        results = {"wins": games.wins, "draws": games.draws, "losses": games.losses}
        lines.append(labelled(say("match.games"), say("match.results", games=games.games, **results)))
    lines += figure_lines(figures, language)
    if run is not None:
        lines += ["", *wrapped(verdict_sentence(run, one, other, say), min(columns, TEXT_WIDTH))]
    return lines


def verdict_sentence(run: SequentialRun, one: str, other: str, say: Callable[..., str]) -> str:
    """A sentence on the state of a sequential test between the players named ``one`` and ``other``.

    ``say`` is the message catalogue of ``arena``.
    """
    settings = run.settings
    sentence = say(
        f"verdict.{VERDICT_KEYS.get(run.verdict, 'undecided')}", pairs=run.games_seen // 2, most=run.pairs, one=one,
        other=other, unit=say(f"verdict.unit_{settings.model}"), elo0=given_text(settings.elo0),
        elo1=given_text(settings.elo1),
    )  # fmt: skip
    needed = None if run.is_decided else expected_pairs(run.state, run.counts.pairs)
    if needed is None:
        return sentence
    hypothesis = "H1" if run.state.log_likelihood_ratio > 0 else "H0"
    key = "verdict.needed" if needed <= run.pairs else "verdict.needed_more"
    return say(key, verdict=sentence, needed=needed, hypothesis=hypothesis)
