"""What studies and ablations write from their results: tables, texts and reports."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.files import replace_file
from arena.report import Plot
from arena.standings import percent_text, signed
from engine.parameters import BY_NAME, format_value
from engine.rules import Adjudication, Rules
from tuning import charts
from tuning.conditions import Conditions
from tuning.document import Commands, Document, Facts, Grid, Note, Section, write_document
from tuning.recommend import Recommendation

if TYPE_CHECKING:
    from pandas import DataFrame

    from tuning.ablation import Ablated, AblationRow
    from tuning.study import Trial, Tuned

TEXT_WIDTH = 80
MINUS = "\N{MINUS SIGN}"


def elo_text(elo: float, error: float) -> str:
    """``+12.3 ± 4.5``; infinite figures as such."""
    return f"{signed(elo)} ± {error:.1f}" if math.isfinite(error) else f"{signed(elo)} ± inf"


def interval_text(low: float, high: float) -> str:
    """``[+1.2, +9.8]``."""
    return f"[{signed(low)}, {signed(high)}]"


# Studies


def trials_frame(tuned: Tuned) -> DataFrame:
    """The trials as a pandas table, one row each, in their order.

    Columns: ``trial`` (from 1), one column for every dimension (what was played), ``elo``, ``elo_error`` (half the
    width of the 95 % interval), ``elo_low``, ``elo_high``, ``los``, ``pairs``, ``games``, ``LL``, ``LD``, ``even``,
    ``WD``, ``WW`` (pairs by outcome, the candidate's view), ``predicted_elo`` and ``predicted_deviation`` (what the
    model of all trials makes of the set; missing before the last trial is played), ``same_as`` (the earlier trial with
    the same set, from 1).
    """
    import pandas

    sets = [trial.values for trial in tuned.trials]
    unknown = [math.nan] * len(sets)
    found = tuned.recommendation
    mean, deviation = (unknown, unknown) if found is None else map(list, found.model.predict(sets))
    rows: list[dict[str, Any]] = []
    for trial, predicted, spread in zip(tuned.trials, mean, deviation, strict=True):
        estimate, counts = trial.counts.estimate(), trial.counts
        rows.append(
            {
                "trial": trial.number + 1,
                **trial.values,
                "elo": estimate.elo,
                "elo_error": estimate.elo_error,
                "elo_low": estimate.elo_low,
                "elo_high": estimate.elo_high,
                "los": estimate.los,
                "pairs": counts.pairs,
                "games": 2 * counts.pairs,
                **dict(zip(("LL", "LD", "even", "WD", "WW"), counts.counts, strict=True)),
                "predicted_elo": float(predicted),
                "predicted_deviation": float(spread),
                "same_as": None if trial.same_as is None else trial.same_as + 1,
            }
        )
    return pandas.DataFrame(rows).astype({"same_as": "Int64"})


def write_tuning_report(tuned: Tuned) -> Path:
    """Write trials.csv, report.md, report.html and the plots; returns the path of report.html."""
    table = trials_frame(tuned)
    replace_file(tuned.directory / "trials.csv", lambda stream: table.to_csv(stream, index=False))
    return write_document(tuned.directory, _tuning_document(tuned))


def _tuning_document(tuned: Tuned) -> Document:
    from tuning.study import observations

    spec = tuned.spec
    found = tuned.recommendation
    assert found is not None
    predicted = [float(value) for value in found.model.predict([trial.values for trial in tuned.trials])[0]]
    history = Plot(
        "history",
        "Trials",
        f"Each point is a match of {spec.pairs} pairs against {spec.conditions.base_name}, with its 95 % interval; the "
        "bar beside it is what the model of all trials expects of the same set. The distance between the highest "
        "point and its bar is luck.",
        charts.history_chart(tuned, predicted),
    )
    slices = Plot(
        "slices",
        "The model through the recommendation",
        "Expected Elo along one parameter, the others as recommended, with 95 % band; points are all trials, whatever "
        "their other parameters. The dotted line is the base's value, the full one the recommended. A flat line "
        "means that the parameter does not matter here.",
        charts.slices_chart(spec.space, found, observations(tuned.spec, tuned.trials)),
    )
    return Document(
        title=spec.name,
        kicker="Tuning report",
        summary=tuning_sentence(tuned),
        sections=(
            Section("parameters", "Parameters", (_parameters_grid(tuned), Note(_preset_sentence(tuned)))),
            Section("validation", "Validation", _validation_blocks(tuned)),
            Section("trials", "Trials", (history, Note(optimism_sentence(tuned)), slices)),
            Section("conditions", "What was played", (Facts(_tuning_facts(tuned)),)),
            Section("repeat", "To repeat it", (Commands((repeat_command("tune", spec.conditions, tuned.directory),)),)),
        ),
    )


def tuning_sentence(tuned: Tuned) -> str:
    """The outcome in one or two sentences."""
    spec, found = tuned.spec, tuned.recommendation
    base = spec.conditions.base_name
    if found is None:
        return f"{len(tuned.trials)} of {spec.trials} trials are finished."
    if tuned.verdict is None:
        return (
            f"No set of parameters looks better than {base} after {len(tuned.trials)} trials, so there was nothing to "
            "validate."
        )
    verdict = tuned.verdict
    level = f"{100 * (1 - verdict.alpha):g} % interval"
    gain = (
        f"{signed(verdict.estimate.elo)} Elo against {base}, {level} {interval_text(verdict.low, verdict.high)}, over "
        f"{verdict.counts.pairs} pairs on openings that the tuning never saw"
    )
    if verdict.confirmed:
        return f"A gain is confirmed: {gain}."
    return f"No gain is confirmed: {gain}; the interval reaches down to 0 or below, so nothing was written as a preset."


def expected_elo(found: Recommendation, trial: Trial) -> float:
    """What the model of all trials expects of a trial's set."""
    return float(found.model.predict([trial.values])[0][0])


def optimism_sentence(tuned: Tuned) -> str:
    """By how much the best observed trial flatters itself."""
    from tuning.study import best_trial

    found, best = tuned.recommendation, best_trial(tuned.trials)
    if found is None or best is None:
        return "No trial played a set other than the base."
    expected = expected_elo(found, best)
    if found.values == tuned.spec.space.default:
        choice = "Recommended is the base itself: the model expects no more of any set that was tried."
    else:
        choice = (
            f"Recommended is the {found.method}: it expects {signed(found.predicted_elo)} Elo (standard deviation "
            f"{found.predicted_deviation:.1f})."
        )
    return (
        f"The best trial, number {best.number + 1}, scored {signed(best.elo)} Elo; the model of all trials expects "
        f"{signed(expected)} of that set: it is optimistic by {best.elo - expected:.1f} Elo. {choice}"
    )


def _preset_sentence(tuned: Tuned) -> str:
    if tuned.preset is not None:
        return f"Written as the preset {tuned.preset}."
    return "Not written as a preset: only a confirmed gain is."


def _parameters_grid(tuned: Tuned) -> Grid:
    found = tuned.recommendation
    assert found is not None
    rows = []
    for dimension in tuned.spec.space.dimensions:
        base, recommended = tuned.spec.space.default[dimension.name], found.values[dimension.name]
        tried = (
            ", ".join(format_value(value) for value in dimension.choices)
            if dimension.choices
            else f"{dimension.low} to {dimension.high}{', log scale' if dimension.scale == 'log' else ''}"
        )
        row = BY_NAME[dimension.name]
        changed = "" if base == recommended else "changed"
        rows.append((dimension.name, format_value(base), format_value(recommended), changed, row.unit, tried, row.doc))
    heads = ("Parameter", "Base", "Recommended", "", "Unit", "Searched", "What it is")
    return Grid(heads, tuple(rows), (1, 2))


def _validation_blocks(tuned: Tuned) -> tuple[Any, ...]:
    verdict = tuned.verdict
    if verdict is None:
        return (Note(tuning_sentence(tuned)),)
    estimate = verdict.estimate
    level = f"{100 * (1 - verdict.alpha):g} % interval"
    grid = Grid(
        ("Match", "Elo", level, "LOS, %", "Pairs", "LL / LD / even / WD / WW", "Limit"),
        (
            (
                "recommended",
                signed(estimate.elo),
                interval_text(verdict.low, verdict.high),
                percent_text(estimate.los),
                str(verdict.counts.pairs),
                " / ".join(map(str, verdict.counts.counts)),
                str(tuned.spec.validation.limits),
            ),
        ),
        (1, 2, 3, 4, 5),
    )
    rule = Note(
        "Elo is the recommendation's minus the base's. The openings are of the half of the suite that is reserved for "
        f"validation. The gain counts as confirmed if the lower bound of the {level} is above 0; the number of pairs "
        "was fixed beforehand. LOS is the probability that the recommendation is the stronger."
    )
    return (grid, rule)


def _tuning_facts(tuned: Tuned) -> tuple[tuple[str, str], ...]:
    spec = tuned.spec
    openings = "openings of their own" if spec.has_fresh_openings else "the same openings"
    batch = "" if spec.batch == 1 else f", {spec.batch} chosen at a time"
    return (
        ("Trials", f"{len(tuned.trials)}{batch}, {spec.pairs} pairs each on {openings}; sampler {spec.sampler}"),
        ("Limit", f"{spec.conditions.limits}; validation {spec.validation.limits}"),
        *_condition_facts(spec.conditions),
        ("Games", f"{tuned.games} in games.sqlite; digest {tuned.digest}"),
        ("Study", "study.sqlite holds the trials as an Optuna study (optuna-dashboard sqlite:///study.sqlite)"),
    )


def tuning_text(tuned: Tuned) -> str:
    """The outcome for a terminal of 80 columns."""
    import textwrap

    found = tuned.recommendation
    assert found is not None
    lines = [f"{'parameter':<24}  {tuned.spec.conditions.base_name[:22]:>22}  {'recommended':>22}"]
    for name in tuned.spec.space.names:
        base, recommended = tuned.spec.space.default[name], found.values[name]
        mark = "" if base == recommended else "  *"
        lines.append(f"{name:<24}  {format_value(base):>22}  {format_value(recommended):>22}{mark}")
    parts = ["\n".join(lines), textwrap.fill(optimism_sentence(tuned), TEXT_WIDTH)]
    parts.append(textwrap.fill(tuning_sentence(tuned), TEXT_WIDTH))
    if tuned.preset is not None:
        parts.append(f"preset: {tuned.preset}")
    return "\n\n".join(parts)


def tuning_data(tuned: Tuned) -> dict[str, Any]:
    """The outcome as plain data, figures unrounded."""
    from tuning.study import best_trial

    found, verdict = tuned.recommendation, tuned.verdict
    data: dict[str, Any] = {
        "name": tuned.spec.name,
        "folder": str(tuned.directory),
        "trials": len(tuned.trials),
        "planned_trials": tuned.spec.trials,
        "games": tuned.games,
        "interrupted": tuned.interrupted,
        "confirmed": tuned.confirmed,
        "preset": None if tuned.preset is None else str(tuned.preset),
        "games_digest": tuned.digest or None,
        "report": None if tuned.report is None else str(tuned.report),
    }
    if found is not None:
        best = best_trial(tuned.trials)
        data["recommendation"] = {
            "parameters": found.values,
            "changed": tuned.spec.conditions.differences(found.values),
            "predicted_elo": found.predicted_elo,
            "predicted_deviation": found.predicted_deviation,
            "method": found.method,
        }
        data["best_trial"] = None
        if best is not None:
            data["best_trial"] = {
                "trial": best.number + 1,
                "parameters": best.values,
                "elo": best.elo,
                "predicted_elo": expected_elo(found, best),
                "optimism": best.elo - expected_elo(found, best),
            }
    if verdict is not None:
        data["validation"] = {
            **asdict(verdict.estimate),
            "pentanomial": list(verdict.counts.counts),
            "pairs": verdict.counts.pairs,
            "low": verdict.low,
            "high": verdict.high,
            "alpha": verdict.alpha,
            "confirmed": verdict.confirmed,
        }
    return data


# Ablations


def write_ablation_report(ablated: Ablated) -> Path:
    """Write ablation.csv, ablation.md, report.html and the plots; returns the path of report.html."""
    table = ablated.frame()
    replace_file(ablated.directory / "ablation.csv", lambda stream: table.to_csv(stream, index=False))
    document = _ablation_document(ablated)
    page = write_document(ablated.directory, document)
    (ablated.directory / "report.md").replace(ablated.directory / "ablation.md")
    return page


def _ablation_document(ablated: Ablated) -> Document:
    spec = ablated.spec
    command = repeat_command("ablate", spec.conditions, ablated.directory)
    forest = Plot(
        "forest",
        "What each change is worth",
        "Points are Elo of the variant minus the reference, lines their 95 % intervals: left of 0 the variant is "
        "weaker. Coloured where the interval leaves 0 out; an arrow stands for a point beyond the scale. On the right "
        "the nodes that the variant needs to reach the same depth, as a multiple of the reference's (geometric mean "
        "over the positions, with 95 % interval).",
        charts.forest_chart(ablated.rows),
    )
    return Document(
        title=spec.name,
        kicker="Ablation report",
        summary=ablation_sentence(ablated),
        sections=(
            Section("figure", "At a glance", (forest,)),
            Section("table", "Table", (_ablation_grid(ablated.rows), Note(ABLATION_NOTE))),
            Section("conditions", "What was played", (Facts(_ablation_facts(ablated)), _sides_grid(ablated.rows))),
            Section("repeat", "To repeat it", (Commands((command,)),)),
        ),
    )


ABLATION_NOTE = (
    "Elo is the variant's minus the reference's: negative where the variant is weaker. Intervals are 95 % each, not "
    "for all rows at once: of twenty rows without any effect one is expected to leave 0 out. LOS is the probability "
    "that the variant is the stronger. Pairs are two games from one opening with colours swapped, counted by the "
    "variant's result in both: both lost (LL), a loss and a draw (LD), one each or two draws (=), a win and a draw "
    "(WD), both won (WW). Nodes: what the variant needs to reach the depth, as a multiple of the reference's."
)


def ablation_sentence(ablated: Ablated) -> str:
    """How many comparisons are settled, and the largest effect."""
    rows = ablated.rows
    settled = [row for row in rows if row.elo_low > 0 or row.elo_high < 0]
    text = (
        f"{len(rows)} comparisons, {sum(row.games for row in rows)} games; in {len(settled)} of them the 95 % interval "
        "leaves 0 out."
    )
    if settled:
        largest = max(settled, key=lambda row: abs(row.elo))
        text += f" The largest effect: {largest.label}, {elo_text(largest.elo, largest.elo_error)} Elo."
    return text


def _nodes_text(row: AblationRow) -> str:
    return "" if row.nodes_ratio is None else f"{row.nodes_ratio:.3g}×"


def _ablation_grid(rows: Sequence[AblationRow]) -> Grid:
    heads = ("Comparison", "Elo", "95 % interval", "LOS, %", "Pairs", "Games", "LL LD = WD WW", "Nodes")
    cells = tuple(
        (
            row.label, elo_text(row.elo, row.elo_error), interval_text(row.elo_low, row.elo_high),
            percent_text(row.los), str(row.pairs), str(row.games), f"{row.LL} {row.LD} {row.even} {row.WD} {row.WW}",
            _nodes_text(row),
        )
        for row in rows
    )  # fmt: skip
    return Grid(heads, cells, (1, 2, 3, 4, 5, 6, 7))


def _sides_grid(rows: Sequence[AblationRow]) -> Grid:
    """What exactly was compared: the settings in which each side differs from the base."""
    cells = tuple((row.label, row.variant or "the base", row.reference or "the base", row.limit) for row in rows)
    return Grid(("Comparison", "Variant", "Reference", "Limit"), cells, ())


def _ablation_facts(ablated: Ablated) -> tuple[tuple[str, str], ...]:
    spec = ablated.spec
    cost = spec.nodes_to_depth
    measured = f"depth {cost.depth} in {ablated.rows[0].positions} positions" if cost.depth else "not measured"
    return (
        ("Base", spec.conditions.base_name),
        ("Limit", f"{spec.conditions.limits}, where the table does not say otherwise"),
        *_condition_facts(spec.conditions),
        ("Nodes to depth", measured),
        ("Games", f"{ablated.games} in games.sqlite; digest {ablated.digest}"),
    )


def ablation_text(rows: Sequence[AblationRow]) -> str:
    """The table for a terminal of 80 columns."""
    depth = next((row.depth for row in rows if row.depth is not None), None)
    lines = ["Elo: the variant's minus the reference's, ± half of its 95 % interval"]
    if depth is not None:
        lines.append(f"Nodes: what the variant needs to reach depth {depth}, over the reference's")
    lines.append("")
    lines.append(f"{'comparison':<39}  {'Elo':>7}  {'±':>5}  {'LOS %':>5}  {'pairs':>5}  {'nodes':>6}")
    for row in rows:
        label = row.label if len(row.label) <= 39 else row.label[:38] + "\N{HORIZONTAL ELLIPSIS}"
        error = f"{row.elo_error:.1f}" if math.isfinite(row.elo_error) else "inf"
        lines.append(
            f"{label:<39}  {signed(row.elo):>7}  {error:>5}  {percent_text(row.los):>5}  {row.pairs:>5}  "
            f"{_nodes_text(row):>6}".rstrip()
        )
    return "\n".join(lines)


def ablation_data(ablated: Ablated) -> dict[str, Any]:
    """The outcome as plain data, figures unrounded."""
    return {
        "name": ablated.spec.name,
        "folder": str(ablated.directory),
        "planned": ablated.planned,
        "games": ablated.games,
        "interrupted": ablated.interrupted,
        "comparisons": [asdict(row) for row in ablated.rows],
        "games_digest": ablated.digest or None,
        "report": None if ablated.report is None else str(ablated.report),
    }


# Both


def _condition_facts(conditions: Conditions) -> tuple[tuple[str, str], ...]:
    from engine.games import game_named
    from engine.identity import engine_identity

    rules = _changed(conditions.rules, Rules()) or "the engine's standard ones"
    adjudication = _changed(conditions.adjudication, game_named(conditions.game).adjudication) or "the standard one"
    return (
        ("Game", conditions.game),
        ("Openings", conditions.openings),
        ("Rules", rules),
        ("Adjudication", adjudication),
        ("Random seed", str(conditions.seed)),
        ("Engine", engine_identity()),
    )


def _changed(value: Rules | Adjudication, standard: Rules | Adjudication) -> str:
    ordinary = asdict(standard)
    return ", ".join(f"{name} = {entry}" for name, entry in asdict(value).items() if entry != ordinary[name])


def repeat_command(command: str, conditions: Conditions, directory: Path) -> str:
    """The command that goes on with a run; with another folder it plays the same games again."""
    return shlex.join(["elolab", command, conditions.source, "--out", str(directory)])
