"""The report on claims: a table of all parts, then the rules, cells and figure of each claim.

A cell is one part of a claim, measured in one engine at one search limit.
"""

from __future__ import annotations

import gzip
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from elolab.arena.colours import text_columns
from elolab.arena.files import replace_file
from elolab.arena.notation.csv_tables import csv_text, frame_csv
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
from elolab.arena.statistics.numbers import INFINITY, signed
from elolab.arena.statistics.text_table import Column, table_lines
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, wrapped
from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE
from elolab.tuning.claims.claims_results import (
    PART_COLUMNS,
    SEARCH_COLUMNS,
    CellRow,
    ClaimsResult,
    EngineVerdict,
    PartResult,
)
from elolab.tuning.claims.claims_spec import OF_THRESHOLD, ClaimPart, ClaimsSpec
from elolab.tuning.claims.measures import RATIO_UNITS
from elolab.tuning.claims.part_verdicts import EQUIVALENT, NON_INFERIOR, SHOWN, UNFINISHED, VERDICTS
from elolab.tuning.claims.registration import AMENDMENT_COLUMNS
from elolab.tuning.keys.claims import BASES, ENGINES
from elolab.tuning.reports.claims_charts import COLUMNS, claim_chart, rows_of_column, summary_chart
from elolab.tuning.reports.passages import condition_facts, language_words
from elolab.tuning.reports.tuning_charts import chart_words
from elolab.tuning.reports.wording import MESSAGES, counted, in_one, limit_text, ratio_text

FILES = {"claims": PART_COLUMNS, "cells": tuple(field.name for field in fields(CellRow)),
         "amendments": AMENDMENT_COLUMNS, "searches": SEARCH_COLUMNS}  # fmt: skip
"""Column names of each CSV table, by the table's name; columns.csv explains the columns."""
COMPRESSED = {"searches": "searches.csv.gz"}
"""File names of the compressed tables, by the table's name; the other tables are called ``NAME.csv``."""


def write_claims_report(run: ClaimsResult, language: str = DEFAULT_LANGUAGE, folder: Path | None = None) -> Path:
    """Write all files of the report; return the path of report.html.

    The files are the tables with their data dictionary, the description of the machine, report.md, report.html and
    plots. All of them go to ``folder``, by default the run's folder.
    """
    folder = folder or run.directory
    tables = {"claims": run.frame(), "cells": run.cells_frame()}
    for name, table in tables.items():
        replace_file(folder / f"{name}.csv", frame_csv(table))
    replace_file(folder / "amendments.csv", csv_text(AMENDMENT_COLUMNS, _amendment_rows(run)))
    replace_file(folder / "columns.csv", data_dictionary(language))
    replace_file(folder / "surroundings.json", _surroundings_text(run.registration.surroundings))
    searches = frame_csv(run.searches_frame())
    replace_file(folder / COMPRESSED["searches"], gzip.compress(searches.encode(), mtime=0))
    return write_document(folder, claims_document(run, language), run.faults, run.caveats)


def _surroundings_text(surroundings: Mapping[str, Any]) -> str:
    """The text of ``surroundings.json``: all distinct surroundings in a list, and each part's index in this list.

    The surroundings of a part are the openings and parameters that determine its games. ``surroundings`` has them by
    part.
    """
    different: list[Any] = []
    for one in surroundings.values():
        if one not in different:
            different.append(one)
    parts = {name: different.index(one) for name, one in surroundings.items()}
    return json.dumps({"parts": parts, "surroundings": different}, ensure_ascii=False, indent=1) + "\n"


def data_dictionary(language: str = DEFAULT_LANGUAGE) -> str:
    """CSV text that explains every column of every table, with unit and point of view.

    The text has the columns ``file``, ``column`` and ``meaning``.
    """
    message = Catalogue(MESSAGES, language)
    rows = [
        (COMPRESSED.get(name, f"{name}.csv"), column, message(f"column.{column}"))
        for name, own in FILES.items() for column in own
    ]  # fmt: skip
    return csv_text(("file", "column", "meaning"), rows)


def _amendment_rows(run: ClaimsResult) -> list[tuple[Any, ...]]:
    return [
        (one.part, one.date, one.why, one.old_digest, one.new_digest,
         json.dumps(one.changes, ensure_ascii=False), one.games, one.positions)
        for one in run.registration.amendments
    ]  # fmt: skip


def claims_document(run: ClaimsResult, language: str) -> Document:
    """The report as a document."""
    message = Catalogue(MESSAGES, language)
    spec = run.spec
    budget = spec.budget
    limits = message("list.comma").join(f"{name}: {_limit_of_engines(by_engine)}" for name, by_engine in
                                        budget.limits.items())  # fmt: skip
    facts = (
        (message("fact.budget"), message("claims.budget", budget=budget.name, limits=limits)),
        *condition_facts(spec.conditions, run.engine, message),
        (message("claims.searches"),
         message("claims.searched", positions=budget.positions, per_game=budget.positions_per_game)),
        *([(message("fact.games"), message("claims.stored_games", digest=run.digest))] if run.digest else []),
        (message("claims.registered"), message("claims.registered_digest", digest=spec.digest)),
    )  # fmt: skip
    summary: tuple[Block, ...] = (
        *_warnings(run, message), _summary_table(run.results, message), *_summary_plot(run, message),
        *(Note(text) for text in _rule_notes(run, message)), *_amendments(run, message),
    )  # fmt: skip
    return Document(
        title=spec.name,
        kicker=message("claims.kicker"),
        summary=_claims_sentence(run, message),
        sections=(
            Section("summary", message("section.verdicts"), summary),
            *(_claim_section(run, claim.id, message) for claim in spec.claims),
            Section("conditions", message("section.conditions"), (Facts(facts),)),
            Section("repeat", message("section.repeat"),
                    (Commands((claims_command(spec, run.directory, message.language),)),)),
        ),
        language=message.language,
    )  # fmt: skip


def _limit_of_engines(by_engine: Any) -> str:
    texts = [by_engine[engine] for engine in ENGINES]
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)


def claims_command(
    spec: ClaimsSpec, directory: Path | None, language: str = DEFAULT_LANGUAGE, only: Sequence[str] | None = None
) -> str:
    """The shell command that resumes the run in ``directory``. In an empty folder the command repeats the run.

    With ``directory`` None, the command names no folder. ``only`` replaces the run's selection of claims and parts.
    """
    from elolab.engine.settings.configuration import specification_word

    game, table = spec.conditions.game, specification_word("claims", spec.source)
    words = ["elolab", "claims", "--game", game, "--budget", spec.budget.name]
    words += ["--claims", table] if table != game else []
    picked = spec.only if only is None else only
    words += ["--only", *picked] if picked else []
    words += ["--out", str(directory)] if directory is not None else []
    return shlex.join([*words, *language_words(language)])


def _claims_sentence(run: ClaimsResult, message: Catalogue) -> str:
    """A sentence with the number of parts for each verdict, engine by engine."""
    games = sum(result.games for result in run.results)
    found = [
        message("claims.found_in_engine", engine=message(f"engine.{engine}"), found=counted(counts, message))
        for engine in ENGINES
        for shown in ([result.verdicts[engine].shown_verdict for result in run.results if engine in result.verdicts],)
        if shown
        for counts in ([(message(f"outcome.{one}"), shown.count(one)) for one in (*VERDICTS, UNFINISHED, SHOWN)],)
    ]  # fmt: skip
    found += [message("claims.found_depending", parts=parts)
              for parts in (sum(result.depends for result in run.results),) if parts]  # fmt: skip
    summary = message("claims.summary", parts=len(run.results), games=games,
                      found=message("list.semicolon").join(found))  # fmt: skip
    return in_one((summary, message("claims.indicative_only")), message) if run.is_indicative else summary


def _warnings(run: ClaimsResult, message: Catalogue) -> tuple[Note, ...]:
    warnings = []
    if run.missing:
        shown = message("list.comma").join(run.missing)
        warnings.append(message("claims.stopped", finished=len(run.results) - len(run.missing),
                                parts=len(run.results), missing=shown))  # fmt: skip
    if run.is_indicative:
        warnings.append(message("claims.indicative"))
    return tuple(Note(text, warning=True) for text in warnings)


def _summary_table(results: Sequence[PartResult], message: Catalogue) -> TextTable:
    columns = {name: [_column_text(result, name, message) for result in results] for name in COLUMNS}
    asked = [name for name in columns if any(columns[name])]
    heads = (
        message("claims.part"), message("claims.says"), *(message(f"column_head.{name}") for name in asked),
        message("claims.depends"), message("claims.games"), message("claims.still_needed"),
    )  # fmt: skip
    cells = tuple(
        (
            result.part.id, result.part.texts[message.language], *(columns[name][place] for name in asked),
            message("claims.does_depend") if result.depends else "", str(result.games), _needed_text(result, message),
        )
        for place, result in enumerate(results)
    )  # fmt: skip
    of_cells = range(2, len(asked) + 2)
    return table_of(heads, cells, (len(asked) + 3,), sentence=(1,), figures_cell=of_cells)


def _column_text(result: PartResult, column: str, message: Catalogue) -> str:
    """Text of one column of the summary: a part's verdict in an engine, or the results at the column's search limits.

    If the part is not measured in the engine, the text gives the reason.
    """
    engine, _, which = column.partition("_")
    if which == "verdict":
        return _verdict_text(result.verdicts.get(engine), message)
    rows = rows_of_column(result, column)
    if rows:
        return message("list.semicolon").join(_cell_text(row, message) for row in rows)
    reason = result.part.not_asked.get(engine)
    return "" if reason is None or which != "first" else reason[message.language]


def _cell_text(row: CellRow, message: Catalogue) -> str:
    """Effect, interval (if known) and verdict of one measurement, as text."""
    shown = {"effect": quoted_effect(row, message), "verdict": message(f"outcome.{row.shown_verdict}")}
    interval = range_text(row)
    if not interval:
        return message("claims.cell_without_interval", **shown)
    return message("claims.cell", interval=interval, **shown)


def _verdict_text(verdict: EngineVerdict | None, message: Catalogue) -> str:
    """An engine's verdict with the result of Holm's correction, if there is one; empty if the engine does not measure
    the part.
    """
    if verdict is None:
        return ""
    text = message(f"outcome.{verdict.shown_verdict}")
    return text if verdict.stays_in_family is not False else message("claims.alone", verdict=text)


def _needed_text(result: PartResult, message: Catalogue) -> str:
    games, positions = result.games_needed, result.positions_needed
    parts = [message("claims.games_needed", games=games)] if games is not None else []
    parts += [message("claims.positions_needed", positions=positions)] if positions is not None else []
    return message("list.comma").join(parts)


def _summary_plot(run: ClaimsResult, message: Catalogue) -> tuple[Plot, ...]:
    if not run.results:
        return ()
    caption = _caption(message("claims.all_caption"), run, message)
    return (Plot("verdicts", message("claims.all"), caption, summary_chart(run.results, chart_words(message))),)


def _caption(caption: str, run: ClaimsResult, message: Catalogue, only: Sequence[str] | None = None) -> str:
    command = claims_command(run.spec, run.directory, message.language, only)
    return message("caption.of_searches", caption=caption, engine=run.engine, command=command)


def _rule_notes(run: ClaimsResult, message: Catalogue) -> list[str]:
    """Notes that explain the verdicts, and state whether all rules were fixed beforehand."""
    rate = 100 * ERROR_RATE
    fixed = "claims.fixed_beforehand" if run.is_fixed_beforehand else "claims.not_fixed_beforehand"
    return [
        message(fixed, digest=run.spec.digest),
        message("claims.rule_note", error=rate, rounds=run.spec.budget.rounds, power=100 * POWER),
        message("claims.family_note", error=rate, parts=run.spec.family),
    ]


def _amendments(run: ClaimsResult, message: Catalogue) -> tuple[Block, ...]:
    """A table of all changes to rules after their registration."""
    amendments = run.registration.amendments
    if not amendments:
        return ()
    heads = [message(f"claims.{name}") for name in ("part", "date", "why", "changes", "digests", "seen")]
    cells = [
        (
            one.part, _minute_text(one.date), one.why,
            message("list.semicolon").join(
                message("claims.change", path=path, old=old, new=new) for path, old, new in one.changes
            ),
            f"{one.old_digest[:8]} → {one.new_digest[:8]}",
            message("claims.seen_of_part", games=one.games, positions=one.positions),
        )
        for one in amendments
    ]  # fmt: skip
    return (Note(message("claims.amendments"), warning=True), table_of(heads, cells, sentence=(2, 3), whole=(1,)))


def _minute_text(date: str) -> str:
    """A stored UTC time (ISO 8601) as text, without seconds."""
    return f"{date[:16].replace('T', ' ')} UTC"


# One claim


def _claim_section(run: ClaimsResult, name: str, message: Catalogue) -> Section:
    results = [result for result in run.results if result.claim.id == name]
    claim = next(one for one in run.spec.claims if one.id == name)
    blocks: list[Block] = [
        Note(claim.texts[message.language]),
        Facts(((message("claims.source"), message("claims.source_and_basis", source=claim.source,
                                                  basis=message(f"basis.{BASES[claim.basis]}"))),)),
    ]  # fmt: skip
    for result in results:
        blocks += [Facts(_part_facts(run, result, message)), _cells_table(result, message)]
    figure = claim_chart(results, chart_words(message))
    if figure is not None:
        caption = _caption(message("claims.figure_caption"), run, message, [name])
        blocks.append(Plot(name, message("claims.figure", claim=name), caption, figure))
    return Section(name, name, tuple(blocks))


def _part_facts(run: ClaimsResult, result: PartResult, message: Catalogue) -> tuple[tuple[str, str], ...]:
    part = result.part
    registered = run.registration.dates.get(part.id, "")
    not_asked = [(message(f"engine.{engine}"), reason[message.language]) for engine, reason in part.not_asked.items()]
    return (
        (part.id, part.texts[message.language]),
        (message("claims.rule"), rule_text(part, message)),
        *not_asked,
        *(
            (
                message("claims.verdict_of", engine=message(f"engine.{engine}")),
                _verdict_fact(run, result, engine, message),
            )
            for engine in result.verdicts
        ),
        *_comparison_facts(result, message),
        (message("claims.registered"), message("claims.registered_at", date=registered, digest=part.digest)),
        (message("claims.repeat"), claims_command(run.spec, None, message.language, [part.id])),
    )


def rule_text(part: ClaimPart, message: Catalogue) -> str:
    """The rule by which a measurement of the part gets its verdict, as a sentence."""
    rule = _rule_of_cells(part, message)
    return in_one((rule, message("claims.fixed_length")), message) if part.has_fixed_length else rule


def _quantity_text(part: ClaimPart, message: Catalogue) -> str:
    """Name of the quantity that a part measures, with the condition that selects positions if there is one."""
    quantity = message(f"quantity.{part.kind}")
    if part.of:
        quantity = message("claims.quantity_of", quantity=quantity, of=part.of)
    if part.factors:
        quantity = message("claims.quantity_of_factors", quantity=quantity, first=part.factors[0],
                           second=part.factors[1])  # fmt: skip
    return message(f"claims.quantity_{part.where}", quantity=quantity) if part.where else quantity


def _rule_of_cells(part: ClaimPart, message: Catalogue) -> str:
    quantity = _quantity_text(part, message)
    shown = {"quantity": quantity, "margin": margin_text(part, message)}
    if part.expect is None:
        return message("rule.none", **shown)
    if part.expect in EQUIVALENT:
        return message("rule.equivalent", **shown)
    if part.kind in ("occurs", "mates", "exact"):
        return message(f"rule.{part.expect}", **shown)
    shown["expected"] = message(f"expected.{part.expect}")
    if part.expect in NON_INFERIOR:
        return message("rule.not_worse", **shown)
    if part.kind in OF_THRESHOLD:
        shown["null"] = _share_text(f"{part.threshold:g}", RATIO_UNITS.get(part.of, "%"), message)
    else:
        shown["null"] = message(f"null.{part.kind}")
    return message(f"rule.{part.refuted_by}" if part.margin else "rule.without_margin", **shown)


def margin_text(part: ClaimPart, message: Catalogue) -> str:
    """A part's margin of equivalence as text, with its unit."""
    return message(f"margin.{part.kind}", margin=f"{part.margin:g}")


def _verdict_fact(run: ClaimsResult, result: PartResult, engine: str, message: Catalogue) -> str:
    """An engine's verdict as a sentence, with its p-value and the result of Holm's correction."""
    one = result.verdicts[engine]
    text = message(f"outcome.{one.shown_verdict}")
    if run.is_indicative:
        text = message("claims.indicative_verdict", verdict=text)
    if one.p_value is not None:
        family = message("claims.stays" if one.stays_in_family else "claims.does_not_stay")
        text = message("claims.with_p_value", verdict=text, p_value=p_text(one.p_value), family=family)
    return text


def _comparison_facts(result: PartResult, message: Catalogue) -> list[tuple[str, str]]:
    """Further facts about a part as pairs of label and text: whether its result depends on the engine, and the number
    of games or positions that it still needs."""
    facts = [(message("claims.depends"), message("claims.depends_where"))] if result.depends else []
    needed = _needed_text(result, message)
    return [
        *facts,
        *([(message("claims.still_needed"), message("claims.decided_by", needed=needed))] if needed else []),
    ]


def p_text(value: float) -> str:
    """A p-value as text with two significant digits, or ``< 0.0001``."""
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"


def _cells_table(result: PartResult, message: Catalogue) -> TextTable:
    names = ("engine", "limit", "verdict", "effect", "unbiased", "interval", "p_value", "cases", "games", "looks",
             "ended")  # fmt: skip
    heads = [message(f"claims.{name}") for name in names]
    cells = [
        (
            message("claims.engine_of", engine=message(f"engine.{row.engine}"), preset=row.preset),
            message("claims.limit_named", name=row.limit_name, limit=limit_text(row.limit, message))
            if row.limit_name != row.limit else row.limit,
            message(f"outcome.{row.shown_verdict}"), effect_text(row, message), unbiased_text(row), range_text(row),
            "" if row.p_value is None else p_text(row.p_value), str(row.cases), str(row.games),
            f"{row.looks} / {row.looks_planned}", message(f"cell_ended.{row.ended or 'running'}"),
        )
        for row in result.rows
    ]  # fmt: skip
    # Columns without content are left out: searches have no games and no median-unbiased estimates.
    shown = [place for place in range(len(names)) if not cells or any(row[place] not in ("", "0") for row in cells)]
    numbers = [new for new, place in enumerate(shown) if 3 <= place <= 9]
    return table_of([heads[place] for place in shown], [[row[place] for place in shown] for row in cells], numbers)


def effect_text(row: CellRow, message: Catalogue) -> str:
    """The plain estimate as text with its unit, such as ``+12.3 Elo`` or ``0.87×``; a dash if nothing was measured."""
    if not row.cases:
        return "–"
    if row.unit == "Elo":
        return f"{signed(row.effect)} Elo"
    if row.unit == "×":
        return ratio_text(row.effect)
    if row.unit == "points":
        return message("claims.percentage_points", difference=signed(row.effect, 2))
    if row.unit == "cases":
        return f"{row.hits} / {row.cases}"
    return _share_text(f"{row.effect:.3g}", row.unit, message)


def quoted_effect(row: CellRow, message: Catalogue) -> str:
    """The estimate to quote, as text with its unit: the median-unbiased one if known, otherwise the plain one."""
    return effect_text(row if row.median_unbiased is None else replace(row, effect=row.median_unbiased), message)


def _share_text(value: str, unit: str, message: Catalogue) -> str:
    """``value``, a ratio of counts, followed by its unit: passes, ``×`` or ``%``."""
    if unit == "passes":
        return message("claims.passes", passes=value)
    return f"{value}×" if unit == "×" else f"{value} %"


def unbiased_text(row: CellRow) -> str:
    """The median-unbiased estimate in Elo as text; empty if unknown."""
    return "" if row.median_unbiased is None else f"{signed(row.median_unbiased)} Elo"


def range_text(row: CellRow) -> str:
    """The simultaneous interval as text, in the unit of ``effect_text``; empty if it is unbounded.

    The interval of a rate is in percent.
    """
    least = 0.0 if row.unit == "×" else -math.inf
    if not row.cases or (row.low <= least and math.isinf(row.high)):
        return ""
    if row.unit == "Elo":
        return f"[{signed(row.low, 1)}, {signed(row.high, 1)}]"
    if row.unit == "points":
        return f"[{signed(row.low, 2)}, {signed(row.high, 2)}]"
    if row.unit == "×":
        return f"[{ratio_text(row.low)[:-1]}, {ratio_text(row.high)[:-1]}]"
    percent = " %" if row.unit == "cases" else ""
    return f"[{row.low:.3g}, {row.high:.3g}]{percent}".replace("inf", INFINITY)


# The terminal


def claims_text(run: ClaimsResult, language: str = DEFAULT_LANGUAGE) -> str:
    """The table of verdicts for the terminal, at most 80 columns wide."""
    message = Catalogue(MESSAGES, language)
    results = run.results
    table = [
        Column("", [result.part.id for result in results], left=True),
        *(
            Column(
                message(f"engine.{engine}"), [_engine_text(result, engine, message) for result in results], left=True
            )
            for engine in ENGINES
        ),
        Column(
            message("claims.depends"),
            [message("claims.does_depend") if result.depends else "" for result in results],
            left=True,
            rank=2,
        ),
        Column(message("terminal.games"), [str(result.games) for result in results], rank=1),
    ]
    columns = text_columns()
    lines = [*wrapped(_claims_sentence(run, message), columns), "", *table_lines(table, columns)]
    if run.missing:
        lines += ["", message("claims.unfinished", parts=len(run.missing))]
    return "\n".join(lines)


def _engine_text(result: PartResult, engine: str, message: Catalogue) -> str:
    """An engine's verdict on a part, and the effect in its first cell; empty if the engine has no cell of the part."""
    row = next((row for row in result.rows if row.engine == engine), None)
    if row is None:
        return ""
    return f"{_verdict_text(result.verdicts[engine], message)} {quoted_effect(row, message)}"


def claims_data(run: ClaimsResult, report: Path | None) -> dict[str, Any]:
    """The result and the path of its report as plain data for JSON, with unrounded numbers."""
    return {
        "name": run.spec.name,
        "folder": str(run.directory),
        "budget": run.spec.budget.name,
        "indicative": run.is_indicative,
        "interrupted": run.interrupted,
        "fixed_beforehand": run.is_fixed_beforehand,
        "digest": run.spec.digest,
        "parts": [
            {
                "id": result.part.id,
                "claim": result.part.text,
                "source": result.claim.source,
                "basis": result.claim.basis,
                "verdicts": {engine: asdict(one) for engine, one in result.verdicts.items()},
                "depends": result.depends,
                "finished": result.is_finished,
                "digest": result.part.digest,
                "games": result.games,
                "games_needed": result.games_needed,
                "positions_needed": result.positions_needed,
                "cells": [asdict(row) for row in result.rows],
            }
            for result in run.results
        ],
        "amendments": [asdict(one) for one in run.registration.amendments],
        "faults": [fault.data for fault in run.faults],
        "warnings": run.caveats.sentences(),
        "games_digest": run.digest or None,
        "report": None if report is None else str(report),
    }
