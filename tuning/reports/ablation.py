"""What an ablation writes from its results: tables, texts and a report in English or Chinese."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.figures.standings import clipped, percent_text, signed
from arena.files import replace_file
from arena.reports.contents import Plot
from engine.settings.parameters import BY_NAME
from tuning.ablation.verdicts import (
    BETTER,
    EQUIVALENT,
    POWER,
    UNDECIDED,
    WORSE,
    Rule,
    decidable_elo,
    pairs_for_equivalence,
)
from tuning.reports import ablation_charts as charts
from tuning.reports.document import PLOT_FOLDER, Commands, Document, Facts, Grid, Note, Section, write_document
from tuning.reports.study import condition_facts, elo_text, interval_text, repeat_command

if TYPE_CHECKING:
    from tuning.ablation.depth_cost import DepthRow
    from tuning.ablation.levels import Along
    from tuning.ablation.rows import AblationRow, EffectRow
    from tuning.ablation.run import AblationResult
    from tuning.conditions import Conditions

Say = Callable[[str, str], str]
"""Picks the text of a report's language: English or Chinese."""

LANGUAGES = ("en", "zh")

VERDICTS_ZH = {BETTER: "更强", WORSE: "更弱", EQUIVALENT: "等同", UNDECIDED: "未定", "": ""}


def sayer(language: str) -> Say:
    """The function that picks texts of a language (``en`` or ``zh``)."""
    return _chinese if language == "zh" else _english


def _english(english: str, chinese: str) -> str:
    return english


def _chinese(english: str, chinese: str) -> str:
    return chinese


def write_ablation_report(result: AblationResult, language: str = "en") -> Path:
    """Write the tables as CSV, report.md, report.html and the plots as PNG and SVG; returns report.html's path."""
    tables = {"ablation": result.frame()}
    if result.effects:
        tables["effects"] = result.effects_frame()
    if result.depths:
        tables["depths"] = result.depths_frame()
    for name, table in tables.items():
        replace_file(result.directory / f"{name}.csv", partial(table.to_csv, index=False))
    document = _ablation_document(result, language)
    page = write_document(result.directory, document)
    write_svg(result.directory, document)
    return page


def write_svg(directory: Path, document: Document) -> None:
    """Write a document's plots as SVG beside the PNG."""
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Plot):
                replace_file(directory / PLOT_FOLDER / f"{block.name}.svg", charts.svg_bytes(block.figure))


def _ablation_document(result: AblationResult, language: str) -> Document:
    say = sayer(language)
    spec = result.spec
    command = repeat_command("ablate", spec.conditions, result.directory)
    effects = (Section("effects", say("Factorials", "析因"), _effect_blocks(result, say)),) if result.effects else ()
    return Document(
        title=spec.name,
        kicker=say("Ablation report", "消融实验报告"),
        summary=ablation_sentence(result, say),
        sections=(
            Section("figure", say("At a glance", "一览"), (*_plan_notes(result, say), *_plots(result, say))),
            Section("table", say("Table", "表格"), (_main_grid(result.rows, say), Note(_table_note(result, say)))),
            *effects,
            Section("verdicts", say("Verdicts", "判定"), (Note(_verdict_note(spec.rule, say)),)),
            Section(
                "conditions", say("What was played", "对局条件"),
                (Facts(_ablation_facts(result, say)), _sides_grid(result.rows, say)),
            ),
            Section("repeat", say("To repeat it", "重现"), (Commands((command,)),)),
        ),
        language=language,
    )  # fmt: skip


# Figures


def _made_by(result: AblationResult, say: Say) -> str:
    """Engine and command, the end of every caption."""
    command = repeat_command("ablate", result.spec.conditions, result.directory)
    return say(f" engine {result.engine}; made by {command}.", f"引擎 {result.engine}；由 {command} 生成。")


def _played(result: AblationResult, say: Say) -> str:
    """Games, limit, base, engine and command: what a figure of games has to say of itself."""
    conditions = result.spec.conditions
    return say(
        f" {result.games} games at {conditions.limits}, base {conditions.base_name};",
        f"共 {result.games} 局，限制 {conditions.limits}，基准 {conditions.base_name}；",
    ) + _made_by(result, say)


def _plots(result: AblationResult, say: Say) -> tuple[Plot, ...]:
    """Every figure that the comparisons give, each with what to see in it."""
    margin = result.spec.rule.margin_elo
    where = _played(result, say)
    found = [
        Plot(
            "forest",
            say("What each change is worth", "各项改动的价值"),
            say(
                "Points are Elo of the variant minus the reference: left of 0 the variant is weaker. Thick lines are "
                "95 % intervals of each by itself, thin ones hold for all together. Blue is found better, red worse, "
                f"green equivalent within {margin:g} Elo (the band), grey undecided; an arrow stands for a point "
                "beyond the scale. On the right, where measured, the nodes that the variant needs to reach the same "
                "depth, as a multiple of the reference's (geometric mean with 95 % interval).",
                "点为变体减参照的 Elo：在 0 左边表示变体更弱。粗线为各自的 95 % 区间，细线为对所有比较同时成立的区间。"
                f"蓝色为判定更强，红色更弱，绿色为在 {margin:g} Elo 之内等同（色带），灰色未定；箭头表示超出刻度的点。"
                "右侧（若有测量）为变体达到同样深度所需节点数与参照之比（几何平均及 95 % 区间）。",
            ) + where,
            charts.forest_chart(result.rows, margin),
        )
    ]  # fmt: skip
    curves = _curves(result)
    if curves:
        found.append(
            Plot(
                "curves",
                say("Along a parameter", "沿一个参数"),
                say(
                    "Elo of each value against the reference (the diamond, 0 by definition), with the 95 % intervals. "
                    "Switched off stands apart, on the left. Intervals around 0 that are short mean that the value "
                    "hardly matters.",
                    "各取值相对参照（菱形，按定义为 0）的 Elo 及 95 % 区间。关闭该技术的情形单独画在左边。"
                    "区间短而包含 0，表示该取值几乎无关紧要。",
                ) + where,
                charts.curves_chart(curves),
            )
        )  # fmt: skip
    if result.depths:
        found.append(
            Plot(
                "depths",
                say("Nodes to each depth", "达到各深度的节点"),
                say(
                    "Nodes from the start of a search to the end of each depth, geometric mean over the positions, on "
                    "a logarithmic scale: the reference of most comparisons and the settings that differ most from it. "
                    "A lower line is cheaper, a steeper one grows faster; depths.csv has all of them, with times, "
                    "speeds and branching factors.",
                    "从搜索开始到各深度结束的节点数（对局面取几何平均，对数刻度）：多数比较的参照，以及与它相差最大的设定。"
                    "线越低越省，越陡增长越快；depths.csv 中有全部设定及其时间、速度和分支因子。",
                ) + say(f" {result.rows[0].positions} positions;", f"{result.rows[0].positions} 个局面；")
                + _made_by(result, say),
                charts.depths_chart(_shown_depths(result.depths)),
            )
        )
    return tuple(found)


MAX_DEPTH_LINES = 7


def _shown_depths(rows: Sequence[DepthRow]) -> list[DepthRow]:
    """The rows of the first comparison's reference and of the settings whose cost differs most from its."""
    last = {row.setting: row.nodes for row in rows}
    names = list(last)
    reference = names[min(1, len(names) - 1)]
    others = sorted(names, key=lambda name: -abs(math.log(last[name] / last[reference])))
    shown = [reference, *(name for name in others if name != reference)][:MAX_DEPTH_LINES]
    return [row for name in shown for row in rows if row.setting == name]


def _curves(result: AblationResult) -> list[charts.Curve]:
    """Of comparisons along one integer parameter with the same reference and limit, at least two values each."""
    groups: dict[Any, list[tuple[Along, AblationRow]]] = {}
    for comparison, row in zip(result.spec.comparisons, result.rows, strict=True):
        along = comparison.along
        if along is not None and row.pairs and BY_NAME[along.level.parameter].kind == "integer":
            key = along.curve, along.reference, comparison.reference, comparison.limits
            groups.setdefault(key, []).append((along, row))
    return [
        charts.Curve(points[0][0].curve, points[0][0].reference, tuple((along.level, row) for along, row in points))
        for points in groups.values()
        if len(points) > 1
    ]


def _effect_blocks(result: AblationResult, say: Say) -> tuple[Any, ...]:
    blocks: list[Any] = [_effects_grid(result.effects, say), Note(_effects_note(say))]
    where = _played(result, say)
    squares: dict[str, list[Any]] = {}
    for cell in result.cells:
        squares.setdefault(cell.factorial, []).append(cell)
    declared = [
        squares[factorial.label] for factorial in result.spec.factorials
        if factorial.group == "factorial" and factorial.label in squares
    ]  # fmt: skip
    if declared:
        blocks.append(
            Plot(
                "interactions",
                say("Interaction of two factors", "两个因素的交互作用"),
                say(
                    "Strength of the four combinations above that with both factors low, in Elo with 95 % intervals: "
                    "a line for each level of the first factor, the second one's levels from left to right. Parallel "
                    "lines mean that the worth of one does not depend on the other.",
                    "四种组合相对两个因素皆取低水平时的强度（Elo，95 % 区间）：第一个因素的每个水平一条线，"
                    "横轴为第二个因素的水平。两线平行表示一个因素的价值与另一个无关。",
                ) + where,
                charts.interactions_chart(declared),
            )
        )
    heat = _heat(result)
    if heat is not None:
        blocks.append(
            Plot(
                "pairs",
                say("Pairs of features", "特性两两之间"),
                say(
                    "By how many Elo the worth of one feature grows when the other is there: positive where they help "
                    "each other, negative where one does the other's work. Bold where a verdict has fallen.",
                    "有另一特性时，该特性的价值增加多少 Elo：为正表示相互促进，为负表示功能重叠。粗体为已有判定。",
                ) + where,
                charts.heat_chart(*heat),
            )
        )
    return tuple(blocks)


def _heat(result: AblationResult) -> tuple[list[str], Any, Any] | None:
    """The features of all interactions, and their tables."""
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


def ablation_sentence(result: AblationResult, say: Say) -> str:
    """How many questions are decided, what it cost, and the largest effect."""
    verdicts = [row.verdict for row in result.rows] + [row.verdict for row in result.effects]
    verdicts = [verdict for verdict in verdicts if verdict]
    open_ones = verdicts.count(UNDECIDED)
    games = sum(row.games for row in result.rows)
    text = say(
        f"{len(verdicts) - open_ones} of {len(verdicts)} questions decided with {games} games, of {result.planned} at "
        f"most: {verdicts.count(BETTER)} better, {verdicts.count(WORSE)} worse, {verdicts.count(EQUIVALENT)} "
        f"equivalent, {open_ones} undecided.",
        f"{len(verdicts)} 个问题中判定了 {len(verdicts) - open_ones} 个，用了 {games} 局（至多 {result.planned} 局）："
        f"更强 {verdicts.count(BETTER)}，更弱 {verdicts.count(WORSE)}，等同 {verdicts.count(EQUIVALENT)}，"
        f"未定 {open_ones}。",
    )
    settled = [row for row in result.rows if row.verdict in (BETTER, WORSE)]
    if settled:
        largest = max(settled, key=lambda row: abs(row.elo))
        text += say(" The largest effect: ", "最大的效应：")
        text += f"{largest.label}, {elo_text(largest.elo, largest.elo_error)} Elo" + say(".", "。")
    return text


def _plan_notes(result: AblationResult, say: Say) -> tuple[Note, ...]:
    if len(result.plans) < 2:
        return ()
    return (
        Note(
            say(
                "The rules or the pairs of this ablation were changed after results of it were known: the declared "
                "error rate holds for plans that are fixed beforehand.",
                "本实验的规则或对数在已知部分结果之后改变过：所声明的错误率只对事先固定的计划成立。",
            ),
            warning=True,
        ),
    )


def _table_note(result: AblationResult, say: Say) -> str:
    deviation = _pair_deviation(result.rows)
    smallest = decidable_elo(
        max(row.pairs for row in result.rows) or 1, result.spec.questions, result.spec.rule, deviation
    )
    shown = f"{smallest:.0f}" if math.isfinite(smallest) else ">800"
    return say(
        "Elo is the variant's minus the reference's: negative where the variant is weaker; ± is half of the 95 % "
        "interval of this row by itself, the interval is the one that holds for all rows and looks together. LOS is "
        "the probability that the variant is the stronger. Pairs are two games from one opening with colours swapped, "
        "counted by the variant's result in both: both lost (LL), a loss and a draw (LD), one each or two draws (=), a "
        "win and a draw (WD), both won (WW). Nodes: what the variant needs to reach the depth, as a multiple of the "
        f"reference's. The longest comparison finds {shown} Elo in {100 * POWER:.0f} % of cases.",
        "Elo 为变体减参照：为负表示变体更弱；± 为该行自身 95 % 区间的一半，区间一栏则对所有行和所有检视同时成立。"
        "LOS 为变体更强的概率。一对是同一开局交换先后手的两局，按变体的结果计数：两负（LL）、一负一和（LD）、"
        "一胜一负或两和（=）、一胜一和（WD）、两胜（WW）。节点：变体达到该深度所需节点数与参照之比。"
        f"最长的比较在 {100 * POWER:.0f} % 的情形下能发现 {shown} Elo 的差别。",
    )


def _pair_deviation(rows: Sequence[AblationRow]) -> float:
    """Standard deviation of a pair's score, 0 to 1, over all rows, each about its own mean."""
    squares, pairs = 0.0, 0
    for row in rows:
        counts = (row.LL, row.LD, row.even, row.WD, row.WW)
        mean = sum(count * place / 4 for place, count in enumerate(counts)) / max(1, row.pairs)
        squares += sum(count * (place / 4 - mean) ** 2 for place, count in enumerate(counts))
        pairs += row.pairs
    return math.sqrt(squares / max(1, pairs)) or 0.01


def _verdict_note(rule: Rule, say: Say) -> str:
    equivalence = pairs_for_equivalence(1, rule) if rule.margin_elo > 0 else 0
    return say(
        f"Fixed beforehand: {rule.rounds} looks at each comparison, after equal numbers of pairs; bounds of a group-"
        "sequential test whose error is spent in the manner of O'Brien and Fleming; Holm's correction over all "
        "questions, for differences and equivalences apart. Better and worse mean that there is a difference, "
        f"equivalent that it is smaller than {rule.margin_elo:g} Elo (which takes about {equivalence} pairs). Of all "
        f"differences declared, the probability that any is false is at most {100 * rule.error_rate:g} %, and likewise "
        "of all equivalences. A comparison gets no more games once its verdict has fallen, or once its plan would all "
        "but certainly leave it open; what it would still need is in the table.",
        f"事先固定：每个比较检视 {rule.rounds} 次，每次之间对数相等；"
        "采用成组序贯检验，按 O'Brien-Fleming 方式分配错误率；"
        "对所有问题作 Holm 校正，差异与等同分别计算。“更强”“更弱”表示存在差异，"
        f"“等同”表示差异小于 {rule.margin_elo:g} Elo（约需 {equivalence} 对）。"
        f"所有宣布的差异中有任何一个为假的概率至多为 {100 * rule.error_rate:g} %，等同亦然。"
        "判定一出，或其计划几乎肯定不能作出判定，该比较便不再分配对局；"
        "仍需的局数见表格。",
    )


def _effects_note(say: Say) -> str:
    return say(
        "A main effect is what going from the low to the high level is worth, on the average over the other factors; "
        "an interaction is by how much the worth of the first grows as the second goes from low to high. After = "
        "stands what the design cannot tell from it; an interaction counts half in a main effect.",
        "主效应是由低水平变到高水平的价值（对其他因素取平均）；交互作用是第二个因素由低变高时，第一个因素的价值增加多少。"
        "等号之后是该设计无法与之区分的效应；交互作用若与主效应混同，则以其一半计入。",
    )


def verdict_text(verdict: str, say: Say) -> str:
    """A verdict in the report's language."""
    return say(verdict, VERDICTS_ZH[verdict])


def _verdict_cell(row: AblationRow | EffectRow, say: Say) -> str:
    text = verdict_text(row.verdict, say)
    if row.games_needed is not None:
        text += say(f" ({row.games_needed} more games)", f"（还需 {row.games_needed} 局）")
    return text


def _nodes_text(row: AblationRow) -> str:
    return "" if row.nodes_ratio is None else f"{row.nodes_ratio:.3g}×"


def _main_grid(rows: Sequence[AblationRow], say: Say) -> Grid:
    heads = (
        say("Comparison", "比较"), "Elo", say("Verdict", "判定"), say("Interval for all", "同时区间"), "LOS, %",
        say("Pairs", "对"), say("Games", "局"), "LL LD = WD WW", say("Nodes", "节点"),
    )  # fmt: skip
    cells = tuple(
        (
            row.label, elo_text(row.elo, row.elo_error), _verdict_cell(row, say),
            interval_text(row.simultaneous_low, row.simultaneous_high), percent_text(row.los), str(row.pairs),
            str(row.games), f"{row.LL} {row.LD} {row.even} {row.WD} {row.WW}", _nodes_text(row),
        )
        for row in rows
    )  # fmt: skip
    return Grid(heads, cells, (1, 3, 4, 5, 6, 7, 8))


def _effects_grid(effects: Sequence[EffectRow], say: Say) -> Grid:
    heads = (
        say("Effect", "效应"), say("Factorial", "析因"), "Elo", say("Verdict", "判定"),
        say("Interval for all", "同时区间"), say("Games", "局"),
    )  # fmt: skip
    cells = tuple(
        (
            row.effect, row.factorial, elo_text(row.elo, row.elo_error), _verdict_cell(row, say),
            interval_text(row.simultaneous_low, row.simultaneous_high) if row.verdict else "", str(row.games),
        )
        for row in effects
    )  # fmt: skip
    return Grid(heads, cells, (2, 4, 5))


def _sides_grid(rows: Sequence[AblationRow], say: Say) -> Grid:
    """What exactly was compared: the settings in which each side differs from the base."""
    base = say("the base", "基准")
    cells = tuple((row.label, row.variant or base, row.reference or base, row.limit) for row in rows)
    heads = (say("Comparison", "比较"), say("Variant", "变体"), say("Reference", "参照"), say("Limit", "限制"))
    return Grid(heads, cells, ())


FACT_NAMES_ZH = {
    "Game": "棋种", "Openings": "开局", "Rules": "规则", "Adjudication": "判决", "Random seed": "随机种子",
    "Engine": "引擎标识",
}  # fmt: skip


def shared_facts(conditions: Conditions, engine: str, say: Say) -> tuple[tuple[str, str], ...]:
    """``condition_facts`` with the names in the report's language."""
    return tuple((say(name, FACT_NAMES_ZH.get(name, name)), text) for name, text in condition_facts(conditions, engine))


def _ablation_facts(result: AblationResult, say: Say) -> tuple[tuple[str, str], ...]:
    spec = result.spec
    cost = spec.nodes_to_depth
    measured = (
        say(f"depth {cost.depth} in {result.rows[0].positions} positions",
            f"深度 {cost.depth}，{result.rows[0].positions} 个局面")
        if cost.depth
        else say("not measured", "未测量")
    )  # fmt: skip
    return (
        (say("Base", "基准"), spec.conditions.base_name),
        (
            say("Limit", "限制"),
            say(f"{spec.conditions.limits}, where the table does not say otherwise",
                f"{spec.conditions.limits}（表中另有说明者除外）"),
        ),
        *shared_facts(spec.conditions, result.engine, say),
        (say("Nodes to depth", "达到深度的节点"), measured),
        (
            say("Games", "对局"),
            say(f"{result.games} in games.sqlite; digest {result.digest}",
                f"games.sqlite 中共 {result.games} 局；摘要 {result.digest}"),
        ),
    )  # fmt: skip


def ablation_text(rows: Sequence[AblationRow], effects: Sequence[EffectRow] = ()) -> str:
    """The tables for a terminal of 80 columns."""
    depth = next((row.depth for row in rows if row.depth is not None), None)
    lines = ["Elo: the variant's minus the reference's, ± half of its 95 % interval"]
    if depth is not None:
        lines.append(f"Nodes: what the variant needs to reach depth {depth}, over the reference's")
    lines += ["", f"{'comparison':<36}  {'Elo':>7}  {'±':>5}  {'verdict':<10}  {'pairs':>5}  {'nodes':>6}".rstrip()]
    for row in rows:
        lines.append(
            f"{clipped(row.label, 36):<36}  {signed(row.elo):>7}  {_error(row.elo_error):>5}  {row.verdict:<10}  "
            f"{row.pairs:>5}  {_nodes_text(row):>6}".rstrip()
        )
    if effects:
        lines += ["", f"{'effect':<52}  {'Elo':>7}  {'±':>5}  verdict"]
        for effect in effects:
            lines.append(
                f"{clipped(effect.effect, 52):<52}  {signed(effect.elo):>7}  {_error(effect.elo_error):>5}  "
                f"{effect.verdict}".rstrip()
            )
    return "\n".join(lines)


def _error(error: float) -> str:
    return f"{error:.1f}" if math.isfinite(error) else "inf"


def ablation_data(result: AblationResult, report: Path) -> dict[str, Any]:
    """The outcome and where it was reported, as plain data, figures unrounded."""
    return {
        "name": result.spec.name,
        "folder": str(result.directory),
        "planned": result.planned,
        "games": result.games,
        "interrupted": result.interrupted,
        "comparisons": [asdict(row) for row in result.rows],
        "effects": [asdict(row) for row in result.effects],
        "games_digest": result.digest or None,
        "report": str(report),
    }
