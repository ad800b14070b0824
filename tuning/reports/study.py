"""What studies write from their results, tables, texts and reports, and what they have in common with ablations."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.figures.standings import clipped, percent_text, signed
from arena.files import replace_file
from arena.reports.write import Plot
from engine.rules import Adjudication, Rules
from engine.settings.configuration import specification_word
from engine.settings.parameters import BY_NAME, format_value
from tuning.conditions import Conditions
from tuning.reports import study_charts as charts
from tuning.reports.document import Commands, Document, Facts, Grid, Note, Section, write_document
from tuning.study.response import importances

if TYPE_CHECKING:
    from pandas import DataFrame

    from tuning.study.run import RoundEnd, StudyResult
    from tuning.study.validate import Verdict

TEXT_WIDTH = 80
SPECIFICATIONS = {"tune": "tuning", "ablate": "ablations"}
"""The commands and the kinds of configuration files that they are given."""
MINUS = "\N{MINUS SIGN}"


def elo_text(elo: float, error: float) -> str:
    """``+12.3 ± 4.5``; infinite figures as such."""
    return f"{signed(elo)} ± {error:.1f}" if math.isfinite(error) else f"{signed(elo)} ± inf"


def interval_text(low: float, high: float) -> str:
    """``[+1.2, +9.8]``."""
    return f"[{signed(low)}, {signed(high)}]"


# Studies


def rounds_frame(result: StudyResult) -> DataFrame:
    """The rounds as a pandas table, in their order.

    Columns: ``round`` (from 1), one for every dimension (the set at the centre when the round began, or the trial's),
    ``elo`` (against the base: of the set at the centre by the model of the time, of a trial as observed), ``pairs``,
    ``LL``, ``LD``, ``even``, ``WD``, ``WW`` (the round's pairs by outcome, from the view of each duel's first set),
    ``total_pairs`` (of the study so far), and ``final_elo``, ``final_deviation`` (what the model of all games makes of
    the set).
    """
    import pandas

    assert result.model is not None
    mean, deviation = result.model.gain([end.values for end in result.rounds])
    rows = [
        {
            "round": end.number + 1,
            **dict(zip(result.spec.space.names, end.values, strict=True)),
            "elo": end.elo,
            "pairs": end.counts.pairs,
            **dict(zip(("LL", "LD", "even", "WD", "WW"), end.counts.counts, strict=True)),
            "total_pairs": end.pairs,
            "final_elo": float(expected),
            "final_deviation": float(spread),
        }
        for end, expected, spread in zip(result.rounds, mean, deviation, strict=True)
    ]
    return pandas.DataFrame(rows)


def write_tuning_report(result: StudyResult) -> Path:
    """Write rounds.csv, report.md, report.html and the plots; returns the path of report.html."""
    if result.model is not None:
        table = rounds_frame(result)
        replace_file(result.directory / "rounds.csv", lambda stream: table.to_csv(stream, index=False))
    return write_document(result.directory, _tuning_document(result))


def _tuning_document(result: StudyResult) -> Document:
    spec = result.spec
    sections = [Section("outcome", "Parameters", (_parameters_grid(result), Note(_preset_sentence(result))))]
    sections.append(Section("validation", "Validation", _validation_blocks(result)))
    if result.model is not None and result.decision is not None:
        sections += [
            Section("convergence", "Convergence", _convergence_blocks(result)),
            Section("model", "The model", _model_blocks(result)),
        ]
    sections += [
        Section("conditions", "What was played", (Facts(_tuning_facts(result)),)),
        Section("repeat", "To repeat it", (Commands((repeat_command("tune", spec.conditions, result.directory),)),)),
    ]
    return Document(title=spec.name, kicker="Tuning report", summary=tuning_sentence(result), sections=tuple(sections))


def _provenance(result: StudyResult) -> str:
    """What every figure has to say of itself: games and limit, engine and command."""
    command = repeat_command("tune", result.spec.conditions, result.directory)
    return f" {result.games} games at {result.spec.conditions.limits}; engine {result.engine}; made by {command}."


def _convergence_blocks(result: StudyResult) -> tuple[Any, ...]:
    unit = "centre" if result.spec.sampler == "duel" else "trial's set"
    history = Plot(
        "convergence",
        "Gain against games",
        f"Expected Elo against {result.spec.base_name} of every round's {unit}, by the model of all games with its "
        "90 % band, and the estimate of the time where there was one. The diamond is the recommendation with the "
        "playoff's interval; the other one, if there is one, its validation." + _provenance(result),
        charts.convergence_chart(result),
    )
    return (history, Note(optimism_sentence(result)))


def _model_blocks(result: StudyResult) -> tuple[Any, ...]:
    slices = Plot(
        "slices",
        "The model through the recommendation",
        "Expected Elo along one parameter, the others as recommended, relative to the recommendation, with 90 % band. "
        "Bars below show where games were played. The dotted line is the base's value, the full one the recommended."
        + _provenance(result),
        charts.slices_chart(result),
    )
    assert result.observations is not None
    assert result.model is not None
    shares = importances(result.model, result.observations.trust_region())
    importance = Plot(
        "importance",
        "Importance",
        "Functional ANOVA of the model over what was sampled: the share of each parameter in the variance of the "
        "expected Elo. A small share may mean that the parameter does not matter, or that it was sampled only near "
        "its best value." + _provenance(result),
        charts.importance_chart(shares),
    )
    ordered = {dimension.name for dimension in result.spec.space.dimensions if not dimension.choices}
    leading = [name for name in shares if name in ordered][:3]
    pairs = [(leading[0], other) for other in leading[1:]]
    if not pairs:
        return (slices, importance)
    contours = Plot(
        "contours",
        "Contours",
        "Expected Elo below the recommendation over the most important parameters, the others as recommended; points "
        "are sets that were played." + _provenance(result),
        charts.contour_chart(result, pairs),
    )
    return (slices, contours, importance)


def tuning_sentence(result: StudyResult) -> str:
    """The outcome in one or two sentences."""
    spec = result.spec
    if result.decision is None:
        return f"{len(result.rounds)} of {result.planned_rounds} rounds are finished."
    if not result.verdicts:
        return (
            f"No set of parameters looks better than {spec.base_name} after {result.games} games, so there was nothing "
            "to validate."
        )
    found = "; ".join(map(verdict_sentence, result.verdicts))
    if result.confirmed:
        return f"A gain is confirmed on openings that the tuning never saw: {found}."
    return f"No gain is confirmed, so nothing was written as a preset: {found}."


def verdict_sentence(verdict: Verdict) -> str:
    """What one validation showed, without a full stop."""
    outcome = "" if verdict.test is None else f", {_test_words(verdict)}"
    return (
        f"{signed(verdict.elo)} Elo {interval_text(*verdict.interval)} over {verdict.counts.pairs} pairs at "
        f"{verdict.limits}{outcome}"
    )


def _test_words(verdict: Verdict) -> str:
    assert verdict.test is not None
    words = {
        "upper accepted": "the gain was accepted",
        "lower accepted": "the gain was rejected",
        "undecided": "undecided",
    }
    return words[verdict.test.verdict]


def best_round(result: StudyResult) -> RoundEnd | None:
    """The trial with the best observed result, of a sampler that has such; the earliest of several."""
    if result.spec.sampler == "duel":
        return None
    played = [end for end in result.rounds if end.counts.pairs]
    return max(played, key=lambda end: (end.elo, -end.number), default=None)


def optimism(result: StudyResult) -> dict[str, float] | None:
    """By how much the best observed result flatters itself, in Elo: ``observed``, ``expected`` and their difference.

    Of trials it is the best trial; of duels, where no set meets the base, the highest estimate that a round's centre
    had at its time.
    """
    if result.model is None or not result.rounds:
        return None
    best = best_round(result) or max(result.rounds, key=lambda end: (end.elo, -end.number))
    expected = float(result.model.gain([best.values])[0][0])
    return {"round": best.number + 1, "observed": best.elo, "expected": expected, "optimism": best.elo - expected}


def optimism_sentence(result: StudyResult) -> str:
    """The recommendation and, beside it, the winner's curse of the best trial."""
    found, best = result.decision, optimism(result)
    assert found is not None
    low, high = found.interval()
    choice = (
        "Recommended is the base itself: nothing else is expected to be stronger."
        if found.is_base
        else f"Recommended is the model's maximum: {signed(found.gain)} Elo expected, 90 % interval "
        f"{interval_text(low, high)}."
    )
    if found.pairs and found.believed:
        choice += f" Before the playoff of {found.pairs} pairs the model expected {signed(found.believed)} of it."
    if best is None:
        return choice
    what = "The best trial" if result.spec.sampler != "duel" else "The highest estimate of a centre at its time"
    return (
        f"{choice} {what}, of round {best['round']:.0f}, was {signed(best['observed'])} Elo; the model of all games "
        f"expects {signed(best['expected'])} of that set: it was optimistic by {best['optimism']:.1f} Elo."
    )


def _preset_sentence(result: StudyResult) -> str:
    if result.preset is not None:
        return f"Written as {result.preset}."
    return "Not written as a preset: only a confirmed gain is."


def _parameters_grid(result: StudyResult) -> Grid:
    rows = []
    for dimension in result.spec.space.dimensions:
        base = result.spec.space.default[dimension.name]
        recommended = base if result.decision is None else result.recommended[dimension.name]
        tried = (
            ", ".join(format_value(value) for value in dimension.choices)
            if dimension.choices
            else f"{dimension.low} to {dimension.high}{', log scale' if dimension.scale == 'log' else ''}"
        )
        unit, doc = ("", "") if result.spec.engine is not None else _unit_and_doc(dimension.name)
        changed = "" if base == recommended else "changed"
        rows.append((dimension.name, format_value(base), format_value(recommended), changed, unit, tried, doc))
    heads = ("Parameter", "Base", "Recommended", "", "Unit", "Searched", "What it is")
    return Grid(heads, tuple(rows), (1, 2))


def _unit_and_doc(name: str) -> tuple[str, str]:
    return BY_NAME[name].unit, BY_NAME[name].doc


def _validation_blocks(result: StudyResult) -> tuple[Any, ...]:
    if not result.verdicts:
        return (Note(tuning_sentence(result)),)
    rows = []
    for verdict in result.verdicts:
        estimate = verdict.estimate
        ratio = "" if verdict.test is None else f"{verdict.test.log_likelihood_ratio:.2f}"
        bounds = "" if verdict.test is None else f"{verdict.test.lower_bound:.2f} to {verdict.test.upper_bound:.2f}"
        words = _test_words(verdict) if verdict.test is not None else "fixed length"
        rows.append(
            (
                str(verdict.limits), signed(verdict.elo), interval_text(*verdict.interval),
                percent_text(estimate.los), str(verdict.counts.pairs), " / ".join(map(str, verdict.counts.counts)),
                ratio, bounds, words,
            )
        )  # fmt: skip
    heads = (
        "Limit", "Elo", "95 % interval", "LOS, %", "Pairs", "LL / LD / even / WD / WW", "LLR", "Bounds", "Outcome",
    )  # fmt: skip
    validation = result.spec.validation
    rule = Note(
        "Elo is the recommendation's minus the base's, on openings of the half of the suite that is reserved for "
        f"validation. The sequential test asks for {validation.elo_lower:g} against {validation.elo_upper:g} "
        f"{validation.model} Elo, alpha {validation.alpha:g}, beta {validation.beta:g}; its Elo is the "
        "median-unbiased estimate. A match of fixed length passes unless its whole interval lies below 0."
    )
    return (Grid(heads, tuple(rows), (1, 2, 3, 4, 5, 6, 7)), rule)


def _tuning_facts(result: StudyResult) -> tuple[tuple[str, str], ...]:
    spec = result.spec
    budget = f"{spec.budget.games} games" if spec.budget.games is not None else f"{spec.budget.seconds:g} seconds"
    method = "duels around the model's maximum" if spec.sampler == "duel" else f"sampler {spec.sampler}"
    early = "; ended early, little was left to gain" if result.stopped_early else ""
    storage = STORAGE_TEXT if spec.storage is None else "a shared storage holds the rounds as trials of an Optuna study"
    return (
        ("Budget", budget),
        ("Rounds", f"{len(result.rounds)} of {result.planned_rounds}; {method}{early}"),
        ("Limit", str(spec.conditions.limits)),
        *condition_facts(spec.conditions, result.engine),
        ("Games", f"{result.games} in games.sqlite, validation included; digest {result.digest}"),
        ("Study", storage),
        (
            "Processor time",
            f"{result.games_seconds:.0f} s in games of the last run, {result.own_seconds:.1f} s in the tuner itself",
        ),
    )


STORAGE_TEXT = "study.sqlite holds the rounds as trials of an Optuna study (optuna-dashboard sqlite:///study.sqlite)"


def tuning_text(result: StudyResult) -> str:
    """The outcome for a terminal of 80 columns."""
    import textwrap

    lines = [f"{'parameter':<24}  {clipped(result.spec.base_name, 22):>22}  {'recommended':>22}"]
    for name in result.spec.space.names:
        base = result.spec.space.default[name]
        recommended = base if result.decision is None else result.recommended[name]
        mark = "" if base == recommended else "  *"
        lines.append(f"{name[:24]:<24}  {format_value(base):>22}  {format_value(recommended):>22}{mark}")
    parts = ["\n".join(lines)]
    if result.decision is not None:
        parts.append(textwrap.fill(optimism_sentence(result), TEXT_WIDTH))
    parts.append(textwrap.fill(tuning_sentence(result), TEXT_WIDTH))
    if result.preset is not None:
        parts.append(f"preset: {result.preset}")
    return "\n\n".join(parts)


def tuning_data(result: StudyResult, report: Path) -> dict[str, Any]:
    """The outcome and where it was reported, as plain data, figures unrounded."""
    data: dict[str, Any] = {
        "name": result.spec.name,
        "folder": str(result.directory),
        "rounds": len(result.rounds),
        "planned_rounds": result.planned_rounds,
        "games": result.games,
        "interrupted": result.interrupted,
        "stopped_early": result.stopped_early,
        "confirmed": result.confirmed,
        "preset": None if result.preset is None else str(result.preset),
        "games_digest": result.digest or None,
        "report": str(report),
    }
    found = result.decision
    if found is not None:
        low, high = found.interval()
        data["recommendation"] = {
            "parameters": result.recommended,
            "changed": {
                name: value for name, value in result.recommended.items() if value != result.spec.space.default[name]
            },
            "kind": "base" if found.is_base else "model maximum",
            "expected_elo": found.gain,
            "believed_elo": found.believed,
            "playoff_pairs": found.pairs,
            "deviation": found.deviation,
            "low": low,
            "high": high,
        }
        data["winners_curse"] = optimism(result)
    data["own_seconds"], data["games_seconds"] = result.own_seconds, result.games_seconds
    data["validation"] = [verdict_data(verdict) for verdict in result.verdicts]
    return data


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """A validation as plain data."""
    test = None if verdict.test is None else {**asdict(verdict.test), "verdict": verdict.test.verdict}
    return {
        **asdict(verdict.estimate),
        "after_test": None if verdict.after_test is None else asdict(verdict.after_test),
        "limit": str(verdict.limits),
        "kind": verdict.kind,
        "pentanomial": list(verdict.counts.counts),
        "pairs": verdict.counts.pairs,
        "test": test,
        "passed": verdict.passed,
    }


# Both


def condition_facts(conditions: Conditions, engine: str) -> tuple[tuple[str, str], ...]:
    """What all games of a run share, as names and values."""
    from engine.games import game_named

    rules = _changed(conditions.rules, Rules()) or "the engine's standard ones"
    adjudication = _changed(conditions.adjudication, game_named(conditions.game).adjudication) or "the standard one"
    return (
        ("Game", conditions.game),
        ("Openings", conditions.openings),
        ("Rules", rules),
        ("Adjudication", adjudication),
        ("Random seed", str(conditions.seed)),
        ("Engine", engine),
    )


def _changed(value: Rules | Adjudication, standard: Rules | Adjudication) -> str:
    ordinary = asdict(standard)
    return ", ".join(f"{name} = {entry}" for name, entry in asdict(value).items() if entry != ordinary[name])


def repeat_command(command: str, conditions: Conditions, directory: Path) -> str:
    """The command that goes on with a run; with another folder it plays the same games again."""
    source = specification_word(SPECIFICATIONS[command], conditions.source)
    return shlex.join(["elolab", command, source, "--out", str(directory)])
