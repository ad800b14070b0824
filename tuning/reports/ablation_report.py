"""The report of an ablation: CSV tables, text for the terminal, and the HTML and Markdown document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.colours import text_columns
from elolab.arena.files import replace_file
from elolab.arena.notation.csv_tables import frame_csv
from elolab.arena.reports.document import (
    Block,
    Commands,
    Document,
    Facts,
    Note,
    Section,
    TextTable,
    table_of,
    write_document,
)
from elolab.arena.reports.plots import Plot
from elolab.arena.sequential import POWER
from elolab.arena.statistics.numbers import error_text, percent_text, signed
from elolab.arena.statistics.text_table import Column, name_column, table_lines
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, with_minus, wrapped
from elolab.tuning.ablation.comparison_verdicts import (
    BETTER,
    DIFFERENT,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    detectable_elo,
    pairs_for_equivalence,
)
from elolab.tuning.reports import ablation_charts as charts
from elolab.tuning.reports.labels import base_label, in_language
from elolab.tuning.reports.passages import condition_facts, engine_text, games_of_run, repeat_command, speeds_table
from elolab.tuning.reports.tuning_charts import chart_words
from elolab.tuning.reports.wording import (
    MESSAGES,
    counted,
    elo_text,
    in_one,
    interval_text,
    limit_text,
    ratio_text,
)

if TYPE_CHECKING:
    from elolab.tuning.ablation.ablation_run import AblationResult
    from elolab.tuning.ablation.depth_cost import DepthRow
    from elolab.tuning.ablation.levels import CurvePoint
    from elolab.tuning.ablation.rows import AblationRow, EffectRow
    from elolab.tuning.ablation.speed import SpeedRow


def write_ablation_report(result: AblationResult, language: str = DEFAULT_LANGUAGE, folder: Path | None = None) -> Path:
    """Write the tables as CSV, games.pgn, report.md, report.html and the plots; return the path of report.html.

    In the rows of ``result`` the base has an empty name; in the CSV files it has its own name. All files go to
    ``folder``, by default the run's folder.
    """
    folder = folder or result.directory
    base = result.spec.conditions.base_name
    for name, table in result.tables().items():
        named = {column: {"": base} for column in ("variant", "reference") if column in table}
        replace_file(folder / f"{name}.csv", frame_csv(table.replace(named)))
    games = games_of_run(result.directory, folder, result.spec.conditions.game, result.spec.name, language)
    document = replace(ablation_document(result, language), games=games)
    return write_document(folder, document, result.faults, result.caveats)


def ablation_document(result: AblationResult, language: str) -> Document:
    """The report as a document; ``write_ablation_report`` adds the games for replay on the page."""
    message = Catalogue(MESSAGES, language)
    result = in_language(result, message)
    spec = result.spec
    sections = [
        Section("figure", message("ablation.figure"), (*_plan_notes(result, message), *_plots(result, message))),
        Section("table", message("ablation.table"), (_main_table(result, message), Note(_table_note(result, message)))),
    ]
    if result.effects:
        sections.append(Section("effects", message("ablation.effects"), _effect_blocks(result, message)))
    if result.speeds:
        table = speeds_table(message("ablation.comparison"), result.speeds, message)
        blocks = (table, Note(message("ablation.speed_note")))
        sections.append(Section("speed", message("ablation.speed_section"), blocks))
    played = (Facts(_ablation_facts(result, message)), _sides_table(result.rows, message))
    command = repeat_command("ablate", spec.conditions, result.directory, message.language)
    sections += [
        Section("verdicts", message("section.verdicts"), (Note(_rule_note(result, message)),)),
        Section("conditions", message("section.conditions"), played),
        Section("repeat", message("section.repeat"), (Commands((command,)),)),
    ]
    return Document(
        title=spec.name,
        kicker=message("ablation.kicker"),
        summary=_ablation_sentence(result, message),
        sections=tuple(sections),
        language=message.language,
    )


# Figures


def _with_provenance(caption: str, result: AblationResult, message: Catalogue) -> str:
    """A figure's caption with an addition: the number of games, search limit, base, engine and command."""
    conditions = result.spec.conditions
    return message(
        "caption.of_ablation",
        caption=caption,
        games=result.games,
        limit=conditions.limits,
        base=base_label(conditions, message),
        engine=engine_text(conditions, result.engine),
        command=repeat_command("ablate", conditions, result.directory, message.language),
    )


def _plots(result: AblationResult, message: Catalogue) -> tuple[Plot, ...]:
    margin, words = result.spec.rule.margin_elo, chart_words(message)
    equivalent = message("ablation.forest_equivalent", margin=margin) if margin else ""
    caption = message("ablation.forest_caption", equivalent=equivalent)
    if result.spec.conditions.external is None:
        caption = in_one((caption, message("ablation.forest_nodes_caption")), message)
    plots = [_plot("forest", caption, charts.forest_chart(result.rows, words, margin), result, message)]
    curves = _curves(result)
    if curves:
        plots.append(
            _plot("curves", message("ablation.curves_caption"), charts.curves_chart(curves, words), result, message)
        )
    if result.depths:
        shown = _shown_depths(result.depths)
        caption = message(
            "caption.of_positions",
            caption=message("ablation.depths_caption", reference=shown[0].setting),
            positions=result.rows[0].positions,
            engine=result.engine,
            command=repeat_command("ablate", result.spec.conditions, result.directory, message.language),
        )
        plots.append(Plot("depths", message("ablation.depths"), caption, charts.depths_chart(shown, words)))
    return tuple(plots)


def _plot(name: str, caption: str, figure: Any, result: AblationResult, message: Catalogue) -> Plot:
    return Plot(name, message(f"ablation.{name}"), _with_provenance(caption, result, message), figure)


MAX_DEPTH_LINES = 7


def _shown_depths(rows: Sequence[DepthRow]) -> list[DepthRow]:
    """The rows to draw: the first comparison's reference, and the settings with the most different costs."""
    last = {row.setting: row.nodes for row in rows}
    names = list(last)
    reference = names[min(1, len(names) - 1)]
    others = sorted(names, key=lambda name: -abs(math.log(last[name] / last[reference])))
    shown = [reference, *(name for name in others if name != reference)][:MAX_DEPTH_LINES]
    return [row for name in shown for row in rows if row.setting == name]


def _curves(result: AblationResult) -> list[charts.Curve]:
    """Curves of strength against integer parameters.

    Each curve has at least two comparisons with the same reference and search limit.
    """
    groups: dict[Any, list[tuple[CurvePoint, AblationRow]]] = {}
    for comparison, row in zip(result.spec.comparisons, result.rows, strict=True):
        point = comparison.curve_point
        if point is not None and row.pairs and point.level.is_number:
            key = point.curve, point.reference, comparison.reference, comparison.limits
            groups.setdefault(key, []).append((point, row))
    return [
        charts.Curve(points[0][0].curve, points[0][0].reference, tuple((point.level, row) for point, row in points))
        for points in groups.values()
        if len(points) > 1
    ]


def _effect_blocks(result: AblationResult, message: Catalogue) -> tuple[Block, ...]:
    blocks: list[Block] = [_effects_table(result.effects, message), Note(message("ablation.effects_note"))]
    words = chart_words(message)
    squares: dict[str, list[Any]] = {}
    for cell in result.combinations:
        squares.setdefault(cell.factorial, []).append(cell)
    declared = [
        squares[factorial.label] for factorial in result.spec.factorials
        if factorial.group == "factorial" and factorial.label in squares
    ]  # fmt: skip
    if declared:
        figure = charts.interactions_chart(declared, words)
        blocks.append(_plot("interactions", message("ablation.interactions_caption"), figure, result, message))
    heat = _heat(result)
    if heat is not None:
        figure = charts.heat_chart(*heat, words)
        blocks.append(_plot("pairs", message("ablation.pairs_caption"), figure, result, message))
    return tuple(blocks)


def _heat(result: AblationResult) -> tuple[list[str], Any, Any] | None:
    """The arguments ``features``, ``worth`` and ``known`` of ``heat_chart``; ``None`` for fewer than three features."""
    pairs = {one.label: one for one in result.spec.factorials if one.group == "interactions"}
    features = list(dict.fromkeys(factor[0] for one in pairs.values() for factor in one.factors))
    if len(features) < 3:
        return None
    worth = np.full((len(features), len(features)), math.nan)
    known = np.zeros(worth.shape, bool)
    for row in result.effects:
        if row.order == 2 and row.group == "interactions":
            one, other = (features.index(name) for name, _, _ in pairs[row.factorial].factors)
            worth[one, other] = worth[other, one] = row.elo
            known[one, other] = known[other, one] = row.verdict != UNDECIDED
    return features, worth, known


# Texts


def _ablation_sentence(result: AblationResult, message: Catalogue) -> str:
    """One or two sentences: the number of verdicts and of games, then the largest effect that was found."""
    asked = [row.verdict for row in result.rows] + [row.verdict for row in result.effects]
    verdicts = [verdict for verdict in asked if verdict]
    found = [(verdict, verdicts.count(verdict)) for verdict in (BETTER, WORSE, EQUIVALENT, UNDECIDED)]
    summary = message(
        "ablation.summary",
        decided=len(verdicts) - verdicts.count(UNDECIDED),
        questions=len(verdicts),
        games=result.counted,
        planned=result.planned,
        found=counted([(_verdict_text(verdict, message), count) for verdict, count in found], message),
    )
    settled = [row for row in result.rows if row.verdict in DIFFERENT]
    if not settled:
        return summary
    largest = max(settled, key=lambda row: abs(row.elo))
    elo = elo_text(largest.elo, largest.elo_error)
    return in_one((summary, message("ablation.largest", label=largest.label, elo=elo)), message)


def _plan_notes(result: AblationResult, message: Catalogue) -> tuple[Note, ...]:
    keys = ["stopped"] if result.interrupted else []
    keys += ["changed_plan"] if len(result.plans) > 1 else []
    return tuple(Note(message(f"ablation.{key}"), warning=True) for key in keys)


def _table_note(result: AblationResult, message: Catalogue) -> str:
    deviation = _pair_deviation(result.rows)
    pairs = max(row.pairs for row in result.rows) or 1
    smallest = detectable_elo(pairs, result.spec.questions, result.spec.rule, deviation)
    cost = message(f"ablation.{_kind_of_cost(result.speeds)}_cost")
    return message("ablation.table_note", cost=cost, smallest=smallest_text(smallest), power=100 * POWER)


def smallest_text(elo: float) -> str:
    """The smallest detectable difference as text, in whole Elo; ``>800`` if it is infinite."""
    return f"{elo:.0f}" if math.isfinite(elo) else ">800"


def _pair_deviation(rows: Sequence[AblationRow]) -> float:
    """Standard deviation of a game pair's score, 0 to 1, pooled over the rows."""
    squares, pairs = 0.0, 0
    for row in rows:
        counts = (row.LL, row.LD, row.even, row.WD, row.WW)
        mean = sum(count * place / 4 for place, count in enumerate(counts)) / max(1, row.pairs)
        squares += sum(count * (place / 4 - mean) ** 2 for place, count in enumerate(counts))
        pairs += row.pairs
    return math.sqrt(squares / max(1, pairs)) or 0.01


def _rule_note(result: AblationResult, message: Catalogue) -> str:
    spec, rule = result.spec, result.spec.rule
    error = 100 * rule.error_rate
    if rule.margin_elo:
        takes = ""
        verdicts_reached = [row.verdict for row in result.rows] + [row.verdict for row in result.effects]
        if EQUIVALENT not in verdicts_reached:  # settings that seldom differ need far fewer pairs
            takes = message("ablation.equivalence_takes", pairs=pairs_for_equivalence(spec.questions, rule))
        verdicts = message("ablation.rule_of_equivalence", margin=rule.margin_elo, takes=takes, error=error)
    else:
        verdicts = message("ablation.rule_of_difference", error=error)
    return message("ablation.rule_note", analyses=rule.rounds, verdicts=verdicts)


def _verdict_text(verdict: str, message: Catalogue) -> str:
    """A verdict in the report's language; empty without one."""
    return message(f"verdict.{verdict}") if verdict else ""


def _pairs_text(row: AblationRow, message: Catalogue) -> str:
    """The number of counted game pairs as text, followed by the planned number if it is larger."""
    if row.pairs >= row.planned_pairs:
        return str(row.pairs)
    return message("ablation.pairs_of", pairs=row.pairs, planned=row.planned_pairs)


def _ended_text(row: AblationRow, message: Catalogue) -> str:
    return message(f"ended.{row.ended}") if row.ended else ""


def _verdict_cell(row: EffectRow, message: Catalogue) -> str:
    text = _verdict_text(row.verdict, message)
    return text if row.games_needed is None else message("ablation.games_needed", verdict=text, games=row.games_needed)


def _ratio_text(ratio: float | None) -> str:
    return "" if ratio is None else ratio_text(ratio)


def _kind_of_cost(speeds: Sequence[SpeedRow]) -> str:
    """Quantity in the cost column: ``nodes`` to a depth; for an external engine ``speed`` or ``time``."""
    if not speeds:
        return "nodes"
    return "time" if all(row.speed_ratio is None for row in speeds) else "speed"


def _costs(rows: Sequence[AblationRow], speeds: Sequence[SpeedRow]) -> list[str]:
    """The texts of the cost column, in the quantity that ``_kind_of_cost`` returns."""
    kind = _kind_of_cost(speeds)
    if kind == "nodes":
        return [_ratio_text(row.nodes_ratio) for row in rows]
    return [_ratio_text(row.speed_ratio if kind == "speed" else row.time_ratio) for row in speeds]


def _main_table(result: AblationResult, message: Catalogue) -> TextTable:
    names = (
        "comparison", "elo", "verdict", "simultaneous_interval", "los", "pair_count", "ended", "needed", "pentanomial",
        _kind_of_cost(result.speeds),
    )  # fmt: skip
    heads = [message(f"ablation.{name}") for name in names]
    cells = tuple(
        (
            row.label, elo_text(row.elo, row.elo_error), _verdict_text(row.verdict, message),
            interval_text(row.simultaneous_low, row.simultaneous_high), percent_text(row.los),
            _pairs_text(row, message), _ended_text(row, message),
            "" if row.games_needed is None else str(row.games_needed),
            f"{row.LL} {row.LD} {row.even} {row.WD} {row.WW}", cost,
        )
        for row, cost in zip(result.rows, _costs(result.rows, result.speeds), strict=True)
    )  # fmt: skip
    return table_of(heads, cells, (1, 3, 4, 5, 7, 8, 9))


def _effects_table(effects: Sequence[EffectRow], message: Catalogue) -> TextTable:
    names = ("effect", "factorial", "elo", "verdict", "simultaneous_interval", "games", "rests_on")
    heads = [message(f"ablation.{name}") for name in names]
    cells = tuple(
        (
            row.effect, row.factorial, elo_text(row.elo, row.elo_error), _verdict_cell(row, message),
            interval_text(row.simultaneous_low, row.simultaneous_high) if row.verdict else "", str(row.games),
            _rests_on_text(row, message),
        )
        for row in effects
    )  # fmt: skip
    return table_of(heads, cells, (2, 4, 5))


def _rests_on_text(row: EffectRow, message: Catalogue) -> str:
    """The matches from which an effect is computed, as text: weight and number of game pairs of each.

    With more than ``MOST_TERMS`` matches, the text has their number, and the smallest and largest number of pairs.
    """
    terms = row.rests_on.split(" + ")
    if len(terms) <= MOST_TERMS:
        return with_minus(" + ".join(term.replace(" x ", " × ") for term in terms))
    pairs = [int(term.rpartition(" ")[2]) for term in terms]
    return message("ablation.rests_on_many", matches=len(pairs), least=min(pairs), most=max(pairs))


def _sides_table(rows: Sequence[AblationRow], message: Catalogue) -> TextTable:
    """A table of comparisons: how variant and reference differ from the base, and the search limit."""
    base = message("ablation.the_base")
    cells = tuple(
        (row.label, row.variant or base, row.reference or base, limit_text(row.limit, message)) for row in rows
    )
    heads = [message(f"ablation.{name}") for name in ("comparison", "variant", "reference", "limit")]
    return table_of(heads, cells)


def _ablation_facts(result: AblationResult, message: Catalogue) -> tuple[tuple[str, str], ...]:
    conditions, cost = result.spec.conditions, result.spec.nodes_to_depth
    measured = (
        message("ablation.measured", depth=cost.depth, positions=result.rows[0].positions)
        if cost.depth
        else message("ablation.not_measured")
    )
    is_builtin = conditions.external is None
    return (
        (message("fact.base"), base_label(conditions, message)),
        (message("fact.limit"), message("ablation.usual_limit", limit=conditions.limits)),
        *condition_facts(conditions, result.engine, message),
        *([(message("ablation.nodes_to_depth"), measured)] if is_builtin else []),
        (message("fact.games"), message("ablation.stored_games", games=result.games, digest=result.digest)),
    )


MOST_TERMS = 4
"""Largest number of matches of an effect that the table lists one by one."""


def ablation_text(
    rows: Sequence[AblationRow],
    effects: Sequence[EffectRow] = (),
    language: str = DEFAULT_LANGUAGE,
    speeds: Sequence[SpeedRow] = (),
) -> str:
    """Tables of comparisons and effects as text for the terminal, at most 80 columns wide."""
    columns = text_columns()
    message = Catalogue(MESSAGES, language)
    depth = next((row.depth for row in rows if row.depth is not None), None)
    notes = [message("terminal.elo_note")]
    if depth is not None:
        notes.append(message("terminal.nodes_note", depth=depth))
    if speeds:
        notes.append(message(f"terminal.{_kind_of_cost(speeds)}_note"))
    lines = [line for note in notes for line in wrapped(note, columns)]

    def outcomes(found: Sequence[AblationRow | EffectRow]) -> list[Column]:
        return [
            Column(message("terminal.elo"), [signed(one.elo) for one in found]),
            Column("±", [error_text(one.elo_error) for one in found]),
            Column(message("terminal.verdict"), [_verdict_text(one.verdict, message) for one in found], left=True),
        ]

    comparisons = [
        name_column(message("terminal.comparison"), [row.label for row in rows]),
        *outcomes(rows),
        Column(message("terminal.pairs"), [str(row.pairs) for row in rows], rank=1),
        Column(message(f"terminal.{_kind_of_cost(speeds)}"), _costs(rows, speeds), rank=2),
    ]
    lines += ["", *table_lines(comparisons, columns)]
    if effects:
        names = name_column(message("terminal.effect"), [effect.effect for effect in effects])
        lines += ["", *table_lines([names, *outcomes(effects)], columns)]
    reasons = Counter(row.ended for row in rows if row.ended)
    if reasons.keys() - {"complete"}:
        told = counted([(message(f"ended.{reason}"), count) for reason, count in reasons.most_common()], message)
        lines += ["", *wrapped(message("terminal.ended", reasons=told), columns)]
    return "\n".join(lines)


def ablation_result_text(result: AblationResult, language: str = DEFAULT_LANGUAGE) -> str:
    """Tables of an ablation's result as text for the terminal; generated labels are in the given language."""
    shown = in_language(result, Catalogue(MESSAGES, language))
    return ablation_text(shown.rows, shown.effects, language, shown.speeds)


def ablation_data(result: AblationResult, report: Path | None) -> dict[str, Any]:
    """The result and the path of its report as plain data for JSON, with unrounded numbers."""
    return {
        "name": result.spec.name,
        "folder": str(result.directory),
        "planned": result.planned,
        "games": result.games,
        "interrupted": result.interrupted,
        "comparisons": [asdict(row) for row in result.rows],
        "effects": [asdict(row) for row in result.effects],
        "speeds": [asdict(row) for row in result.speeds],
        "faults": [fault.data for fault in result.faults],
        "warnings": result.caveats.sentences(),
        "games_digest": result.digest or None,
        "report": None if report is None else str(report),
    }
