"""The report on the claims: a table of verdicts, then for each claim its experiment, figures and rule."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.figures.search_statistics import SearchStatistics
from arena.figures.standings import clipped, signed
from arena.files import replace_file
from arena.reports.charts import null_failures_chart
from arena.reports.contents import Plot
from tuning.ablation.rows import AblationRow
from tuning.ablation.verdicts import MARGIN_ELO, Rule, decidable_elo, pairs_for_equivalence
from tuning.claims.run import ClaimResult, ClaimsResult, MeasureRow
from tuning.claims.spec import BASES, COMPARED, CONFIRMED, REFUTED, SHOWN, STRENGTH, UNDECIDED, ClaimsSpec
from tuning.reports import ablation_charts as charts
from tuning.reports.ablation import Say, sayer, shared_facts, write_svg
from tuning.reports.document import Commands, Document, Facts, Grid, Note, Section, write_document
from tuning.reports.study import interval_text

OUTCOMES_ZH = {CONFIRMED: "证实", REFUTED: "否定", UNDECIDED: "未定", SHOWN: "仅供参考"}
BASES_ZH = {"c": "原文主张", "i": "设计所含", "o": "我们的问题"}
EXPECTED_ZH = {
    "better": "更强", "worse": "更弱", "equivalent": "等同", "not_worse": "不更弱", "less": "更少", "more": "更多",
    "equal": "相等", "below": "低于", "above": "高于", "occurs": "出现", "same": "不变", "": "",
}  # fmt: skip


def write_claims_report(run: ClaimsResult, language: str = "en") -> Path:
    """Write four tables (.csv), report.md, the plots and report.html; returns the path of the last."""
    tables = {"claims": run.frame(), "measures": run.measures_frame(), "depths": run.depths_frame(),
              "verifications": run.verified_frame()}  # fmt: skip
    for name, table in tables.items():
        replace_file(run.directory / f"{name}.csv", partial(table.to_csv, index=False))
    document = _claims_document(run, sayer(language), language)
    page = write_document(run.directory, document)
    write_svg(run.directory, document)
    return page


def _claims_document(run: ClaimsResult, say: Say, language: str) -> Document:
    spec = run.spec
    limits = ", ".join(f"{name}: {limit}" for name, limit in spec.budget.limits.items())
    facts = (
        (say("Budget", "预算"), f"{spec.budget.name} ({limits})"),
        *shared_facts(spec.conditions, run.engine, say),
        (say("Searches of positions", "局面搜索"),
         say(f"depth {spec.budget.depth} in {spec.budget.positions} positions from self-play",
             f"深度 {spec.budget.depth}，{spec.budget.positions} 个自对弈局面")),
        (say("Games", "对局"), say(f"games.sqlite; digest {run.digest}",
                                   f"games.sqlite；摘要 {run.digest}")),
    )  # fmt: skip
    return Document(
        title=spec.name,
        kicker=say("Claims of the literature, put to the test", "对文献主张的检验"),
        summary=claims_sentence(run, say),
        sections=(
            Section("summary", say("Verdicts", "判定"),
                    (*_warnings(run, say), _summary_grid(run.results, say), *_summary_plot(run, say),
                     Note(_how(spec, say)))),
            *(_claim_section(run, result, say) for result in run.results),
            Section("conditions", say("What was played", "对局条件"), (Facts(facts),)),
            Section("repeat", say("To repeat it", "重现"), (Commands((claims_command(spec, run.directory),)),)),
        ),
        language=language,
    )  # fmt: skip


def claims_command(spec: ClaimsSpec, directory: Path) -> str:
    """The command that goes on with a run; with another folder it makes the same report again."""
    from engine.settings.configuration import find_config

    game = spec.conditions.game
    words = ["elolab", "claims", "--game", game, "--budget", spec.budget.name]
    if Path(spec.source) != find_config("claims", game):
        words += ["--claims", spec.source]
    if spec.only:
        words += ["--only", *spec.only]
    return shlex.join([*words, "--out", str(directory)])


def claims_sentence(run: ClaimsResult, say: Say) -> str:
    """How many claims are confirmed, refuted and undecided."""
    verdicts = [result.verdict for result in run.results]
    games = sum(result.games for result in run.results)
    counts = {verdict: verdicts.count(verdict) for verdict in (CONFIRMED, REFUTED, UNDECIDED)}
    asked = len(run.spec.claims) if run.missing else 0
    known = f"{len(verdicts)}{say(' of ', '/')}{asked}" if asked else f"{len(verdicts)}"
    return say(
        f"{known} claims, {games} games: {counts[CONFIRMED]} confirmed, {counts[REFUTED]} refuted, "
        f"{counts[UNDECIDED]} undecided." + (" Indicative only." if run.is_indicative else ""),
        f"共 {known} 条主张，{games} 局：证实 {counts[CONFIRMED]}，否定 {counts[REFUTED]}，"
        f"未定 {counts[UNDECIDED]}。" + ("仅具参考意义。" if run.is_indicative else ""),
    )


def _warnings(run: ClaimsResult, say: Say) -> tuple[Note, ...]:
    warnings = []
    if run.missing:
        names = ", ".join(run.missing)
        warnings.append(
            say(f"The run was stopped before it had an answer on {names}; the command below goes on with it.",
                f"本次运行中止时，{names} 尚无结论；用下面的命令可以继续。")
        )  # fmt: skip
    if run.is_indicative:
        warnings.append(
            say(
                "Indicative: the quick budget plays few and short games. Its verdicts keep to their error rates, but "
                "hold for so few nodes a move; what is undecided may be anything.",
                "仅具参考意义：快速预算的对局少而浅。其判定遵守所声明的错误率，"
                "但只对如此少的节点成立；未定者不说明任何问题。",
            )
        )
    return tuple(Note(text, warning=True) for text in warnings)


def _summary_plot(run: ClaimsResult, say: Say) -> tuple[Plot, ...]:
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
    caption = say(
        "Every comparison of strength that decides a claim: points are Elo of the first setting minus the second, "
        "thick lines 95 % intervals, thin ones those that hold for the claim's comparisons and looks together. Blue is "
        f"found stronger, red weaker, green equivalent within {MARGIN_ELO:g} Elo (the band), grey undecided.",
        "决定各主张的全部强度比较：点为前者减后者的 Elo，粗线为 95 % 区间，"
        "细线为对该主张的全部比较与检视同时成立的区间。"
        f"蓝色为更强，红色为更弱，绿色为在 {MARGIN_ELO:g} Elo 之内等同（色带），灰色为未定。",
    ) + _caption_end(run, say, rows)
    title = say("Strength", "强度")
    return (Plot("strength", title, caption, charts.forest_chart(rows, MARGIN_ELO)),)


def _caption_end(run: ClaimsResult, say: Say, played: Sequence[AblationRow] = ()) -> str:
    """Games and their limit, engine and command: what a figure has to say of itself."""
    spec = run.spec
    command = claims_command(spec, run.directory)
    games, limits = sum(row.games for row in played), {row.limit for row in played}
    limit = limits.pop() if len(limits) == 1 else say("limits as in the tables", "各自的限制见表")
    text = say(f"{games} games, {limit}; ", f"{games} 局，{limit}；") if games else ""
    return say(
        f" {text}engine {run.engine}; made by {command}.",
        f"{text}引擎 {run.engine}；由 {command} 生成。",
    )


def _how(spec: ClaimsSpec, say: Say) -> str:
    rule = Rule(rounds=spec.budget.rounds)
    pairs = spec.budget.pairs
    smallest = decidable_elo(pairs, 1, rule)
    shown = f"{smallest:.0f}" if math.isfinite(smallest) else ">800"
    equivalence = pairs_for_equivalence(1, rule)
    return say(
        "Each rule was fixed beforehand. A claim is confirmed if every measure with an expectation is, refuted if one "
        "of them is, undecided otherwise. Strength is judged by group-sequential bounds with Holm's correction within "
        f"the claim, at an error rate of {100 * rule.error_rate:g} % for differences and for equivalences (within "
        f"{rule.margin_elo:g} Elo); what needs no games by its 95 % interval, with positions as units. Power: {pairs} "
        f"pairs of one comparison find a difference of {shown} Elo in 80 % of cases; to confirm that there is none "
        f"takes about {equivalence}.",
        "每条规则都事先固定。凡有预期的测量全部得到证实，则主张证实；其中一个被否定，则否定；否则未定。"
        "强度以成组序贯界限判定，在该主张之内作 Holm 校正，"
        f"差异与等同（{rule.margin_elo:g} Elo 之内）的错误率各为 {100 * rule.error_rate:g} %；"
        "不需对局者以 95 % 区间判定，以局面为单位。"
        f"功效：单个比较 {pairs} 对在 80 % 的情形下能发现 {shown} Elo 的差别；确认没有差别约需 {equivalence} 对。",
    )


# One claim


def _claim_section(run: ClaimsResult, result: ClaimResult, say: Say) -> Section:
    claim = result.claim
    blocks: list[Any] = [
        Note(say(claim.text, claim.text_zh)),
        Facts(
            (
                (say("Verdict", "判定"), _verdict_text(run, result, say)),
                (say("Source", "出处"), f"[{claim.source}], {say(BASES[claim.basis], BASES_ZH[claim.basis])}"),
                (say("System", "所用系统"), claim.conditions.base_name),
                (say("Rule", "规则"), say(claim.rule, claim.rule_zh)),
            )
        ),
        _measures_grid(result.rows, say),
    ]
    if result.strength:
        caption = say(
            "Elo of the first setting minus the second with its 95 % interval, and thin the one for all together.",
            "前者减后者的 Elo 及 95 % 区间，细线为同时成立的区间。",
        ) + _caption_end(run, say, result.strength)
        figure = charts.forest_chart([replace(row, group="") for row in result.strength], MARGIN_ELO)
        blocks.append(Plot(f"{claim.id}-strength", f"{claim.id}: {say('strength', '强度')}", caption, figure))
    if result.squares:
        caption = say(
            "Strength of the four combinations above that with both first values, in Elo with 95 % intervals. Parallel "
            "lines mean that the worth of one setting does not depend on the other.",
            "四种组合相对两者皆取前值时的强度（Elo，95 % 区间）。两线平行表示一项设定的价值与另一项无关。",
        ) + _caption_end(run, say)
        title = say("interaction", "交互作用")
        figure = charts.interactions_chart(result.squares)
        blocks.append(Plot(f"{claim.id}-interaction", f"{claim.id}: {title}", caption, figure))
    for unit, compares, name, title, seen in _units(say):
        own = [
            row for row in result.rows
            if row.unit == unit and row.kind not in STRENGTH and (row.kind in COMPARED) == compares
        ]  # fmt: skip
        if own:
            caption = seen + _caption_end(run, say)
            blocks.append(Plot(f"{claim.id}-{name}", f"{claim.id}: {title}", caption, charts.measures_chart(own)))
    if result.verified:
        caption = say(
            "Share of verified null cutoffs that the verification refutes, and of sampled cutoffs that a search "
            "without null moves refutes, by the own material of the side that passed.",
            "空着截断经检验被推翻的比例，以及抽样截断被不用空着的搜索推翻的比例，按走空着一方的子力分组。",
        ) + _caption_end(run, say)
        title = say("failed verifications against material", "检验失败率与子力")
        figure = null_failures_chart(SearchStatistics(result.verified, dict.fromkeys(result.verified, 0)))
        blocks.append(Plot(f"{claim.id}-verifications", f"{claim.id}: {title}", caption, figure))
    if result.depths:
        caption = say(
            "Nodes from the start of a search to the end of each depth, geometric mean over the positions, on a "
            "logarithmic scale: a lower line is cheaper, a steeper one grows faster.",
            "从搜索开始到各深度结束的节点数（对局面取几何平均，对数刻度）：线越低越省，越陡增长越快。",
        ) + _caption_end(run, say)
        title = say("nodes to each depth", "达到各深度的节点")
        blocks.append(Plot(f"{claim.id}-depths", f"{claim.id}: {title}", caption, charts.depths_chart(result.depths)))
    return Section(claim.id, claim.id, tuple(blocks))


def _units(say: Say) -> tuple[tuple[str, bool, str, str, str], ...]:
    """Unit, whether two settings are compared, name of the figure's file, its title, and what to see in it."""
    return (
        ("×", True, "nodes", say("cost", "代价"),
         say("Ratio with its 95 % interval, positions as units; left of 1 the first setting is cheaper.",
             "比值及 95 % 区间（以局面为单位）；在 1 左边表示前者更省。")),
        ("×", False, "ratios", say("ratios", "比值"),
         say("The named ratio, of one setting, with its 95 % interval, positions as units; an upright mark is the "
             "rule's threshold.",
             "单个设定的所列比值及 95 % 区间（以局面为单位）；竖线为规则的阈值。")),
        ("%", False, "shares", say("shares", "份额"),
         say("Share with its 95 % interval, positions as units; the upright mark is the rule's threshold.",
             "份额及 95 % 区间（以局面为单位）；竖线为规则的阈值。")),
        ("points", True, "differences", say("difference of shares", "份额之差"),
         say("Share under the first setting minus that under the second, with its 95 % interval.",
             "前者的份额减后者的份额及 95 % 区间。")),
    )  # fmt: skip


def _verdict_text(run: ClaimsResult, result: ClaimResult, say: Say) -> str:
    text = say(result.verdict, OUTCOMES_ZH[result.verdict])
    if run.is_indicative:
        text += say(" (indicative)", "（仅供参考）")
    if result.games_needed is not None:
        text += say(f"; about {result.games_needed} more games would decide it if the estimates are right",
                    f"；若估计正确，约需再下 {result.games_needed} 局才能判定")  # fmt: skip
    if result.positions_needed is not None:
        text += say(f"; about {result.positions_needed} more positions would decide it if the estimates are right",
                    f"；若估计正确，约需再搜 {result.positions_needed} 个局面才能判定")  # fmt: skip
    return text


def effect_text(row: MeasureRow) -> str:
    """The effect with its unit: ``+12.3 Elo``, ``0.87×``, ``3.1 %``."""
    if row.unit == "Elo":
        return f"{signed(row.effect)} Elo"
    if row.unit == "×":
        return f"{row.effect:.3g}×"
    if row.unit == "points":
        return f"{signed(row.effect, 2)} pp"
    return f"{row.effect:.3g} %" if row.unit == "%" else f"{row.effect:g} / {row.cases}"


def range_text(row: MeasureRow) -> str:
    """The interval in the unit of ``effect_text``."""
    if row.unit in ("Elo", "points"):
        return interval_text(row.low, row.high)
    if row.unit == "cases" and (row.kind == "occurs" or row.effect):  # one is enough to decide, whatever their rate
        return ""
    return f"[{row.low:.3g}, {row.high:.3g}]"


def _summary_grid(results: Sequence[ClaimResult], say: Say) -> Grid:
    heads = (
        say("Claim", "主张"), say("What it says", "内容"), say("Source", "出处"), say("Basis", "依据"),
        say("Verdict", "判定"), say("Effect", "效应"), say("Interval", "区间"), say("Games", "局"),
        say("Still needed", "尚需"),
    )  # fmt: skip
    cells = tuple(
        (
            result.claim.id, say(result.claim.text, result.claim.text_zh), result.claim.source,
            say(BASES[result.claim.basis], BASES_ZH[result.claim.basis]),
            say(result.verdict, OUTCOMES_ZH[result.verdict]), effect_text(result.headline),
            range_text(result.headline), str(result.games),
            _needed_text(result, say),
        )
        for result in results
    )  # fmt: skip
    return Grid(heads, cells, (5, 6, 7, 8), (1,))


def _needed_text(result: ClaimResult, say: Say) -> str:
    games, positions = result.games_needed, result.positions_needed
    parts = [say(f"{games} games", f"{games} 局")] if games is not None else []
    parts += [say(f"{positions} positions", f"{positions} 个局面")] if positions is not None else []
    return ", ".join(parts)


def _measures_grid(rows: Sequence[MeasureRow], say: Say) -> Grid:
    heads = (
        say("Measure", "测量"), say("Limit", "限制"), say("Expected", "预期"), say("Outcome", "结果"),
        say("Effect", "效应"), say("Interval", "区间"), say("Cases", "例数"), say("Games", "局"),
    )  # fmt: skip
    cells = tuple(
        (
            row.label, row.limit, _expected_text(row, say), say(row.outcome, OUTCOMES_ZH[row.outcome]),
            effect_text(row), range_text(row), str(row.cases), str(row.games),
        )
        for row in rows
    )  # fmt: skip
    return Grid(heads, cells, (4, 5, 6, 7))


def _expected_text(row: MeasureRow, say: Say) -> str:
    text = say(row.expect.replace("_", " "), EXPECTED_ZH[row.expect])
    if row.expect in ("below", "above"):
        text += f" {row.threshold:g}{' %' if row.unit == '%' else ''}"
    return text


# The terminal


def claims_text(run: ClaimsResult) -> str:
    """The table of verdicts for a terminal of 80 columns."""
    lines = [claims_sentence(run, sayer("en")), ""]
    lines.append(f"{'':<4}{'verdict':<11}{'games':>7}  {'effect':>12}  measure")
    for result in run.results:
        head = result.headline
        label = clipped(head.label, 40)
        lines.append(f"{result.claim.id:<4}{result.verdict:<11}{result.games:>7}  {effect_text(head):>12}  {label}")
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
