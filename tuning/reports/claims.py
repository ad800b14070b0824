"""The report on the claims: a table of verdicts, then for each claim its experiment, figures and rule."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.figures.names import told_apart
from arena.figures.search_statistics import SearchStatistics
from arena.figures.standings import INFINITY, signed
from arena.files import replace_file
from arena.reports.charts import null_failures_chart
from arena.reports.contents import Plot
from arena.reports.tables import TextTable
from engine.language import DEFAULT_LANGUAGE, Catalogue
from tuning.ablation.rows import AblationRow
from tuning.ablation.verdicts import MARGIN_ELO, POWER, Rule, detectable_elo, pairs_for_equivalence
from tuning.claims.run import ClaimResult, ClaimsResult, MeasureRow
from tuning.claims.spec import COMPARED, CONFIRMED, REFUTED, STRENGTH, UNDECIDED, Claim, ClaimsSpec
from tuning.keys.claims import BASES
from tuning.reports import ablation_charts as charts
from tuning.reports.ablation import limit_text, smallest_text
from tuning.reports.document import (
    MESSAGES,
    Block,
    Commands,
    Document,
    Facts,
    Note,
    Section,
    table_of,
    write_document,
)
from tuning.reports.study import (
    condition_facts,
    counted,
    in_columns,
    in_one,
    interval_text,
    language_words,
    ratio_text,
)
from tuning.reports.study_charts import chart_words


def write_claims_report(run: ClaimsResult, language: str = DEFAULT_LANGUAGE) -> Path:
    """Write four tables (.csv), report.md, the plots and report.html; returns the path of the last."""
    tables = {"claims": run.frame(), "measures": run.measures_frame(), "depths": run.depths_frame(),
              "verifications": run.verified_frame()}  # fmt: skip
    for name, table in tables.items():
        replace_file(run.directory / f"{name}.csv", partial(table.to_csv, index=False))
    return write_document(run.directory, claims_document(run, language))


def claims_document(run: ClaimsResult, language: str) -> Document:
    """The whole report."""
    message = Catalogue(MESSAGES, language)
    spec = run.spec
    budget = spec.budget
    limits = ", ".join(f"{name}: {limit}" for name, limit in budget.limits.items())
    facts = (
        (message("fact.budget"), message("claims.budget", budget=budget.name, limits=limits)),
        *condition_facts(spec.conditions, run.engine, message),
        (message("claims.searches"), message("claims.searched", depth=budget.depth, positions=budget.positions)),
        (message("fact.games"), message("claims.stored_games", digest=run.digest)),
    )
    verdicts: tuple[Block, ...] = (
        *_warnings(run, message), _summary_table(run.results, message), *_summary_plot(run, message),
        Note(_rule_note(spec, message)),
    )  # fmt: skip
    command = claims_command(spec, run.directory, message.language)
    return Document(
        title=spec.name,
        kicker=message("claims.kicker"),
        summary=_claims_sentence(run, message),
        sections=(
            Section("summary", message("section.verdicts"), verdicts),
            *(_claim_section(run, result, message) for result in run.results),
            Section("conditions", message("section.conditions"), (Facts(facts),)),
            Section("repeat", message("section.repeat"), (Commands((command,)),)),
        ),
        language=message.language,
    )


def claims_command(spec: ClaimsSpec, directory: Path, language: str = DEFAULT_LANGUAGE) -> str:
    """The command that goes on with a run; with another folder it makes the same report again."""
    from engine.settings.configuration import find_config

    game = spec.conditions.game
    words = ["elolab", "claims", "--game", game, "--budget", spec.budget.name]
    if Path(spec.source) != find_config("claims", game):
        words += ["--claims", spec.source]
    if spec.only:
        words += ["--only", *spec.only]
    return shlex.join([*words, "--out", str(directory), *language_words(language)])


def _claims_sentence(run: ClaimsResult, message: Catalogue) -> str:
    """How many claims are confirmed, refuted and undecided."""
    verdicts = [result.verdict for result in run.results]
    counts = [(message(f"outcome.{one}"), verdicts.count(one)) for one in (CONFIRMED, REFUTED, UNDECIDED)]
    shown = {"games": sum(result.games for result in run.results), "found": counted(counts, message)}
    if run.missing:
        summary = message("claims.summary_so_far", claims=len(verdicts), asked=len(run.spec.claims), **shown)
    else:
        key = "claims.summary_of_one" if len(verdicts) == 1 else "claims.summary"
        summary = message(key, claims=len(verdicts), **shown)
    if not run.is_indicative:
        return summary
    return in_one((summary, message("claims.indicative_only")), message)


def _warnings(run: ClaimsResult, message: Catalogue) -> tuple[Note, ...]:
    warnings = []
    if run.missing:
        warnings.append(message("claims.stopped", claims=message("list.comma").join(run.missing)))
    if run.is_indicative:
        warnings.append(message("claims.indicative"))
    return tuple(Note(text, warning=True) for text in warnings)


def _summary_plot(run: ClaimsResult, message: Catalogue) -> tuple[Plot, ...]:
    """All comparisons of strength that decide a claim, in one forest plot."""
    rows = []
    for result in run.results:
        expected = {row.label for row in result.rows if row.kind == "elo" and row.expect}
        rows += [
            replace(row, label=f"{result.claim.id}  {row.label}", group="") for row in result.strength
            if row.label in expected and row.pairs
        ]  # fmt: skip
    if not rows:
        return ()
    caption = _of_games(message("claims.all_strength_caption", margin=MARGIN_ELO), run, rows, message)
    figure = charts.forest_chart(rows, chart_words(message), MARGIN_ELO)
    return (Plot("strength", message("claims.all_strength"), caption, figure),)


def _of_games(caption: str, run: ClaimsResult, rows: Sequence[AblationRow], message: Catalogue) -> str:
    """The caption of a figure of played rows, and what it has to say of itself: games, limit, engine and command."""
    limits = {row.limit for row in rows}
    limit = limit_text(limits.pop(), message) if len(limits) == 1 else message("claims.limits_in_tables")
    games = sum(row.games for row in rows)
    if not games:
        return _of_searches(caption, run, message)
    return message("caption.of_games", caption=caption, games=games, limit=limit, **_source_of(run, message))


def _of_searches(caption: str, run: ClaimsResult, message: Catalogue) -> str:
    """The caption of any other figure: engine and command."""
    return message("caption.of_searches", caption=caption, **_source_of(run, message))


def _source_of(run: ClaimsResult, message: Catalogue) -> dict[str, str]:
    return {"engine": run.engine, "command": claims_command(run.spec, run.directory, message.language)}


def _rule_note(spec: ClaimsSpec, message: Catalogue) -> str:
    rule = Rule(rounds=spec.budget.rounds)
    return message(
        "claims.rule_note",
        error=100 * rule.error_rate,
        margin=rule.margin_elo,
        pairs=spec.budget.pairs,
        smallest=smallest_text(detectable_elo(spec.budget.pairs, 1, rule)),
        power=100 * POWER,
        equivalence=pairs_for_equivalence(1, rule),
    )


# One claim


def _claim_section(run: ClaimsResult, result: ClaimResult, message: Catalogue) -> Section:
    claim = result.claim
    source = message("claims.source_and_basis", source=claim.source, basis=_basis_text(claim, message))
    facts = (
        (message("claims.verdict"), _verdict_text(run, result, message)),
        (message("claims.source"), source),
        (message("claims.system"), claim.conditions.base_name),
        (message("claims.rule"), claim.rules[message.language]),
    )
    return Section(
        claim.id,
        claim.id,
        (
            Note(claim.texts[message.language]),
            Facts(facts),
            _measures_table(result.rows, message),
            *_claim_plots(run, result, message),
        ),
    )


def _claim_plots(run: ClaimsResult, result: ClaimResult, message: Catalogue) -> list[Plot]:
    """The figures of a claim: of its games first, then of its searches."""
    words = chart_words(message)

    def named(name: str) -> tuple[str, str]:
        title = message("claims.figure", claim=result.claim.id, title=message(f"claims.{name}"))
        return f"{result.claim.id}-{name}", title

    def searched(name: str) -> tuple[str, str, str]:
        return *named(name), _of_searches(message(f"claims.{name}_caption"), run, message)

    plots = []
    if result.strength:
        caption = _of_games(message("claims.strength_caption"), run, result.strength, message)
        rows = [replace(row, group="") for row in result.strength]
        plots.append(Plot(*named("strength"), caption, charts.forest_chart(rows, words, MARGIN_ELO)))
    if result.squares:
        plots.append(Plot(*searched("interaction"), charts.interactions_chart(result.squares, words)))
    for unit, compares, name in UNITS:
        own = [
            row for row in result.rows
            if row.unit == unit and row.kind not in STRENGTH and (row.kind in COMPARED) == compares
        ]  # fmt: skip
        if own:
            plots.append(Plot(*searched(name), charts.measures_chart(own, words)))
    if result.verified:
        counted = SearchStatistics(result.verified, dict.fromkeys(result.verified, 0))
        plots.append(Plot(*searched("verifications"), null_failures_chart(counted, words.language)))
    if result.depths:
        plots.append(Plot(*searched("depths"), charts.depths_chart(result.depths, words)))
    return plots


UNITS = (("×", True, "nodes"), ("×", False, "ratios"), ("%", False, "shares"), ("points", True, "differences"))
"""Of figures of searches: the unit, whether two settings are compared, and the name."""


def _basis_text(claim: Claim, message: Catalogue) -> str:
    return message(f"basis.{BASES[claim.basis]}")


def _verdict_text(run: ClaimsResult, result: ClaimResult, message: Catalogue) -> str:
    text = message(f"outcome.{result.verdict}")
    if run.is_indicative:
        text = message("claims.indicative_verdict", verdict=text)
    if result.games_needed is not None:
        text = message("claims.decided_by_games", verdict=text, games=result.games_needed)
    if result.positions_needed is not None:
        text = message("claims.decided_by_positions", verdict=text, positions=result.positions_needed)
    return text


def effect_text(row: MeasureRow, message: Catalogue) -> str:
    """The effect with its unit: ``+12.3 Elo``, ``0.87×``, ``3.1 %``."""
    if row.unit == "Elo":
        return f"{signed(row.effect)} Elo"
    if row.unit == "×":
        return ratio_text(row.effect)
    if row.unit == "points":
        return message("claims.percentage_points", difference=signed(row.effect, 2))
    return f"{row.effect:.3g} %" if row.unit == "%" else f"{row.effect:g} / {row.cases}"


def range_text(row: MeasureRow) -> str:
    """The interval in the unit of ``effect_text``."""
    if row.unit in ("Elo", "points"):
        return interval_text(row.low, row.high)
    if row.unit == "cases" and (row.kind == "occurs" or row.effect):  # one is enough to decide, whatever their rate
        return ""
    if row.unit == "×":
        return f"[{ratio_text(row.low)[:-1]}, {ratio_text(row.high)[:-1]}]"
    return f"[{row.low:.3g}, {row.high:.3g}]".replace("inf", INFINITY)


def _summary_table(results: Sequence[ClaimResult], message: Catalogue) -> TextTable:
    heads = (
        message("claims.claim"), message("claims.says"), message("claims.source"), message("claims.basis"),
        message("claims.verdict"), message("claims.effect"), message("claims.interval"), message("claims.games"),
        message("claims.still_needed"),
    )  # fmt: skip
    cells = tuple(
        (
            result.claim.id, result.claim.texts[message.language], result.claim.source,
            _basis_text(result.claim, message), message(f"outcome.{result.verdict}"),
            effect_text(result.headline, message), range_text(result.headline), str(result.games),
            _needed_text(result, message),
        )
        for result in results
    )  # fmt: skip
    return table_of(heads, cells, (5, 6, 7, 8), (1,))


def _needed_text(result: ClaimResult, message: Catalogue) -> str:
    games, positions = result.games_needed, result.positions_needed
    parts = [message("claims.games_needed", games=games)] if games is not None else []
    parts += [message("claims.positions_needed", positions=positions)] if positions is not None else []
    return message("list.comma").join(parts)


def _measures_table(rows: Sequence[MeasureRow], message: Catalogue) -> TextTable:
    heads = (
        message("claims.measure"), message("claims.limit"), message("claims.expected"), message("claims.outcome"),
        message("claims.effect"), message("claims.interval"), message("claims.cases"), message("claims.games"),
    )  # fmt: skip
    cells = tuple(
        (
            row.label, limit_text(row.limit, message), _expected_text(row, message),
            message(f"outcome.{row.outcome}"), effect_text(row, message), range_text(row), str(row.cases),
            str(row.games),
        )
        for row in rows
    )  # fmt: skip
    return table_of(heads, cells, (4, 5, 6, 7))


def _expected_text(row: MeasureRow, message: Catalogue) -> str:
    if not row.expect:
        return ""
    text = message(f"expected.{row.expect}")
    if row.expect not in ("below", "above"):
        return text
    key = "claims.expected_share" if row.unit == "%" else "claims.expected_threshold"
    return message(key, expected=text, threshold=row.threshold)


# The terminal


CLAIM_COLUMNS = (3, 9, -7, -12, 40)


def claims_text(run: ClaimsResult, language: str = DEFAULT_LANGUAGE) -> str:
    """The table of verdicts for a terminal of 80 columns."""
    message = Catalogue(MESSAGES, language)
    heads = (
        "", message("terminal.verdict"), message("terminal.games"), message("terminal.effect"),
        message("terminal.measure"),
    )  # fmt: skip
    lines = [_claims_sentence(run, message), "", in_columns(heads, CLAIM_COLUMNS)]
    labels = told_apart([result.headline.label for result in run.results], CLAIM_COLUMNS[-1])
    for result, label in zip(run.results, labels, strict=True):
        cells = (
            result.claim.id, message(f"outcome.{result.verdict}"), str(result.games),
            effect_text(result.headline, message), label,
        )  # fmt: skip
        lines.append(in_columns(cells, CLAIM_COLUMNS))
    return "\n".join(lines)


def claims_data(run: ClaimsResult, report: Path | None) -> dict[str, Any]:
    """The outcome and where it was reported, as plain data, figures unrounded."""
    return {
        "name": run.spec.name,
        "folder": str(run.directory),
        "budget": run.spec.budget.name,
        "indicative": run.is_indicative,
        "interrupted": run.interrupted,
        "claims": [
            {
                "id": result.claim.id,
                "claim": result.claim.text,
                "source": result.claim.source,
                "basis": result.claim.basis,
                "verdict": result.verdict,
                "games": result.games,
                "games_needed": result.games_needed,
                "positions_needed": result.positions_needed,
                "measures": [asdict(row) for row in result.rows],
            }
            for result in run.results
        ],
        "games_digest": run.digest or None,
        "report": None if report is None else str(report),
    }
